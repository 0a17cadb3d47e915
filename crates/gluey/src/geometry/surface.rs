//! Drawings of shapes, for pictures and other programs; never used to compute.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::plate::{Plate, Wheel};
use super::pose::Pose;
use super::revolution::{Funnel, Section, frame};
use super::shape::{BoxSide, Shape, Side};

/// Sides of the polygon that stands for a circle.
const CIRCLE: u32 = 64;

/// The part of space a drawing shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Lower corner (length).
    pub lower: DVec3,
    /// Upper corner (length).
    pub upper: DVec3,
    /// 2 (outlines in the plane z = 0) or 3 (surfaces).
    pub dimension: usize,
}

impl Extent {
    fn centre(&self) -> DVec3 {
        0.5 * (self.lower + self.upper)
    }

    /// Half the diagonal (length).
    fn reach(&self) -> f64 {
        0.5 * self.lower.distance(self.upper)
    }

    /// An extent in the frame of a pose that holds all of this one.
    pub(super) fn seen_from(&self, pose: &Pose) -> Self {
        let centre = pose.inverse_apply(self.centre());
        let turned = pose.rotation != glam::DQuat::IDENTITY;
        let half = if turned { DVec3::splat(self.reach()) } else { 0.5 * (self.upper - self.lower) };
        Self { lower: centre - half, upper: centre + half, ..*self }
    }
}

/// A drawing: triangles in 3D, lines in 2D.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Points (length).
    pub points: Vec<DVec3>,
    /// Triangles by their points.
    pub triangles: Vec<[u32; 3]>,
    /// Lines by their points.
    pub lines: Vec<[u32; 2]>,
}

impl Shape {
    /// A drawing of the shape in its own frame. What is infinite is clipped to the extent, which is in this frame too.
    #[must_use]
    pub fn surface(&self, view: &Extent) -> Surface {
        let mut drawing = Surface::default();
        let flat = view.dimension == 2;
        match self {
            Self::HalfSpace { point, normal } => drawing.plane(*point, normal.normalize(), view),
            Self::Box { .. } => drawing.cuboid(self, view),
            Self::Sphere { centre, radius, .. } if flat => drawing.circle(*centre, *radius),
            Self::Sphere { centre, radius, .. } => {
                let arc = (0..=CIRCLE / 2).map(|k| PI * f64::from(k) / f64::from(CIRCLE / 2));
                let profile: Vec<_> = arc.map(|a| (radius * a.sin(), -radius * a.cos())).collect();
                drawing.revolve(*centre, DVec3::Z, &profile);
            }
            Self::Cylinder { centre, radius, .. } if flat => drawing.circle(*centre, *radius),
            Self::Cylinder { centre, axis, radius, length, side, closed } => {
                let (low, high) = clipped(*centre, *axis, *length, view);
                let capped = length.is_finite() && (*side == Side::Outside || *closed);
                let wall = [(*radius, low), (*radius, high)];
                let whole = [(0.0, low), wall[0], wall[1], (0.0, high)];
                drawing.revolve(*centre, *axis, if capped { &whole } else { &wall });
            }
            Self::Plate(plate) => drawing.plate(plate, view),
            Self::Funnel(funnel) if funnel.section == Section::Flat => {
                drawing.plate(&funnel.side(0), view);
                drawing.plate(&funnel.side(1), view);
            }
            Self::Funnel(funnel) => drawing.funnel(funnel),
            Self::Wheel(wheel) => drawing.wheel(wheel, view),
            Self::Mesh(mesh) => {
                drawing.points = mesh.vertices().to_vec();
                drawing.triangles = mesh.triangles().to_vec();
                drawing.lines = mesh.creases().collect();
            }
        }
        drawing
    }
}

/// Ends along the axis of a cylinder, an infinite one cut where it leaves the view.
fn clipped(centre: DVec3, axis: DVec3, length: f64, view: &Extent) -> (f64, f64) {
    if length.is_finite() {
        return (-0.5 * length, 0.5 * length);
    }
    let middle = (view.centre() - centre).dot(axis.normalize());
    (middle - view.reach(), middle + view.reach())
}

impl Surface {
    fn add(&mut self, points: &[DVec3]) -> u32 {
        let first = self.points.len() as u32;
        self.points.extend_from_slice(points);
        first
    }

    /// A closed line through the points.
    fn outline(&mut self, points: &[DVec3]) {
        let first = self.add(points);
        let count = points.len() as u32;
        self.lines.extend((0..count).map(|k| [first + k, first + (k + 1) % count]));
    }

