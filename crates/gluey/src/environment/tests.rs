use std::f64::consts::PI;

use glam::DVec3;
use proptest::prelude::*;

use super::*;
use crate::expression::Expression;

const STEP: Span = Span { start: 0.0, dt: 0.1 };

fn signals(components: [f64; 3]) -> Signal3 {
    components.map(Signal::Constant)
}

fn field(components: [&str; 3]) -> [ForceComponent; 3] {
    components.map(|text| ForceComponent::expression(text).expect(text))
}

fn flow(components: [&str; 3]) -> [Expression; 3] {
    components.map(|text| Expression::parse(text, &FLOW_VARIABLES).expect(text))
}

fn force(components: [&str; 3]) -> Force {
    Force { label: "wind".to_owned(), groups: None, components: field(components), per: Per::Force }
}

fn one(velocity: DVec3) -> Particles {
    let mut particles = Particles::default();
    particles.push(DVec3::new(1.0, 2.0, 3.0), 0.5, 2.0);
    particles.velocity[0] = velocity;
    particles
}

fn many(count: usize) -> Particles {
    let mut particles = Particles::default();
    for i in 0..count {
        let s = i as f64;
        particles.push(
            DVec3::new(s.sin(), s.cos(), (2.0 * s).sin()),
            0.1 + 0.01 * (i % 7) as f64,
            1.0 + (i % 5) as f64,
        );
        particles.velocity[i] = DVec3::new((3.0 * s).cos(), s.tanh(), 0.1 * s.sqrt());
        particles.group[i] = (i % 3) as u32;
    }
    particles
}

fn predict(environment: &dyn Environment, particles: &Particles, span: Span) -> Prediction {
    let mut prediction = Prediction::default();
    environment.predict(particles, span, &mut prediction).expect("finite");
    prediction
}

fn inertial(forcing: Forcing) -> Inertial {
    Inertial::new(forcing).expect("valid")
}

#[test]
fn without_drag_gravity_adds_to_the_velocity_exactly() {
    let environment = inertial(Forcing { gravity: signals([0.0, -9.81, 0.3]), ..Forcing::default() });
    let velocity = DVec3::new(0.3, 0.1, -0.7);
    let found = predict(&environment, &one(velocity), STEP);
    assert_eq!(found.velocity, [velocity + 0.1 * DVec3::new(0.0, -9.81, 0.3)]);
    assert_eq!(found.metric.inverse_mass(), [0.5]);
}

#[test]
fn buffers_are_resized_and_overwritten() {
    let environment = inertial(Forcing::default());
    let mut prediction = Prediction { velocity: vec![DVec3::NAN; 9], metric: Metric::Diagonal(vec![f64::NAN; 4]) };
    environment.predict(&one(DVec3::X), STEP, &mut prediction).expect("finite");
    assert_eq!(prediction, Prediction { velocity: vec![DVec3::X], metric: Metric::Diagonal(vec![0.5]) });
    assert_eq!(predict(&environment, &Particles::default(), STEP), Prediction::default());
}

#[test]
fn implicit_drag_relaxes_by_its_formula() {
    let (zeta, velocity) = (7.0, DVec3::new(0.3, 0.1, -0.7));
    let environment = inertial(Forcing { drag: Drag::Coefficient(zeta), ..Forcing::default() });
    let found = predict(&environment, &one(velocity), STEP);
    assert!((found.velocity[0] - velocity / (1.0 + 0.1 * zeta / 2.0)).length() < 1e-16);
    assert_eq!(found.metric.inverse_mass(), [1.0 / (2.0 + 0.1 * zeta)]);
}

#[test]
fn a_falling_sphere_reaches_its_terminal_velocity_in_the_flow() {
    let (gravity, drag) = (signals([0.0, -10.0, 0.0]), Drag::Stokes { viscosity: 3.0 });
    let environment =
        inertial(Forcing { gravity, drag, flow: Some(flow(["y - x", "0.5", "z * t"])), ..Forcing::default() });
    let mut particles = one(DVec3::ZERO);
    for _ in 0..2000 {
        particles.velocity = predict(&environment, &particles, STEP).velocity;
    }
    let exact = DVec3::new(1.0, 0.5 - 10.0 * 2.0 / (6.0 * PI * 3.0 * 0.5), 3.0 * 0.1);
    assert!((particles.velocity[0] - exact).length() < 1e-13, "{}", particles.velocity[0]);
}

