//! The formats that frames are written in, and sets of them.

use crate::choice::choices;

choices! {
    // Checkpoints hold the place of a format in this list: a new one comes last.
    /// A format of frames.
    pub enum Format {
        /// VTK XML for ParaView.
        Vtk = "vtk",
        /// Extended XYZ for OVITO.
        Xyz = "xyz",
        /// One file of few bytes for the viewer, which reads VTK where there is none.
        Compact = "compact",
    }
}

/// A program that opens what a format leaves in a run folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedBy {
    /// What it is called.
    pub program: &'static str,
    /// The files to open.
    pub files: &'static [&'static str],
}

impl Format {
    /// The program to look at its files with; none where that is gluey itself.
    #[must_use]
    pub const fn opened_by(self) -> Option<OpenedBy> {
        match self {
            Self::Vtk => {
                Some(OpenedBy { program: "ParaView", files: &["particles.pvd", "contacts.pvd", "obstacles.pvd"] })
            }
            Self::Xyz => Some(OpenedBy { program: "OVITO", files: &["trajectory.xyz"] }),
            Self::Compact => None,
        }
    }

    /// Whether gluey reads frames of this format back, to show them.
    #[must_use]
    pub const fn is_read_back(self) -> bool {
        matches!(self, Self::Vtk | Self::Compact)
    }
}

/// Some formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Formats {
    /// One bit each, by their place in the list.
    bits: u32,
}

impl Formats {
    /// All there are.
    pub const ALL: Self = Self { bits: (1 << Format::ALL.len()) - 1 };
    /// None.
    pub const NONE: Self = Self { bits: 0 };

    /// Whether a format is among them.
    #[must_use]
    pub const fn contains(self, format: Format) -> bool {
        self.bits & (1 << format as u32) != 0
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// In the order of the list.
    pub fn iter(self) -> impl Iterator<Item = Format> {
        Format::ALL.into_iter().filter(move |format| self.contains(*format))
    }
}

impl FromIterator<Format> for Formats {
    fn from_iter<I: IntoIterator<Item = Format>>(formats: I) -> Self {
        let with = |bits, format| bits | (1 << format as u32);
        Self { bits: formats.into_iter().fold(0, with) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_into_it() {
        for format in Format::ALL {
            let alone = Formats::from_iter([format, format]);
            assert_eq!(alone.iter().collect::<Vec<_>>(), [format]);
            assert!(!alone.is_empty() && !Formats::NONE.contains(format) && Formats::ALL.contains(format));
        }
        assert_eq!(Formats::from_iter(Format::ALL), Formats::ALL);
        assert!(Formats::NONE.is_empty() && Formats::NONE == Formats::default());
    }
}
