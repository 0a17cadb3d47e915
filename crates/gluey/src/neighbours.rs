//! Pairs within reach, by bucket sort.
//!
//! Each particle gets a ball around its centre that holds all it may touch in the step; only particles whose balls meet
//! can meet. Space is cut in cubes of side ν = 2 max(extent), so that such a pair lies in the same or in adjacent cubes.
//! The cubes are hashed into as many buckets as there are particles: the cost is O(N) however far a particle has flown.

use glam::DVec3;

/// All pairs i < j whose balls meet, sorted.
#[must_use]
pub fn pairs(position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    let grid = Grid::new(position, extent);
    let mut partners = Vec::new();
    let mut found = Vec::new();
    for i in 0..position.len() as u32 {
        grid.partners(i, position[i as usize], extent[i as usize], &mut partners);
        found.extend(partners.iter().map(|&j| (i, j)));
    }
    found
}

/// The same by looking at every pair: what the tests compare with.
#[must_use]
pub fn pairs_by_brute_force(position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for i in 0..position.len() {
        for j in i + 1..position.len() {
            let other = Entry { centre: position[j], extent: extent[j], cube: [0; 3], id: j as u32 };
            if within(position[i], extent[i], &other) {
                found.push((i as u32, j as u32));
            }
        }
    }
    found
}

fn within(centre: DVec3, extent: f64, other: &Entry) -> bool {
    centre.distance_squared(other.centre) <= (extent + other.extent).powi(2)
}

#[derive(Clone, Copy)]
struct Entry {
    centre: DVec3,
    extent: f64,
    cube: Cube,
    id: u32,
}

/// Which cube, along each axis. Far beyond what 32 bits count, all cubes are taken for the last: correct, only slower.
type Cube = [i32; 3];

/// Particles sorted by the bucket of their cube.
pub struct Grid {
    inverse_side: f64,
    mask: usize,
    /// Where each bucket starts among the entries, and the next one after it.
    start: Vec<u32>,
    entries: Vec<Entry>,
    /// The least and greatest cube in each direction: a flat scene visits 9 cubes instead of 27.
    least: Cube,
    greatest: Cube,
}

impl Grid {
    /// Sorts balls with these centres and extents (radii) into buckets.
    #[must_use]
    pub fn new(position: &[DVec3], extent: &[f64]) -> Self {
        let buckets = position.len().next_power_of_two();
        let mut grid = Self {
            inverse_side: (2.0 * extent.iter().copied().fold(f64::MIN_POSITIVE, f64::max)).recip(),
            mask: buckets - 1,
            start: vec![0; buckets + 2],
            entries: vec![Entry { centre: DVec3::ZERO, extent: 0.0, cube: [0; 3], id: 0 }; position.len()],
            least: [i32::MAX; 3],
            greatest: [i32::MIN; 3],
        };
        // `start[b + 2]` counts the entries of bucket b; summed up, `start[b + 1]` tells where its next entry goes, and in
        // the end where bucket b ends.
        for &x in position {
            let cube = grid.cube(x);
            let bucket = grid.bucket(cube);
            grid.start[bucket + 2] += 1;
            for (axis, at) in cube.into_iter().enumerate() {
                grid.least[axis] = grid.least[axis].min(at);
                grid.greatest[axis] = grid.greatest[axis].max(at);
            }
        }
        for bucket in 1..=buckets {
            grid.start[bucket + 1] += grid.start[bucket];
        }
        for (i, (&centre, &extent)) in position.iter().zip(extent).enumerate() {
            let cube = grid.cube(centre);
            let next = grid.bucket(cube) + 1;
            grid.entries[grid.start[next] as usize] = Entry { centre, extent, cube, id: i as u32 };
            grid.start[next] += 1;
        }
        grid
    }

    /// Fills `found` with those after particle i whose balls meet its own, sorted.
    pub fn partners(&self, i: u32, centre: DVec3, extent: f64, found: &mut Vec<u32>) {
        found.clear();
        self.visit(self.cube(centre), |other| {
            if other.id > i && within(centre, extent, other) {
                found.push(other.id);
            }
        });
        found.sort_unstable();
    }

    fn cube(&self, x: DVec3) -> Cube {
        x.to_array().map(|c| {
            let scaled = c * self.inverse_side;
            let towards_zero = scaled as i32; // saturates
            towards_zero.saturating_sub(i32::from(scaled < f64::from(towards_zero)))
        })
    }

    fn bucket(&self, cube: Cube) -> usize {
        // Large odd multipliers, then a mix of high bits into low ones: neighbouring cubes fall into unrelated buckets.
        let [x, y, z] = cube.map(|c| u64::from(c.cast_unsigned()));
        let mut key = x
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
            .wrapping_add(z.wrapping_mul(0x1656_67B1_9E37_79F9));
        key = (key ^ (key >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (key >> 32) as usize & self.mask
    }

    /// Every entry in a cube and those around it, each once.
    fn visit(&self, home: Cube, mut found: impl FnMut(&Entry)) {
        let range = |axis: usize| {
            let from = home[axis].saturating_sub(1).max(self.least[axis]);
            from..=home[axis].saturating_add(1).min(self.greatest[axis])
        };
        for cx in range(0) {
            for cy in range(1) {
                for cz in range(2) {
                    let cube = [cx, cy, cz];
                    let bucket = self.bucket(cube);
                    let (from, to) = (self.start[bucket] as usize, self.start[bucket + 1] as usize);
                    // Other cubes share the bucket: only entries of this one count, or a pair would be seen twice.
                    for entry in &self.entries[from..to] {
                        if entry.cube == cube {
                            found(entry);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cloud(flat: bool) -> impl Strategy<Value = Vec<(DVec3, f64)>> {
        let depth = if flat { 0.0 } else { 3.0 };
        let particle = ((-3.0..3.0, -3.0..3.0, 0.0..=1.0), 0.05..0.5)
            .prop_map(move |((x, y, z), extent)| (DVec3::new(x, y, z * depth), extent));
        prop::collection::vec(particle, 0..120)
    }

    fn agrees(cloud: &[(DVec3, f64)], stretch: f64) {
        let position: Vec<DVec3> = cloud.iter().map(|p| p.0 * stretch).collect();
        let extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
        assert_eq!(pairs(&position, &extent), pairs_by_brute_force(&position, &extent));
    }

    proptest! {
        #[test]
        fn buckets_find_what_brute_force_finds(cloud in cloud(false)) {
            agrees(&cloud, 1.0);
        }

        #[test]
        fn also_in_a_plane_and_far_apart(cloud in cloud(true), stretch in prop::sample::select(vec![0.01, 1.0, 1e9])) {
            agrees(&cloud, stretch);
        }
    }

    #[test]
    fn a_runaway_particle_costs_nothing_and_changes_nothing() {
        let mut position: Vec<DVec3> = (0..50).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
        position.push(DVec3::new(1e300, -1e300, 0.0));
        assert_eq!(pairs(&position, &[0.51; 51]).len(), 49);
    }
}
