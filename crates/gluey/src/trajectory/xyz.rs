//! Frames for OVITO: extended XYZ, one frame after the other in one text file.
//!
//! The names of the properties are those OVITO (and ASE) map by themselves. Numbers have 17 significant digits, which
//! a reader turns back into the same f64.

use std::io::{self, BufRead, Write};

use glam::DVec3;

use super::{Frame, Group};
use crate::geometry::Particles;

/// Appends one frame: the number of particles, a line of keys, then one line a particle.
pub(super) fn write_frame(frame: &Frame, groups: &[Group], out: &mut dyn Write) -> io::Result<()> {
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
pub(super) fn count_frames(mut text: impl BufRead) -> io::Result<usize> {
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
