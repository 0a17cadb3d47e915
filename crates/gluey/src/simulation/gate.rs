//! Planes at which crossings are counted.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::clump::{Clump, Moves};
use crate::geometry::{Particles, volume};

/// A plane. What moves along its normal counts as 1, what moves against it as −1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// A point of it (length).
    pub point: DVec3,
    /// Its normal, of any length but 0.
    pub normal: DVec3,
    /// 2 or 3: whether areas or volumes are summed.
    pub dimension: usize,
}

/// What has gone through a gate, net: those against the normal are taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crossings {
    /// Centres.
    pub number: i64,
    /// Their volume; in 2D their area.
    pub volume: f64,
}

impl Gate {
    /// Whether a point lies ahead of the plane or on it.
    #[must_use]
    pub fn is_past(&self, point: DVec3) -> bool {
        (point - self.point).dot(self.normal) >= 0.0
    }

    /// Adds a body of this volume that has gone from one point to another.
    pub fn count(&self, from: DVec3, to: DVec3, volume: f64, crossings: &mut Crossings) {
        let sense = i64::from(self.is_past(to)) - i64::from(self.is_past(from));
        if sense != 0 {
            crossings.number += sense;
            crossings.volume += sense as f64 * volume;
        }
    }
}

/// Who moves, and how far: by their motion, so that what a boundary does with positions afterwards is no crossing.
pub(super) struct Traffic<'a> {
    pub particles: &'a Particles,
    /// Velocities of the particles on their own.
    pub velocity: &'a [DVec3],
    /// Clumps, whose centres of mass count instead of their spheres,
    pub clumps: &'a [Clump],
    /// and how they move.
    pub moves: &'a Moves,
    pub dt: f64,
}

impl Traffic<'_> {
    /// Adds those who go through gates as they move by hV.
    pub(super) fn count(&self, gates: &[Gate], crossings: &mut Vec<Crossings>) {
        let Self { particles, velocity, clumps, moves, dt } = *self;
        crossings.resize(gates.len(), Crossings::default());
        for (gate, crossings) in gates.iter().zip(crossings) {
            let size = |i: usize| volume(particles.radius[i], gate.dimension);
            let mut next = 0;
            let mut alone = |spheres: std::ops::Range<usize>| {
                for i in spheres {
                    let x = particles.position[i];
                    gate.count(x, x + velocity[i] * dt, size(i), crossings);
                }
            };
            for clump in clumps {
                alone(next..clump.first as usize);
                next = clump.spheres().end;
            }
            alone(next..particles.len());
            for (clump, velocity) in clumps.iter().zip(moves.velocities()) {
                gate.count(clump.centre, clump.centre + velocity * dt, clump.spheres().map(size).sum(), crossings);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_have_a_sense_and_points_on_the_plane_a_side() {
        let gate = Gate { point: DVec3::Y, normal: 2.0 * DVec3::Y, dimension: 2 };
        let mut crossings = Crossings::default();
        let mut goes = |from: f64, to: f64| {
            gate.count(DVec3::Y * from, DVec3::Y * to, volume(0.5, 2), &mut crossings);
            crossings.number
        };
        assert_eq!(goes(0.0, 2.0), 1);
        assert_eq!(goes(2.0, 3.0), 1);
        assert_eq!(goes(0.5, 1.0), 2, "on the plane is past it");
        assert_eq!(goes(1.0, 1.5), 2, "and leaves it without crossing");
        assert_eq!(goes(1.0, 0.9), 1);
        assert!((crossings.volume - volume(0.5, 2)).abs() < 1e-15);
    }
}
