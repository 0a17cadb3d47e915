//! The flow of a position: u(ρ, z) and p(ρ, z) as the finite elements have them.

use super::element::{NODES, quadratic};
use super::mesh::{FIXED, Mesh};

/// Velocity and pressure about a particle that a force moves. Lengths are in radii r, velocities in the unit of the
/// force over 6πμr, pressures in μ/r times that.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    pub(super) mesh: &'a Mesh,
    /// Unknowns at a unit of force.
    pub(super) unknowns: &'a [f64],
    pub(super) force: f64,
    /// Velocity of the particle at a unit of force.
    pub(super) mobility: f64,
}

impl Flow<'_> {
    /// Velocity of the particle, away from the plane.
    #[must_use]
    pub fn particle(&self) -> f64 {
        self.force * self.mobility
    }

    /// (u_ρ, u_z) at (ρ, z), inside the particle too; `None` outside the mesh.
    #[must_use]
    pub fn velocity(&self, at: [f64; 2]) -> Option<[f64; 2]> {
        let place = self.mesh.locate(at)?;
        let shapes = quadratic(self.mesh.triangle(place).areal(at));
        let numbers = self.mesh.unknowns_of(place);
        Some([&numbers[..NODES], &numbers[NODES..2 * NODES]].map(|numbers| self.sum(numbers, &shapes)))
    }

    /// p at (ρ, z), zero far away; inside the particle it has no meaning. `None` outside the mesh.
    #[must_use]
    pub fn pressure(&self, at: [f64; 2]) -> Option<f64> {
        let place = self.mesh.locate(at)?;
        let numbers = self.mesh.unknowns_of(place);
        Some(self.sum(&numbers[2 * NODES..], &self.mesh.triangle(place).areal(at)))
    }

    /// (R, H): the far corner of the mesh.
    #[must_use]
    pub fn far(&self) -> [f64; 2] {
        self.mesh.far()
    }

    fn sum(&self, numbers: &[usize], shapes: &[f64]) -> f64 {
        let terms = numbers.iter().zip(shapes).filter(|(number, _)| **number != FIXED);
        self.force * terms.map(|(number, shape)| self.unknowns[*number] * shape).sum::<f64>()
    }
}
