//! From the file as written to the checked simulation; problems are collected, not thrown at the first.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

use super::crowd;
use super::diagnostics::Problem;
use super::file::{
    AggregatingFile, ChangingVector, DragFile, ForceFile, FractionFile, GlueyFile, ImpulsesFile, LawFile, RecourseFile,
    ScalingFile, SceneFile, SchemeFile, TableFile, VectorSignal,
};
use super::measure::Laboratory;
use super::openings::Doors;
use super::pair_forces;
use super::periodic;
use super::shapes::Workshop;
use super::sources::Nursery;
use super::tree::Place;
use super::value::{Name, Vector};
use super::{Group, Output, Scene, Stage, steps_until};
use crate::adhesion::{Adhesion, Law, Scaling, Scheme, Threshold};
use crate::choice::suggestion;
use crate::clump::Clumps;
use crate::environment::{
    Dimension, Drag, Environment, FLOW_VARIABLES, Force, ForceComponent, Forcing, Fraction, Inertial, Overdamped, Per,
    RICHARDSON_ZAKI, Signal, Signal3, Table,
};
use crate::expression::{Expression, ExpressionError};
use crate::format::Formats;
use crate::geometry::{Motion, Obstacle, Particles, Placed, Surroundings};
use crate::neighbours;
use crate::openings::Openings;
use crate::projection::{AcceleratedGaussSeidel, Method, NO_CLUMP};
use crate::simulation::{ImpulseRule, Recourse, Settings, Simulation, State};

/// Frames of a run whose scene does not say.
const FRAMES: u64 = 100;
/// Steps of a run: up to 2⁵² every time step·dt is told from the next.
const MOST_STEPS: f64 = (1_u64 << 52) as f64;
/// Overlaps named in a message.
const MOST_OVERLAPS: usize = 5;
/// Overlaps after which no more pairs are looked for.
const ENOUGH_OVERLAPS: usize = 100_000;
/// Default strength of a bond, in units of what stops the heaviest particle from one greatest radius a step.
const BOND: f64 = 1e4;
/// Colours of groups that name none. Each has a lightness of its own, so that they are told apart in grey and by the
/// colour-blind.
const PALETTE: [[u8; 3]; 6] =
    [[31, 86, 156], [221, 170, 51], [187, 85, 102], [187, 228, 245], [74, 165, 140], [58, 18, 48]];

/// Where a scene comes from.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub text: &'a str,
    pub path: &'a Path,
}

