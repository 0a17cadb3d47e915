//! The frames of a run read back: what [`Recorder`](super::Recorder) wrote for `ParaView` is what is read here, to the
//! bit.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::paraview::{CONTACTS, FRAMES, OBSTACLES, PARTICLES, frame_file, frame_list};
use super::polydata::{PolyData, attribute};
use super::recorder::MANIFEST;
use super::{Frame, FrameStamp, Manifest, ObstacleSurface, TrajectoryError};
use crate::contact::{Contact, ContactGeometry, Pair};
use crate::format::Format;
use crate::geometry::Particles;
use crate::projection::NO_CLUMP;

/// One moment of a run, as its frame shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The number n of steps taken.
    pub step: u64,
    /// Time tⁿ (time).
    pub time: f64,
    /// The particles.
    pub particles: Particles,
    /// The contacts; they name particles of this frame.
    pub contacts: Vec<ContactGeometry>,
    /// Drawings of the obstacles in the scene's order. What is infinite was clipped when the frame was written; `moving` tells
    /// whether any of them moves.
    pub obstacles: Vec<ObstacleSurface>,
    /// The clump of each particle, [`NO_CLUMP`] in none; empty where there are no clumps.
    pub clump: Vec<u32>,
}

impl Snapshot {
    /// As what a recorder takes.
    #[must_use]
    pub fn frame(&self) -> Frame<'_> {
        let Self { step, time, particles, contacts, obstacles, clump } = self;
        Frame { step: *step, time: *time, particles, contacts, obstacles, clump }
    }
}

/// The frames in the folder of a run. The run may go on meanwhile: what was there when the list was read stays readable.
#[derive(Debug)]
pub struct Snapshots {
    folder: PathBuf,
    manifest: Manifest,
    stamps: Vec<FrameStamp>,
}

