//! Pictures of runs: discs in 2D, shaded spheres in 3D, obstacles, and contacts as tubes, the darker the more glued.
//!
//! A picture is a function of a frame, the obstacles at its time, a camera and a style: [`draw`]. Nothing here needs a
//! GPU, a display or a font of the system, and nothing prints.
//!
//! [`Film`] reads the frames of one or several runs, chooses one camera and one scale of colours for all of them, and
//! draws any frame; [`montage()`] puts pictures side by side; [`Gif`] and [`Mp4`] make them move.
//!
//! The projection is parallel: a length is the same number of pixels everywhere in a picture.

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
pub use error::RenderError;
pub use film::{Film, Reel, Selection};
pub use image::Image;
pub use montage::{Captions, montage};
pub use picture::draw;
pub use style::{Furniture, Style};
pub use survey::Survey;
pub use wall::{Body, Wall};
