//! Slow viscous flow about spheres near a plane and near each other.
//!
//! All drags are given as λ, the force in units of that on the same sphere alone in the fluid, 6πμ r u.
//!
//! - [`exact`]: series, to rounding.

mod bispherical;
mod error;
pub mod exact;
mod resistance;

pub use error::StokesError;
pub use resistance::Resistance;
