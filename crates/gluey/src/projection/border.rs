//! The rows of a block across to others, and copies of the bodies that they join.

use std::ops::Range;

use super::interior::{Across, Cut, Interior};
use super::quads::{Joining, Objective, PIECE, Quads, WALLS};
use super::sweep::{Body, Motion};
use super::{Problem, Row};
use crate::buffer::reserve;

/// The rows that a block owns across to others.
#[derive(Default)]
pub(super) struct Border {
    /// The rows of the problem, and the copies that they join.
    pub own: Vec<Joining>,
    /// Rank of each body that they join, sorted.
    pub homes: Vec<u32>,
    /// Copies of these bodies, k/m in place of 1/m; the last ones are walls.
    pub copies: Vec<Body>,
    /// Where the letters to the copies are, in their order.
    mail: Vec<Run>,
    /// Rank of each end of each row, and which end it is.
    sorted: Vec<u64>,
    pub rows: Quads,
    pub motion: Motion,
    pub residual_squared: f64,
    pub objective: Objective,
}

/// Letters of a block to copies, or copies in a border, that follow each other.
pub(super) struct Run {
    /// The block.
    pub of: u32,
    pub first: u32,
    pub count: u32,
}

impl Run {
    pub fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Copies that follow each other in some borders.
pub(super) fn copies_of<'a>(arrivals: &'a [Run], borders: &'a [Border]) -> impl Iterator<Item = &'a Body> {
    arrivals.iter().flat_map(|run| &borders[run.of as usize].copies[run.range()])
}

impl Border {
    /// Copies take the velocities of their bodies.
    pub fn take(&mut self, interiors: &[Interior]) {
        let mut copies = self.copies.iter_mut();
        for run in &self.mail {
            for (velocity, copy) in interiors[run.of as usize].letters[run.range()].iter().zip(&mut copies) {
                copy.velocity = *velocity;
            }
        }
    }

    /// The rows across that this block owns, and whom they join. Two blocks halve the rows between them, so that their borders
    /// are about equal: the lower has those of its neighbours that come first.
    pub fn list(&mut self, problem: &Problem, interiors: &[Interior], (block, cut): (u32, Cut)) {
        let Self { own, homes, sorted, .. } = self;
        own.clear();
        sorted.clear();
        for other in (0..interiors.len() as u32).filter(|other| *other != block) {
            let (low, high) = (block.min(other), block.max(other));
            let both = [interiors[low as usize].to(high), interiors[high as usize].to(low)];
            // Come first: on the side from which most of them start.
            let side = usize::from(both[0].len() < both[1].len());
            let Some(middle) = both[side].get(both[side].len() / 2) else { continue };
            for (from, rows) in both.into_iter().enumerate() {
                reserve(own, rows.len());
                reserve(sorted, 2 * rows.len());
                for &Across { rank, row, .. } in rows {
                    let Row { i, j, .. } = problem.rows[row as usize];
                    let ends = [rank, cut.rank[j as usize]];
                    let is_low = ends[usize::from(from != side)] < middle.rank;
                    if is_low != (block == low) {
                        continue;
                    }
                    for (end, rank) in ends.into_iter().enumerate() {
                        sorted.push(u64::from(rank) << 32 | (2 * own.len() + end) as u64);
                    }
                    own.push(Joining { row, i, j });
                }
            }
        }
        sorted.sort_unstable();
        homes.clear();
        reserve(homes, sorted.len());
        for &key in &*sorted {
            let (rank, end) = ((key >> 32) as u32, key as u32 as usize);
            if homes.last() != Some(&rank) {
                homes.push(rank);
            }
            let (row, copy) = (&mut own[end / 2], homes.len() as u32 - 1);
            if end.is_multiple_of(2) { row.i = copy } else { row.j = copy }
        }
    }

    /// Makes a copy of each body that the rows of this block's border join.
    pub fn copy_bodies(&mut self, interiors: &[Interior], block: u32) {
        let Self { homes, copies, mail, .. } = self;
        copies.clear();
        mail.clear();
        reserve(copies, homes.len() + WALLS);
        for (of, interior) in (0..).zip(interiors) {
            let mut first = 0;
            for arrival in &interior.arrivals {
                let run = Run { of, first, count: arrival.count };
                first += run.count;
                if arrival.of == block {
                    copies.extend(interior.copied[run.range()].iter().map(|&body| {
                        let k = f64::from(interior.copies[body as usize][0]);
                        Body { velocity: [0.0; 3], inverse_mass: k * interior.bodies[body as usize].inverse_mass }
                    }));
                    reserve(mail, 1);
                    mail.push(run);
                }
            }
        }
        copies.extend([Body::default(); WALLS]);
    }

    pub fn fill(&mut self, start: (&Problem, &[f64])) {
        self.rows.clear(&self.copies);
        for piece in self.own.chunks(PIECE) {
            self.rows.add(piece, start, &mut self.copies);
        }
    }
}
