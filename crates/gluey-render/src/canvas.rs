//! A picture in the making. Edges are smoothed by coverage: a pixel takes the share of its area that a shape covers.

use crate::colour::{Rgb, from_bytes, mix, to_bytes};
use crate::image::Image;

/// A point of the picture in pixels, from its upper left corner.
pub(crate) type Point = [f32; 2];

/// Lines across a pixel at which discs and polygons are cut.
const CUTS: usize = 8;

/// Pixels with colours as floats, so that many thin layers do not round.
pub(crate) struct Canvas {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<Rgb>,
}

impl Canvas {
    pub(crate) fn new([width, height]: [u32; 2], background: [u8; 3]) -> Self {
        let (width, height) = (width as usize, height as usize);
        Self { width, height, pixels: vec![from_bytes(background); width * height] }
    }

    pub(crate) fn into_image(self) -> Image {
        let pixels = self.pixels.iter().flat_map(|colour| to_bytes(*colour)).collect();
        Image { width: self.width as u32, height: self.height as u32, pixels }
    }

    pub(crate) fn blend(&mut self, x: usize, y: usize, colour: Rgb, share: f32) {
        let pixel = &mut self.pixels[y * self.width + x];
        *pixel = mix(*pixel, colour, share);
    }

    /// Whole pixels of the canvas within a box of corners; empty where the box is outside.
    fn pixels_within(&self, lower: Point, upper: Point) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let range = |lower: f32, upper: f32, end: usize| {
            let start = lower.floor().clamp(0.0, end as f32) as usize;
            start..(upper.ceil().clamp(0.0, end as f32) as usize).max(start)
        };
        (range(lower[0], upper[0], self.width), range(lower[1], upper[1], self.height))
    }

    /// Fills a disc with the colours that `paint` gives at (x, y)/radius from its centre and the distance in pixels.
    pub(crate) fn disc(&mut self, centre: Point, radius: f32, paint: impl Fn([f32; 2], f32) -> Rgb) {
        let [cx, cy] = centre;
        let (_, ys) = self.pixels_within([cx - radius, cy - radius], [cx + radius, cy + radius]);
        for y in ys {
            // Half the width of the disc at each cut.
            let halves: [f32; CUTS] = std::array::from_fn(|cut| {
                let dy = y as f32 + (cut as f32 + 0.5) / CUTS as f32 - cy;
                (radius * radius - dy * dy).max(0.0).sqrt()
            });
            let least = halves.iter().copied().fold(f32::INFINITY, f32::min);
            let most = halves.iter().copied().fold(0.0, f32::max);
            let (xs, _) = self.pixels_within([cx - most, 0.0], [cx + most, 0.0]);
            let dy = y as f32 + 0.5 - cy;
            for x in xs {
                let (left, right) = (x as f32 - cx, x as f32 + 1.0 - cx);
                let share = if left >= -least && right <= least {
                    1.0
                } else {
                    halves.iter().map(|half| (right.min(*half) - left.max(-half)).max(0.0)).sum::<f32>() / CUTS as f32
                };
                if share > 0.0 {
                    let dx = left + 0.5;
                    self.blend(x, y, paint([dx / radius, dy / radius], (dx * dx + dy * dy).sqrt()), share);
                }
            }
        }
    }

    /// A line from a to b with round ends; `half` is half its width in pixels.
    pub(crate) fn line(&mut self, [a, b]: [Point; 2], half: f32, colour: Rgb, strength: f32) {
        let reach = half + 0.5;
        let (xs, ys) = self.pixels_within(
            [a[0].min(b[0]) - reach, a[1].min(b[1]) - reach],
            [a[0].max(b[0]) + reach, a[1].max(b[1]) + reach],
        );
        let along = [b[0] - a[0], b[1] - a[1]];
        let square = along[0] * along[0] + along[1] * along[1];
        // Lines thinner than a pixel are as faint as they are thin.
        let strength = strength * (2.0 * half).min(1.0);
        let half = half.max(0.5);
        for y in ys {
            for x in xs.clone() {
                let [px, py] = [x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]];
                let share = if square > 0.0 { ((px * along[0] + py * along[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
                let (dx, dy) = (px - share * along[0], py - share * along[1]);
                let covered = (0.5 + half - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0);
                if covered > 0.0 {
                    self.blend(x, y, colour, strength * covered);
                }
            }
        }
    }

    /// Fills a closed polygon; where it crosses itself, what is enclosed an even number of times is left out.
    pub(crate) fn polygon(&mut self, corners: &[Point], colour: Rgb, strength: f32) {
        let (mut lower, mut upper) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for corner in corners {
            (lower, upper) = (
                [lower[0].min(corner[0]), lower[1].min(corner[1])],
                [upper[0].max(corner[0]), upper[1].max(corner[1])],
            );
        }
        let (xs, ys) = self.pixels_within(lower, upper);
        let mut covered = vec![0.0_f32; xs.len()];
        let mut crossings: Vec<f32> = Vec::new();
        for y in ys {
            covered.fill(0.0);
            for cut in 0..CUTS {
                let height = y as f32 + (cut as f32 + 0.5) / CUTS as f32;
                crossings.clear();
                for (k, a) in corners.iter().enumerate() {
                    let b = corners[(k + 1) % corners.len()];
                    if (a[1] <= height) != (b[1] <= height) {
                        crossings.push(a[0] + (height - a[1]) / (b[1] - a[1]) * (b[0] - a[0]));
                    }
                }
                crossings.sort_by(f32::total_cmp);
                for span in crossings.chunks_exact(2) {
                    add_span(&mut covered, [span[0] - xs.start as f32, span[1] - xs.start as f32]);
                }
            }
            for (x, share) in xs.clone().zip(&covered) {
                if *share > 0.0 {
                    self.blend(x, y, colour, strength * (share / CUTS as f32).min(1.0));
                }
            }
        }
    }

    /// Fills an upright rectangle from its upper left to its lower right corner.
    pub(crate) fn rectangle(&mut self, upper_left: Point, lower_right: Point, colour: Rgb) {
        let ([left, top], [right, bottom]) = (upper_left, lower_right);
        self.polygon(&[[left, top], [right, top], [right, bottom], [left, bottom]], colour, 1.0);
    }
}

/// Adds to each pixel of a row how much of it lies within the span.
fn add_span(covered: &mut [f32], [start, end]: [f32; 2]) {
    let (start, end) = (start.max(0.0), end.min(covered.len() as f32));
    if end <= start {
        return;
    }
    let (first, last) = (start as usize, (end.ceil() as usize).min(covered.len()) - 1);
    for (k, share) in covered.iter_mut().enumerate().take(last + 1).skip(first) {
        *share += end.min((k + 1) as f32) - start.max(k as f32);
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::PI;

    use super::*;

    fn black() -> Canvas {
        Canvas::new([80, 60], [0; 3])
    }

    /// What is covered, in pixels.
    fn area(canvas: &Canvas) -> f32 {
        canvas.pixels.iter().map(|colour| colour[0]).sum()
    }

    #[test]
    fn a_disc_covers_its_area() {
        for radius in [0.3, 0.8, 1.5, 3.0, 7.3, 20.0] {
            let mut mean = 0.0;
            for k in 0..25_u8 {
                let centre = [40.0 + f32::from(k % 5) / 5.0, 30.0 + f32::from(k / 5) / 5.0];
                let mut canvas = black();
                canvas.disc(centre, radius, |_, _| [1.0; 3]);
                let found = area(&canvas) / (PI * radius * radius);
                assert!(radius < 3.0 || (found - 1.0).abs() < 0.005, "radius {radius} at {centre:?}: {found}");
                mean += found / 25.0;
            }
            assert!((mean - 1.0).abs() < 0.005, "radius {radius}: {mean}");
        }
    }

    #[test]
    fn polygons_and_lines_cover_their_area() {
        let mut canvas = black();
        canvas.polygon(&[[10.3, 5.2], [50.9, 12.0], [30.0, 48.5]], [1.0; 3], 1.0);
        let exact = 0.5 * ((50.9 - 10.3) * (48.5 - 5.2) - (30.0 - 10.3) * (12.0 - 5.2_f32)).abs();
        assert!((area(&canvas) / exact - 1.0).abs() < 0.002);

        let mut canvas = black();
        canvas.line([[10.0, 10.0], [40.0, 50.0]], 2.0, [1.0; 3], 1.0);
        let exact = 50.0 * 4.0 + PI * 4.0;
        assert!((area(&canvas) / exact - 1.0).abs() < 0.01, "{}", area(&canvas));

        let mut canvas = black();
        canvas.line([[10.2, 10.0], [10.2, 50.0]], 0.1, [1.0; 3], 1.0);
        assert!((area(&canvas) / 8.0 - 1.0).abs() < 0.05, "a thin line: {}", area(&canvas));
    }

    #[test]
    fn what_is_outside_costs_nothing_and_harms_nothing() {
        let mut canvas = black();
        canvas.disc([-50.0, 1e9], 10.0, |_, _| [1.0; 3]);
        canvas.disc([f32::NAN, 3.0], 10.0, |_, _| [1.0; 3]);
        canvas.line([[-100.0, -5.0], [1e6, -5.0]], 2.0, [1.0; 3], 1.0);
        canvas.polygon(&[[-9.0, -9.0], [-1.0, -9.0], [-1.0, 99.0]], [1.0; 3], 1.0);
        canvas.polygon(&[], [1.0; 3], 1.0);
        assert_eq!(area(&canvas), 0.0);
        canvas.polygon(&[[-1e6, -1e6], [1e6, -1e6], [1e6, 1e6], [-1e6, 1e6]], [1.0; 3], 1.0);
        assert!((area(&canvas) - 4800.0).abs() < 1.0);
    }
}
