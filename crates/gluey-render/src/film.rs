//! The frames of one or several runs, with one camera and one scale of colours for all.

use std::num::NonZeroUsize;
use std::path::Path;

use glam::DVec3;
use gluey::geometry::Extent;
use gluey::scene::{ColourBy, ObstacleStyle, Picture, SceneError, Stage};
use gluey::trajectory::{FrameStamp, Snapshot, Snapshots};
use rayon::prelude::*;

use crate::camera::{Camera, Viewpoint};
use crate::error::RenderError;
use crate::image::Image;
use crate::periodic;
use crate::picture::draw;
use crate::style::{BACKGROUND, Furniture, Style};
use crate::survey::Survey;
use crate::wall::{Body, Wall};

/// Pictures where nobody says how large.
const SIZE: [u32; 2] = [1280, 720];
/// Spheres drawn small enough to see the tubes between them.
const SMALL: f64 = 0.5;
/// Times at which the places of moving obstacles are looked at to frame them.
const LOOKS: usize = 60;
/// Planes farther from the particles than this, relative to the room that these take, are not looked for.
const NEAR: f64 = 1.5;
/// Room around the scene in which what is infinite is drawn, relative to its size.
const MARGIN: f64 = 0.1;
/// Cells of a montage: no flatter and no steeper than this.
const STEEPEST: f64 = 2.5;

/// A run that can be drawn.
#[derive(Debug)]
pub struct Reel {
    snapshots: Snapshots,
    /// The scene around the particles, or why there is none.
    stage: Result<Stage, SceneError>,
}

/// Which frames of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// The first, and every so many.
    Every(NonZeroUsize),
    /// Those nearest to these times.
    Times(Vec<f64>),
}

impl Reel {
    /// Opens the folder of a run; `scene` is where its scene was, to which files it refers to are relative.
    pub fn open(folder: &Path, scene: &Path) -> Result<Self, RenderError> {
        let snapshots = Snapshots::open(folder)?;
        if snapshots.stamps().is_empty() {
            return Err(RenderError::NoFrames { path: folder.to_owned() });
        }
        let stage = Stage::parse(&snapshots.manifest().info.scene_text, scene);
        Ok(Self { snapshots, stage })
    }

    /// The frames of the run.
    #[must_use]
    pub fn snapshots(&self) -> &Snapshots {
        &self.snapshots
    }

    /// Why the scene cannot be read any more, say because a file it refers to has gone. Obstacles are then drawn as the
    /// frames have them: without their colours, not filled, and infinite ones cut.
    #[must_use]
    pub fn trouble(&self) -> Option<&SceneError> {
        self.stage.as_ref().err()
    }

    /// What the scene says about pictures.
    #[must_use]
    pub fn picture(&self) -> Picture {
        self.stage.as_ref().map_or_else(|_| Picture::default(), |stage| stage.picture.clone())
    }

    fn dimension(&self) -> u8 {
        self.snapshots.manifest().info.dimension
    }

    /// The frames chosen, in the order of the choice.
    pub fn select(&self, selection: &Selection) -> Result<Vec<FrameStamp>, RenderError> {
        let stamps = self.snapshots.stamps();
        match selection {
            Selection::Every(step) => Ok(stamps.iter().step_by(step.get()).copied().collect()),
            Selection::Times(times) => times.iter().map(|time| self.nearest(*time)).collect(),
        }
    }

