//! The stiffness K = Gᵀ W G of springs at the closed contacts, and K δ = g by conjugate gradients.
//!
//! W is 1 on rows above their bounds and small on the others, which keeps the system solvable whatever rows are chosen.
//! The preconditioner is symmetric Gauss–Seidel over the bodies, with their 3 × 3 blocks: for K = L + D + Lᵀ and
//! B = D + ε tr D,
//!
//! ```text
//! M = (B + L) B⁻¹ (B + Lᵀ),
//! ```
//!
//! in Eisenstat's form, which costs no more than a product with K: with t = (B + Lᵀ)⁻¹ B p,
//!
//! ```text
//! (B + L)⁻¹ K t = w,   B w = B p + (D − B) t − L (w − t).
//! ```
//!
//! Springs are sorted by the body with the smaller index, so that both triangular solves read them in a line.

use glam::DVec3;

/// ε: bodies with few contacts have singular blocks.
const SHIFT: f64 = 1e-3;
/// The error is the sum of all later terms; so many tell it well enough.
const TERMS: usize = 6;
/// A residual this much smaller than at the start is rounding.
const ROUNDING: f64 = 1e-14;
/// A residual this much smaller than the error asked for needs no terms: so badly conditioned is no packing.
const NEGLIGIBLE: f64 = 1e-2;

/// A closed row, with all that its passes read in one place.
#[derive(Clone, Copy)]
pub(super) struct Spring {
    pub row: u32,
    /// The body with the smaller number, and the other; the number of bodies stands for walls and immovable ones.
    pub first: u32,
    pub second: u32,
    /// Whether the row is above its bound.
    pub above: bool,
    /// From the first to the second.
    pub normal: DVec3,
    pub lower: f64,
    /// Λ_found.
    pub found: f64,
    /// (G u)_c.
    pub stretch: f64,
    /// (G δ)_c.
    pub rate: f64,
}

impl Spring {
    /// Λ(u).
    pub(super) fn impulse(&self) -> f64 {
        self.stretch.max(self.lower)
    }
}

/// When a solution is good enough.
pub(super) struct Enough {
    /// |√W G (δ − δ_exact)|,
    pub error: f64,
    /// or this relative to |√W G δ|,
    pub relative: f64,
    /// or the limit on products.
    pub products: u64,
}

/// What a solution took.
pub(super) struct Convergence {
    pub products: u64,
    /// |√W G δ|.
    pub size: f64,
    /// Whether it is good enough, not just cut short by the limit.
    pub reached: bool,
}

/// Buffers of the solution; the last entry of each is the wall.
#[derive(Default)]
pub(super) struct Stiffness {
    blocks: Vec<Block>,
    /// W of rows at their bounds.
    slack: f64,
    /// g on entry; then what the triangular solves work on.
    load: Vec<DVec3>,
    /// B (B + L)⁻¹ of the residual.
    residual: Vec<DVec3>,
    /// B p.
    direction: Vec<DVec3>,
    /// t.
    turned: Vec<DVec3>,
}

/// B⁻¹ of a body, and ε tr D.
#[derive(Clone, Copy, Default)]
struct Block {
    /// The entries xx, yy, zz,
    diagonal: DVec3,
    /// and yz, zx, xy.
    beside: DVec3,
    shift: f64,
}

impl Block {
    /// From D to B⁻¹. Bodies without springs stay zero.
    fn invert(&mut self) {
        let trace = self.diagonal.element_sum();
        if trace > 0.0 {
            self.shift = SHIFT * trace;
            let (d, b) = (self.diagonal + self.shift, self.beside);
            let minor = DVec3::new(d.y * d.z - b.x * b.x, d.z * d.x - b.y * b.y, d.x * d.y - b.z * b.z);
            let off = DVec3::new(b.y * b.z - b.x * d.x, b.z * b.x - b.y * d.y, b.x * b.y - b.z * d.z);
            let determinant = d.x * minor.x + b.z * off.z + b.y * off.y;
            (self.diagonal, self.beside) = (minor / determinant, off / determinant);
        }
    }

    /// B⁻¹ v.
    fn solve(&self, v: DVec3) -> DVec3 {
        let (d, b) = (self.diagonal, self.beside);
        DVec3::new(
            d.x * v.x + b.z * v.y + b.y * v.z,
            b.z * v.x + d.y * v.y + b.x * v.z,
            b.y * v.x + b.x * v.y + d.z * v.z,
        )
    }
}

impl Stiffness {
    fn weight(&self, spring: &Spring) -> f64 {
        if spring.above { 1.0 } else { self.slack }
    }

