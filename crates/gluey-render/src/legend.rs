//! What stands around the particles: the time, and what the colours mean.

use gluey::scene::ColourBy;

use crate::canvas::Canvas;
use crate::colour::{Rgb, from_bytes, lightness, of_glue, of_share};
use crate::style::{Area, Furniture, Style};
use crate::text::{Align, fitted, width};

/// Steps of a bar of colours.
const BAR: u16 = 128;
/// Most groups that are named.
const MOST_GROUPS: usize = 16;
/// Height of a bar, in heights of text.
const BAR_HEIGHT: f32 = 9.0;
/// Widest legend, relative to the picture.
const WIDEST: f32 = 0.3;

/// One entry of the legend.
enum Entry {
    /// Colours and names of the groups.
    Groups,
    /// What a bar of colours tells, its ends, and of what.
    Bar { title: String, range: [f64; 2], of: Scale },
}

/// Which colours a bar has.
#[derive(Clone, Copy)]
enum Scale {
    Particles,
    Contacts,
}

fn entries(style: &Style) -> Vec<Entry> {
    let mut entries = Vec::new();
    match style.colour {
        ColourBy::Group if style.groups.len() < 2 => {}
        ColourBy::Group => entries.push(Entry::Groups),
        field => {
            entries.push(Entry::Bar {
                title: field.field().title.to_owned(),
                range: style.range,
                of: Scale::Particles,
            });
        }
    }
    if let Some(scale) = style.glue {
        entries.push(Entry::Bar { title: "glue −γ".to_owned(), range: [0.0, scale], of: Scale::Contacts });
    }
    entries
}

/// Width of the legends in pixels; 0 where there is nothing to say.
pub(crate) fn room(style: &Style) -> f32 {
    let entries = entries(style);
    if entries.is_empty() || style.furniture != Furniture::All {
        return 0.0;
    }
    let size = style.text_size();
    let widest = |entry: &Entry| match entry {
        Entry::Groups => {
            1.6 * size + style.groups.iter().map(|group| width(&group.name, 0.9 * size)).fold(0.0, f32::max)
        }
        Entry::Bar { title, range, .. } => {
            let labels = ticks(*range).into_iter().map(|(_, label)| width(&label, 0.9 * size)).fold(0.0, f32::max);
            (1.8 * size + labels).max(width(title, size))
        }
    };
    let needed = entries.iter().map(widest).fold(0.0, f32::max) + 1.6 * size;
    needed.min(WIDEST * style.size[0] as f32)
}

/// The part of the picture that is left for the particles.
pub(crate) fn area(style: &Style) -> Area {
    let [width, height] = style.size.map(f64::from);
    if style.furniture == Furniture::Bare {
        return Area { left: 0.0, top: 0.0, right: width, bottom: height };
    }
    let line = f64::from(1.8 * style.text_size());
    Area { left: 0.0, top: line.min(0.3 * height), right: width - f64::from(room(style)), bottom: height }
}

/// Black or white, whichever is read on the background.
pub(crate) fn ink(background: [u8; 3]) -> Rgb {
    if lightness(from_bytes(background)) > 50.0 { [0.13; 3] } else { [0.93; 3] }
}

pub(crate) fn write_time(canvas: &mut Canvas, time: f64, style: &Style) {
    let size = style.text_size();
    let text = format!("t = {}", stamp(time));
    back(canvas, style, [0.0, 0.0], [1.6 * size + width(&text, size), 2.2 * size]);
    canvas.text(&text, [0.8 * size, 1.1 * size], (size, Align::Left), ink(style.background));
}

