//! Rigid particles that interact through contact and lubrication: the gluey particle model.

pub mod adhesion;
pub mod contact;
pub mod environment;
pub mod expression;
pub mod geometry;
pub mod neighbours;
pub mod projection;
pub mod scene;
pub mod simulation;
pub mod trajectory;
