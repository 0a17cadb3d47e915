//! `gluey render`: pictures and animations of a run, and montages of several.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use gluey::scene::{ObstacleStyle, Picture};
use gluey::trajectory::FrameStamp;
use gluey_render::{Captions, Film, Furniture, Gif, Image, Mp4, Reel, Selection, montage};
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::arguments::RenderArguments;
use crate::run::set_threads;
use crate::run_names::{check_labels, labels};
use crate::words::{count, duration, number};
use crate::{UsageError, host};

/// Where pictures go in the folder of a run.
const PICTURES: &str = "pictures";
/// Times of a montage for which none are asked: of one run, and of several.
const CELLS: (usize, usize) = (6, 4);
/// Frames from which the colours of a GIF are chosen.
const EXAMPLES: usize = 5;

/// Draws what is asked for and tells where it is.
pub fn render(wishes: &RenderArguments) -> Result<String> {
    set_threads(wishes.threads)?;
    check(wishes)?;
    let reels = wishes.runs.iter().map(|run| open(run)).collect::<Result<Vec<_>>>()?;
    let flat = reels.iter().any(|reel| reel.snapshots().manifest().info.dimension == 2);
    if flat && (wishes.camera.is_some() || wishes.up.is_some()) {
        let help = "a 2D run is seen from the front\n  help: --look-at and --zoom choose the part";
        return Err(UsageError(format!("--camera and --up are for 3D runs: {help}")).into());
    }
    let notes: String = reels.iter().filter_map(note).collect();
    let told = match &wishes.montage {
        Some(file) => put_together(wishes, reels, file)?,
        None => draw_frames(wishes, reels)?,
    };
    Ok(if wishes.quiet { told } else { format!("{told}{notes}") })
}

/// What clap cannot know.
fn check(wishes: &RenderArguments) -> Result<(), UsageError> {
    if wishes.runs.len() > 1 && wishes.montage.is_none() {
        let help = "draw one after the other, or add --montage FILE to see them side by side";
        return Err(UsageError(format!("{} runs are named\n  help: {help}", wishes.runs.len())));
    }
    check_labels(&wishes.runs, &wishes.labels)
}

fn open(run: &Path) -> Result<Reel> {
    // Without the file of the scene, as after a run of the built-in one, what it refers to is sought in the folder.
    let scene = host::scene_path(run).unwrap_or_else(|| run.join("scene.toml"));
    Ok(Reel::open(run, &scene)?)
}

/// What is drawn otherwise than it should be.
fn note(reel: &Reel) -> Option<String> {
    let trouble = reel.trouble()?;
    let folder = reel.snapshots().folder().display();
    Some(format!(
        "\nnote: the scene of {folder} can no longer be read, so its obstacles are drawn as lines and glass, without \
         their colours:\n{trouble}\n"
    ))
}

fn picture(wishes: &RenderArguments) -> Picture {
    Picture {
        size: wishes.size.map(|size| size.0),
        background: wishes.background.map(|colour| colour.0),
        colour: wishes.colour,
        range: wishes.range.map(|range| range.0),
        contacts: wishes.contacts,
        gamma_scale: wishes.gamma_scale,
        obstacles: wishes.obstacles.map(ObstacleStyle::from),
        scale: wishes.scale,
        camera: wishes.camera,
        up: wishes.up,
        look_at: wishes.look_at,
        zoom: wishes.zoom,
        fps: wishes.fps,
    }
}

