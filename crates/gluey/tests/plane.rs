//! One particle and a plane: the paper's algorithm, the exact solution, the layer of fluid, and the studies.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{floor, particles, simulation};
use glam::DVec3;
use gluey::adhesion::{Law, Scaling, Threshold};
use gluey::environment::{Force, ForceComponent, Forcing, Inertial, Per, Signal, Table};
use gluey::plane::exact::Happening;
use gluey::plane::studies::{cluster, convergence, layers, roughness, uniqueness};
use gluey::plane::{Experiment, Grid, PlaneError, Sample, algorithm, exact, lubrication, norms};
use gluey::simulation::Simulation;
use proptest::prelude::*;

const SMOOTH: f64 = f64::NEG_INFINITY;

fn grid(dt: f64, until: f64) -> Grid {
    Grid::new(dt, until).unwrap()
}

fn steps(pairs: &[(f64, f64)]) -> Signal {
    let (times, values) = pairs.iter().copied().unzip();
    Signal::Steps(Table::new(times, values).unwrap())
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} within {tolerance}");
}

/// The multi-particle engine with one particle above a floor.
fn engine(experiment: &Experiment, dt: f64) -> Simulation {
    let Experiment { gap, velocity, mass, radius, ref force, gamma_min } = *experiment;
    let law = match gamma_min {
        0.0 => Law::Inelastic,
        SMOOTH => Law::Gluey { threshold: Threshold::Smooth, scaling: Scaling::Lubrication },
        value => Law::Gluey { threshold: Threshold::Value(value), scaling: Scaling::Lubrication },
    };
    let mut list = particles(&[(DVec3::Z * (radius + gap), radius, mass)]);
    list.velocity[0] = DVec3::Z * velocity;
    let mut simulation = simulation(list, vec![floor()], law);
    let zero = || ForceComponent::Signal(Signal::Constant(0.0));
    let components = [zero(), zero(), ForceComponent::Signal(force.clone())];
    let forces = vec![Force { label: "f".to_owned(), groups: None, components, per: Per::Acceleration }];
    simulation.environment = Box::new(Inertial::new(Forcing { forces, ..Forcing::default() }).unwrap());
    simulation.settings.dt = dt;
    // Relative to the radius; an impulse is known to m r/h times as much.
    simulation.settings.criteria.tolerance = 3e-16;
    simulation
}

/// Largest distance in q, u, γ and hλ between the algorithm and the engine over all steps, relative to the largest of
/// each.
fn from_engine(experiment: &Experiment, grid: Grid) -> f64 {
    let run = algorithm::run(experiment, grid).unwrap();
    let mut engine = engine(experiment, grid.dt);
    // The way of a step is known to its own rounding, which may be above that of the radius.
    engine.settings.criteria.tolerance *= 1.0 + run.largest_speed() * grid.dt / experiment.radius;
    let scale = |of: fn(&Sample) -> f64| run.samples.iter().map(|s| of(s).abs()).fold(1.0, f64::max);
    let scales = [scale(|s| s.gap), scale(|s| s.velocity), scale(|s| s.gamma), grid.dt * scale(|s| s.lambda)];
    let mut worst = 0.0_f64;
    for sample in &run.samples[1..] {
        engine.step().unwrap();
        let contact = engine.state.contacts.first();
        let (gamma, impulse) = contact.map_or((0.0, 0.0), |contact| (contact.gamma, contact.impulse));
        let errors = [
            sample.gap - (engine.state.particles.position[0].z - experiment.radius),
            sample.velocity - engine.state.particles.velocity[0].z,
            sample.gamma - gamma,
            grid.dt * sample.lambda - impulse,
        ];
        for (error, scale) in errors.iter().zip(scales) {
            worst = worst.max(error.abs() / scale);
        }
    }
    worst
}

