//! One particle and a plane, and the drag of slow flow.

use gluey::environment::{Signal, Table};
use gluey::plane::exact::Happening;
use gluey::plane::{Experiment, Grid, PlaneError, Sample, algorithm, exact, lubrication};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::patience::patiently;

/// (q⁰, u⁰, m, r, γ_min).
type Start = (f64, f64, f64, f64, f64);

fn told(error: PlaneError) -> PyErr {
    if error.is_bad_input() { errors::value(error) } else { errors::runtime(error) }
}

/// A force as Python writes it: a number, an expression of t, or (times, values) of steps.
#[derive(FromPyObject)]
pub enum Force {
    Constant(f64),
    Expression(String),
    Steps(Vec<f64>, Vec<f64>),
}

fn experiment((gap, velocity, mass, radius, gamma_min): Start, force: Force) -> PyResult<Experiment> {
    let force = match force {
        Force::Constant(value) => Signal::Constant(value),
        Force::Expression(text) => Signal::expression(&text).map_err(errors::value)?,
        Force::Steps(times, values) => Signal::Steps(Table::new(times, values).map_err(errors::value)?),
    };
    Ok(Experiment { gap, velocity, mass, radius, force, gamma_min })
}

fn columns<'py>(py: Python<'py>, samples: &[Sample]) -> PyResult<Bound<'py, PyDict>> {
    let column = |of: fn(&Sample) -> f64| PyArray1::from_iter(py, samples.iter().map(of));
    let dict = PyDict::new(py);
    dict.set_item("time", column(|sample| sample.time))?;
    dict.set_item("gap", column(|sample| sample.gap))?;
    dict.set_item("velocity", column(|sample| sample.velocity))?;
    dict.set_item("gamma", column(|sample| sample.gamma))?;
    dict.set_item("force", column(|sample| sample.lambda))?;
    Ok(dict)
}

/// The paper's algorithm.
#[pyfunction]
pub fn plane_simulate<'py>(
    py: Python<'py>,
    start: Start,
    force: Force,
    dt: f64,
    until: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let (experiment, grid) = (experiment(start, force)?, Grid::new(dt, until).map_err(told)?);
    let run = patiently(py, move || algorithm::run(&experiment, grid))?.map_err(told)?;
    columns(py, &run.samples)
}

/// The layer of fluid.
#[pyfunction]
pub fn plane_lubrication<'py>(
    py: Python<'py>,
    start: Start,
    force: Force,
    kappa: f64,
    dt: f64,
    until: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let (experiment, grid) = (experiment(start, force)?, Grid::new(dt, until).map_err(told)?);
    let run = patiently(py, move || lubrication::run(&experiment, kappa, grid))?.map_err(told)?;
    columns(py, &run.samples)
}

/// When something happens, and what.
type Events = Vec<(f64, &'static str)>;

/// The exact solution at the times asked for, and its events as (time, what).
#[pyfunction]
pub fn plane_exact<'py>(
    py: Python<'py>,
    start: Start,
    force: Force,
    until: f64,
    times: PyReadonlyArray1<'py, f64>,
) -> PyResult<(Bound<'py, PyDict>, Events)> {
    let experiment = experiment(start, force)?;
    let solution = patiently(py, move || exact::solve(&experiment, until))?.map_err(told)?;
    let times = times.as_array().to_vec();
    if let Some(bad) = times.iter().find(|time| !(0.0..=until).contains(*time)) {
        return Err(errors::value(format!("`times` holds {bad}: expected times from 0 to {until}")));
    }
    let samples: Vec<Sample> = times.iter().map(|time| solution.at(*time)).collect();
    let name = |happening: &Happening| match happening {
        Happening::Hit { .. } => "hit",
        Happening::Saturation => "saturation",
        Happening::TakeOff => "take-off",
    };
    let events = solution.events.iter().map(|event| (event.time, name(&event.happening))).collect();
    Ok((columns(py, &samples)?, events))
}

/// λ of a sphere and a plane, for each gap in radii.
#[pyfunction]
pub fn stokes_plane<'py>(py: Python<'py>, gaps: PyReadonlyArray1<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let gaps = gaps.as_array().to_vec();
    let drags = patiently(py, move || gaps.iter().map(|gap| stokes::exact::sphere_plane(*gap)).collect());
    let drags: Result<Vec<f64>, _> = drags?;
    Ok(PyArray1::from_vec(py, drags.map_err(errors::value)?))
}

/// R₁₁, R₂₂ and R₁₂ of two spheres, for each gap.
#[pyfunction]
pub fn stokes_pair<'py>(
    py: Python<'py>,
    radii: [f64; 2],
    gaps: PyReadonlyArray1<'py, f64>,
) -> PyResult<[Bound<'py, PyArray1<f64>>; 3]> {
    let gaps = gaps.as_array().to_vec();
    let all = patiently(py, move || gaps.iter().map(|gap| stokes::exact::two_spheres(radii, *gap)).collect());
    let all: Result<Vec<_>, _> = all?;
    let all = all.map_err(errors::value)?;
    let column = |of: fn(&stokes::Resistance) -> f64| PyArray1::from_iter(py, all.iter().map(of));
    Ok([column(|r| r.first), column(|r| r.second), column(|r| r.mutual)])
}
