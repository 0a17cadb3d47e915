//! Arithmetic expressions of named variables, as scenes write them: `if(t < 2, -2, 2)`, `-k * x + sin(2 * pi * t)`.
//!
//! An expression is parsed once into a flat program for a small stack machine and then evaluated without allocation.
//!
//! | binds | operators |
//! |---|---|
//! | loosest | `or` `\|\|` |
//! | | `and` `&&` |
//! | | `not` `!` |
//! | | `<` `<=` `>` `>=` `==` `!=` (not chained) |
//! | | `+` `-` |
//! | | `*` `/` `%` (remainder with the sign of the dividend) |
//! | | `-` before an operand |
//! | tightest | `^` (from the right: `2^3^2` is `2^9`, and `-2^2` is `-4`) |
//!
//! Functions: `sin cos tan asin acos atan atan2 sinh cosh tanh exp ln log10 sqrt abs sign floor ceil`,
//! `min` and `max` of two or more, `clamp(x, low, high)`, `step(x)` (1 for x ≥ 0, else 0) and `if(condition, a, b)`.
//! Constants: `pi` and `e`, unless a variable has that name. Truth is 1, falsehood 0; anything but 0 is true.
//!
//! A NaN is never hidden: comparisons, `min`, `max`, `step` and conditions hand it on. It is dropped only where it was
//! not asked for: in the branch of an `if` that is not taken, and right of an `and` or `or` already decided by its
//! left.

mod function;
mod lexer;
mod parser;

use std::ops::Range;

/// Most values a program may hold at once; parsing refuses an expression that needs more.
const STACK: usize = 32;

/// A parsed expression of the variables it was parsed with.
#[derive(Clone, Debug)]
pub struct Expression {
    source: String,
    variables: Vec<String>,
    program: Vec<Operation>,
    constant: Option<f64>,
}

/// Why a text is no expression, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", .help.as_ref().map(|help| format!("; {help}")).unwrap_or_default())]
pub struct ExpressionError {
    /// The culprit, as a range of bytes in the text; empty, at the end, where something is missing.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right, where that can be guessed.
    pub help: Option<String>,
}

/// One step of the stack machine: takes its operands from the top of the stack and leaves its result there.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Number(f64),
    Variable(usize),
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    Unary(fn(f64) -> f64),
    Binary(fn(f64, f64) -> f64),
    /// condition, a, b → a if the condition holds, else b.
    Select,
}

impl Operation {
    /// How many values it takes from the stack; each operation leaves one.
    fn operands(self) -> usize {
        match self {
            Self::Number(_) | Self::Variable(_) => 0,
            Self::Negate | Self::Unary(_) => 1,
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Binary(_) => 2,
            Self::Select => 3,
        }
    }
}

impl Expression {
    /// Parses a text in which the given names stand for numbers.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        let program = parser::parse(text, variables)?;
        let variables = variables.iter().map(|&name| name.to_owned()).collect();
        let mut expression = Self { source: text.to_owned(), variables, program, constant: None };
        if !expression.program.iter().any(|operation| matches!(operation, Operation::Variable(_))) {
            let value = expression.eval(&[]);
            expression.program = vec![Operation::Number(value)];
            expression.constant = Some(value);
        }
        Ok(expression)
    }

    /// The text it was parsed from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names it was parsed with, in the order in which [`Expression::eval`] takes their values.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// Its value for the given values of the variables, in the order of the names it was parsed with.
    ///
    /// # Panics
    /// If there are fewer values than variables.
    #[must_use]
    pub fn eval(&self, values: &[f64]) -> f64 {
        let mut stack = [0.0; STACK];
        let mut top = 0; // values on the stack; the parser has checked that it stays in 1..=STACK after each operation
        for &operation in &self.program {
            top -= operation.operands();
            stack[top] = match operation {
                Operation::Number(value) => value,
                Operation::Variable(index) => values[index],
                Operation::Add => stack[top] + stack[top + 1],
                Operation::Subtract => stack[top] - stack[top + 1],
                Operation::Multiply => stack[top] * stack[top + 1],
                Operation::Divide => stack[top] / stack[top + 1],
                Operation::Negate => -stack[top],
                Operation::Unary(function) => function(stack[top]),
                Operation::Binary(function) => function(stack[top], stack[top + 1]),
                Operation::Select => function::select(stack[top], stack[top + 1], stack[top + 2]),
            };
            top += 1;
        }
        stack[0]
    }

    /// Whether the value can depend on the variable of this index.
    #[must_use]
    pub fn uses(&self, variable_index: usize) -> bool {
        self.program.iter().any(|operation| matches!(operation, Operation::Variable(index) if *index == variable_index))
    }

    /// The value, if no variable is used.
    #[must_use]
    pub fn constant(&self) -> Option<f64> {
        self.constant
    }
}

#[cfg(test)]
mod tests;
