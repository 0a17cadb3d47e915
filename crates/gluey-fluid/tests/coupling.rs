//! The paper's validation: gluey contact rejoins the fluid that is resolved down to contact, whatever the distance at
//! which it takes over and whoever solves the fluid.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use gluey::environment::{Signal, Table as Steps};
use gluey::plane;
use gluey_fluid::{Brenner, Contact, Coupling, FixedMesh, NormalDrag, Reference, Remembered, Table, Trajectory};
use stokes::StokesError;
use stokes::fitted::{Grid, SpherePlane};
use stokes::penalised::{Penalised, Settings};

const GLUEY: Contact = Contact::Gluey { gamma_min: f64::NEG_INFINITY };
const ETAS: [f64; 3] = [0.1, 0.15, 0.2];
const START: f64 = 0.7;

/// Pushed with −2 until t = 2, then pulled with 2, in units of 6πμ r.
fn force() -> Signal {
    Signal::Steps(Steps::new(vec![0.0, 2.0], vec![-2.0, 2.0]).unwrap())
}

fn run(drag: &Arc<dyn NormalDrag>, contact: Contact, eta: f64, dt: f64) -> Trajectory {
    let drag = Arc::clone(drag);
    Coupling { drag, contact, eta, start: START, force: force(), grid: plane::Grid::new(dt, 4.0).unwrap() }
        .run()
        .unwrap()
}

fn table() -> Arc<dyn NormalDrag> {
    Arc::new(Table::of(&Brenner, [1e-3, 10.0], 60).unwrap())
}

fn elements() -> Arc<dyn NormalDrag> {
    // Half as many cells each way as by default: good to 1e-3, and every step solves the equations anew.
    Arc::new(Remembered::new(SpherePlane::new(Grid { across: 4, along: 22 }).unwrap()))
}

fn fixed_mesh() -> Arc<dyn NormalDrag> {
    Arc::new(FixedMesh::new(Penalised::new(Settings::default()).unwrap()))
}

/// (max − min)/mean of the gaps at t = 4.
fn spread(runs: &[Trajectory]) -> f64 {
    let gaps: Vec<f64> = runs.iter().map(Trajectory::end).collect();
    let (least, most) = gaps.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), q| (a.min(*q), b.max(*q)));
    (most - least) * gaps.len() as f64 / gaps.iter().sum::<f64>()
}

/// Take-off within 2h of 4 − t_hit, when the pull has paid back the push; then on the way back, whatever η.
fn gluey_rejoins_the_reference(drag: &Arc<dyn NormalDrag>, nearness: f64) {
    let dt = 0.01;
    let gluey = ETAS.map(|eta| run(drag, GLUEY, eta, dt));
    let exact = ETAS.map(|eta| run(&table(), GLUEY, eta, dt).takeoff.unwrap());
    for ((eta, run), exact) in ETAS.iter().zip(&gluey).zip(exact) {
        let (hit, takeoff) = (run.hit.unwrap(), run.takeoff.unwrap());
        assert!((takeoff - (4.0 - hit)).abs() <= 2.0 * dt, "η = {eta}: hit at {hit}, left at {takeoff}");
        assert!((takeoff - exact).abs() < 0.1, "η = {eta}: left at {takeoff}, with the exact drag at {exact}");
        let reference = Reference { start: START, force: force() }.gap(4.0).unwrap();
        assert!((run.end() / reference - 1.0).abs() < nearness, "η = {eta}: {} against {reference}", run.end());
        assert!(run.samples.iter().all(|sample| sample.gap >= eta * (1.0 - 1e-9)), "nobody comes nearer than η");
    }
    let inelastic = ETAS.map(|eta| run(drag, Contact::Inelastic, eta, dt));
    assert!(inelastic.iter().all(|run| (run.takeoff.unwrap() - 2.0).abs() <= 2.0 * dt), "a pull acts at once");
    let (glued, dry) = (spread(&gluey), spread(&inelastic));
    assert!(glued <= 0.01, "gluey: {glued}");
    assert!(dry > 0.3, "inelastic: {dry}");
}

