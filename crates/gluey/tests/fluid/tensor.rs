//! The mobility against closed forms.

use std::f64::consts::PI;

use glam::DVec3;
use gluey::adhesion::Law;
use gluey::environment::RotnePrager;
use gluey::projection::Mobility;
use proptest::prelude::*;

use crate::dense::{cholesky, matrix};
use crate::{VISCOSITY, settling, spheres};

/// λ of Stimson and Jeffery (1926): two equal spheres that fall along the line of their centres at distance r have the
/// drag 6πμau λ each.
fn stimson_jeffery(distance_in_radii: f64) -> f64 {
    let alpha = (0.5 * distance_in_radii).acosh();
    let term = |n: i32| {
        let n = f64::from(n);
        let k = 2.0 * n + 1.0;
        let above = 4.0 * (0.5 * k * alpha).sinh().powi(2) - (k * alpha.sinh()).powi(2);
        let below = 2.0 * (k * alpha).sinh() + k * (2.0 * alpha).sinh();
        n * (n + 1.0) / ((2.0 * n - 1.0) * (2.0 * n + 3.0)) * (1.0 - above / below)
    };
    4.0 / 3.0 * alpha.sinh() * (1..60).map(term).sum::<f64>()
}

#[test]
fn two_spheres_in_line_and_side_by_side_settle_at_the_known_velocities() {
    for distance in [2.5, 4.0, 10.0] {
        for (direction, in_line) in [(DVec3::Z, 1.0), (DVec3::X, 0.0)] {
            let (radius, r) = (0.3, 0.3 * distance);
            let mut simulation = settling(spheres(&[(DVec3::ZERO, radius), (r * direction, radius)]), Law::Inelastic);
            let alone = 1.0 / (6.0 * PI * VISCOSITY * radius);
            let s = radius / r;
            // In line 1 + 3a/(2r) − (a/r)³, side by side 1 + 3a/(4r) + ½ (a/r)³.
            let factor = 1.0 + 0.75 * s * (1.0 + in_line) + s.powi(3) * (0.5 - 1.5 * in_line);
            for _ in 0..20 {
                simulation.step().unwrap();
                for v in &simulation.state.particles.velocity {
                    let error = (*v + DVec3::Z * alone * factor).length() / alone;
                    assert!(error < 1e-12, "{direction} at {distance} radii: {error}");
                }
            }
            if in_line == 1.0 {
                let exact = 1.0 / stimson_jeffery(distance);
                println!("in line at {distance} radii: {factor:.5}, exact {exact:.5}");
                // What is left out starts with 15/4 (a/r)⁴, the stress that each induces in the other.
                assert!((factor / exact - 1.0).abs() < 4.0 * s.powi(4), "{factor} and {exact}");
                assert!(factor >= exact);
            }
        }
    }
}

/// Two spheres of radii a and b, with the tensor written out from Zuk et al. (2014).
#[test]
fn unequal_spheres_move_each_other_by_the_known_tensor() {
    let (a, b) = (0.5, 0.2);
    let e = DVec3::new(1.0, -2.0, 0.5).normalize();
    for r in [0.0, 0.1, 0.3, 0.300_001, 0.5, 0.7, 0.700_001, 1.0, 5.0_f64] {
        let mobility = RotnePrager::new(&spheres(&[(DVec3::ONE, a), (DVec3::ONE + r * e, b)]), VISCOSITY);
        let s: f64 = a * a + b * b;
        let (even, along) = if r > a + b {
            let scale = 1.0 / (8.0 * PI * VISCOSITY * r);
            (scale * (1.0 + s / (3.0 * r * r)), scale * (1.0 - s / (r * r)))
        } else if r > a - b {
            let scale = 1.0 / (6.0 * PI * VISCOSITY * a * b) / (32.0 * r.powi(3));
            let d: f64 = (a - b) * (a - b);
            (scale * (16.0 * r.powi(3) * (a + b) - (d + 3.0 * r * r).powi(2)), scale * 3.0 * (d - r * r).powi(2))
        } else {
            (1.0 / (6.0 * PI * VISCOSITY * a), 0.0)
        };
        let force = DVec3::new(0.3, 0.7, -1.1);
        let mut velocity = vec![DVec3::ZERO; 2];
        mobility.add_product(&[DVec3::ZERO, force], &mut velocity);
        let known = even * force + along * e.dot(force) * e;
        assert!((velocity[0] - known).length() < 1e-12, "at {r}: {} and {known}", velocity[0]);
        assert!((velocity[1] - force / (6.0 * PI * VISCOSITY * b)).length() < 1e-13);
        let direction = DVec3::new(2.0, 1.0, 3.0).normalize();
        let seen = even + along * e.dot(direction).powi(2);
        assert!((mobility.along(0, 1, direction) - seen).abs() < 1e-12);
        assert_eq!(mobility.along(0, 1, direction), mobility.along(1, 0, direction));
    }
}

/// Spheres anywhere, some inside others.
fn overlapping() -> impl Strategy<Value = Vec<(DVec3, f64)>> {
    let sphere = ((-1.0..1.0, -1.0..1.0, -1.0..1.0), 0.1..0.8).prop_map(|(x, radius)| (DVec3::from(x), radius));
    prop::collection::vec(sphere, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn mobilities_are_symmetric_and_positive_definite(list in overlapping()) {
        let m = matrix(&RotnePrager::new(&spheres(&list), VISCOSITY), list.len());
        let entries = m.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, value)| (i, j, *value)));
        for (i, j, value) in entries {
            prop_assert!((value - m[j][i]).abs() <= 1e-15, "{} and {}", value, m[j][i]);
        }
        // Two spheres that are next to the same have a mobility that is next to singular.
        let distinct = |i: usize, j: usize| {
            list[i].0.distance(list[j].0) + (list[i].1 - list[j].1).abs() > 1e-3
        };
        prop_assume!((0..list.len()).all(|i| (0..i).all(|j| distinct(i, j))));
        prop_assert!(cholesky(&m).is_some());
    }
}
