//! How an obstacle moves: a pose as a pure function of time, y(t) = R(t)·x + T(t).

use std::f64::consts::TAU;

use glam::DVec3;

use super::check::{self, FieldError, require};
use super::pose::Pose;
use super::timetable::{Timetable, Travel};

/// What is wrong with a motion.
pub type MotionError = FieldError;

/// One motion of an obstacle. Lengths and times are the scene's, angles are radians.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// At rest for ever.
    Fixed,
    /// Constant velocity during [from, until], at rest before and after; identity until `from`.
    Translation {
        /// Velocity (length / time).
        velocity: DVec3,
        /// Start (time), finite.
        from: f64,
        /// End (time); may be infinite.
        until: f64,
    },
    /// Constant turn during [from, until], at rest before and after; identity until `from`.
    Rotation {
        /// A point of the axis (length).
        centre: DVec3,
        /// Direction of the axis; only its direction counts.
        axis: DVec3,
        /// Angular velocity (rad / time), right-handed about the axis.
        rate: f64,
        /// Start (time), finite.
        from: f64,
        /// End (time); may be infinite.
        until: f64,
    },
    /// Displacement amplitude·(sin(2πft + phase) − sin(phase)); identity at t = 0.
    Oscillation {
        /// Amplitude (length).
        amplitude: DVec3,
        /// Cycles per time f ≥ 0.
        frequency: f64,
        /// Phase at t = 0 (rad).
        phase: f64,
    },
    /// A turn by an angle about the axis, then a shift, both linear between the times and constant outside.
    Table {
        /// Shift and angle at each time.
        table: Timetable,
        /// A point of the axis before the shift (length).
        centre: DVec3,
        /// Direction of the axis; only its direction counts.
        axis: DVec3,
    },
}

impl Motion {
    /// Where the motion has carried the obstacle at time t.
    #[must_use]
    pub fn pose(&self, t: f64) -> Pose {
        match self {
            Self::Fixed => Pose::IDENTITY,
            Self::Translation { velocity, from, until } => Pose::shift(*velocity * (active_until(t, *from, *until))),
            Self::Rotation { centre, axis, rate, from, until } => {
                Pose::turn(*centre, unit(*axis), rate * active_until(t, *from, *until))
            }
            Self::Oscillation { amplitude, frequency, phase } => {
                Pose::shift(*amplitude * ((TAU * frequency * t + phase).sin() - phase.sin()))
            }
            Self::Table { table, centre, axis } => {
                Pose::shift(table.offset(t)).compose(&Pose::turn(*centre, unit(*axis), table.angle(t)))
            }
        }
    }

    /// The axis of the turn, a unit vector, and the angle turned by time t (rad, right-handed), if the motion turns.
    #[must_use]
    pub fn turn(&self, t: f64) -> Option<(DVec3, f64)> {
        match self {
            _ if self.is_fixed() => None,
            Self::Rotation { axis, rate, from, until, .. } => {
                Some((unit(*axis), rate * active_until(t, *from, *until)))
            }
            Self::Table { table, axis, .. } if table.turns() => Some((unit(*axis), table.angle(t))),
            _ => None,
        }
    }

