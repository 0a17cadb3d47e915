//! Figures that sum up a moment of a run, or how long particles stay where they are.
//!
//! Height of the centre of mass, h = Σ m x·e / Σ m; the share of particles that hang from obstacles; how well the groups
//! are mixed; and, for containers that turn, [`Passages`]: who has left a wall when it has turned by an angle.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

use glam::DVec3;
use rstar::RTree;
use rstar::primitives::GeomWithData;

use crate::contact::{ContactGeometry, Partner};
use crate::geometry::Particles;

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

/// Neighbours of a particle that are looked at: as many as touch one in the densest packing.
fn neighbours(dimension: usize) -> usize {
    if dimension == 2 { 6 } else { 12 }
}

/// How well the groups are mixed: the share of strangers, particles of another group, among the nearest six (twelve in 3D)
/// of each particle, relative to that in a random arrangement. 0 where the groups are far apart, 1 where a particle's
/// place tells nothing of its group. None if there are not two groups.
#[must_use]
pub fn mixing(particles: &Particles, dimension: usize) -> Option<f64> {
    let count = particles.len() as f64;
    let mut sizes: BTreeMap<u32, f64> = BTreeMap::new();
    for group in &particles.group {
        *sizes.entry(*group).or_default() += 1.0;
    }
    if sizes.len() < 2 {
        return None;
    }
    // A particle of a group of n has N − n strangers among the N − 1 others.
    let random: f64 = sizes.values().map(|n| n / count * (count - n) / (count - 1.0)).sum();
    let places = particles.position.iter().zip(0_u32..);
    let tree = RTree::bulk_load(places.map(|(x, i)| GeomWithData::new(x.to_array(), i)).collect());
    let strangers = |i: usize| {
        let near = tree.nearest_neighbor_iter(particles.position[i].to_array());
        let others = near.map(|point| point.data as usize).filter(|j| *j != i).take(neighbours(dimension));
        let (mut strangers, mut seen) = (0.0, 0.0);
        for j in others {
            seen += 1.0;
            strangers += f64::from(u8::from(particles.group[j] != particles.group[i]));
        }
        strangers / seen
    };
    Some((0..particles.len()).map(strangers).sum::<f64>() / count / random)
}

/// The angle from the bottom at which the particles on a wall are counted (rad): they have come to rest on it.
pub const START: f64 = 30.0 * TAU / 360.0;

/// Walls of a container that turns, followed from [`START`] past the bottom of the turn, and the particles that were on
/// them then. A particle that comes back counts again: those of a dry heap that rearranges lose touch for a moment.
#[derive(Clone, Debug)]
pub struct Passages {
    up: DVec3,
    /// Where a wall at the bottom moves to.
    ahead: DVec3,
    /// Where each wall was when it was last touched: its angle from the bottom, in (−π, π].
    last: BTreeMap<(u32, u32), f64>,
    /// Walls on their way, and how far they have come.
    under_way: BTreeMap<(u32, u32), Passage>,
    /// Those whose turn is over.
    done: Vec<Passage>,
}

/// One wall on its way around.
#[derive(Clone, Debug, Default)]
struct Passage {
    /// Who was on the wall at the start, by id.
    start: BTreeSet<u64>,
    /// Angles from the bottom (rad, increasing) and how many of them were on it.
    record: Vec<(f64, usize)>,
}

impl Passages {
    /// A container that turns about `axis`, right-handed; `up` is a unit vector across it.
    #[must_use]
    pub fn new(up: DVec3, axis: DVec3) -> Self {
        let ahead = up.cross(axis).normalize_or_zero();
        Self { up, ahead, last: BTreeMap::new(), under_way: BTreeMap::new(), done: Vec::new() }
    }

