//! The series: one row of figures per interval, as CSV.
//!
//! Numbers have 17 significant digits, which a reader turns back into the same f64; an infinite gap reads `inf`.

use std::fmt;
use std::io::{self, Write};

use glam::DVec3;

use super::RunInfo;
use crate::geometry::Particles;
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

/// A column that the series of a run have whatever their obstacles and measures are.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// What heads it.
    pub name: &'static str,
    /// What it tells, with its unit.
    pub about: &'static str,
    /// Its figures.
    pub value: Told,
    /// Which runs have it.
    pub runs: Runs,
}

/// Where the figures of a column come from.
#[derive(Clone, Copy, Debug)]
pub enum Told {
    /// A whole number of the moment.
    CountOf(fn(&Row) -> u64),
    /// A number of the moment.
    Of(fn(&Row) -> f64),
    /// A whole number of the step that led there.
    CountOfStep(fn(&StepReport) -> u64),
    /// A number of the step that led there.
    OfStep(fn(&StepReport) -> f64),
}

/// Which runs have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// All.
    All,
    /// Those with inlets or outlets.
    WithOpenings,
}

/// What a row is made of, and what several of its columns have in common.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    of: &'a Observation<'a>,
    momentum: DVec3,
}

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A whole number.
    Count(u64),
    /// Any number.
    Number(f64),
}

impl Column {
    /// The table, in the order of the file.
    pub const ALL: [Self; 23] = [
        Self::all("step", Told::CountOf(|row| row.of.step), "number n of steps taken"),
        Self::all("time", Told::Of(|row| row.of.time), "time tⁿ then (time)"),
        Self::all("kinetic_energy", Told::Of(|row| row.of.kinetic_energy), "of all particles (energy)"),
        Self::all("potential_energy", Told::Of(|row| row.of.potential_energy), "of all particles (energy)"),
        Self::all("momentum_x", Told::Of(|row| row.momentum.x), "of all particles (mass × length / time)"),
        Self::all("momentum_y", Told::Of(|row| row.momentum.y), "the same along y"),
        Self::all("momentum_z", Told::Of(|row| row.momentum.z), "the same along z"),
        Self::all(
            "candidates",
            Told::CountOfStep(|report| report.candidates as u64),
            "pairs that could have met in the step",
        ),
        Self::all(
            "contacts",
            Told::CountOfStep(|report| report.contacts as u64),
            "contacts after the step that pushed, pulled or are glued",
        ),
        Self::all("glued", Told::CountOfStep(|report| report.glued as u64), "contacts with γ < 0"),
        Self::all(
            "least_gap",
            Told::OfStep(|report| report.least_gap),
            "least signed gap after the step (length); `inf` if no pair could have met",
        ),
        Self::all(
            "residual",
            Told::OfStep(|report| report.residual),
            "worst residual of the projections, relative to the smallest radius",
        ),
        Self::all("sweeps", Told::CountOfStep(|report| report.sweeps), "iterations of the projections"),
        Self::all("projections", Told::CountOfStep(|report| report.projections.into()), "projections solved"),
        Self::all("substeps", Told::CountOfStep(|report| report.substeps.into()), "parts the step was split into"),
        Self::all(
            "unconverged",
            Told::CountOfStep(|report| report.unconverged.into()),
            "how often something was accepted rather than solved, see below",
        ),
        Self::all(
            "slip",
            Told::OfStep(|report| report.slip),
            "largest tangential displacement of a contact in a sub-step, relative to the smallest radius",
        ),
        Self::of_openings(
            "particles",
            Told::CountOf(|row| row.of.particles.len() as u64),
            "how many are there after the step",
        ),
        Self::of_openings(
            "entered",
            Told::CountOfStep(|report| report.traffic.entered.number),
            "how many have come in since the start",
        ),
        Self::of_openings(
            "left",
            Told::CountOfStep(|report| report.traffic.left.number),
            "how many have left since the start",
        ),
        Self::of_openings(
            "waiting",
            Told::CountOfStep(|report| report.traffic.waiting),
            "how many are due at an inlet and found no room yet",
        ),
        Self::of_openings(
            "entered_mass",
            Told::OfStep(|report| report.traffic.entered.mass),
            "the mass of those who came in since the start (mass)",
        ),
        Self::of_openings(
            "left_mass",
            Told::OfStep(|report| report.traffic.left.mass),
            "the mass of those who left since the start (mass)",
        ),
    ];

    const fn all(name: &'static str, value: Told, about: &'static str) -> Self {
        Self { name, about, value, runs: Runs::All }
    }

    const fn of_openings(name: &'static str, value: Told, about: &'static str) -> Self {
        Self { name, about, value, runs: Runs::WithOpenings }
    }

