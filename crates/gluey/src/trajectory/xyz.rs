//! Frames for OVITO: extended XYZ, one frame after the other in one text file.
//!
//! The names of the properties are those OVITO (and ASE) map by themselves. Numbers have 17 significant digits, which
//! a reader turns back into the same f64.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use glam::DVec3;

use super::files::{Appended, Checked, check_grown, if_there};
use super::writer::{FrameWriter, Home, Kind, Made};
use super::{Frame, FrameStamp, Group, Grown, TrajectoryError};
use crate::geometry::Particles;

/// The file in a run folder.
const FILE: &str = "trajectory.xyz";

pub(super) const KIND: Kind = Kind {
    create: |home| Ok(writer(home, Appended::create(&home.folder.join(FILE))?, &[])),
    check: |home, _, grown| check_grown(&home.folder.join(FILE), &grown.unwrap_or_default()).map(Some),
    resume,
    remove: |folder| super::files::remove(&folder.join(FILE)),
    count,
};

/// Writes the file of a run.
#[derive(Debug)]
struct Writer {
    file: Appended,
    groups: Vec<Group>,
    /// Step of the last frame.
    last: Option<u64>,
}

fn writer(home: Home, file: Appended, frames: &[FrameStamp]) -> Box<dyn FrameWriter> {
    Box::new(Writer { file, groups: home.info.groups.clone(), last: frames.last().map(|stamp| stamp.step) })
}

fn resume(home: Home, frames: &[FrameStamp], held: Option<Checked>) -> Made {
    Ok(writer(home, Appended::resume(&home.folder.join(FILE), held.unwrap_or_default())?, frames))
}

impl FrameWriter for Writer {
    fn append(&mut self, frame: &Frame, _: &[FrameStamp]) -> Result<(), TrajectoryError> {
        if self.last == Some(frame.step) {
            return Ok(());
        }
        let Self { file, groups, last } = self;
        file.append(|out| write_frame(frame, groups, out))?;
        *last = Some(frame.step);
        Ok(())
    }

    fn check_place(&self) -> Result<(), TrajectoryError> {
        self.file.check_place()
    }

    fn sync(&mut self) -> Result<(), TrajectoryError> {
        self.file.sync()
    }

    fn grown(&self) -> Option<Grown> {
        Some(self.file.grown())
    }
}

fn count(folder: &Path) -> Result<usize, TrajectoryError> {
    let path = folder.join(FILE);
    let count = || if_there(File::open(&path))?.map_or(Ok(0), |file| count_frames(BufReader::new(file)));
    count().map_err(TrajectoryError::io("read", &path))
}

/// Appends one frame: the number of particles, a line of keys, then one line a particle.
fn write_frame(frame: &Frame, groups: &[Group], out: &mut dyn Write) -> io::Result<()> {
    let particles = frame.particles;
    let species: Vec<String> = groups.iter().map(|group| one_word(&group.name)).collect();
    writeln!(out, "{}", particles.len())?;
    writeln!(
        out,
        r"Properties=species:S:1:pos:R:3:velo:R:3:radius:R:1:mass:R:1:group:I:1:id:I:1:contacts:I:1 Time={:.16e} Step={} {}",
        frame.time,
        frame.step,
        lattice(particles)
    )?;
    for (i, contacts) in frame.contacts_per_particle().into_iter().enumerate() {
        let group = particles.group[i];
        match species.get(group as usize) {
            Some(name) => write!(out, "{name}")?,
            None => write!(out, "group{group}")?,
        }
        for value in particles.position[i].to_array().into_iter().chain(particles.velocity[i].to_array()) {
            write!(out, " {value:.16e}")?;
        }
        let (radius, mass) = (particles.radius[i], particles.mass[i]);
        writeln!(out, " {radius:.16e} {mass:.16e} {group} {} {contacts}", particles.id[i])?;
    }
    Ok(())
}

