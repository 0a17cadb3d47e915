//! Metrics that are not diagonal, in problem files of the second version.
//!
//! After all that a file of the first version holds: u64 kind. For clumps (1): u64 k; u32 clump\[n\] (k: none); f64 arm\[n\]\[3\],
//! inverse mass\[k\], inverse inertia\[k\]\[3\]\[3\]. For a full matrix (2): the lower triangle of M⁻¹, row by row, f64\[3n (3n + 1)/2\].

use std::io::{Read, Write};
use std::sync::Arc;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::{
    ProblemFileError, SCALE_OR_ZERO, USABLE, are_usable, arrays, check, is_scale, is_usable, read_array, read_floats,
    read_ids, read_vectors, write_floats, write_vectors, wrong,
};
use crate::projection::{Metric, Mobility, NO_CLUMP, Response, Rigid};

const CLUMPS: u64 = 1;
const FULL: u64 = 2;
/// A full matrix of more bodies is not written: it takes 36 MB.
const MOST_BODIES: usize = 1_000;
/// How far entries across the diagonal may differ, relative to the largest: rounding, and far more.
const SYMMETRIC: f64 = 1e-9;

/// A full matrix as a mobility.
#[derive(Debug)]
struct FullMatrix {
    /// 3 times the number of bodies.
    size: usize,
    /// Row by row.
    entries: Vec<f64>,
}

impl FullMatrix {
    fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.size..(row + 1) * self.size]
    }
}

impl Mobility for FullMatrix {
    fn add_product(&self, impulses: &[DVec3], velocity: &mut [DVec3]) {
        let product = |row: usize| -> f64 {
            let blocks = self.row(row).chunks_exact(3).zip(impulses);
            blocks.map(|(block, impulse)| DVec3::from_slice(block).dot(*impulse)).sum()
        };
        velocity.par_iter_mut().enumerate().for_each(|(body, velocity)| {
            *velocity += DVec3::from_array(std::array::from_fn(|axis| product(3 * body + axis)));
        });
    }

    fn along(&self, i: usize, j: usize, direction: DVec3) -> f64 {
        let row = |axis: usize| DVec3::from_slice(&self.row(3 * i + axis)[3 * j..3 * j + 3]).dot(direction);
        DVec3::from_array(std::array::from_fn(row)).dot(direction)
    }
}

/// Refuses a metric that a file cannot hold.
pub(super) fn check_size(metric: &Metric) -> Result<(), ProblemFileError> {
    match metric {
        Metric::Operator { inverse_mass, .. } if inverse_mass.len() > MOST_BODIES => {
            Err(ProblemFileError::TooManyBodies { bodies: inverse_mass.len(), most: MOST_BODIES })
        }
        _ => Ok(()),
    }
}

/// What follows a problem of the first version; nothing where the metric is diagonal.
pub(super) fn write(out: &mut impl Write, metric: &Metric) -> Result<(), ProblemFileError> {
    match metric {
        Metric::Diagonal(_) => {}
        Metric::Rigid(rigid) => {
            let clumps = rigid.responses.len();
            out.write_all(&CLUMPS.to_le_bytes())?;
            out.write_all(&(clumps as u64).to_le_bytes())?;
            for owner in &rigid.owner {
                let clump = if *owner == NO_CLUMP { clumps as u32 } else { *owner };
                out.write_all(&clump.to_le_bytes())?;
            }
            write_vectors(out, rigid.arm.iter().copied())?;
            write_floats(out, rigid.responses.iter().map(|response| response.inverse_mass))?;
            write_floats(out, rigid.responses.iter().flat_map(|response| response.inverse_inertia.to_cols_array()))?;
        }
        Metric::Operator { mobility, inverse_mass } => {
            out.write_all(&FULL.to_le_bytes())?;
            let bodies = inverse_mass.len();
            let (mut impulses, mut velocity) = (vec![DVec3::ZERO; bodies], vec![DVec3::ZERO; bodies]);
            for (body, axis) in (0..bodies).flat_map(|body| (0..3).map(move |axis| (body, axis))) {
                velocity.fill(DVec3::ZERO);
                impulses[body][axis] = 1.0;
                mobility.add_product(&impulses, &mut velocity);
                impulses[body] = DVec3::ZERO;
                // A column of a symmetric matrix, which is a row: to the diagonal.
                write_floats(out, velocity.iter().flat_map(DVec3::to_array).take(3 * body + axis + 1))?;
            }
        }
    }
    Ok(())
}

