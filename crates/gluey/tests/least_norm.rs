//! The rule for impulses that the velocity leaves open, against an interior-point method, and over long times at rest.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolution, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};
use glam::DVec3;
use gluey::contact::{Pair, Partner};
use gluey::projection::{
    AcceleratedGaussSeidel, AcceleratedGradient, AdmissibleSet, Criteria, LeastNorm, Metric, Prediction, Problem,
    Projection, Row, Solution, Status, Uzawa, WALL,
};
use gluey::scene::Scene;
use gluey::simulation::{ImpulseRule, StepReport};
use gluey::trajectory::{Checkpoint, Progress};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// What rows above their bounds may be.
#[derive(Clone, Copy)]
enum Bound {
    Lower,
    None,
}

/// min ½ Σ Λ² over Gᵀ Λ = Gᵀ Λ_found, Λ ≥ lower, by an interior-point method; rows that end open keep theirs.
fn oracle(problem: &Problem, found: &[f64], tolerance: f64, bound: Bound) -> Vec<f64> {
    let velocity = problem.velocity(found);
    let open = tolerance * problem.length;
    let closed: Vec<usize> =
        (0..found.len()).filter(|c| problem.end_gap(&problem.rows[*c], &velocity) <= open).collect();
    // Units in which the impulses are of the order of 1.
    let scale = closed.iter().map(|c| found[*c].abs()).fold(f64::MIN_POSITIVE, f64::max);
    // No entry of the least exceeds the norm of those found: bounds beyond it cannot be met.
    let norm = closed.iter().map(|c| found[*c].powi(2)).sum::<f64>().sqrt();
    let (n, balances) = (closed.len(), 3 * problem.bodies());
    let mut right = vec![0.0; balances];
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut bounds = Vec::new();
    for (column, &c) in closed.iter().enumerate() {
        let row = &problem.rows[c];
        let mut entries = Vec::new();
        for (body, sign) in [(row.i, -1.0), (row.j, 1.0)] {
            if body != WALL && problem.prediction.metric.inverse_mass()[body as usize] > 0.0 {
                entries.extend((0..3).map(|axis| (3 * body as usize + axis, sign * row.normal[axis])));
            }
        }
        entries.sort_by_key(|entry| entry.0);
        for (at, value) in &entries {
            right[*at] += value * found[c] / scale;
        }
        if matches!(bound, Bound::Lower) && -row.set.least() <= norm {
            entries.push((balances + bounds.len(), -1.0));
            bounds.push(-row.set.least() / scale);
        }
        assert_eq!(column + 1, starts.len());
        indices.extend(entries.iter().map(|entry| entry.0));
        values.extend(entries.iter().map(|entry| entry.1));
        starts.push(indices.len());
    }
    let rows = balances + bounds.len();
    let a = CscMatrix::new(rows, n, starts, indices, values);
    let p = CscMatrix::identity(n);
    let cones = [ZeroConeT(balances), NonnegativeConeT(bounds.len())];
    right.extend(&bounds);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-14)
        .tol_gap_rel(1e-14)
        .tol_feas(1e-13)
        .max_iter(200)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&p, &vec![0.0; n], &a, &right, &cones, settings).unwrap();
    solver.solve();
    // Where equations say the same twice it may stop just short of its own tolerance; what it has then must still do.
    let DefaultSolution { status, obj_val, obj_val_dual, r_prim, .. } = &solver.solution;
    let ended =
        matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress);
    assert!(
        ended && (obj_val - obj_val_dual).abs() < 1e-10 * (1.0 + obj_val) && *r_prim < 1e-10,
        "{status:?}, {obj_val}, {obj_val_dual}, {r_prim}"
    );
    let mut impulses = found.to_vec();
    for (c, x) in closed.iter().zip(&solver.solution.x) {
        impulses[*c] = x * scale;
    }
    impulses
}

/// The largest difference relative to the largest entry.
fn deviation(a: &[f64], b: &[f64]) -> f64 {
    let scale = b.iter().map(|b| b.abs()).fold(f64::MIN_POSITIVE, f64::max);
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale
}

