//! `gluey paper` and `gluey measure`: the page, and what the simulations on it show.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use gluey::trajectory::Snapshots;

use crate::Place;
#[cfg(unix)]
use crate::signals::send;

/// Rows of a CSV file, by column.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn value(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

/// Figures of one run of `gluey measure`.
struct Measured(Vec<BTreeMap<String, String>>);

impl Measured {
    fn of(folder: &Path, run: &str) -> Self {
        Self(table(&folder.join("measures.csv")).into_iter().filter(|row| row["run"] == run).collect())
    }

    fn between(&self, angles: std::ops::Range<f64>, column: &str) -> Vec<f64> {
        self.0.iter().filter(|row| angles.contains(&value(row, "angle"))).map(|row| value(row, column)).collect()
    }

    fn mean(&self, angles: std::ops::Range<f64>, column: &str) -> f64 {
        let values = self.between(angles, column);
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn most(&self, angles: std::ops::Range<f64>, column: &str) -> f64 {
        self.between(angles, column).into_iter().fold(0.0, f64::max)
    }
}

/// The paper: smooth heaps leave the wall at the top, rough ones earlier, dry ones at once.
fn the_lotto_shows_what_the_paper_says(folder: &Path) {
    let [dry, rough, smooth] = ["dry", "rough", "smooth"].map(|run| Measured::of(folder, run));
    assert_eq!(dry.0.len(), 631);
    assert!((value(&dry.0[630], "angle") - 12.6_f64.to_degrees()).abs() < 1e-6, "it turns at 2 rad a time");
    // Particles at the top wall, once they have settled.
    assert_eq!(dry.most(45.0..722.0, "hanging"), 0.0);
    assert!(rough.most(45.0..722.0, "hanging") < 0.02);
    assert!(smooth.most(120.0..200.0, "hanging") > 0.05);
    // Where the centre of mass is when the first floor is at the top.
    let height = |run: &Measured| run.mean(150.0..210.0, "height");
    assert!(height(&dry) < -0.13 && height(&rough) < -0.13 && height(&smooth) > 0.0);
    assert!(rough.mean(45.0..720.0, "height") > dry.mean(45.0..720.0, "height"), "glue lifts");
    // Glue keeps neighbours together.
    let mixing = |run: &Measured| run.mean(540.0..720.0, "mixing");
    let [dry, rough, smooth] = [dry, rough, smooth].map(|run| mixing(&run));
    assert!(dry > rough + 0.05 && rough > smooth + 0.2 && dry > 0.6 && smooth < 0.3, "{dry} {rough} {smooth}");
    // The angle at which half of those on a wall have left it.
    let departures = table(&folder.join("departures.csv"));
    let half = |run: &str| {
        let mut rows = departures.iter().filter(|row| row["run"] == run);
        value(rows.find(|row| value(row, "staying") < 0.5).unwrap(), "angle")
    };
    let [dry, rough, smooth] = ["dry", "rough", "smooth"].map(half);
    assert!((70.0..=85.0).contains(&dry) && rough > dry && rough <= 100.0, "{dry} {rough}");
    assert!((165.0..=205.0).contains(&smooth), "the top is at 180 degrees: {smooth}");
}

/// All particles are inside of what holds them, and none overlaps.
fn the_funnel_loses_nobody(place: &Place, run: &str) {
    let info: serde_json::Value = serde_json::from_str(&place.gluey(&["info", run, "--json"]).succeeds()).unwrap();
    let overlap = info["worst_overlap"].as_f64().unwrap() / info["smallest_radius"].as_f64().unwrap();
    assert!(overlap < 1e-4, "{run}: {overlap}");
    assert_eq!(info["unconverged"], 0);
    let snapshots = Snapshots::open(&place.path(run)).unwrap();
    for stamp in snapshots.stamps() {
        let frame = snapshots.read(stamp).unwrap();
        assert_eq!(frame.particles.len(), 400);
        for x in &frame.particles.position {
            let shield = -2.4 + (x.y - 2.4) / 9.0;
            let inside =
                if x.x < 2.5 { x.y > 2.4 - 0.4 * (x.x + 2.4) && x.x > shield } else { x.x < 5.6 && x.y > -1.6 };
            assert!(inside || x.y > 6.0, "{run}: a particle is at {x} at t = {}", frame.time);
        }
    }
    let last = snapshots.read(snapshots.stamps().last().unwrap()).unwrap();
    let arrived = last.particles.position.iter().filter(|x| x.x > 2.5 && x.y < 0.5).count();
    assert!(arrived > 200, "{run}: {arrived} of 400 are in the container");
}

#[test]
fn a_quick_report_is_one_page_and_shows_what_the_paper_says() {
    let place = Place::new();
    let answer = place.gluey(&["paper", "--quick", "--out", "report"]);
    let told = answer.err.clone();
    let said = answer.succeeds();
    assert!(said.contains("sections in") && said.contains("report.html"), "{said}");
    assert!(told.contains("[1/") && told.contains("gluey run scenes/lotto-dry.toml --out runs/lotto-dry"), "{told}");

    let page = fs::read_to_string(place.path("report/report.html")).unwrap();
    assert!(!page.contains("http") && !page.contains("not made yet"), "it needs no other file");
    let sources = page.split("src=\"").skip(1);
    assert!(sources.clone().count() >= 15 && sources.clone().all(|source| source.starts_with("data:image/")));
    for words in ["Differences.", "In the paper.", "half_left_at", "sweeps", "gluey measure runs/lotto-dry"] {
        assert!(page.contains(words), "{words}");
    }
    the_lotto_shows_what_the_paper_says(&place.path("report/lotto"));
    the_funnel_loses_nobody(&place, "report/runs/funnel");
    the_funnel_loses_nobody(&place, "report/runs/funnel-dry");

    // What is done is not done again; a page that was lost is made anew.
    fs::remove_file(place.path("report/report.html")).unwrap();
    let start = Instant::now();
    let again = place.gluey(&["paper", "--quick", "--out", "report"]);
    assert!(again.err.contains("lotto: done before"), "{}", again.err);
    again.succeeds();
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(fs::read_to_string(place.path("report/report.html")).unwrap(), page);

    place.gluey(&["paper", "--out", "report"]).fails(1, &["holds a quick report", "--out"]);
}

#[cfg(unix)]
#[test]
fn a_report_that_was_stopped_goes_on() {
    let place = Place::new();
    let arguments = ["paper", "--quick", "--only", "lotto", "--out", "report"];
    let mut child = place.command(&arguments).stderr(std::process::Stdio::null()).spawn().unwrap();
    let started = place.path("report/runs/lotto-dry/series.csv");
    while !started.exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    send("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!place.path("report/report.html").exists());

    let said = place.gluey(&arguments).succeeds();
    assert!(said.starts_with("1 of "), "{said}");
    let page = fs::read_to_string(place.path("report/report.html")).unwrap();
    assert!(page.contains("not made yet") && page.contains("id=\"lotto\""));
    the_lotto_shows_what_the_paper_says(&place.path("report/lotto"));
}

#[test]
fn sections_that_do_not_exist_are_named() {
    let place = Place::new();
    place.gluey(&["paper", "--only", "lottery", "--out", "report"]).fails(2, &["lottery", "lotto", "funnel"]);
    assert!(!place.path("report").exists());
    place.write("file", "");
    place.gluey(&["paper", "--only", "example", "--out", "file"]).fails(1, &["file"]);
    place.gluey(&["paper"]).fails(2, &["--out"]);
}

#[test]
fn what_measures_cannot_use_is_refused() {
    let place = Place::new();
    place.short("run", &[]).succeeds();
    place.gluey(&["measure", "run", "--out", "m", "--labels", "a,b"]).fails(2, &["2 labels for 1 run"]);
    place.gluey(&["measure", "run", "--out", "m", "--up", "0,0,1"]).fails(2, &["--up", "2D"]);
    place.gluey(&["measure", "nowhere", "--out", "m"]).fails(1, &["nowhere"]);
    assert!(!place.path("m").exists());
    let told = place.gluey(&["measure", "run", "--out", "m"]).succeeds();
    assert!(told.contains("most_hanging"), "{told}");
    assert_eq!(table(&place.path("m/measures.csv")).len(), 10);
}
