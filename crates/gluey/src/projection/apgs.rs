//! Projected Gauss–Seidel with Nesterov momentum, capped by the curvature met, and restarts.
//!
//! One sweep at the extrapolated point y sets each y_c ← max(lower_c, y_c − ω w_c/A_cc) with w = b + G V(y); then, with
//! d = y − x measured by the diagonal of A,
//!
//! ```text
//! q = Σ m |V(y) − V(x)|² / Σ A_cc d_c²,   s = √(q/2),   β = min((k−1)/(k+½), (1−s)/(1+s)),
//! x ← y,   y ← y + β d,   and β = 0, k = 1 where the sweep turned against the momentum.
//! ```
//!
//! q is that of the sweep before: it costs no pass over the bodies of its own, and no more sweeps. Since q caps β, β may
//! rise faster than the (k−1)/(k+2) of the method without a cap.
//!
//! The first sweeps have ω = 1, so that contacts with no other near are solved to the last bit; the later ones go a little
//! further than to the minimum of each row, which lowers the objective for every ω < 2.
//!
//! The residual is the worst of all rows, and momentum keeps a few of them away from their minimum long after the others
//! are there: one sweep without it often lowers the residual to a third, and a second brings back what is left of those few.
//! So it is looked at after such sweeps, from time to time, and if it is still too large the momentum goes on from where it
//! was.
//!
//! Where the residual has not halved for long the impulses often grow along a ray that moves next to nothing: an arch
//! that exactly fits. A line search along the way of the last 64 sweeps or more then takes thousands of sweeps at once.
//!
//! Where the sweeps have cost as much as a solution by factorisation would, and the residual still falls slowly, or no more,
//! the [interior-point method](super::InteriorPoint) finishes the solve.
//!
//! No proof of convergence is known for accelerated sweeps, so the objective is tested from time to time: where it rose,
//! the solver sweeps plainly for a while, which can only lower it, and each time twice as long as the last.
//!
//! A sweep needs the rows of A one at a time: those of spheres on their own ([`Blocks`]), or of clumps ([`RigidRows`]).
//! Where the metric is known by its products alone, the projected gradient method takes over.

use std::num::NonZeroU32;

use super::blocks::{Advance, Blocks, LineSearch};
use super::interior_point::{self, End};
use super::quads::Objective;
use super::rigid_rows::RigidRows;
use super::sweep::Pace;
use super::{
    AcceleratedGradient, Accuracy, Criteria, InfeasibilityCheck, Metric, Monitor, Outcome, Problem, Projection,
    SWEEPS_BETWEEN_TESTS, Solution, Status,
};

/// Share of the measured curvature that caps the momentum.
const CURVATURE_SHARE: f64 = 0.5;
/// Sweeps with ω = 1 that come first.
const EXACT_SWEEPS: u64 = 8;
/// The residual is checked where the sweeps suggest that it is within this factor of the tolerance,
const NEAR: f64 = 3.0;
/// so many sweeps after the last check or later,
const LEAST_SWEEPS_BETWEEN_CHECKS: u64 = 4;
/// and in any case after so many; the objective is then compared,
const SWEEPS_BETWEEN_CHECKS: u64 = 64;
/// which most solves end before.
const FIRST_CHECK: u64 = 128;
/// After so many of these velocities are gathered afresh.
const CHECKS_BETWEEN_REFRESHES: u64 = 4;
/// The first sweep without momentum.
const FIRST_SMOOTHING: u64 = 16;
/// One more follows where the residual is within this factor of the tolerance.
const ALMOST: f64 = 1.5;
/// What is left after sweeps without momentum falls as the sweeps to the power −1/this, or faster: in beds of 3,000 to 100,000
/// spheres.
const SLOWEST_FALL: f64 = 0.75;

/// No finish is thought of before so many sweeps.
const FIRST_FINISH: u64 = 1_024;
/// What a finish takes, mostly.
const FACTORISATIONS: f64 = 20.0;
/// Multiplications of a factorisation in the time that a sweep takes for a row.
const WORK_OF_A_ROW: f64 = 16.0;

