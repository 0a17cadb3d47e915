//! The Taylor–Hood triangle: velocity P2, pressure P1, in the half plane (ρ, z) of an axisymmetric flow.
//!
//! With N the shape function of a node, a unit of u_ρ there has the strain rates D_ρρ = ∂N/∂ρ, D_θθ = N/ρ,
//! D_ρz = ½ ∂N/∂z, and one of u_z has D_zz = ∂N/∂z, D_ρz = ½ ∂N/∂ρ. They are kept as
//!
//! e = (√2 D_ρρ, √2 D_θθ, √2 D_zz, 2 D_ρz),  so that 2 D(u):D(v) = e(u)·e(v).

use std::f64::consts::{SQRT_2, TAU};

/// Velocity nodes of a triangle: its corners, then the middles of the sides 01, 12, 20.
pub(super) const NODES: usize = 6;
/// Unknown velocities: u_ρ of every node, then u_z of every node.
pub(super) const VELOCITIES: usize = 2 * NODES;
/// Unknown pressures, at the corners.
pub(super) const CORNERS: usize = 3;
/// All unknowns of a triangle, velocities first.
pub(super) const UNKNOWNS: usize = VELOCITIES + CORNERS;
/// Points of the quadrature.
const POINTS: usize = 7;

/// Corners (ρ, z), counterclockwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle(pub [[f64; 2]; CORNERS]);

/// A point of the quadrature.
pub(super) struct Point {
    /// Weight, with the 2πρ of the integral over the volume.
    pub weight: f64,
    /// Shape functions of the velocity.
    pub shapes: [f64; NODES],
    /// Shape functions of the pressure.
    pressures: [f64; CORNERS],
    /// e of a unit of every unknown velocity.
    strains: [[f64; 4]; VELOCITIES],
}

/// Dense matrix of a triangle.
pub(super) type Matrix = [[f64; UNKNOWNS]; UNKNOWNS];

impl Triangle {
    /// Twice the area.
    fn doubled_area(&self) -> f64 {
        let [a, b, c] = self.0;
        (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    }

    /// Volume of the ring that the triangle sweeps about the axis.
    pub fn volume(&self) -> f64 {
        self.points().map(|point| point.weight).sum()
    }

    /// Areal coordinates of (ρ, z): the shape functions of the pressure.
    pub fn areal(&self, [rho, z]: [f64; 2]) -> [f64; CORNERS] {
        let [a, b, c] = self.0;
        let part = |p: [f64; 2], q: [f64; 2]| (p[0] - rho) * (q[1] - z) - (q[0] - rho) * (p[1] - z);
        [part(b, c), part(c, a), part(a, b)].map(|doubled| doubled / self.doubled_area())
    }

    /// Points of the quadrature, exact to degree 5.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        let triangle = *self;
        rule().into_iter().map(move |(areal, share)| triangle.point(areal, share))
    }

    fn point(&self, areal: [f64; CORNERS], share: f64) -> Point {
        let rho: f64 = (0..CORNERS).map(|k| areal[k] * self.0[k][0]).sum();
        let (shapes, slopes) = (quadratic(areal), self.slopes(areal));
        let mut strains = [[0.0; 4]; VELOCITIES];
        for (node, [across, up]) in slopes.into_iter().enumerate() {
            strains[node] = [SQRT_2 * across, SQRT_2 * shapes[node] / rho, 0.0, up];
            strains[NODES + node] = [0.0, 0.0, SQRT_2 * up, across];
        }
        let weight = TAU * rho * share * self.doubled_area() / 2.0;
        Point { weight, shapes, pressures: areal, strains }
    }

    /// Gradients of the shape functions of the velocity.
    fn slopes(&self, areal: [f64; CORNERS]) -> [[f64; 2]; NODES] {
        let corners = self.0;
        let gradient: [[f64; 2]; CORNERS] = std::array::from_fn(|k| {
            let (p, q) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
            [(p[1] - q[1]) / self.doubled_area(), (q[0] - p[0]) / self.doubled_area()]
        });
        std::array::from_fn(|node| {
            let (k, next) = (node % 3, (node + 1) % 3);
            std::array::from_fn(|axis| {
                if node < CORNERS {
                    (4.0 * areal[k] - 1.0) * gradient[k][axis]
                } else {
                    4.0 * (areal[k] * gradient[next][axis] + areal[next] * gradient[k][axis])
                }
            })
        })
    }

    /// Matrix of the fluid of viscosity 1: ∫2D(u):D(v) − ∫p div v − ∫q div u.
    pub fn fluid(&self) -> Matrix {
        let mut matrix = self.strain(1.0);
        for point in self.points() {
            for (a, strain) in point.strains.iter().enumerate() {
                let divergence = (strain[0] + strain[1] + strain[2]) / SQRT_2;
                for (c, pressure) in point.pressures.iter().enumerate() {
                    let value = -point.weight * pressure * divergence;
                    matrix[a][VELOCITIES + c] += value;
                    matrix[VELOCITIES + c][a] += value;
                }
            }
        }
        matrix
    }

    /// `viscosity` ∫2D(u):D(v).
    pub fn strain(&self, viscosity: f64) -> Matrix {
        let mut matrix = [[0.0; UNKNOWNS]; UNKNOWNS];
        for point in self.points() {
            for (a, left) in point.strains.iter().enumerate() {
                let scaled = left.map(|e| viscosity * point.weight * e);
                for (b, right) in point.strains.iter().enumerate() {
                    matrix[a][b] += scaled.iter().zip(right).map(|(l, r)| l * r).sum::<f64>();
                }
            }
        }
        matrix
    }
}

/// Shape functions of the velocity at areal coordinates.
pub(super) fn quadratic(areal: [f64; CORNERS]) -> [f64; NODES] {
    std::array::from_fn(|node| {
        let (k, next) = (node % 3, (node + 1) % 3);
        if node < CORNERS { areal[k] * (2.0 * areal[k] - 1.0) } else { 4.0 * areal[k] * areal[next] }
    })
}

/// Radon's rule: areal coordinates and shares of the area.
fn rule() -> [([f64; CORNERS], f64); POINTS] {
    let root = 15_f64.sqrt();
    let mut rule = [([1.0 / 3.0; CORNERS], 9.0 / 40.0); POINTS];
    for (ring, sign) in [1.0, -1.0].into_iter().enumerate() {
        let near = (6.0 + sign * root) / 21.0;
        for k in 0..CORNERS {
            let mut areal = [near; CORNERS];
            areal[k] = 1.0 - 2.0 * near;
            rule[1 + CORNERS * ring + k] = (areal, (155.0 + sign * root) / 1200.0);
        }
    }
    rule
}
