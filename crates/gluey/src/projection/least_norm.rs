//! The rule by which the impulses of a packing with more closed contacts than degrees of freedom are chosen.
//!
//! The projection leaves them open: it determines V, and with it Gᵀ Λ. Of all impulses that give this velocity, the rule
//! takes the smallest, as if every contact were a spring of the same stiffness:
//!
//! ```text
//! minimise ½ Σ Λ²   over   Gᵀ Λ = Gᵀ Λ_found,   Λ ≥ lower,   Λ = Λ_found where the step ends open.
//! ```
//!
//! Two such Λ differ by a self-stress. Rows without any ([`SelfStress`]) keep Λ_found bit by bit, and all that follows is
//! about the others. Most packings have none.
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
//! is that of the last step's u where it still holds, else that of Λ_found.
//!
//! Whatever u is, Λ(u) are the least impulses for the velocity that they give. So the method ends when this velocity is as
//! good as the one found: within the tolerance. At rest the u of the last step still is, and nothing has to be solved.

use glam::DVec3;

use super::self_stress::{Closed, SelfStress};
use super::stiffness::{Enough, Spring, Stiffness};
use super::{Accuracy, Criteria, Problem, Solution};

/// How much better the last Newton step is solved the next time, where it did not do.
const CLOSER: f64 = 0.1;
/// No impulses are better than this, relative to their norm.
const ROUNDING: f64 = 1e-13;
/// How far a Newton step is solved while the rows above their bounds still change, relative to the step.
const ROUGH: f64 = 0.05;
/// The stiffness of rows at their bounds: next to none, so that Newton's method is what it is.
const LEAST_SLACK: f64 = 1e-7;
/// Where S alone cannot take up g, δ is long and its line search ends after a small part of it; the rows at their bounds
/// then help the more. With all of them at stiffness 1 the whole step lowers the dual.
const SHORT: f64 = 0.1;
const SLACKER: f64 = 100.0;
/// Limit on products of a step, about as much as a few projections take. The impulses are then blended with those found,
/// and the next step goes on from u.
const MOST_PRODUCTS: u64 = 300;
/// Limit on trials of a line search; it ends by itself once the rows above their bounds are right.
const MOST_TRIALS: u32 = 30;
/// A trial is good enough when it has taken away all but this much of the slope.
const FLAT: f64 = 1e-3;

/// What the rule did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastNormOutcome {
    /// Rows that a self-stress can live on: those that the rule is about.
    pub rows: usize,
    /// Products with GᵀG or passes of the same cost.
    pub products: u64,
    /// Residual and violation of the impulses returned, recomputed from them; none where they are those found.
    pub accuracy: Option<Accuracy>,
    /// How much of the way from the impulses found to those of the rule was taken: 1, unless the limit was met first.
    pub share: f64,
}

/// Distributes impulses by the rule. Keeps its buffers between steps, and remembers nothing else.
pub struct LeastNorm {
    self_stress: SelfStress,
    /// The rows with a self-stress, sorted by their bodies.
    springs: Vec<Spring>,
    stiffness: Stiffness,
    /// u of their bodies.
    displacement: Vec<DVec3>,
    /// δ.
    step: Vec<DVec3>,
    most_products: u64,
}

impl Default for LeastNorm {
    fn default() -> Self {
        Self {
            self_stress: SelfStress::default(),
            springs: Vec::new(),
            stiffness: Stiffness::default(),
            displacement: Vec::new(),
            step: Vec::new(),
            most_products: MOST_PRODUCTS,
        }
    }
}

/// Sums over the springs at some part of δ.
struct Trial {
    /// The derivative of the dual along δ, with its sign changed: positive as long as the dual falls.
    slope: f64,
    /// Its loss per step: Σ (G δ)² over rows above their bounds.
    curvature: f64,
}

impl LeastNorm {
    /// Replaces the impulses of a solution, and its velocities, by those of the rule; a residual within the tolerance
    /// stays within it. `u` holds one vector a body: on entry a guess, that of the last step for instance (of another
    /// length: none), on return the one found, or nothing where there was nothing to choose.
    pub fn apply(
        &mut self,
        problem: &Problem,
        criteria: &Criteria,
        solution: &mut Solution,
        u: &mut Vec<DVec3>,
    ) -> LeastNormOutcome {
        self.find_springs(problem, criteria, solution);
        let rows = self.springs.len();
        if rows == 0 {
            u.clear();
            return LeastNormOutcome { rows, products: 0, accuracy: None, share: 1.0 };
        }
        // Two bodies that move by so much change the gap between them by what the solver has left of the tolerance.
        let left = criteria.tolerance - problem.accuracy_of(solution).residual;
        let allowed = 0.5 * left.max(0.0) * problem.length;
        let holds = self.adopt(problem.bodies(), u);
        let (share, products) = self.minimise(problem, allowed, holds);
        self.write(share, &mut solution.impulses);
        self.hand_over(problem.bodies(), u);
        problem.velocity_into(&solution.impulses, &mut solution.velocity);
        let accuracy = Some(problem.accuracy_of(solution));
        LeastNormOutcome { rows, products, accuracy, share }
    }

