//! A drag from a table: ln λ against ln q, by cubic Hermite polynomials through the points with slopes of the parabolas
//! through three neighbours.

use stokes::StokesError;

use crate::drag::NormalDrag;
use crate::error::FluidError;

/// Drags at gaps in between those given.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// ln(q/r), increasing.
    x: Vec<f64>,
    /// ln λ.
    y: Vec<f64>,
    /// d ln λ / d ln q.
    slope: Vec<f64>,
}

impl Table {
    /// From gaps (in radii, increasing) and the λ of each.
    pub fn new(gaps: &[f64], drags: &[f64]) -> Result<Self, FluidError> {
        if gaps.len() != drags.len() || gaps.len() < 3 {
            let (n, m) = (gaps.len(), drags.len());
            return Err(FluidError::Table(format!(
                "{n} gaps and {m} drags; it must have as many of each, at least three"
            )));
        }
        let good = |value: &&f64| !(value.is_finite() && **value > 0.0);
        if let Some(bad) = gaps.iter().chain(drags).find(good) {
            return Err(FluidError::Table(format!("{bad} is in it; gaps and drags are positive numbers")));
        }
        if let Some([before, after]) = gaps.array_windows().find(|[before, after]| after <= before) {
            return Err(FluidError::Table(format!("gap {after} stands after {before}; gaps must increase")));
        }
        let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
        let (x, y) = (logarithms(gaps), logarithms(drags));
        let rise = |k: usize| (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
        let last = x.len() - 1;
        let slope = (0..=last).map(|k| {
            // The parabola through k − 1, k and k + 1, or through the three at an end.
            let middle = k.clamp(1, last - 1);
            let (left, right) = (rise(middle - 1), rise(middle));
            let bend = (right - left) / (x[middle + 1] - x[middle - 1]);
            left + bend * (2.0 * x[k] - x[middle - 1] - x[middle])
        });
        let slope = slope.collect();
        Ok(Self { x, y, slope })
    }

    /// Of another drag at gaps between two, so many a decade.
    pub fn of(drag: &impl NormalDrag, [least, most]: [f64; 2], per_decade: u32) -> Result<Self, FluidError> {
        let count = ((most / least).log10() * f64::from(per_decade)).ceil().max(2.0) as u32;
        let gaps: Vec<f64> =
            (0..=count).map(|k| least * (most / least).powf(f64::from(k) / f64::from(count))).collect();
        let drags = gaps.iter().map(|gap| drag.drag(*gap)).collect::<Result<Vec<_>, _>>()?;
        Self::new(&gaps, &drags)
    }
}

impl NormalDrag for Table {
    fn drag(&self, gap: f64) -> Result<f64, StokesError> {
        if !(gap.is_finite() && gap > 0.0) {
            return Err(StokesError::NotPositive { name: "gap", value: gap });
        }
        let (at, last) = (gap.ln(), self.x.len() - 1);
        let slack = 1e-12 * (self.x[last] - self.x[0]);
        if at < self.x[0] - slack || at > self.x[last] + slack {
            let (least, most) = (self.x[0].exp(), self.x[last].exp());
            return Err(StokesError::OutOfRange { name: "gap", value: gap, least, most });
        }
        let k = self.x.partition_point(|x| *x <= at).clamp(1, last) - 1;
        let width = self.x[k + 1] - self.x[k];
        let t = ((at - self.x[k]) / width).clamp(0.0, 1.0);
        let (s, rest) = (t * t * (3.0 - 2.0 * t), t * (1.0 - t));
        let slopes = width * rest * ((1.0 - t) * self.slope[k] - t * self.slope[k + 1]);
        Ok((self.y[k] + s * (self.y[k + 1] - self.y[k]) + slopes).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drag::Brenner;

    #[test]
    fn a_table_is_as_good_as_what_it_was_made_of() {
        let table = Table::of(&Brenner, [1e-4, 10.0], 40).unwrap();
        for k in 0..200 {
            let gap = 1e-4 * 1e5_f64.powf(f64::from(k) / 199.0);
            let (there, exact) = (table.drag(gap).unwrap(), Brenner.drag(gap).unwrap());
            assert!((there / exact - 1.0).abs() < 2e-7, "{gap}: {there} {exact}");
        }
    }

    #[test]
    fn a_power_is_exact() {
        let table = Table::new(&[0.1, 0.3, 2.0, 7.0], &[0.1_f64, 0.3, 2.0, 7.0].map(|q| 3.0 * q.powf(-1.5))).unwrap();
        assert!((table.drag(1.1).unwrap() - 3.0 * 1.1_f64.powf(-1.5)).abs() < 1e-14);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let refused = |gaps: &[f64], drags: &[f64]| Table::new(gaps, drags).unwrap_err().to_string();
        assert!(refused(&[1.0, 2.0], &[1.0, 2.0]).contains("at least three"));
        assert!(refused(&[1.0, 2.0, 3.0], &[1.0, 2.0]).contains("3 gaps and 2 drags"));
        assert!(refused(&[1.0, 3.0, 2.0], &[1.0; 3]).contains("gap 2 stands after 3"));
        assert!(refused(&[0.0, 1.0, 2.0], &[1.0; 3]).contains("positive"));
        let table = Table::new(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]).unwrap();
        assert_eq!(
            table.drag(0.5),
            Err(StokesError::OutOfRange { name: "gap", value: 0.5, least: 1.0, most: 3.0_f64.ln().exp() })
        );
        assert!(table.drag(-1.0).is_err() && table.drag(f64::NAN).is_err());
    }
}
