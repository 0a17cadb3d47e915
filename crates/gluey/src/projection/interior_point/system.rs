//! Rows in variables in which both they and the metric have unit diagonals.
//!
//! With M⁻¹ = R Rᵀ of every body, u = R⁻¹ (V − V^{n+1/2}) and λ_c = √A_cc Λ_c, where B has the rows b_c = Rᵀ g_c / √A_cc,
//!
//! ```text
//! |b_c| = 1,   u = Bᵀ λ,   w_c = (D_c/h + G_c V)/√A_cc = rate_c + b_c·u,   λ_c ≥ lower_c = √A_cc Λ_c^{lower}.
//! ```
//!
//! A body is a sphere, which has a velocity, or a clump, which has a spin too.

use glam::{DMat3, DVec3};

use super::dense::Front;
use crate::projection::{Metric, NO_CLUMP, Problem, Response, Rigid, Twist, WALL};

/// Stands for a wall and for bodies that cannot move.
pub(super) const NOBODY: u32 = u32::MAX;

/// Components of a velocity and a spin.
const AXES: usize = 6;

/// What moves, and how impulses move it.
pub(super) struct Bodies<'a> {
    problem: &'a Problem,
    rigid: Option<&'a Rigid>,
    /// √κ⁻¹ and R of the inertia of each clump.
    roots: Vec<(f64, DMat3)>,
    /// Its spheres.
    spheres: Vec<Vec<u32>>,
}

impl<'a> Bodies<'a> {
    /// None where only products of the metric are known.
    pub(super) fn new(problem: &'a Problem) -> Option<Self> {
        let rigid = match &problem.prediction.metric {
            Metric::Diagonal(_) => None,
            Metric::Rigid(rigid) => Some(rigid),
            Metric::Operator { .. } => return None,
        };
        let root = |response: &Response| (response.inverse_mass.sqrt(), root(response.inverse_inertia));
        let roots = rigid.map_or(Vec::new(), |rigid| rigid.responses.iter().map(root).collect());
        let mut spheres = vec![Vec::new(); roots.len()];
        for (sphere, owner) in
            (0..).zip(rigid.iter().flat_map(|rigid| &rigid.owner)).filter(|(_, owner)| **owner != NO_CLUMP)
        {
            spheres[*owner as usize].push(sphere);
        }
        Some(Self { problem, rigid, roots, spheres })
    }

    /// Clumps come first, then all spheres.
    pub(super) fn count(&self) -> usize {
        self.roots.len() + self.problem.bodies()
    }

    /// The body that a sphere is, or belongs to; nobody where it cannot move.
    pub(super) fn of(&self, sphere: u32) -> u32 {
        if sphere == WALL {
            return NOBODY;
        }
        let owner = self.rigid.map_or(NO_CLUMP, |rigid| rigid.owner[sphere as usize]);
        if owner != NO_CLUMP {
            let (linear, angular) = &self.roots[owner as usize];
            return if *linear == 0.0 && *angular == DMat3::ZERO { NOBODY } else { owner };
        }
        if self.inverse_mass(sphere) == 0.0 { NOBODY } else { self.roots.len() as u32 + sphere }
    }

    /// Does this with each sphere of a body.
    pub(super) fn each_sphere(&self, body: u32, mut then: impl FnMut(u32)) {
        match self.spheres.get(body as usize) {
            Some(spheres) => spheres.iter().for_each(|sphere| then(*sphere)),
            None => then(body - self.roots.len() as u32),
        }
    }

    fn inverse_mass(&self, sphere: u32) -> f64 {
        self.problem.prediction.metric.inverse_mass()[sphere as usize]
    }

    /// Rᵀ of a unit impulse on the sphere along a direction.
    fn push(&self, sphere: u32, direction: DVec3) -> [f64; AXES] {
        let (linear, angular) = match self.rigid {
            Some(rigid) if rigid.owner[sphere as usize] != NO_CLUMP => {
                let (linear, root) = &self.roots[rigid.owner[sphere as usize] as usize];
                (direction * *linear, root.transpose() * rigid.arm[sphere as usize].cross(direction))
            }
            _ => (direction * self.inverse_mass(sphere).sqrt(), DVec3::ZERO),
        };
        [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
    }

    /// R u of the sphere, where u is that of its body.
    pub(super) fn velocity(&self, sphere: u32, u: [f64; AXES]) -> DVec3 {
        let (linear, angular) = (DVec3::new(u[0], u[1], u[2]), DVec3::new(u[3], u[4], u[5]));
        match self.rigid {
            Some(rigid) if rigid.owner[sphere as usize] != NO_CLUMP => {
                let (root, turn) = &self.roots[rigid.owner[sphere as usize] as usize];
                Twist { velocity: linear * *root, spin: *turn * angular }.at(rigid.arm[sphere as usize])
            }
            _ => linear * self.inverse_mass(sphere).sqrt(),
        }
    }
}

/// R with R Rᵀ = S, lower triangular, for a matrix that is positive semidefinite.
fn root(s: DMat3) -> DMat3 {
    let mut r = DMat3::ZERO;
    for j in 0..3 {
        let taken: f64 = (0..j).map(|k| r.col(k)[j].powi(2)).sum();
        let pivot = s.col(j)[j] - taken;
        if pivot <= f64::EPSILON * s.col(j)[j] {
            continue; // about an axis on which all masses lie nothing turns
        }
        let mut column = [0.0; 3];
        column[j] = pivot.sqrt();
        for (i, entry) in column.iter_mut().enumerate().skip(j + 1) {
            let taken: f64 = (0..j).map(|k| r.col(k)[i] * r.col(k)[j]).sum();
            *entry = (s.col(j)[i] - taken) / pivot.sqrt();
        }
        *r.col_mut(j) = DVec3::from_array(column);
    }
    r
}

/// x + y as its rounding and what that lacks, exactly (Knuth).
pub(super) fn two_sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let y_taken = sum - x;
    (sum, (x - (sum - y_taken)) + (y - y_taken))
}

