//! The particles, one column per quantity, in the user's order.

use std::f64::consts::PI;

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use crate::shares::share_of;

/// Spheres (or, in a 2D run, discs in the plane z = 0). All columns have the same length.
///
/// ```
/// use glam::DVec3;
/// use gluey::geometry::Particles;
///
/// let mut particles = Particles::default();
/// particles.push(DVec3::ZERO, 0.5, 1.0); // position, radius, mass
/// particles.push(DVec3::X * 2.0, 1.0, 8.0);
/// particles.velocity[1] = -DVec3::X;
/// assert_eq!(particles.gap(0, 1), (0.5, DVec3::X));
/// assert_eq!(particles.momentum(), DVec3::X * -8.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    /// Centres x_i (length).
    pub position: Vec<DVec3>,
    /// Velocities V_i (length / time).
    pub velocity: Vec<DVec3>,
    /// Radii r_i > 0 (length).
    pub radius: Vec<f64>,
    /// Masses m_i > 0 (mass).
    pub mass: Vec<f64>,
    /// Index of the group each particle belongs to.
    pub group: Vec<u32>,
    /// Who each is, from its first step to its last: numbers that increase and are never used again. Indices change
    /// when others leave, ids do not.
    pub id: Vec<u64>,
    /// How many there have ever been: the id of the next.
    pub born: u64,
    /// The cell with which space repeats, if it does. Centres are then inside after every step.
    pub cell: Option<Cell>,
}

/// Volume of a sphere; in 2D the area of a disc.
#[must_use]
pub fn volume(radius: f64, dimension: usize) -> f64 {
    if dimension == 2 { PI * radius * radius } else { 4.0 / 3.0 * PI * radius.powi(3) }
}

impl Particles {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Adds one particle at rest in group 0 with the next id; set its other columns afterwards.
    pub fn push(&mut self, position: DVec3, radius: f64, mass: f64) {
        self.position.push(position);
        self.velocity.push(DVec3::ZERO);
        self.radius.push(radius);
        self.mass.push(mass);
        self.group.push(0);
        self.id.push(self.born);
        self.born += 1;
    }

    /// Keeps those for which this holds, in their order.
    pub fn retain(&mut self, stays: impl Fn(usize) -> bool) {
        retain(&mut self.position, &stays);
        retain(&mut self.velocity, &stays);
        retain(&mut self.radius, &stays);
        retain(&mut self.mass, &stays);
        retain(&mut self.group, &stays);
        retain(&mut self.id, &stays);
    }

    /// xⁿ⁺¹ = xⁿ + hVⁿ⁺¹ with the velocities given.
    pub fn advance(&mut self, velocity: &[DVec3], dt: f64) {
        debug_assert_eq!(velocity.len(), self.len(), "one velocity a particle");
        let share = share_of(velocity.len());
        let kept = self.velocity.par_chunks_mut(share);
        let pieces = self.position.par_chunks_mut(share).zip(kept).zip(velocity.par_chunks(share));
        pieces.for_each(|((position, kept), velocity)| {
            kept.copy_from_slice(velocity);
            position.iter_mut().zip(velocity).for_each(|(x, v)| *x += *v * dt);
        });
        self.wrap();
    }

    /// Takes every centre to its image inside the periodic cell.
    pub fn wrap(&mut self) {
        if let Some(cell) = self.cell {
            self.position.iter_mut().for_each(|x| *x = cell.wrap(*x));
        }
    }

    /// x_j − x_i, in a periodic cell to the nearest image of j.
    #[must_use]
    #[inline]
    pub fn offset(&self, i: usize, j: usize) -> DVec3 {
        let offset = self.position[j] - self.position[i];
        match &self.cell {
            None => offset,
            Some(cell) => cell.shortest(offset),
        }
    }

    /// The centre of j, in a periodic cell of its image that is nearest to i.
    #[must_use]
    pub fn seen_from(&self, i: usize, j: usize) -> DVec3 {
        if self.cell.is_none() { self.position[j] } else { self.position[i] + self.offset(i, j) }
    }

    /// Signed gap D_ij and unit normal e_ij from i to j. Concentric spheres get the x axis as their normal.
    #[must_use]
    #[inline]
    pub fn gap(&self, i: usize, j: usize) -> (f64, DVec3) {
        self.gap_across(self.offset(i, j), i, j)
    }

    /// The same where the offset from i to j is at hand.
    #[inline]
    pub(crate) fn gap_across(&self, offset: DVec3, i: usize, j: usize) -> (f64, DVec3) {
        let distance = offset.length();
        let normal = if distance > 0.0 { offset / distance } else { DVec3::X };
        (distance - self.radius[i] - self.radius[j], normal)
    }

    /// The smallest radius, the length scale of every tolerance; infinite when there are no particles.
    #[must_use]
    pub fn smallest_radius(&self) -> f64 {
        self.radius.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// ½ Σ m |V|² (energy).
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        self.mass.iter().zip(&self.velocity).map(|(m, v)| 0.5 * m * v.length_squared()).sum()
    }

    /// Σ m V (momentum).
    #[must_use]
    pub fn momentum(&self) -> DVec3 {
        self.mass.iter().zip(&self.velocity).map(|(m, v)| *v * *m).sum()
    }
}

/// Keeps the entries of a column whose index this holds for, in their order.
pub(crate) fn retain<T>(column: &mut Vec<T>, stays: impl Fn(usize) -> bool) {
    let mut index = 0..column.len();
    column.retain(|_| index.next().is_some_and(&stays));
}
