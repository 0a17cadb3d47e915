//! How fast a cloud of particles moves, and how differently its members do.

use glam::DVec3;

use super::{Figure, Quantity};
use crate::geometry::Particles;

/// Velocities of all particles, each counting the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settling {
    /// Mean velocity (length/time).
    pub velocity: DVec3,
    /// Mean velocity along the direction, ⟨V·e⟩ (length/time).
    pub mean: f64,
    /// Root mean square of what differs from it, √⟨(V·e − ⟨V·e⟩)²⟩ (length/time).
    pub fluctuation: f64,
    /// Granular temperature, ⟨|V − ⟨V⟩|²⟩/d (length²/time²).
    pub temperature: f64,
}

impl Settling {
    /// The table of its figures.
    #[must_use]
    pub fn figures(&self) -> [Figure; 3] {
        [
            Figure {
                name: "mean",
                key: "settling.mean",
                about: "mean velocity along the direction, ⟨V·e⟩",
                unit: "length / time",
                value: Quantity::Number(self.mean),
            },
            Figure {
                name: "fluctuation",
                key: "settling.fluctuation",
                about: "what differs from it, √⟨(V·e − ⟨V·e⟩)²⟩",
                unit: "length / time",
                value: Quantity::Number(self.fluctuation),
            },
            Figure {
                name: "temperature",
                key: "settling.temperature",
                about: "granular temperature ⟨|V − ⟨V⟩|²⟩/d",
                unit: "length² / time²",
                value: Quantity::Number(self.temperature),
            },
        ]
    }

    /// The cloud's motion along a direction, a unit vector; all 0 without particles.
    #[must_use]
    pub fn of(particles: &Particles, direction: DVec3, dimension: usize) -> Self {
        if particles.is_empty() {
            return Self::default();
        }
        let count = particles.len() as f64;
        let velocity = particles.velocity.iter().sum::<DVec3>() / count;
        let excess = || particles.velocity.iter().map(|v| *v - velocity);
        let variance = excess().map(|v| v.dot(direction).powi(2)).sum::<f64>() / count;
        let temperature = excess().map(DVec3::length_squared).sum::<f64>() / (count * dimension as f64);
        Self { velocity, mean: velocity.dot(direction), fluctuation: variance.sqrt(), temperature }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_fluctuations_are_those_of_the_velocities() {
        let mut particles = Particles::default();
        for v in [DVec3::new(0.0, 0.0, -1.0), DVec3::new(2.0, 0.0, -3.0), DVec3::new(-2.0, 0.0, -2.0)] {
            particles.push(DVec3::ZERO, 1.0, 1.0);
            *particles.velocity.last_mut().unwrap() = v;
        }
        let found = Settling::of(&particles, -DVec3::Z, 3);
        assert_eq!((found.velocity, found.mean), (DVec3::new(0.0, 0.0, -2.0), 2.0));
        assert!((found.fluctuation - (2.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((found.temperature - (8.0 + 2.0) / 9.0).abs() < 1e-15);
        assert_eq!(Settling::of(&Particles::default(), DVec3::Z, 3), Settling::default());
    }
}
