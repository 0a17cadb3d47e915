//! Where things are: spheres in columns, obstacles and their motion, signed gaps and unit normals.
//!
//! The gap between two spheres is D = |x_j − x_i| − r_i − r_j and its normal e = (x_j − x_i)/|x_j − x_i|, from i to j.
//! Against an obstacle, D is the signed distance from the sphere's surface and e points *into* the obstacle, so that
//! in both cases ∇_{x_i} D = −e.

mod cell;
mod check;
mod images;
mod mesh;
mod motion;
mod obstacle;
mod particles;
mod plate;
mod pose;
mod revolution;
mod shape;
#[cfg(test)]
mod shape_tests;
mod solid;
mod stl;
mod surface;
mod surroundings;
mod timetable;
mod triangle;
mod walls;

pub use cell::Cell;
pub use check::FieldError;
pub use images::{Images, Unrepeatable};
pub use mesh::TriangleMesh;
pub use motion::{Motion, MotionError};
pub use obstacle::{Obstacle, Placed, Touch};
pub(crate) use particles::retain;
pub use particles::{Particles, volume};
pub use plate::{Plate, Wheel};
pub use pose::Pose;
pub use revolution::{Funnel, Section};
pub use shape::{BoxSide, Shape, ShapeError, Side};
pub use stl::MeshError;
pub use surface::{Extent, Surface};
pub use surroundings::Surroundings;
pub use timetable::Timetable;
pub(crate) use walls::{Unplaced, WallPoses, Walls};
