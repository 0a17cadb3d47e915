//! Which rows start from which body.

use std::ops::Range;

use rayon::prelude::*;

use super::{Problem, Row};
use crate::buffer::reset;
use crate::shares::share_of;

/// The rows of each body: those that start from it.
#[derive(Default)]
pub(super) struct Listing {
    /// Where the rows of a body begin, and those of the next one after it.
    start: Vec<u32>,
    /// The rows, body by body; empty where they come in this order.
    rows: Vec<u32>,
}

impl Listing {
    /// Lists the rows of a problem.
    pub fn list(&mut self, problem: &Problem) {
        let Self { start, rows } = self;
        let count = problem.bodies();
        reset(start, count + 1, 0);
        rows.clear();
        if find_starts(&problem.rows, start) {
            return;
        }
        // `start[i + 1]` first tells where the next row of body i goes, and in the end where they end.
        reset(start, count + 2, 0);
        problem.rows.iter().for_each(|row| start[row.i as usize + 2] += 1);
        for at in 1..start.len() {
            start[at] += start[at - 1];
        }
        reset(rows, problem.rows.len(), 0);
        for (c, row) in problem.rows.iter().enumerate() {
            let next = &mut start[row.i as usize + 1];
            rows[*next as usize] = c as u32;
            *next += 1;
        }
    }

    /// The rows that start from a body.
    pub fn from(&self, body: usize) -> impl Iterator<Item = u32> {
        self.range(body).map(|at| self.rows.get(at).copied().unwrap_or(at as u32))
    }

    /// Where they are listed.
    pub fn range(&self, body: usize) -> Range<usize> {
        self.start[body] as usize..self.start[body + 1] as usize
    }
}

/// Where the rows of each body begin if they come body by body, and the end of all; tells whether they do.
fn find_starts(rows: &[Row], start: &mut [u32]) -> bool {
    let share = share_of(start.len());
    let before = |body: usize| rows.partition_point(|row| (row.i as usize) < body);
    // Rows that do not come body by body are not between where those of the bodies of some part should be, or not in order.
    let find = |(part, start): (usize, &mut [u32])| {
        let (first, last) = (part * share, part * share + start.len());
        let mut next = before(first);
        let end = before(last);
        for (body, start) in (first..).zip(start) {
            *start = next as u32;
            while next < end && rows[next].i as usize == body {
                next += 1;
            }
        }
        next == end
    };
    start.par_chunks_mut(share).enumerate().map(find).reduce(|| true, |a, b| a & b) && before(start.len()) == rows.len()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::projection::{AdmissibleSet, Metric, Prediction, WALL};

    #[test]
    fn rows_are_listed_by_body_in_any_order() {
        let bodies = 20_000_u32;
        let mut random = Pcg64::seed_from_u64(3);
        let mut problem = Problem {
            prediction: Prediction {
                velocity: vec![DVec3::ZERO; bodies as usize],
                metric: Metric::Diagonal(vec![1.0; bodies as usize]),
            },
            ..Problem::default()
        };
        let mut sorted: Vec<u32> = (0..50_000).map(|_| random.random_range(5..bodies)).collect();
        sorted.sort_unstable();
        let mut one_off = sorted.clone();
        one_off.swap(30_000, 49_999);
        let backwards = sorted.iter().rev().copied().collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (starts, in_order) in [(sorted, true), (one_off, false), (backwards, false), (Vec::new(), true)] {
            let row = |i: &u32| Row { i: *i, j: WALL, normal: DVec3::X, gap: 0.0, set: AdmissibleSet::PUSH };
            problem.rows = starts.iter().map(row).collect();
            let mut listing = Listing::default();
            pool.install(|| listing.list(&problem));
            assert_eq!(listing.rows.is_empty(), in_order);
            let mut expected: Vec<u32> = (0..starts.len() as u32).collect();
            expected.sort_by_key(|row| starts[*row as usize]); // stable
            let listed: Vec<u32> = (0..bodies as usize).flat_map(|body| listing.from(body)).collect();
            assert_eq!(listed, expected);
        }
    }
}
