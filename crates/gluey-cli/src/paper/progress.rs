//! Which sections of a report are done, in `progress.json` beside it.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::sections::{Extent, Section};

const FILE: &str = "progress.json";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A section that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Wall time of its commands, of the last start of each.
    pub seconds: f64,
    /// What each command said.
    pub told: Vec<String>,
}

/// Sections that are done, with the commands they were made by.
#[derive(Debug)]
pub struct Progress {
    extent: Extent,
    done: BTreeMap<String, (Vec<String>, Done)>,
}

impl Progress {
    /// What the folder holds; it must be of this extent and version.
    pub fn read_or_new(extent: Extent) -> Result<Self> {
        let mut progress = Self { extent, done: BTreeMap::new() };
        let text = match fs::read_to_string(FILE) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(progress),
            Err(error) => return Err(error).with_context(|| format!("cannot read {FILE}")),
        };
        let value: Value = serde_json::from_str(&text).with_context(|| format!("{FILE} is damaged: remove it"))?;
        let field = |name: &str| value[name].as_str().unwrap_or("unknown").to_owned();
        let (other, version) = (field("extent"), field("gluey"));
        if other != extent.name() || version != VERSION {
            bail!(
                "this folder holds a {other} report of gluey {version}, not a {} one of gluey {VERSION}\n  help: choose \
                 another folder with --out, or remove this one",
                extent.name()
            );
        }
        let strings = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(|entry| entry.as_str().map(str::to_owned)).collect()
        };
        for (name, section) in value["sections"].as_object().into_iter().flatten() {
            let done =
                Done { seconds: section["seconds"].as_f64().unwrap_or_default(), told: strings(&section["told"]) };
            progress.done.insert(name.clone(), (strings(&section["commands"]), done));
        }
        Ok(progress)
    }

    /// Whether a section was made by the commands that it has now.
    pub fn has(&self, section: &Section) -> bool {
        self.done.get(section.name).is_some_and(|(commands, _)| *commands == section.commands)
    }

    /// What is known of a section that is done.
    pub fn of(&self, section: &Section) -> Option<&Done> {
        self.done.get(section.name).map(|(_, done)| done)
    }

    /// Sections that are done.
    pub fn count(&self) -> usize {
        self.done.len()
    }

    /// How much of it is run.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Writes down that a section is done.
    pub fn add(&mut self, section: &Section, done: Done) -> Result<()> {
        self.done.insert(section.name.to_owned(), (section.commands.clone(), done));
        let sections: Map<String, Value> = self
            .done
            .iter()
            .map(|(name, (commands, done))| {
                (name.clone(), json!({ "commands": commands, "seconds": done.seconds, "told": done.told }))
            })
            .collect();
        let value = json!({ "gluey": VERSION, "extent": self.extent.name(), "sections": sections });
        fs::write(FILE, format!("{value:#}\n")).with_context(|| format!("cannot write {FILE}"))
    }
}
