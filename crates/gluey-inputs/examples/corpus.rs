//! `cargo run --release -p gluey-inputs --example corpus`, in the folder of the repository, makes the corpus anew: what
//! gluey writes of short runs of small scenes, and texts as users write them. To be run, and its files committed, when
//! a format changes.

use std::error::Error;
use std::fs;
use std::path::Path;

use gluey::logbook::{Logbook, before_the_first_step};
use gluey::scene::Scene;
use gluey::trajectory::{Format, Formats, IfPresent};
use gluey_inputs::{Answer, unpacked, way};

type Outcome = Result<(), Box<dyn Error>>;

const CORPUS: &str = "crates/gluey-inputs/corpus";
/// How many particles of each source of a scene are left.
const COUNT: &str = "count = 6";
/// Steps of a run, and those between its frames.
const STEPS: u64 = 24;
const FRAME_EVERY: u64 = 6;

const EXPRESSIONS: [&str; 8] = [
    "if(t < 2, -2, 2)",
    "-4 * x + 0.5 * sin(2 * pi * t)",
    "clamp(x, -1, 1) ^ 2 - max(y, z, 0)",
    "not (x > 1 and y <= 2) || step(t - 3)",
    "atan2(y, x) % (pi / 3) + sqrt(abs(z))",
    "1e-3 * exp(-t / 4) * (floor(x) - ceil(y))",
    "2^3^-x != 7",
    "e + ln(10) / log10(x)",
];
const TABLES: [&str; 3] = [
    "x,y,z,r,m,vx,vy,vz,group\n0,0,0,0.5,1,0,0,-1,a\n2,0,0,0.25,,,,,\n# a comment\n0, 3, 1e-3, .5, 2.5, 1, 2, 3, a\n",
    "x,y,z,r\n-1.5,0,0,1\n1.5,0,0,1\n",
    "r,z,y,x,m\n1,0.5,0,0,1\n1,4,0,0,\"2\"\n",
];
const REQUESTS: [&str; 4] = [
    "GET /api/frame?run=runs%2Flotto&step=40 HTTP/1.1\r\nHost: 127.0.0.1:8321\r\nX-Gluey-Token: 0f\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "POST /api/order?run=a HTTP/1.1\r\nHost: [::1]:8321\r\nOrigin: http://[::1]:8321\r\nContent-Length: 16\r\n\r\n\
     {\"pause\": \"yes\"}GET /api/gallery HTTP/1.1\r\nhost: x\r\n\r\n",
    "HEAD /app.js HTTP/1.0\nUser-Agent: curl/8\n\n",
];

/// Bytes of a file that is kept.
const LARGEST: usize = 2000;
/// Scenes that differ from another one in some numbers alone.
const VARIANTS: [&str; 3] = ["-dry", "-rough", "-smooth"];

fn main() -> Outcome {
    if Path::new(CORPUS).is_dir() {
        fs::remove_dir_all(CORPUS)?;
    }
    for path in fs::read_dir("scenes")?.chain(fs::read_dir("crates/gluey-inputs/scenes")?) {
        let path = path?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            scene(&path)?;
        }
    }
    let texts = [("expression", &EXPRESSIONS[..]), ("particles-csv", &TABLES), ("request", &REQUESTS)];
    for (way, texts) in texts {
        for (k, text) in texts.iter().enumerate() {
            keep(way, &k.to_string(), text.as_bytes())?;
        }
    }
    keep("stl", "ascii", ascii_stl().as_bytes())?;
    keep("stl", "binary", &binary_stl())
}

/// A scene with few particles, if it then can be taken; and what a run of it leaves, where that is little.
fn scene(path: &Path) -> Outcome {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = with_few(&fs::read_to_string(path)?);
    if VARIANTS.iter().any(|variant| name.ends_with(variant)) {
        return Ok(());
    }
    let taken = way("scene").map(|way| (way.take)(text.as_bytes()));
    if taken != Some(Answer::Taken) {
        return Ok(());
    }
    keep("scene", &name, text.as_bytes())?;
    let mut scene = Scene::parse(&text, path)?;
    if scene.simulation.state.particles.len() > 20 {
        return Ok(());
    }
    scene.output.frame_every = FRAME_EVERY;
    scene.output.formats = Formats::from_iter([Format::Compact]);
    let folder = tempfile::tempdir()?;
    let mut logbook = Logbook::start(folder.path(), &scene, IfPresent::Replace)?;
    let mut report = before_the_first_step();
    let mut problem = None;
    for _ in 0..STEPS {
        let file;
        (report, file) = scene.simulation.step_with_problem(scene.dimension)?;
        problem = Some(file).filter(|file| file.check().is_ok()).or(problem);
        logbook.record(&scene.simulation, &report)?;
    }
    logbook.close(&scene.simulation, &report)?;
    let checkpoint = fs::read(folder.path().join("checkpoint.gluey"))?;
    keep("checkpoint", &name, &checkpoint)?;
    keep("checkpoint-content", &name, &unpacked(&checkpoint).ok_or("a checkpoint that cannot be unpacked")?)?;
    keep("manifest", &name, &fs::read(folder.path().join("manifest.toml"))?)?;
    keep("frames", &name, &fs::read(folder.path().join("frames.bin"))?)?;
    if let Some(problem) = problem {
        let mut bytes = Vec::new();
        problem.write(&mut bytes)?;
        keep("problem", &name, &bytes)?;
    }
    Ok(())
}

/// The same scene with few particles in each source, and without lines that are comments.
fn with_few(text: &str) -> String {
    let line = |line: &str| match line.split_once("count = ") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '_');
            format!("{before}{COUNT}{rest}\n")
        }
        None => format!("{line}\n"),
    };
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(line).collect()
}

/// Writes a file of the corpus, if it is small.
fn keep(way: &str, name: &str, bytes: &[u8]) -> Outcome {
    let folder = Path::new(CORPUS).join(way);
    fs::create_dir_all(&folder)?;
    if bytes.len() <= LARGEST {
        fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

/// A tetrahedron.
const FACES: [[[f32; 3]; 3]; 4] = [
    [[0.0; 3], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0; 3], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
];

fn ascii_stl() -> String {
    let corner = |[x, y, z]: &[f32; 3]| format!("  vertex {x} {y} {z}\n");
    let facet = |face: &[[f32; 3]; 3]| {
        let corners: String = face.iter().map(corner).collect();
        format!("facet normal 0 0 0\n outer loop\n{corners} endloop\nendfacet\n")
    };
    let facets: String = FACES.iter().map(facet).collect();
    format!("solid tetrahedron\n{facets}endsolid tetrahedron\n")
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend((FACES.len() as u32).to_le_bytes());
    for face in &FACES {
        let numbers = [0.0; 3].iter().chain(face.as_flattened()).flat_map(|number: &f32| number.to_le_bytes());
        bytes.extend(numbers);
        bytes.extend([0; 2]);
    }
    bytes
}