#[test]
fn the_algorithm_is_the_engine_with_one_particle() {
    let oscillating = Signal::expression("3*cos(2.7*t) - 0.4").unwrap();
    let lines = Signal::Linear(Table::new(vec![0.0, 1.3, 4.0], vec![-3.0, 2.5, -1.0]).unwrap());
    let forces = [
        steps(&[(0.0, -2.0), (2.0, 2.0)]),
        steps(&[(0.0, -3.0), (1.234, 2.0), (2.5, -4.0), (3.3, 5.0)]),
        oscillating,
        lines,
    ];
    let mut worst = 0.0_f64;
    for force in forces {
        for gamma_min in [SMOOTH, -1.0, -0.3, 0.0] {
            for (mass, radius) in [(1.0, 1.0), (0.7, 0.4), (3.0, 1.9)] {
                let experiment = Experiment { gap: 0.9, velocity: -0.2, mass, radius, force: force.clone(), gamma_min };
                let found = from_engine(&experiment, grid(0.01, 6.0));
                assert!(found <= 1e-12, "{found} for {experiment:?}");
                worst = worst.max(found);
            }
        }
    }
    println!("largest difference {worst:.1e}");
}

#[test]
fn the_papers_experiment_has_its_events_at_the_papers_times() {
    for (gamma_min, takeoff) in [(SMOOTH, 4.0), (-1.0, 2.5), (0.0, 2.0)] {
        let solution = exact::solve(&Experiment::papers(gamma_min), 6.0).unwrap();
        assert_eq!(solution.hits().collect::<Vec<_>>(), [1.0]);
        assert_eq!(solution.takeoffs().collect::<Vec<_>>(), [takeoff]);
        assert_eq!(solution.events[0].happening, Happening::Hit { velocity: -2.0 });
        assert_eq!(solution.at(1.0).gamma, gamma_min.max(-2.0));
        assert_eq!(solution.at(2.0).gamma, gamma_min.max(-4.0));
        assert_eq!(solution.at(6.0).gap, (6.0 - takeoff).powi(2));
        assert_eq!(solution.at(6.0).velocity, 2.0 * (6.0 - takeoff));
        assert_eq!(solution.at(1.5).lambda, 2.0);
    }
    let rough = exact::solve(&Experiment::papers(-3.0), 6.0).unwrap();
    let saturations: Vec<_> = rough.events.iter().filter(|event| event.happening == Happening::Saturation).collect();
    assert_eq!(saturations.len(), 1);
    assert_eq!(saturations[0].time, 1.5);
}

#[test]
fn mass_and_radius_weigh_as_the_paper_says() {
    // γ⁺ = m u⁻/r² at the hit, γ' = m f/r², and the velocity at take-off is r²γ̄/m.
    let experiment = Experiment { mass: 2.0, radius: 0.5, ..Experiment::papers(SMOOTH) };
    let solution = exact::solve(&experiment, 6.0).unwrap();
    assert_eq!(solution.at(1.0).gamma, -16.0);
    assert_eq!(solution.at(2.0).gamma, -32.0);
    assert_eq!(solution.takeoffs().next(), Some(4.0), "the radius does not matter where smooth");
    let rough = Experiment { gamma_min: -4.0, ..experiment };
    assert_eq!(exact::solve(&rough, 6.0).unwrap().takeoffs().next(), Some(2.25), "2 + r²|γ_min|/(2m)");
}

#[test]
fn a_take_off_within_a_step_leaves_with_what_was_not_needed() {
    // Hit at the end of the first step; γ = −0.1·… then a pull that pays back within the third.
    let experiment = Experiment {
        gap: 0.01,
        velocity: -1.0,
        radius: 2.0,
        mass: 3.0,
        force: steps(&[(0.0, 0.0), (0.1, 7.0)]),
        gamma_min: SMOOTH,
    };
    let run = algorithm::run(&experiment, grid(0.1, 0.4)).unwrap();
    close(run.samples[1].gamma, 3.0 * -0.9 / 4.0, 1e-15);
    close(run.samples[1].velocity, -0.1, 1e-15);
    close(run.samples[2].gamma, 3.0 * (-1.0 + 0.7) / 4.0, 1e-15);
    let taken_off = run.samples[3];
    assert_eq!(taken_off.gamma, 0.0);
    close(taken_off.velocity, 0.4, 1e-14); // −1 + 2·0.7
    close(taken_off.gap, 0.04, 1e-14);
}

