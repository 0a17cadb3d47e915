//! No pair is missed: after every step all gaps, by brute force from positions and radii, on a path that shares no code
//! with the engine. Scenes in which contacts divert particles far from where they were predicted to go: fast and heavy
//! ones among many at rest, clouds that collapse, without sub-steps too.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{gluey, obstacle, simulation};
use glam::{DQuat, DVec3};
use gluey::adhesion::Law;
use gluey::geometry::{Cell, Motion, Particles, Shape, Side};
use gluey::scene::Scene;
use gluey::simulation::Simulation;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

const SLIPS: [f64; 3] = [0.2, 1.0, f64::INFINITY];

/// The least gap of all pairs but those inside one clump, of the nearest of their images.
fn least_gap(simulation: &Simulation) -> f64 {
    let Particles { position, radius, cell, .. } = &simulation.state.particles;
    let period = cell.map_or(DVec3::INFINITY, |cell| cell.period());
    let mut clump: Vec<usize> = (0..position.len()).map(|i| usize::MAX - i).collect();
    for (k, one) in simulation.state.clumps.list.iter().enumerate() {
        clump[one.first as usize..(one.first + one.count) as usize].fill(k);
    }
    let gap = |i: usize, j: usize| {
        if clump[i] == clump[j] {
            return f64::INFINITY;
        }
        // Centres are inside the cell, so that the nearest image is no further than the next.
        let offset = (position[j] - position[i]).abs();
        let offset = offset.min((period - offset).abs());
        offset.length() - radius[i] - radius[j]
    };
    let of = |i: usize| (i + 1..position.len()).map(|j| gap(i, j)).fold(f64::INFINITY, f64::min);
    (0..position.len()).into_par_iter().map(of).reduce(|| f64::INFINITY, f64::min)
}

/// Takes the steps; after each all gaps, with `beside` those to obstacles, must be above what the tolerance allows, and
/// the report must say the same.
fn holds(name: &str, simulation: &mut Simulation, steps: usize, beside: impl Fn(&Simulation) -> f64) -> u32 {
    let mut projections = 0;
    for step in 0..steps {
        let report = simulation.step().unwrap_or_else(|error| panic!("{name}, step {step}: {error}"));
        let unit = simulation.settings.criteria.tolerance * simulation.smallest_radius();
        let least = least_gap(simulation).min(beside(simulation));
        assert!(least >= -1.1 * unit, "{name}, step {step}: {:e} of the tolerance", least / unit);
        if report.substeps == 1 && simulation.openings.is_empty() && least < 0.0 {
            assert!(report.least_gap <= least + 1e-3 * unit, "{name}, step {step}: {} {least}", report.least_gap);
        }
        projections += report.projections;
    }
    projections
}

fn nothing(_: &Simulation) -> f64 {
    f64::INFINITY
}

/// So many particles on a lattice with gaps of up to a radius, of two sizes.
fn lattice(side: [usize; 3], seed: u64) -> Particles {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut particles = Particles::default();
    for k in 0..side.iter().product::<usize>() {
        let place = [k % side[0], k / side[0] % side[1], k / side[0] / side[1]];
        let mut shift = || 0.4 * (random.random::<f64>() - 0.5);
        let shift = DVec3::new(shift(), shift(), if side[2] > 1 { shift() } else { 0.0 });
        let radius = if random.random::<f64>() < 0.5 { 1.0 } else { 0.8 };
        particles.push(DVec3::from_array(place.map(|n| 2.45 * n as f64)) + shift, radius, radius.powi(3));
    }
    particles
}

#[test]
fn a_heavy_disc_among_many_at_rest() {
    for (slip, law) in SLIPS.into_iter().flat_map(|slip| [(slip, Law::Inelastic), (slip, gluey(f64::NEG_INFINITY))]) {
        let mut particles = lattice([30, 30, 1], 1);
        particles.push(DVec3::new(-4.0, 36.0, 0.0), 1.5, 50.0);
        *particles.velocity.last_mut().unwrap() = DVec3::new(60.0, 1.0, 0.0);
        let mut simulation = simulation(particles, Vec::new(), law);
        (simulation.settings.dt, simulation.settings.max_slip) = (0.02, slip);
        let projections = holds(&format!("disc, slip {slip}, {law:?}"), &mut simulation, 250, nothing);
        assert!(slip < 1.0 || projections > 250, "some projections are repeated: {projections}");
    }
}

#[test]
fn clouds_that_collapse() {
    for (k, slip) in SLIPS.into_iter().enumerate() {
        for (seed, law) in [(2, Law::Inelastic), (3, gluey(-5.0))] {
            let mut particles = lattice([12, 12, 12], seed + 10 * k as u64);
            let middle = DVec3::splat(2.45 * 5.5);
            for i in 0..particles.len() {
                let inwards = middle - particles.position[i];
                particles.velocity[i] = 3.0 * inwards + inwards.cross(DVec3::Z);
            }
            let mut simulation = simulation(particles, Vec::new(), law);
            (simulation.settings.dt, simulation.settings.max_slip) = (0.05, slip);
            holds(&format!("cloud, slip {slip}, {law:?}"), &mut simulation, 25, nothing);
        }
    }
}

