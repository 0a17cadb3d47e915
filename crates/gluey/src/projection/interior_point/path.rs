//! A primal–dual interior-point method on the rows of a [`System`] (Mehrotra 1992), regularised by a proximal term on the
//! impulses (Friedlander and Orban 2012).
//!
//! With the distance μ = λ − lower from the bound and the slack s = w, both kept positive, it follows μ s = ν to ν = 0. A
//! step (δu, δs, δλ) solves
//!
//! ```text
//! δs = B δu + ρ δλ − (s − rate − B u),   μ δs + s δλ = τ,   δu = Bᵀ δλ − (u − Bᵀ λ),
//! ```
//!
//! which, with θ = μ/(s + ρ μ), is one system with the pattern of the bodies:
//!
//! ```text
//! (1 + Bᵀ Θ B) δu = Bᵀ ((τ + μ (s − rate − B u))/(s + ρ μ)) − (u − Bᵀ λ).
//! ```
//!
//! τ is first −μ s, which tells how far one can go, and then σν − μ s − δμ δs: two solutions for one factorisation. ρ
//! bounds θ where glued rows depend on each other, and does not change the solution: it only holds a step back. Rows
//! without a bound have no slack: s = 0, θ = 1/ρ.

use super::cholesky::{Factor, Pattern};
use super::system::System;

/// ρ, where rows have unit diagonals: rounding in K is then below 1e-3 of it, and goes away with each refinement.
const PROXIMAL: f64 = 1e-12;
/// Residuals of K δu that are solved for again.
const REFINEMENTS: u32 = 2;
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
    lambda: Vec<f64>,
    distance: Vec<f64>,
    slack: Vec<f64>,
    /// B of a vector.
    along: Vec<f64>,
    /// s − rate − B u, and u − Bᵀ λ.
    defect: Vec<f64>,
    imbalance: Vec<f64>,
    /// θ, and 1/(s + ρ μ).
    weight: Vec<f64>,
    share: Vec<f64>,
    /// How many times K was factorised.
    pub factorisations: u64,
}

