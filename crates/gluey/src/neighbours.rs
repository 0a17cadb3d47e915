//! Pairs within reach, by bucket sort.
//!
//! Each particle gets a ball around its centre that holds all it may touch in the step; only particles whose balls meet
//! can meet, and a [`Grid`] finds these. [`Neighbours`] keeps what it found for balls that are a skin larger, for as long as
//! that provably serves, and looks around only those few again that have left theirs.

mod grid;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use self::grid::Buckets;
pub use self::grid::{Grid, pairs, pairs_by_brute_force, pairs_in, partners_in};
use crate::geometry::Cell;
use crate::room::{make_room, set_length};
use crate::shares::share_of;

/// Particles per parallel task: fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 512;
/// Chunks searched before their results are joined: bounds what is held twice.
const BATCH: usize = 8;
/// Particles whose mean displacement is taken for the drift of the crowd, and whose balls for those of all.
const SAMPLES: usize = 64;
/// A list whose balls exceed the present ones by so many times what those of a new list would,
const TOO_WIDE: f64 = 2.0;
/// and by this share of the present ones, is longer than it need be.
const SPARE: f64 = 0.15;
/// Where more than this times √N particles have left their balls since the list was made, it is made anew: each new ball is
/// compared with the other new ones, which by then costs half as much as the list,
const FEW: f64 = 8.0;
/// or where the list has grown by one pair in so many, or for so many particles.
const GROWTH: usize = 8;
/// Rounding of distances, relative to the balls: far above that of f64, far below any skin.
const ROUNDING: f64 = 1e-12;

/// Pairs near each other, in a list that serves for several steps.
///
/// It holds all pairs i < j whose enlarged balls meet, |x_i − x_j| ≤ E_i + E_j: balls about the centres x_i when the list was
/// made, with E_i = extent_i + skin_i. Let x' and e' be centres and extents now. If there is a vector c, any at all, with
///
/// |x'_i − x_i − c| + e'_i ≤ E_i for every i,
///
/// then every pair whose present balls meet is in the list, because
///
/// |x_i − x_j| ≤ |x'_i − x'_j| + |x'_i − x_i − c| + |x'_j − x_j − c|
///             ≤ e'_i + e'_j + (E_i − e'_i) + (E_j − e'_j) = E_i + E_j.
///
/// Here c is the mean displacement of a few particles: a crowd that drifts as one needs no new list. Where a few particles
/// fail they get new balls, about x'_i − c, and the pairs of these balls are added: in a bed at rest there are always some that
/// roll, the more the larger it is. The list holds more pairs than those that meet, and how many depends on when it was
/// made: who asks must look at each.
///
/// In a periodic cell the same holds with x'_i − x_i − c up to periods: what a particle is off by whole periods, its image at
/// the time of the list was off by, too, and a pair was listed if any images of the two met.
///
/// The centres are remembered as f32 relative to one of them; the condition allows for what that may be off. New balls are
/// those about centres as they are remembered.
#[derive(Default)]
pub struct Neighbours {
    /// With which the list was made.
    cell: Option<Cell>,
    origin: DVec3,
    reference: Vec<Reference>,
    /// Where the partners of each particle start, and those of the next one after it.
    start: Vec<u32>,
    partners: Vec<u32>,
    /// How many of these there were when the list was made.
    made: usize,
    /// Where each particle was then,
    buckets: Buckets,
    ids: Vec<u32>,
    /// and how far a centre may be from where it is remembered.
    rounding: f64,
    /// Those that have got new balls since then, perhaps several times,
    renewed: Vec<u32>,
    /// so many of them before the last call.
    earlier: usize,
    /// Pairs to be added.
    fresh: Vec<(u32, u32)>,
    /// Before the drift, no coordinate of a ball is larger, nor of what is three extents away from its centre,
    farthest: f64,
    /// and the drift of the last call is no longer.
    drifted: f64,
}

/// Who has got new balls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Renewed {
    /// Those that [`Neighbours::renewed`] names; mostly nobody.
    Few,
    /// All: the list was made.
    All,
}

/// Balls, in space or a periodic cell.
#[derive(Clone, Copy)]
pub struct Balls<'a> {
    /// In which space repeats.
    pub cell: Option<&'a Cell>,
    /// Their centres,
    pub centre: &'a [DVec3],
    /// and radii.
    pub extent: &'a [f64],
}

