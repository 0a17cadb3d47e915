//! Dense packings without overlap, for runs to start from.
//!
//! Centres are drawn at random, and the radii grow from a small share s of what is asked for to the whole of it. A
//! growth makes spheres overlap; one projection of the engine then moves them apart, by the least displacement
//!
//! ```text
//! minimise Σ |x'_i − x_i|²   with   D_ij + e_ij·((x'_j − x_j) − (x'_i − x_i)) ≥ 0   for all pairs,
//! and likewise at walls.
//! ```
//!
//! Gaps are convex in the positions, so that the true gaps are no smaller than these linear ones: after every growth
//! there is no overlap at all, up to the tolerance of the projection. Growth goes a little beyond what is asked for, by
//! more than this tolerance; with the radii asked for the gaps are then positive.
//!
//! Where a growth has no solution, or none that is found within the limits, it is tried again half as large. The
//! packing has jammed when the growth would become tiny.

mod radii;

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use thiserror::Error;

pub use radii::{MOST, Radii};

use crate::adhesion::{Adhesion, Law};
use crate::environment::{Environment, EnvironmentError, Inertia, Prediction, Span};
use crate::geometry::{Cell, Obstacle, Particles, Shape, Side, volume};
use crate::neighbours::pairs_in;
use crate::simulation::{ImpulseRule, Settings, Simulation, State, StepError};

/// Solid fraction at which the centres are drawn, overlaps and all.
const START: f64 = 0.05;
/// The largest growth of the radii at once, relative to them,
const LARGEST_GROWTH: f64 = 0.08;
/// and the smallest: if that does not go, the packing has jammed.
const SMALLEST_GROWTH: f64 = 1e-4;
/// A growth that went well allows the next to be so many times as large.
const FASTER: f64 = 1.25;
/// Radii are grown by this share beyond those asked for: far above the tolerance of the projection, far below what
/// anyone can see.
const BEYOND: f64 = 1e-5;
/// Limit on the sweeps of a projection: a growth that takes more is not worth while.
const MOST_SWEEPS: u64 = 4000;

/// What holds the particles, as wide as its box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Container {
    /// The box itself; sides that repeat are open.
    #[default]
    Box,
    /// An upright cylinder, its axis along z (3D); without caps where z repeats.
    Cylinder,
    /// A ball, in 2D a disc.
    Ball,
}

impl Container {
    /// The share of its box that it takes.
    #[must_use]
    pub fn share(self, dimension: usize) -> f64 {
        match self {
            Self::Box => 1.0,
            Self::Cylinder => 0.25 * PI,
            Self::Ball => volume(0.5, dimension),
        }
    }
}

/// What to pack.
#[derive(Clone, Debug, PartialEq)]
pub struct Packing {
    /// What holds the particles.
    pub container: Container,
    /// 2 for discs in the plane z = 0, or 3.
    pub dimension: usize,
    /// Size of the box, from the origin (length); in 2D its z is not read.
    pub size: DVec3,
    /// The axes along which the box repeats; the others have walls.
    pub periodic: [bool; 3],
    /// The radii (length).
    pub radii: Vec<f64>,
    /// Seed of the centres.
    pub seed: u64,
}

/// Why there is no packing.
#[derive(Debug, Error)]
pub enum PackingError {
    /// A value makes no sense.
    #[error("`{field}` is {value}: {expected}")]
    Invalid {
        /// Which value.
        field: &'static str,
        /// What it is.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// The spheres cannot be moved any more before they have the size asked for.
    #[error(
        "the packing jammed at a solid fraction of {reached:.4}, below the {asked:.4} asked for: ask for less, or for \
         radii that differ more{}",
        if *walls { "; walls keep particles apart: a larger box for the same radii, or a periodic one, holds more" } else { "" }
    )]
    Jammed {
        /// Solid fraction reached.
        reached: f64,
        /// Solid fraction of the radii asked for.
        asked: f64,
        /// Whether there are walls, along which particles lie less densely.
        walls: bool,
    },
    /// The centres found are not a packing: a mistake in this program.
    #[error("{who} overlap in the packing found: this is a mistake in gluey, please report it with the request")]
    Overlap {
        /// Two particles, or one and the walls.
        who: String,
    },
    /// The engine found something else wrong.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Nothing moves but by contact, and all are as easily moved.
