//! Small pieces that several suites build simulations from.
#![allow(dead_code, reason = "each suite uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use glam::DVec3;
use gluey::adhesion::{Adhesion, Law, Scaling, Threshold};
use gluey::environment::{Dimension, Environment, Force, ForceComponent, Forcing, Inertial, Per, Signal, Table};
use gluey::geometry::{Obstacle, Particles, Shape};
use gluey::simulation::{Simulation, State};

pub fn obstacle(name: &str, shape: Shape) -> Obstacle {
    Obstacle { name: name.to_owned(), shape, motions: Vec::new(), colour: None, roughness: 0.0 }
}

/// The plane through the origin, particles above it.
pub fn floor() -> Obstacle {
    obstacle("floor", Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Z })
}

/// γ_min = 0 is dry.
pub fn gluey(gamma_min: f64) -> Law {
    match gamma_min {
        0.0 => Law::Inelastic,
        f64::NEG_INFINITY => Law::Gluey { threshold: Threshold::Smooth, scaling: Scaling::Unit },
        value => Law::Gluey { threshold: Threshold::Value(value), scaling: Scaling::Unit },
    }
}

pub fn gravity(g: DVec3) -> Box<dyn Environment> {
    let forcing = Forcing { gravity: g.to_array().map(Signal::Constant), ..Forcing::default() };
    Box::new(Inertial::new(forcing).unwrap())
}

/// A force along z on each particle, piecewise constant: `forces[k][i]` holds on particle i from `times[k]` on.
pub fn vertical_forces(times: &[f64], forces: &[Vec<f64>]) -> Box<dyn Environment> {
    let on_particle = |i: usize| {
        let values = forces.iter().map(|at_time| at_time[i]).collect();
        let steps = Signal::Steps(Table::new(times.to_vec(), values).unwrap());
        let zero = || ForceComponent::Signal(Signal::Constant(0.0));
        Force {
            label: format!("push on {i}"),
            groups: Some(vec![i as u32]),
            components: [zero(), zero(), ForceComponent::Signal(steps)],
            per: Per::Force,
        }
    };
    let forces = (0..forces[0].len()).map(on_particle).collect();
    Box::new(Inertial::new(Forcing { forces, ..Forcing::default() }).unwrap())
}

/// A constant force in the plane z = 0 on each particle.
pub fn plane_forces(forces: &[DVec3]) -> Box<dyn Environment> {
    let on_particle = |(i, force): (usize, &DVec3)| Force {
        label: format!("force on {i}"),
        groups: Some(vec![i as u32]),
        components: force.to_array().map(|c| ForceComponent::Signal(Signal::Constant(c))),
        per: Per::Force,
    };
    let forces = forces.iter().enumerate().map(on_particle).collect();
    Box::new(Inertial::new(Forcing { forces, dimension: Dimension::Two, ..Forcing::default() }).unwrap())
}

/// Particles each in a group of its own.
pub fn particles(list: &[(DVec3, f64, f64)]) -> Particles {
    let mut particles = Particles::default();
    for (k, &(position, radius, mass)) in list.iter().enumerate() {
        particles.push(position, radius, mass);
        particles.group[k] = k as u32;
    }
    particles
}

pub fn simulation(particles: Particles, obstacles: Vec<Obstacle>, law: Law) -> Simulation {
    let adhesion = Adhesion::uniform(law);
    let state = State { particles, ..State::default() };
    Simulation::new(state, obstacles, gravity(DVec3::ZERO), adhesion)
}
