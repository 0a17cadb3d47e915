//! A field as a file for ParaView: unstructured quadrilaterals (`.vtu`), with velocity, pressure and stream function at
//! the points (ρ, 0, z).

use super::flow::{Field, FieldPoint};
use std::fmt::Write;

/// VTK's number of the quadrilateral.
const QUADRILATERAL: usize = 9;

impl Field {
    /// The text of a `.vtu` file. The point at infinity is left out, with its cells.
    #[must_use]
    pub fn to_vtu(&self) -> String {
        // Numbers of the points without the one at infinity.
        let mut numbers = Vec::with_capacity(self.points.len());
        let mut kept: Vec<&FieldPoint> = Vec::new();
        for point in &self.points {
            numbers.push(kept.len());
            if point.position[0].is_finite() {
                kept.push(point);
            }
        }
        let cells: Vec<[usize; 4]> =
            self.cells().map(|[a, b, c, d]| [a, b, d, c].map(|point| numbers[point])).collect();
        let vector = |[x, z]: [f64; 2]| format!("{x:e} 0 {z:e}");
        let mut text = String::from("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\">\n");
        let (points, count) = (kept.len(), cells.len());
        let _ = writeln!(text, "<UnstructuredGrid><Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{count}\">");
        text += "<Points>\n";
        array(&mut text, "Float64\" Name=\"position\" NumberOfComponents=\"3", kept.iter().map(|p| vector(p.position)));
        text += "</Points>\n<PointData Vectors=\"velocity\" Scalars=\"pressure\">\n";
        array(&mut text, "Float64\" Name=\"velocity\" NumberOfComponents=\"3", kept.iter().map(|p| vector(p.velocity)));
        array(&mut text, "Float64\" Name=\"pressure", kept.iter().map(|p| format!("{:e}", p.pressure)));
        array(&mut text, "Float64\" Name=\"stream_function", kept.iter().map(|p| format!("{:e}", p.stream)));
        text += "</PointData>\n<Cells>\n";
        let corners = |[a, b, c, d]: &[usize; 4]| format!("{a} {b} {c} {d}");
        array(&mut text, "Int64\" Name=\"connectivity", cells.iter().map(corners));
        array(&mut text, "Int64\" Name=\"offsets", (1..=count).map(|cell| (4 * cell).to_string()));
        array(&mut text, "UInt8\" Name=\"types", (0..count).map(|_| QUADRILATERAL.to_string()));
        text += "</Cells>\n</Piece></UnstructuredGrid>\n</VTKFile>\n";
        text
    }
}

fn array(text: &mut String, kind: &str, values: impl Iterator<Item = String>) {
    let _ = writeln!(text, "<DataArray type=\"{kind}\" format=\"ascii\">");
    for value in values {
        text.push_str(&value);
        text.push('\n');
    }
    text.push_str("</DataArray>\n");
}
