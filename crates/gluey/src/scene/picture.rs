//! How pictures of a run are drawn, as far as its scene says. Nothing here changes what is computed.

use std::str::FromStr;

use glam::DVec3;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::colour_by::ColourBy;
use super::diagnostics::Problem;
use super::tree::Place;
use super::value::{Colour, Finite, Positive, Vector};

/// Sides of a picture in pixels: less shows nothing, more fits in no memory.
const SIDES: std::ops::RangeInclusive<u32> = 16..=8192;

/// Defaults of `gluey render`, each of which an option replaces.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PictureFile {
    /// Width and height in pixels (default 1280 by 720).
    pub size: Option<Size>,
    /// Colour of the background (default a light grey).
    pub background: Option<Colour>,
    /// What the colour of a particle tells (default its group).
    pub colour: Option<ColourBy>,
    /// Least and greatest value of the colours (default: those of the frames drawn).
    pub range: Option<Range>,
    /// Contacts as tubes between the particles, the darker the more glued (default false).
    pub contacts: Option<bool>,
    /// The glue −γ that is drawn black (default: what a fiftieth of the contacts of the frames drawn exceed).
    pub gamma_scale: Option<Positive>,
    /// How obstacles are drawn.
    pub obstacles: Option<ObstacleStyle>,
    /// Radius of the spheres drawn, relative to the true one (default 1, and 0.5 in 3D where contacts are drawn).
    pub scale: Option<Positive>,
    /// From where a 3D scene is seen: the direction from the scene to the eye.
    pub camera: Option<Vector>,
    /// The direction that points up in a picture of a 3D scene (default z).
    pub up: Option<Vector>,
    /// The point in the middle of the picture (default: the middle of all that is drawn).
    pub look_at: Option<Vector>,
    /// Magnification: at 1 (default) all that is drawn fits.
    pub zoom: Option<Positive>,
    /// Frames a second of animations (default 25).
    pub fps: Option<Positive>,
}

/// Width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "[u32; 2]")]
pub struct Size(pub [u32; 2]);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let [width, height] = <[i64; 2]>::deserialize(from)?;
        let side = |pixels: i64| u32::try_from(pixels).ok().filter(|pixels| SIDES.contains(pixels));
        match (side(width), side(height)) {
            (Some(width), Some(height)) => Ok(Self([width, height])),
            _ => Err(D::Error::custom(format!(
                "the sides of a picture have {} to {} pixels, not {width} and {height}",
                SIDES.start(),
                SIDES.end()
            ))),
        }
    }
}

impl FromStr for Size {
    type Err = String;

    /// As options say it: `1280x720`.
    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| text.trim().parse().ok().filter(|pixels| SIDES.contains(pixels));
        match text.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?])) {
            Some(size) => Ok(Self(size)),
            None => {
                Err(format!("write WIDTHxHEIGHT, as in 1280x720, each {} to {} pixels", SIDES.start(), SIDES.end()))
            }
        }
    }
}

/// Least and greatest.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(with = "[f64; 2]")]
pub struct Range(pub [f64; 2]);

impl Range {
    fn checked(least: f64, greatest: f64) -> Result<Self, String> {
        if least < greatest {
            Ok(Self([least, greatest]))
        } else {
            Err(format!("the lesser comes first: [least, greatest], not [{least}, {greatest}]"))
        }
    }
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let [least, greatest] = <[Finite; 2]>::deserialize(from)?;
        Self::checked(least.0, greatest.0).map_err(D::Error::custom)
    }
}

impl FromStr for Range {
    type Err = String;

    /// As options say it: `0,2.5`.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        match text.split_once(',').and_then(|(least, greatest)| Some((number(least)?, number(greatest)?))) {
            Some((least, greatest)) => Self::checked(least, greatest),
            None => Err("write LEAST,GREATEST, as in 0,2.5".to_owned()),
        }
    }
}

/// How obstacles are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleStyle {
    /// Surfaces, in 3D such that particles behind them are seen.
    #[default]
    Surfaces,
    /// Edges alone.
    Edges,
    /// Not at all.
    Hidden,
}