/// A patch of discs in contact, hexagonal or square, between walls on some sides, some pairs glued, pushed at random.
fn patch(random: &mut Pcg64Mcg) -> Problem {
    let (columns, rows) = (random.random_range(2..5), random.random_range(2..5));
    let hexagonal = random.random_bool(0.5);
    let mut position = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let (x, y) = (f64::from(column), f64::from(row));
            let offset = DVec3::new(x + 0.5 * f64::from(row % 2), y * 0.75_f64.sqrt(), 0.0);
            position.push(if hexagonal { offset } else { DVec3::new(x, y, 0.0) });
        }
    }
    let lower = |random: &mut Pcg64Mcg| if random.random_bool(0.4) { -random.random_range(0.0..0.2) } else { 0.0 };
    let mut problem = Problem {
        dt: 0.01,
        length: 0.5,
        prediction: Prediction {
            metric: Metric::Diagonal(position.iter().map(|_| 1.0 / random.random_range(0.5..2.0)).collect()),
            velocity: position.iter().map(|x| (DVec3::new(1.5, 1.5, 0.0) - *x) * 0.05 + push(random)).collect(),
        },
        rows: Vec::new(),
        order: Vec::new(),
    };
    if random.random_bool(0.3) {
        problem.prediction.metric.diagonal()[0] = 0.0;
        problem.prediction.velocity[0] = DVec3::ZERO;
    }
    let reach = position.iter().fold(DVec3::ZERO, |reach, x| reach.max(*x));
    for i in 0..position.len() {
        for j in i + 1..position.len() {
            let offset = position[j] - position[i];
            if offset.length() < 1.01 {
                let (from, to, normal) = if random.random_bool(0.5) { (i, j, offset) } else { (j, i, -offset) };
                let lower = lower(random);
                problem.rows.push(Row {
                    i: from as u32,
                    j: to as u32,
                    normal,
                    gap: 0.0,
                    set: AdmissibleSet::at_least(lower),
                });
            }
        }
        let walls = [
            (position[i].x < 0.01, -DVec3::X),
            (position[i].y < 0.01, -DVec3::Y),
            (position[i].x > reach.x - 0.01, DVec3::X),
        ];
        for (touches, normal) in walls {
            if touches {
                problem.rows.push(Row {
                    i: i as u32,
                    j: WALL,
                    normal,
                    gap: 0.0,
                    set: AdmissibleSet::at_least(lower(random)),
                });
            }
        }
    }
    problem
}

fn push(random: &mut Pcg64Mcg) -> DVec3 {
    DVec3::new(random.random_range(-0.1..0.1), random.random_range(-0.2..0.05), 0.0)
}

fn distributed(problem: &Problem, solver: &mut dyn Projection, start: &[f64], criteria: &Criteria) -> Option<Vec<f64>> {
    let mut solution = Solution::starting_from(start.to_vec());
    // Much better than needed: rows that are closed without bearing anything must not seem open.
    let outcome = solver.solve(problem, &Criteria { tolerance: 1e-3 * criteria.tolerance, ..*criteria }, &mut solution);
    if outcome.status != Status::Converged {
        return None;
    }
    let found = problem.velocity(&solution.impulses);
    solution.velocity.clone_from(&found); // to the bit
    let mut least_norm_dual = Vec::new();
    let done = LeastNorm::default().apply(problem, criteria, &mut solution, &mut least_norm_dual);
    let Solution { impulses, velocity } = solution;
    assert_eq!(done.share, 1.0, "{done:?}");
    let accuracy = problem.accuracy(&impulses);
    assert!(done.accuracy.is_none_or(|told| told == accuracy), "{done:?}");
    assert!(accuracy.residual <= criteria.tolerance, "{done:?}");
    assert_eq!(velocity, problem.velocity(&impulses));
    let moved = velocity.iter().zip(&found).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(moved * problem.dt <= criteria.tolerance * problem.length, "moved by {moved}");
    assert!(problem.rows.iter().zip(&impulses).all(|(row, impulse)| *impulse >= row.set.least()));
    Some(impulses)
}

