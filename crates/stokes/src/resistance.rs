//! The linear law of two spheres on a line: forces of the fluid on the spheres and their velocities,
//! −F = 6πμ R u with R symmetric and positive.

/// R, a length for each pair of spheres: the force against the motion, divided by 6πμ and by the velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resistance {
    /// R₁₁: drag of the first sphere while the second is at rest.
    pub first: f64,
    /// R₂₂: drag of the second sphere while the first is at rest.
    pub second: f64,
    /// R₁₂ = R₂₁ < 0: force on one sphere at rest while the other moves.
    pub mutual: f64,
}

impl Resistance {
    /// The forces that move the spheres with `velocities`, divided by 6πμ: R u.
    #[must_use]
    pub fn forces(&self, [u1, u2]: [f64; 2]) -> [f64; 2] {
        [self.first * u1 + self.mutual * u2, self.mutual * u1 + self.second * u2]
    }

    /// The velocities of spheres under `forces` (divided by 6πμ): R⁻¹ f.
    ///
    /// Near contact R is nearly singular: the common velocity loses as many digits as R₁₁/r₁ has.
    #[must_use]
    pub fn velocities(&self, [f1, f2]: [f64; 2]) -> [f64; 2] {
        let determinant = self.first * self.second - self.mutual * self.mutual;
        [(self.second * f1 - self.mutual * f2) / determinant, (self.first * f2 - self.mutual * f1) / determinant]
    }
}
