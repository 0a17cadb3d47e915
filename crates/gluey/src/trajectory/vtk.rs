//! Frames for `ParaView`: VTK XML `PolyData` (`.vtp`) with appended raw binary, and series of them (`.pvd`).
//!
//! A `.vtp` file is a header in XML that names each array and its offset, then the arrays themselves: for each, its
//! size in bytes as a little-endian `UInt64` and its values, little-endian, without padding.

use std::borrow::Cow;
use std::io::{self, Write};

use glam::DVec3;

use super::Frame;
use crate::contact::{ContactGeometry, Partner};
use crate::geometry::{Cell, Particles};
use crate::projection::NO_CLUMP;

/// The values of an array, in the type they have in the file.
enum Values<'a> {
    Float(Cow<'a, [f64]>),
    Vector(Cow<'a, [DVec3]>),
    Index(Cow<'a, [u32]>),
    /// Also VTK's own arrays of cells.
    Integer(Vec<i64>),
}

impl Values<'_> {
    fn type_name(&self) -> &'static str {
        match self {
            Self::Float(_) | Self::Vector(_) => "Float64",
            Self::Index(_) => "UInt32",
            Self::Integer(_) => "Int64",
        }
    }

    fn components(&self) -> usize {
        if matches!(self, Self::Vector(_)) { 3 } else { 1 }
    }

    fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::Float(values) => values.len() * 8,
            Self::Vector(values) => values.len() * 24,
            Self::Index(values) => values.len() * 4,
            Self::Integer(values) => values.len() * 8,
        };
        bytes as u64
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Float(values) => values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())),
            Self::Index(values) => values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())),
            Self::Integer(values) => values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())),
            Self::Vector(values) => {
                values.iter().flat_map(DVec3::to_array).try_for_each(|value| out.write_all(&value.to_le_bytes()))
            }
        }
    }
}

/// An array of the file and its name.
struct Array<'a> {
    name: &'static str,
    values: Values<'a>,
}

impl<'a> Array<'a> {
    fn float(name: &'static str, values: impl Into<Cow<'a, [f64]>>) -> Self {
        Self { name, values: Values::Float(values.into()) }
    }

    fn vector(name: &'static str, values: impl Into<Cow<'a, [DVec3]>>) -> Self {
        Self { name, values: Values::Vector(values.into()) }
    }

    fn index(name: &'static str, values: impl Into<Cow<'a, [u32]>>) -> Self {
        Self { name, values: Values::Index(values.into()) }
    }

    fn integer(name: &'static str, values: Vec<i64>) -> Self {
        Self { name, values: Values::Integer(values) }
    }
}

/// Cells of one kind, all with the same number of corners.
struct Cells {
    connectivity: Vec<i64>,
    corners: usize,
}

impl Cells {
    fn none() -> Self {
        Self { connectivity: Vec::new(), corners: 1 }
    }

    fn count(&self) -> usize {
        self.connectivity.len() / self.corners
    }

    fn into_arrays(self) -> Vec<Array<'static>> {
        let offsets = (1..=self.count()).map(|cell| signed(cell * self.corners)).collect();
        vec![Array::integer("connectivity", self.connectivity), Array::integer("offsets", offsets)]
    }
}

/// VTK counts in `Int64`; what fits in memory fits.
fn signed(count: usize) -> i64 {
    count.cast_signed() as i64
}

/// A `.vtp` file with one piece. VTK numbers cells by kind: vertices, then lines, then polygons.
struct PolyData<'a> {
    /// None where the file serves all times.
    time: Option<f64>,
    cell: Option<Cell>,
    points: Cow<'a, [DVec3]>,
    vertices: Cells,
    lines: Cells,
    polygons: Cells,
    point_data: Vec<Array<'a>>,
    cell_data: Vec<Array<'a>>,
}

