//! Balls sorted into the buckets of their levels, and the pairs of them that meet.

use std::ops::{ControlFlow, Range};

use glam::DVec3;
use rayon::prelude::*;

use super::levels::Levels;
use crate::geometry::Cell;

/// Balls that look into another level, per parallel task: one may be near thousands.
const SEEKERS: usize = 32;

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

/// Balls sorted by their level and the bucket of their cube.
pub struct Grid {
    pub(super) levels: Levels,
    /// Of each level.
    pub(super) entries: Vec<Vec<Entry>>,
}

impl Grid {
    /// Sorts balls with these centres and extents (radii) into buckets.
    #[must_use]
    pub fn new(position: &[DVec3], extent: &[f64]) -> Self {
        Self::of(None, position, |i| extent[i])
    }

    /// The same; in a periodic cell with the images that balls inside may meet.
    pub(super) fn of(cell: Option<Cell>, position: &[DVec3], extent: impl Fn(usize) -> f64) -> Self {
        let mut levels = Levels::new(cell, (0..position.len()).map(&extent));
        let distance = |i: usize| extent(i) + levels.buckets[levels.of(|| extent(i))].widest;
        let images = cell.map(|cell| images_near(&cell, position, distance));
        let images = images.as_deref();
        each(position, images, |i, x| {
            let level = levels.of(|| extent(i));
            levels.buckets[level].count(x);
        });
        let crowded = levels.spread();
        if !crowded.is_empty() {
            each(position, images, |i, x| {
                let level = levels.of(|| extent(i));
                if crowded.contains(&level) {
                    levels.buckets[level].count(x);
                }
            });
        }
        let none = Entry { centre: DVec3::ZERO, extent: 0.0, id: 0 };
        let mut entries: Vec<_> = levels.buckets.iter_mut().map(|buckets| vec![none; buckets.sum_up()]).collect();
        each(position, images, |i, centre| {
            let extent = extent(i);
            let level = levels.of(|| extent);
            entries[level][levels.buckets[level].place(centre)] = Entry { centre, extent, id: i as u32 };
        });
        Self { levels, entries }
    }

    /// Fills `found` with those after particle i whose balls meet its own, sorted.
    pub fn partners(&self, i: u32, centre: DVec3, extent: f64, found: &mut Vec<u32>) {
        found.clear();
        self.levels.around(centre, extent, |level, centre, places| {
            add_after(&Entry { centre, extent, id: i }, &self.entries[level][places], found);
        });
        tidy(found);
    }

    /// The same of those on its own level, in no order and perhaps several times.
    pub(super) fn partners_of_its_size(&self, i: u32, centre: DVec3, extent: f64, found: &mut Vec<u32>) {
        let level = self.levels.of(|| extent);
        let (buckets, entries) = (&self.levels.buckets[level], &self.entries[level]);
        let ball = Entry { centre: self.levels.inside(centre), extent, id: i };
        buckets.visit(buckets.around(ball.centre, extent), |places| add_after(&ball, &entries[places], found));
    }

    /// All pairs of balls that meet across levels.
    ///
    /// Each pair of levels is gone through once, from the side from which it is less work: few large balls look for the
    /// many small ones around them, and few small ones for those large ones that may reach them. In a cell all images
    /// in the lists look: for a pair that meets, the image inside of the smaller ball is in the list of its level, and
    /// the image of the larger one that is nearest to it is within E + W of the cell, W the widest of the larger one's
    /// level, and in the list of that.
    pub(super) fn across(&self, count: usize) -> Across {
        let (buckets, mut tasks) = (&self.levels.buckets, Vec::new());
        for (coarse, fine) in (0..buckets.len()).flat_map(|coarse| (0..coarse).map(move |fine| (coarse, fine))) {
            let effort =
                |from: usize, to: usize| self.entries[from].len() as f64 * buckets[to].effort(buckets[from].widest);
            let (from, to) = if effort(coarse, fine) < effort(fine, coarse) { (coarse, fine) } else { (fine, coarse) };
            tasks.extend(self.entries[from].chunks(SEEKERS).map(|seekers| (seekers, to)));
        }
        let search = |(seekers, to): (&[Entry], usize)| {
            let mut pairs = Vec::new();
            for seeker in seekers {
                let cubes = buckets[to].within(seeker.centre, seeker.extent);
                buckets[to].visit_many(cubes, |places| add_pairs(seeker, &self.entries[to][places], &mut pairs));
            }
            pairs
        };
        let found: Vec<Vec<(u32, u32)>> = tasks.into_par_iter().map(search).collect();
        Across::sorted(&found, count)
    }

    /// Names all whose balls could meet one about this point, no larger than the largest of them; some perhaps twice,
    /// and others with them.
    pub fn around(&self, centre: DVec3, mut look: impl FnMut(u32)) {
        self.levels.around(centre, self.levels.widest(), |level, _, places| {
            self.entries[level][places].iter().for_each(|entry| look(entry.id));
        });
    }
}

/// Adds those of a list after a ball that meet it.
#[inline]
fn add_after(ball: &Entry, entries: &[Entry], found: &mut Vec<u32>) {
    let mut count = found.len();
    found.resize(count + entries.len(), 0);
    // Half of all come before i and few of the others are near, in no order: a branch would mostly be guessed wrong.
    for other in entries {
        found[count] = other.id;
        count += usize::from((other.id > ball.id) & within(ball.centre, ball.extent, other));
    }
    found.truncate(count);
}

/// Adds the pairs of a ball and those of a list that meet it.
fn add_pairs(ball: &Entry, entries: &[Entry], found: &mut Vec<(u32, u32)>) {
    let mut count = found.len();
    found.resize(count + entries.len(), (0, 0));
    for other in entries {
        found[count] = (ball.id.min(other.id), ball.id.max(other.id));
        count += usize::from(within(ball.centre, ball.extent, other));
    }
    found.truncate(count);
}

/// Sorts who was found. Columns may share buckets, and several images of a ball may be near.
pub(super) fn tidy(found: &mut Vec<u32>) {
    found.sort_unstable();
    found.dedup();
}

/// Partners j > i of each i on other levels, in no order and perhaps several times.
#[derive(Default)]
pub(super) struct Across {
    /// Where those of each i start, and those of the next one after it; empty where there are none.
    start: Vec<u32>,
    partners: Vec<u32>,
}

impl Across {
    /// Sorts pairs of so many balls by their first.
    fn sorted(found: &[Vec<(u32, u32)>], count: usize) -> Self {
        let pairs = || found.iter().flatten();
        let total = found.iter().map(Vec::len).sum();
        if total == 0 {
            return Self::default();
        }
        // `start[i + 1]` first tells where the next partner of i goes, and in the end where they end.
        let (mut start, mut partners) = (vec![0; count + 2], vec![0; total]);
        pairs().for_each(|(i, _)| start[*i as usize + 2] += 1);
        for i in 2..start.len() {
            start[i] += start[i - 1];
        }
        for &(i, j) in pairs() {
            let next = &mut start[i as usize + 1];
            partners[*next as usize] = j;
            *next += 1;
        }
        Self { start, partners }
    }

    /// The partners of i.
    pub fn of(&self, i: usize) -> &[u32] {
        if self.start.is_empty() { &[] } else { &self.partners[self.range(i)] }
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }
}
