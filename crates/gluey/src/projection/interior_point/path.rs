//! A primal–dual interior-point method on the rows of a [`System`] (Mehrotra 1992), regularised by a proximal term on the
//! impulses (Friedlander and Orban 2012).
//!
//! With the distance μ = λ − lower from the bound and the slack s = w, both kept positive, it follows μ s = ν to ν = 0. A
//! step (δu, δs, δλ) solves
//!
//! ```text
//! δs = B δu + ρ δλ − (s − rate − B u),   μ δs + s δλ = τ,   δu = Bᵀ δλ − (u − Bᵀ λ).
//! ```
//!
//! With 1/θ = s/μ + ρ, and the aim q = τ/μ + (s − rate − B u), two equations are left, of which the second gives δλ:
//!
//! ```text
//! δu − Bᵀ δλ = −(u − Bᵀ λ),   B δu + δλ/θ = q   ⟹   (1 + Bᵀ Θ B) δu = Bᵀ Θ q − (u − Bᵀ λ).
//! ```
//!
//! K = 1 + Bᵀ Θ B has the pattern of the bodies. τ is first −μ s, which tells how far one can go, and then σν − μ s − δμ δs:
//! two solutions for one factorisation. ρ bounds θ where glued rows depend on each other, and does not change the solution:
//! it only holds a step back. Rows without a bound have no slack: s = 0, 1/θ = ρ, q = −rate − B u.
//!
//! Under a ball of 1e12 times the mass of those it lies on impulses are 1e11 times as large as the velocities u they make,
//! and u = Bᵀ λ is to hold nevertheless. So λ is held, and u − Bᵀ λ summed, in twice the precision of a number, and the
//! residuals of both equations, not that of K, are solved for again.

use super::cholesky::{Factor, Pattern};
use super::system::{System, two_sum};

/// ρ, where rows have unit diagonals. It has to be well below 1e-12, the square of what is left of a push where a ball of
/// 1e12 times the mass is what moves.
const PROXIMAL: f64 = 1e-14;
/// Residuals of both equations that are solved for again.
const REFINEMENTS: u32 = 2;
/// θ of all rows for the start.
const PENALTY: f64 = 1e5;
/// How near a step goes to where the first μ or s is 0.
const NEARLY: f64 = 0.995;
/// Rounding of a sum of impulses, relative to its terms, and a little more.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The point that the method is at.
pub(super) struct Point<'a> {
    system: &'a System,
    factor: Factor,
    /// Tolerance of a row in the units of the system: what its w may be wrong by.
    tolerance: f64,
    u: Vec<f64>,
    /// μ; of rows without a bound λ.
    distance: Vec<f64>,
    /// What the distance lacks of a number of twice the precision.
    rest: Vec<f64>,
    slack: Vec<f64>,
    /// B of a vector.
    along: Vec<f64>,
    /// s − rate − B u, and u − Bᵀ λ.
    defect: Vec<f64>,
    imbalance: Vec<f64>,
    /// θ.
    weight: Vec<f64>,
    /// How many times K was factorised.
    pub factorisations: u64,
}

/// (δu, δs, δλ).
struct Step {
    u: Vec<f64>,
    slack: Vec<f64>,
    lambda: Vec<f64>,
}

/// Impulses and velocities that the method offers as the solution.
pub(super) struct Offer {
    /// λ, exactly `lower` where the row is open.
    pub lambda: Vec<f64>,
    pub u: Vec<f64>,
    /// The residual, relative to the tolerance.
    pub residual: f64,
}

