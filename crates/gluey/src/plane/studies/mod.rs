//! The numbers behind the figures and tables on one particle and a plane. Each study returns data; the command writes
//! them.

mod convergence;
mod layers;
mod roughness;
mod uniqueness;

pub use convergence::{Bounds, Convergence, Orders, Resolution, convergence};
pub use layers::{Layer, Layers, layers};
pub use roughness::{Departure, Roughness, roughness};
pub use uniqueness::{Cluster, Family, Refinement, Uniqueness, cluster, uniqueness};

/// The order of convergence: the slope of ln(error) against ln(size), by least squares.
#[must_use]
pub fn order(sizes: &[f64], errors: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = sizes.iter().zip(errors).map(|(h, e)| (h.ln(), e.ln())).collect();
    let count = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let covariance: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    covariance / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}
