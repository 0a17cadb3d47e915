//! ARCHITECTURE.md is true: what it quotes is in the source, what it names exists, its order of the modules is that of
//! their dependencies. And each dependency says what it is for.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where paths on the page may start.
const BASES: [&str; 6] = [
    "",
    "crates/gluey/src",
    "crates/gluey/src/projection",
    "crates/gluey/src/projection/file",
    "crates/gluey/src/projection/interior_point",
    "crates/gluey/src/projection/rigid_rows",
];
/// Files of a run, which are nowhere in the repository, and names that stand for several files.
const NO_FILES: [&str; 4] = ["timings.csv", "host.toml", "*_tests.rs", ".qpb"];
const MOST_LINES: usize = 150;

fn root() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect()
}

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// The files with this ending below a folder, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// All text without white space.
fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}

fn holds_in_order(text: &str, parts: &[String]) -> bool {
    let mut rest = text;
    parts.iter().all(|part| {
        let found = rest.split_once(part.as_str());
        rest = found.map_or("", |(_, after)| after);
        found.is_some()
    })
}

#[test]
fn quoted_code_is_in_the_source_to_the_letter() {
    let page = page();
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    assert!(!blocks.is_empty());
    let sources: Vec<String> =
        files(&root().join("crates"), ".rs").iter().map(|file| dense(&fs::read_to_string(file).unwrap())).collect();
    for block in blocks {
        // At `…` something is left out: the parts follow each other in one file.
        let parts: Vec<String> = block.split('…').map(dense).collect();
        assert!(sources.iter().any(|source| holds_in_order(source, &parts)), "no source file has this:\n{block}");
    }
}

/// The modules of the library in the order of the page.
fn listed(page: &str) -> Vec<&str> {
    let (_, section) = page.split_once("## Modules of the library").unwrap();
    let section = section.split("\n## ").next().unwrap();
    section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(name, _)| name).collect()
}

/// The module of the library that a source file belongs to.
fn module_of(file: &Path, source: &Path) -> String {
    let first = file.strip_prefix(source).unwrap().iter().next().unwrap().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// Names that follow `crate::` in code, without tests and comments.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let mut names = BTreeSet::new();
    for path in code.join("\n").split("crate::").skip(1) {
        assert!(!path.starts_with('{'), "a `use` that joins modules is not looked at here: use crate::{path:.40}");
        let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(path.len());
        names.insert(path[..end].to_owned());
    }
    names
}

#[test]
fn modules_are_listed_in_an_order_in_which_none_uses_one_below_it() {
    let (page, source) = (page(), root().join("crates/gluey/src"));
    let listed = listed(&page);
    let front = fs::read_to_string(source.join("lib.rs")).unwrap();
    let mut declared: Vec<&str> = front
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let mut sorted = listed.clone();
    declared.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(sorted, declared, "the modules of the page and of lib.rs");

    let place = |name: &str| listed.iter().position(|module| *module == name);
    let mut looked_at = 0;
    for file in files(&source, ".rs") {
        let module = module_of(&file, &source);
        let is_test = file.to_string_lossy().ends_with("tests.rs");
        if module == "lib" || is_test {
            continue;
        }
        for name in used(&fs::read_to_string(&file).unwrap()) {
            // What is not a module is an item that the front page re-exports.
            let below = place(&name).is_some_and(|at| at > place(&module).unwrap());
            assert!(!below, "{} uses `{name}`, which the page lists below `{module}`", file.display());
            looked_at += 1;
        }
    }
    assert!(looked_at > 200, "only {looked_at} uses found");
}

/// What stands between single backticks outside of blocks.
fn quoted(page: &str) -> Vec<&str> {
    let text = page.split("```").step_by(2);
    text.flat_map(|text| text.split('`').skip(1).step_by(2)).collect()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[test]
fn every_file_module_and_item_that_is_named_exists() {
    let (page, root) = (page(), root());
    let rust: Vec<PathBuf> = files(&root.join("crates"), ".rs");
    let sources: Vec<String> = rust.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let defined = |name: &str| {
        let kinds = ["struct", "enum", "trait", "fn", "mod", "type", "const"].map(|kind| format!("{kind} {name}"));
        let variant = [format!("    {name},"), format!("    {name}("), format!("    {name} {{")];
        let ends = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        sources.iter().any(|source| {
            kinds.iter().any(|kind| source.match_indices(kind.as_str()).any(|(at, _)| ends(&source[at + kind.len()..])))
                || variant.iter().any(|variant| source.contains(variant.as_str()))
        })
    };
    let (mut paths, mut items) = (0, 0);
    for name in quoted(&page) {
        let is_path = name.contains('/') || name.contains('.');
        if NO_FILES.contains(&name) || name.contains(' ') {
            continue;
        }
        if is_path {
            assert!(BASES.iter().any(|base| root.join(base).join(name).exists()), "there is no `{name}`");
            paths += 1;
        } else if name.split("::").all(is_word) {
            let is_folder = root.join("crates").join(name).exists();
            let libraries = ["gluey", "sin", "exp"]; // the command, and functions of the platform
            let known = name.split("::").all(defined) || is_folder || libraries.contains(&name);
            assert!(known, "nothing is called `{name}`");
            items += 1;
        }
    }
    assert!(paths > 60 && items > 60, "only {paths} paths and {items} items found");
    // Links, too.
    for target in page.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap()) {
        assert!(root.join(target).exists(), "a link leads to {target}");
    }
    assert!(page.lines().count() <= MOST_LINES, "{} lines: details belong to the modules", page.lines().count());
}

#[test]
fn every_file_of_the_projection_is_on_the_map() {
    let page = page();
    let (_, map) = page.split_once("## The projection").unwrap();
    let rows =
        || map.split("\n## ").next().unwrap().lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let source = root().join("crates/gluey/src/projection");
    for file in files(&source, ".rs") {
        let name = format!("`{}`", file.file_name().unwrap().to_str().unwrap());
        let is_inner = file.parent() != Some(source.as_path());
        let folder = format!("`{}/`", file.parent().unwrap().file_name().unwrap().to_str().unwrap());
        if name.ends_with("tests.rs`") || (is_inner && name == "`mod.rs`") {
            continue;
        }
        let told = |(files, what): (&str, &str)| match files {
            files if is_inner => files == folder && what.contains(&name),
            files => files.contains(&name),
        };
        assert!(rows().any(told), "{name} is not on the map of the projection");
    }
}

#[test]
fn every_dependency_says_what_it_is_for() {
    let mut manifests = files(&root().join("crates"), "Cargo.toml");
    manifests.push(root().join("fuzz/Cargo.toml"));
    let mut dependencies = 0;
    for manifest in manifests {
        let text = fs::read_to_string(&manifest).unwrap();
        let (mut inside, mut before) = (false, "");
        for line in text.lines() {
            if line.starts_with('[') {
                inside = line.ends_with("dependencies]");
            } else if inside && line.contains('=') && !line.starts_with('#') {
                let said = before.starts_with('#') || line.contains(" # ");
                assert!(said, "{}: what is this for? {line}", manifest.display());
                dependencies += 1;
            }
            before = line;
        }
    }
    assert!(dependencies > 70, "only {dependencies} dependencies found");
}
