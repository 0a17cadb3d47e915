//! Periodic cells: a face is no place at all.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{gluey, gravity, obstacle, plane_forces, simulation};
use glam::{DQuat, DVec3};
use gluey::adhesion::Law;
use gluey::geometry::{BoxSide, Cell, Motion, Obstacle, Particles, Shape, Side};
use gluey::scene::Scene;
use gluey::simulation::{Simulation, StepError};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const ORIGIN: DVec3 = DVec3::new(-0.7, 0.4, 2.0);

/// A cell of these sizes at an odd place; 0 where space does not repeat.
fn cell(size: DVec3) -> Cell {
    Cell::with_periods(ORIGIN, size).unwrap()
}

/// Nobody yet, in such a cell.
fn empty(size: DVec3) -> Particles {
    Particles { cell: Some(cell(size)), ..Particles::default() }
}

/// Spheres without overlap, images included, with random velocities.
fn suspension(count: usize, size: f64, seed: u64) -> Particles {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut vector = |scale: f64| DVec3::from_array([0; 3].map(|_| scale * random.random::<f64>()));
    let cell = cell(DVec3::splat(size));
    let mut particles = empty(DVec3::splat(size));
    while particles.len() < count {
        let (x, shape) = (ORIGIN + vector(size), vector(1.0));
        let radius = 0.07 + 0.05 * shape.x;
        let free = |k: usize| cell.shortest(particles.position[k] - x).length() > radius + particles.radius[k];
        if (0..particles.len()).all(free) {
            particles.push(x, radius, 0.5 + shape.y);
            *particles.velocity.last_mut().unwrap() = vector(2.0) - DVec3::ONE;
        }
    }
    particles
}

fn shifted(particles: &Particles, by: DVec3) -> Particles {
    let mut moved = particles.clone();
    moved.position.iter_mut().for_each(|x| *x += by);
    moved.wrap();
    moved
}

/// The largest distance between the places of the same particles, up to periods.
fn apart(a: &Simulation, b: &Simulation, by: DVec3) -> f64 {
    let (a, b) = (&a.state.particles, &b.state.particles);
    let cell = a.cell.unwrap();
    let off = |k: usize| cell.shortest(b.position[k] - a.position[k] - by).length();
    (0..a.len()).map(off).fold(0.0, f64::max)
}

#[test]
fn a_free_particle_crosses_the_faces_for_ever() {
    let mut particles = empty(DVec3::new(1.0, 2.0, 0.0));
    particles.push(ORIGIN + 0.1, 0.1, 1.0);
    let velocity = DVec3::new(3.1, -2.7, 0.9);
    particles.velocity[0] = velocity;
    let start = particles.position[0];
    let mut simulation = simulation(particles, Vec::new(), Law::Inelastic);
    simulation.settings.dt = 0.01;
    for step in 1..=2000 {
        simulation.step().unwrap();
        let particles = &simulation.state.particles;
        let (x, cell) = (particles.position[0], particles.cell.unwrap());
        let unwrapped = start + velocity * (0.01 * f64::from(step));
        assert!(cell.shortest(x - unwrapped).length() < 1e-10, "{x} after {step} steps");
        assert_eq!(cell.wrap(x), x, "inside the cell");
    }
    assert_eq!(simulation.state.particles.velocity[0], velocity);
}

/// Two discs that are driven together, stay glued while they drift, and are pulled apart again.
fn meeting(at: f64, drift: f64) -> Simulation {
    let mut particles = empty(DVec3::new(3.0, 0.0, 0.0));
    for (k, x) in [-0.5, 0.5].into_iter().enumerate() {
        particles.push(DVec3::new(at + x, 0.3 * x, 0.0), 0.3, 1.0 + x);
        particles.group[k] = k as u32;
        particles.velocity[k].x = drift;
    }
    particles.wrap();
    let mut simulation = simulation(particles, Vec::new(), gluey(-0.4));
    simulation.settings.dt = 0.01;
    simulation
}

/// What happens to the pair: gap and γ after each step.
fn history(simulation: &mut Simulation) -> Vec<(f64, f64)> {
    let pull = |f: f64| plane_forces(&[DVec3::X * f, -DVec3::X * f]);
    let mut seen = Vec::new();
    for step in 0..230 {
        if step % 100 == 0 {
            simulation.environment = pull(if step < 100 { 1.0 } else { -0.5 });
        }
        simulation.step().unwrap();
        let gap = simulation.state.particles.gap(0, 1).0;
        seen.push((gap, simulation.state.contacts.first().map_or(0.0, |contact| contact.gamma)));
    }
    seen
}

