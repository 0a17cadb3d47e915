//! The penalised fixed mesh against the exact drag, and in the paper's experiment: pushed to the plane, then pulled.
//!
//! The exact drag is Brenner's series (1961). Figures are printed: `cargo test --release -p stokes --test penalised --
//! --include-ignored --nocapture` prints the tables of docs/stokes-penalised.md.

use std::time::Instant;

use stokes::StokesError;
use stokes::penalised::{Penalised, Resolution, Settings};

/// Half as many cells as in the paper: the drags are as good, at gaps twice as large.
const COARSE: Settings = Settings { cell: 0.2, penalty: 1e-8, reach: 1.0, extent: 12.0 };

/// Brenner's series, for gaps from 0.01 on, to six digits.
fn exact_drag(gap: f64) -> f64 {
    let s = (gap * (2.0 + gap)).sqrt();
    let a = (gap + s).ln_1p();
    let term = |n: f64| {
        let k = 2.0 * n + 1.0;
        let y = k * a / 2.0;
        let above = 2.0 * (1.0 - (-k * a).exp()) + k * (2.0 * a).sinh() + (k * s).powi(2);
        let below = (2.0 * y.sinh() - k * s) * (2.0 * y.sinh() + k * s);
        n * (n + 1.0) / ((2.0 * n - 1.0) * (2.0 * n + 3.0)) * above / below
    };
    let terms = (1..).map(f64::from).take_while(|n| n * a < 40.0);
    4.0 / 3.0 * s * terms.map(term).sum::<f64>()
}

#[test]
fn the_series_has_the_values_of_its_table() {
    for (gap, drag) in [(0.01, 101.896_172), (0.1, 11.459_157_2), (1.0, 2.125_535_57), (3.0, 1.380_204_01)] {
        assert!((exact_drag(gap) / drag - 1.0).abs() < 1e-6, "{gap}: {} {drag}", exact_drag(gap));
    }
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
#[ignore = "80 factorisations of the paper's mesh: some seconds"]
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

/// What is done about contacts, at which gap η.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Contact {
    Ignored,
    Inelastic(f64),
    Gluey(f64),
}

/// q at t = 0, h, 2h, … 5 in the paper's experiment.
struct March {
    step: f64,
    gaps: Vec<f64>,
}

impl March {
    /// Pushed with force 2 until t = 2, then pulled with 2, inertialess: u* = S(q, f), then what the contact makes of it.
    fn new(solver: &mut Penalised, contact: Contact, step: f64) -> Self {
        let (mut gap, mut gamma) = (0.7, 0.0);
        let mut gaps = vec![gap];
        for n in 0..(5.0 / step).round() as usize {
            let force = if (n as f64 + 0.5) * step < 2.0 { -2.0 } else { 2.0 };
            let free = solver.velocity(gap, force).expect("a gap on the mesh");
            let velocity = match contact {
                Contact::Ignored => free,
                Contact::Inelastic(threshold) => free.max((threshold - gap) / step),
                Contact::Gluey(threshold) => {
                    // In the metric of the fluid, γ^{n+1} = γ^n − hλ(u − u*) ≤ 0; the particle stays while γ^{n+1} < 0.
                    let drag = force / free;
                    let unglued = free + gamma / (step * drag);
                    let velocity = unglued.max((threshold - gap) / step);
                    gamma = (gamma - step * drag * (velocity - free)).min(0.0);
                    velocity
                }
            };
            gap += step * velocity;
            gaps.push(gap);
        }
        Self { step, gaps }
    }

    /// First time after the push at which the gap has grown.
    fn take_off(&self) -> Option<f64> {
        let pushed = (2.0 / self.step).round() as usize;
        let grown = |n: &usize| self.gaps[*n] > self.gaps[pushed] + 1e-4;
        (pushed..self.gaps.len()).find(grown).map(|n| n as f64 * self.step)
    }

    /// q(4): the start, 0.7, if nothing is lost in the contact.
    fn at_four(&self) -> f64 {
        self.gaps[(4.0 / self.step).round() as usize]
    }
}

#[test]
fn on_a_coarse_mesh_gluey_contacts_come_back_and_others_do_not() {
    let mut solver = Penalised::new(Settings { reach: 3.0, ..COARSE }).unwrap();
    let mut march = |contact| March::new(&mut solver, contact, 0.04);
    let ignored = march(Contact::Ignored);
    let inelastic = march(Contact::Inelastic(0.2));
    let gluey = march(Contact::Gluey(0.2));
    println!("q(4): {:.3} {:.3} {:.3}", ignored.at_four(), inelastic.at_four(), gluey.at_four());
    assert_eq!(ignored.take_off(), None);
    assert!(inelastic.at_four() > 1.5);
    assert!((gluey.at_four() - 0.7).abs() < 0.05);
}

/// Time from one gap to a smaller one under a force of 2, by the exact drag and Simpson's rule.
fn exact_time(from: f64, to: f64) -> f64 {
    let (parts, length) = (200, (from - to) / 200.0);
    let part = |k: i32| {
        let at = |share: f64| exact_drag(to + (f64::from(k) + share) * length);
        (at(0.0) + 4.0 * at(0.5) + at(1.0)) / 6.0 * length / 2.0
    };
    (0..parts).map(part).sum()
}

#[test]
#[ignore = "2,500 steps on the paper's mesh: some minutes"]
fn the_papers_experiment_with_three_treatments_of_contacts() {
    let mut solver = Penalised::new(Settings::default()).unwrap();
    println!("{} unknowns", solver.unknowns());
    let mut march = |contact| {
        let (start, before) = (Instant::now(), solver.factorisations());
        let march = March::new(&mut solver, contact, 0.01);
        let (seconds, made) = (start.elapsed().as_secs_f64(), solver.factorisations() - before);
        println!("{contact:?}: off at {:.2?}, q(2) = {:.4}", march.take_off(), march.gaps[200]);
        println!("    q(4) = {:.4}, {made} factorisations, {seconds:.0} s", march.at_four());
        march
    };
    let ignored = march(Contact::Ignored);
    assert!(ignored.take_off().is_none() && ignored.gaps[500] < 0.1);
    let inelastic = march(Contact::Inelastic(0.1));
    assert!((inelastic.take_off().unwrap() - 2.01).abs() < 0.005);
    // It is off from η at t = 2, and at q(4) two units of time later.
    assert!((exact_time(inelastic.at_four(), 0.1) - 2.0).abs() < 0.1);
    for threshold in [0.1, 0.15, 0.2] {
        let gluey = march(Contact::Gluey(threshold));
        // Glued for as long after t = 2 as before it.
        let exact = 4.0 - exact_time(0.7, threshold);
        println!("    off at {exact:.2} by the exact drag");
        assert!((gluey.take_off().unwrap() - exact).abs() < 0.1);
        assert!((gluey.at_four() - 0.7).abs() < 0.02);
    }
}
