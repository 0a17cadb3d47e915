//! Crowds: one person walks the shortest way, many keep out of each other's way.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;
use gluey::environment::crowd::{Exit, Turnstile};
use gluey::scene::Scene;
use gluey::simulation::Simulation;

fn load(text: &str) -> Simulation {
    Scene::parse(text, Path::new("crowd.toml")).unwrap_or_else(|error| panic!("{error}")).simulation
}

/// Walks until somebody is through the exit: length of the way, and the time. The way goes on through the faces of a
/// cell.
fn walk(mut simulation: Simulation, exit: &Exit) -> (f64, f64) {
    let cell = simulation.state.particles.cell;
    let (mut length, mut before) = (0.0, simulation.state.particles.position[0]);
    let mut place = before;
    for _ in 0..100_000 {
        simulation.step().unwrap();
        let after = simulation.state.particles.position[0];
        let way = cell.map_or(after - before, |cell| cell.shortest(after - before));
        length += way.length();
        if exit.crossed(place, place + way) == 1 {
            return (length, simulation.time());
        }
        (place, before) = (place + way, after);
    }
    panic!("nobody left");
}

/// The end of a wall at the origin hangs down between somebody and the exit.
fn corner(position: &str, cell: f64) -> Simulation {
    load(&format!(
        "dimension = 2\n\
         time = {{ dt = 0.002, until = 10 }}\n\
         environment.crowd = {{ speed = 1.5, cell = {cell}, \
         exits = [{{ from = [-3, -1.5], to = [0, -1.5], out = [0, -1] }}] }}\n\
         particles = [{{ mass = 1, source.list = [{{ position = {position}, radius = 0.2 }}] }}]\n\
         obstacle = [{{ name = 'wall', shape.segment = {{ from = [0, 0], to = [0, -5] }} }}]\n"
    ))
}

#[test]
fn somebody_alone_walks_the_shortest_way_around_a_corner() {
    let exit = Exit { from: (-3.0, -1.5).into(), to: (0.0, -1.5).into(), out: (0.0, -1.0).into() };
    let radius: f64 = 0.2;
    for ((x, y), cell, share) in
        [((2.0, -2.0), 0.025, 2e-3), ((0.5, -2.3), 0.025, 2e-3), ((2.0, -2.0), 0.05, 5e-3), ((1.0, -0.3), 0.05, 5e-3)]
    {
        // Straight to the tangent point, along the arc, straight down.
        let distance = f64::hypot(x, y);
        let angle = PI - y.atan2(x) - (radius / distance).acos();
        let exact = (distance * distance - radius * radius).sqrt() + radius * angle + 1.5;
        let (length, time) = walk(corner(&format!("[{x}, {y}]"), cell), &exit);
        println!("cell {cell}: way {:+.2e}, time {:+.2e}", length / exact - 1.0, time * 1.5 / exact - 1.0);
        assert!((length / exact - 1.0).abs() < share, "({x}, {y}): {length} instead of {exact}");
        assert!((time * 1.5 / exact - 1.0).abs() < 2.0 * share, "({x}, {y}): {time} instead of {}", exact / 1.5);
    }
}

/// The same corner in a cell whose face is between somebody and the wall: wall and exit are met through it.
#[test]
fn the_shortest_way_leads_through_the_face_of_a_cell() {
    let exit = Exit { from: (-3.0, -1.5).into(), to: (0.0, -1.5).into(), out: (0.0, -1.0).into() };
    let (radius, x, y): (f64, f64, f64) = (0.2, 2.0, -2.0);
    let distance = f64::hypot(x, y);
    let angle = PI - y.atan2(x) - (radius / distance).acos();
    let exact = (distance * distance - radius * radius).sqrt() + radius * angle + 1.5;
    for ends in ["[-6, 6]", "[1, 13]", "[-0.1, 11.9]"] {
        let text = format!(
            "dimension = 2\n\
             time = {{ dt = 0.002, until = 10 }}\n\
             periodic.x = {ends}\n\
             environment.crowd = {{ speed = 1.5, \
             exits = [{{ from = [-3, -1.5], to = [0, -1.5], out = [0, -1] }}] }}\n\
             particles = [{{ mass = 1, source.list = [{{ position = [{x}, {y}], radius = 0.2 }}] }}]\n\
             obstacle = [{{ name = 'wall', shape.segment = {{ from = [0, 0], to = [0, -5] }} }}]\n"
        );
        let (length, time) = walk(load(&text), &exit);
        println!("cell {ends}: way {:+.2e}, time {:+.2e}", length / exact - 1.0, time * 1.5 / exact - 1.0);
        assert!((length / exact - 1.0).abs() < 5e-3, "{ends}: {length} instead of {exact}");
        assert!((time * 1.5 / exact - 1.0).abs() < 1e-2, "{ends}: {time} instead of {}", exact / 1.5);
    }
}

