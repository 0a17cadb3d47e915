//! The engine against exact solutions of the model: one particle, columns, three discs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod column;
#[path = "../common/mod.rs"]
mod common;

use column::Column;
use common::{floor, gluey, particles, plane_forces, simulation, vertical_forces};
use glam::DVec3;
use gluey::adhesion::{Adhesion, Scheme};
use gluey::plane::studies::order as slope;
use gluey::simulation::Simulation;

const RADIUS: f64 = 0.5;

/// A push and pull on a column, as the exact solution and the engine both read it.
struct Experiment {
    gap: Vec<f64>,
    mass: Vec<f64>,
    gamma_min: f64,
    forces: Vec<(f64, Vec<f64>)>,
    until: f64,
}

impl Experiment {
    /// The paper's: q = 1, f = −2 until t = 2, then +2.
    fn papers(gamma_min: f64) -> Self {
        let forces = vec![(0.0, vec![-2.0]), (2.0, vec![2.0])];
        Self { gap: vec![1.0], mass: vec![1.0], gamma_min, forces, until: 6.0 }
    }

    fn exact(&self) -> Column {
        Column::new(&self.gap, &self.mass, self.gamma_min, &self.forces)
    }

    fn engine(&self, dt: f64, scheme: Scheme) -> Simulation {
        let mut height = RADIUS;
        let mut list = Vec::new();
        for (gap, mass) in self.gap.iter().zip(&self.mass) {
            height += gap;
            list.push((DVec3::Z * height, RADIUS, *mass));
            height += 2.0 * RADIUS;
        }
        let mut simulation = simulation(particles(&list), vec![floor()], gluey(self.gamma_min));
        let times: Vec<f64> = self.forces.iter().map(|(from, _)| *from).collect();
        let forces: Vec<Vec<f64>> = self.forces.iter().map(|(_, f)| f.clone()).collect();
        simulation.environment = vertical_forces(&times, &forces);
        simulation.adhesion.scheme = scheme;
        simulation.settings.dt = dt;
        simulation.settings.criteria.tolerance = 1e-12;
        simulation
    }

    /// Largest distance of any particle from the exact solution at any step, and the least gap met.
    fn error(&self, dt: f64, scheme: Scheme) -> (f64, f64) {
        let (mut exact, mut engine) = (self.exact(), self.engine(dt, scheme));
        let (mut error, mut least_gap) = (0.0_f64, f64::INFINITY);
        for _ in 0..(self.until / dt).round() as u64 {
            least_gap = least_gap.min(engine.step().unwrap().least_gap);
            exact.advance_to(engine.time());
            for (k, height) in exact.heights().iter().enumerate() {
                let found = engine.state.particles.position[k].z - RADIUS - 2.0 * RADIUS * k as f64;
                error = error.max((found - height).abs());
            }
        }
        (error, least_gap)
    }
}

const STEPS: [f64; 5] = [0.02, 0.01, 0.005, 0.0025, 0.00125];

#[test]
fn the_exact_solution_knows_the_papers_take_offs() {
    for (gamma_min, takeoff) in [(f64::NEG_INFINITY, 4.0), (-1.0, 2.5)] {
        let mut exact = Experiment::papers(gamma_min).exact();
        exact.advance_to(6.0);
        assert_eq!(exact.takeoffs.len(), 1);
        assert!((exact.takeoffs[0].0 - takeoff).abs() < 1e-9, "{:?}", exact.takeoffs);
        assert!((exact.gap[0] - (6.0 - takeoff).powi(2)).abs() < 1e-8);
    }
}

#[test]
fn one_particle_takes_off_when_the_pull_has_paid_back_the_push() {
    for (gamma_min, takeoff) in [(f64::NEG_INFINITY, 4.0), (-1.0, 2.5), (0.0, 2.0)] {
        for dt in STEPS {
            let mut engine = Experiment::papers(gamma_min).engine(dt, Scheme::OneProjection);
            let mut left = None;
            let mut least_gamma = 0.0_f64;
            while engine.time() < 6.0 {
                engine.step().unwrap();
                let q = engine.state.particles.position[0].z - RADIUS;
                least_gamma = engine.state.contacts.first().map_or(least_gamma, |c| least_gamma.min(c.gamma));
                if left.is_none() && engine.time() > 1.5 && q > 1e-9 {
                    left = Some(engine.time());
                }
            }
            let left = left.expect("it takes off");
            assert!(
                left >= takeoff - 1e-9 && left <= takeoff + 2.0 * dt + 1e-9,
                "left at {left} for {gamma_min}, dt {dt}"
            );
            assert!((least_gamma - gamma_min.max(-4.0)).abs() < 2.1 * dt, "least gamma {least_gamma}");
        }
    }
}

#[test]
fn one_particle_converges_with_order_one() {
    for gamma_min in [f64::NEG_INFINITY, -1.0, 0.0] {
        let errors: Vec<f64> =
            STEPS.iter().map(|dt| Experiment::papers(gamma_min).error(*dt, Scheme::OneProjection).0).collect();
        let slope = slope(&STEPS, &errors);
        println!("gamma_min {gamma_min}: errors {errors:.4?}, slope {slope:.3}");
        assert!((slope - 1.0).abs() <= 0.05, "slope {slope}, errors {errors:?}");
    }
}

