//! Particles with inertia: (m + hζ) V^{n+1/2} = m Vⁿ + h (m gⁿ + Fⁿ + ζ u).

use super::step::Step;
use super::{Drag, Environment, EnvironmentError, Forcing, Inertia, Prediction, Span};
use crate::geometry::Particles;

/// Inertia, explicit forces and implicit linear drag; metric m + hζ.
#[derive(Clone, Debug)]
pub struct Inertial {
    forcing: Forcing,
}

impl Inertial {
    /// Checks the forcing, whose drag must be one particle's own.
    pub fn new(forcing: Forcing) -> Result<Self, EnvironmentError> {
        forcing.check()?;
        if let Drag::RotnePrager { .. } = forcing.drag {
            let expected = "`false`: the far field of all spheres is that of slow flow, without inertia";
            return Err(EnvironmentError::invalid("inertia", "`true` with `drag.rotne-prager`", expected));
        }
        Ok(Self { forcing })
    }
}

impl Environment for Inertial {
    fn predict(&self, particles: &Particles, span: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
        let h = span.dt;
        Step::new(&self.forcing, particles, span)?.predict(prediction, |i, drive| {
            let (velocity, mass) = (particles.velocity[i], particles.mass[i]);
            if drive.drag == 0.0 {
                return (velocity + h * drive.acceleration, 1.0 / mass);
            }
            // Written as an increment, as without drag.
            let rate = drive.drag / mass;
            let force = drive.acceleration + rate * (drive.flow - velocity);
            (velocity + h * force / (1.0 + h * rate), 1.0 / (mass + h * drive.drag))
        })
    }

    fn inertia(&self) -> Inertia {
        Inertia::Full
    }

    fn potential_energy(&self, particles: &Particles, time: f64) -> f64 {
        self.forcing.potential_energy(particles, time)
    }
}
