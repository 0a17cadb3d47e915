//! Those near a region, for the question whether another has room there.

use glam::DVec3;

use super::Region;
use crate::geometry::Particles;
use crate::neighbours::Grid;

/// Particles that may be in the way in a region, in buckets.
pub(super) struct Crowd {
    position: Vec<DVec3>,
    radius: Vec<f64>,
    grid: Grid,
}

impl Crowd {
    /// Those that reach into a region; new ones are at most as large as `greatest`.
    pub(super) fn near(region: &Region, greatest: f64, particles: &Particles) -> Self {
        let (mut position, mut radius) = (Vec::new(), Vec::new());
        let mut widest = greatest;
        for (x, r) in particles.position.iter().zip(&particles.radius) {
            if region.distance(*x) < *r {
                position.push(*x);
                radius.push(*r);
                widest = widest.max(*r);
            }
        }
        let grid = Grid::new(&position, &vec![widest; position.len()]);
        Self { position, radius, grid }
    }

    /// Whether a ball overlaps none of them and none of some others.
    pub(super) fn has_room(&self, centre: DVec3, radius: f64, others: impl Iterator<Item = (DVec3, f64)>) -> bool {
        let clear = |(x, r): (DVec3, f64)| centre.distance(x) - r - radius >= 0.0;
        let mut free = true;
        self.grid.around(centre, |k| free &= clear((self.position[k as usize], self.radius[k as usize])));
        free && others.into_iter().all(clear)
    }
}
