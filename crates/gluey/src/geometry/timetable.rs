//! Shifts and angles at times, linear between them and held outside: x(t) = x_k + w (x_{k+1} − x_k).

use std::ops::{Add, Mul, Sub};
use std::sync::Arc;

use glam::DVec3;

use super::check::{self, FieldError, require};

/// Shifts and angles at strictly increasing times. Copies share their rows, which may be many.
#[derive(Clone, Debug)]
pub struct Timetable {
    rows: Arc<Rows>,
}

#[derive(Debug, PartialEq)]
struct Rows {
    times: Vec<f64>,
    offsets: Vec<DVec3>,
    angles: Vec<f64>,
    /// Whether some two shifts, and some two angles, differ.
    shifts: bool,
    turns: bool,
    /// Whether there is an angle other than 0.
    is_turned: bool,
}

/// How far a table goes in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Travel {
    /// Length of the path of the shift (length).
    pub shifted: f64,
    /// The same of the angle (rad).
    pub turned: f64,
    /// The largest shift (length).
    pub farthest: f64,
}

impl PartialEq for Timetable {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows) || self.rows == other.rows
    }
}

impl Timetable {
    /// The shift (length) and the angle (rad) at each time.
    pub fn new(times: Vec<f64>, offsets: Vec<DVec3>, angles: Vec<f64>) -> Result<Self, FieldError> {
        require(!times.is_empty(), "times", &times, "at least one time")?;
        require(offsets.len() == times.len(), "offsets", offsets.len(), "as many entries as times")?;
        require(angles.len() == times.len(), "angles", angles.len(), "as many entries as times")?;
        times.iter().try_for_each(|t| check::finite("times", *t))?;
        offsets.iter().try_for_each(|o| check::vector("offsets", *o, 3))?;
        angles.iter().try_for_each(|a| check::finite("angles", *a))?;
        times.windows(2).try_for_each(|t| {
            let found = format_args!("{} after {}", t[1], t[0]);
            require(t[0] < t[1], "times", found, "strictly increasing")
        })?;
        let shifts = offsets.windows(2).any(|o| o[0] != o[1]);
        let turns = angles.windows(2).any(|a| a[0] != a[1]);
        let is_turned = angles.iter().any(|a| *a != 0.0);
        Ok(Self { rows: Arc::new(Rows { times, offsets, angles, shifts, turns, is_turned }) })
    }

    /// The times.
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.rows.times
    }

    /// The shift at each time (length).
    #[must_use]
    pub fn offsets(&self) -> &[DVec3] {
        &self.rows.offsets
    }

    /// The shift at a time (length).
    #[must_use]
    pub fn offset(&self, t: f64) -> DVec3 {
        self.between(&self.rows.offsets, t)
    }

    /// The angle at a time (rad).
    #[must_use]
    pub fn angle(&self, t: f64) -> f64 {
        self.between(&self.rows.angles, t)
    }

    /// Whether the shift ever changes.
    #[must_use]
    pub fn shifts(&self) -> bool {
        self.rows.shifts
    }

    /// Whether the angle ever changes.
    #[must_use]
    pub fn turns(&self) -> bool {
        self.rows.turns
    }

    /// Whether the angle is ever other than 0.
    #[must_use]
    pub fn is_turned(&self) -> bool {
        self.rows.is_turned
    }

    /// What happens from a start to an end (times). Only rows that the span meets are looked at.
    pub(super) fn travel(&self, (start, end): (f64, f64)) -> Travel {
        let Rows { times, offsets, angles, .. } = &*self.rows;
        let mut travel = Travel { farthest: self.offset(start).length(), ..Travel::default() };
        let first = times.partition_point(|knot| *knot <= start).max(1);
        for k in (first..times.len()).take_while(|k| times[k - 1] < end) {
            let share = (end.min(times[k]) - start.max(times[k - 1])).max(0.0) / (times[k] - times[k - 1]);
            travel.shifted += share * (offsets[k] - offsets[k - 1]).length();
            travel.turned += share * (angles[k] - angles[k - 1]).abs();
            if share > 0.0 {
                travel.farthest = travel.farthest.max(offsets[k - 1].length()).max(offsets[k].length());
            }
        }
        travel
    }

    /// Linear between the values at the times, constant outside.
    fn between<T>(&self, values: &[T], t: f64) -> T
    where
        T: Copy + Add<Output = T> + Sub<Output = T>,
        f64: Mul<T, Output = T>,
    {
        let times = &self.rows.times;
        let (k, weight) = bracket(times, t);
        values[k] + weight * (values[(k + 1).min(times.len() - 1)] - values[k])
    }
}

