//! Particles that hang together.

use glam::DVec3;

use crate::contact::{ContactGeometry, Partner};
use crate::geometry::Particles;

/// Clusters: particles that contacts join, directly or through others. Obstacles join nobody. A particle alone is a cluster
/// of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    /// The particles of each cluster in ascending order; the largest cluster first, of equal ones that with the least
    /// particle.
    members: Vec<Vec<u32>>,
    /// Where each particle is, seen from one of its cluster: along the branches of contacts, so that a cluster that reaches
    /// across a periodic boundary stays in one piece (length).
    place: Vec<DVec3>,
}

impl Clusters {
    /// The clusters of a moment.
    #[must_use]
    pub fn of(particles: &Particles, contacts: &[ContactGeometry]) -> Self {
        let mut links: Vec<Vec<(u32, DVec3)>> = vec![Vec::new(); particles.len()];
        for ContactGeometry { contact, gap, normal } in contacts {
            if let (i, Partner::Particle(j)) = (contact.pair.first(), contact.pair.partner()) {
                let branch = *normal * (particles.radius[i as usize] + particles.radius[j as usize] + gap);
                links[i as usize].push((j, branch));
                links[j as usize].push((i, -branch));
            }
        }
        let mut place = particles.position.clone();
        let mut seen = vec![false; particles.len()];
        let mut members: Vec<Vec<u32>> = Vec::new();
        for first in 0..particles.len() as u32 {
            if std::mem::replace(&mut seen[first as usize], true) {
                continue;
            }
            let mut cluster = vec![first];
            let mut next = 0;
            while let Some(&i) = cluster.get(next) {
                next += 1;
                for &(j, branch) in &links[i as usize] {
                    if !std::mem::replace(&mut seen[j as usize], true) {
                        place[j as usize] = place[i as usize] + branch;
                        cluster.push(j);
                    }
                }
            }
            cluster.sort_unstable();
            members.push(cluster);
        }
        members.sort_by_key(|cluster| std::cmp::Reverse(cluster.len())); // stable: the least particle decides
        Self { members, place }
    }

    /// The particles of each, largest cluster first.
    #[must_use]
    pub fn members(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// How many there are of two or more particles.
    #[must_use]
    pub fn count(&self) -> usize {
        self.members.partition_point(|cluster| cluster.len() > 1)
    }

    /// How many particles the largest has; 0 without particles.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.members.first().map_or(0, Vec::len)
    }

    /// The size of the cluster that a particle is in, on average over particles: Σ n²/Σ n.
    #[must_use]
    pub fn mean_size(&self) -> f64 {
        let sum = |power: i32| self.members.iter().map(|cluster| (cluster.len() as f64).powi(power)).sum::<f64>();
        if self.members.is_empty() { 0.0 } else { sum(2) / sum(1) }
    }

    /// Where the particles of a cluster are, by its place in the list of members, in one piece (length).
    #[must_use]
    pub fn shape(&self, cluster: usize) -> Vec<DVec3> {
        let members = self.members.get(cluster).map_or(&[][..], Vec::as_slice);
        members.iter().map(|i| self.place[*i as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Contact, Pair};

    #[test]
    fn clusters_are_found_sorted_and_unwrapped() {
        let mut particles = Particles::default();
        // 1 and 4 touch across a boundary at x = 10 where x = 0 is again.
        for x in [2.0, 9.5, 5.0, 3.0, 0.5, 4.0] {
            particles.push(DVec3::X * x, 0.5, 1.0);
        }
        let touch = |pair, normal| {
            let contact = Contact { pair, gamma: -1.0, impulse: 0.0 };
            ContactGeometry { contact, gap: 0.0, normal }
        };
        let contacts = [
            touch(Pair::particles(0, 3), DVec3::X),
            touch(Pair::obstacle(0, 0, 0), DVec3::Y),
            touch(Pair::particles(1, 4), DVec3::X),
            touch(Pair::obstacle(1, 0, 0), DVec3::Y),
            touch(Pair::particles(3, 5), DVec3::X),
        ];
        let clusters = Clusters::of(&particles, &contacts);
        assert_eq!(clusters.members(), [vec![0, 3, 5], vec![1, 4], vec![2]]);
        assert_eq!((clusters.count(), clusters.largest()), (2, 3));
        assert!((clusters.mean_size() - 14.0 / 6.0).abs() < 1e-15);
        assert_eq!(clusters.shape(1), [DVec3::X * 9.5, DVec3::X * 10.5]);
        assert_eq!(clusters.shape(7), []);
        assert_eq!(Clusters::of(&Particles::default(), &[]).mean_size(), 0.0);
    }
}
