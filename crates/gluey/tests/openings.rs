//! Inlets and outlets: numbers and ids add up, nobody overlaps, and who stays does not notice.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;

use common::{floor, gluey, gravity, obstacle, particles, simulation, vertical_forces};
use glam::{DQuat, DVec3};
use gluey::adhesion::Law;
use gluey::environment::{Dimension, Signal, Table};
use gluey::geometry::{Particles, Shape, Side};
use gluey::openings::{Inlet, Openings, Outlet, Region, Weight};
use gluey::scene::Scene;
use gluey::simulation::{Simulation, State};
use proptest::prelude::*;

fn inlet(region: Region, rate: f64, radii: [f64; 2]) -> Inlet {
    Inlet {
        name: "in".to_owned(),
        region,
        rate: Signal::Constant(rate),
        from: 0.0,
        until: f64::INFINITY,
        limit: u64::MAX,
        radii,
        weight: Weight::Density(1.0),
        group: 0,
        velocity: DVec3::ZERO,
    }
}

fn outlet(region: Region) -> Outlet {
    Outlet { name: "out".to_owned(), region, groups: None, from: 0.0, until: f64::INFINITY }
}

fn cube(lower: [f64; 3], upper: [f64; 3]) -> Region {
    Region::Box { lower: DVec3::from(lower), upper: DVec3::from(upper) }
}

fn container(lower: DVec3, upper: DVec3) -> Shape {
    let (centre, half) = (lower.midpoint(upper), 0.5 * (upper - lower));
    Shape::Box { centre, half, orientation: DQuat::IDENTITY, side: Side::Inside, open: Vec::new() }
}

fn with_openings(mut simulation: Simulation, inlets: Vec<Inlet>, outlets: Vec<Outlet>) -> Simulation {
    simulation.openings = Openings { inlets, outlets, seed: 1, dimension: Dimension::Three };
    simulation
}

/// The same state with nothing remembered from the steps before.
fn afresh(of: &Simulation, g: DVec3, law: Law) -> Simulation {
    let mut fresh = simulation(Particles::default(), of.obstacles.clone(), law);
    (fresh.state, fresh.openings, fresh.settings) = (of.state.clone(), of.openings.clone(), of.settings.clone());
    fresh.environment = gravity(g);
    fresh
}

fn least_gap(particles: &Particles) -> f64 {
    let pairs = (0..particles.len()).flat_map(|i| (i + 1..particles.len()).map(move |j| (i, j)));
    pairs.map(|(i, j)| particles.gap(i, j).0).fold(f64::INFINITY, f64::min)
}

