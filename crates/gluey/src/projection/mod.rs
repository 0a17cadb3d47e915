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
//! M⁻¹ is diagonal, that of clumps ([`Rigid`]), or a [`Mobility`] of which only products are known. [`AcceleratedGradient`]
//! and [`Uzawa`] need no more; [`AcceleratedGaussSeidel`] leaves such problems to the former.

mod apgd;
mod apgs;
mod blocks;
mod border;
mod feasibility;
mod file;
mod interior;
mod interior_point;
mod least_norm;
mod levers;
mod listing;
mod method;
mod mobility;
mod quads;
mod rigid;
mod self_stress;
mod stiffness;
mod sweep;
mod uzawa;

use std::sync::Arc;

use feasibility::Watch;
use glam::DVec3;
use rayon::prelude::*;

pub use apgd::AcceleratedGradient;
pub use apgs::AcceleratedGaussSeidel;
pub use file::{ProblemFile, ProblemFileError};
pub use interior_point::InteriorPoint;
pub use least_norm::{Distribution, LeastNorm};
pub use method::Method;
pub use mobility::Mobility;
pub use rigid::{ALONE, Response, Rigid, Twist};
pub use uzawa::Uzawa;

/// Stands for the immovable side of a row: an obstacle.
pub const WALL: u32 = u32::MAX;

/// Fewest rows that are worth a task of their own.
pub(crate) const ROWS_IN_TASK: usize = 4_096;

/// One constraint D + h normal · (V_j − V_i) ≥ 0 and its impulse Λ ≥ lower.
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
    /// Least impulse: 0 dry, γ/R glued, −∞ for an equality (momentum).
    pub lower: f64,
}

/// The problem of one step, bodies and rows in the caller's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// Time step h (time).
    pub dt: f64,
    /// Length that residuals are relative to, the engine's smallest radius (length).
    pub length: f64,
    /// Diagonal of M⁻¹, one entry a body. Where there is a `mobility` it only tells who can move, and sets scales.
    pub inverse_mass: Vec<f64>,
    /// M⁻¹ where it is not diagonal.
    pub mobility: Option<Arc<dyn Mobility>>,
    /// A-priori velocities V^{n+1/2}.
    pub apriori: Vec<DVec3>,
    /// The constraints.
    pub rows: Vec<Row>,
    /// All bodies, those near each other in space near each other here ([`morton`](crate::morton)): a hint for solvers on
    /// how to lay out their memory. Empty: the order of the bodies' indices.
    pub order: Vec<u32>,
}

impl Problem {
    /// V = V^{n+1/2} + M⁻¹ Gᵀ Λ, from the impulses alone.
    #[must_use]
    pub fn velocity(&self, impulses: &[f64]) -> Vec<DVec3> {
        let mut velocity = Vec::new();
        self.velocity_into(impulses, &mut velocity);
        velocity
    }

    /// The same into a buffer.
    pub fn velocity_into(&self, impulses: &[f64], velocity: &mut Vec<DVec3>) {
        velocity.clone_from(&self.apriori);
        self.add_product(impulses, velocity);
    }

    /// Adds M⁻¹ Gᵀ Λ.
    fn add_product(&self, impulses: &[f64], velocity: &mut [DVec3]) {
        match &self.mobility {
            None => self.gather(impulses, |body| self.inverse_mass[body], velocity),
            Some(mobility) if impulses.iter().any(|impulse| *impulse != 0.0) => {
                mobility.add_product(&self.pushes(impulses), velocity);
            }
            Some(_) => {}
        }
    }

    /// Gᵀ Λ: the impulse on each body.
    #[must_use]
    pub fn pushes(&self, impulses: &[f64]) -> Vec<DVec3> {
        let mut pushes = vec![DVec3::ZERO; self.apriori.len()];
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
        let Some(mobility) = &self.mobility else {
            return pushed.map(|(body, push)| push.length() * self.inverse_mass[body]).fold(0.0, f64::max);
        };
        let mut pushes = vec![DVec3::ZERO; self.apriori.len()];
        pushed.for_each(|(body, push)| pushes[body] = push);
        let mut velocity = vec![DVec3::ZERO; self.apriori.len()];
        mobility.add_product(&pushes, &mut velocity);
        velocity.iter().map(|v| v.length()).fold(0.0, f64::max)
    }

    /// (V − U)ᵀ M (V − U) = (Λ − K)ᵀ A (Λ − K) of two points, over the bodies that can move.
    fn energy_between(&self, one: Point, other: Point) -> f64 {
        if self.mobility.is_some() {
            return self.work_between(one, other);
        }
        let bodies = one.velocity.iter().zip(other.velocity).zip(&self.inverse_mass).filter(|(_, m)| **m > 0.0);
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
        if let Some(mobility) = &self.mobility {
            let along = |a: usize, b: usize| mobility.along(a, b, row.normal);
            return along(i, i) + if row.j == WALL { 0.0 } else { along(j, j) - 2.0 * along(i, j) };
        }
        let partner = if row.j == WALL { 0.0 } else { self.inverse_mass[j] };
        self.inverse_mass[i] + partner
    }

    /// The body at this place of the order.
    fn along(&self, place: usize) -> usize {
        self.order.get(place).map_or(place, |&body| body as usize)
    }

    /// A bound of √A_cc over all rows.
    fn steepest(&self) -> f64 {
        (2.0 * self.inverse_mass.iter().copied().fold(0.0, f64::max)).sqrt()
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
        self.accuracy_with(impulses, &self.velocity(impulses))
    }

    /// The same for impulses whose velocities are known.
    fn accuracy_with(&self, impulses: &[f64], velocity: &[DVec3]) -> Accuracy {
        let look = |so_far: Accuracy, (row, impulse): (&Row, &f64)| {
            let end_gap = self.end_gap(row, velocity) / self.length;
            let slack = self.dt * self.diagonal(row) * (impulse - row.lower) / self.length;
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

impl Point<'_> {
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

/// A method for the projection.
pub trait Projection: Send {
    /// Solves to `criteria.tolerance`, or says why not. `impulses` holds one entry per row of `problem`: on entry where
    /// to start from (entries below `lower` are taken for it), on return the best found. An impulse that is not needed
    /// comes out as exactly `lower`.
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, impulses: &mut [f64]) -> Outcome;

    /// The velocities of the impulses just returned. A solver that has them at hand need not gather them again.
    fn velocity_into(&mut self, problem: &Problem, impulses: &[f64], velocity: &mut Vec<DVec3>) {
        problem.velocity_into(impulses, velocity);
    }
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
        (impulses, velocity): (&[f64], &[DVec3]),
        (sweeps, watch): (u64, &mut Watch),
    ) -> Option<Status> {
        let residual = problem.accuracy_with(impulses, velocity).residual;
        self.ending(residual, sweeps).or_else(|| {
            if !watch.is_due(sweeps) {
                return None;
            }
            watch.infeasible(problem, impulses).map(Status::Infeasible)
        })
    }
}
