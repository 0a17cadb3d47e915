//! Quantities that change in time alone, and their exact mean over a step.

use super::error::{finite, parsed_with};
use super::quadrature::{self, QuadratureError};
use super::step::named;
use super::{EnvironmentError, Span};
use crate::expression::Expression;

/// The variable of a signal's expression.
pub const SIGNAL_VARIABLES: [&str; 1] = ["t"];

/// A function of time; its unit is that of the quantity it drives.
#[derive(Clone, Debug)]
pub enum Signal {
    /// Always the same.
    Constant(f64),
    /// Each value holds from its time until the next; the first also before its time, the last for ever.
    Steps(Table),
    /// Straight lines between the points of the table; the first and last values hold outside.
    Linear(Table),
    /// An expression in the time `t`, see [`SIGNAL_VARIABLES`].
    Expression(Expression),
}

/// Three signals, the components x, y, z of a vector that changes in time.
pub type Signal3 = [Signal; 3];

/// Values at strictly increasing times.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Table {
    /// Checks that there is a value for each time, that all are finite and that the times increase.
    pub fn new(times: Vec<f64>, values: Vec<f64>) -> Result<Self, EnvironmentError> {
        if times.is_empty() {
            return Err(EnvironmentError::invalid("times", "empty", "at least one time"));
        }
        if times.len() != values.len() {
            let expected = format!("as many as there are times, {}", times.len());
            return Err(EnvironmentError::invalid("values", format!("a list of {}", values.len()), expected));
        }
        for (field, list) in [("times", &times), ("values", &values)] {
            if let Some(index) = list.iter().position(|value| !value.is_finite()) {
                return Err(EnvironmentError::invalid(format!("{field}[{index}]"), list[index], "a finite number"));
            }
        }
        if let Some(index) = (1..times.len()).find(|&k| times[k] <= times[k - 1]) {
            let expected = format!("a time after times[{}] = {}", index - 1, times[index - 1]);
            return Err(EnvironmentError::invalid(format!("times[{index}]"), times[index], expected));
        }
        Ok(Self { times, values })
    }

    /// The times (time).
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The values, one for each time.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The index of the last time ≤ t, or 0 before the first.
    fn row(&self, t: f64) -> usize {
        self.times.partition_point(|&time| time <= t).saturating_sub(1)
    }

    /// The value on the straight line through the points around t.
    fn interpolate(&self, t: f64) -> f64 {
        let k = self.row(t);
        let (t0, v0) = (self.times[k], self.values[k]);
        match (self.times.get(k + 1), self.values.get(k + 1)) {
            (Some(t1), Some(v1)) if t > t0 => v0 + (v1 - v0) * ((t - t0) / (t1 - t0)),
            _ => v0,
        }
    }

    /// The mean over the span of a function that is a straight line between the table's times and has the given mean
    /// between two neighbouring times. Sums deviations from the first piece, so that a constant is exact.
    fn mean(&self, span: Span, piece: impl Fn(f64, f64) -> f64) -> f64 {
        let end = span.end();
        let inside =
            self.times.partition_point(|&time| time <= span.start)..self.times.partition_point(|&time| time < end);
        let mut knots = self.times.get(inside).unwrap_or_default().iter().copied().chain([end]);
        let mut from = knots.next().unwrap_or(end);
        let first = piece(span.start, from);
        let mut deviation = 0.0;
        for to in knots {
            deviation += (piece(from, to) - first) * ((to - from) / span.dt);
            from = to;
        }
        first + deviation
    }
}

impl Signal {
    /// An expression in the time `t`.
    pub fn expression(text: &str) -> Result<Self, crate::expression::ExpressionError> {
        Expression::parse(text, &SIGNAL_VARIABLES).map(Self::Expression)
    }

