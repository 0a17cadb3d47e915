//! The files of the page, embedded.

/// A file of the page: where it is asked for, what it is, and its text.
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! script {
    ($name:literal) => {
        Asset { path: concat!("/", $name), kind: SCRIPT, text: include_str!(concat!("../page/", $name)) }
    };
}

/// The page itself; `{{token}}` in it is replaced.
pub(crate) const PAGE: &str = include_str!("../page/page.html");

/// All other files.
pub(crate) const ASSETS: &[Asset] = &[
    Asset { path: "/style.css", kind: "text/css; charset=utf-8", text: include_str!("../page/style.css") },
    Asset { path: "/icon.svg", kind: "image/svg+xml", text: include_str!("../page/icon.svg") },
    script!("app.js"),
    script!("camera.js"),
    script!("colours.js"),
    script!("frame.js"),
    script!("gallery.js"),
    script!("gl.js"),
    script!("legend.js"),
    script!("picture.js"),
    script!("player.js"),
    script!("plots.js"),
    script!("selection.js"),
    script!("server.js"),
    script!("steering.js"),
    script!("walls.js"),
    script!("words.js"),
];
