//! Why a step could not be taken. The state is then as it was before the step.

use thiserror::Error;

use crate::environment::EnvironmentError;
use crate::interaction::InteractionError;

/// For who runs the simulation.
#[derive(Debug, Error)]
pub enum StepError {
    /// The forces could not be evaluated.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A force between two bodies could not be evaluated.
    #[error(transparent)]
    Interaction(#[from] InteractionError),
    /// Closing obstacles leave some particles no admissible velocity.
    #[error(
        "no velocity is admissible: {particles} pinched between {partners}; slow or stop what closes on it, or set \
         `solver.when_pinched = \"continue\"` to go on with the least violation"
    )]
    Pinched {
        /// The particles, by index.
        particles: String,
        /// What holds them.
        partners: String,
    },
    /// The paper's equalities contradict each other.
    #[error(
        "the paper's projection has no solution: {glued} glued pairs are equality constraints and contradict each other \
         (residual {residual:.1e} after {sweeps} sweeps); use `scheme = \"one-projection\"`, which always has one"
    )]
    Inconsistent {
        /// Glued pairs in the step.
        glued: usize,
        /// Residual that could not be lowered, relative to the smallest radius.
        residual: f64,
        /// Sweeps spent.
        sweeps: u64,
    },
    /// The projection did not reach its tolerance.
    #[error(
        "the projection {how} at residual {residual:.2e} after {sweeps} sweeps; the tolerance is {tolerance:.1e} of the \
         smallest radius: raise `solver.tolerance` or `solver.max_sweeps`, or set `solver.at_limit = \"continue\"`"
    )]
    NotConverged {
        /// "stalled", "met its limit" or "broke down".
        how: &'static str,
        /// Residual reached, relative to the smallest radius.
        residual: f64,
        /// Residual asked for.
        tolerance: f64,
        /// Sweeps spent.
        sweeps: u64,
    },
    /// The far field of all spheres and clumps do not go together.
    #[error("clumps cannot be held together in the far field of all spheres; use another drag than `rotne-prager`")]
    ClumpsInFarField,
    /// A position or velocity is NaN or infinite.
    #[error("particle {particle} would get a velocity that is not finite")]
    NotFinite {
        /// Its index.
        particle: usize,
    },
    /// With sub-steps off, an obstacle would sweep past a particle's centre.
    #[error(
        "obstacle `{obstacle}` moves by up to {path:.3e} in a step near particle {particle} of radius {radius:.3e}, far \
         enough to pass through it: reduce `time.dt` or allow sub-steps (`time.max_slip`)"
    )]
    ObstacleTooFast {
        /// Its name.
        obstacle: String,
        /// The particle, by index.
        particle: usize,
        /// How far the obstacle may move (length).
        path: f64,
        /// The particle's radius (length).
        radius: f64,
    },
    /// An obstacle without end has turned so that its images in the periodic cell leave no room.
    #[error(
        "obstacle `{obstacle}` cannot repeat along {axis} at t = {time}: it has no end there and is not parallel to the \
         axis; keep it parallel, or take the axis out of [periodic]"
    )]
    CannotRepeat {
        /// Its name.
        obstacle: String,
        /// The axis.
        axis: &'static str,
        /// When (time).
        time: f64,
    },
    /// The periodic cell is too narrow for the particles, however short the step.
    #[error(
        "the periodic cell is {period:.3e} wide, too narrow for particles of radius {radius:.3e}, which could touch each \
         other on both sides: it must be wider than {}", 4.0 * .needed
    )]
    NarrowCell {
        /// The smallest period (length).
        period: f64,
        /// The largest radius (length).
        radius: f64,
        /// The least reach of a particle in a step (length).
        needed: f64,
    },
    /// The step would have to be split without end.
    #[error(
        "the step would need more than {most} sub-steps: particle {particle} moves by {displacement:.3e} of the smallest \
         radius in one; reduce `time.dt` or look at the forces on it"
    )]
    TooManySubsteps {
        /// The limit.
        most: u32,
        /// The fastest particle, by index.
        particle: usize,
        /// Its displacement in a whole step, relative to the smallest radius.
        displacement: f64,
    },
}
