//! The layer of viscous fluid: m q'' = −6πμr² q'/(q + q_s) + m f.
//!
//! With κ = 6πμr²/m and w = ln(q + q_s) the equation has a first integral,
//!
//! u + κ w = c + P(t),  P = ∫f,
//!
//! so that one equation is left, w' = u e^{−w} with u = c + P(t) − κw. It is solved for w, since q itself underflows:
//! ln q ≈ −40,000 for κ = 10⁻⁴. Rough surfaces (q_s > 0) touch at w = ln q_s: u is lost, and when the particle is
//! pulled it starts again from rest, with a new c. q_s is that of γ_min = 6πμ ln q_s.
//!
//! *Apart*, the equation is integrated by the explicit method of Dormand and Prince of order 8. *Close*, that is
//! impossible: perturbations of w decay at the rate (κ + u) e^{−w}, which no step and in the end no digit of the time
//! resolves. But w is then known without integration: u follows the force, u = κφ(δ) with δ = f e^w/κ² and φ = δ − δ² +
//! 3δ³ − 13δ⁴ + …, the solution of φ = δ − δφφ', and the first integral gives w. The two are joined where it makes no
//! difference:
//!
//! - a particle comes close when |δ| is small and u is κφ(δ) up to rounding, or when what is left of its fall,
//!   e^w/max(|u|, κ), is below the resolution of the time;
//! - it is apart again when |δ| has grown to a limit at which the series still is good to 10⁻¹³.

use differential_equations::prelude::{ControlFlag, ExplicitRungeKutta, IVP, Interpolation, ODE, Solout, Solution};

use super::{Experiment, Grid, PlaneError, Sample};
use crate::environment::Span;

/// Tolerance of a step in w, which is a relative one in q + q_s. Errors of steps add up: this is well below 10⁻¹⁰.
const TOLERANCE: f64 = 1e-14;

/// The same with forces that vary, whose mean is known to a quadrature's accuracy only.
const TOLERANCE_VARYING: f64 = 1e-11;

/// Most steps between two samples; a particle that is not close needs about 1/δ.
const MOST_STEPS: usize = 100_000;

/// Most stretches between two samples: falls, rises, closeness, touch.
const MOST_STRETCHES: u32 = 1000;

/// |δ| up to which the series for u is used: with constant forces 71|δ|⁵ is left out of w.
const CLOSE: f64 = 1e-3;

/// The same with forces that vary, for the strongest of them: δ²κf'/f² is left out of w, and forgotten once the
/// particle is apart.
const CLOSE_VARYING: f64 = 1e-4;

/// |u − κφ(δ)| at which w is taken to follow, relative to κ: an error in w.
const SETTLED: f64 = 1e-13;

/// The same with forces that vary.
const SETTLED_VARYING: f64 = 1e-8;

/// What is left of a fall is not resolved when it takes less than this, relative to the time.
const TIME_RESOLUTION: f64 = 1e-14;

/// Most corrections of the time of a turn or touch; each squares the error.
const NEWTON: u32 = 6;

/// Parts of an interval between two samples in which the end of closeness is looked for.
const LOOKS: u32 = 8;

/// What was computed.
#[derive(Clone, Debug)]
pub struct Run {
    /// q, u, 6πμ ln(q + q_s) and λ = −6πμr² u/(q + q_s) at the times of the grid.
    pub samples: Vec<Sample>,
    /// When ln(q + q_s) was least, and its value (time, –).
    pub lowest: (f64, f64),
}