/// What of a particle never changes.
type Person = (f64, f64, u32);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn numbers_add_up_and_ids_are_for_life(
        seed in any::<u64>(), rates in prop::collection::vec(0.0..400.0_f64, 1..3),
        least in 0.04..0.1_f64, spread in 0.0..0.1_f64, drain in -0.9..0.9_f64, ball in any::<bool>(), glued in any::<bool>(),
    ) {
        let law = if glued { gluey(f64::NEG_INFINITY) } else { Law::Inelastic };
        let box_around = container(DVec3::splat(-1.0), DVec3::splat(1.0));
        let mut start = Particles::default();
        start.push(DVec3::new(0.0, 0.0, -0.5), 0.1, 1.0);
        let base = simulation(start, vec![obstacle("box", box_around)], law);
        let door = |k: usize| {
            let x = k as f64 - 0.5;
            if ball && k == 0 {
                Region::Ball { centre: DVec3::new(x, 0.0, 0.5), radius: 0.3 }
            } else {
                cube([x - 0.4, -0.9, 0.3], [x + 0.4, 0.9, 0.9])
            }
        };
        let inlets = rates.iter().enumerate().map(|(k, rate)| inlet(door(k), *rate, [least, least + spread])).collect();
        let hole = Region::Ball { centre: DVec3::new(drain, drain, -0.9), radius: 0.4 };
        let mut run = with_openings(base, inlets, vec![outlet(hole), outlet(cube([-1.0, -1.0, -1.0], [-0.6, 1.0, -0.6]))]);
        run.openings.seed = seed;
        run.environment = gravity(DVec3::new(0.0, 0.0, -10.0));
        run.settings.dt = 0.01;
        let mut known: BTreeMap<u64, Person> = BTreeMap::new();
        let mut present: Vec<u64> = run.state.particles.id.clone();
        let allowed = -1.01 * run.settings.criteria.tolerance * run.smallest_radius();
        for _ in 0..60 {
            // Whatever is remembered of who is near whom, the step is that of its state.
            let mut fresh = afresh(&run, DVec3::new(0.0, 0.0, -10.0), law);
            let report = run.step().unwrap();
            prop_assert_eq!(&fresh.step().unwrap(), &report);
            prop_assert_eq!(&fresh.state, &run.state);
            let now = &run.state.particles;
            let (entered, left) = (report.traffic.entered.number, report.traffic.left.number);
            prop_assert_eq!(now.len() as u64 + left, 1 + entered);
            prop_assert_eq!(now.born, 1 + entered);
            prop_assert!(now.id.is_sorted_by(|a, b| a < b), "ids increase and are unique");
            for (k, id) in now.id.iter().enumerate() {
                let person = (now.radius[k], now.mass[k], now.group[k]);
                prop_assert_eq!(*known.entry(*id).or_insert(person), person);
            }
            let newest = present.last().copied().unwrap_or(0);
            prop_assert!(now.id.iter().all(|id| present.contains(id) || *id > newest), "nobody comes back");
            present.clone_from(&now.id);
            prop_assert!(least_gap(now) >= allowed, "{}", least_gap(now));
            let due: u64 = rates.iter().map(|rate| (rate * run.time() * (1.0 + 1e-9)).floor() as u64).sum();
            prop_assert_eq!(entered + report.traffic.waiting, due);
            for contact in &run.state.contacts {
                prop_assert!((contact.pair.first() as usize) < now.len());
            }
            prop_assert!(run.state.contacts.is_sorted_by_key(|contact| contact.pair));
            prop_assert!(run.state.least_norm_dual.is_empty() || run.state.least_norm_dual.len() == now.len());
        }
        let (mass, entered) = (run.state.particles.mass.iter().sum::<f64>(), &run.state.ledger);
        let came: f64 = 1.0 + entered.inlets.iter().map(|inlet| inlet.amount.mass).sum::<f64>();
        let went: f64 = entered.outlets.iter().map(|amount| amount.mass).sum();
        prop_assert!((came - went - mass).abs() < 1e-12 * came.max(1.0));
    }
}

/// What has to have come in by a time.
type Integral = fn(f64) -> f64;

#[test]
fn the_rate_is_met_exactly_where_there_is_room() {
    let wide = cube([-50.0; 3], [50.0; 3]);
    let steps = Signal::Steps(Table::new(vec![0.0, 0.5], vec![100.0, 300.0]).unwrap());
    let swing = Signal::expression("100 * (1 + sin(20 * t))").unwrap();
    let exact: [(Inlet, Integral); 5] = [
        (inlet(wide, 37.3, [0.1, 0.1]), |t| 37.3 * t),
        (inlet(wide, 1000.0, [0.1, 0.1]), |t| 1000.0 * t),
        (Inlet { rate: steps, ..inlet(wide, 0.0, [0.1, 0.1]) }, |t| 100.0 * t + 200.0 * (t - 0.5).max(0.0)),
        (Inlet { rate: swing, ..inlet(wide, 0.0, [0.1, 0.1]) }, |t| 100.0 * t + 5.0 * (1.0 - (20.0 * t).cos())),
        (Inlet { from: 0.25, until: 0.75, limit: 40, ..inlet(wide, 100.0, [0.1, 0.1]) }, |t| {
            (100.0 * (t.min(0.75) - 0.25).max(0.0)).min(40.0)
        }),
    ];
    for (inlet, exact) in exact {
        let mut run =
            with_openings(simulation(Particles::default(), Vec::new(), Law::Inelastic), vec![inlet], Vec::new());
        run.settings.dt = 0.01;
        for _ in 0..100 {
            let traffic = run.step().unwrap().traffic;
            assert_eq!(traffic.waiting, 0);
            let missing = exact(run.time()) - traffic.entered.number as f64;
            assert!((-1e-6..1.0).contains(&missing), "{missing} at {}", run.time());
        }
    }
}

#[test]
fn a_rate_that_cannot_be_evaluated_leaves_the_state_as_it_was() {
    let wild =
        Inlet { rate: Signal::expression("1 / (t - t)").unwrap(), ..inlet(cube([0.0; 3], [1.0; 3]), 0.0, [0.1; 2]) };
    let start = particles(&[(DVec3::splat(3.0), 0.1, 1.0)]);
    let mut run = with_openings(simulation(start, Vec::new(), Law::Inelastic), vec![wild], Vec::new());
    let before = run.state.clone();
    let error = run.step().unwrap_err();
    assert!(error.to_string().contains("rate of inlet `in`"), "{error}");
    assert_eq!(run.state, before);
}

