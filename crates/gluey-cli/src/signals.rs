//! SIGINT and SIGTERM: the first asks the run to stop after its step, the second ends the process at once. SIGXFSZ,
//! which comes where a file would grow beyond the user's limit, is no reason to die: the write fails, and that is told.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(unix)]
use signal_hook::consts::SIGXFSZ;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The signals, and the exit codes that shells give them: 128 and the signal's number.
const SIGNALS: [(i32, u8); 2] = [(SIGINT, 130), (SIGTERM, 143)];

/// A wish to stop, which may come at any moment.
#[derive(Clone, Debug)]
pub struct StopSignals {
    /// The exit code of the signal that came, 0 while none has.
    code: Arc<AtomicUsize>,
}

impl StopSignals {
    /// From now on signals are wishes; until now they ended the process, since there was nothing to save.
    pub fn listen() -> io::Result<Self> {
        let (asked, code_asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        for (signal, code) in SIGNALS {
            // Actions run in this order: the first signal passes by the shutdown and arms it for the next.
            flag::register_conditional_shutdown(signal, code.into(), Arc::clone(&asked))?;
            flag::register_usize(signal, Arc::clone(&code_asked), code.into())?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        Ok(Self { code: code_asked })
    }

    /// The exit code of the signal that came, if one came.
    pub fn asked(&self) -> Option<u8> {
        match self.code.load(Ordering::SeqCst) {
            0 => None,
            code => Some(code as u8),
        }
    }
}

/// From now on a write beyond the limit on the size of files is an error as any other.
pub fn outlive_file_limit() -> io::Result<()> {
    #[cfg(unix)]
    flag::register(SIGXFSZ, Arc::default())?;
    Ok(())
}
