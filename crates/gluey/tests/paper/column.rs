//! Exact, event-driven solution of the gluey model for a column of particles over a floor.
//!
//! Contact k is between particle k − 1 (or the floor) and particle k, its gap q_k ≥ 0 and glue γ_min ≤ γ_k ≤ 0. Between
//! events all forces are constant and positions are parabolas; an event is a hit, glue that is used up, or a switch of
//! the forces. At a hit the impulses solve 0 ≤ v_rel⁺ ⟂ Λ − γ ≥ 0 over the contacts that touch; between events the
//! contact forces solve v_rel' ≥ 0 ⟂ λ ≥ 0 where γ = 0, and v_rel' = 0 where γ < 0. Both are found by trying all active
//! sets.
#![allow(clippy::needless_range_loop, reason = "contact k joins particles k - 1 and k")]

const ROUNDING: f64 = 1e-11;

#[derive(Clone, Debug)]
pub struct Column {
    pub time: f64,
    /// Gaps between successive surfaces.
    pub gap: Vec<f64>,
    pub velocity: Vec<f64>,
    pub mass: Vec<f64>,
    pub gamma: Vec<f64>,
    pub gamma_min: f64,
    /// (from when, force on each particle).
    pub forces: Vec<(f64, Vec<f64>)>,
    /// Times of take-off, by contact.
    pub takeoffs: Vec<(f64, usize)>,
}

impl Column {
    pub fn new(gap: &[f64], mass: &[f64], gamma_min: f64, forces: &[(f64, Vec<f64>)]) -> Self {
        let n = mass.len();
        let (gap, mass, forces) = (gap.to_vec(), mass.to_vec(), forces.to_vec());
        let (velocity, gamma) = (vec![0.0; n], vec![0.0; n]);
        Self { time: 0.0, gap, velocity, mass, gamma, gamma_min, forces, takeoffs: Vec::new() }
    }

    /// Heights of the surfaces facing down, for particles of zero radius.
    pub fn heights(&self) -> Vec<f64> {
        self.gap
            .iter()
            .scan(0.0, |height, gap| {
                *height += gap;
                Some(*height)
            })
            .collect()
    }

    pub fn advance_to(&mut self, until: f64) {
        while self.time < until {
            self.hit();
            let (contact_force, acceleration) = self.contact_forces();
            let dt = self.next_event(&contact_force, &acceleration).min(until - self.time);
            for k in 0..self.mass.len() {
                let relative = Self::relative(&self.velocity, k);
                let bend = Self::relative(&acceleration, k);
                let open = self.gap[k] > 0.0 || relative > ROUNDING || bend > ROUNDING;
                self.gap[k] = if open { (self.gap[k] + relative * dt + 0.5 * bend * dt * dt).max(0.0) } else { 0.0 };
                if self.gap[k] < ROUNDING {
                    self.gap[k] = 0.0;
                }
                let before = self.gamma[k];
                self.gamma[k] = (before - contact_force[k] * dt).clamp(self.gamma_min, 0.0);
                if self.gamma[k] > -ROUNDING {
                    self.gamma[k] = 0.0;
                    if before < 0.0 {
                        self.takeoffs.push((self.time + dt, k));
                    }
                }
            }
            for (v, a) in self.velocity.iter_mut().zip(&acceleration) {
                *v += a * dt;
            }
            self.time += dt;
        }
        self.time = until;
    }

    fn relative(of: &[f64], k: usize) -> f64 {
        of[k] - if k == 0 { 0.0 } else { of[k - 1] }
    }

    fn force(&self) -> &[f64] {
        let now = self.forces.iter().rev().find(|(from, _)| *from <= self.time + ROUNDING);
        &now.unwrap_or(&self.forces[0]).1
    }

    /// Velocities after impulses (or accelerations after forces) p_k in the contacts.
    fn respond(&self, start: &[f64], p: &[f64]) -> Vec<f64> {
        let n = self.mass.len();
        (0..n).map(|k| start[k] + (p[k] - if k + 1 < n { p[k + 1] } else { 0.0 }) / self.mass[k]).collect()
    }

