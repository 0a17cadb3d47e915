//! Rigid clumps of spheres against closed forms and what must be kept.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::f64::consts::PI;
use std::path::Path;

use glam::{DQuat, DVec3};
use gluey::adhesion::{Adhesion, Law, Scaling, Threshold};
use gluey::clump::{Clumps, Start, Template};
use gluey::environment::{
    Dimension, Drag, Environment, EnvironmentError, Force, Forcing, Inertia, Inertial, Overdamped, Prediction, Signal,
    Span,
};
use gluey::expression::Expression;
use gluey::geometry::{Obstacle, Particles, Shape};
use gluey::projection::{AcceleratedGaussSeidel, AcceleratedGradient, Criteria, Projection, Solution, Status};
use gluey::scene::Scene;
use gluey::simulation::{Simulation, State};

const DUMBBELL: [(DVec3, f64); 2] = [(DVec3::new(-0.3, 0.0, 0.0), 0.2), (DVec3::new(0.3, 0.0, 0.0), 0.2)];
const BOOMERANG: [(DVec3, f64); 4] = [
    (DVec3::new(0.0, 0.0, 0.0), 0.25),
    (DVec3::new(0.4, 0.1, 0.0), 0.2),
    (DVec3::new(0.0, 0.45, 0.1), 0.15),
    (DVec3::new(0.75, 0.2, 0.05), 0.1),
];

fn at(centre: DVec3) -> Start {
    Start { centre, orientation: DQuat::IDENTITY, velocity: DVec3::ZERO, spin: DVec3::ZERO }
}

fn world(clumps: &[(&Template, Start)], environment: Box<dyn Environment>, floor: bool, law: Law) -> Simulation {
    let mut state = State::default();
    for (template, start) in clumps {
        state.clumps.push(template, start, 0, &mut state.particles);
    }
    let obstacles: Vec<Obstacle> = floor.then(floor_at_zero).into_iter().collect();
    let adhesion = Adhesion::uniform(law);
    let mut simulation = Simulation::new(state, obstacles, environment, adhesion);
    simulation.settings.criteria.tolerance = 1e-10;
    simulation
}

fn floor_at_zero() -> Obstacle {
    let shape = Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Z };
    Obstacle { name: "floor".to_owned(), shape, motions: Vec::new(), colour: None, roughness: 0.0 }
}

fn forcing(gravity: DVec3, drag: Drag) -> Forcing {
    let gravity = gravity.to_array().map(Signal::Constant);
    Forcing { dimension: Dimension::Three, gravity, forces: Vec::<Force>::new(), drag, flow: None }
}

fn vacuum() -> Box<dyn Environment> {
    Box::new(Inertial::new(forcing(DVec3::ZERO, Drag::None)).unwrap())
}

fn falling() -> Box<dyn Environment> {
    Box::new(Inertial::new(forcing(-9.81 * DVec3::Z, Drag::None)).unwrap())
}

fn overlap(simulation: &Simulation) -> f64 {
    let State { particles, clumps, .. } = &simulation.state;
    let owner = clumps.owners(particles.len());
    let mut worst: f64 = 0.0;
    for i in 0..particles.len() {
        for j in i + 1..particles.len() {
            if owner[i] != owner[j] || owner[i] == gluey::projection::NO_CLUMP {
                worst = worst.max(-particles.gap(i, j).0);
            }
        }
    }
    worst
}

