//! Runs, resumed runs, and what must not change them.

use std::fs;

use crate::{Place, SHORT};

#[test]
fn the_first_command_runs_and_says_where_the_results_are() {
    let place = Place::new();
    let first = place.gluey(&["run", "--until=0.05"]).succeeds();
    for part in
        ["lotto-small: done", "50 of 50", "Results are in runs/lotto-small\n", "particles.pvd", "trajectory.xyz"]
    {
        assert!(first.contains(part), "`{part}` is not in\n{first}");
    }
    assert!(place.path("runs/lotto-small/particles.pvd").exists());
    let second = place.gluey(&["run", "--until=0.05"]).succeeds();
    assert!(second.contains("Results are in runs/lotto-small-2\n"), "{second}");
    place.assert_same("runs/lotto-small", "runs/lotto-small-2");
}

#[test]
fn not_a_terminal_is_quiet() {
    let answer = Place::new().gluey(&["run", "--until=0.05"]);
    assert_eq!(answer.err, "");
}

#[test]
fn quiet_tells_the_folder_alone() {
    assert_eq!(Place::new().short("here", &["--quiet"]).succeeds(), "here\n");
}

#[test]
fn stopped_and_resumed_leaves_the_same_bytes() {
    let place = Place::new();
    place.short("whole", &[]).succeeds();
    for (half, run) in [("0.15", "a"), ("0.005", "b"), ("0.275", "c")] {
        place.short(run, &["--until", half]).succeeds();
        let told = place.gluey(&["run", "--resume", "--out", run]).succeeds();
        assert!(told.contains("60 of 60 (resumed at "), "{told}");
        place.assert_same("whole", run);
    }
    let told = place.gluey(&["run", "--resume", "--out", "whole"]).succeeds();
    assert!(told.contains("nothing left to do"), "{told}");
    place.assert_same("whole", "a");
}

#[test]
fn a_run_can_be_extended() {
    let place = Place::new();
    place.short("whole", &["--until=0.4"]).succeeds();
    place.short("extended", &[]).succeeds();
    let told = place.gluey(&["run", "--resume", "--out=extended", "--until=0.4"]).succeeds();
    assert!(told.contains("80 of 80"), "{told}");
    place.assert_same("whole", "extended");
}

#[test]
fn the_end_has_a_frame_and_a_row() {
    let place = Place::new();
    place.short("run", &["--until=0.25"]).succeeds(); // step 50 is neither a multiple of 7 nor of 3
    assert!(place.path("run/frames/particles_00000050.vtp").exists());
    let series = fs::read_to_string(place.path("run/series.csv")).unwrap();
    assert!(series.lines().last().unwrap().starts_with("50,"));
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let place = Place::new();
    for threads in ["1", "2", "4"] {
        place.short(threads, &["--threads", threads]).succeeds();
    }
    place.assert_same("1", "2");
    place.assert_same("1", "4");
}

#[test]
fn how_often_frames_are_written_changes_nothing_else() {
    let place = Place::new();
    place.short("few", &[]).succeeds();
    place.short("many", &["--set=output.frame_every=1"]).succeeds();
    let (few, many) = (place.content("few"), place.content("many"));
    assert!(few["series.csv"] == many["series.csv"]);
    let shared = few.keys().filter(|name| name.starts_with("frames/"));
    assert!(shared.clone().count() > 9);
    for name in shared {
        assert!(few[name] == many[name], "{name} differs");
    }
}

#[test]
fn a_scene_given_again_resumes_if_it_is_the_same() {
    let place = Place::new();
    place.gluey(&["new", "mine.toml"]).succeeds();
    place.gluey(&["run", "mine.toml", "--until=0.02"]).succeeds();
    place.gluey(&["run", "mine.toml", "--until=0.04", "--resume"]).succeeds();
    place.gluey(&["run", "mine.toml", "--until=0.04", "--out=whole"]).succeeds();
    place.assert_same("runs/starter", "whole");
    let other = place.gluey(&["run", "mine.toml", "--set=seed=2", "--resume"]);
    other.fails(1, &["mine.toml as it is now is not the scene that was run in runs/starter", "leave out the scene"]);
}

#[test]
fn files_of_a_scene_are_found_again_from_another_folder() {
    let place = Place::new();
    fs::create_dir(place.path("scenes")).unwrap();
    place.write("scenes/balls.csv", "x,y,z,r\n0,1,0,0.1\n0,2,0,0.2\n");
    place.write(
        "scenes/csv.toml",
        "time = { dt = 0.01, until = 0.2 }\nenvironment.gravity = [0, -1, 0]\n\
         [[particles]]\nmass = 1\nsource.csv.path = 'balls.csv'\n",
    );
    place.gluey(&["run", "scenes/csv.toml", "--until=0.1", "--out=half"]).succeeds();
    place.gluey(&["run", "scenes/csv.toml", "--out=whole"]).succeeds();
    place.gluey(&["run", "--resume", "--out=half"]).succeeds();
    place.assert_same("half", "whole");
    place.write("scenes/balls.csv", "x,y,z,r\n0,1,0,0.15\n0,2,0,0.2\n");
    let answer = place.gluey(&["run", "--resume", "--out=half", "--until=0.3"]);
    answer.fails(1, &["no longer gives the particles that were run", "restore the files"]);
}

#[test]
fn overwrite_replaces_a_run() {
    let place = Place::new();
    place.short("run", &[]).succeeds();
    place.short("other", &["--set=seed=9"]).succeeds();
    place.short("run", &["--set=seed=9", "--overwrite"]).succeeds();
    place.assert_same("run", "other");
}

#[test]
fn set_changes_the_scene_as_run() {
    let place = Place::new();
    place.gluey(
        &[&["run", "--out=run", "--set=name=my run", "--set=assembly.0.motion.rotation.rate=0"], SHORT].concat(),
    );
    let manifest = fs::read_to_string(place.path("run/manifest.toml")).unwrap();
    assert!(manifest.contains("\nname = \"my run\"\ndescription"), "{manifest}");
    assert!(manifest.contains("rate = 0 }"), "{manifest}");
}
