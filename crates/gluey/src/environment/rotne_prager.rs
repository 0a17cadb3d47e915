//! The mobility of spheres in an unbounded viscous fluid, as Rotne and Prager (1969) and Yamakawa (1970) found it for
//! equal spheres: V_i = Σ_j M_ij F_j. For any radii, with r the distance of the centres, e the unit vector between
//! them, a > b the two radii and s = a² + b² (Zuk, Wajnryb, Mizerski and Szymczak, J. Fluid Mech. 741, 2014, R5),
//!
//! ```text
//! r > a + b:           M = [(1 + s/(3r²)) I + (1 − s/r²) e eᵀ] / (8πμr)
//! a − b < r ≤ a + b:   M = [(16r³ (a + b) − ((a − b)² + 3r²)²) I + 3 ((a − b)² − r²)² e eᵀ] / (32r³ · 6πμab)
//! r ≤ a − b:           M = I / (6πμa)
//! ```
//!
//! The last is a sphere alone, too (r = 0). M is symmetric, and positive definite for any centres and radii unless two
//! spheres are the same: it is the Gram matrix of forces spread over the surfaces. Spheres in the plane z = 0 keep to
//! it if their forces do.
//!
//! Products take O(N²), one row at a time, each summed in the order of the particles: the same bits for any number of
//! threads.

use std::f64::consts::PI;

use glam::DVec3;
use rayon::prelude::*;

use crate::geometry::Particles;
use crate::projection::Mobility;

/// Fewest rows worth handing to another thread.
const ROWS_IN_TASK: usize = 16;

/// Spheres where they are, and the fluid between them.
#[derive(Clone, Debug)]
pub struct RotnePrager {
    spheres: Vec<Sphere>,
    /// 1/(8πμ).
    strength: f64,
}

#[derive(Clone, Copy, Debug)]
struct Sphere {
    centre: DVec3,
    radius: f64,
}

/// A force on a sphere.
struct Push {
    on: Sphere,
    force: DVec3,
}

/// 8πμ M = `even` I + `along` d dᵀ, d the vector between the centres.
struct Pair {
    even: f64,
    along: f64,
}

impl RotnePrager {
    /// Velocity per force of these particles in a fluid of viscosity μ > 0. With μh, velocity per impulse over a step
    /// h.
    #[must_use]
    pub fn new(particles: &Particles, viscosity: f64) -> Self {
        let spheres = particles.position.iter().zip(&particles.radius);
        let spheres = spheres.map(|(&centre, &radius)| Sphere { centre, radius }).collect();
        Self { spheres, strength: 1.0 / (8.0 * PI * viscosity) }
    }
}

impl Mobility for RotnePrager {
    fn add_product(&self, forces: &[DVec3], velocity: &mut [DVec3]) {
        let pushed = self.spheres.iter().zip(forces).filter(|(_, force)| **force != DVec3::ZERO);
        let pushes: Vec<Push> = pushed.map(|(&on, &force)| Push { on, force }).collect();
        let rows = velocity.par_iter_mut().zip(&self.spheres).with_min_len(ROWS_IN_TASK);
        rows.for_each(|(velocity, sphere)| *velocity += self.strength * sphere.moved_by(&pushes));
    }

    fn along(&self, i: usize, j: usize, direction: DVec3) -> f64 {
        let (one, other) = (self.spheres[i], self.spheres[j]);
        let offset = one.centre - other.centre;
        let Pair { even, along } = Pair::of(one.radius, other.radius, offset.length_squared());
        self.strength * (even + along * offset.dot(direction).powi(2))
    }
}

impl Sphere {
    /// 8πμ V.
    fn moved_by(self, pushes: &[Push]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for Push { on, force } in pushes {
            let offset = self.centre - on.centre;
            let Pair { even, along } = Pair::of(self.radius, on.radius, offset.length_squared());
            sum += even * *force + (along * offset.dot(*force)) * offset;
        }
        sum
    }
}

impl Pair {
    /// Of two radii and r².
    #[inline]
    fn of(one: f64, other: f64, squared: f64) -> Self {
        if squared > (one + other).powi(2) {
            let inverse = squared.recip();
            let (near, rate) = ((one * one + other * other) * inverse, inverse.sqrt());
            Self { even: rate * (1.0 + near / 3.0), along: rate * inverse * (1.0 - near) }
        } else {
            Self::of_overlapping(one, other, squared)
        }
    }

    #[cold]
    fn of_overlapping(one: f64, other: f64, squared: f64) -> Self {
        let unequal = (one - other).powi(2);
        if squared <= unequal {
            return Self { even: 4.0 / (3.0 * one.max(other)), along: 0.0 };
        }
        let cubed = squared * squared.sqrt();
        let scale = (24.0 * cubed * one * other).recip();
        Self {
            even: scale * (16.0 * cubed * (one + other) - (unequal + 3.0 * squared).powi(2)),
            along: scale * 3.0 * (unequal - squared).powi(2) / squared,
        }
    }
}
