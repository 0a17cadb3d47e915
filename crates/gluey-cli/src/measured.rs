//! The measures that `gluey info` tells: of the last frame of a run, and of what goes through planes over all of them.

use std::path::Path;

use anyhow::Result;
use glam::{DMat3, DVec3};
use gluey::measures::{
    Bodies, Clusters, Coordination, Figure, Fit, Network, Quantiles, Quantity, Region, Settling, comings_and_goings,
    components, contact_stress, gyration_dimension, gyration_radius, kinetic_stress, net_crossings, of_stress,
    sandbox_dimension, solid_fraction,
};
use gluey::simulation::{Crossings, Gate};
use gluey::trajectory::{Snapshot, Snapshots};
use serde_json::{Value, json};
use toml_edit::DocumentMut;

use crate::UsageError;
use crate::arguments::InfoArguments;
use crate::words::{count, number};

/// What is measured.
pub struct Measured {
    step: u64,
    time: f64,
    dimension: usize,
    /// The box around all particles, in periodic directions the cell, and how full it is; none without particles.
    overall: Option<(Region, f64)>,
    /// Which box that is.
    overall_name: &'static str,
    regions: Vec<(Region, f64)>,
    coordination: Coordination,
    /// Particles on their own, and clumps.
    bodies: usize,
    clumps: bool,
    loads: Loads,
    network: Network,
    contact: DMat3,
    kinetic: DMat3,
    settling: Settling,
    clusters: Clusters,
    gyration: f64,
    sandbox: Option<Fit>,
    over_clusters: Option<Fit>,
    fluxes: Vec<Flux>,
}

/// What the scene says of the forces behind the impulses of contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loads {
    /// Contacts bear all.
    All,
    /// There are pair forces, which frames do not tell.
    BesidePairForces,
    /// A crowd has no masses in its steps: its impulses are corrections of velocities.
    None,
}

impl Loads {
    fn of(scene: &str) -> Self {
        let Ok(document) = scene.parse::<DocumentMut>() else { return Self::All };
        let crowd = document.get("environment").and_then(|environment| environment.get("crowd"));
        match (crowd, document.get("pair-force")) {
            (Some(_), _) => Self::None,
            (None, Some(_)) => Self::BesidePairForces,
            (None, None) => Self::All,
        }
    }
}

/// Sentences about figures, which stand in them by their names. What no sentence tells has a row of its own.
const OF_PARTICLES: &str =
    "{particles} with particles, {all} with obstacles too; {free} touch nothing, {rattlers} rattlers";
const OF_BODIES: &str = "{particles} with bodies, {all} with obstacles too; {free} touch nothing, {rattlers} rattlers";
const FORCES: &str = "push {push} on average, {maxpush} at most; {pulling} of contacts pull, {maxpull} at most";
const GLUE: &str = "{glued} of contacts, -gamma {glue} on average, {maxglue} at most";
const PRESSED: &str = "{pressure} from contacts";
const AGITATED: &str = "{pressure} from motion";
const VELOCITY: &str = "{mean} on average, fluctuating by {fluctuation}";
const CLUSTERS: &str = "{count}";
/// Rows that few look at.
const MORE: [(&str, &str); 3] = [
    ("temperature", "{temperature}"),
    ("mean cluster", "{size}"),
    ("gyration", "{gyration} (radius, largest cluster)"),
];
/// Figures that are told in words of their own.
const IN_OTHER_WORDS: [&str; 2] = ["largest", "dimension"];

/// A sentence with its figures.
fn told(sentence: &str, figures: &[Figure]) -> String {
    let put = |text: String, figure: &Figure| text.replace(&place_of(figure), &self::text(figure.value));
    figures.iter().fold(sentence.to_owned(), put)
}

fn place_of(figure: &Figure) -> String {
    format!("{{{}}}", figure.name)
}

/// Whether a figure has its place in a sentence.
fn is_worded(figure: &Figure) -> bool {
    let sentences = [OF_PARTICLES, FORCES, GLUE, VELOCITY, CLUSTERS].into_iter().chain(MORE.map(|(_, words)| words));
    IN_OTHER_WORDS.contains(&figure.name) || sentences.into_iter().any(|words| words.contains(&place_of(figure)))
}

