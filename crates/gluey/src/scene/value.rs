//! Checked values of a scene file: each is parsed once, and its error points at the value.

use std::borrow::Cow;
use std::ops::Range;

use glam::DVec3;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use toml::Spanned;

/// Reads a number and says what is wrong with it.
fn number<'de, D: Deserializer<'de>>(from: D, allowed: fn(f64) -> bool, right: &str) -> Result<f64, D::Error> {
    let value = f64::deserialize(from)?;
    if allowed(value) {
        Ok(value)
    } else {
        Err(D::Error::custom(format!("{} is not allowed here: {right}", shown(value))))
    }
}

/// Numbers beyond this, and positive ones below its inverse, are refused: their squares and cubes would overflow.
const GREATEST: f64 = 1e100;

pub(super) fn usable(value: f64) -> bool {
    value.abs() <= GREATEST
}

/// A number as one would write it.
pub(super) fn shown(value: f64) -> String {
    let ordinary = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if ordinary { value.to_string() } else { format!("{value:e}") }
}

macro_rules! checked_number {
    ($(#[$doc:meta])* $name:ident, $allowed:expr, $right:literal, $schema:tt) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub f64);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                number(from, $allowed, $right).map(Self)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

checked_number! {
    /// A number > 0.
    Positive, |v| usable(v) && v >= GREATEST.recip(), "it must be positive and finite, from 1e-100 to 1e100", { "type": "number", "exclusiveMinimum": 0 }
}
checked_number! {
    /// A number ≥ 0.
    NotNegative, |v| usable(v) && v >= 0.0, "it must be from 0 to 1e100", { "type": "number", "minimum": 0 }
}
checked_number! {
    /// Any number but NaN, the infinities and what comes near them.
    Finite, usable, "it must be finite, at most 1e100", { "type": "number" }
}
checked_number! {
    /// A roughness threshold γ_min, −inf included.
    GammaMin, |v| v <= 0.0, "gamma_min must be at most 0 (0 is dry, -inf is smooth)", { "type": "number", "maximum": 0 }
}
checked_number! {
    /// A share between 0 and 1.
    Share, |v| (0.0..=1.0).contains(&v), "it must be between 0 and 1", { "type": "number", "minimum": 0, "maximum": 1 }
}
checked_number! {
    /// A solid fraction: from 0 to below 1.
    Dilution, |v| (0.0..1.0).contains(&v), "a solid fraction is at least 0 and less than 1", { "type": "number", "minimum": 0, "exclusiveMaximum": 1 }
}
checked_number! {
    /// A range of at least 3 radii.
    Reach, |v| usable(v) && v >= 3.0, "it must be at least 3 (two particles that touch are 2 radii apart) and finite", { "type": "number", "minimum": 3 }
}

/// Two or three finite numbers, and where they stand in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    values: Vec<f64>,
    /// Bytes of the file.
    pub span: Range<usize>,
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let values = Spanned::<Vec<f64>>::deserialize(from)?;
        let span = values.span();
        Self::checked(values.into_inner(), span).map_err(D::Error::custom)
    }
}

impl JsonSchema for Vector {
    fn schema_name() -> Cow<'static, str> {
        "Vector".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 3 })
    }
}

impl Vector {
    /// The numbers as a vector, or what is wrong with them.
    pub fn checked(values: Vec<f64>, span: Range<usize>) -> Result<Self, String> {
        if !(2..=3).contains(&values.len()) {
            return Err(format!("a vector has two or three numbers, this one has {}", values.len()));
        }
        match values.iter().find(|v| !usable(**v)) {
            Some(bad) => {
                Err(format!("{} is not allowed here: all components must be finite, at most 1e100", shown(*bad)))
            }
            None => Ok(Self { values, span }),
        }
    }

    /// As a vector of the scene's dimension, or what is wrong with it.
    pub fn in_dimension(&self, dimension: usize) -> Result<DVec3, String> {
        match (dimension, self.values.as_slice()) {
            (2, &[x, y]) => Ok(DVec3::new(x, y, 0.0)),
            (2, &[_, _, z]) if z != 0.0 => Err(format!("in a 2D scene z must be 0 or left out, here it is {z}")),
            (_, &[x, y, z]) => Ok(DVec3::new(x, y, z)),
            _ => Err("a 3D scene needs three components".to_owned()),
        }
    }

