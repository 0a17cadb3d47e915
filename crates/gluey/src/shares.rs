//! Lists that threads share out, in every phase of a step in the same way: what a thread has written it has in its
//! cache when it reads it again. And threads that wait for their share awake.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Looks at whether another thread is done, before this one does something else meanwhile: for some tens of
/// microseconds.
const LOOKS: usize = 2_000;

/// How long a thread keeps looking for a part of the work where there is none: longer than one thread alone takes for
/// what is not shared out, of as many particles as it matters for.
const PATIENCE: Duration = Duration::from_micros(500);
/// Looks for work between two looks at the clock.
const LOOKS_AT_WORK: u32 = 64;

/// So few are not worth the way to a thread of the pool.
const FEW: usize = 512;
/// Pauses between two looks: each takes memory away from the thread it looks at.
const PAUSES: u32 = 6;

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
        if !counts.is_empty() {
            write(first, list);
        }
        return;
    }
    let (here, later) = counts.split_at(counts.len() / 2);
    let (list, rest) = list.split_at_mut(here.iter().sum());
    join(|| write_from(first, list, here, write), || write_from(first + here.len(), rest, later, write));
}

/// Does both, each on a thread if there is one. As `rayon::join`, for work of a few microseconds: who is done first
/// keeps looking at the other for a while, where that one would leave the processor and come back some microseconds
/// late.
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

thread_local! {
    /// Whether this thread does some work that others attend, or attends one.
    static ENGAGED: Cell<bool> = const { Cell::new(false) };
}

/// Does work of many phases on about so many entries. The threads that will get a share of them are called at its
/// beginning and keep looking for theirs: left alone they go to sleep between two phases, and to wake them up takes
/// longer than most phases do. It also brings the work onto a thread of the pool, where calls from outside would wait
/// at every phase.
pub(crate) fn attended<R: Send>(count: usize, work: impl FnOnce() -> R + Send) -> R {
    let helpers = count.div_ceil(share_of(count)).saturating_sub(1);
    if helpers == 0 {
        let stay = count <= FEW || rayon::current_thread_index().is_some();
        return if stay { work() } else { rayon::scope(|_| work()) };
    }
    let done = AtomicBool::new(false);
    let (mut work, mut result) = (Some(work), None);
    let mut engaged = || {
        let _end = End { done: &done, engaged: ENGAGED.replace(true) };
        result = work.take().map(|work| work());
    };
    call(helpers, &mut engaged, &|| attend(&done));
    result.unwrap_or_else(|| unreachable!("the work was done"))
}

/// Tells helpers that the work is over, however it ended.
struct End<'a> {
    done: &'a AtomicBool,
    /// Whether the thread was engaged before.
    engaged: bool,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        ENGAGED.set(self.engaged);
    }
}

/// Does the work, with so many offers to attend it, which threads without work take first.
fn call(helpers: usize, work: &mut (dyn FnMut() + Send), attend: &(dyn Fn() + Sync)) {
    if helpers == 0 {
        work();
    } else {
        rayon::join(|| call(helpers - 1, work, attend), attend);
    }
}

/// Looks for parts of the work until it is done. Whoever is engaged must not: the thread of the work might wait here
/// for itself.
fn attend(done: &AtomicBool) {
    if ENGAGED.replace(true) {
        return;
    }
    let (mut idle_since, mut looks) = (Instant::now(), 0_u32);
    while !done.load(Ordering::Acquire) {
        if let Some(rayon::Yield::Executed) = rayon::yield_now() {
            (idle_since, looks) = (Instant::now(), 0);
            continue;
        }
        looks += 1;
        if looks.is_multiple_of(LOOKS_AT_WORK) && idle_since.elapsed() > PATIENCE {
            break;
        }
        (0..PAUSES).for_each(|_| std::hint::spin_loop());
    }
    ENGAGED.set(false);
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    const MANY: usize = 3 * LEAST;

    /// A sum in parts by several threads, over and over.
    fn work() -> u64 {
        (0..200).map(|_| sum(0..1_000)).sum()
    }

    fn sum(range: std::ops::Range<u64>) -> u64 {
        if range.end - range.start < 300 {
            return range.sum();
        }
        let middle = range.start.midpoint(range.end);
        let (mut low, mut high) = (0, 0);
        join(|| low = sum(range.start..middle), || high = sum(middle..range.end));
        low + high
    }

    #[test]
    fn attended_work_is_done_on_any_number_of_threads_from_inside_and_outside_and_nested() {
        let expected = 200 * 999 * 500;
        assert_eq!(attended(MANY, work), expected);
        assert_eq!(attended(FEW + 1, work), expected);
        for threads in [1, 2, 3, 8] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                assert_eq!(attended(MANY, work), expected);
                assert_eq!(attended(MANY, || attended(MANY, work)), expected);
                let both = rayon::join(|| attended(MANY, work), || attended(MANY, work));
                assert_eq!(both, (expected, expected));
                assert!(!ENGAGED.get());
            });
        }
    }

    #[test]
    fn work_that_is_not_shared_out_for_long_ends_too() {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            attended(MANY, || {
                std::thread::sleep(4 * PATIENCE);
                assert_eq!(sum(0..1_000), 999 * 500);
            });
        });
    }

    #[test]
    fn a_panic_gets_through_and_leaves_the_pool_as_it_was() {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let broken = || attended(MANY, || -> u64 { panic!("on purpose") });
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(broken)));
        assert!(outcome.is_err());
        assert_eq!(pool.install(|| attended(MANY, work)), 200 * 999 * 500);
    }

    #[test]
    fn every_part_of_a_list_is_written_by_its_own() {
        for counts in [vec![], vec![3], vec![0, 2, 5, 0, 1]] {
            let mut list = vec![usize::MAX; counts.iter().sum()];
            write_parts(&mut list, &counts, &|part, entries| entries.fill(part));
            let expected: Vec<usize> = counts.iter().enumerate().flat_map(|(part, n)| vec![part; *n]).collect();
            assert_eq!(list, expected);
        }
    }
}
