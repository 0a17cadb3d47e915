//! Plain spheres against the same spheres, each held as a clump of its own: what does not turn should not pay for
//! turning, and what turns not much more than for the numbers that it has.

use std::time::Duration;

use glam::{DQuat, DVec3};
use gluey::clump::{Clumps, Start, Template};
use gluey::geometry::Particles;
use gluey::morton;
use gluey::projection::ProblemFile;
use gluey::simulation::{Simulation, State};

use crate::beds::{Answer, Bed};
use crate::sweep::{SWEEPS, time_of_solve};
use crate::table::{self, Table, figure, milliseconds};
use crate::{Wishes, cpu, on_threads, ratio};

const TOLERANCE: f64 = 1e-4;
/// A row of bodies that turn has 96 bytes where that of spheres has 32, a body 64 where a sphere has 32, and a spin beside the
/// velocity.
const TURNING: f64 = 2.5;
const HEIGHT: f64 = 25.0;
const STEPS: u32 = 20;
const REPEAT: usize = 3;

/// How spheres are kept.
#[derive(Clone, Copy)]
enum Kind {
    Plain,
    ClumpsOfOne,
}

/// What was measured of one kind, the best of some repetitions.
struct Measured {
    step: Duration,
    sweeps: f64,
    contacts: usize,
    /// A contact in a sweep (seconds).
    contact: f64,
}

pub fn report(wishes: &Wishes) -> Answer<()> {
    let counts: &[usize] = if wishes.quick { &[3_000] } else { &[3_000, 10_000] };
    let (mut lines, mut bars) = (Vec::new(), Table::new());
    for &count in counts {
        let bed = Bed::of_height(count, HEIGHT, TOLERANCE);
        let mut best: [Option<Measured>; 2] = [None, None];
        // In turn, so that a slower moment of the machine meets both.
        for _ in 0..REPEAT {
            for (best, kind) in best.iter_mut().zip([Kind::Plain, Kind::ClumpsOfOne]) {
                let now = on_threads(1, || measure(&bed, kind))?;
                *best = Some(match best.take() {
                    None => now,
                    Some(old) => {
                        Measured { step: old.step.min(now.step), contact: old.contact.min(now.contact), ..now }
                    }
                });
            }
        }
        let [Some(plain), Some(held)] = best else { return Err("nothing was measured".into()) };
        for (name, of) in [("plain", &plain), ("clumps of one", &held)] {
            lines.push([
                count.to_string(),
                name.to_owned(),
                milliseconds(of.step / STEPS),
                figure(of.sweeps),
                of.contacts.to_string(),
                format!("{} ns", figure(1e9 * of.contact)),
            ]);
        }
        bars.hold(format!("{count} spheres: step, plain / clumps of one"), ratio(plain.step, held.step), 1.0);
        bars.hold(format!("{count} spheres: a contact and sweep, the same"), plain.contact / held.contact, 1.0);
        let dearer = held.contact / plain.contact;
        bars.hold(format!("{count} spheres: a contact and sweep, clumps of one / plain"), dearer, TURNING);
    }
    let head = ["spheres", "as", "CPU time of a step", "sweeps", "contacts", "a contact and sweep"];
    table::print(&head, &lines);
    bars.print();
    Ok(())
}

fn measure(bed: &Bed, kind: Kind) -> Answer<Measured> {
    let mut simulation = bed.at_rest()?;
    match kind {
        Kind::Plain => {}
        Kind::ClumpsOfOne => simulation.state = held(&simulation.state)?,
    }
    simulation.step()?; // allocates
    let (sweeps, step) = cpu(|| (0..STEPS).map(|_| Ok(simulation.step()?.sweeps)).sum::<Answer<u64>>());
    let problem = problem(&mut simulation)?;
    let [few, many] = SWEEPS.map(|sweeps| time_of_solve(&problem, sweeps));
    let contacts = problem.problem.rows.len();
    let contact = (many - few) / ((SWEEPS[1] - SWEEPS[0]) * contacts as u64) as f64;
    Ok(Measured { step, sweeps: sweeps? as f64 / f64::from(STEPS), contacts, contact })
}

fn problem(simulation: &mut Simulation) -> Answer<ProblemFile> {
    let mut file = simulation.step_with_problem(3)?.1;
    file.problem.order = morton::order(&file.position);
    Ok(file)
}

/// The same state, in which each sphere is a clump.
fn held(state: &State) -> Answer<State> {
    let (mut particles, mut clumps) =
        (Particles { cell: state.particles.cell, ..Particles::default() }, Clumps::default());
    let of = &state.particles;
    for i in 0..of.len() {
        let template = Template::of_mass(&[(DVec3::ZERO, of.radius[i])], of.mass[i], false)?;
        let start =
            Start { centre: of.position[i], orientation: DQuat::IDENTITY, velocity: of.velocity[i], spin: DVec3::ZERO };
        clumps.push(&template, &start, of.group[i], &mut particles);
    }
    Ok(State { particles, clumps, ..state.clone() })
}
