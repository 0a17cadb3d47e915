//! `gluey run`: from a scene, or from the checkpoint of an earlier run, to a folder of results.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use gluey::logbook::{self, Logbook, before_the_first_step};
use gluey::projection::ProblemFile;
use gluey::scene::{Scene, steps_until};
use gluey::simulation::{StepError, StepReport};
use gluey::trajectory::{Checkpoint, IfPresent, TrajectoryError, checkpoint_path, refuse_other_run};

use crate::arguments::RunArguments;
use crate::host;
use crate::progress::{Progress, Way};
use crate::signals::StopSignals;
use crate::source::{LOTTO_NAME, Source};
use crate::summary;
use crate::tally::Tally;
use crate::watch::{Heed, Watch};
use crate::words::number;
use crate::{Answer, UsageError, metric, view};

/// Where run folders are made unless the user says otherwise.
pub const RUNS: &str = "runs";
/// The projection that could not be solved, for whoever wants to know why.
const FAILED_PROJECTION: &str = "failed-projection.qpb";
/// So many threads are taken on any machine,
const LEAST_MOST_THREADS: usize = 64;
/// and so many for each core.
const THREADS_PER_CORE: usize = 4;

/// A run in progress.
pub struct Run {
    pub scene: Scene,
    pub logbook: Logbook,
    pub tally: Tally,
    /// Report of the last step.
    report: StepReport,
    /// The step whose projection problem is to be written.
    dump: Option<u64>,
    /// Who watches it, and what they changed.
    pub watch: Watch,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It reached its last step.
    Finished,
    /// A signal came first, or, with code 0, a wish of who watches.
    Stopped(u8),
}

/// Runs a scene as the user wishes, and sums it up.
pub fn run(wishes: &RunArguments) -> Result<Answer> {
    set_threads(wishes.threads)?;
    let mut run = if wishes.resume { Run::resume(wishes)? } else { Run::start(wishes)? };
    run.dump = wishes.dump_projection;
    if wishes.view {
        return view::run(run, wishes);
    }
    let stop = StopSignals::listen().context("cannot listen to signals")?;
    run.complete(wishes, &stop)
}

impl Run {
    /// Takes the steps, shows how far it has come, and sums it up.
    pub fn complete(&mut self, wishes: &RunArguments, stop: &StopSignals) -> Result<Answer> {
        let last = steps_until(wishes.until.unwrap_or(self.scene.until), self.scene.simulation.settings.dt);
        let way = Way { first: self.scene.simulation.state.step, last };
        let mut progress = if wishes.quiet { Progress::hidden() } else { Progress::new(&self.scene.name, way) };
        let ending = self.advance(last, stop, &mut progress);
        match ending {
            Ok(Ending::Stopped(_)) => progress.leave(),
            _ => progress.clear(),
        }
        let ending = ending?;
        let text = if wishes.quiet {
            format!("{}\n", self.logbook.folder().display())
        } else {
            summary::of(self, ending, way, wishes.until)
        };
        Ok(Answer { text, code: if let Ending::Stopped(code) = ending { code } else { 0 } })
    }

    /// A new run of a scene.
    fn start(wishes: &RunArguments) -> Result<Self> {
        let source = Source::of(wishes.scene.as_deref())?.with(&wishes.set)?;
        let scene = source.scene()?;
        refuse_dump(&scene, wishes)?;
        let folder = match (&wishes.out, &wishes.scene) {
            (Some(folder), _) => folder.clone(),
            (None, Some(_)) => Path::new(RUNS).join(folder_name(&scene.name)),
            (None, None) if wishes.overwrite => last_built_in(),
            (None, None) => free_folder(LOTTO_NAME),
        };
        let if_present = if wishes.overwrite { IfPresent::Replace } else { IfPresent::Refuse };
        let logbook = Logbook::start(&folder, &scene, if_present).map_err(|error| match error {
            TrajectoryError::HoldsRun { path } => anyhow!(
                "{} already holds a run\n  help: add --resume to go on with it, --overwrite to replace it, or --out DIR \
                 to write elsewhere",
                path.display()
            ),
            other => other.into(),
        })?;
        Self::open(scene, logbook, (source.path(), source.file.as_deref()), before_the_first_step())
    }

