//! Axes: which values they show, where, and how these are written.

use crate::{Axis, Curve, PlotError, Scale};

/// An axis with its range: values to fractions of its length.
pub(crate) struct Ruler {
    scale: Scale,
    from: f64,
    to: f64,
}

/// Room beyond the outermost points, as a fraction of what they span.
const MARGIN: f64 = 0.04;

impl Ruler {
    /// The axis' own range, or one that holds the given coordinate of all points that can be shown.
    pub(crate) fn new(axis: &Axis, curves: &[Curve], coordinate: fn(&(f64, f64)) -> f64) -> Result<Self, PlotError> {
        let shown = |value: f64| value.is_finite() && (axis.scale == Scale::Linear || value > 0.0);
        let place = |value: f64| if axis.scale == Scale::Linear { value } else { value.log10() };
        let (from, to) = if let Some((from, to)) = axis.range.filter(|range| shown(range.0) && shown(range.1)) {
            (place(from), place(to))
        } else {
            let points = curves.iter().flat_map(|curve| &curve.points);
            let values = points.map(coordinate).filter(|value| shown(*value)).map(place);
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
            let margin = MARGIN * (high - low);
            (low - margin, high + margin)
        };
        if !(from.is_finite() && to.is_finite()) {
            return Err(PlotError::Empty { axis: axis.label.clone() });
        }
        // A single value gets a range of its own.
        let (from, to) = if to > from { (from, to) } else { (from - 0.5, to + 0.5) };
        Ok(Self { scale: axis.scale, from, to })
    }

    /// Where a value lies: 0 at the start of the axis, 1 at its end; None where the scale cannot show it.
    pub(crate) fn fraction(&self, value: f64) -> Option<f64> {
        let place = if self.scale == Scale::Linear { value } else { value.log10() };
        place.is_finite().then(|| (place - self.from) / (self.to - self.from))
    }

    /// Values with a line, and what is written there.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => self.even_ticks(),
            Scale::Logarithmic => self.decades(),
        }
    }

    fn even_ticks(&self) -> Vec<(f64, String)> {
        let rough = (self.to - self.from) / 6.0;
        let decade = 10.0_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * decade).into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let (first, last) = ((self.from / step - 1e-9).ceil() as i64, (self.to / step + 1e-9).floor() as i64);
        let written = |value: f64| format!("{:.digits$}", value + 0.0).replace('-', "−");
        (first..=last).map(|k| k as f64 * step).map(|value| (value, written(value))).collect()
    }

    fn decades(&self) -> Vec<(f64, String)> {
        let (first, last) = ((self.from - 1e-9).ceil() as i32, (self.to + 1e-9).floor() as i32);
        let every = ((last - first) / 8 + 1).max(1);
        let marks = (first..=last).filter(|k| (k - first) % every == 0);
        marks.map(|k| (10.0_f64.powi(k), format!("10{}", superscript(k)))).collect()
    }
}

fn superscript(number: i32) -> String {
    let raised = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => char::from_u32('⁰' as u32 + other.to_digit(10).unwrap_or(0)).unwrap_or(other),
    };
    number.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(scale: Scale, from: f64, to: f64) -> Ruler {
        let axis = Axis { label: "x".to_owned(), scale, range: Some((from, to)) };
        Ruler::new(&axis, &[], |point| point.0).expect("a range")
    }

    fn written(ruler: &Ruler) -> Vec<String> {
        ruler.ticks().into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(written(&ruler(Scale::Linear, 0.0, 6.0)), ["0", "1", "2", "3", "4", "5", "6"]);
        assert_eq!(written(&ruler(Scale::Linear, -0.25, 0.3)), ["−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(written(&ruler(Scale::Logarithmic, 1e-12, 1e-9)), ["10⁻¹²", "10⁻¹¹", "10⁻¹⁰", "10⁻⁹"]);
    }

    #[test]
    fn values_lie_where_their_scale_puts_them() {
        assert_eq!(ruler(Scale::Linear, 2.0, 4.0).fraction(3.0), Some(0.5));
        assert_eq!(ruler(Scale::Logarithmic, 1.0, 100.0).fraction(10.0), Some(0.5));
        assert_eq!(ruler(Scale::Logarithmic, 1.0, 100.0).fraction(0.0), None);
    }

    #[test]
    fn nothing_to_show_is_an_error() {
        let axis = Axis::logarithmic("error");
        assert!(matches!(Ruler::new(&axis, &[], |point| point.0), Err(PlotError::Empty { .. })));
    }
}
