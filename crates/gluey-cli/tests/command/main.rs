//! The command as its users meet it: arguments in, text, files and exit codes out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod clumps;
mod damage;
mod errors;
mod looks;
mod measures;
mod openings;
mod pack;
mod pair_forces;
mod paper;
mod periodic;
mod pictures;
mod plane;
mod project;
mod runs;
mod scenes;
mod signals;
mod stokes;
mod view;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Sixty steps with contacts, frames and checkpoints at odd moments.
const SHORT: &[&str] = &[
    "--set=time.dt=5e-3",
    "--set=time.until=0.3",
    "--set=output.frame_every=7",
    "--set=output.series_every=3",
    "--set=output.checkpoint_every=11",
];

/// What a command answered.
struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Answer {
    #[track_caller]
    fn succeeds(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// Fails with a code and a message that holds all parts.
    #[track_caller]
    fn fails(self, code: i32, parts: &[&str]) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.starts_with("error: "), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is not in\n{}", self.err);
        }
        self.err
    }
}

/// A place to work in.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gluey"));
        command.args(arguments).current_dir(self.0.path());
        command
    }

    fn gluey(&self, arguments: &[&str]) -> Answer {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Answer { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    /// `gluey run` of the short scene into a folder.
    fn short(&self, out: &str, more: &[&str]) -> Answer {
        self.gluey(&[&["run", "--out", out], SHORT, more].concat())
    }

    /// All files of a run with their bytes, but for those that hold wall times and hosts.
    fn content(&self, run: &str) -> BTreeMap<String, Vec<u8>> {
        content(&self.path(run))
    }

    #[track_caller]
    fn assert_same(&self, one: &str, other: &str) {
        let (one, other) = (self.content(one), self.content(other));
        assert!(one.keys().eq(other.keys()), "{:?} {:?}", one.keys(), other.keys());
        for (name, bytes) in &one {
            assert!(other[name] == *bytes, "{name} differs");
        }
    }
}

fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            files.extend(content(&entry.path()).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else if name != "timings.csv" && name != "host.toml" {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    files
}