impl Snapshots {
    /// Reads which frames there are. A run that has just started may have none.
    pub fn open(folder: &Path) -> Result<Self, TrajectoryError> {
        let manifest = Manifest::read(&folder.join(MANIFEST))?;
        if !manifest.formats.contains(Format::Vtk) {
            return Err(TrajectoryError::NoFrames { path: folder.to_owned() });
        }
        let obstacles = listed(folder, OBSTACLES)?;
        let mut stamps: Vec<FrameStamp> = Vec::new();
        for (index, (time, step)) in listed(folder, PARTICLES)?.into_iter().enumerate() {
            // The lists have an entry a frame, but for that of obstacles where there are none.
            stamps.push(FrameStamp { step, time, obstacles: obstacles.get(index).map(|(_, step)| *step) });
        }
        Ok(Self { folder: folder.to_owned(), manifest, stamps })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was run.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// When the frames were recorded, in order.
    #[must_use]
    pub fn stamps(&self) -> &[FrameStamp] {
        &self.stamps
    }

    /// Reads one frame, whole or not at all.
    pub fn read(&self, stamp: &FrameStamp) -> Result<Snapshot, TrajectoryError> {
        let (particles, clump) = self.read_file(PARTICLES, stamp.step, |file| {
            let particles = particles(file)?;
            let clump = clumps(file, particles.len())?;
            Ok((particles, clump))
        })?;
        let contacts = self.read_file(CONTACTS, stamp.step, |file| contacts(file, particles.len()))?;
        let names = &self.manifest.info.obstacle_names;
        let obstacles = match stamp.obstacles {
            None => Vec::new(),
            Some(step) => self.read_file(OBSTACLES, step, |file| surfaces(file, names.len()))?,
        };
        Ok(Snapshot { step: stamp.step, time: stamp.time, particles, contacts, obstacles, clump })
    }

    fn read_file<T>(
        &self,
        kind: &str,
        step: u64,
        take: impl FnOnce(&PolyData) -> Result<T, TrajectoryError>,
    ) -> Result<T, TrajectoryError> {
        let path = self.folder.join(FRAMES).join(frame_file(kind, step));
        let bytes = fs::read(&path).map_err(TrajectoryError::io("read", &path))?;
        take(&PolyData::parse(&bytes, &path)?)
    }
}

/// Times and steps in the list of a kind of frames; there is no list of nothing.
fn listed(folder: &Path, kind: &str) -> Result<Vec<(f64, u64)>, TrajectoryError> {
    let path = folder.join(frame_list(kind));
    let text = match fs::read_to_string(&path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(TrajectoryError::io("read", &path))?,
    };
    let entry = |line: &str| {
        let time = attribute(line, "timestep")?.parse().ok()?;
        let file = attribute(line, "file")?.strip_suffix(".vtp")?;
        Some((time, file.rsplit_once('_')?.1.parse().ok()?))
    };
    let mut lines = text.lines().filter(|line| line.starts_with("<DataSet ")).peekable();
    let mut entries = Vec::new();
    while let Some(line) = lines.next() {
        match entry(line) {
            Some(entry) => entries.push(entry),
            None if lines.peek().is_none() => {} // it is being written, or its run was killed while it did
            None => {
                return Err(TrajectoryError::Damaged { path, reason: format!("`{line}` is no frame") });
            }
        }
    }
    Ok(entries)
}

fn particles(file: &PolyData) -> Result<Particles, TrajectoryError> {
    // Frames of runs without openings have counted from 0 since there are frames.
    let id: Vec<u64> = file.indices("PointData", "id")?.into_iter().map(u64::from).collect();
    let particles = Particles {
        born: id.iter().max().map_or(0, |last| last + 1),
        id,
        position: file.vectors("Points", "Points")?,
        velocity: file.vectors("PointData", "velocity")?,
        radius: file.floats("PointData", "radius")?,
        mass: file.floats("PointData", "mass")?,
        group: file.indices("PointData", "group")?,
        cell: file.cell,
    };
    let Particles { velocity, radius, mass, group, id, .. } = &particles;
    if [velocity.len(), radius.len(), mass.len(), group.len(), id.len()].iter().any(|length| *length != particles.len())
    {
        return Err(file.damaged("its columns differ in length"));
    }
    Ok(particles)
}

/// The clump of each particle; a file of a run without clumps has no such column.
fn clumps(file: &PolyData, particles: usize) -> Result<Vec<u32>, TrajectoryError> {
    if !file.has("PointData", "clump") {
        return Ok(Vec::new());
    }
    let numbers = file.integers("PointData", "clump")?;
    if numbers.len() != particles {
        return Err(file.damaged("its columns differ in length"));
    }
    let one = |number: i64| if number == -1 { Some(NO_CLUMP) } else { u32::try_from(number).ok() };
    let wrong = |number: i64| file.damaged(format!("{number} is no clump"));
    numbers.into_iter().map(|number| one(number).ok_or_else(|| wrong(number))).collect()
}

fn contacts(file: &PolyData, particles: usize) -> Result<Vec<ContactGeometry>, TrajectoryError> {
    let cells = "CellData";
    let (gap, normal) = (file.floats(cells, "gap")?, file.vectors(cells, "normal")?);
    let (gamma, impulse) = (file.floats(cells, "gamma")?, file.floats(cells, "impulse")?);
    let (first, second) = (file.indices(cells, "i")?, file.integers(cells, "j")?);
    let (obstacle, feature) = (file.integers(cells, "obstacle")?, file.integers(cells, "feature")?);
    let count = gap.len();
    let columns = [normal.len(), gamma.len(), impulse.len(), first.len(), second.len(), obstacle.len(), feature.len()];
    if columns.iter().any(|length| *length != count) {
        return Err(file.damaged("its columns differ in length"));
    }
    let one = |k: usize| {
        let there = |index: u32| (index as usize) < particles;
        let i = Some(first[k]).filter(|i| there(*i))?;
        let pair = match u32::try_from(second[k]) {
            Ok(j) => Some(j).filter(|j| there(*j) && *j != i).map(|j| Pair::particles(i, j)),
            Err(_) => Some(Pair::obstacle(i, obstacle[k].try_into().ok()?, feature[k].try_into().ok()?)),
        }?;
        let contact = Contact { pair, gamma: gamma[k], impulse: impulse[k] };
        Some(ContactGeometry { contact, gap: gap[k], normal: normal[k] })
    };
    (0..count).map(|k| one(k).ok_or_else(|| file.damaged(format!("contact {k} is between nobody")))).collect()
}

/// The drawings of the obstacles, each with its own points as when it was written.
fn surfaces(file: &PolyData, obstacles: usize) -> Result<Vec<ObstacleSurface>, TrajectoryError> {
    let points = file.vectors("Points", "Points")?;
    let owners = file.indices("CellData", "obstacle")?;
    let (lines, triangles) = (file.integers("Lines", "connectivity")?, file.integers("Polys", "connectivity")?);
    let (lines, triangles) = (lines.as_chunks::<2>().0, triangles.as_chunks::<3>().0);
    let wrong = || file.damaged("its cells do not fit its points and obstacles");
    if owners.len() != lines.len() + triangles.len() {
        return Err(wrong());
    }
    let (line_owners, triangle_owners) = owners.split_at(lines.len());
    // A file that serves all times has none of its own.
    let moving = file.time.is_some();
    let mut surfaces = vec![ObstacleSurface { moving, ..ObstacleSurface::default() }; obstacles];
    let mut spans = vec![(usize::MAX, 0); obstacles];
    let cells = lines.iter().map(|cell| &cell[..]).zip(line_owners);
    for (corners, owner) in cells.chain(triangles.iter().map(|cell| &cell[..]).zip(triangle_owners)) {
        let span = spans.get_mut(*owner as usize).ok_or_else(wrong)?;
        for corner in corners {
            let corner = usize::try_from(*corner).ok().filter(|corner| *corner < points.len()).ok_or_else(wrong)?;
            *span = (span.0.min(corner), span.1.max(corner + 1));
        }
    }
    for (surface, (start, end)) in surfaces.iter_mut().zip(&spans) {
        surface.points = points.get(*start..*end).unwrap_or_default().to_vec();
    }
    let shifted = |corner: i64, owner: u32| (corner as usize - spans[owner as usize].0) as u32;
    for (cell, owner) in lines.iter().zip(line_owners) {
        surfaces[*owner as usize].lines.push(cell.map(|corner| shifted(corner, *owner)));
    }
    for (cell, owner) in triangles.iter().zip(triangle_owners) {
        surfaces[*owner as usize].triangles.push(cell.map(|corner| shifted(corner, *owner)));
    }
    Ok(surfaces)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::format::Formats;
    use crate::geometry::Cell;
    use crate::trajectory::{IfPresent, Recorder, RunInfo};

    fn snapshot(step: u64) -> Snapshot {
        let mut particles = Particles::default();
        for k in 0..3_u32 {
            particles.push(DVec3::new(f64::from(k) / 3.0, -0.0, 1e-300), 0.1 + f64::from(k), 7.0 / 9.0);
            particles.group[k as usize] = k % 2;
            particles.velocity[k as usize] = DVec3::new(f64::MIN_POSITIVE / 2.0, step as f64, -1.0 / 3.0);
        }
        let contact = |pair, gamma, impulse, normal| ContactGeometry {
            contact: Contact { pair, gamma, impulse },
            gap: 1e-9 * step as f64,
            normal,
        };
        let contacts = vec![
            contact(Pair::particles(0, 1), -1.0 / 3.0, 0.5, DVec3::X),
            contact(Pair::obstacle(2, 1, 4), f64::NEG_INFINITY, -0.25, -DVec3::Z),
        ];
        let wire = ObstacleSurface { points: vec![DVec3::X, DVec3::Y], lines: vec![[1, 0]], ..Default::default() };
        let plate = ObstacleSurface {
            points: [DVec3::X, DVec3::Y, DVec3::Z].map(|corner| corner * (1.0 + step as f64)).to_vec(),
            triangles: vec![[0, 1, 2], [2, 1, 0]],
            ..Default::default()
        };
        let obstacles = vec![ObstacleSurface { moving: true, ..wire }, ObstacleSurface { moving: true, ..plate }];
        Snapshot { step, time: 0.1 * step as f64, particles, contacts, obstacles, clump: Vec::new() }
    }

    /// A run folder with these frames.
    fn recorded(snapshots: &[Snapshot], formats: Formats) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let names = (0..snapshots[0].obstacles.len()).map(|k| format!("obstacle{k}")).collect();
        let info = RunInfo { dimension: 3, dt: 0.1, obstacle_names: names, ..RunInfo::default() };
        let mut recorder = Recorder::create(folder.path(), &info, formats, IfPresent::Refuse).unwrap();
        for snapshot in snapshots {
            recorder.record_frame(&snapshot.frame()).unwrap();
        }
        folder
    }

