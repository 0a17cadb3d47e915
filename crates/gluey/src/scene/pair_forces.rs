//! `[[pair-force]]` tables: forces between bodies near each other.

use schemars::JsonSchema;
use serde::Deserialize;

use super::build::{Reader, expression, unknown};
use super::diagnostics::Problem;
use super::tree::Place;
use super::value::{Name, NotNegative, Positive};
use crate::geometry::Obstacle;
use crate::interaction::{Bridging, InteractionError, Interactions, Law, PAIR_VARIABLES, PairForce, Pull};

/// A force between bodies near each other, along the line between them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairForceFile {
    /// What messages call it.
    pub name: Option<String>,
    /// Between particles of these two groups, or within one group; between all if left out.
    pub groups: Option<Vec<Name>>,
    /// Obstacles with which these particles have it, too; none if left out.
    #[serde(default)]
    pub obstacles: Vec<Name>,
    /// The force in the gap D, the radii ri and rj, the masses mi and mj and the time t; positive pushes apart.
    pub expression: Option<Name>,
    /// Gap beyond which the expression is not asked, and the force is 0.
    pub range: Option<Positive>,
    /// Or a liquid bridge that forms at contact, pulls, and breaks when it is drawn out too far.
    pub bridge: Option<BridgeFile>,
}

/// How a liquid bridge pulls.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BridgeFile {
    /// strength·(1 − D/rupture).
    Linear(LinearFile),
    /// 2πRσ cos θ / (1 + 1.05 Ŝ + 2.5 Ŝ²) with Ŝ = D √(R/V) and 2/R = 1/ri + 1/rj; breaks at (1 + θ/2) V^{1/3}.
    Capillary(CapillaryFile),
}

/// A bridge whose pull falls linearly.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearFile {
    /// Force at contact.
    pub strength: Positive,
    /// Gap at which the bridge breaks.
    pub rupture: Positive,
    /// Gap up to which it forms (default 0: surfaces must touch).
    pub formation: Option<NotNegative>,
}

/// A bridge of a wetting liquid.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapillaryFile {
    /// Surface tension σ of the liquid.
    pub surface_tension: Positive,
    /// Contact angle θ in radians, below π/2 (default 0).
    pub contact_angle: Option<NotNegative>,
    /// Volume V of each bridge.
    pub volume: Positive,
    /// Gap up to which it forms (default 0: surfaces must touch).
    pub formation: Option<NotNegative>,
}

/// Checks and builds all pair forces.
pub(super) fn interactions(
    files: &[PairForceFile],
    reader: &Reader,
    obstacles: &[Obstacle],
    problems: &mut Vec<Problem>,
) -> Interactions {
    let mut forces = Vec::new();
    for (index, file) in files.iter().enumerate() {
        match file.build(index, reader, obstacles) {
            Ok(force) => forces.push(force),
            Err(problem) => problems.push(problem),
        }
    }
    Interactions::new(forces).unwrap_or_else(|error| {
        problems.push(Problem::general(error.to_string()));
        Interactions::default()
    })
}

impl PairForceFile {
    fn build(&self, index: usize, reader: &Reader, obstacles: &[Obstacle]) -> Result<PairForce, Problem> {
        let place = reader.root.key("pair-force").index(index);
        let label = self.name.clone().unwrap_or_else(|| format!("pair force {index}"));
        let (law, place) = self.law(&label, reader, place)?;
        let names = obstacles.iter().map(|obstacle| obstacle.name.as_str());
        let find = |name: &Name| {
            let found = names.clone().position(|known| known == name.text);
            found.map(|index| index as u32).ok_or_else(|| unknown("obstacle", name, names.clone()))
        };
        let groups = self.groups.as_ref().map(|names| Self::groups(names, reader, index)).transpose()?;
        let obstacles = self.obstacles.iter().map(find).collect::<Result<_, _>>()?;
        let force = PairForce { label, groups, obstacles, law };
        match force.check() {
            Ok(()) => Ok(force),
            Err(InteractionError::Invalid { field, value, expected }) => {
                Err(place.key(field).problem(format!("`{field}` is {value}: expected {expected}")))
            }
            Err(error) => Err(place.problem(error.to_string())),
        }
    }

    /// The law, and where its values stand.
    fn law<'a>(&self, label: &str, reader: &Reader, place: Place<'a>) -> Result<(Law, Place<'a>), Problem> {
        let bridging = |pull, formation: Option<NotNegative>| {
            Law::Bridge(Bridging { pull, formation: formation.map_or(0.0, |gap| gap.0) })
        };
        match (&self.expression, self.range, &self.bridge) {
            (Some(text), Some(range), None) => {
                let force = expression(text, reader.root, &PAIR_VARIABLES)?;
                Ok((Law::Expression { force, range: range.0 }, place))
            }
            (None, None, Some(BridgeFile::Linear(file))) => {
                let pull = Pull::Linear { strength: file.strength.0, rupture: file.rupture.0 };
                Ok((bridging(pull, file.formation), place.key("bridge").key("linear")))
            }
            (None, None, Some(BridgeFile::Capillary(file))) => {
                let contact_angle = file.contact_angle.map_or(0.0, |angle| angle.0);
                let (surface_tension, volume) = (file.surface_tension.0, file.volume.0);
                let pull = Pull::Capillary { surface_tension, contact_angle, volume };
                Ok((bridging(pull, file.formation), place.key("bridge").key("capillary")))
            }
            _ => {
                let problem = place.problem(format!("`{label}` needs either `expression` and `range`, or `bridge`"));
                Err(problem.help("write one of the two in its [[pair-force]] table"))
            }
        }
    }

    /// One name is a group and itself.
    fn groups(names: &[Name], reader: &Reader, index: usize) -> Result<[u32; 2], Problem> {
        match names {
            [one] => Ok([reader.group(one)?; 2]),
            [first, second] => Ok([reader.group(first)?, reader.group(second)?]),
            _ => {
                let place = reader.root.key("pair-force").index(index).key("groups");
                Err(place.problem(format!("a pair force is within one group or between two, not {}", names.len())))
            }
        }
    }
}
