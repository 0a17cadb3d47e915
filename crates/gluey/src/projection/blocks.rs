//! A problem cut in blocks of bodies near each other, and laid out for sweeps.
//!
//! Bodies follow the problem's space-filling order; there are as many blocks as asked for, however many threads there
//! are. A row between two bodies of a block is the block's own. A row across two blocks is in the *border* of one
//! of them, which works on copies of the bodies it joins. A sweep is
//!
//! 1. in every block: its own rows, by Gauss–Seidel;
//! 2. in every border: copies take the velocities of their bodies; its rows, by Gauss–Seidel;
//! 3. in every block: bodies take the mean velocity of their copies, at the beginning of the next sweep.
//!
//! A body of mass m with k copies has mass m/k in each, so the mean of the copies' velocities keeps the momentum, and
//! since |Σ_b g_b|² ≤ k Σ_b |g_b|² a border's rows see more curvature than there is: all borders together lower the
//! objective at least as much as each promises. Most bodies at a border have one copy, and their rows are relaxed
//! exactly.
//!
//! Within a phase blocks touch only what they own and read only what the phase before has finished: any number of threads
//! gives the same bits, and velocities of copies, there and back, are all that blocks tell each other.

use std::num::NonZeroU32;
use std::ops::Range;
use std::slice::from_ref;

use glam::DVec3;
use rayon::prelude::*;

use super::quads::{Joining, Objective, PIECE, Quads, WALLS};
use super::sweep::{Body, Earlier, Motion, Pace, Unknowns, extrapolate};
use super::{AcceleratedGaussSeidel, Problem, Row, WALL, worse};
use crate::ahead::ask_for;
use crate::room::{make_room, refill, set_length};
use crate::shares::{join, share_of};

/// Bodies whose rows and velocities are asked for in advance: bodies near each other in space may have been listed far from each other.
const AHEAD: u32 = 24;

/// The blocks of a problem, and the buffers to cut the next one.
#[derive(Default)]
pub(super) struct Blocks {
    interiors: Vec<Interior>,
    borders: Vec<Border>,
    /// Bodies of a block; the last may have fewer.
    size: usize,
    /// Where each body stands in the problem's order.
    rank: Vec<u32>,
    listing: Listing,
    /// Whether copies have velocities that their bodies have not taken yet: the next sweep begins with that.
    under_way: bool,
    /// Whether blocks remember the last moves of their bodies themselves, with the sign changed, in the place of velocities
    /// before them: then velocities may change and moves do not.
    held: bool,
    /// Whether the rows remember an earlier point.
    marked: bool,
}

/// The rows of each body: those that start from it.
#[derive(Default)]
struct Listing {
    /// Where the rows of a body begin, and those of the next one after it.
    start: Vec<u32>,
    /// The rows, body by body; empty where they come in this order.
    rows: Vec<u32>,
}

/// Which block a body is in, by its rank.
#[derive(Clone, Copy)]
struct Cut<'a> {
    rank: &'a [u32],
    /// Bodies of a block; the last may have fewer.
    size: usize,
}

/// The bodies of a block and the rows between them.
#[derive(Default)]
struct Interior {
    /// Rank of its first body.
    first: usize,
    /// Velocities of the swept point; the last ones are walls.
    bodies: Vec<Body>,
    /// Velocities of the swept point before, or moves from there.
    before: Vec<Earlier>,
    /// The rows between them,
    rows: Quads,
    /// some of them while they are laid out,
    piece: Vec<Joining>,
    /// and those of the problem from them to other blocks, sorted.
    across: Vec<Across>,
    /// How many copies each body has, and how many of them have been met while they are listed.
    copies: Vec<[u16; 2]>,
    /// The body of each copy, border by border,
    copied: Vec<u32>,
    /// 1/k of each,
    share: Vec<f64>,
    /// and where the copies are, in this order.
    arrivals: Vec<Run>,
    /// Copies of the bodies that have several.
    several: Vec<Arrival>,
    /// The velocity of the body of each copy, for this to take. Were it read where it is, the processors of two
    /// threads would hand the memory of whole bodies to and fro, and that of their neighbours with it.
    letters: Vec<[f64; 3]>,
    motion: Motion,
    /// Σ m |V − V before|².
    energy: f64,
    residual_squared: f64,
    objective: Objective,
}

