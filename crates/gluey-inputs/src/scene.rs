//! Scenes, as far as they ask for little: a scene may ask for fifty million particles, and then takes its time.

use std::path::Path;

use gluey::projection::Criteria;
use gluey::scene::{Scene, Stage};
use gluey::simulation::Simulation;
use gluey::trajectory::Checkpoint;
use toml::{Table, Value};

use crate::{Answer, refused};

/// Particles that one source may ask for.
const PARTICLES: f64 = 50.0;
/// Particles that take a step.
const STEPPED: usize = 60;
/// Sub-steps and sweeps of it.
const SUBSTEPS: u32 = 8;
const SWEEPS: u64 = 50;

pub(crate) fn take(bytes: &[u8]) -> Answer {
    let Ok(text) = str::from_utf8(bytes) else { return Answer::Refused };
    let path = Path::new("absent-folder/scene.toml");
    if let Err(error) = Stage::parse(text, path) {
        refused(&error);
    }
    if asks_for_much(text) {
        return Answer::Passed;
    }
    match Scene::parse(text, path) {
        Err(error) => refused(&error),
        Ok(mut scene) => {
            step(&mut scene.simulation);
            Answer::Taken
        }
    }
}

/// Goes on from a checkpoint as a run does that is resumed.
pub(crate) fn go_on(checkpoint: Checkpoint) {
    let path = Path::new("absent-folder/scene.toml");
    if asks_for_much(&checkpoint.scene_text) {
        return;
    }
    let Ok(mut scene) = Scene::parse(&checkpoint.scene_text, path) else { return };
    if gluey::logbook::refuse_misfit(&scene, &checkpoint).is_ok() {
        scene.simulation.state = checkpoint.state;
        step(&mut scene.simulation);
    }
}

fn step(simulation: &mut Simulation) {
    if simulation.state.particles.len() > STEPPED {
        return;
    }
    let settings = &mut simulation.settings;
    settings.max_substeps = settings.max_substeps.min(SUBSTEPS);
    let Criteria { tolerance, max_sweeps } = settings.criteria;
    settings.criteria = Criteria { tolerance, max_sweeps: max_sweeps.min(SWEEPS) };
    if let Err(error) = simulation.step() {
        refused(&error);
    }
}

/// Whether a scene asks for more particles than a test has time for, or for a grid of a crowd. What is no TOML asks for
/// nothing.
fn asks_for_much(text: &str) -> bool {
    text.parse::<Table>().is_ok_and(|scene| {
        let crowd = scene.get("environment").and_then(|environment| environment.get("crowd")).is_some();
        crowd || ["particles", "clump"].iter().filter_map(|key| scene.get(*key)).any(is_much)
    })
}

fn is_much(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(is_much),
        Value::Table(table) => {
            let number = |key: &str| table.get(key).and_then(number);
            number("count").is_some_and(|count| count > PARTICLES)
                || number("spacing").is_some_and(|spacing| sites(table, spacing).is_none_or(|sites| sites > PARTICLES))
                || table.values().any(is_much)
        }
        _ => false,
    }
}

/// Sites of a lattice in a box; none where this cannot be told.
fn sites(lattice: &Table, spacing: f64) -> Option<f64> {
    let corner = |key: &str| -> Option<Vec<f64>> { lattice.get(key)?.as_array()?.iter().map(number).collect() };
    let sides = corner("upper")?.into_iter().zip(corner("lower")?);
    // Rows of a hexagonal lattice are nearer to each other.
    Some(sides.map(|(upper, lower)| (1.2 * (upper - lower) / spacing).max(0.0) + 1.0).product())
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}
