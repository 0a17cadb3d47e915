//! `gluey check`: what a scene holds, without running it.

use std::fmt::Write as _;

use anyhow::Result;
use glam::DVec3;
use gluey::adhesion::{Law, Scaling, Scheme, Threshold};
use gluey::environment::{Prediction, Signal, Span};
use gluey::geometry::{Cell, Extent, Motion, Obstacle, Shape, Side};
use gluey::logbook::extent;
use gluey::measures::Instrument;
use gluey::openings::{Inlet, Outlet, Region};
use gluey::scene::Scene;
use toml_edit::{DocumentMut, Item};

use crate::arguments::CheckArguments;
use crate::metric;
use crate::overrides::as_written;
use crate::pair_forces;
use crate::source::Source;
use crate::words::{count, listed, number};

/// Displacements in a step above this share of the smallest radius make the engine split steps again and again.
const LARGE: f64 = 0.2;

/// Reads the scene and tells what is in it.
pub fn check(wishes: &CheckArguments) -> Result<String> {
    let source = Source::read(&wishes.scene)?.with(&wishes.set)?;
    let scene = source.scene()?;
    let mut text = format!("{}: this scene is fine\n", source.path().display());
    let extent = extent(&scene);
    for (name, line) in lines(&scene, &extent) {
        let _ = writeln!(text, "  {name:<12} {line}"); // writing to a string cannot fail
    }
    text.push_str(&warnings(&scene, &extent));
    Ok(text)
}

fn lines(scene: &Scene, extent: &Extent) -> Vec<(&'static str, String)> {
    let mut lines = vec![("name", scene.name.clone())];
    lines.extend(scene.description.clone().map(|description| ("description", description)));
    lines.push(("dimension", scene.dimension.to_string()));
    lines.extend(particles(scene).into_iter().map(|line| ("particles", line)));
    lines.push(("extent", place(extent)));
    lines.extend(scene.simulation.state.particles.cell.as_ref().map(|cell| ("periodic", cell_in_words(cell))));
    for (k, obstacle) in scene.simulation.obstacles.iter().enumerate() {
        let law = scene.simulation.adhesion.with_obstacle(k);
        let own = law != scene.simulation.adhesion.law;
        let law = if own { format!("; law: {}", law_in_words(&law)) } else { String::new() };
        lines.push(("obstacle", format!("`{}`: {}{law}", obstacle.name, obstacle_in_words(obstacle))));
    }
    let openings = &scene.simulation.openings;
    lines.extend(openings.inlets.iter().map(|inlet| ("inlet", inlet_in_words(inlet, scene))));
    lines.extend(openings.outlets.iter().map(|outlet| ("outlet", outlet_in_words(outlet, scene))));
    lines.push(("law", law_in_words(&scene.simulation.adhesion.law)));
    lines.push(("scheme", scheme(scene).to_owned()));
    lines.extend(environment(scene).into_iter().map(|line| ("environment", line)));
    for force in scene.simulation.interactions.forces() {
        lines.push(("pair force", pair_forces::in_words(force, scene)));
    }
    if !metric::of(scene).is_diagonal() {
        let pairs = scene.simulation.state.particles.len().pow(2) as u64;
        let words = format!("every impulse moves every particle: solved by products of {}", count(pairs, "pair"));
        lines.push(("metric", words));
    }
    lines.push(("time", time(scene)));
    lines.push(("output", output(scene)));
    let measure = |instrument: &Instrument| format!("columns {}", listed(&instrument.columns(scene.dimension)));
    lines.extend(scene.instruments.iter().map(|instrument| ("measure", measure(instrument))));
    // A name for the first of several lines is enough.
    for k in (1..lines.len()).rev() {
        if lines[k].0 == lines[k - 1].0 {
            lines[k].0 = "";
        }
    }
    lines
}

