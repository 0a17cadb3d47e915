//! The drag λ(q/r) on a sphere that moves towards a plane, from whoever knows it.

use std::sync::{Mutex, PoisonError};

use stokes::StokesError;
use stokes::fitted::SpherePlane;
use stokes::penalised::Penalised;

/// Drag on a sphere normal to a plane.
pub trait NormalDrag: Send + Sync {
    /// λ at a gap (in radii): the force over that on the sphere alone in the fluid, 6πμ r u.
    fn drag(&self, gap: f64) -> Result<f64, StokesError>;
}

/// Brenner's exact series.
#[derive(Clone, Copy, Debug, Default)]
pub struct Brenner;

impl NormalDrag for Brenner {
    fn drag(&self, gap: f64) -> Result<f64, StokesError> {
        stokes::exact::sphere_plane(gap)
    }
}

/// Finite elements that follow the surfaces: the equations are solved at each gap.
impl NormalDrag for SpherePlane {
    fn drag(&self, gap: f64) -> Result<f64, StokesError> {
        Self::drag(self, gap)
    }
}

/// The penalised solver on its fixed mesh, which keeps its factorisation while the particle stays where it is.
#[derive(Debug)]
pub struct FixedMesh(Mutex<Penalised>);

impl FixedMesh {
    /// With a mesh and a penalty.
    #[must_use]
    pub fn new(solver: Penalised) -> Self {
        Self(Mutex::new(solver))
    }
}

impl NormalDrag for FixedMesh {
    fn drag(&self, gap: f64) -> Result<f64, StokesError> {
        // A panic elsewhere leaves the solver as it was between two questions.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drag(gap)
    }
}

/// A drag that is expensive to find, with its last answer: a particle that is glued asks for the same gap at every
/// step.
#[derive(Debug)]
pub struct Remembered<D> {
    drag: D,
    last: Mutex<Option<(f64, f64)>>,
}

impl<D: NormalDrag> Remembered<D> {
    /// Remembers the answers of a drag.
    #[must_use]
    pub fn new(drag: D) -> Self {
        Self { drag, last: Mutex::new(None) }
    }
}

impl<D: NormalDrag> NormalDrag for Remembered<D> {
    fn drag(&self, gap: f64) -> Result<f64, StokesError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, drag)) = *last
            && at == gap
        {
            return Ok(drag);
        }
        let drag = self.drag.drag(gap)?;
        *last = Some((gap, drag));
        Ok(drag)
    }
}