impl<'a> Point<'a> {
    /// Starts from what springs on all rows would do, moved away from the bounds; `tolerance` is that of w √A_cc, and `width`
    /// is as far as contacts are expected to move in the same units.
    pub(super) fn new(system: &'a System, pattern: Pattern, (tolerance, width): (f64, f64)) -> Self {
        let (rows, unknowns) = (system.lower.len(), system.bodies() * system.dimensions());
        let mut point = Self {
            system,
            factor: Factor::new(pattern),
            tolerance,
            u: vec![0.0; unknowns],
            distance: vec![0.0; rows],
            rest: vec![0.0; rows],
            slack: vec![0.0; rows],
            along: vec![0.0; rows],
            defect: vec![0.0; rows],
            imbalance: vec![0.0; unknowns],
            weight: vec![PENALTY; rows],
            factorisations: 0,
        };
        if point.factorise() {
            let springs = point.step(&system.rate.iter().map(|rate| -rate).collect::<Vec<f64>>());
            point.place(&springs, width);
        }
        point.measure();
        point
    }

    /// Goes to these velocities and to impulses as great as these.
    fn place(&mut self, springs: &Step, width: f64) {
        let Self { system, u, distance, slack, along, .. } = self;
        u.clone_from(&springs.u);
        system.along(u, along);
        let rows = || along.iter().zip(&system.rate).map(|(along, rate)| along + rate).zip(&system.steepness);
        let deepest = rows().map(|(w, steepness)| w.abs() * steepness).fold(width, f64::max);
        let greatest = springs.lambda.iter().fold(0.0_f64, |most, lambda| most.max(lambda.abs()));
        for (c, (w, steepness)) in rows().enumerate() {
            let least = deepest / steepness;
            (distance[c], slack[c]) = if system.is_bounded(c) {
                ((springs.lambda[c] - system.lower[c]).max(least).max(greatest), w.max(least))
            } else {
                (springs.lambda[c], 0.0)
            };
        }
    }

    /// λ.
    fn impulse(&self, c: usize) -> f64 {
        let (sum, lost) = two_sum(self.system.base(c), self.distance[c]);
        sum + (lost + self.rest[c])
    }

    /// The defects of the point.
    fn measure(&mut self) {
        let Self { system, u, distance, rest, slack, along, defect, imbalance, .. } = self;
        system.along(u, along);
        for (c, defect) in defect.iter_mut().enumerate() {
            *defect = slack[c] - system.rate[c] - along[c];
        }
        system.imbalance(u, (distance, rest), imbalance);
    }

    /// ν: the mean of μ s.
    pub(super) fn gap(&self) -> f64 {
        let bounded = (0..self.distance.len()).filter(|c| self.system.is_bounded(*c)).count();
        let sum: f64 = self.distance.iter().zip(&self.slack).map(|(mu, s)| mu * s).sum();
        sum / bounded.max(1) as f64
    }

    /// The best that can be read off the point: open rows exactly at their bounds, and velocities from the impulses alone, or,
    /// if these are not good enough, those of the point where they differ by rounding only.
    pub(super) fn offer(&self) -> Offer {
        let system = self.system;
        let closed = |c: usize| !system.is_bounded(c) || self.distance[c] > self.slack[c];
        let choose = |c: usize| if closed(c) { self.impulse(c) } else { system.lower[c] };
        let lambda: Vec<f64> = (0..self.distance.len()).map(choose).collect();
        let mut u = vec![0.0; self.u.len()];
        system.add_pushes(&lambda, &mut u);
        let mut residual = self.residual(&lambda, &u);
        if residual > 1.0 {
            let mut sizes = vec![0.0; u.len()];
            system.add_sizes(&lambda, &mut sizes);
            let is_rounding = |((u, own), size): &((&mut f64, &f64), f64)| (**u - **own).abs() <= ROUNDING * size;
            u.iter_mut().zip(&self.u).zip(sizes).filter(is_rounding).for_each(|((u, own), _)| *u = *own);
            residual = self.residual(&lambda, &u);
        }
        Offer { lambda, u, residual }
    }

    fn residual(&self, lambda: &[f64], u: &[f64]) -> f64 {
        let system = self.system;
        let mut along = Vec::new();
        system.along(u, &mut along);
        let of = |c: usize| (lambda[c] - system.lower[c]).min(system.rate[c] + along[c]).abs() * system.steepness[c];
        (0..lambda.len()).map(of).fold(0.0, f64::max) / self.tolerance
    }

