//! What Python does to the particles: forces set between steps, and a-priori velocities from a callable.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use glam::DVec3;
use gluey::environment::{Environment, EnvironmentError, Inertia, Metric, Prediction, Span};
use gluey::geometry::Particles;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{numbers, rows, vectors};
use crate::errors;

/// Forces that are set from outside, if any are.
pub type Forces = Arc<Mutex<Option<Pushes>>>;

/// Forces by the ids of the particles they were set for: where some come and leave, indices change hands.
pub struct Pushes {
    ids: Vec<u64>,
    forces: Vec<DVec3>,
}

impl Pushes {
    /// One a particle.
    pub fn new(ids: &[u64], forces: Vec<DVec3>) -> Self {
        Self { ids: ids.to_vec(), forces }
    }

    /// The forces on these: 0 for who has come since.
    pub fn on(&self, ids: &[u64]) -> Vec<DVec3> {
        if ids == self.ids {
            return self.forces.clone();
        }
        let known: BTreeMap<_, _> = self.ids.iter().zip(&self.forces).collect();
        ids.iter().map(|id| known.get(id).map_or(DVec3::ZERO, |force| **force)).collect()
    }
}

/// An exception on its way through the library.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// An environment, and forces on top of it.
pub struct Pushed {
    pub inner: Box<dyn Environment>,
    pub forces: Forces,
}

impl Environment for Pushed {
    fn predict(&self, particles: &Particles, span: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
        self.inner.predict(particles, span, prediction)?;
        let forces = self.forces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(forces) = &*forces {
            let impulses: Vec<DVec3> = forces.on(&particles.id).into_iter().map(|force| force * span.dt).collect();
            prediction.add_impulses(&impulses); // M⁻¹ hF: implicit drag is in the metric
        }
        Ok(())
    }

    fn inertia(&self) -> Inertia {
        self.inner.inertia()
    }

    fn potential_energy(&self, particles: &Particles, time: f64) -> f64 {
        self.inner.potential_energy(particles, time)
    }
}

/// What a callable is told: copies, which it may keep.
#[pyclass(frozen, get_all, module = "gluey")]
pub struct Moment {
    /// tⁿ (time).
    time: f64,
    /// h (time).
    dt: f64,
    /// Centres (length), (n, 3).
    positions: Py<PyArray2<f64>>,
    /// Velocities (length / time), (n, 3).
    velocities: Py<PyArray2<f64>>,
    /// Radii (length), (n,).
    radii: Py<PyArray1<f64>>,
    /// Masses (mass), (n,).
    masses: Py<PyArray1<f64>>,
    /// Indices of groups, (n,).
    groups: Py<PyArray1<u32>>,
    /// Who each is, (n,).
    ids: Py<PyArray1<u64>>,
}

impl Moment {
    fn new(py: Python<'_>, particles: &Particles, span: Span) -> PyResult<Self> {
        Ok(Self {
            time: span.start,
            dt: span.dt,
            positions: rows(py, &particles.position)?.unbind(),
            velocities: rows(py, &particles.velocity)?.unbind(),
            radii: PyArray1::from_slice(py, &particles.radius).unbind(),
            masses: PyArray1::from_slice(py, &particles.mass).unbind(),
            groups: PyArray1::from_slice(py, &particles.group).unbind(),
            ids: PyArray1::from_slice(py, &particles.id).unbind(),
        })
    }
}

/// Velocities, and velocities per impulse.
type Answer<'py> = (PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, f64>);

/// A-priori velocities from Python: the callable gets a [`Moment`] and gives arrays of (velocities, inverse masses).
pub struct Callable {
    /// Owned by the engine, which tells the collector of cycles.
    pub function: Weak<Py<PyAny>>,
    pub raised: Raised,
    pub flat: bool,
    /// Whether the velocities that it gives go on from those before.
    pub inertia: Inertia,
}

impl Callable {
    fn ask(&self, particles: &Particles, span: Span, prediction: &mut Prediction) -> PyResult<()> {
        Python::attach(|py| {
            let Some(function) = self.function.upgrade() else {
                return Err(errors::runtime("the environment is gone: it was collected with its simulation"));
            };
            let moment = Moment::new(py, particles, span)?;
            let answer = function.bind(py).call1((moment,))?;
            let (velocity, inverse_mass) = answer.extract::<Answer<'_>>()?;
            prediction.velocity = vectors("velocities", &velocity, Some(particles.len()))?;
            let inverse_mass = numbers("inverse_masses", &inverse_mass, particles.len())?;
            if let Some(index) = inverse_mass.iter().position(|m| !(m.is_finite() && *m > 0.0)) {
                let found = inverse_mass[index];
                return Err(errors::value(format!(
                    "`inverse_masses`[{index}] is {found}: expected a finite number > 0"
                )));
            }
            prediction.metric = Metric::Diagonal(inverse_mass);
            if self.flat {
                refuse_depth("velocities", &prediction.velocity)?;
            }
            Ok(())
        })
    }
}

impl Environment for Callable {
    fn predict(&self, particles: &Particles, span: Span, prediction: &mut Prediction) -> Result<(), EnvironmentError> {
        self.ask(particles, span, prediction).map_err(|error| {
            let told = no_answer("the a-priori velocity from Python", span, error.to_string());
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            told
        })
    }

    fn inertia(&self) -> Inertia {
        self.inertia
    }

    fn potential_energy(&self, _: &Particles, _: f64) -> f64 {
        0.0
    }
}

fn no_answer(quantity: &str, span: Span, reason: String) -> EnvironmentError {
    EnvironmentError::NoAnswer { quantity: quantity.to_owned(), particle: None, time: span.start, reason }
}

/// In two dimensions nothing leaves the plane z = 0.
pub fn refuse_depth(name: &str, vectors: &[DVec3]) -> PyResult<()> {
    match vectors.iter().position(|vector| vector.z != 0.0) {
        None => Ok(()),
        Some(index) => {
            let z = vectors[index].z;
            Err(errors::value(format!("`{name}`[{index}] has z = {z}: this scene has two dimensions, expected 0")))
        }
    }
}
