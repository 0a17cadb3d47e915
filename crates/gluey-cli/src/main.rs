//! The command `gluey`: run, check and look at simulations of gluey particles.
//!
//! Exit codes: 0 done; 1 failed; 2 bad usage or bad scene; 130 stopped by SIGINT, 143 by SIGTERM, both with a
//! checkpoint.
//!
//! `arguments` has what can be asked for, and each command is a module of its name (`gluey stokes` is `fluid`, `gluey
//! new` is `starter`) that returns the text to print. Beside them: `source` (the text of a scene) and `overrides`
//! (`--set`); `progress`, `signals`, `tally` and `summary` of a run, `watch` (what viewers may do to it between steps),
//! `run_names`, `host` (facts on the machine), `memory`; `measured` (the measures of `info`); `force`, `pair_forces`
//! and `metric` (what `check` says of them); `output` (tables and figures in files); `words` (numbers for people).

mod arguments;
mod check;
mod fluid;
mod force;
mod host;
mod info;
mod measure;
mod measured;
mod memory;
mod metric;
mod output;
mod overrides;
mod pack;
mod pair_forces;
mod paper;
mod plane;
mod progress;
mod project;
mod render;
mod run;
mod run_names;
mod signals;
mod source;
mod starter;
mod summary;
mod tally;
mod view;
mod watch;
mod words;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser};
use gluey::plane::PlaneError;
use gluey::scene::{Scene, SceneError};
use gluey_fluid::FluidError;
use stokes::StokesError;

use arguments::{Arguments, Command};

/// What a command has to say, and the code it ends with.
struct Answer {
    text: String,
    code: u8,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, code: 0 }
    }
}

/// What was asked for makes no sense, though each option does.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    // Pictures and the fluid take the same large buffers again and again: fresh pages would cost a quarter of their
    // time.
    if !matches!(command, Command::Render(_) | Command::Stokes(_) | Command::Paper(_)) {
        memory::return_large_buffers();
    }
    // Where it cannot be so, a file that grows too large ends the process, as it ends others.
    let _ = signals::outlive_file_limit();
    match obey(&command).and_then(|answer| say(&answer)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => complain(&error),
    }
}

fn obey(command: &Command) -> Result<Answer> {
    match command {
        Command::Run(wishes) => run::run(wishes),
        Command::Check(wishes) => check::check(wishes).map(Answer::from),
        Command::New { file } => starter::write(file).map(Answer::from),
        Command::Info(wishes) => info::info(wishes),
        Command::Render(wishes) => render::render(wishes).map(Answer::from),
        Command::View(wishes) => view::view(wishes),
        Command::Measure(wishes) => measure::measure(wishes).map(Answer::from),
        Command::Pack(wishes) => pack::pack(wishes).map(Answer::from),
        Command::Paper(wishes) => paper::paper(wishes),
        Command::Plane(wishes) => plane::plane(wishes).map(Answer::from),
        Command::Project(wishes) => project::project(wishes),
        Command::Stokes(wishes) => fluid::stokes(wishes).map(Answer::from),
        Command::Completions { shell } => Ok(completions(*shell).into()),
        Command::Schema => Ok(format!("{}\n", Scene::schema()).into()),
    }
}

fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "gluey", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Prints an answer; a reader that has seen enough (`gluey info RUN | head -1`) is no failure.
fn say(answer: &Answer) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    match out.write_all(answer.text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(answer.code),
    }
}

fn complain(error: &anyhow::Error) -> ExitCode {
    let scene = error.downcast_ref::<SceneError>();
    let message = match scene.map(|scene| scene.problems.len()) {
        Some(count) if count > 1 => format!("error: the scene has {count} problems\n\n{error}\n"),
        _ => format!("error: {error:#}\n"),
    };
    // Where nobody can read the message, the code still tells.
    let _ = std::io::stderr().write_all(message.as_bytes());
    let bad_input = scene.is_some()
        || error.is::<UsageError>()
        || error.downcast_ref::<PlaneError>().is_some_and(PlaneError::is_bad_input)
        || error.downcast_ref::<FluidError>().is_some_and(FluidError::is_bad_input)
        || error.downcast_ref::<StokesError>().is_some_and(StokesError::is_bad_input);
    ExitCode::from(if bad_input { 2 } else { 1 })
}
