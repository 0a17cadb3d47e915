//! Rows laid out for sweeps: four at a time, so that they share no body.

use glam::DVec3;

use super::sweep::{Body, Bounds, Joint, Motion, Pace, Quad, Rows, Unknowns, sweep};
use super::{Problem, Row, WALL, worse};
use crate::room::make_room;

/// Quads are filled with rows from so many equal parts of a list: a quad need not wait for the one before.
const PARTS: usize = 8;
/// Bodies at the end of a list that stand for the wall: were it one, each row at a wall would wait for the one before.
pub(super) const WALLS: usize = 16;
/// No row: pads a quad.
const NONE: u32 = u32::MAX;

/// Rows in the order of the sweep.
#[derive(Default)]
pub(super) struct Quads {
    /// Which row of the problem is where, four a quad.
    rows: Vec<u32>,
    fours: Vec<Quad>,
    /// Of the first quads, up to the last with a bound that is not 0.
    bounds: Vec<Bounds>,
    unknowns: Vec<Unknowns>,
    /// Rows set aside because their quad already moves one of their bodies.
    aside: Vec<u32>,
    /// An earlier swept point.
    mark: Vec<[f64; 4]>,
}

/// The objective ½ ΛᵀAΛ + bᵀΛ = Σ Λ w − ½ Σ m |V − V^{n+1/2}|², or a part of these sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Objective {
    pub value: f64,
    /// The size of what it is the sum of.
    pub magnitude: f64,
}

