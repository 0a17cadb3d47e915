//! What is told when things go wrong: who is at fault, what would be right, and a code that is not 0.

use std::fs;

use crate::{Answer, Place};

const SCENE: &str = "\
dimension = 2
[time]
dt = 0.01
until = 1
[environment]
gravity = [0, -1]
[[particles]]
mass = 1
source.list = [{ position = [0, 1], radius = 0.5 }]
[[obstacle]]
name = 'floor'
shape.half-space = { point = [0, 0], normal = [0, 1] }
";

/// The answer to a scene with a part replaced.
fn run_with(part: &str, by: &str) -> Answer {
    assert!(SCENE.contains(part));
    let place = Place::new();
    place.write("bad.toml", &SCENE.replace(part, by));
    let answer = place.gluey(&["run", "bad.toml"]);
    assert!(answer.code == 0 || !place.path("runs").exists(), "a bad scene leaves no folder");
    let checked = place.gluey(&["check", "bad.toml"]);
    assert_eq!((checked.code, &checked.err), (answer.code, &answer.err), "`check` says the same");
    answer
}

#[test]
fn the_scene_of_these_tests_is_good() {
    run_with("until = 1", "until = 0.1").succeeds();
}

#[test]
fn an_unknown_key_gets_its_place_and_a_suggestion() {
    let told =
        run_with("gravity", "grvity").fails(2, &["bad.toml:6:1: unknown key `grvity`", "did you mean `gravity`?"]);
    assert!(told.contains("  6 | grvity = [0, -1]\n    | ^^^^^^\n"), "{told}");
}

#[test]
fn several_problems_are_told_at_once() {
    let bad = SCENE.replace("gravity", "grvity").replace("dt = 0.01", "dt = -1").replace("mass = 1", "mass = nan");
    let place = Place::new();
    place.write("bad.toml", &bad);
    place.gluey(&["check", "bad.toml"]).fails(
        2,
        &["the scene has 3 problems", "bad.toml:3:6: -1 is not allowed", "bad.toml:6:1", "bad.toml:8:8: NaN is not"],
    );
}

#[test]
fn wrong_numbers_are_named() {
    run_with("radius = 0.5", "radius = -0.5").fails(2, &["bad.toml:9:", "-0.5 is not allowed here", "positive"]);
    run_with("radius = 0.5", "radius = 0").fails(2, &["0 is not allowed here"]);
    run_with("mass = 1", "mass = 0").fails(2, &["bad.toml:8:8: 0 is not allowed here"]);
    run_with("[0, 1], radius", "[0, nan], radius").fails(2, &["bad.toml:9:", "NaN is not allowed here"]);
    run_with("dt = 0.01", "dt = 0").fails(2, &["bad.toml:3:6", "positive and finite"]);
    run_with("dt = 0.01", "dt = ").fails(2, &["bad.toml:3:"]);
    run_with("dt = 0.01", "dt = 'fast'").fails(2, &["a number is expected here, not the string \"fast\""]);
    run_with("[time]", "[tme]").fails(2, &["2 problems", "did you mean `time`?", "`time` is missing in this file"]);
    run_with("[[obstacle]]", "[obstacle]").fails(2, &["bad.toml:10:1: a list is expected here, not a table"]);
    run_with("half-space", "halfspace").fails(2, &["bad.toml:12:7: unknown choice", "did you mean `half-space`?"]);
    run_with("dt = 0.01\n", "").fails(2, &["bad.toml:2:1: `dt` is missing here"]);
    run_with("dimension = 2", "dimension = 4").fails(2, &["bad.toml:1:13: the dimension is 2 or 3, not 4"]);
    run_with("mass = 1\n", "").fails(2, &["these particles have no mass", "give `mass` or `density`"]);
}

#[test]
fn overlapping_starts_name_who_overlaps() {
    run_with("[0, 1], radius", "[0, 0.25], radius").fails(2, &["particle 0 and obstacle `floor` by 2.500e-1"]);
    let twice = "{ position = [0, 1], radius = 0.5 }, { position = [0.5, 1], radius = 0.5 }";
    run_with("{ position = [0, 1], radius = 0.5 }", twice).fails(2, &["particles 0 and 1 by 5.000e-1"]);
}

