//! The rows of a step's projection: every pair that could meet in it, and every glued pair.

use glam::DVec3;
use rayon::prelude::*;

use crate::adhesion::{Adhesion, Step};
use crate::contact::{Contact, Pair, Partner};
use crate::geometry::{Particles, Placed};
use crate::neighbours;
use crate::projection::{Row, WALL};

/// Particles per parallel task: fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 1024;

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

/// Pairs that could meet, sorted, and the row of each.
#[derive(Default)]
pub(super) struct Candidates {
    pub pairs: Vec<Pair>,
    pub rows: Vec<Row>,
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
    /// How far each particle may move in the step.
    pub reach: &'a [f64],
    pub dt: f64,
    /// Length of this (sub-)step relative to the one that the contacts' impulses are given for.
    pub warm_scale: f64,
}

impl Search<'_> {
    pub(super) fn run(&self) -> Candidates {
        let neighbours = neighbours::pairs(&self.particles.position, &self.particles.radius, self.reach);
        let chunks: Vec<Candidates> = (0..self.particles.len())
            .into_par_iter()
            .step_by(CHUNK)
            .map(|start| self.chunk(start, (start + CHUNK).min(self.particles.len()), &neighbours))
            .collect();
        let count = chunks.iter().map(|chunk| chunk.rows.len()).sum();
        let mut all = Candidates { pairs: Vec::with_capacity(count), rows: Vec::with_capacity(count) };
        for chunk in chunks {
            all.pairs.extend(chunk.pairs);
            all.rows.extend(chunk.rows);
        }
        all
    }

    fn chunk(&self, from: usize, to: usize, neighbours: &[(u32, u32)]) -> Candidates {
        let mut neighbours = &neighbours[neighbours.partition_point(|pair| (pair.0 as usize) < from)..];
        let mut contacts = &self.contacts[self.contacts.partition_point(|c| (c.pair.first() as usize) < from)..];
        let mut candidates = Candidates::default();
        let mut near: Vec<(Pair, f64, DVec3)> = Vec::new();
        for i in from..to {
            near.clear();
            while let Some(((_, j), rest)) = neighbours.split_first().filter(|(pair, _)| pair.0 as usize == i) {
                let (gap, normal) = self.particles.gap(i, *j as usize);
                near.push((Pair::particles(i as u32, *j), gap, normal));
                neighbours = rest;
            }
            self.touched_obstacles(i, &mut near);
            let mut near = near.iter().peekable();
            while let Some((contact, rest)) = contacts.split_first().filter(|(c, _)| c.pair.first() as usize == i) {
                while let Some((pair, gap, normal)) = near.next_if(|n| n.0 < contact.pair) {
                    candidates.push(*pair, self.row(*pair, (*gap, *normal), None));
                }
                if let Some((pair, gap, normal)) = near.next_if(|n| n.0 == contact.pair) {
                    candidates.push(*pair, self.row(*pair, (*gap, *normal), Some(contact)));
                } else if contact.gamma < 0.0
                    && let Some(geometry) = gap_of(contact.pair, self.particles, self.obstacles)
                {
                    candidates.push(contact.pair, self.row(contact.pair, geometry, Some(contact)));
                }
                contacts = rest;
            }
            for (pair, gap, normal) in near {
                candidates.push(*pair, self.row(*pair, (*gap, *normal), None));
            }
        }
        candidates
    }

    fn touched_obstacles(&self, i: usize, near: &mut Vec<(Pair, f64, DVec3)>) {
        let (centre, radius, reach) = (self.particles.position[i], self.particles.radius[i], self.reach[i]);
        for (k, obstacle) in self.obstacles.iter().enumerate() {
            if obstacle.may_reach(centre, radius + reach) {
                obstacle.touches(centre, radius, reach, &mut |touch| {
                    near.push((Pair::obstacle(i as u32, k as u32, touch.feature), touch.gap, touch.normal));
                });
            }
        }
    }

    pub(super) fn row(&self, pair: Pair, (gap, normal): (f64, DVec3), contact: Option<&Contact>) -> Row {
        let step = Step { particles: self.particles, dt: self.dt };
        let j = match pair.partner() {
            Partner::Particle(j) => j,
            Partner::Obstacle { .. } => WALL,
        };
        let (gamma, impulse) = contact.map_or((0.0, 0.0), |c| (c.gamma, c.impulse));
        let lower = self.adhesion.lower(pair, gamma, &step);
        Row { i: pair.first(), j, normal, gap, lower, warm: impulse * self.warm_scale }
    }
}

impl Candidates {
    fn push(&mut self, pair: Pair, row: Row) {
        self.pairs.push(pair);
        self.rows.push(row);
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