#[test]
fn a_meeting_across_a_face_is_a_meeting_and_glue_is_carried_across() {
    let middle = history(&mut meeting(ORIGIN.x + 1.5, 0.0));
    assert!(middle.iter().any(|(_, gamma)| *gamma < -0.3) && middle[229].0 > 0.05, "they stick and part");
    // Across the face; and carried across faces while they are glued.
    for (at, drift) in [(ORIGIN.x, 0.0), (ORIGIN.x + 3.0 - 1e-9, 0.0), (ORIGIN.x + 1.5, 2.3), (ORIGIN.x + 0.2, -7.1)] {
        let other = history(&mut meeting(at, drift));
        for (step, (a, b)) in middle.iter().zip(&other).enumerate() {
            let off = (a.0 - b.0).abs().max((a.1 - b.1).abs());
            assert!(off < 1e-9, "at {at} with {drift}: {a:?} and {b:?} after step {step}");
        }
    }
}

#[test]
fn where_the_faces_are_makes_no_difference_and_momentum_is_kept() {
    for law in [Law::Inelastic, gluey(f64::NEG_INFINITY), Law::Aggregating { strength: 1e4 }] {
        let particles = suspension(60, 1.2, 7);
        let by = DVec3::new(0.61, -0.27, 5.83);
        let mut both = [particles.clone(), shifted(&particles, by)].map(|particles| {
            let mut simulation = simulation(particles, Vec::new(), law);
            simulation.settings.dt = 0.004;
            simulation.settings.criteria.tolerance = 1e-13;
            simulation
        });
        let before = both[0].state.particles.momentum();
        let mut touched = 0;
        for step in 0..60 {
            for simulation in &mut both {
                let report = simulation.step().unwrap();
                touched += report.contacts;
                assert!(report.least_gap > -1e-12);
            }
            let [a, b] = &both;
            assert!(apart(a, b, by) < 1e-9, "{} after step {step}", apart(a, b, by));
            assert_eq!(a.state.contacts.len(), b.state.contacts.len());
            assert!((a.state.particles.momentum() - before).length() < 1e-12);
        }
        assert!(touched > 100, "{touched}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn nobody_overlaps_an_image(seed in any::<u64>(), steps in prop::sample::select(vec![0.001, 0.01, 0.2])) {
        let particles = suspension(40, 1.1, seed);
        let mut simulation = simulation(particles, Vec::new(), gluey(-0.1));
        simulation.environment = gravity(DVec3::new(3.0, 1.0, -9.0));
        simulation.settings.dt = steps;
        for _ in 0..10 {
            simulation.step().unwrap();
            let p = &simulation.state.particles;
            for i in 0..p.len() {
                for j in 0..i {
                    prop_assert!(p.gap(i, j).0 > -2e-6 * p.smallest_radius(), "{} and {}", i, j);
                }
            }
        }
    }
}

/// A full ring of touching discs: who pushes one pushes all, itself included.
#[test]
fn a_closed_ring_moves_as_one() {
    let (count, radius) = (12, 0.1);
    let mut particles = empty(DVec3::new(2.0 * radius * f64::from(count), 0.0, 0.0));
    for k in 0..count {
        particles.push(ORIGIN + DVec3::X * (radius * f64::from(2 * k)), radius, 1.0 + f64::from(k % 3));
    }
    particles.velocity[4].x = 1.0;
    let (momentum, mass) = (particles.momentum().x, particles.mass.iter().sum::<f64>());
    let mut simulation = simulation(particles, Vec::new(), gluey(f64::NEG_INFINITY));
    simulation.settings.dt = 0.01;
    simulation.settings.criteria.tolerance = 1e-12;
    for _ in 0..500 {
        simulation.step().unwrap();
        for v in &simulation.state.particles.velocity {
            assert!((v.x - momentum / mass).abs() < 1e-8, "{v}");
        }
    }
}

/// However fast they are, they are seen to meet: the step is split.
#[test]
fn nobody_flies_past_another_by_a_way_around_the_cell() {
    let mut particles = empty(DVec3::splat(1.0));
    particles.push(ORIGIN + 0.1, 0.1, 1.0);
    particles.push(ORIGIN + DVec3::new(0.6, 0.1, 0.1), 0.1, 1.0);
    particles.velocity[0].x = 40.0; // four cells a step
    let mut simulation = simulation(particles, Vec::new(), Law::Inelastic);
    simulation.settings.dt = 0.1;
    simulation.settings.max_slip = f64::INFINITY;
    let report = simulation.step().unwrap();
    assert!(report.substeps > 1);
    assert!((simulation.state.particles.velocity[1].x - 20.0).abs() < 1e-3);
    simulation.settings.max_substeps = 3;
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::TooManySubsteps { .. }), "{error}");
}

