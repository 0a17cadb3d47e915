//! What was changed by hand while a run went on: `interventions.csv`, which only a run that was touched has.
//!
//! A row says that from this step on the scene had another value. A run with rows is no longer a function of its scene
//! alone, but still one of scene and rows: whoever goes on with it applies them first.

use std::fs;
use std::io;
use std::path::Path;

use super::TrajectoryError;
use super::files::{Durable, write_whole};

pub(super) const FILE: &str = "interventions.csv";

/// A value of the scene that was changed while the run went on.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervention {
    /// Steps taken before it.
    pub step: u64,
    /// Time tⁿ then (time).
    pub time: f64,
    /// The key of the scene, with dots.
    pub key: String,
    /// Its new value, as the scene would write it.
    pub value: String,
}

impl Intervention {
    /// What was changed in the run in a folder, in order. Where nothing was there is no file.
    pub fn read(folder: &Path) -> Result<Vec<Self>, TrajectoryError> {
        let path = folder.join(FILE);
        let text = match fs::read(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.map_err(TrajectoryError::io("read", &path))?,
        };
        let damaged = |reason: String| TrajectoryError::Damaged { path: path.clone(), reason };
        let mut rows = Vec::new();
        for row in csv::Reader::from_reader(&text[..]).into_records() {
            let row = row.map_err(|error| damaged(error.to_string()))?;
            let cell = |k: usize| row.get(k).unwrap_or_default();
            let numbers = (cell(0).parse(), cell(1).parse());
            let (Ok(step), Ok(time)) = numbers else { return Err(damaged(format!("{row:?} is no intervention"))) };
            rows.push(Self { step, time, key: cell(2).to_owned(), value: cell(3).to_owned() });
        }
        Ok(rows)
    }

    /// Writes what was changed, in place of what the folder has; of nothing there is no file.
    pub fn write(rows: &[Self], folder: &Path) -> Result<(), TrajectoryError> {
        let path = folder.join(FILE);
        if rows.is_empty() {
            return super::files::remove(&path);
        }
        write_whole(&path, Durable::Now, |out| {
            writeln!(out, "step,time,key,value")?;
            let mut writer = csv::Writer::from_writer(out);
            for Self { step, time, key, value } in rows {
                writer.write_record([&step.to_string(), &format!("{time:.16e}"), key, value])?;
            }
            writer.flush()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back_and_nothing_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Intervention::read(folder.path()).unwrap(), []);
        let row = |step, key: &str, value: &str| Intervention {
            step,
            time: 0.1 * step as f64,
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let rows = [row(3, "environment.gravity", "[0, -1.5]"), row(9, "contact.law.gluey.gamma_min", "-inf")];
        Intervention::write(&rows, folder.path()).unwrap();
        assert_eq!(Intervention::read(folder.path()).unwrap(), rows);
        Intervention::write(&[], folder.path()).unwrap();
        assert!(!folder.path().join(FILE).exists());
        fs::write(folder.path().join(FILE), "step,time,key,value\nx,1,a,b\n").unwrap();
        assert!(Intervention::read(folder.path()).unwrap_err().to_string().contains("damaged"));
    }
}
