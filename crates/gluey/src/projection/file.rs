//! Projection problems in files, so that anyone can race a solver on them (layout in `docs/projection-format.md`).
//!
//! Little-endian: magic `QPBENCH1`; u64 dimension, n, m; f64 h, length; f64 inverse mass\[n\], a-priori velocity\[n\]\[3\],
//! position\[n\]\[3\], radius\[n\]; u32 i\[m\], j\[m\] (j = n is a wall); f64 normal\[m\]\[3\], gap\[m\], lower\[m\], warm\[m\].

use std::fmt::Display;
use std::io::{self, Read, Write};

use glam::DVec3;
use thiserror::Error;

use super::{Problem, Row, WALL};
use crate::morton;

const MAGIC: &[u8; 8] = b"QPBENCH1";
/// Counts above this are taken for a damaged header rather than allocated for.
const MOST: u64 = 1 << 32;

/// A problem with what a picture or an ordering of it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemFile {
    /// 2 or 3.
    pub dimension: usize,
    /// The problem itself.
    pub problem: Problem,
    /// Impulses to start from, one per row (momentum).
    pub warm: Vec<f64>,
    /// Centres of the bodies (length).
    pub position: Vec<DVec3>,
    /// Radii of the bodies (length).
    pub radius: Vec<f64>,
}

/// Why a file is no problem file.
#[derive(Debug, Error)]
pub enum ProblemFileError {
    /// The file could not be read or written.
    #[error("the file ends too early or cannot be read or written")]
    Io(#[from] io::Error),
    /// It does not start with the magic word.
    #[error("this is no projection problem: it must start with QPBENCH1")]
    Magic,
    /// The problem has no place in a file.
    #[error(
        "the metric of this problem is not diagonal (every impulse moves every body, as with `drag.rotne-prager`), and \
         problem files hold one inverse mass a body"
    )]
    NotDiagonal,
    /// A number in it cannot be right.
    #[error("{what} is {found}; {right}")]
    Value {
        /// Which number.
        what: &'static str,
        /// What the file says.
        found: String,
        /// What would be right.
        right: &'static str,
    },
}

impl ProblemFile {
    /// Refuses a problem that a file cannot hold.
    pub fn check(&self) -> Result<(), ProblemFileError> {
        if self.problem.mobility.is_some() { Err(ProblemFileError::NotDiagonal) } else { Ok(()) }
    }

    /// Writes the problem.
    pub fn write(&self, mut out: impl Write) -> Result<(), ProblemFileError> {
        self.check()?;
        let (problem, rows) = (&self.problem, &self.problem.rows);
        let bodies = problem.apriori.len();
        out.write_all(MAGIC)?;
        for count in [self.dimension, bodies, rows.len()] {
            out.write_all(&(count as u64).to_le_bytes())?;
        }
        write_floats(&mut out, [problem.dt, problem.length])?;
        write_floats(&mut out, problem.inverse_mass.iter().copied())?;
        write_vectors(&mut out, problem.apriori.iter().copied())?;
        write_vectors(&mut out, self.position.iter().copied())?;
        write_floats(&mut out, self.radius.iter().copied())?;
        for row in rows {
            out.write_all(&row.i.to_le_bytes())?;
        }
        for row in rows {
            let j = if row.j == WALL { bodies as u32 } else { row.j };
            out.write_all(&j.to_le_bytes())?;
        }
        write_vectors(&mut out, rows.iter().map(|row| row.normal))?;
        write_floats(&mut out, rows.iter().map(|row| row.gap))?;
        write_floats(&mut out, rows.iter().map(|row| row.lower))?;
        write_floats(&mut out, self.warm.iter().copied())?;
        Ok(out.flush()?)
    }

