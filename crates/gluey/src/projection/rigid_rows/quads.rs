//! Rows of bodies that turn, laid out for sweeps as [those of spheres](crate::projection::quads): in coloured pieces.

use super::source::{Described, Source};
use super::sweep::{Lanes, RigidBody, Rows, Sheet, Swept, closing, plain_sweep, residual, sweep};
use crate::buffer::resize;
use crate::projection::quads::{Colouring, Joining, NONE, Objective, WALLS};
use crate::projection::sweep::{Bounds, Motion, Pace, Unknowns};
use crate::projection::{AdmissibleSet, worse};

/// Rows in the order of the sweep.
#[derive(Default)]
pub(super) struct RigidQuads {
    /// Which row of the problem is where, four a quad,
    rows: Vec<u32>,
    /// and the impulses that each admits.
    sets: Vec<AdmissibleSet>,
    sheet: Sheet,
    /// √A_cc; 0 between two that cannot move, where a row stays where it is.
    scales: Vec<Lanes>,
    /// Of the first quads, up to the last with a bound that is not 0.
    bounds: Vec<Bounds>,
    unknowns: Vec<Unknowns>,
    colouring: Colouring,
    /// An earlier swept point.
    saved: Vec<[f64; 4]>,
    /// w of every row, where it is looked at.
    w: Vec<Lanes>,
}

/// How the objective changes along the last move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    /// Σ w d.
    pub slope: f64,
    /// How often the move can be repeated before a row meets its bound.
    pub room: f64,
}

impl Default for Slope {
    fn default() -> Self {
        Self { slope: 0.0, room: f64::INFINITY }
    }
}

impl Slope {
    pub fn with(self, other: Self) -> Self {
        Self { slope: self.slope + other.slope, room: self.room.min(other.room) }
    }
}

impl RigidQuads {
    /// No rows yet, for so many bodies, the last of which are walls.
    pub fn clear(&mut self, bodies: usize) {
        self.rows.clear();
        self.sets.clear();
        self.sheet.clear(bodies);
        self.scales.clear();
        self.bounds.clear();
        self.unknowns.clear();
        self.saved.clear();
        self.colouring.clear(bodies);
    }

    /// Puts a piece into quads that share no body, colour by colour, and adds M⁻¹ Gᵀ Λ of its rows to V and s.
    pub fn add(&mut self, piece: &[Joining], source: &Source, bodies: &mut [RigidBody]) {
        let mut colouring = std::mem::take(&mut self.colouring);
        colouring.colour(piece, bodies.len());
        self.lay_out(&mut colouring, source, bodies);
        while !colouring.left.is_empty() {
            let left = std::mem::take(&mut colouring.left);
            colouring.colour(&left, bodies.len());
            self.lay_out(&mut colouring, source, bodies);
        }
        self.colouring = colouring;
    }

    /// Adds the coloured rows; a colour begins with a quad of its own.
    fn lay_out(&mut self, colouring: &mut Colouring, source: &Source, bodies: &mut [RigidBody]) {
        let wall = (bodies.len() - WALLS) as u32;
        let mut end = self.rows.len();
        for count in &mut colouring.next {
            (*count, end) = (end, end + count.next_multiple_of(4));
        }
        resize(&mut self.rows, end, NONE);
        resize(&mut self.sets, end, AdmissibleSet::PUSH);
        self.sheet.grow(end / 4, wall);
        resize(&mut self.scales, end / 4, Lanes::default());
        resize(&mut self.unknowns, end / 4, Unknowns::default());
        for &(joining, colour) in &colouring.rows {
            let at = colouring.next[colour as usize];
            colouring.next[colour as usize] += 1;
            let Described { row, rate, scale, set, start } = source.describe(joining);
            let (quad, lane) = (at / 4, at % 4);
            (self.rows[at], self.sets[at]) = (joining.row, set);
            self.sheet.set((quad, lane), row, rate);
            self.scales[quad].0[lane] = scale;
            let factor = if scale > 0.0 { scale } else { 1.0 };
            let set = set.scaled(factor);
            let z = set.project(factor * start);
            self.unknowns[quad].x[lane] = z;
            row.push(z, bodies);
            if set != AdmissibleSet::PUSH {
                if self.bounds.len() <= quad {
                    resize(&mut self.bounds, quad + 1, Bounds::default());
                }
                self.bounds[quad].lower[lane] = set.least();
            }
        }
    }