/// What a scene says about its pictures; what it does not say is for the renderer to choose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: Option<[u32; 2]>,
    /// Colour of the background, as red, green, blue.
    pub background: Option<[u8; 3]>,
    /// What the colour of a particle tells.
    pub colour: Option<ColourBy>,
    /// Least and greatest value of the colours, in the unit of what they tell.
    pub range: Option<[f64; 2]>,
    /// Whether contacts are drawn.
    pub contacts: Option<bool>,
    /// The glue −γ > 0 that is drawn black.
    pub gamma_scale: Option<f64>,
    /// How obstacles are drawn.
    pub obstacles: Option<ObstacleStyle>,
    /// Radius of the spheres drawn, relative to the true one.
    pub scale: Option<f64>,
    /// Direction from the scene to the eye; only in 3D.
    pub camera: Option<DVec3>,
    /// Direction that points up in the picture; only in 3D.
    pub up: Option<DVec3>,
    /// The point in the middle (length).
    pub look_at: Option<DVec3>,
    /// Magnification > 0.
    pub zoom: Option<f64>,
    /// Frames a second.
    pub fps: Option<f64>,
}

impl Picture {
    /// What this says, and where it says nothing what the other does.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self {
            size: self.size.or(other.size),
            background: self.background.or(other.background),
            colour: self.colour.or(other.colour),
            // A range belongs to what it is of.
            range: self.range.or(other.range.filter(|_| self.colour.is_none() || self.colour == other.colour)),
            contacts: self.contacts.or(other.contacts),
            gamma_scale: self.gamma_scale.or(other.gamma_scale),
            obstacles: self.obstacles.or(other.obstacles),
            scale: self.scale.or(other.scale),
            camera: self.camera.or(other.camera),
            up: self.up.or(other.up),
            look_at: self.look_at.or(other.look_at),
            zoom: self.zoom.or(other.zoom),
            fps: self.fps.or(other.fps),
        }
    }
}

impl PictureFile {
    /// Checks what depends on the dimension of the scene.
    pub(super) fn build(&self, dimension: usize, place: &Place, problems: &mut Vec<Problem>) -> Picture {
        let mut keep = |result: Result<DVec3, Problem>| result.map_err(|problem| problems.push(problem)).ok();
        let mut direction = |key: &str, vector: &Option<Vector>| {
            let vector = vector.as_ref()?;
            keep(if dimension == 2 {
                let problem = place.key(key).problem(format!("`{key}` is for 3D scenes"));
                Err(problem.help("a 2D scene is seen from the front; `look_at` and `zoom` choose the part"))
            } else if vector.as_direction() == DVec3::ZERO {
                Err(Problem::at(vector.span.clone(), "a direction has a length"))
            } else {
                vector.in_dimension(dimension).map_err(|message| Problem::at(vector.span.clone(), message))
            })
        };
        let (camera, up) = (direction("camera", &self.camera), direction("up", &self.up));
        let look_at = self.look_at.as_ref().and_then(|vector| {
            keep(vector.in_dimension(dimension).map_err(|message| Problem::at(vector.span.clone(), message)))
        });
        Picture {
            size: self.size.map(|size| size.0),
            background: self.background.map(|colour| colour.0),
            colour: self.colour,
            range: self.range.map(|range| range.0),
            contacts: self.contacts,
            gamma_scale: self.gamma_scale.map(|scale| scale.0),
            obstacles: self.obstacles,
            scale: self.scale.map(|scale| scale.0),
            camera,
            up,
            look_at,
            zoom: self.zoom.map(|zoom| zoom.0),
            fps: self.fps.map(|fps| fps.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_colours_are_those_of_scenes() {
        for choice in ColourBy::ALL {
            assert_eq!(choice.name().parse(), Ok(choice));
            let toml: PictureFile = toml::from_str(&format!("colour = '{choice}'")).unwrap();
            assert_eq!(toml.colour, Some(choice));
        }
    }

    #[test]
    fn sizes_and_ranges_are_checked() {
        assert_eq!("640x480".parse(), Ok(Size([640, 480])));
        for bad in ["640", "640x", "0x480", "640x99999", "-1x1", "axb"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
        assert_eq!("-1, 2.5".parse(), Ok(Range([-1.0, 2.5])));
        for bad in ["1", "2,1", "1,1", "0,inf", "nan,1"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
    }
}
