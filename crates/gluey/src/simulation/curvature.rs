//! What linearised constraints do not see: gaps that curve towards a particle, and arms of clumps that turn.
//!
//! The constraint D + h G V ≥ 0 is the gap's tangent. Where the gap is convex it is a bound of the true gap from below; inside
//! curved containers, at faces of a mesh that were out of sight, and for the spheres of clumps that turn it is not. So the
//! true gaps are evaluated at the end of the sub-step, and where one is below the tolerance its row is shifted by what is
//! missing, or the tangent plane at the end is added, and the projection repeated.

use glam::DVec3;

use super::contacts::{Contacts, dry_row};
use super::project::{SubstepInput, Workspace};
use super::search::{MOST_FURTHER_PLANES, plane};
use crate::contact::{Pair, Partner};
use crate::geometry::Touch;
use crate::projection::{NO_CLUMP, Row, WALL};

/// Cosine of the angle below which two normals are taken for the same tangent plane, which is then shifted.
const SAME_PLANE: f64 = 0.99;
/// Rounds in which planes are shifted; where that did not do, in a corner of planes that are almost parallel, the tangent
/// plane at the end of the step does.
const SHIFTING_ROUNDS: u32 = 3;

/// A particle that would end the step in an obstacle.
pub(super) struct Overlap {
    particle: u32,
    obstacle: u32,
    touch: Touch,
    /// Its displacement in the step.
    step: DVec3,
}

/// Overlaps beyond the tolerance that the linearised constraints did not see.
pub(super) struct MissedOverlaps {
    /// With curved obstacles.
    at_walls: Vec<Overlap>,
    /// Of clumps, because their arms turn: rows and their gaps at the end.
    by_turning: Vec<(usize, f64)>,
}

impl MissedOverlaps {
    pub(super) fn is_empty(&self) -> bool {
        self.at_walls.is_empty() && self.by_turning.is_empty()
    }
}

impl Workspace {
    pub(super) fn missed_overlaps(&self, now: &SubstepInput) -> MissedOverlaps {
        MissedOverlaps { at_walls: self.overlaps_at_walls(now), by_turning: self.overlaps_by_turning(now) }
    }

    /// Curved containers, and meshes whose next face was out of sight, bend towards the particle: overlaps beyond the
    /// tolerance that the linearised constraints did not see.
    fn overlaps_at_walls(&self, now: &SubstepInput) -> Vec<Overlap> {
        let tolerance = now.settings.criteria.tolerance * now.length;
        let particles = &now.state.particles;
        let mut overlaps = Vec::new();
        for k in (0..now.walls.len()).filter(|k| !now.obstacles[*k].shape.is_convex()) {
            let placed = now.walls.get(k);
            let remembered = self.pair_list.vicinity.remembers(k);
            let mut near = self.pair_list.vicinity.near_obstacle(k).peekable();
            for (i, v) in self.contacts.solution.velocity.iter().enumerate() {
                let (step, radius) = (*v * now.span.dt, particles.radius[i]);
                let end = particles.position[i] + step;
                let listed = near.next_if_eq(&i).is_some();
                if remembered && !listed && self.pair_list.vicinity.covers(i, end, radius) {
                    continue;
                }
                if now.walls.may_reach(k, end, radius) {
                    placed.touches(end, radius, -tolerance, &mut |touch| {
                        overlaps.push(Overlap { particle: i as u32, obstacle: k as u32, touch, step });
                    });
                }
            }
        }
        overlaps
    }

    /// Rows of clumps that end in an overlap beyond the tolerance, because arms turn, and their gaps at the end.
    fn overlaps_by_turning(&self, now: &SubstepInput) -> Vec<(usize, f64)> {
        if now.state.clumps.is_empty() {
            return Vec::new();
        }
        let tolerance = now.settings.criteria.tolerance * now.length;
        let (particles, owner) = (&now.state.particles, self.contacts.problem.prediction.metric.owner());
        let end = |i: u32| particles.position[i as usize] + self.contacts.solution.velocity[i as usize] * now.span.dt;
        let gap = |(c, (row, pair)): (usize, (&Row, &Pair))| {
            let in_clump = |body: u32| body != WALL && owner[body as usize] != NO_CLUMP;
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
                    now.walls.get(obstacle as usize).gap_of(end(row.i), radius, feature)?.gap
                }
            };
            (gap < -tolerance).then_some((c, gap))
        };
        self.contacts.problem.rows.iter().zip(&self.contacts.pairs).enumerate().filter_map(gap).collect()
    }

    /// Makes the rows see the gaps as they are, so that the projection can be repeated; `round` counts how often it was.
    pub(super) fn see(&mut self, missed: &MissedOverlaps, now: &SubstepInput, round: u32) {
        for &(c, gap) in &missed.by_turning {
            self.shift_row(c, gap, now);
        }
        self.add_tangent_planes(&missed.at_walls, now, round);
    }

    /// A row must see this gap as it is, and half a tolerance less: the solver may leave a whole one open.
    fn shift_row(&mut self, c: usize, gap: f64, now: &SubstepInput) {
        let Contacts { problem, solution, .. } = &self.contacts;
        // The velocities as the projection sees them.
        let velocity = if now.state.clumps.is_empty() { &solution.velocity } else { self.moves.linear() };
        let seen = problem.end_gap(&problem.rows[c], velocity);
        let tolerance = now.settings.criteria.tolerance * now.length;
        self.contacts.problem.rows[c].gap += gap - seen.max(0.0) - 0.5 * tolerance;
    }

    /// Tightens the row of each overlap by its deficit, or adds the tangent plane at the end of the step, so that the
    /// projection can be repeated.
    fn add_tangent_planes(&mut self, overlaps: &[Overlap], now: &SubstepInput, round: u32) {
        let mut extra = Vec::new();
        for Overlap { particle, obstacle, touch, step } in overlaps {
            let name = |n: u32| Pair::obstacle(*particle, *obstacle, plane(touch.feature, n));
            let planes = (0..=MOST_FURTHER_PLANES).map_while(|n| self.contacts.pairs.binary_search(&name(n)).ok());
            let agreement = |c: &usize| self.contacts.problem.rows[*c].normal.dot(touch.normal);
            let nearest = planes.clone().max_by(|a, b| agreement(a).total_cmp(&agreement(b)));
            // Images of a feature follow each other.
            let same = |pair: &Pair| (0..=MOST_FURTHER_PLANES).any(|n| *pair == name(n));
            let new = extra.iter().rev().take_while(|(pair, _): &&(Pair, Row)| same(pair)).count();
            let count = (planes.count() + new) as u32;
            let shift = |c: &usize| round < SHIFTING_ROUNDS && agreement(c) > SAME_PLANE;
            if let Some(c) = nearest.filter(|c| shift(c) || count > MOST_FURTHER_PLANES) {
                self.shift_row(c, touch.gap, now);
            } else {
                let gap = touch.gap + touch.normal.dot(*step);
                extra.push((name(count), dry_row(name(count), gap, touch.normal)));
            }
        }
        self.contacts.add(extra);
    }
}