/// So many bodies or more are cut in blocks,
const LEAST_CUT: usize = 6_000;
/// 2 √(bodies / this) of them, rounded to an even number.
const BODIES_OF_TWO_BLOCKS: f64 = 5_000.0;
/// What a sum of numbers that cancel may be wrong by, relative to their size: near the end the objective changes by far
/// less.
const ROUNDING: f64 = 1e-13;

/// The default solver. Keeps its buffers between solves; a solve depends on nothing else but the problem.
#[derive(Default)]
pub struct AcceleratedGaussSeidel {
    blocks: Blocks,
    rigid_rows: RigidRows,
    /// As the user wants.
    count: Option<NonZeroU32>,
    infeasibility: InfeasibilityCheck,
    /// For metrics that are not diagonal.
    by_products: AcceleratedGradient,
}

impl Projection for AcceleratedGaussSeidel {
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, solution: &mut Solution) -> Outcome {
        let Self { blocks, rigid_rows, count, infeasibility, by_products } = self;
        match &problem.prediction.metric {
            Metric::Diagonal(_) => {
                let count = count.unwrap_or_else(|| blocks_for(problem.bodies()));
                blocks.load(problem, &solution.impulses, count);
                Task { problem, criteria, infeasibility, solution }.sweep(blocks, problem.steepest())
            }
            Metric::Rigid(rigid) => {
                rigid_rows.load((problem, rigid), &solution.impulses, *count);
                let steepest = rigid_rows.steepest();
                Task { problem, criteria, infeasibility, solution }.sweep(rigid_rows, steepest)
            }
            Metric::Operator { .. } => by_products.solve(problem, criteria, solution),
        }
    }
}

impl AcceleratedGaussSeidel {
    /// More blocks than this are not made: who owns the rows between two of them is asked for every two.
    pub const MOST_BLOCKS: u32 = 4_096;

    /// Cuts problems in so many blocks, which threads share: no more threads than blocks are of use. Results depend on the
    /// cut (within the tolerance), not on the threads. Without a wish it depends on the size of the problem; more
    /// than [`Self::MOST_BLOCKS`] are taken for these.
    #[must_use]
    pub fn with_blocks(count: Option<NonZeroU32>) -> Self {
        Self { count, ..Self::default() }
    }
}

/// Blocks for so many bodies. More than there are threads cost time at their borders, and the larger a problem the more its
/// rows are beyond the cache, which that time is added to; fewer than there are threads leave some without work. An
/// even number, so that two threads share them.
fn blocks_for(bodies: usize) -> NonZeroU32 {
    let pairs = if bodies < LEAST_CUT { 0.0 } else { (bodies as f64 / BODIES_OF_TWO_BLOCKS).sqrt().round() };
    NonZeroU32::new(2 * pairs as u32).unwrap_or(NonZeroU32::MIN)
}

/// The rows of a problem, laid out for sweeps.
trait Sweeps {
    /// ω after the first sweeps: as large as the order of the rows bears with momentum.
    const OVER_RELAXATION: f64;
    /// The impulses of the swept point, exactly `lower` where the bound holds, and the velocities that they alone give; both
    /// in the problem's order.
    fn unload(&mut self, problem: &Problem, solution: &mut Solution);
    /// V at the swept point from its impulses alone: sweeps accumulate rounding.
    fn refresh(&mut self, problem: &Problem);
    /// (x, V) ← (x + β d, V + β (V − V before)), and one sweep from there.
    fn advance(&mut self, pace: Pace) -> Advance;
    /// One sweep with neither momentum nor over-relaxation; the momentum is kept for the next.
    fn plain_sweep(&mut self);
    /// The way since the last call becomes the last move; tells how much more of it makes the objective least.
    fn line_search(&mut self, problem: &Problem) -> Option<LineSearch>;
    /// max √A_cc |min(z − lower, w)|: times h / length it is the residual, or a little more.
    fn residual(&mut self) -> f64;
    /// The objective at the swept point.
    fn objective(&mut self, problem: &Problem) -> Objective;
}

impl Sweeps for Blocks {
    const OVER_RELAXATION: f64 = 1.2;

