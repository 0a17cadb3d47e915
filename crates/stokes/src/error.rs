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
}
