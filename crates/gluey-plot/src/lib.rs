//! Plots for talks: a figure is a row of panels, drawn once and written as SVG, with text as text, and as PNG.
//!
//! Legends stand above the panels, where they hide no curve. Curves differ in lightness and in dash, so that a figure
//! can be read in grey. PNGs are rendered from the SVG with the font that is built in, the same on every machine.

mod axis;
mod draw;

/// A figure: panels side by side.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The heading.
    pub title: String,
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// A pair of axes with curves.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the first at the bottom.
    pub curves: Vec<Curve>,
    /// Words at points of the panel.
    pub notes: Vec<Note>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity and its unit.
    pub label: String,
    /// How values are spaced.
    pub scale: Scale,
    /// The first and last value; what the curves need if not given.
    pub range: Option<(f64, f64)>,
}

/// How values are spaced along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Logarithmic,
}

/// A curve, and its name in the legend; without a name it has no entry.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: Option<String>,
    /// Its points; those that the scale cannot show are left out.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub pen: Pen,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pen {
    /// Index into a list of colours that go from dark to light.
    pub colour: usize,
    /// Line or points.
    pub mark: Mark,
}

/// Line or points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A full line.
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// A broad, light line, for what others are compared with.
    Broad,
    /// Circles at the points.
    Circles,
    /// Crosses at the points.
    Crosses,
    /// Circles joined by a thin line.
    Joined,
}

/// Words at a point.
#[derive(Clone, Debug)]
pub struct Note {
    /// The point, in units of the axes.
    pub at: (f64, f64),
    /// The words.
    pub text: String,
    /// Where the words stand.
    pub side: Side,
}

/// Where the words of a note stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Right of the point.
    Right,
    /// Left of the point.
    Left,
    /// Above the point.
    Above,
    /// Below the point.
    Below,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// A panel without a point that can be shown.
    #[error("a plot has nothing to show along the axis `{axis}`")]
    Empty {
        /// The label of the axis.
        axis: String,
    },
    /// The drawing failed.
    #[error("cannot draw: {0}")]
    Drawing(String),
}

impl Axis {
    /// An evenly spaced axis that fits the curves.
    #[must_use]
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear, range: None }
    }

    /// A logarithmic axis that fits the curves.
    #[must_use]
    pub fn logarithmic(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Logarithmic, range: None }
    }

    /// The same from one value to another.
    #[must_use]
    pub fn within(self, from: f64, to: f64) -> Self {
        Self { range: Some((from, to)), ..self }
    }
}

impl Curve {
    /// A named curve.
    #[must_use]
    pub fn new(name: impl Into<String>, pen: Pen, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: Some(name.into()), points: points.into_iter().collect(), pen }
    }

    /// A curve without an entry in the legend.
    #[must_use]
    pub fn unnamed(pen: Pen, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: None, points: points.into_iter().collect(), pen }
    }
}

impl Figure {
    /// The figure as SVG, 1280 by 800.
    pub fn svg(&self) -> Result<String, PlotError> {
        draw::svg(self)
    }

    /// An SVG of this crate as PNG, pixel by pixel.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        draw::png(&self.svg()?)
    }
}
