//! A problem cut in blocks of bodies near each other, and laid out for sweeps.
//!
//! Bodies follow the problem's space-filling order; each block holds about as many as asked for, however many
//! threads there are. A row between two bodies of a block is the block's own. A row across two blocks is in the *border* of one
//! of them, which works on copies of the bodies it joins. A sweep is
//!
//! 1. in every block: its own rows, by Gauss–Seidel;
//! 2. in every border: copies take the velocities of their bodies; its rows, by Gauss–Seidel;
//! 3. in every block: bodies take the mean velocity of their copies.
//!
//! A body of mass m with k copies has mass m/k in each, so the mean of the copies' velocities keeps the momentum, and
//! since |Σ_b g_b|² ≤ k Σ_b |g_b|² a border's rows see more curvature than there is: all borders together lower the
//! objective at least as much as each promises. Most bodies at a border have one copy, and their rows are relaxed
//! exactly.
//!
//! Within a phase blocks touch only what they own and read only what the phase before has finished: any number of threads
//! gives the same bits, and velocities of copies, there and back, are all that blocks tell each other.

use glam::DVec3;
use rayon::prelude::*;

use super::sweep::{Body, Earlier, Joint, Motion, Quad, Unknowns, extrapolate, sweep};
use super::{Problem, Row, WALL};
use crate::room::{make_room, refill};

/// Quads are filled with rows from so many equal parts of a list: a quad need not wait for the one before.
const PARTS: usize = 8;
/// No row: pads a quad.
const NONE: u32 = u32::MAX;

/// The blocks of a problem, and the buffers to cut the next one.
#[derive(Default)]
pub(super) struct Blocks {
    interiors: Vec<Interior>,
    borders: Vec<Border>,
    /// Where each body stands in the problem's order.
    rank: Vec<u32>,
    /// Rows within a block, by the lower rank of their bodies.
    listed: Vec<u32>,
    /// Where the rows of each rank start in `listed`.
    start: Vec<u32>,
    /// Rows across blocks, as the rank of the owner's body and the row.
    across: Vec<u64>,
    scratch: Scratch,
    /// Whether the rows remember an earlier point.
    marked: bool,
}

/// For the cutting of borders, one entry a body.
#[derive(Default)]
struct Scratch {
    /// The border that copied the body last, then the body's copy in the border being filled.
    copy: Vec<u32>,
    /// How many copies it has,
    copies: Vec<u16>,
    /// and how many of them have been told where they belong.
    placed: Vec<u16>,
}

/// The bodies of a block and the rows between them.
#[derive(Default)]
struct Interior {
    /// Rank of its first body.
    first: usize,
    /// Velocities of the swept point; the last body is the wall.
    bodies: Vec<Body>,
    /// Velocities of the swept point before.
    before: Vec<Earlier>,
    rows: Quads,
    arrivals: Vec<Arrival>,
    motion: Motion,
    /// Σ m |V − V before|².
    energy: f64,
    inspection: Inspection,
}

/// The rows that a block owns across to others.
#[derive(Default)]
struct Border {
    /// Copies of the bodies it joins, k/m in place of 1/m; the last is the wall.
    copies: Vec<Body>,
    /// The copies' velocities at the swept point before: used while velocities are gathered afresh.
    before: Vec<Body>,
    /// Block and place in it of each copied body.
    homes: Vec<(u32, u32)>,
    rows: Quads,
    motion: Motion,
    inspection: Inspection,
}

/// A copy that tells a body its velocity.
struct Arrival {
    body: u32,
    border: u32,
    copy: u32,
    /// Whether it is the first for this body.
    first: bool,
    /// 1/k.
    share: f64,
}

/// Rows in the order of the sweep.
#[derive(Default)]
struct Quads {
    /// Which row of the problem is where, four a quad.
    rows: Vec<u32>,
    fours: Vec<Quad>,
    unknowns: Vec<Unknowns>,
    /// Rows set aside because their quad already moves one of their bodies.
    aside: Vec<u32>,
    /// An earlier swept point.
    mark: Vec<[f64; 4]>,
}

/// What there is to tell about the swept point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Inspection {
    /// max A_cc min(z − lower, w)²: its root times h / length is the residual, or a little more for rows of a border.
    pub residual_squared: f64,
    /// The objective ½ ΛᵀAΛ + bᵀΛ = Σ Λ w − ½ Σ m |V − V^{n+1/2}|²,
    pub objective: f64,
    /// and the size of what it is the sum of.
    pub magnitude: f64,
}

