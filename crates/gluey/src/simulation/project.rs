//! Step 2: the velocity is projected on what the pairs that could meet admit, V^{n+1/2} → Vⁿ⁺¹.
//!
//! Which pairs could meet is guessed and checked ([`PairList`]), and the true gaps are looked at where linearised
//! constraints are no bound of them ([`curvature`](super::curvature)): where either asks for it the projection is repeated.

use glam::DVec3;
use rayon::prelude::*;

use super::contacts::Contacts;
use super::glue::Loading;
use super::pair_list::PairList;
use super::timings::{Clock, Part};
use super::{Recourse, Refusal, Settings, State, StepError, StepReport, TooFast};
use crate::adhesion::{Adhesion, Scheme};
use crate::clump::Moves;
use crate::contact::{Pair, Partner};
use crate::environment::Span;
use crate::geometry::Obstacle;
use crate::geometry::Walls;
use crate::interaction::Interactions;
use crate::projection::{LeastNorm, Outcome, Projection, ROWS_IN_TASK, Row, Solution, Status, WALL};

/// Most repetitions because of curved obstacles: the deficit falls by an order of magnitude in each.
const CURVED_ROUNDS: u32 = 8;
/// Room beyond the least violation, relative to the smallest radius: a problem on the verge of having no solution has
/// impulses without bound.
const RELAXATION: f64 = 1e-6;
/// Names in an error message.
const MOST_NAMES: usize = 4;

/// What follows from the outcome of a projection.
#[derive(PartialEq)]
enum Next {
    /// The step goes on with it.
    GoOn,
    /// No velocity is admissible; the user wants the least violation.
    Relax,
}

/// All that a sub-step reads.
#[derive(Clone, Copy)]
pub(super) struct SubstepInput<'a> {
    pub state: &'a State,
    /// The smallest radius of those who are there or may come: what tolerances are relative to.
    pub length: f64,
    pub obstacles: &'a [Obstacle],
    /// The obstacles at the end of the sub-step.
    pub walls: Walls<'a>,
    pub interactions: &'a Interactions,
    pub adhesion: &'a Adhesion,
    pub settings: &'a Settings,
    pub span: Span,
}

/// What a sub-step computes, and its buffers.
#[derive(Default)]
pub(super) struct Workspace {
    /// Those that could meet, from the search to the glue.
    pub contacts: Contacts,
    pub pair_list: PairList,
    /// How clumps move.
    pub moves: Moves,
    rule: LeastNorm,
    /// The vectors u of the impulses.
    pub least_norm_dual: Vec<DVec3>,
    pub loading: Loading,
    pub report: StepReport,
    pub clock: Clock,
}

impl Workspace {
    /// Finds Vⁿ⁺¹ and the impulses of the contacts.
    pub(super) fn project(&mut self, solver: &mut dyn Projection, now: &SubstepInput) -> Result<(), Refusal> {
        let mut round = 0;
        loop {
            let outcome = self.solve(solver, now);
            if self.check_outcome(&outcome, now)? == Next::Relax {
                self.contacts.relax(RELAXATION * now.length);
                continue;
            }
            self.turn_clumps(now)?;
            if self.pair_list.misses_a_pair(now, &mut self.contacts)? {
                continue;
            }
            let mut missed = self.missed_overlaps(now);
            if (missed.is_empty() || round == CURVED_ROUNDS) && self.take_least_impulses(&outcome, now) {
                if self.pair_list.misses_a_pair(now, &mut self.contacts)? {
                    continue;
                }
                missed = self.missed_overlaps(now);
            }
            if missed.is_empty() || round == CURVED_ROUNDS {
                self.report.unconverged += u32::from(!missed.is_empty());
                let slip = now.limit_slip(self.fastest_that_pushes(now))?;
                self.report.slip = self.report.slip.max(slip);
                return Ok(self.refuse_unresolved(now)?);
            }
            self.see(&missed, now, round);
            round += 1;
        }
    }

    fn solve(&mut self, solver: &mut dyn Projection, now: &SubstepInput) -> Outcome {
        self.clock.turn_to(Part::Project);
        let Contacts { problem, solution, .. } = &mut self.contacts;
        let outcome = solver.solve(problem, &now.settings.criteria, solution);
        self.clock.turn_to(Part::Search);
        outcome
    }

    /// The velocities of spheres in clumps as these turn.
    fn turn_clumps(&mut self, now: &SubstepInput) -> Result<(), Refusal> {
        if now.state.clumps.is_empty() {
            return Ok(());
        }
        let Contacts { problem, solution, .. } = &mut self.contacts;
        self.moves.turn(problem, solution).map_err(Refusal::from)
    }

