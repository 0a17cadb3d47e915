//! Measures in the series and in `gluey info`.

use std::fs;

use serde_json::Value;

use crate::{Place, SHORT};

/// Discs that fall into a tray, past a plane, in a scene that measures everything.
const MEASURED: &str = r#"
dimension = 2
time = { dt = 5e-3, until = 0.3 }
contact.law.gluey = { gamma_min = -0.1 }
environment.gravity = [0, -9.81]
particles = [{ density = 1, source.lattice = { lower = [0, 0.3], upper = [1, 0.9], spacing = 0.11, radius = 0.05, jitter = 0.5 } }]
obstacle = [{ name = "tray", shape.box = { side = "inside", lower = [0, 0], upper = [1, 1] } }]
output = { frame_every = 7, series_every = 3, checkpoint_every = 11 }
measure = [
    { name = "bed", kind.solid-fraction = { box = { lower = [0, 0], upper = [1, 0.2] } } },
    { name = "touch", kind = "coordination" },
    { name = "load", kind.stress = { box = { lower = [0, 0], upper = [1, 0.2] }, kinetic = true } },
    { name = "chains", kind = "network" },
    { name = "fall", kind.settling = {} },
    { name = "down", kind.flux = { plane = { point = [0, 0.2], normal = [0, -1] } } },
    { name = "cluster", kind = "clusters" },
]
"#;

fn json(place: &Place, arguments: &[&str]) -> Value {
    serde_json::from_str(&place.gluey(&[&["info", "--json"], arguments].concat()).succeeds()).unwrap()
}

#[test]
fn measures_are_columns_that_go_on_byte_for_byte() {
    let place = Place::new();
    place.write("measured.toml", MEASURED);
    let told = place.gluey(&["check", "measured.toml"]).succeeds();
    assert!(told.contains("columns bed_fraction") && told.contains("down_number and down_volume"), "{told}");
    place.gluey(&["run", "measured.toml", "--out=whole"]).succeeds();
    place.gluey(&["run", "measured.toml", "--out=resumed", "--until=0.16"]).succeeds();
    place.gluey(&["run", "--resume", "--out=resumed"]).succeeds();
    place.assert_same("whole", "resumed");
    let series = fs::read_to_string(place.path("whole/series.csv")).unwrap();
    let header = series.lines().next().unwrap();
    let last = "bed_fraction,touch_particles,touch_all,touch_free,touch_rattlers,load_xx,load_yy,load_xy,load_pressure,\
                chains_push,chains_maxpush,chains_maxpull,chains_pulling,chains_glued,chains_glue,chains_maxglue,\
                fall_mean,fall_fluctuation,fall_temperature,down_number,down_volume,\
                cluster_count,cluster_largest,cluster_size,cluster_gyration,cluster_dimension";
    assert!(header.ends_with(&format!("tray_tz,{last}")), "{header}");
    // Without measures the rest of the series is the same.
    let (plain, _) = MEASURED.split_once("measure = ").unwrap();
    place.write("plain.toml", plain);
    place.gluey(&["run", "plain.toml", "--out=plain"]).succeeds();
    let bare = fs::read_to_string(place.path("plain/series.csv")).unwrap();
    assert_eq!(series.lines().count(), bare.lines().count());
    for (with, without) in series.lines().zip(bare.lines()) {
        assert!(with.starts_with(&format!("{without},")), "{with}\n{without}");
    }
}