    /// The blocks of the bodies; `slack` is W of rows at their bounds.
    pub(super) fn assemble(&mut self, bodies: usize, springs: &[Spring], slack: f64) {
        self.slack = slack;
        self.blocks.clear();
        self.blocks.resize(bodies + 1, Block::default());
        for spring in springs {
            let (n, weight) = (spring.normal, self.weight(spring));
            for k in [spring.first, spring.second] {
                let block = &mut self.blocks[k as usize];
                block.diagonal += n * n * weight;
                block.beside += DVec3::new(n.y * n.z, n.z * n.x, n.x * n.y) * weight;
            }
        }
        self.blocks[bodies] = Block::default();
        self.blocks.iter_mut().for_each(Block::invert);
    }

    /// The number of bodies.
    fn bodies(&self) -> usize {
        self.blocks.len() - 1
    }

    /// g = Gᵀ f for a force f on each row; the entries of the bodies.
    pub(super) fn load(&mut self, bodies: usize, springs: &[Spring], force: impl Fn(&Spring) -> f64) -> &[DVec3] {
        self.load.clear();
        self.load.resize(bodies + 1, DVec3::ZERO);
        for spring in springs {
            let push = spring.normal * force(spring);
            self.load[spring.first as usize] -= push;
            self.load[spring.second as usize] += push;
        }
        self.load[bodies] = DVec3::ZERO;
        &self.load[..bodies]
    }

    /// δ with K δ = g, as exact as asked for.
    pub(super) fn solve(&mut self, springs: &[Spring], enough: &Enough, solution: &mut Vec<DVec3>) -> Convergence {
        let bodies = self.bodies();
        solution.clear();
        solution.resize(bodies, DVec3::ZERO);
        for buffer in [&mut self.turned, &mut self.residual] {
            buffer.clear();
            buffer.resize(bodies + 1, DVec3::ZERO);
        }
        let mut merit = self.lower(springs, -1.0);
        self.direction.clone_from(&self.residual);
        let smallest = (ROUNDING * ROUNDING * merit).max((NEGLIGIBLE * enough.error).powi(2));
        let mut terms = [f64::INFINITY; TERMS];
        let (mut products, mut squared) = (1, 0.0);
        let reached = loop {
            if merit <= smallest {
                break true;
            }
            if products >= enough.products {
                break false;
            }
            let curvature = self.upper(springs);
            let step = merit / curvature;
            if !step.is_finite() {
                break true;
            }
            for (solution, turned) in solution.iter_mut().zip(&self.turned) {
                *solution += *turned * step;
            }
            terms.rotate_left(1);
            terms[TERMS - 1] = step * merit;
            squared += step * merit;
            products += 1;
            let error = terms.iter().sum::<f64>();
            if error <= enough.error * enough.error || error <= enough.relative * enough.relative * squared {
                break true;
            }
            let next = self.lower(springs, step);
            let conjugacy = next / merit;
            merit = next;
            for (direction, residual) in self.direction.iter_mut().zip(&self.residual) {
                *direction = *residual + *direction * conjugacy;
            }
        };
        Convergence { products, size: squared.sqrt(), reached }
    }

    /// t = (B + Lᵀ)⁻¹ B p, and B p + (D − B) t as the load; returns tᵀ K t.
    fn upper(&mut self, springs: &[Spring]) -> f64 {
        let mut curvature = 0.0;
        let mut rest = springs;
        for i in (0..self.bodies()).rev() {
            let start = rest.iter().rposition(|spring| (spring.first as usize) < i).map_or(0, |last| last + 1);
            let own;
            (rest, own) = rest.split_at(start);
            let mut pull = self.direction[i];
            for spring in own {
                let n = spring.normal;
                pull += n * (self.weight(spring) * n.dot(self.turned[spring.second as usize]));
            }
            let block = &self.blocks[i];
            let turned = block.solve(pull);
            self.turned[i] = turned;
            self.load[i] = self.direction[i] - turned * block.shift;
            for spring in own {
                let n = spring.normal;
                curvature += self.weight(spring) * n.dot(turned - self.turned[spring.second as usize]).powi(2);
            }
        }
        curvature
    }

    /// With w = t + (B + L)⁻¹ (load − B t): takes `step`·B w off the residual, and returns its square in B⁻¹.
    fn lower(&mut self, springs: &[Spring], step: f64) -> f64 {
        let mut merit = 0.0;
        let mut springs = springs.iter().peekable();
        for i in 0..self.bodies() {
            let (block, load) = (&self.blocks[i], self.load[i]);
            let v = block.solve(load) - self.turned[i];
            while let Some(spring) = springs.next_if(|spring| spring.first as usize == i) {
                let n = spring.normal;
                let pull = n * (self.weight(spring) * n.dot(v));
                self.load[spring.second as usize] += pull;
            }
            let residual = self.residual[i] - load * step;
            self.residual[i] = residual;
            merit += residual.dot(block.solve(residual));
        }
        merit
    }
}