/// A row of the problem from one block to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Across {
    /// The block it leads to,
    to: u32,
    /// the rank of the body it starts from,
    rank: u32,
    /// and which it is.
    row: u32,
}

/// The rows that a block owns across to others.
#[derive(Default)]
struct Border {
    /// The rows of the problem, and the copies that they join.
    own: Vec<Joining>,
    /// Rank of each body that they join, sorted.
    homes: Vec<u32>,
    /// Copies of these bodies, k/m in place of 1/m; the last ones are walls.
    copies: Vec<Body>,
    /// Where the letters to the copies are, in their order.
    mail: Vec<Run>,
    /// Rank of each end of each row, and which end it is.
    sorted: Vec<u64>,
    rows: Quads,
    motion: Motion,
    residual_squared: f64,
    objective: Objective,
}

/// Letters of a block to copies, or copies in a border, that follow each other.
struct Run {
    /// The block.
    of: u32,
    first: u32,
    count: u32,
}

impl Run {
    fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
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

/// How far a line search leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leap {
    /// How often the move is repeated.
    pub times: f64,
    /// Whether a row has met its bound there, and the objective would go on falling.
    pub at_bound: bool,
}

impl Leap {
    /// Where the objective changes by these along the move, and a row meets its bound after so many times.
    pub fn new(slope: f64, curvature: f64, room: f64) -> Self {
        let least = if slope < 0.0 && curvature > 0.0 { -slope / curvature } else { 0.0 };
        Self { times: room.min(least), at_bound: room < least }
    }
}

/// What an advance tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Advance {
    pub motion: Motion,
    /// Σ m |V − V before|² of the sweep *before* this one.
    pub energy: f64,
}

impl Blocks {
    /// Cuts the problem in so many blocks, or one a body, or the most there may be, and starts from these impulses, raised
    /// to `lower`.
    pub(super) fn load(&mut self, problem: &Problem, impulses: &[f64], blocks: NonZeroU32) {
        let count = problem.inverse_mass.len();
        let size = count.div_ceil(blocks.get().min(AcceleratedGaussSeidel::MOST_BLOCKS) as usize).max(1);
        let blocks = count.div_ceil(size).max(1);
        self.size = size;
        refill(&mut self.rank, count, 0);
        (0..count).for_each(|at| self.rank[problem.along(at)] = at as u32);
        self.listing.list(problem);
        (self.under_way, self.held, self.marked) = (false, true, false);
        self.interiors.resize_with(blocks, Interior::default);
        self.borders.resize_with(if blocks > 1 { blocks } else { 0 }, Border::default);
        let (cut, listing) = (Cut { rank: &self.rank, size }, &self.listing);
        each_with_index(&mut self.interiors, |block, interior| {
            interior.load(problem, block * size, size);
            interior.fill((problem, impulses), listing, cut);
        });
        if blocks > 1 {
            let interiors = &self.interiors;
            each_with_index(&mut self.borders, |block, border| border.list(problem, interiors, (block as u32, cut)));
            let borders = &self.borders;
            each(&mut self.interiors, |interior| interior.find_copies(borders));
            let interiors = &self.interiors;
            each_with_index(&mut self.borders, |block, border| {
                border.copy_bodies(interiors, block as u32);
                border.fill((problem, impulses));
            });
        }
        self.gather_swept(problem);
    }

    /// The impulses of the swept point, exactly `lower` where the bound holds, and the velocities that they alone give; both
    /// in the problem's order.
    pub(super) fn unload(&mut self, problem: &Problem, impulses: &mut [f64], velocity: &mut Vec<DVec3>) {
        each(&mut self.interiors, |interior| interior.rows.find_impulses(problem, &interior.bodies));
        each(&mut self.borders, |border| border.rows.find_impulses(problem, &border.copies));
        self.refresh(problem);
        let own = self.interiors.iter().map(|interior| &interior.rows);
        own.chain(self.borders.iter().map(|border| &border.rows)).for_each(|rows| rows.unload(impulses));
        set_length(velocity, self.rank.len(), DVec3::ZERO);
        let (share, size) = (share_of(self.rank.len()), self.size as u32);
        let body = |rank: u32| &self.interiors[(rank / size) as usize].bodies[(rank % size) as usize];
        velocity.par_chunks_mut(share).zip(self.rank.par_chunks(share)).for_each(|(velocity, rank)| {
            for (at, velocity) in velocity.iter_mut().enumerate() {
                if let Some(later) = rank.get(at + AHEAD as usize) {
                    ask_for(from_ref(body(*later)));
                }
                *velocity = body(rank[at]).velocity.into();
            }
        });
    }

