//! The ways to the exits: how far walls are, and where to walk.
//!
//! A person walks the shortest way that keeps its centre at the distance ρ from all walls. Rather than forbidding what
//! is nearer, which would give the staircases of the grid to corners, walking there is made slow,
//!
//! n(x) = max(1, ρ/φ(x))^{3/2},  φ the distance to the nearest wall.
//!
//! The shortest ways stay the same: to go around a corner by the angle θ at the distance s < ρ takes n(s) s θ, which
//! falls as s grows, as it does for every power above 1. But φ is known exactly at every node, so that a corner is
//! round on the grid too; and who is pressed nearer to a wall still has a way.

use std::collections::BinaryHeap;

use glam::DVec2;
use rayon::prelude::*;

use super::exit::Exit;
use super::fast_marching::{Arrival, Grid, Seed, march};
use crate::geometry::Placed;

/// Power of ρ/φ in the slowness near walls; above 1.
const POWER: f64 = 1.5;
/// Cells around an exit in which times are found on straight lines; a distance of ρ if that is more.
const EXACT_CELLS: f64 = 4.0;
/// Nodes nearer to a wall than this many cells are closed: two neighbours farther from it are on the same side.
const CLOSED: f64 = 0.5;
/// Nodes within this many cells of an exit are next to it.
const NEXT: f64 = 1.5;
/// Samples a cell along straight lines.
const SAMPLES: f64 = 2.0;

/// The walls and the exits as a grid sees them.
pub(super) struct Survey<'a> {
    pub walls: Vec<Placed<'a>>,
    pub exits: &'a [Exit],
    pub grid: Grid,
    /// φ of each node, at most `horizon` (length).
    pub clearance: Vec<f64>,
    horizon: f64,
    /// Nodes next to an exit, which may lie between them and their neighbours.
    at_exit: Vec<bool>,
}

impl<'a> Survey<'a> {
    /// Measures distances to walls up to `horizon` (length).
    pub(super) fn new(walls: Vec<Placed<'a>>, exits: &'a [Exit], grid: Grid, horizon: f64) -> Self {
        let mut survey = Self { walls, exits, clearance: Vec::new(), horizon, at_exit: vec![false; grid.len()], grid };
        let nodes = (0..survey.grid.len()).into_par_iter();
        survey.clearance = nodes.map(|node| survey.clearance_at(survey.grid.place(node))).collect();
        for exit in exits {
            for (node, _) in survey.nodes_near(exit.from, exit.to, NEXT * survey.grid.cell()) {
                survey.at_exit[node] = true;
            }
        }
        survey
    }

    /// φ (length), at most the horizon.
    fn clearance_at(&self, point: DVec2) -> f64 {
        let mut least = self.horizon;
        for wall in &self.walls {
            wall.touches(point.extend(0.0), 0.0, least, &mut |touch| least = least.min(touch.gap));
        }
        least
    }

    /// Nodes within a distance of a segment (lengths), and where they, or their images, are.
    fn nodes_near(&self, a: DVec2, b: DVec2, distance: f64) -> Vec<(usize, DVec2)> {
        let near = |(_, place): &(usize, DVec2)| closest(a, b, *place).distance(*place) <= distance;
        self.grid.within(a.min(b) - distance, a.max(b) + distance).filter(near).collect()
    }

    fn is_open(&self, clearance: f64) -> bool {
        clearance > CLOSED * self.grid.cell()
    }

    /// n at the distance φ from the walls, for who keeps ρ.
    fn slowness(&self, clearance: f64, keep: f64) -> f64 {
        if self.is_open(clearance) { (keep / clearance).max(1.0).powf(POWER) } else { f64::INFINITY }
    }

    /// The part of an exit that is at least ρ from all walls; where there is none, its widest place.
    fn clear_part(&self, exit: &Exit, keep: f64) -> (DVec2, DVec2) {
        let along = exit.to - exit.from;
        let count = (SAMPLES * along.length() / self.grid.cell()).ceil().max(1.0) as usize + 1;
        let share = |k: usize| k as f64 / count as f64;
        let clearance = |share: f64| self.clearance_at(exit.from + share * along);
        let samples: Vec<f64> = (0..=count).map(|k| clearance(share(k))).collect();
        let widest = samples.iter().copied().fold(0.0, f64::max);
        let level = keep.min(widest);
        let is_clear = |clearance: &f64| *clearance >= level;
        let first = samples.iter().position(is_clear).unwrap_or(0);
        let last = samples.iter().rposition(is_clear).unwrap_or(count);
        let edge = |mut clear: f64, mut narrow: f64| {
            for _ in 0..f64::MANTISSA_DIGITS {
                let middle = 0.5 * (clear + narrow);
                if is_clear(&clearance(middle)) {
                    clear = middle;
                } else {
                    narrow = middle;
                }
            }
            exit.from + clear * along
        };
        (edge(share(first), share(first.saturating_sub(1))), edge(share(last), share((last + 1).min(count))))
    }

