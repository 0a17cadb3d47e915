//! One suite run on every shape, side and feature.

use glam::{DQuat, DVec3};
use proptest::prelude::*;

use super::motion::tests::any_vector;
use super::plate::closest_on_segment;
use super::{
    BoxSide, Extent, Funnel, Motion, Obstacle, Plate, Section, Shape, Side, Surface, Touch, TriangleMesh, Wheel,
    triangle,
};

const OPEN: f64 = f64::INFINITY;

fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

fn cuboid(half: DVec3, angle: f64, side: Side) -> Shape {
    let orientation = DQuat::from_axis_angle(DVec3::Z, angle);
    Shape::Box { centre: v(0.1, 0.2, 0.0), half, orientation, side, open: vec![] }
}

fn ball(side: Side) -> Shape {
    Shape::Sphere { centre: v(0.2, -0.1, 0.0), radius: 1.1, side }
}

fn drum(axis: DVec3, length: f64, side: Side, closed: bool) -> Shape {
    Shape::Cylinder { centre: v(0.2, -0.1, 0.0), axis, radius: 0.9, length, side, closed }
}

fn funnel(top: DVec3, section: Section, thickness: f64) -> Funnel {
    Funnel { top, bottom: v(0.0, -0.5, 0.0), top_radius: 1.2, bottom_radius: 0.4, thickness, section }
}

fn wheel(axis: DVec3, width: f64) -> Wheel {
    let centre = v(0.1, 0.0, 0.0);
    Wheel { centre, axis, hub_radius: 0.4, outer_radius: 1.3, width, blades: 5, thickness: 0.1, phase: 0.3 }
}

fn tetrahedron() -> TriangleMesh {
    let corners = [v(-1.0, -1.0, -0.5), v(1.2, -0.8, -0.6), v(0.0, 1.1, -0.4), v(0.1, 0.0, 1.0)];
    TriangleMesh::new(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).unwrap()
}

fn shapes(dimension: usize) -> Vec<Shape> {
    let (outside, inside) = (Side::Outside, Side::Inside);
    let shared = [Shape::HalfSpace { point: v(0.0, -0.3, 0.0), normal: v(1.0, 2.0, 0.0) }, ball(outside), ball(inside)];
    let own = if dimension == 2 {
        vec![
            cuboid(v(1.0, 0.7, OPEN), 0.4, outside),
            cuboid(v(1.0, 0.7, OPEN), 0.4, inside),
            drum(DVec3::Z, OPEN, outside, false),
            drum(-DVec3::Z, OPEN, inside, true),
            Shape::Plate(Plate::segment(v(-0.5, 0.1, 0.0), v(0.7, 0.4, 0.0), 0.2)),
            Shape::Funnel(funnel(v(0.2, 1.0, 0.0), Section::Flat, 0.1)),
            Shape::Wheel(wheel(DVec3::Z, OPEN)),
        ]
    } else {
        let tilted = v(0.2, -0.3, 0.9);
        vec![
            cuboid(v(1.0, 0.7, 0.5), 0.4, outside),
            cuboid(v(1.0, 0.7, 1.5), 0.4, inside),
            drum(tilted, 1.6, outside, false),
            drum(tilted, OPEN, outside, false),
            drum(tilted, 1.6, inside, true),
            drum(tilted, 1.6, inside, false),
            drum(tilted, OPEN, inside, false),
            Shape::Plate(Plate::segment(v(-0.5, 0.1, 0.3), v(0.7, 0.4, -0.2), 0.2)),
            Shape::Plate(Plate {
                corner: v(-0.5, 0.1, 0.3),
                edges: [v(1.0, 0.2, 0.0), v(0.3, 1.0, 0.4)],
                thickness: 0.1,
            }),
            Shape::Funnel(funnel(v(0.2, 1.0, 0.4), Section::Round, 0.1)),
            Shape::Wheel(wheel(tilted, 0.8)),
            Shape::Mesh(tetrahedron()),
        ]
    };
    shared.into_iter().chain(own).collect()
}

fn all_shapes() -> impl Iterator<Item = (usize, Shape)> {
    [2, 3].into_iter().flat_map(|dimension| shapes(dimension).into_iter().map(move |shape| (dimension, shape)))
}

fn in_space(point: DVec3, dimension: usize) -> DVec3 {
    if dimension == 2 { v(point.x, point.y, 0.0) } else { point }
}

