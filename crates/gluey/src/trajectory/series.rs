//! The series: one row of figures per interval, as CSV.
//!
//! Numbers have 17 significant digits, which a reader turns back into the same f64; an infinite gap reads `inf`.

use std::io::{self, Write};

use glam::DVec3;

use super::RunInfo;
use crate::geometry::Particles;
use crate::openings::Traffic;
use crate::simulation::{Load, StepReport};

/// What a row is made of.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// The number n of steps taken.
    pub step: u64,
    /// Time tⁿ (time).
    pub time: f64,
    /// The particles at tⁿ; momentum is theirs.
    pub particles: &'a Particles,
    /// Kinetic energy at tⁿ, that of the state (energy).
    pub kinetic_energy: f64,
    /// Potential energy at tⁿ (energy).
    pub potential_energy: f64,
    /// Figures of the step that led here. A report without loads, as before the first step, stands for loads of zero.
    pub report: &'a StepReport,
    /// What the measures of the run tell, a number for each of their columns.
    pub measures: &'a [f64],
}

const COLUMNS: [&str; 17] = [
    "step",
    "time",
    "kinetic_energy",
    "potential_energy",
    "momentum_x",
    "momentum_y",
    "momentum_z",
    "candidates",
    "contacts",
    "glued",
    "least_gap",
    "residual",
    "sweeps",
    "projections",
    "substeps",
    "unconverged",
    "slip",
];

/// What a run with openings adds: the particles that are there, and what has passed since the start.
const TRAFFIC: [&str; 6] = ["particles", "entered", "left", "waiting", "entered_mass", "left_mass"];

/// The names of the columns; each obstacle adds six, force and torque about its pivot. Those of measures come last.
pub(super) fn write_header(info: &RunInfo, out: &mut dyn Write) -> io::Result<()> {
    let traffic = if info.openings { &TRAFFIC[..] } else { &[] };
    let loads = info
        .obstacle_names
        .iter()
        .flat_map(|name| ["fx", "fy", "fz", "tx", "ty", "tz"].map(|component| format!("{name}_{component}")));
    let columns = COLUMNS.iter().chain(traffic).map(|name| (*name).to_owned());
    write_record(columns.chain(loads).chain(info.measures.iter().cloned()), out)
}

/// One row. The report has a load per obstacle, or none.
pub(super) fn write_row(observation: &Observation, info: &RunInfo, out: &mut dyn Write) -> io::Result<()> {
    let Observation { step, time, particles, kinetic_energy, potential_energy, report, measures } = *observation;
    let DVec3 { x, y, z } = particles.momentum();
    let figures = [
        step.to_string(),
        digits(time),
        digits(kinetic_energy),
        digits(potential_energy),
        digits(x),
        digits(y),
        digits(z),
        report.candidates.to_string(),
        report.contacts.to_string(),
        report.glued.to_string(),
        digits(report.least_gap),
        digits(report.residual),
        report.sweeps.to_string(),
        report.projections.to_string(),
        report.substeps.to_string(),
        report.unconverged.to_string(),
        digits(report.slip),
    ];
    let Traffic { entered, left, waiting } = report.traffic;
    let traffic = [
        particles.len().to_string(),
        entered.number.to_string(),
        left.number.to_string(),
        waiting.to_string(),
        digits(entered.mass),
        digits(left.mass),
    ];
    let traffic = traffic.into_iter().filter(|_| info.openings);
    let loads = (0..info.obstacle_names.len()).map(|obstacle| report.loads.get(obstacle).copied().unwrap_or_default());
    let loads = loads.flat_map(|Load { force, torque }| [force, torque]).flat_map(|vector| vector.to_array());
    let rest = loads.chain(measures.iter().copied()).map(digits);
    write_record(figures.into_iter().chain(traffic).chain(rest), out)
}

/// A line of CSV; names with commas or quotes are quoted.
pub(super) fn write_record(fields: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    writer.write_record(fields.map(String::into_bytes))?;
    writer.flush()
}

fn digits(value: f64) -> String {
    format!("{value:.16e}")
}

