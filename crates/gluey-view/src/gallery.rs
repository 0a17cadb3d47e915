//! Scenes that can be started and runs that can be watched, as found below a folder.

use std::fs;
use std::path::{Path, PathBuf};

use gluey::scene::Stage;
use gluey::trajectory::Manifest;
use serde_json::{Value, json};

/// The entries of a folder, sorted; of a folder that is not there, none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let place = |name: std::ffi::OsString| if folder == Path::new(".") { name.into() } else { folder.join(name) };
    let read = fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| place(entry.file_name())).collect());
    let mut paths: Vec<PathBuf> = read.unwrap_or_default();
    paths.sort_unstable();
    paths
}

/// The run folders directly below a folder.
pub(crate) fn runs(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.join("manifest.toml").is_file()).collect()
}

/// The scene files in a folder: TOML files that have a time to run.
pub(crate) fn scenes(folder: &Path) -> Vec<PathBuf> {
    let is_scene = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "toml")
            && fs::read_to_string(path).is_ok_and(|text| text.contains("[time]") || text.contains("time ="))
    };
    entries(folder).into_iter().filter(is_scene).collect()
}

/// What a card of a scene shows.
pub(crate) fn scene_card(id: &str, text: &str, path: &Path) -> Value {
    let line = |key: &str| {
        let value = text.lines().take_while(|line| !line.starts_with('[')).find_map(|line| line.strip_prefix(key));
        value.and_then(|rest| rest.trim_start().strip_prefix('=')).map(|rest| rest.trim().trim_matches('"').to_owned())
    };
    let stage = Stage::parse(text, path);
    let file = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    json!({
        "scene": id,
        "name": line("name").or(file),
        "description": line("description"),
        "dimension": stage.as_ref().map(|stage| stage.dimension).ok(),
        "trouble": stage.as_ref().err().map(ToString::to_string),
    })
}

/// What a card of a run shows.
pub(crate) fn run_card(id: &str, folder: &Path, phase: Option<&str>) -> Value {
    let manifest = Manifest::read(&folder.join("manifest.toml"));
    let trouble = manifest.as_ref().err().map(ToString::to_string);
    let seconds =
        |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok().map(|age| age.as_secs());
    let changed = fs::metadata(folder.join("series.csv")).and_then(|file| file.modified()).ok().and_then(seconds);
    json!({
        "run": id,
        "name": manifest.as_ref().map(|manifest| manifest.info.scene_name.clone()).ok(),
        "dimension": manifest.as_ref().map(|manifest| manifest.info.dimension).ok(),
        "changed": changed,
        "phase": phase,
        "trouble": trouble,
    })
}