#[test]
fn impulses_are_those_of_the_interior_point_method_from_any_start_and_in_any_order() {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let criteria = Criteria { tolerance: 1e-9, max_sweeps: 400_000 };
    let (mut compared, mut hyperstatic) = (0, 0);
    for _ in 0..60 {
        let problem = patch(&mut random);
        let solvers: [Box<dyn Projection>; 3] =
            [Box::new(AcceleratedGaussSeidel::default()), Box::new(AcceleratedGradient::default()), Box::new(Uzawa)];
        let mut expected: Option<Vec<f64>> = None;
        for mut solver in solvers {
            let start: Vec<f64> = problem.rows.iter().map(|_| random.random_range(-0.5..1.0)).collect();
            let mut order: Vec<usize> = (0..start.len()).collect();
            order.shuffle(&mut random);
            let shuffled = Problem { rows: order.iter().map(|c| problem.rows[*c]).collect(), ..problem.clone() };
            let Some(permuted) = distributed(&shuffled, &mut *solver, &start, &criteria) else { continue };
            let mut impulses = vec![0.0; start.len()];
            for (c, impulse) in order.iter().zip(permuted) {
                impulses[*c] = impulse;
            }
            let expected = expected.get_or_insert_with(|| {
                let mut found = start.clone();
                let sharp = Criteria { tolerance: 1e-3 * criteria.tolerance, ..criteria };
                let mut solution = Solution::starting_from(found);
                AcceleratedGaussSeidel::default().solve(&problem, &sharp, &mut solution);
                found = solution.impulses;
                let rule = oracle(&problem, &found, criteria.tolerance, Bound::Lower);
                hyperstatic += u32::from(deviation(&found, &rule) > 1e-3);
                rule
            });
            let off = deviation(&impulses, expected);
            assert!(off < 1e-6, "{off} of the scale away: {problem:?}");
            compared += 1;
        }
    }
    assert!(compared > 150 && hyperstatic > 20, "{compared} comparisons, {hyperstatic} where the rule matters");
}

const HEAP: &str = r#"
dimension = 2
[time]
dt = 0.005
until = 50.0
[contact]
law.gluey = {}
[environment]
gravity = [0, -10]
[solver]
tolerance = 1e-9
[[particles]]
mass = 1.0
source.list = [DISCS]
[[obstacle]]
name = "box"
shape.box = { lower = [0, 0], upper = [0.6, 0.7], side = "inside" }
"#;

fn heap(law: &str, rule: ImpulseRule) -> Scene {
    // Rows of 6 and 5 discs in turn, touching each other and the walls.
    let mut discs = String::new();
    for row in 0..5 {
        let (count, y) = (6 - row % 2, 0.05 + f64::from(row) * 0.1 * 0.75_f64.sqrt());
        for column in 0..count {
            let x = 0.05 * f64::from(1 + row % 2) + 0.1 * f64::from(column);
            write!(discs, "{{ position = [{x}, {y}], radius = 0.05 }}, ").unwrap();
        }
    }
    let text = HEAP.replace("gluey = {}", law).replace("DISCS", &discs);
    let mut scene = Scene::parse(&text, Path::new("heap.toml")).unwrap_or_else(|error| panic!("{error}"));
    scene.simulation.settings.impulses = rule;
    scene
}

/// Particle k of the heap as the last but k: every list is in another order.
fn relabel(scene: &mut Scene) {
    let particles = &mut scene.simulation.state.particles;
    particles.position.reverse();
    particles.velocity.reverse();
    particles.radius.reverse();
    particles.mass.reverse();
    particles.group.reverse();
}

/// The impulses and γ of each pair, by the names before `relabel`.
fn by_pair(scene: &Scene, relabelled: bool) -> BTreeMap<Pair, (f64, f64)> {
    let last = scene.simulation.state.particles.len() as u32 - 1;
    let name = |i: u32| if relabelled { last - i } else { i };
    let pair = |pair: Pair| match pair.partner() {
        Partner::Particle(j) => Pair::particles(name(pair.first()), name(j)),
        Partner::Obstacle { obstacle, feature } => Pair::obstacle(name(pair.first()), obstacle, feature),
    };
    scene.simulation.state.contacts.iter().map(|c| (pair(c.pair), (c.impulse, c.gamma))).collect()
}

