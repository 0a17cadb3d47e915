//! Sweeps over the rows of bodies that turn: clumps, and spheres on their own among them.
//!
//! What is swept is the velocity and spin (U, ω) that the impulses give a body, on top of V^{n+1/2}. A row with the
//! arms b_i, b_j and t = b × n reads
//!
//! ```text
//! w = D/h + n·(V_j − V_i)^{n+1/2} + n·(U_j − U_i) + t_j·ω_j − t_i·ω_i,   A_cc = 1/κ_i + t_i·S_i⁻¹t_i + (so of j).
//! ```
//!
//! Bodies come in the order in which the problem's space-filling curve meets the first sphere of each, cut in blocks of
//! equal size. A sweep takes the rows within each block, which threads share, and then those across blocks, which are
//! few, on one thread: it is Gauss–Seidel in a fixed order, so that any number of threads gives the same bits.

mod quads;
mod source;
mod sweep;

use std::num::NonZeroU32;

use super::blocks::{Advance, LineSearch};
use super::listing::Listing;
use super::quads::{Joining, Objective, WALLS};
use super::sweep::{Motion, Pace, Unknowns};
use super::{AcceleratedGaussSeidel, NO_CLUMP, Problem, Rigid, WALL, worse};
use crate::buffer::reset;
use crate::shares::join;
use quads::{RigidQuads, Slope};
use source::{Root, Source};
use sweep::{Earlier, RigidBody, extrapolate};

/// Rows of a piece, or a few more: its bodies fit into the nearest cache.
const PIECE: usize = 1_024;
/// So many bodies or more are cut in blocks,
const LEAST_CUT: usize = 2_000;
/// 2 √(bodies / this) of them, rounded to an even number: the more blocks, the more rows are across them.
const BODIES_OF_TWO_BLOCKS: f64 = 2_500.0;

/// The rows of a problem with clumps, and the buffers to lay out the next one.
#[derive(Default)]
pub(super) struct RigidRows {
    /// Block after block, each with walls at its end.
    bodies: Vec<RigidBody>,
    /// Velocities and spins of the swept point before, or moves from there.
    before: Vec<Earlier>,
    blocks: Vec<Block>,
    /// Bodies of a block and its walls.
    stride: usize,
    /// The rows across blocks.
    across: RigidQuads,
    /// The body of each sphere.
    places: Vec<u32>,
    /// And of each clump.
    clumps: Vec<u32>,
    roots: Vec<Root>,
    listing: Listing,
    /// Whether the last moves are remembered themselves, with the sign changed, in the place of velocities before them:
    /// then velocities may change and moves do not.
    held: bool,
    /// Whether the rows remember an earlier point.
    has_save_point: bool,
}

/// The rows between bodies of a block.
#[derive(Default)]
struct Block {
    /// The spheres of its bodies.
    spheres: Vec<u32>,
    rows: RigidQuads,
    /// Some of them while they are laid out.
    piece: Vec<Joining>,
    /// Those from its bodies to other blocks.
    across: Vec<Joining>,
    told: Told,
}

/// What a block tells of its rows and bodies.
#[derive(Clone, Copy, Default)]
struct Told {
    motion: Motion,
    /// Σ (m |V|² + |s|²) of moves, or of the swept point.
    energy: f64,
    residual: f64,
    objective: Objective,
    slope: Slope,
}

/// Blocks that follow each other, with their bodies.
struct Part<'a> {
    first: usize,
    blocks: &'a mut [Block],
    bodies: &'a mut [RigidBody],
    before: &'a mut [Earlier],
    stride: usize,
}

/// A block and its bodies.
struct Own<'a> {
    /// Where its bodies begin.
    first: usize,
    block: &'a mut Block,
    bodies: &'a mut [RigidBody],
    before: &'a mut [Earlier],
}

impl Part<'_> {
    /// Does the same with every block, shared out to the threads in so many at a time.
    fn each(self, share: usize, work: &(impl Fn(Own) + Sync)) {
        let Self { first, blocks, bodies, before, stride } = self;
        if blocks.len() <= share {
            let bodies = bodies.chunks_mut(stride).zip(before.chunks_mut(stride));
            for (k, (block, (bodies, before))) in blocks.iter_mut().zip(bodies).enumerate() {
                work(Own { first: first + k * stride, block, bodies, before });
            }
            return;
        }
        let half = blocks.len().div_ceil(share) / 2 * share;
        let (here, later) = blocks.split_at_mut(half);
        let (bodies, more_bodies) = bodies.split_at_mut(half * stride);
        let (before, more_before) = before.split_at_mut(half * stride);
        let here = Part { first, blocks: here, bodies, before, stride };
        let first = first + half * stride;
        let later = Part { first, blocks: later, bodies: more_bodies, before: more_before, stride };
        join(|| here.each(share, work), || later.each(share, work));
    }
}

