//! The rule by which the impulses of a packing with more closed contacts than degrees of freedom are chosen.
//!
//! The projection leaves them open: it determines V, and with it Gᵀ Λ. Of all impulses that give this velocity, the rule
//! takes the smallest, as if every contact were a spring of the same stiffness:
//!
//! ```text
//! minimise ½ Σ Λ²   over   Gᵀ Λ = Gᵀ Λ_found,   Λ ≥ lower,   Λ = Λ_found where the step ends open.
//! ```
//!
//! The problem is strictly convex on a polyhedron that holds Λ_found: the answer exists, is unique, and knows nothing of
//! the order of the rows or of where the solver started. Its dual has one vector u a body, the displacements of the
//! springs' ends; on closed rows
//!
//! ```text
//! Λ(u) = max(lower, G u),   g(u) = Gᵀ (Λ_found − Λ(u)) = 0,
//! ```
//!
//! and g is the descent of a convex, continuously differentiable, piecewise quadratic function of u. Newton's method on
//! it is finite: with the rows S above their bounds, K δ = g(u) for K = G_Sᵀ G_S, then a line search along δ. The first S
//! is that of Λ_found, which is right in most steps.

use glam::DVec3;

use super::stiffness::{Enough, Spring, Stiffness};
use super::{Accuracy, Criteria, Problem};

/// The part of the tolerance that solvers leave to the rule.
const RESERVE: f64 = 0.2;
/// How far the impulses may be from the rule's, relative to their norm.
const ACCURACY: f64 = 1e-5;
/// How far a Newton step is solved while the rows above their bounds still change, relative to the step.
const ROUGH: f64 = 0.05;
/// The stiffness of rows at their bounds: next to none, so that Newton's method is what it is.
const LEAST_SLACK: f64 = 1e-7;
/// Where S alone cannot take up g, δ is long and its line search ends after a small part of it; the rows at their bounds
/// then help the more. With all of them at stiffness 1 the whole step lowers the dual.
const SHORT: f64 = 0.1;
const SLACKER: f64 = 100.0;
/// Limit on products: the impulses are then blended with those found.
const MOST_PRODUCTS: u64 = 2_000;
/// Limit on trials of a line search; it ends by itself once the rows above their bounds are right.
const MOST_TRIALS: u32 = 30;
/// A trial is good enough when it has taken away all but this much of the slope.
const FLAT: f64 = 1e-3;

/// What the rule did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// Rows that end the step closed.
    pub closed: usize,
    /// Products with GᵀG or passes of the same cost.
    pub products: u64,
    /// Residual and violation of the impulses returned, recomputed from them.
    pub accuracy: Accuracy,
    /// How much of the way from the impulses found to those of the rule was taken: 1, unless the limit was met first.
    pub share: f64,
}

/// Distributes impulses by the rule. Keeps its buffers between steps, and remembers nothing else.
#[derive(Default)]
pub struct LeastNorm {
    /// The closed rows, sorted by their bodies.
    closed: Vec<Spring>,
    stiffness: Stiffness,
    /// δ.
    step: Vec<DVec3>,
}

/// Sums over the closed rows at some part of δ.
struct Trial {
    /// The derivative of the dual along δ, with its sign changed: positive as long as the dual falls.
    slope: f64,
    /// Its loss per step: Σ (G δ)² over rows above their bounds.
    curvature: f64,
}

impl LeastNorm {
    /// What the solver must reach so that the rule keeps the criteria.
    #[must_use]
    pub fn criteria_of_solver(criteria: &Criteria) -> Criteria {
        Criteria { tolerance: (1.0 - RESERVE) * criteria.tolerance, ..*criteria }
    }

