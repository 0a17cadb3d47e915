//! What is written of a run of a scene, and when: everything here is a function of the states, so that a run that was
//! stopped and resumed leaves the same bytes as one that never stopped, whoever drives it. Only wall times look at a
//! clock.

use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::{Duration, Instant};

use glam::DVec3;

use crate::geometry::{Extent, Obstacle, Particles, Shape};
use crate::measures::{Instrument, observe};
use crate::scene::{self, Output, Scene};
use crate::simulation::{Simulation, StateError, StepReport, Timings};
use crate::trajectory::{
    Checkpoint, Frame, Group, IfPresent, Observation, ObstacleSurface, Recorder, RunInfo, Timing, TrajectoryError,
};

/// Work that a power cut may cost at most, whatever the scene says; checkpoints between change no byte of the last one.
const LONGEST_WITHOUT_CHECKPOINT: Duration = Duration::from_mins(10);
/// Room around the scene in which infinite walls are drawn, relative to its size.
const MARGIN: f64 = 0.1;

/// Wall time since this process started or resumed the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// In each part of the steps.
    pub steps: Timings,
    /// Writing results and checkpoints.
    pub write: Duration,
}

/// Writes a run.
#[derive(Debug)]
pub struct Logbook {
    recorder: Recorder,
    output: Output,
    instruments: Vec<Instrument>,
    view: Extent,
    started: Instant,
    /// Time spent on writing.
    write: Duration,
    /// The last row of wall times: its step, when it was written, and what had been spent until then.
    timed: (u64, Instant, Spent),
    saved: (u64, Instant),
}

impl Logbook {
    /// Starts a run in a folder, with its state at t = 0.
    pub fn start(folder: &Path, scene: &Scene, if_present: IfPresent) -> Result<Self, TrajectoryError> {
        let recorder = Recorder::create(folder, &run_info(scene), scene.output.formats, if_present)?;
        let mut logbook = Self::new(recorder, scene, 0);
        logbook.record(&scene.simulation, &before_the_first_step())?;
        logbook.checkpoint(&scene.simulation, &before_the_first_step())?;
        Ok(logbook)
    }

    /// Goes on with the run in a folder. The scene is as it was at t = 0: what infinite walls look like depends on it.
    pub fn resume(folder: &Path, scene: &Scene, checkpoint: &Checkpoint) -> Result<Self, TrajectoryError> {
        Ok(Self::new(Recorder::resume(folder, checkpoint)?, scene, checkpoint.state.step))
    }

    fn new(mut recorder: Recorder, scene: &Scene, step: u64) -> Self {
        recorder.keep_multiples_of(NonZeroU64::new(scene.output.checkpoint_every).unwrap_or(NonZeroU64::MIN));
        let now = Instant::now();
        let view = view(scene);
        Self {
            recorder,
            output: scene.output,
            instruments: scene.instruments.clone(),
            view,
            started: now,
            write: Duration::ZERO,
            timed: (step, now, Spent::default()),
            saved: (step, now),
        }
    }

