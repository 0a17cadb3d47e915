//! The metric of a problem: M⁻¹, which makes velocities of impulses.

use std::fmt::Debug;
use std::sync::Arc;

use glam::DVec3;

use super::Rigid;

/// M⁻¹ over the bodies of a problem.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// Each body on its own: its velocity per impulse, 1/m, 1/(m + hζ) with implicit drag, 1/(hζ) without inertia
    /// (1 / mass); 0 for one that cannot move.
    Diagonal(Vec<f64>),
    /// Spheres, some of which are held together: their masses and moments of inertia.
    Rigid(Rigid),
    /// An operator of which products are known.
    Operator {
        /// M⁻¹.
        mobility: Arc<dyn Mobility>,
        /// Each body's own velocity per impulse: who can move, and scales (1 / mass).
        inverse_mass: Vec<f64>,
    },
}

impl Default for Metric {
    fn default() -> Self {
        Self::Diagonal(Vec::new())
    }
}

impl Metric {
    /// Each body's own velocity per impulse. Where others move with it, it only tells who can move, and sets scales.
    #[must_use]
    pub fn inverse_mass(&self) -> &[f64] {
        match self {
            Self::Diagonal(inverse_mass) | Self::Operator { inverse_mass, .. } => inverse_mass,
            Self::Rigid(rigid) => &rigid.inverse_mass,
        }
    }

    /// Makes it diagonal, and gives the entries to be filled: what they held, in their memory.
    pub fn diagonal(&mut self) -> &mut Vec<f64> {
        if !self.is_diagonal() {
            *self = Self::Diagonal(self.take_inverse_mass());
        }
        match self {
            Self::Diagonal(inverse_mass) | Self::Operator { inverse_mass, .. } => inverse_mass,
            Self::Rigid(rigid) => &mut rigid.inverse_mass,
        }
    }

    /// The bodies' own velocities per impulse, taken away.
    pub(crate) fn take_inverse_mass(&mut self) -> Vec<f64> {
        match self {
            Self::Diagonal(inverse_mass) | Self::Operator { inverse_mass, .. } => std::mem::take(inverse_mass),
            Self::Rigid(rigid) => std::mem::take(&mut rigid.inverse_mass),
        }
    }

    /// The clump of each sphere, where some are held together; empty where none are.
    #[must_use]
    pub fn owner(&self) -> &[u32] {
        if let Self::Rigid(rigid) = self { &rigid.owner } else { &[] }
    }

    /// Whether an impulse on a body moves that body alone.
    #[must_use]
    pub fn is_diagonal(&self) -> bool {
        matches!(self, Self::Diagonal(_))
    }

    /// As products, where it is not diagonal.
    #[must_use]
    pub fn mobility(&self) -> Option<&dyn Mobility> {
        match self {
            Self::Diagonal(_) => None,
            Self::Rigid(rigid) => Some(rigid),
            Self::Operator { mobility, .. } => Some(&**mobility),
        }
    }

    /// Adds M⁻¹ P to velocities, for an impulse P on each body.
    pub fn add_product(&self, impulses: &[DVec3], velocity: &mut [DVec3]) {
        match self {
            Self::Diagonal(inverse_mass) => {
                for ((v, w), impulse) in velocity.iter_mut().zip(inverse_mass).zip(impulses) {
                    *v += *w * *impulse;
                }
            }
            Self::Rigid(rigid) => rigid.add_product(impulses, velocity),
            Self::Operator { mobility, .. } => mobility.add_product(impulses, velocity),
        }
    }
}

/// M⁻¹ as a product: velocity per impulse, symmetric and positive definite over all bodies.
pub trait Mobility: Debug + Send + Sync {
    /// Adds M⁻¹ P to the velocities, for an impulse P on each body; the same bits for any number of threads.
    fn add_product(&self, impulses: &[DVec3], velocity: &mut [DVec3]);

    /// e · (M⁻¹)_ij e for a unit vector e: how fast an impulse on body j moves body i, both along e (1 / mass).
    fn along(&self, i: usize, j: usize, direction: DVec3) -> f64;
}

/// A mobility equals only itself: what it does is not compared.
impl PartialEq for dyn Mobility {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self, other)
    }
}

/// What bodies would do without contacts, one entry a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// V^{n+1/2} (length / time).
    pub velocity: Vec<DVec3>,
    /// What impulses change of it.
    pub metric: Metric,
}

impl Prediction {
    /// Forgets all bodies; the memory is kept.
    pub fn clear(&mut self) {
        self.velocity.clear();
        self.metric.diagonal().clear();
    }

    /// Adds a body that an impulse moves alone: V^{n+1/2}, and its velocity per impulse (1 / mass).
    pub fn push(&mut self, velocity: DVec3, inverse_mass: f64) {
        self.velocity.push(velocity);
        self.metric.diagonal().push(inverse_mass);
    }

    /// V^{n+1/2} + M⁻¹ P for an impulse P on each body.
    pub fn add_impulses(&mut self, impulses: &[DVec3]) {
        self.metric.add_product(impulses, &mut self.velocity);
    }
}
