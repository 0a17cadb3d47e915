//! Layers of several viscosities against the limit model: κ → 0.

use super::order;
use crate::plane::{Experiment, Grid, PlaneError, Sample, exact, lubrication, norms};

/// A layer and its distance from the limit.
#[derive(Clone, Debug)]
pub struct Layer {
    /// κ = 6πμr²/m (length / time).
    pub kappa: f64,
    /// The trajectory on the study's grid.
    pub samples: Vec<Sample>,
    /// When ln(q + q_s) was least, and its value (time, –).
    pub lowest: (f64, f64),
    /// sup |q_κ − q| (length).
    pub gap_sup: f64,
    /// ‖6πμ ln(q_κ + q_s) − γ‖ in L¹ (momentum / length² × time).
    pub gamma_l1: f64,
}

/// All layers, the most viscous first, and the limit.
#[derive(Clone, Debug)]
pub struct Layers {
    /// The limit model.
    pub limit: exact::Solution,
    /// One entry for each κ.
    pub layers: Vec<Layer>,
    /// Observed order of `gap_sup` and of `gamma_l1` as κ → 0.
    pub orders: (f64, f64),
}

/// Orders are those of the κ within this factor of the least: thick layers are not near their limit.
const ASYMPTOTIC: f64 = 100.0;

/// Samples for each κ/h while distances are measured: at a hit 6πμ ln q falls within a time of order κ.
const SAMPLES_PER_KAPPA: f64 = 10.0;

/// Runs the experiment, whose force is piecewise constant, with each κ.
pub fn layers(experiment: &Experiment, kappas: &[f64], grid: Grid) -> Result<Layers, PlaneError> {
    let limit = exact::solve(experiment, grid.time(grid.steps()))?;
    let mut all = Vec::new();
    for &kappa in kappas {
        // A divisor of the grid's step, so that its times are among those measured at.
        let parts = (grid.dt * SAMPLES_PER_KAPPA / kappa).ceil().max(1.0);
        let fine = Grid::new(grid.dt / parts, grid.until)?;
        let run = lubrication::run(experiment, kappa, fine)?;
        let (gap_sup, gamma_l1) = norms::between(&run.samples, &limit);
        let samples = run.samples.iter().copied().step_by(parts as usize).collect();
        all.push(Layer { kappa, samples, lowest: run.lowest, gap_sup, gamma_l1 });
    }
    let least = kappas.iter().copied().fold(f64::INFINITY, f64::min);
    let of = |quantity: fn(&Layer) -> f64| {
        let towards_limit = kappas.iter().zip(&all).filter(|(kappa, _)| **kappa <= ASYMPTOTIC * least);
        let (kappas, values): (Vec<f64>, Vec<f64>) =
            towards_limit.map(|(kappa, layer)| (*kappa, quantity(layer))).unzip();
        order(&kappas, &values)
    };
    let orders = (of(|layer| layer.gap_sup), of(|layer| layer.gamma_l1));
    Ok(Layers { limit, layers: all, orders })
}
