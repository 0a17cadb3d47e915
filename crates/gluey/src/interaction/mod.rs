//! Forces between bodies that are near each other, as functions of the gap: liquid bridges of wet grains, and what an
//! expression says.
//!
//! A force F on particle i over a step h is an impulse hF. The environment's law of the a-priori velocity is linear in
//! the force on the particles, so whatever the environment is the impulse enters by its metric M alone,
//!
//! V^{n+1/2} ← V^{n+1/2} + M⁻¹ hF:
//!
//! - with inertia, (m + hζ) V^{n+1/2} = m Vⁿ + h (m g + F + ζu): F adds hF/(m + hζ), and M = m + hζ;
//! - without, V^{n+1/2} = u + (m g + F)/ζ: F adds F/ζ = hF/(hζ), and M = hζ;
//! - with the far field of all spheres, V^{n+1/2} = u + 𝓜 (m g + F): the forces add 𝓜F = (𝓜/h) hF, and M⁻¹ = 𝓜/h.
//!
//! Gaps are those at the start of the step: the forces are explicit. A force of stiffness k = −dF/dD between two
//! particles is stable for h² k (M_i⁻¹ + M_j⁻¹) < 2, and without drag for < 4; in a crowd the stiffnesses of all
//! neighbours add up.
//!
//! Both sides of a pair get the same impulse with opposite signs; what an obstacle gets is added to its load. There is
//! no potential energy of these forces: an expression need not have one, and bridges take energy away as they break.

mod bridge;
mod error;
mod pair_force;

use glam::DVec3;

pub use bridge::{Bridge, Bridging, Pull};
pub use error::InteractionError;
pub use pair_force::{Law, PAIR_VARIABLES, PairForce, Sides};

use crate::buffer::reset;
use crate::contact::{Contact, Pair, Partner};
use crate::environment::{Prediction, Span};
use crate::geometry::{Obstacle, Particles, Unplaced, WallPoses, Walls};
use crate::neighbours::{Balls, Neighbours};

/// By how much the balls of the list of neighbours exceed what the forces reach, as a share.
const SKIN: f64 = 0.15;

/// The pair forces of a scene.
#[derive(Default)]
pub struct Interactions {
    forces: Vec<PairForce>,
    neighbours: Neighbours,
    /// A ball around each particle; two that reach each other meet.
    extent: Vec<f64>,
    /// hF on each particle.
    impulses: Vec<DVec3>,
    /// hF on obstacles.
    on_obstacles: Vec<ObstacleImpulse>,
    /// The bridges of the step, sorted.
    bridges: Vec<Bridge>,
    /// Where obstacles are at the start of the step.
    walls: WallPoses,
}

/// What a step reads.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Where the particles are at the start of the step.
    pub particles: &'a Particles,
    /// The contacts of the last step, sorted by pair.
    pub contacts: &'a [Contact],
    /// The bridges of the last step, sorted.
    pub bridges: &'a [Bridge],
    /// Obstacles that forces may name.
    pub obstacles: &'a [Obstacle],
    /// The step.
    pub span: Span,
}

/// An impulse on an obstacle, and where it acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ObstacleImpulse {
    pub obstacle: u32,
    pub at: DVec3,
    pub impulse: DVec3,
}

/// Two bodies near each other.
struct Near {
    pair: Pair,
    gap: f64,
    sides: Sides,
}

impl Interactions {
    /// Checks the forces; obstacles and groups are those of the scene they are used in.
    pub fn new(mut forces: Vec<PairForce>) -> Result<Self, InteractionError> {
        forces.iter().try_for_each(PairForce::check)?;
        for force in &mut forces {
            force.obstacles.sort_unstable(); // in the order of pairs, so that bridges are found sorted
            force.obstacles.dedup();
        }
        Ok(Self { forces, ..Self::default() })
    }

    /// The forces, in the order in which bridges refer to them.
    #[must_use]
    pub fn forces(&self) -> &[PairForce] {
        &self.forces
    }

    /// Adds what the forces do in the step to the a-priori velocity, V^{n+1/2} + M⁻¹ hF, and finds the bridges that
    /// exist in it.
    pub fn act(&mut self, now: &Moment, prediction: &mut Prediction) -> Result<(), InteractionError> {
        if self.forces.is_empty() {
            return Ok(());
        }
        self.find_neighbours(now.particles);
        reset(&mut self.impulses, now.particles.len(), DVec3::ZERO);
        self.on_obstacles.clear();
        self.bridges.clear();
        self.place_obstacles(now)?;
        let Self { forces, neighbours, walls, impulses, on_obstacles, bridges, .. } = self;
        let mut pass = Pass { forces, neighbours, walls: walls.of(now.obstacles), impulses, on_obstacles, bridges };
        let mut ahead = *now; // its lists are gone through along with the pairs, all sorted
        for k in 0..forces.len() {
            ahead.contacts = now.contacts;
            for i in 0..now.particles.len() {
                pass.with_particles(k, i, &mut ahead)?;
                pass.with_obstacles(k, i, &mut ahead)?;
            }
        }
        prediction.add_impulses(&self.impulses);
        Ok(())
    }

    /// The bridges of the step that was taken become those of the state.
    pub(crate) fn remember_bridges(&mut self, bridges: &mut Vec<Bridge>) {
        if !self.forces.is_empty() {
            std::mem::swap(bridges, &mut self.bridges);
        }
    }