#[test]
fn the_theorem_holds_with_order_one_and_the_lemmas_bounds() {
    let steps: Vec<f64> = (6..=13).map(|k| 6.0 / f64::from(1 << k)).collect();
    for gamma_min in [SMOOTH, -1.0, 0.0] {
        let study = convergence(&Experiment::papers(gamma_min), &steps, 6.0).unwrap();
        println!("gamma_min {gamma_min}: {:.3?}", study.orders);
        for row in &study.resolutions {
            assert!(row.bounds.hold(), "{row:?}");
            assert!(row.distance.gap_sup <= 3.0 * row.dt, "{row:?}");
        }
        let orders = study.orders;
        for order in [orders.velocity_l1, orders.gap_sup, orders.lambda_mass, orders.velocity_variation] {
            close(order.unwrap(), 1.0, 0.05);
        }
        match orders.gamma_l1 {
            Some(order) => close(order, 1.0, 0.05),
            None => assert_eq!(gamma_min, 0.0, "only a dry particle has no γ to be wrong"),
        }
        assert!(orders.lambda_action.unwrap() > 0.95);
    }
}

#[test]
fn distances_are_those_of_a_case_worked_out_by_hand() {
    // q = 1 − t² until the hit at 1, then γ = −2t. One step of 2: u¹ = −1/2, γ¹ = 3.5 − 4 … in closed form below.
    let force = Signal::Constant(-2.0);
    let experiment = Experiment { force, ..Experiment::papers(SMOOTH) };
    let run = algorithm::run(&experiment, grid(2.0, 2.0)).unwrap();
    let last = run.samples[1];
    assert_eq!((last.gap, last.velocity, last.gamma, last.lambda), (0.0, -0.5, -3.5, 1.75));
    let solution = exact::solve(&experiment, 2.0).unwrap();
    let found = norms::distance(&run, &solution, 1.0);
    // |−1/2 + 2t| on [0, 1] is 1/16 + 9/16, and 1/2 on [1, 2].
    close(found.velocity_l1, 0.625 + 0.5, 1e-14);
    // 1 − t/2 against 1 − t²: largest at t = 1 (1/2); at the vertex t = 1/4 it is 1/16.
    close(found.gap_sup, 0.5, 1e-14);
    // −1.75 t against 0 on [0, 1]: 0.875; against −2t on [1, 2]: 0.25·1.5.
    close(found.gamma_l1, 0.875 + 0.375, 1e-14);
    // ∫|λ_h| = 3.5; the exact measure has 2 at the hit and 2 after it.
    close(found.lambda_mass, 0.5, 1e-14);
    // ∫ sin²(πt/2) = 1 on [0, 2] and 1/2 on [1, 2]; φ(1) = 1.
    close(found.lambda_action, (1.75_f64 - (2.0 + 2.0 * 0.5)).abs(), 1e-14);
    close(norms::velocity_variation(&solution), 4.0, 1e-14);
}

/// The lubrication model in q and u by the classical Runge–Kutta method: another method for another form of it.
fn runge_kutta(kappa: f64, steps: u32) -> (f64, f64) {
    let h = 6.0 / f64::from(steps);
    let (mut q, mut u, mut lowest) = (1.0_f64, 0.0_f64, 1.0_f64);
    for n in 0..steps {
        let f = if 3 * n < steps { -2.0 } else { 2.0 };
        let rate = |q: f64, u: f64| (u, f - kappa * u / q);
        let a = rate(q, u);
        let b = rate(q + 0.5 * h * a.0, u + 0.5 * h * a.1);
        let c = rate(q + 0.5 * h * b.0, u + 0.5 * h * b.1);
        let d = rate(q + h * c.0, u + h * c.1);
        q += h / 6.0 * (a.0 + 2.0 * (b.0 + c.0) + d.0);
        u += h / 6.0 * (a.1 + 2.0 * (b.1 + c.1) + d.1);
        lowest = lowest.min(q);
    }
    (q, lowest.ln())
}

