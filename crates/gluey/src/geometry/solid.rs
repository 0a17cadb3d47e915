//! Distances to solids, in their own frame: positive outside, negative inside.

use glam::DVec3;

use super::revolution::{cylindrical, frame};
use super::shape::Nearest;

/// Solid box: |max(q, 0)| + min(max(q), 0) with q = |x| − half.
pub(super) fn box_outside(half: DVec3, point: DVec3) -> Nearest {
    let excess = point.abs() - half;
    let sign = DVec3::select(point.cmpge(DVec3::ZERO), DVec3::ONE, DVec3::NEG_ONE);
    if excess.max_element() > 0.0 {
        return Nearest::towards(-sign * excess.max(DVec3::ZERO), DVec3::X);
    }
    // Inside, the way out is through the nearest face.
    let face = if excess.x >= excess.y && excess.x >= excess.z {
        DVec3::X
    } else if excess.y >= excess.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    Nearest { distance: excess.max_element(), normal: -sign * face }
}

/// The half-space behind one side of a box seen from inside; none where the box is infinite.
pub(super) fn box_side(half: DVec3, side: usize, point: DVec3) -> Option<Nearest> {
    let axis = side / 2;
    let sign = if side.is_multiple_of(2) { -1.0 } else { 1.0 };
    let mut normal = DVec3::ZERO;
    normal[axis] = sign;
    half[axis].is_finite().then(|| Nearest { distance: half[axis] - sign * point[axis], normal })
}

/// Solid cylinder with caps, `size` = (radius, length): the same formula in the half-plane (ρ, |height|).
pub(super) fn cylinder_outside(axis: DVec3, size: (f64, f64), offset: DVec3) -> Nearest {
    let frame = frame(axis);
    let (distance, height, radial) = cylindrical(frame, offset);
    let excess = (distance - size.0, height.abs() - 0.5 * size.1);
    let cap = if height >= 0.0 { frame[2] } else { -frame[2] };
    if excess.0 <= 0.0 && excess.1 <= 0.0 {
        let (distance, outward) = if excess.0 >= excess.1 { (excess.0, radial) } else { (excess.1, cap) };
        return Nearest { distance, normal: -outward };
    }
    Nearest::towards(-(excess.0.max(0.0) * radial) - excess.1.max(0.0) * cap, -radial)
}

/// Half extents along the axes of coordinates of a cylinder: |a| length/2 + radius √(1 − a²), a a component of the
/// axis.
pub(super) fn cylinder_reach(axis: DVec3, radius: f64, length: f64) -> DVec3 {
    let axis = frame(axis)[2];
    let disc = (DVec3::ONE - axis * axis).max(DVec3::ZERO);
    let along = if length.is_finite() { 0.5 * length * axis.abs() } else { DVec3::INFINITY };
    along + radius * DVec3::new(disc.x.sqrt(), disc.y.sqrt(), disc.z.sqrt())
}
