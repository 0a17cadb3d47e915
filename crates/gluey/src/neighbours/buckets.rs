//! Places in a list, by the cube of space that a ball's centre is in.
//!
//! Space is cut in cubes of side ν, a hair more than 2W, where W is the extent of the widest ball, or of half that
//! where many balls are crowded in a cube. The cubes are hashed into as many buckets as there are balls: the cost is
//! O(N) however far one has flown.
//!
//! Along an axis x is in cube c(x) = ⌊fl(x/ν)⌋. Two ways lead from a ball to those that may meet it, and neither misses
//! one:
//!
//! - A ball of extent e ≤ W about x and one in the list about y meet only if |x − y| ≤ 2W (1 + 4u) along each axis, u
//!   the unit roundoff. While |x/ν| < 2³¹ it rounds by at most 2⁻²², so that fl(x/ν) and fl(y/ν) differ by at most (1 +
//!   4u)/(1 + η) + 2⁻²¹ < 1 with ν = 2W (1 + η) and η = 10⁻⁶, and c(x) and c(y) by at most 1. Beyond 2³¹ all cubes are
//!   the last. So the cubes around the own one are enough.
//! - With cubes of any side, and a ball of any extent e, it meets only balls with |x − y| ≤ ρ = (e + W)(1 + η) along
//!   each axis. Rounding is monotone, and y is a float, so that fl(x − ρ) ≤ y ≤ fl(x + ρ); so is c, and c(fl(x − ρ)) ≤
//!   c(y) ≤ c(fl(x + ρ)). So the cubes between these are enough, along each axis.

use std::ops::Range;

use glam::DVec3;

/// η, relative to extents.
const HAIR: f64 = 1e-6;
/// Balls that one shares a bucket with, in the mean, where cubes of half the side are worth their greater number.
const CROWDED: u64 = 8;
/// What it takes to find the bucket of a column, in entries that are compared meanwhile.
const COLUMN: f64 = 3.0;

/// Which cube, along each axis. Far beyond what 32 bits count, all cubes are taken for the last: correct, only slower.
type Cube = [i32; 3];

/// The cubes from one to another along each axis; none where these are the wrong way round.
#[derive(Clone, Copy)]
pub(super) struct Cubes {
    from: Cube,
    to: Cube,
}

/// How far the cubes are that a ball no wider than the widest must look at.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// Next to its own.
    Next,
    /// One or two further.
    Further,
}

/// Which places in a list are for which cube of space.
pub(super) struct Buckets {
    /// The largest extent of a ball.
    pub widest: f64,
    inverse_side: f64,
    /// Whether the cubes around the own one are all that a ball need look at.
    reach: Reach,
    mask: usize,
    /// Where each bucket starts in the list, and the next one after it.
    start: Vec<u32>,
    /// The least and greatest cube in each direction: a flat scene visits 9 cubes instead of 27.
    least: Cube,
    greatest: Cube,
}

impl Buckets {
    /// For so many balls, no wider than this.
    pub fn new(widest: f64, balls: usize) -> Self {
        let buckets = balls.next_power_of_two().max(4); // more than a column visits
        Self {
            widest,
            inverse_side: (2.0 * widest * (1.0 + HAIR)).recip(),
            reach: Reach::Next,
            mask: buckets - 1,
            start: vec![0; buckets + 2],
            least: [i32::MAX; 3],
            greatest: [i32::MIN; 3],
        }
    }

    /// One more is at this point. `start[b + 2]` counts those of bucket b.
    pub fn count(&mut self, x: DVec3) {
        let cube = self.cube(x);
        let bucket = self.bucket(cube);
        self.start[bucket + 2] += 1;
        for (axis, at) in cube.into_iter().enumerate() {
            self.least[axis] = self.least[axis].min(at);
            self.greatest[axis] = self.greatest[axis].max(at);
        }
    }

    /// The same with cubes of half the side and none counted, if those that were are crowded in theirs.
    pub fn less_crowded(&self) -> Option<Self> {
        let sums =
            |(all, squares): (u64, u64), count: &u32| (all + u64::from(*count), squares + u64::from(*count).pow(2));
        let (all, squares) = self.start.iter().fold((0, 0), sums);
        (squares > CROWDED * all).then(|| Self {
            inverse_side: 2.0 * self.inverse_side,
            reach: Reach::Further,
            ..Self::new(self.widest, self.mask + 1)
        })
    }

