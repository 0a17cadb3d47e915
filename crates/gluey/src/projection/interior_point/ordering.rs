//! The order in which the bodies of a graph are eliminated: next is always one of least degree, by the bound of
//! Amestoy, Davis and Duff (1996).
//!
//! Who was eliminated lives on as an *element*: the clique of those that it was joined to. A body's degree is then at most
//!
//! ```text
//! |bodies it is joined to| + |newest element| + Σ over its other elements e of |e \ newest element|.
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A graph that is being eliminated.
struct Quotient {
    /// Bodies that a body is joined to, other than by an element.
    joined: Vec<Vec<u32>>,
    /// The elements of a body.
    elements: Vec<Vec<u32>>,
    /// The bodies of an element, by the body that was eliminated.
    members: Vec<Vec<u32>>,
    gone: Vec<bool>,
    /// Who is in the newest element: those with its stamp.
    stamp: Vec<u32>,
    /// |e \ newest element|, where `counted` has its stamp.
    outside: Vec<u32>,
    counted: Vec<u32>,
}

/// The bodies in an order that fills little, where each is joined to these (both ways, nobody to himself, none twice).
pub(super) fn of_least_degree(joined: Vec<Vec<u32>>) -> Vec<u32> {
    let count = joined.len();
    let mut degree: Vec<u32> = joined.iter().map(|joined| joined.len() as u32).collect();
    let mut waiting: BinaryHeap<Reverse<(u32, u32)>> =
        degree.iter().zip(0..).map(|(degree, body)| Reverse((*degree, body))).collect();
    let mut quotient = Quotient {
        joined,
        elements: vec![Vec::new(); count],
        members: vec![Vec::new(); count],
        gone: vec![false; count],
        stamp: vec![u32::MAX; count],
        outside: vec![0; count],
        counted: vec![u32::MAX; count],
    };
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse((known, body))) = waiting.pop() {
        if quotient.gone[body as usize] || known != degree[body as usize] {
            continue; // an entry that a later one has replaced
        }
        quotient.eliminate(body);
        order.push(body);
        quotient.count_outside(body);
        for at in 0..quotient.members[body as usize].len() {
            let member = quotient.members[body as usize][at];
            let now = quotient.renew(member, body).min((count - order.len() - 1) as u32);
            degree[member as usize] = now;
            waiting.push(Reverse((now, member)));
        }
    }
    order
}

impl Quotient {
    /// The body becomes an element, which takes up those it belonged to.
    fn eliminate(&mut self, body: u32) {
        let Self { joined, elements, members, gone, stamp, .. } = self;
        gone[body as usize] = true;
        stamp[body as usize] = body;
        let mut all = Vec::new();
        let absorbed = std::mem::take(&mut elements[body as usize]);
        let by_elements = absorbed.iter().map(|element| std::mem::take(&mut members[*element as usize]));
        let lists = by_elements.chain([std::mem::take(&mut joined[body as usize])]);
        for other in lists.flatten() {
            if !gone[other as usize] && stamp[other as usize] != body {
                stamp[other as usize] = body;
                all.push(other);
            }
        }
        members[body as usize] = all;
    }

    /// |e \ newest element| of all elements that share a member with it.
    fn count_outside(&mut self, newest: u32) {
        let Self { elements, members, outside, counted, .. } = self;
        for member in &members[newest as usize] {
            for element in &elements[*member as usize] {
                let element = *element as usize;
                if counted[element] != newest {
                    (counted[element], outside[element]) = (newest, members[element].len() as u32);
                }
                outside[element] = outside[element].saturating_sub(1);
            }
        }
    }

    /// A member of the newest element forgets what that has taken up; gives the bound of its degree.
    fn renew(&mut self, member: u32, newest: u32) -> u32 {
        let Self { joined, elements, members, gone, stamp, outside, .. } = self;
        joined[member as usize].retain(|other| !gone[*other as usize] && stamp[*other as usize] != newest);
        // An element that is inside the newest says nothing that this does not.
        elements[member as usize].retain(|e| !members[*e as usize].is_empty() && outside[*e as usize] > 0);
        let others: u32 = elements[member as usize].iter().map(|e| outside[*e as usize]).sum();
        elements[member as usize].push(newest);
        joined[member as usize].len() as u32 + members[newest as usize].len() as u32 - 1 + others
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn graph(count: u32, edges: impl Iterator<Item = (u32, u32)>) -> Vec<Vec<u32>> {
        let mut joined = vec![BTreeSet::new(); count as usize];
        for (i, j) in edges.filter(|(i, j)| i != j) {
            joined[i as usize].insert(j);
            joined[j as usize].insert(i);
        }
        joined.into_iter().map(|joined| joined.into_iter().collect()).collect()
    }

    /// Entries of L below the diagonal, by elimination in sets.
    fn fill(joined: &[Vec<u32>], order: &[u32]) -> usize {
        let mut left: Vec<BTreeSet<u32>> = joined.iter().map(|joined| joined.iter().copied().collect()).collect();
        let mut entries = 0;
        for body in order {
            let near = std::mem::take(&mut left[*body as usize]);
            entries += near.len();
            for i in &near {
                left[*i as usize].remove(body);
                left[*i as usize].extend(near.iter().filter(|j| *j != i));
            }
        }
        entries
    }

    #[test]
    fn everybody_is_eliminated_once() {
        let mut random = Pcg64::seed_from_u64(5);
        for count in [1_u32, 2, 10, 100] {
            let edges: Vec<_> =
                (0..2 * count).map(|_| (random.random_range(0..count), random.random_range(0..count))).collect();
            let mut order = of_least_degree(graph(count, edges.into_iter()));
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn trees_fill_nothing_and_grids_little() {
        let mut random = Pcg64::seed_from_u64(6);
        let tree = graph(300, (1..300).map(|k| (k, random.random_range(0..k))));
        assert_eq!(fill(&tree, &of_least_degree(tree.clone())), 299);
        let side = 30;
        let across = (0..side * side).flat_map(|k| {
            let right = (k % side + 1 < side).then_some((k, k + 1));
            right.into_iter().chain((k + side < side * side).then_some((k, k + side)))
        });
        let grid = graph(side * side, across);
        let rows: Vec<u32> = (0..side * side).collect();
        let (found, by_rows) = (fill(&grid, &of_least_degree(grid.clone())), fill(&grid, &rows));
        assert!(found * 5 < by_rows * 2, "{found} {by_rows}");
    }
}
