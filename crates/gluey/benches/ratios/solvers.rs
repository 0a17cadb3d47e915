//! Solvers raced on the same problems, at the same accuracy, recomputed from their impulses.

use std::time::Duration;

use gluey::projection::{Criteria, Method, ProblemFile, Projection, Solution, Status};

use crate::beds::{self, Answer};
use crate::interior_point::Primal;
use crate::table::{self, Table, figure, milliseconds};
use crate::{Wishes, cpu, on_threads, ratio};

const TOLERANCE: f64 = 1e-6;
/// Reported and recomputed residuals agree this well, and so do products with those of reference implementations.
const AGREEMENT: f64 = 1.1;
/// Uzawa may need more than 10⁵ sweeps.
const PATIENCE: u64 = 150_000;
const QUICK_PATIENCE: u64 = 20_000;

/// What is known and asked of a problem, by the name of its file.
struct Bars {
    name: &'static str,
    /// Greatest ratios of CPU times, apgs to another.
    apgd: f64,
    uzawa: f64,
    clarabel: Option<f64>,
    /// Products that independent implementations of apgd and Uzawa took on the same file, so that nobody races a
    /// crippled baseline; none where even they gave up.
    products: Option<(u64, Option<u64>)>,
}

const BARS: [Bars; 8] = [
    Bars { name: "s3k_mid", apgd: 0.6, uzawa: 0.07, clarabel: Some(0.01), products: Some((365, Some(3_621))) },
    Bars { name: "s3k_gluerest", apgd: 0.5, uzawa: 0.03, clarabel: Some(0.01), products: Some((570, Some(17_303))) },
    Bars { name: "col2d_gluepull", apgd: 0.6, uzawa: 0.15, clarabel: None, products: Some((293, Some(3_478))) },
    Bars { name: "col2d_mid", apgd: 0.6, uzawa: 0.07, clarabel: None, products: Some((1_545, None)) },
    Bars { name: "spheres-collapsing", apgd: 0.6, uzawa: 0.07, clarabel: Some(0.01), products: None },
    Bars { name: "spheres-glued-at-rest", apgd: 0.5, uzawa: 0.03, clarabel: Some(0.01), products: None },
    Bars { name: "discs-glued-pulled", apgd: 0.6, uzawa: 0.15, clarabel: None, products: None },
    Bars { name: "discs-collapsing", apgd: 0.6, uzawa: 0.07, clarabel: None, products: None },
];

/// One solver on one problem.
struct Race {
    solver: &'static str,
    converged: bool,
    sweeps: Option<u64>,
    products: Option<u64>,
    time: Duration,
    /// Recomputed from the impulses, and as the solver says.
    residual: f64,
    reported: f64,
}

pub fn report(wishes: &Wishes) -> Answer<()> {
    let folder = match &wishes.problems {
        Some(folder) => folder.clone(),
        None => beds::problems()?,
    };
    let patience = if wishes.quick { QUICK_PATIENCE } else { PATIENCE };
    let (mut lines, mut bars) = (Vec::new(), Table::new());
    for (name, file) in beds::read_problems(&folder)? {
        let races = on_threads(1, || Ok(races(&file, patience)))?;
        lines.extend(races.iter().map(|race| race.line(&name)));
        compare(&name, &races, &mut bars);
    }
    table::print(&["problem", "solver", "sweeps", "products", "CPU time", "residual"], &lines);
    bars.print();
    Ok(())
}

fn races(file: &ProblemFile, patience: u64) -> Vec<Race> {
    let solvers = [(Method::Apgs, 9), (Method::Apgd, 5), (Method::Uzawa, 1)];
    let mut races: Vec<Race> = solvers
        .into_iter()
        .map(|(method, repeat)| race(file, (method.name(), &mut *method.solver()), (repeat, patience)))
        .collect();
    races.extend(interior_point(file));
    races
}

fn race(
    file: &ProblemFile,
    (name, solver): (&'static str, &mut dyn Projection),
    (repeat, patience): (u32, u64),
) -> Race {
    let criteria = Criteria { tolerance: TOLERANCE, max_sweeps: patience };
    let mut best = Duration::MAX;
    let mut run = || {
        let mut solution = Solution::starting_from(file.warm.clone());
        let (outcome, time) = cpu(|| solver.solve(&file.problem, &criteria, &mut solution));
        best = best.min(time);
        (outcome, solution.impulses)
    };
    let (outcome, impulses) = run();
    (1..repeat).for_each(|_| drop(run()));
    Race {
        solver: name,
        converged: outcome.status == Status::Converged,
        sweeps: Some(outcome.sweeps),
        products: Some(outcome.products),
        time: best,
        residual: file.problem.accuracy(&impulses).residual,
        reported: outcome.accuracy.residual,
    }
}

/// Clarabel at the loosest of its tolerances whose multipliers are accurate enough; its iterations alone are timed.
fn interior_point(file: &ProblemFile) -> Option<Race> {
    let problem = &file.problem;
    if problem.rows.iter().any(|row| row.set.is_free()) || problem.prediction.metric.inverse_mass().contains(&0.0) {
        return None;
    }
    (4..=13).find_map(|digits| {
        let mut primal = Primal::new(problem, 0.1_f64.powi(digits));
        let ((), time) = cpu(|| primal.solve());
        let residual = problem.accuracy(&primal.impulses()).residual;
        let race = Race {
            solver: "Clarabel",
            converged: true,
            sweeps: None,
            products: None,
            time,
            residual,
            reported: residual,
        };
        (residual <= TOLERANCE).then_some(race)
    })
}

impl Race {
    fn line(&self, problem: &str) -> [String; 6] {
        let count = |count: Option<u64>| match count {
            Some(count) if self.converged => count.to_string(),
            Some(count) => format!("> {count}"),
            None => String::new(),
        };
        let (sweeps, products) = (count(self.sweeps), count(self.products));
        let time = milliseconds(self.time);
        [problem.to_owned(), self.solver.to_owned(), sweeps, products, time, figure(self.residual)]
    }
}

fn compare(problem: &str, races: &[Race], table: &mut Table) {
    let bars = BARS.iter().find(|bars| bars.name == problem);
    let [apgs, others @ ..] = races else { return };
    for other in others {
        let quantity = format!("{problem}: CPU time apgs/{}", other.solver);
        let bar = bars.and_then(|bars| match other.solver {
            "apgd" => Some(bars.apgd),
            "uzawa" => Some(bars.uzawa),
            _ => bars.clarabel,
        });
        let value = if apgs.converged { ratio(apgs.time, other.time) } else { f64::INFINITY };
        match bar {
            Some(bar) if other.converged => table.hold(quantity, value, bar),
            Some(bar) => table.hold_bound(quantity, value, bar), // who gave up would have taken longer
            None => table.tell(quantity, figure(value)),
        }
    }
    let reference = bars.and_then(|bars| bars.products);
    for race in races {
        let expected = match race.solver {
            "apgd" => reference.map(|products| products.0),
            "uzawa" => reference.and_then(|products| products.1),
            _ => None,
        };
        if let (Some(products), Some(expected), true) = (race.products, expected, race.converged) {
            let quantity = format!("{problem}: products of {} / reference {expected}", race.solver);
            table.hold(quantity, products as f64 / expected as f64, AGREEMENT);
        }
    }
    let worst = races.iter().map(|race| race.residual / race.reported).fold(0.0, f64::max);
    table.hold(format!("{problem}: residual recomputed / reported"), worst, AGREEMENT);
}
