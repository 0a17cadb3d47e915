//! What is nearest to the eye, at four points of each pixel: depths, and whose they are.
//!
//! The projection is parallel, so that a sphere covers a disc, and at (dx, dy) from its centre its surface is
//! √(r² − dx² − dy²) nearer to the eye than the centre is.

use std::cell::RefCell;

/// Samples along a side of a pixel.
pub(crate) const FINE: usize = 2;

/// A point as seen: to the right, down and towards the eye, in distances between samples.
pub(crate) type Place = [f32; 3];

/// Depths and owners, row by row.
pub(crate) struct Samples {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// How near to the eye what is seen is; −∞ where there is nothing.
    pub(crate) depth: Vec<f32>,
    /// Who is seen, counted from 1; 0 where nobody is.
    pub(crate) owner: Vec<u32>,
}

thread_local! {
    /// The lists of the picture before, for the next one: to ask the system for fresh pages takes longer than to fill
    /// them.
    static SPARE: RefCell<(Vec<f32>, Vec<u32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

impl Drop for Samples {
    fn drop(&mut self) {
        let lists = (std::mem::take(&mut self.depth), std::mem::take(&mut self.owner));
        // A thread that ends has no next picture.
        let _ = SPARE.try_with(|spare| spare.replace(lists));
    }
}

impl Samples {
    /// Of a picture of so many pixels.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        let (width, height) = (width * FINE, height * FINE);
        let (mut depth, mut owner) = SPARE.take();
        depth.clear();
        depth.resize(width * height, f32::NEG_INFINITY);
        owner.clear();
        owner.resize(width * height, 0);
        Self { width, height, depth, owner }
    }

    /// Samples from lower to upper, both ends rounded to where their middle is within.
    fn within(lower: f32, upper: f32, end: usize) -> std::ops::Range<usize> {
        let start = (lower + 0.5).floor().clamp(0.0, end as f32) as usize;
        start..((upper + 0.5).floor().clamp(0.0, end as f32) as usize).max(start)
    }

    pub(crate) fn sphere(&mut self, [cx, cy, cz]: Place, radius: f32, owner: u32) {
        for y in Self::within(cy - radius, cy + radius, self.height) {
            let dy = y as f32 + 0.5 - cy;
            let square = radius * radius - dy * dy;
            let half = square.max(0.0).sqrt();
            let xs = Self::within(cx - half, cx + half, self.width);
            let row = y * self.width;
            let (depths, owners) =
                (&mut self.depth[row + xs.start..row + xs.end], &mut self.owner[row + xs.start..row + xs.end]);
            let nearest = cz + half;
            for ((x, depth), seen) in xs.zip(depths).zip(owners) {
                // What is hidden whatever its depth here needs no root.
                if nearest <= *depth {
                    continue;
                }
                let dx = x as f32 + 0.5 - cx;
                let z = cz + (square - dx * dx).max(0.0).sqrt();
                if z > *depth {
                    (*depth, *seen) = (z, owner);
                }
            }
        }
    }

    /// A tube without ends from a to b.
    pub(crate) fn tube(&mut self, [a, b]: [Place; 2], radius: f32, owner: u32) {
        let offset = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        let length = offset.iter().map(|part| part * part).sum::<f32>().sqrt();
        if length <= 0.0 {
            return;
        }
        let [ux, uy, uz] = offset.map(|part| part / length);
        // What is left of the tube's width where it points to the eye.
        let across = 1.0 - uz * uz;
        if across < 1e-6 {
            return;
        }
        let xs = Self::within(a[0].min(b[0]) - radius, a[0].max(b[0]) + radius, self.width);
        for y in Self::within(a[1].min(b[1]) - radius, a[1].max(b[1]) + radius, self.height) {
            for x in xs.clone() {
                // The point p + (0, 0, z) has the distance `radius` from the axis through a along u:
                // |p|² + z² − (p·u + z u_z)² = r², of whose solutions the greater is seen.
                let (px, py) = (x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]);
                let along = px * ux + py * uy;
                let constant = px * px + py * py - along * along - radius * radius;
                let discriminant = along * along * uz * uz - across * constant;
                if discriminant < 0.0 {
                    continue;
                }
                let z = (along * uz + discriminant.sqrt()) / across;
                let foot = along + z * uz;
                let at = y * self.width + x;
                if (0.0..=length).contains(&foot) && a[2] + z > self.depth[at] {
                    (self.depth[at], self.owner[at]) = (a[2] + z, owner);
                }
            }
        }
    }

    pub(crate) fn triangle(&mut self, corners: [Place; 3], owner: u32) {
        let (width, height) = (self.width, self.height);
        scan(corners, [width, height], |y, xs, slant| {
            for x in xs {
                let (at, z) = (y * width + x, slant.depth(x));
                if z > self.depth[at] {
                    (self.depth[at], self.owner[at]) = (z, owner);
                }
            }
        });
    }
}

/// How deep a triangle is along a row.
#[derive(Clone, Copy)]
pub(crate) struct Slant {
    start: f32,
    slope: f32,
    farthest: f32,
    nearest: f32,
}

impl Slant {
    /// At a sample. Where a triangle is seen from the side its plane is steep: never beyond its corners.
    pub(crate) fn depth(self, x: usize) -> f32 {
        (self.start + self.slope * x as f32).max(self.farthest).min(self.nearest)
    }
}

