//! Where things are: spheres in columns, obstacles and their motion, signed gaps and unit normals.
//!
//! The gap between two spheres is D = |x_j − x_i| − r_i − r_j and its normal e = (x_j − x_i)/|x_j − x_i|, from i to j.
//! Against an obstacle, D is the signed distance from the sphere's surface and e points *into* the obstacle, so that
//! in both cases ∇_{x_i} D = −e.

mod particles;

pub use particles::Particles;
