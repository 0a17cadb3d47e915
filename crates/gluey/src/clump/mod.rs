//! Rigid clumps of spheres.
//!
//! A clump is spheres that move as one: V_a = V + ω × a for a sphere at a from the centre of mass. Contact sees its
//! spheres, one by one, as it sees all others; only the metric of the projection knows that they are held together
//! ([`Rigid`](crate::projection::Rigid)).
//!
//! ```text
//! D + h e·(V_j + ω_j × a_j − V_i − ω_i × a_i) ≥ 0
//! ```

mod moves;
mod template;

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

pub use moves::{Integration, MOST_TURN, Moves, Overturn};
pub use template::{Ball, Template, TemplateError};

use crate::geometry::Particles;
use crate::projection::NO_CLUMP;

/// A rigid clump; its spheres are consecutive particles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clump {
    /// The first of its spheres, as an index into the particles.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Where their arms start in [`Clumps::arms`].
    pub arms: u32,
    /// Whether it moves in the plane z = 0 and turns about z alone.
    pub planar: bool,
    /// Mass (mass).
    pub mass: f64,
    /// Inertia about the centre of mass, in the frame of the clump (mass · length²).
    pub inertia: DMat3,
    /// Centre of mass (length).
    pub centre: DVec3,
    /// From the frame of the clump to that of space: a unit quaternion.
    pub orientation: DQuat,
    /// Velocity V of the centre of mass (length / time).
    pub velocity: DVec3,
    /// Angular momentum L about the centre of mass, in the frame of space (mass · length² / time).
    pub angular_momentum: DVec3,
}

impl Clump {
    /// Its spheres among the particles.
    #[must_use]
    pub fn spheres(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// R I Rᵀ (mass · length²).
    #[must_use]
    pub fn inertia_in_space(&self, orientation: DQuat) -> DMat3 {
        let turn = DMat3::from_quat(orientation);
        turn * self.inertia * turn.transpose()
    }

    /// ω = (R I Rᵀ)⁻¹ L (1 / time).
    #[must_use]
    pub fn spin(&self) -> DVec3 {
        inverse(self.inertia_in_space(self.orientation), self.planar) * self.angular_momentum
    }

    /// ½ m |V|² + ½ ω · L (energy).
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        0.5 * self.mass * self.velocity.length_squared() + 0.5 * self.spin().dot(self.angular_momentum)
    }
}

/// The inverse of an inertia; of one in the plane only that about z.
fn inverse(inertia: DMat3, planar: bool) -> DMat3 {
    if planar { DMat3::from_diagonal(DVec3::new(0.0, 0.0, inertia.z_axis.z.recip())) } else { inertia.inverse() }
}

/// The clumps of a state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clumps {
    /// The clumps, in the order of their spheres.
    pub list: Vec<Clump>,
    /// Where their spheres are in the clumps' frames, from the centres of mass (length).
    pub arms: Vec<DVec3>,
}

/// Where a clump is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Centre of mass (length).
    pub centre: DVec3,
    /// From the frame of the template to that of space.
    pub orientation: DQuat,
    /// Velocity of the centre of mass (length / time).
    pub velocity: DVec3,
    /// Spin ω (1 / time).
    pub spin: DVec3,
}

impl Clumps {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Where the spheres of a clump are in its frame.
    #[must_use]
    pub fn arms_of(&self, clump: &Clump) -> &[DVec3] {
        &self.arms[clump.arms as usize..(clump.arms + clump.count) as usize]
    }

    /// The clump of each of so many particles, or [`NO_CLUMP`].
    #[must_use]
    pub fn owners(&self, particles: usize) -> Vec<u32> {
        let mut owners = vec![NO_CLUMP; particles];
        for (k, clump) in self.list.iter().enumerate() {
            owners[clump.spheres()].fill(k as u32);
        }
        owners
    }

    /// Tells the new indices of particles, or none for those that are gone: with its first sphere a clump goes.
    pub fn renumber(&mut self, index: impl Fn(u32) -> Option<u32>) {
        let old = std::mem::take(&mut self.arms);
        self.list.retain_mut(|clump| {
            let Some(first) = index(clump.first) else { return false };
            let arms = self.arms.len() as u32;
            self.arms.extend_from_slice(&old[clump.arms as usize..(clump.arms + clump.count) as usize]);
            (clump.first, clump.arms) = (first, arms);
            true
        });
    }

    /// Adds a clump, and its spheres to the particles.
    pub fn push(&mut self, template: &Template, start: &Start, group: u32, particles: &mut Particles) {
        let Start { centre, orientation, velocity, spin } = *start;
        let centre = particles.cell.map_or(centre, |cell| cell.wrap(centre));
        let (first, arms) = (particles.len() as u32, self.arms.len() as u32);
        for ball in &template.balls {
            self.arms.push(ball.position);
            particles.push(centre, ball.radius, ball.mass);
            *particles.group.last_mut().unwrap_or(&mut 0) = group;
        }
        let mut clump = Clump {
            first,
            count: template.balls.len() as u32,
            arms,
            planar: template.planar,
            mass: template.mass(),
            inertia: template.inertia,
            centre,
            orientation: orientation.normalize(),
            velocity,
            angular_momentum: DVec3::ZERO,
        };
        clump.angular_momentum = clump.inertia_in_space(clump.orientation) * spin;
        self.list.push(clump);
        self.place(self.list.len() - 1, particles);
    }

    /// Puts the spheres of a clump where it has them, with the velocities that it gives them.
    pub(crate) fn place(&self, k: usize, particles: &mut Particles) {
        let clump = &self.list[k];
        let spin = clump.spin();
        for (sphere, arm) in clump.spheres().zip(self.arms_of(clump)) {
            let arm = clump.orientation * *arm;
            let position = clump.centre + arm;
            particles.position[sphere] = particles.cell.map_or(position, |cell| cell.wrap(position));
            particles.velocity[sphere] = clump.velocity + spin.cross(arm);
        }
    }
}