#[test]
fn layers_of_fluid_end_where_they_should() {
    let end = |kappa: f64, dt: f64| {
        let run = lubrication::run(&Experiment::papers(SMOOTH), kappa, grid(dt, 6.0)).unwrap();
        (run.samples.last().unwrap().gap, run.lowest.1)
    };
    for (kappa, gap, lowest) in [
        (1.0, 3.684_149, -3.972_812),
        (0.1, 4.072_695, -40.0),
        (0.01, 4.011_340, -400.0),
        (1e-3, 4.001_214, -4e3),
        (1e-4, 4.000_123, -4e4),
    ] {
        let found = end(kappa, 0.01);
        println!("kappa {kappa}: q(6) = {:.9}, min ln q = {:.6}", found.0, found.1);
        close(found.0, gap, 5e-7);
        close(found.1, lowest, 1e-6 * lowest.abs().max(1.0));
        // Where the samples are does not matter.
        for dt in [0.003, 0.1, 0.3, 1.5] {
            close(found.0 / end(kappa, dt).0, 1.0, 1e-10);
        }
    }
    let (gap, lowest) = runge_kutta(1.0, 60_000);
    let found = end(1.0, 0.01);
    close(found.0 / gap, 1.0, 1e-10);
    assert!(found.1 <= lowest && lowest - found.1 < 1e-6, "{} {lowest}", found.1);
    close(end(0.5, 0.01).0 / runge_kutta(0.5, 600_000).0, 1.0, 1e-10);
}

#[test]
fn a_layer_keeps_its_first_integral() {
    for gamma_min in [SMOOTH, -5.0] {
        let run = lubrication::run(&Experiment::papers(gamma_min), 0.05, grid(0.05, 6.0)).unwrap();
        let impulse = |t: f64| if t < 2.0 { -2.0 * t } else { 2.0 * t - 8.0 };
        let start = run.samples[0];
        for sample in &run.samples {
            let kept = sample.velocity + sample.gamma - start.gamma - impulse(sample.time);
            close(kept, 0.0, 1e-12);
        }
    }
}

#[test]
fn a_rough_layer_lets_go_where_the_rough_limit_does() {
    for kappa in [0.02, 1e-3, 1e-4] {
        let run = lubrication::run(&Experiment::papers(-1.0), kappa, grid(0.01, 6.0)).unwrap();
        close(run.lowest.1, -1.0 / kappa, 1e-9 / kappa);
        let resting = run.samples.iter().find(|sample| sample.time > 1.9).unwrap();
        assert_eq!((resting.gap, resting.velocity, resting.lambda), (0.0, 0.0, 2.0));
        close(run.samples.last().unwrap().gap, 3.5_f64.powi(2), 2.0 * kappa);
    }
}

#[test]
fn an_expression_and_a_table_drive_a_layer_alike() {
    let table = Experiment::papers(SMOOTH);
    let expression = Experiment { force: Signal::expression("if(t < 2, -2, 2)").unwrap(), ..table.clone() };
    for kappa in [0.5, 0.01] {
        let end = |experiment: &Experiment| {
            lubrication::run(experiment, kappa, grid(0.25, 6.0)).unwrap().samples.last().unwrap().gap
        };
        close(end(&expression) / end(&table), 1.0, 1e-9);
    }
}

/// A varying force pulls a particle off, and presses it on, with f = 0 in between: wherever samples are taken.
#[test]
fn a_force_that_varies_pulls_a_particle_off_again_and_again() {
    let cases = [
        ("cos(17*t)-0.3", -1.0, 1.0),
        ("cos(17*t)-0.3", -0.2, 0.1),
        ("cos(17*t)-0.3", -0.2, 0.01),
        ("2*cos(5*t)-1", -1.0, 0.1),
        ("2*cos(5*t)-1", -0.2, 0.01),
        ("3*sin(2*t)-0.5", f64::NEG_INFINITY, 0.001),
    ];
    for (text, gamma_min, kappa) in cases {
        let experiment = Experiment { force: Signal::expression(text).unwrap(), ..Experiment::papers(gamma_min) };
        let last = |dt: f64| *lubrication::run(&experiment, kappa, grid(dt, 6.0)).unwrap().samples.last().unwrap();
        let (fine, coarse) = (last(0.001), last(1.0));
        assert!((fine.gap - coarse.gap).abs() <= 1e-10 * fine.gap, "{text}: {fine:?} {coarse:?}");
    }
}