/// Integrates the layer of this κ > 0 (length / time).
pub fn run(experiment: &Experiment, kappa: f64, grid: Grid) -> Result<Run, PlaneError> {
    experiment.check()?;
    if !(kappa > 0.0 && kappa.is_finite()) {
        return Err(PlaneError::invalid("kappa", kappa, "a finite number > 0"));
    }
    let Experiment { gap, velocity, mass, radius, gamma_min, .. } = *experiment;
    // γ_min = 6πμ ln q_s with 6πμ = κm/r².
    let log_shift = gamma_min * radius.powi(2) / (kappa * mass);
    let log_gap = (gap + log_shift.exp()).ln();
    let constant_pieces = experiment.steps().is_ok();
    let (close, settled) = if constant_pieces { (CLOSE, SETTLED) } else { (CLOSE_VARYING, SETTLED_VARYING) };
    let mut layer = Layer {
        experiment,
        kappa,
        log_shift,
        time: 0.0,
        log_gap,
        pushed: 0.0,
        constant: velocity + kappa * log_gap,
        phase: Phase::Apart,
        close,
        strongest: if constant_pieces { 0.0 } else { experiment.strongest_force(grid) },
        settled,
        tolerance: if constant_pieces { TOLERANCE } else { TOLERANCE_VARYING },
        lowest: (0.0, log_gap),
    };
    let mut samples = vec![layer.sample()];
    for n in 1..=grid.steps() {
        layer.advance(grid.time(n))?;
        samples.push(layer.sample());
    }
    Ok(Run { samples, lowest: layer.lowest })
}

/// How the particle moves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// w is integrated.
    Apart,
    /// w follows P.
    Close,
    /// The rough surfaces touch: w = ln q_s, u = 0.
    Touching,
}

struct Layer<'a> {
    experiment: &'a Experiment,
    kappa: f64,
    /// ln q_s; −∞ where smooth.
    log_shift: f64,
    time: f64,
    /// w.
    log_gap: f64,
    /// P.
    pushed: f64,
    /// c.
    constant: f64,
    phase: Phase,
    /// Limit of |δ| for this force.
    close: f64,
    /// The greatest |f| of a force that varies; 0 for one that does not (length / time²).
    strongest: f64,
    /// Largest |u − κφ(δ)|/κ for this force.
    settled: f64,
    /// Tolerance of a step for this force.
    tolerance: f64,
    lowest: (f64, f64),
}

/// φ(δ)/δ.
fn follows(delta: f64) -> f64 {
    1.0 - delta * (1.0 - delta * (3.0 - 13.0 * delta))
}