#[test]
fn info_measures_the_last_frame() {
    let place = Place::new();
    place.write("measured.toml", MEASURED);
    place.gluey(&["run", "measured.toml", "--out=run"]).succeeds();
    let told = place.gluey(&["info", "run"]).succeeds();
    for part in ["measures        of the frame at t = 0.3", "solid fraction", "coordination", "clusters", "pressure"] {
        assert!(told.contains(part), "`{part}` is not in\n{told}");
    }
    assert!(!told.contains("contacts each"), "{told}");
    let all = place.gluey(&["info", "run", "--measures"]).succeeds();
    for part in ["contacts each", "0.5: ", "stress", "temperature"] {
        assert!(all.contains(part), "`{part}` is not in\n{all}");
    }
    // What the series and the last frame tell of the same step is the same.
    let found = json(&place, &["run", "--region=0,0:1,0.2", "--plane=0,0.2:0,-3"]);
    let (measures, row) = (&found["measures"], &found["last_row"]);
    let near = |a: &Value, b: &Value| {
        let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b} in\n{found:#}");
    };
    near(&measures["regions"][0]["fraction"], &row["bed_fraction"]);
    near(&measures["coordination"]["with_obstacles"], &row["touch_all"]);
    near(&measures["network"]["pushing"]["mean"], &row["chains_push"]);
    near(&measures["settling"]["mean"], &row["fall_mean"]);
    near(&measures["clusters"]["largest"], &row["cluster_largest"]);
    near(&measures["flux"][0]["number"], &row["down_number"]);
    near(&measures["flux"][0]["volume"], &row["down_volume"]);
    assert!(row["down_number"].as_f64().unwrap() > 0.0);
    let intervals = measures["flux"][0]["intervals"].as_array().unwrap();
    assert_eq!(intervals.len() as u64 + 1, found["frames"].as_u64().unwrap());
}