/// The shape on the move, and a time at which it is turned and shifted.
fn moving(shape: Shape, dimension: usize) -> (Obstacle, f64) {
    let axis = if dimension == 2 { DVec3::Z } else { v(1.0, -2.0, 2.0) };
    let turn = Motion::Rotation { centre: v(0.3, 0.1, 0.0), axis, rate: 0.9, from: 0.0, until: OPEN };
    let velocity = in_space(v(0.2, -0.1, 0.3), dimension);
    let shift = Motion::Translation { velocity, from: 0.0, until: OPEN };
    (Obstacle { name: String::new(), shape, motions: vec![shift, turn], colour: None, roughness: 0.0 }, 1.3)
}

fn collect(obstacle: &Obstacle, t: f64, sphere: (DVec3, f64), reach: f64) -> Vec<Touch> {
    let mut touches = Vec::new();
    obstacle.at(t).touches(sphere.0, sphere.1, reach, &mut |touch| touches.push(touch));
    touches
}

/// Thickness that the drawing of the shape leaves out.
fn thickness(shape: &Shape) -> f64 {
    match shape {
        Shape::Plate(plate) => plate.thickness,
        Shape::Funnel(funnel) => funnel.thickness,
        _ => 0.0,
    }
}

fn thin(shape: &Shape) -> Shape {
    match shape {
        Shape::Plate(plate) => Shape::Plate(Plate { thickness: 0.0, ..*plate }),
        Shape::Funnel(funnel) => Shape::Funnel(Funnel { thickness: 0.0, ..*funnel }),
        Shape::Wheel(wheel) => Shape::Wheel(Wheel { thickness: 0.0, ..*wheel }),
        other => other.clone(),
    }
}

fn distance_to_drawing(surface: &Surface, point: DVec3) -> f64 {
    let at = |k: u32| surface.points[k as usize];
    let triangles = surface.triangles.iter().map(|t| triangle::closest(t.map(at), point).0);
    let lines = surface.lines.iter().map(|l| closest_on_segment(at(l[0]), at(l[1]), point));
    triangles.chain(lines).map(|closest| closest.distance(point)).fold(OPEN, f64::min)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_normal_is_minus_the_gradient_of_the_gap(point in any_vector(2.0), radius in 0.01..0.5) {
        for (dimension, shape) in all_shapes() {
            let features = shape.features();
            let (obstacle, t) = moving(shape, dimension);
            let placed = obstacle.at(t);
            let centre = in_space(point, dimension);
            for feature in 0..features {
                let Some(touch) = placed.gap_of(centre, radius, feature) else { continue };
                prop_assert!((touch.normal.length() - 1.0).abs() < 1e-12);
                let planar_guard = !matches!(obstacle.shape, Shape::Sphere { side: Side::Inside, .. }) || feature <= 8;
                if dimension == 2 && planar_guard { prop_assert_eq!(touch.normal.z, 0.0); }
                let h = 3e-6;
                for e in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().take(dimension) {
                    let gap = |x: DVec3| placed.gap_of(x, radius, feature).unwrap().gap;
                    let (ahead, behind) = (gap(centre + h * e), gap(centre - h * e));
                    // Kinks and points nearer to an edge than 0.03 have no gradient worth comparing.
                    if (ahead + behind - 2.0 * touch.gap).abs() > 1e-4 * h { continue }
                    let slope = (ahead - behind) / (2.0 * h);
                    prop_assert!((slope + touch.normal.dot(e)).abs() < 1e-6,
                        "{:?} feature {feature} at {centre}: slope {slope}, normal {}", obstacle.shape, touch.normal);
                }
            }
        }
    }

    #[test]
    fn the_gap_is_the_distance_to_the_drawing(point in any_vector(1.5)) {
        for (dimension, shape) in all_shapes() {
            let point = in_space(point, dimension);
            let reach = in_space(DVec3::splat(8.0), dimension);
            let drawing = thin(&shape).surface(&Extent { lower: -reach, upper: reach, dimension });
            let nearest = |k| shape.nearest(k, point).map(|near| near.distance);
            // Guards touch no more of the wall than the wall itself does; blades are thick, their hub is not.
            let distances: Vec<f64> = match &shape {
                Shape::Wheel(wheel) =>
                    (0..=wheel.blades).filter_map(nearest).enumerate()
                        .map(|(k, d)| if k == 0 { d } else { d + 0.5 * wheel.thickness }).collect(),
                Shape::Sphere { .. } | Shape::Funnel(Funnel { section: Section::Round, .. }) => nearest(0).into_iter().collect(),
                _ => (0..shape.features()).filter_map(nearest).collect(),
            };
            let least = distances.into_iter().fold(OPEN, f64::min) + 0.5 * thickness(&shape);
            let container = matches!(&shape, Shape::Box { side: Side::Inside, .. } | Shape::Cylinder { side: Side::Inside, .. });
            if least < 0.0 && (container || matches!(&shape, Shape::Wheel(_))) { continue }
            let drawn = distance_to_drawing(&drawing, point);
            prop_assert!((least.abs() - drawn).abs() < 4e-3, "{shape:?} at {point}: {least} and not {drawn}");
        }
    }

    #[test]
    fn convex_gaps_lie_above_their_tangents(x in any_vector(2.0), y in any_vector(2.0)) {
        for (dimension, shape) in all_shapes().filter(|(_, shape)| shape.is_convex()) {
            let (x, y) = (in_space(x, dimension), in_space(y, dimension));
            let pairs = (0..shape.features()).filter_map(|k| Some((shape.nearest(k, x)?, shape.nearest(k, y)?)));
            for (here, there) in pairs {
                let tangent = here.distance - here.normal.dot(y - x);
                prop_assert!(there.distance >= tangent - 1e-12, "{shape:?}: {x} {y}");
            }
        }
    }

    #[test]
    fn touches_are_within_reach_in_order_and_never_missed(point in any_vector(2.5), radius in 0.05..0.8, reach in 0.0..0.5) {
        for (dimension, shape) in all_shapes() {
            let (obstacle, t) = moving(shape, dimension);
            let centre = in_space(point, dimension);
            let touches = collect(&obstacle, t, (centre, radius), reach);
            prop_assert!(touches.windows(2).all(|pair| pair[0].feature < pair[1].feature));
            for touch in &touches {
                prop_assert!(touch.gap <= reach);
                let same = obstacle.at(t).gap_of(centre, radius, touch.feature).unwrap();
                prop_assert!((same.gap - touch.gap).abs() < 1e-12 && (same.normal - touch.normal).length() < 1e-9);
            }
            prop_assert!(touches.is_empty() || obstacle.at(t).may_reach(centre, radius + reach));
            if let Some((lower, upper)) = obstacle.at(t).confines() {
                prop_assert!(touches.is_empty() || centre.distance(centre.clamp(lower, upper)) <= radius + reach + 1e-12);
            }
            let first = obstacle.at(t).gap_of(centre, radius, 0).unwrap();
            // On a mesh the nearest point of a face may belong to an edge that is nearer to its other face.
            let missed = first.gap <= reach && touches.iter().all(|touch| touch.feature != 0);
            prop_assert!(!missed || matches!(obstacle.shape, Shape::Mesh(_)));
            prop_assert_eq!(obstacle.at(t).gap_of(centre, radius, obstacle.shape.features()), None);
        }
    }

    #[test]
    fn guards_are_implied_by_the_wall(point in any_vector(0.6), radius in 0.05..0.5) {
        for (dimension, shape) in all_shapes() {
            let round = match &shape {
                Shape::Sphere { side, .. } | Shape::Cylinder { side, .. } => *side == Side::Inside,
                Shape::Funnel(funnel) => funnel.section == Section::Round,
                _ => false,
            };
            if !round { continue }
            let point = in_space(point, dimension);
            let wall = shape.nearest(0, point).unwrap().distance;
            for guard in (1..=8).filter(|guard| shape.offers(*guard, point, radius)) {
                prop_assert!(shape.nearest(guard, point).unwrap().distance >= wall - 1e-12);
            }
        }
    }
}