impl Own<'_> {
    /// Remembers the last moves in the place of velocities before them.
    fn hold(&mut self) {
        for (before, body) in self.before.iter_mut().zip(&*self.bodies) {
            for axis in 0..3 {
                before.velocity[axis] -= body.velocity[axis];
                before.spin[axis] -= body.spin[axis];
            }
        }
    }

    /// Takes what the bodies have now, with the sign changed, for their last moves.
    fn hold_as_moves(&mut self) {
        for (before, body) in self.before.iter_mut().zip(&*self.bodies) {
            for axis in 0..3 {
                before.velocity[axis] = -body.velocity[axis];
                before.spin[axis] = -body.spin[axis];
            }
        }
    }

    /// Σ (m |V|² + |s|²).
    fn energy(&self) -> f64 {
        let square = |v: &[f64; 4]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let bodies = self.bodies.iter().zip(&*self.before);
        bodies.map(|(body, before)| before.velocity[3] * square(&body.velocity) + square(&body.spin)).sum()
    }

    /// (V, s) of a value of every row of the block.
    fn gather(&mut self, of: impl Fn(&Unknowns) -> [f64; 4]) {
        for body in &mut *self.bodies {
            body.velocity[..3].fill(0.0);
            body.spin.fill(0.0);
        }
        self.block.rows.gather(of, self.bodies);
    }

    /// Lays out the rows between its bodies, and lists those that lead elsewhere.
    fn fill(self, source: &Source, listing: &Listing, places: &[u32]) {
        let Block { spheres, rows, piece, across, .. } = self.block;
        rows.clear(self.bodies.len());
        piece.clear();
        across.clear();
        let place = |sphere: u32| if sphere == WALL { WALL } else { places[sphere as usize] };
        let first = self.first as u32;
        for sphere in spheres {
            for row in listing.from(*sphere as usize) {
                let (i, j) = (place(*sphere), place(source.problem.rows[row as usize].j));
                if j == WALL {
                    piece.push(Joining { row, i: i - first, j });
                } else if (j.wrapping_sub(first) as usize) < self.bodies.len() {
                    piece.push(Joining { row, i: i - first, j: j - first });
                } else {
                    across.push(Joining { row, i, j });
                }
            }
            if piece.len() >= PIECE {
                rows.add(piece, source, self.bodies);
                piece.clear();
            }
        }
        rows.add(piece, source, self.bodies);
    }
}

impl RigidRows {
    /// Lays the problem out in so many blocks, or as many as its size asks for, and starts from these impulses, raised
    /// to `lower`.
    pub(super) fn load(&mut self, task: (&Problem, &Rigid), impulses: &[f64], blocks: Option<NonZeroU32>) {
        let (problem, rigid) = task;
        self.roots.clear();
        self.roots.extend(rigid.responses.iter().map(|response| Root::of(response.inverse_inertia)));
        let roots = std::mem::take(&mut self.roots);
        let source = Source { problem, rigid, roots: &roots, impulses };
        self.place_bodies(&source, blocks);
        self.listing.list(problem);
        let (listing, places) = (std::mem::take(&mut self.listing), std::mem::take(&mut self.places));
        self.each(|own| own.fill(&source, &listing, &places));
        (self.listing, self.places) = (listing, places);
        if self.blocks.len() > 1 {
            self.across.clear(self.bodies.len());
            for piece in self.blocks.iter().flat_map(|block| block.across.chunks(PIECE)) {
                self.across.add(piece, &source, &mut self.bodies);
            }
        } else {
            self.across.clear(WALLS);
        }
        self.roots = roots;
        (self.held, self.has_save_point) = (true, false);
    }

    /// Gives every clump and every sphere on its own a body, and every block its bodies.
    fn place_bodies(&mut self, source: &Source, blocks: Option<NonZeroU32>) {
        let Self { bodies, before, blocks: list, places, clumps, .. } = self;
        let (problem, rigid) = (source.problem, source.rigid);
        let alone = rigid.owner.iter().filter(|owner| **owner == NO_CLUMP).count();
        let count = rigid.responses.len() + alone;
        let blocks =
            blocks.unwrap_or_else(|| blocks_for(count)).get().min(AcceleratedGaussSeidel::MOST_BLOCKS) as usize;
        let size = count.div_ceil(blocks).max(1);
        let blocks = count.div_ceil(size).max(1);
        self.stride = size + WALLS;
        list.resize_with(blocks, Block::default);
        for block in &mut *list {
            block.spheres.clear();
        }
        let total = count + blocks * WALLS;
        reset(bodies, total, RigidBody::default());
        reset(before, total, Earlier::default());
        reset(places, rigid.owner.len(), 0);
        reset(clumps, rigid.responses.len(), u32::MAX);
        let mut rank = 0;
        for at in 0..rigid.owner.len() {
            let sphere = problem.along(at);
            let owner = rigid.owner[sphere];
            let met = clumps.get(owner as usize).copied().filter(|place| *place != u32::MAX);
            let place = met.unwrap_or_else(|| {
                let place = rank + rank / size * WALLS;
                (bodies[place], before[place]) = source.body(sphere);
                rank += 1;
                place as u32
            });
            if owner != NO_CLUMP {
                clumps[owner as usize] = place;
            }
            places[sphere] = place;
            list[place as usize / self.stride].spheres.push(sphere as u32);
        }
    }

