//! Figures that sum up a moment of a run, or how long particles stay where they are.
//!
//! | figure | of |
//! |---|---|
//! | [`solid_fraction`] | the part of a [`Region`] that particles fill |
//! | [`Coordination`] | how many contacts particles have |
//! | [`Network`] | forces and glue of the contacts |
//! | [`contact_stress`], [`kinetic_stress`] | the mean stress in a region |
//! | [`Settling`] | mean velocity along a direction, fluctuation, granular temperature |
//! | [`Clusters`] | particles that hang together, their size and shape |
//! | [`sandbox_dimension`], [`gyration_dimension`] | the fractal dimension of clusters |
//! | [`net_crossings`], [`comings_and_goings`] | who went through a plane between two frames, and who came or left |
//! | [`height`], [`hanging`], [`mixing`] | height h = Σ m x·e / Σ m, who hangs from obstacles, how well groups are mixed |
//! | [`Passages`] | who has left the wall of a container that turns |
//!
//! What is counted is [`Bodies`]: particles, and clumps as one each.
//!
//! A [`Measure`] is one of these by name, with its columns in the time series. Pair geometry is that of the contacts, normal
//! and gap, never a difference of positions: it holds across periodic boundaries too.

mod bodies;
mod clusters;
mod coordination;
mod figure;
mod fractal;
mod instrument;
mod mixing;
mod network;
mod overlap;
mod passages;
mod region;
mod settling;
mod stress;

use std::collections::BTreeSet;
use std::f64::consts::FRAC_1_SQRT_2;

use glam::DVec3;

pub use bodies::Bodies;
pub use clusters::Clusters;
pub use coordination::Coordination;
pub use figure::{Figure, Quantity, of_stress};
pub use fractal::{Fit, gyration_dimension, gyration_radius, sandbox_dimension};
pub use instrument::{Instrument, Measure, Moment, observe};
pub use mixing::mixing;
pub use network::{Network, Quantiles};
pub use passages::{Passages, START};
pub use region::{Region, RegionError, solid_fraction};
pub use settling::Settling;
pub use stress::{components, contact_stress, kinetic_stress, pressure};

use crate::contact::{ContactGeometry, Partner};
use crate::geometry::Particles;
use crate::simulation::{Crossings, Gate};

/// What went through a gate between two moments, by the sides on which the centres of those who are there at both, known by
/// their ids, were and are; in a periodic cell along the shortest way. Who went there and back counts as nothing, and so does
/// who came or left: the gates of a simulation count by motion instead.
#[must_use]
pub fn net_crossings(gate: &Gate, before: &Bodies, after: &Bodies) -> Crossings {
    let mut crossings = Crossings::default();
    for (body, to) in after.centres().iter().enumerate() {
        let Some(was) = before.find(after.id(body)) else { continue };
        let from = before.centres()[was];
        let way = after.particles().cell.map_or(*to - from, |cell| cell.shortest(*to - from));
        gate.count(from, from + way, after.volume(body, gate.dimension), &mut crossings);
    }
    crossings
}

/// How many bodies are there at one of two moments only: they came or left between.
#[must_use]
pub fn comings_and_goings(before: &Bodies, after: &Bodies) -> usize {
    let stayed = (0..after.len()).filter(|body| before.find(after.id(*body)).is_some()).count();
    before.len() + after.len() - 2 * stayed
}

/// Height of the centre of mass in the direction `up`, a unit vector (length); 0 without particles.
#[must_use]
pub fn height(particles: &Particles, up: DVec3) -> f64 {
    let moment: f64 = particles.mass.iter().zip(&particles.position).map(|(m, x)| m * x.dot(up)).sum();
    if particles.is_empty() { 0.0 } else { moment / particles.mass.iter().sum::<f64>() }
}

/// The share of particles that touch an obstacle above them: one whose wall is within 45 degrees of level.
#[must_use]
pub fn hanging(particles: &Particles, contacts: &[ContactGeometry], up: DVec3) -> f64 {
    let above = |contact: &&ContactGeometry| contact.normal.dot(up) > FRAC_1_SQRT_2;
    let walls = |contact: &&ContactGeometry| matches!(contact.contact.pair.partner(), Partner::Obstacle { .. });
    let hanging: BTreeSet<u32> =
        contacts.iter().filter(walls).filter(above).map(|contact| contact.contact.pair.first()).collect();
    hanging.len() as f64 / particles.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Contact, Pair};
    use crate::geometry::volume;

    #[test]
    fn the_centre_of_mass_is_weighted() {
        let mut particles = Particles::default();
        particles.push(DVec3::new(0.0, 1.0, 0.0), 1.0, 3.0);
        particles.push(DVec3::new(0.0, 5.0, 0.0), 1.0, 1.0);
        assert_eq!(height(&particles, DVec3::Y), 2.0);
        assert_eq!(height(&Particles::default(), DVec3::Y), 0.0);
    }

    fn touch(particle: u32, wall: u32, normal: DVec3) -> ContactGeometry {
        let contact = Contact { pair: Pair::obstacle(particle, 0, wall), gamma: 0.0, impulse: 1.0 };
        ContactGeometry { contact, gap: 0.0, normal }
    }

    #[test]
    fn a_clump_goes_through_a_gate_with_its_centre_and_who_came_or_left_is_told() {
        let gate = Gate { point: DVec3::X, normal: DVec3::X, dimension: 2 };
        let at = |x: &[f64]| {
            let mut particles = Particles::default();
            for x in x {
                particles.push(DVec3::X * *x, 0.5, 1.0);
            }
            particles
        };
        let (mut before, mut after) = (at(&[0.5, 0.6, 1.3, 3.0]), at(&[1.5, 0.7, 1.4, 3.0]));
        let clump = [u32::MAX, 0, 0, u32::MAX];
        let counted = |before: &Particles, after: &Particles| {
            let (before, after) = (Bodies::of(before, &clump), Bodies::of(after, &clump));
            (net_crossings(&gate, &before, &after), comings_and_goings(&before, &after))
        };
        let (crossings, _) = counted(&before, &after);
        assert_eq!(crossings.number, 2, "one on its own, and the clump as one");
        assert!((crossings.volume - 3.0 * volume(0.5, 2)).abs() < 1e-15);
        before.id[3] = 8;
        after.id[3] = 9;
        assert_eq!(counted(&before, &after), (crossings, 2));
    }

    #[test]
    fn who_hangs_is_counted_once() {
        let mut particles = Particles::default();
        (0..400).for_each(|i| particles.push(DVec3::X * f64::from(i), 0.5, 1.0));
        let contacts = [touch(0, 0, DVec3::Y), touch(0, 1, DVec3::Y), touch(1, 2, DVec3::X), touch(2, 3, -DVec3::Y)];
        assert_eq!(hanging(&particles, &contacts, DVec3::Y), 1.0 / 400.0);
    }
}