/// A shaft with a floor, filled from above until nobody fits, then opened below.
#[test]
fn a_blocked_inlet_owes_and_catches_up() {
    let shaft = container(DVec3::new(-0.3, -0.3, 0.0), DVec3::new(0.3, 0.3, 2.0));
    let top = inlet(cube([-0.3, -0.3, 0.6], [0.3, 0.3, 1.0]), 100.0, [0.1, 0.1]);
    let below =
        Outlet { from: 1.0, ..outlet(Region::HalfSpace { point: DVec3::new(0.0, 0.0, 0.2), normal: DVec3::Z }) };
    let base = simulation(Particles::default(), vec![obstacle("shaft", shaft)], Law::Inelastic);
    let mut run = with_openings(base, vec![Inlet { limit: 60, ..top }], vec![below]);
    run.environment = gravity(DVec3::new(0.0, 0.0, -10.0));
    run.settings.dt = 0.01;
    let mut most = 0;
    while run.time() < 4.0 {
        let traffic = run.step().unwrap().traffic;
        most = most.max(traffic.waiting);
        assert!(least_gap(&run.state.particles) > -1e-6);
        assert_eq!(traffic.left.number > 0, run.time() >= 0.999, "the outlet opens at 1");
    }
    assert!(most > 10, "only {most} had to wait");
    let ledger = &run.state.ledger;
    assert_eq!(ledger.inlets[0].amount.number, 60, "all came in once there was room");
    assert!((ledger.inlets[0].amount.mass - 60.0 * Dimension::Three.volume(0.1)).abs() < 1e-12);
    assert_eq!(ledger.outlets[0].number as usize + run.state.particles.len(), 60);
}

/// Far from a pair that meets, sticks and is torn apart, others fly into outlets, one before, one between and one
/// behind them in the list.
#[test]
fn a_glued_pair_does_not_notice_who_leaves() {
    let pair = [(DVec3::new(0.0, 0.0, 0.0), 0.5, 1.0), (DVec3::new(0.0, 0.0, 1.2), 0.5, 2.0)];
    let far = |k: f64| (DVec3::new(100.0 + 10.0 * k, 0.0, 0.0), 0.5, 1.0);
    // Group 1 and 3 are the pair.
    let others = particles(&[far(0.0), pair[0], far(1.0), pair[1], far(2.0)]);
    let mut alone = particles(&pair);
    alone.group = vec![1, 3];
    let pushes = vec![vec![0.0, 1.0, 0.0, -1.0, 0.0], vec![0.0, -0.7, 0.0, 0.6, 0.0]];
    let start = |mut particles: Particles| {
        for (v, group) in particles.velocity.iter_mut().zip(&particles.group) {
            v.x = if group % 2 == 0 { 5.0 * (1.0 + f64::from(*group)) } else { 0.0 };
        }
        let mut run = simulation(particles, Vec::new(), gluey(f64::NEG_INFINITY));
        run.environment = vertical_forces(&[0.0, 1.5], &pushes);
        run.settings.dt = 0.01;
        run
    };
    let wall = Region::HalfSpace { point: DVec3::new(130.0, 0.0, 0.0), normal: -DVec3::X };
    let mut run = with_openings(start(others), Vec::new(), vec![outlet(wall)]);
    let mut alone = start(alone);
    let (mut glued, mut numbers) = (0, Vec::new());
    while alone.time() < 6.5 {
        run.step().unwrap();
        alone.step().unwrap();
        let (all, two) = (&run.state.particles, &alone.state.particles);
        let at = [1, 3].map(|id| all.id.iter().position(|other| *other == id).unwrap());
        assert_eq!(at.map(|k| all.position[k]), [two.position[0], two.position[1]], "to the bit");
        assert_eq!(at.map(|k| all.velocity[k]), [two.velocity[0], two.velocity[1]]);
        let glue = |run: &Simulation| run.state.contacts.iter().map(|c| (c.gamma, c.impulse)).collect::<Vec<_>>();
        assert_eq!(glue(&run), glue(&alone));
        for contact in &run.state.contacts {
            let ids = match contact.pair.partner() {
                gluey::contact::Partner::Particle(j) => [all.id[contact.pair.first() as usize], all.id[j as usize]],
                gluey::contact::Partner::Obstacle { .. } => panic!("there is none"),
            };
            assert_eq!(ids, [1, 3]);
        }
        glued += u32::from(!run.state.contacts.is_empty());
        numbers.push(all.len());
    }
    numbers.dedup();
    assert_eq!(numbers, [5, 4, 3, 2], "the others left one by one");
    assert!((100..600).contains(&glued), "it was glued for {glued} steps, and is no more");
}

