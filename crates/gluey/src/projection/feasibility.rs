//! Proof that no velocity is admissible.
//!
//! For any y with y_c ≥ 0 on inequalities, an admissible V satisfies 0 ≤ yᵀ(D + h G V) = D·y + h (Gᵀy)·V. So if
//! D·y + h Σ_i |(Gᵀy)_i| V_max < 0, none is slower than V_max. Where the problem has no solution the impulses grow
//! along such a ray: their change between two tests is the y tried here.

use std::cmp::Reverse;

use glam::DVec3;

use super::{Problem, WALL};

/// How much faster than anything in the problem a velocity may be before it counts as none.
const SPEED_MARGIN: f64 = 100.0;
/// Rows whose share of the proof is below this are not named.
const NAMED_SHARE: f64 = 0.05;

/// First look; a problem that has a solution mostly ends before.
const FIRST: u64 = 128;

/// Looks at the impulses at sweeps 128, 256, 512…, so that the whole check costs a handful of products.
#[derive(Default)]
pub(super) struct InfeasibilityCheck {
    previous: Vec<f64>,
    /// Gᵀy of each body.
    pushed: Vec<DVec3>,
    due: u64,
}

impl InfeasibilityCheck {
    /// A new solve begins.
    pub(super) fn start(&mut self) {
        self.previous.clear();
        self.due = FIRST;
    }

    /// Whether it is time to look.
    pub(super) fn is_due(&self, sweeps: u64) -> bool {
        sweeps >= self.due
    }

    /// The sweep of the next look.
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// The rows that exclude each other, most important first, if that is proved.
    pub(super) fn infeasible(&mut self, problem: &Problem, impulses: &[f64]) -> Option<Vec<usize>> {
        self.due *= 2;
        if self.previous.is_empty() {
            self.previous.extend_from_slice(impulses);
            return None;
        }
        self.pushed.clear();
        self.pushed.resize(problem.bodies(), DVec3::ZERO);
        let mut gaps = 0.0;
        // The ray takes the place of the impulses it starts from.
        for ((row, &new), y) in problem.rows.iter().zip(impulses).zip(&mut self.previous) {
            *y = row.set.recede(new - *y);
            gaps += row.gap * *y;
            self.pushed[row.i as usize] -= row.normal * *y;
            if row.j != WALL {
                self.pushed[row.j as usize] += row.normal * *y;
            }
        }
        let pushed: f64 = self.pushed.iter().map(|p| p.length()).sum();
        if gaps + pushed * fastest(problem) * problem.dt >= 0.0 {
            self.previous.copy_from_slice(impulses);
            return None;
        }
        let ray = &self.previous;
        let largest = ray.iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
        let mut culprits: Vec<usize> = (0..ray.len()).filter(|&c| ray[c].abs() > NAMED_SHARE * largest).collect();
        // In percent: what matters alike is named in the order of the rows, not of rounding.
        let percent = |c: usize| (100.0 * ray[c].abs() / largest).round() as u8;
        culprits.sort_by_key(|&c| (Reverse(percent(c)), c));
        Some(culprits)
    }
}

/// V_max: much faster than anything in the problem.
fn fastest(problem: &Problem) -> f64 {
    let apriori = problem.prediction.velocity.iter().map(|v| v.length()).fold(0.0, f64::max);
    let gap = problem.rows.iter().map(|row| -row.gap).fold(problem.length, f64::max);
    SPEED_MARGIN * (apriori + gap / problem.dt)
}
