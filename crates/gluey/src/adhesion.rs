//! The law of γ: how a contact's impulse is remembered as glue, and how much pull the glue allows.
//!
//! γ' = −R λ with −R Λ = Δγ over a step; γ ≤ 0 always, γ ≥ γ_min where the surfaces are rough. In one projection the
//! pull is limited by Λ ≥ γⁿ/R and γⁿ⁺¹ = max(γ_min, γⁿ − RΛ).

use std::f64::consts::PI;

use crate::contact::{Pair, Partner};
use crate::geometry::{Obstacle, Particles};
use crate::projection::AdmissibleSet;

/// How a step treats glued pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Complementarity at the end of the step: Λ ≥ γⁿ/R. Always feasible, keeps momentum at take-off.
    #[default]
    OneProjection,
    /// The paper's multi-particle algorithm to the letter: glued pairs are equalities, γ is clipped at 0 afterwards.
    Paper,
}

/// The weight R of γ' = −R λ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// R = 1, as in the paper's simulations.
    #[default]
    Unit,
    /// R = (r_i + r_j)²/(r_i² r_j²), 1/r² against an obstacle: γ is then the limit of 6πμ ln q whatever the radii.
    Lubrication,
}

/// The roughness threshold γ_min ≤ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// γ_min = −∞.
    Smooth,
    /// γ_min as a number.
    Value(f64),
    /// γ_min = 6πμ ln((r_is + r_js)/unit), from the roughness sizes of the two surfaces.
    Roughness {
        /// Viscosity μ of the fluid between the surfaces.
        viscosity: f64,
        /// The length in which roughness is measured inside the logarithm; larger than any sum of two sizes.
        unit: f64,
    },
}

/// What happens between two surfaces in contact.
///
/// ```
/// use gluey::adhesion::{Adhesion, Law, Scaling, Threshold};
///
/// let rough = Law::Gluey { threshold: Threshold::Value(-0.1), scaling: Scaling::Unit };
/// assert!(Adhesion::uniform(rough).remembers() && Adhesion::uniform(Law::Inelastic).is_dry());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Dry, no rebound: γ stays 0.
    Inelastic,
    /// Pushing is remembered and must be paid back before the surfaces part.
    Gluey {
        /// How much is remembered at most.
        threshold: Threshold,
        /// How radii weigh on γ.
        scaling: Scaling,
    },
    /// Once in contact, never apart: each step allows a pull of up to `strength`·h.
    Aggregating {
        /// The force a bond bears (force); large but finite, so that every step has a solution.
        strength: f64,
    },
}

/// The laws of a scene.
///
/// A pair that is pressed with the impulse 3 and then pulled with 2 keeps γ = −1; no more than 1 more can pull at it.
///
/// ```
/// use glam::DVec3;
/// use gluey::adhesion::{Adhesion, Law, Scaling, Step, Threshold};
/// use gluey::contact::Pair;
/// use gluey::geometry::Particles;
///
/// let mut particles = Particles::default();
/// particles.push(DVec3::ZERO, 0.5, 1.0);
/// particles.push(DVec3::X, 0.5, 1.0);
/// let smooth = Law::Gluey { threshold: Threshold::Smooth, scaling: Scaling::Unit };
/// let (adhesion, pair) = (Adhesion::uniform(smooth), Pair::particles(0, 1));
/// let step = Step { particles: &particles, obstacles: &[], dt: 0.01 };
/// let pressed = adhesion.update(pair, 0.0, 3.0, &step);
/// let pulled = adhesion.update(pair, pressed, -2.0, &step);
/// assert_eq!((pressed, pulled, adhesion.admits(pair, pulled, &step).least()), (-3.0, -1.0, -1.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Adhesion {
    /// How glue enters the projection.
    pub scheme: Scheme,
    /// Between two particles, and with obstacles that have no law of their own.
    pub law: Law,
    /// Laws of obstacles, in the scene's order; those beyond the end have none of their own.
    pub of_obstacle: Vec<Option<Law>>,
    /// Roughness size of the particles of each group (length).
    pub group_roughness: Vec<f64>,
}

