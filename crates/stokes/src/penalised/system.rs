//! The linear equations of a position: (K + K_B/ε) x = l, symmetric and indefinite.
//!
//! K, that of the fluid, and the pattern are those of the mesh: they are made, and the elimination is ordered, once. A
//! position adds K_B, the sum over the points of the quadrature that lie in the particle, and is factorised.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par};

use super::element::{Matrix, UNKNOWNS};
use super::mesh::{FIXED, Mesh};
use crate::StokesError;

/// Steps of iterative refinement: the penalty costs the factorisation as many digits as 1/ε has.
const REFINEMENTS: usize = 2;

/// The matrix, and what all positions share of its factorisation.
#[derive(Debug)]
pub(super) struct System {
    pattern: SymbolicSparseColMat<usize>,
    /// Values of the fluid alone.
    fluid: Vec<f64>,
    /// Values of the present position.
    values: Vec<f64>,
    order: SymbolicLu<usize>,
    factors: NumericLu<usize, f64>,
}

impl System {
    /// The fluid without a particle.
    pub fn new(mesh: &Mesh) -> Result<Self, StokesError> {
        let pattern = pattern(mesh.unknowns, mesh.triangles().map(|place| mesh.unknowns_of(place)));
        let order = factorize_symbolic_lu(pattern.as_ref(), Default::default()).map_err(|_| StokesError::Memory)?;
        let values = vec![0.0; pattern.row_idx().len()];
        let mut system = Self { pattern, fluid: Vec::new(), values, order, factors: NumericLu::new() };
        for place in mesh.triangles() {
            system.add(&mesh.unknowns_of(place), &mesh.triangle(place).fluid());
        }
        system.fluid = system.values.clone();
        Ok(system)
    }

    /// Forgets the particle.
    pub fn reset(&mut self) {
        self.values.copy_from_slice(&self.fluid);
    }

    /// Adds the matrix of a triangle.
    pub fn add(&mut self, unknowns: &[usize; UNKNOWNS], matrix: &Matrix) {
        let (starts, rows) = (self.pattern.col_ptr(), self.pattern.row_idx());
        for (b, &column) in unknowns.iter().enumerate().filter(|(_, column)| **column != FIXED) {
            let (start, end) = (starts[column], starts[column + 1]);
            for (a, &row) in unknowns.iter().enumerate().filter(|(_, row)| **row != FIXED) {
                if let Ok(place) = rows[start..end].binary_search(&row) {
                    self.values[start + place] += matrix[a][b];
                }
            }
        }
    }

    /// x of the present position.
    pub fn solve(&mut self, load: &[f64]) -> Result<Vec<f64>, StokesError> {
        let par = Par::Seq;
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.values);
        let need = self.order.factorize_numeric_lu_scratch::<f64>(par, Default::default());
        let need = need.or(self.order.solve_in_place_scratch::<f64>(1, par));
        let mut memory = MemBuffer::try_new(need).map_err(|_| StokesError::Memory)?;
        let stack = MemStack::new(&mut memory);
        let factors = self
            .order
            .factorize_numeric_lu(&mut self.factors, matrix, par, stack, Default::default())
            .map_err(|_| StokesError::Singular)?;
        let mut solution = vec![0.0; load.len()];
        for _ in 0..=REFINEMENTS {
            let mut correction = residual(matrix, &solution, load);
            back_substitute(factors, &mut correction, stack);
            solution.iter_mut().zip(&correction).for_each(|(x, d)| *x += d);
        }
        if solution.iter().all(|x| x.is_finite()) { Ok(solution) } else { Err(StokesError::Singular) }
    }
}

fn back_substitute(factors: LuRef<'_, usize, f64>, x: &mut [f64], stack: &mut MemStack) {
    let rows = x.len();
    factors.solve_in_place_with_conj(Conj::No, MatMut::from_column_major_slice_mut(x, rows, 1), Par::Seq, stack);
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
fn pattern(unknowns: usize, cells: impl Iterator<Item = [usize; UNKNOWNS]>) -> SymbolicSparseColMat<usize> {
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); unknowns];
    for cell in cells {
        for column in cell.iter().filter(|column| **column != FIXED) {
            columns[*column].extend(cell.iter().filter(|row| **row != FIXED));
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
