//! K = 1 + Bᵀ Θ B = L Lᵀ for rows B that join two bodies each, by the multifrontal method.
//!
//! Bodies are eliminated in an order that fills little ([`of_least_degree`]), and those with the same pattern below them at
//! once: a *supernode*. The columns of a supernode are found in a dense [`Front`], of its bodies and of those that L joins them
//! to. It is the sum of the rows whose first body is there and of what is left of the fronts of its children in the tree
//! of elimination. All orders are fixed by the pattern: the same weights give the same bits.

use super::dense::Front;
use super::ordering::of_least_degree;
use super::system::{NOBODY, System};

/// A supernode is joined with its only child, or its last, where that adds no more than so many zeros to each column,
/// relative to the entries that are needed.
const ZEROS: f64 = 0.1;
/// A supernode of fewer bodies may have more zeros: small fronts cost more than they save.
const FEW: usize = 4;

/// Bodies that are eliminated at once.
struct Supernode {
    /// The places of its bodies are from here,
    first: usize,
    /// to here.
    end: usize,
    /// Places of the bodies that L joins them to, ascending.
    below: Vec<u32>,
    parent: Option<usize>,
    /// The rows whose first body is here, and where their two ends are in the front, in bodies.
    rows: Vec<(u32, [u32; 2])>,
    /// Where its columns begin in the values of L.
    values: usize,
}

impl Supernode {
    fn bodies(&self) -> usize {
        self.end - self.first
    }

    /// Bodies in its front.
    fn width(&self) -> usize {
        self.bodies() + self.below.len()
    }

    /// Where a place is in its front.
    fn local(&self, place: u32) -> usize {
        let place = place as usize;
        if place < self.end {
            return place - self.first;
        }
        self.bodies() + self.below.partition_point(|below| (*below as usize) < place)
    }
}

/// The pattern of L.
pub(super) struct Pattern {
    /// The place of each body in the order of elimination.
    place: Vec<u32>,
    supernodes: Vec<Supernode>,
    dimensions: usize,
    /// Numbers in L.
    size: usize,
}

/// L.
pub(super) struct Factor {
    pattern: Pattern,
    values: Vec<f64>,
}

impl Pattern {
    pub(super) fn new(system: &System) -> Self {
        let bodies = system.bodies();
        let mut joined = vec![Vec::new(); bodies];
        for [i, j] in system.ends() {
            if i != NOBODY && j != NOBODY {
                joined[i as usize].push(j);
                joined[j as usize].push(i);
            }
        }
        for joined in &mut joined {
            joined.sort_unstable();
            joined.dedup();
        }
        let order = of_least_degree(joined.clone());
        let tree = Tree::new(&order, &joined);
        let mut pattern =
            Self { place: tree.place, supernodes: tree.supernodes, dimensions: system.dimensions(), size: 0 };
        pattern.lay_out(system);
        pattern
    }

    /// Gives the rows to the supernodes of their first bodies, and L its room.
    fn lay_out(&mut self, system: &System) {
        let mut of_place = vec![0_u32; self.place.len()];
        for (at, supernode) in self.supernodes.iter_mut().enumerate() {
            of_place[supernode.first..supernode.end].fill(at as u32);
            supernode.values = self.size;
            self.size += supernode.bodies() * supernode.width() * self.dimensions * self.dimensions;
        }
        for (row, ends) in system.ends().enumerate() {
            let places = ends.map(|body| self.place.get(body as usize).copied().unwrap_or(NOBODY));
            let first = places[0].min(places[1]);
            if first != NOBODY {
                let supernode = &mut self.supernodes[of_place[first as usize] as usize];
                let local = places.map(|place| if place == NOBODY { NOBODY } else { supernode.local(place) as u32 });
                supernode.rows.push((row as u32, local));
            }
        }
    }

    /// Numbers in L.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Multiplications of a factorisation.
    pub(super) fn work(&self) -> f64 {
        let of = |supernode: &Supernode| {
            let (p, n) = ((supernode.bodies() * self.dimensions) as f64, (supernode.width() * self.dimensions) as f64);
            p * (n * n - n * p + p * p / 3.0) / 2.0
        };
        self.supernodes.iter().map(of).sum()
    }
}

/// The tree of elimination, and its supernodes.
struct Tree {
    place: Vec<u32>,
    supernodes: Vec<Supernode>,
}

