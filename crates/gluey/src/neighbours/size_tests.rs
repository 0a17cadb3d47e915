//! Balls of very different sizes: everything against all pairs.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::levels::Levels;
use super::*;

/// Balls in a box.
struct Mixture {
    centre: Vec<DVec3>,
    extent: Vec<f64>,
    /// The sides of the box; 0 along z in a plane.
    sides: DVec3,
}

/// What to make them of.
#[derive(Clone, Copy)]
struct Recipe {
    count: usize,
    /// Of the largest extent to the smallest.
    ratio: f64,
    /// 2 or 3.
    dimension: i32,
    /// Volume of the cubes around all balls, of that of the box.
    filled: f64,
}

/// Extents whose logarithms are spread evenly, somewhere in the box.
fn mixture(recipe: Recipe, random: &mut Pcg64) -> Mixture {
    let Recipe { count, ratio, dimension, filled } = recipe;
    let extent: Vec<f64> = (0..count).map(|_| ratio.powf(-random.random_range(0.0..1.0))).collect();
    fill(extent, dimension, filled, random)
}

fn fill(extent: Vec<f64>, dimension: i32, filled: f64, random: &mut Pcg64) -> Mixture {
    let cubes = extent.iter().map(|e| (2.0 * e).powi(dimension)).sum::<f64>();
    let side = (cubes / filled).powf(f64::from(dimension).recip());
    let sides = DVec3::new(side, side, if dimension == 2 { 0.0 } else { side });
    let centre = extent.iter().map(|_| somewhere(random) * sides).collect();
    Mixture { centre, extent, sides }
}

fn somewhere(random: &mut Pcg64) -> DVec3 {
    DVec3::from([0, 1, 2].map(|_| random.random_range(0.0..1.0)))
}

/// All pairs that meet, those of nearest images in a cell.
fn all_pairs(cell: Option<&Cell>, centre: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for i in 0..centre.len() {
        for j in i + 1..centre.len() {
            let offset = centre[j] - centre[i];
            let offset = cell.map_or(offset, |cell| cell.shortest(offset));
            if offset.length_squared() <= (extent[i] + extent[j]).powi(2) {
                found.push((i as u32, j as u32));
            }
        }
    }
    found
}

/// The box as a cell that is periodic along some of the axes, one bit each.
fn cell_of(sides: DVec3, axes: u32) -> Option<Cell> {
    let period = DVec3::from([0, 1, 2].map(|axis| if axes >> axis & 1 == 1 { sides[axis] } else { 0.0 }));
    (period != DVec3::ZERO).then(|| Cell::with_periods(DVec3::ZERO, period).unwrap())
}

/// The pairs of a list whose balls meet, and whether the list is in order.
fn meeting(list: &Neighbours, Balls { cell, centre, extent }: Balls) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for i in 0..centre.len() {
        assert!(list.after(i).is_sorted_by(|a, b| a < b) && list.after(i).iter().all(|j| *j > i as u32));
        for &j in list.after(i) {
            let offset = centre[j as usize] - centre[i];
            let offset = cell.map_or(offset, |cell| cell.shortest(offset));
            if offset.length_squared() <= (extent[i] + extent[j as usize]).powi(2) {
                found.push((i as u32, j));
            }
        }
    }
    found
}

/// Both ways of finding pairs against all of them.
fn compare(balls: &Mixture, axes: u32) {
    let Mixture { centre, extent, sides } = balls;
    let cell = cell_of(*sides, axes);
    let expected = all_pairs(cell.as_ref(), centre, extent);
    assert!(!expected.is_empty());
    assert!(pairs_in(cell.as_ref(), centre, extent) == expected, "one by one, axes {axes}");
    let balls = Balls { cell: cell.as_ref(), centre, extent };
    let mut list = Neighbours::default();
    list.update(balls, |_| 0.0, |_, _| true);
    assert!(meeting(&list, balls) == expected, "as a list, axes {axes}");
    assert!((list.made as f64) < 1.01 * expected.len() as f64 + 10.0, "no more than meet");
}

#[test]
fn balls_of_any_sizes_find_all_they_meet_in_space_in_a_plane_and_in_cells() {
    let mut random = Pcg64::seed_from_u64(1);
    for ratio in [1.0, 1.9, 2.1, 5.0, 30.0, 1000.0] {
        for dimension in [2, 3] {
            for filled in [0.3, 3.0] {
                let balls = mixture(Recipe { count: 700, ratio, dimension, filled }, &mut random);
                (0..if dimension == 2 { 4 } else { 8 }).for_each(|axes| compare(&balls, axes));
            }
        }
    }
}

#[test]
fn few_large_ones_among_many_small_ones_and_few_small_ones_among_many_large_ones_find_each_other() {
    let mut random = Pcg64::seed_from_u64(2);
    for ratio in [3.0, 10.0, 100.0, 1000.0] {
        for (large, small) in [(3, 3_000), (3_000, 3), (40, 2_000), (2_000, 40)] {
            for dimension in [2, 3] {
                let mut extent: Vec<f64> = (0..large + small).map(|i| if i < large { ratio } else { 1.0 }).collect();
                for i in (1..extent.len()).rev() {
                    extent.swap(i, random.random_range(0..=i));
                }
                let balls = fill(extent, dimension, 1.5, &mut random);
                for axes in [0, 1, 3] {
                    compare(&balls, axes);
                }
            }
        }
    }
}

