//! Commands that look and do not run.

use std::fs;
use std::path::Path;

use crate::Place;

#[test]
fn a_new_scene_can_be_checked_and_run() {
    let place = Place::new();
    assert!(place.gluey(&["new"]).succeeds().contains("wrote scene.toml"));
    let told = place.gluey(&["check", "scene.toml"]).succeeds();
    for part in ["this scene is fine", "74, radius", "`plate`: plate, swings", "gluey, gamma_min = -0.5", "1000 steps"]
    {
        assert!(told.contains(part), "`{part}` is not in\n{told}");
    }
    place.gluey(&["run", "scene.toml", "--until=0.05"]).succeeds();
    let before = fs::read(place.path("scene.toml")).unwrap();
    place.gluey(&["new"]).fails(1, &["scene.toml exists already, and is left as it is"]);
    place.gluey(&["new", "no/where.toml"]).fails(1, &["cannot write no/where.toml: there is no such folder"]);
    assert_eq!(fs::read(place.path("scene.toml")).unwrap(), before);
}

#[test]
fn every_scene_of_the_repository_is_fine() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let files = fs::read_dir(scenes).unwrap().map(|entry| entry.unwrap().path());
    let scenes: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    assert!(!scenes.is_empty());
    for scene in scenes {
        Place::new().gluey(&["check", scene.to_str().unwrap()]).succeeds();
    }
}

#[test]
fn check_takes_overrides_and_warns_of_long_steps() {
    let place = Place::new();
    place.gluey(&["new"]).succeeds();
    let told = place.gluey(&["check", "scene.toml", "--set", "time.dt=0.1"]).succeeds();
    assert!(told.contains("20 steps of dt = 0.1") && told.contains("warning: dt looks large"), "{told}");
    assert!(!place.path("runs").exists());
}

#[test]
fn check_tells_the_slide_of_the_scene_at_which_steps_are_split() {
    let place = Place::new();
    place.gluey(&["new"]).succeeds();
    let told = |slip: &str| place.gluey(&["check", "scene.toml", "--set=time.dt=0.0035", slip]).succeeds();
    assert!(told("--set=time.max_slip=0.2").contains("slide by more than 0.2 of it"));
    assert!(told("--set=time.max_slip=0.4").contains("slide by more than 0.4 of it"));
    assert!(!told("--set=time.max_slip=inf").contains("splits steps"));
}

#[test]
fn info_tells_about_a_run() {
    let place = Place::new();
    place.short("run", &["--until=0.1"]).succeeds();
    let told = place.gluey(&["info", "run"]).succeeds();
    for part in ["run: not finished", "20 of 60", "good, of step 20", "gluey run --resume --out run"] {
        assert!(told.contains(part), "`{part}` is not in\n{told}");
    }
    place.gluey(&["run", "--resume", "--out=run"]).succeeds();
    assert!(place.gluey(&["info", "run"]).succeeds().starts_with("run: finished\n"));
    let json: serde_json::Value = serde_json::from_str(&place.gluey(&["info", "run", "--json"]).succeeds()).unwrap();
    assert_eq!(json["step"], 60);
    assert_eq!(json["finished"], true);
    assert_eq!(json["particles"], 60);
    assert!(json["last_row"]["kinetic_energy"].as_f64().unwrap() > 0.0);
    assert!(json["worst_overlap"].as_f64().unwrap() < 1e-7);
    place.gluey(&["info", "."]).fails(1, &[". is no run folder: it has no manifest.toml"]);
    place.gluey(&["info", "nowhere"]).fails(1, &["nowhere", "there is no such file or folder"]);
}

#[test]
fn completions_and_schema_are_printed() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(place.gluey(&["completions", shell]).succeeds().contains("gluey"), "{shell}");
    }
    let schema: serde_json::Value = serde_json::from_str(&place.gluey(&["schema"]).succeeds()).unwrap();
    assert_eq!(schema["title"], "A gluey scene");
}

#[test]
fn help_and_version_are_there() {
    let place = Place::new();
    assert!(place.gluey(&["--help"]).succeeds().contains("Exit codes"));
    assert!(place.gluey(&["run", "--help"]).succeeds().contains("--resume"));
    assert!(place.gluey(&["--version"]).succeeds().starts_with("gluey "));
}

#[test]
fn check_names_the_forces_however_they_are_written() {
    let place = Place::new();
    place.gluey(&["new"]).succeeds();
    let scene = fs::read_to_string(place.path("scene.toml")).unwrap();
    let wind = "force = [{ name = 'wind', acceleration = [1, 0] }, { force = [0, 1] }]\n";
    place.write("windy.toml", &format!("{wind}{scene}"));
    let told = place.gluey(&["check", "windy.toml"]).succeeds();
    assert!(told.contains("2 further forces: `wind` and `force 1`"), "{told}");
}

#[test]
fn a_run_without_formats_has_no_frames() {
    let place = Place::new();
    let none = "--set=output.formats=[]";
    let told = place.short("run", &["--until=0.1", none]).succeeds();
    assert!(told.contains("  frames          0\n"), "{told}");
    assert!(place.gluey(&["info", "run"]).succeeds().contains("  frames          0\n"));
    place.gluey(&["new"]).succeeds();
    assert!(place.gluey(&["check", "scene.toml", none]).succeeds().contains("no frames;"));
}

#[test]
fn only_a_scene_that_has_a_file_is_named_among_the_facts_of_the_host() {
    let place = Place::new();
    place.short("built-in", &["--until=0.05"]).succeeds();
    place.gluey(&["run", "--resume", "--out=built-in"]).succeeds();
    assert!(!fs::read_to_string(place.path("built-in/host.toml")).unwrap().contains("scene ="));
    place.gluey(&["new"]).succeeds();
    place.gluey(&["run", "scene.toml", "--out=own", "--until=0.05"]).succeeds();
    assert!(fs::read_to_string(place.path("own/host.toml")).unwrap().contains("scene.toml"));
}

#[test]
fn odd_names_of_obstacles_do_not_break_the_series() {
    let place = Place::new();
    place.gluey(&["new"]).succeeds();
    let scene = fs::read_to_string(place.path("scene.toml")).unwrap();
    assert!(scene.contains("name = \"plate\""));
    place.write("odd.toml", &scene.replace("name = \"plate\"", "name = 'a, \"b\"; ü'"));
    place.gluey(&["run", "odd.toml", "--out=run", "--until=0.05"]).succeeds();
    let json: serde_json::Value = serde_json::from_str(&place.gluey(&["info", "run", "--json"]).succeeds()).unwrap();
    assert!(json["last_row"]["a, \"b\"; ü_fx"].is_number(), "{json}");
    assert_eq!(json["unconverged"], 0);
}
