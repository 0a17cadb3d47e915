//! Measures against what is known of simple moments, and what scenes may ask for.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::path::Path;

use common::{floor, gluey, gravity, particles, simulation};
use glam::{DMat3, DVec3};
use gluey::contact::{Contact, ContactGeometry, Pair, Partner};
use gluey::geometry::Particles;
use gluey::measures::{Bodies, Clusters, Coordination, Network, Region, Settling, contact_stress, observe};
use gluey::neighbours;
use gluey::scene::Scene;
use gluey::simulation::{Gate, Simulation};

fn region(lower: [f64; 3], upper: [f64; 3], dimension: usize) -> Region {
    Region::new(lower.into(), upper.into(), dimension).unwrap()
}

fn scene(text: &str) -> Scene {
    Scene::parse(text, Path::new("measured.toml")).unwrap_or_else(|error| panic!("{error}"))
}

/// Five spheres of diameter 1 on each other, at rest under gravity.
fn column() -> Simulation {
    let list: Vec<_> = (0..5).map(|k| (DVec3::Z * (f64::from(k) + 0.5), 0.5, 2.0)).collect();
    let mut column = simulation(particles(&list), vec![floor()], gluey(0.0));
    column.environment = gravity(DVec3::Z * -10.0);
    column.settings.dt = 0.01;
    column.settings.criteria.tolerance = 1e-12;
    for _ in 0..3 {
        column.step().unwrap();
    }
    column
}

#[test]
fn a_column_bears_the_weight_above() {
    let column = column();
    let (contacts, particles) = (column.contacts(), &column.state.particles);
    let stress = |z: [f64; 2]| {
        let slab = region([-1.0, -1.0, z[0]], [1.0, 1.0, z[1]], 3);
        contact_stress(particles, &contacts, &slab, column.settings.dt)
    };
    for above in 1..=5_u32 {
        // Between the centres of a sphere and the one below it, or the floor.
        let top = 5.5 - f64::from(above);
        let found = stress([(top - 0.9).max(0.0), top - 0.1]);
        let expected = -20.0 * f64::from(above) / 4.0;
        assert!((found.z_axis.z - expected).abs() < 1e-6, "{above} above: {found}, not {expected}");
        assert!((found - DMat3::from_diagonal(DVec3::Z * found.z_axis.z)).abs_diff_eq(DMat3::ZERO, 1e-12));
    }
    // Over the whole height: the mean of the weights above, by the lengths over which they act.
    let mean = -20.0 / 4.0 * (1.0 + 2.0 + 3.0 + 4.0 + 5.0 * 0.5) / 5.0;
    assert!((stress([0.0, 5.0]).z_axis.z - mean).abs() < 1e-6);
    let network = Network::of(&contacts, column.settings.dt);
    assert_eq!((network.contacts, network.pushing.count, network.glued), (5, 5, 0));
    assert!((network.pushing.greatest - 100.0).abs() < 1e-6 && (network.pushing.mean - 60.0).abs() < 1e-6);
}

/// Pairs that touch.
fn touching(particles: &Particles) -> Vec<ContactGeometry> {
    let near = neighbours::pairs(&particles.position, &particles.radius);
    let contact = |(i, j): (u32, u32)| {
        let (gap, normal) = particles.gap(i as usize, j as usize);
        let contact = Contact { pair: Pair::particles(i, j), gamma: -1.0, impulse: 0.0 };
        ContactGeometry { contact, gap, normal }
    };
    near.into_iter().map(contact).filter(|contact| contact.gap < 1e-6).collect()
}

#[test]
fn a_hexagonal_heap_has_the_coordination_of_its_shape() {
    // A hexagon of s discs a side: 3s(s − 1) + 1 discs, 3(s − 1)(3s − 2) contacts, six neighbours inside.
    let s = 5_i32;
    let mut heap = Particles::default();
    for (i, j) in (1 - s..s).flat_map(|i| (1 - s..s).map(move |j| (i, j))).filter(|(i, j)| (i + j).abs() < s) {
        let (i, j) = (f64::from(i), f64::from(j));
        heap.push(DVec3::new(i + 0.5 * j, 0.75_f64.sqrt() * j, 0.0), 0.5 + 1e-9, 1.0);
    }
    let contacts = touching(&heap);
    assert_eq!((heap.len(), contacts.len()), (61, 156));
    let bodies = Bodies::of(&heap, &[]);
    let found = Coordination::of(&bodies, &contacts, 2);
    assert!((found.mean - 2.0 * 156.0 / 61.0).abs() < 1e-12);
    assert_eq!(found.distribution, [0, 0, 0, 6, 18, 0, 37], "corners, sides, inside");
    assert_eq!((found.free, found.rattlers), (0, 0));
    assert_eq!(Clusters::of(&bodies, &contacts).largest(), 61);
}