/// Checks everything and builds the scene.
pub(super) fn scene(file: &SceneFile, origin: Origin) -> Result<Scene, Vec<Problem>> {
    let mut problems = Vec::new();
    let folder = origin.path.parent().unwrap_or(Path::new(""));
    let root = Place::root(origin.text);
    let Stage { dimension, groups, obstacles, picture } = stage(file, origin, &mut problems);
    let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    let cell = file.periodic.cell(dimension, &root.key("periodic"), &mut problems);
    let images = periodic::images(cell.as_ref(), &obstacles, &root.key("obstacle"), &mut problems);
    let placed = periodic::placed(&obstacles, &images);
    let nursery = Nursery {
        dimension,
        cell,
        seed: file.seed,
        folder,
        groups: &names,
        obstacles: &placed,
        place: root.key("particles"),
    };
    let mut particles = nursery.grow(&file.particles, &mut problems);
    let clumps = nursery.clumps(&file.clumps, &root.key("clump"), &mut particles, &mut problems);
    let doors = Doors { dimension, seed: file.seed, groups: &names, obstacles: &obstacles, root: &root };
    let openings = doors.openings(file, &mut problems);
    let settings = settings(file);
    let steps = file.time.until.0 / file.time.dt.0;
    if steps > MOST_STEPS {
        let problem = root.key("time").key("dt").problem(format!("the run would have {steps:.1e} steps"));
        problems.push(problem.help(format!("`until` / `dt` must not exceed {MOST_STEPS:.1e}")));
    }
    if let Some(blocks) = file.solver.blocks {
        let (place, most) = (root.key("solver").key("blocks"), AcceleratedGaussSeidel::MOST_BLOCKS);
        if file.solver.method != Method::Apgs {
            problems.push(place.problem("this method has no blocks").help("leave it out, or use method = \"apgs\""));
        } else if blocks.get() > most {
            problems.push(place.problem("too many blocks").help(format!("at most {most}; one a thread is enough")));
        }
    }
    if problems.is_empty() {
        if particles.is_empty() && openings.inlets.is_empty() {
            let problem = Problem::general("the scene has no particles");
            problems.push(problem.help("add a [[particles]] or [[clump]] table, or an [[inlet]]"));
        }
        periodic::check_width(cell, greatest(&particles, &openings).1, &root.key("periodic"), &mut problems);
    }
    if problems.is_empty() {
        check_start(&particles, &clumps, (&obstacles, &placed), &settings, &mut problems);
    }
    let laws = Laws { file, greatest: greatest(&particles, &openings), obstacles: &obstacles, root: &root };
    let adhesion = laws.adhesion(&mut problems);
    let reader = Reader { dimension, groups: &names, periodic: cell.is_some(), root: &root };
    let environment = match &file.environment.crowd {
        Some(crowd) => crowd::crowd(file, crowd, (&particles, &obstacles), &root, &mut problems),
        None => environment(file, &reader, &mut problems),
    };
    if let (Some(DragFile::RotnePrager(_)), false) = (&file.environment.drag, clumps.is_empty()) {
        let problem = root.key("environment").key("drag").problem("clumps are not held together by `rotne-prager`");
        problems.push(problem.help("use another drag"));
    }
    let interactions = pair_forces::interactions(&file.pair_forces, &reader, &obstacles, &mut problems);
    let radius = greatest(&particles, &openings).1;
    periodic::check_reach(cell, radius, &interactions, &root.key("pair-force"), &mut problems);
    let laboratory = Laboratory { dimension, gravity: file.environment.gravity.as_ref(), place: root.key("measure") };
    let (instruments, gates) = laboratory.instruments(&file.measures, &mut problems);
    let (Some(environment), true) = (environment, problems.is_empty()) else { return Err(problems) };

    let state = State { particles, clumps, ..State::default() };
    let mut simulation = Simulation::new(state, obstacles, environment, adhesion);
    simulation.solver = match file.solver.method {
        Method::Apgs => Box::new(AcceleratedGaussSeidel::with_blocks(file.solver.blocks)),
        other => other.solver(),
    };
    simulation.interactions = interactions;
    simulation.settings = settings;
    simulation.openings = openings;
    simulation.gates = gates;
    let stem = origin.path.file_stem().map_or_else(|| "scene".into(), |stem| stem.to_string_lossy().into_owned());
    Ok(Scene {
        text: origin.text.to_owned(),
        name: file.name.clone().unwrap_or(stem),
        description: file.description.clone(),
        dimension,
        seed: file.seed,
        until: file.time.until.0,
        groups,
        forces: file.forces.iter().enumerate().map(|(index, force)| label(force, index)).collect(),
        output: output(file),
        instruments,
        picture,
        simulation,
    })
}

/// Checks and builds what surrounds the particles.
pub(super) fn stage(file: &SceneFile, origin: Origin, problems: &mut Vec<Problem>) -> Stage {
    let folder = origin.path.parent().unwrap_or(Path::new(""));
    let dimension = file.dimension.0;
    let root = Place::root(origin.text);
    let groups = groups(file, problems);
    let obstacles = obstacles(file, Workshop { dimension, folder }, &root, problems);
    let picture = file.picture.build(dimension, &root.key("picture"), problems);
    Stage { dimension, groups, obstacles, picture }
}

/// Names head columns and stand in rows of text files.
pub(super) fn check_name(name: &Name, problems: &mut Vec<Problem>) {
    if name.text.trim().is_empty() {
        problems.push(Problem::at(name.span.clone(), "this name is empty"));
    } else if name.text.chars().any(char::is_control) {
        problems.push(Problem::at(name.span.clone(), "a name is one line without tabs and control characters"));
    }
}

