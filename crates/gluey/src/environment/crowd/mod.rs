//! Crowds: people who want to leave, after B. Maury and J. Venel, "A discrete contact model for crowd motion", ESAIM:
//! Mathematical Modelling and Numerical Analysis 45 (2011).
//!
//! Everyone has a desired velocity, that of somebody alone: the own speed along the shortest way to an exit around all
//! walls. The velocities are then the nearest ones, in the plain Euclidean metric, for which nobody overlaps,
//!
//! V^{n+1/2} = −s_i ∇T/|∇T|,  |∇T| = 1,  T = 0 on the exits;  metric 1.
//!
//! There is no inertia: a step reads positions alone. Masses play no role, and an impulse is a velocity: how much a
//! contact changes that of either partner.

mod exit;
mod fast_marching;
mod field;

use glam::DVec3;
use rayon::prelude::*;

pub use exit::{Exit, Turnstile};
pub use fast_marching::{Arrival, Grid, Seed, march};
use field::{Field, Survey};

use super::{Environment, EnvironmentError, Inertia, Prediction, Span};
use crate::geometry::{Extent, Images, Obstacle, Particles, Placed, Shape};

/// Cells in the smallest radius, unless a size is given.
const CELLS_IN_RADIUS: f64 = 4.0;
/// Fewest cells in the smallest radius: the nodes around a person who touches a wall must be on the person's side of
/// it.
const FEWEST_CELLS: f64 = 2.0;
/// Ratio of radii that share a field: someone this much larger than the field is made for slides along a corner slower
/// by no more than this.
const CLASS: f64 = 1.1;
/// Nodes of the grid: 1,400 a side take some seconds and half a gigabyte.
const MOST_NODES: f64 = 2e6;

/// What people want, and what they know.
#[derive(Clone, Debug, PartialEq)]
pub struct Wishes {
    /// Speed of the people of each group ≥ 0 (length / time).
    pub speeds: Vec<f64>,
    /// Where they leave.
    pub exits: Vec<Exit>,
    /// How much room they would like between themselves and walls ≥ 0 (length).
    pub clearance: f64,
    /// Size of a cell (length), at most half the smallest radius; a quarter of it, if none is given.
    pub cell: Option<f64>,
}

/// Why there are no ways to the exits.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum CrowdError {
    /// A speed, or the clearance.
    #[error("{quantity} is {value}: it must be finite and not negative")]
    Quantity { quantity: &'static str, value: f64 },
    /// Someone belongs to a group without a speed.
    #[error("group {group} has no speed")]
    NoSpeed { group: u32 },
    /// Ways are found for those who are there.
    #[error("a crowd needs somebody at the start")]
    Nobody,
    /// There is nowhere to go.
    #[error("a crowd needs an exit")]
    NoExit,
    /// An exit that cannot be walked through.
    #[error("exit {index} makes no sense: {flaw}")]
    Exit { index: usize, flaw: &'static str },
    /// Ways are found once, at the start.
    #[error("obstacle `{name}` moves: the ways of a crowd are found once, around walls at rest")]
    Moves { name: String },
    /// Its images would leave no room.
    #[error("obstacle `{name}` cannot repeat along {axis}, which is periodic")]
    CannotRepeat { name: String, axis: &'static str },
    /// Too coarse, or not a size.
    #[error("a cell of {cell} is not allowed: it must be positive, and at most half the smallest radius, {most}")]
    Cell { cell: f64, most: f64 },
    /// Too fine.
    #[error("with cells of {cell} the grid would have {nodes:.1e} nodes; at most {MOST_NODES:.0e} are allowed")]
    TooFine { cell: f64, nodes: f64 },
    /// Someone is walled in.
    #[error("particle {particle} has no way to an exit")]
    NoWay { particle: usize },
    /// Someone does not fit through.
    #[error(
        "particle {particle} of radius {radius} cannot leave: its widest way to an exit has room for a radius of about {room:.3}"
    )]
    TooWide { particle: usize, radius: f64, room: f64 },
}

/// People on their way to the exits.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowd {
    speeds: Vec<f64>,
    exits: Vec<Exit>,
    grid: Grid,
    /// Least radius of a class, ascending, and the ways of the class.
    fields: Vec<(f64, Field)>,
}

impl Crowd {
    /// Finds the ways of all these people around obstacles that are at rest; everybody must have one. In a periodic
    /// cell exits and obstacles are there in every image of it, and ways lead through the faces where that is shorter.
    pub fn new(wishes: Wishes, people: &Particles, obstacles: &[Obstacle]) -> Result<Self, CrowdError> {
        let Wishes { speeds, exits, clearance, cell } = wishes;
        check(&speeds, &exits, clearance, people)?;
        if let Some(moving) = obstacles.iter().find(|obstacle| !obstacle.is_fixed()) {
            return Err(CrowdError::Moves { name: moving.name.clone() });
        }
        let smallest = people.smallest_radius();
        let (cell, most) = (cell.unwrap_or(smallest / CELLS_IN_RADIUS), smallest / FEWEST_CELLS);
        if !(cell > 0.0 && cell <= most * (1.0 + 1e-9)) {
            return Err(CrowdError::Cell { cell, most });
        }
        let classes = classes(&people.radius);
        let keep = clearance + people.radius.iter().copied().fold(0.0, f64::max);
        let grid = grid(people, obstacles, &exits, cell, 2.0 * keep)?;
        let images = obstacles.iter().map(|obstacle| images(obstacle, people)).collect::<Result<Vec<_>, _>>()?;
        let pairs = obstacles.iter().zip(&images);
        let walls: Vec<Placed> = pairs.map(|(wall, images)| wall.at(0.0).repeated(images.as_ref())).collect();
        let survey = Survey::new(walls, &exits, grid, 2.0 * keep);
        check_ways(people, &survey)?;
        let fields = classes.par_iter().map(|radius| (*radius, Field::new(&survey, radius + clearance))).collect();
        let grid = survey.grid;
        Ok(Self { speeds, exits, grid, fields })
    }