    fn nearest(&self, time: f64) -> Result<FrameStamp, RenderError> {
        let stamps = self.snapshots.stamps();
        let none = RenderError::NoFrames { path: self.snapshots.folder().to_owned() };
        let (Some(first), Some(last)) = (stamps.first(), stamps.last()) else { return Err(none) };
        // Times between frames are rounded to one; at the ends by no more than that.
        let apart = if stamps.len() > 1 { (last.time - first.time) / (stamps.len() - 1) as f64 } else { 0.0 };
        let slack = 0.5 * apart + 1e-9 * last.time.abs();
        if !(first.time - slack..=last.time + slack).contains(&time) {
            let path = self.snapshots.folder().to_owned();
            return Err(RenderError::NoSuchTime { path, time, first: first.time, last: last.time });
        }
        let distance = |stamp: &&FrameStamp| (stamp.time - time).abs();
        stamps.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).copied().ok_or(none)
    }

    fn walls(&self, snapshot: &Snapshot, view: &Extent) -> Vec<Wall> {
        let mut walls: Vec<Wall> = match &self.stage {
            Ok(stage) => stage.obstacles.iter().map(|obstacle| Wall::of(obstacle, snapshot.time, view)).collect(),
            Err(_) => snapshot.obstacles.iter().map(Wall::of_frame).collect(),
        };
        if let Some(cell) = &snapshot.particles.cell {
            let images: Vec<Wall> = walls.iter().flat_map(|wall| periodic::images_of_wall(wall, cell)).collect();
            walls.extend(images);
            walls.push(periodic::outline(cell, view));
        }
        walls
    }

    /// Reports the points of the obstacles that are to be in the picture while the film lasts: those of bounded ones,
    /// and of a plane that is near the particles the point before which they are.
    fn see_obstacles(&self, shots: &[FrameStamp], view: &Extent, see: &mut impl FnMut(DVec3)) {
        let Ok(stage) = &self.stage else { return };
        let (middle, size) = (0.5 * (view.lower + view.upper), view.lower.distance(view.upper));
        for obstacle in &stage.obstacles {
            let looks = if obstacle.is_fixed() { 1 } else { LOOKS };
            for shot in shots.iter().step_by(shots.len().div_ceil(looks).max(1)) {
                match Wall::of(obstacle, shot.time, view) {
                    Wall { body: Body::HalfSpace { point, normal }, .. } => {
                        let distance = (middle - point).dot(normal);
                        if distance.abs() < NEAR * size {
                            see(middle - distance * normal);
                        }
                    }
                    wall => wall.surface.points.into_iter().for_each(&mut *see),
                }
            }
        }
    }
}

/// Runs, the frames of each that are drawn, and how.
#[derive(Debug)]
pub struct Film {
    reels: Vec<Reel>,
    shots: Vec<Vec<FrameStamp>>,
    camera: Camera,
    style: Style,
    /// What is infinite is drawn as far as this.
    view: Extent,
    fps: f64,
}

/// Frames a second where nobody says.
const FPS: f64 = 25.0;

impl Film {
    /// Chooses camera and colours for all frames selected of all runs. Wishes go before what the scene of the first run
    /// says. Where nobody says how large pictures are, those without legends have the proportions of the scene.
    pub fn prepare(
        reels: Vec<Reel>,
        selection: &Selection,
        wishes: &Picture,
        furniture: Furniture,
    ) -> Result<Self, RenderError> {
        let first = reels.first().ok_or(RenderError::NoRuns)?;
        if let Some(other) = reels.iter().find(|reel| reel.dimension() != first.dimension()) {
            return Err(RenderError::Dimensions {
                one: first.snapshots.folder().to_owned(),
                other: other.snapshots.folder().to_owned(),
                dimensions: [first.dimension(), other.dimension()],
            });
        }
        let dimension = usize::from(first.dimension());
        let picture = wishes.clone().or(&first.picture());
        let colour = picture.colour.unwrap_or_default();
        let shots = reels.iter().map(|reel| reel.select(selection)).collect::<Result<Vec<_>, _>>()?;
        // 1. All frames are read once: where things are, and what values there are.
        let mut survey = Survey::NONE;
        for (reel, shots) in reels.iter().zip(&shots) {
            survey = survey.join(surveyed(reel, shots, colour)?);
        }
        // 2. The camera shows the particles and the bounded obstacles.
        let particles = Extent { lower: survey.lower, upper: survey.upper, dimension };
        let viewpoint = viewpoint(dimension, &picture);
        let (mut lower, mut upper) = (survey.lower, survey.upper);
        let mut framed = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let mut see = |point: DVec3| {
            let seen = viewpoint.seen(point);
            framed = (framed.0.min(seen), framed.1.max(seen));
            (lower, upper) = (lower.min(point), upper.max(point));
        };
        if survey.lower.cmple(survey.upper).all() {
            for corner in 0..8_u8 {
                let from = |k: u8| if corner >> k & 1 == 0 { survey.lower } else { survey.upper };
                see(DVec3::new(from(0).x, from(1).y, from(2).z));
            }
        }
        if picture.obstacles != Some(ObstacleStyle::Hidden) {
            for (reel, shots) in reels.iter().zip(&shots) {
                reel.see_obstacles(shots, &particles, &mut see);
            }
        }
        let room = DVec3::splat(MARGIN * lower.distance(upper));
        let view = Extent { lower: lower - room, upper: upper + room, dimension };
        // 3. The style.
        let size = picture.size.unwrap_or_else(|| if furniture == Furniture::All { SIZE } else { fitted(framed) });
        let contacts = picture.contacts.unwrap_or(false);
        let glue = contacts.then(|| picture.gamma_scale.unwrap_or_else(|| survey.black()));
        let style = Style {
            background: picture.background.unwrap_or(BACKGROUND),
            colour,
            range: picture.range.unwrap_or_else(|| survey.range()),
            groups: first.snapshots.manifest().info.groups.clone(),
            glue,
            obstacles: picture.obstacles.unwrap_or_default(),
            scale: picture.scale.unwrap_or(if contacts && dimension == 3 { SMALL } else { 1.0 }),
            furniture,
            ..Style::new(dimension, size)
        };
        let mut camera = Camera::framing(viewpoint, framed, &style).zoomed(picture.zoom.unwrap_or(1.0));
        if let Some(point) = picture.look_at {
            camera = camera.looking_at(point);
        }
        Ok(Self { reels, shots, camera, style, view, fps: picture.fps.unwrap_or(FPS) })
    }

