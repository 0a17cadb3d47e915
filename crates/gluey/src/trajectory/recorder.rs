//! The writer of a run folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::checkpoint::View;
use super::files::{self, Appended, Checked, Durable, check_grown, write_whole};
use super::writer::{self, FrameWriter, Home};
use super::{Checkpoint, Frame, FrameStamp, Manifest, Observation, Progress, RunInfo, TrajectoryError};
use super::{interventions, series};
use crate::format::{Format, Formats};
use crate::simulation::{State, StepReport, Timings};

pub(super) const MANIFEST: &str = "manifest.toml";
pub(super) const SERIES: &str = "series.csv";
const CHECKPOINT: &str = "checkpoint.gluey";
const PREVIOUS: &str = "checkpoint-previous.gluey";
const TIMINGS: &str = "timings.csv";
const HOST: &str = "host.toml";
const LOCK: &str = ".lock";
/// How often and after what pauses a lock is tried again.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(10);
/// What to do about a run that is in the folder already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfPresent {
    /// Leave it alone and fail.
    Refuse,
    /// Remove its files (and no others) and start anew.
    Replace,
}

/// Wall time spent since the row before, in seconds; since the process started or resumed the run in its first row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// Steps taken.
    pub step: u64,
    /// Time tⁿ (time).
    pub time: f64,
    /// In each part of the steps.
    pub steps: Timings,
    /// Writing results and checkpoints.
    pub write: Duration,
    /// All in all, with what belongs to none of these.
    pub total: Duration,
}

/// The columns of the wall times.
const TIMING_COLUMNS: &str = "step,time,predict,search,project,glue,move,write,total";

/// Where a run folder keeps its checkpoint.
#[must_use]
pub fn checkpoint_path(folder: &Path) -> PathBuf {
    folder.join(CHECKPOINT)
}

/// Where a run folder keeps the checkpoint before that.
#[must_use]
pub fn previous_checkpoint_path(folder: &Path) -> PathBuf {
    folder.join(PREVIOUS)
}

/// Writes a run folder. A call that fails can be repeated when its cause is gone; what was written before stays whole.
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
    manifest: Manifest,
    fingerprint: u64,
    series: Appended,
    /// One for each format of the run.
    writers: Vec<Kept>,
    timings: Appended,
    frames: Vec<FrameStamp>,
    /// Step of the checkpoint in the folder.
    saved: Option<u64>,
    /// Steps between checkpoints that are worth keeping when the next one is there.
    spacing: u64,
    /// Held until the recorder is dropped or its process ends in whatever way.
    _lock: Option<File>,
}

/// A format that is kept up.
#[derive(Debug)]
struct Kept {
    format: Format,
    writer: Box<dyn FrameWriter>,
}

impl Recorder {
    /// Starts a run in a folder, which is created if need be.
    pub fn create(
        folder: &Path,
        info: &RunInfo,
        formats: Formats,
        if_present: IfPresent,
    ) -> Result<Self, TrajectoryError> {
        files::create_folder(folder)?;
        let lock = lock(folder)?;
        if [MANIFEST, SERIES, CHECKPOINT].iter().any(|file| folder.join(file).exists()) {
            match if_present {
                IfPresent::Refuse => return Err(TrajectoryError::HoldsRun { path: folder.to_owned() }),
                IfPresent::Replace => remove_run(folder)?,
            }
        }
        files::remove_where(folder, |_| false)?; // of a run that was killed before it had a manifest
        let manifest = Manifest::new(info, formats);
        write_manifest(&manifest, &folder.join(MANIFEST))?;
        let mut series = Appended::create(&folder.join(SERIES))?;
        series.append(|out| series::write_header(info, out))?;
        let home = Home { folder, info };
        let keep = |format| (writer::kind(format).create)(home).map(|writer| Kept { format, writer });
        let writers = formats.iter().map(keep).collect::<Result<_, _>>()?;
        let timings = start_timings(&folder.join(TIMINGS))?;
        Ok(Self {
            folder: folder.to_owned(),
            fingerprint: info.fingerprint(),
            manifest,
            series,
            writers,
            timings,
            frames: Vec::new(),
            saved: None,
            spacing: 1,
            _lock: lock,
        })
    }

