//! Checkpoints as former formats held them: they differ in what they tell of the files of a run.

use serde::Deserialize;
#[cfg(test)]
use serde::Serialize;

use super::{Checkpoint, FrameStamp, Grown, Progress};
use crate::format::Format;
use crate::simulation::{State, StepReport};

/// A checkpoint of a former format, which told otherwise what was written.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Serialize))]
pub(super) struct Former<Written> {
    pub(super) state: State,
    pub(super) fingerprint: u64,
    pub(super) scene_text: String,
    pub(super) progress: Written,
    pub(super) report: StepReport,
}

/// Format 3 knew lengths alone, and none of `frames.bin`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Serialize))]
pub(super) struct Lengths {
    pub(super) frames: Vec<FrameStamp>,
    pub(super) series_bytes: u64,
    pub(super) xyz_bytes: u64,
}

/// Format 4 knew two formats of frames that grow.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Serialize))]
pub(super) struct TwoFormats {
    pub(super) frames: Vec<FrameStamp>,
    pub(super) series: Grown,
    pub(super) xyz: Grown,
    pub(super) compact: Option<Grown>,
}

impl From<Lengths> for Progress {
    fn from(Lengths { frames, series_bytes, xyz_bytes }: Lengths) -> Self {
        let grown = |bytes| Grown { bytes, checksum: None };
        Self { frames, series: grown(series_bytes), grown: [(Format::Xyz, grown(xyz_bytes))].into() }
    }
}

impl From<TwoFormats> for Progress {
    fn from(TwoFormats { frames, series, xyz, compact }: TwoFormats) -> Self {
        let compact = compact.map(|compact| (Format::Compact, compact));
        Self { frames, series, grown: [(Format::Xyz, xyz)].into_iter().chain(compact).collect() }
    }
}

impl<Written: Into<Progress>> From<Former<Written>> for Checkpoint {
    fn from(former: Former<Written>) -> Self {
        let Former { state, fingerprint, scene_text, progress, report } = former;
        Self { state, fingerprint, scene_text, progress: progress.into(), report }
    }
}
