//! Inlets and outlets: particles that come while a run goes on, and particles that leave it.
//!
//! After a whole step, never within one, those in an outlet leave; then each inlet lets in what it owes:
//!
//! ```text
//! N(t) = N(0) + entered(t) − left(t),   entered(t) + waiting(t) = ⌊∫ a dt⌋ for each inlet of rate a(t).
//! ```
//!
//! Who finds no room waits for the next step. Everyone has one id for life ([`Particles::id`]), while indices close up:
//! the order of those who stay is that of before, so that lists sorted by pair stay sorted.
//!
//! All of it is a function of the state: random places are drawn by counting, and the counts are in the [`Ledger`].

mod crowd;
mod dice;
mod inlet;
mod outlet;
mod region;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::clump::Clumps;
use crate::contact::Contact;
use crate::environment::{Dimension, EnvironmentError};
use crate::geometry::{Images, Obstacle, Particles, Placed, retain};
use crate::interaction::Bridge;
use crate::projection::NO_CLUMP;
use inlet::Door;

pub use inlet::{Inlet, Weight};
pub use outlet::Outlet;
pub use region::Region;

/// The openings of a scene.
#[derive(Clone, Debug, Default)]
pub struct Openings {
    /// Where particles come in.
    pub inlets: Vec<Inlet>,
    /// Where they leave.
    pub outlets: Vec<Outlet>,
    /// Seed of the places and radii.
    pub seed: u64,
    /// Of the scene.
    pub dimension: Dimension,
}

/// So many particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// How many.
    pub number: u64,
    /// Their volume, in 2D that of discs of unit thickness (length³).
    pub volume: f64,
    /// Their mass (mass).
    pub mass: f64,
}

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.number += other.number;
        self.volume += other.volume;
        self.mass += other.mass;
    }
}

/// What has come through an inlet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entered {
    /// Who has.
    pub amount: Amount,
    /// Places tried, which is where its random numbers go on.
    pub tries: u64,
}

/// What has passed each opening since the start: a part of the state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// One entry an inlet, in the scene's order; none before the first step.
    pub inlets: Vec<Entered>,
    /// One entry an outlet.
    pub outlets: Vec<Amount>,
}

/// What has passed all openings together since the start, and who waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// Who has come in.
    pub entered: Amount,
    /// Who has left.
    pub left: Amount,
    /// How many are due and have found no room yet.
    pub waiting: u64,
}

/// The part of the state that openings change.
pub struct Inside<'a> {
    /// Everyone.
    pub particles: &'a mut Particles,
    /// Sorted by pair.
    pub contacts: &'a mut Vec<Contact>,
    /// One a particle, or none at all.
    pub least_norm_dual: &'a mut Vec<DVec3>,
    /// Sorted by force and pair.
    pub bridges: &'a mut Vec<Bridge>,
    /// Those who leave together.
    pub clumps: &'a mut Clumps,
    /// What has passed.
    pub ledger: &'a mut Ledger,
}