/// What an advance tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Advance {
    pub motion: Motion,
    /// Σ m |V − V before|² of the sweep *before* this one.
    pub energy: f64,
}

impl Blocks {
    /// Cuts the problem in blocks of about so many bodies, and starts from these impulses, raised to `lower`.
    pub(super) fn load(&mut self, problem: &Problem, impulses: &[f64], about: usize) {
        let count = problem.inverse_mass.len();
        let size = block_size(count, about);
        refill(&mut self.rank, count, 0);
        (0..count).for_each(|at| self.rank[problem.along(at)] = at as u32);
        self.interiors.resize_with(count.div_ceil(size).max(1), Interior::default);
        self.list(problem, size);
        self.marked = false;
        let Self { interiors, rank, listed, start, .. } = self;
        let (rank, listed, start) = (rank.as_slice(), listed.as_slice(), start.as_slice());
        each_with_index(interiors, |block, interior| {
            let first = block * size;
            interior.load(problem, first, size);
            let (from, to) = (start[first] as usize, start[first + interior.before.len()] as usize);
            let place = |body: u32| rank[body as usize] - first as u32;
            interior.rows.fill(&listed[from..to].iter().copied(), (problem, impulses), (&interior.bodies, place));
        });
        let blocks = if self.interiors.len() > 1 { self.interiors.len() } else { 0 };
        self.borders.resize_with(blocks, Border::default);
        if blocks > 0 {
            self.copy_bodies(problem, size);
            self.fill_borders((problem, impulses), size);
        }
        self.refresh(problem);
    }

    /// The impulses of the swept point, in the problem's order; exactly `lower` where the bound holds.
    pub(super) fn unload(&self, problem: &Problem, impulses: &mut [f64]) {
        self.interiors.iter().for_each(|block| block.rows.unload(problem, &block.bodies, impulses));
        self.borders.iter().for_each(|border| border.rows.unload(problem, &border.copies, impulses));
    }

    /// V = V^{n+1/2} + M⁻¹ Gᵀ Λ at the swept point and the one before it, afresh: sweeps accumulate rounding.
    pub(super) fn refresh(&mut self, problem: &Problem) {
        each(&mut self.interiors, |interior| {
            let wall = interior.before.len();
            for (at, (body, before)) in interior.bodies[..wall].iter_mut().zip(&mut interior.before).enumerate() {
                body.velocity = problem.apriori[problem.along(interior.first + at)].to_array();
                before.velocity = body.velocity;
            }
            let Interior { bodies, before, rows, .. } = interior;
            rows.gather(|at, push, push_before| {
                let inverse_mass = bodies[at].inverse_mass;
                add(&mut bodies[at].velocity, push, inverse_mass);
                if at < wall {
                    add(&mut before[at].velocity, push_before, inverse_mass);
                }
            });
        });
        each(&mut self.borders, |border| {
            border.copies.iter_mut().chain(&mut border.before).for_each(|copy| copy.velocity = [0.0; 3]);
            let Border { copies, before, rows, .. } = border;
            rows.gather(|at, push, push_before| {
                let inverse_mass = copies[at].inverse_mass;
                add(&mut copies[at].velocity, push, inverse_mass);
                add(&mut before[at].velocity, push_before, inverse_mass);
            });
        });
        let borders = &self.borders;
        each(&mut self.interiors, |interior| {
            for Arrival { body, border, copy, share, .. } in &interior.arrivals {
                let (border, body, copy) = (&borders[*border as usize], *body as usize, *copy as usize);
                add(&mut interior.bodies[body].velocity, border.copies[copy].velocity, *share);
                add(&mut interior.before[body].velocity, border.before[copy].velocity, *share);
            }
        });
    }

    /// (x, V) ← (x + β d, V + β (V − V before)), and one sweep from there.
    pub(super) fn advance(&mut self, momentum: f64) -> Advance {
        each(&mut self.interiors, |interior| {
            interior.energy = extrapolate(&mut interior.bodies, &mut interior.before, momentum);
            interior.motion = interior.rows.sweep(&mut interior.bodies, momentum);
        });
        if !self.borders.is_empty() {
            let interiors = &self.interiors;
            each(&mut self.borders, |border| {
                border.take(interiors);
                border.motion = border.rows.sweep(&mut border.copies, momentum);
            });
            let borders = &self.borders;
            each(&mut self.interiors, |interior| interior.take(borders));
        }
        let own = self.interiors.iter().map(|interior| interior.motion);
        let motion = own.chain(self.borders.iter().map(|border| border.motion)).fold(Motion::default(), Motion::with);
        Advance { motion, energy: self.interiors.iter().map(|interior| interior.energy).sum() }
    }