    /// Whether its figures are whole numbers.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        matches!(self.value, Told::CountOf(_) | Told::CountOfStep(_))
    }

    /// Its figure for a step, where it tells of one.
    #[must_use]
    pub fn of_step(&self, report: &StepReport) -> Option<Figure> {
        match self.value {
            Told::CountOfStep(count) => Some(Figure::Count(count(report))),
            Told::OfStep(value) => Some(Figure::Number(value(report))),
            Told::CountOf(_) | Told::Of(_) => None,
        }
    }

    fn figure(&self, row: &Row) -> Figure {
        match self.value {
            Told::CountOf(count) => Figure::Count(count(row)),
            Told::Of(value) => Figure::Number(value(row)),
            Told::CountOfStep(count) => Figure::Count(count(row.of.report)),
            Told::OfStep(value) => Figure::Number(value(row.of.report)),
        }
    }

    /// Those of a run.
    fn of_run(info: &RunInfo) -> impl Iterator<Item = &'static Self> {
        let openings = info.openings;
        Self::ALL.iter().filter(move |column| column.runs == Runs::All || openings)
    }
}

/// The names of the columns; each obstacle adds six, force and torque about its pivot. Those of measures come last.
pub(super) fn write_header(info: &RunInfo, out: &mut dyn Write) -> io::Result<()> {
    let loads = info
        .obstacle_names
        .iter()
        .flat_map(|name| ["fx", "fy", "fz", "tx", "ty", "tz"].map(|component| format!("{name}_{component}")));
    let columns = Column::of_run(info).map(|column| column.name.to_owned());
    write_record(columns.chain(loads).chain(info.measures.iter().cloned()), out)
}

/// One row. The report has a load per obstacle, or none.
pub(super) fn write_row(observation: &Observation, info: &RunInfo, out: &mut dyn Write) -> io::Result<()> {
    let Observation { particles, report, measures, .. } = *observation;
    let row = Row { of: observation, momentum: particles.momentum() };
    let figures = Column::of_run(info).map(|column| column.figure(&row).to_string());
    let loads = (0..info.obstacle_names.len()).map(|obstacle| report.loads.get(obstacle).copied().unwrap_or_default());
    let loads = loads.flat_map(|Load { force, torque }| [force, torque]).flat_map(|vector| vector.to_array());
    let rest = loads.chain(measures.iter().copied()).map(digits);
    write_record(figures.chain(rest), out)
}

/// A line of CSV; names with commas or quotes are quoted.
pub(super) fn write_record(fields: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    writer.write_record(fields.map(String::into_bytes))?;
    writer.flush()
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Number(value) => f.write_str(&digits(*value)),
        }
    }
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
    use crate::openings::{Amount, Traffic};

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

    fn in_all_runs() -> usize {
        Column::of_run(&RunInfo::default()).count()
    }

    #[test]
    fn no_two_columns_have_one_name_and_each_is_told_in_the_page_of_results() {
        let path: std::path::PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "formats.md"].iter().collect();
        let page = std::fs::read_to_string(path).unwrap();
        for (k, Column { name, about, runs, .. }) in Column::ALL.iter().enumerate() {
            assert!(Column::ALL[..k].iter().all(|other| other.name != *name), "{name} twice");
            let only = if *runs == Runs::WithOpenings { "only in runs with [openings](openings.md): " } else { "" };
            let line = format!("\n| `{name}` | {only}{about} |\n");
            assert!(page.contains(&line), "docs/formats.md has no row {line}");
        }
    }

    #[test]
    fn a_row_reads_back_exactly() {
        let force = DVec3::new(1.0 / 3.0, 0.0, -2.0);
        let loads = vec![Load::default(), Load { force, torque: DVec3::Y }];
        let report = StepReport { least_gap: f64::INFINITY, glued: 4, loads, ..StepReport::default() };
        let file = file(&report, &["floor".into(), "lid, \"upper\"".into()]);
        let (rows, row) = last_row(&file).unwrap();
        assert_eq!((rows, row.len()), (1, in_all_runs() + 12));
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
        assert_eq!(row.len(), in_all_runs() + 6 + 2);
        assert_eq!((row[in_all_runs() + 6].0.as_str(), value(&row, "bed_fraction")), ("bed_fraction", 0.1 + 0.2));
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
        assert_eq!(row.len(), Column::ALL.len() + 6);
        let traffic = ["particles", "entered", "left", "waiting", "entered_mass", "left_mass"];
        assert_eq!(traffic.map(|name| value(&row, name)), [1.0, 5.0, 3.0, 2.0, 2.5, 1.5]);
        assert_eq!(row[Column::ALL.len()].0, "floor_fx");
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
