//! Finite elements against the exact drags, and against what flows must satisfy.

use std::time::Instant;
use stokes::fitted::{Grid, SpherePlane, TwoSpheres};
use stokes::{StokesError, exact};

fn error(drag: f64, exact: f64) -> f64 {
    drag / exact - 1.0
}

/// Prints the table of docs/stokes-solvers.md.
#[test]
fn drags_at_a_plane_are_exact_to_a_thousandth_with_less_than_ten_thousand_unknowns() {
    let solver = SpherePlane::new(Grid::default()).unwrap();
    assert!(solver.unknowns() <= 10_000);
    println!("gap, exact, finite elements, error, unknowns, seconds");
    for gap in [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0] {
        let clock = Instant::now();
        let drag = solver.drag(gap).unwrap();
        let seconds = clock.elapsed().as_secs_f64();
        let exact = exact::sphere_plane(gap).unwrap();
        let error = error(drag, exact);
        println!("{gap:e} {exact:.6} {drag:.6} {error:.1e} {} {seconds:.3}", solver.unknowns());
        assert!(error.abs() < 1e-3, "gap {gap}: {error:e}");
        assert!(error.abs() < 1e-4 || !(1e-4..=1.0).contains(&gap), "gap {gap}: {error:e}");
    }
}

#[test]
fn drags_converge_with_order_four() {
    let coarse = Grid { across: 4, along: 22 };
    for gap in [1e-4, 0.1] {
        let exact = exact::sphere_plane(gap).unwrap();
        let [first, second] = [1, 2].map(|factor| {
            let solver = SpherePlane::new(coarse.refined(factor)).unwrap();
            error(solver.drag(gap).unwrap(), exact).abs()
        });
        let order = (first / second).log2();
        println!("gap {gap:e}: errors {first:.1e}, {second:.1e}, order {order:.1}");
        assert!(order > 3.4, "gap {gap}: order {order}");
    }
}

#[test]
fn drag_falls_with_the_gap_and_moves_the_sphere_under_a_force() {
    let solver = SpherePlane::new(Grid { across: 4, along: 24 }).unwrap();
    let gaps = (-20..=0).map(|k| 10f64.powf(f64::from(k) / 5.0));
    let drags: Vec<f64> = gaps.map(|gap| solver.drag(gap).unwrap()).collect();
    assert!(drags.windows(2).all(|pair| pair[0] > pair[1]), "{drags:?}");
    assert_eq!(solver.velocity(1e-2, -3.0).unwrap(), -3.0 / drags[10]);
}

/// Prints the second table of docs/stokes-solvers.md.
#[test]
fn two_spheres_feel_the_exact_forces() {
    for radii in [[1.0, 1.0], [1.0, 3.0]] {
        let solver = TwoSpheres::new(Grid::default(), radii).unwrap();
        assert!(solver.unknowns() <= 10_000);
        println!("radii {radii:?}, {} unknowns: gap, errors of first, second, mutual", solver.unknowns());
        for gap in [1e-4, 1e-2, 1.0] {
            let clock = Instant::now();
            let pair = solver.pair(gap).unwrap().resistance();
            let seconds = clock.elapsed().as_secs_f64();
            let exact = exact::two_spheres(radii, gap).unwrap();
            let errors = [
                error(pair.first, exact.first),
                error(pair.second, exact.second),
                error(pair.mutual, exact.mutual),
                error(pair.forces([1.0, 1.0])[0], exact.forces([1.0, 1.0])[0]),
            ];
            println!("{gap:e}: {errors:.6?} (the last: both with one velocity), {seconds:.3} s");
            assert!(errors.iter().all(|error| error.abs() < 2e-3), "radii {radii:?}, gap {gap}: {errors:.6?}");
            assert!(errors[..2].iter().all(|error| error.abs() < 1e-3), "radii {radii:?}, gap {gap}: {errors:.6?}");
        }
    }
}