    /// A convex polygon, as a fan.
    fn polygon(&mut self, points: &[DVec3]) {
        let first = self.add(points);
        self.triangles.extend((2..points.len() as u32).map(|k| [first, first + k - 1, first + k]));
    }

    fn circle(&mut self, centre: DVec3, radius: f64) {
        let angle = |k| TAU * f64::from(k) / f64::from(CIRCLE);
        let points: Vec<_> =
            (0..CIRCLE).map(|k| centre + radius * DVec3::new(angle(k).cos(), angle(k).sin(), 0.0)).collect();
        self.outline(&points);
    }

    /// Turns the profile (distance to the axis, height) about the axis.
    fn revolve(&mut self, centre: DVec3, axis: DVec3, profile: &[(f64, f64)]) {
        let [e1, e2, axis] = frame(axis);
        let rows = profile.len() as u32;
        let first = self.points.len() as u32;
        for k in 0..CIRCLE {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(CIRCLE)).sin_cos();
            let radial = cos * e1 + sin * e2;
            self.points.extend(profile.iter().map(|(rho, height)| centre + *rho * radial + *height * axis));
        }
        for k in 0..CIRCLE {
            let (here, next) = (first + k * rows, first + (k + 1) % CIRCLE * rows);
            for row in 0..rows - 1 {
                self.triangles.push([here + row, next + row, next + row + 1]);
                self.triangles.push([here + row, next + row + 1, here + row + 1]);
            }
        }
        let points = &self.points;
        // At the poles two corners of a triangle coincide.
        self.triangles.retain(|t| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            a != b && b != c && c != a
        });
    }

    fn plane(&mut self, point: DVec3, normal: DVec3, view: &Extent) {
        let middle = view.centre() - (view.centre() - point).dot(normal) * normal;
        let reach = 2.0 * view.reach();
        if view.dimension == 2 {
            let along = DVec3::Z.cross(normal);
            let line = clip(vec![middle - reach * along, middle + reach * along], view);
            let order = |a: &&DVec3, b: &&DVec3| a.dot(along).total_cmp(&b.dot(along));
            if let (Some(start), Some(end)) = (line.iter().min_by(order), line.iter().max_by(order)) {
                let first = self.add(&[*start, *end]);
                self.lines.push([first, first + 1]);
            }
            return;
        }
        let [u, v, _] = frame(normal).map(|e| reach * e);
        let cut = clip(vec![middle - u - v, middle + u - v, middle + u + v, middle - u + v], view);
        self.polygon(&cut);
    }

    fn cuboid(&mut self, shape: &Shape, view: &Extent) {
        let Shape::Box { centre, half, orientation, open, .. } = shape else { return };
        let shown = half.min(DVec3::splat(2.0 * view.reach() + centre.distance(view.centre())));
        let place = |x: f64, y: f64, z: f64| *centre + *orientation * (DVec3::new(x, y, z) * shown);
        let closed = |side: &BoxSide| !open.contains(side);
        if view.dimension == 2 {
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| place(x, y, 0.0));
            let first = self.add(&corners);
            let sides = [BoxSide::LowerY, BoxSide::UpperX, BoxSide::UpperY, BoxSide::LowerX];
            let shown = sides.iter().zip(0..4).filter(|(side, _)| closed(side));
            self.lines.extend(shown.map(|(_, k)| [first + k, first + (k + 1) % 4]));
            return;
        }
        for (k, _) in BoxSide::ALL.iter().enumerate().filter(|(k, side)| closed(side) && half[k / 2].is_finite()) {
            let sign = if k % 2 == 0 { -1.0 } else { 1.0 };
            let corner = |(u, v): (f64, f64)| {
                // (u, v) turns the same way about the outward normal on both sides.
                let mut at = [0.0; 3];
                (at[k / 2], at[(k / 2 + 1) % 3], at[(k / 2 + 2) % 3]) = (sign, u, sign * v);
                place(at[0], at[1], at[2])
            };
            self.polygon(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(corner));
        }
    }

    fn plate(&mut self, plate: &Plate, view: &Extent) {
        let half = 0.5 * plate.thickness;
        let across = half * plate.across();
        if plate.edges[1] != DVec3::ZERO {
            let corners = plate.corners();
            if half == 0.0 {
                return self.polygon(&corners);
            }
            let (below, above) = (corners.map(|c| c - across), corners.map(|c| c + across));
            self.polygon(&[below[3], below[2], below[1], below[0]]);
            self.polygon(&above);
            for k in 0..4 {
                let next = (k + 1) % 4;
                self.polygon(&[below[k], below[next], above[next], above[k]]);
            }
            return;
        }
        let (start, end) = (plate.corner, plate.corner + plate.edges[0]);
        if half == 0.0 {
            let first = self.add(&[start, end]);
            self.lines.push([first, first + 1]);
        } else if view.dimension == 2 {
            // Two half circles: from +across at the start round the back to −across, then round the other end.
            let along = half * plate.edges[0].normalize();
            let arc = |centre: DVec3, sign: f64| {
                let angle = |k: u32| PI * f64::from(k) / f64::from(CIRCLE / 4);
                (0..=CIRCLE / 4).map(move |k| centre + sign * (angle(k).cos() * across - angle(k).sin() * along))
            };
            let points: Vec<_> = arc(start, 1.0).chain(arc(end, -1.0)).collect();
            self.outline(&points);
        } else {
            let length = plate.edges[0].length();
            self.revolve(start, plate.edges[0], &[(0.0, 0.0), (half, 0.0), (half, length), (0.0, length)]);
        }
    }

    fn funnel(&mut self, funnel: &Funnel) {
        let axis = funnel.top - funnel.bottom;
        let height = axis.length();
        let slope = glam::DVec2::new(funnel.top_radius - funnel.bottom_radius, height).normalize();
        let (out, down) = (0.5 * funnel.thickness * slope.y, 0.5 * funnel.thickness * slope.x);
        let (low, high) = (funnel.bottom_radius, funnel.top_radius);
        let middle = [(low, 0.0), (high, height)];
        let (outer, inner) =
            (middle.map(|(rho, z)| (rho + out, z - down)), middle.map(|(rho, z)| ((rho - out).max(0.0), z + down)));
        let whole = [outer[0], outer[1], inner[1], inner[0], outer[0]];
        self.revolve(funnel.bottom, axis, if funnel.thickness > 0.0 { &whole } else { &middle });
    }

    fn wheel(&mut self, wheel: &Wheel, view: &Extent) {
        let hub = Shape::Cylinder {
            centre: wheel.centre,
            axis: wheel.axis,
            radius: wheel.hub_radius,
            length: wheel.width,
            side: Side::Outside,
            closed: true,
        };
        let drawn = hub.surface(view);
        let first = self.add(&drawn.points);
        self.triangles.extend(drawn.triangles.iter().map(|t| t.map(|v| v + first)));
        self.lines.extend(drawn.lines.iter().map(|l| l.map(|v| v + first)));
        let (low, high) = clipped(wheel.centre, wheel.axis, wheel.width, view);
        let axis = frame(wheel.axis)[2];
        for blade in 1..=wheel.blades {
            let (along, _) = wheel.blade_directions(blade);
            let start = wheel.centre + wheel.hub_radius * along;
            let edge = (wheel.outer_radius - wheel.hub_radius) * along;
            let plate = if view.dimension == 2 {
                Plate::segment(start, start + edge, wheel.thickness)
            } else {
                let (corner, width) = (start + low * axis, (high - low) * axis);
                Plate { corner, edges: [edge, width], thickness: wheel.thickness }
            };
            self.plate(&plate, view);
        }
    }
}

/// Cuts a polygon (or a segment, as a polygon of two) at the sides of the view, side by side.
fn clip(mut polygon: Vec<DVec3>, view: &Extent) -> Vec<DVec3> {
    let axes = if view.dimension == 2 { 2 } else { 3 };
    for (axis, sign) in (0..axes).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]) {
        let bound = if sign < 0.0 { -view.lower[axis] } else { view.upper[axis] };
        let inside = |p: DVec3| bound - sign * p[axis];
        let mut cut = Vec::with_capacity(polygon.len() + 1);
        for (k, a) in polygon.iter().enumerate() {
            let b = polygon[(k + 1) % polygon.len()];
            let (da, db) = (inside(*a), inside(b));
            if da >= 0.0 {
                cut.push(*a);
            }
            if (da >= 0.0) != (db >= 0.0) {
                cut.push(*a + (b - *a) * (da / (da - db)));
            }
        }
        polygon = cut;
    }
    polygon
}

#[cfg(test)]
#[path = "surface_tests.rs"]
mod tests;
