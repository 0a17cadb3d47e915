//! One contract for every solver, and an interior-point method as the oracle.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/interior_point.rs"]
mod interior_point;

use std::num::NonZeroU32;

use glam::DVec3;
use gluey::projection::{
    AcceleratedGaussSeidel, Accuracy, AdmissibleSet, Criteria, Method, Metric, Prediction, Problem, ProblemFile,
    ProblemFileError, Projection, Row, Solution, Status, WALL,
};
use interior_point::Primal;
use proptest::prelude::*;

fn in_blocks(count: u32) -> AcceleratedGaussSeidel {
    AcceleratedGaussSeidel::with_blocks(NonZeroU32::new(count))
}

fn solvers() -> Vec<(&'static str, Box<dyn Projection>)> {
    let in_blocks: Box<dyn Projection> = Box::new(in_blocks(5));
    Method::ALL
        .map(|method| (method.name(), method.solver()))
        .into_iter()
        .chain([("apgs in blocks", in_blocks)])
        .collect()
}

/// Bodies in a heap, rows between near ones and a floor: gaps ≥ 0, some glued.
fn problem() -> impl Strategy<Value = Problem> {
    let body = ((-1.0..1.0, -1.0..1.0, 0.0..1.5), (-1.0..1.0, -1.0..1.0, -2.0..0.5), 0.2..5.0);
    let row = (0.0..0.02_f64, prop_oneof![Just(0.0), -0.5..0.0]);
    (prop::collection::vec(body, 2..14), prop::collection::vec(row, 200)).prop_map(|(bodies, rows)| {
        let position: Vec<DVec3> = bodies.iter().map(|b| DVec3::from(b.0)).collect();
        let mut problem = Problem {
            dt: 0.01,
            length: 0.1,
            prediction: Prediction {
                velocity: bodies.iter().map(|b| DVec3::from(b.1)).collect(),
                metric: Metric::Diagonal(bodies.iter().map(|b| 1.0 / b.2).collect()),
            },
            rows: Vec::new(),
            order: gluey::morton::order(&position),
        };
        let mut given = rows.into_iter();
        let mut add = |i: usize, j: u32, normal: DVec3, problem: &mut Problem| {
            if let Some((gap, lower)) = given.next() {
                problem.rows.push(Row { i: i as u32, j, normal, gap, set: AdmissibleSet::at_least(lower) });
            }
        };
        for i in 0..position.len() {
            for j in i + 1..position.len() {
                let offset = position[j] - position[i];
                if offset.length() < 1.2 && offset.length() > 1e-3 {
                    add(i, j as u32, offset.normalize(), &mut problem);
                }
            }
            if position[i].z < 0.7 {
                add(i, WALL, -DVec3::Z, &mut problem);
            }
        }
        problem
    })
}

/// V by an interior-point method. None where the method stops short of its own tolerance, or is not sharp.
fn oracle(problem: &Problem) -> Option<Vec<DVec3>> {
    let mut primal = Primal::new(problem, 1e-13);
    primal.solve();
    (primal.is_solved() && primal.sharpness() > 1e-3).then(|| primal.velocity())
}

fn solve(solver: &mut dyn Projection, problem: &Problem, tolerance: f64) -> (Vec<f64>, Status) {
    // A start that is wrong everywhere, below the bounds too.
    let start = Solution::starting_from((0..problem.rows.len()).map(|c| (c as f64).sin()).collect());
    let criteria = Criteria { tolerance, max_sweeps: 400_000 };
    let mut solution = start;
    let outcome = solver.solve(problem, &criteria, &mut solution);
    let Solution { impulses, velocity } = solution;
    let with_these = accuracy(problem, &impulses, &velocity);
    assert_eq!(outcome.accuracy, with_these, "the reported accuracy is that of the impulses and velocities returned");
    let off = farthest_in_rounding(problem, &impulses, &velocity);
    assert!(off <= 32.0, "velocities are {off} roundings away from those that the impulses alone give");
    let recomputed = problem.accuracy(&impulses);
    if outcome.status == Status::Converged {
        assert!(recomputed.residual <= 1.1 * tolerance, "reported converged at {}", recomputed.residual);
    }
    (impulses, outcome.status)
}

fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The accuracy of impulses with these velocities.
fn accuracy(problem: &Problem, impulses: &[f64], velocity: &[DVec3]) -> Accuracy {
    let mut worst = Accuracy::default();
    for (row, impulse) in problem.rows.iter().zip(impulses) {
        let end_gap = problem.end_gap(row, velocity) / problem.length;
        let slack = problem.dt * problem.diagonal(row) * (impulse - row.set.least()) / problem.length;
        worst.residual = worse(slack.min(end_gap).abs(), worst.residual);
        worst.violation = worse(-end_gap, worst.violation);
    }
    worst
}

/// How far velocities are from V^{n+1/2} + M⁻¹ Gᵀ Λ, relative to a rounding of the largest that this sum may have been.
fn farthest_in_rounding(problem: &Problem, impulses: &[f64], velocity: &[DVec3]) -> f64 {
    let mut size: Vec<f64> = problem.prediction.velocity.iter().map(|v| v.length()).collect();
    for (row, impulse) in problem.rows.iter().zip(impulses) {
        for body in [row.i, row.j].into_iter().filter(|body| *body != WALL).map(|body| body as usize) {
            size[body] += impulse.abs() * problem.prediction.metric.inverse_mass()[body];
        }
    }
    let exact = problem.velocity(impulses);
    let off = velocity.iter().zip(&exact).zip(size).map(|((v, exact), size)| {
        let off = v.distance(*exact);
        if off == 0.0 { 0.0 } else { off / (size * f64::EPSILON) }
    });
    off.fold(0.0, worse)
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn velocities_are_those_of_the_interior_point_method(problem in problem()) {
        let expected = oracle(&problem);
        prop_assume!(expected.is_some());
        let expected = expected.unwrap();
        let scale = problem.prediction.velocity.iter().map(|v| v.length()).fold(1.0, f64::max);
        for (name, mut solver) in solvers() {
            let (impulses, status) = solve(&mut *solver, &problem, 1e-11);
            prop_assert_eq!(status, Status::Converged, "{}", name);
            let distance = farthest(&problem.velocity(&impulses), &expected);
            prop_assert!(distance <= 1e-8 * scale, "{} is {} away", name, distance);
            for (row, impulse) in problem.rows.iter().zip(&impulses) {
                prop_assert!(*impulse >= row.set.least());
            }
        }
    }

    /// What the last solve left was swapped out by who asked for velocities: the next who asked got other numbers.
    #[test]
    fn a_second_solve_gives_the_same_numbers(problem in problem()) {
        for (_, mut solver) in solvers() {
            let start = Solution::starting_from(vec![0.1; problem.rows.len()]);
            let (mut one, mut other) = (start.clone(), start);
            let outcome = solver.solve(&problem, &Criteria::default(), &mut one);
            prop_assert_eq!(&solver.solve(&problem, &Criteria::default(), &mut other), &outcome);
            prop_assert_eq!(&one, &other);
        }
    }

    #[test]
    fn a_solver_remembers_nothing(first in problem(), second in problem()) {
        for (name, mut used) in solvers() {
            solve(&mut *used, &first, 1e-8);
            let (again, _) = solve(&mut *used, &second, 1e-8);
            let mut fresh = solvers().into_iter().find(|(other, _)| *other == name).unwrap().1;
            prop_assert_eq!(again, solve(&mut *fresh, &second, 1e-8).0);
        }
    }

    #[test]
    fn problems_survive_a_file(problem in problem()) {
        let n = problem.bodies();
        let position = vec![DVec3::ONE; n];
        let problem = Problem { order: gluey::morton::order(&position), ..problem };
        let file = ProblemFile { dimension: 3, warm: vec![0.25; problem.rows.len()], problem, position, radius: vec![0.5; n] };
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap();
        prop_assert_eq!(&ProblemFile::read(bytes.as_slice()).unwrap(), &file);
        let cut = bytes.len() / 2;
        prop_assert!(matches!(ProblemFile::read(&bytes[..cut]), Err(ProblemFileError::Io(_))));
    }
}

