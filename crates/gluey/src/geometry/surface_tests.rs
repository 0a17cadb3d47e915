use glam::DQuat;

use super::*;

const VIEW: Extent = Extent { lower: DVec3::NEG_ONE, upper: DVec3::ONE, dimension: 3 };
const PLANE: Extent = Extent { lower: DVec3::new(-1.0, -1.0, 0.0), upper: DVec3::new(1.0, 1.0, 0.0), dimension: 2 };

fn area(surface: &Surface) -> f64 {
    let corners = |t: &[u32; 3]| t.map(|v| surface.points[v as usize]);
    surface.triangles.iter().map(corners).map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum()
}

fn length(surface: &Surface) -> f64 {
    surface.lines.iter().map(|l| surface.points[l[0] as usize].distance(surface.points[l[1] as usize])).sum()
}

fn cuboid(half: DVec3, open: Vec<BoxSide>) -> Shape {
    Shape::Box { centre: DVec3::ZERO, half, orientation: DQuat::IDENTITY, side: Side::Inside, open }
}

#[test]
fn areas_of_drawings_are_those_of_the_shapes() {
    let near = |shape: Shape, exact: f64| {
        let drawn = area(&shape.surface(&VIEW));
        assert!((drawn - exact).abs() < 0.01 * exact, "{shape:?}: {drawn} and not {exact}");
    };
    near(Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Z * 3.0 }, 4.0);
    near(Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::new(1.0, 1.0, 0.0) }, 4.0 * 2f64.sqrt());
    near(Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::ONE }, 3.0 * 3f64.sqrt());
    near(cuboid(DVec3::new(1.0, 2.0, 3.0), vec![]), 88.0);
    near(cuboid(DVec3::new(1.0, 2.0, 3.0), vec![BoxSide::UpperZ]), 80.0);
    let ball = |side| Shape::Sphere { centre: DVec3::ONE, radius: 2.0, side };
    near(ball(Side::Outside), 16.0 * PI);
    near(ball(Side::Inside), 16.0 * PI);
    let drum = |length, side, closed| Shape::Cylinder {
        centre: DVec3::ZERO,
        axis: DVec3::X,
        radius: 1.0,
        length,
        side,
        closed,
    };
    near(drum(3.0, Side::Outside, false), 8.0 * PI);
    near(drum(3.0, Side::Inside, false), 6.0 * PI);
    near(drum(f64::INFINITY, Side::Inside, false), 4.0 * 3f64.sqrt() * PI);
    let plate = |thickness| Plate { corner: DVec3::ZERO, edges: [DVec3::X, DVec3::Y], thickness };
    near(Shape::Plate(plate(0.0)), 1.0);
    near(Shape::Plate(plate(0.5)), 4.0);
    let funnel = Funnel {
        top: DVec3::Z,
        bottom: DVec3::ZERO,
        top_radius: 2.0,
        bottom_radius: 1.0,
        thickness: 0.0,
        section: Section::Round,
    };
    near(Shape::Funnel(funnel), PI * 3.0 * 2f64.sqrt());
}

#[test]
fn outlines_of_drawings_are_those_of_the_shapes() {
    let near = |shape: Shape, exact: f64| {
        let surface = shape.surface(&PLANE);
        assert!(surface.points.iter().all(|p| p.z == 0.0) && surface.triangles.is_empty());
        let drawn = length(&surface);
        assert!((drawn - exact).abs() < 0.01 * exact, "{shape:?}: {drawn} and not {exact}");
    };
    near(Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Y }, 2.0);
    near(Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::new(1.0, -1.0, 0.0) }, 8f64.sqrt());
    near(cuboid(DVec3::new(1.0, 2.0, f64::INFINITY), vec![BoxSide::UpperY]), 10.0);
    near(Shape::Sphere { centre: DVec3::ZERO, radius: 1.0, side: Side::Inside }, TAU);
    near(Shape::Plate(Plate::segment(DVec3::ZERO, DVec3::X, 0.0)), 1.0);
    near(Shape::Plate(Plate::segment(DVec3::ZERO, DVec3::X, 1.0)), 2.0 + PI);
    let wheel = Wheel {
        centre: DVec3::ZERO,
        axis: DVec3::Z,
        hub_radius: 1.0,
        outer_radius: 3.0,
        width: f64::INFINITY,
        blades: 3,
        thickness: 0.0,
        phase: 0.0,
    };
    near(Shape::Wheel(wheel), TAU + 6.0);
    let above = Shape::HalfSpace { point: DVec3::Y * 5.0, normal: DVec3::Y }.surface(&PLANE);
    assert_eq!(above, Surface::default());
}
