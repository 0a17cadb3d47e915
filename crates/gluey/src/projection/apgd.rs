//! Nesterov's projected gradient method with an adaptive step and restarts.
//!
//! One fused pass over the rows takes the gradient w = b + G V(y) at the extrapolated point, steps to
//! x_c ← max(lower_c, y_c − w_c/(L A_cc)) and gathers V(x) = V^{n+1/2} + M⁻¹Gᵀx. L follows the curvature that the steps
//! meet,
//!
//! ```text
//! q = Σ m |V(x) − V(y)|² / Σ A_cc (x_c − y_c)²,   L ← max(0.97 L, q):
//! ```
//!
//! a step that was too long is not repeated, the next ones are shorter. The momentum is capped by the curvature along
//! d = x − x before, as in the sweeps, but by less of it:
//!
//! ```text
//! q = Σ m |V(x) − V(x before)|² / Σ A_cc d_c²,   s = √(0.1 q / L),   β = min((k−1)/(k+2), (1−s)/(1+s)).
//! ```
//!
//! The method needs only products with A, never single rows in turn. In a metric of which only products are known the
//! velocities are gathered after the pass, and Σ m |V(x) − V(y)|² is (x − y) · G (V(x) − V(y)).

use glam::DVec3;

use super::{
    Criteria, InfeasibilityCheck, Monitor, Outcome, Point, Problem, Projection, SWEEPS_BETWEEN_TESTS, Solution, WALL,
};

/// By which L shrinks after a step that met less curvature.
const EASING: f64 = 0.97;
/// Share of the measured curvature that caps the momentum.
const CURVATURE_SHARE: f64 = 0.1;

/// Accelerated projected gradient descent: the baseline that the sweeps are measured against.
#[derive(Default)]
pub struct AcceleratedGradient {
    /// 1/A_cc; 0 where both sides are immovable.
    inverse_diagonal: Vec<f64>,
    ahead: Vec<f64>,
    next: Vec<f64>,
    ahead_velocity: Vec<DVec3>,
    next_velocity: Vec<DVec3>,
}

impl Projection for AcceleratedGradient {
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, solution: &mut Solution) -> Outcome {
        problem.start(solution);
        self.load(problem, solution);
        let (mut sweeps, mut products) = (0, 1);
        let mut lipschitz = 1.0;
        let mut age = 0_u32;
        let mut monitor = Monitor::new(criteria);
        let mut infeasibility = InfeasibilityCheck::default();
        infeasibility.start();
        let status = loop {
            if sweeps % SWEEPS_BETWEEN_TESTS == 0
                && let Some(status) = monitor.ending_with(problem, solution, (sweeps, &mut infeasibility))
            {
                break status;
            }
            let pass = self.pass(problem, solution, lipschitz);
            lipschitz = pass.steepness.max(EASING * lipschitz);
            sweeps += 1;
            products += 1;
            age = if pass.turned { 1 } else { age + 1 };
            let damping = (CURVATURE_SHARE * pass.curvature / lipschitz).sqrt();
            let momentum = (f64::from(age - 1) / f64::from(age + 2)).min((1.0 - damping) / (1.0 + damping));
            self.extrapolate(solution, momentum);
        };
        problem.velocity_into(&solution.impulses, &mut solution.velocity); // passes accumulate rounding
        Outcome { status, sweeps, products, factorisations: 0, accuracy: problem.accuracy_of(solution) }
    }
}

/// What a pass tells.
struct Pass {
    /// Curvature along the gradient step.
    steepness: f64,
    /// Curvature along the way from the last point to the new one.
    curvature: f64,
    /// Whether the step went against the momentum: (y − x⁺)·(x⁺ − x) > 0 in the metric of the diagonal.
    turned: bool,
}

impl AcceleratedGradient {
    fn load(&mut self, problem: &Problem, Solution { impulses, velocity }: &Solution) {
        let inverse = |diagonal: f64| if diagonal > 0.0 { diagonal.recip() } else { 0.0 };
        self.inverse_diagonal.clear();
        self.inverse_diagonal.extend(problem.rows.iter().map(|row| inverse(problem.diagonal(row))));
        self.ahead.clear();
        self.ahead.extend_from_slice(impulses);
        self.next.clear();
        self.next.resize(impulses.len(), 0.0);
        self.ahead_velocity.clone_from(velocity);
    }

    /// A gradient step from the extrapolated point.
    fn pass(&mut self, problem: &Problem, base: &Solution, lipschitz: f64) -> Pass {
        self.next_velocity.clone_from(&problem.prediction.velocity);
        let (rate, shortening) = (problem.dt.recip(), lipschitz.recip());
        let is_diagonal = problem.prediction.metric.is_diagonal();
        let (mut stepped, mut moved, mut against) = (0.0, 0.0, 0.0);
        for (c, row) in problem.rows.iter().enumerate() {
            let i = row.i as usize;
            let partner = if row.j == WALL { DVec3::ZERO } else { self.ahead_velocity[row.j as usize] };
            let w = row.gap * rate + row.normal.dot(partner - self.ahead_velocity[i]);
            let next = row.set.project(self.ahead[c] - w * self.inverse_diagonal[c] * shortening);
            let (step, d) = (next - self.ahead[c], next - base.impulses[c]);
            let diagonal = problem.diagonal(row);
            stepped += diagonal * step * step;
            moved += diagonal * d * d;
            against -= diagonal * step * d;
            self.next[c] = next;
            if is_diagonal && next != 0.0 {
                let push = row.normal * next;
                self.next_velocity[i] -= push * problem.prediction.metric.inverse_mass()[i];
                if row.j != WALL {
                    self.next_velocity[row.j as usize] +=
                        push * problem.prediction.metric.inverse_mass()[row.j as usize];
                }
            }
        }
        if !is_diagonal {
            problem.add_product(&self.next, &mut self.next_velocity);
        }
        let reached = Point { impulses: &self.next, velocity: &self.next_velocity };
        let per = |from: Point, squared: f64| {
            if squared > 0.0 { problem.energy_between(reached, from) / squared } else { 0.0 }
        };
        Pass {
            steepness: per(Point { impulses: &self.ahead, velocity: &self.ahead_velocity }, stepped),
            curvature: per(Point::of(base), moved),
            turned: against > 0.0,
        }
    }

    /// (x, y) ← (x⁺, x⁺ + β (x⁺ − x)), and their velocities likewise.
    fn extrapolate(&mut self, base: &mut Solution, momentum: f64) {
        for ((x, y), next) in base.impulses.iter_mut().zip(&mut self.ahead).zip(&self.next) {
            *y = next + momentum * (next - *x);
            *x = *next;
        }
        let bodies = base.velocity.iter_mut().zip(&mut self.ahead_velocity).zip(&self.next_velocity);
        for ((v, u), next) in bodies {
            *u = *next + (*next - *v) * momentum;
            *v = *next;
        }
    }
}
