//! The metric of a scene's projections at its start.

use gluey::environment::{Prediction, Span};
use gluey::projection::Metric;
use gluey::scene::Scene;

/// What the environment makes it. Forces that cannot be evaluated are for others to tell: the metric is diagonal then.
pub fn of(scene: &Scene) -> Metric {
    let simulation = &scene.simulation;
    let span = Span { start: 0.0, dt: simulation.settings.dt };
    let mut prediction = Prediction::default();
    match simulation.environment.predict(&simulation.state.particles, span, &mut prediction) {
        Ok(()) => prediction.metric,
        Err(_) => Metric::default(),
    }
}