/// Several times, and runs, in one picture.
fn put_together(wishes: &RenderArguments, reels: Vec<Reel>, file: &Path) -> Result<String> {
    let one = reels.len() == 1;
    let selection = match wishes.every {
        Some(step) if one => Selection::Every(step),
        Some(step) => {
            Selection::Times(reels[0].select(&Selection::Every(step))?.iter().map(|shot| shot.time).collect())
        }
        None if wishes.times.is_empty() => Selection::Times(spread(&reels, if one { CELLS.0 } else { CELLS.1 })),
        None => Selection::Times(wishes.times.clone()),
    };
    let furniture = if one { Furniture::Time } else { Furniture::Bare };
    let film = Film::prepare(reels, &selection, &picture(wishes), furniture)?;
    let shots = film.shots(0).len();
    let (cells, captions) = if one {
        let columns = (1..=shots).find(|columns| columns * columns >= shots).unwrap_or(1);
        let places: Vec<(usize, usize)> = (0..shots).map(|shot| (0, shot)).collect();
        let captions = Captions { columns: wishes.labels.clone(), rows: Vec::new() };
        (places.chunks(columns).map(<[_]>::to_vec).collect::<Vec<_>>(), captions)
    } else {
        let rows = film.shots(0).iter().map(|shot| format!("t = {}", number(shot.time))).collect();
        let cells = (0..shots).map(|shot| (0..film.reels().len()).map(|reel| (reel, shot)).collect()).collect();
        (cells, Captions { columns: labels(&wishes.runs, &wishes.labels), rows })
    };
    let draw = |(reel, shot): &(usize, usize)| film.draw(*reel, &film.shots(*reel)[*shot]);
    let rows = cells.iter().map(|row| row.par_iter().map(draw).collect::<Result<Vec<_>, _>>());
    let image = montage(&rows.collect::<Result<Vec<_>, _>>()?, &captions, film.style());
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    write_png(&image, file)?;
    if wishes.quiet {
        return Ok(format!("{}\n", file.display()));
    }
    Ok(format!("wrote {}, {} x {} pixels\n", file.display(), image.width, image.height))
}

/// Times from the first frame to the last that all runs have.
fn spread(reels: &[Reel], most: usize) -> Vec<f64> {
    let stamps = |reel: &Reel| reel.snapshots().stamps().to_vec();
    let Some(shortest) = reels.iter().map(stamps).min_by(|a, b| {
        let end = |stamps: &[FrameStamp]| stamps.last().map_or(0.0, |stamp| stamp.time);
        end(a).total_cmp(&end(b))
    }) else {
        return Vec::new();
    };
    let (last, cells) = (shortest.len().saturating_sub(1), most.min(shortest.len()));
    (0..cells).map(|k| shortest[(k * last) / (cells - 1).max(1)].time).collect()
}

/// Where the results of a film go as they are drawn.
struct Outlets {
    folder: PathBuf,
    png: bool,
    gif: Option<(Gif, Unfinished)>,
    mp4: Option<(Mp4, Unfinished)>,
}

/// A file that is written beside its place: it gets its name when it is whole, and goes if that never happens.
struct Unfinished {
    path: PathBuf,
    aside: PathBuf,
}

impl Unfinished {
    fn new(path: PathBuf) -> Self {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".part");
        Self { aside: path.with_file_name(name), path }
    }

    fn finish(self) -> Result<PathBuf> {
        fs::rename(&self.aside, &self.path).with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(self.path.clone())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After it has its name there is nothing left here.
        let _ = fs::remove_file(&self.aside);
    }
}

