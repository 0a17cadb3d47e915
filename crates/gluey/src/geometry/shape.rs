//! Shapes at rest: signed distance from a point to each feature, and the unit normal into it.
//!
//! The gap of a sphere (c, r) is D = distance(c) − r. Its gradient in c is −normal.

use glam::{DQuat, DVec3};

use super::check::{self, FieldError, require};
use super::mesh::TriangleMesh;
use super::motion::unit;
use super::plate::{Plate, Wheel, check_length};
use super::pose::turned;
use super::revolution::{self, Funnel, GUARDS, SPHERE_GUARDS, Section};
use super::solid;

/// What is wrong with a shape.
pub type ShapeError = FieldError;

/// On which side of a closed surface the particles live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The surface is a container.
    Inside,
    /// The surface bounds a solid.
    Outside,
}

/// A side of a box, in the frame of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxSide {
    /// x = −half.x
    LowerX,
    /// x = +half.x
    UpperX,
    /// y = −half.y
    LowerY,
    /// y = +half.y
    UpperY,
    /// z = −half.z
    LowerZ,
    /// z = +half.z
    UpperZ,
}

impl BoxSide {
    /// In the order of the features.
    pub const ALL: [Self; 6] = [Self::LowerX, Self::UpperX, Self::LowerY, Self::UpperY, Self::LowerZ, Self::UpperZ];
}

/// The form of an obstacle, in its own frame. Lengths are the scene's.
///
/// ```
/// use glam::DVec3;
/// use gluey::geometry::{Shape, Side};
///
/// let drum = Shape::Sphere { centre: DVec3::X, radius: 2.0, side: Side::Inside };
/// assert_eq!(drum.check(3), Ok(()));
/// let error = Shape::Sphere { centre: DVec3::X, radius: -2.0, side: Side::Inside }.check(3);
/// assert_eq!(error.map_err(|error| error.field), Err("radius"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a scene holds few shapes, and most of a mesh is behind pointers")]
pub enum Shape {
    /// Everything behind a plane. One feature.
    HalfSpace {
        /// A point of the plane (length).
        point: DVec3,
        /// Normal of the plane, towards the particles; only its direction counts.
        normal: DVec3,
    },
    /// A box. Inside: one half-space per closed side, features 0..=5 in the order of [`BoxSide::ALL`], so a side's
    /// plane goes on beyond the box. Outside: one solid feature. In 2D half.z is infinite.
    Box {
        /// Middle (length).
        centre: DVec3,
        /// Half extents (length); an infinite one means no side there.
        half: DVec3,
        /// From the frame of the box to that of the obstacle.
        orientation: DQuat,
        /// Container or solid.
        side: Side,
        /// Sides of a container that are missing.
        open: Vec<BoxSide>,
    },
    /// A sphere; in 2D a disc. Inside: feature 0 the wall, 1..=14 tangent planes, offered near the centre.
    Sphere {
        /// Centre (length).
        centre: DVec3,
        /// Radius (length).
        radius: f64,
        /// Container or solid.
        side: Side,
    },
    /// A circular cylinder; in 2D a disc (axis along z, infinite length).
    ///
    /// Outside: one solid, capped feature. Inside, closed or infinite: feature 0 the wall, 1..=8 tangent planes offered
    /// near the axis, 9 and 10 the caps behind and ahead along the axis. Inside, open and finite: a thin shell that can
    /// be entered and left at its ends, with features as a round [`Funnel`] without thickness.
    Cylinder {
        /// Middle (length).
        centre: DVec3,
        /// Direction of the axis.
        axis: DVec3,
        /// Radius (length).
        radius: f64,
        /// Length along the axis (length); may be infinite.
        length: f64,
        /// Container or solid.
        side: Side,
        /// Whether a container has caps at its ends.
        closed: bool,
    },
    /// A flat plate with a thickness. One feature.
    Plate(Plate),
    /// A funnel: see [`Funnel`] for its features.
    Funnel(Funnel),
    /// A wheel with blades: see [`Wheel`] for its features.
    Wheel(Wheel),
    /// A triangulated surface: see [`TriangleMesh`] for its features.
    Mesh(TriangleMesh),
}

