//! Step 2: the velocity is projected on what the pairs that could meet admit. What becomes of the impulses is in [`glue`].
//!
//! The list of pairs is built for a guess of how far contacts divert each particle, and *checked* on every result, so that
//! there is no cut-off to tune. Let δ_i be the guess, and S the particles that some projection of the sub-step has diverted
//! further than that.
//!
//! **Lemma.** If a pair outside the list overlaps after a projection, one of the two is in S.
//! *Proof.* The list has every pair with D + h e·(V_j − V_i)^{n+1/2} ≤ δ_i + δ_j. Let i and j be outside S and their pair
//! outside the list. Then h|V − V^{n+1/2}| ≤ δ for both, in this projection as in all before it, and since gaps are convex
//! D(xⁿ⁺¹) ≥ D + h e·(V_j − V_i) ≥ D + h e·(V_j − V_i)^{n+1/2} − δ_i − δ_j > 0. ∎
//!
//! So the pairs of S that are not listed are looked at after every projection: those that overlap are added, and the
//! projection is repeated. It ends, since the list grows each time, and then no pair at all overlaps by more than the
//! tolerance. That S only grows within a sub-step is essential: who was diverted too far once goes another way in the
//! next projection, perhaps no further than before, and into others.

mod glue;

use glam::DVec3;
use rayon::prelude::*;

use super::candidates::{Candidates, Excursion, MOST_FURTHER_PLANES, Search, plane};
use super::places::{Place, Places};
use super::timings::{Clock, Part};
use super::vicinity::Vicinity;
use super::{Haste, Load, Recourse, Refusal, Settings, State, StepError, StepReport};
use crate::adhesion::{Adhesion, Scheme};
use crate::clump::Moves;
use crate::contact::{Pair, Partner};
use crate::environment::{Prediction, Span};
use crate::geometry::{Obstacle, Touch};
use crate::morton::Curve;
use crate::projection::{ALONE, LeastNorm, Outcome, Problem, Projection, ROWS_IN_TASK, Row, Status, WALL};
use crate::room::set_length;
use crate::shares::share_of;

/// First guess of how far contacts divert a particle: this share of its way h|V^{n+1/2}|,
const DIVERTED: f64 = 0.25;
/// and this much of the smallest radius.
const MARGIN: f64 = 0.02;
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

/// Overlaps beyond the tolerance that the linearised constraints did not see.
struct Unseen {
    /// With curved obstacles.
    at_walls: Vec<Overlap>,
    /// Of clumps, because their arms turn: rows and their gaps at the end.
    by_turning: Vec<(usize, f64)>,
}

impl Unseen {
    fn is_empty(&self) -> bool {
        self.at_walls.is_empty() && self.by_turning.is_empty()
    }
}

/// All that the sub-step reads.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub state: &'a State,
    /// The smallest radius of those who are there or may come: what tolerances are relative to.
    pub length: f64,
    pub obstacles: &'a [Obstacle],
    /// The obstacles at the end of the sub-step.
    pub placed: Places<'a>,
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
    /// How far contacts may divert each particle from where V^{n+1/2} takes it: δ, or for those in S the furthest so far.
    diversion: Vec<f64>,
    /// Who is in S; empty while nobody is.
    outran: Vec<bool>,
    /// Vⁿ⁺¹.
    pub velocity: Vec<DVec3>,
    /// What is around each particle.
    pub vicinity: Vicinity,
    /// Buffers for searches in parallel.
    slots: Vec<Candidates>,
    curve: Curve,
    /// Where the obstacles are at the end of the sub-step.
    pub places: Vec<Place>,
    /// The points that torques on them refer to.
    pivots: Vec<DVec3>,
    /// Loads of parts of the rows.
    partial: Vec<Load>,
    /// How clumps move.
    pub moves: Moves,
    pub clock: Clock,
    rule: LeastNorm,
    /// The vectors u of the impulses.
    pub springs: Vec<DVec3>,
    /// Contacts that each thread keeps.
    kept: Vec<usize>,
}