#[test]
fn info_measures_a_periodic_cell_with_its_images() {
    let place = Place::new();
    let pack = "pack --radii 0.1 --fraction 0.45 --count 60 --periodic xyz -o p.csv";
    let said = place.gluey(&pack.split(' ').collect::<Vec<_>>()).succeeds();
    let scene = said.split_once("in a scene:\n\n").unwrap().1;
    place.write("scene.toml", &scene.replace("[periodic]", "[time]\ndt = 0.01\nuntil = 0.01\n[periodic]"));
    place.gluey(&["run", "scene.toml", "--out=run", "--quiet"]).succeeds();
    let told = place.gluey(&["info", "run"]).succeeds();
    assert!(told.contains("solid fraction  0.45 of the periodic cell"), "{told}");
    let side = scene.split_once("x = [0, ").unwrap().1.split_once(']').unwrap().0;
    let region = format!("--region=0,0,0:{side},{side},{side}");
    let shifted = format!("--region=1,-1,0.3:{},{},{}", 1.0 + number(side), number(side) - 1.0, 0.3 + number(side));
    let found = json(&place, &["run", &region, &shifted]);
    for fraction in
        [&found["measures"]["solid_fraction"], &found["measures"]["regions"][0], &found["measures"]["regions"][1]]
    {
        let fraction = fraction["fraction"].as_f64().unwrap();
        assert!((fraction - 0.45).abs() < 1e-12, "{fraction} in\n{found:#}");
    }
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// Two dumbbells fall on a floor, past a plane.
const DUMBBELLS: &str = r#"
dimension = 2
time = { dt = 5e-3, until = 0.5 }
environment.gravity = [0, -9.81]
clump = [{ name = "dumbbell", density = 1, make.spheres = [{ position = [-0.1, 0], radius = 0.1 }, { position = [0.1, 0], radius = 0.1 }], place.list = [{ position = [0, 0.6] }, { position = [1, 0.6] }] }]
obstacle = [{ name = "floor", shape.half-space = { point = [0, 0], normal = [0, 1] } }]
output = { frame_every = 10 }
measure = [
    { name = "touch", kind = "coordination" },
    { name = "down", kind.flux = { plane = { point = [0, 0.3], normal = [0, -1] } } },
    { name = "cluster", kind = "clusters" },
]
"#;

#[test]
fn a_clump_is_one_body() {
    let place = Place::new();
    place.write("dumbbells.toml", DUMBBELLS);
    place.gluey(&["run", "dumbbells.toml", "--out=run"]).succeeds();
    let found = json(&place, &["run", "--plane=0,0.3:0,-1"]);
    let (measures, row) = (&found["measures"], &found["last_row"]);
    assert_eq!(measures["bodies"], 2, "{found:#}");
    // Each lies on its two spheres, and touches nobody.
    assert_eq!(measures["coordination"]["distribution"], serde_json::json!([0, 0, 2]));
    assert_eq!(
        (&row["touch_all"], &row["touch_particles"], &row["touch_rattlers"]),
        (&2.0.into(), &0.0.into(), &1.0.into())
    );
    assert_eq!((&measures["clusters"]["largest"], &row["cluster_largest"]), (&1.into(), &1.0.into()));
    assert_eq!((&measures["flux"][0]["number"], &row["down_number"]), (&2.into(), &2.0.into()));
    let told = place.gluey(&["info", "run"]).succeeds();
    assert!(told.contains("the largest of 1 body (50 %)") && !told.contains("-0 "), "{told}");
}

#[test]
fn what_contacts_do_not_tell_is_said() {
    let place = Place::new();
    let people = "dimension = 2\ntime = { dt = 0.1, until = 0.5 }\n\
                  environment.crowd = { speed = 1, exits = [{ from = [4, 0], to = [4, 1], out = [1, 0] }] }\n\
                  particles = [{ mass = 1, source.list = [{ position = [3.8, 0.5], radius = 0.2 }, { position = [1, 0.5], radius = 0.2 }] }]\n\
                  obstacle = [{ name = \"room\", shape.box = { side = \"inside\", lower = [0, 0], upper = [9, 1] } }]\n\
                  outlet = [{ name = \"out\", box = { lower = [4.05, -inf], upper = [inf, inf] } }]\noutput.frame_every = 4\n";
    place.write("crowd.toml", people);
    place.gluey(&["run", "crowd.toml", "--out=crowd"]).succeeds();
    let told = place.gluey(&["info", "crowd", "--measures", "--plane=4,0:1,0"]).succeeds();
    assert!(!told.contains("pressure") && !told.contains("forces") && !told.contains("stress"), "{told}");
    assert!(told.contains("0 net through the plane") && told.contains("1 came or left between frames"), "{told}");
    let wet = "dimension = 2\ntime = { dt = 0.01, until = 0.02 }\n\
               particles = [{ mass = 1, source.list = [{ position = [0, 0], radius = 0.2 }, { position = [0.41, 0], radius = 0.2 }] }]\n\
               pair-force = [{ name = \"pull\", expression = \"-1\", range = 0.1 }]\n";
    place.write("wet.toml", wet);
    place.gluey(&["run", "wet.toml", "--out=wet"]).succeeds();
    let told = place.gluey(&["info", "wet"]).succeeds();
    assert!(told.contains("from motion; pair forces are not counted"), "{told}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    place.short("flat", &["--until=0.02"]).succeeds();
    let dimension = json(&place, &["flat"])["dimension"].as_u64().unwrap();
    assert_eq!(dimension, 2, "the regions below are made for a run in the plane");
    place.gluey(&["info", "flat", "--region=0,0:1,0"]).fails(2, &["--region", "the region is empty", "along y"]);
    place.gluey(&["info", "flat", "--region=0,0,0:1,1,1"]).fails(2, &["--region", "third component"]);
    place.gluey(&["info", "flat", "--region=0,0"]).fails(2, &["two vectors with a colon between"]);
    place.gluey(&["info", "flat", "--plane=0,0:0,0"]).fails(2, &["the normal of a plane has a length"]);
    place.gluey(&[&["run", "--out=bare", "--set=output.formats=[]", "--until=0.02"], &SHORT[..1]].concat()).succeeds();
    assert!(!place.gluey(&["info", "bare"]).succeeds().contains("measures"));
    place.gluey(&["info", "bare", "--measures"]).fails(2, &["no frames for ParaView to measure"]);
}
