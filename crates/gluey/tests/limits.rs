//! What is too far out, too fast or too narrow is refused by name, and the state is as it was.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::simulation;
use glam::DVec3;
use gluey::adhesion::Law;
use gluey::geometry::{Cell, Particles};
use gluey::scene::Scene;
use gluey::simulation::{Culprit, Simulation, StepError};

fn scene(text: &str) -> Scene {
    match Scene::parse(text, Path::new("test.toml")) {
        Ok(scene) => scene,
        Err(error) => panic!("{error}"),
    }
}

/// Two balls of radius 0.5 that approach each other at 2, from 0.02 apart, centred here.
fn two_balls(at: DVec3) -> Simulation {
    let mut particles = Particles::default();
    for side in [-1.0, 1.0] {
        particles.push(at + DVec3::Y * (0.51 * side), 0.5, 1.0);
        *particles.velocity.last_mut().unwrap() = -DVec3::Y * side;
    }
    free(particles, 1e-2)
}

fn free(particles: Particles, dt: f64) -> Simulation {
    let mut simulation = simulation(particles, Vec::new(), Law::Inelastic);
    simulation.settings.dt = dt;
    simulation
}

/// Steps until an error, and checks that it left the state as it was; none if all steps went well.
fn error_in(simulation: &mut Simulation, steps: u32) -> Option<StepError> {
    for _ in 0..steps {
        let before = simulation.state.clone();
        if let Err(error) = simulation.step() {
            assert_eq!(simulation.state, before);
            return Some(error);
        }
        assert!(simulation.state.particles.position.iter().all(|x| x.is_finite()));
        assert!(simulation.state.particles.velocity.iter().all(|v| v.is_finite()));
    }
    None
}

#[test]
fn two_balls_beyond_what_numbers_resolve_do_not_overlap_in_silence() {
    for exponent in 0..=15 {
        let far = 10.0_f64.powi(exponent);
        for at in [DVec3::X * far, DVec3::Y * far, DVec3::new(far, -far, far)] {
            let mut simulation = two_balls(at);
            let error = error_in(&mut simulation, 5);
            let (gap, _) = simulation.state.particles.gap(0, 1);
            // Along x the line of centres is at right angles to the large coordinate: rounding is of second order.
            let resolved = exponent <= if at.y == 0.0 { 11 } else { 8 };
            match error {
                None => assert!(resolved, "{at}: the gap is {gap}"),
                Some(error) => {
                    assert!(!resolved, "{at}: {error}");
                    assert!(matches!(error, StepError::Unresolved { .. }), "{error}");
                }
            }
            assert!(gap >= -2e-6 * 0.5, "{at}: {gap}");
        }
    }
    let error = error_in(&mut two_balls(DVec3::Y * 1e10), 5).unwrap().to_string();
    assert!(
        error
            .starts_with("particle 0 at y = 1.000e10 touches particle 1, but with numbers as large as 1.0e10 rounding"),
        "{error}"
    );
    assert!(error.contains("put the origin") && error.contains("`solver.tolerance`"), "{error}");
}

#[test]
fn a_particle_that_has_flown_away_touches_nobody_and_stops_nobody() {
    let mut simulation = two_balls(DVec3::ZERO);
    for far in [1e12, -1e100, 1e200] {
        simulation.state.particles.push(DVec3::new(far, 1.0, 0.0), 0.5, 1.0);
        let last = simulation.state.particles.len() - 1;
        simulation.state.particles.velocity[last] = DVec3::X * 10.0;
    }
    let mut alone = two_balls(DVec3::ZERO);
    assert!(error_in(&mut simulation, 10).is_none());
    assert!(error_in(&mut alone, 10).is_none());
    assert_eq!(simulation.state.particles.position[..2], alone.state.particles.position[..]);
    // Two that are lost at the same place, as far as numbers can tell.
    let beside = simulation.state.particles.position[2] + DVec3::X * 1.001;
    simulation.state.particles.push(beside, 0.5, 1.0);
    let error = error_in(&mut simulation, 1).unwrap();
    assert!(matches!(error, StepError::Unresolved { particle: 2, .. }), "{error}");
}

#[test]
fn a_wall_is_resolved_along_its_normal_however_far_along_it_a_ball_has_rolled() {
    let ball = |position: &str, point: &str| {
        let text = format!(
            "time = {{ dt = 0.01, until = 1 }}\ncontact.law = \"inelastic\"\nenvironment.gravity = [0, 0, -10]\n\
             particles = [{{ mass = 1, source.list = [{{ position = {position}, radius = 0.5 }}] }}]\n\
             obstacle = [{{ name = \"floor\", shape.half-space = {{ point = {point}, normal = [0, 0, 1] }} }}]\n"
        );
        error_in(&mut scene(&text).simulation, 40)
    };
    assert!(ball("[1e14, 0, 0.6]", "[0, 0, 0]").is_none());
    assert!(ball("[0, 0, 0.6]", "[1e14, 0, 0]").is_none());
    let error = ball("[0, 0, 10000000000.75]", "[0, 0, 1e10]").unwrap().to_string();
    assert!(error.contains("touches obstacle `floor`") && error.contains("z = 1.000e10"), "{error}");
}

