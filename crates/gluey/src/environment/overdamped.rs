//! Particles without inertia: V^{n+1/2} = u + (m gⁿ + Fⁿ)/ζ.

use super::step::Step;
use super::{Environment, EnvironmentError, Forcing, Prediction, Span};
use crate::geometry::Particles;

/// No inertia: drag balances the forces at every time; metric hζ, so that an impulse over h is a force.
#[derive(Clone, Debug)]
pub struct Overdamped {
    forcing: Forcing,
}

impl Overdamped {
    /// Checks the forcing, which must have drag.
    pub fn new(forcing: Forcing) -> Result<Self, EnvironmentError> {
        forcing.check()?;
        if !forcing.has_drag() {
            let expected = "a coefficient or a viscosity > 0: without inertia the velocity is the force over the drag";
            return Err(EnvironmentError::invalid("drag", "0", expected));
        }
        Ok(Self { forcing })
    }
}

impl Environment for Overdamped {
    fn predict(&self, particles: &Particles, span: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
        Step::new(&self.forcing, particles, span)?.predict(prediction, |i, drive| {
            let velocity = drive.flow + drive.acceleration * (particles.mass[i] / drive.drag);
            (velocity, 1.0 / (span.dt * drive.drag))
        })
    }

    fn potential_energy(&self, particles: &Particles, time: f64) -> f64 {
        self.forcing.potential_energy(particles, time)
    }
}
