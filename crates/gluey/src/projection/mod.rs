//! The convex problem of a step and the solvers for it.
//!
//! With one row per contact, G V = normal · (V_j − V_i) (V_j = 0 for an obstacle, whose motion is already in the gap D),
//!
//! ```text
//! minimise ½ Λᵀ A Λ + bᵀ Λ  over Λ ≥ lower,   A = G M⁻¹ Gᵀ,   b = D/h + G V^{n+1/2},
//! V^{n+1} = V^{n+1/2} + M⁻¹ Gᵀ Λ.
//! ```
//!
//! Its optimality conditions are 0 ≤ D + h G V ⟂ Λ − lower ≥ 0: dry contact has lower = 0, glue has lower = γ/R < 0, and
//! lower = −∞ makes a row an equality. V is unique; the impulses Λ need not be.
//!
//! M⁻¹ is a [`Metric`]: diagonal, that of clumps, or an operator of which only products are known. [`AcceleratedGradient`]
//! and [`Uzawa`] need no more; [`AcceleratedGaussSeidel`] leaves such problems to the former.

mod admissible;
mod apgd;
mod apgs;
mod blocks;
mod border;
mod feasibility;
mod file;
mod interior;
mod interior_point;
mod least_norm;
mod listing;
mod method;
mod metric;
mod quads;
mod rigid;
mod rigid_rows;
mod self_stress;
mod stiffness;
mod sweep;
mod uzawa;

use feasibility::InfeasibilityCheck;
use glam::DVec3;
use rayon::prelude::*;

pub use admissible::AdmissibleSet;
pub use apgd::AcceleratedGradient;
pub use apgs::AcceleratedGaussSeidel;
pub use file::{ProblemFile, ProblemFileError};
pub use interior_point::InteriorPoint;
pub use least_norm::{LeastNorm, LeastNormOutcome};
pub use method::Method;
pub use metric::{Metric, Mobility, Prediction};
pub use rigid::{NO_CLUMP, Response, Rigid, Twist};
pub use uzawa::Uzawa;

/// Stands for the immovable side of a row: an obstacle.
pub const WALL: u32 = u32::MAX;

/// Fewest rows that are worth a task of their own.
pub(crate) const ROWS_IN_TASK: usize = 4_096;

/// One constraint D + h normal · (V_j − V_i) ≥ 0 and the impulses Λ that it may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The body the normal starts from.
    pub i: u32,
    /// The body it points to, or [`WALL`].
    pub j: u32,
    /// Unit normal from i to j, or into the wall.
    pub normal: DVec3,
    /// Signed gap D (length), at the obstacle's position at the end of the step.
    pub gap: f64,
    /// Its impulses: Λ ≥ 0 dry, Λ ≥ γ/R glued.
    pub set: AdmissibleSet,
}

/// The problem of one step, bodies and rows in the caller's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// Time step h (time).
    pub dt: f64,
    /// Length that residuals are relative to, the engine's smallest radius (length).
    pub length: f64,
    /// A-priori velocities V^{n+1/2}, and M⁻¹.
    pub prediction: Prediction,
    /// The constraints.
    pub rows: Vec<Row>,
    /// All bodies, those near each other in space near each other here ([`morton`](crate::morton)): a hint for solvers on
    /// how to lay out their memory. Empty: the order of the bodies' indices.
    pub order: Vec<u32>,
}

impl Problem {
    /// How many bodies there are.
    #[must_use]
    pub fn bodies(&self) -> usize {
        self.prediction.velocity.len()
    }

    /// V = V^{n+1/2} + M⁻¹ Gᵀ Λ, from the impulses alone.
    #[must_use]
    pub fn velocity(&self, impulses: &[f64]) -> Vec<DVec3> {
        let mut velocity = Vec::new();
        self.velocity_into(impulses, &mut velocity);
        velocity
    }

    /// The same into a buffer.
    pub fn velocity_into(&self, impulses: &[f64], velocity: &mut Vec<DVec3>) {
        velocity.clone_from(&self.prediction.velocity);
        self.add_product(impulses, velocity);
    }

