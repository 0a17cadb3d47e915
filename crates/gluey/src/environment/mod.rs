//! What happens to the particles between contacts: the a-priori velocity V^{n+1/2} and the metric of the projection.
//!
//! With inertia, drag is implicit and all else explicit,
//!
//! (m + hζ) V^{n+1/2} = m Vⁿ + h (m gⁿ + Fⁿ + ζ u(xⁿ, tⁿ⁺¹)),  metric m + hζ;
//!
//! without, the velocity follows the forces at once,
//!
//! V^{n+1/2} = u(xⁿ, tⁿ⁺¹) + (m gⁿ + Fⁿ)/ζ,  metric hζ.
//!
//! With the far field of all spheres ([`RotnePrager`]) there is no inertia, and the drag is a matrix:
//!
//! V^{n+1/2} = u(xⁿ, tⁿ⁺¹) + M(xⁿ) (m gⁿ + Fⁿ),  metric h M⁻¹.
//!
//! People who walk to exits ([`crowd`]) have the velocity that they want, metric 1.
//!
//! gⁿ and Fⁿ are means over the step at the positions and velocities of its start, u is the velocity of the fluid. A
//! force that switches within a step thus gives exactly its impulse.

pub mod crowd;
mod drag;
mod error;
mod forcing;
mod inertial;
mod overdamped;
mod quadrature;
mod rotne_prager;
mod signal;
mod solid_fraction;
mod step;

pub use drag::{Drag, Fraction, RICHARDSON_ZAKI};
pub use error::EnvironmentError;
pub use forcing::{Dimension, FLOW_VARIABLES, FORCE_VARIABLES, Force, ForceComponent, Forcing, Per};
pub use inertial::Inertial;
pub use overdamped::Overdamped;
pub use rotne_prager::RotnePrager;
pub use signal::{SIGNAL_VARIABLES, Signal, Signal3, Table};

use crate::geometry::Particles;
use crate::projection::Projection;
pub use crate::projection::{Metric, Prediction};

/// The step [tⁿ, tⁿ⁺¹].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// tⁿ (time).
    pub start: f64,
    /// h = tⁿ⁺¹ − tⁿ > 0 (time).
    pub dt: f64,
}

impl Span {
    /// tⁿ⁺¹ (time).
    #[must_use]
    pub fn end(self) -> f64 {
        self.start + self.dt
    }

    pub(crate) fn check(self) -> Result<(), EnvironmentError> {
        let Self { start, dt } = self;
        if self.end() > start && self.end().is_finite() {
            return Ok(());
        }
        let value = format!("{dt} at t = {start}");
        Err(EnvironmentError::invalid("dt", value, "a finite step > 0 that advances the time"))
    }
}

/// Whether masses resist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inertia {
    /// Velocities go on, and forces change them.
    Full,
    /// Velocities follow forces at once.
    None,
}

/// Whatever gives the particles their a-priori velocity.
///
/// Particles that are carried along x, faster the higher they are, and that impulses move by P/m:
///
/// ```
/// use glam::DVec3;
/// use gluey::environment::{Environment, EnvironmentError, Inertia, Prediction, Span};
/// use gluey::geometry::Particles;
///
/// struct Shear;
///
/// impl Environment for Shear {
///     fn predict(&self, particles: &Particles, _: Span, to: &mut Prediction) -> Result<(), EnvironmentError> {
///         to.clear();
///         for (x, mass) in particles.position.iter().zip(&particles.mass) {
///             to.push(DVec3::X * x.z, 1.0 / mass);
///         }
///         Ok(())
///     }
///
///     fn inertia(&self) -> Inertia {
///         Inertia::None
///     }
///
///     fn potential_energy(&self, _: &Particles, _: f64) -> f64 {
///         0.0
///     }
/// }
///
/// let (mut particles, mut prediction) = (Particles::default(), Prediction::default());
/// particles.push(DVec3::Z * 2.0, 0.5, 4.0);
/// Shear.predict(&particles, Span { start: 0.0, dt: 0.1 }, &mut prediction)?;
/// prediction.add_impulses(&[DVec3::Y * 8.0]);
/// assert_eq!(prediction.velocity, [DVec3::new(2.0, 2.0, 0.0)]);
/// # Ok::<(), EnvironmentError>(())
/// ```
pub trait Environment: Send + Sync {
    /// Fills the prediction for the step; its buffers are reused, and hold nothing of use after an error.
    fn predict(&self, particles: &Particles, span: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError>;

    /// Whether masses resist.
    fn inertia(&self) -> Inertia;

    /// A projection of its own, where flow and contact are one problem; the simulation's solver is not asked then.
    fn projection(&mut self) -> Option<&mut dyn Projection> {
        None
    }

    /// Potential energy (energy) at a time, for the time series: −Σ m g·x of uniform gravity, 0 without.
    fn potential_energy(&self, particles: &Particles, time: f64) -> f64;
}

#[cfg(test)]
mod tests;
