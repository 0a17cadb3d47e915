//! The mean of a function over an interval: adaptive Gauss–Kronrod (7 and 15 points) with bisection.
//!
//! On each interval the rule is applied to f − f(centre), so that a constant has exactly itself as its mean. The error
//! is judged by |K₁₅ − G₇| and by how far f at both ends is from the polynomial through the 15 nodes: the nodes stay
//! off the ends by 0.4 % of the interval, and a jump in there would otherwise go unseen.
//!
//! Where the samples show one value and then another, the jump between is found by plain bisection.
//!
//! Arguments are rounded to ε|x|, which moves an f that varies by Δ over a width w by about ε|x|Δ/w. An error below
//! that is noise, and bisection would not lower it. A jump is no noise: its error is never below 0.4 % of Δ.

/// Nodes x > 0 on [−1, 1], from the end to the centre; those with odd index are the nodes of Gauss.
const NODES: [f64; 7] = [
    0.991_455_371_120_812_6,
    0.949_107_912_342_758_5,
    0.864_864_423_359_769_1,
    0.741_531_185_599_394_4,
    0.586_087_235_467_691_1,
    0.405_845_151_377_397_2,
    0.207_784_955_007_898_47,
];

/// Weights of Kronrod at ±x; the centre does not count, since f − f(centre) is 0 there.
const KRONROD: [f64; 7] = [
    0.022_935_322_010_529_224,
    0.063_092_092_629_978_56,
    0.104_790_010_322_250_19,
    0.140_653_259_715_525_92,
    0.169_004_726_639_267_9,
    0.190_350_578_064_785_4,
    0.204_432_940_075_298_89,
];

/// Weights of Gauss at ±x, for x = `NODES[1]`, `NODES[3]`, `NODES[5]`.
const GAUSS: [f64; 3] = [0.129_484_966_168_869_7, 0.279_705_391_489_276_64, 0.381_830_050_505_118_9];

/// Values at 1 of the Lagrange polynomials of the nodes x > 0.
const NEAR_END: [f64; 7] = [
    1.453_983_731_103_312_4,
    -0.706_673_993_404_573_8,
    0.420_047_199_720_882_9,
    -0.291_418_695_919_990_6,
    0.221_175_970_224_892_7,
    -0.174_570_351_562_241_33,
    0.139_783_431_782_908_4,
];

/// Values at 1 of the Lagrange polynomials of the nodes −x < 0.
const FAR_END: [f64; 7] = [
    0.006_238_528_645_340_283,
    -0.018_451_577_046_963_43,
    0.030_438_309_530_367_933,
    -0.043_250_815_978_173_98,
    0.057_719_118_618_911_43,
    -0.073_778_979_644_262_45,
    0.091_687_296_848_570_97,
];

/// Samples of an interval: the nodes on both sides, the centre and the ends.
const SAMPLES: usize = 2 * NODES.len() + 3;

/// Error of an interval's share in the mean that is not worth a bisection, relative to the largest |f| seen.
const TOLERANCE: f64 = 1e-14;

/// Below the least error of an interval with one jump, relative to the jump: that of a jump beyond the last node.
const LEAST_AT_JUMP: f64 = 1e-3;

/// Most bisections of an interval: 2⁻⁶⁰ of it is below the resolution of f64.
const DEPTH: u32 = 60;

/// Most intervals in all.
const INTERVALS: u32 = 20_000;

/// Estimated error of the mean, relative to the largest |f| seen, above which the limits make it an error.
const UNRESOLVED: f64 = 1e-6;

/// Why there is no mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum QuadratureError {
    /// The function is not finite at this argument.
    NotFinite {
        /// The argument.
        at: f64,
        /// The function there.
        value: f64,
    },
    /// The function varies too wildly; the mean found so far.
    Unresolved {
        /// The mean found so far.
        value: f64,
    },
}

/// An interval and f at its ends.
#[derive(Clone, Copy)]
struct Interval {
    start: f64,
    end: f64,
    at_start: f64,
    at_end: f64,
}

struct Quadrature<F> {
    function: F,
    scale: f64,
    error: f64,
    intervals: u32,
}

/// (1/(b − a)) ∫ₐᵇ f, or f(a) where a = b.
pub(super) fn mean(function: impl FnMut(f64) -> f64, start: f64, end: f64) -> Result<f64, QuadratureError> {
    let mut quadrature = Quadrature { function, scale: 0.0, error: 0.0, intervals: 0 };
    let at_start = quadrature.sample(start)?;
    if start == end {
        return Ok(at_start);
    }
    let at_end = quadrature.sample(end)?;
    let value = quadrature.mean(Interval { start, end, at_start, at_end }, 0)?;
    if quadrature.error > UNRESOLVED * quadrature.scale || !value.is_finite() {
        return Err(QuadratureError::Unresolved { value });
    }
    Ok(value)
}

