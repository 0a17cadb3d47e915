//! `gluey measure`: figures of runs over time, as a table and a plot, and when particles leave the walls of a container
//! that turns.

use std::path::Path;

use anyhow::{Context, Result};
use glam::DVec3;
use gluey::measures::{self, Passages};
use gluey::scene::Stage;
use gluey::trajectory::Snapshots;
use gluey_plot::{Axis, Curve, Figure, Mark, Panel, Pen};

use crate::arguments::MeasureArguments;
use crate::output::{Cell, Folder, Table};
use crate::run_names::{check_labels, labels};
use crate::{UsageError, host};

/// What is measured of one frame.
struct Row {
    time: f64,
    /// How far the container has turned (rad), if anything turns.
    angle: Option<f64>,
    hanging: f64,
    height: f64,
    mixing: Option<f64>,
}

/// What is measured of one run.
struct Measured {
    label: String,
    rows: Vec<Row>,
    passages: Option<Passages>,
}

/// Measures runs, and tells where the figures are.
pub fn measure(wishes: &MeasureArguments) -> Result<String> {
    check_labels(&wishes.runs, &wishes.labels)?;
    let names = labels(&wishes.runs, &wishes.labels);
    let measured = wishes
        .runs
        .iter()
        .zip(names)
        .map(|(run, label)| measure_run(run, label, wishes))
        .collect::<Result<Vec<_>>>()?;
    let folder = Folder::new(&wishes.out)?;
    folder.table("measures", &frames(&measured))?;
    folder.figure("measures", &over_angle(&measured))?;
    if measured.iter().any(|run| run.departures().next().is_some()) {
        folder.table("departures", &departures(&measured))?;
        folder.figure("departures", &who_stays(&measured))?;
    }
    Ok(folder.told(&summary(&measured)))
}

fn measure_run(run: &Path, label: String, wishes: &MeasureArguments) -> Result<Measured> {
    let snapshots = Snapshots::open(run)?;
    let info = &snapshots.manifest().info;
    let dimension = usize::from(info.dimension);
    let up = wishes.up.unwrap_or(if dimension == 2 { DVec3::Y } else { DVec3::Z }).normalize();
    if dimension == 2 && up.z != 0.0 {
        return Err(
            UsageError(format!("--up: the run in {} is 2D, and up has a third component", run.display())).into()
        );
    }
    let scene = host::scene_path(run).unwrap_or_else(|| run.join("scene.toml"));
    let stage = Stage::parse(&info.scene_text, &scene)
        .with_context(|| format!("the scene of {} can no longer be read", run.display()))?;
    let turn =
        |time| stage.obstacles.iter().flat_map(|obstacle| &obstacle.motions).find_map(|motion| motion.turn(time));
    let end = snapshots.stamps().last().map_or(0.0, |stamp| stamp.time);
    let forward = turn(end).map(|(axis, angle)| if angle < 0.0 { -axis } else { axis });
    let mut passages = forward.map(|axis| Passages::new(up, axis));
    let mut rows = Vec::new();
    for stamp in snapshots.stamps() {
        let frame = snapshots.read(stamp)?;
        if let Some(passages) = &mut passages {
            passages.look(&frame.particles, &frame.contacts);
        }
        rows.push(Row {
            time: frame.time,
            angle: turn(frame.time).map(|(_, angle)| angle.abs()),
            hanging: measures::hanging(&frame.particles, &frame.contacts, up),
            height: measures::height(&frame.particles, up),
            mixing: measures::mixing(&frame.particles, dimension),
        });
    }
    Ok(Measured { label, rows, passages })
}

impl Measured {
    /// Angles (degrees) and the share of particles that is still on a wall that has turned so far; beyond, others fall
    /// back.
    fn departures(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        (30..=270).step_by(5).filter_map(|degrees| {
            let degrees = f64::from(degrees);
            Some((degrees, self.passages.as_ref()?.share(degrees.to_radians())?))
        })
    }
}

fn cell(value: Option<f64>) -> Cell {
    value.map_or_else(|| Cell::from(""), Cell::from)
}

