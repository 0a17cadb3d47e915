//! Rows laid out for sweeps: four at a time, so that they share no body.
//!
//! A list is cut in pieces whose bodies fit into the nearest cache. The rows of a piece are coloured, those of one colour
//! sharing no body, and taken colour by colour: rows that follow each other need not wait for each other, and sweeps bear
//! more over-relaxation than in an order that runs through space (measured).

use glam::DVec3;

use super::sweep::{
    Body, Bounds, Joint, Motion, Pace, Quad, Rows, Sheet, Unknowns, plain_sweep, residual_squared, sweep,
};
use super::{AdmissibleSet, Problem, Row, WALL};
use crate::buffer::{reserve, reset, resize};

/// Rows of a piece, or a few more.
pub(super) const PIECE: usize = 2_048;
/// Colours of a piece; rows of a body with more wait for the next round.
pub(super) const COLOURS: usize = 32;
/// Bodies at the end of a list that stand for the wall: were it one, each row at a wall would wait for the one before.
pub(super) const WALLS: usize = 16;
/// No row: pads a quad.
pub(super) const NONE: u32 = u32::MAX;

/// Rows in the order of the sweep.
#[derive(Default)]
pub(super) struct Quads {
    /// Which row of the problem is where, four a quad.
    rows: Vec<u32>,
    sheet: Sheet,
    /// Of the first quads, up to the last with a bound that is not 0.
    bounds: Vec<Bounds>,
    unknowns: Vec<Unknowns>,
    colouring: Colouring,
    /// An earlier swept point.
    saved: Vec<[f64; 4]>,
    /// Impulses of the swept point.
    impulses: Vec<f64>,
}

/// Colours of the rows of a piece.
#[derive(Default)]
pub(super) struct Colouring {
    /// Bits of the colours that each body has rows of.
    taken: Vec<u32>,
    /// The rows of the round, each with its colour.
    pub rows: Vec<(Joining, u32)>,
    /// How many there are of each colour, and then where the next goes.
    pub next: [usize; COLOURS],
    /// Rows that got no colour.
    pub left: Vec<Joining>,
}

/// A row of the problem, and the bodies of a list that it joins.
#[derive(Clone, Copy)]
pub(super) struct Joining {
    pub row: u32,
    pub i: u32,
    /// Or [`WALL`].
    pub j: u32,
}

/// The objective ½ ΛᵀAΛ + bᵀΛ = Σ Λ w − ½ Σ m |V − V^{n+1/2}|², or a part of these sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Objective {
    pub value: f64,
    /// The size of what it is the sum of.
    pub magnitude: f64,
}

impl Quads {
    /// No rows yet, for these bodies.
    pub(super) fn clear(&mut self, bodies: &[Body]) {
        self.rows.clear();
        self.sheet.clear(bodies.len());
        self.bounds.clear();
        self.unknowns.clear();
        self.colouring.clear(bodies.len());
    }

    /// Puts a piece into quads that share no body, colour by colour, and adds M⁻¹ Gᵀ Λ of its rows to V.
    pub(super) fn add(&mut self, piece: &[Joining], start: (&Problem, &[f64]), bodies: &mut [Body]) {
        let mut colouring = std::mem::take(&mut self.colouring);
        colouring.colour(piece, bodies.len());
        self.lay_out(&mut colouring, start, bodies);
        while !colouring.left.is_empty() {
            let left = std::mem::take(&mut colouring.left);
            colouring.colour(&left, bodies.len());
            self.lay_out(&mut colouring, start, bodies);
        }
        self.colouring = colouring;
    }