fn groups(file: &SceneFile, problems: &mut Vec<Problem>) -> Vec<Group> {
    let (mut groups, mut names): (Vec<Group>, HashSet<&str>) = (Vec::new(), HashSet::new());
    for group in &file.groups {
        check_name(&group.name, problems);
        if !names.insert(&group.name.text) {
            problems.push(Problem::at(group.name.span.clone(), format!("a second group `{}`", group.name.text)));
        }
        let colour = group.colour.map_or(PALETTE[groups.len() % PALETTE.len()], |colour| colour.0);
        groups.push(Group { name: group.name.text.clone(), colour });
    }
    if groups.is_empty() {
        groups.push(Group { name: "default".to_owned(), colour: PALETTE[0] });
    }
    groups
}

fn obstacles(file: &SceneFile, workshop: Workshop, root: &Place, problems: &mut Vec<Problem>) -> Vec<Obstacle> {
    let mut assemblies: HashMap<&str, Motion> = HashMap::new();
    for (index, assembly) in file.assemblies.iter().enumerate() {
        if assemblies.contains_key(assembly.name.text.as_str()) {
            problems
                .push(Problem::at(assembly.name.span.clone(), format!("a second assembly `{}`", assembly.name.text)));
        }
        match workshop.motion(&assembly.motion, &root.key("assembly").index(index).key("motion")) {
            Ok(motion) => drop(assemblies.insert(&assembly.name.text, motion)),
            Err(problem) => problems.push(problem),
        }
    }
    let (mut obstacles, mut names) = (Vec::new(), HashSet::new());
    for (index, given) in file.obstacles.iter().enumerate() {
        let place = root.key("obstacle").index(index);
        given.name.iter().for_each(|name| check_name(name, problems));
        let name = given.name.as_ref().map_or_else(|| format!("obstacle{index}"), |name| name.text.clone());
        if !names.insert(name.clone()) {
            let problem = place.key("name").problem(format!("a second obstacle `{name}`"));
            problems
                .push(problem.help("give each a `name` of its own; those without are called obstacle0, obstacle1, …"));
        }
        let mut motions = Vec::new();
        if let Some(assembly) = &given.assembly {
            if let Some(motion) = assemblies.get(assembly.text.as_str()) {
                motions.push(motion.clone());
            } else {
                let known = file.assemblies.iter().map(|assembly| assembly.name.text.as_str());
                problems.push(unknown("assembly", assembly, known));
            }
        }
        if let Some(motion) = &given.motion {
            match workshop.motion(motion, &place.key("motion")) {
                Ok(motion) => motions.push(motion),
                Err(problem) => problems.push(problem),
            }
        }
        match workshop.shape(&given.shape, &place.key("shape")) {
            Ok(shape) => obstacles.push(Obstacle {
                name,
                shape,
                motions,
                colour: given.colour.map(|colour| colour.0),
                roughness: given.roughness.map_or(0.0, |size| size.0),
            }),
            Err(problem) => problems.push(problem),
        }
    }
    obstacles
}

pub(super) fn unknown<'a>(kind: &str, name: &Name, known: impl Iterator<Item = &'a str>) -> Problem {
    let problem = Problem::at(name.span.clone(), format!("there is no {kind} `{}`", name.text));
    let known: Vec<&str> = known.collect();
    problem.help(match suggestion(&name.text, known.iter().copied()) {
        Some(hint) => format!("did you mean `{hint}`?"),
        None if known.is_empty() => format!("none is declared: add an [[{kind}]]"),
        None => format!("known: {}", known.join(", ")),
    })
}

