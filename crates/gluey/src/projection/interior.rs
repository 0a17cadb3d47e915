//! A block of a problem: its bodies, the rows between them, and the letters to copies of its bodies elsewhere.

use std::slice::from_ref;

use glam::DVec3;

use super::border::{Border, Run, copies_of};
use super::listing::Listing;
use super::quads::{Joining, Objective, PIECE, Quads, WALLS};
use super::sweep::{Body, Earlier, Motion};
use super::{Problem, WALL};
use crate::buffer::{reserve, reset};
use crate::prefetch::prefetch;

/// Bodies whose rows and velocities are asked for in advance: bodies near each other in space may have been listed far from each other.
pub(super) const AHEAD: u32 = 24;

/// Which block a body is in, by its rank.
#[derive(Clone, Copy)]
pub(super) struct Cut<'a> {
    pub rank: &'a [u32],
    /// Bodies of a block; the last may have fewer.
    pub size: usize,
}

/// The bodies of a block and the rows between them.
#[derive(Default)]
pub(super) struct Interior {
    /// Rank of its first body.
    pub first: usize,
    /// Velocities of the swept point; the last ones are walls.
    pub bodies: Vec<Body>,
    /// Velocities of the swept point before, or moves from there.
    pub before: Vec<Earlier>,
    /// The rows between them,
    pub rows: Quads,
    /// some of them while they are laid out,
    piece: Vec<Joining>,
    /// and those of the problem from them to other blocks, sorted.
    across: Vec<Across>,
    /// How many copies each body has, and how many of them have been met while they are listed.
    pub copies: Vec<[u16; 2]>,
    /// The body of each copy, border by border,
    pub copied: Vec<u32>,
    /// 1/k of each,
    pub share: Vec<f64>,
    /// and where the copies are, in this order.
    pub arrivals: Vec<Run>,
    /// Copies of the bodies that have several.
    several: Vec<Arrival>,
    /// The velocity of the body of each copy, for this to take. Were it read where it is, the processors of two
    /// threads would hand the memory of whole bodies to and fro, and that of their neighbours with it.
    pub letters: Vec<[f64; 3]>,
    pub motion: Motion,
    /// Σ m |V − V before|².
    pub energy: f64,
    pub residual_squared: f64,
    pub objective: Objective,
}

/// A row of the problem from one block to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Across {
    /// The block it leads to,
    pub to: u32,
    /// the rank of the body it starts from,
    pub rank: u32,
    /// and which it is.
    pub row: u32,
}

/// One of several copies that tell a body its velocity.
struct Arrival {
    body: u32,
    border: u32,
    copy: u32,
    /// Whether it is the first for this body.
    first: bool,
    /// 1/k.
    share: f64,
}

impl Interior {
    /// The bodies from rank `first` on.
    pub fn load(&mut self, problem: &Problem, first: usize, size: usize) {
        let count = size.min(problem.bodies() - first);
        self.first = first;
        self.copied.clear();
        self.share.clear();
        self.arrivals.clear();
        self.several.clear();
        self.bodies.clear();
        self.before.clear();
        reserve(&mut self.bodies, count + WALLS);
        reserve(&mut self.before, count);
        for at in first..first + count {
            let inverse_mass = *along_and_ahead(problem, problem.prediction.metric.inverse_mass(), at);
            let velocity = along_and_ahead(problem, &problem.prediction.velocity, at).to_array();
            let mass = if inverse_mass > 0.0 { inverse_mass.recip() } else { 0.0 };
            self.bodies.push(Body { velocity, inverse_mass });
            self.before.push(Earlier { velocity: [0.0; 3], mass });
        }
        self.bodies.extend([Body::default(); WALLS]);
    }

    /// Lays out the rows between its bodies, adds what they give to V, and lists those that start from them and lead elsewhere.
    pub fn fill(&mut self, start: (&Problem, &[f64]), listing: &Listing, cut: Cut) {
        let Self { first, bodies, before, piece, across, rows, .. } = self;
        let (problem, first, count) = (start.0, *first as u32, before.len() as u32);
        across.clear();
        piece.clear();
        rows.clear(bodies);
        for i in 0..count {
            if i + AHEAD < count {
                let later = listing.range(problem.along((first + i + AHEAD) as usize));
                prefetch(&problem.rows[later.clone()]);
                prefetch(&start.1[later]);
            }
            for row in listing.from(problem.along((first + i) as usize)) {
                let partner = problem.rows[row as usize].j;
                let j = if partner == WALL { WALL } else { cut.rank[partner as usize] };
                if j == WALL || j.wrapping_sub(first) < count {
                    reserve(piece, 1);
                    piece.push(Joining { row, i, j: if j == WALL { WALL } else { j - first } });
                } else {
                    reserve(across, 1);
                    across.push(Across { to: j / cut.size as u32, rank: first + i, row });
                }
            }
            if piece.len() >= PIECE {
                rows.add(piece, start, bodies);
                piece.clear();
            }
        }
        rows.add(piece, start, bodies);
        across.sort_unstable();
    }

