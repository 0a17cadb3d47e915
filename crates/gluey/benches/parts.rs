//! The parts of a step one by one, on a bed of 3,000 spheres at rest.
//!
//!     cargo bench -p gluey --bench parts

mod beds;

use beds::Bed;
use divan::Bencher;
use gluey::projection::{Criteria, Method, Solution};
use gluey::{morton, neighbours};

const BED: fn() -> Bed = || Bed::of_height(3_000, 25.0, 1e-4);
const MADE: &str = "the bed can be made";

fn main() {
    divan::main();
}

#[divan::bench(args = ["apgs", "apgd", "uzawa"])]
fn solve_of_100_sweeps(bencher: Bencher, name: &str) {
    let file = BED().problem().expect(MADE);
    let mut solver = name.parse::<Method>().expect("a name of the table").solver();
    let criteria = Criteria { tolerance: 0.0, max_sweeps: 100 };
    bencher
        .with_inputs(|| Solution::starting_from(file.warm.clone()))
        .bench_local_refs(|solution| solver.solve(&file.problem, &criteria, solution));
}

#[divan::bench]
fn neighbour_search(bencher: Bencher) {
    let particles = BED().at_rest().expect(MADE).state.particles;
    let extent: Vec<f64> = particles.radius.iter().map(|radius| 1.1 * radius).collect();
    bencher.bench_local(|| neighbours::pairs(&particles.position, &extent));
}

#[divan::bench]
fn morton_order(bencher: Bencher) {
    let position = BED().at_rest().expect(MADE).state.particles.position;
    bencher.bench_local(|| morton::order(&position));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn step(bencher: Bencher) {
    bencher
        .with_inputs(|| BED().at_rest().expect(MADE))
        .bench_local_refs(|simulation| simulation.step().expect("a bed at rest goes on").sweeps);
}