    /// Takes the whole way p since the last call for the last move, and tells how much more of it makes the objective
    /// least: −wᵀp / pᵀAp, or less where a row meets its bound before. The first call only marks where the way begins.
    pub(super) fn leap(&mut self, problem: &Problem) -> Option<f64> {
        let further = self.marked.then(|| {
            each(&mut self.interiors, |interior| interior.rows.move_from_mark());
            each(&mut self.borders, |border| border.rows.move_from_mark());
            self.refresh(problem);
            let interiors = &self.interiors;
            each(&mut self.borders, |border| border.take(interiors));
            let own = self.interiors.iter().map(|interior| interior.rows.slope(&interior.bodies));
            let (slope, room) = own
                .chain(self.borders.iter().map(|border| border.rows.slope(&border.copies)))
                .fold((0.0, f64::INFINITY), |(slope, room), (more, within)| (slope + more, room.min(within)));
            let curvature: f64 = self.interiors.iter().map(Interior::energy_of_move).sum();
            if slope < 0.0 && curvature > 0.0 { room.min(-slope / curvature) } else { 0.0 }
        });
        each(&mut self.interiors, |interior| interior.rows.mark());
        each(&mut self.borders, |border| border.rows.mark());
        self.marked = true;
        further
    }

    /// Residual and objective at the swept point, whose velocities are taken as they are.
    pub(super) fn inspect(&mut self, problem: &Problem) -> Inspection {
        let interiors = &self.interiors;
        each(&mut self.borders, |border| {
            border.take(interiors);
            border.inspection = border.rows.inspect(&border.copies);
        });
        each(&mut self.interiors, |interior| {
            interior.inspection = interior.rows.inspect(&interior.bodies);
            let quadratic = 0.5 * interior.energy_added(problem);
            interior.inspection.objective -= quadratic;
            interior.inspection.magnitude += quadratic;
        });
        let own = self.interiors.iter().map(|interior| interior.inspection);
        own.chain(self.borders.iter().map(|border| border.inspection)).fold(Inspection::default(), Inspection::with)
    }

    /// Sorts the rows by the lower rank of their bodies, and sets those across blocks aside.
    fn list(&mut self, problem: &Problem, size: usize) {
        let Self { rank, listed, start, across, .. } = self;
        refill(start, rank.len() + 2, 0);
        across.clear();
        let ends = |row: &Row| {
            let i = rank[row.i as usize];
            (i, if row.j == WALL { i } else { rank[row.j as usize] })
        };
        let block = |rank: u32| rank as usize / size;
        for (c, row) in problem.rows.iter().enumerate() {
            let (i, j) = ends(row);
            if block(i) == block(j) {
                start[i.min(j) as usize + 2] += 1;
            } else {
                // Of two blocks the lower owns their rows if their numbers add up to something even, else the higher.
                let lower_owns = (block(i) + block(j)).is_multiple_of(2);
                let owner = if lower_owns { i.min(j) } else { i.max(j) };
                make_room(across, 1);
                across.push(u64::from(owner) << 32 | c as u64);
            }
        }
        across.sort_unstable();
        for at in 2..start.len() {
            start[at] += start[at - 1];
        }
        refill(listed, problem.rows.len() - across.len(), 0);
        // `start[rank + 1]` tells where the next row of a rank goes, and in the end where the rank ends.
        for (c, row) in problem.rows.iter().enumerate() {
            let (i, j) = ends(row);
            if block(i) == block(j) {
                let next = &mut start[i.min(j) as usize + 1];
                listed[*next as usize] = c as u32;
                *next += 1;
            }
        }
    }

