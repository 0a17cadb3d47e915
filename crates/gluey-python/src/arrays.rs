//! Between columns of the library and arrays of NumPy.

use glam::DVec3;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Looks up what arrays are made and borrowed with, once for all.
pub fn meet_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    PyArray1::<f64>::zeros(py, 0, false).try_readonly()?;
    Ok(())
}

/// Three numbers a vector.
pub fn flat(vectors: &[DVec3]) -> &[f64] {
    bytemuck::cast_slice(vectors)
}

/// Vectors as an array of their own with a row each.
pub fn rows<'py>(py: Python<'py>, vectors: &[DVec3]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, flat(vectors)).reshape([vectors.len(), 3])
}

/// The rows of an array as vectors; it must have `count` of them, if a count is given.
pub fn vectors(name: &str, array: &PyReadonlyArray2<f64>, count: Option<usize>) -> PyResult<Vec<DVec3>> {
    let [found, width] = [array.shape()[0], array.shape()[1]];
    if width != 3 || count.is_some_and(|count| count != found) {
        let expected = count.map_or_else(|| "n".to_owned(), |count| count.to_string());
        return Err(PyValueError::new_err(format!(
            "`{name}` has the shape ({found}, {width}): expected ({expected}, 3)"
        )));
    }
    let array = array.as_array();
    let vectors: Vec<_> = array.rows().into_iter().map(|row| DVec3::new(row[0], row[1], row[2])).collect();
    match vectors.iter().position(|vector| !vector.is_finite()) {
        None => Ok(vectors),
        Some(index) => {
            let DVec3 { x, y, z } = vectors[index];
            Err(PyValueError::new_err(format!("`{name}`[{index}] is [{x}, {y}, {z}]: expected finite numbers")))
        }
    }
}

/// The entries of an array, of which there must be `count`.
pub fn numbers<T: numpy::Element + Copy>(name: &str, array: &PyReadonlyArray1<T>, count: usize) -> PyResult<Vec<T>> {
    if array.len() != count {
        return Err(PyValueError::new_err(format!("`{name}` has {} entries: expected {count}", array.len())));
    }
    Ok(array.as_array().to_vec())
}
