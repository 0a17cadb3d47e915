//! Rigid placements.

use glam::{DQuat, DVec3};

/// Rigid placement x ↦ rotation·x + translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rotation about the origin, a unit quaternion.
    pub rotation: DQuat,
    /// Translation after the rotation (length).
    pub translation: DVec3,
}

impl Pose {
    /// x ↦ x.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// x ↦ x + offset (length).
    #[must_use]
    pub fn shift(offset: DVec3) -> Self {
        Self { rotation: DQuat::IDENTITY, translation: offset }
    }

    /// Turn by `angle` (rad, right-handed) about the line through `centre` along the unit vector `axis`.
    #[must_use]
    pub fn turn(centre: DVec3, axis: DVec3, angle: f64) -> Self {
        let rotation = DQuat::from_axis_angle(axis, angle);
        Self { rotation, translation: centre - rotation * centre }
    }

    /// The image of a point (length).
    #[must_use]
    #[inline]
    pub fn apply(&self, point: DVec3) -> DVec3 {
        turned(self.rotation, point) + self.translation
    }

    /// The image of a direction: rotated only.
    #[must_use]
    #[inline]
    pub fn apply_vector(&self, vector: DVec3) -> DVec3 {
        turned(self.rotation, vector)
    }

    /// The point whose image this is (length).
    #[must_use]
    #[inline]
    pub fn inverse_apply(&self, point: DVec3) -> DVec3 {
        turned(self.rotation.conjugate(), point - self.translation)
    }

    /// `self` after `inner`: x ↦ self(inner(x)).
    #[must_use]
    pub fn compose(&self, inner: &Self) -> Self {
        Self { rotation: self.rotation * inner.rotation, translation: self.apply(inner.translation) }
    }
}

/// The vector rotated. Most obstacles stand upright, which takes less time to see than a rotation.
#[inline]
pub(super) fn turned(rotation: DQuat, vector: DVec3) -> DVec3 {
    if rotation == DQuat::IDENTITY { vector } else { rotation * vector }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_and_composition_agree_with_application() {
        let a = Pose::turn(DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.6, 0.0, 0.8), 0.7);
        let b = Pose::shift(DVec3::new(-1.0, 0.5, 0.0)).compose(&Pose::turn(DVec3::ZERO, DVec3::X, -1.1));
        let point = DVec3::new(0.3, -0.2, 0.9);
        assert!((a.compose(&b).apply(point) - a.apply(b.apply(point))).length() < 1e-14);
        assert!((a.inverse_apply(a.apply(point)) - point).length() < 1e-14);
        assert!((a.apply(DVec3::new(1.0, 2.0, 3.0)) - DVec3::new(1.0, 2.0, 3.0)).length() < 1e-14);
    }
}
