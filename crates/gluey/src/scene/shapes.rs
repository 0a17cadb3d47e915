//! Shapes and motions of obstacles in a scene file.

use std::path::Path;

use glam::{DQuat, DVec3};
use schemars::JsonSchema;
use serde::Deserialize;

use super::attachment;
use super::diagnostics::Problem;
use super::tree::Place;
use super::value::{Finite, Name, NotNegative, Positive, Vector};
use crate::geometry::{
    BoxSide, FieldError, Funnel, Motion, Plate, Pose, Section, Shape, Side, Timetable, TriangleMesh, Wheel,
};

/// The shape of an obstacle, where it is at t = 0.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeFile {
    /// All that lies behind a plane.
    HalfSpace(HalfSpaceFile),
    /// A box, as container (`side = "inside"`) or solid (`"outside"`).
    Box(BoxFile),
    /// A sphere, as container or solid; in 2D a disc.
    Sphere(SphereFile),
    /// A cylinder, as container or solid; in 2D a disc.
    Cylinder(CylinderFile),
    /// A segment with thickness: a wall of a 2D scene, a rod in 3D.
    Segment(SegmentFile),
    /// A parallelogram with thickness (3D).
    Plate(PlateFile),
    /// A cone frustum, in 2D two plates.
    Funnel(FunnelFile),
    /// A hub with blades.
    Wheel(WheelFile),
    /// A triangle mesh from an STL file (3D).
    Mesh(MeshFile),
}

impl ShapeFile {
    /// The key that makes the choice.
    fn key(&self) -> &'static str {
        match self {
            Self::HalfSpace(_) => "half-space",
            Self::Box(_) => "box",
            Self::Sphere(_) => "sphere",
            Self::Cylinder(_) => "cylinder",
            Self::Segment(_) => "segment",
            Self::Plate(_) => "plate",
            Self::Funnel(_) => "funnel",
            Self::Wheel(_) => "wheel",
            Self::Mesh(_) => "mesh",
        }
    }
}

/// On which side the particles are.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SideFile {
    /// A container.
    Inside,
    /// A solid.
    Outside,
}

impl From<SideFile> for Side {
    fn from(side: SideFile) -> Self {
        match side {
            SideFile::Inside => Self::Inside,
            SideFile::Outside => Self::Outside,
        }
    }
}

/// All that lies behind a plane.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HalfSpaceFile {
    /// A point of the plane.
    pub point: Vector,
    /// Its normal, towards the particles.
    pub normal: Vector,
}

/// A box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxFile {
    /// Least corner, before the turn.
    pub lower: Vector,
    /// Greatest corner, before the turn.
    pub upper: Vector,
    /// Where the particles are.
    pub side: SideFile,
    /// Sides of a container that are missing.
    #[serde(default)]
    pub open: Vec<BoxSideFile>,
    /// Turn about the middle (rad), about `axis`.
    #[serde(default)]
    pub angle: Option<Finite>,
    /// Axis of the turn (default z).
    pub axis: Option<Vector>,
}

/// A side of a box.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names say all")]
pub enum BoxSideFile {
    LowerX,
    UpperX,
    LowerY,
    UpperY,
    LowerZ,
    UpperZ,
}

/// A sphere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphereFile {
    /// Its centre.
    pub centre: Vector,
    /// Its radius.
    pub radius: Positive,
    /// Where the particles are.
    pub side: SideFile,
}

/// A cylinder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CylinderFile {
    /// Its middle.
    pub centre: Vector,
    /// Direction of its axis (default z).
    pub axis: Option<Vector>,
    /// Its radius.
    pub radius: Positive,
    /// Its length; infinite if left out.
    pub length: Option<Positive>,
    /// Where the particles are.
    pub side: SideFile,
    /// Whether a container has caps at its ends (default false).
    #[serde(default)]
    pub closed: bool,
}

/// A segment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentFile {
    /// One end.
    pub from: Vector,
    /// The other.
    pub to: Vector,
    /// Thickness (default 0).
    pub thickness: Option<NotNegative>,
}

