//! The pair, and what a contact carries from step to step.

use std::cmp::Ordering;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "(u32, Partner)", into = "(u32, Partner)")]
pub struct Pair {
    first: u32,
    /// 0 for a particle, k + 1 for obstacle k.
    kind: u32,
    /// The other particle, or the feature.
    which: u32,
}

impl Pair {
    /// Stands where a list has room and no pair yet.
    pub(crate) const UNUSED: Self = Self { first: u32::MAX, kind: 0, which: u32::MAX };

    /// The pair of particles a and b, in either order.
    ///
    /// # Panics
    /// If a and b are the same particle.
    #[must_use]
    pub fn particles(a: u32, b: u32) -> Self {
        assert_ne!(a, b, "a particle is no partner of itself");
        Self { first: a.min(b), kind: 0, which: a.max(b) }
    }

    /// A particle and one feature of an obstacle.
    #[must_use]
    pub fn obstacle(particle: u32, obstacle: u32, feature: u32) -> Self {
        Self { first: particle, kind: obstacle + 1, which: feature }
    }

    /// The particle i (of two particles, the one with the smaller index).
    #[must_use]
    pub fn first(self) -> u32 {
        self.first
    }

    /// Its partner.
    #[must_use]
    pub fn partner(self) -> Partner {
        match self.kind {
            0 => Partner::Particle(self.which),
            next => Partner::Obstacle { obstacle: next - 1, feature: self.which },
        }
    }

    /// The pair under new indices of its particles, in the same order; none where one of them has none.
    pub(crate) fn renumbered(self, index: impl Fn(u32) -> Option<u32>) -> Option<Self> {
        let first = index(self.first)?;
        Some(Self { first, which: if self.kind == 0 { index(self.which)? } else { self.which }, ..self })
    }

    /// What pairs are sorted by, in few comparisons.
    fn key(self) -> (u64, u32) {
        (u64::from(self.first) << 32 | u64::from(self.kind), self.which)
    }
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    fn lt(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
}

/// There is no such pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} and {1:?} are no pair")]
pub struct NoPair(u32, Partner);

impl TryFrom<(u32, Partner)> for Pair {
    type Error = NoPair;

    fn try_from((first, partner): (u32, Partner)) -> Result<Self, NoPair> {
        match partner {
            Partner::Particle(which) if first < which => Ok(Self::particles(first, which)),
            Partner::Obstacle { obstacle, feature } if obstacle < u32::MAX => {
                Ok(Self::obstacle(first, obstacle, feature))
            }
            _ => Err(NoPair(first, partner)),
        }
    }
}

impl From<Pair> for (u32, Partner) {
    fn from(pair: Pair) -> Self {
        (pair.first, pair.partner())
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

impl Contact {
    /// Stands where a list has room and no contact yet.
    pub(crate) const NONE: Self = Self { pair: Pair::UNUSED, gamma: 0.0, impulse: 0.0 };
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
