//! `gluey info`: what a run folder holds, also while the run goes on.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use gluey::scene::steps_until;
use gluey::trajectory::{CheckpointStatus, Intervention, RunSummary};
use serde_json::{Value, json};
use toml_edit::DocumentMut;

use crate::Answer;
use crate::arguments::InfoArguments;
use crate::measured::Measured;
use crate::summary::resume_command;
use crate::words::{number, shares, size};

/// Reads a run folder and tells about it.
pub fn info(wishes: &InfoArguments) -> Result<Answer> {
    let facts = Facts::read(wishes)?;
    let text = if wishes.json { format!("{:#}\n", facts.json()) } else { facts.text(&wishes.run, wishes.measures) };
    Ok(text.into())
}

/// The folder, and extremes over its series.
struct Facts {
    summary: RunSummary,
    steps: Option<u64>,
    extremes: Extremes,
    /// Where the wall time went, if anything is known of it.
    spent: Option<Spent>,
    /// What is measured of the last frame, if there is one.
    measured: Option<Measured>,
    /// What was changed by hand.
    changes: Vec<Intervention>,
}

/// Extremes and sums over the rows of the series.
#[derive(Debug, Default, PartialEq)]
struct Extremes {
    overlap: f64,
    residual: f64,
    split: u64,
    unconverged: u64,
    /// Rows after steps, which have contacts and sweeps.
    rows: u64,
    contacts: u64,
    sweeps: u64,
}

/// What the rows of `timings.csv` add up to.
#[derive(Debug, PartialEq)]
struct Spent {
    shares: String,
    seconds_per_step: f64,
}

impl Facts {
    fn read(wishes: &InfoArguments) -> Result<Self> {
        let folder = &wishes.run;
        let summary = RunSummary::read(folder)?;
        let steps = until(&summary.manifest.info.scene_text).map(|t| steps_until(t, summary.manifest.info.dt));
        // A run that has just started may have no series yet.
        let extremes = Extremes::of(&fs::read_to_string(folder.join("series.csv")).unwrap_or_default());
        let spent = spent(&fs::read_to_string(folder.join("timings.csv")).unwrap_or_default());
        let measured = Measured::read(folder, wishes)?;
        let changes = Intervention::read(folder)?;
        Ok(Self { summary, steps, extremes, spent, measured, changes })
    }

    /// The last step that anything is known of.
    fn step(&self) -> u64 {
        let row = self.summary.last_row.iter().find(|(name, _)| name == "step");
        let row = row.and_then(|(_, text)| text.parse().ok()).unwrap_or(0);
        self.saved_step().map_or(row, |saved| saved.max(row))
    }

    fn saved_step(&self) -> Option<u64> {
        self.summary.checkpoint.usable().map(|checkpoint| checkpoint.state.step)
    }

    fn finished(&self) -> bool {
        self.steps.is_some_and(|steps| self.step() >= steps)
    }

    fn particles(&self) -> Option<(usize, f64)> {
        let particles = &self.summary.checkpoint.usable()?.state.particles;
        Some((particles.len(), particles.smallest_radius()))
    }

