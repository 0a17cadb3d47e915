//! The solvers by name: this table is what scenes, the command, Python and the suite of contracts know of them.

use super::{AcceleratedGaussSeidel, AcceleratedGradient, InteriorPoint, Projection, Uzawa};
use crate::choice::choices;

choices! {
    /// A method for the projection.
    pub enum Method {
        /// Accelerated projected Gauss–Seidel.
        Apgs = "apgs",
        /// Accelerated projected gradient.
        Apgd = "apgd",
        /// The paper's Uzawa algorithm.
        Uzawa = "uzawa",
        /// Interior points with a sparse factorisation.
        InteriorPoint = "interior-point",
    }
    default Apgs
}

impl Method {
    /// A solver of this kind with its default settings.
    #[must_use]
    pub fn solver(self) -> Box<dyn Projection> {
        match self {
            Self::Apgs => Box::new(AcceleratedGaussSeidel::default()),
            Self::Apgd => Box::new(AcceleratedGradient::default()),
            Self::Uzawa => Box::new(Uzawa),
            Self::InteriorPoint => Box::new(InteriorPoint::default()),
        }
    }
}
