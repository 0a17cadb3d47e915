//! A crowd in a scene file: `[environment.crowd]`, and the speeds of groups.

use schemars::JsonSchema;
use serde::Deserialize;

use super::diagnostics::Problem;
use super::file::{LawFile, SceneFile};
use super::tree::Place;
use super::value::{NotNegative, Positive, Vector};
use crate::environment::Environment;
use crate::environment::crowd::{Crowd, CrowdError, Exit, Wishes};
use crate::geometry::{Obstacle, Particles};

/// People on their way to the exits (2D only).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrowdFile {
    /// Speed of who walks alone; groups may have their own.
    pub speed: NotNegative,
    /// Where people leave.
    pub exits: Vec<ExitFile>,
    /// Room that people keep between themselves and walls where they can (default 0).
    pub clearance: Option<NotNegative>,
    /// Cell of the grid on which ways are found (default, and at most, half the smallest radius).
    pub cell: Option<Positive>,
}

/// An exit: a segment that is walked through.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitFile {
    /// One end.
    pub from: Vector,
    /// The other end.
    pub to: Vector,
    /// The direction in which people walk out, and on.
    pub out: Vector,
}

impl ExitFile {
    fn build(&self) -> Result<Exit, Problem> {
        let plane = |vector: &Vector| {
            let found = vector.in_dimension(2).map_err(|message| Problem::at(vector.span.clone(), message));
            found.map(glam::DVec3::truncate)
        };
        Ok(Exit { from: plane(&self.from)?, to: plane(&self.to)?, out: plane(&self.out)? })
    }
}

/// Speeds of groups make sense in a crowd alone.
pub(super) fn refuse_speeds(file: &SceneFile, root: &Place, problems: &mut Vec<Problem>) {
    for (index, _) in file.groups.iter().enumerate().filter(|(_, group)| group.speed.is_some()) {
        let problem = root.key("group").index(index).key("speed").problem("`speed` is for groups of a crowd");
        problems.push(problem.help("leave it out, or describe the crowd in [environment.crowd]"));
    }
}

/// The crowd of the scene; nothing where it has problems.
pub(super) fn crowd(
    file: &SceneFile,
    crowd: &CrowdFile,
    (people, obstacles): (&Particles, &[Obstacle]),
    root: &Place,
    problems: &mut Vec<Problem>,
) -> Option<Box<dyn Environment>> {
    refuse_others(file, root, problems);
    let place = root.key("environment").key("crowd");
    let mut exits = Vec::new();
    for exit in &crowd.exits {
        match exit.build() {
            Ok(exit) => exits.push(exit),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return None;
    }
    let mut speeds: Vec<f64> = file.groups.iter().map(|group| group.speed.unwrap_or(crowd.speed).0).collect();
    if speeds.is_empty() {
        speeds.push(crowd.speed.0);
    }
    let wishes = Wishes {
        speeds,
        exits,
        clearance: crowd.clearance.map_or(0.0, |clearance| clearance.0),
        cell: crowd.cell.map(|cell| cell.0),
    };
    match Crowd::new(wishes, people, obstacles) {
        Ok(crowd) => Some(Box::new(crowd)),
        Err(error) => {
            problems.push(told(&error, obstacles, root, &place));
            None
        }
    }
}

/// The problem, at the entry that it is about.
fn told(error: &CrowdError, obstacles: &[Obstacle], root: &Place, place: &Place) -> Problem {
    let message = error.to_string();
    match error {
        CrowdError::NoExit => place.key("exits").problem(message).help("write exits = [{ from, to, out }]"),
        CrowdError::Exit { index, .. } => place.key("exits").index(*index).problem(message),
        CrowdError::Cell { .. } | CrowdError::TooFine { .. } => place.key("cell").problem(message),
        CrowdError::Moves { name } | CrowdError::CannotRepeat { name, .. } => {
            let key = if matches!(error, CrowdError::Moves { .. }) { "motion" } else { "shape" };
            match obstacles.iter().position(|obstacle| obstacle.name == *name) {
                Some(index) => root.key("obstacle").index(index).key(key).problem(message),
                None => place.problem(message),
            }
        }
        CrowdError::NoWay { .. } | CrowdError::TooWide { .. } => {
            place.key("exits").problem(message).help("open the walls, or move the exits (indices count from 0)")
        }
        CrowdError::Quantity { .. } | CrowdError::NoSpeed { .. } | CrowdError::Nobody => place.problem(message),
    }
}

/// People follow their wishes: forces, fluids and glue have no place in the model.
fn refuse_others(file: &SceneFile, root: &Place, problems: &mut Vec<Problem>) {
    let environment = root.key("environment");
    if file.dimension.0 != 2 {
        let problem = environment.key("crowd").problem("a crowd walks in the plane");
        problems.push(problem.help("write dimension = 2"));
    }
    let given = &file.environment;
    let keys = [
        ("gravity", given.gravity.is_some()),
        ("drag", given.drag.is_some()),
        ("flow", given.flow.is_some()),
        ("inertia", given.inertia.is_some()),
    ];
    for (key, _) in keys.iter().filter(|(_, is_there)| *is_there) {
        let problem = environment.key(key).problem(format!("`{key}` has no meaning in a crowd"));
        problems.push(problem.help("people walk as they wish, as far as others let them: leave it out"));
    }
    for index in 0..file.forces.len() {
        let problem = root.key("force").index(index).problem("forces have no meaning in a crowd");
        problems.push(problem.help("leave [[force]] out"));
    }
    for index in 0..file.pair_forces.len() {
        let problem = root.key("pair-force").index(index).problem("forces have no meaning in a crowd");
        problems.push(problem.help("leave [[pair-force]] out"));
    }
    for index in 0..file.inlets.len() {
        let problem = root.key("inlet").index(index).problem("nobody comes in while a crowd leaves");
        problems.push(problem.help("ways are found for those who are there at the start: leave [[inlet]] out"));
    }
    for index in 0..file.clumps.len() {
        let problem = root.key("clump").index(index).problem("people are not held together in clumps");
        problems.push(problem.help("leave [[clump]] out"));
    }
    let mut refuse_glue = |law: &LawFile, place: Place| {
        if !matches!(law, LawFile::Inelastic) {
            problems.push(place.problem("people do not stick").help("a crowd has the law \"inelastic\""));
        }
    };
    refuse_glue(&file.contact.law, root.key("contact").key("law"));
    for (index, obstacle) in file.obstacles.iter().enumerate() {
        if let Some(law) = &obstacle.law {
            refuse_glue(law, root.key("obstacle").index(index).key("law"));
        }
    }
}
