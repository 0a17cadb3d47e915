//! What is around each particle, remembered from step to step for as long as that provably serves.
//!
//! What is remembered changes the time a search takes and never its result: all that it names is looked at afresh, and
//! all that it leaves out is proved to be out of reach. The proof is about places, not about who is there: where particles
//! have come or left and indices mean others, it holds or fails as for those who moved.

use glam::DVec3;
use rayon::prelude::*;

use super::search::Search;
use super::{Refusal, StepError, TooFast};
use crate::buffer::{reserve, resize};
use crate::geometry::Walls;
use crate::geometry::{Obstacle, Particles, Shape, Surroundings};
use crate::neighbours::{Balls, Crowding, Neighbours, Renewed};
use crate::projection::NO_CLUMP;
use crate::shares::share_of;

/// By how much the balls of a list exceed those of the step it is made in: this much of the smallest radius for all,
const SKIN: f64 = 0.1;
/// and so many times the way of the particle, relative to the crowd, in the step,
const STEPS: f64 = 16.0;
/// but no more than this of the smallest radius: the widest ball decides on how many must be looked at.
const WIDEST: f64 = 0.3;
/// Where that would make a list of fewer pairs a particle than this, balls may be as wide as makes so many: in a thin
/// crowd few are near, and to make a list takes longer than to look at these.
const THIN: f64 = 3.0;
/// So few pairs a particle say no more about how thin it is.
const FEWEST: f64 = 0.1;
/// A list that would serve for fewer steps than this gets the first part only: it would else just be longer, and the parts
/// of a step that is split share it.
const WORTHWHILE: f64 = 2.0;
/// A list that has served so often serves on, for all that was expected: then what is near each particle is worth
/// remembering.
const SEASONED: u32 = 2;
/// What a fixed obstacle may be further away than the enlarged ball reaches and is still remembered: far above rounding.
const MARGIN: f64 = 1e-6;
/// Rounding of squared distances, relative to them, and far more.
const ROUNDING: f64 = 1e-14;
/// Particles whose mean velocity is taken for that of the crowd; any would be right.
const SAMPLES: usize = 64;

#[derive(Default)]
pub(super) struct Vicinity {
    neighbours: Neighbours,
    /// A ball around each particle that holds all it may touch, those around it taken to move with the crowd.
    extent: Vec<f64>,
    /// Particles, each with the fixed obstacles that its enlarged ball reached when it was made, sorted.
    near: Vec<(u32, u32)>,
    /// Whether `near` has been filled since the list was made.
    remembers: bool,
    /// How often the list has served since.
    served: u32,
    /// The obstacles that `near` is about as they were then, in the scene's order; none for those that are always asked.
    known: Vec<Option<Obstacle>>,
    /// Those: obstacles that move, and meshes, which are long to compare with what they were.
    always: Vec<u32>,
    /// Where those that are known stand.
    surroundings: Surroundings,
    /// Those of them that were found near a particle.
    found: Vec<u32>,
    /// The clump of each particle when the list was made: pairs of one clump are left out of it.
    owner: Vec<u32>,
}

impl Vicinity {
    /// Makes sure that all is named that the search may find.
    pub(super) fn update(&mut self, search: &Search) -> Result<(), Refusal> {
        let fastest = self.measure(search);
        self.refuse_second_images(search)?;
        let (least, widest) = (SKIN * search.length, self.widest(search));
        let worthwhile = WORTHWHILE * fastest <= least + widest;
        if !self.is_current(search.obstacles) || self.owner != search.owner {
            self.rebuild(search);
            self.owner.clear();
            self.owner.extend_from_slice(search.owner);
            self.neighbours = Neighbours::default();
        }
        let (particles, extent) = (search.particles, &self.extent);
        let skin = |i: usize| {
            let beyond = (extent[i] - particles.radius[i] - search.deflection[i]).max(0.0);
            if worthwhile { least + (STEPS * beyond).min(widest) } else { least }
        };
        let owner = search.owner;
        let apart = |i: u32, j: u32| {
            owner.is_empty() || owner[i as usize] == NO_CLUMP || owner[i as usize] != owner[j as usize]
        };
        let balls = Balls { cell: particles.cell.as_ref(), centre: &particles.position, extent };
        match self.neighbours.update(balls, skin, apart) {
            Renewed::Few if self.remembers => self.remember_again(search),
            Renewed::Few => {
                self.served += 1;
                if self.served >= SEASONED {
                    self.remember(search);
                }
            }
            Renewed::All => {
                (self.remembers, self.served) = (false, 0);
                self.near.clear();
                if worthwhile {
                    self.remember(search);
                }
            }
        }
        Ok(())
    }