    /// A new run of a scene in a folder below `runs` that is free, without an end of its own.
    pub fn start_anew(source: &Source) -> Result<Self> {
        let scene = source.scene()?;
        let folder = free_folder(&folder_name(&scene.name));
        let logbook = Logbook::start(&folder, &scene, IfPresent::Refuse)?;
        Self::open(scene, logbook, (source.path(), source.file.as_deref()), before_the_first_step())
    }

    /// An earlier run, from where it stopped.
    fn resume(wishes: &RunArguments) -> Result<Self> {
        let given = wishes.scene.as_deref().map(|path| Source::read(path)?.with(&wishes.set)).transpose()?;
        let folder = match (&wishes.out, &given) {
            (Some(folder), _) => folder.clone(),
            (None, Some(given)) => Path::new(RUNS).join(folder_name(&given.scene()?.name)),
            (None, None) => last_built_in(),
        };
        let go_on = |checkpoint| Self::go_on(given.clone(), wishes, (&folder, checkpoint));
        let (mut run, trouble) =
            Checkpoint::latest_for(&folder, go_on, is_damage).map_err(|error| with_help(error, &folder))?;
        if let Some(trouble) = trouble {
            let step = run.scene.simulation.state.step;
            // Where nobody can read the note, the run goes on as well.
            let _ = writeln!(
                std::io::stderr(),
                "note: {trouble}\n  the run goes on from the checkpoint before, of step {step}, and repeats what came after"
            );
        }
        run.watch.repeat(&mut run.scene.simulation, &folder)?;
        Ok(run)
    }

    /// The run in a folder from a checkpoint of it.
    fn go_on(given: Option<Source>, wishes: &RunArguments, of: (&Path, Checkpoint)) -> Result<Self> {
        let (folder, checkpoint) = of;
        let source = same_scene(given, wishes, (folder, &checkpoint))?;
        refuse_other_run(folder, &checkpoint)?; // before its scene is taken for what was run
        let mut scene = source.scene()?;
        refuse_dump(&scene, wishes)?;
        refuse_misfit(&scene, (folder, &checkpoint))?;
        let logbook = Logbook::resume(folder, &scene, &checkpoint)?;
        scene.simulation.state = checkpoint.state;
        Self::open(scene, logbook, (source.path(), source.file.as_deref()), checkpoint.report)
    }

    fn open(scene: Scene, logbook: Logbook, (path, file): (&Path, Option<&Path>), report: StepReport) -> Result<Self> {
        logbook.record_host(&host::facts(file))?;
        remove_if_there(&logbook.folder().join(FAILED_PROJECTION))?;
        let tally = Tally::new(&scene.simulation, &report);
        let watch = Watch::new(&scene.text, path);
        Ok(Self { scene, logbook, tally, report, dump: None, watch })
    }

    /// Takes steps until the last one is done or someone wishes to stop.
    pub fn advance(&mut self, last: u64, stop: &StopSignals, progress: &mut Progress) -> Result<Ending> {
        let keep = |error: TrajectoryError, logbook: &Logbook| anyhow!("{error}{}", kept(logbook, &error));
        while self.scene.simulation.state.step < last {
            let asked = match self.watch.heed(&mut self.scene.simulation, &self.logbook, stop)? {
                Heed::Stop => Some(0),
                Heed::GoOn => stop.asked(),
            };
            if let Some(code) = asked {
                self.checkpoint().map_err(|error| keep(error, &self.logbook))?;
                return Ok(Ending::Stopped(code));
            }
            self.step()?;
            self.tally.add(&self.report);
            let simulation = &self.scene.simulation;
            self.logbook.record(simulation, &self.report).map_err(|error| keep(error, &self.logbook))?;
            progress.show(simulation.state.step, simulation.time(), &self.tally);
            self.watch.show(simulation, &self.logbook);
        }
        self.logbook.close(&self.scene.simulation, &self.report).map_err(|error| keep(error, &self.logbook))?;
        Ok(Ending::Finished)
    }

