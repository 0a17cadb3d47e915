//! The forcing during one step: what depends on time alone is averaged once, the rest particle by particle.

use glam::DVec3;
use rayon::prelude::*;

use super::forcing::{AXES, Force, ForceComponent, Forcing, Per};
use super::quadrature::{self, QuadratureError};
use super::{Drag, EnvironmentError, Fraction, Prediction, Span, solid_fraction};
use crate::expression::Expression;
use crate::geometry::Particles;
use crate::shares::share_of;

/// Particles handed to a thread at a time.
const CHUNK: usize = 256;

/// The forcing over a step, for these particles.
pub(super) struct Step<'a> {
    forcing: &'a Forcing,
    pub(super) particles: &'a Particles,
    pub(super) span: Span,
    gravity: DVec3,
    forces: Vec<StepForce<'a>>,
    crowding: Crowding,
}

/// The solid fractions that drag depends on.
enum Crowding {
    Uniform(f64),
    /// One a particle.
    Local(Vec<f64>),
}

/// What drives one particle during the step.
pub(super) struct Drive {
    /// gⁿ + Fⁿ/m (length / time²).
    pub(super) acceleration: DVec3,
    /// u(xⁿ, tⁿ⁺¹) (length / time).
    pub(super) flow: DVec3,
    /// ζ (mass / time).
    pub(super) drag: f64,
}

struct StepForce<'a> {
    force: &'a Force,
    components: [Component<'a>; 3],
}