impl Tree {
    fn new(order: &[u32], joined: &[Vec<u32>]) -> Self {
        let count = order.len();
        let mut place = vec![0_u32; count];
        order.iter().zip(0..).for_each(|(body, at)| place[*body as usize] = at);
        let parents = parents(order, &place, joined);
        // Children before their parents, those of one parent next to each other.
        let postorder = postorder(&parents);
        let order: Vec<u32> = postorder.iter().map(|at| order[*at as usize]).collect();
        order.iter().zip(0..).for_each(|(body, at)| place[*body as usize] = at);
        let mut renamed = vec![0_u32; count];
        postorder.iter().zip(0..).for_each(|(old, new)| renamed[*old as usize] = new);
        let mut parent = vec![None; count];
        for (old, of) in parents.iter().enumerate() {
            parent[renamed[old] as usize] = of.map(|old| renamed[old as usize]);
        }
        let mut tree = Self { place, supernodes: Vec::new() };
        tree.find_patterns(&order, joined, &parent);
        tree.join();
        tree
    }

    /// One supernode for each body, with its pattern: the bodies it is joined to later, and what its children leave.
    fn find_patterns(&mut self, order: &[u32], joined: &[Vec<u32>], parent: &[Option<u32>]) {
        let mut children = vec![Vec::new(); order.len()];
        for (at, body) in order.iter().enumerate() {
            let mut below: Vec<u32> = joined[*body as usize].iter().map(|other| self.place[*other as usize]).collect();
            for child in std::mem::take(&mut children[at]) {
                let child: &Supernode = &self.supernodes[child];
                below.extend_from_slice(&child.below);
            }
            below.retain(|place| *place as usize > at);
            below.sort_unstable();
            below.dedup();
            if let Some(parent) = parent[at] {
                children[parent as usize].push(at);
            }
            let parent = parent[at].map(|parent| parent as usize);
            self.supernodes.push(Supernode { first: at, end: at + 1, below, parent, rows: Vec::new(), values: 0 });
        }
    }

    /// Joins supernodes with their last children where that adds few zeros.
    fn join(&mut self) {
        let mut joined: Vec<Supernode> = Vec::new();
        // Entries that are needed, in bodies squared, of each that is left.
        let mut needed: Vec<f64> = Vec::new();
        let mut place_of: Vec<usize> = Vec::with_capacity(self.supernodes.len());
        for (at, mut supernode) in std::mem::take(&mut self.supernodes).into_iter().enumerate() {
            let mut own = supernode.width() as f64;
            // In postorder the last child ends where its parent begins.
            while let Some(child) = joined.last()
                && child.parent.is_some_and(|parent| (supernode.first..=at).contains(&parent))
            {
                let together = (child.bodies() + supernode.bodies()) as f64;
                let entries =
                    together * (supernode.width() + child.bodies()) as f64 - 0.5 * together * (together - 1.0);
                let wanted = own + needed.last().copied().unwrap_or_default();
                let few = child.bodies() < FEW || supernode.bodies() < FEW;
                if entries > wanted * (1.0 + if few { 4.0 * ZEROS } else { ZEROS }) {
                    break;
                }
                own = wanted;
                supernode.first = child.first;
                joined.pop();
                needed.pop();
            }
            joined.push(supernode);
            needed.push(own);
            place_of.push(0);
        }
        // Parents by the supernode that their body is in now.
        for (at, supernode) in joined.iter().enumerate() {
            place_of[supernode.first..supernode.end].fill(at);
        }
        for supernode in &mut joined {
            supernode.parent = supernode.parent.map(|parent| place_of[parent]);
        }
        self.supernodes = joined;
    }
}

/// The first body that L joins each to, by places (Liu).
fn parents(order: &[u32], place: &[u32], joined: &[Vec<u32>]) -> Vec<Option<u32>> {
    let mut parent = vec![None; order.len()];
    let mut ancestor: Vec<Option<u32>> = vec![None; order.len()];
    for (at, body) in (0_u32..).zip(order) {
        for other in &joined[*body as usize] {
            let mut k = place[*other as usize];
            while k < at {
                let next = ancestor[k as usize].replace(at);
                match next {
                    None => {
                        parent[k as usize] = Some(at);
                        break;
                    }
                    Some(next) => k = next,
                }
            }
        }
    }
    parent
}

/// Children before parents.
fn postorder(parents: &[Option<u32>]) -> Vec<u32> {
    let count = parents.len();
    let mut children = vec![Vec::new(); count];
    let mut roots = Vec::new();
    for (at, parent) in (0..count as u32).zip(parents).rev() {
        parent.map_or(&mut roots, |parent| &mut children[parent as usize]).push(at);
    }
    // Parents before children, and then turned round.
    let mut order = Vec::with_capacity(count);
    let mut waiting = roots;
    waiting.reverse();
    while let Some(at) = waiting.pop() {
        order.push(at);
        waiting.append(&mut children[at as usize]);
    }
    order.reverse();
    order
}

impl Factor {
    pub(super) fn new(pattern: Pattern) -> Self {
        let values = vec![0.0; pattern.size];
        Self { pattern, values }
    }

