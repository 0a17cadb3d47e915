//! The linear equations of a position: A x = l with A = K + K_B/ε, symmetric and indefinite.
//!
//! K, that of the fluid, and the pattern are those of the mesh: they are made, and the elimination is ordered, once. A
//! position adds K_B, that of the triangles of the particle, and is factorised as
//!
//! A − δ M = L D Lᵀ,  M the lumped masses of the pressures, each divided by the viscosity about it.
//!
//! With δ > 0 this matrix is quasi-definite: it has such factors in any order of elimination, without pivots, so that
//! the order may be that of least fill. Refinement, x += (A − δM)⁻¹(l − A x), gains the factor δ/β² a step, β² ≈ 0.1
//! the constant of Babuška and Brezzi, and leaves nothing of δ in x.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side, Spec};

use super::element::{Matrix, UNKNOWNS, VELOCITIES};
use super::mesh::{FIXED, Mesh};
use crate::StokesError;

/// δ: between rounding/δ, which the factors lose, and δ/β², which a step of refinement leaves.
const SHIFT: f64 = 1e-5;

/// Steps of refinement: after three, l·x is known to rounding over ε.
const REFINEMENTS: usize = 3;

/// The last step may change l·x by this share. Where the particle touches the plane, pressures that are all but
/// enclosed by it converge slowly, and hold up to a thousandth of a velocity that is all but zero.
const MOST_CHANGE: f64 = 0.01;

/// The matrix, and what all positions share of its factorisation.
#[derive(Debug)]
pub(super) struct System {
    pattern: SymbolicSparseColMat<usize>,
    order: SymbolicCholesky<usize>,
    fluid: Values,
    /// Those of the present position.
    values: Values,
    /// Values of the factors.
    factors: Vec<f64>,
}

/// Numbers of a matrix.
#[derive(Clone, Debug)]
struct Values {
    /// A, in the order of the pattern.
    matrix: Vec<f64>,
    /// M: zero for velocities.
    masses: Vec<f64>,
}

impl System {
    /// The fluid without a particle.
    pub fn new(mesh: &Mesh) -> Result<Self, StokesError> {
        let pattern = pattern(mesh.unknowns, mesh.triangles().map(|place| mesh.unknowns_of(place)));
        let (side, ordering) = (Side::Lower, SymmetricOrdering::Amd);
        let order = factorize_symbolic_cholesky(pattern.as_ref(), side, ordering, CholeskySymbolicParams::default())
            .map_err(|_| StokesError::Memory)?;
        let values = Values { matrix: vec![0.0; pattern.row_idx().len()], masses: vec![0.0; mesh.unknowns] };
        let factors = vec![0.0; order.len_val()];
        let mut system = Self { pattern, order, fluid: values.clone(), values, factors };
        for place in mesh.triangles() {
            let (numbers, triangle) = (mesh.unknowns_of(place), mesh.triangle(place));
            system.add(&numbers, &triangle.fluid());
            system.add_masses(&numbers, triangle.volume() / 3.0);
        }
        system.fluid = system.values.clone();
        Ok(system)
    }

    /// Forgets the particle.
    pub fn reset(&mut self) {
        self.values.clone_from(&self.fluid);
    }

    /// Adds the matrix of a triangle.
    pub fn add(&mut self, numbers: &[usize; UNKNOWNS], matrix: &Matrix) {
        let (starts, rows) = (self.pattern.col_ptr(), self.pattern.row_idx());
        for (b, &column) in numbers.iter().enumerate().filter(|(_, column)| **column != FIXED) {
            let (start, end) = (starts[column], starts[column + 1]);
            for (a, &row) in numbers.iter().enumerate().filter(|(_, row)| **row != FIXED) {
                if let Ok(place) = rows[start..end].binary_search(&row) {
                    self.values.matrix[start + place] += matrix[a][b];
                }
            }
        }
    }

    /// Adds a triangle's share to the masses of its pressures.
    pub fn add_masses(&mut self, numbers: &[usize; UNKNOWNS], share: f64) {
        numbers[VELOCITIES..].iter().for_each(|number| self.values.masses[*number] += share);
    }

    /// x of the present position.
    pub fn solve(&mut self, load: &[f64]) -> Result<Vec<f64>, StokesError> {
        let mut shifted = self.values.matrix.clone();
        for (column, mass) in self.values.masses.iter().enumerate().filter(|(_, mass)| **mass != 0.0) {
            let start = self.pattern.col_ptr()[column];
            let end = self.pattern.col_ptr()[column + 1];
            if let Ok(place) = self.pattern.row_idx()[start..end].binary_search(&column) {
                shifted[start + place] -= SHIFT * mass;
            }
        }
        let shifted = SparseColMatRef::new(self.pattern.as_ref(), &shifted);
        let need = self.order.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Spec::default());
        let need = need.or(self.order.solve_in_place_scratch::<f64>(1, Par::Seq));
        let mut memory = MemBuffer::try_new(need).map_err(|_| StokesError::Memory)?;
        let stack = MemStack::new(&mut memory);
        let (values, side, par, usual) = (&mut self.factors, Side::Lower, Par::Seq, LdltRegularization::default());
        let factors = self
            .order
            .factorize_numeric_ldlt(values, shifted, side, usual, par, stack, Spec::default())
            .map_err(|_| StokesError::Singular)?;
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.values.matrix);
        refine(matrix, factors, load, stack)
    }
}

/// x by back substitution and refinement.
fn refine(
    matrix: SparseColMatRef<'_, usize, f64>,
    factors: LdltRef<'_, usize, f64>,
    load: &[f64],
    stack: &mut MemStack,
) -> Result<Vec<f64>, StokesError> {
    let dot = |x: &[f64]| load.iter().zip(x).map(|(l, x)| l * x).sum::<f64>();
    let mut solution = vec![0.0; load.len()];
    let mut change = 0.0;
    for _ in 0..=REFINEMENTS {
        let mut correction = residual(matrix, &solution, load);
        let column = MatMut::from_column_major_slice_mut(&mut correction, load.len(), 1);
        factors.solve_in_place_with_conj(Conj::No, column, Par::Seq, stack);
        solution.iter_mut().zip(&correction).for_each(|(x, d)| *x += d);
        change = dot(&correction).abs();
    }
    // Said so that NaN is an error.
    if change <= MOST_CHANGE * dot(&solution).abs() { Ok(solution) } else { Err(StokesError::Singular) }
}

/// l − A x.
fn residual(matrix: SparseColMatRef<'_, usize, f64>, x: &[f64], load: &[f64]) -> Vec<f64> {
    let mut left = load.to_vec();
    for (column, value) in x.iter().enumerate() {
        for (row, entry) in matrix.row_idx_of_col(column).zip(matrix.val_of_col(column)) {
            left[row] -= entry * value;
        }
    }
    left
}

/// Pairs of unknowns that share a triangle.
fn pattern(unknowns: usize, triangles: impl Iterator<Item = [usize; UNKNOWNS]>) -> SymbolicSparseColMat<usize> {
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); unknowns];
    for numbers in triangles {
        for column in numbers.iter().filter(|column| **column != FIXED) {
            columns[*column].extend(numbers.iter().filter(|row| **row != FIXED));
        }
    }
    let mut starts = vec![0];
    let mut rows = Vec::new();
    for column in &mut columns {
        column.sort_unstable();
        column.dedup();
        rows.append(column);
        starts.push(rows.len());
    }
    SymbolicSparseColMat::new_checked(unknowns, unknowns, starts, None, rows)
}