/// Centre and extent of an enlarged ball.
#[derive(Clone, Copy)]
struct Reference {
    centre: Vec3,
    extent: f32,
}

impl Reference {
    fn new(centre: DVec3, extent: f64) -> Self {
        Self { centre: centre.as_vec3(), extent: (extent as f32).next_up() }
    }

    /// Rounding to f32 moved each coordinate by at most 2⁻²⁴ of itself; twice that also covers sums of them.
    fn rounding(&self) -> f64 {
        f64::from(self.centre.abs().element_sum()) * f64::from(f32::EPSILON)
    }

    /// How far the centre may be from here for a ball of this extent to stay inside; negative when it never is.
    fn room(&self, extent: f64) -> f64 {
        f64::from(self.extent) * (1.0 - ROUNDING) - self.rounding() - extent
    }
}

/// The largest coordinate of what is three extents from a centre; infinite where something is not a number.
fn reaching(centre: DVec3, extent: f64) -> f64 {
    if centre.is_finite() && extent.is_finite() { centre.abs().max_element() + 3.0 * extent } else { f64::INFINITY }
}

impl Neighbours {
    /// Makes sure that the list has all pairs whose balls meet, but those that are never wanted: it stays as it is if it has,
    /// and otherwise, or where it is much longer than need be, is made for balls a skin larger. Any skins are right; the wider
    /// they are the longer the list is and the longer it lasts.
    pub fn cover(
        &mut self,
        balls: Balls,
        skin: impl Fn(usize) -> f64,
        wanted: impl Fn(u32, u32) -> bool + Sync,
    ) -> Renewed {
        if self.cell.as_ref() == balls.cell && self.reference.len() == balls.centre.len() {
            let drift = self.drift(balls.centre);
            self.drifted = drift.length();
            self.earlier = self.renewed.len();
            if let Some(few) = self.stragglers(balls, drift, &skin)
                && self.renew(&few, balls, drift, (&skin, &wanted))
            {
                return Renewed::Few;
            }
        }
        self.cell = balls.cell.copied();
        self.make(balls, skin, wanted);
        Renewed::All
    }

    /// A bound of all coordinates of the centres, and of points within two of the extents that [`Self::cover`] was last given
    /// from them; infinite where something is not a number (length).
    #[must_use]
    pub fn farthest(&self) -> f64 {
        // In a cell they wrap.
        let cell = self.cell.map_or(0.0, |cell| (cell.lower().abs() + cell.period()).max_element());
        cell.max(self.farthest + self.drifted)
    }

    /// Those few that got new balls in the last call of [`Self::cover`], in order.
    #[must_use]
    pub fn renewed(&self) -> &[u32] {
        &self.renewed[self.earlier..]
    }

