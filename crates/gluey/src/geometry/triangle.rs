//! One triangle: its closest point, and on which part of it this point lies.

use glam::DVec3;

use super::plate::closest_on_segment;

/// Part of a triangle on which a closest point lies. Edge k joins corners k and k + 1 (mod 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Face,
    Edge(usize),
    Corner(usize),
}

/// Closest point of the triangle, and its part.
pub(super) fn closest(corners: [DVec3; 3], point: DVec3) -> (DVec3, Part) {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    // The foot is inside when it is on the inner side of all three edges.
    let inner = |k: usize| {
        let (start, end) = (corners[k], corners[(k + 1) % 3]);
        normal.cross(end - start).dot(point - start) > 0.0
    };
    if inner(0) && inner(1) && inner(2) {
        let height = normal.dot(point - a) / normal.length_squared();
        return (point - height * normal, Part::Face);
    }
    let mut best = (a, Part::Corner(0));
    let mut least = f64::INFINITY;
    for k in 0..3 {
        let next = (k + 1) % 3;
        let candidate = closest_on_segment(corners[k], corners[next], point);
        let distance = candidate.distance_squared(point);
        if distance < least {
            least = distance;
            let part = if candidate == corners[k] {
                Part::Corner(k)
            } else if candidate == corners[next] {
                Part::Corner(next)
            } else {
                Part::Edge(k)
            };
            best = (candidate, part);
        }
    }
    best
}

/// Unit normal by the right-hand rule.
pub(super) fn face_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or(DVec3::Z)
}

/// Whether the triangle has no area worth the name, relative to its longest edge.
pub(super) fn is_degenerate([a, b, c]: [DVec3; 3]) -> bool {
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    (b - a).cross(c - a).length() <= 1e-10 * longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::motion::tests::any_vector;
    use super::*;

    proptest! {
        #[test]
        fn the_closest_point_beats_every_sampled_point(
            a in any_vector(1.0), b in any_vector(1.0), c in any_vector(1.0), point in any_vector(2.0),
        ) {
            prop_assume!((b - a).cross(c - a).length() > 0.05);
            let distance = closest([a, b, c], point).0.distance(point);
            let mut sampled = f64::INFINITY;
            for i in 0..=60 {
                for j in 0..=(60 - i) {
                    let x = a + (b - a) * (f64::from(i) / 60.0) + (c - a) * (f64::from(j) / 60.0);
                    sampled = sampled.min(x.distance(point));
                }
            }
            prop_assert!(distance <= sampled + 1e-12);
            prop_assert!(sampled - distance < 0.1);
        }
    }
}
