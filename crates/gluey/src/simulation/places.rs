//! The obstacles where they stand.

use crate::geometry::{Obstacle, Placed, Pose};

/// Obstacles at one time, of which only the poses are kept in memory.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    obstacles: &'a [Obstacle],
    poses: &'a [Pose],
}

impl<'a> Places<'a> {
    /// Obstacles at time t; the buffer takes their poses.
    pub(super) fn at(obstacles: &'a [Obstacle], t: f64, poses: &'a mut Vec<Pose>) -> Self {
        poses.clear();
        poses.extend(obstacles.iter().map(|obstacle| obstacle.pose(t)));
        Self { obstacles, poses }
    }

    pub(super) fn len(self) -> usize {
        self.obstacles.len()
    }

    pub(super) fn get(self, k: usize) -> Placed<'a> {
        self.obstacles[k].placed(self.poses[k])
    }
}
