//! Where a packing can bear itself: the closed rows with a self-stress, that is z ≠ 0 with Gᵀ z = 0 on bodies that move.
//!
//! **Peeling** is exact. Of a self-stress z, Σ ± n z = 0 at every body that moves. Where the normals of a body's rows are
//! linearly independent, which takes one to three rows, all its z are 0; these rows can be taken away without losing any
//! self-stress, and after them those of their other ends, until no body is left that allows it. Rows of a linearly
//! independent set stay independent when others go: what is left does not depend on the order.
//!
//! **Counting** decides over what is left, one connected component at a time; walls and immovable bodies do not connect.
//! With c rows and b bodies in d dimensions (Maxwell, Calladine)
//!
//! ```text
//! states of self-stress = c − d b + floppy modes,
//! ```
//!
//! where motions of a component that touches nothing immovable, d (d + 1)/2, are floppy modes. A component of many bodies
//! with c ≤ d b − those is dropped: it has a self-stress only if it has another floppy mode for each, as special
//! arrangements have but not those that come about by themselves. Small ones are kept, since they cost little.

use glam::DVec3;

use super::Problem;

/// Normals count as independent when the length, area or volume that they span exceeds this.
const INDEPENDENT: f64 = 1e-6;
/// More rows than this at a body are never independent.
const MOST_INDEPENDENT: usize = 3;
/// Components of more bodies are judged by counting.
const FEW: u32 = 512;

/// A closed row: its place in the problem, and its bodies, or the number of bodies for what does not move.
#[derive(Clone, Copy)]
pub(super) struct Closed {
    pub row: u32,
    pub first: u32,
    pub second: u32,
}

/// Of a connected component, at the place of its first body.
#[derive(Clone, Copy, Default)]
struct Component {
    bodies: u32,
    rows: u32,
    /// Whether a normal leaves the plane z = 0.
    solid: bool,
    /// Whether it touches something immovable.
    held: bool,
}

/// Finds them. Keeps its buffers, and remembers nothing.
#[derive(Default)]
pub(super) struct SelfStress {
    /// The closed rows with a side that moves, in any order; after the search those with a self-stress, whose bodies are
    /// places in `bodies`.
    rows: Vec<Closed>,
    /// The bodies of these rows, ascending.
    bodies: Vec<u32>,
    gone: Vec<bool>,
    /// How many rows of each body are left.
    left: Vec<u32>,
    /// The rows of each body, one body after the other, and where they end.
    lists: Vec<u32>,
    ends: Vec<u32>,
    /// Bodies that might be peeled.
    waiting: Vec<u32>,
    /// A body of the same component with a smaller index, or the body itself; later its place in `bodies`.
    leader: Vec<u32>,
    components: Vec<Component>,
}

impl SelfStress {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    pub(super) fn push(&mut self, row: Closed) {
        self.rows.push(row);
    }

    /// The rows found, as places in `bodies`.
    pub(super) fn rows(&self) -> &[Closed] {
        &self.rows
    }

    /// The bodies of the rows found, ascending.
    pub(super) fn bodies(&self) -> &[u32] {
        &self.bodies
    }

    /// Reduces the rows given to those that a self-stress can live on.
    pub(super) fn find(&mut self, problem: &Problem) {
        let bodies = problem.bodies();
        self.bodies.clear();
        self.gone.clear();
        self.gone.resize(self.rows.len(), false);
        self.list(bodies);
        self.peel(problem);
        self.drop_those_gone();
        if !self.rows.is_empty() {
            self.connect(problem);
            self.drop_those_gone();
            self.number(bodies);
        }
    }

    fn list(&mut self, bodies: usize) {
        self.left.clear();
        self.left.resize(bodies, 0);
        for end in self.rows.iter().flat_map(|row| [row.first, row.second]) {
            if let Some(left) = self.left.get_mut(end as usize) {
                *left += 1;
            }
        }
        self.ends.clear();
        let mut total = 0;
        self.ends.extend(self.left.iter().map(|left| {
            total += left;
            total - left
        }));
        self.lists.clear();
        self.lists.resize(total as usize, 0);
        for (c, row) in self.rows.iter().enumerate() {
            for end in [row.first, row.second] {
                if let Some(at) = self.ends.get_mut(end as usize) {
                    self.lists[*at as usize] = c as u32;
                    *at += 1;
                }
            }
        }
    }

