//! What must hold in every step of every scene, tried on random ones.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::num::NonZeroU32;

use common::{floor, gluey, gravity, obstacle, simulation};
use glam::{DMat3, DQuat, DVec3};
use gluey::adhesion::{Law, Scaling, Threshold};
use gluey::contact::{Pair, Partner};
use gluey::geometry::{Obstacle, Particles, Shape, Side};
use gluey::neighbours;
use gluey::projection::AcceleratedGaussSeidel;
use gluey::simulation::Simulation;
use proptest::prelude::*;

/// A loose heap without overlap, every particle on its way to the middle.
fn heap() -> impl Strategy<Value = Particles> {
    let one = ((-1.0..1.0, -1.0..1.0, -1.0..1.0), (-1.0..1.0, -1.0..1.0, -1.0..1.0), 0.08..0.2, 0.1..10.0);
    prop::collection::vec(one, 2..40).prop_map(|list| {
        let mut particles = Particles::default();
        for (position, velocity, radius, mass) in list {
            let (position, velocity) = (DVec3::from(position), DVec3::from(velocity));
            let free = |k: usize| position.distance(particles.position[k]) > radius + particles.radius[k];
            if (0..particles.len()).all(free) {
                particles.push(position, radius, mass);
                let last = particles.len() - 1;
                particles.velocity[last] = velocity - 3.0 * position;
            }
        }
        particles
    })
}

fn law() -> impl Strategy<Value = Law> {
    let scaling = prop_oneof![Just(Scaling::Unit), Just(Scaling::Lubrication)];
    prop_oneof![
        Just(Law::Inelastic),
        scaling.prop_map(|scaling| Law::Gluey { threshold: Threshold::Smooth, scaling }),
        Just(gluey(-0.3)),
        Just(Law::Aggregating { strength: 1e4 }),
    ]
}

/// Overlap allowed: what the projection tolerates.
fn allowed(simulation: &Simulation) -> f64 {
    -1.1 * simulation.settings.criteria.tolerance * simulation.state.particles.smallest_radius()
}

