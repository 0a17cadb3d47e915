//! Liquid bridges: they form where surfaces touch, pull while they last, and break when they are drawn out too far.

use std::f64::consts::{FRAC_PI_2, PI};

use serde::{Deserialize, Serialize};

use super::{InteractionError, Moment, Sides};
use crate::contact::Pair;

/// A bridge that exists, as the state holds it. Bridges sort by force, then by pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bridge {
    /// Which of the scene's pair forces.
    pub force: u32,
    /// Whom it joins.
    pub pair: Pair,
}

/// When bridges form, how they pull and when they break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bridging {
    /// How they pull.
    pub pull: Pull,
    /// Gap up to which a bridge forms (length); 0: surfaces must touch.
    pub formation: f64,
}

/// The pull of a bridge, greatest where the surfaces touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pull {
    /// F = strength (1 − D/rupture).
    Linear {
        /// Force at contact (force).
        strength: f64,
        /// Gap at which the bridge breaks (length).
        rupture: f64,
    },
    /// The closed form of Willett, Adams, Johnson and Seville (2000) for small volumes,
    ///
    /// F = 2πRσ cos θ / (1 + 1.05 Ŝ + 2.5 Ŝ²),  Ŝ = D √(R/V),  2/R = 1/r_i + 1/r_j,
    ///
    /// which breaks at the gap (1 + θ/2) V^{1/3} of Lian, Thornton and Adams (1993).
    Capillary {
        /// σ (force / length).
        surface_tension: f64,
        /// θ, from 0 to below π/2.
        contact_angle: f64,
        /// V of each bridge (length³).
        volume: f64,
    },
}

impl Pull {
    /// Gap at which the bridge breaks (length).
    #[must_use]
    pub fn rupture(&self) -> f64 {
        match *self {
            Self::Linear { rupture, .. } => rupture,
            Self::Capillary { contact_angle, volume, .. } => (1.0 + 0.5 * contact_angle) * volume.cbrt(),
        }
    }

    /// The force with which a bridge pulls at a gap ≥ 0 (force).
    #[must_use]
    pub fn at(&self, gap: f64, sides: &Sides) -> f64 {
        match *self {
            Self::Linear { strength, rupture } => strength * (1.0 - gap / rupture),
            Self::Capillary { surface_tension, contact_angle, volume } => {
                let radius = sides.mean_radius();
                let stretch = gap * (radius / volume).sqrt();
                2.0 * PI * radius * surface_tension * contact_angle.cos() / (1.0 + stretch * (1.05 + 2.5 * stretch))
            }
        }
    }
}

impl Bridging {
    /// Whether a bridge is there now. It is formed within the gap of formation and between what touched in the last
    /// step: at the end of a step a contact has a gap of 0 only to the first order in the way it slid. Once formed it
    /// stays up to the gap of rupture.
    ///
    /// Bridges and contacts `ahead` are those not yet gone past: whoever asks does so in their order.
    pub(super) fn exists(&self, bridge: Bridge, gap: f64, ahead: &mut Moment) -> bool {
        gap <= self.pull.rupture()
            && (gap <= self.formation
                || comes_next(&mut ahead.bridges, &bridge, |bridge| *bridge)
                || comes_next(&mut ahead.contacts, &bridge.pair, |contact| contact.pair))
    }

    pub(super) fn check(&self) -> Result<(), InteractionError> {
        let positive = |field: &'static str, value: f64| {
            let good = value > 0.0 && value.is_finite();
            if good { Ok(()) } else { Err(InteractionError::invalid(field, value, "a positive number")) }
        };
        match self.pull {
            Pull::Linear { strength, rupture } => {
                positive("strength", strength)?;
                positive("rupture", rupture)?;
            }
            Pull::Capillary { surface_tension, contact_angle, volume } => {
                positive("surface_tension", surface_tension)?;
                positive("volume", volume)?;
                if !(0.0..FRAC_PI_2).contains(&contact_angle) {
                    let expected =
                        "from 0 to below π/2 (radians): a liquid that does not wet makes no bridge that pulls";
                    return Err(InteractionError::invalid("contact_angle", contact_angle, expected));
                }
            }
        }
        let rupture = self.pull.rupture();
        if !(0.0..=rupture).contains(&self.formation) {
            let expected = format!("from 0 to the gap at which the bridge breaks, {rupture}");
            return Err(InteractionError::invalid("formation", self.formation, expected));
        }
        Ok(())
    }
}

/// Goes past all that sorts before the key, and tells whether the key is next.
fn comes_next<T, K: Ord>(ahead: &mut &[T], key: &K, key_of: impl Fn(&T) -> K) -> bool {
    while let [first, rest @ ..] = *ahead
        && key_of(first) < *key
    {
        *ahead = rest;
    }
    ahead.first().is_some_and(|first| key_of(first) == *key)
}
