//! A problem cut in blocks of bodies near each other, and laid out for sweeps.
//!
//! Bodies follow the problem's space-filling order; there are as many blocks as asked for, however many threads there
//! are. A row between two bodies of a block is the block's own. A row across two blocks is in the *border* of one
//! of them, which works on copies of the bodies it joins. A sweep is
//!
//! 1. in every block: its own rows, by Gauss–Seidel;
//! 2. in every border: copies take the velocities of their bodies; its rows, by Gauss–Seidel;
//! 3. in every block: bodies take the mean velocity of their copies, at the beginning of the next sweep.
//!
//! A body of mass m with k copies has mass m/k in each, so the mean of the copies' velocities keeps the momentum, and
//! since |Σ_b g_b|² ≤ k Σ_b |g_b|² a border's rows see more curvature than there is: all borders together lower the
//! objective at least as much as each promises. Most bodies at a border have one copy, and their rows are relaxed
//! exactly.
//!
//! Within a phase blocks touch only what they own and read only what the phase before has finished: any number of threads
//! gives the same bits, and velocities of copies, there and back, are all that blocks tell each other.

use std::num::NonZeroU32;
use std::slice::from_ref;

use glam::DVec3;
use rayon::prelude::*;

use super::border::Border;
use super::interior::{AHEAD, Cut, Interior, along_and_ahead};
use super::listing::Listing;
use super::quads::{Objective, Quads};
use super::sweep::{Body, Motion, Pace, extrapolate};
use super::{AcceleratedGaussSeidel, Problem, worse};
use crate::buffer::{reset, resize};
use crate::prefetch::prefetch;
use crate::shares::{join, share_of};

/// The blocks of a problem, and the buffers to cut the next one.
#[derive(Default)]
pub(super) struct Blocks {
    interiors: Vec<Interior>,
    borders: Vec<Border>,
    /// Bodies of a block; the last may have fewer.
    size: usize,
    /// Where each body stands in the problem's order.
    rank: Vec<u32>,
    listing: Listing,
    /// Whether copies have velocities that their bodies have not taken yet: the next sweep begins with that.
    under_way: bool,
    /// Whether blocks remember the last moves of their bodies themselves, with the sign changed, in the place of velocities
    /// before them: then velocities may change and moves do not.
    held: bool,
    /// Whether the rows remember an earlier point.
    has_save_point: bool,
}

/// How far a line search leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LineSearch {
    /// How often the move is repeated.
    pub times: f64,
    /// Whether a row has met its bound there, and the objective would go on falling.
    pub at_bound: bool,
}

impl LineSearch {
    /// Where the objective changes by these along the move, and a row meets its bound after so many times.
    pub fn new(slope: f64, curvature: f64, room: f64) -> Self {
        let least = if slope < 0.0 && curvature > 0.0 { -slope / curvature } else { 0.0 };
        Self { times: room.min(least), at_bound: room < least }
    }
}

/// What an advance tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Advance {
    pub motion: Motion,
    /// Σ m |V − V before|² of the sweep *before* this one.
    pub energy: f64,
}

impl Blocks {
    /// Cuts the problem in so many blocks, or one a body, or the most there may be, and starts from these impulses, raised
    /// to `lower`.
    pub(super) fn load(&mut self, problem: &Problem, impulses: &[f64], blocks: NonZeroU32) {
        let count = problem.bodies();
        let size = count.div_ceil(blocks.get().min(AcceleratedGaussSeidel::MOST_BLOCKS) as usize).max(1);
        let blocks = count.div_ceil(size).max(1);
        self.size = size;
        reset(&mut self.rank, count, 0);
        (0..count).for_each(|at| self.rank[problem.along(at)] = at as u32);
        self.listing.list(problem);
        (self.under_way, self.held, self.has_save_point) = (false, true, false);
        self.interiors.resize_with(blocks, Interior::default);
        self.borders.resize_with(if blocks > 1 { blocks } else { 0 }, Border::default);
        let (cut, listing) = (Cut { rank: &self.rank, size }, &self.listing);
        each_with_index(&mut self.interiors, |block, interior| {
            interior.load(problem, block * size, size);
            interior.fill((problem, impulses), listing, cut);
        });
        if blocks > 1 {
            let interiors = &self.interiors;
            each_with_index(&mut self.borders, |block, border| border.list(problem, interiors, (block as u32, cut)));
            let borders = &self.borders;
            each(&mut self.interiors, |interior| interior.find_copies(borders));
            let interiors = &self.interiors;
            each_with_index(&mut self.borders, |block, border| {
                border.copy_bodies(interiors, block as u32);
                border.fill((problem, impulses));
            });
            let borders = &self.borders;
            each(&mut self.interiors, |interior| interior.add_copies(borders));
        }
    }