    /// The exits.
    #[must_use]
    pub fn exits(&self) -> &[Exit] {
        &self.exits
    }

    /// Where someone of this radius would walk (lengths): a unit vector, zero where there is no way.
    #[must_use]
    pub fn direction(&self, centre: DVec3, radius: f64) -> DVec3 {
        let above = self.fields.partition_point(|(least, _)| *least <= radius);
        let (_, field) = &self.fields[above.saturating_sub(1)];
        field.direction(&self.grid, centre.truncate()).extend(0.0)
    }
}

impl Environment for Crowd {
    fn predict(&self, people: &Particles, span: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
        span.check()?;
        prediction.clear();
        for (i, group) in people.group.iter().enumerate() {
            let Some(speed) = self.speeds.get(*group as usize) else {
                return Err(EnvironmentError::invalid("group", group, "a group with a speed"));
            };
            prediction.push(*speed * self.direction(people.position[i], people.radius[i]), 1.0);
        }
        Ok(())
    }

    fn inertia(&self) -> Inertia {
        Inertia::None
    }

    fn potential_energy(&self, _: &Particles, _: f64) -> f64 {
        0.0
    }
}

fn check(speeds: &[f64], exits: &[Exit], clearance: f64, people: &Particles) -> Result<(), CrowdError> {
    let usable = |value: f64| value.is_finite() && value >= 0.0;
    if let Some(&value) = speeds.iter().find(|speed| !usable(**speed)) {
        return Err(CrowdError::Quantity { quantity: "a speed", value });
    }
    if !usable(clearance) {
        return Err(CrowdError::Quantity { quantity: "the clearance", value: clearance });
    }
    if let Some(&group) = people.group.iter().find(|group| **group as usize >= speeds.len()) {
        return Err(CrowdError::NoSpeed { group });
    }
    if people.is_empty() {
        return Err(CrowdError::Nobody);
    }
    if exits.is_empty() {
        return Err(CrowdError::NoExit);
    }
    let flaw = |(index, exit): (usize, &Exit)| exit.flaw().map(|flaw| CrowdError::Exit { index, flaw });
    exits.iter().enumerate().find_map(flaw).map_or(Ok(()), Err)
}

/// Least radii of the classes, ascending: nobody is smaller than the one of the own class.
fn classes(radii: &[f64]) -> Vec<f64> {
    let mut sorted = radii.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut classes: Vec<f64> = Vec::new();
    for radius in sorted {
        if classes.last().is_none_or(|least| radius > CLASS * least) {
            classes.push(radius);
        }
    }
    classes
}

/// Where the images of an obstacle are; none without a cell.
fn images(obstacle: &Obstacle, people: &Particles) -> Result<Option<Images>, CrowdError> {
    let found = people.cell.as_ref().map(|cell| Images::of(&obstacle.at(0.0), cell)).transpose();
    found.map_err(|why| CrowdError::CannotRepeat { name: obstacle.name.clone(), axis: ["x", "y", "z"][why.axis()] })
}

/// A grid over people, exits and walls, and `margin` around them: every way around a wall has room on it. Along a
/// periodic axis it is the cell.
fn grid(
    people: &Particles,
    obstacles: &[Obstacle],
    exits: &[Exit],
    cell: f64,
    margin: f64,
) -> Result<Grid, CrowdError> {
    let ends = exits.iter().flat_map(|exit| [exit.from.extend(0.0), exit.to.extend(0.0)]);
    let (mut lower, mut upper) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for point in people.position.iter().copied().chain(ends) {
        (lower, upper) = (lower.min(point), upper.max(point));
    }
    let view = Extent { lower, upper, dimension: 2 };
    for obstacle in obstacles.iter().filter(|obstacle| !matches!(obstacle.shape, Shape::HalfSpace { .. })) {
        for point in obstacle.at(0.0).surface(&view).points {
            (lower, upper) = (lower.min(point), upper.max(point));
        }
    }
    let (mut lower, mut upper) = (lower.truncate() - margin, upper.truncate() + margin);
    let repeats = |axis: usize| people.cell.filter(|cell| cell.is_periodic(axis));
    for axis in 0..2 {
        if let Some(space) = repeats(axis) {
            (lower[axis], upper[axis]) = (space.lower()[axis], space.lower()[axis] + space.period()[axis]);
        }
    }
    let nodes = ((upper - lower) / cell).element_product();
    if nodes > MOST_NODES {
        return Err(CrowdError::TooFine { cell, nodes });
    }
    let mut grid = Grid::covering(lower, upper, cell);
    for axis in 0..2 {
        if let Some(space) = repeats(axis) {
            grid = grid.repeated(axis, space.lower()[axis], space.period()[axis]);
        }
    }
    Ok(grid)
}

/// Everybody must find an exit, and room on the way. What nodes tell of the room is too little by up to half the
/// diagonal of a cell.
fn check_ways(people: &Particles, survey: &Survey) -> Result<(), CrowdError> {
    let widest = survey.widest_ways();
    let unseen = std::f64::consts::FRAC_1_SQRT_2 * survey.grid.cell();
    for (particle, (centre, &radius)) in people.position.iter().zip(&people.radius).enumerate() {
        let room = survey.grid.around(centre.truncate()).iter().map(|(node, _)| widest[*node]).fold(0.0, f64::max);
        if room == 0.0 {
            return Err(CrowdError::NoWay { particle });
        }
        if room + unseen < radius {
            return Err(CrowdError::TooWide { particle, radius, room: room + unseen });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