    /// Whether nothing ever moves.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::Fixed => true,
            Self::Translation { velocity, from, until } => *velocity == DVec3::ZERO || until <= from,
            Self::Rotation { rate, from, until, .. } => *rate == 0.0 || until <= from,
            Self::Oscillation { amplitude, frequency, .. } => *amplitude == DVec3::ZERO || *frequency == 0.0,
            Self::Table { table, .. } => !table.shifts() && !table.turns(),
        }
    }

    /// The point about which the motion turns, where the motion itself has carried it by time t (length).
    #[must_use]
    pub(super) fn centre(&self, t: f64) -> Option<DVec3> {
        match self {
            Self::Rotation { centre, .. } => Some(*centre),
            Self::Table { table, centre, .. } if table.is_turned() => Some(self.pose(t).apply(*centre)),
            _ => None,
        }
    }

    /// An upper bound of the path length over `span` = (start, end) of any material point that is within `slack` of
    /// `at` at some time of the span (lengths, times).
    ///
    /// It bounds ∫ sup |velocity| dt over all those points. A turn keeps each point's distance to its axis, so the
    /// distance at the one known time serves for the whole span.
    #[must_use]
    pub fn path_bound(&self, at: DVec3, slack: f64, span: (f64, f64)) -> f64 {
        let moving = |from: f64, until: f64| (span.1.min(until) - span.0.max(from)).max(0.0);
        match self {
            Self::Fixed => 0.0,
            Self::Translation { velocity, from, until } => velocity.length() * moving(*from, *until),
            Self::Rotation { centre, axis, rate, from, until } => {
                rate.abs() * moving(*from, *until) * (unit(*axis).cross(at - *centre).length() + slack)
            }
            // ∫ |2πf amplitude cos| dt ≤ 2πf |amplitude| (end − start)
            Self::Oscillation { amplitude, frequency, .. } => {
                TAU * frequency.abs() * amplitude.length() * (span.1 - span.0).max(0.0)
            }
            Self::Table { table, centre, axis } => {
                // The axis itself is shifted: the distance to it is known up to the largest shift in the span.
                let Travel { shifted, turned, farthest } = table.travel(span);
                shifted + turned * (unit(*axis).cross(at - *centre).length() + slack + farthest)
            }
        }
    }

    /// Whether the numbers make sense in a run of this dimension (2 or 3).
    pub fn check(&self, dimension: usize) -> Result<(), MotionError> {
        match self {
            Self::Fixed => Ok(()),
            Self::Translation { velocity, from, until } => {
                check::vector("velocity", *velocity, dimension)?;
                check_period(*from, *until)
            }
            Self::Rotation { centre, axis, rate, from, until } => {
                check::vector("centre", *centre, dimension)?;
                check::axis("axis", *axis, dimension)?;
                check::finite("rate", *rate)?;
                check_period(*from, *until)
            }
            Self::Oscillation { amplitude, frequency, phase } => {
                check::vector("amplitude", *amplitude, dimension)?;
                check::not_negative("frequency", *frequency)?;
                check::finite("phase", *phase)
            }
            Self::Table { table, centre, axis } => {
                table.offsets().iter().try_for_each(|o| check::vector("offsets", *o, dimension))?;
                check::vector("centre", *centre, dimension)?;
                check::axis("axis", *axis, dimension)
            }
        }
    }
}

/// The unit vector along v, exact for vectors along an axis of coordinates.
pub(super) fn unit(v: DVec3) -> DVec3 {
    v / v.length()
}

/// Time spent moving by time t.
fn active_until(t: f64, from: f64, until: f64) -> f64 {
    (t.min(until) - from).max(0.0)
}