impl PolyData<'_> {
    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let counts = format!(
            r#"NumberOfPoints="{}" NumberOfVerts="{}" NumberOfLines="{}" NumberOfStrips="0" NumberOfPolys="{}""#,
            self.points.len(),
            self.vertices.count(),
            self.lines.count(),
            self.polygons.count()
        );
        let sections = [
            ("PointData", self.point_data),
            ("CellData", self.cell_data),
            ("Points", vec![Array { name: "Points", values: Values::Vector(self.points) }]),
            ("Verts", self.vertices.into_arrays()),
            ("Lines", self.lines.into_arrays()),
            ("Polys", self.polygons.into_arrays()),
        ];

        writeln!(out, r#"<?xml version="1.0"?>"#)?;
        writeln!(out, r#"<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#)?;
        writeln!(out, "<PolyData>")?;
        if let Some(time) = self.time {
            write!(
                out,
                r#"<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{time:.16e}</DataArray>"#
            )?;
            for (name, DVec3 { x, y, z }) in
                self.cell.iter().flat_map(|cell| [("cell_lower", cell.lower()), ("cell_size", cell.period())])
            {
                write!(
                    out,
                    r#"<DataArray type="Float64" Name="{name}" NumberOfComponents="3" NumberOfTuples="1" format="ascii">{x:.16e} {y:.16e} {z:.16e}</DataArray>"#
                )?;
            }
            writeln!(out, "</FieldData>")?;
        }
        writeln!(out, "<Piece {counts}>")?;
        let mut offset = 0;
        for (section, arrays) in &sections {
            writeln!(out, "<{section}>")?;
            for Array { name, values } in arrays {
                writeln!(
                    out,
                    r#"<DataArray type="{}" Name="{name}" NumberOfComponents="{}" format="appended" offset="{offset}"/>"#,
                    values.type_name(),
                    values.components()
                )?;
                offset += 8 + values.bytes();
            }
            writeln!(out, "</{section}>")?;
        }
        writeln!(out, "</Piece>\n</PolyData>")?;
        write!(out, "<AppendedData encoding=\"raw\">\n_")?;
        for array in sections.iter().flat_map(|(_, arrays)| arrays) {
            out.write_all(&array.values.bytes().to_le_bytes())?;
            array.values.write(out)?;
        }
        writeln!(out, "\n</AppendedData>\n</VTKFile>")
    }
}

/// The ids as they are in files, in 32 bits.
fn ids(particles: &Particles) -> io::Result<Vec<u32>> {
    let fits = |id: &u64| u32::try_from(*id);
    particles.id.iter().map(fits).collect::<Result<_, _>>().map_err(|_| io::Error::other("ids of frames have 32 bits"))
}

/// One point and one vertex a particle.
pub(super) fn write_particles(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let particles = frame.particles;
    let count = particles.len();
    let mut point_data = vec![
        Array::vector("velocity", particles.velocity.as_slice()),
        Array::float("radius", particles.radius.as_slice()),
        Array::float("mass", particles.mass.as_slice()),
        Array::index("group", particles.group.as_slice()),
        Array::index("id", ids(particles)?),
        Array::index("contacts", frame.contacts_per_particle()),
    ];
    if !frame.clump.is_empty() {
        let number = |clump: &u32| if *clump == NO_CLUMP { -1 } else { i64::from(*clump) };
        point_data.push(Array::integer("clump", frame.clump.iter().map(number).collect()));
    }
    PolyData {
        time: Some(frame.time),
        cell: particles.cell,
        points: particles.position.as_slice().into(),
        vertices: Cells { connectivity: (0..signed(count)).collect(), corners: 1 },
        lines: Cells::none(),
        polygons: Cells::none(),
        point_data,
        cell_data: Vec::new(),
    }
    .write(out)
}

/// One line a contact. Every line has its own two ends, since those on walls are shared with none.
pub(super) fn write_contacts(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let points: Vec<DVec3> = frame.contacts.iter().flat_map(|geometry| frame.contact_line(geometry)).collect();
    let ids = ids(frame.particles)?;
    let column = |value: fn(&ContactGeometry) -> f64| frame.contacts.iter().map(value).collect::<Vec<_>>();
    let first = |geometry: &ContactGeometry| geometry.contact.pair.first();
    let partners = |value: &dyn Fn(Partner) -> i64| {
        frame.contacts.iter().map(|geometry| value(geometry.contact.pair.partner())).collect::<Vec<_>>()
    };
    PolyData {
        time: Some(frame.time),
        cell: None,
        vertices: Cells::none(),
        lines: Cells { connectivity: (0..signed(points.len())).collect(), corners: 2 },
        polygons: Cells::none(),
        points: points.into(),
        point_data: Vec::new(),
        cell_data: vec![
            Array::float("gap", column(|geometry| geometry.gap)),
            Array::vector("normal", frame.contacts.iter().map(|geometry| geometry.normal).collect::<Vec<_>>()),
            Array::float("gamma", column(|geometry| geometry.contact.gamma)),
            Array::float("impulse", column(|geometry| geometry.contact.impulse)),
            Array::index("i", frame.contacts.iter().map(first).collect::<Vec<_>>()),
            Array::integer(
                "j",
                partners(&|partner| match partner {
                    Partner::Particle(j) => j.into(),
                    Partner::Obstacle { .. } => -1,
                }),
            ),
            Array::integer(
                "obstacle",
                partners(&|partner| match partner {
                    Partner::Particle(_) => -1,
                    Partner::Obstacle { obstacle, .. } => obstacle.into(),
                }),
            ),
            Array::integer(
                "feature",
                partners(&|partner| match partner {
                    Partner::Particle(_) => -1,
                    Partner::Obstacle { feature, .. } => feature.into(),
                }),
            ),
            Array::index("id_i", frame.contacts.iter().map(|c| ids[first(c) as usize]).collect::<Vec<_>>()),
            Array::integer(
                "id_j",
                partners(&|partner| match partner {
                    Partner::Particle(j) => ids[j as usize].into(),
                    Partner::Obstacle { .. } => -1,
                }),
            ),
        ],
    }
    .write(out)
}

