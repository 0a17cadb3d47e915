//! Beds of spheres and projection problems for the benchmarks, made by the engine itself from a seed.
//!
//! All is settled once and kept in `target/bench-beds`; what was made from other settings than those asked for is made
//! again. Spheres have radii of 0.9 to 1 times 0.02, density 1000, and fall with g = 10.
#![allow(dead_code, reason = "each benchmark uses its own part")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use gluey::morton;
use gluey::projection::ProblemFile;
use gluey::scene::Scene;
use gluey::simulation::{Simulation, StepReport};
use gluey::trajectory::{Checkpoint, Progress};

pub type Answer<T> = Result<T, Box<dyn Error>>;

const SEED: u64 = 12345;
const RADIUS: f64 = 0.02;
/// Mean diameter: radii are uniform between 0.9 and 1 times the greatest.
const DIAMETER: f64 = 2.0 * 0.95 * RADIUS;
/// Room that a sphere takes in a bed, box included, of 62 % solid.
const ROOM: f64 = 4.63e-5;
/// Time step of all that is measured.
const DT: f64 = 2e-3;
/// Beds settle in longer, looser steps until what moves is this share of m g r a sphere, or the time is over.
const SETTLING: (f64, f64) = (2.0 * DT, 1e-3);
const REST: f64 = 1e-3;
const LONGEST: f64 = 3.0;
/// The last steps before anything is measured are at the tolerance asked for: impulses are then as good as that.
const REFINEMENT: usize = 40;
/// Tolerance of the steps whose problems are raced on.
const TIGHT: f64 = 1e-6;

/// A bed at rest in a box with a square floor.
#[derive(Clone, Copy)]
pub struct Bed {
    pub count: usize,
    /// Side of the box (length).
    pub width: f64,
    /// Tolerance of its steps.
    pub tolerance: f64,
    /// Which of the beds of this kind.
    seed: u64,
}

impl Bed {
    /// So many diameters high, however wide that makes it.
    pub fn of_height(count: usize, diameters: f64, tolerance: f64) -> Self {
        Self { count, width: (count as f64 * ROOM / (diameters * DIAMETER)).sqrt(), tolerance, seed: SEED }
    }

    /// As high as wide.
    pub fn cube(count: usize, tolerance: f64) -> Self {
        Self { count, width: (count as f64 * ROOM).cbrt(), tolerance, seed: SEED }
    }

    /// Another bed of the same kind.
    pub fn another(self, which: u64) -> Self {
        Self { seed: SEED + which, ..self }
    }

    /// The simulation of the bed, at rest.
    pub fn at_rest(&self) -> Answer<Simulation> {
        let Self { count, width, tolerance, seed } = *self;
        let drop = Drop { dimension: 3, count, width, spacing: 2.05, seed };
        let text = format!("{}# {:e} {SETTLING:?} {REST} {REFINEMENT}\n", drop.text(Rules::Dry), tolerance);
        let mut simulation = Scene::parse(&text, "bed".as_ref())?.simulation;
        let path = folder()?.join(format!("bed-{count}-{width:.3}-{tolerance:e}-{seed}.gluey"));
        match Checkpoint::read(&path) {
            Ok(kept) if kept.scene_text == text => simulation.state = kept.state,
            _ => {
                settle(&mut simulation)?;
                let report = refine(&mut simulation, tolerance)?;
                let state = simulation.state.clone();
                let progress = Progress::default();
                Checkpoint { state, fingerprint: 0, scene_text: text, progress, report }.write(&path)?;
            }
        }
        set(&mut simulation, DT, tolerance);
        Ok(simulation)
    }

    /// The problem of the bed's next step.
    pub fn problem(&self) -> Answer<ProblemFile> {
        let mut file = self.at_rest()?.step_with_problem(3)?.1;
        file.problem.order = morton::order(&file.position);
        Ok(file)
    }
}

/// A jittered lattice above the floor of a box, or between the walls of a 2D column.
struct Drop {
    dimension: usize,
    count: usize,
    width: f64,
    /// Of the lattice, relative to the greatest radius.
    spacing: f64,
    seed: u64,
}

/// What holds for a while.
#[derive(Clone, Copy)]
enum Rules {
    Dry,
    /// What presses is remembered as glue.
    Glued,
    /// The same with gravity upwards.
    Pulled,
}

