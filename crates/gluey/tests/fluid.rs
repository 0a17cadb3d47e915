//! Many particles in a viscous fluid: known mobilities, the projection in their metric, and what a cloud does.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::f64::consts::PI;
use std::path::Path;
use std::sync::Arc;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};
use common::{floor, gluey, simulation};
use glam::DVec3;
use gluey::adhesion::Law;
use gluey::environment::{Drag, Force, ForceComponent, Forcing, Fraction, Overdamped, Per, RotnePrager, Signal, Table};
use gluey::geometry::{Obstacle, Particles};
use gluey::projection::{
    AcceleratedGaussSeidel, AcceleratedGradient, Criteria, LeastNorm, Mobility, Problem, ProblemFile, ProblemFileError,
    Projection, Row, Status, Uzawa, WALL,
};
use gluey::scene::Scene;
use gluey::simulation::Simulation;
use proptest::prelude::*;

const VISCOSITY: f64 = 0.7;

fn spheres(list: &[(DVec3, f64)]) -> Particles {
    let mut particles = Particles::default();
    list.iter().for_each(|&(position, radius)| particles.push(position, radius, 1.0));
    particles
}

/// M of a few spheres as a matrix, row by row, from products with unit forces.
fn matrix(mobility: &dyn Mobility, bodies: usize) -> Vec<Vec<f64>> {
    let column = |c: usize| {
        let (mut forces, mut velocity) = (vec![DVec3::ZERO; bodies], vec![DVec3::ZERO; bodies]);
        forces[c / 3][c % 3] = 1.0;
        mobility.add_product(&forces, &mut velocity);
        velocity.into_iter().flat_map(|v| v.to_array()).collect::<Vec<f64>>()
    };
    (0..3 * bodies).map(column).collect()
}

/// L with L Lᵀ the matrix, if it is positive definite.
fn cholesky(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let mut lower = vec![vec![0.0; matrix.len()]; matrix.len()];
    for i in 0..matrix.len() {
        for j in 0..=i {
            let rest = matrix[i][j] - (0..j).map(|k| lower[i][k] * lower[j][k]).sum::<f64>();
            if i == j && rest <= 0.0 {
                return None;
            }
            lower[i][j] = if i == j { rest.sqrt() } else { rest / lower[j][j] };
        }
    }
    Some(lower)
}

/// (L Lᵀ)⁻¹.
fn inverse(lower: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = lower.len();
    let column = |c: usize| {
        let mut x = vec![0.0; n];
        for i in 0..n {
            let rest = f64::from(u8::from(i == c)) - (0..i).map(|k| lower[i][k] * x[k]).sum::<f64>();
            x[i] = rest / lower[i][i];
        }
        for i in (0..n).rev() {
            x[i] = (x[i] - (i + 1..n).map(|k| lower[k][i] * x[k]).sum::<f64>()) / lower[i][i];
        }
        x
    };
    (0..n).map(column).collect()
}

/// Particles that settle along −z under forces equal to their masses.
fn settling(particles: Particles, law: Law, obstacles: Vec<Obstacle>) -> Simulation {
    let gravity = [0.0, 0.0, -1.0].map(Signal::Constant);
    let drag = Drag::RotnePrager { viscosity: VISCOSITY };
    let mut simulation = simulation(particles, obstacles, law);
    simulation.environment = Box::new(Overdamped::new(Forcing { gravity, drag, ..Forcing::default() }).unwrap());
    simulation.settings.dt = 0.05;
    simulation
}

/// λ of Stimson and Jeffery (1926): two equal spheres that fall along the line of their centres at distance r have the
/// drag 6πμau λ each.
fn stimson_jeffery(distance_in_radii: f64) -> f64 {
    let alpha = (0.5 * distance_in_radii).acosh();
    let term = |n: i32| {
        let n = f64::from(n);
        let k = 2.0 * n + 1.0;
        let above = 4.0 * (0.5 * k * alpha).sinh().powi(2) - (k * alpha.sinh()).powi(2);
        let below = 2.0 * (k * alpha).sinh() + k * (2.0 * alpha).sinh();
        n * (n + 1.0) / ((2.0 * n - 1.0) * (2.0 * n + 3.0)) * (1.0 - above / below)
    };
    4.0 / 3.0 * alpha.sinh() * (1..60).map(term).sum::<f64>()
}

