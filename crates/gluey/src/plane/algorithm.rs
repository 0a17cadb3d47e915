//! The paper's particle/plane algorithm, with the steps for rough surfaces and any radius.
//!
//! 1. u^{n+1/2} = uⁿ + h fⁿ, fⁿ the mean of f over the step
//! 2. ūⁿ⁺¹ = projection of u^{n+1/2} on K(qⁿ, γⁿ); m (ūⁿ⁺¹ − u^{n+1/2}) = h λⁿ⁺¹
//! 3. γ̄ⁿ⁺¹ = γⁿ − h λⁿ⁺¹/r²
//! 4. if γ̄ⁿ⁺¹ ≤ 0: uⁿ⁺¹ = ūⁿ⁺¹, γⁿ⁺¹ = γ̄ⁿ⁺¹; if γ̄ⁿ⁺¹ > 0, it took off within the step: uⁿ⁺¹ = r²γ̄ⁿ⁺¹/m, γⁿ⁺¹ = 0;
//!    b. if γⁿ⁺¹ < γ_min: γⁿ⁺¹ = γ_min
//! 5. qⁿ⁺¹ = qⁿ + h uⁿ⁺¹
//!
//! K(q, γ) = {v : q + hv ≥ 0} where γ = 0, and {v : q + hv = 0} where γ < 0.

use super::{Experiment, Grid, PlaneError, Sample};

/// What the algorithm computed.
#[derive(Clone, Debug)]
pub struct Run {
    /// The grid of the run.
    pub grid: Grid,
    /// (qⁿ, uⁿ, γⁿ, λ̃ⁿ) for n = 0 … N. λ̃ⁿ⁺¹ = m ((uⁿ⁺¹ − uⁿ)/h − fⁿ) is the force that acted during the step that
    /// ended: the multiplier λⁿ⁺¹ of step 2, less what step 4 gave back at a take-off. λ̃⁰ = 0.
    pub samples: Vec<Sample>,
    /// Σ h |fⁿ| ≤ ∫|f| (length / time).
    pub force_variation: f64,
}

/// Runs the algorithm.
pub fn run(experiment: &Experiment, grid: Grid) -> Result<Run, PlaneError> {
    experiment.check()?;
    let mut now = Sample { gap: experiment.gap, velocity: experiment.velocity, ..Sample::default() };
    let (mut samples, mut force_variation) = (vec![now], 0.0);
    for n in 0..grid.steps() {
        let mean = experiment.mean_force(grid.span(n))?;
        now = step(experiment, now, mean, grid.dt);
        now.time = grid.time(n + 1);
        if !(now.gap.is_finite() && now.velocity.is_finite() && now.gamma.is_finite()) {
            let expected = "a force that keeps q, u and γ within the range of numbers";
            return Err(PlaneError::invalid("force", format!("too large at t = {}", now.time), expected));
        }
        force_variation += grid.dt * mean.abs();
        samples.push(now);
    }
    Ok(Run { grid, samples, force_variation })
}

/// One step of length h under the mean force fⁿ; the time is left to the caller.
fn step(experiment: &Experiment, now: Sample, mean_force: f64, h: f64) -> Sample {
    let (m, r2) = (experiment.mass, experiment.radius.powi(2));
    let Sample { gap: q, velocity: u, gamma, .. } = now;
    let apriori = u + h * mean_force; // 1. u^{n+1/2}
    let closing = -q / h; // the velocity that ends the step in contact
    let touches = gamma < 0.0 || apriori <= closing;
    let projected = if touches { closing } else { apriori }; // 2. ūⁿ⁺¹
    let impulse = m * (projected - apriori); // hλⁿ⁺¹
    let gamma_bar = gamma - impulse / r2; // 3.
    if gamma_bar > 0.0 {
        let velocity = r2 * gamma_bar / m; // 4. taken off
        let lambda = m * (velocity - apriori) / h;
        return Sample { time: now.time, gap: q + h * velocity, velocity, gamma: 0.0, lambda };
    }
    Sample {
        time: now.time,
        gap: if touches { 0.0 } else { q + h * projected }, // 5. q + hū = 0 in contact, and exactly so
        velocity: projected,
        gamma: gamma_bar.max(experiment.gamma_min), // 4b.
        lambda: impulse / h,
    }
}

impl Run {
    /// The largest |uⁿ| (length / time); ≤ |u⁰| + ∫|f| by the paper's first lemma.
    #[must_use]
    pub fn largest_speed(&self) -> f64 {
        self.samples.iter().map(|sample| sample.velocity.abs()).fold(0.0, f64::max)
    }

    /// Var(u_h) = Σ_{n=1}^{N−1} |uⁿ⁺¹ − uⁿ| (length / time); ≤ |u⁰| + 8 ∫|f| by the paper's second lemma.
    #[must_use]
    pub fn velocity_variation(&self) -> f64 {
        self.samples[1..].windows(2).map(|pair| (pair[1].velocity - pair[0].velocity).abs()).sum()
    }

    /// ∫|λ_h| (momentum); ≤ m (Var(u_h) + ∫|f|) and the first step's share, by the paper's third lemma.
    #[must_use]
    pub fn total_impulse(&self) -> f64 {
        self.samples.iter().map(|sample| self.grid.dt * sample.lambda.abs()).sum()
    }

    /// When it took off: the ends of those steps in which the particle left the plane (time).
    #[must_use]
    pub fn takeoffs(&self) -> Vec<f64> {
        let left = |pair: &&[Sample]| pair[0].gap == 0.0 && pair[1].gap > 0.0;
        self.samples.windows(2).filter(left).map(|pair| pair[1].time).collect()
    }
}
