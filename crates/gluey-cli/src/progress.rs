//! The progress bar, on standard error and only where that is a terminal.

use std::time::{Duration, Instant};

use gluey::openings::Traffic;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::tally::Tally;
use crate::words::{count, number, size};

/// Writing figures more often than this costs time and cannot be read.
const PAUSE: Duration = Duration::from_millis(100);
const BAR: &str = "{prefix}  {bar:24}  {pos}/{len} steps  {elapsed} gone, {eta} left\n{msg}";

/// From which step to which.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub first: u64,
    pub last: u64,
}

/// A bar that shows how far a run has come.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    shown: Option<Instant>,
}

impl Progress {
    /// A bar with a name; nothing is drawn where nobody looks.
    pub fn new(name: &str, way: Way) -> Self {
        let bar = ProgressBar::with_draw_target(Some(way.last), ProgressDrawTarget::stderr());
        // The style is a constant that a test parses; without it the bar would be plain.
        if let Ok(style) = ProgressStyle::with_template(BAR) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.set_prefix(name.to_owned());
        bar.set_position(way.first);
        bar.reset_eta();
        Self { bar, shown: None }
    }

    /// No bar.
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), shown: None }
    }

    /// Shows how things stand after a step.
    pub fn show(&mut self, step: u64, time: f64, tally: &Tally) {
        if self.bar.is_hidden() || self.shown.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        self.shown = Some(Instant::now());
        self.bar.set_position(step);
        self.bar.set_message(figures(time, tally));
    }

    /// Takes the bar away: what it showed is in the summary.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Leaves the bar as it stands, for who has typed Ctrl-C: the terminal has written that below it, so that it can no
    /// longer be taken away whole.
    pub fn leave(&self) {
        if !self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::hidden());
            eprintln!();
        }
    }
}

fn figures(time: f64, tally: &Tally) -> String {
    let Traffic { entered, left, waiting } = tally.traffic;
    let traffic = match (entered.number, left.number, waiting) {
        (0, 0, 0) => String::new(),
        (entered, left, waiting) => format!("  {entered} in, {left} out, {waiting} waiting"),
    };
    format!(
        "t = {}{traffic}  {}  {} glued  {:.1} sweeps/step  worst overlap {} r",
        number(time),
        count(tally.contacts as u64, "contact"),
        tally.glued,
        tally.sweeps_per_step(),
        size(tally.worst_overlap),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_parses() {
        ProgressStyle::with_template(BAR).unwrap();
    }

    #[test]
    fn figures_can_be_read() {
        let tally = Tally { steps: 2, sweeps: 5, contacts: 1, glued: 1, worst_overlap: 3.21e-7, ..Tally::default() };
        assert_eq!(figures(0.1 + 0.2, &tally), "t = 0.3  1 contact  1 glued  2.5 sweeps/step  worst overlap 3.2e-7 r");
        let open = Tally { traffic: Traffic { waiting: 7, ..Traffic::default() }, ..tally };
        assert!(figures(1.0, &open).starts_with("t = 1  0 in, 0 out, 7 waiting  1 contact"));
    }
}