    /// V = V^{n+1/2} + M⁻¹ Gᵀ Λ at the swept point from its impulses alone: sweeps accumulate rounding. The last move
    /// stays what it was.
    pub(super) fn refresh(&mut self, problem: &Problem) {
        self.arrive();
        if !std::mem::replace(&mut self.held, true) {
            each(&mut self.interiors, Interior::hold);
        }
        self.gather_swept(problem);
    }

    /// V at the swept point from its impulses alone.
    fn gather_swept(&mut self, problem: &Problem) {
        self.gather(|at| *along_and_ahead(problem, &problem.apriori, at), |unknowns| unknowns.x);
    }

    /// V ← start + M⁻¹ Gᵀ z for a value z of every row; bodies start by their rank.
    fn gather(&mut self, start: impl Fn(usize) -> DVec3 + Sync, of: impl Fn(&Unknowns) -> [f64; 4] + Sync) {
        each(&mut self.borders, |border| {
            border.copies.iter_mut().for_each(|copy| copy.velocity = [0.0; 3]);
            border.rows.gather(&of, &mut border.copies);
        });
        let borders = &self.borders;
        each(&mut self.interiors, |interior| {
            let wall = interior.before.len();
            for (at, body) in interior.bodies[..wall].iter_mut().enumerate() {
                body.velocity = start(interior.first + at).to_array();
            }
            interior.rows.gather(&of, &mut interior.bodies);
            let copies = copies_of(&interior.arrivals, borders);
            for ((body, share), copy) in interior.copied.iter().zip(&interior.share).zip(copies) {
                add(&mut interior.bodies[*body as usize].velocity, copy.velocity, *share);
            }
            interior.write();
        });
    }

    /// Bodies take the velocities of their copies.
    fn arrive(&mut self) {
        if self.under_way {
            self.arrive_and(|_| {});
        }
    }

    /// The same, and then this in every block.
    fn arrive_and(&mut self, then: impl Fn(&mut Interior) + Sync) {
        let (arrived, borders) = (std::mem::take(&mut self.under_way), &self.borders);
        each(&mut self.interiors, |interior| {
            if arrived {
                interior.take(borders);
                interior.write();
            }
            then(interior);
        });
    }

    /// (x, V) ← (x + β d, V + β (V − V before)), and one sweep from there.
    pub(super) fn advance(&mut self, pace: Pace) -> Advance {
        let moved = (pace.momentum, std::mem::take(&mut self.held));
        self.sweep(
            |interior| {
                interior.energy = extrapolate(&mut interior.bodies, &mut interior.before, moved);
                interior.motion = interior.rows.sweep(&mut interior.bodies, pace);
            },
            |border| border.motion = border.rows.sweep(&mut border.copies, pace),
        );
        let own = self.interiors.iter().map(|interior| interior.motion);
        let motion = own.chain(self.borders.iter().map(|border| border.motion)).fold(Motion::default(), Motion::with);
        Advance { motion, energy: self.interiors.iter().map(|interior| interior.energy).sum() }
    }

    /// One sweep without momentum, which is kept.
    pub(super) fn smooth(&mut self) {
        let held = std::mem::replace(&mut self.held, true);
        self.sweep(
            |interior| {
                if !held {
                    interior.hold();
                }
                interior.rows.smooth(&mut interior.bodies);
            },
            |border| border.rows.smooth(&mut border.copies),
        );
    }

    /// A sweep: what is done in every block, and then in every border.
    fn sweep(&mut self, own: impl Fn(&mut Interior) + Sync, across: impl Fn(&mut Border) + Sync) {
        let arrived = std::mem::replace(&mut self.under_way, !self.borders.is_empty());
        let borders = &self.borders;
        each(&mut self.interiors, |interior| {
            if arrived {
                interior.take(borders);
            }
            own(interior);
            interior.write();
        });
        let interiors = &self.interiors;
        each(&mut self.borders, |border| {
            border.take(interiors);
            across(border);
        });
    }

