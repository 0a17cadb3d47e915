//! From tokens to a program: precedence climbing, which emits operands before their operator.

use std::ops::Range;

use super::function::{self, CONSTANTS, FUNCTIONS, Function};
use super::lexer::{self, Symbol, Token};
use super::{ExpressionError, Operation, STACK};

/// Most operators, parentheses and calls inside one another: bounds the recursion of the parser.
const NESTING: usize = 100;

/// How tightly operators bind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Sign,
    Power,
}

struct Parser<'text> {
    text: &'text str,
    variables: &'text [&'text str],
    token: Token<'text>,
    at: Range<usize>,
    program: Vec<Operation>,
    nesting: usize,
    held: usize,
}

/// The program that computes the text.
pub(super) fn parse(text: &str, variables: &[&str]) -> Result<Vec<Operation>, ExpressionError> {
    let (token, at) = lexer::next(text, 0)?;
    let mut parser = Parser { text, variables, token, at, program: Vec::new(), nesting: 0, held: 0 };
    parser.expression(Binding::Or)?;
    match parser.token {
        Token::End => Ok(parser.program),
        Token::Symbol(Symbol::Close) => Err(parser.refuse("`)` closes nothing")),
        Token::Symbol(Symbol::Comma) => Err(parser.refuse("`,` outside the arguments of a function")),
        _ => Err(parser.operator_expected()),
    }
}

/// The operation between two operands and how tightly it binds.
fn infix(symbol: Symbol) -> Option<(Binding, Operation)> {
    Some(match symbol {
        Symbol::Or => (Binding::Or, Operation::Binary(function::or)),
        Symbol::And => (Binding::And, Operation::Binary(function::and)),
        Symbol::Less => (Binding::Comparison, Operation::Binary(function::less)),
        Symbol::LessOrEqual => (Binding::Comparison, Operation::Binary(function::less_or_equal)),
        Symbol::Greater => (Binding::Comparison, Operation::Binary(function::greater)),
        Symbol::GreaterOrEqual => (Binding::Comparison, Operation::Binary(function::greater_or_equal)),
        Symbol::Equal => (Binding::Comparison, Operation::Binary(function::equal)),
        Symbol::Unequal => (Binding::Comparison, Operation::Binary(function::unequal)),
        Symbol::Plus => (Binding::Sum, Operation::Add),
        Symbol::Minus => (Binding::Sum, Operation::Subtract),
        Symbol::Star => (Binding::Product, Operation::Multiply),
        Symbol::Slash => (Binding::Product, Operation::Divide),
        Symbol::Percent => (Binding::Product, Operation::Binary(function::remainder)),
        Symbol::Caret => (Binding::Power, Operation::Binary(function::power)),
        Symbol::Not | Symbol::Open | Symbol::Close | Symbol::Comma => return None,
    })
}

/// What the right operand of a left-associative operator must bind like at least: one level tighter.
fn tighter(binding: Binding) -> Binding {
    match binding {
        Binding::Or => Binding::And,
        Binding::And => Binding::Not,
        Binding::Not => Binding::Comparison,
        Binding::Comparison => Binding::Sum,
        Binding::Sum => Binding::Product,
        Binding::Product => Binding::Sign,
        Binding::Sign | Binding::Power => Binding::Power,
    }
}

impl<'text> Parser<'text> {
    /// An operand and all operators after it that bind at least this tightly.
    fn expression(&mut self, least: Binding) -> Result<(), ExpressionError> {
        self.nesting += 1;
        if self.nesting > NESTING {
            return Err(self.refuse(format!("more than {NESTING} levels of nesting")));
        }
        self.operand()?;
        let mut compared = false;
        while let Token::Symbol(symbol) = self.token {
            let Some((binding, operation)) = infix(symbol) else { break };
            if binding < least {
                break;
            }
            if binding == Binding::Comparison {
                if compared {
                    let help = "write `a < b and b < c`".to_owned();
                    return Err(ExpressionError { help: Some(help), ..self.refuse("comparisons do not chain") });
                }
                compared = true;
            }
            self.advance()?;
            // 2^-x: a power takes a sign in its exponent, and itself, from the right.
            self.expression(if binding == Binding::Power { Binding::Sign } else { tighter(binding) })?;
            self.emit(operation)?;
        }
        self.nesting -= 1;
        Ok(())
    }

    /// A number, a name, a call, a parenthesis, or one of them behind a sign or a `not`.
    fn operand(&mut self) -> Result<(), ExpressionError> {
        match self.token {
            Token::Number(value) => {
                self.emit(Operation::Number(value))?;
                self.advance()
            }
            Token::Name(name) => self.name(name),
            Token::Symbol(Symbol::Minus) => {
                self.advance()?;
                self.expression(Binding::Power)?;
                self.emit(Operation::Negate)
            }
            Token::Symbol(Symbol::Plus) => {
                self.advance()?;
                self.expression(Binding::Power)
            }
            Token::Symbol(Symbol::Not) => {
                self.advance()?;
                self.expression(Binding::Comparison)?;
                self.emit(Operation::Unary(function::not))
            }
            Token::Symbol(Symbol::Open) => {
                self.advance()?;
                self.expression(Binding::Or)?;
                self.close()
            }
            Token::Symbol(Symbol::Close) => Err(self.refuse("a value is missing before `)`")),
            Token::Symbol(_) => {
                let spelling = &self.text[self.at.clone()];
                Err(self.refuse(format!("a value is missing before `{spelling}`")))
            }
            Token::End if self.text.trim().is_empty() => Err(self.refuse("the expression is empty")),
            Token::End => Err(self.refuse("a value is missing at the end")),
        }
    }