    /// The time ∫ n of the straight way between two points and the least distance to a wall on it; none where it is
    /// closed.
    fn straight(&self, a: DVec2, b: DVec2, keep: f64) -> Option<(f64, f64)> {
        let count = (SAMPLES * a.distance(b) / self.grid.cell()).ceil().max(1.0) as usize;
        let (mut sum, mut narrowest) = (0.0, f64::INFINITY);
        for k in 0..=count {
            let clearance = self.clearance_at(a.lerp(b, k as f64 / count as f64));
            let weight = if k == 0 || k == count { 0.5 } else { 1.0 };
            sum += weight * self.slowness(clearance, keep);
            narrowest = narrowest.min(clearance);
        }
        self.is_open(narrowest).then(|| (a.distance(b) * sum / count as f64, narrowest))
    }

    /// What is known near the exits, and the least distance to a wall on the way from there.
    fn seeds(&self, keep: f64) -> Vec<(Seed, f64)> {
        let mut seeds = Vec::new();
        for (k, exit) in self.exits.iter().enumerate() {
            let (from, to) = self.clear_part(exit, keep);
            for (node, place) in self.nodes_near(from, to, keep.max(EXACT_CELLS * self.grid.cell())) {
                let foot = closest(from, to, place);
                let Some((time, narrowest)) = self.straight(place, foot, keep) else { continue };
                let label = 2 * k as u32 + u32::from(exit.is_beyond(place));
                let towards = (foot - place).try_normalize().unwrap_or(exit.normal());
                let exact = time <= place.distance(foot) * (1.0 + 1e-9);
                seeds.push((Seed { node, time, towards, label, exact }, narrowest));
            }
        }
        seeds
    }

    fn are_parted(&self, a: usize, b: usize) -> bool {
        if !(self.at_exit[a] && self.at_exit[b]) {
            return false;
        }
        let (place, offset, margin) = (self.grid.place(a), self.grid.offset(a, b), 2.0 * NEXT * self.grid.cell());
        self.exits.iter().any(|exit| {
            let (lower, upper) = (exit.from.min(exit.to) - margin, exit.from.max(exit.to) + margin);
            self.grid.images(place, lower, upper).any(|place| exit.parts(place, place + offset))
        })
    }

    /// T of those who keep the distance ρ (length), from either side of the exits: labels are 2k on the inner side of
    /// exit k, and 2k + 1 beyond it.
    pub(super) fn march(&self, keep: f64) -> Arrival {
        let slowness: Vec<f64> = self.clearance.iter().map(|clearance| self.slowness(*clearance, keep)).collect();
        let seeds: Vec<Seed> = self.seeds(keep).into_iter().map(|(seed, _)| seed).collect();
        march(&self.grid, &slowness, &seeds, &|a, b| self.are_parted(a, b))
    }

    /// For each node the greatest radius that finds room all the way to an exit, as far as the nodes tell.
    pub(super) fn widest_ways(&self) -> Vec<f64> {
        let mut widest = vec![0.0; self.grid.len()];
        let mut queue = BinaryHeap::new();
        // Radii > 0 sort as their bits do.
        let mut offer = |queue: &mut BinaryHeap<_>, node: usize, room: f64| {
            if room > widest[node] {
                widest[node] = room;
                queue.push((room.to_bits(), node));
            }
        };
        for (seed, narrowest) in self.seeds(self.horizon) {
            offer(&mut queue, seed.node, narrowest);
        }
        while let Some((room, node)) = queue.pop() {
            for (axis, forward) in [(0, false), (0, true), (1, false), (1, true)] {
                if let Some(next) = self.grid.next(node, axis, forward)
                    && self.is_open(self.clearance[next])
                    && !self.are_parted(node, next)
                {
                    offer(&mut queue, next, self.clearance[next].min(f64::from_bits(room)));
                }
            }
        }
        widest
    }
}

/// Where to walk, for who keeps a distance from walls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    /// Unit vectors, one a node; zero where no exit is reached.
    towards: Vec<DVec2>,
    /// Whether a node is at that distance.
    is_clear: Vec<bool>,
}

impl Field {
    /// The ways of those who keep the distance ρ (length). Beyond an exit they lead straight out.
    pub(super) fn new(survey: &Survey, keep: f64) -> Self {
        let mut arrival = survey.march(keep);
        for (towards, label) in arrival.towards.iter_mut().zip(&arrival.label) {
            if label % 2 == 1 && *towards != DVec2::ZERO {
                *towards = survey.exits[*label as usize / 2].out.normalize();
            }
        }
        Self { towards: arrival.towards, is_clear: survey.clearance.iter().map(|c| *c >= keep).collect() }
    }

    /// Unit vector along the way from a point; zero where there is none. Nodes that are too near to walls say where
    /// those go who stand there, and are asked only where all are.
    pub(super) fn direction(&self, grid: &Grid, point: DVec2) -> DVec2 {
        let around = grid.around(point);
        let mean = |asked: &dyn Fn(usize) -> bool| -> DVec2 {
            around.iter().filter(|(node, _)| asked(*node)).map(|(node, weight)| *weight * self.towards[*node]).sum()
        };
        let of_clear = mean(&|node| self.is_clear[node]).normalize_or_zero();
        if of_clear == DVec2::ZERO { mean(&|_| true).normalize_or_zero() } else { of_clear }
    }
}

/// The point of a segment that is closest to a point; the segment may be a point.
fn closest(a: DVec2, b: DVec2, point: DVec2) -> DVec2 {
    let along = b - a;
    let square = along.length_squared();
    if square > 0.0 { a + ((point - a).dot(along) / square).clamp(0.0, 1.0) * along } else { a }
}
