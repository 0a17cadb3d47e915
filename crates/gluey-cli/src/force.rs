//! A force as the user writes it: pairs, an expression, or a table.

use std::path::Path;

use anyhow::Result;
use gluey::environment::{Signal, Table};
use gluey::plane::PlaneError;

/// Pairs TIME:VALUE, or an expression of t.
pub fn force(text: &str) -> Result<Signal, PlaneError> {
    let refused =
        |expected: String| PlaneError::Invalid { name: "force".to_owned(), value: format!("`{text}`"), expected };
    if !text.contains(':') {
        let expected = |reason| format!("pairs TIME:VALUE or an expression of t ({reason})");
        return Signal::expression(text).map_err(|reason| refused(expected(reason.to_string())));
    }
    let (mut times, mut values) = (Vec::new(), Vec::new());
    for pair in text.split(',') {
        let numbers = pair.split_once(':').and_then(|(time, value)| Some((parsed(time)?, parsed(value)?)));
        let (time, value) = numbers.ok_or_else(|| refused(format!("pairs TIME:VALUE, which `{pair}` is not")))?;
        times.push(time);
        values.push(value);
    }
    Ok(Signal::Steps(Table::new(times, values)?))
}

fn parsed(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// A table of two columns; a first row that is no pair of numbers is a heading.
pub fn table(path: &Path) -> Result<Signal> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).comment(Some(b'#')).from_path(path)?;
    let (mut times, mut values) = (Vec::new(), Vec::new());
    for (line, record) in reader.records().enumerate() {
        let record = record?;
        let numbers: Vec<Option<f64>> = record.iter().map(|field| field.parse().ok()).collect();
        match numbers[..] {
            [Some(time), Some(value)] => {
                times.push(time);
                values.push(value);
            }
            [None, None] if line == 0 => {}
            _ => anyhow::bail!("row {} is not two numbers, a time and a value", line + 1),
        }
    }
    Ok(Signal::Linear(Table::new(times, values)?))
}
