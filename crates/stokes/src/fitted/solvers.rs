//! The two shapes: a sphere at a plane, and two spheres.
//!
//! Flows are linear in the velocities: one solution for each sphere at a gap gives all.

use super::flow::Flow;
use super::grid::Grid;
use super::problem::{Below, Problem};
use crate::Resistance;
use crate::bispherical::Bispherical;
use crate::error::{StokesError, between, positive};

/// Gaps, in radii of the smaller sphere, for which the equations have been compared with the exact drags.
const GAPS: [f64; 2] = [1e-8, 1e3];
/// Ratios of radii likewise.
const RATIOS: [f64; 2] = [1e-2, 1e2];

/// A sphere of radius 1 that moves normal to a plane.
#[derive(Debug)]
pub struct SpherePlane {
    problem: Problem,
}

impl SpherePlane {
    /// Numbers the unknowns and finds their order of elimination, once for all gaps.
    pub fn new(grid: Grid) -> Result<Self, StokesError> {
        Problem::new(grid, Below::Plane).map(|problem| Self { problem })
    }

    /// How many unknowns the equations have.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.problem.unknowns
    }

    /// λ at the distance `gap`, in radii.
    pub fn drag(&self, gap: f64) -> Result<f64, StokesError> {
        self.flow(gap).map(|flow| flow.forces()[0])
    }

    /// The velocity f/λ(q) under a `force`, given divided by 6πμ r, at the distance `gap`, in radii.
    pub fn velocity(&self, gap: f64, force: f64) -> Result<f64, StokesError> {
        self.drag(gap).map(|drag| force / drag)
    }

    /// The flow while the sphere, at the distance `gap`, in radii, leaves the plane with velocity 1.
    pub fn flow(&self, gap: f64) -> Result<Flow, StokesError> {
        between("gap", gap, GAPS)?;
        let [flow] = self.problem.flows(&Bispherical::sphere_plane(gap), [0])?;
        Ok(flow)
    }
}

/// Two spheres that move along the line of their centres, the first above the second.
#[derive(Debug)]
pub struct TwoSpheres {
    problem: Problem,
    radii: [f64; 2],
}

impl TwoSpheres {
    /// Numbers the unknowns and finds their order of elimination, once for all gaps between spheres with `radii`.
    pub fn new(grid: Grid, radii: [f64; 2]) -> Result<Self, StokesError> {
        positive("first radius", radii[0])?;
        positive("second radius", radii[1])?;
        between("ratio of radii", radii[0] / radii[1], RATIOS)?;
        Ok(Self { problem: Problem::new(grid, Below::Sphere)?, radii })
    }

    /// How many unknowns the equations have.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.problem.unknowns
    }

    /// The flows at the distance `gap`, in the unit of the radii.
    pub fn pair(&self, gap: f64) -> Result<Pair, StokesError> {
        positive("gap", gap)?;
        between("gap in radii of the smaller sphere", gap / self.radii[0].min(self.radii[1]), GAPS)?;
        let shape = Bispherical::two_spheres(self.radii, gap);
        self.problem.flows(&shape, [0, 1]).map(|flows| Pair { flows })
    }
}

/// Two spheres at a gap: all their motions along the line of centres.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// With velocity 1 of one sphere, the other at rest.
    flows: [Flow; 2],
}

impl Pair {
    /// R. It is symmetric but for rounding.
    #[must_use]
    pub fn resistance(&self) -> Resistance {
        let [[first, on_second], [on_first, second]] = [self.flows[0].forces(), self.flows[1].forces()];
        Resistance { first, second, mutual: f64::midpoint(on_second, on_first) }
    }

    /// The flow of spheres with `velocities` along z.
    #[must_use]
    pub fn flow(&self, [u1, u2]: [f64; 2]) -> Flow {
        self.flows[0].combined(u1, Some((u2, &self.flows[1])))
    }
}