#[test]
fn a_cell_too_narrow_for_its_particles_is_refused() {
    let mut particles = empty(DVec3::new(0.4, 0.0, 0.0));
    particles.push(ORIGIN, 0.1, 1.0);
    let error = simulation(particles, Vec::new(), Law::Inelastic).step().unwrap_err();
    assert!(error.to_string().contains("too narrow"), "{error}");
}

/// A ball that sticks out of the cell on one side sticks in on the other.
#[test]
fn obstacles_are_met_through_the_faces() {
    let drop = |ball: DVec3, by: DVec3, motions: Vec<Motion>| {
        let mut particles = empty(DVec3::new(2.0, 2.0, 0.0));
        for (x, y) in [(-0.3, 0.1), (0.2, -0.25), (0.9, 0.9)] {
            particles.push(ORIGIN + DVec3::new(1.0 + x, 1.0 + y, 1.0), 0.15, 1.0);
        }
        let particles = shifted(&particles, by);
        let shape = Shape::Sphere { centre: ball, radius: 0.5, side: Side::Outside };
        let floor = Shape::HalfSpace { point: ORIGIN - DVec3::Z, normal: DVec3::Z };
        let obstacles = vec![Obstacle { motions, ..obstacle("ball", shape) }, obstacle("floor", floor)];
        let mut simulation = simulation(particles, obstacles, gluey(-1.0));
        simulation.environment = gravity(-5.0 * DVec3::Z);
        simulation.settings.dt = 0.01;
        simulation
    };
    let middle = ORIGIN + DVec3::new(1.0, 1.0, 0.0);
    let swing = || Motion::Oscillation { amplitude: DVec3::new(0.1, 0.2, 0.1), frequency: 1.5, phase: 0.3 };
    for motions in [Vec::new(), vec![swing()]] {
        let mut reference = drop(middle, DVec3::ZERO, motions.clone());
        let by = DVec3::new(0.95, -1.05, 0.0);
        // The ball is moved with the particles: by this, and by further periods.
        let mut others = [by, by + DVec3::X * 6.0].map(|off| drop(middle + off, by, motions.clone()));
        let mut met = false;
        for _ in 0..100 {
            let expected = reference.step().unwrap();
            met |= expected.loads[0].force.length() > 0.0;
            for other in &mut others {
                let report = other.step().unwrap();
                assert!(apart(&reference, other, by) < 1e-9);
                let torque = report.loads[0].torque - expected.loads[0].torque;
                assert!(torque.length() < 1e-6 * (1.0 + expected.loads[0].torque.length()), "{torque}");
            }
        }
        assert!(met);
    }
}

/// A particle in the neck between an obstacle and its own image is held by both.
#[test]
fn an_obstacle_and_its_image_hold_a_particle_between_them() {
    let mut particles = empty(DVec3::new(1.0, 0.0, 0.0));
    particles.push(ORIGIN + DVec3::Y * 0.5, 0.15, 1.0);
    let shape = Shape::Sphere { centre: ORIGIN + DVec3::X * 0.5, radius: 0.4, side: Side::Outside };
    let mut simulation = simulation(particles, vec![obstacle("ball", shape)], gluey(f64::NEG_INFINITY));
    simulation.environment = gravity(-DVec3::Y);
    simulation.settings.dt = 0.01;
    simulation.settings.criteria.tolerance = 1e-9;
    for _ in 0..200 {
        assert!(simulation.step().unwrap().least_gap > -1e-6);
    }
    // Both are 0.55 away, and 0.5 to the side.
    let x = simulation.state.particles.position[0] - ORIGIN;
    let expected = (0.55_f64.powi(2) - 0.25).sqrt();
    assert!(simulation.state.particles.velocity[0].length() < 1e-6, "{x}");
    assert!((x.y - expected).abs() < 1e-3, "{x}");
}

