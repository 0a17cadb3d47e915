//! Two spheres that move along the line of their centres.
//!
//! The series is Maude's (1961) in the form of `series`. For q → 0 (Jeffrey & Onishi 1984, (3.17)) with t = r₂/r₁ and
//! ξ = 2q/(r₁ + r₂), R₁₁, R₂₂ and −R₁₂ all are
//!
//! ```text
//! r₁ {g₁/ξ + g₂ ln(1/ξ) + constant + g₃ ξ ln(1/ξ)} + O(ξ),
//! g₁ = 2t²/(1+t)³,  g₂ = t(1 + 7t + t²)/(5(1+t)³),  g₃ = (1 + 18t − 29t² + 18t³ + t⁴)/(42(1+t)³)
//! ```

use super::series;
use crate::Resistance;
use crate::bispherical::Bispherical;
use crate::error::{StokesError, between, positive};

/// Below this gap, in radii of the smaller sphere, the expansion carries on from the series: the O(ξ) left out is 1e-7
/// of drags that are above 1e6 radii.
const NEAR: f64 = 1e-7;
/// Above this gap, in radii of the larger sphere, the spheres are points: the rest is the inverse square.
const FAR: f64 = 1e8;
/// Ratios of radii for which no term over- or underflows.
const RATIO: [f64; 2] = [1e-60, 1e60];

/// R of two spheres with `radii`, their surfaces at the distance `gap`, in any unit of length. Relative error below
/// 1e-12.
///
/// Gaps below 1e-7 of the smaller radius are reached from there by the known singular terms, and above 1e8 of the
/// larger radius point forces are exact to rounding; between, at most 10⁵ terms are summed.
pub fn two_spheres(radii: [f64; 2], gap: f64) -> Result<Resistance, StokesError> {
    positive("gap", gap)?;
    let [r1, r2] = radii;
    positive("first radius", r1)?;
    positive("second radius", r2)?;
    between("ratio of radii", r1 / r2, RATIO)?;
    let near = NEAR * r1.min(r2);
    Ok(if gap < near {
        let increment = singular(radii, gap) - singular(radii, near);
        let Resistance { first, second, mutual } = summed(radii, near);
        Resistance { first: first + increment, second: second + increment, mutual: mutual - increment }
    } else if gap > FAR * r1.max(r2) {
        // Stokeslets: u₂ = 3 r₁ u₁/(2d) at the other sphere, and once more back.
        let d = r1 + r2 + gap;
        let once_more = 1.0 + 2.25 * (r1 / d) * (r2 / d);
        Resistance { first: r1 * once_more, second: r2 * once_more, mutual: -1.5 * r1 * (r2 / d) }
    } else {
        summed(radii, gap)
    })
}

fn summed(radii: [f64; 2], gap: f64) -> Resistance {
    let shape = Bispherical::two_spheres(radii, gap);
    Resistance {
        first: radii[0] + series::excess(&shape),
        second: radii[1] + series::excess(&shape.upside_down()),
        mutual: -series::mutual(&shape),
    }
}

fn singular([r1, r2]: [f64; 2], gap: f64) -> f64 {
    // All is symmetric in the radii, and written for t ≤ 1.
    let (large, t) = (r1.max(r2), r1.min(r2) / r1.max(r2));
    let xi = 2.0 * gap / (r1 + r2);
    let cube = (1.0 + t).powi(3);
    let g1 = 2.0 * t * t / cube;
    let g2 = t * (1.0 + 7.0 * t + t * t) / (5.0 * cube);
    let g3 = (1.0 + t * (18.0 + t * (-29.0 + t * (18.0 + t)))) / (42.0 * cube);
    large * (g1 / xi - (g2 + g3 * xi) * xi.ln())
}
