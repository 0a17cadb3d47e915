//! What can be asked of `gluey stokes`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

/// Drags, flows and the coupling of a fluid with contacts.
#[derive(Debug, Subcommand)]
pub enum StokesCommand {
    /// The drag on a sphere that moves normal to a plane
    Drag(DragArguments),
    /// A particle in a fluid that is pushed to a plane and pulled off, with or without a contact
    Couple(CoupleArguments),
    /// The flow about a sphere that leaves a plane: streamlines and pressure, as a figure and for ParaView
    Flow(FlowArguments),
    /// The paper's three figures on the coupling, by live runs of the solvers
    Figures(FiguresArguments),
}

/// Who knows the drag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Brenner's series
    Exact,
    /// Finite elements that follow the surfaces
    Fe,
    /// A fixed mesh on which the particle is a very viscous fluid
    Penalised,
}

/// Grids of the solvers. Lengths are in radii of the particle.
#[derive(Clone, Copy, Debug, Args)]
pub struct GridArguments {
    /// Cells of the finite elements across the fluid, from the plane to the sphere
    #[arg(long, value_name = "N", default_value_t = stokes::fitted::Grid::default().across)]
    pub across: usize,
    /// Cells of the finite elements along the sphere, from pole to pole
    #[arg(long, value_name = "N", default_value_t = stokes::fitted::Grid::default().along)]
    pub along: usize,
    /// Cells of the penalised mesh, in radii
    #[arg(long, value_name = "DX", default_value_t = 0.1, allow_hyphen_values = true)]
    pub cell: f64,
    /// Penalty parameter: the particle is a fluid 1 + 1/penalty times as viscous
    #[arg(long, value_name = "EPS", default_value_t = 1e-8, allow_hyphen_values = true)]
    pub penalty: f64,
}

/// Which drag.
#[derive(Debug, Args)]
#[command(after_help = "lambda is the force over that on the sphere alone in the fluid, 6 pi mu r u.")]
pub struct DragArguments {
    /// Distance of the surfaces, in radii
    #[arg(long, value_name = "GAP", allow_hyphen_values = true)]
    pub gap: f64,
    /// Who is asked
    #[arg(long, value_enum, default_value_t = Method::Exact)]
    pub method: Method,
    #[command(flatten)]
    pub grid: GridArguments,
    /// Print JSON, for programs: lambda, unknowns, seconds
    #[arg(long)]
    pub json: bool,
}

/// Who drives the particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Solver {
    /// Finite elements that follow the surfaces, solved at every step
    Fe,
    /// The penalised fixed mesh
    Penalised,
    /// Drags in a table, by default of the exact ones
    Table,
}

/// What keeps the particle off the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ContactKind {
    /// The fluid alone
    None,
    /// No gap below eta, and a pull acts at once
    Inelastic,
    /// No gap below eta, and pushes must be paid back
    Gluey,
}

/// Which experiment.
#[derive(Debug, Args)]
#[command(
    after_help = "Lengths are radii, forces are in units of 6 pi mu r, gamma in those times time. Columns: t, q, u, gamma and \
    lambda, the force of the contact. hit and takeoff are the ends of the steps in which the particle came to eta and had \
    left it again."
)]
pub struct CoupleArguments {
    /// The fluid
    #[arg(long, value_enum, default_value_t = Solver::Penalised)]
    pub solver: Solver,
    /// Drags of --solver table, as CSV of two columns: gap in radii, lambda
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub table: Option<PathBuf>,
    /// The contact
    #[arg(long, value_enum, default_value_t = ContactKind::Gluey)]
    pub contact: ContactKind,
    /// Distance below which the contact owns lubrication
    #[arg(long, default_value_t = 0.1, allow_hyphen_values = true)]
    pub eta: f64,
    /// Roughness threshold of the gluey contact: -inf is smooth
    #[arg(long, value_name = "GAMMA", default_value_t = f64::NEG_INFINITY, allow_hyphen_values = true)]
    pub gamma_min: f64,
    /// Gap at the start
    #[arg(long, default_value_t = 0.7, allow_hyphen_values = true)]
    pub q0: f64,
    /// Force f(t): pairs TIME:VALUE, each holding until the next, or an expression of t
    #[arg(long, value_name = "F", default_value = "0:-2,2:2", allow_hyphen_values = true)]
    pub force: String,
    /// Time step
    #[arg(long, value_name = "H", default_value_t = 0.01, allow_hyphen_values = true)]
    pub dt: f64,
    /// Time at which to end
    #[arg(long, value_name = "T", default_value_t = 5.0, allow_hyphen_values = true)]
    pub until: f64,
    #[command(flatten)]
    pub grid: GridArguments,
    /// The file to write
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Print JSON, for programs: hit, takeoff, final
    #[arg(long)]
    pub json: bool,
}

/// Which flow.
#[derive(Debug, Args)]
pub struct FlowArguments {
    /// Distance of the surfaces, in radii
    #[arg(long, value_name = "GAP", default_value_t = 0.2, allow_hyphen_values = true)]
    pub gap: f64,
    /// Folder for the results; it is made if need be
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

/// Where the figures go.
#[derive(Debug, Args)]
pub struct FiguresArguments {
    /// Folder for tables and plots; it is made if need be
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Time step of the coupled runs
    #[arg(long, value_name = "H", default_value_t = 0.01, allow_hyphen_values = true)]
    pub dt: f64,
}
