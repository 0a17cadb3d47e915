//! How well the groups of particles are mixed.

use std::collections::BTreeMap;

use glam::DVec3;
use rstar::RTree;
use rstar::primitives::GeomWithData;

use crate::geometry::Particles;

/// In a periodic cell images are looked at up to so many periods away: even a single other has as many as are needed.
const PERIODS: f64 = 6.0;

/// Neighbours of a particle that are looked at: as many as touch one in the densest packing.
fn neighbours(dimension: usize) -> usize {
    if dimension == 2 { 6 } else { 12 }
}

/// How well the groups are mixed: the share of strangers, particles of another group, among the nearest six (twelve in 3D)
/// of each particle, relative to that in a random arrangement. 0 where the groups are far apart, 1 where a particle's
/// place tells nothing of its group. None if there are not two groups.
#[must_use]
pub fn mixing(particles: &Particles, dimension: usize) -> Option<f64> {
    let count = particles.len() as f64;
    let mut sizes: BTreeMap<u32, f64> = BTreeMap::new();
    for group in &particles.group {
        *sizes.entry(*group).or_default() += 1.0;
    }
    if sizes.len() < 2 {
        return None;
    }
    // A particle of a group of n has N − n strangers among the N − 1 others.
    let random: f64 = sizes.values().map(|n| n / count * (count - n) / (count - 1.0)).sum();
    let mut places: Vec<_> =
        particles.position.iter().zip(0_u32..).map(|(x, i)| GeomWithData::new(x.to_array(), i)).collect();
    // In a periodic cell with all images that are nearer than half the longest period.
    if let Some(cell) = &particles.cell {
        let images = |(x, i): (&DVec3, u32)| {
            let (x, shifts) = (*x, cell.shifts_near(*x, 0.5 * cell.period().max_element(), PERIODS));
            shifts.filter(|shift| *shift != DVec3::ZERO).map(move |shift| GeomWithData::new((x + shift).to_array(), i))
        };
        places.extend(particles.position.iter().zip(0_u32..).flat_map(images));
    }
    let tree = RTree::bulk_load(places);
    let strangers = |i: usize| {
        let near = tree.nearest_neighbor_iter(particles.position[i].to_array());
        let others = near.map(|point| point.data as usize).filter(|j| *j != i).take(neighbours(dimension));
        let (mut strangers, mut seen) = (0.0, 0.0);
        for j in others {
            seen += 1.0;
            strangers += f64::from(u8::from(particles.group[j] != particles.group[i]));
        }
        strangers / seen
    };
    Some((0..particles.len()).map(strangers).sum::<f64>() / count / random)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn lattice(mut group: impl FnMut(i32, i32) -> u32) -> Particles {
        let mut particles = Particles::default();
        for (i, j) in (0..20).flat_map(|i| (0..20).map(move |j| (i, j))) {
            particles.push(DVec3::new(f64::from(i) + 0.5 * f64::from(j % 2), 0.866 * f64::from(j), 0.0), 0.5, 1.0);
            if let Some(last) = particles.group.last_mut() {
                *last = group(i, j);
            }
        }
        particles
    }

    #[test]
    fn mixing_is_0_apart_and_1_at_random() {
        let halves = mixing(&lattice(|i, _| u32::from(i >= 10)), 2).unwrap();
        assert!((0.05..0.15).contains(&halves), "only those at the border have strangers beside them: {halves}");
        let mut dice = Pcg64::seed_from_u64(1);
        let random = mixing(&lattice(|_, _| u32::from(dice.random::<bool>())), 2);
        assert!((random.unwrap() - 1.0).abs() < 0.1, "{random:?}");
        assert_eq!(mixing(&lattice(|_, _| 3), 2), None);
    }
}
