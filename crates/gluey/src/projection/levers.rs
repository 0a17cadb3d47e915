//! Sweeps over the rows of clumps: as those of spheres on their own, with the arms of the impulses.
//!
//! Bodies are clumps and spheres on their own; what is swept is the velocity and spin (U, ω) that the impulses give them,
//! on top of V^{n+1/2}. A row with the arms b_i, b_j and t = b × n reads
//!
//! ```text
//! w = D/h + n·(V_j − V_i)^{n+1/2} + n·(U_j − U_i) + t_j·ω_j − t_i·ω_i,   A_cc = 1/κ_i + t_i·S_i⁻¹t_i + (the same of j).
//! ```

use glam::{DMat3, DVec3};

use super::blocks::{Advance, Leap};
use super::quads::Objective;
use super::sweep::{Motion, Pace};
use super::{ALONE, AdmissibleSet, Problem, Response, Rigid, Row, WALL, worse};

/// The rows of a problem with clumps.
#[derive(Default)]
pub(super) struct Levers {
    bodies: Vec<Body>,
    rows: Vec<Lever>,
    /// Impulses of the swept point, and the last move.
    unknowns: Vec<Unknown>,
    /// An earlier swept point; empty: none.
    mark: Vec<f64>,
}

/// A clump, a sphere, or the wall.
#[derive(Clone, Copy, Default)]
struct Body {
    velocity: DVec3,
    spin: DVec3,
    /// Velocity and spin of the swept point before.
    earlier: (DVec3, DVec3),
    mass: f64,
    inertia: DMat3,
}

#[derive(Clone, Copy, Default)]
struct Lever {
    ends: [End; 2],
    normal: DVec3,
    /// D/h + n·(V_j − V_i)^{n+1/2}.
    rate: f64,
    set: AdmissibleSet,
    /// A_cc.
    diagonal: f64,
}

/// What an impulse does at one end of a row.
#[derive(Clone, Copy, Default)]
struct End {
    body: u32,
    inverse_mass: f64,
    /// t.
    torque: DVec3,
    /// S⁻¹ t.
    spin: DVec3,
}

#[derive(Clone, Copy, Default)]
struct Unknown {
    x: f64,
    d: f64,
}

impl Body {
    fn new(response: Response) -> Self {
        let inverse = |value: f64| if value > 0.0 { value.recip() } else { 0.0 };
        let felt = response.inverse_inertia;
        let planar = felt.x_axis.x == 0.0;
        let about_z = DMat3::from_diagonal(DVec3::new(0.0, 0.0, inverse(felt.z_axis.z)));
        let inertia = if planar { about_z } else { felt.inverse() };
        Self { mass: inverse(response.inverse_mass), inertia, ..Self::default() }
    }

    /// κ |U|² + ω·S ω.
    fn energy(&self, (velocity, spin): (DVec3, DVec3)) -> f64 {
        self.mass * velocity.length_squared() + spin.dot(self.inertia * spin)
    }

    fn since(&self) -> (DVec3, DVec3) {
        (self.velocity - self.earlier.0, self.spin - self.earlier.1)
    }
}

impl Lever {
    fn new(problem: &Problem, rigid: &Rigid, row: &Row, place: impl Fn(u32) -> u32) -> Self {
        let Row { i, j, normal, gap, set } = *row;
        let end = |body: u32| {
            let sphere = body as usize;
            let (response, arm) = match (body, rigid.owner.get(sphere)) {
                (WALL, _) => (Response::default(), DVec3::ZERO),
                (_, Some(&owner)) if owner != ALONE => (rigid.responses[owner as usize], rigid.arm[sphere]),
                _ => (Response { inverse_mass: rigid.inverse_mass[sphere], ..Response::default() }, DVec3::ZERO),
            };
            let torque = arm.cross(normal);
            let Response { inverse_mass, inverse_inertia } = response;
            End { body: place(body), inverse_mass, torque, spin: inverse_inertia * torque }
        };
        let ends = [end(i), end(j)];
        let apriori = |body: u32| if body == WALL { DVec3::ZERO } else { problem.prediction.velocity[body as usize] };
        let diagonal = ends.iter().map(|end| end.inverse_mass + end.torque.dot(end.spin)).sum();
        let rate = gap / problem.dt + normal.dot(apriori(j) - apriori(i));
        Self { ends, normal, rate, set, diagonal }
    }

