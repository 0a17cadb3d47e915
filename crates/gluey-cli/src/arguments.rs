//! What can be asked of the command.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use glam::DVec3;
use gluey::projection::Method;
use gluey::scene::{Colour, ColourBy, ObstacleStyle, Range, Size};

use crate::fluid::StokesCommand;
use crate::overrides::Override;
use crate::pack::PackArguments;
use crate::paper;
use crate::plane::PlaneCommand;

/// Rigid particles that interact through contact and lubrication.
#[derive(Debug, Parser)]
#[command(name = "gluey", version, propagate_version = true)]
#[command(after_help = "First steps:\n  \
    gluey run                a small built-in scene\n  \
    gluey new my.toml        a commented scene to start from\n  \
    gluey check my.toml      what is in it\n  \
    gluey run my.toml        run it\n  \
    gluey render runs/NAME   pictures and an animation of it\n  \
    gluey view               a page to watch scenes and runs\n\n\
    Exit codes: 0 done; 1 failed; 2 bad usage or bad scene; 130 or 143 stopped by SIGINT or SIGTERM, with a checkpoint.")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scene and write its results to a folder
    Run(RunArguments),
    /// Validate a scene and tell what it holds, without running it
    Check(CheckArguments),
    /// Write a commented scene to start from
    New {
        /// The file to write; it must not exist
        #[arg(default_value = "scene.toml", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Tell what a run folder holds
    Info(InfoArguments),
    /// Draw the frames of a run: pictures, an animation, or a montage of several times and runs
    Render(Box<RenderArguments>),
    /// Watch runs on a page in the browser, live or afterwards; without a run, choose scenes and runs there
    View(ViewArguments),
    /// Measure runs over time: who hangs from walls, height, mixing, and when particles leave a wall that turns
    Measure(MeasureArguments),
    /// Pack particles densely without overlap, in a file that scenes read
    Pack(PackArguments),
    /// Make again what the paper shows, as one page with figures, tables and commands
    Paper(PaperArguments),
    /// One particle and a plane: simulate it, and the studies of the model
    #[command(subcommand)]
    Plane(PlaneCommand),
    /// Slow viscous flow: drags, flows, and a particle in a fluid with contacts
    #[command(subcommand)]
    Stokes(StokesCommand),
    /// Solve a projection problem from a file and tell how fast and how well
    Project(ProjectArguments),
    /// Print a script that completes gluey's arguments in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the JSON schema of scene files, for editors
    Schema,
}

/// How to run.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[command(after_help = "Ctrl-C (or SIGTERM) ends the step, writes a checkpoint and exits with 130 (or 143); a second \
    one ends at once. A run that was stopped and resumed leaves the same bytes as one that never stopped.")]
pub struct RunArguments {
    /// The scene file; a small built-in lotto if left out
    #[arg(value_hint = ValueHint::FilePath)]
    pub scene: Option<PathBuf>,
    /// Folder for the results [default: runs/NAME, after the name of the scene]
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Simulated time at which to end, instead of the scene's
    #[arg(long, short, value_name = "T", value_parser = positive_number)]
    pub until: Option<f64>,
    /// Go on from the checkpoint in the folder; the scene may be left out
    #[arg(long, short, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Replace the run that is in the folder
    #[arg(long)]
    pub overwrite: bool,
    /// Threads to compute with [default: all cores]; results do not depend on it
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Change a value of the scene: `time.dt=1e-4`, `obstacle.0.shape.sphere.radius=2`; may be repeated
    #[arg(long, short, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,
    /// Write the projection problem of this step to projection-STEP.qpb in the folder
    #[arg(long, value_name = "STEP", value_parser = clap::value_parser!(u64).range(1..))]
    pub dump_projection: Option<u64>,
    /// Show the run on a page in the browser while it goes on, and until Ctrl-C when it is over
    #[arg(long)]
    pub view: bool,
    /// Where the page is served [default: this machine alone, port 8321 or any that is free]
    #[arg(long, value_name = "ADDRESS[:PORT]", requires = "view")]
    pub listen: Option<String>,
    /// No progress bar, and no summary but the folder of the results
    #[arg(long, short)]
    pub quiet: bool,
}

/// What to watch.
#[derive(Debug, Args)]
#[command(
    after_help = "The page needs no internet. Scenes are looked for in this folder and in scenes, runs in runs. Without \
    --listen the page is for this machine alone. An address that others can reach ends with a token: whoever has all of it \
    can watch and steer."
)]
pub struct ViewArguments {
    /// The folder of a run
    #[arg(value_hint = ValueHint::DirPath)]
    pub run: Option<PathBuf>,
    /// Where the page is served [default: this machine alone, port 8321 or any that is free]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub listen: Option<String>,
    /// Threads to compute with [default: all cores]; results do not depend on it
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// What to check.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The scene file
    #[arg(value_hint = ValueHint::FilePath)]
    pub scene: PathBuf,
    /// Change a value of the scene first, as in `gluey run`
    #[arg(long, short, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,
}

