//! Smooth against rough: the rougher the surfaces, the earlier the take-off.
//!
//! In the paper's experiment γ is back at 0 when the pull of 2 has paid |γ_min| back: at t = 2 + r²|γ_min|/(2m), if γ
//! came down to γ_min at all; a smooth particle has γ = −4m/r² at t = 2 and leaves at t = 4.

use crate::plane::{Experiment, Grid, PlaneError, Sample, algorithm, exact, lubrication};

/// When the particle of one γ_min leaves, by each model (time).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// γ_min (momentum / length²).
    pub gamma_min: f64,
    /// min(4, 2 + r²|γ_min|/(2m)).
    pub predicted: f64,
    /// By the exact solution.
    pub exact: f64,
    /// By the algorithm: the end of the step in which it leaves.
    pub algorithm: f64,
    /// By the rough lubrication model: where the parabola that it follows at the end began.
    pub lubrication: f64,
}

/// The study.
#[derive(Clone, Debug)]
pub struct Roughness {
    /// One row for each γ_min.
    pub departures: Vec<Departure>,
    /// The trajectories of the exact solution, in the same order.
    pub trajectories: Vec<Vec<Sample>>,
}

/// The paper's experiment, with this mass and radius, for each finite γ_min < 0; κ is that of the lubrication model.
pub fn roughness(
    (mass, radius): (f64, f64),
    gamma_mins: &[f64],
    kappa: f64,
    grid: Grid,
) -> Result<Roughness, PlaneError> {
    let (mut departures, mut trajectories) = (Vec::new(), Vec::new());
    for &gamma_min in gamma_mins {
        let experiment = Experiment { mass, radius, ..Experiment::papers(gamma_min) };
        let solution = exact::solve(&experiment, grid.time(grid.steps()))?;
        let run = algorithm::run(&experiment, grid)?;
        let layer = lubrication::run(&experiment, kappa, grid)?;
        let (Some(exact), Some(&algorithm)) = (solution.takeoffs().next(), run.takeoffs().first()) else {
            return Err(PlaneError::invalid("until", grid.until, "a time after the take-off, which is at t ≤ 4"));
        };
        let predicted = 4.0_f64.min(2.0 - radius.powi(2) * gamma_min / (2.0 * mass));
        let lubrication = began(layer.samples.last());
        departures.push(Departure { gamma_min, predicted, exact, algorithm, lubrication });
        trajectories.push((0..=grid.steps()).map(|n| solution.at(grid.time(n))).collect());
    }
    Ok(Roughness { departures, trajectories })
}

/// t − √q: where the parabola q = (t − t₀)² through the last sample began.
fn began(last: Option<&Sample>) -> f64 {
    last.map_or(f64::NAN, |sample| sample.time - sample.gap.sqrt())
}
