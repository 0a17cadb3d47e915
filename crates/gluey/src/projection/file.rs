//! Projection problems in files, so that anyone can race a solver on them (layout in `docs/projection-format.md`).
//!
//! Little-endian: magic `QPBENCH1`; u64 dimension, n, m; f64 h, length; f64 inverse mass\[n\], a-priori velocity\[n\]\[3\],
//! position\[n\]\[3\], radius\[n\]; u32 i\[m\], j\[m\] (j = n is a wall); f64 normal\[m\]\[3\], gap\[m\], lower\[m\], warm\[m\].
//! Where M⁻¹ is not diagonal the magic is `QPBENCH2`, and the [metric] follows.

mod metric;

use std::fmt::Debug;
use std::io::{self, Read, Write};

use glam::DVec3;
use thiserror::Error;

use super::{AdmissibleSet, Metric, Problem, Row, WALL};
use crate::morton;

const MAGIC: &[u8; 8] = b"QPBENCH1";
/// Of problems whose metric is not diagonal.
const MAGIC_WITH_METRIC: &[u8; 8] = b"QPBENCH2";
/// Counts above this are taken for a damaged header.
const MOST: u64 = 1 << 32;
/// No number may be larger, and no time step, length scale and inverse mass but 0 smaller than its inverse: b = D/h + G V is
/// then below 1e121 and ΛᵀAΛ ~ b²/A below 1e302 for each row, so that no product of a solver overflows, nor does 1/A.
const GREATEST: f64 = 1e60;
/// How far the square of a normal's length may be from 1: rounding, and far more.
const UNIT: f64 = 1e-12;

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
    #[error("this is no projection problem: it must start with QPBENCH1 or QPBENCH2")]
    Magic,
    /// The metric has no place in a file.
    #[error(
        "every impulse moves every body, as with `drag.rotne-prager`, and the matrix of {bodies} bodies is too large for a \
         problem file, which holds those of up to {most}"
    )]
    TooManyBodies {
        /// Bodies of the problem.
        bodies: usize,
        /// The most that there may be.
        most: usize,
    },
    /// There is more in the file than the problem.
    #[error("the file goes on after the problem that its header announces: {bodies} bodies and {rows} rows")]
    TooLong {
        /// Bodies.
        bodies: usize,
        /// Rows.
        rows: usize,
    },
    /// A number in it cannot be right.
    #[error("{what} is {found}; {right}")]
    Value {
        /// Which number, and of which body or row, counted from 0.
        what: String,
        /// What the file says.
        found: String,
        /// What would be right.
        right: &'static str,
    },
}

impl ProblemFile {
    /// Refuses a problem that a file cannot hold.
    pub fn check(&self) -> Result<(), ProblemFileError> {
        Self::check_metric(&self.problem.prediction.metric)
    }

    /// Refuses a metric that a file cannot hold.
    pub fn check_metric(metric: &Metric) -> Result<(), ProblemFileError> {
        metric::check_size(metric)
    }

    /// Writes the problem.
    pub fn write(&self, mut out: impl Write) -> Result<(), ProblemFileError> {
        self.check()?;
        let (problem, rows) = (&self.problem, &self.problem.rows);
        let bodies = problem.bodies();
        let magic = if problem.prediction.metric.is_diagonal() { MAGIC } else { MAGIC_WITH_METRIC };
        out.write_all(magic)?;
        for count in [self.dimension, bodies, rows.len()] {
            out.write_all(&(count as u64).to_le_bytes())?;
        }
        write_floats(&mut out, [problem.dt, problem.length])?;
        write_floats(&mut out, problem.prediction.metric.inverse_mass().iter().copied())?;
        write_vectors(&mut out, problem.prediction.velocity.iter().copied())?;
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
        write_floats(&mut out, rows.iter().map(|row| row.set.least()))?;
        write_floats(&mut out, self.warm.iter().copied())?;
        metric::write(&mut out, &problem.prediction.metric)?;
        Ok(out.flush()?)
    }

