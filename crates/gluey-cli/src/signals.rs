//! SIGINT and SIGTERM: the first asks the run to stop after its step, the second ends the process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// What shells add to a signal's number to make an exit code of it.
const SIGNALLED: i32 = 128;

/// A wish to stop, which may come at any moment.
#[derive(Debug)]
pub struct StopSignals {
    signal: Arc<AtomicUsize>,
}

impl StopSignals {
    /// From now on signals are wishes; until now they ended the process, since there was nothing to save.
    pub fn listen() -> io::Result<Self> {
        let (asked, signal) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        for number in [SIGINT, SIGTERM] {
            // Actions run in this order: the first signal passes by the shutdown and arms it for the next.
            flag::register_conditional_shutdown(number, SIGNALLED + number, Arc::clone(&asked))?;
            flag::register_usize(number, Arc::clone(&signal), number as usize)?;
            flag::register(number, Arc::clone(&asked))?;
        }
        Ok(Self { signal })
    }

    /// The exit code of the signal that came, if one came.
    pub fn asked(&self) -> Option<u8> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            number => Some((SIGNALLED as usize + number) as u8),
        }
    }
}
