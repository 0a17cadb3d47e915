//! Gluey contact in a viscous fluid: the engine driven by a solver of the Stokes equations.
//!
//! A fluid solver resolves lubrication down to some distance η. Below it the gluey contact takes over: the particle is
//! kept at η, and what pushes it there is remembered and must be paid back. [`NearPlane`] is the environment of one
//! particle over a plane, for any [`NormalDrag`]: the exact series, finite elements, the penalised mesh, a table.
//! [`Coupling`] is the paper's experiment with it, [`Reference`] the exact trajectory without any contact.
//!
//! Without inertia drag balances the force at every time, 6πμ r λ(q/r) u = F. Contact impulses act in the same metric:
//! over a step h an impulse Λ changes the velocity by Λ/(6πμ r λ h). With the particle's mass instead, the time at
//! which a rough particle takes off would drift with h.
//!
//! Modules: `drag` (whoever knows λ(q)), `table`, `near_plane` (the environment), `coupling` (the experiment),
//! `reference` (its exact solution).

mod coupling;
mod drag;
mod error;
mod near_plane;
mod reference;
mod table;

pub use coupling::{Contact, Coupling, Trajectory};
pub use drag::{Brenner, FixedMesh, NormalDrag, Remembered};
pub use error::FluidError;
pub use near_plane::NearPlane;
pub use reference::Reference;
pub use table::Table;