/// q(6) by an implicit method of order 5 for ln q, at a relative tolerance of 1e-13 (SciPy's Radau).
#[test]
fn layers_under_forces_that_vary_are_those_of_another_method() {
    let (sine, fast, slow) = ("3*sin(2*t)-0.5", "cos(17*t)-0.3", "2*cos(5*t)-1");
    let cases = [
        (sine, 1.0, 0.199_750_258_951_946_79),
        (sine, 0.1, 0.951_708_327_954_406_6),
        (fast, 1.0, 0.175_505_467_034_450_64),
        (fast, 0.1, 2.734_294_681_949_922_6e-8),
        (slow, 1.0, 0.001_671_510_352_329_59),
        (slow, 0.1, 1.682_458_484_698_737_4e-28),
    ];
    for (text, kappa, expected) in cases {
        let experiment = Experiment { force: Signal::expression(text).unwrap(), ..Experiment::papers(SMOOTH) };
        let run = lubrication::run(&experiment, kappa, grid(0.1, 6.0)).unwrap();
        close(run.samples.last().unwrap().gap / expected, 1.0, 1e-10);
    }
}

#[test]
fn layers_tend_to_the_limit_with_order_one() {
    let kappas = [3e-2, 1e-2, 3e-3, 1e-3];
    let study = layers(&Experiment::papers(SMOOTH), &kappas, grid(0.01, 6.0)).unwrap();
    println!("orders {:.3?}", study.orders);
    close(study.orders.0, 1.0, 0.05);
    close(study.orders.1, 1.0, 0.05);
    let last = study.layers.last().unwrap();
    println!("sup|q − q_lim|/κ = {:.4}, ‖κ ln q − γ‖/κ = {:.4}", last.gap_sup / last.kappa, last.gamma_l1 / last.kappa);
    close(last.gap_sup / last.kappa, 2.0, 0.02);
}

#[test]
fn rough_particles_leave_when_the_pull_has_paid_back_what_is_remembered() {
    for (mass, radius) in [(1.0, 1.0), (2.0, 1.0), (1.0, 0.5)] {
        let dt = 1e-3;
        let gamma_mins = [-40.0, -4.0, -3.0, -2.0, -1.0, -0.5, -0.1];
        let study = roughness((mass, radius), &gamma_mins, 1e-3, grid(dt, 6.0)).unwrap();
        for row in study.departures {
            close(row.exact, row.predicted, 1e-12);
            assert!(row.algorithm >= row.exact - 1e-9 && row.algorithm <= row.exact + 2.0 * dt, "{row:?}");
            close(row.lubrication, row.predicted, 1e-3);
        }
    }
}

#[test]
fn a_dry_particle_has_two_solutions_where_contacts_cluster_and_a_gluey_one_has_one() {
    let study = uniqueness(&[0.0, -0.05, -1.0, SMOOTH], &[8, 9, 10, 11, 12, 13]).unwrap();
    for family in &study.families {
        println!("gamma_min {}: apart {:.1e}, {} hits", family.gamma_min, family.apart, family.hits);
        assert!(family.hits > 15);
        for (refinement, j) in family.refinements.iter().zip(8..) {
            let (near, far) = match j % 2 {
                0 => (refinement.from_even, refinement.from_odd),
                _ => (refinement.from_odd, refinement.from_even),
            };
            if family.gamma_min == 0.0 {
                assert!(near <= 2.0 * refinement.dt && far > 0.6, "{refinement:?}");
            } else {
                close(near, far, 1e-11);
            }
            if family.gamma_min <= -1.0 {
                assert!(near <= 2.0 * refinement.dt, "{refinement:?}");
            }
        }
        if family.gamma_min == 0.0 { assert!(family.apart > 0.6) } else { assert!(family.apart < 1e-11) }
    }
    // However little is remembered, refinement ends the doubt, only later.
    let little = &study.families[1].refinements;
    assert!(little.last().unwrap().from_even < 1e-3 && little[0].from_even > 1e-2, "{little:?}");
}