    /// Reads a problem and checks that every number in it can be right.
    pub fn read(mut from: impl Read) -> Result<Self, ProblemFileError> {
        let mut magic = [0; 8];
        from.read_exact(&mut magic)?;
        if ![MAGIC, MAGIC_WITH_METRIC].contains(&&magic) {
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
            if !is_scale(value) {
                return Err(wrong(what, value, "it must be positive, from 1e-60 to 1e60"));
            }
        }
        // Each list is as long as the file has it: a header that promises more is found out before it fills the memory.
        let inverse_mass = read_floats(&mut from, n)?;
        check("the inverse mass of body", inverse_mass.iter().copied(), |m| *m == 0.0 || is_scale(*m), SCALE_OR_ZERO)?;
        problem.prediction.velocity = read_vectors(&mut from, n)?;
        check("the a-priori velocity of body", arrays(&problem.prediction.velocity), are_usable, USABLE)?;
        let position = read_vectors(&mut from, n)?;
        check("the position of body", arrays(&position), are_usable, USABLE)?;
        problem.order = morton::order(&position);
        let radius = read_floats(&mut from, n)?;
        check(
            "the radius of body",
            radius.iter().copied(),
            |r| is_usable(*r) && *r >= 0.0,
            "it must be from 0 to 1e60",
        )?;
        let i = read_ids(&mut from, m)?;
        check("the first body of row", i.iter().copied(), |i| (*i as usize) < n, "there are not so many bodies")?;
        let j = read_ids(&mut from, m)?;
        check("the second body of row", j.iter().copied(), |j| *j as usize <= n, "there are not so many bodies")?;
        if let Some(c) = (0..m).find(|c| i[*c] == j[*c]) {
            return Err(wrong(format!("the second body of row {c}"), j[c], "it must not be the first"));
        }
        let normal = read_vectors(&mut from, m)?;
        let is_unit = |e: &[f64; 3]| (DVec3::from_array(*e).length_squared() - 1.0).abs() <= UNIT;
        check("the normal of row", arrays(&normal), is_unit, "it must have length 1")?;
        let gap = read_floats(&mut from, m)?;
        check("the gap of row", gap.iter().copied(), |gap| is_usable(*gap), USABLE)?;
        let lower = read_floats(&mut from, m)?;
        check(
            "the lower bound of row",
            lower.iter().copied(),
            |lower| *lower <= 0.0,
            "it must be at most 0, -inf for an equality",
        )?;
        let warm = read_floats(&mut from, m)?;
        check("the first guess of row", warm.iter().copied(), |warm| is_usable(*warm), USABLE)?;
        let metric =
            if &magic == MAGIC { Metric::Diagonal(inverse_mass) } else { metric::read(&mut from, inverse_mass)? };
        problem.prediction.metric = metric;
        if from.read(&mut [0])? > 0 {
            return Err(ProblemFileError::TooLong { bodies: n, rows: m });
        }
        let row = |c: usize| {
            let j = if j[c] as usize == n { WALL } else { j[c] };
            Row { i: i[c], j, normal: normal[c], gap: gap[c], set: AdmissibleSet::at_least(lower[c]) }
        };
        problem.rows = (0..m).map(row).collect();
        Ok(Self { dimension: dimension as usize, problem, warm, position, radius })
    }
}

const USABLE: &str = "it must be finite, at most 1e60";
const SCALE_OR_ZERO: &str = "it must be 0 for a body that cannot move, or from 1e-60 to 1e60";

fn is_usable(value: f64) -> bool {
    value.abs() <= GREATEST
}

fn arrays(vectors: &[DVec3]) -> impl Iterator<Item = [f64; 3]> {
    vectors.iter().map(DVec3::to_array)
}

fn are_usable(vector: &[f64; 3]) -> bool {
    vector.iter().all(|component| is_usable(*component))
}

fn is_scale(value: f64) -> bool {
    is_usable(value) && value >= GREATEST.recip()
}

/// Passes when all entries are fine; else names the first that is not.
fn check<T: Debug>(
    what: &str,
    list: impl IntoIterator<Item = T>,
    fine: impl Fn(&T) -> bool,
    right: &'static str,
) -> Result<(), ProblemFileError> {
    match list.into_iter().enumerate().find(|(_, entry)| !fine(entry)) {
        Some((index, entry)) => Err(wrong(format!("{what} {index}"), entry, right)),
        None => Ok(()),
    }
}

