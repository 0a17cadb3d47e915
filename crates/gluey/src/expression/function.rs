//! The named functions and constants, and the operators that are not plain arithmetic.

use super::Operation;

/// What a function name stands for.
#[derive(Clone, Copy)]
pub(super) enum Function {
    /// f(x)
    Unary(fn(f64) -> f64),
    /// f(x, y)
    Binary(fn(f64, f64) -> f64),
    /// f(x, y, …) = f(f(x, y), …)
    Fold(fn(f64, f64) -> f64),
    /// min(max(x, low), high)
    Clamp,
    /// if(condition, a, b)
    If,
}

/// The functions, by name.
pub(super) const FUNCTIONS: [(&str, Function); 23] = [
    ("sin", Function::Unary(f64::sin)),
    ("cos", Function::Unary(f64::cos)),
    ("tan", Function::Unary(f64::tan)),
    ("asin", Function::Unary(f64::asin)),
    ("acos", Function::Unary(f64::acos)),
    ("atan", Function::Unary(f64::atan)),
    ("atan2", Function::Binary(f64::atan2)),
    ("sinh", Function::Unary(f64::sinh)),
    ("cosh", Function::Unary(f64::cosh)),
    ("tanh", Function::Unary(f64::tanh)),
    ("exp", Function::Unary(f64::exp)),
    ("ln", Function::Unary(f64::ln)),
    ("log10", Function::Unary(f64::log10)),
    ("sqrt", Function::Unary(f64::sqrt)),
    ("abs", Function::Unary(f64::abs)),
    ("sign", Function::Unary(sign)),
    ("floor", Function::Unary(f64::floor)),
    ("ceil", Function::Unary(f64::ceil)),
    ("min", Function::Fold(min)),
    ("max", Function::Fold(max)),
    ("clamp", Function::Clamp),
    ("step", Function::Unary(step)),
    ("if", Function::If),
];

/// The constants, by name.
pub(super) const CONSTANTS: [(&str, f64); 2] = [("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

impl Function {
    /// The least and the greatest number of arguments.
    pub(super) fn arguments(self) -> (usize, usize) {
        match self {
            Self::Unary(_) => (1, 1),
            Self::Binary(_) => (2, 2),
            Self::Fold(_) => (2, usize::MAX),
            Self::Clamp | Self::If => (3, 3),
        }
    }

    /// What to do once `count` arguments have been computed.
    pub(super) fn after(self, count: usize) -> Option<Operation> {
        match (self, count) {
            (Self::Unary(function), 1) => Some(Operation::Unary(function)),
            (Self::Binary(function), 2) | (Self::Fold(function), 2..) => Some(Operation::Binary(function)),
            (Self::Clamp, 2) => Some(Operation::Binary(max)),
            (Self::Clamp, 3) => Some(Operation::Binary(min)),
            (Self::If, 3) => Some(Operation::Select),
            _ => None,
        }
    }
}

/// 1 or 0, or NaN when the answer rests on a NaN.
fn truth(holds: bool, operands: f64) -> f64 {
    if operands.is_nan() { f64::NAN } else { f64::from(u8::from(holds)) }
}

/// NaN if a or b is, else any number.
fn either(a: f64, b: f64) -> f64 {
    if a.is_nan() { a } else { b }
}

pub(super) fn less(a: f64, b: f64) -> f64 {
    truth(a < b, either(a, b))
}

pub(super) fn less_or_equal(a: f64, b: f64) -> f64 {
    truth(a <= b, either(a, b))
}

pub(super) fn greater(a: f64, b: f64) -> f64 {
    truth(a > b, either(a, b))
}

pub(super) fn greater_or_equal(a: f64, b: f64) -> f64 {
    truth(a >= b, either(a, b))
}

pub(super) fn equal(a: f64, b: f64) -> f64 {
    truth(a == b, either(a, b))
}

pub(super) fn unequal(a: f64, b: f64) -> f64 {
    truth(a != b, either(a, b))
}

pub(super) fn and(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { truth(b != 0.0, either(a, b)) }
}

pub(super) fn or(a: f64, b: f64) -> f64 {
    if a == 0.0 { truth(b != 0.0, b) } else { truth(true, a) }
}

pub(super) fn not(a: f64) -> f64 {
    truth(a == 0.0, a)
}

pub(super) fn select(condition: f64, a: f64, b: f64) -> f64 {
    if condition.is_nan() {
        condition
    } else if condition == 0.0 {
        b
    } else {
        a
    }
}

/// Squares, the commonest powers, are products: faster, and correctly rounded whatever the mathematics library.
pub(super) fn power(a: f64, b: f64) -> f64 {
    if b == 2.0 { a * a } else { a.powf(b) }
}

pub(super) fn remainder(a: f64, b: f64) -> f64 {
    a % b
}

fn min(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

fn max(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

fn step(x: f64) -> f64 {
    truth(x >= 0.0, x)
}

/// −1, 0 or 1 (and not ±1 at ±0 as [`f64::signum`]).
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
