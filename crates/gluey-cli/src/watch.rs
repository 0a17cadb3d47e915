//! Who watches a run, and what they may do to it between steps: pause it, change a value of its scene, end it.
//!
//! A change is one of the scene's text, read and checked as a whole; the environment and the contact law of the new
//! scene take the place of the old ones. What was changed is kept with the run, and repeated when it is resumed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use gluey::scene::Scene;
use gluey::simulation::Simulation;
use gluey::trajectory::{Intervention, TrajectoryError};
use gluey_view::{Live, Order, Phase, Setting};
use toml_edit::DocumentMut;

use crate::UsageError;
use crate::overrides::{self, Override};
use crate::signals::StopSignals;
use gluey::logbook::Logbook;

/// How long a paused run waits before it looks for signals again.
const NAP: Duration = Duration::from_millis(50);
/// The values that can be changed while a run goes on: those that `put` hands to it.
const VALUES: [&str; 2] = ["environment.gravity", "contact.law.gluey.gamma_min"];

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heed {
    GoOn,
    Stop,
}

/// Who watches a run, if anybody may, and what was changed.
#[derive(Debug)]
pub struct Watch {
    live: Option<Arc<Live>>,
    /// The scene as it is now, and what messages call it.
    text: String,
    path: PathBuf,
    pub changes: Vec<Intervention>,
    paused: bool,
}

impl Watch {
    /// Nobody watches a run of this scene yet.
    pub fn new(text: &str, path: &Path) -> Self {
        Self { live: None, text: text.to_owned(), path: path.to_owned(), changes: Vec::new(), paused: false }
    }

    /// From now on the run can be watched.
    pub fn attach(&mut self, live: Arc<Live>, last: u64) {
        let values = values(&self.text);
        live.update(|status| (status.last, status.values) = (last, values));
        self.live = Some(live);
    }

    /// Makes the changes again that the run in a folder has had; later ones than its state are gone with their steps.
    pub fn repeat(&mut self, simulation: &mut Simulation, folder: &Path) -> Result<()> {
        let mut changes = Intervention::read(folder)?;
        let all = changes.len();
        changes.retain(|change| change.step <= simulation.state.step);
        for change in &changes {
            self.text = self.changed(&change.key, &change.value)?.0;
        }
        if !changes.is_empty() {
            put(Scene::parse(&self.text, &self.path)?, simulation);
        }
        if changes.len() < all {
            Intervention::write(&changes, folder)?;
        }
        self.changes = changes;
        Ok(())
    }

    /// Obeys orders; while the run is paused it waits here for more, or for a signal.
    pub fn heed(&mut self, simulation: &mut Simulation, logbook: &Logbook, stop: &StopSignals) -> Result<Heed> {
        let Some(live) = self.live.clone() else { return Ok(Heed::GoOn) };
        loop {
            while let Some(order) = live.order() {
                match order {
                    Order::Pause => self.paused = true,
                    Order::Resume => self.paused = false,
                    Order::Step => {
                        self.paused = true;
                        return Ok(Heed::GoOn);
                    }
                    Order::Stop => return Ok(Heed::Stop),
                    Order::Change { key, value } => {
                        let trouble = self.change(&key, &value, simulation, logbook)?;
                        let values = values(&self.text);
                        live.update(|status| (status.values, status.message) = (values, trouble));
                    }
                }
            }
            let phase = if self.paused { Phase::Paused } else { Phase::Running };
            live.update(|status| status.phase = phase);
            if !self.paused || stop.asked().is_some() {
                return Ok(Heed::GoOn);
            }
            self.show(simulation, logbook);
            live.wait(NAP);
        }
    }

    /// Hands out the present frame if somebody waits for it.
    pub fn show(&self, simulation: &Simulation, logbook: &Logbook) {
        let Some(live) = &self.live else { return };
        let step = simulation.state.step;
        live.update(|status| status.step = step);
        if live.wants(step) {
            // A frame too large to be sent is not shown; the run goes on.
            if let Ok(record) = logbook.compact_frame(simulation) {
                live.publish(step, simulation.time(), record);
            }
        }
    }