/// Signed distance from a point to a feature (length), and the unit vector from the point into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    pub distance: f64,
    pub normal: DVec3,
}

impl Nearest {
    /// From the vector to the closest point; `fallback` is the normal where this vector vanishes.
    pub fn towards(offset: DVec3, fallback: DVec3) -> Self {
        let distance = offset.length();
        Self { distance, normal: if distance > 0.0 { offset / distance } else { fallback } }
    }

    /// The same feature swept by a ball of diameter `thickness`.
    pub fn thickened(self, thickness: f64) -> Self {
        Self { distance: self.distance - 0.5 * thickness, ..self }
    }
}

impl Shape {
    /// Number of feature ids.
    pub(crate) fn features(&self) -> u32 {
        match self {
            Self::Box { side: Side::Inside, .. } => 6,
            Self::Sphere { side: Side::Inside, .. } => 1 + SPHERE_GUARDS,
            Self::Cylinder { side: Side::Inside, .. } => 3 + GUARDS,
            Self::HalfSpace { .. }
            | Self::Plate(_)
            | Self::Box { .. }
            | Self::Sphere { .. }
            | Self::Cylinder { .. } => 1,
            Self::Funnel(funnel) => funnel.features(),
            Self::Wheel(wheel) => 1 + wheel.blades,
            Self::Mesh(mesh) => mesh.features(),
        }
    }

    /// Distance from a point to one feature; none where the feature does not exist.
    pub(super) fn nearest(&self, feature: u32, point: DVec3) -> Option<Nearest> {
        if feature >= self.features() {
            return None;
        }
        match self {
            Self::HalfSpace { point: origin, normal } => {
                let outward = unit(*normal);
                Some(Nearest { distance: (point - *origin).dot(outward), normal: -outward })
            }
            Self::Box { centre, half, orientation, side, open } => {
                let local = turned(orientation.conjugate(), point - *centre);
                let nearest = match side {
                    Side::Outside => solid::box_outside(*half, local),
                    Side::Inside if open.contains(&BoxSide::ALL[feature as usize]) => return None,
                    Side::Inside => solid::box_side(*half, feature as usize, local)?,
                };
                Some(Nearest { normal: turned(*orientation, nearest.normal), ..nearest })
            }
            Self::Sphere { centre, radius, side: Side::Outside } => {
                let nearest = Nearest::towards(*centre - point, DVec3::X);
                Some(Nearest { distance: nearest.distance - radius, ..nearest })
            }
            Self::Sphere { centre, radius, side: Side::Inside } => {
                let offset = point - *centre;
                if feature == 0 {
                    let outward = Nearest::towards(offset, DVec3::X);
                    return Some(Nearest { distance: radius - outward.distance, ..outward });
                }
                let normal = revolution::sphere_guard_direction(feature);
                Some(Nearest { distance: radius - offset.dot(normal), normal })
            }
            Self::Cylinder { side: Side::Inside, .. } => {
                if let Some(shell) = self.open_shell() {
                    return (feature < shell.features()).then(|| shell.nearest(feature, point));
                }
                self.cylinder_wall(feature, point)
            }
            Self::Cylinder { centre, axis, radius, length, .. } => {
                Some(solid::cylinder_outside(*axis, (*radius, *length), point - *centre))
            }
            Self::Plate(plate) => Some(plate.nearest(point)),
            Self::Funnel(funnel) => Some(funnel.nearest(feature, point)),
            Self::Wheel(wheel) if feature == 0 => {
                Some(solid::cylinder_outside(wheel.axis, (wheel.hub_radius, wheel.width), point - wheel.centre))
            }
            Self::Wheel(wheel) => Some(wheel.nearest_blade(feature, point)),
            Self::Mesh(mesh) => Some(mesh.nearest(feature, point)),
        }
    }

