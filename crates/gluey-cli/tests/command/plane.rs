//! `gluey plane`: trajectories for scripts, and studies with tables and plots.

use std::fs;

use crate::Place;

const PAPERS: &[&str] =
    &["plane", "simulate", "--q0", "1", "--u0", "0", "--mass", "1", "--radius", "1", "--force", "0:-2,2:2"];

/// The rows of a CSV file below its heading, which must be this one.
fn rows(text: &str, heading: &str) -> Vec<Vec<f64>> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(heading));
    lines.map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect()
}

fn simulated(place: &Place, more: &[&str]) -> Vec<Vec<f64>> {
    let common = ["--dt", "1e-3", "--until", "6", "--csv", "run.csv"];
    place.gluey(&[PAPERS, &common, more].concat()).succeeds();
    rows(&fs::read_to_string(place.path("run.csv")).unwrap(), "t,q,u,gamma,lambda")
}

#[test]
fn simulate_writes_the_trajectory_with_17_digits() {
    let place = Place::new();
    for (gamma_min, takeoff, least) in [("-1", 2.5, -1.0), ("0", 2.0, 0.0), ("-inf", 4.0, -4.0)] {
        for model in ["gluey", "exact"] {
            let rows = simulated(&place, &["--gamma-min", gamma_min, "--model", model]);
            assert_eq!(rows.len(), 6001);
            let left = rows.iter().find(|row| row[0] > 1.5 && row[1] > 0.0).unwrap()[0];
            assert!(left >= takeoff && left <= takeoff + 2.1e-3, "{gamma_min} {model}: left at {left}");
            let deepest = rows.iter().map(|row| row[3]).fold(0.0, f64::min);
            assert!((deepest - least).abs() < 5e-3, "{gamma_min} {model}: {deepest}");
            let end = rows.last().unwrap();
            assert!((end[1] - (6.0 - takeoff).powi(2)).abs() < 0.01, "{end:?}");
        }
    }
    let text = fs::read_to_string(place.path("run.csv")).unwrap();
    for field in text.lines().nth(1234).unwrap().split(',') {
        let digits = field.split('e').next().unwrap().chars().filter(char::is_ascii_digit).count();
        assert_eq!(digits, 17, "{field}");
    }
}

#[test]
fn simulate_follows_a_layer_of_fluid() {
    let place = Place::new();
    for (kappa, end) in [("1", 3.684_149), ("0.01", 4.011_340)] {
        let rows = simulated(&place, &["--model", "lubrication", "--kappa", kappa]);
        assert!((rows.last().unwrap()[1] - end).abs() < 1e-6, "{kappa}");
    }
    let by_threshold = simulated(&place, &["--model", "lubrication", "--kappa", "0.01", "--gamma-min", "-0.05"]);
    let by_shift = simulated(&place, &["--model", "lubrication", "--kappa", "0.01", "--shift", "0.006737946999085467"]);
    assert!((by_threshold.last().unwrap()[1] - by_shift.last().unwrap()[1]).abs() < 1e-9);
}

#[test]
fn forces_are_pairs_expressions_or_tables() {
    let place = Place::new();
    place.write("force.csv", "t,f\n0,-2\n3,4\n6,-1\n");
    let end = |force: &[&str]| {
        let text = place.gluey(&[&["plane", "simulate", "--dt", "0.01"], force].concat()).succeeds();
        rows(&text, "t,q,u,gamma,lambda").pop().unwrap()
    };
    let (pairs, expression) = (end(&["--force", "0:-2,2:2"]), end(&["--force", "if(t < 2, -2, 2)"]));
    assert!(pairs.iter().zip(&expression).all(|(a, b)| (a - b).abs() < 1e-11), "{pairs:?} {expression:?}");
    let (table, lines) =
        (end(&["--force-table", "force.csv"]), end(&["--force", "if(t < 3, 2*t - 2, 4 - 5*(t - 3)/3)"]));
    assert!(table.iter().zip(&lines).all(|(a, b)| (a - b).abs() < 1e-10), "{table:?} {lines:?}");
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let place = Place::new();
    for (wrong, parts) in [
        (&["--q0", "0"][..], &["`q0` is 0", "> 0"][..]),
        (&["--q0", "-1"], &["`q0` is -1"]),
        (&["--dt", "0"], &["`dt` is 0", "> 0"]),
        (&["--dt", "-1e-3"], &["`dt` is -0.001"]),
        (&["--gamma-min", "0.5"], &["`gamma_min` is 0.5", "≤ 0"]),
        (&["--force", "0:nan"], &["NaN", "a finite number"]),
        (&["--force", "0:1,inf:2"], &["inf", "a finite number"]),
        (&["--force", "1/0"], &["the force f", "inf"]),
        (&["--force", "1/(t - 3)"], &["the force f", "t = 3"]),
        (&["--force", "0:1,2"], &["`2` is not", "TIME:VALUE"]),
        (&["--force", "2*x"], &["expression of t"]),
        (&["--force", "2:1,1:1"], &["a time after"]),
        (&["--mass", "0"], &["`mass` is 0"]),
        (&["--until", "0"], &["`until` is 0"]),
        (&["--model", "lubrication"], &["--kappa"]),
        (&["--model", "lubrication", "--kappa", "0"], &["`kappa` is 0"]),
        (&["--model", "exact", "--force", "sin(t)"], &["piecewise-constant"]),
        (&["--model", "nothing"], &["gluey", "exact", "lubrication"]),
    ] {
        place.gluey(&[&["plane", "simulate"], wrong].concat()).fails(2, parts);
    }
    place.gluey(&["plane", "simulate", "--force-table", "nowhere.csv"]).fails(1, &["nowhere.csv"]);
    place.gluey(&["plane", "layers", "--kappas", "0.1,-1", "--out", "out"]).fails(2, &["`kappa` is -1"]);
}

#[test]
fn each_study_writes_its_tables_and_plots() {
    let place = Place::new();
    for (study, more, tables, figures) in [
        ("example", &[][..], &["example", "example-events"][..], &["example"][..]),
        ("layers", &["--kappas=1,0.1,0.01"], &["layers", "layers-trajectories"], &["layers", "layers-rates"]),
        (
            "convergence",
            &["--gamma-min=-1"],
            &["convergence", "convergence-orders", "convergence-bounds"],
            &["convergence"],
        ),
        ("roughness", &["--gamma-mins=-3,-1"], &["roughness"], &["roughness"]),
        ("uniqueness", &[], &["uniqueness", "uniqueness-solutions"], &["uniqueness", "uniqueness-refinement"]),
    ] {
        let told = place.gluey(&[&["plane", study, "--out", study], more].concat()).succeeds();
        assert!(told.contains(&format!("results in {study}")), "{told}");
        let read = |name: String| fs::read(place.path(study).join(name)).unwrap();
        for table in tables {
            assert!(String::from_utf8(read(format!("{table}.csv"))).unwrap().lines().count() > 2, "{table}");
        }
        for figure in figures {
            let svg = String::from_utf8(read(format!("{figure}.svg"))).unwrap();
            assert!(svg.starts_with("<svg") && svg.contains("<text"), "{figure}");
            assert!(svg.contains("time") || svg.contains('κ'), "{figure} names no axis");
            assert!(read(format!("{figure}.png")).starts_with(b"\x89PNG"), "{figure}");
        }
    }
    let events = fs::read_to_string(place.path("example/example-events.csv")).unwrap();
    assert!(
        events.contains("1.0000000000000000e0,hit,-2.0000000000000000e0")
            && events.contains("4.0000000000000000e0,take-off"),
        "{events}"
    );
}
