//! The scene file as it is written: one struct per table, every key documented (the JSON schema and the guide are made
//! from these comments). Lengths, masses and times are in any one consistent system of units.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::clumps::ClumpFile;
use super::crowd::CrowdFile;
use super::measure::MeasureFile;
use super::openings::{InletFile, OutletFile};
use super::pair_forces::PairForceFile;
use super::periodic::PeriodicFile;
use super::picture::PictureFile;
use super::shapes::{MotionFile, ShapeFile};
use super::value::{Colour, Dilution, Finite, GammaMin, Name, NotNegative, Positive, Radii, Reach, Share, Vector};
use crate::format::Format;
use crate::projection::Method;

/// A gluey scene.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A gluey scene")]
pub struct SceneFile {
    /// What the scene is called; the file's name if left out.
    pub name: Option<String>,
    /// A sentence on what it shows.
    pub description: Option<String>,
    /// 3 (default), or 2 for discs held in the plane z = 0.
    #[serde(default)]
    pub dimension: Dimension,
    /// Seed of every random choice.
    #[serde(default)]
    pub seed: u64,
    /// The time step and the end.
    pub time: TimeFile,
    /// The contact law and the scheme.
    #[serde(default)]
    pub contact: ContactFile,
    /// Gravity, drag and flow.
    #[serde(default)]
    pub environment: EnvironmentFile,
    /// External forces on groups of particles.
    #[serde(default, rename = "force")]
    pub forces: Vec<ForceFile>,
    /// Forces between bodies near each other, functions of the gap.
    #[serde(default, rename = "pair-force")]
    pub pair_forces: Vec<PairForceFile>,
    /// Kinds of particles.
    #[serde(default, rename = "group")]
    pub groups: Vec<GroupFile>,
    /// Where the particles come from.
    #[serde(default)]
    pub particles: Vec<ParticlesFile>,
    /// Rigid clumps of spheres.
    #[serde(default, rename = "clump")]
    pub clumps: Vec<ClumpFile>,
    /// Obstacles that move as one.
    #[serde(default, rename = "assembly")]
    pub assemblies: Vec<AssemblyFile>,
    /// Fixed and moving obstacles.
    #[serde(default, rename = "obstacle")]
    pub obstacles: Vec<ObstacleFile>,
    /// Where particles come in while the run goes on.
    #[serde(default, rename = "inlet")]
    pub inlets: Vec<InletFile>,
    /// Where particles leave the run.
    #[serde(default, rename = "outlet")]
    pub outlets: Vec<OutletFile>,
    /// Directions in which space repeats.
    #[serde(default)]
    pub periodic: PeriodicFile,
    /// How the projection is solved.
    #[serde(default)]
    pub solver: SolverFile,
    /// What is written, and how often.
    #[serde(default)]
    pub output: OutputFile,
    /// What is measured for the time series.
    #[serde(default, rename = "measure")]
    pub measures: Vec<MeasureFile>,
    /// How `gluey render` draws a run, unless its options say otherwise.
    #[serde(default)]
    pub picture: PictureFile,
}

/// 2 or 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "u8", transform = two_or_three)]
pub struct Dimension(pub usize);

/// The schema of a dimension.
fn two_or_three(schema: &mut schemars::Schema) {
    *schema = schemars::json_schema!({ "description": "2 or 3.", "enum": [2, 3] });
}

impl Default for Dimension {
    fn default() -> Self {
        Self(3)
    }
}

impl<'de> Deserialize<'de> for Dimension {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match i64::deserialize(from)? {
            dimension @ 2..=3 => Ok(Self(dimension as usize)),
            other => Err(serde::de::Error::custom(format!("the dimension is 2 or 3, not {other}"))),
        }
    }
}

/// The time step and the end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeFile {
    /// Time step h.
    pub dt: Positive,
    /// Simulated time at which the run ends.
    pub until: Positive,
    /// Largest tangential displacement of a contact in a sub-step, relative to the smallest radius (default 0.2); the
    /// engine splits steps that would exceed it. `inf` never splits.
    pub max_slip: Option<MaxSlip>,
    /// Most sub-steps of one step (default 10000).
    pub max_substeps: Option<std::num::NonZeroU32>,
}

/// A slip limit: positive, `inf` allowed.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
pub struct MaxSlip(pub f64);

impl<'de> Deserialize<'de> for MaxSlip {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match f64::deserialize(from)? {
            value if value > 0.0 => Ok(Self(value)),
            other => {
                Err(serde::de::Error::custom(format!("max_slip is {other}; it must be positive (inf: never split)")))
            }
        }
    }
}