#[test]
fn both_solutions_of_the_dry_particle_keep_the_model() {
    // Either is 0 or a parabola, hits inelastically, and is pushed only in contact: q'' = f + λ, λ ≥ 0, qλ = 0.
    for finest in [40, 41] {
        let case = cluster(0.0, finest).unwrap();
        let solution = exact::solve(&case.experiment, case.until).unwrap();
        for (k, piece) in solution.pieces.iter().enumerate() {
            let force = case.experiment.force.at(piece.start);
            close(piece.acceleration, force + piece.lambda, 0.0);
            assert!(piece.lambda >= 0.0 && piece.gap >= 0.0 && piece.gamma == 0.0);
            assert!(piece.lambda == 0.0 || (piece.gap == 0.0 && piece.velocity == 0.0));
            if let Some(next) = solution.pieces.get(k + 1) {
                let end = piece.at(piece.end);
                close(end.gap, next.gap, 1e-15);
                let hit = next.gap == 0.0 && next.velocity == 0.0;
                assert!(hit || (end.velocity - next.velocity).abs() < 1e-15);
            }
        }
        // It takes off in every other octave, of the parity of the cut.
        for time in solution.takeoffs().filter(|time| *time > case.start) {
            let octave = (time - case.start).log2();
            assert_eq!((octave.round() as i32 - finest).rem_euclid(2), 0, "take-off at 2^{octave}");
        }
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let papers = Experiment::papers(SMOOTH);
    let message = |experiment: &Experiment| algorithm::run(experiment, grid(0.1, 1.0)).unwrap_err().to_string();
    for (experiment, part) in [
        (Experiment { gap: 0.0, ..papers.clone() }, "`q0` is 0: expected a finite number > 0"),
        (Experiment { gap: f64::NAN, ..papers.clone() }, "`q0` is NaN"),
        (Experiment { velocity: f64::INFINITY, ..papers.clone() }, "`u0` is inf"),
        (Experiment { mass: -1.0, ..papers.clone() }, "`mass` is -1"),
        (Experiment { radius: 0.0, ..papers.clone() }, "`radius` is 0"),
        (Experiment { gamma_min: 0.5, ..papers.clone() }, "`gamma_min` is 0.5: expected a number ≤ 0"),
        (Experiment { gamma_min: f64::NAN, ..papers.clone() }, "`gamma_min` is NaN"),
        (Experiment { force: Signal::Constant(f64::NAN), ..papers.clone() }, "`the force f` is NaN"),
        (Experiment { force: Signal::expression("1/(t - 0.55)").unwrap(), ..papers.clone() }, "the force f"),
        (
            Experiment { force: Signal::expression("ln(0.5 - t)").unwrap(), ..papers.clone() },
            "the force f is -inf at t = 0.5",
        ),
    ] {
        let told = message(&experiment);
        assert!(told.contains(part), "`{part}` is not in `{told}`");
        assert!(lubrication::run(&experiment, 0.1, grid(0.1, 1.0)).is_err(), "{part}");
    }
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Grid::new(dt, 1.0).unwrap_err().to_string().contains("`dt`"));
        assert!(Grid::new(0.1, dt).unwrap_err().to_string().contains("`until`"));
    }
    assert!(Grid::new(1e-12, 1.0).unwrap_err().to_string().contains("steps"));
    let swinging = Experiment { force: Signal::expression("sin(t)").unwrap(), ..papers.clone() };
    assert_eq!(exact::solve(&swinging, 1.0).unwrap_err(), PlaneError::NotPiecewiseConstant);
    assert!(lubrication::run(&papers, 0.0, grid(0.1, 1.0)).unwrap_err().to_string().contains("`kappa` is 0"));
}

/// A piecewise-constant force on [0, 6] that switches at multiples of 2⁻⁵.
fn any_force() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::btree_map(1_u16..192, -4.0..4.0_f64, 0..8).prop_flat_map(|later| {
        (-4.0..4.0_f64).prop_map(move |first| {
            let later = later.iter().map(|(time, value)| (f64::from(*time) / 32.0, *value));
            std::iter::once((0.0, first)).chain(later).collect()
        })
    })
}