/// One leaves on the left and one comes in on the right in the same step, so that there are as many as before: lists of
/// neighbours of the same length must not be taken for those of the newcomer.
#[test]
fn as_many_as_before_are_not_the_same() {
    let mut start = Particles::default();
    start.push(DVec3::new(0.0, 0.0, 0.5), 0.1, 1.0);
    start.push(DVec3::new(5.0, 0.0, 0.1), 0.1, 1.0);
    let place = cube([4.9, -0.1, 0.5], [5.1, 0.1, 0.7]);
    let right = Inlet { limit: 1, velocity: DVec3::new(0.0, 0.0, -1.0), ..inlet(place, 2.01, [0.0999; 2]) };
    let left = Outlet { from: 0.499, ..outlet(cube([-1.0; 3], [1.0; 3])) };
    let mut run = with_openings(simulation(start, vec![floor()], Law::Inelastic), vec![right], vec![left]);
    run.settings.dt = 0.01;
    for _ in 0..150 {
        let before = run.state.particles.id.clone();
        run.step().unwrap();
        let after = &run.state.particles.id;
        assert_eq!(after.len(), 2);
        assert!(*after == before || (before == [0, 1] && *after == [1, 2]), "both in one step");
        assert!(least_gap(&run.state.particles) > -1e-6, "the newcomer fell through at {}", run.time());
        assert!(run.state.particles.position.iter().all(|x| x.z > 0.1 - 1e-6));
    }
    assert_eq!(run.state.particles.id, [1, 2]);
    assert!((run.state.particles.position[1].z - 0.2999).abs() < 1e-4, "it came to rest on the other");
}

