//! `gluey plane`: one particle and a plane, with tables and plots of all that is proved and shown about it.

mod arguments;
mod figures;
mod tables;

use anyhow::Result;
use gluey::plane::studies;
use gluey::plane::{Experiment, Grid, PlaneError, Sample, algorithm, exact, lubrication};

use crate::output::{self, Folder, csv_text};
pub use arguments::PlaneCommand;
use arguments::{
    ConvergenceArguments, LayersArguments, Model, OutArguments, RoughnessArguments, SimulateArguments, StudyArguments,
};
pub use tables::trajectory as trajectory_table;

use crate::words::number;

/// Does what is asked, and tells what came out.
pub fn plane(command: &PlaneCommand) -> Result<String> {
    match command {
        PlaneCommand::Simulate(wishes) => simulate(wishes),
        PlaneCommand::Example(wishes) => example(wishes),
        PlaneCommand::Layers(wishes) => layers(wishes),
        PlaneCommand::Convergence(wishes) => convergence(wishes),
        PlaneCommand::Roughness(wishes) => roughness(wishes),
        PlaneCommand::Uniqueness(wishes) => uniqueness(wishes),
    }
}

fn simulate(wishes: &SimulateArguments) -> Result<String> {
    let mut experiment = wishes.experiment.experiment()?;
    let grid = Grid::new(wishes.dt, wishes.experiment.until)?;
    let kappa = wishes.kappa.unwrap_or_default();
    if let Some(shift) = wishes.shift {
        experiment.gamma_min = kappa * experiment.mass / experiment.radius.powi(2) * shift.ln(); // 6πμ ln q_s
    }
    let samples = match wishes.model {
        Model::Gluey => algorithm::run(&experiment, grid)?.samples,
        Model::Exact => exact_samples(&experiment, grid)?,
        Model::Lubrication => lubrication::run(&experiment, kappa, grid)?.samples,
    };
    if let Some(name) = &wishes.plot {
        output::write_figure(name, &figures::trajectory(&samples))?;
    }
    let text = csv_text(&tables::trajectory(&samples))?;
    match &wishes.csv {
        Some(path) => {
            output::write(path, text.as_bytes())?;
            Ok(format!("{} rows in {}\n", samples.len(), path.display()))
        }
        None => Ok(text),
    }
}

fn exact_samples(experiment: &Experiment, grid: Grid) -> Result<Vec<Sample>, PlaneError> {
    let end = grid.time(grid.steps());
    let solution = exact::solve(experiment, end)?;
    Ok((0..=grid.steps()).map(|n| solution.at(grid.time(n))).collect())
}

/// Samples for a plot: as many as there are pixels.
fn shown(until: f64) -> Result<Grid, PlaneError> {
    Grid::new(until / 1200.0, until)
}

fn example(wishes: &StudyArguments) -> Result<String> {
    let experiment = wishes.experiment.experiment()?;
    let folder = Folder::new(&wishes.out.out)?;
    let until = wishes.experiment.until;
    let samples = exact_samples(&experiment, shown(until)?)?;
    let solution = exact::solve(&experiment, until)?;
    folder.table("example", &tables::trajectory(&samples))?;
    folder.table("example-events", &tables::events(&solution))?;
    folder.figure("example", &figures::example(&experiment, &samples, &solution))?;
    Ok(folder.told(&tables::events(&solution)))
}

fn layers(wishes: &LayersArguments) -> Result<String> {
    let StudyArguments { experiment: given, out } = &wishes.study;
    let experiment = given.experiment()?;
    let folder = Folder::new(&out.out)?;
    let study = studies::layers(&experiment, &wishes.kappas, Grid::new(given.until / 600.0, given.until)?)?;
    let limit = exact_samples(&experiment, shown(given.until)?)?;
    folder.table("layers", &tables::layers(&study))?;
    folder.table("layers-trajectories", &tables::layer_trajectories(&study, &limit))?;
    folder.figure("layers", &figures::layers(&study, &limit))?;
    folder.figure("layers-rates", &figures::layer_rates(&study))?;
    let orders = format!("observed orders as kappa → 0: {:.3} and {:.3}\n", study.orders.0, study.orders.1);
    Ok(folder.told(&tables::layers(&study)) + &orders)
}

fn convergence(wishes: &ConvergenceArguments) -> Result<String> {
    let StudyArguments { experiment: given, out } = &wishes.study;
    let experiment = given.experiment()?;
    let folder = Folder::new(&out.out)?;
    let steps: Vec<f64> = wishes.steps.iter().map(|count| given.until / f64::from(*count)).collect();
    let study = studies::convergence(&experiment, &steps, given.until)?;
    folder.table("convergence", &tables::convergence(&study))?;
    folder.table("convergence-orders", &tables::orders(&study))?;
    folder.table("convergence-bounds", &tables::bounds(&study))?;
    folder.figure("convergence", &figures::convergence(&study))?;
    let holds = study.resolutions.iter().all(|row| row.bounds.hold());
    let verdict = if holds { "the bounds of the lemmas hold for every h\n" } else { "A BOUND OF THE LEMMAS FAILS\n" };
    Ok(folder.told(&tables::orders(&study)) + verdict)
}

fn roughness(wishes: &RoughnessArguments) -> Result<String> {
    let folder = Folder::new(&wishes.out.out)?;
    let RoughnessArguments { mass, radius, kappa, dt, ref gamma_mins, .. } = *wishes;
    let study = studies::roughness((mass, radius), gamma_mins, kappa, Grid::new(dt, 6.0)?)?;
    let smooth = Experiment { mass, radius, ..Experiment::papers(f64::NEG_INFINITY) };
    let smooth = exact_samples(&smooth, shown(6.0)?)?;
    folder.table("roughness", &tables::departures(&study))?;
    folder.figure("roughness", &figures::roughness(&study, &smooth, &number(kappa)))?;
    Ok(folder.told(&tables::departures(&study)))
}

fn uniqueness(wishes: &OutArguments) -> Result<String> {
    let folder = Folder::new(&wishes.out)?;
    let gamma_mins = [0.0, -0.05, -1.0, f64::NEG_INFINITY];
    let study = studies::uniqueness(&gamma_mins, &(6..=14).collect::<Vec<i32>>())?;
    folder.table("uniqueness", &tables::refinements(&study))?;
    folder.table("uniqueness-solutions", &tables::clusters(&study))?;
    folder.figure("uniqueness", &figures::uniqueness(&study))?;
    folder.figure("uniqueness-refinement", &figures::refinement(&study))?;
    Ok(folder.told(&tables::refinements(&study)))
}
