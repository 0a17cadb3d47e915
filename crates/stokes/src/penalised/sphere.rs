//! The characteristic function of the particle on the mesh: 1 on a triangle of which the sphere covers two thirds,
//! else 0.
//!
//! A triangle is rigid as a whole or not at all: its velocity is a polynomial, which D = 0 on any part makes rigid
//! everywhere. Rigid triangles reach beyond the sphere, so that too many cost more than too few: near q = 2dx the drag
//! is up to 13 % high when triangles join at one half of their area, and at most 8 % high when at two thirds. The more
//! they must be covered, the later the drag freezes, at q = dx √(1 − share): here at 0.58 dx.

use super::element::Triangle;

/// Share of a triangle that must be covered.
const SHARE: f64 = 2.0 / 3.0;

/// A triangle is sampled in the middles of the squares, of this number a side, of the parallelogram that it halves.
const SAMPLES: u32 = 12;

/// The particle, of radius 1, on the axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sphere {
    /// z of its centre.
    pub height: f64,
}

impl Sphere {
    /// Whether a triangle belongs to the particle.
    pub fn takes(self, triangle: &Triangle) -> bool {
        // The sphere is convex: it covers a triangle with its corners. It is large: without a corner it covers little.
        let corners = triangle.0.iter().filter(|corner| self.holds(**corner)).count();
        match corners {
            3 => true,
            0 => false,
            _ => self.cover(triangle) >= SHARE,
        }
    }

    fn holds(self, [rho, z]: [f64; 2]) -> bool {
        rho.hypot(z - self.height) < 1.0
    }

    /// Covered share of a triangle.
    fn cover(self, triangle: &Triangle) -> f64 {
        let [a, b, c] = triangle.0;
        let middle = |index: u32| (f64::from(index) + 0.5) / f64::from(SAMPLES);
        let samples = (0..SAMPLES * SAMPLES).map(|k| (middle(k % SAMPLES), middle(k / SAMPLES)));
        let covered = samples.filter(|&(x, y)| {
            // The other half of the parallelogram is folded back.
            let (x, y) = if x + y > 1.0 { (1.0 - x, 1.0 - y) } else { (x, y) };
            self.holds(std::array::from_fn(|k| a[k] + x * (b[k] - a[k]) + y * (c[k] - a[k])))
        });
        covered.count() as f64 / f64::from(SAMPLES * SAMPLES)
    }
}
