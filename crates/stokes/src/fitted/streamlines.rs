//! Streamlines: lines of equal ψ, cell by cell.
//!
//! Each cell between four points of the grid is cut into two triangles, in which ψ is taken as linear: a line enters a
//! triangle through one side and leaves it through another.

use super::flow::Field;
use std::collections::BTreeMap;

/// A side of a triangle, by its points, the smaller first.
type Side = [usize; 2];

impl Field {
    /// The lines ψ = `level`, each as points (ρ, z). The cells at infinity are left out.
    #[must_use]
    pub fn streamlines(&self, level: f64) -> Vec<Vec<[f64; 2]>> {
        // 1. The pieces: for each side that the line crosses, the sides that it goes on to.
        let mut next: BTreeMap<Side, Vec<Side>> = BTreeMap::new();
        for triangle in self.triangles() {
            let [a, b, c] = triangle;
            let crossed: Vec<Side> =
                [[a, b], [b, c], [c, a]].into_iter().filter(|side| self.crosses(*side, level)).map(sorted).collect();
            if let [from, to] = crossed[..] {
                next.entry(from).or_default().push(to);
                next.entry(to).or_default().push(from);
            }
        }
        // 2. Lines that end first, from their ends; then those that close.
        let ends: Vec<Side> = next.iter().filter(|(_, to)| to.len() == 1).map(|(side, _)| *side).collect();
        let mut lines = Vec::new();
        for start in ends {
            lines.extend(self.walk(&mut next, start, level));
        }
        while let Some(start) = next.keys().next().copied() {
            lines.extend(self.walk(&mut next, start, level));
        }
        lines
    }

    /// Cells between four points, none of them infinite, each by the points (i, j), (i+1, j), (i, j+1), (i+1, j+1).
    pub(super) fn cells(&self) -> impl Iterator<Item = [usize; 4]> {
        let rows = self.points.len() / self.across;
        let corners = move |i: usize, j: usize| {
            let first = j * self.across + i;
            [first, first + 1, first + self.across, first + self.across + 1]
        };
        (0..rows - 1)
            .flat_map(move |j| (0..self.across - 1).map(move |i| corners(i, j)))
            .filter(|cell| cell.iter().all(|&point| self.points[point].position[0].is_finite()))
    }

    fn triangles(&self) -> impl Iterator<Item = [usize; 3]> {
        self.cells().flat_map(|[a, b, c, d]| [[a, b, c], [b, d, c]])
    }

    fn crosses(&self, [a, b]: Side, level: f64) -> bool {
        (self.points[a].stream < level) != (self.points[b].stream < level)
    }

    /// Follows a line from `start`, and takes its pieces away.
    fn walk(&self, next: &mut BTreeMap<Side, Vec<Side>>, start: Side, level: f64) -> Option<Vec<[f64; 2]>> {
        let mut line = vec![self.crossing(start, level)];
        let mut side = start;
        while let Some(to) = next.get_mut(&side).and_then(Vec::pop) {
            if let Some(back) = next.get_mut(&to) {
                back.retain(|other| *other != side);
            }
            line.push(self.crossing(to, level));
            if next.get(&side).is_some_and(Vec::is_empty) {
                next.remove(&side);
            }
            side = to;
        }
        next.remove(&side);
        (line.len() > 1).then_some(line)
    }

    fn crossing(&self, [a, b]: Side, level: f64) -> [f64; 2] {
        let [p, q] = [a, b].map(|point| self.points[point]);
        let t = (level - p.stream) / (q.stream - p.stream);
        std::array::from_fn(|k| p.position[k] + t * (q.position[k] - p.position[k]))
    }
}

fn sorted([a, b]: Side) -> Side {
    [a.min(b), a.max(b)]
}
