use proptest::prelude::*;

use super::grid::{Entry, within};
use super::*;

fn cloud(flat: bool) -> impl Strategy<Value = Vec<(DVec3, f64)>> {
    let depth = if flat { 0.0 } else { 3.0 };
    let particle = ((-3.0..3.0, -3.0..3.0, 0.0..=1.0), 0.05..0.5)
        .prop_map(move |((x, y, z), extent)| (DVec3::new(x, y, z * depth), extent));
    prop::collection::vec(particle, 0..120)
}

fn agrees(cloud: &[(DVec3, f64)], stretch: f64) {
    let position: Vec<DVec3> = cloud.iter().map(|p| p.0 * stretch).collect();
    let extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
    assert_eq!(pairs(&position, &extent), pairs_by_brute_force(&position, &extent));
}

proptest! {
    #[test]
    fn buckets_find_what_brute_force_finds(cloud in cloud(false)) {
        agrees(&cloud, 1.0);
    }

    #[test]
    fn also_in_a_plane_and_far_apart(cloud in cloud(true), stretch in prop::sample::select(vec![0.01, 1.0, 1e9])) {
        agrees(&cloud, stretch);
    }
}

/// All pairs are wanted.
fn update(list: &mut Neighbours, cell: Option<&Cell>, (centre, extent): (&[DVec3], &[f64]), skin: f64) -> Renewed {
    list.update(Balls { cell, centre, extent }, |_| skin, |_, _| true)
}

/// The nearest of many images, along each axis on its own.
fn meet_in(cell: &Cell, (a, extent): (DVec3, f64), (b, other): (DVec3, f64)) -> bool {
    let nearest = |axis: usize| {
        let images = (-6..=6).map(|n| (b[axis] - a[axis] + f64::from(n) * cell.period()[axis]).abs());
        images.fold(f64::INFINITY, f64::min)
    };
    DVec3::new(nearest(0), nearest(1), nearest(2)).length() <= extent + other
}

fn pairs_of_images(cell: &Cell, position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    let all = (0..position.len()).flat_map(|i| (i + 1..position.len()).map(move |j| (i, j)));
    let meet = |(i, j): &(usize, usize)| meet_in(cell, (position[*i], extent[*i]), (position[*j], extent[*j]));
    all.filter(meet).map(|(i, j)| (i as u32, j as u32)).collect()
}