    /// The impulses of the swept point, exactly `lower` where the bound holds, and the velocities that they alone give; both
    /// in the problem's order.
    pub(super) fn unload(&mut self, problem: &Problem, impulses: &mut [f64], velocity: &mut Vec<DVec3>) {
        self.gather_swept(problem, |rows, bodies| rows.find_impulses(problem, bodies));
        let own = self.interiors.iter().map(|interior| &interior.rows);
        own.chain(self.borders.iter().map(|border| &border.rows)).for_each(|rows| rows.unload(impulses));
        resize(velocity, self.rank.len(), DVec3::ZERO);
        let (share, size) = (share_of(self.rank.len()), self.size as u32);
        let body = |rank: u32| &self.interiors[(rank / size) as usize].bodies[(rank % size) as usize];
        velocity.par_chunks_mut(share).zip(self.rank.par_chunks(share)).for_each(|(velocity, rank)| {
            for (at, velocity) in velocity.iter_mut().enumerate() {
                if let Some(later) = rank.get(at + AHEAD as usize) {
                    prefetch(from_ref(body(*later)));
                }
                *velocity = body(rank[at]).velocity.into();
            }
        });
    }

    /// V = V^{n+1/2} + M⁻¹ Gᵀ Λ at the swept point from its impulses alone: sweeps accumulate rounding.
    pub(super) fn refresh(&mut self, problem: &Problem) {
        self.gather_swept(problem, |rows, bodies| rows.gather(|unknowns| unknowns.x, bodies));
    }

    /// V^{n+1/2}, and what this adds to it. The last move stays what it was.
    fn gather_swept(&mut self, problem: &Problem, add: impl Fn(&mut Quads, &mut [Body]) + Sync) {
        if !std::mem::replace(&mut self.held, true) {
            self.arrive_and(Interior::hold);
        }
        self.gather(|at| *along_and_ahead(problem, &problem.prediction.velocity, at), add);
    }

    /// V ← start, by the rank of a body, and what this adds to it.
    fn gather(&mut self, start: impl Fn(usize) -> DVec3 + Sync, add: impl Fn(&mut Quads, &mut [Body]) + Sync) {
        self.under_way = false; // what copies would tell is forgotten
        each(&mut self.borders, |border| {
            border.copies.iter_mut().for_each(|copy| copy.velocity = [0.0; 3]);
            add(&mut border.rows, &mut border.copies);
        });
        let borders = &self.borders;
        each(&mut self.interiors, |interior| {
            let wall = interior.before.len();
            for (at, body) in interior.bodies[..wall].iter_mut().enumerate() {
                body.velocity = start(interior.first + at).to_array();
            }
            add(&mut interior.rows, &mut interior.bodies);
            interior.add_copies(borders);
        });
    }

    /// Bodies take the velocities of their copies, and then this in every block.
    fn arrive_and(&mut self, then: impl Fn(&mut Interior) + Sync) {
        let (arrived, borders) = (std::mem::take(&mut self.under_way), &self.borders);
        each(&mut self.interiors, |interior| {
            if arrived {
                interior.take(borders);
                interior.write();
            }
            then(interior);
        });
    }

    /// (x, V) ← (x + β d, V + β (V − V before)), and one sweep from there.
    pub(super) fn advance(&mut self, pace: Pace) -> Advance {
        let moved = (pace.momentum, std::mem::take(&mut self.held));
        self.sweep(
            |interior| {
                interior.energy = extrapolate(&mut interior.bodies, &mut interior.before, moved);
                interior.motion = interior.rows.sweep(&mut interior.bodies, pace);
            },
            |border| border.motion = border.rows.sweep(&mut border.copies, pace),
        );
        let own = self.interiors.iter().map(|interior| interior.motion);
        let motion = own.chain(self.borders.iter().map(|border| border.motion)).fold(Motion::default(), Motion::with);
        Advance { motion, energy: self.interiors.iter().map(|interior| interior.energy).sum() }
    }

