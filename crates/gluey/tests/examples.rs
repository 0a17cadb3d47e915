//! The examples run, and their figures are right.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/own_environment.rs"]
#[expect(dead_code, reason = "its main function prints what is looked at here")]
mod own_environment;
#[path = "../examples/pressed_ball.rs"]
#[expect(dead_code, reason = "its main function prints what is looked at here")]
mod pressed_ball;
#[path = "../examples/shaken_box.rs"]
#[expect(dead_code, reason = "its main function prints what is looked at here")]
mod shaken_box;

use gluey::trajectory::{RunSummary, Snapshots};

/// The number that follows these words.
fn figure(text: &str, words: &str) -> f64 {
    let (_, rest) = text.split_once(words).unwrap();
    rest.split_whitespace().next().unwrap().trim_end_matches(',').parse().unwrap()
}

#[test]
fn the_pressed_ball_keeps_to_its_exact_solution() {
    for dt in [0.01, 0.001] {
        let text = pressed_ball::report(dt).unwrap();
        println!("{text}");
        // First order: the error of D is dt t in both flights, which take a unit of time each.
        assert!(figure(&text, "error of D:") <= 1.001 * dt, "{text}");
        assert!((figure(&text, "deepest γ:") + 4.0).abs() < 1e-6, "{text}");
        assert!((figure(&text, "glued until t =") - 4.0).abs() <= 1.001 * dt, "{text}");
    }
}

#[test]
fn the_shaken_box_leaves_a_run_folder_without_overlaps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let text = shaken_box::report(&path).unwrap();
    println!("{text}");
    assert!(text.starts_with("21 frames"), "{text}");
    assert!(figure(&text, "least gap:") >= -1.01e-6, "{text}");
    let snapshots = Snapshots::open(&path).unwrap();
    let last = snapshots.read(snapshots.stamps().last().unwrap()).unwrap();
    let frame = last.frame();
    assert_eq!((frame.step, frame.particles.len()), (500, 64));
    // After two whole swings the box is where it was.
    let (lower, upper) = (shaken_box::RADIUS - 1e-6, 1.0 - shaken_box::RADIUS + 1e-6);
    assert!(frame.particles.position.iter().all(|x| x.min_element() > lower && x.max_element() < upper));
    let summary = RunSummary::read(&path).unwrap();
    assert_eq!(summary.value("glued"), Some(figure(&text, "at the end")));
}

/// Momentum of one particle is of size 1: rounding of 60 of them over 2,000 steps.
#[test]
fn moons_of_an_own_environment_stick_and_keep_their_angular_momentum() {
    let text = own_environment::report(2_000).unwrap();
    println!("{text}");
    assert!(figure(&text, "changed by") < 1e-12, "{text}");
    assert!(figure(&text, "after t = 4.0") > 0.0, "{text}");
}
