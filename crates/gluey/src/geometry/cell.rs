//! A periodic cell: space repeats along some of the axes.
//!
//! Along a periodic axis a with period L the points x and x + nL e_a, n any integer, are the same place. A particle has
//! one centre in the state, inside the cell, and images at all other n; whatever depends on two places uses the image
//! that is nearest.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::check::{FieldError, require};

const AXES: [&str; 3] = ["x", "y", "z"];

/// Which axes are periodic, from where and with which period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    lower: DVec3,
    /// 0 along an axis that is not periodic.
    period: DVec3,
}

impl Cell {
    /// One entry for each axis: the ends of the cell (length), or none where space does not repeat.
    pub fn new(ends: [Option<[f64; 2]>; 3]) -> Result<Self, FieldError> {
        let lower = ends.map(|ends| ends.map_or(0.0, |[from, _]| from));
        let period = ends.map(|ends| ends.map_or(0.0, |[from, to]| to - from));
        for (axis, [from, to]) in ends.into_iter().enumerate().filter_map(|(axis, ends)| Some((axis, ends?))) {
            require(to > from, AXES[axis], [from, to], "two numbers, the second above the first")?;
        }
        Self::with_periods(lower.into(), period.into())
    }

    /// From the lower ends and the periods (lengths); a period of 0 where space does not repeat.
    pub fn with_periods(lower: DVec3, period: DVec3) -> Result<Self, FieldError> {
        for (axis, name) in AXES.into_iter().enumerate() {
            let (lower, period) = (lower[axis], period[axis]);
            // Places must be told apart at both ends.
            let fits = lower.is_finite() && period.is_finite() && (period == 0.0 || period > 1e-6 * lower.abs());
            require(fits, name, [lower, lower + period], "two finite numbers, not too close for their size")?;
        }
        Ok(Self { lower, period })
    }

    /// The lower ends of the cell (length); 0 along axes that are not periodic.
    #[must_use]
    pub fn lower(&self) -> DVec3 {
        self.lower
    }

    /// The periods (length); 0 along axes that are not periodic.
    #[must_use]
    pub fn period(&self) -> DVec3 {
        self.period
    }

    /// Whether space repeats along an axis.
    #[must_use]
    pub fn is_periodic(&self, axis: usize) -> bool {
        self.period[axis] > 0.0
    }

    /// The axes along which space repeats.
    pub fn axes(self) -> impl Iterator<Item = usize> {
        (0..3).filter(move |axis| self.is_periodic(*axis))
    }

    /// The smallest period (length); infinite where there is none.
    #[must_use]
    pub fn least_period(&self) -> f64 {
        self.axes().map(|axis| self.period[axis]).fold(f64::INFINITY, f64::min)
    }

    /// The shortest of the vectors that differ from this one by periods.
    #[must_use]
    #[inline]
    pub fn shortest(&self, offset: DVec3) -> DVec3 {
        let Self { period, .. } = self;
        DVec3::new(nearest(offset.x, period.x), nearest(offset.y, period.y), nearest(offset.z, period.z))
    }

    /// The image of a point with lower ≤ x < lower + period. A point inside stays as it is, to the bit.
    #[must_use]
    pub fn wrap(&self, mut point: DVec3) -> DVec3 {
        for axis in self.axes() {
            let (lower, period) = (self.lower[axis], self.period[axis]);
            let x = &mut point[axis];
            if !(lower <= *x && *x < lower + period) {
                *x -= period * ((*x - lower) / period).floor();
                // Rounding may leave it a hair outside.
                if *x >= lower + period || *x < lower {
                    *x = lower;
                }
            }
        }
        point
    }

    /// The images of a point in a box with sides along the axes: what to add to the point for each, in a fixed order.
    /// Along an axis that is not periodic, or along which the box has no end, there is no shift.
    pub fn shifts(&self, point: DVec3, lower: DVec3, upper: DVec3) -> impl Iterator<Item = DVec3> + use<> {
        let period = self.period;
        let range = |axis: usize| {
            let (below, above) = (lower[axis] - point[axis], upper[axis] - point[axis]);
            if period[axis] == 0.0 || !(below.is_finite() && above.is_finite()) {
                return 0..=0;
            }
            (below / period[axis]).ceil() as i64..=(above / period[axis]).floor() as i64
        };
        let (x, y, z) = (range(0), range(1), range(2));
        x.flat_map(move |i| {
            let z = z.clone();
            y.clone().flat_map(move |j| z.clone().map(move |k| DVec3::new(i as f64, j as f64, k as f64) * period))
        })
    }