    /// The impulses in the problem's order, exactly `lower` where the bound holds.
    pub fn unload(&self, impulses: &mut [f64]) {
        for (at, &row) in self.rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
            let (quad, lane) = (at / 4, at % 4);
            let (z, set) = (self.unknowns[quad].x[lane], self.sets[at]);
            let bound = self.bounds.get(quad).map_or(0.0, |bounds| bounds.lower[lane]);
            let scale = self.scales[quad].0[lane];
            let impulse = if scale > 0.0 { z / scale } else { z };
            impulses[row as usize] = if z == bound { set.least() } else { set.project(impulse) };
        }
    }

    pub fn sweep(&mut self, bodies: &mut [RigidBody], pace: Pace) -> Motion {
        let Self { sheet, bounds, unknowns, .. } = self;
        sweep(bodies, Rows { sheet, bounds, unknowns }, pace)
    }

    /// A sweep without momentum, which is kept.
    pub fn plain_sweep(&mut self, bodies: &mut [RigidBody]) {
        let Self { sheet, bounds, unknowns, .. } = self;
        plain_sweep(bodies, Rows { sheet, bounds, unknowns });
    }

    pub fn save_point(&mut self) {
        self.saved.clear();
        self.saved.extend(self.unknowns.iter().map(|unknown| unknown.x));
    }

    /// d is the way from the save point.
    pub fn move_from_mark(&mut self) {
        for (unknown, saved) in self.unknowns.iter_mut().zip(&self.saved) {
            unknown.d = std::array::from_fn(|lane| unknown.x[lane] - saved[lane]);
        }
    }

    /// (V, s) ← (V, s) + M⁻¹ Gᵀ z for a value z of every row.
    pub fn gather(&self, of: impl Fn(&Unknowns) -> [f64; 4], bodies: &mut [RigidBody]) {
        for (quad, unknown) in self.sheet.quads().iter().zip(&self.unknowns) {
            quad.rows.iter().zip(of(unknown)).for_each(|(row, z)| row.push(z, bodies));
        }
    }

    /// Looks at w of every row.
    fn look(&mut self, bodies: &[RigidBody]) {
        resize(&mut self.w, self.unknowns.len(), Lanes::default());
        closing(bodies, &self.sheet, &mut self.w);
    }

    pub fn slope(&mut self, bodies: &[RigidBody]) -> Slope {
        self.look(bodies);
        let mut found = Slope::default();
        for (k, (unknown, w)) in self.unknowns.iter().zip(&self.w).enumerate() {
            let lower = self.bounds.get(k).copied().unwrap_or_default().lower;
            for (lane, lower) in lower.into_iter().enumerate() {
                let d = unknown.d[lane];
                found.slope += w.0[lane] * d;
                if d < 0.0 {
                    found.room = found.room.min((lower - unknown.x[lane]) / d);
                }
            }
        }
        found
    }

    /// Σ z w at the swept point.
    pub fn objective(&mut self, bodies: &[RigidBody]) -> Objective {
        self.look(bodies);
        let (mut value, mut magnitude) = ([0.0; 4], [0.0; 4]);
        for (quad, (unknown, w)) in self.sheet.quads().iter().zip(self.unknowns.iter().zip(&self.w)) {
            for lane in 0..4 {
                let (x, w) = (unknown.x[lane], w.0[lane]);
                value[lane] += x * w;
                magnitude[lane] += x.abs() * (w.abs() + quad.rate[lane].abs());
            }
        }
        Objective { value: value.iter().sum(), magnitude: magnitude.iter().sum() }
    }

    /// max √A_cc |min(z − lower, w)| at the swept point.
    pub fn residual(&self, bodies: &[RigidBody]) -> f64 {
        let Self { sheet, scales, bounds, unknowns, .. } = self;
        residual(bodies, Swept { sheet, scales, bounds, unknowns })
    }

    /// A bound of √A_cc over these rows.
    pub fn steepest(&self) -> f64 {
        self.scales.iter().flat_map(|scales| scales.0).fold(0.0, worse)
    }
}
