//! The state and the step.
//!
//! A step is predict → project → glue → move; the state is (x, V, γ); everything else is a pure function of it.

mod check;
mod contacts;
mod curvature;
mod error;
mod gate;
mod glue;
mod pair_list;
mod project;
mod report;
mod resolution;
mod search;
mod state;
mod timings;
mod vicinity;

use glam::DVec3;

pub use check::StateError;
pub use error::{Culprit, StepError};
use gate::Traffic;
pub use gate::{Crossings, Gate};
pub use report::{Load, StepReport};
pub use state::State;
pub use timings::Timings;

use crate::adhesion::{Adhesion, Step};
use crate::clump::{Clump, Integration, Overturn};
use crate::contact::{Contact, ContactGeometry};
use crate::environment::{Environment, Span};
use crate::geometry::{Obstacle, Unplaced, WallPoses};
use crate::interaction::{Bridge, Interactions, Moment};
use crate::openings::{Inside, Openings};
use crate::projection::{AcceleratedGaussSeidel, Criteria, ProblemFile, Projection};
use crate::shares::attended;
use project::{SubstepInput, Workspace};
use search::gap_of;
use timings::Part;

/// What to do when a projection does not end as it should.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recourse {
    /// End the step with an error.
    #[default]
    Stop,
    /// Take the best velocity found and count it in the report.
    Continue,
}

/// Which impulses a step takes where several give the same velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImpulseRule {
    /// The least where impulses become glue, as found where nothing depends on them.
    #[default]
    WhereRemembered,
    /// The least: Σ Λ² is as small as the velocity allows ([`LeastNorm`](crate::projection::LeastNorm)).
    LeastNorm,
    /// As the solver leaves them.
    AsFound,
}

impl ImpulseRule {
    /// Whether impulses under these laws are to be the least.
    #[must_use]
    pub fn is_least_norm(self, adhesion: &Adhesion) -> bool {
        match self {
            Self::WhereRemembered => adhesion.remembers(),
            Self::LeastNorm => true,
            Self::AsFound => false,
        }
    }
}

/// How steps are taken.
///
/// ```
/// use gluey::simulation::{Recourse, Settings};
///
/// let settings = Settings { at_limit: Recourse::Continue, ..Settings::new(1e-2) };
/// assert_eq!((settings.dt, settings.criteria.tolerance, settings.max_slip), (1e-2, 1e-6, 0.2));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Time step h (time).
    pub dt: f64,
    /// When a projection is solved.
    pub criteria: Criteria,
    /// Which impulses, where several give the same velocity.
    pub impulses: ImpulseRule,
    /// Largest tangential displacement of a contact in a sub-step, relative to the smallest radius; steps that would
    /// exceed it are split. Infinite: never split.
    pub max_slip: f64,
    /// Most sub-steps of a step.
    pub max_substeps: u32,
    /// When the tolerance is not reached.
    pub at_limit: Recourse,
    /// When no velocity is admissible.
    pub when_pinched: Recourse,
}

impl Settings {
    /// The defaults for a time step.
    #[must_use]
    pub fn new(dt: f64) -> Self {
        Self {
            dt,
            criteria: Criteria::default(),
            impulses: ImpulseRule::default(),
            max_slip: 0.2,
            max_substeps: 10_000,
            at_limit: Recourse::Stop,
            when_pinched: Recourse::Stop,
        }
    }
}

