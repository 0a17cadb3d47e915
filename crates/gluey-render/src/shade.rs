//! Shade in 3D pictures: a surface is darker where its neighbours stand before it.
//!
//! T. Luft, C. Colditz and O. Deussen, Image enhancement by unsharp masking the depth buffer, SIGGRAPH 2006: the mean
//! depth around a pixel, less that of its own surface.

use crate::samples::{FINE, Samples};

/// How much is taken from what stands in the deepest shade.
const SHADE: f32 = 0.5;
/// Samples along a side of the blocks of which means are taken.
const BLOCK: usize = 2 * FINE;
/// The greatest radius that counts, in samples: a few large spheres would make all of a picture dark.
const MOST: f32 = 80.0;

/// The share of light that each pixel lacks. Shade reaches as far as a typical radius, in samples; `slope` tells how
/// the depth of an owner changes to the right and down if it is flat.
pub(crate) fn of(samples: &Samples, radius: f32, slope: impl Fn(u32) -> Option<[f32; 2]>) -> Vec<f32> {
    let radius = radius.min(MOST);
    let around = Surroundings::of(samples, ((0.9 * radius / BLOCK as f32).round() as usize).max(1));
    let (wide, high) = (samples.width / FINE, samples.height / FINE);
    let mut shades = vec![0.0; wide * high];
    for y in 0..high {
        let rows = Between::new(y, high, around.height);
        for x in 0..wide {
            let at = FINE * y * samples.width + FINE * x;
            let own = samples.depth[at];
            if !own.is_finite() {
                continue;
            }
            let columns = Between::new(x, wide, around.width);
            let mean =
                |k: usize| rows.value(|row| columns.value(|column| around.means[row * around.width + column][k]));
            // The neighbours of a flat face lie where its plane goes on, more of them on one side near its border.
            let plane = slope(samples.owner[at])
                .map_or(0.0, |[gx, gy]| gx * (mean(1) - (FINE * x) as f32) + gy * (mean(2) - (FINE * y) as f32));
            let before = (mean(0) - own - plane) / (1.6 * radius);
            // x e^(1−x): what stands far before it, apart from it, gives less shade than its neighbours do.
            shades[y * wide + x] = if before > 0.0 { SHADE * before * (1.0 - before).exp() } else { 0.0 };
        }
    }
    shades
}

/// What is seen around each block of samples.
struct Surroundings {
    width: usize,
    height: usize,
    /// Mean depth, and mean place to the right and down, of what is seen.
    means: Vec<[f32; 3]>,
}

impl Surroundings {
    fn of(samples: &Samples, reach: usize) -> Self {
        let [width, height] = [samples.width, samples.height].map(|samples| samples.div_ceil(BLOCK));
        let mut sums = vec![[0.0_f32; 4]; width * height]; // of depth, x, y and 1
        for y in 0..samples.height {
            let row = &samples.depth[y * samples.width..(y + 1) * samples.width];
            for (x, depth) in row.iter().enumerate().filter(|(_, depth)| depth.is_finite()) {
                let sum = &mut sums[y / BLOCK * width + x / BLOCK];
                *sum = [sum[0] + depth, sum[1] + x as f32, sum[2] + y as f32, sum[3] + 1.0];
            }
        }
        // Squares of squares: nearer blocks weigh more.
        let sums = blurred(&blurred(&sums, [width, height], reach), [width, height], reach);
        let means = sums.iter().map(|[depth, x, y, count]| [depth, x, y].map(|sum| sum / count.max(1.0))).collect();
        Self { width, height, means }
    }
}

/// A place between the middles of two blocks, along one axis.
#[derive(Clone, Copy)]
struct Between {
    lower: usize,
    upper: usize,
    share: f32,
}

impl Between {
    /// Where the middle of a pixel is, of so many, among so many blocks.
    fn new(pixel: usize, pixels: usize, blocks: usize) -> Self {
        let at = ((pixel as f32 + 0.5) * blocks as f32 / pixels as f32 - 0.5).clamp(0.0, (blocks - 1) as f32);
        let lower = at as usize;
        Self { lower, upper: (lower + 1).min(blocks - 1), share: at - lower as f32 }
    }

    fn value(self, of: impl Fn(usize) -> f32) -> f32 {
        (1.0 - self.share) * of(self.lower) + self.share * of(self.upper)
    }
}

/// Sums over squares of 2·reach + 1 blocks a side, along rows and then along columns.
fn blurred(values: &[[f32; 4]], [width, height]: [usize; 2], reach: usize) -> Vec<[f32; 4]> {
    let plus = |a: [f32; 4], b: [f32; 4], sign: f32| [0, 1, 2, 3].map(|k| a[k] + sign * b[k]);
    let along = |values: &[[f32; 4]], length: usize, at: &dyn Fn(usize) -> usize, out: &mut [[f32; 4]]| {
        let mut sum = (0..reach.min(length)).fold([0.0; 4], |sum, k| plus(sum, values[at(k)], 1.0));
        for k in 0..length {
            if k + reach < length {
                sum = plus(sum, values[at(k + reach)], 1.0);
            }
            out[at(k)] = sum;
            if k >= reach {
                sum = plus(sum, values[at(k - reach)], -1.0);
            }
        }
    };
    let mut rows = vec![[0.0; 4]; values.len()];
    for y in 0..height {
        along(values, width, &|k| y * width + k, &mut rows);
    }
    let mut columns = vec![[0.0; 4]; values.len()];
    for x in 0..width {
        along(&rows, height, &|k| k * width + x, &mut columns);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blur_keeps_the_sum_inside() {
        let mut values = vec![[0.0; 4]; 20 * 15];
        values[7 * 20 + 10] = [1.0, 0.0, 0.0, 2.0];
        let blurred = blurred(&values, [20, 15], 3);
        assert_eq!(blurred.iter().map(|sum| sum[0]).sum::<f32>(), 49.0);
        assert_eq!([4 * 20 + 7, 10 * 20 + 13, 3 * 20 + 10].map(|at| blurred[at][3]), [2.0, 2.0, 0.0]);
    }

    #[test]
    fn what_stands_behind_others_is_darker() {
        let mut samples = Samples::new(60, 60);
        samples.triangle([[-500.0, -500.0, 0.0], [900.0, -500.0, 0.0], [-500.0, 900.0, 0.0]], 1);
        samples.sphere([60.0, 60.0, 20.0], 20.0, 2);
        let shades = of(&samples, 20.0, |_| None);
        let (near, far, on_top) = (shades[30 * 60 + 42], shades[2 * 60 + 2], shades[30 * 60 + 30]);
        assert!(near > far + 0.05 && on_top == 0.0, "{near} {far} {on_top}");
    }

    #[test]
    fn a_slanted_floor_gives_itself_no_shade() {
        let mut samples = Samples::new(60, 60);
        samples.triangle([[20.0, 10.0, 10.0], [110.0, 10.0, 10.0], [60.0, 110.0, 210.0]], 1);
        let greatest = |shades: Vec<f32>| shades.into_iter().fold(0.0, f32::max);
        let with = greatest(of(&samples, 20.0, |_| Some([0.0, 2.0])));
        let without = greatest(of(&samples, 20.0, |_| None));
        assert!(with < 0.06 && without > 0.3, "{with} {without}");
    }
}
