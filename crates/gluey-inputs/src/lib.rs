//! Every way into gluey for bytes that others wrote, as a function over bytes: `take(bytes)` must come back, whatever
//! the bytes are, without a panic, soon, and in little memory.
//!
//! | way | bytes | goes through |
//! |---|---|---|
//! | `scene` | a scene file | [`Stage::parse`], [`Scene::parse`] and a step, if it asks for few particles |
//! | `expression` | a force | [`Expression::parse`] and some values |
//! | `particles-csv` | particles of a scene | [`Scene::parse`] |
//! | `stl` | a surface | [`TriangleMesh::from_stl`] |
//! | `checkpoint` | `checkpoint.gluey` | [`Checkpoint::read`] and a step from there |
//! | `checkpoint-content` | what is packed in it | the same, behind a header with the checksum that fits |
//! | `manifest` | `manifest.toml` | [`Manifest::read`] |
//! | `frames` | `frames.bin` | [`CompactFrames`], every frame |
//! | `problem` | a `.qpb` file | [`ProblemFile::read`], few sweeps of each solver, and writing it again |
//! | `request` | what a browser sends | [`Request::read`], one after the other |
//!
//! The targets of `fuzz/` and the test `mutations` of this crate call the same [`WAYS`].

mod scene;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gluey::expression::Expression;
use gluey::geometry::TriangleMesh;
use gluey::projection::{Criteria, Method, Metric, ProblemFile, Solution};
use gluey::scene::Scene;
use gluey::simulation::{State, StepReport};
use gluey::trajectory::{Checkpoint, CompactFrames, Manifest, Progress};
use gluey_view::Request;
use tempfile::TempDir;

#[cfg(doc)]
use gluey::scene::Stage;

/// A way into gluey.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Its name, that of the fuzz target and of the folder with its corpus.
    pub name: &'static str,
    /// Takes any bytes.
    pub take: fn(&[u8]) -> Answer,
}

/// What became of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// They mean something.
    Taken,
    /// They were refused, in words.
    Refused,
    /// They ask for more work than a test has time for.
    Passed,
}

/// All ways.
pub const WAYS: [Way; 10] = [
    Way { name: "scene", take: scene::take },
    Way { name: "expression", take: expression },
    Way { name: "particles-csv", take: particles },
    Way { name: "stl", take: stl },
    Way { name: "checkpoint", take: checkpoint },
    Way { name: "checkpoint-content", take: checkpoint_content },
    Way { name: "manifest", take: manifest },
    Way { name: "frames", take: frames },
    Way { name: "problem", take: problem },
    Way { name: "request", take: request },
];

/// The way of this name.
#[must_use]
pub fn way(name: &str) -> Option<Way> {
    WAYS.into_iter().find(|way| way.name == name)
}

/// Bytes of a checkpoint before its length: magic and format.
const CHECKPOINT_START: usize = 12;
/// Bytes before its content.
const CHECKPOINT_HEADER: usize = CHECKPOINT_START + 8 + 4;
/// Frames of a file that are read.
const FRAMES: usize = 50;
/// Bodies and rows of a problem that is solved: the time of a sweep must not be what is tested.
const ROWS: usize = 2_000;

thread_local! {
    /// Where a thread puts bytes that gluey reads from files.
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// Puts bytes into a file of this thread's folder.
fn put(name: &str, bytes: &[u8]) -> PathBuf {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| tempfile::tempdir().expect("a folder for temporary files"));
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("room for temporary files");
        path
    })
}

/// What is told of bytes that are refused must be there, and be short enough to be read.
fn refused(error: &impl ToString) -> Answer {
    let told = error.to_string();
    assert!(!told.is_empty() && told.len() < 100_000, "{} bytes of words", told.len());
    Answer::Refused
}

fn answer<T, E: ToString>(result: &Result<T, E>) -> Answer {
    result.as_ref().map_or_else(refused, |_| Answer::Taken)
}

fn expression(bytes: &[u8]) -> Answer {
    let Ok(text) = str::from_utf8(bytes) else { return Answer::Refused };
    match Expression::parse(text, &["x", "y", "z", "t"]) {
        Err(error) => {
            assert!(error.at.start <= error.at.end && text.get(error.at.clone()).is_some(), "{:?}", error.at);
            refused(&error)
        }
        Ok(expression) => {
            for value in [0.0, 1.0, -2.5, 1e300, f64::NAN] {
                let _ = expression.eval(&[value, -value, 0.5, value]);
            }
            Answer::Taken
        }
    }
}