/// A corridor that repeats every 10 along x, with an exit across it at x = 1 that is walked through forwards.
const RING: &str = r"
dimension = 2
seed = 4
time = { dt = 0.01, until = 3 }
periodic.x = [0, 10]
environment.crowd = { speed = 1.3, exits = [{ from = [1, 0], to = [1, 3], out = [1, 0] }] }
obstacle = [
    { name = 'low', shape.half-space = { point = [0, 0], normal = [0, 1] } },
    { name = 'high', shape.half-space = { point = [0, 3], normal = [0, -1] } },
]
";

#[test]
fn who_is_nearer_to_the_exit_through_the_face_walks_through_it() {
    // 3 on through the face to the exit, where 7 back lead to its outer side; and from behind the exit all the way
    // around.
    let exit = Exit { from: (11.0, 0.0).into(), to: (11.0, 3.0).into(), out: (1.0, 0.0).into() };
    for (x, exact) in [(8.0, 3.0), (6.1, 4.9), (2.0, 9.0)] {
        let one = format!("particles = [{{ mass = 1, source.list = [{{ position = [{x}, 1.4], radius = 0.2 }}] }}]\n");
        let (length, time) = walk(load(&format!("{one}{RING}")), &exit);
        // It is seen to be out at the end of the step in which it crosses.
        assert!(length - exact >= 0.0 && length - exact < 1.3 * 0.01 + 1e-9, "{length} instead of {exact}");
        assert!((time * 1.3 - length).abs() < 1e-9, "at its speed: {time}");
    }
}

#[test]
fn a_crowd_in_a_corridor_that_repeats_keeps_its_speed() {
    let random = "[[particles]]\nmass = 1\nsource.fill = { count = 80, radius = [0.15, 0.25], \
                  region.box = { lower = [0, 0], upper = [10, 3] } }\n";
    let mut simulation = load(&format!("{RING}{random}"));
    for _ in 0..300 {
        simulation.step().unwrap();
        for (v, x) in simulation.state.particles.velocity.iter().zip(&simulation.state.particles.position) {
            assert!((*v - 1.3 * DVec3::X).length() < 1e-9, "{v} at {x}");
        }
    }
}

/// The slow are pushed on by the fast, around and around, past a pillar that stands across the face.
#[test]
fn a_crowd_in_a_corridor_that_repeats_never_overlaps() {
    let people = |group: &str| {
        format!(
            "[[particles]]\ngroup = '{group}'\nmass = 1\nsource.fill = {{ count = 30, radius = [0.15, 0.25], \
             region.box = {{ lower = [0, 0], upper = [10, 3] }} }}\n"
        )
    };
    let groups = "[[group]]\nname = 'slow'\nspeed = 0.6\n[[group]]\nname = 'fast'\n";
    let pillar =
        "obstacle = [\n    { name = 'pillar', shape.sphere = { centre = [0, 1.5], radius = 0.4, side = 'outside' } },";
    let text = format!("{}{groups}{}{}", RING.replace("obstacle = [", pillar), people("slow"), people("fast"));
    let mut simulation = load(&text);
    let allowed = -1.01 * simulation.settings.criteria.tolerance * simulation.state.particles.smallest_radius();
    let exit = Exit { from: (1.0, 0.0).into(), to: (1.0, 3.0).into(), out: (1.0, 0.0).into() };
    let mut turnstile = Turnstile::new(exit);
    for _ in 0..1000 {
        let report = simulation.step().unwrap();
        assert!(report.least_gap >= allowed, "{}", report.least_gap);
        turnstile.look(simulation.time(), &simulation.state.particles);
    }
    // All the slow and the fast would make 0.6 and 1.3 rounds; nobody comes back.
    let passed = turnstile.passed(0.0, 10.0);
    println!("passed {passed}");
    assert!((30..100).contains(&passed), "{passed}");
}

