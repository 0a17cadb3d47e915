//! The file as a tree of keys and values: where an entry stands, whatever it means.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostics::Problem;

/// An entry of a scene file, named by the keys that lead to it. Its bytes are looked up when a problem asks for them: a
/// good scene pays nothing, and one with many problems is parsed once for all of them.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    text: &'a str,
    tree: Rc<OnceCell<Spanned<DeTable<'a>>>>,
    path: Vec<Branch>,
}

impl<'a> Place<'a> {
    /// The whole file.
    pub(super) fn root(text: &'a str) -> Self {
        Self { text, tree: Rc::default(), path: Vec::new() }
    }

    /// The whole file, from any entry of it.
    pub(super) fn file(&self) -> Self {
        Self { text: self.text, tree: self.tree.clone(), path: Vec::new() }
    }

    /// The text of the file.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// An entry of this table.
    pub(super) fn key(&self, key: &str) -> Self {
        self.step(Branch::from(key))
    }

    /// An entry of this list.
    pub(super) fn index(&self, index: usize) -> Self {
        self.step(Branch::Index(index))
    }

    fn step(&self, branch: Branch) -> Self {
        let mut path = self.path.clone();
        path.push(branch);
        Self { text: self.text, tree: self.tree.clone(), path }
    }

    /// A problem with this entry; where it is not written, with the nearest one around it that is.
    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        let table = self.tree.get_or_init(|| DeTable::parse_recoverable(self.text).0);
        Problem { span: span(table.get_ref(), &self.path), message: message.into(), help: None }
    }
}

/// Bytes of the last entry of the path that is written.
fn span(table: &DeTable, path: &[Branch]) -> Option<Range<usize>> {
    let (Branch::Key(first), rest) = path.split_first()? else { return None };
    let (key, mut value) = table.get_key_value(first.as_str())?;
    let mut span = shown(Some(key), value);
    for branch in rest {
        let next = match (branch, value.get_ref()) {
            (Branch::Key(name), DeValue::Table(table)) => {
                table.get_key_value(name.as_str()).map(|(key, value)| (Some(key), value))
            }
            (Branch::Index(index), DeValue::Array(array)) => array.get(*index).map(|value| (None, value)),
            _ => None,
        };
        let Some((key, next)) = next else { break };
        span = shown(key, next);
        value = next;
    }
    Some(span)
}

/// Tables are shown by their key, where they have one: their values may be spread over the file.
fn shown(key: Option<&Spanned<std::borrow::Cow<str>>>, value: &Spanned<DeValue>) -> Range<usize> {
    match (key, value.get_ref()) {
        (Some(key), DeValue::Table(_)) => key.span(),
        _ => value.span(),
    }
}

/// A step into the tree of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Branch {
    Key(String),
    Index(usize),
}

impl From<&str> for Branch {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

/// The path to the smallest entry (key or value) that covers the span.
pub(super) fn smallest_entry(table: &DeTable, span: &Range<usize>) -> Option<Vec<Branch>> {
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

/// Takes an entry out of the tree.
pub(super) fn remove(table: &mut Spanned<DeTable>, path: &[Branch]) {
    let Some((last, parents)) = path.split_last() else { return };
    let Some((Branch::Key(first), parents)) = parents.split_first() else {
        if let Branch::Key(key) = last {
            table.get_mut().remove(key.as_str());
        }
        return;
    };
    let mut place = table.get_mut().get_mut(first.as_str());
    for step in parents {
        place = place.and_then(|place| match (step, place.get_mut()) {
            (Branch::Key(key), DeValue::Table(table)) => table.get_mut(key.as_str()),
            (Branch::Index(index), DeValue::Array(array)) => array.get_mut(*index),
            _ => None,
        });
    }
    match (last, place.map(Spanned::get_mut)) {
        (Branch::Key(key), Some(DeValue::Table(table))) => {
            table.remove(key.as_str());
        }
        (Branch::Index(index), Some(DeValue::Array(array))) => {
            let kept = array.iter().enumerate().filter(|(k, _)| k != index).map(|(_, item)| item.clone());
            *array = kept.collect();
        }
        _ => {}
    }
}
