//! The experiment: a particle in a fluid is pushed to a plane and pulled off, with no contact, an inelastic or a gluey
//! one at distance η.
//!
//! Lengths are radii and forces are in units of 6πμ r, so that u = f/λ(q) in the fluid; γ is in these units × time.

use std::f64::consts::PI;
use std::sync::Arc;

use glam::DVec3;
use gluey::adhesion::{Adhesion, Law, Scaling, Threshold};
use gluey::environment::Signal;
use gluey::geometry::{Obstacle, Particles, Shape};
use gluey::plane::{Grid, Sample};
use gluey::simulation::{Simulation, State, StepReport};

use crate::drag::NormalDrag;
use crate::error::FluidError;
use crate::near_plane::NearPlane;

/// A contact counts as left when the gap has grown beyond η by this much, relative to it: above rounding.
const LEFT: f64 = 1e-9;
/// One contact is solved to rounding.
const TOLERANCE: f64 = 1e-13;

/// What keeps the particle off the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contact {
    /// Nothing but the fluid.
    None,
    /// No gap below η; a pull acts at once.
    Inelastic,
    /// No gap below η, and pushes are remembered down to γ_min ≤ 0.
    Gluey {
        /// −∞ is smooth.
        gamma_min: f64,
    },
}

/// The experiment.
#[derive(Clone)]
pub struct Coupling {
    /// The fluid.
    pub drag: Arc<dyn NormalDrag>,
    /// The contact.
    pub contact: Contact,
    /// Distance η below which the contact owns lubrication.
    pub eta: f64,
    /// Gap at t = 0.
    pub start: f64,
    /// The force f(t).
    pub force: Signal,
    /// The steps.
    pub grid: Grid,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// One sample a step, from t = 0; velocities and forces of the contact are means over the step that ended.
    pub samples: Vec<Sample>,
    /// End of the step in which the particle came to η.
    pub hit: Option<f64>,
    /// End of the step in which it had left again.
    pub takeoff: Option<f64>,
}

impl Trajectory {
    /// The gap at a time, on straight lines between the samples.
    #[must_use]
    pub fn gap_at(&self, time: f64) -> f64 {
        let after = self.samples.partition_point(|sample| sample.time < time).clamp(1, self.samples.len() - 1);
        let (from, to) = (self.samples[after - 1], self.samples[after]);
        from.gap + (to.gap - from.gap) * (time - from.time) / (to.time - from.time)
    }

    /// The last gap.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.samples.last().map_or(f64::NAN, |sample| sample.gap)
    }
}

impl Coupling {
    /// Takes all steps.
    pub fn run(&self) -> Result<Trajectory, FluidError> {
        self.check()?;
        let mut simulation = self.simulation();
        let mut report = StepReport::default();
        let mut samples = vec![Sample { time: 0.0, gap: self.start, velocity: 0.0, gamma: 0.0, lambda: 0.0 }];
        let (mut hit, mut takeoff) = (None, None);
        for _ in 0..self.grid.steps() {
            let time = simulation.time();
            simulation.step_into(&mut report).map_err(|cause| FluidError::Step { time, cause })?;
            let state = &simulation.state;
            let contact = state.contacts.first();
            let sample = Sample {
                time: simulation.time(),
                gap: state.particles.position[0].z - 1.0,
                velocity: state.particles.velocity[0].z,
                gamma: contact.map_or(0.0, |contact| contact.gamma),
                lambda: contact.map_or(0.0, |contact| contact.impulse / self.grid.dt),
            };
            let touches = self.contact != Contact::None && sample.gap <= self.eta * (1.0 + LEFT);
            if touches {
                hit = hit.or(Some(sample.time));
            } else if hit.is_some() {
                takeoff = takeoff.or(Some(sample.time));
            }
            samples.push(sample);
        }
        Ok(Trajectory { samples, hit, takeoff })
    }

    /// Refuses figures that make no sense.
    pub fn check(&self) -> Result<(), FluidError> {
        if let Some((name, value)) =
            [("eta", self.eta), ("q0", self.start)].into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0))
        {
            return Err(FluidError::Invalid { name, value, expected: "a positive number" });
        }
        if self.contact != Contact::None && self.start < self.eta {
            let expected = "at least eta, the distance that the contact keeps";
            return Err(FluidError::Invalid { name: "q0", value: self.start, expected });
        }
        if let Contact::Gluey { gamma_min } = self.contact
            && (gamma_min.is_nan() || gamma_min > 0.0)
        {
            return Err(FluidError::Invalid {
                name: "gamma_min",
                value: gamma_min,
                expected: "a number <= 0, or -inf",
            });
        }
        Ok(())
    }

    /// A particle of radius 1 over the plane z = 0, whose surface for contacts is at η.
    fn simulation(&self) -> Simulation {
        let mut particles = Particles::default();
        particles.push(DVec3::Z * (1.0 + self.start), 1.0, 1.0);
        let law = match self.contact {
            Contact::None => None,
            Contact::Inelastic => Some(Law::Inelastic),
            Contact::Gluey { gamma_min } => {
                let smooth = gamma_min == f64::NEG_INFINITY;
                let threshold = if smooth { Threshold::Smooth } else { Threshold::Value(gamma_min) };
                Some(Law::Gluey { threshold, scaling: Scaling::Unit })
            }
        };
        let plane = |_| Obstacle {
            name: "plane".to_owned(),
            shape: Shape::HalfSpace { point: DVec3::Z * self.eta, normal: DVec3::Z },
            motions: Vec::new(),
            colour: None,
            roughness: 0.0,
        };
        let obstacles: Vec<Obstacle> = law.iter().map(plane).collect();
        let adhesion = Adhesion::uniform(law.unwrap_or(Law::Inelastic));
        let viscosity = (6.0 * PI).recip();
        let environment = NearPlane { drag: Arc::clone(&self.drag), viscosity, force: self.force.clone() };
        let mut simulation =
            Simulation::new(State { particles, ..State::default() }, obstacles, Box::new(environment), adhesion);
        simulation.settings.dt = self.grid.dt;
        simulation.settings.criteria.tolerance = TOLERANCE;
        simulation
    }
}
