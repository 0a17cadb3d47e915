//! What a run has to say when it ends.

use std::fmt::Write as _;
use std::path::Path;

use gluey::logbook::Spent;
use gluey::openings::Amount;
use gluey::simulation::Timings;
use gluey::trajectory::{Format, OpenedBy};

use crate::progress::Way;
use crate::run::{Ending, Run};
use crate::words::{duration, number, shares, size};

/// The text that sums a run up.
pub fn of(run: &Run, ending: Ending, way: Way, until: Option<f64>) -> String {
    let (simulation, tally, folder) = (&run.scene.simulation, &run.tally, run.logbook.folder());
    let state = &simulation.state;
    let how = match ending {
        Ending::Finished if tally.steps == 0 => "nothing left to do",
        Ending::Finished => "done",
        Ending::Stopped(_) => "stopped",
    };
    let resumed = if way.first > 0 { format!(" (resumed at {})", way.first) } else { String::new() };
    let pace = tally.steps as f64 / run.logbook.elapsed().as_secs_f64().max(1e-9);
    let mut rows = vec![
        ("steps", format!("{} of {}{resumed}", state.step, way.last.max(state.step))),
        ("simulated time", number(simulation.time())),
        ("wall time", format!("{}, {pace:.0} steps a second", duration(run.logbook.elapsed()))),
        ("spent on", spent(run)),
        ("particles", state.particles.len().to_string()),
    ];
    rows.extend(passed(run));
    rows.extend([
        ("contacts", format!("{}, {} glued", tally.contacts, tally.glued)),
        ("sweeps", format!("{:.1} a step", tally.sweeps_per_step())),
        ("worst overlap", format!("{} of the smallest radius", size(tally.worst_overlap))),
        ("worst residual", format!("{} of the smallest radius", size(tally.worst_residual))),
        ("steps split", tally.split.to_string()),
        ("unconverged", tally.unconverged.to_string()),
        ("frames", run.logbook.frames().to_string()),
    ]);
    let changes =
        run.watch.changes.iter().map(|change| {
            ("changed by hand", format!("{} = {} at t = {}", change.key, change.value, number(change.time)))
        });
    let mut text = format!("{}: {how}\n", run.scene.name);
    for (name, figure) in rows.into_iter().chain(changes) {
        let _ = writeln!(text, "  {name:<15} {figure}"); // writing to a string cannot fail
    }
    text.push_str(&how_to_look(run, folder));
    if let Ending::Stopped(_) = ending {
        let _ = writeln!(text, "\nGo on with\n  {}", resume_command(folder, until));
    }
    text
}

/// What has passed each opening since the start of the run.
fn passed(run: &Run) -> Vec<(&'static str, String)> {
    let (openings, ledger) = (&run.scene.simulation.openings, &run.scene.simulation.state.ledger);
    let inlets = openings.inlets.iter().zip(&ledger.inlets);
    let outlets = openings.outlets.iter().zip(&ledger.outlets);
    let told = |name: &str, amount: &Amount| format!("{} by `{name}`, mass {}", amount.number, number(amount.mass));
    let mut rows: Vec<_> = inlets.map(|(inlet, entered)| ("entered", told(&inlet.name, &entered.amount))).collect();
    rows.extend(outlets.map(|(outlet, left)| ("left", told(&outlet.name, left))));
    if !openings.inlets.is_empty() {
        rows.push(("waiting", run.tally.traffic.waiting.to_string()));
    }
    rows
}

fn spent(run: &Run) -> String {
    let Spent { steps, write } = run.logbook.spent(&run.scene.simulation);
    let Timings { predict, search, project, glue, advance } = steps;
    let parts = [predict, search, project, glue, advance, write].map(|time| time.as_secs_f64());
    let names = ["prediction", "search", "projection", "glue", "moves", "writing"];
    let parts: Vec<(&str, f64)> = names.into_iter().zip(parts).collect();
    shares(&parts, run.logbook.elapsed().as_secs_f64())
}

fn how_to_look(run: &Run, folder: &Path) -> String {
    let shown = folder.display();
    let mut text = format!("\nResults are in {shown}\n");
    let without_obstacles = run.scene.simulation.obstacles.is_empty();
    for OpenedBy { program, files } in run.scene.output.formats.iter().filter_map(Format::opened_by) {
        let there = files.iter().filter(|file| **file != "obstacles.pvd" || !without_obstacles);
        let _ = writeln!(text, "  {program:<15} open {}", there.copied().collect::<Vec<_>>().join(", "));
    }
    let _ = writeln!(text, "  a page          `gluey view {shown}`");
    let _ = writeln!(text, "  figures         series.csv; `gluey info {shown}`");
    text
}

/// The command that goes on with a run.
pub fn resume_command(folder: &Path, until: Option<f64>) -> String {
    let until = until.map_or_else(String::new, |until| format!(" --until {until}"));
    format!("gluey run --resume --out {}{until}", folder.display())
}
