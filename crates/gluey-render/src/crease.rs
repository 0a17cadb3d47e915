//! The lines that show the form of a surface: where it ends, and where it is bent.

use std::cmp::Ordering;

use glam::DVec3;
use gluey::geometry::Surface;

/// Faces whose normals are further apart than this (cosine) meet in a crease: less than the bend of a circle drawn as a
/// polygon, more than that of any corner.
const BENT: f64 = 0.85;
/// Points nearer to each other than this, relative to the size of the surface, are one.
const SAME: f64 = 1e-9;

/// The lines of a surface: its own where it has some, as meshes do, otherwise borders and creases of its triangles.
pub(crate) fn lines(surface: &Surface) -> Vec<[DVec3; 2]> {
    let point = |index: u32| surface.points[index as usize];
    if !surface.lines.is_empty() {
        return surface.lines.iter().map(|line| line.map(point)).collect();
    }
    // Faces may have their own copies of shared corners: points are the same where they round to the same place.
    let size = surface.points.iter().map(|point| point.abs().max_element()).fold(0.0, f64::max);
    let place = |index: u32| (point(index) / (SAME * size)).round().to_array().map(|part| part + 0.0); // no −0
    let mut order: Vec<u32> = (0..surface.points.len() as u32).collect();
    let compare = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| a[k].total_cmp(&b[k])).find(|order| order.is_ne());
    order.sort_by(|a, b| compare(place(*a), place(*b)).unwrap_or(Ordering::Equal).then(a.cmp(b)));
    let mut same = vec![0; surface.points.len()];
    for copies in order.chunk_by(|a, b| compare(place(*a), place(*b)).is_none()) {
        for copy in copies {
            same[*copy as usize] = copies[0];
        }
    }
    let mut edges: Vec<([u32; 2], DVec3)> = Vec::new();
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(point);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let corners = triangle.map(|index| same[index as usize]);
        let sides = [0, 1, 2].map(|k| [corners[k], corners[(k + 1) % 3]]);
        // At a pole two corners are one, and the face is none.
        if sides.iter().all(|[a, b]| a != b) {
            edges.extend(sides.map(|[a, b]| ([a.min(b), a.max(b)], normal)));
        }
    }
    edges.sort_by_key(|(ends, _)| *ends);
    let faces = edges.chunk_by(|(a, _), (b, _)| a == b);
    let shown = faces.filter(|faces| match faces {
        [(_, a), (_, b)] => a.dot(*b).abs() < BENT,
        _ => true,
    });
    shown.map(|faces| faces[0].0.map(point)).collect()
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use gluey::geometry::{Extent, Shape, Side};

    use super::*;

    const VIEW: Extent = Extent { lower: DVec3::NEG_ONE, upper: DVec3::ONE, dimension: 3 };

    #[test]
    fn a_box_has_twelve_edges_and_a_pipe_two_rings() {
        let shape = Shape::Box {
            centre: DVec3::ZERO,
            half: DVec3::ONE,
            orientation: DQuat::from_rotation_x(0.3),
            side: Side::Inside,
            open: Vec::new(),
        };
        let found = lines(&shape.surface(&VIEW));
        assert_eq!(found.len(), 12);
        assert!(found.iter().all(|[a, b]| (a.distance(*b) - 2.0).abs() < 1e-12), "no diagonals");

        let (centre, axis) = (DVec3::ZERO, DVec3::Z);
        let pipe = Shape::Cylinder { centre, axis, radius: 1.0, length: 2.0, side: Side::Inside, closed: false };
        let found = lines(&pipe.surface(&VIEW));
        assert!(found.len() >= 2 * 16 && found.iter().all(|[a, b]| a.z == b.z), "{}", found.len());

        let ball = Shape::Sphere { centre, radius: 1.0, side: Side::Outside };
        assert_eq!(lines(&ball.surface(&VIEW)).len(), 0);
    }
}