    /// Does the same with every block, on as many threads as there are.
    fn each(&mut self, work: impl Fn(Own) + Sync) {
        let Self { bodies, before, blocks, stride, .. } = self;
        let share = blocks.len().div_ceil(rayon::current_num_threads()).max(1);
        Part { first: 0, blocks, bodies, before, stride: *stride }.each(share, &work);
    }

    /// (V, s) of a value of every row.
    fn gather(&mut self, of: impl Fn(&Unknowns) -> [f64; 4] + Sync) {
        self.each(|mut own| own.gather(&of));
        self.across.gather(of, &mut self.bodies);
    }

    /// A bound of √A_cc over all rows.
    pub(super) fn steepest(&self) -> f64 {
        self.blocks.iter().map(|block| block.rows.steepest()).fold(self.across.steepest(), worse)
    }

    /// The impulses of the swept point; exactly `lower` where the bound holds.
    pub(super) fn unload(&self, impulses: &mut [f64]) {
        self.blocks.iter().map(|block| &block.rows).chain([&self.across]).for_each(|rows| rows.unload(impulses));
    }

    /// Velocities from the impulses alone; the last move stays what it was.
    pub(super) fn refresh(&mut self) {
        self.hold();
        self.gather(|unknown| unknown.x);
    }

    /// Remembers the last moves in the place of velocities before them.
    fn hold(&mut self) {
        if !std::mem::replace(&mut self.held, true) {
            self.each(|mut own| own.hold());
        }
    }

    /// One sweep without momentum, which is kept.
    pub(super) fn plain_sweep(&mut self) {
        self.hold();
        self.each(|own| own.block.rows.plain_sweep(own.bodies));
        self.across.plain_sweep(&mut self.bodies);
    }

    /// (x, V, s) ← (x, V, s) + β (its last move), and one sweep from there.
    pub(super) fn advance(&mut self, pace: Pace) -> Advance {
        let moved = (pace.momentum, std::mem::take(&mut self.held));
        self.each(|own| {
            own.block.told.energy = extrapolate(own.bodies, own.before, moved);
            own.block.told.motion = own.block.rows.sweep(own.bodies, pace);
        });
        let across = self.across.sweep(&mut self.bodies, pace);
        let told = self.blocks.iter().map(|block| block.told);
        Advance {
            motion: told.clone().map(|told| told.motion).chain([across]).fold(Motion::default(), Motion::with),
            energy: told.map(|told| told.energy).sum(),
        }
    }

    /// As for spheres on their own: the whole way since the last call becomes the last move; gives how much more of it
    /// makes the objective least.
    pub(super) fn line_search(&mut self) -> Option<LineSearch> {
        let line_search = self.has_save_point.then(|| {
            self.each(|own| own.block.rows.move_from_mark());
            self.across.move_from_mark();
            self.gather(|unknown| unknown.d);
            self.held = true;
            self.each(|mut own| {
                own.block.told.energy = own.energy();
                own.hold_as_moves();
            });
            self.gather(|unknown| unknown.x);
            self.each(|own| own.block.told.slope = own.block.rows.slope(own.bodies));
            let across = self.across.slope(&self.bodies);
            let told = self.blocks.iter().map(|block| block.told);
            let Slope { slope, room } =
                told.clone().map(|told| told.slope).chain([across]).fold(Slope::default(), Slope::with);
            LineSearch::new(slope, told.map(|told| told.energy).sum(), room)
        });
        self.each(|own| own.block.rows.save_point());
        self.across.save_point();
        self.has_save_point = true;
        line_search
    }

    /// max √A_cc |min(z − lower, w)| at the swept point.
    pub(super) fn residual(&mut self) -> f64 {
        self.each(|own| own.block.told.residual = own.block.rows.residual(own.bodies));
        self.blocks.iter().map(|block| block.told.residual).fold(self.across.residual(&self.bodies), worse)
    }

    /// The objective at the swept point.
    pub(super) fn objective(&mut self) -> Objective {
        self.each(|own| {
            let Objective { value, magnitude } = own.block.rows.objective(own.bodies);
            let quadratic = 0.5 * own.energy();
            own.block.told.objective = Objective { value: value - quadratic, magnitude: magnitude + quadratic };
        });
        let across = self.across.objective(&self.bodies);
        self.blocks.iter().map(|block| block.told.objective).fold(across, |sum, part| Objective {
            value: sum.value + part.value,
            magnitude: sum.magnitude + part.magnitude,
        })
    }
}

/// Blocks for so many bodies: an even number, so that two threads share them.
fn blocks_for(bodies: usize) -> NonZeroU32 {
    let pairs = if bodies < LEAST_CUT { 0.0 } else { (bodies as f64 / BODIES_OF_TWO_BLOCKS).sqrt().round() };
    NonZeroU32::new(2 * pairs as u32).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests;
