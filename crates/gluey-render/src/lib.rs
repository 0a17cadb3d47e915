//! Pictures of runs: discs in 2D, shaded spheres in 3D, obstacles, and contacts as tubes, the darker the more glued.
//!
//! A picture is a function of a frame, the obstacles at its time, a camera and a style: [`draw`]. Nothing here needs a
//! GPU, a display or a font of the system, and nothing prints.
//!
//! [`Film`] reads the frames of one or several runs, chooses one camera and one scale of colours for all of them, and
//! draws any frame; [`montage()`] puts pictures side by side; [`Gif`] and [`Mp4`] make them move.
//!
//! The projection is parallel: a length is the same number of pixels everywhere in a picture.
//!
//! Modules, in order of dependency: `colour` (maps and lightness), `image` (PNG), `canvas` (discs, lines and polygons
//! by coverage), `text`, `style`, `legend`, `camera` (parallel projection), `wall` (obstacles as drawn), `crease`,
//! `samples` (depth at four points of a pixel), `shade`, `glass` (what is seen through), `periodic` (images and the
//! outline of a cell), `picture` (a frame → an image) through `discs` in 2D and `spheres` in 3D; `survey` (what all
//! frames have in common), `film` (frames of runs → images), `montage`, `animation`. Files are touched in `film`
//! (reading) and `animation`.
//!
//! ```
//! use glam::DVec3;
//! use gluey::geometry::Extent;
//! use gluey::scene::Scene;
//! use gluey::trajectory::Frame;
//! use gluey_render::{Camera, Style, Viewpoint, Wall, draw};
//!
//! let text = r#"
//!     dimension = 2
//!     time = { dt = 0.01, until = 1 }
//!     particles = [{ mass = 1, source.list = [{ position = [0, 0.5], radius = 0.5 }] }]
//!     obstacle = [{ name = "floor", shape.half-space = { point = [0, 0], normal = [0, 1] } }]
//! "#;
//! let simulation = Scene::parse(text, "ball.toml".as_ref())?.simulation;
//! let (particles, contacts) = (&simulation.state.particles, simulation.contacts());
//! let frame = Frame { step: 0, time: simulation.time(), particles, contacts: &contacts, obstacles: &[], clump: &[] };
//!
//! let (lower, upper) = (DVec3::new(-1.0, -0.5, 0.0), DVec3::new(1.0, 1.5, 0.0));
//! let view = Extent { lower, upper, dimension: 2 };
//! let walls: Vec<Wall> = simulation.obstacles.iter().map(|obstacle| Wall::of(obstacle, frame.time, &view)).collect();
//! let style = Style::new(2, [320, 240]);
//! let camera = Camera::framing(Viewpoint::FRONT, (lower, upper), &style);
//! let image = draw(&frame, &walls, &camera, &style);
//!
//! let mut file = Vec::new();
//! image.write_png(&mut file)?;
//! # let at = |x: f64, y: f64| camera.project(DVec3::new(x, y, 0.0)).to_array().map(|pixel| pixel as u32);
//! # let colour = |x: f64, y: f64| image.pixel(at(x, y)[0], at(x, y)[1]);
//! # assert!(colour(0.0, 0.5) != colour(0.9, 0.9) && colour(0.0, -0.2) != colour(0.9, 0.9) && !file.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod animation;
mod camera;
mod canvas;
mod colour;
mod crease;
mod discs;
mod error;
mod film;
mod glass;
mod image;
mod legend;
mod montage;
mod periodic;
mod picture;
mod samples;
mod shade;
mod spheres;
mod style;
mod survey;
mod text;
mod wall;

pub use animation::{Gif, Mp4};
pub use camera::{Camera, Viewpoint};
pub use colour::colour_table;
pub use error::RenderError;
pub use film::{Film, Reel, Selection};
pub use image::Image;
pub use montage::{Captions, montage};
pub use picture::draw;
pub use style::{Furniture, Style};
pub use survey::Survey;
pub use wall::{Body, Wall};