impl<F: FnMut(f64) -> f64> Quadrature<F> {
    fn sample(&mut self, at: f64) -> Result<f64, QuadratureError> {
        let value = (self.function)(at);
        if !value.is_finite() {
            return Err(QuadratureError::NotFinite { at, value });
        }
        self.scale = self.scale.max(value.abs());
        Ok(value)
    }

    /// The mean over an interval that is 2^−depth of the whole.
    fn mean(&mut self, interval: Interval, depth: u32) -> Result<f64, QuadratureError> {
        let Interval { start, end, at_start, at_end } = interval;
        let half = 0.5 * (end - start);
        let centre = start + half;
        let at_centre = self.sample(centre)?;
        let (mut kronrod, mut gauss) = (0.0, 0.0);
        let (mut beyond_start, mut beyond_end) = (at_centre - at_start, at_centre - at_end);
        let mut variation = beyond_start.abs().max(beyond_end.abs());
        let mut samples = [(start, at_start); SAMPLES];
        samples[SAMPLES / 2] = (centre, at_centre);
        samples[SAMPLES - 1] = (end, at_end);
        for k in 0..NODES.len() {
            let (left, right) = (centre - half * NODES[k], centre + half * NODES[k]);
            let (at_left, at_right) = (self.sample(left)?, self.sample(right)?);
            samples[1 + k] = (left, at_left);
            samples[SAMPLES - 2 - k] = (right, at_right);
            let (below, above) = (at_left - at_centre, at_right - at_centre);
            variation = variation.max(below.abs()).max(above.abs());
            kronrod += 0.5 * KRONROD[k] * (below + above);
            if k % 2 == 1 {
                gauss += 0.5 * GAUSS[k / 2] * (below + above);
            }
            beyond_start += NEAR_END[k] * below + FAR_END[k] * above;
            beyond_end += NEAR_END[k] * above + FAR_END[k] * below;
        }
        // What lies between an end and its nearest node is off by at most about the mismatch at that end.
        let strip = 0.5 * (1.0 - NODES[0]);
        let error = (kronrod - gauss).abs() + strip * (beyond_start.abs() + beyond_end.abs());
        let share = error * 0.5_f64.powi(depth.cast_signed());
        self.intervals += 1;
        let rounding = f64::EPSILON * start.abs().max(end.abs()) / (end - start);
        let noise = rounding < LEAST_AT_JUMP && error <= rounding * variation;
        let resolved = noise || share <= TOLERANCE * self.scale;
        let smallest = centre <= start || centre >= end || depth >= DEPTH;
        if resolved || smallest || self.intervals >= INTERVALS {
            self.error += share;
            return Ok(at_centre + kronrod);
        }
        if let Some(switch) = self.switch(&samples)? {
            return Ok(at_start + (at_end - at_start) * ((end - switch) / (end - start)));
        }
        let left = self.mean(Interval { end: centre, at_end: at_centre, ..interval }, depth + 1)?;
        let right = self.mean(Interval { start: centre, at_start: at_centre, ..interval }, depth + 1)?;
        // Near the resolution the halves are not equal.
        Ok(left + (right - left) * ((end - centre) / (end - start)))
    }