#[test]
fn a_pipe_may_be_periodic_along_its_axis() {
    let mut particles = empty(DVec3::new(0.0, 0.0, 1.5));
    for k in 0..8 {
        particles.push(ORIGIN + DVec3::new(0.1 * f64::from(k % 2), 0.0, 0.18 * f64::from(k)), 0.08, 1.0);
    }
    let pipe = Shape::Cylinder {
        centre: ORIGIN,
        axis: DVec3::Z,
        radius: 0.4,
        length: f64::INFINITY,
        side: Side::Inside,
        closed: false,
    };
    let mut simulation = simulation(particles, vec![obstacle("pipe", pipe)], Law::Inelastic);
    simulation.environment = gravity(DVec3::new(0.0, -2.0, -3.0));
    simulation.settings.dt = 0.01;
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    let fall = simulation.state.particles.velocity.iter().map(|v| v.z).sum::<f64>() / 8.0;
    assert!((fall + 6.0).abs() < 1e-9, "nothing holds them back along the pipe: {fall}");
}

#[test]
fn what_cannot_repeat_is_refused() {
    let boxed = |open: Vec<BoxSide>, orientation: DQuat| Shape::Box {
        centre: DVec3::ZERO,
        half: DVec3::splat(9.0),
        orientation,
        side: Side::Inside,
        open,
    };
    let (ends, still) = (vec![BoxSide::LowerX, BoxSide::UpperX], DQuat::IDENTITY);
    let turned = DQuat::from_rotation_z(0.3);
    let plane = |normal: DVec3| Shape::HalfSpace { point: DVec3::splat(-9.0), normal };
    let rod = |axis: DVec3| Shape::Cylinder {
        centre: DVec3::ONE * 9.0,
        axis,
        radius: 0.1,
        length: f64::INFINITY,
        side: Side::Outside,
        closed: true,
    };
    let cases = [
        (plane(DVec3::Y), true),
        (plane(DVec3::new(0.1, 1.0, 0.0)), false),
        (plane(DVec3::X), false),
        (boxed(ends.clone(), still), true),
        (boxed(Vec::new(), still), false),
        (boxed(vec![BoxSide::LowerX], still), false),
        (boxed(ends, turned), false),
        (rod(DVec3::X), true),
        (rod(DVec3::Z), true),
        (rod(DVec3::new(1.0, 0.2, 0.0)), false),
        (Shape::Sphere { centre: DVec3::ZERO, radius: 9.0, side: Side::Inside }, false),
    ];
    for (shape, fits) in cases {
        let mut particles = empty(DVec3::new(2.0, 0.0, 0.0));
        particles.push(ORIGIN, 0.1, 1.0);
        let mut simulation = simulation(particles, vec![obstacle("it", shape.clone())], Law::Inelastic);
        match simulation.step() {
            Ok(_) => assert!(fits, "{shape:?}"),
            Err(error) => assert!(!fits && error.to_string().contains("`it` cannot repeat along x"), "{error}"),
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = simulation(suspension(1200, 3.6, 3), Vec::new(), gluey(-0.2));
            simulation.environment = gravity(DVec3::new(0.0, 0.0, -4.0));
            simulation.settings.dt = 0.01;
            for _ in 0..8 {
                simulation.step().unwrap();
            }
            simulation.state
        })
    };
    assert_eq!(run(1), run(2));
}

const SCENE: &str = r"
dimension = 2
[time]
dt = 0.01
until = 1.0
[periodic]
x = [0, 1]
[[particles]]
mass = 1
source.list = [{ position = [0.95, 0.5], radius = 0.1 }, { position = [1.2, 0.5], radius = 0.1 }]
[[obstacle]]
name = 'floor'
shape.half-space = { point = [0, 0], normal = [0, 1] }
";

#[test]
fn scenes_take_particles_into_the_cell() {
    let mut scene = Scene::parse(SCENE, Path::new("ring.toml")).unwrap();
    let particles = &scene.simulation.state.particles;
    assert!((particles.position[1].x - 0.2).abs() < 1e-15);
    assert!((particles.gap(0, 1).0 - 0.05).abs() < 1e-15, "across the face");
    scene.simulation.step().unwrap();
}