    /// Adds M⁻¹ Gᵀ Λ.
    fn add_product(&self, impulses: &[f64], velocity: &mut [DVec3]) {
        match &self.prediction.metric {
            Metric::Diagonal(inverse_mass) => self.gather(impulses, |body| inverse_mass[body], velocity),
            coupled if impulses.iter().any(|impulse| *impulse != 0.0) => {
                coupled.add_product(&self.pushes(impulses), velocity);
            }
            _ => {}
        }
    }

    /// Gᵀ Λ: the impulse on each body.
    #[must_use]
    pub fn pushes(&self, impulses: &[f64]) -> Vec<DVec3> {
        let mut pushes = vec![DVec3::ZERO; self.bodies()];
        self.gather(impulses, |_| 1.0, &mut pushes);
        pushes
    }

    /// Adds Gᵀ Λ times the weight of each body.
    fn gather(&self, impulses: &[f64], weight: impl Fn(usize) -> f64, sums: &mut [DVec3]) {
        for (row, &impulse) in self.rows.iter().zip(impulses) {
            if impulse != 0.0 {
                let push = row.normal * impulse;
                sums[row.i as usize] -= push * weight(row.i as usize);
                if row.j != WALL {
                    sums[row.j as usize] += push * weight(row.j as usize);
                }
            }
        }
    }

    /// The largest |M⁻¹ P| of a body, for impulses P on some of them.
    fn fastest(&self, pushed: impl Iterator<Item = (usize, DVec3)>) -> f64 {
        let metric = &self.prediction.metric;
        if let Metric::Diagonal(inverse_mass) = metric {
            return pushed.map(|(body, push)| push.length() * inverse_mass[body]).fold(0.0, f64::max);
        }
        let mut pushes = vec![DVec3::ZERO; self.bodies()];
        pushed.for_each(|(body, push)| pushes[body] = push);
        let mut velocity = vec![DVec3::ZERO; self.bodies()];
        metric.add_product(&pushes, &mut velocity);
        velocity.iter().map(|v| v.length()).fold(0.0, f64::max)
    }

    /// (V − U)ᵀ M (V − U) = (Λ − K)ᵀ A (Λ − K) of two points, over the bodies that can move.
    fn energy_between(&self, one: Point, other: Point) -> f64 {
        let Metric::Diagonal(inverse_mass) = &self.prediction.metric else { return self.work_between(one, other) };
        let bodies = one.velocity.iter().zip(other.velocity).zip(inverse_mass).filter(|(_, m)| **m > 0.0);
        bodies.map(|((v, u), m)| (*v - *u).length_squared() / m).sum()
    }

    /// The same as (Λ − K) · G (V − U), for metrics of which only the inverse is known.
    fn work_between(&self, one: Point, other: Point) -> f64 {
        let moved = |body: u32| if body == WALL { DVec3::ZERO } else { one.change_from(other, body as usize) };
        let work = |(c, row): (usize, &Row)| {
            (one.impulses[c] - other.impulses[c]) * row.normal.dot(moved(row.j) - moved(row.i))
        };
        self.rows.iter().enumerate().map(work).sum::<f64>().max(0.0)
    }

    /// A_cc: 1/m_i + 1/m_j (without 1/m_j at a wall), or e · (M⁻¹_ii + M⁻¹_jj − 2 M⁻¹_ij) e.
    #[must_use]
    pub fn diagonal(&self, row: &Row) -> f64 {
        let (i, j) = (row.i as usize, row.j as usize);
        if let Some(mobility) = self.prediction.metric.mobility() {
            let along = |a: usize, b: usize| mobility.along(a, b, row.normal);
            return along(i, i) + if row.j == WALL { 0.0 } else { along(j, j) - 2.0 * along(i, j) };
        }
        let inverse_mass = self.prediction.metric.inverse_mass();
        inverse_mass[i] + if row.j == WALL { 0.0 } else { inverse_mass[j] }
    }

    /// The body at this place of the order.
    fn along(&self, place: usize) -> usize {
        self.order.get(place).map_or(place, |&body| body as usize)
    }

    /// A bound of √A_cc over all rows.
    fn steepest(&self) -> f64 {
        (2.0 * self.prediction.metric.inverse_mass().iter().copied().fold(0.0, f64::max)).sqrt()
    }

