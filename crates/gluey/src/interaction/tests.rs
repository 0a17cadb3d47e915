//! Forces against plain sums over all pairs, bridges that come and go, and what is refused.

use std::f64::consts::PI;

use proptest::prelude::*;

use super::*;
use crate::geometry::Shape;
use crate::projection::Metric;

const SPAN: Span = Span { start: 3.0, dt: 0.5 };

fn linear(strength: f64, rupture: f64, formation: f64) -> Law {
    Law::Bridge(Bridging { pull: Pull::Linear { strength, rupture }, formation })
}

fn force(law: Law) -> PairForce {
    PairForce { label: "test".to_owned(), groups: None, obstacles: Vec::new(), law }
}

fn interactions(forces: Vec<PairForce>) -> Interactions {
    Interactions::new(forces).unwrap_or_else(|error| panic!("{error}"))
}

/// What the forces do to particles at rest, each velocity the impulse over the mass.
fn velocities(interactions: &mut Interactions, now: &Moment) -> Result<Vec<DVec3>, InteractionError> {
    let count = now.particles.len();
    let inverse_mass = now.particles.mass.iter().map(|mass| mass.recip()).collect();
    let mut prediction = Prediction { velocity: vec![DVec3::ZERO; count], metric: Metric::Diagonal(inverse_mass) };
    interactions.act(now, &mut prediction)?;
    Ok(prediction.velocity)
}

fn moment(particles: &Particles) -> Moment<'_> {
    Moment { particles, contacts: &[], bridges: &[], obstacles: &[], span: SPAN }
}

/// Two of radius 0.5 and 0.25 at a gap along x.
fn two(gap: f64) -> Particles {
    let mut particles = Particles::default();
    particles.push(DVec3::ZERO, 0.5, 2.0);
    particles.push(DVec3::X * (0.75 + gap), 0.25, 1.0);
    particles
}

fn cloud() -> impl Strategy<Value = Particles> {
    let particle = ((-2.0..2.0, -2.0..2.0, -2.0..2.0), 0.05..0.4, 0.5..2.0, 0..3_u32);
    prop::collection::vec(particle, 0..80).prop_map(|list| {
        let mut particles = Particles::default();
        for ((x, y, z), radius, mass, group) in list {
            particles.push(DVec3::new(x, y, z), radius, mass);
            particles.group.pop();
            particles.group.push(group);
        }
        particles
    })
}

/// The same forces as in the property below, by a plain loop over all pairs.
fn by_brute_force(particles: &Particles) -> Vec<DVec3> {
    let Particles { position, radius, mass, group, .. } = particles;
    let mut velocity = vec![DVec3::ZERO; particles.len()];
    for i in 0..particles.len() {
        for j in (0..particles.len()).filter(|j| *j != i) {
            let offset = position[j] - position[i];
            let gap = offset.length() - radius[i] - radius[j];
            let (near, mut push) = (gap.max(0.0), 0.0);
            if gap <= 0.6 {
                push += mass[i] * mass[j] * (0.3 - near) * 3.0;
            }
            // The first of the expression is the one of group 1.
            if gap <= 0.3 && (group[i], group[j]) == (1, 2) {
                push += radius[i] - 2.0 * radius[j];
            } else if gap <= 0.3 && (group[i], group[j]) == (2, 1) {
                push += radius[j] - 2.0 * radius[i];
            }
            if gap <= 0.2 && group[i] == 0 && group[j] == 0 {
                push -= 4.0 * (1.0 - near / 0.2);
            }
            velocity[i] -= offset / offset.length() * push * SPAN.dt / mass[i];
        }
    }
    velocity
}