    /// As a direction: three components, or two with z = 0.
    #[must_use]
    pub fn as_direction(&self) -> DVec3 {
        DVec3::new(self.values[0], self.values[1], self.values.get(2).copied().unwrap_or(0.0))
    }
}

/// Two or three numbers, infinite ones allowed, and where they stand in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound(Vector);

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let values = Spanned::<Vec<f64>>::deserialize(from)?;
        let span = values.span();
        let values = values.into_inner();
        // What is infinite is checked as if it were 0, and kept.
        let finite = values.iter().map(|v| if v.is_infinite() { 0.0 } else { *v }).collect();
        let Vector { span, .. } = Vector::checked(finite, span).map_err(D::Error::custom)?;
        Ok(Self(Vector { values, span }))
    }
}

impl JsonSchema for Bound {
    fn schema_name() -> Cow<'static, str> {
        "Bound".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vector::json_schema(generator)
    }
}

impl std::ops::Deref for Bound {
    type Target = Vector;

    fn deref(&self) -> &Vector {
        &self.0
    }
}

/// One radius for all, or the least and the greatest of a uniform distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radii {
    /// Least radius.
    pub least: f64,
    /// Greatest radius.
    pub greatest: f64,
}

impl<'de> Deserialize<'de> for Radii {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OneOrTwo;
        impl<'de> serde::de::Visitor<'de> for OneOrTwo {
            type Value = Vec<f64>;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a radius, or [least, greatest]")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Vec<f64>, E> {
                Ok(vec![value])
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Vec<f64>, E> {
                Ok(vec![value as f64])
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<f64>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(values)
            }
        }
        let values = from.deserialize_any(OneOrTwo)?;
        let radii = match *values.as_slice() {
            [one] => Self { least: one, greatest: one },
            [least, greatest] => Self { least, greatest },
            _ => return Err(D::Error::custom("give one radius, or [least, greatest]")),
        };
        let good = |radius: &f64| *radius >= GREATEST.recip() && usable(*radius);
        if let Some(bad) = [radii.least, radii.greatest].iter().find(|radius| !good(radius)) {
            let message = format!("a radius of {} is not allowed: it must be positive and finite", shown(*bad));
            return Err(D::Error::custom(message));
        }
        if radii.least > radii.greatest {
            return Err(D::Error::custom("the least radius comes first: [least, greatest]"));
        }
        Ok(radii)
    }
}

impl JsonSchema for Radii {
    fn schema_name() -> Cow<'static, str> {
        "Radii".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "number", "exclusiveMinimum": 0 },
            { "type": "array", "items": { "type": "number", "exclusiveMinimum": 0 }, "minItems": 2, "maxItems": 2 }
        ] })
    }
}

/// A colour, `#rrggbb` or one of a few names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

/// Names that may stand for a colour.
const NAMED: [(&str, [u8; 3]); 10] = [
    ("black", [26, 26, 26]),
    ("white", [245, 245, 245]),
    ("grey", [140, 140, 140]),
    ("red", [200, 55, 45]),
    ("orange", [230, 140, 40]),
    ("yellow", [235, 200, 70]),
    ("green", [70, 150, 80]),
    ("blue", [60, 110, 180]),
    ("purple", [130, 85, 160]),
    ("brown", [135, 95, 60]),
];

impl std::str::FromStr for Colour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, colour)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(Self(*colour));
        }
        let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        hex.map(|rgb| Self([(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8])).ok_or_else(|| {
            let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
            format!("`{text}` is no colour: write \"#rrggbb\" or one of {}", names.join(", "))
        })
    }
}

impl<'de> Deserialize<'de> for Colour {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Colour {
    fn schema_name() -> Cow<'static, str> {
        "Colour".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "#rrggbb or a name such as black, white, red, blue" })
    }
}

/// A name and where it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text.
    pub text: String,
    /// Bytes of the file.
    pub span: Range<usize>,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = Spanned::<String>::deserialize(from)?;
        let span = name.span();
        Ok(Self { text: name.into_inner(), span })
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
