//! A simulation as Python drives it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use glam::DVec3;
use gluey::contact::{ContactGeometry, Partner};
use gluey::environment::Inertia;
use gluey::logbook::{self, Logbook, before_the_first_step};
use gluey::scene::{Scene, steps_until};
use gluey::simulation::{Simulation, StepError, StepReport, Timings};
use gluey::trajectory::{Checkpoint, Column as Figures, Figure, IfPresent, ObstacleSurface, Progress};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{rows, vectors};
use crate::environment::{Callable, Forces, Pushed, Pushes, Raised, refuse_depth};
use crate::errors;
use crate::lend::{Column, Lender};
use crate::patience::{BETWEEN_LOOKS, patiently, use_living_threads};

/// A scene that runs. One thread at a time may use it.
#[pyclass(frozen)]
pub struct Engine {
    inner: Mutex<Inner>,
}

struct Inner {
    lender: Lender,
    /// Where the scene says it is from: files that it names are relative to it.
    path: PathBuf,
    report: StepReport,
    forces: Forces,
    /// The environment in Python. Only here it is owned, so that the collector of cycles sees it.
    function: Option<Arc<Py<PyAny>>>,
    raised: Raised,
}

impl Inner {
    fn new(mut scene: Scene, path: PathBuf, report: StepReport) -> Self {
        let (forces, raised) = (Forces::default(), Raised::default());
        let inner = scene.simulation.environment;
        scene.simulation.environment = Box::new(Pushed { inner, forces: forces.clone() });
        Self { lender: Lender::new(scene), path, report, forces, function: None, raised }
    }

    fn simulation(&self) -> &Simulation {
        &self.lender.scene().simulation
    }

    /// Takes steps up to this one, but none after some time; whether it got there.
    fn advance(&mut self, last: u64, mut logbook: Option<&mut Logbook>) -> PyResult<bool> {
        use_living_threads();
        let start = Instant::now();
        let simulation = &mut self.lender.scene_mut().simulation;
        while simulation.state.step < last {
            let taken = simulation.step_into(&mut self.report);
            taken.map_err(|error| told(&error, simulation, &self.raised))?;
            if let Some(logbook) = &mut logbook {
                logbook.record(simulation, &self.report).map_err(errors::runtime)?;
            }
            if start.elapsed() > BETWEEN_LOOKS {
                break;
            }
        }
        Ok(simulation.state.step >= last)
    }

    /// Writes the end of a run, or else where it can go on from.
    fn close(&mut self, logbook: &mut Logbook, whole: bool) -> PyResult<()> {
        let Self { lender, report, .. } = self;
        let simulation = &lender.scene().simulation;
        let closed = if whole { logbook.close(simulation, report) } else { logbook.checkpoint(simulation, report) };
        closed.map_err(errors::runtime)
    }

    /// The folder of a run, new at t = 0, and gone on with where its checkpoint is this very state.
    fn logbook(&mut self, folder: &Path, overwrite: bool) -> PyResult<Logbook> {
        let scene = self.lender.scene();
        if scene.simulation.state.step == 0 {
            let if_present = if overwrite { IfPresent::Replace } else { IfPresent::Refuse };
            return Logbook::start(folder, scene, if_present).map_err(errors::runtime);
        }
        let (checkpoint, _) = Checkpoint::latest(folder).map_err(errors::runtime)?;
        if checkpoint.state != scene.simulation.state {
            return Err(errors::value(format!(
                "the checkpoint in {} is of step {} and not of the present state at step {}: a run is written from t = 0 \
                 on, or from where it stopped",
                folder.display(),
                checkpoint.state.step,
                scene.simulation.state.step
            )));
        }
        // What infinite walls look like depends on the scene at t = 0.
        let at_start = Scene::parse(&scene.text, &self.path).map_err(errors::value)?;
        Logbook::resume(folder, &at_start, &checkpoint).map_err(errors::runtime)
    }
}

/// What Python raised inside the step, or else why there is no step.
fn told(error: &StepError, simulation: &Simulation, raised: &Raised) -> PyErr {
    let from_python = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    let next = simulation.state.step + 1;
    let time = next as f64 * simulation.settings.dt;
    from_python.unwrap_or_else(|| errors::runtime(format!("step {next} (t = {time}): {error}")))
}

impl Engine {
    fn open(inner: Inner) -> Self {
        Self { inner: Mutex::new(inner) }
    }

