//! Work that takes long while Python must still hear Ctrl-C, and threads in processes that were forked.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::process;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors;

/// Signals are looked at so often.
pub const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Does work on a thread of its own and looks at signals meanwhile. When one raises, the work is left to itself: it
/// ends in its own time and nobody gets its result. So it must have no effects.
pub fn patiently<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (sender, mut receiver) = sync_channel(1);
    let worker = move || {
        use_living_threads();
        // Who was interrupted has stopped listening.
        let _ = sender.send(work());
    };
    let worker = thread::Builder::new().name("gluey".to_owned()).spawn(worker).map_err(errors::runtime)?;
    loop {
        let (answer, back) = py.detach(move || (receiver.recv_timeout(BETWEEN_LOOKS), receiver));
        match answer {
            Ok(done) => return py.check_signals().map(|()| done),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return Err(errors::runtime("a thread has ended without an answer")),
            },
        }
        receiver = back;
    }
}

/// The process that loaded the module.
static FIRST: OnceLock<u32> = OnceLock::new();

thread_local! {
    /// The forked process in which this thread has threads of its own.
    static SERVED: Cell<Option<u32>> = const { Cell::new(None) };
}

/// To be called when the module is loaded.
pub fn note_process() {
    FIRST.get_or_init(process::id);
}

/// A fork has the memory of its parent's threads, and not the threads: who hands them work waits for ever. In a forked
/// process the calling thread therefore works alone, in a pool of its own. Results do not depend on it.
pub fn use_living_threads() {
    let process = process::id();
    if FIRST.get().is_none_or(|first| *first == process) || SERVED.get() == Some(process) {
        return;
    }
    SERVED.set(Some(process));
    // Refused where the thread is in such a pool already: that of a parent which was forked itself, and as good.
    if let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        std::mem::forget(pool); // it serves this thread for as long as it lives
    }
}