#[test]
fn a_dumbbell_that_hits_the_floor_off_centre_gets_the_impulse_of_the_textbook() {
    let template = Template::of_mass(&DUMBBELL, 2.0, false).unwrap();
    // Each half: 1 · (0.4 · 0.2² + 0.3²) about an axis across.
    let inertia = 2.0 * (0.4 * 0.04 + 0.09);
    assert!((template.inertia.y_axis.y - inertia).abs() < 1e-15);
    for (tilt, law) in [
        (0.3_f64, Law::Inelastic),
        (0.9, Law::Inelastic),
        (0.3, Law::Gluey { threshold: Threshold::Smooth, scaling: Scaling::Unit }),
    ] {
        let orientation = DQuat::from_rotation_y(tilt);
        let arm = orientation * (0.3 * DVec3::X); // points down for a positive tilt
        let (velocity, h) = (DVec3::new(0.7, 0.0, -2.0), 1e-3);
        let touching = DVec3::Z * (0.2 - arm.z);
        let start = Start { centre: touching, orientation, velocity, spin: DVec3::ZERO };
        let mut simulation = world(&[(&template, start)], vacuum(), true, law);
        simulation.settings.dt = h;
        simulation.step().unwrap();
        let lever = arm.cross(DVec3::Z);
        let expected = 2.0 / (1.0 / 2.0 + lever.length_squared() / inertia);
        let contacts = &simulation.state.contacts;
        assert_eq!(contacts.len(), 1);
        // The arm turns by hω while the step is taken: closed up to that.
        assert!((contacts[0].impulse - expected).abs() < 20.0 * h * expected, "{} {expected}", contacts[0].impulse);
        let clump = simulation.state.clumps.list[0];
        let push = contacts[0].impulse * DVec3::Z;
        assert!((clump.velocity - velocity - push / 2.0).length() < 1e-12);
        assert!((clump.angular_momentum - arm.cross(push)).length() < 1e-12);
        if law == Law::Inelastic {
            assert!(
                overlap(&simulation) == 0.0 && simulation.state.particles.position.iter().all(|x| x.z > 0.2 - 1e-9)
            );
        }
    }
}

#[test]
fn the_impulse_is_exact_where_nothing_turns_while_it_acts() {
    // As h → 0 the impulse tends to the closed form with order 1.
    let template = Template::of_mass(&DUMBBELL, 2.0, false).unwrap();
    let (orientation, velocity) = (DQuat::from_rotation_y(0.5), -2.0 * DVec3::Z);
    let arm = orientation * (0.3 * DVec3::X);
    let inertia = template.inertia.y_axis.y;
    let expected = 2.0 / (0.5 + arm.cross(DVec3::Z).length_squared() / inertia);
    let error = |h: f64| {
        let start = Start { centre: DVec3::Z * (0.2 - arm.z), orientation, velocity, spin: DVec3::ZERO };
        let mut simulation = world(&[(&template, start)], vacuum(), true, Law::Inelastic);
        simulation.settings.dt = h;
        simulation.step().unwrap();
        (simulation.state.contacts[0].impulse - expected).abs() / expected
    };
    let (coarse, fine) = (error(1e-4), error(1e-6));
    assert!(coarse < 1e-2 && fine < 1e-4, "{coarse:.2e} {fine:.2e}");
}

/// Energy error of a free body over a time, and where it points in the end.
fn spun(h: f64, time: f64) -> (f64, f64, DQuat) {
    let template = Template::of_density(&BOOMERANG, 1.0, false).unwrap();
    let spin = DVec3::new(1.0, 2.0, 0.5);
    let start = Start { velocity: DVec3::new(0.3, 0.2, -0.1), spin, ..at(DVec3::ZERO) };
    let mut simulation = world(&[(&template, start)], vacuum(), false, Law::Inelastic);
    simulation.settings.dt = h;
    let (energy, momentum) = (simulation.state.kinetic_energy(), simulation.state.angular_momentum());
    let mut worst: f64 = 0.0;
    for _ in 0..(time / h).round() as usize {
        simulation.step().unwrap();
        worst = worst.max((simulation.state.kinetic_energy() / energy - 1.0).abs());
    }
    let lost = (simulation.state.angular_momentum() - momentum).length() / momentum.length();
    (worst, lost, simulation.state.clumps.list[0].orientation)
}

#[test]
fn a_free_body_keeps_its_angular_momentum_and_its_energy_to_second_order() {
    let ((coarse, lost, _), (fine, lost_too, _)) = (spun(0.02, 40.0), spun(0.01, 40.0));
    assert!(lost < 1e-11 && lost_too < 1e-11, "{lost:.1e} {lost_too:.1e}");
    assert!(coarse < 1e-3, "{coarse:.1e}");
    let order = (coarse / fine).log2();
    assert!((1.8..2.2).contains(&order), "{coarse:.2e} {fine:.2e}");
    // It does not grow.
    assert!(spun(0.02, 400.0).0 < 1.2 * coarse);
}

