//! The search for the contacts of a sub-step: every pair that could meet in it, and every glued pair.

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use crate::adhesion::{Adhesion, Step};
use crate::contact::{Contact, Pair, Partner};
use crate::geometry::{Obstacle, Particles, Touch};
use crate::projection::Row;

use super::Refusal;
use super::contacts::{Columns, Slot, dry_row};
use super::vicinity::Vicinity;
use crate::geometry::Walls;

/// Particles per parallel task: fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 512;
/// Chunks that are searched before their results are joined, which bounds what is held twice:
const BATCH: usize = 64;
/// so many a thread where that is more.
const CHUNKS_A_THREAD: usize = 4;

/// Further tangent planes to a curved feature that already has its row are numbered in the high bits of the feature, and so
/// are further images of a feature in a periodic cell. They are dry: glue stays with the feature's own row, which is that of
/// the nearest image.
const FURTHER_PLANE: u32 = 1 << 28;
/// Most further planes of a feature.
pub(super) const MOST_FURTHER_PLANES: u32 = 15;

/// The k-th plane of a feature; 0 is the feature's own.
pub(super) fn plane(feature: u32, k: u32) -> u32 {
    feature | (k * FURTHER_PLANE)
}

/// The feature that a plane belongs to.
pub(super) fn feature_of(plane: u32) -> u32 {
    plane % FURTHER_PLANE
}

/// Whether a partner is the further plane of a feature.
pub(super) fn is_further_plane(partner: Partner) -> bool {
    matches!(partner, Partner::Obstacle { feature, .. } if feature >= FURTHER_PLANE)
}

/// What the search for candidates reads.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub particles: &'a Particles,
    /// Contacts of the previous step, sorted by pair.
    pub contacts: &'a [Contact],
    pub obstacles: &'a [Obstacle],
    /// Where these will be at the end of the step.
    pub walls: Walls<'a>,
    /// The clump of each particle; empty where there are none.
    pub owner: &'a [u32],
    pub adhesion: &'a Adhesion,
    /// V^{n+1/2}.
    pub apriori: &'a [DVec3],
    /// How far the contacts may divert each particle from where V^{n+1/2} takes it.
    pub deflection: &'a [f64],
    pub dt: f64,
    /// The smallest radius.
    pub length: f64,
    /// The part of the deflections that stays however short the step is.
    pub margin: f64,
    /// Length of this (sub-)step relative to the one that the contacts' impulses are given for.
    pub warm_scale: f64,
}

/// A solution, and who was diverted further than expected, in it or in one before it.
#[derive(Clone, Copy)]
pub(super) struct Deflected<'a> {
    /// Vⁿ⁺¹.
    pub velocity: &'a [DVec3],
    /// Who was.
    pub exceeded: &'a [bool],
    /// The pairs it took into account, sorted.
    pub listed: &'a [Pair],
}

/// A pair near enough to be looked at.
struct Near {
    pair: Pair,
    gap: f64,
    normal: DVec3,
    /// Square of the tangential speed that V^{n+1/2} gives to it if it closes its gap; 0 along a flat side, where one may
    /// slide as far as one likes.
    slip: f64,
}

