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
}
