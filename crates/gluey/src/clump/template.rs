//! What a clump is made of: its mass, centre and inertia from its spheres.
//!
//! Each sphere is solid, of mass m_a; the centre of mass is Σ m_a x_a / Σ m_a, the inertia
//!
//! ```text
//! I = Σ m_a (⅖ r_a² + |a|² − a aᵀ)   (discs, about z: Σ m_a (½ r_a² + |a|²)).
//! ```
//!
//! Where spheres overlap, what they share is counted once: a point that lies in n of them gives 1/n of its mass to each. So
//! the mass of the clump is its density times the volume of the union; centre and inertia are those of solid spheres of
//! the masses so found. Who knows the inertia better gives it.

use glam::{DMat3, DVec3};

use crate::geometry::volume;

/// Points along the diameter of a sphere at which shared volume is looked for.
const POINTS: i32 = 48;

/// One sphere of a clump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Its centre; in a finished template from the centre of mass (length).
    pub position: DVec3,
    /// Its radius (length).
    pub radius: f64,
    /// Its share of the mass (mass).
    pub mass: f64,
}

/// A clump that can be placed many times.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Its spheres, from the centre of mass.
    pub balls: Vec<Ball>,
    /// Inertia about the centre of mass (mass · length²).
    pub inertia: DMat3,
    /// Whether its spheres are discs in the plane z = 0.
    pub planar: bool,
}

/// Why spheres make no clump.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TemplateError {
    /// There is none.
    #[error("a clump has at least one sphere")]
    Empty,
    /// A body with such an inertia does not exist.
    #[error("no body has these moments of inertia: each must be positive and at most the sum of the two others")]
    NoInertia,
    /// Lost in rounding.
    #[error("the mass or the inertia of this clump is not a positive, finite number")]
    NoMass,
}

impl Template {
    /// A clump of spheres (or discs) of this density: centre and radius of each.
    pub fn of_density(spheres: &[(DVec3, f64)], density: f64, planar: bool) -> Result<Self, TemplateError> {
        let dimension = if planar { 2 } else { 3 };
        let ball = |(k, (position, radius)): (usize, &(DVec3, f64))| Ball {
            position: *position,
            radius: *radius,
            mass: density * volume(*radius, dimension) * own_share(spheres, k, planar),
        };
        Self::of(spheres.iter().enumerate().map(ball).collect(), planar)
    }

    /// A clump of this mass.
    pub fn of_mass(spheres: &[(DVec3, f64)], mass: f64, planar: bool) -> Result<Self, TemplateError> {
        let mut balls = Self::of_density(spheres, 1.0, planar)?.balls;
        let whole: f64 = balls.iter().map(|ball| ball.mass).sum();
        for ball in &mut balls {
            ball.mass *= mass / whole;
        }
        Self::of(balls, planar)
    }

    fn of(mut balls: Vec<Ball>, planar: bool) -> Result<Self, TemplateError> {
        if balls.is_empty() {
            return Err(TemplateError::Empty);
        }
        let mass: f64 = balls.iter().map(|ball| ball.mass).sum();
        let centre = balls.iter().map(|ball| ball.position * ball.mass).sum::<DVec3>() / mass;
        for ball in &mut balls {
            ball.position -= centre;
        }
        let inertia = balls.iter().fold(DMat3::ZERO, |sum, ball| {
            let own = if planar { 0.5 } else { 0.4 } * ball.radius * ball.radius;
            sum + (point_inertia(ball.position) + DMat3::from_diagonal(DVec3::splat(own))) * ball.mass
        });
        let template = Self { balls, inertia, planar };
        if mass > 0.0 && mass.is_finite() && template.inertia.determinant().is_normal() {
            Ok(template)
        } else {
            Err(TemplateError::NoMass)
        }
    }

    /// The same with moments of inertia about the axes x, y and z through the centre of mass; in the plane z counts.
    pub fn with_inertia(self, moments: DVec3) -> Result<Self, TemplateError> {
        let DVec3 { x, y, z } = moments;
        let exists = moments.min_element() > 0.0 && moments.is_finite() && x <= y + z && y <= x + z && z <= x + y;
        if exists || (self.planar && z > 0.0 && z.is_finite()) {
            Ok(Self { inertia: DMat3::from_diagonal(moments), ..self })
        } else {
            Err(TemplateError::NoInertia)
        }
    }

    /// Σ m_a (mass).
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.balls.iter().map(|ball| ball.mass).sum()
    }

    /// The radius of the ball about the centre of mass that holds all spheres (length).
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.balls.iter().map(|ball| ball.position.length() + ball.radius).fold(0.0, f64::max)
    }

    /// The greatest distance between two of its points, max |a − b| + r_a + r_b (length). In a periodic cell no period may
    /// be less, or a clump could meet its own image, which contact does not see.
    #[must_use]
    pub fn diameter(&self) -> f64 {
        let across = |a: &Ball, b: &Ball| a.position.distance(b.position) + a.radius + b.radius;
        let pairs = self.balls.iter().enumerate().flat_map(|(k, a)| self.balls[k..].iter().map(move |b| across(a, b)));
        pairs.fold(0.0, f64::max)
    }
}

/// |a|² − a aᵀ.
pub(super) fn point_inertia(a: DVec3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(a.length_squared())) - DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}

/// The mean over sphere k of 1/n, where n spheres hold the point: 1 where it overlaps none.
fn own_share(spheres: &[(DVec3, f64)], k: usize, planar: bool) -> f64 {
    let (centre, radius) = spheres[k];
    let meets = |(c, r): &(DVec3, f64)| c.distance(centre) < r + radius;
    let others: Vec<&(DVec3, f64)> =
        spheres.iter().enumerate().filter(|(other, sphere)| *other != k && meets(sphere)).map(|(_, s)| s).collect();
    if others.is_empty() {
        return 1.0;
    }
    let at = |n: i32| (f64::from(2 * n + 1) / f64::from(POINTS) - 1.0) * radius;
    let (mut share, mut points) = (0.0, 0.0);
    for (x, y) in (0..POINTS).flat_map(|x| (0..POINTS).map(move |y| (at(x), at(y)))) {
        for z in 0..if planar { 1 } else { POINTS } {
            let offset = DVec3::new(x, y, if planar { 0.0 } else { at(z) });
            if offset.length_squared() <= radius * radius {
                let holds = |(c, r): &&&(DVec3, f64)| c.distance_squared(centre + offset) <= r * r;
                share += ((1 + others.iter().filter(holds).count()) as f64).recip();
                points += 1.0;
            }
        }
    }
    share / points
}
