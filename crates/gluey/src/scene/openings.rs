//! Inlets and outlets as they are written, and what is made of them.

use glam::DVec3;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::build::{check_name, expression, unknown};
use super::diagnostics::Problem;
use super::file::{BallFile, CornersFile, SceneFile, end_of_choice};
use super::shapes::HalfSpaceFile;
use super::tree::Place;
use super::value::{Bound, Finite, Name, NotNegative, Positive, Radii, Vector, shown};
use crate::environment::{Dimension, SIGNAL_VARIABLES, Signal, Table};
use crate::geometry::{Obstacle, Placed};
use crate::openings::{Inlet, Openings, Outlet, Region, Weight};

/// Random places tried in an inlet before it is told to be blocked.
const TRIES: u64 = 20_000;

/// Where particles come in while the run goes on: at random in a region, without overlap.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InletFile {
    /// What summaries call it; inlet0, inlet1, … if left out.
    pub name: Option<Name>,
    /// An upright box in which they appear, whole.
    #[serde(rename = "box")]
    pub corners: Option<CornersFile>,
    /// Or a ball (a disc in 2D).
    pub ball: Option<BallFile>,
    /// How many a time: a number, or one that changes in time.
    pub rate: RateFile,
    /// Radius, or [least, greatest] of a uniform distribution.
    pub radius: Radii,
    /// Mass of each.
    pub mass: Option<Positive>,
    /// Or their density, for the mass of a sphere, in 2D of a disc of unit thickness.
    pub density: Option<Positive>,
    /// Their group; the first one declared if left out.
    pub group: Option<Name>,
    /// Velocity with which they come in (default 0).
    pub velocity: Option<Vector>,
    /// When it opens (default 0).
    pub from: Option<NotNegative>,
    /// When it closes (default: never).
    pub until: Option<Positive>,
    /// Most particles in all.
    pub limit: Option<std::num::NonZeroU64>,
}

/// Where particles leave the run: those whose centre is in the region after a step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutletFile {
    /// What summaries call it; outlet0, outlet1, … if left out.
    pub name: Option<Name>,
    /// An upright box; `inf` and `-inf` are allowed.
    #[serde(rename = "box")]
    pub corners: Option<BoundsFile>,
    /// Or a ball (a disc in 2D).
    pub ball: Option<BallFile>,
    /// Or all that lies behind a plane; the normal points to where particles stay.
    #[serde(rename = "half-space")]
    pub half_space: Option<HalfSpaceFile>,
    /// Groups it takes; all if left out.
    pub groups: Option<Vec<Name>>,
    /// When it opens (default 0).
    pub from: Option<NotNegative>,
    /// When it closes (default: never).
    pub until: Option<Positive>,
}

/// An upright box that may reach to infinity.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundsFile {
    /// Least corner; components may be -inf.
    pub lower: Bound,
    /// Greatest corner; components may be inf.
    pub upper: Bound,
}

/// A rate: a number, or a table with one of the keys `steps`, `linear`, `expression`.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum RateFile {
    /// The same at all times.
    Constant(NotNegative),
    /// Changing in time.
    Changing(ChangingRate),
}

/// A rate that changes in time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangingRate {
    /// Each value holds until the next time.
    Steps(RatesFile),
    /// Linear between the times.
    Linear(RatesFile),
    /// An expression of t.
    Expression(Name),
}

/// Rates at times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RatesFile {
    /// Increasing times.
    pub times: Vec<Finite>,
    /// One rate a time.
    pub values: Vec<NotNegative>,
}

impl<'de> Deserialize<'de> for RateFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NumberOrTable;
        impl<'de> Visitor<'de> for NumberOrTable {
            type Value = RateFile;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a number, or a table with `steps`, `linear` or `expression`")
            }

            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<RateFile, E> {
                let number = serde::de::value::F64Deserializer::new(value);
                NotNegative::deserialize(number).map(RateFile::Constant)
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<RateFile, E> {
                self.visit_f64(value as f64)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RateFile, A::Error> {
                let rate = ChangingRate::deserialize(MapAccessDeserializer::new(&mut map))?;
                end_of_choice(map).map(|()| RateFile::Changing(rate))
            }
        }
        from.deserialize_any(NumberOrTable)
    }
}

