//! The projection in the metric of the fluid, with an interior-point method as the oracle.

use std::f64::consts::PI;
use std::sync::Arc;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};
use glam::DVec3;
use gluey::environment::RotnePrager;
use gluey::projection::{
    AcceleratedGradient, AdmissibleSet, Criteria, LeastNorm, Method, Metric, Mobility, Prediction, Problem,
    ProblemFile, Projection, Row, Solution, Status, WALL,
};
use proptest::prelude::*;

use crate::dense::{Dense, cholesky, inverse, matrix};
use crate::{VISCOSITY, spheres};

/// Bodies with rows between near ones and a floor, as spheres that keep apart; some glued.
fn suspension() -> impl Strategy<Value = Problem> {
    let body = ((-1.0..1.0, -1.0..1.0, 0.2..1.5), (-1.0..1.0, -1.0..1.0, -2.0..0.5), 0.1..0.3);
    let row = (0.0..0.02_f64, prop_oneof![Just(0.0), -0.05..0.0]);
    (prop::collection::vec(body, 2..14), prop::collection::vec(row, 200)).prop_map(|(bodies, rows)| {
        let list: Vec<(DVec3, f64)> = bodies.iter().map(|b| (DVec3::from(b.0), b.2)).collect();
        let dt = 0.01;
        let mobility = RotnePrager::new(&spheres(&list), VISCOSITY * dt);
        let mut problem = Problem {
            dt,
            length: 0.1,
            prediction: Prediction {
                velocity: bodies.iter().map(|b| DVec3::from(b.1)).collect(),
                metric: Metric::Operator {
                    mobility: Arc::new(mobility),
                    inverse_mass: list.iter().map(|(_, radius)| 1.0 / (6.0 * PI * VISCOSITY * dt * radius)).collect(),
                },
            },
            rows: Vec::new(),
            order: Vec::new(),
        };
        let mut given = rows.into_iter();
        for i in 0..list.len() {
            for j in i + 1..list.len() {
                let offset = list[j].0 - list[i].0;
                if offset.length() < 1.5 * (list[i].1 + list[j].1)
                    && let Some((gap, lower)) = given.next()
                {
                    problem.rows.push(Row {
                        i: i as u32,
                        j: j as u32,
                        normal: offset.normalize(),
                        gap,
                        set: AdmissibleSet::at_least(lower),
                    });
                }
            }
            if list[i].0.z < 0.6
                && let Some((gap, lower)) = given.next()
            {
                problem.rows.push(Row {
                    i: i as u32,
                    j: WALL,
                    normal: -DVec3::Z,
                    gap,
                    set: AdmissibleSet::at_least(lower),
                });
            }
        }
        problem
    })
}

/// V by an interior-point method in the metric as a matrix: ½ |V − U|²_M over −G V ≤ D/h, U with all glue released.
/// None where the method stops short, or slack and multiplier are both next to nothing.
fn oracle(problem: &Problem) -> Option<Vec<DVec3>> {
    let bodies = problem.bodies();
    let (n, m) = (3 * bodies, problem.rows.len());
    let metric = inverse(&cholesky(&matrix(problem.prediction.metric.mobility()?, bodies))?);
    let lower: Vec<f64> = problem.rows.iter().map(|row| row.set.least()).collect();
    let target: Vec<f64> = problem.velocity(&lower).iter().flat_map(DVec3::to_array).collect();
    // Scaled so that the metric is of the size of 1.
    let scale = metric.iter().enumerate().map(|(c, row)| row[c]).fold(0.0, f64::max);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (c, column) in metric.iter().enumerate() {
        indices.extend(0..=c);
        values.extend(column[..=c].iter().map(|entry| entry / scale));
        starts.push(indices.len());
    }
    let p = CscMatrix::new(n, n, starts, indices, values);
    let q: Vec<f64> =
        metric.iter().map(|row| -row.iter().zip(&target).map(|(a, b)| a * b).sum::<f64>() / scale).collect();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for c in 0..n {
        for (k, row) in problem.rows.iter().enumerate() {
            let sign = if row.i as usize == c / 3 { 1.0 } else { -1.0 };
            if [row.i, row.j].contains(&(c as u32 / 3)) {
                indices.push(k);
                values.push(sign * row.normal[c % 3]);
            }
        }
        starts.push(indices.len());
    }
    let minus_g = CscMatrix::new(m, n, starts, indices, values);
    let b: Vec<f64> = problem.rows.iter().map(|row| row.gap / problem.dt).collect();
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-13)
        .tol_gap_rel(1e-13)
        .tol_feas(1e-13)
        .max_iter(200)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&p, &q, &minus_g, &b, &[NonnegativeConeT(m)], settings).unwrap();
    solver.solve();
    let rows = solver.solution.s.iter().zip(&solver.solution.z);
    let sharpness = rows.map(|(slack, multiplier)| slack.max(*multiplier)).fold(f64::INFINITY, f64::min);
    let solved = solver.solution.status == SolverStatus::Solved && sharpness > 1e-3;
    solved.then(|| solver.solution.x.chunks(3).map(DVec3::from_slice).collect())
}

