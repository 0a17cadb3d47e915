//! The rows of a step's projection: every pair that could meet in it, and every glued pair.

use glam::DVec3;
use rayon::prelude::*;

use crate::adhesion::{Adhesion, Step};
use crate::contact::{Contact, Pair, Partner};
use crate::geometry::{Particles, Placed};
use crate::neighbours::Grid;
use crate::projection::{Row, WALL};

/// Particles per parallel task: fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 512;
/// Chunks searched before their results are joined: bounds what is held twice.
const BATCH: usize = 8;

/// Further tangent planes to a curved feature that already has its row are numbered in the high bits of the feature.
/// They are dry: glue stays with the feature's own row.
const FURTHER_PLANE: u32 = 1 << 28;
/// Most further planes of a feature.
pub(super) const MOST_FURTHER_PLANES: u32 = 15;

/// The k-th plane of a feature; 0 is the feature's own.
pub(super) fn plane(feature: u32, k: u32) -> u32 {
    feature | (k * FURTHER_PLANE)
}

/// Whether a partner is the further plane of a feature.
pub(super) fn is_further_plane(partner: Partner) -> bool {
    matches!(partner, Partner::Obstacle { feature, .. } if feature >= FURTHER_PLANE)
}

/// Pairs that could meet, sorted, the row of each, and the impulse to start from.
#[derive(Default)]
pub(super) struct Candidates {
    pub pairs: Vec<Pair>,
    pub rows: Vec<Row>,
    pub warm: Vec<f64>,
}

/// A ball around each particle that holds all it may touch, and the balls in buckets.
struct Balls {
    extent: Vec<f64>,
    grid: Grid,
}

/// What the search for candidates reads.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub particles: &'a Particles,
    /// Contacts of the previous step, sorted by pair.
    pub contacts: &'a [Contact],
    /// Obstacles where they will be at the end of the step.
    pub obstacles: &'a [Placed<'a>],
    pub adhesion: &'a Adhesion,
    /// V^{n+1/2}.
    pub apriori: &'a [DVec3],
    /// How far the contacts may divert each particle from where V^{n+1/2} takes it.
    pub diversion: &'a [f64],
    pub dt: f64,
    /// Length of this (sub-)step relative to the one that the contacts' impulses are given for.
    pub warm_scale: f64,
    /// Pairs that are listed already, sorted.
    pub known: &'a [Pair],
}

/// A pair near enough to be looked at.
struct Near {
    pair: Pair,
    gap: f64,
    normal: DVec3,
}

impl Search<'_> {
    /// All pairs whose gap could close. Gaps of spheres and of convex obstacles are convex in the positions, so
    /// D(xⁿ⁺¹) ≥ D + h e·(V_j − V_i) ≥ D + h e·(V_j − V_i)^{n+1/2} − diversion_i − diversion_j:
    /// where the last is positive, nothing can happen. Only pairs that are not known yet are added.
    pub(super) fn run(&self, candidates: &mut Candidates) {
        let balls = self.balls();
        let starts: Vec<usize> = (0..self.particles.len()).step_by(CHUNK).collect();
        for batch in starts.chunks(BATCH) {
            let chunk = |&start: &usize| self.chunk(start, (start + CHUNK).min(self.particles.len()), &balls);
            let chunks: Vec<Candidates> = batch.par_iter().map(chunk).collect();
            candidates.append(chunks);
        }
    }

    /// The balls around xⁿ: the particle itself, its way relative to the crowd, and what contacts may divert it.
    fn balls(&self) -> Balls {
        let count = self.particles.len().max(1) as f64;
        let crowd = self.apriori.iter().sum::<DVec3>() / count;
        let way = |i: usize| (self.apriori[i] - crowd).length() * self.dt;
        let extent = |i: usize| self.particles.radius[i] + way(i) + self.diversion[i];
        let extent: Vec<f64> = (0..self.particles.len()).map(extent).collect();
        Balls { grid: Grid::new(&self.particles.position, &extent), extent }
    }

    fn chunk(&self, from: usize, to: usize, balls: &Balls) -> Candidates {
        let mut contacts = &self.contacts[self.contacts.partition_point(|c| (c.pair.first() as usize) < from)..];
        let mut candidates = Candidates::default();
        let (mut partners, mut near): (Vec<u32>, Vec<Near>) = (Vec::new(), Vec::new());
        for (i, &extent) in balls.extent.iter().enumerate().take(to).skip(from) {
            near.clear();
            balls.grid.partners(i as u32, self.particles.position[i], extent, &mut partners);
            near.extend(partners.iter().filter_map(|&j| self.near_particle(i, j as usize)));
            self.near_obstacles(i, &mut near);
            let mut near = near.iter().peekable();
            while let Some((contact, rest)) = contacts.split_first().filter(|(c, _)| c.pair.first() as usize == i) {
                while let Some(near) = near.next_if(|near| near.pair < contact.pair) {
                    self.add(near, None, &mut candidates);
                }
                if let Some(near) = near.next_if(|near| near.pair == contact.pair) {
                    self.add(near, Some(contact), &mut candidates);
                } else if contact.gamma < 0.0
                    && let Some((gap, normal)) = gap_of(contact.pair, self.particles, self.obstacles)
                {
                    // Glued pairs never leave the list.
                    self.add(&Near { pair: contact.pair, gap, normal }, Some(contact), &mut candidates);
                }
                contacts = rest;
            }
            for near in near {
                self.add(near, None, &mut candidates);
            }
        }
        candidates
    }

    fn near_particle(&self, i: usize, j: usize) -> Option<Near> {
        let (gap, normal) = self.particles.gap(i, j);
        let end_gap = gap + self.dt * normal.dot(self.apriori[j] - self.apriori[i]);
        let pair = Pair::particles(i as u32, j as u32);
        (end_gap <= self.diversion[i] + self.diversion[j]).then_some(Near { pair, gap, normal })
    }

    fn near_obstacles(&self, i: usize, near: &mut Vec<Near>) {
        let (centre, radius, step) = (self.particles.position[i], self.particles.radius[i], self.apriori[i] * self.dt);
        let reach = step.length() + self.diversion[i];
        for (k, obstacle) in self.obstacles.iter().enumerate() {
            if !obstacle.may_reach(centre, radius + reach) {
                continue;
            }
            obstacle.touches(centre, radius, reach, &mut |touch| {
                if !obstacle.is_convex() || touch.gap - touch.normal.dot(step) <= self.diversion[i] {
                    let pair = Pair::obstacle(i as u32, k as u32, touch.feature);
                    near.push(Near { pair, gap: touch.gap, normal: touch.normal });
                }
            });
        }
    }

    fn add(&self, near: &Near, contact: Option<&Contact>, to: &mut Candidates) {
        if self.known.binary_search(&near.pair).is_ok() {
            return;
        }
        to.pairs.push(near.pair);
        to.rows.push(self.row(near.pair, (near.gap, near.normal), contact));
        to.warm.push(contact.map_or(0.0, |contact| contact.impulse * self.warm_scale));
    }

    pub(super) fn row(&self, pair: Pair, (gap, normal): (f64, DVec3), contact: Option<&Contact>) -> Row {
        let step = Step { particles: self.particles, dt: self.dt };
        let j = match pair.partner() {
            Partner::Particle(j) => j,
            Partner::Obstacle { .. } => WALL,
        };
        let lower = contact.map_or(0.0, |contact| self.adhesion.lower(pair, contact.gamma, &step));
        Row { i: pair.first(), j, normal, gap, lower }
    }
}

