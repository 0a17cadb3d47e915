//! Projected Gauss–Seidel with Nesterov momentum, capped by the curvature met, and restarts.
//!
//! In variables of unit diagonal, x_c = √A_cc Λ_c, one sweep at the extrapolated point y sets each
//! y_c ← max(lower_c, y_c − w_c) with w = b + G V(y); then, with d = y − x,
//!
//! ```text
//! q = Σ m |V(y) − V(x)|² / d·d   (= dᵀAd / dᵀd),   s = √(0.4 q),   β = min((k−1)/(k+2), (1−s)/(1+s)),
//! x ← y,   y ← y + β d,   and β = 0, k = 1 where the sweep turned against the momentum.
//! ```
//!
//! No proof of convergence is known for accelerated sweeps, so the objective is tested with the residual: where it rose,
//! the solver sweeps plainly for a while, which can only lower it, and each time twice as long as the last.

use glam::DVec3;

use super::feasibility::Watch;
use super::{Criteria, Outcome, Problem, Progress, Projection, SWEEPS_BETWEEN_TESTS, Status, WALL};

/// Share of the measured curvature that caps the momentum.
const CURVATURE_SHARE: f64 = 0.4;
/// Rows are taken in turn from so many equal parts of the list: consecutive rows then share no body, and the sweep is
/// not held up by the latency of its own updates.
const PARTS: usize = 4;

/// The default solver. Keeps its buffers between solves; a solve depends on nothing else but the problem.
#[derive(Default)]
pub struct AcceleratedGaussSeidel {
    rows: Vec<ScaledRow>,
    bounds: Vec<Bounds>,
    /// The last swept point x.
    base: Vec<f64>,
    base_velocity: Vec<DVec3>,
    /// The extrapolated point y, with the masses beside the velocities that a sweep reads together.
    ahead: Vec<f64>,
    bodies: Vec<Body>,
}

/// normal/√A_cc and the bodies it joins; the wall is the body after the last, with 1/m = 0.
#[derive(Clone, Copy)]
struct ScaledRow {
    normal: DVec3,
    i: u32,
    j: u32,
}

#[derive(Clone, Copy)]
struct Bounds {
    /// D/(h √A_cc): w = offset + normal·(V_j − V_i).
    offset: f64,
    /// √A_cc lower.
    lower: f64,
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
        let mut progress = Progress::new();
        let mut watch = Watch::new(problem);

        let status = loop {
            if sweeps % SWEEPS_BETWEEN_TESTS == 0 {
                self.refresh(problem);
                products += 2;
                let objective = self.objective(problem);
                if objective.value > lowest + objective.rounding {
                    plain_until = sweeps + patience;
                    patience *= 2;
                }
                lowest = lowest.min(objective.value);
                if let Some(status) = progress.status(self.residual(problem), sweeps, criteria) {
                    break status;
                }
                if watch.is_due(sweeps) {
                    self.unload(problem, impulses);
                    if let Some(culprits) = watch.infeasible(problem, impulses) {
                        break Status::Infeasible(culprits);
                    }
                }
            }
            let motion = self.sweep();
            sweeps += 1;
            products += 1;
            k = if motion.turned || sweeps <= plain_until { 1 } else { k + 1 };
            let damping = (CURVATURE_SHARE * motion.curvature).sqrt();
            let momentum = (f64::from(k - 1) / f64::from(k + 2)).min((1.0 - damping) / (1.0 + damping));
            self.extrapolate(momentum);
        };
        self.unload(problem, impulses);
        Outcome { status, sweeps, products, accuracy: problem.accuracy(impulses) }
    }
}

/// The objective, and below what a rise of it is only rounding: near the end its changes are far smaller than that.
struct Objective {
    value: f64,
    rounding: f64,
}

struct MotionOfSweep {
    /// dᵀAd / dᵀd.
    curvature: f64,
    /// The sweep moved against the momentum.
    turned: bool,
}

/// Rows of the problem in the order in which they are swept.
fn order(count: usize) -> impl Iterator<Item = usize> {
    let part = count.div_ceil(PARTS);
    (0..part).flat_map(move |k| (0..PARTS).map(move |p| p * part + k)).filter(move |&c| c < count)
}

impl AcceleratedGaussSeidel {
    fn load(&mut self, problem: &Problem, impulses: &[f64]) {
        let wall = problem.apriori.len() as u32;
        let count = problem.rows.len();
        self.rows.clear();
        self.rows.reserve_exact(count);
        self.bounds.clear();
        self.bounds.reserve_exact(count);
        self.base.clear();
        self.base.reserve_exact(count);
        for c in order(count) {
            let row = &problem.rows[c];
            let scale = problem.diagonal(row).sqrt();
            // Where both sides are immovable the row stays at its bound.
            let (inverse, lower) = if scale > 0.0 { (scale.recip(), row.lower * scale) } else { (0.0, 0.0) };
            let j = if row.j == WALL { wall } else { row.j };
            self.rows.push(ScaledRow { normal: row.normal * inverse, i: row.i, j });
            self.bounds.push(Bounds { offset: row.gap / problem.dt * inverse, lower });
            self.base.push((impulses[c] * scale).max(lower));
        }
        self.ahead.clone_from(&self.base);
        self.bodies.clear();
        self.bodies.extend(problem.inverse_mass.iter().map(|&m| Body { velocity: DVec3::ZERO, inverse_mass: m }));
        self.bodies.push(Body { velocity: DVec3::ZERO, inverse_mass: 0.0 });
    }