/// A state and the rules by which it moves on. The caller owns the loop.
///
/// A ball is thrown up where gravity is 10:
///
/// ```
/// use glam::DVec3;
/// use gluey::adhesion::{Adhesion, Law};
/// use gluey::environment::{Forcing, Inertial, Signal};
/// use gluey::simulation::{Settings, Simulation, State};
///
/// let mut state = State::default();
/// state.particles.push(DVec3::ZERO, 0.5, 1.0);
/// state.particles.velocity[0] = DVec3::Z * 5.0;
/// let gravity = [0.0, 0.0, -10.0].map(Signal::Constant);
/// let environment = Inertial::new(Forcing { gravity, ..Forcing::default() })?;
/// let dry = Adhesion::uniform(Law::Inelastic);
/// let mut simulation = Simulation::new(state, Vec::new(), Box::new(environment), dry);
/// simulation.settings = Settings::new(1e-3);
/// while simulation.time() < 1.0 {
///     simulation.step()?;
/// }
/// assert!((simulation.state.particles.velocity[0].z + 5.0).abs() < 1e-9);
/// assert!(simulation.state.particles.position[0].z.abs() < 0.006); // first order in the step: h t g/2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    /// Where everything is now.
    pub state: State,
    /// Fixed and moving obstacles.
    pub obstacles: Vec<Obstacle>,
    /// Where particles come in and leave.
    pub openings: Openings,
    /// What moves the particles between contacts.
    pub environment: Box<dyn Environment>,
    /// Forces between particles near each other, and with obstacles.
    pub interactions: Interactions,
    /// The law of γ.
    pub adhesion: Adhesion,
    /// The method of the projection.
    pub solver: Box<dyn Projection>,
    /// How steps are taken.
    pub settings: Settings,
    /// Planes at which crossings are counted; they change nothing else.
    pub gates: Vec<Gate>,
    /// The obstacles at the end of the sub-step being taken.
    walls: WallPoses,
    workspace: Workspace,
}

/// Pieces are this much shorter than asked for, so that rounding does not ask again.
const SPLIT_MARGIN: f64 = 1.001;

/// The part of the state that sub-steps change.
struct Moving {
    position: Vec<DVec3>,
    velocity: Vec<DVec3>,
    contacts: Vec<Contact>,
    least_norm_dual: Vec<DVec3>,
    clumps: Vec<Clump>,
    bridges: Vec<Bridge>,
    crossings: Vec<Crossings>,
}

impl Moving {
    fn of(state: &State) -> Self {
        Self {
            position: state.particles.position.clone(),
            velocity: state.particles.velocity.clone(),
            contacts: state.contacts.clone(),
            least_norm_dual: state.least_norm_dual.clone(),
            clumps: state.clumps.list.clone(),
            bridges: state.bridges.clone(),
            crossings: state.crossings.clone(),
        }
    }
}

/// A step, or a part of one that is split.
#[derive(Clone, Copy)]
struct Substep {
    span: Span,
    /// The smallest radius of those who are there or may come (length).
    length: f64,
}

/// Why a sub-step was not taken.
enum Refusal {
    /// It is so many times too long.
    TooLong(f64, TooFast),
    Failed(StepError),
}

/// What is too fast for a sub-step.
#[derive(Clone, Copy)]
enum TooFast {
    /// Contacts that slide.
    Sliding,
    /// An obstacle, which goes so far (length) beside a particle.
    Obstacle { obstacle: usize, particle: usize, path: f64 },
    /// A particle, which may go so far (length) in a periodic cell.
    InCell { particle: usize, path: f64 },
    /// A clump, which turns by so much (radians).
    Clump { clump: usize, angle: f64 },
}

impl From<Overturn> for Refusal {
    fn from(Overturn { clump, angle, times }: Overturn) -> Self {
        Self::TooLong(times, TooFast::Clump { clump, angle })
    }
}

impl From<StepError> for Refusal {
    fn from(error: StepError) -> Self {
        Self::Failed(error)
    }
}

impl Simulation {
    /// A simulation with default settings and solver.
    #[must_use]
    pub fn new(state: State, obstacles: Vec<Obstacle>, environment: Box<dyn Environment>, adhesion: Adhesion) -> Self {
        Self {
            state,
            obstacles,
            openings: Openings::default(),
            environment,
            interactions: Interactions::default(),
            adhesion,
            solver: Box::new(AcceleratedGaussSeidel::default()),
            settings: Settings::new(1e-3),
            gates: Vec::new(),
            walls: WallPoses::default(),
            workspace: Workspace::default(),
        }
    }

