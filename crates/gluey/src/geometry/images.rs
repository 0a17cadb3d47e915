//! The images of an obstacle in a periodic cell: it repeats, like all that is there.

use glam::DVec3;

use super::cell::Cell;
use super::motion::unit;
use super::obstacle::Placed;
use super::shape::{BoxSide, Shape, Side};

/// Two directions are taken for parallel, or for at right angles, up to this angle.
const ANGLE: f64 = 1e-9;

/// How far a shape goes along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Along {
    /// From here to there.
    Between(f64, f64),
    /// Without end, and shifting it along the axis changes nothing.
    Endless,
    /// Without end, and not the same when it is shifted: copies of it would leave no room.
    Single,
}

/// An obstacle may be so many periods long, all axes together: each image is looked at one by one.
const MOST_IMAGES: f64 = 1e5;

/// Why an obstacle has no images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unrepeatable {
    /// It has no end along this axis, and shifting it changes it.
    Endless {
        /// Which.
        axis: usize,
    },
    /// It is too long for the cell.
    TooLong {
        /// The axis along which it has the most periods.
        axis: usize,
        /// So many.
        periods: f64,
    },
}

impl Unrepeatable {
    /// The axis along which it cannot repeat.
    #[must_use]
    pub fn axis(self) -> usize {
        match self {
            Self::Endless { axis } | Self::TooLong { axis, .. } => axis,
        }
    }
}

/// Where the images of an obstacle are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Images {
    cell: Cell,
    /// A box around the obstacle; infinite where shifting it changes nothing.
    lower: DVec3,
    upper: DVec3,
}

impl Images {
    /// Of an obstacle where it stands; tells why it cannot repeat.
    pub fn of(placed: &Placed, cell: &Cell) -> Result<Self, Unrepeatable> {
        let (mut all, mut longest) = (1.0, (0.0, 0));
        let mut images = Self { cell: *cell, lower: DVec3::NEG_INFINITY, upper: DVec3::INFINITY };
        for axis in cell.axes() {
            match along(placed, DVec3::AXES[axis]) {
                Along::Between(lower, upper) => {
                    (images.lower[axis], images.upper[axis]) = (lower, upper);
                    let periods = (upper - lower) / cell.period()[axis];
                    all *= periods.max(1.0);
                    longest = if periods > longest.0 { (periods, axis) } else { longest };
                }
                Along::Endless => {}
                Along::Single => return Err(Unrepeatable::Endless { axis }),
            }
        }
        let (periods, axis) = longest;
        if all > MOST_IMAGES { Err(Unrepeatable::TooLong { axis, periods }) } else { Ok(images) }
    }

    /// Every image of a point that may be within a distance of the obstacle: what to add to the point.
    pub(super) fn shifts(&self, point: DVec3, distance: f64) -> impl Iterator<Item = DVec3> + use<> {
        self.within(point, DVec3::splat(distance.max(0.0)))
    }

    /// The image of a point that is nearest to the obstacle, and all others within half a period of it.
    pub(super) fn nearest_shifts(&self, point: DVec3) -> impl Iterator<Item = DVec3> + use<> {
        self.within(point, 0.5 * self.cell.period())
    }

    fn within(&self, point: DVec3, margin: DVec3) -> impl Iterator<Item = DVec3> + use<> {
        // A hair more, for what rounding does to the box.
        let margin = margin + 1e-9 * self.cell.period();
        self.cell.shifts(point, self.lower - margin, self.upper + margin)
    }

    /// Half the smallest period: what is further away need not be looked at.
    pub(crate) fn horizon(&self) -> f64 {
        0.5 * self.cell.least_period()
    }
}

/// How far a shape goes along a unit vector, where it stands.
fn along(placed: &Placed, axis: DVec3) -> Along {
    let (shape, pose) = (placed.shape(), placed.pose());
    let local = pose.rotation.conjugate() * axis;
    let endless = |holds: bool| if holds { Along::Endless } else { Along::Single };
    let around = |point: DVec3, reach: f64| {
        let middle = pose.apply(point).dot(axis);
        Along::Between(middle - reach, middle + reach)
    };
    // A cylinder or wheel of this axis, radius and length.
    let round = |middle: DVec3, own: DVec3, radius: f64, length: f64| {
        let own = unit(own);
        let share = own.dot(local).abs();
        if length.is_infinite() && share > ANGLE {
            return endless(own.cross(local).length() <= ANGLE);
        }
        let half = if share > ANGLE { 0.5 * length * share } else { 0.0 };
        around(middle, half + radius * (1.0 - share * share).max(0.0).sqrt() + ANGLE * radius)
    };
    match shape {
        Shape::HalfSpace { normal, .. } => endless(unit(*normal).dot(local).abs() <= ANGLE),
        Shape::Box { centre, half, orientation, side, open } => {
            let shares = (orientation.conjugate() * local).abs();
            if *side == Side::Inside {
                let is_open = |k: usize| BoxSide::ALL[2 * k..2 * k + 2].iter().all(|side| open.contains(side));
                let closed = |k: usize| half[k].is_finite() && !is_open(k);
                return endless((0..3).all(|k| !closed(k) || shares[k] <= ANGLE));
            }
            if (0..3).any(|k| half[k].is_infinite() && shares[k] > ANGLE) {
                return endless((0..3).all(|k| half[k].is_infinite() || shares[k] <= ANGLE));
            }
            around(*centre, (0..3).filter(|k| half[*k].is_finite()).map(|k| half[k] * (shares[k] + ANGLE)).sum())
        }
        Shape::Sphere { side: Side::Inside, .. } => Along::Single,
        Shape::Sphere { centre, radius, .. } => around(*centre, *radius),
        Shape::Cylinder { axis: own, length, side: Side::Inside, .. } if shape.open_shell().is_none() => {
            endless(length.is_infinite() && unit(*own).cross(local).length() <= ANGLE)
        }
        Shape::Cylinder { centre, axis: own, radius, length, .. } => round(*centre, *own, *radius, *length),
        Shape::Wheel(wheel) => {
            let radius = wheel.outer_radius + wheel.thickness;
            round(wheel.centre, wheel.axis, radius, wheel.width + wheel.thickness)
        }
        Shape::Plate(_) | Shape::Funnel(_) | Shape::Mesh(_) => match shape.bounds() {
            None => Along::Single,
            Some((lower, upper)) => around(0.5 * (lower + upper), (0.5 * (upper - lower)).dot(local.abs())),
        },
    }
}
