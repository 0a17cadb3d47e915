//! `gluey paper`: what the paper shows, made again by commands of this program and put into one page.
//!
//! A section is a list of commands as one would type them in the folder of the report, so that the page can name what
//! it was made by. Which sections are done is kept in `progress.json`; a run that was stopped goes on from its
//! checkpoint.

mod progress;
mod report;
mod sections;

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use gluey::trajectory::{Checkpoint, TrajectoryError};

use crate::arguments::{Arguments, Command, PaperArguments, RunArguments};
use crate::run::set_threads;
use crate::signals::StopSignals;
use crate::words::duration;
use crate::{Answer, obey};
use progress::{Done, Progress};
use sections::{Extent, SCENES, Section};

/// The page.
const REPORT: &str = "report.html";

/// How a section ended.
enum Ending {
    Done(Done),
    /// A signal with this exit code came first.
    Stopped(u8),
}

/// Makes the report, or what is left of it.
pub fn paper(wishes: &PaperArguments) -> Result<Answer> {
    let extent = if wishes.quick { Extent::Quick } else { Extent::Complete };
    let all = sections::all(extent);
    let wanted = |section: &&Section| wishes.only.is_empty() || wishes.only.iter().any(|name| name == section.name);
    let sections: Vec<&Section> = all.iter().filter(wanted).collect();
    set_threads(wishes.threads)?;
    fs::create_dir_all(&wishes.out).with_context(|| format!("cannot make the folder {}", wishes.out.display()))?;
    // Commands stand in the report as they are run: in its folder.
    std::env::set_current_dir(&wishes.out).with_context(|| format!("cannot go to {}", wishes.out.display()))?;
    let mut progress =
        Progress::read_or_new(extent).map_err(|error| error.context(wishes.out.display().to_string()))?;
    write_scenes()?;
    let stop = StopSignals::listen().context("cannot listen to signals")?;
    let start = Instant::now();
    for (k, section) in sections.iter().enumerate() {
        if progress.has(section) {
            eprintln!("[{}/{}] {}: done before", k + 1, sections.len(), section.name);
            continue;
        }
        eprintln!("[{}/{}] {}", k + 1, sections.len(), section.name);
        match make(section, &stop).with_context(|| format!("section `{}`", section.name))? {
            Ending::Done(done) => progress.add(section, done)?,
            Ending::Stopped(code) => {
                let again = "The same command goes on from here.";
                return Ok(Answer { text: format!("stopped in section `{}`. {again}\n", section.name), code });
            }
        }
        report::write(REPORT.as_ref(), &all, &progress)?;
    }
    report::write(REPORT.as_ref(), &all, &progress)?;
    let (page, took) = (wishes.out.join(REPORT), duration(start.elapsed()));
    Ok(format!("{} of {} sections in {took}: {}\n", progress.count(), all.len(), page.display()).into())
}

/// The names of the sections, which help, errors and completions list.
pub fn names() -> Vec<&'static str> {
    sections::all(Extent::Quick).iter().map(|section| section.name).collect()
}

/// The scenes that the commands name.
fn write_scenes() -> Result<()> {
    fs::create_dir_all("scenes").context("cannot make the folder scenes")?;
    for (name, text) in SCENES {
        let path = Path::new("scenes").join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Runs the commands of a section one after the other.
fn make(section: &Section, stop: &StopSignals) -> Result<Ending> {
    let start = Instant::now();
    let mut told = Vec::new();
    for line in &section.commands {
        if let Some(code) = stop.asked() {
            return Ok(Ending::Stopped(code));
        }
        eprintln!("  {line}");
        let mut command = Arguments::try_parse_from(line.split_whitespace())
            .map_err(|error| anyhow!("the command `{line}` of this section is wrong: {error}"))?
            .command;
        if let Command::Run(run) = &mut command {
            go_on(run);
        }
        let answer = obey(&command).with_context(|| line.clone())?;
        match answer.code {
            0 => told.push(answer.text),
            code => return Ok(Ending::Stopped(code)),
        }
    }
    Ok(Ending::Done(Done { seconds: start.elapsed().as_secs_f64(), told }))
}

/// A run that has a checkpoint goes on from it; one that was killed before the first starts again.
fn go_on(run: &mut RunArguments) {
    let Some(folder) = &run.out else { return };
    match Checkpoint::latest(folder) {
        Ok(_) => run.resume = true,
        Err(TrajectoryError::NoCheckpoint { .. }) => run.overwrite = true,
        Err(_) => {} // running it tells what is wrong
    }
}