#[test]
fn a_symmetric_top_precesses_as_euler_says() {
    // About its axis of symmetry the body turns by (L·a)(1/I₃ − 1/I₁) t, and the whole about L by |L| t / I₁.
    let template = Template::of_mass(&DUMBBELL, 1.0, false).unwrap();
    let (axial, across) = (template.inertia.x_axis.x, template.inertia.y_axis.y);
    let spin = DVec3::new(4.0, 1.5, 0.0);
    let momentum = DVec3::new(axial * spin.x, across * spin.y, 0.0);
    let time = 3.0;
    let about_axis = DQuat::from_scaled_axis(DVec3::X * (momentum.x * (1.0 / axial - 1.0 / across) * time));
    let exact = DQuat::from_scaled_axis(momentum / across * time) * about_axis;
    let error = |h: f64| {
        let mut simulation = world(&[(&template, Start { spin, ..at(DVec3::ZERO) })], vacuum(), false, Law::Inelastic);
        simulation.settings.dt = h;
        for _ in 0..(time / h).round() as usize {
            simulation.step().unwrap();
        }
        simulation.state.clumps.list[0].orientation.angle_between(exact)
    };
    let (coarse, fine) = (error(0.01), error(0.005));
    assert!(coarse < 1e-2 && (3.7..4.3).contains(&(coarse / fine)), "{coarse:.2e} {fine:.2e}");
}

#[test]
fn clumps_that_collide_keep_momentum_and_angular_momentum() {
    let template = Template::of_density(&BOOMERANG, 1.0, false).unwrap();
    let one = Start { velocity: DVec3::X, spin: DVec3::new(0.5, -1.0, 2.0), ..at(DVec3::ZERO) };
    let other = Start {
        velocity: DVec3::new(-1.0, 0.1, 0.0),
        orientation: DQuat::from_rotation_z(2.0),
        ..at(DVec3::new(1.6, 0.2, 0.1))
    };
    for law in [Law::Inelastic, Law::Gluey { threshold: Threshold::Value(-0.05), scaling: Scaling::Unit }] {
        let mut simulation = world(&[(&template, one), (&template, other)], vacuum(), false, law);
        simulation.state.particles.push(DVec3::new(0.8, -0.8, 0.0), 0.2, 0.3);
        simulation.state.particles.velocity[8] = DVec3::Y;
        simulation.settings.dt = 2e-3;
        let before = (simulation.state.particles.momentum(), simulation.state.angular_momentum());
        let (mut hits, energy) = (0, simulation.state.kinetic_energy());
        for _ in 0..1_000 {
            hits += usize::from(simulation.step().unwrap().contacts > 0);
            assert!(overlap(&simulation) < 1e-9);
        }
        assert!(hits > 0, "they met");
        let after = (simulation.state.particles.momentum(), simulation.state.angular_momentum());
        assert!(before.0.distance(after.0) < 1e-12, "{before:?} {after:?}");
        assert!(before.1.distance(after.1) < 1e-11, "{before:?} {after:?}");
        assert!(simulation.state.kinetic_energy() < energy * (1.0 + 1e-4));
    }
}

#[test]
fn a_clump_of_one_sphere_moves_as_the_sphere() {
    let template = Template::of_mass(&[(DVec3::new(0.1, 0.2, 0.3), 0.25)], 0.7, false).unwrap();
    let law = Law::Gluey { threshold: Threshold::Value(-0.5), scaling: Scaling::Unit };
    let starts: Vec<DVec3> = (0..12)
        .map(|k| DVec3::new(f64::from(k % 3) * 0.52, f64::from(k / 3) * 0.51, 0.3 + 0.55 * f64::from(k % 4)))
        .collect();
    let clumps: Vec<(&Template, Start)> = starts.iter().map(|x| (&template, at(*x))).collect();
    let mut held = world(&clumps, falling(), true, law);
    let mut particles = Particles::default();
    for x in &starts {
        particles.push(*x, 0.25, 0.7);
    }
    let mut alone = world(&[], falling(), true, law);
    alone.state.particles = particles;
    for _ in 0..400 {
        held.step().unwrap();
        alone.step().unwrap();
    }
    for (a, b) in held.state.particles.position.iter().zip(&alone.state.particles.position) {
        assert!(a.distance(*b) < 1e-7, "{a} {b}");
    }
}

