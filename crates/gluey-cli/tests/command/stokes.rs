//! `gluey stokes`: figures for scripts, files, and what it refuses.

use std::fs;

use serde_json::Value;

use crate::Place;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn drags_of_the_three_methods_agree() {
    let place = Place::new();
    let drag =
        |method: &str| json(&place.gluey(&["stokes", "drag", "--gap=0.25", "--method", method, "--json"]).succeeds());
    let [exact, elements, penalised] = ["exact", "fe", "penalised"].map(drag);
    let lambda = |answer: &Value| answer["lambda"].as_f64().unwrap();
    assert!((lambda(&exact) - 5.305_323_510_620).abs() < 1e-9);
    assert!((lambda(&elements) / lambda(&exact) - 1.0).abs() < 1e-3);
    assert!((lambda(&penalised) / lambda(&exact) - 1.0).abs() < 0.1);
    assert!(elements["unknowns"].as_u64().unwrap() <= 10_000 && elements["seconds"].as_f64().is_some());
}

#[test]
fn a_coupled_run_tells_when_the_particle_hits_and_leaves() {
    let place = Place::new();
    let couple = ["stokes", "couple", "--solver=table", "--contact=gluey", "--eta=0.1", "--gamma-min=-inf", "--q0=0.7"];
    let more = ["--dt=0.01", "--until=5", "--csv=run.csv", "--json"];
    let answer = json(&place.gluey(&[&couple[..], &more[..]].concat()).succeeds());
    let [hit, takeoff, end] = ["hit", "takeoff", "final"].map(|key| answer[key].as_f64().unwrap());
    assert!((takeoff - (4.0 - hit)).abs() <= 0.021, "{hit} {takeoff}");
    let text = fs::read_to_string(place.path("run.csv")).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!((rows[0], rows.len()), ("t,q,u,gamma,lambda", 502));
    let last: Vec<f64> = rows[501].split(',').map(|cell| cell.parse().unwrap()).collect();
    assert_eq!((last[0], last[1]), (5.0, end));

    let none = place.gluey(&["stokes", "couple", "--solver=table", "--contact=none", "--json"]).succeeds();
    assert_eq!((&json(&none)["hit"], &json(&none)["takeoff"]), (&Value::Null, &Value::Null));
    let rough = place.gluey(&["stokes", "couple", "--solver=table", "--gamma-min=-0.5", "--json"]).succeeds();
    assert!((json(&rough)["takeoff"].as_f64().unwrap() - 2.25).abs() <= 0.02);

    place.write("drags.csv", "gap,lambda\n0.01,102\n0.1,11.5\n1,2.1\n10,1.1\n");
    let own = ["stokes", "couple", "--solver=table", "--table=drags.csv", "--json"];
    assert!((json(&place.gluey(&own).succeeds())["takeoff"].as_f64().unwrap() - 2.66).abs() < 0.1);
}

#[test]
fn a_flow_is_drawn_and_written_for_paraview() {
    let place = Place::new();
    place.gluey(&["stokes", "flow", "--gap=0.3", "--out=flow"]).succeeds();
    assert!(fs::read_to_string(place.path("flow/flow.vtu")).unwrap().contains("pressure"));
    assert!(fs::read_to_string(place.path("flow/flow.svg")).unwrap().matches("<polyline").count() > 20);
    assert!(fs::metadata(place.path("flow/flow.png")).unwrap().len() > 10_000);
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    let refused = |arguments: &[&str], parts: &[&str]| place.gluey(&[&["stokes"], arguments].concat()).fails(2, parts);
    refused(&["drag", "--gap=0"], &["gap = 0", "positive"]);
    refused(&["drag", "--gap=-1", "--method=fe"], &["gap = -1", "positive"]);
    refused(&["drag", "--gap=nan", "--method=penalised"], &["gap = NaN"]);
    refused(&["drag", "--gap=1e-6", "--method=fe", "--along=4"], &["along", "too few", "at least"]);
    refused(&["drag", "--gap=0.5", "--method=penalised", "--penalty=0.1"], &["penalty = 0.1", "at most"]);
    refused(&["drag", "--gap=0.5", "--method=penalised", "--cell=0.5"], &["cell = 0.5", "at most"]);
    refused(&["couple", "--solver=table", "--q0=0.05"], &["q0 = 0.05", "eta"]);
    refused(&["couple", "--solver=table", "--eta=0"], &["eta = 0"]);
    refused(&["couple", "--solver=table", "--dt=-1"], &["`dt` is -1"]);
    refused(&["couple", "--solver=table", "--dt=1e-9", "--until=1e9"], &["`dt` is", "steps"]);
    refused(&["couple", "--solver=table", "--gamma-min=1"], &["gamma_min = 1"]);
    refused(&["couple", "--solver=table", "--force=0:x"], &["0:x"]);
    refused(&["flow", "--gap=-1", "--out=flow"], &["gap = -1"]);
    assert!(!place.path("flow").exists());
    place.write("drags.csv", "1,2\n2,1\n");
    refused(&["couple", "--solver=table", "--table=drags.csv"], &["at least three"]);
    // A gap that the mesh does not resolve has a drag, and a warning.
    let coarse = place.gluey(&["stokes", "drag", "--gap=0.05", "--method=penalised"]);
    assert!(coarse.err.starts_with("warning: gap 0.05") && coarse.err.contains("take cells of"), "{}", coarse.err);
    coarse.succeeds();
}
