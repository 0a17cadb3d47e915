//! Which of many obstacles may be near a point.

use glam::DVec3;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::obstacle::Placed;

/// By how much the box around an obstacle is widened, relative to its size and its distance from the origin: far above
/// rounding.
const ROUNDING: f64 = 1e-12;

/// Obstacles at one time by the boxes around them, so that who asks about a point need not look at all of them.
#[derive(Default)]
pub struct Surroundings {
    /// None where there is no box: even an empty tree takes memory.
    boxes: Option<RTree<GeomWithData<Rectangle<[f64; 3]>, u32>>>,
    /// Those around which there is no box: containers, planes, and all that repeat.
    everywhere: Vec<u32>,
}

impl Surroundings {
    /// Of these obstacles, each with its number.
    #[must_use]
    pub fn new<'a>(obstacles: impl IntoIterator<Item = (u32, Placed<'a>)>) -> Self {
        let (mut boxes, mut everywhere) = (Vec::new(), Vec::new());
        for (k, placed) in obstacles {
            match placed.confines().filter(|(lower, upper)| placed.is_single() && (*upper - *lower).is_finite()) {
                Some((lower, upper)) => {
                    let margin = ROUNDING * lower.abs().max(upper.abs());
                    let corners = Rectangle::from_corners((lower - margin).to_array(), (upper + margin).to_array());
                    boxes.push(GeomWithData::new(corners, k));
                }
                None => everywhere.push(k),
            }
        }
        let tree = if boxes.is_empty() { None } else { Some(RTree::bulk_load(boxes)) };
        Self { boxes: tree, everywhere }
    }

    /// The numbers of those that may lie within a distance of a point (lengths), in order, in the place of those found
    /// before.
    pub fn find(&self, point: DVec3, distance: f64, found: &mut Vec<u32>) {
        found.clear();
        found.extend(&self.everywhere);
        if let Some(boxes) = &self.boxes {
            let cube = AABB::from_corners((point - distance).to_array(), (point + distance).to_array());
            found.extend(boxes.locate_in_envelope_intersecting(cube).map(|entry| entry.data));
            found.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Cell, Images, Motion, Obstacle, Shape, Side};

    fn obstacle(shape: Shape) -> Obstacle {
        let turn = Motion::Rotation { centre: DVec3::ONE, axis: DVec3::ONE, rate: 1.0, from: -1.0, until: 9.0 };
        Obstacle { name: String::new(), shape, motions: vec![turn], colour: None, roughness: 0.0 }
    }

    #[test]
    fn whoever_may_be_reached_is_named_and_few_others() {
        let ball = |k: u32| Shape::Sphere {
            centre: DVec3::new(f64::from(k % 10), f64::from(k / 10 % 10), f64::from(k / 100)),
            radius: 0.3,
            side: Side::Outside,
        };
        let mut obstacles: Vec<Obstacle> = (0..1000).map(|k| obstacle(ball(k))).collect();
        obstacles.push(obstacle(Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Y }));
        let endless = Shape::Cylinder {
            centre: DVec3::ZERO,
            axis: DVec3::X,
            radius: 0.1,
            length: f64::INFINITY,
            side: Side::Outside,
            closed: false,
        };
        obstacles.push(obstacle(endless));
        let placed: Vec<Placed> = obstacles.iter().map(|obstacle| obstacle.at(0.7)).collect();
        let surroundings = Surroundings::new((0..).zip(placed.iter().copied()));
        let mut near = Vec::new();
        for k in 0..200 {
            let point = DVec3::new(f64::from(k % 7), f64::from(k % 11), f64::from(k % 13)) * 0.8;
            surroundings.find(point, 0.8, &mut near);
            let expected = (0..placed.len()).filter(|k| placed[*k].may_reach(point, 0.8)).map(|k| k as u32);
            assert!(expected.into_iter().all(|k| near.contains(&k)) && near.is_sorted());
            assert!(near.len() < 40, "{}", near.len());
        }
        surroundings.find(DVec3::X * 1e300, 1.0, &mut near);
        assert_eq!(near, [1000, 1001]);
    }

    #[test]
    fn what_repeats_may_be_anywhere() {
        let cell = Cell::with_periods(DVec3::ZERO, DVec3::splat(5.0)).unwrap();
        let ball = obstacle(Shape::Sphere { centre: DVec3::ZERO, radius: 0.3, side: Side::Outside });
        let images = Images::of(&ball.at(0.0), &cell).unwrap();
        let surroundings = Surroundings::new([(7, ball.at(0.0).repeated(Some(&images)))]);
        let mut near = vec![3];
        surroundings.find(DVec3::splat(4.9), 0.1, &mut near);
        assert_eq!(near, [7]);
    }
}