/// The row of a figure that no sentence tells.
fn plain(figure: &Figure) -> (&'static str, String) {
    let unit = if figure.unit.is_empty() { String::new() } else { format!(" ({})", figure.unit) };
    (figure.name, format!("{}: {}{unit}", text(figure.value), figure.about))
}

/// A value as people read it.
fn text(value: Quantity) -> String {
    match value {
        Quantity::Number(value) => number(value),
        Quantity::Count(count) => count.to_string(),
        Quantity::Share { part, whole } => format!("{} %", number(1e2 * part as f64 / whole.max(1) as f64)),
    }
}

/// Puts a figure where programs find it; of a share the part, since the whole is told beside it. One that is no number is
/// left out.
fn insert(into: &mut Value, figure: &Figure) {
    let value = match figure.value {
        Quantity::Number(value) if value.is_nan() => return,
        Quantity::Number(value) => json!(value),
        Quantity::Count(count) => json!(count),
        Quantity::Share { part, .. } => json!(part),
    };
    let place = figure.key.split('.').fold(into, |object, name| &mut object[name]);
    *place = value;
}

/// What went through a plane.
struct Flux {
    gate: Gate,
    /// Ends of the intervals between frames, and the net crossings in each.
    intervals: Vec<(f64, Crossings)>,
    /// From the first frame to the last (time).
    span: f64,
    /// How many came or left between frames: what they crossed meanwhile is not known.
    unseen: usize,
}

impl Measured {
    /// Reads the last frame, and all frames if a plane is asked for. None where there is no frame to read.
    pub fn read(folder: &Path, wishes: &InfoArguments) -> Result<Option<Self>> {
        let Some((snapshots, last)) = last_frame(folder)? else {
            let asked = !wishes.regions.is_empty() || !wishes.planes.is_empty() || wishes.measures;
            if asked {
                return Err(UsageError(format!("{} has no frames for ParaView to measure", folder.display())).into());
            }
            return Ok(None);
        };
        let info = &snapshots.manifest().info;
        let dimension = usize::from(info.dimension);
        let Snapshot { particles, contacts, .. } = &last;
        let down = -wishes.up.unwrap_or(if dimension == 2 { DVec3::Y } else { DVec3::Z }).normalize();
        let overall = Region::around(particles, dimension);
        let bodies = Bodies::of(particles, &last.clump);
        let clusters = Clusters::of(&bodies, contacts);
        let shapes: Vec<Vec<DVec3>> = (0..clusters.count()).map(|cluster| clusters.shape(cluster)).collect();
        let largest = clusters.shape(0);
        let zero = DMat3::ZERO;
        Ok(Some(Self {
            step: last.step,
            time: last.time,
            dimension,
            regions: regions(wishes, dimension)?
                .into_iter()
                .map(|region| (region, solid_fraction(particles, &region)))
                .collect(),
            coordination: Coordination::of(&bodies, contacts, dimension),
            bodies: bodies.len(),
            clumps: bodies.len() < particles.len(),
            loads: Loads::of(&info.scene_text),
            network: Network::of(contacts, info.dt),
            contact: overall.map_or(zero, |region| contact_stress(particles, contacts, &region, info.dt)),
            kinetic: overall.map_or(zero, |region| kinetic_stress(particles, &region)),
            overall: overall.map(|region| (region, solid_fraction(particles, &region))),
            overall_name: match particles.cell.map_or(0, |cell| cell.axes().count()) {
                0 => "the box around all particles",
                axes if axes < dimension => "the periodic cell, across it the box around all particles",
                _ => "the periodic cell",
            },
            settling: Settling::of(particles, down, dimension),
            gyration: gyration_radius(&largest),
            sandbox: sandbox_dimension(&largest, bodies.mean_diameter()),
            over_clusters: gyration_dimension(shapes.iter().map(Vec::as_slice)),
            clusters,
            fluxes: fluxes(&snapshots, wishes, dimension)?,
        }))
    }

