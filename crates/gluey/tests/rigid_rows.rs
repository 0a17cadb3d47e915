//! The contract of solvers on problems of bodies that turn: clumps, some of which cannot turn about every axis or move
//! at all, and spheres on their own among them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroU32;

use glam::{DMat3, DQuat, DVec3};
use gluey::projection::{
    AcceleratedGaussSeidel, AcceleratedGradient, AdmissibleSet, Criteria, InteriorPoint, Metric, NO_CLUMP, Outcome,
    Prediction, Problem, Projection, Response, Rigid, Row, Solution, Status, WALL,
};
use proptest::prelude::*;

/// How a body answers to impulses.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Sphere,
    /// Turns about every axis,
    Solid,
    /// about z alone,
    Planar,
    /// about all but one,
    Rod,
    /// or not at all.
    Point,
    Immovable,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        3 => Just(Kind::Sphere),
        4 => Just(Kind::Solid),
        1 => Just(Kind::Planar),
        2 => Just(Kind::Rod),
        1 => Just(Kind::Point),
        1 => Just(Kind::Immovable),
    ]
}

type Vector = (f64, f64, f64);

fn vector(size: f64) -> impl Strategy<Value = Vector> {
    (-size..size, -size..size, -size..size)
}

#[derive(Clone, Debug)]
struct Body {
    kind: Kind,
    centre: DVec3,
    /// Of the arms of its spheres.
    arms: Vec<DVec3>,
    mass: f64,
    turn: DQuat,
    moments: DVec3,
}

fn body() -> impl Strategy<Value = Body> {
    let arms = prop::collection::vec(vector(0.4), 1..4);
    (kind(), vector(1.0), arms, 0.2..5.0, vector(3.0), (0.5..2.0, 0.5..2.0, 0.5..2.0)).prop_map(
        |(kind, centre, arms, mass, turn, moments)| {
            let arms = if matches!(kind, Kind::Sphere) {
                vec![DVec3::ZERO]
            } else {
                arms.into_iter().map(DVec3::from).collect()
            };
            let (centre, turn) = (centre.into(), DQuat::from_scaled_axis(turn.into()));
            Body { kind, centre, arms, mass, turn, moments: moments.into() }
        },
    )
}

impl Body {
    fn response(&self) -> Response {
        let turn = DMat3::from_quat(self.turn);
        let about = |inverse: DVec3| turn * DMat3::from_diagonal(inverse) * turn.transpose();
        let inverse = 20.0 * self.moments / self.mass;
        let inverse_inertia = match self.kind {
            Kind::Solid => about(inverse),
            Kind::Planar => DMat3::from_diagonal(inverse * DVec3::Z),
            Kind::Rod => about(inverse * DVec3::new(1.0, 1.0, 0.0)),
            Kind::Sphere | Kind::Point | Kind::Immovable => DMat3::ZERO,
        };
        let inverse_mass = if matches!(self.kind, Kind::Immovable) { 0.0 } else { self.mass.recip() };
        Response { inverse_mass, inverse_inertia }
    }
}

/// Bodies whose spheres press on those of others near them and on a floor, some of them glued; all start apart.
fn problem() -> impl Strategy<Value = Problem> {
    let row = (0.0..0.02_f64, prop_oneof![Just(0.0), -0.5..0.0]);
    let apriori = prop::collection::vec(vector(1.0), 40);
    (prop::collection::vec(body(), 2..12), prop::collection::vec(row, 200), apriori).prop_map(
        |(bodies, rows, apriori)| {
            let (mut rigid, mut position, mut home) = (Rigid::default(), Vec::new(), Vec::new());
            for (at, body) in bodies.iter().enumerate() {
                let alone = matches!(body.kind, Kind::Sphere);
                for arm in &body.arms {
                    rigid.owner.push(if alone { NO_CLUMP } else { rigid.responses.len() as u32 });
                    rigid.arm.push(*arm);
                    rigid.inverse_mass.push(body.mass.recip());
                    position.push(body.centre + *arm);
                    home.push(at);
                }
                if !alone {
                    rigid.responses.push(body.response());
                }
            }
            let still = |sphere: usize| matches!(bodies[home[sphere]].kind, Kind::Immovable);
            let apriori = (0..position.len())
                .map(|sphere| if still(sphere) { DVec3::ZERO } else { DVec3::from(apriori[home[sphere]]) })
                .collect();
            let mut given = rows.into_iter();
            let mut rows = Vec::new();
            for i in 0..position.len() {
                for j in i + 1..position.len() {
                    let offset: DVec3 = position[j] - position[i];
                    let near = home[i] != home[j] && (1e-3..1.0).contains(&offset.length());
                    if let (true, Some((gap, lower))) = (near, given.next()) {
                        rows.push(Row {
                            i: i as u32,
                            j: j as u32,
                            normal: offset.normalize(),
                            gap,
                            set: AdmissibleSet::at_least(lower),
                        });
                    }
                }
                if let (true, Some((gap, lower))) = (position[i].z < 0.0, given.next()) {
                    rows.push(Row {
                        i: i as u32,
                        j: WALL,
                        normal: -DVec3::Z,
                        gap,
                        set: AdmissibleSet::at_least(lower),
                    });
                }
            }
            Problem {
                dt: 0.01,
                length: 0.1,
                prediction: Prediction { velocity: apriori, metric: Metric::Rigid(rigid) },
                rows,
                order: gluey::morton::order(&position),
            }
        },
    )
}

