//! Flat sets with a thickness: the distance to a segment or parallelogram, minus half the thickness. Convex.

use glam::DVec3;

use super::check::{self, FieldError, require};
use super::motion::unit;
use super::shape::Nearest;

/// All points within thickness/2 of the parallelogram corner + s·a + t·b, a and b its edges, 0 ≤ s, t ≤ 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plate {
    /// One corner (length).
    pub corner: DVec3,
    /// The edges from this corner (length). A second edge of zero makes a segment: the plate of a 2D run, a rod in 3D.
    pub edges: [DVec3; 2],
    /// Thickness ≥ 0 (length); the rim is round.
    pub thickness: f64,
}

impl Plate {
    /// The segment from one point to another (lengths).
    #[must_use]
    pub fn segment(from: DVec3, to: DVec3, thickness: f64) -> Self {
        Self { corner: from, edges: [to - from, DVec3::ZERO], thickness }
    }

    /// Midpoint (length).
    #[must_use]
    pub fn middle(&self) -> DVec3 {
        self.corner + 0.5 * (self.edges[0] + self.edges[1])
    }

    /// The four corners in order around the plate (length).
    pub(super) fn corners(&self) -> [DVec3; 4] {
        let [along, across] = self.edges;
        [self.corner, self.corner + along, self.corner + along + across, self.corner + across]
    }

    /// A unit vector across the plate; for a segment of the plane z = 0 it lies in this plane.
    pub(super) fn across(&self) -> DVec3 {
        let face = self.edges[0].cross(self.edges[1]);
        if face != DVec3::ZERO {
            return unit(face);
        }
        let across = DVec3::Z.cross(self.edges[0]);
        if across == DVec3::ZERO { DVec3::X } else { unit(across) }
    }

    pub(super) fn nearest(&self, point: DVec3) -> Nearest {
        Nearest::towards(self.closest(point) - point, self.across()).thickened(self.thickness)
    }

    /// Closest point of the flat set.
    fn closest(&self, point: DVec3) -> DVec3 {
        let [a, b] = self.edges;
        let offset = point - self.corner;
        // Foot s·a + t·b in the plane: normal equations of the least-squares problem.
        let (aa, ab, bb) = (a.dot(a), a.dot(b), b.dot(b));
        let (pa, pb) = (offset.dot(a), offset.dot(b));
        let determinant = aa * bb - ab * ab;
        let (s, t) = ((bb * pa - ab * pb) / determinant, (aa * pb - ab * pa) / determinant);
        if determinant > 0.0 && (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            return self.corner + s * a + t * b;
        }
        let corners = self.corners();
        let mut best = closest_on_segment(corners[0], corners[1], point);
        if b != DVec3::ZERO {
            for k in 1..4 {
                let other = closest_on_segment(corners[k], corners[(k + 1) % 4], point);
                if other.distance_squared(point) < best.distance_squared(point) {
                    best = other;
                }
            }
        }
        best
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), FieldError> {
        check::vector("corner", self.corner, dimension)?;
        check::direction("edges[0]", self.edges[0], dimension)?;
        check::vector("edges[1]", self.edges[1], dimension)?;
        if self.edges[1] != DVec3::ZERO {
            require(
                dimension != 2,
                "edges[1]",
                self.edges[1].to_array(),
                "zero in a 2D run, where a plate is a segment",
            )?;
            let sine = unit(self.edges[0]).cross(unit(self.edges[1])).length();
            require(sine > 1e-6, "edges[1]", self.edges[1].to_array(), "not parallel to edges[0]")?;
        }
        check::not_negative("thickness", self.thickness)
    }
}

/// The point of the segment [a, b] closest to `point`.
pub(super) fn closest_on_segment(a: DVec3, b: DVec3, point: DVec3) -> DVec3 {
    let along = b - a;
    let share = (point - a).dot(along) / along.length_squared();
    // At the ends the vertex itself is returned, so that segments which share it agree to the last bit.
    if share >= 1.0 {
        b
    } else if share > 0.0 {
        a + share * along
    } else {
        a
    }
}

/// Blades of a wheel: each is a feature that every particle near the wheel is tested against.
const MOST_BLADES: u32 = 1000;