    /// Adds the coloured rows; a colour begins with a quad of its own.
    fn lay_out(&mut self, colouring: &mut Colouring, (problem, impulses): (&Problem, &[f64]), bodies: &mut [Body]) {
        let wall = (bodies.len() - WALLS) as u32;
        let mut end = self.rows.len();
        for count in &mut colouring.next {
            (*count, end) = (end, end + count.next_multiple_of(4));
        }
        resize(&mut self.rows, end, NONE);
        self.sheet.grow(end / 4, wall);
        resize(&mut self.unknowns, end / 4, Unknowns::default());
        let inverse_dt = problem.dt.recip();
        for &(Joining { row, i, j }, colour) in &colouring.rows {
            let next = &mut colouring.next[colour as usize];
            let (quad, lane) = (*next / 4, *next % 4);
            self.rows[*next] = row;
            *next += 1;
            let Row { normal, gap, set, .. } = problem.rows[row as usize];
            let mut joint = Joint { normal: [0.0; 3], i, j };
            let mut scale = scale(&joint, bodies);
            let mut rate = 0.0;
            if scale > 0.0 {
                let inverse = scale.recip();
                joint.normal = (normal * inverse).to_array();
                rate = gap * inverse_dt * inverse;
            } else {
                scale = 1.0; // Between two that cannot move a row stays where it is.
            }
            self.sheet.set((quad, lane), joint, rate);
            let set = set.scaled(scale);
            let z = set.project(scale * impulses[row as usize]);
            self.unknowns[quad].x[lane] = z;
            joint.push(z, bodies);
            if set != AdmissibleSet::PUSH {
                if self.bounds.len() <= quad {
                    resize(&mut self.bounds, quad + 1, Bounds::default());
                }
                self.bounds[quad].lower[lane] = set.least();
            }
        }
    }

    /// The quads with their bounds and unknowns.
    fn each(&self) -> impl Iterator<Item = (&Quad, [f64; 4], &Unknowns)> {
        let bounds = self.bounds.iter().copied().chain(std::iter::repeat(Bounds::default()));
        self.sheet
            .quads()
            .iter()
            .zip(bounds)
            .zip(&self.unknowns)
            .map(|((quad, bounds), unknown)| (quad, bounds.lower, unknown))
    }

    /// Finds the impulses, exactly `lower` where the bound holds, and adds M⁻¹ Gᵀ Λ to V.
    pub(super) fn find_impulses(&mut self, problem: &Problem, bodies: &mut [Body]) {
        let mut impulses = std::mem::take(&mut self.impulses);
        resize(&mut impulses, self.rows.len(), 0.0);
        for ((quad, bounds, unknown), (rows, impulses)) in
            self.each().zip(self.rows.chunks_exact(4).zip(impulses.chunks_exact_mut(4)))
        {
            for lane in 0..4 {
                let (z, bound) = (unknown.x[lane], bounds[lane]);
                // Most bounds are 0, which needs no look at the row; what pads a quad has no other.
                let set = if bound == 0.0 { AdmissibleSet::PUSH } else { problem.rows[rows[lane] as usize].set };
                let joint = &quad.joints[lane];
                let scale = scale(joint, bodies);
                let impulse = if scale > 0.0 { z / scale } else { z };
                impulses[lane] = if z == bound { set.least() } else { set.project(impulse) };
                joint.push(z, bodies);
            }
        }
        self.impulses = impulses;
    }

    /// Puts the impulses found into the problem's order.
    pub(super) fn unload(&self, impulses: &mut [f64]) {
        for (&row, impulse) in self.rows.iter().zip(&self.impulses).filter(|(row, _)| **row != NONE) {
            impulses[row as usize] = *impulse;
        }
    }

    pub(super) fn sweep(&mut self, bodies: &mut [Body], pace: Pace) -> Motion {
        let Self { sheet, bounds, unknowns, .. } = self;
        sweep(bodies, Rows { sheet, bounds, unknowns }, pace)
    }

    /// A sweep without momentum, which is kept.
    pub(super) fn plain_sweep(&mut self, bodies: &mut [Body]) {
        let Self { sheet, bounds, unknowns, .. } = self;
        plain_sweep(bodies, Rows { sheet, bounds, unknowns });
    }

    pub(super) fn save_point(&mut self) {
        self.saved.clear();
        self.saved.extend(self.unknowns.iter().map(|unknown| unknown.x));
    }