/// What to solve, and how.
#[derive(Debug, Args)]
#[command(
    after_help = "The layout of the file is in docs/projection-format.md. Exit code 1: not solved to the tolerance."
)]
pub struct ProjectArguments {
    /// The problem file
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The method
    #[arg(long, short, value_parser = solvers(), default_value_t)]
    pub solver: Method,
    /// Which impulses, where several give the same velocity
    #[arg(long, value_enum, default_value_t = Impulses::AsFound)]
    pub impulses: Impulses,
    /// Residual to reach, relative to the file's length scale
    #[arg(long, short, value_name = "T", default_value_t = 1e-6, value_parser = positive_number)]
    pub tolerance: f64,
    /// Limit on sweeps
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub max_sweeps: u64,
    /// Start from zero instead of the file's start
    #[arg(long)]
    pub cold: bool,
    /// Solve K times and tell the best time
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    /// Write the multipliers as little-endian f64, in the file's order
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub multipliers: Option<PathBuf>,
}

/// What to draw, and how.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[command(
    after_help = "Without --png, --gif, --mp4 and --montage: PNG frames, and a GIF of them if there are several. \
    Options go before the table [picture] of the scene. Pictures need no display and no GPU; MP4 needs ffmpeg."
)]
pub struct RenderArguments {
    /// The folder of a run; several with --montage
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// Folder for pictures and animations [default: pictures in the folder of the run]
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Write PNG frames
    #[arg(long)]
    pub png: bool,
    /// Write animation.gif
    #[arg(long)]
    pub gif: bool,
    /// Write animation.mp4, by ffmpeg
    #[arg(long)]
    pub mp4: bool,
    /// Write one picture of several times (and runs, a column each) to a PNG file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["png", "gif", "mp4", "out"])]
    pub montage: Option<PathBuf>,
    /// What stands above the columns of a montage [default: the names of the folders]
    #[arg(long, value_name = "TEXT,…", value_delimiter = ',', requires = "montage")]
    pub labels: Vec<String>,
    /// The frames nearest to these times
    #[arg(long, value_name = "T,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = number)]
    pub times: Vec<f64>,
    /// Every so many frames
    #[arg(long, value_name = "N", conflicts_with = "times")]
    pub every: Option<NonZeroUsize>,
    /// Pixels [default: 1280x720; in a montage as the scene asks]
    #[arg(long, value_name = "WxH")]
    pub size: Option<Size>,
    /// What the colour of a particle tells [default: group]
    #[arg(long, visible_alias = "color", value_parser = colours())]
    pub colour: Option<ColourBy>,
    /// Values of the first and last colour [default: those of the frames]
    #[arg(long, value_name = "LEAST,GREATEST", allow_hyphen_values = true)]
    pub range: Option<Range>,
    /// Contacts as tubes, the darker the more glued
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub contacts: Option<bool>,
    /// The glue -gamma that is drawn black [default: what few contacts exceed]
    #[arg(long, value_name = "G", value_parser = positive_number)]
    pub gamma_scale: Option<f64>,
    /// How obstacles are drawn [default: surfaces]
    #[arg(long, value_enum)]
    pub obstacles: Option<Obstacles>,
    /// Colour of the background, "#rrggbb" or a name [default: a light grey]
    #[arg(long, value_name = "COLOUR")]
    pub background: Option<Colour>,
    /// Radius of particles as drawn, relative to the true one [default: 1; 0.5 in 3D with contacts]
    #[arg(long, value_name = "S", value_parser = positive_number)]
    pub scale: Option<f64>,
    /// From where a 3D scene is seen: the direction from the scene to the eye
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = direction)]
    pub camera: Option<DVec3>,
    /// The direction that points up in a picture of a 3D scene [default: 0,0,1]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = direction)]
    pub up: Option<DVec3>,
    /// The point in the middle of the picture [default: the middle of all that is drawn]
    #[arg(long, value_name = "X,Y[,Z]", allow_hyphen_values = true, value_parser = vector)]
    pub look_at: Option<DVec3>,
    /// Magnification
    #[arg(long, value_name = "Z", value_parser = positive_number)]
    pub zoom: Option<f64>,
    /// Frames a second of animations [default: 25]
    #[arg(long, value_name = "F", value_parser = positive_number)]
    pub fps: Option<f64>,
    /// Threads to draw with [default: all cores]; pictures do not depend on it
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// No progress bar, and nothing said but where the results are
    #[arg(long, short)]
    pub quiet: bool,
}

/// What to measure.
#[derive(Debug, Args)]
#[command(after_help = "Tables and figures are described in docs/simulations.md.")]
pub struct MeasureArguments {
    /// The folders of the runs; they are drawn in one figure
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// Folder for tables and plots; it is made if need be
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// What the runs are called [default: the names of the folders]
    #[arg(long, value_name = "TEXT,…", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// The direction that counts as up [default: 0,1,0 in 2D and 0,0,1 in 3D]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = direction)]
    pub up: Option<DVec3>,
}