    /// Replaces the impulses of a solution, and its velocities, by those of the rule; moves no body by more than a small
    /// part of the tolerance. `u` holds one vector a body: on entry a guess, that of the last step for instance (of another
    /// length: none), on return the one found.
    pub fn distribute(
        &mut self,
        problem: &Problem,
        criteria: &Criteria,
        velocity: &mut Vec<DVec3>,
        u: &mut Vec<DVec3>,
        impulses: &mut [f64],
    ) -> Distribution {
        let allowed = 0.5 * RESERVE * criteria.tolerance * problem.length;
        self.find_closed(problem, criteria, velocity, impulses);
        self.adopt(problem, impulses, u);
        let mut products = 2;
        let (mut accuracy, mut settled) = (ACCURACY, true);
        // The first step is taken whole: S is that of the impulses found, not that of the guess.
        let mut whole = true;
        let mut slack = LEAST_SLACK;
        let share = loop {
            self.stiffness.assemble(problem, &self.closed, slack);
            let left = |spring: &Spring, lower: f64| {
                impulses[spring.row as usize] - if spring.above { spring.stretch } else { lower }
            };
            self.stiffness.load(problem, &self.closed, left);
            let error = accuracy * norm(problem, &self.closed, impulses);
            let relative = if settled { 0.0 } else { ROUGH };
            let enough = Enough { error, relative, products: MOST_PRODUCTS.saturating_sub(products) };
            let solution = self.stiffness.solve(problem, &self.closed, &enough, &mut self.step);
            products += solution.products + 2;
            // Rows that still change sides do so at the bound if the step itself is within the error.
            let accurate = settled || (!whole && solution.size <= error);
            let (part, same) = self.advance(problem, impulses, u, whole);
            settled = same || solution.size <= error;
            slack = if part < SHORT { (SLACKER * slack).min(1.0) } else { (slack / SLACKER).max(LEAST_SLACK) };
            whole = false;
            let moved = self.moved(problem, impulses);
            if settled && accurate {
                if moved <= allowed {
                    break 1.0;
                }
                accuracy *= 0.1;
            }
            if products >= MOST_PRODUCTS {
                break if moved > allowed { allowed / moved } else { 1.0 };
            }
        };
        self.write(problem, share, impulses);
        problem.velocity_into(impulses, velocity);
        let accuracy = problem.accuracy_with(impulses, velocity);
        Distribution { closed: self.closed.len(), products, accuracy, share }
    }

    /// Rows within what the solver may leave open count as closed: else its tolerance would decide which of two contacts
    /// that are closed alike bears the load. Between immovable sides nothing is to be balanced.
    fn find_closed(&mut self, problem: &Problem, criteria: &Criteria, velocity: &[DVec3], found: &mut [f64]) {
        let open = Self::criteria_of_solver(criteria).tolerance * problem.length;
        let wall = problem.apriori.len() as u32;
        let moves = |k: u32| problem.inverse_mass.get(k as usize).is_some_and(|inverse_mass| *inverse_mass > 0.0);
        self.closed.clear();
        for (c, row) in problem.rows.iter().enumerate() {
            if problem.end_gap(row, velocity) <= open {
                let [i, j] = [row.i, row.j].map(|k| if moves(k) { k } else { wall });
                let (first, second, above) = (i.min(j), i.max(j), found[c] > row.lower);
                if first == wall {
                    found[c] = row.lower.max(0.0);
                } else {
                    self.closed.push(Spring { row: c as u32, first, second, above, stretch: 0.0, rate: 0.0 });
                }
            }
        }
        let bodies = |spring: &Spring| (spring.first, spring.second);
        if !self.closed.is_sorted_by_key(bodies) {
            self.closed.sort_by_key(bodies);
        }
    }

    /// As much of the guess as lowers the dual most.
    fn adopt(&mut self, problem: &Problem, found: &[f64], u: &mut Vec<DVec3>) {
        let bodies = problem.apriori.len();
        if u.len() != bodies {
            u.clear();
            u.resize(bodies, DVec3::ZERO);
        }
        for (u, inverse_mass) in u.iter_mut().zip(&problem.inverse_mass) {
            *u = if *inverse_mass > 0.0 { *u } else { DVec3::ZERO };
        }
        self.stretch_by(problem, u);
        let part = self.search(problem, found);
        for u in u {
            *u *= part;
        }
        for spring in &mut self.closed {
            spring.stretch = part * spring.rate;
        }
    }

    /// The rates G δ.
    fn stretch_by(&mut self, problem: &Problem, step: &[DVec3]) {
        let displacement = |k: u32| step.get(k as usize).copied().unwrap_or_default();
        for spring in &mut self.closed {
            let row = &problem.rows[spring.row as usize];
            spring.rate = row.normal.dot(displacement(row.j) - displacement(row.i));
        }
    }

