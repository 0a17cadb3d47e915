//! The algorithm against the exact solution as h → 0: the convergence theorem and the bounds of its lemmas, measured.

use super::order;
use crate::plane::norms::{self, Distance};
use crate::plane::{Experiment, Grid, PlaneError, algorithm, exact};

/// The algorithm with one time step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    /// h (time).
    pub dt: f64,
    /// How far it is from the exact solution.
    pub distance: Distance,
    /// The quantities that the lemmas bound.
    pub bounds: Bounds,
}

/// Quantities and their bounds by the paper's lemmas, with Σ h|fⁿ| ≤ ∫|f| in the place of ∫|f|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// max |uⁿ| (length / time).
    pub speed: f64,
    /// |u⁰| + ∫|f| (length / time).
    pub speed_bound: f64,
    /// Var(u_h) (length / time).
    pub variation: f64,
    /// |u⁰| + 8 ∫|f| (length / time).
    pub variation_bound: f64,
    /// ∫|λ_h| (momentum).
    pub impulse: f64,
    /// m (|u¹ − u⁰| + Var(u_h) + ∫|f|) (momentum); the paper leaves out the first step, in which there is no contact
    /// yet.
    pub impulse_bound: f64,
}

impl Bounds {
    /// Whether all hold, up to the rounding of sums.
    #[must_use]
    pub fn hold(&self) -> bool {
        let pairs = [
            (self.speed, self.speed_bound),
            (self.variation, self.variation_bound),
            (self.impulse, self.impulse_bound),
        ];
        pairs.iter().all(|(value, bound)| *value <= bound * (1.0 + 1e-10))
    }
}

/// All time steps, the largest first.
#[derive(Clone, Debug)]
pub struct Convergence {
    /// One row for each h.
    pub resolutions: Vec<Resolution>,
    /// Observed orders.
    pub orders: Orders,
}

/// The observed order of each distance; None where it is 0 up to rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orders {
    /// Of ‖u_h − u‖ in L¹.
    pub velocity_l1: Option<f64>,
    /// Of ‖q_h − q‖ in L^∞.
    pub gap_sup: Option<f64>,
    /// Of ‖γ_h − γ‖ in L¹.
    pub gamma_l1: Option<f64>,
    /// Of the total variation of λ_h.
    pub lambda_mass: Option<f64>,
    /// Of the action of λ_h on the test function.
    pub lambda_action: Option<f64>,
    /// Of Var(u_h).
    pub velocity_variation: Option<f64>,
}

/// Distances below this are rounding.
const ROUNDING: f64 = 1e-10;

/// Runs the experiment, whose force is piecewise constant, with each time step.
pub fn convergence(experiment: &Experiment, steps: &[f64], until: f64) -> Result<Convergence, PlaneError> {
    // The last step of a grid may end after T.
    let solution = exact::solve(experiment, until + steps.iter().copied().fold(0.0, f64::max))?;
    let mut resolutions = Vec::new();
    for &dt in steps {
        let grid = Grid::new(dt, until)?;
        let run = algorithm::run(experiment, grid)?;
        let distance = norms::distance(&run, &solution.until(grid.time(grid.steps())), experiment.mass);
        resolutions.push(Resolution { dt, distance, bounds: bounds(experiment, &run) });
    }
    let orders = orders(steps, &resolutions);
    Ok(Convergence { resolutions, orders })
}

fn bounds(experiment: &Experiment, run: &algorithm::Run) -> Bounds {
    let (start, force) = (experiment.velocity.abs(), run.force_variation);
    let variation = run.velocity_variation();
    let first = (run.samples[1].velocity - run.samples[0].velocity).abs();
    Bounds {
        speed: run.largest_speed(),
        speed_bound: start + force,
        variation,
        variation_bound: start + 8.0 * force,
        impulse: run.total_impulse(),
        impulse_bound: experiment.mass * (first + variation + force),
    }
}

fn orders(steps: &[f64], resolutions: &[Resolution]) -> Orders {
    let of = |quantity: fn(&Distance) -> f64| {
        let errors: Vec<f64> = resolutions.iter().map(|row| quantity(&row.distance)).collect();
        errors.iter().all(|error| *error > ROUNDING).then(|| order(steps, &errors))
    };
    Orders {
        velocity_l1: of(|d| d.velocity_l1),
        gap_sup: of(|d| d.gap_sup),
        gamma_l1: of(|d| d.gamma_l1),
        lambda_mass: of(|d| d.lambda_mass),
        lambda_action: of(|d| d.lambda_action),
        velocity_variation: of(|d| d.velocity_variation),
    }
}
