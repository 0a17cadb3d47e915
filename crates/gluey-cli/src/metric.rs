//! Whether the metric of a scene's projections is diagonal, or every impulse moves every particle.

use gluey::environment::{Prediction, Span};
use gluey::scene::Scene;

/// Whether it is at t = 0. Forces that cannot be evaluated are for others to tell.
pub fn is_diagonal(scene: &Scene) -> bool {
    let simulation = &scene.simulation;
    let span = Span { start: 0.0, dt: simulation.settings.dt };
    let mut prediction = Prediction::default();
    let predicted = simulation.environment.predict(&simulation.state.particles, span, &mut prediction);
    predicted.is_err() || prediction.metric.is_diagonal()
}
