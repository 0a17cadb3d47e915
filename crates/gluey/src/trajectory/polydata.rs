//! A `.vtp` file taken apart: the inverse of [`vtk`](super::vtk), for the files that it writes.
//!
//! The header names each array with its type and offset. Each array is its size in bytes and its values; the file ends
//! with the last of them and a fixed trailer, so that a file which was cut anywhere is known to be.

use std::path::Path;

use glam::DVec3;

use super::TrajectoryError;
use crate::geometry::Cell;

const MARKER: &[u8] = b"<AppendedData encoding=\"raw\">\n_";
const TRAILER: &[u8] = b"\n</AppendedData>\n</VTKFile>\n";
/// Bytes before an array that tell its size.
const SIZE: usize = 8;

/// The arrays of a file.
pub(super) struct PolyData<'a> {
    path: &'a Path,
    /// `TimeValue`; none in a file that serves all times.
    pub(super) time: Option<f64>,
    /// `cell_lower` and `cell_size`; none where nothing is periodic.
    pub(super) cell: Option<Cell>,
    arrays: Vec<Array<'a>>,
}

/// An array as it is stored.
struct Array<'a> {
    /// The part of the file it belongs to: `PointData`, `Lines`…
    section: &'a str,
    name: &'a str,
    type_name: &'a str,
    components: &'a str,
    bytes: &'a [u8],
}