/// One row a frame; angles in degrees.
fn frames(measured: &[Measured]) -> Table {
    let columns = vec!["run", "t", "angle", "hanging", "height", "mixing"];
    let rows = measured.iter().flat_map(|run| {
        run.rows.iter().map(|row| {
            let angle = cell(row.angle.map(f64::to_degrees));
            let label = Cell::from(run.label.as_str());
            vec![label, row.time.into(), angle, row.hanging.into(), row.height.into(), cell(row.mixing)]
        })
    });
    Table { columns, rows: rows.collect() }
}

/// One row an angle of a wall from the bottom, in degrees.
fn departures(measured: &[Measured]) -> Table {
    let rows = measured.iter().flat_map(|run| {
        run.departures().map(|(angle, share)| vec![Cell::from(run.label.as_str()), angle.into(), share.into()])
    });
    Table { columns: vec!["run", "angle", "staying"], rows: rows.collect() }
}

/// One row a run.
fn summary(measured: &[Measured]) -> Table {
    let columns = vec!["run", "frames", "most_hanging", "mean_height", "mixing_start", "mixing_end", "half_left_at"];
    let rows = measured.iter().map(|run| {
        let most = run.rows.iter().map(|row| row.hanging).fold(0.0, f64::max);
        let mean = run.rows.iter().map(|row| row.height).sum::<f64>() / run.rows.len() as f64;
        let mixing = |row: Option<&Row>| cell(row.and_then(|row| row.mixing));
        let departure = run.passages.as_ref().and_then(Passages::departure).map(f64::to_degrees);
        vec![
            Cell::from(run.label.as_str()),
            Cell::from(run.rows.len() as f64),
            most.into(),
            mean.into(),
            mixing(run.rows.first()),
            mixing(run.rows.last()),
            cell(departure),
        ]
    });
    Table { columns, rows: rows.collect() }
}

fn curves(measured: &[Measured], points: impl Fn(&Measured) -> Vec<(f64, f64)>) -> Vec<Curve> {
    let marks = [Mark::Dotted, Mark::Dashed, Mark::Solid];
    let pen = |k: usize| Pen { colour: [4, 2, 0, 1, 3, 5][k % 6], mark: marks[k % 3] };
    measured.iter().enumerate().map(|(k, run)| Curve::new(run.label.clone(), pen(k), points(run))).collect()
}

fn panel(x: Axis, y: &str, curves: Vec<Curve>) -> Panel {
    Panel { x, y: Axis::linear(y), curves, notes: Vec::new() }
}

/// What is measured of every frame, against the angle turned or, where nothing turns, against time.
fn over_angle(measured: &[Measured]) -> Figure {
    let turning = measured.iter().flat_map(|run| &run.rows).all(|row| row.angle.is_some());
    let x = |row: &Row| if turning { row.angle.unwrap_or_default().to_degrees() } else { row.time };
    let axis = || Axis::linear(if turning { "angle turned (degrees)" } else { "time t (time units)" });
    let against = |of: fn(&Row) -> Option<f64>| {
        curves(measured, |run| run.rows.iter().filter_map(|row| Some((x(row), of(row)?))).collect())
    };
    let mut panels = vec![
        panel(axis(), "share of particles that hang from walls", against(|row| Some(row.hanging))),
        panel(axis(), "height of the centre of mass (length)", against(|row| Some(row.height))),
    ];
    if measured.iter().flat_map(|run| &run.rows).any(|row| row.mixing.is_some()) {
        panels.push(panel(axis(), "mixing index (1: random)", against(|row| row.mixing)));
    }
    Figure { title: "Hanging, height and mixing".to_owned(), panels }
}

/// How many of the particles on a wall are still there when it has turned.
fn who_stays(measured: &[Measured]) -> Figure {
    let x = Axis::linear("angle of the wall from the bottom (degrees)");
    let stays = curves(measured, |run| run.departures().collect());
    let y = Axis::linear("share of particles still on the wall").within(0.0, 1.02);
    let panels = vec![Panel { x, y, curves: stays, notes: Vec::new() }];
    Figure { title: "When particles leave a wall that turns".to_owned(), panels }
}