    /// Goes on with the run in a folder from a checkpoint of it: what was written after the checkpoint is removed. Where a
    /// file does not begin with what it held then, nothing is touched.
    pub fn resume(folder: &Path, checkpoint: &Checkpoint) -> Result<Self, TrajectoryError> {
        // 1. Everything is checked before anything is changed.
        let manifest = refuse_other_run(folder, checkpoint)?;
        let lock = lock(folder)?;
        let Progress { frames, series, grown } = &checkpoint.progress;
        let home = Home { folder, info: &manifest.info };
        let series_held = check_grown(&folder.join(SERIES), series)?;
        let check = |format| (writer::kind(format).check)(home, frames, grown.get(&format).copied());
        let held: Vec<(Format, Option<Checked>)> =
            manifest.formats.iter().map(|format| check(format).map(|held| (format, held))).collect::<Result<_, _>>()?;
        // 2. The checkpoint may be a copy of an older one: from here on no later one fits the files.
        let progress = Progress {
            frames: frames.clone(),
            series: series_held.into(),
            grown: held.iter().filter_map(|(format, held)| Some((*format, (*held)?.into()))).collect(),
        };
        // With the checksums that an older format lacks.
        View { progress: &progress, ..checkpoint.view() }.write(&checkpoint_path(folder), None)?;
        remove_later_checkpoint(folder, checkpoint)?;
        // 3. What is later than the checkpoint goes.
        files::remove_where(folder, |_| false)?;
        let series = Appended::resume(&folder.join(SERIES), series_held)?;
        let keep =
            |(format, held)| (writer::kind(format).resume)(home, frames, held).map(|writer| Kept { format, writer });
        let writers = held.into_iter().map(keep).collect::<Result<_, _>>()?;
        Ok(Self {
            folder: folder.to_owned(),
            fingerprint: checkpoint.fingerprint,
            series,
            writers,
            timings: resume_timings(&folder.join(TIMINGS), checkpoint.state.step)?,
            frames: frames.clone(),
            manifest,
            saved: Some(checkpoint.state.step),
            spacing: 1,
            _lock: lock,
        })
    }

    /// Which checkpoints stay as the one before the last: those of steps that are multiples of this one. Others, such as
    /// that of a run that is stopped, are replaced by the next; so a folder holds the same however often it was stopped.
    pub fn keep_multiples_of(&mut self, steps: NonZeroU64) {
        self.spacing = steps.get();
    }

    /// The run's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is being run.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The frames recorded so far, in order.
    #[must_use]
    pub fn frames(&self) -> &[FrameStamp] {
        &self.frames
    }

    /// Adds a row to the series.
    pub fn record_step(&mut self, observation: &Observation) -> Result<(), TrajectoryError> {
        let (expected, found) = (self.manifest.info.obstacle_names.len(), observation.report.loads.len());
        if found != expected && found != 0 {
            return Err(TrajectoryError::Loads { path: self.series.path().to_owned(), expected, found });
        }
        let (columns, measured) = (self.manifest.info.measures.len(), observation.measures.len());
        if measured != columns {
            let path = self.series.path().to_owned();
            return Err(TrajectoryError::Measures { path, expected: columns, found: measured });
        }
        self.series.append(|out| series::write_row(observation, &self.manifest.info, out))
    }

    /// Adds a frame, of a later step than the last one.
    pub fn record_frame(&mut self, frame: &Frame) -> Result<(), TrajectoryError> {
        self.check_places()?;
        let last = self.frames.last().copied();
        if let Some(last) = last.filter(|last| frame.step <= last.step) {
            return Err(TrajectoryError::FrameOrder { path: self.folder.clone(), step: frame.step, last: last.step });
        }
        let still = last.and_then(|last| last.obstacles).filter(|_| !frame.obstacles_move());
        let shown = still.or_else(|| (!frame.obstacles.is_empty()).then_some(frame.step));
        self.frames.push(FrameStamp { step: frame.step, time: frame.time, obstacles: shown });
        let written = self.writers.iter_mut().try_for_each(|kept| kept.writer.append(frame, &self.frames));
        if written.is_err() {
            self.frames.pop();
            self.writers.iter_mut().for_each(|kept| kept.writer.take_back());
        }
        written
    }

