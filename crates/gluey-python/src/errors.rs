//! The library's messages as exceptions and warnings of Python: `ValueError` for what the caller can mend,
//! `RuntimeError` else.

use std::ffi::CString;
use std::fmt::Display;

use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;

/// What was handed in is wrong.
pub fn value(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What was asked for failed.
pub fn runtime(error: impl Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// What was done is not quite what was asked for.
pub fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let message = CString::new(message).map_err(value)?;
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &message, 2)
}