    /// K = 1 + Bᵀ Θ B; whether it is positive definite in its rounding.
    fn factorise(&mut self) -> bool {
        let done = self.factor.factorise(self.system, &self.weight);
        self.factorisations += u64::from(done);
        done
    }

    /// One step; whether there is one to take.
    pub(super) fn advance(&mut self) -> bool {
        for (c, weight) in self.weight.iter_mut().enumerate() {
            let ratio = if self.system.is_bounded(c) { self.slack[c] / self.distance[c] } else { 0.0 };
            *weight = (ratio + PROXIMAL).recip();
        }
        if !self.factorise() {
            return false;
        }
        let gap = self.gap();
        let mut target: Vec<f64> = self.distance.iter().zip(&self.slack).map(|(mu, s)| -mu * s).collect();
        let mut step = self.step(&self.aims(&target));
        if gap > 0.0 {
            let part = self.longest(&step).min(1.0);
            let ahead = |c: usize| (self.distance[c] + part * step.lambda[c]) * (self.slack[c] + part * step.slack[c]);
            let bounded = (0..target.len()).filter(|c| self.system.is_bounded(*c));
            let (sum, count) = bounded.fold((0.0, 0.0), |(sum, count), c| (sum + ahead(c), count + 1.0));
            let centred = gap * (sum / count / gap).clamp(0.0, 1.0).powi(3);
            for (c, target) in target.iter_mut().enumerate() {
                *target += centred - step.lambda[c] * step.slack[c];
            }
            step = self.step(&self.aims(&target));
        }
        let part = (NEARLY * self.longest(&step)).min(1.0);
        for c in 0..self.distance.len() {
            let change = part * step.lambda[c];
            (self.distance[c], self.rest[c]) = two_sum(self.distance[c], self.rest[c] + change);
            self.slack[c] += part * step.slack[c];
        }
        self.u.iter_mut().zip(&step.u).for_each(|(u, step)| *u += part * step);
        self.measure();
        self.u.iter().chain(&self.distance).all(|x| x.is_finite())
    }

    /// How often the step can be taken until the first μ or s is 0.
    fn longest(&self, step: &Step) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        let of = |c: usize| until(self.distance[c], step.lambda[c]).min(until(self.slack[c], step.slack[c]));
        (0..self.distance.len()).filter(|c| self.system.is_bounded(*c)).map(of).fold(f64::INFINITY, f64::min)
    }

    /// q for these τ.
    fn aims(&self, target: &[f64]) -> Vec<f64> {
        let ratio = |c: usize| if self.system.is_bounded(c) { target[c] / self.distance[c] } else { 0.0 };
        (0..target.len()).map(|c| ratio(c) + self.defect[c]).collect()
    }

    /// The step to these aims.
    fn step(&mut self, aims: &[f64]) -> Step {
        let Self { system, factor, along, weight, defect, imbalance, .. } = self;
        let rows = || 0..aims.len();
        let mut step = Step { u: vec![0.0; imbalance.len()], slack: Vec::new(), lambda: vec![0.0; aims.len()] };
        along.fill(0.0);
        for _ in 0..=REFINEMENTS {
            let left: Vec<f64> = rows().map(|c| aims[c] - along[c] - step.lambda[c] / weight[c]).collect();
            let pulls: Vec<f64> = left.iter().zip(&*weight).map(|(left, weight)| left * weight).collect();
            let mut more: Vec<f64> = imbalance.iter().zip(&step.u).map(|(imbalance, u)| -imbalance - u).collect();
            system.add_pushes(&step.lambda, &mut more);
            system.add_pushes(&pulls, &mut more);
            factor.solve(&mut more);
            step.u.iter_mut().zip(&more).for_each(|(u, more)| *u += more);
            system.along(&more, along);
            for c in rows() {
                step.lambda[c] += weight[c] * (left[c] - along[c]);
            }
            system.along(&step.u, along);
        }
        let slack =
            |c: usize| if system.is_bounded(c) { along[c] + PROXIMAL * step.lambda[c] - defect[c] } else { 0.0 };
        step.slack = rows().map(slack).collect();
        step
    }
}