    /// p with zero relative response on `active` and p = `rest` elsewhere: a small dense system.
    fn solve(&self, start: &[f64], active: &[usize], rest: &[f64]) -> Vec<f64> {
        let mut p = rest.to_vec();
        for &k in active {
            p[k] = 0.0;
        }
        let base = self.respond(start, &p);
        let zero = vec![0.0; self.mass.len()];
        let n = active.len();
        let mut system: Vec<Vec<f64>> = (0..n)
            .map(|a| {
                let mut row: Vec<f64> = (0..n)
                    .map(|b| {
                        let mut unit = zero.clone();
                        unit[active[b]] = 1.0;
                        Self::relative(&self.respond(&zero, &unit), active[a])
                    })
                    .collect();
                row.push(-Self::relative(&base, active[a]));
                row
            })
            .collect();
        for pivot in 0..n {
            for row in 0..n {
                if row != pivot {
                    let factor = system[row][pivot] / system[pivot][pivot];
                    for column in 0..=n {
                        system[row][column] -= factor * system[pivot][column];
                    }
                }
            }
        }
        for (a, &k) in active.iter().enumerate() {
            p[k] = system[a][n] / system[a][a];
        }
        p
    }

    fn subsets(of: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
        // Fuller sets first: a contact that may stay closed does.
        (0..1_u32 << of.len())
            .rev()
            .map(|bits| of.iter().enumerate().filter(|(b, _)| bits >> b & 1 == 1).map(|(_, k)| *k).collect())
    }

    fn hit(&mut self) {
        let touching: Vec<usize> = (0..self.mass.len()).filter(|&k| self.gap[k] == 0.0).collect();
        if touching.iter().all(|&k| Self::relative(&self.velocity, k) >= -ROUNDING) {
            return;
        }
        let rest: Vec<f64> =
            (0..self.mass.len()).map(|k| if self.gap[k] == 0.0 { self.gamma[k] } else { 0.0 }).collect();
        let (impulse, velocity) = Self::subsets(&touching)
            .map(|active| {
                let p = self.solve(&self.velocity, &active, &rest);
                let v = self.respond(&self.velocity, &p);
                (p, v, active)
            })
            .find(|(p, v, active)| {
                touching.iter().all(|&k| Self::relative(v, k) >= -ROUNDING)
                    && active.iter().all(|&k| p[k] >= self.gamma[k] - ROUNDING)
            })
            .map(|(p, v, _)| (p, v))
            .expect("the impulses of a hit exist");
        for &k in &touching {
            self.gamma[k] = (self.gamma[k] - impulse[k]).clamp(self.gamma_min, 0.0);
            if self.gamma[k] > -ROUNDING {
                self.gamma[k] = 0.0;
            }
        }
        self.velocity = velocity;
    }

    fn contact_forces(&self) -> (Vec<f64>, Vec<f64>) {
        let n = self.mass.len();
        let free: Vec<f64> = self.force().iter().zip(&self.mass).map(|(f, m)| f / m).collect();
        let closed = |k: usize| self.gap[k] == 0.0 && Self::relative(&self.velocity, k).abs() <= 10.0 * ROUNDING;
        let glued: Vec<usize> = (0..n).filter(|&k| self.gamma[k] < 0.0).collect();
        let dry: Vec<usize> = (0..n).filter(|&k| self.gamma[k] == 0.0 && closed(k)).collect();
        let rest = vec![0.0; n];
        Self::subsets(&dry)
            .map(|mut active| {
                active.extend(&glued);
                active.sort_unstable();
                let p = self.solve(&free, &active, &rest);
                let a = self.respond(&free, &p);
                (p, a)
            })
            .find(|(p, a)| dry.iter().all(|&k| p[k] >= -ROUNDING && Self::relative(a, k) >= -ROUNDING))
            .expect("the contact forces exist")
    }

    fn next_event(&self, force: &[f64], acceleration: &[f64]) -> f64 {
        let mut dt = f64::INFINITY;
        for (from, _) in &self.forces {
            if *from > self.time + ROUNDING {
                dt = dt.min(from - self.time);
            }
        }
        for k in 0..self.mass.len() {
            if self.gamma[k] < 0.0 && force[k] < -ROUNDING {
                dt = dt.min(self.gamma[k] / force[k]);
            }
            let (q, v, a) = (self.gap[k], Self::relative(&self.velocity, k), Self::relative(acceleration, k));
            if self.gamma[k] == 0.0 && (q > 0.0 || v > ROUNDING) {
                dt = dt.min(first_root(q, v, a));
            }
        }
        dt.max(1e-15)
    }
}

/// The first t > 0 with q + v t + a t²/2 = 0.
fn first_root(q: f64, v: f64, a: f64) -> f64 {
    let discriminant = v * v - 2.0 * a * q;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    let root = discriminant.sqrt();
    // Both roots in the form that does not cancel.
    let w = -v - root.copysign(v);
    let roots = [if a == 0.0 { f64::INFINITY } else { w / a }, if w == 0.0 { f64::INFINITY } else { 2.0 * q / w }];
    roots.into_iter().filter(|t| *t > 1e-13).fold(f64::INFINITY, f64::min)
}
