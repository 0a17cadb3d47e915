//! How many contacts particles have.

use super::{Bodies, Figure, Quantity};
use crate::contact::{ContactGeometry, Partner};

/// Contacts per body. A contact of two bodies counts for both; every feature of an obstacle that is touched counts
/// for one, and so does every pair of spheres by which two clumps touch. Contacts are those of the state: glued, or pushing or
/// pulling in the last step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordination {
    /// Mean number of contacts of a body with others, Z = 2 N_c / N.
    pub mean: f64,
    /// The same with obstacles.
    pub with_obstacles: f64,
    /// `distribution[k]` bodies have k contacts, with obstacles.
    pub distribution: Vec<usize>,
    /// How many have none.
    pub free: usize,
    /// How many have fewer than the d + 1 that hold a frictionless sphere from all sides, with obstacles: none of them can
    /// bear a load that only pushes. A clump also turns, and takes d(d + 1)/2 + 1. Under gravity, which is one more push, a
    /// particle at rest on d others is among them.
    pub rattlers: usize,
}

impl Coordination {
    /// The table of its figures.
    #[must_use]
    pub fn figures(&self) -> [Figure; 4] {
        let whole = self.distribution.iter().sum();
        [
            Figure {
                name: "particles",
                key: "coordination.particles",
                about: "contacts with others that a body has, on average",
                unit: "",
                value: Quantity::Number(self.mean),
            },
            Figure {
                name: "all",
                key: "coordination.with_obstacles",
                about: "contacts that a body has, those with obstacles too",
                unit: "",
                value: Quantity::Number(self.with_obstacles),
            },
            Figure {
                name: "free",
                key: "coordination.free",
                about: "bodies without any contact",
                unit: "share",
                value: Quantity::Share { part: self.free, whole },
            },
            Figure {
                name: "rattlers",
                key: "coordination.rattlers",
                about: "bodies with too few contacts to be held by pushes alone",
                unit: "share",
                value: Quantity::Share { part: self.rattlers, whole },
            },
        ]
    }

    /// Counts the contacts of a moment.
    #[must_use]
    pub fn of(bodies: &Bodies, contacts: &[ContactGeometry], dimension: usize) -> Self {
        let mut counts = vec![0_usize; bodies.len()];
        let (mut between, mut with_walls) = (0_usize, 0_usize);
        for ContactGeometry { contact, .. } in contacts {
            counts[bodies.body(contact.pair.first())] += 1;
            match contact.pair.partner() {
                Partner::Particle(j) => {
                    counts[bodies.body(j)] += 1;
                    between += 1;
                }
                Partner::Obstacle { .. } => with_walls += 1,
            }
        }
        let mut distribution = vec![0; counts.iter().max().map_or(0, |most| most + 1)];
        for count in &counts {
            distribution[*count] += 1;
        }
        let needed =
            |body: usize| if bodies.spheres(body).len() > 1 { dimension * (dimension + 1) / 2 } else { dimension };
        let all = bodies.len().max(1) as f64;
        Self {
            mean: 2.0 * between as f64 / all,
            with_obstacles: (2 * between + with_walls) as f64 / all,
            free: distribution.first().copied().unwrap_or(0),
            rattlers: counts.iter().enumerate().filter(|(body, count)| **count <= needed(*body)).count(),
            distribution,
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::contact::{Contact, Pair};
    use crate::geometry::Particles;
    use crate::projection::NO_CLUMP;

    #[test]
    fn contacts_count_for_both_and_walls_apart() {
        let mut particles = Particles::default();
        (0..4).for_each(|i| particles.push(DVec3::X * f64::from(i), 0.5, 1.0));
        let pairs = [Pair::particles(0, 1), Pair::particles(1, 2), Pair::obstacle(0, 0, 0), Pair::obstacle(1, 0, 1)];
        let contact = |pair| Contact { pair, gamma: 0.0, impulse: 1.0 };
        let geometry = |pair| ContactGeometry { contact: contact(pair), gap: 0.0, normal: DVec3::X };
        let contacts = pairs.map(geometry);
        let found = Coordination::of(&Bodies::of(&particles, &[]), &contacts, 2);
        let expected = Coordination {
            mean: 1.0,
            with_obstacles: 1.5,
            distribution: vec![1, 1, 1, 1],
            free: 1,
            rattlers: 3, // 0, 1 and 2 contacts; three hold a disc
        };
        assert_eq!(found, expected);
        assert_eq!(Coordination::of(&Bodies::of(&Particles::default(), &[]), &[], 3), Coordination::default());
        // 1 and 2 in one clump: three bodies, one contact between them, and a clump that has two.
        let clumped =
            Coordination::of(&Bodies::of(&particles, &[NO_CLUMP, 0, 0, NO_CLUMP]), &[contacts[0], contacts[3]], 2);
        assert_eq!((clumped.mean, clumped.with_obstacles), (2.0 / 3.0, 1.0));
        assert_eq!((clumped.distribution, clumped.rattlers), (vec![1, 1, 1], 3));
    }
}