    /// The folder of the run.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.recorder.folder()
    }

    /// Frames written so far.
    #[must_use]
    pub fn frames(&self) -> usize {
        if self.output.formats.is_empty() { 0 } else { self.recorder.frames().len() }
    }

    /// Wall time since this process started or resumed the run.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What it was spent on.
    #[must_use]
    pub fn spent(&self, simulation: &Simulation) -> Spent {
        Spent { steps: simulation.timings(), write: self.write }
    }

    /// The step of the last checkpoint.
    #[must_use]
    pub fn saved_step(&self) -> u64 {
        self.saved.0
    }

    /// Refuses to go on where a file that the run adds to is not what it was left as.
    pub fn check_places(&self) -> Result<(), TrajectoryError> {
        self.recorder.check_places()
    }

    /// Notes facts about the machine.
    pub fn record_host(&self, facts: &[(&str, String)]) -> Result<(), TrajectoryError> {
        self.recorder.record_host(facts)
    }

    /// Writes what is due after a step, the checkpoint last.
    pub fn record(&mut self, simulation: &Simulation, report: &StepReport) -> Result<(), TrajectoryError> {
        let step = simulation.state.step;
        if step.is_multiple_of(self.output.series_every) {
            self.record_row(simulation, report)?;
        }
        if step.is_multiple_of(self.output.frame_every) {
            self.record_frame(simulation)?;
        }
        if step.is_multiple_of(self.output.series_every) {
            self.record_timing(simulation)?;
        }
        if step.is_multiple_of(self.output.checkpoint_every) || self.saved.1.elapsed() > LONGEST_WITHOUT_CHECKPOINT {
            self.checkpoint(simulation, report)?;
        }
        Ok(())
    }

    /// Writes the end of a run: it has a row and a frame even where none is due. These come after the checkpoint, so
    /// that they are gone again if the run is resumed to a later end.
    pub fn close(&mut self, simulation: &Simulation, report: &StepReport) -> Result<(), TrajectoryError> {
        let step = simulation.state.step;
        self.checkpoint(simulation, report)?;
        if !step.is_multiple_of(self.output.series_every) {
            self.record_row(simulation, report)?;
        }
        if !step.is_multiple_of(self.output.frame_every) {
            self.record_frame(simulation)?;
        }
        self.record_timing(simulation)?;
        self.recorder.check_places()
    }

    /// Writes a checkpoint.
    pub fn checkpoint(&mut self, simulation: &Simulation, report: &StepReport) -> Result<(), TrajectoryError> {
        let start = Instant::now();
        self.recorder.checkpoint(&simulation.state, report)?;
        self.saved = (simulation.state.step, Instant::now());
        self.write += start.elapsed();
        Ok(())
    }

    fn record_row(&mut self, simulation: &Simulation, report: &StepReport) -> Result<(), TrajectoryError> {
        let start = Instant::now();
        let (time, particles) = (simulation.time(), &simulation.state.particles);
        let potential_energy = simulation.environment.potential_energy(particles, time);
        let step = simulation.state.step;
        let kinetic_energy = simulation.state.kinetic_energy();
        let measures = &observe(&self.instruments, simulation, self.view.dimension);
        let row = Observation { step, time, particles, kinetic_energy, potential_energy, report, measures };
        self.recorder.record_step(&row)?;
        self.write += start.elapsed();
        Ok(())
    }

    fn record_frame(&mut self, simulation: &Simulation) -> Result<(), TrajectoryError> {
        let start = Instant::now();
        let recorder = &mut self.recorder;
        with_frame(simulation, &self.view, |frame| recorder.record_frame(frame))?;
        self.write += start.elapsed();
        Ok(())
    }

    /// The present frame as viewers get it.
    pub fn compact_frame(&self, simulation: &Simulation) -> io::Result<Vec<u8>> {
        let dimension = self.recorder.manifest().info.dimension;
        with_frame(simulation, &self.view, |frame| crate::trajectory::encode(frame, dimension))
    }

    /// Adds a row of wall times, unless there is one of this step.
    fn record_timing(&mut self, simulation: &Simulation) -> Result<(), TrajectoryError> {
        let (last, when, before) = self.timed;
        let (step, time) = (simulation.state.step, simulation.time());
        if step <= last {
            return Ok(());
        }
        let (now, spent) = (Instant::now(), self.spent(simulation));
        let since = |part: fn(&Timings) -> Duration| part(&spent.steps).saturating_sub(part(&before.steps));
        let steps = Timings {
            predict: since(|t| t.predict),
            search: since(|t| t.search),
            project: since(|t| t.project),
            glue: since(|t| t.glue),
            advance: since(|t| t.advance),
        };
        let (write, total) = (spent.write.saturating_sub(before.write), now - when);
        self.recorder.record_timing(&Timing { step, time, steps, write, total })?;
        self.timed = (step, now, spent);
        Ok(())
    }
}

/// Nothing has been solved yet and no gap been measured.
#[must_use]
pub fn before_the_first_step() -> StepReport {
    StepReport { least_gap: f64::INFINITY, ..StepReport::default() }
}