    /// Takes the whole way p since the last call for the last move, and tells how much more of it makes the objective
    /// least: −wᵀp / pᵀAp, or less where a row meets its bound before. The first call only marks where the way begins.
    pub(super) fn leap(&mut self, problem: &Problem) -> Option<Leap> {
        let leap = self.marked.then(|| {
            self.under_way = false; // velocities are gathered afresh
            each(&mut self.interiors, |interior| interior.rows.move_from_mark());
            each(&mut self.borders, |border| border.rows.move_from_mark());
            self.gather(|_| DVec3::ZERO, |unknowns| unknowns.d);
            self.held = true;
            each(&mut self.interiors, |interior| {
                interior.each_body(|body, before| before.velocity = body.velocity.map(|v| -v));
            });
            self.gather_swept(problem);
            let interiors = &self.interiors;
            each(&mut self.borders, |border| border.take(interiors));
            let own = self.interiors.iter().map(|interior| interior.rows.slope(&interior.bodies));
            let (slope, room) = own
                .chain(self.borders.iter().map(|border| border.rows.slope(&border.copies)))
                .fold((0.0, f64::INFINITY), |(slope, room), (more, within)| (slope + more, room.min(within)));
            Leap::new(slope, self.interiors.iter().map(Interior::energy_held).sum(), room)
        });
        each(&mut self.interiors, |interior| interior.rows.mark());
        each(&mut self.borders, |border| border.rows.mark());
        self.marked = true;
        leap
    }

    /// max √A_cc |min(z − lower, w)| at the swept point, whose velocities are taken as they are: times h / length it is the
    /// residual, or a little more for rows of a border.
    pub(super) fn residual(&mut self) -> f64 {
        self.arrive_and(|interior| interior.residual_squared = interior.rows.residual_squared(&interior.bodies));
        let interiors = &self.interiors;
        each(&mut self.borders, |border| {
            border.take(interiors);
            border.residual_squared = border.rows.residual_squared(&border.copies);
        });
        let own = self.interiors.iter().map(|interior| interior.residual_squared);
        own.chain(self.borders.iter().map(|border| border.residual_squared)).fold(0.0, worse).sqrt()
    }

    /// The objective at the swept point.
    pub(super) fn objective(&mut self, problem: &Problem) -> Objective {
        self.arrive_and(|interior| {
            let Objective { value, magnitude } = interior.rows.objective(&interior.bodies);
            let quadratic = 0.5 * interior.energy_added(problem);
            interior.objective = Objective { value: value - quadratic, magnitude: magnitude + quadratic };
        });
        let interiors = &self.interiors;
        each(&mut self.borders, |border| {
            border.take(interiors);
            border.objective = border.rows.objective(&border.copies);
        });
        let own = self.interiors.iter().map(|interior| interior.objective);
        own.chain(self.borders.iter().map(|border| border.objective)).fold(Objective::default(), |sum, part| {
            Objective { value: sum.value + part.value, magnitude: sum.magnitude + part.magnitude }
        })
    }
}

/// Copies that follow each other in some borders.
fn copies_of<'a>(arrivals: &'a [Run], borders: &'a [Border]) -> impl Iterator<Item = &'a Body> {
    arrivals.iter().flat_map(|run| &borders[run.of as usize].copies[run.range()])
}

impl Listing {
    fn list(&mut self, problem: &Problem) {
        let Self { start, rows } = self;
        let count = problem.inverse_mass.len();
        refill(start, count + 1, 0);
        rows.clear();
        if find_starts(&problem.rows, start) {
            return;
        }
        // `start[i + 1]` first tells where the next row of body i goes, and in the end where they end.
        refill(start, count + 2, 0);
        problem.rows.iter().for_each(|row| start[row.i as usize + 2] += 1);
        for at in 1..start.len() {
            start[at] += start[at - 1];
        }
        refill(rows, problem.rows.len(), 0);
        for (c, row) in problem.rows.iter().enumerate() {
            let next = &mut start[row.i as usize + 1];
            rows[*next as usize] = c as u32;
            *next += 1;
        }
    }

    /// The rows that start from a body.
    fn from(&self, body: usize) -> impl Iterator<Item = u32> {
        self.range(body).map(|at| self.rows.get(at).copied().unwrap_or(at as u32))
    }

    /// Where they are listed.
    fn range(&self, body: usize) -> Range<usize> {
        self.start[body] as usize..self.start[body + 1] as usize
    }
}