impl Workspace {
    /// Finds Vⁿ⁺¹ and the impulses Λ ≥ γⁿ/R; they stay here for what follows.
    pub(super) fn project(&mut self, solver: &mut dyn Projection, now: &Setting) -> Result<(), Refusal> {
        self.first_guess(now);
        self.refuse_fast_obstacles(now)?;
        let fastest = self.list(now)?;
        Self::refuse_slip(now, fastest)?;
        let mut curved = 0;
        loop {
            self.clock.turn_to(Part::Project);
            let outcome = solver.solve(&self.problem, &now.settings.criteria, &mut self.impulses);
            self.clock.turn_to(Part::Search);
            if self.judge(&outcome, now)? == Verdict::NeedsRelaxation {
                self.relax();
                continue;
            }
            solver.velocity_into(&self.problem, &self.impulses, &mut self.velocity);
            self.turn_clumps(now)?;
            if self.misses_a_pair(now)? {
                continue;
            }
            let mut unseen = self.unseen(now);
            if unseen.is_empty() || curved == CURVED_ROUNDS {
                self.clock.turn_to(Part::Project);
                let moved = self.distribute(&outcome, now);
                self.clock.turn_to(Part::Search);
                if moved {
                    if self.misses_a_pair(now)? {
                        continue;
                    }
                    unseen = self.unseen(now);
                }
            }
            if unseen.is_empty() || curved == CURVED_ROUNDS {
                self.report.unconverged += u32::from(!unseen.is_empty());
                let slip = Self::refuse_slip(now, self.fastest_that_pushes(now))?;
                self.report.slip = self.report.slip.max(slip);
                return Ok(self.refuse_unresolved(now)?);
            }
            self.tighten(&unseen.by_turning, now);
            self.bend(&unseen.at_walls, now, curved);
            curved += 1;
        }
    }

    /// Where the environment writes V^{n+1/2} and the metric; they are then the problem's.
    pub(super) fn prediction(&mut self) -> &mut Prediction {
        self.prediction.velocity = std::mem::take(&mut self.problem.apriori);
        self.prediction.inverse_metric = std::mem::take(&mut self.problem.inverse_mass);
        self.prediction.mobility = None;
        &mut self.prediction
    }

    /// Forgets what is near whom.
    pub(super) fn forget(&mut self) {
        self.vicinity = Vicinity::default();
    }

    /// Spheres of a clump are predicted to move as one.
    pub(super) fn hold_together(&mut self, state: &State, inertia: bool, span: Span) -> Result<(), Refusal> {
        if state.clumps.is_empty() {
            self.moves.clear();
            return Ok(());
        }
        if self.prediction.mobility.is_some() {
            return Err(StepError::ClumpsInFarField.into());
        }
        let (particles, prediction) = (&state.particles, &mut self.prediction);
        self.moves.predict(&state.clumps, particles, (inertia, span.dt), prediction).map_err(Refusal::from)
    }

    /// Their velocities as they turn.
    fn turn_clumps(&mut self, now: &Setting) -> Result<(), Refusal> {
        if now.state.clumps.is_empty() {
            return Ok(());
        }
        self.moves.turn(&self.problem, &self.impulses, &mut self.velocity).map_err(Refusal::from)
    }

    /// The problem without its rows, and a share of each particle's way and a margin as its diversion.
    fn first_guess(&mut self, now: &Setting) {
        self.problem.apriori = std::mem::take(&mut self.prediction.velocity);
        self.problem.inverse_mass = std::mem::take(&mut self.prediction.inverse_metric);
        self.problem.mobility = self.prediction.mobility.take();
        (self.problem.dt, self.problem.length) = (now.span.dt, now.length);
        let (margin, count, dt) = (MARGIN * now.length, self.problem.apriori.len(), now.span.dt);
        set_length(&mut self.diversion, count, 0.0);
        let share = share_of(count);
        let pieces = self.diversion.par_chunks_mut(share).zip(self.problem.apriori.par_chunks(share));
        pieces.for_each(|(diversions, apriori)| {
            for (diversion, v) in diversions.iter_mut().zip(apriori) {
                *diversion = DIVERTED * v.length() * dt + margin;
            }
        });
        self.outran.clear();
        // Every time: an order of other positions would make the step depend on more than its state.
        self.curve.sort(&now.state.particles.position, &mut self.problem.order);
    }