/// What to tell about a run.
#[derive(Debug, Args)]
#[command(after_help = "Measures are those of the last frame; their formulas are in docs/measures.md.")]
pub struct InfoArguments {
    /// The folder of the run
    #[arg(value_hint = ValueHint::DirPath)]
    pub run: PathBuf,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    /// Tell all measures: distributions, the stress tensor, sizes of clusters
    #[arg(long)]
    pub measures: bool,
    /// Tell the solid fraction of a box, from its least to its greatest corner; may be given several times
    #[arg(long = "region", value_name = "X,Y,Z:X,Y,Z", allow_hyphen_values = true, value_parser = two_vectors)]
    pub regions: Vec<(DVec3, DVec3)>,
    /// Tell what went through a plane, a point and a normal, over all frames; may be given several times
    #[arg(long = "plane", value_name = "X,Y,Z:X,Y,Z", allow_hyphen_values = true, value_parser = plane)]
    pub planes: Vec<(DVec3, DVec3)>,
    /// The direction that counts as up [default: 0,1,0 in 2D and 0,0,1 in 3D]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = direction)]
    pub up: Option<DVec3>,
}

/// What to make again.
#[derive(Debug, Args)]
#[command(
    after_help = "The page is DIR/report.html; it needs no other file. It is written anew after every section. A report \
    that was stopped goes on where it was when the same command is given again."
)]
pub struct PaperArguments {
    /// Folder for the page, and for the runs, tables and figures it is made of
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Small and short runs, in minutes: to see that all works, not to compare
    #[arg(long)]
    pub quick: bool,
    /// Only these sections
    #[arg(long, value_name = "SECTION,…", value_delimiter = ',', value_parser = PossibleValuesParser::new(paper::names()))]
    pub only: Vec<String>,
    /// Threads to compute with [default: all cores]; results do not depend on it
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// How obstacles are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Obstacles {
    /// Surfaces, in 3D such that particles behind them are seen
    Surfaces,
    /// Edges alone
    Edges,
    /// Not at all
    Hidden,
}

impl From<Obstacles> for ObstacleStyle {
    fn from(choice: Obstacles) -> Self {
        match choice {
            Obstacles::Surfaces => Self::Surfaces,
            Obstacles::Edges => Self::Edges,
            Obstacles::Hidden => Self::Hidden,
        }
    }
}

/// The names of what colours can tell, which help and completions list.
fn colours() -> impl TypedValueParser<Value = ColourBy> {
    let names = PossibleValuesParser::new(ColourBy::ALL.map(ColourBy::name));
    names.try_map(|name| name.parse::<ColourBy>())
}

/// The names of solvers, likewise.
fn solvers() -> impl TypedValueParser<Value = Method> {
    let names = PossibleValuesParser::new(Method::ALL.map(|solver| described(solver.name(), solver.about())));
    names.try_map(|name| name.parse::<Method>())
}

/// A value of an option with what it means, as help tells it: without the full stop.
fn described(name: &'static str, about: &'static str) -> PossibleValue {
    PossibleValue::new(name).help(about.trim_end_matches('.'))
}

fn number(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .ok_or_else(|| "it must be a finite number".to_owned())
}

fn vector(text: &str) -> Result<DVec3, String> {
    let parts: Option<Vec<f64>> = text.split(',').map(|part| number(part).ok()).collect();
    match parts.as_deref() {
        Some(&[x, y]) => Ok(DVec3::new(x, y, 0.0)),
        Some(&[x, y, z]) => Ok(DVec3::new(x, y, z)),
        _ => Err("write two or three numbers, as in 0,-1,0.5".to_owned()),
    }
}

fn two_vectors(text: &str) -> Result<(DVec3, DVec3), String> {
    let (first, second) = text.split_once(':').ok_or("write two vectors with a colon between, as in 0,0:1,2")?;
    if first.split(',').count() != second.split(',').count() {
        return Err("both vectors have two components, or both have three".to_owned());
    }
    Ok((vector(first)?, vector(second)?))
}

fn plane(text: &str) -> Result<(DVec3, DVec3), String> {
    match two_vectors(text)? {
        (_, DVec3::ZERO) => Err("the normal of a plane has a length".to_owned()),
        plane => Ok(plane),
    }
}

fn direction(text: &str) -> Result<DVec3, String> {
    match vector(text)? {
        DVec3::ZERO => Err("a direction has a length".to_owned()),
        vector if text.split(',').count() == 3 => Ok(vector),
        _ => Err("a direction has three components".to_owned()),
    }
}

/// Which impulses of those that give the same velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Impulses {
    /// As the solver leaves them
    AsFound,
    /// The smallest, by the sum of squares
    LeastNorm,
}

fn positive_number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("it must be a positive, finite number".to_owned()),
    }
}
