//! Projected Gauss–Seidel with Nesterov momentum, capped by the curvature met, and restarts.
//!
//! One sweep at the extrapolated point y sets each y_c ← max(lower_c, y_c − w_c/A_cc) with w = b + G V(y); then, with
//! d = y − x measured by the diagonal of A,
//!
//! ```text
//! q = Σ m |V(y) − V(x)|² / Σ A_cc d_c²,   s = √(0.4 q),   β = min((k−1)/(k+2), (1−s)/(1+s)),
//! x ← y,   y ← y + β d,   and β = 0, k = 1 where the sweep turned against the momentum.
//! ```
//!
//! No proof of convergence is known for accelerated sweeps, so the objective is tested with the residual: where it rose,
//! the solver sweeps plainly for a while, which can only lower it, and each time twice as long as the last.

use glam::DVec3;

use super::{Criteria, Monitor, Outcome, Problem, Projection, SWEEPS_BETWEEN_TESTS, WALL};

/// Share of the measured curvature that caps the momentum.
const CURVATURE_SHARE: f64 = 0.4;
/// Rows are taken in turn from so many equal parts of the list: consecutive rows then share no body, and the sweep is
/// not held up by the latency of its own updates.
const PARTS: usize = 4;

/// The default solver. Keeps its buffers between solves; a solve depends on nothing else but the problem.
#[derive(Default)]
pub struct AcceleratedGaussSeidel {
    /// 1/A_cc; 0 where both sides are immovable, and the row then stays where it is.
    inverse_diagonal: Vec<f64>,
    /// The extrapolated point y.
    ahead: Vec<f64>,
    /// Its velocities, with the masses that a sweep reads together with them; the last is the wall.
    bodies: Vec<Body>,
    /// Velocities of the last swept point x.
    velocity: Vec<DVec3>,
}

#[derive(Clone, Copy)]
struct Body {
    velocity: DVec3,
    inverse_mass: f64,
}

impl Projection for AcceleratedGaussSeidel {
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, impulses: &mut [f64]) -> Outcome {
        self.load(problem, impulses);
        let (mut sweeps, mut products) = (0, 0);
        let mut k = 0_u32;
        let mut lowest = f64::INFINITY;
        let (mut plain_until, mut patience) = (0, SWEEPS_BETWEEN_TESTS);
        let mut monitor = Monitor::new(problem, criteria);

        let status = loop {
            if sweeps % SWEEPS_BETWEEN_TESTS == 0 {
                self.refresh(problem, impulses);
                products += 2;
                let objective = self.objective(problem, impulses);
                if sweeps >= plain_until && objective.value > lowest + objective.rounding {
                    plain_until = sweeps + patience;
                    patience *= 2;
                }
                lowest = lowest.min(objective.value);
                if let Some(status) = monitor.ending(impulses, &self.velocity, sweeps) {
                    break status;
                }
            }
            let motion = self.sweep(problem, impulses);
            sweeps += 1;
            products += 1;
            k = if motion.turned || sweeps <= plain_until { 1 } else { k + 1 };
            let damping = (CURVATURE_SHARE * motion.curvature).sqrt();
            let momentum = (f64::from(k - 1) / f64::from(k + 2)).min((1.0 - damping) / (1.0 + damping));
            self.extrapolate(impulses, momentum);
        };
        // A solve ends at a test, whose velocities are those of the impulses alone.
        Outcome { status, sweeps, products, accuracy: problem.accuracy_with(impulses, &self.velocity) }
    }
}

/// The objective, and below what a rise of it is only rounding: near the end its changes are far smaller than that.
struct Objective {
    value: f64,
    rounding: f64,
}

struct MotionOfSweep {
    /// dᵀAd / Σ A_cc d_c².
    curvature: f64,
    /// The sweep moved against the momentum.
    turned: bool,
}

impl AcceleratedGaussSeidel {
    fn load(&mut self, problem: &Problem, impulses: &mut [f64]) {
        self.inverse_diagonal.clear();
        self.inverse_diagonal.reserve_exact(problem.rows.len());
        for (row, impulse) in problem.rows.iter().zip(impulses.iter_mut()) {
            *impulse = impulse.max(row.lower);
            let diagonal = problem.diagonal(row);
            self.inverse_diagonal.push(if diagonal > 0.0 { diagonal.recip() } else { 0.0 });
        }
        self.ahead.clear();
        self.ahead.reserve_exact(impulses.len());
        self.ahead.extend_from_slice(impulses);
        self.bodies.clear();
        self.bodies.extend(problem.inverse_mass.iter().map(|&m| Body { velocity: DVec3::ZERO, inverse_mass: m }));
        self.bodies.push(Body { velocity: DVec3::ZERO, inverse_mass: 0.0 });
    }

