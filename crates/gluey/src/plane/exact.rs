//! The exact solution of the limit model for piecewise-constant forces, from event to event.
//!
//! In flight q'' = f and γ = 0. At a hit u⁺ = 0 and γ⁺ = max(γ_min, m u⁻/r²). In contact u = 0, λ = −m f and
//! γ' = m f/r² until γ reaches γ_min, where it stays while pushed, or 0, where the particle takes off when pulled.

use super::{Experiment, PlaneError, Sample};

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// The plane is met with this velocity u⁻ ≤ 0 (length / time): λ has a mass −m u⁻ there.
    Hit {
        /// u⁻ (length / time).
        velocity: f64,
    },
    /// γ has come down to γ_min: from here on the solids push each other, and nothing is remembered.
    Saturation,
    /// The particle leaves the plane.
    TakeOff,
}

/// An event of the solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When (time).
    pub time: f64,
    /// What.
    pub happening: Happening,
}

/// A stretch of time in which q is a parabola and γ a straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// From when (time).
    pub start: f64,
    /// Until when (time).
    pub end: f64,
    /// q at the start (length).
    pub gap: f64,
    /// u just after the start (length / time).
    pub velocity: f64,
    /// q'' (length / time²).
    pub acceleration: f64,
    /// γ just after the start (momentum / length²).
    pub gamma: f64,
    /// γ' (momentum / length² / time).
    pub gamma_rate: f64,
    /// λ without the masses at hits (force).
    pub lambda: f64,
}

impl Piece {
    /// The state at a time within the piece.
    #[must_use]
    pub fn at(&self, time: f64) -> Sample {
        let s = time - self.start;
        Sample {
            time,
            gap: self.gap + s * (self.velocity + 0.5 * s * self.acceleration),
            velocity: self.velocity + s * self.acceleration,
            gamma: self.gamma + s * self.gamma_rate,
            lambda: self.lambda,
        }
    }
}

/// The solution on [0, T].
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The pieces, in order; together they cover [0, T].
    pub pieces: Vec<Piece>,
    /// Hits, saturations and take-offs, in order.
    pub events: Vec<Event>,
}

/// The state between events.
struct State<'a> {
    experiment: &'a Experiment,
    time: f64,
    gap: f64,
    velocity: f64,
    gamma: f64,
    in_contact: bool,
    solution: Solution,
}

/// Solves the experiment up to a time T > 0.
pub fn solve(experiment: &Experiment, until: f64) -> Result<Solution, PlaneError> {
    experiment.check()?;
    if !(until > 0.0 && until.is_finite()) {
        return Err(PlaneError::invalid("until", until, "a finite number > 0"));
    }
    let steps = experiment.steps()?;
    let mut state = State {
        experiment,
        time: 0.0,
        gap: experiment.gap,
        velocity: experiment.velocity,
        gamma: 0.0,
        in_contact: false,
        solution: Solution { pieces: Vec::new(), events: Vec::new() },
    };
    for (k, (from, force)) in steps.iter().enumerate() {
        let to = steps.get(k + 1).map_or(until, |next| next.0.min(until));
        if *from < until {
            state.advance(*force, to);
        }
    }
    Ok(state.solution)
}