#[test]
fn two_spheres_in_line_and_side_by_side_settle_at_the_known_velocities() {
    for distance in [2.5, 4.0, 10.0] {
        for (direction, in_line) in [(DVec3::Z, 1.0), (DVec3::X, 0.0)] {
            let (radius, r) = (0.3, 0.3 * distance);
            let mut simulation =
                settling(spheres(&[(DVec3::ZERO, radius), (r * direction, radius)]), Law::Inelastic, Vec::new());
            let alone = 1.0 / (6.0 * PI * VISCOSITY * radius);
            let s = radius / r;
            // In line 1 + 3a/(2r) − (a/r)³, side by side 1 + 3a/(4r) + ½ (a/r)³.
            let factor = 1.0 + 0.75 * s * (1.0 + in_line) + s.powi(3) * (0.5 - 1.5 * in_line);
            for _ in 0..20 {
                simulation.step().unwrap();
                for v in &simulation.state.particles.velocity {
                    let error = (*v + DVec3::Z * alone * factor).length() / alone;
                    assert!(error < 1e-12, "{direction} at {distance} radii: {error}");
                }
            }
            if in_line == 1.0 {
                let exact = 1.0 / stimson_jeffery(distance);
                println!("in line at {distance} radii: {factor:.5}, exact {exact:.5}");
                // What is left out starts with 15/4 (a/r)⁴, the stress that each induces in the other.
                assert!((factor / exact - 1.0).abs() < 4.0 * s.powi(4), "{factor} and {exact}");
                assert!(factor >= exact);
            }
        }
    }
}

/// Two spheres of radii a and b, with the tensor written out from Zuk et al. (2014).
#[test]
fn unequal_spheres_move_each_other_by_the_known_tensor() {
    let (a, b) = (0.5, 0.2);
    let e = DVec3::new(1.0, -2.0, 0.5).normalize();
    for r in [0.0, 0.1, 0.3, 0.300_001, 0.5, 0.7, 0.700_001, 1.0, 5.0_f64] {
        let mobility = RotnePrager::new(&spheres(&[(DVec3::ONE, a), (DVec3::ONE + r * e, b)]), VISCOSITY);
        let s: f64 = a * a + b * b;
        let (even, along) = if r > a + b {
            let scale = 1.0 / (8.0 * PI * VISCOSITY * r);
            (scale * (1.0 + s / (3.0 * r * r)), scale * (1.0 - s / (r * r)))
        } else if r > a - b {
            let scale = 1.0 / (6.0 * PI * VISCOSITY * a * b) / (32.0 * r.powi(3));
            let d: f64 = (a - b) * (a - b);
            (scale * (16.0 * r.powi(3) * (a + b) - (d + 3.0 * r * r).powi(2)), scale * 3.0 * (d - r * r).powi(2))
        } else {
            (1.0 / (6.0 * PI * VISCOSITY * a), 0.0)
        };
        let force = DVec3::new(0.3, 0.7, -1.1);
        let mut velocity = vec![DVec3::ZERO; 2];
        mobility.add_product(&[DVec3::ZERO, force], &mut velocity);
        let known = even * force + along * e.dot(force) * e;
        assert!((velocity[0] - known).length() < 1e-12, "at {r}: {} and {known}", velocity[0]);
        assert!((velocity[1] - force / (6.0 * PI * VISCOSITY * b)).length() < 1e-13);
        let direction = DVec3::new(2.0, 1.0, 3.0).normalize();
        let seen = even + along * e.dot(direction).powi(2);
        assert!((mobility.along(0, 1, direction) - seen).abs() < 1e-12);
        assert_eq!(mobility.along(0, 1, direction), mobility.along(1, 0, direction));
    }
}