/// What tells readers which directions are periodic. They want an end of the cell along the others, too: there it just holds
/// the particles.
fn lattice(particles: &Particles) -> String {
    let Some(cell) = particles.cell else { return r#"pbc="F F F""#.to_owned() };
    let balls = || particles.position.iter().zip(&particles.radius);
    let least = balls().fold(DVec3::INFINITY, |least, (x, r)| least.min(*x - *r));
    let greatest = balls().fold(DVec3::NEG_INFINITY, |greatest, (x, r)| greatest.max(*x + *r));
    let (mut origin, mut size) = (least, greatest - least);
    for axis in cell.axes() {
        (origin[axis], size[axis]) = (cell.lower()[axis], cell.period()[axis]);
    }
    let [x, y, z] = size.to_array();
    let [a, b, c] = origin.to_array();
    let [p, q, r] = [0, 1, 2].map(|axis| if cell.is_periodic(axis) { 'T' } else { 'F' });
    format!(r#"Lattice="{x:.16e} 0 0 0 {y:.16e} 0 0 0 {z:.16e}" Origin="{a:.16e} {b:.16e} {c:.16e}" pbc="{p} {q} {r}""#)
}

/// Columns are separated by blanks, so a name may hold none and must not be empty.
fn one_word(name: &str) -> String {
    if name.is_empty() {
        return "_".into();
    }
    name.chars().map(|letter| if letter.is_whitespace() || letter.is_control() { '_' } else { letter }).collect()
}

/// How many whole frames the text holds; one that is still being written does not count.
fn count_frames(mut text: impl BufRead) -> io::Result<usize> {
    let mut frames = 0;
    let mut line = Vec::new();
    let mut next_line = |line: &mut Vec<u8>| -> io::Result<bool> {
        line.clear();
        text.read_until(b'\n', line)?;
        Ok(line.ends_with(b"\n"))
    };
    while next_line(&mut line)? {
        let particles: u64 = match std::str::from_utf8(&line).ok().and_then(|count| count.trim().parse().ok()) {
            Some(count) => count,
            None => return Err(io::Error::new(io::ErrorKind::InvalidData, "a number of particles was expected")),
        };
        for _ in 0..=particles {
            if !next_line(&mut line)? {
                return Ok(frames);
            }
        }
        frames += 1;
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Cell;

    fn text(particles: &Particles, groups: &[Group]) -> String {
        let frame = Frame { step: 12, time: 0.1, particles, contacts: &[], obstacles: &[], clump: &[] };
        let mut out = Vec::new();
        write_frame(&frame, groups, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_read_back_are_the_same_bits() {
        let mut particles = Particles::default();
        let position = DVec3::new(1.0 / 3.0, -1e-300, std::f64::consts::PI * 1e200);
        particles.push(position, 0.1, 7.0 / 9.0);
        let text = text(&particles, &[Group { name: "fine sand".into(), colour: [0; 3] }]);
        let row: Vec<&str> = text.lines().nth(2).unwrap().split(' ').collect();
        assert_eq!(row[0], "fine_sand");
        let numbers: Vec<f64> = row[1..].iter().map(|word| word.parse().unwrap()).collect();
        assert_eq!(numbers, [position.x, position.y, position.z, 0.0, 0.0, 0.0, 0.1, 7.0 / 9.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_periodic_cell_is_told() {
        let mut particles = Particles::default();
        particles.push(DVec3::new(0.5, 3.0, -1.0), 0.25, 1.0);
        assert!(text(&particles, &[]).lines().nth(1).unwrap().ends_with(r#" pbc="F F F""#));
        particles.cell = Some(Cell::new([Some([-1.0, 2.0]), None, None]).unwrap());
        let line = text(&particles, &[]).lines().nth(1).unwrap().to_owned();
        assert!(line.ends_with(r#" pbc="T F F""#), "{line}");
        let numbers = |key: &str| -> Vec<f64> {
            let text = line.split_once(key).unwrap().1.split('"').nth(1).unwrap();
            text.split(' ').map(|word| word.parse().unwrap()).collect()
        };
        assert_eq!(numbers("Lattice="), [3.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5]);
        assert_eq!(numbers("Origin="), [-1.0, 2.75, -1.25]);
    }

    #[test]
    fn every_row_has_a_species() {
        let mut particles = Particles::default();
        particles.push(DVec3::ZERO, 1.0, 1.0);
        let no_name = Group { name: String::new(), colour: [0; 3] };
        assert!(text(&particles, &[no_name]).lines().nth(2).unwrap().starts_with("_ "));
        assert!(text(&particles, &[]).lines().nth(2).unwrap().starts_with("group0 "));
    }

    #[test]
    fn only_whole_frames_count() {
        let mut particles = Particles::default();
        particles.push(DVec3::ZERO, 1.0, 1.0);
        particles.push(DVec3::X, 1.0, 1.0);
        let twice = text(&particles, &[]).repeat(2);
        let count = |text: &str| count_frames(text.as_bytes()).unwrap();
        assert_eq!(count(&twice), 2);
        assert_eq!(count(&twice[..twice.len() - 1]), 1);
        assert_eq!(count(""), 0);
        assert_eq!(count(&text(&Particles::default(), &[])), 1);
        assert!(count_frames("hello\n".as_bytes()).is_err());
    }
}
