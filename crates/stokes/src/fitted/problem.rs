//! The discrete equations between two surfaces, the upper a sphere and the lower a sphere or a plane.
//!
//! Unknowns are velocities at the nodes and pressures at the corners of the cells, but for those that are given:
//! velocities on the surfaces, uρ on the axis, all at infinity. The pressure is 0 at infinity: pinned in the gap
//! instead, it would spoil the gap. What the fluid does to a surface is the residual of the equations of its nodes,
//! tested with the velocity 1 along z: this is as accurate as the dissipation, of twice the order of the velocity
//! gradient.

use super::element::{self, NODES, SIZE};
use super::flow::Flow;
use super::grid::{Grid, Lines};
use super::sparse::{Factors, Pattern};
use crate::bispherical::Bispherical;
use crate::error::StokesError;

/// What is below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    Plane,
    Sphere,
}

/// What one value of the solution is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    /// The unknown of this number.
    Unknown(u32),
    /// A velocity along z on the upper (0) or lower (1) surface.
    Moving(usize),
    Zero,
}

/// Numbers and pattern for a grid, the same for all gaps.
#[derive(Debug)]
pub(super) struct Problem {
    grid: Grid,
    /// Cells in ξ and in η.
    cells: [usize; 2],
    /// Of uρ, uz at each node, then of the pressures.
    values: Vec<Value>,
    pub unknowns: usize,
    pattern: Pattern,
    /// For each cell, where in the pattern its entries go; `NOWHERE` for those of given values.
    places: Vec<[[u32; SIZE]; SIZE]>,
}

const NOWHERE: u32 = u32::MAX;

impl Problem {
    pub fn new(grid: Grid, below: Below) -> Result<Self, StokesError> {
        for (name, cells) in [("across", grid.across), ("along", grid.along)] {
            if cells == 0 {
                return Err(StokesError::TooCoarse { name, cells, needed: 1 });
            }
        }
        let across = if below == Below::Plane { grid.across } else { 2 * grid.across };
        let cells = [across, grid.along];
        let (values, unknowns) = number(cells, below);
        let mut pairs = Vec::new();
        let all: Vec<[usize; SIZE]> = cell_numbers(cells).collect();
        let unknown = |index: usize| if let Value::Unknown(number) = values[index] { Some(number) } else { None };
        for indices in &all {
            let free: Vec<u32> = indices.iter().filter_map(|&index| unknown(index)).collect();
            pairs.extend(free.iter().flat_map(|&column| free.iter().map(move |&row| [column, row])));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let place = |row, column| match (unknown(row), unknown(column)) {
            (Some(row), Some(column)) => pairs.binary_search(&[column, row]).map_or(NOWHERE, |place| place as u32),
            _ => NOWHERE,
        };
        let places = all.iter().map(|indices| indices.map(|row| indices.map(|column| place(row, column)))).collect();
        let pattern = Pattern::new(unknowns, &pairs).map_err(|reason| StokesError::Unsolved { reason })?;
        Ok(Self { grid, cells, values, unknowns, pattern, places })
    }

    /// The flows of unit velocity of each surface in `moving` (0: upper, 1: lower) while the other is at rest.
    pub fn flows<const N: usize>(&self, shape: &Bispherical, moving: [usize; N]) -> Result<[Flow; N], StokesError> {
        let unsolved = |reason| StokesError::Unsolved { reason };
        // 1. The grid and the matrices of its cells.
        let lines = Lines::new(self.grid, shape)?;
        // 2. The factors of the whole.
        let equations = Equations::new(self, self.matrices(&lines, shape)).map_err(unsolved)?;
        // 3. One solution, and the forces, for each motion.
        let mut flows = Vec::new();
        for surface in moving {
            let solution = equations.solve(surface).map_err(unsolved)?;
            let forces = equations.forces(&solution);
            flows.push(Flow { shape: *shape, lines: lines.clone(), values: solution, forces });
        }
        flows.try_into().map_err(|_| unsolved("a flow is missing".to_string()))
    }

    fn matrices(&self, lines: &Lines, shape: &Bispherical) -> Vec<element::Matrix> {
        let mut matrices = Vec::with_capacity(self.places.len());
        for j in 0..self.cells[1] {
            for i in 0..self.cells[0] {
                let xi = [lines.xi[2 * i], lines.xi[2 * i + 2]];
                let eta = [lines.eta[2 * j], lines.eta[2 * j + 2]];
                matrices.push(element::matrix(shape, xi, eta));
            }
        }
        matrices
    }

    /// The number of an unknown; `None` if the value is given.
    fn unknown(&self, index: usize) -> Option<usize> {
        if let Value::Unknown(number) = self.values[index] { Some(number as usize) } else { None }
    }
}

/// The equations at one gap, K x = 0 but for given values, with the factors of S K S.
struct Equations<'a> {
    problem: &'a Problem,
    matrices: Vec<element::Matrix>,
    /// S.
    scales: Vec<f64>,
    factors: Factors<'a>,
}

impl<'a> Equations<'a> {
    fn new(problem: &'a Problem, matrices: Vec<element::Matrix>) -> Result<Self, String> {
        let scales = scales(problem, &matrices);
        let mut entries = vec![0.0; problem.pattern.len()];
        for (matrix, places) in matrices.iter().zip(&problem.places) {
            for (value, &place) in matrix.iter().flatten().zip(places.iter().flatten()) {
                if place != NOWHERE {
                    entries[place as usize] += value;
                }
            }
        }
        problem.pattern.scale(&mut entries, &scales);
        let factors = problem.pattern.factorise(&entries)?;
        Ok(Self { problem, matrices, scales, factors })
    }

