//! How clumps move in a step.
//!
//! The environment tells what each sphere would do alone: V*_a, in its metric 1/w_a = m_a + hζ_a (hζ_a without inertia).
//! The clump does what is nearest to that: with k_a = 1/w_a − m_a and j_a = V*_a/w_a − m_a V_a, the impulse of forces and
//! flow on sphere a (without inertia both without m_a, and m = I = 0),
//!
//! ```text
//! p = m V + Σ j_a,   κ = m + Σ k_a,   c = Σ k_a a / κ,   S = R I Rᵀ + Σ k_a (|a|² − a aᵀ) − κ (|c|² − c cᵀ),
//! l = L + Σ a × j_a,   U = p/κ,   S ω = l − c × p,   V = U − ω × c.
//! ```
//!
//! c is the centre of resistance, about which drag does not turn what is pushed. R is taken halfway through the step,
//! R = exp(hω/2) Rⁿ, and the clump turns by exp(hω): the midpoint rule. In free flight L is kept to the last bit but for
//! rounding, the rule reads the same backwards, and the energy is off by O(h²) that does not grow.
//!
//! Impulses of contacts add U and ω about c as [`Rigid`] says, with the arms of the beginning of the step: the line
//! between two spheres then passes through both, and the angular momentum of all clumps together is kept, too. A sphere
//! ends at X + hV + exp(hω) a; what the projection sees of it, linear in ω, is off by O(h²) that
//! [`Moves::turn`] puts right.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use super::template::point_inertia;
use super::{Clump, Clumps, inverse};
use crate::environment::Prediction;
use crate::geometry::Particles;
use crate::projection::{ALONE, Problem, Response, Rigid, Twist};

/// Most that a clump may turn in a sub-step (radians).
pub const MOST_TURN: f64 = 0.5;
/// Repetitions of the midpoint rule.
const ROUNDS: u32 = 60;
/// Where its spin has settled, relative to itself.
const SETTLED: f64 = 4.0 * f64::EPSILON;
/// or by no less than the time before, below this: rounding is then all that is left. In the spin of a long clump it is that
/// of its momentum times the ratio of its moments of inertia.
const ROUNDING: f64 = 1e-10;
/// Spheres on a line do not resist a spin about it; so much of Σ k_a r_a² does.
const LEAST_RESISTANCE: f64 = 1e-9;

/// A clump turns too fast for a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overturn {
    /// Its index.
    pub clump: usize,
    /// By how much it turns, where that is known (radians).
    pub angle: f64,
    /// How many times too long the step is.
    pub times: f64,
}

/// What clumps do in a sub-step.
#[derive(Default)]
pub struct Moves {
    metric: Arc<Rigid>,
    list: Vec<Move>,
    /// From the centres of mass to the spheres at the beginning of the step; nothing for those that are alone.
    arm: Vec<DVec3>,
    /// The velocities that the projection found, linear in the impulses.
    linear: Vec<DVec3>,
    /// How the clumps turn by the velocities found.
    motions: Vec<RigidMotion>,
}

#[derive(Clone, Copy, Default)]
struct Move {
    /// Of the centre of mass, as the environment would have it,
    apriori: Twist,
    /// and as it is.
    twist: Twist,
    /// c.
    resistance: DVec3,
    /// R I Rᵀ halfway through the step.
    inertia: DMat3,
}

/// What the spheres of a clump feel in a step, summed up.
struct Push {
    /// p and l.
    linear: DVec3,
    angular: DVec3,
    /// κ, c, and S without R I Rᵀ.
    mass: f64,
    resistance: DVec3,
    inertia: DMat3,
}

