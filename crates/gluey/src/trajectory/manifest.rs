//! The manifest: what was run, in a text a person can read. The same run writes the same bytes.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::TrajectoryError;
use crate::format::{Format, Formats};

/// Version of the layout of the folder and of its text files.
const FORMAT: u32 = 1;

/// What makes a run the run it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunInfo {
    /// The scene as run, with whatever the command line changed in it.
    pub scene_text: String,
    /// A name to show.
    pub scene_name: String,
    /// Seed of everything random in the scene.
    pub seed: u64,
    /// 2 or 3.
    pub dimension: u8,
    /// Time step (time).
    pub dt: f64,
    /// The groups that particles belong to, by index.
    pub groups: Vec<Group>,
    /// Names of the obstacles, in the scene's order; they name the columns of the series.
    pub obstacle_names: Vec<String>,
    /// Whether particles come in or leave while it runs; the series then tells how many.
    pub openings: bool,
    /// Columns of the series that measures add, in order.
    pub measures: Vec<String>,
}

impl RunInfo {
    /// A number that tells runs with another scene, seed, dimension or time step apart (FNV-1a, the same everywhere).
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let numbers = [self.seed, self.dimension.into(), self.dt.to_bits()].map(u64::to_le_bytes);
        let bytes = numbers.as_flattened().iter().chain(self.scene_text.as_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

/// A group of particles, as shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its name; the species in OVITO.
    pub name: String,
    /// Red, green and blue.
    pub colour: [u8; 3],
}

/// The manifest of a run folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Version of gluey that started the run.
    pub gluey: String,
    /// What was run.
    pub info: RunInfo,
    /// Which frames it writes.
    pub formats: Formats,
}

/// The scalars at the top of the file. The scene follows them, then the groups, since in TOML tables come last.
#[derive(Serialize)]
struct Head<'a> {
    gluey: &'a str,
    format: u32,
    name: &'a str,
    seed: u64,
    dimension: u8,
    dt: f64,
    obstacles: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    measures: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    openings: bool,
    #[serde(flatten)]
    formats: Flags,
}

#[derive(Serialize)]
struct Tail<'a> {
    groups: &'a [Group],
}

#[derive(Deserialize)]
struct Whole {
    gluey: String,
    name: String,
    seed: u64,
    #[serde(deserialize_with = "dimension")]
    dimension: u8,
    #[serde(deserialize_with = "time_step")]
    dt: f64,
    obstacles: Vec<String>,
    #[serde(default)]
    measures: Vec<String>,
    #[serde(default)]
    openings: bool,
    scene: String,
    #[serde(default)]
    groups: Vec<Group>,
    #[serde(flatten)]
    formats: Flags,
}

/// The formats of a run as keys, one each: whether it is written. One that is left out is not.
struct Flags(Formats);

impl Serialize for Flags {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Format::ALL.map(|format| (format, self.0.contains(format))))
    }
}

impl<'de> Deserialize<'de> for Flags {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> de::Visitor<'de> for Keys {
            type Value = Formats;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("keys of formats")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Formats, A::Error> {
                let mut formats = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    match key.parse::<Format>() {
                        Ok(format) => formats.extend(map.next_value::<bool>()?.then_some(format)),
                        Err(_) => drop(map.next_value::<de::IgnoredAny>()?),
                    }
                }
                Ok(formats.into_iter().collect())
            }
        }
        from.deserialize_map(Keys).map(Self)
    }
}

fn dimension<'de, D: Deserializer<'de>>(value: D) -> Result<u8, D::Error> {
    match i64::deserialize(value)? {
        2 => Ok(2),
        3 => Ok(3),
        other => Err(de::Error::custom(format!("a run has 2 or 3 dimensions, not {other}"))),
    }
}

fn time_step<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    let dt = f64::deserialize(value)?;
    if dt > 0.0 && dt.is_finite() {
        return Ok(dt);
    }
    Err(de::Error::custom(format!("a time step is positive and finite, not {dt}")))
}

/// Read first, so that a newer manifest is told from a damaged one.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