#[test]
fn a_heap_of_clumps_comes_to_rest_without_overlap() {
    let template = Template::of_density(&BOOMERANG, 1.0, false).unwrap();
    let start = |k: i32| Start {
        orientation: DQuat::from_scaled_axis(DVec3::new(0.3, 1.0, -0.7) * f64::from(k)),
        ..at(DVec3::new(0.5 * f64::from(k % 2), 0.4 * f64::from(k % 3), 0.9 + 1.0 * f64::from(k)))
    };
    let clumps: Vec<(&Template, Start)> = (0..8).map(|k| (&template, start(k))).collect();
    let mut simulation = world(&clumps, falling(), true, Law::Inelastic);
    simulation.settings.criteria.tolerance = 1e-6;
    simulation.settings.dt = 2e-3;
    let mut worst: f64 = 0.0;
    for _ in 0..2_500 {
        let report = simulation.step().unwrap();
        worst = worst.max(-report.least_gap);
        assert_eq!(report.unconverged, 0);
    }
    assert!(worst < 3e-6 * 0.1, "{worst:.1e}");
    assert!(simulation.state.clumps.list.iter().all(|clump| clump.centre.z > 0.09));
}

#[test]
fn spheres_of_a_clump_that_breaks_meet_each_other() {
    let halves = [(DVec3::X * -0.205, 0.2), (DVec3::X * 0.205, 0.2)];
    let mut world =
        world(&[(&Template::of_mass(&halves, 1.0, false).unwrap(), at(DVec3::ZERO))], vacuum(), false, Law::Inelastic);
    world.settings.dt = 0.01;
    world.step().unwrap();
    world.state.clumps = Clumps::default();
    world.state.particles.velocity = vec![DVec3::X, -DVec3::X];
    for _ in 0..3 {
        world.step().unwrap();
        assert!(world.state.particles.gap(0, 1).0 > -1e-9, "{:?}", world.state.particles.position);
    }
    assert!(world.state.particles.velocity[0].length() < 1e-6, "they stop each other");
}

#[test]
fn without_inertia_a_dumbbell_turns_in_shear_as_jeffery_says() {
    // A line of drag points: φ' = −G sin² φ for u = (G z, 0, 0), φ from the x axis: cot φ grows by G t.
    let template = Template::of_mass(&DUMBBELL, 1.0, false).unwrap();
    let (rate, time) = (1.0, 2.0);
    let mut forcing = forcing(DVec3::ZERO, Drag::Stokes { viscosity: 1.0 });
    let flow = |text: &str| Expression::parse(text, &gluey::environment::FLOW_VARIABLES).unwrap();
    forcing.flow = Some([flow("z"), flow("0"), flow("0")]);
    let error = |h: f64| {
        let environment = Box::new(Overdamped::new(forcing.clone()).unwrap());
        // Tilted up by 2 rad: y-rotation turns x towards −z.
        let start = Start { orientation: DQuat::from_rotation_y(-2.0), ..at(DVec3::ZERO) };
        let mut simulation = world(&[(&template, start)], environment, false, Law::Inelastic);
        simulation.settings.dt = h;
        for _ in 0..(time / h).round() as usize {
            simulation.step().unwrap();
        }
        let axis = simulation.state.clumps.list[0].orientation * DVec3::X;
        let exact = 1.0 / 2.0_f64.tan() + rate * time;
        (axis.x / axis.z - exact).abs()
    };
    let (coarse, fine) = (error(0.01), error(0.005));
    assert!(coarse < 0.05 && (1.8..2.2).contains(&(coarse / fine)), "{coarse:.2e} {fine:.2e}");
}

#[test]
fn overlapping_spheres_share_their_mass() {
    // Two unit spheres one radius apart: union = 2 · 4π/3 − lens, lens = 5π/12.
    let spheres = [(DVec3::ZERO, 1.0), (DVec3::X, 1.0)];
    let template = Template::of_density(&spheres, 1.0, false).unwrap();
    let union = 8.0 / 3.0 * PI - 5.0 / 12.0 * PI;
    assert!((template.mass() / union - 1.0).abs() < 2e-3, "{} {union}", template.mass());
    assert!((template.balls[0].position - DVec3::new(-0.5, 0.0, 0.0)).length() < 1e-3);
    let apart = Template::of_density(&DUMBBELL, 3.0, false).unwrap();
    assert!((apart.mass() - 8.0 / 3.0 * PI * 0.008 * 3.0).abs() < 1e-15);
    assert!(Template::of_density(&[], 1.0, false).is_err());
    assert!(apart.clone().with_inertia(DVec3::new(1.0, 1.0, 3.0)).is_err());
    assert!(apart.with_inertia(DVec3::new(1.0, 1.0, 2.0)).is_ok());
}

