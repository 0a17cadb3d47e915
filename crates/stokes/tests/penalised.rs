//! The penalised fixed mesh against the exact drag. `cargo test --release -p stokes --test penalised -- --nocapture`
//! prints the table of docs/stokes-penalised.md.

use std::time::Instant;

use stokes::StokesError;
use stokes::penalised::{Penalised, Resolution, Settings};

/// Half as many cells as in the paper: the drags are as good, at gaps twice as large.
const COARSE: Settings = Settings { cell: 0.2, penalty: 1e-8, reach: 1.0, extent: 12.0 };

fn exact_drag(gap: f64) -> f64 {
    stokes::exact::sphere_plane(gap).expect("a gap")
}

#[test]
fn the_drag_is_within_a_tenth_from_two_cells_on() {
    let mut solver = Penalised::new(COARSE).unwrap();
    for gap in [0.4, 0.42, 0.47, 0.53, 0.6, 0.75, 0.9] {
        let error = solver.drag(gap).unwrap() / exact_drag(gap) - 1.0;
        println!("dx 0.2, gap {gap}: {:+.1} %", 100.0 * error);
        assert!(error.abs() < 0.1, "{gap}: {error}");
        assert_eq!(solver.resolution(gap), Resolution::Resolved);
    }
}

#[test]
fn a_particle_that_touches_the_plane_on_the_mesh_does_not_move() {
    let mut solver = Penalised::new(COARSE).unwrap();
    for gap in [0.01, 0.05, 0.1] {
        assert!(solver.velocity(gap, 2.0).unwrap() < 1e-3, "{gap}");
        let warning = solver.resolution(gap);
        assert_eq!(warning, Resolution::Frozen { cell: 0.2, gap });
        assert!(warning.to_string().contains("cells of 0.2"), "{warning}");
    }
    let gap = 0.13;
    assert!(solver.drag(gap).unwrap() < 2.0 * exact_drag(gap));
    assert_eq!(solver.resolution(gap), Resolution::Coarse { cell: 0.2, gap });
    assert!(solver.resolution(gap).to_string().contains("cells of 0.065 or less"));
}

#[test]
fn one_factorisation_serves_all_forces_and_gaps_with_the_same_triangles() {
    let mut solver = Penalised::new(COARSE).unwrap();
    let velocity = solver.velocity(0.5, 1.0).unwrap();
    assert_eq!(solver.velocity(0.5, -3.0).unwrap(), -3.0 * velocity);
    assert_eq!(solver.velocity(0.500_01, 1.0).unwrap(), velocity);
    assert_eq!(solver.factorisations(), 1);
    assert_eq!(solver.velocity(0.5, 0.0).unwrap(), 0.0);
    solver.drag(0.6).unwrap();
    assert_eq!(solver.factorisations(), 2);
    assert_eq!(solver.velocity(0.5, 1.0).unwrap(), velocity);
}

#[test]
fn the_flow_is_rigid_in_the_particle_and_at_rest_on_the_plane() {
    let mut solver = Penalised::new(COARSE).unwrap();
    let flow = solver.flow(0.5, -1.0).unwrap();
    let speed = flow.particle();
    assert!(speed < 0.0);
    for at in [[0.0, 1.5], [0.5, 1.5], [0.3, 0.8], [0.2, 2.2]] {
        let [across, up] = flow.velocity(at).unwrap();
        assert!(across.abs() < 1e-5 && (up / speed - 1.0).abs() < 1e-5, "{at:?}: {across} {up} {speed}");
    }
    assert_eq!(flow.velocity([0.7, 0.0]).unwrap(), [0.0, 0.0]);
    assert_eq!(flow.velocity([0.0, 0.2]).unwrap()[0], 0.0);
    // What is pushed out of the gap flows outwards, under a pressure.
    assert!(flow.velocity([0.8, 0.2]).unwrap()[0] > 0.0);
    assert!(flow.pressure([0.05, 0.1]).unwrap() > 1.0);
    let [radius, height] = flow.far();
    assert!(flow.pressure([radius, height]).unwrap().abs() < 0.01);
    assert!(flow.velocity([radius, 1.0]).unwrap().iter().all(|u| u.abs() < 0.01));
    assert_eq!(flow.velocity([radius + 1.0, 1.0]), None);
    assert_eq!(flow.pressure([0.0, -0.1]), None);
}