/// What makes a run of a scene the run it is.
#[must_use]
pub fn run_info(scene: &Scene) -> RunInfo {
    let group = |group: &scene::Group| Group { name: group.name.clone(), colour: group.colour };
    RunInfo {
        scene_text: scene.text.clone(),
        scene_name: scene.name.clone(),
        seed: scene.seed,
        dimension: scene.dimension as u8,
        dt: scene.simulation.settings.dt,
        groups: scene.groups.iter().map(group).collect(),
        obstacle_names: scene.simulation.obstacles.iter().map(|obstacle| obstacle.name.clone()).collect(),
        openings: !scene.simulation.openings.is_empty(),
        measures: scene.instruments.iter().flat_map(|instrument| instrument.columns(scene.dimension)).collect(),
    }
}

/// Why a checkpoint is not of a run of a scene.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The scene gives other particles than when its run was started.
    #[error(
        "the scene no longer gives the particles that were run: {then} then, {now} now, or with other radii, masses or \
         groups"
    )]
    OtherParticles {
        /// How many there were at the start.
        then: u64,
        /// How many the scene gives now.
        now: u64,
    },
    /// No run of the scene has such a state.
    #[error("the checkpoint holds a state that no run of its scene has: {0}")]
    State(StateError),
    /// Its particles belong to a group, or its report tells of an obstacle, that the scene does not have.
    #[error("the checkpoint tells of {what}, which its scene does not have")]
    Unknown {
        /// Which.
        what: String,
    },
}

impl Misfit {
    /// Whether the checkpoint is not what was written; else the files of the scene are not.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::OtherParticles { .. })
    }
}

/// Refuses a checkpoint whose state cannot be of a run of the scene, which is at t = 0. Files that a scene reads its
/// particles from may have changed since the run started: those who were there at the start and have not left are
/// compared; who came later has a later id.
pub fn refuse_misfit(scene: &Scene, checkpoint: &Checkpoint) -> Result<(), Misfit> {
    let Checkpoint { state, report, .. } = checkpoint;
    let (now, then) = (&scene.simulation.state.particles, &state.particles);
    state.check().map_err(Misfit::State)?;
    let entered: u64 = state.ledger.inlets.iter().map(|inlet| inlet.amount.number).sum();
    let of = |particles: &Particles, i: usize| (particles.radius[i], particles.mass[i], particles.group[i]);
    let same = |(i, id): (usize, &u64)| *id >= now.born || of(now, *id as usize) == of(then, i);
    if then.born != now.born + entered || !then.id.iter().enumerate().all(same) {
        return Err(Misfit::OtherParticles { then: then.born.saturating_sub(entered), now: now.born });
    }
    scene.simulation.check(state).map_err(Misfit::State)?;
    let unknown = |what: String| Err(Misfit::Unknown { what });
    if let Some(group) = then.group.iter().find(|group| **group as usize >= scene.groups.len()) {
        return unknown(format!("group {group}"));
    }
    if !report.loads.is_empty() && report.loads.len() != scene.simulation.obstacles.len() {
        return unknown(format!("loads on {} obstacles", report.loads.len()));
    }
    Ok(())
}

fn with_frame<T>(simulation: &Simulation, view: &Extent, take: impl FnOnce(&Frame) -> T) -> T {
    let (step, time) = (simulation.state.step, simulation.time());
    let obstacles = drawings(simulation, view);
    let (contacts, particles) = (simulation.contacts(), &simulation.state.particles);
    let clumps = &simulation.state.clumps;
    let clump = if clumps.is_empty() { Vec::new() } else { clumps.owners(particles.len()) };
    take(&Frame { step, time, particles, contacts: &contacts, obstacles: &obstacles, clump: &clump })
}

/// The obstacles where they are now, as far as the view reaches.
#[must_use]
pub fn drawings(simulation: &Simulation, view: &Extent) -> Vec<ObstacleSurface> {
    simulation.obstacles.iter().map(|obstacle| drawn(obstacle, simulation.time(), view)).collect()
}

