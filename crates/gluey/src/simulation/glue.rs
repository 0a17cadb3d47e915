//! Step 3: impulses become glue, and what a step reports of its contacts.

use glam::DVec3;
use rayon::prelude::*;

use super::Load;
use super::contacts::Contacts;
use super::project::{SubstepInput, Workspace};
use super::search::{feature_of, gap_of, is_further_plane};
use crate::adhesion::{Adhesion, Step};
use crate::buffer::{reserve, reset, resize};
use crate::contact::{Contact, Pair, Partner};
use crate::geometry::Particles;
use crate::geometry::Walls;
use crate::interaction::ObstacleImpulse;
use crate::projection::{ROWS_IN_TASK, Solution};
use crate::shares::{share_of, write_parts};

/// Fewest contacts that a list gets room for.
const LEAST_ROOM: usize = 64;
/// Parts of the rows whose loads are added up on their own, at most.
const MOST_PARTS: usize = 16;

/// Buffers of what follows a projection.
#[derive(Default)]
pub(super) struct Loading {
    /// The points that torques on obstacles refer to.
    pivots: Vec<DVec3>,
    /// Loads of parts of the rows.
    partial: Vec<Load>,
    /// Contacts that each thread keeps.
    kept: Vec<usize>,
}

impl Workspace {
    /// γⁿ⁺¹ = max(γ_min, γⁿ − RΛ), and the contacts worth carrying on; their impulses are told for a whole step of
    /// length `dt`.
    pub(super) fn glue(&mut self, adhesion: &Adhesion, step: &Step, dt: f64, contacts: &mut Vec<Contact>) {
        let to_whole_step = dt / step.dt;
        if adhesion.is_dry() {
            self.keep_what_pushes(to_whole_step, contacts);
        } else {
            self.carry_on(adhesion, step, to_whole_step, contacts);
        }
    }

    /// Without glue the next step needs nothing of the contacts but where to start from.
    fn keep_what_pushes(&mut self, to_whole_step: f64, contacts: &mut Vec<Contact>) {
        let Self { contacts: Contacts { pairs, solution: Solution { impulses, .. }, .. }, loading, report, .. } = self;
        let kept = &mut loading.kept;
        let share = share_of(pairs.len());
        // Who pushes is in no order: that is no branch for a processor to guess.
        let pushes = |pair: &Pair, impulse: &f64| usize::from((*impulse != 0.0) & !is_further_plane(pair.partner()));
        let parts = pairs.par_chunks(share).zip(impulses.par_chunks(share));
        let count = |(pairs, impulses): (&[Pair], &[f64])| pairs.iter().zip(impulses).map(|(p, i)| pushes(p, i)).sum();
        parts.map(count).collect_into_vec(kept);
        resize(contacts, kept.iter().sum(), Contact::NONE);
        write_parts(contacts, kept, &|part, contacts| {
            let mut at = 0;
            for (pair, impulse) in pairs.iter().zip(&*impulses).skip(part * share).take(share) {
                let Some(contact) = contacts.get_mut(at) else { break };
                *contact = Contact { pair: *pair, gamma: 0.0, impulse: impulse * to_whole_step };
                at += pushes(pair, impulse);
            }
        });
        report.glued = 0;
    }

    /// The new list is written over the old one, which is first moved to the end of its memory: so there is never a second
    /// list, the largest part of the state.
    fn carry_on(&mut self, adhesion: &Adhesion, step: &Step, to_whole_step: f64, contacts: &mut Vec<Contact>) {
        let old = contacts.len();
        contacts.resize(contacts.capacity(), Contact::NONE);
        let mut read = contacts.len() - old;
        contacts.copy_within(..old, read);
        let (mut written, mut glued) = (0, 0);
        for (&pair, &impulse) in self.contacts.pairs.iter().zip(&self.contacts.solution.impulses) {
            if is_further_plane(pair.partner()) {
                continue;
            }
            while contacts.get(read).is_some_and(|contact| contact.pair < pair) {
                read += 1;
            }
            let mut gamma = 0.0;
            if let Some(contact) = contacts.get(read).filter(|contact| contact.pair == pair) {
                gamma = contact.gamma;
                read += 1;
            }
            let gamma = adhesion.update(pair, gamma, impulse, step);
            if gamma < 0.0 || impulse != 0.0 {
                if written == read {
                    let end = contacts.len();
                    reserve(contacts, LEAST_ROOM.max(end / 8));
                    contacts.resize(contacts.capacity(), Contact::NONE);
                    let room = contacts.len() - end;
                    contacts.copy_within(read..end, read + room);
                    read += room;
                }
                contacts[written] = Contact { pair, gamma, impulse: impulse * to_whole_step };
                written += 1;
                glued += usize::from(gamma < 0.0);
            }
        }
        contacts.truncate(written);
        self.report.glued = glued;
    }