#[test]
fn what_flows_down_beside_and_with_the_particle_leaves_below_it() {
    let mut solver = Penalised::new(COARSE).unwrap();
    let flow = solver.flow(0.5, -1.0).unwrap();
    let (radius, height, steps) = (1.6, 1.5, 400);
    let middle = |k: i32, length: f64| (f64::from(k) + 0.5) * length / f64::from(steps);
    let out = |k| flow.velocity([radius, middle(k, height)]).unwrap()[0] * radius * height;
    let down = |k| -flow.velocity([middle(k, radius), height]).unwrap()[1] * middle(k, radius) * radius;
    let [out, down] = [(0..steps).map(out).sum::<f64>(), (0..steps).map(down).sum::<f64>()];
    assert!((out / down - 1.0).abs() < 0.02, "{out} {down}");
}

#[test]
fn the_penalty_hardly_matters_once_it_is_small() {
    let drag = |penalty| Penalised::new(Settings { penalty, ..COARSE }).unwrap().drag(0.5).unwrap();
    let drags = [1e-5, 1e-8, 1e-10].map(drag);
    assert!(drags.iter().all(|drag| (drag / drags[1] - 1.0).abs() < 3e-4), "{drags:?}");
}

#[test]
fn wrong_figures_are_named() {
    let message = |settings: Settings| Penalised::new(settings).unwrap_err().to_string();
    for (settings, words) in [
        (Settings { cell: 0.0, ..COARSE }, "cell = 0: must be a positive number"),
        (Settings { cell: f64::NAN, ..COARSE }, "cell = NaN: must be a positive number"),
        (Settings { cell: 0.5, ..COARSE }, "cell = 0.5: must be at most 0.25"),
        (Settings { cell: 1e-4, ..COARSE }, "take a larger cell"),
        (Settings { penalty: 1e-3, ..COARSE }, "penalty = 0.001: must be at most 0.00001"),
        (Settings { penalty: -1.0, ..COARSE }, "penalty = -1: must be a positive number"),
        (Settings { penalty: 1e-15, ..COARSE }, "must be at least 0.00000000001"),
        (Settings { extent: 3.0, ..COARSE }, "extent = 3: must be at least 7"),
        (Settings { reach: f64::INFINITY, ..COARSE }, "reach = inf: must be a positive number"),
    ] {
        assert!(message(settings).contains(words), "{}", message(settings));
    }
    let mut solver = Penalised::new(COARSE).unwrap();
    assert_eq!(solver.drag(0.0), Err(StokesError::NotPositive { name: "gap", value: 0.0 }));
    assert!(matches!(solver.velocity(f64::NAN, 1.0), Err(StokesError::NotPositive { name: "gap", .. })));
    assert!(matches!(solver.velocity(0.5, f64::NAN), Err(StokesError::NotFinite { name: "force", .. })));
    assert!(solver.drag(1.5).unwrap_err().to_string().contains("take a larger reach"));
    assert_eq!(solver.factorisations(), 0);
}

#[test]
fn the_papers_mesh_is_within_a_tenth_from_two_cells_on() {
    let mut solver = Penalised::new(Settings::default()).unwrap();
    println!("{} unknowns", solver.unknowns());
    println!("gap, exact, penalised, error in percent, seconds");
    for gap in [0.05, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0] {
        let start = Instant::now();
        let drag = solver.drag(gap).unwrap();
        let (exact, seconds) = (exact_drag(gap), start.elapsed().as_secs_f64());
        println!("{gap} {exact:.4} {drag:.4} {:+.1} {seconds:.3}", 100.0 * (drag / exact - 1.0));
    }
    let gaps = (0..70).map(|k| 0.2 + 0.002 * f64::from(k));
    let errors = gaps.map(|gap| solver.drag(gap).unwrap() / exact_drag(gap) - 1.0);
    let [least, most] = errors.fold([0.0, 0.0], |[least, most]: [f64; 2], error| [least.min(error), most.max(error)]);
    println!("gaps from 0.2 to 0.34: {:+.1} to {:+.1} %", 100.0 * least, 100.0 * most);
    println!("{} factorisations", solver.factorisations());
    assert!(least > -0.1 && most < 0.1);
}
