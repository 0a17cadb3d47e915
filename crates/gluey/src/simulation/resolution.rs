//! What rounding leaves of a gap, and moves that lead nowhere.
//!
//! Let u = ε/2 be the unit roundoff. Storing xⁿ⁺¹ = xⁿ + hV shifts each coordinate by at most u|x_a|; the partner's place y
//! is off likewise, and the difference of the two is exact where they touch. To first order that changes the gap by at most
//! Σ_a |n_a| (u|x_a| + u|y_a|) ≤ ε Σ_a |n_a| X_a with X_a = max(|x_a|, |y_a|) and n the unit normal, and the turn of the normal
//! itself, by an angle of at most √3 ε X/r, changes it by at most 3 (ε X)²/r more; that of a flat wall does not turn. In all it
//! is no more than the two bodies are shifted, 2 √3 u X. For an obstacle y are the numbers that its gap is computed from. So
//!
//! ρ = 4 ε Σ_a |n_a| X_a + min((4 ε X)²/r, 8 ε X)
//!
//! is four times what rounding does to a gap, which leaves room for what the evaluation of h V and of the gap adds. A contact
//! is resolved where ρ ≤ tolerance · smallest radius: rounding then adds less than the solver may leave open. A tolerance
//! below [`FINEST`] asks for all that rounding allows, and is taken for that here. Elsewhere the
//! promise about overlaps cannot be kept, whatever the solver does, and a step in which such a pair ends nearer than ρ is
//! refused. Those who touch nobody may be anywhere.

use std::ops::ControlFlow;

use glam::DVec3;

use super::StepError;
use super::project::{SubstepInput, Workspace};
use crate::neighbours::partners_in;
use crate::projection::NO_CLUMP;

/// Four times the rounding of a coordinate of size 1, of a difference of two.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The finest tolerance that gaps are held to against rounding, relative to the smallest radius.
const FINEST: f64 = 1e-12;

/// Where the move would put those particles that are so far out that it matters.
struct Far {
    index: Vec<u32>,
    end: Vec<DVec3>,
    radius: Vec<f64>,
    /// Radius, and what rounding adds to it.
    extent: Vec<f64>,
}

/// ρ, for numbers of these sizes.
fn uncertainty(normal: DVec3, sizes: DVec3, radius: f64) -> f64 {
    let most = ROUNDING * sizes.max_element();
    ROUNDING * normal.abs().dot(sizes) + (most * (most / radius)).min(2.0 * most)
}

/// No less than ρ, whatever the normal.
fn most_uncertainty(sizes: DVec3, radius: f64) -> f64 {
    uncertainty(DVec3::ONE, sizes, radius)
}

impl Workspace {
    /// Refuses a move that leads to no place, or to a contact that rounding opens or closes. All but free unless somebody
    /// may be far out: bounds of where everything is come with the list of neighbours and the places of the obstacles.
    pub(super) fn refuse_unresolved(&self, now: &SubstepInput) -> Result<(), StepError> {
        let allowed = now.settings.criteria.tolerance.max(FINEST) * now.length;
        let farthest = self.pair_list.vicinity.farthest().max(now.walls.farthest());
        if most_uncertainty(DVec3::splat(farthest), now.length) <= allowed || now.state.particles.is_empty() {
            return Ok(());
        }
        self.refuse_nowhere(now)?;
        self.refuse_far_pairs(&self.far_out(now, allowed), now, allowed)?;
        self.refuse_far_obstacles(now, allowed)
    }

    fn end(&self, i: usize, now: &SubstepInput) -> DVec3 {
        let end = now.state.particles.position[i] + self.contacts.solution.velocity[i] * now.span.dt;
        now.state.particles.cell.map_or(end, |cell| cell.wrap(end))
    }

    fn refuse_nowhere(&self, now: &SubstepInput) -> Result<(), StepError> {
        for (particle, v) in self.contacts.solution.velocity.iter().enumerate() {
            let fine = [("velocity", v.is_finite()), ("position", self.end(particle, now).is_finite())];
            if let Some((what, _)) = fine.iter().find(|(_, fine)| !fine) {
                return Err(StepError::NotFinite { particle, what });
            }
        }
        Ok(())
    }