fn settings(file: &SceneFile) -> Settings {
    let recourse = |choice: RecourseFile| match choice {
        RecourseFile::Stop => Recourse::Stop,
        RecourseFile::Continue => Recourse::Continue,
    };
    let mut settings = Settings::new(file.time.dt.0);
    settings.max_slip = file.time.max_slip.map_or(settings.max_slip, |slip| slip.0);
    settings.max_substeps = file.time.max_substeps.map_or(settings.max_substeps, std::num::NonZeroU32::get);
    let criteria = &mut settings.criteria;
    criteria.tolerance = file.solver.tolerance.map_or(criteria.tolerance, |tolerance| tolerance.0);
    criteria.max_sweeps = file.solver.max_sweeps.map_or(criteria.max_sweeps, std::num::NonZeroU64::get);
    settings.impulses = match file.solver.impulses {
        None => ImpulseRule::WhereRemembered,
        Some(ImpulsesFile::LeastNorm) => ImpulseRule::LeastNorm,
        Some(ImpulsesFile::AsFound) => ImpulseRule::AsFound,
    };
    settings.at_limit = recourse(file.solver.at_limit);
    settings.when_pinched = recourse(file.solver.when_pinched);
    settings
}

fn output(file: &SceneFile) -> Output {
    let every = |given: Option<std::num::NonZeroU64>, default: u64| given.map_or(default, std::num::NonZeroU64::get);
    let steps = steps_until(file.time.until.0, file.time.dt.0);
    Output {
        frame_every: every(file.output.frame_every, (steps / FRAMES).max(1)),
        series_every: every(file.output.series_every, 1),
        checkpoint_every: every(file.output.checkpoint_every, 1000),
        formats: file.output.formats.as_ref().map_or(Formats::ALL, |formats| formats.iter().copied().collect()),
    }
}

