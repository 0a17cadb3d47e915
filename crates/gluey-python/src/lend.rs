//! The memory of a simulation's columns, lent to NumPy without a copy.
//!
//! A view points into the column itself. It must stay valid whatever becomes of the simulation, so each column that is
//! lent has a *keeper*: a cell that every view of it holds and the simulation only knows of. Whoever wants to change
//! the simulation goes through [`Lender::scene_mut`], which first looks whether a keeper is still held. If so, the
//! simulation goes on with a copy, and the column itself moves into its keeper: the views see the old values for as
//! long as they live, and the last of them frees the memory. If nobody looks, nothing is copied.

use std::any::Any;
use std::sync::{Arc, OnceLock, Weak};

use glam::DVec3;
use gluey::geometry::Particles;
use gluey::scene::Scene;
use numpy::ndarray::{ArrayView, ArrayView2, Dimension};
use numpy::{Element, PyArray, PyArrayMethods};
use pyo3::prelude::*;

use crate::arrays::flat;
use crate::errors;

/// Where a column goes that the simulation has left to its views.
type Keeper = OnceLock<Box<dyn Any + Send + Sync>>;

/// What views have as their base.
#[pyclass(frozen)]
struct Hold {
    _keeper: Arc<Keeper>,
}

/// The columns that can be looked at.
#[derive(Clone, Copy)]
pub enum Column {
    Positions,
    Velocities,
    Radii,
    Masses,
    Groups,
    Ids,
}

impl Column {
    const ALL: [Self; 6] = [Self::Positions, Self::Velocities, Self::Radii, Self::Masses, Self::Groups, Self::Ids];

    /// The column of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Positions => "positions",
            Self::Velocities => "velocities",
            Self::Radii => "radii",
            Self::Masses => "masses",
            Self::Groups => "groups",
            Self::Ids => "ids",
        }
    }

    /// Where its memory is.
    fn address(self, particles: &Particles) -> usize {
        match self {
            Self::Positions => particles.position.as_ptr().addr(),
            Self::Velocities => particles.velocity.as_ptr().addr(),
            Self::Radii => particles.radius.as_ptr().addr(),
            Self::Masses => particles.mass.as_ptr().addr(),
            Self::Groups => particles.group.as_ptr().addr(),
            Self::Ids => particles.id.as_ptr().addr(),
        }
    }
}

/// A scene whose particles may be looked at from Python.
pub struct Lender {
    scene: Scene,
    /// One for each column.
    keepers: [Weak<Keeper>; Column::ALL.len()],
}

impl Lender {
    /// Nobody looks yet.
    pub fn new(scene: Scene) -> Self {
        Self { scene, keepers: Default::default() }
    }

    /// For reading.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// For changes: columns that are being looked at are left to their views, and copied for the simulation.
    pub fn scene_mut(&mut self) -> &mut Scene {
        self.leave_columns();
        &mut self.scene
    }

    /// The address of a column.
    pub fn address(&self, column: Column) -> usize {
        column.address(&self.scene.simulation.state.particles)
    }

    /// A read-only view of a column.
    pub fn view<'py>(&mut self, py: Python<'py>, column: Column) -> PyResult<Bound<'py, PyAny>> {
        let slot = &mut self.keepers[column as usize];
        let keeper = slot.upgrade().unwrap_or_default();
        *slot = Arc::downgrade(&keeper);
        let base = Bound::new(py, Hold { _keeper: keeper })?.into_any();
        let particles = &self.scene.simulation.state.particles;
        Ok(match column {
            Column::Positions => lent(&by_rows(&particles.position)?, base),
            Column::Velocities => lent(&by_rows(&particles.velocity)?, base),
            Column::Radii => lent(&ArrayView::from(&particles.radius), base),
            Column::Masses => lent(&ArrayView::from(&particles.mass), base),
            Column::Groups => lent(&ArrayView::from(&particles.group), base),
            Column::Ids => lent(&ArrayView::from(&particles.id), base),
        })
    }

    /// Leaves each column that is being looked at to its views.
    fn leave_columns(&mut self) {
        let Particles { position, velocity, radius, mass, group, id, .. } = &mut self.scene.simulation.state.particles;
        let [of_position, of_velocity, of_radius, of_mass, of_group, of_id] = &mut self.keepers;
        leave(position, of_position);
        leave(velocity, of_velocity);
        leave(radius, of_radius);
        leave(mass, of_mass);
        leave(group, of_group);
        leave(id, of_id);
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        self.leave_columns();
    }
}

/// Moves a column into its keeper, if that is held, and puts a copy in its place.
fn leave<T: Clone + Send + Sync + 'static>(column: &mut Vec<T>, keeper: &mut Weak<Keeper>) {
    if let Some(keeper) = std::mem::take(keeper).upgrade() {
        let copy = column.clone();
        let kept = keeper.set(Box::new(std::mem::replace(column, copy)));
        debug_assert!(kept.is_ok(), "a keeper is forgotten once it is filled");
    }
}

/// Vectors as a matrix with a row each.
fn by_rows(vectors: &[DVec3]) -> PyResult<ArrayView2<'_, f64>> {
    ArrayView::from(flat(vectors)).into_shape_with_order((vectors.len(), 3)).map_err(errors::runtime)
}

/// A read-only array on the memory of a view, with a base that keeps it.
#[allow(unsafe_code, reason = "NumPy cannot know how long the memory lives; the proof is below")]
fn lent<'py, T: Element, D: Dimension>(view: &ArrayView<T, D>, base: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    // SAFETY: the memory is that of a `Vec` in the scene of a `Lender`, and `base` holds the keeper of this column. The
    // scene is reachable mutably only through `scene_mut`, and dropped only with the `Lender`; both first move the
    // `Vec` of every column whose keeper is held into that keeper, which moves no element, frees nothing, and is done
    // once, as the keeper is then forgotten. So the memory lives, in the scene or in the keeper, until the last base is
    // gone, and nobody writes to it meanwhile: the array is made read-only here, before anyone sees it, and NumPy
    // refuses to make it writeable again, because its base has no writeable buffer.
    let array = unsafe { PyArray::borrow_from_array(view, base) };
    array.readwrite().make_nonwriteable();
    array.into_any()
}
