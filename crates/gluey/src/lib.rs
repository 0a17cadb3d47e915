//! Rigid particles that interact through contact and lubrication: the gluey particle model.
//!
//! Two smooth spheres in a viscous fluid resist being parted as much as they resisted being pressed together. In the
//! limit of small viscosity this becomes a contact with a memory: each pair keeps an account γ ≤ 0 of the impulse that
//! pressed it together, is glued while γ < 0, and lets go when the same impulse has pulled it apart. Dry inelastic
//! contact is the same model with an account that stays empty.
//!
//! # A step
//!
//! The state is positions, velocities and γ. A step from tⁿ to tⁿ⁺¹ = tⁿ + h is predict → project → glue → move:
//!
//! 1. [`environment`] gives the a-priori velocity V^{n+1/2}: gravity, forces, drag; [`interaction`] adds forces between
//!    bodies near each other, such as liquid bridges.
//! 2. [`projection`] finds the nearest velocity Vⁿ⁺¹ for which no pair overlaps at the end of the step, and the impulse
//!    Λ ≥ γⁿ/R of each contact. One convex problem for all contacts, dry or glued.
//! 3. [`adhesion`] turns impulses into glue, γⁿ⁺¹ = max(γ_min, γⁿ − RΛ).
//! 4. The particles move, xⁿ⁺¹ = xⁿ + hVⁿ⁺¹.
//!
//! [`simulation`] owns the state and the step and splits steps in which contacts would slide too far; [`geometry`]
//! knows spheres, obstacles, gaps and normals; [`neighbours`] finds the pairs that could meet; [`contact`] names pairs
//! and what they carry from step to step.
//!
//! # From a file, and to files
//!
//! [`scene`] reads a scene in TOML and gives a checked [`Simulation`](simulation::Simulation), or every problem of the
//! file with its line and column; [`expression`] is the language of forces in it. [`trajectory`] writes series, frames
//! and checkpoints and resumes a run with the same bytes; [`logbook`] decides when. Nothing else in the library reads
//! or writes a run; the caller owns the loop, and nobody here prints. A clock is read only to tell where the time of
//! steps goes.
//!
//! [`measures`] sums a moment up: density, contacts, stress, clusters, mixing.
//!
//! # One particle and a plane
//!
//! [`plane`] is the laboratory: the particle/plane algorithm of the paper to the letter, the exact solution of its
//! limit model, the lubrication model with its viscosity, and the studies that compare them.
//!
//! # A ball that falls, is pressed, is pulled and lets go
//!
//! It starts at rest one unit above a floor. A force of −2 pushes it until t = 2: it hits at t = 1 with velocity −2, so
//! γ jumps to −2, and the push takes γ on to −4. Then the force is +2, and the ball stays until the pull has paid back
//! all 4 units of impulse, at t = 4. A dry ball would leave at t = 2.
//!
//! ```
//! use gluey::scene::Scene;
//!
//! let text = r#"
//!     time = { dt = 0.01, until = 5 }
//!     contact.law.gluey = {}                      # smooth: γ has no lower limit
//!     particles = [{ mass = 1, source.list = [{ position = [0, 0, 1.5], radius = 0.5 }] }]
//!     obstacle = [{ name = "floor", shape.half-space = { point = [0, 0, 0], normal = [0, 0, 1] } }]
//!     force = [{ force.steps = { times = [0, 2], values = [[0, 0, -2], [0, 0, 2]] } }]
//! "#;
//! let mut simulation = Scene::parse(text, "ball.toml".as_ref())?.simulation;
//! let (mut deepest, mut left) = (0.0_f64, None);
//! while simulation.time() < 5.0 {
//!     simulation.step()?;
//!     let glue = simulation.state.contacts.first().map_or(0.0, |contact| contact.gamma);
//!     deepest = deepest.min(glue);
//!     if left.is_none() && deepest < 0.0 && glue == 0.0 {
//!         left = Some(simulation.time());
//!     }
//! }
//! assert!((deepest + 4.0).abs() < 0.03);
//! assert!((left.unwrap() - 4.0).abs() < 0.02);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod adhesion;
mod buffer;
mod choice;
pub mod clump;
pub mod contact;
pub mod environment;
pub mod expression;
mod format;
pub mod geometry;
pub mod interaction;
pub mod logbook;
pub mod measures;
pub mod morton;
pub mod neighbours;
pub mod openings;
pub mod packing;
pub mod plane;
mod prefetch;
pub mod projection;
pub mod scene;
mod shares;
pub mod simulation;
pub mod trajectory;