impl Moves {
    /// Spheres of a clump get the mean velocities of its a-priori motion, and a metric that holds them together. `inertia`
    /// tells whether masses resist. Tells who turns too fast, if somebody does.
    pub fn predict(
        &mut self,
        clumps: &Clumps,
        particles: &Particles,
        (inertia, dt): (bool, f64),
        prediction: &mut Prediction,
    ) -> Result<(), Overturn> {
        let metric = Arc::make_mut(&mut self.metric);
        metric.owner = clumps.owners(particles.len());
        metric.inverse_mass.clone_from(&prediction.inverse_metric);
        metric.responses.clear();
        metric.arm.clear();
        metric.arm.resize(particles.len(), DVec3::ZERO);
        self.arm.clone_from(&metric.arm);
        self.list.clear();
        for (index, clump) in clumps.list.iter().enumerate() {
            for (sphere, arm) in clump.spheres().zip(clumps.arms_of(clump)) {
                self.arm[sphere] = clump.orientation * *arm;
            }
            let push = Push::on(clump, particles, &self.arm, inertia, prediction);
            let too_fast = |turn: Turn| turn.of(index);
            let (one, response) = push.midpoint(clump, inertia, dt).map_err(too_fast)?;
            let motion = RigidMotion::new(one.apriori, dt);
            for sphere in clump.spheres() {
                metric.arm[sphere] = self.arm[sphere] - one.resistance;
                prediction.velocity[sphere] = motion.mean_velocity(self.arm[sphere]);
            }
            self.list.push(one);
            metric.responses.push(response);
        }
        prediction.mobility = Some(self.metric.clone());
        Ok(())
    }

    /// Nobody is held together any more.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// The clump of each particle; empty before the first prediction.
    #[must_use]
    pub fn owner(&self) -> &[u32] {
        &self.metric.owner
    }

    /// The velocities that the projection found, as it sees them.
    #[must_use]
    pub fn linear(&self) -> &[DVec3] {
        &self.linear
    }

    /// Puts the mean velocities of turning clumps in place of those that are linear in the impulses. Tells who turns too
    /// fast, if somebody does.
    pub fn turn(&mut self, problem: &Problem, impulses: &[f64], velocity: &mut [DVec3]) -> Result<(), Overturn> {
        self.linear.clear();
        self.linear.extend_from_slice(velocity);
        let twists = self.metric.twists(&problem.pushes(impulses));
        for (index, (one, given)) in self.list.iter_mut().zip(twists).enumerate() {
            let spin = one.apriori.spin + given.spin;
            let velocity = one.apriori.velocity + given.velocity - given.spin.cross(one.resistance);
            one.twist = Twist { velocity, spin };
            refuse_turn(spin, problem.dt).map_err(|turn| turn.of(index))?;
        }
        self.motions.clear();
        self.motions.extend(self.list.iter().map(|one| RigidMotion::new(one.twist, problem.dt)));
        for ((v, owner), arm) in velocity.iter_mut().zip(&self.metric.owner).zip(&self.arm) {
            if *owner != ALONE {
                *v = self.motions[*owner as usize].mean_velocity(*arm);
            }
        }
        Ok(())
    }

    /// Velocities of the centres of mass, in the order of the clumps (length / time).
    pub fn velocities(&self) -> impl Iterator<Item = DVec3> {
        self.list.iter().map(|one| one.twist.velocity)
    }

    /// Moves the clumps, and their spheres with them.
    pub fn finish(&self, clumps: &mut Clumps, particles: &mut Particles, inertia: bool, dt: f64) {
        for (k, one) in self.list.iter().enumerate() {
            let clump = &mut clumps.list[k];
            let Twist { velocity, spin } = one.twist;
            clump.velocity = velocity;
            let centre = clump.centre + velocity * dt;
            clump.centre = particles.cell.map_or(centre, |cell| cell.wrap(centre));
            clump.orientation = (turned_by(spin * dt) * clump.orientation).normalize();
            let felt = if inertia { one.inertia } else { clump.inertia_in_space(clump.orientation) };
            clump.angular_momentum = felt * spin;
            clumps.place(k, particles);
        }
    }
}

