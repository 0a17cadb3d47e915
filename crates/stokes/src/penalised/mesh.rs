//! The fixed mesh: squares of side dx wherever the particle can be, beyond them rectangles that grow by a constant
//! factor, all halved by diagonals, which follow the lower side of the particle as well as a direction can.
//!
//! Cylinder 0 ≤ ρ ≤ R, 0 ≤ z ≤ H. Unknowns that are zero are not numbered: u on the plane z = 0, u_ρ on the axis. The
//! far walls ρ = R and z = H are free of traction, which also fixes the level of the pressure: no pressure is pinned.

use super::element::{CORNERS, NODES, Triangle, UNKNOWNS};

/// A size is at most this times that of the neighbour nearer to the particle. The flow varies with the distance to the
/// particle, which grows as fast as the rectangles do.
const GROWTH: f64 = 1.35;

/// Marks an unknown that is zero by a boundary condition.
pub(super) const FIXED: usize = usize::MAX;

/// Lines of the mesh and numbers of its unknowns.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    /// ρ of the lines parallel to the axis.
    across: Vec<f64>,
    /// z of the lines parallel to the plane.
    up: Vec<f64>,
    /// Columns and rows of squares that the particle can reach.
    pub fine: [usize; 2],
    /// Number of every unknown: u_ρ and u_z of the nodes, then pressures of the corners; or [`FIXED`].
    numbers: Vec<usize>,
    /// How many unknowns are numbered.
    pub unknowns: usize,
}

/// A triangle: column and row of its rectangle, and the half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    cell: [usize; 2],
    half: Half,
}

/// The diagonal from the lower corner at the axis to the upper one outside halves a rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Half {
    /// Below the diagonal.
    Outer,
    /// Above the diagonal.
    Inner,
}

impl Place {
    /// Lines that cross at the corners, counterclockwise.
    fn corners(self) -> [[usize; 2]; CORNERS] {
        let [i, j] = self.cell;
        match self.half {
            Half::Outer => [[i, j], [i + 1, j], [i + 1, j + 1]],
            Half::Inner => [[i, j], [i + 1, j + 1], [i, j + 1]],
        }
    }

    /// Whether a corner is on the plane z = 0: all triangles of the lowest row have one there.
    pub fn touches_plane(self) -> bool {
        self.cell[1] == 0
    }
}

/// Both halves of every rectangle of the first columns and rows, row by row.
fn places(columns: usize, rows: usize) -> impl Iterator<Item = Place> {
    let cells = (0..rows).flat_map(move |j| (0..columns).map(move |i| [i, j]));
    cells.flat_map(|cell| [Half::Outer, Half::Inner].map(|half| Place { cell, half }))
}

impl Mesh {
    /// Squares of side `cell` at least up to `near` = (ρ, z), rectangles from there to `far` = (R, H).
    pub fn new(cell: f64, near: [f64; 2], far: [f64; 2]) -> Self {
        let fine = near.map(|length| (length / cell - 1e-9).ceil() as usize);
        let (across, up) = (lines(cell, fine[0], far[0]), lines(cell, fine[1], far[1]));
        let mut mesh = Self { across, up, fine, numbers: Vec::new(), unknowns: 0 };
        mesh.number();
        mesh
    }

    /// Unknowns of the mesh that [`Mesh::new`] would make, at most, before anything is allocated.
    pub fn estimate(cell: f64, near: [f64; 2], far: [f64; 2]) -> f64 {
        let cells = |k: usize| near[k] / cell + 2.0 + (far[k] / cell).ln().max(0.0) / GROWTH.ln();
        (2.0 * cells(0) + 1.0) * (2.0 * cells(1) + 1.0) * 2.25
    }

    fn number(&mut self) {
        let [columns, rows] = self.cells();
        let nodes = (2 * columns + 1) * (2 * rows + 1);
        let corners = (columns + 1) * (rows + 1);
        self.numbers = vec![FIXED; 2 * nodes + corners];
        for (k, number) in self.numbers.iter_mut().enumerate() {
            let node = k % nodes;
            let on_axis = k < nodes && node.is_multiple_of(2 * columns + 1);
            let on_plane = k < 2 * nodes && node <= 2 * columns;
            if !on_axis && !on_plane {
                *number = self.unknowns;
                self.unknowns += 1;
            }
        }
    }

    /// Columns and rows of rectangles.
    pub fn cells(&self) -> [usize; 2] {
        [self.across.len() - 1, self.up.len() - 1]
    }

