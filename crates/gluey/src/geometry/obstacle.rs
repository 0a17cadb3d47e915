//! Obstacles: a shape, how it moves, and the questions a sphere asks of it.

use glam::{DQuat, DVec3};

use super::images::Images;
use super::motion::Motion;
use super::pose::Pose;
use super::shape::{Nearest, Shape, Side};
use super::surface::{Extent, Surface};

/// A rigid body whose motion is given; particles do not move it.
///
/// A floor that rises with velocity 2 from t = 0 on, and the gap of a sphere of radius ½ at height 3 after a unit of
/// time:
///
/// ```
/// use glam::DVec3;
/// use gluey::geometry::{Motion, Obstacle, Shape};
///
/// let floor = Obstacle {
///     name: "floor".to_owned(),
///     shape: Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Z },
///     motions: vec![Motion::Translation { velocity: DVec3::Z * 2.0, from: 0.0, until: f64::INFINITY }],
///     colour: None,
///     roughness: 0.0,
/// };
/// let touch = floor.at(1.0).gap_of(DVec3::Z * 3.0, 0.5, 0).expect("a half-space has one feature, 0");
/// assert_eq!((touch.gap, touch.normal), (0.5, -DVec3::Z)); // the normal points into the obstacle
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// Its name in messages and results.
    pub name: String,
    /// Its form at rest.
    pub shape: Shape,
    /// Its motions, composed: the first is the outermost, the last acts first on the shape. Obstacles that turn as one
    /// share their first motion. Empty means fixed.
    pub motions: Vec<Motion>,
    /// Colour of drawings, as red, green, blue.
    pub colour: Option<[u8; 3]>,
    /// Roughness of the surface, in the unit the adhesion law gives it.
    pub roughness: f64,
}

impl Obstacle {
    /// Where it is at time t: the composition of all motions.
    #[must_use]
    pub fn pose(&self, t: f64) -> Pose {
        self.carried_by(self.motions.len(), t)
    }

    /// Composition of the outermost `count` motions.
    fn carried_by(&self, count: usize, t: f64) -> Pose {
        self.motions[..count].iter().fold(Pose::IDENTITY, |outer, motion| outer.compose(&motion.pose(t)))
    }

    /// The point about which its torque is reported at time t (length): the centre of the outermost rotation (or of the
    /// outermost table with angles), carried along by the motions outside of it; without any, the image of the shape's
    /// [reference point](Shape::reference).
    #[must_use]
    pub fn pivot(&self, t: f64) -> DVec3 {
        let turning = self.motions.iter().enumerate().find_map(|(k, motion)| Some((k, motion.centre(t)?)));
        match turning {
            Some((k, centre)) => self.carried_by(k, t).apply(centre),
            None => self.pose(t).apply(self.shape.reference()),
        }
    }

    /// An upper bound of the path length over `span` = (start, end) of any of its material points that is within
    /// `slack` of `at` at some time of the span (lengths, times).
    #[must_use]
    pub fn path_bound(&self, at: DVec3, slack: f64, span: (f64, f64)) -> f64 {
        composed_bound(&self.motions, at, slack, span)
    }

    /// The obstacle as it stands at time t.
    #[must_use]
    pub fn at(&self, t: f64) -> Placed<'_> {
        self.placed(self.pose(t))
    }

    /// The obstacle where this pose puts it.
    #[must_use]
    pub fn placed(&self, pose: Pose) -> Placed<'_> {
        Placed { shape: &self.shape, pose, images: None }
    }

    /// Whether it never moves.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.motions.iter().all(Motion::is_fixed)
    }
}

/// Path bound of x(t) = P(t)·y(t), P the outermost motion and y carried by the others.
///
/// y at the time when x is near `at` is within `slack` of P⁻¹`at`, which itself wanders by no more than the path of the
/// point that starts at `at`: this gives the bound L of y's path. Then |ẋ| ≤ |velocity of P's point now at x| + |ẏ|,
/// and that point is within slack + L of `at` when x is near it.
fn composed_bound(motions: &[Motion], at: DVec3, slack: f64, span: (f64, f64)) -> f64 {
    let Some((outer, inner)) = motions.split_first() else { return 0.0 };
    let start = outer.pose(span.0).inverse_apply(at);
    let inner = composed_bound(inner, start, slack + outer.path_bound(at, 0.0, span), span);
    inner + outer.path_bound(at, slack + inner, span)
}