/// Spheres anywhere, some inside others.
fn overlapping() -> impl Strategy<Value = Vec<(DVec3, f64)>> {
    let sphere = ((-1.0..1.0, -1.0..1.0, -1.0..1.0), 0.1..0.8).prop_map(|(x, radius)| (DVec3::from(x), radius));
    prop::collection::vec(sphere, 1..12)
}

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
            inverse_mass: list.iter().map(|(_, radius)| 1.0 / (6.0 * PI * VISCOSITY * dt * radius)).collect(),
            mobility: Some(Arc::new(mobility)),
            apriori: bodies.iter().map(|b| DVec3::from(b.1)).collect(),
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
                    problem.rows.push(Row { i: i as u32, j: j as u32, normal: offset.normalize(), gap, lower });
                }
            }
            if list[i].0.z < 0.6
                && let Some((gap, lower)) = given.next()
            {
                problem.rows.push(Row { i: i as u32, j: WALL, normal: -DVec3::Z, gap, lower });
            }
        }
        problem
    })
}

/// V by an interior-point method in the metric as a matrix: ½ |V − U|²_M over −G V ≤ D/h, U with all glue released. None
/// where the method stops short, or slack and multiplier are both next to nothing.
fn oracle(problem: &Problem) -> Option<Vec<DVec3>> {
    let bodies = problem.apriori.len();
    let (n, m) = (3 * bodies, problem.rows.len());
    let metric = inverse(&cholesky(&matrix(&**problem.mobility.as_ref()?, bodies))?);
    let lower: Vec<f64> = problem.rows.iter().map(|row| row.lower).collect();
    let target: Vec<f64> = problem.velocity(&lower).iter().flat_map(|v| v.to_array()).collect();
    // Scaled so that the metric is of the size of 1.
    let scale = metric.iter().enumerate().map(|(c, row)| row[c]).fold(0.0, f64::max);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for c in 0..n {
        indices.extend(0..=c);
        values.extend((0..=c).map(|k| metric[k][c] / scale));
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
    vec![
        ("apgs", Box::new(AcceleratedGaussSeidel::default())),
        ("apgd", Box::new(AcceleratedGradient::default())),
        ("uzawa", Box::new(Uzawa)),
    ]
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn mobilities_are_symmetric_and_positive_definite(list in overlapping()) {
        let m = matrix(&RotnePrager::new(&spheres(&list), VISCOSITY), list.len());
        for i in 0..m.len() {
            for j in 0..i {
                prop_assert!((m[i][j] - m[j][i]).abs() <= 1e-15, "{} and {}", m[i][j], m[j][i]);
            }
        }
        // Two spheres that are next to the same have a mobility that is next to singular.
        let distinct = |i: usize, j: usize| {
            list[i].0.distance(list[j].0) + (list[i].1 - list[j].1).abs() > 1e-3
        };
        prop_assume!((0..list.len()).all(|i| (0..i).all(|j| distinct(i, j))));
        prop_assert!(cholesky(&m).is_some());
    }

    #[test]
    fn velocities_are_those_of_an_interior_point_method(problem in suspension()) {
        let expected = oracle(&problem);
        prop_assume!(expected.is_some());
        let expected = expected.unwrap();
        for (name, mut solver) in solvers() {
            let mut impulses: Vec<f64> = (0..problem.rows.len()).map(|c| 0.1 * (c as f64).sin()).collect();
            let criteria = Criteria { tolerance: 1e-11, max_sweeps: 400_000 };
            let outcome = solver.solve(&problem, &criteria, &mut impulses);
            prop_assert_eq!(&outcome.status, &Status::Converged, "{}", name);
            prop_assert_eq!(outcome.accuracy, problem.accuracy(&impulses));
            let mut velocity = Vec::new();
            solver.velocity_into(&problem, &impulses, &mut velocity);
            prop_assert_eq!(&velocity, &problem.velocity(&impulses));
            let distance = farthest(&velocity, &expected);
            prop_assert!(distance <= 1e-7, "{} is {} away", name, distance);
        }
    }

    /// The rule changes impulses, not velocities, in this metric too.
    #[test]
    fn the_least_impulses_keep_the_tolerance(problem in suspension()) {
        let mut impulses = vec![0.0; problem.rows.len()];
        let criteria = Criteria::default();
        let mut solver = AcceleratedGradient::default();
        prop_assume!(solver.solve(&problem, &criteria, &mut impulses).status == Status::Converged);
        let found: f64 = impulses.iter().map(|impulse| impulse * impulse).sum();
        let (mut velocity, mut u) = (problem.velocity(&impulses), Vec::new());
        let done = LeastNorm::default().distribute(&problem, &criteria, &mut velocity, &mut u, &mut impulses);
        prop_assert!(problem.accuracy(&impulses).residual <= 1.001 * criteria.tolerance, "{:?}", done);
        prop_assert!(impulses.iter().map(|impulse| impulse * impulse).sum::<f64>() <= found * (1.0 + 1e-6) + 1e-12);
    }
}

/// Any symmetric, positive definite metric will do, not just that of spheres: a matrix, by rows.
#[derive(Debug)]
struct Dense(Vec<Vec<f64>>);

impl Mobility for Dense {
    fn add_product(&self, impulses: &[DVec3], velocity: &mut [DVec3]) {
        let flat: Vec<f64> = impulses.iter().flat_map(|p| p.to_array()).collect();
        for (c, row) in self.0.iter().enumerate() {
            velocity[c / 3][c % 3] += row.iter().zip(&flat).map(|(m, p)| m * p).sum::<f64>();
        }
    }

    fn along(&self, i: usize, j: usize, e: DVec3) -> f64 {
        (0..9).map(|k| e[k / 3] * self.0[3 * i + k / 3][3 * j + k % 3] * e[k % 3]).sum()
    }
}

/// A diagonal metric written as a full one gives what the diagonal one gives.
#[test]
fn a_full_metric_that_is_diagonal_is_the_diagonal_one() {
    let inverse_mass = vec![0.5, 2.0, 1.0];
    let rows = vec![
        Row { i: 0, j: 1, normal: DVec3::X, gap: 0.01, lower: -0.1 },
        Row { i: 1, j: 2, normal: DVec3::new(0.6, 0.0, -0.8), gap: 0.0, lower: 0.0 },
        Row { i: 2, j: WALL, normal: -DVec3::Z, gap: 0.02, lower: 0.0 },
    ];
    let apriori = vec![DVec3::new(2.0, 0.1, 0.0), DVec3::new(0.0, 0.0, -1.0), DVec3::new(-1.0, 0.0, -3.0)];
    let diagonal = |c: usize| (0..9).map(|k| if k == c { inverse_mass[c / 3] } else { 0.0 }).collect();
    let full: Arc<dyn Mobility> = Arc::new(Dense((0..9).map(diagonal).collect()));
    let mut plain = Problem { dt: 0.1, length: 1.0, inverse_mass, mobility: None, apriori, rows, order: Vec::new() };
    for (name, mut solver) in solvers() {
        let criteria = Criteria { tolerance: 1e-12, max_sweeps: 10_000 };
        let mut solve = |problem: &Problem| {
            let mut impulses = vec![0.0; 3];
            assert_eq!(solver.solve(problem, &criteria, &mut impulses).status, Status::Converged);
            impulses
        };
        plain.mobility = None;
        let known = solve(&plain);
        plain.mobility = Some(Arc::clone(&full));
        let found = solve(&plain);
        assert!(known.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-10), "{name}: {known:?} and {found:?}");
        for row in &plain.rows {
            let masses = Problem { mobility: None, ..plain.clone() };
            assert!((plain.diagonal(row) - masses.diagonal(row)).abs() < 1e-15);
        }
    }
}