    /// The value at a time.
    #[must_use]
    pub fn at(&self, time: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Steps(table) => table.values[table.row(time)],
            Self::Linear(table) => table.interpolate(time),
            Self::Expression(expression) => expression.eval(&[time]),
        }
    }

    /// The mean over a span of a quantity of this name; exact for constants, steps and lines.
    pub fn mean_of(&self, quantity: &str, span: Span) -> Result<f64, EnvironmentError> {
        named(self.mean(span), span, || (quantity.to_owned(), None))
    }

    /// The times at which a table has its points, in order; none for constants and expressions.
    #[must_use]
    pub fn knots(&self) -> &[f64] {
        match self {
            Self::Constant(_) | Self::Expression(_) => &[],
            Self::Steps(table) | Self::Linear(table) => table.times(),
        }
    }

    /// The mean over a step.
    pub(super) fn mean(&self, span: Span) -> Result<f64, QuadratureError> {
        match self {
            Self::Constant(value) => Ok(*value),
            // Between two switches the signal is what it is at the first of them.
            Self::Steps(table) => Ok(table.mean(span, |from, _| table.values[table.row(from)])),
            // Between two points the mean of a straight line is that of its ends.
            Self::Linear(table) => {
                Ok(table.mean(span, |from, to| 0.5 * (table.interpolate(from) + table.interpolate(to))))
            }
            Self::Expression(expression) => match expression.constant() {
                Some(value) if value.is_finite() => Ok(value),
                _ => quadrature::mean(|t| expression.eval(&[t]), span.start, span.end()),
            },
        }
    }

    /// Refuses what is no function of time with finite values as far as can be told beforehand.
    pub(crate) fn check(&self, field: &str) -> Result<(), EnvironmentError> {
        match self {
            Self::Constant(value) => finite(field, *value),
            Self::Steps(_) | Self::Linear(_) => Ok(()),
            Self::Expression(expression) => parsed_with(field, expression, &SIGNAL_VARIABLES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(times: &[f64], values: &[f64]) -> Table {
        Table::new(times.to_vec(), values.to_vec()).expect("valid")
    }

    fn mean(signal: &Signal, start: f64, end: f64) -> f64 {
        signal.mean(Span { start, dt: end - start }).expect("finite")
    }

    #[test]
    fn steps_hold_until_the_next_time_and_their_mean_is_exact() {
        let signal = Signal::Steps(table(&[1.0, 2.0, 2.5], &[-2.0, 2.0, 6.0]));
        for (time, value) in [(0.0, -2.0), (1.0, -2.0), (1.99, -2.0), (2.0, 2.0), (2.5, 6.0), (9.0, 6.0)] {
            assert_eq!(signal.at(time), value, "{time}");
        }
        assert_eq!(mean(&signal, 1.0, 2.0), -2.0);
        assert_eq!(mean(&signal, 2.0, 2.5), 2.0);
        assert_eq!(mean(&signal, 1.5, 2.5), 0.0);
        assert_eq!(mean(&signal, 1.0, 3.0), (-2.0 + 1.0 + 3.0) / 2.0);
        assert_eq!(mean(&signal, -5.0, 1.0), -2.0);
        assert_eq!(mean(&Signal::Steps(table(&[0.0, 0.3], &[0.1, 0.1])), 0.1, 0.7), 0.1);
    }

    #[test]
    fn lines_are_held_outside_and_their_mean_is_exact() {
        let signal = Signal::Linear(table(&[1.0, 2.0, 4.0], &[0.0, 4.0, 0.0]));
        for (time, value) in [(0.0, 0.0), (1.5, 2.0), (2.0, 4.0), (3.0, 2.0), (4.0, 0.0), (5.0, 0.0)] {
            assert_eq!(signal.at(time), value, "{time}");
        }
        assert_eq!(mean(&signal, 1.0, 2.0), 2.0);
        assert_eq!(mean(&signal, 1.0, 4.0), 2.0);
        assert_eq!(mean(&signal, 0.0, 8.0), 0.75);
        assert_eq!(mean(&signal, 1.5, 3.0), (1.5 + 3.0) / 1.5);
    }

    #[test]
    fn an_expression_that_switches_inside_a_step_has_its_exact_mean() {
        let signal = Signal::expression("if(t < 2, -2, 2)").expect("parses");
        for (start, end) in [(1.93, 2.03), (1.9, 2.9), (1.0, 2.0001), (1.999, 7.0), (1.999_999_9, 2.4)] {
            let exact = 2.0 * ((end - 2.0) - (2.0 - start)) / (end - start);
            assert!((mean(&signal, start, end) - exact).abs() < 1e-12, "{start} {end}");
        }
        assert_eq!(mean(&signal, 1.0, 1.5), -2.0);
        assert_eq!(mean(&signal, 2.0, 2.5), 2.0);
    }

    #[test]
    fn bad_tables_are_refused_by_name() {
        for (times, values, message) in [
            (vec![], vec![], "`times` is empty: expected at least one time"),
            (vec![0.0], vec![1.0, 2.0], "`values` is a list of 2: expected as many as there are times, 1"),
            (vec![0.0, f64::NAN], vec![1.0, 2.0], "`times[1]` is NaN: expected a finite number"),
            (vec![0.0], vec![f64::INFINITY], "`values[0]` is inf: expected a finite number"),
            (vec![0.0, 1.0, 1.0], vec![1.0; 3], "`times[2]` is 1: expected a time after times[1] = 1"),
        ] {
            assert_eq!(Table::new(times, values).expect_err("invalid").to_string(), message);
        }
    }
}
