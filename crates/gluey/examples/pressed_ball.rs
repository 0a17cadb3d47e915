//! A ball falls on a gluey floor, is pressed on it, is pulled and lets go when the pull has paid back all that pressed
//! it: the smallest simulation without a scene file, beside its exact solution.
//!
//!     cargo run --release -p gluey --example pressed_ball
//!
//! It starts at rest with gap 1 and mass 1. A force of −2 pushes it until t = 2, and one of 2 pulls it from then on:
//!
//! ```text
//! D = 1 − t², γ = 0  until it hits at t = 1 with velocity −2;   D = 0, γ = −2t  while it is pressed;
//! D = 0, γ = 2t − 8  while it is pulled;                        D = (t − 4)², γ = 0  from t = 4 on.
//! ```

use std::error::Error;
use std::fmt::Write;

use glam::DVec3;
use gluey::adhesion::{Adhesion, Law, Scaling, Threshold};
use gluey::environment::{Forcing, Inertial, Signal, Table};
use gluey::geometry::{Obstacle, Particles, Shape};
use gluey::simulation::{Settings, Simulation, State};

const RADIUS: f64 = 0.5;
/// Steps between two rows of the table.
const BETWEEN_ROWS: u64 = 40;

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report(0.01)?);
    Ok(())
}

/// The ball in steps of length dt until t = 5: a table of gap and γ, and how far they are from the exact solution.
pub fn report(dt: f64) -> Result<String, Box<dyn Error>> {
    let mut simulation = ball(dt)?;
    let mut text = "    t      D  exact      γ  exact\n".to_owned();
    let (mut error, mut deepest, mut glued_until) = (0.0_f64, 0.0_f64, 0.0);
    for step in 1..=(5.0 / dt).round() as u64 {
        simulation.step()?;
        let time = simulation.time();
        let gap = simulation.state.particles.position[0].z - RADIUS;
        let glue = simulation.state.contacts.first().map_or(0.0, |contact| contact.gamma);
        let (exact_gap, exact_glue) = exact(time);
        error = error.max((gap - exact_gap).abs());
        deepest = deepest.min(glue);
        if glue < 0.0 {
            glued_until = time;
        }
        if step.is_multiple_of(BETWEEN_ROWS) {
            writeln!(text, "{time:5.2} {gap:6.3} {exact_gap:6.3} {glue:6.3} {exact_glue:6.3}")?;
        }
    }
    writeln!(text, "largest error of D: {error:.3e} with dt = {dt}")?;
    writeln!(text, "deepest γ: {deepest:.6}, exact −4; glued until t = {glued_until:.6}, exact 4")?;
    Ok(text)
}

fn ball(dt: f64) -> Result<Simulation, Box<dyn Error>> {
    let mut particles = Particles::default();
    particles.push(DVec3::Z * (1.0 + RADIUS), RADIUS, 1.0);
    let floor = Obstacle {
        name: "floor".to_owned(),
        shape: Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Z },
        motions: Vec::new(),
        colour: None,
        roughness: 0.0,
    };
    // The ball has mass 1: an acceleration is a force.
    let push_and_pull = Signal::Steps(Table::new(vec![0.0, 2.0], vec![-2.0, 2.0])?);
    let gravity = [Signal::Constant(0.0), Signal::Constant(0.0), push_and_pull];
    let environment = Inertial::new(Forcing { gravity, ..Forcing::default() })?;
    let smooth = Law::Gluey { threshold: Threshold::Smooth, scaling: Scaling::Unit };
    let state = State { particles, ..State::default() };
    let mut simulation = Simulation::new(state, vec![floor], Box::new(environment), Adhesion::uniform(smooth));
    simulation.settings = Settings::new(dt);
    Ok(simulation)
}

/// D and γ at a time.
fn exact(t: f64) -> (f64, f64) {
    match t {
        ..1.0 => (1.0 - t * t, 0.0),
        ..2.0 => (0.0, -2.0 * t),
        ..4.0 => (0.0, 2.0 * t - 8.0),
        _ => ((t - 4.0).powi(2), 0.0),
    }
}