/// No overlap at the start, beyond what the projection tolerates.
fn check_start(
    particles: &Particles,
    clumps: &Clumps,
    (obstacles, placed): (&[Obstacle], &[Placed]),
    settings: &Settings,
    problems: &mut Vec<Problem>,
) {
    if particles.len() >= u32::MAX as usize {
        return problems.push(Problem::general("a scene has at most 4294967294 particles"));
    }
    let allowed = -settings.criteria.tolerance * particles.smallest_radius();
    let owner = clumps.owners(particles.len());
    let mut overlaps = Overlaps::default();
    let radius = &particles.radius;
    let _ = neighbours::partners_in(particles.cell.as_ref(), &particles.position, radius, |i, partners| {
        for &j in partners {
            let (gap, _) = particles.gap(i as usize, j as usize);
            let held = owner[i as usize] != NO_CLUMP && owner[i as usize] == owner[j as usize];
            if gap < allowed && !held {
                overlaps.add(|| format!("particles {i} and {j} by {:.3e}", -gap));
            }
        }
        // Those of a heap in one point would take for ever.
        if overlaps.count > ENOUGH_OVERLAPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let (surroundings, mut near) = (Surroundings::new((0..).zip(placed.iter().copied())), Vec::new());
    for (i, &centre) in particles.position.iter().enumerate() {
        surroundings.find(centre, radius[i], &mut near);
        for (obstacle, placed) in near.iter().map(|k| (&obstacles[*k as usize], placed[*k as usize])) {
            let name = &obstacle.name;
            placed.touches(centre, radius[i], 0.0, &mut |touch| {
                if touch.gap < allowed {
                    overlaps.add(|| format!("particle {i} and obstacle `{name}` by {:.3e}", -touch.gap));
                }
            });
        }
    }
    if overlaps.count > 0 {
        let more = overlaps.count - overlaps.first.len();
        let at_least = if overlaps.count > ENOUGH_OVERLAPS { "at least " } else { "" };
        let rest = if more > 0 { format!(", and {at_least}{more} more") } else { String::new() };
        problems.push(
            Problem::general(format!("the start overlaps: {}{rest}", overlaps.first.join("; ")))
                .help("particles must not overlap each other or an obstacle at t = 0 (indices count from 0)"),
        );
    }
}

/// Overlaps at the start: how many, and the first few in words.
#[derive(Default)]
struct Overlaps {
    count: usize,
    first: Vec<String>,
}

impl Overlaps {
    fn add(&mut self, words: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < MOST_OVERLAPS {
            self.first.push(words());
        }
    }
}

/// The greatest mass and the greatest radius of those who are there or may come.
fn greatest(particles: &Particles, openings: &Openings) -> (f64, f64) {
    let inlets = openings.inlets.iter().map(|inlet| inlet.radii[1]);
    let masses = openings.inlets.iter().map(|inlet| inlet.mass(inlet.radii[1], openings.dimension));
    let greatest = |column: &[f64]| column.iter().copied().fold(0.0, f64::max);
    (masses.fold(greatest(&particles.mass), f64::max), inlets.fold(greatest(&particles.radius), f64::max))
}

/// What the laws of contact are made from.
struct Laws<'a> {
    file: &'a SceneFile,
    /// The greatest mass and the greatest radius.
    greatest: (f64, f64),
    obstacles: &'a [Obstacle],
    root: &'a Place<'a>,
}

impl Laws<'_> {
    fn adhesion(&self, problems: &mut Vec<Problem>) -> Adhesion {
        let group_roughness: Vec<f64> = match self.file.groups.as_slice() {
            [] => vec![0.0],
            groups => groups.iter().map(|group| group.roughness.map_or(0.0, |size| size.0)).collect(),
        };
        // Of all pairs only the smoothest and the roughest need be looked at.
        let extremes = |sizes: &[f64]| {
            let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
            [least, sizes.iter().copied().fold(0.0, f64::max)]
        };
        let [smoothest, roughest] = extremes(&group_roughness);
        let sums = |others: [f64; 2]| [smoothest + others[0], roughest + others[1]];
        let (shared, shared_place) = (&self.file.contact.law, self.root.key("contact").key("law"));
        let mut law = |given: &LawFile, place: &Place, sums: [f64; 2]| {
            self.law(given, place, sums).unwrap_or_else(|problem| {
                // Obstacles share the scene's law, and what is wrong with it.
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
                Law::Inelastic
            })
        };
        let between_particles = law(shared, &shared_place, sums([smoothest, roughest]));
        let mut of_obstacle = Vec::new();
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            let own = self.file.obstacles.get(index).and_then(|obstacle| obstacle.law.as_ref());
            let sums = sums([obstacle.roughness; 2]);
            if own.is_none() {
                law(shared, &shared_place, sums); // it may be wrong for the roughness of this one
            }
            of_obstacle.push(own.map(|own| law(own, &self.root.key("obstacle").index(index).key("law"), sums)));
        }
        Adhesion {
            scheme: match self.file.contact.scheme {
                SchemeFile::OneProjection => Scheme::OneProjection,
                SchemeFile::Paper => Scheme::Paper,
            },
            law: between_particles,
            of_obstacle,
            group_roughness,
        }
    }

    /// The law written at a place, between surfaces the sum of whose roughness sizes is between these two.
    fn law(&self, given: &LawFile, place: &Place, sums: [f64; 2]) -> Result<Law, Problem> {
        match given {
            LawFile::Inelastic => Ok(Law::Inelastic),
            LawFile::Aggregating(AggregatingFile { strength }) => {
                let (mass, radius) = self.greatest;
                let bond = BOND * mass * radius / self.file.time.dt.0.powi(2);
                Ok(Law::Aggregating { strength: strength.map_or(bond, |strength| strength.0) })
            }
            LawFile::Gluey(GlueyFile { gamma_min: Some(_), roughness: Some(_), .. }) => {
                let problem = place.problem("a gluey law has both `gamma_min` and `roughness`");
                Err(problem.help("keep one of them"))
            }
            LawFile::Gluey(GlueyFile { gamma_min, roughness, scaling }) => {
                let threshold = match (gamma_min, roughness) {
                    (_, Some(r)) => {
                        let unit = r.length_unit.0;
                        if let Some(sum) = sums.iter().find(|sum| !(**sum > 0.0 && **sum < unit)) {
                            let problem = place.problem(format!("two surfaces have a roughness of {sum} together"));
                            return Err(problem.help(format!(
                                "with `law.gluey.roughness` the sizes of any two surfaces must add up to more than 0 \
                                 and less than its length_unit, {unit}: set `roughness` of the groups and obstacles"
                            )));
                        }
                        Threshold::Roughness { viscosity: r.viscosity.0, unit }
                    }
                    (Some(value), None) if value.0 > f64::NEG_INFINITY => Threshold::Value(value.0),
                    _ => Threshold::Smooth,
                };
                let scaling = match scaling {
                    ScalingFile::Unit => Scaling::Unit,
                    ScalingFile::Lubrication => Scaling::Lubrication,
                };
                Ok(Law::Gluey { threshold, scaling })
            }
        }
    }
}

