//! Checkpoints: all that is needed to go on as if the run had never stopped.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic `GLUEY\r\n\x1a`, whose line end a transfer as text would break |
//! | 4 | format version, little-endian |
//! | 8 | length of the content in bytes, little-endian |
//! | 4 | CRC-32 of the content, little-endian |
//! | … | content: zstd of the postcard encoding of [`Checkpoint`] |

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::files::{Durable, write_whole_keeping};
use super::former::{Former, Lengths, TwoFormats};
use super::{TrajectoryError, checkpoint_path, previous_checkpoint_path};
use crate::format::Format;
use crate::simulation::{State, StepReport};

const MAGIC: [u8; 8] = *b"GLUEY\r\n\x1a";
/// To be raised with every change to [`Checkpoint`] or to a type inside it: the encoding holds no names.
const FORMAT: u32 = 5;
/// The oldest format that is still read.
const OLDEST: u32 = 3;
const HEADER: usize = 8 + 4 + 8 + 4;
/// Higher levels take several times longer for a few percent: most of the content is digits of floats.
const COMPRESSION: i32 = 1;
/// Bytes that a checkpoint may unpack to in any case,
const LEAST_ROOM: u64 = 1 << 26;
/// and for each of its own bytes. Of a particle at most 100 are stored, and its id alone, which no other has, leaves one.
const MOST_PACKED: u64 = 256;

/// A moment of a run from which it can go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The state.
    pub state: State,
    /// [`fingerprint`](super::RunInfo::fingerprint) of the run.
    pub fingerprint: u64,
    /// The scene as run.
    pub scene_text: String,
    /// What the files of the run held.
    pub progress: Progress,
    /// Report of the last step.
    pub report: StepReport,
}

/// What had been written to the run's folder at some moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The frames, in order; the next one has their number as its index.
    pub frames: Vec<FrameStamp>,
    /// What `series.csv` held.
    pub series: Grown,
    /// What the files of formats held, of those that are written and have one that grows.
    pub grown: BTreeMap<Format, Grown>,
}

/// What a file that grows held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grown {
    /// Its length in bytes.
    pub bytes: u64,
    /// CRC-32 of these bytes; none in checkpoints of format 3.
    pub checksum: Option<u32>,
}

/// When a frame was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameStamp {
    /// Its step.
    pub step: u64,
    /// Its time (time).
    pub time: f64,
    /// Step of the frame whose file shows its obstacles: its own, or an earlier one if no obstacle moves; none where
    /// there are no obstacles.
    pub obstacles: Option<u64>,
}

/// A checkpoint to be written, borrowed: the same fields in the same order as [`Checkpoint`], whose bytes it makes.
#[derive(Serialize)]
pub(super) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) fingerprint: u64,
    pub(super) scene_text: &'a str,
    pub(super) progress: &'a Progress,
    pub(super) report: &'a StepReport,
}

impl View<'_> {
    /// Replaces the file at once, and returns when it has reached the disk; the old one gets the name `kept`, if there is
    /// one.
    pub(super) fn write(&self, path: &Path, kept: Option<&Path>) -> Result<(), TrajectoryError> {
        let content = self.encode().map_err(TrajectoryError::io("encode", path))?;
        write_whole_keeping(path, Durable::Now, kept, |out| {
            out.write_all(&header(&content))?;
            out.write_all(&content)
        })
    }

    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION)?;
        // Buffered, because postcard writes a few bytes at a time.
        let buffered = io::BufWriter::with_capacity(1 << 16, &mut encoder);
        let mut buffered = postcard::to_io(self, buffered).map_err(io::Error::other)?;
        buffered.flush()?;
        drop(buffered);
        encoder.finish()
    }
}

/// What stands before the content.
fn header(content: &[u8]) -> Vec<u8> {
    let (length, checksum) = ((content.len() as u64).to_le_bytes(), crc32fast::hash(content).to_le_bytes());
    [&MAGIC[..], &FORMAT.to_le_bytes(), &length, &checksum].concat()
}