#[test]
fn without_inertia_the_velocity_follows_the_force() {
    let environment = Overdamped::new(Forcing {
        gravity: signals([0.0, -10.0, 0.0]),
        forces: vec![force(["t", "0", "m * vx"])],
        drag: Drag::Coefficient(4.0),
        flow: Some(flow(["t", "0", "0"])),
        ..Forcing::default()
    })
    .expect("valid");
    let found = predict(&environment, &one(DVec3::new(8.0, 1.0, 1.0)), STEP);
    // The flow is that of the end of the step, the force its mean over the step, and m vx = 16.
    let exact = DVec3::new(0.1 + 0.05 / 4.0, -20.0 / 4.0, 16.0 / 4.0);
    assert!((found.velocity[0] - exact).length() < 1e-14, "{}", found.velocity[0]);
    assert_eq!(found.metric.inverse_mass(), [1.0 / (0.1 * 4.0)]);
}

#[test]
fn both_agree_where_drag_outweighs_inertia() {
    let forcing = Forcing {
        gravity: signals([1.0, 2.0, 3.0]),
        drag: Drag::Coefficient(1e9),
        flow: Some(flow(["x", "y", "z"])),
        ..Forcing::default()
    };
    let particles = one(DVec3::ONE);
    let with = predict(&inertial(forcing.clone()), &particles, STEP);
    let without = predict(&Overdamped::new(forcing).expect("valid"), &particles, STEP);
    assert!((with.velocity[0] - without.velocity[0]).length() < 1e-7);
    assert!((with.metric.inverse_mass()[0] / without.metric.inverse_mass()[0] - 1.0).abs() < 1e-7);
}

#[test]
fn a_switch_inside_a_step_gives_exactly_its_impulse() {
    let table = Table::new(vec![0.0, 2.0], vec![-2.0, 2.0]).expect("valid");
    let expression = Signal::expression("if(t < 2, -2, 2)").expect("parses");
    let field = ForceComponent::expression("m * if(t < 2, -2, 2)").expect("parses");
    for (gravity, forces) in [
        (Signal::Steps(table), vec![]),
        (expression, vec![]),
        (
            Signal::Constant(0.0),
            vec![Force {
                components: [0, 1, 2].map(|axis| match axis {
                    0 => field.clone(),
                    _ => ForceComponent::Signal(Signal::Constant(0.0)),
                }),
                ..force(["0", "0", "0"])
            }],
        ),
    ] {
        let [_, y, z] = signals([0.0; 3]);
        let environment = inertial(Forcing { gravity: [gravity, y, z], forces, ..Forcing::default() });
        let found = predict(&environment, &one(DVec3::ZERO), Span { start: 1.97, dt: 0.1 });
        assert!((found.velocity[0].x - (0.07 - 0.03) * 2.0).abs() < 1e-12, "{}", found.velocity[0].x);
        assert_eq!(found.velocity[0].y, 0.0);
    }
}

#[test]
fn gravity_turns() {
    let turn = ["sin(t)", "-cos(t)", "0"].map(|text| Signal::expression(text).expect(text));
    let environment = inertial(Forcing { gravity: turn, ..Forcing::default() });
    let mut particles = one(DVec3::ZERO);
    for n in 0..10 {
        let span = Span { start: f64::from(n) * 0.3, dt: 0.3 };
        particles.velocity = predict(&environment, &particles, span).velocity;
    }
    let exact = DVec3::new(1.0 - 3.0_f64.cos(), -3.0_f64.sin(), 0.0);
    assert!((particles.velocity[0] - exact).length() < 1e-14);
}