    fn unload(&mut self, problem: &Problem, solution: &mut Solution) {
        self.unload(problem, &mut solution.impulses, &mut solution.velocity);
    }

    fn refresh(&mut self, problem: &Problem) {
        self.refresh(problem);
    }

    fn advance(&mut self, pace: Pace) -> Advance {
        self.advance(pace)
    }

    fn plain_sweep(&mut self) {
        self.plain_sweep();
    }

    fn line_search(&mut self, problem: &Problem) -> Option<LineSearch> {
        self.line_search(problem)
    }

    fn residual(&mut self) -> f64 {
        self.residual()
    }

    fn objective(&mut self, problem: &Problem) -> Objective {
        self.objective(problem)
    }
}

impl Sweeps for RigidRows {
    const OVER_RELAXATION: f64 = 1.1;

    fn unload(&mut self, problem: &Problem, solution: &mut Solution) {
        (*self).unload(&mut solution.impulses);
        problem.velocity_into(&solution.impulses, &mut solution.velocity);
    }

    fn refresh(&mut self, _: &Problem) {
        self.refresh();
    }

    fn advance(&mut self, pace: Pace) -> Advance {
        self.advance(pace)
    }

    fn plain_sweep(&mut self) {
        self.plain_sweep();
    }

    fn line_search(&mut self, _: &Problem) -> Option<LineSearch> {
        self.line_search()
    }

    fn residual(&mut self) -> f64 {
        self.residual()
    }

    fn objective(&mut self, _: &Problem) -> Objective {
        self.objective()
    }
}

/// One solve.
struct Task<'a> {
    problem: &'a Problem,
    criteria: &'a Criteria,
    infeasibility: &'a mut InfeasibilityCheck,
    solution: &'a mut Solution,
}

impl Task<'_> {
    /// Sweeps until the end; `steepest` bounds √A_cc.
    fn sweep<S: Sweeps>(mut self, rows: &mut S, steepest: f64) -> Outcome {
        let Self { problem, criteria, .. } = self;
        self.infeasibility.start();
        let mut iteration = Iteration::new(problem, criteria, steepest);
        let (status, accuracy) = loop {
            let due = self.infeasibility.due();
            iteration.run(rows, due);
            // What counts is the residual recomputed from the impulses alone.
            let accuracy = self.conclude(rows);
            let sweeps = iteration.sweeps;
            let mut ending = iteration.monitor.ending(accuracy.residual, sweeps);
            if ending.is_none() && sweeps >= due {
                ending = self.infeasibility.infeasible(problem, &self.solution.impulses).map(Status::Infeasible);
            }
            if matches!(ending, None | Some(Status::Stalled))
                && self.should_finish(&mut iteration, ending.is_some())
                && let Some(finished) = self.finish(&mut iteration)
            {
                break finished;
            }
            if let Some(status) = ending {
                break (status, accuracy);
            }
        };
        let Iteration { sweeps, products, factorisations, .. } = iteration;
        Outcome { status, sweeps, products, factorisations, accuracy }
    }

    /// Whether the sweeps have cost as much as a finish would, or have stalled.
    fn should_finish(&self, iteration: &mut Iteration, stalled: bool) -> bool {
        if iteration.finish == Finish::Unasked && (stalled || iteration.is_slow()) {
            // Equalities on which sweeps stall contradict each other but for rounding: their solutions are absurdly fast.
            let equalities = self.problem.rows.iter().any(|row| row.set.is_free());
            let work = if equalities { None } else { interior_point::work(self.problem, self.solution) };
            let rows = self.problem.rows.len() as f64;
            let sweeps = |work: f64| (FACTORISATIONS * work / (WORK_OF_A_ROW * rows)) as u64;
            iteration.finish = work.map_or(Finish::Never, |work| Finish::At(sweeps(work)));
        }
        match iteration.finish {
            Finish::At(due) => stalled || iteration.sweeps >= due,
            Finish::Unasked | Finish::Never => false,
        }
    }

    /// The solution by factorisation, or the proof that there is none; nothing where that ends with neither.
    fn finish(&mut self, iteration: &mut Iteration) -> Option<(Status, Accuracy)> {
        iteration.finish = Finish::Never;
        let Self { problem, criteria, .. } = *self;
        let End { solution, accuracy, factorisations } = interior_point::end(problem, criteria, self.solution)?;
        iteration.factorisations += factorisations;
        if accuracy.residual <= criteria.tolerance {
            *self.solution = solution;
            return Some((Status::Converged, accuracy));
        }
        let proof = self.infeasibility.infeasible(problem, &solution.impulses).map(Status::Infeasible);
        proof.map(|status| (status, problem.accuracy_of(self.solution)))
    }

    /// The impulses of the swept point, and how good they are.
    fn conclude(&mut self, rows: &mut impl Sweeps) -> Accuracy {
        rows.unload(self.problem, self.solution);
        self.problem.accuracy_of(self.solution)
    }
}