    /// The images of a point that are within a distance of the cell and within so many periods of it along each axis,
    /// its image inside among them: what to add for each. With half a period the nearest image to any point of the cell
    /// is among them, if it is within the distance, and they are few however narrow the cell is.
    pub fn shifts_near(&self, point: DVec3, distance: f64, periods: f64) -> impl Iterator<Item = DVec3> + use<> {
        // A hair more, for rounding.
        let margin = (self.period * (periods + 1e-9)).min(DVec3::splat(distance));
        self.shifts(point, self.lower - margin, self.lower + self.period + margin)
    }
}

/// The number of least size among those that differ from this one by periods; 0: there is none.
///
/// Apart, and of one number: who asks mostly has no cell, and should stay short and keep its vectors in registers.
#[inline(never)]
fn nearest(d: f64, period: f64) -> f64 {
    let half = 0.5 * period;
    if period == 0.0 || (-half <= d && d <= half) { d } else { d - period * (d / period).round() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell() -> Cell {
        Cell::new([Some([-1.0, 2.0]), None, Some([5.0, 5.5])]).unwrap()
    }

    #[test]
    fn ends_that_make_no_cell_are_refused() {
        for ends in [[1.0, 1.0], [2.0, 1.0], [0.0, f64::INFINITY], [f64::NAN, 1.0], [1e9, 1e9 + 1.0]] {
            let error = Cell::new([None, Some(ends), None]).unwrap_err();
            assert_eq!(error.field, "y", "{ends:?}");
        }
    }

    #[test]
    fn a_point_just_below_the_cell_does_not_land_on_its_upper_end() {
        let cell = Cell::new([Some([0.0, 1.0]), None, None]).unwrap();
        for x in [-1e-20, 1.0, -0.0, 1.0 - 1e-16, 7.0, -7.0] {
            let x = cell.wrap(DVec3::X * x).x;
            assert!((0.0..1.0).contains(&x), "{x}");
        }
    }

    proptest! {
        #[test]
        fn wrapping_and_shortening_change_by_whole_periods(
            x in prop::array::uniform3(-50.0..50.0_f64), y in prop::array::uniform3(-50.0..50.0_f64),
        ) {
            let (cell, x, y) = (cell(), DVec3::from(x), DVec3::from(y));
            let wrapped = cell.wrap(x);
            let moved = (wrapped - x).to_array();
            for (axis, moved) in moved.into_iter().enumerate() {
                let period = cell.period()[axis];
                if period == 0.0 {
                    prop_assert_eq!(moved, 0.0);
                } else {
                    prop_assert!((moved / period - (moved / period).round()).abs() < 1e-12);
                    prop_assert!(wrapped[axis] >= cell.lower()[axis] && wrapped[axis] < cell.lower()[axis] + period);
                }
            }
            prop_assert_eq!(cell.wrap(wrapped), wrapped);
            // The nearest of many images is the one by which `shortest` goes.
            let images = cell.shifts(x, DVec3::splat(-200.0), DVec3::splat(200.0));
            let least = images.map(|shift| (x + shift).distance(y)).fold(f64::INFINITY, f64::min);
            prop_assert!((cell.shortest(y - x).length() - least).abs() < 1e-12);
            prop_assert_eq!(cell.shortest(y - x), -cell.shortest(x - y));
        }
    }

    #[test]
    fn images_near_the_cell_are_all_found() {
        let cell = Cell::new([Some([0.0, 1.0]), Some([0.0, 1.0]), None]).unwrap();
        let count = |x: DVec3, distance: f64| cell.shifts_near(x, distance, 6.0).count();
        assert_eq!(count(DVec3::new(0.5, 0.5, 9.0), 0.2), 1);
        assert_eq!(count(DVec3::new(0.1, 0.5, 9.0), 0.2), 2);
        assert_eq!(count(DVec3::new(0.1, 0.9, 9.0), 0.2), 4);
        assert_eq!(count(DVec3::new(0.5, 0.5, 9.0), 1.2), 9);
        assert_eq!(count(DVec3::new(0.5, 0.5, 9.0), 1e300), 13 * 13);
        assert_eq!(cell.shifts_near(DVec3::new(0.1, 0.9, 9.0), 1e300, 0.5).count(), 4);
    }
}
