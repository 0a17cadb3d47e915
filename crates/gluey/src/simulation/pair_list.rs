//! The list of pairs that could meet in a sub-step, and the check of it on every result.
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

use glam::DVec3;
use rayon::prelude::*;

use super::contacts::{Contacts, Slot};
use super::project::SubstepInput;
use super::search::{Deflected, Search};
use super::vicinity::Vicinity;
use super::{Refusal, StepError, TooFast};
use crate::buffer::resize;
use crate::morton::Curve;
use crate::projection::Prediction;
use crate::shares::share_of;

/// First guess of how far contacts divert a particle: this share of its way h|V^{n+1/2}|,
const DEFLECTED: f64 = 0.25;
/// and this much of the smallest radius.
const MARGIN: f64 = 0.02;

/// What finds the pairs, and checks that none is missed.
#[derive(Default)]
pub(super) struct PairList {
    /// What is around each particle.
    pub vicinity: Vicinity,
    /// How far contacts may divert each particle from where V^{n+1/2} takes it: δ, or for those in S the furthest so far.
    deflection: Vec<f64>,
    /// Who is in S; empty while nobody is.
    exceeded: Vec<bool>,
    /// For searches in parallel.
    slots: Vec<Slot>,
    curve: Curve,
}

impl PairList {
    /// Poses the problem of all pairs that could meet. Gives the square of the largest tangential speed of those that would.
    pub(super) fn pose(&mut self, now: &SubstepInput, contacts: &mut Contacts) -> Result<f64, Refusal> {
        self.guess(now, contacts);
        self.limit_obstacles(now, &contacts.problem.prediction.velocity)?;
        let Self { vicinity, deflection, slots, .. } = self;
        let (prediction, list) = contacts.columns();
        search(now, prediction, deflection).run(vicinity, slots, list)
    }

    /// Forgets what is near whom.
    pub(super) fn forget(&mut self) {
        self.vicinity = Vicinity::default();
    }

    /// The problem but for its rows, and a share of each particle's way and a margin as its deflection.
    fn guess(&mut self, now: &SubstepInput, contacts: &mut Contacts) {
        let problem = &mut contacts.problem;
        (problem.dt, problem.length) = (now.span.dt, now.length);
        let velocity = &problem.prediction.velocity;
        let (margin, dt) = (MARGIN * now.length, now.span.dt);
        resize(&mut self.deflection, velocity.len(), 0.0);
        let share = share_of(velocity.len());
        let pieces = self.deflection.par_chunks_mut(share).zip(velocity.par_chunks(share));
        pieces.for_each(|(deflections, velocity)| {
            for (deflection, v) in deflections.iter_mut().zip(velocity) {
                *deflection = DEFLECTED * v.length() * dt + margin;
            }
        });
        self.exceeded.clear();
        // Every time: an order of other positions would make the step depend on more than its state.
        self.curve.sort(&now.state.particles.position, &mut problem.order);
    }

    /// An obstacle's gap is read where it will be at the end of the step: it must not have passed a particle's centre by
    /// then. Within the slip limit it cannot.
    fn limit_obstacles(&self, now: &SubstepInput, velocity: &[DVec3]) -> Result<(), Refusal> {
        let particles = &now.state.particles;
        let interval = (now.span.start, now.span.end());
        let allowed = now.settings.max_slip * now.length;
        let mut worst = (1.0, None);
        for (k, obstacle) in now.obstacles.iter().enumerate().filter(|(_, obstacle)| !obstacle.is_fixed()) {
            let placed = now.walls.get(k);
            let mut look = |i: usize, centre: DVec3| {
                let radius = particles.radius[i];
                let reach = velocity[i].length() * now.span.dt + self.deflection[i];
                let path = obstacle.path_bound(centre, radius + reach, interval);
                let slack = reach + 2.0 * path;
                if path <= allowed.min(radius) || !now.walls.may_reach(k, centre, radius + slack) {
                    return Ok(());
                }
                let mut near = radius + slack > placed.horizon(); // images that were not looked at may be
                if !near {
                    placed.touches(centre, radius, slack, &mut |_| near = true);
                }
                let times = path / allowed.min(radius);
                if near && allowed.is_finite() {
                    if times > worst.0 {
                        worst = (times, Some(TooFast::Obstacle { obstacle: k, particle: i, path }));
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
            (times, Some(too_fast)) => Err(Refusal::TooLong(times, too_fast)),
            _ => Ok(()),
        }
    }

    /// Adds the pairs that overlap though they are not listed; tells whether there are any. Where there are none, their rows
    /// would change nothing: the velocity found is admissible for them, and it is the projection.
    pub(super) fn misses_a_pair(&mut self, now: &SubstepInput, contacts: &mut Contacts) -> Result<bool, Refusal> {
        self.note_who_exceeded(contacts)?;
        if self.exceeded.is_empty() {
            return Ok(false);
        }
        let Self { vicinity, deflection, exceeded, .. } = self;
        let outcome = Deflected { velocity: &contacts.solution.velocity, exceeded, listed: &contacts.pairs };
        let missed = search(now, &contacts.problem.prediction, deflection).missed(vicinity, &outcome)?;
        let found = !missed.is_empty();
        contacts.add(missed);
        Ok(found)
    }

    /// Adds to S who was diverted further than the list allows for, and notes by how much.
    fn note_who_exceeded(&mut self, contacts: &Contacts) -> Result<(), StepError> {
        let (velocity, dt) = (&contacts.solution.velocity, contacts.problem.dt);
        let predicted = &contacts.problem.prediction.velocity;
        // Mostly nobody was.
        let within = |((v, apriori), deflection): ((&DVec3, &DVec3), &f64)| v.distance(*apriori) * dt <= *deflection;
        let share = share_of(velocity.len());
        let pieces = velocity.par_chunks(share).zip(predicted.par_chunks(share));
        let pieces = pieces.zip(self.deflection.par_chunks(share));
        if pieces.all(|((v, apriori), deflection)| v.iter().zip(apriori).zip(deflection).all(within)) {
            return Ok(());
        }
        self.exceeded.resize(velocity.len(), false);
        for (i, (v, apriori)) in velocity.iter().zip(predicted).enumerate() {
            let diverted = v.distance(*apriori) * dt;
            if diverted <= self.deflection[i] {
                continue;
            }
            if !v.is_finite() {
                return Err(StepError::NotFinite { particle: i, what: "velocity" });
            }
            self.deflection[i] = diverted;
            self.exceeded[i] = true;
        }
        Ok(())
    }
}

/// What a search reads.
fn search<'a>(now: &SubstepInput<'a>, prediction: &'a Prediction, deflection: &'a [f64]) -> Search<'a> {
    Search {
        particles: &now.state.particles,
        contacts: &now.state.contacts,
        obstacles: now.obstacles,
        walls: now.walls,
        owner: prediction.metric.owner(),
        adhesion: now.adhesion,
        apriori: &prediction.velocity,
        deflection,
        dt: now.span.dt,
        length: now.length,
        margin: MARGIN * now.length,
        warm_scale: now.span.dt / now.settings.dt,
    }
}