    fn peel(&mut self, problem: &Problem) {
        let Self { rows, gone, left, lists, ends, waiting, .. } = self;
        let few = |left: u32| left >= 1 && left as usize <= MOST_INDEPENDENT;
        waiting.clear();
        waiting.extend((0..left.len() as u32).filter(|k| few(left[*k as usize])));
        // A body comes back once for each of its last rows at most, so that all lists are read a few times.
        while let Some(k) = waiting.pop() {
            let k = k as usize;
            let start = if k == 0 { 0 } else { ends[k - 1] };
            let mut own = [0; MOST_INDEPENDENT];
            let mut normals = [DVec3::ZERO; MOST_INDEPENDENT];
            let mut count = 0;
            for &c in &lists[start as usize..ends[k] as usize] {
                if !gone[c as usize] {
                    own[count] = c as usize;
                    normals[count] = problem.rows[rows[c as usize].row as usize].normal;
                    count += 1;
                }
            }
            if !are_independent(&normals[..count]) {
                continue;
            }
            for &c in &own[..count] {
                gone[c] = true;
                for end in [rows[c].first, rows[c].second] {
                    if let Some(left) = left.get_mut(end as usize) {
                        *left -= 1;
                        if end as usize != k && few(*left) {
                            waiting.push(end);
                        }
                    }
                }
            }
        }
    }

    fn drop_those_gone(&mut self) {
        let mut gone = self.gone.iter();
        self.rows.retain(|_| gone.next() == Some(&false));
    }

    /// Marks the rows of large components without more rows than degrees of freedom as gone.
    fn connect(&mut self, problem: &Problem) {
        let Self { rows, gone, left, leader, components, .. } = self;
        let wall = left.len() as u32;
        leader.clear();
        leader.extend(0..wall);
        for row in rows.iter().filter(|row| row.first != wall && row.second != wall) {
            let (a, b) = (lead(leader, row.first), lead(leader, row.second));
            leader[a.max(b) as usize] = a.min(b);
        }
        components.clear();
        components.resize(left.len(), Component::default());
        for k in (0..wall).filter(|k| left[*k as usize] > 0) {
            components[lead(leader, k) as usize].bodies += 1;
        }
        let moving = |row: &Closed| row.first.min(row.second);
        for row in rows.iter() {
            let component = &mut components[lead(leader, moving(row)) as usize];
            component.rows += 1;
            component.solid |= problem.rows[row.row as usize].normal.z != 0.0;
            component.held |= row.first == wall || row.second == wall;
        }
        gone.clear();
        gone.extend(rows.iter().map(|row| !components[lead(leader, moving(row)) as usize].is_kept()));
    }

    /// Numbers the bodies of the rows that are left.
    fn number(&mut self, bodies: usize) {
        let Self { rows, bodies: kept, leader: place, .. } = self;
        let wall = bodies as u32;
        place.clear();
        place.resize(bodies, wall);
        for end in rows.iter().flat_map(|row| [row.first, row.second]).filter(|end| *end != wall) {
            place[end as usize] = 0;
        }
        for (k, place) in (0..wall).zip(place.iter_mut()).filter(|(_, place)| **place == 0) {
            *place = kept.len() as u32;
            kept.push(k);
        }
        let number = |end: u32| place.get(end as usize).copied().unwrap_or(kept.len() as u32);
        for row in rows {
            (row.first, row.second) = (number(row.first), number(row.second));
        }
    }
}

impl Component {
    fn is_kept(&self) -> bool {
        let (freedoms, motions) = if self.solid { (3, 6) } else { (2, 3) };
        let motions = if self.held { 0 } else { motions };
        self.bodies <= FEW || self.rows + motions > freedoms * self.bodies
    }
}

/// The first body of the component, with the way to it halved.
fn lead(leader: &mut [u32], mut k: u32) -> u32 {
    while leader[k as usize] != k {
        leader[k as usize] = leader[leader[k as usize] as usize];
        k = leader[k as usize];
    }
    k
}

fn are_independent(normals: &[DVec3]) -> bool {
    match normals {
        [a] => a.length_squared() > INDEPENDENT * INDEPENDENT,
        [a, b] => a.cross(*b).length_squared() > INDEPENDENT * INDEPENDENT,
        [a, b, c] => a.dot(b.cross(*c)).abs() > INDEPENDENT,
        _ => false,
    }
}

#[cfg(test)]
#[path = "self_stress_tests.rs"]
mod tests;