    /// Reads a problem and checks that every number in it can be right.
    pub fn read(mut from: impl Read) -> Result<Self, ProblemFileError> {
        let mut magic = [0; 8];
        from.read_exact(&mut magic)?;
        if &magic != MAGIC {
            return Err(ProblemFileError::Magic);
        }
        let mut counts = [0_u64; 3];
        for count in &mut counts {
            *count = u64::from_le_bytes(read_array(&mut from)?);
        }
        let [dimension, n, m] = counts;
        if !(2..=3).contains(&dimension) {
            return Err(wrong("the dimension", dimension, "it must be 2 or 3"));
        }
        if n >= MOST || m >= MOST {
            return Err(wrong("the number of bodies or rows", n.max(m), "it must be below 2^32"));
        }
        let (n, m) = (n as usize, m as usize);
        let mut problem = Problem { dt: read_float(&mut from)?, length: read_float(&mut from)?, ..Problem::default() };
        for (what, value) in [("the time step", problem.dt), ("the length scale", problem.length)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(wrong(what, value, "it must be positive and finite"));
            }
        }
        problem.inverse_mass = read_floats(&mut from, n)?;
        if let Some(bad) = problem.inverse_mass.iter().find(|m| !(m.is_finite() && **m >= 0.0)) {
            return Err(wrong("an inverse mass", bad, "it must be finite and not negative"));
        }
        problem.apriori = read_vectors(&mut from, n)?;
        let position = read_vectors(&mut from, n)?;
        problem.order = morton::order(&position);
        let radius = read_floats(&mut from, n)?;
        let i = read_ids(&mut from, m)?;
        let j = read_ids(&mut from, m)?;
        let normal = read_vectors(&mut from, m)?;
        let gap = read_floats(&mut from, m)?;
        let lower = read_floats(&mut from, m)?;
        let warm = read_floats(&mut from, m)?;
        for c in 0..m {
            if i[c] as usize >= n || j[c] as usize > n || i[c] == j[c] {
                return Err(wrong("a pair of bodies", format!("({}, {})", i[c], j[c]), "both must exist and differ"));
            }
            if !(normal[c].is_normalized() && gap[c].is_finite() && warm[c].is_finite())
                || lower[c] > 0.0
                || lower[c].is_nan()
            {
                return Err(wrong(
                    "a row",
                    c,
                    "its normal must have length 1, its gap and start be finite and its bound at most 0",
                ));
            }
            let j = if j[c] as usize == n { WALL } else { j[c] };
            problem.rows.push(Row { i: i[c], j, normal: normal[c], gap: gap[c], lower: lower[c] });
        }
        if !problem.apriori.iter().all(|v| v.is_finite()) {
            return Err(wrong("an a-priori velocity", "not finite", "all must be finite"));
        }
        Ok(Self { dimension: dimension as usize, problem, warm, position, radius })
    }
}

fn wrong(what: &'static str, found: impl Display, right: &'static str) -> ProblemFileError {
    ProblemFileError::Value { what, found: found.to_string(), right }
}

fn write_floats(out: &mut impl Write, values: impl IntoIterator<Item = f64>) -> io::Result<()> {
    values.into_iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

fn write_vectors(out: &mut impl Write, values: impl IntoIterator<Item = DVec3>) -> io::Result<()> {
    write_floats(out, values.into_iter().flat_map(|v| v.to_array()))
}

fn read_array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_float(from: &mut impl Read) -> io::Result<f64> {
    Ok(f64::from_le_bytes(read_array(from)?))
}

fn read_floats(from: &mut impl Read, count: usize) -> io::Result<Vec<f64>> {
    (0..count).map(|_| read_float(from)).collect()
}

fn read_ids(from: &mut impl Read, count: usize) -> io::Result<Vec<u32>> {
    (0..count).map(|_| Ok(u32::from_le_bytes(read_array(from)?))).collect()
}

fn read_vectors(from: &mut impl Read, count: usize) -> io::Result<Vec<DVec3>> {
    (0..count).map(|_| Ok(DVec3::new(read_float(from)?, read_float(from)?, read_float(from)?))).collect()
}