    /// One sweep without momentum, which is kept.
    pub(super) fn plain_sweep(&mut self) {
        let held = std::mem::replace(&mut self.held, true);
        self.sweep(
            |interior| {
                if !held {
                    interior.hold();
                }
                interior.rows.plain_sweep(&mut interior.bodies);
            },
            |border| border.rows.plain_sweep(&mut border.copies),
        );
    }

    /// A sweep: what is done in every block, and then in every border.
    fn sweep(&mut self, own: impl Fn(&mut Interior) + Sync, across: impl Fn(&mut Border) + Sync) {
        let arrived = std::mem::replace(&mut self.under_way, !self.borders.is_empty());
        let borders = &self.borders;
        each(&mut self.interiors, |interior| {
            if arrived {
                interior.take(borders);
            }
            own(interior);
            interior.write();
        });
        let interiors = &self.interiors;
        each(&mut self.borders, |border| {
            border.take(interiors);
            across(border);
        });
    }

    /// Takes the whole way p since the last call for the last move, and tells how much more of it makes the objective
    /// least: −wᵀp / pᵀAp, or less where a row meets its bound before. The first call only marks where the way begins.
    pub(super) fn line_search(&mut self, problem: &Problem) -> Option<LineSearch> {
        let line_search = self.has_save_point.then(|| {
            each(&mut self.interiors, |interior| interior.rows.move_from_mark());
            each(&mut self.borders, |border| border.rows.move_from_mark());
            self.gather(|_| DVec3::ZERO, |rows, bodies| rows.gather(|unknowns| unknowns.d, bodies));
            self.held = true;
            each(&mut self.interiors, |interior| {
                interior.each_body(|body, before| before.velocity = body.velocity.map(|v| -v));
            });
            self.refresh(problem);
            let interiors = &self.interiors;
            each(&mut self.borders, |border| border.take(interiors));
            let own = self.interiors.iter().map(|interior| interior.rows.slope(&interior.bodies));
            let (slope, room) = own
                .chain(self.borders.iter().map(|border| border.rows.slope(&border.copies)))
                .fold((0.0, f64::INFINITY), |(slope, room), (more, within)| (slope + more, room.min(within)));
            LineSearch::new(slope, self.interiors.iter().map(Interior::energy_held).sum(), room)
        });
        each(&mut self.interiors, |interior| interior.rows.save_point());
        each(&mut self.borders, |border| border.rows.save_point());
        self.has_save_point = true;
        line_search
    }

    /// max √A_cc |min(z − lower, w)| at the swept point, whose velocities are taken as they are: times h / length it is the
    /// residual, or a little more for rows of a border.
    pub(super) fn residual(&mut self) -> f64 {
        self.arrive_and(|interior| interior.residual_squared = interior.rows.residual_squared(&interior.bodies));
        let interiors = &self.interiors;
        each(&mut self.borders, |border| {
            border.take(interiors);
            border.residual_squared = border.rows.residual_squared(&border.copies);
        });
        let own = self.interiors.iter().map(|interior| interior.residual_squared);
        own.chain(self.borders.iter().map(|border| border.residual_squared)).fold(0.0, worse).sqrt()
    }

    /// The objective at the swept point.
    pub(super) fn objective(&mut self, problem: &Problem) -> Objective {
        self.arrive_and(|interior| {
            let Objective { value, magnitude } = interior.rows.objective(&interior.bodies);
            let quadratic = 0.5 * interior.energy_added(problem);
            interior.objective = Objective { value: value - quadratic, magnitude: magnitude + quadratic };
        });
        let interiors = &self.interiors;
        each(&mut self.borders, |border| {
            border.take(interiors);
            border.objective = border.rows.objective(&border.copies);
        });
        let own = self.interiors.iter().map(|interior| interior.objective);
        own.chain(self.borders.iter().map(|border| border.objective)).fold(Objective::default(), |sum, part| {
            Objective { value: sum.value + part.value, magnitude: sum.magnitude + part.magnitude }
        })
    }
}

