//! Every scene of the repository runs, and a scene that is wrong is told so, at the right place.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gluey::scene::{Scene, SceneError};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    found.sort();
    found
}

#[test]
fn every_scene_runs_twenty_steps_without_overlap() {
    assert!(scenes().len() >= 8);
    for path in scenes() {
        let mut scene = Scene::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let smallest = scene.simulation.state.particles.smallest_radius();
        let allowed = -1.01 * scene.simulation.settings.criteria.tolerance * smallest;
        for _ in 0..20 {
            let report = scene.simulation.step().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(report.least_gap >= allowed, "{}: least gap {}", path.display(), report.least_gap);
        }
    }
}

fn problems(text: &str) -> SceneError {
    match Scene::parse(text, Path::new("bad.toml")) {
        Ok(_) => panic!("this scene should be refused"),
        Err(error) => error,
    }
}

/// The message must hold each of the words.
fn refused(text: &str, words: &[&str]) {
    let message = problems(text).to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in:\n{message}");
    }
}

const GOOD: &str = r"
dimension = 2
[time]
dt = 0.01
until = 1.0
[[particles]]
mass = 1
source.list = [{ position = [0, 0.5], radius = 0.1 }]
";

#[test]
fn all_problems_are_told_at_once_with_line_and_column() {
    let text = r"
dimenson = 2
[time]
dt = -0.01
until = nan
[contact]
law.gluey = { gama_min = -1 }
[[particles]]
mass = 0
source.list = [{ position = [0, 0, 0], radius = -1 }]
[[obstacle]]
shape.half-spce = { point = [0, 0, 0], normal = [0, 0, 1] }
";
    refused(
        text,
        &[
            "bad.toml:2:1: unknown key `dimenson`",
            "did you mean `dimension`?",
            "bad.toml:4:6:",
            "must be positive",
            "bad.toml:5:9:",
            "bad.toml:7:15: unknown key `gama_min`",
            "did you mean `gamma_min`?",
            "bad.toml:9:8:",
            "bad.toml:10:49:",
            "bad.toml:12:7: unknown choice `half-spce`",
            "did you mean `half-space`?",
        ],
    );
    assert_eq!(problems(text).problems.len(), 7, "{}", problems(text));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let with = |extra: &str| format!("{GOOD}{extra}");
    refused(&GOOD.replace("until = 1.0", ""), &["`until` is missing"]);
    refused(&GOOD.replace("dt = 0.01", "dt = 0"), &["positive"]);
    refused(&GOOD.replace("dimension = 2", "dimension = 4"), &["2 or 3"]);
    refused(&GOOD.replace("[0, 0.5]", "[0, 0.5, 1]"), &["z must be 0"]);
    refused(&GOOD.replace("dimension = 2", ""), &["three components"]);
    refused(&GOOD.replace("mass = 1\n", ""), &["no mass", "`density`"]);
    refused(&GOOD.replace("mass = 1", "mass = 1\ngroup = \"red\""), &["there is no group `red`"]);
    refused(&with("[contact]\nlaw.gluey = { gamma_min = 1 }"), &["at most 0"]);
    refused(
        &with("[contact]\nlaw.gluey = { gamma_min = -1, roughness = { viscosity = 1, length_unit = 1 } }"),
        &["both"],
    );
    refused(
        &with("[contact]\nlaw.gluey = { roughness = { viscosity = 1, length_unit = 1 } }"),
        &["roughness", "more than 0"],
    );
    refused(&with("[environment]\ngravity.expression = [\"sinn(t)\", \"0\"]"), &["sinn", "sin"]);
    refused(
        &with("[environment]\ngravity.steps = { times = [1, 0], values = [[0, 0], [0, 1]] }"),
        &["expected a time after"],
    );
    refused(&with("[environment]\ninertia = false"), &["drag"]);
    refused(&with("[[force]]\nname = \"wind\""), &["`wind`", "`acceleration`"]);
    refused(
        &with("[[obstacle]]\nshape.sphere = { centre = [0, 0.45], radius = 0.2, side = \"outside\" }"),
        &["overlaps", "particle 0"],
    );
    refused(
        &with("[[obstacle]]\nassembly = \"mixer\"\nshape.half-space = { point = [0, 0], normal = [0, 1] }"),
        &["no assembly `mixer`"],
    );
    refused(&with("[[obstacle]]\nshape.half-space = { point = [0, 0], normal = [0, 0] }"), &["normal"]);
    refused(&with("[[particles]]\nmass = 1\nsource.csv = { path = \"nowhere.csv\" }"), &["nowhere.csv"]);
    refused(
        &with("[[particles]]\nmass = 1\nsource.list = [{ position = [0.05, 0.5], radius = 0.1 }]"),
        &["overlaps", "particles 0 and 1"],
    );
    refused(
        &with(
            "[[particles]]\nmass = 1\nsource.fill = { count = 1000, radius = 0.1, region.box = { lower = [1, 1], upper = [2, 2] } }",
        ),
        &["1000 particles would take 3141.593 %"],
    );
    refused(
        &with(
            "[[particles]]\nmass = 1\nsource.fill = { count = 25, radius = 0.1, region.box = { lower = [1, 1], upper = [2, 2] } }",
        ),
        &["found room for", "of 25 particles"],
    );
    refused(&GOOD.replace("[time]", "[time"), &["bad.toml:3:"]);
    refused("dimension = 2\n[time]\ndt = 1\nuntil = 1", &["no particles"]);
}