#[test]
fn discs_turn_in_their_plane() {
    let template = Template::of_mass(&DUMBBELL, 2.0, true).unwrap();
    let start = Start { spin: 3.0 * DVec3::Z, ..at(DVec3::ZERO) };
    let mut state = State { clumps: Clumps::default(), ..State::default() };
    state.clumps.push(&template, &start, 0, &mut state.particles);
    assert!((state.clumps.list[0].angular_momentum.z - 3.0 * 2.0 * (0.5 * 0.04 + 0.09)).abs() < 1e-14);
    let mut simulation = Simulation::new(state, Vec::new(), vacuum(), Adhesion::uniform(Law::Inelastic));
    simulation.settings.dt = 0.01;
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    let expected = DVec3::new(3.0_f64.cos(), 3.0_f64.sin(), 0.0) * 0.3;
    assert!(simulation.state.particles.position[1].distance(expected) < 1e-12);
}

/// It was told as "particle 0 moves by 0.000e0 of the smallest radius".
#[test]
fn a_clump_that_spins_too_fast_is_told_by_its_number_and_turn() {
    let template = Template::of_mass(&BOOMERANG, 2.0, false).unwrap();
    let slow = at(DVec3::X * 9.0);
    let fast = Start { spin: DVec3::new(3e6, 1e6, 0.0), ..at(DVec3::ZERO) };
    let mut simulation = world(&[(&template, slow), (&template, fast)], vacuum(), false, Law::Inelastic);
    simulation.settings.dt = 0.1;
    let before = simulation.state.clone();
    let told = simulation.step().unwrap_err().to_string();
    assert!(told.contains("clump 1 turns by") && told.contains("rad"), "{told}");
    assert!(simulation.state == before, "a step that fails changes nothing");
}

/// Velocities that follow forces at once, and an environment that says so.
struct Carried;

impl Environment for Carried {
    fn predict(&self, particles: &Particles, span: Span, to: &mut Prediction) -> Result<(), EnvironmentError> {
        to.clear();
        particles.radius.iter().for_each(|_| to.push(DVec3::X, 1.0 / (3.0 * span.dt)));
        Ok(())
    }

    fn inertia(&self) -> Inertia {
        Inertia::None
    }

    fn potential_energy(&self, _: &Particles, _: f64) -> f64 {
        0.0
    }
}

/// Environments that had forgotten to say that masses do not resist were taken for some in which they do: clumps went on with
/// the velocities and spins they had.
#[test]
fn clumps_forget_their_velocity_where_an_environment_has_no_inertia() {
    let template = Template::of_mass(&BOOMERANG, 2.0, false).unwrap();
    let start = Start { velocity: DVec3::Y * 5.0, spin: DVec3::Z, ..at(DVec3::ZERO) };
    let mut simulation = world(&[(&template, start)], Box::new(Carried), false, Law::Inelastic);
    simulation.settings.dt = 0.01;
    simulation.step().unwrap();
    let clump = &simulation.state.clumps.list[0];
    assert!(clump.velocity.distance(DVec3::X) < 1e-9 && clump.spin().length() < 1e-9, "{clump:?}");
}

/// A pile of clumps as a scene.
const PILE: &str = r#"
seed = 3
[time]
dt = 2e-3
until = 1
[contact]
law.gluey = { gamma_min = -0.01 }
[environment]
gravity = [0, 0, -9.81]
[[particles]]
density = 1
source.fill = { count = 10, radius = 0.1, region.box = { lower = [-0.5, -0.5, 0], upper = [0.5, 0.5, 1] } }
[[clump]]
name = "trefoil"
density = 1
make.spheres = [
    { position = [0.1, 0, 0], radius = 0.12 },
    { position = [-0.05, 0.09, 0], radius = 0.12 },
    { position = [-0.05, -0.09, 0], radius = 0.12 },
]
place.fill = { region.box = { lower = [-0.5, -0.5, 0], upper = [0.5, 0.5, 4] }, count = 25 }
[[obstacle]]
name = "box"
shape.box = { side = "inside", lower = [-0.5, -0.5, 0], upper = [0.5, 0.5, 5] }
"#;