#[test]
fn a_full_metric_has_no_place_in_a_file() {
    let problem = Problem { mobility: Some(Arc::new(Dense(Vec::new()))), ..Problem::default() };
    let file = ProblemFile { dimension: 3, problem, warm: Vec::new(), position: Vec::new(), radius: Vec::new() };
    let mut bytes = Vec::new();
    let error = file.write(&mut bytes).unwrap_err();
    assert!(matches!(error, ProblemFileError::NotDiagonal));
    assert!(error.to_string().contains("not diagonal"), "{error}");
    assert!(bytes.is_empty());
}

/// A large sphere falls on a small one, pushes it along and slides past it.
#[test]
fn a_heavy_sphere_catches_a_light_one_and_never_overlaps() {
    for law in [Law::Inelastic, gluey(f64::NEG_INFINITY)] {
        let mut particles = spheres(&[(DVec3::new(0.05, 0.02, 2.0), 0.5), (DVec3::ZERO, 0.2)]);
        particles.mass = vec![8.0, 0.5];
        let mut simulation = settling(particles, law, Vec::new());
        let (mut least, mut touched) = (f64::INFINITY, 0);
        for _ in 0..200 {
            let report = simulation.step().unwrap();
            least = least.min(report.least_gap);
            touched += u32::from(report.contacts > 0);
        }
        assert!(touched > 10, "{law:?}: in contact for {touched} steps");
        assert!(least >= -1.01e-6 * 0.2, "{law:?}: least gap {least}");
    }
}

