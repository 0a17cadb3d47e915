//! Regions of space, and how full they are.

use glam::DVec3;
use thiserror::Error;

use super::overlap::{disc_in_rectangle, sphere_in_box};
use crate::geometry::Particles;

/// An upright box; in 2D a rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    lower: DVec3,
    upper: DVec3,
    dimension: usize,
}

/// A region that has no inside.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the region is empty: `lower` must be below `upper` along {axis}")]
pub struct RegionError {
    /// Along which it has none.
    pub axis: char,
}

impl Region {
    /// A box from its least to its greatest corner; in 2D z does not matter.
    pub fn new(lower: DVec3, upper: DVec3, dimension: usize) -> Result<Self, RegionError> {
        let has_room = |(_, k): &(char, usize)| lower[*k] < upper[*k];
        match ['x', 'y', 'z'].into_iter().zip(0..dimension).find(|axis| !has_room(axis)) {
            Some((axis, _)) => Err(RegionError { axis }),
            None => Ok(Self { lower, upper, dimension }),
        }
    }

    /// The smallest that holds all particles whole; none without particles.
    #[must_use]
    pub fn around(particles: &Particles, dimension: usize) -> Option<Self> {
        let (mut lower, mut upper) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for (x, r) in particles.position.iter().zip(&particles.radius) {
            (lower, upper) = (lower.min(x - DVec3::splat(*r)), upper.max(x + DVec3::splat(*r)));
        }
        Self::new(lower, upper, dimension).ok()
    }

    /// Least corner (length).
    #[must_use]
    pub fn lower(&self) -> DVec3 {
        self.lower
    }

    /// Greatest corner (length).
    #[must_use]
    pub fn upper(&self) -> DVec3 {
        self.upper
    }

    /// 2 or 3.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Its volume; in 2D its area.
    #[must_use]
    pub fn volume(&self) -> f64 {
        (self.upper - self.lower).to_array().iter().take(self.dimension).product()
    }

    /// Whether a point is in it; the lower faces belong to it, the upper ones do not.
    #[must_use]
    pub fn holds(&self, point: DVec3) -> bool {
        (0..self.dimension).all(|k| (self.lower[k]..self.upper[k]).contains(&point[k]))
    }

    /// What it has of a sphere (a disc in 2D): exact in 2D and where one face cuts the sphere, to 1e-12 of the sphere
    /// where more do.
    #[must_use]
    pub fn overlap(&self, centre: DVec3, radius: f64) -> f64 {
        let (lower, upper) = ((self.lower - centre).to_array(), (self.upper - centre).to_array());
        match (self.dimension, lower, upper) {
            (2, [x0, y0, _], [x1, y1, _]) => disc_in_rectangle(radius, [x0, y0], [x1, y1]),
            _ => sphere_in_box(radius, lower, upper),
        }
    }

    /// The share of the segment from a point to point + branch that lies inside, 0 to 1.
    #[must_use]
    pub fn share(&self, from: DVec3, branch: DVec3) -> f64 {
        let (mut start, mut end) = (0.0_f64, 1.0_f64);
        for k in 0..self.dimension {
            if branch[k] == 0.0 {
                if !(self.lower[k]..self.upper[k]).contains(&from[k]) {
                    return 0.0;
                }
                continue;
            }
            let (a, b) = ((self.lower[k] - from[k]) / branch[k], (self.upper[k] - from[k]) / branch[k]);
            (start, end) = (start.max(a.min(b)), end.min(a.max(b)));
        }
        (end - start).max(0.0)
    }
}

/// The part of a region that particles fill, φ = Σ |ball ∩ region| / |region|. Obstacles count as room.
#[must_use]
pub fn solid_fraction(particles: &Particles, region: &Region) -> f64 {
    let filled = particles.position.iter().zip(&particles.radius).map(|(x, r)| region.overlap(*x, *r));
    filled.sum::<f64>() / region.volume()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn region(lower: [f64; 3], upper: [f64; 3], dimension: usize) -> Region {
        Region::new(lower.into(), upper.into(), dimension).unwrap()
    }

    #[test]
    fn packings_are_as_dense_as_known() {
        let mut cubic = Particles::default();
        let mut hexagonal = Particles::default();
        for (i, j) in (-6..=6).flat_map(|i| (-6..=6).map(move |j| (i, j))) {
            let (x, y) = (f64::from(i), f64::from(j));
            (-4..=4).for_each(|k| cubic.push(DVec3::new(x, y, f64::from(k)), 0.5, 1.0));
            hexagonal.push(DVec3::new(x + 0.5 * f64::from(j & 1), 0.75_f64.sqrt() * y, 0.0), 0.5, 1.0);
        }
        // Any whole number of cells, wherever it begins: faces cut through the spheres.
        let cells = region([-2.3, -1.6, -2.25], [1.7, 2.4, 0.75], 3);
        assert!((solid_fraction(&cubic, &cells) - PI / 6.0).abs() < 1e-12);
        let rows = region([-2.2, -1.3, 0.0], [1.8, -1.3 + 4.0 * 0.75_f64.sqrt(), 0.0], 2);
        assert!((solid_fraction(&hexagonal, &rows) - PI / 12.0_f64.sqrt()).abs() < 1e-13);
    }

    #[test]
    fn the_bounding_box_holds_all_whole() {
        let mut particles = Particles::default();
        assert_eq!(Region::around(&particles, 3), None);
        particles.push(DVec3::new(1.0, 2.0, 3.0), 0.5, 1.0);
        let around = Region::around(&particles, 3).unwrap();
        assert!((solid_fraction(&particles, &around) - PI / 6.0).abs() < 1e-15);
        particles.push(DVec3::new(3.0, 2.0, 0.0), 1.0, 1.0);
        let around = Region::around(&particles, 2).unwrap();
        assert_eq!((around.lower().x, around.upper().x, around.volume()), (0.5, 4.0, 7.0));
    }

    #[test]
    fn empty_regions_are_refused() {
        let new = |upper: [f64; 3], dimension| Region::new(DVec3::ZERO, upper.into(), dimension);
        assert_eq!(new([1.0, 0.0, 1.0], 3), Err(RegionError { axis: 'y' }));
        assert_eq!(new([1.0, 1.0, 0.0], 3), Err(RegionError { axis: 'z' }));
        assert!(new([1.0, 1.0, 0.0], 2).is_ok());
        assert_eq!(new([f64::NAN, 1.0, 1.0], 3), Err(RegionError { axis: 'x' }));
    }

    #[test]
    fn segments_are_shared_by_where_they_lie() {
        let unit = region([0.0; 3], [1.0; 3], 3);
        let share = |from: [f64; 3], branch: [f64; 3]| unit.share(from.into(), branch.into());
        assert_eq!(share([0.5, 0.5, -1.0], [0.0, 0.0, 2.0]), 0.5);
        assert_eq!(share([0.5, 0.5, 1.5], [0.0, 0.0, -1.0]), 0.5);
        assert_eq!(share([0.25, 0.25, 0.25], [0.5, 0.5, 0.5]), 1.0);
        assert_eq!(share([2.0, 0.5, 0.5], [0.0, 0.0, 1.0]), 0.0);
        assert_eq!(share([2.0, 0.5, 0.5], [1.0, 0.0, 0.0]), 0.0);
    }
}