/// Columns of different masses, pushed together and pulled apart by forces that differ from particle to particle.
fn columns() -> Vec<Experiment> {
    let masses = [1.0, 3.0, 0.5, 2.0, 0.8];
    let gaps = [0.8, 0.5, 0.3, 0.6, 0.4];
    let push = [-1.0, -3.0, -1.5, -4.0, -2.4];
    let pull = [0.9, 2.7, 1.3, 3.1, 2.9];
    let mut all = Vec::new();
    for count in 1..=5 {
        for gamma_min in [0.0, -1.5, f64::NEG_INFINITY] {
            let take = |list: [f64; 5]| list[..count].to_vec();
            let forces = vec![(0.0, take(push)), (2.12, take(pull)), (4.36, take(push)), (5.22, take(pull))];
            all.push(Experiment { gap: take(gaps), mass: take(masses), gamma_min, forces, until: 8.0 });
        }
    }
    all
}

#[test]
fn columns_of_one_to_five_particles_follow_the_exact_solution() {
    let mut worst_paper: f64 = 0.0;
    println!("count gamma_min | one projection: errors, slope | paper: errors, slope");
    for experiment in columns() {
        let run = |scheme| -> Vec<f64> {
            STEPS
                .iter()
                .map(|dt| {
                    let (error, least_gap) = experiment.error(*dt, scheme);
                    assert!(least_gap >= -1e-12, "least gap {least_gap}");
                    error
                })
                .collect()
        };
        let (ours, papers) = (run(Scheme::OneProjection), run(Scheme::Paper));
        let (order, papers_order) = (slope(&STEPS, &ours), slope(&STEPS, &papers));
        let (count, gamma_min) = (experiment.mass.len(), experiment.gamma_min);
        println!("{count} {gamma_min:>5} | {ours:.4?} {order:.2} | {papers:.4?} {papers_order:.2}");
        assert!((order - 1.0).abs() <= 0.05, "{count} particles, gamma_min {gamma_min}: {ours:?}, slope {order}");
        assert!(ours[4] <= 10.0 * STEPS[4], "{count} particles, gamma_min {gamma_min}: {ours:?}");
        if gamma_min == 0.0 {
            assert_eq!(ours, papers, "without glue both schemes are the same");
        }
        worst_paper = worst_paper.max(papers[4] / ours[4]);
    }
    assert!(
        worst_paper > 5.0,
        "the paper's scheme loses the impulse left over at a take-off, but only {worst_paper} times"
    );
}

/// Three discs driven together, held and pulled apart by their glue.
fn three_discs(dt: f64, scheme: Scheme) -> Vec<DVec3> {
    let start = [(-1.7, 1.3), (0.5, 1.7), (4.5, 1.3)];
    let list: Vec<_> = start.iter().map(|&(x, y)| (DVec3::new(x, y, 0.0), 0.5, 1.0)).collect();
    let mut simulation = simulation(particles(&list), Vec::new(), gluey(-2.0));
    let forces: Vec<DVec3> = start.iter().map(|&(x, y)| DVec3::new(-x, -y, 0.0)).collect();
    simulation.environment = plane_forces(&forces);
    simulation.adhesion = Adhesion { scheme, ..Adhesion::uniform(gluey(-2.0)) };
    simulation.adhesion.group_roughness = vec![0.0; 3];
    simulation.settings.dt = dt;
    simulation.settings.max_slip = f64::INFINITY;
    simulation.settings.criteria.tolerance = 1e-12;
    for _ in 0..(7.0 / dt).round() as u64 {
        let report = simulation.step().unwrap();
        assert!(report.least_gap >= -1e-12);
    }
    simulation.state.particles.position
}

#[test]
fn one_projection_of_three_discs_converges_at_order_one_with_smaller_errors_than_the_papers_scheme_at_both_ends() {
    let steps = [0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003_125];
    let limit = {
        // Richardson from two much finer runs.
        let (coarse, fine) = (three_discs(2e-4, Scheme::OneProjection), three_discs(1e-4, Scheme::OneProjection));
        coarse.iter().zip(&fine).map(|(c, f)| *f * 2.0 - *c).collect::<Vec<DVec3>>()
    };
    let distance =
        |found: &[DVec3]| found.iter().zip(&limit).map(|(a, b)| (*a - *b).abs().max_element()).fold(0.0, f64::max);
    let ours: Vec<f64> = steps.iter().map(|dt| distance(&three_discs(*dt, Scheme::OneProjection))).collect();
    let papers: Vec<f64> = steps.iter().map(|dt| distance(&three_discs(*dt, Scheme::Paper))).collect();
    let order = slope(&steps, &ours);
    println!(
        "limit {limit:?}\none projection {ours:.3?}, slope {order:.3}\npaper          {papers:.3?}, slope {:.3}",
        slope(&steps, &papers)
    );
    assert!((order - 1.0).abs() <= 0.15, "slope {order}: {ours:?}");
    assert!(ours[0] <= 0.8, "at dt = 0.1 the error is {}", ours[0]);
    assert!(papers[0] > ours[0] && papers[5] > ours[5]);
}