/// The forces that the velocities stand for, M⁻¹ V, add up to the weight: contact is equal and opposite.
#[test]
fn contact_is_equal_and_opposite() {
    let above = 0.7 * DVec3::new(0.05, 0.02, 0.7).normalize();
    let mut particles = spheres(&[(above, 0.5), (DVec3::ZERO, 0.2), (DVec3::X, 0.3)]);
    particles.mass = vec![8.0, 0.5, 1.0];
    let mut simulation = settling(particles, Law::Inelastic, Vec::new());
    simulation.settings.dt = 0.02;
    simulation.settings.criteria.tolerance = 1e-12;
    for _ in 0..10 {
        let before = simulation.state.particles.clone();
        assert_eq!(simulation.step().unwrap().substeps, 1);
        let m = matrix(&RotnePrager::new(&before, VISCOSITY), 3);
        let resistance = inverse(&cholesky(&m).unwrap());
        let velocity: Vec<f64> = simulation.state.particles.velocity.iter().flat_map(|v| v.to_array()).collect();
        let force: Vec<f64> =
            resistance.iter().map(|row| row.iter().zip(&velocity).map(|(r, v)| r * v).sum()).collect();
        let total =
            DVec3::new(force[0] + force[3] + force[6], force[1] + force[4] + force[7], force[2] + force[5] + force[8]);
        assert!((total + 9.5 * DVec3::Z).length() < 1e-11, "{total}");
        let contact = simulation.state.contacts.first().unwrap();
        assert!(contact.impulse > 0.0);
        let extra = DVec3::new(force[0], force[1], force[2] + 8.0).length() * simulation.settings.dt;
        assert!((extra - contact.impulse).abs() < 1e-11, "{extra} and {}", contact.impulse);
    }
}

/// Pushed on a floor for a while and then pulled as hard, a smooth sphere leaves when both impulses are equal: at t = 2
/// after a push from t = 0 to 1. A companion far above moves by what the contact does to the fluid.
#[test]
fn glue_pays_back_what_was_pushed_in_this_metric_too() {
    let mut particles = spheres(&[(DVec3::new(0.0, 0.0, 0.3), 0.3), (DVec3::new(0.0, 0.0, 3.0), 0.3)]);
    particles.group = vec![0, 1];
    let mut simulation = simulation(particles, vec![floor()], gluey(f64::NEG_INFINITY));
    let steps = Signal::Steps(Table::new(vec![0.0, 1.0], vec![-2.0, 2.0]).unwrap());
    let zero = || ForceComponent::Signal(Signal::Constant(0.0));
    let components = [zero(), zero(), ForceComponent::Signal(steps)];
    let push = Force { label: "push".to_owned(), groups: Some(vec![0]), components, per: Per::Force };
    let forcing =
        Forcing { forces: vec![push], drag: Drag::RotnePrager { viscosity: VISCOSITY }, ..Forcing::default() };
    simulation.environment = Box::new(Overdamped::new(forcing).unwrap());
    simulation.settings.dt = 0.01;
    simulation.settings.criteria.tolerance = 1e-12;
    for n in 1..=200 {
        simulation.step().unwrap();
        let gamma = simulation.state.contacts.first().map_or(0.0, |contact| contact.gamma);
        let t = 0.01 * f64::from(n);
        let known = if t <= 1.0 { -2.0 * t } else { -2.0 * (2.0 - t) };
        assert!((gamma - known).abs() < 1e-9, "γ = {gamma} at t = {t}");
        // The floor takes all of the force: the far sphere feels none of it.
        assert!(simulation.state.particles.velocity.iter().all(|v| v.length() < 1e-9));
    }
    simulation.step().unwrap();
    simulation.step().unwrap();
    let velocity = simulation.state.particles.velocity[0].z;
    assert!((velocity - 2.0 / (6.0 * PI * VISCOSITY * 0.3)).abs() < 1e-9, "{velocity}");
    assert!(simulation.state.particles.velocity[1].z > 0.0);
}