impl Checkpoint {
    pub(super) fn view(&self) -> View<'_> {
        let Self { state, fingerprint, scene_text, progress, report } = self;
        View { state, fingerprint: *fingerprint, scene_text, progress, report }
    }

    /// Writes the checkpoint: readers see the old file or the new one, never a part, whatever happens meanwhile.
    pub fn write(&self, path: &Path) -> Result<(), TrajectoryError> {
        self.view().write(path, None)
    }

    /// Reads a checkpoint, and refuses anything that is not, bit for bit, what was written, or that no run can have
    /// written.
    pub fn read(path: &Path) -> Result<Self, TrajectoryError> {
        let mut file = File::open(path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => TrajectoryError::NoCheckpoint { path: path.to_owned() },
            _ => TrajectoryError::io("read", path)(cause),
        })?;
        // The first bytes tell whether the rest is worth reading.
        let mut bytes = Vec::new();
        let mut magic = (&mut file).take(MAGIC.len() as u64);
        magic.read_to_end(&mut bytes).map_err(TrajectoryError::io("read", path))?;
        if bytes != MAGIC {
            return Err(Self::without_magic(&bytes, path));
        }
        file.read_to_end(&mut bytes).map_err(TrajectoryError::io("read", path))?;
        Self::from_bytes(&bytes, path)
    }

    /// The last checkpoint in the folder of a run, or, where that is damaged or missing, the one before it and what is
    /// wrong with the last.
    pub fn latest(folder: &Path) -> Result<(Self, Option<TrajectoryError>), TrajectoryError> {
        Self::latest_for(folder, Ok, |error: &TrajectoryError| error.is_damage())
    }

    /// What is made of the last checkpoint in the folder of a run; where it, or what is made of it, is damaged, of the one
    /// before it, and why.
    pub fn latest_for<T, E: From<TrajectoryError>>(
        folder: &Path,
        mut make: impl FnMut(Self) -> Result<T, E>,
        is_damage: impl Fn(&E) -> bool,
    ) -> Result<(T, Option<E>), E> {
        let mut made_of = |path: &Path| make(Self::read(path)?);
        let trouble = match made_of(&checkpoint_path(folder)) {
            Ok(made) => return Ok((made, None)),
            Err(trouble) => trouble,
        };
        if !is_damage(&trouble) {
            return Err(trouble);
        }
        // Of both troubles that of the last checkpoint is the one to tell.
        match made_of(&previous_checkpoint_path(folder)) {
            Ok(made) => Ok((made, Some(trouble))),
            Err(_) => Err(trouble),
        }
    }

    /// A file that ends within the magic may well have been a checkpoint.
    fn without_magic(bytes: &[u8], path: &Path) -> TrajectoryError {
        let path = path.to_owned();
        if MAGIC.starts_with(bytes) {
            return TrajectoryError::Truncated { path, expected: HEADER as u64, found: bytes.len() as u64 };
        }
        TrajectoryError::NotACheckpoint { path }
    }

    /// The same from the bytes of a file; messages call them by this path.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, TrajectoryError> {
        let damaged = |reason: String| TrajectoryError::Damaged { path: path.to_owned(), reason };
        let found = bytes.len() as u64;
        let truncated = |expected| TrajectoryError::Truncated { path: path.to_owned(), expected, found };

        let (header, content) = bytes.split_at_checked(HEADER).ok_or_else(|| truncated(HEADER as u64))?;
        let format = u32::from_le_bytes(field(header, 8));
        let expected = u64::from_le_bytes(field(header, 12)).saturating_add(HEADER as u64);
        let stored = u32::from_le_bytes(field(header, 20));
        if format > FORMAT {
            return Err(TrajectoryError::NewerFormat { path: path.to_owned(), found: format, known: FORMAT });
        }
        if format == 0 {
            return Err(damaged("there is no format 0".to_owned()));
        }
        if format < OLDEST {
            return Err(TrajectoryError::OlderFormat { path: path.to_owned(), found: format, known: OLDEST });
        }
        if found < expected {
            return Err(truncated(expected));
        }
        if found > expected {
            return Err(damaged(format!("{} bytes follow its end", found - expected)));
        }
        let computed = crc32fast::hash(content);
        if computed != stored {
            return Err(TrajectoryError::Checksum { path: path.to_owned(), stored, computed });
        }
        let plain = unpacked(content).map_err(|error| damaged(error.to_string()))?;
        match format {
            3 => decoded::<Former<Lengths>>(&plain, path),
            4 => decoded::<Former<TwoFormats>>(&plain, path),
            _ => Self::from_plain(&plain, path),
        }
    }

    /// A file around [`Self::to_plain`], with the checksum that fits.
    pub fn packed(plain: &[u8]) -> io::Result<Vec<u8>> {
        let content = zstd::encode_all(plain, COMPRESSION)?;
        Ok([header(&content), content].concat())
    }

    /// The content of a file of the present format, neither packed nor with a checksum.
    pub fn to_plain(&self) -> io::Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(io::Error::other)
    }

    /// A checkpoint from such a content, which may be any bytes; messages call them by this path.
    pub fn from_plain(plain: &[u8], path: &Path) -> Result<Self, TrajectoryError> {
        decoded::<Self>(plain, path)
    }

    /// What cannot have been written by a run.
    fn check(&self) -> Result<(), String> {
        self.state.check().map_err(|error| error.to_string())?;
        let Self { state, progress: Progress { frames, .. }, report, .. } = self;
        if let Some(pair) = frames.windows(2).find(|pair| pair[0].step >= pair[1].step || pair[0].time >= pair[1].time)
        {
            return Err(format!("the frame of step {} follows that of step {}", pair[1].step, pair[0].step));
        }
        let early = |stamp: &FrameStamp| {
            stamp.step <= state.step && stamp.time.is_finite() && stamp.obstacles.is_none_or(|step| step <= stamp.step)
        };
        if let Some(stamp) = frames.iter().find(|stamp| !early(stamp)) {
            return Err(format!("there is a frame of step {}, which has not been taken", stamp.step));
        }
        let figures = [report.least_gap, report.residual, report.slip];
        let loads = report.loads.iter().flat_map(|load| [load.force, load.torque]);
        if figures.iter().any(|figure| figure.is_nan()) || loads.into_iter().any(|load| !load.is_finite()) {
            return Err("the report of its last step is not made of numbers".to_owned());
        }
        Ok(())
    }
}

