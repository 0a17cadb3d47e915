//! Exits: segments that are walked through in one direction.

use glam::{DVec2, DVec3};

use crate::geometry::{Cell, Particles};

/// A door, or any line of the plane that people want to cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exit {
    /// One end (length).
    pub from: DVec2,
    /// The other end (length).
    pub to: DVec2,
    /// Which way is out, and where people walk once they are through; not along the segment.
    pub out: DVec2,
}

impl Exit {
    /// Whether a centre that went straight from one place to another (lengths) went through: 1 out, −1 back in, 0
    /// neither.
    #[must_use]
    pub fn crossed(&self, before: DVec3, after: DVec3) -> i64 {
        let (before, after) = (before.truncate(), after.truncate());
        match (self.is_beyond(before), self.is_beyond(after)) {
            (false, true) if self.is_between(before, after) => 1,
            (true, false) if self.is_between(before, after) => -1,
            _ => 0,
        }
    }

    /// Unit normal on the side of `out`.
    #[must_use]
    pub fn normal(&self) -> DVec2 {
        let normal = (self.to - self.from).perp().normalize_or_zero();
        if normal.dot(self.out) < 0.0 { -normal } else { normal }
    }

    /// Whether a point lies beyond the line of the exit.
    #[must_use]
    pub fn is_beyond(&self, point: DVec2) -> bool {
        self.offset(point) > 0.0
    }

    /// Whether the segment lies between two points of different sides of its line.
    #[must_use]
    pub(super) fn parts(&self, a: DVec2, b: DVec2) -> bool {
        self.is_beyond(a) != self.is_beyond(b) && self.is_between(a, b)
    }

    /// Whether the way from one side of the line to the other leads over the segment.
    fn is_between(&self, a: DVec2, b: DVec2) -> bool {
        let (da, db) = (self.offset(a), self.offset(b));
        let foot = a + (b - a) * (da / (da - db));
        let along = self.to - self.from;
        (0.0..=along.length_squared()).contains(&(foot - self.from).dot(along))
    }

    fn offset(&self, point: DVec2) -> f64 {
        (point - self.from).dot(self.normal())
    }

    /// What is wrong with it, if anything.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        let along = self.to - self.from;
        let finite = self.from.is_finite() && self.to.is_finite() && self.out.is_finite();
        if !finite || along.length() == 0.0 {
            Some("its ends must be two different points")
        } else if self.out.length() == 0.0 || along.perp().normalize().dot(self.out.normalize()).abs() < 0.1 {
            Some("`out` must point across the segment, at more than 6 degrees to it")
        } else {
            None
        }
    }
}

/// Counts who goes through an exit, from one look at the crowd to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Turnstile {
    exit: Exit,
    /// Who was where at the last look.
    before: Vec<(u64, DVec3)>,
    /// Times of looks at which the number changed, and by how many.
    passages: Vec<(f64, i64)>,
}

impl Turnstile {
    /// Nobody has passed yet.
    #[must_use]
    pub fn new(exit: Exit) -> Self {
        Self { exit, before: Vec::new(), passages: Vec::new() }
    }

    /// Looks at the crowd. Only those are counted who were there at the last look too.
    pub fn look(&mut self, time: f64, people: &Particles) {
        let now = people.id.iter().copied().zip(people.position.iter().copied());
        // Both lists ascend in the ids: those who stay keep their order, and those who come are numbered on.
        let mut known = self.before.iter().peekable();
        let mut passed = 0;
        for (id, centre) in now.clone() {
            while known.next_if(|(other, _)| *other < id).is_some() {}
            if let Some((_, before)) = known.next_if(|(other, _)| *other == id) {
                passed += self.passages_between(*before, centre, people.cell.as_ref());
            }
        }
        if passed != 0 {
            self.passages.push((time, passed));
        }
        self.before.clear();
        self.before.extend(now);
    }

    /// The sum of `crossed` over all images of a way; in a periodic cell it is the shortest between the two places.
    fn passages_between(&self, before: DVec3, after: DVec3, cell: Option<&Cell>) -> i64 {
        let Some(cell) = cell else { return self.exit.crossed(before, after) };
        let (way, Exit { from, to, .. }) = (cell.shortest(after - before), self.exit);
        let (lower, upper) = (from.min(to).extend(0.0) - way.length(), from.max(to).extend(0.0) + way.length());
        let images = cell.shifts(before, lower, upper).map(|shift| before + shift);
        images.map(|image| self.exit.crossed(image, image + way)).sum()
    }

    /// How many more went out than in, in the time after `from` up to `to`.
    #[must_use]
    pub fn passed(&self, from: f64, to: f64) -> i64 {
        self.passages.iter().filter(|(time, _)| *time > from && *time <= to).map(|(_, passed)| passed).sum()
    }

    /// The same per time: the flux J (1 / time).
    #[must_use]
    pub fn flux(&self, from: f64, to: f64) -> f64 {
        self.passed(from, to) as f64 / (to - from)
    }

