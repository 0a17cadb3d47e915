//! What all frames of a film have in common: where their particles are, and the values that colours have to tell.

use glam::DVec3;
use gluey::scene::{ColourBy, Start};
use gluey::trajectory::Frame;

use crate::legend::nice;

/// Share of the particles at either end of an axis that may be far from the others.
const FEW: f64 = 0.05;
/// Share of the values that may be greater than what the colours reach, where these start at 0.
const GREAT: f64 = 0.01;
/// Share of the glued contacts that may be more glued than black.
const BLACK: f64 = 0.02;

/// Extremes over frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survey {
    /// The box that holds the particles, but for a few that fly away (length).
    pub lower: DVec3,
    /// Its other corner (length).
    pub upper: DVec3,
    /// Least and greatest value of what colours tell.
    pub values: [f64; 2],
    /// The glue −γ that few contacts exceed; 0 where none is glued.
    pub glue: f64,
}

impl Survey {
    /// Of nothing.
    pub const NONE: Self = Self {
        lower: DVec3::INFINITY,
        upper: DVec3::NEG_INFINITY,
        values: [f64::INFINITY, f64::NEG_INFINITY],
        glue: 0.0,
    };

    /// Of one frame.
    #[must_use]
    pub fn of(frame: &Frame, colour: ColourBy) -> Self {
        let particles = frame.particles;
        let (mut lower, mut upper) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for axis in 0..3 {
            let ends = |sign: f64| {
                let ends = particles.position.iter().zip(&particles.radius);
                ends.map(|(x, r)| x[axis] + sign * r).filter(|x| x.is_finite()).collect::<Vec<f64>>()
            };
            let (mut low, mut high) = (ends(-1.0), ends(1.0));
            let (inner_low, inner_high) = (quantile(&mut low, FEW), quantile(&mut high, 1.0 - FEW));
            if let (Some(inner_low), Some(inner_high)) = (inner_low, inner_high) {
                // Who is farther from the bulk than the bulk is wide does not decide what is framed.
                let width = inner_high - inner_low;
                lower[axis] = low.iter().copied().fold(f64::INFINITY, f64::min).max(inner_low - width);
                upper[axis] = high.iter().copied().fold(f64::NEG_INFINITY, f64::max).min(inner_high + width);
            }
        }
        // A periodic cell is shown whole, with the particles that stick out of it.
        let greatest = particles.radius.iter().copied().fold(0.0, f64::max);
        for (cell, axis) in particles.cell.iter().flat_map(|cell| cell.axes().map(move |axis| (cell, axis))) {
            let (from, period) = (cell.lower()[axis], cell.period()[axis]);
            (lower[axis], upper[axis]) = (from - greatest, from + period + greatest);
        }
        let told = colour.values(particles, frame.contacts);
        let mut told: Vec<f64> = told.into_iter().filter(|value| value.is_finite()).collect();
        let values = if colour.field().start == Start::Zero {
            [0.0, quantile(&mut told, 1.0 - GREAT).unwrap_or(0.0)]
        } else {
            let (least, greatest) = (f64::INFINITY, f64::NEG_INFINITY);
            [told.iter().copied().fold(least, f64::min), told.iter().copied().fold(greatest, f64::max)]
        };
        let glue = frame.contacts.iter().map(|geometry| -geometry.contact.gamma);
        let mut glue: Vec<f64> = glue.filter(|glue| *glue > 0.0 && glue.is_finite()).collect();
        Self { lower, upper, values, glue: quantile(&mut glue, 1.0 - BLACK).unwrap_or(0.0) }
    }

    /// Of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.max(other.upper),
            values: [self.values[0].min(other.values[0]), self.values[1].max(other.values[1])],
            glue: self.glue.max(other.glue),
        }
    }

    /// A range of colours that tells all values apart, also where there is only one.
    pub(crate) fn range(&self) -> [f64; 2] {
        match self.values {
            [least, greatest] if least < greatest => [least, greatest],
            [least, _] if least.is_finite() => [least, least + if least == 0.0 { 1.0 } else { 0.1 * least.abs() }],
            _ => [0.0, 1.0],
        }
    }

    /// A round number for the glue that is black.
    pub(crate) fn black(&self) -> f64 {
        if self.glue > 0.0 { nice(self.glue) } else { 1.0 }
    }
}

/// The value that this share of them do not exceed.
fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let at = ((share * last as f64).round() as usize).min(last);
    Some(*values.select_nth_unstable_by(at, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use gluey::contact::{Contact, ContactGeometry, Pair};
    use gluey::geometry::Particles;

    use super::*;

    fn row(count: u32) -> Particles {
        let mut particles = Particles::default();
        for k in 0..count {
            particles.push(DVec3::new(f64::from(k), 0.0, 0.0), 0.5, 1.0);
        }
        particles
    }

    #[test]
    fn all_are_framed_but_who_flies_away() {
        let mut particles = row(101);
        let survey = |particles: &Particles| {
            let frame = Frame { step: 0, time: 0.0, particles, contacts: &[], obstacles: &[], clump: &[] };
            Survey::of(&frame, ColourBy::Group)
        };
        let found = survey(&particles);
        assert_eq!((found.lower, found.upper), (DVec3::new(-0.5, -0.5, -0.5), DVec3::new(100.5, 0.5, 0.5)));
        particles.position[50].x = 1e9;
        assert!(survey(&particles).upper.x < 300.0);
        particles.position[51].x = f64::NAN;
        assert!(survey(&particles).lower.is_finite());
        assert_eq!(survey(&Particles::default()), Survey { values: Survey::NONE.values, ..Survey::NONE });
    }

    #[test]
    fn black_is_what_few_contacts_exceed() {
        let particles = row(102);
        let contact = |k: u32| ContactGeometry {
            contact: Contact {
                pair: Pair::particles(k, k + 1),
                gamma: if k == 0 { f64::NEG_INFINITY } else { -f64::from(k) },
                impulse: 0.0,
            },
            gap: 0.0,
            normal: DVec3::X,
        };
        let contacts: Vec<_> = (0..101).map(contact).collect();
        let frame =
            Frame { step: 0, time: 0.0, particles: &particles, contacts: &contacts, obstacles: &[], clump: &[] };
        let found = Survey::of(&frame, ColourBy::Contacts);
        assert_eq!(found.glue, 98.0);
        assert_eq!(found.black(), 100.0);
        assert_eq!(found.values, [0.0, 2.0]);
        assert_eq!(Survey::NONE.join(found), found);
        assert_eq!(Survey::NONE.range(), [0.0, 1.0]);
        assert_eq!(Survey { values: [2.0, 2.0], ..found }.range(), [2.0, 2.2]);
    }
}