impl Search<'_> {
    /// All pairs whose gap could close, in the place of those in the list. Gives the square of the largest tangential speed
    /// that V^{n+1/2} gives to those whose gap it closes. Gaps of spheres and of convex obstacles are convex
    /// in the positions, so
    /// D(xⁿ⁺¹) ≥ D + h e·(V_j − V_i) ≥ D + h e·(V_j − V_i)^{n+1/2} − diversion_i − diversion_j:
    /// where the last is positive, nothing can happen.
    pub(super) fn run(
        &self,
        vicinity: &mut Vicinity,
        slots: &mut Vec<Slot>,
        mut list: Columns,
    ) -> Result<f64, Refusal> {
        vicinity.update(self)?;
        let (vicinity, count) = (&*vicinity, self.particles.len());
        let threads = rayon::current_num_threads();
        if threads == 1 {
            list.truncate(0);
            return Ok(self.chunk(0..count, vicinity, list));
        }
        let (mut found, mut fastest) = (0, 0.0_f64);
        let batch = BATCH.max(CHUNKS_A_THREAD * threads);
        slots.resize_with(slots.len().max(batch), Slot::default);
        for start in (0..count).step_by(batch * CHUNK) {
            let slots = &mut slots[..(count - start).div_ceil(CHUNK).min(batch)];
            slots.par_iter_mut().enumerate().for_each(|(k, slot)| {
                let from = start + k * CHUNK;
                slot.columns().truncate(0);
                slot.fastest = self.chunk(from..(from + CHUNK).min(count), vicinity, slot.columns());
            });
            found = list.put(found, slots);
            fastest = slots.iter().fold(fastest, |fastest, slot| fastest.max(slot.fastest));
        }
        list.truncate(found);
        Ok(fastest)
    }

    /// Rows of pairs that are not listed and overlap at the end of the step with these velocities; by the lemma of
    /// [`pair_list`](super::pair_list) one of the two is among those who `exceeded`, and `deflection` is now at least what each was
    /// diverted by.
    ///
    /// The vicinity names them all: where D + h e·(V_j − V_i) < 0, |x_j − x_i| < r_i + r_j + h|V_i − c| + h|V_j − c| for the
    /// crowd's velocity c, and h|V_i − c| ≤ h|V_i^{n+1/2} − c| + δ_i: the balls of the two meet.
    pub(super) fn missed(&self, vicinity: &mut Vicinity, outcome: &Deflected) -> Result<Vec<(Pair, Row)>, Refusal> {
        let Deflected { velocity, exceeded, listed } = *outcome;
        vicinity.update(self)?;
        let mut missed = Vec::new();
        let mut look = |pair: Pair, gap: f64, normal: DVec3, relative: DVec3| {
            if gap + self.dt * normal.dot(relative) < 0.0 && listed.binary_search(&pair).is_err() {
                missed.push((pair, dry_row(pair, gap, normal)));
            }
        };
        for i in 0..self.particles.len() {
            for &j in vicinity.after(i).iter().filter(|j| exceeded[i] || exceeded[**j as usize]) {
                let (gap, normal) = self.particles.gap(i, j as usize);
                look(Pair::particles(i as u32, j), gap, normal, velocity[j as usize] - velocity[i]);
            }
            for k in 0..if exceeded[i] { self.walls.len() } else { 0 } {
                let reach = velocity[i].length() * self.dt;
                self.touches(i, k as u32, reach, &mut |pair, touch| look(pair, touch.gap, touch.normal, -velocity[i]));
            }
        }
        Ok(missed)
    }

    fn chunk(&self, particles: Range<usize>, vicinity: &Vicinity, list: Columns) -> f64 {
        let from = particles.start;
        let contacts = &self.contacts[self.contacts.partition_point(|c| (c.pair.first() as usize) < from)..];
        let mut joined = Joined { search: self, contacts, list, fastest: 0.0 };
        let mut obstacles = vicinity.near_from(from);
        for i in particles {
            self.near_particles(i, vicinity, &mut joined);
            let (here, later) = obstacles.split_at(obstacles.iter().take_while(|near| near.0 as usize == i).count());
            obstacles = later;
            self.near_obstacles(i, vicinity, here, &mut joined);
            joined.skip_until(|contact| contact.pair.first() as usize > i);
        }
        joined.fastest
    }

    fn near_particles(&self, i: usize, vicinity: &Vicinity, found: &mut Joined) {
        let (extent, after) = (vicinity.extent(i), vicinity.after(i));
        let (apriori, deflection) = (self.apriori[i], self.deflection[i]);
        found.list.reserve(after.len());
        for &j in after {
            let k = j as usize;
            // Many of those that are listed are out of reach; that needs no root.
            let offset = self.particles.offset(i, k);
            if offset.length_squared() > (extent + vicinity.extent(k)).powi(2) {
                continue;
            }
            let (gap, normal) = self.particles.gap_across(offset, i, k);
            let relative = self.apriori[k] - apriori;
            let closing = normal.dot(relative);
            if gap + self.dt * closing <= deflection + self.deflection[k] {
                let slip = self.slip(gap, normal, relative);
                found.add(&Near { pair: Pair::particles(i as u32, j), gap, normal, slip });
            }
        }
    }

    /// Asks the obstacles that may be in reach, in their order; `listed` are the fixed ones of them if these are known.
    fn near_obstacles(&self, i: usize, vicinity: &Vicinity, listed: &[(u32, u32)], found: &mut Joined) {
        let (radius, step) = (self.particles.radius[i], self.apriori[i] * self.dt);
        let reach = step.length() + self.deflection[i];
        if vicinity.covers(i, self.particles.position[i], radius + reach) {
            let mut always = vicinity.always().iter().peekable();
            for (_, fixed) in listed {
                while let Some(k) = always.next_if(|k| *k < fixed) {
                    self.near_obstacle(i, *k, (step, reach), found);
                }
                self.near_obstacle(i, *fixed, (step, reach), found);
            }
            always.for_each(|k| self.near_obstacle(i, *k, (step, reach), found));
        } else {
            (0..self.walls.len() as u32).for_each(|k| self.near_obstacle(i, k, (step, reach), found));
        }
    }

    fn near_obstacle(&self, i: usize, k: u32, (step, reach): (DVec3, f64), found: &mut Joined) {
        let (centre, radius) = (self.particles.position[i], self.particles.radius[i]);
        let placed = self.walls.get(k as usize);
        if !placed.touches_at_once() && !self.walls.may_reach(k as usize, centre, radius + reach) {
            return;
        }
        let convex = placed.is_convex();
        self.touches(i, k, reach, &mut |pair, touch| {
            if !convex || touch.gap - touch.normal.dot(step) <= self.deflection[i] {
                let slip = self.slip_of(pair, touch.gap, touch.normal);
                found.add(&Near { pair, gap: touch.gap, normal: touch.normal, slip });
            }
        });
    }

    /// Each feature of an obstacle whose gap to particle i is at most `reach`, with its name, in the order of the names.
    fn touches(&self, i: usize, k: u32, reach: f64, found: &mut impl FnMut(Pair, Touch)) {
        let (centre, radius) = (self.particles.position[i], self.particles.radius[i]);
        let (mut last, mut count, mut further) = (u32::MAX, 0, Vec::new());
        self.walls.get(k as usize).touches(centre, radius, reach, &mut |touch| {
            if touch.feature != last {
                (last, count) = (touch.feature, 0);
                found(Pair::obstacle(i as u32, k, touch.feature), touch);
            } else if count < MOST_FURTHER_PLANES {
                count += 1;
                further.push((Pair::obstacle(i as u32, k, plane(touch.feature, count)), touch));
            }
        });
        further.sort_by_key(|(pair, _)| *pair);
        for (pair, touch) in further {
            found(pair, touch);
        }
    }

    /// Square of the tangential part of a relative velocity that closes the gap; 0 if it does not.
    fn slip(&self, gap: f64, normal: DVec3, relative: DVec3) -> f64 {
        let closing = normal.dot(relative);
        // Who closes the gap is in no order: that is no branch for a processor to guess.
        f64::from(u8::from(gap + self.dt * closing < 0.0)) * (relative - normal * closing).length_squared()
    }

    /// The same for a pair, with the velocities V^{n+1/2}.
    fn slip_of(&self, pair: Pair, gap: f64, normal: DVec3) -> f64 {
        let partner = match pair.partner() {
            Partner::Particle(j) => self.apriori[j as usize],
            Partner::Obstacle { obstacle, .. } if self.obstacles[obstacle as usize].shape.is_flat() => return 0.0,
            Partner::Obstacle { .. } => DVec3::ZERO,
        };
        self.slip(gap, normal, partner - self.apriori[pair.first() as usize])
    }

    /// The row of a pair, which may have been in contact.
    fn row(&self, near: &Near, contact: Option<&Contact>) -> Row {
        let row = dry_row(near.pair, near.gap, near.normal);
        let Some(contact) = contact else { return row };
        let step = Step { particles: self.particles, obstacles: self.obstacles, dt: self.dt };
        Row { set: self.adhesion.admits(near.pair, contact.gamma, &step), ..row }
    }
}

