//! Surfaces of revolution seen from inside: funnels, open tubes, and the directions that guard a narrow room.
//!
//! The distance to a concave wall is smooth except on its axis, where the nearest point flips to the other side. A
//! sphere that fills most of the room crosses the axis within a step, and the linearised wall does not see the far
//! side. So near the axis eight fixed lines (or tangent planes) of the wall are offered besides the nearest point. Each
//! is implied by the true wall, hence never in the way, and each is convex.

use glam::DVec3;

use super::check::{self, FieldError, require};
use super::motion::unit;
use super::plate::{Plate, closest_on_segment};
use super::shape::Nearest;

/// Number of guarding directions about an axis.
pub(super) const GUARDS: u32 = 8;

/// Unit vectors (e1, e2, axis), right-handed; for an axis along z all are along axes of coordinates.
pub(super) fn frame(axis: DVec3) -> [DVec3; 3] {
    let axis = unit(axis);
    let (e1, e2) = axis.any_orthonormal_pair();
    [e1, e2, axis]
}

/// Direction of the guard numbered from 1 about the axis of the frame.
pub(super) fn guard_direction([e1, e2, _]: [DVec3; 3], guard: u32) -> DVec3 {
    let angle = std::f64::consts::TAU * f64::from(guard - 1) / f64::from(GUARDS);
    angle.cos() * e1 + angle.sin() * e2
}

/// Directions (unit vectors) in which the inside of a sphere is guarded: eight in its plane z = 0, then six out of it.
pub(super) fn sphere_guard_direction(guard: u32) -> DVec3 {
    let plane = [DVec3::X, DVec3::Y, DVec3::Z];
    if guard <= GUARDS {
        return guard_direction(plane, guard);
    }
    let sign = if guard.is_multiple_of(2) { -1.0 } else { 1.0 };
    let azimuth = std::f64::consts::FRAC_PI_2 * f64::from((guard - GUARDS - 1) / 2);
    if guard <= GUARDS + 2 { sign * DVec3::Z } else { sign * DVec3::new(azimuth.cos(), azimuth.sin(), 1.0).normalize() }
}

/// Number of guards of the inside of a sphere.
pub(super) const SPHERE_GUARDS: u32 = GUARDS + 6;

/// Cylindrical coordinates of a point: distance to the axis, height along it, and the unit radial direction (e1 on the
/// axis itself).
pub(super) fn cylindrical([e1, _, axis]: [DVec3; 3], offset: DVec3) -> (f64, f64, DVec3) {
    let height = offset.dot(axis);
    let radial = offset - height * axis;
    let distance = radial.length();
    (distance, height, if distance > 0.0 { radial / distance } else { e1 })
}

/// How a funnel is closed around its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// A surface of revolution, for 3D runs.
    Round,
    /// Two plates in the plane z = 0, for 2D runs.
    Flat,
}

/// A shell that narrows from a wide opening to a narrow one, open at both ends; its wall has round rims.
///
/// Round: feature 0 is the nearest point of the shell, 1..=8 its generators at fixed azimuths, offered near the axis.
/// Flat: features 0 and 1 are the two plates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Funnel {
    /// Centre of the upper opening (length).
    pub top: DVec3,
    /// Centre of the lower opening (length).
    pub bottom: DVec3,
    /// Radius of the middle surface at the top (length).
    pub top_radius: f64,
    /// Radius of the middle surface at the bottom (length).
    pub bottom_radius: f64,
    /// Thickness of the wall ≥ 0 (length).
    pub thickness: f64,
    /// Round in 3D, flat in 2D.
    pub section: Section,
}

impl Funnel {
    pub(super) fn features(&self) -> u32 {
        match self.section {
            Section::Round => 1 + GUARDS,
            Section::Flat => 2,
        }
    }

    /// The plate numbered 0 or 1 of a flat funnel: to the left and to the right of its axis, seen from the bottom.
    pub(super) fn side(&self, side: u32) -> Plate {
        let across = DVec3::Z.cross(unit(self.top - self.bottom)) * if side == 0 { 1.0 } else { -1.0 };
        let (low, high) = (self.bottom + self.bottom_radius * across, self.top + self.top_radius * across);
        Plate::segment(low, high, self.thickness)
    }

    /// Distance of a point to the axis (length).
    pub(super) fn axis_distance(&self, point: DVec3) -> f64 {
        unit(self.top - self.bottom).cross(point - self.bottom).length()
    }

    pub(super) fn nearest(&self, feature: u32, point: DVec3) -> Nearest {
        if self.section == Section::Flat {
            return self.side(feature).nearest(point);
        }
        let frame = frame(self.top - self.bottom);
        let (_, _, radial) = cylindrical(frame, point - self.bottom);
        let azimuth = if feature == 0 { radial } else { guard_direction(frame, feature) };
        let (low, high) = (self.bottom + self.bottom_radius * azimuth, self.top + self.top_radius * azimuth);
        // A centre on the wall itself is taken to come from inside.
        let along = unit(high - low);
        let outward = unit(azimuth - azimuth.dot(along) * along);
        Nearest::towards(closest_on_segment(low, high, point) - point, outward).thickened(self.thickness)
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), FieldError> {
        check::vector("top", self.top, dimension)?;
        check::vector("bottom", self.bottom, dimension)?;
        require(self.top != self.bottom, "top", self.top.to_array(), "different from bottom")?;
        check::not_negative("top_radius", self.top_radius)?;
        check::not_negative("bottom_radius", self.bottom_radius)?;
        require(
            self.top_radius + self.bottom_radius > 0.0,
            "top_radius",
            self.top_radius,
            "> 0 where bottom_radius is 0",
        )?;
        check::not_negative("thickness", self.thickness)?;
        let fits = if dimension == 2 { Section::Flat } else { Section::Round };
        require(self.section == fits, "section", self.section, "Flat in a 2D run, Round in 3D")
    }
}