#[test]
fn a_ball_that_fills_a_tube_is_guarded_on_all_sides() {
    let tilted = v(0.2, -0.3, 0.9);
    for (dimension, shape, count) in [
        (3, drum(tilted, OPEN, Side::Inside, false), 9),
        (3, drum(tilted, 1.6, Side::Inside, false), 9),
        (2, drum(DVec3::Z, OPEN, Side::Inside, false), 9),
        (2, ball(Side::Inside), 9),
        (3, Shape::Funnel(Funnel { bottom_radius: 1.2, ..funnel(v(0.0, 1.0, 0.0), Section::Round, 0.0) }), 9),
    ] {
        let centre = shape.reference() + v(0.01, 0.0, 0.0);
        let (obstacle, _) = moving(shape, dimension);
        assert_eq!(collect(&obstacle, 0.0, (centre, 0.85), 0.5).len(), count, "{:?}", obstacle.shape);
        let aside = centre + v(0.6, 0.0, 0.0);
        assert_eq!(collect(&obstacle, 0.0, (aside, 0.2), 2.0).len(), 1, "{:?}", obstacle.shape);
    }
    let (obstacle, _) = moving(ball(Side::Inside), 3);
    assert_eq!(collect(&obstacle, 0.0, (v(0.2, -0.1, 0.01), 1.0), 0.5).len(), 15);
}

