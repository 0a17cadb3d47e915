//! The library's messages as exceptions of Python: `ValueError` for what the caller can mend, `RuntimeError` else.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

/// What was handed in is wrong.
pub fn value(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What was asked for failed.
pub fn runtime(error: impl Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
