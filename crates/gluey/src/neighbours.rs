//! Pairs within reach, by bucket sort.
//!
//! Each particle gets a ball around its centre that holds all it may touch in the step; only particles whose balls meet
//! can meet. Space is cut in cubes of side ν = 2 max(extent), so that such a pair lies in the same or in adjacent cubes.
//! The cubes are hashed into as many buckets as there are particles: the cost is O(N) however far a particle has flown.
//!
//! [`Neighbours`] keeps what the buckets gave for balls that are a skin larger, for as long as that provably serves.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::geometry::Cell;
use crate::room::make_room;
use crate::shares::share_of;

/// Particles per parallel task: fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 512;
/// Chunks searched before their results are joined: bounds what is held twice.
const BATCH: usize = 8;
/// Particles whose mean displacement is taken for the drift of the crowd.
const SAMPLES: usize = 64;
/// A list whose balls exceed the present ones by so many times what those of a new list would,
const TOO_WIDE: f64 = 2.0;
/// and by this share of the present ones, is longer than it need be.
const SPARE: f64 = 0.15;
/// Rounding of distances, relative to the balls: far above that of f64, far below any skin.
const ROUNDING: f64 = 1e-12;

/// Pairs near each other, in a list that serves for several steps.
///
/// It holds all pairs i < j whose enlarged balls met when it was made, |x_i − x_j| ≤ E_i + E_j with E_i = extent_i + skin_i.
/// Let x' and e' be centres and extents now. If there is a vector c, any at all, with
///
/// |x'_i − x_i − c| + e'_i ≤ E_i for every i,
///
/// then every pair whose present balls meet is in the list, because
///
/// |x_i − x_j| ≤ |x'_i − x'_j| + |x'_i − x_i − c| + |x'_j − x_j − c|
///             ≤ e'_i + e'_j + (E_i − e'_i) + (E_j − e'_j) = E_i + E_j.
///
/// Here c is the mean displacement of a few particles: a crowd that drifts as one needs no new list. The list holds more
/// pairs than those that meet, and how many depends on when it was made: who asks must look at each.
///
/// In a periodic cell the same holds with x'_i − x_i − c up to periods: what a particle is off by whole periods, its image at
/// the time of the list was off by, too, and a pair was listed if any images of the two met.
///
/// The centres are remembered as f32 relative to one of them; the condition allows for what that may be off.
#[derive(Default)]
pub struct Neighbours {
    /// With which the list was made.
    cell: Option<Cell>,
    origin: DVec3,
    reference: Vec<Reference>,
    /// Where the partners of each particle start, and those of the next one after it.
    start: Vec<u32>,
    partners: Vec<u32>,
}

/// Centre and extent of an enlarged ball.
#[derive(Clone, Copy)]
struct Reference {
    centre: Vec3,
    extent: f32,
}

impl Reference {
    /// How far the centre may be from here for a ball of this extent to stay inside; negative when it never is.
    fn room(&self, extent: f64) -> f64 {
        // Rounding to f32 moved each coordinate by at most 2⁻²⁴ of itself; twice that also covers the sums here.
        let rounding = f64::from(self.centre.abs().element_sum()) * f64::from(f32::EPSILON);
        f64::from(self.extent) * (1.0 - ROUNDING) - rounding - extent
    }
}

impl Neighbours {
    /// Makes sure that the list has all pairs whose balls meet: it stays as it is if it has, and is made for balls a skin
    /// larger otherwise, or where it is much longer than such a list would be. Tells whether it was made. Any skins are
    /// right; the wider they are the longer the list is and the longer it lasts.
    pub fn cover(
        &mut self,
        cell: Option<&Cell>,
        position: &[DVec3],
        extent: &[f64],
        skin: impl Fn(usize) -> f64 + Sync,
    ) -> bool {
        let stale = self.cell.as_ref() != cell || !self.covers(position, extent, &skin);
        if stale {
            self.cell = cell.copied();
            self.make(position, extent, skin);
        }
        stale
    }

    /// Takes pairs out of the list that never matter, until it is made anew.
    pub fn retain(&mut self, keep: impl Fn(u32, u32) -> bool) {
        let (mut from, mut kept) = (0, 0);
        for i in 0..self.reference.len() {
            for at in from..self.start[i + 1] as usize {
                if keep(i as u32, self.partners[at]) {
                    self.partners[kept] = self.partners[at];
                    kept += 1;
                }
            }
            from = self.start[i + 1] as usize;
            self.start[i + 1] = kept as u32;
        }
        self.partners.truncate(kept);
    }

