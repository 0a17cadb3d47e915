//! Runs in which particles come and leave.

use std::fs;

use gluey::trajectory::Snapshots;

use crate::Place;

/// Two discs fall away at once; others rain through.
const RAIN: &str = r"
name = 'rain'
dimension = 2
seed = 1
[time]
dt = 0.005
until = 0.6
[contact.law.gluey]
gamma_min = -0.1
[environment]
gravity = [0, -10]
[[particles]]
mass = 1
source.list = [{ position = [0, 0.2], radius = 0.1 }, { position = [0.5, 0.9], radius = 0.1 }]
[[inlet]]
name = 'cloud'
box = { lower = [-1, 1], upper = [1, 2] }
rate = 60
radius = [0.05, 0.1]
mass = 1
[[outlet]]
name = 'below'
half-space = { point = [0, 0], normal = [0, 1] }
[[obstacle]]
name = 'roof'
shape.segment = { from = [-1, 0.4], to = [-0.2, 0.6], thickness = 0.02 }
[output]
frame_every = 7
series_every = 3
checkpoint_every = 10
";

fn place() -> Place {
    let place = Place::new();
    place.write("rain.toml", RAIN);
    place
}

#[test]
fn a_run_with_openings_is_told_about() {
    let place = place();
    let told = place.gluey(&["check", "rain.toml"]).succeeds();
    for part in
        ["inlet        `cloud`: box, 60 particles a time of radius 0.05 to 0.1", "36 by t = 0.6", "takes everyone"]
    {
        assert!(told.contains(part), "`{part}` is not in\n{told}");
    }
    let told = place.gluey(&["run", "rain.toml", "--out=run"]).succeeds();
    assert!(told.contains("by `cloud`, mass ") && told.contains("by `below`, mass "), "{told}");
    let told = place.gluey(&["info", "run"]).succeeds();
    assert!(told.contains(" in, ") && told.contains(" out, "), "{told}");
    let header = fs::read_to_string(place.path("run/series.csv")).unwrap();
    assert!(
        header.lines().next().unwrap().contains("slip,particles,entered,left,waiting,entered_mass,left_mass,roof_fx")
    );
    place.gluey(&["measure", "run", "--out=figures"]).succeeds();
    place.gluey(&["render", "run", "--contacts", "--times=0,0.3,0.6", "--montage=rain.png"]).succeeds();
    assert!(place.path("rain.png").exists());
}

#[test]
fn stopped_and_resumed_leaves_the_same_bytes() {
    let place = place();
    place.gluey(&["run", "rain.toml", "--out=whole"]).succeeds();
    for (half, run) in [("0.1", "a"), ("0.405", "b")] {
        place.gluey(&["run", "rain.toml", "--out", run, "--until", half]).succeeds();
        place.gluey(&["run", "--resume", "--out", run]).succeeds();
        place.assert_same("whole", run);
    }
}

#[test]
fn other_particles_are_refused_also_when_some_have_left() {
    let place = place();
    place.write("grains.csv", "x,y,r,m\n0,0.2,0.1,1\n0.5,0.9,0.1,1\n");
    let list = "source.list = [{ position = [0, 0.2], radius = 0.1 }, { position = [0.5, 0.9], radius = 0.1 }]";
    place.write("grains.toml", &RAIN.replace(list, "source.csv.path = 'grains.csv'"));
    place.gluey(&["run", "grains.toml", "--out=run", "--until=0.3"]).succeeds();
    let state = gluey::trajectory::Checkpoint::read(&place.path("run/checkpoint.gluey")).unwrap().state;
    assert!(!state.particles.id.contains(&0) && state.particles.id.contains(&1), "particle 0 has left");
    place.write("grains.csv", "x,y,r,m\n0,0.2,0.1,1\n0.5,0.9,0.1,2\n");
    place.gluey(&["run", "--resume", "--out=run"]).fails(1, &["no longer gives the particles", "2 then, 2 now"]);
    place.write("grains.csv", "x,y,r,m\n0,0.2,0.1,1\n");
    place.gluey(&["run", "--resume", "--out=run"]).fails(1, &["2 then, 1 now"]);
    place.write("grains.csv", "x,y,r,m\n0,0.2,0.1,1\n0.5,0.9,0.1,1\n");
    place.gluey(&["run", "--resume", "--out=run"]).succeeds();
}

#[test]
fn frames_keep_everyones_id() {
    let place = place();
    place.gluey(&["run", "rain.toml", "--out=run"]).succeeds();
    let snapshots = Snapshots::open(&place.path("run")).unwrap();
    let mut radii = std::collections::BTreeMap::new();
    let mut numbers = std::collections::BTreeSet::new();
    for stamp in snapshots.stamps() {
        let particles = snapshots.read(stamp).unwrap().particles;
        numbers.insert(particles.len());
        assert!(particles.id.is_sorted_by(|a, b| a < b));
        for (id, radius) in particles.id.iter().zip(&particles.radius) {
            assert_eq!(radii.entry(*id).or_insert(*radius), radius);
        }
    }
    assert!(numbers.len() > 3 && radii.len() > *numbers.last().unwrap(), "some came and some left");
}

#[test]
fn check_warns_of_an_inlet_that_lets_nobody_in() {
    let place = Place::new();
    place.write("rain.toml", RAIN);
    let covered = "inlet `cloud`: nobody comes in";
    let emptied = "outlet `below` covers inlet `cloud`";
    let told = place.gluey(&["check", "rain.toml"]).succeeds();
    assert!(!told.contains(covered) && !told.contains(emptied), "{told}");
    let ball = "{ position = [0, 0.2], radius = 0.1 }, { position = [0.5, 0.9], radius = 0.1 }";
    assert!(RAIN.contains(ball));
    place.write("covered.toml", &RAIN.replace(ball, "{ position = [0, 1.9], radius = 1.1 }"));
    let small = "--set=inlet.0.box={ lower = [-0.2, 1.5], upper = [0.2, 1.8] }";
    let told = place.gluey(&["check", "covered.toml", small]).succeeds();
    assert!(told.contains(&format!("warning: particle 0 covers {covered}")), "{told}");
    let told = place.gluey(&["check", "rain.toml", "--set=outlet.0.half-space.point=[0, 3]"]).succeeds();
    assert!(told.contains(emptied), "{told}");
}