    /// An obstacle's gap is read where it will be at the end of the step: it must not have passed a particle's centre by
    /// then. Within the slip limit it cannot.
    fn refuse_fast_obstacles(&self, now: &Setting) -> Result<(), Refusal> {
        let particles = &now.state.particles;
        let interval = (now.span.start, now.span.end());
        let allowed = now.settings.max_slip * now.length;
        let mut worst = (1.0, None);
        for (k, obstacle) in now.obstacles.iter().enumerate().filter(|(_, obstacle)| !obstacle.is_fixed()) {
            let placed = now.placed.get(k);
            let mut look = |i: usize, centre: DVec3| {
                let radius = particles.radius[i];
                let reach = self.problem.apriori[i].length() * now.span.dt + self.diversion[i];
                let path = obstacle.path_bound(centre, radius + reach, interval);
                let slack = reach + 2.0 * path;
                if path <= allowed.min(radius) || !now.placed.may_reach(k, centre, radius + slack) {
                    return Ok(());
                }
                let mut near = radius + slack > placed.horizon(); // images that were not looked at may be
                if !near {
                    placed.touches(centre, radius, slack, &mut |_| near = true);
                }
                let times = path / allowed.min(radius);
                if near && allowed.is_finite() {
                    if times > worst.0 {
                        worst = (times, Some(Haste::Obstacle { obstacle: k, particle: i, path }));
                    }
                } else if near && path > radius {
                    let obstacle = obstacle.name.clone();
                    return Err(StepError::ObstacleTooFast { obstacle, particle: i, path, radius });
                }
                Ok(())
            };
            for (i, &centre) in particles.position.iter().enumerate() {
                match placed.images_of(centre) {
                    None => look(i, centre)?,
                    Some(mut images) => images.try_for_each(|centre| look(i, centre))?,
                }
            }
        }
        match worst {
            (times, Some(haste)) => Err(Refusal::TooLong(times, haste)),
            _ => Ok(()),
        }
    }

    /// Lists every pair that could meet. Gives the square of the largest tangential speed of those that would.
    fn list(&mut self, now: &Setting) -> Result<f64, Refusal> {
        let mut candidates = self.take_candidates();
        let (mut vicinity, mut slots) = (std::mem::take(&mut self.vicinity), std::mem::take(&mut self.slots));
        let listed = self.search(now).run(&mut vicinity, &mut slots, &mut candidates);
        (self.vicinity, self.slots) = (vicinity, slots);
        let fastest = candidates.fastest;
        self.put_candidates(candidates);
        listed.map(|()| fastest)
    }

    /// Adds the pairs that overlap though they are not listed; tells whether there are any. Where there are none, their rows
    /// would change nothing: the velocity found is admissible for them, and it is the projection.
    fn misses_a_pair(&mut self, now: &Setting) -> Result<bool, Refusal> {
        self.note_who_outran()?;
        if self.outran.is_empty() {
            return Ok(false);
        }
        let mut vicinity = std::mem::take(&mut self.vicinity);
        let outcome = Excursion { velocity: &self.velocity, outran: &self.outran, listed: &self.pairs };
        let missed = self.search(now).missed(&mut vicinity, &outcome);
        self.vicinity = vicinity;
        let missed = missed?;
        let found = !missed.is_empty();
        if found {
            let mut candidates = self.take_candidates();
            candidates.merge(&Candidates::sorted(missed));
            self.put_candidates(candidates);
        }
        Ok(found)
    }

    fn take_candidates(&mut self) -> Candidates {
        let (pairs, rows) = (std::mem::take(&mut self.pairs), std::mem::take(&mut self.problem.rows));
        Candidates { pairs, rows, warm: std::mem::take(&mut self.impulses), fastest: 0.0 }
    }

    fn put_candidates(&mut self, candidates: Candidates) {
        (self.pairs, self.problem.rows, self.impulses) = (candidates.pairs, candidates.rows, candidates.warm);
    }

    fn search<'a>(&'a self, now: &'a Setting) -> Search<'a> {
        Search {
            particles: &now.state.particles,
            contacts: &now.state.contacts,
            obstacles: now.obstacles,
            placed: now.placed,
            owner: if now.state.clumps.is_empty() { &[] } else { self.moves.owner() },
            adhesion: now.adhesion,
            apriori: &self.problem.apriori,
            diversion: &self.diversion,
            dt: now.span.dt,
            length: now.length,
            margin: MARGIN * now.length,
            warm_scale: now.span.dt / now.settings.dt,
        }
    }

    /// Adds to S who was diverted further than the list allows for, and notes by how much.
    fn note_who_outran(&mut self) -> Result<(), StepError> {
        // Mostly nobody was.
        let within =
            |((v, apriori), diversion): ((&DVec3, &DVec3), &f64)| v.distance(*apriori) * self.problem.dt <= *diversion;
        let share = share_of(self.velocity.len());
        let pieces = self.velocity.par_chunks(share).zip(self.problem.apriori.par_chunks(share));
        let pieces = pieces.zip(self.diversion.par_chunks(share));
        if pieces.all(|((v, apriori), diversion)| v.iter().zip(apriori).zip(diversion).all(within)) {
            return Ok(());
        }
        self.outran.resize(self.velocity.len(), false);
        for (i, (v, apriori)) in self.velocity.iter().zip(&self.problem.apriori).enumerate() {
            let diverted = v.distance(*apriori) * self.problem.dt;
            if diverted <= self.diversion[i] {
                continue;
            }
            if !v.is_finite() {
                return Err(StepError::NotFinite { particle: i, what: "velocity" });
            }
            self.diversion[i] = diverted;
            self.outran[i] = true;
        }
        Ok(())
    }