    /// The runs.
    #[must_use]
    pub fn reels(&self) -> &[Reel] {
        &self.reels
    }

    /// The frames of a run that are drawn.
    #[must_use]
    pub fn shots(&self, reel: usize) -> &[FrameStamp] {
        &self.shots[reel]
    }

    /// How pictures look.
    #[must_use]
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// From where they are seen.
    #[must_use]
    pub fn camera(&self) -> &Camera {
        &self.camera
    }

    /// Frames a second of an animation.
    #[must_use]
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Draws a frame of a run.
    pub fn draw(&self, reel: usize, shot: &FrameStamp) -> Result<Image, RenderError> {
        let reel = &self.reels[reel];
        let snapshot = reel.snapshots.read(shot)?;
        let walls = reel.walls(&snapshot, &self.view);
        Ok(draw(&snapshot.frame(), &walls, &self.camera, &self.style))
    }
}

/// The survey of the frames of a run; that of the first frame that cannot be read is an error, whatever the threads.
fn surveyed(reel: &Reel, shots: &[FrameStamp], colour: ColourBy) -> Result<Survey, RenderError> {
    let each: Vec<Result<Survey, RenderError>> = shots
        .par_iter()
        .map(|shot| {
            let snapshot = reel.snapshots.read(shot)?;
            let mut survey = Survey::of(&snapshot.frame(), colour);
            if reel.stage.is_err() {
                for point in snapshot.obstacles.iter().flat_map(|surface| &surface.points) {
                    (survey.lower, survey.upper) = (survey.lower.min(*point), survey.upper.max(*point));
                }
            }
            Ok(survey)
        })
        .collect();
    each.into_iter().try_fold(Survey::NONE, |all, one| Ok(all.join(one?)))
}

fn viewpoint(dimension: usize, picture: &Picture) -> Viewpoint {
    let up = picture.up.unwrap_or(DVec3::Z);
    match picture.camera {
        _ if dimension == 2 => Viewpoint::FRONT,
        Some(eye) => Viewpoint::from(eye, up),
        None => Viewpoint::oblique(up),
    }
}

/// A size of the usual area with the proportions of what is framed.
fn fitted((lower, upper): (DVec3, DVec3)) -> [u32; 2] {
    let ratio = (upper.x - lower.x) / (upper.y - lower.y);
    let ratio = if ratio.is_finite() { ratio.clamp(STEEPEST.recip(), STEEPEST) } else { 1.0 };
    let area = 0.25 * f64::from(SIZE[0]) * f64::from(SIZE[1]);
    [(area * ratio).sqrt(), (area / ratio).sqrt()].map(|side| side.round() as u32)
}
