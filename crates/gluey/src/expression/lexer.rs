//! From text to tokens with their places.

use std::ops::Range;

use super::ExpressionError;

/// The smallest pieces of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'text> {
    Number(f64),
    Name(&'text str),
    Symbol(Symbol),
    End,
}

/// Operators and punctuation; the words `and`, `or`, `not` are the same as `&&`, `||`, `!`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
    And,
    Or,
    Not,
    Open,
    Close,
    Comma,
}

/// All spellings, longer ones before their beginnings.
const SYMBOLS: [(&str, Symbol); 18] = [
    ("<=", Symbol::LessOrEqual),
    (">=", Symbol::GreaterOrEqual),
    ("==", Symbol::Equal),
    ("!=", Symbol::Unequal),
    ("&&", Symbol::And),
    ("||", Symbol::Or),
    ("+", Symbol::Plus),
    ("-", Symbol::Minus),
    ("*", Symbol::Star),
    ("/", Symbol::Slash),
    ("%", Symbol::Percent),
    ("^", Symbol::Caret),
    ("<", Symbol::Less),
    (">", Symbol::Greater),
    ("!", Symbol::Not),
    ("(", Symbol::Open),
    (")", Symbol::Close),
    (",", Symbol::Comma),
];

/// What people write for something else.
const MISTAKES: [(&str, &str); 8] = [
    ("**", "powers are written `^`"),
    ("=", "equality is written `==`"),
    ("&", "write `and` or `&&`"),
    ("|", "write `or` or `||`"),
    ("−", "minus is written `-`"),
    ("×", "products are written `*`"),
    ("·", "products are written `*`"),
    ("²", "powers are written `^`"),
];

/// The token at or after byte `from`, and its range of bytes.
pub(super) fn next(text: &str, from: usize) -> Result<(Token<'_>, Range<usize>), ExpressionError> {
    let rest = &text[from..];
    let start = text.len() - rest.trim_start().len();
    let rest = &text[start..];
    let Some(first) = rest.chars().next() else {
        return Ok((Token::End, start..start));
    };
    if first.is_ascii_digit() || first == '.' {
        return number(rest, start);
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let token = match &rest[..length] {
            "and" => Token::Symbol(Symbol::And),
            "or" => Token::Symbol(Symbol::Or),
            "not" => Token::Symbol(Symbol::Not),
            name => Token::Name(name),
        };
        return Ok((token, start..start + length));
    }
    let symbol = SYMBOLS.iter().find(|(spelling, _)| rest.starts_with(spelling));
    let mistake = MISTAKES.iter().find(|(spelling, _)| rest.starts_with(spelling));
    match (symbol, mistake) {
        (Some((spelling, symbol)), None) => Ok((Token::Symbol(*symbol), start..start + spelling.len())),
        // `==` begins like the mistake `=`, and so do `&&` and `||`.
        (Some((spelling, symbol)), Some((wrong, _))) if spelling.len() >= wrong.len() => {
            Ok((Token::Symbol(*symbol), start..start + spelling.len()))
        }
        (_, Some((wrong, help))) => Err(ExpressionError {
            at: start..start + wrong.len(),
            message: format!("`{wrong}` is no operator"),
            help: Some((*help).to_owned()),
        }),
        (None, None) => Err(ExpressionError {
            at: start..start + first.len_utf8(),
            message: format!("unexpected character {first:?}"),
            help: None,
        }),
    }
}

/// Digits, an optional point with digits, an optional exponent; at least one digit before the exponent.
fn number(rest: &str, start: usize) -> Result<(Token<'_>, Range<usize>), ExpressionError> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length = digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let end = digits(length + 1 + sign);
        // Without digits it is no exponent but a name that follows.
        if end > length + 1 + sign {
            length = end;
        }
    }
    let at = start..start + length;
    let refuse = |message: String| ExpressionError { at: at.clone(), message, help: None };
    match rest[..length].parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), at)),
        Ok(_) => Err(refuse(format!("the number {} is too large", &rest[..length]))),
        Err(_) => Err(refuse(format!("`{}` is no number", &rest[..length]))),
    }
}
