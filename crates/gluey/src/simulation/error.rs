//! Why a step could not be taken. The state is then as it was before the step.

use std::fmt;

use thiserror::Error;

use crate::environment::EnvironmentError;
use crate::geometry::Unrepeatable;
use crate::interaction::InteractionError;

/// Moves by more than so many of the smallest radii in a step leave the projection little to hold on to.
const LONG_WAY: f64 = 100.0;

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
        "no velocity is admissible: {particles} pinched {}, or set `solver.when_pinched = \"continue\"` to go on with the \
         least violation", pinching(.partners)
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
         smallest radius: {}", remedy(.fastest)
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
        /// Who would move farthest in the step without contacts, by index, and how far, relative to the smallest radius.
        fastest: (usize, f64),
    },
    /// The far field of all spheres and clumps do not go together.
    #[error("clumps cannot be held together in the far field of all spheres; use another drag than `rotne-prager`")]
    ClumpsInFarField,
    /// A position or velocity is NaN or infinite.
    #[error(
        "particle {particle} would get a {what} that is not finite: look at where it is and what acts on it, or reduce \
         `time.dt`"
    )]
    NotFinite {
        /// Its index.
        particle: usize,
        /// "position" or "velocity".
        what: &'static str,
    },
    /// So far from the origin the numbers are too coarse for a contact.
    #[error(
        "particle {particle} at {axis} = {coordinate:.3e} touches {partner}, but with numbers as large as {size:.1e} \
         rounding makes gaps uncertain by {rounding:.1e}, and {allowed:.1e} is allowed (`solver.tolerance` of the smallest \
         radius): put the origin, or what is large, nearer to the particles, take who goes far out by an [[outlet]] or \
         [periodic], or raise `solver.tolerance`"
    )]
    Unresolved {
        /// The particle, by index.
        particle: usize,
        /// The axis along which it is farthest out.
        axis: &'static str,
        /// Where it would be along this axis (length).
        coordinate: f64,
        /// What it touches.
        partner: String,
        /// The largest number that the gap is computed from (length).
        size: f64,
        /// What rounding may do to the gap (length).
        rounding: f64,
        /// What it may be (length).
        allowed: f64,
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
    /// An obstacle goes around the periodic cell too often.
    #[error(
        "obstacle `{obstacle}` goes {periods:.1e} times around the periodic cell along {axis} at t = {time}: make it shorter \
         or the cell wider"
    )]
    TooLongForCell {
        /// Its name.
        obstacle: String,
        /// The axis.
        axis: &'static str,
        /// How often.
        periods: f64,
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
        "the step would need more than {most} sub-steps: {culprit}{}, or reduce `time.dt` below {dt:.1e}", .culprit.advice()
    )]
    TooManySubsteps {
        /// The limit.
        most: u32,
        /// What goes too far.
        culprit: Culprit,
        /// With a step so short the sub-steps would do (time).
        dt: f64,
    },
}

impl StepError {
    pub(super) fn unrepeatable(obstacle: &str, why: Unrepeatable, time: f64) -> Self {
        let (obstacle, name) = (obstacle.to_owned(), |axis: usize| ["x", "y", "z"][axis]);
        match why {
            Unrepeatable::Endless { axis } => Self::CannotRepeat { obstacle, axis: name(axis), time },
            Unrepeatable::TooLong { axis, periods } => {
                Self::TooLongForCell { obstacle, axis: name(axis), periods, time }
            }
        }
    }
}

/// What goes too far in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Culprit {
    /// An obstacle near a particle.
    Obstacle {
        /// Its name.
        name: String,
        /// How far it moves in a whole step (length).
        path: f64,
        /// The particle, by index.
        particle: usize,
    },
    /// A contact that slides.
    Particle {
        /// The fastest particle, by index.
        particle: usize,
        /// Its displacement in a whole step, relative to the smallest radius.
        displacement: f64,
    },
    /// A particle in a periodic cell, which must not reach two images of another.
    InCell {
        /// Its index.
        particle: usize,
        /// How far it may get in a whole step (length).
        path: f64,
        /// The smallest period (length).
        period: f64,
    },
    /// A clump that turns.
    Clump {
        /// Its index.
        clump: usize,
        /// By how much in a whole step (radians).
        angle: f64,
    },
}

impl Culprit {
    fn advice(&self) -> &'static str {
        match self {
            Self::Obstacle { .. } => ": slow the obstacle",
            Self::Particle { .. } => ": look at the forces on it and at its start",
            Self::InCell { .. } => ": look at the forces on it, widen the cell",
            Self::Clump { .. } => ": look at the forces on it and at its spin",
        }
    }
}

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Obstacle { name, path, particle } => {
                write!(f, "obstacle `{name}` moves by up to {path:.3e} in it beside particle {particle}")
            }
            Self::Particle { particle, displacement } => {
                write!(f, "particle {particle} moves by {displacement:.3e} of the smallest radius in it")
            }
            Self::InCell { particle, path, period } => write!(
                f,
                "particle {particle} may move by {path:.3e} in it, too far for a periodic cell {period:.3e} wide"
            ),
            Self::Clump { clump, angle } => write!(f, "clump {clump} turns by {angle:.3e} rad in it"),
        }
    }
}

/// What would help a projection that did not converge.
fn remedy(fastest: &(usize, f64)) -> String {
    let (particle, displacement) = fastest;
    if *displacement > LONG_WAY {
        let way = format!("particle {particle} would move by {displacement:.1e} of the smallest radius in the step");
        return format!("{way}: reduce `time.dt`, or look at the forces on it");
    }
    "raise `solver.tolerance` or `solver.max_sweeps`, or set `solver.at_limit = \"continue\"`".to_owned()
}

/// `particles` are those of the culprits, `partners` the obstacles among them.
fn pinching(partners: &str) -> String {
    if partners.is_empty() {
        return "by each other; give them more room".to_owned();
    }
    format!("between {partners}; slow or stop what closes on them")
}
