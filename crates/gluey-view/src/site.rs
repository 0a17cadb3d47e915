//! What a server shows: runs, scenes, and the simulations of this process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::ViewError;
use crate::folder::RunFolder;
use crate::gallery::{run_card, runs, scene_card, scenes};
use crate::live::{Live, Moment, Order};

/// What is to be started.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// The scene that needs no file.
    BuiltIn,
    /// The scene in a file.
    Scene(&'a Path),
    /// The scene of a run, once more.
    Again(&'a Path),
}

/// Starts a scene and gives the folder of its run; what is wrong is told in words.
pub type Launch = Box<dyn Fn(Start) -> Result<(PathBuf, Arc<Live>), String> + Send + Sync>;

/// What is called the scene that needs no file.
const BUILT_IN: &str = "built-in";
/// How long a viewer waits for a new frame before it asks again.
const PATIENCE: Duration = Duration::from_secs(5);

/// All that a server can show.
pub struct Site {
    /// Folders in which scenes are looked for.
    scenes: Vec<PathBuf>,
    /// The folder in which runs are looked for.
    runs: PathBuf,
    /// The text of the built-in scene.
    built_in: &'static str,
    launch: Option<Launch>,
    /// Where the scene of a run was.
    scene_of: fn(&Path) -> Option<PathBuf>,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// Folders that were named, wherever they are.
    named: Vec<PathBuf>,
    lives: BTreeMap<String, Arc<Live>>,
    open: BTreeMap<String, Arc<RunFolder>>,
}

impl Site {
    /// A site of runs below a folder, and no scenes.
    #[must_use]
    pub fn new(runs: &Path, scene_of: fn(&Path) -> Option<PathBuf>) -> Self {
        Self {
            scenes: Vec::new(),
            runs: runs.to_owned(),
            built_in: "",
            launch: None,
            scene_of,
            shown: Mutex::default(),
        }
    }

    /// The same with scenes that can be started: those in folders, and a built-in one.
    #[must_use]
    pub fn with_scenes(self, folders: &[PathBuf], built_in: &'static str, launch: Launch) -> Self {
        Self { scenes: folders.to_vec(), built_in, launch: Some(launch), ..self }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run, wherever it is, and gives what requests call it.
    pub fn add(&self, folder: &Path, live: Option<Arc<Live>>) -> String {
        let folder: PathBuf = folder.components().collect(); // without a slash at its end
        let id = folder.display().to_string();
        let mut shown = self.shown();
        shown.open.remove(&id);
        if !shown.named.contains(&folder) {
            shown.named.push(folder);
        }
        if let Some(live) = live {
            shown.lives.insert(id.clone(), live);
        }
        id
    }

    /// The runs that can be asked for.
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders = runs(&self.runs);
        for named in &self.shown().named {
            if !folders.contains(named) {
                folders.push(named.clone());
            }
        }
        folders
    }

    fn live(&self, id: &str) -> Option<Arc<Live>> {
        self.shown().lives.get(id).map(Arc::clone)
    }

    /// The folder of a run; only runs that the gallery lists are opened, whatever a request says.
    fn run(&self, id: &str) -> Result<Arc<RunFolder>, ViewError> {
        if let Some(open) = self.shown().open.get(id) {
            return Ok(Arc::clone(open));
        }
        let listed = self.folders().into_iter().find(|folder| folder.display().to_string() == id);
        let folder = listed.ok_or_else(|| ViewError::NoRun(id.to_owned()))?;
        let open = Arc::new(RunFolder::open(&folder, (self.scene_of)(&folder).as_deref())?);
        self.shown().open.insert(id.to_owned(), Arc::clone(&open));
        Ok(open)
    }

    pub(crate) fn gallery(&self) -> Value {
        let phase = |id: &str| self.live(id).map(|live| live.status().phase.name());
        let card = |folder: PathBuf| {
            let id = folder.display().to_string();
            run_card(&id, &folder, phase(&id))
        };
        let built_in = (!self.built_in.is_empty()).then(|| scene_card(BUILT_IN, self.built_in, Path::new(BUILT_IN)));
        let files = self.scenes.iter().flat_map(|folder| scenes(folder)).filter_map(|path| {
            let text = std::fs::read_to_string(&path).ok()?;
            Some(scene_card(&path.display().to_string(), &text, &path))
        });
        let scenes: Vec<Value> = built_in.into_iter().chain(files).collect();
        json!({ "scenes": scenes, "runs": self.folders().into_iter().map(card).collect::<Vec<_>>() })
    }

    pub(crate) fn start(&self, scene: &str) -> Result<Value, ViewError> {
        let listed = |path: &PathBuf| path.display().to_string() == scene;
        let path = self.scenes.iter().flat_map(|folder| scenes(folder)).find(listed);
        match path.as_deref() {
            Some(path) => self.launch(Start::Scene(path)),
            None if scene == BUILT_IN => self.launch(Start::BuiltIn),
            None => Err(ViewError::Start(format!("there is no scene `{scene}` here"))),
        }
    }

    fn launch(&self, what: Start) -> Result<Value, ViewError> {
        let launch = self.launch.as_ref().ok_or_else(|| ViewError::Start("no scene can be started here".to_owned()))?;
        let (folder, live) = launch(what).map_err(ViewError::Start)?;
        Ok(json!({ "run": self.add(&folder, Some(live)) }))
    }

    /// Ends a run if it goes on here, and starts its scene anew in another folder.
    pub(crate) fn restart(&self, id: &str) -> Result<Value, ViewError> {
        let listed = self.folders().into_iter().find(|folder| folder.display().to_string() == id);
        let folder = listed.ok_or_else(|| ViewError::NoRun(id.to_owned()))?;
        let started = self.launch(Start::Again(&folder))?;
        if let Some(live) = self.live(id) {
            live.ask(Order::Stop);
        }
        Ok(started)
    }

    /// What is needed to draw a run.
    pub(crate) fn describe(&self, id: &str) -> Result<Value, ViewError> {
        let replaced = self.run(id)?.is_replaced();
        if replaced {
            self.shown().open.remove(id);
        }
        let mut description = self.run(id)?.description();
        description["run"] = json!(id);
        description["live"] = json!(self.live(id).is_some());
        Ok(description)
    }

    /// What has come since the page asked last: frames after a step, rows of the series from a byte on.
    pub(crate) fn progress(&self, id: &str, after: Option<u64>, bytes: u64) -> Result<Value, ViewError> {
        let run = self.run(id)?;
        let live = self.live(id);
        let mut listing = run.listing();
        if let Some(live) = &live {
            listing.stamps.extend(live.kept());
        }
        let new: Vec<(u64, f64)> =
            listing.stamps.iter().filter(|(step, _)| after.is_none_or(|after| *step > after)).copied().collect();
        let (rows, next) = run.series(bytes)?;
        let status = live.map(|live| {
            let status = live.status();
            let values: serde_json::Map<String, Value> =
                status.values.into_iter().map(|(key, setting)| (key, setting.json())).collect();
            json!({
                "phase": status.phase.name(), "step": status.step, "last": status.last, "message": status.message,
                "values": values,
            })
        });
        let changes = run.interventions()?;
        let change = |change: &gluey::trajectory::Intervention| json!({ "step": change.step, "time": change.time, "key": change.key, "value": change.value });
        Ok(json!({
            "frames": listing.stamps.len(),
            "steps": new.iter().map(|(step, _)| *step).collect::<Vec<_>>(),
            "times": new.iter().map(|(_, time)| *time).collect::<Vec<_>>(),
            "trouble": listing.trouble,
            "growing": listing.growing,
            "rows": rows,
            "bytes": next,
            "status": status,
            "changes": changes.iter().map(change).collect::<Vec<_>>(),
        }))
    }

    /// The frame of a step, as a record.
    pub(crate) fn frame(&self, id: &str, step: u64) -> Result<Vec<u8>, ViewError> {
        let kept = self.live(id).and_then(|live| live.moment(step));
        self.run(id)?.frame(step).or_else(|error| kept.map(|moment| moment.record.clone()).ok_or(error))
    }

    /// The newest frame of a live run, later than this number; none if there is no such in time.
    pub(crate) fn newest(&self, id: &str, after: u64) -> Result<Option<Arc<Moment>>, ViewError> {
        Ok(self.live(id).ok_or(ViewError::NotLive)?.newest(after, PATIENCE))
    }

    /// All of the series.
    pub(crate) fn series(&self, id: &str) -> Result<String, ViewError> {
        let run = self.run(id)?;
        let (mut text, mut from) = (String::new(), 0);
        loop {
            let (rows, next) = run.series(from)?;
            if rows.is_empty() {
                return Ok(text);
            }
            text.push_str(&rows);
            from = next;
        }
    }

    pub(crate) fn order(&self, id: &str, order: &Value) -> Result<Value, ViewError> {
        let text = |key: &str| order.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let order = match text("order").as_str() {
            "pause" => Order::Pause,
            "resume" => Order::Resume,
            "step" => Order::Step,
            "restart" => return self.restart(id),
            "change" => Order::Change { key: text("key"), value: text("value") },
            other => return Err(ViewError::Request(format!("`{other}` is no order"))),
        };
        let live = self.live(id).ok_or(ViewError::NotLive)?;
        if live.ask(order) { Ok(json!({})) } else { Err(ViewError::NotLive) }
    }
}
