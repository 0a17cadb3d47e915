//! Pictures side by side, in a grid with captions and one legend.

use crate::canvas::Canvas;
use crate::image::Image;
use crate::legend::{self, ink};
use crate::style::{Furniture, Style};
use crate::text::{Align, fitted, width};

/// What stands above the columns and before the rows; what is missing is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captions {
    /// Above each column.
    pub columns: Vec<String>,
    /// Before each row.
    pub rows: Vec<String>,
}

/// Puts pictures of one style into a grid, row by row.
#[must_use]
pub fn montage(rows: &[Vec<Image>], captions: &Captions, style: &Style) -> Image {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |side: fn(&Image) -> u32| rows.iter().flatten().map(side).max().unwrap_or(1) as f32;
    let (wide, high) = (cell(|image| image.width), cell(|image| image.height));
    // What is written stands for all cells: where there are several it is as large as in a picture of more than one.
    let several = rows.iter().map(Vec::len).sum::<usize>() > 1;
    let larger = style.size.map(|side| if several { side + side / 2 } else { side });
    let style = Style { furniture: Furniture::All, size: larger, ..style.clone() };
    let size = style.text_size();
    let gap = (0.6 * size).round();
    let widest = captions.rows.iter().map(|caption| width(caption, size)).fold(0.0, f32::max);
    let left = if widest > 0.0 { (widest + 1.6 * size).round() } else { gap };
    let top = if captions.columns.is_empty() { gap } else { (2.2 * size).round() };
    let place = |row: usize, column: usize| (left + column as f32 * (wide + gap), top + row as f32 * (high + gap));
    let (legend_left, bottom) = place(rows.len(), columns);
    let legend = legend::room(&style);
    let mut canvas = Canvas::new([(legend_left + legend).ceil() as u32, bottom.ceil() as u32], style.background);
    let ink = ink(style.background);
    for (k, caption) in captions.columns.iter().take(columns).enumerate() {
        let caption = fitted(caption, size, wide);
        canvas.text(&caption, [place(0, k).0 + 0.5 * wide, 0.5 * top], (size, Align::Centre), ink);
    }
    for (k, caption) in captions.rows.iter().take(rows.len()).enumerate() {
        let at = [left - 0.8 * size, place(k, 0).1 + 0.5 * high];
        canvas.text(caption, at, (size, Align::Right), ink);
    }
    legend::paint_at(&mut canvas, &style, [legend_left + 0.4 * size, top]);
    let mut image = canvas.into_image();
    for (row, images) in rows.iter().enumerate() {
        for (column, cell) in images.iter().enumerate() {
            let (x, y) = place(row, column);
            image.paste(cell, x as u32, y as u32);
        }
    }
    image
}