    /// Gives each border copies of the bodies that its rows join, and each body the way its copies come back.
    fn copy_bodies(&mut self, problem: &Problem, size: usize) {
        let Self { interiors, borders, rank, across, scratch, .. } = self;
        let Scratch { copy, copies, placed } = scratch;
        refill(copy, rank.len(), NONE);
        refill(copies, rank.len(), 0);
        refill(placed, rank.len(), 0);
        for ((b, border), rows) in borders.iter_mut().enumerate().zip(by_owner(across, size)) {
            border.homes.clear();
            for row in rows.iter().map(|entry| &problem.rows[*entry as u32 as usize]) {
                for at in [row.i, row.j].map(|body| rank[body as usize]) {
                    // Whoever copied the body last is told by its number: none needs to clean up.
                    if copy[at as usize] != b as u32 {
                        copy[at as usize] = b as u32;
                        copies[at as usize] += 1;
                        border.homes.push((at / size as u32, at % size as u32));
                    }
                }
            }
        }
        for (b, border) in borders.iter_mut().enumerate() {
            border.copies.clear();
            for (c, &(block, body)) in border.homes.iter().enumerate() {
                let at = block as usize * size + body as usize;
                let k = f64::from(copies[at]);
                let home = &mut interiors[block as usize];
                let inverse_mass = k * home.bodies[body as usize].inverse_mass;
                border.copies.push(Body { velocity: [0.0; 3], inverse_mass });
                let first = placed[at] == 0;
                placed[at] += 1;
                make_room(&mut home.arrivals, 1);
                home.arrivals.push(Arrival { body, border: b as u32, copy: c as u32, first, share: k.recip() });
            }
            border.copies.push(Body::default());
            border.before.clone_from(&border.copies);
        }
    }

    /// Fills in the rows of the borders.
    fn fill_borders(&mut self, (problem, impulses): (&Problem, &[f64]), size: usize) {
        let Self { borders, rank, across, scratch, .. } = self;
        let copy = &mut scratch.copy;
        for (border, rows) in borders.iter_mut().zip(by_owner(across, size)) {
            for (c, &(block, body)) in border.homes.iter().enumerate() {
                copy[block as usize * size + body as usize] = c as u32;
            }
            let place = |body: u32| copy[rank[body as usize] as usize];
            border.rows.fill(&rows.iter().map(|entry| *entry as u32), (problem, impulses), (&border.copies, place));
        }
    }
}

/// The rows across blocks, block by block of their owners.
fn by_owner(across: &[u64], size: usize) -> impl Iterator<Item = &[u64]> {
    let mut rest = across;
    (0..).map(move |block| {
        let own = rest.partition_point(|entry| (entry >> 32) as usize / size <= block);
        let (mine, others) = rest.split_at(own);
        rest = others;
        mine
    })
}

impl Interior {
    /// The bodies from rank `first` on.
    fn load(&mut self, problem: &Problem, first: usize, size: usize) {
        let count = size.min(problem.inverse_mass.len() - first);
        self.first = first;
        self.arrivals.clear();
        self.bodies.clear();
        self.before.clear();
        make_room(&mut self.bodies, count + 1);
        make_room(&mut self.before, count);
        for at in first..first + count {
            let inverse_mass = problem.inverse_mass[problem.along(at)];
            let mass = if inverse_mass > 0.0 { inverse_mass.recip() } else { 0.0 };
            self.bodies.push(Body { velocity: [0.0; 3], inverse_mass });
            self.before.push(Earlier { velocity: [0.0; 3], mass });
        }
        self.bodies.push(Body::default());
    }

    /// Bodies take the mean velocity of their copies.
    fn take(&mut self, borders: &[Border]) {
        for &Arrival { body, border, copy, first, share } in &self.arrivals {
            let velocity = borders[border as usize].copies[copy as usize].velocity;
            let body = &mut self.bodies[body as usize];
            if first {
                body.velocity = velocity.map(|v| share * v);
            } else {
                add(&mut body.velocity, velocity, share);
            }
        }
    }

    /// Σ m |V − V before|².
    fn energy_of_move(&self) -> f64 {
        let bodies = self.bodies.iter().zip(&self.before);
        let energy = |(body, before): (&Body, &Earlier)| {
            before.mass * DVec3::from(body.velocity).distance_squared(before.velocity.into())
        };
        bodies.map(energy).sum()
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
        for (copy, &(block, body)) in self.copies.iter_mut().zip(&self.homes) {
            copy.velocity = interiors[block as usize].bodies[body as usize].velocity;
        }
    }
}

