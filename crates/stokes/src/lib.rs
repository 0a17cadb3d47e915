//! Slow viscous flow about spheres near a plane and near each other.
//!
//! All drags are given as λ, the force in units of that on the same sphere alone in the fluid, 6πμ r u.
//!
//! - [`exact`]: series, to rounding;
//! - [`fitted`]: finite elements on a grid that follows the surfaces, with the fields of the flow;
//! - [`penalised`]: a fixed mesh, in which the particle is a very viscous fluid.

mod bispherical;
mod error;
pub mod exact;
pub mod fitted;
pub mod penalised;
mod resistance;

pub use error::StokesError;
pub use resistance::Resistance;
