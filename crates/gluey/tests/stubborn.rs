//! Projections that sweeps stall on: each must end with its tolerance. What is found is looked at from the rows alone,
//! on a path that shares no code with the solvers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/stubborn.rs"]
mod stubborn;

use std::path::Path;

use glam::DVec3;
use gluey::projection::{
    AcceleratedGaussSeidel, Criteria, InteriorPoint, Metric, Outcome, Prediction, Problem, Projection, Row, Solution,
    Status, WALL,
};
use gluey::scene::Scene;
use gluey::simulation::Simulation;
use rayon::prelude::*;
use stubborn::{Heap, heaps};

const MOST_FACTORISATIONS: u64 = 60;
/// Of a heavy ball to those that it lies on.
const MOST_RATIO: f64 = 1e12;

struct Solved {
    outcome: Outcome,
    impulses: Vec<f64>,
    velocity: Vec<DVec3>,
}

fn solve(solver: &mut dyn Projection, (problem, start): (&Problem, &[f64]), tolerance: f64) -> Solved {
    let mut solution = Solution::starting_from(start.to_vec());
    let outcome = solver.solve(problem, &Criteria { tolerance, ..Criteria::default() }, &mut solution);
    let Solution { impulses, velocity } = solution;
    Solved { outcome, impulses, velocity }
}

/// max |min(h A_cc (Λ − lower), D + h G V)| / length, and how far M (V − V^{n+1/2}) is from Gᵀ Λ, in roundings of that
/// sum.
fn look(problem: &Problem, solved: &Solved) -> (f64, f64) {
    let mut pushes = vec![DVec3::ZERO; problem.bodies()];
    let mut sizes = vec![0.0; problem.bodies()];
    let mut worst = 0.0_f64;
    for (row, impulse) in problem.rows.iter().zip(&solved.impulses) {
        let (i, j) = (row.i as usize, row.j as usize);
        let (mut steepness, mut opening) =
            (problem.prediction.metric.inverse_mass()[i], -row.normal.dot(solved.velocity[i]));
        pushes[i] -= row.normal * *impulse;
        sizes[i] += impulse.abs();
        if row.j != WALL {
            steepness += problem.prediction.metric.inverse_mass()[j];
            opening += row.normal.dot(solved.velocity[j]);
            pushes[j] += row.normal * *impulse;
            sizes[j] += impulse.abs();
        }
        assert!(*impulse >= row.set.least(), "{impulse} {}", row.set.least());
        let slack = problem.dt * steepness * (impulse - row.set.least());
        worst = worst.max(slack.min(row.gap + problem.dt * opening).abs());
    }
    let mut off = 0.0_f64;
    for body in 0..pushes.len() {
        let inverse_mass = problem.prediction.metric.inverse_mass()[body];
        let exact = problem.prediction.velocity[body] + pushes[body] * inverse_mass;
        let size = problem.prediction.velocity[body].length() + sizes[body] * inverse_mass;
        off = off.max(exact.distance(solved.velocity[body]) / (f64::EPSILON * size.max(f64::MIN_POSITIVE)));
    }
    (worst / problem.length, off)
}

