//! Forces between near pairs.

use std::path::Path;

use crate::Place;

fn scene(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).to_str().unwrap().to_owned()
}

#[test]
fn check_tells_pair_forces_and_warns_where_they_are_too_stiff() {
    let place = Place::new();
    let wet = scene("wet-grains.toml");
    let told = place.gluey(&["check", &wet]).succeeds();
    for part in
        ["`bridges`: liquid bridge, forms at contact, pulls with ", "breaks at a gap of ", "; with `floor`, too"]
    {
        assert!(told.contains(part), "`{part}` is not in\n{told}");
    }
    assert!(!told.contains("warning"), "{told}");
    let told = place.gluey(&["check", &wet, "--set=pair-force.0.bridge.linear.rupture=1e-4"]).succeeds();
    assert!(told.contains("warning: dt looks large for pair force `bridges`") && told.contains("Try dt = "), "{told}");
    let told = place.gluey(&["check", &scene("pair-force.toml")]).succeeds();
    assert!(told.contains("; between `plus` and `minus`") && told.contains("; within `plus`"), "{told}");
}

#[test]
fn a_wet_run_stopped_and_resumed_leaves_the_same_bytes() {
    let place = Place::new();
    let run = |out: &str, until: &str| {
        let short = ["--set=time.until=0.06", "--set=output.frame_every=7", "--set=output.checkpoint_every=11"];
        place.gluey(&[&["run", &scene("wet-grains.toml"), "--out", out, "--until", until][..], &short].concat())
    };
    run("whole", "0.06").succeeds();
    run("part", "0.03").succeeds();
    place.gluey(&["run", "--resume", "--out", "part"]).succeeds();
    place.assert_same("whole", "part");
}
