//! The series against tables that were computed with independent multiple-precision codes, and against each other.

use stokes::{StokesError, exact};

fn table(text: &str) -> Vec<Vec<f64>> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').map(|field| field.parse().expect("a number")).collect()).collect()
}

fn logarithmic(from: f64, to: f64, count: i32) -> impl Iterator<Item = f64> {
    (0..=count).map(move |i| from * (to / from).powf(f64::from(i) / f64::from(count)))
}

#[test]
fn a_sphere_and_a_plane_have_the_drag_of_the_table() {
    let mut worst: f64 = 0.0;
    for row in table(include_str!("data/sphere-plane.csv")) {
        let error = (exact::sphere_plane(row[0]).unwrap() / row[1] - 1.0).abs();
        worst = worst.max(error);
        assert!(error < 1e-13, "gap {}: relative error {error:e}", row[0]);
    }
    println!("sphere and plane: worst relative error {worst:.1e}");
}

#[test]
fn two_spheres_have_the_force_of_the_table() {
    let mut worst: f64 = 0.0;
    for row in table(include_str!("data/two-spheres.csv")) {
        let resistance = exact::two_spheres([row[0], row[1]], row[2]).unwrap();
        let error = (resistance.second / row[3] - 1.0).abs();
        worst = worst.max(error);
        assert!(error < 1e-12, "radii {} {}, gap {}: relative error {error:e}", row[0], row[1], row[2]);
        let exchanged = exact::two_spheres([row[1], row[0]], row[2]).unwrap();
        assert!((exchanged.first / resistance.second - 1.0).abs() < 1e-14);
        assert!((exchanged.mutual / resistance.mutual - 1.0).abs() < 1e-14);
    }
    println!("two spheres: worst relative error {worst:.1e}");
}

/// Symmetric halves: approaching spheres of one size move as towards a free surface, spheres side by side as one body.
/// Stimson & Jeffery's drag of touching equal spheres is 0.6451 of one alone, and by theirs and Cooley & O'Neill's
/// tables λ = 0.702 at centres 3.09 radii apart (α = 1).
#[test]
fn equal_spheres_together_have_the_drag_of_stimson_and_jeffery() {
    for (gap, drag, tolerance) in [(1e-4, 0.6451, 1e-4), (2.0 * 1f64.cosh() - 2.0, 0.702, 5e-4)] {
        let [first, second] = exact::two_spheres([1.0, 1.0], gap).unwrap().forces([1.0, 1.0]);
        assert!((first - drag).abs() < tolerance, "gap {gap}: {first}");
        assert!((first - second).abs() < 1e-10);
    }
}

#[test]
fn a_large_sphere_is_a_plane() {
    for gap in [1e-3, 0.1, 1.0, 10.0] {
        let plane = exact::sphere_plane(gap).unwrap();
        let sphere = exact::two_spheres([1.0, 1e7], gap).unwrap().first;
        assert!((sphere / plane - 1.0).abs() < 1e-5, "gap {gap}: {sphere} {plane}");
    }
}

#[test]
fn formulas_for_small_and_large_gaps_join_the_series() {
    for gap in [1e-6, 1e4] {
        let [below, above] = [1.0 - 1e-9, 1.0 + 1e-9].map(|factor| exact::sphere_plane(factor * gap).unwrap());
        let slope = if gap < 1.0 { 2e-9 } else { 0.0 };
        assert!((below / above - 1.0 - slope).abs() < 1e-12, "gap {gap}: {below} {above}");
    }
    for radii in [[1f64, 1.0], [1.0, 0.1], [3.0, 500.0]] {
        for (gap, slope) in [(1e-7 * radii[0].min(radii[1]), 2e-9), (1e8 * radii[0].max(radii[1]), 0.0)] {
            let [a, b] = [1.0 - 1e-9, 1.0 + 1e-9].map(|factor| exact::two_spheres(radii, factor * gap).unwrap());
            for (below, above) in [(a.first, b.first), (a.second, b.second)] {
                assert!((below / above - 1.0 - slope).abs() < 1e-11, "radii {radii:?}, gap {gap}: {below} {above}");
            }
            assert!((a.mutual / b.mutual - 1.0 - 2e-9).abs() < 1e-11, "radii {radii:?}, gap {gap}");
        }
    }
}