#[test]
fn twenty_thousand_of_a_thousand_to_one_find_all_they_meet() {
    let mut random = Pcg64::seed_from_u64(3);
    for (dimension, axes) in [(3, 5), (2, 0)] {
        compare(&mixture(Recipe { count: 20_000, ratio: 1000.0, dimension, filled: 1.0 }, &mut random), axes);
    }
}

#[test]
fn crowded_balls_of_about_one_size_find_all_they_meet() {
    let mut random = Pcg64::seed_from_u64(4);
    for (dimension, ratio) in [(2, 1.5), (3, 1.9), (3, 1.0)] {
        let balls = mixture(Recipe { count: 4_000, ratio, dimension, filled: 9.0 }, &mut random);
        let mut levels = Levels::new(None, balls.extent.iter().copied());
        balls.centre.iter().for_each(|x| levels.buckets[0].count(*x));
        assert_eq!(levels.spread(), [0], "a case for smaller cubes");
        (0..4).for_each(|axes| compare(&balls, axes));
    }
}

#[test]
fn a_list_of_any_sizes_stays_complete_while_balls_move() {
    let mut random = Pcg64::seed_from_u64(5);
    let (mut made, mut renewed) = (0, 0);
    for (ratio, dimension, axes) in
        [(1000.0, 3, 0), (100.0, 3, 3), (30.0, 2, 0), (300.0, 2, 1), (8.0, 3, 7), (1.5, 3, 4)]
    {
        let Mixture { mut centre, mut extent, sides } =
            mixture(Recipe { count: 1_200, ratio, dimension, filled: 0.6 }, &mut random);
        let (cell, mut list) = (cell_of(sides, axes), Neighbours::default());
        let flat = if dimension == 2 { DVec3::new(1.0, 1.0, 0.0) } else { DVec3::ONE };
        let drift = (somewhere(&mut random) - 0.5) * 0.02 * flat;
        for step in 0..40 {
            let balls = Balls { cell: cell.as_ref(), centre: &centre, extent: &extent };
            made += usize::from(list.update(balls, |i| 0.3 * extent[i], |_, _| true) == Renewed::All);
            renewed += list.renewed().len();
            let expected = all_pairs(cell.as_ref(), &centre, &extent);
            assert!(meeting(&list, balls) == expected, "ratio {ratio}, step {step}");
            let (kept, inner): (Vec<DVec3>, Vec<f64>) =
                (0..centre.len()).map(|i| (list.centre(i), list.reach(i) - 2.0 * list.rounding)).unzip();
            for (i, j) in all_pairs(cell.as_ref(), &kept, &inner) {
                assert!(
                    list.after(i as usize).contains(&j),
                    "enlarged balls of {i} and {j}, ratio {ratio}, step {step}"
                );
            }
            for (i, (x, e)) in centre.iter_mut().zip(&mut extent).enumerate() {
                // Some go far for their size, and some grow beyond their level.
                let way = if i % 100 == step { 3.0 } else { 0.03 };
                *x += ((somewhere(&mut random) - 0.5) * way * *e + drift) * flat;
                *x = cell.map_or(*x, |cell| cell.wrap(*x));
                *e *= if i % 150 == step { 1.6 } else { 1.0 };
            }
        }
    }
    assert!(made < 120 && renewed > 500, "{made} lists, {renewed} new balls");
}

#[test]
fn lists_are_the_same_on_any_number_of_threads() {
    let mut random = Pcg64::seed_from_u64(6);
    let Mixture { centre, extent, .. } =
        mixture(Recipe { count: 5_000, ratio: 200.0, dimension: 3, filled: 2.0 }, &mut random);
    let lists = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut list = Neighbours::default();
        let balls = Balls { cell: None, centre: &centre, extent: &extent };
        pool.install(|| list.update(balls, |i| 0.1 * extent[i], |_, _| true));
        (0..centre.len()).map(|i| list.after(i).to_vec()).collect::<Vec<_>>()
    });
    assert!(lists[0] == lists[1] && lists[0] == lists[2]);
}

#[test]
fn one_size_is_one_level_and_levels_take_room_for_their_balls_alone() {
    let levels = |extents: &[f64]| Levels::new(None, extents.iter().copied());
    assert_eq!(levels(&[]).buckets.len(), 1);
    assert_eq!(levels(&[0.0; 9]).buckets.len(), 1);
    assert_eq!(levels(&[1.9, 1.0, 1.5]).buckets.len(), 1);
    assert_eq!(levels(&[f64::INFINITY, f64::NAN, 1.0, -1.0, 0.0]).buckets.len(), 3);
    let mut random = Pcg64::seed_from_u64(7);
    for ratio in [1.0_f64, 2.0, 1000.0, 1e12, 1e200] {
        let extent: Vec<f64> = (0..3_000).map(|_| ratio.powf(random.random_range(0.0..1.0))).collect();
        let sorted = levels(&extent);
        assert!(sorted.buckets.len() <= 2 + ratio.log2() as usize);
        for (level, buckets) in sorted.buckets.iter().enumerate() {
            let here = extent.iter().copied().filter(|e| sorted.of(|| *e) == level);
            let (least, most) = here.clone().fold((f64::INFINITY, 0.0_f64), |(a, b), e| (a.min(e), b.max(e)));
            assert!(most < 2.0 * least && buckets.widest == most);
            assert!(buckets.room() <= 2 * here.count() + 6, "however large space is");
        }
        let order: BTreeSet<usize> = extent.iter().map(|e| sorted.of(|| *e)).collect();
        assert_eq!(order.len(), sorted.buckets.len(), "none is empty");
    }
}