#[test]
fn glue_without_inertia_and_heavy_balls_end_with_the_tolerance() {
    let counts: Vec<(Heap, u64)> = heaps(40, &[50, 100, 200], MOST_RATIO)
        .into_par_iter()
        .map(|heap| {
            let (problem, start) = heap.hardest(60).unwrap();
            let mut most = 0;
            for tolerance in [1e-6, 1e-8] {
                let solvers: [&mut dyn Projection; 2] =
                    [&mut AcceleratedGaussSeidel::default(), &mut InteriorPoint::default()];
                let [swept, factorised] = solvers.map(|solver| {
                    let solved = solve(solver, (&problem, &start), tolerance);
                    // With impulses this large 1e-8 of a radius may be below their rounding.
                    if tolerance == 1e-6 || heap.ratio.is_none() {
                        assert_eq!(
                            solved.outcome.status,
                            Status::Converged,
                            "{heap:?} {tolerance} {:?}",
                            solved.outcome
                        );
                        let (residual, off) = look(&problem, &solved);
                        assert!(residual <= 1.001 * tolerance, "{heap:?} {residual}");
                        assert!(off <= 64.0, "{heap:?}: {off} roundings");
                    }
                    solved
                });
                most = most.max(swept.outcome.factorisations);
                if heap.ratio.is_none() {
                    let apart = swept.velocity.iter().zip(&factorised.velocity).map(|(a, b)| a.distance(*b));
                    let apart = apart.fold(0.0, f64::max) * problem.dt / problem.length;
                    // V is unique; what the residual leaves of it depends on how nearly the rows are dependent.
                    assert!(apart <= 1e5 * tolerance, "{heap:?} {tolerance}: {apart}");
                }
            }
            (heap, most)
        })
        .collect();
    let most = counts.iter().max_by_key(|(_, most)| most).unwrap();
    println!("most factorisations: {most:?}");
    assert!(most.1 <= MOST_FACTORISATIONS, "{most:?}");
    let finished = counts.iter().filter(|(_, most)| *most > 0).count();
    println!("{finished} of {} were finished by factorisation", counts.len());
    assert!(finished >= 10, "{finished} only: these are not the problems that were meant");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let heap = Heap { dimension: 3, count: 200, fall: 2.0, gamma_min: f64::NEG_INFINITY, ratio: None, seed: 3 };
    let (one, start) = heap.hardest(80).unwrap();
    // Three heaps side by side, which are three components.
    let n = one.bodies() as u32;
    let moved =
        |row: &Row, k: u32| Row { i: row.i + k * n, j: if row.j == WALL { WALL } else { row.j + k * n }, ..*row };
    let problem = Problem {
        prediction: Prediction {
            velocity: one.prediction.velocity.repeat(3),
            metric: Metric::Diagonal(one.prediction.metric.inverse_mass().repeat(3)),
        },
        rows: (0..3).flat_map(|k| one.rows.iter().map(move |row| moved(row, k))).collect(),
        order: (0..3 * n).collect(),
        ..one.clone()
    };
    let start = start.repeat(3);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&mut InteriorPoint::default(), (&problem, &start), 1e-9))
    };
    let alone = on(1);
    assert_eq!(alone.outcome.status, Status::Converged);
    for threads in [2, 3, 5] {
        let together = on(threads);
        assert_eq!(alone.impulses, together.impulses);
        assert_eq!(alone.velocity, together.velocity);
    }
}

/// The least gap of all pairs and to the sides of the box, from positions.
fn least_gap(simulation: &Simulation, side: f64, dimension: usize) -> f64 {
    let particles = &simulation.state.particles;
    let mut least = f64::INFINITY;
    for (i, (x, r)) in particles.position.iter().zip(&particles.radius).enumerate() {
        for (y, s) in particles.position[..i].iter().zip(&particles.radius) {
            least = least.min(x.distance(*y) - r - s);
        }
        let up = if dimension == 3 { x.z } else { x.y };
        let across = if dimension == 3 { x.x.abs().max(x.y.abs()) } else { x.x.abs() };
        least = least.min(up - r).min(0.5 * side - across - r);
    }
    least
}

#[test]
fn heaps_without_inertia_run_on() {
    for (dimension, count, fall) in [(3, 120, 0.5), (2, 100, 3.0)] {
        let heap = Heap { dimension, count, fall, gamma_min: f64::NEG_INFINITY, ratio: None, seed: 1 };
        let text = heap.scene();
        let mut simulation = Scene::parse(&text, Path::new("heap.toml")).unwrap().simulation;
        let side = if dimension == 3 {
            (120.0 * 0.17_f64.powi(3) / 2.2).cbrt()
        } else {
            (100.0 * 0.17_f64.powi(2) / 2.0).sqrt()
        };
        for step in 0..400 {
            let report = simulation.step().unwrap_or_else(|error| panic!("{heap:?}, step {step}: {error}"));
            assert!(report.residual <= 1e-6);
            let least = least_gap(&simulation, side, dimension);
            assert!(least >= -1.1e-6 * simulation.smallest_radius(), "{heap:?}, step {step}: {least}");
        }
    }
}
