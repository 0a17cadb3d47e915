//! The paper's method: projected gradient on the dual with a fixed step, Λ ← max(lower, Λ − ρ (b + A Λ)).
//!
//! In variables of unit diagonal, with λ_max(A) from a power iteration, corrected where the steps meet more curvature. The
//! method converges for ρ < 2/λ_max, the faster the longer the step.

use glam::DVec3;

use super::{
    Criteria, InfeasibilityCheck, Monitor, Outcome, Point, Problem, Projection, SWEEPS_BETWEEN_TESTS, Solution, WALL,
};

/// Products spent on λ_max.
const POWER_ITERATIONS: u64 = 20;
/// ρ λ_max; somewhat below 2, because the power iteration approaches λ_max from below.
const STEP: f64 = 1.85;

/// The paper's Uzawa algorithm.
#[derive(Default)]
pub struct Uzawa;

impl Projection for Uzawa {
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, solution: &mut Solution) -> Outcome {
        let rows = &problem.rows;
        let scale: Vec<f64> = rows.iter().map(|row| problem.diagonal(row).sqrt()).collect();
        problem.start(solution);
        let mut largest = largest_eigenvalue(problem, &scale);
        let mut before = Solution::default();
        let mut products = POWER_ITERATIONS + 1;
        let mut sweeps = 0;
        let mut monitor = Monitor::new(criteria);
        let mut infeasibility = InfeasibilityCheck::default();
        infeasibility.start();
        let status = loop {
            if sweeps % SWEEPS_BETWEEN_TESTS == 0
                && let Some(status) = monitor.ending_with(problem, solution, (sweeps, &mut infeasibility))
            {
                break status;
            }
            if !problem.prediction.metric.is_diagonal() {
                before.impulses.clone_from(&solution.impulses);
            }
            let Solution { impulses, velocity } = &mut *solution;
            let mut squared = 0.0;
            for ((row, impulse), scale) in rows.iter().zip(impulses.iter_mut()).zip(&scale) {
                if *scale > 0.0 {
                    let gradient = problem.end_gap(row, velocity) / problem.dt;
                    let next = row.set.project(*impulse - STEP / largest * gradient / (scale * scale));
                    squared += (scale * (next - *impulse)).powi(2);
                    *impulse = next;
                }
            }
            std::mem::swap(velocity, &mut before.velocity);
            problem.velocity_into(impulses, velocity);
            if squared > 0.0 {
                let energy = problem.energy_between(Point::of(solution), Point::of(&before));
                largest = largest.max(energy / squared);
            }
            sweeps += 1;
            products += 1;
        };
        Outcome { status, sweeps, products, factorisations: 0, accuracy: problem.accuracy_of(solution) }
    }
}

/// λ_max of the matrix scaled to unit diagonal.
fn largest_eigenvalue(problem: &Problem, scale: &[f64]) -> f64 {
    // A start with every component different, so that no eigenvector is missed by symmetry.
    let mut x: Vec<f64> = (0..scale.len()).map(|c| 1.0 + 0.5 * (c as f64 * 0.754_877_666).fract()).collect();
    let mut scaled = vec![0.0; scale.len()];
    let mut value = 1.0;
    for _ in 0..POWER_ITERATIONS {
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            return 1.0;
        }
        let mut v = vec![DVec3::ZERO; problem.bodies()];
        for ((scaled, x), scale) in scaled.iter_mut().zip(&x).zip(scale) {
            *scaled = if *scale > 0.0 { x / length / scale } else { 0.0 };
        }
        problem.add_product(&scaled, &mut v);
        value = 0.0;
        for ((row, x), scale) in problem.rows.iter().zip(&mut x).zip(scale) {
            let partner = if row.j == WALL { DVec3::ZERO } else { v[row.j as usize] };
            let next = if *scale > 0.0 { row.normal.dot(partner - v[row.i as usize]) / scale } else { 0.0 };
            value += next * (*x / length);
            *x = next;
        }
    }
    value.max(1.0)
}