impl Quads {
    /// Puts rows into quads that share no body, taking them in turn from distant parts of the list.
    fn fill(
        &mut self,
        listed: &(impl ExactSizeIterator<Item = u32> + Clone),
        (problem, impulses): (&Problem, &[f64]),
        (bodies, place): (&[Body], impl Fn(u32) -> u32),
    ) {
        self.rows.clear();
        self.fours.clear();
        self.unknowns.clear();
        // Hardly any quad is padded.
        make_room(&mut self.rows, listed.len() + 4);
        make_room(&mut self.fours, listed.len() / 4 + 1);
        make_room(&mut self.unknowns, listed.len() / 4 + 1);
        let wall = bodies.len() as u32 - 1;
        let entry = |row: u32| Entry::new(row, (problem, impulses), (bodies, &place));
        let part = listed.len().div_ceil(PARTS);
        let mut parts: [_; PARTS] = std::array::from_fn(|p| listed.clone().skip(p * part).take(part));
        let mut aside = std::mem::take(&mut self.aside);
        aside.clear();
        for _ in 0..part {
            for group in parts.chunks_mut(PARTS / 2) {
                let mut quad = Filling::new(wall);
                for row in group.iter_mut().filter_map(Iterator::next) {
                    if !quad.try_add(&entry(row)) {
                        aside.push(row);
                    }
                }
                self.close(&quad);
            }
        }
        let mut quad = Filling::new(wall);
        for entry in aside.iter().map(|row| entry(*row)) {
            if !quad.try_add(&entry) {
                self.close(&quad);
                quad = Filling::new(wall);
                quad.try_add(&entry);
            }
        }
        self.close(&quad);
        self.aside = aside;
    }

    fn close(&mut self, quad: &Filling) {
        if quad.count > 0 {
            make_room(&mut self.rows, 4);
            make_room(&mut self.fours, 1);
            make_room(&mut self.unknowns, 1);
            self.rows.extend_from_slice(&quad.rows);
            self.fours.push(quad.four);
            self.unknowns.push(quad.unknowns);
        }
    }

    fn unload(&self, problem: &Problem, bodies: &[Body], impulses: &mut [f64]) {
        for ((quad, unknown), rows) in self.fours.iter().zip(&self.unknowns).zip(self.rows.chunks_exact(4)) {
            for lane in 0..4 {
                let Some(row) = problem.rows.get(rows[lane] as usize) else { continue };
                let z = unknown.x[lane];
                let scale = scale(&quad.joints[lane], bodies);
                let impulse = if scale > 0.0 { z / scale } else { z };
                impulses[rows[lane] as usize] = if z == quad.lower[lane] { row.lower } else { impulse.max(row.lower) };
            }
        }
    }

    fn sweep(&mut self, bodies: &mut [Body], momentum: f64) -> Motion {
        sweep(bodies, &self.fours, &mut self.unknowns, momentum)
    }

    fn mark(&mut self) {
        self.mark.clear();
        self.mark.extend(self.unknowns.iter().map(|unknown| unknown.x));
    }

    /// d is the way from the mark.
    fn move_from_mark(&mut self) {
        for (unknown, mark) in self.unknowns.iter_mut().zip(&self.mark) {
            unknown.d = std::array::from_fn(|lane| unknown.x[lane] - mark[lane]);
        }
    }

    /// Σ w d, and how often d can be repeated before a row meets its bound.
    fn slope(&self, bodies: &[Body]) -> (f64, f64) {
        let (mut slope, mut room) = (0.0, f64::INFINITY);
        for (quad, unknown) in self.fours.iter().zip(&self.unknowns) {
            for (lane, joint) in quad.joints.iter().enumerate() {
                let (from, to) = (bodies[joint.i as usize].velocity, bodies[joint.j as usize].velocity);
                let closing = DVec3::from(joint.normal).dot(DVec3::from(to) - DVec3::from(from));
                let d = unknown.d[lane];
                slope += (quad.rate[lane] + closing) * d;
                if d < 0.0 {
                    room = room.min((quad.lower[lane] - unknown.x[lane]) / d);
                }
            }
        }
        (slope, room)
    }

    /// Tells every body what the rows push it by, at the swept point and the one before.
    fn gather(&self, mut push: impl FnMut(usize, [f64; 3], [f64; 3])) {
        for (quad, unknown) in self.fours.iter().zip(&self.unknowns) {
            for (lane, joint) in quad.joints.iter().enumerate() {
                let (x, before) = (unknown.x[lane], unknown.x[lane] - unknown.d[lane]);
                push(joint.i as usize, joint.normal.map(|n| -n * x), joint.normal.map(|n| -n * before));
                push(joint.j as usize, joint.normal.map(|n| n * x), joint.normal.map(|n| n * before));
            }
        }
    }