impl Adhesion {
    /// The same law everywhere, particles without roughness size.
    #[must_use]
    pub fn uniform(law: Law) -> Self {
        Self { scheme: Scheme::OneProjection, law, of_obstacle: Vec::new(), group_roughness: vec![0.0] }
    }

    /// The law with an obstacle.
    #[must_use]
    pub fn with_obstacle(&self, obstacle: usize) -> Law {
        self.of_obstacle.get(obstacle).copied().flatten().unwrap_or(self.law)
    }

    /// All laws there are.
    fn laws(&self) -> impl Iterator<Item = &Law> {
        std::iter::once(&self.law).chain(self.of_obstacle.iter().flatten())
    }

    /// Whether impulses become glue, so that the future depends on how a packing distributes them.
    #[must_use]
    pub fn remembers(&self) -> bool {
        let remembers = |law: &Law| match law {
            Law::Gluey { threshold, .. } => *threshold != Threshold::Value(0.0),
            Law::Inelastic | Law::Aggregating { .. } => false,
        };
        self.laws().any(remembers)
    }

    /// Whether γ is 0 in all contacts, always.
    #[must_use]
    pub fn is_dry(&self) -> bool {
        self.laws().all(|law| *law == Law::Inelastic)
    }

    /// The impulses Λ that a contact which carries γ into a step admits.
    #[must_use]
    pub fn admits(&self, pair: Pair, gamma: f64, step: &Step) -> AdmissibleSet {
        if gamma == 0.0 {
            return AdmissibleSet::PUSH;
        }
        match (self.law(pair), self.scheme) {
            (Law::Inelastic, _) => AdmissibleSet::PUSH,
            (_, Scheme::Paper) => AdmissibleSet::FREE,
            (Law::Gluey { scaling, .. }, Scheme::OneProjection) => {
                AdmissibleSet::at_least(gamma / step.weight(pair, scaling))
            }
            (Law::Aggregating { strength }, Scheme::OneProjection) => AdmissibleSet::at_least(-strength * step.dt),
        }
    }

    /// γⁿ⁺¹ of a contact that carried γⁿ and received the impulse Λ.
    #[must_use]
    pub fn update(&self, pair: Pair, gamma: f64, impulse: f64, step: &Step) -> f64 {
        match self.law(pair) {
            Law::Gluey { threshold, scaling } => {
                let weight = step.weight(pair, scaling);
                let next = match self.scheme {
                    // γⁿ − RΛ, written so that Λ = γⁿ/R gives exactly 0.
                    Scheme::OneProjection => -weight * self.admits(pair, gamma, step).depth(impulse),
                    Scheme::Paper => (gamma - weight * impulse).min(0.0),
                };
                next.max(self.threshold(pair, threshold, step))
            }
            Law::Aggregating { strength } if gamma < 0.0 || impulse > 0.0 => -strength,
            Law::Inelastic | Law::Aggregating { .. } => 0.0,
        }
    }

    fn law(&self, pair: Pair) -> Law {
        match pair.partner() {
            Partner::Particle(_) => self.law,
            Partner::Obstacle { obstacle, .. } => self.with_obstacle(obstacle as usize),
        }
    }

    fn threshold(&self, pair: Pair, threshold: Threshold, step: &Step) -> f64 {
        match threshold {
            Threshold::Smooth => f64::NEG_INFINITY,
            Threshold::Value(value) => value,
            Threshold::Roughness { viscosity, unit } => {
                let of_particle = |i: u32| self.group_roughness[step.particles.group[i as usize] as usize];
                let partner = match pair.partner() {
                    Partner::Particle(j) => of_particle(j),
                    Partner::Obstacle { obstacle, .. } => step.obstacles[obstacle as usize].roughness,
                };
                6.0 * PI * viscosity * ((of_particle(pair.first()) + partner) / unit).ln()
            }
        }
    }
}

