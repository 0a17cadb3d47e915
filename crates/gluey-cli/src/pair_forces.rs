//! What `gluey check` says about forces between near pairs.

use gluey::environment::Prediction;
use gluey::interaction::{Law, PairForce, Pull, Sides};
use gluey::scene::Scene;

use crate::words::{listed, number};

/// h² k (M_i⁻¹ + M_j⁻¹) above which a force is too stiff: a pair alone is stable up to 2, but in a crowd up to a dozen
/// neighbours add their stiffness.
const STIFF: f64 = 0.2;

/// A pair force in words.
pub fn in_words(force: &PairForce, scene: &Scene) -> String {
    let law = match &force.law {
        Law::Expression { force, range } => format!("`{}` up to a gap of {}", force.source(), number(*range)),
        Law::Bridge(bridging) => {
            let breaks = number(bridging.pull.rupture());
            let pull = match bridging.pull {
                Pull::Linear { strength, .. } => format!("pulls with {} at contact", number(strength)),
                Pull::Capillary { surface_tension, .. } => {
                    format!("pulls by a surface tension of {}", number(surface_tension))
                }
            };
            let forms = match bridging.formation {
                0.0 => "at contact".to_owned(),
                gap => format!("at a gap of {}", number(gap)),
            };
            format!("liquid bridge, forms {forms}, {pull}, breaks at a gap of {breaks}")
        }
    };
    let group = |index: u32| format!("`{}`", scene.groups[index as usize].name);
    let between = match force.groups {
        Some([first, second]) if first == second => format!("; within {}", group(first)),
        Some([first, second]) => format!("; between {} and {}", group(first), group(second)),
        None => String::new(),
    };
    let obstacle = |index: &u32| format!("`{}`", scene.simulation.obstacles[*index as usize].name);
    let obstacles: Vec<String> = force.obstacles.iter().map(obstacle).collect();
    let with = if obstacles.is_empty() { String::new() } else { format!("; with {}, too", listed(&obstacles)) };
    format!("`{}`: {law}{between}{with}", force.label)
}

/// Forces too stiff for the time step, where the lightest, with this metric, meet the smallest.
pub fn warnings(scene: &Scene, prediction: &Prediction) -> String {
    let simulation = &scene.simulation;
    let (dt, particles) = (simulation.settings.dt, &simulation.state.particles);
    let least = |column: &[f64]| column.iter().copied().fold(f64::INFINITY, f64::min);
    let sides = Sides { radius: [particles.smallest_radius(); 2], mass: [least(&particles.mass); 2] };
    let mobility = prediction.metric.inverse_mass().iter().copied().fold(0.0, f64::max);
    let warning = |force: &PairForce| {
        let stiffness = force.stiffness(&sides);
        let ratio = dt * dt * stiffness * 2.0 * mobility;
        let advice = dt * (STIFF / ratio).min((STIFF / ratio).sqrt());
        (ratio > STIFF).then(|| {
            format!(
                "\nwarning: dt looks large for pair force `{}`: its slope of up to {} makes dt² × slope × 2/mass {}, where \
                 at most {STIFF} is wise. Try dt = {} or less\n",
                force.label,
                rounded(stiffness),
                rounded(ratio),
                rounded(advice)
            )
        })
    };
    simulation.interactions.forces().iter().filter_map(warning).collect()
}

/// Two digits are enough for advice.
fn rounded(value: f64) -> String {
    format!("{value:.1e}").parse().map_or_else(|_| value.to_string(), number)
}