proptest! {
    #[test]
    fn forces_are_those_of_all_pairs_and_keep_the_momentum(mut particles in cloud(), steps in 1..4) {
        let mut forces = vec![
            force(Law::expression("mi * mj * (0.3 - D) * t", 0.6).unwrap()),
            force(Law::expression("ri - 2 * rj", 0.3).unwrap()),
            force(linear(4.0, 0.2, 0.2)),
        ];
        forces[1].groups = Some([1, 2]);
        forces[2].groups = Some([0, 0]);
        let mut interactions = interactions(forces);
        for _ in 0..steps {
            let found = velocities(&mut interactions, &moment(&particles)).unwrap();
            let known = by_brute_force(&particles);
            let scale = 1.0 + known.iter().map(|v| v.length()).fold(0.0, f64::max);
            for (found, known) in found.iter().zip(&known) {
                prop_assert!((*found - *known).length() <= 1e-12 * scale, "{found} {known}");
            }
            let momentum: DVec3 = found.iter().zip(&particles.mass).map(|(v, m)| *v * *m).sum();
            prop_assert!(momentum.length() <= 1e-12 * scale, "{momentum}");
            for (k, x) in particles.position.iter_mut().enumerate() {
                *x += DVec3::new(0.03, -0.02, 0.01) * (k % 3) as f64; // the list of neighbours is used again
            }
        }
    }
}

/// Whether two spheres at this gap have a bridge, given those of the moment before.
fn next(interactions: &mut Interactions, gap: f64, bridges: &mut Vec<Bridge>) -> bool {
    let particles = two(gap);
    let now = Moment { bridges: &bridges.clone(), ..moment(&particles) };
    let moved = velocities(interactions, &now).unwrap()[0].x != 0.0;
    interactions.remember_bridges(bridges);
    assert_eq!(moved, !bridges.is_empty(), "a bridge pulls, and nothing else does");
    moved
}

#[test]
fn a_bridge_forms_at_contact_and_lasts_until_it_breaks() {
    let mut interactions = interactions(vec![force(linear(1.0, 0.1, 0.0))]);
    let (mut bridges, mut seen) = (Vec::new(), Vec::new());
    for gap in [0.05, 0.01, -1e-12, 0.05, 0.0999, 0.1001, 0.05, 0.01, -1e-12] {
        seen.push(next(&mut interactions, gap, &mut bridges));
    }
    assert_eq!(seen, [false, false, true, true, true, false, false, false, true]);
}

#[test]
fn a_bridge_forms_within_the_gap_of_formation() {
    let mut interactions = interactions(vec![force(linear(1.0, 0.1, 0.02))]);
    let mut bridges = Vec::new();
    let seen = [0.05, 0.019, 0.05, 0.11, 0.05].map(|gap| next(&mut interactions, gap, &mut bridges));
    assert_eq!(seen, [false, true, true, false, false]);
}

#[test]
fn what_touched_in_the_last_step_has_a_bridge_although_it_slid_apart() {
    let mut interactions = interactions(vec![force(linear(1.0, 0.1, 0.0))]);
    let particles = two(1e-3);
    let contact = Contact { pair: Pair::particles(0, 1), gamma: 0.0, impulse: 1.0 };
    let now = Moment { contacts: &[contact], ..moment(&particles) };
    assert!(velocities(&mut interactions, &now).unwrap()[0].x > 0.0);
    assert_eq!(velocities(&mut interactions, &moment(&particles)).unwrap()[0].x, 0.0);
}

#[test]
fn the_pull_of_capillary_bridges_is_the_known_one() {
    let pull = Pull::Capillary { surface_tension: 0.07, contact_angle: 0.3, volume: 1e-3 };
    let equal = Sides { radius: [0.5, 0.5], mass: [1.0, 1.0] };
    let plane = Sides { radius: [0.5, f64::INFINITY], mass: [1.0, f64::INFINITY] };
    // At contact 2πrσ cos θ between equal spheres, and twice that at a plane.
    let known = 2.0 * PI * 0.5 * 0.07 * 0.3_f64.cos();
    assert!((pull.at(0.0, &equal) - known).abs() < 1e-15);
    assert!((pull.at(0.0, &plane) - 2.0 * known).abs() < 1e-15);
    let stretch = 0.04 * (0.5_f64 / 1e-3).sqrt();
    let known = known / (1.0 + 1.05 * stretch + 2.5 * stretch * stretch);
    assert!((pull.at(0.04, &equal) - known).abs() < 1e-15);
    assert!((pull.rupture() - 1.15 * 0.1).abs() < 1e-15);
}