#[test]
fn a_run_may_become_empty_and_fill_again() {
    let top = cube([-0.5, -0.5, 1.0], [0.5, 0.5, 2.0]);
    let falling = Inlet { velocity: DVec3::new(0.0, 0.0, -5.0), ..inlet(top, 1.0, [0.1, 0.2]) };
    let below = outlet(Region::HalfSpace { point: DVec3::ZERO, normal: DVec3::Z });
    let base = simulation(Particles::default(), vec![floor()], gluey(-1.0));
    let mut run = with_openings(base, vec![falling], vec![below]);
    run.settings.dt = 0.01;
    run.obstacles[0].shape = Shape::HalfSpace { point: DVec3::new(0.0, 0.0, -3.0), normal: DVec3::Z };
    let mut numbers = Vec::new();
    for _ in 0..500 {
        let report = run.step().unwrap();
        assert_eq!(report.unconverged, 0);
        assert!(report.residual.is_finite() && report.slip.is_finite());
        numbers.push(run.state.particles.len());
    }
    numbers.dedup();
    assert_eq!(numbers, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
}

const FLOW: &str = r"
dimension = 2
seed = 4
[time]
dt = 0.005
until = 2
[contact.law.gluey]
gamma_min = -0.01
[environment]
gravity = [0, -10]
[[group]]
name = 'a'
[[group]]
name = 'b'
[[inlet]]
name = 'top'
box = { lower = [-0.5, 1], upper = [0.5, 1.5] }
rate = 40
radius = [0.04, 0.06]
density = 100
velocity = [0, -1]
group = 'b'
[[inlet]]
ball = { centre = [0, 1.9], radius = 0.2 }
rate.linear = { times = [0, 2], values = [0, 30] }
radius = 0.05
mass = 1
from = 0.5
until = 1.5
limit = 12
[[outlet]]
name = 'bottom'
box = { lower = [-inf, -inf], upper = [inf, -1] }
groups = ['b']
[[outlet]]
half-space = { point = [0, -2], normal = [0, 1] }
[[obstacle]]
shape.segment = { from = [-0.6, 0.5], to = [0, 0], thickness = 0.02 }
";

fn scene(text: &str) -> Result<Scene, String> {
    Scene::parse(text, "flow.toml".as_ref()).map_err(|error| error.to_string())
}

#[test]
fn a_scene_has_openings_and_goes_on_from_its_state() {
    let mut whole = scene(FLOW).unwrap().simulation;
    let mut last = 0;
    while whole.time() < 2.0 {
        whole.step().unwrap();
        if whole.state.step.is_multiple_of(97) {
            let kept: State = postcard::from_bytes(&postcard::to_stdvec(&whole.state).unwrap()).unwrap();
            let mut resumed = scene(FLOW).unwrap().simulation;
            resumed.state = kept;
            for _ in 0..20 {
                resumed.step().unwrap();
            }
            last = last.max(resumed.state.step);
            while whole.state.step < resumed.state.step {
                whole.step().unwrap();
            }
            assert_eq!(resumed.state, whole.state);
        }
    }
    assert!(last > 300);
    let ledger = &whole.state.ledger;
    assert_eq!(ledger.inlets[0].amount.number, (40.0 * whole.time() + 1e-6) as u64);
    assert_eq!(ledger.inlets[1].amount.number, 12, "∫ 15 t dt from 0.5 to 1.5 is 15, but the limit is 12");
    assert!(ledger.outlets[0].number > 20 && ledger.outlets[1].number > 0, "{ledger:?}");
    let radii = &whole.state.particles;
    assert!(radii.group.iter().zip(&radii.radius).all(|(group, r)| (0.04..=0.06).contains(r) || *group == 0));
}

#[test]
fn what_is_wrong_with_an_opening_is_told_at_its_place() {
    let refused = |from: &str, to: &str, words: &[&str]| {
        let told = scene(&FLOW.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("`{to}` was accepted"));
        for word in words {
            assert!(told.contains(word), "`{word}` is not in:\n{told}");
        }
    };
    refused("rate = 40", "rate = -1", &["flow.toml:18:8: -1 is not allowed here: it must be from 0"]);
    refused("rate = 40", "rate = 'fast'", &["18:8:", "a number, or a table with `steps`, `linear` or `expression`"]);
    refused("rate = 40\n", "", &["`rate` is missing"]);
    refused("rate = 40", "rate.expression = 'sinn(t)'", &["18:20: unknown", "sin"]);
    refused("[0, 30] }", "[0, -30] }", &["-30 is not allowed here"]);
    refused("times = [0, 2]", "times = [2, 0]", &["expected a time after"]);
    refused("upper = [0.5, 1.5]", "upper = [-0.5, 1.5]", &["this box is empty"]);
    refused("upper = [0.5, 1.5]", "upper = [inf, 1.5]", &["17:", "inf is not allowed here"]);
    refused("upper = [0.5, 1.5]", "upper = [-0.4, 1.5]", &["17:1: a particle of radius 0.06 does not fit", "enlarge"]);
    refused("radius = 0.2 }", "radius = 0.01 }", &["a particle of radius 0.05 does not fit"]);
    refused("density = 100", "", &["`mass` or `density`, one of them"]);
    refused("density = 100", "density = 1\nmass = 1", &["`mass` or `density`, one of them"]);
    refused("group = 'b'", "group = 'c'", &["there is no group `c`"]);
    refused("groups = ['b']", "groups = ['bb']", &["there is no group `bb`", "did you mean `b`?"]);
    refused("until = 1.5\n", "until = 0.4\n", &["it closes at 0.4, before it opens at 0.5"]);
    refused("limit = 12", "limit = 0", &["a positive whole number"]);
    refused("ball = {", "box = { lower = [0, 0], upper = [1, 1] }\nball = {", &["`box` or a `ball`, one of them"]);
    refused("half-space", "ball = { centre = [0, 0], radius = 1 }\nhalf-space", &["`box`, a `ball` or a `half-space`"]);
    refused("normal = [0, 1]", "normal = [0, 0]", &["a normal needs a direction"]);
    refused("upper = [inf, -1]", "upper = [inf, nan]", &["NaN is not allowed here"]);
    refused("name = 'bottom'", "name = 'top'", &["a second opening `top`"]);
    refused("name = 'bottom'", "nam = 'top'", &["unknown key `nam`", "did you mean `name`?"]);
    let buried = "[[obstacle]]\nshape.box = { lower = [-1, 0.9], upper = [1, 1.6], side = 'outside' }\n[[obstacle]]";
    refused("[[obstacle]]", buried, &["17:1: the obstacles leave no room in this region at t = 0"]);
    assert!(scene("time = { dt = 1, until = 1 }").err().unwrap().contains("or an [[inlet]]"));
}