    /// Goes along δ to where the dual is least, or all the way; which part of the way, and whether the rows above their
    /// bounds are those that δ was found with.
    fn advance(&mut self, problem: &Problem, found: &[f64], u: &mut [DVec3], whole: bool) -> (f64, bool) {
        let step = std::mem::take(&mut self.step);
        self.stretch_by(problem, &step);
        let part = if whole { 1.0 } else { self.search(problem, found) };
        for (u, step) in u.iter_mut().zip(&step) {
            *u += *step * part;
        }
        self.step = step;
        let mut same = true;
        for spring in &mut self.closed {
            spring.stretch += part * spring.rate;
            let above = spring.stretch > problem.rows[spring.row as usize].lower;
            same &= above == spring.above;
            spring.above = above;
        }
        (part, same)
    }

    /// The part of δ at which the dual is least. Its derivative is piecewise linear and monotone: Newton's method, kept
    /// between the bounds met so far, finds the root in a few passes over numbers in a line.
    fn search(&self, problem: &Problem, found: &[f64]) -> f64 {
        let resistance = self.closed.iter().map(|spring| spring.rate * spring.rate).sum::<f64>();
        let mut trial = self.attempt(problem, found, 0.0);
        let slope = trial.slope;
        if !(slope > 0.0 && resistance > 0.0) {
            return 0.0;
        }
        // No step loses more slope than with all rows above their bounds.
        let (mut from, mut to) = (0.0, f64::INFINITY);
        let mut part = 0.0;
        for _ in 0..MOST_TRIALS {
            let newton = part + trial.slope / trial.curvature;
            let middle = if to.is_finite() { 0.5 * (from + to) } else { 2.0 * from + slope / resistance };
            part = if newton > from && newton < to { newton } else { middle };
            trial = self.attempt(problem, found, part);
            if trial.slope.abs() <= FLAT * slope {
                break;
            }
            (from, to) = if trial.slope > 0.0 { (part, to) } else { (from, part) };
        }
        part
    }

    fn attempt(&self, problem: &Problem, found: &[f64], part: f64) -> Trial {
        let mut trial = Trial { slope: 0.0, curvature: 0.0 };
        for spring in &self.closed {
            let lower = problem.rows[spring.row as usize].lower;
            let stretch = spring.stretch + part * spring.rate;
            trial.slope += (found[spring.row as usize] - stretch.max(lower)) * spring.rate;
            trial.curvature += if stretch > lower { spring.rate * spring.rate } else { 0.0 };
        }
        trial
    }

    /// How far what is left of g would move a body.
    fn moved(&mut self, problem: &Problem, found: &[f64]) -> f64 {
        let left = |spring: &Spring, lower: f64| found[spring.row as usize] - spring.stretch.max(lower);
        let left = self.stiffness.load(problem, &self.closed, left);
        let bodies = left.iter().zip(&problem.inverse_mass);
        problem.dt * bodies.map(|(g, inverse_mass)| g.length() * inverse_mass).fold(0.0, f64::max)
    }

    /// The blend of the impulses found and those of the rule; both are at least `lower`.
    fn write(&self, problem: &Problem, share: f64, impulses: &mut [f64]) {
        for spring in &self.closed {
            let impulse = &mut impulses[spring.row as usize];
            let lower = problem.rows[spring.row as usize].lower;
            let rule = spring.stretch.max(lower);
            *impulse = if share < 1.0 { (*impulse + share * (rule - *impulse)).max(lower) } else { rule };
        }
    }
}

/// |Λ|, of those found or of the springs, whichever is less: neither a start with great self-stress nor a bad guess makes
/// the rule careless.
fn norm(problem: &Problem, closed: &[Spring], found: &[f64]) -> f64 {
    let (mut of_found, mut of_springs) = (0.0, 0.0);
    for spring in closed {
        of_found += found[spring.row as usize].powi(2);
        of_springs += spring.stretch.max(problem.rows[spring.row as usize].lower).powi(2);
    }
    let least = if of_springs > 0.0 { of_springs.min(of_found) } else { of_found };
    least.sqrt()
}
