//! What can be told about a run from its folder, also while it is being written.

use std::fs;
use std::path::Path;

use super::files::if_there;
use super::recorder::{MANIFEST, SERIES};
use super::{Checkpoint, Manifest, TrajectoryError, series, writer};

/// A run at a glance.
#[derive(Debug)]
pub struct RunSummary {
    /// What was run.
    pub manifest: Manifest,
    /// Rows of the series.
    pub rows: usize,
    /// The last whole row of the series as (column, text); empty if there is none.
    pub last_row: Vec<(String, String)>,
    /// Whole frames.
    pub frames: usize,
    /// Its checkpoint.
    pub checkpoint: CheckpointStatus,
}

/// Whether a run can be resumed.
#[derive(Debug)]
pub enum CheckpointStatus {
    /// It has written no checkpoint.
    Missing,
    /// It can be resumed from this checkpoint.
    Good(Box<Checkpoint>),
    /// The last checkpoint cannot be read, or is missing; the run goes on from the one before it.
    Previous(Box<Checkpoint>, TrajectoryError),
    /// There is a checkpoint that cannot be read.
    Bad(TrajectoryError),
}

impl CheckpointStatus {
    /// The checkpoint from which the run goes on, if there is one.
    #[must_use]
    pub fn usable(&self) -> Option<&Checkpoint> {
        match self {
            Self::Good(checkpoint) | Self::Previous(checkpoint, _) => Some(checkpoint),
            Self::Missing | Self::Bad(_) => None,
        }
    }
}

impl RunSummary {
    /// Reads the folder of a run. Nothing is changed and nothing locked: the run may go on meanwhile.
    pub fn read(folder: &Path) -> Result<Self, TrajectoryError> {
        let manifest = Manifest::read(&folder.join(MANIFEST))?;
        let (rows, last_row) = last_row(&folder.join(SERIES))?;
        let frames = manifest.formats.iter().next().map_or(Ok(0), |format| (writer::kind(format).count)(folder))?;
        let checkpoint = match Checkpoint::latest(folder) {
            Ok((checkpoint, None)) => CheckpointStatus::Good(Box::new(checkpoint)),
            Ok((checkpoint, Some(trouble))) => CheckpointStatus::Previous(Box::new(checkpoint), trouble),
            Err(TrajectoryError::NoCheckpoint { .. }) => CheckpointStatus::Missing,
            Err(error) => CheckpointStatus::Bad(error),
        };
        Ok(Self { manifest, rows, last_row, frames, checkpoint })
    }

    /// The number in a column of the last row.
    #[must_use]
    pub fn value(&self, column: &str) -> Option<f64> {
        self.last_row.iter().find(|(name, _)| name == column).and_then(|(_, text)| text.parse().ok())
    }
}

fn last_row(path: &Path) -> Result<(usize, Vec<(String, String)>), TrajectoryError> {
    let text = if_there(fs::read(path)).map_err(TrajectoryError::io("read", path))?.unwrap_or_default();
    series::last_row(&text)
        .map_err(|error| TrajectoryError::Damaged { path: path.to_owned(), reason: error.to_string() })
}
