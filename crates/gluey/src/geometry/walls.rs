//! The obstacles where they stand.

use glam::DVec3;

use super::{Cell, Images, Obstacle, Placed, Pose, Unrepeatable};

/// By how much the box around an obstacle is widened, relative to its size and its distance from the origin: far above
/// rounding.
const ROUNDING: f64 = 1e-12;

/// Where an obstacle stands, and a box that holds all of it; infinite where there is none.
#[derive(Clone, Copy)]
struct WallPose {
    pose: Pose,
    lower: DVec3,
    upper: DVec3,
    /// In a periodic cell.
    images: Option<Images>,
}

/// Obstacles at one time, of which only the poses are kept in memory.
#[derive(Clone, Copy)]
pub(crate) struct Walls<'a> {
    obstacles: &'a [Obstacle],
    each: &'a [WallPose],
    /// The largest number that gaps to them are computed from (length).
    farthest: f64,
}

/// An obstacle that cannot stand where it is: its images in the periodic cell meet, or never end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unplaced {
    /// Its index.
    pub obstacle: usize,
    pub why: Unrepeatable,
}

/// Where all of them stand.
#[derive(Default)]
pub(crate) struct WallPoses {
    each: Vec<WallPose>,
    farthest: f64,
}

impl WallPoses {
    /// Puts obstacles where they are at time t, in a periodic cell with all their images.
    pub(crate) fn place(&mut self, obstacles: &[Obstacle], cell: Option<&Cell>, t: f64) -> Result<(), Unplaced> {
        self.each.clear();
        self.farthest = 0.0;
        for (k, obstacle) in obstacles.iter().enumerate() {
            let pose = obstacle.pose(t);
            let placed = obstacle.placed(pose);
            let refuse = |why| Unplaced { obstacle: k, why };
            let images = cell.map(|cell| Images::of(&placed, cell)).transpose().map_err(refuse)?;
            let box_around = placed.confines().filter(|_| images.is_none());
            let (lower, upper) = box_around.unwrap_or((DVec3::NEG_INFINITY, DVec3::INFINITY));
            let size = lower.abs().max(upper.abs());
            self.farthest = self.farthest.max(if size.is_finite() { size } else { placed.numbers() }.max_element());
            let margin = ROUNDING * size;
            self.each.push(WallPose { pose, lower: lower - margin, upper: upper + margin, images });
        }
        Ok(())
    }

    /// The obstacles there.
    pub(crate) fn of<'a>(&'a self, obstacles: &'a [Obstacle]) -> Walls<'a> {
        Walls { obstacles, each: &self.each, farthest: self.farthest }
    }
}

impl<'a> Walls<'a> {
    /// The largest number that gaps are computed from, those of the particles aside (length).
    pub(crate) fn farthest(self) -> f64 {
        self.farthest
    }

    pub(crate) fn len(self) -> usize {
        self.obstacles.len()
    }

    pub(crate) fn get(self, k: usize) -> Placed<'a> {
        self.obstacles[k].placed(self.each[k].pose).repeated(self.each[k].images.as_ref())
    }

    /// [`Placed::may_reach`]; most obstacles are out of reach of most particles, which the boxes tell without turning the
    /// point into the frame of the obstacle.
    #[inline]
    pub(crate) fn may_reach(self, k: usize, centre: DVec3, distance: f64) -> bool {
        let WallPose { lower, upper, .. } = &self.each[k];
        let beyond = (*lower - centre).max(centre - *upper).max_element();
        beyond <= distance && self.may_reach_inside(k, centre, distance)
    }

    /// Apart, so that the test by boxes stays short.
    #[inline(never)]
    fn may_reach_inside(self, k: usize, centre: DVec3, distance: f64) -> bool {
        self.get(k).may_reach(centre, distance)
    }
}