    /// Refuses to go on where a file that grows was removed or replaced, or is not as long as what was written to it.
    pub fn check_places(&self) -> Result<(), TrajectoryError> {
        self.series.check_place()?;
        self.writers.iter().try_for_each(|kept| kept.writer.check_place())
    }

    /// Writes a checkpoint that covers all recorded so far; to be called after what is recorded for the same step.
    /// When it returns, checkpoint and records have reached the disk. The checkpoint that was there is kept as the one
    /// before the last.
    pub fn checkpoint(&mut self, state: &State, report: &StepReport) -> Result<(), TrajectoryError> {
        self.check_places()?;
        self.series.sync()?;
        self.writers.iter_mut().try_for_each(|kept| kept.writer.sync())?;
        let progress = Progress {
            frames: std::mem::take(&mut self.frames), // lent, not copied: there may be many
            series: self.series.grown(),
            grown: self.writers.iter().filter_map(|kept| Some((kept.format, kept.writer.grown()?))).collect(),
        };
        let view = View {
            state,
            fingerprint: self.fingerprint,
            scene_text: &self.manifest.info.scene_text,
            progress: &progress,
            report,
        };
        let last = self.saved.filter(|last| *last != state.step && last.is_multiple_of(self.spacing));
        let previous = last.map(|_| previous_checkpoint_path(&self.folder));
        let written = view.write(&checkpoint_path(&self.folder), previous.as_deref());
        self.frames = progress.frames;
        if written.is_ok() {
            self.saved = Some(state.step);
        }
        written
    }

    /// Adds a row of wall times.
    pub fn record_timing(&mut self, timing: &Timing) -> Result<(), TrajectoryError> {
        let Timing { step, time, steps, write, total } = timing;
        let Timings { predict, search, project, glue, advance } = steps;
        let seconds = [predict, search, project, glue, advance, write, total].map(Duration::as_secs_f64);
        self.timings.append(|out| {
            write!(out, "{step},{time}")?;
            seconds.iter().try_for_each(|seconds| write!(out, ",{seconds:.6}"))?;
            writeln!(out)
        })
    }

    /// Notes facts about the machine (name, processor, threads…); each start or resumption adds a table.
    pub fn record_host(&self, facts: &[(&str, String)]) -> Result<(), TrajectoryError> {
        let path = self.folder.join(HOST);
        let before = match fs::read_to_string(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => String::new(),
            other => other.map_err(TrajectoryError::io("read", &path))?,
        };
        let start: toml::Table =
            facts.iter().map(|(name, fact)| ((*name).to_owned(), toml::Value::from(fact.as_str()))).collect();
        write_whole(&path, Durable::Later, |out| writeln!(out, "{before}[[start]]\n{start}"))
    }
}

/// Refuses a checkpoint of another run than that in a folder, whose manifest this is otherwise.
pub fn refuse_other_run(folder: &Path, checkpoint: &Checkpoint) -> Result<Manifest, TrajectoryError> {
    let path = folder.join(MANIFEST);
    let manifest = Manifest::read(&path)?;
    if manifest.info.fingerprint() != checkpoint.fingerprint || manifest.info.scene_text != checkpoint.scene_text {
        return Err(TrajectoryError::OtherRun { path });
    }
    Ok(manifest)
}

fn write_manifest(manifest: &Manifest, path: &Path) -> Result<(), TrajectoryError> {
    let text = manifest.to_toml().map_err(|error| TrajectoryError::io("write", path)(io::Error::other(error)))?;
    write_whole(path, Durable::Now, |out| out.write_all(text.as_bytes()))
}

