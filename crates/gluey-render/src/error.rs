//! What can go wrong with pictures.

use std::io;
use std::path::PathBuf;

use gluey::trajectory::TrajectoryError;
use thiserror::Error;

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum RenderError {
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] TrajectoryError),
    /// No run was named.
    #[error("there is no run to draw")]
    NoRuns,
    /// There is nothing to draw yet.
    #[error("{} has no frames yet", path.display())]
    NoFrames {
        /// The folder of the run.
        path: PathBuf,
    },
    /// A time that the run has not reached, or that is before its start.
    #[error("{} has no frame near t = {time}: its frames are from t = {first} to {last}", path.display())]
    NoSuchTime {
        /// The folder of the run.
        path: PathBuf,
        /// The time asked for.
        time: f64,
        /// Time of the first frame.
        first: f64,
        /// Time of the last.
        last: f64,
    },
    /// Discs and spheres do not share a camera.
    #[error("{} is a run in {}D, {} in {}D: they cannot be shown side by side", one.display(), dimensions[0], other.display(), dimensions[1])]
    Dimensions {
        /// A run.
        one: PathBuf,
        /// A run of another dimension.
        other: PathBuf,
        /// Their dimensions.
        dimensions: [u8; 2],
    },
    /// There is no ffmpeg.
    #[error("there is no program `ffmpeg`, which makes MP4 files: install it, or ask for a GIF")]
    NoFfmpeg,
    /// ffmpeg did not like it.
    #[error("ffmpeg could not make {}: {message}", path.display())]
    Ffmpeg {
        /// The film.
        path: PathBuf,
        /// What it said.
        message: String,
    },
    /// An animation cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        cause: io::Error,
    },
    /// GIF files have at most 65535 pixels a side.
    #[error("a GIF has at most 65535 pixels a side, not {0}")]
    TooLarge(u32),
}