/// Some rows of a problem, and the bodies that they join.
pub(super) struct System {
    /// Which rows of the problem.
    pub rows: Vec<u32>,
    /// Which bodies.
    pub bodies: Vec<u32>,
    /// √A_cc.
    pub steepness: Vec<f64>,
    /// What w is where u is 0.
    pub rate: Vec<f64>,
    pub lower: Vec<f64>,
    ends: Vec<[u32; 2]>,
    /// Components of velocities and spins that are anything but zero.
    axes: Vec<usize>,
    /// b of the two ends of each row.
    gradients: Vec<f64>,
}

impl System {
    /// These rows, which join these bodies; `number` tells the place of each among them, and `base` are the velocities without the impulses of these rows.
    pub(super) fn new(
        (problem, metric, base): (&Problem, &Bodies, &[DVec3]),
        rows: Vec<u32>,
        bodies: Vec<u32>,
        number: &[u32],
    ) -> Self {
        let mut all = Vec::with_capacity(rows.len());
        let mut system = Self {
            steepness: Vec::with_capacity(rows.len()),
            rate: Vec::with_capacity(rows.len()),
            lower: Vec::with_capacity(rows.len()),
            ends: Vec::with_capacity(rows.len()),
            axes: Vec::new(),
            gradients: Vec::new(),
            rows,
            bodies,
        };
        for row in system.rows.iter().map(|row| &problem.rows[*row as usize]) {
            let steepness = problem.diagonal(row).sqrt();
            let velocity = |sphere: u32| base.get(sphere as usize).copied().unwrap_or_default();
            let rate = row.gap / problem.dt + row.normal.dot(velocity(row.j) - velocity(row.i));
            let bodies = [row.i, row.j].map(|sphere| metric.of(sphere));
            let ends = bodies.map(|body| if body == NOBODY { NOBODY } else { number[body as usize] });
            let mut pushes = [[0.0; AXES]; 2];
            for (at, (sphere, sign)) in [(row.i, -1.0), (row.j, 1.0)].into_iter().enumerate() {
                if ends[at] != NOBODY {
                    pushes[at] = metric.push(sphere, row.normal * (sign / steepness));
                }
            }
            // Two spheres of one clump: both ends are the same body.
            let same = ends[0] == ends[1] && ends[0] != NOBODY;
            if same {
                let [from, to] = pushes;
                pushes = [std::array::from_fn(|axis| from[axis] + to[axis]), [0.0; AXES]];
            }
            all.push(pushes);
            system.steepness.push(steepness);
            system.rate.push(rate / steepness);
            system.lower.push(row.set.scaled(steepness).least());
            system.ends.push(if same { [ends[0], NOBODY] } else { ends });
        }
        let is_used = |axis: &usize| all.iter().flatten().any(|push| push[*axis] != 0.0);
        system.axes = (0..AXES).filter(is_used).collect();
        let axes = &system.axes;
        system.gradients = all.iter().flatten().flat_map(|push| axes.iter().map(|axis| push[*axis])).collect();
        system
    }

    pub(super) fn dimensions(&self) -> usize {
        self.axes.len()
    }

    pub(super) fn bodies(&self) -> usize {
        self.bodies.len()
    }

    /// Whom each row joins.
    pub(super) fn ends(&self) -> impl Iterator<Item = [u32; 2]> {
        self.ends.iter().copied()
    }

    /// The two parts of b of each row.
    fn gradients(&self) -> impl Iterator<Item = (&[u32; 2], (&[f64], &[f64]))> {
        let d = self.dimensions();
        self.ends.iter().zip(self.gradients.chunks_exact(2 * d.max(1)).map(move |both| both.split_at(d)))
    }