#[test]
fn with_drags_from_a_table() {
    gluey_rejoins_the_reference(&table(), 0.02);
}

#[test]
fn with_finite_elements() {
    gluey_rejoins_the_reference(&elements(), 0.02);
}

#[test]
fn with_the_penalised_mesh() {
    gluey_rejoins_the_reference(&fixed_mesh(), 0.03);
}

#[test]
fn without_contact_the_fixed_mesh_lets_nobody_go() {
    let end = run(&fixed_mesh(), Contact::None, 0.1, 0.02).end();
    assert!(end < 0.1, "the particle touches the plane on the mesh and stays at {end}");
    let resolved = run(&table(), Contact::None, 0.1, 0.01).end();
    assert!((resolved - START).abs() < 0.02, "a fluid that is resolved lets it go: {resolved}");
}

/// γ_min = −0.5, pulled with 2: take-off at 2 + 0.5/2, whatever h, since impulses act in the metric of the fluid.
#[test]
fn a_rough_particle_takes_off_when_its_glue_is_paid_back_whatever_the_step() {
    for eta in ETAS {
        for dt in [0.05, 0.02, 0.01, 0.005, 0.0025] {
            let rough = run(&table(), Contact::Gluey { gamma_min: -0.5 }, eta, dt);
            let takeoff = rough.takeoff.unwrap();
            assert!((takeoff - 2.25).abs() <= 2.0 * dt, "η = {eta}, h = {dt}: {takeoff}");
        }
    }
}

#[test]
fn the_account_is_what_the_push_left_in_it() {
    let gluey = run(&table(), GLUEY, 0.1, 0.01);
    let hit = gluey.hit.unwrap();
    let deepest = gluey.samples.iter().map(|sample| sample.gamma).fold(0.0, f64::min);
    assert!((deepest + 2.0 * (2.0 - hit)).abs() <= 2.0 * 0.02, "γ = {deepest} after a push of 2 from t = {hit} to 2");
    let held = gluey.samples.iter().find(|sample| sample.time > 1.8).unwrap();
    assert!((held.lambda - 2.0).abs() < 1e-9, "the contact bears the push: {}", held.lambda);
}

#[test]
fn steps_converge_to_the_reference_at_first_order() {
    let error = |dt: f64| (run(&table(), Contact::None, 0.1, dt).end() - START).abs();
    let (coarse, fine) = (error(0.02), error(0.005));
    let order = (coarse / fine).log2() / 2.0;
    assert!((order - 1.0).abs() < 0.1, "{order}: {coarse} {fine}");
}

#[test]
fn figures_that_make_no_sense_are_named() {
    let good = Coupling {
        drag: Arc::new(Brenner),
        contact: GLUEY,
        eta: 0.1,
        start: START,
        force: force(),
        grid: plane::Grid::new(0.1, 1.0).unwrap(),
    };
    let refused = |wrong: Coupling| wrong.run().unwrap_err();
    for (wrong, name) in [
        (Coupling { eta: 0.0, ..good.clone() }, "eta = 0"),
        (Coupling { start: -1.0, ..good.clone() }, "q0 = -1"),
        (Coupling { start: 0.05, ..good.clone() }, "q0 = 0.05"),
        (Coupling { contact: Contact::Gluey { gamma_min: 1.0 }, ..good.clone() }, "gamma_min = 1"),
    ] {
        let error = refused(wrong);
        assert!(error.to_string().starts_with(name) && error.is_bad_input(), "{error}");
    }
    // A fluid that has no answer ends the run, with the time and the reason.
    let table = Arc::new(Table::new(&[0.65, 0.7, 0.75], &[2.7, 2.6, 2.5]).unwrap());
    let error = refused(Coupling { drag: table, ..good }).to_string();
    assert!(error.contains("at t = ") && error.contains("gap = 0.") && error.contains("between 0.65"), "{error}");
    assert_eq!(Brenner.drag(-1.0), Err(StokesError::NotPositive { name: "gap", value: -1.0 }));
}
