//! An interior-point method with a sparse factorisation: as a solver, and as the end of a solve that sweeps would not
//! reach.
//!
//! Sweeps tell soon which contacts matter, and late the impulses along which next to nothing moves, as in glue without
//! inertia, where rows are almost equalities, or under a ball that is 1e12 times as heavy as those it lies on. The
//! interior-point method does not mind either: it needs 15 to 40 factorisations whatever the problem, and a few more for a
//! residual of 1e-10.
//!
//! Of many rows it looks at a *working set*, those that are closed or nearly so, each connected component by itself. If others
//! turn out to be violated, it solves once more with all rows.

mod cholesky;
mod dense;
mod ordering;
mod path;
mod system;

use glam::DVec3;
use rayon::prelude::*;

use super::feasibility::InfeasibilityCheck;
use super::{AcceleratedGradient, Accuracy, Criteria, Outcome, Problem, Projection, Row, Solution, Status};
use cholesky::Pattern;
use path::{Offer, Point};
use system::{Bodies, NOBODY, System};

/// Up to so many rows the working set is all of them.
const FEW: usize = 1_000;
/// Rows whose gap, at either end of the step, is below this, relative to the problem's length, are in the working set.
const NEAR: f64 = 0.25;
/// How far contacts are expected to move from where the method starts, relative to the length.
const WIDTH: f64 = 1.0;
/// Factorisations of one component; it has never needed half as many.
const MOST_FACTORISATIONS: u64 = 100;
/// After so many without a better residual, or half the complementarity gap, rounding is all that is left.
const FRUITLESS: u64 = 30;
/// Part of the tolerance that is aimed at: what is left is for rounding.
const AIM: f64 = 0.5;
/// Numbers in the factors of all components: 2 GB.
const MOST_NUMBERS: usize = 250_000_000;

/// The method as a solver. Where only products of the metric are known it leaves the problem to [`AcceleratedGradient`].
#[derive(Default)]
pub struct InteriorPoint {
    infeasibility: InfeasibilityCheck,
    by_products: AcceleratedGradient,
}

impl Projection for InteriorPoint {
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, solution: &mut Solution) -> Outcome {
        let Self { infeasibility, by_products } = self;
        problem.start(solution);
        infeasibility.start();
        infeasibility.infeasible(problem, &solution.impulses); // where the ray of the proof begins
        let Some(end) = end(problem, criteria, solution) else {
            return by_products.solve(problem, criteria, solution);
        };
        let End { accuracy, factorisations, .. } = end;
        *solution = end.solution;
        let status = if accuracy.residual <= criteria.tolerance {
            Status::Converged
        } else if let Some(rows) = infeasibility.infeasible(problem, &solution.impulses) {
            Status::Infeasible(rows)
        } else if factorisations >= criteria.max_sweeps {
            Status::SweepLimit
        } else {
            Status::Stalled
        };
        Outcome { status, sweeps: 0, products: 0, factorisations, accuracy }
    }
}

/// What the method found.
pub(super) struct End {
    pub solution: Solution,
    pub accuracy: Accuracy,
    /// Of the components, which are solved side by side, the most.
    pub factorisations: u64,
}

/// Multiplications of one factorisation for a solve that starts here; none where there can be none: where only products of
/// the metric are known, or where the factors would take too much memory.
pub(super) fn work(problem: &Problem, start: &Solution) -> Option<f64> {
    let metric = Bodies::new(problem)?;
    let (patterns, _) = Working::new(problem, &metric, &near_rows(problem, start), &start.impulses).patterns()?;
    Some(patterns.iter().map(Pattern::work).sum())
}

/// Solves the problem from here, or comes as near as it gets; none where there can be no factorisation.
pub(super) fn end(problem: &Problem, criteria: &Criteria, start: &Solution) -> Option<End> {
    let metric = Bodies::new(problem)?;
    let mut near = near_rows(problem, start);
    let rate = problem.length / problem.dt;
    let most = criteria.max_sweeps.min(MOST_FACTORISATIONS);
    let (aim, width) = (AIM * criteria.tolerance * rate, WIDTH * rate);
    let (mut impulses, mut factorisations) = (start.impulses.clone(), 0);
    loop {
        let (patterns, mut working) = Working::new(problem, &metric, &near, &impulses).patterns()?;
        let parts = working.components.par_iter().zip(patterns);
        let solved: Vec<(Offer, u64)> = parts.map(|(part, pattern)| solve(part, pattern, (aim, width, most))).collect();
        factorisations += solved.iter().map(|(_, taken)| *taken).max().unwrap_or_default();
        for (part, (offer, _)) in working.components.iter().zip(&solved) {
            part.write_impulses(problem, &offer.lambda, &mut impulses);
            part.add_velocities(&metric, &offer.u, &mut working.base);
        }
        let velocity = working.base;
        let overlap = -criteria.tolerance * problem.length;
        let missed = |(row, near): (&Row, &bool)| !near && problem.end_gap(row, &velocity) < overlap;
        if !problem.rows.iter().zip(&near).any(missed) {
            let solution = Solution { impulses, velocity };
            return Some(End { accuracy: problem.accuracy_of(&solution), solution, factorisations });
        }
        near.fill(true);
    }
}