/// How far a solve has come.
struct Iteration<'a> {
    problem: &'a Problem,
    criteria: &'a Criteria,
    monitor: Monitor<'a>,
    momentum: Momentum,
    smoothing: SmoothingSchedule,
    /// What makes a residual of the largest change of a sweep.
    to_estimate: f64,
    /// About the residual, from the last sweep.
    estimate: f64,
    sweeps: u64,
    products: u64,
    /// Sweep of the last check of the residual.
    checked_at: u64,
    /// Looks at the objective.
    checks: u64,
    /// Sweep of the next.
    next_check: u64,
    /// Whether the last check was one of these, and no sweep has followed it.
    with_objective: bool,
    /// No line search before this sweep,
    line_search_due: u64,
    /// and then none for so many.
    between_line_searches: u64,
    finish: Finish,
    factorisations: u64,
}

/// When a solve is ended by factorisation.
#[derive(PartialEq)]
enum Finish {
    /// Nobody has asked what it costs.
    Unasked,
    /// After so many sweeps, which cost as much.
    At(u64),
    /// It has been tried, or should not be.
    Never,
}

impl<'a> Iteration<'a> {
    fn new(problem: &'a Problem, criteria: &'a Criteria, steepest: f64) -> Self {
        Self {
            problem,
            criteria,
            monitor: Monitor::new(criteria),
            momentum: Momentum::default(),
            smoothing: SmoothingSchedule::default(),
            to_estimate: steepest * problem.dt / problem.length,
            estimate: 0.0,
            sweeps: 0,
            products: 1,
            checked_at: 0,
            checks: 0,
            next_check: 0,
            with_objective: false,
            line_search_due: 0,
            between_line_searches: SWEEPS_BETWEEN_CHECKS,
            finish: Finish::Unasked,
            factorisations: 0,
        }
    }

    /// Sweeps until the solve seems to be at its end, or to the first check at sweep `due` or later.
    fn run<S: Sweeps>(&mut self, rows: &mut S, due: u64) {
        loop {
            let last = self.sweeps >= self.criteria.max_sweeps;
            let with_objective = self.sweeps >= self.next_check || last;
            let smoothing_due = self.smoothing.is_due(self.sweeps) && !last;
            if with_objective || smoothing_due || self.is_near() {
                let residual = self.check_residual(rows, with_objective, smoothing_due);
                let ends = self.monitor.ending(residual, self.sweeps).is_some();
                if ends || self.sweeps >= due || self.may_finish() {
                    return;
                }
            }
            self.advance(rows);
        }
    }

    /// The residual, after a sweep without momentum where that is due; and after one more, but no more than two, where
    /// it is almost small enough.
    fn check_residual<S: Sweeps>(&mut self, rows: &mut S, with_objective: bool, smoothing_due: bool) -> f64 {
        let Criteria { tolerance, max_sweeps, .. } = *self.criteria;
        let before = self.sweeps;
        if smoothing_due {
            self.plain_sweep(rows);
        }
        let mut residual = self.check(rows, with_objective);
        let most = max_sweeps.min(before + 2);
        while residual > tolerance && residual <= ALMOST * tolerance && self.sweeps < most {
            self.plain_sweep(rows);
            residual = self.check(rows, false);
        }
        if self.sweeps > before {
            self.smoothing.learn(residual / tolerance, self.sweeps);
        }
        residual
    }