impl Openings {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inlets.is_empty() && self.outlets.is_empty()
    }

    /// The smallest radius that may come in; infinite where nobody does.
    #[must_use]
    pub fn smallest_radius(&self) -> f64 {
        self.inlets.iter().map(|inlet| inlet.radii[0]).fold(f64::INFINITY, f64::min)
    }

    /// How many have to have come through each inlet by a time.
    pub fn due(&self, time: f64) -> Result<Vec<u64>, EnvironmentError> {
        self.inlets.iter().map(|inlet| inlet.due(time)).collect()
    }

    /// Takes away who is in an outlet, then lets in who is due, at the end of a step.
    pub fn pass(&self, time: f64, due: &[u64], obstacles: &[Obstacle], inside: &mut Inside) -> Traffic {
        inside.ledger.inlets.resize(self.inlets.len(), Entered::default());
        inside.ledger.outlets.resize(self.outlets.len(), Amount::default());
        self.release(time, inside);
        self.admit(time, due, obstacles, inside);
        inside.ledger.traffic(due)
    }

    /// Who is in an outlet leaves, through the first one that takes them.
    fn release(&self, time: f64, inside: &mut Inside) {
        let particles = &*inside.particles;
        let owner = inside.clumps.owners(particles.len());
        let centre = |i: usize| match owner[i] {
            NO_CLUMP => particles.position[i],
            clump => inside.clumps.list[clump as usize].centre,
        };
        let through = |i| self.outlets.iter().position(|outlet| outlet.takes(centre(i), particles.group[i], time));
        let leaving: Vec<(usize, usize)> = (0..particles.len()).filter_map(|i| Some((i, through(i)?))).collect();
        for &(i, outlet) in &leaving {
            let volume = self.dimension.volume(particles.radius[i]);
            inside.ledger.outlets[outlet] += Amount { number: 1, volume, mass: particles.mass[i] };
        }
        if !leaving.is_empty() {
            inside.remove(&leaving.iter().map(|(i, _)| *i as u32).collect::<Vec<_>>());
        }
    }

    /// Who is due comes in.
    fn admit(&self, time: f64, due: &[u64], obstacles: &[Obstacle], inside: &mut Inside) {
        let late = |(entered, due): (&Entered, &u64)| entered.amount.number < *due;
        if !inside.ledger.inlets.iter().zip(due).any(late) {
            return;
        }
        let cell = inside.particles.cell;
        let images = |obstacle: &Obstacle| Images::of(&obstacle.at(time), &cell?).ok();
        let images: Vec<Option<Images>> = obstacles.iter().map(images).collect();
        let placed =
            obstacles.iter().zip(&images).map(|(obstacle, images)| obstacle.at(time).repeated(images.as_ref()));
        let placed: Vec<Placed> = placed.collect();
        for (index, (inlet, due)) in self.inlets.iter().zip(due).enumerate() {
            let door = Door { index: index as u64, seed: self.seed, dimension: self.dimension, obstacles: &placed };
            let mut so_far = inside.ledger.inlets[index];
            inlet.admit(*due, &door, &mut so_far, inside);
            inside.ledger.inlets[index] = so_far;
        }
    }
}

impl Ledger {
    /// All openings together, where so many are due at each inlet.
    fn traffic(&self, due: &[u64]) -> Traffic {
        let mut traffic = Traffic::default();
        for (entered, due) in self.inlets.iter().zip(due) {
            traffic.entered += entered.amount;
            traffic.waiting += due.saturating_sub(entered.amount.number);
        }
        for amount in &self.outlets {
            traffic.left += *amount;
        }
        traffic
    }
}

impl Inside<'_> {
    /// A particle at rest, with no contacts.
    fn add(&mut self, position: DVec3, radius: f64, mass: f64) {
        self.particles.push(position, radius, mass);
        if !self.least_norm_dual.is_empty() {
            self.least_norm_dual.push(DVec3::ZERO);
        }
    }

    /// Particles, by increasing index, go, and their contacts with them. The order of the others stays, and so does
    /// that of their contacts.
    fn remove(&mut self, gone: &[u32]) {
        let index = |old: u32| gone.binary_search(&old).err().map(|before| old - before as u32);
        self.contacts.retain_mut(|contact| {
            let pair = contact.pair.renumbered(index);
            contact.pair = pair.unwrap_or(contact.pair);
            pair.is_some()
        });
        self.bridges.retain_mut(|bridge| {
            let pair = bridge.pair.renumbered(index);
            bridge.pair = pair.unwrap_or(bridge.pair);
            pair.is_some()
        });
        let stays = |i: usize| gone.binary_search(&(i as u32)).is_err();
        self.particles.retain(stays);
        self.clumps.renumber(index);
        retain(self.least_norm_dual, stays);
    }
}
