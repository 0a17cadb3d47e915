//! What a step tells about itself.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::openings::Traffic;

/// What the particles did to one obstacle, as means over the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Force on the obstacle (force).
    pub force: DVec3,
    /// Torque on it about its pivot (force × length).
    pub torque: DVec3,
}

/// Figures of one step. Where the step was split, counts are sums and extremes are over its sub-steps.
///
/// ```
/// use gluey::scene::Scene;
///
/// let text = r#"
///     time = { dt = 0.01, until = 1 }
///     environment.gravity = [0, 0, -10]
///     particles = [{ mass = 1, source.list = [{ position = [0, 0, 0.5], radius = 0.5 }] }]
///     obstacle = [{ name = "floor", shape.half-space = { point = [0, 0, 0], normal = [0, 0, 1] } }]
/// "#;
/// let mut simulation = Scene::parse(text, "ball.toml".as_ref())?.simulation;
/// let report = simulation.step()?;
/// assert_eq!((report.contacts, report.substeps, report.unconverged), (1, 1, 0));
/// assert!(report.residual <= 1e-6 && report.least_gap.abs() <= 1e-6);
/// assert!((report.loads[0].force.z + 10.0).abs() < 1e-3); // the floor bears the weight
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Sub-steps the engine took, 1 when it did not split.
    pub substeps: u32,
    /// Rows of the (last) projection: pairs that could meet.
    pub candidates: usize,
    /// Contacts after the step that pushed, pulled or are glued.
    pub contacts: usize,
    /// Contacts with γ < 0 after the step.
    pub glued: usize,
    /// Least signed gap after the step over all pairs that could have met, and over all others that overlap (length);
    /// infinite when there are none.
    pub least_gap: f64,
    /// Worst residual of the projections, relative to the smallest radius.
    pub residual: f64,
    /// Iterations of the projections.
    pub sweeps: u64,
    /// Projections solved, including those repeated because of curved obstacles or a list that had to be widened.
    pub projections: u32,
    /// Times that something was accepted rather than solved: projections that stopped at the limit of iterations; steps
    /// that went on although a particle was pinched or the equalities of glued pairs contradict each other; steps that
    /// left an overlap with a curved obstacle after the last repetition; and impulses that are not the least although they
    /// should be.
    pub unconverged: u32,
    /// Largest tangential displacement of a contact in a sub-step, relative to the smallest radius.
    pub slip: f64,
    /// One entry per obstacle, in the scene's order.
    pub loads: Vec<Load>,
    /// What has passed the openings since the start of the run, and who waits at an inlet after the step.
    pub traffic: Traffic,
}

impl StepReport {
    /// Nothing has happened yet; the memory of the loads is kept.
    pub(super) fn clear(&mut self, obstacles: usize) {
        let mut loads = std::mem::take(&mut self.loads);
        loads.clear();
        loads.resize(obstacles, Load::default());
        *self = Self { least_gap: f64::INFINITY, loads, ..Self::default() };
    }
}
