//! Bispherical coordinates: spheres, and planes, are lines ξ = const.
//!
//! ```text
//! z = c sinh ξ / (cosh ξ − cos η),    ρ = c sin η / (cosh ξ − cos η),    0 ≤ η ≤ π
//! ```
//!
//! ξ = α > 0 is a sphere of radius c / sinh α above the plane z = 0, which is ξ = 0; ξ = −β < 0 is a sphere below it.
//! η = π is the part of the axis between the foci z = ±c, so the middle of the gap; η = 0 is the rest of the axis, and
//! (0, 0) is infinity. The map is conformal, with the scale c / (cosh ξ − cos η).

/// The coordinates in which an upper sphere, and a lower sphere or plane, are lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bispherical {
    /// c.
    pub focus: f64,
    /// α: ξ of the upper sphere.
    pub upper: f64,
    /// β: −ξ of the lower sphere; 0 for a plane.
    pub lower: f64,
}

impl Bispherical {
    /// A unit sphere at the distance `gap` of a plane: cosh α = 1 + q, c = sinh α.
    pub fn sphere_plane(gap: f64) -> Self {
        let focus = (gap * (2.0 + gap)).sqrt();
        Self { focus, upper: (gap + focus).ln_1p(), lower: 0.0 }
    }

    /// Two spheres, the upper one first, at the distance `gap`. With d = r₁ + r₂ + q,
    /// 4 d² c² = (d² − (r₁ + r₂)²)(d² − (r₁ − r₂)²), of which each factor is a product of positive lengths.
    pub fn two_spheres([r1, r2]: [f64; 2], gap: f64) -> Self {
        let d = r1 + r2 + gap;
        let focus = (gap / d * (gap + 2.0 * (r1 + r2))).sqrt() * ((gap + 2.0 * r1) / d * (gap + 2.0 * r2)).sqrt() / 2.0;
        Self { focus, upper: (focus / r1).asinh(), lower: (focus / r2).asinh() }
    }

    /// The same with the spheres exchanged.
    pub fn upside_down(self) -> Self {
        Self { focus: self.focus, upper: self.lower, lower: self.upper }
    }

    /// cosh ξ − cos η = 2 (sinh² ξ/2 + sin² η/2).
    fn denominator([xi, eta]: [f64; 2]) -> f64 {
        2.0 * ((xi / 2.0).sinh().powi(2) + (eta / 2.0).sin().powi(2))
    }

    /// c/(cosh ξ − cos η): length per unit of ξ and of η; infinite at (0, 0).
    pub fn scale(&self, at: [f64; 2]) -> f64 {
        self.focus / Self::denominator(at)
    }

    /// (ρ, z).
    pub fn point(&self, [xi, eta]: [f64; 2]) -> [f64; 2] {
        let scale = self.scale([xi, eta]);
        [scale * eta.sin(), scale * xi.sinh()]
    }

    /// A = sinh ξ sin η and B = 1 − cosh ξ cos η, with A² + B² = (cosh ξ − cos η)²: the direction of the lines,
    /// ∂ξ(ρ, z) ∝ (−A, B) and ∂η(ρ, z) ∝ (−B, −A).
    pub fn turn([xi, eta]: [f64; 2]) -> [f64; 2] {
        let (half_xi, half_eta) = ((xi / 2.0).sinh(), (eta / 2.0).sin());
        [xi.sinh() * eta.sin(), 2.0 * (half_eta * half_eta - half_xi * half_xi * eta.cos())]
    }

    /// (ξ, η) of a point: tanh ξ = 2cz/(ρ² + z² + c²), tan η = 2cρ/(ρ² + z² − c²).
    pub fn coordinates(&self, [rho, z]: [f64; 2]) -> [f64; 2] {
        let c = self.focus;
        // From the nearer focus, so that nothing cancels.
        let height = z.abs();
        let xi = (4.0 * c * height / (rho * rho + (height - c).powi(2))).ln_1p() / 2.0;
        [xi.copysign(z), (2.0 * c * rho).atan2(rho * rho + (height - c) * (height + c))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_those_of_the_point() {
        for shape in [Bispherical::sphere_plane(1e-4), Bispherical::two_spheres([1.0, 3.0], 0.5)] {
            for at in [[0.9 * shape.upper, 0.3], [0.1 * shape.upper, 3.0], [-0.5 * shape.lower, 1e-3], [0.0, 1.5]] {
                let [xi, eta] = shape.coordinates(shape.point(at));
                assert!((xi - at[0]).abs() < 1e-12 && (eta - at[1]).abs() < 1e-12, "{at:?}: {xi} {eta}");
            }
        }
    }

    #[test]
    fn the_spheres_have_their_radii_and_gap() {
        let shape = Bispherical::two_spheres([1.0, 3.0], 0.5);
        let pi = std::f64::consts::PI;
        let z = |xi, eta| shape.point([xi, eta])[1];
        assert!((z(shape.upper, 0.0) - z(shape.upper, pi) - 2.0).abs() < 1e-13);
        assert!((z(-shape.lower, pi) - z(-shape.lower, 0.0) - 6.0).abs() < 1e-13);
        assert!((z(shape.upper, pi) - z(-shape.lower, pi) - 0.5).abs() < 1e-13);
    }
}
