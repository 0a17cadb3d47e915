//! The contacts of a sub-step: one list, from the search over the projection to the glue.

use glam::DVec3;

use crate::buffer::{reserve, resize};
use crate::contact::{Contact, Pair, Partner};
use crate::projection::{AdmissibleSet, Prediction, Problem, Row, Solution, WALL};

/// Pairs that could meet, sorted, the problem that they pose, and its solution.
#[derive(Default)]
pub(super) struct Contacts {
    /// Who, one a row.
    pub pairs: Vec<Pair>,
    /// V^{n+1/2}, M⁻¹, and the row of each.
    pub problem: Problem,
    /// The impulse of each, before the projection that to start from, and Vⁿ⁺¹.
    pub solution: Solution,
}

/// What is listed of each contact: columns that grow together.
pub(super) struct Columns<'a> {
    pub pairs: &'a mut Vec<Pair>,
    pub rows: &'a mut Vec<Row>,
    pub impulses: &'a mut Vec<f64>,
}

/// What one of several searches found.
#[derive(Default)]
pub(super) struct Slot {
    pairs: Vec<Pair>,
    rows: Vec<Row>,
    impulses: Vec<f64>,
    /// Square of the largest tangential speed that V^{n+1/2} gives to rows whose gap it closes.
    pub fastest: f64,
}

/// Stands where a list has room and no row yet.
const NO_ROW: Row = Row { i: 0, j: 0, normal: DVec3::ZERO, gap: 0.0, set: AdmissibleSet::PUSH };

/// The row of a contact that only pushes.
pub(super) fn dry_row(pair: Pair, gap: f64, normal: DVec3) -> Row {
    let j = match pair.partner() {
        Partner::Particle(j) => j,
        Partner::Obstacle { .. } => WALL,
    };
    Row { i: pair.first(), j, normal, gap, set: AdmissibleSet::PUSH }
}

impl Contacts {
    /// What the search for them reads, and where it writes.
    pub(super) fn columns(&mut self) -> (&Prediction, Columns<'_>) {
        let Self { pairs, problem: Problem { prediction, rows, .. }, solution: Solution { impulses, .. } } = self;
        (prediction, Columns { pairs, rows, impulses })
    }

    /// Adds rows of pairs that are not listed, to start from no impulse.
    pub(super) fn add(&mut self, mut more: Vec<(Pair, Row)>) {
        more.sort_by_key(|(pair, _)| *pair);
        self.columns().1.merge(&more);
    }

    /// Gaps lifted to what a velocity attains, and `margin` more (length), so that it becomes admissible; and impulses
    /// forgotten.
    pub(super) fn relax(&mut self, margin: f64) {
        let Self { problem, solution, .. } = self;
        let velocity = problem.velocity(&solution.impulses);
        for c in 0..problem.rows.len() {
            let end_gap = problem.end_gap(&problem.rows[c], &velocity);
            problem.rows[c].gap += (margin - end_gap).max(0.0);
        }
        solution.impulses.fill(0.0);
    }

    /// Who would move farthest without contacts, or is moved farther by them, and how far, relative to a length.
    pub(super) fn fastest(&self, length: f64) -> (usize, f64) {
        let found = self.solution.velocity.iter().chain(std::iter::repeat(&DVec3::ZERO));
        let predicted = self.problem.prediction.velocity.iter();
        let speeds = predicted.zip(found).map(|(apriori, v)| apriori.length().max(v.length()));
        let (particle, speed) = speeds.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        (particle, speed * self.problem.dt / length)
    }

    /// The impulses that these contacts carried, one a row; both lists are sorted.
    pub(super) fn impulses_of(&self, contacts: &[Contact]) -> Vec<f64> {
        let mut contacts = contacts.iter().peekable();
        let impulse = |pair: &Pair| {
            while contacts.next_if(|contact| contact.pair < *pair).is_some() {}
            contacts.next_if(|contact| contact.pair == *pair).map_or(0.0, |contact| contact.impulse)
        };
        self.pairs.iter().map(impulse).collect()
    }
}

impl Slot {
    pub(super) fn columns(&mut self) -> Columns<'_> {
        Columns { pairs: &mut self.pairs, rows: &mut self.rows, impulses: &mut self.impulses }
    }
}

