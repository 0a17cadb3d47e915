//! Where particles come from: lists, CSV files, lattices, random fills.

use std::f64::consts::PI;
use std::ops::Range;
use std::path::Path;

use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::attachment;
use super::diagnostics::Problem;
use super::file::{Arrangement, FillFile, LatticeFile, ParticlesFile, RegionFile, SourceFile};
use super::occupied::Crowd;
use super::periodic;
use super::tree::Place;
use super::value::{Name, Radii, Vector, shown, usable};
use crate::choice::suggestion;
use crate::geometry::{Cell, Particles, Placed, Surroundings, volume};

/// Random places tried for a particle before a fill gives up.
pub(super) const TRIES: usize = 20_000;
/// Particles of one source: a slip of the keyboard is refused before it fills the memory.
pub(super) const MOST: usize = 50_000_000;
/// Streams of random numbers must not depend on how many other sources a scene has.
pub(super) const STREAM: u64 = 0x9E37_79B9_7F4A_7C15;

/// What placing particles needs to know.
pub(super) struct Nursery<'a> {
    pub dimension: usize,
    /// In which space repeats: particles outside are taken to their images inside.
    pub cell: Option<Cell>,
    pub seed: u64,
    /// Folder of the scene file.
    pub folder: &'a Path,
    /// Names of the groups; a particle's group is an index into them.
    pub groups: &'a [String],
    /// The obstacles at t = 0.
    pub obstacles: &'a [Placed<'a>],
    /// The list of sources.
    pub place: Place<'a>,
}

/// A particle being placed.
#[derive(Clone, Copy)]
struct Seedling {
    position: DVec3,
    radius: f64,
    mass: Option<f64>,
    velocity: Option<DVec3>,
    group: Option<u32>,
}

impl Seedling {
    fn new(position: DVec3, radius: f64) -> Self {
        Self { position, radius, mass: None, velocity: None, group: None }
    }
}

impl<'a> Nursery<'a> {
    /// The particles of all sources, in the order of the file.
    pub(super) fn grow(&self, sources: &[ParticlesFile], problems: &mut Vec<Problem>) -> Particles {
        let mut particles = Particles { cell: self.cell, ..Particles::default() };
        for (index, source) in sources.iter().enumerate() {
            match self.one(source, index, &particles) {
                Ok(seedlings) => {
                    let settled = self.settle(source, index, &seedlings, &mut particles);
                    problems.extend(settled.err());
                }
                Err(found) => problems.extend(found),
            }
        }
        particles
    }