fn wrong(what: impl Into<String>, found: impl Debug, right: &'static str) -> ProblemFileError {
    ProblemFileError::Value { what: what.into(), found: format!("{found:?}"), right }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::DMat3;

    use super::*;
    use crate::projection::{Mobility, NO_CLUMP, Prediction, Response, Rigid};

    /// Two balls, one on a wall and the other on it, and one that cannot move.
    fn file() -> ProblemFile {
        let row = |i, j, normal, gap| Row { i, j, normal, gap, set: AdmissibleSet::PUSH };
        let problem = Problem {
            dt: 0.1,
            length: 1.0,
            prediction: Prediction {
                velocity: vec![-DVec3::Z, -3.0 * DVec3::Z, DVec3::ZERO],
                metric: Metric::Diagonal(vec![1.0, 0.5, 0.0]),
            },
            rows: vec![row(0, WALL, -DVec3::Z, 0.01), row(0, 1, DVec3::Z, 0.02), row(1, 2, DVec3::Z, 0.03)],
            order: vec![0, 1, 2],
        };
        let position = vec![DVec3::Z, 3.0 * DVec3::Z, 5.0 * DVec3::Z];
        ProblemFile { dimension: 3, problem, warm: vec![0.0; 3], position, radius: vec![1.0; 3] }
    }

    fn bytes(file: &ProblemFile) -> Vec<u8> {
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap();
        bytes
    }

    /// What is said of a file after a change to it.
    fn says(change: impl Fn(&mut ProblemFile)) -> String {
        let mut changed = file();
        change(&mut changed);
        ProblemFile::read(bytes(&changed).as_slice()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(ProblemFile::read(bytes(&file()).as_slice()).unwrap(), file());
    }

    /// The same bodies, the first two held together, the second of them with a spin about two axes.
    fn with_clump() -> ProblemFile {
        let mut file = file();
        let response = Response { inverse_mass: 0.4, inverse_inertia: DMat3::from_diagonal(DVec3::new(0.0, 2.0, 3.0)) };
        file.problem.prediction.metric = Metric::Rigid(Rigid {
            responses: vec![response],
            owner: vec![0, 0, NO_CLUMP],
            arm: vec![DVec3::X, -DVec3::X, DVec3::ZERO],
            inverse_mass: vec![1.0, 0.5, 0.0],
        });
        file
    }

    #[test]
    fn problems_of_clumps_are_read_as_they_were_and_damage_is_told() {
        let whole = bytes(&with_clump());
        assert_eq!(&whole[..8], b"QPBENCH2");
        assert_eq!(ProblemFile::read(whole.as_slice()).unwrap(), with_clump());
        for short in 0..whole.len() {
            assert!(ProblemFile::read(&whole[..short]).is_err());
        }
        let says = |change: &dyn Fn(&mut Rigid)| {
            let mut changed = with_clump();
            let Metric::Rigid(rigid) = &mut changed.problem.prediction.metric else { unreachable!() };
            change(rigid);
            ProblemFile::read(bytes(&changed).as_slice()).unwrap_err().to_string()
        };
        assert!(says(&|rigid| rigid.owner[1] = 2).starts_with("the clump of body 1 is 2"));
        assert!(says(&|rigid| rigid.arm[0].y = f64::NAN).starts_with("the arm of body 0 is"));
        assert!(says(&|rigid| rigid.responses[0].inverse_mass = -1.0).starts_with("the inverse mass of clump 0 is"));
        for bad in [f64::NAN, -1e-3, 1e61] {
            let told = says(&|rigid| rigid.responses[0].inverse_inertia.y_axis.y = bad);
            assert!(told.starts_with("the inverse inertia of clump 0 is"), "{told}");
        }
        let told = says(&|rigid| rigid.responses[0].inverse_inertia.y_axis.z = 1.0);
        assert!(told.contains("symmetric"), "{told}");
    }

    /// Every impulse moves every body a little.
    #[derive(Debug)]
    struct Together;

    impl Mobility for Together {
        fn add_product(&self, impulses: &[DVec3], velocity: &mut [DVec3]) {
            let all: DVec3 = impulses.iter().sum();
            velocity.iter_mut().zip(impulses).for_each(|(v, impulse)| *v += *impulse + 0.25 * all);
        }

        fn along(&self, i: usize, j: usize, _: DVec3) -> f64 {
            if i == j { 1.25 } else { 0.25 }
        }
    }

    #[test]
    fn a_metric_of_products_is_written_as_its_matrix() {
        let mut given = file();
        let inverse_mass = vec![1.25; 3];
        given.problem.prediction.metric = Metric::Operator { mobility: Arc::new(Together), inverse_mass };
        let read = ProblemFile::read(bytes(&given).as_slice()).unwrap();
        let impulses = [DVec3::new(1.0, 2.0, 3.0), DVec3::new(-4.0, 0.5, 0.0), DVec3::Y];
        let product = |file: &ProblemFile| {
            let mut velocity = vec![DVec3::ONE; 3];
            file.problem.prediction.metric.add_product(&impulses, &mut velocity);
            velocity
        };
        assert_eq!(product(&read), product(&given));
        for row in &given.problem.rows {
            assert!((read.problem.diagonal(row) - given.problem.diagonal(row)).abs() < 1e-14);
        }
        let many = 1_001;
        let metric = Metric::Operator { mobility: Arc::new(Together), inverse_mass: vec![1.0; many] };
        let prediction = Prediction { velocity: vec![DVec3::ZERO; many], metric };
        let problem = Problem { prediction, ..Problem::default() };
        let told = ProblemFile { problem, ..given }.write(Vec::new()).unwrap_err().to_string();
        assert!(told.contains("1001 bodies is too large") && told.contains("up to 1000"), "{told}");
    }

    #[test]
    fn a_number_that_cannot_be_right_is_refused_by_its_place() {
        let told = says(|f| f.problem.prediction.metric.diagonal()[1] = 5e-312);
        assert_eq!(
            told,
            "the inverse mass of body 1 is 5e-312; it must be 0 for a body that cannot move, or from 1e-60 to 1e60"
        );
        let told = says(|f| f.position[2].y = f64::NAN);
        assert_eq!(told, "the position of body 2 is [0.0, NaN, 5.0]; it must be finite, at most 1e60");
        for bad in [f64::NAN, f64::INFINITY, 1e61, 1e-61, -1.0] {
            assert!(
                says(|f| f.problem.prediction.metric.diagonal()[2] = bad).starts_with("the inverse mass of body 2 is")
            );
            assert!(says(|f| f.problem.dt = bad).starts_with("the time step is"));
            assert!(says(|f| f.problem.length = bad).starts_with("the length scale is"));
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e61] {
            assert!(
                says(|f| f.problem.prediction.velocity[0].z = bad).starts_with("the a-priori velocity of body 0 is")
            );
            assert!(says(|f| f.problem.rows[1].gap = bad).starts_with("the gap of row 1 is"));
            assert!(says(|f| f.warm[2] = bad).starts_with("the first guess of row 2 is"));
            assert!(says(|f| f.radius[1] = bad).starts_with("the radius of body 1 is"));
        }
        for bad in [f64::NAN, 1e-300, f64::INFINITY] {
            assert!(
                says(|f| f.problem.rows[2].set = AdmissibleSet::at_least(bad))
                    .starts_with("the lower bound of row 2 is")
            );
        }
        assert!(says(|f| f.problem.rows[0].normal.x = 1e-5).starts_with("the normal of row 0 is"));
        assert!(says(|f| f.problem.rows[0].i = 3).starts_with("the first body of row 0 is 3"));
        assert!(says(|f| f.problem.rows[1].j = 4).starts_with("the second body of row 1 is 4"));
        assert!(says(|f| f.problem.rows[1].j = 0).starts_with("the second body of row 1 is 0"));
    }

    #[test]
    fn a_file_is_as_long_as_its_header_says() {
        let whole = bytes(&file());
        for short in 0..whole.len() {
            assert!(ProblemFile::read(&whole[..short]).is_err());
        }
        let mut long = whole.clone();
        long.push(0);
        let told = ProblemFile::read(long.as_slice()).unwrap_err().to_string();
        assert_eq!(told, "the file goes on after the problem that its header announces: 3 bodies and 3 rows");
        // Four thousand million bodies in 300 bytes.
        let mut boast = whole;
        boast[16..24].copy_from_slice(&u64::from(u32::MAX).to_le_bytes());
        assert!(matches!(
            ProblemFile::read(boast.as_slice()),
            Err(ProblemFileError::Io(_) | ProblemFileError::Value { .. })
        ));
    }
}
