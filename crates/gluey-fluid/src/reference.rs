//! The trajectory without any contact: λ(q) q' = f has the first integral
//!
//! ```text
//! Φ(q(t)) = Φ(q(0)) + ∫₀ᵗ f,    Φ' = λ,
//! ```
//!
//! so that q depends on the impulse of the force alone: what a pull takes back, a push had brought. Φ is integrated in
//! ln q, where its integrand q λ(q) is smooth down to contact, by Gauss's formula of order 20, and inverted by Newton's
//! method.

use gluey::environment::{Signal, Span};

use crate::drag::{Brenner, NormalDrag};
use crate::error::FluidError;

/// Nodes and weights of Gauss's formula with ten points on [−1, 1], the positive half.
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_22, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];
/// Longest piece of ln q that one formula takes.
const PIECE: f64 = 0.5;
/// Newton's method ends at this relative step; it squares the error.
const CLOSE: f64 = 1e-9;

/// The exact trajectory of a particle without inertia that moves in a fluid over a plane. Lengths are radii, forces are
/// in units of 6πμ r.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Gap at t = 0.
    pub start: f64,
    /// The force f(t).
    pub force: Signal,
}

impl Reference {
    /// The gap at each of the times, which increase from ≥ 0.
    pub fn gaps(&self, times: &[f64]) -> Result<Vec<f64>, FluidError> {
        let (mut gap, mut before) = (self.start, 0.0);
        let mut gaps = Vec::with_capacity(times.len());
        for &time in times {
            if time > before {
                let span = Span { start: before, dt: time - before };
                gap = moved(gap, self.force.mean_of("the force", span)? * span.dt)?;
                before = time;
            }
            gaps.push(gap);
        }
        Ok(gaps)
    }

    /// The gap at one time.
    pub fn gap(&self, time: f64) -> Result<f64, FluidError> {
        Ok(self.gaps(&[time])?[0])
    }
}

/// The gap q with Φ(q) = Φ(from) + impulse.
fn moved(from: f64, impulse: f64) -> Result<f64, FluidError> {
    let mut gap = from;
    for _ in 0..100 {
        // d Φ / d ln q = q λ; ln q keeps Newton's iterates positive.
        let step = (impulse - potential(from, gap)?) / (gap * Brenner.drag(gap)?);
        gap *= step.clamp(-2.0, 2.0).exp();
        if step.abs() < CLOSE {
            break;
        }
    }
    Ok(gap)
}

/// Φ(to) − Φ(from).
fn potential(from: f64, to: f64) -> Result<f64, FluidError> {
    let (start, length) = (from.ln(), (to / from).ln());
    let pieces = (length.abs() / PIECE).ceil().max(1.0);
    let half = 0.5 * length / pieces;
    let mut sum = 0.0;
    for piece in 0..pieces as u32 {
        let middle = start + (2.0 * f64::from(piece) + 1.0) * half;
        for (node, weight) in GAUSS {
            for s in [middle - half * node, middle + half * node] {
                sum += weight * s.exp() * Brenner.drag(s.exp())?;
            }
        }
    }
    Ok(half * sum)
}

#[cfg(test)]
mod tests {
    use gluey::environment::Table;

    use super::*;

    fn papers() -> Reference {
        let steps = Table::new(vec![0.0, 2.0], vec![-2.0, 2.0]).unwrap();
        Reference { start: 1.0, force: Signal::Steps(steps) }
    }

    #[test]
    fn the_paper_s_experiment_without_contact() {
        let q = papers().gaps(&[2.0, 4.0, 6.0]).unwrap();
        assert!((q[0] - 0.058_394_143_4).abs() < 1e-10, "{}", q[0]);
        assert!((q[1] - 1.0).abs() < 1e-10, "{}", q[1]);
        assert!((q[2] - 3.557_969).abs() < 1e-6, "{}", q[2]);
    }

    #[test]
    fn it_goes_back_the_way_it_came() {
        for s in [0.1, 0.5, 1.0, 1.7, 2.0] {
            let (before, after) = (papers().gap(2.0 - s).unwrap(), papers().gap(2.0 + s).unwrap());
            assert!((before - after).abs() < 1e-8, "{s}: {before} {after}");
        }
    }

    #[test]
    fn many_small_steps_and_one_large_agree() {
        let times: Vec<f64> = (0..=400).map(|k| f64::from(k) * 0.01).collect();
        let small = papers().gaps(&times).unwrap();
        assert!((small[200] - papers().gap(2.0).unwrap()).abs() < 1e-11);
    }
}
