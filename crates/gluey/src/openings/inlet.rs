//! Where particles come from while a run goes on.

use glam::DVec3;

use super::crowd::Crowd;
use super::{Amount, Entered, Inside, Region, dice};
use crate::environment::{Dimension, EnvironmentError, Signal, Span};
use crate::geometry::Placed;

/// Places that are tried in vain, one after the other, before an inlet gives up until the next step.
const TRIES: u32 = 100;
/// Above the rounding of a time, relative to the number of particles: whole numbers are not missed.
const ROUNDING: f64 = 1e-9;
/// Particles are numbered in 32 bits.
const MOST: usize = u32::MAX as usize - 1;

/// What the particles of an inlet weigh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// All the same.
    Mass(f64),
    /// In proportion to their volume, that of a disc of unit thickness in 2D.
    Density(f64),
}

/// A region in which particles appear, at a rate, clear of all that is there.
#[derive(Clone, Debug)]
pub struct Inlet {
    /// What summaries call it.
    pub name: String,
    /// Where they appear, whole: a bounded region.
    pub region: Region,
    /// How many a time a(t) ≥ 0 (1 / time).
    pub rate: Signal,
    /// When it opens (time).
    pub from: f64,
    /// When it closes (time), infinite if never.
    pub until: f64,
    /// Most particles in all.
    pub limit: u64,
    /// Least and greatest radius, of a uniform distribution (length).
    pub radii: [f64; 2],
    /// What they weigh.
    pub weight: Weight,
    /// Their group.
    pub group: u32,
    /// Their velocity (length / time).
    pub velocity: DVec3,
}

impl Inlet {
    /// How many have to have entered by a time: ⌊∫ a dt⌋ from its opening on, and no more than the limit.
    pub fn due(&self, time: f64) -> Result<u64, EnvironmentError> {
        let open = time.min(self.until) - self.from;
        if open <= 0.0 {
            return Ok(0);
        }
        let mean = self.rate.mean_of(&format!("rate of inlet `{}`", self.name), Span { start: self.from, dt: open })?;
        let whole = mean * open;
        Ok(((whole * (1.0 + ROUNDING)).floor() as u64).min(self.limit))
    }

    /// The mass of a particle.
    #[must_use]
    pub fn mass(&self, radius: f64, dimension: Dimension) -> f64 {
        match self.weight {
            Weight::Mass(mass) => mass,
            Weight::Density(density) => density * dimension.volume(radius),
        }
    }

    /// Lets in those that are due, as far as there is room. Radii belong to the particles, so that their distribution
    /// is that of the inlet however crowded it is; places belong to the tries.
    pub(super) fn admit(&self, due: u64, door: &Door, so_far: &mut Entered, inside: &mut Inside) {
        if so_far.amount.number >= due {
            return;
        }
        let directions = door.dimension.directions();
        let crowd = Crowd::near(&self.region, self.radii[1], inside.particles);
        let known = inside.particles.len();
        let mut in_vain = 0;
        while so_far.amount.number < due && in_vain < TRIES && inside.particles.len() < MOST {
            let radius = self.radius(so_far.amount.number, door);
            let unit = dice::unit(door.seed, 2 * door.index, so_far.tries);
            so_far.tries += 1;
            let clear = |centre: &DVec3| {
                let new = known..inside.particles.len();
                let new = new.map(|k| (inside.particles.position[k], inside.particles.radius[k]));
                crowd.has_room(*centre, radius, new) && is_clear(door.obstacles, *centre, radius)
            };
            let Some(centre) = self.region.place(radius, unit, directions).filter(clear) else {
                in_vain += 1;
                continue;
            };
            in_vain = 0;
            let mass = self.mass(radius, door.dimension);
            inside.add(inside.particles.cell.map_or(centre, |cell| cell.wrap(centre)), radius, mass);
            let last = inside.particles.len() - 1;
            inside.particles.velocity[last] = self.velocity;
            inside.particles.group[last] = self.group;
            so_far.amount += Amount { number: 1, volume: door.dimension.volume(radius), mass };
        }
    }

    /// A place for the smallest particle between obstacles alone, of so many tries; the first of a run of its own.
    #[must_use]
    pub fn has_room_between(&self, obstacles: &[Placed], dimension: Dimension, tries: u64) -> bool {
        let place = |k| self.region.place(self.radii[0], dice::unit(0, 0, k), dimension.directions());
        (0..tries).filter_map(place).any(|centre| is_clear(obstacles, centre, self.radii[0]))
    }

    fn radius(&self, number: u64, door: &Door) -> f64 {
        let [least, greatest] = self.radii;
        least + (greatest - least) * dice::unit(door.seed, 2 * door.index + 1, number).x
    }
}

/// What surrounds an inlet at the end of a step.
pub(super) struct Door<'a> {
    /// Which inlet of the scene it is.
    pub index: u64,
    pub seed: u64,
    pub dimension: Dimension,
    pub obstacles: &'a [Placed<'a>],
}

/// Whether a particle touches no obstacle.
fn is_clear(obstacles: &[Placed], centre: DVec3, radius: f64) -> bool {
    obstacles.iter().all(|obstacle| obstacle.leaves_room(centre, radius, 0.0))
}
