//! The state and the step.

mod report;
mod state;

pub use report::{Load, StepReport};
pub use state::State;
