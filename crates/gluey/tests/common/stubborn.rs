//! Projections that sweeps do not get on with: glue without inertia, and heavy balls on light ones. Each is the one of
//! a run that took most.
#![allow(dead_code, reason = "each suite uses its own part")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use gluey::projection::{AcceleratedGaussSeidel, Criteria, Outcome, Problem, Projection, Solution};
use gluey::scene::{Scene, SceneError};
use gluey::simulation::Recourse;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// What is heaped up.
#[derive(Clone, Debug, PartialEq)]
pub struct Heap {
    pub dimension: usize,
    pub count: usize,
    /// How far all fall freely in a step, in radii.
    pub fall: f64,
    /// γ_min; −∞ is smooth.
    pub gamma_min: f64,
    /// The mass of a larger ball on top, relative to the others; none where there is none, and then no inertia.
    pub ratio: Option<f64>,
    pub seed: u64,
}

/// Radius of the particles, and the time step.
const RADIUS: f64 = 0.1;
const DT: f64 = 0.02;

/// Heaps of every kind, of these numbers of particles, with mass ratios to `most_ratio`.
pub fn heaps(number: usize, counts: &[usize], most_ratio: f64) -> Vec<Heap> {
    let mut random = Pcg64Mcg::seed_from_u64(20);
    let mut heap = |seed| {
        let mut choose = |from: f64, to: f64| from * (to / from).powf(random.random());
        let (fall, ratio, glue) = (choose(0.1, 13.0), choose(1e2, most_ratio), choose(1.0, 4.0));
        Heap {
            dimension: 2 + (seed % 2) as usize,
            count: counts[seed as usize % counts.len()],
            fall,
            gamma_min: [f64::NEG_INFINITY, -1.0, -0.01][(glue.log2() * 1.49) as usize % 3],
            ratio: (seed % 5 >= 3).then_some(ratio),
            seed,
        }
    };
    (0..number as u64).map(&mut heap).collect()
}

impl Heap {
    /// The scene: a box that the particles fall into.
    pub fn scene(&self) -> String {
        let Self { dimension, count, fall, gamma_min, ratio, seed } = self;
        let n = *count as f64;
        let (side, floors) = if *dimension == 3 {
            let side = (n * (1.7 * RADIUS).powi(3) / 2.2).cbrt().max(4.0 * RADIUS);
            (side, side * side / (1.7 * RADIUS).powi(3))
        } else {
            let side = (n * (1.7 * RADIUS).powi(2) / 2.0).sqrt().max(4.0 * RADIUS);
            (side, side / (1.7 * RADIUS).powi(2))
        };
        let top = 2.4 * n / floors + 1.0;
        let along = |sides: f64, up: f64| {
            if *dimension == 3 { format!("[{sides}, {sides}, {up}]") } else { format!("[{sides}, {up}]") }
        };
        let (low, high) = (along(-0.5 * side, 0.0), along(0.5 * side, top));
        let (roof, above) = (along(0.5 * side, top + 1.5), along(0.0, top + 0.7));
        let law = if gamma_min.is_finite() { format!("{{ gamma_min = {gamma_min:?} }}") } else { "{}".to_owned() };
        let (forces, ball) = if let Some(ratio) = ratio {
            let radius = if side > 8.0 * RADIUS { 3.0 * RADIUS } else { RADIUS };
            let ball = format!(
                "[[particles]]\nmass = {ratio:e}\nsource.list = [{{ position = {above}, radius = {radius} }}]\n"
            );
            (format!("gravity = {}", along(0.0, -fall * RADIUS / DT.powi(2))), ball)
        } else {
            // ζ V = m g, h V = the fall.
            let drag = DT * 10.0 / (fall * RADIUS);
            (format!("gravity = {}\ndrag.coefficient = {drag}\ninertia = false", along(0.0, -10.0)), String::new())
        };
        format!(
            "dimension = {dimension}\nseed = {seed}\ntime = {{ dt = {DT}, until = 100 }}\ncontact.law.gluey = {law}\n\
             [environment]\n{forces}\n\
             [[particles]]\nmass = 1\n\
             source.fill = {{ count = {count}, radius = [{}, {}], region.box = {{ lower = {low}, upper = {high} }} }}\n\
             {ball}[[obstacle]]\nshape.box = {{ side = \"inside\", lower = {low}, upper = {roof} }}\n",
            0.85 * RADIUS,
            1.15 * RADIUS,
        )
    }

    /// Of the projections of so many steps, or until a step fails, the one that took most; with its first guess.
    pub fn hardest(&self, steps: u32) -> Result<(Problem, Vec<f64>), SceneError> {
        let mut simulation = Scene::parse(&self.scene(), Path::new("heap.toml"))?.simulation;
        let found = Arc::new(Mutex::new(Hardest::default()));
        simulation.solver = Box::new(Watched { inner: AcceleratedGaussSeidel::default(), found: Arc::clone(&found) });
        simulation.settings.at_limit = Recourse::Continue;
        for _ in 0..steps {
            if simulation.step().is_err() {
                break; // it moves too far, or turns too much, for any solver
            }
        }
        drop(simulation);
        let hardest = std::mem::take(&mut *found.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        Ok((hardest.problem, hardest.start))
    }
}

#[derive(Default)]
struct Hardest {
    cost: u64,
    problem: Problem,
    start: Vec<f64>,
}

/// Remembers the problem that took most.
struct Watched {
    inner: AcceleratedGaussSeidel,
    found: Arc<Mutex<Hardest>>,
}

/// Sweeps that a factorisation counts for.
const SWEEPS_OF_A_FACTORISATION: u64 = 1_000;

impl Projection for Watched {
    fn solve(&mut self, problem: &Problem, criteria: &Criteria, solution: &mut Solution) -> Outcome {
        let start = solution.impulses.clone();
        let outcome = self.inner.solve(problem, criteria, solution);
        let cost = outcome.sweeps + SWEEPS_OF_A_FACTORISATION * outcome.factorisations;
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if cost > found.cost {
            *found = Hardest { cost, problem: problem.clone(), start };
        }
        outcome
    }
}
