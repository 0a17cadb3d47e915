//! Pairs within reach, by bucket sort.
//!
//! Each particle gets a ball around its centre that holds all it may touch in the step; only particles whose balls meet
//! can meet, and a [`Grid`] finds these, whatever their sizes. [`Neighbours`] keeps what it found for balls that are a
//! skin larger, for as long as that provably serves, and looks around only those few again that have left theirs.

mod buckets;
mod grid;
mod levels;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use self::grid::tidy;
pub use self::grid::{Grid, pairs, pairs_by_brute_force, pairs_in, partners_in};
use self::levels::Levels;
use crate::buffer::{reserve, resize};
use crate::geometry::Cell;
use crate::shares::share_of;

/// Particles per parallel task: fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 512;
/// Chunks searched before their results are joined: bounds what is held twice.
const BATCH: usize = 8;
/// Particles whose mean displacement is taken for the drift of the crowd, and whose balls for those of all.
const SAMPLES: usize = 64;
/// A list whose balls exceed the present ones by so many times what those of a new list would,
const TOO_WIDE: f64 = 2.0;
/// and by this share of the present ones, is longer than it need be,
const SPARE: f64 = 0.15;
/// unless it has no more pairs a particle than this: it takes less to look at them in many steps than to make another
/// list.
const LIGHT: usize = 5;
/// Where more than this times √N particles have left their balls since the list was made, it is made anew: each new ball is
/// compared with the other new ones, which by then costs half as much as the list,
const FEW: f64 = 8.0;
/// or where the list has grown by one pair in so many, or for so many particles.
const GROWTH: usize = 8;
/// Rounding of distances, relative to the balls: far above that of f64, far below any skin.
const ROUNDING: f64 = 1e-12;

/// Pairs near each other, in a list that serves for several steps.
///
/// It holds all pairs i < j whose enlarged balls meet, |x_i − x_j| ≤ E_i + E_j: balls about the centres x_i when the list was
/// made, with E_i = extent_i + skin_i. Let x' and e' be centres and extents now. If there is a vector c, any at all, with
///
/// |x'_i − x_i − c| + e'_i ≤ E_i for every i,
///
/// then every pair whose present balls meet is in the list, because
///
/// |x_i − x_j| ≤ |x'_i − x'_j| + |x'_i − x_i − c| + |x'_j − x_j − c|
///             ≤ e'_i + e'_j + (E_i − e'_i) + (E_j − e'_j) = E_i + E_j.
///
/// Here c is the mean displacement of a few particles: a crowd that drifts as one needs no new list. Where a few particles
/// fail they get new balls, about x'_i − c, and the pairs of these balls are added: in a bed at rest there are always some that
/// roll, the more the larger it is. The list holds more pairs than those that meet, and how many depends on when it was
/// made: who asks must look at each.
///
/// In a periodic cell the same holds with x'_i − x_i − c up to periods: what a particle is off by whole periods, its image at
/// the time of the list was off by, too, and a pair was listed if any images of the two met.
///
/// The centres are remembered as f32 relative to one of them; the condition allows for what that may be off. New balls are
/// those about centres as they are remembered.
#[derive(Default)]
pub struct Neighbours {
    /// With which the list was made.
    cell: Option<Cell>,
    origin: DVec3,
    reference: Vec<Reference>,
    /// Where the partners of each particle start, and those of the next one after it.
    start: Vec<u32>,
    partners: Vec<u32>,
    /// How many of these there were when the list was made.
    made: usize,
    /// Where each particle was then, level by level,
    levels: Levels,
    ids: Vec<Vec<u32>>,
    /// and how far a centre may be from where it is remembered.
    rounding: f64,
    /// Those that have got new balls since then, perhaps several times,
    renewed: Vec<u32>,
    /// so many of them before the last call.
    earlier: usize,
    /// Pairs to be added.
    fresh: Vec<(u32, u32)>,
    /// Before the drift, no coordinate of a ball is larger, nor of what is three extents away from its centre,
    farthest: f64,
    /// and the drift of the last call is no longer.
    drifted: f64,
}

/// Who has got new balls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Renewed {
    /// Those that [`Neighbours::renewed`] names; mostly nobody.
    Few,
    /// All: the list was made.
    All,
}

/// How many pairs there are in a list for balls of some size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowding {
    /// The mean extent of the balls (length).
    pub extent: f64,
    /// Pairs a particle.
    pub pairs: f64,
}

