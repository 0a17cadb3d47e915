//! What can be asked of `gluey plane`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use gluey::plane::Experiment;

use crate::force::{force, table};

/// The experiments and studies on one particle and a plane.
#[derive(Debug, Subcommand)]
pub enum PlaneCommand {
    /// Run one particle and write its trajectory
    Simulate(SimulateArguments),
    /// The example solution q(t), γ(t) with its annotations
    Example(StudyArguments),
    /// Layers of several viscosities against the limit model, and the rate at which they tend to it
    Layers(LayersArguments),
    /// Convergence of the algorithm in h, in the norms of the theorem, with the bounds of its lemmas
    Convergence(ConvergenceArguments),
    /// Smooth against rough: when the particle takes off
    Roughness(RoughnessArguments),
    /// Contact times that cluster: one solution or two
    Uniqueness(OutArguments),
}

/// The particle and what acts on it; the paper's where nothing is said.
#[derive(Debug, Args)]
pub struct ExperimentArguments {
    /// Distance from the plane at the start
    #[arg(long, value_name = "LENGTH", default_value_t = 1.0, allow_hyphen_values = true)]
    pub q0: f64,
    /// Velocity at the start, away from the plane
    #[arg(long, value_name = "VELOCITY", default_value_t = 0.0, allow_hyphen_values = true)]
    pub u0: f64,
    /// Mass
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    pub mass: f64,
    /// Radius
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    pub radius: f64,
    /// Acceleration f(t): pairs TIME:VALUE, each holding until the next, or an expression of t such as `2*sin(t)`
    #[arg(long, value_name = "F", default_value = "0:-2,2:2", allow_hyphen_values = true)]
    pub force: String,
    /// Acceleration from a CSV file of two columns, time and value, with straight lines between
    #[arg(long, value_name = "FILE", conflicts_with = "force", value_hint = ValueHint::FilePath)]
    pub force_table: Option<PathBuf>,
    /// Roughness threshold γ_min ≤ 0: -inf is smooth, 0 is dry
    #[arg(long, value_name = "GAMMA", default_value_t = f64::NEG_INFINITY, allow_hyphen_values = true)]
    pub gamma_min: f64,
    /// Time at which to end
    #[arg(long, value_name = "T", default_value_t = 6.0, allow_hyphen_values = true)]
    pub until: f64,
}

/// What to simulate.
#[derive(Debug, Args)]
#[command(
    after_help = "Columns: t, q, u, gamma and lambda, the force on the particle, with 17 digits. Of the algorithm, lambda \
    is the mean over the step that ended; of the exact solution, it is without the impulses at hits, and u and gamma are \
    those just after an event."
)]
pub struct SimulateArguments {
    #[command(flatten)]
    pub experiment: ExperimentArguments,
    /// The model
    #[arg(long, value_enum, default_value_t = Model::Gluey)]
    pub model: Model,
    /// κ = 6πμr²/m of the lubrication model
    #[arg(long, value_name = "KAPPA", required_if_eq("model", "lubrication"), allow_hyphen_values = true)]
    pub kappa: Option<f64>,
    /// q_s of the rough lubrication model, instead of γ_min = 6πμ ln(q_s)
    #[arg(long, value_name = "LENGTH", conflicts_with = "gamma_min", requires = "kappa")]
    pub shift: Option<f64>,
    /// Time step
    #[arg(long, value_name = "H", default_value_t = 1e-3, allow_hyphen_values = true)]
    pub dt: f64,
    /// The file to write; the standard output if left out
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Also draw q, u and γ, as NAME.svg and NAME.png
    #[arg(long, value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
}

/// One of the three descriptions of the particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// The paper's particle/plane algorithm
    Gluey,
    /// The exact solution of the limit model, for piecewise-constant forces
    Exact,
    /// The layer of viscous fluid, m q'' = -6πμr² q'/(q + q_s) + m f
    Lubrication,
}

/// Where results go.
#[derive(Debug, Args)]
pub struct OutArguments {
    /// Folder for tables and plots; it is made if need be
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

/// A study of one experiment.
#[derive(Debug, Args)]
pub struct StudyArguments {
    #[command(flatten)]
    pub experiment: ExperimentArguments,
    #[command(flatten)]
    pub out: OutArguments,
}

/// Which layers.
#[derive(Debug, Args)]
pub struct LayersArguments {
    #[command(flatten)]
    pub study: StudyArguments,
    /// κ = 6πμr²/m of each layer
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,0.3,0.1,0.03,0.01,0.003,0.001,0.0001")]
    pub kappas: Vec<f64>,
}

/// Which time steps.
#[derive(Debug, Args)]
pub struct ConvergenceArguments {
    #[command(flatten)]
    pub study: StudyArguments,
    /// Numbers N of steps, h = T/N; those by default put no event of the paper's experiment on the grid
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "64,128,256,512,1024,2048,4096,8192")]
    pub steps: Vec<u32>,
}

/// Which roughness.
#[derive(Debug, Args)]
pub struct RoughnessArguments {
    /// Mass
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    pub mass: f64,
    /// Radius
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    pub radius: f64,
    /// Thresholds γ_min < 0
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true,
        default_value = "-6,-5,-4,-3.5,-3,-2.5,-2,-1.5,-1,-0.5,-0.25"
    )]
    pub gamma_mins: Vec<f64>,
    /// κ of the rough lubrication model
    #[arg(long, default_value_t = 1e-2, allow_hyphen_values = true)]
    pub kappa: f64,
    /// Time step of the algorithm
    #[arg(long, value_name = "H", default_value_t = 1e-3, allow_hyphen_values = true)]
    pub dt: f64,
    #[command(flatten)]
    pub out: OutArguments,
}

impl ExperimentArguments {
    /// The experiment, with the force that was given.
    pub fn experiment(&self) -> Result<Experiment> {
        let force = match &self.force_table {
            Some(path) => table(path).with_context(|| format!("cannot read the force from {}", path.display()))?,
            None => force(&self.force)?,
        };
        let Self { q0: gap, u0: velocity, mass, radius, gamma_min, .. } = *self;
        let experiment = Experiment { gap, velocity, mass, radius, force, gamma_min };
        experiment.check()?;
        Ok(experiment)
    }
}
