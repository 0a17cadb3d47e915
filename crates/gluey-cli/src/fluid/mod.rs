//! `gluey stokes`: drags, flows, and a particle in a fluid with contacts.

mod arguments;
mod figures;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use gluey::environment::Signal;
use gluey::plane::Grid;
use gluey_fluid::{Brenner, Contact, Coupling, FixedMesh, Remembered, Table, Trajectory};
use serde_json::json;
use stokes::fitted::{self, SpherePlane};
use stokes::penalised::{Penalised, Resolution, Settings};

pub use arguments::StokesCommand;
use arguments::{
    ContactKind, CoupleArguments, DragArguments, FiguresArguments, FlowArguments, GridArguments, Method, Solver,
};

use crate::output::{self, Folder, csv_text};
use crate::plane::trajectory_table;
use crate::words::number;

/// Gaps of the table that is made of the exact drags, and its density: it is good to 1e-9.
const TABLE: ([f64; 2], u32) = ([1e-6, 1e3], 100);

/// Does what is asked, and tells what came out.
pub fn stokes(command: &StokesCommand) -> Result<String> {
    match command {
        StokesCommand::Drag(wishes) => drag(wishes),
        StokesCommand::Couple(wishes) => couple(wishes),
        StokesCommand::Flow(wishes) => flow(wishes),
        StokesCommand::Figures(wishes) => figures(wishes),
    }
}

impl GridArguments {
    fn fitted(self) -> Result<SpherePlane> {
        Ok(SpherePlane::new(fitted::Grid { across: self.across, along: self.along })?)
    }

    /// A mesh on which the particle can go as far as `reach`.
    fn penalised(self, reach: f64) -> Result<Penalised> {
        let Self { cell, penalty, .. } = self;
        let standard = Settings::default();
        // The far walls stay as far from the particle as they are.
        let extent = standard.extent + (reach - standard.reach);
        Ok(Penalised::new(Settings { cell, penalty, reach, extent })?)
    }
}

fn drag(wishes: &DragArguments) -> Result<String> {
    let start = Instant::now();
    let (mut unknowns, mut warning) = (0, None);
    let lambda = match wishes.method {
        Method::Exact => stokes::exact::sphere_plane(wishes.gap)?,
        Method::Fe => {
            let solver = wishes.grid.fitted()?;
            unknowns = solver.unknowns();
            solver.drag(wishes.gap)?
        }
        Method::Penalised => {
            // A gap that makes no sense is refused before a mesh is made for it.
            stokes::exact::sphere_plane(wishes.gap)?;
            let mut solver = wishes.grid.penalised(wishes.gap.max(Settings::default().reach))?;
            unknowns = solver.unknowns();
            let lambda = solver.drag(wishes.gap)?;
            warning = Some(solver.resolution(wishes.gap)).filter(|resolution| *resolution != Resolution::Resolved);
            lambda
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    if let Some(warning) = warning {
        eprintln!("warning: {warning}");
    }
    if wishes.json {
        return Ok(format!("{:#}\n", json!({ "lambda": lambda, "unknowns": unknowns, "seconds": seconds })));
    }
    let size = if unknowns > 0 { format!(", {unknowns} unknowns") } else { String::new() };
    Ok(format!("lambda = {lambda:.12}{size}, {seconds:.3} s\n"))
}

fn couple(wishes: &CoupleArguments) -> Result<String> {
    let force = crate::force::force(&wishes.force)?;
    let contact = match wishes.contact {
        ContactKind::None => Contact::None,
        ContactKind::Inelastic => Contact::Inelastic,
        ContactKind::Gluey => Contact::Gluey { gamma_min: wishes.gamma_min },
    };
    let CoupleArguments { eta, q0: start, dt, until, .. } = *wishes;
    let grid = Grid::new(dt, until)?;
    let mut coupling = Coupling { drag: Arc::new(Brenner), contact, eta, start, force, grid };
    coupling.check()?; // before a solver is made
    coupling.drag = match wishes.solver {
        Solver::Fe => Arc::new(Remembered::new(wishes.grid.fitted()?)),
        Solver::Penalised => Arc::new(FixedMesh::new(wishes.grid.penalised(farthest(&coupling)?)?)),
        Solver::Table => Arc::new(match &wishes.table {
            Some(path) => table(path).with_context(|| format!("cannot read drags from {}", path.display()))?,
            None => Table::of(&Brenner, TABLE.0, TABLE.1)?,
        }),
    };
    let trajectory = coupling.run()?;
    if let Some(path) = &wishes.csv {
        output::write(path, csv_text(&trajectory_table(&trajectory.samples))?.as_bytes())?;
    }
    let Trajectory { hit, takeoff, .. } = trajectory;
    if wishes.json {
        return Ok(format!("{:#}\n", json!({ "hit": hit, "takeoff": takeoff, "final": trajectory.end() })));
    }
    let told = |time: Option<f64>| time.map_or_else(|| "never".to_owned(), number);
    let written = wishes.csv.as_ref().map_or_else(String::new, |path| format!("rows in {}\n", path.display()));
    Ok(format!(
        "hit      {}\ntake-off {}\nfinal    q = {}\n{written}",
        told(hit),
        told(takeoff),
        number(trajectory.end())
    ))
}

/// A gap that the particle does not exceed: that of the exact drag with a contact that lets go at once, and a margin.
fn farthest(coupling: &Coupling) -> Result<f64> {
    let contact = if coupling.contact == Contact::None { Contact::None } else { Contact::Inelastic };
    let trajectory = Coupling { drag: Arc::new(Brenner), contact, ..coupling.clone() }.run()?;
    let most = trajectory.samples.iter().map(|sample| sample.gap).fold(0.0, f64::max);
    Ok((1.1 * most + 0.2).max(Settings::default().reach))
}

/// Drags from a CSV file of two columns; a first row that is no pair of numbers is a heading.
fn table(path: &Path) -> Result<Table> {
    let Signal::Linear(table) = crate::force::table(path)? else { anyhow::bail!("it has no rows") };
    Ok(Table::new(table.times(), table.values())?)
}

fn flow(wishes: &FlowArguments) -> Result<String> {
    // Streamlines are drawn from the points of the grid: it is finer than drags need.
    let flow = SpherePlane::new(fitted::Grid::default().refined(3))?.flow(wishes.gap)?;
    let folder = Folder::new(&wishes.out)?;
    folder.figure("flow", &figures::flow(&flow, wishes.gap))?;
    output::write(&wishes.out.join("flow.vtu"), flow.field().to_vtu().as_bytes())?;
    let lambda = flow.forces()[0];
    Ok(format!(
        "lambda = {}\nflow.svg, flow.png and, for ParaView, flow.vtu in {}\n",
        number(lambda),
        wishes.out.display()
    ))
}

fn figures(wishes: &FiguresArguments) -> Result<String> {
    let folder = Folder::new(&wishes.out)?;
    let mut told = String::new();
    let drags = figures::Drags::compute()?;
    folder.table("drags", &drags.table())?;
    folder.figure("drags", &drags.figure())?;
    told += &folder.told(&drags.table());
    let runs = figures::Runs::compute(wishes.dt)?;
    folder.table("trajectories", &runs.table())?;
    folder.table("takeoffs", &runs.summary())?;
    folder.figure("contacts", &runs.contacts())?;
    folder.figure("thresholds", &runs.thresholds())?;
    Ok(told + &folder.told(&runs.summary()))
}