impl Quads {
    /// Puts rows into quads that share no body, taking them in turn from distant parts of the list.
    pub(super) fn fill(
        &mut self,
        listed: &[u32],
        (problem, impulses): (&Problem, &[f64]),
        (bodies, place): (&[Body], impl Fn(u32) -> u32),
    ) {
        let wall = (bodies.len() - WALLS) as u32;
        let entry = |row: u32| Entry::new(row, (problem, impulses), (bodies, &place));
        self.rows.clear();
        self.fours.clear();
        self.bounds.clear();
        self.unknowns.clear();
        // Hardly any quad is padded.
        make_room(&mut self.rows, listed.len() + 4);
        make_room(&mut self.fours, listed.len() / 4 + 1);
        make_room(&mut self.unknowns, listed.len() / 4 + 1);
        let part = listed.len().div_ceil(PARTS);
        let mut aside = std::mem::take(&mut self.aside);
        aside.clear();
        for at in 0..part {
            for group in 0..PARTS / 4 {
                let mut quad = Filling::new(wall);
                for lane in 0..4 {
                    let Some(&row) = listed.get((4 * group + lane) * part + at) else { continue };
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
            if quad.bounds != Bounds::default() {
                let missing = self.fours.len() - self.bounds.len();
                make_room(&mut self.bounds, missing + 1);
                self.bounds.resize(self.fours.len(), Bounds::default());
                self.bounds.push(quad.bounds);
            }
            self.fours.push(quad.four);
            self.unknowns.push(quad.unknowns);
        }
    }

    /// The quads with their bounds and unknowns.
    fn each(&self) -> impl Iterator<Item = (&Quad, [f64; 4], &Unknowns)> {
        let bounds = self.bounds.iter().copied().chain(std::iter::repeat(Bounds::default()));
        self.fours.iter().zip(bounds).zip(&self.unknowns).map(|((quad, bounds), unknown)| (quad, bounds.lower, unknown))
    }

    /// The impulses in the problem's order, exactly `lower` where the bound holds.
    pub(super) fn unload(&self, problem: &Problem, bodies: &[Body], impulses: &mut [f64]) {
        for ((quad, lower, unknown), rows) in self.each().zip(self.rows.chunks_exact(4)) {
            for (lane, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
                let (z, bound) = (unknown.x[lane], lower[lane]);
                // Most bounds are 0, which needs no look at the row.
                let lower = if bound == 0.0 { 0.0 } else { problem.rows[row as usize].lower };
                let scale = scale(&quad.joints[lane], bodies);
                let impulse = if scale > 0.0 { z / scale } else { z };
                impulses[row as usize] = if z == bound { lower } else { impulse.max(lower) };
            }
        }
    }

    pub(super) fn sweep(&mut self, bodies: &mut [Body], pace: Pace) -> Motion {
        let Self { fours: quads, bounds, unknowns, .. } = self;
        sweep(bodies, Rows { quads, bounds, unknowns }, pace)
    }

    pub(super) fn mark(&mut self) {
        self.mark.clear();
        self.mark.extend(self.unknowns.iter().map(|unknown| unknown.x));
    }

    /// d is the way from the mark.
    pub(super) fn move_from_mark(&mut self) {
        for (unknown, mark) in self.unknowns.iter_mut().zip(&self.mark) {
            unknown.d = std::array::from_fn(|lane| unknown.x[lane] - mark[lane]);
        }
    }

    /// Σ w d, and how often d can be repeated before a row meets its bound.
    pub(super) fn slope(&self, bodies: &[Body]) -> (f64, f64) {
        let (mut slope, mut room) = (0.0, f64::INFINITY);
        for (quad, lower, unknown) in self.each() {
            for (lane, joint) in quad.joints.iter().enumerate() {
                let (from, to) = (bodies[joint.i as usize].velocity, bodies[joint.j as usize].velocity);
                let closing = DVec3::from(joint.normal).dot(DVec3::from(to) - DVec3::from(from));
                let d = unknown.d[lane];
                slope += (quad.rate[lane] + closing) * d;
                if d < 0.0 {
                    room = room.min((lower[lane] - unknown.x[lane]) / d);
                }
            }
        }
        (slope, room)
    }

    /// V ← V + M⁻¹ Gᵀ z for a value z of every row.
    pub(super) fn gather(&self, of: impl Fn(&Unknowns) -> [f64; 4], bodies: &mut [Body]) {
        for (quad, unknown) in self.fours.iter().zip(&self.unknowns) {
            for (joint, z) in quad.joints.iter().zip(of(unknown)) {
                let mut push = |body: u32, z: f64| {
                    let body = &mut bodies[body as usize];
                    let change = z * body.inverse_mass;
                    (0..3).for_each(|axis| body.velocity[axis] += change * joint.normal[axis]);
                };
                push(joint.i, -z);
                push(joint.j, z);
            }
        }
    }

    /// max A_cc min(z − lower, w)² at the swept point.
    pub(super) fn residual_squared(&self, bodies: &[Body]) -> f64 {
        let mut largest = [0.0; 4];
        for (quad, lower, unknown) in self.each() {
            for (lane, joint) in quad.joints.iter().enumerate() {
                let (from, to) = (&bodies[joint.i as usize], &bodies[joint.j as usize]);
                let closing = DVec3::from(joint.normal).dot(DVec3::from(to.velocity) - DVec3::from(from.velocity));
                let rest = (unknown.x[lane] - lower[lane]).min(quad.rate[lane] + closing);
                largest[lane] = worse(largest[lane], (from.inverse_mass + to.inverse_mass) * rest * rest);
            }
        }
        largest.into_iter().fold(0.0, worse)
    }

    /// Σ z w at the swept point.
    pub(super) fn objective(&self, bodies: &[Body]) -> Objective {
        let mut sum = Objective::default();
        for (quad, unknown) in self.fours.iter().zip(&self.unknowns) {
            for (lane, joint) in quad.joints.iter().enumerate() {
                let normal = DVec3::from(joint.normal);
                let from = normal.dot(bodies[joint.i as usize].velocity.into());
                let to = normal.dot(bodies[joint.j as usize].velocity.into());
                sum.value += unknown.x[lane] * (quad.rate[lane] + to - from);
                sum.magnitude += unknown.x[lane].abs() * (quad.rate[lane].abs() + to.abs() + from.abs());
            }
        }
        sum
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
    pub(super) fn new(
        row: u32,
        (problem, impulses): (&Problem, &[f64]),
        (bodies, place): (&[Body], impl Fn(u32) -> u32),
    ) -> Self {
        let Row { i, j, normal, gap, lower } = problem.rows[row as usize];
        let j = if j == WALL { (bodies.len() - 1 - row as usize % WALLS) as u32 } else { place(j) };
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
    bounds: Bounds,
    unknowns: Unknowns,
    count: usize,
    /// The first of the walls.
    wall: u32,
}

impl Filling {
    fn new(wall: u32) -> Self {
        let joints = [Joint { normal: [0.0; 3], i: wall, j: wall }; 4];
        let four = Quad { joints, ..Quad::default() };
        let (bounds, unknowns) = (Bounds::default(), Unknowns::default());
        Self { rows: [NONE; 4], four, bounds, unknowns, count: 0, wall }
    }

    fn try_add(&mut self, entry: &Entry) -> bool {
        let joints = &self.four.joints[..self.count];
        let met = |body: u32| body < self.wall && joints.iter().any(|other| other.i == body || other.j == body);
        if self.count == 4 || met(entry.joint.i) || met(entry.joint.j) {
            return false;
        }
        let lane = self.count;
        self.rows[lane] = entry.row;
        self.four.joints[lane] = entry.joint;
        (self.four.rate[lane], self.bounds.lower[lane], self.unknowns.x[lane]) = (entry.rate, entry.lower, entry.x);
        self.count += 1;
        true
    }
}

/// √A_cc, in a border with the masses of its copies.
fn scale(joint: &Joint, bodies: &[Body]) -> f64 {
    (bodies[joint.i as usize].inverse_mass + bodies[joint.j as usize].inverse_mass).sqrt()
}