impl State<'_> {
    /// Goes on under a constant force.
    fn advance(&mut self, force: f64, to: f64) {
        while self.time < to {
            if self.in_contact && self.gamma == 0.0 && force > 0.0 {
                self.in_contact = false;
                self.tell(Happening::TakeOff);
            }
            if self.in_contact { self.stay(force, to) } else { self.fly(force, to) }
        }
    }

    fn fly(&mut self, force: f64, to: f64) {
        let hit = self.time + hitting_delay(self.gap, self.velocity, force);
        let end = hit.min(to);
        let piece = self.piece(end, force);
        let Sample { gap, velocity, .. } = piece.at(end);
        self.push(piece);
        if hit <= to {
            self.tell(Happening::Hit { velocity });
            let Experiment { mass, radius, gamma_min, .. } = self.experiment;
            let gamma = mass * velocity / radius.powi(2); // γ⁺ = m u⁻/r²
            (self.gap, self.velocity, self.in_contact) = (0.0, 0.0, true);
            self.gamma = gamma.max(*gamma_min).min(0.0);
            if gamma < *gamma_min && *gamma_min < 0.0 {
                self.tell(Happening::Saturation);
            }
        } else {
            (self.gap, self.velocity) = (gap, velocity);
        }
    }

    fn stay(&mut self, force: f64, to: f64) {
        let Experiment { mass, radius, gamma_min, .. } = self.experiment;
        let saturated = force <= 0.0 && self.gamma <= *gamma_min;
        let rate = if saturated { 0.0 } else { mass * force / radius.powi(2) }; // γ' = m f/r²
        let target = if force > 0.0 { 0.0 } else { *gamma_min };
        let arrival = if rate == 0.0 { f64::INFINITY } else { self.time + (target - self.gamma) / rate };
        let end = arrival.min(to);
        let piece = Piece { gamma_rate: rate, lambda: -mass * force, ..self.piece(end, 0.0) };
        self.gamma = if arrival <= to { target } else { piece.at(end).gamma };
        self.push(piece);
        if arrival <= to && target < 0.0 {
            self.tell(Happening::Saturation);
        }
    }

    /// The piece that begins here, without contact.
    fn piece(&self, end: f64, acceleration: f64) -> Piece {
        let Self { time: start, gap, velocity, gamma, .. } = *self;
        Piece { start, end, gap, velocity, acceleration, gamma, gamma_rate: 0.0, lambda: 0.0 }
    }

    fn push(&mut self, piece: Piece) {
        self.time = piece.end;
        if piece.end > piece.start {
            self.solution.pieces.push(piece);
        }
    }

    fn tell(&mut self, happening: Happening) {
        self.solution.events.push(Event { time: self.time, happening });
    }
}

/// The least s ≥ 0 with q + u s + f s²/2 = 0, infinite if there is none; each root in the form that does not cancel.
fn hitting_delay(q: f64, u: f64, f: f64) -> f64 {
    let discriminant = u * u - 2.0 * f * q;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    let root = discriminant.sqrt();
    if u < 0.0 {
        (2.0 * q / (root - u)).max(0.0) // rounding may have left q a little below 0
    } else if f < 0.0 {
        (u + root) / -f
    } else {
        f64::INFINITY
    }
}

impl Solution {
    /// The solution on a shorter interval [0, T].
    #[must_use]
    pub fn until(&self, time: f64) -> Self {
        let begun = self.pieces.iter().filter(|piece| piece.start < time);
        let pieces = begun.map(|piece| Piece { end: piece.end.min(time), ..*piece }).collect();
        let events = self.events.iter().filter(|event| event.time <= time).copied().collect();
        Self { pieces, events }
    }

    /// The state at a time of [0, T]; at an event, the one just after it.
    #[must_use]
    pub fn at(&self, time: f64) -> Sample {
        let after = self.pieces.partition_point(|piece| piece.start <= time);
        self.pieces[after.saturating_sub(1)].at(time)
    }

    /// The masses of λ at hits: when, and how much (time, momentum).
    pub fn impulses(&self, mass: f64) -> impl Iterator<Item = (f64, f64)> {
        self.events.iter().filter_map(move |event| match event.happening {
            Happening::Hit { velocity } => Some((event.time, -mass * velocity)),
            Happening::Saturation | Happening::TakeOff => None,
        })
    }

    /// When the particle hits the plane (time).
    pub fn hits(&self) -> impl Iterator<Item = f64> {
        self.events.iter().filter(|event| matches!(event.happening, Happening::Hit { .. })).map(|event| event.time)
    }

    /// When the particle takes off (time).
    pub fn takeoffs(&self) -> impl Iterator<Item = f64> {
        self.events.iter().filter(|event| event.happening == Happening::TakeOff).map(|event| event.time)
    }
}