#[test]
fn forces_act_on_their_groups_per_particle_or_per_mass() {
    let per_particle = Force { groups: Some(vec![1, 2]), ..force(["3", "r", "x"]) };
    let per_mass = Force { groups: Some(vec![2]), per: Per::Acceleration, ..force(["5", "0", "0"]) };
    let environment = inertial(Forcing { forces: vec![per_particle, per_mass], ..Forcing::default() });
    for (group, exact) in [
        (0, DVec3::ZERO),
        (1, DVec3::new(3.0, 0.5, 1.0) / 2.0),
        (2, DVec3::new(3.0, 0.5, 1.0) / 2.0 + DVec3::new(5.0, 0.0, 0.0)),
    ] {
        let mut particles = one(DVec3::ZERO);
        particles.group[0] = group;
        let found = predict(&environment, &particles, STEP);
        assert_eq!(found.velocity[0], 0.1 * exact, "group {group}");
    }
}

#[test]
fn in_the_plane_nothing_leaves_it() {
    let forcing = Forcing {
        gravity: signals([1.0, -1.0, 5.0]),
        forces: vec![force(["1", "1", "0/(x - x)"])],
        drag: Drag::Coefficient(1.0),
        flow: Some(flow(["1", "1", "1"])),
        dimension: Dimension::Two,
    };
    let mut particles = many(20);
    particles.velocity.iter_mut().for_each(|velocity| velocity.z = -0.0);
    let overdamped = Overdamped::new(forcing.clone()).expect("valid");
    for environment in [&inertial(forcing) as &dyn Environment, &overdamped] {
        let found = predict(environment, &particles, STEP);
        assert!(found.velocity.iter().all(|velocity| velocity.z.to_bits() == 0));
    }
}

#[test]
fn potential_energy_is_that_of_gravity_alone() {
    let steps = Signal::Steps(Table::new(vec![0.0, 1.0], vec![-10.0, 10.0]).expect("valid"));
    let [x, _, z] = signals([0.0; 3]);
    let environment =
        inertial(Forcing { gravity: [x, steps, z], forces: vec![force(["1", "1", "1"])], ..Forcing::default() });
    assert_eq!(environment.potential_energy(&one(DVec3::ZERO), 0.5), 2.0 * 10.0 * 2.0);
    assert_eq!(environment.potential_energy(&one(DVec3::ZERO), 1.5), -2.0 * 10.0 * 2.0);
    assert_eq!(inertial(Forcing::default()).potential_energy(&one(DVec3::ZERO), 0.0), 0.0);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let environment = inertial(Forcing {
        gravity: ["sin(t)", "-9.81", "if(t < 0.03, 1, 2)"].map(|text| Signal::expression(text).expect(text)),
        forces: vec![
            force(["sin(3 * t * x)", "-vy * r", "if(t < 0.05 + 0.01 * x, m, -m)"]),
            Force { groups: Some(vec![2]), ..force(["exp(-x^2)", "0", "t"]) },
        ],
        drag: Drag::Stokes { viscosity: 0.1 },
        flow: Some(flow(["y", "-x", "cos(t)"])),
        ..Forcing::default()
    });
    let particles = many(3000);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| predict(&environment, &particles, STEP))
    };
    let bits = |prediction: &Prediction| -> Vec<u64> {
        let velocities = prediction.velocity.iter().flat_map(DVec3::to_array);
        velocities.chain(prediction.metric.inverse_mass().iter().copied()).map(f64::to_bits).collect()
    };
    let alone = bits(&on(1));
    assert!(alone == bits(&on(2)) && alone == bits(&on(4)));
}