/// Joins what is near, as it is found, with the contacts of the previous step; both come sorted.
struct Joined<'a> {
    search: &'a Search<'a>,
    /// Those that are still to come.
    contacts: &'a [Contact],
    list: Columns<'a>,
    fastest: f64,
}

impl Joined<'_> {
    /// A pair that is near.
    fn add(&mut self, near: &Near) {
        self.skip_until(|contact| contact.pair >= near.pair);
        let contact = self.contacts.first().filter(|contact| contact.pair == near.pair);
        if contact.is_some() {
            self.contacts = &self.contacts[1..];
        }
        self.push(near, contact);
    }

    /// Of the contacts that are near no longer the glued ones never leave the list.
    fn skip_until(&mut self, reached: impl Fn(&Contact) -> bool) {
        while let Some((contact, rest)) = self.contacts.split_first().filter(|(contact, _)| !reached(contact)) {
            self.contacts = rest;
            if contact.gamma < 0.0
                && let Some((gap, normal)) = gap_of(contact.pair, self.search.particles, self.search.walls)
            {
                let slip = self.search.slip_of(contact.pair, gap, normal);
                self.push(&Near { pair: contact.pair, gap, normal, slip }, Some(contact));
            }
        }
    }

    fn push(&mut self, near: &Near, contact: Option<&Contact>) {
        let Self { search, list, fastest, .. } = self;
        *fastest = fastest.max(near.slip);
        list.reserve(1);
        list.pairs.push(near.pair);
        list.rows.push(search.row(near, contact));
        list.impulses.push(contact.map_or(0.0, |contact| contact.impulse * search.warm_scale));
    }
}

/// Gap and normal of a pair, whatever its distance; none if the obstacle has no such feature.
pub(super) fn gap_of(pair: Pair, particles: &Particles, walls: Walls) -> Option<(f64, DVec3)> {
    let i = pair.first() as usize;
    match pair.partner() {
        Partner::Particle(j) => Some(particles.gap(i, j as usize)),
        Partner::Obstacle { obstacle, feature } => walls
            .get(obstacle as usize)
            .gap_of(particles.position[i], particles.radius[i], feature_of(feature))
            .map(|touch| (touch.gap, touch.normal)),
    }
}