/// The triangles and lines of all obstacles.
pub(super) fn write_obstacles(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let mut points = Vec::new();
    let (mut lines, mut triangles) = (Vec::new(), Vec::new());
    let (mut line_owners, mut triangle_owners) = (Vec::new(), Vec::new());
    for (owner, surface) in frame.obstacles.iter().enumerate() {
        let shift = signed(points.len());
        let shifted = |corner: &u32| shift + i64::from(*corner);
        lines.extend(surface.lines.iter().flatten().map(shifted));
        triangles.extend(surface.triangles.iter().flatten().map(shifted));
        line_owners.resize(line_owners.len() + surface.lines.len(), owner as u32);
        triangle_owners.resize(triangle_owners.len() + surface.triangles.len(), owner as u32);
        points.extend_from_slice(&surface.points);
    }
    line_owners.append(&mut triangle_owners); // the order in which VTK numbers cells
    PolyData {
        time: frame.obstacles_move().then_some(frame.time),
        cell: None,
        points: points.into(),
        vertices: Cells::none(),
        lines: Cells { connectivity: lines, corners: 2 },
        polygons: Cells { connectivity: triangles, corners: 3 },
        point_data: Vec::new(),
        cell_data: vec![Array::index("obstacle", line_owners)],
    }
    .write(out)
}

/// How a `.pvd` file begins: times and the files that belong to them, relative to its own folder.
pub(super) const LIST_OPENING: &str = "<?xml version=\"1.0\"?>\n\
    <VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n";
/// How it ends.
pub(super) const LIST_CLOSING: &str = "</Collection>\n</VTKFile>\n";

