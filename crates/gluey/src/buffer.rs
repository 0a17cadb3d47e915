//! Room in lists that live as long as a run.
//!
//! A list that doubles when it is full leaves up to half of its memory empty, and a million particles have no gigabyte
//! to spare: these grow by an eighth.

/// Room for so many more.
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 8));
    }
}

/// A list of this length, all entries the same.
pub(crate) fn reset<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    list.clear();
    if list.capacity() < length {
        list.reserve_exact(length + length / 8);
    }
    list.resize(length, value);
}

/// A list of this length. Entries that it had before stay as they are.
pub(crate) fn resize<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    reserve(list, length.saturating_sub(list.len()));
    list.resize(length, value);
}