    /// The impulse on the particle is −Λ·normal; on the obstacle it is the opposite, at the point of contact. Pair forces
    /// add theirs.
    pub(super) fn record_loads(&mut self, now: &SubstepInput) {
        let particles = &now.state.particles;
        let Self { contacts: Contacts { pairs, problem, solution }, loading, report, .. } = self;
        let Loading { pivots, partial, .. } = loading;
        let impulses = &solution.impulses;
        pivots.clear();
        pivots.extend(now.obstacles.iter().map(|obstacle| obstacle.pivot(now.span.end())));
        let add = |loads: &mut [Load], obstacle: u32, at: DVec3, force: DVec3| {
            let (pivot, load) = (pivots[obstacle as usize], &mut loads[obstacle as usize]);
            *load = Load { force: load.force + force, torque: load.torque + (at - pivot).cross(force) };
        };
        // In parts that do not depend on the number of threads: then neither do the sums.
        let (kinds, part) = (pivots.len().max(1), pairs.len().div_ceil(MOST_PARTS).max(ROWS_IN_TASK));
        reset(partial, kinds * pairs.len().div_ceil(part), Load::default());
        let parts = pairs.par_chunks(part).zip(impulses.par_chunks(part)).zip(problem.rows.par_chunks(part));
        parts.zip(partial.par_chunks_mut(kinds)).for_each(|(((pairs, impulses), rows), loads)| {
            for ((pair, impulse), row) in pairs.iter().zip(impulses).zip(rows) {
                if let Partner::Obstacle { obstacle, feature } = pair.partner()
                    && *impulse != 0.0
                {
                    let (at, radius) = (particles.position[row.i as usize], particles.radius[row.i as usize]);
                    let placed = now.walls.get(obstacle as usize);
                    let at = placed.image_at(at, radius, feature_of(feature)) + row.normal * radius;
                    add(loads, obstacle, at, row.normal * (impulse / now.settings.dt));
                }
            }
        });
        for loads in partial.chunks(kinds) {
            for (load, part) in report.loads.iter_mut().zip(loads) {
                *load = Load { force: load.force + part.force, torque: load.torque + part.torque };
            }
        }
        for ObstacleImpulse { obstacle, at, impulse } in now.interactions.on_obstacles() {
            add(&mut report.loads, *obstacle, *at, *impulse / now.settings.dt);
        }
    }

    /// True gaps after the move: of the pairs in the list, and of all others that are near and overlap.
    pub(super) fn record_gaps(&mut self, particles: &Particles, walls: Walls) {
        let deepest = self.pair_list.vicinity.deepest_overlap(particles, walls);
        let gap = |pair: &Pair| match pair.partner() {
            // Nothing to ask where some overlap: the deepest is known.
            Partner::Particle(_) if deepest < 0.0 => deepest,
            Partner::Particle(j) => particles.gap(pair.first() as usize, j as usize).0,
            Partner::Obstacle { .. } => gap_of(*pair, particles, walls).map_or(f64::INFINITY, |(gap, _)| gap),
        };
        // No branch: which gap is below the least so far is in no order.
        let least = |pairs: &[Pair]| pairs.iter().map(gap).fold(f64::INFINITY, |a, b| if b < a { b } else { a });
        let parts = self.contacts.pairs.par_chunks(ROWS_IN_TASK).map(least);
        let listed = parts.reduce(|| f64::INFINITY, f64::min);
        let least = if deepest < 0.0 { listed.min(deepest) } else { listed };
        self.report.least_gap = self.report.least_gap.min(least);
        self.report.substeps += 1;
        self.report.candidates = self.contacts.pairs.len();
    }
}
