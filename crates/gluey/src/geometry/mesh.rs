//! Triangulated surfaces, two-sided and without thickness: D = distance − r.
//!
//! A sphere touches the surface at the *local minima* of the distance from its centre: at most one on each flat face,
//! one on an edge or a vertex only where no triangle at that point comes nearer. So a flat floor gives one contact
//! however it is cut, and a corner gives one per side.

use std::collections::BTreeMap;

use glam::DVec3;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::plate::closest_on_segment;
use super::pose::Pose;
use super::shape::Nearest;
use super::stl::MeshError;
use super::triangle::{self, Part};

/// Sine of the angle below which two triangles at an edge are one flat face (single-precision files bend flat faces by
/// about 1e-7).
const FLAT: f64 = 1e-6;

/// Part of the mesh's size within which a point belongs to a triangle: files round to 1e-7 of it. On a mesh a million
/// times larger than the spheres their radius takes over.
const ON_SURFACE: f64 = 1e-6;

type Indexed = GeomWithData<Rectangle<[f64; 3]>, u32>;

/// A checked triangulated surface.
///
/// Features: first the faces (a face is all the triangles of one plane that hang together by edges), then the edges,
/// then the vertices. Edges and vertices in the middle of a flat face keep their numbers but are never touched.
#[derive(Clone, Debug)]
pub struct TriangleMesh {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// Edges as sorted pairs of vertices.
    edges: Vec<[u32; 2]>,
    /// Edge k of each triangle, between its corners k and k + 1.
    edges_of: Vec<[u32; 3]>,
    /// Face of each triangle.
    face_of: Vec<u32>,
    /// First triangle of each face.
    faces: Vec<u32>,
    /// A face that lends its normal, and whether the edge lies inside it.
    edge_faces: Vec<(u32, bool)>,
    vertex_faces: Vec<(u32, bool)>,
    tree: RTree<Indexed>,
    bounds: (DVec3, DVec3),
    dropped: usize,
}

impl PartialEq for TriangleMesh {
    fn eq(&self, other: &Self) -> bool {
        self.vertices == other.vertices && self.triangles == other.triangles
    }
}

