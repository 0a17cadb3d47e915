//! Folders of runs, read back.

use std::path::PathBuf;

use gluey::trajectory::{Column, Manifest, Snapshots};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::rows;
use crate::engine::{contact_columns, drawing_list};
use crate::errors;

/// The frames of a run.
#[pyclass(frozen)]
pub struct Frames {
    stored: Snapshots,
}

#[pymethods]
impl Frames {
    #[new]
    fn new(folder: PathBuf) -> PyResult<Self> {
        Snapshots::open(&folder).map(|stored| Self { stored }).map_err(errors::runtime)
    }

    /// (step, time) of each frame.
    fn stamps(&self) -> Vec<(u64, f64)> {
        self.stored.stamps().iter().map(|stamp| (stamp.step, stamp.time)).collect()
    }

    /// One frame, whole.
    fn read<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let Some(stamp) = self.stored.stamps().get(index) else {
            return Err(pyo3::exceptions::PyIndexError::new_err(format!(
                "there is no frame {index}: there are {}",
                self.stored.stamps().len()
            )));
        };
        let snapshot = py.detach(|| self.stored.read(stamp)).map_err(errors::runtime)?;
        py.check_signals()?;
        let particles = snapshot.particles;
        let dict = PyDict::new(py);
        dict.set_item("step", snapshot.step)?;
        dict.set_item("time", snapshot.time)?;
        dict.set_item("positions", rows(py, &particles.position)?)?;
        dict.set_item("velocities", rows(py, &particles.velocity)?)?;
        dict.set_item("radii", PyArray1::from_vec(py, particles.radius))?;
        dict.set_item("masses", PyArray1::from_vec(py, particles.mass))?;
        dict.set_item("groups", PyArray1::from_vec(py, particles.group))?;
        dict.set_item("ids", PyArray1::from_vec(py, particles.id))?;
        dict.set_item("contacts", contact_columns(py, &snapshot.contacts)?)?;
        let names = &self.stored.manifest().info.obstacle_names;
        let obstacles: Bound<'py, PyList> = drawing_list(py, names, &snapshot.obstacles)?;
        dict.set_item("obstacles", obstacles)?;
        Ok(dict)
    }
}

/// What was run in a folder.
/// The columns that the series of all runs may have: name, what it tells, and whether its figures are whole numbers.
#[pyfunction]
pub fn series_columns() -> Vec<(&'static str, &'static str, bool)> {
    Column::ALL.iter().map(|column| (column.name, column.about, column.is_whole())).collect()
}

#[pyfunction]
pub fn manifest(py: Python<'_>, folder: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let Manifest { gluey, info, .. } = Manifest::read(&folder.join("manifest.toml")).map_err(errors::runtime)?;
    let dict = PyDict::new(py);
    dict.set_item("gluey", gluey)?;
    dict.set_item("name", info.scene_name)?;
    dict.set_item("text", info.scene_text)?;
    dict.set_item("seed", info.seed)?;
    dict.set_item("dimension", info.dimension)?;
    dict.set_item("dt", info.dt)?;
    let groups: Vec<_> = info.groups.into_iter().map(|group| (group.name, group.colour)).collect();
    dict.set_item("groups", groups)?;
    dict.set_item("obstacles", info.obstacle_names)?;
    Ok(dict)
}
