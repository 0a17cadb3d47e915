//! `[periodic]`: the directions in which space repeats.

use schemars::JsonSchema;
use serde::Deserialize;

use super::diagnostics::Problem;
use super::tree::Place;
use super::value::{Finite, shown};
use crate::geometry::{Cell, Images, Obstacle, Placed, Unrepeatable};
use crate::interaction::Interactions;

/// The least period, in greatest radii. Above 4, nobody touches a partner on both sides; the rest is room to move in a step.
const NARROWEST: f64 = 5.0;
/// Sizes that differ by less than this share are the same.
const ROUNDING: f64 = 1e-12;
const AXES: [&str; 3] = ["x", "y", "z"];

/// Directions in which space repeats: what leaves at one end enters at the other.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PeriodicFile {
    /// Ends of the cell along x.
    pub x: Option<[Finite; 2]>,
    /// Ends of the cell along y.
    pub y: Option<[Finite; 2]>,
    /// Ends of the cell along z; not in 2D.
    pub z: Option<[Finite; 2]>,
}

impl PeriodicFile {
    /// The cell; none where no direction is periodic.
    pub(super) fn cell(&self, dimension: usize, place: &Place, problems: &mut Vec<Problem>) -> Option<Cell> {
        let ends = [self.x, self.y, self.z].map(|ends| ends.map(|ends| ends.map(|end| end.0)));
        if ends.iter().all(Option::is_none) {
            return None;
        }
        if dimension == 2 && ends[2].is_some() {
            problems.push(place.key("z").problem("a 2D scene is not periodic along z"));
        }
        let error = |error: crate::geometry::FieldError| {
            problems.push(place.key(error.field).problem(format!("the ends are {}", error.value)).help(error.expected));
        };
        Cell::new(ends).map_err(error).ok()
    }
}

/// Where the obstacles' images are at t = 0; one entry each, none without a cell.
pub(super) fn images(
    cell: Option<&Cell>,
    obstacles: &[Obstacle],
    place: &Place,
    problems: &mut Vec<Problem>,
) -> Vec<Option<Images>> {
    let one = |(index, obstacle): (usize, &Obstacle)| {
        let found = Images::of(&obstacle.at(0.0), cell?);
        let refuse = |why: Unrepeatable| {
            let (name, shape) = (&obstacle.name, place.index(index).key("shape"));
            let problem = match why {
                Unrepeatable::Endless { axis } => shape.problem(format!(
                    "obstacle `{name}` cannot repeat along {axis}, which is periodic: it has no end there and is not parallel \
                     to it",
                    axis = AXES[axis]
                )),
                Unrepeatable::TooLong { axis, periods } => shape.problem(format!(
                    "obstacle `{name}` goes {periods:.1e} times around the cell along {}: too long",
                    AXES[axis]
                )),
            };
            problems.push(problem.help(match why {
                Unrepeatable::Endless { .. } => {
                    "planes and sides of containers must be parallel to periodic directions; use a plate or a solid box to \
                     close them, or open the sides of the container"
                }
                Unrepeatable::TooLong { .. } => {
                    "make it shorter or the cell wider; what has no end along a periodic direction does not count there"
                }
            }));
        };
        found.map_err(refuse).ok()
    };
    obstacles.iter().enumerate().map(one).collect()
}

/// The obstacles at t = 0 with their images.
pub(super) fn placed<'a>(obstacles: &'a [Obstacle], images: &'a [Option<Images>]) -> Vec<Placed<'a>> {
    obstacles.iter().zip(images).map(|(obstacle, images)| obstacle.at(0.0).repeated(images.as_ref())).collect()
}

/// Whether the cell is wide enough for its pair forces: twice as wide as the centres of a pair in reach may be apart, so
/// that no pair is in reach on both sides.
pub(super) fn check_reach(
    cell: Option<Cell>,
    greatest: f64,
    interactions: &Interactions,
    place: &Place,
    problems: &mut Vec<Problem>,
) {
    let Some(cell) = cell else { return };
    for (index, force) in interactions.forces().iter().enumerate() {
        let needed = 2.0 * (2.0 * greatest + force.reach());
        if cell.least_period() < needed {
            let problem = place.index(index).problem(format!(
                "this force reaches {} from surface to surface, too far for a periodic cell {} wide",
                shown(force.reach()),
                shown(cell.least_period())
            ));
            problems.push(problem.help(format!("make the cell at least {} wide, or the force shorter", shown(needed))));
        }
    }
}

/// Whether the cell is wide enough for its particles.
pub(super) fn check_width(cell: Option<Cell>, greatest: f64, place: &Place, problems: &mut Vec<Problem>) {
    problems.extend(too_narrow(cell, greatest, place));
}

/// The directions in which the cell is too narrow for particles of this radius (length), as problems.
pub(super) fn too_narrow(cell: Option<Cell>, radius: f64, place: &Place) -> impl Iterator<Item = Problem> {
    let needed = NARROWEST * radius;
    let narrow = cell.into_iter().flat_map(|cell| cell.axes().map(move |axis| (axis, cell.period()[axis])));
    narrow.filter(move |(_, size)| *size < needed).map(move |(axis, size)| {
        let problem = place.key(AXES[axis]).problem(format!(
            "the cell is {} wide, too narrow for particles of radius {}",
            shown(size),
            shown(radius)
        ));
        problem.help(format!(
            "make it at least {} wide, {NARROWEST} of the greatest radii, so that no pair touches on both sides",
            shown(needed)
        ))
    })
}

/// The directions in which a clump of this diameter (length) could meet its own image, as problems. Its spheres are held
/// together and never looked at as pairs, so that no turn may bring them there: L ≥ |a − b| + r_a + r_b.
pub(super) fn too_narrow_for_clumps(
    cell: Option<Cell>,
    (name, diameter): (&str, f64),
    place: &Place,
) -> impl Iterator<Item = Problem> {
    let narrow = cell.into_iter().flat_map(|cell| cell.axes().map(move |axis| (axis, cell.period()[axis])));
    narrow.filter(move |(_, size)| *size < diameter * (1.0 - ROUNDING)).map(move |(axis, size)| {
        let problem = place.key(AXES[axis]).problem(format!(
            "the cell is {} wide, too narrow for clumps `{name}`, which are {} long",
            shown(size),
            shown(diameter)
        ));
        problem.help(format!("make it at least {} wide, so that no clump meets its own image", shown(diameter)))
    })
}
