//! A run folder as the page sees it: what was run, its frames and its series, also while it grows.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gluey::geometry::Extent;
use gluey::scene::Stage;
use gluey::trajectory::{
    CompactFrames, Format, Intervention, Manifest, Snapshots, TrajectoryError, encode, is_being_written,
};
use gluey_render::{Body, Wall, colour_table};
use serde_json::{Value, json};

use crate::ViewError;
use crate::fields::fields;

/// Most of the series that one answer holds (bytes).
const CHUNK: u64 = 1 << 20;

/// A run folder.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    manifest: Manifest,
    /// The scene around the particles, or why there is none.
    stage: Result<Stage, String>,
    frames: Mutex<Frames>,
}

#[derive(Debug)]
enum Frames {
    Compact(CompactFrames),
    /// Those for ParaView, converted when asked for; listed anew each time.
    Vtk,
    None,
}

/// The frames there are.
pub(crate) struct Listing {
    pub(crate) stamps: Vec<(u64, f64)>,
    /// What is wrong with what follows them.
    pub(crate) trouble: Option<String>,
    /// Whether a process writes to the folder.
    pub(crate) growing: bool,
}

impl RunFolder {
    /// Opens a folder; `scene` is where its scene was, to which files it refers to are relative.
    pub(crate) fn open(path: &Path, scene: Option<&Path>) -> Result<Self, TrajectoryError> {
        let manifest = Manifest::read(&path.join("manifest.toml"))?;
        let scene = scene.unwrap_or(Path::new("scene.toml"));
        let stage = Stage::parse(&manifest.info.scene_text, scene).map_err(|error| error.to_string());
        let frames = match manifest.formats {
            formats if formats.contains(Format::Compact) => Frames::Compact(CompactFrames::new(path)),
            formats if formats.contains(Format::Vtk) => Frames::Vtk,
            _ => Frames::None,
        };
        Ok(Self { path: path.to_owned(), manifest, stage, frames: Mutex::new(frames) })
    }

    /// Whether another run has taken the place of this one.
    pub(crate) fn is_replaced(&self) -> bool {
        Manifest::read(&self.path.join("manifest.toml")).is_ok_and(|now| now != self.manifest)
    }

    /// What is needed to draw the run.
    pub(crate) fn description(&self) -> Value {
        let info = &self.manifest.info;
        let group = |group: &gluey::trajectory::Group| json!({ "name": group.name, "colour": group.colour });
        let picture = self.stage.as_ref().map(|stage| stage.picture.clone()).unwrap_or_default();
        json!({
            "name": info.scene_name,
            "folder": self.path.display().to_string(),
            "gluey": self.manifest.gluey,
            "seed": info.seed,
            "dimension": info.dimension,
            "dt": info.dt,
            "groups": info.groups.iter().map(group).collect::<Vec<_>>(),
            "obstacles": self.obstacles(),
            "picture": {
                "colour": picture.colour.map(gluey::scene::ColourBy::name),
                "contacts": picture.contacts,
                "glue": picture.gamma_scale,
                "scale": picture.scale,
                "camera": picture.camera.map(|eye| eye.to_array()),
                "up": picture.up.map(|up| up.to_array()),
            },
            "fields": fields(),
            "colours": colour_table().map(|map| map.as_flattened().to_vec()),
            "trouble": self.stage.as_ref().err(),
            "stored": !matches!(*self.frames(), Frames::None),
        })
    }

    fn obstacles(&self) -> Value {
        let walls: Vec<Option<Wall>> = match &self.stage {
            Ok(stage) => {
                // What they look like is in the frames; here only what they are matters.
                let nowhere = glam::DVec3::ZERO;
                let view = Extent { lower: nowhere, upper: nowhere, dimension: stage.dimension };
                stage.obstacles.iter().map(|obstacle| Some(Wall::of(obstacle, 0.0, &view))).collect()
            }
            Err(_) => vec![None; self.manifest.info.obstacle_names.len()],
        };
        let body = |wall: &Wall| match wall.body {
            Body::Solid => "solid",
            Body::Sheet => "sheet",
            Body::Container | Body::Outline => "container",
            Body::HalfSpace { .. } => "half-space",
        };
        let one = |(name, wall): (&String, Option<Wall>)| {
            let colour = wall.as_ref().and_then(|wall| wall.colour);
            json!({ "name": name, "colour": colour, "body": wall.as_ref().map_or("container", body) })
        };
        self.manifest.info.obstacle_names.iter().zip(walls).map(one).collect()
    }

    fn frames(&self) -> std::sync::MutexGuard<'_, Frames> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The frames there are now.
    pub(crate) fn listing(&self) -> Listing {
        // First: what nobody writes to any more is whole, or stays as it is.
        let growing = is_being_written(&self.path);
        let (stamps, trouble) = match &mut *self.frames() {
            Frames::Compact(frames) => {
                let trouble = match frames.refresh() {
                    Err(error) => Some(error.to_string()),
                    Ok(()) if frames.is_unfinished() && !growing => Some(self.cut_off()),
                    Ok(()) => None,
                };
                (frames.stamps().collect(), trouble)
            }
            Frames::Vtk => match Snapshots::open(&self.path) {
                Ok(snapshots) => (snapshots.stamps().iter().map(|stamp| (stamp.step, stamp.time)).collect(), None),
                Err(error) => (Vec::new(), Some(error.to_string())),
            },
            Frames::None => (Vec::new(), None),
        };
        Listing { stamps, trouble, growing }
    }

    fn cut_off(&self) -> String {
        let run = self.path.display();
        format!(
            "the last frame of {run} is cut off: the run was ended while it was written. Those before are shown; \
             `gluey run --resume --out={run}` takes the run up again"
        )
    }

    /// The frame of a step, as a record.
    pub(crate) fn frame(&self, step: u64) -> Result<Vec<u8>, ViewError> {
        let none = || ViewError::NoFrame { run: self.path.clone(), step };
        match &*self.frames() {
            Frames::Compact(frames) => {
                let k = frames.stamps().position(|(other, _)| other == step).ok_or_else(none)?;
                Ok(frames.read(k)?)
            }
            Frames::Vtk => {
                let snapshots = Snapshots::open(&self.path)?;
                let stamp = snapshots.stamps().iter().find(|stamp| stamp.step == step).ok_or_else(none)?;
                let snapshot = snapshots.read(stamp)?;
                let failed = |cause| TrajectoryError::Io { action: "convert", path: self.path.clone(), cause };
                Ok(encode(&snapshot.frame(), self.manifest.info.dimension).map_err(failed)?)
            }
            Frames::None => Err(none()),
        }
    }

    /// Whole rows of the series from this byte on, and where the next ones start. A series that has become shorter is
    /// another one, and is given from its start.
    pub(crate) fn series(&self, from: u64) -> Result<(String, u64), ViewError> {
        let path = self.path.join("series.csv");
        let read = || -> io::Result<(String, u64)> {
            let mut file = File::open(&path)?;
            let length = file.metadata()?.len();
            let from = if from > length { 0 } else { from };
            file.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            file.take(CHUNK).read_to_end(&mut bytes)?;
            bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
            let next = from + bytes.len() as u64;
            Ok((String::from_utf8_lossy(&bytes).into_owned(), next))
        };
        match read() {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok((String::new(), 0)),
            Err(cause) => Err(TrajectoryError::Io { action: "read", path, cause }.into()),
            Ok(rows) => Ok(rows),
        }
    }

    /// What was changed by hand.
    pub(crate) fn interventions(&self) -> Result<Vec<Intervention>, ViewError> {
        Ok(Intervention::read(&self.path)?)
    }
}