    /// B u.
    pub(super) fn along(&self, u: &[f64], result: &mut Vec<f64>) {
        let d = self.dimensions();
        result.clear();
        result.extend(self.gradients().map(|(ends, (from, to))| {
            let part = |end: u32, b: &[f64]| -> f64 {
                if end == NOBODY {
                    return 0.0;
                }
                let u = &u[end as usize * d..(end as usize + 1) * d];
                b.iter().zip(u).map(|(b, u)| b * u).sum()
            };
            part(ends[0], from) + part(ends[1], to)
        }));
    }

    /// Adds Bᵀ y.
    pub(super) fn add_pushes(&self, y: &[f64], u: &mut [f64]) {
        let d = self.dimensions();
        for ((ends, (from, to)), y) in self.gradients().zip(y) {
            for (end, b) in [(ends[0], from), (ends[1], to)] {
                if end != NOBODY {
                    let u = &mut u[end as usize * d..(end as usize + 1) * d];
                    u.iter_mut().zip(b).for_each(|(u, b)| *u += b * y);
                }
            }
        }
    }

    pub(super) fn is_bounded(&self, row: usize) -> bool {
        self.lower[row] > f64::NEG_INFINITY
    }

    /// What the distances of impulses are from: their bound, or 0 where there is none.
    pub(super) fn base(&self, row: usize) -> f64 {
        if self.is_bounded(row) { self.lower[row] } else { 0.0 }
    }

    /// u − Bᵀ λ with λ = base + distance + rest. λ has twice the precision of a number, and so has the sum.
    pub(super) fn imbalance(&self, u: &[f64], (distance, rest): (&[f64], &[f64]), result: &mut Vec<f64>) {
        let d = self.dimensions();
        result.clear();
        result.extend_from_slice(u);
        let mut small = vec![0.0; u.len()];
        for (c, (ends, (from, to))) in self.gradients().enumerate() {
            let (y, lost) = two_sum(self.base(c), distance[c]);
            let rest = lost + rest[c];
            for (end, b) in [(ends[0], from), (ends[1], to)] {
                if end == NOBODY {
                    continue;
                }
                for (axis, b) in b.iter().enumerate() {
                    let at = end as usize * d + axis;
                    let product = b * y;
                    let lost = b.mul_add(y, -product);
                    let (sum, rounding) = two_sum(result[at], -product);
                    result[at] = sum;
                    small[at] += rounding - lost - b * rest;
                }
            }
        }
        result.iter_mut().zip(&small).for_each(|(sum, small)| *sum += small);
    }

    /// Adds |B|ᵀ |y|: the size of the sums in Bᵀ y.
    pub(super) fn add_sizes(&self, y: &[f64], sizes: &mut [f64]) {
        let d = self.dimensions();
        for ((ends, (from, to)), y) in self.gradients().zip(y) {
            for (end, b) in [(ends[0], from), (ends[1], to)] {
                if end != NOBODY {
                    let sizes = &mut sizes[end as usize * d..(end as usize + 1) * d];
                    sizes.iter_mut().zip(b).for_each(|(size, b)| *size += (b * y).abs());
                }
            }
        }
    }

    /// Adds weight b bᵀ of a row whose ends are at these bodies of a front.
    pub(super) fn add_square(&self, row: u32, ends: [u32; 2], weight: f64, front: &mut Front) {
        let d = self.dimensions();
        let (from, to) = self.gradients[row as usize * 2 * d..(row as usize + 1) * 2 * d].split_at(d);
        let sides = [(ends[0], from), (ends[1], to)];
        for (down, b) in sides.iter().filter(|(end, _)| *end != NOBODY) {
            for (across, c) in sides.iter().filter(|(end, _)| *end != NOBODY && end <= down) {
                for (i, b) in b.iter().enumerate() {
                    let last = if down == across { i + 1 } else { d };
                    for (j, c) in c.iter().enumerate().take(last) {
                        front.add((*down as usize * d + i, *across as usize * d + j), weight * b * c);
                    }
                }
            }
        }
    }

    /// The impulses Λ of its rows; those at their bounds exactly.
    pub(super) fn write_impulses(&self, problem: &Problem, lambda: &[f64], impulses: &mut [f64]) {
        for (at, row) in self.rows.iter().enumerate() {
            let set = problem.rows[*row as usize].set;
            let is_least = lambda[at] == self.lower[at];
            impulses[*row as usize] = if is_least { set.least() } else { set.project(lambda[at] / self.steepness[at]) };
        }
    }

    /// Adds R u of its bodies.
    pub(super) fn add_velocities(&self, metric: &Bodies, u: &[f64], velocity: &mut [DVec3]) {
        for (at, body) in self.bodies.iter().enumerate() {
            let u = self.all_axes(u, at);
            metric.each_sphere(*body, |sphere| velocity[sphere as usize] += metric.velocity(sphere, u));
        }
    }

    /// u of a body with all its components.
    fn all_axes(&self, u: &[f64], body: usize) -> [f64; AXES] {
        let mut all = [0.0; AXES];
        let d = self.dimensions();
        self.axes.iter().zip(&u[body * d..(body + 1) * d]).for_each(|(axis, u)| all[*axis] = *u);
        all
    }
}