    /// Numbers that are remembered.
    #[cfg(test)]
    pub fn room(&self) -> usize {
        self.start.len()
    }

    /// After this `start[b + 1]` tells where the next of bucket b goes, and in the end where the bucket ends. Gives the
    /// length of the list.
    pub fn sum_up(&mut self) -> usize {
        for bucket in 1..=self.mask + 1 {
            self.start[bucket + 1] += self.start[bucket];
        }
        self.start[self.mask + 2] as usize
    }

    /// The place for the next one at this point.
    pub fn place(&mut self, x: DVec3) -> usize {
        let next = self.bucket(self.cube(x)) + 1;
        self.start[next] += 1;
        self.start[next] as usize - 1
    }

    fn cube(&self, x: DVec3) -> Cube {
        x.to_array().map(|c| {
            let scaled = c * self.inverse_side;
            let towards_zero = scaled as i32; // saturates
            towards_zero.saturating_sub(i32::from(scaled < f64::from(towards_zero)))
        })
    }

    /// Cubes above each other are in consecutive buckets, so that a column of them is one piece of memory.
    fn bucket(&self, [x, y, z]: Cube) -> usize {
        // Large odd multipliers, then a mix of high bits into low ones: neighbouring columns fall into unrelated buckets.
        let [x, y] = [x, y].map(|c| u64::from(c.cast_unsigned()));
        let mut key = x.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F));
        key = (key ^ (key >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        ((key >> 32) as usize).wrapping_add(z.cast_unsigned() as usize) & self.mask
    }

    /// The cubes of all whom a ball may meet that is no wider than the widest.
    #[inline]
    pub fn around(&self, centre: DVec3, extent: f64) -> Cubes {
        if self.reach == Reach::Further {
            return self.within(centre, extent);
        }
        let home = self.cube(centre);
        let from = |axis: usize| home[axis].saturating_sub(1).max(self.least[axis]);
        let to = |axis: usize| home[axis].saturating_add(1).min(self.greatest[axis]);
        Cubes { from: [from(0), from(1), from(2)], to: [to(0), to(1), to(2)] }
    }

    /// The cubes of all whom a ball of this extent may meet.
    pub fn within(&self, centre: DVec3, extent: f64) -> Cubes {
        let reach = (extent + self.widest) * (1.0 + HAIR);
        let (low, high) = (self.cube(centre - reach), self.cube(centre + reach));
        let from = |axis: usize| low[axis].max(self.least[axis]);
        let to = |axis: usize| high[axis].min(self.greatest[axis]);
        Cubes { from: [from(0), from(1), from(2)], to: [to(0), to(1), to(2)] }
    }

    /// About how many entries are compared where a ball of this extent looks for those it may meet.
    pub fn effort(&self, extent: f64) -> f64 {
        let across = 2.0 * (extent + self.widest) * self.inverse_side + 1.0;
        let [x, y, z] = [0, 1, 2].map(|axis| across.min(count(self.least[axis], self.greatest[axis])));
        (x * y * (COLUMN + z)).min(self.start.len() as f64)
    }

    /// The places of all in these cubes, column by column, some perhaps twice and with others between them.
    #[inline]
    pub fn visit(&self, Cubes { from, to }: Cubes, mut look: impl FnMut(Range<usize>)) {
        let ([x, y, low], [to_x, to_y, high]) = (from, to);
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

    /// The same of any number of cubes, however many more than balls.
    pub fn visit_many(&self, cubes: Cubes, mut look: impl FnMut(Range<usize>)) {
        let Cubes { from, to } = cubes;
        let [x, y, z] = [0, 1, 2].map(|axis| count(from[axis], to[axis]));
        if x * y * (COLUMN + z) < self.mask as f64 {
            self.visit(cubes, look);
        } else if x > 0.0 && y > 0.0 && z > 0.0 {
            look(0..self.start[self.mask + 1] as usize);
        }
    }
}

/// How many cubes there are from one to another, these among them; none or less where they are the wrong way round.
fn count(from: i32, to: i32) -> f64 {
    f64::from(to) - f64::from(from) + 1.0
}