    /// A variable, a constant or a call.
    fn name(&mut self, name: &'text str) -> Result<(), ExpressionError> {
        let at = self.at.clone();
        self.advance()?;
        let called = self.token == Token::Symbol(Symbol::Open);
        let function = FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
        if let (Some(function), true) = (function, called) {
            return self.call(name, &at, function);
        }
        let variable = self.variables.iter().position(|known| *known == name).map(Operation::Variable);
        let constant = || CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, v)| Operation::Number(*v));
        match (variable.or_else(constant), function) {
            (Some(_), _) if called => Err(ExpressionError {
                at,
                message: format!("`{name}` is no function"),
                help: Some(format!("a product is written `{name} * (…)`")),
            }),
            (Some(operation), _) => self.emit(operation),
            (None, Some(_)) => Err(ExpressionError {
                at,
                message: format!("`{name}` is a function"),
                help: Some(format!("call it: `{name}(…)`")),
            }),
            (None, None) => {
                let help = if called { nearest_function(name) } else { self.nearest_value(name) };
                Err(ExpressionError { at, message: format!("unknown name `{name}`"), help: Some(help) })
            }
        }
    }

    /// The arguments in parentheses after a function's name.
    fn call(&mut self, name: &str, at: &Range<usize>, function: Function) -> Result<(), ExpressionError> {
        self.advance()?;
        let mut count = 0;
        if self.token != Token::Symbol(Symbol::Close) {
            loop {
                self.expression(Binding::Or)?;
                count += 1;
                if let Some(operation) = function.after(count) {
                    self.emit(operation)?;
                }
                if self.token != Token::Symbol(Symbol::Comma) {
                    break;
                }
                self.advance()?;
            }
        }
        let end = self.at.end;
        self.close()?;
        let (least, most) = function.arguments();
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let wanted = match (least, most) {
            (1, 1) => "1 argument".to_owned(),
            (least, usize::MAX) => format!("at least {least} arguments"),
            (least, _) => format!("{least} arguments"),
        };
        let message = format!("`{name}` takes {wanted}, not {count}");
        Err(ExpressionError { at: at.start..end, message, help: None })
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        match self.token {
            Token::Symbol(Symbol::Close) => self.advance(),
            Token::End => Err(self.refuse("`)` is missing at the end")),
            Token::Symbol(Symbol::Comma) => Err(self.refuse("`,` outside the arguments of a function")),
            _ => Err(self.operator_expected()),
        }
    }

    fn advance(&mut self) -> Result<(), ExpressionError> {
        (self.token, self.at) = lexer::next(self.text, self.at.end)?;
        Ok(())
    }

    /// Appends an operation, counting the values it leaves on the stack.
    fn emit(&mut self, operation: Operation) -> Result<(), ExpressionError> {
        self.held = self.held + 1 - operation.operands();
        if self.held > STACK {
            return Err(self.refuse(format!("more than {STACK} intermediate values at once")));
        }
        self.program.push(operation);
        Ok(())
    }

    fn refuse(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError { at: self.at.clone(), message: message.into(), help: None }
    }

    fn operator_expected(&self) -> ExpressionError {
        let found = &self.text[self.at.clone()];
        let help = Some(format!("a product is written `… * {found}`"));
        ExpressionError { help, ..self.refuse(format!("an operator is missing before `{found}`")) }
    }

    fn nearest_value(&self, name: &str) -> String {
        let constants = CONSTANTS.iter().map(|(known, _)| *known);
        let values = self.variables.iter().copied().chain(constants);
        let functions = FUNCTIONS.iter().map(|(known, _)| *known);
        nearest(name, values.clone().chain(functions))
            .unwrap_or_else(|| format!("the names known here are {}", values.collect::<Vec<_>>().join(", ")))
    }
}

fn nearest_function(name: &str) -> String {
    nearest(name, FUNCTIONS.iter().map(|(known, _)| *known))
        .unwrap_or_else(|| format!("the functions are {}", FUNCTIONS.map(|(known, _)| known).join(", ")))
}

/// The known name most like this one, if one is much like it.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = name.to_lowercase();
    let alike = |candidate: &str| strsim::jaro_winkler(&name, candidate);
    let best = known.max_by(|a, b| alike(a).total_cmp(&alike(b)))?;
    (alike(best) > 0.75).then(|| format!("did you mean `{best}`?"))
}
