//! The drag of the fluid, −ζ (V − u): the same for all, of a sphere alone, in a crowd, or of all spheres together.
//!
//! ```text
//! ζ₀ = 6πμr (Stokes),   ζ = ζ₀ (1 − φ)⁻ⁿ (Richardson and Zaki),   V − u = M F with M of Rotne, Prager and Yamakawa.
//! ```
//!
//! With the second, a suspension of solid fraction φ under a force F a particle settles at F/ζ₀ (1 − φ)ⁿ.

use std::f64::consts::PI;

use super::EnvironmentError;

/// n of a suspension that settles slowly, at Reynolds numbers of a particle below 0.2 (Richardson and Zaki 1954).
pub const RICHARDSON_ZAKI: f64 = 4.65;

/// The least range of a local solid fraction, in greatest radii: two that touch are 2 apart.
const LEAST_RANGE: f64 = 3.0;

/// How the fluid resists motion relative to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drag {
    /// No fluid: ζ = 0.
    #[default]
    None,
    /// The same ζ ≥ 0 for all particles (mass / time).
    Coefficient(f64),
    /// Stokes' law for a sphere, ζ = 6πμr. In two dimensions too: a disc stands for a sphere that keeps to the plane,
    /// since a cylinder alone in a plane of viscous fluid has no drag coefficient.
    Stokes {
        /// μ > 0 (mass / (length × time)).
        viscosity: f64,
    },
    /// Stokes' law hindered by the others, ζ = 6πμr (1 − φ)⁻ⁿ.
    Hindered {
        /// μ > 0 (mass / (length × time)).
        viscosity: f64,
        /// n ≥ 0; [`RICHARDSON_ZAKI`] in slow flow.
        exponent: f64,
        /// φ.
        fraction: Fraction,
    },
    /// The far field of all spheres, without inertia ([`RotnePrager`](super::RotnePrager)).
    RotnePrager {
        /// μ > 0 (mass / (length × time)).
        viscosity: f64,
    },
}

/// The solid fraction φ of a suspension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fraction {
    /// The same everywhere, 0 ≤ φ < 1.
    Uniform(f64),
    /// That around each particle, within so many of the greatest radius, at least 3.
    Local {
        /// The range, in greatest radii.
        radii: f64,
    },
}

impl Drag {
    /// ζ of a sphere of this radius in a crowd of solid fraction φ; of its own motion alone, where others move it too
    /// (mass / time).
    #[must_use]
    pub fn coefficient(self, radius: f64, fraction: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Coefficient(zeta) => zeta,
            Self::Stokes { viscosity } | Self::RotnePrager { viscosity } => 6.0 * PI * viscosity * radius,
            Self::Hindered { viscosity, exponent, .. } => {
                6.0 * PI * viscosity * radius * (1.0 - fraction).powf(-exponent)
            }
        }
    }

    pub(super) fn check(self) -> Result<(), EnvironmentError> {
        let viscous = |viscosity: f64| {
            if viscosity.is_finite() && viscosity > 0.0 {
                return Ok(());
            }
            Err(EnvironmentError::invalid("drag.viscosity", viscosity, "a finite number > 0"))
        };
        match self {
            Self::None => Ok(()),
            Self::Coefficient(zeta) if zeta.is_finite() && zeta >= 0.0 => Ok(()),
            Self::Coefficient(zeta) => Err(EnvironmentError::invalid("drag.coefficient", zeta, "a finite number ≥ 0")),
            Self::Stokes { viscosity } | Self::RotnePrager { viscosity } => viscous(viscosity),
            Self::Hindered { viscosity, exponent, fraction } => {
                viscous(viscosity)?;
                fraction.check()?;
                if exponent.is_finite() && exponent >= 0.0 {
                    return Ok(());
                }
                Err(EnvironmentError::invalid("drag.exponent", exponent, "a finite number ≥ 0"))
            }
        }
    }
}

impl Fraction {
    fn check(self) -> Result<(), EnvironmentError> {
        match self {
            Self::Uniform(fraction) if (0.0..1.0).contains(&fraction) => Ok(()),
            Self::Uniform(fraction) => {
                Err(EnvironmentError::invalid("drag.fraction.uniform", fraction, "a number from 0 to below 1"))
            }
            Self::Local { radii } if radii.is_finite() && radii >= LEAST_RANGE => Ok(()),
            Self::Local { radii } => {
                let expected = format!("a finite number ≥ {LEAST_RANGE}: two that touch are 2 apart");
                Err(EnvironmentError::invalid("drag.fraction.local.radii", radii, expected))
            }
        }
    }
}
