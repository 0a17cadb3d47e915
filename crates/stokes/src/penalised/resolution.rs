//! What a mesh of side dx can tell of a gap q: 2dx and dx/√3 are its limits.

use std::fmt;

/// How well a mesh tells a gap. Its text is a warning that names the figure to change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// q ≥ 2dx: the drag is within a tenth of the exact one.
    Resolved,
    /// dx/√3 < q < 2dx: one or two layers of triangles are left in the gap, and the drag is rough.
    Coarse {
        /// dx, in radii.
        cell: f64,
        /// q, in radii.
        gap: f64,
    },
    /// q < dx/√3, or a little less: the particle on the mesh touches the plane. Its drag is of the order of 10⁻³/ε: it
    /// stays where it is.
    Frozen {
        /// dx, in radii.
        cell: f64,
        /// q, in radii.
        gap: f64,
    },
}

impl fmt::Display for Resolution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolved => write!(out, "resolved"),
            Self::Coarse { cell, gap } => {
                let right = gap / 2.0;
                write!(
                    out,
                    "gap {gap} is less than two cells of {cell}: the drag is rough; take cells of {right} or less"
                )
            }
            Self::Frozen { cell, gap } => {
                let right = gap / 2.0;
                write!(
                    out,
                    "gap {gap} on cells of {cell}: the particle touches the plane on the mesh and cannot move; \
                     take cells of {right} or less, or treat contacts at a larger gap"
                )
            }
        }
    }
}