const CLOUD: &str = r"
seed = 3
time = { dt = 0.02, until = 1 }
contact.law.gluey = { gamma_min = -1e-3 }
environment = { gravity = [0, 0, -1], drag.rotne-prager.viscosity = 0.05305164769729845 }
[[particles]]
mass = 2.777777777777778e-3
source.fill = { count = 300, radius = 0.02, region.sphere = { centre = [0, 0, 0], radius = 1.02 } }
";

fn cloud(radius: f64, threads: usize, steps: u32) -> Simulation {
    let text = CLOUD.replace("radius = 0.02", &format!("radius = {radius}"));
    let mut simulation = Scene::parse(&text, Path::new("cloud.toml")).unwrap().simulation;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| (0..steps).for_each(|_| drop(simulation.step().unwrap())));
    simulation
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let one = cloud(0.08, 1, 40);
    assert!(!one.state.contacts.is_empty(), "contacts are part of what is compared");
    for threads in [2, 3] {
        assert_eq!(cloud(0.08, threads, 40).state, one.state, "{threads} threads");
    }
}

/// Forces spread evenly over a ball of radius R move it on average at (6/5) N F/(6πμR), the mean of the flow inside; a
/// sphere adds what it does alone. 300 at random are not even: 5 % are allowed.
#[test]
fn a_cloud_settles_like_a_ball_of_force() {
    let simulation = cloud(0.02, 2, 1);
    let particles = &simulation.state.particles;
    let mean = particles.velocity.iter().map(|v| -v.z).sum::<f64>() / particles.len() as f64;
    // With 6πμ = 1.
    let (force, count) = (particles.mass[0], particles.len() as f64);
    let known = 1.2 * (count - 1.0) * force / 1.0 + force / 0.02;
    println!("a cloud of {count}: mean velocity {mean:.4}, ball of force {known:.4}");
    assert!((mean / known - 1.0).abs() < 0.05, "{mean} and {known}");
}

#[test]
fn a_plane_of_spheres_stays_in_its_plane() {
    let text = r"
dimension = 2
time = { dt = 0.02, until = 1 }
environment = { gravity = [0, -1], drag.rotne-prager.viscosity = 0.05, flow = ['0.1 * y', '0'], inertia = false }
[[particles]]
mass = 0.01
source.fill = { count = 40, radius = 0.1, region.sphere = { centre = [0, 0], radius = 1.2 } }
";
    let mut simulation = Scene::parse(text, Path::new("plane.toml")).unwrap().simulation;
    for _ in 0..30 {
        let report = simulation.step().unwrap();
        assert!(report.least_gap >= -1.01e-7);
        assert!(simulation.state.particles.position.iter().all(|x| x.z == 0.0));
    }
}

/// u₀ (1 − φ)ⁿ, with φ given and with φ from the others around.
#[test]
fn hindered_settling_is_that_of_richardson_and_zaki() {
    let velocity = |drag: Drag, particles: &Particles| {
        let gravity = [0.0, 0.0, -1.0].map(Signal::Constant);
        let mut simulation = simulation(particles.clone(), Vec::new(), Law::Inelastic);
        simulation.environment = Box::new(Overdamped::new(Forcing { gravity, drag, ..Forcing::default() }).unwrap());
        simulation.step().unwrap();
        simulation.state.particles.velocity
    };
    let hindered = |exponent, fraction| Drag::Hindered { viscosity: VISCOSITY, exponent, fraction };
    let alone = spheres(&[(DVec3::ZERO, 0.3)]);
    let free = -1.0 / (6.0 * PI * VISCOSITY * 0.3);
    for (fraction, exponent) in [(0.0, 4.65), (0.1, 4.65), (0.4, 2.4), (0.4, 0.0)] {
        let found = velocity(hindered(exponent, Fraction::Uniform(fraction)), &alone)[0];
        assert!((found - DVec3::Z * free * (1.0 - fraction).powf(exponent)).length() < 1e-15, "{fraction}: {found}");
    }
    assert_eq!(velocity(hindered(4.65, Fraction::Local { radii: 5.0 }), &alone), [DVec3::Z * free]);

    // At random, without overlap, centres at 4000/16.54³, so that φ = 0.1: those well inside settle at that fraction on
    // average, and somewhat above it since there are more others close by than anywhere.
    let text = r"
seed = 5
time = { dt = 1, until = 1 }
[[particles]]
mass = 1
source.fill = { count = 4000, radius = 0.3, region.box = { lower = [0, 0, 0], upper = [17.14, 17.14, 17.14] } }
";
    let crowd = Scene::parse(text, Path::new("crowd.toml")).unwrap().simulation.state.particles;
    let found = velocity(hindered(4.65, Fraction::Local { radii: 6.0 }), &crowd);
    let (mut sum, mut count) = (0.0, 0.0);
    for (x, v) in crowd.position.iter().zip(&found) {
        if x.min_element() > 2.1 && x.max_element() < 15.04 {
            let fraction = 1.0 - (v.z / free).powf(1.0 / 4.65);
            (sum, count) = (sum + fraction, count + 1.0);
        }
    }
    println!("mean local fraction {:.4} where the suspension has 0.1", sum / count);
    assert!((sum / count / 0.1 - 1.0).abs() < 0.05, "{}", sum / count);
}

