//! Forces between near pairs in whole simulations: equilibria in closed form, bridges that break, and that nothing of
//! it is lost between steps.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use gluey::scene::Scene;
use gluey::simulation::{Simulation, StepError};

fn simulation(text: &str) -> Simulation {
    Scene::parse(text, Path::new("pair.toml")).unwrap_or_else(|error| panic!("{error}")).simulation
}

fn run(simulation: &mut Simulation, steps: u32) {
    for _ in 0..steps {
        simulation.step().unwrap_or_else(|error| panic!("{error}"));
    }
}

fn gap(simulation: &Simulation) -> f64 {
    simulation.state.particles.gap(0, 1).0
}

/// Two of radius 0.5 a gap apart along x, pulled by a force of x, with these environment and pair force.
fn pulled(environment: &str, gap: f64, pull: &str, pair_force: &str) -> Simulation {
    simulation(&format!(
        "time = {{ dt = 1e-3, until = 1 }}\nenvironment = {environment}\n\
         [[particles]]\nmass = 1\nsource.list = [{{ position = [{}, 0, 0], radius = 0.5 }}, \
         {{ position = [{}, 0, 0], radius = 0.5 }}]\n\
         [[force]]\nforce.expression = [\"{pull}\", \"0\", \"0\"]\n[[pair-force]]\n{pair_force}\n",
        -0.5 - 0.5 * gap,
        0.5 + 0.5 * gap,
    ))
}

const ENVIRONMENTS: [&str; 3] =
    ["{ drag.coefficient = 20 }", "{ drag.coefficient = 5, inertia = false }", "{ drag.rotne-prager.viscosity = 0.5 }"];
const LINEAR: &str = "bridge.linear = { strength = 2, rupture = 0.1 }";

/// Springs to ±(0.5 + 0.032) of constant K = 100 pull with K (0.032 − D/2): with 2 (1 − D/0.1) of the bridge this is
/// balanced at D* = (2 − 3.2)/(20 − 50) = 0.04, and stably so.
#[test]
fn a_linear_bridge_holds_against_springs_at_the_known_gap() {
    for environment in ENVIRONMENTS {
        let mut simulation = pulled(environment, 0.0, "-100 * (x - 0.532 * sign(x))", LINEAR);
        run(&mut simulation, 20_000);
        assert!((gap(&simulation) - 0.04).abs() < 1e-9, "{environment}: {}", gap(&simulation));
        assert_eq!(simulation.state.bridges.len(), 1);
    }
}

/// F(D) = 2πRσ cos θ/(1 + 1.05 Ŝ + 2.5 Ŝ²) = K (0.06 − D/2) by Newton's method.
#[test]
fn a_capillary_bridge_holds_against_springs_at_the_known_gap() {
    let (sigma, theta, volume, stiffness, anchor) = (0.5_f64, 0.4_f64, 1e-3_f64, 100.0, 0.06);
    let root = (0.5 / volume).sqrt();
    let top = std::f64::consts::PI * sigma * theta.cos();
    let mut known = 0.05;
    for _ in 0..50 {
        let (s, below) = (known * root, 1.0 + 1.05 * known * root + 2.5 * (known * root).powi(2));
        let excess = top / below - stiffness * (anchor - 0.5 * known);
        known -= excess / (-top * root * (1.05 + 5.0 * s) / (below * below) + 0.5 * stiffness);
    }
    assert!((0.01..1.2 * 0.1).contains(&known), "{known}");
    let bridge =
        format!("bridge.capillary = {{ surface_tension = {sigma}, contact_angle = {theta}, volume = {volume} }}");
    for environment in ENVIRONMENTS {
        let mut simulation = pulled(environment, 0.0, "-100 * (x - 0.56 * sign(x))", &bridge);
        run(&mut simulation, 20_000);
        assert!((gap(&simulation) - known).abs() < 1e-9, "{environment}: {} {known}", gap(&simulation));
    }
}

#[test]
fn a_constant_pull_parts_two_spheres_just_above_the_strength_of_their_bridge() {
    for (pull, holds) in [(1.998, true), (2.002, false)] {
        let mut simulation =
            pulled("{ drag.coefficient = 5, inertia = false }", 0.0, &format!("{pull} * sign(x)"), LINEAR);
        run(&mut simulation, 2000);
        assert_eq!(simulation.state.bridges.len() == 1, holds, "{pull}");
        assert_eq!(gap(&simulation).abs() < 1e-6, holds, "{pull}: {}", gap(&simulation));
    }
}