    /// Whoever else uses it is waited for by nobody: with the interpreter held, that might be for ever.
    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(inner)) => Ok(inner.into_inner()),
            Err(TryLockError::WouldBlock) => Err(errors::runtime(
                "the simulation is taking a step: it cannot be used from another thread or from its own environment",
            )),
        }
    }
}

#[pymethods]
impl Engine {
    /// From the text of a scene; files that it names are relative to `path`.
    #[staticmethod]
    fn parse(py: Python<'_>, text: String, path: PathBuf) -> PyResult<Self> {
        let (scene, path) = patiently(py, move || (Scene::parse(&text, &path), path))?;
        let scene = scene.map_err(errors::value)?;
        Ok(Self::open(Inner::new(scene, path, before_the_first_step())))
    }

    /// From a checkpoint, which holds the text of its scene; of the folder of a run, from the last one that is whole.
    #[staticmethod]
    fn load(py: Python<'_>, checkpoint: PathBuf, path: PathBuf) -> PyResult<Self> {
        let loaded: PyResult<_> = patiently(py, move || {
            let (checkpoint, trouble) = if checkpoint.is_dir() {
                Checkpoint::latest(&checkpoint).map_err(errors::runtime)?
            } else {
                (Checkpoint::read(&checkpoint).map_err(errors::runtime)?, None)
            };
            let mut scene = Scene::parse(&checkpoint.scene_text, &path).map_err(errors::value)?;
            logbook::refuse_misfit(&scene, &checkpoint).map_err(errors::value)?;
            scene.simulation.state = checkpoint.state;
            Ok((Inner::new(scene, path, checkpoint.report), trouble))
        })?;
        let (inner, trouble) = loaded?;
        if let Some(trouble) = trouble {
            let step = inner.simulation().state.step;
            errors::warn(py, &format!("{trouble}; the checkpoint before, of step {step}, is taken instead"))?;
        }
        Ok(Self::open(inner))
    }