    fn one(&self, source: &ParticlesFile, index: usize, placed: &Particles) -> Result<Vec<Seedling>, Vec<Problem>> {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed ^ STREAM.wrapping_mul(index as u64 + 1));
        match &source.source {
            SourceFile::List(list) => {
                let one = |particle: &super::file::ParticleFile| {
                    Ok(Seedling {
                        position: self.vector(&particle.position)?,
                        radius: particle.radius.0,
                        mass: particle.mass.map(|mass| mass.0),
                        velocity: particle.velocity.as_ref().map(|v| self.vector(v)).transpose()?,
                        group: None,
                    })
                };
                list.iter().map(one).collect::<Result<_, Problem>>().map_err(|problem| vec![problem])
            }
            SourceFile::Csv(file) => self.csv(&file.path),
            SourceFile::Lattice(lattice) => self.lattice(lattice, &mut random).map_err(|problem| vec![problem]),
            SourceFile::Fill(fill) => self.fill(fill, placed, &mut random).map_err(|problem| vec![problem]),
        }
    }

    /// Gives seedlings their mass, velocity and group.
    fn settle(
        &self,
        source: &ParticlesFile,
        index: usize,
        seedlings: &[Seedling],
        to: &mut Particles,
    ) -> Result<(), Problem> {
        let place = self.place.index(index);
        let by_name = |name: &Name| self.group(&name.text).map_err(|text| Problem::at(name.span.clone(), text));
        let group = source.group.as_ref().map(by_name).transpose()?;
        let velocity = source.velocity.as_ref().map(|v| self.vector(v)).transpose()?.unwrap_or_default();
        if source.mass.is_some() && source.density.is_some() {
            let problem = place.key("density").problem("these particles have both `mass` and `density`");
            return Err(problem.help("keep one of them"));
        }
        for seedling in seedlings {
            let own = seedling.mass.or_else(|| source.mass.map(|mass| mass.0));
            let Some(mass) = own.or_else(|| source.density.map(|d| d.0 * self.volume(seedling.radius))) else {
                let problem = place.problem("these particles have no mass");
                return Err(problem.help("give `mass` or `density` beside their `source`"));
            };
            if !(mass > 0.0 && mass.is_finite()) {
                let (radius, mass) = (shown(seedling.radius), shown(mass));
                let message = format!("a particle of radius {radius} has a mass of {mass} with this density");
                return Err(place.key("density").problem(message).help("masses must be positive and finite"));
            }
            to.push(self.cell.map_or(seedling.position, |cell| cell.wrap(seedling.position)), seedling.radius, mass);
            let last = to.len() - 1;
            to.velocity[last] = seedling.velocity.unwrap_or(velocity);
            to.group[last] = seedling.group.or(group).unwrap_or(0);
        }
        Ok(())
    }

    /// Of a sphere, in 2D of a disc of unit thickness.
    fn volume(&self, radius: f64) -> f64 {
        volume(radius, self.dimension)
    }

    pub(super) fn vector(&self, vector: &Vector) -> Result<DVec3, Problem> {
        vector.in_dimension(self.dimension).map_err(|message| Problem::at(vector.span.clone(), message))
    }

    /// Where the scene says in which directions space repeats.
    pub(super) fn periodic(&self) -> Place<'a> {
        self.place.file().key("periodic")
    }

    pub(super) fn group(&self, name: &str) -> Result<u32, String> {
        self.groups.iter().position(|known| known == name).map(|index| index as u32).ok_or_else(|| {
            let hint = suggestion(name, self.groups.iter().map(String::as_str));
            let hint = hint.map_or_else(|| "declare it as a [[group]]".to_owned(), |n| format!("did you mean `{n}`?"));
            format!("there is no group `{name}`: {hint}")
        })
    }

    fn csv(&self, path: &Name) -> Result<Vec<Seedling>, Vec<Problem>> {
        let full = self.folder.join(&path.text);
        let at = |message: String| vec![Problem::at(path.span.clone(), message)];
        let shown = full.display().to_string();
        let bytes = attachment::read(&full).map_err(at)?;
        let mut reader =
            csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(bytes.as_slice());
        let header = reader.headers().map_err(|cause| at(format!("{shown}{}", csv_trouble(&cause))))?.clone();
        let known = ["x", "y", "z", "r", "m", "vx", "vy", "vz", "group"];
        if let Some(unknown) = header.iter().find(|name| !known.contains(name)) {
            return Err(at(format!("{shown}: unknown column `{unknown}`; known are {}", known.join(","))));
        }
        if let Some((_, twice)) = header.iter().enumerate().find(|(k, name)| header.iter().take(*k).any(|n| n == *name))
        {
            return Err(at(format!("{shown}: a second column `{twice}`")));
        }
        let column = |name: &str| header.iter().position(|other| other == name);
        let required: &[&str] = if self.dimension == 2 { &["x", "y", "r"] } else { &["x", "y", "z", "r"] };
        if let Some(missing) = required.iter().find(|name| column(name).is_none()) {
            return Err(at(format!(
                "{shown}: column `{missing}` is missing; the header is x,y,z,r[,m,vx,vy,vz,group]"
            )));
        }
        let mut seedlings = Vec::new();
        let mut problems = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|cause| at(format!("{shown}{}", csv_trouble(&cause))))?;
            let line = record.position().map_or(0, csv::Position::line);
            match self.csv_particle(&record, &column) {
                Ok(seedling) => seedlings.push(seedling),
                Err(message) => problems.extend(at(format!("{shown}, line {line}: {message}"))),
            }
            if problems.len() >= 10 {
                break;
            }
        }
        if problems.is_empty() { Ok(seedlings) } else { Err(problems) }
    }

    fn csv_particle(
        &self,
        record: &csv::StringRecord,
        column: &impl Fn(&str) -> Option<usize>,
    ) -> Result<Seedling, String> {
        let number = |name: &str| match column(name).and_then(|index| record.get(index)).filter(|text| !text.is_empty())
        {
            None => Ok(None),
            Some(text) => match text.parse::<f64>() {
                Ok(value) if usable(value) => Ok(Some(value)),
                _ => Err(format!("{name} is `{text}`, which is no finite number of at most 1e100")),
            },
        };
        let required = |name: &str| number(name)?.ok_or_else(|| format!("{name} is empty"));
        let depth = number("z")?.unwrap_or(0.0);
        if self.dimension == 2 && depth != 0.0 {
            return Err(format!("z is {depth}, but a 2D scene has z = 0"));
        }
        let mut seedling = Seedling::new(DVec3::new(required("x")?, required("y")?, depth), required("r")?);
        if seedling.radius <= 0.0 {
            return Err(format!("r is {}; it must be positive", seedling.radius));
        }
        seedling.mass = number("m")?;
        if let Some(mass) = seedling.mass.filter(|mass| *mass <= 0.0) {
            return Err(format!("m is {mass}; it must be positive"));
        }
        seedling.velocity = self.csv_velocity([number("vx")?, number("vy")?, number("vz")?])?;
        if let Some(name) = column("group").and_then(|index| record.get(index)).filter(|name| !name.is_empty()) {
            seedling.group = Some(self.group(name)?);
        }
        Ok(seedling)
    }

    /// A velocity is given whole or not at all: a missing component would pass for 0.
    fn csv_velocity(&self, given: [Option<f64>; 3]) -> Result<Option<DVec3>, String> {
        match (self.dimension, given) {
            (_, [None, None, None]) => Ok(None),
            (2, [_, _, Some(vz)]) if vz != 0.0 => Err(format!("vz is {vz}, but a 2D scene has vz = 0")),
            (2, [Some(vx), Some(vy), _]) => Ok(Some(DVec3::new(vx, vy, 0.0))),
            (_, [Some(vx), Some(vy), Some(vz)]) => Ok(Some(DVec3::new(vx, vy, vz))),
            _ => {
                let missing = ["vx", "vy", "vz"].iter().zip(given).find(|(_, component)| component.is_none());
                let name = missing.map_or("vz", |(name, _)| name);
                Err(format!("{name} is empty, but another component of the velocity is given: give all or none"))
            }
        }
    }

    fn lattice(&self, lattice: &LatticeFile, random: &mut Pcg64Mcg) -> Result<Vec<Seedling>, Problem> {
        let (lower, upper) = (self.vector(&lattice.lower)?, self.vector(&lattice.upper)?);
        let (spacing, radii) = (lattice.spacing.0, lattice.radius);
        let place = lattice.lower.span.clone();
        if 2.0 * radii.greatest > spacing * (1.0 + 1e-12) {
            let message = format!("spheres of radius {} overlap at a spacing of {spacing}", radii.greatest);
            return Err(Problem::at(place, message).help("make `spacing` at least twice the greatest radius"));
        }
        let hexagonal = lattice.arrangement == Arrangement::Hexagonal;
        if hexagonal && self.dimension == 3 {
            return Err(Problem::at(place, "a hexagonal lattice is for 2D scenes").help("use arrangement = \"square\""));
        }
        let steps = DVec3::new(spacing, if hexagonal { spacing * 0.75_f64.sqrt() } else { spacing }, spacing);
        // Sites whose particles lie whole in the box, however they are shaken; a hair of room for rounding.
        let freedom = 0.5 * (spacing - 2.0 * radii.greatest) * lattice.jitter.map_or(0.0, |jitter| jitter.0);
        let margin = radii.greatest + freedom;
        let room = upper - lower - DVec3::splat(2.0 * margin);
        let sites = |axis: usize| {
            if axis == 2 && self.dimension == 2 { 1.0 } else { (room[axis] / steps[axis] + 1e-9).floor() + 1.0 }
        };
        let counts = [sites(0), sites(1), sites(2)];
        // Written so that a size that overflows is refused, too.
        if !counts.iter().all(|count| *count >= 1.0) {
            return Err(Problem::at(place, "no particle of this radius fits between `lower` and `upper`"));
        }
        let all = counts.iter().product::<f64>();
        if all > MOST as f64 {
            return Err(Problem::at(place, format!("this lattice has {all:.3e} sites")).help(too_many()));
        }
        let counts = counts.map(|count| count as i64);
        let first = lower + DVec3::splat(margin) * self.directions();
        let mut seedlings = Vec::new();
        // Layer by layer upwards: y is up in 2D, z in 3D.
        let (layers, rows) = if self.dimension == 2 { (counts[1], 1) } else { (counts[2], counts[1]) };
        for layer in 0..layers {
            let shifted = hexagonal && layer % 2 == 1;
            for row in 0..rows {
                for column in 0..counts[0] - i64::from(shifted && 0.5 * spacing > room.x % spacing) {
                    let (y, z) = if self.dimension == 2 { (layer, 0) } else { (row, layer) };
                    let site = DVec3::new(column as f64 + if shifted { 0.5 } else { 0.0 }, y as f64, z as f64);
                    let shake = DVec3::from_array([0; 3].map(|_| freedom * (2.0 * random.random::<f64>() - 1.0)));
                    seedlings
                        .push(Seedling::new(first + site * steps + shake * self.directions(), draw(radii, random)));
                }
            }
        }
        match lattice.count {
            Some(count) if count > seedlings.len() => {
                let message = format!("{count} particles are asked for, but the lattice has {} sites", seedlings.len());
                Err(Problem::at(place, message).help("enlarge the box or reduce `spacing`"))
            }
            Some(count) => {
                seedlings.truncate(count);
                Ok(seedlings)
            }
            None => Ok(seedlings),
        }
    }

    /// 1 in the directions that exist, 0 in the others.
    fn directions(&self) -> DVec3 {
        if self.dimension == 2 { DVec3::new(1.0, 1.0, 0.0) } else { DVec3::ONE }
    }

    /// Random sequential addition, the largest first, clear of all that is there already.
    fn fill(&self, fill: &FillFile, placed: &Particles, random: &mut Pcg64Mcg) -> Result<Vec<Seedling>, Problem> {
        // Where the cell is too narrow the fill may find no room, which would be the lesser half of the truth.
        periodic::too_narrow(self.cell, fill.radius.greatest, &self.periodic()).next().map_or(Ok(()), Err)?;
        let region = Region::new(&fill.region, self)?;
        if fill.count > MOST {
            return Err(Problem::at(region.span, format!("this fill has {} particles", fill.count)).help(too_many()));
        }
        let gap = fill.gap.map_or(0.0, |gap| gap.0);
        let radii: Vec<f64> = (0..fill.count).map(|_| draw(fill.radius, random)).collect();
        let share: f64 = radii.iter().map(|r| self.volume(*r)).sum::<f64>() / region.volume;
        if share > 1.0 {
            let percent = 100.0 * share;
            let message = format!("{} particles would take {percent:.3} % of the region: it is too small", fill.count);
            return Err(Problem::at(region.span, message).help("use fewer or smaller particles, or a larger region"));
        }
        let mut order: Vec<usize> = (0..fill.count).collect();
        order.sort_by(|&a, &b| radii[b].total_cmp(&radii[a]).then(a.cmp(&b)));
        let mut crowd = Crowd::new(placed, fill.radius.greatest, gap);
        let (surroundings, mut near) = (Surroundings::new((0..).zip(self.obstacles.iter().copied())), Vec::new());
        let mut seedlings = vec![Seedling::new(DVec3::ZERO, 0.0); fill.count];
        for (done, &index) in order.iter().enumerate() {
            let radius = radii[index];
            let free = |centre: &DVec3| {
                crowd.has_room(*centre, radius) && {
                    surroundings.find(*centre, radius + gap, &mut near);
                    near.iter().all(|k| self.obstacles[*k as usize].leaves_room(*centre, radius, gap))
                }
            };
            let found = (0..TRIES).filter_map(|_| region.sample(radius, random)).find(free);
            let Some(centre) = found else {
                let reachable = if self.dimension == 2 { "0.5" } else { "0.35" };
                let message = format!(
                    "the fill found room for {done} of {} particles; all of them would take {:.0} % of the region",
                    fill.count,
                    100.0 * share
                );
                return Err(Problem::at(region.span, message).help(format!(
                    "random placing reaches a solid fraction of about {reachable}: use fewer or smaller particles, a \
                     larger region, or a lattice"
                )));
            };
            crowd.add(centre, radius);
            seedlings[index] = Seedling::new(centre, radius);
        }
        Ok(seedlings)
    }
}