/// A pull of f is balanced at D* = rupture (1 − f/strength), where the least push decides which way it goes.
#[test]
fn the_balance_with_a_constant_pull_is_where_it_tips() {
    for (offset, closes) in [(-1e-4, true), (1e-4, false)] {
        let bridge = "bridge.linear = { strength = 2, rupture = 0.1, formation = 0.1 }";
        let mut simulation =
            pulled("{ drag.coefficient = 5, inertia = false }", 0.06 + offset, "0.8 * sign(x)", bridge);
        run(&mut simulation, 3000);
        assert_eq!(gap(&simulation).abs() < 1e-6, closes, "{}", gap(&simulation));
        assert_eq!(simulation.state.bridges.len() == 1, closes);
    }
}

const HANGING: &str = r#"
time = { dt = 1e-3, until = 1 }
environment = { gravity = [0, 0, -10], drag.coefficient = 1 }
particles = [{ mass = 0.5, source.list = [{ position = [0.5, 0, -0.25], radius = 0.25 }] }]
obstacle = [{ name = "lid", shape.half-space = { point = [0, 0, 0], normal = [0, 0, -1] } }]
pair-force = [{ obstacles = ["lid"], bridge.linear = { strength = 6, rupture = 0.05 } }]
"#;

#[test]
fn a_grain_hangs_from_a_lid_that_bears_its_weight() {
    let mut wet = simulation(HANGING);
    run(&mut wet, 500);
    let report = wet.step().unwrap();
    assert!(wet.state.particles.position[0].z.abs() - 0.25 < 1e-6);
    assert!((report.loads[0].force.z + 5.0).abs() < 1e-6, "{:?}", report.loads);
    assert!((report.loads[0].torque.y - 2.5).abs() < 1e-6, "{:?}", report.loads);
    let mut too_heavy = simulation(&HANGING.replace("strength = 6", "strength = 4.9"));
    run(&mut too_heavy, 1000);
    assert!(too_heavy.state.particles.position[0].z < -0.5 && too_heavy.state.bridges.is_empty());
}

/// In a corner a grain has a bridge with both walls, whatever their order in the force; each pulls it once.
#[test]
fn bridges_with_several_obstacles_are_sorted_and_last() {
    let text = r#"
dimension = 2
time = { dt = 1e-3, until = 1 }
environment = { gravity = [0.1, 0.1], drag.coefficient = 1 }
particles = [{ mass = 0.5, source.list = [{ position = [0.25, 0.25], radius = 0.25 }] }]
pair-force = [{ obstacles = ["b", "a", "b"], bridge.linear = { strength = 6, rupture = 0.05 } }]
[[obstacle]]
name = "a"
shape.half-space = { point = [0, 0], normal = [1, 0] }
[[obstacle]]
name = "b"
shape.half-space = { point = [0, 0], normal = [0, 1] }
"#;
    let mut simulation = simulation(text);
    run(&mut simulation, 100);
    assert_eq!(simulation.state.bridges.len(), 2);
    assert!(simulation.state.bridges.is_sorted());
    let impulses: Vec<f64> = simulation.state.contacts.iter().map(|contact| contact.impulse / 1e-3).collect();
    assert!(impulses.iter().all(|push| (push - (6.0 - 0.05)).abs() < 1e-6), "{impulses:?}");
}

const CLOUD: &str = r#"
seed = 4
time = { dt = 2e-3, until = 1 }
[[group]]
name = "dry"
[[group]]
name = "wet"
[[particles]]
density = 1000
velocity = [0.5, 0, 0]
source.fill = { count = 60, radius = [0.04, 0.06], region.box = { lower = [0, 0, 0], upper = [0.5, 1, 1] } }
[[particles]]
group = "wet"
density = 1000
velocity = [-0.5, 0, 0.1]
source.fill = { count = 60, radius = [0.04, 0.06], region.box = { lower = [0.5, 0, 0], upper = [1, 1, 1] } }
[[pair-force]]
groups = ["wet"]
bridge.capillary = { surface_tension = 10, contact_angle = 0.2, volume = 1e-6 }
[[pair-force]]
name = "soft"
groups = ["dry", "wet"]
expression = "-3 * exp(-D / 0.02)"
range = 0.1
"#;