    /// w.
    fn closing(&self, bodies: &[Body]) -> f64 {
        let [from, to] = self.ends.map(|end| {
            let body = &bodies[end.body as usize];
            self.normal.dot(body.velocity) + end.torque.dot(body.spin)
        });
        self.rate + to - from
    }

    /// Gives both ends an impulse.
    fn push(&self, bodies: &mut [Body], impulse: f64) {
        for (end, sign) in self.ends.iter().zip([-impulse, impulse]) {
            let body = &mut bodies[end.body as usize];
            body.velocity += self.normal * (sign * end.inverse_mass);
            body.spin += end.spin * sign;
        }
    }
}

impl Levers {
    /// Lays the problem out, and starts from these impulses, raised to `lower`.
    pub(super) fn load(&mut self, problem: &Problem, rigid: &Rigid, impulses: &[f64]) {
        self.bodies.clear();
        self.bodies.extend(rigid.responses.iter().map(|response| Body::new(*response)));
        let mut places = vec![0; rigid.owner.len()];
        for (sphere, owner) in rigid.owner.iter().enumerate() {
            places[sphere] = *owner;
            if *owner == ALONE {
                places[sphere] = self.bodies.len() as u32;
                let inverse_mass = rigid.inverse_mass[sphere];
                let alone = Response { inverse_mass, ..Response::default() };
                self.bodies.push(Body::new(alone));
            }
        }
        let wall = self.bodies.len() as u32;
        self.bodies.push(Body::default());
        let place = |body: u32| if body == WALL { wall } else { places[body as usize] };
        self.rows.clear();
        self.rows.extend(problem.rows.iter().map(|row| Lever::new(problem, rigid, row, place)));
        self.unknowns.clear();
        let started = impulses.iter().zip(&self.rows).map(|(x, row)| Unknown { x: row.set.project(*x), d: 0.0 });
        self.unknowns.extend(started);
        self.mark.clear();
        self.gather(|unknown| unknown.x);
        self.bodies.iter_mut().for_each(|body| body.earlier = (body.velocity, body.spin));
    }

    /// (U, ω) of a value of every row.
    fn gather(&mut self, of: impl Fn(&Unknown) -> f64) {
        for body in &mut self.bodies {
            (body.velocity, body.spin) = (DVec3::ZERO, DVec3::ZERO);
        }
        for (row, unknown) in self.rows.iter().zip(&self.unknowns) {
            let value = of(unknown);
            if value != 0.0 {
                row.push(&mut self.bodies, value);
            }
        }
    }

    /// A bound of √A_cc over all rows.
    pub(super) fn steepest(&self) -> f64 {
        self.rows.iter().map(|row| row.diagonal).fold(0.0, f64::max).sqrt()
    }

    /// The impulses of the swept point; exactly `lower` where the bound holds.
    pub(super) fn unload(&self, impulses: &mut [f64]) {
        impulses.iter_mut().zip(&self.unknowns).for_each(|(impulse, unknown)| *impulse = unknown.x);
    }

    /// Velocities from the impulses alone; the last move stays what it was.
    pub(super) fn refresh(&mut self) {
        self.keeping_moves(|levers| levers.gather(|unknown| unknown.x));
    }

    /// One sweep without momentum, which is kept.
    pub(super) fn smooth(&mut self) {
        self.keeping_moves(|levers| {
            let rows = levers.rows.iter().zip(&mut levers.unknowns).filter(|(row, _)| row.diagonal > 0.0);
            for (row, unknown) in rows {
                let next = row.set.project(unknown.x - row.closing(&levers.bodies) / row.diagonal);
                row.push(&mut levers.bodies, next - unknown.x);
                unknown.x = next;
            }
        });
    }

