//! `gluey project`: solves a projection problem from a file, so that solvers can be raced.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use gluey::projection::{
    Accuracy, Criteria, LeastNorm, LeastNormOutcome, Outcome, ProblemFile, Projection, Solution, Status,
};
use serde_json::json;

use crate::Answer;
use crate::arguments::{Impulses, ProjectArguments};
use crate::words::size;

/// One solver's result on one problem.
struct Race {
    outcome: Outcome,
    /// Recomputed from the multipliers alone, by none of the solver's code.
    accuracy: Accuracy,
    multipliers: Vec<f64>,
    /// CPU times, the best of the repetitions.
    setup: Duration,
    solve: Duration,
    /// What the rule for the impulses did, and its CPU time.
    rule: Option<(LeastNormOutcome, Duration)>,
}

/// Solves the problem and tells how it went.
pub fn project(wishes: &ProjectArguments) -> Result<Answer> {
    let path = &wishes.file;
    let open = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let file = ProblemFile::read(BufReader::new(open)).with_context(|| path.display().to_string())?;
    let race = race(&file, wishes);
    if let Some(out) = &wishes.multipliers {
        write_multipliers(out, &race.multipliers)?;
    }
    let text = if wishes.json { json_text(&file, wishes, &race) } else { plain_text(&file, wishes, &race) };
    Ok(Answer { text, code: u8::from(race.outcome.status != Status::Converged) })
}

fn race(file: &ProblemFile, wishes: &ProjectArguments) -> Race {
    let criteria = Criteria { tolerance: wishes.tolerance, max_sweeps: wishes.max_sweeps };
    let start = if wishes.cold { vec![0.0; file.warm.len()] } else { file.warm.clone() };
    let rule = wishes.impulses == Impulses::LeastNorm;
    let mut best: Option<Race> = None;
    for _ in 0..wishes.repeat {
        let mut solver = wishes.solver.solver();
        // No sweep at all costs what every solve costs before its first: that is the setup. The first time it also
        // makes room in memory, which a run does once.
        let unswept = Criteria { max_sweeps: 0, ..criteria };
        timed(&mut *solver, file, (&unswept, &start));
        let (_, _, setup) = timed(&mut *solver, file, (&unswept, &start));
        let (outcome, mut solution, whole) = timed(&mut *solver, file, (&criteria, &start));
        let solve = whole.saturating_sub(setup);
        let rule = rule.then(|| least_norm(file, &criteria, &mut solution));
        let multipliers = solution.impulses;
        let accuracy = file.problem.accuracy(&multipliers);
        if best.as_ref().is_none_or(|best| solve < best.solve) {
            let setup = best.as_ref().map_or(setup, |best| best.setup.min(setup));
            best = Some(Race { outcome, accuracy, multipliers, setup, solve, rule });
        }
    }
    best.unwrap_or_else(|| unreachable!("the number of repetitions is at least 1"))
}

fn timed(
    solver: &mut dyn Projection,
    file: &ProblemFile,
    (criteria, start): (&Criteria, &[f64]),
) -> (Outcome, Solution, Duration) {
    let mut solution = Solution::starting_from(start.to_vec());
    let before = ProcessTime::now();
    let outcome = solver.solve(&file.problem, criteria, &mut solution);
    (outcome, solution, before.elapsed())
}

/// The impulses of the rule instead of those found, from no guess.
fn least_norm(file: &ProblemFile, criteria: &Criteria, solution: &mut Solution) -> (LeastNormOutcome, Duration) {
    let mut least_norm_dual = Vec::new();
    let before = ProcessTime::now();
    let done = LeastNorm::default().apply(&file.problem, criteria, solution, &mut least_norm_dual);
    (done, before.elapsed())
}

fn write_multipliers(path: &Path, multipliers: &[f64]) -> Result<()> {
    let bytes: Vec<u8> = multipliers.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn json_text(file: &ProblemFile, wishes: &ProjectArguments, race: &Race) -> String {
    let mut value = json!({
        "solver": wishes.solver.name(),
        "bodies": file.problem.bodies(),
        "contacts": file.problem.rows.len(),
        "setup_seconds": race.setup.as_secs_f64(),
        "solve_seconds": race.solve.as_secs_f64(),
        "sweeps": race.outcome.sweeps,
        "products": race.outcome.products,
        "factorisations": race.outcome.factorisations,
        "residual": race.accuracy.residual,
        "violation": race.accuracy.violation,
        "converged": race.outcome.status == Status::Converged,
        "status": ending(&race.outcome.status),
    });
    if let Some((done, time)) = &race.rule {
        value["least_norm"] = json!({
            "contacts": done.rows,
            "products": done.products,
            "share": done.share,
            "seconds": time.as_secs_f64(),
        });
    }
    format!("{value:#}\n")
}

fn plain_text(file: &ProblemFile, wishes: &ProjectArguments, race: &Race) -> String {
    let milliseconds = |time: Duration| format!("{:.2} ms", 1e3 * time.as_secs_f64());
    let start = if wishes.cold { "from zero" } else { "from the file's start" };
    let Outcome { status, sweeps, products, factorisations, .. } = &race.outcome;
    let rule = race.rule.as_ref().map_or_else(String::new, |(done, time)| {
        let LeastNormOutcome { rows, products, share, .. } = done;
        let all = if *share < 1.0 { format!(", {share:.3} of the way") } else { String::new() };
        format!("  least norm  {rows} contacts with self-stress, {products} products, {}{all}\n", milliseconds(*time))
    });
    let finish = if *factorisations > 0 { format!(", and {factorisations} factorisations") } else { String::new() };
    format!(
        "{}: {} bodies, {} contacts\n  \
         solver      {}, {start}\n  \
         ending      {}\n  \
         sweeps      {sweeps}, of {products} products in all{finish}\n  \
         residual    {} (tolerance {}), recomputed from the multipliers\n  \
         violation   {} of the length scale\n  \
         CPU time    setup {}, solve {}, the best of {}\n{rule}",
        wishes.file.display(),
        file.problem.bodies(),
        file.problem.rows.len(),
        wishes.solver.name(),
        ending(status),
        size(race.accuracy.residual),
        size(wishes.tolerance),
        size(race.accuracy.violation),
        milliseconds(race.setup),
        milliseconds(race.solve),
        wishes.repeat,
    )
}

fn ending(status: &Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::SweepLimit => "met the limit on sweeps",
        Status::Stalled => "stalled",
        Status::Infeasible(_) => "no velocity is admissible",
    }
}