    /// The gap the linearised constraint predicts at the end of the step, D + h G V (length).
    #[must_use]
    pub fn end_gap(&self, row: &Row, velocity: &[DVec3]) -> f64 {
        let partner = if row.j == WALL { DVec3::ZERO } else { velocity[row.j as usize] };
        row.gap + self.dt * row.normal.dot(partner - velocity[row.i as usize])
    }

    /// How far the impulses are from optimal, recomputed from them alone:
    /// `residual` = max |min(h A_cc (Λ − lower), D + h G V)| / length and `violation` = max −(D + h G V) / length.
    #[must_use]
    pub fn accuracy(&self, impulses: &[f64]) -> Accuracy {
        self.accuracy_of(&Solution { impulses: impulses.to_vec(), velocity: self.velocity(impulses) })
    }

    /// Makes a start of impulses: those that rows admit, and their velocities.
    fn start(&self, Solution { impulses, velocity }: &mut Solution) {
        impulses.iter_mut().zip(&self.rows).for_each(|(impulse, row)| *impulse = row.set.project(*impulse));
        self.velocity_into(impulses, velocity);
    }

    /// The same for impulses whose velocities are at hand.
    fn accuracy_of(&self, Solution { impulses, velocity }: &Solution) -> Accuracy {
        let look = |so_far: Accuracy, (row, impulse): (&Row, &f64)| {
            let end_gap = self.end_gap(row, velocity) / self.length;
            let slack = self.dt * self.diagonal(row) * row.set.depth(*impulse) / self.length;
            so_far.with(Accuracy { residual: slack.min(end_gap).abs(), violation: -end_gap })
        };
        let rows = self.rows.par_iter().zip(impulses).with_min_len(ROWS_IN_TASK);
        rows.fold(Accuracy::default, look).reduce(Accuracy::default, Accuracy::with)
    }
}

/// Impulses, and the velocities that they give.
#[derive(Clone, Copy)]
struct Point<'a> {
    impulses: &'a [f64],
    velocity: &'a [DVec3],
}

impl<'a> Point<'a> {
    fn of(Solution { impulses, velocity }: &'a Solution) -> Self {
        Self { impulses, velocity }
    }

    /// V − U of a body.
    fn change_from(self, other: Self, body: usize) -> DVec3 {
        self.velocity[body] - other.velocity[body]
    }
}

/// The larger of two, with NaN as the worst of all: `f64::max` would hide it.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Independently recomputed quality of a set of impulses, relative to the problem's length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// Distance from optimality.
    pub residual: f64,
    /// Worst predicted overlap, 0 when there is none.
    pub violation: f64,
}

impl Accuracy {
    /// The worse of both.
    fn with(self, other: Self) -> Self {
        Self { residual: worse(self.residual, other.residual), violation: worse(self.violation, other.violation) }
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// Residual to reach, relative to the problem's length.
    pub tolerance: f64,
    /// Limit on sweeps, or on factorisations.
    pub max_sweeps: u64,
}

impl Default for Criteria {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_sweeps: 200_000 }
    }
}

/// Why a solver stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// The residual is at most the tolerance.
    Converged,
    /// The limit on sweeps was met first.
    SweepLimit,
    /// The residual has stopped falling: the tolerance is below what rounding allows, or there is no solution.
    Stalled,
    /// No velocity is admissible; the rows that exclude each other, most important first.
    Infeasible(Vec<usize>),
}

/// What a solver tells about one solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Why it stopped.
    pub status: Status,
    /// Passes over all rows.
    pub sweeps: u64,
    /// Products with A or passes of the same cost, including those of the stopping test.
    pub products: u64,
    /// Sparse factorisations of [`InteriorPoint`], or of the finish that it gives to slow sweeps.
    pub factorisations: u64,
    /// Residual and violation of the impulses returned, recomputed from them.
    pub accuracy: Accuracy,
}

/// Impulses, and the velocities that they give.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Λ, one a row (momentum).
    pub impulses: Vec<f64>,
    /// V = V^{n+1/2} + M⁻¹ Gᵀ Λ, one a body (length / time).
    pub velocity: Vec<DVec3>,
}

impl Solution {
    /// Where a solve is to start from.
    #[must_use]
    pub fn starting_from(impulses: Vec<f64>) -> Self {
        Self { impulses, velocity: Vec::new() }
    }
}