    fn unseen(&self, now: &Setting) -> Unseen {
        Unseen { at_walls: self.unseen_overlaps(now), by_turning: self.overlaps_by_turning(now) }
    }

    /// Curved containers, and meshes whose next face was out of sight, bend towards the particle: overlaps beyond the
    /// tolerance that the linearised constraints did not see.
    fn unseen_overlaps(&self, now: &Setting) -> Vec<Overlap> {
        let tolerance = now.settings.criteria.tolerance * now.length;
        let particles = &now.state.particles;
        let mut overlaps = Vec::new();
        for k in (0..now.placed.len()).filter(|k| !now.obstacles[*k].shape.is_convex()) {
            let placed = now.placed.get(k);
            let remembered = self.vicinity.remembers(k);
            let mut near = self.vicinity.near_obstacle(k).peekable();
            for (i, v) in self.velocity.iter().enumerate() {
                let (step, radius) = (*v * now.span.dt, particles.radius[i]);
                let end = particles.position[i] + step;
                let listed = near.next_if_eq(&i).is_some();
                if remembered && !listed && self.vicinity.knows_about(i, end, radius) {
                    continue;
                }
                if now.placed.may_reach(k, end, radius) {
                    placed.touches(end, radius, -tolerance, &mut |touch| {
                        overlaps.push(Overlap { particle: i as u32, obstacle: k as u32, touch, step });
                    });
                }
            }
        }
        overlaps
    }

    /// Rows of clumps that end in an overlap beyond the tolerance, because arms turn, and their gaps at the end.
    fn overlaps_by_turning(&self, now: &Setting) -> Vec<(usize, f64)> {
        if now.state.clumps.is_empty() {
            return Vec::new();
        }
        let tolerance = now.settings.criteria.tolerance * now.length;
        let (particles, owner) = (&now.state.particles, self.moves.owner());
        let end = |i: u32| particles.position[i as usize] + self.velocity[i as usize] * now.span.dt;
        let gap = |(c, (row, pair)): (usize, (&Row, &Pair))| {
            let in_clump = |body: u32| body != WALL && owner[body as usize] != ALONE;
            if !in_clump(row.i) && !in_clump(row.j) {
                return None;
            }
            let radius = particles.radius[row.i as usize];
            let gap = match pair.partner() {
                Partner::Particle(j) => {
                    let offset = end(j) - end(row.i);
                    let offset = particles.cell.map_or(offset, |cell| cell.shortest(offset));
                    offset.length() - radius - particles.radius[j as usize]
                }
                Partner::Obstacle { obstacle, .. } if !now.obstacles[obstacle as usize].shape.is_convex() => {
                    return None;
                }
                Partner::Obstacle { obstacle, feature } => {
                    now.placed.get(obstacle as usize).gap_of(end(row.i), radius, feature)?.gap
                }
            };
            (gap < -tolerance).then_some((c, gap))
        };
        self.problem.rows.iter().zip(&self.pairs).enumerate().filter_map(gap).collect()
    }

    /// The rows must see these gaps as they are, and half a tolerance less: the solver may leave a whole one open.
    fn tighten(&mut self, gaps: &[(usize, f64)], now: &Setting) {
        let tolerance = now.settings.criteria.tolerance * now.length;
        for &(c, gap) in gaps {
            let seen = self.problem.end_gap(&self.problem.rows[c], self.seen(now));
            self.problem.rows[c].gap += gap - seen.max(0.0) - 0.5 * tolerance;
        }
    }

    /// Who would move farthest without contacts, or is moved farther by them, and how far, relative to a length.
    pub(super) fn fastest(&self, length: f64) -> (usize, f64) {
        let found = self.velocity.iter().chain(std::iter::repeat(&DVec3::ZERO));
        let speeds = self.problem.apriori.iter().zip(found).map(|(apriori, v)| apriori.length().max(v.length()));
        let (particle, speed) = speeds.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        (particle, speed * self.problem.dt / length)
    }

