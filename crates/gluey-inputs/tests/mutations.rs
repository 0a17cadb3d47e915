//! 100 000 damaged inputs: none makes gluey panic, takes longer than a second or more than a gibibyte.
//!
//! The cases are the same in each run: case k of a way is a function of the way's name and k. One that fails is written
//! to `target/mutations`, and `cargo run --release -p gluey-inputs --example take -- WAY FILE` repeats it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod mutation;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gluey_inputs::{Answer, WAYS, Way, way};
use mutation::Mutator;

/// Cases of each way.
const CASES: u64 = 10_000;
/// A case may take so long, in the best of three: others want the machine, too.
const SLOWEST: Duration = Duration::from_secs(1);
/// A case that takes so long will not end.
const ENDLESS: Duration = Duration::from_mins(1);
/// Memory that the process may have used, in KiB.
const LARGEST: u64 = 1 << 20;
/// And may have asked for: threads and their heaps reserve more than they use.
const LARGEST_ASKED: u64 = 6 << 20;

fn corpus(way: Way) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(way.name);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A figure of this process in KiB; none where the system does not tell.
fn memory(what: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix(what)?.split_whitespace().next()?.parse().ok())
}

/// Where a case that failed is kept.
fn keep(way: Way, case: u64, bytes: &[u8]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("mutations");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{}-{case}", way.name));
    fs::write(&path, bytes).unwrap();
    format!(
        "case {case}, to be repeated with\n  cargo run --release -p gluey-inputs --example take -- {} {}",
        way.name,
        path.display()
    )
}

/// The case that a way is at, and since when.
type Place = Arc<Mutex<Option<(u64, Vec<u8>, Instant)>>>;

/// Ends the process where a case does not end.
fn watch(way: Way, place: &Place) {
    let place = Arc::downgrade(place);
    thread::spawn(move || {
        while let Some(place) = place.upgrade() {
            if let Some((case, bytes, since)) = &*place.lock().unwrap()
                && since.elapsed() > ENDLESS
            {
                eprintln!("{}: no end of {}", way.name, keep(way, *case, bytes));
                std::process::exit(1);
            }
            drop(place);
            thread::sleep(Duration::from_millis(500));
        }
    });
}

fn take(way: Way, case: u64, bytes: &[u8]) -> Answer {
    let once = || {
        let start = Instant::now();
        let answer = catch_unwind(AssertUnwindSafe(|| (way.take)(bytes)));
        (answer.unwrap_or_else(|_| panic!("{}: a panic in {}", way.name, keep(way, case, bytes))), start.elapsed())
    };
    let (answer, mut time) = once();
    for _ in 0..2 {
        if time > SLOWEST {
            time = time.min(once().1);
        }
    }
    assert!(time <= SLOWEST, "{}: {time:.1?} for {}", way.name, keep(way, case, bytes));
    for (figure, most) in [("VmHWM:", LARGEST), ("VmPeak:", LARGEST_ASKED)] {
        if let Some(found) = memory(figure).filter(|found| *found > most) {
            panic!("{}: {figure} {found} KiB after {}", way.name, keep(way, case, bytes));
        }
    }
    answer
}

fn survives(name: &str) {
    let way = way(name).unwrap();
    let mutator = Mutator::new(name, corpus(way));
    let place = Place::default();
    watch(way, &place);
    let (mut taken, mut passed, mut slowest) = (0_u32, 0_u32, (Duration::ZERO, 0));
    for case in 0..CASES {
        let bytes = mutator.case(case);
        let start = Instant::now();
        *place.lock().unwrap() = Some((case, bytes.clone(), start));
        match take(way, case, &bytes) {
            Answer::Taken => taken += 1,
            Answer::Passed => passed += 1,
            Answer::Refused => {}
        }
        slowest = slowest.max((start.elapsed(), case));
    }
    let (time, case) = slowest;
    println!("{name}: {CASES} cases, {taken} taken, {passed} passed over, the slowest {time:.1?} (case {case})");
    // Where all are refused nothing behind the door is tested, and where all are taken nothing is damaged.
    assert!(taken > 0 && u64::from(taken) < CASES, "{name}: {taken} of {CASES} were taken");
}

#[test]
fn every_file_of_the_corpus_is_taken() {
    for way in WAYS {
        for (k, bytes) in corpus(way).iter().enumerate() {
            assert_eq!((way.take)(bytes), Answer::Taken, "{}, file {k}: make the corpus anew", way.name);
        }
    }
}

#[test]
fn cases_are_the_same_in_each_run() {
    let cases = || {
        let mutator = Mutator::new("request", corpus(way("request").unwrap()));
        (0..200).map(|case| mutator.case(case)).collect::<Vec<_>>()
    };
    assert_eq!(cases(), cases());
    assert!(cases().windows(2).any(|pair| pair[0] != pair[1]));
}

macro_rules! ways {
    ($($test:ident $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                survives($name);
            }
        )*

        #[test]
        fn no_way_is_forgotten() {
            assert_eq!(WAYS.map(|way| way.name), [$($name),*]);
        }
    };
}

ways! {
    damaged_scenes_are_told "scene",
    damaged_expressions_are_told "expression",
    damaged_particles_are_told "particles-csv",
    damaged_surfaces_are_told "stl",
    damaged_checkpoints_are_told "checkpoint",
    damaged_checkpoints_with_a_fitting_checksum_are_told "checkpoint-content",
    damaged_manifests_are_told "manifest",
    damaged_frames_are_told "frames",
    damaged_problems_are_told "problem",
    damaged_requests_are_told "request",
}