/// The contact law and the scheme.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContactFile {
    /// The law between particles, and with obstacles that name none of their own.
    pub law: LawFile,
    /// How glued pairs enter the projection.
    pub scheme: SchemeFile,
}

/// How glued pairs enter the projection.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchemeFile {
    /// Always feasible, exact momentum at take-off.
    #[default]
    OneProjection,
    /// The paper's multi-particle algorithm to the letter.
    Paper,
}

/// A contact law. Each may be named alone, as text: then all its values are the defaults.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", remote = "Self")]
#[schemars(rename = "LawFile", transform = names_alone)]
pub enum LawFile {
    /// Dry, no rebound.
    #[default]
    Inelastic,
    /// Lubricated: pushing is remembered and must be paid back.
    Gluey(GlueyFile),
    /// A pair once in contact never lets go.
    Aggregating(AggregatingFile),
}

impl<'de> Deserialize<'de> for LawFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = LawFile;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a law: inelastic, gluey or aggregating")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<LawFile, E> {
                match name {
                    "gluey" => Ok(LawFile::Gluey(GlueyFile::default())),
                    "aggregating" => Ok(LawFile::Aggregating(AggregatingFile::default())),
                    other => LawFile::deserialize(other.into_deserializer()),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LawFile, A::Error> {
                let law = LawFile::deserialize(MapAccessDeserializer::new(&mut map))?;
                end_of_choice(map).map(|()| law)
            }
        }
        from.deserialize_any(NameOrTable)
    }
}

/// Refuses a second key: reading a choice from a map looks at the first alone.
pub(super) fn end_of_choice<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    match map.next_key::<IgnoredAny>()? {
        Some(_) => Err(serde::de::Error::custom("only one choice may stand here")),
        None => Ok(()),
    }
}

/// The schema of laws that are named alone.
fn names_alone(schema: &mut schemars::Schema) {
    if let Some(choices) = schema.get_mut("oneOf").and_then(serde_json::Value::as_array_mut) {
        choices.push(serde_json::json!({ "type": "string", "enum": ["gluey", "aggregating"] }));
    }
}

/// A gluey law; smooth if neither `gamma_min` nor `roughness` is given.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GlueyFile {
    /// Roughness threshold γ_min ≤ 0; -inf (default) is smooth, 0 is dry.
    pub gamma_min: Option<GammaMin>,
    /// γ_min from the roughness sizes of the surfaces instead, 6πμ ln((r_is + r_js)/length_unit).
    pub roughness: Option<RoughnessFile>,
    /// How radii weigh on γ.
    pub scaling: ScalingFile,
}

/// γ_min from roughness sizes; groups and obstacles give theirs as `roughness`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoughnessFile {
    /// Viscosity μ of the fluid.
    pub viscosity: Positive,
    /// The length in which roughness is measured inside the logarithm.
    pub length_unit: Positive,
}

/// How radii weigh on γ.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScalingFile {
    /// R = 1.
    #[default]
    Unit,
    /// R = (r_i + r_j)²/(r_i² r_j²), 1/r² for a plane.
    Lubrication,
}

/// An aggregating law.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AggregatingFile {
    /// The force a bond bears; by default 10⁴ times what stops the heaviest particle from one greatest radius a step.
    pub strength: Option<Positive>,
}

/// Gravity, drag and flow.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnvironmentFile {
    /// Acceleration of gravity: a constant vector, or one that changes in time.
    pub gravity: Option<VectorSignal>,
    /// How the fluid resists: linear drag, treated implicitly, or the far field of all spheres.
    pub drag: Option<DragFile>,
    /// Velocity of the fluid the drag is relative to: expressions of x, y, z and t.
    pub flow: Option<Vec<Name>>,
    /// `false` leaves inertia out: velocities are (force)/(drag). The default is `true`, but `false` with
    /// `drag.rotne-prager`, which has none.
    pub inertia: Option<bool>,
    /// People on their way to the exits, instead of all others here.
    pub crowd: Option<CrowdFile>,
}

/// How the fluid resists: linear drag −ζ (V − u), or the far field of all spheres.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DragFile {
    /// The same ζ for all.
    Coefficient(Positive),
    /// ζ = 6πμr.
    Stokes(StokesFile),
    /// Richardson and Zaki's hindered settling, ζ = 6πμr (1 − φ)⁻ⁿ.
    Hindered(HinderedFile),
    /// The far field of all spheres by Rotne, Prager and Yamakawa: V = u + M F, without inertia.
    RotnePrager(StokesFile),
}

