//! The pair, and what a contact carries from step to step.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Whom a particle touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Partner {
    /// Another particle, by index.
    Particle(u32),
    /// One feature (a side, blade, face, edge…) of an obstacle, by index.
    Obstacle {
        /// Index of the obstacle in the scene.
        obstacle: u32,
        /// Which of its features; the numbering belongs to the shape.
        feature: u32,
    },
}

/// A particle and its partner. Two particles are always held with the smaller index first, so a pair has one name.
/// Pairs sort by particle, then particles before obstacles: the order of every list of contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair {
    first: u32,
    partner: Partner,
}

impl Pair {
    /// Stands where a list has room and no pair yet.
    pub(crate) const UNUSED: Self = Self { first: u32::MAX, partner: Partner::Particle(u32::MAX) };

    /// The pair of particles a and b, in either order.
    ///
    /// # Panics
    /// If a and b are the same particle.
    #[must_use]
    pub fn particles(a: u32, b: u32) -> Self {
        assert_ne!(a, b, "a particle is no partner of itself");
        Self { first: a.min(b), partner: Partner::Particle(a.max(b)) }
    }

    /// A particle and one feature of an obstacle.
    #[must_use]
    pub fn obstacle(particle: u32, obstacle: u32, feature: u32) -> Self {
        Self { first: particle, partner: Partner::Obstacle { obstacle, feature } }
    }

    /// The particle i (of two particles, the one with the smaller index).
    #[must_use]
    pub fn first(self) -> u32 {
        self.first
    }

    /// Its partner.
    #[must_use]
    pub fn partner(self) -> Partner {
        self.partner
    }
}

/// A contact that pushes, pulls or is glued, as the state holds it. Gap and normal are functions of the positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// Who touches whom.
    pub pair: Pair,
    /// Adhesion potential γ ≤ 0; glued while < 0.
    pub gamma: f64,
    /// Impulse Λ of the last step along the normal, > 0 pushes apart (momentum).
    pub impulse: f64,
}

/// A contact with its place in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactGeometry {
    /// The contact as the state holds it.
    pub contact: Contact,
    /// Signed gap D (length).
    pub gap: f64,
    /// Unit normal from the first particle to its partner, or into the obstacle.
    pub normal: DVec3,
}
