//! The fields of a flow: velocity, pressure and stream function, for viscosity 1.
//!
//! The stream function has uz = ∂ρψ/ρ and uρ = −∂zψ/ρ; between two points 2π(ψ₂ − ψ₁) flows through. It is integrated along
//! the lines ξ = const from the axis in the gap, η = π, where it is 0.

use super::element::{GAUSS, linear, quadratic};
use super::grid::Lines;
use crate::bispherical::Bispherical;

/// A flow on the points of its grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    pub(super) shape: Bispherical,
    pub(super) lines: Lines,
    /// uρ, uz at each node, ξ fastest, then the pressures at the corners of the cells.
    pub(super) values: Vec<f64>,
    pub(super) forces: [f64; 2],
}

/// The flow at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// (uρ, uz), in the unit of the given velocities.
    pub velocity: [f64; 2],
    /// The pressure less that at infinity, for viscosity 1: in velocities per length.
    pub pressure: f64,
}

impl Flow {
    /// The forces that move the upper and the lower sphere, against the fluid, divided by 6πμ. The second is 0 for a plane.
    #[must_use]
    pub fn forces(&self) -> [f64; 2] {
        self.forces
    }

    /// The flow at (ρ, z), z = 0 being the plane, or that of equal distance to the foci between the spheres (see
    /// [`surfaces`](Self::surfaces)). `None` inside the bodies.
    #[must_use]
    pub fn sample(&self, [rho, z]: [f64; 2]) -> Option<Sample> {
        self.sample_at(self.shape.coordinates([rho.abs(), z]))
    }

    /// z of the two surfaces on the axis in the gap, the upper one first.
    #[must_use]
    pub fn surfaces(&self) -> [f64; 2] {
        [self.shape.upper, -self.shape.lower].map(|xi| self.shape.point([xi, std::f64::consts::PI])[1])
    }

    /// This flow times a velocity, or a flow of two motions at once: `factor`·self + `other`.
    pub(super) fn combined(&self, factor: f64, other: Option<(f64, &Self)>) -> Self {
        let mut flow = self.clone();
        let zero = (0.0, self);
        let (weight, second) = other.unwrap_or(zero);
        let add = |x: &mut f64, y: f64| *x = factor * *x + weight * y;
        flow.values.iter_mut().zip(&second.values).for_each(|(x, y)| add(x, *y));
        flow.forces.iter_mut().zip(second.forces).for_each(|(x, y)| add(x, y));
        flow
    }

    /// The same flow with all velocities times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        self.combined(factor, None)
    }

    fn sample_at(&self, [xi, eta]: [f64; 2]) -> Option<Sample> {
        let (i, s) = Lines::locate(&self.lines.xi, xi)?;
        let (j, t) = Lines::locate(&self.lines.eta, eta)?;
        let row = self.lines.xi.len();
        let pressures = 2 * row * self.lines.eta.len();
        let mut sample = Sample { velocity: [0.0; 2], pressure: 0.0 };
        for (b, [g, _]) in quadratic(t).into_iter().enumerate() {
            for (a, [f, _]) in quadratic(s).into_iter().enumerate() {
                let node = (2 * j + b) * row + 2 * i + a;
                sample.velocity[0] += f * g * self.values[2 * node];
                sample.velocity[1] += f * g * self.values[2 * node + 1];
            }
        }
        for (b, g) in linear(t).into_iter().enumerate() {
            for (a, f) in linear(s).into_iter().enumerate() {
                sample.pressure += f * g * self.values[pressures + (j + b) * (row / 2 + 1) + i + a];
            }
        }
        Some(sample)
    }

    /// All points of the grid with the flow there: `across` points from the lower to the upper surface, for each line from
    /// the outer axis to the axis in the gap.
    #[must_use]
    pub fn field(&self) -> Field {
        let across = self.lines.xi.len();
        let psi = self.stream_function();
        let mut points = Vec::with_capacity(psi.len());
        for (j, &eta) in self.lines.eta.iter().enumerate() {
            for (i, &xi) in self.lines.xi.iter().enumerate() {
                let at_infinity = xi == 0.0 && eta == 0.0;
                let Some(Sample { velocity, pressure }) = self.sample_at([xi, eta]) else { continue };
                let position = if at_infinity { [f64::INFINITY; 2] } else { self.shape.point([xi, eta]) };
                points.push(FieldPoint { position, velocity, pressure, stream: psi[j * across + i] });
            }
        }
        Field { points, across }
    }

    /// ψ at the nodes.
    fn stream_function(&self) -> Vec<f64> {
        let (across, along) = (self.lines.xi.len(), self.lines.eta.len());
        let mut psi = vec![0.0; across * along];
        for (i, &xi) in self.lines.xi.iter().enumerate() {
            for j in (0..along - 1).rev() {
                let ends = [self.lines.eta[j], self.lines.eta[j + 1]];
                // The line ξ = 0 ends at infinity, on the axis: ψ is 0 there too.
                let at_infinity = xi == 0.0 && ends[0] == 0.0;
                let flux = if at_infinity { psi[(j + 1) * across + i] } else { self.flux(xi, ends) };
                psi[j * across + i] = psi[(j + 1) * across + i] - flux;
            }
        }
        psi
    }

    /// ∫ ρ (uz ∂ηρ − uρ ∂ηz) dη between two η.
    fn flux(&self, xi: f64, [from, to]: [f64; 2]) -> f64 {
        let mut sum = 0.0;
        for [t, weight] in GAUSS {
            let at = [xi, from + t * (to - from)];
            let Some(Sample { velocity: [u_rho, u_z], .. }) = self.sample_at(at) else { continue };
            let (scale, [a, b]) = (self.shape.scale(at), self.shape.turn(at));
            let rho = self.shape.point(at)[0];
            sum += weight * (to - from) * rho * scale * scale / self.shape.focus * (a * u_rho - b * u_z);
        }
        sum
    }
}

/// A flow on the points of a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Row after row.
    pub points: Vec<FieldPoint>,
    /// How many points a row has, from the lower to the upper surface.
    pub across: usize,
}

/// The flow at a point of the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldPoint {
    /// (ρ, z); infinite at one point of the grid.
    pub position: [f64; 2],
    /// (uρ, uz).
    pub velocity: [f64; 2],
    /// The pressure less that at infinity, for viscosity 1.
    pub pressure: f64,
    /// ψ.
    pub stream: f64,
}