    /// V = V^{n+1/2} + M⁻¹ Gᵀ x at both points, afresh: sweeps accumulate rounding.
    fn refresh(&mut self, problem: &Problem) {
        self.base_velocity.clone_from(&problem.apriori);
        self.base_velocity.push(DVec3::ZERO);
        for (body, velocity) in self.bodies.iter_mut().zip(&self.base_velocity) {
            body.velocity = *velocity;
        }
        for ((row, x), y) in self.rows.iter().zip(&self.base).zip(&self.ahead) {
            let (i, j) = (row.i as usize, row.j as usize);
            let (from, to) = (self.bodies[i].inverse_mass, self.bodies[j].inverse_mass);
            self.base_velocity[i] -= row.normal * (x * from);
            self.base_velocity[j] += row.normal * (x * to);
            self.bodies[i].velocity -= row.normal * (y * from);
            self.bodies[j].velocity += row.normal * (y * to);
        }
    }

    /// One Gauss–Seidel sweep at the extrapolated point, and what it tells about the momentum.
    fn sweep(&mut self) -> MotionOfSweep {
        let (mut against, mut squared) = (0.0, 0.0);
        let impulses = self.ahead.iter_mut().zip(&self.base);
        for ((row, bound), (y, x)) in self.rows.iter().zip(&self.bounds).zip(impulses) {
            let (i, j) = (row.i as usize, row.j as usize);
            let w = bound.offset + row.normal.dot(self.bodies[j].velocity - self.bodies[i].velocity);
            let next = (*y - w).max(bound.lower);
            let change = next - *y;
            let d = next - x;
            against -= change * d;
            squared += d * d;
            *y = next;
            let (from, to) = (change * self.bodies[i].inverse_mass, change * self.bodies[j].inverse_mass);
            self.bodies[i].velocity -= row.normal * from;
            self.bodies[j].velocity += row.normal * to;
        }
        let energy = self.energy(|k| self.base_velocity[k]);
        MotionOfSweep { curvature: if squared > 0.0 { energy / squared } else { 0.0 }, turned: against > 0.0 }
    }

    /// Σ m |V(y) − V₀|².
    fn energy(&self, from: impl Fn(usize) -> DVec3) -> f64 {
        let moving = self.bodies.iter().enumerate().filter(|(_, body)| body.inverse_mass > 0.0);
        moving.map(|(k, body)| (body.velocity - from(k)).length_squared() / body.inverse_mass).sum()
    }

    /// (x, y) ← (y, y + β (y − x)), and their velocities likewise.
    fn extrapolate(&mut self, momentum: f64) {
        for (x, y) in self.base.iter_mut().zip(&mut self.ahead) {
            let d = *y - *x;
            *x = *y;
            *y += momentum * d;
        }
        for (u, body) in self.base_velocity.iter_mut().zip(&mut self.bodies) {
            let d = body.velocity - *u;
            *u = body.velocity;
            body.velocity += d * momentum;
        }
    }

    /// ½ xᵀAx + bᵀx = ½ Σ m |V − V^{n+1/2}|² + Σ x (D/h + G V^{n+1/2}) at the base point.
    fn objective(&self, problem: &Problem) -> Objective {
        let bodies = self.base_velocity.iter().zip(&problem.apriori).zip(&problem.inverse_mass);
        let quadratic: f64 =
            bodies.filter(|(_, m)| **m > 0.0).map(|((v, u), m)| 0.5 * (*v - *u).length_squared() / m).sum();
        let (mut value, mut magnitude) = (quadratic, quadratic);
        let apriori = |k: u32| problem.apriori.get(k as usize).copied().unwrap_or_default();
        for ((row, bound), x) in self.rows.iter().zip(&self.bounds).zip(&self.base) {
            let (to, from) = (row.normal.dot(apriori(row.j)), row.normal.dot(apriori(row.i)));
            value += x * (bound.offset + to - from);
            magnitude += x.abs() * (bound.offset.abs() + to.abs() + from.abs());
        }
        Objective { value, rounding: 1e-13 * magnitude }
    }

    /// The residual at the base point; normals have the length 1/√A_cc.
    fn residual(&self, problem: &Problem) -> f64 {
        let mut worst = 0.0;
        for ((row, bound), x) in self.rows.iter().zip(&self.bounds).zip(&self.base) {
            let w =
                bound.offset + row.normal.dot(self.base_velocity[row.j as usize] - self.base_velocity[row.i as usize]);
            let squared = row.normal.length_squared();
            if squared > 0.0 {
                worst = super::worse(worst, (x - bound.lower).min(w).abs() / squared.sqrt());
            }
        }
        worst * problem.dt / problem.length
    }

    fn unload(&self, problem: &Problem, impulses: &mut [f64]) {
        for (((c, row), bound), &x) in order(problem.rows.len()).zip(&self.rows).zip(&self.bounds).zip(&self.base) {
            impulses[c] = if x > bound.lower { x * row.normal.length() } else { problem.rows[c].lower };
        }
    }
}