    fn text(&self, folder: &Path, all: bool) -> String {
        let info = &self.summary.manifest.info;
        let last = |column: &str| self.summary.value(column).map_or_else(|| "?".to_owned(), number);
        let of = self.steps.map_or_else(String::new, |steps| format!(" of {steps}"));
        let checkpoint = match &self.summary.checkpoint {
            CheckpointStatus::Missing => "none".to_owned(),
            CheckpointStatus::Good(checkpoint) => format!("good, of step {}", checkpoint.state.step),
            CheckpointStatus::Previous(checkpoint, error) => {
                format!("unusable: {error}; the one before it, of step {}, is good", checkpoint.state.step)
            }
            CheckpointStatus::Bad(error) => format!("unusable: {error}"),
        };
        let overlap = match self.particles() {
            Some((_, radius)) if radius.is_finite() => {
                format!("{} of the smallest radius", size(self.extremes.overlap / radius))
            }
            _ => size(self.extremes.overlap),
        };
        let mut rows = vec![
            ("scene", format!("{}, {}D, seed {}", info.scene_name, info.dimension, info.seed)),
            ("made by", format!("gluey {}", self.summary.manifest.gluey)),
            ("steps", format!("{}{of}, dt = {}", self.step(), number(info.dt))),
            ("simulated time", number(self.step() as f64 * info.dt)),
        ];
        rows.extend(self.particles().map(|(count, _)| ("particles", count.to_string())));
        if self.summary.value("entered").is_some() {
            let passed = format!("{} in, {} out, {} waiting", last("entered"), last("left"), last("waiting"));
            rows.push(("openings", passed));
        }
        rows.extend([
            ("contacts", format!("{}, {} glued", last("contacts"), last("glued"))),
            ("kinetic energy", last("kinetic_energy")),
            ("potential", last("potential_energy")),
            ("worst overlap", overlap),
            ("worst residual", format!("{} of the smallest radius", size(self.extremes.residual))),
            ("steps split", self.extremes.split.to_string()),
            ("unconverged", self.extremes.unconverged.to_string()),
        ]);
        if let Some((contacts, sweeps)) = self.extremes.means() {
            let time = |spent: &Spent| format!(", {} ms", number(1e3 * spent.seconds_per_step));
            let time = self.spent.as_ref().map_or_else(String::new, time);
            rows.push(("mean step", format!("{contacts:.0} contacts, {sweeps:.0} sweeps{time}")));
        }
        rows.extend(self.spent.iter().map(|spent| ("spent on", spent.shares.clone())));
        rows.extend([
            ("series", format!("{} rows", self.summary.rows)),
            ("frames", self.summary.frames.to_string()),
            ("checkpoint", checkpoint),
        ]);
        rows.extend(self.changes.iter().map(|change| {
            ("changed by hand", format!("{} = {} at t = {}", change.key, change.value, number(change.time)))
        }));
        rows.extend(self.measured.iter().flat_map(|measured| measured.rows(all)));
        let how = if self.finished() { "finished" } else { "not finished" };
        let mut text = format!("{}: {how}\n", folder.display());
        for (name, figure) in rows {
            let _ = writeln!(text, "  {name:<15} {figure}"); // writing to a string cannot fail
        }
        if !self.finished() && self.saved_step().is_some() {
            let _ = writeln!(text, "\nIf no process is at work on it, go on with\n  {}", resume_command(folder, None));
        }
        text
    }

    fn json(&self) -> Value {
        let manifest = &self.summary.manifest;
        let info = &manifest.info;
        // JSON has no infinity: such figures are null.
        let last: serde_json::Map<String, Value> =
            self.summary.last_row.iter().map(|(name, text)| (name.clone(), json!(text.parse::<f64>().ok()))).collect();
        let checkpoint = match &self.summary.checkpoint {
            CheckpointStatus::Missing => json!({ "status": "missing" }),
            CheckpointStatus::Good(checkpoint) => json!({ "status": "good", "step": checkpoint.state.step }),
            CheckpointStatus::Previous(checkpoint, error) => {
                json!({ "status": "previous", "step": checkpoint.state.step, "reason": error.to_string() })
            }
            CheckpointStatus::Bad(error) => json!({ "status": "bad", "reason": error.to_string() }),
        };
        json!({
            "scene": info.scene_name,
            "dimension": info.dimension,
            "seed": info.seed,
            "dt": info.dt,
            "gluey": manifest.gluey,
            "step": self.step(),
            "steps": self.steps,
            "time": self.step() as f64 * info.dt,
            "finished": self.finished(),
            "particles": self.particles().map(|(count, _)| count),
            "smallest_radius": self.particles().map(|(_, radius)| radius),
            "worst_overlap": self.extremes.overlap,
            "worst_residual": self.extremes.residual,
            "split_steps": self.extremes.split,
            "unconverged": self.extremes.unconverged,
            "mean_contacts": self.extremes.means().map(|(contacts, _)| contacts),
            "mean_sweeps": self.extremes.means().map(|(_, sweeps)| sweeps),
            "seconds_per_step": self.spent.as_ref().map(|spent| spent.seconds_per_step),
            "rows": self.summary.rows,
            "frames": self.summary.frames,
            "checkpoint": checkpoint,
            "changes": self.changes.len(),
            "last_row": last,
            "measures": self.measured.as_ref().map(Measured::json),
        })
    }
}

