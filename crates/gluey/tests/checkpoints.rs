//! Checkpoints whose bytes were changed and whose checksum was made to fit: each is refused in words, or it holds a
//! state from which steps can be taken. None ends in a panic or fills the memory.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use gluey::logbook::refuse_misfit;
use gluey::scene::Scene;
use gluey::simulation::StepReport;
use gluey::trajectory::{Checkpoint, Format, FrameStamp, Grown, Progress};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Changed checkpoints of each scene, unless `GLUEY_MUTATIONS` says otherwise.
const MUTATIONS: u64 = 700;

const PLAIN: &str = r#"
dimension = 2
time = { dt = 0.01, until = 1, max_substeps = 20 }
solver = { max_sweeps = 2000 }
contact.law.gluey = {}
environment.gravity = [0, -10]
[[particles]]
mass = 1
source.list = [
    { position = [0, 0.5], radius = 0.5 }, { position = [1.0, 0.5], radius = 0.5 }, { position = [0.5, 1.5], radius = 0.5 },
    { position = [3, 0.5], radius = 0.25 },
]
[[obstacle]]
name = "floor"
shape.half-space = { point = [0, 0], normal = [0, 1] }
"#;

const CLUMPS: &str = r#"
dimension = 3
time = { dt = 0.01, until = 1, max_substeps = 20 }
solver = { max_sweeps = 2000 }
contact.law = "inelastic"
environment.gravity = [0, 0, -10]
[[particles]]
mass = 1
source.list = [{ position = [4, 0, 0.5], radius = 0.5 }]
[[clump]]
name = "twin"
density = 1
make.spheres = [{ position = [0, 0, 0], radius = 0.5 }, { position = [0.5, 0.2, 0], radius = 0.4 }]
place.list = [{ position = [0, 5, 0.7] }, { position = [0, 5, 1.9] }]
[[obstacle]]
name = "floor"
shape.half-space = { point = [0, 0, 0], normal = [0, 0, 1] }
"#;

const BRIDGES: &str = r#"
dimension = 2
time = { dt = 0.01, until = 1, max_substeps = 20 }
solver = { max_sweeps = 2000 }
contact.law = "inelastic"
[periodic]
x = [-2, 4]
[[particles]]
mass = 1
source.list = [
    { position = [-1.9, 0.5], radius = 0.5 }, { position = [3.1, 0.5], radius = 0.5 }, { position = [1, 0.5], radius = 0.5 },
]
[[pair-force]]
name = "water"
bridge.linear = { strength = 0.1, rupture = 0.3 }
obstacles = ["floor"]
[[obstacle]]
name = "floor"
shape.half-space = { point = [0, 0], normal = [0, 1] }
"#;

const OPEN: &str = r#"
dimension = 2
time = { dt = 0.01, until = 1, max_substeps = 20 }
solver = { max_sweeps = 2000 }
contact.law.gluey = { gamma_min = -1 }
environment.gravity = [0, -10]
[[particles]]
mass = 1
source.list = [{ position = [0, 0.5], radius = 0.3 }]
[[inlet]]
name = "tap"
box = { lower = [-2, 2], upper = [2, 4] }
rate = 100
radius = [0.1, 0.2]
density = 5
[[outlet]]
name = "drain"
box = { lower = [-5, 0], upper = [-1, 1.5] }
[[obstacle]]
name = "lid"
shape.segment = { from = [-3, 0], to = [3, 0], thickness = 0.1 }
motion.oscillation = { amplitude = [0, 0.02], frequency = 2 }
[[obstacle]]
name = "drum"
shape.sphere = { centre = [0, 1], radius = 6, side = "inside" }
motion.rotation = { centre = [0, 1], rate = 1 }
[[measure]]
name = "flow"
kind.flux = { plane = { point = [0, 1.5], normal = [0, -1] } }
"#;

fn parse(text: &str) -> Scene {
    Scene::parse(text, Path::new("scene.toml")).unwrap_or_else(|error| panic!("{error}"))
}

