//! The metric of spheres that are held together in clumps.
//!
//! An impulse P on a sphere at b from the centre of its clump gives the clump a velocity U and a spin ω, and with them
//! each of its spheres, at b', the velocity U + ω × b':
//!
//! ```text
//! U = P/κ,   ω = S⁻¹ (b × P),   M⁻¹_ab = 1/κ + [b']ᵀ S⁻¹ [b],   [b] v = b × v.
//! ```
//!
//! The line of the impulse passes through the centre of the sphere, so that the arm of the contact's point is not needed:
//! (b + r e) × e = b × e. Spheres on their own have M⁻¹ = 1/m.

use glam::{DMat3, DVec3};

use super::Mobility;

/// Belongs to no clump.
pub const NO_CLUMP: u32 = u32::MAX;

/// How a clump answers to impulses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Response {
    /// 1/κ (1 / mass).
    pub inverse_mass: f64,
    /// S⁻¹ (1 / (mass · length²)).
    pub inverse_inertia: DMat3,
}

/// Velocity of a clump's centre, and its spin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// U (length / time).
    pub velocity: DVec3,
    /// ω (1 / time).
    pub spin: DVec3,
}

impl Twist {
    /// U + ω × b.
    #[must_use]
    pub fn at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(arm)
    }
}

/// M⁻¹ of spheres, some of them in clumps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rigid {
    /// How the clumps answer.
    pub responses: Vec<Response>,
    /// The clump of each sphere, or [`NO_CLUMP`].
    pub owner: Vec<u32>,
    /// b of each sphere that is in a clump (length).
    pub arm: Vec<DVec3>,
    /// 1/m of each sphere that is in none.
    pub inverse_mass: Vec<f64>,
}

impl Rigid {
    /// What impulses on spheres give their clumps.
    #[must_use]
    pub fn twists(&self, impulses: &[DVec3]) -> Vec<Twist> {
        let mut twists = vec![Twist::default(); self.responses.len()];
        for ((impulse, owner), arm) in impulses.iter().zip(&self.owner).zip(&self.arm) {
            if *owner != NO_CLUMP && *impulse != DVec3::ZERO {
                let sum = &mut twists[*owner as usize];
                sum.velocity += *impulse;
                sum.spin += arm.cross(*impulse);
            }
        }
        for (twist, response) in twists.iter_mut().zip(&self.responses) {
            twist.velocity *= response.inverse_mass;
            twist.spin = response.inverse_inertia * twist.spin;
        }
        twists
    }
}

impl Mobility for Rigid {
    fn add_product(&self, impulses: &[DVec3], velocity: &mut [DVec3]) {
        let twists = self.twists(impulses);
        for (k, v) in velocity.iter_mut().enumerate() {
            *v += match self.owner[k] {
                NO_CLUMP => impulses[k] * self.inverse_mass[k],
                owner => twists[owner as usize].at(self.arm[k]),
            };
        }
    }

    fn along(&self, i: usize, j: usize, direction: DVec3) -> f64 {
        match self.owner[i] {
            NO_CLUMP if i == j => self.inverse_mass[i],
            owner if owner != NO_CLUMP && owner == self.owner[j] => {
                let Response { inverse_mass, inverse_inertia } = self.responses[owner as usize];
                let torque = self.arm[j].cross(direction);
                let felt = if i == j { torque } else { self.arm[i].cross(direction) };
                inverse_mass + (inverse_inertia * torque).dot(felt)
            }
            _ => 0.0,
        }
    }
}