#[test]
fn a_cloud_settles_at_stokes_speed() {
    let cloud = r"
        time = { dt = 0.01, until = 1 }
        environment = { gravity = [0, 0, -9.81], drag.stokes = { viscosity = 2 }, inertia = false }
        particles = [{ mass = 3, source.lattice = { lower = [0, 0, 0], upper = [5, 5, 5], spacing = 1, radius = 0.1 } }]
        measure = [{ name = 'fall', kind.settling = {} }]
    ";
    let mut scene = scene(cloud);
    scene.simulation.step().unwrap();
    let speed = 3.0 * 9.81 / (6.0 * PI * 2.0 * 0.1);
    let settling = Settling::of(&scene.simulation.state.particles, -DVec3::Z, 3);
    assert!((settling.mean / speed - 1.0).abs() < 1e-12, "{settling:?}");
    assert!(settling.fluctuation < 1e-12 * speed && settling.temperature < 1e-20 * speed * speed);
    let told = observe(&scene.instruments, &scene.simulation, scene.dimension);
    assert_eq!(told, [settling.mean, settling.fluctuation, settling.temperature]);
}

/// Discs on a square lattice of 0.5 that drift at 0.3 along x, through planes that look along and against it.
const DRIFT: &str = r"
    dimension = 2
    time = { dt = 0.01, until = 10 }
    environment = { drag.coefficient = 1, inertia = false, flow = ['0.3', '0'] }
    particles = [{ mass = 1, source.lattice = { lower = [-4, 0], upper = [0, 2], spacing = 0.5, radius = 0.1 } }]
    measure = [
        { name = 'along', kind.flux = { plane = { point = [0.17, 0], normal = [2, 0] } } },
        { name = 'against', kind.flux = { plane = { point = [0.17, 0], normal = [-1, 0] } } },
        { name = 'beside', kind.flux = { plane = { point = [0, 1], normal = [0, 1] } } },
    ]
";