/// Where the rows of each body begin if they come body by body, and the end of all; tells whether they do.
fn find_starts(rows: &[Row], start: &mut [u32]) -> bool {
    let share = share_of(start.len());
    let before = |body: usize| rows.partition_point(|row| (row.i as usize) < body);
    // Rows that do not come body by body are not between where those of the bodies of some part should be, or not in order.
    let find = |(part, start): (usize, &mut [u32])| {
        let (first, last) = (part * share, part * share + start.len());
        let mut next = before(first);
        let end = before(last);
        for (body, start) in (first..).zip(start) {
            *start = next as u32;
            while next < end && rows[next].i as usize == body {
                next += 1;
            }
        }
        next == end
    };
    start.par_chunks_mut(share).enumerate().map(find).reduce(|| true, |a, b| a & b) && before(start.len()) == rows.len()
}

impl Interior {
    /// The bodies from rank `first` on.
    fn load(&mut self, problem: &Problem, first: usize, size: usize) {
        let count = size.min(problem.inverse_mass.len() - first);
        self.first = first;
        self.copied.clear();
        self.share.clear();
        self.arrivals.clear();
        self.several.clear();
        self.bodies.clear();
        self.before.clear();
        make_room(&mut self.bodies, count + WALLS);
        make_room(&mut self.before, count);
        for at in first..first + count {
            let inverse_mass = *along_and_ahead(problem, &problem.inverse_mass, at);
            let mass = if inverse_mass > 0.0 { inverse_mass.recip() } else { 0.0 };
            self.bodies.push(Body { velocity: [0.0; 3], inverse_mass });
            self.before.push(Earlier { velocity: [0.0; 3], mass });
        }
        self.bodies.extend([Body::default(); WALLS]);
    }