    /// d is the way from the save point.
    pub(super) fn move_from_mark(&mut self) {
        for (unknown, saved) in self.unknowns.iter_mut().zip(&self.saved) {
            unknown.d = std::array::from_fn(|lane| unknown.x[lane] - saved[lane]);
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
        for (quad, unknown) in self.sheet.quads().iter().zip(&self.unknowns) {
            quad.joints.iter().zip(of(unknown)).for_each(|(joint, z)| joint.push(z, bodies));
        }
    }

    /// max A_cc min(z − lower, w)² at the swept point.
    pub(super) fn residual_squared(&self, bodies: &[Body]) -> f64 {
        residual_squared(bodies, &self.sheet, &self.bounds, &self.unknowns)
    }

    /// Σ z w at the swept point.
    pub(super) fn objective(&self, bodies: &[Body]) -> Objective {
        let mut sum = Objective::default();
        for (quad, unknown) in self.sheet.quads().iter().zip(&self.unknowns) {
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

impl Colouring {
    /// For so many bodies, the last of which are walls.
    pub(super) fn clear(&mut self, bodies: usize) {
        reset(&mut self.taken, bodies, 0);
    }

    /// Gives each row the first colour that none of its bodies has; walls have none.
    pub(super) fn colour(&mut self, rows: &[Joining], bodies: usize) {
        self.rows.clear();
        self.next = [0; COLOURS];
        reserve(&mut self.rows, rows.len());
        for &Joining { row, i, j } in rows {
            let j = if j == WALL { (bodies - 1 - row as usize % WALLS) as u32 } else { j };
            let colour = (!(self.taken[i as usize] | self.taken[j as usize])).trailing_zeros();
            if colour as usize >= COLOURS {
                self.left.push(Joining { row, i, j });
                continue;
            }
            self.taken[i as usize] |= 1 << colour;
            if (j as usize) < bodies - WALLS {
                self.taken[j as usize] |= 1 << colour;
            }
            self.next[colour as usize] += 1;
            self.rows.push((Joining { row, i, j }, colour));
        }
        for &(Joining { i, j, .. }, _) in &self.rows {
            (self.taken[i as usize], self.taken[j as usize]) = (0, 0);
        }
    }
}

/// √A_cc, in a border with the masses of its copies.
fn scale(joint: &Joint, bodies: &[Body]) -> f64 {
    (bodies[joint.i as usize].inverse_mass + bodies[joint.j as usize].inverse_mass).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projection::{Metric, Prediction};

    /// A large body that touches many others, which touch each other and the wall.
    fn star(arms: u32) -> Problem {
        let row = |i, j| Row {
            i,
            j,
            normal: DVec3::X,
            gap: 0.0,
            set: AdmissibleSet::at_least(if i == 3 { -1.0 } else { 0.0 }),
        };
        let mut rows: Vec<Row> = (1..=arms).map(|j| row(0, j)).collect();
        rows.extend((1..arms).map(|i| row(i, i + 1)));
        rows.extend((1..=arms).map(|i| row(i, WALL)));
        let count = arms as usize + 1;
        let (dt, length) = (0.1, 1.0);
        let (inverse_mass, apriori) = (vec![1.0; count], vec![DVec3::ZERO; count]);
        Problem {
            dt,
            length,
            prediction: Prediction { velocity: apriori, metric: Metric::Diagonal(inverse_mass) },
            rows,
            order: Vec::new(),
        }
    }

    #[test]
    fn rows_of_a_quad_share_no_body_and_every_row_is_in_one() {
        for arms in [1, 5, 100, 1_000] {
            let problem = star(arms);
            let mut bodies = vec![Body { velocity: [0.0; 3], inverse_mass: 1.0 }; problem.bodies()];
            let wall = bodies.len() as u32;
            bodies.extend([Body::default(); WALLS]);
            let listed: Vec<u32> = (0..problem.rows.len() as u32).collect();
            let impulses: Vec<f64> = listed.iter().map(|row| f64::from(*row)).collect();
            let mut quads = Quads::default();
            let rows: Vec<Joining> =
                listed.iter().zip(&problem.rows).map(|(row, &Row { i, j, .. })| Joining { row: *row, i, j }).collect();
            quads.clear(&bodies);
            rows.chunks(PIECE).for_each(|piece| quads.add(piece, (&problem, &impulses), &mut bodies));

            let mut found: Vec<u32> = quads.rows.iter().copied().filter(|row| *row != NONE).collect();
            found.sort_unstable();
            assert_eq!(found, listed);
            for quad in quads.sheet.quads() {
                let mut moved: Vec<u32> = quad.joints.iter().flat_map(|joint| [joint.i, joint.j]).collect();
                moved.retain(|body| *body < wall);
                let count = moved.len();
                moved.sort_unstable();
                moved.dedup();
                assert_eq!(moved.len(), count, "{quad:?}");
            }
            let mut back = vec![0.0; impulses.len()];
            quads.find_impulses(&problem, &mut bodies);
            quads.unload(&mut back);
            assert!(back.iter().zip(&impulses).all(|(a, b)| (a - b).abs() <= 1e-12 * b), "{back:?}");
        }
    }
}