#[test]
fn somebody_alone_walks_the_shortest_way_through_a_door() {
    let exit = Exit { from: (4.0, 1.0).into(), to: (4.0, 2.0).into(), out: (1.0, 0.0).into() };
    let text = |position: &str| {
        format!(
            "dimension = 2\ntime = {{ dt = 0.002, until = 10 }}\n\
             environment.crowd = {{ speed = 1, exits = [{{ from = [4, 1], to = [4, 2], out = [1, 0] }}] }}\n\
             particles = [{{ mass = 1, source.list = [{{ position = {position}, radius = 0.2 }}] }}]\n\
             obstacle = [{{ name = 'low', shape.segment = {{ from = [4, -4], to = [4, 1] }} }},\n\
             {{ name = 'high', shape.segment = {{ from = [4, 2], to = [4, 7] }} }}]\n"
        )
    };
    // Straight to a post and along an arc of radius 0.2 around it, until right above or below the post.
    let around_a_post = |from: DVec3, post: f64| {
        let offset = from - DVec3::new(4.0, post, 0.0);
        let angle = offset.angle_between(DVec3::Y * (1.5 - post)) - (0.2 / offset.length()).acos();
        (offset.length_squared() - 0.04).sqrt() + 0.2 * angle
    };
    let (low, high) = (DVec3::new(0.5, 0.2, 0.0), DVec3::new(2.0, 4.0, 0.0));
    for (from, exact) in
        [(DVec3::new(1.0, 1.5, 0.0), 3.0), (low, around_a_post(low, 1.0)), (high, around_a_post(high, 2.0))]
    {
        let (length, time) = walk(load(&text(&format!("[{}, {}]", from.x, from.y))), &exit);
        assert!((length / exact - 1.0).abs() < 2e-3, "from {from}: {length} instead of {exact}");
        assert!((time / exact - 1.0).abs() < 8e-3, "from {from}: {time} instead of {exact}");
    }
}

/// People in a corridor along x that all walk at 1.3.
const CORRIDOR: &str = r"
dimension = 2
seed = 4
time = { dt = 0.01, until = 3 }
environment.crowd = { speed = 1.3, exits = [{ from = [20, 0], to = [20, 3], out = [1, 0] }] }
obstacle = [
    { name = 'low', shape.half-space = { point = [0, 0], normal = [0, 1] } },
    { name = 'high', shape.half-space = { point = [0, 3], normal = [0, -1] } },
]
";

#[test]
fn a_crowd_in_a_corridor_keeps_its_speed() {
    let row = "[[particles]]\nmass = 1\nsource.lattice = { lower = [0, 1.2], upper = [6, 1.8], spacing = 0.5, radius = 0.25 }\n";
    let random = "[[particles]]\nmass = 1\nsource.fill = { count = 60, radius = [0.15, 0.25], \
                  region.box = { lower = [0, 0], upper = [6, 3] } }\n";
    for people in [row, random] {
        let mut simulation = load(&format!("{CORRIDOR}{people}"));
        for _ in 0..300 {
            simulation.step().unwrap();
            for (v, x) in simulation.state.particles.velocity.iter().zip(&simulation.state.particles.position) {
                assert!((*v - 1.3 * DVec3::X).length() < 1e-9, "{v} at {x}");
            }
            let pushing = simulation.state.contacts.iter().map(|contact| contact.impulse.abs()).fold(0.0, f64::max);
            assert!(pushing < 1e-9, "{pushing}");
        }
    }
}

/// A room of 4 by 4 with a pillar before its door.
const ROOM: &str = r#"
dimension = 2
seed = 2
[time]
dt = 0.02
until = 60
[environment.crowd]
speed = 1
exits = [{ from = [4, 1.6], to = [4, 2.4], out = [1, 0] }]
[[group]]
name = "slow"
speed = 0.7
[[group]]
name = "fast"
[[particles]]
group = "slow"
mass = 1
source.fill = { count = 20, radius = [0.15, 0.2], region.box = { lower = [0, 0], upper = [2.5, 4] } }
[[particles]]
group = "fast"
mass = 1
source.fill = { count = 20, radius = [0.15, 0.2], region.box = { lower = [0, 0], upper = [2.5, 4] } }
[[obstacle]]
name = "left"
shape.segment = { from = [0, 0], to = [0, 4] }
[[obstacle]]
name = "bottom"
shape.segment = { from = [0, 0], to = [4, 0] }
[[obstacle]]
name = "top"
shape.segment = { from = [0, 4], to = [4, 4] }
[[obstacle]]
name = "right, low"
shape.segment = { from = [4, 0], to = [4, 1.6] }
[[obstacle]]
name = "right, high"
shape.segment = { from = [4, 2.4], to = [4, 4] }
[[obstacle]]
name = "pillar"
shape.sphere = { centre = [3, 2.1], radius = 0.15, side = "outside" }
"#;

