//! The connections that are open, and who has to go where there is no room for one more.
//!
//! Whoever waits for nothing from the server can be spared: a browser opens a connection anew when it needs it. So when
//! all places are taken, the connection that has stood still longest gives up its own. One whose request is being
//! answered stands still only when nobody takes the answer.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Connections at the same time; a browser opens six.
const MOST: usize = 96;
/// How long every connection may stand still: a request that was sent at once is read by then.
const SPARED: Duration = Duration::from_millis(250);
/// The same of one whose answer is on its way: the next piece of it is taken by then.
const STALLED: Duration = Duration::from_secs(2);
/// How much later the turn comes of one that has been answered: a page asks again within this time.
const KNOWN: Duration = Duration::from_secs(10);
/// How long somebody new waits for a place.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often is looked whether somebody has stood still for long enough.
const GLANCE: Duration = Duration::from_millis(50);
/// How long fewer connections are taken after the process could open no more files, how many fewer (answers open files,
/// too), and how long is waited before the next is accepted.
const SHORTAGE: Duration = Duration::from_secs(10);
const FEWER: usize = 6;
const PAUSE: Duration = Duration::from_millis(200);

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It has not made a whole request yet.
    Opening,
    /// It may make another one.
    Resting,
    /// Its request is being answered.
    Asking,
    /// It is taking an answer.
    Taking,
}

/// The connections that are open.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    inner: Mutex<Inner>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    open: BTreeMap<u64, Connection>,
    /// Of the next one.
    number: u64,
    /// How many there may be until when, where the process could open no more files.
    fewer: Option<(usize, Instant)>,
}

#[derive(Debug)]
struct Connection {
    stream: Arc<TcpStream>,
    doing: Doing,
    /// Since when it has done nothing else.
    since: Instant,
    /// Whether it was ended from here, and only its thread is left.
    ended: bool,
}

impl Connection {
    /// When its turn to go has come, compared with others; none if it must not.
    fn turn(&self, now: Instant) -> Option<Instant> {
        let (spared, known) = match self.doing {
            Doing::Opening => (SPARED, Duration::ZERO),
            Doing::Resting => (SPARED, KNOWN),
            Doing::Taking => (STALLED, KNOWN),
            Doing::Asking => return None,
        };
        let may_go = !self.ended && now >= self.since + spared;
        may_go.then(|| self.since + known)
    }
}

impl Inner {
    fn most(&self, now: Instant) -> usize {
        self.fewer.filter(|(_, until)| now < *until).map_or(MOST, |(most, _)| most)
    }

    /// Ends the connection that has stood still longest; false if all must stay.
    fn end_one(&mut self) -> bool {
        let now = Instant::now();
        let turns = self.open.values_mut().filter_map(|open| Some((open.turn(now)?, open)));
        let Some((_, open)) = turns.min_by_key(|(turn, _)| *turn) else { return false };
        open.ended = true;
        let _ = open.stream.shutdown(Shutdown::Both); // wakes its thread; one that is gone already is gone
        true
    }

    /// Connections that do not only wait for their threads to end.
    fn staying(&self) -> usize {
        self.open.values().filter(|open| !open.ended).count()
    }
}

/// The place of a connection, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    among: Arc<Connections>,
    number: u64,
    stream: Arc<TcpStream>,
}

impl Connections {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Whoever panicked left whole values: each change is one of a single place.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection. None if all are taken by those that must stay.
    pub(crate) fn place(self: &Arc<Self>, stream: &Arc<TcpStream>) -> Option<Place> {
        let end = Instant::now() + PATIENCE;
        let mut inner = self.inner();
        loop {
            let now = Instant::now();
            let most = inner.most(now);
            if inner.open.len() < most {
                break;
            }
            if now >= end {
                return None;
            }
            if inner.staying() >= most {
                inner.end_one();
            }
            inner = self.wait(inner, GLANCE);
        }
        let number = inner.number;
        inner.number += 1;
        let (doing, since) = (Doing::Opening, Instant::now());
        inner.open.insert(number, Connection { stream: Arc::clone(stream), doing, since, ended: false });
        Some(Place { among: Arc::clone(self), number, stream: Arc::clone(stream) })
    }

    /// Makes room where the process can open no more files, and waits until there may be some.
    pub(crate) fn retreat(&self) {
        let mut inner = self.inner();
        let now = Instant::now();
        let most = inner.staying().saturating_sub(FEWER).max(1);
        inner.fewer = Some((most, now + SHORTAGE));
        while inner.staying() > most && inner.end_one() {}
        drop(self.wait(inner, PAUSE));
    }

    /// Waits until a connection has ended, but not longer than this.
    fn wait<'a>(&self, inner: MutexGuard<'a, Inner>, longest: Duration) -> MutexGuard<'a, Inner> {
        self.ended.wait_timeout(inner, longest).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Place {
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Tells what the connection does from now on; the same again tells that it gets on with it.
    pub(crate) fn now(&self, doing: Doing) {
        if let Some(open) = self.among.inner().open.get_mut(&self.number) {
            (open.doing, open.since) = (doing, Instant::now());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.among.inner().open.remove(&self.number);
        self.among.ended.notify_all();
    }
}