/// A sphere's contact, or near contact, with one feature of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Which feature; the numbering belongs to the shape.
    pub feature: u32,
    /// Signed gap D between the surfaces (length).
    pub gap: f64,
    /// Unit normal from the sphere's centre into the obstacle: the gradient of the gap in the centre is −normal.
    pub normal: DVec3,
}

/// A shape where an obstacle has carried it.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    shape: &'a Shape,
    pose: Pose,
    images: Option<&'a Images>,
}

impl<'a> Placed<'a> {
    /// The obstacle with its images in a periodic cell: a sphere meets all of them.
    #[must_use]
    pub fn repeated(self, images: Option<&'a Images>) -> Self {
        Self { images, ..self }
    }

    /// Whether nothing repeats: it has no images.
    pub(super) fn is_single(&self) -> bool {
        self.images.is_none()
    }

    /// Its form at rest.
    pub(super) fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// Whether the gap is convex in the sphere's centre for every feature.
    #[must_use]
    pub fn is_convex(&self) -> bool {
        self.shape.is_convex()
    }

    /// Reports every feature whose gap to the sphere is at most `reach` (lengths), in increasing order of the features.
    /// In a periodic cell a feature may come several times, once for each image of it, the nearest first.
    pub fn touches(&self, centre: DVec3, radius: f64, reach: f64, found: &mut impl FnMut(Touch)) {
        match self.images {
            None => self.touches_here(centre, radius, reach, found),
            Some(images) => self.touches_of_images(images, (centre, radius, reach), found),
        }
    }

    fn touches_of_images(
        &self,
        images: &Images,
        (centre, radius, reach): (DVec3, f64, f64),
        found: &mut impl FnMut(Touch),
    ) {
        let mut shifts = images.shifts(centre, radius + reach).peekable();
        let Some(first) = shifts.next() else { return };
        if shifts.peek().is_none() {
            return self.touches_here(centre + first, radius, reach, found);
        }
        let mut touches = Vec::new();
        for shift in std::iter::once(first).chain(shifts) {
            self.touches_here(centre + shift, radius, reach, &mut |touch| touches.push(touch));
        }
        touches.sort_by(|a: &Touch, b| a.feature.cmp(&b.feature).then(a.gap.total_cmp(&b.gap)));
        touches.into_iter().for_each(found);
    }

    /// The same, leaving images aside.
    fn touches_here(&self, centre: DVec3, radius: f64, reach: f64, found: &mut impl FnMut(Touch)) {
        let local = self.pose.inverse_apply(centre);
        if let Shape::Mesh(mesh) = self.shape {
            for (feature, nearest) in mesh.contacts(local, radius, radius + reach) {
                found(self.touch(feature, radius, nearest));
            }
            return;
        }
        if let Some(sides) = self.shape.sides_within(local, radius + reach) {
            for (feature, nearest) in sides {
                found(self.touch(feature, radius, nearest));
            }
            return;
        }
        for feature in 0..self.shape.features() {
            if !self.shape.offers(feature, local, radius) {
                continue;
            }
            match self.shape.nearest(feature, local) {
                Some(nearest) if nearest.distance - radius <= reach => found(self.touch(feature, radius, nearest)),
                _ => {}
            }
        }
    }

    /// Whether a sphere is at least a gap away (lengths).
    #[must_use]
    pub fn leaves_room(&self, centre: DVec3, radius: f64, gap: f64) -> bool {
        let mut clear = true;
        if self.may_reach(centre, radius + gap) {
            self.touches(centre, radius, gap, &mut |touch| clear &= touch.gap >= gap);
        }
        clear
    }