    fn read_back(folder: &Path) -> Vec<Snapshot> {
        let stored = Snapshots::open(folder).unwrap();
        stored.stamps().iter().map(|stamp| stored.read(stamp).unwrap()).collect()
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        assert_eq!(read_back(recorded(&[snapshot(7)], Formats::ALL).path()), [snapshot(7)]);
        let written = [snapshot(0), snapshot(7), snapshot(123_456_789)];
        let folder = recorded(&written, Formats::ALL);
        assert_eq!(read_back(folder.path()), written);
        let zero = read_back(folder.path())[1].particles.position[1].y;
        assert!(zero == 0.0 && zero.is_sign_negative(), "to the bit");
    }

    #[test]
    fn a_periodic_cell_is_read_back_to_the_bit_and_contacts_are_drawn_across_its_faces() {
        let mut written = snapshot(3);
        let (lower, period) = (DVec3::new(-1.0 / 3.0, 0.0, 1e-7), DVec3::new(1.1, 0.0, 7.0 / 9.0));
        written.particles.cell = Some(Cell::with_periods(lower, period).unwrap());
        written.particles.position[1].x = 0.7;
        let folder = recorded(std::slice::from_ref(&written), Formats::ALL);
        assert_eq!(read_back(folder.path()), [written.clone()]);
        let [start, end] = written.frame().contact_line(&written.contacts[0]);
        assert!((end.x - (0.7 - 1.1)).abs() < 1e-15 && start == written.particles.position[0], "{start} {end}");
    }

