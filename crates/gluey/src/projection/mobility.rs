//! Metrics that are not diagonal: V = V^{n+1/2} + M⁻¹ Gᵀ Λ where an impulse on one body moves the others too.

use std::fmt::Debug;

use glam::DVec3;

use super::Rigid;

/// M⁻¹ as a product: velocity per impulse, symmetric and positive definite over all bodies.
pub trait Mobility: Debug + Send + Sync {
    /// Adds M⁻¹ P to the velocities, for an impulse P on each body; the same bits for any number of threads.
    fn add_product(&self, impulses: &[DVec3], velocity: &mut [DVec3]);

    /// e · (M⁻¹)_ij e for a unit vector e: how fast an impulse on body j moves body i, both along e (1 / mass).
    fn along(&self, i: usize, j: usize, direction: DVec3) -> f64;

    /// As the metric of clumps, if it is one: their rows can be swept one at a time.
    fn as_rigid(&self) -> Option<&Rigid> {
        None
    }
}

/// A mobility equals only itself: what it does is not compared.
impl PartialEq for dyn Mobility {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self, other)
    }
}
