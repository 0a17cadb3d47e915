//! The impulses that a row admits.

/// A closed convex set of impulses Λ along a normal: Λ ≥ a least one, which is 0 for dry contact and γ/R for glue, or any.
///
/// Solvers know of it what they need of any convex set: its projection, its recession cone, and how far it goes on in a
/// direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmissibleSet {
    /// −∞ where all are admitted.
    least: f64,
}

impl AdmissibleSet {
    /// Λ ≥ 0: dry contact, which only pushes.
    pub const PUSH: Self = Self { least: 0.0 };
    /// Any Λ: the row is an equality.
    pub const FREE: Self = Self { least: f64::NEG_INFINITY };

    /// Λ ≥ least (momentum); −∞ is [`FREE`](Self::FREE).
    #[must_use]
    pub const fn at_least(least: f64) -> Self {
        Self { least }
    }

    /// The least of them, −∞ where there is none (momentum).
    #[must_use]
    #[inline]
    pub const fn least(self) -> f64 {
        self.least
    }

    /// Whether all are.
    #[must_use]
    #[inline]
    pub fn is_free(self) -> bool {
        self.least == f64::NEG_INFINITY
    }

    /// The nearest that it admits.
    #[must_use]
    #[inline]
    pub fn project(self, impulse: f64) -> f64 {
        impulse.max(self.least)
    }

    /// The nearest direction in which one can go on for ever.
    #[must_use]
    #[inline]
    pub fn recede(self, direction: f64) -> f64 {
        if self.is_free() { direction } else { direction.max(0.0) }
    }

    /// How far an impulse is from its edge: Λ − least.
    #[must_use]
    #[inline]
    pub fn depth(self, impulse: f64) -> f64 {
        impulse - self.least
    }

    /// Whether an impulse is inside, and not at the edge, where the row may open.
    #[must_use]
    #[inline]
    pub fn holds_inside(self, impulse: f64) -> bool {
        impulse > self.least
    }

    /// How often this change can be made to an impulse inside until it leaves.
    #[must_use]
    #[inline]
    pub fn room(self, impulse: f64, change: f64) -> f64 {
        if change < 0.0 { (self.least - impulse) / change } else { f64::INFINITY }
    }

    /// The set of impulses in another unit, `scale` > 0 times as large.
    #[must_use]
    #[inline]
    pub fn scaled(self, scale: f64) -> Self {
        Self { least: self.least * scale }
    }
}

impl Default for AdmissibleSet {
    fn default() -> Self {
        Self::PUSH
    }
}

#[cfg(test)]
mod tests {
    use super::AdmissibleSet;

    #[test]
    fn projections_are_the_nearest_and_recede_into_the_cone() {
        let glue = AdmissibleSet::at_least(-2.0);
        assert_eq!([-3.0, -2.0, 1.0].map(|x| glue.project(x)), [-2.0, -2.0, 1.0]);
        assert_eq!([-3.0, 1.0].map(|x| glue.recede(x)), [0.0, 1.0]);
        assert_eq!([-3.0, 1.0].map(|x| AdmissibleSet::FREE.recede(x)), [-3.0, 1.0]);
        assert_eq!([-3.0, 1.0].map(|x| AdmissibleSet::FREE.project(x)), [-3.0, 1.0]);
        assert_eq!(glue.room(1.0, -1.5), 2.0);
        assert_eq!(glue.room(1.0, 1.5), f64::INFINITY);
        assert_eq!(AdmissibleSet::FREE.room(1.0, -1.5), f64::INFINITY);
        assert_eq!(glue.scaled(0.5).least(), -1.0);
        assert!(glue.holds_inside(-1.9) && !glue.holds_inside(-2.0));
        assert_eq!(AdmissibleSet::PUSH.depth(3.0), 3.0);
    }
}