    #[test]
    fn who_is_in_which_clump_is_read_back() {
        let written = Snapshot { clump: vec![NO_CLUMP, 4, 4], ..snapshot(2) };
        assert_eq!(read_back(recorded(std::slice::from_ref(&written), Formats::ALL).path()), [written]);
    }

    #[test]
    fn obstacles_that_stand_still_are_read_for_every_frame() {
        let mut written = [snapshot(0), snapshot(1)];
        let mut still = written[0].obstacles.clone();
        for surface in &mut still {
            surface.moving = false;
        }
        for snapshot in &mut written {
            snapshot.obstacles.clone_from(&still);
        }
        assert_eq!(read_back(recorded(&written, Formats::ALL).path()), written);
    }

    #[test]
    fn frames_of_nothing_are_read() {
        let empty = Snapshot {
            step: 0,
            time: 0.0,
            particles: Particles::default(),
            contacts: Vec::new(),
            obstacles: Vec::new(),
            clump: Vec::new(),
        };
        assert_eq!(read_back(recorded(std::slice::from_ref(&empty), Formats::ALL).path()), [empty]);
    }

    #[test]
    fn a_run_without_vtk_frames_says_so() {
        let folder = recorded(&[snapshot(0)], Formats::from_iter([Format::Xyz]));
        assert!(matches!(Snapshots::open(folder.path()), Err(TrajectoryError::NoFrames { .. })));
    }

    #[test]
    fn any_cut_is_refused() {
        let folder = recorded(&[snapshot(3)], Formats::ALL);
        let stored = Snapshots::open(folder.path()).unwrap();
        for kind in [PARTICLES, CONTACTS, OBSTACLES] {
            let path = folder.path().join(FRAMES).join(frame_file(kind, 3));
            let whole = fs::read(&path).unwrap();
            for length in 0..whole.len() {
                fs::write(&path, &whole[..length]).unwrap();
                let error = stored.read(&stored.stamps()[0]).unwrap_err();
                let marker = whole.windows(2).position(|two| two == b"\n_").unwrap() + 2;
                match error {
                    TrajectoryError::Truncated { expected, found, .. } => {
                        assert!(found == length as u64 && expected > found && expected <= whole.len() as u64);
                        assert!(length >= marker);
                    }
                    TrajectoryError::Damaged { .. } => assert!(length < marker, "{kind} cut at {length}: {error}"),
                    other => panic!("{other}"),
                }
            }
            fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
            assert!(matches!(stored.read(&stored.stamps()[0]), Err(TrajectoryError::Damaged { .. })));
            fs::write(&path, &whole).unwrap();
        }
        assert_eq!(stored.read(&stored.stamps()[0]).unwrap().step, 3, "and whole again");
    }

    #[test]
    fn contacts_of_nobody_are_refused() {
        let mut few = snapshot(2);
        few.contacts.truncate(1);
        let folder = recorded(std::slice::from_ref(&few), Formats::ALL);
        let stored = Snapshots::open(folder.path()).unwrap();
        // The frame of particles is replaced by one of a single particle, which particle 1 is not.
        let mut alone = few;
        alone.contacts.clear();
        alone.particles.retain(|i| i == 0);
        let other = recorded(&[alone], Formats::ALL);
        let name = format!("{FRAMES}/{}", frame_file(PARTICLES, 2));
        fs::copy(other.path().join(&name), folder.path().join(&name)).unwrap();
        let error = stored.read(&stored.stamps()[0]).unwrap_err();
        assert!(error.to_string().contains("contact 0 is between nobody"), "{error}");
    }
}
