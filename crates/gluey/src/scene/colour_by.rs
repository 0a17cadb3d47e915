//! What the colours of particles tell: one row a field, with its name, its title and its value. Pictures compute it
//! here, the viewer's page by the same rules, which it gets as data.

use glam::DVec3;
use serde::Serialize;

use crate::choice::choices;
use crate::contact::{Contact, ContactGeometry, Partner};
use crate::geometry::Particles;

choices! {
    /// What the colour of a particle tells.
    pub enum ColourBy {
        /// Its group, in the group's colour.
        Group = "group",
        /// |V|.
        Speed = "speed",
        /// Its radius.
        Radius = "radius",
        /// Its mass.
        Mass = "mass",
        /// How much it is glued: the sum of −γ over its contacts.
        Gamma = "gamma",
        /// The greatest impulse of its contacts in the last step.
        Impulse = "impulse",
        /// How many contacts it has.
        Contacts = "contacts",
        /// Component x of its centre.
        X = "x",
        /// Component y of its centre.
        Y = "y",
        /// Component z of its centre.
        Z = "z",
        /// Component x of its velocity.
        Vx = "vx",
        /// Component y of its velocity.
        Vy = "vy",
        /// Component z of its velocity.
        Vz = "vz",
    }
    default Group
}

/// How a field is told and found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// What legends call it.
    pub title: &'static str,
    /// Where its colours start.
    pub start: Start,
    /// Its value.
    pub rule: Rule,
}

/// Where the colours of a field start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// At the least value there is.
    Least,
    /// At 0; few values are far greater than the others, and their colours end before them.
    Zero,
}

/// The value of a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A number of its own.
    Own(Scalar),
    /// The length of a vector.
    Length(Vector),
    /// A component of a vector, counted from 0.
    Component(Vector, usize),
    /// The sum over its contacts.
    Sum(OfContact),
    /// The greatest over its contacts, and 0.
    Greatest(OfContact),
}

/// A number that each particle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scalar {
    /// Index of its group.
    Group,
    /// r (length).
    Radius,
    /// m (mass).
    Mass,
}

/// A vector that each particle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vector {
    /// Centre x (length).
    Position,
    /// V (length / time).
    Velocity,
}

/// A number of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfContact {
    /// 1.
    One,
    /// −γ.
    Glue,
    /// Λ (momentum).
    Impulse,
}

impl ColourBy {
    /// The table.
    #[must_use]
    pub const fn field(self) -> Field {
        let (start, rule) = match self {
            Self::Group => (Start::Least, Rule::Own(Scalar::Group)),
            Self::Speed => (Start::Zero, Rule::Length(Vector::Velocity)),
            Self::Radius => (Start::Least, Rule::Own(Scalar::Radius)),
            Self::Mass => (Start::Least, Rule::Own(Scalar::Mass)),
            Self::Gamma => (Start::Zero, Rule::Sum(OfContact::Glue)),
            Self::Impulse => (Start::Zero, Rule::Greatest(OfContact::Impulse)),
            Self::Contacts => (Start::Zero, Rule::Sum(OfContact::One)),
            Self::X => (Start::Least, Rule::Component(Vector::Position, 0)),
            Self::Y => (Start::Least, Rule::Component(Vector::Position, 1)),
            Self::Z => (Start::Least, Rule::Component(Vector::Position, 2)),
            Self::Vx => (Start::Least, Rule::Component(Vector::Velocity, 0)),
            Self::Vy => (Start::Least, Rule::Component(Vector::Velocity, 1)),
            Self::Vz => (Start::Least, Rule::Component(Vector::Velocity, 2)),
        };
        let title = match self {
            Self::Gamma => "Σ −γ",
            named => named.name(),
        };
        Field { title, start, rule }
    }

    /// What it tells of each particle, as a number.
    #[must_use]
    pub fn values(self, particles: &Particles, contacts: &[ContactGeometry]) -> Vec<f64> {
        match self.field().rule {
            Rule::Own(Scalar::Group) => particles.group.iter().map(|group| f64::from(*group)).collect(),
            Rule::Own(Scalar::Radius) => particles.radius.clone(),
            Rule::Own(Scalar::Mass) => particles.mass.clone(),
            Rule::Length(vector) => vector.column(particles).iter().map(|vector| vector.length()).collect(),
            Rule::Component(vector, k) => vector.column(particles).iter().map(|vector| vector[k]).collect(),
            Rule::Sum(number) => over_contacts(particles, contacts, |sum, contact| sum + number.of(contact)),
            Rule::Greatest(number) => over_contacts(particles, contacts, |most, contact| most.max(number.of(contact))),
        }
    }
}

impl Vector {
    fn column(self, particles: &Particles) -> &[DVec3] {
        match self {
            Self::Position => &particles.position,
            Self::Velocity => &particles.velocity,
        }
    }
}

impl OfContact {
    fn of(self, contact: &Contact) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Glue => -contact.gamma,
            Self::Impulse => contact.impulse,
        }
    }
}

/// For each particle what adding its contacts one by one to 0 gives.
fn over_contacts(particles: &Particles, contacts: &[ContactGeometry], add: impl Fn(f64, &Contact) -> f64) -> Vec<f64> {
    let mut values = vec![0.0; particles.len()];
    for ContactGeometry { contact, .. } in contacts {
        let first = &mut values[contact.pair.first() as usize];
        *first = add(*first, contact);
        if let Partner::Particle(j) = contact.pair.partner() {
            let second = &mut values[j as usize];
            *second = add(*second, contact);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Pair;

    #[test]
    fn fields_are_those_of_the_particles() {
        let mut particles = Particles::default();
        for (k, centre) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
            particles.push(centre, 1.0 + k as f64, 4.0 - k as f64);
            particles.group[k] = 2 - k as u32;
        }
        particles.velocity[1] = DVec3::new(3.0, 4.0, -12.0);
        let contact = |pair, gamma, impulse| ContactGeometry {
            contact: Contact { pair, gamma, impulse },
            gap: 0.0,
            normal: DVec3::X,
        };
        let contacts = [contact(Pair::particles(0, 1), -1.0, 5.0), contact(Pair::obstacle(1, 0, 0), -2.0, 3.0)];
        let told = |field: ColourBy| match field {
            ColourBy::Group => [2.0, 1.0, 0.0],
            ColourBy::Speed => [0.0, 13.0, 0.0],
            ColourBy::Radius => [1.0, 2.0, 3.0],
            ColourBy::Mass => [4.0, 3.0, 2.0],
            ColourBy::Gamma => [1.0, 3.0, 0.0],
            ColourBy::Impulse => [5.0, 5.0, 0.0],
            ColourBy::Contacts => [1.0, 2.0, 0.0],
            ColourBy::X => [1.0, 0.0, 0.0],
            ColourBy::Y => [0.0, 1.0, 0.0],
            ColourBy::Z => [0.0, 0.0, 1.0],
            ColourBy::Vx => [0.0, 3.0, 0.0],
            ColourBy::Vy => [0.0, 4.0, 0.0],
            ColourBy::Vz => [0.0, -12.0, 0.0],
        };
        for field in ColourBy::ALL {
            assert_eq!(field.values(&particles, &contacts), told(field), "{field}");
        }
    }
}
