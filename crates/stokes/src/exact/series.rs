//! The sums that all exact drags are made of.
//!
//! The stream function is Σ Wₙ(ξ)(Pₙ₋₁ − Pₙ₊₁)(cos η)/(cosh ξ − cos η)^{3/2}, with Wₙ and Wₙ' given on both spheres:
//! for each n two equations with two unknowns once a basis is taken that vanishes on the sphere at rest. Solved by
//! hand, with m = n + ½, L = α + β, δ = α − β, e = e^{−2mL}:
//!
//! ```text
//! R₁₁ = r₁ + (c/3) Σ w e^{−2mα} e {Q [(1 − e)/2 + 2 m² sinh² L] + m sinh L (cosh δ + m sinh δ)} / D
//! R₁₂ =    − (c/3) Σ w e {(1 − e)/2 + m sinh L [m sinh L + cosh L + (m² − 1)(cosh L − cosh δ)]} / D
//! w = n(n+1)/((n − ½)(n + 3/2)),    Q = 1 + 2 m² sinh² α + m sinh 2α,    D = e (sinh² mL − m² sinh² L)
//! ```
//!
//! The known sum of the sphere alone, r₁, has been taken out of R₁₁: what is left converges like e^{−2m(α+L)}, with all
//! terms positive. Nothing cancels but in D, whose small factor is taken from its Taylor series.

use crate::bispherical::Bispherical;

/// Terms are left out once they and all that follow are below this part of the sum.
const TAIL: f64 = 1e-18;

/// R₁₁ − r₁ of the upper sphere.
pub(super) fn excess(shape: &Bispherical) -> f64 {
    let Bispherical { focus, upper, lower } = *shape;
    let length = upper + lower;
    let (sinh_length, delta) = (length.sinh(), upper - lower);
    let (sinh_upper, double) = (upper.sinh(), (2.0 * upper).sinh());
    let sum = converged(upper + length, |m| {
        let quadratic = 1.0 + 2.0 * (m * sinh_upper).powi(2) + m * double;
        let half = -(-2.0 * m * length).exp_m1() / 2.0;
        let cross = m * sinh_length * (delta.cosh() + m * delta.sinh());
        let bracket = quadratic * (half + 2.0 * (m * sinh_length).powi(2)) + cross;
        (-2.0 * m * (upper + length)).exp() * bracket / determinant(m, length)
    });
    focus / 3.0 * sum
}

/// −R₁₂.
pub(super) fn mutual(shape: &Bispherical) -> f64 {
    let Bispherical { focus, upper, lower } = *shape;
    let length = upper + lower;
    let sinh_length = length.sinh();
    // cosh L − cosh δ = 2 sinh α sinh β.
    let difference = 2.0 * upper.sinh() * lower.sinh();
    let sum = converged(length, |m| {
        let half = -(-2.0 * m * length).exp_m1() / 2.0;
        let bracket = m * sinh_length + length.cosh() + (m * m - 1.0) * difference;
        (-2.0 * m * length).exp() * (half + m * sinh_length * bracket) / determinant(m, length)
    });
    focus / 3.0 * sum
}

/// D = e^{−2mL}(sinh² mL − m² sinh² L).
fn determinant(m: f64, length: f64) -> f64 {
    let y = m * length;
    let root = (-y).exp();
    let sinh_y = -(-2.0 * y).exp_m1() / 2.0;
    let sum = sinh_y + m * length.sinh() * root;
    let difference = if y < 2.0 { root * taylor(m, length) } else { sinh_y - m * length.sinh() * root };
    sum * difference
}

/// sinh mL − m sinh L = m Σ (m^{2j} − 1) L^{2j+1}/(2j+1)!.
fn taylor(m: f64, length: f64) -> f64 {
    let (mut power, mut factor, mut sum) = (1.0, length, 0.0);
    for j in 1..20 {
        let k = f64::from(2 * j);
        power *= m * m;
        factor *= length * length / (k * (k + 1.0));
        sum += (power - 1.0) * factor;
    }
    m * sum
}

/// Σ w term(n + ½), where terms fall like e^{−2 m rate} in the end.
fn converged(rate: f64, term: impl Fn(f64) -> f64) -> f64 {
    let remaining = -(-2.0 * rate).exp_m1() * TAIL;
    // The part that rounding drops is carried along, since small gaps take 10⁴ terms.
    let (mut sum, mut dropped) = (0.0, 0.0);
    for n in 1.. {
        let n = f64::from(n);
        let value = n * (n + 1.0) / ((n - 0.5) * (n + 1.5)) * term(n + 0.5);
        let increment = value + dropped;
        let next = sum + increment;
        dropped = increment - (next - sum);
        sum = next;
        if value <= remaining * sum || value.is_nan() {
            break;
        }
    }
    sum
}
