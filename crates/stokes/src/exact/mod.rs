//! Drags by series in bispherical coordinates (Stimson & Jeffery 1926, Maude 1961, Brenner 1961), to rounding.
//!
//! ```
//! let drag = stokes::exact::sphere_plane(0.01)?;
//! assert!((drag - 101.896).abs() < 1e-3);
//! let pair = stokes::exact::two_spheres([1.0, 1.0], 0.01)?;
//! assert!((pair.second - 27.034).abs() < 1e-3);
//! # Ok::<(), stokes::StokesError>(())
//! ```

mod plane;
mod series;
mod two_spheres;

pub use plane::{sphere_plane, sphere_plane_asymptote};
pub use two_spheres::two_spheres;
