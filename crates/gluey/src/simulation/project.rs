//! Steps 2 and 3: the velocity is projected on what the pairs that could meet admit, and the impulses become glue.
//!
//! The list of pairs is built for a guess of how far contacts divert each particle and *checked* on the result: where one
//! is diverted further, the guess is widened and the projection repeated. So no pair outside the list could have met,
//! and there is no cut-off to tune.

use glam::DVec3;

use super::candidates::{Candidates, MOST_FURTHER_PLANES, Search, gap_of, is_further_plane, plane};
use super::{Load, Recourse, Refusal, Settings, State, StepError, StepReport};
use crate::adhesion::{Adhesion, Scheme, Step};
use crate::contact::{Contact, Pair, Partner};
use crate::environment::{Prediction, Span};
use crate::geometry::{Obstacle, Particles, Placed, Touch};
use crate::projection::{Outcome, Problem, Projection, Status, WALL};

/// First guess of how far contacts divert a particle: this share of its way h|V^{n+1/2}|,
const DIVERTED: f64 = 0.25;
/// and this much of the smallest radius.
const MARGIN: f64 = 0.02;
/// Widened guesses are this much larger than the displacement found.
const WIDENING: f64 = 1.25;
/// Rounds of widening before the growth is doubled each time; a solution always bounds it.
const CALM_ROUNDS: u32 = 8;
/// Most repetitions because of curved obstacles: the deficit falls by an order of magnitude in each.
const CURVED_ROUNDS: u32 = 8;
/// Cosine of the angle below which two normals are taken for the same tangent plane, which is then shifted.
const SAME_PLANE: f64 = 0.99;
/// Rounds in which planes are shifted; where that did not do, in a corner of planes that are almost parallel, the tangent
/// plane at the end of the step does.
const SHIFTING_ROUNDS: u32 = 3;
/// Room beyond the least violation, relative to the smallest radius: a problem on the verge of having no solution has
/// impulses without bound.
const RELAXATION: f64 = 1e-6;
/// Names in an error message.
const MOST_NAMES: usize = 4;

/// What is to be done with the outcome of a projection.
#[derive(PartialEq)]
enum Verdict {
    /// It is what the step goes on with.
    Stands,
    /// No velocity is admissible; the user wants the least violation.
    NeedsRelaxation,
}

/// A particle that would end the step in an obstacle.
struct Overlap {
    particle: u32,
    obstacle: u32,
    touch: Touch,
    /// Its displacement in the step.
    step: DVec3,
}

/// All that the sub-step reads.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub state: &'a State,
    pub obstacles: &'a [Obstacle],
    /// The obstacles at the end of the sub-step.
    pub placed: &'a [Placed<'a>],
    pub adhesion: &'a Adhesion,
    pub settings: &'a Settings,
    pub span: Span,
}

/// Buffers and results of the sub-step being taken.
#[derive(Default)]
pub(super) struct Workspace {
    prediction: Prediction,
    pub report: StepReport,
    pub problem: Problem,
    pairs: Vec<Pair>,
    /// Where the solver starts from, and what it finds.
    impulses: Vec<f64>,
    /// How far contacts may divert each particle from where V^{n+1/2} takes it.
    diversion: Vec<f64>,
    /// Vⁿ⁺¹.
    pub velocity: Vec<DVec3>,
}