fn in_blocks(count: u32) -> AcceleratedGaussSeidel {
    AcceleratedGaussSeidel::with_blocks(NonZeroU32::new(count))
}

struct Solved {
    impulses: Vec<f64>,
    outcome: Outcome,
    velocity: Vec<DVec3>,
}

fn solve(solver: &mut dyn Projection, problem: &Problem, tolerance: f64) -> Solved {
    // A start that is wrong everywhere, below the bounds too.
    let mut solution = Solution::starting_from((0..problem.rows.len()).map(|c| (c as f64).sin()).collect());
    let criteria = Criteria { tolerance, max_sweeps: 400_000 };
    let outcome = solver.solve(problem, &criteria, &mut solution);
    let Solution { impulses, velocity } = solution;
    Solved { impulses, outcome, velocity }
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn sweeps_find_the_velocity_of_the_gradient_method_and_of_interior_points(problem in problem()) {
        let expected = solve(&mut AcceleratedGradient::default(), &problem, 1e-11);
        prop_assert_eq!(expected.outcome.status, Status::Converged);
        let solvers: [(&str, &mut dyn Projection); 3] = [
            ("one block", &mut in_blocks(1)),
            ("three blocks", &mut in_blocks(3)),
            ("interior points", &mut InteriorPoint::default()),
        ];
        for (name, solver) in solvers {
            let found = solve(solver, &problem, 1e-11);
            prop_assert_eq!(found.outcome.status, Status::Converged, "{}", name);
            // What is reported is what the impulses alone give.
            prop_assert!(problem.accuracy(&found.impulses).residual <= 1.1e-11, "{}", name);
            let off = farthest(&found.velocity, &expected.velocity);
            prop_assert!(off <= 1e-8, "{} is {:e} away", name, off);
            prop_assert!(found.impulses.iter().zip(&problem.rows).all(|(impulse, row)| *impulse >= row.set.least()));
        }
    }

    #[test]
    fn sweeps_remember_nothing(first in problem(), second in problem()) {
        let mut used = in_blocks(2);
        solve(&mut used, &first, 1e-8);
        let again = solve(&mut used, &second, 1e-8);
        let fresh = solve(&mut in_blocks(2), &second, 1e-8);
        prop_assert_eq!(again.impulses, fresh.impulses);
        prop_assert_eq!(again.velocity, fresh.velocity);
    }
}