impl TriangleMesh {
    /// Builds the surface (lengths). Equal vertices become one; triangles without area are dropped and counted.
    pub fn new(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        let (vertices, triangles, dropped) = weld(vertices, triangles)?;
        if triangles.is_empty() {
            return Err(MeshError::NoTriangle { dropped });
        }
        let (edges, edges_of) = number_edges(&triangles);
        let flat = flat_edges(&vertices, &triangles, &edges_of);
        let (face_of, faces) = group_faces(&edges_of, &flat);

        let mut edge_faces = vec![(0, false); edges.len()];
        let mut vertex_faces = vec![(0, true); vertices.len()];
        for (t, corners) in triangles.iter().enumerate().rev() {
            for k in 0..3 {
                let edge = edges_of[t][k] as usize;
                edge_faces[edge] = (face_of[t], flat[edge]);
                vertex_faces[corners[k] as usize].0 = face_of[t];
            }
        }
        for (edge, ends) in edges.iter().enumerate().filter(|(edge, _)| !flat[*edge]) {
            debug_assert!(!edge_faces[edge].1);
            for vertex in ends {
                vertex_faces[*vertex as usize].1 = false;
            }
        }

        let corners = |t: &[u32; 3]| t.map(|v| vertices[v as usize]);
        let entries = triangles.iter().enumerate().map(|(t, triangle)| {
            let (lower, upper) = around(corners(triangle));
            GeomWithData::new(Rectangle::from_corners(lower.to_array(), upper.to_array()), t as u32)
        });
        let tree = RTree::bulk_load(entries.collect());
        let used = triangles.iter().flatten().map(|v| vertices[*v as usize]);
        let bounds = used.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, u), v| (l.min(v), u.max(v)));
        Ok(Self {
            vertices,
            triangles,
            edges,
            edges_of,
            face_of,
            faces,
            edge_faces,
            vertex_faces,
            tree,
            bounds,
            dropped,
        })
    }

    /// The same surface scaled about the origin, then placed.
    pub fn transformed(&self, scale: f64, pose: &Pose) -> Result<Self, MeshError> {
        let vertices: Vec<_> = self.vertices.iter().map(|v| pose.apply(*v * scale)).collect();
        Self::new(&vertices, &self.triangles)
    }

    /// Vertices, each once (length).
    #[must_use]
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Triangles by their vertices.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many triangles were dropped because they have no area.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The box around the surface (length).
    #[must_use]
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.bounds
    }

    /// Number of flat faces: the ids 0..faces.
    #[must_use]
    pub fn faces(&self) -> u32 {
        self.faces.len() as u32
    }

    /// Edges on the border of a face, by their vertices: what a drawing shows as lines.
    pub fn creases(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.edges.iter().zip(&self.edge_faces).filter(|(_, (_, flat))| !flat).map(|(edge, _)| *edge)
    }

    pub(super) fn features(&self) -> u32 {
        (self.faces.len() + self.edges.len() + self.vertices.len()) as u32
    }

    fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|v| self.vertices[v as usize])
    }

    /// Number of the first edge and of the first vertex.
    fn first_ids(&self) -> (usize, usize) {
        (self.faces.len(), self.faces.len() + self.edges.len())
    }

    /// Normal of a face at this feature, for a centre exactly on it.
    fn normal_at(&self, feature: u32) -> DVec3 {
        let (edges, vertices) = self.first_ids();
        let face = match feature as usize {
            index if index >= vertices => self.vertex_faces[index - vertices].0,
            index if index >= edges => self.edge_faces[index - edges].0,
            index => index as u32,
        };
        triangle::face_normal(self.corners(self.faces[face as usize]))
    }

    /// Distance to one whole feature, which must exist.
    pub(super) fn nearest(&self, feature: u32, point: DVec3) -> Nearest {
        let (edges, vertices) = self.first_ids();
        let closest = match feature as usize {
            index if index >= vertices => self.vertices[index - vertices],
            index if index >= edges => {
                let [a, b] = self.edges[index - edges].map(|v| self.vertices[v as usize]);
                closest_on_segment(a, b, point)
            }
            _ => self.closest_of_face(feature, point),
        };
        Nearest::towards(closest - point, self.normal_at(feature))
    }

    fn closest_of_face(&self, face: u32, point: DVec3) -> DVec3 {
        let (mut best, mut least) = (point, f64::INFINITY);
        // Boxes come in order of their distance: once that exceeds the best triangle, nothing nearer can follow.
        for (entry, bound) in self.tree.nearest_neighbor_iter_with_distance_2(point.to_array()) {
            if bound >= least {
                break;
            }
            if self.face_of[entry.data as usize] == face {
                let closest = triangle::closest(self.corners(entry.data), point).0;
                if closest.distance_squared(point) < least {
                    (best, least) = (closest, closest.distance_squared(point));
                }
            }
        }
        best
    }

    /// The feature on which a closest point lies.
    fn feature(&self, triangle: u32, part: Part) -> u32 {
        let t = triangle as usize;
        let within = |entry: (u32, bool), id: usize| if entry.1 { entry.0 } else { id as u32 };
        match part {
            Part::Face => self.face_of[t],
            Part::Edge(k) => {
                let edge = self.edges_of[t][k] as usize;
                within(self.edge_faces[edge], self.faces.len() + edge)
            }
            Part::Corner(k) => {
                let vertex = self.triangles[t][k] as usize;
                within(self.vertex_faces[vertex], self.faces.len() + self.edges.len() + vertex)
            }
        }
    }

    /// Triangles whose boxes meet the cube of half side `reach` around the point, in a fixed order.
    fn triangles_near(&self, point: DVec3, reach: f64) -> Vec<u32> {
        let cube = AABB::from_corners((point - reach).to_array(), (point + reach).to_array());
        let mut near: Vec<u32> = self.tree.locate_in_envelope_intersecting(cube).map(|entry| entry.data).collect();
        near.sort_unstable();
        near
    }

    /// Features at which the distance from `centre` has a local minimum not above `limit`, by feature.
    ///
    /// `radius` is the length scale below which two contact points are one.
    pub(super) fn contacts(&self, centre: DVec3, radius: f64, limit: f64) -> Vec<(u32, Nearest)> {
        let mut minima: Vec<(u32, f64, DVec3)> = Vec::new();
        for t in self.triangles_near(centre, limit) {
            let (point, part) = triangle::closest(self.corners(t), centre);
            let distance = point.distance(centre);
            if distance <= limit && (part == Part::Face || self.is_minimum((centre, radius), point)) {
                minima.push((self.feature(t, part), distance, point));
            }
        }
        minima.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut kept: Vec<(u32, f64, DVec3)> = Vec::new();
        for (feature, distance, point) in minima {
            // Round-off can report one point as face and as edge: the face, which sorts first, stands for both.
            let known = |k: &(u32, f64, DVec3)| k.0 == feature || k.2.distance(point) <= 1e-5 * radius;
            if !kept.iter().any(known) {
                kept.push((feature, distance, point));
            }
        }
        let touch = |(feature, _, point)| (feature, Nearest::towards(point - centre, self.normal_at(feature)));
        kept.into_iter().map(touch).collect()
    }

    /// Whether no triangle that holds this point of the surface comes nearer to the centre than the point does.
    fn is_minimum(&self, (centre, radius): (DVec3, f64), point: DVec3) -> bool {
        let tolerance = (ON_SURFACE * self.bounds.0.distance(self.bounds.1)).min(1e-3 * radius);
        // Where d₂ < d at a foot s away along the face, d − d₂ ≈ s²/2d: 1e-12 leaves feet of the order 1e-6 d apart.
        let least = centre.distance(point) * (1.0 - 1e-12);
        self.triangles_near(point, tolerance).into_iter().all(|t| {
            let corners = self.corners(t);
            let holds = triangle::closest(corners, point).0.distance(point) <= tolerance;
            !holds || triangle::closest(corners, centre).0.distance(centre) >= least
        })
    }
}

