//! Ratios that the solver and the step are held to, all measured in one run on one machine.
//!
//!     cargo bench -p gluey --bench ratios -- [--problems FOLDER] [--million] [--quick] [--only SECTION…]
//!
//! It is a report: figures above their bars do not make it fail.

#[path = "../beds/mod.rs"]
mod beds;
mod clumps;
#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/common/stubborn.rs"]
mod heaps;
#[path = "../../tests/common/interior_point.rs"]
mod interior_point;
mod solvers;
mod steps;
mod stubborn;
mod sweep;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use beds::Answer;
use cpu_time::ProcessTime;

/// What the command line asks for.
#[derive(Default)]
struct Wishes {
    /// Problem files to race on instead of those of the generator.
    problems: Option<PathBuf>,
    million: bool,
    quick: bool,
    only: Vec<String>,
}

type Section = fn(&Wishes) -> Answer<()>;

/// Each with its name and title.
const SECTIONS: [(&str, &str, Section); 7] = [
    ("solvers", "Solvers, to a residual of 1e-6 from the previous step's impulses", solvers::report),
    ("stubborn", "Projections that sweeps stall on", stubborn::report),
    ("sweep", "A sweep against the bandwidth of memory", sweep::report),
    ("growth", "Growth with the number of spheres", steps::growth),
    ("threads", "Two threads against one", steps::threads),
    ("outside", "The step outside the projection", steps::outside),
    ("clumps", "Plain spheres against the same spheres as clumps of one", clumps::report),
];

fn main() -> Answer<()> {
    let wishes = wishes()?;
    for (name, title, section) in SECTIONS {
        if wishes.only.is_empty() || wishes.only.iter().any(|only| only == name) {
            println!("## {name}: {title}\n");
            section(&wishes)?;
        }
    }
    Ok(())
}

fn wishes() -> Answer<Wishes> {
    let mut wishes = Wishes::default();
    let mut arguments = std::env::args().skip(1).peekable();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--problems" => wishes.problems = Some(arguments.next().ok_or("--problems needs a folder")?.into()),
            "--million" => wishes.million = true,
            "--quick" => wishes.quick = true,
            "--only" => {
                while let Some(name) = arguments.next_if(|word| !word.starts_with("--")) {
                    if !SECTIONS.iter().any(|section| section.0 == name) {
                        return Err(format!("there is no section {name}").into());
                    }
                    wishes.only.push(name);
                }
            }
            "--bench" => {} // from cargo
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    Ok(wishes)
}

/// Runs on so many threads.
fn on_threads<T: Send>(count: usize, work: impl FnOnce() -> Answer<T> + Send) -> Answer<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build()?;
    // Errors need not be able to leave their thread; their words are.
    Ok(pool.install(|| work().map_err(|error| error.to_string()))?)
}

/// CPU time of the whole process, which other processes disturb least.
fn cpu<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = ProcessTime::now();
    let result = work();
    (result, start.elapsed())
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