/// What openings are made from.
pub(super) struct Doors<'a> {
    pub dimension: usize,
    pub seed: u64,
    /// Names of the groups.
    pub groups: &'a [String],
    pub obstacles: &'a [Obstacle],
    /// The file.
    pub root: &'a Place<'a>,
}

impl Doors<'_> {
    /// The openings of a file.
    pub(super) fn openings(&self, file: &SceneFile, problems: &mut Vec<Problem>) -> Openings {
        let mut openings = Openings { seed: self.seed, dimension: self.space(), ..Openings::default() };
        let mut names: Vec<String> = Vec::new();
        let mut named = |kind: &str, name: &Option<Name>, index: usize, problems: &mut Vec<Problem>| {
            if let Some(name) = name {
                check_name(name, problems);
            }
            let text = name.as_ref().map_or_else(|| format!("{kind}{index}"), |name| name.text.clone());
            if names.contains(&text) {
                let place = self.root.key(kind).index(index).key("name");
                problems.push(place.problem(format!("a second opening `{text}`")));
            }
            names.push(text.clone());
            text
        };
        for (index, inlet) in file.inlets.iter().enumerate() {
            let name = named("inlet", &inlet.name, index, problems);
            match self.inlet(inlet, name, &self.root.key("inlet").index(index)) {
                Ok(inlet) => openings.inlets.push(inlet),
                Err(problem) => problems.push(problem),
            }
        }
        for (index, outlet) in file.outlets.iter().enumerate() {
            let name = named("outlet", &outlet.name, index, problems);
            match self.outlet(outlet, name, &self.root.key("outlet").index(index)) {
                Ok(outlet) => openings.outlets.push(outlet),
                Err(problem) => problems.push(problem),
            }
        }
        openings
    }

    fn inlet(&self, file: &InletFile, name: String, place: &Place) -> Result<Inlet, Problem> {
        let region = match (&file.corners, &file.ball) {
            (Some(corners), None) => self.region_between(&corners.lower, &corners.upper)?,
            (None, Some(ball)) => self.ball(ball)?,
            _ => return Err(place.problem("an inlet needs a `box` or a `ball`, one of them")),
        };
        let weight = match (file.mass, file.density) {
            (Some(mass), None) => Weight::Mass(mass.0),
            (None, Some(density)) => Weight::Density(density.0),
            _ => return Err(place.problem("the particles of an inlet need `mass` or `density`, one of them")),
        };
        let (from, until) = interval(file.from, file.until, place)?;
        let inlet = Inlet {
            name,
            region,
            rate: rate(&file.rate, &place.key("rate"))?,
            from,
            until,
            limit: file.limit.map_or(u64::MAX, std::num::NonZeroU64::get),
            radii: [file.radius.least, file.radius.greatest],
            weight,
            group: file.group.as_ref().map_or(Ok(0), |group| self.group(group))?,
            velocity: file.velocity.as_ref().map(|v| self.vector(v)).transpose()?.unwrap_or_default(),
        };
        let shape = if file.ball.is_some() { "ball" } else { "box" };
        self.check_inlet(&inlet, place, &place.key(shape))?;
        Ok(inlet)
    }

    /// Whether particles can come in at all.
    fn check_inlet(&self, inlet: &Inlet, place: &Place, region: &Place) -> Result<(), Problem> {
        let [least, greatest] = inlet.radii;
        let space = self.space();
        if !inlet.region.holds(greatest, space.directions()) {
            let message = format!("a particle of radius {} does not fit into this region", shown(greatest));
            return Err(region.problem(message).help("particles come in whole: enlarge it, or reduce `radius`"));
        }
        let mass = inlet.mass(least, space).min(inlet.mass(greatest, space));
        if !(mass > 0.0 && inlet.mass(greatest, space).is_finite()) {
            let message = format!("a particle of this inlet has a mass of {} with this density", shown(mass));
            return Err(place.key("density").problem(message).help("masses must be positive and finite"));
        }
        let obstacles: Vec<Placed> = self.obstacles.iter().map(|obstacle| obstacle.at(inlet.from)).collect();
        if !inlet.has_room_between(&obstacles, space, TRIES) {
            let message = format!("the obstacles leave no room in this region at t = {}", shown(inlet.from));
            return Err(region
                .problem(message)
                .help("move it to where particles can be, or let it open later (`from`)"));
        }
        Ok(())
    }

    fn outlet(&self, file: &OutletFile, name: String, place: &Place) -> Result<Outlet, Problem> {
        let region = match (&file.corners, &file.ball, &file.half_space) {
            (Some(corners), None, None) => self.region_between(&corners.lower, &corners.upper)?,
            (None, Some(ball), None) => self.ball(ball)?,
            (None, None, Some(behind)) => {
                let (point, normal) = (self.vector(&behind.point)?, self.vector(&behind.normal)?);
                let normal = normal.try_normalize().ok_or_else(|| {
                    Problem::at(behind.normal.span.clone(), "a normal needs a direction: it must not be 0")
                })?;
                Region::HalfSpace { point, normal }
            }
            _ => return Err(place.problem("an outlet needs a `box`, a `ball` or a `half-space`, one of them")),
        };
        let (from, until) = interval(file.from, file.until, place)?;
        let groups = file.groups.as_ref().map(|names| names.iter().map(|name| self.group(name)).collect());
        Ok(Outlet { name, region, groups: groups.transpose()?, from, until })
    }

    fn region_between(&self, lower: &Vector, upper: &Vector) -> Result<Region, Problem> {
        let span = upper.span.clone();
        let (lower, upper) = (self.vector(lower)?, self.vector(upper)?);
        let size = upper - lower;
        if size.x > 0.0 && size.y > 0.0 && (self.dimension == 2 || size.z > 0.0) {
            return Ok(Region::Box { lower, upper });
        }
        Err(Problem::at(span, "this box is empty").help("each component of `upper` must exceed that of `lower`"))
    }

    fn ball(&self, file: &BallFile) -> Result<Region, Problem> {
        Ok(Region::Ball { centre: self.vector(&file.centre)?, radius: file.radius.0 })
    }

    fn group(&self, name: &Name) -> Result<u32, Problem> {
        let found = self.groups.iter().position(|group| *group == name.text).map(|index| index as u32);
        found.ok_or_else(|| unknown("group", name, self.groups.iter().map(String::as_str)))
    }

    fn vector(&self, vector: &Vector) -> Result<DVec3, Problem> {
        vector.in_dimension(self.dimension).map_err(|message| Problem::at(vector.span.clone(), message))
    }

    fn space(&self) -> Dimension {
        if self.dimension == 2 { Dimension::Two } else { Dimension::Three }
    }
}