/// A cube of equal bodies that fall on a floor, a little out of order, so that neighbours press on each other sideways.
fn cube(side: u32) -> Problem {
    let place = |k: u32| DVec3::new(f64::from(k % side), f64::from(k / side % side), f64::from(k / side / side));
    let shake = |k: u32| DVec3::new((f64::from(k) * 1.3).sin(), (f64::from(k) * 2.1).sin(), (f64::from(k) * 3.7).cos());
    let count = side.pow(3);
    let position: Vec<DVec3> = (0..count).map(|k| place(k) + 0.1 * shake(k)).collect();
    let mut rows = Vec::new();
    for (i, j) in gluey::neighbours::pairs(&position, &vec![0.6; position.len()]) {
        let offset = position[j as usize] - position[i as usize];
        rows.push(Row {
            i,
            j,
            normal: offset.normalize(),
            gap: 0.0,
            set: AdmissibleSet::at_least(if (i + j) % 7 == 0 { -1e-3 } else { 0.0 }),
        });
    }
    rows.extend((0..side * side).map(|i| Row { i, j: WALL, normal: -DVec3::Z, gap: 0.0, set: AdmissibleSet::PUSH }));
    Problem {
        dt: 0.01,
        length: 0.5,
        prediction: Prediction {
            velocity: (0..count).map(|k| DVec3::new(0.0, 0.0, -0.1) + 0.01 * shake(k + 5)).collect(),
            metric: Metric::Diagonal(vec![1.0; position.len()]),
        },
        rows,
        order: gluey::morton::order(&position),
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let problem = cube(9);
    let solve = |threads: usize, blocks: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&mut in_blocks(blocks), &problem, 1e-10))
    };
    let (whole, status) = solve(1, 1);
    assert_eq!(status, Status::Converged);
    for blocks in [2, 7, 73] {
        let (one, status) = solve(1, blocks);
        assert_eq!(status, Status::Converged);
        for threads in [2, 3, 5] {
            assert_eq!(solve(threads, blocks).0, one, "{threads} threads, {blocks} blocks");
        }
        assert!(farthest(&problem.velocity(&one), &problem.velocity(&whole)) < 1e-6);
    }
}

/// Blocks that relax what they share with split masses need hardly more sweeps than one.
#[test]
fn blocks_cost_few_sweeps() {
    let problem = cube(12);
    let sweeps = |blocks: u32| {
        let mut solution = Solution::starting_from(vec![0.0; problem.rows.len()]);
        let criteria = Criteria { tolerance: 1e-6, max_sweeps: 100_000 };
        in_blocks(blocks).solve(&problem, &criteria, &mut solution).sweeps as f64
    };
    // The residual is looked at every eight sweeps.
    let (whole, cut) = (sweeps(1), sweeps(4));
    assert!(cut <= 1.1 * whole + 8.0, "{cut} against {whole}");
}

/// Seven of 28 discs in a heap stand between two walls that they exactly span: it takes impulses a hundred times those
/// of the rest to hold them, and on the way there the residual hardly falls.
#[test]
fn an_arch_that_exactly_fits_is_held() {
    let file = ProblemFile::read(&include_bytes!("problems/arch.qpb")[..]).unwrap();
    for (tolerance, most) in [(1e-6, 2_000), (1e-9, 4_000)] {
        for start in [vec![0.0; file.warm.len()], file.warm.clone()] {
            let mut solution = Solution::starting_from(start);
            let criteria = Criteria { tolerance, max_sweeps: most };
            let outcome = AcceleratedGaussSeidel::default().solve(&file.problem, &criteria, &mut solution);
            assert_eq!(outcome.status, Status::Converged, "{tolerance}: {outcome:?}");
            assert!(file.problem.accuracy(&solution.impulses).residual <= tolerance);
        }
    }
}

/// 500 gluey spheres rest on each other in a viscous fluid. Momentum must build up for thousands of sweeps: line
/// searches every 64, each of which ends it, left the residual at 8.5e-6 for ever.
#[test]
fn a_gluey_heap_without_inertia_is_held() {
    let mut file = ProblemFile::read(&include_bytes!("problems/heap-without-inertia.qpb")[..]).unwrap();
    file.problem.order = gluey::morton::order(&file.position);
    let mut solution = Solution::starting_from(file.warm.clone());
    let criteria = Criteria { tolerance: 1e-6, max_sweeps: 20_000 };
    let outcome = AcceleratedGaussSeidel::default().solve(&file.problem, &criteria, &mut solution);
    assert_eq!(outcome.status, Status::Converged, "{outcome:?}");
    assert!(file.problem.accuracy(&solution.impulses).residual <= 1e-6);
}