impl Manifest {
    /// The manifest of a run that this version of gluey starts.
    pub(super) fn new(info: &RunInfo, formats: Formats) -> Self {
        Self { gluey: env!("CARGO_PKG_VERSION").into(), info: info.clone(), formats }
    }

    /// The text of the file.
    pub(super) fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let info = &self.info;
        let head = Head {
            gluey: &self.gluey,
            format: FORMAT,
            name: &info.scene_name,
            seed: info.seed,
            dimension: info.dimension,
            dt: info.dt,
            obstacles: &info.obstacle_names,
            measures: &info.measures,
            openings: info.openings,
            formats: Flags(self.formats),
        };
        let (head, tail) = (toml::to_string(&head)?, toml::to_string(&Tail { groups: &info.groups })?);
        Ok(format!("{head}scene = {}\n\n{tail}", quoted(&info.scene_text)))
    }

    /// Reads the manifest at this path.
    pub fn read(path: &Path) -> Result<Self, TrajectoryError> {
        let text = fs::read_to_string(path).map_err(|cause| match (cause.kind(), path.parent()) {
            (io::ErrorKind::NotFound, Some(folder)) if folder.is_dir() => {
                TrajectoryError::NoRun { path: folder.to_owned() }
            }
            _ => TrajectoryError::io("read", path)(cause),
        })?;
        let wrong =
            |error: toml::de::Error| TrajectoryError::Manifest { path: path.to_owned(), reason: error.to_string() };
        let Version { format } = toml::from_str(&text).map_err(wrong)?;
        if format > FORMAT {
            return Err(TrajectoryError::NewerFormat { path: path.to_owned(), found: format, known: FORMAT });
        }
        let whole: Whole = toml::from_str(&text).map_err(wrong)?;
        let info = RunInfo {
            scene_text: whole.scene,
            scene_name: whole.name,
            seed: whole.seed,
            dimension: whole.dimension,
            dt: whole.dt,
            groups: whole.groups,
            obstacle_names: whole.obstacles,
            openings: whole.openings,
            measures: whole.measures,
        };
        Ok(Self { gluey: whole.gluey, info, formats: whole.formats.0 })
    }
}

