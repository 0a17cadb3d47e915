//! Arrival times against exact distances, and who is told that there is no way.

use std::f64::consts::PI;

use glam::DVec2;

use super::*;
use crate::geometry::{Cell, Motion, Plate, Side};

fn wall(name: &str, shape: Shape) -> Obstacle {
    Obstacle { name: name.to_owned(), shape, motions: Vec::new(), colour: None, roughness: 0.0 }
}

fn segment(from: (f64, f64), to: (f64, f64)) -> Obstacle {
    let end = |(x, y)| DVec3::new(x, y, 0.0);
    wall("wall", Shape::Plate(Plate::segment(end(from), end(to), 0.0)))
}

fn exit(from: (f64, f64), to: (f64, f64), out: (f64, f64)) -> Exit {
    Exit { from: from.into(), to: to.into(), out: out.into() }
}

/// Slopes of log(error) over log(h) between successive halvings.
fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

/// The greatest error of T over the nodes of a grid, where `exact` is known.
fn error(grid: &Grid, arrival: &Arrival, exact: impl Fn(DVec2) -> Option<f64>) -> f64 {
    let off = |node: usize| exact(grid.place(node)).map_or(0.0, |exact| (arrival.time[node] - exact).abs());
    (0..grid.len()).map(off).fold(0.0, f64::max)
}

#[test]
fn times_from_a_point_are_of_second_order_where_they_are_exact_around_it() {
    let (point, around) = (DVec2::new(0.313, 0.271), 0.15);
    let errors: Vec<f64> = [20.0, 40.0, 80.0, 160.0]
        .iter()
        .map(|count| {
            let grid = Grid::covering(DVec2::ZERO, DVec2::ONE, 1.0 / count);
            let near = (0..grid.len()).filter(|node| grid.place(*node).distance(point) < around);
            let seed = |node| {
                let time = grid.place(node).distance(point);
                Seed { node, time, towards: DVec2::ZERO, label: 0, exact: true }
            };
            let arrival = march(&grid, &vec![1.0; grid.len()], &near.map(seed).collect::<Vec<_>>(), &|_, _| false);
            error(&grid, &arrival, |place| Some(place.distance(point)))
        })
        .collect();
    assert!(errors[3] < 2e-4 && orders(&errors).iter().all(|order| *order > 1.9), "{errors:?}");
}

/// The survey of walls and exits on a box, for who keeps at most ρ.
fn survey<'a>(walls: &'a [Obstacle], exits: &'a [Exit], (lower, upper): (f64, f64), cell: f64) -> Survey<'a> {
    let grid = Grid::covering(DVec2::splat(lower), DVec2::splat(upper), cell);
    Survey::new(walls.iter().map(|wall| wall.at(0.0)).collect(), exits, grid, 1.0)
}

