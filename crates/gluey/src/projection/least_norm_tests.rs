use glam::DVec3;

use super::LeastNorm;
use crate::projection::{
    AcceleratedGaussSeidel, AdmissibleSet, Criteria, Metric, Prediction, Problem, Projection, Row, Solution, WALL,
};

/// A hexagonal heap of discs in a box, every second pair glued.
fn heap(columns: u32, rows: u32) -> Problem {
    let mut positions = Vec::new();
    for row in 0..rows {
        for column in 0..columns - row % 2 {
            let x = f64::from(column) + 0.5 * f64::from(row % 2);
            positions.push(DVec3::new(x, 0.75_f64.sqrt() * f64::from(row), 0.0));
        }
    }
    let mut problem = Problem {
        dt: 0.01,
        length: 0.5,
        prediction: Prediction {
            velocity: vec![DVec3::new(0.03, -0.1, 0.0); positions.len()],
            metric: Metric::Diagonal(vec![1.0; positions.len()]),
        },
        rows: Vec::new(),
        order: Vec::new(),
    };
    for (i, at) in positions.iter().enumerate() {
        let lower = if i % 2 == 0 { -0.05 } else { 0.0 };
        let mut push = |j: u32, normal| {
            problem.rows.push(Row { i: i as u32, j, normal, gap: 0.0, set: AdmissibleSet::at_least(lower) });
        };
        for (j, other) in positions.iter().enumerate().skip(i + 1) {
            if at.distance(*other) < 1.01 {
                push(j as u32, *other - *at);
            }
        }
        let last = f64::from(columns - 1) - 0.01;
        for (touches, normal) in [(at.x < 0.01, -DVec3::X), (at.x > last, DVec3::X), (at.y < 0.01, -DVec3::Y)] {
            if touches {
                push(WALL, normal);
            }
        }
    }
    problem
}

/// Steps at rest with few products each: u goes from one to the next, and they arrive where one long step does.
#[test]
fn a_rule_cut_short_goes_on_in_the_next_step() {
    let problem = heap(12, 10);
    let criteria = Criteria { tolerance: 1e-7, max_sweeps: 100_000 };
    let mut found = Solution::starting_from(vec![0.0; problem.rows.len()]);
    AcceleratedGaussSeidel::default().solve(&problem, &criteria, &mut found);
    let mut solution = found.clone();
    let mut long = LeastNorm { most_products: 100_000, ..LeastNorm::default() };
    let done = long.apply(&problem, &criteria, &mut solution, &mut Vec::new());
    let rule = solution.impulses;
    assert!(done.share >= 1.0 && done.products > 60, "{done:?}");
    let scale = rule.iter().fold(0.0_f64, |scale, impulse| scale.max(impulse.abs()));
    let off = |impulses: &[f64]| impulses.iter().zip(&rule).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale;
    assert!(off(&found.impulses) > 0.01, "nothing to choose");

    let mut short = LeastNorm { most_products: 40, ..LeastNorm::default() };
    let (mut solution, mut u) = (found, Vec::new());
    let (mut cut, mut products) = (0, 0);
    for _ in 0..20 {
        AcceleratedGaussSeidel::default().solve(&problem, &criteria, &mut solution);
        let done = short.apply(&problem, &criteria, &mut solution, &mut u);
        cut += u32::from(done.share < 1.0);
        products = done.products;
        // The limit holds but for the passes around the last solve.
        assert!(products <= 40 + 10, "{done:?}");
        let accuracy = problem.accuracy(&solution.impulses);
        assert_eq!(done.accuracy, Some(accuracy));
        assert!(accuracy.residual <= criteria.tolerance * (1.0 + 1e-9), "{done:?}");
    }
    assert!(cut > 1, "the limit was never met");
    assert!(off(&solution.impulses) < 1e-4, "{} of the scale off", off(&solution.impulses));
    // Then it is known at once that they are right.
    assert!(products < 10, "{products} products");
}