#[test]
fn missing_files_are_named() {
    let place = Place::new();
    place.gluey(&["run", "nowhere.toml"]).fails(2, &["nowhere.toml: there is no such file", "gluey new"]);
    place.gluey(&["check", "."]).fails(2, &[".: this is a folder"]);
    fs::write(place.path("picture.toml"), [0xff, 0xd8, 0x00]).unwrap();
    place.gluey(&["run", "picture.toml"]).fails(2, &["picture.toml: this is no text"]);
    run_with("source.list = [{ position = [0, 1], radius = 0.5 }]", "source.csv.path = 'balls.csv'")
        .fails(2, &["bad.toml:9:", "cannot open balls.csv", "no such file"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let place = Place::new();
    place.write("file", "");
    place.short("file/run", &[]).fails(1, &["cannot create file/run: a part of this path is a file, not a folder"]);
    place.short("file", &[]).fails(1, &["cannot create file: a file of this name is in the way"]);
}

#[test]
fn a_run_that_is_there_is_not_overwritten() {
    let place = Place::new();
    place.short("run", &[]).succeeds();
    let before = place.content("run");
    place.short("run", &[]).fails(1, &["run already holds a run", "--resume", "--overwrite", "--out"]);
    assert_eq!(place.content("run"), before);
}

#[test]
fn checkpoints_that_are_none_are_refused() {
    let place = Place::new();
    place.short("run", &["--until=0.1"]).succeeds();
    let path = place.path("run/checkpoint.gluey");
    let good = fs::read(&path).unwrap();
    fs::remove_file(place.path("run/checkpoint-previous.gluey")).unwrap();
    let resumed = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        place.gluey(&["run", "--resume", "--out=run"])
    };
    resumed(&good[..good.len() / 2]).fails(1, &["run/checkpoint.gluey is truncated"]);
    resumed(b"something else").fails(1, &["run/checkpoint.gluey is not a gluey checkpoint"]);
    let mut newer = good.clone();
    newer[8] = 99;
    resumed(&newer).fails(1, &["run/checkpoint.gluey was written by a newer version of gluey", "format is 99"]);
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 1;
    resumed(&damaged).fails(1, &["run/checkpoint.gluey is damaged"]);
    fs::remove_file(&path).unwrap();
    place.gluey(&["run", "--resume", "--out=run"]).fails(1, &["the run has not written a checkpoint"]);
    place.gluey(&["run", "--resume", "--out=no"]).fails(1, &["there is nothing to resume: no does not exist"]);
    resumed(&good).succeeds();
}

const PINCHED: &str = "\
dimension = 2
[time]
dt = 0.01
until = 2
[[particles]]
mass = 1
source.list = [{ position = [5, 5], radius = 0.5 }, { position = [0, 0], radius = 0.5 }]
[[obstacle]]
name = 'left'
shape.half-space = { point = [-1, 0], normal = [1, 0] }
motion.translation.velocity = [1, 0]
[[obstacle]]
name = 'anvil'
shape.sphere = { centre = [2, 0], radius = 1, side = 'outside' }
";

#[test]
fn a_pinched_particle_is_named_and_what_was_written_is_kept() {
    let place = Place::new();
    place.write("pinch.toml", PINCHED);
    let parts = [
        "step 101 (t = 1.01)",
        "particle 1 pinched between obstacle `left` and obstacle `anvil`",
        "when_pinched",
        "is in runs/pinch, with a checkpoint of step 100",
        "runs/pinch/failed-projection.qpb",
    ];
    let first = place.gluey(&["run", "pinch.toml"]).fails(1, &parts);
    assert!(fs::read(place.path("runs/pinch/failed-projection.qpb")).unwrap().starts_with(b"QPBENCH1"));
    let before = place.content("runs/pinch");
    let again = place.gluey(&["run", "--resume", "--out=runs/pinch"]);
    assert_eq!(again.fails(1, &parts), first);
    assert_eq!(place.content("runs/pinch"), before);
    place.gluey(&["run", "--resume", "--out=runs/pinch", "--until=0.9"]).succeeds();
    assert!(!place.path("runs/pinch/failed-projection.qpb").exists(), "it is of no use any more");
}

#[test]
fn a_force_that_is_not_finite_ends_the_run_with_its_name() {
    let place = Place::new();
    place.write("far.toml", &format!("{SCENE}[[force]]\nname = 'wind'\nforce.expression = ['1/(t-0.5)', '0']\n"));
    let answer = place.gluey(&["run", "far.toml"]);
    assert_ne!(answer.code, 0, "{}", answer.out);
    assert!(answer.err.contains("wind") && !answer.err.contains("panicked"), "{}", answer.err);
}

#[test]
fn bad_overrides_are_refused() {
    let place = Place::new();
    place.gluey(&["run", "--set=time.step=1"]).fails(2, &["unknown key `step`"]);
    place.gluey(&["run", "--set=obstacle.7.name=x"]).fails(1, &["--set obstacle.7.name: there is no entry 7"]);
    place.gluey(&["run", "--set=time.dt=fast"]).fails(2, &["lotto-small.toml", "dt = \"fast\""]);
    place.gluey(&["run", "--set", "nonsense"]).fails(2, &["write KEY=VALUE"]);
    place.gluey(&["run", "--until=-1"]).fails(2, &["it must be a positive, finite number"]);
    place.gluey(&["run", "--threads=0"]).fails(2, &["--threads"]);
    place.gluey(&["run", "--threads=10000"]).fails(2, &["--threads 10000: this machine has", "leave the option out"]);
    place
        .gluey(&["pack", "--radii=1", "--fraction=0.3", "--count=10", "--out=p.csv", "--threads=10000"])
        .fails(2, &["--threads 10000"]);
    place.gluey(&["run", "--resume", "--overwrite"]).fails(2, &["cannot be used with"]);
    assert!(!place.path("runs").exists());
}

/// A file that cannot grow is as good as a full disk; the signal that comes with it kills nobody.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_named_and_nothing_is_lost() {
    let place = Place::new();
    place.short("whole", &[]).succeeds();
    let limited = "ulimit -f 64; exec \"$0\" \"$@\"";
    let run = [&[env!("CARGO_BIN_EXE_gluey"), "run", "--out=run"], crate::SHORT].concat();
    let output = std::process::Command::new("bash")
        .args(["-c", limited])
        .args(run)
        .current_dir(place.path(""))
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let answer = Answer { code: output.status.code().unwrap_or(-1), out: String::new(), err };
    let limit = "larger than the limit on the size of files allows, 65536 bytes";
    answer.fails(
        1,
        &["cannot write run/trajectory.xyz", limit, "nothing written is lost", "gluey run --resume --out run"],
    );
    place.gluey(&["run", "--resume", "--out=run"]).succeeds();
    place.assert_same("run", "whole");
}