/// Goes through the rows of a triangle: the row, the samples in it, and the depth at each. Triangles with a common side
/// share no sample and leave none out.
pub(crate) fn scan(
    corners: [Place; 3],
    [width, height]: [usize; 2],
    mut row: impl FnMut(usize, std::ops::Range<usize>, Slant),
) {
    let [a, b, c] = corners;
    // The plane: depth = a.z + gx (x − a.x) + gy (y − a.y).
    let (ab, ac) = ([b[0] - a[0], b[1] - a[1], b[2] - a[2]], [c[0] - a[0], c[1] - a[1], c[2] - a[2]]);
    let twice_area = ab[0] * ac[1] - ab[1] * ac[0];
    if twice_area == 0.0 || !twice_area.is_finite() {
        return;
    }
    let gx = (ab[2] * ac[1] - ab[1] * ac[2]) / twice_area;
    let gy = (ab[0] * ac[2] - ab[2] * ac[0]) / twice_area;
    let (nearest, farthest) = (a[2].max(b[2]).max(c[2]), a[2].min(b[2]).min(c[2]));
    let (top, bottom) = (a[1].min(b[1]).min(c[1]), a[1].max(b[1]).max(c[1]));
    for y in Samples::within(top, bottom, height) {
        let middle = y as f32 + 0.5;
        let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
        for (p, q) in [(a, b), (b, c), (c, a)] {
            // From above, so that both triangles at a side cut it at the same point.
            let (p, q) = if (p[1], p[0]) <= (q[1], q[0]) { (p, q) } else { (q, p) };
            if p[1] <= middle && middle < q[1] {
                let x = p[0] + (middle - p[1]) / (q[1] - p[1]) * (q[0] - p[0]);
                (left, right) = (left.min(x), right.max(x));
            }
        }
        if left < right {
            let start = a[2] + gy * (middle - a[1]) + gx * (0.5 - a[0]);
            row(y, Samples::within(left, right, width), Slant { start, slope: gx, farthest, nearest });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sphere_covers_its_disc_and_bulges_to_the_eye() {
        let mut samples = Samples::new(50, 40);
        samples.sphere([50.3, 40.2, 5.0], 20.0, 3);
        let covered = samples.owner.iter().filter(|owner| **owner == 3).count();
        assert!((covered as f32 / (std::f32::consts::PI * 400.0) - 1.0).abs() < 0.005, "{covered}");
        assert!((samples.depth[40 * 100 + 50] - 25.0).abs() < 0.01);
    }

    #[test]
    fn the_nearer_hides_the_farther_in_either_order() {
        let (far, near) = ([20.0, 20.0, 0.0], [25.0, 20.0, 10.0]);
        let draw = |order: [(Place, u32); 2]| {
            let mut samples = Samples::new(20, 20);
            for (centre, owner) in order {
                samples.sphere(centre, 8.0, owner);
            }
            samples
        };
        let (one, other) = (draw([(far, 1), (near, 2)]), draw([(near, 2), (far, 1)]));
        assert_eq!(one.owner, other.owner);
        assert_eq!(one.owner[20 * 40 + 22], 2, "both are here, the second is nearer");
        assert_eq!(one.owner[20 * 40 + 13], 1, "only the first is here");
    }

    #[test]
    fn a_tube_is_as_wide_as_it_should_be_and_hidden_by_what_is_before_it() {
        let mut samples = Samples::new(50, 20);
        samples.tube([[10.0, 20.0, 0.0], [90.0, 20.0, 0.0]], 4.0, 1);
        let covered = samples.owner.iter().filter(|owner| **owner == 1).count();
        assert!((covered as f32 / 640.0 - 1.0).abs() < 0.03, "{covered}");
        assert!((samples.depth[20 * 100 + 50] - 4.0).abs() < 0.1);
        samples.sphere([50.0, 20.0, 10.0], 6.0, 2);
        assert_eq!(samples.owner[20 * 100 + 50], 2);
        samples.tube([[30.0, 20.0, -9.0], [30.0, 20.0, 50.0]], 4.0, 3); // to the eye: nothing but its end would be seen
        samples.tube([[30.0, 20.0, 1.0], [30.0, 20.0, 1.0]], 4.0, 3);
        assert!(!samples.owner.contains(&3));
    }

    #[test]
    fn triangles_with_a_common_side_leave_no_gap_and_share_no_sample() {
        let corners = [[3.1, 2.2, 0.0], [77.3, 11.7, 5.0], [60.2, 55.5, 9.0], [8.4, 49.9, 4.0]];
        let mut count = vec![0_u8; 80 * 60];
        for triangle in [[0, 1, 2], [2, 3, 0]] {
            scan(triangle.map(|k: usize| corners[k]), [80, 60], |y, xs, _| {
                xs.for_each(|x| count[y * 80 + x] += 1);
            });
        }
        assert!(count.iter().all(|times| *times <= 1));
        let twice = |a: Place, b: Place| a[0] * b[1] - a[1] * b[0];
        let area = 0.5 * (0..4).map(|k| twice(corners[k], corners[(k + 1) % 4])).sum::<f32>();
        let found = count.iter().map(|times| f32::from(*times)).sum::<f32>();
        assert!((found / area - 1.0).abs() < 0.005, "{found} {area}");
    }
}
