//! From space to pixels, by parallel projection.

use glam::DVec3;

use crate::legend;
use crate::style::{Area, Style};

/// From where a scene is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewpoint {
    right: DVec3,
    up: DVec3,
    /// Towards the eye.
    toward: DVec3,
}

impl Viewpoint {
    /// The plane z = 0 with x to the right and y up, as a 2D scene is seen.
    pub const FRONT: Self = Self { right: DVec3::X, up: DVec3::Y, toward: DVec3::Z };

    /// Seen from a direction (from the scene to the eye), turned such that `up` points up; where that is impossible,
    /// because one looks along it, another axis points up.
    #[must_use]
    pub fn from(eye: DVec3, up: DVec3) -> Self {
        let toward = eye.normalize_or(DVec3::Z);
        let usable = |up: &DVec3| up.normalize_or_zero().cross(toward).length() > 1e-6;
        let up = [up, DVec3::Y, DVec3::X].into_iter().find(usable).unwrap_or(DVec3::Y);
        let right = up.cross(toward).normalize();
        Self { right, up: toward.cross(right), toward }
    }

    /// Seen from in front, a little from the side and from above: where a 3D scene does not say.
    #[must_use]
    pub fn oblique(up: DVec3) -> Self {
        let up = up.normalize_or(DVec3::Z);
        // For z up: from (0.45, −0.8, 0.4), with x to the right.
        let ahead = if up.cross(DVec3::Y).length() > 0.5 { DVec3::Y } else { -DVec3::Z };
        let right = ahead.cross(up).normalize();
        let back = up.cross(right) * -1.0;
        Self::from(0.45 * right + 0.8 * back + 0.4 * up, up)
    }

    /// Components to the right, upwards and towards the eye (length).
    #[must_use]
    pub fn seen(&self, point: DVec3) -> DVec3 {
        DVec3::new(point.dot(self.right), point.dot(self.up), point.dot(self.toward))
    }

    /// Towards the eye, a unit vector.
    #[must_use]
    pub fn toward(&self) -> DVec3 {
        self.toward
    }
}

/// A viewpoint, the part of the scene in the picture, and its place there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    viewpoint: Viewpoint,
    /// What is in the middle, as seen from the viewpoint (length).
    middle: DVec3,
    /// Where that is in the picture, in pixels.
    centre: [f64; 2],
    /// Pixels a length.
    scale: f64,
}

/// Room around what is framed, relative to it.
const MARGIN: f64 = 0.03;

impl Camera {
    /// A camera that shows all of a box, given by two corners in the components of the viewpoint ([`Viewpoint::seen`]),
    /// beside the legends that the style asks for.
    #[must_use]
    pub fn framing(viewpoint: Viewpoint, corners: (DVec3, DVec3), style: &Style) -> Self {
        Self::filling(viewpoint, corners, legend::area(style))
    }

    /// A camera for which a box fills an area of the picture.
    fn filling(viewpoint: Viewpoint, (lower, upper): (DVec3, DVec3), area: Area) -> Self {
        let room = |k: usize| (upper[k] - lower[k]) * (1.0 + 2.0 * MARGIN);
        let scale = (area.width() / room(0)).min(area.height() / room(1));
        // A single point, or nothing, is shown at some scale.
        let scale = if scale.is_finite() && scale > 0.0 { scale } else { 1.0 };
        let middle = 0.5 * (lower + upper);
        let middle = if middle.is_finite() { middle } else { DVec3::ZERO };
        Self { viewpoint, middle, centre: area.centre(), scale }
    }

    /// The same with another point in the middle.
    #[must_use]
    pub fn looking_at(self, point: DVec3) -> Self {
        Self { middle: self.viewpoint.seen(point), ..self }
    }

    /// The same, magnified.
    #[must_use]
    pub fn zoomed(self, zoom: f64) -> Self {
        Self { scale: self.scale * zoom, ..self }
    }

    /// A point in pixels: from the left, from the top, and towards the eye.
    #[must_use]
    pub fn project(&self, point: DVec3) -> DVec3 {
        let offset = (self.viewpoint.seen(point) - self.middle) * self.scale;
        DVec3::new(self.centre[0] + offset.x, self.centre[1] - offset.y, offset.z)
    }

    /// A direction in the components of [`project`](Self::project), of the same length.
    #[must_use]
    pub fn direction(&self, vector: DVec3) -> DVec3 {
        let seen = self.viewpoint.seen(vector);
        DVec3::new(seen.x, -seen.y, seen.z)
    }

    /// Pixels a length.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Its viewpoint.
    #[must_use]
    pub fn viewpoint(&self) -> &Viewpoint {
        &self.viewpoint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area { left: 100.0, top: 50.0, right: 300.0, bottom: 150.0 };

    #[test]
    fn points_are_where_they_should_be() {
        let camera = Camera::filling(Viewpoint::FRONT, (DVec3::new(-1.0, -1.0, 0.0), DVec3::new(1.0, 1.0, 0.0)), AREA);
        assert!((camera.scale() - 100.0 / 2.0 / 1.06).abs() < 1e-12, "the height is what limits");
        assert_eq!(camera.project(DVec3::ZERO), DVec3::new(200.0, 100.0, 0.0));
        let corner = camera.project(DVec3::new(1.0, 1.0, 0.5));
        assert!(corner.x > 200.0 && corner.y < 100.0 && corner.z > 0.0, "x to the right, y up, z to the eye: {corner}");
        let near = camera.zoomed(2.0).looking_at(DVec3::new(1.0, 1.0, 0.0));
        assert_eq!(near.project(DVec3::new(1.0, 1.0, 0.0)), DVec3::new(200.0, 100.0, 0.0));
        assert_eq!(near.scale(), 2.0 * camera.scale());
    }

    #[test]
    fn viewpoints_are_right_handed_frames() {
        let directions = [DVec3::X, -DVec3::Y, DVec3::Z, DVec3::new(1.0, -2.0, 0.3)];
        let all = directions.map(|eye| Viewpoint::from(eye, DVec3::Z)).into_iter();
        for view in all.chain([DVec3::Z, DVec3::Y, -DVec3::X].map(Viewpoint::oblique)).chain([Viewpoint::FRONT]) {
            assert!((view.right.cross(view.up) - view.toward).length() < 1e-12, "{view:?}");
            assert!((view.right.length() - 1.0).abs() < 1e-12);
        }
        let front = Viewpoint::from(-DVec3::Y, DVec3::Z);
        assert_eq!((front.right, front.up), (DVec3::X, DVec3::Z), "from the front, x is right and z is up");
        let oblique = Viewpoint::oblique(DVec3::Z);
        assert!(oblique.right.x > 0.8 && oblique.toward.z > 0.3 && oblique.toward.y < 0.0, "{oblique:?}");
    }

    #[test]
    fn nothing_can_be_framed() {
        let camera = Camera::filling(Viewpoint::FRONT, (DVec3::INFINITY, DVec3::NEG_INFINITY), AREA);
        assert!(camera.project(DVec3::ONE).is_finite());
        let camera = Camera::filling(Viewpoint::FRONT, (DVec3::ONE, DVec3::ONE), AREA);
        assert_eq!(camera.project(DVec3::ONE).x, 200.0);
    }
}
