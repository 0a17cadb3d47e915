//! Hindered settling, and environments that are refused.

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;
use gluey::adhesion::Law;
use gluey::environment::{Drag, Forcing, Fraction, Inertial, Overdamped, Signal};
use gluey::geometry::Particles;
use gluey::scene::Scene;

use crate::common::simulation;
use crate::{VISCOSITY, spheres};

/// u₀ (1 − φ)ⁿ, with φ given and with φ from the others around.
#[test]
fn hindered_settling_is_that_of_richardson_and_zaki() {
    let velocity = |drag: Drag, particles: &Particles| {
        let gravity = [0.0, 0.0, -1.0].map(Signal::Constant);
        let mut simulation = simulation(particles.clone(), Vec::new(), Law::Inelastic);
        simulation.environment = Box::new(Overdamped::new(Forcing { gravity, drag, ..Forcing::default() }).unwrap());
        simulation.step().unwrap();
        simulation.state.particles.velocity
    };
    let hindered = |exponent, fraction| Drag::Hindered { viscosity: VISCOSITY, exponent, fraction };
    let alone = spheres(&[(DVec3::ZERO, 0.3)]);
    let free = -1.0 / (6.0 * PI * VISCOSITY * 0.3);
    for (fraction, exponent) in [(0.0, 4.65), (0.1, 4.65), (0.4, 2.4), (0.4, 0.0)] {
        let found = velocity(hindered(exponent, Fraction::Uniform(fraction)), &alone)[0];
        assert!((found - DVec3::Z * free * (1.0 - fraction).powf(exponent)).length() < 1e-15, "{fraction}: {found}");
    }
    assert_eq!(velocity(hindered(4.65, Fraction::Local { radii: 5.0 }), &alone), [DVec3::Z * free]);

    // At random, without overlap, centres at 4000/16.54³, so that φ = 0.1: those well inside settle at that fraction on
    // average, and somewhat above it since there are more others close by than anywhere.
    let text = r"
seed = 5
time = { dt = 1, until = 1 }
[[particles]]
mass = 1
source.fill = { count = 4000, radius = 0.3, region.box = { lower = [0, 0, 0], upper = [17.14, 17.14, 17.14] } }
";
    let crowd = Scene::parse(text, Path::new("crowd.toml")).unwrap().simulation.state.particles;
    let found = velocity(hindered(4.65, Fraction::Local { radii: 6.0 }), &crowd);
    let (mut sum, mut count) = (0.0, 0.0);
    for (x, v) in crowd.position.iter().zip(&found) {
        if x.min_element() > 2.1 && x.max_element() < 15.04 {
            let fraction = 1.0 - (v.z / free).powf(1.0 / 4.65);
            (sum, count) = (sum + fraction, count + 1.0);
        }
    }
    println!("mean local fraction {:.4} where the suspension has 0.1", sum / count);
    assert!((sum / count / 0.1 - 1.0).abs() < 0.05, "{}", sum / count);
}

#[test]
fn environments_for_many_particles_refuse_what_makes_no_sense() {
    const REST: &str = "\n[[particles]]\nmass = 1\nsource.list = [{ position = [0, 0, 0], radius = 1 }]\n";
    let refused = |environment: &str, words: &[&str]| {
        let text = format!("time = {{ dt = 1, until = 1 }}\n[environment]\n{environment}{REST}");
        let message = Scene::parse(&text, Path::new("bad.toml")).err().expect(environment).to_string();
        for word in words {
            assert!(message.contains(word), "`{word}` is not in:\n{message}");
        }
    };
    refused("drag.rotne-prager.viscosity = 0", &["bad.toml:3:31", "positive"]);
    refused(
        "drag.rotne-prager = { viscosity = 1 }\ninertia = true",
        &["bad.toml:4:1", "has no inertia", "drag.stokes"],
    );
    refused("drag.rotneprager.viscosity = 1", &["unknown choice `rotneprager`", "rotne-prager"]);
    refused("drag = { rotne-prager.viscosity = 1, stokes.viscosity = 1 }", &["bad.toml:3"]);
    refused("drag.hindered = { viscosity = 1 }", &["`fraction` is missing"]);
    for fraction in ["-0.1", "1", "nan"] {
        let text = format!("drag.hindered = {{ viscosity = 1, fraction.uniform = {fraction} }}");
        refused(&text, &["bad.toml:3:34", "at least 0 and less than 1"]);
    }
    refused("drag.hindered = { viscosity = 1, fraction.local.radii = 2 }", &["bad.toml:3:57", "at least 3"]);
    refused("drag.hindered = { viscosity = 1, fraction.uniform = 0, exponent = -1 }", &["bad.toml:3:67", "from 0"]);
    for (drag, message) in [
        (Drag::RotnePrager { viscosity: 0.0 }, "`drag.viscosity` is 0: expected a finite number > 0"),
        (
            Drag::Hindered { viscosity: 1.0, exponent: f64::NAN, fraction: Fraction::Uniform(0.5) },
            "`drag.exponent` is NaN: expected a finite number ≥ 0",
        ),
        (
            Drag::Hindered { viscosity: 1.0, exponent: 1.0, fraction: Fraction::Uniform(1.0) },
            "`drag.fraction.uniform` is 1: expected a number from 0 to below 1",
        ),
        (
            Drag::Hindered { viscosity: 1.0, exponent: 1.0, fraction: Fraction::Local { radii: 1.0 } },
            "`drag.fraction.local.radii` is 1: expected a finite number ≥ 3: two that touch are 2 apart",
        ),
    ] {
        let error = Overdamped::new(Forcing { drag, ..Forcing::default() }).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let drag = Drag::RotnePrager { viscosity: 1.0 };
    let error = Inertial::new(Forcing { drag, ..Forcing::default() }).unwrap_err();
    assert!(error.to_string().starts_with("`inertia` is `true` with `drag.rotne-prager`"), "{error}");
}
