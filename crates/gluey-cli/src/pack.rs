//! `gluey pack`: dense packings without overlap, as CSV files that scenes read.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum, ValueHint};
use glam::DVec3;
use gluey::geometry::volume;
use gluey::packing::{Container, MOST, Packing, PackingError, Radii, box_volume};
use tempfile::NamedTempFile;

use crate::UsageError;
use crate::run::refuse_crowd_of_threads;
use crate::words::{count, number};

/// Where the number of particles follows from the fraction, their radii may differ by this share from those asked for.
const HAIR: f64 = 0.01;

/// What to pack, and where.
#[derive(Debug, Args)]
#[command(after_help = "What is left out follows from the rest:\n  \
    --box and --fraction             as many particles as that takes; their radii are scaled by a hair to give the fraction\n  \
    --count and --fraction           a cube (in 2D a square) of the size that this takes\n  \
    --box, --count and --fraction    radii scaled to give the fraction; --radii tells their ratios\n\n\
    Random packings of equal spheres jam at a solid fraction of about 0.63, of discs of different sizes at about 0.84;\n\
    walls lower that, the more the smaller the box.")]
pub struct PackArguments {
    /// Radii: `0.1`; `0.1..0.2` evenly between; `lognormal:MEDIAN,SIGMA`; or `0.1:3,0.2:1`, three of the first to one
    /// of the other
    #[arg(long, allow_hyphen_values = true)]
    radii: Radii,
    /// Solid fraction: the share of the container that the particles take
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    fraction: f64,
    /// How many particles
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// Size of the box, which starts at the origin: `1,1,2`, in 2D `3,2`
    #[arg(long = "box", value_name = "X,Y,Z", value_delimiter = ',', allow_hyphen_values = true)]
    size: Option<Vec<f64>>,
    /// What holds the particles, as wide as the box
    #[arg(long, value_enum, default_value_t)]
    container: Walls,
    /// Directions in which the box repeats: `x`, `xy`, `xyz`…; the others have walls
    #[arg(long, value_name = "AXES", default_value = "")]
    periodic: String,
    /// 2 for discs, 3 for spheres [default: that of the box, or 3]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u8).range(2..=3))]
    dimension: Option<u8>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The file to write
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: PathBuf,
    /// Threads to compute with [default: all cores]; results do not depend on it
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// A container by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Walls {
    /// The box itself
    #[default]
    Box,
    /// An upright cylinder in a box that is as long in x as in y; with --periodic z a pipe
    Cylinder,
    /// A ball in a cube, in 2D a disc in a square
    Ball,
}

impl From<Walls> for Container {
    fn from(walls: Walls) -> Self {
        match walls {
            Walls::Box => Self::Box,
            Walls::Cylinder => Self::Cylinder,
            Walls::Ball => Self::Ball,
        }
    }
}

/// Makes the packing and writes it.
pub fn pack(wishes: &PackArguments) -> Result<String> {
    let packing = request(wishes)?;
    wishes.threads.map_or(Ok(()), refuse_crowd_of_threads)?;
    // What cannot be written should be known before the work.
    let cannot = || format!("cannot write {}", wishes.out.display());
    let out = Destination::of(&wishes.out).with_context(cannot)?;
    let started = Instant::now();
    let threads = usize::from(wishes.threads.unwrap_or(0));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let centres = pool.install(|| packing.pack(|_| ()))?;
    out.fill(|file| write(&packing, &centres, file)).with_context(cannot)?;
    Ok(told(&packing, wishes, started.elapsed().as_secs_f64()))
}

/// Where a packing goes. What was there stays until the new one is whole.
enum Destination {
    /// A file beside the one asked for, to be renamed.
    Beside(NamedTempFile, PathBuf),
    /// A device or a pipe, which cannot be replaced.
    Stream(File),
}

impl Destination {
    fn of(path: &Path) -> io::Result<Self> {
        match path.metadata() {
            Ok(found) if found.is_dir() => return Err(io::Error::other("it is a folder")),
            Ok(found) if !found.is_file() => return File::options().write(true).open(path).map(Self::Stream),
            _ => {}
        }
        // Where the name is a link, what it leads to is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".gluey-");
        // Temporary files are private by default, but this one becomes a result: the user's umask decides.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        Ok(Self::Beside(builder.tempfile_in(folder)?, path))
    }