/// Keeps other processes from writing to the folder. The system releases the lock when the process ends, even killed.
fn lock(folder: &Path) -> Result<Option<File>, TrajectoryError> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path);
    let file = file.map_err(TrajectoryError::io("write", &path))?;
    let mut locked = file.try_lock();
    // A lock that was just dropped lives on for the instant in which this process starts another, which inherits it.
    for _ in 0..LOCK_TRIES {
        if !matches!(locked, Err(TryLockError::WouldBlock)) {
            break;
        }
        std::thread::sleep(LOCK_PAUSE);
        locked = file.try_lock();
    }
    match locked {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(TrajectoryError::InUse { path: folder.to_owned() }),
        // Some network file systems have no locks; a run there is still better than none.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Whether a process writes to the folder of a run now; where a file system has no locks nobody can tell, and it is not.
#[must_use]
pub fn is_being_written(folder: &Path) -> bool {
    // Shared, and given back at once: a process that is about to write tries again after a pause.
    File::open(folder.join(LOCK)).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Removes a run, its checkpoints first: what is left of a removal that was stopped cannot be taken for a whole run.
fn remove_run(folder: &Path) -> Result<(), TrajectoryError> {
    for file in [PREVIOUS, CHECKPOINT, SERIES, TIMINGS, HOST, interventions::FILE] {
        files::remove(&folder.join(file))?;
    }
    Format::ALL.into_iter().try_for_each(|format| (writer::kind(format).remove)(folder))?;
    files::remove_where(folder, |name| name == MANIFEST)
}

/// Removes the checkpoint before the last unless it is one of this run, and of no later step than the one the run goes on
/// from.
fn remove_later_checkpoint(folder: &Path, from: &Checkpoint) -> Result<(), TrajectoryError> {
    let path = previous_checkpoint_path(folder);
    let fits =
        |previous: &Checkpoint| previous.fingerprint == from.fingerprint && previous.state.step <= from.state.step;
    if path.exists() && !Checkpoint::read(&path).is_ok_and(|previous| fits(&previous)) {
        return files::remove(&path);
    }
    Ok(())
}

fn start_timings(path: &Path) -> Result<Appended, TrajectoryError> {
    let mut timings = Appended::create(path)?;
    timings.append(|out| writeln!(out, "{TIMING_COLUMNS}"))?;
    Ok(timings)
}

/// Wall times of the steps until the checkpoint stay; later steps will be taken again. Where it is not the table that this
/// version writes, it is started anew.
fn resume_timings(path: &Path, step: u64) -> Result<Appended, TrajectoryError> {
    let text = match fs::read_to_string(path) {
        Err(cause) if cause.kind() != io::ErrorKind::InvalidData && cause.kind() != io::ErrorKind::NotFound => {
            return Err(TrajectoryError::io("read", path)(cause));
        }
        text => text.unwrap_or_default(),
    };
    let mut lines = text.split_inclusive('\n');
    let Some(header) = lines.next().filter(|header| header.trim_end() == TIMING_COLUMNS) else {
        return start_timings(path);
    };
    let taken = |line: &&str| {
        let first = line.split(',').next().and_then(|first| first.parse::<u64>().ok());
        line.ends_with('\n') && first.is_some_and(|first| first <= step)
    };
    let kept = header.len() + lines.take_while(taken).map(str::len).sum::<usize>();
    Appended::resume(path, Checked { bytes: kept as u64, checksum: crc32fast::hash(&text.as_bytes()[..kept]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_times_go_on_after_the_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(TIMINGS);
        let resumed = |text: &str| {
            fs::write(&path, text).unwrap();
            drop(resume_timings(&path, 20).unwrap());
            fs::read_to_string(&path).unwrap()
        };
        let header = format!("{TIMING_COLUMNS}\n");
        let kept = format!("{header}10,0.1,0\n20,0.2,0\n");
        assert_eq!(resumed(&format!("{kept}30,0.3,0\n40,0.4")), kept);
        assert_eq!(resumed(&format!("{kept}1")), kept, "an unfinished line");
        assert_eq!(resumed("step,seconds\n10,1\n"), header, "the table of another version");
        fs::remove_file(&path).unwrap();
        drop(resume_timings(&path, 20).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), header);
    }
}
