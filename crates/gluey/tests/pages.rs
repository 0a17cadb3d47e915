//! The scenes that the documentation shows are scenes: each block of TOML parses, completed where it is a part.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use gluey::projection::Method;
use gluey::scene::{ColourBy, Scene};
use gluey::trajectory::Format;

const TIME: &str = "time = { dt = 1e-3, until = 1 }\n";
const PARTICLES: &str = "\n[[particles]]\nmass = 1\nsource.list = [{ position = [0, 0, 0.6], radius = 0.1 }]\n";
/// Files that the examples refer to.
const FILES: [(&str, &str); 2] = [
    ("grains.csv", "# sand\nx,y,z,r,m,vx,vy,vz\n0,0,0.7,0.1,,,,\n0.5,0,0.7,0.1,2,0,0,1\n"),
    (
        "part.stl",
        "solid part\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1000 0 0\nvertex 0 1000 0\nendloop\nendfacet\n\
         endsolid part\n",
    ),
];

fn page(name: &str) -> String {
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect();
    fs::read_to_string(root.join(name)).unwrap()
}

fn examples(page: &str) -> impl Iterator<Item = &str> {
    page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap())
}

fn completed(example: &str) -> String {
    let states =
        |table: &str| example.lines().any(|line| line.trim_matches(['[', ']']).split(' ').next() == Some(table));
    let time = if states("time") { "" } else { TIME };
    let particles = if states("particles") { "" } else { PARTICLES };
    format!("{time}{example}{particles}")
}

#[test]
fn every_scene_of_the_pages_parses() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in FILES {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let mut count = 0;
    for name in ["README.md", "docs/scenes.md", "docs/fluids-many.md"] {
        let page = page(name);
        for (index, example) in examples(&page).enumerate() {
            let path: &Path = &folder.path().join(format!("{name}, example {index}").replace('/', " "));
            if let Err(error) = Scene::parse(&completed(example), path) {
                panic!("{error}");
            }
            count += 1;
        }
    }
    assert!(count > 30, "only {count} examples found");
}

/// The row of a table that starts with a cell.
fn row<'a>(page: &'a str, cell: &str) -> &'a str {
    let mut rows = page.lines().filter(|line| line.starts_with(&format!("| {cell} |")));
    rows.next().unwrap_or_else(|| panic!("there is no row {cell}"))
}

#[test]
fn every_choice_is_told_in_the_pages() {
    let [scenes, pictures, formats] = ["docs/scenes.md", "docs/pictures.md", "docs/formats.md"].map(page);
    for method in Method::ALL {
        assert!(row(&scenes, "`method`").contains(&format!("`\"{method}\"`")), "solver {method}");
    }
    let of_picture = scenes.split_once("\n## picture\n").unwrap().1;
    for colour in ColourBy::ALL {
        assert!(row(of_picture, "`colour`").contains(&format!("`\"{colour}\"`")), "colour {colour} of scenes");
        assert!(row(&pictures, "`--colour FIELD`").contains(&format!("`{colour}`")), "colour {colour} of pictures");
    }
    for format in Format::ALL {
        let told = row(&formats, &format!("`\"{format}\"`"));
        for file in format.opened_by().iter().flat_map(|opened| opened.files) {
            assert!(told.contains(&format!("`{file}`")), "{file} of {format}");
        }
    }
}
