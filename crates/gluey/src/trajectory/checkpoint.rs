//! Checkpoints: all that is needed to go on as if the run had never stopped.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic `GLUEY\r\n\x1a`, whose line end a transfer as text would break |
//! | 4 | format version, little-endian |
//! | 8 | length of the content in bytes, little-endian |
//! | 4 | CRC-32 of the content, little-endian |
//! | … | content: zstd of the postcard encoding of [`Checkpoint`] |

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::TrajectoryError;
use super::files::{Durable, write_whole};
use crate::simulation::{State, StepReport};

const MAGIC: [u8; 8] = *b"GLUEY\r\n\x1a";
/// To be raised with every change to [`Checkpoint`] or to a type inside it: the encoding holds no names.
const FORMAT: u32 = 3;
const HEADER: usize = 8 + 4 + 8 + 4;
/// Higher levels take several times longer for a few percent: most of the content is digits of floats.
const COMPRESSION: i32 = 1;

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
    /// Length of `series.csv` in bytes.
    pub series_bytes: u64,
    /// Length of `trajectory.xyz` in bytes, 0 where it is not written.
    pub xyz_bytes: u64,
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
    /// Replaces the file at once, and returns when it has reached the disk.
    pub(super) fn write(&self, path: &Path) -> Result<(), TrajectoryError> {
        let content = self.encode().map_err(TrajectoryError::io("encode", path))?;
        write_whole(path, Durable::Now, |out| {
            out.write_all(&MAGIC)?;
            out.write_all(&FORMAT.to_le_bytes())?;
            out.write_all(&(content.len() as u64).to_le_bytes())?;
            out.write_all(&crc32fast::hash(&content).to_le_bytes())?;
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

impl Checkpoint {
    fn view(&self) -> View<'_> {
        let Self { state, fingerprint, scene_text, progress, report } = self;
        View { state, fingerprint: *fingerprint, scene_text, progress, report }
    }

    /// Writes the checkpoint: readers see the old file or the new one, never a part, whatever happens meanwhile.
    pub fn write(&self, path: &Path) -> Result<(), TrajectoryError> {
        self.view().write(path)
    }

    /// Reads a checkpoint, and refuses anything that is not, bit for bit, what was written.
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
        Self::decode(&bytes, path)
    }

    /// A file that ends within the magic may well have been a checkpoint.
    fn without_magic(bytes: &[u8], path: &Path) -> TrajectoryError {
        let path = path.to_owned();
        if MAGIC.starts_with(bytes) {
            return TrajectoryError::Truncated { path, expected: HEADER as u64, found: bytes.len() as u64 };
        }
        TrajectoryError::NotACheckpoint { path }
    }

    fn decode(bytes: &[u8], path: &Path) -> Result<Self, TrajectoryError> {
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
        if format < FORMAT {
            return Err(TrajectoryError::OlderFormat { path: path.to_owned(), found: format, known: FORMAT });
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
        let plain = zstd::decode_all(content).map_err(|error| damaged(error.to_string()))?;
        match postcard::take_from_bytes(&plain) {
            Ok((checkpoint, [])) => Ok(checkpoint),
            Ok((_, rest)) => Err(damaged(format!("{} bytes of its content are left over", rest.len()))),
            Err(error) => Err(damaged(error.to_string())),
        }
    }
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
                series_bytes: 100,
                xyz_bytes: 200,
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
        assert_eq!(seen, (3, 452, 266_686_874), "raise FORMAT and put the new numbers here");
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
        assert!(matches!(error, TrajectoryError::OlderFormat { found: 2, known: FORMAT, .. }), "{error}");
        fs::write(&path, "step,time\n0,0\n").unwrap();
        assert!(matches!(Checkpoint::read(&path), Err(TrajectoryError::NotACheckpoint { .. })));
        fs::remove_file(&path).unwrap();
        assert!(matches!(Checkpoint::read(&path), Err(TrajectoryError::NoCheckpoint { .. })));
        let error = Checkpoint::read(folder.path()).unwrap_err();
        assert!(matches!(error, TrajectoryError::Io { .. }), "a folder is no checkpoint: {error}");
    }
}
