//! Surfaces that are seen through: each layer in front of what is opaque takes a share of the light, in any order.
//!
//! A layer of opacity α has the optical depth −ln(1 − α); depths add up, and what comes through is e^(−sum).

use crate::canvas::Canvas;
use crate::colour::{Rgb, mix};
use crate::samples::{FINE, Place, Samples, scan};

/// Layers over the pixels of a picture.
pub(crate) struct Glass {
    width: usize,
    /// Sum of depth × colour, and of depths.
    layers: Vec<[f32; 4]>,
}

impl Glass {
    pub(crate) fn new(samples: &Samples) -> Self {
        let (width, height) = (samples.width / FINE, samples.height / FINE);
        Self { width, layers: vec![[0.0; 4]; width * height] }
    }

    /// Adds a triangle where nothing opaque hides it.
    pub(crate) fn triangle(&mut self, samples: &Samples, corners: [Place; 3], colour: Rgb, opacity: f32) {
        let depth = -(1.0 - opacity.min(0.99)).ln() / (FINE * FINE) as f32;
        let [r, g, b] = colour.map(|part| part * depth);
        scan(corners, [samples.width, samples.height], |y, xs, slant| {
            for x in xs {
                if slant.depth(x) > samples.depth[y * samples.width + x] {
                    let layer = &mut self.layers[y / FINE * self.width + x / FINE];
                    *layer = [layer[0] + r, layer[1] + g, layer[2] + b, layer[3] + depth];
                }
            }
        });
    }

    /// Puts the layers over a picture.
    pub(crate) fn cover(&self, canvas: &mut Canvas) {
        for (pixel, [r, g, b, depth]) in canvas.pixels.iter_mut().zip(&self.layers) {
            if *depth > 0.0 {
                *pixel = mix(*pixel, [r / depth, g / depth, b / depth], 1.0 - (-depth).exp());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_in_front_are_seen_through_and_layers_behind_are_not_seen() {
        let mut samples = Samples::new(8, 8);
        let square = |z: f32| [[0.0, 0.0, z], [40.0, 0.0, z], [0.0, 40.0, z]];
        samples.triangle(square(5.0), 1);
        let mut glass = Glass::new(&samples);
        glass.triangle(&samples, square(4.0), [1.0, 0.0, 0.0], 0.5);
        let mut canvas = Canvas::new([8, 8], [0; 3]);
        glass.cover(&mut canvas);
        assert_eq!(canvas.pixels[9], [0.0; 3], "behind");
        glass.triangle(&samples, square(6.0), [1.0, 0.0, 0.0], 0.5);
        glass.triangle(&samples, square(7.0), [0.0, 1.0, 0.0], 0.5);
        glass.cover(&mut canvas);
        let [r, g, b] = canvas.pixels[9];
        assert!((r - 0.375).abs() < 1e-3 && (g - 0.375).abs() < 1e-3 && b == 0.0, "3/4 is taken by both: {r} {g} {b}");
    }
}
