//! Forces and glue of the contacts: how many push, pull and are glued, and how the loads are spread.

use super::{Figure, Quantity};
use crate::contact::ContactGeometry;

/// Figures of a list of values ≥ 0; all 0 where it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantiles {
    /// How many there are.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// What a tenth, half, nine tenths and 99 of 100 do not exceed.
    pub at: [f64; 4],
    /// The greatest.
    pub greatest: f64,
}

impl Quantiles {
    /// The shares that `at` is given for.
    pub const SHARES: [f64; 4] = [0.1, 0.5, 0.9, 0.99];

    /// Sorts the values; between two of them quantiles are linear.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let (Some(&greatest), last) = (values.last(), values.len().saturating_sub(1)) else { return Self::default() };
        let at = Self::SHARES.map(|share| {
            let place = share * last as f64;
            let below = place.floor();
            let (a, b) = (values[below as usize], values[(below as usize + 1).min(last)]);
            a + (place - below) * (b - a)
        });
        Self { count: values.len(), mean: values.iter().sum::<f64>() / values.len() as f64, at, greatest }
    }
}

/// The contacts of a moment; forces are means over the last step, or its last sub-step, f = Λ/h.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Network {
    /// All contacts: glued, or pushing or pulling in the last step.
    pub contacts: usize,
    /// Those with γ < 0.
    pub glued: usize,
    /// Forces of those that push, f > 0.
    pub pushing: Quantiles,
    /// Forces of those that pull, −f > 0.
    pub pulling: Quantiles,
    /// −γ of those that are glued.
    pub glue: Quantiles,
}

impl Network {
    /// The table of its figures.
    #[must_use]
    pub fn figures(&self) -> [Figure; 7] {
        let share = |part| Quantity::Share { part, whole: self.contacts };
        [
            Figure {
                name: "push",
                key: "network.pushing.mean",
                about: "mean push",
                unit: "force",
                value: Quantity::Number(self.pushing.mean),
            },
            Figure {
                name: "maxpush",
                key: "network.pushing.greatest",
                about: "greatest push",
                unit: "force",
                value: Quantity::Number(self.pushing.greatest),
            },
            Figure {
                name: "maxpull",
                key: "network.pulling.greatest",
                about: "greatest pull",
                unit: "force",
                value: Quantity::Number(self.pulling.greatest),
            },
            Figure {
                name: "pulling",
                key: "network.pulling.count",
                about: "contacts that pull",
                unit: "share",
                value: share(self.pulling.count),
            },
            Figure {
                name: "glued",
                key: "network.glued",
                about: "contacts that are glued",
                unit: "share",
                value: share(self.glued),
            },
            Figure {
                name: "glue",
                key: "network.glue.mean",
                about: "mean −γ of those that are glued",
                unit: "R × momentum",
                value: Quantity::Number(self.glue.mean),
            },
            Figure {
                name: "maxglue",
                key: "network.glue.greatest",
                about: "greatest −γ",
                unit: "R × momentum",
                value: Quantity::Number(self.glue.greatest),
            },
        ]
    }

    /// Sums up contacts whose impulses are those of a step of length dt.
    #[must_use]
    pub fn of(contacts: &[ContactGeometry], dt: f64) -> Self {
        let forces = || contacts.iter().map(|geometry| geometry.contact.impulse / dt);
        let glue = contacts.iter().map(|geometry| -geometry.contact.gamma).filter(|glue| *glue > 0.0);
        let glue = Quantiles::of(glue.collect());
        Self {
            contacts: contacts.len(),
            glued: glue.count,
            pushing: Quantiles::of(forces().filter(|force| *force > 0.0).collect()),
            pulling: Quantiles::of(forces().map(|force| -force).filter(|force| *force > 0.0).collect()),
            glue,
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::contact::{Contact, Pair};

    #[test]
    fn quantiles_are_linear_between_values() {
        let eleven = Quantiles::of((0..=10).rev().map(f64::from).collect());
        assert_eq!((eleven.count, eleven.mean, eleven.greatest), (11, 5.0, 10.0));
        assert_eq!(eleven.at, [1.0, 5.0, 9.0, 9.9]);
        assert_eq!(Quantiles::of(vec![3.0]).at, [3.0; 4]);
        assert_eq!(Quantiles::of(Vec::new()), Quantiles::default());
    }

    #[test]
    fn pushes_pulls_and_glue_are_told_apart() {
        let contact = |(k, (impulse, gamma)): (u32, (f64, f64))| {
            let contact = Contact { pair: Pair::obstacle(k, 0, 0), gamma, impulse };
            ContactGeometry { contact, gap: 0.0, normal: DVec3::X }
        };
        let list = [(0.2, 0.0), (0.4, -1.0), (-0.1, -3.0), (0.0, -2.0)];
        let network = Network::of(&(0..).zip(list).map(contact).collect::<Vec<_>>(), 0.1);
        assert_eq!((network.contacts, network.glued), (4, 3));
        assert_eq!((network.pushing.count, network.pulling.count), (2, 1));
        assert!((network.pushing.mean - 3.0).abs() < 1e-12 && (network.pulling.greatest - 1.0).abs() < 1e-12);
        let told = |network: &Network, name: &str| {
            network.figures().iter().find(|figure| figure.name == name).unwrap().value.number()
        };
        assert_eq!(["glue", "maxglue", "glued"].map(|name| told(&network, name)), [2.0, 3.0, 0.75]);
        assert_eq!(Network::of(&[], 0.1), Network::default());
        assert_eq!(told(&Network::default(), "pulling"), 0.0);
    }
}
