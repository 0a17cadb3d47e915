use proptest::prelude::*;

use super::*;

/// A square [0, n]² in the plane z = 0, cut in 2n² triangles.
fn floor(n: u32) -> TriangleMesh {
    let points: Vec<_> = (0..=n).flat_map(|j| (0..=n).map(move |i| DVec3::new(i.into(), j.into(), 0.0))).collect();
    let at = |i: u32, j: u32| j * (n + 1) + i;
    let cell = |i, j| [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]];
    let triangles: Vec<_> = (0..n).flat_map(|j| (0..n).flat_map(move |i| cell(i, j))).collect();
    TriangleMesh::new(&points, &triangles).unwrap()
}

/// The three squares of the cube [0, 1]³ that meet at the origin, each cut in two.
fn corner() -> TriangleMesh {
    let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
    let square = |a: DVec3, b: DVec3| [DVec3::ZERO, a, a + b, DVec3::ZERO, a + b, b];
    let points: Vec<_> = [square(x, y), square(y, z), square(z, x)].into_iter().flatten().collect();
    let triangles: Vec<_> = (0..6).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    TriangleMesh::new(&points, &triangles).unwrap()
}

#[test]
fn a_flat_floor_is_one_face_with_one_contact_everywhere() {
    let floor = floor(4);
    assert_eq!((floor.triangles().len(), floor.faces(), floor.vertices().len()), (32, 1, 25));
    for i in 0..=40 {
        for j in 0..=40 {
            let centre = DVec3::new(0.1 * f64::from(i), 0.1 * f64::from(j), 0.4);
            let contacts = floor.contacts(centre, 0.5, 1.5);
            assert_eq!(contacts.len(), 1, "{centre}");
            assert!((contacts[0].1.distance - 0.4).abs() < 1e-14);
            assert!((contacts[0].1.normal + DVec3::Z).length() < 1e-12);
        }
    }
    let inside = floor.contacts(DVec3::new(1.5, 2.0, 0.0), 0.5, 1.5);
    assert_eq!((inside.len(), inside[0].1.normal.abs()), (1, DVec3::Z));
    let beyond = floor.contacts(DVec3::new(-0.3, 2.5, 0.4), 0.5, 1.5);
    assert_eq!(beyond.len(), 1);
    assert!((beyond[0].1.distance - 0.5).abs() < 1e-14 && beyond[0].0 > 0);
}

#[test]
fn floors_that_do_not_match_at_their_borders_give_no_ghost() {
    // The long edge of the first triangle meets two edges of the others half way.
    let v = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    let points = [v(0.0, 0.0), v(2.0, 0.0), v(1.0, -2.0), v(1.0, 0.0), v(0.0, 2.0), v(2.0, 2.0)];
    let mesh = TriangleMesh::new(&points, &[[0, 1, 2], [0, 3, 4], [3, 1, 5], [3, 5, 4]]).unwrap();
    for k in -8..=12 {
        assert_eq!(mesh.contacts(DVec3::new(0.9, 0.1 * f64::from(k), 0.3), 0.4, 1.0).len(), 1);
    }
}

#[test]
fn a_corner_gives_one_contact_per_side() {
    let corner = corner();
    assert_eq!(corner.faces(), 3);
    let contacts = corner.contacts(DVec3::splat(0.2), 0.2, 0.25);
    assert_eq!(contacts.len(), 3);
    assert!(contacts.iter().all(|(feature, nearest)| *feature < 3 && (nearest.distance - 0.2).abs() < 1e-14));
    // Seen from behind, the same corner is a tip: its vertex alone.
    let contacts = corner.contacts(DVec3::splat(-0.2), 0.2, 0.5);
    assert_eq!(contacts.len(), 1);
    assert!((contacts[0].1.distance - 0.2 * 3f64.sqrt()).abs() < 1e-14);
    assert_eq!(corner.nearest(contacts[0].0, DVec3::splat(-0.2)), contacts[0].1);
    // And behind one of its edges, this edge alone.
    let contacts = corner.contacts(DVec3::new(-0.2, -0.2, 0.5), 0.2, 0.4);
    assert_eq!(contacts.len(), 1);
    assert!((contacts[0].1.normal - DVec3::new(1.0, 1.0, 0.0).normalize()).length() < 1e-12);
}

#[test]
fn equal_vertices_are_welded_and_triangles_without_area_dropped() {
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, -DVec3::ZERO, DVec3::X * 2.0];
    let mesh = TriangleMesh::new(&points, &[[0, 1, 2], [3, 1, 2], [0, 1, 4], [0, 3, 1]]).unwrap();
    assert_eq!((mesh.vertices().len(), mesh.triangles().len(), mesh.dropped()), (4, 2, 2));
    assert!(matches!(
        TriangleMesh::new(&points, &[[0, 1, 9]]),
        Err(MeshError::Index { triangle: 0, vertex: 9, vertices: 5 })
    ));
    assert!(matches!(TriangleMesh::new(&points, &[[0, 1, 4]]), Err(MeshError::NoTriangle { dropped: 1 })));
    assert!(matches!(TriangleMesh::new(&[], &[]), Err(MeshError::NoTriangle { dropped: 0 })));
}

#[test]
fn a_transformed_mesh_is_scaled_then_placed() {
    let moved = floor(2).transformed(2.0, &Pose::shift(DVec3::Z * 3.0)).unwrap();
    assert_eq!(moved.bounds(), (DVec3::Z * 3.0, DVec3::new(4.0, 4.0, 3.0)));
    assert!(floor(2).transformed(0.0, &Pose::IDENTITY).is_err());
}

proptest! {
    /// On any soup of triangles the least of the contacts is the distance to the surface, by brute force.
    #[test]
    fn the_nearest_contact_is_the_nearest_point(
        points in proptest::collection::vec((-1.0..1.0, -1.0..1.0, -1.0..1.0), 9..30), x in -1.5..1.5, y in -1.5..1.5,
    ) {
        let points: Vec<DVec3> = points.into_iter().map(DVec3::from).collect();
        let triangles: Vec<[u32; 3]> = (0..points.len() as u32 - 2).map(|k| [k, k + 1, k + 2]).collect();
        let Ok(mesh) = TriangleMesh::new(&points, &triangles) else { return Ok(()) };
        let centre = DVec3::new(x, y, 0.3);
        let distance = |t: &[u32; 3]| {
            triangle::closest(t.map(|v| mesh.vertices()[v as usize]), centre).0.distance(centre)
        };
        let least = mesh.triangles().iter().map(distance).fold(f64::INFINITY, f64::min);
        let contacts = mesh.contacts(centre, 0.1, 10.0);
        let found = contacts.iter().map(|c| c.1.distance).fold(f64::INFINITY, f64::min);
        prop_assert!((found - least).abs() < 1e-12);
        prop_assert!(contacts.windows(2).all(|c| c[0].0 < c[1].0));
        for (feature, nearest) in contacts {
            prop_assert!(mesh.nearest(feature, centre).distance <= nearest.distance + 1e-12);
            prop_assert!((nearest.normal.length() - 1.0).abs() < 1e-12);
        }
        if least > 0.01 { prop_assert!(mesh.contacts(centre, 0.1, 0.9 * least).is_empty()); }
    }
}
