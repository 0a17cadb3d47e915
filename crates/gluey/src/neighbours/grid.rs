//! Balls sorted into buckets by the cube of space that their centre is in.
//!
//! Space is cut in cubes of side ν = 2 max(extent), so that balls that meet lie in the same or in adjacent cubes. The cubes
//! are hashed into as many buckets as there are particles: the cost is O(N) however far a particle has flown.

use std::ops::{ControlFlow, Range};

use glam::DVec3;

use crate::geometry::Cell;

/// All pairs i < j whose balls meet, sorted.
#[must_use]
pub fn pairs(position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    pairs_in(None, position, extent)
}

/// The same where space may repeat: all pairs i < j of which some images meet.
#[must_use]
pub fn pairs_in(cell: Option<&Cell>, position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let all = |i: u32, partners: &[u32]| {
        found.extend(partners.iter().map(|&j| (i, j)));
        ControlFlow::Continue(())
    };
    let _ = partners_in(cell, position, extent, all);
    found
}

/// Names each i with its partners j of these pairs, until told to stop: all of them may be more than memory holds.
pub fn partners_in(
    cell: Option<&Cell>,
    position: &[DVec3],
    extent: &[f64],
    mut look: impl FnMut(u32, &[u32]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let grid = Grid::of(cell.copied(), position, |i| extent[i]);
    let mut partners = Vec::new();
    for i in 0..position.len() as u32 {
        grid.partners(i, position[i as usize], extent[i as usize], &mut partners);
        look(i, &partners)?;
    }
    ControlFlow::Continue(())
}

/// The same by looking at every pair: what the tests compare with.
#[must_use]
pub fn pairs_by_brute_force(position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for i in 0..position.len() {
        for j in i + 1..position.len() {
            let other = Entry { centre: position[j], extent: extent[j], id: j as u32 };
            if within(position[i], extent[i], &other) {
                found.push((i as u32, j as u32));
            }
        }
    }
    found
}

pub(super) fn within(centre: DVec3, extent: f64, other: &Entry) -> bool {
    centre.distance_squared(other.centre) <= (extent + other.extent).powi(2)
}

/// The images that may be the nearest to a point of the cell and within a distance of it, particle by particle.
fn images_near(cell: &Cell, position: &[DVec3], distance: impl Fn(usize) -> f64) -> Vec<(u32, DVec3)> {
    let images = |(i, x): (usize, &DVec3)| {
        let inside = cell.wrap(*x);
        cell.shifts_near(inside, distance(i), 0.5).map(move |shift| (i as u32, inside + shift))
    };
    position.iter().enumerate().flat_map(images).collect()
}

/// Visits the images if there are any, and else the centres.
fn each(position: &[DVec3], images: Option<&[(u32, DVec3)]>, mut look: impl FnMut(usize, DVec3)) {
    match images {
        None => position.iter().enumerate().for_each(|(i, x)| look(i, *x)),
        Some(images) => images.iter().for_each(|(i, x)| look(*i as usize, *x)),
    }
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub centre: DVec3,
    pub extent: f64,
    pub id: u32,
}

/// Which cube, along each axis. Far beyond what 32 bits count, all cubes are taken for the last: correct, only slower.
type Cube = [i32; 3];

/// Particles sorted by the bucket of their cube.
pub struct Grid {
    pub(super) buckets: Buckets,
    pub(super) entries: Vec<Entry>,
}

impl Grid {
    /// Sorts balls with these centres and extents (radii) into buckets.
    #[must_use]
    pub fn new(position: &[DVec3], extent: &[f64]) -> Self {
        Self::of(None, position, |i| extent[i])
    }

    /// The same; in a periodic cell with the images that balls inside may meet.
    pub(super) fn of(cell: Option<Cell>, position: &[DVec3], extent: impl Fn(usize) -> f64) -> Self {
        let widest = (0..position.len()).map(&extent).fold(f64::MIN_POSITIVE, f64::max);
        let images = cell.map(|cell| images_near(&cell, position, |i| extent(i) + widest));
        let images = images.as_deref();
        let mut buckets = Buckets::new(cell, widest, position.len());
        let count = images.map_or(position.len(), <[_]>::len);
        let mut entries = vec![Entry { centre: DVec3::ZERO, extent: 0.0, id: 0 }; count];
        each(position, images, |_, x| buckets.count(x));
        buckets.sum_up();
        each(position, images, |i, centre| {
            entries[buckets.place(centre)] = Entry { centre, extent: extent(i), id: i as u32 };
        });
        Self { buckets, entries }
    }

    /// Fills `found` with those after particle i whose balls meet its own, sorted.
    pub fn partners(&self, i: u32, centre: DVec3, extent: f64, found: &mut Vec<u32>) {
        found.clear();
        let centre = self.buckets.inside(centre);
        self.buckets.visit(centre, |entries| {
            let entries = &self.entries[entries];
            let mut count = found.len();
            found.resize(count + entries.len(), 0);
            // Half of all come before i and few of the others are near, in no order: a branch would mostly be guessed wrong.
            for other in entries {
                found[count] = other.id;
                count += usize::from((other.id > i) & within(centre, extent, other));
            }
            found.truncate(count);
        });
        found.sort_unstable();
        found.dedup(); // columns may share buckets, and several images of a ball may be near
    }

    /// Names all whose balls could meet one about this point, no larger than the largest of them; some perhaps twice, and
    /// others with them.
    pub fn around(&self, centre: DVec3, mut look: impl FnMut(u32)) {
        self.buckets.visit(centre, |entries| self.entries[entries].iter().for_each(|entry| look(entry.id)));
    }
}

/// Which places in a list are for which cube of space.
#[derive(Default)]
pub(super) struct Buckets {
    cell: Option<Cell>,
    /// The largest extent of a ball.
    pub widest: f64,
    inverse_side: f64,
    mask: usize,
    /// Where each bucket starts in the list, and the next one after it.
    start: Vec<u32>,
    /// The least and greatest cube in each direction: a flat scene visits 9 cubes instead of 27.
    least: Cube,
    greatest: Cube,
}

impl Buckets {
    fn new(cell: Option<Cell>, widest: f64, particles: usize) -> Self {
        let buckets = particles.next_power_of_two().max(4); // more than a column visits
        Self {
            cell,
            widest,
            inverse_side: (2.0 * widest).recip(),
            mask: buckets - 1,
            start: vec![0; buckets + 2],
            least: [i32::MAX; 3],
            greatest: [i32::MIN; 3],
        }
    }

    /// One more is at this point. `start[b + 2]` counts those of bucket b.
    fn count(&mut self, x: DVec3) {
        let cube = self.cube(x);
        let bucket = self.bucket(cube);
        self.start[bucket + 2] += 1;
        for (axis, at) in cube.into_iter().enumerate() {
            self.least[axis] = self.least[axis].min(at);
            self.greatest[axis] = self.greatest[axis].max(at);
        }
    }

    /// After this `start[b + 1]` tells where the next of bucket b goes, and in the end where the bucket ends.
    fn sum_up(&mut self) {
        for bucket in 1..=self.mask + 1 {
            self.start[bucket + 1] += self.start[bucket];
        }
    }

    /// The place for the next one at this point.
    fn place(&mut self, x: DVec3) -> usize {
        let next = self.bucket(self.cube(x)) + 1;
        self.start[next] += 1;
        self.start[next] as usize - 1
    }

    /// The image of a point in the cell.
    pub fn inside(&self, x: DVec3) -> DVec3 {
        self.cell.map_or(x, |cell| cell.wrap(x))
    }

    fn cube(&self, x: DVec3) -> Cube {
        x.to_array().map(|c| {
            let scaled = c * self.inverse_side;
            let towards_zero = scaled as i32; // saturates
            towards_zero.saturating_sub(i32::from(scaled < f64::from(towards_zero)))
        })
    }

    /// Cubes above each other are in consecutive buckets, so that a column of three is one piece of memory.
    fn bucket(&self, [x, y, z]: Cube) -> usize {
        // Large odd multipliers, then a mix of high bits into low ones: neighbouring columns fall into unrelated buckets.
        let [x, y] = [x, y].map(|c| u64::from(c.cast_unsigned()));
        let mut key = x.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F));
        key = (key ^ (key >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        ((key >> 32) as usize).wrapping_add(z.cast_unsigned() as usize) & self.mask
    }

    /// The places of all in the cube of a point and those around it, column by column, some perhaps twice and with others
    /// between them.
    pub fn visit(&self, centre: DVec3, mut look: impl FnMut(Range<usize>)) {
        let home = self.cube(centre);
        let range = |axis: usize| {
            let from = home[axis].saturating_sub(1).max(self.least[axis]);
            (from, home[axis].saturating_add(1).min(self.greatest[axis]))
        };
        let ((x, to_x), (y, to_y), (low, high)) = (range(0), range(1), range(2));
        if low > high {
            return; // far above or below all of them
        }
        let places = |from: usize, to: usize| self.start[from] as usize..self.start[to + 1] as usize;
        for cx in x..=to_x {
            for cy in y..=to_y {
                let first = self.bucket([cx, cy, low]);
                let last = first + (high - low) as usize;
                look(places(first, last.min(self.mask)));
                if last > self.mask {
                    look(places(0, last & self.mask));
                }
            }
        }
    }
}