fn environment(file: &SceneFile, reader: &Reader, problems: &mut Vec<Problem>) -> Option<Box<dyn Environment>> {
    let before = problems.len();
    crowd::refuse_speeds(file, reader.root, problems);
    let given = &file.environment;
    let mut keep = |result: Result<Signal3, Problem>| result.map_err(|problem| problems.push(problem)).ok();
    let gravity = match &given.gravity {
        None => Some([0.0; 3].map(Signal::Constant)),
        Some(signal) => keep(reader.signal(signal, &reader.root.key("environment").key("gravity"))),
    };
    let mut forces = Vec::new();
    for (index, force) in file.forces.iter().enumerate() {
        match reader.force(force, index) {
            Ok(force) => forces.push(force),
            Err(problem) => problems.push(problem),
        }
    }
    let drag = given.drag.as_ref().map_or(Drag::None, drag);
    let has_far_field = matches!(drag, Drag::RotnePrager { .. });
    if has_far_field && reader.periodic {
        let problem =
            reader.root.key("environment").key("drag").problem("`drag.rotne-prager` is not for periodic scenes");
        problems.push(problem.help("its far field is that of unbounded space: take `drag.stokes` or `drag.hindered`"));
    }
    if has_far_field && given.inertia == Some(true) {
        let problem = reader.root.key("environment").key("inertia").problem("`drag.rotne-prager` has no inertia");
        problems.push(problem.help("leave `inertia` out, or take `drag.stokes`"));
    }
    let flow_place = reader.root.key("environment").key("flow");
    let flow = given.flow.as_ref().map(|texts| reader.expressions(texts, &flow_place, &FLOW_VARIABLES));
    let flow = match flow.transpose() {
        Ok(flow) => flow,
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    let dimension = if file.dimension.0 == 2 { Dimension::Two } else { Dimension::Three };
    let forcing = Forcing { gravity: gravity?, forces, drag, flow, dimension };
    let built = if given.inertia.unwrap_or(true) && !has_far_field {
        Inertial::new(forcing).map(|environment| Box::new(environment) as Box<dyn Environment>)
    } else {
        Overdamped::new(forcing).map(|environment| Box::new(environment) as Box<dyn Environment>)
    };
    match built {
        Ok(environment) if problems.len() == before => Some(environment),
        Ok(_) => None,
        Err(error) => {
            problems.push(Problem::general(error.to_string()));
            None
        }
    }
}

fn drag(file: &DragFile) -> Drag {
    match file {
        DragFile::Coefficient(value) => Drag::Coefficient(value.0),
        DragFile::Stokes(stokes) => Drag::Stokes { viscosity: stokes.viscosity.0 },
        DragFile::RotnePrager(stokes) => Drag::RotnePrager { viscosity: stokes.viscosity.0 },
        DragFile::Hindered(hindered) => Drag::Hindered {
            viscosity: hindered.viscosity.0,
            exponent: hindered.exponent.map_or(RICHARDSON_ZAKI, |exponent| exponent.0),
            fraction: match &hindered.fraction {
                FractionFile::Uniform(fraction) => Fraction::Uniform(fraction.0),
                FractionFile::Local(range) => Fraction::Local { radii: range.radii.0 },
            },
        },
    }
}

/// Turns vectors, tables and expressions of the file into signals.
pub(super) struct Reader<'a> {
    dimension: usize,
    /// Names of the groups; forces refer to them.
    groups: &'a [String],
    /// Whether space repeats.
    periodic: bool,
    /// The file.
    pub(super) root: &'a Place<'a>,
}