#[test]
fn the_ends_of_the_range_are_good_to_a_hundredth() {
    let plane = SpherePlane::new(Grid { across: 13, along: 44 }).unwrap();
    for gap in [1e-8, 100.0, 1e3] {
        let error = error(plane.drag(gap).unwrap(), exact::sphere_plane(gap).unwrap());
        println!("plane, gap {gap:e}: {error:.1e}");
        assert!(error.abs() < 1e-2, "gap {gap}: {error:e}");
    }
    for radii in [[1.0, 1.0], [100.0, 1.0]] {
        let solver = TwoSpheres::new(Grid { across: 14, along: 50 }, radii).unwrap();
        for gap in [1e-8, 1e3] {
            let pair = solver.pair(gap).unwrap().resistance();
            let exact = exact::two_spheres(radii, gap).unwrap();
            let errors = [error(pair.first, exact.first), error(pair.second, exact.second)];
            println!("radii {radii:?}, gap {gap:e}: {errors:.6?}");
            assert!(errors.iter().all(|error| error.abs() < 1e-2), "radii {radii:?}, gap {gap}: {errors:?}");
        }
    }
}

#[test]
fn flows_of_two_spheres_add_up() {
    let solver = TwoSpheres::new(Grid { across: 7, along: 30 }, [1.0, 2.0]).unwrap();
    let pair = solver.pair(0.1).unwrap();
    let (flow, forces) = (pair.flow([0.5, -2.0]), pair.resistance().forces([0.5, -2.0]));
    for (a, b) in flow.forces().into_iter().zip(forces) {
        assert!((a - b).abs() < 1e-9 * b.abs());
    }
    let [upper, lower] = flow.surfaces();
    assert!((upper - lower - 0.1).abs() < 1e-12);
    assert!((flow.sample([0.0, upper - 1e-13]).unwrap().velocity[1] - 0.5).abs() < 1e-9);
    assert!((flow.sample([0.0, lower + 1e-13]).unwrap().velocity[1] + 2.0).abs() < 1e-9);
    assert!(flow.sample([0.0, upper + 1.0]).is_none() && flow.sample([0.0, lower - 1.0]).is_none());
}

#[test]
fn fluid_sticks_to_the_surfaces() {
    let flow = SpherePlane::new(Grid::default()).unwrap().flow(1e-3).unwrap();
    let field = flow.field();
    for row in field.points.chunks(field.across) {
        let (plane, sphere) = (row[0], row[field.across - 1]);
        assert!(sphere.velocity[0].abs() < 1e-15 && (sphere.velocity[1] - 1.0).abs() < 1e-15);
        assert_eq!(plane.velocity, [0.0, 0.0]);
        let rho = sphere.position[0];
        assert!((sphere.stream - rho * rho / 2.0).abs() < 1e-14 && plane.stream.abs() < 1e-14);
    }
}

/// The sphere leaves a volume per time πρ² to be filled through the cylinder of radius ρ in the gap: ∫ uρ dz = −ρ/2.
#[test]
fn the_fluid_that_the_sphere_displaces_passes_the_gap() {
    let losses = [1, 2].map(|factor| {
        let flow = SpherePlane::new(Grid::default().refined(factor)).unwrap().flow(1e-3).unwrap();
        let mut worst: f64 = 0.0;
        for rho in [0.01, 0.02, 0.05, 0.1, 0.2, 0.5] {
            let height = 1.001 - (1.0f64 - rho * rho).sqrt();
            let slices = 1000;
            let at = |k: i32| flow.sample([rho, height * (f64::from(k) + 0.5) / f64::from(slices)]).unwrap();
            let mean: f64 = (0..slices).map(|k| at(k).velocity[0]).sum::<f64>() / f64::from(slices);
            worst = worst.max((mean * height / (-rho / 2.0) - 1.0).abs());
        }
        worst
    });
    println!("volume that is lost, on a grid and on one twice as fine: {losses:.6?}");
    assert!(losses[0] < 1e-2 && losses[1] < losses[0] / 3.0, "{losses:?}");
}

