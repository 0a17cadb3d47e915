//! The part of a Cholesky factorisation that is dense: of a symmetric matrix F the first p columns become those of L, and the
//! rest the Schur complement,
//!
//! ```text
//! F = ⎡F₁₁ F₂₁ᵀ⎤ = ⎡L₁₁ 0⎤ ⎡L₁₁ᵀ L₂₁ᵀ⎤,   S = F₂₂ − L₂₁ L₂₁ᵀ.
//!     ⎣F₂₁ F₂₂ ⎦   ⎣L₂₁ 1⎦ ⎣0      S ⎦
//! ```
//!
//! Columns are taken a panel at a time, and what a panel takes off the columns behind it, where all the work is, tile by
//! tile, whose entries stay in registers. Where the processor has 256-bit lanes and fused multiplication they are used; the same
//! operations in the same order give the same bits without.

/// Rows and columns of a tile.
const TALL: usize = 8;
const WIDE: usize = 4;
/// Columns of a panel: with its rows of a tile it stays in the nearest cache.
const PANEL: usize = 48;

/// A square matrix of which the lower triangle is meant, column by column. Its columns have room for whole tiles.
#[derive(Default)]
pub(super) struct Front {
    entries: Vec<f64>,
    size: usize,
    /// Distance of two columns.
    stride: usize,
}

impl Front {
    /// All zero.
    pub(super) fn clear(&mut self, size: usize) {
        self.size = size;
        self.stride = size.next_multiple_of(TALL);
        self.entries.clear();
        self.entries.resize(self.stride * self.stride, 0.0);
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The entries of a column from its diagonal on.
    pub(super) fn column(&self, j: usize) -> &[f64] {
        &self.entries[j * self.stride + j..j * self.stride + self.size]
    }

    /// Adds to an entry of the lower triangle.
    pub(super) fn add(&mut self, (row, column): (usize, usize), value: f64) {
        debug_assert!(row >= column && row < self.size);
        self.entries[column * self.stride + row] += value;
    }

    /// The first `pivots` columns become those of L, the rest S; whether all pivots were positive.
    pub(super) fn eliminate(&mut self, pivots: usize) -> bool {
        let mut first = 0;
        while first < pivots {
            let end = pivots.min(first + PANEL);
            if !self.factorise_panel(first, end) {
                return false;
            }
            self.take_off(first, end);
            first = end;
        }
        true
    }

    /// Columns of L from columns that those before have been taken off.
    fn factorise_panel(&mut self, first: usize, end: usize) -> bool {
        let (stride, size) = (self.stride, self.size);
        for j in first..end {
            let (before, rest) = self.entries.split_at_mut(j * stride);
            let column = &mut rest[j..size];
            for k in first..j {
                let earlier = &before[k * stride + j..k * stride + size];
                let factor = earlier[0];
                column.iter_mut().zip(earlier).for_each(|(x, l)| *x = (-factor).mul_add(*l, *x));
            }
            let pivot = column[0];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            let root = pivot.sqrt();
            column[0] = root;
            let inverse = root.recip();
            column[1..].iter_mut().for_each(|x| *x *= inverse);
        }
        true
    }

    /// Takes what the panel adds, L Lᵀ of its columns, off the columns behind it.
    fn take_off(&mut self, first: usize, end: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            #[allow(unsafe_code, reason = "the processor has what the function needs: it was asked")]
            // SAFETY: the features were asked for; the function has no other condition.
            return unsafe { self.take_off_in_lanes(first, end) };
        }
        self.take_off_tiles(first, end);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn take_off_in_lanes(&mut self, first: usize, end: usize) {
        self.take_off_tiles(first, end);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it must be compiled with the lanes of its caller")]
    fn take_off_tiles(&mut self, first: usize, end: usize) {
        let stride = self.stride;
        let (panel, behind) = self.entries.split_at_mut(end * stride);
        let panel = &panel[first * stride..];
        for (step, columns) in behind.chunks_mut(WIDE * stride).enumerate() {
            let j = end + WIDE * step;
            if j >= self.size {
                break;
            }
            // Columns beyond the last have no entries to change; those of the last tile are there all the same.
            let wide = columns.len() / stride;
            for i in (j / TALL * TALL..self.size).step_by(TALL) {
                let mut sums = [[0.0; TALL]; WIDE];
                for column in panel.chunks_exact(stride) {
                    let down: &[f64; TALL] = column[i..].first_chunk().unwrap_or(&[0.0; TALL]);
                    for (across, sum) in sums.iter_mut().enumerate() {
                        let factor = column[(j + across).min(stride - 1)];
                        for (sum, l) in sum.iter_mut().zip(down) {
                            *sum = l.mul_add(factor, *sum);
                        }
                    }
                }
                for (across, sum) in sums.iter().enumerate().take(wide) {
                    let entries = &mut columns[across * stride + i..across * stride + i + TALL];
                    entries.iter_mut().zip(sum).for_each(|(entry, sum)| *entry -= sum);
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// B Bᵀ + 1 of a random matrix.
    fn matrix(size: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Pcg64::seed_from_u64(seed);
        let b: Vec<Vec<f64>> = (0..size).map(|_| (0..size).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
        let dot = |i: usize, j: usize| b[i].iter().zip(&b[j]).map(|(x, y)| x * y).sum::<f64>();
        (0..size).map(|i| (0..size).map(|j| dot(i, j) + f64::from(u8::from(i == j))).collect()).collect()
    }

    fn front(matrix: &[Vec<f64>]) -> Front {
        let mut front = Front::default();
        front.clear(matrix.len());
        for (i, row) in matrix.iter().enumerate() {
            row[..=i].iter().enumerate().for_each(|(j, value)| front.add((i, j), *value));
        }
        front
    }

    #[test]
    fn the_factors_and_what_is_left_give_the_matrix_back() {
        for (size, pivots) in [(1, 1), (3, 2), (8, 8), (9, 3), (17, 16), (50, 49), (61, 20), (130, 100), (131, 131)] {
            let matrix = matrix(size, size as u64);
            let mut front = front(&matrix);
            assert!(front.eliminate(pivots));
            let entry = |i: usize, j: usize| front.column(j)[i - j];
            for (i, row) in matrix.iter().enumerate() {
                for (j, expected) in row[..=i].iter().enumerate() {
                    let product: f64 = (0..pivots.min(j + 1)).map(|k| entry(i, k) * entry(j, k)).sum();
                    let whole = product + if j >= pivots { entry(i, j) } else { 0.0 };
                    assert!((whole - expected).abs() < 1e-11, "{size} {pivots}: {i} {j} {whole} {expected}");
                }
            }
        }
    }

    #[test]
    fn lanes_give_the_same_bits() {
        let matrix = matrix(120, 7);
        let (mut one, mut other) = (front(&matrix), front(&matrix));
        assert!(one.factorise_panel(0, 40) && other.factorise_panel(0, 40));
        one.take_off(0, 40);
        other.take_off_tiles(0, 40);
        assert_eq!(one.entries, other.entries);
    }

    #[test]
    fn what_is_not_positive_definite_is_told() {
        let mut matrix = matrix(20, 3);
        matrix[11][11] = -1.0;
        assert!(!front(&matrix).eliminate(20));
        assert!(front(&matrix).eliminate(11));
    }
}
