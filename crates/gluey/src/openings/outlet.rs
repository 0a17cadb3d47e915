//! Where particles leave a run.

use glam::DVec3;

use super::Region;

/// A region that takes away every particle whose centre is in it after a step, and every clump, whole, whose centre of
/// mass is.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlet {
    /// What summaries call it.
    pub name: String,
    /// Where they leave.
    pub region: Region,
    /// Groups it takes; all if none are named.
    pub groups: Option<Vec<u32>>,
    /// When it opens (time).
    pub from: f64,
    /// When it closes (time), infinite if never.
    pub until: f64,
}

impl Outlet {
    /// Whether it takes one of a group whose centre is here at a time.
    #[must_use]
    pub fn takes(&self, centre: DVec3, group: u32, time: f64) -> bool {
        (self.from..=self.until).contains(&time)
            && self.region.contains(centre)
            && self.groups.as_ref().is_none_or(|groups| groups.contains(&group))
    }
}
