//! A sphere that moves normal to a plane: F = −6πμ r u λ(q/r).
//!
//! The series is Brenner's (1961), with the sphere alone taken out (see `series`). For ε = q/r → 0
//!
//! ```text
//! λ = 1/ε + (1/5) ln(1/ε) + 0.97127993103572 + ε (ln(1/ε)/21 + 0.167017005) + O(ε² ln ε)
//! ```
//!
//! (Cox & Brenner 1967; constants from the series summed with 40 digits), and for x = r/(r + q) → 0
//! λ = 1/(1 − 9x/8 + x³/2) + O(x⁵) (Lorentz).

use super::series;
use crate::bispherical::Bispherical;
use crate::error::{StokesError, positive};

/// Below this gap the asymptote is exact to rounding: what it leaves out is ε³ ln ε of λ.
const NEAR: f64 = 1e-6;
/// Above this gap Lorentz' formula is exact to rounding.
const FAR: f64 = 1e4;

/// λ of a sphere at the distance `gap`, in radii, of a plane that it approaches or leaves. Relative error below 1e-13.
///
/// Below 1e-6 this is [`sphere_plane_asymptote`], above 1e4 the far formula; between them, where both are exact to
/// rounding at their ends, at most 10⁴ terms of the series are summed.
pub fn sphere_plane(gap: f64) -> Result<f64, StokesError> {
    positive("gap", gap)?;
    Ok(if gap < NEAR {
        asymptote(gap)
    } else if gap > FAR {
        let x = 1.0 / (1.0 + gap);
        1.0 / (1.0 - 9.0 / 8.0 * x + x * x * x / 2.0)
    } else {
        1.0 + series::excess(&Bispherical::sphere_plane(gap))
    })
}

/// The first terms of λ for a small `gap`, in radii: the error is below 0.02 ε² ln(1/ε) for ε ≤ 0.1.
pub fn sphere_plane_asymptote(gap: f64) -> Result<f64, StokesError> {
    positive("gap", gap).map(asymptote)
}

fn asymptote(gap: f64) -> f64 {
    let logarithm = -gap.ln();
    1.0 / gap + 0.2 * logarithm + 0.971_279_931_035_72 + gap * (logarithm / 21.0 + 0.167_017_005)
}
