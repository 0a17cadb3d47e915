//! A page to watch runs, live or afterwards, and the small server behind it.
//!
//! The page is plain HTML, CSS and JavaScript, embedded in the program; it asks and the server answers, so that a slow
//! browser asks less often and nothing piles up:
//!
//! | request | answer |
//! |---|---|
//! | `GET /api/gallery` | scenes and runs, as JSON |
//! | `GET /api/run?run=R` | what is needed to draw the run, as JSON |
//! | `GET /api/progress?run=R&after=S&bytes=B` | frames after S, the series from byte B, state of a live run, as JSON |
//! | `GET /api/frame?run=R&step=S` | a stored frame, as a record of `frames.bin` |
//! | `GET /api/live?run=R&after=N` | the newest frame of a live run once it is later than number N, as a record |
//! | `GET /api/series.csv?run=R` | the series, as a file |
//! | `POST /api/start` | starts a scene |
//! | `POST /api/order?run=R` | pause, resume, step, change a value, restart |
//!
//! Orders carry the token of the page in the header `X-Gluey-Token`, and so does all of this where other machines reach
//! it.
//!
//! A simulation and its viewers share a [`Live`]: the loop leaves its newest frame there when somebody waits for one,
//! and finds orders there between steps. It never waits for a viewer.
//!
//! Modules, in order of dependency: `error`, `assets` (the files of `page/`), `guard` (who may ask), `live` (what a
//! simulation and its viewers share), `folder` (a run folder as the page sees it), `gallery`, `site` (all that can be
//! shown), `reply`, `request` (bytes to a request), `connections` (who has a place, and who gives it up), `http`
//! (requests and answers on a connection), `server` (which request gets which answer). The page is plain ES modules,
//! one file a matter, each with its matter in its first line.

mod assets;
mod connections;
mod error;
mod fields;
mod folder;
mod gallery;
mod guard;
mod http;
mod live;
mod reply;
mod request;
mod server;
mod site;

pub use error::ViewError;
pub use live::{Live, Order, Phase, Setting, Status};
#[doc(hidden)] // for tests that throw any bytes at it
pub use request::{Request, RequestError};
pub use server::Server;
pub use site::{Launch, Site, Start};