/// An expression of these variables, written somewhere in the file of `place`.
pub(super) fn expression(written: &Name, place: &Place, variables: &[&str]) -> Result<Expression, Problem> {
    let Name { text, span } = written;
    Expression::parse(text, variables).map_err(|ExpressionError { at, message, help }| {
        // Quotes come before the text; with escapes in it only the whole can be shown.
        let start = place.text().get(span.clone()).and_then(|raw| raw.find(text)).map(|quotes| span.start + quotes);
        let span = start.map_or(span.clone(), |start| start + at.start..start + at.end);
        Problem { help, ..Problem::at(span, message) }
    })
}

/// What messages call a force.
fn label(force: &ForceFile, index: usize) -> String {
    force.name.clone().unwrap_or_else(|| format!("force {index}"))
}

impl Reader<'_> {
    fn vector(&self, vector: &Vector) -> Result<glam::DVec3, Problem> {
        vector.in_dimension(self.dimension).map_err(|message| Problem::at(vector.span.clone(), message))
    }

    fn table(&self, file: &TableFile, place: &Place, kind: fn(Table) -> Signal) -> Result<Signal3, Problem> {
        let times: Vec<f64> = file.times.iter().map(|time| time.0).collect();
        let values = file.values.iter().map(|value| self.vector(value)).collect::<Result<Vec<_>, _>>()?;
        let component = |axis: usize| {
            let column = values.iter().map(|value| value[axis]).collect();
            Table::new(times.clone(), column).map(kind).map_err(|error| place.key("times").problem(error.to_string()))
        };
        Ok([component(0)?, component(1)?, component(2)?])
    }

    fn signal(&self, file: &VectorSignal, place: &Place) -> Result<Signal3, Problem> {
        match file {
            VectorSignal::Constant(vector) => Ok(self.vector(vector)?.to_array().map(Signal::Constant)),
            VectorSignal::Changing(ChangingVector::Steps(table)) => {
                self.table(table, &place.key("steps"), Signal::Steps)
            }
            VectorSignal::Changing(ChangingVector::Linear(table)) => {
                self.table(table, &place.key("linear"), Signal::Linear)
            }
            VectorSignal::Changing(ChangingVector::Expression(texts)) => {
                Ok(self.expressions(texts, &place.key("expression"), &["t"])?.map(Signal::Expression))
            }
        }
    }

    fn force(&self, file: &ForceFile, index: usize) -> Result<Force, Problem> {
        let label = label(file, index);
        let place = self.root.key("force").index(index);
        let (signal, per, place) = match (&file.force, &file.acceleration) {
            (Some(force), None) => (force, Per::Force, place.key("force")),
            (None, Some(acceleration)) => (acceleration, Per::Acceleration, place.key("acceleration")),
            _ => {
                let message = format!("`{label}` needs either `force` or `acceleration`");
                let problem = place.problem(message);
                return Err(problem.help("write one of the two in its [[force]] table"));
            }
        };
        let groups =
            file.groups.as_ref().map(|names| names.iter().map(|name| self.group(name)).collect()).transpose()?;
        let components = match signal {
            VectorSignal::Changing(ChangingVector::Expression(texts)) => self
                .expressions(texts, &place.key("expression"), &crate::environment::FORCE_VARIABLES)?
                .map(ForceComponent::Field),
            other => self.signal(other, &place)?.map(ForceComponent::Signal),
        };
        Ok(Force { label, groups, components, per })
    }

    /// The index of a group.
    pub(super) fn group(&self, name: &Name) -> Result<u32, Problem> {
        let found = self.groups.iter().position(|group| *group == name.text).map(|index| index as u32);
        found.ok_or_else(|| unknown("group", name, self.groups.iter().map(String::as_str)))
    }

    /// Three expressions; in 2D the third may be left out.
    fn expressions(&self, texts: &[Name], place: &Place, variables: &[&str]) -> Result<[Expression; 3], Problem> {
        let zero = Name { text: "0".to_owned(), span: 0..0 };
        let one = |index: usize| expression(texts.get(index).unwrap_or(&zero), place, variables);
        if texts.len() == 3 || (texts.len() == 2 && self.dimension == 2) {
            return Ok([one(0)?, one(1)?, one(2)?]);
        }
        Err(place.problem(format!("{} expressions are needed, one a component", self.dimension)))
    }
}