fn cloud(threads: usize) -> Simulation {
    let mut simulation = simulation(CLOUD);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| run(&mut simulation, 300));
    simulation
}

#[test]
fn clouds_keep_their_momentum_and_any_number_of_threads_gives_the_same_bits() {
    let start = simulation(CLOUD).state.particles.momentum();
    let one = cloud(1);
    assert!(one.state.bridges.len() > 10, "{}", one.state.bridges.len());
    assert!(one.state.bridges.is_sorted(), "states are sorted");
    assert!((one.state.particles.momentum() - start).length() < 1e-12 * 60.0, "{}", one.state.particles.momentum());
    assert_eq!(cloud(2).state, one.state);
}

#[test]
fn a_run_goes_on_from_its_state_alone() {
    let mut whole = cloud(1);
    let mut resumed = simulation(CLOUD);
    resumed.state = whole.state.clone();
    let mut forgetful = simulation(CLOUD);
    forgetful.state = whole.state.clone();
    forgetful.state.bridges.clear();
    for simulation in [&mut whole, &mut resumed, &mut forgetful] {
        run(simulation, 50);
    }
    assert_eq!(resumed.state, whole.state);
    assert_ne!(forgetful.state, whole.state, "bridges matter");
}

#[test]
fn a_step_that_fails_leaves_bridges_as_they_were() {
    let text = format!(
        "{CLOUD}[[pair-force]]\nname = 'blast'\nexpression = 'if(t < 0.6005, 0, if(D < 0.05, 1/0, 0))'\nrange = 0.1\n"
    );
    let mut simulation = simulation(&text.replace("dt = 2e-3", "dt = 2e-3, max_slip = 0.01"));
    // The steps of this scene are split: the force fails in a later part of a step.
    while simulation.time() < 0.6 - 1e-9 {
        run(&mut simulation, 1);
    }
    let before = simulation.state.clone();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::Interaction(_)), "{error}");
    let told = error.to_string();
    assert!(
        told.starts_with("pair force `blast` between particles ") && told.contains(" is inf at a gap of "),
        "{told}"
    );
    assert_eq!(simulation.state, before);
}

/// The message must hold each of the words.
fn refused(pair_force: &str, words: &[&str]) {
    let error = Scene::parse(&format!("{CLOUD}[[pair-force]]\n{pair_force}"), Path::new("bad.toml")).err().unwrap();
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in:\n{message}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    refused("name = 'x'", &["bad.toml:25:", "`x` needs either `expression` and `range`, or `bridge`"]);
    refused("expression = 'D'", &["`pair force 2` needs either"]);
    refused("expression = 'D'\nrange = 1\nbridge.linear = { strength = 1, rupture = 1 }", &["needs either"]);
    refused("expression = 'D + x'\nrange = 1", &["bad.toml:26:19:", "unknown name `x`"]);
    refused("expression = 'D'\nrange = -1", &["bad.toml:27:9:", "positive"]);
    refused("expression = '1/0'\nrange = 1", &["bad.toml:26:14:", "finite"]);
    refused("bridge.linear = { strength = 1, rupture = -1 }", &["bad.toml:26:43:", "positive"]);
    refused("bridge.linear = { strength = 1, rupture = 1, formation = 2 }", &["bad.toml:26:58:", "from 0 to the gap"]);
    refused(
        "bridge.capillary = { surface_tension = 1, volume = 1, contact_angle = 2 }",
        &["bad.toml:26:71:", "below π/2"],
    );
    refused("bridge.capilary = {}", &["bad.toml:26:8:", "did you mean `capillary`?"]);
    refused("groups = ['wett']\nbridge.linear = { strength = 1, rupture = 1 }", &["bad.toml:26:11:", "`wet`"]);
    refused("groups = []\nbridge.linear = { strength = 1, rupture = 1 }", &["bad.toml:26:10:", "between two, not 0"]);
    refused("obstacles = ['lid']\nbridge.linear = { strength = 1, rupture = 1 }", &["no obstacle `lid`"]);
}