/// A parallelogram.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlateFile {
    /// One corner.
    pub corner: Vector,
    /// The two edges from this corner.
    #[schemars(length(min = 2, max = 2))]
    pub edges: Vec<Vector>,
    /// Thickness (default 0).
    pub thickness: Option<NotNegative>,
}

/// A funnel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunnelFile {
    /// Centre of the upper opening.
    pub top: Vector,
    /// Centre of the lower opening.
    pub bottom: Vector,
    /// Radius of the upper opening.
    pub top_radius: NotNegative,
    /// Radius of the lower opening.
    pub bottom_radius: NotNegative,
    /// Thickness of the wall (default 0).
    pub thickness: Option<NotNegative>,
}

/// A wheel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WheelFile {
    /// Its middle.
    pub centre: Vector,
    /// Direction of the axle (default z).
    pub axis: Option<Vector>,
    /// Radius of the hub.
    pub hub_radius: Positive,
    /// Where the blades end.
    pub radius: Positive,
    /// Number of blades.
    pub blades: u32,
    /// Length along the axle; infinite if left out.
    pub width: Option<Positive>,
    /// Thickness of a blade (default 0).
    pub thickness: Option<NotNegative>,
    /// Angle of the first blade (rad, default 0).
    pub angle: Option<Finite>,
}

/// A mesh.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshFile {
    /// The STL file, relative to the scene file.
    pub path: Name,
    /// Factor on its lengths (default 1).
    pub scale: Option<Positive>,
    /// Shift after scaling (default none).
    pub offset: Option<Vector>,
}

/// How an obstacle moves.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MotionFile {
    /// Constant velocity.
    Translation(TranslationFile),
    /// Constant turn about an axis.
    Rotation(RotationFile),
    /// Back and forth: amplitude·(sin(2πft + phase) − sin(phase)).
    Oscillation(OscillationFile),
    /// Positions and angles at times, linear between.
    Table(MotionTableFile),
}

impl MotionFile {
    /// The key that makes the choice.
    fn key(&self) -> &'static str {
        match self {
            Self::Translation(_) => "translation",
            Self::Rotation(_) => "rotation",
            Self::Oscillation(_) => "oscillation",
            Self::Table(_) => "table",
        }
    }
}

/// Constant velocity.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslationFile {
    /// Velocity.
    pub velocity: Vector,
    /// Time at which it starts (default 0).
    pub from: Option<Finite>,
    /// Time at which it ends (default never).
    pub until: Option<Finite>,
}

/// Constant turn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotationFile {
    /// A point of the axis.
    pub centre: Vector,
    /// Direction of the axis (default z).
    pub axis: Option<Vector>,
    /// Angular velocity (rad per time).
    pub rate: Finite,
    /// Time at which it starts (default 0).
    pub from: Option<Finite>,
    /// Time at which it ends (default never).
    pub until: Option<Finite>,
}

/// Back and forth.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OscillationFile {
    /// Amplitude.
    pub amplitude: Vector,
    /// Cycles per time.
    pub frequency: NotNegative,
    /// Phase (rad, default 0).
    pub phase: Option<Finite>,
}

/// Positions and angles at times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MotionTableFile {
    /// Increasing times.
    pub times: Vec<Finite>,
    /// Shift at each time (default none).
    pub offsets: Option<Vec<Vector>>,
    /// Angle at each time (rad, default none).
    pub angles: Option<Vec<Finite>>,
    /// A point of the axis of the turn (default the origin).
    pub centre: Option<Vector>,
    /// Direction of this axis (default z).
    pub axis: Option<Vector>,
}

/// What turning file values into geometry needs to know.
#[derive(Clone, Copy)]
pub(super) struct Workshop<'a> {
    pub dimension: usize,
    /// Folder of the scene file.
    pub folder: &'a Path,
}

