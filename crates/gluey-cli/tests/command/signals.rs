//! Real signals to real processes.

#![cfg(unix)]

use std::fs;
use std::process::{Child, Command, Stdio};

use crate::{Place, SHORT};

/// A run without end, once it has written some rows.
pub fn running(place: &Place, out: &str) -> Child {
    let arguments = [&["run", "--until=1e6", "--out", out], SHORT].concat();
    let child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let series = place.path(out).join("series.csv");
    while fs::read_to_string(&series).unwrap_or_default().lines().count() < 30 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

pub fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_signal_stops_after_the_step_and_resuming_leaves_the_same_bytes() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let place = Place::new();
        let child = running(&place, "stopped");
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains("lotto-small: stopped"), "{told}");
        assert!(told.contains("gluey run --resume --out stopped --until 1000000"), "{told}");

        let info = place.gluey(&["info", "stopped", "--json"]).succeeds();
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        assert_eq!(info["checkpoint"]["status"], "good");
        let step = info["checkpoint"]["step"].as_u64().unwrap();
        let until = format!("{}", (step + 10) as f64 * 5e-3);
        place.gluey(&["run", "--resume", "--out=stopped", "--until", &until]).succeeds();
        place.short("whole", &["--until", &until]).succeeds();
        place.assert_same("stopped", "whole");
    }
}

#[test]
fn a_killed_run_can_be_resumed() {
    let place = Place::new();
    let mut child = running(&place, "killed");
    child.kill().unwrap();
    child.wait().unwrap();
    place.gluey(&["run", "--resume", "--out=killed", "--until=3"]).succeeds();
    place.short("whole", &["--until=3"]).succeeds();
    place.assert_same("killed", "whole");
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let place = Place::new();
    let mut child = running(&place, "busy");
    place.gluey(&["run", "--resume", "--out=busy"]).fails(1, &["busy is in use: another process"]);
    place.gluey(&["run", "--overwrite", "--out=busy"]).fails(1, &["busy is in use: another process"]);
    child.kill().unwrap();
    child.wait().unwrap();
}
