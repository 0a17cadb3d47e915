//! Whether the programs that people use read what a run writes: `check_readers.py` opens two small runs, in space and
//! in the plane, with VTK, `PyVista` and OVITO. Needs a Python that has them:
//!
//!     GLUEY_PYTHON=.venv/bin/python cargo test -p gluey --test readers -- --ignored

use std::path::{Path, PathBuf};
use std::process::Command;

use gluey::contact::{Contact, ContactGeometry, Pair};
use gluey::geometry::Particles;
use gluey::simulation::{Load, State, StepReport};
use gluey::trajectory::{
    Formats, Frame, Group, IfPresent, Observation, ObstacleSurface, Recorder, RunInfo, RunSummary, TrajectoryError,
};

use glam::DVec3;

const STEPS: u64 = 12;
const FRAME_EVERY: u64 = 3;

#[test]
fn runs_for_the_readers_are_written() {
    let folder = tempfile::tempdir().unwrap();
    for dimension in [2, 3] {
        let run = folder.path().join(dimension.to_string());
        write_run(&run, dimension).unwrap();
        assert_eq!(RunSummary::read(&run).unwrap().frames as u64, STEPS / FRAME_EVERY + 1);
    }
}

#[test]
#[ignore = "needs GLUEY_PYTHON: a Python with pyvista and ovito"]
fn readers_see_what_was_written() {
    let python = std::env::var_os("GLUEY_PYTHON").expect("GLUEY_PYTHON names a Python with pyvista and ovito");
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<PathBuf> = [2, 3].map(|dimension| folder.path().join(format!("run {dimension}"))).into();
    write_run(&runs[0], 2).unwrap();
    write_run(&runs[1], 3).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers/check_readers.py");
    let status = Command::new(python).arg(script).args(&runs).status().unwrap();
    assert!(status.success(), "{status}");
}

fn write_run(folder: &Path, dimension: u8) -> Result<(), TrajectoryError> {
    let group = |name: &str, colour| Group { name: name.into(), colour };
    let info = RunInfo {
        scene_text: "# made up\nname = 'it'\n".into(),
        scene_name: "readers".into(),
        seed: 1,
        dimension,
        dt: 0.1,
        groups: vec![group("coarse sand", [200, 150, 0]), group("silt", [0, 100, 255])],
        obstacle_names: vec!["floor".into(), "lid".into()],
        ..RunInfo::default()
    };
    let mut recorder = Recorder::create(folder, &info, Formats::ALL, IfPresent::Refuse)?;
    for step in 0..=STEPS {
        let time = step as f64 * info.dt;
        let state = State { step, particles: particles(time, dimension), contacts: contacts(step), ..State::default() };
        let particles = &state.particles;
        let load = Load { force: DVec3::new(time, 1.0 / 3.0, 0.0), torque: DVec3::Z };
        let report = StepReport {
            contacts: state.contacts.len(),
            loads: vec![load; 2],
            least_gap: f64::INFINITY,
            ..Default::default()
        };
        recorder.record_step(&Observation {
            step,
            time,
            particles,
            kinetic_energy: particles.kinetic_energy(),
            potential_energy: -time,
            report: &report,
            measures: &[],
        })?;
        if step % FRAME_EVERY == 0 {
            let contacts: Vec<_> = state.contacts.iter().map(|contact| geometry(contact, particles)).collect();
            let obstacles = obstacles(time, dimension);
            recorder.record_frame(&Frame {
                step,
                time,
                particles,
                contacts: &contacts,
                obstacles: &obstacles,
                clump: &[],
            })?;
        }
        if step == STEPS {
            recorder.checkpoint(&state, &report)?;
        }
    }
    Ok(())
}

/// Ten particles on a wavy line, in two groups.
fn particles(time: f64, dimension: u8) -> Particles {
    let mut particles = Particles::default();
    for i in 0..10_u32 {
        let (x, depth) = (f64::from(i), if dimension == 3 { 0.3 * f64::from(i) } else { 0.0 });
        particles.push(DVec3::new(x, 0.5 + (x + time).sin() / 7.0, depth), 0.1 + 0.03 * x, 1.0 / (1.0 + x));
    }
    for (i, velocity) in particles.velocity.iter_mut().enumerate() {
        *velocity = DVec3::new(0.0, (i as f64 + time).cos() / 7.0, 0.0);
    }
    for (i, group) in particles.group.iter_mut().enumerate() {
        *group = (i % 2) as u32;
    }
    particles
}

/// From none to many as time goes.
fn contacts(step: u64) -> Vec<Contact> {
    let count = (step / FRAME_EVERY) as u32;
    let contact = |pair, i: u32| Contact { pair, gamma: -f64::from(i) / 3.0, impulse: 0.1 * f64::from(i) };
    let between = (0..count).map(|i| contact(Pair::particles(i + 1, i), i));
    let mut contacts: Vec<_> = between.chain((0..count).map(|i| contact(Pair::obstacle(i, 0, i + 3), i))).collect();
    contacts.sort_by_key(|contact| contact.pair);
    contacts
}

fn geometry(contact: &Contact, particles: &Particles) -> ContactGeometry {
    let i = contact.pair.first() as usize;
    let (gap, normal) = match contact.pair.partner() {
        gluey::contact::Partner::Particle(j) => particles.gap(i, j as usize),
        gluey::contact::Partner::Obstacle { .. } => (particles.position[i].y - particles.radius[i], -DVec3::Y),
    };
    ContactGeometry { contact: *contact, gap, normal }
}

/// A floor at y = 0, and in space a lid that rises.
fn obstacles(time: f64, dimension: u8) -> Vec<ObstacleSurface> {
    let flat = |height: f64, moving| {
        let corners = [(0.0, -5.0), (10.0, -5.0), (10.0, 5.0), (0.0, 5.0)];
        let points = corners.map(|(x, z)| DVec3::new(x, height, z)).to_vec();
        ObstacleSurface { points, triangles: vec![[0, 1, 2], [0, 2, 3]], lines: Vec::new(), moving }
    };
    let line = |height: f64| ObstacleSurface {
        points: vec![DVec3::new(0.0, height, 0.0), DVec3::new(10.0, height, 0.0)],
        lines: vec![[0, 1]],
        ..ObstacleSurface::default()
    };
    if dimension == 3 { vec![flat(0.0, false), flat(2.0 + time, true)] } else { vec![line(0.0), line(2.0)] }
}
