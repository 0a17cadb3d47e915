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

use glam::{DMat3, DQuat, DVec3};

use super::template::point_inertia;
use super::{Clump, Clumps, inverse};
use crate::environment::Inertia;
use crate::geometry::Particles;
use crate::projection::{Metric, NO_CLUMP, Prediction, Problem, Response, Rigid, Solution, Twist};

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

/// How the motion is integrated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integration {
    /// Whether masses resist.
    pub inertia: Inertia,
    /// The length of the sub-step (time).
    pub dt: f64,
}

/// What clumps do in a sub-step.
#[derive(Default)]
pub struct Moves {
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

/// Spheres, and where they are from the centres of their clumps.
struct Spheres<'a> {
    particles: &'a Particles,
    arms: &'a [DVec3],
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
    /// Spheres of a clump get the mean velocities of its a-priori motion, and a metric that holds them together. Tells who turns too fast, if somebody does.
    pub fn predict(
        &mut self,
        clumps: &Clumps,
        particles: &Particles,
        integration: Integration,
        prediction: &mut Prediction,
    ) -> Result<(), Overturn> {
        self.list.clear();
        if clumps.is_empty() {
            return Ok(());
        }
        let mut metric = Rigid {
            responses: Vec::with_capacity(clumps.list.len()),
            owner: clumps.owners(particles.len()),
            arm: vec![DVec3::ZERO; particles.len()],
            inverse_mass: Vec::new(),
        };
        self.arm.clone_from(&metric.arm);
        for (index, clump) in clumps.list.iter().enumerate() {
            for (sphere, arm) in clump.spheres().zip(clumps.arms_of(clump)) {
                self.arm[sphere] = clump.orientation * *arm;
            }
            let push = Push::on(clump, &Spheres { particles, arms: &self.arm }, integration.inertia, prediction);
            let too_fast = |turn: Turn| turn.of(index);
            let (one, response) = push.midpoint(clump, integration).map_err(too_fast)?;
            let motion = RigidMotion::new(one.apriori, integration.dt);
            for sphere in clump.spheres() {
                metric.arm[sphere] = self.arm[sphere] - one.resistance;
                prediction.velocity[sphere] = motion.mean_velocity(self.arm[sphere]);
            }
            self.list.push(one);
            metric.responses.push(response);
        }
        metric.inverse_mass = std::mem::take(prediction.metric.diagonal());
        prediction.metric = Metric::Rigid(metric);
        Ok(())
    }

    /// The velocities that the projection found, as it sees them.
    #[must_use]
    pub fn linear(&self) -> &[DVec3] {
        &self.linear
    }

    /// Puts the mean velocities of turning clumps in place of those that are linear in the impulses. Tells who turns too
    /// fast, if somebody does.
    pub fn turn(&mut self, problem: &Problem, solution: &mut Solution) -> Result<(), Overturn> {
        let Solution { impulses, velocity } = solution;
        self.linear.clear();
        self.linear.extend_from_slice(velocity);
        let Metric::Rigid(metric) = &problem.prediction.metric else { return Ok(()) };
        let twists = metric.twists(&problem.pushes(impulses));
        for (index, (one, given)) in self.list.iter_mut().zip(twists).enumerate() {
            let spin = one.apriori.spin + given.spin;
            let velocity = one.apriori.velocity + given.velocity - given.spin.cross(one.resistance);
            one.twist = Twist { velocity, spin };
            refuse_turn(spin, problem.dt).map_err(|turn| turn.of(index))?;
        }
        self.motions.clear();
        self.motions.extend(self.list.iter().map(|one| RigidMotion::new(one.twist, problem.dt)));
        for ((v, owner), arm) in velocity.iter_mut().zip(&metric.owner).zip(&self.arm) {
            if *owner != NO_CLUMP {
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
    pub fn finish(&self, clumps: &mut Clumps, particles: &mut Particles, Integration { inertia, dt }: Integration) {
        for (k, one) in self.list.iter().enumerate() {
            let clump = &mut clumps.list[k];
            let Twist { velocity, spin } = one.twist;
            clump.velocity = velocity;
            let centre = clump.centre + velocity * dt;
            clump.centre = particles.cell.map_or(centre, |cell| cell.wrap(centre));
            clump.orientation = (turned_by(spin * dt) * clump.orientation).normalize();
            let felt = match inertia {
                Inertia::Full => one.inertia,
                Inertia::None => clump.inertia_in_space(clump.orientation),
            };
            clump.angular_momentum = felt * spin;
            clumps.place(k, particles);
        }
    }
}

impl Push {
    fn on(clump: &Clump, spheres: &Spheres, inertia: Inertia, prediction: &Prediction) -> Self {
        let Spheres { particles, arms } = *spheres;
        let own = if inertia == Inertia::Full { 1.0 } else { 0.0 };
        let inverse_mass = prediction.metric.inverse_mass();
        let (mut linear, mut angular) = (clump.velocity * (own * clump.mass), clump.angular_momentum * own);
        let (mut mass, mut first, mut second) = (own * clump.mass, DVec3::ZERO, DMat3::ZERO);
        let mut least = 0.0;
        for sphere in clump.spheres() {
            let (arm, felt) = (arms[sphere], inverse_mass[sphere].recip());
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
        if inertia == Inertia::None {
            inertia_of_drag += DMat3::from_diagonal(DVec3::splat(LEAST_RESISTANCE * least));
        }
        Self { linear, angular, mass, resistance, inertia: inertia_of_drag }
    }

    /// The motion of the midpoint rule, and how the clump then answers to impulses.
    fn midpoint(&self, clump: &Clump, Integration { inertia, dt }: Integration) -> Result<(Move, Response), Turn> {
        let Self { linear, angular, mass, resistance, inertia: of_drag } = *self;
        let about = angular - resistance.cross(linear);
        let halfway = |spin: DVec3| clump.inertia_in_space(turned_by(spin * (0.5 * dt)) * clump.orientation);
        let answer =
            |felt: DMat3| inverse(if inertia == Inertia::Full { felt + of_drag } else { of_drag }, clump.planar);
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