/// A method for the projection. What it keeps between solves is memory alone: a solve depends on its arguments.
///
/// A ball of mass 2 would come down with velocity −3 and has a gap of 0.1 to the floor; in a step of 0.1 it may only go
/// as far:
///
/// ```
/// use glam::DVec3;
/// use gluey::projection::{AcceleratedGaussSeidel, AdmissibleSet, Criteria, Metric, Prediction, Problem, Projection};
/// use gluey::projection::{Row, Solution, Status, WALL};
///
/// let floor = Row { i: 0, j: WALL, normal: -DVec3::Z, gap: 0.1, set: AdmissibleSet::PUSH };
/// let prediction = Prediction { velocity: vec![DVec3::Z * -3.0], metric: Metric::Diagonal(vec![0.5]) };
/// let problem = Problem { dt: 0.1, length: 1.0, prediction, rows: vec![floor], order: Vec::new() };
/// let mut solution = Solution::starting_from(vec![0.0]);
/// let outcome = AcceleratedGaussSeidel::default().solve(&problem, &Criteria::default(), &mut solution);
/// assert_eq!(outcome.status, Status::Converged);
/// assert!((solution.impulses[0] - 4.0).abs() < 1e-6 && (solution.velocity[0].z + 1.0).abs() < 1e-6);
/// ```
pub trait Projection: Send {
    /// Solves to `criteria.tolerance`, or says why not. `solution.impulses` holds one entry per row of `problem`: on entry
    /// where to start from (those that a row does not admit are taken for the nearest that it does), on return the best
    /// found, and beside them their velocities, from which the accuracy is told. An impulse that is not needed comes out as
    /// exactly the least that its row admits.
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, solution: &mut Solution) -> Outcome;
}

/// How often solvers test for the end: the test costs about a sweep and a half.
const SWEEPS_BETWEEN_TESTS: u64 = 8;

/// Decides at the tests of a solve whether it goes on: the same for every solver.
struct Monitor<'a> {
    criteria: &'a Criteria,
    best: f64,
    best_at: u64,
    /// The residual that is to be halved next, and since when.
    halving: f64,
    halved_at: u64,
}

impl<'a> Monitor<'a> {
    /// A residual that has not fallen by this factor within the window, or half of all sweeps if that is longer, has
    /// stalled.
    const DECAY: f64 = 0.99;
    const WINDOW: u64 = 5_000;
    /// One that has not halved for so many sweeps, or a quarter of all if that is more, falls slowly.
    const LULL: u64 = 512;

    fn new(criteria: &'a Criteria) -> Self {
        Self { criteria, best: f64::INFINITY, best_at: 0, halving: f64::INFINITY, halved_at: 0 }
    }

    /// Why the solve ends with this residual, if it does.
    fn ending(&mut self, residual: f64, sweeps: u64) -> Option<Status> {
        if residual <= self.criteria.tolerance {
            return Some(Status::Converged);
        }
        if residual < Self::DECAY * self.best {
            (self.best, self.best_at) = (residual, sweeps);
        }
        if residual < 0.5 * self.halving {
            (self.halving, self.halved_at) = (residual, sweeps);
        }
        if sweeps >= self.criteria.max_sweeps {
            Some(Status::SweepLimit)
        } else if sweeps - self.best_at >= Self::WINDOW.max(sweeps / 2) || residual.is_nan() {
            Some(Status::Stalled)
        } else {
            None
        }
    }

    /// Whether the residual falls slowly.
    fn is_slow(&self, sweeps: u64) -> bool {
        sweeps - self.halved_at >= Self::LULL.max(sweeps / 4)
    }

    /// The same for a solver that has impulses and their velocities at hand, and watches for problems without solution.
    fn ending_with(
        &mut self,
        problem: &Problem,
        solution: &Solution,
        (sweeps, infeasibility): (u64, &mut InfeasibilityCheck),
    ) -> Option<Status> {
        let residual = problem.accuracy_of(solution).residual;
        self.ending(residual, sweeps).or_else(|| {
            if !infeasibility.is_due(sweeps) {
                return None;
            }
            infeasibility.infeasible(problem, &solution.impulses).map(Status::Infeasible)
        })
    }
}
