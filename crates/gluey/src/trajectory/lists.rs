//! The lists of frames for `ParaView` (`.pvd`), which grow in place: a frame costs a line, however many there are.
//!
//! A list is an opening, a line for each frame, and closing tags. A new line takes the place of the closing tags, which
//! follow it, in one write of some hundred bytes: a reader sees the old list or the new one. What a run that is killed
//! within this write leaves may end early; resuming writes the whole list again. So does the next frame where a list is
//! gone, or not as long as it was left.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::files::{self, Durable, write_whole};
use super::paraview::{FRAMES, OBSTACLES, frame_file, frame_list};
use super::vtk::{LIST_CLOSING, LIST_OPENING, list_entry};
use super::{FrameStamp, TrajectoryError};

/// The list of the frames of one kind.
#[derive(Debug)]
pub(super) struct FrameList {
    kind: &'static str,
    path: PathBuf,
    /// Of how many frames it tells; none where that is not known.
    frames: Option<usize>,
    /// Where the closing tags are; 0 where there is no file, because nothing is in the list.
    end: u64,
}

impl FrameList {
    /// Nothing is known of the list in the folder of a run yet.
    pub(super) fn new(folder: &Path, kind: &'static str) -> Self {
        Self { kind, path: folder.join(frame_list(kind)), frames: None, end: 0 }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What it tells of is no longer so: the next time it is written as a whole.
    pub(super) fn forget(&mut self) {
        self.frames = None;
    }

    /// Brings it up to these frames, and tells how many bytes that took.
    pub(super) fn update(&mut self, frames: &[FrameStamp]) -> Result<u64, TrajectoryError> {
        let Some((last, before)) = frames.split_last().filter(|(_, before)| self.frames == Some(before.len())) else {
            return self.write(frames);
        };
        let Some(entry) = self.entry(last) else {
            self.frames = Some(frames.len());
            return Ok(0);
        };
        self.frames = None; // not before it is done
        match self.grow(&entry).map_err(TrajectoryError::io("write", &self.path))? {
            None => self.write(frames),
            Some(written) => {
                self.end += entry.len() as u64;
                self.frames = Some(before.len() + 1);
                Ok(written)
            }
        }
    }

    /// Writes the line in place of the closing tags, and these after it; none where the list is not as it was left.
    fn grow(&self, entry: &str) -> io::Result<Option<u64>> {
        if self.end == 0 {
            return Ok(None);
        }
        let mut file = match OpenOptions::new().write(true).open(&self.path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        if file.metadata()?.len() != self.end + LIST_CLOSING.len() as u64 {
            return Ok(None);
        }
        let text = format!("{entry}{LIST_CLOSING}");
        let written = file.seek(SeekFrom::Start(self.end)).and_then(|_| file.write_all(text.as_bytes()));
        if written.is_err() {
            // The error to report is the first one; the room for the closing tags was there before.
            let _ = self.close(&mut file);
        }
        written.map(|()| Some(text.len() as u64))
    }

    fn close(&self, file: &mut File) -> io::Result<()> {
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(LIST_CLOSING.as_bytes())?;
        file.set_len(self.end + LIST_CLOSING.len() as u64)
    }

    /// Writes it as a whole; there is no list of nothing.
    fn write(&mut self, frames: &[FrameStamp]) -> Result<u64, TrajectoryError> {
        let mut lines = frames.iter().filter_map(|stamp| self.entry(stamp)).peekable();
        let mut written = 0;
        if lines.peek().is_none() {
            files::remove(&self.path)?;
        } else {
            write_whole(&self.path, Durable::Later, |out| {
                let parts = std::iter::once(LIST_OPENING.to_owned()).chain(lines);
                for part in parts.chain(std::iter::once(LIST_CLOSING.to_owned())) {
                    out.write_all(part.as_bytes())?;
                    written += part.len() as u64;
                }
                Ok(())
            })?;
        }
        self.end = written.saturating_sub(LIST_CLOSING.len() as u64);
        self.frames = Some(frames.len());
        Ok(written)
    }

    /// The line of a frame, if it shows anything of this kind.
    fn entry(&self, stamp: &FrameStamp) -> Option<String> {
        let step = if self.kind == OBSTACLES { stamp.obstacles } else { Some(stamp.step) };
        step.map(|step| list_entry(stamp.time, &format!("{FRAMES}/{}", frame_file(self.kind, step))))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::trajectory::paraview::PARTICLES;

    fn stamps(count: u64) -> Vec<FrameStamp> {
        (0..count).map(|step| FrameStamp { step, time: step as f64, obstacles: (step >= 3).then_some(3) }).collect()
    }

    /// A list that was written frame by frame, its bytes, and how many were written for them.
    fn grown(folder: &Path, kind: &'static str, count: usize) -> (FrameList, Vec<u8>, u64) {
        let (frames, mut list) = (stamps(count as u64), FrameList::new(folder, kind));
        let written = (1..=count).map(|k| list.update(&frames[..k]).unwrap()).sum();
        let bytes = fs::read(list.path()).unwrap_or_default();
        (list, bytes, written)
    }

    #[test]
    fn a_list_of_many_frames_is_not_written_anew_for_each() {
        let folder = tempfile::tempdir().unwrap();
        for kind in [PARTICLES, OBSTACLES] {
            let (_, bytes, written) = grown(folder.path(), kind, 2000);
            let ratio = written as f64 / bytes.len() as f64;
            assert!(ratio < 1.5, "{ratio} times the bytes of the list");
            let whole = FrameList::new(folder.path(), kind).update(&stamps(2000)).unwrap();
            assert_eq!((whole, fs::read(folder.path().join(frame_list(kind))).unwrap()), (bytes.len() as u64, bytes));
        }
    }

    #[test]
    fn a_list_is_whole_after_every_frame_and_of_nothing_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        for count in 1..6 {
            let (_, bytes, _) = grown(folder.path(), OBSTACLES, count);
            let text = String::from_utf8(bytes).unwrap();
            let lines = text.matches("<DataSet ").count();
            assert_eq!(lines, count.saturating_sub(3));
            let ends = text.starts_with(LIST_OPENING) && text.ends_with(LIST_CLOSING);
            assert_eq!(ends, lines > 0, "{text}");
            fs::remove_file(folder.path().join(frame_list(OBSTACLES))).unwrap_or_default();
        }
    }

    #[test]
    fn a_list_that_was_removed_cut_or_forgotten_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let frames = stamps(9);
        let (_, whole, _) = grown(folder.path(), PARTICLES, 9);
        let spoil: [fn(&mut FrameList); 3] = [
            |list| fs::remove_file(list.path()).unwrap(),
            |list| fs::write(list.path(), "<?xml").unwrap(),
            FrameList::forget,
        ];
        for spoil in spoil {
            let (mut list, ..) = grown(folder.path(), PARTICLES, 8);
            spoil(&mut list);
            list.update(&frames).unwrap();
            assert_eq!(fs::read(list.path()).unwrap(), whole);
        }
    }
}
