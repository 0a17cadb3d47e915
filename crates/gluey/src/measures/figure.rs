//! A figure as measures tell it: its place in the time series and for programs, its words, its unit and its value.

use glam::DMat3;

use super::stress::{components, pressure};

/// One figure of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// What ends the name of its column in the time series.
    pub name: &'static str,
    /// Where programs find it in `gluey info --json`: names of objects, one in the other, with dots between.
    pub key: &'static str,
    /// What it tells.
    pub about: &'static str,
    /// Its unit; empty for pure numbers.
    pub unit: &'static str,
    /// How much it is.
    pub value: Quantity,
}

/// A value and how it is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Any number, NaN where there is none.
    Number(f64),
    /// A whole number.
    Count(i64),
    /// A part of a whole.
    Share {
        /// How many are in it.
        part: usize,
        /// How many there are.
        whole: usize,
    },
}

impl Quantity {
    /// The value of a column. A share of nothing is 0.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Number(value) => value,
            Self::Count(count) => count as f64,
            Self::Share { part, whole } => part as f64 / whole.max(1) as f64,
        }
    }
}

/// The figures of a stress; keys are within the object of one.
#[must_use]
pub fn of_stress(stress: DMat3, dimension: usize) -> Vec<Figure> {
    let told = |name, about, value| Figure { name, key: name, about, unit: STRESS, value: Quantity::Number(value) };
    let entry = |(name, value)| told(name, ABOUT_ENTRY, value);
    let mut figures: Vec<Figure> = components(stress, dimension).into_iter().map(entry).collect();
    figures.push(told("pressure", "p = −tr σ/d", pressure(stress, dimension)));
    figures
}

const STRESS: &str = "force / length², in 2D force / length";
const ABOUT_ENTRY: &str = "entry of σ";
