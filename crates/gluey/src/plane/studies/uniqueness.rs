//! Contact times that cluster, and whether the limit model has one solution.
//!
//! After t* the force repeats itself on ever shorter intervals towards t*: it is 1 on [t* + 2^k, t* + 1.5·2^k) and −1.8
//! on [t* + 1.5·2^k, t* + 2^{k+1}), for all k. At t* the particle touches the plane with u = 0 and γ = 0.
//!
//! *Dry* (γ_min = 0) there are two solutions. One takes off at t* + 2^k for all even k, flies over the push that
//! follows and over the next pull, and is back before t* + 2^{k+2}; the other does so for all odd k. Cut off below
//! 2^{−K} the force has one solution: which of the two depends on the parity of K, however large K is.
//!
//! *Glued* (γ_min < 0) the hits cluster as well, but the solution is one: docs/plane.md has the proof.

use crate::environment::{Signal, Table};
use crate::plane::{Experiment, Grid, PlaneError, Sample, algorithm, exact};

/// The pull and the push of an octave.
const PULL: f64 = 1.0;
const PUSH: f64 = -1.8;

/// The last octave ends 2^LAST after t*.
const LAST: i32 = 2;

/// The shortest octave is 2^{−FINEST}, or half of it for the other parity.
const FINEST: i32 = 40;

/// An experiment whose contact times cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The particle: pressed, pulled until its glue is used up, then under the force that clusters.
    pub experiment: Experiment,
    /// t* (time).
    pub start: f64,
    /// The end of the last octave (time).
    pub until: f64,
}

/// The experiment with octaves down to 2^{−finest}, for m = r = 1.
pub fn cluster(gamma_min: f64, finest: i32) -> Result<Cluster, PlaneError> {
    let papers = Experiment::papers(gamma_min);
    papers.check()?;
    // Pushed until t = 2, and pulled until what is remembered of it, at most 4, is paid back.
    let start = 2.0 + 0.5 * gamma_min.abs().min(4.0);
    let (mut times, mut values) = (vec![0.0], vec![-2.0]);
    if start > 2.0 {
        times.push(2.0);
        values.push(2.0);
    }
    times.push(start);
    values.push(PUSH);
    for octave in -finest..LAST {
        let length = 2.0_f64.powi(octave);
        times.extend([start + length, start + 1.5 * length]);
        values.extend([PULL, PUSH]);
    }
    let force = Signal::Steps(Table::new(times, values)?);
    Ok(Cluster { experiment: Experiment { force, ..papers }, start, until: start + 2.0_f64.powi(LAST) })
}

/// The algorithm with one time step, against both solutions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// h (time).
    pub dt: f64,
    /// q at the end (length).
    pub final_gap: f64,
    /// max |qⁿ − q(tⁿ)| against the solution that takes off at even k (length).
    pub from_even: f64,
    /// The same against the solution that takes off at odd k (length).
    pub from_odd: f64,
}

/// All that was computed for one γ_min.
#[derive(Clone, Debug)]
pub struct Family {
    /// γ_min (momentum / length²).
    pub gamma_min: f64,
    /// t* (time).
    pub start: f64,
    /// The two exact solutions, for even and odd K, at times evenly spaced in ln(t − t*); the same, to rounding, where
    /// there is only one.
    pub solutions: [Vec<Sample>; 2],
    /// max |q_even − q_odd| (length).
    pub apart: f64,
    /// Hits of the exact solution after t*.
    pub hits: usize,
    /// The algorithm, h = 2^{−j} for each j.
    pub refinements: Vec<Refinement>,
}

/// The study.
#[derive(Clone, Debug)]
pub struct Uniqueness {
    /// One entry for each γ_min.
    pub families: Vec<Family>,
}

/// The octaves after t* in which the exact solutions are compared, and in how many points each.
const COMPARED: std::ops::Range<i32> = -6..LAST;
const POINTS: u32 = 128;

/// Runs dry, rough and smooth particles with h = 2^{−j} for each j.
pub fn uniqueness(gamma_mins: &[f64], exponents: &[i32]) -> Result<Uniqueness, PlaneError> {
    let families = gamma_mins.iter().map(|gamma_min| family(*gamma_min, exponents));
    Ok(Uniqueness { families: families.collect::<Result<_, _>>()? })
}

fn family(gamma_min: f64, exponents: &[i32]) -> Result<Family, PlaneError> {
    let (even, odd) = (cluster(gamma_min, FINEST)?, cluster(gamma_min, FINEST + 1)?);
    let Cluster { start, until, .. } = even;
    let solutions = [exact::solve(&even.experiment, until)?, exact::solve(&odd.experiment, until)?];
    let fractions = || (0..POINTS).map(|point| f64::from(point) / f64::from(POINTS));
    let delays = COMPARED.flat_map(|octave| fractions().map(move |part| (f64::from(octave) + part).exp2()));
    let times: Vec<f64> = delays.map(|delay| start + delay).chain([until]).collect();
    let sampled = solutions.each_ref().map(|solution| times.iter().map(|time| solution.at(*time)).collect::<Vec<_>>());
    let mut refinements = Vec::new();
    for &exponent in exponents {
        let grid = Grid::new(2.0_f64.powi(-exponent), until)?;
        let run = algorithm::run(&even.experiment, grid)?;
        let from = |solution: &exact::Solution| {
            let error = |sample: &Sample| (sample.gap - solution.at(sample.time.min(until)).gap).abs();
            run.samples.iter().map(error).fold(0.0, f64::max)
        };
        let final_gap = run.samples.last().map_or(f64::NAN, |sample| sample.gap);
        refinements.push(Refinement {
            dt: grid.dt,
            final_gap,
            from_even: from(&solutions[0]),
            from_odd: from(&solutions[1]),
        });
    }
    let apart = sampled[0].iter().zip(&sampled[1]).map(|(a, b)| (a.gap - b.gap).abs()).fold(0.0, f64::max);
    let hits = solutions[0].hits().filter(|time| *time > start).count();
    Ok(Family { gamma_min, start, solutions: sampled, apart, hits, refinements })
}
