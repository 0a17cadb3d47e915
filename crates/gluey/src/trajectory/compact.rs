//! Frames in few bytes, one after the other in one file: what the viewer is sent, and what a run keeps for it.
//!
//! A record is 16 bytes (`GFRM`, version, length of the body, CRC-32 of the body) and a body of columns, all
//! little-endian and aligned to 4 bytes, so that a reader can use them where they are. The layout is in
//! `docs/formats.md`. Lengths are f32, relative to an origin in f64.
//!
//! Most runs keep their particles, and many their obstacles, from frame to frame: a stored record leaves out a section
//! that an earlier one holds and tells how many records back that is. [`CompactFrames::read`] and [`encode`] give whole
//! records.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::files::{Appended, Checked, check_grown, remove};
use super::writer::{FrameWriter, Kind};
use super::{Frame, FrameStamp, Grown, TrajectoryError};
use crate::contact::{ContactGeometry, Partner};
use crate::geometry::Particles;

/// The file in a run folder.
const FILE: &str = "frames.bin";

pub(super) const KIND: Kind = Kind {
    create: |home| Ok(Box::new(Writer::create(&home.folder.join(FILE), home.info.dimension)?)),
    check: |home, frames, grown| check(&home.folder.join(FILE), frames, grown).map(Some),
    resume: |home, frames, held| {
        let (path, dimension) = (home.folder.join(FILE), home.info.dimension);
        Ok(Box::new(Writer::resume(&path, dimension, frames, held.unwrap_or_default())?))
    },
    remove: |folder| remove(&folder.join(FILE)),
    count: |folder| {
        let mut stored = CompactFrames::new(folder);
        let _ = stored.refresh(); // a file that cannot be read holds no frame
        Ok(stored.stamps().len())
    },
};

const TAG: [u8; 4] = *b"GFRM";
/// To be raised with every change of the layout.
const VERSION: u32 = 1;
/// Bytes before the body.
const PREFIX: usize = 16;
/// Bytes of a body before its columns.
const HEAD: usize = 72;
/// Bytes a particle in the section of properties: id, radius, mass, group.
const PROPERTIES: u64 = 8 + 4 + 4 + 4;
/// Where a body tells how many records back its sections are.
const BACKS: std::ops::Range<usize> = 60..68;

/// The sections that a record may leave out, as bytes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sections {
    properties: Vec<u8>,
    obstacles: Vec<u8>,
}

/// How many records back the sections are; 0 is in the record itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Backs {
    properties: u32,
    obstacles: u32,
}

/// A whole record of a frame, in 2 or 3 dimensions.
pub fn encode(frame: &Frame, dimension: u8) -> io::Result<Vec<u8>> {
    record(&columns(frame, dimension.into())?, &Sections::of(frame), Backs::default())
}

