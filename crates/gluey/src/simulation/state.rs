//! The state (x, V, γ): all that the next step reads, and all that a checkpoint holds.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::contact::Contact;
use crate::geometry::Particles;

/// State at time tⁿ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The number n of steps taken; tⁿ = n·dt.
    pub step: u64,
    /// Positions, velocities and constant properties of the particles, in the user's order.
    pub particles: Particles,
    /// Contacts that are glued (γ < 0) or carried an impulse in the last step, sorted by pair.
    pub contacts: Vec<Contact>,
    /// The vectors u of the last step's impulses, Λ = max(lower, G u), one a particle: from them the next step looks for
    /// the least impulses. Empty where there was nothing to choose.
    pub springs: Vec<DVec3>,
}
