//! One particle above a plane: the laboratory in which the model is proved and measured.
//!
//! A sphere of mass m and radius r moves along the normal of a plane; q ≥ 0 is its distance, u = q' its velocity, and
//! f(t) an external acceleration. Three descriptions of the same particle:
//!
//! | module | model |
//! |---|---|
//! | [`algorithm`] | the paper's particle/plane algorithm with time step h |
//! | [`exact`] | the limit model, m u + r²γ = m (u⁰ + ∫f), q ≥ 0, γ_min ≤ γ ≤ 0, qγ = 0, solved from event to event |
//! | [`lubrication`] | m q'' = −6πμr² q'/(q + q_s) + m f, the layer of fluid whose limit for μ → 0 the others are |
//!
//! [`norms`] measures the distance between the first two in the norms of the paper's theorem; [`studies`] are the
//! numbers behind the figures and tables of the paper's section on the plane. Units are the user's own, as everywhere.

pub mod algorithm;
mod error;
pub mod exact;
pub mod lubrication;
pub mod norms;
pub mod studies;

pub use error::PlaneError;

use crate::environment::{Signal, Span, Table};

/// A particle above a plane, how it starts, and what acts on it.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// q⁰ > 0 (length).
    pub gap: f64,
    /// u⁰, away from the plane (length / time).
    pub velocity: f64,
    /// m > 0 (mass).
    pub mass: f64,
    /// r > 0 (length).
    pub radius: f64,
    /// f, away from the plane (length / time²).
    pub force: Signal,
    /// γ_min ≤ 0 (momentum / length²): −∞ is smooth, 0 is dry.
    pub gamma_min: f64,
}

/// The particle at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// t (time).
    pub time: f64,
    /// q (length).
    pub gap: f64,
    /// u (length / time).
    pub velocity: f64,
    /// γ ≤ 0 in the gluey model, 6πμ ln(q + q_s) in the lubrication model (momentum / length²).
    pub gamma: f64,
    /// λ, the force of the plane or of the fluid on the particle (force).
    pub lambda: f64,
}

/// At which times a run is asked for: 0, h, 2h, … up to the first at or after the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// h > 0 (time).
    pub dt: f64,
    /// The end T > 0 (time).
    pub until: f64,
}

impl Grid {
    /// Refuses steps and ends that are not positive, and more steps than can be counted.
    pub fn new(dt: f64, until: f64) -> Result<Self, PlaneError> {
        for (name, value) in [("dt", dt), ("until", until)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(PlaneError::invalid(name, value, "a finite number > 0"));
            }
        }
        if until / dt > MOST_STEPS {
            let expected = format!("at least {:e}: no more than {MOST_STEPS:e} steps", until / MOST_STEPS);
            return Err(PlaneError::invalid("dt", dt, expected));
        }
        Ok(Self { dt, until })
    }

    /// The number N of steps: N h is T up to rounding, or the first multiple of h after T.
    #[must_use]
    pub fn steps(self) -> u64 {
        let count = self.until / self.dt;
        let nearest = count.round();
        // Where T is a multiple of h, T/h is off by rounding only.
        if (count - nearest).abs() <= 1e-9 * nearest { nearest as u64 } else { count.ceil() as u64 }
    }

    /// tⁿ = n h, never summed.
    #[must_use]
    pub fn time(self, step: u64) -> f64 {
        step as f64 * self.dt
    }

    /// The step from tⁿ to tⁿ⁺¹; its end is tⁿ⁺¹ up to rounding.
    fn span(self, step: u64) -> Span {
        Span { start: self.time(step), dt: self.dt }
    }
}

/// A run is kept in memory.
const MOST_STEPS: f64 = 1e8;

/// Places at which a force is looked at to learn how strong it is.
const LOOKS_AT_FORCE: u32 = 1000;

/// What messages call f.
const FORCE: &str = "the force f";

impl Experiment {
    /// The paper's: q⁰ = 1 at rest, pushed with f = −2 until t = 2, then pulled with f = 2; m = r = 1.
    #[must_use]
    pub fn papers(gamma_min: f64) -> Self {
        let steps = Table::new(vec![0.0, 2.0], vec![-2.0, 2.0]);
        let steps = steps.unwrap_or_else(|_| unreachable!("the times increase and all is finite"));
        Self { gap: 1.0, velocity: 0.0, mass: 1.0, radius: 1.0, force: Signal::Steps(steps), gamma_min }
    }

    /// Refuses what has no solution or no meaning.
    pub fn check(&self) -> Result<(), PlaneError> {
        let above_zero = [("q0", self.gap), ("mass", self.mass), ("radius", self.radius)];
        for (name, value) in above_zero {
            if !(value > 0.0 && value.is_finite()) {
                return Err(PlaneError::invalid(name, value, "a finite number > 0"));
            }
        }
        if !self.velocity.is_finite() {
            return Err(PlaneError::invalid("u0", self.velocity, "a finite number"));
        }
        if self.gamma_min.is_nan() || self.gamma_min > 0.0 {
            let expected = "a number ≤ 0: 0 for dry surfaces, -inf for smooth ones";
            return Err(PlaneError::invalid("gamma_min", self.gamma_min, expected));
        }
        Ok(self.force.check(FORCE)?)
    }

    /// (1/h) ∫ f over a span: exact for constants, steps and lines, adaptive for expressions (length / time²).
    pub fn mean_force(&self, span: Span) -> Result<f64, PlaneError> {
        span.check()?;
        Ok(self.force.mean_of(FORCE, span)?)
    }

    /// About the greatest |f| up to the end of a grid (length / time²).
    fn strongest_force(&self, grid: Grid) -> f64 {
        let end = grid.time(grid.steps());
        let looks = 0..=LOOKS_AT_FORCE;
        looks.map(|k| self.force.at(end * f64::from(k) / f64::from(LOOKS_AT_FORCE)).abs()).fold(0.0, f64::max)
    }

    /// f as a list of times and values, each holding until the next; the first time is 0.
    fn steps(&self) -> Result<Vec<(f64, f64)>, PlaneError> {
        let constant = |value: f64| vec![(0.0, value)];
        match &self.force {
            Signal::Constant(value) => Ok(constant(*value)),
            Signal::Expression(expression) => match expression.constant() {
                Some(value) => Ok(constant(value)),
                None => Err(PlaneError::NotPiecewiseConstant),
            },
            Signal::Linear(_) => Err(PlaneError::NotPiecewiseConstant),
            Signal::Steps(table) => {
                let all = table.times().iter().copied().zip(table.values().iter().copied());
                let later = all.filter(|(time, _)| *time > 0.0);
                Ok(constant(self.force.at(0.0)).into_iter().chain(later).collect())
            }
        }
    }
}
