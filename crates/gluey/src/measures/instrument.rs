//! Measures by name, and their columns in the time series.

use glam::DVec3;

use super::{
    Bodies, Clusters, Coordination, Network, Region, Settling, components, contact_stress, gyration_radius,
    kinetic_stress, pressure, sandbox_dimension, solid_fraction,
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
    /// The clump of each, [`ALONE`](crate::projection::ALONE) in none; empty where there are no clumps.
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
    /// The figures of a moment, each with its name.
    #[must_use]
    pub fn figures(&self, moment: &Moment) -> Vec<(&'static str, f64)> {
        let Moment { particles, clump, contacts, crossings, dt, dimension } = *moment;
        match self {
            Self::SolidFraction(region) => vec![("fraction", solid_fraction(particles, region))],
            Self::Coordination => {
                let bodies = Bodies::of(particles, clump);
                let share = |part: usize| part as f64 / bodies.len().max(1) as f64;
                let found = Coordination::of(&bodies, contacts, dimension);
                vec![
                    ("particles", found.mean),
                    ("all", found.with_obstacles),
                    ("free", share(found.free)),
                    ("rattlers", share(found.rattlers)),
                ]
            }
            Self::Network => {
                let network = Network::of(contacts, dt);
                vec![
                    ("push", network.pushing.mean),
                    ("maxpush", network.pushing.greatest),
                    ("maxpull", network.pulling.greatest),
                    ("pulling", network.share(network.pulling.count)),
                    ("glued", network.share(network.glued)),
                    ("glue", network.glue.mean),
                    ("maxglue", network.glue.greatest),
                ]
            }
            Self::Stress { region, kinetic } => {
                let mut stress = contact_stress(particles, contacts, region, dt);
                if *kinetic {
                    stress += kinetic_stress(particles, region);
                }
                let mut figures = components(stress, dimension);
                figures.push(("pressure", pressure(stress, dimension)));
                figures
            }
            Self::Settling { direction } => {
                let found = Settling::of(particles, *direction, dimension);
                vec![("mean", found.mean), ("fluctuation", found.fluctuation), ("temperature", found.temperature)]
            }
            Self::Clusters => {
                let bodies = Bodies::of(particles, clump);
                let clusters = Clusters::of(&bodies, contacts);
                let largest = clusters.shape(0);
                let dimension = sandbox_dimension(&largest, bodies.mean_diameter());
                vec![
                    ("count", clusters.count() as f64),
                    ("largest", clusters.largest() as f64),
                    ("size", clusters.mean_size()),
                    ("gyration", gyration_radius(&largest)),
                    ("dimension", dimension.map_or(f64::NAN, |fit| fit.dimension)),
                ]
            }
            Self::Flux { gate } => {
                let Crossings { number, volume } = crossings.get(*gate).copied().unwrap_or_default();
                vec![("number", number as f64), ("volume", volume)]
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
        self.measure.figures(&nothing).iter().map(|(figure, _)| format!("{}_{figure}", self.name)).collect()
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
    figures.map(|(_, figure)| figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Contact, Pair};

    #[test]
    fn columns_are_the_same_whatever_there_is() {
        for dimension in [2, 3] {
            let region = Region::new(DVec3::ZERO, DVec3::ONE, dimension).unwrap();
            let measures = [
                Measure::SolidFraction(region),
                Measure::Coordination,
                Measure::Network,
                Measure::Stress { region, kinetic: true },
                Measure::Settling { direction: DVec3::X },
                Measure::Clusters,
                Measure::Flux { gate: 0 },
            ];
            let mut particles = Particles::default();
            particles.push(DVec3::ZERO, 0.5, 1.0);
            let contact = Contact { pair: Pair::obstacle(0, 0, 0), gamma: -1.0, impulse: 1.0 };
            let contacts = [ContactGeometry { contact, gap: 0.0, normal: DVec3::X }];
            let crossings = [Crossings { number: -3, volume: -1.5 }];
            let (particles, contacts, crossings) = (&particles, &contacts, &crossings);
            let moment = Moment { particles, clump: &[], contacts, crossings, dt: 0.1, dimension };
            for measure in measures {
                let names: Vec<&str> = measure.figures(&moment).iter().map(|(name, _)| *name).collect();
                let columns = Instrument { name: "a".into(), measure }.columns(dimension);
                assert_eq!(columns, names.iter().map(|name| format!("a_{name}")).collect::<Vec<_>>());
                assert!(names.iter().all(|name| !name.contains('_')), "a name and its figure must be told apart");
            }
            assert_eq!(Measure::Flux { gate: 0 }.figures(&moment), [("number", -3.0), ("volume", -1.5)]);
        }
    }
}
