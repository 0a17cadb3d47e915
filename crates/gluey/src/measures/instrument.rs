//! Measures by name, and their columns in the time series.

use glam::DVec3;

use super::{
    Bodies, Clusters, Coordination, Figure, Network, Quantity, Region, Settling, contact_stress, gyration_radius,
    kinetic_stress, of_stress, sandbox_dimension, solid_fraction,
};
use crate::contact::ContactGeometry;
use crate::geometry::Particles;
use crate::simulation::{Crossings, Simulation};

/// What can be measured of a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// The part of a region that particles fill.
    SolidFraction(Region),
    /// Contacts per body.
    Coordination,
    /// Forces and glue of the contacts.
    Network,
    /// The mean stress of a region.
    Stress {
        /// Where.
        region: Region,
        /// Whether what moving particles carry is added to what contacts do.
        kinetic: bool,
    },
    /// The mean velocity along a direction.
    Settling {
        /// A unit vector.
        direction: DVec3,
    },
    /// Bodies that hang together.
    Clusters,
    /// What has gone through a gate of the simulation.
    Flux {
        /// Its index.
        gate: usize,
    },
}

/// A measure and what its columns are called.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrument {
    /// Its columns are called `name_…`.
    pub name: String,
    /// What it measures.
    pub measure: Measure,
}

/// What measures look at.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The particles.
    pub particles: &'a Particles,
    /// The clump of each, [`NO_CLUMP`](crate::projection::NO_CLUMP) in none; empty where there are no clumps.
    pub clump: &'a [u32],
    /// Their contacts; impulses are those of a step of length dt.
    pub contacts: &'a [ContactGeometry],
    /// What has gone through the gates.
    pub crossings: &'a [Crossings],
    /// The time step (time).
    pub dt: f64,
    /// 2 or 3.
    pub dimension: usize,
}

impl Measure {
    /// The figures of a moment.
    #[must_use]
    pub fn figures(&self, moment: &Moment) -> Vec<Figure> {
        let Moment { particles, clump, contacts, crossings, dt, dimension } = *moment;
        match self {
            Self::SolidFraction(region) => vec![Figure {
                name: "fraction",
                key: "solid_fraction.fraction",
                about: "the part of the box that particles fill",
                unit: "share",
                value: Quantity::Number(solid_fraction(particles, region)),
            }],
            Self::Coordination => Coordination::of(&Bodies::of(particles, clump), contacts, dimension).figures().into(),
            Self::Network => Network::of(contacts, dt).figures().into(),
            Self::Stress { region, kinetic } => {
                let mut stress = contact_stress(particles, contacts, region, dt);
                if *kinetic {
                    stress += kinetic_stress(particles, region);
                }
                of_stress(stress, dimension)
            }
            Self::Settling { direction } => Settling::of(particles, *direction, dimension).figures().into(),
            Self::Clusters => {
                let bodies = Bodies::of(particles, clump);
                let clusters = Clusters::of(&bodies, contacts);
                let largest = clusters.shape(0);
                let sandbox = sandbox_dimension(&largest, bodies.mean_diameter());
                clusters.figures(gyration_radius(&largest), sandbox.as_ref()).into()
            }
            Self::Flux { gate } => {
                let Crossings { number, volume } = crossings.get(*gate).copied().unwrap_or_default();
                let told = |name, about, unit, value| Figure { name, key: name, about, unit, value };
                vec![
                    told("number", "centres that have gone through", "", Quantity::Count(number)),
                    told("volume", "their volume, in 2D area", "length³, in 2D length²", Quantity::Number(volume)),
                ]
            }
        }
    }
}

impl Instrument {
    /// The names of its columns: those of the figures, after its own.
    #[must_use]
    pub fn columns(&self, dimension: usize) -> Vec<String> {
        let particles = &Particles::default();
        let nothing = Moment { particles, clump: &[], contacts: &[], crossings: &[], dt: 1.0, dimension };
        self.measure.figures(&nothing).iter().map(|figure| format!("{}_{}", self.name, figure.name)).collect()
    }
}