/// A body without its sections.
fn columns(frame: &Frame, dimension: usize) -> io::Result<Vec<u8>> {
    if !(2..=3).contains(&dimension) {
        let reason = format!("a frame has 2 or 3 dimensions, not {dimension}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let Frame { step, time, particles, contacts, obstacles, .. } = *frame;
    let on_walls = |k: &&ContactGeometry| matches!(k.contact.pair.partner(), Partner::Obstacle { .. });
    let walls = contacts.iter().filter(on_walls);
    let origin = middle(particles);
    let mut out = Vec::with_capacity(HEAD + 4 * (2 * dimension * particles.len() + 5 * contacts.len()));
    out.extend(step.to_le_bytes());
    out.extend(time.to_le_bytes());
    out.extend(origin.to_array().into_iter().flat_map(f64::to_le_bytes));
    let counts = [dimension, particles.len(), contacts.len(), walls.clone().count(), obstacles.len(), 0, 0, 0];
    out.extend(counts.into_iter().flat_map(|count| (count as u32).to_le_bytes()));
    for position in &particles.position {
        push_vector(&mut out, *position - origin, dimension);
    }
    for velocity in &particles.velocity {
        push_vector(&mut out, *velocity, dimension);
    }
    let pairs = || contacts.iter().map(|geometry| geometry.contact.pair);
    out.extend(pairs().flat_map(|pair| pair.first().to_le_bytes()));
    out.extend(pairs().flat_map(|pair| partner(pair.partner()).to_le_bytes()));
    let mut column = |value: fn(&ContactGeometry) -> f64| {
        out.extend(contacts.iter().flat_map(|geometry| (value(geometry) as f32).to_le_bytes()));
    };
    column(|geometry| geometry.contact.gamma);
    column(|geometry| geometry.contact.impulse);
    column(|geometry| geometry.gap);
    for wall in walls {
        push_vector(&mut out, wall.normal, dimension);
    }
    Ok(out)
}

/// Particles by index, obstacles as −1 − index.
fn partner(partner: Partner) -> i32 {
    match partner {
        Partner::Particle(j) => j.cast_signed(),
        Partner::Obstacle { obstacle, .. } => -1 - obstacle.cast_signed(),
    }
}

/// The middle of the box that holds all centres that are somewhere.
fn middle(particles: &Particles) -> DVec3 {
    let (mut lower, mut upper) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for position in particles.position.iter().filter(|position| position.is_finite()) {
        (lower, upper) = (lower.min(*position), upper.max(*position));
    }
    let middle = 0.5 * lower + 0.5 * upper;
    if middle.is_finite() { middle } else { DVec3::ZERO }
}

fn push_vector(out: &mut Vec<u8>, vector: DVec3, dimension: usize) {
    let parts = vector.to_array();
    out.extend(parts[..dimension].iter().flat_map(|part| (*part as f32).to_le_bytes()));
}

impl Sections {
    fn of(frame: &Frame) -> Self {
        let particles = frame.particles;
        let mut properties = Vec::with_capacity(PROPERTIES as usize * particles.len());
        properties.extend(particles.id.iter().flat_map(|id| id.to_le_bytes()));
        for column in [&particles.radius, &particles.mass] {
            properties.extend(column.iter().flat_map(|value| (*value as f32).to_le_bytes()));
        }
        properties.extend(particles.group.iter().flat_map(|group| group.to_le_bytes()));
        let mut obstacles = Vec::new();
        for surface in frame.obstacles {
            let counts = [surface.points.len(), surface.triangles.len(), surface.lines.len(), surface.moving.into()];
            obstacles.extend(counts.into_iter().flat_map(|count| (count as u32).to_le_bytes()));
            for point in &surface.points {
                push_vector(&mut obstacles, *point, 3);
            }
            let corners = surface.triangles.as_flattened().iter().chain(surface.lines.as_flattened());
            obstacles.extend(corners.flat_map(|corner| corner.to_le_bytes()));
        }
        Self { properties, obstacles }
    }
}

/// Puts a record together; sections that are elsewhere are left out.
fn record(columns: &[u8], sections: &Sections, backs: Backs) -> io::Result<Vec<u8>> {
    let mut out = vec![0; PREFIX];
    out.extend_from_slice(columns);
    out[PREFIX..][BACKS.start..][..4].copy_from_slice(&backs.properties.to_le_bytes());
    out[PREFIX..][BACKS.start + 4..][..4].copy_from_slice(&backs.obstacles.to_le_bytes());
    for (section, back) in [(&sections.properties, backs.properties), (&sections.obstacles, backs.obstacles)] {
        if back == 0 {
            out.extend_from_slice(section);
        }
    }
    let body = &out[PREFIX..];
    let length = u32::try_from(body.len()).map_err(|_| io::Error::other("a frame of more than 4 GiB"))?;
    let checksum = crc32fast::hash(body);
    for (part, value) in [TAG, VERSION.to_le_bytes(), length.to_le_bytes(), checksum.to_le_bytes()].iter().enumerate() {
        out[4 * part..][..4].copy_from_slice(value);
    }
    Ok(out)
}

/// Writes the file of a run.
#[derive(Debug)]
struct Writer {
    file: Appended,
    dimension: u8,
    last: Option<Last>,
}

/// What the last record leaves to the next.
#[derive(Debug)]
struct Last {
    step: u64,
    /// Its sections, and how many records back they are.
    sections: Sections,
    backs: Backs,
}

impl Writer {
    fn create(path: &Path, dimension: u8) -> Result<Self, TrajectoryError> {
        Ok(Self { file: Appended::create(path)?, dimension, last: None })
    }

    /// Goes on after these frames, which [`check`] has found there.
    fn resume(path: &Path, dimension: u8, frames: &[FrameStamp], held: Checked) -> Result<Self, TrajectoryError> {
        let mut stored = CompactFrames::at(path.to_owned());
        let _ = stored.refresh(); // what is broken behind these frames goes
        let last = match frames.len().checked_sub(1) {
            None => None,
            Some(k) => {
                let entry = stored.index[k];
                let sections = Sections { properties: stored.properties(k)?, obstacles: stored.obstacles(k)? };
                Some(Last { step: entry.step, sections, backs: entry.backs })
            }
        };
        Ok(Self { file: Appended::resume(path, held)?, dimension, last })
    }
}

impl FrameWriter for Writer {
    fn append(&mut self, frame: &Frame, _: &[FrameStamp]) -> Result<(), TrajectoryError> {
        if self.last.as_ref().is_some_and(|last| last.step == frame.step) {
            return Ok(());
        }
        let sections = Sections::of(frame);
        let backs = self.last.as_ref().map_or_else(Backs::default, |last| Backs {
            properties: if last.sections.properties == sections.properties { last.backs.properties + 1 } else { 0 },
            obstacles: if last.sections.obstacles == sections.obstacles { last.backs.obstacles + 1 } else { 0 },
        });
        self.file.append(|out| out.write_all(&record(&columns(frame, self.dimension.into())?, &sections, backs)?))?;
        self.last = Some(Last { step: frame.step, sections, backs });
        Ok(())
    }

    fn grown(&self) -> Option<Grown> {
        Some(self.file.grown())
    }

    fn check_place(&self) -> Result<(), TrajectoryError> {
        self.file.check_place()
    }

    fn sync(&mut self) -> Result<(), TrajectoryError> {
        self.file.sync()
    }
}

/// Refuses a file that has lost frames, or has other bytes than when it had grown so far; an older checkpoint does not tell
/// how far that was.
fn check(path: &Path, frames: &[FrameStamp], grown: Option<Grown>) -> Result<Checked, TrajectoryError> {
    let held = grown.map(|grown| check_grown(path, &grown)).transpose()?;
    let mut stored = CompactFrames::at(path.to_owned());
    let trouble = stored.refresh().err();
    let named = stored.index.get(..frames.len()).unwrap_or_default();
    let end = named.last().map_or(0, Entry::end);
    let fits = named.len() == frames.len() && named.iter().zip(frames).all(|(entry, stamp)| entry.step == stamp.step);
    match held {
        Some(held) if fits && held.bytes == end => Ok(held),
        None if fits => check_grown(path, &Grown { bytes: end, checksum: None }),
        _ => Err(trouble.unwrap_or_else(|| {
            let (found, expected) = (stored.index.len(), frames.len());
            stored.damaged(format!("it holds {found} frames, the checkpoint was written when there were {expected}"))
        })),
    }
}

/// The frames of a run that a [`Recorder`](super::Recorder) stored in `frames.bin`, which may be growing meanwhile.
#[derive(Debug)]
pub struct CompactFrames {
    path: PathBuf,
    index: Vec<Entry>,
    /// Whether the file ends within a record: a run is writing it, or was stopped while it did.
    unfinished: bool,
}

/// Where a record is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    step: u64,
    time: f64,
    /// Of the body (bytes).
    start: u64,
    length: u64,
    /// Of the columns before the sections (bytes).
    columns: u64,
    particles: u64,
    backs: Backs,
}

impl Entry {
    fn end(&self) -> u64 {
        self.start + self.length
    }

    /// Where the section of properties is in the body (bytes).
    fn properties(&self) -> (u64, u64) {
        (self.columns, if self.backs.properties == 0 { PROPERTIES * self.particles } else { 0 })
    }
}

impl CompactFrames {
    /// The frames in the folder of a run; none before the first [`refresh`](Self::refresh).
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self::at(folder.join(FILE))
    }

    fn at(path: PathBuf) -> Self {
        Self { path, index: Vec::new(), unfinished: false }
    }

    /// Step and time of the frames, in order.
    #[must_use]
    pub fn stamps(&self) -> impl ExactSizeIterator<Item = (u64, f64)> {
        self.index.iter().map(|entry| (entry.step, entry.time))
    }

    /// Whether the file ends within a record: a run is writing it, or was stopped while it did.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    /// Looks for frames that came since the last time. After an error those before the trouble can be read.
    pub fn refresh(&mut self) -> Result<(), TrajectoryError> {
        let mut file = File::open(&self.path).map_err(TrajectoryError::io("read", &self.path))?;
        let length = file.metadata().map_err(TrajectoryError::io("read", &self.path))?.len();
        let mut at = self.index.last().map_or(0, Entry::end);
        if length < at {
            self.index.clear(); // another run took its place
            at = 0;
        }
        while at < length {
            let mut bytes = [0; PREFIX + HEAD];
            let there = bytes.len().min((length - at) as usize);
            let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes[..there]));
            read.map_err(TrajectoryError::io("read", &self.path))?;
            self.unfinished = true;
            let Some(entry) = self.entry(&bytes[..there], at)? else { return Ok(()) };
            if entry.end() > length {
                return Ok(());
            }
            at = entry.end();
            self.index.push(entry);
        }
        self.unfinished = false;
        Ok(())
    }

    /// What a record's first bytes tell; none if some of them are missing.
    fn entry(&self, bytes: &[u8], at: u64) -> Result<Option<Entry>, TrajectoryError> {
        let known = bytes.len().min(TAG.len());
        if bytes[..known] != TAG[..known] {
            return Err(self.damaged(format!("there is no frame at byte {at}, {}", self.place())));
        }
        let number = |from: usize| u32::from_le_bytes([bytes[from], bytes[from + 1], bytes[from + 2], bytes[from + 3]]);
        if bytes.len() >= 8 && number(4) > VERSION {
            let path = self.path.clone();
            return Err(TrajectoryError::NewerFormat { path, found: number(4), known: VERSION });
        }
        if bytes.len() < PREFIX + HEAD {
            return Ok(None);
        }
        let wide = |from: usize| u64::from(number(from)) | u64::from(number(from + 4)) << 32;
        let count = |from: usize| u64::from(number(PREFIX + from));
        let (dimension, particles, contacts, walls) = (count(40), count(44), count(48), count(52));
        let misfit = || self.damaged(format!("the frame at byte {at}, {}, does not fit its length", self.place()));
        if !(2..=3).contains(&dimension) {
            return Err(misfit()); // before it is multiplied with the other counts
        }
        let entry = Entry {
            step: wide(PREFIX),
            time: f64::from_bits(wide(PREFIX + 8)),
            start: at + PREFIX as u64,
            length: number(8).into(),
            columns: HEAD as u64 + 4 * (dimension * (2 * particles + walls) + 5 * contacts),
            particles,
            backs: Backs { properties: number(PREFIX + BACKS.start), obstacles: number(PREFIX + BACKS.start + 4) },
        };
        let frames = self.index.len() as u64;
        let (start, size) = entry.properties();
        let fits =
            start + size <= entry.length && u64::from(entry.backs.properties.max(entry.backs.obstacles)) <= frames;
        if fits { Ok(Some(entry)) } else { Err(misfit()) }
    }

    /// Where the record after the last good one is, in words.
    fn place(&self) -> String {
        self.index.last().map_or_else(|| "the first".to_owned(), |entry| format!("after that of step {}", entry.step))
    }

    /// One frame as a whole record.
    ///
    /// # Panics
    /// If there are no more than `k` frames.
    pub fn read(&self, k: usize) -> Result<Vec<u8>, TrajectoryError> {
        let entry = &self.index[k];
        let record = self.bytes(entry.start - PREFIX as u64, PREFIX as u64 + entry.length)?;
        let (stored, computed) = (&record[12..PREFIX], crc32fast::hash(&record[PREFIX..]));
        let stored = u32::from_le_bytes([stored[0], stored[1], stored[2], stored[3]]);
        if stored != computed {
            return Err(TrajectoryError::Checksum { path: self.path.clone(), stored, computed });
        }
        if entry.backs == Backs::default() {
            return Ok(record);
        }
        let columns = &record[PREFIX..][..entry.columns as usize];
        let sections = Sections { properties: self.properties(k)?, obstacles: self.obstacles(k)? };
        self::record(columns, &sections, Backs::default()).map_err(TrajectoryError::io("read", &self.path))
    }

    fn properties(&self, k: usize) -> Result<Vec<u8>, TrajectoryError> {
        let owner = &self.index[k - self.index[k].backs.properties as usize];
        if owner.backs.properties != 0 || owner.particles != self.index[k].particles {
            return Err(self.damaged(format!("frame {k} names a frame that does not hold its particles")));
        }
        let (start, size) = owner.properties();
        self.bytes(owner.start + start, size)
    }

    fn obstacles(&self, k: usize) -> Result<Vec<u8>, TrajectoryError> {
        let owner = &self.index[k - self.index[k].backs.obstacles as usize];
        let (start, size) = owner.properties();
        self.bytes(owner.start + start + size, owner.length - start - size)
    }

    fn bytes(&self, start: u64, length: u64) -> Result<Vec<u8>, TrajectoryError> {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = vec![0; length as usize];
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(TrajectoryError::io("read", &self.path))
    }

    fn damaged(&self, reason: String) -> TrajectoryError {
        TrajectoryError::Damaged { path: self.path.clone(), reason }
    }
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
