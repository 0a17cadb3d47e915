//! The projection on its own.

use std::num::NonZeroU64;

use gluey::projection::{AdmissibleSet, Criteria, Method, Metric, Prediction, Problem, Row, Solution, Status, WALL};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{numbers, rows, vectors};
use crate::errors;
use crate::patience::patiently;

/// The names of the solvers, and what each is.
#[pyfunction]
pub fn solvers() -> Vec<(&'static str, &'static str)> {
    Method::ALL.map(|method| (method.name(), method.about())).to_vec()
}

type Projected<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyDict>);

/// Impulses, velocities and a report for rows between bodies i and j, where j = −1 is a wall.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the columns of a problem")]
pub fn project<'py>(
    py: Python<'py>,
    i: PyReadonlyArray1<'py, i64>,
    j: PyReadonlyArray1<'py, i64>,
    normal: PyReadonlyArray2<'py, f64>,
    gap: PyReadonlyArray1<'py, f64>,
    lower: PyReadonlyArray1<'py, f64>,
    inverse_mass: PyReadonlyArray1<'py, f64>,
    apriori: PyReadonlyArray2<'py, f64>,
    scales: (f64, f64),
    start: PyReadonlyArray1<'py, f64>,
    solver: &str,
    limits: (f64, NonZeroU64),
) -> PyResult<Projected<'py>> {
    let ((dt, length), (tolerance, max_sweeps)) = (scales, limits);
    let (m, n) = (i.len(), apriori.shape()[0]);
    for (name, value) in [("dt", dt), ("length", length), ("tolerance", tolerance)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(errors::value(format!("`{name}` is {value}: expected a finite number > 0")));
        }
    }
    let problem = Problem {
        dt,
        length,
        prediction: Prediction {
            velocity: vectors("apriori", &apriori, None)?,
            metric: Metric::Diagonal(numbers("inverse_mass", &inverse_mass, n)?),
        },
        rows: contact_rows(
            [numbers("i", &i, m)?, numbers("j", &j, m)?],
            &vectors("normal", &normal, Some(m))?,
            [numbers("gap", &gap, m)?, numbers("lower", &lower, m)?],
            n,
        )?,
        ..Problem::default()
    };
    if let Some(body) = problem.prediction.metric.inverse_mass().iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let found = problem.prediction.metric.inverse_mass()[body];
        return Err(errors::value(format!("`inverse_mass`[{body}] is {found}: expected a finite number ≥ 0")));
    }
    let impulses = numbers("start", &start, m)?;
    if let Some(row) = impulses.iter().position(|impulse| !impulse.is_finite()) {
        return Err(errors::value(format!("`start`[{row}] is {}: expected a finite number", impulses[row])));
    }
    let method = solver.parse::<Method>();
    let mut method = method.map_err(|hint| errors::value(format!("`solver` is {solver:?}: {hint}")))?.solver();
    let criteria = Criteria { tolerance, max_sweeps: max_sweeps.get() };
    let (outcome, Solution { impulses, velocity }) = patiently(py, move || {
        let mut solution = Solution::starting_from(impulses);
        (method.solve(&problem, &criteria, &mut solution), solution)
    })?;
    let report = PyDict::new(py);
    let (status, rows_in_conflict) = match outcome.status {
        Status::Converged => ("converged", Vec::new()),
        Status::SweepLimit => ("sweep-limit", Vec::new()),
        Status::Stalled => ("stalled", Vec::new()),
        Status::Infeasible(rows) => ("infeasible", rows),
    };
    report.set_item("status", status)?;
    report.set_item("converged", status == "converged")?;
    report.set_item("sweeps", outcome.sweeps)?;
    report.set_item("products", outcome.products)?;
    report.set_item("residual", outcome.accuracy.residual)?;
    report.set_item("violation", outcome.accuracy.violation)?;
    report.set_item("conflict", rows_in_conflict)?;
    Ok((PyArray1::from_vec(py, impulses), rows(py, &velocity)?, report))
}

fn contact_rows(
    [first, second]: [Vec<i64>; 2],
    normals: &[glam::DVec3],
    [gaps, lowers]: [Vec<f64>; 2],
    bodies: usize,
) -> PyResult<Vec<Row>> {
    let row = |c: usize| {
        let body = |index: i64| u32::try_from(index).ok().filter(|index| (*index as usize) < bodies);
        let partner = if second[c] == -1 { Some(WALL) } else { body(second[c]) };
        let (Some(i), Some(j), true) = (body(first[c]), partner, first[c] != second[c]) else {
            return Err(errors::value(format!(
                "row {c} is between {} and {}: expected two of the {bodies} bodies, or one and -1 for a wall",
                first[c], second[c]
            )));
        };
        let (normal, gap, lower) = (normals[c], gaps[c], lowers[c]);
        if !(normal.is_normalized() && gap.is_finite() && lower <= 0.0) {
            return Err(errors::value(format!(
                "row {c}: expected a normal of length 1 (found {}), a finite gap (found {gap}) and a bound ≤ 0 (found \
                 {lower})",
                normal.length()
            )));
        }
        Ok(Row { i, j, normal, gap, set: AdmissibleSet::at_least(lower) })
    };
    (0..first.len()).map(row).collect()
}