/// How far the impulses of the last step are from the rule's, and γ from what has no self-stress.
fn off_the_rule(scene: &Scene) -> (f64, f64) {
    let tolerance = scene.simulation.settings.criteria.tolerance;
    let file = scene.simulation.last_problem(2);
    let impulses = file.warm;
    let of_step = deviation(&impulses, &oracle(&file.problem, &impulses, tolerance, Bound::Lower));
    // The same contacts bear the load in every step: the sum of their impulses is the least as well.
    let mut total = file.problem.clone();
    let remembered: BTreeMap<(u32, u32, [i64; 2]), f64> = scene
        .simulation
        .contacts()
        .iter()
        .map(|c| {
            let j = if let Partner::Particle(j) = c.contact.pair.partner() { j } else { WALL };
            ((c.contact.pair.first(), j, direction(c.normal)), -c.contact.gamma)
        })
        .collect();
    let mut account = Vec::new();
    for row in &mut total.rows {
        account.push(remembered.get(&(row.i, row.j, direction(row.normal))).copied().unwrap_or(0.0));
        row.set = if *account.last().unwrap() > 0.0 { AdmissibleSet::FREE } else { AdmissibleSet::PUSH };
        row.gap = if row.set.is_free() { -1e9 } else { 1e9 };
    }
    let least = oracle(&total, &account, tolerance, Bound::None);
    (of_step, deviation(&account, &least))
}

fn direction(normal: DVec3) -> [i64; 2] {
    [(1e6 * normal.x).round() as i64, (1e6 * normal.y).round() as i64]
}

fn compare(a: &BTreeMap<Pair, (f64, f64)>, b: &BTreeMap<Pair, (f64, f64)>) -> (f64, f64) {
    let pairs: Vec<Pair> = a.keys().chain(b.keys()).copied().collect();
    let column = |of: &BTreeMap<Pair, (f64, f64)>, pick: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        pairs.iter().map(|pair| of.get(pair).map_or(0.0, pick)).collect()
    };
    (deviation(&column(a, |v| v.0), &column(b, |v| v.0)), deviation(&column(a, |v| v.1), &column(b, |v| v.1)))
}

/// Three runs of a heap at rest: as it is, with the particles in another order, and with the warm starts forgotten
/// before every step. The largest deviations of impulses and of γ from the rule and between the runs.
fn worst_of_three_runs(law: &str, rule: ImpulseRule, steps: u64) -> (f64, f64) {
    let mut runs = [heap(law, rule), heap(law, rule), heap(law, rule)];
    relabel(&mut runs[1]);
    let (mut impulses, mut glue) = (0.0_f64, 0.0_f64);
    for n in 1..=steps {
        for contact in &mut runs[2].simulation.state.contacts {
            contact.impulse = 0.0;
        }
        runs[2].simulation.state.least_norm_dual.clear();
        for scene in &mut runs {
            let report = scene.simulation.step().unwrap();
            assert_eq!((report.substeps, report.unconverged), (1, 0), "{report:?}");
            assert!(report.residual <= scene.simulation.settings.criteria.tolerance);
        }
        if n.is_power_of_two() || n % 1000 == 0 || n == steps {
            let plain = by_pair(&runs[0], false);
            let mut worst = vec![compare(&by_pair(&runs[1], true), &plain), compare(&by_pair(&runs[2], false), &plain)];
            worst.extend(runs.iter().map(off_the_rule));
            for (of_step, of_glue) in worst {
                impulses = impulses.max(of_step);
                glue = glue.max(of_glue);
            }
        }
    }
    (impulses, glue)
}

#[test]
fn no_self_stress_piles_up_in_a_smooth_heap_at_rest() {
    let (impulses, glue) = worst_of_three_runs("gluey = {}", ImpulseRule::WhereRemembered, 10_000);
    assert!(impulses < 1e-4, "impulses are {impulses} of their scale off");
    assert!(glue < 1e-4, "γ is {glue} of its scale off");
}

#[test]
fn impulses_of_a_rough_heap_at_rest_are_the_least() {
    let (impulses, _) = worst_of_three_runs("gluey = { gamma_min = -0.5 }", ImpulseRule::WhereRemembered, 3_000);
    assert!(impulses < 1e-4, "impulses are {impulses} of their scale off");
}

#[test]
fn without_the_rule_impulses_depend_on_the_path() {
    let (impulses, glue) = worst_of_three_runs("gluey = {}", ImpulseRule::AsFound, 64);
    assert!(impulses > 1e-3, "impulses are {impulses} of their scale off");
    assert!(glue > 1e-3, "γ is {glue} of its scale off");
}