#[test]
fn environments_for_many_particles_refuse_what_makes_no_sense() {
    const REST: &str = "\n[[particles]]\nmass = 1\nsource.list = [{ position = [0, 0, 0], radius = 1 }]\n";
    let refused = |environment: &str, words: &[&str]| {
        let text = format!("time = {{ dt = 1, until = 1 }}\n[environment]\n{environment}{REST}");
        let message = Scene::parse(&text, Path::new("bad.toml")).err().expect(environment).to_string();
        words.iter().for_each(|word| assert!(message.contains(word), "`{word}` is not in:\n{message}"));
    };
    refused("drag.rotne-prager.viscosity = 0", &["bad.toml:3:31", "positive"]);
    refused(
        "drag.rotne-prager = { viscosity = 1 }\ninertia = true",
        &["bad.toml:4:1", "has no inertia", "drag.stokes"],
    );
    refused("drag.rotneprager.viscosity = 1", &["unknown choice `rotneprager`", "rotne-prager"]);
    refused("drag = { rotne-prager.viscosity = 1, stokes.viscosity = 1 }", &["bad.toml:3"]);
    refused("drag.hindered = { viscosity = 1 }", &["`fraction` is missing"]);
    for fraction in ["-0.1", "1", "nan"] {
        let text = format!("drag.hindered = {{ viscosity = 1, fraction.uniform = {fraction} }}");
        refused(&text, &["bad.toml:3:34", "at least 0 and less than 1"]);
    }
    refused("drag.hindered = { viscosity = 1, fraction.local.radii = 2 }", &["bad.toml:3:57", "at least 3"]);
    refused("drag.hindered = { viscosity = 1, fraction.uniform = 0, exponent = -1 }", &["bad.toml:3:67", "from 0"]);
    for (drag, message) in [
        (Drag::RotnePrager { viscosity: 0.0 }, "`drag.viscosity` is 0: expected a finite number > 0"),
        (
            Drag::Hindered { viscosity: 1.0, exponent: f64::NAN, fraction: Fraction::Uniform(0.5) },
            "`drag.exponent` is NaN: expected a finite number ≥ 0",
        ),
        (
            Drag::Hindered { viscosity: 1.0, exponent: 1.0, fraction: Fraction::Uniform(1.0) },
            "`drag.fraction.uniform` is 1: expected a number from 0 to below 1",
        ),
        (
            Drag::Hindered { viscosity: 1.0, exponent: 1.0, fraction: Fraction::Local { radii: 1.0 } },
            "`drag.fraction.local.radii` is 1: expected a finite number ≥ 3: two that touch are 2 apart",
        ),
    ] {
        let error = Overdamped::new(Forcing { drag, ..Forcing::default() }).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let drag = Drag::RotnePrager { viscosity: 1.0 };
    let error = gluey::environment::Inertial::new(Forcing { drag, ..Forcing::default() }).unwrap_err();
    assert!(error.to_string().starts_with("`inertia` is `true` with `drag.rotne-prager`"), "{error}");
}