    /// Whether the residual falls too slowly for long.
    fn is_slow(&self) -> bool {
        self.sweeps >= FIRST_FINISH && self.monitor.is_slow(self.sweeps)
    }

    /// Whether it is time to think of a finish.
    fn may_finish(&self) -> bool {
        match self.finish {
            Finish::Unasked => self.is_slow(),
            Finish::At(due) => self.sweeps >= due,
            Finish::Never => false,
        }
    }

    /// One sweep without momentum.
    fn plain_sweep<S: Sweeps>(&mut self, rows: &mut S) {
        rows.plain_sweep();
        self.count();
    }

    /// Whether the last sweep suggests to check the residual.
    fn is_near(&self) -> bool {
        self.estimate <= NEAR * self.criteria.tolerance && self.sweeps >= self.checked_at + LEAST_SWEEPS_BETWEEN_CHECKS
    }

    /// The residual at the swept point, and where it is due the objective.
    fn check(&mut self, rows: &mut impl Sweeps, with_objective: bool) -> f64 {
        if with_objective {
            if self.checks > 0 {
                if self.checks.is_multiple_of(CHECKS_BETWEEN_REFRESHES) {
                    rows.refresh(self.problem);
                    self.products += 1;
                }
                self.momentum.check_objective(&rows.objective(self.problem), self.sweeps);
                self.products += 1;
            }
            self.checks += 1;
            self.next_check = FIRST_CHECK.max(self.sweeps + SWEEPS_BETWEEN_CHECKS);
            self.with_objective = true;
        }
        self.checked_at = self.sweeps;
        self.products += 1;
        rows.residual() * self.problem.dt / self.problem.length
    }

    /// One sweep, from further along the last move by as much as the momentum says, or a line search.
    fn advance<S: Sweeps>(&mut self, rows: &mut S) {
        let line_search = if std::mem::take(&mut self.with_objective) { self.line_search(rows) } else { None };
        let relaxation = if self.sweeps < EXACT_SWEEPS { 1.0 } else { S::OVER_RELAXATION };
        let advance =
            rows.advance(Pace { momentum: line_search.unwrap_or_else(|| self.momentum.factor()), relaxation });
        self.count();
        self.momentum.learn(&advance, self.sweeps);
        if line_search.is_some() {
            self.momentum.restart(); // a line search is no move to go on with
            self.products += 3;
        }
        self.estimate = advance.motion.largest * self.to_estimate;
    }

    /// How much further along the way since the last call a line search leads, where the residual falls slowly. That costs the
    /// momentum, which may need long to build up: each time there are twice as many sweeps until the next, except where the
    /// search ended at the bound of a row, so that the way bends there and goes on.
    fn line_search(&mut self, rows: &mut impl Sweeps) -> Option<f64> {
        if !self.monitor.is_slow(self.sweeps) {
            self.between_line_searches = SWEEPS_BETWEEN_CHECKS;
        } else if self.sweeps >= self.line_search_due {
            let line_search = rows.line_search(self.problem);
            if line_search.is_some_and(|line_search| line_search.at_bound) {
                self.line_search_due = self.sweeps + SWEEPS_BETWEEN_CHECKS;
            } else {
                self.line_search_due = self.sweeps + self.between_line_searches;
                self.between_line_searches *= 2;
            }
            return line_search.map(|line_search| line_search.times);
        }
        None
    }

    /// A sweep was made.
    fn count(&mut self) {
        self.sweeps += 1;
        self.products += 1;
    }
}

/// When a sweep without momentum may leave a residual that is small enough.
struct SmoothingSchedule {
    due: u64,
    /// What the last left, relative to the tolerance, and when.
    last: Option<(f64, u64)>,
}

impl Default for SmoothingSchedule {
    fn default() -> Self {
        Self { due: FIRST_SMOOTHING, last: None }
    }
}

impl SmoothingSchedule {
    fn is_due(&self, sweeps: u64) -> bool {
        sweeps >= self.due
    }