/// Does the same with every block, on as many threads as there are.
fn each<T: Send>(blocks: &mut [T], work: impl Fn(&mut T) + Sync) {
    each_with_index(blocks, |_, block| work(block));
}

/// Each thread gets blocks that follow each other, in every phase about the same ones, which it then has in its cache.
fn each_with_index<T: Send>(blocks: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    let share = blocks.len().div_ceil(rayon::current_num_threads()).max(1);
    each_from(0, blocks, share, &work);
}

fn each_from<T: Send>(first: usize, blocks: &mut [T], share: usize, work: &(impl Fn(usize, &mut T) + Sync)) {
    if blocks.len() <= share {
        blocks.iter_mut().enumerate().for_each(|(at, block)| work(first + at, block));
        return;
    }
    let half = blocks.len().div_ceil(share) / 2 * share;
    let (here, later) = blocks.split_at_mut(half);
    join(|| each_from(first, here, share, work), || each_from(first + half, later, share, work));
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::projection::{AdmissibleSet, Metric, Prediction, Row, WALL};

    /// Bodies in a line, each joined to some of the next and every fifth to the wall.
    fn chain(count: u32) -> Problem {
        let mut random = Pcg64::seed_from_u64(7);
        let mut vector = || DVec3::from([0, 1, 2].map(|_| random.random_range(-1.0..1.0_f64)));
        let mut rows = Vec::new();
        for i in 0..count {
            for j in (i + 1..i + 4).filter(|j| *j < count) {
                rows.push(Row { i, j, normal: vector().normalize(), gap: 0.01 * vector().x, set: AdmissibleSet::PUSH });
            }
            if i % 5 == 0 {
                rows.push(Row {
                    i,
                    j: WALL,
                    normal: vector().normalize(),
                    gap: 0.0,
                    set: AdmissibleSet::at_least(-0.1),
                });
            }
        }
        let apriori: Vec<DVec3> = (0..count).map(|_| vector()).collect();
        let inverse_mass = apriori.iter().map(|v| 1.0 + 0.5 * v.x).collect();
        Problem {
            dt: 0.1,
            length: 1.0,
            prediction: Prediction { velocity: apriori, metric: Metric::Diagonal(inverse_mass) },
            rows,
            order: Vec::new(),
        }
    }

    #[test]
    fn two_blocks_halve_the_rows_between_them() {
        let problem = chain(60);
        let mut blocks = Blocks::default();
        blocks.load(&problem, &vec![0.0; problem.rows.len()], NonZeroU32::new(6).unwrap());
        let in_borders: Vec<usize> = blocks.borders.iter().map(|border| border.own.len()).collect();
        // Bodies are joined to the next three: 6 rows between two blocks that follow each other.
        assert_eq!(in_borders.iter().sum::<usize>(), 5 * 6);
        assert!(in_borders.iter().all(|rows| (2..=8).contains(rows)), "{in_borders:?}");
    }

    #[test]
    fn a_sweep_without_momentum_keeps_velocities_those_of_the_impulses() {
        let problem = chain(60);
        for count in [1, 6].map(|count| NonZeroU32::new(count).unwrap()) {
            let mut blocks = Blocks::default();
            let mut impulses = vec![0.0; problem.rows.len()];
            blocks.load(&problem, &impulses, count);
            for sweep in 0..12 {
                blocks.advance(Pace { momentum: 0.6, relaxation: 1.2 });
                if sweep % 3 == 2 {
                    let before = blocks.residual();
                    blocks.plain_sweep();
                    assert!(blocks.residual() < before);
                }
            }
            blocks.arrive_and(|_| {});
            let swept: Vec<[f64; 3]> = blocks
                .interiors
                .iter()
                .flat_map(|interior| &interior.bodies[..interior.before.len()])
                .map(|b| b.velocity)
                .collect();
            let mut velocity = Vec::new();
            blocks.unload(&problem, &mut impulses, &mut velocity);
            let expected = problem.velocity(&impulses);
            for (i, expected) in expected.iter().enumerate() {
                let off = [DVec3::from(swept[i]), velocity[i]].map(|v| v.distance(*expected));
                assert!(off[0] < 1e-12 && off[1] < 1e-14, "{count}: {off:?}");
            }
        }
    }
}
