//! Whole steps: how they grow, what threads bring, and what is not the projection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use glam::DVec3;
use gluey::projection::{AcceleratedGaussSeidel, Criteria, Outcome, Problem, Projection, Solution};
use gluey::simulation::{Simulation, State};

use crate::beds::{Answer, Bed};
use crate::table::{self, Table, figure, milliseconds};
use crate::{Wishes, cpu, on_threads, ratio};
use gluey::plane::studies::order as slope;

const TOLERANCE: f64 = 1e-4;
/// Height of a bed in a widening box, in diameters.
const HEIGHT: f64 = 25.0;
/// Smaller beds are mostly walls: they are shown, and their times do not count in the exponent.
const GROWS_FROM: usize = 3_000;
/// Small beds differ: means are over as many as have so many spheres together,
const ENOUGH: usize = 30_000;
/// but no more than this.
const MOST_BEDS: usize = 6;
/// Steps over which means are taken: sweeps vary from step to step.
const STEPS: u32 = 20;
/// How often these are repeated, from the same start; the least time counts.
const REPEATED: u32 = 3;
/// There and back, of a line of memory between two cores.
const HANDOVERS: u64 = 300_000;

/// Takes steps; their number of sweeps.
fn advance(simulation: &mut Simulation, steps: u32) -> Answer<u64> {
    (0..steps).map(|_| Ok(simulation.step()?.sweeps)).sum()
}

pub fn growth(wishes: &Wishes) -> Answer<()> {
    let mut counts = vec![1_000, 3_000, 10_000];
    if !wishes.quick {
        counts.extend([30_000, 100_000]);
    }
    if wishes.million {
        counts.push(1_000_000);
    }
    let (mut lines, mut bars) = (Vec::new(), Table::new());
    let flat = |count| Bed::of_height(count, HEIGHT, TOLERANCE);
    let cube = |count| Bed::cube(count, TOLERANCE);
    let kinds: [(_, &dyn Fn(usize) -> Bed); 2] = [("25 diameters high", &flat), ("as high as wide", &cube)];
    for (name, bed) in kinds {
        let (mut sizes, mut times) = (Vec::new(), Vec::new());
        for &count in &counts {
            let beds = (ENOUGH / count).clamp(1, MOST_BEDS) as u32;
            let (mut sweeps, mut time) = (0, Duration::ZERO);
            for which in 0..beds {
                let bed = bed(count).another(which.into());
                let mut best = Duration::MAX;
                let mut once = || {
                    let mut simulation = bed.at_rest()?;
                    advance(&mut simulation, 1)?; // lists and memory are made in the first step
                    let (sweeps, taken) = cpu(|| advance(&mut simulation, STEPS));
                    best = best.min(taken);
                    sweeps
                };
                sweeps += on_threads(1, || (1..REPEATED).try_fold(once()?, |_, _| once()))?;
                time += best / beds;
            }
            let sweeps = figure(sweeps as f64 / f64::from(STEPS * beds));
            let row = [name.to_owned(), count.to_string(), beds.to_string(), milliseconds(time / STEPS), sweeps];
            lines.push(row);
            if count >= GROWS_FROM {
                sizes.push(count as f64);
                times.push(time.as_secs_f64());
            }
        }
        let exponent = slope(&sizes, &times);
        match name {
            "25 diameters high" => bars.hold(format!("{name}: exponent of the time of a step"), exponent, 1.1),
            _ => bars.tell(format!("{name}: exponent of the time of a step"), figure(exponent)),
        }
    }
    let sweeps = on_threads(1, || {
        let bed = Bed::of_height(10_000, 30.0, Criteria::default().tolerance);
        advance(&mut bed.at_rest()?, STEPS)
    })?;
    bars.hold("10000 spheres, 30 diameters high: sweeps to 1e-6", sweeps as f64 / f64::from(STEPS), 300.0);
    table::print(&["bed at rest", "spheres", "beds", "CPU time of a step", "sweeps"], &lines);
    bars.print();
    Ok(())
}

