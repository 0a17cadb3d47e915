//! Contact between spheres that settle.

use std::f64::consts::PI;

use glam::DVec3;
use gluey::adhesion::Law;
use gluey::environment::{Drag, Force, ForceComponent, Forcing, Overdamped, Per, RotnePrager, Signal, Table};

use crate::common::{floor, gluey, simulation};
use crate::dense::{cholesky, inverse, matrix};
use crate::{VISCOSITY, settling, spheres};

/// A large sphere falls on a small one, pushes it along and slides past it.
#[test]
fn a_heavy_sphere_catches_a_light_one_and_never_overlaps() {
    for law in [Law::Inelastic, gluey(f64::NEG_INFINITY)] {
        let mut particles = spheres(&[(DVec3::new(0.05, 0.02, 2.0), 0.5), (DVec3::ZERO, 0.2)]);
        particles.mass = vec![8.0, 0.5];
        let mut simulation = settling(particles, law);
        let (mut least, mut touched) = (f64::INFINITY, 0);
        for _ in 0..200 {
            let report = simulation.step().unwrap();
            least = least.min(report.least_gap);
            touched += u32::from(report.contacts > 0);
        }
        assert!(touched > 10, "{law:?}: in contact for {touched} steps");
        assert!(least >= -1.01e-6 * 0.2, "{law:?}: least gap {least}");
    }
}

/// The forces that the velocities stand for, M⁻¹ V, add up to the weight: contact is equal and opposite.
#[test]
fn contact_is_equal_and_opposite() {
    let above = 0.7 * DVec3::new(0.05, 0.02, 0.7).normalize();
    let mut particles = spheres(&[(above, 0.5), (DVec3::ZERO, 0.2), (DVec3::X, 0.3)]);
    particles.mass = vec![8.0, 0.5, 1.0];
    let mut simulation = settling(particles, Law::Inelastic);
    simulation.settings.dt = 0.02;
    simulation.settings.criteria.tolerance = 1e-12;
    for _ in 0..10 {
        let before = simulation.state.particles.clone();
        assert_eq!(simulation.step().unwrap().substeps, 1);
        let m = matrix(&RotnePrager::new(&before, VISCOSITY), 3);
        let resistance = inverse(&cholesky(&m).unwrap());
        let velocity: Vec<f64> = simulation.state.particles.velocity.iter().flat_map(DVec3::to_array).collect();
        let force: Vec<f64> =
            resistance.iter().map(|row| row.iter().zip(&velocity).map(|(r, v)| r * v).sum()).collect();
        let total =
            DVec3::new(force[0] + force[3] + force[6], force[1] + force[4] + force[7], force[2] + force[5] + force[8]);
        assert!((total + 9.5 * DVec3::Z).length() < 1e-11, "{total}");
        let contact = simulation.state.contacts.first().unwrap();
        assert!(contact.impulse > 0.0);
        let extra = DVec3::new(force[0], force[1], force[2] + 8.0).length() * simulation.settings.dt;
        assert!((extra - contact.impulse).abs() < 1e-11, "{extra} and {}", contact.impulse);
    }
}

/// Pushed on a floor for a while and then pulled as hard, a smooth sphere leaves when both impulses are equal: at t = 2
/// after a push from t = 0 to 1. A companion far above moves by what the contact does to the fluid.
#[test]
fn glue_pays_back_what_was_pushed_in_this_metric_too() {
    let mut particles = spheres(&[(DVec3::new(0.0, 0.0, 0.3), 0.3), (DVec3::new(0.0, 0.0, 3.0), 0.3)]);
    particles.group = vec![0, 1];
    let mut simulation = simulation(particles, vec![floor()], gluey(f64::NEG_INFINITY));
    let steps = Signal::Steps(Table::new(vec![0.0, 1.0], vec![-2.0, 2.0]).unwrap());
    let zero = || ForceComponent::Signal(Signal::Constant(0.0));
    let components = [zero(), zero(), ForceComponent::Signal(steps)];
    let push = Force { label: "push".to_owned(), groups: Some(vec![0]), components, per: Per::Force };
    let forcing =
        Forcing { forces: vec![push], drag: Drag::RotnePrager { viscosity: VISCOSITY }, ..Forcing::default() };
    simulation.environment = Box::new(Overdamped::new(forcing).unwrap());
    simulation.settings.dt = 0.01;
    simulation.settings.criteria.tolerance = 1e-12;
    for n in 1..=200 {
        simulation.step().unwrap();
        let gamma = simulation.state.contacts.first().map_or(0.0, |contact| contact.gamma);
        let t = 0.01 * f64::from(n);
        let known = if t <= 1.0 { -2.0 * t } else { -2.0 * (2.0 - t) };
        assert!((gamma - known).abs() < 1e-9, "γ = {gamma} at t = {t}");
        // The floor takes all of the force: the far sphere feels none of it.
        assert!(simulation.state.particles.velocity.iter().all(|v| v.length() < 1e-9));
    }
    simulation.step().unwrap();
    simulation.step().unwrap();
    let velocity = simulation.state.particles.velocity[0].z;
    assert!((velocity - 2.0 / (6.0 * PI * VISCOSITY * 0.3)).abs() < 1e-9, "{velocity}");
    assert!(simulation.state.particles.velocity[1].z > 0.0);
}
