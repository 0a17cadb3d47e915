//! Places that are taken while particles are drawn at random.
//!
//! A ball of radius r has room about x if |x − y| ≥ r + s + gap for every ball of radius s about y that is there. These
//! are sorted by their radius, an octave below the greatest a layer, and in each layer by cubes that fit its largest,
//! so that few are asked whatever the ratio of radii: among small ones a large one asks many cubes, but never more than
//! there are balls in the layer.

use std::collections::{BTreeMap, HashMap};

use glam::DVec3;

use crate::geometry::{Cell, Particles};

/// A hair more than balls reach, for rounding.
const HAIR: f64 = 1e-9;

/// Particles already placed, for the question whether another has room.
pub(super) struct Crowd {
    cell: Option<Cell>,
    greatest: f64,
    gap: f64,
    /// By how often their radii can be doubled without exceeding the greatest.
    layers: BTreeMap<i32, Layer>,
}

/// Balls of which the largest is about twice the smallest.
struct Layer {
    /// Of a cube.
    side: f64,
    /// No radius is larger.
    widest: f64,
    /// Which of the balls are in which cube of space.
    cubes: HashMap<[i64; 3], Vec<u32>>,
    balls: Vec<(DVec3, f64)>,
}

impl Crowd {
    /// Those that are there; none that will come is larger than `greatest`.
    pub(super) fn new(placed: &Particles, greatest: f64, gap: f64) -> Self {
        let greatest = placed.radius.iter().copied().fold(greatest, f64::max);
        let mut crowd = Self { cell: placed.cell, greatest, gap, layers: BTreeMap::new() };
        for (centre, radius) in placed.position.iter().zip(&placed.radius) {
            crowd.add(*centre, *radius);
        }
        crowd
    }

    pub(super) fn add(&mut self, centre: DVec3, radius: f64) {
        let octave = (self.greatest / radius).log2().floor().clamp(0.0, f64::from(i32::MAX)) as i32;
        let side = 2.0 * self.greatest * (-f64::from(octave)).exp2() + self.gap;
        let fresh = || Layer { side, widest: radius, cubes: HashMap::new(), balls: Vec::new() };
        let layer = self.layers.entry(octave).or_insert_with(fresh);
        layer.widest = layer.widest.max(radius);
        let farthest = 2.0 * self.greatest + self.gap;
        let images = self.cell.map(|cell| {
            let inside = cell.wrap(centre);
            cell.shifts_near(inside, farthest, 0.5).map(move |shift| inside + shift)
        });
        let alone = if images.is_none() { Some(centre) } else { None };
        for image in alone.into_iter().chain(images.into_iter().flatten()) {
            let cube = layer.cube(image);
            layer.cubes.entry(cube).or_default().push(layer.balls.len() as u32);
            layer.balls.push((image, radius));
        }
    }

    pub(super) fn has_room(&self, centre: DVec3, radius: f64) -> bool {
        let centre = self.cell.map_or(centre, |cell| cell.wrap(centre));
        let clear = |(other, r): &(DVec3, f64)| centre.distance(*other) >= radius + r + self.gap;
        self.layers.values().all(|layer| layer.near(centre, radius + self.gap).all(clear))
    }
}

impl Layer {
    fn cube(&self, x: DVec3) -> [i64; 3] {
        x.to_array().map(|c| (c / self.side).floor() as i64)
    }

    /// All whose surfaces are within a distance of a point, and others. Which cube a coordinate is in grows with it,
    /// rounding and all, so that they are between the cubes at both ends.
    fn near(&self, centre: DVec3, distance: f64) -> Box<dyn Iterator<Item = &(DVec3, f64)> + '_> {
        let reach = (distance + self.widest) * (1.0 + HAIR);
        let (from, to) = (self.cube(centre - reach), self.cube(centre + reach));
        let count: f64 = (0..3).map(|axis| to[axis] as f64 - from[axis] as f64 + 1.0).product();
        if count >= self.balls.len() as f64 {
            return Box::new(self.balls.iter());
        }
        let columns = (from[0]..=to[0]).flat_map(move |x| (from[1]..=to[1]).map(move |y| (x, y)));
        let cubes = columns.flat_map(move |(x, y)| (from[2]..=to[2]).map(move |z| [x, y, z]));
        Box::new(cubes.filter_map(|cube| self.cubes.get(&cube)).flatten().map(|ball| &self.balls[*ball as usize]))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn there_is_room_where_all_are_far_enough_whatever_their_sizes() {
        let mut random = Pcg64::seed_from_u64(11);
        for cell in [None, Cell::with_periods(DVec3::ZERO, DVec3::new(1.0, 0.0, 1.0)).ok()] {
            let mut crowd = Crowd::new(&Particles { cell, ..Particles::default() }, 0.2, 1e-3);
            let mut balls: Vec<(DVec3, f64)> = Vec::new();
            let (mut free, mut taken) = (0, 0);
            for _ in 0..4_000 {
                let centre = DVec3::from([0, 1, 2].map(|_| random.random_range(0.0..1.0)));
                let radius = 0.2 * 500.0_f64.powf(-random.random_range(0.0..1.0));
                let clear = |(other, r): &(DVec3, f64)| {
                    let offset = cell.map_or(*other - centre, |cell| cell.shortest(*other - centre));
                    offset.length() >= radius + r + 1e-3
                };
                let expected = balls.iter().all(clear);
                assert_eq!(crowd.has_room(centre, radius), expected, "{centre} {radius}");
                if expected {
                    crowd.add(centre, radius);
                    balls.push((centre, radius));
                }
                (free, taken) = (free + usize::from(expected), taken + usize::from(!expected));
            }
            assert!(free > 300 && taken > 300, "{free} {taken}");
        }
    }
}