/// The columns and the last row of a series file, as name and text, and the number of rows. A last line that is
/// still being written is ignored.
pub(super) fn last_row(text: &[u8]) -> Result<(usize, Vec<(String, String)>), csv::Error> {
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut reader = csv::Reader::from_reader(&text[..end]);
    let header = reader.headers()?.clone();
    let (mut rows, mut last) = (0, csv::StringRecord::new());
    for record in reader.into_records() {
        last = record?;
        rows += 1;
    }
    Ok((rows, header.iter().zip(last.iter()).map(|(name, value)| (name.into(), value.into())).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openings::Amount;

    fn file(report: &StepReport, obstacles: &[String]) -> Vec<u8> {
        let mut particles = Particles::default();
        particles.push(DVec3::ZERO, 1.0, 2.0);
        particles.velocity[0] = DVec3::new(3.0, 0.0, -0.1);
        let observation = Observation {
            step: 7,
            time: 0.1,
            particles: &particles,
            kinetic_energy: particles.kinetic_energy(),
            potential_energy: -1.0,
            report,
            measures: &[],
        };
        let openings = report.traffic != Traffic::default();
        let info = RunInfo { obstacle_names: obstacles.to_vec(), openings, ..RunInfo::default() };
        let mut out = Vec::new();
        write_header(&info, &mut out).unwrap();
        write_row(&observation, &info, &mut out).unwrap();
        out
    }

    fn value(row: &[(String, String)], name: &str) -> f64 {
        row.iter().find(|(column, _)| column == name).unwrap().1.parse().unwrap()
    }

    #[test]
    fn a_row_reads_back_exactly() {
        let force = DVec3::new(1.0 / 3.0, 0.0, -2.0);
        let loads = vec![Load::default(), Load { force, torque: DVec3::Y }];
        let report = StepReport { least_gap: f64::INFINITY, glued: 4, loads, ..StepReport::default() };
        let file = file(&report, &["floor".into(), "lid, \"upper\"".into()]);
        let (rows, row) = last_row(&file).unwrap();
        assert_eq!((rows, row.len()), (1, 17 + 12));
        assert_eq!(value(&row, "step"), 7.0);
        assert_eq!(value(&row, "time"), 0.1);
        assert_eq!(value(&row, "kinetic_energy"), 9.01);
        assert_eq!(value(&row, "momentum_z"), -0.2);
        assert_eq!(value(&row, "least_gap"), f64::INFINITY);
        assert_eq!(value(&row, "glued"), 4.0);
        assert_eq!(value(&row, "lid, \"upper\"_fx"), 1.0 / 3.0);
        assert_eq!(value(&row, "lid, \"upper\"_ty"), 1.0);
    }

    #[test]
    fn measures_come_last() {
        let (particles, report) = (Particles::default(), StepReport::default());
        let measures = &[0.1 + 0.2, f64::NAN];
        let (particles, report, kinetic_energy, potential_energy) = (&particles, &report, 0.0, 0.0);
        let row = Observation { step: 1, time: 0.1, particles, kinetic_energy, potential_energy, report, measures };
        let measures = vec!["bed_fraction".into(), "a, b_dimension".into()];
        let info = RunInfo { obstacle_names: vec!["floor".into()], measures, ..RunInfo::default() };
        let mut out = Vec::new();
        write_header(&info, &mut out).unwrap();
        write_row(&row, &info, &mut out).unwrap();
        let (_, row) = last_row(&out).unwrap();
        assert_eq!(row.len(), 17 + 6 + 2);
        assert_eq!((row[23].0.as_str(), value(&row, "bed_fraction")), ("bed_fraction", 0.1 + 0.2));
        assert!(value(&row, "a, b_dimension").is_nan());
    }

    #[test]
    fn a_report_without_loads_is_a_row_of_zeros() {
        let (_, row) = last_row(&file(&StepReport::default(), &["floor".into()])).unwrap();
        assert_eq!(value(&row, "floor_tz"), 0.0);
    }

    #[test]
    fn openings_add_their_columns_before_the_loads() {
        let entered = Amount { number: 5, volume: 1.0, mass: 2.5 };
        let left = Amount { number: 3, volume: 1.0, mass: 1.5 };
        let report = StepReport { traffic: Traffic { entered, left, waiting: 2 }, ..StepReport::default() };
        let (_, row) = last_row(&file(&report, &["floor".into()])).unwrap();
        assert_eq!(row.len(), 17 + 6 + 6);
        assert_eq!(TRAFFIC.map(|name| value(&row, name)), [1.0, 5.0, 3.0, 2.0, 2.5, 1.5]);
        assert_eq!(row[23].0, "floor_fx");
    }

    #[test]
    fn an_unfinished_line_is_ignored() {
        let mut file = file(&StepReport::default(), &[]);
        file.extend_from_slice(b"8,1.0e-");
        let (rows, row) = last_row(&file).unwrap();
        assert_eq!((rows, value(&row, "step")), (1, 7.0));
        assert_eq!(last_row(b"step,ti").unwrap(), (0, Vec::new()));
    }
}
