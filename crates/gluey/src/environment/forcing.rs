//! What acts on the particles: gravity, forces, the drag of a fluid and its flow.

use glam::DVec3;

use super::error::parsed_with;
use super::{Drag, EnvironmentError, Signal, Signal3};
use crate::expression::{Expression, ExpressionError};
use crate::geometry::{Particles, volume};

/// The variables of a force's expression: time, centre, velocity, radius and mass of the particle.
pub const FORCE_VARIABLES: [&str; 9] = ["t", "x", "y", "z", "vx", "vy", "vz", "r", "m"];

/// The variables of the expressions of the flow: the particle's centre and the time.
pub const FLOW_VARIABLES: [&str; 4] = ["x", "y", "z", "t"];

/// Names of the components, in order.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// All that acts on the particles. The default is nothing, in three dimensions.
#[derive(Clone, Debug)]
pub struct Forcing {
    /// g, uniform in space (length / time²). It may turn or switch in time.
    pub gravity: Signal3,
    /// Further forces; they add up.
    pub forces: Vec<Force>,
    /// Drag of the fluid, −ζ (V − u).
    pub drag: Drag,
    /// Velocity u of the fluid (length / time) in [`FLOW_VARIABLES`]; at rest if not given.
    pub flow: Option<[Expression; 3]>,
    /// Whether the run is in space or in the plane z = 0.
    pub dimension: Dimension,
}

/// Where the particles live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dimension {
    /// The plane z = 0: components along z are not read, and predicted as exactly 0.
    Two,
    /// Space.
    #[default]
    Three,
}

impl Dimension {
    /// Volume of a sphere; in the plane that of a disc of unit thickness.
    #[must_use]
    pub fn volume(self, radius: f64) -> f64 {
        volume(radius, self.components())
    }

    /// 1 in the directions that there are, 0 in the others.
    #[must_use]
    pub fn directions(self) -> DVec3 {
        match self {
            Self::Two => DVec3::new(1.0, 1.0, 0.0),
            Self::Three => DVec3::ONE,
        }
    }
}

/// A force on some or all particles.
#[derive(Clone, Debug)]
pub struct Force {
    /// Its name in messages.
    pub label: String,
    /// The groups it acts on; None for all particles.
    pub groups: Option<Vec<u32>>,
    /// Its components along x, y, z (force, or length / time² if per mass).
    pub components: [ForceComponent; 3],
    /// Whether the components are a force or an acceleration.
    pub per: Per,
}

/// What the components of a force are given per.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// Per particle: a force, the same whatever the mass.
    #[default]
    Force,
    /// Per mass: an acceleration; the force is m times it.
    Acceleration,
}

/// One component of a force.
#[derive(Clone, Debug)]
pub enum ForceComponent {
    /// The same for all particles, a function of time.
    Signal(Signal),
    /// An expression in [`FORCE_VARIABLES`].
    Field(Expression),
}

impl Default for Forcing {
    fn default() -> Self {
        Self {
            gravity: [0.0, 0.0, 0.0].map(Signal::Constant),
            forces: Vec::new(),
            drag: Drag::None,
            flow: None,
            dimension: Dimension::Three,
        }
    }
}

impl Dimension {
    /// The vector, in the plane when there is one.
    pub(super) fn keep(self, vector: DVec3) -> DVec3 {
        match self {
            Self::Two => vector.with_z(0.0),
            Self::Three => vector,
        }
    }

    /// How many components are read.
    pub(super) fn components(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}

impl ForceComponent {
    /// An expression in [`FORCE_VARIABLES`].
    pub fn expression(text: &str) -> Result<Self, ExpressionError> {
        Expression::parse(text, &FORCE_VARIABLES).map(Self::Field)
    }
}

impl Force {
    /// Whether it acts on the particles of this group.
    pub(super) fn acts_on(&self, group: u32) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.contains(&group))
    }

    /// What messages call one of its components.
    pub(super) fn component_name(&self, axis: usize) -> String {
        format!("the {} component of force `{}`", AXES[axis], self.label)
    }
}

impl Forcing {
    /// Refuses settings that make no sense.
    pub(super) fn check(&self) -> Result<(), EnvironmentError> {
        for (axis, signal) in AXES.iter().zip(&self.gravity) {
            signal.check(&format!("gravity.{axis}"))?;
        }
        for force in &self.forces {
            for (axis, component) in AXES.iter().zip(&force.components) {
                let field = format!("forces.{}.{axis}", force.label);
                match component {
                    ForceComponent::Signal(signal) => signal.check(&field)?,
                    ForceComponent::Field(expression) => parsed_with(&field, expression, &FORCE_VARIABLES)?,
                }
            }
        }
        self.drag.check()?;
        if let Some(flow) = &self.flow {
            for (axis, expression) in AXES.iter().zip(flow) {
                parsed_with(&format!("flow.{axis}"), expression, &FLOW_VARIABLES)?;
            }
            if !self.has_drag() {
                let expected = "drag as well: without it the flow moves nothing";
                return Err(EnvironmentError::invalid("flow", "given without drag", expected));
            }
        }
        Ok(())
    }

    /// Whether ζ > 0.
    pub(super) fn has_drag(&self) -> bool {
        self.drag.coefficient(1.0, 0.0) > 0.0
    }

    /// −Σ m g·x (energy).
    pub(super) fn potential_energy(&self, particles: &Particles, time: f64) -> f64 {
        let gravity = self.dimension.keep(DVec3::from_array(self.gravity.each_ref().map(|signal| signal.at(time))));
        particles.mass.iter().zip(&particles.position).map(|(m, x)| -m * gravity.dot(*x)).sum::<f64>() + 0.0
    }
}
