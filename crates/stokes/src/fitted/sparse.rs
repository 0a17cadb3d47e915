//! Sparse LU of matrices of one pattern: the order of elimination is found once.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par};

/// Where entries are, column by column, and how to eliminate them.
#[derive(Debug)]
pub(super) struct Pattern {
    entries: SymbolicSparseColMat<u32>,
    symbolic: SymbolicLu<u32>,
}

impl Pattern {
    /// Of a square matrix of `size` rows with the entries (column, row), sorted and each once.
    pub fn new(size: usize, pairs: &[[u32; 2]]) -> Result<Self, String> {
        let mut starts = vec![0; size + 1];
        for [column, _] in pairs {
            starts[*column as usize + 1] += 1;
        }
        for column in 0..size {
            starts[column + 1] += starts[column];
        }
        let rows = pairs.iter().map(|pair| pair[1]).collect();
        let entries = SymbolicSparseColMat::new_checked(size, size, starts, None, rows);
        let symbolic = factorize_symbolic_lu(entries.as_ref(), faer::sparse::linalg::lu::LuSymbolicParams::default())
            .map_err(|error| error.to_string())?;
        Ok(Self { entries, symbolic })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.row_idx().len()
    }

    /// Multiplies rows and columns by `scales`.
    pub fn scale(&self, values: &mut [f64], scales: &[f64]) {
        for column in 0..scales.len() {
            for place in self.entries.as_ref().col_range(column) {
                values[place] *= scales[column] * scales[self.entries.row_idx()[place] as usize];
            }
        }
    }

    /// The factors of the matrix with `values` in the order of the pairs.
    pub fn factorise(&self, values: &[f64]) -> Result<Factors<'_>, String> {
        let matrix = SparseColMatRef::new(self.entries.as_ref(), values);
        let mut numeric = NumericLu::new();
        let need = self.symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, faer::Spec::default());
        let mut memory = MemBuffer::try_new(need).map_err(|_| "out of memory".to_string())?;
        self.symbolic
            .factorize_numeric_lu(&mut numeric, matrix, Par::Seq, MemStack::new(&mut memory), faer::Spec::default())
            .map_err(|error| error.to_string())?;
        Ok(Factors { symbolic: &self.symbolic, numeric })
    }
}

/// L and U.
pub(super) struct Factors<'a> {
    symbolic: &'a SymbolicLu<u32>,
    numeric: NumericLu<u32, f64>,
}

impl Factors<'_> {
    /// Replaces `right` by the solution.
    pub fn solve(&self, right: &mut [f64]) -> Result<(), String> {
        let need = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let mut memory = MemBuffer::try_new(need).map_err(|_| "out of memory".to_string())?;
        let rows = right.len();
        let right = MatMut::from_column_major_slice_mut(right, rows, 1);
        LuRef::new_unchecked(self.symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            right,
            Par::Seq,
            MemStack::new(&mut memory),
        );
        Ok(())
    }
}
