//! Finished pictures: eight bits a channel, and PNG files of them.

use std::io::{self, Write};

/// A picture: rows from the top, pixels from the left, red, green and blue each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Three bytes a pixel (sRGB).
    pub pixels: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    #[must_use]
    pub fn filled(width: u32, height: u32, colour: [u8; 3]) -> Self {
        Self { width, height, pixels: colour.repeat(width as usize * height as usize) }
    }

    /// The colour of a pixel of the picture.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let at = 3 * (y as usize * self.width as usize + x as usize);
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }

    /// Copies a picture into this one; what lies outside is left out.
    pub fn paste(&mut self, other: &Self, left: u32, top: u32) {
        let width = other.width.min(self.width.saturating_sub(left)) as usize;
        let height = other.height.min(self.height.saturating_sub(top)) as usize;
        for row in 0..height {
            let from = 3 * row * other.width as usize;
            let to = 3 * ((top as usize + row) * self.width as usize + left as usize);
            self.pixels[to..to + 3 * width].copy_from_slice(&other.pixels[from..from + 3 * width]);
        }
    }

    /// Writes the picture as PNG: the same picture gives the same bytes.
    pub fn write_png(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        // Large even areas: fast compression is within a tenth of the best, at a fraction of its time.
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header().map_err(io::Error::other)?;
        writer.write_image_data(&self.pixels).map_err(io::Error::other)?;
        writer.finish().map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_holds_the_pixels() {
        let mut image = Image::filled(5, 3, [1, 2, 3]);
        image.paste(&Image::filled(4, 4, [200, 100, 50]), 3, 1);
        assert_eq!(
            [image.pixel(2, 1), image.pixel(3, 1), image.pixel(4, 2)],
            [[1, 2, 3], [200, 100, 50], [200, 100, 50]]
        );
        let mut file = Vec::new();
        image.write_png(&mut file).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(&file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height, &pixels), (5, 3, &image.pixels));
    }
}
