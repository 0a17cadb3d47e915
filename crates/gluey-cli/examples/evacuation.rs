//! How fast a room empties through doors of different widths: a table, and a figure if a file is named.
//!
//!     cargo run --release -p gluey-cli --example evacuation -- evacuation-flux.png

use anyhow::{Context, Result};
use gluey::environment::crowd::{Exit, Turnstile};
use gluey::scene::Scene;
use gluey_plot::{Axis, Curve, Figure, Mark, Panel, Pen};

/// The room whose door is 1.2 wide, centred at (12, 5).
const ROOM: &str = include_str!("../../../scenes/evacuation.toml");
/// Widths of the door.
const WIDTHS: [f64; 3] = [0.9, 1.2, 1.8];
/// The flux is that of a window of time this long, and of the middle of the crowd for the mean.
const WINDOW: f64 = 4.0;

struct Evacuation {
    width: f64,
    people: i64,
    turnstile: Turnstile,
    end: f64,
}

fn main() -> Result<()> {
    let runs = WIDTHS.iter().map(|width| evacuate(*width)).collect::<Result<Vec<_>>>()?;
    println!("width  last out  mean flux  per width  longest pause");
    for run in &runs {
        let (from, to) = (run.people / 10, run.people * 7 / 10);
        let time = |n| run.turnstile.time_of(n).context("too few people left");
        let flux = (to - from) as f64 / (time(to)? - time(from)?);
        let times = (from..=to).map(time).collect::<Result<Vec<_>>>()?;
        let pause = times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        println!("{:5.1}  {:8.1}  {flux:9.2}  {:9.2}  {pause:13.2}", run.width, run.end, flux / run.width);
    }
    match std::env::args().nth(1) {
        Some(path) => std::fs::write(&path, figure(&runs).png()?).with_context(|| format!("cannot write {path}")),
        None => Ok(()),
    }
}

/// Lets everybody out through a door of this width.
fn evacuate(width: f64) -> Result<Evacuation> {
    let (low, high) = (5.0 - 0.5 * width, 5.0 + 0.5 * width);
    // Walls are 0.2 thick, and their ends are round.
    let text = ROOM
        .replace("from = [12, 4.4], to = [12, 5.6]", &format!("from = [12, {low}], to = [12, {high}]"))
        .replace("to = [12, 4.3]", &format!("to = [12, {}]", low - 0.1))
        .replace("from = [12, 5.7]", &format!("from = [12, {}]", high + 0.1));
    let mut simulation = Scene::parse(&text, "evacuation.toml".as_ref())?.simulation;
    let exit = Exit { from: (12.0, low).into(), to: (12.0, high).into(), out: (1.0, 0.0).into() };
    let people = simulation.state.particles.len() as i64;
    let mut turnstile = Turnstile::new(exit);
    while turnstile.passed(0.0, f64::INFINITY) < people && simulation.time() < 600.0 {
        turnstile.look(simulation.time(), &simulation.state.particles.position);
        simulation.step()?;
    }
    Ok(Evacuation { width, people, turnstile, end: simulation.time() })
}

fn figure(runs: &[Evacuation]) -> Figure {
    let pen = |colour| Pen { colour, mark: Mark::Solid };
    let name = |run: &Evacuation| format!("door {} wide", run.width);
    let last = runs.iter().map(|run| run.end).fold(0.0, f64::max);
    let times = |end: f64| (0..=(2.0 * end).ceil() as u32).map(|k| 0.5 * f64::from(k));
    let inside = runs.iter().enumerate().map(|(k, run)| {
        Curve::new(name(run), pen(k), times(run.end).map(|t| (t, (run.people - run.turnstile.passed(0.0, t)) as f64)))
    });
    let flux = runs.iter().enumerate().map(|(k, run)| {
        let centred = |t: f64| (t, run.turnstile.flux(t - 0.5 * WINDOW, t + 0.5 * WINDOW));
        Curve::new(name(run), pen(k), times(run.end).filter(|t| *t >= 0.5 * WINDOW).map(centred))
    });
    let axis = || Axis::linear("time t").within(0.0, last);
    let panel = |label: &str, curves: Vec<Curve>| Panel { x: axis(), y: Axis::linear(label), curves, notes: Vec::new() };
    Figure {
        title: "A room empties through one door".to_owned(),
        panels: vec![panel("people inside", inside.collect()), panel("flux through the door (people / time)", flux.collect())],
    }
}