/// A cube of bodies that fall on a floor, a little out of order.
fn cube(side: u32) -> Problem {
    let place = |k: u32| DVec3::new(f64::from(k % side), f64::from(k / side % side), f64::from(k / side / side));
    let shake = |k: u32| DVec3::new((f64::from(k) * 1.3).sin(), (f64::from(k) * 2.1).sin(), (f64::from(k) * 3.7).cos());
    let count = side.pow(3);
    let position: Vec<DVec3> = (0..count).map(|k| place(k) + 0.1 * shake(k)).collect();
    let pairs = gluey::neighbours::pairs(&position, &vec![0.6; position.len()]);
    let mut rows: Vec<Row> = pairs
        .into_iter()
        .map(|(i, j)| {
            let normal = (position[j as usize] - position[i as usize]).normalize();
            Row { i, j, normal, gap: 0.0, set: AdmissibleSet::at_least(if (i + j) % 7 == 0 { -1e-3 } else { 0.0 }) }
        })
        .collect();
    rows.extend((0..side * side).map(|i| Row { i, j: WALL, normal: -DVec3::Z, gap: 0.0, set: AdmissibleSet::PUSH }));
    let inverse_mass = (0..count).map(|k| 1.0 + 0.5 * shake(k).x).collect();
    let apriori = (0..count).map(|k| DVec3::new(0.0, 0.0, -0.1) + 0.01 * shake(k + 5)).collect();
    let order = gluey::morton::order(&position);
    let prediction = Prediction { velocity: apriori, metric: Metric::Diagonal(inverse_mass) };
    Problem { dt: 0.01, length: 0.5, prediction, rows, order }
}

/// The same bodies, each a clump of its own that could turn: these arms, or none.
fn held(problem: &Problem, arm: impl Fn(u32) -> DVec3) -> Problem {
    let count = problem.bodies() as u32;
    let inverse_mass = problem.prediction.metric.inverse_mass();
    let response =
        |inverse_mass: &f64| Response { inverse_mass: *inverse_mass, inverse_inertia: 10.0 * DMat3::IDENTITY };
    let rigid = Rigid {
        responses: inverse_mass.iter().map(response).collect(),
        owner: (0..count).collect(),
        arm: (0..count).map(arm).collect(),
        inverse_mass: inverse_mass.to_vec(),
    };
    let prediction = Prediction { metric: Metric::Rigid(rigid), ..problem.prediction.clone() };
    Problem { prediction, ..problem.clone() }
}

#[test]
fn clumps_of_one_sphere_get_the_velocities_of_spheres() {
    let plain = cube(9);
    let expected = solve(&mut AcceleratedGaussSeidel::default(), &plain, 1e-10);
    for blocks in [1, 4] {
        let found = solve(&mut in_blocks(blocks), &held(&plain, |_| DVec3::ZERO), 1e-10);
        assert_eq!([&expected.outcome.status, &found.outcome.status], [&Status::Converged; 2]);
        assert!(farthest(&expected.velocity, &found.velocity) < 1e-6);
        // A row has the same place in the order, but for the pieces that orders are cut in: about as many sweeps.
        let (most, sweeps) = (1.5 * expected.outcome.sweeps as f64, found.outcome.sweeps as f64);
        assert!(sweeps <= most, "{sweeps} against {most}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let problem = held(&cube(9), |k| 0.3 * DVec3::new((f64::from(k) * 0.7).sin(), 0.5, (f64::from(k) * 1.9).cos()));
    let solve = |threads: usize, blocks: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&mut in_blocks(blocks), &problem, 1e-9))
    };
    let whole = solve(1, 1);
    assert_eq!(whole.outcome.status, Status::Converged);
    for blocks in [2, 7, 73] {
        let one = solve(1, blocks);
        assert_eq!(one.outcome.status, Status::Converged);
        for threads in [2, 3, 5] {
            assert_eq!(solve(threads, blocks).impulses, one.impulses, "{threads} threads, {blocks} blocks");
        }
        assert!(farthest(&one.velocity, &whole.velocity) < 1e-6);
    }
}

#[test]
fn contacts_that_are_not_needed_get_exactly_their_bound() {
    let wall = |normal, gap, least| Row { i: 0, j: WALL, normal, gap, set: AdmissibleSet::at_least(least) };
    let mut problem = Problem {
        dt: 0.1,
        length: 1.0,
        prediction: Prediction { velocity: vec![DVec3::new(0.0, 0.0, -3.0)], metric: Metric::Diagonal(vec![0.5]) },
        rows: vec![wall(DVec3::Z, 0.5, 0.0), wall(DVec3::Z, 0.5, -0.3), wall(-DVec3::X, 0.2, 0.0)],
        order: Vec::new(),
    };
    problem = held(&problem, |_| DVec3::new(0.3, 0.2, 0.1));
    let found = solve(&mut AcceleratedGaussSeidel::default(), &problem, 1e-12);
    assert_eq!((found.outcome.status, found.impulses), (Status::Converged, vec![0.0, -0.3, 0.0]));
}