/// Slow viscous flow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StokesFile {
    /// Viscosity μ.
    pub viscosity: Positive,
}

/// Hindered settling.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HinderedFile {
    /// Viscosity μ.
    pub viscosity: Positive,
    /// Solid fraction φ of the suspension.
    pub fraction: FractionFile,
    /// n (default 4.65, for slow flow): a suspension settles (1 − φ)ⁿ times as fast as a sphere alone.
    pub exponent: Option<NotNegative>,
}

/// The solid fraction of a suspension.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FractionFile {
    /// The same everywhere.
    Uniform(Dilution),
    /// That of the others around each particle.
    Local(RangeFile),
}

/// Where a local solid fraction is taken.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeFile {
    /// Range, in greatest radii of the scene, at least 3.
    pub radii: Reach,
}

/// A vector that may change in time: `[x, y, z]`, or a table with one of the keys `steps`, `linear`, `expression`.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum VectorSignal {
    /// The same at all times.
    Constant(Vector),
    /// Changing in time.
    Changing(ChangingVector),
}

/// A vector that changes in time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangingVector {
    /// Each value holds until the next time.
    Steps(TableFile),
    /// Linear between the times.
    Linear(TableFile),
    /// One expression a component, of t (forces: of x, y, z, vx, vy, vz, r, m too).
    Expression(Vec<Name>),
}

/// Values at times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableFile {
    /// Increasing times.
    pub times: Vec<Finite>,
    /// One vector a time.
    pub values: Vec<Vector>,
}

impl<'de> Deserialize<'de> for VectorSignal {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<Either>::deserialize(from)?;
        let span = spanned.span();
        match spanned.into_inner() {
            Either::Constant(values) => {
                Vector::checked(values, span).map(Self::Constant).map_err(serde::de::Error::custom)
            }
            Either::Changing(signal) => Ok(Self::Changing(signal)),
        }
    }
}

/// A [`VectorSignal`] before its span is known.
enum Either {
    Constant(Vec<f64>),
    Changing(ChangingVector),
}

impl<'de> Deserialize<'de> for Either {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct SeqOrMap;
        impl<'de> Visitor<'de> for SeqOrMap {
            type Value = Either;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a vector, or a table with `steps`, `linear` or `expression`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Either, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Either::Constant)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Either, A::Error> {
                let signal = ChangingVector::deserialize(MapAccessDeserializer::new(&mut map))?;
                end_of_choice(map).map(|()| Either::Changing(signal))
            }
        }
        from.deserialize_any(SeqOrMap)
    }
}

/// An external force.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForceFile {
    /// What messages call it.
    pub name: Option<String>,
    /// Groups it acts on; all if left out.
    pub groups: Option<Vec<Name>>,
    /// The force on each particle.
    pub force: Option<VectorSignal>,
    /// Or the acceleration: the force is mass times this.
    pub acceleration: Option<VectorSignal>,
}

/// A kind of particles.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupFile {
    /// What it is called.
    pub name: Name,
    /// Colour in pictures.
    pub colour: Option<Colour>,
    /// Roughness size of the surface (length).
    pub roughness: Option<NotNegative>,
    /// Speed of its people in a crowd, instead of that of `environment.crowd`.
    pub speed: Option<NotNegative>,
}

/// Particles from one source.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParticlesFile {
    /// Their group; the first one declared if left out, and a group `default` where the scene declares none.
    pub group: Option<Name>,
    /// Mass of each.
    pub mass: Option<Positive>,
    /// Or their density, for the mass of a sphere, in 2D of a disc of unit thickness.
    pub density: Option<Positive>,
    /// Velocity at the start.
    pub velocity: Option<Vector>,
    /// Where they are.
    pub source: SourceFile,
}

/// Where particles come from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceFile {
    /// One by one.
    List(Vec<ParticleFile>),
    /// From a CSV file with the columns x,y,z,r[,m,vx,vy,vz,group].
    Csv(CsvFile),
    /// On a lattice, shaken a little.
    Lattice(LatticeFile),
    /// At random in a region, without overlap.
    Fill(FillFile),
}

/// One particle.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParticleFile {
    /// Centre.
    pub position: Vector,
    /// Radius.
    pub radius: Positive,
    /// Mass, instead of that of the source.
    pub mass: Option<Positive>,
    /// Velocity, instead of that of the source.
    pub velocity: Option<Vector>,
}

