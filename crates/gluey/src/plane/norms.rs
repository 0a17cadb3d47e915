//! The distance between the algorithm and the exact solution, in the norms of the paper's convergence theorem.
//!
//! As in the paper q_h and γ_h are affine between the tⁿ, u_h = q_h' is uⁿ⁺¹ and λ_h is λ̃ⁿ⁺¹ on ]tⁿ, tⁿ⁺¹[. The exact
//! q is a parabola and γ a line on each piece, so that all integrals and suprema below are taken in closed form, not
//! sampled.
//!
//! λ_h converges weakly-* as measures only: at a hit it is a pulse of width h where λ is a point mass, and the total
//! variation of λ_h − λ does not go to 0. Measured are its total mass, and its action on a test function φ.

use std::f64::consts::PI;

use super::Sample;
use super::algorithm::Run;
use super::exact::{Piece, Solution};

/// Distances of a run from the exact solution on [0, T], T the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// ‖u_h − u‖ in L¹ (length).
    pub velocity_l1: f64,
    /// ‖q_h − q‖ in L^∞ (length).
    pub gap_sup: f64,
    /// ‖γ_h − γ‖ in L¹ (momentum / length² × time).
    pub gamma_l1: f64,
    /// | ∫|λ_h| − |λ|(I) |, the difference of total variations of the measures (momentum).
    pub lambda_mass: f64,
    /// |⟨λ_h − λ, φ⟩| for φ(t) = sin²(πt/T) (momentum).
    pub lambda_action: f64,
    /// | Var(u_h) − Var(u) | (length / time).
    pub velocity_variation: f64,
}

/// Measures a run against the exact solution of the same experiment on the same time.
#[must_use]
pub fn distance(run: &Run, solution: &Solution, mass: f64) -> Distance {
    let mut found = Distance::default();
    let end = run.samples.last().map_or(0.0, |sample| sample.time);
    let (mut exact_mass, mut exact_action) = (0.0, 0.0);
    for Overlap { step: [before, after], piece, from, to } in overlaps(&run.samples, solution) {
        let (start, stop) = (piece.at(from), piece.at(to));
        found.velocity_l1 += area(after.velocity - start.velocity, after.velocity - stop.velocity, to - from);
        found.gap_sup = found.gap_sup.max(gap_error([before, after], piece, from, to));
        found.gamma_l1 += gamma_error([before, after], piece, from, to);
        exact_mass += piece.lambda.abs() * (to - from);
        exact_action += piece.lambda * test_integral(from, to, end);
    }
    for (time, impulse) in solution.impulses(mass).filter(|(time, _)| *time <= end) {
        exact_mass += impulse.abs();
        exact_action += impulse * (PI * time / end).sin().powi(2);
    }
    let action = |pair: &[Sample]| pair[1].lambda * test_integral(pair[0].time, pair[1].time, end);
    found.lambda_mass = (run.total_impulse() - exact_mass).abs();
    found.lambda_action = (run.samples.windows(2).map(action).sum::<f64>() - exact_action).abs();
    found.velocity_variation = (run.velocity_variation() - velocity_variation(solution)).abs();
    found
}

/// sup |q̂ − q| and ‖γ̂ − γ‖ in L¹, for q̂ and γ̂ affine between samples (length; momentum / length² × time).
#[must_use]
pub fn between(samples: &[Sample], solution: &Solution) -> (f64, f64) {
    let (mut gap_sup, mut gamma_l1) = (0.0_f64, 0.0);
    for Overlap { step, piece, from, to } in overlaps(samples, solution) {
        gap_sup = gap_sup.max(gap_error(step, piece, from, to));
        gamma_l1 += gamma_error(step, piece, from, to);
    }
    (gap_sup, gamma_l1)
}

/// A stretch of time within one step and one piece.
struct Overlap<'a> {
    step: [&'a Sample; 2],
    piece: &'a Piece,
    from: f64,
    to: f64,
}

/// All stretches, in order. The last piece also stands for what rounding leaves after it.
fn overlaps<'a>(samples: &'a [Sample], solution: &'a Solution) -> impl Iterator<Item = Overlap<'a>> {
    samples.windows(2).flat_map(move |pair| {
        let (start, end) = (pair[0].time, pair[1].time);
        let first = solution.pieces.partition_point(|piece| piece.end <= start).min(solution.pieces.len() - 1);
        let pieces = solution.pieces[first..].iter().enumerate();
        let within = pieces.take_while(move |(k, piece)| *k == 0 || piece.start < end);
        within.map(move |(k, piece)| {
            let last = first + k + 1 == solution.pieces.len();
            let to = if last { end } else { piece.end.min(end) };
            Overlap { step: [&pair[0], &pair[1]], piece, from: piece.start.max(start), to }
        })
    })
}

/// A quantity of the samples, affine between them.
fn line([before, after]: [&Sample; 2], quantity: fn(&Sample) -> f64, time: f64) -> f64 {
    let (a, b) = (quantity(before), quantity(after));
    a + (b - a) * ((time - before.time) / (after.time - before.time))
}

/// max |q̂ − q|: at an end, or where the velocities agree.
fn gap_error(step: [&Sample; 2], piece: &Piece, from: f64, to: f64) -> f64 {
    let error = |t: f64| (line(step, |sample| sample.gap, t) - piece.at(t).gap).abs();
    let slope = (step[1].gap - step[0].gap) / (step[1].time - step[0].time);
    let level = piece.start + (slope - piece.velocity) / piece.acceleration;
    let inside = if level > from && level < to { error(level) } else { 0.0 };
    error(from).max(error(to)).max(inside)
}

/// ∫ |γ̂ − γ|.
fn gamma_error(step: [&Sample; 2], piece: &Piece, from: f64, to: f64) -> f64 {
    let error = |t: f64| line(step, |sample| sample.gamma, t) - piece.at(t).gamma;
    area(error(from), error(to), to - from)
}

/// Var(u) of the exact solution (length / time).
#[must_use]
pub fn velocity_variation(solution: &Solution) -> f64 {
    let within = |piece: &Piece| (piece.acceleration * (piece.end - piece.start)).abs();
    let smooth: f64 = solution.pieces.iter().map(within).sum();
    let jumps: f64 = solution.impulses(1.0).map(|(_, jump)| jump.abs()).sum();
    smooth + jumps
}

/// ∫ |e| over an interval on which e is a straight line with these values at its ends.
fn area(e0: f64, e1: f64, length: f64) -> f64 {
    let sum = e0.abs() + e1.abs();
    if e0 * e1 >= 0.0 { 0.5 * sum * length } else { 0.5 * (e0 * e0 + e1 * e1) / sum * length }
}

/// ∫ sin²(πt/T) dt over an interval.
fn test_integral(from: f64, to: f64, end: f64) -> f64 {
    let rate = 2.0 * PI / end;
    // sin b − sin a as a product, which does not cancel for short intervals.
    let sines = 2.0 * (0.5 * rate * (from + to)).cos() * (0.5 * rate * (to - from)).sin();
    0.5 * (to - from) - 0.5 * sines / rate
}
