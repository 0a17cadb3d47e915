//! What can go wrong with a run folder, told to whoever runs the simulation.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why something could not be written to or read from a run folder. Every case names the file or folder.
#[derive(Debug, Error)]
pub enum TrajectoryError {
    /// The operating system refused: no permission, disk full, not there…
    #[error("cannot {action} {}: {}", path.display(), in_words(cause))]
    Io {
        /// What was being done: "write", "read", "create"…
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system answered; already part of the message, therefore not a `source`.
        cause: io::Error,
    },
    /// A new run was to start in a folder that holds one.
    #[error("{} already holds a run: resume it, choose another folder, or ask to replace it", path.display())]
    HoldsRun {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds no run.
    #[error("{} is no run folder: it has no manifest.toml", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// The run writes no frames that can be read back.
    #[error("{} has no frames of the kind that gluey reads: its scene leaves \"vtk\" out of output.formats", path.display())]
    NoFrames {
        /// The folder.
        path: PathBuf,
    },
    /// Another process writes to this folder.
    #[error("{} is in use: another process is writing to this run", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The manifest is not what this version writes.
    #[error("{} is not a manifest of a run: {reason}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Where it fails.
        reason: String,
    },
    /// There is no checkpoint.
    #[error("{} does not exist: the run has not written a checkpoint", path.display())]
    NoCheckpoint {
        /// Where it would be.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not a gluey checkpoint", path.display())]
    NotACheckpoint {
        /// The file.
        path: PathBuf,
    },
    /// A later version of gluey wrote it.
    #[error("{} was written by a newer version of gluey: its format is {found}, this version reads up to {known}", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The newest version this program reads.
        known: u32,
    },
    /// An earlier version of gluey wrote it.
    #[error("{} was written by an older version of gluey: its format is {found}, this version reads {known}; finish the run with that version or start it anew", path.display())]
    OlderFormat {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The one version this program reads.
        known: u32,
    },
    /// A checkpoint or frame ends too early.
    #[error("{} is truncated: {expected} bytes expected, {found} found", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes the file should have, at least.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },
    /// The content of the checkpoint is not what was written.
    #[error("{} is damaged: checksum mismatch (stored {stored:08x}, computed {computed:08x})", path.display())]
    Checksum {
        /// The checkpoint.
        path: PathBuf,
        /// Checksum in its header.
        stored: u32,
        /// Checksum of its content.
        computed: u32,
    },
    /// A checkpoint, frame or list cannot be understood for another reason.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The checkpoint belongs to another run than the folder.
    #[error("{} was written for another scene, seed or time step than the checkpoint", path.display())]
    OtherRun {
        /// The manifest of the folder.
        path: PathBuf,
    },
    /// A file that grows is no longer there while the run goes on, or no longer this run's alone.
    #[error("{} {loss}", path.display())]
    Lost {
        /// The file.
        path: PathBuf,
        /// What happened to it.
        loss: Loss,
    },
    /// A file that grows does not begin with what was written to it.
    #[error("{} was changed after it was written: its first {bytes} bytes have the checksum {computed:08x}, the checkpoint was written when it was {stored:08x}", path.display())]
    Differs {
        /// The file.
        path: PathBuf,
        /// How many bytes the checkpoint counts on.
        bytes: u64,
        /// Their checksum when the checkpoint was written.
        stored: u32,
        /// Their checksum now.
        computed: u32,
    },
    /// A file that grows has lost a part that the checkpoint counts on.
    #[error("{} has {found} bytes, the checkpoint was written when it had {expected}", path.display())]
    Shorter {
        /// The file.
        path: PathBuf,
        /// Its length in bytes when the checkpoint was written.
        expected: u64,
        /// Its length now.
        found: u64,
    },
    /// A frame was recorded twice or backwards in time.
    #[error("{}: frame of step {step} recorded after that of step {last}", path.display())]
    FrameOrder {
        /// The run folder.
        path: PathBuf,
        /// Step of the refused frame.
        step: u64,
        /// Step of the last frame.
        last: u64,
    },
    /// A report does not have one load per obstacle.
    #[error("{}: {found} loads reported for {expected} obstacles", path.display())]
    Loads {
        /// The series file.
        path: PathBuf,
        /// Number of obstacles.
        expected: usize,
        /// Number of loads.
        found: usize,
    },
    /// A row does not have one number per column of the measures.
    #[error("{}: {found} numbers measured for {expected} columns", path.display())]
    Measures {
        /// The series file.
        path: PathBuf,
        /// Number of columns.
        expected: usize,
        /// Number of figures.
        found: usize,
    },
}

/// What happened to a file while a run was writing to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Loss {
    /// It has no name any more.
    #[error("was removed or moved while the run was writing to it")]
    Removed,
    /// Another file has its name.
    #[error("was replaced by another file while the run was writing to it")]
    Replaced,
    /// Someone else has written to it or cut it.
    #[error("was changed by someone else while the run was writing to it: it has {found} bytes instead of {expected}")]
    Resized {
        /// Bytes that the run wrote.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
}

impl TrajectoryError {
    /// For `map_err`: what was being done to which path.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { action, path: path.to_owned(), cause }
    }

    /// Whether a checkpoint, or a file that it counts on, is not what was written: an older checkpoint may still be good.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::NoCheckpoint { .. }
                | Self::NotACheckpoint { .. }
                | Self::Truncated { .. }
                | Self::Checksum { .. }
                | Self::Damaged { .. }
                | Self::Differs { .. }
                | Self::Shorter { .. }
        )
    }

    /// Whether the disk or the user's share of it is full: what was written so far is whole, and the call can be
    /// repeated once there is room.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
    }
}

/// The cause for a reader who knows no error numbers.
fn in_words(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::StorageFull => "the disk is full".into(),
        ErrorKind::QuotaExceeded => "your share of the disk (quota) is used up".into(),
        ErrorKind::FileTooLarge => too_large(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        ErrorKind::NotADirectory => "a part of this path is a file, not a folder".into(),
        ErrorKind::NotFound => "there is no such file or folder".into(),
        ErrorKind::AlreadyExists => "a file of this name is in the way".into(),
        _ => cause.to_string(),
    }
}

/// Who would let no file grow so long: the user's limit, where the system tells one, or else the file system.
fn too_large() -> String {
    match file_size_limit() {
        Some(limit) => format!(
            "the file would be larger than the limit on the size of files allows, {limit} bytes (`ulimit -f` tells and \
             changes it)"
        ),
        None => "the file would be larger than the limit on the size of files or the file system allows".into(),
    }
}

/// The soft limit in bytes, where Linux tells it and there is one.
fn file_size_limit() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    limits.lines().find_map(|line| line.strip_prefix("Max file size"))?.split_whitespace().next()?.parse().ok()
}