    /// The most that a ball may exceed that of the step it is made in, besides what all do. Pairs grow as the volume of
    /// the balls: where balls of extent E had p pairs a particle, those of E (q/p)^⅓ have about q.
    fn widest(&self, search: &Search) -> f64 {
        let Crowding { extent, pairs } = self.neighbours.crowding();
        let usual = WIDEST * search.length;
        if extent == 0.0 || pairs >= THIN {
            return usual;
        }
        let (count, samples) = (self.extent.len(), self.extent.len().min(SAMPLES));
        let mean = (0..samples).map(|k| self.extent[k * count / samples]).sum::<f64>() / samples.max(1) as f64;
        usual.max(extent * (THIN / pairs.max(FEWEST)).cbrt() - mean - SKIN * search.length)
    }

    /// In a periodic cell only the nearest image of a partner is looked at. No other can be met in the step if each
    /// particle's ball has an extent E below a quarter of the period L: of the images of j, which are L apart or more, at
    /// most one is within E_i + E_j < L/2 of x_i, and it is the nearest. Nor can a pair that touches at the start of the step
    /// take another image for the nearest at its end: it stays within E_i + E_j. A particle never meets its own images,
    /// since they keep their distance L > 4r. E − r goes to no more than `MARGIN` of the smallest radius as the step gets
    /// shorter, so that there is a short enough step if L allows for that.
    fn refuse_second_images(&self, search: &Search) -> Result<(), Refusal> {
        let Some(cell) = &search.particles.cell else { return Ok(()) };
        let quarter = 0.25 * cell.least_period();
        let mut worst = (0.0, None);
        for (particle, (extent, radius)) in self.extent.iter().zip(&search.particles.radius).enumerate() {
            let needed = radius + 2.0 * search.margin;
            if needed >= quarter {
                let period = cell.least_period();
                return Err(StepError::NarrowCell { period, radius: *radius, needed }.into());
            }
            let path = extent - radius;
            let times = path / (quarter - radius);
            if *extent >= quarter && times > worst.0 {
                worst = (times, Some(TooFast::InCell { particle, path }));
            }
        }
        match worst {
            (times, Some(too_fast)) => Err(Refusal::TooLong(times, too_fast)),
            _ => Ok(()),
        }
    }

    /// A bound of all coordinates that particles have or may be moved to in the step; infinite where something is not a number
    /// (length). Each moves by h|V| ≤ h|V^{n+1/2}| + δ, and its ball has an extent no less than either.
    pub(super) fn farthest(&self) -> f64 {
        self.neighbours.farthest()
    }

    /// Those after particle i that may be near it, sorted.
    pub(super) fn after(&self, i: usize) -> &[u32] {
        self.neighbours.after(i)
    }

    /// All that particle i may touch is in a ball of this extent.
    pub(super) fn extent(&self, i: usize) -> f64 {
        self.extent[i]
    }

    /// The fixed obstacles near each of the particles from this one on, sorted.
    pub(super) fn near_from(&self, i: usize) -> &[(u32, u32)] {
        &self.near[self.near.partition_point(|(particle, _)| (*particle as usize) < i)..]
    }

    /// Obstacles to ask besides those that are near.
    pub(super) fn always(&self) -> &[u32] {
        &self.always
    }

    /// The particles that an obstacle was near, in order.
    pub(super) fn near_obstacle(&self, k: usize) -> impl Iterator<Item = usize> {
        self.near.iter().filter(move |(_, obstacle)| *obstacle as usize == k).map(|(particle, _)| *particle as usize)
    }

    /// Whether the particles near this obstacle were remembered.
    pub(super) fn remembers(&self, k: usize) -> bool {
        self.remembers && self.known.get(k).is_some_and(Option::is_some)
    }

    /// Whether [`Self::near_from`] names every fixed obstacle that reaches into a ball of particle i about this place.
    ///
    /// A feature within ρ of x' is within ρ + |x' − x| of x. Where that is no more than the enlarged ball's E, the feature
    /// was in reach when the ball was made.
    pub(super) fn covers(&self, i: usize, centre: DVec3, extent: f64) -> bool {
        self.remembers && self.neighbours.encloses(i, centre, extent)
    }