fn any_cell() -> impl Strategy<Value = Cell> {
    let axis = prop_oneof![Just(0.0), 1.2..7.0_f64];
    ([axis.clone(), axis.clone(), axis], prop::array::uniform3(-5.0..5.0_f64))
        .prop_map(|(period, lower)| Cell::with_periods(lower.into(), period.into()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn in_a_cell_buckets_find_what_brute_force_over_images_finds(cloud in cloud(false), cell in any_cell()) {
        let position: Vec<DVec3> = cloud.iter().map(|p| p.0).collect();
        let extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
        prop_assert_eq!(pairs_in(Some(&cell), &position, &extent), pairs_of_images(&cell, &position, &extent));
    }

    #[test]
    fn in_a_cell_far_narrower_than_the_balls_every_pair_is_found_with_few_images(
        cloud in cloud(false), narrow in prop::array::uniform3(0.05..1.2_f64), tall in any::<bool>(),
    ) {
        let position: Vec<DVec3> = cloud.iter().map(|p| p.0).collect();
        let extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
        let period = if tall { DVec3::new(narrow[0], narrow[1], 0.0) } else { narrow.into() };
        let cell = Cell::with_periods(DVec3::ZERO, period).unwrap();
        let mut expected = Vec::new();
        for i in 0..position.len() {
            for j in i + 1..position.len() {
                if cell.shortest(position[j] - position[i]).length() <= extent[i] + extent[j] {
                    expected.push((i as u32, j as u32));
                }
            }
        }
        prop_assert_eq!(pairs_in(Some(&cell), &position, &extent), expected);
        let grid = Grid::of(Some(cell), &position, |i| extent[i]);
            prop_assert!(grid.entries.iter().map(Vec::len).sum::<usize>() <= 27 * position.len());
    }

    #[test]
    fn in_a_cell_a_list_in_use_finds_them_too(
        cloud in cloud(true), cell in any_cell(), seed in any::<u64>(), drift in -0.3..0.3_f64,
    ) {
        let mut position: Vec<DVec3> = cloud.iter().map(|p| cell.wrap(p.0)).collect();
        let extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
        let (mut list, mut random, mut made) = (Neighbours::default(), seed, 0);
        let mut share = || -> f64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        for _ in 0..20 {
            made += usize::from(update(&mut list, Some(&cell), (&position, &extent), 0.1) == Renewed::All);
            for (i, j) in pairs_of_images(&cell, &position, &extent) {
                prop_assert!(list.after(i as usize).binary_search(&j).is_ok(), "{} and {}", i, j);
            }
            for x in &mut position {
                *x = cell.wrap(*x + DVec3::new(share(), share(), share()) * 0.01 + drift);
            }
        }
        prop_assert!(made < 20, "a drift as one, through the faces, needs no new list");
    }
}

/// The pairs of the list whose balls meet, which is what its users make of it.
fn meeting(list: &Neighbours, position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for (i, &x) in position.iter().enumerate() {
        for &j in list.after(i) {
            let other = Entry { centre: position[j as usize], extent: extent[j as usize], id: j };
            if within(x, extent[i], &other) {
                found.push((i as u32, j));
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn a_list_in_use_finds_what_brute_force_finds(
        cloud in cloud(false), far in prop::sample::select(vec![0.0, 1e3, 1e9]), seed in any::<u64>(),
        move_by in 0.0..0.03_f64, drift in -0.1..0.1_f64,
    ) {
        let mut position: Vec<DVec3> = cloud.iter().map(|p| p.0 + far).collect();
        let mut extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
        let mut list = Neighbours::default();
        let mut random = seed;
        let mut share = || -> f64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        for _ in 0..20 {
            update(&mut list, None, (&position, &extent), 0.1);
            prop_assert_eq!(meeting(&list, &position, &extent), pairs_by_brute_force(&position, &extent));
            for (x, extent) in position.iter_mut().zip(&mut extent) {
                *x += DVec3::new(share(), share(), share()) * move_by + drift;
                *extent = (*extent + 0.2 * move_by * share()).max(0.05);
            }
        }
    }
}

#[test]
fn a_list_is_made_again_only_when_the_skin_is_used_up() {
    let mut position: Vec<DVec3> = (0..50).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
    let mut extent = [0.4; 50];
    let mut list = Neighbours::default();
    let mut update =
        |position: &[DVec3], extent: &[f64]| update(&mut list, None, (position, extent), 0.11) == Renewed::All;
    assert!(update(&position, &extent));
    assert!(!update(&position, &extent), "it is there");
    for x in &mut position {
        x.y += 5.0; // all as one
    }
    assert!(!update(&position, &extent));
    position[20].z += 0.1;
    assert!(!update(&position, &extent));
    extent[20] += 0.02;
    assert!(!update(&position, &extent), "one gets a new ball");
    extent.fill(0.6);
    assert!(update(&position, &extent));
    assert!(update(&position[1..], &extent[1..]), "others than those the list was made of");
    assert!(!update(&position[1..], &[0.1; 49]), "much wider than needed, but short");
    assert!(update(&position[1..], &[4.0; 49]));
    assert!(update(&position[1..], &[0.1; 49]), "wide enough, much wider than needed, and long");
}

/// A drifting lattice, through which some roll: the list is made once, and has all pairs that meet, in every step.
fn rollers(cell: Option<&Cell>, far: f64) {
    let lattice = (0..16 * 16 * 8).map(|k| DVec3::new(f64::from(k % 16), f64::from(k / 16 % 16), f64::from(k / 256)));
    let mut position: Vec<DVec3> = lattice.map(|x| x + far).collect();
    let extent = vec![0.49; position.len()];
    let (mut list, mut made, mut renewed) = (Neighbours::default(), 0, 0);
    // Two that meet each other above, and one that goes through all.
    let rolling = [(100, DVec3::X * 0.5), (101, DVec3::X * -0.5), (2_000, DVec3::new(0.2, -0.15, -0.15))];
    position[100] = DVec3::new(0.0, 5.0, 14.0) + far;
    position[101] = DVec3::new(8.0, 5.0, 14.0) + far;
    for step in 0..10 {
        let balls = Balls { cell, centre: &position, extent: &extent };
        let wanted = |i: u32, j: u32| !(i + j).is_multiple_of(7);
        // A ball that would be wider than any was when the list was made.
        let skin = |i: usize| if i == 2_000 && step > 0 { 0.6 } else { 0.05 };
        made += usize::from(list.update(balls, skin, wanted) == Renewed::All);
        renewed += list.renewed().len();
        assert!(list.renewed().is_sorted());
        assert!(list.renewed().iter().all(|&i| list.encloses(i as usize, list.centre(i as usize), 0.49)));
        for i in 0..position.len() {
            let after = list.after(i);
            assert!(after.is_sorted_by(|a, b| a < b) && after.iter().all(|j| *j > i as u32 && wanted(i as u32, *j)));
        }
        let meet = |i: usize, j: usize| {
            let offset = position[j] - position[i];
            cell.map_or(offset, |cell| cell.shortest(offset)).length() <= extent[i] + extent[j]
        };
        for (i, _) in rolling {
            for j in (0..position.len()).filter(|j| *j != i && meet(i, *j)) {
                let (low, high) = (i.min(j), i.max(j) as u32);
                let listed = list.after(low).contains(&high);
                assert_eq!(listed, wanted(low as u32, high), "step {step}: {low} and {high}");
            }
        }
        for (i, way) in rolling {
            position[i] += way;
        }
        for x in &mut position {
            *x += DVec3::new(0.3, 0.0, 0.1);
            *x = cell.map_or(*x, |cell| cell.wrap(*x));
        }
    }
    assert_eq!(made, 1);
    assert!(renewed > 20, "{renewed}");
}

#[test]
fn a_few_that_roll_get_new_balls_and_the_list_stays() {
    let cell = Cell::with_periods(DVec3::ZERO, DVec3::new(16.0, 0.0, 20.0)).unwrap();
    for k in 0..10 {
        let shift = 0.11 * f64::from(k);
        rollers(None, shift);
        rollers(None, 1e4 + shift);
        rollers(Some(&cell), shift);
    }
}

#[test]
fn nothing_is_covered_that_is_not_a_number() {
    let mut list = Neighbours::default();
    let far = [DVec3::ZERO, DVec3::X * 1e300];
    let mut update = |position: &[DVec3]| update(&mut list, None, (position, &[1.0; 2]), 1.0) == Renewed::All;
    assert!(update(&far));
    assert!(update(&far), "too far for what is remembered");
    assert!(update(&[DVec3::ZERO; 2]));
    assert!(update(&[DVec3::ZERO, DVec3::NAN]));
    let mut many = vec![DVec3::ZERO; 200];
    let mut update = |many: &[DVec3]| super::tests::update(&mut list, None, (many, &[1.0; 200]), 1.0) == Renewed::All;
    assert!(update(&many));
    many[3] = DVec3::NAN;
    assert!(update(&many), "one of many");
    many[3] = DVec3::X * 1e300;
    assert!(update(&many));
}

#[test]
fn whoever_is_near_any_point_is_named() {
    let position: Vec<DVec3> = (0..5).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
    let grid = Grid::new(&position, &[0.5; 5]);
    let named = |x: DVec3| {
        let mut found = Vec::new();
        grid.around(x, |i| found.push(i));
        found
    };
    assert!(named(DVec3::new(1.9, 0.9, -0.9)).contains(&2));
    for far in [DVec3::X, DVec3::Y, DVec3::Z].iter().flat_map(|axis| [*axis * 50.0, *axis * -50.0]) {
        assert_eq!(named(far), [] as [u32; 0], "{far}");
    }
    Grid::new(&[], &[]).around(DVec3::ZERO, |i| panic!("{i} is not there"));
}

#[test]
fn a_runaway_particle_costs_nothing_and_changes_nothing() {
    let mut position: Vec<DVec3> = (0..50).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
    position.push(DVec3::new(1e300, -1e300, 0.0));
    assert_eq!(pairs(&position, &[0.51; 51]).len(), 49);
}
