//! Regions of space, and how full they are.

use glam::DVec3;
use thiserror::Error;

use super::overlap::{disc_in_rectangle, sphere_in_box};
use crate::geometry::{Cell, Particles};

/// A region spans a period of the cell if it does to this share of it.
const WHOLE: f64 = 1e-9;

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

    /// The smallest that holds all particles whole, in periodic directions the cell; none without particles.
    #[must_use]
    pub fn around(particles: &Particles, dimension: usize) -> Option<Self> {
        let (mut lower, mut upper) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for (x, r) in particles.position.iter().zip(&particles.radius) {
            (lower, upper) = (lower.min(x - DVec3::splat(*r)), upper.max(x + DVec3::splat(*r)));
        }
        if let (Some(cell), false) = (particles.cell, particles.is_empty()) {
            for axis in cell.axes() {
                (lower[axis], upper[axis]) = (cell.lower()[axis], cell.lower()[axis] + cell.period()[axis]);
            }
        }
        Self::new(lower, upper, dimension).ok()
    }

    /// The region as bodies see it that repeat with a cell. Where it spans one period, parts of the images of a body add up
    /// to the body, wherever the region begins: it is as if it had no end there and the body no images.
    pub(super) fn unrolled(&self, cell: Option<Cell>) -> Self {
        let mut unrolled = *self;
        for (axis, period) in cell.iter().flat_map(|cell| cell.axes().map(|axis| (axis, cell.period()[axis]))) {
            if (self.upper[axis] - self.lower[axis] - period).abs() <= WHOLE * period {
                (unrolled.lower[axis], unrolled.upper[axis]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
        }
        unrolled
    }

    /// The images of a point from which something that reaches from `below` to `above` it may meet the region.
    pub(super) fn images(
        &self,
        cell: Option<Cell>,
        point: DVec3,
        (below, above): (DVec3, DVec3),
    ) -> impl Iterator<Item = DVec3> + use<> {
        let (lower, upper) = (self.lower - above, self.upper - below);
        let own = cell.is_none().then_some(point);
        let images = cell.into_iter().flat_map(move |cell| cell.shifts(point, lower, upper));
        own.into_iter().chain(images.map(move |shift| point + shift))
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

/// The part of a region that particles and their periodic images fill, φ = Σ |ball ∩ region| / |region|. Obstacles count as
/// room.
#[must_use]
pub fn solid_fraction(particles: &Particles, region: &Region) -> f64 {
    let unrolled = region.unrolled(particles.cell);
    let filled = particles.position.iter().zip(&particles.radius).map(|(x, r)| {
        let reach = DVec3::splat(*r);
        let images = unrolled.images(particles.cell, *x, (-reach, reach));
        images.map(|image| unrolled.overlap(image, *r)).sum::<f64>()
    });
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

    /// Spheres of two sizes, overlapping or not, in a cell that repeats in x and z, with the sum of their volumes.
    fn repeating() -> (Particles, f64) {
        let cell = Cell::new([Some([-0.3, 1.1]), None, Some([2.0, 3.7])]).unwrap();
        let mut particles = Particles { cell: Some(cell), ..Particles::default() };
        for k in 0..40_u32 {
            let at = DVec3::new(0.37, 0.61, 0.83) * f64::from(k);
            particles.push(DVec3::new(at.x, (at.y).rem_euclid(2.0), at.z), 0.1 + 0.05 * f64::from(k % 3), 1.0);
        }
        particles.wrap();
        let sum = particles.radius.iter().map(|r| crate::geometry::volume(*r, 3)).sum();
        (particles, sum)
    }

    #[test]
    fn a_whole_cell_has_all_of_every_particle_wherever_it_begins() {
        let (mut particles, sum) = repeating();
        let whole = region([-0.3, -1.0, 2.0], [1.1, 3.0, 3.7], 3);
        let elsewhere = region([0.45, -1.0, -8.1], [1.85, 3.0, -6.4], 3);
        let twice = region([0.45, -1.0, 2.0], [3.25, 3.0, 3.7], 3);
        for shift in [0.0, 0.2, 0.55, 1.3] {
            particles.position.iter_mut().for_each(|x| *x += DVec3::new(shift, 0.0, 0.7 * shift));
            particles.wrap();
            for region in [whole, elsewhere, twice] {
                let (found, expected) = (solid_fraction(&particles, &region), sum / (1.4 * 4.0 * 1.7));
                assert!((found - expected).abs() < 1e-12, "{found}, not {expected}, in {region:?}");
            }
        }
        let around = Region::around(&particles, 3).unwrap();
        assert!((around.lower().x, around.lower().z) == (-0.3, 2.0) && (around.upper().x - 1.1).abs() < 1e-15);
        assert!(around.lower().y < -0.09 && around.upper().y < 2.3, "across, the box around all: {around:?}");
    }

    #[test]
    fn parts_of_a_cell_add_up_to_the_cell() {
        let (particles, sum) = repeating();
        let (a, b) = (region([-0.5, -1.0, 2.1], [0.2, 3.0, 3.8], 3), region([0.2, -1.0, 2.1], [0.9, 3.0, 3.8], 3));
        let filled = |part: &Region| solid_fraction(&particles, part) * part.volume();
        assert!((filled(&a) + filled(&b) - sum).abs() < 1e-12 * sum);
        // A slab in the middle of both directions has images of none but those that are cut.
        let inner = region([0.1, -1.0, 2.5], [0.6, 3.0, 3.0], 3);
        let free = Particles { cell: None, ..particles.clone() };
        assert!((solid_fraction(&free, &inner) - solid_fraction(&particles, &inner)).abs() < 1e-15);
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
