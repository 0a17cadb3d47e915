//! Facts about the machine a run is made on, and where its scene was: they go to `host.toml`, which may differ between
//! equal runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The key under which the path of the scene is kept, for resuming.
const SCENE: &str = "scene";
/// The file in a run folder.
const FILE: &str = "host.toml";

/// What is worth knowing when results or wall times are compared, and the file of the scene, if it has one.
pub fn facts(scene: Option<&Path>) -> Vec<(&'static str, String)> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut facts = vec![
        ("gluey", env!("CARGO_PKG_VERSION").to_owned()),
        ("machine", machine()),
        ("processor", processor()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("cores", cores.to_string()),
        ("threads", rayon::current_num_threads().to_string()),
        ("started_unix_seconds", started.to_string()),
    ];
    if let Some(scene) = scene {
        let scene = std::path::absolute(scene).unwrap_or_else(|_| scene.to_owned());
        facts.push((SCENE, scene.display().to_string()));
    }
    facts
}

/// Where the scene of a run was when it was last started; files that the scene refers to are relative to it.
pub fn scene_path(run: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(run.join(FILE)).ok()?;
    let document: toml_edit::DocumentMut = text.parse().ok()?;
    let last = document.get("start")?.as_array_of_tables()?.iter().last()?;
    last.get(SCENE)?.as_str().map(PathBuf::from)
}

fn machine() -> String {
    let named = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = named.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    named.map_or_else(|| "unknown".to_owned(), |name| name.trim().to_owned())
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    model.map_or_else(|| "unknown".to_owned(), |(_, name)| name.trim().to_owned())
}