impl Workspace {
    /// Finds Vⁿ⁺¹ and the impulses Λ ≥ γⁿ/R; they stay here for what follows.
    pub(super) fn project(&mut self, solver: &mut dyn Projection, now: &Setting) -> Result<(), Refusal> {
        self.first_guess(now);
        self.refuse_fast_obstacles(now)?;
        self.list(now);
        self.refuse_slip(now, |problem, c| problem.end_gap(&problem.rows[c], &problem.apriori) < 0.0, None)?;
        let (mut widened, mut curved) = (0, 0);
        loop {
            let outcome = solver.solve(&self.problem, &now.settings.criteria, &mut self.impulses);
            if self.judge(&outcome, now)? == Verdict::NeedsRelaxation {
                self.relax();
                continue;
            }
            self.problem.velocity_into(&self.impulses, &mut self.velocity);
            if let Some(particle) = self.velocity.iter().position(|v| !v.is_finite()) {
                return Err(StepError::NotFinite { particle }.into());
            }
            let overlaps = Self::unseen_overlaps(&self.velocity, now);
            if self.outran_the_list(widened) {
                widened += 1;
                self.extend_list(now);
            } else if !overlaps.is_empty() && curved < CURVED_ROUNDS {
                self.bend(&overlaps, now, curved);
                curved += 1;
            } else {
                self.report.unconverged += u32::from(!overlaps.is_empty());
                let pushes = |problem: &Problem, c: usize| self.impulses[c] > problem.rows[c].lower;
                let slip = self.refuse_slip(now, pushes, Some(&self.velocity))?;
                self.report.slip = self.report.slip.max(slip);
                return Ok(());
            }
        }
    }

    /// Where the environment writes V^{n+1/2} and the metric; they are then the problem's.
    pub(super) fn prediction(&mut self) -> &mut Prediction {
        self.prediction.velocity = std::mem::take(&mut self.problem.apriori);
        self.prediction.inverse_metric = std::mem::take(&mut self.problem.inverse_mass);
        &mut self.prediction
    }

    /// The problem without its rows, and a share of each particle's way and a margin as its diversion.
    fn first_guess(&mut self, now: &Setting) {
        self.problem.apriori = std::mem::take(&mut self.prediction.velocity);
        self.problem.inverse_mass = std::mem::take(&mut self.prediction.inverse_metric);
        (self.problem.dt, self.problem.length) = (now.span.dt, now.length());
        let margin = MARGIN * now.length();
        self.diversion.clear();
        self.diversion.extend(self.problem.apriori.iter().map(|v| DIVERTED * v.length() * now.span.dt + margin));
    }

    /// An obstacle's gap is read where it will be at the end of the step: it must not have passed a particle's centre by
    /// then. Within the slip limit it cannot.
    fn refuse_fast_obstacles(&self, now: &Setting) -> Result<(), Refusal> {
        let particles = &now.state.particles;
        let interval = (now.span.start, now.span.end());
        let allowed = now.settings.max_slip * now.length();
        let mut times: f64 = 1.0;
        for (obstacle, placed) in now.obstacles.iter().zip(now.placed).filter(|(obstacle, _)| !obstacle.is_fixed()) {
            for (i, &centre) in particles.position.iter().enumerate() {
                let radius = particles.radius[i];
                let reach = self.problem.apriori[i].length() * now.span.dt + self.diversion[i];
                let path = obstacle.path_bound(centre, radius + reach, interval);
                if path <= allowed.min(radius) || !placed.may_reach(centre, radius + reach + 2.0 * path) {
                    continue;
                }
                let mut near = false;
                placed.touches(centre, radius, reach + 2.0 * path, &mut |_| near = true);
                if near && allowed.is_finite() {
                    times = times.max(path / allowed.min(radius));
                } else if near && path > radius {
                    let obstacle = obstacle.name.clone();
                    return Err(StepError::ObstacleTooFast { obstacle, particle: i, path, radius }.into());
                }
            }
        }
        if times > 1.0 { Err(Refusal::TooLong(times)) } else { Ok(()) }
    }

    /// Lists every pair that could meet.
    fn list(&mut self, now: &Setting) {
        let mut candidates = self.take_candidates();
        candidates.clear();
        self.search(now, &[]).run(&mut candidates);
        self.put_candidates(candidates);
    }

    /// Adds those that the widened diversions let meet.
    fn extend_list(&mut self, now: &Setting) {
        let mut more = Candidates::default();
        self.search(now, &self.pairs).run(&mut more);
        let mut candidates = self.take_candidates();
        candidates.merge(&more);
        self.put_candidates(candidates);
    }