/// Reads what follows a problem of the first version, with these inverse masses.
pub(super) fn read(from: &mut impl Read, inverse_mass: Vec<f64>) -> Result<Metric, ProblemFileError> {
    match u64::from_le_bytes(read_array(from)?) {
        CLUMPS => Ok(Metric::Rigid(read_rigid(from, inverse_mass)?)),
        FULL => {
            let matrix = read_full(from, inverse_mass.len())?;
            Ok(Metric::Operator { mobility: Arc::new(matrix), inverse_mass })
        }
        kind => Err(wrong("the kind of metric", kind, "it must be 1 (clumps) or 2 (a full matrix)")),
    }
}

fn read_rigid(from: &mut impl Read, inverse_mass: Vec<f64>) -> Result<Rigid, ProblemFileError> {
    let (bodies, clumps) = (inverse_mass.len(), u64::from_le_bytes(read_array(from)?));
    if clumps > bodies as u64 {
        return Err(wrong("the number of clumps", clumps, "there are not so many bodies"));
    }
    let clumps = clumps as usize;
    let owner = read_ids(from, bodies)?;
    check("the clump of body", owner.iter().copied(), |k| *k as usize <= clumps, "there are not so many clumps")?;
    let arm = read_vectors(from, bodies)?;
    check("the arm of body", arrays(&arm), are_usable, USABLE)?;
    let masses = read_floats(from, clumps)?;
    check("the inverse mass of clump", masses.iter().copied(), |m| *m == 0.0 || is_scale(*m), SCALE_OR_ZERO)?;
    let mut responses = Vec::with_capacity(clumps);
    for inverse_mass in masses {
        let columns = read_floats(from, 9)?;
        responses.push(Response { inverse_mass, inverse_inertia: DMat3::from_cols_slice(&columns) });
    }
    let right = "it must be symmetric, without negative directions, and at most 1e60";
    check("the inverse inertia of clump", responses.iter().map(|one| one.inverse_inertia), answers, right)?;
    let owner = owner.into_iter().map(|k| if k as usize == clumps { NO_CLUMP } else { k }).collect();
    Ok(Rigid { responses, owner, arm, inverse_mass })
}

/// Whether a matrix can be how something answers to impulses: symmetric, and no principal minor is negative but for rounding.
fn answers(matrix: &DMat3) -> bool {
    let entries = matrix.to_cols_array();
    let size = entries.iter().fold(0.0_f64, |size, entry| size.max(entry.abs()));
    let same = |a: usize, b: usize| (entries[a] - entries[b]).abs() <= SYMMETRIC * size;
    let minor = |a: usize, b: usize| {
        matrix.col(a)[a] * matrix.col(b)[b] - matrix.col(a)[b] * matrix.col(b)[a] >= -SYMMETRIC * size * size
    };
    entries.iter().all(|entry| is_usable(*entry))
        && [0, 4, 8].iter().all(|k| entries[*k] >= 0.0)
        && (same(1, 3) && same(2, 6) && same(5, 7))
        && (minor(0, 1) && minor(0, 2) && minor(1, 2))
        && (size == 0.0 || (*matrix * size.recip()).determinant() >= -SYMMETRIC)
}

fn read_full(from: &mut impl Read, bodies: usize) -> Result<FullMatrix, ProblemFileError> {
    if bodies > MOST_BODIES {
        return Err(ProblemFileError::TooManyBodies { bodies, most: MOST_BODIES });
    }
    let size = 3 * bodies;
    let triangle = read_floats(from, size * (size + 1) / 2)?;
    check("the entry of the matrix", triangle.iter().copied(), |entry| is_usable(*entry), USABLE)?;
    let at = |row: usize, column: usize| row.max(column) * (row.max(column) + 1) / 2 + row.min(column);
    if let Some(row) = (0..size).find(|row| triangle[at(*row, *row)] < 0.0) {
        return Err(wrong(format!("the diagonal entry {row}"), triangle[at(row, row)], "it must not be negative"));
    }
    let entries = (0..size * size).map(|entry| triangle[at(entry / size, entry % size)]).collect();
    Ok(FullMatrix { size, entries })
}
