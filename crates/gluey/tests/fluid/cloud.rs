//! Clouds.

use std::path::Path;

use gluey::scene::Scene;
use gluey::simulation::Simulation;

const CLOUD: &str = r"
seed = 3
time = { dt = 0.02, until = 1 }
contact.law.gluey = { gamma_min = -1e-3 }
environment = { gravity = [0, 0, -1], drag.rotne-prager.viscosity = 0.05305164769729845 }
[[particles]]
mass = 2.777777777777778e-3
source.fill = { count = 300, radius = 0.02, region.sphere = { centre = [0, 0, 0], radius = 1.02 } }
";

fn cloud(radius: f64, threads: usize, steps: u32) -> Simulation {
    let text = CLOUD.replace("radius = 0.02", &format!("radius = {radius}"));
    let mut simulation = Scene::parse(&text, Path::new("cloud.toml")).unwrap().simulation;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| (0..steps).for_each(|_| drop(simulation.step().unwrap())));
    simulation
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let one = cloud(0.08, 1, 40);
    assert!(!one.state.contacts.is_empty(), "contacts are part of what is compared");
    for threads in [2, 3] {
        assert_eq!(cloud(0.08, threads, 40).state, one.state, "{threads} threads");
    }
}

/// Forces spread evenly over a ball of radius R move it on average at (6/5) N F/(6πμR), the mean of the flow inside; a
/// sphere adds what it does alone. 300 at random are not even: 5 % are allowed.
#[test]
fn a_cloud_settles_like_a_ball_of_force() {
    let simulation = cloud(0.02, 2, 1);
    let particles = &simulation.state.particles;
    let mean = particles.velocity.iter().map(|v| -v.z).sum::<f64>() / particles.len() as f64;
    // With 6πμ = 1.
    let (force, count) = (particles.mass[0], particles.len() as f64);
    let known = 1.2 * (count - 1.0) * force / 1.0 + force / 0.02;
    println!("a cloud of {count}: mean velocity {mean:.4}, ball of force {known:.4}");
    assert!((mean / known - 1.0).abs() < 0.05, "{mean} and {known}");
}

#[test]
fn a_plane_of_spheres_stays_in_its_plane() {
    let text = r"
dimension = 2
time = { dt = 0.02, until = 1 }
environment = { gravity = [0, -1], drag.rotne-prager.viscosity = 0.05, flow = ['0.1 * y', '0'], inertia = false }
[[particles]]
mass = 0.01
source.fill = { count = 40, radius = 0.1, region.sphere = { centre = [0, 0], radius = 1.2 } }
";
    let mut simulation = Scene::parse(text, Path::new("plane.toml")).unwrap().simulation;
    for _ in 0..30 {
        let report = simulation.step().unwrap();
        assert!(report.least_gap >= -1.01e-7);
        assert!(simulation.state.particles.position.iter().all(|x| x.z == 0.0));
    }
}
