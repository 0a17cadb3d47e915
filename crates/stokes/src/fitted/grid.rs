//! The grid: lines ξ = const and η = const, dense where the flow varies.
//!
//! About infinity, (0, 0), the flow varies over distances of the size of (ξ, η) itself, and elsewhere over the sphere's
//! ξ and over η of 1. Lines are equidistant in
//!
//! ```text
//! s(ξ) = asinh(ξ/x₀) + 3 ξ/min(ξ of the surface, 1),    s(η) = asinh(η/x₀) + 2 η,    x₀ = min(α, β, 1)/F
//! ```
//!
//! The last cell, at the corner that is infinity, begins about F radii away. At a plane the flow decays like 1/R² and
//! F = 10 will do; two spheres leave 1/R, of which that cell misses a part: F = 300, and more on finer grids.

use crate::bispherical::Bispherical;
use crate::error::StokesError;

/// Lines per unit of ξ/min(ξ of the surface, 1) and of η.
const UNIFORM: [f64; 2] = [3.0, 2.0];
/// Steps of s, across and along, beyond which drags are wrong by more than a part in a hundred.
const COARSEST: [f64; 2] = [2.5, 0.75];

/// How many cells the grid has.
///
/// More cells are needed for smaller gaps, and for larger ones: what is too few is an error that tells the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Cells from the plane, or from the plane between the spheres, to a sphere.
    pub across: usize,
    /// Cells along the surface of a sphere, from its pole in the gap to the other.
    pub along: usize,
}

impl Default for Grid {
    /// For gaps from 1e-4 radii to 1: drags at a plane to 1e-4, of two spheres to 1e-3.
    fn default() -> Self {
        Self { across: 8, along: 44 }
    }
}

impl Grid {
    /// The grid with every cell cut into `factor` × `factor`.
    #[must_use]
    pub fn refined(self, factor: usize) -> Self {
        Self { across: factor * self.across, along: factor * self.along }
    }
}

/// The lines of a grid, those through the middles of the cells among them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lines {
    /// From the lower to the upper sphere.
    pub xi: Vec<f64>,
    /// From 0 to π.
    pub eta: Vec<f64>,
}

impl Lines {
    pub fn new(grid: Grid, shape: &Bispherical) -> Result<Self, StokesError> {
        let far = if shape.lower == 0.0 {
            shape.upper.min(1.0) / 10.0
        } else {
            shape.upper.min(shape.lower).min(1.0) / (3.0 * (grid.across * grid.across) as f64)
        };
        let sides: Vec<Grading> = [shape.lower, shape.upper]
            .into_iter()
            .filter(|&end| end > 0.0)
            .map(|end| Grading { far, uniform: UNIFORM[0] / end.min(1.0), end })
            .collect();
        let along = Grading { far, uniform: UNIFORM[1], end: std::f64::consts::PI };
        for side in &sides {
            enough("across", grid.across, side.steps(side.end) / COARSEST[0])?;
        }
        enough("along", grid.along, along.steps(along.end) / COARSEST[1])?;
        let mut xi: Vec<f64> = Vec::new();
        for side in &sides {
            // The lower side first, from its sphere to 0, which the upper side begins with.
            xi = xi.iter().skip(1).rev().map(|xi| -xi).collect();
            xi.extend(side.lines(grid.across));
        }
        Ok(Self { xi, eta: along.lines(grid.along) })
    }

    /// The cell of `lines` that `x` is in, and where in it, from 0 to 1; `None` outside.
    pub fn locate(lines: &[f64], x: f64) -> Option<(usize, f64)> {
        let inside = *lines.first()? <= x && x <= *lines.last()?;
        let cell = (lines.partition_point(|&line| line <= x).saturating_sub(1) / 2).min(lines.len() / 2 - 1);
        let [from, to] = [lines[2 * cell], lines[2 * cell + 2]];
        inside.then_some((cell, (x - from) / (to - from)))
    }
}

fn enough(name: &'static str, cells: usize, needed: f64) -> Result<(), StokesError> {
    let needed = needed.ceil() as usize;
    if cells >= needed { Ok(()) } else { Err(StokesError::TooCoarse { name, cells, needed }) }
}

/// s(x) = asinh(x/far) + uniform·x from 0 to `end`.
struct Grading {
    far: f64,
    uniform: f64,
    end: f64,
}

impl Grading {
    fn steps(&self, x: f64) -> f64 {
        (x / self.far).asinh() + self.uniform * x
    }

    /// Ends and middles of `cells` cells.
    fn lines(&self, cells: usize) -> Vec<f64> {
        let step = self.steps(self.end) / cells as f64;
        let mut lines = vec![0.0];
        let mut from = 0.0;
        for k in 1..=cells {
            let to = if k == cells { self.end } else { self.inverse(k as f64 * step) };
            lines.extend([f64::midpoint(from, to), to]);
            from = to;
        }
        lines
    }

    /// x with s(x) = `steps`, by bisection.
    fn inverse(&self, steps: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.end);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.steps(middle) < steps {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }
}