    /// The velocities as the projection sees them.
    fn seen(&self, now: &Setting) -> &[DVec3] {
        if now.state.clumps.is_empty() { &self.velocity } else { self.moves.linear() }
    }

    /// Tightens the row of each overlap by its deficit, or adds the tangent plane at the end of the step, so that the
    /// projection can be repeated.
    fn bend(&mut self, overlaps: &[Overlap], now: &Setting, round: u32) {
        let tolerance = now.settings.criteria.tolerance * now.length;
        let mut extra = Vec::new();
        for Overlap { particle, obstacle, touch, step } in overlaps {
            let name = |n: u32| Pair::obstacle(*particle, *obstacle, plane(touch.feature, n));
            let planes = (0..=MOST_FURTHER_PLANES).map_while(|n| self.pairs.binary_search(&name(n)).ok());
            let agreement = |c: &usize| self.problem.rows[*c].normal.dot(touch.normal);
            let nearest = planes.clone().max_by(|a, b| agreement(a).total_cmp(&agreement(b)));
            // Images of a feature follow each other.
            let same = |pair: &Pair| (0..=MOST_FURTHER_PLANES).any(|n| *pair == name(n));
            let new = extra.iter().rev().take_while(|(pair, _): &&(Pair, Row)| same(pair)).count();
            let count = (planes.count() + new) as u32;
            let shift = |c: &usize| round < SHIFTING_ROUNDS && agreement(c) > SAME_PLANE;
            if let Some(c) = nearest.filter(|c| shift(c) || count > MOST_FURTHER_PLANES) {
                // The row must see the gap as it is, and half a tolerance less: the solver may leave a whole one open.
                let seen = self.problem.end_gap(&self.problem.rows[c], self.seen(now));
                self.problem.rows[c].gap += touch.gap - seen.max(0.0) - 0.5 * tolerance;
            } else {
                let gap = touch.gap + touch.normal.dot(*step);
                extra.push((name(count), self.search(now).row(name(count), (gap, touch.normal), None)));
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
            StepError::NotConverged { how, residual, tolerance, sweeps, fastest: self.fastest(now.length) }
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

    /// The impulses of the rule for those found, where it is asked for; a projection that failed has none to choose from.
    /// Tells whether velocities have changed, which they may within the tolerance.
    fn distribute(&mut self, outcome: &Outcome, now: &Setting) -> bool {
        self.springs.clear();
        let mut moved = false;
        if now.is_least_norm() && outcome.status == Status::Converged {
            self.springs.extend_from_slice(&now.state.springs);
            let Self { rule, problem, velocity, springs, impulses, report, .. } = self;
            let done = rule.distribute(problem, &now.settings.criteria, velocity, springs, impulses);
            report.residual = done.accuracy.map_or(report.residual, |new| report.residual.max(new.residual));
            moved = done.accuracy.is_some();
        }
        moved
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

    /// Square of the largest tangential speed of the rows that push, flat sides left out.
    fn fastest_that_pushes(&self, now: &Setting) -> f64 {
        let squared = |((row, impulse), pair): ((&Row, &f64), &Pair)| {
            let partner = match row.j {
                WALL if now.is_flat(*pair) => return 0.0,
                WALL => DVec3::ZERO,
                j => self.velocity[j as usize],
            };
            let relative = partner - self.velocity[row.i as usize];
            // Who pushes is in no order: that is no branch for a processor to guess.
            let pushes = f64::from(u8::from(*impulse > row.lower));
            pushes * (relative - row.normal * row.normal.dot(relative)).length_squared()
        };
        let rows = self.problem.rows.par_chunks(ROWS_IN_TASK).zip(self.impulses.par_chunks(ROWS_IN_TASK));
        let parts = rows.zip(self.pairs.par_chunks(ROWS_IN_TASK)).map(|((rows, impulses), pairs)| {
            let all = rows.iter().zip(impulses).zip(pairs).map(squared);
            all.fold(0.0_f64, |a, b| if b > a { b } else { a })
        });
        parts.reduce(|| 0.0, f64::max)
    }

    /// The tangential displacement at a speed, given by its square, relative to the smallest radius; refuses the sub-step
    /// where the linearised constraint would stop a near miss by more than the user allows.
    fn refuse_slip(now: &Setting, fastest: f64) -> Result<f64, Refusal> {
        let slip = fastest.sqrt() * now.span.dt / now.length;
        if slip > now.settings.max_slip {
            Err(Refusal::TooLong(slip / now.settings.max_slip, Haste::Sliding))
        } else {
            Ok(slip)
        }
    }
}

impl Setting<'_> {
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