    /// Where f jumps, to the resolution of f64, if it has one value before and another after; samples in order of x.
    fn switch(&mut self, samples: &[(f64, f64); SAMPLES]) -> Result<Option<f64>, QuadratureError> {
        let (before, after) = (samples[0].1, samples[SAMPLES - 1].1);
        let turn = samples.iter().position(|sample| sample.1 != before).unwrap_or(SAMPLES);
        if turn == SAMPLES || samples[turn..].iter().any(|sample| sample.1 != after) {
            return Ok(None);
        }
        let (mut low, mut high) = (samples[turn - 1].0, samples[turn].0);
        loop {
            let middle = low + 0.5 * (high - low);
            if middle <= low || middle >= high {
                return Ok(Some(high));
            }
            match self.sample(middle)? {
                value if value == before => low = middle,
                value if value == after => high = middle,
                _ => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn constants_are_exact_and_polynomials_to_round_off() {
        assert_eq!(mean(|_| 0.1, 0.3, 7.7), Ok(0.1));
        for degree in 0..23 {
            let mut samples = 0;
            let found = mean(
                |x| {
                    samples += 1;
                    x.powi(degree)
                },
                0.0,
                1.0,
            );
            let exact = 1.0 / f64::from(degree + 1);
            assert!((found.expect("finite") - exact).abs() < 1e-14, "degree {degree}");
            assert!(degree > 13 || samples == 17, "degree {degree} took {samples} samples");
        }
    }

    #[test]
    fn smooth_functions_are_exact_to_round_off() {
        let found = mean(|x| (30.0 * x).sin(), 0.0, 1.0).expect("finite");
        assert!((found - (1.0 - 30.0_f64.cos()) / 30.0).abs() < 1e-14);
        let found = mean(f64::sqrt, 0.0, 1.0).expect("finite");
        assert!((found - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn one_jump_takes_few_samples_and_a_steep_ramp_is_no_jump() {
        let mut samples = 0;
        let step = |t: f64| {
            samples += 1;
            if t < 2.0 { -2.0 } else { 2.0 }
        };
        let found = mean(step, 1.97, 2.07).expect("finite");
        assert!((found - 0.8).abs() < 1e-13 && samples < 80, "{samples} samples, error {:e}", found - 0.8);
        let found = mean(|t| ((t - 0.7) * 1e5).clamp(0.0, 1.0), 0.0, 1.0).expect("finite");
        assert!((found - (0.3 - 0.5e-5)).abs() < 1e-13);
    }

    #[test]
    fn rounded_arguments_are_not_chased() {
        let mut samples = 0;
        let wave = |t: f64| {
            samples += 1;
            (63.0 * t).sin()
        };
        let found = mean(wave, 1000.0, 1000.01).expect("finite");
        let exact = (63_000.0_f64.cos() - 63_000.63_f64.cos()) / 0.63;
        assert!((found - exact).abs() < 1e-10 && samples <= 100, "{samples} samples, error {:e}", found - exact);
    }

    #[test]
    fn an_interval_of_no_length_gives_the_value() {
        assert_eq!(mean(|x| x * x, 3.0, 3.0), Ok(9.0));
    }

    #[test]
    fn a_function_that_is_not_finite_is_refused() {
        let found = mean(|x| if x > 0.7 { f64::NAN } else { 1.0 }, 0.0, 1.0);
        assert!(matches!(found, Err(QuadratureError::NotFinite { at, value }) if at > 0.7 && value.is_nan()));
    }

    #[test]
    fn noise_is_refused_in_bounded_time() {
        let noise = |x: f64| ((x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64).sin();
        assert!(matches!(mean(noise, 0.0, 1.0), Err(QuadratureError::Unresolved { .. })));
    }

    proptest! {
        #[test]
        fn a_jump_anywhere_is_found(jump in 0.0..1.0_f64, before in -3.0..3.0_f64, after in -3.0..3.0_f64) {
            let found = mean(|x| if x < jump { before } else { after }, 0.0, 1.0).expect("finite");
            prop_assert!((found - (after + jump * (before - after))).abs() < 1e-13);
        }

        #[test]
        fn many_jumps_are_found(jumps in prop::collection::vec(0.05..0.2_f64, 5), start in 0.0..100.0_f64) {
            let mut times = vec![start];
            for jump in jumps {
                times.push(times[times.len() - 1] + jump);
            }
            let levels = [1.0, -2.0, 3.0, 0.0, 5.0];
            let level = |t: f64| levels[times[1..5].iter().filter(|&&time| time <= t).count()];
            let found = mean(level, start, times[5]).expect("finite");
            let exact = (0..5).map(|k| levels[k] * (times[k + 1] - times[k])).sum::<f64>() / (times[5] - start);
            // Each of the jumps, of 16 in all, is found to the resolution ε·t of its time.
            let resolution = f64::EPSILON * times[5] / (times[5] - start);
            prop_assert!((found - exact).abs() < 5.0 * 1e-13 + 16.0 * resolution, "{:e}", (found - exact) / resolution);
        }

        #[test]
        fn a_jump_next_to_an_end_is_found(distance in 1e-9..5e-3_f64) {
            let found = mean(|x| if x < 1.0 - distance { -2.0 } else { 2.0 }, 0.0, 1.0).expect("finite");
            prop_assert!((found - (4.0 * distance - 2.0)).abs() < 1e-13);
            let found = mean(|x| if x < distance { -2.0 } else { 2.0 }, 0.0, 1.0).expect("finite");
            prop_assert!((found - (2.0 - 4.0 * distance)).abs() < 1e-13);
        }
    }
}