/// Balls, in space or a periodic cell.
#[derive(Clone, Copy)]
pub struct Balls<'a> {
    /// In which space repeats.
    pub cell: Option<&'a Cell>,
    /// Their centres,
    pub centre: &'a [DVec3],
    /// and radii.
    pub extent: &'a [f64],
}

/// Centre and extent of an enlarged ball.
#[derive(Clone, Copy)]
struct Reference {
    centre: Vec3,
    extent: f32,
}

impl Reference {
    fn new(centre: DVec3, extent: f64) -> Self {
        Self { centre: centre.as_vec3(), extent: (extent as f32).next_up() }
    }

    /// Rounding to f32 moved each coordinate by at most 2⁻²⁴ of itself; twice that also covers sums of them.
    fn rounding(&self) -> f64 {
        f64::from(self.centre.abs().element_sum()) * f64::from(f32::EPSILON)
    }

    /// How far the centre may be from here for a ball of this extent to stay inside; negative when it never is.
    fn room(&self, extent: f64) -> f64 {
        f64::from(self.extent) * (1.0 - ROUNDING) - self.rounding() - extent
    }
}

/// The largest coordinate of what is three extents from a centre; infinite where something is not a number.
fn reaching(centre: DVec3, extent: f64) -> f64 {
    if centre.is_finite() && extent.is_finite() { centre.abs().max_element() + 3.0 * extent } else { f64::INFINITY }
}

impl Neighbours {
    /// Makes sure that the list has all pairs whose balls meet, but those that are never wanted: it stays as it is if it has,
    /// and otherwise, or where it is much longer than need be, is made for balls a skin larger. Any skins are right; the wider
    /// they are the longer the list is and the longer it lasts.
    pub fn update(
        &mut self,
        balls: Balls,
        skin: impl Fn(usize) -> f64,
        wanted: impl Fn(u32, u32) -> bool + Sync,
    ) -> Renewed {
        if self.cell.as_ref() == balls.cell && self.reference.len() == balls.centre.len() {
            let drift = self.drift(balls.centre);
            self.drifted = drift.length();
            self.earlier = self.renewed.len();
            if let Some(few) = self.outside_skin(balls, drift, &skin)
                && self.renew(&few, balls, drift, (&skin, &wanted))
            {
                return Renewed::Few;
            }
        }
        self.cell = balls.cell.copied();
        self.make(balls, skin, wanted);
        Renewed::All
    }

    /// A bound of all coordinates of the centres, and of points within two of the extents that [`Self::update`] was last given
    /// from them; infinite where something is not a number (length).
    #[must_use]
    pub fn farthest(&self) -> f64 {
        // In a cell they wrap.
        let cell = self.cell.map_or(0.0, |cell| (cell.lower().abs() + cell.period()).max_element());
        cell.max(self.farthest + self.drifted)
    }

    /// Those few that got new balls in the last call of [`Self::update`], in order.
    #[must_use]
    pub fn renewed(&self) -> &[u32] {
        &self.renewed[self.earlier..]
    }

