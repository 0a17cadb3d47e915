//! Projections that sweeps stall on, from two hundred heaps: how they end.

use std::time::Duration;

use gluey::projection::{AcceleratedGaussSeidel, Criteria, Outcome, Projection, Solution, Status};

use crate::beds::Answer;
use crate::heaps::{Heap, heaps};
use crate::table::{self, Table, figure};
use crate::{Wishes, cpu, on_threads};

/// The hardest projection of so many steps is taken.
const STEPS: u32 = 60;
const MOST_FACTORISATIONS: f64 = 60.0;
const MOST_RATIO: f64 = 1e12;

/// How one ended.
struct Ending {
    heap: Heap,
    status: Status,
    factorisations: u64,
    residual: f64,
    time: Duration,
}

pub fn report(wishes: &Wishes) -> Answer<()> {
    let number = if wishes.quick { 40 } else { 200 };
    let endings: Vec<Ending> =
        heaps(number, &[50, 100, 200, 500, 1_000, 2_000], MOST_RATIO).into_iter().map(end).collect::<Answer<_>>()?;
    let mut bars = Table::new();
    let finished = endings.iter().filter(|ending| ending.factorisations > 0).count();
    bars.tell("problems, and of them finished by factorisation", format!("{number}, {finished}"));
    let open: Vec<&Ending> = endings.iter().filter(|ending| ending.status != Status::Converged).collect();
    bars.hold("problems that do not end at 1e-6", open.len() as f64, 0.0);
    let most = endings.iter().map(|ending| ending.factorisations).max().unwrap_or_default();
    bars.hold("most factorisations", most as f64, MOST_FACTORISATIONS);
    for (count, bar) in [(500, 1.0), (2_000, 10.0)] {
        let times = endings.iter().filter(|ending| ending.heap.count == count).map(|ending| ending.time);
        let slowest = times.max().unwrap_or_default().as_secs_f64();
        bars.hold(format!("seconds of one core, the slowest of {count} particles"), slowest, bar);
    }
    bars.print();
    let told = |ending: &&Ending| {
        let Ending { heap, residual, .. } = ending;
        [format!("{heap:?}"), figure(*residual)]
    };
    if !open.is_empty() {
        table::print(&["did not end", "residual"], &open.iter().map(told).collect::<Vec<_>>());
    }
    Ok(())
}

fn end(heap: Heap) -> Answer<Ending> {
    let (problem, start) = heap.hardest(STEPS)?;
    let mut solution = Solution::starting_from(start);
    let (outcome, time) = on_threads(1, || {
        Ok(cpu(|| AcceleratedGaussSeidel::default().solve(&problem, &Criteria::default(), &mut solution)))
    })?;
    let residual = outcome.accuracy.residual;
    let Outcome { status, factorisations, .. } = &outcome;
    eprintln!("{heap:?}: {status:?}, {residual:.1e}, {factorisations} factorisations, {:.2} s", time.as_secs_f64());
    Ok(Ending { heap, status: outcome.status, factorisations: outcome.factorisations, residual, time })
}