fn particles(scene: &Scene) -> Vec<String> {
    let particles = &scene.simulation.state.particles;
    if particles.is_empty() {
        return vec!["none at the start".to_owned()];
    }
    let range = |column: &[f64]| {
        let least = column.iter().copied().fold(f64::INFINITY, f64::min);
        range(least, column.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let mut lines =
        vec![format!("{}, radius {}, mass {}", particles.len(), range(&particles.radius), range(&particles.mass))];
    for (index, group) in scene.groups.iter().enumerate() {
        let members = particles.group.iter().filter(|member| **member as usize == index).count();
        lines.push(format!("{members} in group `{}`", group.name));
    }
    lines
}

fn range(least: f64, greatest: f64) -> String {
    if least == greatest { number(least) } else { format!("{} to {}", number(least), number(greatest)) }
}

fn inlet_in_words(inlet: &Inlet, scene: &Scene) -> String {
    let rate = match &inlet.rate {
        Signal::Constant(rate) => format!("{} particles a time", number(*rate)),
        _ => "a rate that changes in time".to_owned(),
    };
    let end = inlet.until.min(scene.until);
    let due = inlet.due(end).map_or_else(|error| error.to_string(), |due| format!("{due} by t = {}", number(end)));
    let radii = range(inlet.radii[0], inlet.radii[1]);
    let group = &scene.groups[inlet.group as usize].name;
    let region = region_in_words(&inlet.region);
    format!("`{}`: {region}, {rate} of radius {radii} in group `{group}`; {due}", inlet.name)
}

fn outlet_in_words(outlet: &Outlet, scene: &Scene) -> String {
    let name = |group: &u32| format!("`{}`", scene.groups[*group as usize].name);
    let whom = outlet.groups.as_ref().map_or_else(
        || "everyone".to_owned(),
        |groups| format!("group {}", listed(&groups.iter().map(name).collect::<Vec<_>>())),
    );
    format!("`{}`: {}, takes {whom}", outlet.name, region_in_words(&outlet.region))
}

fn region_in_words(region: &Region) -> &'static str {
    match region {
        Region::Box { .. } => "box",
        Region::Ball { .. } => "ball",
        Region::HalfSpace { .. } => "half-space",
    }
}

fn place(extent: &Extent) -> String {
    let axes = ["x", "y", "z"].iter().enumerate().take(extent.dimension);
    let range =
        |(k, axis): (usize, &&str)| format!("{axis} {} to {}", number(extent.lower[k]), number(extent.upper[k]));
    axes.map(range).collect::<Vec<_>>().join(", ")
}

fn cell_in_words(cell: &Cell) -> String {
    let range = |axis: usize| {
        let (from, period) = (cell.lower()[axis], cell.period()[axis]);
        format!("{} {} to {}", ["x", "y", "z"][axis], number(from), number(from + period))
    };
    cell.axes().map(range).collect::<Vec<_>>().join(", ")
}

fn obstacle_in_words(obstacle: &Obstacle) -> String {
    let side = |side: &Side, container: &str, solid: &str| match side {
        Side::Inside => format!("inside of a {container}"),
        Side::Outside => solid.to_owned(),
    };
    let shape = match &obstacle.shape {
        Shape::HalfSpace { .. } => "half-space".to_owned(),
        Shape::Box { side: kind, .. } => side(kind, "box", "box"),
        Shape::Sphere { side: kind, .. } => side(kind, "sphere", "sphere"),
        Shape::Cylinder { side: kind, .. } => side(kind, "cylinder", "cylinder"),
        Shape::Plate(_) => "plate".to_owned(),
        Shape::Funnel(_) => "funnel".to_owned(),
        Shape::Wheel(wheel) => format!("wheel with {}", count(wheel.blades.into(), "blade")),
        Shape::Mesh(mesh) => format!("mesh of {}", count(mesh.triangles().len() as u64, "triangle")),
    };
    let motions: Vec<String> = obstacle.motions.iter().filter(|motion| !motion.is_fixed()).map(motion).collect();
    if motions.is_empty() { format!("{shape}, at rest") } else { format!("{shape}, {}", listed(&motions)) }
}

fn motion(motion: &Motion) -> String {
    match motion {
        Motion::Fixed => "at rest".to_owned(),
        Motion::Translation { velocity, .. } => format!("moves at speed {}", number(velocity.length())),
        Motion::Rotation { rate, .. } => format!("turns at {} rad per time", number(*rate)),
        Motion::Oscillation { amplitude, frequency, .. } => {
            format!("swings by {} at frequency {}", number(amplitude.length()), number(*frequency))
        }
        Motion::Table { table, .. } => format!("follows a table of {}", count(table.times().len() as u64, "time")),
    }
}

fn law_in_words(law: &Law) -> String {
    match law {
        Law::Inelastic => "inelastic".to_owned(),
        Law::Aggregating { strength } => format!("aggregating, bonds bear a force of {}", number(*strength)),
        Law::Gluey { threshold, scaling } => {
            let threshold = match threshold {
                Threshold::Smooth => "smooth".to_owned(),
                Threshold::Value(value) => format!("gamma_min = {}", number(*value)),
                Threshold::Roughness { viscosity, .. } => {
                    format!("gamma_min from roughness sizes at viscosity {}", number(*viscosity))
                }
            };
            let scaling = match scaling {
                Scaling::Unit => "",
                Scaling::Lubrication => ", lubrication scaling",
            };
            format!("gluey, {threshold}{scaling}")
        }
    }
}

fn scheme(scene: &Scene) -> &'static str {
    match scene.simulation.adhesion.scheme {
        Scheme::OneProjection => "one-projection",
        Scheme::Paper => "paper",
    }
}