/// The working set: rows that are closed, or near it at either end of the step.
fn near_rows(problem: &Problem, Solution { impulses, velocity }: &Solution) -> Vec<bool> {
    let near = NEAR * problem.length;
    let is_near = |(row, impulse): (&Row, &f64)| {
        row.set.holds_inside(*impulse)
            || row.gap.min(problem.end_gap(row, velocity)) < near
            || problem.rows.len() <= FEW
    };
    problem.rows.iter().zip(impulses).map(is_near).collect()
}

/// The working set, in connected components.
struct Working {
    components: Vec<System>,
    /// Velocities without the impulses of its rows.
    base: Vec<DVec3>,
}

impl Working {
    fn new(problem: &Problem, metric: &Bodies, near: &[bool], impulses: &[f64]) -> Self {
        let others: Vec<f64> = impulses.iter().zip(near).map(|(x, near)| if *near { 0.0 } else { *x }).collect();
        let base = problem.velocity(&others);
        let ends = |row: &Row| [metric.of(row.i), metric.of(row.j)];
        let rows = || (0_u32..).zip(&problem.rows).filter(|(c, row)| near[*c as usize] && ends(row) != [NOBODY; 2]);
        let count = metric.count();
        let mut leader: Vec<u32> = (0..count as u32).collect();
        let mut joined = vec![false; count];
        for (_, row) in rows() {
            let [i, j] = ends(row);
            [i, j].into_iter().filter(|body| *body != NOBODY).for_each(|body| joined[body as usize] = true);
            if i != NOBODY && j != NOBODY {
                let (a, b) = (lead(&mut leader, i), lead(&mut leader, j));
                leader[a.max(b) as usize] = a.min(b);
            }
        }
        // Rows and bodies of each component, at the place of its first body.
        let mut lists = vec![(Vec::new(), Vec::new()); count];
        let mut number = vec![0; count];
        for (c, row) in rows() {
            let [i, j] = ends(row);
            lists[lead(&mut leader, i.min(j)) as usize].0.push(c);
        }
        for body in (0..count as u32).filter(|body| joined[*body as usize]) {
            let members = &mut lists[lead(&mut leader, body) as usize].1;
            number[body as usize] = members.len() as u32;
            members.push(body);
        }
        let component = |(rows, bodies)| System::new((problem, metric, &base), rows, bodies, &number);
        let components = lists.into_iter().filter(|(rows, _)| !rows.is_empty()).map(component).collect();
        Self { components, base }
    }

    /// The patterns of the components' factors, unless these take too much memory.
    fn patterns(self) -> Option<(Vec<Pattern>, Self)> {
        let patterns: Vec<Pattern> = self.components.iter().map(Pattern::new).collect();
        let numbers: usize = patterns.iter().map(Pattern::size).sum();
        (numbers <= MOST_NUMBERS).then_some((patterns, self))
    }
}

/// The first body of the component, with the way to it halved.
fn lead(leader: &mut [u32], mut k: u32) -> u32 {
    while leader[k as usize] != k {
        leader[k as usize] = leader[leader[k as usize] as usize];
        k = leader[k as usize];
    }
    k
}

/// The solution of a component, or the best that was found, and how many factorisations it took.
fn solve(part: &System, pattern: Pattern, (aim, width, most): (f64, f64, u64)) -> (Offer, u64) {
    let mut point = Point::new(part, pattern, (aim, width));
    let (mut best, mut least_gap, mut best_at) = (point.offer(), f64::INFINITY, 0);
    while best.residual > 1.0 && point.factorisations < most.min(best_at + FRUITLESS) && point.advance() {
        let offer = point.offer();
        if offer.residual < best.residual {
            (best, best_at) = (offer, point.factorisations);
        }
        if point.gap() < 0.5 * least_gap {
            (least_gap, best_at) = (point.gap(), point.factorisations);
        }
    }
    (best, point.factorisations)
}