#[test]
fn a_ball_beside_an_obstacle_of_huge_numbers_is_told_their_size() {
    let text = "time = { dt = 0.01, until = 1 }\ncontact.law = \"inelastic\"\nenvironment.gravity = [0, 0, -10]\n\
         particles = [{ mass = 1, source.list = [{ position = [0, 0, 0.6], radius = 0.5 }] }]\n\
         obstacle = [{ name = \"planet\", shape.sphere = { centre = [0, 0, -1e12], radius = 1e12, side = \"outside\" } }]\n";
    let error = error_in(&mut scene(text).simulation, 40).unwrap().to_string();
    assert!(error.contains("touches obstacle `planet`, but with numbers as large as 2.0e12"), "{error}");
}

#[test]
fn a_move_to_nowhere_is_no_good_step() {
    let mut particles = Particles::default();
    particles.push(DVec3::ZERO, 0.5, 1.0);
    particles.velocity[0] = DVec3::X * 1e200;
    let error = error_in(&mut free(particles.clone(), 1e150), 3).unwrap();
    assert!(matches!(error, StepError::NotFinite { particle: 0, what: "position" }), "{error}");
    particles.velocity[0] = DVec3::X * f64::NAN;
    let error = free(particles.clone(), 0.1).step().unwrap_err();
    assert_eq!(error.to_string(), "the a-priori velocity is NaN at t = 0 on particle 0");
    particles.velocity[0] = DVec3::ZERO;
    particles.position[0].y = f64::NAN;
    let error = free(particles, 0.1).step().unwrap_err();
    assert!(matches!(error, StepError::NotFinite { particle: 0, what: "position" }), "{error}");
}

#[test]
fn a_cell_far_narrower_than_a_particle_is_an_error_and_fills_no_memory() {
    for period in [1e-4, 1e-9, 1e-90] {
        let mut particles = Particles {
            cell: Some(Cell::with_periods(DVec3::ZERO, DVec3::new(period, period, 0.0)).unwrap()),
            ..Particles::default()
        };
        particles.push(DVec3::ZERO, 0.5, 1.0);
        particles.push(DVec3::Z * 5.0, 0.5, 1.0);
        let error = free(particles, 0.1).step().unwrap_err();
        assert!(matches!(error, StepError::NarrowCell { .. }), "{error}");
        let text = format!(
            "time = {{ dt = 0.01, until = 1 }}\ncontact.law = \"inelastic\"\nperiodic.x = [0, {period:e}]\n\
             periodic.y = [0, {period:e}]\nparticles = [{{ mass = 1, source.list = [\n\
             {{ position = [0, 0, 0], radius = 0.5 }}, {{ position = [0, 0, 5], radius = 0.5 }}] }}]\n"
        );
        let error = Scene::parse(&text, Path::new("narrow.toml")).err().unwrap().to_string();
        assert!(error.contains("too narrow for particles of radius 0.5"), "{error}");
    }
}

const FLOOR: &str = "particles = [{ mass = 1, source.list = [{ position = [0, 0, 0.6], radius = 0.5 }, \
     { position = [9, 0, 0.6], radius = 0.5 }] }]\ncontact.law = \"inelastic\"\n";

#[test]
fn an_obstacle_that_is_too_fast_is_named_and_not_a_particle_at_rest() {
    let text = format!(
        "{FLOOR}time = {{ dt = 0.01, until = 1 }}\nobstacle = [{{ name = \"piston\", motion.translation.velocity = \
         [0, 0, 1e6], shape.half-space = {{ point = [0, 0, 0], normal = [0, 0, 1] }} }}]\n"
    );
    let error = error_in(&mut scene(&text).simulation, 1).unwrap();
    let StepError::TooManySubsteps { culprit: Culprit::Obstacle { ref name, path, .. }, dt, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(name, "piston");
    assert!((path / 1e4 - 1.0).abs() < 1e-9, "{path}");
    assert!(error.to_string().contains("obstacle `piston` moves by up to 1.000e4 in it"), "{error}");
    // What is advised helps.
    let mut shorter = scene(&text.replace("dt = 0.01", &format!("dt = {}", 0.9 * dt)));
    shorter.simulation.step().unwrap();
}

#[test]
fn a_particle_too_fast_for_the_step_is_named_with_its_way() {
    let text = format!("{FLOOR}time = {{ dt = 1e3, until = 1e6 }}\nenvironment.gravity = [1e6, 0, -10]\n");
    let with_floor = format!(
        "{text}obstacle = [{{ name = \"floor\", shape.sphere = {{ centre = [0, 0, -50], radius = 50, side = \"outside\" }} }}]\n"
    );
    let error = error_in(&mut scene(&with_floor).simulation, 3).unwrap();
    let told = error.to_string();
    assert!(told.contains("time.dt") && !told.contains("solver.tolerance"), "{told}");
}

#[test]
fn an_obstacle_that_goes_around_the_cell_without_end_is_refused() {
    let text = "time = { dt = 0.01, until = 1 }\ncontact.law = \"inelastic\"\nperiodic.x = [0, 1e-5]\nperiodic.y = [0, 1e-5]\n\
         particles = [{ mass = 1, source.list = [{ position = [0, 0, 20], radius = 1e-7 }] }]\n\
         obstacle = [{ name = \"ball\", shape.sphere = { centre = [0, 0, 0], radius = 10, side = \"outside\" } }]\n";
    let error = Scene::parse(text, Path::new("narrow.toml")).err().unwrap().to_string();
    assert!(error.contains("obstacle `ball` goes 2.0e6 times around the cell along x: too long"), "{error}");
}
