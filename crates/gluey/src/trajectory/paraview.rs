//! The frames for `ParaView` in a run folder: a file for each kind of thing and each frame, and lists of them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::files::{self, Checked, Durable, if_there, write_whole};
use super::lists::FrameList;
use super::writer::{FrameWriter, Home, Kind, Made};
use super::{Frame, FrameStamp, TrajectoryError, vtk};

pub(super) const FRAMES: &str = "frames";
pub(super) const PARTICLES: &str = "particles";
pub(super) const CONTACTS: &str = "contacts";
pub(super) const OBSTACLES: &str = "obstacles";
const KINDS: [&str; 3] = [PARTICLES, CONTACTS, OBSTACLES];

pub(super) const KIND: Kind =
    Kind { create: |home| Ok(Box::new(Writer::new(home)?)), check: |_, _, _| Ok(None), resume, remove, count };

/// Writes these files. They are whole at any moment, and none of them grows but the lists.
#[derive(Debug)]
struct Writer {
    folder: PathBuf,
    lists: [FrameList; 3],
    /// Files of frames that may not have reached the disk yet.
    unsynced: Vec<PathBuf>,
}

impl Writer {
    fn new(home: Home) -> Result<Self, TrajectoryError> {
        files::create_folder(&home.folder.join(FRAMES))?;
        let lists = KINDS.map(|kind| FrameList::new(home.folder, kind));
        Ok(Self { folder: home.folder.to_owned(), lists, unsynced: Vec::new() })
    }

    fn write_file(
        &mut self,
        kind: &str,
        step: u64,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), TrajectoryError> {
        let path = self.folder.join(FRAMES).join(frame_file(kind, step));
        write_whole(&path, Durable::Later, fill)?;
        self.unsynced.push(path);
        Ok(())
    }

    fn update_lists(&mut self, frames: &[FrameStamp]) -> Result<(), TrajectoryError> {
        self.lists.iter_mut().try_for_each(|list| list.update(frames).map(drop))
    }
}

impl FrameWriter for Writer {
    fn append(&mut self, frame: &Frame, stamps: &[FrameStamp]) -> Result<(), TrajectoryError> {
        let own_obstacles = stamps.last().is_some_and(|stamp| stamp.obstacles == Some(frame.step));
        self.write_file(PARTICLES, frame.step, |out| vtk::write_particles(frame, out))?;
        self.write_file(CONTACTS, frame.step, |out| vtk::write_contacts(frame, out))?;
        if own_obstacles {
            self.write_file(OBSTACLES, frame.step, |out| vtk::write_obstacles(frame, out))?;
        }
        self.update_lists(stamps)
    }

    fn take_back(&mut self) {
        self.lists.iter_mut().for_each(FrameList::forget);
    }

    fn sync(&mut self) -> Result<(), TrajectoryError> {
        if self.unsynced.is_empty() {
            return Ok(());
        }
        let lists = self.lists.iter().map(FrameList::path);
        // Frames that someone took away meanwhile need no disk.
        for path in self.unsynced.iter().map(PathBuf::as_path).chain(lists).filter(|path| path.exists()) {
            files::sync(path)?;
        }
        files::sync_folder(&self.folder.join(FRAMES))?;
        self.unsynced.clear();
        Ok(())
    }
}

fn resume(home: Home, frames: &[FrameStamp], _: Option<Checked>) -> Made {
    let mut writer = Writer::new(home)?; // someone may have moved the old frames elsewhere
    remove_later_frames(&home.folder.join(FRAMES), frames)?;
    writer.update_lists(frames)?;
    Ok(Box::new(writer))
}

fn remove(folder: &Path) -> Result<(), TrajectoryError> {
    for kind in KINDS {
        files::remove(&folder.join(frame_list(kind)))?;
    }
    if folder.join(FRAMES).is_dir() {
        remove_later_frames(&folder.join(FRAMES), &[])?;
    }
    Ok(())
}

/// Those that are listed.
fn count(folder: &Path) -> Result<usize, TrajectoryError> {
    let path = folder.join(frame_list(PARTICLES));
    let list = if_there(fs::read_to_string(&path)).map_err(TrajectoryError::io("read", &path))?.unwrap_or_default();
    Ok(list.lines().filter(|line| line.starts_with("<DataSet ")).count())
}

/// Removes the frames that are not among those kept, and nothing that is no frame.
fn remove_later_frames(frames: &Path, kept: &[FrameStamp]) -> Result<(), TrajectoryError> {
    let mut names: Vec<String> = Vec::new();
    for stamp in kept {
        names.extend([frame_file(PARTICLES, stamp.step), frame_file(CONTACTS, stamp.step)]);
        names.extend(stamp.obstacles.map(|step| frame_file(OBSTACLES, step)));
    }
    names.sort_unstable();
    files::remove_where(frames, |name| {
        is_frame_file(name) && names.binary_search_by(|kept| (**kept).cmp(name)).is_err()
    })
}

pub(super) fn frame_file(kind: &str, step: u64) -> String {
    format!("{kind}_{step:08}.vtp")
}

fn is_frame_file(name: &str) -> bool {
    let stem = name.strip_suffix(".vtp").and_then(|stem| stem.split_once('_'));
    stem.is_some_and(|(kind, step)| {
        KINDS.contains(&kind) && step.parse().is_ok_and(|step| frame_file(kind, step) == name)
    })
}

pub(super) fn frame_list(kind: &str) -> String {
    format!("{kind}.pvd")
}
