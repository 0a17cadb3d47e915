//! What a simulation and its viewers share: the newest frame one way, orders the other.
//!
//! The loop asks with one atomic read whether anybody waits. Who waits gets the newest frame there is; frames that
//! nobody asked for in time were never made.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Frames are made at most this often.
const PAUSE: Duration = Duration::from_millis(33);
/// Bytes of past frames that are kept where no folder keeps them.
const MEMORY: usize = 64 << 20;

/// A wish of somebody who watches.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Take no more steps for now.
    Pause,
    /// Go on.
    Resume,
    /// Take one step, then pause.
    Step,
    /// Give a key of the scene (with dots) another value, as the scene would write it.
    Change {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// End the run, with a checkpoint.
    Stop,
}

/// What a simulation is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Taking steps.
    #[default]
    Running,
    /// Waiting for a viewer to say go on.
    Paused,
    /// It reached its end.
    Finished,
    /// Someone stopped it.
    Stopped,
    /// A step could not be taken.
    Failed,
}

impl Phase {
    /// As the page spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

/// How a simulation stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// Steps taken.
    pub step: u64,
    /// The step at which it ends.
    pub last: u64,
    /// What went wrong, or why an order could not be obeyed.
    pub message: Option<String>,
    /// Values that can be changed, by their keys.
    pub values: Vec<(String, Setting)>,
}

/// What a scene says about a value that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// It is this, as a scene writes it.
    Constant(String),
    /// It changes in time or space.
    Varies,
    /// Nothing.
    Absent,
}

impl Setting {
    /// As the page reads it.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Self::Constant(value) => serde_json::json!({ "value": value, "varies": false }),
            Self::Varies | Self::Absent => serde_json::json!({ "value": null, "varies": *self == Self::Varies }),
        }
    }
}

/// A frame as it is sent.
#[derive(Debug)]
pub(crate) struct Moment {
    /// Counts frames made, from 1.
    pub(crate) number: u64,
    pub(crate) step: u64,
    pub(crate) time: f64,
    pub(crate) record: Vec<u8>,
}

/// A simulation that can be watched.
#[derive(Debug)]
pub struct Live {
    /// Viewers that wait for a frame.
    waiting: AtomicUsize,
    inner: Mutex<Inner>,
    /// A frame or a phase is new.
    news: Condvar,
    /// An order has come.
    asked: Condvar,
}

#[derive(Debug)]
struct Inner {
    moments: VecDeque<Arc<Moment>>,
    /// Whether past frames are kept.
    keeps: bool,
    made: Option<Instant>,
    orders: VecDeque<Order>,
    status: Status,
}

impl Inner {
    fn phase(&self) -> Phase {
        self.status.phase
    }
}

