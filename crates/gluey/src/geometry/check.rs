//! What a shape or a motion says when a number makes no sense.

use std::fmt::Debug;

use glam::DVec3;

/// A field that makes no sense: which, its value, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} = {value}: should be {expected}")]
pub struct FieldError {
    /// Name of the field, as the type spells it.
    pub field: &'static str,
    /// Its value, printed.
    pub value: String,
    /// What would be right.
    pub expected: &'static str,
}

/// Passes when `holds`; otherwise tells which field is wrong.
pub(super) fn require(
    holds: bool,
    field: &'static str,
    value: impl Debug,
    expected: &'static str,
) -> Result<(), FieldError> {
    if holds { Ok(()) } else { Err(FieldError { field, value: format!("{value:?}"), expected }) }
}

pub(super) fn finite(field: &'static str, value: f64) -> Result<(), FieldError> {
    require(value.is_finite(), field, value, "a finite number")
}

pub(super) fn positive(field: &'static str, value: f64) -> Result<(), FieldError> {
    require(value > 0.0 && value.is_finite(), field, value, "a finite number > 0")
}

pub(super) fn not_negative(field: &'static str, value: f64) -> Result<(), FieldError> {
    require(value >= 0.0 && value.is_finite(), field, value, "a finite number >= 0")
}

/// A finite point or vector; in 2D one of the plane z = 0.
pub(super) fn vector(field: &'static str, value: DVec3, dimension: usize) -> Result<(), FieldError> {
    require(value.is_finite(), field, value.to_array(), "three finite numbers")?;
    require(dimension != 2 || value.z == 0.0, field, value.to_array(), "in the plane z = 0 in a 2D run")
}

/// A direction: finite and not zero; in 2D one of the plane z = 0.
pub(super) fn direction(field: &'static str, value: DVec3, dimension: usize) -> Result<(), FieldError> {
    vector(field, value, dimension)?;
    // The length squares the components: it vanishes or overflows long before they do.
    let usable = value.length() > 0.0 && value.length().is_finite();
    require(usable, field, value.to_array(), "a vector whose length is neither 0 nor infinite")
}

/// The axis of a turn or of a solid of revolution: not zero; in 2D along z.
pub(super) fn axis(field: &'static str, value: DVec3, dimension: usize) -> Result<(), FieldError> {
    direction(field, value, 3)?;
    require(
        dimension != 2 || (value.x == 0.0 && value.y == 0.0),
        field,
        value.to_array(),
        "along z in a 2D run, e.g. [0, 0, 1]",
    )
}