impl<'a> PolyData<'a> {
    /// Finds the arrays of a file; `path` is for messages.
    pub(super) fn parse(file: &'a [u8], path: &'a Path) -> Result<Self, TrajectoryError> {
        let damaged = |reason: &str| TrajectoryError::Damaged { path: path.to_owned(), reason: reason.to_owned() };
        let Some(marker) = file.windows(MARKER.len()).position(|window| window == MARKER) else {
            let whole = file.starts_with(b"<?xml") || b"<?xml".starts_with(file);
            return Err(damaged(if whole { "it ends within its header" } else { "it is no VTK file of gluey" }));
        };
        let header = std::str::from_utf8(&file[..marker]).map_err(|_| damaged("its header is no text"))?;
        let data = &file[marker + MARKER.len()..];
        let mut found = Self { path, time: None, cell: None, arrays: Vec::new() };
        let (mut section, mut end) = ("", 0);
        for line in header.lines() {
            if let Some(rest) = line.strip_prefix("<FieldData>") {
                let time = field(rest, "TimeValue").and_then(|text| text.parse().ok());
                found.time = Some(time.ok_or_else(|| damaged("its time is no number"))?);
                if let (Some(lower), Some(size)) = (field(rest, "cell_lower"), field(rest, "cell_size")) {
                    let cell = vector(lower).zip(vector(size)).and_then(|(l, s)| Cell::with_periods(l, s).ok());
                    found.cell = Some(cell.ok_or_else(|| damaged("its periodic cell makes no sense"))?);
                }
            } else if line.starts_with("<DataArray ") {
                let array = Self::array(line, section, &data[end.min(data.len())..]);
                let array = array.map_err(|trouble| match trouble {
                    Trouble::Header => damaged(&format!("its header has the line `{line}`")),
                    Trouble::Short(missing) => TrajectoryError::Truncated {
                        path: path.to_owned(),
                        expected: (file.len() + missing + TRAILER.len()) as u64,
                        found: file.len() as u64,
                    },
                })?;
                if attribute(line, "offset").and_then(|text| text.parse().ok()) != Some(end) {
                    return Err(damaged(&format!("its array `{}` is not where it should be", array.name)));
                }
                end += SIZE + array.bytes.len();
                found.arrays.push(array);
            } else if let Some(name) = line.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
                section = name;
            }
        }
        match &data[end..] {
            TRAILER => Ok(found),
            rest if TRAILER.starts_with(rest) => Err(TrajectoryError::Truncated {
                path: path.to_owned(),
                expected: (file.len() - rest.len() + TRAILER.len()) as u64,
                found: file.len() as u64,
            }),
            _ => Err(damaged("its arrays do not end where the file does")),
        }
    }

    /// The array that a line of the header announces, at the start of what is left of the data.
    fn array(line: &'a str, section: &'a str, data: &'a [u8]) -> Result<Array<'a>, Trouble> {
        let attribute = |name| attribute(line, name).ok_or(Trouble::Header);
        let Some((size, rest)) = data.split_first_chunk::<SIZE>() else {
            return Err(Trouble::Short(SIZE - data.len()));
        };
        let size = usize::try_from(u64::from_le_bytes(*size)).unwrap_or(usize::MAX);
        let bytes = rest.get(..size).ok_or(Trouble::Short(size.saturating_sub(rest.len())))?;
        Ok(Array {
            section,
            name: attribute("Name")?,
            type_name: attribute("type")?,
            components: attribute("NumberOfComponents")?,
            bytes,
        })
    }

    /// Values of an array, each made of `N` bytes.
    fn values<const N: usize, T>(
        &self,
        (section, name): (&str, &str),
        (type_name, components): (&str, &str),
        value: fn([u8; N]) -> T,
    ) -> Result<Vec<T>, TrajectoryError> {
        let array = self.arrays.iter().find(|array| array.section == section && array.name == name);
        let array = array.ok_or_else(|| self.damaged(format!("it has no array `{name}` in {section}")))?;
        if (array.type_name, array.components) != (type_name, components) {
            return Err(self.damaged(format!("its array `{name}` is not {components} × {type_name}")));
        }
        match array.bytes.as_chunks::<N>() {
            (values, []) => Ok(values.iter().map(|bytes| value(*bytes)).collect()),
            _ => Err(self.damaged(format!("its array `{name}` ends within a value"))),
        }
    }

    /// Whether there is such an array.
    pub(super) fn has(&self, section: &str, name: &str) -> bool {
        self.arrays.iter().any(|array| array.section == section && array.name == name)
    }

    pub(super) fn floats(&self, section: &str, name: &str) -> Result<Vec<f64>, TrajectoryError> {
        self.values((section, name), ("Float64", "1"), f64::from_le_bytes)
    }

    pub(super) fn vectors(&self, section: &str, name: &str) -> Result<Vec<DVec3>, TrajectoryError> {
        self.values((section, name), ("Float64", "3"), |bytes: [u8; 24]| {
            let mut parts = [0.0; 3];
            for (part, bytes) in parts.iter_mut().zip(bytes.as_chunks::<8>().0) {
                *part = f64::from_le_bytes(*bytes);
            }
            DVec3::from_array(parts)
        })
    }

    pub(super) fn indices(&self, section: &str, name: &str) -> Result<Vec<u32>, TrajectoryError> {
        self.values((section, name), ("UInt32", "1"), u32::from_le_bytes)
    }

    pub(super) fn integers(&self, section: &str, name: &str) -> Result<Vec<i64>, TrajectoryError> {
        self.values((section, name), ("Int64", "1"), i64::from_le_bytes)
    }

    /// The file is whole, and holds something that gluey does not write.
    pub(super) fn damaged(&self, reason: impl Into<String>) -> TrajectoryError {
        TrajectoryError::Damaged { path: self.path.to_owned(), reason: reason.into() }
    }
}

/// Why an array could not be found.
enum Trouble {
    /// What is in the header cannot be read.
    Header,
    /// So many bytes are missing at least.
    Short(usize),
}

/// The text of a field in the line of fields.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("Name=\"{name}\""))?;
    rest.split_once('>')?.1.split_once('<').map(|(text, _)| text)
}

/// Three numbers.
fn vector(text: &str) -> Option<DVec3> {
    let numbers: Vec<f64> = text.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
    <[f64; 3]>::try_from(numbers).ok().map(DVec3::from)
}

/// The value of an attribute in a tag.
pub(super) fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split(' ').find_map(|part| part.strip_prefix(name)?.strip_prefix("=\"")?.split('"').next())
}