    /// Looks at the next frame, which has come before a wall has turned by half a turn. Its contacts name particles by
    /// index; followed are these by their ids.
    pub fn look(&mut self, particles: &Particles, contacts: &[ContactGeometry]) {
        let mut walls: BTreeMap<(u32, u32), (DVec3, BTreeSet<u64>)> = BTreeMap::new();
        for contact in contacts {
            if let Partner::Obstacle { obstacle, feature } = contact.contact.pair.partner() {
                let (normal, touching) = walls.entry((obstacle, feature)).or_default();
                *normal = contact.normal;
                touching.insert(particles.id[contact.contact.pair.first() as usize]);
            }
        }
        for (wall, (normal, touching)) in &walls {
            let angle = normal.dot(self.ahead).atan2(-normal.dot(self.up));
            let before = self.last.insert(*wall, angle);
            if let Some(passage) = self.under_way.get_mut(wall) {
                let turned = (angle - START).rem_euclid(TAU) + START;
                if passage.record.last().is_some_and(|(furthest, _)| turned < *furthest) {
                    self.done.extend(self.under_way.remove(wall)); // it is at the start again
                } else {
                    passage.record.push((turned, passage.start.intersection(touching).count()));
                }
            }
            if before.is_some_and(|before| before < START && angle >= START && angle - before < 0.5 * TAU) {
                let passage = Passage { start: touching.clone(), record: vec![(angle, touching.len())] };
                self.done.extend(self.under_way.insert(*wall, passage));
            }
        }
        // Where a wall is that nobody touches is not known; that nobody touches it is.
        for (wall, passage) in &mut self.under_way {
            if let (false, Some((at, _))) = (walls.contains_key(wall), passage.record.last().copied()) {
                passage.record.push((at, 0));
            }
        }
    }

    /// The share of particles that were on a wall at [`START`] and are when it has turned to `angle` from the bottom (rad),
    /// over all walls that got there or were left before. None if there is no such wall.
    #[must_use]
    pub fn share(&self, angle: f64) -> Option<f64> {
        let (mut staying, mut all) = (0, 0);
        for passage in self.done.iter().chain(self.under_way.values()) {
            let next = passage.record.partition_point(|(at, _)| *at <= angle);
            let Some((_, left)) = passage.record[..next].last() else { continue };
            // A wall that is bare is taken to be so wherever it goes next.
            if angle >= START && (passage.record.len() > next || *left == 0) {
                (staying, all) = (staying + left, all + passage.start.len());
            }
        }
        (all > 0).then(|| staying as f64 / all as f64)
    }