    /// Corrections −K⁻¹(K x) from the given values: the first is the solution, the second takes away its rounding.
    fn solve(&self, surface: usize) -> Result<Vec<f64>, String> {
        let given = |value: &Value| if *value == Value::Moving(surface) { 1.0 } else { 0.0 };
        let mut solution: Vec<f64> = self.problem.values.iter().map(given).collect();
        for _ in 0..2 {
            let mut correction = vec![0.0; self.problem.unknowns];
            for (index, residual) in self.residuals(&solution) {
                if let Some(number) = self.problem.unknown(index) {
                    correction[number] -= self.scales[number] * residual;
                }
            }
            self.factors.solve(&mut correction)?;
            for (index, x) in solution.iter_mut().enumerate() {
                if let Some(number) = self.problem.unknown(index) {
                    *x += self.scales[number] * correction[number];
                }
            }
        }
        if solution.iter().all(|x| x.is_finite()) { Ok(solution) } else { Err("it is not finite".to_string()) }
    }

    /// Forces that move the upper and lower surface, divided by 6πμ: the residuals are per 2π.
    fn forces(&self, solution: &[f64]) -> [f64; 2] {
        let mut forces = [0.0; 2];
        for (index, residual) in self.residuals(solution) {
            if let Value::Moving(surface) = self.problem.values[index] {
                forces[surface] += residual / 3.0;
            }
        }
        forces
    }

    /// K x, cell by cell.
    fn residuals(&self, solution: &[f64]) -> impl Iterator<Item = (usize, f64)> {
        cell_numbers(self.problem.cells).zip(&self.matrices).flat_map(|(indices, matrix)| {
            let local = indices.map(|index| solution[index]);
            let product = |row: &[f64; SIZE]| row.iter().zip(&local).map(|(a, x)| a * x).sum();
            let products: [f64; SIZE] = std::array::from_fn(|row| product(&matrix[row]));
            indices.into_iter().zip(products)
        })
    }
}

/// Scales that bring the diagonal of velocities, and that of B A⁻¹ Bᵀ for the diagonal of A, to about 1. Without them
/// pivots are chosen among figures of different units, and drags at gaps of 1e-8 are wrong by parts in ten.
fn scales(problem: &Problem, matrices: &[element::Matrix]) -> Vec<f64> {
    let mut diagonal = vec![0.0; problem.unknowns];
    for (indices, matrix) in cell_numbers(problem.cells).zip(matrices) {
        for k in 0..2 * NODES {
            if let Some(number) = problem.unknown(indices[k]) {
                diagonal[number] += matrix[k][k];
            }
        }
    }
    let velocities = diagonal.clone();
    for (indices, matrix) in cell_numbers(problem.cells).zip(matrices) {
        for k in 2 * NODES..SIZE {
            let Some(pressure) = problem.unknown(indices[k]) else { continue };
            for i in 0..2 * NODES {
                if let Some(velocity) = problem.unknown(indices[i]) {
                    diagonal[pressure] += matrix[k][i] * matrix[k][i] / velocities[velocity];
                }
            }
        }
    }
    diagonal.into_iter().map(|square: f64| 1.0 / square.sqrt()).collect()
}

/// Numbers of the values of each cell, ξ fastest.
fn cell_numbers([across, along]: [usize; 2]) -> impl Iterator<Item = [usize; SIZE]> {
    let row = 2 * across + 1;
    let pressures = 2 * row * (2 * along + 1);
    (0..along).flat_map(move |j| {
        (0..across).map(move |i| {
            std::array::from_fn(|k| {
                if k < 2 * NODES {
                    let node = k / 2;
                    2 * ((2 * j + node / 3) * row + 2 * i + node % 3) + k % 2
                } else {
                    let corner = k - 2 * NODES;
                    pressures + (j + corner / 2) * (across + 1) + i + corner % 2
                }
            })
        })
    })
}

/// What each value is, and how many unknowns there are.
fn number([across, along]: [usize; 2], below: Below) -> (Vec<Value>, usize) {
    let mut unknowns = 0;
    let mut next = || {
        unknowns += 1;
        Value::Unknown(unknowns - 1)
    };
    let infinity = if below == Below::Plane { 0 } else { across };
    let mut values = Vec::new();
    for j in 0..=2 * along {
        for i in 0..=2 * across {
            let at_infinity = j == 0 && i == infinity;
            let on_axis = j == 0 || j == 2 * along;
            let surface = match i {
                0 => Some(if below == Below::Plane { Value::Zero } else { Value::Moving(1) }),
                _ if i == 2 * across => Some(Value::Moving(0)),
                _ if at_infinity => Some(Value::Zero),
                _ => None,
            };
            values.push(if on_axis || surface.is_some() { Value::Zero } else { next() });
            values.push(surface.unwrap_or_else(&mut next));
        }
    }
    for j in 0..=along {
        for i in 0..=across {
            values.push(if j == 0 && 2 * i == infinity { Value::Zero } else { next() });
        }
    }
    (values, unknowns as usize)
}
