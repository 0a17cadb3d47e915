//! What moves as one: particles on their own, and clumps.

use glam::DVec3;

use crate::geometry::{Particles, volume};
use crate::projection::NO_CLUMP;

/// The bodies of a moment, in the order of their spheres. A body of a clump has the centre X = Σ m x / Σ m, across periodic
/// boundaries too.
#[derive(Clone, Debug)]
pub struct Bodies<'a> {
    particles: &'a Particles,
    /// The body of each particle.
    of: Vec<u32>,
    /// From the centre of its body to each particle (length).
    arm: Vec<DVec3>,
    /// The first sphere of each body, and the end of the last.
    first: Vec<usize>,
    /// Centres of mass (length).
    centre: Vec<DVec3>,
}

impl<'a> Bodies<'a> {
    /// The bodies of particles, of which the clump of each is known, [`NO_CLUMP`] in none; empty where there are no clumps. The
    /// spheres of a clump follow each other.
    #[must_use]
    pub fn of(particles: &'a Particles, clump: &[u32]) -> Self {
        let owner = |i: usize| clump.get(i).copied().unwrap_or(NO_CLUMP);
        let mut bodies = Self {
            particles,
            of: Vec::with_capacity(particles.len()),
            arm: vec![DVec3::ZERO; particles.len()],
            first: Vec::new(),
            centre: Vec::new(),
        };
        for i in 0..particles.len() {
            if i == 0 || owner(i) == NO_CLUMP || owner(i) != owner(i - 1) {
                bodies.first.push(i);
            }
            bodies.of.push(bodies.first.len() as u32 - 1);
        }
        bodies.first.push(particles.len());
        for body in 0..bodies.len() {
            let spheres = bodies.spheres(body);
            let first = spheres.start;
            let mut centre = particles.position[first];
            if spheres.len() > 1 {
                let mass: f64 = particles.mass[spheres.clone()].iter().sum();
                let moment = spheres.clone().map(|i| particles.mass[i] * particles.offset(first, i)).sum::<DVec3>();
                centre += moment / mass;
                let to_first = particles.position[first] - centre;
                spheres.for_each(|i| bodies.arm[i] = to_first + particles.offset(first, i));
            }
            bodies.centre.push(centre);
        }
        bodies
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their spheres.
    #[must_use]
    pub fn particles(&self) -> &'a Particles {
        self.particles
    }

    /// The spheres of one.
    #[must_use]
    pub fn spheres(&self, body: usize) -> std::ops::Range<usize> {
        self.first[body]..self.first[body + 1]
    }

    /// The body that a particle is or belongs to.
    #[must_use]
    pub fn body(&self, particle: u32) -> usize {
        self.of[particle as usize] as usize
    }

    /// From the centre of its body to a particle (length).
    #[must_use]
    pub fn arm(&self, particle: u32) -> DVec3 {
        self.arm[particle as usize]
    }

    /// Centres of mass (length).
    #[must_use]
    pub fn centres(&self) -> &[DVec3] {
        &self.centre
    }

    /// Who a body is for life: the id of its first sphere. These increase.
    #[must_use]
    pub fn id(&self, body: usize) -> u64 {
        self.particles.id[self.first[body]]
    }

    /// The body with this id, if it is there.
    #[must_use]
    pub fn find(&self, id: u64) -> Option<usize> {
        let starts = &self.first[..self.len()];
        starts.binary_search_by_key(&id, |first| self.particles.id[*first]).ok()
    }

    /// The sum of the volumes of its spheres; in 2D of areas. Where they overlap, the overlap counts for each.
    #[must_use]
    pub fn volume(&self, body: usize, dimension: usize) -> f64 {
        self.particles.radius[self.spheres(body)].iter().map(|radius| volume(*radius, dimension)).sum()
    }

    /// The mean diameter (length), of a clump that of the ball about its centre of mass that holds it; 0 without bodies.
    #[must_use]
    pub fn mean_diameter(&self) -> f64 {
        let reach = |i: usize| self.arm[i].length() + self.particles.radius[i];
        let reaches = (0..self.len()).map(|body| self.spheres(body).map(reach).fold(0.0, f64::max));
        2.0 * reaches.sum::<f64>() / self.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Cell;

    #[test]
    fn clumps_are_one_body_also_across_a_boundary() {
        let cell = Cell::new([Some([0.0, 10.0]), None, None]).unwrap();
        let mut particles = Particles { cell: Some(cell), ..Particles::default() };
        for (x, mass) in [(5.0, 1.0), (9.5, 1.0), (0.5, 3.0), (3.0, 1.0), (4.0, 1.0)] {
            particles.push(DVec3::X * x, 0.5, mass);
        }
        let bodies = Bodies::of(&particles, &[NO_CLUMP, 0, 0, 1, 1]);
        assert_eq!((bodies.len(), bodies.body(0), bodies.body(2), bodies.body(3)), (3, 0, 1, 2));
        assert_eq!(bodies.centres(), [DVec3::X * 5.0, DVec3::X * 10.25, DVec3::X * 3.5]);
        assert_eq!((bodies.arm(0), bodies.arm(1), bodies.arm(2)), (DVec3::ZERO, DVec3::X * -0.75, DVec3::X * 0.25));
        assert_eq!((bodies.id(2), bodies.find(3), bodies.find(2)), (3, Some(2), None));
        assert_eq!(bodies.volume(1, 2), 2.0 * volume(0.5, 2));
        assert!((bodies.mean_diameter() - 2.0 * (0.5 + 1.25 + 1.0) / 3.0).abs() < 1e-15);
        let alone = Bodies::of(&particles, &[]);
        assert_eq!((alone.len(), alone.centres(), alone.mean_diameter()), (5, &particles.position[..], 1.0));
        let nobody = Particles::default();
        assert!(Bodies::of(&nobody, &[]).is_empty() && Bodies::of(&nobody, &[]).mean_diameter() == 0.0);
    }
}
