//! What a scene asks to be measured.

use glam::DVec3;
use schemars::JsonSchema;
use serde::Deserialize;

use super::build::check_name;
use super::diagnostics::Problem;
use super::file::{CornersFile, VectorSignal};
use super::tree::Place;
use super::value::{Name, Vector};
use crate::measures::{Instrument, Measure, Region};
use crate::simulation::Gate;

/// A measure: columns of the time series.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasureFile {
    /// The columns are called after it.
    pub name: Name,
    /// What is measured.
    pub kind: KindFile,
}

/// What is measured.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KindFile {
    /// The part of a box that particles fill.
    SolidFraction(InBoxFile),
    /// Contacts per particle; a clump counts as one.
    Coordination,
    /// Forces and glue of the contacts.
    Network,
    /// The mean stress in a box, tension positive.
    Stress(StressFile),
    /// The mean velocity along a direction.
    Settling(SettlingFile),
    /// Particles that hang together.
    Clusters,
    /// What has gone through a plane since t = 0, net.
    Flux(FluxFile),
}

/// A measure of a box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InBoxFile {
    /// Where.
    pub r#box: CornersFile,
}

/// The stress in a box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StressFile {
    /// Where.
    pub r#box: CornersFile,
    /// Whether the stress of the particles' motion is added to that of the contacts (default false).
    #[serde(default)]
    pub kinetic: bool,
}

/// A mean velocity.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettlingFile {
    /// Along which direction (default: that of gravity, if it is constant).
    pub direction: Option<Vector>,
}

/// What goes through a plane.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluxFile {
    /// The plane.
    pub plane: PlaneFile,
}

/// A plane.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaneFile {
    /// A point of it.
    pub point: Vector,
    /// Its normal: what moves along it counts as positive.
    pub normal: Vector,
}

/// Turns measures of the file into instruments and gates.
pub(super) struct Laboratory<'a> {
    pub dimension: usize,
    pub gravity: Option<&'a VectorSignal>,
    /// The list of measures.
    pub place: Place<'a>,
}

impl Laboratory<'_> {
    /// The instruments in the order of the file, and the gates that they refer to.
    pub(super) fn instruments(
        &self,
        files: &[MeasureFile],
        problems: &mut Vec<Problem>,
    ) -> (Vec<Instrument>, Vec<Gate>) {
        let (mut instruments, mut gates) = (Vec::<Instrument>::new(), Vec::new());
        for (index, file) in files.iter().enumerate() {
            check_name(&file.name, problems);
            let name = &file.name.text;
            if name.contains([',', '"']) {
                let problem = "the name of a measure heads columns of a table: it has no comma and no quotation mark";
                problems.push(Problem::at(file.name.span.clone(), problem));
            }
            if instruments.iter().any(|other| other.name == *name) {
                problems.push(Problem::at(file.name.span.clone(), format!("a second measure `{name}`")));
            }
            match self.measure(&file.kind, &self.place.index(index).key("kind"), &mut gates) {
                Ok(measure) => instruments.push(Instrument { name: name.clone(), measure }),
                Err(problem) => problems.push(problem),
            }
        }
        (instruments, gates)
    }

    fn measure(&self, kind: &KindFile, place: &Place, gates: &mut Vec<Gate>) -> Result<Measure, Problem> {
        Ok(match kind {
            KindFile::Coordination => Measure::Coordination,
            KindFile::Network => Measure::Network,
            KindFile::Clusters => Measure::Clusters,
            KindFile::SolidFraction(file) => Measure::SolidFraction(self.region(&file.r#box)?),
            KindFile::Stress(file) => Measure::Stress { region: self.region(&file.r#box)?, kinetic: file.kinetic },
            KindFile::Settling(file) => Measure::Settling { direction: self.direction(file, place)? },
            KindFile::Flux(FluxFile { plane: PlaneFile { point, normal } }) => {
                let (point, normal) = (self.vector(point)?, self.unit(normal)?);
                gates.push(Gate { point, normal, dimension: self.dimension });
                Measure::Flux { gate: gates.len() - 1 }
            }
        })
    }

    fn region(&self, corners: &CornersFile) -> Result<Region, Problem> {
        let region = Region::new(self.vector(&corners.lower)?, self.vector(&corners.upper)?, self.dimension);
        region.map_err(|error| Problem::at(corners.upper.span.clone(), error.to_string()))
    }

    fn direction(&self, file: &SettlingFile, place: &Place) -> Result<DVec3, Problem> {
        let gravity = match self.gravity {
            Some(VectorSignal::Constant(gravity)) => self.vector(gravity)?.try_normalize(),
            _ => None,
        };
        match (&file.direction, gravity) {
            (Some(direction), _) => self.unit(direction),
            (None, Some(down)) => Ok(down),
            (None, None) => {
                let problem = place.key("settling").problem("there is no constant gravity to settle along");
                Err(problem.help("give a `direction`"))
            }
        }
    }

    fn vector(&self, vector: &Vector) -> Result<DVec3, Problem> {
        vector.in_dimension(self.dimension).map_err(|message| Problem::at(vector.span.clone(), message))
    }

    fn unit(&self, vector: &Vector) -> Result<DVec3, Problem> {
        let direction = self.vector(vector)?.try_normalize();
        direction.ok_or_else(|| Problem::at(vector.span.clone(), "a direction has a length other than 0"))
    }
}