    /// When the n-th person went out for good, counted from 1 (time).
    #[must_use]
    pub fn time_of(&self, n: i64) -> Option<f64> {
        let mut out = 0;
        let mut found = None;
        for (time, passed) in &self.passages {
            out += passed;
            match found {
                None if out >= n => found = Some(*time),
                Some(_) if out < n => found = None,
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_goes_through_is_counted_and_who_passes_beside_is_not() {
        let exit = Exit { from: DVec2::new(2.0, 1.0), to: DVec2::new(2.0, 0.0), out: DVec2::new(1.0, 0.2) };
        let crossed = |a: (f64, f64), b: (f64, f64)| exit.crossed(DVec3::new(a.0, a.1, 0.0), DVec3::new(b.0, b.1, 0.0));
        assert_eq!(crossed((1.9, 0.5), (2.1, 0.6)), 1);
        assert_eq!(crossed((2.1, 0.5), (1.9, 0.6)), -1);
        assert_eq!(crossed((1.9, 1.2), (2.1, 1.1)), 0);
        assert_eq!(crossed((1.5, 0.5), (1.9, 0.5)), 0);
        // Who ends on the line has not left yet, and is counted once.
        assert_eq!(crossed((1.9, 0.5), (2.0, 0.5)) + crossed((2.0, 0.5), (2.1, 0.5)), 1);
        assert_eq!(exit.normal(), DVec2::X);
    }

    #[test]
    fn a_turnstile_counts_those_who_come_back_too() {
        let mut turnstile = Turnstile::new(Exit { from: DVec2::ZERO, to: DVec2::Y, out: DVec2::X });
        let crowd = |places: &[f64]| {
            let mut people = Particles::default();
            for x in places {
                people.push(DVec3::new(*x, 0.5, 0.0), 0.1, 1.0);
            }
            people
        };
        let looks = [(0.0, [-1.0, -1.0, 1.0]), (1.0, [1.0, -1.0, 1.0]), (2.0, [-1.0, 1.0, 1.0]), (3.0, [2.0; 3])];
        for (time, places) in looks {
            turnstile.look(time, &crowd(&places));
        }
        assert_eq!((turnstile.passed(0.0, 1.0), turnstile.passed(1.0, 2.0), turnstile.passed(0.0, 3.0)), (1, 0, 2));
        assert_eq!(turnstile.flux(0.0, 4.0), 0.5);
        // The first is taken away, and somebody new is inside: nobody went through.
        let mut others = crowd(&[2.0, 2.0, -1.0]);
        others.id = vec![1, 2, 3];
        turnstile.look(5.0, &others);
        assert_eq!(turnstile.passed(3.0, 9.0), 0);
        assert_eq!((turnstile.time_of(1), turnstile.time_of(2), turnstile.time_of(3)), (Some(1.0), Some(3.0), None));
    }

    #[test]
    fn who_leaves_the_cell_at_one_end_has_not_gone_back_through_the_exit() {
        let exit = Exit { from: DVec2::new(4.0, 0.0), to: DVec2::new(4.0, 1.0), out: DVec2::X };
        let mut turnstile = Turnstile::new(exit);
        let mut people = Particles { cell: Cell::new([Some([0.0, 10.0]), None, None]).ok(), ..Particles::default() };
        people.push(DVec3::new(3.5, 0.5, 0.0), 0.1, 1.0);
        // Twice around, a unit at a time, and once back over the face and over the exit.
        for k in 0..=20 {
            people.position[0].x = (3.5 + f64::from(k)) % 10.0;
            turnstile.look(f64::from(k), &people);
        }
        assert_eq!(turnstile.passed(0.0, 20.0), 2);
        for (time, x) in [(21.0, 0.5), (22.0, 9.5), (23.0, 5.5), (24.0, 3.5)] {
            people.position[0].x = x;
            turnstile.look(time, &people);
        }
        assert_eq!(turnstile.passed(20.0, 24.0), -1);
        // An exit that is written in another image of the cell is the same one.
        let mut moved =
            Turnstile::new(Exit { from: exit.from - 10.0 * DVec2::X, to: exit.to - 10.0 * DVec2::X, ..exit });
        for (time, x) in [(0.0, 3.5), (1.0, 4.5)] {
            people.position[0].x = x;
            moved.look(time, &people);
        }
        assert_eq!(moved.passed(0.0, 1.0), 1);
    }

    #[test]
    fn an_exit_has_a_length_and_a_way_out() {
        let good = Exit { from: DVec2::ZERO, to: DVec2::X, out: DVec2::Y };
        assert_eq!(good.flaw(), None);
        assert!(Exit { to: DVec2::ZERO, ..good }.flaw().is_some());
        assert!(Exit { out: DVec2::X, ..good }.flaw().is_some());
        assert!(Exit { out: DVec2::ZERO, ..good }.flaw().is_some());
        assert!(Exit { from: DVec2::NAN, ..good }.flaw().is_some());
    }
}
