//! What is wrong with a scene file, for who wrote it: every problem with its line, column, and what would be right.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::de;
use toml::de::{DeTable, Deserializer};

use super::tree::{Branch, remove, smallest_entry};
use crate::choice::suggestion;

/// Problems reported at once; a file with more is mended step by step.
const MOST_PROBLEMS: usize = 30;
/// Characters of a line that are shown.
const LONG_LINE: usize = 120;
/// Characters of a message that are shown: it may quote what is in the file.
const LONG_MESSAGE: usize = 2_000;
/// Tables of which a file has one.
const SINGLE_TABLES: [&str; 6] = ["time", "contact", "environment", "solver", "output", "picture"];
/// How the parser starts to say that a table which stands for a choice is empty.
const NO_CHOICE: &str = "wanted exactly 1 element, found 0";
/// And that it has too many keys.
const ONE_CHOICE: &str = "wanted exactly 1 element";

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
        let (message, help) = (shortened(&problem.message), problem.help.as_deref().map(shortened));
        let Some(span) = &problem.span else {
            write!(f, "{path}: {message}")?;
            return help.map_or(Ok(()), |help| write!(f, "\n  help: {help}"));
        };
        let (line, column) = self.place(span.start);
        let number = line.to_string();
        let covered = self.text.get(span.clone()).map_or(1, |s| s.lines().next().unwrap_or("").chars().count());
        let (source, indent, width) = excerpt(self.text.lines().nth(line - 1).unwrap_or(""), column - 1, covered);
        writeln!(f, "{path}:{line}:{column}: {message}")?;
        let blank = " ".repeat(number.len());
        writeln!(f, "  {number} | {source}")?;
        write!(f, "  {blank} | {indent}{}", "^".repeat(width))?;
        help.map_or(Ok(()), |help| write!(f, "\n  {blank} = {help}"))
    }
}

/// The beginning of a text that is too long to be read.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONG_MESSAGE) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

/// The part of a line to show for `covered` characters from `start`, what stands before them as blanks, and how many of
/// them are shown.
fn excerpt(line: &str, start: usize, covered: usize) -> (String, String, usize) {
    let first = if line.chars().count() > LONG_LINE { start.saturating_sub(LONG_LINE / 2) } else { 0 };
    let shown: String = line.chars().skip(first).take(LONG_LINE).collect();
    // A tab is as wide as the terminal likes, and so it stands in both lines.
    let indent: String = shown.chars().take(start - first).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let width = covered.clamp(1, shown.chars().count().saturating_sub(start - first).max(1));
    (shown.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}"), indent, width)
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (k, problem) in self.problems.iter().take(MOST_PROBLEMS).enumerate() {
            if k > 0 {
                f.write_str("\n\n")?;
            }
            self.write_problem(f, problem)?;
        }
        match self.problems.len().saturating_sub(MOST_PROBLEMS) {
            0 => Ok(()),
            more => write!(f, "\n\nand {more} more"),
        }
    }
}

impl std::error::Error for SceneError {}

/// Reads a value of type T from TOML text. After an error the offending entry is left out and reading tried again, so
/// that one pass over a file tells all that is wrong with it.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut problems: Vec<Problem> = errors.iter().map(explain).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut table = table;
    let mut left_out: Vec<Vec<Branch>> = Vec::new();
    // A list would be taken for the values of the table, in the order of the manual.
    for name in SINGLE_TABLES {
        if let Some(list) = table.get_ref().get(name).filter(|value| value.get_ref().is_array()) {
            let problem = Problem::at(list.span(), format!("`{name}` is a table, not a list"));
            problems.push(problem.help(format!("write its header in single brackets: [{name}]")));
            left_out.push(vec![Branch::from(name)]);
            remove(&mut table, &[Branch::from(name)]);
        }
    }
    // A good file is read without a copy of its tree; one that is not is parsed again.
    if problems.is_empty() {
        if let Ok(value) = T::deserialize(Deserializer::from(table)) {
            return Ok(value);
        }
        table = DeTable::parse_recoverable(text).0;
    }
    loop {
        match T::deserialize(Deserializer::from(table.clone())) {
            Ok(value) if problems.is_empty() => return Ok(value),
            Ok(_) => return Err(problems),
            Err(error) => {
                let entry = error.span().and_then(|span| smallest_entry(table.get_ref(), &span));
                let problem = explain_by_text(&error, entry.as_deref(), text).unwrap_or_else(|| explain(&error));
                if !follows(&error, entry.as_deref(), &left_out) && !problems.contains(&problem) {
                    problems.push(problem);
                }
                let Some(entry) = entry.filter(|_| problems.len() < MOST_PROBLEMS) else { return Err(problems) };
                remove(&mut table, &entry);
                left_out.push(entry);
            }
        }
    }
}

