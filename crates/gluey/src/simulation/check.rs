//! What a state must be so that steps can be taken from it: asked of whatever was read from a file.

use std::ops::Range;

use glam::{DMat3, DVec3};

use super::search::feature_of;
use super::{Simulation, State};
use crate::clump::{Clump, Clumps};
use crate::contact::{Contact, Pair, Partner};
use crate::geometry::{Cell, Particles};
use crate::interaction::{Bridge, Law};
use crate::openings::Amount;

/// Steps are counted exactly in times n·dt up to here; whatever else is counted stays below, too.
const MOST_STEPS: u64 = 1 << 52;
/// By how much an orientation may differ from a unit quaternion, and an inertia from a symmetric matrix: far above rounding.
const ROUNDING: f64 = 1e-6;

/// The first thing that is wrong with a state, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StateError(String);

fn require(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), StateError> {
    if holds { Ok(()) } else { Err(StateError(wrong())) }
}

impl State {
    /// Refuses what no step leaves behind, whatever the scene: numbers that are none, lists that do not fit each other.
    pub fn check(&self) -> Result<(), StateError> {
        let Self { step, particles, clumps, contacts, least_norm_dual, bridges, crossings, ledger } = self;
        require(*step <= MOST_STEPS, || format!("it is of step {step}, more than can be taken"))?;
        check_particles(particles)?;
        check_clumps(clumps, particles.len())?;
        check_contacts(contacts, particles.len())?;
        require(least_norm_dual.is_empty() || least_norm_dual.len() == particles.len(), || {
            format!("it has {} vectors u for {} particles", least_norm_dual.len(), particles.len())
        })?;
        all(least_norm_dual, |u| u.is_finite(), |i, u| format!("the vector u of particle {i} is {u}"))?;
        check_bridges(bridges, particles.len())?;
        let counted = |number: u64, volume: f64| number < MOST_STEPS && volume.is_finite();
        all(
            crossings,
            |gate| counted(gate.number.unsigned_abs(), gate.volume),
            |k, gate| format!("gate {k} counts {} crossings of volume {}", gate.number, gate.volume),
        )?;
        let sane = |amount: &Amount| counted(amount.number, amount.volume) && amount.mass.is_finite();
        let inlet = |k: usize, told: &str| format!("inlet {k} counts {told}");
        all(&ledger.inlets, |entered| sane(&entered.amount), |k, entered| inlet(k, &format!("{:?}", entered.amount)))?;
        all(
            &ledger.inlets,
            |entered| (entered.amount.number..MOST_STEPS).contains(&entered.tries),
            |k, entered| inlet(k, &format!("{} tries for {} particles", entered.tries, entered.amount.number)),
        )?;
        all(&ledger.outlets, sane, |k, amount| format!("outlet {k} counts {amount:?}"))
    }
}

/// All entries of a list, by index.
fn all<T>(list: &[T], holds: impl Fn(&T) -> bool, wrong: impl FnOnce(usize, &T) -> String) -> Result<(), StateError> {
    match list.iter().position(|entry| !holds(entry)) {
        None => Ok(()),
        Some(k) => Err(StateError(wrong(k, &list[k]))),
    }
}

fn check_particles(particles: &Particles) -> Result<(), StateError> {
    let Particles { position, velocity, radius, mass, group, id, born, cell } = particles;
    let lengths = [position.len(), velocity.len(), radius.len(), mass.len(), group.len(), id.len()];
    require(lengths.iter().all(|length| *length == position.len()), || {
        format!("the columns of its particles differ in length: {lengths:?}")
    })?;
    require(position.len() < u32::MAX as usize, || format!("{} particles are too many", position.len()))?;
    let positive = |value: &f64| *value > 0.0 && value.is_finite();
    all(position, |x| x.is_finite(), |i, x| format!("particle {i} is at {x}"))?;
    all(velocity, |v| v.is_finite(), |i, v| format!("particle {i} has the velocity {v}"))?;
    all(radius, positive, |i, radius| format!("particle {i} has the radius {radius}"))?;
    all(mass, positive, |i, mass| format!("particle {i} has the mass {mass}"))?;
    all(id, |id| id < born, |i, id| format!("particle {i} has the id {id} of {born} that have been given"))?;
    require(*born < MOST_STEPS, || format!("{born} ids are too many"))?;
    require(id.is_sorted_by(|a, b| a < b), || "the ids of its particles do not increase".to_owned())?;
    let sound = |cell: &Cell| Cell::with_periods(cell.lower(), cell.period()).is_ok();
    let inside = |cell: &Cell, x: &DVec3| cell.wrap(*x) == *x;
    let Some(cell) = cell else { return Ok(()) };
    require(sound(cell), || {
        format!("its periodic cell begins at {} and has the periods {}", cell.lower(), cell.period())
    })?;
    all(position, |x| inside(cell, x), |i, x| format!("particle {i} is at {x}, outside the periodic cell"))
}

