//! Those near a region, for the question whether another has room there.

use glam::DVec3;

use super::Region;
use crate::geometry::{Cell, Particles};
use crate::neighbours::Grid;

/// Particles that may be in the way in a region, in buckets.
pub(super) struct Crowd {
    position: Vec<DVec3>,
    radius: Vec<f64>,
    grid: Grid,
    /// With which space repeats.
    cell: Option<Cell>,
}

impl Crowd {
    /// Those that reach into a region; new ones are at most as large as `greatest`.
    pub(super) fn near(region: &Region, greatest: f64, particles: &Particles) -> Self {
        let (mut position, mut radius) = (Vec::new(), Vec::new());
        let mut widest = greatest;
        let [lower, upper] = region.corners(DVec3::ONE);
        for (&x, &r) in particles.position.iter().zip(&particles.radius) {
            let mut look = |x: DVec3| {
                if region.distance(x) < r {
                    position.push(x);
                    radius.push(r);
                    widest = widest.max(r);
                }
            };
            match &particles.cell {
                None => look(x),
                Some(cell) => cell.shifts(x, lower - r, upper + r).for_each(|shift| look(x + shift)),
            }
        }
        let grid = Grid::new(&position, &vec![widest; position.len()]);
        Self { position, radius, grid, cell: particles.cell }
    }

    /// Whether a ball overlaps none of them and none of some others.
    pub(super) fn has_room(&self, centre: DVec3, radius: f64, others: impl Iterator<Item = (DVec3, f64)>) -> bool {
        let offset = |x: DVec3| self.cell.map_or(x - centre, |cell| cell.shortest(x - centre));
        let clear = |(x, r): (DVec3, f64)| offset(x).length() - r - radius >= 0.0;
        let mut free = true;
        self.grid.around(centre, |k| free &= clear((self.position[k as usize], self.radius[k as usize])));
        free && others.into_iter().all(clear)
    }
}
