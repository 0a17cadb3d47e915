//! Runs in a periodic cell.

use std::fs;
use std::path::Path;

use crate::Place;

/// 30 steps of the shear flow: particles cross the faces, pairs are glued across them.
fn shear(place: &Place, out: &str, more: &[&str]) {
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/periodic-shear.toml");
    let scene = scene.to_str().unwrap();
    let short = ["--set=time.dt=0.04", "--set=output.frame_every=5", "--set=output.checkpoint_every=7"];
    place.gluey(&[&["run", scene, "--out", out], &short[..], more].concat()).succeeds();
}

#[test]
fn stopped_and_resumed_or_with_other_threads_leaves_the_same_bytes() {
    let place = Place::new();
    shear(&place, "whole", &["--until=1.2", "--threads=1"]);
    shear(&place, "half", &["--until=0.56", "--threads=2"]);
    place.gluey(&["run", "--resume", "--out=half", "--until=1.2"]).succeeds();
    place.assert_same("whole", "half");
    let text = fs::read_to_string(place.path("whole/trajectory.xyz")).unwrap();
    assert!(text.lines().nth(1).unwrap().ends_with(r#"pbc="T F F""#));
    place.gluey(&["render", "whole", "--times=1.2", "--png"]).succeeds();
}

#[test]
fn check_tells_the_cell() {
    let place = Place::new();
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/periodic-shear.toml");
    let told = place.gluey(&["check", scene.to_str().unwrap()]).succeeds();
    assert!(told.contains("periodic     x 0 to 3"), "{told}");
}
