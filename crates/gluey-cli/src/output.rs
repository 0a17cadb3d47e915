//! Tables and figures in files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use gluey_plot::Figure;

use crate::words::number;

/// A table: names of its columns, and rows.
pub struct Table {
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<Cell>>,
}

/// An entry of a table.
#[derive(Clone)]
pub enum Cell {
    Number(f64),
    Words(String),
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

/// The table as CSV; numbers have 17 significant digits, which a reader turns back into the same f64.
pub fn csv_text(table: &Table) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&table.columns)?;
    for row in &table.rows {
        writer.write_record(row.iter().map(|cell| match cell {
            Cell::Number(value) if value.is_finite() => format!("{:.16e}", value + 0.0),
            Cell::Number(value) => value.to_string(),
            Cell::Words(words) => words.clone(),
        }))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// The folder of a study.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    pub fn table(&self, name: &str, table: &Table) -> Result<()> {
        write(&self.0.join(format!("{name}.csv")), csv_text(table)?.as_bytes())
    }

    pub fn figure(&self, name: &str, figure: &Figure) -> Result<()> {
        write_figure(&self.0.join(name), figure)
    }

    /// A table for people, and where all is.
    pub fn told(&self, table: &Table) -> String {
        let short = |cell: &Cell| match cell {
            Cell::Number(value) => number(*value),
            Cell::Words(words) => words.clone(),
        };
        let mut lines: Vec<Vec<String>> = vec![table.columns.iter().map(|&name| name.to_owned()).collect()];
        lines.extend(table.rows.iter().map(|row| row.iter().map(short).collect()));
        let widths: Vec<usize> = (0..table.columns.len())
            .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for line in lines {
            let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
            text += cells.join("  ").trim_end();
            text += "\n";
        }
        format!("{text}results in {}\n", self.0.display())
    }
}

/// Writes a figure as NAME.svg and NAME.png.
pub fn write_figure(name: &Path, figure: &Figure) -> Result<()> {
    let with = |ending: &str| {
        let mut path = name.as_os_str().to_owned();
        path.push(ending);
        PathBuf::from(path)
    };
    write(&with(".svg"), figure.svg()?.as_bytes())?;
    write(&with(".png"), &figure.png()?)
}

pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