#[test]
fn times_from_a_segment_are_of_an_order_above_one() {
    let exits = [exit((-0.31, 0.13), (0.42, -0.27), (1.0, 1.0))];
    let errors: Vec<f64> = [0.1, 0.05, 0.025, 0.0125]
        .iter()
        .map(|cell| {
            let survey = survey(&[], &exits, (-2.0, 2.0), *cell);
            let along = exits[0].to - exits[0].from;
            error(&survey.grid, &survey.march(0.4), |place| {
                let share = ((place - exits[0].from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                Some(place.distance(exits[0].from + share * along))
            })
        })
        .collect();
    assert!(errors[3] < 5e-4 && orders(&errors).iter().all(|order| *order > 1.4), "{errors:?}");
}

#[test]
fn times_in_a_cell_that_repeats_are_those_to_the_nearest_image() {
    // No square grid divides both periods, and the exit lies across a corner of the cell.
    let (exits, period) = ([exit((2.8, 0.1), (3.25, -0.2), (1.0, 1.0))], DVec2::new(3.0, 2.3));
    let along = exits[0].to - exits[0].from;
    let distance = |place: DVec2| {
        let share = ((place - exits[0].from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        place.distance(exits[0].from + share * along)
    };
    let sorted = |place: DVec2| {
        let shifts = (-2..=2).flat_map(|i| (-2..=2).map(move |j| DVec2::new(f64::from(i), f64::from(j))));
        let mut all: Vec<f64> = shifts.map(|shift| distance(place + shift * period)).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let errors: Vec<f64> = [0.1, 0.05, 0.025, 0.0125]
        .iter()
        .map(|cell| {
            let grid = Grid::covering(DVec2::ZERO, period, *cell).repeated(0, 0.0, period.x).repeated(1, 0.0, period.y);
            let survey = Survey::new(Vec::new(), &exits, grid, 1.0);
            let arrival = survey.march(0.4);
            // Where two images are equally near the fronts meet, and times are off by less than a cell.
            assert!(error(&survey.grid, &arrival, |place| Some(sorted(place)[0])) < *cell);
            error(&survey.grid, &arrival, |place| {
                let all = sorted(place);
                (all[1] - all[0] > 0.3).then_some(all[0])
            })
        })
        .collect();
    assert!(errors[3] < 5e-4 && orders(&errors).iter().all(|order| *order > 1.2), "{errors:?}");
}

#[test]
fn directions_repeat_with_the_cell_and_lead_through_its_faces() {
    let (exits, cell) = ([exit((1.0, 1.0), (1.0, 2.0), (1.0, 0.0))], Cell::new([Some([0.0, 10.0]), None, None]));
    let mut someone = people(&[(8.0, 1.5, 0.2)]);
    someone.cell = cell.ok();
    let pillar = Shape::Sphere { centre: DVec3::new(14.0, 4.0, 0.0), radius: 0.3, side: Side::Outside };
    let crowd = Crowd::new(wishes(&exits), &someone, &[wall("pillar", pillar)]).unwrap();
    for (place, way) in [((8.0, 1.5), (1.0, 0.0)), ((9.9, 1.2), (1.0, 0.0)), ((0.1, 1.7), (1.0, 0.0))] {
        let found = crowd.direction(DVec3::new(place.0, place.1, 0.0), 0.2);
        assert!((found - DVec3::new(way.0, way.1, 0.0)).length() < 1e-2, "{found} at {place:?}");
        let image = crowd.direction(DVec3::new(place.0 - 30.0, place.1, 0.0), 0.2);
        assert!(found.distance(image) < 1e-6, "{found} {image}");
    }
    // To the end of the exit at (11, 2), through the face.
    let (found, exact) = (crowd.direction(DVec3::new(8.0, 4.0, 0.0), 0.2), DVec3::new(3.0, -2.0, 0.0).normalize());
    assert!(found.distance(exact) < 2e-2, "{found} {exact}");
    let endless = wall("across", Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::X });
    let refused = Crowd::new(wishes(&exits), &someone, &[endless]).unwrap_err();
    assert_eq!(refused, CrowdError::CannotRepeat { name: "across".to_owned(), axis: "x" });
}

/// The way around the end of a wall at the origin, which hangs down from it, at the distance ρ: straight, an arc, and
/// straight down on the other side to an exit at y = −depth.
fn around_the_corner(from: DVec2, keep: f64, depth: f64) -> Option<f64> {
    let start = from.to_angle() + (keep / from.length()).acos();
    let in_the_shadow = from.x > keep && from.y < 0.0 && from.length() > keep;
    in_the_shadow.then(|| (from.length_squared() - keep * keep).sqrt() + keep * (PI - start) + depth)
}

#[test]
fn times_around_a_corner_converge_with_order_one_to_the_shortest_way() {
    let walls = [segment((0.0, 0.0), (0.0, -9.0))];
    let exits = [exit((-3.0, -1.5), (0.0, -1.5), (0.0, -1.0))];
    let errors: Vec<f64> = [0.1, 0.05, 0.025, 0.0125]
        .iter()
        .map(|cell| {
            let survey = survey(&walls, &exits, (-2.5, 2.5), *cell);
            error(&survey.grid, &survey.march(0.2), |place| around_the_corner(place, 0.2, 1.5))
        })
        .collect();
    assert!(errors[3] < 0.015 && errors[0] / errors[3] > 8.0, "{errors:?}");
}

fn people(list: &[(f64, f64, f64)]) -> Particles {
    let mut people = Particles::default();
    for &(x, y, radius) in list {
        people.push(DVec3::new(x, y, 0.0), radius, 1.0);
    }
    people
}

fn wishes(exits: &[Exit]) -> Wishes {
    Wishes { speeds: vec![1.0], exits: exits.to_vec(), clearance: 0.0, cell: None }
}

/// A room from the origin to (4, 3) with a door of this width in the middle of its right side.
fn room(door: f64) -> (Vec<Obstacle>, Exit) {
    let (low, high) = (1.5 - 0.5 * door, 1.5 + 0.5 * door);
    let corners = [(4.0, low), (4.0, 0.0), (0.0, 0.0), (0.0, 3.0), (4.0, 3.0), (4.0, high)];
    let walls = corners.windows(2).map(|ends| segment(ends[0], ends[1])).collect();
    (walls, exit((4.0, low), (4.0, high), (1.0, 0.0)))
}

#[test]
fn who_cannot_leave_is_named() {
    let crowd = |door: f64, list: &[(f64, f64, f64)]| {
        let (walls, exit) = room(door);
        Crowd::new(wishes(&[exit]), &people(list), &walls).map(|_| ())
    };
    let two = [(1.0, 1.0, 0.2), (2.0, 2.0, 0.3)];
    assert_eq!(crowd(0.7, &two), Ok(()));
    assert!(matches!(crowd(0.5, &two), Err(CrowdError::TooWide { particle: 1, .. })));
    let (mut walls, exit) = room(0.7);
    walls.push(segment((3.0, 0.0), (3.0, 3.0)));
    let shut_in = Crowd::new(wishes(&[exit]), &people(&[(3.5, 1.0, 0.2), (1.0, 1.0, 0.2)]), &walls);
    assert_eq!(shut_in.unwrap_err(), CrowdError::NoWay { particle: 1 });
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (walls, door) = room(1.0);
    let one = people(&[(1.0, 1.0, 0.2)]);
    let refused = |wishes: Wishes| Crowd::new(wishes, &one, &walls).unwrap_err().to_string();
    let good = wishes(&[door]);
    for (bad, word) in [
        (Wishes { exits: vec![], ..good.clone() }, "needs an exit"),
        (Wishes { exits: vec![door, Exit { to: door.from, ..door }], ..good.clone() }, "exit 1"),
        (Wishes { speeds: vec![-1.0], ..good.clone() }, "a speed is -1"),
        (Wishes { speeds: vec![], ..good.clone() }, "group 0 has no speed"),
        (Wishes { clearance: f64::NAN, ..good.clone() }, "the clearance is NaN"),
        (Wishes { cell: Some(0.11), ..good.clone() }, "half the smallest radius, 0.1"),
        (Wishes { cell: Some(1e-6), ..good.clone() }, "nodes"),
    ] {
        assert!(refused(bad).contains(word), "{word}");
    }
    assert_eq!(Crowd::new(good.clone(), &people(&[]), &walls).unwrap_err(), CrowdError::Nobody);
    let mut moving = walls.clone();
    moving[0].motions.push(Motion::Translation { velocity: DVec3::X, from: 0.0, until: f64::INFINITY });
    assert!(matches!(Crowd::new(good, &one, &moving), Err(CrowdError::Moves { .. })));
}

#[test]
fn beyond_the_exit_the_way_leads_straight_out() {
    let (walls, exit) = room(1.0);
    let crowd = Crowd::new(wishes(&[exit]), &people(&[(1.0, 1.0, 0.2)]), &walls).unwrap();
    for place in [(3.99, 1.5), (4.01, 1.5), (4.3, 1.9), (4.3, 0.5), (50.0, 9.0)] {
        let direction = crowd.direction(DVec3::new(place.0, place.1, 0.0), 0.2);
        assert!((direction - DVec3::X).length() < 1e-9, "{direction} at {place:?}");
    }
    // Inside, everybody has a way of length one, whoever they are pressed against.
    for (x, y) in [(0.15, 0.15), (3.85, 2.85), (3.9, 1.0), (2.0, 1.5), (0.1, 2.9)] {
        assert!((crowd.direction(DVec3::new(x, y, 0.0), 0.2).length() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn nobody_is_smaller_than_the_class_and_few_share_none() {
    assert_eq!(classes(&[0.3, 0.2, 0.21, 0.22, 0.25]), vec![0.2, 0.25, 0.3]);
    assert_eq!(classes(&[]), Vec::<f64>::new());
}