    /// Whether the step may go on with an outcome.
    fn check_outcome(&mut self, outcome: &Outcome, now: &SubstepInput) -> Result<Next, StepError> {
        self.report.projections += 1;
        self.report.sweeps += outcome.sweeps;
        self.report.residual = self.report.residual.max(outcome.accuracy.residual);
        let (residual, sweeps) = (outcome.accuracy.residual, outcome.sweeps);
        let not_converged = |how| {
            let tolerance = now.settings.criteria.tolerance;
            StepError::NotConverged { how, residual, tolerance, sweeps, fastest: self.contacts.fastest(now.length) }
        };
        let (recourse, error, next) = match &outcome.status {
            Status::Converged => return Ok(Next::GoOn),
            Status::Infeasible(_) | Status::Stalled if now.adhesion.scheme == Scheme::Paper => {
                let glued = self.contacts.problem.rows.iter().filter(|row| row.set.is_free()).count();
                let error = StepError::Inconsistent { glued, residual, sweeps };
                (now.settings.when_pinched, error, Next::GoOn)
            }
            // Numbers so large that sums of them overflow pinch nobody.
            Status::Infeasible(culprits) if culprits.is_empty() => return Err(not_converged("broke down")),
            Status::Infeasible(culprits) => (now.settings.when_pinched, self.pinched(culprits, now), Next::Relax),
            Status::Stalled => (now.settings.at_limit, not_converged("stalled"), Next::GoOn),
            Status::SweepLimit => (now.settings.at_limit, not_converged("met its limit"), Next::GoOn),
        };
        match recourse {
            Recourse::Stop => Err(error),
            Recourse::Continue => {
                self.report.unconverged += 1;
                Ok(next)
            }
        }
    }

    /// Takes the impulses of the rule for those found, where it is asked for; a projection that failed has none to choose
    /// from. Tells whether velocities have changed, which they may within the tolerance.
    fn take_least_impulses(&mut self, outcome: &Outcome, now: &SubstepInput) -> bool {
        self.least_norm_dual.clear();
        if !now.is_least_norm() || outcome.status != Status::Converged {
            return false;
        }
        self.clock.turn_to(Part::Project);
        self.least_norm_dual.extend_from_slice(&now.state.least_norm_dual);
        let Self { rule, contacts: Contacts { problem, solution, .. }, least_norm_dual, report, clock, .. } = self;
        let done = rule.apply(problem, &now.settings.criteria, solution, least_norm_dual);
        report.residual = done.accuracy.map_or(report.residual, |new| report.residual.max(new.residual));
        clock.turn_to(Part::Search);
        done.accuracy.is_some()
    }

    fn pinched(&self, culprits: &[usize], now: &SubstepInput) -> StepError {
        let (mut particles, mut partners): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mention = |names: &mut Vec<String>, name: String| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        for &c in culprits {
            mention(&mut particles, format!("particle {}", self.contacts.pairs[c].first()));
            match self.contacts.pairs[c].partner() {
                Partner::Particle(j) => mention(&mut particles, format!("particle {j}")),
                Partner::Obstacle { obstacle, .. } => {
                    mention(&mut partners, format!("obstacle `{}`", now.obstacles[obstacle as usize].name));
                }
            }
        }
        StepError::Pinched { particles: enumerate(particles), partners: enumerate(partners) }
    }

    /// Square of the largest tangential speed of the rows that push, flat sides left out.
    fn fastest_that_pushes(&self, now: &SubstepInput) -> f64 {
        let Contacts { pairs, problem, solution: Solution { impulses, velocity } } = &self.contacts;
        let squared = |((row, impulse), pair): ((&Row, &f64), &Pair)| {
            let partner = match row.j {
                WALL if now.is_flat(*pair) => return 0.0,
                WALL => DVec3::ZERO,
                j => velocity[j as usize],
            };
            let relative = partner - velocity[row.i as usize];
            // Who pushes is in no order: that is no branch for a processor to guess.
            let pushes = f64::from(u8::from(row.set.holds_inside(*impulse)));
            pushes * (relative - row.normal * row.normal.dot(relative)).length_squared()
        };
        let rows = problem.rows.par_chunks(ROWS_IN_TASK).zip(impulses.par_chunks(ROWS_IN_TASK));
        let parts = rows.zip(pairs.par_chunks(ROWS_IN_TASK)).map(|((rows, impulses), pairs)| {
            let all = rows.iter().zip(impulses).zip(pairs).map(squared);
            all.fold(0.0_f64, |a, b| if b > a { b } else { a })
        });
        parts.reduce(|| 0.0, f64::max)
    }
}

impl SubstepInput<'_> {
    /// The tangential displacement of contacts at a speed, given by its square, relative to the smallest radius; refuses the
    /// sub-step where the linearised constraint would stop a near miss by more than the user allows.
    pub(super) fn limit_slip(&self, fastest: f64) -> Result<f64, Refusal> {
        let slip = fastest.sqrt() * self.span.dt / self.length;
        if slip > self.settings.max_slip {
            Err(Refusal::TooLong(slip / self.settings.max_slip, TooFast::Sliding))
        } else {
            Ok(slip)
        }
    }

    fn is_least_norm(&self) -> bool {
        self.state.clumps.is_empty() && self.settings.impulses.is_least_norm(self.adhesion)
    }

    /// Against a flat side the linearised constraint is exact, however far the particle slides.
    fn is_flat(&self, pair: Pair) -> bool {
        match pair.partner() {
            Partner::Particle(_) => false,
            Partner::Obstacle { obstacle, .. } => self.obstacles[obstacle as usize].shape.is_flat(),
        }
    }
}

/// Names as a sentence has them.
fn enumerate(mut names: Vec<String>) -> String {
    if names.len() > MOST_NAMES {
        let rest = names.len() - MOST_NAMES;
        names.truncate(MOST_NAMES);
        names.push(format!("{rest} more"));
    }
    match names.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
