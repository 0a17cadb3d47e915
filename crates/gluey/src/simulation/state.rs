//! The state (x, V, γ): all that the next step reads, and all that a checkpoint holds.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::clump::{Clump, Clumps};
use crate::contact::Contact;
use crate::geometry::Particles;
use crate::interaction::Bridge;
use crate::openings::Ledger;
use crate::projection::NO_CLUMP;
use crate::simulation::Crossings;

/// State at time tⁿ.
///
/// ```
/// use glam::DVec3;
/// use gluey::simulation::State;
///
/// let mut state = State::default();
/// state.particles.push(DVec3::X, 0.5, 2.0); // at x = 1, radius ½, mass 2
/// state.particles.velocity[0] = DVec3::Y * 3.0;
/// assert_eq!(state.kinetic_energy(), 9.0);
/// assert_eq!(state.angular_momentum(), DVec3::Z * 6.0);
/// assert!(state.step == 0 && state.contacts.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The number n of steps taken; tⁿ = n·dt.
    pub step: u64,
    /// Positions, velocities and constant properties of the particles, in the user's order.
    pub particles: Particles,
    /// Which of them are held together, and how these clumps move.
    pub clumps: Clumps,
    /// Contacts that are glued (γ < 0) or carried an impulse in the last step, sorted by pair.
    pub contacts: Vec<Contact>,
    /// The vectors u of the last step's impulses, Λ = max(lower, G u), one a particle: from them the next step looks for
    /// the least impulses. Empty where there was nothing to choose.
    pub least_norm_dual: Vec<DVec3>,
    /// Liquid bridges that pulled in the last step, sorted.
    pub bridges: Vec<Bridge>,
    /// What has gone through each gate since t = 0, in the order of [`Simulation::gates`](crate::simulation::Simulation);
    /// empty where there are none.
    pub crossings: Vec<Crossings>,
    /// What has passed the openings of the scene.
    pub ledger: Ledger,
}

impl State {
    /// ½ Σ m |V|² of the particles on their own, and ½ m |V|² + ½ ω · L of the clumps (energy).
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        if self.clumps.is_empty() {
            return self.particles.kinetic_energy();
        }
        let owners = self.clumps.owners(self.particles.len());
        let Particles { mass, velocity, .. } = &self.particles;
        let alone = owners.iter().zip(mass).zip(velocity).filter(|((owner, _), _)| **owner == NO_CLUMP);
        let of_particles: f64 = alone.map(|((_, mass), v)| 0.5 * mass * v.length_squared()).sum();
        of_particles + self.clumps.list.iter().map(Clump::kinetic_energy).sum::<f64>()
    }

    /// Σ x × m V, and the clumps' own L (mass · length² / time).
    #[must_use]
    pub fn angular_momentum(&self) -> DVec3 {
        let owners = self.clumps.owners(self.particles.len());
        let Particles { position, mass, velocity, .. } = &self.particles;
        let of = |i: usize| position[i].cross(velocity[i] * mass[i]);
        let alone = (0..owners.len()).filter(|i| owners[*i] == NO_CLUMP).map(of).sum::<DVec3>();
        let of_clump = |clump: &Clump| clump.centre.cross(clump.velocity * clump.mass) + clump.angular_momentum;
        alone + self.clumps.list.iter().map(of_clump).sum::<DVec3>()
    }
}