    /// The sides of a box seen from inside that are within `limit` of the point, for which there is no need to ask
    /// each.
    pub(super) fn sides_within(&self, point: DVec3, limit: f64) -> Option<impl Iterator<Item = (u32, Nearest)>> {
        let Self::Box { centre, half, orientation, side: Side::Inside, open } = self else { return None };
        let local = turned(orientation.conjugate(), point - *centre);
        let near = move |side: usize| solid::box_side(*half, side, local).filter(|near| near.distance <= limit);
        let sides = (0..6).filter_map(move |side| Some((side, near(side)?)));
        let closed = sides.filter(|(side, _)| !open.contains(&BoxSide::ALL[*side]));
        Some(closed.map(|(side, near)| (side as u32, Nearest { normal: turned(*orientation, near.normal), ..near })))
    }

    /// Whether this feature should be looked at for a sphere here: always, but for the guards of a concave wall, which
    /// serve only where the nearest point may flip to the other side within a step.
    pub(super) fn offers(&self, feature: u32, centre: DVec3, radius: f64) -> bool {
        match self {
            Self::Sphere { centre: middle, side: Side::Inside, .. } if feature > 0 => {
                let offset = centre - *middle;
                // In the plane z = 0 only guards of this plane: a 2D run never gets a normal that leaves it.
                offset.length() < 0.5 * radius && (feature <= GUARDS || offset.z != 0.0)
            }
            Self::Cylinder { centre: middle, axis, side: Side::Inside, .. } if (1..=GUARDS).contains(&feature) => {
                unit(*axis).cross(centre - *middle).length() < 0.5 * radius
            }
            Self::Funnel(funnel) if funnel.section == Section::Round && feature > 0 => {
                funnel.axis_distance(centre) < 0.5 * radius
            }
            _ => true,
        }
    }

    /// The tube of an open, finite cylinder with the particles inside.
    pub(super) fn open_shell(&self) -> Option<Funnel> {
        match self {
            Self::Cylinder { centre, axis, radius, length, side: Side::Inside, closed: false }
                if length.is_finite() =>
            {
                let reach = 0.5 * length * unit(*axis);
                Some(Funnel {
                    top: *centre + reach,
                    bottom: *centre - reach,
                    top_radius: *radius,
                    bottom_radius: *radius,
                    thickness: 0.0,
                    section: Section::Round,
                })
            }
            _ => None,
        }
    }

    /// Wall, tangent planes and caps of a closed or infinite cylinder seen from inside.
    fn cylinder_wall(&self, feature: u32, point: DVec3) -> Option<Nearest> {
        let Self::Cylinder { centre, axis, radius, length, closed, .. } = self else { return None };
        let frame = revolution::frame(*axis);
        let offset = point - *centre;
        if feature == 0 {
            let (distance, _, normal) = revolution::cylindrical(frame, offset);
            return Some(Nearest { distance: radius - distance, normal });
        }
        if feature <= GUARDS {
            let normal = revolution::guard_direction(frame, feature);
            return Some(Nearest { distance: radius - offset.dot(normal), normal });
        }
        let normal = if feature == GUARDS + 1 { -frame[2] } else { frame[2] };
        (*closed && length.is_finite()).then(|| Nearest { distance: 0.5 * length - offset.dot(normal), normal })
    }

    /// Whether the gap is convex in the sphere's centre for every feature, so that the linearised constraint implies
    /// the true one.
    #[must_use]
    pub fn is_convex(&self) -> bool {
        match self {
            Self::HalfSpace { .. } | Self::Box { .. } | Self::Plate(_) | Self::Wheel(_) => true,
            Self::Sphere { side, .. } | Self::Cylinder { side, .. } => *side == Side::Outside,
            Self::Funnel(funnel) => funnel.section == Section::Flat,
            Self::Mesh(_) => false,
        }
    }