enum Component<'a> {
    /// The same for all particles; already averaged.
    Uniform(f64),
    /// Evaluated at each particle.
    Steady(&'a Expression),
    /// Averaged over the step at each particle.
    Unsteady(&'a Expression),
}

impl<'a> Step<'a> {
    pub(super) fn new(forcing: &'a Forcing, particles: &'a Particles, span: Span) -> Result<Self, EnvironmentError> {
        span.check()?;
        let mut gravity = DVec3::ZERO;
        for axis in 0..forcing.dimension.components() {
            let mean = forcing.gravity[axis].mean(span);
            gravity[axis] = named(mean, span, || (format!("the {} component of gravity", AXES[axis]), None))?;
        }
        let mut forces = Vec::with_capacity(forcing.forces.len());
        for force in &forcing.forces {
            let mut components = [const { Component::Uniform(0.0) }; 3];
            for axis in 0..forcing.dimension.components() {
                components[axis] = component(&force.components[axis], span)
                    .or_else(|error| named(Err(error), span, || (force.component_name(axis), None)))?;
            }
            forces.push(StepForce { force, components });
        }
        let crowding = match forcing.drag {
            Drag::Hindered { fraction: Fraction::Local { radii }, .. } => {
                Crowding::Local(solid_fraction::fractions(particles, forcing.dimension, radii)?)
            }
            Drag::Hindered { fraction: Fraction::Uniform(fraction), .. } => Crowding::Uniform(fraction),
            _ => Crowding::Uniform(0.0),
        };
        Ok(Self { forcing, particles, span, gravity, forces, crowding })
    }

    /// Fills the prediction by a law that gives a particle's V^{n+1/2} and inverse metric from its index and drive.
    /// Each particle is on its own, so any number of threads gives the same bits, and the same error: the first.
    pub(super) fn predict(
        &self,
        prediction: &mut Prediction,
        law: impl Fn(usize, Drive) -> (DVec3, f64) + Sync,
    ) -> Result<(), EnvironmentError> {
        let uniform = self.is_uniform();
        let one = |i: usize| {
            let drive = if uniform { self.uniform_drive(i) } else { self.drive(i)? };
            let (velocity, inverse_metric) = law(i, drive);
            self.checked(i, self.forcing.dimension.keep(velocity), inverse_metric)
        };
        let count = self.particles.len();
        let Prediction { velocity, metric } = prediction;
        let inverse_mass = metric.diagonal();
        velocity.resize(count, DVec3::ZERO);
        inverse_mass.resize(count, 0.0);
        // Expressions may take long at some particles; gravity and drag take no time but that of memory.
        let together = if uniform { share_of(count) } else { CHUNK };
        let metrics = inverse_mass.par_chunks_mut(together);
        let pieces = velocity.par_chunks_mut(together).zip(metrics).enumerate();
        let failed = pieces.any(|(piece, (velocity, metric))| {
            velocity.iter_mut().zip(metric).enumerate().any(|(at, entry)| match one(piece * together + at) {
                Ok(found) => {
                    (*entry.0, *entry.1) = found;
                    false
                }
                Err(_) => true,
            })
        });
        if failed { (0..count).try_for_each(|i| one(i).map(|_| ())) } else { Ok(()) }
    }

    /// Refuses what is infinite or not a number.
    pub(super) fn check(&self, prediction: &Prediction) -> Result<(), EnvironmentError> {
        let mut entries = prediction.velocity.iter().zip(prediction.metric.inverse_mass()).enumerate();
        entries.try_for_each(|(i, (velocity, metric))| self.checked(i, *velocity, *metric).map(|_| ()))
    }

    /// Whether nothing but gravity and drag acts.
    fn is_uniform(&self) -> bool {
        self.forces.is_empty() && self.forcing.flow.is_none()
    }

    /// Of gravity and drag alone: so little that it must not go through memory.
    #[inline]
    fn uniform_drive(&self, i: usize) -> Drive {
        Drive { acceleration: self.gravity, flow: DVec3::ZERO, drag: self.drag(i) }
    }

    fn drive(&self, i: usize) -> Result<Drive, EnvironmentError> {
        let Particles { position, velocity, radius, mass, group, .. } = self.particles;
        let (x, v) = (position[i], velocity[i]);
        let mut values = [self.span.start, x.x, x.y, x.z, v.x, v.y, v.z, radius[i], mass[i]];
        let mut acceleration = self.gravity;
        for StepForce { force, components } in &self.forces {
            if !force.acts_on(group[i]) {
                continue;
            }
            let mut vector = DVec3::ZERO;
            for (axis, component) in components.iter().enumerate() {
                let mean = component.mean(&mut values, self.span);
                vector[axis] = named(mean, self.span, || (force.component_name(axis), Some(i)))?;
            }
            acceleration += match force.per {
                Per::Force => vector / mass[i],
                Per::Acceleration => vector,
            };
        }
        Ok(Drive { acceleration, flow: self.flow(i)?, drag: self.drag(i) })
    }

    /// ζ.
    #[inline]
    fn drag(&self, i: usize) -> f64 {
        let fraction = match &self.crowding {
            Crowding::Uniform(fraction) => *fraction,
            Crowding::Local(fractions) => fractions[i],
        };
        self.forcing.drag.coefficient(self.particles.radius[i], fraction)
    }

    /// u(xⁿ, tⁿ⁺¹).
    fn flow(&self, i: usize) -> Result<DVec3, EnvironmentError> {
        let mut flow = DVec3::ZERO;
        let Some(expressions) = &self.forcing.flow else { return Ok(flow) };
        let (x, time) = (self.particles.position[i], self.span.end());
        for axis in 0..self.forcing.dimension.components() {
            let value = expressions[axis].eval(&[x.x, x.y, x.z, time]);
            if !value.is_finite() {
                let quantity = format!("the {} component of the flow", AXES[axis]);
                return Err(EnvironmentError::NotFinite { quantity, particle: Some(i), time, value });
            }
            flow[axis] = value;
        }
        Ok(flow)
    }

    fn checked(&self, i: usize, velocity: DVec3, metric: f64) -> Result<(DVec3, f64), EnvironmentError> {
        if velocity.is_finite() && metric.is_finite() {
            return Ok((velocity, metric));
        }
        let culprit =
            velocity.to_array().into_iter().find(|value| !value.is_finite()).map(|v| ("a-priori velocity", v));
        let (name, value) = culprit.unwrap_or(("inverse metric", metric));
        let (quantity, time) = (format!("the {name}"), self.span.start);
        Err(EnvironmentError::NotFinite { quantity, particle: Some(i), time, value })
    }
}

/// One component of a force, averaged at once if it is the same for all particles.
fn component(component: &ForceComponent, span: Span) -> Result<Component<'_>, QuadratureError> {
    let expression = match component {
        ForceComponent::Signal(signal) => return signal.mean(span).map(Component::Uniform),
        ForceComponent::Field(expression) => expression,
    };
    let (in_time, elsewhere) = (expression.uses(0), (1..9).any(|index| expression.uses(index)));
    let found = if in_time { Component::Unsteady(expression) } else { Component::Steady(expression) };
    if elsewhere { Ok(found) } else { found.mean(&mut [span.start; 9], span).map(Component::Uniform) }
}

impl Component<'_> {
    /// The mean over the step for a particle with these values, of which the first is the time.
    fn mean(&self, values: &mut [f64; 9], span: Span) -> Result<f64, QuadratureError> {
        match self {
            Self::Uniform(value) => Ok(*value),
            Self::Steady(expression) => match expression.eval(values) {
                value if value.is_finite() => Ok(value),
                value => Err(QuadratureError::NotFinite { at: span.start, value }),
            },
            Self::Unsteady(expression) => {
                let at = |time| {
                    values[0] = time;
                    expression.eval(values)
                };
                quadrature::mean(at, span.start, span.end())
            }
        }
    }
}

/// Tells whose mean it was, and on which particle.
pub(super) fn named<T>(
    mean: Result<T, QuadratureError>,
    span: Span,
    name: impl FnOnce() -> (String, Option<usize>),
) -> Result<T, EnvironmentError> {
    mean.map_err(|error| {
        let (quantity, particle) = name();
        match error {
            QuadratureError::NotFinite { at, value } => {
                EnvironmentError::NotFinite { quantity, particle, time: at, value }
            }
            QuadratureError::Unresolved { .. } => EnvironmentError::Unresolved { quantity, particle, time: span.start },
        }
    })
}