impl Candidates {
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.rows.clear();
        self.warm.clear();
    }

    /// Rows that come in any order, to start from nothing.
    pub(super) fn sorted(mut rows: Vec<(Pair, Row)>) -> Self {
        rows.sort_by_key(|(pair, _)| *pair);
        let warm = vec![0.0; rows.len()];
        let (pairs, rows) = rows.into_iter().unzip();
        Self { pairs, rows, warm }
    }

    /// Joins two sorted lists, from the back and in place.
    pub(super) fn merge(&mut self, other: &Self) {
        debug_assert!(self.pairs.is_sorted() && other.pairs.is_sorted());
        let (mut ours, mut theirs) = (self.pairs.len(), other.pairs.len());
        self.reserve(theirs);
        self.pairs.extend_from_slice(&other.pairs);
        self.rows.extend_from_slice(&other.rows);
        self.warm.extend_from_slice(&other.warm);
        while theirs > 0 {
            let to = ours + theirs - 1;
            if ours > 0 && self.pairs[ours - 1] > other.pairs[theirs - 1] {
                ours -= 1;
                (self.pairs[to], self.rows[to], self.warm[to]) = (self.pairs[ours], self.rows[ours], self.warm[ours]);
            } else {
                theirs -= 1;
                (self.pairs[to], self.rows[to], self.warm[to]) =
                    (other.pairs[theirs], other.rows[theirs], other.warm[theirs]);
            }
        }
    }

    /// Room for exactly so many more: lists of many steps must not grow by doubling.
    fn reserve(&mut self, count: usize) {
        self.pairs.reserve_exact(count);
        self.rows.reserve_exact(count);
        self.warm.reserve_exact(count);
    }

    fn append(&mut self, chunks: Vec<Self>) {
        self.reserve(chunks.iter().map(|chunk| chunk.rows.len()).sum());
        for chunk in chunks {
            self.pairs.extend(chunk.pairs);
            self.rows.extend(chunk.rows);
            self.warm.extend(chunk.warm);
        }
    }
}

/// Gap and normal of a pair, whatever its distance; none if the obstacle has no such feature.
pub(super) fn gap_of(pair: Pair, particles: &Particles, obstacles: &[Placed]) -> Option<(f64, DVec3)> {
    let i = pair.first() as usize;
    match pair.partner() {
        Partner::Particle(j) => Some(particles.gap(i, j as usize)),
        Partner::Obstacle { obstacle, feature } => obstacles[obstacle as usize]
            .gap_of(particles.position[i], particles.radius[i], feature % FURTHER_PLANE)
            .map(|touch| (touch.gap, touch.normal)),
    }
}