    /// Those after particle i that were near it, sorted.
    #[must_use]
    pub fn after(&self, i: usize) -> &[u32] {
        &self.partners[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// Whether a ball is inside the enlarged ball of particle i as it was when the list was made.
    #[must_use]
    #[inline]
    pub fn encloses(&self, i: usize, centre: DVec3, extent: f64) -> bool {
        let reference = &self.reference[i];
        let room = reference.room(extent);
        room >= 0.0
            && self.up_to_periods(centre - self.origin - reference.centre.as_dvec3()).length_squared() <= room * room
    }

    /// The enlarged ball of particle i when the list was made: its extent.
    #[must_use]
    pub fn reach(&self, i: usize) -> f64 {
        f64::from(self.reference[i].extent)
    }

    fn covers(&self, position: &[DVec3], extent: &[f64], skin: impl Fn(usize) -> f64 + Sync) -> bool {
        if self.reference.len() != position.len() {
            return false;
        }
        let drift = self.drift(position);
        let rounding = drift.abs().element_sum() * ROUNDING;
        let from = self.origin + drift;
        let share = share_of(position.len());
        let parts = self.reference.par_chunks(share).enumerate();
        // How much wider than needed the balls of a part are than may be; none where one is too small. Sums depend on the
        // parts, and with them when a list is made anew, not what is found with it.
        let excess = |(part, references): (usize, &[Reference])| {
            let mut excess = 0.0;
            for (i, reference) in (part * share..).zip(references) {
                let room = reference.room(extent[i]) - rounding;
                let moved = self.up_to_periods(position[i] - from - reference.centre.as_dvec3()).length_squared();
                // Written so that what is not a number is not covered.
                if !(room >= 0.0 && moved <= room * room) {
                    return None;
                }
                excess += room - (TOO_WIDE * skin(i) + SPARE * extent[i]);
            }
            Some(excess)
        };
        let excess = parts.map(excess).try_reduce(|| 0.0, |a, b| Some(a + b));
        excess.is_some_and(|excess| excess <= 0.0)
    }

    /// The mean displacement of a few particles since the list was made.
    fn drift(&self, position: &[DVec3]) -> DVec3 {
        let count = position.len().min(SAMPLES);
        let sample = |k: usize| k * position.len() / count;
        let displacement = |i: usize| position[i] - self.origin - self.reference[i].centre.as_dvec3();
        // In a cell those that have wrapped meanwhile are taken to have moved about as far as the first.
        let first = if self.cell.is_some() && count > 0 { displacement(0) } else { DVec3::ZERO };
        let beyond = |i: usize| self.up_to_periods(displacement(i) - first);
        first + (0..count).map(sample).map(beyond).sum::<DVec3>() / count.max(1) as f64
    }

    /// The shortest of the displacements that differ by whole periods.
    fn up_to_periods(&self, displacement: DVec3) -> DVec3 {
        match &self.cell {
            None => displacement,
            Some(cell) => cell.shortest(displacement),
        }
    }

    fn make(&mut self, position: &[DVec3], extent: &[f64], skin: impl Fn(usize) -> f64) {
        self.origin = position.get(position.len() / 2).copied().unwrap_or_default();
        self.reference.clear();
        self.reference.reserve_exact(position.len());
        self.reference.extend(position.iter().zip(extent).enumerate().map(|(i, (x, extent))| Reference {
            centre: (*x - self.origin).as_vec3(),
            extent: ((extent + skin(i)) as f32).next_up(),
        }));
        let reach = |i: usize| f64::from(self.reference[i].extent);
        let grid = Grid::of(self.cell, position, reach);
        self.start.clear();
        self.start.reserve_exact(position.len() + 1);
        self.start.push(0);
        self.partners.clear();
        let chunks: Vec<usize> = (0..position.len()).step_by(CHUNK).collect();
        for batch in chunks.chunks(BATCH) {
            let search = |&from: &usize| {
                let (mut counts, mut all, mut found) = (Vec::with_capacity(CHUNK), Vec::new(), Vec::new());
                for (i, &centre) in position.iter().enumerate().skip(from).take(CHUNK) {
                    grid.partners(i as u32, centre, reach(i), &mut found);
                    all.extend_from_slice(&found);
                    counts.push(found.len() as u32);
                }
                (counts, all)
            };
            let found: Vec<(Vec<u32>, Vec<u32>)> = batch.par_iter().map(search).collect();
            let more = found.iter().map(|(_, partners)| partners.len()).sum();
            make_room(&mut self.partners, more);
            for (counts, partners) in found {
                self.partners.extend(partners);
                let mut end = self.start.last().copied().unwrap_or(0);
                self.start.extend(counts.iter().map(|count| {
                    end += count;
                    end
                }));
            }
        }
    }
}

/// All pairs i < j whose balls meet, sorted.
#[must_use]
pub fn pairs(position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    pairs_in(None, position, extent)
}

/// The same where space may repeat: all pairs i < j of which some images meet.
#[must_use]
pub fn pairs_in(cell: Option<&Cell>, position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
    let grid = Grid::of(cell.copied(), position, |i| extent[i]);
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
            let other = Entry { centre: position[j], extent: extent[j], id: j as u32 };
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

/// Every image within a distance of the cell, particle by particle.
fn images_near(cell: &Cell, position: &[DVec3], distance: impl Fn(usize) -> f64) -> Vec<(u32, DVec3)> {
    let images = |(i, x): (usize, &DVec3)| {
        let inside = cell.wrap(*x);
        cell.shifts_near(inside, distance(i)).map(move |shift| (i as u32, inside + shift))
    };
    position.iter().enumerate().flat_map(images).collect()
}

/// Visits the images if there are any, and else the centres.
fn each(position: &[DVec3], images: Option<&[(u32, DVec3)]>, mut look: impl FnMut(usize, DVec3)) {
    match images {
        None => position.iter().enumerate().for_each(|(i, x)| look(i, *x)),
        Some(images) => images.iter().for_each(|(i, x)| look(*i as usize, *x)),
    }
}

#[derive(Clone, Copy)]
struct Entry {
    centre: DVec3,
    extent: f64,
    id: u32,
}

/// Which cube, along each axis. Far beyond what 32 bits count, all cubes are taken for the last: correct, only slower.
type Cube = [i32; 3];

/// Particles sorted by the bucket of their cube.
pub struct Grid {
    cell: Option<Cell>,
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
        Self::of(None, position, |i| extent[i])
    }

    /// The same; in a periodic cell with the images that balls inside may meet.
    fn of(cell: Option<Cell>, position: &[DVec3], extent: impl Fn(usize) -> f64) -> Self {
        let buckets = position.len().next_power_of_two().max(4); // more than a column visits
        let widest = (0..position.len()).map(&extent).fold(f64::MIN_POSITIVE, f64::max);
        let images = cell.map(|cell| images_near(&cell, position, |i| extent(i) + widest));
        let images = images.as_deref();
        let mut grid = Self {
            cell,
            inverse_side: (2.0 * widest).recip(),
            mask: buckets - 1,
            start: vec![0; buckets + 2],
            entries: vec![Entry { centre: DVec3::ZERO, extent: 0.0, id: 0 }; images.map_or(position.len(), <[_]>::len)],
            least: [i32::MAX; 3],
            greatest: [i32::MIN; 3],
        };
        // `start[b + 2]` counts the entries of bucket b; summed up, `start[b + 1]` tells where its next entry goes, and in
        // the end where bucket b ends.
        each(position, images, |_, x| {
            let cube = grid.cube(x);
            let bucket = grid.bucket(cube);
            grid.start[bucket + 2] += 1;
            for (axis, at) in cube.into_iter().enumerate() {
                grid.least[axis] = grid.least[axis].min(at);
                grid.greatest[axis] = grid.greatest[axis].max(at);
            }
        });
        for bucket in 1..=buckets {
            grid.start[bucket + 1] += grid.start[bucket];
        }
        each(position, images, |i, centre| {
            let next = grid.bucket(grid.cube(centre)) + 1;
            grid.entries[grid.start[next] as usize] = Entry { centre, extent: extent(i), id: i as u32 };
            grid.start[next] += 1;
        });
        grid
    }

    /// Fills `found` with those after particle i whose balls meet its own, sorted.
    pub fn partners(&self, i: u32, centre: DVec3, extent: f64, found: &mut Vec<u32>) {
        found.clear();
        let centre = self.cell.map_or(centre, |cell| cell.wrap(centre));
        self.visit(self.cube(centre), |entries| {
            let mut count = found.len();
            found.resize(count + entries.len(), 0);
            // Half of all come before i and few of the others are near, in no order: a branch would mostly be guessed wrong.
            for other in entries {
                found[count] = other.id;
                count += usize::from((other.id > i) & within(centre, extent, other));
            }
            found.truncate(count);
        });
        found.sort_unstable();
        found.dedup(); // columns may share buckets, and several images of a ball may be near
    }

    /// Names all whose balls could meet one about this point, no larger than the largest of them; some perhaps twice, and
    /// others with them.
    pub fn around(&self, centre: DVec3, mut look: impl FnMut(u32)) {
        self.visit(self.cube(centre), |entries| entries.iter().for_each(|entry| look(entry.id)));
    }

    fn cube(&self, x: DVec3) -> Cube {
        x.to_array().map(|c| {
            let scaled = c * self.inverse_side;
            let towards_zero = scaled as i32; // saturates
            towards_zero.saturating_sub(i32::from(scaled < f64::from(towards_zero)))
        })
    }

    /// Cubes above each other are in consecutive buckets, so that a column of three is one piece of memory.
    fn bucket(&self, [x, y, z]: Cube) -> usize {
        // Large odd multipliers, then a mix of high bits into low ones: neighbouring columns fall into unrelated buckets.
        let [x, y] = [x, y].map(|c| u64::from(c.cast_unsigned()));
        let mut key = x.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F));
        key = (key ^ (key >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        ((key >> 32) as usize).wrapping_add(z.cast_unsigned() as usize) & self.mask
    }

    /// All entries in a cube and those around it, column by column, some perhaps twice and with others between them.
    fn visit(&self, home: Cube, mut look: impl FnMut(&[Entry])) {
        let range = |axis: usize| {
            let from = home[axis].saturating_sub(1).max(self.least[axis]);
            (from, home[axis].saturating_add(1).min(self.greatest[axis]))
        };
        let ((x, to_x), (y, to_y), (low, high)) = (range(0), range(1), range(2));
        if low > high {
            return; // far above or below all of them
        }
        let entries = |from: usize, to: usize| &self.entries[self.start[from] as usize..self.start[to + 1] as usize];
        for cx in x..=to_x {
            for cy in y..=to_y {
                let first = self.bucket([cx, cy, low]);
                let last = first + (high - low) as usize;
                look(entries(first, last.min(self.mask)));
                if last > self.mask {
                    look(entries(0, last & self.mask));
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

    /// The nearest of many images, along each axis on its own.
    fn meet_in(cell: &Cell, (a, extent): (DVec3, f64), (b, other): (DVec3, f64)) -> bool {
        let nearest = |axis: usize| {
            let images = (-6..=6).map(|n| (b[axis] - a[axis] + f64::from(n) * cell.period()[axis]).abs());
            images.fold(f64::INFINITY, f64::min)
        };
        DVec3::new(nearest(0), nearest(1), nearest(2)).length() <= extent + other
    }

    fn pairs_of_images(cell: &Cell, position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
        let all = (0..position.len()).flat_map(|i| (i + 1..position.len()).map(move |j| (i, j)));
        let meet = |(i, j): &(usize, usize)| meet_in(cell, (position[*i], extent[*i]), (position[*j], extent[*j]));
        all.filter(meet).map(|(i, j)| (i as u32, j as u32)).collect()
    }

    fn any_cell() -> impl Strategy<Value = Cell> {
        let axis = prop_oneof![Just(0.0), 1.2..7.0_f64];
        ([axis.clone(), axis.clone(), axis], prop::array::uniform3(-5.0..5.0_f64))
            .prop_map(|(period, lower)| Cell::with_periods(lower.into(), period.into()).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn in_a_cell_buckets_find_what_brute_force_over_images_finds(cloud in cloud(false), cell in any_cell()) {
            let position: Vec<DVec3> = cloud.iter().map(|p| p.0).collect();
            let extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
            prop_assert_eq!(pairs_in(Some(&cell), &position, &extent), pairs_of_images(&cell, &position, &extent));
        }

        #[test]
        fn in_a_cell_a_list_in_use_finds_them_too(
            cloud in cloud(true), cell in any_cell(), seed in any::<u64>(), drift in -0.3..0.3_f64,
        ) {
            let mut position: Vec<DVec3> = cloud.iter().map(|p| cell.wrap(p.0)).collect();
            let extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
            let (mut list, mut random, mut made) = (Neighbours::default(), seed, 0);
            let mut share = || -> f64 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 40) as f64 / f64::from(1 << 23) - 1.0
            };
            for _ in 0..20 {
                made += usize::from(list.cover(Some(&cell), &position, &extent, |_| 0.1));
                for (i, j) in pairs_of_images(&cell, &position, &extent) {
                    prop_assert!(list.after(i as usize).binary_search(&j).is_ok(), "{} and {}", i, j);
                }
                for x in &mut position {
                    *x = cell.wrap(*x + DVec3::new(share(), share(), share()) * 0.01 + drift);
                }
            }
            prop_assert!(made < 20, "a drift as one, through the faces, needs no new list");
        }
    }

    /// The pairs of the list whose balls meet, which is what its users make of it.
    fn meeting(list: &Neighbours, position: &[DVec3], extent: &[f64]) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for (i, &x) in position.iter().enumerate() {
            for &j in list.after(i) {
                let other = Entry { centre: position[j as usize], extent: extent[j as usize], id: j };
                if within(x, extent[i], &other) {
                    found.push((i as u32, j));
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn a_list_in_use_finds_what_brute_force_finds(
            cloud in cloud(false), far in prop::sample::select(vec![0.0, 1e3, 1e9]), seed in any::<u64>(),
            move_by in 0.0..0.03_f64, drift in -0.1..0.1_f64,
        ) {
            let mut position: Vec<DVec3> = cloud.iter().map(|p| p.0 + far).collect();
            let mut extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
            let mut list = Neighbours::default();
            let mut random = seed;
            let mut share = || -> f64 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 40) as f64 / f64::from(1 << 23) - 1.0
            };
            for _ in 0..20 {
                list.cover(None, &position, &extent, |_| 0.1);
                prop_assert_eq!(meeting(&list, &position, &extent), pairs_by_brute_force(&position, &extent));
                for (x, extent) in position.iter_mut().zip(&mut extent) {
                    *x += DVec3::new(share(), share(), share()) * move_by + drift;
                    *extent = (*extent + 0.2 * move_by * share()).max(0.05);
                }
            }
        }
    }

    #[test]
    fn a_list_is_made_again_only_when_the_skin_is_used_up() {
        let mut position: Vec<DVec3> = (0..50).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
        let mut extent = [0.4; 50];
        let mut list = Neighbours::default();
        assert!(list.cover(None, &position, &extent, |_| 0.11));
        assert_eq!(list.after(7), [8]);
        assert!(!list.cover(None, &position, &extent, |_| 0.11));
        for x in &mut position {
            x.y += 5.0; // all as one
        }
        assert!(!list.cover(None, &position, &extent, |_| 0.11));
        position[20].z += 0.1;
        assert!(!list.cover(None, &position, &extent, |_| 0.11));
        extent[20] += 0.02;
        assert!(list.cover(None, &position, &extent, |_| 0.11));
        assert!(list.cover(None, &position[1..], &extent[1..], |_| 0.11), "others than those the list was made of");
        assert!(list.cover(None, &position[1..], &[0.1; 49], |_| 0.11), "wide enough, and much wider than needed");
    }

    #[test]
    fn nothing_is_covered_that_is_not_a_number() {
        let mut list = Neighbours::default();
        let far = [DVec3::ZERO, DVec3::X * 1e300];
        assert!(list.cover(None, &far, &[1.0; 2], |_| 1.0));
        assert!(list.cover(None, &far, &[1.0; 2], |_| 1.0), "too far for what is remembered");
        assert!(list.cover(None, &[DVec3::ZERO; 2], &[1.0; 2], |_| 1.0));
        assert!(list.cover(None, &[DVec3::ZERO, DVec3::NAN], &[1.0; 2], |_| 1.0));
    }

    #[test]
    fn whoever_is_near_any_point_is_named() {
        let position: Vec<DVec3> = (0..5).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
        let grid = Grid::new(&position, &[0.5; 5]);
        let named = |x: DVec3| {
            let mut found = Vec::new();
            grid.around(x, |i| found.push(i));
            found
        };
        assert!(named(DVec3::new(1.9, 0.9, -0.9)).contains(&2));
        for far in [DVec3::X, DVec3::Y, DVec3::Z].iter().flat_map(|axis| [*axis * 50.0, *axis * -50.0]) {
            assert_eq!(named(far), [] as [u32; 0], "{far}");
        }
        Grid::new(&[], &[]).around(DVec3::ZERO, |i| panic!("{i} is not there"));
    }

    #[test]
    fn a_runaway_particle_costs_nothing_and_changes_nothing() {
        let mut position: Vec<DVec3> = (0..50).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
        position.push(DVec3::new(1e300, -1e300, 0.0));
        assert_eq!(pairs(&position, &[0.51; 51]).len(), 49);
    }
}