    /// Lists the copies of its bodies, and the way they come back.
    pub fn find_copies(&mut self, borders: &[Border]) {
        let Self { copies, copied, share, arrivals, several, letters, .. } = self;
        let (first, last) = (self.first as u32, (self.first + self.before.len()) as u32);
        reset(copies, self.before.len(), [0; 2]);
        for (of, border) in (0..).zip(borders) {
            let [from, to] = [first, last].map(|rank| border.homes.partition_point(|home| *home < rank));
            if from == to {
                continue;
            }
            reserve(arrivals, 1);
            arrivals.push(Run { of, first: from as u32, count: (to - from) as u32 });
            reserve(copied, to - from);
            copied.extend(border.homes[from..to].iter().map(|home| home - first));
        }
        for body in &*copied {
            copies[*body as usize][0] += 1;
        }
        reserve(share, copied.len());
        let mut of_copy = copied.iter();
        for run in arrivals {
            for (copy, &body) in run.range().zip(&mut of_copy) {
                let [count, met] = &mut copies[body as usize];
                let part = f64::from(*count).recip();
                share.push(part);
                if *count > 1 {
                    reserve(several, 1);
                    several.push(Arrival { body, border: run.of, copy: copy as u32, first: *met == 0, share: part });
                    *met += 1;
                }
            }
        }
        reset(letters, copied.len(), [0.0; 3]);
    }

    /// The rows that start from its bodies and lead to another block.
    pub fn to(&self, block: u32) -> &[Across] {
        let rows = &self.across[self.across.partition_point(|row| row.to < block)..];
        &rows[..rows.partition_point(|row| row.to == block)]
    }

    /// Remembers the last moves in the place of velocities before them.
    pub fn hold(&mut self) {
        self.each_body(|body, before| add(&mut before.velocity, body.velocity, -1.0));
    }

    pub fn each_body(&mut self, mut visit: impl FnMut(&Body, &mut Earlier)) {
        self.bodies.iter().zip(&mut self.before).for_each(|(body, before)| visit(body, before));
    }

    /// Tells the copies the velocities of their bodies.
    pub fn write(&mut self) {
        for (letter, body) in self.letters.iter_mut().zip(&self.copied) {
            *letter = self.bodies[*body as usize].velocity;
        }
    }

    /// Bodies take the mean velocity of their copies.
    pub fn take(&mut self, borders: &[Border]) {
        let mut copied = self.copied.iter();
        for run in &self.arrivals {
            for (copy, body) in borders[run.of as usize].copies[run.range()].iter().zip(&mut copied) {
                self.bodies[*body as usize].velocity = copy.velocity;
            }
        }
        for &Arrival { body, border, copy, first, share } in &self.several {
            let velocity = borders[border as usize].copies[copy as usize].velocity;
            let body = &mut self.bodies[body as usize];
            if first {
                body.velocity = velocity.map(|v| share * v);
            } else {
                add(&mut body.velocity, velocity, share);
            }
        }
    }

    /// Bodies add the velocities that copies have been given by the rows of borders alone.
    pub fn add_copies(&mut self, borders: &[Border]) {
        for ((body, share), copy) in self.copied.iter().zip(&self.share).zip(copies_of(&self.arrivals, borders)) {
            add(&mut self.bodies[*body as usize].velocity, copy.velocity, *share);
        }
        self.write();
    }

    /// Σ m |d|² of the moves that are held.
    pub fn energy_held(&self) -> f64 {
        self.before.iter().map(|held| held.mass * DVec3::from(held.velocity).length_squared()).sum()
    }

    /// Σ m |V − V^{n+1/2}|².
    pub fn energy_added(&self, problem: &Problem) -> f64 {
        let bodies = self.bodies.iter().zip(&self.before).enumerate();
        let energy = |(at, (body, before)): (usize, (&Body, &Earlier))| {
            let apriori = problem.prediction.velocity[problem.along(self.first + at)];
            before.mass * (DVec3::from(body.velocity) - apriori).length_squared()
        };
        bodies.map(energy).sum()
    }
}

/// The entry of the body at this place of the order, while one of those that come next is asked for.
pub(super) fn along_and_ahead<'a, T>(problem: &Problem, entries: &'a [T], at: usize) -> &'a T {
    let later = at + AHEAD as usize;
    if later < entries.len() {
        prefetch(from_ref(&entries[problem.along(later)]));
    }
    &entries[problem.along(at)]
}

pub(super) fn add(to: &mut [f64; 3], vector: [f64; 3], times: f64) {
    for axis in 0..3 {
        to[axis] += vector[axis] * times;
    }
}
