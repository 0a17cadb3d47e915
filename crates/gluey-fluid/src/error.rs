//! Why there is no trajectory.

use gluey::environment::EnvironmentError;
use gluey::simulation::StepError;
use stokes::StokesError;
use thiserror::Error;

/// What can go wrong with a particle in a fluid.
#[derive(Debug, Error)]
pub enum FluidError {
    /// A figure of the experiment makes no sense.
    #[error("{name} = {value}: must be {expected}")]
    Invalid {
        /// Which figure.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// A table of drags makes no sense.
    #[error("the table of drags: {0}")]
    Table(String),
    /// The fluid solver has no answer.
    #[error(transparent)]
    Stokes(#[from] StokesError),
    /// The force cannot be used.
    #[error(transparent)]
    Force(#[from] EnvironmentError),
    /// A step failed.
    #[error("at t = {time}: {cause}")]
    Step {
        /// When (time).
        time: f64,
        /// Why.
        cause: StepError,
    },
}

impl FluidError {
    /// Whether other input would mend it.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Stokes(cause) => cause.is_bad_input(),
            Self::Step { .. } => false,
            _ => true,
        }
    }
}
