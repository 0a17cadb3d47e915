//! What can be asked of the command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
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
    #[arg(long, short, value_name = "T", value_parser = positive_time)]
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

fn positive_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time > 0.0 && time.is_finite() => Ok(time),
        _ => Err("it must be a positive, finite number".to_owned()),
    }
}
