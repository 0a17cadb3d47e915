//! Lists that threads share out, in every phase of a step in the same way: what a thread has written it has in its cache
//! when it reads it again.

use std::sync::atomic::{AtomicU8, Ordering};

/// Looks at whether another thread is done, before this one does something else meanwhile: some ten microseconds.
const LOOKS: usize = 2_000;

/// Entries that are not worth another thread.
const LEAST: usize = 4_096;

/// Entries of a list that each thread gets, one piece after the other.
pub(crate) fn share_of(count: usize) -> usize {
    count.div_ceil(rayon::current_num_threads()).max(LEAST)
}

/// Lets each thread write its part of a list, `counts` of them one after the other; `write` is told which it is.
pub(crate) fn write_parts<T: Send>(list: &mut [T], counts: &[usize], write: &(impl Fn(usize, &mut [T]) + Sync)) {
    write_from(0, list, counts, write);
}

fn write_from<T: Send>(first: usize, list: &mut [T], counts: &[usize], write: &(impl Fn(usize, &mut [T]) + Sync)) {
    if counts.len() <= 1 {
        counts.iter().for_each(|_| write(first, list));
        return;
    }
    let (here, later) = counts.split_at(counts.len() / 2);
    let (list, rest) = list.split_at_mut(here.iter().sum());
    join(|| write_from(first, list, here, write), || write_from(first + here.len(), rest, later, write));
}

/// Does both, each on a thread if there is one. As `rayon::join`, for work of a few microseconds: who is done first keeps
/// looking at the other for a while, where that one would leave the processor and come back some microseconds late.
pub(crate) fn join(here: impl FnOnce() + Send, there: impl FnOnce() + Send) {
    const WAITING: u8 = 0;
    const STARTED: u8 = 1;
    const DONE: u8 = 2;
    let state = AtomicU8::new(WAITING);
    let (told, asked) = (&state, &state);
    rayon::join(
        || {
            here();
            for _ in 0..LOOKS {
                if asked.load(Ordering::Relaxed) != STARTED {
                    break;
                }
                std::hint::spin_loop();
            }
        },
        || {
            told.store(STARTED, Ordering::Relaxed);
            there();
            told.store(DONE, Ordering::Relaxed);
        },
    );
}