    /// Waits until the residual is small enough if it goes on falling as a power of the sweeps, as from the last time to this:
    /// no sooner than after some sweeps, and no later than after as many as there were so far.
    fn learn(&mut self, residual: f64, sweeps: u64) {
        let exponent = match self.last {
            Some((before, since)) if residual < before => {
                ((sweeps as f64 / since as f64).ln() / (before / residual).ln()).min(SLOWEST_FALL)
            }
            _ => SLOWEST_FALL,
        };
        let wait = sweeps as f64 * (residual.powf(exponent) - 1.0);
        self.due = sweeps + (wait as u64).min(sweeps).max(LEAST_SWEEPS_BETWEEN_CHECKS);
        self.last = Some((residual, sweeps));
    }
}

/// How far the next sweep goes on in the direction of the last.
struct Momentum {
    /// k: sweeps since the momentum started.
    age: u32,
    /// q.
    curvature: f64,
    /// Σ A_cc d² of the last sweep, whose energy is known one sweep later.
    squared: f64,
    /// The objective at the last check.
    last: f64,
    /// No momentum until this sweep,
    plain_until: u64,
    /// and after the next rise for so many.
    patience: u64,
}

impl Default for Momentum {
    fn default() -> Self {
        let last = f64::INFINITY;
        Self { age: 1, curvature: 0.0, squared: 0.0, last, plain_until: 0, patience: SWEEPS_BETWEEN_TESTS }
    }
}

impl Momentum {
    /// β.
    fn factor(&self) -> f64 {
        let damping = (CURVATURE_SHARE * self.curvature).sqrt();
        (f64::from(self.age - 1) / (f64::from(self.age) + 0.5)).min((1.0 - damping) / (1.0 + damping))
    }

    /// Looks at what a sweep did.
    fn learn(&mut self, advance: &Advance, sweeps: u64) {
        if self.squared > 0.0 {
            self.curvature = advance.energy / self.squared;
        }
        self.squared = advance.motion.squared;
        self.age = if advance.motion.against > 0.0 || sweeps <= self.plain_until { 1 } else { self.age + 1 };
    }

    /// Forgets the sweeps so far.
    fn restart(&mut self) {
        (self.age, self.squared) = (1, 0.0);
    }

    /// Gives way to plain sweeps where the objective rose by more than rounding. Where it falls again the momentum may go
    /// on, though it was lower before: plain sweeps could need for ever to get back there.
    fn check_objective(&mut self, found: &Objective, sweeps: u64) {
        if sweeps >= self.plain_until && found.value > self.last + ROUNDING * found.magnitude {
            self.plain_until = sweeps + self.patience;
            self.patience *= 2;
        }
        self.last = found.value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_even_and_as_many_as_the_documentation_says() {
        let sizes = [0, 1, 5_999, 6_000, 10_000, 30_000, 100_000, 1_000_000];
        assert_eq!(sizes.map(|bodies| blocks_for(bodies).get()), [1, 1, 1, 2, 2, 4, 8, 28]);
    }

    #[test]
    fn a_prospect_waits_as_the_residual_falls() {
        let mut smoothing = SmoothingSchedule::default();
        assert!(!smoothing.is_due(15) && smoothing.is_due(16));
        smoothing.learn(2.0, 17);
        assert_eq!(smoothing.due, 17 + 11, "2^(3/4) times as many");
        // Fallen by a factor of 4 from 20 sweeps to 40: as the square of their number.
        smoothing.learn(8.0, 20);
        smoothing.learn(2.0, 40);
        assert_eq!(smoothing.due, 40 + 16, "√2 times as many");
        // Just missed, and risen.
        smoothing.learn(1.01, 97);
        assert_eq!(smoothing.due, 97 + LEAST_SWEEPS_BETWEEN_CHECKS);
        smoothing.learn(1.5, 101);
        assert_eq!(smoothing.due, 101 + 35);
        // Far away: no more than twice as many.
        smoothing.learn(1e6, 136);
        assert_eq!(smoothing.due, 272);
        // In the first sweeps.
        smoothing.learn(1.4, 1);
        assert_eq!(smoothing.due, 1 + LEAST_SWEEPS_BETWEEN_CHECKS);
        // A tolerance of 0 cannot be reached.
        smoothing.learn(f64::INFINITY, 200);
        assert_eq!(smoothing.due, 400);
    }
}