#[test]
fn particles_come_from_csv_files_and_errors_name_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    let text = r#"
[time]
dt = 0.01
until = 1
[[group]]
name = "sand"
[[group]]
name = "silt"
[[particles]]
group = "silt"
density = 2
source.csv = { path = "start.csv" }
"#;
    let load = |csv: &str| {
        std::fs::write(folder.path().join("start.csv"), csv).unwrap();
        Scene::parse(text, &scene)
    };
    let good = load("x,y,z,r,m,vx,vy,vz,group\n0,0,0,0.5,3,1,2,3,sand\n# a comment\n2,0,0,0.5,,,,,\n");
    let particles = good.unwrap_or_else(|error| panic!("{error}")).simulation.state.particles;
    assert_eq!(particles.mass[0], 3.0);
    assert!((particles.mass[1] - 2.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.125).abs() < 1e-12);
    assert_eq!(particles.group, vec![0, 1]);
    assert_eq!(particles.velocity[0].to_array(), [1.0, 2.0, 3.0]);
    for (csv, word) in [
        ("x,y,z,r\n0,0,0,-1\n", "line 2: r is -1"),
        ("x,y,z,r\n0,0,0,1\n0,5,zero,1\n", "line 3: z is `zero`"),
        ("x,y,r\n0,0,1\n", "column `z` is missing"),
        ("x,y,z,r,mas\n0,0,0,1,1\n", "unknown column `mas`"),
        ("x,y,z,r,group\n0,0,0,1,gravel\n", "no group `gravel`"),
        ("x,y,z,r,vx,vy,vz\n0,0,0,1,1,2,3\n0,9,0,1,1,,3\n", "line 3: vy is empty"),
        ("x,y,z,r,vx\n0,0,0,1,1\n", "line 2: vy is empty"),
        ("x,y,z,r,r\n0,0,0,1,1\n", "a second column `r`"),
        ("x,y,z,r\n0,0,0,1\n0,0,0\n", "line 3: 3 values, where the header has 4"),
        ("", "column `x` is missing"),
    ] {
        let message = load(csv).err().unwrap().to_string();
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

#[test]
fn the_same_seed_gives_the_same_particles_and_another_gives_others() {
    let fill = |seed: u64| {
        let text = format!(
            "seed = {seed}\n[time]\ndt = 1\nuntil = 1\n[[particles]]\nmass = 1\nsource.fill = {{ count = 50, radius = [0.05, 0.1], \
             region.box = {{ lower = [0, 0, 0], upper = [1, 1, 1] }} }}"
        );
        Scene::parse(&text, Path::new("fill.toml")).unwrap_or_else(|error| panic!("{error}")).simulation.state.particles
    };
    assert_eq!(fill(1), fill(1));
    assert_ne!(fill(1).position, fill(2).position);
}

#[test]
fn a_csv_file_may_have_a_byte_order_mark_quotes_and_carriage_returns() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("start.csv"), "\u{feff}x,y,r,vx,vy\r\n\"0\", 1,0.5,,\r\n3,1,0.5,1,2\r\n")
        .unwrap();
    let text = GOOD.replace("source.list = [{ position = [0, 0.5], radius = 0.1 }]", "source.csv.path = 'start.csv'");
    let scene = Scene::parse(&text, &folder.path().join("scene.toml")).unwrap_or_else(|error| panic!("{error}"));
    let particles = scene.simulation.state.particles;
    assert_eq!(particles.position[0].to_array(), [0.0, 1.0, 0.0]);
    assert_eq!(particles.velocity[1].to_array(), [1.0, 2.0, 0.0]);
    std::fs::write(folder.path().join("start.csv"), "x,y,r,vx,vy,vz\n0,0,1,1,1,1\n").unwrap();
    let told = Scene::parse(&text, &folder.path().join("scene.toml")).err().unwrap().to_string();
    assert!(told.contains("line 2: vz is 1, but a 2D scene has vz = 0"), "{told}");
}