    /// All figures of the frame as a whole but those of stress, of which there are two.
    fn figures(&self) -> Vec<Figure> {
        let network: &[Figure] = if self.loads == Loads::None { &[] } else { &self.network.figures() };
        let clusters = self.clusters.figures(self.gyration, self.sandbox.as_ref());
        [&self.coordination.figures(), network, &self.settling.figures(), &clusters].concat()
    }

    /// The rows of a page; more of them if all is asked for.
    pub fn rows(&self, all: bool) -> Vec<(&'static str, String)> {
        let figures = &self.figures();
        let mut rows = vec![("measures", format!("of the frame at t = {} (step {})", number(self.time), self.step))];
        rows.extend(
            self.overall
                .map(|(_, fraction)| ("solid fraction", format!("{} of {}", number(fraction), self.overall_name))),
        );
        rows.extend(
            self.regions.iter().map(|(region, fraction)| ("", format!("{} of {}", number(*fraction), place(region)))),
        );
        rows.push(("coordination", told(if self.clumps { OF_BODIES } else { OF_PARTICLES }, figures)));
        if self.loads != Loads::None {
            rows.push(("forces", told(FORCES, figures)));
        }
        if self.network.glued > 0 {
            rows.push(("glue", self.glue()));
        }
        if self.overall.is_some() && self.loads != Loads::None {
            let [contacts, motion] = [self.contact, self.kinetic].map(|stress| of_stress(stress, self.dimension));
            let beside = if self.loads == Loads::BesidePairForces { "; pair forces are not counted" } else { "" };
            rows.push(("pressure", format!("{}, {}{beside}", told(PRESSED, &contacts), told(AGITATED, &motion))));
        }
        rows.push(("velocity down", told(VELOCITY, figures)));
        rows.push(("clusters", format!("{}, the largest of {}", told(CLUSTERS, figures), self.largest())));
        let dimensions: Vec<String> = [("of the largest", self.sandbox), ("over all clusters", self.over_clusters)]
            .iter()
            .filter_map(|(what, fit)| Some(format!("{:.2} {what}", fit.as_ref()?.dimension)))
            .collect();
        if !dimensions.is_empty() {
            rows.push(("fractal dim.", dimensions.join(", ")));
        }
        rows.extend(self.fluxes.iter().map(|flux| ("flux", flux.text())));
        if all {
            rows.extend(self.more());
            rows.extend(figures.iter().filter(|figure| !is_worded(figure)).map(plain));
        }
        rows
    }

    fn glue(&self) -> String {
        told(GLUE, &self.network.figures())
    }

    /// How many bodies the largest cluster has, and which share of them.
    fn largest(&self) -> String {
        let size = self.clusters.largest();
        let share = text(Quantity::Share { part: size, whole: self.bodies });
        match size as u64 {
            1 if self.clumps => format!("1 body ({share})"),
            size if self.clumps => format!("{size} bodies ({share})"),
            size => format!("{} ({share})", count(size, "particle")),
        }
    }

