//! Planes at which crossings are counted.

use glam::DVec3;
use serde::{Deserialize, Serialize};

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

    /// Adds a particle of this radius that has gone from one point to another.
    pub fn count(&self, from: DVec3, to: DVec3, radius: f64, crossings: &mut Crossings) {
        let sense = i64::from(self.is_past(to)) - i64::from(self.is_past(from));
        if sense != 0 {
            crossings.number += sense;
            crossings.volume += sense as f64 * volume(radius, self.dimension);
        }
    }
}

/// Adds those who go through gates as the particles move by hV: by their motion, so that what a boundary does with positions
/// afterwards is no crossing.
pub(super) fn count(
    gates: &[Gate],
    particles: &Particles,
    velocity: &[DVec3],
    dt: f64,
    crossings: &mut Vec<Crossings>,
) {
    crossings.resize(gates.len(), Crossings::default());
    for (gate, crossings) in gates.iter().zip(crossings) {
        for ((x, v), radius) in particles.position.iter().zip(velocity).zip(&particles.radius) {
            gate.count(*x, *x + *v * dt, *radius, crossings);
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
            gate.count(DVec3::Y * from, DVec3::Y * to, 0.5, &mut crossings);
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