fn check_clumps(clumps: &Clumps, particles: usize) -> Result<(), StateError> {
    let (mut next, mut arms) = (0, 0);
    for (k, clump) in clumps.list.iter().enumerate() {
        let Some(spheres) = range(clump.first, clump.count) else {
            return Err(StateError(format!("clump {k} has {} spheres from {} on", clump.count, clump.first)));
        };
        require(spheres.start >= next && spheres.end <= particles, || {
            format!("clump {k} has the spheres {spheres:?}, which are not all free particles")
        })?;
        let own = range(clump.arms, clump.count).filter(|own| own.start == arms && own.end <= clumps.arms.len());
        let Some(own) = own else {
            return Err(StateError(format!("clump {k} has {} arms from {} on, not its own", clump.count, clump.arms)));
        };
        check_clump(clump).map_err(|wrong| StateError(format!("clump {k} has {wrong}")))?;
        (next, arms) = (spheres.end, own.end);
    }
    require(arms == clumps.arms.len(), || format!("{} arms belong to no clump", clumps.arms.len() - arms))?;
    all(&clumps.arms, |arm| arm.is_finite(), |k, arm| format!("arm {k} of its clumps is {arm}"))
}

/// So many places from the first on, at least one, where that fits.
fn range(first: u32, count: u32) -> Option<Range<usize>> {
    let end = first.checked_add(count).filter(|end| *end > first)?;
    Some(first as usize..end as usize)
}

fn check_clump(clump: &Clump) -> Result<(), String> {
    let Clump { mass, inertia, centre, orientation, velocity, angular_momentum, planar, .. } = clump;
    if !(*mass > 0.0 && mass.is_finite()) {
        return Err(format!("the mass {mass}"));
    }
    if !is_inertia(inertia, *planar) {
        return Err(format!("the inertia {inertia}, which no body has"));
    }
    if (orientation.length_squared() - 1.0).abs().partial_cmp(&ROUNDING) != Some(std::cmp::Ordering::Less) {
        return Err(format!("the orientation {orientation}, which is no unit quaternion"));
    }
    match [centre, velocity, angular_momentum].into_iter().find(|vector| !vector.is_finite()) {
        Some(vector) => Err(format!("the centre, velocity or angular momentum {vector}")),
        None => Ok(()),
    }
}

/// Whether a matrix is symmetric and positive definite; of discs only what turns them about z counts.
fn is_inertia(inertia: &DMat3, planar: bool) -> bool {
    let (x, y, z) = (inertia.x_axis, inertia.y_axis, inertia.z_axis);
    if planar {
        return z.z > 0.0 && z.z.is_finite();
    }
    let skew = (x.y - y.x).abs().max((x.z - z.x).abs()).max((y.z - z.y).abs());
    inertia.is_finite()
        && skew <= ROUNDING * x.x.max(y.y).max(z.z)
        && x.x > 0.0
        && x.x * y.y - x.y * y.x > 0.0
        && inertia.determinant() > 0.0
        && inertia.inverse().is_finite()
}

fn check_contacts(contacts: &[Contact], particles: usize) -> Result<(), StateError> {
    all(
        contacts,
        |contact| is_between(contact.pair, particles),
        |k, contact| format!("contact {k} is between nobody: {:?}", contact.pair),
    )?;
    require(contacts.is_sorted_by(|a, b| a.pair < b.pair), || "its contacts are not sorted".to_owned())?;
    all(
        contacts,
        |contact| contact.gamma <= 0.0 && contact.impulse.is_finite(),
        |k, contact| format!("contact {k} has γ = {} and the impulse {}", contact.gamma, contact.impulse),
    )
}

