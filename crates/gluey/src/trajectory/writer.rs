//! How the frames of each format get into a run folder, and what of them is there.

use std::fmt;
use std::path::Path;

use super::files::Checked;
use super::{Frame, FrameStamp, Grown, RunInfo, TrajectoryError, compact, paraview, xyz};
use crate::format::Format;

/// Writes the frames of a run in one format.
pub(super) trait FrameWriter: fmt::Debug + Send {
    /// Adds a frame, which is the last of the stamps, unless it is there already: another format may have failed after
    /// this one.
    fn append(&mut self, frame: &Frame, stamps: &[FrameStamp]) -> Result<(), TrajectoryError>;

    /// The frame that was stamped last does not count: some format of it could not be written.
    fn take_back(&mut self) {}

    /// Refuses to go on where a file that grows is not what was written.
    fn check_place(&self) -> Result<(), TrajectoryError> {
        Ok(())
    }

    /// Waits until all frames have reached the disk.
    fn sync(&mut self) -> Result<(), TrajectoryError>;

    /// What its file holds, where it has one that grows.
    fn grown(&self) -> Option<Grown> {
        None
    }
}

/// The folder of a run.
#[derive(Clone, Copy)]
pub(super) struct Home<'a> {
    pub(super) folder: &'a Path,
    pub(super) info: &'a RunInfo,
}

/// A writer that was made.
pub(super) type Made = Result<Box<dyn FrameWriter>, TrajectoryError>;

/// What of the file that grows was found to be there; none where no file grows.
pub(super) type Found = Result<Option<Checked>, TrajectoryError>;

/// A format as run folders know it.
pub(super) struct Kind {
    /// Starts without frames.
    pub(super) create: fn(Home) -> Made,
    /// Refuses frames that are not those of a checkpoint.
    pub(super) check: fn(Home, &[FrameStamp], Option<Grown>) -> Found,
    /// Goes on after these frames, which were checked; later ones go.
    pub(super) resume: fn(Home, &[FrameStamp], Option<Checked>) -> Made,
    /// Removes all frames.
    pub(super) remove: fn(&Path) -> Result<(), TrajectoryError>,
    /// Whole frames in a folder.
    pub(super) count: fn(&Path) -> Result<usize, TrajectoryError>,
}

/// The table.
pub(super) const fn kind(format: Format) -> Kind {
    match format {
        Format::Vtk => paraview::KIND,
        Format::Xyz => xyz::KIND,
        Format::Compact => compact::KIND,
    }
}
