//! `gluey view` and `gluey run --view`: a page to watch, and simulations in threads of their own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use gluey::scene::{Scene, steps_until};
use gluey::trajectory::{Format, Manifest};
use gluey_view::{Live, Phase, Server, Site, Start};

use crate::arguments::{RunArguments, ViewArguments};
use crate::progress::Progress;
use crate::run::{Ending, RUNS, Run, set_threads};
use crate::signals::StopSignals;
use crate::source::{LOTTO, Source};
use crate::{Answer, host};

/// Where scenes are looked for.
const SCENES: [&str; 2] = [".", "scenes"];
/// How often a process that only serves looks for signals.
const NAP: Duration = Duration::from_millis(50);

/// The runs that viewers started.
type Threads = Arc<Mutex<Vec<JoinHandle<()>>>>;

/// Serves the page until a signal comes; that is the way to end it, and no failure.
pub fn view(wishes: &ViewArguments) -> Result<Answer> {
    set_threads(wishes.threads)?;
    if let Some(run) = &wishes.run {
        Manifest::read(&run.join("manifest.toml"))?;
    }
    let stop = StopSignals::listen().context("cannot listen to signals")?;
    let stage = Stage::open(wishes.listen.as_deref(), &stop)?;
    let url = match &wishes.run {
        Some(run) => stage.server.url_of(&stage.site.add(run, None)),
        None => stage.server.url(),
    };
    announce(&url, &stage.server)?;
    stage.serve(&stop);
    Ok(String::new().into())
}

/// Runs a scene that can be watched, and goes on serving when it is over.
pub fn run(mut run: Run, wishes: &RunArguments) -> Result<Answer> {
    let stop = StopSignals::listen().context("cannot listen to signals")?;
    let stage = Stage::open(wishes.listen.as_deref(), &stop)?;
    let live = Arc::new(Live::new(stores(&run.scene)));
    let id = stage.site.add(run.logbook.folder(), Some(Arc::clone(&live)));
    announce(&stage.server.url_of(&id), &stage.server)?;
    let last = steps_until(wishes.until.unwrap_or(run.scene.until), run.scene.simulation.settings.dt);
    run.watch.attach(Arc::clone(&live), last);
    let answer = run.complete(wishes, &stop);
    close(&live, &answer);
    if stop.asked().is_some() {
        stage.serve(&stop);
        return answer;
    }
    let code = match answer {
        Ok(Answer { text, code }) => {
            print(&text)?;
            code
        }
        Err(error) => {
            print(&format!("error: {error:#}\n"))?;
            1
        }
    };
    print(&format!("\nThe page stays at {} until Ctrl-C\n", stage.server.url()))?;
    drop(run);
    stage.serve(&stop);
    Ok(Answer { text: String::new(), code })
}

/// A server and what it shows.
struct Stage {
    server: Server,
    site: Arc<Site>,
    threads: Threads,
}

impl Stage {
    fn open(listen: Option<&str>, stop: &StopSignals) -> Result<Self> {
        let threads = Threads::default();
        let site = Site::new(Path::new(RUNS), host::scene_path);
        let (started, stop) = (Arc::clone(&threads), stop.clone());
        let launch = move |what: Start| {
            let (run, live) = start(what).map_err(|error| format!("{error:#}"))?;
            let folder = run.logbook.folder().to_owned();
            let (own, stop) = (Arc::clone(&live), stop.clone());
            let job = move || go(run, &own, &stop);
            let thread = thread::Builder::new().spawn(job);
            let thread = thread.map_err(|error| format!("this machine starts no thread for the run: {error}"))?;
            started.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
            Ok((folder, live))
        };
        let site = Arc::new(site.with_scenes(&SCENES.map(PathBuf::from), LOTTO, Box::new(launch)));
        let server = Server::start(Arc::clone(&site), listen)?;
        Ok(Self { server, site, threads })
    }

    /// Waits for a signal, then for the runs, which heed it too.
    fn serve(&self, stop: &StopSignals) {
        while stop.asked().is_none() {
            thread::sleep(NAP);
        }
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join(); // a panic has told about itself
        }
    }
}

/// A run that a viewer asked for, in a folder of its own.
fn start(what: Start) -> Result<(Run, Arc<Live>)> {
    let source = match what {
        Start::BuiltIn => Source::built_in(),
        Start::Scene(path) => Source::read(path)?,
        Start::Again(folder) => {
            let text = Manifest::read(&folder.join("manifest.toml"))?.info.scene_text;
            Source { text, file: host::scene_path(folder) }
        }
    };
    let mut run = Run::start_anew(&source)?;
    let live = Arc::new(Live::new(stores(&run.scene)));
    let last = run.scene.steps();
    run.watch.attach(Arc::clone(&live), last);
    Ok((run, live))
}

fn go(mut run: Run, live: &Live, stop: &StopSignals) {
    let last = run.scene.steps();
    let ending = run.advance(last, stop, &mut Progress::hidden());
    let code = |ending: Ending| if let Ending::Stopped(code) = ending { code } else { 0 };
    close(live, &ending.map(|ending| Answer { text: String::new(), code: code(ending) }));
}

/// Tells viewers how a run ended.
fn close(live: &Live, answer: &Result<Answer>) {
    live.update(|status| match answer {
        Ok(_) if status.step >= status.last => status.phase = Phase::Finished,
        Ok(_) => status.phase = Phase::Stopped,
        Err(error) => (status.phase, status.message) = (Phase::Failed, Some(format!("{error:#}"))),
    });
}

/// Whether the folder of a run keeps frames that viewers can be given.
fn stores(scene: &Scene) -> bool {
    scene.output.formats.iter().any(Format::is_read_back)
}

fn announce(url: &str, server: &Server) -> Result<()> {
    print(&format!("Watch at {url}\n"))?;
    match server.warning() {
        Some(warning) => print(&format!("warning: {warning}\n")),
        None => Ok(()),
    }
}

/// Says something before the end; a reader that has seen enough is no failure.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
