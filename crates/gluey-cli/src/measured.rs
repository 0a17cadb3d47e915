//! The measures that `gluey info` tells: of the last frame of a run, and of what goes through planes over all of them.

use std::path::Path;

use anyhow::Result;
use glam::{DMat3, DVec3};
use gluey::measures::{
    Bodies, Clusters, Coordination, Fit, Network, Quantiles, Region, Settling, comings_and_goings, components,
    contact_stress, gyration_dimension, gyration_radius, kinetic_stress, net_crossings, pressure, sandbox_dimension,
    solid_fraction,
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

    /// The rows of a page; more of them if all is asked for.
    pub fn rows(&self, all: bool) -> Vec<(&'static str, String)> {
        let percent = |part: usize, whole: usize| format!("{} %", number(1e2 * part as f64 / whole.max(1) as f64));
        let Self { coordination, network, settling, clusters, .. } = self;
        let mut rows = vec![("measures", format!("of the frame at t = {} (step {})", number(self.time), self.step))];
        rows.extend(
            self.overall
                .map(|(_, fraction)| ("solid fraction", format!("{} of {}", number(fraction), self.overall_name))),
        );
        rows.extend(
            self.regions.iter().map(|(region, fraction)| ("", format!("{} of {}", number(*fraction), place(region)))),
        );
        rows.push((
            "coordination",
            format!(
                "{} with {}, {} with obstacles too; {} touch nothing, {} rattlers",
                number(coordination.mean),
                if self.clumps { "bodies" } else { "particles" },
                number(coordination.with_obstacles),
                percent(coordination.free, self.bodies),
                percent(coordination.rattlers, self.bodies)
            ),
        ));
        if self.loads != Loads::None {
            rows.push((
                "forces",
                format!(
                    "push {} on average, {} at most; {} of contacts pull, {} at most",
                    number(network.pushing.mean),
                    number(network.pushing.greatest),
                    percent(network.pulling.count, network.contacts),
                    number(network.pulling.greatest)
                ),
            ));
        }
        if network.glued > 0 {
            let (glued, glue) = (percent(network.glued, network.contacts), &network.glue);
            let (mean, most) = (number(glue.mean), number(glue.greatest));
            rows.push(("glue", format!("{glued} of contacts, -gamma {mean} on average, {most} at most")));
        }
        if self.overall.is_some() && self.loads != Loads::None {
            let (contacts, motion) = (pressure(self.contact, self.dimension), pressure(self.kinetic, self.dimension));
            let beside = if self.loads == Loads::BesidePairForces { "; pair forces are not counted" } else { "" };
            let text = format!("{} from contacts, {} from motion{beside}", number(contacts), number(motion));
            rows.push(("pressure", text));
        }
        rows.push((
            "velocity down",
            format!("{} on average, fluctuating by {}", number(settling.mean), number(settling.fluctuation)),
        ));
        let share = percent(clusters.largest(), self.bodies);
        let largest = match clusters.largest() as u64 {
            1 if self.clumps => "1 body".to_owned(),
            size if self.clumps => format!("{size} bodies"),
            size => count(size, "particle"),
        };
        rows.push(("clusters", format!("{}, the largest of {largest} ({share})", clusters.count())));
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
        }
        rows
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
        rows.extend([
            ("mean velocity", mean.join(", ")),
            ("temperature", number(self.settling.temperature)),
            ("mean cluster", number(self.clusters.mean_size())),
            ("gyration", format!("{} (radius, largest cluster)", number(self.gyration))),
        ]);
        rows
    }

    /// All of it, for programs.
    pub fn json(&self) -> Value {
        let fraction = |(region, fraction): &(Region, f64)| {
            let corner = |of: DVec3| of.to_array()[..self.dimension].to_vec();
            json!({ "lower": corner(region.lower()), "upper": corner(region.upper()), "fraction": fraction })
        };
        let quantiles = |of: &Quantiles| json!({ "count": of.count, "mean": of.mean, "quantiles": of.at, "shares": Quantiles::SHARES, "greatest": of.greatest });
        let tensor = |stress: &DMat3| {
            let entries =
                components(*stress, self.dimension).into_iter().map(|(name, entry)| (name.to_owned(), entry.into()));
            Value::Object(entries.collect())
        };
        let fit = |fit: &Option<Fit>| {
            fit.map(|fit| json!({ "dimension": fit.dimension, "scatter": fit.scatter, "points": fit.points }))
        };
        let Self { coordination, network, settling, clusters, .. } = self;
        json!({
            "step": self.step,
            "time": self.time,
            "bodies": self.bodies,
            "solid_fraction": self.overall.as_ref().map(fraction),
            "regions": self.regions.iter().map(fraction).collect::<Vec<_>>(),
            "coordination": {
                "particles": coordination.mean,
                "with_obstacles": coordination.with_obstacles,
                "distribution": coordination.distribution,
                "free": coordination.free,
                "rattlers": coordination.rattlers,
            },
            "network": {
                "contacts": network.contacts,
                "glued": network.glued,
                "pushing": quantiles(&network.pushing),
                "pulling": quantiles(&network.pulling),
                "glue": quantiles(&network.glue),
            },
            "stress": (self.loads != Loads::None).then(|| json!({
                "contact": tensor(&self.contact),
                "kinetic": tensor(&self.kinetic),
                "pair_forces_left_out": self.loads == Loads::BesidePairForces,
            })),
            "settling": {
                "velocity": settling.velocity.to_array(),
                "mean": settling.mean,
                "fluctuation": settling.fluctuation,
                "temperature": settling.temperature,
            },
            "clusters": {
                "count": clusters.count(),
                "largest": clusters.largest(),
                "mean_size": clusters.mean_size(),
                "gyration_radius": self.gyration,
            },
            "fractal_dimension": { "sandbox": fit(&self.sandbox), "gyration": fit(&self.over_clusters) },
            "flux": self.fluxes.iter().map(Flux::json).collect::<Vec<_>>(),
        })
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
