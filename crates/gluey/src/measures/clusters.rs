//! Bodies that hang together.

use glam::DVec3;

use super::{Bodies, Figure, Fit, Quantity};
use crate::contact::{ContactGeometry, Partner};

/// Clusters: bodies that contacts join, directly or through others. Obstacles join nobody. A body alone is a cluster of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    /// The bodies of each cluster in ascending order; the largest cluster first, of equal ones that with the least body.
    members: Vec<Vec<u32>>,
    /// Where the centre of each body is, seen from one of its cluster: along the branches of contacts, so that a cluster that reaches
    /// across a periodic boundary stays in one piece (length).
    place: Vec<DVec3>,
}

impl Clusters {
    /// The table of their figures, with the radius of gyration and the sandbox of the largest.
    #[must_use]
    pub fn figures(&self, gyration: f64, sandbox: Option<&Fit>) -> [Figure; 5] {
        [
            Figure {
                name: "count",
                key: "clusters.count",
                about: "clusters of two bodies or more",
                unit: "",
                value: Quantity::Count(self.count().cast_signed() as i64),
            },
            Figure {
                name: "largest",
                key: "clusters.largest",
                about: "bodies of the largest",
                unit: "",
                value: Quantity::Count(self.largest().cast_signed() as i64),
            },
            Figure {
                name: "size",
                key: "clusters.mean_size",
                about: "Σ n²/Σ n: the size of the cluster that a body is in, on average",
                unit: "",
                value: Quantity::Number(self.mean_size()),
            },
            Figure {
                name: "gyration",
                key: "clusters.gyration_radius",
                about: "radius of gyration of the largest, R_g² = ⟨|x − ⟨x⟩|²⟩",
                unit: "length",
                value: Quantity::Number(gyration),
            },
            Figure {
                name: "dimension",
                key: "fractal_dimension.sandbox.dimension",
                about: "fractal dimension of the largest, by the sandbox; `NaN` while it is too small",
                unit: "",
                value: Quantity::Number(sandbox.map_or(f64::NAN, |fit| fit.dimension)),
            },
        ]
    }

    /// The clusters of a moment.
    #[must_use]
    pub fn of(bodies: &Bodies, contacts: &[ContactGeometry]) -> Self {
        let radius = &bodies.particles().radius;
        let mut links: Vec<Vec<(u32, DVec3)>> = vec![Vec::new(); bodies.len()];
        for ContactGeometry { contact, gap, normal } in contacts {
            if let (i, Partner::Particle(j)) = (contact.pair.first(), contact.pair.partner()) {
                let between = *normal * (radius[i as usize] + radius[j as usize] + gap);
                let branch = bodies.arm(i) + between - bodies.arm(j);
                let (i, j) = (bodies.body(i), bodies.body(j));
                links[i].push((j as u32, branch));
                links[j].push((i as u32, -branch));
            }
        }
        let mut place = bodies.centres().to_vec();
        let mut seen = vec![false; bodies.len()];
        let mut members: Vec<Vec<u32>> = Vec::new();
        for first in 0..bodies.len() as u32 {
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
        members.sort_by_key(|cluster| std::cmp::Reverse(cluster.len())); // stable: the least body decides
        Self { members, place }
    }

    /// The bodies of each, largest cluster first.
    #[must_use]
    pub fn members(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// How many there are of two or more bodies.
    #[must_use]
    pub fn count(&self) -> usize {
        self.members.partition_point(|cluster| cluster.len() > 1)
    }

    /// How many bodies the largest has; 0 without bodies.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.members.first().map_or(0, Vec::len)
    }

    /// The size of the cluster that a body is in, on average over bodies: Σ n²/Σ n.
    #[must_use]
    pub fn mean_size(&self) -> f64 {
        let sum = |power: i32| self.members.iter().map(|cluster| (cluster.len() as f64).powi(power)).sum::<f64>();
        if self.members.is_empty() { 0.0 } else { sum(2) / sum(1) }
    }

    /// Where the centres of a cluster are, by its place in the list of members, in one piece (length).
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
    use crate::geometry::{Cell, Particles};

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
        let clusters = Clusters::of(&Bodies::of(&particles, &[]), &contacts);
        assert_eq!(clusters.members(), [vec![0, 3, 5], vec![1, 4], vec![2]]);
        assert_eq!((clusters.count(), clusters.largest()), (2, 3));
        assert!((clusters.mean_size() - 14.0 / 6.0).abs() < 1e-15);
        assert_eq!(clusters.shape(1), [DVec3::X * 9.5, DVec3::X * 10.5]);
        assert_eq!(clusters.shape(7), []);
        assert_eq!(Clusters::of(&Bodies::of(&Particles::default(), &[]), &[]).mean_size(), 0.0);
        // 1 and 2 in one clump: two bodies of a cluster, their centres 0.5 and 1 from the spheres that touch.
        let cell = Cell::new([Some([0.0, 10.0]), None, None]).unwrap();
        let mut particles = Particles { cell: Some(cell), ..Particles::default() };
        for x in [8.5, 9.5, 0.5, 1.5] {
            particles.push(DVec3::X * x, 0.5, 1.0);
        }
        let bodies = Bodies::of(&particles, &[0, 0, 1, 1]);
        let clusters = Clusters::of(&bodies, &[touch(Pair::particles(1, 2), DVec3::X)]);
        assert_eq!((clusters.members(), clusters.largest()), (&[vec![0, 1]][..], 2));
        assert_eq!(clusters.shape(0), [DVec3::X * 9.0, DVec3::X * 11.0]);
    }
}
