//! `gluey project` on problems that `gluey run` writes.

use std::fs;

use gluey::projection::Method;

use crate::Place;

/// A problem in the middle of the short scene.
fn with_problem() -> Place {
    let place = Place::new();
    place.short("run", &["--dump-projection=40"]).succeeds();
    assert!(place.path("run/projection-40.qpb").exists());
    place
}

#[test]
fn every_solver_finds_the_same_velocities_in_a_dumped_problem() {
    let place = with_problem();
    for solver in Method::ALL.map(Method::name) {
        let out = format!("{solver}.bin");
        let told = place
            .gluey(&[
                "project",
                "run/projection-40.qpb",
                "--solver",
                solver,
                "--tolerance=1e-9",
                "--json",
                "--multipliers",
                &out,
            ])
            .succeeds();
        let facts: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(facts["solver"], solver);
        assert_eq!(facts["bodies"], 60);
        assert_eq!(facts["converged"], true);
        assert!(facts["residual"].as_f64().unwrap() <= 1.1e-9, "{told}");
        for key in ["setup_seconds", "solve_seconds", "sweeps", "violation"] {
            assert!(facts[key].is_number(), "{key} in {told}");
        }
        let contacts = facts["contacts"].as_u64().unwrap();
        assert!(contacts > 0);
        assert_eq!(fs::metadata(place.path(&out)).unwrap().len(), 8 * contacts);
    }
}

#[test]
fn dumping_a_problem_changes_nothing_else() {
    let place = with_problem();
    place.short("plain", &[]).succeeds();
    fs::remove_file(place.path("run/projection-40.qpb")).unwrap();
    place.assert_same("run", "plain");
}

/// Clumps, and spheres that all move each other: their problems can be raced, too.
#[test]
fn problems_of_any_metric_are_dumped_and_solved() {
    let place = Place::new();
    let pair = |environment: &str| {
        format!(
            "time = {{ dt = 0.1, until = 1 }}\nenvironment = {environment}\nobstacle = [{{ shape.half-space = {{ point = [0, \
             0, -1], normal = [0, 0, 1] }} }}]\n"
        )
    };
    let spheres = "[[particles]]\nmass = 1\nsource.list = [{ position = [0, 0, 0], radius = 1 }, { position = [2, 0, 0], \
                   radius = 1 }]\n";
    let clump = "[[clump]]\nname = \"pair\"\ndensity = 1\nmake.spheres = [{ position = [0, 0, 0], radius = 1 }, { position = [1, \
                 0, 0], radius = 1 }]\nplace.list = [{ position = [0, 0, 0] }]\n";
    let far = "{ gravity = [0, 0, -1], drag.rotne-prager.viscosity = 1, inertia = false }";
    let scenes = [("far", pair(far) + spheres, 3), ("clump", pair("{ gravity = [0, 0, -1] }") + clump, 2)];
    for (name, text, rows) in scenes {
        place.write("scene.toml", &text);
        place.gluey(&["run", "scene.toml", "--out", name, "--dump-projection=5"]).succeeds();
        let file = format!("{name}/projection-5.qpb");
        assert!(fs::read(place.path(&file)).unwrap().starts_with(b"QPBENCH2"));
        for solver in Method::ALL.map(Method::name) {
            let told = place.gluey(&["project", &file, "--cold", "--solver", solver, "--json"]).succeeds();
            let facts: serde_json::Value = serde_json::from_str(&told).unwrap();
            assert_eq!((&facts["converged"], &facts["contacts"]), (&true.into(), &rows.into()), "{name}: {told}");
        }
    }
}

#[test]
fn a_problem_that_no_file_can_hold_is_refused_before_the_first_step() {
    let place = Place::new();
    place.write(
        "many.toml",
        "time = { dt = 0.1, until = 1 }\nenvironment = { drag.rotne-prager.viscosity = 1, inertia = false }\n[[particles]]\nmass \
         = 1\nsource.fill = { count = 1001, radius = 0.1, region.box = { lower = [0, 0, 0], upper = [9, 9, 9] } }\n",
    );
    let told = place.gluey(&["check", "many.toml"]).succeeds();
    assert!(told.contains("every impulse moves every particle: solved by products of 1002001 pairs"), "{told}");
    place
        .gluey(&["run", "many.toml", "--out=run", "--dump-projection=2"])
        .fails(2, &["--dump-projection: every impulse moves every body", "1001 bodies is too large"]);
    assert!(!place.path("run").exists());
}

#[test]
fn the_text_tells_the_residual_and_a_limit_is_a_failure() {
    let place = with_problem();
    let told = place.gluey(&["project", "run/projection-40.qpb", "--cold", "--repeat=3"]).succeeds();
    for part in ["60 bodies", "apgs, from zero", "converged", "recomputed from the multipliers", "the best of 3"] {
        assert!(told.contains(part), "`{part}` is not in\n{told}");
    }
    let answer = place.gluey(&["project", "run/projection-40.qpb", "--cold", "--tolerance=1e-12", "--max-sweeps=1"]);
    assert_eq!(answer.code, 1);
    assert!(answer.out.contains("met the limit on sweeps"), "{}", answer.out);
}

#[test]
fn files_that_are_no_problems_are_refused() {
    let place = with_problem();
    place.gluey(&["project", "nowhere.qpb"]).fails(1, &["cannot open nowhere.qpb"]);
    place.gluey(&["project", "run/manifest.toml"]).fails(1, &["run/manifest.toml", "QPBENCH1"]);
    let whole = fs::read(place.path("run/projection-40.qpb")).unwrap();
    fs::write(place.path("cut.qpb"), &whole[..whole.len() / 2]).unwrap();
    place.gluey(&["project", "cut.qpb"]).fails(1, &["cut.qpb", "ends too early"]);
    place.gluey(&["project", "run/projection-40.qpb", "--tolerance=0"]).fails(2, &["positive"]);
}