    /// The angle (rad) at which half of the particles have left the wall; none if it was not seen that far.
    #[must_use]
    pub fn departure(&self) -> Option<f64> {
        let angles = (0..=720).map(|half_degrees| START + f64::from(half_degrees) * TAU / 720.0);
        angles
            .take_while(|angle| *angle < START + TAU)
            .find(|angle| self.share(*angle).is_some_and(|share| share < 0.5))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::contact::{Contact, Pair};

    fn lattice(mut group: impl FnMut(i32, i32) -> u32) -> Particles {
        let mut particles = Particles::default();
        for (i, j) in (0..20).flat_map(|i| (0..20).map(move |j| (i, j))) {
            particles.push(DVec3::new(f64::from(i) + 0.5 * f64::from(j % 2), 0.866 * f64::from(j), 0.0), 0.5, 1.0);
            if let Some(last) = particles.group.last_mut() {
                *last = group(i, j);
            }
        }
        particles
    }

    #[test]
    fn the_centre_of_mass_is_weighted() {
        let mut particles = Particles::default();
        particles.push(DVec3::new(0.0, 1.0, 0.0), 1.0, 3.0);
        particles.push(DVec3::new(0.0, 5.0, 0.0), 1.0, 1.0);
        assert_eq!(height(&particles, DVec3::Y), 2.0);
        assert_eq!(height(&Particles::default(), DVec3::Y), 0.0);
    }

    #[test]
    fn mixing_is_0_apart_and_1_at_random() {
        let halves = mixing(&lattice(|i, _| u32::from(i >= 10)), 2).unwrap();
        assert!((0.05..0.15).contains(&halves), "only those at the border have strangers beside them: {halves}");
        let mut dice = Pcg64::seed_from_u64(1);
        let random = mixing(&lattice(|_, _| u32::from(dice.random::<bool>())), 2);
        assert!((random.unwrap() - 1.0).abs() < 0.1, "{random:?}");
        assert_eq!(mixing(&lattice(|_, _| 3), 2), None);
    }

    fn touch(particle: u32, wall: u32, normal: DVec3) -> ContactGeometry {
        let contact = Contact { pair: Pair::obstacle(particle, 0, wall), gamma: 0.0, impulse: 1.0 };
        ContactGeometry { contact, gap: 0.0, normal }
    }

    #[test]
    fn who_hangs_is_counted_once() {
        let particles = lattice(|_, _| 0);
        let contacts = [touch(0, 0, DVec3::Y), touch(0, 1, DVec3::Y), touch(1, 2, DVec3::X), touch(2, 3, -DVec3::Y)];
        assert_eq!(hanging(&particles, &contacts, DVec3::Y), 1.0 / 400.0);
    }

    /// A wall with eight particles, of which the k-th leaves it at 40k degrees; it turns twice.
    fn turned(axis: DVec3) -> Passages {
        let mut passages = Passages::new(DVec3::Y, axis);
        for degree in -10..700_i32 {
            let angle = f64::from(degree).to_radians();
            let normal = DVec3::new(axis.z * angle.sin(), -angle.cos(), 0.0);
            let gone = |k: i32| (40 * k..345).contains(&degree.rem_euclid(360));
            let contacts: Vec<ContactGeometry> =
                (1..=8).filter(|k| !gone(*k)).map(|k| touch(k as u32, 0, normal)).collect();
            passages.look(&lattice(|_, _| 0), &contacts);
        }
        passages
    }

    #[test]
    fn a_wall_is_followed_around_in_either_direction() {
        for axis in [DVec3::Z, DVec3::NEG_Z] {
            let passages = turned(axis);
            let share = |degrees: f64| passages.share(degrees.to_radians()).unwrap();
            assert_eq!(passages.share(0.1), None);
            assert_eq!([share(35.0), share(50.0), share(130.0), share(300.0)], [1.0, 7.0 / 8.0, 5.0 / 8.0, 1.0 / 8.0]);
            let half = passages.departure().unwrap().to_degrees();
            assert!((half - 200.0).abs() < 1.1, "the fifth of eight leaves at 200 degrees: {half}");
        }
    }

    #[test]
    fn a_wall_that_is_bare_has_been_left_by_all() {
        let mut passages = Passages::new(DVec3::Y, DVec3::Z);
        let normal = |degrees: f64| DVec3::new(degrees.to_radians().sin(), -degrees.to_radians().cos(), 0.0);
        let particles = lattice(|_, _| 0);
        passages.look(&particles, &[touch(1, 0, normal(29.0))]);
        passages.look(&particles, &[touch(1, 0, normal(31.0))]);
        assert_eq!(passages.departure(), None, "it was not seen further");
        passages.look(&particles, &[]);
        assert_eq!(passages.share(1.0), Some(0.0));
    }
    #[test]
    fn a_particle_is_followed_under_another_index() {
        let mut passages = Passages::new(DVec3::Y, DVec3::Z);
        let normal = |degrees: f64| DVec3::new(degrees.to_radians().sin(), -degrees.to_radians().cos(), 0.0);
        let mut particles = lattice(|_, _| 0);
        passages.look(&particles, &[touch(1, 0, normal(29.0))]);
        passages.look(&particles, &[touch(1, 0, normal(31.0))]);
        particles.retain(|i| i != 0);
        passages.look(&particles, &[touch(0, 0, normal(60.0))]);
        assert_eq!(passages.share(1.0), Some(1.0), "particle 0 of this frame was particle 1");
        passages.look(&particles, &[touch(1, 0, normal(90.0))]);
        assert_eq!(passages.share(1.6), Some(0.0), "and this one is somebody else");
    }
}
