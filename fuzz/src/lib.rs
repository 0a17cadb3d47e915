//! What the fuzz targets have in common: all ways into gluey are in the crate `gluey-inputs`.

use gluey_inputs::{Answer, way};
use libfuzzer_sys::Corpus;

/// Takes bytes by the way of this name; what asks for much is no start for other inputs.
pub fn take(name: &str, bytes: &[u8]) -> Corpus {
    let way = way(name).expect("a fuzz target has the name of a way");
    if (way.take)(bytes) == Answer::Passed { Corpus::Reject } else { Corpus::Keep }
}
