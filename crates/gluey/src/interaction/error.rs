//! Why pair forces cannot act.

use std::fmt::Display;

use crate::geometry::Unrepeatable;

/// A setting that makes no sense, or a force that came out unusable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InteractionError {
    /// A setting was refused.
    #[error("`{field}` is {value}: expected {expected}")]
    Invalid {
        /// Which setting.
        field: &'static str,
        /// What it is.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// An obstacle that a force names cannot be repeated in the periodic cell.
    #[error(
        "obstacle `{obstacle}`, which a pair force names, cannot be repeated in the periodic cell at t = {time}: {why:?}"
    )]
    Unrepeatable {
        /// Its name.
        obstacle: String,
        /// What is in the way.
        why: Unrepeatable,
        /// When (time).
        time: f64,
    },
    /// A force is infinite or not a number.
    #[error("pair force `{force}` between {bodies} is {value} at a gap of {gap} and t = {time}")]
    NotFinite {
        /// Its label.
        force: String,
        /// Between whom.
        bodies: String,
        /// The gap (length).
        gap: f64,
        /// When (time).
        time: f64,
        /// What it is (force).
        value: f64,
    },
}

impl InteractionError {
    pub(super) fn invalid(field: &'static str, value: impl Display, expected: impl Into<String>) -> Self {
        Self::Invalid { field, value: value.to_string(), expected: expected.into() }
    }
}
