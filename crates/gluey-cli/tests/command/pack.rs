//! `gluey pack`: files that scenes start from.

use std::fs;

use super::*;

#[test]
fn a_packing_is_a_start_for_a_scene() {
    let place = Place::new();
    let out = place.gluey(&[
        "pack",
        "--radii",
        "0.1..0.15",
        "--fraction",
        "0.6",
        "--box",
        "2,1.5",
        "--periodic",
        "x",
        "-o",
        "p.csv",
    ]);
    let said = out.succeeds();
    assert!(said.contains("solid fraction 0.6000"), "{said}");
    // The scene that it proposes, with a time.
    let scene = said
        .split_once("in a scene:\n\n")
        .unwrap()
        .1
        .replace("[periodic]", "[time]\ndt = 0.01\nuntil = 0.05\n[periodic]");
    place.write("scene.toml", &scene);
    let checked = place.gluey(&["check", "scene.toml"]).succeeds();
    assert!(checked.contains("periodic     x 0 to 2"), "{checked}");
    place.gluey(&["run", "scene.toml", "--quiet"]).succeeds();
    // The same again, with any number of threads.
    let first = fs::read(place.path("p.csv")).unwrap();
    place
        .gluey(&[
            "pack",
            "--radii",
            "0.1..0.15",
            "--fraction",
            "0.6",
            "--box",
            "2,1.5",
            "--periodic",
            "x",
            "-o",
            "q.csv",
            "-t",
            "2",
        ])
        .succeeds();
    assert_eq!(first, fs::read(place.path("q.csv")).unwrap());
}

#[test]
fn what_is_left_out_follows() {
    let place = Place::new();
    let by_count = place.gluey(&[
        "pack",
        "--radii",
        "0.1",
        "--fraction",
        "0.3",
        "--count",
        "40",
        "--periodic",
        "xyz",
        "-o",
        "p.csv",
    ]);
    assert!(by_count.succeeds().contains("40 particles, radius 0.1,"));
    let both = ["pack", "--radii", "1:1,2:1", "--fraction", "0.5", "--count", "30", "--box", "3,3", "-o", "p.csv"];
    assert!(place.gluey(&both).succeeds().contains("30 particles"));
    let rows = fs::read_to_string(place.path("p.csv")).unwrap();
    let area: f64 =
        rows.lines().skip(1).map(|row| row.rsplit(',').next().unwrap().parse::<f64>().unwrap().powi(2)).sum();
    assert!((std::f64::consts::PI * area / 9.0 - 0.5).abs() < 1e-12);
}

#[test]
fn bad_wishes_are_told_so() {
    let place = Place::new();
    let with = |more: &[&str]| {
        let wishes = [&["pack", "--radii", "0.1", "--fraction", "0.5"], more].concat();
        let wishes = if more.contains(&"-o") { wishes } else { [&wishes[..], &["-o", "p.csv"]].concat() };
        place.gluey(&wishes)
    };
    with(&[]).fails(2, &["--box, --count or both"]);
    with(&["--count", "0"]).fails(2, &["at least one particle"]);
    with(&["--box", "1"]).fails(2, &["two for discs, three for spheres"]);
    with(&["--box", "1,-1"]).fails(2, &["positive"]);
    with(&["--box", "2,2", "--dimension", "3"]).fails(2, &["--box has 2 sizes and --dimension is 3"]);
    with(&["--box", "-1,1,1"]).fails(2, &["positive"]);
    with(&["--box", "0.1,0.1,0.1"]).fails(2, &["--radii", "1 particle,", "0.492373 times those asked for"]);
    with(&["--count", "5", "--periodic", "xyz"])
        .fails(2, &["--count 5 and --fraction 0.5", "at least 0.5", "more particles"]);
    place
        .gluey(&["pack", "--radii", "-0.1", "--fraction", "0.5", "--count", "9", "-o", "p.csv"])
        .fails(2, &["`-0.1` is no number > 0"]);
    with(&["--box", "0.15,9"]).fails(2, &["at least 0.2"]);
    with(&["--box", "2,2", "--periodic", "z"]).fails(2, &["no direction of a 2D packing"]);
    with(&["--count", "10", "-o", "no/such/folder.csv"]).fails(1, &["cannot write no/such/folder.csv"]);
    place
        .gluey(&["pack", "--radii", "0.1", "--fraction", "1.2", "--count", "9", "-o", "p.csv"])
        .fails(2, &["between 0 and 1"]);
    let dense = ["pack", "--radii", "0.1", "--fraction", "0.95", "--count", "80", "--periodic", "xyz", "-o", "p.csv"];
    place.gluey(&dense).fails(2, &["no packing has"]);
    let jams = ["pack", "--radii", "0.1", "--fraction", "0.73", "--count", "80", "--periodic", "xyz", "-o", "p.csv"];
    place.gluey(&jams).fails(1, &["jammed at a solid fraction of 0."]);
    assert!(!place.path("p.csv").exists(), "no half file is left");
    let walled = ["pack", "--radii", "0.1", "--fraction", "0.7", "--count", "60", "-o", "p.csv"];
    place.gluey(&walled).fails(1, &["jammed at a solid fraction of 0.", "walls keep particles apart"]);
}

#[test]
fn a_file_that_is_there_outlives_a_request_that_is_refused() {
    let place = Place::new();
    place.write("p.csv", "precious");
    let with = |fraction: &str, count: &str| {
        place.gluey(&["pack", "--radii=0.1", "--fraction", fraction, "--count", count, "--periodic=xyz", "-o", "p.csv"])
    };
    with("0.95", "80").fails(2, &["no packing has"]);
    with("0.3", "2").fails(2, &["more particles"]);
    with("0.73", "80").fails(1, &["jammed"]);
    assert_eq!(fs::read_to_string(place.path("p.csv")).unwrap(), "precious");
    with("0.2", "40").succeeds();
    assert!(fs::read_to_string(place.path("p.csv")).unwrap().starts_with("x,y,z,r\n"));
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 1, "nothing is left beside it");
    fs::create_dir(place.path("folder.csv")).unwrap();
    let folder = ["pack", "--radii=0.1", "--fraction=0.2", "--count=40", "-o", "folder.csv"];
    place.gluey(&folder).fails(1, &["cannot write folder.csv", "it is a folder"]);
}