    /// Whether every feature is a half-space, against which the linearised constraint is exact however far a sphere
    /// slides.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        matches!(self, Self::HalfSpace { .. } | Self::Box { side: Side::Inside, .. })
    }

    /// Radius of a solid ball, infinite for all else: a sphere sees it as a plane (length).
    #[must_use]
    pub fn ball_radius(&self) -> f64 {
        match self {
            Self::Sphere { radius, side: Side::Outside, .. } => *radius,
            _ => f64::INFINITY,
        }
    }

    /// A point that stands for the whole: its centre, or a point of the plane (length).
    #[must_use]
    pub fn reference(&self) -> DVec3 {
        match self {
            Self::HalfSpace { point, .. } => *point,
            Self::Box { centre, .. } | Self::Sphere { centre, .. } | Self::Cylinder { centre, .. } => *centre,
            Self::Plate(plate) => plate.middle(),
            Self::Funnel(funnel) => 0.5 * (funnel.top + funnel.bottom),
            Self::Wheel(wheel) => wheel.centre,
            Self::Mesh(mesh) => 0.5 * (mesh.bounds().0 + mesh.bounds().1),
        }
    }

    /// How large the numbers are that gaps are computed from, along each axis: what rounding is relative to (length).
    pub(super) fn numbers(&self) -> DVec3 {
        let finite = |length: f64| if length.is_finite() { length } else { 0.0 };
        let sizes = match self {
            Self::HalfSpace { point, .. } => return point.abs(),
            Self::Box { centre, half, orientation, .. } => {
                let sizes = centre.abs() + DVec3::from(half.to_array().map(finite));
                if *orientation == DQuat::IDENTITY {
                    return sizes;
                }
                sizes
            }
            Self::Sphere { centre, radius, .. } => centre.abs() + *radius,
            Self::Cylinder { centre, radius, length, .. } => centre.abs() + *radius + finite(*length),
            Self::Wheel(wheel) => wheel.centre.abs() + wheel.outer_radius + wheel.thickness + finite(wheel.width),
            Self::Plate(_) | Self::Funnel(_) | Self::Mesh(_) => {
                self.bounds().map_or(DVec3::ZERO, |(lower, upper)| lower.abs().max(upper.abs()))
            }
        };
        DVec3::splat(sizes.max_element())
    }

    /// The smallest box with sides along the axes that surely holds the surface (length); none when it is unbounded.
    #[must_use]
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let around = |centre: DVec3, reach: DVec3| reach.is_finite().then(|| (centre - reach, centre + reach));
        match self {
            Self::HalfSpace { .. } => None,
            Self::Box { centre, half, orientation, .. } => {
                let edges = [DVec3::X, DVec3::Y, DVec3::Z].map(|e| (*orientation * (e * half.dot(e))).abs());
                if half.is_finite() { around(*centre, edges[0] + edges[1] + edges[2]) } else { None }
            }
            Self::Sphere { centre, radius, .. } => around(*centre, DVec3::splat(*radius)),
            Self::Cylinder { centre, axis, radius, length, .. } => {
                around(*centre, solid::cylinder_reach(*axis, *radius, *length))
            }
            Self::Plate(plate) => Some(hull(&plate.corners(), 0.5 * plate.thickness)),
            Self::Funnel(Funnel { section: Section::Flat, thickness, .. }) => {
                let Self::Funnel(funnel) = self else { return None };
                let (left, right) = (funnel.side(0).corners(), funnel.side(1).corners());
                Some(hull(&[left[0], left[1], right[0], right[1]], 0.5 * thickness))
            }
            Self::Funnel(funnel) => {
                let axis = funnel.top - funnel.bottom;
                let low = solid::cylinder_reach(axis, funnel.bottom_radius, 0.0);
                let high = solid::cylinder_reach(axis, funnel.top_radius, 0.0);
                let rims = [funnel.bottom - low, funnel.bottom + low, funnel.top - high, funnel.top + high];
                Some(hull(&rims, 0.5 * funnel.thickness))
            }
            Self::Wheel(wheel) => {
                let reach = solid::cylinder_reach(wheel.axis, wheel.outer_radius, wheel.width);
                around(wheel.centre, reach + DVec3::splat(0.5 * wheel.thickness))
            }
            Self::Mesh(mesh) => Some(mesh.bounds()),
        }
    }

    /// The box around what a run of this dimension sees of the surface (length): in 2D its section with the plane z =
    /// 0, which is bounded for discs, rectangles and wheels, too; none when it is unbounded.
    #[must_use]
    pub fn seen_bounds(&self, dimension: usize) -> Option<(DVec3, DVec3)> {
        if dimension != 2 {
            return self.bounds();
        }
        let mut section = self.clone();
        match &mut section {
            Self::Box { half, .. } => half.z = 0.0,
            Self::Cylinder { length, .. } => *length = 0.0,
            Self::Wheel(wheel) => wheel.width = 0.0,
            _ => {}
        }
        let (lower, upper) = section.bounds()?;
        Some((lower.with_z(0.0), upper.with_z(0.0)))
    }

    /// A box with sides along the axes to which every point outside is nearer than to any feature (length); none where
    /// the shape has no bounds, or is a container, whose sides go on beyond them.
    pub(super) fn confines(&self) -> Option<(DVec3, DVec3)> {
        let container = match self {
            Self::Box { side, .. } | Self::Sphere { side, .. } => *side == Side::Inside,
            Self::Cylinder { side, .. } => *side == Side::Inside && self.open_shell().is_none(),
            _ => false,
        };
        if container { None } else { self.bounds() }
    }

    /// Whether a feature may be nearer than `distance` to the point (lengths): never wrong when it says no.
    pub(super) fn may_reach(&self, point: DVec3, distance: f64) -> bool {
        if let Self::Wheel(wheel) = self {
            let size = (wheel.outer_radius + 0.5 * wheel.thickness, wheel.width + wheel.thickness);
            return solid::cylinder_outside(wheel.axis, size, point - wheel.centre).distance <= distance;
        }
        if let Self::Box { centre, half, orientation, side: Side::Inside, .. } = self {
            let local = turned(orientation.conjugate(), point - *centre);
            return (*half - local.abs()).min_element() <= distance; // open sides too
        }
        // Most of the bounds of a round funnel is room; the wall is nearer than its guards.
        if let Self::Funnel(funnel @ Funnel { section: Section::Round, .. }) = self {
            return funnel.nearest(0, point).distance <= distance;
        }
        match self.confines() {
            Some((lower, upper)) => (point - point.clamp(lower, upper)).length() <= distance,
            // A point (radius 0) is offered no guards; the wall is nearer than they are.
            None => (0..self.features())
                .filter(|k| self.offers(*k, point, 0.0))
                .any(|k| self.nearest(k, point).is_some_and(|near| near.distance <= distance)),
        }
    }

    /// Whether the numbers make sense in a run of this dimension (2 or 3).
    pub fn check(&self, dimension: usize) -> Result<(), ShapeError> {
        match self {
            Self::HalfSpace { point, normal } => {
                check::vector("point", *point, dimension)?;
                check::direction("normal", *normal, dimension)
            }
            Self::Box { centre, half, orientation, side, open } => {
                check::vector("centre", *centre, dimension)?;
                require(half.min_element() > 0.0, "half", half.to_array(), "three numbers > 0, or infinite")?;
                require(
                    dimension != 2 || half.z == f64::INFINITY,
                    "half",
                    half.to_array(),
                    "infinite along z in a 2D run: a rectangle",
                )?;
                require(orientation.is_normalized(), "orientation", orientation.to_array(), "a unit quaternion")?;
                let planar = orientation.x == 0.0 && orientation.y == 0.0;
                require(dimension != 2 || planar, "orientation", orientation.to_array(), "a turn about z in a 2D run")?;
                require(*side == Side::Inside || open.is_empty(), "open", open, "empty for a solid box")
            }
            Self::Sphere { centre, radius, .. } => {
                check::vector("centre", *centre, dimension)?;
                check::positive("radius", *radius)
            }
            Self::Cylinder { centre, axis, radius, length, .. } => {
                check::vector("centre", *centre, dimension)?;
                check::axis("axis", *axis, dimension)?;
                check::positive("radius", *radius)?;
                check_length("length", *length, dimension)
            }
            Self::Plate(plate) => plate.check(dimension),
            Self::Funnel(funnel) => funnel.check(dimension),
            Self::Wheel(wheel) => wheel.check(dimension),
            Self::Mesh(mesh) => {
                require(dimension != 2, "mesh", mesh.triangles().len(), "absent from a 2D run: build it of plates")
            }
        }
    }
}

/// Box around points, widened on all sides (lengths).
fn hull(points: &[DVec3], margin: f64) -> (DVec3, DVec3) {
    let lower = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let upper = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    (lower - margin, upper + margin)
}