/// Frames, and animations of them.
fn draw_frames(wishes: &RenderArguments, reels: Vec<Reel>) -> Result<String> {
    let folder = wishes.out.clone().unwrap_or_else(|| wishes.runs[0].join(PICTURES));
    let selection = if wishes.times.is_empty() {
        Selection::Every(wishes.every.unwrap_or(NonZeroUsize::MIN))
    } else {
        Selection::Times(wishes.times.clone())
    };
    let film = Film::prepare(reels, &selection, &picture(wishes), Furniture::All)?;
    let mut shots = film.shots(0).to_vec();
    // Times may be named in any order, and may share a frame.
    shots.sort_by_key(|shot| shot.step);
    shots.dedup_by_key(|shot| shot.step);
    let unsaid = !(wishes.png || wishes.gif || wishes.mp4);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let start = Instant::now();
    let mut outlets = Outlets { folder, png: wishes.png || unsaid, gif: None, mp4: None };
    if wishes.mp4 {
        let file = Unfinished::new(outlets.folder.join("animation.mp4"));
        outlets.mp4 = Some((Mp4::create(&file.aside, film.style().size, film.fps())?, file));
    }
    if wishes.gif || (unsaid && shots.len() > 1) {
        let file = Unfinished::new(outlets.folder.join("animation.gif"));
        outlets.gif = Some((Gif::create(&file.aside, &examples(&film, &shots)?, film.fps())?, file));
    }
    let bar = if wishes.quiet { ProgressBar::hidden() } else { ProgressBar::new(shots.len() as u64) };
    // As many at a time as there are threads: memory does not grow with the length of a film.
    for some in shots.chunks(rayon::current_num_threads().max(1)) {
        let drawn: Vec<Result<Image>> = some.par_iter().map(|shot| draw_one(&film, shot, &outlets)).collect();
        for image in drawn {
            let image = image?;
            if let Some((gif, _)) = &mut outlets.gif {
                gif.add(&image)?;
            }
            if let Some((mp4, _)) = &mut outlets.mp4 {
                mp4.add(&image)?;
            }
        }
        bar.inc(some.len() as u64);
    }
    bar.finish_and_clear();
    let (png, folder) = (outlets.png, outlets.folder.clone());
    let animations = outlets.finish()?;
    if wishes.quiet {
        return Ok(format!("{}\n", folder.display()));
    }
    let [width, height] = film.style().size;
    let mut told = format!(
        "{} of {width} x {height} pixels drawn in {}\n",
        count(shots.len() as u64, "frame"),
        duration(start.elapsed())
    );
    if let (true, Some(first), Some(last)) = (png, shots.first(), shots.last()) {
        let _ = match shots.len() {
            1 => writeln!(told, "  {}", folder.join(file_name(first)).display()),
            _ => writeln!(told, "  {} … {}", folder.join(file_name(first)).display(), file_name(last)),
        }; // writing to a string cannot fail
    }
    for animation in animations {
        let _ = writeln!(told, "  {}", animation.display());
    }
    Ok(told)
}

fn file_name(shot: &FrameStamp) -> String {
    format!("frame_{:08}.png", shot.step)
}

fn draw_one(film: &Film, shot: &FrameStamp, outlets: &Outlets) -> Result<Image> {
    let image = film.draw(0, shot)?;
    if outlets.png {
        write_png(&image, &outlets.folder.join(file_name(shot)))?;
    }
    Ok(image)
}

/// Some frames from all over the film.
fn examples(film: &Film, shots: &[FrameStamp]) -> Result<Vec<Image>> {
    let some: Vec<&FrameStamp> = shots.iter().step_by(shots.len().div_ceil(EXAMPLES).max(1)).collect();
    Ok(some.par_iter().map(|shot| film.draw(0, shot)).collect::<Result<Vec<_>, _>>()?)
}

impl Outlets {
    /// Ends the animations, which get their names now that they are whole.
    fn finish(self) -> Result<Vec<PathBuf>> {
        let mut done = Vec::new();
        if let Some((gif, file)) = self.gif {
            gif.finish()?;
            done.push(file.finish()?);
        }
        if let Some((mp4, file)) = self.mp4 {
            mp4.finish()?;
            done.push(file.finish()?);
        }
        Ok(done)
    }
}

/// Writes a picture: an older one is replaced by a whole one.
fn write_png(image: &Image, path: &Path) -> Result<()> {
    let file = Unfinished::new(path.to_owned());
    let write = || {
        let mut out = BufWriter::new(File::create(&file.aside)?);
        image.write_png(&mut out)?;
        out.flush()
    };
    write().with_context(|| format!("cannot write {}", path.display()))?;
    file.finish().map(|_| ())
}