    /// Gap and normal of one feature, or its nearest image, whatever its distance; none where the feature does not
    /// exist.
    #[must_use]
    pub fn gap_of(&self, centre: DVec3, radius: f64, feature: u32) -> Option<Touch> {
        self.seen_from(centre, radius, feature).map(|(_, touch)| touch)
    }

    /// The image of a sphere's centre that is nearest to a feature, and how it touches it there.
    fn seen_from(&self, centre: DVec3, radius: f64, feature: u32) -> Option<(DVec3, Touch)> {
        let here = |centre: DVec3| {
            let nearest = self.shape.nearest(feature, self.pose.inverse_apply(centre))?;
            Some((centre, self.touch(feature, radius, nearest)))
        };
        let Some(images) = self.images else { return here(centre) };
        let all = images.nearest_shifts(centre).filter_map(|shift| here(centre + shift));
        all.min_by(|a, b| a.1.gap.total_cmp(&b.1.gap))
    }

    /// Whether a feature may lie within `distance` of the point (lengths). Cheap; says no only when none does.
    #[must_use]
    #[inline]
    pub fn may_reach(&self, centre: DVec3, distance: f64) -> bool {
        match self.images {
            None => self.may_reach_here(centre, distance),
            Some(images) => self.may_reach_images(images, centre, distance),
        }
    }

    /// Whether [`Self::touches`] needs no longer than [`Self::may_reach`], which there is no need to ask then: that of
    /// a box with [`Shape::sides_within`].
    #[inline]
    pub(crate) fn touches_at_once(&self) -> bool {
        self.images.is_none() && matches!(self.shape, Shape::Box { side: Side::Inside, .. })
    }

    #[inline]
    fn may_reach_here(&self, centre: DVec3, distance: f64) -> bool {
        self.shape.may_reach(self.pose.inverse_apply(centre), distance)
    }

    #[inline(never)]
    fn may_reach_images(&self, images: &Images, centre: DVec3, distance: f64) -> bool {
        images.shifts(centre, distance).any(|shift| self.may_reach_here(centre + shift, distance))
    }

    /// The image of a sphere's centre that touches a feature, or is nearest to it.
    pub(crate) fn image_at(&self, centre: DVec3, radius: f64, feature: u32) -> DVec3 {
        match self.images {
            None => centre,
            Some(_) => self.seen_from(centre, radius, feature).map_or(centre, |(image, _)| image),
        }
    }

    /// The images of a point that may be near the obstacle; none where nothing repeats.
    pub(crate) fn images_of(&self, point: DVec3) -> Option<impl Iterator<Item = DVec3> + use<>> {
        self.images.map(|images| images.nearest_shifts(point).map(move |shift| point + shift))
    }

    /// Half the smallest period of the cell: nothing further away is looked at. Infinite where nothing repeats.
    pub(crate) fn horizon(&self) -> f64 {
        self.images.map_or(f64::INFINITY, Images::horizon)
    }

    /// A box with sides along the axes to which every point outside is nearer than to any feature, rounding aside
    /// (length); none where there is no such box.
    #[must_use]
    pub fn confines(&self) -> Option<(DVec3, DVec3)> {
        let (lower, upper) = self.shape.confines()?;
        if self.pose == Pose::IDENTITY {
            return Some((lower, upper));
        }
        let (middle, half) = (self.pose.apply(0.5 * (lower + upper)), 0.5 * (upper - lower));
        let edges = [DVec3::X, DVec3::Y, DVec3::Z].map(|e| self.pose.apply_vector(e * half.dot(e)).abs());
        let reach = edges[0] + edges[1] + edges[2];
        Some((middle - reach, middle + reach))
    }

    /// How large the numbers are that gaps are computed from, along each axis: what rounding is relative to (length).
    #[must_use]
    pub fn numbers(&self) -> DVec3 {
        let (own, shift) = (self.shape.numbers(), self.pose.translation.abs());
        if self.pose.rotation == DQuat::IDENTITY { own + shift } else { DVec3::splat((own + shift).max_element()) }
    }