/// (δu, δs, δλ).
#[derive(Default)]
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
    /// Starts from impulses, moved away from their bounds; `tolerance` is that of w √A_cc, and `width` is as far as
    /// contacts are expected to move in the same units.
    pub(super) fn new(system: &'a System, pattern: Pattern, lambda: Vec<f64>, (tolerance, width): (f64, f64)) -> Self {
        let count = lambda.len();
        let mut point = Self {
            system,
            factor: Factor::new(pattern),
            tolerance,
            u: Vec::new(),
            lambda,
            distance: vec![0.0; count],
            slack: vec![0.0; count],
            along: Vec::new(),
            defect: vec![0.0; count],
            imbalance: Vec::new(),
            weight: vec![0.0; count],
            share: vec![0.0; count],
            factorisations: 0,
        };
        let mut u = vec![0.0; system.bodies() * system.dimensions()];
        system.add_pushes(&point.lambda, &mut u);
        system.along(&u, &mut point.along);
        let closing = |c: usize| point.system.rate[c] + point.along[c];
        let deepest = (0..count).map(|c| -closing(c) * system.steepness[c]).fold(width, f64::max);
        for c in 0..count {
            let least = deepest / system.steepness[c];
            if system.lower[c] > f64::NEG_INFINITY {
                point.slack[c] = closing(c).max(least);
                point.distance[c] = (point.lambda[c] - system.lower[c]).max(least);
                point.lambda[c] = system.lower[c] + point.distance[c];
            }
        }
        u.fill(0.0);
        system.add_pushes(&point.lambda, &mut u);
        point.u = u;
        point.measure();
        point
    }

    fn is_bounded(&self, c: usize) -> bool {
        self.system.lower[c] > f64::NEG_INFINITY
    }

    /// The defects of the point.
    fn measure(&mut self) {
        let Self { system, u, lambda, slack, along, defect, imbalance, .. } = self;
        system.along(u, along);
        for (c, defect) in defect.iter_mut().enumerate() {
            *defect = slack[c] - system.rate[c] - along[c];
        }
        imbalance.clear();
        imbalance.resize(u.len(), 0.0);
        system.add_pushes(lambda, imbalance);
        imbalance.iter_mut().zip(u).for_each(|(sum, u)| *sum = *u - *sum);
    }

    /// ν: the mean of μ s.
    fn gap(&self) -> f64 {
        let bounded = (0..self.lambda.len()).filter(|c| self.is_bounded(*c)).count();
        let sum: f64 = self.distance.iter().zip(&self.slack).map(|(mu, s)| mu * s).sum();
        sum / bounded.max(1) as f64
    }

    /// The best that can be read off the point: open rows exactly at their bounds, and velocities from the impulses alone, or
    /// those of the point where they differ by rounding and are better.
    pub(super) fn offer(&self) -> Offer {
        let system = self.system;
        let closed = |c: usize| !self.is_bounded(c) || self.distance[c] > self.slack[c];
        let choose = |c: usize| if closed(c) { self.lambda[c] } else { system.lower[c] };
        let lambda: Vec<f64> = (0..self.lambda.len()).map(choose).collect();
        let mut u = vec![0.0; self.u.len()];
        system.add_pushes(&lambda, &mut u);
        let residual = self.residual(&lambda, &u);
        if residual > 1.0 && self.is_rounding(&lambda, &u) {
            let own = self.residual(&lambda, &self.u);
            if own < residual {
                return Offer { lambda, u: self.u.clone(), residual: own };
            }
        }
        Offer { lambda, u, residual }
    }

    /// Whether the velocities of the point are these to rounding.
    fn is_rounding(&self, lambda: &[f64], u: &[f64]) -> bool {
        let mut size = vec![0.0; u.len()];
        self.system.add_sizes(lambda, &mut size);
        self.u.iter().zip(u).zip(size).all(|((own, u), size)| (own - u).abs() <= ROUNDING * size)
    }

    fn residual(&self, lambda: &[f64], u: &[f64]) -> f64 {
        let system = self.system;
        let mut along = Vec::new();
        system.along(u, &mut along);
        let of = |c: usize| (lambda[c] - system.lower[c]).min(system.rate[c] + along[c]).abs() * system.steepness[c];
        (0..lambda.len()).map(of).fold(0.0, f64::max) / self.tolerance
    }

    /// One step; whether there is one to take.
    pub(super) fn advance(&mut self) -> bool {
        for c in 0..self.lambda.len() {
            let (mu, s) = (self.distance[c], self.slack[c]);
            (self.weight[c], self.share[c]) = if self.is_bounded(c) {
                (mu / (s + PROXIMAL * mu), (s + PROXIMAL * mu).recip())
            } else {
                (PROXIMAL.recip(), PROXIMAL.recip())
            };
        }
        if !self.factor.factorise(self.system, &self.weight) {
            return false;
        }
        self.factorisations += 1;
        let gap = self.gap();
        let mut step = Step::default();
        let mut target: Vec<f64> = self.distance.iter().zip(&self.slack).map(|(mu, s)| -mu * s).collect();
        self.solve(&target, &mut step);
        if gap > 0.0 {
            let part = self.longest(&step).min(1.0);
            let ahead = |c: usize| (self.distance[c] + part * step.lambda[c]) * (self.slack[c] + part * step.slack[c]);
            let bounded = (0..target.len()).filter(|c| self.is_bounded(*c));
            let (sum, count) = bounded.fold((0.0, 0.0), |(sum, count), c| (sum + ahead(c), count + 1.0));
            let centred = gap * (sum / count / gap).clamp(0.0, 1.0).powi(3);
            for (c, target) in target.iter_mut().enumerate() {
                *target += centred - step.lambda[c] * step.slack[c];
            }
            self.solve(&target, &mut step);
        }
        let part = (NEARLY * self.longest(&step)).min(1.0);
        for c in 0..self.lambda.len() {
            self.lambda[c] += part * step.lambda[c];
            if self.is_bounded(c) {
                self.distance[c] += part * step.lambda[c];
                self.slack[c] += part * step.slack[c];
            }
        }
        self.u.iter_mut().zip(&step.u).for_each(|(u, step)| *u += part * step);
        self.measure();
        self.u.iter().chain(&self.lambda).all(|x| x.is_finite())
    }

    /// How often the step can be taken until the first μ or s is 0.
    fn longest(&self, step: &Step) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        let of = |c: usize| until(self.distance[c], step.lambda[c]).min(until(self.slack[c], step.slack[c]));
        (0..self.lambda.len()).filter(|c| self.is_bounded(*c)).map(of).fold(f64::INFINITY, f64::min)
    }

    /// The step to this target τ.
    fn solve(&mut self, target: &[f64], step: &mut Step) {
        let Self { system, factor, along, weight, share, defect, imbalance, distance, .. } = self;
        let bounded = |c: usize| system.lower[c] > f64::NEG_INFINITY;
        // What δλ is without δu.
        let pull = |c: usize| {
            if bounded(c) { (target[c] + distance[c] * defect[c]) * share[c] } else { defect[c] * share[c] }
        };
        let pulls: Vec<f64> = (0..target.len()).map(pull).collect();
        let mut right: Vec<f64> = imbalance.iter().map(|x| -x).collect();
        system.add_pushes(&pulls, &mut right);
        step.u.clone_from(&right);
        factor.solve(&mut step.u);
        system.along(&step.u, along);
        for _ in 0..REFINEMENTS {
            let mut rest: Vec<f64> = right.iter().zip(&step.u).map(|(right, u)| right - u).collect();
            along.iter_mut().zip(weight.iter()).for_each(|(along, weight)| *along *= -weight);
            system.add_pushes(along, &mut rest);
            factor.solve(&mut rest);
            step.u.iter_mut().zip(&rest).for_each(|(u, rest)| *u += rest);
            system.along(&step.u, along);
        }
        step.lambda.clear();
        step.lambda.extend((0..target.len()).map(|c| pulls[c] - weight[c] * along[c]));
        step.slack.clear();
        let slack = |c: usize| if bounded(c) { along[c] + PROXIMAL * step.lambda[c] - defect[c] } else { 0.0 };
        step.slack.extend((0..target.len()).map(slack));
    }
}
