//! `gluey._gluey`: the library as the Python package `gluey` uses it.
//!
//! This layer is thin: arrays in, arrays out, exceptions for errors. What users see, with its words on units and use,
//! is written in Python (`python/gluey`).
//!
//! Every long call releases the interpreter and looks at signals: between steps, or, where there is nothing to come
//! back to, from outside (`patience`). A simulation is behind a lock that nobody waits for: who comes while a step is
//! being taken gets a `RuntimeError`.
//!
//! Modules, in order of dependency: `errors` (the library's messages as exceptions), `arrays`, `lend` (columns of the
//! state lent to NumPy without a copy, and the proof that no view dangles), `patience` (long work that leaves Python
//! its signals, threads after a fork), `environment` (forces and a-priori velocities from Python), `engine` (a
//! simulation behind a lock), `runs`, `project`, `laboratory` (the plane, Stokes drags). A scene that is built in
//! Python is the text of a scene file, so that there is one way in.

#![allow(clippy::elidable_lifetime_names, reason = "what lives as long as the interpreter is attached is named alike")]
#![allow(clippy::needless_pass_by_value, reason = "arguments of calls from Python arrive by value")]

mod arrays;
mod engine;
mod environment;
mod errors;
mod laboratory;
mod lend;
mod patience;
mod project;
mod runs;

use gluey::scene::Scene;
use pyo3::prelude::*;

/// The compiled part of the package `gluey`.
#[pymodule]
mod _gluey {
    #[pymodule_export]
    use super::engine::Engine;
    #[pymodule_export]
    use super::environment::Moment;
    #[pymodule_export]
    use super::laboratory::{plane_exact, plane_lubrication, plane_simulate, stokes_pair, stokes_plane};
    #[pymodule_export]
    use super::project::{project, solvers};
    #[pymodule_export]
    use super::runs::{Frames, manifest, series_columns};
    #[pymodule_export]
    use super::{schema, version};
    use pyo3::prelude::*;

    /// NumPy is asked for its interfaces here: where that fails later, an interrupt for one, all it can do is panic.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::patience::note_process();
        super::arrays::meet_numpy(module.py())
    }
}

/// The JSON schema of scenes.
#[pyfunction]
fn schema() -> String {
    Scene::schema()
}

/// The version of the library.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