impl Drop {
    /// The scene, with gravity along the last axis.
    fn text(&self, rules: Rules) -> String {
        let Self { dimension, count, width, spacing, seed } = self;
        let (law, gravity) = match rules {
            Rules::Dry => ("inelastic", -10.0),
            Rules::Glued => ("gluey", -10.0),
            Rules::Pulled => ("gluey", 10.0),
        };
        let spacing = spacing * RADIUS;
        // The lattice keeps whole spheres in its box, so it is a little narrower than the sites are.
        let across = ((width / spacing).floor().max(1.0) as usize).pow(*dimension as u32 - 1);
        let height = (count.div_ceil(across) + 1) as f64 * spacing;
        let vector = |across: f64, up: f64| match dimension {
            2 => format!("[{across}, {up}]"),
            _ => format!("[{across}, {across}, {up}]"),
        };
        let (least, lower, upper) = (0.9 * RADIUS, vector(0.0, 0.0), vector(*width, height));
        let gravity = vector(0.0, gravity);
        let (open, ceiling) = (if *dimension == 2 { "upper-y" } else { "upper-z" }, vector(*width, 2.0 * height));
        format!(
            "dimension = {dimension}\nseed = {seed}\ntime = {{ dt = {DT}, until = 1 }}\ncontact.law = \"{law}\"\n\
             environment.gravity = {gravity}\n\
             [[particles]]\ndensity = 1000\n\
             source.lattice = {{ lower = {lower}, upper = {upper}, spacing = {spacing}, radius = [{least}, {RADIUS}], \
             jitter = 0.9, count = {count} }}\n\
             [[obstacle]]\nshape.box = {{ lower = {lower}, upper = {ceiling}, side = \"inside\", open = [\"{open}\"] }}\n",
        )
    }

    /// The simulation from the lattice.
    fn simulation(&self, rules: Rules) -> Answer<Simulation> {
        Ok(Scene::parse(&self.text(rules), "drop".as_ref())?.simulation)
    }

    /// The problem of a moment of the collapse (time).
    fn collapsing(&self, moment: f64) -> Answer<ProblemFile> {
        let mut simulation = self.simulation(Rules::Dry)?;
        set(&mut simulation, DT, SETTLING.1);
        for _ in 0..(moment / DT) as usize - REFINEMENT {
            simulation.step()?;
        }
        refine(&mut simulation, TIGHT)?;
        Ok(simulation.step_with_problem(self.dimension)?.1)
    }

    /// The problem after some steps under each of these rules, on what has come to rest.
    fn after_rest(&self, phases: &[(Rules, usize)]) -> Answer<ProblemFile> {
        let mut simulation = self.simulation(Rules::Dry)?;
        settle(&mut simulation)?;
        refine(&mut simulation, TIGHT)?;
        for &(rules, steps) in phases {
            let state = simulation.state;
            simulation = self.simulation(rules)?;
            simulation.state = state;
            for _ in 0..steps {
                simulation.step()?;
            }
        }
        Ok(simulation.step_with_problem(self.dimension)?.1)
    }
}

/// The four kinds of problems, as files in a folder.
pub fn problems() -> Answer<PathBuf> {
    let spheres = Drop { dimension: 3, count: 3_000, width: 0.6076, spacing: 2.17, seed: SEED };
    let discs = Drop { dimension: 2, count: 3_600, width: 0.82, spacing: 2.05, seed: SEED };
    let folder = folder()?.join("problems");
    fs::create_dir_all(&folder)?;
    let write = |name: &str, problem: &dyn Fn() -> Answer<ProblemFile>| -> Answer<()> {
        let path = folder.join(name).with_extension("qpb");
        if !path.exists() {
            problem()?.write(BufWriter::new(File::create(&path)?))?;
        }
        Ok(())
    };
    write("spheres-collapsing", &|| spheres.collapsing(0.2))?;
    write("spheres-glued-at-rest", &|| spheres.after_rest(&[(Rules::Glued, 40)]))?;
    write("discs-glued-pulled", &|| discs.after_rest(&[(Rules::Glued, 40), (Rules::Pulled, 10)]))?;
    write("discs-collapsing", &|| discs.collapsing(0.3))?;
    Ok(folder)
}

/// The problem files in a folder, by name.
pub fn read_problems(folder: &Path) -> Answer<Vec<(String, ProblemFile)>> {
    let entries = fs::read_dir(folder).map_err(|error| {
        format!("cannot read the folder {} (benches run in that of their crate): {error}", folder.display())
    })?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Answer<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "qpb"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, ProblemFile::read(BufReader::new(File::open(path)?))?))
    };
    paths.into_iter().map(read).collect()
}

fn folder() -> Answer<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-beds");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn set(simulation: &mut Simulation, dt: f64, tolerance: f64) {
    simulation.settings.dt = dt;
    simulation.settings.criteria.tolerance = tolerance;
}

fn settle(simulation: &mut Simulation) -> Answer<()> {
    let (dt, tolerance) = SETTLING;
    set(simulation, dt, tolerance);
    let particles = &simulation.state.particles;
    let rest = REST * 10.0 * RADIUS * particles.mass.iter().sum::<f64>();
    let mut fallen = false;
    for _ in 0..(LONGEST / dt) as usize {
        simulation.step()?;
        let energy = simulation.state.particles.kinetic_energy();
        fallen |= energy > 10.0 * rest;
        if fallen && energy < rest {
            break;
        }
    }
    Ok(())
}

/// Steps at a tolerance until the impulses are those of a bed at rest; the report of the last.
fn refine(simulation: &mut Simulation, tolerance: f64) -> Answer<StepReport> {
    set(simulation, DT, tolerance);
    let mut report = StepReport::default();
    for _ in 0..REFINEMENT {
        report = simulation.step()?;
    }
    Ok(report)
}
