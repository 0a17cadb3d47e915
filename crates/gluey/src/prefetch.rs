//! Asking for memory before it is read, where the processor cannot guess what comes next.

use std::ptr::from_ref;

/// Bytes that memory is delivered in.
const LINE: usize = 64;

/// Asks for these entries. Only a hint: it changes nothing but the time, and where there is no such thing it does
/// nothing.
pub(crate) fn prefetch<T>(entries: &[T]) {
    prefetch_bytes(entries.as_ptr().cast(), size_of_val(entries));
}

/// Asks for the entry so many places further on in the list that this one is in; there need not be one.
#[inline]
pub(crate) fn prefetch_at<T>(entry: &T, places: usize) {
    prefetch_bytes(from_ref(entry).wrapping_add(places).cast(), size_of::<T>());
}

#[inline]
fn prefetch_bytes(from: *const i8, count: usize) {
    for byte in (0..count).step_by(LINE) {
        hint(from.wrapping_add(byte));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn hint(at: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    #[allow(unsafe_code, reason = "reads nothing, and every x86-64 has it")]
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(at);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn hint(_: *const i8) {}