    fn fill(self, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Beside(temporary, path) => {
                write(&mut BufWriter::new(temporary.as_file()))?;
                temporary.persist(path).map(|_| ()).map_err(|error| error.error)
            }
            Self::Stream(file) => write(&mut BufWriter::new(&file)),
        }
    }
}

/// What is wrong with a packing, in words of the options that it was made from.
fn refusal(error: &PackingError, wishes: &PackArguments) -> UsageError {
    UsageError(match (error, wishes.count.filter(|_| wishes.size.is_none())) {
        (PackingError::Invalid { field: "size", value, expected }, Some(n)) => format!(
            "--count {n} and --fraction {} make a box of {value}: {expected}; ask for more particles, or a lower fraction",
            wishes.fraction
        ),
        _ => error.to_string(),
    })
}

fn request(wishes: &PackArguments) -> Result<Packing, UsageError> {
    let usage = |text: String| Err(UsageError(text));
    if !(wishes.fraction > 0.0 && wishes.fraction < 1.0) {
        return usage(format!("--fraction is {}: a solid fraction lies between 0 and 1", wishes.fraction));
    }
    let dimension = match (wishes.dimension.map(usize::from), wishes.size.as_ref().map(Vec::len)) {
        (given, Some(sizes @ 2..=3)) if given.is_none_or(|given| given == sizes) => sizes,
        (given, None) => given.unwrap_or(3),
        (Some(given), Some(sizes @ 2..=3)) => {
            return usage(format!(
                "--box has {sizes} sizes and --dimension is {given}: give {given} sizes, or no --dimension"
            ));
        }
        (_, Some(sizes)) => {
            let sizes = count(sizes as u64, "size");
            return usage(format!("--box has {sizes}: write two for discs, three for spheres"));
        }
    };
    let mut periodic = [false; 3];
    for letter in wishes.periodic.chars() {
        match "xyz"[..dimension].find(letter) {
            Some(axis) => periodic[axis] = true,
            None => return usage(format!("--periodic: `{letter}` is no direction of a {dimension}D packing")),
        }
    }
    let all = |radii: &[f64]| radii.iter().map(|r| volume(*r, dimension)).sum::<f64>();
    let container = Container::from(wishes.container);
    let (mut radii, size);
    let mut scale = 1.0;
    match (&wishes.size, wishes.count) {
        (None, None) => return usage("give --box, --count or both".into()),
        (_, Some(0)) => return usage("--count is 0: a packing has at least one particle".into()),
        (_, Some(n)) if n > MOST => return usage(format!("--count is {n}: at most {MOST}")),
        (None, Some(n)) => {
            radii = wishes.radii.draw(n, wishes.seed);
            let room = all(&radii) / (wishes.fraction * container.share(dimension));
            size = DVec3::splat(room.powf(1.0 / dimension as f64));
        }
        (Some(sizes), n) => {
            size = DVec3::new(sizes[0], sizes[1], sizes.get(2).copied().unwrap_or(1.0));
            if !(size.min_element() > 0.0 && size.is_finite()) {
                return usage("--box: sizes are positive and finite".into());
            }
            let asked = wishes.fraction * container.share(dimension) * box_volume(size, dimension);
            let drawn = match n {
                Some(n) => Some(wishes.radii.draw(n, wishes.seed)),
                None => wishes.radii.filling(asked, dimension, wishes.seed),
            };
            radii = drawn.ok_or_else(|| UsageError(format!("that would be more than {MOST} particles")))?;
            scale = (asked / all(&radii)).powf(1.0 / dimension as f64);
            for radius in &mut radii {
                *radius *= scale;
            }
        }
    }
    let packing = Packing { container, dimension, size, periodic, radii, seed: wishes.seed };
    packing.check().map_err(|error| refusal(&error, wishes))?;
    if wishes.count.is_none() && (scale - 1.0).abs() > HAIR {
        let particles = count(packing.radii.len() as u64, "particle");
        return usage(format!(
            "--radii: the fraction is nearest to that of {particles}, with radii {} times those asked for: take a larger box, \
             another fraction, or give --count, which lets radii be scaled",
            number(scale)
        ));
    }
    Ok(packing)
}