    /// Newton's method until no body would move by more than `allowed`, from S of a guess that `holds`, else from that of
    /// the impulses found; the share of the way that may be taken then, and the products it took.
    fn minimise(&mut self, problem: &Problem, allowed: f64, holds: bool) -> (f64, u64) {
        let mut products = 4;
        let mut error = self.error_for(problem, allowed);
        // The first step from the impulses found is good if they have the right S.
        let (mut first, mut settled, mut slack) = (!holds, !holds, LEAST_SLACK);
        let mut moved = self.moved(problem);
        while moved > allowed {
            if products >= self.most_products {
                return (allowed / moved, products);
            }
            self.stiffness.assemble(self.displacement.len(), &self.springs, slack);
            let left = |spring: &Spring| spring.found - if spring.above { spring.stretch } else { spring.lower };
            self.stiffness.load(self.displacement.len(), &self.springs, left);
            let relative = if settled { 0.0 } else { ROUGH };
            // Where the first step leads nowhere there must be products left for those that do.
            let limit = if first { self.most_products / 2 } else { self.most_products };
            let enough = Enough { error, relative, products: limit.saturating_sub(products) };
            let solution = self.stiffness.solve(&self.springs, &enough, &mut self.step);
            products += solution.products + 2;
            if settled && solution.reached {
                error *= CLOSER;
            }
            self.stretch_by_step();
            // S is that of the impulses found, not of u: a step that lowers the dual is taken whole.
            let whole = first && self.dual(1.0) <= self.dual(0.0);
            let part = if whole { 1.0 } else { self.search() };
            let same = self.advance(part);
            settled = (same && (whole || !first)) || solution.size <= error;
            slack = if part < SHORT { (SLACKER * slack).min(1.0) } else { (slack / SLACKER).max(LEAST_SLACK) };
            first = false;
            moved = self.moved(problem);
        }
        (1.0, products)
    }

    /// |Λ − Λ_exact| at which bodies move by about `allowed`, if the rows have equal parts in it.
    fn error_for(&self, problem: &Problem, allowed: f64) -> f64 {
        let inverse_masses =
            self.self_stress.bodies().iter().map(|k| problem.prediction.metric.inverse_mass()[*k as usize]);
        let lightest = inverse_masses.fold(0.0, f64::max);
        let squares = self.springs.iter().map(|spring| spring.found * spring.found).sum::<f64>();
        let even = (self.springs.len() as f64).sqrt() * allowed / (problem.dt * lightest);
        even.max(ROUNDING * squares.sqrt())
    }

    /// Rows within what the solver may leave open count as closed: else its tolerance would decide which of two contacts
    /// that are closed alike bears the load. Between immovable sides nothing is to be balanced.
    fn find_springs(&mut self, problem: &Problem, criteria: &Criteria, solution: &mut Solution) {
        let Solution { impulses: found, velocity } = solution;
        let open = criteria.tolerance * problem.length;
        let wall = problem.bodies() as u32;
        let moves = |k: u32| {
            problem.prediction.metric.inverse_mass().get(k as usize).is_some_and(|inverse_mass| *inverse_mass > 0.0)
        };
        self.self_stress.clear();
        for (c, row) in problem.rows.iter().enumerate() {
            if problem.end_gap(row, velocity) <= open {
                let [first, second] = [row.i, row.j].map(|k| if moves(k) { k } else { wall });
                if first == second {
                    found[c] = row.set.project(0.0);
                } else {
                    self.self_stress.push(Closed { row: c as u32, first, second });
                }
            }
        }
        self.self_stress.find(problem);
        self.springs.clear();
        self.springs.extend(self.self_stress.rows().iter().map(|closed| {
            let Closed { row: c, first: i, second: j } = *closed;
            let (row, found) = (&problem.rows[c as usize], found[c as usize]);
            let (first, second, normal) = if i < j { (i, j, row.normal) } else { (j, i, -row.normal) };
            let (lower, above) = (row.set.least(), row.set.holds_inside(found));
            Spring { row: c, first, second, above, normal, lower, found, stretch: 0.0, rate: 0.0 }
        }));
        let bodies = |spring: &Spring| (spring.first, spring.second, spring.row);
        if !self.springs.is_sorted_by_key(bodies) {
            self.springs.sort_unstable_by_key(bodies);
        }
    }

