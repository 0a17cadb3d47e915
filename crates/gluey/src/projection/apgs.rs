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
//! the solver goes back to the best point and sweeps plainly, which can only lower it, until the next test.

use glam::DVec3;

use super::feasibility::Watch;
use super::{Criteria, Outcome, Problem, Progress, Projection, SWEEPS_BETWEEN_TESTS, Status, WALL};

/// Share of the measured curvature that caps the momentum.
const CURVATURE_SHARE: f64 = 0.4;

/// The default solver. Keeps its buffers between solves; a solve depends on nothing else but the problem.
#[derive(Default)]
pub struct AcceleratedGaussSeidel {
    rows: Vec<ScaledRow>,
    /// Position of each scaled row in the problem.
    source: Vec<u32>,
    bounds: Vec<Bounds>,
    bodies: Bodies,
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
    /// √A_cc; 0 where both sides are immovable, and the row then stays at its bound.
    scale: f64,
}

#[derive(Default)]
struct Bodies {
    inverse_mass: Vec<f64>,
    apriori: Vec<DVec3>,
}

/// A point of the iteration: scaled impulses and the velocities they give.
#[derive(Clone, Default)]
struct Point {
    x: Vec<f64>,
    v: Vec<DVec3>,
}

impl Projection for AcceleratedGaussSeidel {
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, impulses: &mut Vec<f64>) -> Outcome {
        self.load(problem);
        let mut base = self.warm_start(problem);
        let (mut sweeps, mut products) = (0, 1);
        let mut best = base.clone();
        let mut best_objective = self.objective(&base);
        let mut ahead = base.clone(); // the extrapolated point y
        let mut before = ahead.x.clone();
        let (mut k, mut plain) = (0_u32, false);
        let mut progress = Progress::new();
        let mut watch = Watch::new(problem);

        let status = loop {
            if sweeps % SWEEPS_BETWEEN_TESTS == 0 {
                self.refresh(&mut base);
                self.refresh(&mut ahead);
                products += 2;
                let objective = self.objective(&base);
                if !plain && objective.value > best_objective.value + objective.rounding {
                    base.clone_from(&best);
                    ahead.clone_from(&best);
                    (k, plain) = (0, true);
                } else {
                    best.clone_from(&base);
                    (best_objective, plain) = (objective, false);
                }
                if let Some(status) = progress.status(self.residual(&base, problem), sweeps, criteria) {
                    break status;
                }
                if watch.is_due(sweeps) {
                    self.unload(&base, problem, impulses);
                    if let Some(culprits) = watch.infeasible(problem, impulses) {
                        break Status::Infeasible(culprits);
                    }
                }
            }
            before.clone_from(&ahead.x);
            self.sweep(&mut ahead);
            sweeps += 1;
            products += 1;

            k += 1;
            let motion = self.motion(&before, &ahead, &base);
            let mut momentum = f64::from(k - 1) / f64::from(k + 2);
            let damping = (CURVATURE_SHARE * motion.curvature).sqrt();
            momentum = momentum.min((1.0 - damping) / (1.0 + damping));
            if motion.turned {
                k = 1;
                momentum = 0.0;
            }
            if plain {
                momentum = 0.0;
            }
            extrapolate(&mut base, &mut ahead, momentum);
        };
        self.unload(&base, problem, impulses);
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

impl AcceleratedGaussSeidel {
    /// Rows in scaled form, taken in turn from four equal parts of the list: consecutive rows then share no body, and
    /// the sweep is not held up by the latency of its own updates.
    fn load(&mut self, problem: &Problem) {
        let wall = problem.apriori.len() as u32;
        let count = problem.rows.len();
        let part = count.div_ceil(4).max(1);
        self.source.clear();
        self.source
            .extend((0..part).flat_map(|k| (0..4).map(move |p| p * part + k)).filter(|&c| c < count).map(|c| c as u32));
        self.rows.clear();
        self.bounds.clear();
        for &c in &self.source {
            let row = &problem.rows[c as usize];
            let scale = problem.diagonal(row).sqrt();
            let inverse = if scale > 0.0 { scale.recip() } else { 0.0 };
            let j = if row.j == WALL { wall } else { row.j };
            self.rows.push(ScaledRow { normal: row.normal * inverse, i: row.i, j });
            self.bounds.push(Bounds {
                offset: row.gap / problem.dt * inverse,
                lower: if scale > 0.0 { row.lower * scale } else { 0.0 },
                scale,
            });
        }
        self.bodies.inverse_mass.clone_from(&problem.inverse_mass);
        self.bodies.inverse_mass.push(0.0);
        self.bodies.apriori.clone_from(&problem.apriori);
        self.bodies.apriori.push(DVec3::ZERO);
    }

    fn warm_start(&self, problem: &Problem) -> Point {
        let x = self.source.iter().zip(&self.bounds);
        let x = x.map(|(&c, bound)| (problem.rows[c as usize].warm * bound.scale).max(bound.lower)).collect();
        let mut point = Point { x, v: Vec::new() };
        self.refresh(&mut point);
        point
    }

    /// V = V^{n+1/2} + M⁻¹ Gᵀ x, afresh: sweeps accumulate rounding.
    fn refresh(&self, point: &mut Point) {
        point.v.clone_from(&self.bodies.apriori);
        for (row, &x) in self.rows.iter().zip(&point.x) {
            point.v[row.i as usize] -= row.normal * (x * self.bodies.inverse_mass[row.i as usize]);
            point.v[row.j as usize] += row.normal * (x * self.bodies.inverse_mass[row.j as usize]);
        }
    }

    fn sweep(&self, point: &mut Point) {
        let (v, inverse_mass) = (&mut point.v, &self.bodies.inverse_mass);
        for ((row, bound), x) in self.rows.iter().zip(&self.bounds).zip(&mut point.x) {
            let (i, j) = (row.i as usize, row.j as usize);
            let w = bound.offset + row.normal.dot(v[j] - v[i]);
            let next = (*x - w).max(bound.lower);
            let change = next - *x;
            *x = next;
            v[i] -= row.normal * (change * inverse_mass[i]);
            v[j] += row.normal * (change * inverse_mass[j]);
        }
    }

    fn motion(&self, before: &[f64], ahead: &Point, base: &Point) -> MotionOfSweep {
        let (mut against, mut squared) = (0.0, 0.0);
        for ((y, x), old) in ahead.x.iter().zip(&base.x).zip(before) {
            let d = y - x;
            against += (old - y) * d;
            squared += d * d;
        }
        let bodies = ahead.v.iter().zip(&base.v).zip(&self.bodies.inverse_mass);
        let energy: f64 = bodies.filter(|(_, m)| **m > 0.0).map(|((v, u), m)| (*v - *u).length_squared() / m).sum();
        MotionOfSweep { curvature: if squared > 0.0 { energy / squared } else { 0.0 }, turned: against > 0.0 }
    }

    /// ½ xᵀAx + bᵀx = ½ Σ m |V − V^{n+1/2}|² + Σ x (D/h + G V^{n+1/2}).
    fn objective(&self, point: &Point) -> Objective {
        let a = &self.bodies.apriori;
        let bodies = point.v.iter().zip(a).zip(&self.bodies.inverse_mass);
        let quadratic: f64 =
            bodies.filter(|(_, m)| **m > 0.0).map(|((v, u), m)| 0.5 * (*v - *u).length_squared() / m).sum();
        let (mut value, mut magnitude) = (quadratic, quadratic);
        for ((row, bound), x) in self.rows.iter().zip(&self.bounds).zip(&point.x) {
            let (to, from) = (row.normal.dot(a[row.j as usize]), row.normal.dot(a[row.i as usize]));
            value += x * (bound.offset + to - from);
            magnitude += x.abs() * (bound.offset.abs() + to.abs() + from.abs());
        }
        Objective { value, rounding: 1e-13 * magnitude }
    }

    fn residual(&self, point: &Point, problem: &Problem) -> f64 {
        let unit = problem.dt / problem.length;
        let mut worst = 0.0;
        for ((row, bound), x) in self.rows.iter().zip(&self.bounds).zip(&point.x) {
            let w = bound.offset + row.normal.dot(point.v[row.j as usize] - point.v[row.i as usize]);
            worst = super::worse(worst, bound.scale * (x - bound.lower).min(w).abs());
        }
        worst * unit
    }

    fn unload(&self, point: &Point, problem: &Problem, impulses: &mut Vec<f64>) {
        impulses.clear();
        impulses.resize(problem.rows.len(), 0.0);
        for ((&c, bound), &x) in self.source.iter().zip(&self.bounds).zip(&point.x) {
            let lower = problem.rows[c as usize].lower;
            impulses[c as usize] = if x > bound.lower { x / bound.scale } else { lower };
        }
    }
}

/// (x, y) ← (y, y + β (y − x)), and their velocities likewise.
fn extrapolate(base: &mut Point, ahead: &mut Point, momentum: f64) {
    for (x, y) in base.x.iter_mut().zip(&mut ahead.x) {
        let d = *y - *x;
        *x = *y;
        *y += momentum * d;
    }
    for (u, v) in base.v.iter_mut().zip(&mut ahead.v) {
        let d = *v - *u;
        *u = *v;
        *v += d * momentum;
    }
}