#[test]
fn twenty_thousand_in_a_periodic_cell() {
    for slip in SLIPS {
        let side = [25, 25, 32];
        let mut particles = lattice(side, 4);
        particles.cell =
            Some(Cell::with_periods(DVec3::ZERO, DVec3::from_array(side.map(|n| 2.45 * n as f64))).unwrap());
        particles.wrap();
        let mut random = Pcg64Mcg::seed_from_u64(5);
        for i in 0..particles.len() {
            let mut component = || random.random::<f64>() - 0.5;
            particles.velocity[i] =
                DVec3::new(component(), component(), component()) * if i % 50 == 0 { 100.0 } else { 4.0 };
            if i % 50 == 0 {
                particles.mass[i] *= 30.0;
            }
        }
        let mut simulation = simulation(particles, Vec::new(), Law::Inelastic);
        (simulation.settings.dt, simulation.settings.max_slip) = (0.04, slip);
        simulation.settings.criteria.tolerance = 1e-5;
        holds(&format!("20,000, slip {slip}"), &mut simulation, 8, nothing);
    }
}

#[test]
fn a_box_a_ball_and_a_piston() {
    let (half, ball) = (DVec3::new(18.0, 18.0, 60.0), DVec3::new(14.0, 14.0, -20.0));
    let (centre, top, down) = (DVec3::new(13.0, 13.0, 30.0), 40.0, -16.0);
    for slip in SLIPS {
        let mut particles = lattice([11, 11, 11], 6);
        for v in &mut particles.velocity {
            *v = DVec3::new(30.0, -20.0, -60.0);
        }
        let shape = Shape::Box { centre, half, orientation: DQuat::IDENTITY, side: Side::Inside, open: Vec::new() };
        let mut obstacles = vec![
            obstacle("box", shape),
            obstacle("ball", Shape::Sphere { centre: ball, radius: 6.0, side: Side::Outside }),
            obstacle("piston", Shape::HalfSpace { point: DVec3::Z * top, normal: DVec3::NEG_Z }),
        ];
        obstacles[2].motions.push(Motion::Translation { velocity: DVec3::Z * down, from: 0.0, until: f64::INFINITY });
        let mut simulation = simulation(particles, obstacles, Law::Inelastic);
        (simulation.settings.dt, simulation.settings.max_slip) = (0.05, slip);
        let beside = |simulation: &Simulation| {
            let Particles { position, radius, .. } = &simulation.state.particles;
            let gap = |(x, r): (&DVec3, &f64)| {
                let sides = (half - (*x - centre).abs()).min_element();
                sides.min(x.distance(ball) - 6.0).min(top + down * simulation.time() - x.z) - r
            };
            position.iter().zip(radius).map(gap).fold(f64::INFINITY, f64::min)
        };
        holds(&format!("box, slip {slip}"), &mut simulation, 60, beside);
    }
}

fn scene(text: &str, slip: f64) -> Simulation {
    let mut simulation =
        Scene::parse(text, Path::new("gaps.toml")).unwrap_or_else(|error| panic!("{error}")).simulation;
    simulation.settings.max_slip = slip;
    simulation
}

#[test]
fn clumps_that_fall_on_each_other() {
    let text = r#"
dimension = 3
time = { dt = 0.01, until = 1 }
[environment]
gravity = [3, 0, -30]
[[clump]]
name = "stick"
mass = 2
make.spheres = [{ position = [-0.3, 0, 0], radius = 0.2 }, { position = [0, 0, 0], radius = 0.15 }, { position = [0.3, 0, 0], radius = 0.2 }]
place.fill = { count = 60, region.box = { lower = [-1.5, -1.5, 0.5], upper = [1.5, 1.5, 4] }, velocity = [0, 0, -8] }
[[particles]]
mass = 30
source.list = [{ position = [0, 0, 5], radius = 0.5, velocity = [0, 0, -40] }]
[[obstacle]]
shape.box = { side = "inside", lower = [-2, -2, 0], upper = [2, 2, 9] }
"#;
    for slip in SLIPS {
        let sides = |simulation: &Simulation| {
            let Particles { position, radius, .. } = &simulation.state.particles;
            let gap = |(x, r): (&DVec3, &f64)| (x.truncate().abs().max_element() - 2.0).max(-x.z).max(x.z - 9.0) + r;
            -position.iter().zip(radius).map(gap).fold(f64::NEG_INFINITY, f64::max)
        };
        holds(&format!("clumps, slip {slip}"), &mut scene(text, slip), 80, sides);
    }
}

#[test]
fn rain_from_inlets() {
    let text = r"
dimension = 2
time = { dt = 0.01, until = 1 }
contact.law.gluey = { gamma_min = -0.5 }
[environment]
gravity = [0, -20]
[[inlet]]
box = { lower = [-0.9, 1.2], upper = [0.9, 2.6] }
rate = 3000
radius = [0.025, 0.05]
density = 1000
velocity = [4, -20]
[[outlet]]
half-space = { point = [0, -2.6], normal = [0, 1] }
[[obstacle]]
shape.half-space = { point = [0, 0], normal = [0.3, 1] }
";
    for slip in SLIPS {
        let mut simulation = scene(text, slip);
        let floor = |simulation: &Simulation| {
            let Particles { position, radius, .. } = &simulation.state.particles;
            let normal = DVec3::new(0.3, 1.0, 0.0).normalize();
            position.iter().zip(radius).map(|(x, r)| x.dot(normal) - r).fold(f64::INFINITY, f64::min)
        };
        holds(&format!("rain, slip {slip}"), &mut simulation, 80, floor);
        assert!(simulation.state.particles.len() > 300, "{}", simulation.state.particles.len());
    }
}