impl Workshop<'_> {
    fn point(self, vector: &Vector) -> Result<DVec3, Problem> {
        vector.in_dimension(self.dimension).map_err(|message| Problem::at(vector.span.clone(), message))
    }

    fn point_or(self, vector: Option<&Vector>, default: DVec3) -> Result<DVec3, Problem> {
        vector.map_or(Ok(default), |vector| self.point(vector))
    }

    /// The shape that is written at a place.
    pub(super) fn shape(self, file: &ShapeFile, place: &Place) -> Result<Shape, Problem> {
        let place = place.key(file.key());
        let thick = |thickness: Option<NotNegative>| thickness.map_or(0.0, |t| t.0);
        let shape = match file {
            ShapeFile::HalfSpace(f) => {
                Shape::HalfSpace { point: self.point(&f.point)?, normal: self.point(&f.normal)? }
            }
            ShapeFile::Box(f) => self.box_shape(f, &place)?,
            ShapeFile::Sphere(f) => {
                Shape::Sphere { centre: self.point(&f.centre)?, radius: f.radius.0, side: f.side.into() }
            }
            ShapeFile::Cylinder(f) => Shape::Cylinder {
                centre: self.point(&f.centre)?,
                axis: axis(f.axis.as_ref()),
                radius: f.radius.0,
                length: f.length.map_or(f64::INFINITY, |length| length.0),
                side: f.side.into(),
                closed: f.closed,
            },
            ShapeFile::Segment(f) => {
                let (from, to) = (self.point(&f.from)?, self.point(&f.to)?);
                if from == to {
                    return Err(place.key("to").problem("both ends of this segment are the same"));
                }
                Shape::Plate(Plate::segment(from, to, thick(f.thickness)))
            }
            ShapeFile::Plate(f) => {
                let [one, other] = f.edges.as_slice() else {
                    let message = format!("a plate has two edges from its corner, this one has {}", f.edges.len());
                    return Err(place.key("edges").problem(message));
                };
                let edges = [self.point(one)?, self.point(other)?];
                Shape::Plate(Plate { corner: self.point(&f.corner)?, edges, thickness: thick(f.thickness) })
            }
            ShapeFile::Funnel(f) => Shape::Funnel(Funnel {
                top: self.point(&f.top)?,
                bottom: self.point(&f.bottom)?,
                top_radius: f.top_radius.0,
                bottom_radius: f.bottom_radius.0,
                thickness: thick(f.thickness),
                section: if self.dimension == 2 { Section::Flat } else { Section::Round },
            }),
            ShapeFile::Wheel(f) => Shape::Wheel(Wheel {
                centre: self.point(&f.centre)?,
                axis: axis(f.axis.as_ref()),
                hub_radius: f.hub_radius.0,
                outer_radius: f.radius.0,
                width: f.width.map_or(f64::INFINITY, |width| width.0),
                blades: f.blades,
                thickness: thick(f.thickness),
                phase: f.angle.map_or(0.0, |angle| angle.0),
            }),
            ShapeFile::Mesh(f) => self.mesh(f, &place)?,
        };
        shape.check(self.dimension).map_err(|error| told(&error, &place))?;
        Ok(shape)
    }

    fn box_shape(self, f: &BoxFile, place: &Place) -> Result<Shape, Problem> {
        let (lower, upper) = (self.point(&f.lower)?, self.point(&f.upper)?);
        let mut half = 0.5 * (upper - lower);
        if !half.is_finite() {
            return Err(place.key("upper").problem("this box is too large: its size is no finite number"));
        }
        if self.dimension == 2 {
            half.z = f64::INFINITY;
        }
        if half.min_element() <= 0.0 {
            let problem = place.key("upper").problem("this box is empty");
            return Err(problem.help("each component of `upper` must exceed that of `lower`"));
        }
        if matches!(f.side, SideFile::Outside) && !f.open.is_empty() {
            let problem = place.key("open").problem("a solid box has no open sides");
            return Err(problem.help("leave out `open`, or make the box a container: side = \"inside\""));
        }
        let direction = axis(f.axis.as_ref());
        if direction.try_normalize().is_none() {
            return Err(place.key("axis").problem("an axis needs a direction: not all components may be 0"));
        }
        if self.dimension == 2 && (direction.x != 0.0 || direction.y != 0.0) {
            let problem = place.key("axis").problem("in a 2D scene a box turns about z");
            return Err(problem.help("leave out `axis`, or write [0, 0, 1]"));
        }
        Ok(Shape::Box {
            centre: lower.midpoint(upper),
            half,
            orientation: DQuat::from_axis_angle(direction.normalize(), f.angle.map_or(0.0, |angle| angle.0)),
            side: f.side.into(),
            open: f.open.iter().map(|side| BoxSide::ALL[*side as usize]).collect(),
        })
    }

    fn mesh(self, f: &MeshFile, place: &Place) -> Result<Shape, Problem> {
        if self.dimension == 2 {
            return Err(place.problem("a mesh is an obstacle of 3D scenes").help("build it of segments"));
        }
        let offset = self.point_or(f.offset.as_ref(), DVec3::ZERO)?;
        let path = self.folder.join(&f.path.text);
        let scale = f.scale.map_or(1.0, |scale| scale.0);
        let at_path = |message: String| Problem::at(f.path.span.clone(), message);
        let bytes = attachment::read(&path).map_err(at_path)?;
        let mesh = TriangleMesh::from_stl(bytes, &path).and_then(|mesh| mesh.transformed(scale, &Pose::shift(offset)));
        mesh.map(Shape::Mesh).map_err(|error| at_path(error.to_string()))
    }

    /// The motion that is written at a place.
    pub(super) fn motion(self, file: &MotionFile, place: &Place) -> Result<Motion, Problem> {
        let place = place.key(file.key());
        let time = |at: Option<Finite>, default: f64| at.map_or(default, |time| time.0);
        let motion = match file {
            MotionFile::Translation(f) => {
                let (from, until) = (time(f.from, 0.0), time(f.until, f64::INFINITY));
                Motion::Translation { velocity: self.point(&f.velocity)?, from, until }
            }
            MotionFile::Rotation(f) => Motion::Rotation {
                centre: self.point(&f.centre)?,
                axis: axis(f.axis.as_ref()),
                rate: f.rate.0,
                from: time(f.from, 0.0),
                until: time(f.until, f64::INFINITY),
            },
            MotionFile::Oscillation(f) => Motion::Oscillation {
                amplitude: self.point(&f.amplitude)?,
                frequency: f.frequency.0,
                phase: time(f.phase, 0.0),
            },
            MotionFile::Table(f) => {
                let times: Vec<f64> = f.times.iter().map(|time| time.0).collect();
                let offsets = f.offsets.as_ref().map(|list| list.iter().map(|v| self.point(v)).collect());
                let angles = f.angles.as_ref().map(|list| list.iter().map(|angle| angle.0).collect());
                let offsets = offsets.transpose()?.unwrap_or_else(|| vec![DVec3::ZERO; times.len()]);
                let angles = angles.unwrap_or_else(|| vec![0.0; times.len()]);
                let table = Timetable::new(times, offsets, angles).map_err(|error| told(&error, &place))?;
                let centre = self.point_or(f.centre.as_ref(), DVec3::ZERO)?;
                Motion::Table { table, centre, axis: axis(f.axis.as_ref()) }
            }
        };
        motion.check(self.dimension).map_err(|error| told(&error, &place))?;
        Ok(motion)
    }
}

/// A field of the geometry that makes no sense, as the key of the table at this place.
fn told(error: &FieldError, place: &Place) -> Problem {
    let key = match error.field {
        "outer_radius" => "radius",
        field => field,
    };
    let at = match key {
        "edges[0]" => place.key("edges").index(0),
        "edges[1]" => place.key("edges").index(1),
        key => place.key(key),
    };
    at.problem(format!("{key} = {}: should be {}", error.value, error.expected))
}

fn axis(axis: Option<&Vector>) -> DVec3 {
    axis.map_or(DVec3::Z, Vector::as_direction)
}
