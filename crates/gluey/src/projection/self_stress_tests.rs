use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{Closed, FEW, SelfStress};
use crate::projection::{AdmissibleSet, Metric, Prediction, Problem, Row, WALL};

fn problem(bodies: usize, rows: &[(u32, u32, DVec3)]) -> Problem {
    let row = |&(i, j, normal): &(u32, u32, DVec3)| Row {
        i,
        j,
        normal: normal.normalize(),
        gap: 0.0,
        set: AdmissibleSet::PUSH,
    };
    Problem {
        dt: 1.0,
        length: 1.0,
        prediction: Prediction { velocity: vec![DVec3::ZERO; bodies], metric: Metric::Diagonal(vec![1.0; bodies]) },
        rows: rows.iter().map(row).collect(),
        order: Vec::new(),
    }
}

/// The places of the rows kept, and the search itself.
fn kept(problem: &Problem) -> (Vec<usize>, SelfStress) {
    let mut search = SelfStress::default();
    let wall = problem.bodies() as u32;
    for (c, row) in problem.rows.iter().enumerate() {
        search.push(Closed { row: c as u32, first: row.i.min(wall), second: row.j.min(wall) });
    }
    search.find(problem);
    let mut rows: Vec<usize> = search.rows().iter().map(|closed| closed.row as usize).collect();
    rows.sort_unstable();
    (rows, search)
}

