//! A box of gluey spheres is shaken: an obstacle that moves, and a run folder with the series, frames and checkpoints
//! of a run that no scene file describes.
//!
//!     cargo run --release -p gluey --example shaken_box -- runs/shaken-box
//!
//! ParaView then opens `particles.pvd`, `contacts.pvd` and `obstacles.pvd` in the folder, OVITO `trajectory.xyz`.

use std::error::Error;
use std::path::Path;

use glam::{DQuat, DVec3};
use gluey::adhesion::{Adhesion, Law, Scaling, Threshold};
use gluey::environment::{Forcing, Inertial, Signal};
use gluey::geometry::{Extent, Motion, Obstacle, Particles, Shape, Side};
use gluey::logbook::before_the_first_step;
use gluey::simulation::{Settings, Simulation, State, StepReport};
use gluey::trajectory::{Formats, Frame, IfPresent, Observation, ObstacleSurface, Recorder, RunInfo};

const DT: f64 = 2e-3;
const STEPS: u64 = 500;
const BETWEEN_FRAMES: u64 = 25;
/// Radius of the spheres, in a box of side 1.
pub const RADIUS: f64 = 0.08;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("expected a folder for the run")?;
    println!("{}", report(folder.as_ref())?);
    Ok(())
}

/// Shakes the box, writes the run, and tells how it ended.
pub fn report(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut simulation = spheres_in_a_box()?;
    let info = RunInfo {
        scene_name: "shaken box".to_owned(),
        dimension: 3,
        dt: DT,
        obstacle_names: simulation.obstacles.iter().map(|obstacle| obstacle.name.clone()).collect(),
        ..RunInfo::default()
    };
    let mut recorder = Recorder::create(folder, &info, Formats::ALL, IfPresent::Refuse)?;
    let mut report = before_the_first_step();
    record(&mut recorder, &simulation, &report)?;
    let (mut least_gap, mut hardest) = (f64::INFINITY, 0.0_f64);
    while simulation.state.step < STEPS {
        simulation.step_into(&mut report)?;
        record(&mut recorder, &simulation, &report)?;
        least_gap = least_gap.min(report.least_gap);
        hardest = hardest.max(report.loads[0].force.x.abs());
    }
    Ok(format!(
        "{} frames in {}; at the end {} of {} contacts are glued\nleast gap: {:.1e} radii; largest force along x on the \
         box: {hardest:.0}",
        recorder.frames().len(),
        folder.display(),
        report.glued,
        report.contacts,
        least_gap / RADIUS,
    ))
}

/// 64 spheres on a lattice fall in a box of side 1 that goes to and fro along x, twice in a unit of time.
fn spheres_in_a_box() -> Result<Simulation, Box<dyn Error>> {
    let mut particles = Particles::default();
    for k in 0..64 {
        let cell = DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16));
        particles.push((cell + 0.5) / 4.0, RADIUS, 1.0);
    }
    let shape = Shape::Box {
        centre: DVec3::splat(0.5),
        half: DVec3::splat(0.5),
        orientation: DQuat::IDENTITY,
        side: Side::Inside,
        open: Vec::new(),
    };
    let shake = Motion::Oscillation { amplitude: DVec3::X * 0.1, frequency: 2.0, phase: 0.0 };
    let container = Obstacle { name: "box".to_owned(), shape, motions: vec![shake], colour: None, roughness: 0.0 };
    let gravity = [0.0, 0.0, -10.0].map(Signal::Constant);
    let environment = Inertial::new(Forcing { gravity, ..Forcing::default() })?;
    let a_little_rough = Law::Gluey { threshold: Threshold::Value(-0.5), scaling: Scaling::Unit };
    let state = State { particles, ..State::default() };
    let adhesion = Adhesion::uniform(a_little_rough);
    let mut simulation = Simulation::new(state, vec![container], Box::new(environment), adhesion);
    simulation.settings = Settings::new(DT);
    Ok(simulation)
}

/// A row of the series; where it is due a frame; and a checkpoint last, so that it covers both.
fn record(recorder: &mut Recorder, simulation: &Simulation, report: &StepReport) -> Result<(), Box<dyn Error>> {
    let (step, time, particles) = (simulation.state.step, simulation.time(), &simulation.state.particles);
    let kinetic_energy = simulation.state.kinetic_energy();
    let potential_energy = simulation.environment.potential_energy(particles, time);
    recorder.record_step(&Observation {
        step,
        time,
        particles,
        kinetic_energy,
        potential_energy,
        report,
        measures: &[],
    })?;
    if step.is_multiple_of(BETWEEN_FRAMES) {
        let view = Extent { lower: DVec3::splat(-0.2), upper: DVec3::splat(1.2), dimension: 3 };
        let surface = simulation.obstacles[0].at(time).surface(&view);
        let drawn = ObstacleSurface {
            points: surface.points,
            triangles: surface.triangles,
            lines: surface.lines,
            moving: true,
        };
        let (contacts, obstacles) = (&simulation.contacts(), &[drawn]);
        recorder.record_frame(&Frame { step, time, particles, contacts, obstacles, clump: &[] })?;
        recorder.checkpoint(&simulation.state, report)?;
    }
    Ok(())
}
