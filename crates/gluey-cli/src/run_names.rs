//! What runs are called beside each other.

use std::fs;
use std::path::PathBuf;

use crate::UsageError;
use crate::words::count;

/// Refuses labels that are not one a run.
pub fn check_labels(runs: &[PathBuf], labels: &[String]) -> Result<(), UsageError> {
    if labels.is_empty() || labels.len() == runs.len() {
        return Ok(());
    }
    let (labels, runs) = (count(labels.len() as u64, "label"), count(runs.len() as u64, "run"));
    Err(UsageError(format!("there are {labels} for {runs}: give one a run")))
}

/// The labels given, or the names of the folders.
pub fn labels(runs: &[PathBuf], labels: &[String]) -> Vec<String> {
    if !labels.is_empty() {
        return labels.to_vec();
    }
    let name = |run: &PathBuf| {
        // A folder such as `.` has its name elsewhere.
        let path = fs::canonicalize(run).unwrap_or_else(|_| run.clone());
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    runs.iter().map(name).collect()
}