fn check_period(from: f64, until: f64) -> Result<(), MotionError> {
    check::finite("from", from)?;
    require(until >= from, "until", until, "a time not before `from`")
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub fn any_vector(size: f64) -> impl Strategy<Value = DVec3> {
        (-size..size, -size..size, -size..size).prop_map(|(x, y, z)| DVec3::new(x, y, z))
    }

    fn any_axis() -> impl Strategy<Value = DVec3> {
        any_vector(1.0).prop_filter("a direction", |v| v.length() > 0.1)
    }

    pub fn any_motion() -> impl Strategy<Value = Motion> {
        let period = || (-1.0..1.0, 0.0..2.0).prop_map(|(from, length)| (from, from + length));
        prop_oneof![
            Just(Motion::Fixed),
            (any_vector(2.0), period()).prop_map(|(velocity, (from, until))| Motion::Translation {
                velocity,
                from,
                until
            }),
            (any_vector(2.0), any_axis(), -3.0..3.0, period()).prop_map(|(centre, axis, rate, (from, until))| {
                Motion::Rotation { centre, axis, rate, from, until }
            }),
            (any_vector(1.0), 0.0..2.0, -3.0..3.0).prop_map(|(amplitude, frequency, phase)| Motion::Oscillation {
                amplitude,
                frequency,
                phase
            }),
            (proptest::collection::vec((0.1..1.0, any_vector(1.0), -2.0..2.0), 1..5), any_vector(1.0), any_axis())
                .prop_map(|(rows, centre, axis)| {
                    let mut time = -1.0;
                    let times = rows
                        .iter()
                        .map(|row| {
                            time += row.0;
                            time
                        })
                        .collect();
                    let offsets = rows.iter().map(|row| row.1).collect();
                    let angles = rows.iter().map(|row| row.2).collect();
                    Motion::Table { table: Timetable::new(times, offsets, angles).unwrap(), centre, axis }
                }),
        ]
    }

    #[test]
    fn a_turn_tells_its_axis_and_angle() {
        let turn = Motion::Rotation { centre: DVec3::X, axis: -2.0 * DVec3::Z, rate: 3.0, from: 1.0, until: 2.0 };
        assert_eq!(turn.turn(1.5), Some((-DVec3::Z, 1.5)));
        assert_eq!(turn.turn(9.0), Some((-DVec3::Z, 3.0)));
        let table = |angles| {
            let table = Timetable::new(vec![0.0, 2.0], vec![DVec3::ZERO, DVec3::X], angles).unwrap();
            Motion::Table { table, centre: DVec3::ZERO, axis: DVec3::Y }
        };
        assert_eq!(table(vec![1.0, 2.0]).turn(1.0), Some((DVec3::Y, 1.5)));
        assert_eq!(table(vec![1.0, 1.0]).turn(1.0), None);
        assert_eq!(Motion::Fixed.turn(1.0), None);
    }

    proptest! {
        #[test]
        fn a_path_is_never_longer_than_its_bound(
            motion in any_motion(), at in any_vector(3.0), slack in any_vector(0.3),
            start in -1.5..1.5, length in 0.0..2.0, share in 0.0..1.0,
        ) {
            prop_assert_eq!(motion.check(3), Ok(()));
            let material = motion.pose(start + share * length).inverse_apply(at + slack);
            let path = sampled_path(|t| motion.pose(t).apply(material), start, length);
            let bound = motion.path_bound(at, slack.length(), (start, start + length));
            prop_assert!(path <= bound * (1.0 + 1e-9) + 1e-12, "{path} > {bound}");
            if motion.is_fixed() { prop_assert!(path < 1e-12); }
        }
    }

    pub fn sampled_path(place: impl Fn(f64) -> DVec3, start: f64, length: f64) -> f64 {
        let at = |k: i32| place(start + length * f64::from(k) / 400.0);
        (0..400).map(|k| at(k).distance(at(k + 1))).sum()
    }

    #[test]
    fn a_motion_is_the_identity_when_it_starts() {
        let turn = Motion::Rotation { centre: DVec3::X, axis: DVec3::Z * 2.0, rate: 2.0, from: 1.0, until: 2.0 };
        assert_eq!(turn.pose(0.5), Pose::IDENTITY);
        assert_eq!(turn.pose(1.0), Pose::IDENTITY);
        assert!(
            (turn.pose(5.0).apply(DVec3::X * 2.0) - DVec3::new(1.0 + 2f64.cos(), 2f64.sin(), 0.0)).length() < 1e-14
        );
        let shift = Motion::Translation { velocity: DVec3::Y, from: 0.0, until: f64::INFINITY };
        assert_eq!(shift.pose(-1.0), Pose::IDENTITY);
        assert_eq!(shift.pose(3.0).translation, DVec3::Y * 3.0);
        let shake = Motion::Oscillation { amplitude: DVec3::Y, frequency: 3.0, phase: 0.4 };
        assert_eq!(shake.pose(0.0), Pose::IDENTITY);
    }

    #[test]
    fn a_table_is_linear_between_its_times_and_held_outside() {
        let offsets = vec![DVec3::ZERO, DVec3::X, DVec3::X * 5.0];
        let table = Timetable::new(vec![0.0, 1.0, 3.0], offsets, vec![0.0; 3]).unwrap();
        let table = Motion::Table { table, centre: DVec3::ZERO, axis: DVec3::Z };
        for (t, x) in [(-1.0, 0.0), (0.5, 0.5), (1.0, 1.0), (2.0, 3.0), (9.0, 5.0)] {
            assert_eq!(table.pose(t).translation, DVec3::X * x);
        }
    }

    #[test]
    fn bad_motions_name_the_field() {
        let field = |motion: Motion, dimension| motion.check(dimension).unwrap_err().field;
        let turn = |axis, rate| Motion::Rotation { centre: DVec3::ZERO, axis, rate, from: 0.0, until: 1.0 };
        assert_eq!(field(turn(DVec3::X, 1.0), 2), "axis");
        assert_eq!(turn(DVec3::X, 1.0).check(3), Ok(()));
        assert_eq!(field(turn(DVec3::ZERO, 1.0), 3), "axis");
        assert_eq!(field(turn(DVec3::Z, f64::NAN), 3), "rate");
        assert_eq!(field(Motion::Translation { velocity: DVec3::Z, from: 0.0, until: 1.0 }, 2), "velocity");
        assert_eq!(field(Motion::Translation { velocity: DVec3::X, from: 0.0, until: -1.0 }, 2), "until");
        let table = |times: &[f64], rows| {
            Timetable::new(times.to_vec(), vec![DVec3::ZERO; rows], vec![0.0; rows]).unwrap_err().field
        };
        assert_eq!(table(&[0.0, 0.0], 2), "times");
        assert_eq!(table(&[0.0, 1.0], 1), "offsets");
        assert_eq!(table(&[], 0), "times");
        let table = Timetable::new(vec![0.0], vec![DVec3::Z], vec![0.0]).unwrap();
        assert_eq!(field(Motion::Table { table, centre: DVec3::ZERO, axis: DVec3::Z }, 2), "offsets");
        let message = turn(DVec3::X, 1.0).check(2).unwrap_err().to_string();
        assert_eq!(message, "axis = [1.0, 0.0, 0.0]: should be along z in a 2D run, e.g. [0, 0, 1]");
    }
}