/// Index k and weight w ∈ [0, 1] so that t = times[k] + w·(times[k+1] − times[k]), held at both ends.
fn bracket(times: &[f64], t: f64) -> (usize, f64) {
    let after = times.partition_point(|knot| *knot <= t);
    if after == 0 {
        (0, 0.0)
    } else if after == times.len() {
        (times.len() - 1, 0.0)
    } else {
        (after - 1, (t - times[after - 1]) / (times[after] - times[after - 1]))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    /// The sum over all rows, in or out of the span.
    fn over_all_rows(table: &Timetable, (start, end): (f64, f64)) -> Travel {
        let Rows { times, offsets, angles, .. } = &*table.rows;
        let mut travel = Travel { farthest: table.offset(start).length(), ..Travel::default() };
        for k in 1..times.len() {
            let share = (end.min(times[k]) - start.max(times[k - 1])).max(0.0) / (times[k] - times[k - 1]);
            travel.shifted += share * (offsets[k] - offsets[k - 1]).length();
            travel.turned += share * (angles[k] - angles[k - 1]).abs();
            if share > 0.0 {
                travel.farthest = travel.farthest.max(offsets[k - 1].length()).max(offsets[k].length());
            }
        }
        travel
    }

    proptest! {
        #[test]
        fn rows_that_a_span_does_not_meet_change_no_bit(
            rows in prop::collection::vec((0.1..1.0, -1.0..1.0_f64, -2.0..2.0_f64), 1..12), start in -2.0..9.0,
            length in -0.5..5.0,
        ) {
            let mut time = -1.0;
            let times: Vec<f64> = rows.iter().map(|row| { time += row.0; time }).collect();
            let offsets = rows.iter().map(|row| DVec3::new(row.1, row.2, row.1 * row.2)).collect();
            let table = Timetable::new(times.clone(), offsets, rows.iter().map(|row| row.2).collect()).unwrap();
            for start in times.iter().copied().chain([start]) {
                for end in times.iter().copied().chain([start + length]) {
                    prop_assert_eq!(table.travel((start, end)), over_all_rows(&table, (start, end)));
                }
            }
        }
    }

    #[test]
    fn a_span_costs_what_it_meets_of_a_long_table() {
        let count = 1_000_000;
        let times = (0..count).map(f64::from).collect();
        let offsets = (0..count).map(|k| DVec3::X * f64::from(k % 7)).collect();
        let table = Timetable::new(times, offsets, vec![0.0; count as usize]).unwrap();
        let begun = Instant::now();
        let sum: f64 =
            (0..10_000).map(|k| table.travel((f64::from(k) * 90.5, f64::from(k) * 90.5 + 0.5)).shifted).sum();
        // All rows each time would take 10 seconds and more.
        assert!(sum > 0.0 && begun.elapsed().as_secs_f64() < 1.0, "{:?}", begun.elapsed());
    }

    #[test]
    fn what_is_wrong_with_a_long_table_is_told_without_all_of_it() {
        let times: Vec<f64> = (0..100_000).map(|k| f64::from(if k == 70_000 { 3 } else { k })).collect();
        let (offsets, angles) = (vec![DVec3::ZERO; times.len()], vec![0.0; times.len()]);
        let error = Timetable::new(times, offsets, angles).unwrap_err();
        assert_eq!(error.to_string(), "times = 3 after 69999: should be strictly increasing");
    }
}
