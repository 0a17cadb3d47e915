//! The figures of a penalised mesh, checked: dx, ε, the largest gap, R = H.

use super::mesh::Mesh;
use crate::error::{StokesError, positive};

/// ε above which the particle is not rigid: at 10⁻⁵ its drag is 10⁻⁴ low, and this error grows in proportion.
const MOST_PENALTY: f64 = 1e-5;

/// ε below which rounding shows: 1/ε takes its digits from those of the fluid.
const LEAST_PENALTY: f64 = 1e-11;

/// Cells above which a particle is not round: it has four across its radius then.
const MOST_CELL: f64 = 0.25;

/// Fluid between the particle, wherever it is, and the far walls.
const LEAST_FLUID: f64 = 4.0;

/// Most unknowns: their factors take some gigabytes.
const MOST_UNKNOWNS: f64 = 300_000.0;

/// Mesh and penalty. Lengths are in radii of the particle, viscosities in that of the fluid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Side dx of the squares where the particle can be.
    pub cell: f64,
    /// Penalty parameter ε: the particle is a fluid of viscosity 1 + 1/ε.
    pub penalty: f64,
    /// Largest gap: the fine part of the mesh ends above it.
    pub reach: f64,
    /// Radius R and height H of the cylinder of fluid.
    pub extent: f64,
}

impl Default for Settings {
    /// dx = r/10 as in the paper, ε = 10⁻⁸, gaps up to 3 r, R = H = 20 r.
    fn default() -> Self {
        Self { cell: 0.1, penalty: 1e-8, reach: 3.0, extent: 20.0 }
    }
}

impl Settings {
    /// The mesh, if all figures are right.
    pub(super) fn mesh(&self) -> Result<Mesh, StokesError> {
        let Self { cell, penalty, reach, extent } = *self;
        for (name, value) in [("cell", cell), ("penalty", penalty), ("reach", reach), ("extent", extent)] {
            positive(name, value)?;
        }
        let advice = "a larger one lets the particle deform";
        at_most(MOST_PENALTY, Figure { name: "penalty", value: penalty, advice })?;
        let advice = "a smaller one drowns the fluid in rounding";
        at_least(LEAST_PENALTY, Figure { name: "penalty", value: penalty, advice })?;
        let advice = "in radii: with larger cells the particle is not round";
        at_most(MOST_CELL, Figure { name: "cell", value: cell, advice })?;
        let advice =
            "in radii: the far walls must stand clear of the particle at the largest gap, or take a smaller reach";
        at_least(reach + 2.0 + LEAST_FLUID, Figure { name: "extent", value: extent, advice })?;
        let (near, far) = ([1.0 + cell, 2.0 + reach + cell], [extent; 2]);
        let advice = "take a larger cell or a smaller reach";
        let value = Mesh::estimate(cell, near, far).round();
        at_most(MOST_UNKNOWNS, Figure { name: "number of unknowns", value, advice })?;
        Ok(Mesh::new(cell, near, far))
    }

    /// A gap at which the particle is on the fine part of the mesh.
    pub(super) fn check_gap(&self, gap: f64) -> Result<(), StokesError> {
        positive("gap", gap)?;
        let advice = "the mesh is fine up to its reach; take a larger reach";
        at_most(self.reach, Figure { name: "gap", value: gap, advice })
    }
}

/// A figure that is checked.
struct Figure {
    name: &'static str,
    value: f64,
    advice: &'static str,
}

fn at_most(most: f64, Figure { name, value, advice }: Figure) -> Result<(), StokesError> {
    if value <= most { Ok(()) } else { Err(StokesError::TooLarge { name, value, most, advice }) }
}

fn at_least(least: f64, Figure { name, value, advice }: Figure) -> Result<(), StokesError> {
    if value >= least { Ok(()) } else { Err(StokesError::TooSmall { name, value, least, advice }) }
}
