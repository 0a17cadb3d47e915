//! Who has left a wall of a container that turns when it has turned by an angle.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

use glam::DVec3;

use crate::contact::{ContactGeometry, Partner};
use crate::geometry::Particles;

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
    use super::*;
    use crate::contact::{Contact, Pair};

    fn touch(particle: u32, wall: u32, normal: DVec3) -> ContactGeometry {
        let contact = Contact { pair: Pair::obstacle(particle, 0, wall), gamma: 0.0, impulse: 1.0 };
        ContactGeometry { contact, gap: 0.0, normal }
    }

    fn ten() -> Particles {
        let mut particles = Particles::default();
        (0..10).for_each(|k| particles.push(DVec3::X * f64::from(k), 0.5, 1.0));
        particles
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
            passages.look(&ten(), &contacts);
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
        let particles = ten();
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
        let mut particles = ten();
        passages.look(&particles, &[touch(1, 0, normal(29.0))]);
        passages.look(&particles, &[touch(1, 0, normal(31.0))]);
        particles.retain(|i| i != 0);
        passages.look(&particles, &[touch(0, 0, normal(60.0))]);
        assert_eq!(passages.share(1.0), Some(1.0), "particle 0 of this frame was particle 1");
        passages.look(&particles, &[touch(1, 0, normal(90.0))]);
        assert_eq!(passages.share(1.6), Some(0.0), "and this one is somebody else");
    }
}
