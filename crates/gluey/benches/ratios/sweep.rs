//! What a contact costs in a sweep, against what memory could deliver in the same process.

use std::hint::black_box;
use std::time::Duration;

use gluey::projection::{AcceleratedGaussSeidel, Criteria, ProblemFile, Projection, Solution};

use crate::beds::{Answer, Bed};
use crate::table::{self, Table, figure};
use crate::{Wishes, cpu, on_threads};

/// Bytes of a contact that a sweep streams: its row, two bodies and two impulses.
const BYTES_A_CONTACT: f64 = 80.0;
/// Bytes of an element of the triad a = b + s c.
const BYTES_AN_ELEMENT: f64 = 24.0;
/// Elements of an array well beyond the caches of any processor.
const BEYOND_CACHE: usize = 16 << 20;
/// A sweep is the difference of solves of these lengths: what comes before the first cancels.
pub const SWEEPS: [u64; 2] = [80, 400];
const BAR: f64 = 1.1;
/// Above this many spheres the problem is beyond the cache and the figure is only reported.
const HELD_UP_TO: usize = 30_000;
const REPEAT: usize = 5;

pub fn report(wishes: &Wishes) -> Answer<()> {
    let counts: &[usize] =
        if wishes.quick { &[1_000, 3_000, 10_000] } else { &[1_000, 3_000, 10_000, 30_000, 100_000] };
    let (mut lines, mut bars) = (Vec::new(), Table::new());
    for &count in counts {
        let bed = Bed::of_height(count, 25.0, 1e-4);
        let (contacts, time, far, near) = on_threads(1, || {
            let file = bed.problem()?;
            let contacts = file.problem.rows.len();
            let elements = (contacts as f64 * BYTES_A_CONTACT / BYTES_AN_ELEMENT) as usize;
            // In turn, so that a slower moment of the machine meets both.
            let (mut times, mut far, mut near) = ([f64::INFINITY; 2], 0.0_f64, 0.0_f64);
            for _ in 0..REPEAT {
                far = far.max(bandwidth(BEYOND_CACHE));
                near = near.max(bandwidth(elements));
                for (time, sweeps) in times.iter_mut().zip(SWEEPS) {
                    *time = time.min(time_of_solve(&file, sweeps));
                }
            }
            let time = (times[1] - times[0]) / ((SWEEPS[1] - SWEEPS[0]) * contacts as u64) as f64;
            Ok((contacts, time, far, near))
        })?;
        let against = |bandwidth: f64| time / (BYTES_A_CONTACT / bandwidth);
        let speed = |bandwidth: f64| format!("{:.1} GB/s", 1e-9 * bandwidth);
        lines.push([
            count.to_string(),
            contacts.to_string(),
            format!("{} ns", figure(1e9 * time)),
            speed(far),
            figure(against(far)),
            speed(near),
            figure(against(near)),
        ]);
        if count <= HELD_UP_TO {
            bars.hold(format!("{count} spheres: time / (80 B / bandwidth beyond the cache)"), against(far), BAR);
        }
    }
    let head = ["spheres", "contacts", "a contact and sweep", "triad beyond cache", "ratio", "same size", "ratio"];
    table::print(&head, &lines);
    bars.print();
    Ok(())
}

/// CPU time of a solve of so many sweeps (seconds).
pub fn time_of_solve(file: &ProblemFile, max_sweeps: u64) -> f64 {
    let mut solution = Solution::starting_from(file.warm.clone());
    let criteria = Criteria { tolerance: 0.0, max_sweeps };
    let mut solver = AcceleratedGaussSeidel::default();
    cpu(|| solver.solve(&file.problem, &criteria, &mut solution)).1.as_secs_f64()
}

/// Bytes a second of the triad a = b + s c over arrays of so many elements.
fn bandwidth(elements: usize) -> f64 {
    let mut a: Vec<f64> = (0..elements).map(|k| k as f64).collect();
    let (b, c) = (a.clone(), a.clone());
    let passes = (BEYOND_CACHE / elements).max(1);
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let ((), time) = cpu(|| {
            for pass in 0..passes {
                triad(black_box(&mut a), black_box((&b, &c)), black_box(pass as f64));
            }
        });
        best = best.min(time);
    }
    BYTES_AN_ELEMENT * (passes * elements) as f64 / best.as_secs_f64()
}

#[inline(never)]
fn triad(a: &mut [f64], (b, c): (&[f64], &[f64]), s: f64) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + s * c;
    }
}