#[test]
fn a_force_that_is_not_finite_names_the_culprit() {
    let environment = inertial(Forcing { forces: vec![force(["0", "sqrt(0.5 - x)", "0"])], ..Forcing::default() });
    let mut particles = many(3000);
    particles.position.iter_mut().for_each(|position| position.x = 0.0);
    for culprit in [2900, 1234] {
        particles.position[culprit].x = 1.0;
        let error = environment.predict(&particles, STEP, &mut Prediction::default()).expect_err("NaN");
        let message = format!("the y component of force `wind` is NaN at t = 0 on particle {culprit}");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn what_is_not_finite_during_a_step_is_named() {
    let refused = |forcing: Forcing, particles: &Particles, span: Span| {
        inertial(forcing).predict(particles, span, &mut Prediction::default()).expect_err("refused").to_string()
    };
    let fine = one(DVec3::ZERO);
    let span = Span { start: 1.0, dt: 0.5 };
    let gravity = ["0", "ln(1 - t)", "0"].map(|text| Signal::expression(text).expect(text));
    let message = refused(Forcing { gravity, ..Forcing::default() }, &fine, span);
    assert_eq!(message, "the y component of gravity is -inf at t = 1");
    let forcing = Forcing { forces: vec![force(["0", "1/(t - 1)", "0"])], ..Forcing::default() };
    assert_eq!(refused(forcing, &fine, span), "the y component of force `wind` is inf at t = 1");
    let (drag, flow) = (Drag::Coefficient(1.0), Some(flow(["0", "0", "1/(t - 1.5)"])));
    let message = refused(Forcing { drag, flow, ..Forcing::default() }, &fine, span);
    assert_eq!(message, "the z component of the flow is inf at t = 1.5 on particle 0");
    let gravity = signals([0.0, f64::MAX, 0.0]);
    let fast = one(DVec3::new(0.0, f64::MAX, 0.0));
    let message = refused(Forcing { gravity, ..Forcing::default() }, &fast, span);
    assert_eq!(message, "the a-priori velocity is inf at t = 1 on particle 0");
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        let message = refused(Forcing::default(), &fine, Span { start: 1.0, dt });
        assert!(message.starts_with("`dt` is "), "{message}");
    }
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let refused = |forcing: Forcing| Inertial::new(forcing).expect_err("invalid").to_string();
    let gravity = signals([0.0, f64::NAN, 0.0]);
    assert_eq!(refused(Forcing { gravity, ..Forcing::default() }), "`gravity.y` is NaN: expected a finite number");
    let forces = vec![force(["0", "0", "1/0"])];
    let message = "`forces.wind.z` is `1/0` = inf: expected a finite number";
    assert_eq!(refused(Forcing { forces, ..Forcing::default() }), message);
    for (drag, message) in [
        (Drag::Coefficient(-1.0), "`drag.coefficient` is -1: expected a finite number ≥ 0"),
        (Drag::Stokes { viscosity: 0.0 }, "`drag.viscosity` is 0: expected a finite number > 0"),
    ] {
        assert_eq!(refused(Forcing { drag, ..Forcing::default() }), message);
    }
    let still = Some(flow(["0", "0", "0"]));
    assert!(refused(Forcing { flow: still, ..Forcing::default() }).contains("expected drag as well"));
    let gravity = ["x", "y", "z"].map(|name| Signal::Expression(Expression::parse(name, &[name]).expect(name)));
    let message = "`gravity.x` is an expression of (x): expected an expression of (t)";
    assert_eq!(refused(Forcing { gravity, ..Forcing::default() }), message);
    for drag in [Drag::None, Drag::Coefficient(0.0)] {
        let error = Overdamped::new(Forcing { drag, ..Forcing::default() }).expect_err("no drag");
        assert!(error.to_string().starts_with("`drag` is 0: expected a coefficient or a viscosity > 0"));
    }
}

proptest! {
    #[test]
    fn drag_never_speeds_a_particle_up(v in -9.0..9.0_f64, zeta in 0.0..1e6_f64, dt in 1e-6..10.0_f64) {
        let environment = inertial(Forcing { drag: Drag::Coefficient(zeta), ..Forcing::default() });
        let found = predict(&environment, &one(DVec3::new(v, 0.0, 0.0)), Span { start: 0.0, dt }).velocity[0].x;
        prop_assert!(found.abs() <= v.abs() * (1.0 + f64::EPSILON));
        prop_assert!((found - v / (1.0 + dt * zeta / 2.0)).abs() <= 2.0 * f64::EPSILON * v.abs());
    }
}
