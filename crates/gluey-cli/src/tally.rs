//! The figures of a run, gathered step by step.

use gluey::openings::Traffic;
use gluey::simulation::{Simulation, StepReport};

/// What has happened since this process started or resumed the run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// What overlaps are relative to (length).
    pub smallest_radius: f64,
    /// Steps taken.
    pub steps: u64,
    /// Iterations of all projections.
    pub sweeps: u64,
    /// Greatest overlap after a step, relative to the smallest radius.
    pub worst_overlap: f64,
    /// Greatest residual of a projection, relative to the smallest radius.
    pub worst_residual: f64,
    /// Steps that were taken in parts.
    pub split: u64,
    /// What was accepted rather than solved.
    pub unconverged: u64,
    /// Contacts after the last step.
    pub contacts: usize,
    /// Contacts with γ < 0 after the last step.
    pub glued: usize,
    /// What has passed the openings, and who waits.
    pub traffic: Traffic,
}

impl Tally {
    /// Nothing has happened since the step that this report is of.
    pub fn new(simulation: &Simulation, report: &StepReport) -> Self {
        Self {
            smallest_radius: simulation.smallest_radius(),
            contacts: report.contacts,
            glued: report.glued,
            traffic: report.traffic,
            ..Self::default()
        }
    }

    /// One step more.
    pub fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.sweeps += report.sweeps;
        self.worst_overlap = self.worst_overlap.max(-report.least_gap / self.smallest_radius);
        self.worst_residual = self.worst_residual.max(report.residual);
        self.split += u64::from(report.substeps > 1);
        self.unconverged += u64::from(report.unconverged);
        self.contacts = report.contacts;
        self.glued = report.glued;
        self.traffic = report.traffic;
    }

    /// Mean number of iterations of a step.
    pub fn sweeps_per_step(&self) -> f64 {
        self.sweeps as f64 / self.steps.max(1) as f64
    }
}