    /// Changes velocities, and those of the point before by the same.
    fn keeping_moves(&mut self, change: impl FnOnce(&mut Self)) {
        let moves: Vec<_> = self.bodies.iter().map(Body::since).collect();
        change(self);
        for (body, (velocity, spin)) in self.bodies.iter_mut().zip(moves) {
            body.earlier = (body.velocity - velocity, body.spin - spin);
        }
    }

    /// (x, V) ← (x + β d, V + β (V − V before)), and one sweep from there.
    pub(super) fn advance(&mut self, Pace { momentum, relaxation }: Pace) -> Advance {
        let mut energy = 0.0;
        for body in &mut self.bodies {
            let (velocity, spin) = body.since();
            energy += body.energy((velocity, spin));
            body.earlier = (body.velocity, body.spin);
            body.velocity += velocity * momentum;
            body.spin += spin * momentum;
        }
        let mut motion = Motion::default();
        for (row, unknown) in self.rows.iter().zip(&mut self.unknowns) {
            if row.diagonal <= 0.0 {
                continue; // Between two that cannot move a row stays where it is.
            }
            let ahead = unknown.x + momentum * unknown.d;
            let next = row.set.project(ahead - relaxation * row.closing(&self.bodies) / row.diagonal);
            let (change, d) = (next - ahead, next - unknown.x);
            if change != 0.0 {
                row.push(&mut self.bodies, change);
            }
            motion.against -= row.diagonal * change * d;
            motion.squared += row.diagonal * d * d;
            motion.largest = motion.largest.max(row.diagonal.sqrt() * change.abs());
            *unknown = Unknown { x: next, d };
        }
        Advance { motion, energy }
    }

    /// As for spheres on their own: the whole way since the last call becomes the last move; gives how much more of it
    /// makes the objective least.
    pub(super) fn leap(&mut self) -> Option<Leap> {
        let leap = (!self.mark.is_empty()).then(|| {
            for (unknown, mark) in self.unknowns.iter_mut().zip(&self.mark) {
                unknown.d = unknown.x - mark;
            }
            self.gather(|unknown| unknown.d);
            let moves: Vec<_> = self.bodies.iter().map(|body| (body.velocity, body.spin)).collect();
            let curvature: f64 = self.bodies.iter().zip(&moves).map(|(body, way)| body.energy(*way)).sum();
            self.gather(|unknown| unknown.x);
            for (body, (velocity, spin)) in self.bodies.iter_mut().zip(moves) {
                body.earlier = (body.velocity - velocity, body.spin - spin);
            }
            let (mut slope, mut room) = (0.0, f64::INFINITY);
            for (row, unknown) in self.rows.iter().zip(&self.unknowns) {
                slope += row.closing(&self.bodies) * unknown.d;
                room = room.min(row.set.room(unknown.x, unknown.d));
            }
            Leap::new(slope, curvature, room)
        });
        self.mark.clear();
        self.mark.extend(self.unknowns.iter().map(|unknown| unknown.x));
        leap
    }

    /// max |min(A_cc (Λ − lower), w)| at the swept point.
    pub(super) fn residual(&self) -> f64 {
        let rows = self.rows.iter().zip(&self.unknowns);
        let rest = |(row, unknown): (&Lever, &Unknown)| {
            (row.diagonal * row.set.depth(unknown.x)).min(row.closing(&self.bodies)).abs()
        };
        rows.map(rest).fold(0.0, worse)
    }

    /// The objective at the swept point.
    pub(super) fn objective(&self) -> Objective {
        let mut sum = Objective::default();
        for (row, unknown) in self.rows.iter().zip(&self.unknowns) {
            let w = row.closing(&self.bodies);
            sum.value += unknown.x * w;
            sum.magnitude += unknown.x.abs() * (w.abs() + row.rate.abs());
        }
        let quadratic: f64 = self.bodies.iter().map(|body| 0.5 * body.energy((body.velocity, body.spin))).sum();
        Objective { value: sum.value - quadratic, magnitude: sum.magnitude + quadratic }
    }
}