    /// Those after particle i that were near it, sorted.
    #[must_use]
    pub fn after(&self, i: usize) -> &[u32] {
        &self.partners[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// Whether a ball is inside the enlarged ball of particle i.
    #[must_use]
    #[inline]
    pub fn encloses(&self, i: usize, centre: DVec3, extent: f64) -> bool {
        let reference = &self.reference[i];
        let room = reference.room(extent);
        room >= 0.0
            && self.up_to_periods(centre - self.origin - reference.centre.as_dvec3()).length_squared() <= room * room
    }

    /// The extent of the enlarged ball of particle i.
    #[must_use]
    pub fn reach(&self, i: usize) -> f64 {
        f64::from(self.reference[i].extent)
    }

    /// Its centre.
    #[must_use]
    pub fn centre(&self, i: usize) -> DVec3 {
        self.origin + self.reference[i].centre.as_dvec3()
    }

    /// Those that have left their balls, in order. Nothing where the balls are too wide.
    fn stragglers(&self, balls: Balls, drift: DVec3, skin: impl Fn(usize) -> f64) -> Option<Vec<u32>> {
        let Balls { centre, extent, .. } = balls;
        let excess = |i: usize| self.reference[i].room(extent[i]) - (TOO_WIDE * skin(i) + SPARE * extent[i]);
        if self.samples().map(excess).sum::<f64>() > 0.0 {
            return None;
        }
        let holds = self.holding(drift);
        let share = share_of(self.reference.len());
        let look = |(part, references): (usize, &[Reference])| {
            let balls = centre[part * share..].iter().zip(&extent[part * share..]);
            let mut few = Vec::new();
            for (i, (reference, (centre, extent))) in (part * share..).zip(references.iter().zip(balls)) {
                if !holds(reference, *centre, *extent) {
                    few.push(i as u32);
                }
            }
            few
        };
        let join = |mut a: Vec<u32>, b: Vec<u32>| {
            a.extend(b);
            a
        };
        Some(self.reference.par_chunks(share).enumerate().map(look).reduce(Vec::new, join))
    }

    /// Whether an enlarged ball holds another, taken back by the drift.
    fn holding(&self, drift: DVec3) -> impl Fn(&Reference, DVec3, f64) -> bool + Sync {
        let (from, rounding) = (self.origin + drift, drift.abs().element_sum() * ROUNDING);
        move |reference, centre, extent| {
            let room = reference.room(extent) - rounding;
            let moved = self.up_to_periods(centre - from - reference.centre.as_dvec3()).length_squared();
            room >= 0.0 && moved <= room * room // not where something is not a number
        }
    }

    /// New balls for these few, if that can be, they are few, and the list does not get too long.
    fn renew(
        &mut self,
        few: &[u32],
        balls: Balls,
        drift: DVec3,
        (skin, wanted): (impl Fn(usize) -> f64, impl Fn(u32, u32) -> bool),
    ) -> bool {
        if few.is_empty() {
            return true;
        }
        if (self.renewed.len() + few.len()) as f64 > FEW * (self.reference.len() as f64).sqrt() {
            return false;
        }
        for &i in few {
            let at = i as usize;
            let (centre, extent) = (balls.centre[at], balls.extent[at]);
            let mut ball = Reference::new(centre - drift - self.origin, extent + skin(at));
            // Whom it meets is then in the cubes around its own.
            ball.extent = ball.extent.min((self.buckets.widest - self.rounding - ball.rounding()) as f32).next_down();
            if !self.holding(drift)(&ball, centre, extent) {
                return false;
            }
            self.reference[at] = ball;
            self.farthest = self.farthest.max(reaching(centre, extent + skin(at)) + self.drifted);
        }
        make_room(&mut self.renewed, few.len());
        self.renewed.extend(few);
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        for &i in few {
            self.look_around(i, |low, high| {
                if wanted(low, high) && self.after(low as usize).binary_search(&high).is_err() {
                    fresh.push((low, high));
                }
            });
        }
        fresh.sort_unstable();
        fresh.dedup();
        let most = self.made + self.made.max(self.reference.len()) / GROWTH;
        let fits = self.partners.len() + fresh.len() <= most;
        if fits {
            self.insert(&fresh);
        }
        self.fresh = fresh;
        fits
    }

    /// Names the pairs of balls that meet that of particle i, some perhaps twice.
    fn look_around(&self, i: u32, mut found: impl FnMut(u32, u32)) {
        let ball = &self.reference[i as usize];
        let mut look = |j: u32| {
            let other = &self.reference[j as usize];
            let offset = self.up_to_periods(other.centre.as_dvec3() - ball.centre.as_dvec3());
            let reach = f64::from(ball.extent) + f64::from(other.extent);
            if i != j && offset.length_squared() <= reach * reach {
                found(i.min(j), i.max(j));
            }
        };
        // Those that were elsewhere when the buckets were filled are looked at one by one.
        self.renewed.iter().for_each(|j| look(*j));
        let centre = self.buckets.inside(self.centre(i as usize));
        self.buckets.visit(centre, |places| self.ids[places].iter().for_each(|j| look(*j)));
    }

    /// Adds pairs that are not in the list; sorted.
    fn insert(&mut self, pairs: &[(u32, u32)]) {
        let mut end = self.partners.len();
        set_length(&mut self.partners, end + pairs.len(), 0);
        // From the last to the first: what comes after a pair goes as many places on as there are pairs up to it.
        for (before, &(i, j)) in pairs.iter().enumerate().rev() {
            let (from, to) = (self.start[i as usize] as usize, self.start[i as usize + 1] as usize);
            let at = from + self.partners[from..to.min(end)].partition_point(|partner| *partner < j);
            self.partners.copy_within(at..end, at + before + 1);
            self.partners[at + before] = j;
            end = at;
        }
        for (k, &(i, _)) in pairs.iter().enumerate() {
            let next = pairs.get(k + 1).map_or(self.reference.len(), |pair| pair.0 as usize);
            self.start[i as usize + 1..=next].iter_mut().for_each(|start| *start += k as u32 + 1);
        }
    }

    /// The mean displacement of a few particles since the list was made.
    fn drift(&self, position: &[DVec3]) -> DVec3 {
        let count = self.samples().len();
        let displacement = |i: usize| position[i] - self.origin - self.reference[i].centre.as_dvec3();
        // In a cell those that have wrapped meanwhile are taken to have moved about as far as the first.
        let first = if self.cell.is_some() && count > 0 { displacement(0) } else { DVec3::ZERO };
        let beyond = |i: usize| self.up_to_periods(displacement(i) - first);
        first + self.samples().map(beyond).sum::<DVec3>() / count.max(1) as f64
    }

    /// A few particles.
    fn samples(&self) -> impl ExactSizeIterator<Item = usize> {
        let (all, count) = (self.reference.len(), self.reference.len().min(SAMPLES));
        (0..count).map(move |k| k * all / count)
    }

    /// The shortest of the displacements that differ by whole periods.
    fn up_to_periods(&self, displacement: DVec3) -> DVec3 {
        match &self.cell {
            None => displacement,
            Some(cell) => cell.shortest(displacement),
        }
    }

    fn make(&mut self, balls: Balls, skin: impl Fn(usize) -> f64, wanted: impl Fn(u32, u32) -> bool + Sync) {
        let Balls { centre: position, extent, .. } = balls;
        self.origin = position.get(position.len() / 2).copied().unwrap_or_default();
        self.reference.clear();
        self.reference.reserve_exact(position.len());
        let balls = position.iter().zip(extent).enumerate();
        self.reference.extend(balls.map(|(i, (x, extent))| Reference::new(*x - self.origin, extent + skin(i))));
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
                    found.retain(|j| wanted(i as u32, *j));
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
        self.made = self.partners.len();
        self.drifted = 0.0;
        let farthest = |so_far: f64, (i, centre): (usize, &DVec3)| so_far.max(reaching(*centre, reach(i)));
        self.farthest = position.iter().enumerate().fold(0.0, farthest);
        self.renewed.clear();
        self.earlier = 0;
        self.rounding = self.reference.iter().map(Reference::rounding).fold(0.0, f64::max);
        let Grid { buckets, entries } = grid;
        self.buckets = buckets;
        self.ids.clear();
        make_room(&mut self.ids, entries.len());
        self.ids.extend(entries.iter().map(|entry| entry.id));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::grid::{Entry, within};
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

    /// All pairs are wanted.
    fn cover(list: &mut Neighbours, cell: Option<&Cell>, (centre, extent): (&[DVec3], &[f64]), skin: f64) -> Renewed {
        list.cover(Balls { cell, centre, extent }, |_| skin, |_, _| true)
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
        fn in_a_cell_far_narrower_than_the_balls_every_pair_is_found_with_few_images(
            cloud in cloud(false), narrow in prop::array::uniform3(0.05..1.2_f64), tall in any::<bool>(),
        ) {
            let position: Vec<DVec3> = cloud.iter().map(|p| p.0).collect();
            let extent: Vec<f64> = cloud.iter().map(|p| p.1).collect();
            let period = if tall { DVec3::new(narrow[0], narrow[1], 0.0) } else { narrow.into() };
            let cell = Cell::with_periods(DVec3::ZERO, period).unwrap();
            let mut expected = Vec::new();
            for i in 0..position.len() {
                for j in i + 1..position.len() {
                    if cell.shortest(position[j] - position[i]).length() <= extent[i] + extent[j] {
                        expected.push((i as u32, j as u32));
                    }
                }
            }
            prop_assert_eq!(pairs_in(Some(&cell), &position, &extent), expected);
            prop_assert!(Grid::of(Some(cell), &position, |i| extent[i]).entries.len() <= 27 * position.len());
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
                made += usize::from(cover(&mut list, Some(&cell), (&position, &extent), 0.1) == Renewed::All);
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
                cover(&mut list, None, (&position, &extent), 0.1);
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
        let mut cover =
            |position: &[DVec3], extent: &[f64]| cover(&mut list, None, (position, extent), 0.11) == Renewed::All;
        assert!(cover(&position, &extent));
        assert!(!cover(&position, &extent), "it is there");
        for x in &mut position {
            x.y += 5.0; // all as one
        }
        assert!(!cover(&position, &extent));
        position[20].z += 0.1;
        assert!(!cover(&position, &extent));
        extent[20] += 0.02;
        assert!(!cover(&position, &extent), "one gets a new ball");
        extent.fill(0.6);
        assert!(cover(&position, &extent));
        assert!(cover(&position[1..], &extent[1..]), "others than those the list was made of");
        assert!(cover(&position[1..], &[0.1; 49]), "wide enough, and much wider than needed");
    }

    /// A drifting lattice, through which some roll: the list is made once, and has all pairs that meet, in every step.
    fn rollers(cell: Option<&Cell>, far: f64) {
        let lattice =
            (0..16 * 16 * 8).map(|k| DVec3::new(f64::from(k % 16), f64::from(k / 16 % 16), f64::from(k / 256)));
        let mut position: Vec<DVec3> = lattice.map(|x| x + far).collect();
        let extent = vec![0.49; position.len()];
        let (mut list, mut made, mut renewed) = (Neighbours::default(), 0, 0);
        // Two that meet each other above, and one that goes through all.
        let rolling = [(100, DVec3::X * 0.5), (101, DVec3::X * -0.5), (2_000, DVec3::new(0.2, -0.15, -0.15))];
        position[100] = DVec3::new(0.0, 5.0, 14.0) + far;
        position[101] = DVec3::new(8.0, 5.0, 14.0) + far;
        for step in 0..10 {
            let balls = Balls { cell, centre: &position, extent: &extent };
            let wanted = |i: u32, j: u32| !(i + j).is_multiple_of(7);
            // A ball that would be wider than any was when the list was made.
            let skin = |i: usize| if i == 2_000 && step > 0 { 0.6 } else { 0.05 };
            made += usize::from(list.cover(balls, skin, wanted) == Renewed::All);
            renewed += list.renewed().len();
            assert!(list.renewed().is_sorted());
            assert!(list.renewed().iter().all(|&i| list.encloses(i as usize, list.centre(i as usize), 0.49)));
            for i in 0..position.len() {
                let after = list.after(i);
                assert!(
                    after.is_sorted_by(|a, b| a < b) && after.iter().all(|j| *j > i as u32 && wanted(i as u32, *j))
                );
            }
            let meet = |i: usize, j: usize| {
                let offset = position[j] - position[i];
                cell.map_or(offset, |cell| cell.shortest(offset)).length() <= extent[i] + extent[j]
            };
            for (i, _) in rolling {
                for j in (0..position.len()).filter(|j| *j != i && meet(i, *j)) {
                    let (low, high) = (i.min(j), i.max(j) as u32);
                    let listed = list.after(low).contains(&high);
                    assert_eq!(listed, wanted(low as u32, high), "step {step}: {low} and {high}");
                }
            }
            for (i, way) in rolling {
                position[i] += way;
            }
            for x in &mut position {
                *x += DVec3::new(0.3, 0.0, 0.1);
                *x = cell.map_or(*x, |cell| cell.wrap(*x));
            }
        }
        assert_eq!(made, 1);
        assert!(renewed > 20, "{renewed}");
    }

    #[test]
    fn a_few_that_roll_get_new_balls_and_the_list_stays() {
        let cell = Cell::with_periods(DVec3::ZERO, DVec3::new(16.0, 0.0, 20.0)).unwrap();
        for k in 0..10 {
            let shift = 0.11 * f64::from(k);
            rollers(None, shift);
            rollers(None, 1e4 + shift);
            rollers(Some(&cell), shift);
        }
    }

    #[test]
    fn nothing_is_covered_that_is_not_a_number() {
        let mut list = Neighbours::default();
        let far = [DVec3::ZERO, DVec3::X * 1e300];
        let mut cover = |position: &[DVec3]| cover(&mut list, None, (position, &[1.0; 2]), 1.0) == Renewed::All;
        assert!(cover(&far));
        assert!(cover(&far), "too far for what is remembered");
        assert!(cover(&[DVec3::ZERO; 2]));
        assert!(cover(&[DVec3::ZERO, DVec3::NAN]));
        let mut many = vec![DVec3::ZERO; 200];
        let mut cover = |many: &[DVec3]| super::tests::cover(&mut list, None, (many, &[1.0; 200]), 1.0) == Renewed::All;
        assert!(cover(&many));
        many[3] = DVec3::NAN;
        assert!(cover(&many), "one of many");
        many[3] = DVec3::X * 1e300;
        assert!(cover(&many));
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