#[test]
fn the_expansion_of_two_spheres_is_that_of_the_series() {
    // The known singular terms between 1e-7, where the expansion takes over, and 1e-6, where the series is summed.
    for radii in [[1f64, 1.0], [1.0, 0.3], [20.0, 1.0]] {
        let unit = radii[0].min(radii[1]);
        let [small, large] = [0.99e-7, 2e-7].map(|gap| exact::two_spheres(radii, gap * unit).unwrap());
        let reduced = radii[0] * radii[1] / (radii[0] + radii[1]);
        let t = radii[1] / radii[0];
        let g2 = t * (1.0 + 7.0 * t + t * t) / (5.0 * (1.0 + t).powi(3));
        let known = reduced * reduced / unit * (1.0 / 0.99e-7 - 1.0 / 2e-7) + radii[0] * g2 * (2f64 / 0.99).ln();
        assert!((small.first - large.first - known).abs() < 1e-6 * unit.max(1e-2), "{radii:?}");
    }
}

#[test]
fn drag_falls_with_the_gap_and_stays_above_one() {
    let drags: Vec<f64> = logarithmic(1e-9, 1e9, 720).map(|gap| exact::sphere_plane(gap).unwrap()).collect();
    assert!(drags.windows(2).all(|pair| pair[0] > pair[1]) && drags.iter().all(|&drag| drag > 1.0));
    let pairs: Vec<_> = logarithmic(1e-9, 1e6, 150).map(|gap| exact::two_spheres([1.0, 2.5], gap).unwrap()).collect();
    for pair in pairs.windows(2) {
        assert!(pair[0].first > pair[1].first && pair[0].second > pair[1].second && pair[0].mutual < pair[1].mutual);
        assert!(pair[1].first * pair[1].second > pair[1].mutual * pair[1].mutual);
    }
}

#[test]
fn the_asymptote_is_as_near_as_it_says() {
    for gap in logarithmic(1e-5, 0.1, 40) {
        let error = (exact::sphere_plane_asymptote(gap).unwrap() - exact::sphere_plane(gap).unwrap()).abs();
        assert!(error < 0.02 * gap * gap * (1.0 / gap).ln() + 1e-13 / gap, "gap {gap}: {error:e}");
    }
}

#[test]
fn extreme_gaps_have_finite_drags_and_bad_ones_an_error() {
    for gap in [1e-300, 1e-30, 1e30, 1e300] {
        assert!(exact::sphere_plane(gap).unwrap().is_finite());
        let pair = exact::two_spheres([1.0, 2.0], gap).unwrap();
        assert!(pair.first.is_finite() && pair.second.is_finite() && pair.mutual.is_finite(), "{gap} {pair:?}");
    }
    for gap in [1e-50, 1.0, 1e50, 1e66] {
        let pair = exact::two_spheres([1.0, 1e59], gap).unwrap();
        assert!(pair.first.is_finite() && pair.second.is_finite() && pair.mutual < 0.0, "{gap} {pair:?}");
    }
    for gap in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(exact::sphere_plane(gap), Err(StokesError::NotPositive { name: "gap", .. })));
        assert!(matches!(exact::two_spheres([1.0, 1.0], gap), Err(StokesError::NotPositive { name: "gap", .. })));
    }
    assert!(exact::two_spheres([1.0, 0.0], 1.0).is_err());
    assert!(matches!(exact::two_spheres([1.0, 1e61], 1.0), Err(StokesError::OutOfRange { .. })));
}

#[test]
fn velocities_are_those_of_the_forces() {
    let pair = exact::two_spheres([1.0, 2.0], 0.1).unwrap();
    let [u1, u2] = pair.velocities(pair.forces([0.3, -2.0]));
    assert!((u1 - 0.3).abs() < 1e-13 && (u2 + 2.0).abs() < 1e-13);
}