#[test]
fn a_law_may_be_named_alone_and_then_has_its_defaults() {
    let law = |text: &str| {
        let text = format!("{GOOD}[contact]\n{text}");
        let scene = Scene::parse(&text, Path::new("law.toml")).unwrap_or_else(|error| panic!("{error}"));
        scene.simulation.adhesion.law
    };
    assert_eq!(law("law = 'gluey'"), law("law.gluey = {}"));
    assert_eq!(law("law = 'aggregating'"), law("law.aggregating = {}"));
    assert_eq!(law("law = 'inelastic'"), law("law = 'inelastic' # again"));
    refused(
        &format!("{GOOD}[contact]\nlaw = 'glue'"),
        &["bad.toml:10:7: unknown choice `glue`", "did you mean `gluey`?"],
    );
    refused(&format!("{GOOD}[contact]\nlaw.glue = {{}}"), &["bad.toml:10:5: unknown choice `glue`"]);
    refused(&format!("{GOOD}[contact]\nlaw = 3"), &["bad.toml:10:7: a law: inelastic, gluey or aggregating"]);
    refused(&format!("{GOOD}[contact]\nlaw = {{ gluey = {{}}, aggregating = {{}} }}"), &["only one choice"]);
    refused(&format!("{GOOD}[contact]\nlaw = {{}}"), &["bad.toml:10:7: a choice is expected here"]);
    let gravity = "{ expression = ['0', 't'], linear = { times = [0], values = [[0, 0]] } }";
    refused(&format!("{GOOD}[environment]\ngravity = {gravity}"), &["bad.toml:10:11: only one choice"]);
}

