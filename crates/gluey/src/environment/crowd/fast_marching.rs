//! Arrival times of a front on a grid, |∇T| = n with n the time per length, by fast marching (J. A. Sethian, PNAS 93,
//! 1996): nodes are finished in the order of their times, each from neighbours that were finished before.
//!
//! With the difference of the two nodes behind it, where both are finished and no later than the nearer one, a node's
//! equation is of second order,
//!
//! Σ_axes (a (T − β)/h)² = n²,  a = 3/2, β = (4T₁ − T₂)/3;  else a = 1, β = T₁.
//!
//! Second order over the whole grid needs times that are exact within a fixed distance of where the front starts: around
//! a point all derivatives of T are unbounded.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec2;

/// Nodes of a square lattice, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The first node (length).
    pub origin: DVec2,
    /// Distance h between neighbours (length).
    pub cell: f64,
    /// Nodes of a row, and of a column.
    pub counts: [usize; 2],
}

impl Grid {
    /// The smallest grid of this spacing that covers a box (lengths), with at least two nodes a side.
    #[must_use]
    pub fn covering(lower: DVec2, upper: DVec2, cell: f64) -> Self {
        let count = |length: f64| (length / cell).ceil().max(1.0) as usize + 1;
        let size = upper - lower;
        Self { origin: lower, cell, counts: [count(size.x), count(size.y)] }
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts[0] * self.counts[1]
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a node is (length).
    #[must_use]
    pub fn place(&self, node: usize) -> DVec2 {
        let (column, row) = (node % self.counts[0], node / self.counts[0]);
        self.origin + self.cell * DVec2::new(column as f64, row as f64)
    }

    /// The nodes of a box (lengths), in their order.
    pub fn within(&self, lower: DVec2, upper: DVec2) -> impl Iterator<Item = usize> {
        let index = |length: f64, count: usize| ((length / self.cell).max(0.0) as usize).min(count);
        let range = |low: f64, high: f64, count: usize| index(low, count)..index(high + self.cell, count);
        let (low, high, row) = (lower - self.origin, upper - self.origin, self.counts[0]);
        let columns = range(low.x, high.x, row);
        range(low.y, high.y, self.counts[1]).flat_map(move |k| columns.clone().map(move |column| k * row + column))
    }

    /// The next node along an axis (0 or 1), forwards or backwards.
    #[must_use]
    pub fn next(&self, node: usize, axis: usize, forward: bool) -> Option<usize> {
        let (stride, index) =
            if axis == 0 { (1, node % self.counts[0]) } else { (self.counts[0], node / self.counts[0]) };
        match forward {
            true if index + 1 < self.counts[axis] => Some(node + stride),
            false if index > 0 => Some(node - stride),
            _ => None,
        }
    }

    /// The four nodes around a point and the weights of bilinear interpolation; a point outside counts as the nearest one
    /// of the grid.
    #[must_use]
    pub fn around(&self, point: DVec2) -> [(usize, f64); 4] {
        let last = DVec2::new((self.counts[0] - 1) as f64, (self.counts[1] - 1) as f64);
        let local = ((point - self.origin) / self.cell).clamp(DVec2::ZERO, last);
        let corner = local.floor().min(last - 1.0).max(DVec2::ZERO);
        let share = local - corner;
        let first = corner.y as usize * self.counts[0] + corner.x as usize;
        let (up, right) = (self.counts[0], 1);
        [
            (first, (1.0 - share.x) * (1.0 - share.y)),
            (first + right, share.x * (1.0 - share.y)),
            (first + up, (1.0 - share.x) * share.y),
            (first + up + right, share.x * share.y),
        ]
    }
}

/// Where a front starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seed {
    /// The node.
    pub node: usize,
    /// When the front is there at the latest (time).
    pub time: f64,
    /// Unit vector back to where it came from, −∇T/|∇T|.
    pub towards: DVec2,
    /// Which front it belongs to.
    pub label: u32,
    /// Whether the time is that of the exact solution, and not to be found again.
    pub exact: bool,
}

/// When and from where the front reached each node.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// T (time); infinite where it never came.
    pub time: Vec<f64>,
    /// −∇T/|∇T|, by the differences that gave T; zero where the front never came.
    pub towards: Vec<DVec2>,
    /// The front that came first.
    pub label: Vec<u32>,
}

