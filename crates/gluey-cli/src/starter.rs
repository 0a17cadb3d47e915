//! `gluey new`: a commented scene to start from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Result, anyhow};

const STARTER: &str = include_str!("../scenes/starter.toml");

/// Writes the starter scene to a file that must not exist yet.
pub fn write(path: &Path) -> Result<String> {
    let shown = path.display();
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => anyhow!("{shown} exists already, and is left as it is: name another file"),
        ErrorKind::NotFound => anyhow!("cannot write {shown}: there is no such folder"),
        _ => anyhow!("cannot write {shown}: {cause}"),
    })?;
    file.write_all(STARTER.as_bytes()).map_err(|cause| anyhow!("cannot write {shown}: {cause}"))?;
    Ok(format!("wrote {shown}\n\n  gluey check {shown}    tells what it holds\n  gluey run {shown}      runs it\n"))
}