    /// What few look at.
    fn more(&self) -> Vec<(&'static str, String)> {
        let quantiles = |of: &Quantiles| {
            let parts = Quantiles::SHARES.iter().zip(of.at).map(|(share, at)| format!("{share}: {}", number(at)));
            parts.collect::<Vec<_>>().join(", ")
        };
        let counts = self.coordination.distribution.iter().enumerate();
        let counts: Vec<String> = counts.map(|(k, count)| format!("{k}: {count}")).collect();
        let tensor = |stress: &DMat3| {
            components(*stress, self.dimension)
                .iter()
                .map(|(name, entry)| format!("{name} {}", number(*entry)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mean = self.settling.velocity.to_array().into_iter().take(self.dimension).map(number).collect::<Vec<_>>();
        let mut rows = vec![("contacts each", counts.join(", "))];
        if self.loads != Loads::None {
            rows.extend([
                ("pushes", quantiles(&self.network.pushing)),
                ("pulls", quantiles(&self.network.pulling)),
                ("-gamma", quantiles(&self.network.glue)),
                ("stress", tensor(&self.contact)),
                ("of motion", tensor(&self.kinetic)),
            ]);
        }
        let figures = &self.figures();
        rows.push(("mean velocity", mean.join(", ")));
        rows.extend(MORE.map(|(label, words)| (label, told(words, figures))));
        rows
    }

    /// All of it, for programs.
    pub fn json(&self) -> Value {
        let fraction = |(region, fraction): &(Region, f64)| {
            let corner = |of: DVec3| of.to_array()[..self.dimension].to_vec();
            json!({ "lower": corner(region.lower()), "upper": corner(region.upper()), "fraction": fraction })
        };
        let quantiles = |of: &Quantiles| {
            let shares = Quantiles::SHARES;
            json!({ "count": of.count, "mean": of.mean, "quantiles": of.at, "shares": shares })
        };
        let tensor = |stress: &DMat3| {
            let mut value = json!({});
            for figure in of_stress(*stress, self.dimension) {
                insert(&mut value, &figure);
            }
            value
        };
        let fit = |fit: &Option<Fit>| {
            fit.map(|fit| json!({ "dimension": fit.dimension, "scatter": fit.scatter, "points": fit.points }))
        };
        let network = &self.network;
        let mut value = json!({
            "step": self.step,
            "time": self.time,
            "bodies": self.bodies,
            "solid_fraction": self.overall.as_ref().map(fraction),
            "regions": self.regions.iter().map(fraction).collect::<Vec<_>>(),
            "coordination": { "distribution": self.coordination.distribution },
            "network": {
                "contacts": network.contacts,
                "pushing": quantiles(&network.pushing),
                "pulling": quantiles(&network.pulling),
                "glue": quantiles(&network.glue),
            },
            "stress": (self.loads != Loads::None).then(|| json!({
                "contact": tensor(&self.contact),
                "kinetic": tensor(&self.kinetic),
                "pair_forces_left_out": self.loads == Loads::BesidePairForces,
            })),
            "settling": { "velocity": self.settling.velocity.to_array() },
            "fractal_dimension": { "sandbox": fit(&self.sandbox), "gyration": fit(&self.over_clusters) },
            "flux": self.fluxes.iter().map(Flux::json).collect::<Vec<_>>(),
        });
        let clusters = self.clusters.figures(self.gyration, self.sandbox.as_ref());
        let figures = [&self.coordination.figures()[..], &network.figures(), &self.settling.figures(), &clusters];
        for figure in figures.concat() {
            insert(&mut value, &figure);
        }
        value
    }
}

impl Flux {
    fn net(&self) -> Crossings {
        let add = |sum: Crossings, (_, one): &(f64, Crossings)| Crossings {
            number: sum.number + one.number,
            volume: sum.volume + one.volume,
        };
        self.intervals.iter().fold(Crossings::default(), add)
    }

    fn text(&self) -> String {
        let Crossings { number: net, volume } = self.net();
        let components =
            |of: DVec3| of.to_array()[..self.gate.dimension].iter().copied().map(number).collect::<Vec<_>>();
        let plane =
            format!("{} across {}", components(self.gate.point).join(","), components(self.gate.normal).join(","));
        let rate = |part: f64| if self.span > 0.0 { number(part / self.span) } else { "?".to_owned() };
        let (each, of_volume) = (rate(net as f64), rate(volume));
        let unseen = match self.unseen {
            0 => String::new(),
            some => format!(
                "; {some} came or left between frames, what they crossed meanwhile is not counted: see [[measure]]"
            ),
        };
        format!("{net} net through the plane at {plane}: {each} a time, {of_volume} by volume{unseen}")
    }

    fn json(&self) -> Value {
        let net = self.net();
        json!({
            "point": self.gate.point.to_array(),
            "normal": self.gate.normal.to_array(),
            "number": net.number,
            "volume": net.volume,
            "span": self.span,
            "came_or_left_between_frames": self.unseen,
            "intervals": self.intervals.iter().map(|(time, crossed)| {
                json!({ "until": time, "number": crossed.number, "volume": crossed.volume })
            }).collect::<Vec<_>>(),
        })
    }
}

/// The last frame, where the run writes any that can be read back.
fn last_frame(folder: &Path) -> Result<Option<(Snapshots, Snapshot)>> {
    let Ok(snapshots) = Snapshots::open(folder) else { return Ok(None) };
    let Some(stamp) = snapshots.stamps().last().copied() else { return Ok(None) };
    let last = snapshots.read(&stamp)?;
    Ok(Some((snapshots, last)))
}

/// In 2D a third component must be left out or 0.
fn flat(vector: DVec3, dimension: usize, option: &str) -> Result<DVec3> {
    if dimension == 2 && vector.z != 0.0 {
        return Err(UsageError(format!("{option}: the run is 2D, and there is a third component")).into());
    }
    Ok(vector)
}

fn regions(wishes: &InfoArguments, dimension: usize) -> Result<Vec<Region>> {
    let region = |corners: &(DVec3, DVec3)| -> Result<Region> {
        let (lower, upper) = (flat(corners.0, dimension, "--region")?, flat(corners.1, dimension, "--region")?);
        Ok(Region::new(lower, upper, dimension).map_err(|error| UsageError(format!("--region: {error}")))?)
    };
    wishes.regions.iter().map(region).collect()
}

/// Counts from frame to frame. Each is read once, whatever the number of planes.
fn fluxes(snapshots: &Snapshots, wishes: &InfoArguments, dimension: usize) -> Result<Vec<Flux>> {
    let gate = |&(point, normal): &(DVec3, DVec3)| -> Result<Gate> {
        let (point, normal) = (flat(point, dimension, "--plane")?, flat(normal, dimension, "--plane")?);
        Ok(Gate { point, normal: normal.normalize(), dimension })
    };
    let gates = wishes.planes.iter().map(gate).collect::<Result<Vec<_>>>()?;
    let start = |gate: Gate| Flux { gate, intervals: Vec::new(), span: 0.0, unseen: 0 };
    let mut fluxes: Vec<Flux> = gates.into_iter().map(start).collect();
    let stamps = if fluxes.is_empty() { &[] } else { snapshots.stamps() };
    let mut before: Option<Snapshot> = None;
    for stamp in stamps {
        let frame = snapshots.read(stamp)?;
        if let Some(before) = before {
            let was = Bodies::of(&before.particles, &before.clump);
            let is = Bodies::of(&frame.particles, &frame.clump);
            let unseen = comings_and_goings(&was, &is);
            for flux in &mut fluxes {
                flux.intervals.push((frame.time, net_crossings(&flux.gate, &was, &is)));
                flux.span += frame.time - before.time;
                flux.unseen += unseen;
            }
        }
        before = Some(frame);
    }
    Ok(fluxes)
}

fn place(region: &Region) -> String {
    let (lower, upper) = (region.lower(), region.upper());
    let axes = ["x", "y", "z"].iter().enumerate().take(region.dimension());
    let sides = axes.map(|(k, axis)| format!("{axis} {} to {}", number(lower[k]), number(upper[k])));
    sides.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_no_sentence_tells_has_a_row_and_all_have_a_place_for_programs() {
        let (network, settling, clusters) = (Network::default(), Settling::default(), Clusters::default());
        let coordination = Coordination { free: 1, distribution: vec![1, 3], ..Coordination::default() };
        let tables =
            [&coordination.figures()[..], &network.figures(), &settling.figures(), &clusters.figures(1.5, None)];
        for figure in tables.concat() {
            let mut value = Value::Null;
            insert(&mut value, &figure);
            let found = figure.key.split('.').fold(&value, |object, name| &object[name]);
            assert_eq!(found.is_null(), figure.value.number().is_nan(), "{value}");
        }
        assert_eq!(told("{free} of {particles}", &coordination.figures()), "25 % of 0");
        let value = Quantity::Count(3);
        let new = Figure { name: "new", key: "a.b", about: "what is new", unit: "length", value };
        assert!(!is_worded(&new));
        assert_eq!(plain(&new), ("new", "3: what is new (length)".to_owned()));
        let mut value = json!({ "a": { "c": 1 } });
        insert(&mut value, &new);
        assert_eq!(value, json!({ "a": { "b": 3, "c": 1 } }));
    }
}