fn check_bridges(bridges: &[Bridge], particles: usize) -> Result<(), StateError> {
    let joins = |bridge: &Bridge| is_between(bridge.pair, particles);
    all(bridges, joins, |k, bridge| format!("bridge {k} joins nobody: {:?}", bridge.pair))?;
    require(bridges.is_sorted_by(|a, b| a < b), || "its liquid bridges are not sorted".to_owned())
}

fn is_between(pair: Pair, particles: usize) -> bool {
    let there = |i: u32| (i as usize) < particles;
    there(pair.first())
        && match pair.partner() {
            Partner::Particle(j) => there(j) && pair.first() < j,
            Partner::Obstacle { .. } => true,
        }
}

impl Simulation {
    /// Refuses what cannot be a later state of this simulation, which is at t = 0.
    pub fn check(&self, state: &State) -> Result<(), StateError> {
        state.check()?;
        let (now, then) = (&state.particles, &self.state.particles);
        require(now.cell == then.cell, || {
            format!("its periodic cell is {:?}, that of the scene {:?}", now.cell, then.cell)
        })?;
        all(
            &state.contacts,
            |contact| self.offers(contact.pair),
            |k, contact| format!("contact {k} is with no obstacle of the scene: {:?}", contact.pair),
        )?;
        all(
            &state.bridges,
            |bridge| self.bridges(bridge),
            |k, bridge| format!("bridge {k} is by no force of the scene, or with no obstacle of it: {bridge:?}"),
        )?;
        let fits = |list: usize, scene: usize| list == 0 || list == scene;
        require(fits(state.crossings.len(), self.gates.len()), || {
            format!("it counts at {} gates, the scene has {}", state.crossings.len(), self.gates.len())
        })?;
        let (ledger, openings) = (&state.ledger, &self.openings);
        let counts =
            fits(ledger.inlets.len(), openings.inlets.len()) && fits(ledger.outlets.len(), openings.outlets.len());
        require(counts, || {
            let [inlets, outlets] = [ledger.inlets.len(), ledger.outlets.len()];
            format!("it counts at {inlets} inlets and {outlets} outlets, which the scene does not have")
        })?;
        let left: u64 = ledger.outlets.iter().map(|amount| amount.number).sum();
        require(now.born - now.len() as u64 == left, || {
            format!("{left} particles have left, but {} are gone", now.born - now.len() as u64)
        })?;
        self.check_makes(state)
    }

    fn offers(&self, pair: Pair) -> bool {
        match pair.partner() {
            Partner::Particle(_) => true,
            Partner::Obstacle { obstacle, feature } => {
                let obstacle = self.obstacles.get(obstacle as usize);
                obstacle.is_some_and(|obstacle| feature_of(feature) < obstacle.shape.features())
            }
        }
    }

    fn bridges(&self, bridge: &Bridge) -> bool {
        let force = self.interactions.forces().get(bridge.force as usize);
        force.is_some_and(|force| matches!(force.law, Law::Bridge(_))) && self.offers(bridge.pair)
    }

