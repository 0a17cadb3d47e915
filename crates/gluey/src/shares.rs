//! Lists that threads share out, in every phase of a step in the same way: what a thread has written it has in its cache
//! when it reads it again.

/// Entries that are not worth another thread.
const LEAST: usize = 4_096;

/// Entries of a list that each thread gets, one piece after the other.
pub(crate) fn share_of(count: usize) -> usize {
    count.div_ceil(rayon::current_num_threads()).max(LEAST)
}
