//! What can be told about a run from its folder, also while it is being written.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

use super::recorder::{MANIFEST, PARTICLES, SERIES, XYZ, frame_list};
use super::{Checkpoint, CompactFrames, Manifest, TrajectoryError, series, xyz};

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
        let frames = if manifest.formats.vtk {
            count_listed_frames(&folder.join(frame_list(PARTICLES)))?
        } else if manifest.formats.xyz {
            count_xyz_frames(&folder.join(XYZ))?
        } else {
            let mut stored = CompactFrames::new(folder);
            let _ = stored.refresh(); // a file that cannot be read holds no frame
            stored.stamps().len()
        };
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

fn count_listed_frames(path: &Path) -> Result<usize, TrajectoryError> {
    let list = if_there(fs::read_to_string(path)).map_err(TrajectoryError::io("read", path))?.unwrap_or_default();
    Ok(list.lines().filter(|line| line.starts_with("<DataSet ")).count())
}

fn count_xyz_frames(path: &Path) -> Result<usize, TrajectoryError> {
    let count = || if_there(File::open(path))?.map_or(Ok(0), |file| xyz::count_frames(BufReader::new(file)));
    count().map_err(TrajectoryError::io("read", path))
}

/// A run that has just started may not have the file yet.
fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