/// When an opening opens and closes.
fn interval(from: Option<NotNegative>, until: Option<Positive>, place: &Place) -> Result<(f64, f64), Problem> {
    let (from, until) = (from.map_or(0.0, |from| from.0), until.map_or(f64::INFINITY, |until| until.0));
    if from < until {
        return Ok((from, until));
    }
    Err(place.key("until").problem(format!("it closes at {}, before it opens at {}", shown(until), shown(from))))
}

fn rate(file: &RateFile, place: &Place) -> Result<Signal, Problem> {
    let table = |file: &RatesFile, place: &Place| {
        let times = file.times.iter().map(|time| time.0).collect();
        let values = file.values.iter().map(|value| value.0).collect();
        Table::new(times, values).map_err(|error| place.key("times").problem(error.to_string()))
    };
    match file {
        RateFile::Constant(rate) => Ok(Signal::Constant(rate.0)),
        RateFile::Changing(ChangingRate::Steps(file)) => table(file, &place.key("steps")).map(Signal::Steps),
        RateFile::Changing(ChangingRate::Linear(file)) => table(file, &place.key("linear")).map(Signal::Linear),
        RateFile::Changing(ChangingRate::Expression(text)) => {
            expression(text, &place.key("expression"), &SIGNAL_VARIABLES).map(Signal::Expression)
        }
    }
}
