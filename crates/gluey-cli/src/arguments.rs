//! What can be asked of the command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::overrides::Override;

/// Rigid particles that interact through contact and lubrication.
#[derive(Debug, Parser)]
#[command(name = "gluey", version, propagate_version = true)]
#[command(after_help = "First steps:\n  \
    gluey run                a small built-in scene\n  \
    gluey new my.toml        a commented scene to start from\n  \
    gluey check my.toml      what is in it\n  \
    gluey run my.toml        run it\n\n\
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
    Info {
        /// The folder of the run
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
    },
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
    /// No progress bar, and no summary but the folder of the results
    #[arg(long, short)]
    pub quiet: bool,
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
    #[arg(long, short, value_enum, default_value_t = Solver::Apgs)]
    pub solver: Solver,
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

/// A method for the projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Solver {
    /// Accelerated projected Gauss-Seidel
    Apgs,
    /// Accelerated projected gradient
    Apgd,
    /// The paper's Uzawa algorithm
    Uzawa,
}

impl Solver {
    /// As the scene and the command line spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apgs => "apgs",
            Self::Apgd => "apgd",
            Self::Uzawa => "uzawa",
        }
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