    /// R and H.
    pub fn far(&self) -> [f64; 2] {
        let [columns, rows] = self.cells();
        [self.across[columns], self.up[rows]]
    }

    /// All triangles.
    pub fn triangles(&self) -> impl Iterator<Item = Place> + use<> {
        let [columns, rows] = self.cells();
        places(columns, rows)
    }

    /// Triangles that the particle can reach.
    pub fn reached(&self) -> impl Iterator<Item = Place> + use<> {
        places(self.fine[0], self.fine[1])
    }

    /// Corners of a triangle.
    pub fn triangle(&self, place: Place) -> Triangle {
        Triangle(place.corners().map(|[i, j]| [self.across[i], self.up[j]]))
    }

    /// Numbers of the unknowns of a triangle, in the order of its matrix.
    pub fn unknowns_of(&self, place: Place) -> [usize; UNKNOWNS] {
        let [columns, rows] = self.cells();
        let width = 2 * columns + 1;
        let nodes = width * (2 * rows + 1);
        let corners = place.corners();
        std::array::from_fn(|k| {
            let index = if k < 2 * NODES {
                // A node is the middle of two corners, which are one and the same for the first three nodes.
                let [p, q] = [corners[k % 3], corners[if k % NODES < CORNERS { k % 3 } else { (k + 1) % 3 }]];
                (k / NODES) * nodes + (p[1] + q[1]) * width + p[0] + q[0]
            } else {
                let [i, j] = corners[k - 2 * NODES];
                2 * nodes + j * (columns + 1) + i
            };
            self.numbers[index]
        })
    }

    /// Triangle that holds (ρ, z), if any does.
    pub fn locate(&self, [rho, z]: [f64; 2]) -> Option<Place> {
        let [width, height] = self.far();
        if !(0.0..=width).contains(&rho) || !(0.0..=height).contains(&z) {
            return None;
        }
        let index = |lines: &[f64], x: f64| lines.partition_point(|line| *line <= x).clamp(1, lines.len() - 1) - 1;
        let [i, j] = [index(&self.across, rho), index(&self.up, z)];
        let right = (rho - self.across[i]) / (self.across[i + 1] - self.across[i]);
        let above = (z - self.up[j]) / (self.up[j + 1] - self.up[j]);
        Some(Place { cell: [i, j], half: if above <= right { Half::Outer } else { Half::Inner } })
    }
}

/// `fine` steps of `cell` from 0, then the least number of steps to `far` that grow by [`GROWTH`].
fn lines(cell: f64, fine: usize, far: f64) -> Vec<f64> {
    let mut lines: Vec<f64> = (0..=fine).map(|i| i as f64 * cell).collect();
    let mut last = lines[fine];
    let rest = far - last;
    let mut steps = vec![cell * GROWTH];
    while steps.iter().sum::<f64>() < rest {
        steps.push(steps[steps.len() - 1] * GROWTH);
    }
    // All are scaled alike, so that the last line is at `far`.
    let scale = rest / steps.iter().sum::<f64>();
    for step in steps {
        last += scale * step;
        lines.push(last);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_triangles_fill_the_cylinder_and_hold_their_points() {
        let mesh = Mesh::new(0.25, [1.25, 3.0], [8.0, 9.0]);
        assert_eq!(mesh.fine, [5, 12]);
        let volume: f64 = mesh.triangles().map(|place| mesh.triangle(place).volume()).sum();
        assert!((volume / (std::f64::consts::PI * 64.0 * 9.0) - 1.0).abs() < 1e-12, "{volume}");
        for place in mesh.triangles() {
            let corners = mesh.triangle(place).0;
            let centre = std::array::from_fn(|k| corners.iter().map(|corner| corner[k]).sum::<f64>() / 3.0);
            assert_eq!(mesh.locate(centre), Some(place));
        }
        assert_eq!(mesh.locate([8.1, 1.0]), None);
    }

    #[test]
    fn the_estimate_of_unknowns_is_a_bound() {
        for (cell, near, far) in [(0.1, [1.1, 3.1], [12.0; 2]), (0.25, [1.25, 8.0], [40.0; 2])] {
            let (estimate, unknowns) = (Mesh::estimate(cell, near, far), Mesh::new(cell, near, far).unknowns as f64);
            assert!(estimate >= unknowns && estimate < 2.0 * unknowns, "{estimate} {unknowns}");
        }
    }
}
