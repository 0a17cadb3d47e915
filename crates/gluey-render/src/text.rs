//! Text in the font DejaVu Sans, which is part of the program: pictures look the same everywhere.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};

use crate::canvas::{Canvas, Point};
use crate::colour::Rgb;

/// Read once; a damaged font of the program itself would leave pictures without text.
static FONT: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("../../../assets/DejaVuSans.ttf")).ok());

/// Where the point that places a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Centre,
    Right,
}

/// Width of a text in pixels.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    let Some(font) = FONT.as_ref().map(|font| font.as_scaled(PxScale::from(size))) else { return 0.0 };
    let (mut width, mut last) = (0.0, None);
    for letter in text.chars() {
        let glyph = font.glyph_id(letter);
        width += last.map_or(0.0, |last| font.kern(last, glyph)) + font.h_advance(glyph);
        last = Some(glyph);
    }
    width
}

/// The text cut to a width, with dots where something is missing.
pub(crate) fn fitted(text: &str, size: f32, room: f32) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    while letters.pop().is_some() {
        let short: String = letters.iter().chain(['…'].iter()).collect();
        if width(&short, size) <= room {
            return short;
        }
    }
    String::new()
}

impl Canvas {
    /// Writes a line of text; the point is on its middle height, at its start, centre or end.
    pub(crate) fn text(&mut self, text: &str, at: Point, (size, align): (f32, Align), colour: Rgb) {
        let Some(font) = FONT.as_ref().map(|font| font.as_scaled(PxScale::from(size))) else { return };
        let shift = match align {
            Align::Left => 0.0,
            Align::Centre => 0.5,
            Align::Right => 1.0,
        };
        let mut x = at[0] - shift * width(text, size);
        // Figures and capitals, about 0.63 of the size high in this font, are centred.
        let baseline = at[1] + 0.315 * size;
        let mut last = None;
        for letter in text.chars() {
            let glyph = font.glyph_id(letter);
            x += last.map_or(0.0, |last| font.kern(last, glyph));
            let placed = glyph.with_scale_and_position(PxScale::from(size), point(x, baseline));
            if let Some(outline) = font.outline_glyph(placed) {
                let bounds = outline.px_bounds();
                outline.draw(|dx, dy, share| {
                    let (px, py) = (bounds.min.x + dx as f32, bounds.min.y + dy as f32);
                    if px >= 0.0 && py >= 0.0 && px < self.width as f32 && py < self.height as f32 {
                        self.blend(px as usize, py as usize, colour, share.min(1.0));
                    }
                });
            }
            x += font.h_advance(glyph);
            last = Some(glyph);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_where_it_is_asked_for() {
        let mut canvas = Canvas::new([200, 40], [255; 3]);
        canvas.text("−γ = 12.5", [190.0, 20.0], (16.0, Align::Right), [0.0; 3]);
        let dark = |x: usize| (0..40).any(|y| canvas.pixels[y * 200 + x][0] < 0.5);
        let columns: Vec<usize> = (0..200).filter(|x| dark(*x)).collect();
        let wide = width("−γ = 12.5", 16.0);
        assert!(wide > 60.0 && wide < 110.0, "{wide}");
        assert!(columns[0] as f32 >= 189.0 - wide && columns[0] < 130, "{columns:?}");
        assert!((185..=190).contains(columns.last().unwrap()));
        let rows: Vec<usize> = (0..40).filter(|y| (0..200).any(|x| canvas.pixels[y * 200 + x][0] < 0.5)).collect();
        assert!(rows[0] > 10 && *rows.last().unwrap() < 30, "{rows:?}");
    }

    #[test]
    fn text_outside_is_cut_and_long_text_is_shortened() {
        let mut canvas = Canvas::new([20, 10], [255; 3]);
        canvas.text("far too long, and too high", [-30.0, 2.0], (30.0, Align::Left), [0.0; 3]);
        let short = fitted("a rather long name", 12.0, 60.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 60.0, "{short}");
        assert_eq!(fitted("short", 12.0, 60.0), "short");
        assert_eq!(fitted("x", 12.0, 1.0), "");
    }
}