impl Layer<'_> {
    fn sample(&self) -> Sample {
        let Experiment { mass, radius, .. } = self.experiment;
        let (velocity, rate) = match self.phase {
            Phase::Apart => {
                let (velocity, _) = self.velocity(self.pushed, self.log_gap);
                (velocity, velocity * (-self.log_gap).exp())
            }
            Phase::Close => {
                let delta = self.delta(self.time, self.log_gap);
                // w' = u e^{−w}, where e^w may be 0: (f/κ) φ(δ)/δ.
                let rate = self.experiment.force.at(self.time) / self.kappa * follows(delta);
                (self.kappa * delta * follows(delta), rate)
            }
            Phase::Touching => (0.0, 0.0),
        };
        let resting = mass * self.experiment.force.at(self.time);
        Sample {
            time: self.time,
            gap: -self.log_gap.exp() * (self.log_shift - self.log_gap).exp_m1(), // e^w − q_s without cancellation
            velocity,
            gamma: self.kappa * mass / radius.powi(2) * self.log_gap,
            lambda: if self.phase == Phase::Touching { -resting } else { -self.kappa * mass * rate },
        }
    }

    /// Goes on to a time, stopping where the force has a knot.
    fn advance(&mut self, to: f64) -> Result<(), PlaneError> {
        let knots = self.experiment.force.knots();
        let mut stretches = 0;
        while self.time < to {
            stretches += 1;
            if stretches > MOST_STRETCHES {
                let reason = "the force turns it too often within a sample; try a smaller time step".to_owned();
                return Err(PlaneError::Integration { time: self.time, log_gap: self.log_gap, reason });
            }
            let knot = knots.get(knots.partition_point(|knot| *knot <= self.time));
            let end = knot.copied().unwrap_or(to).min(to);
            match self.phase {
                Phase::Apart => self.integrate(end)?,
                Phase::Close => self.follow(end)?,
                Phase::Touching => self.wait(end)?,
            }
        }
        Ok(())
    }

    /// P at a time after the present one.
    fn pushed_at(&self, time: f64) -> Result<f64, PlaneError> {
        self.pushed_after(time - self.time)
    }

    /// P after a delay from the present time: a delay has digits where the time has none left.
    fn pushed_after(&self, delay: f64) -> Result<f64, PlaneError> {
        let span = Span { start: self.time, dt: delay };
        let seen = span.end() > span.start;
        let mean = if seen { self.experiment.mean_force(span)? } else { self.experiment.force.at(self.time) };
        Ok(self.pushed + delay * mean)
    }

    /// Apart: w' = u e^{−w}, until the end, a turn, the end of a fall, or touch.
    fn integrate(&mut self, end: f64) -> Result<(), PlaneError> {
        self.pushed_at(end)?; // a force without a mean is told as such
        let watched = if self.falls() { Watch::Fall } else { Watch::Rise };
        let fall = Fall { layer: self, watched };
        let whole = end - self.time;
        let (mut delay, mut log_gap, stop) = fall.solve(whole)?;
        if let (Watch::Fall, Some(stop @ (Stop::Turn | Stop::Touch))) = (watched, stop) {
            (delay, log_gap) = fall.refine(stop, delay)?;
        }
        self.pushed = self.pushed_after(delay)?;
        (self.time, self.log_gap) = (if delay < whole { self.time + delay } else { end }, log_gap);
        match stop {
            Some(Stop::Unresolved | Stop::Settled) => {
                self.log_gap = self.slaved(self.time, self.pushed);
                self.phase = Phase::Close;
            }
            Some(Stop::Touch) => self.log_gap = self.log_shift,
            Some(Stop::Turn) | None => {}
        }
        self.touch();
        self.note_lowest();
        Ok(())
    }

    /// Whether w is about to decrease; where u is 0 up to rounding, by the force.
    fn falls(&self) -> bool {
        let (velocity, rounding) = self.velocity(self.pushed, self.log_gap);
        if velocity.abs() > rounding { velocity < 0.0 } else { self.experiment.force.at(self.time) < 0.0 }
    }

    /// u by the first integral, and the rounding of it (length / time).
    fn velocity(&self, pushed: f64, log_gap: f64) -> (f64, f64) {
        let kappa_w = self.kappa * log_gap;
        let terms = self.constant.abs() + pushed.abs() + kappa_w.abs();
        let rounding = self.tolerance.max(8.0 * f64::EPSILON) * terms.max(self.kappa);
        (self.constant + pushed - kappa_w, rounding)
    }

    /// Close: κw = c + P − u, until the end, touch, or until the particle is no longer close.
    fn follow(&mut self, end: f64) -> Result<(), PlaneError> {
        let start = self.time;
        for look in 1..=LOOKS {
            let time = if look == LOOKS { end } else { start + (end - start) * f64::from(look) / f64::from(LOOKS) };
            let pushed = self.pushed_at(time)?;
            let mut log_gap = self.slaved(time, pushed);
            // A rough particle that has just been pulled off from rest lags behind u = κφ(δ), which w does not know.
            if self.experiment.force.at(time) > 0.0 {
                log_gap = log_gap.max(self.log_shift);
            }
            if self.is_close(time, log_gap) {
                (self.time, self.pushed, self.log_gap) = (time, pushed, log_gap);
            } else {
                self.leave(time)?;
            }
            if self.experiment.force.at(self.time) <= 0.0 {
                self.touch();
            }
            self.note_lowest();
            if self.phase != Phase::Close {
                break;
            }
        }
        Ok(())
    }

    /// w where u = κφ(δ), by the first integral; far from close, where this says nothing, without u.
    fn slaved(&self, time: f64, pushed: f64) -> f64 {
        let mut log_gap = (self.constant + pushed) / self.kappa;
        // w = (c + P)/κ − φ(δ(w)): each turn gains a factor |δ|.
        for _ in 0..6 {
            let delta = self.delta(time, log_gap);
            if delta.abs() > 2.0 * self.close {
                break;
            }
            log_gap = (self.constant + pushed) / self.kappa - delta * follows(delta);
        }
        log_gap
    }

    /// δ = f e^w/κ².
    fn delta(&self, time: f64, log_gap: f64) -> f64 {
        self.experiment.force.at(time) * log_gap.exp() / self.kappa.powi(2)
    }

    /// Whether |δ| is small; where the force varies, also for the strongest force there is, since it passes 0 on its
    /// way.
    fn is_close(&self, time: f64, log_gap: f64) -> bool {
        let strongest = self.strongest.max(self.experiment.force.at(time).abs());
        strongest * log_gap.exp() / self.kappa.powi(2) < self.close
    }

    /// Finds, by bisection, when the particle stops being close, at or before the given time.
    fn leave(&mut self, time: f64) -> Result<(), PlaneError> {
        let (mut early, mut late) = (self.time, time);
        loop {
            let middle = early + 0.5 * (late - early);
            if middle <= early || middle >= late {
                break;
            }
            let log_gap = self.slaved(middle, self.pushed_at(middle)?);
            if self.is_close(middle, log_gap) { early = middle } else { late = middle }
        }
        let pushed = self.pushed_at(late)?;
        let log_gap = self.slaved(late, pushed).max(self.log_shift);
        (self.time, self.pushed, self.log_gap, self.phase) = (late, pushed, log_gap, Phase::Apart);
        Ok(())
    }

    /// Rough surfaces touch at w = ln q_s; u is lost.
    fn touch(&mut self) {
        if self.log_gap <= self.log_shift {
            (self.log_gap, self.phase) = (self.log_shift, Phase::Touching);
        }
    }

    /// Touching: until the end, or until the force pulls; then from rest, c = κ ln q_s − P.
    fn wait(&mut self, end: f64) -> Result<(), PlaneError> {
        let force = |time: f64| self.experiment.force.at(time);
        if force(self.time) <= 0.0 {
            let (mut early, mut late) = (self.time, end);
            let pulled = (1..=LOOKS)
                .map(|look| self.time + (end - self.time) * f64::from(look) / f64::from(LOOKS))
                .find(|time| force(*time) > 0.0);
            let Some(pulled) = pulled else {
                (self.pushed, self.time) = (self.pushed_at(end)?, end);
                return Ok(());
            };
            late = late.min(pulled);
            loop {
                let middle = early + 0.5 * (late - early);
                if middle <= early || middle >= late {
                    break;
                }
                if force(middle) > 0.0 { late = middle } else { early = middle }
            }
            (self.pushed, self.time) = (self.pushed_at(late)?, late);
        }
        self.constant = self.kappa * self.log_shift - self.pushed;
        self.phase = if self.is_close(self.time, self.log_gap) { Phase::Close } else { Phase::Apart };
        Ok(())
    }

    fn note_lowest(&mut self) {
        if self.log_gap < self.lowest.1 {
            self.lowest = (self.time, self.log_gap);
        }
    }
}