/// What a run of a scene leaves after some steps.
fn checkpoint_of(text: &str) -> Checkpoint {
    let mut scene = parse(text);
    let mut report = StepReport::default();
    (0..40).for_each(|_| scene.simulation.step_into(&mut report).unwrap());
    let frames = (0..4).map(|k| FrameStamp { step: 10 * k, time: 0.1 * k as f64, obstacles: Some(0) }).collect();
    let grown = Grown { bytes: 1000, checksum: Some(7) };
    let progress = Progress { frames, series: grown, grown: [(Format::Xyz, grown), (Format::Compact, grown)].into() };
    Checkpoint { state: scene.simulation.state, fingerprint: 1, scene_text: text.to_owned(), progress, report }
}

/// Changes a few bytes, as disks, bad memory and whoever looks for holes do.
fn mutate(bytes: &mut Vec<u8>, text: &str, random: &mut Pcg64Mcg) {
    // Mostly in the state, which is before the scene's text, and without shifting what follows.
    let state = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    for _ in 0..random.random_range(1..4) {
        let state = state.min(bytes.len());
        let (end, kinds) = (if random.random_bool(0.9) { state } else { bytes.len() }, random.random_range(6..9));
        let at = random.random_range(0..end);
        match random.random_range(0..kinds) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes[at] = [0x00, 0x01, 0x7f, 0x80, 0xff][random.random_range(0..5)],
            3 | 4 => {
                let numbers =
                    [f64::NAN, f64::INFINITY, -1.0, 0.0, -0.0, 1e308, 1e-308, 5e-324, 1e9, -1e15, f64::MAX, 1.0 + 1e-9];
                let number = numbers[random.random_range(0..numbers.len())].to_le_bytes();
                let room = bytes.len().saturating_sub(at).min(8);
                bytes[at..at + room].copy_from_slice(&number[..room]);
            }
            5 => {
                // The greatest number of variable length that there is.
                let length = random.random_range(1..10).min(bytes.len() - at);
                bytes[at..at + length].fill(0xff);
                bytes[at + length - 1] = 0x01;
            }
            6 => drop(bytes.remove(at)),
            _ => bytes.insert(at, random.random()),
        }
    }
}

/// How a changed checkpoint fared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    unreadable: u64,
    misfit: u64,
    other_scene: u64,
    failed: u64,
    stepped: u64,
}

fn attack(text: &str, seeds: std::ops::Range<u64>) -> Tally {
    let whole = checkpoint_of(text);
    refuse_misfit(&parse(text), &whole).unwrap();
    let plain = whole.to_plain().unwrap();
    let path = Path::new("changed");
    assert_eq!(Checkpoint::from_plain(&plain, path).unwrap(), whole);
    let mut tally = Tally::default();
    for seed in seeds {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut changed = plain.clone();
        mutate(&mut changed, text, &mut random);
        // Now and then as a whole file.
        let read = if seed % 8 == 0 {
            Checkpoint::from_bytes(&Checkpoint::packed(&changed).unwrap(), path)
        } else {
            Checkpoint::from_plain(&changed, path)
        };
        let Ok(checkpoint) = read else {
            tally.unreadable += 1;
            continue;
        };
        if checkpoint.scene_text != text {
            tally.other_scene += 1; // the manifest tells
            continue;
        }
        let mut scene = parse(text);
        if refuse_misfit(&scene, &checkpoint).is_err() {
            tally.misfit += 1;
            continue;
        }
        scene.simulation.state = checkpoint.state;
        let mut report = checkpoint.report;
        if scene.simulation.step_into(&mut report).is_err() {
            tally.failed += 1;
            continue;
        }
        tally.stepped += 1;
        let after = scene.simulation.state.check();
        assert!(after.is_ok(), "seed {seed}: {after:?} after a step");
    }
    tally
}

#[test]
fn a_changed_checkpoint_whose_checksum_fits_is_refused_or_legal() {
    let count = std::env::var("GLUEY_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(MUTATIONS);
    for (name, text) in [("plain", PLAIN), ("clumps", CLUMPS), ("bridges", BRIDGES), ("open", OPEN)] {
        let tally = attack(text, 0..count);
        println!("{name}: {tally:?}");
        assert!(tally.unreadable > 0 && tally.misfit > 0 && tally.stepped > 0, "{tally:?}");
    }
}