/// Why there is a limit.
pub(super) fn too_many() -> String {
    format!("a source makes at most {MOST} particles, to be refused before it fills the memory")
}

/// What is wrong with a CSV file, and in which line.
fn csv_trouble(error: &csv::Error) -> String {
    let line = error.position().map_or_else(String::new, |position| format!(", line {}", position.line()));
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{line}: {len} values, where the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => format!("{line}: this is no text in UTF-8"),
        _ => format!("{line}: {error}"),
    }
}

fn draw(radii: Radii, random: &mut Pcg64Mcg) -> f64 {
    radii.least + (radii.greatest - radii.least) * random.random::<f64>()
}

/// A region with what sampling it needs.
pub(super) struct Region {
    kind: Kind,
    volume: f64,
    pub span: Range<usize>,
}

enum Kind {
    /// `margin` is 1 where particles keep clear of the sides, and 0 where there are none.
    Box {
        lower: DVec3,
        upper: DVec3,
        margin: DVec3,
    },
    Ball {
        centre: DVec3,
        radius: f64,
        flat: bool,
    },
    Tube {
        from: DVec3,
        to: DVec3,
        radius: f64,
    },
}

impl Region {
    pub(super) fn new(file: &RegionFile, nursery: &Nursery) -> Result<Self, Problem> {
        let flat = nursery.dimension == 2;
        match file {
            RegionFile::Box(corners) => {
                let (lower, upper) = (nursery.vector(&corners.lower)?, nursery.vector(&corners.upper)?);
                let size = upper - lower;
                if size.x <= 0.0 || size.y <= 0.0 || (!flat && size.z <= 0.0) {
                    let problem = Problem::at(corners.upper.span.clone(), "this box is empty");
                    return Err(problem.help("each component of `upper` must exceed that of `lower`"));
                }
                let volume = size.x * size.y * if flat { 1.0 } else { size.z };
                let mut margin = nursery.directions();
                // A region that holds the whole cell has no sides there.
                for (cell, axis) in nursery.cell.iter().flat_map(|cell| cell.axes().map(move |axis| (cell, axis))) {
                    let (from, period) = (cell.lower()[axis], cell.period()[axis]);
                    if lower[axis] <= from && upper[axis] >= from + period {
                        margin[axis] = 0.0;
                    }
                }
                Ok(Self { kind: Kind::Box { lower, upper, margin }, volume, span: corners.lower.span.clone() })
            }
            RegionFile::Sphere(ball) => {
                let (centre, radius) = (nursery.vector(&ball.centre)?, ball.radius.0);
                let kind = Kind::Ball { centre, radius, flat };
                Ok(Self { kind, volume: nursery.volume(radius), span: ball.centre.span.clone() })
            }
            RegionFile::Cylinder(tube) if flat => {
                Err(Problem::at(tube.from.span.clone(), "a cylinder is a region of 3D scenes")
                    .help("use a box or sphere"))
            }
            RegionFile::Cylinder(tube) => {
                let (from, to, radius) = (nursery.vector(&tube.from)?, nursery.vector(&tube.to)?, tube.radius.0);
                if from == to {
                    return Err(Problem::at(tube.to.span.clone(), "this cylinder is empty: both ends are the same"));
                }
                let volume = PI * radius * radius * from.distance(to);
                Ok(Self { kind: Kind::Tube { from, to, radius }, volume, span: tube.from.span.clone() })
            }
        }
    }