/// A hub with straight blades: a mixer, a water wheel, a stirrer. Feature 0 is the hub, 1..=blades the blades.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wheel {
    /// Middle of the hub (length).
    pub centre: DVec3,
    /// Direction of the axle; along z in 2D.
    pub axis: DVec3,
    /// Radius of the hub (length).
    pub hub_radius: f64,
    /// Distance from the axle at which the blades end, before the rounding by thickness/2 (length).
    pub outer_radius: f64,
    /// Length of hub and blades along the axle (length); infinite in 2D.
    pub width: f64,
    /// Number of blades, evenly spread.
    pub blades: u32,
    /// Thickness of a blade ≥ 0 (length).
    pub thickness: f64,
    /// Angle of the first blade about the axis (rad), from x when the axis is z.
    pub phase: f64,
}

impl Wheel {
    /// Unit vectors along and across a blade, numbered from 1.
    pub(super) fn blade_directions(&self, blade: u32) -> (DVec3, DVec3) {
        let (e1, e2) = unit(self.axis).any_orthonormal_pair();
        let angle = self.phase + std::f64::consts::TAU * f64::from(blade - 1) / f64::from(self.blades);
        let (sin, cos) = angle.sin_cos();
        (cos * e1 + sin * e2, cos * e2 - sin * e1)
    }

    pub(super) fn nearest_blade(&self, blade: u32, point: DVec3) -> Nearest {
        let (along, across) = self.blade_directions(blade);
        let axis = unit(self.axis);
        let offset = point - self.centre;
        let (u, a) = (offset.dot(along), offset.dot(axis));
        let du = u.clamp(self.hub_radius, self.outer_radius) - u;
        let da = a.clamp(-0.5 * self.width, 0.5 * self.width) - a;
        Nearest::towards(du * along - offset.dot(across) * across + da * axis, across).thickened(self.thickness)
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), FieldError> {
        check::vector("centre", self.centre, dimension)?;
        check::axis("axis", self.axis, dimension)?;
        check::positive("hub_radius", self.hub_radius)?;
        check::finite("outer_radius", self.outer_radius)?;
        require(self.outer_radius > self.hub_radius, "outer_radius", self.outer_radius, "larger than hub_radius")?;
        require((1..=MOST_BLADES).contains(&self.blades), "blades", self.blades, "from 1 to 1000")?;
        check::not_negative("thickness", self.thickness)?;
        check::finite("phase", self.phase)?;
        check_length("width", self.width, dimension)
    }
}

/// A length along an axis: positive, perhaps infinite; in 2D it must be infinite, for the caps would leave the plane.
pub(super) fn check_length(field: &'static str, value: f64, dimension: usize) -> Result<(), FieldError> {
    require(value > 0.0, field, value, "> 0, or infinite")?;
    require(dimension != 2 || value == f64::INFINITY, field, value, "infinite in a 2D run (leave it out of a scene)")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::motion::tests::any_vector;
    use super::*;

    proptest! {
        #[test]
        fn the_closest_point_of_a_plate_beats_every_sampled_point(
            corner in any_vector(1.0), a in any_vector(1.0), b in any_vector(1.0), point in any_vector(3.0),
        ) {
            prop_assume!(a.cross(b).length() > 0.05);
            let plate = Plate { corner, edges: [a, b], thickness: 0.0 };
            let distance = plate.nearest(point).distance;
            let mut sampled = f64::INFINITY;
            for i in 0..=60 {
                for j in 0..=60 {
                    let x = corner + a * (f64::from(i) / 60.0) + b * (f64::from(j) / 60.0);
                    sampled = sampled.min(x.distance(point));
                }
            }
            prop_assert!(distance <= sampled + 1e-12);
            prop_assert!(sampled - distance < (a.length() + b.length()) / 60.0);
        }
    }

    #[test]
    fn a_point_on_the_plate_gets_its_face_normal() {
        let plate = Plate { corner: DVec3::ZERO, edges: [DVec3::X, DVec3::Y], thickness: 0.2 };
        let nearest = plate.nearest(DVec3::new(0.5, 0.5, 0.0));
        assert_eq!((nearest.distance, nearest.normal), (-0.1, DVec3::Z));
        let segment = Plate::segment(DVec3::ZERO, DVec3::X, 0.0);
        assert_eq!(segment.nearest(DVec3::X * 0.5).normal, DVec3::Y);
    }
}
