//! Parts of space in which particles appear or disappear.

use glam::DVec3;

/// A part of space. A particle is in it if its centre is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// An upright box; sides at infinity are allowed.
    Box {
        /// Least corner.
        lower: DVec3,
        /// Greatest corner.
        upper: DVec3,
    },
    /// A ball, in 2D a disc.
    Ball {
        /// Its centre.
        centre: DVec3,
        /// Its radius > 0.
        radius: f64,
    },
    /// All that lies behind a plane.
    HalfSpace {
        /// A point of the plane.
        point: DVec3,
        /// Unit vector out of the region.
        normal: DVec3,
    },
}

impl Region {
    /// How far a point is outside: negative inside and 0 on the surface. Beside the edges of a box it is less than the
    /// distance, never more.
    #[must_use]
    pub fn distance(&self, x: DVec3) -> f64 {
        match *self {
            Self::Box { lower, upper } => (lower - x).max(x - upper).max_element(),
            Self::Ball { centre, radius } => x.distance(centre) - radius,
            Self::HalfSpace { point, normal } => (x - point).dot(normal),
        }
    }

    /// Whether a point is in the region or on its surface.
    #[must_use]
    pub fn contains(&self, x: DVec3) -> bool {
        self.distance(x) <= 0.0
    }

    /// The corners of the smallest upright box around the region, infinite where it is; `directions` is 1 in those that
    /// the scene has, 0 in the others.
    #[must_use]
    pub fn corners(&self, directions: DVec3) -> [DVec3; 2] {
        match *self {
            Self::Box { lower, upper } => [lower, upper],
            Self::Ball { centre, radius } => [centre - radius * directions, centre + radius * directions],
            Self::HalfSpace { .. } => [DVec3::NEG_INFINITY, DVec3::INFINITY],
        }
    }

    /// Whether a particle of this radius fits whole into the region.
    #[must_use]
    pub fn holds(&self, radius: f64, directions: DVec3) -> bool {
        match *self {
            Self::Box { lower, upper } => (upper - lower - 2.0 * radius * directions).min_element() >= 0.0,
            Self::Ball { radius: whole, .. } => whole >= radius,
            Self::HalfSpace { .. } => true,
        }
    }

    /// The centre of a particle that lies whole in the bounded region, from three numbers in [0, 1): evenly distributed
    /// if they are. None where these miss the region, or the particle does not fit.
    pub(super) fn place(&self, radius: f64, unit: DVec3, directions: DVec3) -> Option<DVec3> {
        if !self.holds(radius, directions) {
            return None;
        }
        match *self {
            Self::Box { lower, upper } => {
                let margin = radius * directions;
                Some(lower + margin + (upper - lower - 2.0 * margin) * unit)
            }
            Self::Ball { centre, radius: whole } => {
                let offset = (2.0 * unit - DVec3::ONE) * directions;
                (offset.length_squared() <= 1.0).then(|| centre + offset * (whole - radius))
            }
            Self::HalfSpace { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAT: DVec3 = DVec3::new(1.0, 1.0, 0.0);

    #[test]
    fn regions_are_negative_inside() {
        let strip =
            Region::Box { lower: DVec3::new(f64::NEG_INFINITY, 0.0, 0.0), upper: DVec3::new(f64::INFINITY, 1.0, 0.0) };
        assert!(strip.contains(DVec3::new(1e9, 0.5, 0.0)));
        assert_eq!(strip.distance(DVec3::new(0.0, 3.0, 0.0)), 2.0);
        let ball = Region::Ball { centre: DVec3::X, radius: 2.0 };
        assert_eq!(ball.distance(DVec3::X), -2.0);
        assert!(!ball.contains(DVec3::new(3.1, 0.0, 0.0)));
        let below = Region::HalfSpace { point: DVec3::Z, normal: DVec3::Z };
        assert_eq!(below.distance(DVec3::new(5.0, 5.0, -1.0)), -2.0);
        assert!(below.contains(DVec3::Z));
    }

    #[test]
    fn particles_are_placed_whole() {
        let square = Region::Box { lower: DVec3::ZERO, upper: FLAT };
        assert_eq!(square.place(0.25, DVec3::splat(0.5), FLAT), Some(DVec3::new(0.5, 0.5, 0.0)));
        assert_eq!(square.place(0.25, DVec3::ZERO, FLAT), Some(DVec3::new(0.25, 0.25, 0.0)));
        assert_eq!(square.place(0.6, DVec3::ZERO, FLAT), None, "it does not fit");
        assert!(square.holds(0.5, FLAT) && !square.holds(0.1, DVec3::ONE), "no room in z");
        let disc = Region::Ball { centre: DVec3::X, radius: 1.0 };
        assert_eq!(disc.place(0.5, DVec3::ZERO, FLAT), None, "a corner of the square around it");
        assert_eq!(disc.place(0.5, DVec3::new(0.0, 0.5, 0.9), FLAT), Some(DVec3::new(0.5, 0.0, 0.0)));
    }
}