    /// A random centre for a particle that lies whole in the region; none if the draw missed it.
    pub(super) fn sample(&self, radius: f64, random: &mut Pcg64Mcg) -> Option<DVec3> {
        let mut unit = || DVec3::from_array([0; 3].map(|_| random.random::<f64>()));
        match self.kind {
            Kind::Box { lower, upper, margin } => {
                let margin = radius * margin;
                let room = upper - lower - 2.0 * margin;
                (room.min_element() >= 0.0).then(|| lower + margin + room * unit())
            }
            Kind::Ball { centre, radius: whole, flat } => {
                let offset = (2.0 * unit() - DVec3::ONE) * DVec3::new(1.0, 1.0, if flat { 0.0 } else { 1.0 });
                (whole >= radius && offset.length() <= 1.0).then(|| centre + offset * (whole - radius))
            }
            Kind::Tube { from, to, radius: whole } => {
                let axis = (to - from).normalize();
                let (side, other) = axis.any_orthonormal_pair();
                let [u, v, w] = unit().to_array().map(|u| 2.0 * u - 1.0);
                let (room, length) = (whole - radius, 0.5 * from.distance(to) - radius);
                (room >= 0.0 && length >= 0.0 && u * u + v * v <= 1.0)
                    .then(|| from.midpoint(to) + (side * u + other * v) * room + axis * (w * length))
            }
        }
    }
}