/// What the law needs to know of the step.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Whose radii and groups count.
    pub particles: &'a Particles,
    /// Whose radii and roughness sizes count.
    pub obstacles: &'a [Obstacle],
    /// Length h of the step (time).
    pub dt: f64,
}

impl Step<'_> {
    /// R: (1/r_i + 1/r_j)², where r_j is infinite for obstacles that are no balls: 1/r² against a plane.
    fn weight(&self, pair: Pair, scaling: Scaling) -> f64 {
        let radius = |i: u32| self.particles.radius[i as usize];
        let partner = match (scaling, pair.partner()) {
            (Scaling::Unit, _) => return 1.0,
            (Scaling::Lubrication, Partner::Particle(j)) => radius(j),
            (Scaling::Lubrication, Partner::Obstacle { obstacle, .. }) => {
                self.obstacles[obstacle as usize].shape.ball_radius()
            }
        };
        (radius(pair.first()).recip() + partner.recip()).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::geometry::Shape;

    fn two_radii() -> Particles {
        let mut particles = Particles::default();
        particles.push(DVec3::ZERO, 0.5, 1.0);
        particles.push(DVec3::X, 0.25, 1.0);
        particles
    }

    fn gluey(threshold: Threshold, scaling: Scaling) -> Adhesion {
        Adhesion::uniform(Law::Gluey { threshold, scaling })
    }

    #[test]
    fn lubrication_weights_are_the_papers() {
        let particles = two_radii();
        let law = gluey(Threshold::Smooth, Scaling::Lubrication);
        let floor = Obstacle {
            name: "floor".to_owned(),
            shape: Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Z },
            motions: Vec::new(),
            colour: None,
            roughness: 0.0,
        };
        let step = Step { particles: &particles, obstacles: &[floor], dt: 0.1 };
        let (ri, rj) = (0.5_f64, 0.25_f64);
        let expected = (ri + rj).powi(2) / (ri * ri * rj * rj);
        assert!((law.update(Pair::particles(0, 1), 0.0, 1.0, &step) + expected).abs() < 1e-12);
        assert!((law.update(Pair::obstacle(1, 0, 0), 0.0, 1.0, &step) + rj.powi(-2)).abs() < 1e-12);
    }

    #[test]
    fn pulling_with_all_the_glue_leaves_exactly_none() {
        let particles = two_radii();
        let law = gluey(Threshold::Smooth, Scaling::Lubrication);
        let step = Step { particles: &particles, obstacles: &[], dt: 0.1 };
        let pair = Pair::particles(1, 0);
        let gamma = law.update(pair, 0.0, 0.123_456_789, &step);
        assert_eq!(law.update(pair, gamma, law.admits(pair, gamma, &step).least(), &step), 0.0);
    }

    #[test]
    fn roughness_sizes_give_the_threshold() {
        let particles = two_radii();
        let mut law = gluey(Threshold::Roughness { viscosity: 2.0, unit: 1.0 }, Scaling::Unit);
        law.group_roughness = vec![1e-3];
        let step = Step { particles: &particles, obstacles: &[], dt: 0.1 };
        let threshold = law.update(Pair::particles(0, 1), 0.0, 1e9, &step);
        assert!((threshold - 6.0 * PI * 2.0 * 2e-3_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_bond_is_reset_at_every_step() {
        let particles = two_radii();
        let law = Adhesion::uniform(Law::Aggregating { strength: 7.0 });
        let step = Step { particles: &particles, obstacles: &[], dt: 0.5 };
        let pair = Pair::particles(0, 1);
        assert_eq!(law.admits(pair, 0.0, &step), AdmissibleSet::PUSH);
        let gamma = law.update(pair, 0.0, 1e-9, &step);
        assert_eq!(law.admits(pair, gamma, &step).least(), -3.5);
        assert_eq!(law.update(pair, gamma, -3.5, &step), gamma);
    }
}