    /// What the forces of the step do to obstacles.
    pub(crate) fn on_obstacles(&self) -> &[ObstacleImpulse] {
        &self.on_obstacles
    }

    /// Puts obstacles where they are at the start of the step, if forces name some.
    fn place_obstacles(&mut self, now: &Moment) -> Result<(), InteractionError> {
        if self.forces.iter().all(|force| force.obstacles.is_empty()) {
            return Ok(());
        }
        let time = now.span.start;
        let refuse = |Unplaced { obstacle, why }| InteractionError::Unrepeatable {
            obstacle: now.obstacles[obstacle].name.clone(),
            why,
            time,
        };
        self.walls.place(now.obstacles, now.particles.cell.as_ref(), time).map_err(refuse)
    }

    /// All pairs in reach of a force, |x_i − x_j| ≤ r_i + r_j + reach, are then in the list.
    fn find_neighbours(&mut self, particles: &Particles) {
        let reach = self.forces.iter().map(PairForce::reach).fold(0.0, f64::max);
        self.extent.clear();
        self.extent.extend(particles.radius.iter().map(|radius| radius + 0.5 * reach));
        let extent = &self.extent;
        let balls = Balls { cell: particles.cell.as_ref(), centre: &particles.position, extent };
        self.neighbours.update(balls, |i| SKIN * extent[i], |_, _| true);
    }
}

/// What forces do to all bodies, one after the other.
struct Pass<'a> {
    forces: &'a [PairForce],
    neighbours: &'a Neighbours,
    /// Where obstacles are at the start of the step.
    walls: Walls<'a>,
    impulses: &'a mut [DVec3],
    on_obstacles: &'a mut Vec<ObstacleImpulse>,
    bridges: &'a mut Vec<Bridge>,
}

impl Pass<'_> {
    /// Force k between particle i and those after it.
    fn with_particles(&mut self, k: usize, i: usize, now: &mut Moment) -> Result<(), InteractionError> {
        let Particles { radius, mass, group, .. } = now.particles;
        for n in 0..self.neighbours.after(i).len() {
            let other = self.neighbours.after(i)[n];
            let j = other as usize;
            let Some(turned) = self.forces[k].joins(group[i], group[j]) else { continue };
            let (gap, normal) = now.particles.gap(i, j);
            let (first, second) = if turned { (j, i) } else { (i, j) };
            let sides = Sides { radius: [radius[first], radius[second]], mass: [mass[first], mass[second]] };
            let near = Near { pair: Pair::particles(i as u32, other), gap, sides };
            let impulse = normal * self.impulse(k, &near, now)?;
            self.impulses[i] -= impulse;
            self.impulses[j] += impulse;
        }
        Ok(())
    }

    /// Force k between particle i and the obstacles it names, where they are at the start of the step.
    fn with_obstacles(&mut self, k: usize, i: usize, now: &mut Moment) -> Result<(), InteractionError> {
        let (centre, radius, mass) = (now.particles.position[i], now.particles.radius[i], now.particles.mass[i]);
        let force = &self.forces[k];
        if !force.concerns(now.particles.group[i]) {
            return Ok(());
        }
        let reach = force.reach();
        for n in 0..force.obstacles.len() {
            let obstacle = self.forces[k].obstacles[n];
            if !self.walls.may_reach(obstacle as usize, centre, radius + reach) {
                continue;
            }
            let placed = self.walls.get(obstacle as usize);
            let sides = Sides {
                radius: [radius, now.obstacles[obstacle as usize].shape.ball_radius()],
                mass: [mass, f64::INFINITY],
            };
            let mut outcome = Ok(());
            placed.touches(centre, radius, reach, &mut |touch| {
                if outcome.is_err() {
                    return;
                }
                let near = Near { pair: Pair::obstacle(i as u32, obstacle, touch.feature), gap: touch.gap, sides };
                outcome = self.impulse(k, &near, now).map(|impulse| {
                    let at = placed.image_at(centre, radius, touch.feature) + touch.normal * radius;
                    let impulse = touch.normal * impulse;
                    self.impulses[i] -= impulse;
                    self.on_obstacles.push(ObstacleImpulse { obstacle, at, impulse });
                });
            });
            outcome?;
        }
        Ok(())
    }

    /// hF of force k between two bodies, > 0 pushes apart.
    fn impulse(&mut self, k: usize, near: &Near, now: &mut Moment) -> Result<f64, InteractionError> {
        let force = &self.forces[k];
        let time = now.span.start;
        let acts = near.gap <= force.reach()
            && match &force.law {
                Law::Expression { .. } => true,
                Law::Bridge(bridging) => {
                    let bridge = Bridge { force: k as u32, pair: near.pair };
                    let exists = bridging.exists(bridge, near.gap, now);
                    self.bridges.extend(exists.then_some(bridge));
                    exists
                }
            };
        if !acts {
            return Ok(0.0);
        }
        let value = force.push(near.gap, &near.sides, time);
        let impulse = value * now.span.dt;
        if impulse.is_finite() {
            return Ok(impulse);
        }
        let bodies = match near.pair.partner() {
            Partner::Particle(j) => format!("particles {} and {j}", near.pair.first()),
            Partner::Obstacle { obstacle, .. } => {
                format!("particle {} and obstacle `{}`", near.pair.first(), now.obstacles[obstacle as usize].name)
            }
        };
        let (force, gap) = (force.label.clone(), near.gap.max(0.0));
        Err(InteractionError::NotFinite { force, bodies, gap, time, value })
    }
}

#[cfg(test)]
mod tests;
