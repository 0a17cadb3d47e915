//! What a run leaves in its folder: series, frames for `ParaView` and OVITO, checkpoints; and how a stopped run goes on.
//!
//! | file | holds |
//! |---|---|
//! | `manifest.toml` | what was run: versions, seed, dimension, dt, the scene's text |
//! | `series.csv` | one row per series interval: energies, momentum, figures of the step, load on each obstacle, measures |
//! | `particles.pvd`, `contacts.pvd`, `obstacles.pvd` | the times of the frames, for `ParaView` |
//! | `frames/particles_00000012.vtp`, … | the frame of step 12, as VTK XML `PolyData` |
//! | `trajectory.xyz` | the frames as extended XYZ, for OVITO |
//! | `frames.bin` | the frames in few bytes, for the viewer |
//! | `interventions.csv` | what was changed by hand while the run went on |
//! | `checkpoint.gluey` | the newest checkpoint: all that is needed to go on |
//! | `checkpoint-previous.gluey` | the one before it, for when the newest is damaged |
//! | `timings.csv`, `host.toml` | wall times and host facts: the only files that differ between two equal runs |
//! | `.lock` | empty; locked while a process writes to the folder |
//!
//! A run that is stopped at any moment and resumed from its checkpoint leaves the same bytes in all files but
//! `timings.csv` and `host.toml` as a run that was never stopped, because
//! - every file is a function of the states alone, and frames are numbered by step;
//! - whole files are written beside their place and renamed into it, so that none is ever half there;
//! - a checkpoint records length and checksum of the files that grow, after these have reached the disk; resuming refuses
//!   files that hold anything else, cuts them back to that length and removes frames of later steps.
//!
//! [`Snapshots`] reads the frames of a folder back, for pictures and reports.
//!
//! Nothing here reads a clock: wall times are handed in. The caller owns the loop:
//!
//! ```
//! use gluey::simulation::{State, StepReport};
//! use gluey::trajectory::{Checkpoint, Formats, Frame, IfPresent, Observation, Recorder, RunInfo, checkpoint_path};
//!
//! let folder = tempfile::tempdir()?;
//! let info = RunInfo { scene_name: "nothing".into(), dimension: 3, dt: 0.5, ..RunInfo::default() };
//! let (mut state, report) = (State::default(), StepReport::default());
//!
//! let mut recorder = Recorder::create(folder.path(), &info, Formats::ALL, IfPresent::Refuse)?;
//! for step in 0..3 {
//!     state.step = step; // here a simulation would advance
//!     let time = step as f64 * info.dt;
//!     let particles = &state.particles;
//!     let (kinetic_energy, potential_energy, report, measures) = (state.kinetic_energy(), 0.0, &report, &[]);
//!     let row = Observation { step, time, particles, kinetic_energy, potential_energy, report, measures };
//!     recorder.record_step(&row)?;
//!     recorder.record_frame(&Frame { step, time, particles, contacts: &[], obstacles: &[], clump: &[] })?;
//!     recorder.checkpoint(&state, report)?; // last, so that it covers what was written for this step
//! }
//! drop(recorder);
//!
//! let checkpoint = Checkpoint::read(&checkpoint_path(folder.path()))?;
//! let recorder = Recorder::resume(folder.path(), &checkpoint)?; // go on from checkpoint.state
//! assert_eq!(recorder.frames().len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checkpoint;
mod compact;
mod error;
mod files;
mod former;
mod frame;
mod interventions;
mod lists;
mod manifest;
mod paraview;
mod polydata;
mod recorder;
#[cfg(test)]
mod resume_tests;
mod series;
mod snapshot;
mod summary;
mod vtk;
mod writer;
mod xyz;

pub use crate::format::{Format, Formats, OpenedBy};
pub use checkpoint::{Checkpoint, FrameStamp, Grown, Progress};
pub use compact::{CompactFrames, encode};
pub use error::{Loss, TrajectoryError};
pub use frame::{Frame, ObstacleSurface};
pub use interventions::Intervention;
pub use manifest::{Group, Manifest, RunInfo};
pub use recorder::{
    IfPresent, Recorder, Timing, checkpoint_path, is_being_written, previous_checkpoint_path, refuse_other_run,
};
pub use series::{Column, Figure, Observation, Row, Runs, Told};
pub use snapshot::{Snapshot, Snapshots};
pub use summary::{CheckpointStatus, RunSummary};