/// The columns that `source.csv` reads, in digits that give the same numbers back.
fn write(packing: &Packing, centres: &[DVec3], out: &mut impl std::io::Write) -> std::io::Result<()> {
    writeln!(out, "{}", if packing.dimension == 2 { "x,y,r" } else { "x,y,z,r" })?;
    for (x, radius) in centres.iter().zip(&packing.radii) {
        let place: Vec<String> = x.to_array()[..packing.dimension].iter().map(f64::to_string).collect();
        writeln!(out, "{},{radius}", place.join(","))?;
    }
    out.flush()
}

fn told(packing: &Packing, wishes: &PackArguments, seconds: f64) -> String {
    let least = packing.radii.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = packing.radii.iter().copied().fold(0.0, f64::max);
    let radii = if least == greatest { number(least) } else { format!("{} to {}", number(least), number(greatest)) };
    let text = format!(
        "wrote {}: {}, radius {radii}, solid fraction {:.4}, in {seconds:.1} s\n\nin a scene:\n\n",
        wishes.out.display(),
        count(packing.radii.len() as u64, "particle"),
        packing.fraction(),
    );
    text + &in_a_scene(packing, wishes)
}

/// What to write into a scene that starts from the packing.
fn in_a_scene(packing: &Packing, wishes: &PackArguments) -> String {
    let (axes, mut text) = (["x", "y", "z"], String::new());
    if packing.dimension == 2 {
        text.push_str("dimension = 2\n");
    }
    if packing.periodic.contains(&true) {
        text.push_str("[periodic]\n");
    }
    // Writing to a string cannot fail.
    for (axis, name) in axes.into_iter().enumerate().filter(|(axis, _)| packing.periodic[*axis]) {
        let _ = writeln!(text, "{name} = [0, {}]", packing.size[axis]);
    }
    let file = wishes.out.display().to_string();
    let _ = writeln!(text, "[[particles]]\ndensity = 1\nsource.csv.path = {file:?}");
    let middle = (0.5 * packing.size).to_array();
    let middle: Vec<String> = middle[..packing.dimension].iter().map(f64::to_string).collect();
    let (middle, radius) = (middle.join(", "), 0.5 * packing.size.x);
    match packing.container {
        Container::Ball => {
            let shape = format!("shape.sphere = {{ side = \"inside\", centre = [{middle}], radius = {radius} }}");
            let _ = writeln!(text, "[[obstacle]]\n{shape}");
        }
        Container::Cylinder => {
            let caps = if packing.periodic[2] {
                String::new()
            } else {
                format!(", length = {}, closed = true", packing.size.z)
            };
            let _ = writeln!(
                text,
                "[[obstacle]]\nshape.cylinder = {{ side = \"inside\", centre = [{middle}], axis = [0, 0, 1], radius = {radius}{caps} }}"
            );
        }
        Container::Box => text.push_str(&sides(packing)),
    }
    text
}

/// The walls of a box.
fn sides(packing: &Packing) -> String {
    let (axes, mut text) = (["x", "y", "z"], String::new());
    if packing.periodic[..packing.dimension].contains(&false) {
        let sizes: Vec<String> = packing.size.to_array()[..packing.dimension].iter().map(f64::to_string).collect();
        let (zeros, sizes) = (vec!["0"; packing.dimension].join(", "), sizes.join(", "));
        let sides = |axis: usize| ["lower", "upper"].map(|end| format!("\"{end}-{}\"", axes[axis]));
        let open: Vec<String> = (0..packing.dimension).filter(|axis| packing.periodic[*axis]).flat_map(sides).collect();
        let open = if open.is_empty() { String::new() } else { format!(", open = [{}]", open.join(", ")) };
        let _ = writeln!(
            text,
            "[[obstacle]]\nshape.box = {{ side = \"inside\", lower = [{zeros}], upper = [{sizes}]{open} }}"
        );
    }
    text
}
