//! One pair force: between whom, how far, and how strong.

use super::{Bridging, InteractionError};
use crate::expression::{Expression, ExpressionError};

/// Variables of the expression of a pair force: the gap, radii and masses of both, and the time.
pub const PAIR_VARIABLES: [&str; 6] = ["D", "ri", "rj", "mi", "mj", "t"];
/// Gaps between which the slope of a force is taken.
const SAMPLES: u32 = 256;

/// A force along the line of centres, or along the normal of an obstacle.
#[derive(Clone, Debug)]
pub struct PairForce {
    /// Its name in messages.
    pub label: String,
    /// Between particles of these two groups, which may be the same; between any if not given. Where the groups differ,
    /// i is the particle of the first.
    pub groups: Option<[u32; 2]>,
    /// Obstacles that particles of these groups feel it from, too, by index.
    pub obstacles: Vec<u32>,
    /// How strong it is.
    pub law: Law,
}

/// A force as a function of the gap.
#[derive(Clone, Debug)]
pub enum Law {
    /// What an expression says; > 0 pushes apart.
    Expression {
        /// In [`PAIR_VARIABLES`] (force). D is never negative: overlaps within the tolerance count as contact.
        force: Expression,
        /// Gap beyond which it is 0 (length).
        range: f64,
    },
    /// The pull of a liquid bridge, where there is one.
    Bridge(Bridging),
}

/// Radii and masses of i and j; those of an obstacle are infinite, but the radius of a ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// r_i and r_j (length).
    pub radius: [f64; 2],
    /// m_i and m_j (mass).
    pub mass: [f64; 2],
}

impl Sides {
    /// R with 2/R = 1/r_i + 1/r_j (length): r for equal spheres, 2r at a plane.
    #[must_use]
    pub fn mean_radius(&self) -> f64 {
        2.0 / (self.radius[0].recip() + self.radius[1].recip())
    }
}

impl Law {
    /// An expression in [`PAIR_VARIABLES`] up to a gap.
    pub fn expression(text: &str, range: f64) -> Result<Self, ExpressionError> {
        Ok(Self::Expression { force: Expression::parse(text, &PAIR_VARIABLES)?, range })
    }
}

impl PairForce {
    /// Gap beyond which it is 0 (length).
    #[must_use]
    pub fn reach(&self) -> f64 {
        match &self.law {
            Law::Expression { range, .. } => *range,
            Law::Bridge(bridging) => bridging.pull.rupture(),
        }
    }

    /// The force within reach, > 0 pushes apart (force); of a bridge, that of one that is there.
    #[must_use]
    pub fn push(&self, gap: f64, sides: &Sides, time: f64) -> f64 {
        let gap = gap.max(0.0);
        match &self.law {
            Law::Expression { force, .. } => {
                let Sides { radius: [ri, rj], mass: [mi, mj] } = *sides;
                force.eval(&[gap, ri, rj, mi, mj, time])
            }
            Law::Bridge(bridging) => -bridging.pull.at(gap, sides),
        }
    }

    /// The steepest slope |dF/dD| within reach at t = 0 (force / length), from samples; jumps at the ends do not count.
    #[must_use]
    pub fn stiffness(&self, sides: &Sides) -> f64 {
        let width = self.reach() / f64::from(SAMPLES);
        let at = |k: u32| self.push(width * f64::from(k), sides, 0.0);
        let slopes = (0..SAMPLES).map(|k| ((at(k + 1) - at(k)) / width).abs());
        slopes.filter(|slope| slope.is_finite()).fold(0.0, f64::max)
    }

    /// Whether it acts between particles of these groups, and if so, whether the second of them is i.
    pub(super) fn joins(&self, first: u32, second: u32) -> Option<bool> {
        match self.groups {
            None => Some(false),
            Some(groups) if groups == [first, second] => Some(false),
            Some(groups) if groups == [second, first] => Some(true),
            Some(_) => None,
        }
    }

    /// Whether particles of this group feel it.
    pub(super) fn concerns(&self, group: u32) -> bool {
        self.groups.is_none_or(|groups| groups.contains(&group))
    }

    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<(), InteractionError> {
        match &self.law {
            Law::Bridge(bridging) => bridging.check(),
            Law::Expression { range, .. } if !(*range > 0.0 && range.is_finite()) => {
                Err(InteractionError::invalid("range", range, "a positive number"))
            }
            Law::Expression { force, .. } if force.variables() != PAIR_VARIABLES => {
                let value = format!("of ({})", force.variables().join(", "));
                Err(InteractionError::invalid("expression", value, format!("one of ({})", PAIR_VARIABLES.join(", "))))
            }
            Law::Expression { force, .. } => match force.constant() {
                Some(value) if !value.is_finite() => {
                    Err(InteractionError::invalid("expression", value, "a finite number"))
                }
                _ => Ok(()),
            },
        }
    }
}
