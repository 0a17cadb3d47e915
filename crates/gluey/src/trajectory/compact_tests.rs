use std::fs;

use super::*;
use crate::contact::{Contact, ContactGeometry, Pair};
use crate::trajectory::ObstacleSurface;

fn particles(count: u32, shift: f64) -> Particles {
    let mut particles = Particles::default();
    for k in 0..count {
        particles.push(DVec3::new(1e6 + f64::from(k), shift, 0.0), 0.5, 2.0);
        particles.velocity[k as usize] = DVec3::new(0.0, 7.0, 0.0);
        particles.group[k as usize] = k % 2;
    }
    particles
}

fn surface(shift: f64) -> ObstacleSurface {
    let points = vec![DVec3::ZERO, DVec3::X + shift * DVec3::Y];
    ObstacleSurface { points, triangles: Vec::new(), lines: vec![[0, 1]], moving: shift != 0.0 }
}

fn contacts() -> [ContactGeometry; 2] {
    let geometry = |pair, gamma| ContactGeometry {
        contact: Contact { pair, gamma, impulse: 0.25 },
        gap: 1e-9,
        normal: DVec3::NEG_Y,
    };
    [geometry(Pair::particles(0, 1), -3.0), geometry(Pair::obstacle(1, 0, 4), f64::NEG_INFINITY)]
}

/// Calls with four frames: a particle is added in the third, the obstacle moves in the fourth.
fn frames(mut take: impl FnMut(&Frame)) {
    for (k, (count, shift)) in [(2, 0.0), (2, 0.0), (3, 0.0), (3, 1.0)].into_iter().enumerate() {
        let (particles, contacts, obstacles) = (particles(count, k as f64 / 8.0), contacts(), [surface(shift)]);
        let (step, time) = (10 * k as u64, k as f64);
        take(&Frame { step, time, particles: &particles, contacts: &contacts, obstacles: &obstacles, clump: &[] });
    }
}

fn stored() -> (tempfile::TempDir, CompactFrames, Vec<Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(&folder.path().join(FILE), 2).unwrap();
    let mut whole = Vec::new();
    frames(|frame| {
        writer.append(frame, &[]).unwrap();
        writer.append(frame, &[]).unwrap(); // the second is no other frame
        whole.push(encode(frame, 2).unwrap());
    });
    let mut stored = CompactFrames::new(folder.path());
    stored.refresh().unwrap();
    (folder, stored, whole)
}

#[test]
fn a_record_holds_the_frame_where_the_layout_says() {
    let mut first = None;
    frames(|frame| {
        first.get_or_insert_with(|| encode(frame, 2).unwrap());
    });
    let record = first.unwrap();
    let body = &record[16..];
    let number = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
    let float = |at: usize| f32::from_bits(number(at));
    assert_eq!(&record[..8], b"GFRM\x01\0\0\0");
    assert_eq!([40, 44, 48, 52, 56].map(number), [2, 2, 2, 1, 1]);
    assert_eq!(f64::from_le_bytes(body[16..24].try_into().unwrap()), 1e6 + 0.5, "the origin");
    assert_eq!([72, 76, 80, 84].map(float), [-0.5, 0.0, 0.5, 0.0], "positions from there");
    assert_eq!([88, 92].map(float), [0.0, 7.0]);
    assert_eq!([104, 108, 112, 116].map(number), [0, 1, 1, u32::MAX], "i, then j or the obstacle");
    assert_eq!([120, 124, 128, 136].map(float), [-3.0, f32::NEG_INFINITY, 0.25, 1e-9]);
    assert_eq!([144, 148].map(float), [0.0, -1.0], "the normal of the contact with the wall");
    assert_eq!([152, 160].map(number), [0, 1], "ids");
    assert_eq!([168, 176].map(float), [0.5, 2.0], "radius, mass");
    assert_eq!([184, 188].map(number), [0, 1], "groups");
    assert_eq!([192, 196, 200, 204].map(number), [2, 0, 1, 0]);
    assert_eq!([220, 232, 236].map(number), [1_f32.to_bits(), 0, 1]);
    assert_eq!(body.len(), 240);
}

#[test]
fn a_frame_in_seven_dimensions_is_an_error_and_no_panic() {
    frames(|frame| {
        for dimension in [0, 1, 4, 7, u8::MAX] {
            let told = encode(frame, dimension).unwrap_err().to_string();
            assert_eq!(told, format!("a frame has 2 or 3 dimensions, not {dimension}"));
        }
    });
}

#[test]
fn what_stays_is_stored_once_and_given_back_with_every_frame() {
    let (_folder, stored, whole) = stored();
    assert_eq!(stored.stamps().collect::<Vec<_>>(), [(0, 0.0), (10, 1.0), (20, 2.0), (30, 3.0)]);
    let backs: Vec<_> = stored.index.iter().map(|entry| (entry.backs.properties, entry.backs.obstacles)).collect();
    assert_eq!(backs, [(0, 0), (1, 1), (0, 2), (1, 0)]);
    for (k, record) in whole.iter().enumerate() {
        assert!(stored.read(k).unwrap() == *record, "frame {k}");
    }
}

#[test]
fn a_file_that_is_being_written_can_be_read() {
    let (folder, stored, whole) = stored();
    let path = folder.path().join(FILE);
    let bytes = fs::read(&path).unwrap();
    let ends: Vec<u64> = stored.index.iter().map(Entry::end).collect();
    let mut growing = CompactFrames::new(folder.path());
    for length in 0..=bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        growing.refresh().unwrap();
        let there = ends.iter().filter(|end| **end <= length as u64).count();
        assert_eq!(growing.stamps().len(), there);
        assert_eq!(growing.is_unfinished(), length > 0 && !ends.contains(&(length as u64)));
    }
    assert!(growing.read(3).unwrap() == whole[3]);
    fs::write(&path, &bytes[..ends[0] as usize]).unwrap();
    growing.refresh().unwrap();
    assert_eq!(growing.stamps().len(), 1, "another run in its place");
}

#[test]
fn damage_and_newer_versions_are_told() {
    let (folder, stored, _) = stored();
    let path = folder.path().join(FILE);
    let good = fs::read(&path).unwrap();
    let second = stored.index[1].start as usize - PREFIX;
    let told = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        fs::write(&path, bytes).unwrap();
        let mut stored = CompactFrames::new(folder.path());
        let trouble = stored.refresh().err().map(|error| error.to_string());
        (stored.stamps().len(), trouble.unwrap_or_default())
    };
    let (there, trouble) = told(second, b'X');
    let place = format!("damaged: there is no frame at byte {second}, after that of step {}", stored.index[0].step);
    assert!(there == 1 && trouble.contains(&place), "{there} {trouble}");
    let (there, trouble) = told(4, 9);
    assert!(there == 0 && trouble.contains("newer version of gluey: its format is 9"), "{there} {trouble}");
    let (there, trouble) = told(second + PREFIX + 44 + 2, 1);
    assert!(there == 1 && trouble.contains("does not fit its length"), "{there} {trouble}");
    for byte in 40..44 {
        let (there, trouble) = told(second + PREFIX + byte, 0xff); // as many dimensions as overflow a product
        assert!(there == 1 && trouble.contains("does not fit its length"), "{there} {trouble}");
    }
    let (there, trouble) = told(second + PREFIX + BACKS.start, 9);
    assert!(there == 1 && trouble.contains("does not fit"), "{there} {trouble}");
    assert_eq!(told(second + PREFIX + HEAD, 1).0, 4);
    assert!(matches!(stored.read(1), Err(TrajectoryError::Checksum { .. })));
}
