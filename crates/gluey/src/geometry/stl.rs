//! Triangulated surfaces from the bytes of STL files, ASCII or binary.

use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::mesh::TriangleMesh;

/// Why there is no triangulated surface.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file is not STL, or breaks off.
    #[error("{}: not a whole STL file: {source}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        source: io::Error,
    },
    /// The file's triangles do not make a surface.
    #[error("{}: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        source: Box<MeshError>,
    },
    /// Nothing is left to touch.
    #[error("no triangle with an area ({dropped} without one): a surface needs at least one")]
    NoTriangle {
        /// Triangles that have no area.
        dropped: usize,
    },
    /// A vertex is nowhere.
    #[error("vertex {index} = {vertex}: should be three finite numbers")]
    NotFinite {
        /// Which vertex.
        index: usize,
        /// Where it is said to be.
        vertex: DVec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}: should be below the number of vertices, {vertices}")]
    Index {
        /// Which triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
}

impl TriangleMesh {
    /// The surface held by the bytes of an STL file, ASCII or binary; coordinates are taken as lengths of the scene.
    /// `path` is only for the errors.
    pub fn from_stl(bytes: Vec<u8>, path: &Path) -> Result<Self, MeshError> {
        let facets = facets(bytes).map_err(|source| MeshError::Broken { path: path.into(), source })?;
        let point = |v: &stl_io::Vertex| DVec3::from_array(v.0.map(f64::from));
        let vertices: Vec<DVec3> = facets.iter().flat_map(|facet| &facet.vertices).map(point).collect();
        let triangles: Vec<[u32; 3]> = (0..facets.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Self::new(&vertices, &triangles)
            .map_err(|source| MeshError::Unusable { path: path.into(), source: Box::new(source) })
    }
}

fn facets(mut bytes: Vec<u8>) -> io::Result<Vec<stl_io::Triangle>> {
    if is_binary(&bytes) {
        // Some writers start the free text of a binary file with "solid": blank it, for it decides the format.
        bytes[..80].fill(0);
    } else if bytes.starts_with(b"solid") {
        // A solid without a name: the format wants a space after the word.
        bytes.insert(5, b' ');
    } else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "neither ASCII (starts with \"solid\") nor binary (84 + 50 bytes a triangle)",
        ));
    }
    stl_io::create_stl_reader(&mut Cursor::new(bytes))?.collect()
}

/// A binary file holds 80 bytes of text, the number n of triangles in 4 bytes, then 50 bytes each.
fn is_binary(bytes: &[u8]) -> bool {
    let Some(&[a, b, c, d]) = bytes.get(80..84) else { return false };
    bytes.len() as u64 == 84 + 50 * u64::from(u32::from_le_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn tetrahedron() -> TriangleMesh {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        TriangleMesh::new(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).unwrap()
    }

    fn facets_of(mesh: &TriangleMesh) -> Vec<stl_io::Triangle> {
        let vertex = |v: &u32| stl_io::Vertex::new(mesh.vertices()[*v as usize].as_vec3().to_array());
        let facet = |t: &[u32; 3]| stl_io::Triangle {
            normal: stl_io::Normal::new([0.0; 3]),
            vertices: [vertex(&t[0]), vertex(&t[1]), vertex(&t[2])],
        };
        mesh.triangles().iter().map(facet).collect()
    }

    fn binary() -> Vec<u8> {
        let mut bytes = Vec::new();
        stl_io::write_stl(&mut bytes, facets_of(&tetrahedron()).iter()).unwrap();
        bytes
    }

    fn ascii(name: &str) -> Vec<u8> {
        let mut text = format!("solid{name}\n");
        for facet in facets_of(&tetrahedron()) {
            text += "facet normal 0 0 0\n outer loop\n";
            for v in facet.vertices {
                writeln!(text, "  vertex {} {} {}", v[0], v[1], v[2]).unwrap();
            }
            text += " endloop\nendfacet\n";
        }
        (text + "endsolid\n").into_bytes()
    }

    fn same_surface(read: &TriangleMesh) {
        let sorted = |mesh: &TriangleMesh| {
            let mut points: Vec<_> = mesh.vertices().iter().map(|v| v.to_array().map(f64::to_bits)).collect();
            points.sort_unstable();
            points
        };
        assert_eq!(sorted(read), sorted(&tetrahedron()));
        assert_eq!((read.triangles().len(), read.faces(), read.dropped()), (4, 4, 0));
    }

    #[test]
    fn ascii_and_binary_files_give_the_same_surface() {
        let mut solid = binary();
        solid[..6].copy_from_slice(b"solid ");
        for bytes in [binary(), solid, ascii(" name"), ascii("")] {
            same_surface(&TriangleMesh::from_stl(bytes, Path::new("tetrahedron.stl")).unwrap());
        }
    }

    #[test]
    fn bad_files_are_refused_by_name() {
        let says = |error: MeshError| error.to_string();
        let path = Path::new("absent/surface.stl");
        let read = |bytes: Vec<u8>| TriangleMesh::from_stl(bytes, path).unwrap_err();
        let text = ascii(" name");
        for bytes in [b"hello".to_vec(), Vec::new(), binary()[..100].to_vec(), text[..text.len() / 2].to_vec()] {
            let error = read(bytes);
            assert!(matches!(error, MeshError::Broken { .. }), "{error:?}");
            assert!(says(error).contains("absent/surface.stl"));
        }
        let mut empty = vec![0; 84];
        assert!(says(read(empty.clone())).contains("no triangle"));
        empty[80] = 1;
        empty.extend([0; 50]);
        assert!(says(read(empty)).contains("1 without one"));
        let mut wild = binary();
        wild[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(says(read(wild)).contains("surface.stl: vertex 0"));
    }
}