#[test]
fn a_resumed_guess_is_not_needed_for_the_answer() {
    // A guess of any kind leads to the same impulses.
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let criteria = Criteria { tolerance: 1e-10, max_sweeps: 400_000 };
    for _ in 0..20 {
        let problem = patch(&mut random);
        let mut found = Solution::starting_from(vec![0.0; problem.rows.len()]);
        AcceleratedGaussSeidel::default().solve(&problem, &criteria, &mut found);
        let distribute = |mut least_norm_dual: Vec<DVec3>| {
            let mut solution = found.clone();
            LeastNorm::default().apply(&problem, &criteria, &mut solution, &mut least_norm_dual);
            solution.impulses
        };
        let wild = problem.prediction.velocity.iter().map(|_| push(&mut random) * 100.0).collect();
        let off = deviation(&distribute(wild), &distribute(Vec::new()));
        assert!(off < 1e-5, "{off}");
    }
}

#[test]
fn nothing_closed_changes_nothing() {
    let row = Row { i: 0, j: WALL, normal: -DVec3::Z, gap: 1.0, set: AdmissibleSet::at_least(-0.25) };
    let problem = Problem {
        dt: 0.1,
        length: 1.0,
        prediction: Prediction { velocity: vec![DVec3::Z], metric: Metric::Diagonal(vec![1.0]) },
        rows: vec![row],
        order: Vec::new(),
    };
    let found = Solution { impulses: vec![-0.25], velocity: problem.velocity(&[-0.25]) };
    let (mut solution, mut least_norm_dual) = (found.clone(), vec![DVec3::ONE]);
    let done = LeastNorm::default().apply(&problem, &Criteria::default(), &mut solution, &mut least_norm_dual);
    assert_eq!((done.rows, done.accuracy, least_norm_dual), (0, None, Vec::new()));
    assert_eq!(solution, found);
}

#[test]
fn a_packing_without_self_stress_keeps_the_impulses_found() {
    // Every disc of a triangle on its edge rests on two below: as many rows as degrees of freedom.
    let text = HEAP.replace(
        "DISCS",
        "{ position = [0.2, 0.05], radius = 0.05 }, { position = [0.31, 0.05], radius = 0.05 }, \
         { position = [0.255, 0.14], radius = 0.05 }",
    );
    let run = |rule: ImpulseRule| {
        let mut scene = Scene::parse(&text, Path::new("pile.toml")).unwrap_or_else(|error| panic!("{error}"));
        scene.simulation.settings.impulses = rule;
        for _ in 0..100 {
            scene.simulation.step().unwrap();
        }
        scene.simulation.state
    };
    let state = run(ImpulseRule::LeastNorm);
    assert!(state.least_norm_dual.is_empty() && state.contacts.len() >= 4, "{state:?}");
    assert_eq!(state, run(ImpulseRule::AsFound));
}

#[test]
fn a_resumed_heap_goes_on_with_the_same_bytes() {
    let walk = |scene: &mut Scene, steps: u32| {
        let mut report = StepReport::default();
        for _ in 0..steps {
            report = scene.simulation.step().unwrap();
        }
        report
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |scene: &Scene, report: StepReport, name: &str| {
        let path = folder.path().join(name);
        let (state, progress) = (scene.simulation.state.clone(), Progress::default());
        let checkpoint = Checkpoint { state, fingerprint: 0, scene_text: String::new(), progress, report };
        checkpoint.write(&path).unwrap();
        path
    };
    let law = "gluey = { gamma_min = -0.5 }";
    let mut straight = heap(law, ImpulseRule::WhereRemembered);
    let report = walk(&mut straight, 200);
    let mut first = heap(law, ImpulseRule::WhereRemembered);
    let halfway = walk(&mut first, 100);
    let path = write(&first, halfway, "halfway");
    let mut second = heap(law, ImpulseRule::WhereRemembered);
    second.simulation.state = Checkpoint::read(&path).unwrap().state;
    assert!(!second.simulation.state.least_norm_dual.is_empty());
    let resumed = walk(&mut second, 100);
    let [a, b] =
        [write(&straight, report, "straight"), write(&second, resumed, "resumed")].map(|p| std::fs::read(p).unwrap());
    assert!(a == b, "the checkpoints differ");
}