fn one_ball(rows: Vec<Row>) -> Problem {
    let apriori = vec![DVec3::new(0.0, 0.0, -3.0)];
    Problem {
        dt: 0.1,
        length: 1.0,
        prediction: Prediction { velocity: apriori, metric: Metric::Diagonal(vec![0.5]) },
        rows,
        order: Vec::new(),
    }
}

fn wall(normal: DVec3, gap: f64, lower: f64) -> Row {
    Row { i: 0, j: WALL, normal, gap, set: AdmissibleSet::at_least(lower) }
}

#[test]
fn contacts_that_are_not_needed_get_exactly_their_bound() {
    for (name, mut solver) in solvers() {
        let problem = one_ball(vec![wall(DVec3::Z, 0.5, 0.0), wall(DVec3::Z, 0.5, -0.3)]);
        let (impulses, status) = solve(&mut *solver, &problem, 1e-12);
        assert_eq!((impulses, status), (vec![0.0, -0.3], Status::Converged), "{name}");
    }
}

#[test]
fn a_ball_stops_at_the_floor() {
    for (name, mut solver) in solvers() {
        let problem = one_ball(vec![wall(-DVec3::Z, 0.1, 0.0)]);
        let (impulses, _) = solve(&mut *solver, &problem, 1e-12);
        assert!((impulses[0] - 2.0 * (3.0 - 1.0)).abs() < 1e-9, "{name}: {impulses:?}");
    }
}

#[test]
fn closing_walls_are_recognised_as_infeasible_and_named() {
    for (name, mut solver) in solvers() {
        let rows = vec![wall(DVec3::X, 0.3, 0.0), wall(DVec3::Z, -0.2, 0.0), wall(-DVec3::Z, 0.1, 0.0)];
        let (_, status) = solve(&mut *solver, &one_ball(rows), 1e-9);
        let Status::Infeasible(mut culprits) = status else { panic!("{name}: {status:?}") };
        culprits.sort_unstable();
        assert_eq!(culprits, vec![1, 2], "{name}");
    }
}

#[test]
fn equalities_that_contradict_each_other_are_recognised() {
    for (name, mut solver) in solvers() {
        let rows = vec![wall(DVec3::Z, 0.1, f64::NEG_INFINITY), wall(DVec3::Z, 0.2, f64::NEG_INFINITY)];
        let (_, status) = solve(&mut *solver, &one_ball(rows), 1e-9);
        assert!(matches!(status, Status::Infeasible(_) | Status::Stalled), "{name}: {status:?}");
    }
}

#[test]
fn a_problem_without_rows_or_with_immovable_bodies_is_solved() {
    for (_, mut solver) in solvers() {
        assert_eq!(solve(&mut *solver, &one_ball(Vec::new()), 1e-9).1, Status::Converged);
        let mut problem = one_ball(vec![wall(DVec3::Z, 0.5, 0.0)]);
        problem.prediction.metric.diagonal()[0] = 0.0;
        assert_eq!(solve(&mut *solver, &problem, 1e-9).1, Status::Converged);
    }
}

#[test]
fn files_that_are_no_problems_are_refused() {
    assert!(matches!(ProblemFile::read(&b"QPBENCH3........"[..]), Err(ProblemFileError::Magic)));
    let file = ProblemFile {
        dimension: 3,
        problem: one_ball(vec![wall(DVec3::Z, 0.1, 0.0)]),
        warm: vec![0.0],
        position: vec![DVec3::ZERO],
        radius: vec![1.0],
    };
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    for (at, word) in [(8, 7_u64.to_le_bytes()), (16, u64::MAX.to_le_bytes()), (32, f64::NAN.to_le_bytes())] {
        let mut damaged = bytes.clone();
        damaged[at..at + 8].copy_from_slice(&word);
        let error = ProblemFile::read(damaged.as_slice()).unwrap_err();
        assert!(matches!(error, ProblemFileError::Value { .. }), "{error}");
    }
}