/// Vertices, triangles, and how many triangles were dropped.
type Welded = (Vec<DVec3>, Vec<[u32; 3]>, usize);

/// Gives equal vertices one number, drops triangles without area and tells how many.
fn weld(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Welded, MeshError> {
    let mut numbers = BTreeMap::new();
    let mut unique = Vec::new();
    let mut number_of = Vec::with_capacity(vertices.len());
    for (index, vertex) in vertices.iter().enumerate() {
        if !vertex.is_finite() {
            return Err(MeshError::NotFinite { index, vertex: *vertex });
        }
        // Adding 0 turns −0 into +0, which is the same place.
        let bits = (*vertex + DVec3::ZERO).to_array().map(f64::to_bits);
        number_of.push(*numbers.entry(bits).or_insert_with(|| {
            unique.push(*vertex);
            unique.len() as u32 - 1
        }));
    }
    let mut kept = Vec::with_capacity(triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(vertex) = corners.iter().find(|v| **v as usize >= vertices.len()) {
            return Err(MeshError::Index { triangle, vertex: *vertex, vertices: vertices.len() });
        }
        let corners = corners.map(|v| number_of[v as usize]);
        if !triangle::is_degenerate(corners.map(|v| unique[v as usize])) {
            kept.push(corners);
        }
    }
    let dropped = triangles.len() - kept.len();
    Ok((unique, kept, dropped))
}

fn edge_ends(triangle: [u32; 3], k: usize) -> [u32; 2] {
    let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
    [a.min(b), a.max(b)]
}

/// All edges, sorted, and the three of each triangle.
fn number_edges(triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let ends = |t: &[u32; 3]| [0, 1, 2].map(|k| edge_ends(*t, k));
    let numbers: BTreeMap<[u32; 2], u32> = triangles.iter().flat_map(ends).map(|edge| (edge, 0)).collect();
    let edges: Vec<_> = numbers.into_keys().collect();
    // Every edge is in the list: `Ok` and `Err` of the search both hold its place.
    let number = |edge: [u32; 2]| edges.binary_search(&edge).unwrap_or_else(|place| place) as u32;
    let edges_of = triangles.iter().map(|t| ends(t).map(number)).collect();
    (edges, edges_of)
}

/// For each edge, whether exactly two triangles meet there and go on in one plane.
fn flat_edges(vertices: &[DVec3], triangles: &[[u32; 3]], edges_of: &[[u32; 3]]) -> Vec<bool> {
    let count = edges_of.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut sides: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (t, edges) in edges_of.iter().enumerate() {
        for (k, edge) in edges.iter().enumerate() {
            sides[*edge as usize].push((t, k));
        }
    }
    let corners = |t: usize| triangles[t].map(|v| vertices[v as usize]);
    let flat = |sides: &Vec<(usize, usize)>| {
        let [(s, k), (t, l)] = sides[..] else { return false };
        let (first, second) = (corners(s), corners(t));
        let parallel = triangle::face_normal(first).cross(triangle::face_normal(second)).length() < FLAT;
        // Not folded back on itself: the third corners lie on opposite sides of the edge.
        let along = (first[(k + 1) % 3] - first[k]).normalize_or_zero();
        let away = |corner: DVec3| (corner - first[k]).reject_from_normalized(along);
        parallel && away(first[(k + 2) % 3]).dot(away(second[(l + 2) % 3])) < 0.0
    };
    sides.iter().map(flat).collect()
}

/// The face of each triangle and the first triangle of each face: triangles joined across flat edges.
fn group_faces(edges_of: &[[u32; 3]], flat: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let mut across: Vec<Vec<usize>> = vec![Vec::new(); flat.len()];
    for (t, edges) in edges_of.iter().enumerate() {
        for edge in edges {
            across[*edge as usize].push(t);
        }
    }
    let mut face_of = vec![u32::MAX; edges_of.len()];
    let mut faces = Vec::new();
    for first in 0..edges_of.len() {
        if face_of[first] != u32::MAX {
            continue;
        }
        let face = faces.len() as u32;
        faces.push(first as u32);
        let mut open = vec![first];
        while let Some(t) = open.pop() {
            face_of[t] = face;
            let joined = edges_of[t].iter().filter(|edge| flat[**edge as usize]);
            open.extend(joined.flat_map(|edge| &across[*edge as usize]).filter(|s| face_of[**s] == u32::MAX));
        }
    }
    (face_of, faces)
}

fn around(points: [DVec3; 3]) -> (DVec3, DVec3) {
    (points[0].min(points[1]).min(points[2]), points[0].max(points[1]).max(points[2]))
}

#[cfg(test)]
#[path = "mesh_tests.rs"]
mod tests;
