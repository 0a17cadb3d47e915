//! Scenes of the repository, made short.

use std::fs;
use std::path::Path;

use crate::Place;

/// Positions of the particles, one list a frame.
fn frames(path: &Path) -> Vec<Vec<[f64; 3]>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let mut frames = Vec::new();
    while let Some(count) = lines.next() {
        let position = |line: &str| {
            let numbers: Vec<f64> = line.split(' ').skip(1).take(3).map(|word| word.parse().unwrap()).collect();
            [numbers[0], numbers[1], numbers[2]]
        };
        frames.push(lines.by_ref().skip(1).take(count.parse().unwrap()).map(position).collect());
    }
    frames
}

fn is_in_container([x, y, z]: [f64; 3]) -> bool {
    (1.7..3.6).contains(&x) && y.abs() < 0.6 && (-0.2..1.7).contains(&z)
}

/// In the bin and the cone or close under its outlet, between the walls over the chute, or in the container.
fn is_in_the_machine([x, y, z]: [f64; 3]) -> bool {
    let cone = 0.3 + (z - 3.85).clamp(0.05, 0.7) * 6.0 / 7.0;
    let bin = x.hypot(y) < cone && (3.75..6.3).contains(&z);
    let chute = 2.4 - (x + 1.2) * 1.4 / 3.0;
    let casing = (-1.2..2.0).contains(&x) && y.abs() < 0.6 && z > chute && z < chute + 2.1;
    bin || casing || is_in_container([x, y, z])
}

#[test]
fn the_funnel_in_space_loses_no_particle() {
    let place = Place::new();
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/funnel-3d.toml");
    let few = ["--set=particles.0.source.fill.count=100", "--set=particles.1.source.fill.count=100"];
    let short = ["--set=time.dt=4e-3", "--until=3.6", "--set=output.frame_every=25", "--set=output.formats=['xyz']"];
    place.gluey(&[&["run", scene.to_str().unwrap(), "--out=run"][..], &few, &short].concat()).succeeds();
    let frames = frames(&place.path("run/trajectory.xyz"));
    assert_eq!(frames.len(), 37);
    for (k, frame) in frames.iter().enumerate() {
        assert_eq!(frame.len(), 200);
        let lost: Vec<_> = frame.iter().filter(|position| !is_in_the_machine(**position)).collect();
        assert!(lost.is_empty(), "frame {k}: {lost:?}");
    }
    let arrived = frames[36].iter().filter(|position| is_in_container(**position)).count();
    assert!(arrived > 150, "{arrived}");
    let told: serde_json::Value = serde_json::from_str(&place.gluey(&["info", "run", "--json"]).succeeds()).unwrap();
    let length = |key: &str| told[key].as_f64().unwrap();
    let overlap = length("worst_overlap") / length("smallest_radius");
    assert!(overlap < 1e-4, "{overlap}");
}