fn solvers() -> Vec<(&'static str, Box<dyn Projection>)> {
    Method::ALL.map(|method| (method.name(), method.solver())).into()
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn velocities_are_those_of_an_interior_point_method(problem in suspension()) {
        let expected = oracle(&problem);
        prop_assume!(expected.is_some());
        let expected = expected.unwrap();
        for (name, mut solver) in solvers() {
            let start = (0..problem.rows.len()).map(|c| 0.1 * (c as f64).sin()).collect();
            let mut solution = Solution::starting_from(start);
            let criteria = Criteria { tolerance: 1e-11, max_sweeps: 400_000 };
            let outcome = solver.solve(&problem, &criteria, &mut solution);
            prop_assert_eq!(&outcome.status, &Status::Converged, "{}", name);
            let Solution { impulses, velocity } = solution;
            prop_assert_eq!(outcome.accuracy, problem.accuracy(&impulses));
            prop_assert_eq!(&velocity, &problem.velocity(&impulses));
            let distance = farthest(&velocity, &expected);
            prop_assert!(distance <= 1e-7, "{} is {} away", name, distance);
        }
    }

    /// The rule changes impulses, not velocities, in this metric too.
    #[test]
    fn the_least_impulses_keep_the_tolerance(problem in suspension()) {
        let mut solution = Solution::starting_from(vec![0.0; problem.rows.len()]);
        let criteria = Criteria::default();
        let mut solver = AcceleratedGradient::default();
        prop_assume!(solver.solve(&problem, &criteria, &mut solution).status == Status::Converged);
        let found: f64 = solution.impulses.iter().map(|impulse| impulse * impulse).sum();
        let done = LeastNorm::default().apply(&problem, &criteria, &mut solution, &mut Vec::new());
        let impulses = solution.impulses;
        prop_assert!(problem.accuracy(&impulses).residual <= 1.001 * criteria.tolerance, "{:?}", done);
        prop_assert!(impulses.iter().map(|impulse| impulse * impulse).sum::<f64>() <= found * (1.0 + 1e-6) + 1e-12);
    }
}

/// A diagonal metric written as a full one gives what the diagonal one gives.
#[test]
fn a_full_metric_that_is_diagonal_is_the_diagonal_one() {
    let inverse_mass = vec![0.5, 2.0, 1.0];
    let rows = vec![
        Row { i: 0, j: 1, normal: DVec3::X, gap: 0.01, set: AdmissibleSet::at_least(-0.1) },
        Row { i: 1, j: 2, normal: DVec3::new(0.6, 0.0, -0.8), gap: 0.0, set: AdmissibleSet::PUSH },
        Row { i: 2, j: WALL, normal: -DVec3::Z, gap: 0.02, set: AdmissibleSet::PUSH },
    ];
    let apriori = vec![DVec3::new(2.0, 0.1, 0.0), DVec3::new(0.0, 0.0, -1.0), DVec3::new(-1.0, 0.0, -3.0)];
    let diagonal = |c: usize| (0..9).map(|k| if k == c { inverse_mass[c / 3] } else { 0.0 }).collect();
    let full: Arc<dyn Mobility> = Arc::new(Dense((0..9).map(diagonal).collect()));
    let known = Metric::Diagonal(inverse_mass.clone());
    let full = Metric::Operator { mobility: full, inverse_mass };
    let mut plain = Problem {
        dt: 0.1,
        length: 1.0,
        prediction: Prediction { velocity: apriori, metric: known.clone() },
        rows,
        order: Vec::new(),
    };
    for (name, mut solver) in solvers() {
        let criteria = Criteria { tolerance: 1e-12, max_sweeps: 10_000 };
        let mut solve = |problem: &Problem| {
            let mut solution = Solution::starting_from(vec![0.0; 3]);
            assert_eq!(solver.solve(problem, &criteria, &mut solution).status, Status::Converged);
            solution.impulses
        };
        plain.prediction.metric = known.clone();
        let (one, masses) = (solve(&plain), plain.clone());
        plain.prediction.metric = full.clone();
        let other = solve(&plain);
        assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-10), "{name}: {one:?} and {other:?}");
        for row in &plain.rows {
            assert!((plain.diagonal(row) - masses.diagonal(row)).abs() < 1e-15);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Who races a solver on a problem of the fluid from a file gets the same velocities.
    #[test]
    fn a_problem_of_the_fluid_survives_a_file(problem in suspension()) {
        let n = problem.bodies();
        let warm = vec![0.0; problem.rows.len()];
        let (position, radius) = (vec![DVec3::ZERO; n], vec![0.1; n]);
        let file = ProblemFile { dimension: 3, problem, warm: warm.clone(), position, radius };
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap();
        let read = ProblemFile::read(bytes.as_slice()).unwrap();
        let criteria = Criteria { tolerance: 1e-9, ..Criteria::default() };
        let velocity = |problem: &Problem| {
            let mut solution = Solution::starting_from(warm.clone());
            AcceleratedGradient::default().solve(problem, &criteria, &mut solution);
            solution.velocity
        };
        prop_assert!(farthest(&velocity(&read.problem), &velocity(&file.problem)) < 1e-6);
    }
}