/// Why an integration was stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stop {
    /// u = 0.
    Turn,
    /// What is left of the fall takes no time that could be seen.
    Unresolved,
    /// u follows the force.
    Settled,
    /// w = ln q_s.
    Touch,
}

/// The equation w' = u e^{−w}, and where its integration is to stop.
struct Fall<'a> {
    layer: &'a Layer<'a>,
    watched: Watch,
}

/// Which stops are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Watch {
    /// Those of a fall: a turn, its end, touch, closeness.
    Fall,
    /// Those of a rise: a turn, closeness.
    Rise,
    Nothing,
}

impl Fall<'_> {
    /// u and its rounding. A force without a mean has no velocity either; that has been looked for before.
    fn velocity(&self, delay: f64, log_gap: f64) -> (f64, f64) {
        self.layer.pushed_after(delay).map_or((f64::NAN, 0.0), |pushed| self.layer.velocity(pushed, log_gap))
    }

    /// Integrates over a delay, or to the end of the step in which there was a stop.
    fn solve(&self, whole: f64) -> Result<(f64, f64, Option<Stop>), PlaneError> {
        let Layer { time, log_gap, .. } = *self.layer;
        if whole <= 0.0 {
            return Ok((0.0, log_gap, None));
        }
        let failed = |reason: String| PlaneError::Integration { time, log_gap, reason };
        let method =
            ExplicitRungeKutta::dop853().rtol(self.layer.tolerance).atol(self.layer.tolerance).max_steps(MOST_STEPS);
        let result = IVP::ode(self, 0.0, whole, log_gap).solout(Ends { fall: self }).method(method).solve();
        let solution = result.map_err(|error| failed(error.to_string()))?;
        match solution.last() {
            Ok((delay, log_gap)) if delay.is_finite() && log_gap.is_finite() => {
                Ok((*delay, *log_gap, self.stop(*delay, *log_gap)))
            }
            _ => Err(failed("no finite result".to_owned())),
        }
    }

    /// Where a fall turns or ends in touch, by Newton's method with integrations up to each guess. A touch is the root
    /// of e^w − q_s, which is almost a line.
    fn refine(&self, stop: Stop, passed: f64) -> Result<(f64, f64), PlaneError> {
        let unwatched = Fall { layer: self.layer, watched: Watch::Nothing };
        let (kappa, log_shift) = (self.layer.kappa, self.layer.log_shift);
        let mut found = (passed, unwatched.solve(passed)?.1);
        for _ in 0..NEWTON {
            let (delay, log_gap) = found;
            let (velocity, _) = self.velocity(delay, log_gap);
            let force = self.layer.experiment.force.at(self.layer.time + delay);
            let correction = match stop {
                Stop::Turn => -velocity / (force - kappa * velocity * (-log_gap).exp()), // u' = f − κw'
                _ => -log_shift.exp() * (log_gap - log_shift).exp_m1() / velocity,
            };
            let next = (delay + correction).min(passed);
            if next == delay || next.is_nan() || next <= 0.0 {
                break;
            }
            found = (next, unwatched.solve(next)?.1);
        }
        Ok(found)
    }

    /// Each is positive where the integration is to be stopped for its reason. A turn is noticed when u has passed 0 by
    /// more than its rounding.
    fn stops(&self, delay: f64, log_gap: f64) -> [(f64, Stop); 4] {
        let layer = self.layer;
        let time = layer.time + delay;
        let (velocity, rounding) = self.velocity(delay, log_gap);
        let unresolved = (TIME_RESOLUTION * time * velocity.abs().max(layer.kappa)).ln() - log_gap;
        let touch = layer.log_shift - log_gap;
        let delta = layer.delta(time, log_gap);
        let lag = (velocity - layer.kappa * delta * follows(delta)).abs();
        let settled = if layer.is_close(time, log_gap) { layer.settled * layer.kappa + rounding - lag } else { -1.0 };
        let never = f64::NEG_INFINITY;
        let [turn, unresolved, touch, settled] = match self.watched {
            Watch::Fall => [velocity - rounding, unresolved, touch, settled],
            Watch::Rise => [-velocity - rounding, never, never, settled],
            Watch::Nothing => [-1.0, never, never, never],
        };
        [(touch, Stop::Touch), (unresolved, Stop::Unresolved), (settled, Stop::Settled), (turn, Stop::Turn)]
    }

    /// Why the integration is to be stopped here, if it is.
    fn stop(&self, delay: f64, log_gap: f64) -> Option<Stop> {
        self.stops(delay, log_gap).into_iter().find(|stop| stop.0 >= 0.0).map(|stop| stop.1)
    }
}

impl ODE for Fall<'_> {
    fn diff(&self, delay: f64, log_gap: &f64, rate: &mut f64) {
        *rate = self.velocity(delay, *log_gap).0 * (-*log_gap).exp();
    }
}

/// Stops an integration at the end of the first step in which there was a reason to. Roots within a step are not looked
/// for: what is left to do does not depend on where a fall is given up, and where the place counts it is refined.
struct Ends<'a> {
    fall: &'a Fall<'a>,
}

impl Solout<f64, f64> for Ends<'_> {
    fn solout<I: Interpolation<f64, f64> + ?Sized>(
        &mut self,
        delay: f64,
        _: f64,
        log_gap: &f64,
        _: &f64,
        _: &mut I,
        solution: &mut Solution<f64, f64>,
    ) -> ControlFlag<f64, f64> {
        // Of the points passed only the last counts.
        solution.t.clear();
        solution.y.clear();
        solution.push(delay, *log_gap);
        if delay > 0.0 && self.fall.stop(delay, *log_gap).is_some() {
            ControlFlag::Terminate
        } else {
            ControlFlag::Continue
        }
    }
}
