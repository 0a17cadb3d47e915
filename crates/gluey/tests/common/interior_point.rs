//! The projection as an interior-point method sees it: the oracle of the tests, a peer of the benchmarks.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "tests need velocities and slack, benchmarks impulses")]

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};
use glam::DVec3;
use gluey::projection::{Problem, WALL};

/// The primal with glue released: the projection of V^{n+1/2} + M⁻¹Gᵀ lower on the dry set −G V ≤ D/h. Needs masses and
/// bounds that are finite.
pub struct Primal {
    lower: Vec<f64>,
    solver: DefaultSolver<f64>,
}

impl Primal {
    /// The problem, factorised symbolically: all that is done before the first iteration.
    pub fn new(problem: &Problem, tolerance: f64) -> Self {
        let lower: Vec<f64> = problem.rows.iter().map(|row| row.set.least()).collect();
        let target = problem.velocity(&lower);
        let (n, m) = (3 * target.len(), problem.rows.len());
        let mass = |i: usize| 1.0 / problem.prediction.metric.inverse_mass()[i];
        let p = CscMatrix::new(n, n, (0..=n).collect(), (0..n).collect(), (0..n).map(|c| mass(c / 3)).collect());
        let q: Vec<f64> = (0..n).map(|c| -mass(c / 3) * target[c / 3][c % 3]).collect();
        let b: Vec<f64> = problem.rows.iter().map(|row| row.gap / problem.dt).collect();
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(tolerance)
            .tol_gap_rel(tolerance)
            .tol_feas(tolerance)
            .max_iter(200)
            .build()
            .unwrap();
        let solver = DefaultSolver::new(&p, &q, &minus_g(problem), &b, &[NonnegativeConeT(m)], settings).unwrap();
        Self { lower, solver }
    }

    pub fn solve(&mut self) {
        self.solver.solve();
    }

    /// Whether the method has reached its own tolerance.
    pub fn is_solved(&self) -> bool {
        self.solver.solution.status == SolverStatus::Solved
    }

    /// V.
    pub fn velocity(&self) -> Vec<DVec3> {
        self.solver.solution.x.chunks(3).map(DVec3::from_slice).collect()
    }

    /// Λ: the multipliers count from `lower`.
    pub fn impulses(&self) -> Vec<f64> {
        self.solver.solution.z.iter().zip(&self.lower).map(|(multiplier, lower)| multiplier + lower).collect()
    }

    /// The least, over all rows, of the larger of slack and multiplier: where both are next to nothing, velocities are
    /// only as good as the root of the tolerance.
    pub fn sharpness(&self) -> f64 {
        let rows = self.solver.solution.s.iter().zip(&self.solver.solution.z);
        rows.map(|(slack, multiplier)| slack.max(*multiplier)).fold(f64::INFINITY, f64::min)
    }
}

/// −G, column by column.
fn minus_g(problem: &Problem) -> CscMatrix<f64> {
    let (n, m) = (3 * problem.bodies(), problem.rows.len());
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    for (c, row) in problem.rows.iter().enumerate() {
        for axis in 0..3 {
            columns[3 * row.i as usize + axis].push((c, row.normal[axis]));
            if row.j != WALL {
                columns[3 * row.j as usize + axis].push((c, -row.normal[axis]));
            }
        }
    }
    let mut starts = vec![0];
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for column in columns {
        indices.extend(column.iter().map(|entry| entry.0));
        values.extend(column.iter().map(|entry| entry.1));
        starts.push(indices.len());
    }
    CscMatrix::new(m, n, starts, indices, values)
}