/// What the instruments tell of a simulation now, in the order of their columns.
#[must_use]
pub fn observe(instruments: &[Instrument], simulation: &Simulation, dimension: usize) -> Vec<f64> {
    if instruments.is_empty() {
        return Vec::new();
    }
    let (contacts, state) = (simulation.contacts(), &simulation.state);
    let clump = if state.clumps.is_empty() { Vec::new() } else { state.clumps.owners(state.particles.len()) };
    let moment = Moment {
        particles: &state.particles,
        clump: &clump,
        contacts: &contacts,
        crossings: &state.crossings,
        dt: simulation.settings.dt,
        dimension,
    };
    let figures = instruments.iter().flat_map(|instrument| instrument.measure.figures(&moment));
    figures.map(|figure| figure.value.number()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Contact, Pair};

    /// One of each kind: a new kind does not compile before it is here.
    fn every_kind(region: Region) -> Vec<Measure> {
        let after = |measure: &Measure| match measure {
            Measure::SolidFraction(_) => Some(Measure::Coordination),
            Measure::Coordination => Some(Measure::Network),
            Measure::Network => Some(Measure::Stress { region, kinetic: true }),
            Measure::Stress { .. } => Some(Measure::Settling { direction: DVec3::X }),
            Measure::Settling { .. } => Some(Measure::Clusters),
            Measure::Clusters => Some(Measure::Flux { gate: 0 }),
            Measure::Flux { .. } => None,
        };
        std::iter::successors(Some(Measure::SolidFraction(region)), after).collect()
    }

    #[test]
    fn every_figure_is_told_in_the_page_of_measures_with_its_words_and_unit() {
        let path: std::path::PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "measures.md"].iter().collect();
        let page = std::fs::read_to_string(path).unwrap();
        let particles = &Particles::default();
        let nothing = Moment { particles, clump: &[], contacts: &[], crossings: &[], dt: 1.0, dimension: 3 };
        let region = Region::new(DVec3::ZERO, DVec3::ONE, 3).unwrap();
        for figure in every_kind(region).iter().flat_map(|measure| measure.figures(&nothing)) {
            let about = figure.about.replace('|', "\\|"); // as tables of Markdown spell it
            let line = format!("\n| `_{}` | {about} | {} |", figure.name, figure.unit);
            assert!(page.contains(&line), "docs/measures.md has no row {line}");
        }
    }

    #[test]
    fn columns_are_the_same_whatever_there_is() {
        for dimension in [2, 3] {
            let region = Region::new(DVec3::ZERO, DVec3::ONE, dimension).unwrap();
            let mut particles = Particles::default();
            particles.push(DVec3::ZERO, 0.5, 1.0);
            let contact = Contact { pair: Pair::obstacle(0, 0, 0), gamma: -1.0, impulse: 1.0 };
            let contacts = [ContactGeometry { contact, gap: 0.0, normal: DVec3::X }];
            let crossings = [Crossings { number: -3, volume: -1.5 }];
            let (particles, contacts, crossings) = (&particles, &contacts, &crossings);
            let moment = Moment { particles, clump: &[], contacts, crossings, dt: 0.1, dimension };
            for measure in every_kind(region) {
                let names: Vec<&str> = measure.figures(&moment).iter().map(|figure| figure.name).collect();
                let columns = Instrument { name: "a".into(), measure }.columns(dimension);
                assert_eq!(columns, names.iter().map(|name| format!("a_{name}")).collect::<Vec<_>>());
                assert!(names.iter().all(|name| !name.contains('_')), "a name and its figure must be told apart");
            }
            let flux = Measure::Flux { gate: 0 }.figures(&moment);
            let flux: Vec<_> = flux.iter().map(|figure| (figure.name, figure.value.number())).collect();
            assert_eq!(flux, [("number", -3.0), ("volume", -1.5)]);
        }
    }
}
