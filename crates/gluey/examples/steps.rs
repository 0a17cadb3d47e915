//! The CPU time of steps of a scene in the plainest loop, for `python/benchmarks/step.py` to compare with.
//!
//!     RAYON_NUM_THREADS=1 cargo run --release -p gluey --example steps -- scenes/funnel.toml 20 100

use std::error::Error;
use std::fs;

use cpu_time::ProcessTime;
use gluey::logbook::before_the_first_step;
use gluey::scene::Scene;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, before, steps] = arguments.as_slice() else {
        return Err("expected a scene, steps to take first, and steps to time".into());
    };
    let (before, steps): (u64, u64) = (before.parse()?, steps.parse()?);
    let mut simulation = Scene::parse(&fs::read_to_string(path)?, path.as_ref())?.simulation;
    let mut report = before_the_first_step();
    for _ in 0..before {
        simulation.step_into(&mut report)?;
    }
    let start = ProcessTime::now();
    for _ in 0..steps {
        simulation.step_into(&mut report)?;
    }
    println!("{}", start.elapsed().as_secs_f64());
    Ok(())
}
