//! Where the text of a scene comes from.

use std::path::{Path, PathBuf};

use anyhow::Result;
use gluey::scene::{Problem, Scene, SceneError};

use crate::overrides::{self, Override};

pub const LOTTO: &str = include_str!("../../../scenes/lotto-small.toml");
/// Name and run folder of the built-in scene.
pub const LOTTO_NAME: &str = "lotto-small";

/// What messages call the built-in scene.
const LOTTO_FILE: &str = "lotto-small.toml";

/// The text of a scene, and the file it is from; the built-in scene has none.
#[derive(Clone, Debug)]
pub struct Source {
    pub text: String,
    pub file: Option<PathBuf>,
}

impl Source {
    /// The scene for who has none yet.
    pub fn built_in() -> Self {
        Self { text: LOTTO.to_owned(), file: None }
    }

    /// The scene file asked for, or the built-in scene.
    pub fn of(path: Option<&Path>) -> Result<Self, SceneError> {
        path.map_or_else(|| Ok(Self::built_in()), Self::read)
    }

    /// The scene file at a path.
    pub fn read(path: &Path) -> Result<Self, SceneError> {
        let told = |cause: std::io::Error| {
            let problem = match cause.kind() {
                std::io::ErrorKind::NotFound => Problem::general("there is no such file")
                    .help("`gluey new FILE` writes a scene to start from, `gluey run` alone runs a built-in one"),
                std::io::ErrorKind::IsADirectory => Problem::general("this is a folder, not a scene file"),
                std::io::ErrorKind::InvalidData => Problem::general("this is no text: a scene is TOML in UTF-8"),
                _ => Problem::general(format!("cannot be read: {cause}")),
            };
            SceneError::new(path, "", vec![problem])
        };
        let text = std::fs::read_to_string(path).map_err(told)?;
        Ok(Self { text, file: Some(path.to_owned()) })
    }

    /// The same with some values changed.
    pub fn with(self, changes: &[Override]) -> Result<Self> {
        Ok(Self { text: overrides::apply(&self.text, changes)?, ..self })
    }

    /// What messages call the scene, and what its files are relative to.
    pub fn path(&self) -> &Path {
        self.file.as_deref().unwrap_or(Path::new(LOTTO_FILE))
    }

    /// Reads and checks the scene.
    pub fn scene(&self) -> Result<Scene, SceneError> {
        Scene::parse(&self.text, self.path())
    }
}