    /// The least gap, after the move, of two particles or of one with a convex obstacle, 0 where none is negative. Whoever
    /// overlaps now was in reach, listed or not: the lists of pairs and rows are not asked.
    pub(super) fn deepest_overlap(&self, particles: &Particles, walls: Walls) -> f64 {
        let share = share_of(particles.len());
        let pieces = particles.position.par_chunks(share).enumerate().map(|(piece, centres)| {
            let (mut deepest, first) = (0.0_f64, piece * share);
            let mut near = self.near_from(first).iter().peekable();
            for (i, &centre) in (first..).zip(centres) {
                let radius = particles.radius[i];
                for &j in self.after(i) {
                    let (offset, sum) = (particles.offset(i, j as usize), radius + particles.radius[j as usize]);
                    // Few are deeper than the deepest so far; the others need no root.
                    if offset.length_squared() < (sum + deepest).powi(2) * (1.0 + ROUNDING) {
                        deepest = deepest.min(offset.length() - sum);
                    }
                }
                let mut ask = |k: u32| {
                    if walls.get(k as usize).is_convex() && walls.may_reach(k as usize, centre, radius) {
                        walls.get(k as usize).touches(centre, radius, 0.0, &mut |touch| {
                            deepest = deepest.min(touch.gap);
                        });
                    }
                };
                let here = std::iter::from_fn(|| near.next_if(|(particle, _)| *particle as usize == i));
                if self.covers(i, centre, radius) {
                    here.for_each(|(_, k)| ask(*k));
                    self.always.iter().for_each(|k| ask(*k));
                } else {
                    here.for_each(drop);
                    (0..walls.len() as u32).for_each(ask);
                }
            }
            deepest
        });
        pieces.reduce(|| 0.0, f64::min)
    }

    /// The particle itself, its way relative to the crowd, and what contacts may divert it: mostly no more than stops it, and
    /// then the list also serves to look for pairs that were missed. Gives the longest way.
    fn measure(&mut self, search: &Search) -> f64 {
        let Search { particles, apriori, deflection, dt, .. } = *search;
        let (count, samples) = (particles.len(), particles.len().min(SAMPLES));
        let crowd = (0..samples).map(|k| apriori[k * count / samples]).sum::<DVec3>() / samples.max(1) as f64;
        resize(&mut self.extent, count, 0.0);
        let share = share_of(count);
        let pieces = self.extent.par_chunks_mut(share).enumerate().map(|(piece, extents)| {
            let (mut fastest, first) = (0.0_f64, piece * share);
            for (i, extent) in (first..).zip(extents) {
                let (v, radius) = (apriori[i], particles.radius[i]);
                let way = (v - crowd).length() * dt;
                fastest = fastest.max(way);
                *extent = radius + way + deflection[i].max(v.length() * dt);
            }
            fastest
        });
        pieces.reduce(|| 0.0, f64::max)
    }

    fn is_current(&self, obstacles: &[Obstacle]) -> bool {
        let same = |(known, obstacle): (&Option<Obstacle>, &Obstacle)| match known {
            Some(known) => known == obstacle,
            None => !is_remembered(obstacle),
        };
        self.known.len() == obstacles.len() && self.known.iter().zip(obstacles).all(same)
    }

    fn rebuild(&mut self, search: &Search) {
        let obstacles = search.obstacles;
        self.known = obstacles.iter().map(|obstacle| is_remembered(obstacle).then(|| obstacle.clone())).collect();
        let is_known = |k: &u32| self.known[*k as usize].is_some();
        let all = 0..obstacles.len() as u32;
        self.always = all.clone().filter(|k| !is_known(k)).collect();
        self.surroundings = Surroundings::new(all.filter(is_known).map(|k| (k, search.walls.get(k as usize))));
    }

    fn remember(&mut self, search: &Search) {
        self.remembers = true;
        for i in 0..search.particles.len() {
            let ball = (self.neighbours.centre(i), self.neighbours.reach(i));
            for k in around(&self.surroundings, search, ball, &mut self.found) {
                reserve(&mut self.near, 1);
                self.near.push((i as u32, *k));
            }
        }
    }

    /// The same for the few that have got new balls.
    fn remember_again(&mut self, search: &Search) {
        let Self { neighbours, near, surroundings, found, .. } = self;
        for &i in neighbours.renewed() {
            let ball = (neighbours.centre(i as usize), neighbours.reach(i as usize));
            let [from, to] = [i, i + 1].map(|i| near.partition_point(|(particle, _)| *particle < i));
            near.splice(from..to, around(surroundings, search, ball, found).iter().map(|k| (i, *k)));
        }
    }
}

/// The obstacles to remember that a ball reaches.
fn around<'a>(
    surroundings: &Surroundings,
    search: &Search,
    (centre, extent): (DVec3, f64),
    found: &'a mut Vec<u32>,
) -> &'a [u32] {
    let reach = extent * (1.0 + MARGIN);
    surroundings.find(centre, reach, found);
    found.retain(|k| search.walls.may_reach(*k as usize, centre, reach));
    found
}

fn is_remembered(obstacle: &Obstacle) -> bool {
    obstacle.is_fixed() && !matches!(obstacle.shape, Shape::Mesh(_))
}