    /// One step, and its projection problem where that is asked for.
    fn step(&mut self) -> Result<()> {
        let simulation = &mut self.scene.simulation;
        let next = simulation.state.step + 1;
        if self.dump != Some(next) {
            return simulation.step_into(&mut self.report).map_err(|error| self.give_up(&error));
        }
        let (report, file) =
            simulation.step_with_problem(self.scene.dimension).map_err(|error| self.give_up(&error))?;
        self.report = report;
        write_problem(&file, &self.logbook.folder().join(format!("projection-{next}.qpb")))
    }

    fn checkpoint(&mut self) -> Result<(), TrajectoryError> {
        self.logbook.checkpoint(&self.scene.simulation, &self.report)
    }

    /// Saves what there is after a step that failed, and tells who runs the simulation.
    fn give_up(&mut self, error: &StepError) -> anyhow::Error {
        let simulation = &self.scene.simulation;
        let next = simulation.state.step + 1;
        let time = number(next as f64 * simulation.settings.dt);
        let mut message = format!("step {next} (t = {time}): {error}");
        match self.checkpoint() {
            Ok(()) => {
                let (step, folder) = (self.logbook.saved_step(), self.logbook.folder().display());
                message = format!(
                    "{message}\n  what was written until then is in {folder}, with a checkpoint of step {step}"
                );
            }
            Err(trouble) => message = format!("{message}\n  and no checkpoint could be written: {trouble}"),
        }
        if matches!(error, StepError::Pinched { .. } | StepError::Inconsistent { .. } | StepError::NotConverged { .. })
        {
            let path = self.logbook.folder().join(FAILED_PROJECTION);
            match write_problem(&self.scene.simulation.last_problem(self.scene.dimension), &path) {
                Ok(()) => message = format!("{message}\n  the projection that failed is in {}", path.display()),
                Err(trouble) => message = format!("{message}\n  {trouble:#}"),
            }
        }
        anyhow!(message)
    }
}

fn write_problem(file: &ProblemFile, path: &Path) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    file.check().with_context(cannot)?;
    let out = File::create(path).with_context(cannot)?;
    file.write(BufWriter::new(out)).with_context(cannot)
}

/// A problem that no file can hold is better refused before the first step than at the one asked for.
fn refuse_dump(scene: &Scene, wishes: &RunArguments) -> Result<(), UsageError> {
    if wishes.dump_projection.is_none() {
        return Ok(());
    }
    ProblemFile::check_metric(&metric::of(scene)).map_err(|error| UsageError(format!("--dump-projection: {error}")))
}

/// What is left when something cannot be written, found by looking.
fn kept(logbook: &Logbook, error: &TrajectoryError) -> String {
    let (step, shown) = (logbook.saved_step(), logbook.folder().display());
    if !logbook.folder().is_dir() {
        return format!(
            "\n  the folder {shown} is gone: if it was moved, all that was written is in it, with a checkpoint of step \
             {step}; if it was removed, all of it is lost"
        );
    }
    let go_on = summary::resume_command(logbook.folder(), None);
    let there = Checkpoint::read(&checkpoint_path(logbook.folder())).is_ok_and(|found| found.state.step == step);
    match logbook.check_places() {
        Ok(()) if there => format!(
            "\n  nothing written is lost: the checkpoint of step {step} is in {shown}; `{go_on}` goes on from there"
        ),
        Err(lost) if there => {
            let again = lost.to_string() == error.to_string();
            let told = if again { String::new() } else { format!("\n  {lost}") };
            format!(
                "{told}\n  the checkpoint of step {step} is in {shown}, but counts on what that file held then: put it back \
                 and `{go_on}` goes on from there, or else start anew with --overwrite"
            )
        }
        _ => format!("\n  the checkpoint of step {step} is no longer in {shown}: the run cannot be resumed from it"),
    }
}

/// Computes with so many threads, if a number is asked for.
pub fn set_threads(threads: Option<u16>) -> Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    refuse_crowd_of_threads(threads)?;
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.into())
        .build_global()
        .with_context(|| format!("cannot start {threads} threads"))
}