    /// Writes a checkpoint.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inner = self.lock()?;
        let inner = &*inner;
        let checkpoint = Checkpoint {
            state: inner.simulation().state.clone(),
            fingerprint: logbook::run_info(inner.lender.scene()).fingerprint(),
            scene_text: inner.lender.scene().text.clone(),
            progress: Progress::default(),
            report: inner.report.clone(),
        };
        py.detach(|| checkpoint.write(&path)).map_err(errors::runtime)?;
        py.check_signals()
    }

    /// Takes `count` steps; signals are looked at between them.
    fn step(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        let mut inner = self.lock()?;
        let inner = &mut *inner;
        let now = inner.simulation().state.step;
        let Some(last) = now.checked_add(count) else {
            return Err(errors::value(format!("{count} steps after step {now}: expected fewer than 2⁶⁴ in all")));
        };
        while !py.detach(|| inner.advance(last, None))? {
            py.check_signals()?;
        }
        py.check_signals()
    }

    /// Steps up to a time and writes the folder of a run; `tick` is called now and then with (step, last step).
    #[pyo3(signature = (until, out, overwrite, facts, tick))]
    fn run(
        &self,
        py: Python<'_>,
        until: Option<f64>,
        out: Option<PathBuf>,
        overwrite: bool,
        facts: Vec<(String, String)>,
        tick: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut inner = self.lock()?;
        let inner = &mut *inner;
        let scene = inner.lender.scene();
        let until = until.unwrap_or(scene.until);
        if !(until.is_finite() && until >= 0.0) {
            return Err(errors::value(format!("`until` is {until}: expected a finite time ≥ 0")));
        }
        let last = steps_until(until, scene.simulation.settings.dt);
        let mut logbook = py.detach(|| out.map(|folder| inner.logbook(&folder, overwrite)).transpose())?;
        if let Some(logbook) = &logbook {
            let facts: Vec<_> = facts.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            logbook.record_host(&facts).map_err(errors::runtime)?;
        }
        let ended = (|| {
            while !py.detach(|| inner.advance(last, logbook.as_mut()))? {
                py.check_signals()?;
                if let Some(tick) = tick {
                    tick.call1((inner.simulation().state.step, last))?;
                }
            }
            py.check_signals()?;
            tick.map_or(Ok(()), |tick| tick.call1((inner.simulation().state.step, last)).map(drop))
        })();
        let Some(logbook) = &mut logbook else { return ended };
        let whole = ended.is_ok();
        let closed = py.detach(|| inner.close(logbook, whole));
        ended.and(closed)
    }

    /// A read-only view of a column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.lock()?.lender.view(py, column(name)?)
    }

    /// The address of a column in the memory of the simulation.
    fn address(&self, name: &str) -> PyResult<usize> {
        Ok(self.lock()?.lender.address(column(name)?))
    }

    /// Gives the particles other velocities.
    fn set_velocities(&self, array: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let mut inner = self.lock()?;
        let scene = inner.lender.scene();
        let given = vectors("velocities", &array, Some(scene.simulation.state.particles.len()))?;
        if scene.dimension == 2 {
            refuse_depth("velocities", &given)?;
        }
        if !scene.simulation.state.clumps.is_empty() {
            return Err(errors::value(
                "the spheres of clumps move together: their velocities cannot be set one by one",
            ));
        }
        inner.lender.scene_mut().simulation.state.particles.velocity = given;
        Ok(())
    }

    /// Forces on the particles in all steps from now on, on top of the environment; `None` ends them.
    #[pyo3(signature = (array))]
    fn set_forces(&self, array: Option<PyReadonlyArray2<'_, f64>>) -> PyResult<()> {
        let inner = self.lock()?;
        let particles = &inner.simulation().state.particles;
        let set = match array {
            None => None,
            Some(array) => {
                let given = vectors("forces", &array, Some(particles.len()))?;
                if inner.lender.scene().dimension == 2 {
                    refuse_depth("forces", &given)?;
                }
                Some(Pushes::new(&particles.id, given))
            }
        };
        *inner.forces.lock().unwrap_or_else(PoisonError::into_inner) = set;
        Ok(())
    }

    /// The forces that act on who is there now, or `None`.
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let inner = self.lock()?;
        let forces = inner.forces.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |pushes: &Pushes| rows(py, &pushes.on(&inner.simulation().state.particles.id));
        forces.as_ref().map(of).transpose()
    }

    /// A callable in place of the scene's environment.
    #[pyo3(signature = (function, *, inertia = true))]
    fn set_environment(&self, function: Py<PyAny>, inertia: bool) -> PyResult<()> {
        let mut inner = self.lock()?;
        let (forces, raised) = (inner.forces.clone(), inner.raised.clone());
        let function = Arc::new(function);
        let scene = inner.lender.scene_mut();
        let inertia = if inertia { Inertia::Full } else { Inertia::None };
        let flat = scene.dimension == 2;
        let callable = Callable { function: Arc::downgrade(&function), raised, flat, inertia };
        scene.simulation.environment = Box::new(Pushed { inner: Box::new(callable), forces });
        inner.function = Some(function);
        Ok(())
    }

    /// An environment may hold the simulation that asks it. Who is in a step is alive.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.inner.try_lock() {
            Ok(inner) => inner.function.as_ref().map_or(Ok(()), |function| visit.call(&**function)),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        // It is dropped outside the lock: that may run any code.
        let function = self.inner.try_lock().ok().and_then(|mut inner| inner.function.take());
        drop(function);
    }

    /// The contacts as columns.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        contact_columns(py, &self.lock()?.simulation().contacts())
    }

    /// Figures of the last step: those that the series tell of steps, and the loads.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.lock()?;
        let dict = PyDict::new(py);
        for column in &Figures::ALL {
            match column.of_step(&inner.report) {
                Some(Figure::Count(count)) => dict.set_item(column.name, count)?,
                Some(Figure::Number(value)) => dict.set_item(column.name, value)?,
                None => {}
            }
        }
        let of_obstacles = PyDict::new(py);
        for (index, obstacle) in inner.simulation().obstacles.iter().enumerate() {
            let load = inner.report.loads.get(index).copied().unwrap_or_default();
            let both = PyDict::new(py);
            both.set_item("force", vector(py, load.force))?;
            both.set_item("torque", vector(py, load.torque))?;
            of_obstacles.set_item(&obstacle.name, both)?;
        }
        dict.set_item("loads", of_obstacles)?;
        Ok(dict)
    }

    /// Drawings of the obstacles where they are now.
    fn obstacles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let inner = self.lock()?;
        let scene = inner.lender.scene();
        let names = scene.simulation.obstacles.iter().map(|obstacle| obstacle.name.clone()).collect::<Vec<_>>();
        drawing_list(py, &names, &logbook::drawings(&scene.simulation, &logbook::view(scene)))
    }

    /// What the scene says, for who looks.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.lock()?;
        let scene = inner.lender.scene();
        let dict = PyDict::new(py);
        dict.set_item("name", &scene.name)?;
        dict.set_item("text", &scene.text)?;
        dict.set_item("path", &inner.path)?;
        dict.set_item("dimension", scene.dimension)?;
        dict.set_item("dt", scene.simulation.settings.dt)?;
        dict.set_item("until", scene.until)?;
        let groups: Vec<_> = scene.groups.iter().map(|group| (group.name.clone(), group.colour)).collect();
        dict.set_item("groups", groups)?;
        Ok(dict)
    }

    /// (steps taken, time, particles).
    fn moment(&self) -> PyResult<(u64, f64, usize)> {
        let inner = self.lock()?;
        let simulation = inner.simulation();
        Ok((simulation.state.step, simulation.time(), simulation.state.particles.len()))
    }

    /// Seconds that the parts of steps have taken so far, as (name, seconds).
    fn timings(&self) -> PyResult<[(&'static str, f64); 5]> {
        let Timings { predict, search, project, glue, advance } = self.lock()?.simulation().timings();
        let parts = [("predict", predict), ("search", search), ("project", project), ("glue", glue), ("move", advance)];
        Ok(parts.map(|(name, spent)| (name, spent.as_secs_f64())))
    }

    /// (kinetic, potential) energy.
    fn energies(&self) -> PyResult<(f64, f64)> {
        let inner = self.lock()?;
        let simulation = inner.simulation();
        let potential = simulation.environment.potential_energy(&simulation.state.particles, simulation.time());
        Ok((simulation.state.kinetic_energy(), potential))
    }
}

