//! One particle over a plane in a fluid, without inertia: 6πμ r λ(q/r) u = F, metric 6πμ r λ h.

use std::f64::consts::PI;
use std::sync::Arc;

use glam::DVec3;
use gluey::environment::{Environment, EnvironmentError, Inertia, Prediction, Signal, Span};
use gluey::geometry::Particles;

use crate::drag::NormalDrag;

/// The fluid over the plane z = 0, and a force on the particle along z. A drag that is asked for at the same gap again,
/// as while a particle is glued, should answer from memory.
#[derive(Clone)]
pub struct NearPlane {
    /// The drag normal to the plane.
    pub drag: Arc<dyn NormalDrag>,
    /// Viscosity μ of the fluid (mass / length / time).
    pub viscosity: f64,
    /// The force along z (force).
    pub force: Signal,
}

impl Environment for NearPlane {
    fn predict(&self, particles: &Particles, span: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
        let force = self.force.mean_of("the force", span)?;
        prediction.clear();
        for (i, (x, r)) in particles.position.iter().zip(&particles.radius).enumerate() {
            let drag = self.drag.drag((x.z - r) / r).map_err(|cause| EnvironmentError::NoAnswer {
                quantity: "the drag of the fluid".to_owned(),
                particle: Some(i),
                time: span.start,
                reason: cause.to_string(),
            })?;
            let resistance = 6.0 * PI * self.viscosity * r * drag;
            prediction.push(DVec3::Z * (force / resistance), 1.0 / (span.dt * resistance));
        }
        Ok(())
    }

    fn inertia(&self) -> Inertia {
        Inertia::None
    }

    fn potential_energy(&self, _: &Particles, _: f64) -> f64 {
        0.0
    }
}