/// Whether a self-stress has a part on each row: it has none exactly where the row of G is independent of all others, so
/// that something of it remains when they are taken off (Gram–Schmidt).
fn with_self_stress(problem: &Problem) -> Vec<bool> {
    let vector = |row: &Row| {
        let mut vector = vec![0.0; 3 * problem.bodies()];
        for (body, sign) in [(row.i, -1.0), (row.j, 1.0)] {
            for axis in (0..3).filter(|_| body != WALL) {
                vector[3 * body as usize + axis] = sign * row.normal[axis];
            }
        }
        vector
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let rest = |basis: &[Vec<f64>], mut vector: Vec<f64>| {
        // Twice is enough.
        for base in basis.iter().chain(basis) {
            let part = dot(base, &vector);
            vector.iter_mut().zip(base).for_each(|(v, b)| *v -= part * b);
        }
        let length = dot(&vector, &vector).sqrt();
        (length > 1e-7).then(|| vector.iter().map(|v| v / length).collect::<Vec<f64>>())
    };
    let all = 0..problem.rows.len();
    let is_dependent = |c: usize| {
        let mut basis = Vec::new();
        for other in all.clone().filter(|other| *other != c) {
            basis.extend(rest(&basis, vector(&problem.rows[other])));
        }
        rest(&basis, vector(&problem.rows[c])).is_none()
    };
    all.clone().map(is_dependent).collect()
}

/// Points of a lattice or anywhere, rows between some of those near each other and to some walls: chains, trees, clusters,
/// chains squeezed between walls.
fn cluster(random: &mut Pcg64Mcg) -> Problem {
    let (bodies, solid, regular) = (random.random_range(1..10_u32), random.random_bool(0.5), random.random_bool(0.5));
    let mut point = |scale: f64| {
        let at = DVec3::from([0; 3].map(|_| random.random_range(-1.0..1.0) * scale));
        let at = if regular { at.round() } else { at };
        if solid { at } else { at.with_z(0.0) }
    };
    let positions: Vec<DVec3> = (0..bodies).map(|_| point(1.8)).collect();
    let (links, walls) = (random.random_range(0.1..0.8), random.random_range(0.0..0.5));
    let mut rows = Vec::new();
    for i in 0..bodies {
        for j in i + 1..bodies {
            let offset = positions[j as usize] - positions[i as usize];
            if offset.length() > 0.1 && random.random_bool(links) {
                rows.push(if random.random_bool(0.5) { (i, j, offset) } else { (j, i, -offset) });
            }
        }
        let sides =
            if solid { &[DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Z, DVec3::Z][..] } else { &[DVec3::X, -DVec3::X] };
        for side in sides {
            if random.random_bool(walls) {
                rows.push((i, WALL, *side));
            }
        }
    }
    problem(bodies as usize, &rows)
}

#[test]
fn no_self_stress_lives_on_rows_peeled() {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let (mut peeled, mut kept_with, mut kept_without) = (0, 0, 0);
    for _ in 0..2000 {
        let problem = cluster(&mut random);
        let (rows, search) = kept(&problem);
        for (c, has) in with_self_stress(&problem).into_iter().enumerate() {
            let is_kept = rows.contains(&c);
            assert!(is_kept || !has, "row {c} of {problem:?}");
            peeled += u32::from(!is_kept);
            kept_with += u32::from(is_kept && has);
            kept_without += u32::from(is_kept && !has);
        }
        // The bodies are those of the rows, each named by its place.
        let bodies = search.bodies();
        assert!(bodies.is_sorted_by(|a, b| a < b));
        let name = |end: u32| bodies.get(end as usize).copied().unwrap_or(WALL);
        for closed in search.rows() {
            let row = &problem.rows[closed.row as usize];
            assert_eq!((name(closed.first), name(closed.second)), (row.i, row.j));
        }
        let used = |place: usize| search.rows().iter().any(|row| [row.first, row.second].contains(&(place as u32)));
        assert!((0..bodies.len()).all(used));
    }
    assert!(peeled > 2000 && kept_with > 2000, "{peeled} peeled, {kept_with} and {kept_without} kept");
    assert!(kept_without < kept_with / 2, "{peeled} peeled, {kept_with} and {kept_without} kept");
}

#[test]
fn what_is_squeezed_is_kept() {
    let squeezed = [(0, WALL, DVec3::X), (0, WALL, -DVec3::X)];
    assert_eq!(kept(&problem(1, &squeezed)).0, [0, 1]);
    // A row of spheres between two walls, on a floor and with one on top: only the row itself.
    let rows = [
        (0, WALL, -DVec3::X),
        (0, 1, DVec3::X),
        (1, WALL, -DVec3::Z),
        (2, 1, -DVec3::X),
        (2, WALL, DVec3::X),
        (3, 1, DVec3::new(0.1, 0.0, -1.0)),
    ];
    let (rows, search) = kept(&problem(4, &rows));
    assert!(!rows.contains(&5) && [0, 1, 3, 4].iter().all(|c| rows.contains(c)), "{rows:?}");
    assert_eq!(search.bodies(), [0, 1, 2]);
    // The same plane twice.
    assert_eq!(kept(&problem(1, &[(0, WALL, DVec3::Z), (0, WALL, DVec3::Z)])).0, [0, 1]);
}

#[test]
fn chains_trees_and_isostatic_piles_are_peeled_to_nothing() {
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let mut direction = || DVec3::from([0; 3].map(|_| random.random_range(-1.0..1.0)));
    let chain: Vec<_> = (1..100).map(|j| (j - 1, j, DVec3::X)).collect();
    let tree: Vec<_> = (1..100).map(|j| (j / 3, j, direction())).collect();
    // Each sphere rests on three others or planes that were there before.
    let pile: Vec<_> =
        (0..900_u32).map(|c| (c / 3, if c < 30 { WALL } else { c / 3 - 1 - c % 3 }, direction())).collect();
    // Each disc on two.
    let flat: Vec<_> =
        (0..200_u32).map(|c| (c / 2, if c < 20 { WALL } else { c / 2 - 1 - c % 2 }, direction().with_z(0.0))).collect();
    for (bodies, rows) in [(100, chain), (100, tree), (300, pile), (100, flat)] {
        let (rows, search) = kept(&problem(bodies, &rows));
        assert!(rows.is_empty() && search.bodies().is_empty(), "{rows:?}");
    }
}

/// Points on a circle, each with a row to the next and to the one after it but for some of these, far from each other.
fn ring(bodies: u32, missing: u32) -> Problem {
    let angle = |k: u32| f64::from(k % bodies) / f64::from(bodies) * std::f64::consts::TAU;
    let at = |k: u32| DVec3::new(angle(k).cos(), angle(k).sin(), 0.0);
    let is_missing = |k: u32| k.is_multiple_of(50) && k / 50 < missing;
    let pairs = (0..bodies).flat_map(|k| [(k, k + 1), (k, k + 2)]).filter(|(k, j)| *j == k + 1 || !is_missing(*k));
    problem(bodies as usize, &pairs.map(|(i, j)| (i, j % bodies, at(j) - at(i))).collect::<Vec<_>>())
}

#[test]
fn large_components_are_kept_if_they_have_more_rows_than_degrees_of_freedom() {
    // A floating component can move in three ways: with 2 b − 3 rows it may be stiff without self-stress.
    for (bodies, missing, is_kept) in [(FEW + 88, 3, false), (FEW + 88, 2, true), (FEW, 3, true)] {
        let found = kept(&ring(bodies, missing)).0.len() as u32;
        assert_eq!(found, if is_kept { 2 * bodies - missing } else { 0 }, "{bodies} bodies, {missing} missing");
    }
    // Held by a wall it has no motion for nothing.
    let mut held = ring(FEW + 88, 2);
    held.rows[0].j = WALL;
    assert!(kept(&held).0.is_empty());
}

#[test]
fn components_are_judged_one_by_one() {
    // A large one that is dropped and a small one that is not, both on the same wall, which does not connect.
    let mut both = ring(FEW + 88, 3);
    let squeezed = both.bodies() as u32;
    both.prediction.velocity.push(DVec3::ZERO);
    both.prediction.metric.diagonal().push(1.0);
    for normal in [DVec3::Y, -DVec3::Y] {
        both.rows.push(Row { i: squeezed, j: WALL, normal, gap: 0.0, set: AdmissibleSet::PUSH });
    }
    let (rows, search) = kept(&both);
    assert_eq!(rows, [both.rows.len() - 2, both.rows.len() - 1]);
    assert_eq!(search.bodies(), [squeezed]);
}
