//! Finite elements on a grid that follows the surfaces, for axisymmetric flow about a sphere and a plane, or two
//! spheres.
//!
//! ```text
//! −Δu + ∇p = 0,    div u = 0,    u given on the surfaces,    u, p → 0 at infinity
//! ```
//!
//! Taylor and Hood's elements, Q2 for the velocity and Q1 for the pressure, on lines of bispherical coordinates, where
//! the surfaces are lines and infinity is a point. Forces are residuals of the discrete equations; drags converge with
//! order 4.
//!
//! ```
//! use stokes::fitted::{Grid, SpherePlane};
//!
//! let solver = SpherePlane::new(Grid::default())?;
//! let flow = solver.flow(0.1)?;
//! assert!((flow.forces()[0] / stokes::exact::sphere_plane(0.1)? - 1.0).abs() < 1e-4);
//! let beside = flow.sample([0.5, 0.1]).map(|at| at.velocity);
//! let line = flow.field().streamlines(0.05);
//! # assert!(beside.is_some() && !line.is_empty());
//! # Ok::<(), stokes::StokesError>(())
//! ```

mod element;
mod flow;
mod grid;
mod problem;
mod solvers;
mod sparse;
mod streamlines;
mod vtk;

pub use flow::{Field, FieldPoint, Flow, Sample};
pub use grid::Grid;
pub use solvers::{Pair, SpherePlane, TwoSpheres};