/// A time with six digits, without the noise of the last ones.
pub(crate) fn stamp(time: f64) -> String {
    let rounded: f64 = format!("{time:.5e}").parse().unwrap_or(time);
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// Draws the legends at the right of a picture.
pub(crate) fn paint(canvas: &mut Canvas, style: &Style) {
    let (left, size) = (style.size[0] as f32 - room(style), style.text_size());
    let heights = entries(style).into_iter().map(|entry| match entry {
        Entry::Groups => 0.6 + 1.4 * style.groups.len().min(MOST_GROUPS) as f32,
        Entry::Bar { .. } => 1.5 + BAR_HEIGHT + 1.8,
    });
    let height: f32 = heights.sum();
    if height > 0.0 {
        back(canvas, style, [left, 0.0], [style.size[0] as f32, (1.8 + height) * size]);
    }
    paint_at(canvas, style, [left + 0.4 * size, 1.8 * size]);
}

/// A ground on which text is read whatever is behind it.
fn back(canvas: &mut Canvas, style: &Style, [left, top]: [f32; 2], [right, bottom]: [f32; 2]) {
    let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
    canvas.polygon(&corners, from_bytes(style.background), 0.85);
}

/// Draws the legends below each other, from a corner.
pub(crate) fn paint_at(canvas: &mut Canvas, style: &Style, [left, mut top]: [f32; 2]) {
    let (size, ink) = (style.text_size(), ink(style.background));
    let right = canvas.width as f32 - 0.4 * size;
    for entry in entries(style) {
        match entry {
            Entry::Groups => {
                for group in style.groups.iter().take(MOST_GROUPS) {
                    let centre = [left + 0.5 * size, top + 0.5 * size];
                    canvas.disc(centre, 0.46 * size, |_, _| ink);
                    canvas.disc(centre, 0.40 * size, |_, _| style.shown(from_bytes(group.colour)));
                    let name = fitted(&group.name, 0.9 * size, right - left - 1.4 * size);
                    canvas.text(&name, [left + 1.4 * size, centre[1]], (0.9 * size, Align::Left), ink);
                    top += 1.4 * size;
                }
            }
            Entry::Bar { title, range, of } => {
                let colour = |share: f32| match of {
                    Scale::Particles => style.shown(of_share(share)),
                    Scale::Contacts => of_glue(share),
                };
                canvas.text(&fitted(&title, size, right - left), [left, top + 0.5 * size], (size, Align::Left), ink);
                let (top_of_bar, height) = (top + 1.5 * size, BAR_HEIGHT * size);
                let at = |share: f32| top_of_bar + (1.0 - share) * height;
                // Each step down to the end of the bar: the next ones cover it without a seam.
                for step in (0..BAR).rev() {
                    let (low, high) = (f32::from(step) / f32::from(BAR), f32::from(step + 1) / f32::from(BAR));
                    canvas.rectangle([left, at(high)], [left + size, at(0.0)], colour(0.5 * (low + high)));
                }
                let corners = [[left, at(1.0)], [left + size, at(1.0)], [left + size, at(0.0)], [left, at(0.0)]];
                for k in 0..4 {
                    canvas.line([corners[k], corners[(k + 1) % 4]], 0.5, ink, 1.0);
                }
                for (share, label) in ticks(range) {
                    let y = at(share as f32);
                    canvas.line([[left + size, y], [left + 1.3 * size, y]], 0.5, ink, 1.0);
                    canvas.text(&label, [left + 1.5 * size, y], (0.9 * size, Align::Left), ink);
                }
                top = top_of_bar + height + 1.2 * size;
            }
        }
        top += 0.6 * size;
    }
}

/// Round numbers between two ends: where they are (0 to 1), and how they are written.
pub(crate) fn ticks([least, greatest]: [f64; 2]) -> Vec<(f64, String)> {
    let step = nice((greatest - least) / 4.0);
    if !(step > 0.0 && step.is_finite()) {
        return Vec::new();
    }
    let slack = 1e-9 * (greatest - least);
    let (first, last) = (((least - slack) / step).ceil(), ((greatest + slack) / step).floor());
    if last - first > 20.0 {
        return Vec::new();
    }
    let largest = least.abs().max(greatest.abs());
    let power = largest.log10().floor();
    // Very large and very small numbers share a power of ten.
    let plain = (-3.0..5.0).contains(&power);
    let unit = if plain { 1.0 } else { 10_f64.powf(power) };
    // As many digits as tell a step from its neighbours: 0.25 has two.
    let whole = |digits: &usize| {
        let scaled = step / unit * 10_f64.powf(*digits as f64);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    let digits = (0..12).find(whole).unwrap_or(12);
    let mut ticks = Vec::new();
    let mut k = first;
    while k <= last {
        let value = k * step;
        let number = value / unit + 0.0; // no −0
        let number = format!("{number:.digits$}").replace('-', "−");
        let label = if plain || value == 0.0 { number } else { format!("{number}e{power}").replace('-', "−") };
        ticks.push(((value - least) / (greatest - least), label));
        k += 1.0;
    }
    ticks
}

/// The least of 1, 2, 2.5 and 5 times a power of ten that is not less.
pub(crate) fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value * (1.0 - 1e-9)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: [f64; 2]) -> Vec<String> {
        ticks(range).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(labels([0.0, 1.0]), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(labels([-3.0, 4.0]), ["−2", "0", "2", "4"]);
        assert_eq!(labels([0.0, 2e-7]), ["0.0", "0.5e−7", "1.0e−7", "1.5e−7", "2.0e−7"]);
        assert_eq!(labels([1.0, 1.0]), [""; 0]);
        assert!(labels([0.0, f64::INFINITY]).is_empty() && labels([f64::NAN, 1.0]).is_empty());
        assert!(labels([1e15, 1e15 + 1.0]).len() < 20);
        for (share, _) in ticks([0.013, 0.078]) {
            assert!((0.0..=1.0).contains(&share));
        }
    }

    #[test]
    fn stamps_are_short() {
        assert_eq!(stamp(0.1 + 0.2), "0.3");
        assert_eq!(stamp(12.0), "12");
        assert_eq!(stamp(1e-9), "1e-9");
    }
}