    /// Changes a value from the present step on. What is wrong with it is for who asked; an error is that the change
    /// cannot be kept, and with it the run is not what its folder says.
    fn change(
        &mut self,
        key: &str,
        value: &str,
        simulation: &mut Simulation,
        logbook: &Logbook,
    ) -> Result<Option<String>, TrajectoryError> {
        let (text, scene) = match self.changed(key, value) {
            Ok(changed) => changed,
            Err(error) => return Ok(Some(format!("{error:#}"))),
        };
        let (step, time) = (simulation.state.step, simulation.time());
        self.changes.push(Intervention { step, time, key: key.to_owned(), value: value.to_owned() });
        Intervention::write(&self.changes, logbook.folder())?;
        self.text = text;
        put(scene, simulation);
        Ok(None)
    }

    /// The scene with another value, of those that can change while a run goes on.
    fn changed(&self, key: &str, value: &str) -> Result<(String, Scene)> {
        let change: Override = format!("{key}={value}").parse().map_err(UsageError)?;
        if !VALUES.contains(&key) {
            let those = VALUES.map(|key| format!("`{key}`")).join(" and ");
            return Err(UsageError(format!("`{key}` cannot change while a run goes on, only {those} can")).into());
        }
        let text = overrides::apply(&self.text, &[change])?;
        let scene = Scene::parse(&text, &self.path)?;
        Ok((text, scene))
    }
}

/// Puts the environment and the contact law of a scene in the place of the present ones.
fn put(scene: Scene, simulation: &mut Simulation) {
    simulation.environment = scene.simulation.environment;
    simulation.adhesion = scene.simulation.adhesion;
}

/// What can be changed, with what the scene says now.
fn values(text: &str) -> Vec<(String, Setting)> {
    let document: DocumentMut = text.parse().unwrap_or_default();
    let item = |key: &str| key.split('.').try_fold(document.as_item(), |item, part| item.get(part));
    let setting = |key: &str| {
        let Some(item) = item(key) else { return Setting::Absent };
        let Some(mut value) = item.as_value().cloned() else { return Setting::Varies };
        value.decor_mut().clear(); // no comments
        let text = value.to_string();
        // Tables and expressions.
        if text.contains(['{', '"', '\'']) { Setting::Varies } else { Setting::Constant(text) }
    };
    let gluey = |key: &&str| !key.starts_with("contact.law.gluey") || item("contact.law.gluey").is_some();
    VALUES.into_iter().filter(gluey).map(|key| (key.to_owned(), setting(key))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_changed_depends_on_the_scene() {
        let found = |text: &str| values(text).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        let constant = "[environment]\ngravity = [0, -10] # down\n[contact.law.gluey]\ngamma_min = -1\n";
        let constants = ["[0, -10]", "-1"].map(|value| Setting::Constant(value.to_owned()));
        assert_eq!(found(constant), constants);
        assert_eq!(found("contact.law = 'inelastic'\nenvironment.gravity = ['t', 0]"), [Setting::Varies]);
        assert_eq!(found("environment.gravity.steps = { times = [] }"), [Setting::Varies]);
        assert_eq!(found("[contact.law.gluey]"), [Setting::Absent, Setting::Absent]);
    }

    #[test]
    fn only_what_takes_effect_changes_and_only_to_what_a_scene_may_say() {
        let text = crate::source::LOTTO;
        let watch = Watch::new(text, Path::new("lotto.toml"));
        watch.changed("environment.gravity", "[1, 2]").unwrap();
        watch.changed("contact.law.gluey.gamma_min", "-inf").unwrap();
        let told = |key, value| watch.changed(key, value).err().map(|error| error.to_string()).unwrap_or_default();
        for key in ["time.dt", "contact.law", "contact.law.gluey.friction", "environment.drag", "environment"] {
            assert!(told(key, "1").contains("cannot change while a run goes on, only `environment.gravity`"), "{key}");
        }
        assert!(
            told("environment.gravity", "[1, 2, 3]").contains("lotto.toml:"),
            "{}",
            told("environment.gravity", "[1, 2, 3]")
        );
        assert!(told("contact.law.gluey.gamma_min", "3").contains("lotto.toml:"));
    }
}