impl Push {
    fn on(clump: &Clump, particles: &Particles, arms: &[DVec3], inertia: bool, prediction: &Prediction) -> Self {
        let own = if inertia { 1.0 } else { 0.0 };
        let (mut linear, mut angular) = (clump.velocity * (own * clump.mass), clump.angular_momentum * own);
        let (mut mass, mut first, mut second) = (own * clump.mass, DVec3::ZERO, DMat3::ZERO);
        let mut least = 0.0;
        for sphere in clump.spheres() {
            let (arm, felt) = (arms[sphere], prediction.inverse_metric[sphere].recip());
            let known = own * particles.mass[sphere];
            let (drag, impulse) =
                (felt - known, prediction.velocity[sphere] * felt - particles.velocity[sphere] * known);
            linear += impulse;
            angular += arm.cross(impulse);
            mass += drag;
            first += arm * drag;
            second += point_inertia(arm) * drag;
            least += drag * particles.radius[sphere] * particles.radius[sphere];
        }
        let resistance = first / mass;
        let mut inertia_of_drag = second - point_inertia(resistance) * mass;
        if !inertia {
            inertia_of_drag += DMat3::from_diagonal(DVec3::splat(LEAST_RESISTANCE * least));
        }
        Self { linear, angular, mass, resistance, inertia: inertia_of_drag }
    }

    /// The motion of the midpoint rule, and how the clump then answers to impulses.
    fn midpoint(&self, clump: &Clump, inertia: bool, dt: f64) -> Result<(Move, Response), Turn> {
        let Self { linear, angular, mass, resistance, inertia: of_drag } = *self;
        let about = angular - resistance.cross(linear);
        let halfway = |spin: DVec3| clump.inertia_in_space(turned_by(spin * (0.5 * dt)) * clump.orientation);
        let answer = |felt: DMat3| inverse(if inertia { felt + of_drag } else { of_drag }, clump.planar);
        let (mut spin, mut change) = (clump.spin(), f64::INFINITY);
        for _ in 0..ROUNDS {
            let felt = halfway(spin);
            let inverse_inertia = answer(felt);
            let next = inverse_inertia * about;
            refuse_turn(next, dt)?;
            let (before, length) = (change, next.length());
            change = next.distance(spin);
            let settled = change <= SETTLED * length || (change >= before && change <= ROUNDING * length);
            spin = next;
            if settled {
                let velocity = linear / mass - spin.cross(resistance);
                let apriori = Twist { velocity, spin };
                let response = Response { inverse_mass: mass.recip(), inverse_inertia };
                return Ok((Move { apriori, twist: apriori, resistance, inertia: felt }, response));
            }
        }
        // It has not settled: half the step may do.
        Err(Turn { angle: spin.length() * dt, times: 2.0 })
    }
}

/// A turn that is too large for a step.
#[derive(Clone, Copy)]
struct Turn {
    angle: f64,
    times: f64,
}

impl Turn {
    fn of(self, clump: usize) -> Overturn {
        Overturn { clump, angle: self.angle, times: self.times }
    }
}

fn refuse_turn(spin: DVec3, dt: f64) -> Result<(), Turn> {
    let angle = spin.length() * dt;
    if angle > MOST_TURN { Err(Turn { angle, times: angle / MOST_TURN }) } else { Ok(()) }
}

fn turned_by(angle: DVec3) -> DQuat {
    DQuat::from_scaled_axis(angle)
}

/// How a clump goes and turns in a step.
#[derive(Clone, Copy)]
struct RigidMotion {
    /// V.
    velocity: DVec3,
    /// exp(hω).
    turn: DQuat,
    dt: f64,
}

impl RigidMotion {
    fn new(twist: Twist, dt: f64) -> Self {
        Self { velocity: twist.velocity, turn: turned_by(twist.spin * dt), dt }
    }

    /// The mean velocity of a sphere over the step: V + (exp(hω) a − a)/h.
    fn mean_velocity(&self, arm: DVec3) -> DVec3 {
        self.velocity + (self.turn * arm - arm) / self.dt
    }
}