    /// A drawing of the shape where it stands; infinite shapes are clipped a little outside `view`.
    #[must_use]
    pub fn surface(&self, view: &Extent) -> Surface {
        let mut surface = self.shape.surface(&view.seen_from(&self.pose));
        surface.points.iter_mut().for_each(|point| *point = self.pose.apply(*point));
        surface
    }

    /// Where the shape stands.
    #[must_use]
    pub fn pose(&self) -> Pose {
        self.pose
    }

    fn touch(&self, feature: u32, radius: f64, nearest: Nearest) -> Touch {
        Touch { feature, gap: nearest.distance - radius, normal: self.pose.apply_vector(nearest.normal) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::motion::tests::{any_motion, any_vector, sampled_path};
    use super::*;

    fn obstacle(motions: Vec<Motion>) -> Obstacle {
        let shape = Shape::HalfSpace { point: DVec3::ZERO, normal: DVec3::Y };
        Obstacle { name: "floor".into(), shape, motions, colour: None, roughness: 0.0 }
    }

    proptest! {
        #[test]
        fn a_composed_path_is_never_longer_than_its_bound(
            motions in proptest::collection::vec(any_motion(), 0..4), at in any_vector(3.0), slack in any_vector(0.3),
            start in -1.5..1.5, length in 0.0..2.0, share in 0.0..1.0,
        ) {
            let obstacle = obstacle(motions);
            let material = obstacle.pose(start + share * length).inverse_apply(at + slack);
            let path = sampled_path(|t| obstacle.pose(t).apply(material), start, length);
            let bound = obstacle.path_bound(at, slack.length(), (start, start + length));
            prop_assert!(path <= bound * (1.0 + 1e-9) + 1e-12, "{path} > {bound}");
        }
    }

    /// One motion carries the point away from, or towards, the axis of the other within the span.
    #[test]
    fn the_bound_counts_how_far_one_motion_carries_a_point_from_the_axis_of_the_other() {
        let turn = Motion::Rotation { centre: DVec3::ZERO, axis: DVec3::Z, rate: 1.0, from: 0.0, until: f64::INFINITY };
        let shift = Motion::Translation { velocity: DVec3::X * 10.0, from: 0.0, until: f64::INFINITY };
        for (motions, near) in [(vec![shift.clone(), turn.clone()], 1.0), (vec![turn, shift], 0.0)] {
            let obstacle = obstacle(motions);
            let material = obstacle.pose(near).inverse_apply(DVec3::ZERO);
            let path = sampled_path(|t| obstacle.pose(t).apply(material), 0.0, 1.0);
            let bound = obstacle.path_bound(DVec3::ZERO, 0.0, (0.0, 1.0));
            assert!(path > 10.05 && path <= bound && bound < 35.0, "{path} {bound}");
        }
    }

    #[test]
    fn the_last_motion_is_the_innermost() {
        let turn = |centre| Motion::Rotation { centre, axis: DVec3::Z, rate: 1.0, from: 0.0, until: f64::INFINITY };
        let shift = Motion::Translation { velocity: DVec3::X, from: 0.0, until: f64::INFINITY };
        let quarter = std::f64::consts::FRAC_PI_2;
        let turned_last = obstacle(vec![turn(DVec3::ZERO), shift.clone()]);
        assert!((turned_last.pose(quarter).apply(DVec3::ZERO) - DVec3::Y * quarter).length() < 1e-15);
        assert!(!turned_last.is_fixed());
        let shifted_last = obstacle(vec![shift, turn(DVec3::Y)]);
        assert!((shifted_last.pivot(2.0) - DVec3::new(2.0, 1.0, 0.0)).length() < 1e-15);
        assert_eq!(turned_last.pivot(2.0), DVec3::ZERO);
        assert_eq!(obstacle(vec![]).pivot(1.0), DVec3::ZERO);
        assert!(obstacle(vec![Motion::Fixed]).is_fixed());
    }
}