/// A checkpoint of one format or another, checked.
fn decoded<T: for<'a> Deserialize<'a> + Into<Checkpoint>>(
    plain: &[u8],
    path: &Path,
) -> Result<Checkpoint, TrajectoryError> {
    let damaged = |reason: String| TrajectoryError::Damaged { path: path.to_owned(), reason };
    let (checkpoint, rest) = postcard::take_from_bytes::<T>(plain).map_err(|error| damaged(error.to_string()))?;
    if !rest.is_empty() {
        return Err(damaged(format!("{} bytes of its content are left over", rest.len())));
    }
    let checkpoint = checkpoint.into();
    checkpoint.check().map_err(damaged)?;
    Ok(checkpoint)
}

/// What was packed, unless it is more than any checkpoint packs into so few bytes.
fn unpacked(content: &[u8]) -> io::Result<Vec<u8>> {
    let most = LEAST_ROOM.max(MOST_PACKED * content.len() as u64);
    let mut plain = Vec::new();
    zstd::Decoder::new(content)?.take(most + 1).read_to_end(&mut plain)?;
    if plain.len() as u64 > most {
        return Err(io::Error::other(format!(
            "its {} bytes unpack to more than {most}, which those of no checkpoint do",
            content.len()
        )));
    }
    Ok(plain)
}