/// Lubrication: p = −3μ r u/(q + ρ²/2r)² to leading order, for a sphere that leaves the plane.
#[test]
fn pressure_in_the_gap_is_that_of_lubrication() {
    let flow = SpherePlane::new(Grid::default()).unwrap().flow(1e-4).unwrap();
    for rho in [0.0, 0.005, 0.01, 0.02] {
        let pressure = flow.sample([rho, 0.5e-4]).unwrap().pressure;
        let expected = -3.0 / (1e-4 + rho * rho / 2.0f64).powi(2);
        assert!((pressure / expected - 1.0).abs() < 0.02, "ρ = {rho}: {pressure:e} {expected:e}");
    }
    let doubled = flow.scaled(-2.0);
    let (one, two) = (flow.sample([0.0, 5e-5]).unwrap(), doubled.sample([0.0, 5e-5]).unwrap());
    assert_eq!(two.pressure, -2.0 * one.pressure);
    assert_eq!(doubled.forces()[0], -2.0 * flow.forces()[0]);
}

#[test]
fn streamlines_follow_the_velocity() {
    let flow = SpherePlane::new(Grid::default().refined(2)).unwrap().flow(0.5).unwrap();
    for level in [0.02, 0.1, 0.3] {
        let lines = flow.field().streamlines(level);
        let points: usize = lines.iter().map(Vec::len).sum();
        assert!(points > 50, "ψ = {level}: {points} points");
        // Secants of a line against the velocity in their middle, weighted by length; cells are large far away.
        let (mut along, mut total) = (0.0, 0.0);
        for pair in lines.iter().flat_map(|line| line.windows(2)) {
            let [a, b] = [pair[0], pair[1]];
            let secant = [b[0] - a[0], b[1] - a[1]];
            let Some(at) = flow.sample([f64::midpoint(a[0], b[0]), f64::midpoint(a[1], b[1])]) else { continue };
            if a[0].hypot(a[1]) > 4.0 {
                continue;
            }
            let length = secant[0].hypot(secant[1]);
            let speed = at.velocity[0].hypot(at.velocity[1]);
            along += (secant[0] * at.velocity[0] + secant[1] * at.velocity[1]).abs() / speed;
            total += length;
        }
        assert!(along / total > 0.995, "ψ = {level}: cosine {}", along / total);
    }
    assert!(flow.field().streamlines(9.0).is_empty());
}

#[test]
fn files_for_paraview_hold_every_point_but_infinity() {
    let grid = Grid { across: 6, along: 24 };
    let field = SpherePlane::new(grid).unwrap().flow(0.1).unwrap().field();
    let text = field.to_vtu();
    let [points, cells] = [13 * 49 - 1, 12 * 48 - 1];
    assert_eq!(field.points.len(), points + 1);
    assert!(text.contains(&format!("NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\"")));
    assert_eq!(text.lines().count(), 25 + 4 * points + 3 * cells);
    assert!(!text.contains("inf") && !text.contains("NaN"));
}

#[test]
fn bad_questions_are_errors_that_name_the_figure() {
    let solver = SpherePlane::new(Grid { across: 4, along: 20 }).unwrap();
    for gap in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(solver.drag(gap), Err(StokesError::NotPositive { name: "gap", .. })), "{gap}");
    }
    let far = solver.drag(1e5).unwrap_err();
    assert_eq!(far.to_string(), "gap = 100000: must be between 0.00000001 and 1000");
    let coarse = solver.drag(1e-6).unwrap_err();
    let StokesError::TooCoarse { name: "along", cells: 20, needed } = coarse else { panic!("{coarse}") };
    assert_eq!(coarse.to_string(), format!("along = 20 cells: too few for this gap; give at least {needed}"));
    assert!(SpherePlane::new(Grid { across: 4, along: needed }).unwrap().drag(1e-6).is_ok());
    assert!(matches!(solver.drag(100.0), Err(StokesError::TooCoarse { name: "across", .. })));
    assert!(matches!(SpherePlane::new(Grid { across: 0, along: 9 }), Err(StokesError::TooCoarse { .. })));
    assert!(matches!(TwoSpheres::new(Grid::default(), [1.0, -1.0]), Err(StokesError::NotPositive { .. })));
    assert!(matches!(TwoSpheres::new(Grid::default(), [1.0, 1e3]), Err(StokesError::OutOfRange { .. })));
}
