//! Arrival times of a front on a grid, |∇T| = n with n the time per length, by fast marching (J. A. Sethian, PNAS 93,
//! 1996): nodes are finished in the order of their times, each from neighbours that were finished before.
//!
//! With the difference of the two nodes behind it, where both are finished and no later than the nearer one, a node's
//! equation is of second order,
//!
//! Σ_axes (a (T − β)/h_axis)² = n²,  a = 3/2, β = (4T₁ − T₂)/3;  else a = 1, β = T₁.
//!
//! Second order over the whole grid needs times that are exact within a fixed distance of where the front starts:
//! around a point all derivatives of T are unbounded.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec2;

/// Nodes of a lattice, row by row; along some axes the last node may be followed by the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The first node (length).
    pub origin: DVec2,
    /// Distance between neighbours along each axis (length).
    pub spacing: DVec2,
    /// Nodes of a row, and of a column.
    pub counts: [usize; 2],
    /// Whether space repeats along an axis, with the period counts · spacing.
    pub wraps: [bool; 2],
}

impl Grid {
    /// The smallest square grid of this spacing that covers a box (lengths), with at least two nodes a side.
    #[must_use]
    pub fn covering(lower: DVec2, upper: DVec2, cell: f64) -> Self {
        let count = |length: f64| (length / cell).ceil().max(1.0) as usize + 1;
        let size = upper - lower;
        Self { origin: lower, spacing: DVec2::splat(cell), counts: [count(size.x), count(size.y)], wraps: [false; 2] }
    }

    /// The same grid, with space that repeats along an axis (0 or 1) from an end on with a period (lengths): the
    /// spacing is the greatest that is not above the present one and divides the period.
    #[must_use]
    pub fn repeated(mut self, axis: usize, lower: f64, period: f64) -> Self {
        let count = (period / self.spacing[axis] * (1.0 - 1e-9)).ceil().max(2.0);
        (self.origin[axis], self.spacing[axis]) = (lower, period / count);
        (self.counts[axis], self.wraps[axis]) = (count as usize, true);
        self
    }

    /// The greater of the two spacings (length).
    #[must_use]
    pub fn cell(&self) -> f64 {
        self.spacing.max_element()
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
        self.origin + self.spacing * DVec2::new(column as f64, row as f64)
    }

    /// The nodes of a box (lengths), and where they are in it: along axes that repeat, each image in the box.
    pub fn within(&self, lower: DVec2, upper: DVec2) -> impl Iterator<Item = (usize, DVec2)> {
        let range = |axis: usize| {
            let (spacing, origin) = (self.spacing[axis], self.origin[axis]);
            let index = |length: f64| (length / spacing).floor() as isize;
            let range = index(lower[axis] - origin)..index(upper[axis] - origin + spacing);
            let count = self.counts[axis].cast_signed();
            if self.wraps[axis] { range } else { range.start.clamp(0, count)..range.end.clamp(0, count) }
        };
        let (columns, counts) = (range(0), self.counts);
        let folded = move |index: isize, axis: usize| index.rem_euclid(counts[axis].cast_signed()).cast_unsigned();
        range(1).flat_map(move |row| {
            columns.clone().map(move |column| {
                let place = self.origin + self.spacing * DVec2::new(column as f64, row as f64);
                (folded(row, 1) * counts[0] + folded(column, 0), place)
            })
        })
    }

    /// The images of a point in a box (lengths); along axes that do not repeat there is the point alone, wherever it
    /// is.
    pub fn images(&self, point: DVec2, lower: DVec2, upper: DVec2) -> impl Iterator<Item = DVec2> + use<> {
        let period = self.period();
        let range = |axis: usize| {
            if !self.wraps[axis] {
                return 0..=0;
            }
            let (below, above) = (lower[axis] - point[axis], upper[axis] - point[axis]);
            (below / period[axis]).ceil() as i64..=(above / period[axis]).floor() as i64
        };
        let (x, y) = (range(0), range(1));
        x.flat_map(move |i| y.clone().map(move |j| point + DVec2::new(i as f64, j as f64) * period))
    }

    /// The vector from one node to a neighbour of it (length), through a face where that is the way.
    #[must_use]
    pub fn offset(&self, from: usize, to: usize) -> DVec2 {
        let (mut offset, period) = (self.place(to) - self.place(from), self.period());
        for axis in 0..2 {
            if self.wraps[axis] {
                offset[axis] -= period[axis] * (offset[axis] / period[axis]).round();
            }
        }
        offset
    }

    /// Periods (length), along axes that repeat.
    fn period(&self) -> DVec2 {
        self.spacing * DVec2::new(self.counts[0] as f64, self.counts[1] as f64)
    }

    /// The next node along an axis (0 or 1), forwards or backwards.
    #[must_use]
    pub fn next(&self, node: usize, axis: usize, forward: bool) -> Option<usize> {
        let (stride, index) =
            if axis == 0 { (1, node % self.counts[0]) } else { (self.counts[0], node / self.counts[0]) };
        let around = stride * (self.counts[axis] - 1);
        match forward {
            true if index + 1 < self.counts[axis] => Some(node + stride),
            false if index > 0 => Some(node - stride),
            true if self.wraps[axis] => Some(node - around),
            false if self.wraps[axis] => Some(node + around),
            _ => None,
        }
    }

    /// The four nodes around a point and the weights of bilinear interpolation; a point outside counts as the nearest
    /// one of the grid, or as its image where space repeats.
    #[must_use]
    pub fn around(&self, point: DVec2) -> [(usize, f64); 4] {
        let local = (point - self.origin) / self.spacing;
        // Two neighbours along an axis, and how far from the first of them.
        let side = |axis: usize| {
            let (x, count) = (local[axis], self.counts[axis]);
            if self.wraps[axis] {
                let (corner, share) = (x.floor(), x - x.floor());
                let first = corner.rem_euclid(count as f64) as usize % count;
                return (first, (first + 1) % count, share);
            }
            let last = (count - 1) as f64;
            let x = x.clamp(0.0, last);
            let corner = x.floor().min(last - 1.0).max(0.0);
            (corner as usize, corner as usize + 1, x - corner)
        };
        let ((left, right, x), (below, above, y)) = (side(0), side(1));
        let node = |column: usize, row: usize| row * self.counts[0] + column;
        [
            (node(left, below), (1.0 - x) * (1.0 - y)),
            (node(right, below), x * (1.0 - y)),
            (node(left, above), (1.0 - x) * y),
            (node(right, above), x * y),
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

/// The side of an axis from which the front comes: (T − β) a = h |∂T|, h the greater of the spacings.
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
                if let Some(reached) = meet(sides, self.slowness[node] * self.grid.cell()) {
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
        let a = a * (self.grid.cell() / self.grid.spacing[axis]);
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
