//! Distributions of radii.

use std::str::FromStr;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::geometry::volume;

/// Most particles of a packing: beyond, the box is surely a mistake.
pub const MOST: usize = 100_000_000;
/// Sets the draws of radii apart from those of centres, which have the same seed.
const STREAM: u64 = 0x5851_F42D_4C95_7F2D;

fn generator(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed ^ STREAM)
}

/// A distribution of radii.
#[derive(Clone, Debug, PartialEq)]
pub enum Radii {
    /// Evenly between the least and the greatest (length).
    Between(f64, f64),
    /// The logarithm is normally distributed.
    LogNormal {
        /// Half of all are smaller (length).
        median: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Radii (length) and their weights.
    Listed(Vec<(f64, f64)>),
}

/// As users write it: `0.1`, `0.1..0.2`, `lognormal:MEDIAN,SIGMA` or `0.1:3,0.2:1`.
impl FromStr for Radii {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
            _ => Err(format!("`{}` is no number > 0", text.trim())),
        };
        if let Some(rest) = text.strip_prefix("lognormal:") {
            let (median, sigma) = rest.split_once(',').ok_or("write `lognormal:MEDIAN,SIGMA`")?;
            return Ok(Self::LogNormal { median: number(median)?, sigma: number(sigma)? });
        }
        if let Some((least, greatest)) = text.split_once("..") {
            let (least, greatest) = (number(least)?, number(greatest)?);
            return if least <= greatest {
                Ok(Self::Between(least, greatest))
            } else {
                Err(format!("{least} is greater than {greatest}"))
            };
        }
        if text.contains(':') {
            let one = |pair: &str| {
                let (radius, weight) = pair.split_once(':').ok_or(format!("`{pair}` is not RADIUS:WEIGHT"))?;
                Ok((number(radius)?, number(weight)?))
            };
            return Ok(Self::Listed(text.split(',').map(one).collect::<Result<_, String>>()?));
        }
        number(text).map(|radius| Self::Between(radius, radius))
    }
}

impl Radii {
    /// So many radii (length).
    #[must_use]
    pub fn draw(&self, count: usize, seed: u64) -> Vec<f64> {
        let mut random = generator(seed);
        (0..count).map(|_| self.one(&mut random)).collect()
    }

    /// As many radii as fill a volume (in 2D an area) as nearly as can be; none where these would be more than
    /// [`MOST`].
    #[must_use]
    pub fn filling(&self, asked: f64, dimension: usize, seed: u64) -> Option<Vec<f64>> {
        let (mut random, mut radii, mut filled) = (generator(seed), Vec::new(), 0.0);
        while filled < asked {
            if radii.len() == MOST {
                return None;
            }
            radii.push(self.one(&mut random));
            filled += radii.last().map_or(0.0, |radius| volume(*radius, dimension));
        }
        let last = radii.last().map_or(0.0, |radius| volume(*radius, dimension));
        if filled - asked > 0.5 * last && radii.len() > 1 {
            radii.pop();
        }
        Some(radii)
    }

    fn one(&self, random: &mut Pcg64Mcg) -> f64 {
        match self {
            Self::Between(least, greatest) => least + (greatest - least) * random.random::<f64>(),
            Self::LogNormal { median, sigma } => {
                // Box and Muller's normal deviate; 1 − u is never 0.
                let (u, v) = (1.0 - random.random::<f64>(), random.random::<f64>());
                median * (sigma * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()).exp()
            }
            Self::Listed(list) => {
                let mut left = random.random::<f64>() * list.iter().map(|(_, weight)| weight).sum::<f64>();
                let found = list.iter().find(|(_, weight)| {
                    left -= weight;
                    left < 0.0
                });
                found.or(list.last()).map_or(1.0, |(radius, _)| *radius)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read_and_drawn() {
        let mean = |text: &str, of: fn(f64) -> f64| {
            let radii: Radii = text.parse().unwrap();
            radii.draw(20_000, 1).into_iter().map(of).sum::<f64>() / 20_000.0
        };
        assert!((mean("0.25", |r| r) - 0.25).abs() < 1e-12);
        assert!((mean("1..3", |r| r) - 2.0).abs() < 0.02);
        assert!((mean("1:3,2:1", |r| r) - 1.25).abs() < 0.02);
        assert!(mean("lognormal:2,0.5", |r| (r / 2.0).ln()).abs() < 0.02);
        assert!((mean("lognormal:2,0.5", |r| (r / 2.0).ln().powi(2)) - 0.25).abs() < 0.02);
        for bad in ["", "-1", "2..1", "1:0", "1:2,3", "lognormal:1", "nan", "0..1"] {
            assert!(bad.parse::<Radii>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_volume_is_filled_to_within_half_a_particle() {
        let radii: Radii = "0.1..0.3".parse().unwrap();
        for dimension in [2, 3] {
            let found = radii.filling(10.0, dimension, 4).unwrap();
            let filled: f64 = found.iter().map(|r| volume(*r, dimension)).sum();
            assert!((filled - 10.0).abs() <= 0.5 * volume(0.3, dimension), "{filled}");
        }
    }
}