/// Bowls, boxes and floors around the heap.
fn containers() -> Vec<Obstacle> {
    let half = DVec3::splat(1.7);
    let (centre, orientation) = (DVec3::ZERO, DQuat::from_rotation_y(0.4));
    vec![
        obstacle("box", Shape::Box { centre, half, orientation, side: Side::Inside, open: Vec::new() }),
        obstacle("bowl", Shape::Sphere { centre, radius: 2.1, side: Side::Inside }),
        obstacle("ball", Shape::Sphere { centre: DVec3::new(0.0, 0.0, -1.6), radius: 0.3, side: Side::Outside }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn free_clusters_keep_their_momentum(particles in heap(), law in law()) {
        let mut simulation = simulation(particles, Vec::new(), law);
        simulation.settings.dt = 0.01;
        simulation.settings.at_limit = gluey::simulation::Recourse::Continue;
        let before = simulation.state.particles.momentum();
        let scale: f64 =
            simulation.state.particles.mass.iter().zip(&simulation.state.particles.velocity).map(|(m, v)| m * v.length()).sum();
        for _ in 0..120 {
            let report = simulation.step().unwrap();
            let drift = (simulation.state.particles.momentum() - before).length();
            prop_assert!(drift <= 1e-12 * scale, "momentum moved by {} of its scale", drift / scale);
            prop_assert!(report.least_gap >= allowed(&simulation), "least gap {}", report.least_gap);
        }
    }

    #[test]
    fn nothing_overlaps_in_containers_and_dry_contact_gives_no_energy(particles in heap(), law in law()) {
        let acceleration = DVec3::new(1.0, -2.0, -9.0);
        let mut simulation = simulation(particles, containers(), law);
        simulation.environment = gravity(acceleration);
        simulation.settings.dt = 0.005;
        simulation.settings.criteria.tolerance = 1e-10;
        for _ in 0..100 {
            let mut apriori = simulation.state.particles.clone();
            for v in &mut apriori.velocity {
                *v += acceleration * simulation.settings.dt;
            }
            let report = simulation.step().unwrap();
            prop_assert!(report.least_gap >= allowed(&simulation), "least gap {}", report.least_gap);
            let energy = simulation.state.particles.kinetic_energy();
            if law == Law::Inelastic && report.substeps == 1 && report.projections == 1 {
                let most = apriori.kinetic_energy();
                let slack = 1e-9 * most; // impulses times gaps that the residual leaves open
                prop_assert!(energy <= most + slack, "{} after {}", energy, most);
            }
            prop_assert_eq!(simulation.state.contacts.is_sorted_by_key(|c| c.pair), true);
            prop_assert!(simulation.state.contacts.iter().all(|c| c.gamma <= 0.0));
        }
    }

    #[test]
    fn labels_rotations_and_translations_do_not_matter(
        particles in heap(), glued in any::<bool>(), order in any::<u64>(), axis in (-1.0..1.0, -1.0..1.0, 0.1..1.0), angle in 0.1..3.0
    ) {
        let law = if glued { gluey(f64::NEG_INFINITY) } else { Law::Inelastic };
        let start = |particles: Particles, floor: Obstacle, g: DVec3| {
            let mut simulation = simulation(particles, vec![floor], law);
            simulation.environment = gravity(g);
            simulation.settings.dt = 0.01;
            simulation.settings.max_slip = f64::INFINITY;
            simulation.settings.criteria.tolerance = 1e-13;
            simulation
        };
        let down = -10.0 * DVec3::Z;
        let low = DVec3::new(0.0, 0.0, -1.25);
        let plane = |point: DVec3, normal: DVec3| obstacle("plane", Shape::HalfSpace { point, normal });
        let turn = DMat3::from_axis_angle(DVec3::from(axis).normalize(), angle);
        let shift = DVec3::new(2.0, -1.0, 0.5);
        let moved = Particles {
            position: particles.position.iter().map(|x| turn * *x + shift).collect(),
            velocity: particles.velocity.iter().map(|v| turn * *v).collect(),
            ..particles.clone()
        };
        // A permutation from the seed: indices sorted by a mixed key.
        let mut relabel: Vec<usize> = (0..particles.len()).collect();
        relabel.sort_by_key(|k| (*k as u64 + 1).wrapping_mul(order | 1).rotate_left(17));
        let pick = |k: &usize| (particles.position[*k], particles.velocity[*k], particles.radius[*k], particles.mass[*k]);
        let mut shuffled = Particles::default();
        for (position, velocity, radius, mass) in relabel.iter().map(pick) {
            shuffled.push(position, radius, mass);
            *shuffled.velocity.last_mut().unwrap() = velocity;
        }
        let mut plain = start(particles, plane(low, DVec3::Z), down);
        let mut moved = start(moved, plane(turn * low + shift, turn * DVec3::Z), turn * down);
        let mut shuffled = start(shuffled, plane(low, DVec3::Z), down);
        let scale = plain.state.particles.velocity.iter().map(|v| v.length()).fold(1.0, f64::max);
        for one in [&mut plain, &mut moved, &mut shuffled] {
            one.step().unwrap();
        }
        for (k, v) in plain.state.particles.velocity.iter().enumerate() {
            let turned = (turn * *v - moved.state.particles.velocity[k]).length();
            prop_assert!(turned < 1e-10 * scale, "turned and shifted: {}", turned);
        }
        for (place, k) in relabel.iter().enumerate() {
            let difference = shuffled.state.particles.velocity[place] - plain.state.particles.velocity[*k];
            prop_assert!(difference.length() < 1e-10 * scale, "relabelled: {}", difference.length());
        }
    }

    #[test]
    fn the_list_of_pairs_misses_nobody(particles in heap()) {
        // Every pair that overlaps the least after the step was in the list: brute force over the final positions.
        let mut simulation = simulation(particles, vec![floor()], gluey(-1.0));
        simulation.obstacles[0].shape = Shape::HalfSpace { point: DVec3::new(0.0, 0.0, -1.25), normal: DVec3::Z };
        simulation.settings.dt = 0.05;
        for _ in 0..20 {
            simulation.step().unwrap();
            let p = &simulation.state.particles;
            for (i, j) in neighbours::pairs_by_brute_force(&p.position, &p.radius) {
                prop_assert!(p.gap(i as usize, j as usize).0 >= allowed(&simulation));
            }
        }
    }
}

#[test]
fn glued_pairs_never_leave_the_list_and_keep_their_gamma() {
    // Two balls pressed together, then flying far apart in free space with the pair's glue frozen by equal motion.
    let mut particles = Particles::default();
    particles.push(DVec3::new(-0.5, 0.0, 0.0), 0.5, 1.0);
    particles.push(DVec3::new(0.6, 0.0, 0.0), 0.5, 1.0);
    particles.velocity = vec![DVec3::new(2.0, 0.0, 1.0), DVec3::new(0.0, 0.0, 1.0)];
    let mut simulation = simulation(particles, Vec::new(), gluey(f64::NEG_INFINITY));
    simulation.settings.dt = 0.01;
    for _ in 0..50 {
        simulation.step().unwrap();
    }
    let pair = Pair::particles(0, 1);
    let glue = |s: &Simulation| s.state.contacts.iter().find(|c| c.pair == pair).map(|c| c.gamma);
    let gamma = glue(&simulation).expect("they are glued");
    assert!((gamma + 1.0).abs() < 1e-9, "all the pushing impulse is remembered: {gamma}");
    // Thrown apart by hand: farther than any neighbour search reaches, still remembered, still pulling.
    simulation.state.particles.position[1].x += 10.0;
    simulation.step().unwrap();
    assert!(simulation.state.contacts.iter().any(|c| c.pair.partner() == Partner::Particle(1) && c.impulse < 0.0));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut particles = Particles::default();
            for k in 0..5000_u32 {
                let (x, y, z) = (k % 17, k / 17 % 17, k / 289);
                let shake = f64::from(k.wrapping_mul(2_654_435_761) >> 16) / 65536.0 * 0.02;
                particles.push(DVec3::new(f64::from(x), f64::from(y), f64::from(z)) * 0.21 + shake, 0.1, 1.0);
            }
            let box_centre = DVec3::new(1.75, 1.75, 100.0);
            let half = DVec3::new(1.9, 1.9, 100.2);
            let walls = Shape::Box {
                centre: box_centre,
                half,
                orientation: DQuat::IDENTITY,
                side: Side::Inside,
                open: Vec::new(),
            };
            let mut simulation = simulation(particles, vec![obstacle("box", walls)], gluey(-1.0));
            simulation.environment = gravity(DVec3::new(3.0, 1.0, -10.0));
            simulation.settings.dt = 1e-2;
            simulation.settings.criteria.tolerance = 1e-4;
            simulation.solver = Box::new(AcceleratedGaussSeidel::with_blocks(NonZeroU32::new(6)));
            let reports: Vec<_> = (0..20).map(|_| simulation.step().unwrap()).collect();
            (simulation.state, reports)
        })
    };
    let one = run(1);
    assert!(one.1.last().unwrap().contacts > 1000);
    for threads in [2, 4] {
        assert!(run(threads) == one, "{threads} threads differ from one");
    }
}
