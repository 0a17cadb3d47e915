//! Rigid clumps in a scene file: what they are made of, and where they are.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::diagnostics::Problem;
use super::file::RegionFile;
use super::occupied::Crowd;
use super::periodic;
use super::sources::{MOST, Nursery, Region, STREAM, TRIES, too_many};
use super::tree::Place;
use super::value::{Finite, Name, NotNegative, Positive, Vector, usable};
use crate::clump::{Clumps, Start, Template, TemplateError};
use crate::geometry::Particles;

/// Clumps draw from streams of random numbers beyond those of sources of particles.
const STREAMS: u64 = 1 << 32;

/// Rigid clumps of spheres, all of one make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClumpFile {
    /// What this make is called.
    pub name: Name,
    /// The group of their spheres; the first one declared if left out.
    pub group: Option<Name>,
    /// Mass of each clump.
    pub mass: Option<Positive>,
    /// Or its density: the mass is that of the union of its spheres (discs of unit thickness in 2D).
    pub density: Option<Positive>,
    /// Moments of inertia about the axes x, y, z through the centre of mass, in 2D the one about z; by default those of
    /// solid spheres that share the mass where they overlap.
    pub inertia: Option<Vec<Positive>>,
    /// What they are made of.
    pub make: MakeFile,
    /// Where they are.
    pub place: PlacesFile,
}

/// What a clump is made of.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MakeFile {
    /// Spheres, which may overlap.
    Spheres(Vec<BallFile>),
    /// A red cell, lying in the plane z = 0: 10 spheres at the rim and 6 inside, with the thickness of Evans and Fung, and one in
    /// the middle that leaves no hole (3D).
    Biconcave(BiconcaveFile),
}

/// One sphere of a clump.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BallFile {
    /// Its centre, in the frame of the clump.
    pub position: Vector,
    /// Its radius.
    pub radius: Positive,
}

/// A red cell.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BiconcaveFile {
    /// Its radius.
    pub radius: Positive,
}

/// Where clumps are: their centres of mass.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlacesFile {
    /// One by one.
    List(Vec<PlacedFile>),
    /// At random in a region, without overlap.
    Fill(ClumpFillFile),
}

/// A clump where it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacedFile {
    /// Centre of mass.
    pub position: Vector,
    /// Axis that it is turned about from the frame of its make (3D; default z).
    pub axis: Option<Vector>,
    /// By this angle (rad; default 0).
    pub angle: Option<Finite>,
    /// Velocity of the centre of mass.
    pub velocity: Option<Vector>,
    /// Spin (rad per time): a vector in 3D, one number in 2D.
    pub spin: Option<SpinFile>,
}

/// A spin: one number about z, or a vector.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the schema is made of the variants")]
enum SpinChoice {
    /// About z, in 2D.
    Plane(f64),
    /// In 3D.
    Space([f64; 3]),
}

/// The numbers of a spin.
#[derive(Debug, JsonSchema)]
#[schemars(with = "SpinChoice")]
pub struct SpinFile(Vec<f64>);

impl<'de> Deserialize<'de> for SpinFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OneOrThree;
        impl<'de> Visitor<'de> for OneOrThree {
            type Value = SpinFile;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a number (2D) or three numbers (3D)")
            }

            fn visit_f64<E: serde::de::Error>(self, rate: f64) -> Result<SpinFile, E> {
                Ok(SpinFile(vec![rate]))
            }

            fn visit_i64<E: serde::de::Error>(self, rate: i64) -> Result<SpinFile, E> {
                Ok(SpinFile(vec![rate as f64]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<SpinFile, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(SpinFile)
            }
        }
        from.deserialize_any(OneOrThree)
    }
}

/// Clumps at random.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClumpFillFile {
    /// Where they lie, whole, however they are turned.
    pub region: RegionFile,
    /// How many.
    pub count: usize,
    /// Least gap between them (default 0).
    pub gap: Option<NotNegative>,
    /// How they are turned.
    #[serde(default)]
    pub orientation: OrientationFile,
    /// Velocity of all.
    pub velocity: Option<Vector>,
}

/// How clumps are turned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrientationFile {
    /// Each at random.
    #[default]
    Random,
    /// All as they were made.
    Aligned,
}

/// Half the thickness of a red cell of radius 1 at a distance x from its axis (Evans and Fung 1972).
fn half_thickness(x: f64) -> f64 {
    let squared = x * x;
    2.0 * (1.0 - squared).max(0.0).sqrt() * (0.0518 + 0.500_65 * squared - 0.280_7 * squared * squared)
}

/// Radius of the sphere in the middle of a red cell of radius 1: the least that leaves no hole within the inner ring, rounded
/// up. Evans and Fung's half thickness there is 0.10.
const MIDDLE: f64 = 0.18;