prop_compose! {
    fn any_experiment()(
        force in any_force(), gap in 0.05..1.0_f64, velocity in -2.0..2.0_f64, mass in 0.3..3.0_f64,
        radius in 0.2..0.8_f64, gamma_min in prop_oneof![Just(SMOOTH), Just(0.0), -3.0..-0.01_f64],
    ) -> Experiment {
        Experiment { gap, velocity, mass, radius, force: steps(&force), gamma_min }
    }
}

/// ∫|f| over [0, 6].
fn variation(experiment: &Experiment) -> f64 {
    let Signal::Steps(table) = &experiment.force else { panic!("steps") };
    let ends = table.times()[1..].iter().copied().chain([6.0]);
    table.times().iter().zip(ends).zip(table.values()).map(|((from, to), value)| (to - from) * value.abs()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_smooth_particle_stays_within_three_steps_of_the_exact_one(experiment in any_experiment(), k in 5..10_i32) {
        // q solves the reflection problem of Y = ∫(u⁰ + ∫f), and the algorithm that of a Riemann sum of it:
        // docs/plane.md.
        let experiment = Experiment { gamma_min: SMOOTH, ..experiment };
        let solution = exact::solve(&experiment, 6.0).unwrap();
        let h = 0.5_f64.powi(k);
        let run = algorithm::run(&experiment, grid(h, 6.0)).unwrap();
        let bound = 3.0 * h * variation(&experiment) + 1e-12;
        for sample in &run.samples {
            let error = (sample.gap - solution.at(sample.time).gap).abs();
            prop_assert!(error <= bound, "{error} > {bound} at t = {}", sample.time);
        }
    }

    #[test]
    fn the_lemmas_bounds_hold_for_any_particle(experiment in any_experiment(), k in 3..9_i32) {
        let run = algorithm::run(&experiment, grid(0.5_f64.powi(k), 6.0)).unwrap();
        let (start, force) = (experiment.velocity.abs(), variation(&experiment));
        prop_assert!(run.force_variation <= force * (1.0 + 1e-12) + 1e-12);
        prop_assert!(run.largest_speed() <= (start + force) * (1.0 + 1e-12) + 1e-12);
        prop_assert!(run.velocity_variation() <= (start + 8.0 * force) * (1.0 + 1e-12) + 1e-12);
        for sample in &run.samples {
            prop_assert!(sample.gap >= 0.0 && sample.gamma <= 0.0 && sample.gamma >= experiment.gamma_min);
            prop_assert_eq!(sample.gap * sample.gamma, 0.0);
        }
    }

    #[test]
    fn the_exact_solution_keeps_the_model(experiment in any_experiment()) {
        let solution = exact::solve(&experiment, 6.0).unwrap();
        let Experiment { mass, radius, gamma_min, velocity, .. } = experiment;
        let (mut end, mut kept) = (0.0, mass * velocity);
        for piece in &solution.pieces {
            prop_assert_eq!(piece.start, end);
            end = piece.end;
            let middle = piece.at(0.5 * (piece.start + piece.end));
            prop_assert!(middle.gap >= -1e-12 && middle.gamma <= 0.0 && middle.gamma >= gamma_min);
            prop_assert_eq!(middle.gap * middle.gamma, 0.0);
            // m u + r²γ − m∫f is kept; where γ is held at γ_min the push is lost, and it rises.
            let force = |time: f64| experiment.mean_force(gluey::environment::Span { start: 0.0, dt: time }).unwrap() * time;
            let now = mass * (middle.velocity - force(middle.time)) + radius.powi(2) * middle.gamma;
            prop_assert!(now >= kept - 1e-9, "{} after {}", now, kept);
            if gamma_min == SMOOTH {
                prop_assert!((now - kept).abs() <= 1e-9);
            }
            kept = now;
        }
        prop_assert_eq!(end, 6.0);
    }

    #[test]
    fn the_engine_takes_the_same_steps(experiment in any_experiment(), k in 3..6_i32) {
        // γ adds up the rounding of up to 192 impulses: the worst of 40,000 random experiments is 3.4e-12.
        let found = from_engine(&experiment, grid(0.5_f64.powi(k), 6.0));
        prop_assert!(found <= 5e-12, "{}", found);
    }
}