    /// As much of the guess as lowers the dual most; whether that is all of it, with S then.
    fn adopt(&mut self, bodies: usize, u: &[DVec3]) -> bool {
        let guess = |k: &u32| if u.len() == bodies { u[*k as usize] } else { DVec3::ZERO };
        self.step.clear();
        self.step.extend(self.self_stress.bodies().iter().map(guess));
        self.stretch_by_step();
        let part = self.search();
        self.displacement.clear();
        self.displacement.extend(self.step.iter().map(|step| *step * part));
        let holds = (1.0 - part).abs() <= FLAT;
        for spring in &mut self.springs {
            spring.stretch = part * spring.rate;
            spring.above = if holds { spring.stretch > spring.lower } else { spring.above };
        }
        holds
    }

    /// The rates G δ.
    fn stretch_by_step(&mut self) {
        let displacement = |k: u32| self.step.get(k as usize).copied().unwrap_or_default();
        for spring in &mut self.springs {
            spring.rate = spring.normal.dot(displacement(spring.second) - displacement(spring.first));
        }
    }

    /// Goes along δ; whether the rows above their bounds are those that δ was found with.
    fn advance(&mut self, part: f64) -> bool {
        for (u, step) in self.displacement.iter_mut().zip(&self.step) {
            *u += *step * part;
        }
        let mut same = true;
        for spring in &mut self.springs {
            spring.stretch += part * spring.rate;
            let above = spring.stretch > spring.lower;
            same &= above == spring.above;
            spring.above = above;
        }
        same
    }

    /// The dual at some part of δ: Σ ½ Λ² − Λ_found G u with Λ = G u above the bound, and its tangent below.
    fn dual(&self, part: f64) -> f64 {
        let of_spring = |spring: &Spring| {
            let Spring { lower, found, .. } = *spring;
            let stretch = spring.stretch + part * spring.rate;
            let energy = if stretch > lower { 0.5 * stretch * stretch } else { lower * (stretch - 0.5 * lower) };
            energy - found * stretch
        };
        self.springs.iter().map(of_spring).sum()
    }

    /// The part of δ at which the dual is least. Its derivative is piecewise linear and monotone: Newton's method, kept
    /// between the bounds met so far, finds the root in a few passes over numbers in a line.
    fn search(&self) -> f64 {
        let resistance = self.springs.iter().map(|spring| spring.rate * spring.rate).sum::<f64>();
        let slope = self.attempt(0.0).slope;
        if !(slope > 0.0 && resistance > 0.0) {
            return 0.0;
        }
        // A step of Newton's method, or a guess that still holds, is right as it is.
        let (mut from, mut to) = (0.0, f64::INFINITY);
        let mut part = 1.0;
        for _ in 0..MOST_TRIALS {
            let trial = self.attempt(part);
            if trial.slope.abs() <= FLAT * slope {
                break;
            }
            (from, to) = if trial.slope > 0.0 { (part, to) } else { (from, part) };
            let newton = part + trial.slope / trial.curvature;
            // No step loses more slope than with all rows above their bounds.
            let middle = if to.is_finite() { 0.5 * (from + to) } else { 2.0 * from + slope / resistance };
            part = if newton > from && newton < to { newton } else { middle };
        }
        part
    }

    fn attempt(&self, part: f64) -> Trial {
        let mut trial = Trial { slope: 0.0, curvature: 0.0 };
        for spring in &self.springs {
            let stretch = spring.stretch + part * spring.rate;
            trial.slope += (spring.found - stretch.max(spring.lower)) * spring.rate;
            trial.curvature += if stretch > spring.lower { spring.rate * spring.rate } else { 0.0 };
        }
        trial
    }

    /// How far what is left of g would move a body.
    fn moved(&mut self, problem: &Problem) -> f64 {
        let left =
            self.stiffness.load(self.displacement.len(), &self.springs, |spring| spring.found - spring.impulse());
        let bodies = self.self_stress.bodies().iter().zip(left);
        problem.dt * problem.fastest(bodies.map(|(k, g)| (*k as usize, *g)))
    }

    /// The blend of the impulses found and those of the rule; both are at least `lower`.
    fn write(&self, share: f64, impulses: &mut [f64]) {
        for spring in &self.springs {
            let (found, rule) = (spring.found, spring.impulse());
            let blend = if share < 1.0 { (found + share * (rule - found)).max(spring.lower) } else { rule };
            impulses[spring.row as usize] = blend;
        }
    }

    /// u of all bodies: those without a self-stress have none.
    fn hand_over(&self, bodies: usize, u: &mut Vec<DVec3>) {
        u.clear();
        u.resize(bodies, DVec3::ZERO);
        for (k, displacement) in self.self_stress.bodies().iter().zip(&self.displacement) {
            u[*k as usize] = *displacement;
        }
    }
}

#[cfg(test)]
#[path = "least_norm_tests.rs"]
mod tests;
