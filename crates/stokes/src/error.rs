//! What can be wrong with a question to the solvers.

use thiserror::Error;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StokesError {
    /// A length that must be positive is not.
    #[error("{name} = {value}: must be a positive number")]
    NotPositive {
        /// Which quantity.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A figure is outside what the formulas are good for.
    #[error("{name} = {value}: must be between {least} and {most}")]
    OutOfRange {
        /// Which quantity.
        name: &'static str,
        /// What was given.
        value: f64,
        /// The least that is good.
        least: f64,
        /// The most that is good.
        most: f64,
    },
    /// A grid has too few cells for the gap.
    #[error("{name} = {cells} cells: too few for this gap; give at least {needed}")]
    TooCoarse {
        /// Which number of cells.
        name: &'static str,
        /// What was given.
        cells: usize,
        /// What would do.
        needed: usize,
    },
    /// The linear equations could not be solved.
    #[error("the equations at gap {gap} have no solution in floating point: {reason}")]
    Unsolved {
        /// The gap.
        gap: f64,
        /// What the factorisation said.
        reason: String,
    },
}

/// `value`, if it is a positive finite number.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, StokesError> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(StokesError::NotPositive { name, value }) }
}

/// `value`, if it is a number from `least` to `most`.
pub(crate) fn between(name: &'static str, value: f64, [least, most]: [f64; 2]) -> Result<f64, StokesError> {
    positive(name, value)?;
    if (least..=most).contains(&value) { Ok(value) } else { Err(StokesError::OutOfRange { name, value, least, most }) }
}