#[test]
fn a_sphere_in_the_corner_of_a_box_is_held_by_all_its_sides() {
    let box_with = |open| Shape::Box {
        centre: DVec3::ZERO,
        half: DVec3::ONE,
        orientation: DQuat::IDENTITY,
        side: Side::Inside,
        open,
    };
    let touches = |shape| collect(&moving(shape, 3).0, 0.0, (DVec3::splat(0.75), 0.25), 1e-9);
    let corner = touches(box_with(vec![]));
    assert_eq!(
        corner.iter().map(|touch| (touch.feature, touch.normal)).collect::<Vec<_>>(),
        [(1, DVec3::X), (3, DVec3::Y), (5, DVec3::Z)]
    );
    assert_eq!(touches(box_with(vec![BoxSide::UpperZ])).len(), 2);
}

#[test]
fn a_closed_drum_has_caps_and_an_open_one_can_be_left() {
    let at = |closed, height| {
        let shape = Shape::Cylinder {
            centre: DVec3::ZERO,
            axis: DVec3::Z,
            radius: 1.0,
            length: 4.0,
            side: Side::Inside,
            closed,
        };
        let touches = collect(&moving(shape, 3).0, 0.0, (v(0.8, 0.0, height), 0.2), 0.05);
        touches.iter().map(|touch| (touch.feature, touch.gap > -1e-12)).collect::<Vec<_>>()
    };
    assert_eq!(at(true, 1.8), [(0, true), (10, true)]);
    assert_eq!(at(true, -1.8), [(0, true), (9, true)]);
    assert_eq!(at(true, 2.5), [(0, true), (10, false)]);
    assert_eq!(at(false, 1.8), [(0, true)]);
    assert_eq!(at(false, 2.1), [(0, true)]);
    assert_eq!(at(false, 2.5), []);
}

#[test]
fn drawings_lie_within_the_bounds() {
    for (dimension, shape) in all_shapes() {
        let Some((lower, upper)) = shape.seen_bounds(dimension) else {
            let endless = matches!(shape, Shape::Cylinder { length: OPEN, .. } | Shape::HalfSpace { .. });
            assert!(endless && shape.bounds().is_none(), "{shape:?}");
            continue;
        };
        let reach = in_space(DVec3::splat(8.0), dimension);
        let drawing = shape.surface(&Extent { lower: -reach, upper: reach, dimension });
        assert!(!drawing.points.is_empty());
        let inside = |p: &DVec3| (*p - p.clamp(lower, upper)).length() < 1e-9;
        assert!(drawing.points.iter().all(inside), "{shape:?}");
    }
}

#[test]
fn every_shape_of_the_suite_is_accepted_and_bad_ones_name_the_field() {
    for (dimension, shape) in all_shapes() {
        assert_eq!(shape.check(dimension), Ok(()));
    }
    let bad = |shape: Shape, dimension| shape.check(dimension).unwrap_err().field;
    assert_eq!(bad(Shape::HalfSpace { point: DVec3::NAN, normal: DVec3::X }, 3), "point");
    assert_eq!(bad(Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::ZERO }, 3), "normal");
    assert_eq!(bad(Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Z }, 2), "normal");
    assert_eq!(bad(cuboid(DVec3::ONE, 0.0, Side::Inside), 2), "half");
    assert_eq!(bad(cuboid(v(1.0, -1.0, 1.0), 0.0, Side::Inside), 3), "half");
    assert_eq!(bad(Shape::Sphere { centre: DVec3::ZERO, radius: 0.0, side: Side::Inside }, 3), "radius");
    assert_eq!(bad(drum(DVec3::X, OPEN, Side::Inside, false), 2), "axis");
    assert_eq!(bad(drum(DVec3::Z, 1.0, Side::Inside, false), 2), "length");
    assert_eq!(bad(Shape::Plate(Plate::segment(DVec3::X, DVec3::X, 0.0)), 2), "edges[0]");
    assert_eq!(bad(Shape::Plate(Plate::segment(DVec3::X, DVec3::Y, -1.0)), 2), "thickness");
    assert_eq!(bad(Shape::Funnel(funnel(DVec3::Y, Section::Round, 0.0)), 2), "section");
    assert_eq!(bad(Shape::Wheel(Wheel { blades: 0, ..wheel(DVec3::Z, 1.0) }), 3), "blades");
    assert_eq!(bad(Shape::Wheel(Wheel { outer_radius: 0.1, ..wheel(DVec3::Z, 1.0) }), 3), "outer_radius");
    assert_eq!(bad(Shape::Mesh(tetrahedron()), 2), "mesh");
    let message = Shape::Sphere { centre: DVec3::ZERO, radius: -2.0, side: Side::Inside }.check(3).unwrap_err();
    assert_eq!(message.to_string(), "radius = -2.0: should be a finite number > 0");
}