    /// tⁿ = n·dt.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.state.step as f64 * self.settings.dt
    }

    /// Advances from tⁿ to tⁿ⁺¹, in as many sub-steps as the contacts' slip asks for. On error the state is left as it
    /// was.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        self.step_into(&mut report)?;
        Ok(report)
    }

    /// The same for loops of many steps, which need no new memory then: the report takes the place of the one given. On
    /// error that one, too, is left as it was. Where there are more than a few hundred particles the step, and with it the environment, is
    /// on a thread of rayon's pool, whoever calls.
    pub fn step_into(&mut self, report: &mut StepReport) -> Result<(), StepError> {
        attended(self.state.particles.len(), || self.take_step(report))
    }

    fn take_step(&mut self, report: &mut StepReport) -> Result<(), StepError> {
        let (start, dt) = (self.time(), self.settings.dt);
        let length = self.smallest_radius();
        let due = self.openings.due((self.state.step + 1) as f64 * dt)?;
        self.workspace.report.clear(self.obstacles.len());
        let mut before: Option<Moving> = None;
        let (mut left, mut pieces) = (1.0, 1_u32); // the share of the step that is left, and in how many sub-steps
        while pieces > 0 {
            let share = left / f64::from(pieces);
            let span = Span { start: start + dt * (1.0 - left), dt: dt * share };
            let taken = self.advance(Substep { span, length });
            self.workspace.clock.turn_to(Part::Outside);
            match taken {
                Ok(()) => {
                    left -= share;
                    pieces -= 1;
                }
                Err(Refusal::TooLong(times, too_fast)) => {
                    before.get_or_insert_with(|| Moving::of(&self.state));
                    let needed = f64::from(pieces) * (SPLIT_MARGIN * times).ceil().max(2.0);
                    if needed + f64::from(self.workspace.report.substeps) > f64::from(self.settings.max_substeps) {
                        let error = self.too_many_substeps(too_fast, span.dt, times);
                        self.restore(before);
                        return Err(error);
                    }
                    pieces = needed as u32;
                }
                Err(Refusal::Failed(error)) => {
                    self.restore(before);
                    return Err(error);
                }
            }
        }
        self.state.step += 1;
        self.pass_openings(&due); // who is in an outlet leaves, who is due comes in
        std::mem::swap(report, &mut self.workspace.report);
        report.contacts = self.state.contacts.len();
        Ok(())
    }

    /// One (sub-)step, as in the paper: steps 1 to 4.
    fn advance(&mut self, now: Substep) -> Result<(), Refusal> {
        self.place_walls(now)?; // yⁿ⁺¹
        self.predict(now)?; // 1. V^{n+1/2}, and the metric M
        self.find_contacts(now)?; // all that could meet, and all that are glued
        self.project(now)?; // 2. Vⁿ⁺¹, and the impulses Λ ≥ γⁿ/R
        self.remember(now); // 3. γⁿ⁺¹ = max(γ_min, γⁿ − RΛ)
        self.move_on(now); // 4. xⁿ⁺¹ = xⁿ + hVⁿ⁺¹
        Ok(())
    }

    fn place_walls(&mut self, now: Substep) -> Result<(), StepError> {
        let time = now.span.end();
        let refuse = |Unplaced { obstacle, why }| StepError::unrepeatable(&self.obstacles[obstacle].name, why, time);
        self.walls.place(&self.obstacles, self.state.particles.cell.as_ref(), time).map_err(refuse)
    }

    /// What the environment, pair forces, and whatever holds clumps together make of the velocities.
    fn predict(&mut self, Substep { span, .. }: Substep) -> Result<(), Refusal> {
        let Self { state, obstacles, environment, interactions, workspace, .. } = self;
        workspace.clock.turn_to(Part::Predict);
        let prediction = &mut workspace.contacts.problem.prediction;
        environment.predict(&state.particles, span, prediction).map_err(StepError::from)?;
        interactions.act(&moment(state, obstacles, span), prediction).map_err(StepError::from)?; // M⁻¹ hF
        if !state.clumps.is_empty() && !prediction.metric.is_diagonal() {
            return Err(StepError::ClumpsInFarField.into());
        }
        let integration = Integration { inertia: environment.inertia(), dt: span.dt };
        Ok(workspace.moves.predict(&state.clumps, &state.particles, integration, prediction)?)
    }

    fn find_contacts(&mut self, now: Substep) -> Result<(), Refusal> {
        let (input, workspace, _) = self.parts(now);
        workspace.clock.turn_to(Part::Search);
        let fastest = workspace.pair_list.pose(&input, &mut workspace.contacts)?;
        input.limit_slip(fastest).map(|_| ())
    }

    fn project(&mut self, now: Substep) -> Result<(), Refusal> {
        let (input, workspace, solver) = self.parts(now);
        workspace.project(solver, &input)
    }

    /// Impulses become loads on obstacles, and glue.
    fn remember(&mut self, now: Substep) {
        let (input, workspace, _) = self.parts(now);
        workspace.clock.turn_to(Part::Glue);
        workspace.record_loads(&input);
        let Self { state, obstacles, adhesion, interactions, settings, workspace, .. } = self;
        let step = Step { particles: &state.particles, obstacles, dt: now.span.dt };
        workspace.glue(adhesion, &step, settings.dt, &mut state.contacts);
        std::mem::swap(&mut state.least_norm_dual, &mut workspace.least_norm_dual);
        interactions.remember_bridges(&mut state.bridges);
    }

    /// The particles go on, and clumps turn.
    fn move_on(&mut self, Substep { span, .. }: Substep) {
        let Self { state, obstacles, environment, gates, walls, workspace, .. } = self;
        workspace.clock.turn_to(Part::Move);
        let State { particles, clumps, crossings, .. } = state;
        let (velocity, moves) = (&workspace.contacts.solution.velocity, &workspace.moves);
        Traffic { particles, velocity, clumps: &clumps.list, moves, dt: span.dt }.count(gates, crossings);
        particles.advance(velocity, span.dt);
        moves.finish(clumps, particles, Integration { inertia: environment.inertia(), dt: span.dt });
        workspace.record_gaps(particles, walls.of(obstacles));
    }

    /// What a sub-step reads, what it computes, and who projects for it.
    fn parts(&mut self, Substep { span, length }: Substep) -> (SubstepInput<'_>, &mut Workspace, &mut dyn Projection) {
        let Self { state, obstacles, environment, interactions, adhesion, solver, settings, .. } = self;
        let (walls, workspace) = (self.walls.of(obstacles), &mut self.workspace);
        let input = SubstepInput { state, length, obstacles, walls, interactions, adhesion, settings, span };
        (input, workspace, environment.projection().unwrap_or(&mut **solver))
    }

    /// Who is in an outlet leaves, who is due comes in.
    fn pass_openings(&mut self, due: &[u64]) {
        if self.openings.is_empty() {
            return;
        }
        let (time, touching) = (self.time(), self.state.contacts.len());
        if !self.state.clumps.is_empty() {
            self.workspace.pair_list.forget(); // whose spheres are held together is known by index
        }
        let State { particles, contacts, least_norm_dual, clumps, bridges, ledger, .. } = &mut self.state;
        let mut inside = Inside { particles, contacts, least_norm_dual, bridges, clumps, ledger };
        let report = &mut self.workspace.report;
        report.traffic = self.openings.pass(time, due, &self.obstacles, &mut inside);
        if self.state.contacts.len() < touching {
            report.glued = self.state.contacts.iter().filter(|contact| contact.gamma < 0.0).count();
        }
    }

    fn restore(&mut self, before: Option<Moving>) {
        if let Some(moving) = before {
            self.state.particles.position = moving.position;
            self.state.particles.velocity = moving.velocity;
            self.state.contacts = moving.contacts;
            self.state.least_norm_dual = moving.least_norm_dual;
            self.state.clumps.list = moving.clumps;
            self.state.bridges = moving.bridges;
            self.state.crossings = moving.crossings;
        }
    }

    /// The refusal of a step of which a piece of length dt was still so many times too long.
    fn too_many_substeps(&self, too_fast: TooFast, dt: f64, times: f64) -> StepError {
        let whole = self.settings.dt / dt;
        let culprit = match too_fast {
            TooFast::Sliding => {
                let (particle, displacement) = self.workspace.contacts.fastest(self.smallest_radius());
                Culprit::Particle { particle, displacement: displacement * whole }
            }
            TooFast::Obstacle { obstacle, particle, path } => {
                Culprit::Obstacle { name: self.obstacles[obstacle].name.clone(), path: path * whole, particle }
            }
            TooFast::InCell { particle, path } => {
                let period = self.state.particles.cell.map_or(f64::INFINITY, |cell| cell.least_period());
                Culprit::InCell { particle, path: path * whole, period }
            }
            TooFast::Clump { clump, angle } => Culprit::Clump { clump, angle: angle * whole },
        };
        let most = self.settings.max_substeps;
        StepError::TooManySubsteps { most, culprit, dt: (dt / times * f64::from(most)).min(0.5 * self.settings.dt) }
    }

    /// The smallest radius of those who are there or may come: the length scale of every tolerance.
    #[must_use]
    pub fn smallest_radius(&self) -> f64 {
        self.state.particles.smallest_radius().min(self.openings.smallest_radius())
    }

    /// Where the wall time of the steps so far went.
    #[must_use]
    pub fn timings(&self) -> Timings {
        self.workspace.clock.timings
    }

    /// The contacts of the state with their gaps and normals at the present positions.
    #[must_use]
    pub fn contacts(&self) -> Vec<ContactGeometry> {
        let mut walls = WallPoses::default();
        let cell = self.state.particles.cell.as_ref();
        // The step that led here has put them at the same places.
        if walls.place(&self.obstacles, cell, self.time()).is_err() {
            return Vec::new();
        }
        let walls = walls.of(&self.obstacles);
        let geometry = |contact: &Contact| {
            let (gap, normal) = gap_of(contact.pair, &self.state.particles, walls)?;
            Some(ContactGeometry { contact: *contact, gap, normal })
        };
        self.state.contacts.iter().filter_map(geometry).collect()
    }

    /// Takes a step and gives the projection problem it solved (the last, where there were several), as a file that
    /// another solver can be tried on; it starts from the impulses of the contacts before the step.
    pub fn step_with_problem(&mut self, dimension: usize) -> Result<(StepReport, ProblemFile), StepError> {
        let (particles, contacts) = (self.state.particles.clone(), self.state.contacts.clone());
        let report = self.step()?;
        let warm = self.workspace.contacts.impulses_of(&contacts);
        let (position, radius) = (particles.position, particles.radius);
        Ok((report, ProblemFile { warm, position, radius, ..self.last_problem(dimension) }))
    }

    /// The projection problem last solved or given up, for a file that another solver can be tried on; it starts from the
    /// impulses of the state's contacts. It is about the particles before those came and left who passed an opening.
    #[must_use]
    pub fn last_problem(&self, dimension: usize) -> ProblemFile {
        let particles = &self.state.particles;
        let problem = self.workspace.contacts.problem.clone();
        let warm = self.workspace.contacts.impulses_of(&self.state.contacts);
        ProblemFile { dimension, problem, warm, position: particles.position.clone(), radius: particles.radius.clone() }
    }
}

/// What pair forces read of the state.
fn moment<'a>(state: &'a State, obstacles: &'a [Obstacle], span: Span) -> Moment<'a> {
    let State { particles, contacts, bridges, .. } = state;
    Moment { particles, contacts, bridges, obstacles, span }
}
