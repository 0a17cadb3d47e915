//! Why there is no trajectory.

use std::fmt::Display;

use crate::environment::EnvironmentError;

/// An experiment that cannot be run, or a run that failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlaneError {
    /// A value was refused.
    #[error("`{name}` is {value}: expected {expected}")]
    Invalid {
        /// Which value.
        name: String,
        /// What it is.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// The force is not what it should be, or has no mean over a step.
    #[error(transparent)]
    Force(#[from] EnvironmentError),
    /// The exact solution was asked for a force that is no table of steps.
    #[error(
        "the exact solution needs a piecewise-constant force: give it as pairs time:value, each holding until the next"
    )]
    NotPiecewiseConstant,
    /// The integrator of the lubrication model gave up.
    #[error("the lubrication model could not be integrated beyond t = {time}, where ln(q + q_s) = {log_gap}: {reason}")]
    Integration {
        /// How far it came (time).
        time: f64,
        /// ln(q + q_s) there.
        log_gap: f64,
        /// What the integrator says.
        reason: String,
    },
}

impl PlaneError {
    /// Whether other input would help, rather than the integrator having failed.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, Self::Integration { .. })
    }

    pub(super) fn invalid(name: impl Into<String>, value: impl Display, expected: impl Into<String>) -> Self {
        Self::Invalid { name: name.into(), value: value.to_string(), expected: expected.into() }
    }
}
