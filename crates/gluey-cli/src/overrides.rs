//! `--set key=value`: changes to the text of a scene before it is read, so that the text stays "the scene as run".

use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

/// A value to change: the way to it through tables and lists, and what to put there.
#[derive(Clone, Debug)]
pub struct Override {
    path: Vec<String>,
    value: Value,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, for example time.dt=1e-4")?;
        let path: Vec<String> = key.split('.').map(|part| part.trim().to_owned()).collect();
        if path.iter().any(String::is_empty) {
            return Err(format!("`{key}` is no key: write names separated by dots, for example time.dt"));
        }
        let value = value.trim();
        // What is no TOML is text, so that quotes need not get past the shell.
        let value = value.parse().unwrap_or_else(|_| Value::from(value));
        Ok(Self { path, value })
    }
}

/// The text with all overrides applied. A text that is no TOML comes back as it is: reading it tells what is wrong, and
/// where.
pub fn apply(text: &str, overrides: &[Override]) -> Result<String> {
    if overrides.is_empty() {
        return Ok(text.to_owned());
    }
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(text.to_owned()) };
    for change in overrides {
        set(document.as_item_mut(), &change.path, &change.value)
            .map_err(|problem| anyhow!("--set {}: {problem:#}", change.path.join(".")))?;
    }
    Ok(document.to_string())
}

fn set(place: &mut Item, path: &[String], value: &Value) -> Result<()> {
    let Some((first, rest)) = path.split_first() else {
        replace(place, value);
        return Ok(());
    };
    match place {
        Item::ArrayOfTables(tables) => {
            let count = tables.len();
            let table = index(first, count)?.and_then(|k| tables.get_mut(k)).ok_or_else(|| no_entry(first, count))?;
            set_in_table(table, first, (rest, value))
        }
        Item::Value(Value::Array(list)) => {
            let count = list.len();
            let entry = index(first, count)?.and_then(|k| list.get_mut(k)).ok_or_else(|| no_entry(first, count))?;
            let mut item = Item::Value(entry.clone());
            set(&mut item, rest, value)?;
            *entry = item.into_value().map_err(|_| anyhow!("a table cannot stand in this list"))?;
            Ok(())
        }
        _ => {
            let inline = place.is_inline_table();
            let found = as_written(place);
            let Some(table) = place.as_table_like_mut() else {
                bail!("`{found}` stands where a table with the key `{first}` is needed; set it as a whole");
            };
            if let Some(entry) = table.get_mut(first) {
                return set(entry, rest, value);
            }
            let mut entry = match rest {
                [] => Item::Value(value.clone()),
                _ if inline => Item::Value(Value::InlineTable(InlineTable::new())),
                _ => Item::Table(implicit_table()),
            };
            set(&mut entry, rest, value)?;
            table.insert(first, entry);
            Ok(())
        }
    }
}

fn set_in_table(table: &mut Table, name: &str, (path, value): (&[String], &Value)) -> Result<()> {
    if path.is_empty() {
        bail!("`{name}` is a whole table; set one of its keys");
    }
    let mut item = Item::Table(std::mem::take(table));
    let done = set(&mut item, path, value);
    if let Item::Table(changed) = item {
        *table = changed;
    }
    done
}

/// A value on one line, without the comments around it.
pub fn as_written(item: &Item) -> String {
    match item.clone().into_value() {
        Ok(mut value) => {
            value.decor_mut().clear();
            value.to_string()
        }
        Err(_) => String::new(),
    }
}

/// A table without a header of its own while it holds nothing but tables.
fn implicit_table() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

/// Puts the value in the place of another; the comment behind it stays.
fn replace(place: &mut Item, value: &Value) {
    let mut value = value.clone();
    if let Some(old) = place.as_value() {
        *value.decor_mut() = old.decor().clone();
    }
    *place = Item::Value(value);
}

fn index(text: &str, count: usize) -> Result<Option<usize>> {
    match text.parse::<usize>() {
        Ok(index) => Ok(Some(index).filter(|index| *index < count)),
        Err(_) => bail!("this is a list: a number counted from 0 is needed in the place of `{text}`"),
    }
}

fn no_entry(index: &str, count: usize) -> anyhow::Error {
    let entries = if count == 1 { "entry" } else { "entries" };
    anyhow!("there is no entry {index}: the list has {count} {entries}, counted from 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
name = 'a' # its name
[time]
dt = 0.1   # short
[contact]
law = { gluey = { gamma_min = -1 } }
[[obstacle]]
shape.sphere = { radius = 1, centre = [0, 1] }
[[obstacle]]
name = 'second'
";

    fn changed(change: &str) -> Result<String> {
        apply(TEXT, &[change.parse().unwrap()])
    }

    #[test]
    fn a_value_changes_and_all_else_stays() {
        assert_eq!(changed("time.dt=1e-3").unwrap(), TEXT.replace("dt = 0.1 ", "dt = 1e-3 "));
        assert_eq!(changed("name=two words").unwrap(), TEXT.replace("'a'", "\"two words\""));
        assert_eq!(changed("contact.law.gluey.gamma_min=-inf").unwrap(), TEXT.replace("-1", "-inf"));
        assert_eq!(changed("obstacle.0.shape.sphere.centre.1=5").unwrap(), TEXT.replace("[0, 1]", "[0, 5]"));
        assert_eq!(changed("obstacle.1.name='x'").unwrap(), TEXT.replace("'second'", "'x'"));
        assert_eq!(apply("no = = toml", &["a=1".parse().unwrap()]).unwrap(), "no = = toml");
    }

    #[test]
    fn new_keys_and_tables_are_added() {
        for (change, line) in [
            ("seed=7", "seed = 7"),
            ("output.frame_every=3", "[output]\nframe_every = 3"),
            ("solver.a.b=true", "[solver.a]\nb = true"),
            ("obstacle.1.motion.rotation.rate=2", "[obstacle.motion.rotation]\nrate = 2"),
        ] {
            let text = changed(change).unwrap();
            assert!(text.contains(line), "{text}");
            let once_more = apply(&text, &[change.parse().unwrap()]).unwrap();
            assert_eq!(once_more, text);
        }
    }

    #[test]
    fn what_cannot_be_set_is_told() {
        let told = |change: &str| changed(change).unwrap_err().to_string();
        assert_eq!(
            told("obstacle.2.name=x"),
            "--set obstacle.2.name: there is no entry 2: the list has 2 entries, counted from 0"
        );
        assert!(told("obstacle.name=x").contains("a number counted from 0 is needed in the place of `name`"));
        assert!(told("time.dt.h=1").contains("`0.1` stands where a table with the key `h` is needed"));
        assert!("time.dt".parse::<Override>().is_err());
        assert!("time..dt=1".parse::<Override>().is_err());
    }
}