/// The `N` bytes at `offset` of the header, which is known to be that long.
fn field<const N: usize>(header: &[u8], offset: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&header[offset..offset + N]);
    bytes
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use glam::DVec3;

    use super::*;
    use crate::contact::{Contact, Pair};
    use crate::geometry::Cell;
    use crate::interaction::Bridge;
    use crate::simulation::{Crossings, Load};

    fn checkpoint() -> Checkpoint {
        let mut state = State { step: 12, ..State::default() };
        for i in 0..3 {
            state.particles.push(DVec3::splat(f64::from(i) / 3.0), 0.1, 2.0);
        }
        state.particles.cell = Some(Cell::new([Some([-1.0, 2.0]), None, None]).unwrap());
        state.particles.velocity[1] = DVec3::new(-0.0, f64::MIN_POSITIVE / 2.0, 1.0);
        state.contacts = vec![
            Contact { pair: Pair::particles(0, 1), gamma: -0.5, impulse: 1.0 },
            Contact { pair: Pair::obstacle(2, 0, 5), gamma: 0.0, impulse: 0.25 },
        ];
        state.bridges = vec![Bridge { force: 1, pair: Pair::particles(1, 2) }];
        state.crossings = vec![Crossings { number: -2, volume: 0.5 }];
        Checkpoint {
            state,
            fingerprint: 42,
            scene_text: "scene".into(),
            progress: Progress {
                frames: vec![FrameStamp { step: 0, time: 0.0, obstacles: Some(0) }],
                series: Grown { bytes: 100, checksum: Some(7) },
                grown: [
                    (Format::Xyz, Grown { bytes: 200, checksum: Some(8) }),
                    (Format::Compact, Grown { bytes: 300, checksum: Some(9) }),
                ]
                .into(),
            },
            report: StepReport { least_gap: f64::INFINITY, loads: vec![Load::default()], ..StepReport::default() },
        }
    }

    fn written(folder: &tempfile::TempDir) -> (PathBuf, Vec<u8>) {
        let path = folder.path().join("checkpoint.gluey");
        checkpoint().write(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes) = written(&folder);
        let read = Checkpoint::read(&path).unwrap();
        assert_eq!(read, checkpoint());
        assert!(read.state.particles.velocity[1].x.is_sign_negative());
        assert_eq!(written(&folder).1, bytes, "the same checkpoint has the same bytes");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_change_of_the_encoded_types_needs_a_new_format() {
        let plain = postcard::to_stdvec(&checkpoint()).unwrap();
        assert_eq!(plain, postcard::to_stdvec(&checkpoint().view()).unwrap(), "view and checkpoint differ");
        let seen = (FORMAT, plain.len(), crc32fast::hash(&plain));
        assert_eq!(seen, (5, 463, 2_941_747_316), "raise FORMAT and put the new numbers here");
    }

    /// The checkpoint as a former format would hold it.
    fn former<Written: Serialize>(format: u8, progress: Written) -> Vec<u8> {
        let Checkpoint { state, fingerprint, scene_text, report, .. } = checkpoint();
        let former = Former { state, fingerprint, scene_text, progress, report };
        let mut bytes = Checkpoint::packed(&postcard::to_stdvec(&former).unwrap()).unwrap();
        bytes[8] = format;
        bytes
    }

    #[test]
    fn a_checkpoint_without_checksums_is_read() {
        let now = checkpoint();
        let bytes = former(3, Lengths { frames: now.progress.frames.clone(), series_bytes: 100, xyz_bytes: 200 });
        let read = Checkpoint::from_bytes(&bytes, Path::new("old")).unwrap();
        assert_eq!((&read.state, &read.report, &read.scene_text), (&now.state, &now.report, &now.scene_text));
        assert_eq!(read.progress.series, Grown { bytes: 100, checksum: None });
        assert_eq!(read.progress.grown, [(Format::Xyz, Grown { bytes: 200, checksum: None })].into());
    }

    #[test]
    fn a_checkpoint_of_two_formats_is_read() {
        let now = checkpoint();
        let (frames, series) = (now.progress.frames.clone(), now.progress.series);
        let [xyz, compact] = [Format::Xyz, Format::Compact].map(|format| now.progress.grown[&format]);
        let bytes = former(4, TwoFormats { frames, series, xyz, compact: Some(compact) });
        assert_eq!(Checkpoint::from_bytes(&bytes, Path::new("old")).unwrap(), now);
        let (frames, grown) = (now.progress.frames, Grown::default());
        let bytes = former(4, TwoFormats { frames, series: grown, xyz: grown, compact: None });
        let read = Checkpoint::from_bytes(&bytes, Path::new("old")).unwrap();
        assert_eq!(read.progress.grown, [(Format::Xyz, grown)].into());
    }

    #[test]
    fn a_small_file_that_unpacks_to_gigabytes_is_refused() {
        let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION).unwrap();
        let piece = vec![0; 1 << 20];
        (0..1 << 10).for_each(|_| encoder.write_all(&piece).unwrap());
        let content = encoder.finish().unwrap();
        assert!(content.len() < 300_000);
        let error = Checkpoint::from_bytes(&[header(&content), content].concat(), Path::new("bomb")).unwrap_err();
        assert!(error.to_string().contains("unpack to more than"), "{error}");
    }

    #[test]
    fn a_real_state_is_far_from_what_is_refused_as_too_well_packed() {
        // Nothing packs better than a lattice at rest.
        let mut state = State::default();
        for k in 0..100_000_u32 {
            state.particles.push(DVec3::new(f64::from(k % 50), f64::from(k / 50 % 50), f64::from(k / 2500)), 0.5, 1.0);
        }
        state.least_norm_dual = vec![DVec3::ZERO; state.particles.len()];
        let plain = Checkpoint { state, ..checkpoint() }.to_plain().unwrap();
        let ratio = plain.len() / Checkpoint::packed(&plain).unwrap().len();
        assert!(3 * ratio < MOST_PACKED as usize, "{ratio}");
    }

    #[test]
    fn what_no_run_writes_is_refused_in_words() {
        let refused = |spoil: fn(&mut Checkpoint)| {
            let mut spoiled = checkpoint();
            spoil(&mut spoiled);
            let plain = spoiled.to_plain().unwrap();
            Checkpoint::from_bytes(&Checkpoint::packed(&plain).unwrap(), Path::new("it")).unwrap_err().to_string()
        };
        assert!(refused(|it| it.state.particles.position[1].y = f64::NAN).contains("particle 1 is at"));
        assert!(refused(|it| it.report.least_gap = f64::NAN).contains("report"));
        assert!(refused(|it| it.progress.frames[0].step = 99).contains("step 99, which has not been taken"));
    }

    #[test]
    fn any_flipped_bit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes) = written(&folder);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, flipped).unwrap();
            let error = Checkpoint::read(&path).unwrap_err();
            assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
            if bit >= HEADER * 8 {
                assert!(matches!(error, TrajectoryError::Checksum { .. }), "bit {bit}: {error}");
            }
        }
    }

    #[test]
    fn any_cut_is_refused_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes) = written(&folder);
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let error = Checkpoint::read(&path).unwrap_err();
            assert!(matches!(error, TrajectoryError::Truncated { found, .. } if found == length as u64), "{error}");
        }
        fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
        assert!(matches!(Checkpoint::read(&path), Err(TrajectoryError::Damaged { .. })));
    }

    #[test]
    fn foreign_newer_and_missing_files_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let (path, mut bytes) = written(&folder);
        bytes[8] = 9;
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(Checkpoint::read(&path), Err(TrajectoryError::NewerFormat { found: 9, known: FORMAT, .. })));
        bytes[8] = 2;
        fs::write(&path, &bytes).unwrap();
        let error = Checkpoint::read(&path).unwrap_err();
        assert!(matches!(error, TrajectoryError::OlderFormat { found: 2, known: OLDEST, .. }), "{error}");
        fs::write(&path, "step,time\n0,0\n").unwrap();
        assert!(matches!(Checkpoint::read(&path), Err(TrajectoryError::NotACheckpoint { .. })));
        fs::remove_file(&path).unwrap();
        assert!(matches!(Checkpoint::read(&path), Err(TrajectoryError::NoCheckpoint { .. })));
        let error = Checkpoint::read(folder.path()).unwrap_err();
        assert!(matches!(error, TrajectoryError::Io { .. }), "a folder is no checkpoint: {error}");
    }
}