#[test]
fn bad_periodic_scenes_are_told_so() {
    let cases = [
        ("x = [0, 1]", "x = [1, 0]", vec!["ring.toml:7:5", "the second above the first"]),
        ("x = [0, 1]", "x = [0, 1]\nz = [0, 1]", vec!["ring.toml:8:5", "2D scene is not periodic along z"]),
        ("x = [0, 1]", "x = [0, 0.45]", vec!["ring.toml:7:5", "too narrow", "at least 0.5 wide"]),
        ("x = [0, 1]", "u = [0, 1]", vec!["unknown key `u`"]),
        ("x = [0, 1]", "x = [0, inf]", vec!["ring.toml:7:5", "finite"]),
        ("[1.2, 0.5]", "[1.1, 0.5]", vec!["particles 0 and 1 by 5.000e-2"]),
        ("normal = [0, 1]", "normal = [1, 1]", vec!["ring.toml:13:1", "`floor` cannot repeat along x"]),
        (
            "[[particles]]",
            "[environment]\ndrag.rotne-prager.viscosity = 1\n[[particles]]",
            vec!["not for periodic scenes"],
        ),
        (
            "source.list = [{ position = [0.95, 0.5], radius = 0.1 }, { position = [1.2, 0.5], radius = 0.1 }]",
            "source.fill = { count = 20, radius = 0.21, region.box = { lower = [0, 0.2], upper = [1, 1] } }",
            vec!["ring.toml:7:5", "too narrow for particles of radius 0.21", "at least 1.05 wide"],
        ),
        // A dumbbell 2 long, whose ends are 0.3 inside each other through the face.
        (
            "[[obstacle]]",
            "[[clump]]\nname = 'dumbbell'\nmass = 1\nmake.spheres = [{ position = [-0.8, 0], radius = 0.2 }, \
             { position = [0.8, 0], radius = 0.2 }]\nplace.list = [{ position = [0.5, 2] }]\n[[obstacle]]",
            vec!["ring.toml:7:5", "too narrow for clumps `dumbbell`, which are 2 long", "at least 2 wide"],
        ),
    ];
    for (from, to, words) in cases {
        let text = SCENE.replace(from, to);
        assert_ne!(text, SCENE);
        let Err(error) = Scene::parse(&text, Path::new("ring.toml")) else { panic!("{to} should be refused") };
        for word in words {
            assert!(error.to_string().contains(word), "`{word}` is not in:\n{error}");
        }
    }
}

/// Clumps as long as the period are let in, and touch themselves at the most; those a hair longer are not.
#[test]
fn a_clump_may_be_as_long_as_the_period_and_no_longer() {
    let scene = |period: f64| {
        let text = format!(
            "dimension = 2\ntime = {{ dt = 0.01, until = 1 }}\nperiodic.x = [0, {period}]\n\
             [[clump]]\nname = 'dumbbell'\nmass = 1\n\
             make.spheres = [{{ position = [-0.8, 0], radius = 0.2 }}, {{ position = [0.8, 0], radius = 0.2 }}]\n\
             place.list = [{{ position = [0.5, 2], spin = 2, angle = 0.7 }}]\n"
        );
        Scene::parse(&text, Path::new("ring.toml"))
    };
    assert!(scene(1.7).is_err() && scene(2.0 - 1e-9).is_err());
    let mut simulation = scene(2.0).unwrap().simulation;
    let mut least = f64::INFINITY;
    for _ in 0..320 {
        simulation.step().unwrap();
        least = least.min(simulation.state.particles.gap(0, 1).0);
    }
    assert!(least > -1e-12 && least < 0.01, "{least:.1e}");
}

#[test]
fn a_fill_uses_the_room_at_the_faces_and_sees_images() {
    let text = r"
[time]
dt = 0.01
until = 1.0
[periodic]
x = [0, 2]
y = [0, 2]
z = [0, 2]
[[particles]]
mass = 1
source.fill = { count = 150, radius = 0.15, region.box = { lower = [0, 0, 0], upper = [2, 2, 2] } }
";
    let scene = Scene::parse(text, Path::new("full.toml")).unwrap();
    let particles = &scene.simulation.state.particles;
    assert!(particles.position.iter().any(|x| x.x < 0.1) && particles.position.iter().any(|x| x.z > 1.9));
    for i in 0..particles.len() {
        assert!((0..i).all(|j| particles.gap(i, j).0 >= 0.0));
    }
}