#[test]
fn a_choice_that_is_named_alone_is_told_what_it_needs() {
    let with = |extra: &str| format!("{GOOD}{extra}");
    refused(
        &with("[[obstacle]]\nshape = \"box\""),
        &["bad.toml:10:9: `box` needs its values: write shape.box = { … }"],
    );
    refused(
        &with("[[assembly]]\nname = 'a'\nmotion = 'rotation'"),
        &["bad.toml:11:10: `rotation` needs its values: write motion.rotation = { … }"],
    );
    refused(&with("[environment]\ndrag = 'stokes'"), &["`stokes` needs its values: write drag.stokes = { … }"]);
    refused(&with("[environment]\ndrag = 'coefficient'"), &["write drag.coefficient = …"]);
    refused(&with("[[particles]]\nsource = 'fill'"), &["`fill` needs its values: write source.fill = { … }"]);
    refused(&with("[[particles]]\nsource = 'list'"), &["write source.list = [ … ]"]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    refused(
        &GOOD.replace("mass = 1", "mass = 1\ndensity = 2"),
        &["bad.toml:8:11: ", "both `mass` and `density`", "keep one"],
    );
    refused(&GOOD.replace("until", "max_substeps = 0\nuntil"), &["bad.toml:5:16: a positive whole number"]);
    refused(&format!("{GOOD}[solver]\nmax_sweeps = -1"), &["bad.toml:10:14: a positive whole number"]);
    refused(&format!("{GOOD}[solver]\nblocks = 0"), &["bad.toml:10:10: a positive whole number"]);
    refused(&format!("{GOOD}[solver]\nblocks = 5000"), &["bad.toml:10:10: too many blocks", "at most 4096"]);
    refused(
        &format!("{GOOD}[solver]\nmethod = 'apgd'\nblocks = 4"),
        &["bad.toml:11:10: this method has no blocks", "method = \"apgs\""],
    );
    let named = |name: &str| {
        format!("{GOOD}[[obstacle]]\nname = {name}\nshape.half-space = {{ point = [0, 0], normal = [0, 1] }}\n")
    };
    refused(&named("\"a\\nb\""), &["bad.toml:10:8: a name is one line"]);
    refused(&named("''"), &["bad.toml:10:8: this name is empty"]);
    let unnamed = "[[obstacle]]\nshape.half-space = { point = [0, 0], normal = [0, 1] }";
    refused(&format!("{}{unnamed}", named("'obstacle1'")), &["a second obstacle `obstacle1`"]);
    let assembly = "[[assembly]]\nname = 'drum'\nmotion.translation.velocity = [1, 0]\n";
    refused(&format!("{GOOD}{assembly}{assembly}"), &["bad.toml:13:8: a second assembly `drum`"]);
}

/// The first problem must stand at this part of the text, and its message hold the words.
fn refused_at(text: &str, part: &str, words: &str) {
    let error = problems(text);
    let problem = &error.problems[0];
    assert_eq!(problem.span.clone().and_then(|span| text.get(span)), Some(part), "{error}");
    assert!(problem.message.contains(words), "`{words}` is not in:\n{error}");
}

#[test]
fn shapes_and_motions_point_at_the_key_that_is_wrong() {
    let flat = |shape: &str| format!("{GOOD}[[obstacle]]\nshape.{shape}");
    let round = |shape: &str| flat(shape).replace("dimension = 2", "").replace("[0, 0.5]", "[0, 0, 0.5]");
    let moving = |motion: &str| flat(&format!("half-space = {{ point = [0, 0], normal = [0, 1] }}\nmotion.{motion}"));
    let pipe = flat("cylinder = { centre = [5, 5], radius = 1, side = 'outside', length = 2 }");
    refused_at(&pipe, "2", "length = 2.0: should be infinite");
    let wheel = |hub: &str, blades: &str| {
        flat(&format!("wheel = {{ centre = [5, 5], radius = 7, hub_radius = {hub}, blades = {blades} }}"))
    };
    refused_at(&wheel("1", "0"), "0", "blades = 0: should be from 1 to 1000");
    refused_at(&wheel("1", "4000000000"), "4000000000", "blades");
    refused_at(&wheel("8", "3"), "7", "radius = 7.0: should be larger than hub_radius");
    let solid = |extra: &str| flat(&format!("box = {{ lower = [5, 5], upper = [6, 6], side = 'outside', {extra} }}"));
    refused_at(&solid("open = ['upper-y']"), "['upper-y']", "a solid box has no open sides");
    refused_at(&solid("angle = 1, axis = [1, 0, 0]"), "[1, 0, 0]", "in a 2D scene a box turns about z");
    refused_at(&solid("angle = 1, axis = [0, 0, 0]"), "[0, 0, 0]", "an axis needs a direction");
    refused_at(&flat("segment = { from = [5, 5], to = [5.0, 5] }"), "[5.0, 5]", "both ends");
    refused_at(&flat("mesh = { path = 'nowhere.stl' }"), "mesh", "a mesh is an obstacle of 3D scenes");
    refused_at(&round("mesh = { path = 'nowhere.stl' }"), "'nowhere.stl'", "nowhere.stl: there is no such file");
    refused_at(&round("mesh = { path = '.' }"), "'.'", "cannot open .: this is a folder");
    let plate = round("plate = { corner = [0, 0, 9], edges = [[1, 0, 0], [2, 0, 0]] }");
    refused_at(&plate, "[2, 0, 0]", "edges[1] = [2.0, 0.0, 0.0]: should be not parallel");
    let funnel = round("funnel = { top = [0, 0, 9], bottom = [0, 0, 9.0], top_radius = 1, bottom_radius = 1 }");
    refused_at(&funnel, "[0, 0, 9]", "top = [0.0, 0.0, 9.0]: should be different from bottom");
    refused_at(&flat("half-space = { point = [0, 0], normal = [1e-200, 0] }"), "[1e-200, 0]", "neither 0 nor infinite");
    refused_at(&moving("rotation = { centre = [0, 0], rate = 1, until = -1 }"), "-1", "until = -1.0");
    refused_at(&moving("table = { times = [1, 0] }"), "[1, 0]", "times = 0 after 1: should be strictly increasing");
    refused_at(&moving("table = { times = [1, 2], angles = [0] }"), "[0]", "as many entries as times");
}

#[test]
fn a_slip_of_the_keyboard_does_not_fill_the_memory() {
    let with = |source: &str| format!("{GOOD}[[particles]]\nmass = 1\nsource.{source}");
    refused(
        &with("lattice = { lower = [0, 0], upper = [1e9, 1e9], spacing = 1, radius = 0.5 }"),
        &["1.000e18 sites", "at most 50000000"],
    );
    refused(&with("lattice = { lower = [0, 0], upper = [1e99, 1e99], spacing = 1e-99, radius = 1e-100 }"), &["sites"]);
    let fill = |count: &str| {
        with(&format!("fill = {{ count = {count}, radius = 0.1, region.box = {{ lower = [1, 1], upper = [2, 2] }} }}"))
    };
    refused(&fill("1000000000000"), &["1000000000000 particles", "at most 50000000"]);
    refused(&fill("1000000"), &["would take 3141592.654 % of the region"]);
    refused(&fill("-1"), &["a whole number that is not negative is expected here, not the integer `-1`"]);
}

#[test]
fn numbers_that_would_overflow_are_refused() {
    refused_at(&GOOD.replace("[0, 0.5]", "[0, 1e308]"), "[0, 1e308]", "1e308 is not allowed here");
    refused_at(&GOOD.replace("radius = 0.1", "radius = 1e308"), "1e308", "1e308 is not allowed here");
    refused_at(&GOOD.replace("radius = 0.1", "radius = 1e-320"), "1e-320", "from 1e-100 to 1e100");
    refused_at(&GOOD.replace("dt = 0.01", "dt = 1e-90"), "1e-90", "the run would have 1.0e90 steps");
    refused_at(&format!("seed = 99999999999999999999\n{GOOD}"), "99999999999999999999", "too large");
}

#[test]
fn odd_values_are_told_in_plain_words() {
    refused_at(&GOOD.replace("dt = 0.01", "dt = 1979-05-27"), "1979-05-27", "no date is expected here");
    refused(&GOOD.replace("[time]", "[[time]]"), &["bad.toml:3:1: `time` is a table, not a list", "[time]"]);
    assert_eq!(problems(&GOOD.replace("[time]", "[[time]]")).problems.len(), 1);
    let gravity = |text: &str| format!("{GOOD}[environment]\ngravity.{text}");
    refused_at(&gravity("steps = { times = [], values = [] }"), "[]", "`times` is empty");
    refused_at(&gravity("expression = []"), "[]", "2 expressions are needed");
    refused_at(&gravity("expression = ['0', \"\"\"\nt +\n foo\"\"\"]"), "foo", "unknown name `foo`");
    refused_at(&gravity("expression = ['0', \"t\\u0020+ foo\"]"), "\"t\\u0020+ foo\"", "unknown name `foo`");
    let radii =
        "[[particles]]\nmass = 1\nsource.lattice = { lower = [1, 1], upper = [2, 2], spacing = 3, radius = [1, inf] }";
    refused_at(&format!("{GOOD}{radii}"), "[1, inf]", "a radius of inf");
    let plate =
        "dimension = 3\n[[obstacle]]\nshape.plate = { corner = [0, 0, 0], edges = [[1, 0, 0], [0, 1, 0], [1, 1, 0]] }";
    refused(&GOOD.replace("dimension = 2", plate), &["bad.toml:4:", "this one has 3"]);
}

#[test]
fn what_is_shown_of_a_line_is_short_and_keeps_its_tabs() {
    let told = problems(&GOOD.replace("dt = 0.01", "\t\tdt\t=\t-0.01")).to_string();
    assert!(told.contains("  4 | \t\tdt\t=\t-0.01\n    | \t\t  \t \t^^^^^"), "{told}");
    let long = format!("{GOOD}[environment]\ngravity = [{}0]", "0, ".repeat(5000));
    assert!(problems(&long).to_string().lines().all(|line| line.chars().count() < 150));
    refused(&GOOD.replace("mass", "m\u{0}ss"), &["m\u{fffd}ss"]);
}

#[test]
fn a_hundred_thousand_stray_commas_are_told_in_a_page() {
    for comma in [",", ",\n"] {
        let error = problems(&format!("a = [{}]\n{GOOD}", comma.repeat(100_000)));
        let told = error.to_string();
        assert!(told.ends_with("\n\nand 99970 more") && told.lines().count() < 200, "{}", told.lines().count());
        assert_eq!(error.problems.len(), 100_000);
    }
}

#[test]
fn many_problems_and_long_words_are_told_in_time_and_in_a_page() {
    let begun = std::time::Instant::now();
    let floor = "[[obstacle]]\nname = \"floor\"\nshape.half-space = { point = [0, -1], normal = [0, 1] }\n";
    let twice = problems(&format!("{GOOD}{}", floor.repeat(20_000))).to_string();
    assert!(twice.contains("a second obstacle `floor`") && twice.ends_with("\n\nand 19969 more"), "{twice}");
    let word = problems(&format!("{GOOD}{} = 1\n", "x".repeat(1_000_000))).to_string();
    assert!(word.len() < 10_000 && word.contains("xxx…"), "{}", word.len());
    // Each problem on its own pass over the file would take minutes.
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn many_names_are_compared_in_time_and_many_groups_fill_no_memory() {
    let begun = std::time::Instant::now();
    let mut text = GOOD.to_owned();
    for k in 0..30_000 {
        writeln!(text, "[[group]]\nname = \"group {k}\"\nroughness = 1e-3").unwrap();
        writeln!(text, "[[obstacle]]\nshape.half-space = {{ point = [0, -1], normal = [0, 1] }}").unwrap();
    }
    let scene = Scene::parse(&text, Path::new("many.toml")).unwrap();
    assert_eq!((scene.groups.len(), scene.simulation.obstacles.len()), (30_000, 30_000));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn a_heap_in_one_point_is_told_in_time() {
    let many = "{ position = [5, 5], radius = 0.1 },".repeat(100_000);
    let error = problems(&format!("{GOOD}[[particles]]\nmass = 1\nsource.list = [{many}]\n")).to_string();
    assert!(error.contains("the start overlaps") && error.contains(", and at least "), "{error}");
}

/// Bytes that make a difference to a parser.
const SPICE: &[u8] = b"0123456789.eE+-_[]{}=,\"'#\n\t \\xaz\xff\xc3";

#[test]
fn no_mutation_of_a_scene_makes_the_reader_panic_or_hang() {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    for path in scenes() {
        let good = std::fs::read(&path).unwrap();
        for _ in 0..300 {
            let mut text = good.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..text.len());
                let byte = SPICE[random.random_range(0..SPICE.len())];
                match random.random_range(0..4) {
                    0 => text[at] = byte,
                    1 => text.insert(at, byte),
                    2 => drop(text.remove(at)),
                    _ => {
                        let end = (at + random.random_range(0..40)).min(text.len());
                        drop(text.drain(at..end));
                    }
                }
            }
            if let Err(error) = Scene::parse(&String::from_utf8_lossy(&text), &path) {
                assert!(!error.problems.is_empty() && !error.to_string().is_empty());
            }
        }
    }
}