fn pile() -> Simulation {
    Scene::parse(PILE, Path::new("pile.toml")).unwrap_or_else(|error| panic!("{error}")).simulation
}

#[test]
fn a_state_that_is_taken_over_goes_on_with_the_same_bits() {
    let mut whole = pile();
    let mut halves = pile();
    for _ in 0..120 {
        whole.step().unwrap();
        halves.step().unwrap();
    }
    let state = halves.state.clone();
    halves = pile();
    halves.state = state;
    for _ in 0..60 {
        whole.step().unwrap();
        halves.step().unwrap();
    }
    assert!(whole.state == halves.state);
}

#[test]
fn sweeps_and_gradients_find_the_same_motion_of_clumps() {
    let mut simulation = pile();
    for _ in 0..800 {
        simulation.step().unwrap();
    }
    assert!(simulation.state.contacts.len() > 60, "{}", simulation.state.contacts.len());
    let problem = simulation.last_problem(3).problem;
    let criteria = Criteria { tolerance: 1e-9, ..Criteria::default() };
    let solved = |solver: &mut dyn Projection| {
        let mut solution = Solution::starting_from(vec![0.0; problem.rows.len()]);
        let outcome = solver.solve(&problem, &criteria, &mut solution);
        assert_eq!(outcome.status, Status::Converged);
        // What is reported is what the impulses alone give.
        assert_eq!(outcome.accuracy, problem.accuracy(&solution.impulses));
        (solution.velocity, outcome.sweeps)
    };
    let (swept, sweeps) = solved(&mut AcceleratedGaussSeidel::default());
    let (descended, steps) = solved(&mut AcceleratedGradient::default());
    let largest = swept.iter().zip(&descended).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(largest * problem.dt < 1e-7 * problem.length, "{largest:.1e}");
    assert!(sweeps < steps, "{sweeps} {steps}");
}

#[test]
fn clumps_that_cannot_be_are_refused_where_they_stand() {
    let refused = |from: &str, to: &str, words: &[&str]| {
        assert!(PILE.contains(from), "{from}");
        let Err(error) = Scene::parse(&PILE.replacen(from, to, 1), Path::new("pile.toml")) else {
            panic!("{to} should be refused");
        };
        let message = error.to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    };
    refused("density = 1\nmake", "make", &["clumps `trefoil` have no mass"]);
    refused("density = 1\nmake", "density = 1\nmass = 2\nmake", &["both `mass` and `density`", ":15:11"]);
    refused("density = 1\nmake", "density = 1\ninertia = [1, 1]\nmake", &["three moments"]);
    refused("density = 1\nmake", "density = 1\ninertia = [1, 1, 9]\nmake", &["no body has these moments"]);
    refused("name = \"trefoil\"", "name = \"trefoil\"\ngroup = \"x\"", &["there is no group `x`"]);
    refused("count = 25 }", "count = 2500 }", &["found room for"]);
    refused("radius = 0.12 },\n]", "radius = -0.12 },\n]", &["must be positive"]);
    refused("make.spheres = [", "make.spheres = []\nunused = [", &["unknown key `unused`"]);
    refused("gravity = [0, 0, -9.81]", "drag.rotne-prager = { viscosity = 1 }", &["clumps", "rotne-prager"]);
    let spheres = &PILE[PILE.find("make.spheres").unwrap()..PILE.find("place.fill").unwrap()];
    refused(spheres, "make.spheres = []\n", &["at least one sphere"]);
    let fill = PILE.lines().find(|line| line.starts_with("place.fill")).unwrap();
    let placed = |more: &str| format!("place.list = [{{ position = [0, 0, 2.5]{more} }}]");
    refused(fill, &placed(", axis = [0, 0, 0]"), &["no direction"]);
    let spun = placed(", spin = 3");
    refused(fill, &spun, &["three numbers in 3D", &format!(":21:{}", spun.find('3').unwrap() + 1)]);
    refused(fill, "place.list = []", &["the list of clumps `trefoil` is empty", ":21:14"]);
    refused(fill, "place.list = [{ position = [0, 0, 2.5] }, { position = [0, 0, 2.6] }]", &["overlap"]);
}

