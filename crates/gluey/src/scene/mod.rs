//! Scene files: TOML in, a checked simulation out.
//!
//! A [`Scene`] is loaded whole or not at all: a [`SceneError`] tells every problem of the file with its line and column.

mod attachment;
mod build;
mod clumps;
mod colour_by;
mod crowd;
mod diagnostics;
mod file;
mod measure;
mod occupied;
mod openings;
mod pair_forces;
mod periodic;
mod picture;
mod shapes;
mod sources;
mod tree;
mod value;

use std::path::Path;

pub use colour_by::{ColourBy, Field, OfContact, Rule, Scalar, Start, Vector};
pub use diagnostics::{Problem, SceneError};
pub use file::SceneFile;
pub use picture::{ObstacleStyle, Picture, Range, Size};
pub use value::Colour;

pub use crate::choice::suggestion;
use crate::format::Formats;
use crate::geometry::Obstacle;
use crate::measures::Instrument;
use crate::simulation::Simulation;

/// A kind of particles, as pictures and files name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: [u8; 3],
}

/// What is written of a run, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Steps between frames.
    pub frame_every: u64,
    /// Steps between rows of the time series.
    pub series_every: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// What frames are written as.
    pub formats: Formats,
}

/// What of a scene is needed to draw a run of it: all but the particles, which its frames hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// 2 or 3.
    pub dimension: usize,
    /// Kinds of particles; a particle's group is an index into them.
    pub groups: Vec<Group>,
    /// The obstacles and how they move.
    pub obstacles: Vec<Obstacle>,
    /// How pictures are drawn.
    pub picture: Picture,
}

impl Stage {
    /// Makes a stage of the text of a scene, as [`Scene::parse`] would, without placing its particles.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SceneError> {
        let told = |problems| SceneError::new(path, text, problems);
        let file: SceneFile = diagnostics::read(text).map_err(told)?;
        let mut problems = Vec::new();
        let stage = build::stage(&file, build::Origin { text, path }, &mut problems);
        if problems.is_empty() { Ok(stage) } else { Err(told(problems)) }
    }
}

/// A checked scene, ready to run.
///
/// ```
/// use gluey::scene::Scene;
///
/// let text = r#"
///     dimension = 2
///     time = { dt = 0.01, until = 1 }
///     particles = [{ mass = 1, source.list = [{ position = [0, 0], radius = 0.5 }] }]
/// "#;
/// let scene = Scene::parse(text, "disc.toml".as_ref())?;
/// assert_eq!((scene.dimension, scene.steps(), scene.simulation.state.particles.len()), (2, 100, 1));
///
/// let refused = Scene::parse(&text.replace("radius", "radios"), "disc.toml".as_ref());
/// assert!(refused.is_err_and(|error| error.to_string().contains("did you mean `radius`")));
/// # Ok::<(), gluey::scene::SceneError>(())
/// ```
pub struct Scene {
    /// The text it was made from.
    pub text: String,
    /// What it is called.
    pub name: String,
    /// A sentence on what it shows.
    pub description: Option<String>,
    /// 2 or 3.
    pub dimension: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// Simulated time at which the run ends.
    pub until: f64,
    /// Kinds of particles; a particle's group is an index into them.
    pub groups: Vec<Group>,
    /// What the external forces are called, in the order of the file.
    pub forces: Vec<String>,
    /// What is written.
    pub output: Output,
    /// What is measured for the time series.
    pub instruments: Vec<Instrument>,
    /// How pictures are drawn.
    pub picture: Picture,
    /// The simulation at t = 0.
    pub simulation: Simulation,
}

impl Scene {
    /// Loads the file at `path`.
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, path),
            Err(cause) => Err(SceneError::new(path, "", vec![Problem::general(format!("cannot be read: {cause}"))])),
        }
    }

    /// Makes a scene of a text. `path` is what messages call it; files it refers to are relative to its folder.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SceneError> {
        let file: SceneFile = diagnostics::read(text).map_err(|problems| SceneError::new(path, text, problems))?;
        let origin = build::Origin { text, path };
        build::scene(&file, origin).map_err(|problems| SceneError::new(path, text, problems))
    }

    /// The number of steps of the run.
    #[must_use]
    pub fn steps(&self) -> u64 {
        steps_until(self.until, self.simulation.settings.dt)
    }

    /// The JSON schema of scene files, for editors.
    #[must_use]
    pub fn schema() -> String {
        let schema = schemars::schema_for!(SceneFile);
        serde_json::to_string_pretty(&schema).unwrap_or_default()
    }
}

/// Steps of length dt that reach a time: whole numbers are not missed by rounding.
#[must_use]
pub fn steps_until(until: f64, dt: f64) -> u64 {
    (until / dt - 1e-9).ceil().max(0.0) as u64
}
