//! An environment of one's own: gluey moons around a planet, which pulls them by G M/r² where the library knows only
//! gravity that is the same everywhere.
//!
//!     cargo run --release -p gluey --example own_environment
//!
//! Moons meet because the inner ones are faster, and stick. All forces point to the planet's centre or act equally and
//! oppositely between two moons, and the a-priori velocity reads the positions of the start of the step, so that the
//! angular momentum Σ x × m V is kept to rounding, whatever the step is.

use std::error::Error;
use std::f64::consts::TAU;

use glam::DVec3;
use gluey::adhesion::{Adhesion, Law, Scaling, Threshold};
use gluey::environment::{Environment, EnvironmentError, Inertia, Prediction, Span};
use gluey::geometry::{Obstacle, Particles, Shape, Side};
use gluey::simulation::{Settings, Simulation, State};

/// Pulls towards the origin.
struct Planet {
    /// G M (length³ / time²).
    strength: f64,
}

impl Environment for Planet {
    /// V^{n+1/2} = Vⁿ + h g(xⁿ) with g = −GM x/|x|³, metric m.
    fn predict(&self, particles: &Particles, span: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
        prediction.clear();
        for (i, x) in particles.position.iter().enumerate() {
            let velocity = particles.velocity[i] - span.dt * self.strength / x.length().powi(3) * *x;
            if !velocity.is_finite() {
                let (quantity, particle, value) = ("the pull of the planet".to_owned(), Some(i), f64::INFINITY);
                return Err(EnvironmentError::NotFinite { quantity, particle, time: span.start, value });
            }
            prediction.push(velocity, 1.0 / particles.mass[i]);
        }
        Ok(())
    }

    fn inertia(&self) -> Inertia {
        Inertia::Full
    }

    /// −Σ GM m/|x|.
    fn potential_energy(&self, particles: &Particles, _: f64) -> f64 {
        particles.position.iter().zip(&particles.mass).map(|(x, m)| -self.strength * m / x.length()).sum()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", report(10_000)?);
    Ok(())
}

/// Lets the moons go around for so many steps, and tells what is kept and what is lost.
pub fn report(steps: u64) -> Result<String, Box<dyn Error>> {
    let mut simulation = moons();
    let energy =
        |of: &Simulation| of.state.kinetic_energy() + of.environment.potential_energy(&of.state.particles, of.time());
    let (momentum, before) = (simulation.state.angular_momentum(), energy(&simulation));
    for _ in 0..steps {
        simulation.step()?;
    }
    let change = simulation.state.angular_momentum().distance(momentum) / momentum.length();
    let glued = simulation.state.contacts.iter().filter(|contact| contact.gamma < 0.0).count();
    Ok(format!(
        "after t = {:.1} {glued} contacts are glued\nangular momentum has changed by {change:.1e} of itself, energy from \
         {before:.4} to {:.4}",
        simulation.time(),
        energy(&simulation),
    ))
}

/// 60 moons in three rings. Their orbits are ellipses that cross: speeds differ a little from those of circles.
fn moons() -> Simulation {
    let planet = Planet { strength: 1.0 };
    let mut particles = Particles::default();
    for k in 0..60_u32 {
        let (distance, angle) = (1.0 + 0.1 * f64::from(k % 3), TAU * f64::from(k / 3) / 20.0);
        particles.push(distance * DVec3::new(angle.cos(), angle.sin(), 0.0), 0.04, 1.0 / 60.0);
        let speed = (planet.strength / distance).sqrt() * (1.0 + 0.1 * f64::from(k).sin());
        particles.velocity[k as usize] = speed * DVec3::new(-angle.sin(), angle.cos(), 0.0);
    }
    let ground = Obstacle {
        name: "planet".to_owned(),
        shape: Shape::Sphere { centre: DVec3::ZERO, radius: 0.5, side: Side::Outside },
        motions: Vec::new(),
        colour: None,
        roughness: 0.0,
    };
    let smooth = Law::Gluey { threshold: Threshold::Smooth, scaling: Scaling::Unit };
    let state = State { particles, ..State::default() };
    let mut simulation = Simulation::new(state, vec![ground], Box::new(planet), Adhesion::uniform(smooth));
    simulation.settings = Settings::new(2e-3);
    simulation
}