fn column(name: &str) -> PyResult<Column> {
    Column::named(name).ok_or_else(|| errors::value(format!("there is no column `{name}`")))
}

fn vector(py: Python<'_>, vector: DVec3) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_slice(py, &vector.to_array())
}

/// Contacts as columns; −1 stands where there is no such partner.
pub fn contact_columns<'py>(py: Python<'py>, contacts: &[ContactGeometry]) -> PyResult<Bound<'py, PyDict>> {
    let (mut j, mut obstacle, mut feature) = (Vec::new(), Vec::new(), Vec::new());
    for geometry in contacts {
        let (particle, wall, of_wall) = match geometry.contact.pair.partner() {
            Partner::Particle(particle) => (i64::from(particle), -1, -1),
            Partner::Obstacle { obstacle, feature } => (-1, i64::from(obstacle), i64::from(feature)),
        };
        j.push(particle);
        obstacle.push(wall);
        feature.push(of_wall);
    }
    let numbers = |of: fn(&ContactGeometry) -> f64| PyArray1::from_iter(py, contacts.iter().map(of));
    let normals: Vec<DVec3> = contacts.iter().map(|geometry| geometry.normal).collect();
    let dict = PyDict::new(py);
    let first = contacts.iter().map(|geometry| i64::from(geometry.contact.pair.first()));
    dict.set_item("i", PyArray1::from_iter(py, first))?;
    dict.set_item("j", PyArray1::from_vec(py, j))?;
    dict.set_item("obstacle", PyArray1::from_vec(py, obstacle))?;
    dict.set_item("feature", PyArray1::from_vec(py, feature))?;
    dict.set_item("gap", numbers(|geometry| geometry.gap))?;
    dict.set_item("normal", rows(py, &normals)?)?;
    dict.set_item("gamma", numbers(|geometry| geometry.contact.gamma))?;
    dict.set_item("impulse", numbers(|geometry| geometry.contact.impulse))?;
    Ok(dict)
}

/// Drawings with the names of what they show: corners, and lines or triangles by index of corners.
pub fn drawing_list<'py>(
    py: Python<'py>,
    names: &[String],
    surfaces: &[ObstacleSurface],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (name, surface) in names.iter().zip(surfaces) {
        let dict = PyDict::new(py);
        dict.set_item("name", name)?;
        dict.set_item("points", rows(py, &surface.points)?)?;
        dict.set_item("lines", PyArray2::from_vec2(py, &lists(&surface.lines)).map_err(errors::runtime)?)?;
        dict.set_item("triangles", PyArray2::from_vec2(py, &lists(&surface.triangles)).map_err(errors::runtime)?)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn lists<const N: usize>(of: &[[u32; N]]) -> Vec<Vec<u32>> {
    of.iter().map(|corners| corners.to_vec()).collect()
}