    fn take_candidates(&mut self) -> Candidates {
        let (pairs, rows) = (std::mem::take(&mut self.pairs), std::mem::take(&mut self.problem.rows));
        Candidates { pairs, rows, warm: std::mem::take(&mut self.impulses) }
    }

    fn put_candidates(&mut self, candidates: Candidates) {
        (self.pairs, self.problem.rows, self.impulses) = (candidates.pairs, candidates.rows, candidates.warm);
    }

    fn search<'a>(&'a self, now: &'a Setting, known: &'a [Pair]) -> Search<'a> {
        Search {
            particles: &now.state.particles,
            contacts: &now.state.contacts,
            obstacles: now.placed,
            adhesion: now.adhesion,
            apriori: &self.problem.apriori,
            diversion: &self.diversion,
            dt: now.span.dt,
            warm_scale: now.span.dt / now.settings.dt,
            known,
        }
    }

    /// Proof that the list was long enough: no particle was diverted further than allowed for. Widens it otherwise.
    fn outran_the_list(&mut self, rounds: u32) -> bool {
        let growth = WIDENING * 2_f64.powi(rounds.saturating_sub(CALM_ROUNDS).cast_signed());
        let mut outran = false;
        for ((diversion, v), apriori) in self.diversion.iter_mut().zip(&self.velocity).zip(&self.problem.apriori) {
            let diverted = v.distance(*apriori) * self.problem.dt;
            if diverted > *diversion {
                *diversion = growth * diverted;
                outran = true;
            }
        }
        outran
    }

    /// Curved containers, and meshes whose next face was out of sight, bend towards the particle: overlaps beyond the
    /// tolerance that the linearised constraints did not see.
    fn unseen_overlaps(velocity: &[DVec3], now: &Setting) -> Vec<Overlap> {
        let tolerance = now.settings.criteria.tolerance * now.length();
        let particles = &now.state.particles;
        let mut overlaps = Vec::new();
        for (k, placed) in now.placed.iter().enumerate().filter(|(k, _)| !now.obstacles[*k].shape.is_convex()) {
            for (i, v) in velocity.iter().enumerate() {
                let (step, radius) = (*v * now.span.dt, particles.radius[i]);
                let end = particles.position[i] + step;
                if placed.may_reach(end, radius) {
                    placed.touches(end, radius, -tolerance, &mut |touch| {
                        overlaps.push(Overlap { particle: i as u32, obstacle: k as u32, touch, step });
                    });
                }
            }
        }
        overlaps
    }

    /// Tightens the row of each overlap by its deficit, or adds the tangent plane at the end of the step, so that the
    /// projection can be repeated.
    fn bend(&mut self, overlaps: &[Overlap], now: &Setting, round: u32) {
        let tolerance = now.settings.criteria.tolerance * now.length();
        let mut extra = Vec::new();
        for Overlap { particle, obstacle, touch, step } in overlaps {
            let name = |n: u32| Pair::obstacle(*particle, *obstacle, plane(touch.feature, n));
            let planes = (0..=MOST_FURTHER_PLANES).map_while(|n| self.pairs.binary_search(&name(n)).ok());
            let agreement = |c: &usize| self.problem.rows[*c].normal.dot(touch.normal);
            let nearest = planes.clone().max_by(|a, b| agreement(a).total_cmp(&agreement(b)));
            let count = planes.count() as u32;
            let shift = |c: &usize| round < SHIFTING_ROUNDS && agreement(c) > SAME_PLANE;
            if let Some(c) = nearest.filter(|c| shift(c) || count > MOST_FURTHER_PLANES) {
                // The row must see the gap as it is, and half a tolerance less: the solver may leave a whole one open.
                let seen = self.problem.end_gap(&self.problem.rows[c], &self.velocity);
                self.problem.rows[c].gap += touch.gap - seen.max(0.0) - 0.5 * tolerance;
            } else {
                let gap = touch.gap + touch.normal.dot(*step);
                extra.push((name(count), self.search(now, &[]).row(name(count), (gap, touch.normal), None)));
            }
        }
        let mut candidates = self.take_candidates();
        candidates.merge(&Candidates::sorted(extra));
        self.put_candidates(candidates);
    }

    /// Tells whether the outcome may stand.
    fn judge(&mut self, outcome: &Outcome, now: &Setting) -> Result<Verdict, StepError> {
        self.report.projections += 1;
        self.report.sweeps += outcome.sweeps;
        self.report.residual = self.report.residual.max(outcome.accuracy.residual);
        let (residual, sweeps) = (outcome.accuracy.residual, outcome.sweeps);
        let not_converged = |how| {
            let tolerance = now.settings.criteria.tolerance;
            StepError::NotConverged { how, residual, tolerance, sweeps }
        };
        let (recourse, error, verdict) = match &outcome.status {
            Status::Converged => return Ok(Verdict::Stands),
            Status::Infeasible(_) | Status::Stalled if now.adhesion.scheme == Scheme::Paper => {
                let glued = self.problem.rows.iter().filter(|row| row.lower == f64::NEG_INFINITY).count();
                let error = StepError::Inconsistent { glued, residual, sweeps };
                (now.settings.when_pinched, error, Verdict::Stands)
            }
            // Numbers so large that sums of them overflow pinch nobody.
            Status::Infeasible(culprits) if culprits.is_empty() => return Err(not_converged("broke down")),
            Status::Infeasible(culprits) => {
                (now.settings.when_pinched, self.pinched(culprits, now), Verdict::NeedsRelaxation)
            }
            Status::Stalled => (now.settings.at_limit, not_converged("stalled"), Verdict::Stands),
            Status::SweepLimit => (now.settings.at_limit, not_converged("met its limit"), Verdict::Stands),
        };
        match recourse {
            Recourse::Stop => Err(error),
            Recourse::Continue => {
                self.report.unconverged += 1;
                Ok(verdict)
            }
        }
    }

    /// Gaps lifted to what the velocity found attains, so that it becomes admissible, and impulses forgotten, which have
    /// grown without bound.
    fn relax(&mut self) {
        let velocity = self.problem.velocity(&self.impulses);
        let margin = self.problem.length * RELAXATION;
        for c in 0..self.problem.rows.len() {
            let end_gap = self.problem.end_gap(&self.problem.rows[c], &velocity);
            self.problem.rows[c].gap += (margin - end_gap).max(0.0);
        }
        self.impulses.fill(0.0);
    }

    fn pinched(&self, culprits: &[usize], now: &Setting) -> StepError {
        let (mut particles, mut partners): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mention = |names: &mut Vec<String>, name: String| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        for &c in culprits {
            mention(&mut particles, format!("particle {}", self.pairs[c].first()));
            match self.pairs[c].partner() {
                Partner::Particle(j) => mention(&mut particles, format!("particle {j}")),
                Partner::Obstacle { obstacle, .. } => {
                    mention(&mut partners, format!("obstacle `{}`", now.obstacles[obstacle as usize].name));
                }
            }
        }
        StepError::Pinched { particles: listed(particles), partners: listed(partners) }
    }

    /// The largest tangential displacement of the rows that count, relative to the smallest radius; refuses the sub-step
    /// where the linearised constraint would stop a near miss by more than the user allows.
    fn refuse_slip(
        &self,
        now: &Setting,
        counts: impl Fn(&Problem, usize) -> bool,
        velocity: Option<&[DVec3]>,
    ) -> Result<f64, Refusal> {
        let velocity = velocity.unwrap_or(&self.problem.apriori);
        let mut slip: f64 = 0.0;
        for (c, row) in self.problem.rows.iter().enumerate() {
            if now.is_flat(self.pairs[c]) || !counts(&self.problem, c) {
                continue;
            }
            let partner = if row.j == WALL { DVec3::ZERO } else { velocity[row.j as usize] };
            let relative = partner - velocity[row.i as usize];
            slip = slip.max((relative - row.normal * row.normal.dot(relative)).length());
        }
        let slip = slip * now.span.dt / now.length();
        if slip > now.settings.max_slip { Err(Refusal::TooLong(slip / now.settings.max_slip)) } else { Ok(slip) }
    }

    /// The impulses of these contacts, one per row of the present problem; both lists are sorted.
    pub(super) fn impulses_of(&self, contacts: &[Contact]) -> Vec<f64> {
        let mut contacts = contacts.iter().peekable();
        let impulse = |pair: &Pair| {
            while contacts.next_if(|contact| contact.pair < *pair).is_some() {}
            contacts.next_if(|contact| contact.pair == *pair).map_or(0.0, |contact| contact.impulse)
        };
        self.pairs.iter().map(impulse).collect()
    }

    /// Step 3: γⁿ⁺¹ = max(γ_min, γⁿ − RΛ), and the contacts worth carrying on.
    pub(super) fn glue(&self, now: &Setting) -> Vec<Contact> {
        let step = Step { particles: &now.state.particles, dt: now.span.dt };
        let to_whole_step = now.settings.dt / now.span.dt;
        let mut old = now.state.contacts.iter().peekable();
        // Only these can be contacts after the step: a list of many steps must not grow by doubling.
        let rows = self.problem.rows.iter().zip(&self.impulses);
        let most = rows.filter(|(row, impulse)| **impulse != 0.0 || row.lower != 0.0).count();
        let mut contacts = Vec::with_capacity(most);
        for (&pair, &impulse) in self.pairs.iter().zip(&self.impulses) {
            if is_further_plane(pair.partner()) {
                continue;
            }
            while old.next_if(|contact| contact.pair < pair).is_some() {}
            let gamma = old.next_if(|contact| contact.pair == pair).map_or(0.0, |contact| contact.gamma);
            let gamma = now.adhesion.update(pair, gamma, impulse, &step);
            if gamma < 0.0 || impulse != 0.0 {
                contacts.push(Contact { pair, gamma, impulse: impulse * to_whole_step });
            }
        }
        contacts
    }

    /// The impulse on the particle is −Λ·normal; on the obstacle it is the opposite, at the point of contact.
    pub(super) fn record_loads(&mut self, now: &Setting) {
        let particles = &now.state.particles;
        for ((pair, row), impulse) in self.pairs.iter().zip(&self.problem.rows).zip(&self.impulses) {
            if let Partner::Obstacle { obstacle, .. } = pair.partner()
                && *impulse != 0.0
            {
                let i = row.i as usize;
                let at = particles.position[i] + row.normal * particles.radius[i];
                let pivot = now.obstacles[obstacle as usize].pivot(now.span.end());
                let force = row.normal * (impulse / now.settings.dt);
                let load = &mut self.report.loads[obstacle as usize];
                *load = Load { force: load.force + force, torque: load.torque + (at - pivot).cross(force) };
            }
        }
    }

    /// True gaps after the move, over all pairs that could have met.
    pub(super) fn record_gaps(&mut self, particles: &Particles, placed: &[Placed]) {
        for &pair in &self.pairs {
            if let Some((gap, _)) = gap_of(pair, particles, placed) {
                self.report.least_gap = self.report.least_gap.min(gap);
            }
        }
        self.report.substeps += 1;
        self.report.candidates = self.pairs.len();
    }
}

impl Setting<'_> {
    /// The smallest radius: what tolerances are relative to.
    fn length(&self) -> f64 {
        self.state.particles.smallest_radius()
    }

    /// Against a flat side the linearised constraint is exact, however far the particle slides.
    fn is_flat(&self, pair: Pair) -> bool {
        match pair.partner() {
            Partner::Particle(_) => false,
            Partner::Obstacle { obstacle, .. } => self.obstacles[obstacle as usize].shape.is_flat(),
        }
    }
}

fn listed(mut names: Vec<String>) -> String {
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