#[test]
fn clumps_leave_whole_and_the_others_go_on() {
    let outlet = "[[outlet]]\nname = \"hole\"\nbox = { lower = [-0.5, -0.5, 0], upper = [0, 0.5, 0.3] }\nfrom = 0.3\n";
    let mut simulation = Scene::parse(&format!("{PILE}{outlet}"), Path::new("pile.toml")).unwrap().simulation;
    let before = simulation.state.clumps.list.len();
    for _ in 0..400 {
        simulation.step().unwrap();
        let State { particles, clumps, .. } = &simulation.state;
        for clump in &clumps.list {
            let ids = &particles.id[clump.spheres()];
            assert!(ids.is_sorted() && ids[2] - ids[0] == 2 && (ids[0] - 10) % 3 == 0, "{ids:?}");
            let held = clump.spheres().zip(clumps.arms_of(clump));
            held.for_each(|(i, arm)| {
                assert!(particles.position[i].distance(clump.centre + clump.orientation * *arm) < 1e-12);
            });
        }
    }
    let State { particles, clumps, .. } = &simulation.state;
    let left = particles.len() - 3 * clumps.list.len();
    assert!(clumps.list.len() < before && !clumps.list.is_empty() && left <= 10);
    assert_eq!(clumps.arms.len(), 3 * clumps.list.len());
}

#[test]
fn the_last_clump_may_leave() {
    let outlet = "[[outlet]]\nname = \"all\"\nbox = { lower = [-9, -9, -9], upper = [9, 9, 9] }\nfrom = 0.1\n";
    let mut simulation = Scene::parse(&format!("{PILE}{outlet}"), Path::new("pile.toml")).unwrap().simulation;
    for _ in 0..60 {
        simulation.step().unwrap();
    }
    assert!(simulation.state.particles.is_empty() && simulation.state.clumps.is_empty());
}

/// Two clumps on one line, that pushes and pulls along it never turn: μ = m_a m_b / (m_a + m_b).
#[test]
fn clumps_stick_until_as_much_impulse_has_pulled_as_has_pressed() {
    let rod = [(-0.4, 0.15), (-0.1, 0.2), (0.25, 0.15)].map(|(x, radius)| (DVec3::X * x, radius));
    let (dumbbell, rod) = (Template::of_mass(&DUMBBELL, 2.0, false), Template::of_mass(&rod, 3.0, false));
    let (dumbbell, rod) = (dumbbell.unwrap(), rod.unwrap());
    let reduced = 2.0 * 3.0 / 5.0;
    // Surfaces meet at x = 0.5.
    let end = rod.balls.iter().map(|ball| ball.position.x - ball.radius).fold(f64::INFINITY, f64::min);
    let radius = rod.balls[0].radius;
    for (scaling, weight) in
        [(Scaling::Unit, 1.0), (Scaling::Lubrication, (0.2 + radius).powi(2) / (0.2 * radius).powi(2))]
    {
        let starts = [(&dumbbell, Start { velocity: DVec3::X, ..at(DVec3::ZERO) }), (&rod, at(DVec3::X * (0.5 - end)))];
        let law = Law::Gluey { threshold: Threshold::Smooth, scaling };
        let mut simulation = world(&starts, vacuum(), false, law);
        simulation.settings.dt = 0.01;
        // An impulse on the dumbbell along x.
        let push = |simulation: &mut Simulation, impulse: f64| {
            let State { particles, clumps, .. } = &mut simulation.state;
            clumps.list[0].velocity.x += impulse / 2.0;
            let velocity = clumps.list[0].velocity;
            clumps.list[0].spheres().for_each(|sphere| particles.velocity[sphere] = velocity);
        };
        let apart = |simulation: &Simulation| {
            let list = &simulation.state.clumps.list;
            list[1].velocity.x - list[0].velocity.x
        };
        // The hit, and a push of 0.5, of which the rod takes 3/5.
        simulation.step().unwrap();
        push(&mut simulation, 0.5);
        simulation.step().unwrap();
        let mut pressed = reduced + 0.5 * 3.0 / 5.0;
        let gamma = |simulation: &Simulation| simulation.state.contacts.iter().map(|c| c.gamma).sum::<f64>();
        assert!((gamma(&simulation) + weight * pressed).abs() < 1e-8 * weight, "{}", gamma(&simulation));
        // Pulls of 0.45 that the glue holds: the rod follows.
        let pull = 0.45;
        while pressed > pull * 3.0 / 5.0 {
            push(&mut simulation, -pull);
            simulation.step().unwrap();
            pressed -= pull * 3.0 / 5.0;
            assert!((gamma(&simulation) + weight * pressed).abs() < 1e-8 * weight, "{}", gamma(&simulation));
            assert!(apart(&simulation).abs() < 1e-8, "{}", apart(&simulation));
        }
        assert!((pressed - 0.15).abs() < 1e-9, "{pressed}");
        // What is left holds back a part of the last one, and then they are free.
        push(&mut simulation, -pull);
        simulation.step().unwrap();
        assert!(gamma(&simulation).abs() < 1e-8 * weight, "{}", gamma(&simulation));
        let expected = pull / 2.0 - pressed / reduced;
        assert!((apart(&simulation) - expected).abs() < 1e-8, "{} {expected}", apart(&simulation));
        let turned = simulation.state.clumps.list.iter().map(|clump| clump.angular_momentum.length());
        assert!(turned.fold(0.0, f64::max) < 1e-9);
        for _ in 0..10 {
            simulation.step().unwrap();
        }
        assert!((apart(&simulation) - expected).abs() < 1e-8, "nothing holds them any more");
    }
}