/// A multi-line string of TOML. Literal where possible, because then it looks like the scene; a literal can hold
/// neither three quotes nor control characters, and parsers may change its carriage returns.
fn quoted(text: &str) -> String {
    let literal = !text.contains("'''")
        && !text.ends_with('\'')
        && text.chars().all(|letter| letter == '\n' || letter == '\t' || !letter.is_control());
    if literal {
        return format!("'''\n{text}'''"); // the first newline belongs to the quotes
    }
    let mut quoted = String::from("\"\"\"\n");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push('\n'),
            control if control.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\"\"\""
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(manifest: &Manifest) -> Manifest {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.toml");
        fs::write(&path, manifest.to_toml().unwrap()).unwrap();
        Manifest::read(&path).unwrap()
    }

    fn manifest(scene_text: &str) -> Manifest {
        let info = RunInfo {
            scene_text: scene_text.into(),
            scene_name: "a \"name\" = [1]".into(),
            seed: u64::MAX,
            dimension: 2,
            dt: 1.0 / 3.0,
            groups: vec![Group { name: "sand".into(), colour: [1, 2, 255] }],
            obstacle_names: vec!["floor".into(), "l'id".into()],
            openings: false,
            measures: vec!["bed_fraction".into()],
        };
        Manifest::new(&info, Formats::from_iter([Format::Vtk, Format::Compact]))
    }

    #[test]
    fn a_scene_is_shown_as_it_is_written() {
        let text = "# it's a scene\ngravity = [0, -9.81]\n\n[[particles]]\nname = \"a\\\"b\"\n";
        let manifest = manifest(text);
        assert!(manifest.to_toml().unwrap().contains(&format!("scene = '''\n{text}'''\n")));
        assert_eq!(round_trip(&manifest), manifest);
    }

    #[test]
    fn every_set_of_formats_comes_back_and_one_that_is_left_out_is_not_written() {
        let manifest = manifest("scene");
        let mut sets: Vec<Formats> = vec![Formats::NONE, Formats::ALL];
        sets.extend(Format::ALL.map(|format| Formats::from_iter([format])));
        for formats in sets {
            let manifest = Manifest { formats, ..manifest.clone() };
            assert_eq!(round_trip(&manifest), manifest);
        }
        let text = manifest.to_toml().unwrap();
        assert!(text.contains("\nvtk = true\nxyz = false\ncompact = true\n"), "{text}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.toml");
        fs::write(&path, text.replace("compact = true\n", "")).unwrap();
        assert_eq!(Manifest::read(&path).unwrap().formats, Formats::from_iter([Format::Vtk]));
        fs::write(&path, text.replace("compact = true", "compact = 1")).unwrap();
        assert!(Manifest::read(&path).unwrap_err().to_string().contains("expected a boolean"));
    }

    #[test]
    fn openings_are_told_where_there_are_any() {
        let closed = manifest("scene");
        assert!(!closed.to_toml().unwrap().contains("openings"));
        let open = Manifest { info: RunInfo { openings: true, ..closed.info.clone() }, ..closed };
        assert_eq!(round_trip(&open), open);
    }

    #[test]
    fn awkward_scenes_come_back_as_they_were() {
        for text in ["", "\n", "\n\nx", "'", "''", "a'''b", "a\r\nb\rc", "\u{7f}\u{1}\u{85}", "\\u0041\"\"\"\"", "é😀"]
        {
            assert_eq!(round_trip(&manifest(text)).info.scene_text, text);
        }
    }

    proptest! {
        #[test]
        fn any_scene_comes_back_as_it_was(text in any::<String>()) {
            prop_assert_eq!(round_trip(&manifest(&text)).info.scene_text, text);
        }
    }

    #[test]
    fn a_newer_manifest_and_a_foreign_one_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.toml");
        assert!(matches!(Manifest::read(&path), Err(TrajectoryError::NoRun { path }) if path == folder.path()));
        fs::write(&path, "format = 99\nunknown = true\n").unwrap();
        assert!(matches!(Manifest::read(&path), Err(TrajectoryError::NewerFormat { found: 99, known: 1, .. })));
        fs::write(&path, "[package]\nname = 'x'\n").unwrap();
        assert!(matches!(Manifest::read(&path), Err(TrajectoryError::Manifest { .. })));
    }

    #[test]
    fn a_manifest_that_says_what_no_run_is_is_refused_with_what_would_be_right() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.toml");
        let good = manifest("scene").to_toml().unwrap();
        let told = |from: &str, to: &str| {
            assert!(good.contains(from), "{good}");
            fs::write(&path, good.replace(from, to)).unwrap();
            Manifest::read(&path).err().map(|error| error.to_string()).unwrap_or_default()
        };
        let dt = format!("dt = {}", 1.0 / 3.0);
        let [line, step] = ["dimension = 2", dt.as_str()];
        for (from, to, right) in [
            (line, "dimension = 7", "a run has 2 or 3 dimensions, not 7"),
            (line, "dimension = 0", "a run has 2 or 3 dimensions, not 0"),
            (line, "dimension = -1", "a run has 2 or 3 dimensions, not -1"),
            (line, "dimension = 300", "a run has 2 or 3 dimensions, not 300"),
            (step, "dt = nan", "a time step is positive and finite, not NaN"),
            (step, "dt = inf", "a time step is positive and finite, not inf"),
            (step, "dt = 0.0", "a time step is positive and finite, not 0"),
            (step, "dt = -0.5", "a time step is positive and finite, not -0.5"),
        ] {
            let told = told(from, to);
            assert!(told.contains(right) && told.contains("manifest.toml") && told.contains(to), "{to}: {told}");
        }
        assert_eq!(told(line, "dimension = 3"), "");
    }

    #[test]
    fn a_fingerprint_sees_every_part() {
        let info = manifest("scene").info;
        let others = [
            RunInfo { scene_text: "scenf".into(), ..info.clone() },
            RunInfo { seed: 1, ..info.clone() },
            RunInfo { dimension: 3, ..info.clone() },
            RunInfo { dt: 0.25, ..info.clone() },
        ];
        assert!(others.iter().all(|other| other.fingerprint() != info.fingerprint()));
    }
}