/// The environment as it is written, and the forces by name.
fn environment(scene: &Scene) -> Vec<String> {
    let mut lines = Vec::new();
    let document = scene.text.parse::<DocumentMut>().unwrap_or_default();
    if let Some(table) = document.get("environment").and_then(Item::as_table_like) {
        for (key, item) in table.iter() {
            lines.push(format!("{key} = {}", as_written(item)));
        }
    }
    if !scene.forces.is_empty() {
        let names: Vec<String> = scene.forces.iter().map(|name| format!("`{name}`")).collect();
        lines.push(format!("{}: {}", count(names.len() as u64, "further force"), listed(&names)));
    }
    if lines.is_empty() { vec!["no forces".to_owned()] } else { lines }
}

fn time(scene: &Scene) -> String {
    let dt = scene.simulation.settings.dt;
    format!("{} of dt = {} until t = {}", count(scene.steps(), "step"), number(dt), number(scene.until))
}

fn output(scene: &Scene) -> String {
    let output = &scene.output;
    let formats: Vec<String> = output.formats.iter().map(|format| format.to_string()).collect();
    let frames = scene.steps() / output.frame_every + 1 + u64::from(!scene.steps().is_multiple_of(output.frame_every));
    let every = |steps: u64| if steps == 1 { "every step".to_owned() } else { format!("every {steps} steps") };
    let frames = if formats.is_empty() {
        "no frames".to_owned()
    } else {
        format!("{} ({}) as {}", count(frames, "frame"), every(output.frame_every), listed(&formats))
    };
    format!(
        "{frames}; a row of the series {}; a checkpoint {}",
        every(output.series_every),
        every(output.checkpoint_every)
    )
}