/// Whether an error is there only because an entry was left out: a key that is missing now, a choice that is gone.
fn follows(error: &de::Error, entry: Option<&[Branch]>, left_out: &[Vec<Branch>]) -> bool {
    let missing = error.message().strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    let last_key = |path: &[Branch]| path.last().is_some_and(|key| Some(key) == missing.map(Branch::from).as_ref());
    let emptied = |path: &[Branch]| path.split_last().map(|(_, parent)| parent) == entry;
    let nothing_left = error.message().starts_with(NO_CHOICE);
    left_out.iter().any(|path| last_key(path) || (nothing_left && emptied(path)))
}

/// What the parser has no words for: a choice that is named as text although it needs values, and a date.
fn explain_by_text(error: &de::Error, entry: Option<&[Branch]>, text: &str) -> Option<Problem> {
    let span = error.span()?;
    let message = error.message().trim();
    // The parser presents dates as tables.
    if message.starts_with("invalid type: map") && text.get(span.clone())?.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(Problem::at(span, "no date is expected here"));
    }
    let expected = message.strip_prefix("invalid type: unit variant, expected ")?;
    let choice = text.get(span.clone())?.trim_matches(['"', '\'']);
    let key = entry?.iter().rev().find_map(|branch| match branch {
        Branch::Key(key) => Some(key),
        Branch::Index(_) => None,
    })?;
    let value = match choice {
        "list" | "expression" => "[ … ]",
        "coefficient" => "…",
        _ => "{ … }",
    };
    expected
        .starts_with("newtype variant")
        .then(|| Problem::at(span, format!("`{choice}` needs its values: write {key}.{choice} = {value}")))
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
            Some(field) if span.is_empty() => Problem::general(format!("{field} is missing in this file")),
            Some(field) => Problem::at(span, format!("{field} is missing here")),
            None => explain_kind(message, span),
        },
    }
}

/// Values of a wrong kind, and what is no value at all.
fn explain_kind(message: &str, span: Range<usize>) -> Problem {
    let kinds = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    let kinds = kinds.and_then(|rest| rest.split_once(", expected "));
    match kinds {
        Some(("map", "a sequence")) => Problem::at(span, "a list is expected here, not a table")
            .help("a list of tables has headers in double brackets, as in [[obstacle]]"),
        Some((found, _)) if found.ends_with("128") => Problem::at(span, "this number is too large"),
        Some((found, expected)) => {
            Problem::at(span, format!("{} is expected here, not {}", in_words(expected), found_in_words(found)))
        }
        None if message.starts_with("invalid length") && message.contains("expected struct") => {
            Problem::at(span, "a table is expected here, not a list")
        }
        None if message.starts_with(NO_CHOICE) => Problem::at(span, "a choice is missing here: this table is empty"),
        None if message.starts_with(ONE_CHOICE) => Problem::at(span, "only one choice may stand here"),
        None if message.starts_with("string values must be quoted") => {
            Problem::at(span, "a value is missing here, or text has no quotes")
        }
        None => Problem::at(span, message),
    }
}

/// The parser's names of what stands there.
fn found_in_words(found: &str) -> String {
    match found {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        other => format!("the {other}"),
    }
}

/// The parser's names of types.
fn in_words(kind: &str) -> &str {
    match kind {
        "f64" => "a number",
        "i64" => "a whole number",
        "u64" | "u32" | "usize" => "a whole number that is not negative",
        "a nonzero u64" | "a nonzero u32" => "a positive whole number",
        "a sequence" => "a list",
        "a string" => "text in quotes",
        "enum" => "a choice",
        "a boolean" => "true or false",
        other => other,
    }
}
