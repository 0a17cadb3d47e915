//! Mobilities as matrices.

use glam::DVec3;
use gluey::projection::Mobility;

/// M of a few spheres as a matrix, row by row, from products with unit forces.
pub fn matrix(mobility: &dyn Mobility, bodies: usize) -> Vec<Vec<f64>> {
    let column = |c: usize| {
        let (mut forces, mut velocity) = (vec![DVec3::ZERO; bodies], vec![DVec3::ZERO; bodies]);
        forces[c / 3][c % 3] = 1.0;
        mobility.add_product(&forces, &mut velocity);
        velocity.into_iter().flat_map(|v| v.to_array()).collect::<Vec<f64>>()
    };
    (0..3 * bodies).map(column).collect()
}

/// L with L Lᵀ the matrix, if it is positive definite.
pub fn cholesky(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let mut lower = vec![vec![0.0; matrix.len()]; matrix.len()];
    for i in 0..matrix.len() {
        for j in 0..=i {
            let rest = matrix[i][j] - (0..j).map(|k| lower[i][k] * lower[j][k]).sum::<f64>();
            if i == j && rest <= 0.0 {
                return None;
            }
            lower[i][j] = if i == j { rest.sqrt() } else { rest / lower[j][j] };
        }
    }
    Some(lower)
}

/// (L Lᵀ)⁻¹.
pub fn inverse(lower: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = lower.len();
    let column = |c: usize| {
        let mut x = vec![0.0; n];
        for i in 0..n {
            let rest = f64::from(u8::from(i == c)) - (0..i).map(|k| lower[i][k] * x[k]).sum::<f64>();
            x[i] = rest / lower[i][i];
        }
        for i in (0..n).rev() {
            x[i] = (x[i] - (i + 1..n).map(|k| lower[k][i] * x[k]).sum::<f64>()) / lower[i][i];
        }
        x
    };
    (0..n).map(column).collect()
}

/// Any symmetric, positive definite metric will do, not just that of spheres: a matrix, by rows.
#[derive(Debug)]
pub struct Dense(pub Vec<Vec<f64>>);

impl Mobility for Dense {
    fn add_product(&self, impulses: &[DVec3], velocity: &mut [DVec3]) {
        let flat: Vec<f64> = impulses.iter().flat_map(DVec3::to_array).collect();
        for (c, row) in self.0.iter().enumerate() {
            velocity[c / 3][c % 3] += row.iter().zip(&flat).map(|(m, p)| m * p).sum::<f64>();
        }
    }

    fn along(&self, i: usize, j: usize, e: DVec3) -> f64 {
        (0..9).map(|k| e[k / 3] * self.0[3 * i + k / 3][3 * j + k % 3] * e[k % 3]).sum()
    }
}