/// Whether the time step suits the forces: how far a particle that is let go moves in a step, first from rest and then
/// after it has fallen through the whole scene. One particle in the middle of each inlet stands for those who come.
fn warnings(scene: &Scene, extent: &Extent) -> String {
    let simulation = &scene.simulation;
    let (dt, mut particles) = (simulation.settings.dt, simulation.state.particles.clone());
    let openings = &simulation.openings;
    for inlet in &openings.inlets {
        let [lower, upper] = inlet.region.corners(openings.dimension.directions());
        particles.push(lower.midpoint(upper), inlet.radii[0], inlet.mass(inlet.radii[0], openings.dimension));
        let last = particles.len() - 1;
        (particles.velocity[last], particles.group[last]) = (inlet.velocity, inlet.group);
    }
    let particles = &particles;
    let mut prediction = Prediction::default();
    if let Err(error) = simulation.environment.predict(particles, Span { start: 0.0, dt }, &mut prediction) {
        return format!("\nwarning: the forces cannot be evaluated at t = 0: {error}\n");
    }
    let gains = prediction.velocity.iter().zip(&particles.velocity).map(|(after, before)| after.distance(*before));
    let gain = gains.fold(0.0, f64::max);
    let fastest = prediction.velocity.iter().map(|v| v.length()).fold(0.0, f64::max);
    let Extent { lower, upper, .. } = *extent;
    let fallen = (2.0 * gain / dt * lower.distance(upper)).sqrt().max(fastest);
    let radius = particles.smallest_radius();
    let (first, later) = (fastest * dt / radius, fallen * dt / radius);
    let figures = format!(
        "a particle moves by {} of the smallest radius in the first step, and by up to about {} in a step after falling \
         through the scene",
        number(first),
        number((1e3 * later).round() / 1e3)
    );
    let about_step = if first > LARGE {
        let advice = number((LARGE / first * dt).min(dt * (LARGE / first).sqrt()));
        format!("\nwarning: dt looks large: {figures}; steps will be split all the time. Try dt = {advice} or less\n")
    } else if later > 1.0 && simulation.settings.max_slip.is_finite() {
        let most = number(simulation.settings.max_slip);
        format!("\nnote: {figures}; the engine splits steps in which contacts slide by more than {most} of it\n")
    } else {
        format!("\n{figures}\n")
    };
    about_step + &pair_forces::warnings(scene, &prediction) + &covered_inlets(scene)
}

/// Inlets through which nobody can come, or stay.
fn covered_inlets(scene: &Scene) -> String {
    let simulation = &scene.simulation;
    let (openings, particles) = (&simulation.openings, &simulation.state.particles);
    let mut text = String::new();
    for inlet in &openings.inlets {
        let takes = |outlet: &&Outlet| outlet.groups.as_ref().is_none_or(|groups| groups.contains(&inlet.group));
        let covers = |outlet: &&Outlet| corners(inlet, 0.0, scene).iter().all(|x| outlet.region.contains(*x));
        if let Some(outlet) = openings.outlets.iter().filter(takes).find(covers) {
            let (outlet, inlet) = (&outlet.name, &inlet.name);
            let _ = writeln!(text, "\nwarning: outlet `{outlet}` covers inlet `{inlet}`: who comes in leaves at once");
        }
        // All places at which the smallest fits into the region are within its reach of one centre.
        let radius = inlet.radii[0];
        let corners = corners(inlet, radius, scene);
        let distance = |i: usize, x: DVec3| {
            let offset = x - particles.position[i];
            particles.cell.map_or(offset, |cell| cell.shortest(offset)).length()
        };
        let covers = |i: &usize| corners.iter().all(|x| distance(*i, *x) < particles.radius[*i] + radius);
        if let Some(i) = (0..particles.len()).find(covers) {
            let inlet = &inlet.name;
            let _ = writeln!(
                text,
                "\nwarning: particle {i} covers inlet `{inlet}`: nobody comes in before it has moved away"
            );
        }
    }
    text
}

/// The corners of the box around an inlet, drawn in by a margin (length) in the directions that the scene has.
fn corners(inlet: &Inlet, margin: f64, scene: &Scene) -> Vec<DVec3> {
    let directions = scene.simulation.openings.dimension.directions();
    let [lower, upper] = inlet.region.corners(directions);
    let (lower, upper) = (lower + margin * directions, upper - margin * directions);
    let pick = |k: u32, axis: usize| if (k >> axis) & 1 == 0 { lower[axis] } else { upper[axis] };
    (0..8).map(|k| DVec3::new(pick(k, 0), pick(k, 1), pick(k, 2))).collect()
}
