//! One cell: Q2 velocity and Q1 pressure in (ξ, η), integrated over the true geometry.
//!
//! ```text
//! a(u, v) = ∫ {2 (∂ρuρ ∂ρvρ + uρ vρ/ρ² + ∂zuz ∂zvz) + (∂zuρ + ∂ρuz)(∂zvρ + ∂ρvz)} ρ dρ dz
//! b(v, p) = −∫ p (∂ρvρ + vρ/ρ + ∂zvz) ρ dρ dz
//! ```
//!
//! for viscosity 1. Derivatives by ρ and z are (−A ∂ξ − B ∂η)/c and (B ∂ξ − A ∂η)/c with A = sinh ξ sin η,
//! B = 1 − cosh ξ cos η.

use crate::bispherical::Bispherical;

/// Velocity nodes of a cell, ξ fastest.
pub(super) const NODES: usize = 9;
/// Unknowns of a cell: uρ and uz of each node, then pressures of the corners.
pub(super) const SIZE: usize = 2 * NODES + 4;

/// The matrix of a cell, symmetric: all of a and b.
pub(super) type Matrix = [[f64; SIZE]; SIZE];

/// Abscissae and weights of Gauss's rule on [0, 1].
pub(super) const GAUSS: [[f64; 2]; 4] = [
    [0.069_431_844_202_973_71, 0.173_927_422_568_726_93],
    [0.330_009_478_207_571_9, 0.326_072_577_431_273_07],
    [0.669_990_521_792_428_1, 0.326_072_577_431_273_07],
    [0.930_568_155_797_026_3, 0.173_927_422_568_726_93],
];

/// Shape functions of order two on [0, 1] and their derivatives.
pub(super) fn quadratic(t: f64) -> [[f64; 2]; 3] {
    [
        [(1.0 - t) * (1.0 - 2.0 * t), 4.0 * t - 3.0],
        [4.0 * t * (1.0 - t), 4.0 - 8.0 * t],
        [t * (2.0 * t - 1.0), 4.0 * t - 1.0],
    ]
}

/// Shape functions of order one on [0, 1].
pub(super) fn linear(t: f64) -> [f64; 2] {
    [1.0 - t, t]
}

/// The matrix of the cell between the ends of `xi` and of `eta`.
pub(super) fn matrix(shape: &Bispherical, xi: [f64; 2], eta: [f64; 2]) -> Matrix {
    let mut matrix = [[0.0; SIZE]; SIZE];
    let [dxi, deta] = [xi[1] - xi[0], eta[1] - eta[0]];
    for [s, weight_s] in GAUSS {
        for [t, weight_t] in GAUSS {
            let point = Point::new(shape, [xi[0] + s * dxi, eta[0] + t * deta]);
            let measure = weight_s * weight_t * dxi * deta * point.measure;
            add(&mut matrix, &Functions::new(&point, [s, t], [dxi, deta]), measure);
        }
    }
    matrix
}

/// What the geometry gives at a point.
struct Point {
    /// ρ.
    radius: f64,
    /// A/c and B/c.
    turn: [f64; 2],
    /// ρ dρ dz per dξ dη.
    measure: f64,
}

impl Point {
    fn new(shape: &Bispherical, at: [f64; 2]) -> Self {
        let radius = shape.point(at)[0];
        let scale = shape.scale(at);
        Self { radius, turn: Bispherical::turn(at).map(|x| x / shape.focus), measure: scale * scale * radius }
    }
}

/// Values of the shape functions at a point.
struct Functions {
    /// N, ∂ρN, ∂zN and N/ρ.
    velocity: [[f64; 4]; NODES],
    pressure: [f64; 4],
}

impl Functions {
    fn new(point: &Point, [s, t]: [f64; 2], [dxi, deta]: [f64; 2]) -> Self {
        let (along_s, along_t) = (quadratic(s), quadratic(t));
        let [a, b] = point.turn;
        let velocity = std::array::from_fn(|node| {
            let ([f, df], [g, dg]) = (along_s[node % 3], along_t[node / 3]);
            let (by_xi, by_eta) = (df * g / dxi, f * dg / deta);
            [f * g, -a * by_xi - b * by_eta, b * by_xi - a * by_eta, f * g / point.radius]
        });
        let (p, q) = (linear(s), linear(t));
        Self { velocity, pressure: [p[0] * q[0], p[1] * q[0], p[0] * q[1], p[1] * q[1]] }
    }
}

fn add(matrix: &mut Matrix, functions: &Functions, measure: f64) {
    for (i, [_, u_rho, u_z, u_over]) in functions.velocity.into_iter().enumerate() {
        for (j, [_, v_rho, v_z, v_over]) in functions.velocity.into_iter().enumerate() {
            matrix[2 * i][2 * j] += measure * (2.0 * (u_rho * v_rho + u_over * v_over) + u_z * v_z);
            matrix[2 * i][2 * j + 1] += measure * u_z * v_rho;
            matrix[2 * i + 1][2 * j] += measure * u_rho * v_z;
            matrix[2 * i + 1][2 * j + 1] += measure * (2.0 * u_z * v_z + u_rho * v_rho);
        }
        for (k, p) in functions.pressure.into_iter().enumerate() {
            let column = 2 * NODES + k;
            for (row, divergence) in [(2 * i, u_rho + u_over), (2 * i + 1, u_z)] {
                let value = -measure * p * divergence;
                matrix[row][column] += value;
                matrix[column][row] += value;
            }
        }
    }
}