/// A CSV file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsvFile {
    /// Its path, relative to the scene file.
    pub path: Name,
}

/// A lattice.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatticeFile {
    /// Least corner of the box that the particles lie in.
    pub lower: Vector,
    /// Greatest corner.
    pub upper: Vector,
    /// Distance between neighbouring sites.
    pub spacing: Positive,
    /// Radius, or [least, greatest] of a uniform distribution.
    pub radius: Radii,
    /// Share of the room between the particles by which they are shaken (default 0).
    pub jitter: Option<Share>,
    /// How the sites lie.
    #[serde(default)]
    pub arrangement: Arrangement,
    /// At most so many, lowest first.
    pub count: Option<usize>,
}

/// How the sites of a lattice lie.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// Squares, cubes.
    #[default]
    Square,
    /// Rows shifted by half a spacing (2D only).
    Hexagonal,
}

/// A random fill.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillFile {
    /// Where the particles lie, whole.
    pub region: RegionFile,
    /// How many, at most 50 million.
    pub count: usize,
    /// Radius, or [least, greatest] of a uniform distribution.
    pub radius: Radii,
    /// Least gap between them (default 0).
    pub gap: Option<NotNegative>,
}

/// A region of space.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegionFile {
    /// An upright box.
    Box(CornersFile),
    /// A ball (a disc in 2D).
    Sphere(BallFile),
    /// A finite cylinder (3D only).
    Cylinder(TubeFile),
}

/// An upright box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CornersFile {
    /// Least corner.
    pub lower: Vector,
    /// Greatest corner.
    pub upper: Vector,
}

/// A ball.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BallFile {
    /// Its centre.
    pub centre: Vector,
    /// Its radius.
    pub radius: Positive,
}

/// A cylinder from one end to the other.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TubeFile {
    /// Centre of one end.
    pub from: Vector,
    /// Centre of the other.
    pub to: Vector,
    /// Its radius.
    pub radius: Positive,
}

/// How the projection is solved.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SolverFile {
    /// The method.
    pub method: Method,
    /// Residual to reach, a length relative to the smallest radius (default 1e-6).
    pub tolerance: Option<Positive>,
    /// Limit on sweeps (default 200000).
    pub max_sweeps: Option<std::num::NonZeroU64>,
    /// Blocks of particles that threads share, of `apgs` (default: the more the more particles there are).
    pub blocks: Option<std::num::NonZeroU32>,
    /// Which impulses, where several give the same velocity (default: the least where a law of the scene remembers them).
    pub impulses: Option<ImpulsesFile>,
    /// What to do when the tolerance is not reached.
    pub at_limit: RecourseFile,
    /// What to do when closing obstacles leave no admissible velocity.
    pub when_pinched: RecourseFile,
}

/// Which impulses, where several give the same velocity.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImpulsesFile {
    /// Those with the least sum of squares.
    LeastNorm,
    /// Those that the method comes to from the last step's.
    AsFound,
}

/// What to do when a projection does not end as it should.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecourseFile {
    /// End with an error.
    #[default]
    Stop,
    /// Go on and count it.
    Continue,
}

/// What is written, and how often.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputFile {
    /// Steps between frames (default: such that a run has 100).
    pub frame_every: Option<std::num::NonZeroU64>,
    /// Steps between rows of the time series (default 1).
    pub series_every: Option<std::num::NonZeroU64>,
    /// Steps between checkpoints (default 1000).
    pub checkpoint_every: Option<std::num::NonZeroU64>,
    /// Formats of the frames (default all).
    pub formats: Option<Vec<Format>>,
}

/// Obstacles that move as one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssemblyFile {
    /// What obstacles refer to.
    pub name: Name,
    /// How it moves.
    pub motion: MotionFile,
}

/// An obstacle.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObstacleFile {
    /// What series and messages call it.
    pub name: Option<Name>,
    /// Its shape, where it is at t = 0.
    pub shape: ShapeFile,
    /// How it moves (within its assembly, if it has one).
    pub motion: Option<MotionFile>,
    /// The assembly it moves with.
    pub assembly: Option<Name>,
    /// The contact law with it, instead of the scene's.
    pub law: Option<LawFile>,
    /// Roughness size of its surface (length).
    pub roughness: Option<NotNegative>,
    /// Colour in pictures.
    pub colour: Option<Colour>,
}
