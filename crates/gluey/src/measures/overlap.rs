//! What a box has of a disc or a sphere.
//!
//! The area of a disc in a rectangle has a closed form. So has the volume of a sphere beyond one face of a box; a sphere
//! that more faces cut is summed up from slices, ∫ A(z) dz with A the area of a disc in a rectangle. A is analytic but where
//! the circle of the slice begins to meet a side or a corner, and like a root there. The integral is cut at these heights,
//! and z = m − w cos θ on each piece takes the roots away: Gauss's rule in θ is then as exact as the digits allow, 1e-12 of
//! the sphere.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use crate::geometry::volume;

/// Half of the points of Gauss's rule of 20 points on [−1, 1], and their weights.
const GAUSS: [(f64, f64); 10] = [
    (0.076_526_521_133_497_33, 0.152_753_387_130_725_85),
    (0.227_785_851_141_645_07, 0.149_172_986_472_603_75),
    (0.373_706_088_715_419_56, 0.142_096_109_318_382_05),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_63),
    (0.636_053_680_726_515, 0.118_194_531_961_518_42),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_44),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_75),
    (0.912_234_428_251_326, 0.062_672_048_334_109_06),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_118),
];

/// ∫₀ˣ √(1 − s²) ds for |x| ≤ 1.
fn under_circle(x: f64) -> f64 {
    0.5 * (x * (1.0 - x * x).max(0.0).sqrt() + x.asin())
}

/// Area of the part of the unit disc with X < x and Y < y.
fn quadrant(x: f64, y: f64) -> f64 {
    let (x, y) = (x.clamp(-1.0, 1.0), y.clamp(-1.0, 1.0));
    // Between the axis and the line Y = |y| or the circle, whichever is nearer: the circle beyond |X| = w.
    let (height, w) = (y.abs(), (1.0 - y * y).max(0.0).sqrt());
    let half = under_circle(x) + FRAC_PI_4;
    let left = FRAC_PI_4 - under_circle(w);
    let strip = if x <= -w {
        half
    } else if x <= w {
        left + height * (x + w)
    } else {
        left + 2.0 * height * w + under_circle(x) - under_circle(w)
    };
    if y < 0.0 { half - strip } else { half + strip }
}

/// Area of a disc about the origin in the rectangle with these corners.
pub(super) fn disc_in_rectangle(radius: f64, lower: [f64; 2], upper: [f64; 2]) -> f64 {
    if radius <= 0.0 {
        return 0.0;
    }
    let [x0, y0] = lower.map(|side| side / radius);
    let [x1, y1] = upper.map(|side| side / radius);
    if x0 <= -1.0 && x1 >= 1.0 && y0 <= -1.0 && y1 >= 1.0 {
        return PI * radius.powi(2);
    }
    let area = quadrant(x1, y1) - quadrant(x0, y1) - quadrant(x1, y0) + quadrant(x0, y0);
    area.max(0.0) * radius.powi(2)
}

/// Volume of a sphere about the origin in the box with these corners.
pub(super) fn sphere_in_box(radius: f64, lower: [f64; 3], upper: [f64; 3]) -> f64 {
    let lower = lower.map(|side| (side / radius).clamp(-1.0, 1.0));
    let upper = upper.map(|side| (side / radius).clamp(-1.0, 1.0));
    if (0..3).any(|axis| lower[axis] >= upper[axis]) {
        return 0.0;
    }
    let cuts: Vec<f64> = lower.iter().map(|side| -side).chain(upper).filter(|side| *side < 1.0).collect();
    let unit = match cuts.as_slice() {
        [] => return volume(radius, 3),
        // What is left of a face at the distance a from the centre: π (2/3 + a − a³/3).
        [a] => PI * (2.0 / 3.0 + a - a.powi(3) / 3.0),
        _ => slices(lower, upper),
    };
    unit * radius.powi(3)
}