impl Columns<'_> {
    /// Forgets all after the first so many.
    pub(super) fn truncate(&mut self, count: usize) {
        self.pairs.truncate(count);
        self.rows.truncate(count);
        self.impulses.truncate(count);
    }

    pub(super) fn reserve(&mut self, more: usize) {
        reserve(self.pairs, more);
        reserve(self.rows, more);
        reserve(self.impulses, more);
    }

    /// Puts what several searches found after the first so many, over what is there; tells how many there are then. Each
    /// thread copies about what it found, which it has in its cache.
    pub(super) fn put(&mut self, from: usize, slots: &[Slot]) -> usize {
        let to = from + slots.iter().map(|slot| slot.pairs.len()).sum::<usize>();
        if to > self.pairs.len() {
            resize(self.pairs, to, Pair::UNUSED);
            resize(self.rows, to, NO_ROW);
            resize(self.impulses, to, 0.0);
        }
        let Self { pairs, rows, impulses } = self;
        copy(slots, &mut pairs[from..to], &mut rows[from..to], &mut impulses[from..to]);
        to
    }

    /// Joins sorted rows, to start from no impulse, from the back and in place.
    fn merge(&mut self, more: &[(Pair, Row)]) {
        debug_assert!(self.pairs.is_sorted() && more.is_sorted_by_key(|(pair, _)| *pair));
        let (mut ours, mut theirs) = (self.pairs.len(), more.len());
        self.reserve(theirs);
        self.pairs.resize(ours + theirs, Pair::UNUSED);
        self.rows.resize(ours + theirs, NO_ROW);
        self.impulses.resize(ours + theirs, 0.0);
        while theirs > 0 {
            let to = ours + theirs - 1;
            if ours > 0 && self.pairs[ours - 1] > more[theirs - 1].0 {
                ours -= 1;
                (self.pairs[to], self.rows[to], self.impulses[to]) =
                    (self.pairs[ours], self.rows[ours], self.impulses[ours]);
            } else {
                theirs -= 1;
                ((self.pairs[to], self.rows[to]), self.impulses[to]) = (more[theirs], 0.0);
            }
        }
    }
}

/// Copies what several searches found, one after the other.
fn copy(slots: &[Slot], pairs: &mut [Pair], rows: &mut [Row], impulses: &mut [f64]) {
    if let [slot] = slots {
        pairs.copy_from_slice(&slot.pairs);
        rows.copy_from_slice(&slot.rows);
        impulses.copy_from_slice(&slot.impulses);
    } else if !slots.is_empty() {
        let (first, last) = slots.split_at(slots.len() / 2);
        let here = first.iter().map(|slot| slot.pairs.len()).sum();
        let (pairs, later_pairs) = pairs.split_at_mut(here);
        let (rows, later_rows) = rows.split_at_mut(here);
        let (impulses, later_impulses) = impulses.split_at_mut(here);
        rayon::join(|| copy(first, pairs, rows, impulses), || copy(last, later_pairs, later_rows, later_impulses));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(i: u32) -> Row {
        Row { i, normal: DVec3::X, ..NO_ROW }
    }

    fn listed(particles: &[u32]) -> Contacts {
        let mut contacts = Contacts::default();
        for &i in particles {
            contacts.pairs.push(Pair::obstacle(i, 0, 0));
            contacts.problem.rows.push(row(i));
            contacts.solution.impulses.push(f64::from(i));
        }
        contacts
    }

    #[test]
    fn rows_added_in_any_order_are_sorted_in_and_start_from_nothing() {
        let mut contacts = listed(&[1, 4, 6]);
        contacts.add([9, 0, 5].map(|i| (Pair::obstacle(i, 0, 0), row(i))).to_vec());
        let particles: Vec<u32> = contacts.pairs.iter().map(|pair| pair.first()).collect();
        assert_eq!(particles, [0, 1, 4, 5, 6, 9]);
        assert!(contacts.problem.rows.iter().map(|row| row.i).eq(particles));
        assert_eq!(contacts.solution.impulses, [0.0, 1.0, 4.0, 0.0, 6.0, 0.0]);
    }

    #[test]
    fn what_searches_found_follows_in_their_order_over_what_was_there() {
        let mut contacts = listed(&[1, 2, 3, 4, 5, 6, 7]);
        let slot = |particles: &[u32]| {
            let Contacts { pairs, problem, solution } = listed(particles);
            Slot { pairs, rows: problem.rows, impulses: solution.impulses, fastest: 0.0 }
        };
        let (_, mut list) = contacts.columns();
        let count = list.put(1, &[slot(&[20]), slot(&[]), slot(&[30, 31])]);
        list.truncate(count);
        let particles: Vec<u32> = contacts.pairs.iter().map(|pair| pair.first()).collect();
        assert_eq!(particles, [1, 20, 30, 31]);
        assert_eq!(contacts.solution.impulses, [1.0, 20.0, 30.0, 31.0]);
        assert_eq!(contacts.problem.rows.len(), 4);
    }

    #[test]
    fn impulses_carried_are_those_of_the_same_pairs() {
        let contacts = listed(&[1, 4, 6]);
        let carried = |i| Contact { pair: Pair::obstacle(i, 0, 0), gamma: 0.0, impulse: 10.0 + f64::from(i) };
        let carried = [0, 4, 5, 6].map(carried);
        assert_eq!(contacts.impulses_of(&carried), [0.0, 14.0, 16.0]);
    }
}