    /// V = V^{n+1/2} + M⁻¹ Gᵀ Λ at both points, afresh: sweeps accumulate rounding.
    fn refresh(&mut self, problem: &Problem, base: &[f64]) {
        self.velocity.clone_from(&problem.apriori);
        for (body, velocity) in self.bodies.iter_mut().zip(&problem.apriori) {
            body.velocity = *velocity;
        }
        for ((row, x), y) in problem.rows.iter().zip(base).zip(&self.ahead) {
            let (push, push_ahead) = (row.normal * *x, row.normal * *y);
            let i = row.i as usize;
            let inverse_mass = self.bodies[i].inverse_mass;
            self.velocity[i] -= push * inverse_mass;
            self.bodies[i].velocity -= push_ahead * inverse_mass;
            if row.j != WALL {
                let j = row.j as usize;
                let inverse_mass = self.bodies[j].inverse_mass;
                self.velocity[j] += push * inverse_mass;
                self.bodies[j].velocity += push_ahead * inverse_mass;
            }
        }
    }

    /// One Gauss–Seidel sweep at the extrapolated point, and what it tells about the momentum.
    fn sweep(&mut self, problem: &Problem, base: &[f64]) -> MotionOfSweep {
        let count = problem.rows.len();
        let part = count.div_ceil(PARTS);
        let wall = problem.apriori.len();
        let rate = problem.dt.recip();
        let (mut against, mut squared) = (0.0, 0.0);
        for k in 0..part {
            for c in (k..count).step_by(part) {
                let row = &problem.rows[c];
                let (i, j) = (row.i as usize, (row.j as usize).min(wall));
                let (from, to) = (self.bodies[i], self.bodies[j]);
                let w = row.gap * rate + row.normal.dot(to.velocity - from.velocity);
                let y = self.ahead[c];
                let next = (y - w * self.inverse_diagonal[c]).max(row.lower);
                let (change, d) = (next - y, next - base[c]);
                let weighted = d * (from.inverse_mass + to.inverse_mass);
                against -= change * weighted;
                squared += d * weighted;
                self.ahead[c] = next;
                self.bodies[i].velocity = from.velocity - row.normal * (change * from.inverse_mass);
                self.bodies[j].velocity = to.velocity + row.normal * (change * to.inverse_mass);
            }
        }
        let bodies = self.bodies.iter().zip(&self.velocity).filter(|(body, _)| body.inverse_mass > 0.0);
        let energy: f64 = bodies.map(|(body, v)| (body.velocity - *v).length_squared() / body.inverse_mass).sum();
        MotionOfSweep { curvature: if squared > 0.0 { energy / squared } else { 0.0 }, turned: against > 0.0 }
    }

    /// (x, y) ← (y, y + β (y − x)), and their velocities likewise.
    fn extrapolate(&mut self, base: &mut [f64], momentum: f64) {
        for (x, y) in base.iter_mut().zip(&mut self.ahead) {
            let d = *y - *x;
            *x = *y;
            *y += momentum * d;
        }
        for (v, body) in self.velocity.iter_mut().zip(&mut self.bodies) {
            let d = body.velocity - *v;
            *v = body.velocity;
            body.velocity += d * momentum;
        }
    }

    /// ½ ΛᵀAΛ + bᵀΛ = ½ Σ m |V − V^{n+1/2}|² + Σ Λ (D/h + G V^{n+1/2}) at the base point.
    fn objective(&self, problem: &Problem, base: &[f64]) -> Objective {
        let quadratic = 0.5 * problem.energy_between(&self.velocity, &problem.apriori);
        let (mut value, mut magnitude) = (quadratic, quadratic);
        let apriori = |k: u32| problem.apriori.get(k as usize).copied().unwrap_or_default();
        for (row, x) in problem.rows.iter().zip(base).filter(|(_, x)| **x != 0.0) {
            let (to, from) = (row.normal.dot(apriori(row.j)), row.normal.dot(apriori(row.i)));
            let closing = row.gap / problem.dt;
            value += x * (closing + to - from);
            magnitude += x.abs() * (closing.abs() + to.abs() + from.abs());
        }
        Objective { value, rounding: 1e-13 * magnitude }
    }
}
