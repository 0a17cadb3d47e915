//! Many particles in a viscous fluid: known mobilities, the projection in their metric, and what a cloud does.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod cloud;
mod contact;
mod dense;
mod hindered;
mod metric;
mod tensor;

use common::simulation;
use glam::DVec3;
use gluey::adhesion::Law;
use gluey::environment::{Drag, Forcing, Overdamped, Signal};
use gluey::geometry::Particles;
use gluey::simulation::Simulation;

const VISCOSITY: f64 = 0.7;

fn spheres(list: &[(DVec3, f64)]) -> Particles {
    let mut particles = Particles::default();
    for &(position, radius) in list {
        particles.push(position, radius, 1.0);
    }
    particles
}

/// Particles that settle along −z under forces equal to their masses.
fn settling(particles: Particles, law: Law) -> Simulation {
    let gravity = [0.0, 0.0, -1.0].map(Signal::Constant);
    let drag = Drag::RotnePrager { viscosity: VISCOSITY };
    let mut simulation = simulation(particles, Vec::new(), law);
    simulation.environment = Box::new(Overdamped::new(Forcing { gravity, drag, ..Forcing::default() }).unwrap());
    simulation.settings.dt = 0.05;
    simulation
}
