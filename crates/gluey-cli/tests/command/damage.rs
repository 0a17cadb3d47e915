//! Files of a run that someone takes away or changes, while it goes on or before it is resumed.

use std::fs;
use std::path::Path;

use crate::Place;

/// Changes one bit.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// What a run without end says when something happens to its folder.
#[cfg(unix)]
fn disturbed(place: &Place, disturb: impl Fn(&Path)) -> crate::Answer {
    let child = crate::signals::running(place, "run");
    disturb(&place.path("run"));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    crate::Answer { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

#[cfg(unix)]
#[test]
fn a_file_that_vanishes_while_the_run_goes_on_ends_it_with_an_error() {
    for name in ["series.csv", "trajectory.xyz", "frames.bin"] {
        let place = Place::new();
        let answer = disturbed(&place, |run| fs::rename(run.join(name), run.join("kept")).unwrap());
        let named = format!("run/{name} was removed or moved while the run was writing to it");
        let told =
            answer.fails(1, &[&named, "the checkpoint of step", "put it back and `gluey run --resume --out run`"]);
        assert!(!told.contains("nothing written is lost"), "{told}");
        // As the message says.
        place
            .gluey(&["run", "--resume", "--out=run", "--until=0.3"])
            .fails(1, &[name, "has 0 bytes", "put back a copy"]);
        fs::rename(place.path("run/kept"), place.path("run").join(name)).unwrap();
        place.gluey(&["run", "--resume", "--out=run", "--until=1"]).succeeds();
        place.short("whole", &["--until=1"]).succeeds();
        place.assert_same("run", "whole");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_removed_while_the_run_goes_on_is_not_said_to_be_safe() {
    let place = Place::new();
    // At once: a folder that is taken apart file by file looks damaged in many ways on its way.
    let gone = place.path("gone");
    let remove = |run: &Path| {
        fs::rename(run, &gone).unwrap();
        fs::remove_dir_all(&gone).unwrap_or_default();
    };
    let told = disturbed(&place, remove).fails(1, &["the folder run is gone", "if it was removed, all of it is lost"]);
    assert!(!told.contains("nothing written is lost"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_was_moved_while_the_run_went_on_can_be_resumed_there() {
    let place = Place::new();
    let elsewhere = place.path("elsewhere");
    disturbed(&place, |run| fs::rename(run, &elsewhere).unwrap())
        .fails(1, &["if it was moved, all that was written is in it"]);
    place.gluey(&["run", "--resume", "--out=elsewhere", "--until=1"]).succeeds();
    place.short("whole", &["--until=1"]).succeeds();
    place.assert_same("elsewhere", "whole");
}

#[test]
fn a_run_whose_last_checkpoint_is_damaged_goes_on_from_the_one_before_and_says_so() {
    let place = Place::new();
    place.short("run", &["--until=0.2"]).succeeds();
    flip(&place.path("run/checkpoint.gluey"), 200);
    let info = place.gluey(&["info", "run"]).succeeds();
    assert!(info.contains("the one before it, of step 33, is good"), "{info}");
    let answer = place.gluey(&["run", "--resume", "--out=run", "--until=0.3"]);
    assert!(answer.err.contains("note: run/checkpoint.gluey is damaged"), "{}", answer.err);
    assert!(answer.err.contains("goes on from the checkpoint before, of step 33"), "{}", answer.err);
    answer.succeeds();
    place.short("whole", &[]).succeeds();
    place.assert_same("run", "whole");
}

#[test]
fn a_changed_file_is_named_and_where_only_its_end_is_changed_the_checkpoint_before_serves() {
    let place = Place::new();
    place.short("whole", &[]).succeeds();
    for name in ["series.csv", "trajectory.xyz", "frames.bin"] {
        place.short("run", &["--until=0.2", "--overwrite"]).succeeds();
        let path = place.path("run").join(name);
        let before = place.content("run");
        flip(&path, 60);
        let named = format!("run/{name} was changed after it was written");
        let resume = || place.gluey(&["run", "--resume", "--out=run", "--until=0.3"]);
        resume().fails(1, &[&named, "put back a copy of this file as it was, or start anew with --overwrite"]);
        flip(&path, 60);
        assert_eq!(place.content("run"), before, "nothing was touched");
        // The frame and the row of step 35 or later are behind the checkpoint of step 33.
        let end = fs::read(&path).unwrap().len();
        let at = if name == "series.csv" { end - 20 } else { end - 400 };
        flip(&path, at);
        let answer = resume();
        if !answer.err.is_empty() {
            assert!(answer.err.contains("of step 33, and repeats"), "{}", answer.err);
        }
        answer.succeeds();
        place.assert_same("run", "whole");
    }
}
