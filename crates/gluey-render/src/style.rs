//! How a picture looks.

use gluey::scene::{ColourBy, ObstacleStyle};
use gluey::trajectory::Group;

use crate::colour::{Rgb, mix};

/// What stands around the particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Furniture {
    /// The time and the legends.
    All,
    /// The time alone.
    Time,
    /// Nothing: for pictures that are put together, and have both in common.
    Bare,
}

/// How a picture looks, apart from where it is seen from.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// 2 (discs) or 3 (spheres).
    pub dimension: usize,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Colour of the background.
    pub background: [u8; 3],
    /// What the colour of a particle tells.
    pub colour: ColourBy,
    /// The values that have the first and the last colour.
    pub range: [f64; 2],
    /// Names and colours of the groups.
    pub groups: Vec<Group>,
    /// The glue −γ that is drawn black; none where contacts are not drawn.
    pub glue: Option<f64>,
    /// How obstacles are drawn.
    pub obstacles: ObstacleStyle,
    /// Radius of particles as drawn, relative to the true one.
    pub scale: f64,
    /// What stands around the particles.
    pub furniture: Furniture,
}

/// Colour of the background where nobody says.
pub(crate) const BACKGROUND: [u8; 3] = [248, 248, 247];
/// How much paler discs are where contacts are drawn on them.
const PALE: f32 = 0.62;
/// Lines of text that a picture would have room for.
const LINES: f32 = 36.0;
/// Text smaller than this cannot be read.
const LEAST_TEXT: f32 = 9.0;

impl Style {
    /// Particles in the colours of their groups, of which none is known yet; no contacts; the time, and legends.
    #[must_use]
    pub fn new(dimension: usize, size: [u32; 2]) -> Self {
        Self {
            dimension,
            size,
            background: BACKGROUND,
            colour: ColourBy::Group,
            range: [0.0, 1.0],
            groups: Vec::new(),
            glue: None,
            obstacles: ObstacleStyle::Surfaces,
            scale: 1.0,
            furniture: Furniture::All,
        }
    }

    /// The colour in which a particle is drawn: paler where contacts are drawn on a disc.
    pub(crate) fn shown(&self, colour: Rgb) -> Rgb {
        if self.dimension == 2 && self.glue.is_some() { mix(colour, [1.0; 3], PALE) } else { colour }
    }

    /// Height of text in pixels.
    pub(crate) fn text_size(&self) -> f32 {
        (self.size[0].min(self.size[1]) as f32 / LINES).max(LEAST_TEXT).round()
    }

    /// Width of lines in pixels, of a picture of this size.
    pub(crate) fn line_width(&self) -> f32 {
        (self.size[0].min(self.size[1]) as f32 / 720.0).clamp(0.5, 8.0)
    }
}

/// An upright rectangle of the picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn centre(&self) -> [f64; 2] {
        [0.5 * (self.left + self.right), 0.5 * (self.top + self.bottom)]
    }
}
