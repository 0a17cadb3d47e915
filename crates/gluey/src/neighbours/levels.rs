//! Balls of any sizes, sorted into levels of about one size each.
//!
//! One grid for all would have cubes as wide as the widest ball, and with a few large ones among many small ones each
//! small one would be compared with all that a large one could touch. So balls are sorted by their extent first: a
//! level is for extents from some a to less than 2a, and has [`Buckets`] of its own, whose cubes fit its own widest
//! ball. Who meets whom is then asked level by level, and the reasons that [`super::buckets`] gives hold for each.

use std::ops::Range;

use glam::DVec3;

use super::buckets::Buckets;
use crate::geometry::Cell;

/// Classes of extents to an octave: by the exponent of the number and the first two bits of its mantissa.
const CLASSES: usize = 4;
const CLASS_BITS: u32 = 50;

/// Which level a ball of some extent is on.
#[derive(Default)]
pub(super) struct Sizes {
    /// The class of the least extent,
    least: u64,
    /// and the levels of the classes from there on; empty where there is one level.
    level: Vec<u16>,
}

/// What a level holds.
#[derive(Clone, Copy)]
struct Share {
    widest: f64,
    balls: usize,
}

/// Places in lists, one list a level, from the finest level to the coarsest.
#[derive(Default)]
pub(super) struct Levels {
    cell: Option<Cell>,
    sizes: Sizes,
    pub buckets: Vec<Buckets>,
}

impl Sizes {
    /// Cuts extents into as few levels as there may be, from the least on.
    fn cut(extents: impl Iterator<Item = f64> + Clone) -> (Self, Vec<Share>) {
        let span = |(count, least, most): (usize, f64, f64), e: f64| (count + 1, least.min(e), most.max(e));
        let (balls, least, widest) = extents.clone().fold((0, f64::INFINITY, f64::MIN_POSITIVE), span);
        let least = least.max(f64::MIN_POSITIVE);
        if widest < 2.0 * least || balls == 0 {
            return (Self::default(), vec![Share { widest, balls }]);
        }
        let first = class(least);
        let mut shares = vec![Share { widest: f64::MIN_POSITIVE, balls: 0 }; (class(widest) - first) as usize + 1];
        let mut sizes = Self { least: first, level: (0..shares.len() as u16).collect() };
        for extent in extents {
            let share = &mut shares[sizes.of(extent)];
            *share = Share { widest: share.widest.max(extent), balls: share.balls + 1 };
        }
        let (mut levels, mut end) = (Vec::<Share>::new(), 0);
        for (class, share) in shares.into_iter().enumerate() {
            match levels.last_mut() {
                Some(last) if class < end => {
                    *last = Share { widest: last.widest.max(share.widest), balls: last.balls + share.balls };
                }
                _ if share.balls == 0 => {}
                _ => {
                    levels.push(share);
                    end = class + CLASSES;
                }
            }
            sizes.level[class] = levels.len() as u16 - 1;
        }
        (sizes, levels)
    }

    /// The level of a ball of this extent; of one that is wider than all, the coarsest.
    #[inline]
    pub fn of(&self, extent: f64) -> usize {
        if self.level.is_empty() {
            return 0;
        }
        let class = class(extent).saturating_sub(self.least) as usize;
        usize::from(self.level[class.min(self.level.len() - 1)])
    }
}

/// Numbers ≥ 0 are ordered as their bits are; what is not a number, and what is less than nothing, is above all of
/// them.
fn class(extent: f64) -> u64 {
    extent.to_bits() >> CLASS_BITS
}

impl Levels {
    /// For balls of these extents, none counted yet.
    pub fn new(cell: Option<Cell>, extents: impl Iterator<Item = f64> + Clone) -> Self {
        let (sizes, shares) = Sizes::cut(extents);
        let buckets = shares.into_iter().map(|Share { widest, balls }| Buckets::new(widest, balls)).collect();
        Self { cell, sizes, buckets }
    }

    /// Gives crowded levels smaller cubes, in which none is counted yet, and names these levels.
    pub fn spread(&mut self) -> Vec<usize> {
        let mut crowded = Vec::new();
        for (level, buckets) in self.buckets.iter_mut().enumerate() {
            if let Some(spread) = buckets.less_crowded() {
                *buckets = spread;
                crowded.push(level);
            }
        }
        crowded
    }

    /// The level of a ball.
    #[inline]
    pub fn of(&self, extent: impl FnOnce() -> f64) -> usize {
        if self.buckets.len() == 1 { 0 } else { self.sizes.of(extent()) }
    }

    /// The extent of the widest ball of all.
    pub fn widest(&self) -> f64 {
        self.buckets.last().map_or(0.0, |coarsest| coarsest.widest)
    }

    /// The image of a point in the cell.
    #[inline]
    pub fn inside(&self, x: DVec3) -> DVec3 {
        self.cell.map_or(x, |cell| cell.wrap(x))
    }

    /// The places, level by level, of all whom a ball may meet, some perhaps twice and with others between them; and
    /// the image of its centre that may meet them.
    ///
    /// In a cell the list of a level with the widest ball W has all images of its balls, of extents E, that are within
    /// E + W of the cell: whoever is no wider than W meets them from his image inside. A wider ball, of extent e, meets
    /// the images inside from one of its own that is within e + W of the cell.
    pub fn around(&self, centre: DVec3, extent: f64, mut look: impl FnMut(usize, DVec3, Range<usize>)) {
        let home = self.inside(centre);
        for (level, buckets) in self.buckets.iter().enumerate() {
            if extent <= buckets.widest && 2.0 * extent > buckets.widest {
                buckets.visit(buckets.around(home, extent), |places| look(level, home, places));
                continue;
            }
            let mut look = |x: DVec3| buckets.visit_many(buckets.within(x, extent), |places| look(level, x, places));
            match self.cell.filter(|_| extent > buckets.widest) {
                None => look(home),
                Some(cell) => {
                    let reach = extent + buckets.widest;
                    cell.shifts_near(home, reach, 0.5).for_each(|shift| look(home + shift));
                }
            }
        }
    }
}
