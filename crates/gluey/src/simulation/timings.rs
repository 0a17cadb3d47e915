//! Where the wall time of steps goes. No result depends on it.

use std::time::{Duration, Instant};

/// Wall time spent since the simulation was made, by the parts of a step. Sub-steps that were refused count, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Forces and a-priori velocities.
    pub predict: Duration,
    /// Finding the pairs that could meet, the rows of the projection, and the checks of its result.
    pub search: Duration,
    /// Solving projections.
    pub project: Duration,
    /// γ of the contacts, and the loads on obstacles.
    pub glue: Duration,
    /// Moving the particles, and the gaps after it.
    pub advance: Duration,
}

/// Tells the time between one lap and the next.
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn lap(&mut self) -> Duration {
        let before = std::mem::replace(&mut self.0, Instant::now());
        self.0 - before
    }
}