    /// Clumps that are there are as they were at the start, where the ids of particles were their indices; none comes later.
    fn check_makes(&self, state: &State) -> Result<(), StateError> {
        let (now, then, id) = (&state.clumps, &self.state.clumps, &state.particles.id);
        for (k, clump) in now.list.iter().enumerate() {
            let first = id[clump.first as usize];
            let start = then.list.binary_search_by_key(&first, |start| start.first.into()).ok();
            let same = start.map(|start| &then.list[start]).is_some_and(|start| {
                let make = |clump: &Clump| (clump.count, clump.planar, clump.mass, clump.inertia);
                make(clump) == make(start) && now.arms_of(clump) == then.arms_of(start)
            });
            let together = clump.spheres().zip(first..).all(|(sphere, of)| id[sphere] == of);
            require(same && together, || format!("clump {k} is not one of the scene"))?;
        }
        let bound = |clumps: &Clumps| clumps.arms.len();
        let there = then.list.iter().flat_map(|clump| clump.first..clump.first + clump.count);
        let there = there.filter(|i| id.binary_search(&u64::from(*i)).is_ok()).count();
        require(bound(now) == there, || format!("{} spheres are in clumps, {there} should be", bound(now)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scene::Scene;

    const SCENE: &str = r#"
        dimension = 3
        time = { dt = 0.01, until = 1 }
        contact.law.gluey = {}
        environment.gravity = [0, 0, -10]
        [[particles]]
        mass = 1
        source.list = [
            { position = [0, 0, 0.5], radius = 0.5 }, { position = [1.0, 0, 0.5], radius = 0.5 },
            { position = [4, 0, 0.5], radius = 0.5 },
        ]
        [[clump]]
        name = "twin"
        density = 1
        make.spheres = [{ position = [0, 0, 0], radius = 0.5 }, { position = [0.5, 0, 0], radius = 0.5 }]
        place.list = [{ position = [0, 5, 0.5] }]
        [[obstacle]]
        name = "floor"
        shape.half-space = { point = [0, 0, 0], normal = [0, 0, 1] }
    "#;

    fn at_start() -> Simulation {
        Scene::parse(SCENE, Path::new("scene.toml")).unwrap().simulation
    }

    fn later() -> State {
        let mut simulation = at_start();
        (0..5).for_each(|_| drop(simulation.step().unwrap()));
        simulation.state
    }

    #[test]
    fn states_of_a_run_are_good() {
        let start = at_start();
        start.check(&start.state).unwrap();
        let state = later();
        assert!(state.contacts.len() >= 3 && state.clumps.list.len() == 1);
        start.check(&state).unwrap();
    }

    #[test]
    fn the_first_thing_that_is_wrong_is_told() {
        let start = at_start();
        let told = |spoil: fn(&mut State), what: &str| {
            let mut state = later();
            spoil(&mut state);
            let error = start.check(&state).unwrap_err().to_string();
            assert!(error.contains(what), "`{what}` is not in: {error}");
        };
        told(|s| s.particles.position[1].z = f64::NAN, "particle 1 is at");
        told(|s| s.particles.velocity[2].x = f64::INFINITY, "particle 2 has the velocity");
        told(|s| s.particles.radius[0] = -1.0, "particle 0 has the radius -1");
        told(|s| s.particles.mass[0] = 0.0, "particle 0 has the mass 0");
        told(|s| s.particles.group.clear(), "differ in length");
        told(|s| s.particles.id[1] = 0, "ids of its particles do not increase");
        told(|s| s.particles.id[4] = 9, "particle 4 has the id 9");
        told(|s| s.particles.cell = Cell::new([Some([-9.0, 9.0]), None, None]).ok(), "its periodic cell is");
        told(|s| s.step = u64::MAX, "more than can be taken");
        told(|s| s.contacts.reverse(), "contacts are not sorted");
        told(|s| s.contacts[0].gamma = 1.0, "γ = 1");
        told(|s| s.contacts[0].impulse = f64::NAN, "the impulse NaN");
        told(|s| s.contacts[0].pair = Pair::particles(0, 99), "contact 0 is between nobody");
        told(|s| s.contacts.last_mut().unwrap().pair = Pair::obstacle(4, 7, 0), "no obstacle of the scene");
        told(|s| s.contacts.last_mut().unwrap().pair = Pair::obstacle(4, 0, 1), "no obstacle of the scene");
        told(|s| s.least_norm_dual = vec![DVec3::ZERO], "1 vectors u for 5 particles");
        told(|s| s.bridges = vec![Bridge { force: 0, pair: Pair::particles(0, 1) }], "by no force of the scene");
        told(|s| s.crossings = vec![crate::simulation::Crossings::default()], "1 gates, the scene has 0");
        told(|s| s.ledger.outlets = vec![Amount::default()], "which the scene does not have");
        told(|s| s.particles.born = 7, "0 particles have left, but 2 are gone");
        told(|s| s.clumps.list[0].count = u32::MAX, "clump 0 has");
        told(|s| s.clumps.list[0].first = 4, "clump 0 has the spheres 4..6");
        told(|s| s.clumps.list[0].arms = 1, "not its own");
        told(|s| s.clumps.arms.push(DVec3::ZERO), "1 arms belong to no clump");
        told(|s| s.clumps.list[0].mass *= 2.0, "clump 0 is not one of the scene");
        told(|s| s.clumps.list[0].inertia.x_axis.x = -1.0, "which no body has");
        told(|s| s.clumps.list[0].orientation = glam::DQuat::from_xyzw(0.0, 0.0, 0.0, f64::NAN), "no unit quaternion");
        told(|s| s.clumps.list[0].angular_momentum.x = f64::NAN, "angular momentum");
        told(|s| s.clumps = Clumps::default(), "0 spheres are in clumps, 2 should be");
    }
}
