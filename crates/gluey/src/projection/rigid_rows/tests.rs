//! Sweeps over rows of clumps, against the problem they are of.

use glam::{DMat3, DVec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::projection::{AdmissibleSet, Metric, Prediction, Response, Row};

const BODIES: u32 = 60;

/// Bodies in a line, each joined to some of the next and every fifth to the wall; every third is a sphere on its own,
/// the others are clumps of two, some of them without mass or spin to give.
fn chain() -> (Problem, Rigid) {
    let mut random = Pcg64::seed_from_u64(7);
    let mut vector = || DVec3::from([0, 1, 2].map(|_| random.random_range(-1.0..1.0_f64)));
    let (mut rigid, mut spheres) = (Rigid::default(), Vec::new());
    for body in 0..BODIES {
        let first = rigid.owner.len() as u32;
        let alone = body % 3 == 0;
        spheres.push([first, first + u32::from(!alone)]);
        let owner = if alone { NO_CLUMP } else { rigid.responses.len() as u32 };
        for _ in 0..if alone { 1 } else { 2 } {
            rigid.owner.push(owner);
            rigid.arm.push(if alone { DVec3::ZERO } else { vector() });
            rigid.inverse_mass.push(1.0 + 0.5 * vector().x);
        }
        if !alone {
            let turn = DMat3::from_rotation_x(vector().x) * DMat3::from_rotation_z(3.0 * vector().x);
            let about = |moments: [f64; 3]| turn * DMat3::from_diagonal(moments.into()) * turn.transpose();
            let inverse_inertia = match body % 7 {
                0 => DMat3::from_diagonal(DVec3::Z),
                1 => about([2.0, 2.0, 0.0]),
                2 | 5 => DMat3::ZERO,
                _ => about([1.0, 2.0, 0.5]),
            };
            let inverse_mass = if body % 7 == 5 { 0.0 } else { 1.0 + 0.5 * vector().x };
            rigid.responses.push(Response { inverse_mass, inverse_inertia });
        }
    }
    let mut rows = Vec::new();
    for i in 0..BODIES {
        let end = |body: u32, side: u32| spheres[body as usize][(side % 2) as usize];
        for j in (i + 1..i + 4).filter(|j| *j < BODIES) {
            let gap = 0.01 * vector().x;
            rows.push(Row {
                i: end(i, j),
                j: end(j, i / 2),
                normal: vector().normalize(),
                gap,
                set: AdmissibleSet::PUSH,
            });
        }
        if i % 5 == 0 {
            rows.push(Row {
                i: end(i, 1),
                j: WALL,
                normal: vector().normalize(),
                gap: 0.0,
                set: AdmissibleSet::at_least(-0.1),
            });
        }
    }
    let apriori: Vec<DVec3> = rigid.owner.iter().map(|_| vector()).collect();
    let prediction = Prediction { velocity: apriori, metric: Metric::Rigid(rigid.clone()) };
    (Problem { dt: 0.1, length: 1.0, prediction, rows, order: Vec::new() }, rigid)
}

fn loaded(problem: &(Problem, Rigid), blocks: u32) -> RigidRows {
    let mut rows = RigidRows::default();
    let (problem, rigid) = problem;
    rows.load((problem, rigid), &vec![0.0; problem.rows.len()], NonZeroU32::new(blocks));
    rows
}

/// Of every body, what it would be at rest but for the impulses.
fn swept(rows: &RigidRows) -> Vec<[f64; 6]> {
    let [x, y, z] = [0, 1, 2];
    let body = |b: &RigidBody| [b.velocity[x], b.velocity[y], b.velocity[z], b.spin[x], b.spin[y], b.spin[z]];
    rows.bodies.iter().map(body).collect()
}

#[test]
fn sweeps_keep_velocities_and_spins_those_of_the_impulses() {
    let problem = chain();
    for blocks in [1, 6] {
        let mut rows = loaded(&problem, blocks);
        assert_eq!(rows.blocks.len(), blocks as usize);
        for sweep in 0..12 {
            rows.advance(Pace { momentum: 0.6, relaxation: 1.2 });
            if sweep % 3 == 2 {
                let before = rows.residual();
                rows.plain_sweep();
                assert!(rows.residual() < before);
            }
        }
        let before = swept(&rows);
        rows.refresh();
        let after = swept(&rows);
        let off = before.iter().flatten().zip(after.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-13, "{blocks} blocks: {off:e}");
    }
}

#[test]
fn what_is_told_is_told_of_the_problem() {
    let (problem, rigid) = chain();
    for blocks in [1, 6] {
        let mut rows = loaded(&(problem.clone(), rigid.clone()), blocks);
        for _ in 0..5 {
            rows.advance(Pace { momentum: 0.0, relaxation: 1.0 });
        }
        let mut impulses = vec![0.0; problem.rows.len()];
        rows.unload(&mut impulses);
        let velocity = problem.velocity(&impulses);
        let of = |body: u32, of: &[DVec3]| if body == WALL { DVec3::ZERO } else { of[body as usize] };
        let closing = |row: &Row, v: &[DVec3]| row.gap / problem.dt + row.normal.dot(of(row.j, v) - of(row.i, v));
        let (mut value, mut residual, mut steepest) = (0.0, 0.0_f64, 0.0_f64);
        for (row, impulse) in problem.rows.iter().zip(&impulses) {
            let (w, rate) = (closing(row, &velocity), closing(row, &problem.prediction.velocity));
            value += 0.5 * impulse * (w + rate);
            let diagonal = problem.diagonal(row);
            if diagonal > 0.0 {
                residual = residual.max((diagonal * (impulse - row.set.least())).min(w).abs());
            }
            steepest = steepest.max(diagonal.sqrt());
        }
        let found = rows.objective();
        assert!((found.value - value).abs() < 1e-13 * found.magnitude, "{found:?} {value}");
        assert!((rows.residual() - residual).abs() < 1e-13 * (1.0 + residual), "{residual}");
        assert!((rows.steepest() - steepest).abs() < 1e-14 * steepest);
    }
}

#[test]
fn a_line_search_ends_where_the_objective_is_least() {
    let mut problem = chain();
    problem.0.rows.iter_mut().for_each(|row| row.set = AdmissibleSet::at_least(-1e3));
    for blocks in [1, 6] {
        let objective_after = |share: f64| {
            let mut rows = loaded(&problem, blocks);
            for sweep in 0..6 {
                if sweep == 3 {
                    assert!(rows.line_search().is_none(), "there was no call before");
                }
                rows.advance(Pace { momentum: 0.0, relaxation: 1.0 });
            }
            let LineSearch { times, at_bound } = rows.line_search().expect("the way since the last call");
            assert!(times > 0.0 && !at_bound, "{times}");
            // Bodies and rows go on, and no row answers.
            rows.advance(Pace { momentum: share * times, relaxation: 0.0 });
            rows.objective().value
        };
        let [none, half, least, beyond] = [0.0, 0.5, 1.0, 1.5].map(objective_after);
        assert!(least < half && half < none && least < beyond, "{none} {half} {least} {beyond}");
        assert!((half - beyond).abs() < 1e-6 * (none - least), "a parabola: {half} {beyond}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let problem = chain();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut rows = loaded(&problem, 7);
            let told: Vec<_> = (0..9).map(|_| rows.advance(Pace { momentum: 0.5, relaxation: 1.1 })).collect();
            (told, rows.residual(), rows.objective(), swept(&rows))
        })
    };
    let one = run(1);
    assert!([2, 3, 5].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn blocks_are_even_and_as_many_as_the_documentation_says() {
    let sizes = [0, 1, 1_999, 2_000, 5_000, 10_000, 30_000, 100_000];
    assert_eq!(sizes.map(|bodies| blocks_for(bodies).get()), [1, 1, 1, 2, 2, 4, 6, 12]);
}