/// A line of it.
pub(super) fn list_entry(time: f64, file: &str) -> String {
    format!("<DataSet timestep=\"{time:.16e}\" part=\"0\" file=\"{file}\"/>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Contact, Pair};
    use crate::trajectory::ObstacleSurface;

    /// The arrays of a file, found through its header alone: name and bytes.
    fn arrays(file: &[u8]) -> Vec<(String, Vec<u8>)> {
        let marker = b"<AppendedData encoding=\"raw\">\n_";
        let start = file.windows(marker.len()).position(|window| window == marker).unwrap();
        let header = std::str::from_utf8(&file[..start]).unwrap();
        let data = &file[start + marker.len()..];
        let attribute = |line: &str, name: &str| {
            let value = line.split_once(&format!("{name}=\"")).unwrap().1;
            value.split_once('"').unwrap().0.to_owned()
        };
        let mut end = 0;
        let found = header
            .lines()
            .filter(|line| line.contains("appended"))
            .map(|line| {
                let offset: usize = attribute(line, "offset").parse().unwrap();
                let size = u64::from_le_bytes(data[offset..offset + 8].try_into().unwrap()) as usize;
                end = offset + 8 + size;
                (attribute(line, "Name"), data[offset + 8..end].to_vec())
            })
            .collect();
        assert_eq!(&data[end..], b"\n</AppendedData>\n</VTKFile>\n");
        found
    }

    fn bytes_of<'a>(arrays: &'a [(String, Vec<u8>)], name: &str) -> &'a [u8] {
        &arrays.iter().find(|(found, _)| found == name).unwrap().1
    }

    fn floats(bytes: &[u8]) -> Vec<f64> {
        bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap())).collect()
    }

    fn integers(bytes: &[u8]) -> Vec<i64> {
        bytes.chunks_exact(8).map(|chunk| i64::from_le_bytes(chunk.try_into().unwrap())).collect()
    }

    fn indices(bytes: &[u8]) -> Vec<u32> {
        bytes.chunks_exact(4).map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap())).collect()
    }

    fn two_particles() -> Particles {
        let mut particles = Particles::default();
        particles.push(DVec3::new(0.0, 1.0, 2.0), 0.5, 3.0);
        particles.push(DVec3::new(4.0, 1.0, 2.0), 0.25, 4.0);
        particles
    }

    #[test]
    fn particles_and_contacts_are_found_through_the_header() {
        let mut particles = two_particles();
        particles.id = vec![7, 9];
        let contacts = [
            ContactGeometry {
                contact: Contact { pair: Pair::particles(1, 0), gamma: -1.0, impulse: 0.125 },
                gap: 3.25,
                normal: DVec3::X,
            },
            ContactGeometry {
                contact: Contact { pair: Pair::obstacle(1, 2, 7), gamma: 0.0, impulse: 0.5 },
                gap: 0.75,
                normal: -DVec3::Y,
            },
        ];
        let frame =
            Frame { step: 3, time: 1.5, particles: &particles, contacts: &contacts, obstacles: &[], clump: &[] };

        let mut file = Vec::new();
        write_particles(&frame, &mut file).unwrap();
        let found = arrays(&file);
        assert_eq!(floats(bytes_of(&found, "Points")), [0.0, 1.0, 2.0, 4.0, 1.0, 2.0]);
        assert_eq!(floats(bytes_of(&found, "radius")), [0.5, 0.25]);
        assert_eq!(indices(bytes_of(&found, "contacts")), [1, 2]);
        assert_eq!(indices(bytes_of(&found, "id")), [7, 9]);
        assert!(!String::from_utf8_lossy(&file).contains("clump"), "there are none");

        let mut file = Vec::new();
        write_particles(&Frame { clump: &[NO_CLUMP, 4], ..frame }, &mut file).unwrap();
        let clump: Vec<u8> = [-1_i64, 4].into_iter().flat_map(i64::to_le_bytes).collect();
        assert_eq!(bytes_of(&arrays(&file), "clump"), clump);

        let mut file = Vec::new();
        write_contacts(&frame, &mut file).unwrap();
        let found = arrays(&file);
        let points = floats(bytes_of(&found, "Points"));
        assert_eq!(points[..6], [0.0, 1.0, 2.0, 4.0, 1.0, 2.0], "between the centres");
        assert_eq!(points[6..], [4.0, 1.0, 2.0, 4.0, 0.0, 2.0], "from the centre to the wall, r + D away");
        assert_eq!(integers(bytes_of(&found, "j")), [1, -1]);
        assert_eq!(indices(bytes_of(&found, "id_i")), [7, 9]);
        assert_eq!(integers(bytes_of(&found, "id_j")), [9, -1]);
        assert_eq!(integers(bytes_of(&found, "obstacle")), [-1, 2]);
        assert_eq!(integers(bytes_of(&found, "feature")), [-1, 7]);
        assert_eq!(floats(bytes_of(&found, "gamma")), [-1.0, 0.0]);
    }

    #[test]
    fn obstacles_keep_their_owner_whatever_their_cells() {
        let particles = Particles::default();
        let plate = ObstacleSurface { points: vec![DVec3::ZERO; 3], triangles: vec![[0, 1, 2]], ..Default::default() };
        let wire = ObstacleSurface { points: vec![DVec3::X; 2], lines: vec![[0, 1]], ..Default::default() };
        let obstacles = [plate, wire];
        let frame =
            Frame { step: 0, time: 0.0, particles: &particles, contacts: &[], obstacles: &obstacles, clump: &[] };
        let mut file = Vec::new();
        write_obstacles(&frame, &mut file).unwrap();
        // The line of obstacle 1 comes before the triangle of obstacle 0, as VTK counts cells.
        assert_eq!(indices(bytes_of(&arrays(&file), "obstacle")), [1, 0]);
    }

    #[test]
    fn a_frame_without_anything_is_a_whole_file() {
        let particles = Particles::default();
        let frame = Frame { step: 0, time: 0.0, particles: &particles, contacts: &[], obstacles: &[], clump: &[] };
        for write in [write_particles, write_contacts, write_obstacles] {
            let mut file = Vec::new();
            write(&frame, &mut file).unwrap();
            assert!(bytes_of(&arrays(&file), "Points").is_empty());
        }
    }
}