impl Extremes {
    /// The columns that matter stand before those of the obstacles, whose names may need quotes.
    fn of(series: &str) -> Self {
        let mut lines = series.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let header: Vec<&str> = lines.next().unwrap_or_default().trim_end().split(',').collect();
        let column = |name: &str| header.iter().position(|other| *other == name);
        let (gap, residual) = (column("least_gap"), column("residual"));
        let (substeps, unconverged) = (column("substeps"), column("unconverged"));
        let (step, contacts, sweeps) = (column("step"), column("contacts"), column("sweeps"));
        let mut extremes = Self::default();
        for line in lines {
            let row: Vec<&str> = line.trim_end().split(',').collect();
            let cell = |index: Option<usize>| index.and_then(|k| row.get(k).copied()).unwrap_or_default();
            let value = |index| cell(index).parse::<f64>().unwrap_or(0.0);
            let whole = |index| cell(index).parse::<u64>().unwrap_or(0);
            extremes.overlap = extremes.overlap.max(-value(gap));
            extremes.residual = extremes.residual.max(value(residual));
            extremes.split += u64::from(whole(substeps) > 1);
            extremes.unconverged += whole(unconverged);
            extremes.rows += u64::from(whole(step) > 0);
            extremes.contacts += whole(contacts);
            extremes.sweeps += whole(sweeps);
        }
        extremes
    }

    /// Contacts and sweeps of a step on average, if there were steps.
    fn means(&self) -> Option<(f64, f64)> {
        let rows = self.rows as f64;
        (self.rows > 0).then(|| (self.contacts as f64 / rows, self.sweeps as f64 / rows))
    }
}

/// Sums up `timings.csv`; none where it has no rows.
fn spent(timings: &str) -> Option<Spent> {
    let mut lines = timings.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let header: Vec<&str> = lines.next()?.trim_end().split(',').collect();
    let mut sums = vec![0.0; header.len()];
    let mut steps = 0.0_f64;
    for line in lines {
        for (sum, cell) in sums.iter_mut().zip(line.trim_end().split(',')) {
            *sum += cell.parse().unwrap_or(0.0);
        }
        steps = line.split(',').next().and_then(|cell| cell.parse().ok()).unwrap_or(steps);
    }
    let sum = |name: &str| header.iter().position(|other| *other == name).map_or(0.0, |k| sums[k]);
    let parts = [
        ("prediction", sum("predict")),
        ("search", sum("search")),
        ("projection", sum("project")),
        ("glue", sum("glue")),
        ("moves", sum("move")),
        ("writing", sum("write")),
    ];
    let total = sum("total");
    (total > 0.0).then(|| Spent { shares: shares(&parts, total), seconds_per_step: total / steps.max(1.0) })
}

/// The end that the scene asks for.
fn until(scene: &str) -> Option<f64> {
    let document: DocumentMut = scene.parse().ok()?;
    let until = document.get("time")?.get("until")?;
    until.as_float().or_else(|| until.as_integer().map(|whole| whole as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_over_whole_rows() {
        let series = "step,contacts,sweeps,least_gap,residual,substeps,unconverged,\"a,b\"_fx\n\
                      0,0,0,inf,1e-9,1,0,3\n1,4,10,-2e-6,1e-7,4,1,3\n2,8,20,1,1e-8,2,1,3\n-1,5";
        let extremes = Extremes::of(series);
        assert_eq!(extremes.means(), Some((6.0, 15.0)));
        let expected =
            Extremes { overlap: 2e-6, residual: 1e-7, split: 2, unconverged: 2, rows: 2, contacts: 12, sweeps: 30 };
        assert_eq!(extremes, expected);
        assert_eq!(Extremes::of(""), Extremes::default());
    }

    #[test]
    fn wall_times_are_summed_over_whole_rows() {
        let timings = "step,time,search,project,total\n10,0.1,1,2,4\n20,0.2,1,4,4\n30,0.3,9";
        let expected = Spent { shares: "projection 75 %, search 25 %".to_owned(), seconds_per_step: 0.4 };
        assert_eq!(spent(timings), Some(expected));
        assert_eq!(spent("step,time,search,project,total\n"), None);
        assert_eq!(spent(""), None);
    }

    #[test]
    fn the_end_is_read_from_the_scene() {
        assert_eq!(until("time = { dt = 0.1, until = 3 }"), Some(3.0));
        assert_eq!(until("[time]\nuntil = 1.5"), Some(1.5));
        assert_eq!(until("x = "), None);
    }
}
