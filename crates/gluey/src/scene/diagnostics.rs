//! What is wrong with a scene file, for who wrote it: every problem with its line, column, and what would be right.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, Deserializer};
use toml::{Spanned, de};

/// Problems reported at once; a file with more is mended step by step.
const MOST_PROBLEMS: usize = 30;
/// Names less alike than this are not suggested.
const LIKENESS: f64 = 0.7;

/// One thing to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the file; none where the problem is with the whole.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at a place.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into(), help: None }
    }

    /// A problem with the whole file.
    pub fn general(message: impl Into<String>) -> Self {
        Self { span: None, message: message.into(), help: None }
    }

    /// Adds what would be right.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Why a scene could not be loaded: every problem found, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    path: PathBuf,
    text: String,
    /// What is to be mended.
    pub problems: Vec<Problem>,
}

impl SceneError {
    /// Problems of the file at `path` with the contents `text`.
    #[must_use]
    pub fn new(path: &Path, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.as_ref().map_or(usize::MAX, |span| span.start));
        Self { path: path.to_owned(), text: text.to_owned(), problems }
    }

    /// Line and column of a byte, both counted from 1.
    fn place(&self, byte: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    fn write_problem(&self, f: &mut fmt::Formatter, problem: &Problem) -> fmt::Result {
        let path = self.path.display();
        let Some(span) = &problem.span else {
            write!(f, "{path}: {}", problem.message)?;
            return problem.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"));
        };
        let (line, column) = self.place(span.start);
        let source = self.text.lines().nth(line - 1).unwrap_or("");
        let number = line.to_string();
        let shown = self.text.get(span.clone()).map_or(1, |s| s.lines().next().unwrap_or("").chars().count());
        let width = shown.clamp(1, source.chars().count().saturating_sub(column - 1).max(1));
        writeln!(f, "{path}:{line}:{column}: {}", problem.message)?;
        let blank = " ".repeat(number.len());
        writeln!(f, "  {number} | {source}")?;
        write!(f, "  {blank} | {}{}", " ".repeat(column - 1), "^".repeat(width))?;
        problem.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  {blank} = {help}"))
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (k, problem) in self.problems.iter().enumerate() {
            if k > 0 {
                f.write_str("\n\n")?;
            }
            self.write_problem(f, problem)?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneError {}

/// The name of `known` most like `word`, if any is.
#[must_use]
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name: &str| strsim::jaro_winkler(&word.to_lowercase(), name);
    known
        .into_iter()
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Reads a value of type T from TOML text. After an error the offending entry is left out and reading tried again, so
/// that one pass over a file tells all that is wrong with it.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut problems: Vec<Problem> = errors.iter().map(explain).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut table = table;
    let mut left_out: Vec<String> = Vec::new();
    loop {
        match T::deserialize(Deserializer::from(table.clone())) {
            Ok(value) if problems.is_empty() => return Ok(value),
            Ok(_) => return Err(problems),
            Err(error) => {
                let missing = error.message().strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
                if !missing.is_some_and(|field| left_out.iter().any(|name| name == field)) {
                    problems.push(explain(&error));
                }
                let entry = error.span().and_then(|span| smallest_entry(table.get_ref(), &span));
                let Some(entry) = entry.filter(|_| problems.len() < MOST_PROBLEMS) else { return Err(problems) };
                left_out.extend(remove(&mut table, &entry));
            }
        }
    }
}

/// A problem in our words from an error in the parser's.
fn explain(error: &de::Error) -> Problem {
    let message = error.message().trim();
    let span = error.span().unwrap_or(0..0);
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let unknown = ["unknown field", "unknown variant"].iter().find(|kind| message.starts_with(**kind));
    match (unknown, quoted.split_first()) {
        (Some(kind), Some((word, known))) => {
            let what = if kind.ends_with("field") { "unknown key" } else { "unknown choice" };
            let problem = Problem::at(span, format!("{what} `{word}`"));
            match suggestion(word, known.iter().copied()) {
                Some(name) => problem.help(format!("did you mean `{name}`?")),
                None if known.is_empty() => problem.help("nothing is expected here"),
                None => problem.help(format!("known here: {}", known.join(", "))),
            }
        }
        _ => match message.strip_prefix("missing field ") {
            Some(field) => Problem::at(span, format!("{field} is missing here")),
            None => Problem::at(span, message),
        },
    }
}

/// A step into the tree of a file.
#[derive(Clone, Debug, PartialEq)]
enum Branch {
    Key(String),
    Index(usize),
}

/// The path to the smallest entry (key or value) that covers the span.
fn smallest_entry(table: &DeTable, span: &Range<usize>) -> Option<Vec<Branch>> {
    let mut best: Option<(usize, Vec<Branch>)> = None;
    let mut offer = |entry: Range<usize>, path: &[Branch]| {
        if entry.start <= span.start
            && span.end <= entry.end
            && best.as_ref().is_none_or(|(size, _)| entry.len() <= *size)
        {
            best = Some((entry.len(), path.to_vec()));
        }
    };
    visit_table(table, &mut Vec::new(), &mut offer);
    best.map(|(_, path)| path)
}

fn visit_table(table: &DeTable, path: &mut Vec<Branch>, offer: &mut impl FnMut(Range<usize>, &[Branch])) {
    for (key, value) in table {
        path.push(Branch::Key(key.get_ref().to_string()));
        offer(key.span(), path);
        visit_value(value, path, offer);
        path.pop();
    }
}

fn visit_value(value: &Spanned<DeValue>, path: &mut Vec<Branch>, offer: &mut impl FnMut(Range<usize>, &[Branch])) {
    offer(value.span(), path);
    match value.get_ref() {
        DeValue::Table(table) => visit_table(table, path, offer),
        DeValue::Array(array) => {
            for (index, item) in array.iter().enumerate() {
                path.push(Branch::Index(index));
                visit_value(item, path, offer);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Takes an entry out of the tree; the name of its last key.
fn remove<'a>(table: &mut Spanned<DeTable<'a>>, path: &[Branch]) -> Option<String> {
    let (last, parents) = path.split_last()?;
    let Some((Branch::Key(first), parents)) = parents.split_first() else {
        let Branch::Key(key) = last else { return None };
        table.get_mut().remove(key.as_str());
        return Some(key.clone());
    };
    let mut place = table.get_mut().get_mut(first.as_str())?;
    for step in parents {
        place = match (step, place.get_mut()) {
            (Branch::Key(key), DeValue::Table(table)) => table.get_mut(key.as_str())?,
            (Branch::Index(index), DeValue::Array(array)) => array.get_mut(*index)?,
            _ => return None,
        };
    }
    match (last, place.get_mut()) {
        (Branch::Key(key), DeValue::Table(table)) => {
            table.remove(key.as_str());
            Some(key.clone())
        }
        (Branch::Index(index), DeValue::Array(array)) => {
            let kept = array.iter().enumerate().filter(|(k, _)| k != index).map(|(_, item)| item.clone());
            *array = kept.collect();
            None
        }
        _ => None,
    }
}
