//! The fields of a flow: velocity, pressure and stream function, for viscosity 1.
//!
//! The stream function has uz = ∂ρψ/ρ and uρ = −∂zψ/ρ; between two points 2π(ψ₂ − ψ₁) flows through. On a surface with
//! the velocity u it is u ρ²/2. From the upper surface, and from the lower sphere, it is integrated along the lines η =
//! const to ξ = 0, so that what the grid does not resolve near infinity stays there. There both must meet, or be 0 at a
//! plane: what they fail by, since elements conserve the volume in the mean only, is shared out along the lines.

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
    /// The forces that move the upper and the lower sphere, against the fluid, divided by 6πμ. The second is 0 for a
    /// plane.
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

    /// All points of the grid with the flow there: `across` points from the lower to the upper surface, for each line
    /// from the outer axis to the axis in the gap.
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
        let mut psi = Vec::new();
        let (above, below): (Vec<f64>, Vec<f64>) = self.lines.xi.iter().partition(|&&xi| xi >= 0.0);
        let from_above: Vec<f64> = above.into_iter().rev().collect();
        let from_below: Vec<f64> = if below.is_empty() { below } else { [below, vec![0.0]].concat() };
        for &eta in &self.lines.eta {
            let mut upper = self.stream_along(&from_above, eta);
            let mut lower = self.stream_along(&from_below, eta);
            // ψ on ξ = 0.
            let meeting = match (lower.last(), upper.last()) {
                (Some(lower), Some(upper)) => f64::midpoint(*lower, *upper),
                _ => 0.0,
            };
            share_out(&mut upper, &from_above, meeting);
            share_out(&mut lower, &from_below, meeting);
            lower.pop();
            psi.extend(lower.into_iter().chain(upper.into_iter().rev()));
        }
        psi
    }

    /// ψ at the points `xi` of a line, from a surface on.
    fn stream_along(&self, xi: &[f64], eta: f64) -> Vec<f64> {
        let Some(&surface) = xi.first() else { return Vec::new() };
        let sticking = self.sample_at([surface, eta]).map_or(0.0, |sample| sample.velocity[1]);
        let mut psi = sticking * self.shape.point([surface, eta])[0].powi(2) / 2.0;
        let mut line = vec![psi];
        for ends in xi.windows(2) {
            psi += self.flux([ends[0], ends[1]], eta);
            line.push(psi);
        }
        line
    }

    /// ∫ ρ (uz ∂ξρ − uρ ∂ξz) dξ between two ξ.
    fn flux(&self, [from, to]: [f64; 2], eta: f64) -> f64 {
        let mut sum = 0.0;
        for [t, weight] in GAUSS {
            let at = [from + t * (to - from), eta];
            let Some(Sample { velocity: [u_rho, u_z], .. }) = self.sample_at(at) else { continue };
            let (scale, [a, b]) = (self.shape.scale(at), Bispherical::turn(at));
            let rho = self.shape.point(at)[0];
            sum -= weight * (to - from) * rho * scale * scale / self.shape.focus * (a * u_z + b * u_rho);
        }
        sum
    }
}

/// Adds to a `line` from a surface to ξ = 0 what it lacks there, in proportion to the way made.
fn share_out(line: &mut [f64], xi: &[f64], meeting: f64) {
    let (Some(end), Some(surface)) = (line.last().copied(), xi.first()) else { return };
    for (psi, xi) in line.iter_mut().zip(xi) {
        *psi += (meeting - end) * (1.0 - xi / surface);
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
