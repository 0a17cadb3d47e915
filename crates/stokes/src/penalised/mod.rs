//! A sphere above a plane on a fixed mesh, rigid by penalty (Janela, Lefebvre, Maury 2005), axisymmetric.
//!
//! Find u = 0 on the plane z = 0, and p, such that for all v and q
//!
//! 2μ ∫ D(u):D(v) + (2/ε) ∫_B D(u):D(v) − ∫ p div v = ∫_B (F/|B|) v_z,  ∫ q div u = 0.
//!
//! B is the particle, F the force on it, normal to the plane. As ε → 0 the strain rate D(u) vanishes in B. The velocity
//! of the particle is the mean of u_z over B, and its drag λ = F/(6πμ r U).
//!
//! *Characteristic function.* The mesh is made of triangles, P2 for u and P1 for p; a triangle belongs to B when the
//! sphere covers two thirds of it. So B is a union of triangles, rigid to its last corner: the drag is some percent
//! high, and constant between gaps at which triangles come or go. Near the plane it *freezes*: at q < dx/√3 a triangle
//! of B has a corner on the plane, where u = 0, and no force moves the particle ([`Resolution`]).
//!
//! *Reuse.* Mesh, matrix of the fluid and order of elimination are made once. A position is one numeric factorisation,
//! which gives the velocity for all forces; none is made when the triangles in B are those of the last position.
//!
//! Lengths are in radii of the particle, viscosities in that of the fluid, forces in 6πμ r times the unit of velocity.
//!
//! ```
//! use stokes::penalised::{Penalised, Settings};
//!
//! let mut solver = Penalised::new(Settings { cell: 0.2, reach: 1.0, ..Settings::default() })?;
//! let velocity = solver.velocity(0.5, -2.0)?;
//! assert!((-2.0 / velocity / 3.205 - 1.0).abs() < 0.1); // the exact drag is 3.205
//! # Ok::<(), stokes::StokesError>(())
//! ```

mod element;
mod flow;
mod mesh;
mod resolution;
mod settings;
mod sphere;
mod system;

pub use flow::Flow;
pub use resolution::Resolution;
pub use settings::Settings;

use std::f64::consts::PI;

use crate::StokesError;
use element::NODES;
use mesh::{FIXED, Mesh, Place};
use sphere::Sphere;
use system::System;

/// The solver: a mesh, and the last position that was solved.
#[derive(Debug)]
pub struct Penalised {
    settings: Settings,
    mesh: Mesh,
    system: System,
    last: Option<Position>,
    factorisations: usize,
}

/// What is known of a position.
#[derive(Debug)]
struct Position {
    /// Triangles of B.
    body: Vec<Place>,
    /// Velocities and pressures at a unit of force.
    unknowns: Vec<f64>,
    /// Velocity of the particle at a unit of force, 1/λ.
    mobility: f64,
}

impl Penalised {
    /// Makes the mesh and orders the elimination.
    pub fn new(settings: Settings) -> Result<Self, StokesError> {
        let mesh = settings.mesh()?;
        let system = System::new(&mesh)?;
        Ok(Self { settings, mesh, system, last: None, factorisations: 0 })
    }

    /// Velocity of the particle, away from the plane, at a gap in radii under a force in 6πμ r.
    pub fn velocity(&mut self, gap: f64, force: f64) -> Result<f64, StokesError> {
        Ok(self.flow(gap, force)?.particle())
    }

    /// λ at a gap in radii: the force at a unit of velocity, in 6πμ r.
    pub fn drag(&mut self, gap: f64) -> Result<f64, StokesError> {
        Ok(1.0 / self.flow(gap, 1.0)?.mobility)
    }

    /// Velocities and pressures at a gap in radii under a force in 6πμ r.
    pub fn flow(&mut self, gap: f64, force: f64) -> Result<Flow<'_>, StokesError> {
        self.settings.check_gap(gap)?;
        if !force.is_finite() {
            return Err(StokesError::NotFinite { name: "force", value: force });
        }
        let body = self.body(gap);
        let position = match self.last.take() {
            Some(last) if last.body == body => last,
            _ => self.solve(body)?,
        };
        let Position { unknowns, mobility, .. } = self.last.insert(position);
        Ok(Flow { mesh: &self.mesh, unknowns, force, mobility: *mobility })
    }

    /// How well the mesh tells a gap in radii.
    #[must_use]
    pub fn resolution(&self, gap: f64) -> Resolution {
        let cell = self.settings.cell;
        if self.body(gap).iter().any(|place| place.touches_plane()) {
            Resolution::Frozen { cell, gap }
        } else if gap < 2.0 * cell {
            Resolution::Coarse { cell, gap }
        } else {
            Resolution::Resolved
        }
    }

    /// The figures of the mesh.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Unknown velocities and pressures.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.mesh.unknowns
    }

    /// Numeric factorisations made so far.
    #[must_use]
    pub fn factorisations(&self) -> usize {
        self.factorisations
    }

    /// Triangles of which the particle covers enough.
    fn body(&self, gap: f64) -> Vec<Place> {
        let particle = Sphere { height: 1.0 + gap };
        self.mesh.reached().filter(|place| particle.takes(&self.mesh.triangle(*place))).collect()
    }

    fn solve(&mut self, body: Vec<Place>) -> Result<Position, StokesError> {
        // 1. K + K_B/ε; l·x is the integral of u_z over B, and |B| that of 1.
        self.system.reset();
        let mut mean = vec![0.0; self.mesh.unknowns];
        let mut volume = 0.0;
        for &place in &body {
            let (triangle, numbers) = (self.mesh.triangle(place), self.mesh.unknowns_of(place));
            self.system.add(&numbers, &triangle.strain(1.0 / self.settings.penalty));
            // 1/μ falls from 1 to 1/(1 + 1/ε).
            self.system.add_masses(&numbers, -triangle.volume() / 3.0 / (1.0 + self.settings.penalty));
            for point in triangle.points() {
                volume += point.weight;
                let upward = numbers[NODES..].iter().zip(point.shapes).filter(|(number, _)| **number != FIXED);
                upward.for_each(|(number, shape)| mean[*number] += point.weight * shape);
            }
        }
        for share in &mut mean {
            *share /= volume;
        }
        // 2. The force is spread as the mean is taken: F/|B| on B, with F = 6π.
        let load: Vec<f64> = mean.iter().map(|share| 6.0 * PI * share).collect();
        let unknowns = self.system.solve(&load)?;
        self.factorisations += 1;
        // 3. U, the mean of u_z over B.
        let mobility = mean.iter().zip(&unknowns).map(|(share, u)| share * u).sum();
        Ok(Position { body, unknowns, mobility })
    }
}