#[test]
fn a_drift_through_a_plane_is_counted_particle_by_particle() {
    let mut scene = scene(DRIFT);
    let start = scene.simulation.state.particles.clone();
    for steps in [100_u32, 500, 1000] {
        while scene.simulation.state.step < u64::from(steps) {
            scene.simulation.step().unwrap();
        }
        let gone = 0.3 * 0.01 * f64::from(steps);
        let crossed = start.position.iter().filter(|x| x.x < 0.17 && x.x + gone >= 0.17).count() as f64;
        let told = observe(&scene.instruments, &scene.simulation, 2);
        let area = crossed * PI * 0.01;
        let expected = [crossed, area, -crossed, -area, 0.0, 0.0];
        assert!(told.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{told:?}, not {expected:?}");
    }
    assert!(scene.simulation.state.crossings[0].number >= 20);
}

#[test]
fn crossings_are_counted_in_every_sub_step() {
    // A pair of discs meets and spins, fast enough that steps are split; each is past the plane for a part of the turn.
    let mut pair = Particles::default();
    for side in [-1.0, 1.0] {
        pair.push(DVec3::new(0.5 * side, 0.0, 0.0), 0.5, 1.0);
        *pair.velocity.last_mut().unwrap() = DVec3::new(-0.5, 2.0, 0.0) * side;
    }
    let mut spin = simulation(pair, Vec::new(), gluey::adhesion::Law::Aggregating { strength: 1e6 });
    spin.settings.dt = 0.1;
    spin.gates = vec![Gate { point: DVec3::Y * 0.2, normal: DVec3::Y, dimension: 2 }];
    let (mut split, mut changes) = (0, 0);
    for _ in 0..200 {
        let side = |spin: &Simulation| spin.state.particles.position.iter().map(|x| i64::from(x.y >= 0.2)).sum::<i64>();
        let (before, counted) = (side(&spin), spin.state.crossings.first().map_or(0, |crossings| crossings.number));
        split += u32::from(spin.step().unwrap().substeps > 1);
        let now = spin.state.crossings[0].number;
        assert_eq!(now - counted, side(&spin) - before, "the count is the change of sides");
        changes += u32::from(now != counted);
    }
    assert!(split > 10 && changes > 2, "{split} {changes}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let base = |gravity: &str, measure: &str| {
        format!(
            "dimension = 2\ntime = {{ dt = 0.01, until = 1 }}\nenvironment.gravity = {gravity}\n\
             particles = [{{ mass = 1, source.list = [{{ position = [0, 0], radius = 0.1 }}] }}]\nmeasure = [{measure}]\n"
        )
    };
    let refused = |measure: &str, words: &[&str]| {
        let error = Scene::parse(&base("[0, 0]", measure), Path::new("bad.toml")).err().unwrap().to_string();
        for word in words.iter().chain(&["bad.toml:5:"]) {
            assert!(error.contains(word), "`{word}` is not in\n{error}");
        }
    };
    refused("{ name = 'a', kind = 'porosity' }", &["porosity", "solid-fraction"]);
    refused("{ name = 'a', kind.solid-fraction = {} }", &["box"]);
    refused(
        "{ name = 'a', kind.solid-fraction = { box = { lower = [0, 1], upper = [1, 1] } } }",
        &["the region is empty", "along y"],
    );
    refused(
        "{ name = 'a', kind.stress = { box = { lower = [0, 1, 1], upper = [1, 2, 0] } } }",
        &["in a 2D scene z must be 0"],
    );
    refused(
        "{ name = 'a', kind.flux = { plane = { point = [0, 0], normal = [0, 0] } } }",
        &["a direction has a length other than 0"],
    );
    refused("{ name = 'a', kind.settling = {} }", &["no constant gravity", "give a `direction`"]);
    refused("{ name = 'a', kind.settling = { direction = [0, 0] } }", &["a length other than 0"]);
    refused("{ name = 'a', kind = 'network' }, { name = 'a', kind = 'clusters' }", &["a second measure `a`"]);
    refused("{ name = '', kind = 'network' }", &["this name is empty"]);
    refused("{ name = 'a,b', kind = 'network' }", &["no comma and no quotation mark"]);
    refused("{ name = 'a\"b', kind = 'network' }", &["no comma and no quotation mark"]);
    refused("{ name = \"a\\nb\", kind = 'network' }", &["a name is one line"]);
    let down = scene(&base("[0, -1]", "{ name = 'a', kind.settling = {} }, { name = 'b', kind = 'network' }"));
    assert_eq!(down.instruments.len(), 2);
}

fn bonds(simulation: &Simulation) -> BTreeSet<(u32, u32)> {
    let bond = |contact: &Contact| match contact.pair.partner() {
        Partner::Particle(j) if contact.gamma < 0.0 => Some((contact.pair.first(), j)),
        _ => None,
    };
    simulation.state.contacts.iter().filter_map(bond).collect()
}

#[test]
fn aggregates_never_lose_a_bond_and_grow() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/aggregation.toml");
    let mut scene = Scene::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let (mut before, mut largest) = (BTreeSet::new(), 0);
    for _ in 0..250 {
        scene.simulation.step().unwrap();
        let (now, contacts) = (bonds(&scene.simulation), scene.simulation.contacts());
        assert!(now.is_superset(&before), "step {}", scene.simulation.state.step);
        // A bond that rolls by d in a step opens by d²/(2(r_i + r_j)), and d is at most 0.2 of the smallest radius.
        let opened = contacts.iter().map(|contact| contact.gap).fold(0.0, f64::max);
        assert!(opened < 0.01 * scene.simulation.state.particles.smallest_radius(), "a bond opened by {opened}");
        let size = Clusters::of(&Bodies::of(&scene.simulation.state.particles, &[]), &contacts).largest();
        assert!(size >= largest, "the largest cluster shrank from {largest} to {size}");
        (before, largest) = (now, size);
    }
    assert!(before.len() > 300 && largest > 10, "{} bonds, {largest} in a cluster", before.len());
}

#[test]
fn aggregates_without_drift_keep_their_momentum() {
    let mut cloud = Particles::default();
    for k in 0..60_u32 {
        let (i, j) = (f64::from(k % 8), f64::from(k / 8));
        cloud.push(DVec3::new(i, j, 0.0) * 0.3, 0.1, 1.0 + 0.1 * i);
        let phase = 2.4 * f64::from(k);
        *cloud.velocity.last_mut().unwrap() = DVec3::new(phase.cos(), phase.sin(), 0.0);
    }
    let momentum = cloud.momentum();
    let mut free = simulation(cloud, Vec::new(), gluey::adhesion::Law::Aggregating { strength: 1e6 });
    free.settings.dt = 0.01;
    for _ in 0..100 {
        free.step().unwrap();
        assert!((free.state.particles.momentum() - momentum).length() < 1e-11);
    }
    assert!(bonds(&free).len() > 20, "{}", bonds(&free).len());
}