    /// L for these weights Θ of the rows; whether K is positive definite to rounding.
    pub(super) fn factorise(&mut self, system: &System, weights: &[f64]) -> bool {
        let Self { pattern, values } = self;
        let d = pattern.dimensions;
        // What is left of fronts whose parents are still to come: the last is the next to be taken.
        let mut left: Vec<(usize, Front)> = Vec::new();
        let mut spare: Vec<Front> = Vec::new();
        for (at, supernode) in pattern.supernodes.iter().enumerate() {
            let mut front = spare.pop().unwrap_or_default();
            front.clear(supernode.width() * d);
            (0..supernode.bodies() * d).for_each(|k| front.add((k, k), 1.0));
            for (row, ends) in &supernode.rows {
                system.add_square(*row, *ends, weights[*row as usize], &mut front);
            }
            while let Some((child, from)) = left.pop_if(|(child, _)| pattern.supernodes[*child].parent == Some(at)) {
                let child = &pattern.supernodes[child];
                add_rest(child, supernode, (&from, d), &mut front);
                spare.push(from);
            }
            let pivots = supernode.bodies() * d;
            if !front.eliminate(pivots) {
                return false;
            }
            let mut to = supernode.values;
            for j in 0..pivots {
                let column = front.column(j);
                values[to + j..to + front.size()].copy_from_slice(column);
                to += front.size();
            }
            if supernode.below.is_empty() {
                spare.push(front);
            } else {
                left.push((at, front));
            }
        }
        true
    }

    /// x ← K⁻¹ x, body by body.
    pub(super) fn solve(&self, x: &mut [f64]) {
        let Self { pattern: Pattern { place, supernodes, dimensions, .. }, values } = self;
        let d = *dimensions;
        let mut by_place = vec![0.0; x.len()];
        for (body, place) in place.iter().enumerate() {
            by_place[*place as usize * d..(*place as usize + 1) * d].copy_from_slice(&x[body * d..(body + 1) * d]);
        }
        for supernode in supernodes {
            let (pivots, size) = (supernode.bodies() * d, supernode.width() * d);
            let mut rest = vec![0.0; size - pivots];
            let own = &mut by_place[supernode.first * d..supernode.end * d];
            for (j, column) in values[supernode.values..].chunks_exact(size.max(1)).take(pivots).enumerate() {
                let y = own[j] / column[j];
                own[j] = y;
                own[j + 1..].iter_mut().zip(&column[j + 1..pivots]).for_each(|(x, l)| *x -= l * y);
                rest.iter_mut().zip(&column[pivots..]).for_each(|(x, l)| *x += l * y);
            }
            for (place, part) in supernode.below.iter().zip(rest.chunks_exact(d)) {
                let to = &mut by_place[*place as usize * d..(*place as usize + 1) * d];
                to.iter_mut().zip(part).for_each(|(x, part)| *x -= part);
            }
        }
        for supernode in supernodes.iter().rev() {
            let (pivots, size) = (supernode.bodies() * d, supernode.width() * d);
            let mut rest = Vec::with_capacity(size - pivots);
            for place in &supernode.below {
                rest.extend_from_slice(&by_place[*place as usize * d..(*place as usize + 1) * d]);
            }
            let own = &mut by_place[supernode.first * d..supernode.end * d];
            let columns = values[supernode.values..supernode.values + pivots * size].chunks_exact(size.max(1));
            for (j, column) in columns.enumerate().rev() {
                let taken = dot(&column[j + 1..pivots], &own[j + 1..]) + dot(&column[pivots..], &rest);
                own[j] = (own[j] - taken) / column[j];
            }
        }
        for (body, place) in place.iter().enumerate() {
            x[body * d..(body + 1) * d].copy_from_slice(&by_place[*place as usize * d..(*place as usize + 1) * d]);
        }
    }
}

/// Adds what is left of a child's front to that of its parent.
fn add_rest(child: &Supernode, parent: &Supernode, (from, d): (&Front, usize), to: &mut Front) {
    let places: Vec<usize> = child.below.iter().map(|place| parent.local(*place)).collect();
    let pivots = child.bodies() * d;
    for j in pivots..from.size() {
        let (across, axis) = ((j - pivots) / d, (j - pivots) % d);
        let column = places[across] * d + axis;
        for (i, value) in (j - pivots..).zip(from.column(j)) {
            to.add((places[i / d] * d + i % d, column), *value);
        }
    }
}

/// In four sums, which need not wait for each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (whole, rest) = a.as_chunks::<4>();
    let (others, last) = b.as_chunks::<4>();
    for (a, b) in whole.iter().zip(others) {
        (0..4).for_each(|k| sums[k] += a[k] * b[k]);
    }
    sums.iter().sum::<f64>() + rest.iter().zip(last).map(|(a, b)| a * b).sum::<f64>()
}
