//! Obstacles as they are drawn.

use glam::DVec3;
use gluey::geometry::{Extent, Obstacle, Shape, Side, Surface};
use gluey::trajectory::ObstacleSurface;

/// What a drawing bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// A solid with the particles outside.
    Solid,
    /// A plate, funnel or mesh: particles may be on both sides.
    Sheet,
    /// A container, or a surface of which nothing more is known.
    Container,
    /// None: the edges of a periodic cell.
    Outline,
    /// Everything behind a plane.
    HalfSpace {
        /// A point of the plane (length).
        point: DVec3,
        /// Unit normal, towards the particles.
        normal: DVec3,
    },
}

/// An obstacle at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Its triangles in 3D, its outlines in 2D.
    pub surface: Surface,
    /// What they bound.
    pub body: Body,
    /// Its colour, if the scene gives it one.
    pub colour: Option<[u8; 3]>,
}

impl Wall {
    /// An obstacle where it is at a time; what is infinite is clipped to the extent.
    #[must_use]
    pub fn of(obstacle: &Obstacle, time: f64, view: &Extent) -> Self {
        let placed = obstacle.at(time);
        let side = |side: Side| if side == Side::Inside { Body::Container } else { Body::Solid };
        let body = match &obstacle.shape {
            Shape::HalfSpace { point, normal } => {
                let pose = placed.pose();
                Body::HalfSpace { point: pose.apply(*point), normal: pose.apply_vector(normal.normalize()) }
            }
            Shape::Box { side: s, .. } | Shape::Sphere { side: s, .. } | Shape::Cylinder { side: s, .. } => side(*s),
            Shape::Wheel(_) => Body::Solid,
            Shape::Plate(plate) if plate.edges[1] == DVec3::ZERO => Body::Solid,
            Shape::Plate(_) | Shape::Funnel(_) | Shape::Mesh(_) => Body::Sheet,
        };
        Self { surface: placed.surface(view), body, colour: obstacle.colour }
    }

    /// The drawing in a frame, of which nothing more is known.
    #[must_use]
    pub fn of_frame(surface: &ObstacleSurface) -> Self {
        let ObstacleSurface { points, triangles, lines, .. } = surface.clone();
        Self { surface: Surface { points, triangles, lines }, body: Body::Container, colour: None }
    }
}