/// A red cell of radius 1 in spheres: the rim, a ring within it and the middle, without holes.
fn biconcave() -> Vec<(DVec3, f64)> {
    let ring = |count: u32, distance: f64, radius: f64, turn: f64| {
        (0..count).map(move |k| {
            let (sine, cosine) = (TAU * f64::from(k) / f64::from(count) + turn).sin_cos();
            (DVec3::new(cosine, sine, 0.0) * distance, radius)
        })
    };
    let rim = half_thickness(0.67);
    // Turned, so that nowhere a notch of the one ring lies at a notch of the other.
    let within = ring(6, 0.32, half_thickness(0.32), TAU / 60.0);
    ring(10, 1.0 - rim, rim, 0.0).chain(within).chain([(DVec3::ZERO, MIDDLE)]).collect()
}

impl Nursery<'_> {
    /// The clumps of a scene; their spheres come after all other particles.
    pub(super) fn clumps(
        &self,
        files: &[ClumpFile],
        place: &Place,
        particles: &mut Particles,
        problems: &mut Vec<Problem>,
    ) -> Clumps {
        let mut clumps = Clumps::default();
        for (index, file) in files.iter().enumerate() {
            let place = place.index(index);
            problems.extend(self.clumps_of_a_make(file, index, &place, (&mut clumps, particles)).err());
        }
        clumps
    }

    fn clumps_of_a_make(
        &self,
        file: &ClumpFile,
        index: usize,
        place: &Place,
        (clumps, particles): (&mut Clumps, &mut Particles),
    ) -> Result<(), Problem> {
        let template = self.template(file, place)?;
        let greatest = template.balls.iter().map(|ball| ball.radius).fold(0.0, f64::max);
        let (kind, periodic) = ((file.name.text.as_str(), template.diameter()), self.periodic());
        let narrow = periodic::too_narrow_for_clumps(self.cell, kind, &periodic);
        narrow.chain(periodic::too_narrow(self.cell, greatest, &periodic)).next().map_or(Ok(()), Err)?;
        let by_name = |name: &Name| self.group(&name.text).map_err(|text| Problem::at(name.span.clone(), text));
        let group = file.group.as_ref().map(by_name).transpose()?.unwrap_or(0);
        let starts = match &file.place {
            PlacesFile::List(list) => {
                let place = place.key("place").key("list");
                if list.is_empty() {
                    let problem = place.problem(format!("the list of clumps `{}` is empty", file.name.text));
                    return Err(problem.help("list at least one { position }, use place.fill, or leave the clump out"));
                }
                let one = |(k, placed): (usize, &PlacedFile)| self.start(placed, &place.index(k));
                list.iter().enumerate().map(one).collect::<Result<_, Problem>>()?
            }
            PlacesFile::Fill(fill) => {
                let mut random = Pcg64Mcg::seed_from_u64(self.seed ^ STREAM.wrapping_mul(STREAMS + index as u64));
                self.fill_with_clumps(fill, &template, particles, &mut random)?
            }
        };
        for start in starts {
            clumps.push(&template, &start, group, particles);
        }
        Ok(())
    }

    fn template(&self, file: &ClumpFile, place: &Place) -> Result<Template, Problem> {
        let planar = self.dimension == 2;
        let (spheres, make): (Vec<(DVec3, f64)>, _) = match &file.make {
            MakeFile::Spheres(list) => {
                let one = |ball: &BallFile| Ok((self.vector(&ball.position)?, ball.radius.0));
                (list.iter().map(one).collect::<Result<_, Problem>>()?, place.key("make"))
            }
            MakeFile::Biconcave(_) if planar => {
                let problem = place.key("make").problem("a biconcave cell is a clump of 3D scenes");
                return Err(problem.help("list its discs as make.spheres"));
            }
            MakeFile::Biconcave(cell) => {
                let radius = cell.radius.0;
                (biconcave().into_iter().map(|(x, r)| (x * radius, r * radius)).collect(), place.key("make"))
            }
        };
        let template = match (&file.mass, &file.density) {
            (Some(mass), None) => Template::of_mass(&spheres, mass.0, planar),
            (None, Some(density)) => Template::of_density(&spheres, density.0, planar),
            (Some(_), Some(_)) => {
                let problem = place.key("density").problem("these clumps have both `mass` and `density`");
                return Err(problem.help("keep one of them"));
            }
            (None, None) => {
                let problem = place.problem(format!("clumps `{}` have no mass", file.name.text));
                return Err(problem.help("give `mass` or `density`"));
            }
        };
        let template = template.map_err(|error| told(&make, error))?;
        let place = place.key("inertia");
        let moments = match file.inertia.as_deref() {
            None => return Ok(template),
            Some([x, y, z]) if !planar => DVec3::new(x.0, y.0, z.0),
            Some([z]) if planar => DVec3::splat(z.0),
            Some(_) => {
                let needed = if planar { "one moment, about z," } else { "three moments, about x, y and z," };
                return Err(place.problem(format!("{needed} are needed in a scene of dimension {}", self.dimension)));
            }
        };
        template.with_inertia(moments).map_err(|error| told(&place, error))
    }

    fn start(&self, file: &PlacedFile, place: &Place) -> Result<Start, Problem> {
        let axis = match &file.axis {
            None => DVec3::Z,
            Some(axis) if self.dimension == 2 => {
                return Err(Problem::at(axis.span.clone(), "in 2D clumps turn about z alone")
                    .help("leave `axis` out: `angle` is about z"));
            }
            Some(axis) => self.vector(axis)?.try_normalize().ok_or_else(|| {
                Problem::at(axis.span.clone(), "this axis has no direction").help("give a vector that is not 0")
            })?,
        };
        let spin = match file.spin.as_ref().map(|spin| spin.0.as_slice()) {
            None => DVec3::ZERO,
            Some([rate]) if self.dimension == 2 && usable(*rate) => DVec3::Z * *rate,
            Some([x, y, z]) if self.dimension == 3 && [x, y, z].iter().all(|w| usable(**w)) => DVec3::new(*x, *y, *z),
            Some(_) => {
                let problem = place.key("spin").problem("this is no spin of a clump, finite and at most 1e100");
                let needed = if self.dimension == 2 { "one number, about z, in 2D" } else { "three numbers in 3D" };
                return Err(problem.help(format!("give {needed}")));
            }
        };
        Ok(Start {
            centre: self.vector(&file.position)?,
            orientation: DQuat::from_axis_angle(axis, file.angle.map_or(0.0, |angle| angle.0)),
            velocity: file.velocity.as_ref().map(|v| self.vector(v)).transpose()?.unwrap_or_default(),
            spin,
        })
    }

    /// Random sequential addition, clear of all that is there already.
    fn fill_with_clumps(
        &self,
        fill: &ClumpFillFile,
        template: &Template,
        placed: &Particles,
        random: &mut Pcg64Mcg,
    ) -> Result<Vec<Start>, Problem> {
        let region = Region::new(&fill.region, self)?;
        if fill.count.saturating_mul(template.balls.len()) > MOST {
            return Err(Problem::at(region.span, format!("this fill has {} clumps", fill.count)).help(too_many()));
        }
        let velocity = fill.velocity.as_ref().map(|v| self.vector(v)).transpose()?.unwrap_or_default();
        let gap = fill.gap.map_or(0.0, |gap| gap.0);
        let greatest = template.balls.iter().map(|ball| ball.radius).fold(0.0, f64::max);
        let mut crowd = Crowd::new(placed, greatest, gap);
        let mut starts = Vec::with_capacity(fill.count);
        while starts.len() < fill.count {
            let free = |start: &Start| {
                template.balls.iter().all(|ball| {
                    let (centre, radius) = (start.centre + start.orientation * ball.position, ball.radius);
                    crowd.has_room(centre, radius)
                        && self.obstacles.iter().all(|obstacle| obstacle.leaves_room(centre, radius, gap))
                })
            };
            let draw = |_| {
                let centre = region.sample(template.reach(), random)?;
                let orientation = match fill.orientation {
                    OrientationFile::Aligned => DQuat::IDENTITY,
                    OrientationFile::Random => self.orientation(random),
                };
                Some(Start { centre, orientation, velocity, spin: DVec3::ZERO })
            };
            let Some(start) = (0..TRIES).filter_map(draw).find(free) else {
                let message = format!("the fill found room for {} of {} clumps", starts.len(), fill.count);
                return Err(Problem::at(region.span, message).help("use fewer or smaller ones, or a larger region"));
            };
            for ball in &template.balls {
                crowd.add(start.centre + start.orientation * ball.position, ball.radius);
            }
            starts.push(start);
        }
        Ok(starts)
    }

    /// Uniform over all rotations (Shoemake); in 2D over all angles.
    fn orientation(&self, random: &mut Pcg64Mcg) -> DQuat {
        if self.dimension == 2 {
            return DQuat::from_rotation_z(TAU * random.random::<f64>());
        }
        let [u, v, w] = [0; 3].map(|_| random.random::<f64>());
        let ((a, b), (c, d)) = ((TAU * v).sin_cos(), (TAU * w).sin_cos());
        let (one, other) = ((1.0 - u).sqrt(), u.sqrt());
        DQuat::from_xyzw(one * a, one * b, other * c, other * d)
    }
}

fn told(place: &Place, error: TemplateError) -> Problem {
    place.problem(error.to_string())
}