/// Marches from the seeds over all nodes of finite slowness n (time / length), never between two neighbours that are
/// `parted`.
#[must_use]
pub fn march(grid: &Grid, slowness: &[f64], seeds: &[Seed], parted: &dyn Fn(usize, usize) -> bool) -> Arrival {
    let count = grid.len();
    let mut marching = Marching {
        grid,
        slowness,
        parted,
        arrival: Arrival { time: vec![f64::INFINITY; count], towards: vec![DVec2::ZERO; count], label: vec![0; count] },
        state: vec![Progress::Open; count],
        queue: BinaryHeap::new(),
    };
    for seed in seeds {
        let exact = if seed.exact { Progress::Exact } else { Progress::Open };
        marching.offer(seed.node, Reached { time: seed.time, towards: seed.towards, label: seed.label }, exact);
    }
    while let Some(Reverse((_, node))) = marching.queue.pop() {
        if marching.state[node] != Progress::Finished {
            marching.state[node] = Progress::Finished;
            marching.update_around(node);
        }
    }
    marching.arrival
}

#[derive(Clone, Copy, PartialEq)]
enum Progress {
    /// May still be reached earlier.
    Open,
    /// Its time is given.
    Exact,
    Finished,
}

#[derive(Clone, Copy)]
struct Reached {
    time: f64,
    towards: DVec2,
    label: u32,
}

/// The side of an axis from which the front comes: (T − β) a = h |∂T|.
#[derive(Clone, Copy)]
struct Upwind {
    /// T₁.
    near: f64,
    beta: f64,
    a: f64,
    towards: DVec2,
    label: u32,
}

struct Marching<'a> {
    grid: &'a Grid,
    slowness: &'a [f64],
    parted: &'a dyn Fn(usize, usize) -> bool,
    arrival: Arrival,
    state: Vec<Progress>,
    /// Times ≥ 0 sort as their bits do; equal times go by node. A node may stand here several times: the first counts.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Marching<'_> {
    fn offer(&mut self, node: usize, reached: Reached, state: Progress) {
        if reached.time < self.arrival.time[node] {
            self.arrival.time[node] = reached.time;
            self.arrival.towards[node] = reached.towards;
            self.arrival.label[node] = reached.label;
            self.state[node] = state;
            self.queue.push(Reverse((reached.time.to_bits(), node)));
        }
    }

    fn update_around(&mut self, finished: usize) {
        for (axis, forward) in [(0, false), (0, true), (1, false), (1, true)] {
            let Some(node) = self.grid.next(finished, axis, forward) else { continue };
            let is_open = self.state[node] == Progress::Open && self.slowness[node].is_finite();
            if is_open && !(self.parted)(finished, node) {
                let sides = [self.upwind(node, 0), self.upwind(node, 1)];
                if let Some(reached) = meet(sides, self.slowness[node] * self.grid.cell) {
                    self.offer(node, reached, Progress::Open);
                }
            }
        }
    }

    /// The earlier of the two finished neighbours along an axis, with the one behind it where that serves.
    fn upwind(&self, node: usize, axis: usize) -> Option<Upwind> {
        let behind = |node: usize, forward: bool| {
            let next = self.grid.next(node, axis, forward)?;
            (self.state[next] == Progress::Finished && !(self.parted)(node, next)).then_some(next)
        };
        let time = |node: usize| self.arrival.time[node];
        let sides = [false, true].map(|forward| behind(node, forward).map(|next| (next, forward)));
        let (next, forward) = sides.into_iter().flatten().min_by(|a, b| time(a.0).total_cmp(&time(b.0)))?;
        let near = time(next);
        let far = behind(next, forward).map(time).filter(|far| *far <= near);
        let (beta, a) = far.map_or((near, 1.0), |far| (near + (near - far) / 3.0, 1.5));
        let towards = DVec2::AXES[axis] * if forward { 1.0 } else { -1.0 };
        Some(Upwind { near, beta, a, towards, label: self.arrival.label[next] })
    }
}

/// The time at which a node is reached from both axes, or from the one that is earlier; `delay` is n h.
fn meet(sides: [Option<Upwind>; 2], delay: f64) -> Option<Reached> {
    if let [Some(x), Some(y)] = sides {
        // Σ a² (s − b)² = delay² with times counted from the later of the two.
        let start = x.near.max(y.near);
        let (bx, by) = (x.beta - start, y.beta - start);
        let (wx, wy) = (x.a * x.a, y.a * y.a);
        let (sum, mixed) = (wx + wy, wx * bx + wy * by);
        let discriminant = sum * delay * delay - wx * wy * (bx - by) * (bx - by);
        let s = (mixed + discriminant.max(0.0).sqrt()) / sum;
        if discriminant >= 0.0 && s >= bx.max(by).max(0.0) {
            let gradient = x.a * (s - bx) * x.towards + y.a * (s - by) * y.towards;
            let label = if x.near <= y.near { x.label } else { y.label };
            return Some(Reached { time: start + s, towards: gradient.normalize_or_zero(), label });
        }
    }
    let alone = |side: Upwind| Reached { time: side.beta + delay / side.a, towards: side.towards, label: side.label };
    sides.into_iter().flatten().map(alone).min_by(|a, b| a.time.total_cmp(&b.time))
}