fn drawn(obstacle: &Obstacle, time: f64, view: &Extent) -> ObstacleSurface {
    let surface = obstacle.at(time).surface(view);
    let moving = !obstacle.is_fixed();
    ObstacleSurface { points: surface.points, triangles: surface.triangles, lines: surface.lines, moving }
}

/// The part of space that holds the scene at t = 0, and some room around it: infinite obstacles are drawn so far.
#[must_use]
pub fn view(scene: &Scene) -> Extent {
    let Extent { lower, upper, dimension } = extent(scene);
    let room = DVec3::splat(MARGIN * lower.distance(upper));
    let near = Extent { lower: lower - room, upper: upper + room, dimension };
    // A plane that nothing is near yet is drawn around its nearest point.
    let (mut view, centre) = (near, lower.midpoint(upper));
    for placed in scene.simulation.obstacles.iter().filter(|one| is_half_space(one)).map(|plane| plane.at(0.0)) {
        let unseen = placed.surface(&near).points.is_empty();
        let nearest = placed.gap_of(centre, 0.0, 0).map(|touch| centre + touch.gap * touch.normal);
        if let Some(point) = nearest.filter(|point| unseen && point.is_finite()) {
            (view.lower, view.upper) = (view.lower.min(point - room), view.upper.max(point + room));
        }
    }
    view
}

fn is_half_space(obstacle: &Obstacle) -> bool {
    matches!(obstacle.shape, Shape::HalfSpace { .. })
}

/// The smallest box that holds the particles, the inlets and the bounded obstacles of a scene where they are at t = 0.
#[must_use]
pub fn extent(scene: &Scene) -> Extent {
    let particles = &scene.simulation.state.particles;
    let (mut lower, mut upper) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for (position, radius) in particles.position.iter().zip(&particles.radius) {
        let half = DVec3::new(*radius, *radius, if scene.dimension == 2 { 0.0 } else { *radius });
        (lower, upper) = (lower.min(position - half), upper.max(position + half));
    }
    for inlet in &scene.simulation.openings.inlets {
        let [from, to] = inlet.region.corners(scene.simulation.openings.dimension.directions());
        (lower, upper) = (lower.min(from), upper.max(to));
    }
    // Where space repeats the particles may go to either end.
    for (cell, axis) in particles.cell.iter().flat_map(|cell| cell.axes().map(move |axis| (cell, axis))) {
        let (from, period) = (cell.lower()[axis], cell.period()[axis]);
        (lower[axis], upper[axis]) = (lower[axis].min(from), upper[axis].max(from + period));
    }
    let of_particles = Extent { lower, upper, dimension: scene.dimension };
    // What is infinite in one direction only, as a pipe, is drawn no longer than the particles' place asks for.
    for obstacle in scene.simulation.obstacles.iter().filter(|one| !is_half_space(one)) {
        for point in obstacle.at(0.0).surface(&of_particles).points {
            (lower, upper) = (lower.min(point), upper.max(point));
        }
    }
    Extent { lower, upper, ..of_particles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_far_below_the_particles_is_drawn_and_one_in_view_changes_nothing() {
        let scene = |height: &str| {
            let text = format!(
                "time = {{ dt = 0.1, until = 1 }}\ncontact.law = \"inelastic\"\n[[particles]]\nmass = 1\n\
                 source.list = [{{ position = [0, 0, {height}], radius = 0.5 }}]\n[[obstacle]]\nname = \"plane\"\n\
                 shape.half-space = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n"
            );
            Scene::parse(&text, Path::new("scene.toml")).unwrap()
        };
        let far = scene("3");
        let drawn = drawings(&far.simulation, &view(&far));
        assert!(drawn[0].points.len() >= 4 && drawn[0].points.iter().all(|point| point.z.abs() < 1e-12));
        let room = MARGIN * 3f64.sqrt();
        assert!((view(&far).lower.z + room).abs() < 1e-12 && (view(&far).upper.z - 3.5 - room).abs() < 1e-12);
        let touching = scene("0.5");
        assert_eq!(view(&touching).lower, DVec3::new(-0.5, -0.5, 0.0) - DVec3::splat(room));
    }
}