/// Runs until all are out; the positions at the end, and how many steps that took.
fn evacuate() -> (Vec<DVec3>, u64) {
    let mut simulation = load(ROOM);
    let exit = Exit { from: (4.0, 1.6).into(), to: (4.0, 2.4).into(), out: (1.0, 0.0).into() };
    let smallest = simulation.state.particles.smallest_radius();
    let allowed = -1.01 * simulation.settings.criteria.tolerance * smallest;
    let is_inside = |x: &DVec3| x.x <= 4.0 && x.x > 0.0 && x.y > 0.0 && x.y < 4.0;
    let mut inside = i64::try_from(simulation.state.particles.len()).unwrap();
    let mut before = simulation.state.particles.position.clone();
    while inside > 0 && simulation.time() < 60.0 {
        let report = simulation.step().unwrap();
        assert!(report.least_gap >= allowed, "{}", report.least_gap);
        let after = &simulation.state.particles.position;
        let left: i64 = before.iter().zip(after).map(|(a, b)| exit.crossed(*a, *b)).sum();
        inside -= left;
        // Who is no longer inside went through the door.
        let still_there = i64::try_from(after.iter().filter(|x| is_inside(x)).count()).unwrap();
        assert_eq!(still_there, inside, "at t = {}", simulation.time());
        assert!(left >= 0, "somebody came back");
        before.clone_from(after);
    }
    assert_eq!(inside, 0, "they are still inside at t = {}", simulation.time());
    (before, simulation.state.step)
}

#[test]
fn a_room_empties_through_its_door_with_the_same_bits_on_one_thread_and_two() {
    let on = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(evacuate);
    let (one, two) = (on(1), on(2));
    assert_eq!(one, two);
}

#[test]
fn a_crowd_goes_on_from_a_state_with_the_same_bits() {
    let mut whole = load(ROOM);
    for _ in 0..60 {
        whole.step().unwrap();
    }
    let mut resumed = load(ROOM);
    resumed.state = whole.state.clone();
    for _ in 0..30 {
        whole.step().unwrap();
        resumed.step().unwrap();
    }
    assert_eq!(resumed.state, whole.state);
}

#[test]
fn what_has_no_place_in_a_crowd_is_refused() {
    let refused = |change: &dyn Fn(&str) -> String, words: &[&str]| {
        let message = Scene::parse(&change(ROOM), Path::new("bad.toml")).err().unwrap().to_string();
        for word in words {
            assert!(message.contains(word), "`{word}` is not in:\n{message}");
        }
    };
    let with = |text: &'static str| {
        move |room: &str| room.replace("[environment.crowd]", &format!("{text}\n[environment.crowd]"))
    };
    refused(
        &with("[environment]\ngravity = [0, -1]\ninertia = false"),
        &["bad.toml:8:", "`gravity` has no", "`inertia`"],
    );
    refused(&with("[environment]\ndrag.coefficient = 1\nflow = ['1', '0']"), &["`drag` has no", "`flow` has no"]);
    refused(&with("[contact]\nlaw = 'gluey'"), &["bad.toml:8:", "people do not stick"]);
    refused(&with("[[force]]\nforce = [1, 0]"), &["forces have no meaning in a crowd"]);
    let replaced = |from: &'static str, to: &'static str| move |room: &str| room.replace(from, to);
    refused(&replaced("speed = 1\n", "speed = -1\n"), &["bad.toml:8:9:", "from 0"]);
    refused(&replaced("speed = 1\n", "speed = 1\ncell = 0.2\n"), &["bad.toml:9:8:", "half the smallest radius"]);
    refused(&replaced("out = [1, 0]", "out = [0, 1]"), &["bad.toml:9:10:", "`out` must point across"]);
    refused(&replaced(", out = [1, 0]", ""), &["`out` is missing"]);
    refused(&replaced("from = [4, 1.6], to = [4, 2.4]", "from = [9, 1.6], to = [9, 1.6]"), &["two different points"]);
    refused(&replaced("to = [4, 1.6] }", "to = [4, 2.4] }"), &["particle 0", "exit"]);
    refused(
        &replaced("side = \"outside\" }", "side = \"outside\" }\nmotion.translation.velocity = [1, 0]"),
        &["`pillar` moves"],
    );
    refused(
        &replaced("[environment.crowd]\nspeed = 1\nexits", "[environment.crwd]\nspeed = 1\nexits"),
        &["did you mean `crowd`?"],
    );
}

#[test]
fn a_speed_of_a_group_needs_a_crowd() {
    let text = "dimension = 2\ntime = { dt = 1, until = 1 }\ngroup = [{ name = 'a', speed = 1 }]\n\
                particles = [{ mass = 1, source.list = [{ position = [0, 0], radius = 1 }] }]\n";
    let message = Scene::parse(text, Path::new("bad.toml")).err().unwrap().to_string();
    assert!(message.contains("bad.toml:3:32:") && message.contains("[environment.crowd]"), "{message}");
}