    /// Lays out the rows between its bodies, and lists those that start from them and lead elsewhere.
    fn fill(&mut self, start: (&Problem, &[f64]), listing: &Listing, cut: Cut) {
        let Self { first, bodies, before, piece, across, rows, .. } = self;
        let (problem, first, count) = (start.0, *first as u32, before.len() as u32);
        across.clear();
        piece.clear();
        rows.clear(bodies);
        for i in 0..count {
            if i + AHEAD < count {
                let later = listing.range(problem.along((first + i + AHEAD) as usize));
                ask_for(&problem.rows[later.clone()]);
                ask_for(&start.1[later]);
            }
            for row in listing.from(problem.along((first + i) as usize)) {
                let partner = problem.rows[row as usize].j;
                let j = if partner == WALL { WALL } else { cut.rank[partner as usize] };
                if j == WALL || j.wrapping_sub(first) < count {
                    make_room(piece, 1);
                    piece.push(Joining { row, i, j: if j == WALL { WALL } else { j - first } });
                } else {
                    make_room(across, 1);
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
    fn find_copies(&mut self, borders: &[Border]) {
        let Self { copies, copied, share, arrivals, several, letters, .. } = self;
        let (first, last) = (self.first as u32, (self.first + self.before.len()) as u32);
        refill(copies, self.before.len(), [0; 2]);
        for (of, border) in (0..).zip(borders) {
            let [from, to] = [first, last].map(|rank| border.homes.partition_point(|home| *home < rank));
            if from == to {
                continue;
            }
            make_room(arrivals, 1);
            arrivals.push(Run { of, first: from as u32, count: (to - from) as u32 });
            make_room(copied, to - from);
            copied.extend(border.homes[from..to].iter().map(|home| home - first));
        }
        for body in &*copied {
            copies[*body as usize][0] += 1;
        }
        make_room(share, copied.len());
        let mut of_copy = copied.iter();
        for run in arrivals {
            for (copy, &body) in run.range().zip(&mut of_copy) {
                let [count, met] = &mut copies[body as usize];
                let part = f64::from(*count).recip();
                share.push(part);
                if *count > 1 {
                    make_room(several, 1);
                    several.push(Arrival { body, border: run.of, copy: copy as u32, first: *met == 0, share: part });
                    *met += 1;
                }
            }
        }
        refill(letters, copied.len(), [0.0; 3]);
    }

    /// The rows that start from its bodies and lead to another block.
    fn to(&self, block: u32) -> &[Across] {
        let rows = &self.across[self.across.partition_point(|row| row.to < block)..];
        &rows[..rows.partition_point(|row| row.to == block)]
    }

    /// Remembers the last moves in the place of velocities before them.
    fn hold(&mut self) {
        self.each_body(|body, before| add(&mut before.velocity, body.velocity, -1.0));
    }

    fn each_body(&mut self, mut visit: impl FnMut(&Body, &mut Earlier)) {
        self.bodies.iter().zip(&mut self.before).for_each(|(body, before)| visit(body, before));
    }

    /// Tells the copies the velocities of their bodies.
    fn write(&mut self) {
        for (letter, body) in self.letters.iter_mut().zip(&self.copied) {
            *letter = self.bodies[*body as usize].velocity;
        }
    }

    /// Bodies take the mean velocity of their copies.
    fn take(&mut self, borders: &[Border]) {
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

    /// Σ m |d|² of the moves that are held.
    fn energy_held(&self) -> f64 {
        self.before.iter().map(|held| held.mass * DVec3::from(held.velocity).length_squared()).sum()
    }

    /// Σ m |V − V^{n+1/2}|².
    fn energy_added(&self, problem: &Problem) -> f64 {
        let bodies = self.bodies.iter().zip(&self.before).enumerate();
        let energy = |(at, (body, before)): (usize, (&Body, &Earlier))| {
            let apriori = problem.apriori[problem.along(self.first + at)];
            before.mass * (DVec3::from(body.velocity) - apriori).length_squared()
        };
        bodies.map(energy).sum()
    }
}

impl Border {
    /// Copies take the velocities of their bodies.
    fn take(&mut self, interiors: &[Interior]) {
        let mut copies = self.copies.iter_mut();
        for run in &self.mail {
            for (velocity, copy) in interiors[run.of as usize].letters[run.range()].iter().zip(&mut copies) {
                copy.velocity = *velocity;
            }
        }
    }

    /// The rows across that this block owns, and whom they join. Two blocks halve the rows between them, so that their borders
    /// are about equal: the lower has those of its neighbours that come first.
    fn list(&mut self, problem: &Problem, interiors: &[Interior], (block, cut): (u32, Cut)) {
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
                make_room(own, rows.len());
                make_room(sorted, 2 * rows.len());
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
        make_room(homes, sorted.len());
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
    fn copy_bodies(&mut self, interiors: &[Interior], block: u32) {
        let Self { homes, copies, mail, .. } = self;
        copies.clear();
        mail.clear();
        make_room(copies, homes.len() + WALLS);
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
                    make_room(mail, 1);
                    mail.push(run);
                }
            }
        }
        copies.extend([Body::default(); WALLS]);
    }

    fn fill(&mut self, start: (&Problem, &[f64])) {
        self.rows.clear(&self.copies);
        for piece in self.own.chunks(PIECE) {
            self.rows.add(piece, start, &self.copies);
        }
    }
}

/// The entry of the body at this place of the order, while one of those that come next is asked for.
fn along_and_ahead<'a, T>(problem: &Problem, entries: &'a [T], at: usize) -> &'a T {
    let later = at + AHEAD as usize;
    if later < entries.len() {
        ask_for(from_ref(&entries[problem.along(later)]));
    }
    &entries[problem.along(at)]
}

fn add(to: &mut [f64; 3], vector: [f64; 3], times: f64) {
    for axis in 0..3 {
        to[axis] += vector[axis] * times;
    }
}

/// Does the same with every block, on as many threads as there are.
fn each<T: Send>(blocks: &mut [T], work: impl Fn(&mut T) + Sync) {
    each_with_index(blocks, |_, block| work(block));
}

/// Each thread gets blocks that follow each other, in every phase about the same ones, which it then has in its cache.
fn each_with_index<T: Send>(blocks: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    let share = blocks.len().div_ceil(rayon::current_num_threads()).max(1);
    each_from(0, blocks, share, &work);
}

fn each_from<T: Send>(first: usize, blocks: &mut [T], share: usize, work: &(impl Fn(usize, &mut T) + Sync)) {
    if blocks.len() <= share {
        blocks.iter_mut().enumerate().for_each(|(at, block)| work(first + at, block));
        return;
    }
    let half = blocks.len().div_ceil(share) / 2 * share;
    let (here, later) = blocks.split_at_mut(half);
    join(|| each_from(first, here, share, work), || each_from(first + half, later, share, work));
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Bodies in a line, each joined to some of the next and every fifth to the wall.
    fn chain(count: u32) -> Problem {
        let mut random = Pcg64::seed_from_u64(7);
        let mut vector = || DVec3::from([0, 1, 2].map(|_| random.random_range(-1.0..1.0_f64)));
        let mut rows = Vec::new();
        for i in 0..count {
            for j in (i + 1..i + 4).filter(|j| *j < count) {
                rows.push(Row { i, j, normal: vector().normalize(), gap: 0.01 * vector().x, lower: 0.0 });
            }
            if i % 5 == 0 {
                rows.push(Row { i, j: WALL, normal: vector().normalize(), gap: 0.0, lower: -0.1 });
            }
        }
        let apriori: Vec<DVec3> = (0..count).map(|_| vector()).collect();
        let inverse_mass = apriori.iter().map(|v| 1.0 + 0.5 * v.x).collect();
        Problem { dt: 0.1, length: 1.0, inverse_mass, mobility: None, apriori, rows, order: Vec::new() }
    }

    #[test]
    fn rows_are_listed_by_body_in_any_order() {
        let bodies = 20_000_u32;
        let mut random = Pcg64::seed_from_u64(3);
        let mut problem = chain(0);
        problem.inverse_mass = vec![1.0; bodies as usize];
        let mut sorted: Vec<u32> = (0..50_000).map(|_| random.random_range(5..bodies)).collect();
        sorted.sort_unstable();
        let mut one_off = sorted.clone();
        one_off.swap(30_000, 49_999);
        let backwards = sorted.iter().rev().copied().collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (starts, in_order) in [(sorted, true), (one_off, false), (backwards, false), (Vec::new(), true)] {
            let row = |i: &u32| Row { i: *i, j: WALL, normal: DVec3::X, gap: 0.0, lower: 0.0 };
            problem.rows = starts.iter().map(row).collect();
            let mut listing = Listing::default();
            pool.install(|| listing.list(&problem));
            assert_eq!(listing.rows.is_empty(), in_order);
            let mut expected: Vec<u32> = (0..starts.len() as u32).collect();
            expected.sort_by_key(|row| starts[*row as usize]); // stable
            let listed: Vec<u32> = (0..bodies as usize).flat_map(|body| listing.from(body)).collect();
            assert_eq!(listed, expected);
        }
    }

    #[test]
    fn two_blocks_halve_the_rows_between_them() {
        let problem = chain(60);
        let mut blocks = Blocks::default();
        blocks.load(&problem, &vec![0.0; problem.rows.len()], NonZeroU32::new(6).unwrap());
        let in_borders: Vec<usize> = blocks.borders.iter().map(|border| border.own.len()).collect();
        // Bodies are joined to the next three: 6 rows between two blocks that follow each other.
        assert_eq!(in_borders.iter().sum::<usize>(), 5 * 6);
        assert!(in_borders.iter().all(|rows| (2..=8).contains(rows)), "{in_borders:?}");
    }

    #[test]
    fn a_sweep_without_momentum_keeps_velocities_those_of_the_impulses() {
        let problem = chain(60);
        for count in [1, 6].map(|count| NonZeroU32::new(count).unwrap()) {
            let mut blocks = Blocks::default();
            let mut impulses = vec![0.0; problem.rows.len()];
            blocks.load(&problem, &impulses, count);
            for sweep in 0..12 {
                blocks.advance(Pace { momentum: 0.6, relaxation: 1.2 });
                if sweep % 3 == 2 {
                    let before = blocks.residual();
                    blocks.smooth();
                    assert!(blocks.residual() < before);
                }
            }
            blocks.arrive();
            let swept: Vec<[f64; 3]> = blocks
                .interiors
                .iter()
                .flat_map(|interior| &interior.bodies[..interior.before.len()])
                .map(|b| b.velocity)
                .collect();
            let mut velocity = Vec::new();
            blocks.unload(&problem, &mut impulses, &mut velocity);
            let expected = problem.velocity(&impulses);
            for (i, expected) in expected.iter().enumerate() {
                let off = [DVec3::from(swept[i]), velocity[i]].map(|v| v.distance(*expected));
                assert!(off[0] < 1e-12 && off[1] < 1e-14, "{count}: {off:?}");
            }
        }
    }
}