#[test]
fn obstacles_pull_too_and_are_pulled() {
    let shape = Shape::Sphere { centre: DVec3::X * 2.0, radius: 1.0, side: crate::geometry::Side::Outside };
    let obstacle = Obstacle { name: "ball".to_owned(), shape, motions: Vec::new(), colour: None, roughness: 0.0 };
    let mut law = force(Law::expression("-(D + rj + if(mj > 1e300, 1, 0))", 1.0).unwrap());
    law.obstacles = vec![0];
    law.groups = Some([0, 7]);
    let mut interactions = interactions(vec![law]);
    let mut particles = Particles::default();
    particles.push(DVec3::X * 0.25, 0.5, 2.0);
    let obstacles = [obstacle];
    let now = Moment { obstacles: &obstacles, ..moment(&particles) };
    let pull = 0.25 + 1.0 + 1.0;
    let found = velocities(&mut interactions, &now).unwrap();
    assert!((found[0] - DVec3::X * pull * SPAN.dt / 2.0).length() < 1e-14, "{found:?}");
    let on_obstacle = interactions.on_obstacles()[0];
    assert!((on_obstacle.impulse + DVec3::X * pull * SPAN.dt).length() < 1e-14, "{on_obstacle:?}");
    assert_eq!(on_obstacle.at, DVec3::X * 0.75);
    particles.group[0] = 1;
    let others = Moment { obstacles: &obstacles, ..moment(&particles) };
    assert_eq!(velocities(&mut interactions, &others).unwrap(), [DVec3::ZERO]);
    assert!(interactions.on_obstacles().is_empty());
}

#[test]
fn a_force_that_is_not_finite_names_the_pair() {
    let mut interactions = interactions(vec![force(Law::expression("1 / D", 1.0).unwrap())]);
    let error = velocities(&mut interactions, &moment(&two(-1e-9))).unwrap_err();
    assert_eq!(error.to_string(), "pair force `test` between particles 0 and 1 is inf at a gap of 0 and t = 3");
    assert!(velocities(&mut interactions, &moment(&two(1e-9))).is_ok());
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let capillary = |contact_angle, volume, formation| {
        Law::Bridge(Bridging { pull: Pull::Capillary { surface_tension: 1.0, contact_angle, volume }, formation })
    };
    let other = Law::Expression { force: crate::expression::Expression::parse("x", &["x"]).unwrap(), range: 1.0 };
    for (law, field) in [
        (linear(0.0, 1.0, 0.0), "strength"),
        (linear(1.0, -1.0, 0.0), "rupture"),
        (linear(1.0, 1.0, 1.1), "formation"),
        (linear(1.0, 1.0, f64::NAN), "formation"),
        (capillary(2.0, 1.0, 0.0), "contact_angle"),
        (capillary(0.0, f64::INFINITY, 0.0), "volume"),
        (capillary(0.0, 1.0, 1.01), "formation"),
        (Law::expression("D", 0.0).unwrap(), "range"),
        (Law::expression("1/0", 1.0).unwrap(), "expression"),
        (other, "expression"),
    ] {
        let told = Interactions::new(vec![force(law)]).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains(&format!("`{field}` is ")), "{field}: {told}");
    }
}

#[test]
fn the_stiffness_is_the_steepest_slope() {
    let sides = Sides { radius: [1.0; 2], mass: [1.0; 2] };
    assert!((force(linear(3.0, 0.1, 0.0)).stiffness(&sides) - 30.0).abs() < 1e-9);
    let parabola = force(Law::expression("D^2", 2.0).unwrap());
    assert!((parabola.stiffness(&sides) - 4.0).abs() < 0.02);
    assert!(force(Law::expression("1/D", 1.0).unwrap()).stiffness(&sides).is_finite());
}
