//! How fast the room of `scenes/evacuation.toml` empties through doors of different widths: a table, and a CSV file of
//! who is still inside if one is named.
//!
//!     cargo run --release -p gluey --example evacuation -- inside.csv

use std::error::Error;

use gluey::environment::crowd::{Exit, Turnstile};
use gluey::scene::Scene;

/// The room, with a door that is 1.2 wide and centred at (12, 5).
const ROOM: &str = include_str!("../../../scenes/evacuation.toml");
/// Widths of the door.
const WIDTHS: [f64; 3] = [0.9, 1.2, 1.8];
/// When a room is given up.
const LATEST: f64 = 400.0;
/// Time between two rows of the CSV file.
const BETWEEN_ROWS: f64 = 0.5;

struct Evacuation {
    width: f64,
    people: i64,
    turnstile: Turnstile,
    end: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs = WIDTHS.iter().map(|width| evacuate(*width)).collect::<Result<Vec<_>, _>>()?;
    println!("width  left  until  flux  per width  longest pause");
    for run in &runs {
        // The middle of the run: the crowd has reached the door, and is still a crowd.
        let (first, last) = (run.people / 10, run.people * 7 / 10);
        let times: Vec<f64> = (first..=last).filter_map(|n| run.turnstile.time_of(n)).collect();
        let span = times.last().zip(times.first()).map_or(f64::NAN, |(last, first)| last - first);
        let flux = (times.len() - 1) as f64 / span;
        let pause = times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        let left = run.turnstile.passed(0.0, run.end);
        println!("{:5.1}  {left:4}  {:5.1}  {flux:4.2}  {:9.2}  {pause:13.2}", run.width, run.end, flux / run.width);
    }
    match std::env::args().nth(1) {
        Some(path) => write(&runs, &path),
        None => Ok(()),
    }
}

/// Lets everybody out through a door of this width.
fn evacuate(width: f64) -> Result<Evacuation, Box<dyn Error>> {
    let (low, high) = (5.0 - 0.5 * width, 5.0 + 0.5 * width);
    // Walls are 0.2 thick, and their ends are round.
    let text = ROOM
        .replace("from = [12, 4.4], to = [12, 5.6]", &format!("from = [12, {low}], to = [12, {high}]"))
        .replace("to = [12, 4.3]", &format!("to = [12, {}]", low - 0.1))
        .replace("from = [12, 5.7]", &format!("from = [12, {}]", high + 0.1));
    let mut simulation = Scene::parse(&text, "evacuation.toml".as_ref())?.simulation;
    let exit = Exit { from: (12.0, low).into(), to: (12.0, high).into(), out: (1.0, 0.0).into() };
    let people = i64::try_from(simulation.state.particles.len())?;
    let mut turnstile = Turnstile::new(exit);
    while turnstile.passed(0.0, LATEST) < people && simulation.time() < LATEST {
        turnstile.look(simulation.time(), &simulation.state.particles);
        simulation.step()?;
    }
    Ok(Evacuation { width, people, turnstile, end: simulation.time() })
}

/// Rows of the time and of how many are inside, a column for each width.
fn write(runs: &[Evacuation], path: &str) -> Result<(), Box<dyn Error>> {
    let mut table = csv::Writer::from_path(path)?;
    let header = runs.iter().map(|run| format!("inside, door {} wide", run.width));
    table.write_record(std::iter::once("t".to_owned()).chain(header))?;
    let last = runs.iter().map(|run| run.end).fold(0.0, f64::max);
    for row in 0..=(last / BETWEEN_ROWS).ceil() as u32 {
        let time = BETWEEN_ROWS * f64::from(row);
        let inside = runs.iter().map(|run| (run.people - run.turnstile.passed(0.0, time)).to_string());
        table.write_record(std::iter::once(time.to_string()).chain(inside))?;
    }
    Ok(table.flush()?)
}