    /// Those after particle i that were near it, sorted.
    #[must_use]
    pub fn after(&self, i: usize) -> &[u32] {
        &self.partners[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// Whether a ball is inside the enlarged ball of particle i.
    #[must_use]
    #[inline]
    pub fn encloses(&self, i: usize, centre: DVec3, extent: f64) -> bool {
        let reference = &self.reference[i];
        let room = reference.room(extent);
        room >= 0.0
            && self.up_to_periods(centre - self.origin - reference.centre.as_dvec3()).length_squared() <= room * room
    }

    /// The extent that balls had, in the mean of a few, and the number of pairs a particle when the list was made.
    #[must_use]
    pub fn crowding(&self) -> Crowding {
        let (count, samples) = (self.reference.len(), self.samples());
        let extent = self.samples().map(|i| self.reach(i)).sum::<f64>() / samples.len().max(1) as f64;
        Crowding { extent, pairs: self.made as f64 / count.max(1) as f64 }
    }

    /// The extent of the enlarged ball of particle i.
    #[must_use]
    pub fn reach(&self, i: usize) -> f64 {
        f64::from(self.reference[i].extent)
    }

    /// Its centre.
    #[must_use]
    pub fn centre(&self, i: usize) -> DVec3 {
        self.origin + self.reference[i].centre.as_dvec3()
    }

    /// Those that have left their balls, in order. Nothing where the balls are too wide.
    fn outside_skin(&self, balls: Balls, drift: DVec3, skin: impl Fn(usize) -> f64) -> Option<Vec<u32>> {
        let Balls { centre, extent, .. } = balls;
        let is_long = self.partners.len() > LIGHT * self.reference.len();
        let excess = |i: usize| self.reference[i].room(extent[i]) - (TOO_WIDE * skin(i) + SPARE * extent[i]);
        if is_long && self.samples().map(excess).sum::<f64>() > 0.0 {
            return None;
        }
        let holds = self.holding(drift);
        let share = share_of(self.reference.len());
        let look = |(part, references): (usize, &[Reference])| {
            let balls = centre[part * share..].iter().zip(&extent[part * share..]);
            let mut few = Vec::new();
            for (i, (reference, (centre, extent))) in (part * share..).zip(references.iter().zip(balls)) {
                if !holds(reference, *centre, *extent) {
                    few.push(i as u32);
                }
            }
            few
        };
        let join = |mut a: Vec<u32>, b: Vec<u32>| {
            a.extend(b);
            a
        };
        Some(self.reference.par_chunks(share).enumerate().map(look).reduce(Vec::new, join))
    }

    /// Whether an enlarged ball holds another, taken back by the drift.
    fn holding(&self, drift: DVec3) -> impl Fn(&Reference, DVec3, f64) -> bool + Sync {
        let (from, rounding) = (self.origin + drift, drift.abs().element_sum() * ROUNDING);
        move |reference, centre, extent| {
            let room = reference.room(extent) - rounding;
            let moved = self.up_to_periods(centre - from - reference.centre.as_dvec3()).length_squared();
            room >= 0.0 && moved <= room * room // not where something is not a number
        }
    }

    /// New balls for these few, if that can be, they are few, and the list does not get too long.
    fn renew(
        &mut self,
        few: &[u32],
        balls: Balls,
        drift: DVec3,
        (skin, wanted): (impl Fn(usize) -> f64, impl Fn(u32, u32) -> bool),
    ) -> bool {
        if few.is_empty() {
            return true;
        }
        if (self.renewed.len() + few.len()) as f64 > FEW * (self.reference.len() as f64).sqrt() {
            return false;
        }
        for &i in few {
            let at = i as usize;
            let (centre, extent) = (balls.centre[at], balls.extent[at]);
            let mut ball = Reference::new(centre - drift - self.origin, extent + skin(at));
            // No wider than the widest was: the wider a ball is, the more are around it.
            ball.extent = ball.extent.min((self.levels.widest() - self.rounding - ball.rounding()) as f32).next_down();
            if !self.holding(drift)(&ball, centre, extent) {
                return false;
            }
            self.reference[at] = ball;
            self.farthest = self.farthest.max(reaching(centre, extent + skin(at)) + self.drifted);
        }
        reserve(&mut self.renewed, few.len());
        self.renewed.extend(few);
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        for &i in few {
            self.look_around(i, |low, high| {
                if wanted(low, high) && self.after(low as usize).binary_search(&high).is_err() {
                    fresh.push((low, high));
                }
            });
        }
        fresh.sort_unstable();
        fresh.dedup();
        let most = self.made + self.made.max(self.reference.len()) / GROWTH;
        let fits = self.partners.len() + fresh.len() <= most;
        if fits {
            self.insert(&fresh);
        }
        self.fresh = fresh;
        fits
    }

    /// Names the pairs of balls that meet that of particle i, some perhaps twice.
    fn look_around(&self, i: u32, mut found: impl FnMut(u32, u32)) {
        let ball = &self.reference[i as usize];
        let mut look = |j: u32| {
            let other = &self.reference[j as usize];
            let offset = self.up_to_periods(other.centre.as_dvec3() - ball.centre.as_dvec3());
            let reach = f64::from(ball.extent) + f64::from(other.extent);
            if i != j && offset.length_squared() <= reach * reach {
                found(i.min(j), i.max(j));
            }
        };
        // Those that were elsewhere when the buckets were filled are looked at one by one.
        self.renewed.iter().for_each(|j| look(*j));
        // Others were sorted where they were, which is not quite where they are remembered.
        let extent = f64::from(ball.extent) + self.rounding + ball.rounding();
        self.levels.around(self.centre(i as usize), extent, |level, _, places| {
            self.ids[level][places].iter().for_each(|j| look(*j));
        });
    }

    /// Adds pairs that are not in the list; sorted.
    fn insert(&mut self, pairs: &[(u32, u32)]) {
        let mut end = self.partners.len();
        resize(&mut self.partners, end + pairs.len(), 0);
        // From the last to the first: what comes after a pair goes as many places on as there are pairs up to it.
        for (before, &(i, j)) in pairs.iter().enumerate().rev() {
            let (from, to) = (self.start[i as usize] as usize, self.start[i as usize + 1] as usize);
            let at = from + self.partners[from..to.min(end)].partition_point(|partner| *partner < j);
            self.partners.copy_within(at..end, at + before + 1);
            self.partners[at + before] = j;
            end = at;
        }
        for (k, &(i, _)) in pairs.iter().enumerate() {
            let next = pairs.get(k + 1).map_or(self.reference.len(), |pair| pair.0 as usize);
            self.start[i as usize + 1..=next].iter_mut().for_each(|start| *start += k as u32 + 1);
        }
    }

    /// The mean displacement of a few particles since the list was made.
    fn drift(&self, position: &[DVec3]) -> DVec3 {
        let count = self.samples().len();
        let displacement = |i: usize| position[i] - self.origin - self.reference[i].centre.as_dvec3();
        // In a cell those that have wrapped meanwhile are taken to have moved about as far as the first.
        let first = if self.cell.is_some() && count > 0 { displacement(0) } else { DVec3::ZERO };
        let beyond = |i: usize| self.up_to_periods(displacement(i) - first);
        first + self.samples().map(beyond).sum::<DVec3>() / count.max(1) as f64
    }

    /// A few particles.
    fn samples(&self) -> impl ExactSizeIterator<Item = usize> {
        let (all, count) = (self.reference.len(), self.reference.len().min(SAMPLES));
        (0..count).map(move |k| k * all / count)
    }

    /// The shortest of the displacements that differ by whole periods.
    fn up_to_periods(&self, displacement: DVec3) -> DVec3 {
        match &self.cell {
            None => displacement,
            Some(cell) => cell.shortest(displacement),
        }
    }

    fn make(&mut self, balls: Balls, skin: impl Fn(usize) -> f64, wanted: impl Fn(u32, u32) -> bool + Sync) {
        let Balls { centre: position, extent, .. } = balls;
        self.origin = position.get(position.len() / 2).copied().unwrap_or_default();
        self.reference.clear();
        self.reference.reserve_exact(position.len());
        let balls = position.iter().zip(extent).enumerate();
        self.reference.extend(balls.map(|(i, (x, extent))| Reference::new(*x - self.origin, extent + skin(i))));
        let reach = |i: usize| f64::from(self.reference[i].extent);
        let grid = Grid::of(self.cell, position, reach);
        let across = grid.across(position.len());
        self.start.clear();
        self.start.reserve_exact(position.len() + 1);
        self.start.push(0);
        self.partners.clear();
        let chunks: Vec<usize> = (0..position.len()).step_by(CHUNK).collect();
        for batch in chunks.chunks(BATCH) {
            let search = |&from: &usize| {
                let (mut counts, mut all, mut found) = (Vec::with_capacity(CHUNK), Vec::new(), Vec::new());
                for (i, &centre) in position.iter().enumerate().skip(from).take(CHUNK) {
                    found.clear();
                    grid.partners_of_its_size(i as u32, centre, reach(i), &mut found);
                    found.extend_from_slice(across.of(i));
                    tidy(&mut found);
                    found.retain(|j| wanted(i as u32, *j));
                    all.extend_from_slice(&found);
                    counts.push(found.len() as u32);
                }
                (counts, all)
            };
            let found: Vec<(Vec<u32>, Vec<u32>)> = batch.par_iter().map(search).collect();
            let more = found.iter().map(|(_, partners)| partners.len()).sum();
            reserve(&mut self.partners, more);
            for (counts, partners) in found {
                self.partners.extend(partners);
                let mut end = self.start.last().copied().unwrap_or(0);
                self.start.extend(counts.iter().map(|count| {
                    end += count;
                    end
                }));
            }
        }
        self.made = self.partners.len();
        self.drifted = 0.0;
        let farthest = |so_far: f64, (i, centre): (usize, &DVec3)| so_far.max(reaching(*centre, reach(i)));
        self.farthest = position.iter().enumerate().fold(0.0, farthest);
        self.renewed.clear();
        self.earlier = 0;
        self.rounding = self.reference.iter().map(Reference::rounding).fold(0.0, f64::max);
        let Grid { levels, entries } = grid;
        self.levels = levels;
        self.ids.resize_with(entries.len(), Vec::new);
        for (ids, entries) in self.ids.iter_mut().zip(&entries) {
            ids.clear();
            reserve(ids, entries.len());
            ids.extend(entries.iter().map(|entry| entry.id));
        }
    }
}

#[cfg(test)]
mod size_tests;
#[cfg(test)]
mod tests;
