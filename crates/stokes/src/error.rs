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
    /// A number that may have any size is not a number, or infinite.
    #[error("{name} = {value}: must be a finite number")]
    NotFinite {
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
    /// A figure is too small for the method.
    #[error("{name} = {value}: must be at least {least}; {advice}")]
    TooSmall {
        /// Which quantity.
        name: &'static str,
        /// What was given.
        value: f64,
        /// The least that works.
        least: f64,
        /// Why, and what would be right.
        advice: &'static str,
    },
    /// A figure is too large for the method.
    #[error("{name} = {value}: must be at most {most}; {advice}")]
    TooLarge {
        /// Which quantity.
        name: &'static str,
        /// What was given.
        value: f64,
        /// The most that works.
        most: f64,
        /// Why, and what would be right.
        advice: &'static str,
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
    #[error("the equations of the grid could not be solved ({reason}): try a larger gap or a coarser grid")]
    Unsolved {
        /// What the factorisation said.
        reason: String,
    },
    /// The matrix of a flow has no inverse that rounded numbers can tell.
    #[error("the equations of the flow are singular to rounding; take a larger penalty parameter")]
    Singular,
    /// There is too little memory.
    #[error("not enough memory for the mesh; take larger cells or a smaller domain")]
    Memory,
}

impl StokesError {
    /// Whether other figures would mend it, rather than another method or machine.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, Self::Unsolved { .. } | Self::Singular | Self::Memory)
    }
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