fn particles(bytes: &[u8]) -> Answer {
    let path = put("particles.csv", bytes);
    let scene = "time = { dt = 0.1, until = 1 }\ncontact.law = \"inelastic\"\ngroup = [{ name = \"a\" }]\n\
                 particles = [{ mass = 1, source.csv.path = \"particles.csv\" }]\n";
    answer(&Scene::parse(scene, &path.with_file_name("scene.toml")).map(|_| ()))
}

fn stl(bytes: &[u8]) -> Answer {
    answer(&TriangleMesh::from_stl(bytes.to_vec(), Path::new("surface.stl")))
}

fn checkpoint(bytes: &[u8]) -> Answer {
    match Checkpoint::read(&put("checkpoint.gluey", bytes)) {
        Err(error) => refused(&error),
        Ok(checkpoint) => {
            scene::go_on(checkpoint);
            Answer::Taken
        }
    }
}

fn checkpoint_content(bytes: &[u8]) -> Answer {
    checkpoint(&packed(bytes))
}

/// A checkpoint of this content.
fn packed(plain: &[u8]) -> Vec<u8> {
    static START: OnceLock<Vec<u8>> = OnceLock::new();
    let content = zstd::encode_all(plain, 1).expect("zstd packs any bytes");
    let mut bytes = START.get_or_init(checkpoint_start).clone();
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(crc32fast::hash(&content).to_le_bytes());
    bytes.extend(content);
    bytes
}

/// What stands before the length in a checkpoint that gluey writes.
fn checkpoint_start() -> Vec<u8> {
    let empty = Checkpoint {
        state: State::default(),
        fingerprint: 0,
        scene_text: String::new(),
        progress: Progress::default(),
        report: StepReport::default(),
    };
    let path = put("empty.gluey", &[]);
    empty.write(&path).expect("room for a checkpoint");
    let mut bytes = fs::read(&path).expect("the checkpoint that was written");
    bytes.truncate(CHECKPOINT_START);
    bytes
}

/// What is packed in a checkpoint; none if it is none.
#[must_use]
pub fn unpacked(checkpoint: &[u8]) -> Option<Vec<u8>> {
    zstd::decode_all(checkpoint.get(CHECKPOINT_HEADER..)?).ok()
}

fn manifest(bytes: &[u8]) -> Answer {
    answer(&Manifest::read(&put("manifest.toml", bytes)))
}

fn frames(bytes: &[u8]) -> Answer {
    let path = put("frames.bin", bytes);
    let mut frames = CompactFrames::new(path.parent().unwrap_or(Path::new("")));
    let mut answer = answer(&frames.refresh());
    if frames.is_unfinished() {
        answer = Answer::Refused;
    }
    for k in 0..frames.stamps().len().min(FRAMES) {
        if let Err(error) = frames.read(k) {
            answer = refused(&error);
        }
    }
    answer
}

fn problem(bytes: &[u8]) -> Answer {
    let file = match ProblemFile::read(bytes) {
        Err(error) => return refused(&error),
        Ok(file) => file,
    };
    let write = |file: &ProblemFile| {
        let mut written = Vec::new();
        file.write(&mut written).expect("what was read can be written");
        written
    };
    let written = write(&file);
    // A full matrix is written from its products, in which a −0 is a 0.
    let is_product = matches!(file.problem.prediction.metric, Metric::Operator { .. });
    assert!(is_product || bytes.starts_with(&written), "what was read is not what is written");
    let again = ProblemFile::read(written.as_slice()).expect("what was written can be read");
    assert_eq!(write(&again), written, "what was written is not what is read");
    if file.problem.rows.len().max(file.radius.len()) > ROWS {
        return Answer::Passed;
    }
    let criteria = Criteria { tolerance: 1e-9, max_sweeps: 5 };
    for mut solver in Method::ALL.map(Method::solver) {
        let mut solution = Solution::starting_from(file.warm.clone());
        let _ = solver.solve(&file.problem, &criteria, &mut solution);
        let _ = file.problem.accuracy(&solution.impulses);
    }
    Answer::Taken
}

fn request(bytes: &[u8]) -> Answer {
    let mut rest = bytes;
    let mut answer = Answer::Refused;
    loop {
        match Request::read(&mut rest) {
            Err(error) => return refused(&error),
            Ok(None) => return answer,
            Ok(Some(_)) => answer = Answer::Taken,
        }
    }
}
