//! Rigid particles that interact through contact and lubrication: the gluey particle model.

pub mod contact;
pub mod geometry;
pub mod simulation;