/// ∫ A(z) dz of the unit sphere, piece by piece.
fn slices(lower: [f64; 3], upper: [f64; 3]) -> f64 {
    let ([x0, y0, from], [x1, y1, to]) = (lower, upper);
    let sides = [x0, x1, y0, y1].map(f64::abs);
    let corners = [x0.hypot(y0), x0.hypot(y1), x1.hypot(y0), x1.hypot(y1)];
    let heights = sides.into_iter().chain(corners).filter(|distance| *distance < 1.0);
    let heights = heights.map(|distance| (1.0 - distance * distance).sqrt()).flat_map(|z| [-z, z]);
    let mut ends: Vec<f64> = heights.filter(|z| from < *z && *z < to).chain([from, to]).collect();
    ends.sort_by(f64::total_cmp);
    let slice = |z: f64| disc_in_rectangle((1.0 - z * z).max(0.0).sqrt(), [x0, y0], [x1, y1]);
    let piece = |ends: &[f64]| {
        let (middle, half) = (0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0]));
        let at = |point: f64, weight: f64| {
            let (sine, cosine) = (FRAC_PI_2 * (1.0 + point)).sin_cos();
            weight * FRAC_PI_2 * half * sine * slice(middle - half * cosine)
        };
        GAUSS.iter().map(|&(point, weight)| at(-point, weight) + at(point, weight)).sum::<f64>()
    };
    ends.windows(2).map(piece).sum()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    const FAR: f64 = 9.0;

    #[test]
    fn discs_are_cut_as_the_closed_forms_say() {
        let r = 1.5;
        let whole = PI * r * r;
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14 * whole, "{found} {expected}");
        near(disc_in_rectangle(r, [-FAR, -FAR], [FAR, FAR]), whole);
        near(disc_in_rectangle(r, [0.0, -FAR], [FAR, FAR]), whole / 2.0);
        near(disc_in_rectangle(r, [0.0, 0.0], [FAR, FAR]), whole / 4.0);
        near(disc_in_rectangle(r, [-0.1, -0.2], [0.3, 0.4]), 0.4 * 0.6);
        near(disc_in_rectangle(r, [2.0, -FAR], [FAR, FAR]), 0.0);
        near(disc_in_rectangle(r, [-FAR, 1.2], [FAR, FAR]), r * r * 0.8_f64.acos() - 1.2 * (r * r - 1.44).sqrt());
        // The inscribed square, and what is left beside it.
        let side = r / 2.0_f64.sqrt();
        near(disc_in_rectangle(r, [-side, -side], [side, side]), 2.0 * r * r);
        near(disc_in_rectangle(r, [side, -side], [FAR, side]), (whole - 2.0 * r * r) / 4.0);
        // A corner beyond the circle but within its square.
        near(disc_in_rectangle(r, [1.2, 1.2], [FAR, FAR]), 0.0);
    }

    #[test]
    fn parts_of_a_disc_add_up() {
        let mut dice = Pcg64::seed_from_u64(3);
        for _ in 0..1000 {
            let mut three = || {
                let mut values: [f64; 3] = std::array::from_fn(|_| dice.random_range(-1.3..1.3));
                values.sort_by(f64::total_cmp);
                values
            };
            let (x, y) = (three(), three());
            let part = |i: usize, j: usize| disc_in_rectangle(1.0, [x[i], y[j]], [x[i + 1], y[j + 1]]);
            let sum = part(0, 0) + part(0, 1) + part(1, 0) + part(1, 1);
            assert!((sum - disc_in_rectangle(1.0, [x[0], y[0]], [x[2], y[2]])).abs() < 1e-14);
        }
    }

    #[test]
    fn halves_quarters_and_eighths_of_a_sphere() {
        let (r, far) = (0.7, [FAR; 3]);
        let whole = volume(r, 3);
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12 * whole, "{found} {expected}");
        near(sphere_in_box(r, [-FAR; 3], far), whole);
        for axis in 0..3 {
            let mut half = [-FAR; 3];
            half[axis] = 0.0;
            near(sphere_in_box(r, half, far), whole / 2.0);
            half[(axis + 1) % 3] = 0.0;
            near(sphere_in_box(r, half, far), whole / 4.0);
        }
        near(sphere_in_box(r, [0.0; 3], far), whole / 8.0);
        near(sphere_in_box(r, [-0.1, -0.2, -0.3], [0.1, 0.2, 0.3]), 0.2 * 0.4 * 0.6);
        near(sphere_in_box(r, [0.5; 3], far), 0.0);
        // A slab between two parallel faces, for each axis.
        for axis in 0..3 {
            let (mut lower, mut upper) = ([-FAR; 3], far);
            (lower[axis], upper[axis]) = (-0.4, 0.2);
            let primitive = |z: f64| PI * (r * r * z - z.powi(3) / 3.0);
            near(sphere_in_box(r, lower, upper), primitive(0.2) - primitive(-0.4));
        }
    }

    #[test]
    fn parts_of_a_sphere_add_up() {
        let mut dice = Pcg64::seed_from_u64(4);
        for _ in 0..200 {
            let cut: [f64; 3] = std::array::from_fn(|_| dice.random_range(-1.1..1.1));
            let mut sum = 0.0;
            for part in 0..8_u32 {
                let upper = |axis: u32| (part >> axis) & 1 == 1;
                let lower_corner = [0, 1, 2].map(|k| if upper(k) { cut[k as usize] } else { -FAR });
                let upper_corner = [0, 1, 2].map(|k| if upper(k) { FAR } else { cut[k as usize] });
                sum += sphere_in_box(1.0, lower_corner, upper_corner);
            }
            assert!((sum / volume(1.0, 3) - 1.0).abs() < 1e-11, "{cut:?}: {sum}");
        }
    }
}