pub fn threads(wishes: &Wishes) -> Answer<()> {
    let counts: &[usize] = if wishes.quick { &[10_000] } else { &[30_000, 100_000] };
    let (mut lines, mut bars) = (Vec::new(), Table::new());
    for &count in counts {
        let bed = Bed::of_height(count, HEIGHT, TOLERANCE);
        let run = |threads: usize| {
            on_threads(threads, || {
                let mut simulation = bed.at_rest()?;
                let start = Instant::now();
                advance(&mut simulation, STEPS)?;
                Ok((start.elapsed(), bits(&simulation.state)))
            })
        };
        // In turn, so that a slower moment of the machine meets both.
        let (mut best, mut same) = ([Duration::MAX; 2], true);
        for _ in 0..2 {
            let ((one, bits_of_one), (two, bits_of_two)) = (run(1)?, run(2)?);
            best = [best[0].min(one), best[1].min(two)];
            same &= bits_of_one == bits_of_two;
        }
        let two = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let there = if two { format!("{:.0} ns", handover().as_secs_f64() * 1e9) } else { "one core".to_owned() };
        lines.push([count.to_string(), milliseconds(best[0] / STEPS), milliseconds(best[1] / STEPS), there]);
        bars.hold(format!("{count} spheres: wall time, 2 threads / 1 thread"), ratio(best[1], best[0]), 0.6);
        bars.hold(format!("{count} spheres: runs whose bits differ"), f64::from(u8::from(!same)), 0.0);
    }
    table::print(&["spheres", "step, 1 thread", "step, 2 threads", "core to core"], &lines);
    bars.print();
    Ok(())
}

/// The time in which a core sees what another has written: about 30 ns where they share a cache, 150 and more where
/// they do not, and on a virtual machine that may change within seconds.
fn handover() -> Duration {
    let ball = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..HANDOVERS {
                while ball.load(Ordering::Acquire) != 2 * turn + 1 {}
                ball.store(2 * turn + 2, Ordering::Release);
            }
        });
        let start = Instant::now();
        for turn in 0..HANDOVERS {
            ball.store(2 * turn + 1, Ordering::Release);
            while ball.load(Ordering::Acquire) != 2 * turn + 2 {}
        }
        start.elapsed() / (2 * HANDOVERS) as u32
    })
}

/// All that the next step reads, to the bit.
fn bits(state: &State) -> Vec<u64> {
    let vectors = state.particles.position.iter().chain(&state.particles.velocity).flat_map(DVec3::to_array);
    let contacts = state.contacts.iter().flat_map(|contact| [contact.gamma, contact.impulse]);
    vectors.chain(contacts).map(f64::to_bits).collect()
}

/// A solver that counts the CPU time it takes.
struct Timed {
    inner: AcceleratedGaussSeidel,
    nanoseconds: Arc<AtomicU64>,
}

impl Projection for Timed {
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, solution: &mut Solution) -> Outcome {
        let (outcome, time) = cpu(|| self.inner.solve(problem, criteria, solution));
        self.nanoseconds.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        outcome
    }
}

pub fn outside(_: &Wishes) -> Answer<()> {
    let (step, projection) = on_threads(1, || {
        let mut simulation = Bed::of_height(10_000, HEIGHT, TOLERANCE).at_rest()?;
        let nanoseconds = Arc::new(AtomicU64::new(0));
        let inner = AcceleratedGaussSeidel::default();
        simulation.solver = Box::new(Timed { inner, nanoseconds: Arc::clone(&nanoseconds) });
        advance(&mut simulation, 1)?; // allocates
        nanoseconds.store(0, Ordering::Relaxed);
        let (sweeps, step) = cpu(|| advance(&mut simulation, STEPS));
        sweeps?;
        Ok((step, Duration::from_nanos(nanoseconds.load(Ordering::Relaxed))))
    })?;
    let mut bars = Table::new();
    bars.tell("10000 spheres at rest: CPU time of a step", milliseconds(step / STEPS));
    bars.tell("of it, projection", milliseconds(projection / STEPS));
    bars.hold("share of a step outside the projection", 1.0 - ratio(projection, step), 0.25);
    bars.print();
    Ok(())
}