    /// All particles that end where rounding matters, and those that may touch one of them.
    fn far_out(&self, now: &SubstepInput, allowed: f64) -> Far {
        let radii = &now.state.particles.radius;
        let widest = radii.iter().copied().fold(0.0, f64::max);
        let mut far = Far { index: Vec::new(), end: Vec::new(), radius: Vec::new(), extent: Vec::new() };
        for (i, &radius) in radii.iter().enumerate() {
            let end = self.end(i, now);
            let sizes = end.abs() + 4.0 * widest;
            if most_uncertainty(sizes, now.length) > allowed {
                far.index.push(i as u32);
                far.end.push(end);
                far.radius.push(radius);
                far.extent.push(radius + most_uncertainty(sizes, now.length));
            }
        }
        far
    }

    fn refuse_far_pairs(&self, far: &Far, now: &SubstepInput, allowed: f64) -> Result<(), StepError> {
        let Far { index, end, radius, extent } = far;
        let (cell, owner) = (now.state.particles.cell, self.contacts.problem.prediction.metric.owner());
        let mut found = Ok(());
        let mut look = |a: usize, b: usize| {
            let (i, j) = (index[a] as usize, index[b] as usize);
            let held = !now.state.clumps.is_empty() && owner[i] != NO_CLUMP && owner[i] == owner[j];
            let offset = cell.map_or(end[b] - end[a], |cell| cell.shortest(end[b] - end[a]));
            let sizes = end[a].abs().max(end[b].abs());
            let rounding = uncertainty(offset.normalize_or(DVec3::X), sizes, now.length);
            if !held && rounding > allowed && offset.length() <= radius[a] + radius[b] + rounding {
                let size = sizes.max_element();
                found =
                    Err(Unclear { particle: i, end: end[a], size, rounding, allowed }.with(format!("particle {j}")));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        // Whoever cannot be told from what is a radius away is compared with all others, so that he does not widen the
        // buckets of those who can.
        let narrow: Vec<f64> = extent.iter().zip(radius).map(|(extent, radius)| extent.min(2.0 * radius)).collect();
        let lost = (0..end.len()).filter(|a| narrow[*a] < extent[*a]);
        for (a, b) in lost.flat_map(|a| (0..end.len()).filter(move |b| *b != a).map(move |b| (a, b))) {
            if look(a, b).is_break() {
                break;
            }
        }
        let _ = partners_in(cell.as_ref(), end, &narrow, |a, partners| {
            partners.iter().try_for_each(|b| look(a as usize, *b as usize))
        });
        found
    }

    fn refuse_far_obstacles(&self, now: &SubstepInput, allowed: f64) -> Result<(), StepError> {
        for k in 0..now.walls.len() {
            let (placed, numbers) = (now.walls.get(k), now.walls.get(k).numbers());
            let turns = !now.obstacles[k].shape.is_flat();
            for (i, &radius) in now.state.particles.radius.iter().enumerate() {
                let end = self.end(i, now);
                let sizes = end.abs().max(numbers);
                let most = most_uncertainty(sizes, now.length);
                if most <= allowed || !now.walls.may_reach(k, end, radius + most) {
                    continue;
                }
                let mut found = Ok(());
                placed.touches(end, radius, most, &mut |touch| {
                    let rounding = uncertainty(touch.normal, sizes, if turns { now.length } else { f64::INFINITY });
                    if rounding > allowed && touch.gap <= rounding {
                        let name = format!("obstacle `{}`", now.obstacles[k].name);
                        let size = sizes.max_element();
                        found = Err(Unclear { particle: i, end, size, rounding, allowed }.with(name));
                    }
                });
                found?;
            }
        }
        Ok(())
    }
}

/// A particle where a gap cannot be told, and why.
struct Unclear {
    particle: usize,
    end: DVec3,
    size: f64,
    rounding: f64,
    allowed: f64,
}

impl Unclear {
    fn with(self, partner: String) -> StepError {
        let Self { particle, end, size, rounding, allowed } = self;
        let axis = (0..3).fold(0, |far, axis| if end[axis].abs() > end[far].abs() { axis } else { far });
        let (coordinate, axis) = (end[axis], ["x", "y", "z"][axis]);
        StepError::Unresolved { particle, axis, coordinate, partner, size, rounding, allowed }
    }
}
