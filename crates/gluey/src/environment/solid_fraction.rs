//! The solid fraction around each particle: a mean of the volumes v_j of the others, weighted by nearness.
//!
//! ```text
//! φ_i = Σ_{j ≠ i} v_j W(|x_i − x_j|) / P(r_i + r_j),   W(s) = (1 − s²/H²)² / ∫ (1 − s²/H²)²,   s < H,
//! ```
//!
//! where P(s) is the share of the weight W beyond s, the only part of it where a partner's centre can be. So a particle
//! alone has φ = 0, and in a suspension without further order φ_i has the true fraction as its expectation, whatever
//! the radii. In a periodic cell, which must be wider than 2H, the others are their nearest images. In two dimensions v
//! is an area, and φ the fraction of the plane. Room behind walls counts as empty.
//!
//! Pairs come from the bucket sort and are summed in their order: the cost is O(N), and the bits depend on nothing
//! else.

use std::f64::consts::PI;

use super::{Dimension, EnvironmentError};
use crate::geometry::Particles;
use crate::neighbours;

/// No packing of equal spheres, or discs, is denser.
const DENSEST: f64 = 0.740_480_489_693_061;
const DENSEST_IN_PLANE: f64 = 0.906_899_682_117_109;

/// φ of each particle, within so many greatest radii and never above that of the densest packing.
pub(super) fn fractions(particles: &Particles, dimension: Dimension, radii: f64) -> Result<Vec<f64>, EnvironmentError> {
    let greatest = particles.radius.iter().copied().fold(0.0, f64::max);
    let weight = Weight { range: radii * greatest, dimension };
    if let Some(period) = particles.cell.map(|cell| cell.least_period()).filter(|period| *period < 2.0 * weight.range) {
        let expected = format!("at most {} in a periodic cell that is {period} wide", 0.5 * period / greatest);
        return Err(EnvironmentError::invalid("drag.hindered.fraction.local.radii", radii, expected));
    }
    let mut found = vec![0.0; particles.len()];
    let ranges = vec![0.5 * weight.range; particles.len()];
    for (i, j) in neighbours::pairs_in(particles.cell.as_ref(), &particles.position, &ranges) {
        let (i, j) = (i as usize, j as usize);
        let distance = particles.offset(i, j).length();
        let share = weight.density(distance) / weight.beyond(particles.radius[i] + particles.radius[j]);
        found[i] += weight.size(particles.radius[j]) * share;
        found[j] += weight.size(particles.radius[i]) * share;
    }
    let densest = match dimension {
        Dimension::Two => DENSEST_IN_PLANE,
        Dimension::Three => DENSEST,
    };
    for fraction in &mut found {
        *fraction = fraction.min(densest);
    }
    Ok(found)
}

/// W and P.
struct Weight {
    /// H (length).
    range: f64,
    dimension: Dimension,
}

impl Weight {
    /// Volume of a sphere, or area of a disc.
    fn size(&self, radius: f64) -> f64 {
        self.dimension.volume(radius)
    }

    /// W, per volume or area.
    fn density(&self, distance: f64) -> f64 {
        let bump = (1.0 - (distance / self.range).powi(2)).max(0.0).powi(2);
        match self.dimension {
            Dimension::Two => bump * 3.0 / (PI * self.range.powi(2)),
            Dimension::Three => bump * 105.0 / (32.0 * PI * self.range.powi(3)),
        }
    }

    /// P.
    fn beyond(&self, distance: f64) -> f64 {
        let s = distance / self.range;
        match self.dimension {
            Dimension::Two => (1.0 - s * s).powi(3),
            Dimension::Three => 1.0 - s.powi(3) * (35.0 - s * s * (42.0 - 15.0 * s * s)) / 8.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    /// ∫ of W beyond s, by the midpoint rule.
    fn integral(weight: &Weight, from: f64) -> f64 {
        let count = 20_000;
        let width = (weight.range - from) / f64::from(count);
        let ring = |k: i32| {
            let s = from + (f64::from(k) + 0.5) * width;
            let sphere = if weight.dimension == Dimension::Two { 2.0 * PI * s } else { 4.0 * PI * s * s };
            sphere * weight.density(s) * width
        };
        (0..count).map(ring).sum()
    }

    #[test]
    fn the_weight_is_one_in_all_and_its_shares_are_known() {
        for dimension in [Dimension::Two, Dimension::Three] {
            let weight = Weight { range: 2.5, dimension };
            for from in [0.0, 0.4, 1.0, 2.0] {
                let (found, known) = (integral(&weight, from), weight.beyond(from));
                assert!((found - known).abs() < 1e-8, "{dimension:?} beyond {from}: {found} and {known}");
            }
        }
    }

    #[test]
    fn one_alone_is_in_no_crowd_and_one_far_away_is_out_of_it() {
        let mut particles = Particles::default();
        particles.push(DVec3::ZERO, 0.5, 1.0);
        assert_eq!(fractions(&particles, Dimension::Three, 5.0).unwrap(), [0.0]);
        particles.push(DVec3::new(2.5, 0.0, 0.0), 0.1, 1.0);
        assert_eq!(fractions(&particles, Dimension::Three, 5.0).unwrap(), [0.0, 0.0]);
    }

    /// Spheres of two sizes on a cubic lattice, in turns; the lattice is fine against the range.
    #[test]
    fn in_the_middle_of_a_suspension_the_fraction_is_that_of_the_suspension() {
        for dimension in [Dimension::Two, Dimension::Three] {
            let mut particles = Particles::default();
            let depth = if dimension == Dimension::Two { 0 } else { 12 };
            for (x, y, z) in
                (-12..=12).flat_map(|x| (-12..=12).flat_map(move |y| (-depth..=depth).map(move |z| (x, y, z))))
            {
                let radius = if (x + y + z) % 2 == 0 { 0.3 } else { 0.2 };
                particles.push(DVec3::new(f64::from(x), f64::from(y), f64::from(z)), radius, 1.0);
            }
            let fraction = match dimension {
                Dimension::Two => PI * f64::midpoint(0.3_f64.powi(2), 0.2_f64.powi(2)),
                Dimension::Three => 4.0 / 3.0 * PI * f64::midpoint(0.3_f64.powi(3), 0.2_f64.powi(3)),
            };
            let found = fractions(&particles, dimension, 30.0).unwrap();
            let middle = particles.position.iter().position(|x| *x == DVec3::ZERO).expect("a site");
            // A lattice keeps its neighbours further away than they could be: it misses that share of the weight.
            assert!((found[middle] / fraction - 1.0).abs() < 0.02, "{dimension:?}: {} of {fraction}", found[middle]);
        }
    }

    #[test]
    fn no_fraction_exceeds_the_densest_packing() {
        let mut particles = Particles::default();
        for k in 0..50 {
            particles.push(DVec3::new(0.01 * f64::from(k), 0.0, 0.0), 0.5, 1.0);
        }
        assert_eq!(fractions(&particles, Dimension::Three, 4.0).unwrap(), [DENSEST; 50]);
        assert_eq!(fractions(&particles, Dimension::Two, 4.0).unwrap(), [DENSEST_IN_PLANE; 50]);
    }
}