/// Clumps and wet spheres that meet at a place of a ring 6 long.
fn wet_clumps(at: f64) -> Simulation {
    let text = format!(
        r#"
[time]
dt = 0.002
until = 1
[periodic]
x = [0, 6]
[environment]
gravity = [0, 0, -3]
[[pair-force]]
bridge.linear = {{ strength = 2, rupture = 0.1, formation = 0.02 }}
obstacles = ["post"]
[[particles]]
mass = 0.5
velocity = [-2, 0, 0]
source.list = [
    {{ position = [{}, 0, 0.25], radius = 0.2 }},
    {{ position = [{}, 0, 0.7], radius = 0.2 }},
]
[[clump]]
name = "dumbbell"
mass = 1
make.spheres = [{{ position = [-0.3, 0, 0], radius = 0.2 }}, {{ position = [0.3, 0.1, 0], radius = 0.25 }}]
place.list = [
    {{ position = [{}, 0.1, 0.6], velocity = [2, 0, 0], axis = [0, 1, 0], angle = 0.4, spin = [0, 0, 2] }},
    {{ position = [{}, 0.3, 1.3] }},
]
[[obstacle]]
name = "floor"
shape.half-space = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
[[obstacle]]
name = "post"
shape.sphere = {{ centre = [{}, 0, 0], radius = 0.3, side = "outside" }}
"#,
        at + 0.9,
        at + 1.0,
        at - 0.9,
        at - 0.1,
        at + 2.0,
    );
    let mut scene = Scene::parse(&text, Path::new("ring.toml")).unwrap_or_else(|error| panic!("{error}"));
    scene.simulation.settings.criteria.tolerance = 1e-12;
    scene.simulation
}

#[test]
fn clumps_and_liquid_bridges_do_not_notice_the_faces() {
    for at in [0.0, 0.4, 5.9] {
        let (mut across, mut middle) = (wet_clumps(at), wet_clumps(3.0));
        let (mut touched, mut bridged) = (0, 0);
        for _ in 0..350 {
            touched = touched.max(across.step().unwrap().contacts);
            bridged = bridged.max(across.state.bridges.len());
            middle.step().unwrap();
            let cell = across.state.particles.cell.unwrap();
            assert!(across.state.particles.position.iter().all(|x| cell.wrap(*x) == *x));
            assert!(across.state.clumps.list.iter().all(|clump| cell.wrap(clump.centre) == clump.centre));
        }
        assert!(touched > 2 && bridged > 1, "{touched} {bridged}");
        // Contacts multiply rounding, and the solver stops within its tolerance.
        let off = apart(&middle, &across, DVec3::X * (at - 3.0));
        assert!(off < 1e-11, "{off:.1e} at {at}");
    }
}

#[test]
fn who_comes_in_at_a_face_sees_those_beyond_it() {
    let text = r#"
dimension = 2
[time]
dt = 0.01
until = 1
[periodic]
x = [0, 3]
[[particles]]
mass = 1
source.list = [{ position = [0.05, 0.1], radius = 0.2 }]
[[inlet]]
name = "door"
box = { lower = [2.0, -0.5], upper = [3.2, 0.5] }
rate = 500
radius = 0.1
density = 1
"#;
    let mut simulation = Scene::parse(text, Path::new("ring.toml")).unwrap().simulation;
    for _ in 0..20 {
        simulation.step().unwrap();
        let particles = &simulation.state.particles;
        for i in 0..particles.len() {
            assert_eq!(particles.cell.unwrap().wrap(particles.position[i]), particles.position[i]);
            assert!((0..i).all(|j| particles.gap(i, j).0 >= 0.0), "nobody overlaps {i}");
        }
    }
    let beyond = simulation.state.particles.position.iter().skip(1).filter(|x| x.x < 0.2).count();
    assert!(simulation.state.particles.len() > 10 && beyond > 0, "{beyond}");
}

#[test]
fn a_force_that_reaches_around_the_cell_is_refused() {
    let text = r#"
time = { dt = 0.01, until = 1 }
periodic.x = [0, 3]
particles = [{ mass = 1, source.list = [{ position = [0, 0, 0], radius = 0.2 }] }]
pair-force = [{ range = 1.2, expression = "-D" }]
"#;
    let Err(error) = Scene::parse(text, Path::new("ring.toml")) else { panic!("it should be refused") };
    assert!(error.to_string().contains("too far for a periodic cell 3 wide"), "{error}");
}