struct Still;

impl Environment for Still {
    fn predict(&self, particles: &Particles, _: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
        prediction.clear();
        particles.position.iter().for_each(|_| prediction.push(DVec3::ZERO, 1.0));
        Ok(())
    }

    fn inertia(&self) -> Inertia {
        Inertia::None
    }

    fn potential_energy(&self, _: &Particles, _: f64) -> f64 {
        0.0
    }
}

impl Packing {
    /// Share of the container that the particles take.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        let volume: f64 = self.radii.iter().map(|r| volume(*r, self.dimension)).sum();
        volume / (self.container.share(self.dimension) * box_volume(self.size, self.dimension))
    }

    /// The periodic cell; none where all sides are walls.
    pub fn cell(&self) -> Result<Option<Cell>, PackingError> {
        let period = DVec3::from_array([0, 1, 2].map(|k| if self.repeats(k) { self.size[k] } else { 0.0 }));
        if period == DVec3::ZERO {
            return Ok(None);
        }
        let wrong = |error: crate::geometry::FieldError| PackingError::Invalid {
            field: "size",
            value: error.value,
            expected: error.expected.to_owned(),
        };
        Cell::with_periods(DVec3::ZERO, period).map(Some).map_err(wrong)
    }

    fn repeats(&self, axis: usize) -> bool {
        self.periodic[axis] && axis < self.dimension
    }

    /// Tells whether there can be such a packing at all.
    pub fn check(&self) -> Result<(), PackingError> {
        let wrong = |field, value: String, expected: String| Err(PackingError::Invalid { field, value, expected });
        if self.radii.is_empty() {
            return wrong("radii", "empty".into(), "a packing has at least one particle".into());
        }
        if let Some(bad) = self.radii.iter().find(|r| !(**r > 0.0 && r.is_finite())) {
            return wrong("radii", bad.to_string(), "radii are positive and finite".into());
        }
        let greatest = self.radii.iter().copied().fold(0.0, f64::max);
        for axis in 0..self.dimension {
            let least = if self.repeats(axis) { 5.0 } else { 2.0 } * greatest;
            if !(self.size[axis].is_finite() && self.size[axis] >= least) {
                let expected = format!("at least {least} is needed for particles of radius {greatest}");
                return wrong("size", self.size[axis].to_string(), expected);
            }
        }
        let size = self.size;
        let (round, repeats) = match self.container {
            Container::Box => (true, false),
            Container::Cylinder if self.dimension == 2 => {
                return wrong("container", "a cylinder".into(), "in 2D a box or a ball, which is a disc there".into());
            }
            Container::Cylinder => (size.x == size.y, self.repeats(0) || self.repeats(1)),
            Container::Ball => {
                (size.x == size.y && (self.dimension == 2 || size.x == size.z), (0..3).any(|k| self.repeats(k)))
            }
        };
        if !round {
            return wrong(
                "size",
                size.to_string(),
                "the box of a round container is as wide in all round directions".into(),
            );
        }
        if repeats {
            return wrong("periodic", "set".into(), "only a cylinder repeats, along its axis z".into());
        }
        let densest = if self.dimension == 2 { 0.9069 } else { 0.7405 };
        let equal = self.radii.iter().all(|r| *r == greatest);
        let (asked, most) = (self.fraction(), if equal { densest } else { 1.0 });
        if asked >= most {
            return wrong("fraction", format!("{asked:.4}"), format!("no packing has {most} or more"));
        }
        Ok(())
    }

    /// Centres inside the box at which particles of these radii do not overlap. Tells after every growth which share of
    /// the radii is reached. The same packing gives the same bits for any number of threads.
    pub fn pack(&self, mut progress: impl FnMut(f64)) -> Result<Vec<DVec3>, PackingError> {
        self.check()?;
        let asked = self.fraction();
        let mut simulation = self.start()?;
        let mut share = (START / asked).powf(1.0 / self.dimension as f64).min(1.0);
        let mut growth = LARGEST_GROWTH;
        self.resize(&mut simulation, share);
        simulation.step()?; // the overlaps of the start
        while share < 1.0 + BEYOND {
            let next = (share * (1.0 + growth)).min(1.0 + BEYOND);
            let before = simulation.state.clone();
            self.resize(&mut simulation, next);
            match simulation.step() {
                // A curved wall that bends into a particle is met by repeated projections; where these do not do, it is
                // as if there were no solution.
                Ok(report) if report.unconverged > 0 => {
                    simulation.state = before;
                    growth *= 0.5;
                    if growth < SMALLEST_GROWTH {
                        return Err(self.jammed(share));
                    }
                }
                Ok(_) => {
                    share = next;
                    growth = (FASTER * growth).min(LARGEST_GROWTH);
                    progress(share);
                }
                Err(StepError::Pinched { .. } | StepError::NotConverged { .. } | StepError::TooManySubsteps { .. }) => {
                    growth *= 0.5;
                    if growth < SMALLEST_GROWTH {
                        return Err(self.jammed(share));
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        let centres = simulation.state.particles.position;
        self.refuse_overlap(&centres)?;
        Ok(centres)
    }

    /// Looks at all gaps, whatever the engine has said of them.
    fn refuse_overlap(&self, centres: &[DVec3]) -> Result<(), PackingError> {
        if let Some((i, j)) = pairs_in(self.cell()?.as_ref(), centres, &self.radii).first() {
            return Err(PackingError::Overlap { who: format!("particles {i} and {j}") });
        }
        let Some(walls) = self.walls() else { return Ok(()) };
        let mut who = None;
        for (i, (centre, radius)) in centres.iter().zip(&self.radii).enumerate() {
            walls.at(0.0).touches(*centre, *radius, 0.0, &mut |_| who = Some(format!("particle {i} and the walls")));
        }
        who.map_or(Ok(()), |who| Err(PackingError::Overlap { who }))
    }

    fn jammed(&self, share: f64) -> PackingError {
        let asked = self.fraction();
        let walls = self.walls().is_some();
        PackingError::Jammed { reached: asked * share.powf(self.dimension as f64), asked, walls }
    }

    /// Random centres, and the engine around them.
    fn start(&self) -> Result<Simulation, PackingError> {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let mut particles = Particles { cell: self.cell()?, ..Particles::default() };
        for radius in &self.radii {
            let x = loop {
                let mut x = DVec3::from_array([0; 3].map(|_| random.random::<f64>()));
                if self.dimension == 2 {
                    x.z = 0.5;
                }
                let from_middle = x - 0.5;
                let inside = match self.container {
                    Container::Box => true,
                    Container::Cylinder => from_middle.truncate().length() < 0.5,
                    Container::Ball => from_middle.length() < 0.5,
                };
                if inside {
                    break x * self.size * DVec3::new(1.0, 1.0, if self.dimension == 2 { 0.0 } else { 1.0 });
                }
            };
            particles.push(x, *radius, 1.0);
        }
        particles.wrap();
        let walls: Vec<Obstacle> = self.walls().into_iter().collect();
        let adhesion = Adhesion::uniform(Law::Inelastic);
        let state = State { particles, ..State::default() };
        let mut simulation = Simulation::new(state, walls, Box::new(Still), adhesion);
        // A shorter step would not make a way shorter that an overlap asks for.
        let settings = Settings { max_slip: f64::INFINITY, max_substeps: 1, ..Settings::new(1.0) };
        simulation.settings = Settings { impulses: ImpulseRule::AsFound, ..settings };
        simulation.settings.criteria.max_sweeps = MOST_SWEEPS;
        Ok(simulation)
    }

    /// The walls: sides that do not repeat, or what is round.
    fn walls(&self) -> Option<Obstacle> {
        let half =
            [0, 1, 2].map(|k| if k < self.dimension && !self.repeats(k) { 0.5 * self.size[k] } else { f64::INFINITY });
        let centre = DVec3::from_array([0, 1, 2].map(|k| if k < self.dimension { 0.5 * self.size[k] } else { 0.0 }));
        let (radius, side) = (0.5 * self.size.x, Side::Inside);
        let shape = match self.container {
            Container::Box if half.iter().all(|half| half.is_infinite()) => return None,
            Container::Box => {
                Shape::Box { centre, half: half.into(), orientation: DQuat::IDENTITY, side, open: Vec::new() }
            }
            Container::Cylinder => {
                let length = if self.repeats(2) { f64::INFINITY } else { self.size.z };
                Shape::Cylinder { centre, axis: DVec3::Z, radius, length, side, closed: !self.repeats(2) }
            }
            Container::Ball => Shape::Sphere { centre, radius, side },
        };
        Some(Obstacle { name: "walls".into(), shape, motions: Vec::new(), colour: None, roughness: 0.0 })
    }

    fn resize(&self, simulation: &mut Simulation, share: f64) {
        let particles = &mut simulation.state.particles;
        for (radius, asked) in particles.radius.iter_mut().zip(&self.radii) {
            *radius = asked * share;
        }
    }
}

/// Of a box, or the area of a rectangle.
#[must_use]
pub fn box_volume(size: DVec3, dimension: usize) -> f64 {
    if dimension == 2 { size.x * size.y } else { size.x * size.y * size.z }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packing(dimension: usize, count: usize, fraction: f64, spread: f64) -> Packing {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let radii: Vec<f64> = (0..count).map(|_| 0.1 * (1.0 + spread * random.random::<f64>())).collect();
        let filled: f64 = radii.iter().map(|r| volume(*r, dimension)).sum();
        let size = DVec3::splat((filled / fraction).powf(1.0 / dimension as f64));
        Packing { container: Container::Box, dimension, size, periodic: [true; 3], radii, seed: 3 }
    }

    /// The least gap of any images of any two, and to the walls, by looking at all.
    fn least_gap(packing: &Packing, centres: &[DVec3]) -> f64 {
        let mut least = f64::INFINITY;
        let periods = |axis: usize| if packing.repeats(axis) { -1..=1 } else { 0..=0 };
        for (i, x) in centres.iter().enumerate() {
            for axis in (0..packing.dimension).filter(|axis| !packing.repeats(*axis)) {
                least = least.min(x[axis].min(packing.size[axis] - x[axis]) - packing.radii[i]);
            }
            for (j, y) in centres.iter().enumerate().skip(i + 1) {
                for (a, b, c) in
                    periods(0).flat_map(|a| periods(1).flat_map(move |b| periods(2).map(move |c| (a, b, c))))
                {
                    let image = *y + DVec3::new(f64::from(a), f64::from(b), f64::from(c)) * packing.size;
                    least = least.min(x.distance(image) - packing.radii[i] - packing.radii[j]);
                }
            }
        }
        least
    }

    #[test]
    fn packings_are_as_dense_as_asked_for_and_do_not_overlap() {
        for (dimension, count, fraction, spread, periodic) in [
            (3, 120, 0.60, 0.0, [true; 3]),
            (3, 120, 0.45, 0.5, [true, false, true]),
            (2, 150, 0.82, 0.6, [true; 3]),
            (2, 100, 0.70, 0.6, [false; 3]),
        ] {
            let packing = Packing { periodic, ..packing(dimension, count, fraction, spread) };
            assert!((packing.fraction() - fraction).abs() < 1e-12);
            let centres = packing.pack(|_| ()).unwrap_or_else(|error| panic!("{dimension} {fraction}: {error}"));
            assert_eq!(centres.len(), count);
            let inside = |x: &DVec3| (0..dimension).all(|axis| x[axis] >= 0.0 && x[axis] <= packing.size[axis]);
            assert!(centres.iter().all(inside));
            assert!(least_gap(&packing, &centres) > 0.0, "{dimension} {fraction}");
        }
    }

    #[test]
    fn thousands_of_spheres_do_not_overlap_either() {
        for (count, fraction) in [(1_000, 0.5), (5_000, 0.5), (10_000, 0.5), (3_000, 0.6)] {
            let packing = packing(3, count, fraction, 0.0);
            let centres = packing.pack(|_| ()).unwrap();
            assert!(least_gap(&packing, &centres) > 0.0, "{count} {fraction}");
        }
    }

    #[test]
    fn every_gap_is_checked_before_a_packing_is_given_out() {
        let packing = Packing { periodic: [true, false, false], ..packing(3, 3, 0.05, 0.0) };
        let (size, r) = (packing.size, packing.radii[0]);
        let good = [DVec3::splat(1.1 * r), DVec3::new(0.5 * size.x, 0.5 * size.y, 0.5 * size.z), size - 1.1 * r];
        packing.refuse_overlap(&good).unwrap();
        let refused = |who: &str, centres: [DVec3; 3]| {
            let error = packing.refuse_overlap(&centres).unwrap_err().to_string();
            assert!(error.starts_with(who), "{error}");
        };
        refused("particles 0 and 1", [good[0], good[0] + DVec3::X * 1.99 * r, good[2]]);
        refused("particles 0 and 2", [good[0], good[1], good[0] + DVec3::X * (size.x - 1.99 * r)]);
        refused("particle 2 and the walls", [good[0], good[1], size - 0.99 * r]);
    }

    #[test]
    fn round_containers_hold_what_is_packed() {
        for (container, dimension, count, fraction, pipe) in [
            (Container::Ball, 3, 150, 0.45, false),
            (Container::Ball, 2, 100, 0.72, false),
            (Container::Cylinder, 3, 200, 0.5, false),
            (Container::Cylinder, 3, 200, 0.5, true),
        ] {
            let mut packing = packing(dimension, count, fraction, 0.3);
            packing.size *= container.share(dimension).powf(-1.0 / dimension as f64);
            packing = Packing { container, periodic: [false, false, pipe], ..packing };
            assert!((packing.fraction() - fraction).abs() < 1e-12);
            let centres = packing.pack(|_| ()).unwrap_or_else(|error| panic!("{container:?} {fraction}: {error}"));
            let middle = 0.5 * packing.size;
            for (x, r) in centres.iter().zip(&packing.radii) {
                let from_middle = *x - middle;
                let across = match container {
                    Container::Ball if dimension == 3 => from_middle.length(),
                    _ => from_middle.truncate().length(),
                };
                assert!(across + r < middle.x, "{container:?}");
                assert!(pipe || container == Container::Ball || (x.z > *r && x.z < packing.size.z - r));
            }
            let walls_aside = Packing { container: Container::Box, ..packing };
            assert!(least_gap(&walls_aside, &centres) > 0.0, "{container:?}");
        }
    }

    #[test]
    fn the_seed_decides_and_threads_do_not() {
        let packing = packing(3, 700, 0.5, 0.3);
        let with = |threads: usize, packing: &Packing| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| packing.pack(|_| ()).unwrap())
        };
        let one = with(1, &packing);
        assert_eq!(one, with(2, &packing));
        assert_ne!(one, with(1, &Packing { seed: 4, ..packing }));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let good = packing(3, 60, 0.3, 0.0);
        let refused = |packing: Packing, words: &str| {
            let error = packing.pack(|_| ()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(Packing { radii: Vec::new(), ..good.clone() }, "at least one particle");
        let ball = Packing { container: Container::Ball, ..good.clone() };
        refused(ball.clone(), "only a cylinder repeats");
        refused(Packing { size: ball.size * DVec3::new(1.0, 1.0, 2.0), ..ball }, "as wide in all round directions");
        refused(Packing { radii: vec![-1.0], ..good.clone() }, "positive");
        refused(Packing { size: DVec3::new(0.4, 9.0, 9.0), ..good.clone() }, "at least 0.5");
        refused(Packing { size: good.size * 0.6, ..good.clone() }, "no packing has 0.7405");
        // Above the fraction at which random packings jam.
        let jams = packing(3, 100, 0.72, 0.0);
        let error = jams.pack(|_| ()).unwrap_err();
        let PackingError::Jammed { reached, asked, walls: false } = error else { panic!("{error}") };
        assert!(reached > 0.55 && reached < 0.72 && (asked - 0.72).abs() < 1e-12, "{reached}");
    }
}