/// Threads wait for each other many times a step: far more of them than cores make every step slow, and no result
/// other.
pub fn refuse_crowd_of_threads(threads: u16) -> Result<(), UsageError> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = LEAST_MOST_THREADS.max(THREADS_PER_CORE * cores);
    if usize::from(threads) <= most {
        return Ok(());
    }
    Err(UsageError(format!(
        "--threads {threads}: this machine has {cores} cores, and more than {most} threads would only wait for each other; \
         leave the option out to use all cores"
    )))
}

/// The scene of the checkpoint; a scene that the user names, and changes to it, must agree with it.
fn same_scene(given: Option<Source>, wishes: &RunArguments, of: (&Path, &Checkpoint)) -> Result<Source> {
    let (folder, checkpoint) = of;
    let named = given.as_ref().map(|source| source.path().display().to_string());
    let source = match given {
        Some(source) => source,
        None => Source { text: checkpoint.scene_text.clone(), file: host::scene_path(folder) }.with(&wishes.set)?,
    };
    if source.text == checkpoint.scene_text {
        return Ok(source);
    }
    let what = named.map_or_else(|| "the scene with --set".to_owned(), |name| format!("{name} as it is now"));
    bail!(
        "{what} is not the scene that was run in {}\n  help: leave out the scene and --set to go on with the scene as it \
         was run (it is in manifest.toml there), or start anew without --resume; --until may change",
        folder.display()
    )
}

/// Refuses a checkpoint whose state the scene cannot have: the files that it reads its particles from have changed, or
/// the checkpoint is not what was written.
fn refuse_misfit(scene: &Scene, (folder, checkpoint): (&Path, &Checkpoint)) -> Result<()> {
    logbook::refuse_misfit(scene, checkpoint).map_err(|error| {
        if error.is_damage() {
            return TrajectoryError::Damaged { path: checkpoint_path(folder), reason: error.to_string() }.into();
        }
        anyhow!("{error}\n  help: restore the files that the scene refers to, or start anew without --resume")
    })
}

/// Whether the checkpoint before the last may do.
fn is_damage(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(TrajectoryError::is_damage)
}

/// Why a run cannot go on, and what its user can do.
fn with_help(error: anyhow::Error, folder: &Path) -> anyhow::Error {
    match error.downcast_ref() {
        Some(TrajectoryError::NoCheckpoint { .. }) if !folder.is_dir() => anyhow!(
            "there is nothing to resume: {} does not exist\n  help: name the folder of the run with --out DIR",
            folder.display()
        ),
        Some(TrajectoryError::Differs { .. } | TrajectoryError::Shorter { .. }) => anyhow!(
            "{error}\n  help: put back a copy of this file as it was, or start anew with --overwrite; an older checkpoint \
             that does not count on what is wrong was looked for, and there is none"
        ),
        _ => error,
    }
}

/// A scene's name as the name of a folder.
fn folder_name(name: &str) -> String {
    let allowed = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let name: String = name.trim().chars().map(|letter| if allowed(letter) { letter } else { '-' }).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "scene".to_owned() } else { name.to_owned() }
}

/// Folders of one name: the first command of a newcomer works every time, and keeps what it made before.
fn numbered_folders(name: &str) -> impl Iterator<Item = PathBuf> {
    let numbered = (2_u32..).map(move |k| Path::new(RUNS).join(format!("{name}-{k}")));
    std::iter::once(Path::new(RUNS).join(name)).chain(numbered)
}

fn free_folder(name: &str) -> PathBuf {
    numbered_folders(name).find(|folder| !folder.exists()).unwrap_or_else(|| Path::new(RUNS).join(name))
}

fn last_built_in() -> PathBuf {
    let there = numbered_folders(LOTTO_NAME).take_while(|folder| folder.exists());
    there.last().unwrap_or_else(|| Path::new(RUNS).join(LOTTO_NAME))
}

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(cause).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_makes_a_folder_below_runs() {
        assert_eq!(folder_name("lotto-small"), "lotto-small");
        assert_eq!(folder_name("../a b/ü"), "-a-b-ü");
        assert_eq!(folder_name(" .. "), "scene");
    }
}