impl Live {
    /// A simulation about to start. Past frames are kept here, up to some, if no folder `stores` them.
    #[must_use]
    pub fn new(stores: bool) -> Self {
        let inner = Inner {
            moments: VecDeque::new(),
            keeps: !stores,
            made: None,
            orders: VecDeque::new(),
            status: Status::default(),
        };
        Self { waiting: AtomicUsize::new(0), inner: Mutex::new(inner), news: Condvar::new(), asked: Condvar::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Whoever panicked left whole values: each change is one assignment.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a frame of this step is wanted now.
    pub fn wants(&self, step: u64) -> bool {
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let inner = self.inner();
        let shown = inner.moments.back().is_some_and(|moment| moment.step == step);
        !shown && inner.made.is_none_or(|made| made.elapsed() >= PAUSE)
    }

    /// Hands out a frame.
    pub fn publish(&self, step: u64, time: f64, record: Vec<u8>) {
        let mut inner = self.inner();
        let number = inner.moments.back().map_or(0, |moment| moment.number) + 1;
        inner.moments.push_back(Arc::new(Moment { number, step, time, record }));
        inner.made = Some(Instant::now());
        let mut bytes: usize = inner.moments.iter().map(|moment| moment.record.len()).sum();
        while inner.moments.len() > 1 && (!inner.keeps || bytes > MEMORY) {
            bytes -= inner.moments.pop_front().map_or(0, |moment| moment.record.len());
        }
        self.news.notify_all();
    }

    /// Changes how the simulation stands.
    pub fn update(&self, change: impl FnOnce(&mut Status)) {
        let mut inner = self.inner();
        let before = inner.phase();
        change(&mut inner.status);
        // Who waits is woken only for what they wait for: this is called in every step.
        if inner.phase() != before {
            self.news.notify_all();
        }
    }

    /// How the simulation stands.
    #[must_use]
    pub fn status(&self) -> Status {
        self.inner().status.clone()
    }

    /// The next order, if there is one.
    pub fn order(&self) -> Option<Order> {
        self.inner().orders.pop_front()
    }

    /// Waits for an order, but not longer than this.
    pub fn wait(&self, longest: Duration) {
        let inner = self.inner();
        let nothing = |inner: &mut Inner| inner.orders.is_empty();
        drop(self.asked.wait_timeout_while(inner, longest, nothing));
    }

    /// Takes an order from a viewer, unless the simulation has ended.
    pub(crate) fn ask(&self, order: Order) -> bool {
        let mut inner = self.inner();
        let open = matches!(inner.status.phase, Phase::Running | Phase::Paused);
        if open {
            inner.status.message = None;
            inner.orders.push_back(order);
            self.asked.notify_all();
        }
        open
    }

    /// The newest frame with a number greater than `after`; none if there is no such in time.
    pub(crate) fn newest(&self, after: u64, longest: Duration) -> Option<Arc<Moment>> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let late = |inner: &mut Inner| {
            let there = inner.moments.back().is_some_and(|moment| moment.number > after);
            !there && matches!(inner.status.phase, Phase::Running | Phase::Paused)
        };
        let inner = self.news.wait_timeout_while(self.inner(), longest, late).unwrap_or_else(PoisonError::into_inner).0;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        inner.moments.back().filter(|moment| moment.number > after).map(Arc::clone)
    }

    /// Step and time of the frames kept here, where no folder stores them.
    pub(crate) fn kept(&self) -> Vec<(u64, f64)> {
        let inner = self.inner();
        let kept = inner.moments.iter().filter(|_| inner.keeps);
        kept.map(|moment| (moment.step, moment.time)).collect()
    }

    /// The frame of a step, if it is kept here.
    pub(crate) fn moment(&self, step: u64) -> Option<Arc<Moment>> {
        self.inner().moments.iter().find(|moment| moment.step == step).map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_wanted_only_while_someone_waits() {
        let live = Arc::new(Live::new(true));
        assert!(!live.wants(1));
        let watcher = {
            let live = Arc::clone(&live);
            std::thread::spawn(move || live.newest(0, Duration::from_secs(20)).map(|moment| moment.step))
        };
        while !live.wants(7) {
            std::thread::yield_now();
        }
        live.publish(7, 0.7, vec![1]);
        assert_eq!(watcher.join().unwrap(), Some(7));
        assert!(!live.wants(8));
        assert!(live.newest(1, Duration::from_millis(1)).is_none());
        assert_eq!(live.newest(0, Duration::ZERO).unwrap().time, 0.7, "a late viewer sees what there is");
    }

    #[test]
    fn memory_is_bounded_and_only_used_where_no_folder_stores() {
        for (stores, kept) in [(true, 0), (false, 3)] {
            let live = Live::new(stores);
            for step in 0..5 {
                live.publish(step, 0.0, vec![0; MEMORY / 3]);
            }
            assert_eq!(live.kept().len(), kept);
            assert_eq!(live.moment(4).unwrap().number, 5);
            assert!(live.moment(0).is_none());
        }
    }

    #[test]
    fn orders_come_in_turn_while_it_runs() {
        let live = Live::new(true);
        assert!(live.ask(Order::Pause) && live.ask(Order::Step));
        live.wait(Duration::from_mins(1)); // returns at once
        assert_eq!((live.order(), live.order(), live.order()), (Some(Order::Pause), Some(Order::Step), None));
        live.update(|status| status.phase = Phase::Failed);
        assert!(!live.ask(Order::Resume));
        assert!(live.newest(0, Duration::from_mins(1)).is_none(), "nobody waits for what has ended");
    }
}