    fn inspect(&self, bodies: &[Body]) -> Inspection {
        let mut found = Inspection::default();
        for (quad, unknown) in self.fours.iter().zip(&self.unknowns) {
            for (lane, joint) in quad.joints.iter().enumerate() {
                let normal = DVec3::from(joint.normal);
                let from = normal.dot(bodies[joint.i as usize].velocity.into());
                let to = normal.dot(bodies[joint.j as usize].velocity.into());
                let (x, w) = (unknown.x[lane], quad.rate[lane] + to - from);
                let diagonal = bodies[joint.i as usize].inverse_mass + bodies[joint.j as usize].inverse_mass;
                let rest = (x - quad.lower[lane]).min(w);
                found.residual_squared = super::worse(found.residual_squared, diagonal * rest * rest);
                found.objective += x * w;
                found.magnitude += x.abs() * (quad.rate[lane].abs() + to.abs() + from.abs());
            }
        }
        found
    }
}

impl Inspection {
    fn with(self, other: Self) -> Self {
        Self {
            residual_squared: super::worse(self.residual_squared, other.residual_squared),
            objective: self.objective + other.objective,
            magnitude: self.magnitude + other.magnitude,
        }
    }
}

/// A row, scaled to unit diagonal.
struct Entry {
    row: u32,
    joint: Joint,
    rate: f64,
    lower: f64,
    x: f64,
}

impl Entry {
    fn new(row: u32, (problem, impulses): (&Problem, &[f64]), (bodies, place): (&[Body], impl Fn(u32) -> u32)) -> Self {
        let Row { i, j, normal, gap, lower } = problem.rows[row as usize];
        let j = if j == WALL { bodies.len() as u32 - 1 } else { place(j) };
        let mut joint = Joint { normal: [0.0; 3], i: place(i), j };
        let mut scale = scale(&joint, bodies);
        let mut rate = 0.0;
        if scale > 0.0 {
            let inverse = scale.recip();
            joint.normal = (normal * inverse).to_array();
            rate = gap / problem.dt * inverse;
        } else {
            scale = 1.0; // Between two that cannot move a row stays where it is.
        }
        let lower = scale * lower;
        Self { row, joint, rate, lower, x: (scale * impulses[row as usize]).max(lower) }
    }
}

/// A quad that takes rows as long as they share no body.
struct Filling {
    rows: [u32; 4],
    four: Quad,
    unknowns: Unknowns,
    count: usize,
    wall: u32,
}

impl Filling {
    fn new(wall: u32) -> Self {
        let joints = [Joint { normal: [0.0; 3], i: wall, j: wall }; 4];
        let four = Quad { joints, ..Quad::default() };
        Self { rows: [NONE; 4], four, unknowns: Unknowns::default(), count: 0, wall }
    }

    fn try_add(&mut self, entry: &Entry) -> bool {
        let joints = &self.four.joints[..self.count];
        let met = |body: u32| body != self.wall && joints.iter().any(|other| other.i == body || other.j == body);
        if self.count == 4 || met(entry.joint.i) || met(entry.joint.j) {
            return false;
        }
        let lane = self.count;
        self.rows[lane] = entry.row;
        self.four.joints[lane] = entry.joint;
        (self.four.rate[lane], self.four.lower[lane], self.unknowns.x[lane]) = (entry.rate, entry.lower, entry.x);
        self.count += 1;
        true
    }
}

/// √A_cc, in a border with the masses of its copies.
fn scale(joint: &Joint, bodies: &[Body]) -> f64 {
    (bodies[joint.i as usize].inverse_mass + bodies[joint.j as usize].inverse_mass).sqrt()
}

fn add(to: &mut [f64; 3], vector: [f64; 3], times: f64) {
    for axis in 0..3 {
        to[axis] += vector[axis] * times;
    }
}

/// Bodies of a block for so many in all: an even number of blocks, if more than one, so that two threads share them.
fn block_size(bodies: usize, about: usize) -> usize {
    let blocks = (bodies + about / 2) / about;
    if blocks <= 1 { bodies.max(1) } else { bodies.div_ceil(blocks.next_multiple_of(2)) }
}

/// Does the same with every block, on as many threads as there are.
fn each<T: Send>(blocks: &mut [T], work: impl Fn(&mut T) + Sync) {
    each_with_index(blocks, |_, block| work(block));
}

fn each_with_index<T: Send>(blocks: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    if blocks.len() == 1 || rayon::current_num_threads() == 1 {
        blocks.iter_mut().enumerate().for_each(|(at, block)| work(at, block));
    } else {
        blocks.par_iter_mut().enumerate().for_each(|(at, block)| work(at, block));
    }
}