#[test]
fn a_red_cell_has_no_hole() {
    let text = "time = { dt = 1, until = 1 }\n[[clump]]\nname = 'cell'\ndensity = 1\nmake.biconcave = { radius = 2 }\n\
                place.list = [{ position = [0, 0, 0] }]\n";
    let simulation = Scene::parse(text, Path::new("cell.toml")).unwrap().simulation;
    let State { particles, .. } = &simulation.state;
    assert_eq!(particles.len(), 17);
    for (ring, spoke) in (0..=88).flat_map(|ring| (0..180).map(move |spoke| (ring, spoke))) {
        let (sine, cosine) = (PI * f64::from(spoke) / 90.0).sin_cos();
        let point = DVec3::new(cosine, sine, 0.0) * (0.02 * f64::from(ring));
        let mut spheres = particles.position.iter().zip(&particles.radius);
        assert!(spheres.any(|(centre, radius)| centre.distance(point) < *radius), "a hole at {point}");
    }
    // Thick at the rim, thin in the middle.
    let thickest = particles.radius.iter().copied().fold(0.0, f64::max);
    assert!(particles.radius[16] < 0.6 * thickest && thickest < 0.35 * 2.0);
}

#[test]
fn red_cells_keep_their_shape_and_flow_downstream() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/red-cells.toml");
    let mut simulation = Scene::load(&path).unwrap_or_else(|error| panic!("{error}")).simulation;
    let allowed = 3.0 * simulation.settings.criteria.tolerance * simulation.state.particles.smallest_radius();
    let before: Vec<DVec3> = simulation.state.clumps.list.iter().map(|clump| clump.centre).collect();
    assert_eq!(before.len(), 220);
    for _ in 0..25 {
        let report = simulation.step().unwrap();
        assert!(report.least_gap > -allowed, "{:.1e}", report.least_gap);
    }
    assert!(overlap(&simulation) < allowed && !simulation.state.contacts.is_empty());
    let State { particles, clumps, .. } = &simulation.state;
    let cell = particles.cell.unwrap();
    let mut downstream = 0.0;
    for (clump, before) in clumps.list.iter().zip(before) {
        downstream += cell.shortest(clump.centre - before).x / 220.0;
        let (first, arms) = (clump.spheres().start, clumps.arms_of(clump));
        for (k, arm) in arms.iter().enumerate() {
            let offset = cell.shortest(particles.position[first + k] - particles.position[first]);
            assert!((offset.length() - arm.distance(arms[0])).abs() < 1e-9);
        }
        assert!((clump.orientation.length() - 1.0).abs() < 1e-12);
    }
    // Poiseuille's mean is 2 over the tube; cells keep off the wall, and hold each other up.
    let speed = downstream / simulation.time();
    println!("mean speed of the cells {speed:.3}");
    assert!((1.5..3.5).contains(&speed), "{speed}");
}
