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

/// A part of a step, or what is between steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    #[default]
    Outside,
    Predict,
    Search,
    Project,
    Glue,
    Move,
}

/// Charges time to the part of the step that is going on.
pub(super) struct Clock {
    part: Part,
    since: Instant,
    pub timings: Timings,
}

impl Default for Clock {
    fn default() -> Self {
        Self { part: Part::Outside, since: Instant::now(), timings: Timings::default() }
    }
}

impl Clock {
    /// Another part begins.
    pub(super) fn turn_to(&mut self, part: Part) {
        let now = Instant::now();
        let spent = now - self.since;
        match self.part {
            Part::Outside => {}
            Part::Predict => self.timings.predict += spent,
            Part::Search => self.timings.search += spent,
            Part::Project => self.timings.project += spent,
            Part::Glue => self.timings.glue += spent,
            Part::Move => self.timings.advance += spent,
        }
        (self.part, self.since) = (part, now);
    }
}
