//! Every scene of the repository runs, and a scene that is wrong is told so, at the right place.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use gluey::scene::{Scene, SceneError};

fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    found.sort();
    found
}

#[test]
fn every_scene_runs_twenty_steps_without_overlap() {
    assert!(scenes().len() >= 8);
    for path in scenes() {
        let mut scene = Scene::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let smallest = scene.simulation.state.particles.smallest_radius();
        let allowed = -1.01 * scene.simulation.settings.criteria.tolerance * smallest;
        for _ in 0..20 {
            let report = scene.simulation.step().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(report.least_gap >= allowed, "{}: least gap {}", path.display(), report.least_gap);
        }
    }
}

fn problems(text: &str) -> SceneError {
    match Scene::parse(text, Path::new("bad.toml")) {
        Ok(_) => panic!("this scene should be refused"),
        Err(error) => error,
    }
}

/// The message must hold each of the words.
fn refused(text: &str, words: &[&str]) {
    let message = problems(text).to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in:\n{message}");
    }
}

const GOOD: &str = r"
dimension = 2
[time]
dt = 0.01
until = 1.0
[[particles]]
mass = 1
source.list = [{ position = [0, 0.5], radius = 0.1 }]
";

#[test]
fn all_problems_are_told_at_once_with_line_and_column() {
    let text = r"
dimenson = 2
[time]
dt = -0.01
until = nan
[contact]
law.gluey = { gama_min = -1 }
[[particles]]
mass = 0
source.list = [{ position = [0, 0, 0], radius = -1 }]
[[obstacle]]
shape.half-spce = { point = [0, 0, 0], normal = [0, 0, 1] }
";
    refused(
        text,
        &[
            "bad.toml:2:1: unknown key `dimenson`",
            "did you mean `dimension`?",
            "bad.toml:4:6:",
            "must be positive",
            "bad.toml:5:9:",
            "bad.toml:7:15: unknown key `gama_min`",
            "did you mean `gamma_min`?",
            "bad.toml:9:8:",
            "bad.toml:10:49:",
            "bad.toml:12:7: unknown choice `half-spce`",
            "did you mean `half-space`?",
        ],
    );
    assert_eq!(problems(text).problems.len(), 7, "{}", problems(text));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let with = |extra: &str| format!("{GOOD}{extra}");
    refused(&GOOD.replace("until = 1.0", ""), &["`until` is missing"]);
    refused(&GOOD.replace("dt = 0.01", "dt = 0"), &["positive"]);
    refused(&GOOD.replace("dimension = 2", "dimension = 4"), &["2 or 3"]);
    refused(&GOOD.replace("[0, 0.5]", "[0, 0.5, 1]"), &["z must be 0"]);
    refused(&GOOD.replace("dimension = 2", ""), &["three components"]);
    refused(&GOOD.replace("mass = 1\n", ""), &["no mass", "`density`"]);
    refused(&GOOD.replace("mass = 1", "mass = 1\ngroup = \"red\""), &["there is no group `red`"]);
    refused(&with("[contact]\nlaw.gluey = { gamma_min = 1 }"), &["at most 0"]);
    refused(
        &with("[contact]\nlaw.gluey = { gamma_min = -1, roughness = { viscosity = 1, length_unit = 1 } }"),
        &["both"],
    );
    refused(
        &with("[contact]\nlaw.gluey = { roughness = { viscosity = 1, length_unit = 1 } }"),
        &["roughness", "more than 0"],
    );
    refused(&with("[environment]\ngravity.expression = [\"sinn(t)\", \"0\"]"), &["sinn", "sin"]);
    refused(
        &with("[environment]\ngravity.steps = { times = [1, 0], values = [[0, 0], [0, 1]] }"),
        &["expected a time after"],
    );
    refused(&with("[environment]\ninertia = false"), &["drag"]);
    refused(&with("[[force]]\nname = \"wind\""), &["`wind`", "`acceleration`"]);
    refused(
        &with("[[obstacle]]\nshape.sphere = { centre = [0, 0.45], radius = 0.2, side = \"outside\" }"),
        &["overlaps", "particle 0"],
    );
    refused(&with("[[obstacle]]\nshape.mesh = { path = \"nowhere.stl\" }"), &["nowhere.stl"]);
    refused(
        &with("[[obstacle]]\nassembly = \"mixer\"\nshape.half-space = { point = [0, 0], normal = [0, 1] }"),
        &["no assembly `mixer`"],
    );
    refused(&with("[[obstacle]]\nshape.half-space = { point = [0, 0], normal = [0, 0] }"), &["normal"]);
    refused(&with("[[particles]]\nmass = 1\nsource.csv = { path = \"nowhere.csv\" }"), &["nowhere.csv"]);
    refused(
        &with("[[particles]]\nmass = 1\nsource.list = [{ position = [0.05, 0.5], radius = 0.1 }]"),
        &["overlaps", "particles 0 and 1"],
    );
    refused(
        &with(
            "[[particles]]\nmass = 1\nsource.fill = { count = 1000, radius = 0.1, region.box = { lower = [1, 1], upper = [2, 2] } }",
        ),
        &["found room for", "of 1000 particles"],
    );
    refused(&GOOD.replace("[time]", "[time"), &["bad.toml:3:"]);
    refused("dimension = 2\n[time]\ndt = 1\nuntil = 1", &["no particles"]);
}

#[test]
fn particles_come_from_csv_files_and_errors_name_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    let text = r#"
[time]
dt = 0.01
until = 1
[[group]]
name = "sand"
[[group]]
name = "silt"
[[particles]]
group = "silt"
density = 2
source.csv = { path = "start.csv" }
"#;
    let load = |csv: &str| {
        std::fs::write(folder.path().join("start.csv"), csv).unwrap();
        Scene::parse(text, &scene)
    };
    let good = load("x,y,z,r,m,vx,vy,vz,group\n0,0,0,0.5,3,1,2,3,sand\n# a comment\n2,0,0,0.5,,,,,\n");
    let particles = good.unwrap_or_else(|error| panic!("{error}")).simulation.state.particles;
    assert_eq!(particles.mass[0], 3.0);
    assert!((particles.mass[1] - 2.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.125).abs() < 1e-12);
    assert_eq!(particles.group, vec![0, 1]);
    assert_eq!(particles.velocity[0].to_array(), [1.0, 2.0, 3.0]);
    for (csv, word) in [
        ("x,y,z,r\n0,0,0,-1\n", "line 2: r is -1"),
        ("x,y,z,r\n0,0,0,1\n0,5,zero,1\n", "line 3: z is `zero`"),
        ("x,y,r\n0,0,1\n", "column `z` is missing"),
        ("x,y,z,r,mas\n0,0,0,1,1\n", "unknown column `mas`"),
        ("x,y,z,r,group\n0,0,0,1,gravel\n", "no group `gravel`"),
    ] {
        let message = load(csv).err().unwrap().to_string();
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

#[test]
fn the_same_seed_gives_the_same_particles_and_another_gives_others() {
    let fill = |seed: u64| {
        let text = format!(
            "seed = {seed}\n[time]\ndt = 1\nuntil = 1\n[[particles]]\nmass = 1\nsource.fill = {{ count = 50, radius = [0.05, 0.1], \
             region.box = {{ lower = [0, 0, 0], upper = [1, 1, 1] }} }}"
        );
        Scene::parse(&text, Path::new("fill.toml")).unwrap_or_else(|error| panic!("{error}")).simulation.state.particles
    };
    assert_eq!(fill(1), fill(1));
    assert_ne!(fill(1).position, fill(2).position);
}
