//! Particles without inertia: V^{n+1/2} = u + (m gⁿ + Fⁿ)/ζ, or u + M (m gⁿ + Fⁿ) with the far field of all spheres.

use std::sync::Arc;

use super::step::Step;
use super::{Drag, Environment, EnvironmentError, Forcing, Inertia, Prediction, RotnePrager, Span};
use crate::geometry::Particles;
use crate::projection::{Metric, Mobility};

/// No inertia: drag balances the forces at every time; metric hζ or h M⁻¹, so that an impulse over h is a force.
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
        let step = Step::new(&self.forcing, particles, span)?;
        if let Drag::RotnePrager { viscosity } = self.forcing.drag {
            if particles.cell.is_some() {
                let expected = "`stokes` or `hindered` in a periodic cell: this far field is that of unbounded space";
                return Err(EnvironmentError::invalid("drag", "`rotne-prager`", expected));
            }
            return predict_together(&step, RotnePrager::new(particles, viscosity * span.dt), prediction);
        }
        step.predict(prediction, |i, drive| {
            let velocity = drive.flow + drive.acceleration * (particles.mass[i] / drive.drag);
            (velocity, 1.0 / (span.dt * drive.drag))
        })
    }

    fn inertia(&self) -> Inertia {
        Inertia::None
    }

    fn potential_energy(&self, particles: &Particles, time: f64) -> f64 {
        self.forcing.potential_energy(particles, time)
    }
}

/// V^{n+1/2} = u + (M/h) P with P = h (m gⁿ + Fⁿ), where the force on each particle moves all.
fn predict_together(step: &Step, mobility: RotnePrager, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
    let (mass, dt) = (&step.particles.mass, step.span.dt);
    step.predict(prediction, |i, drive| (dt * mass[i] * drive.acceleration, 1.0 / (dt * drive.drag)))?;
    let impulses = std::mem::take(&mut prediction.velocity);
    step.predict(prediction, |_, drive| (drive.flow, 1.0 / (dt * drive.drag)))?;
    mobility.add_product(&impulses, &mut prediction.velocity);
    step.check(prediction)?;
    let inverse_mass = std::mem::take(prediction.metric.diagonal());
    prediction.metric = Metric::Operator { mobility: Arc::new(mobility), inverse_mass };
    Ok(())
}
