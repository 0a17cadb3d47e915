//! Why there is no a-priori velocity.

use std::fmt::Display;

use crate::expression::Expression;

/// A setting that makes no sense, or a quantity that came out unusable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EnvironmentError {
    /// A setting was refused.
    #[error("`{field}` is {value}: expected {expected}")]
    Invalid {
        /// Which setting.
        field: String,
        /// What it is.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// A quantity is infinite or not a number.
    #[error("{quantity} is {value} at t = {time}{}", on(*.particle))]
    NotFinite {
        /// Which quantity; a force is named by its label.
        quantity: String,
        /// The index of the particle, unless the quantity is the same for all.
        particle: Option<usize>,
        /// When (time).
        time: f64,
        /// What it is.
        value: f64,
    },
    /// A quantity varies so wildly within a step that its mean cannot be found.
    #[error("{quantity} varies too fast within the step from t = {time}{} for its mean to be found", on(*.particle))]
    Unresolved {
        /// Which quantity; a force is named by its label.
        quantity: String,
        /// The index of the particle, unless the quantity is the same for all.
        particle: Option<usize>,
        /// The start of the step (time).
        time: f64,
    },
    /// A solver that the environment asks, say one of the fluid, has no answer.
    #[error("{quantity} is not known{}: {reason}", on(*.particle))]
    NoAnswer {
        /// Which quantity.
        quantity: String,
        /// The index of the particle, unless the quantity is the same for all.
        particle: Option<usize>,
        /// The start of the step (time).
        time: f64,
        /// What the solver said.
        reason: String,
    },
}

fn on(particle: Option<usize>) -> String {
    particle.map(|index| format!(" on particle {index}")).unwrap_or_default()
}

impl EnvironmentError {
    pub(crate) fn invalid(field: impl Into<String>, value: impl Display, expected: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), value: value.to_string(), expected: expected.into() }
    }
}

/// Refuses infinities and NaN.
pub(super) fn finite(field: &str, value: f64) -> Result<(), EnvironmentError> {
    if value.is_finite() { Ok(()) } else { Err(EnvironmentError::invalid(field, value, "a finite number")) }
}

/// Refuses an expression of other variables, whose values would be taken for one another.
pub(super) fn parsed_with(field: &str, expression: &Expression, variables: &[&str]) -> Result<(), EnvironmentError> {
    if expression.variables() != variables {
        let value = format!("an expression of ({})", expression.variables().join(", "));
        let expected = format!("an expression of ({})", variables.join(", "));
        return Err(EnvironmentError::invalid(field, value, expected));
    }
    match expression.constant() {
        Some(value) if !value.is_finite() => {
            let value = format!("`{}` = {value}", expression.source());
            Err(EnvironmentError::invalid(field, value, "a finite number"))
        }
        _ => Ok(()),
    }
}
