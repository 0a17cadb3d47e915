//! Drawing: plotters makes the SVG, resvg the pixels.

use std::sync::Arc;

use plotters::coord::Shift;
use plotters::element::{Circle, Cross, PathElement, Rectangle, Text};
use plotters::prelude::{
    BLACK, Color, DrawingArea, IntoDrawingArea, IntoFont, RGBColor, SVGBackend, ShapeStyle, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, TextStyle};
use resvg::{tiny_skia, usvg};

use crate::axis::Ruler;
use crate::{Curve, Figure, Mark, Note, Panel, Pen, PlotError, Side};

/// Size in pixels.
const SIZE: (i32, i32) = (1280, 800);

/// The drawing is made this much larger, since plotters rounds to whole numbers, and shown at `SIZE`.
const FINE: i32 = 8;

/// The font of PNGs; SVGs name it and leave the choice to the viewer.
const FONT: &[u8] = include_bytes!("../../../assets/DejaVuSans.ttf");
const FAMILY: &str = "DejaVu Sans";

const TITLE: i32 = 26;
const LABEL: i32 = 21;
const TICKS: i32 = 18;
const NOTE: i32 = 18;
const LEGEND: i32 = 19;

/// Room above the panels: the title, then a line for each row of the legend.
const TITLE_ROOM: i32 = 62;
const LEGEND_ROW: i32 = 30;

/// Room beside the axes.
const LEFT: i32 = 104;
const RIGHT: i32 = 26;
const BOTTOM: i32 = 78;

/// Dark to light, so that neighbours differ in grey, and told apart by colour-blind eyes.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 92, 160),
    RGBColor(204, 72, 0),
    RGBColor(0, 150, 115),
    RGBColor(200, 120, 170),
    RGBColor(110, 175, 230),
];
const BROAD: RGBColor = RGBColor(200, 200, 200);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// A canvas in pixels; positions between them count.
struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

type Point = (f64, f64);

pub(crate) fn svg(figure: &Figure) -> Result<String, PlotError> {
    let mut text = String::new();
    let large = (SIZE.0 * FINE, SIZE.1 * FINE);
    {
        let root = SVGBackend::with_string(&mut text, (large.0 as u32, large.1 as u32)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let canvas = Canvas(root);
        canvas.text(&figure.title, (0.5 * f64::from(SIZE.0), 18.0), (TITLE, HPos::Center, VPos::Top))?;
        let width = SIZE.0 / count(figure.panels.len().max(1));
        let legends: Vec<_> = figure.panels.iter().map(|panel| legend_rows(panel, width - LEFT - RIGHT)).collect();
        let top = TITLE_ROOM + LEGEND_ROW * count(legends.iter().map(Vec::len).max().unwrap_or(0)) + 6;
        for ((panel, legend), left) in figure.panels.iter().zip(&legends).zip((0..).step_by(width as usize)) {
            canvas.legend(legend, f64::from(left + LEFT))?;
            let frame = Frame::new(panel, (left + LEFT, left + width - RIGHT), (top, SIZE.1 - BOTTOM))?;
            canvas.panel(panel, &frame)?;
        }
        canvas.0.present().map_err(failed)?;
    }
    let header = format!("width=\"{}\" height=\"{}\"", large.0, large.1);
    let shown = format!("width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1);
    let family = |name: &str| format!("font-family=\"{name}\"");
    Ok(text.replacen(&header, &shown, 1).replace(&family(FAMILY), &family(&format!("{FAMILY}, sans-serif"))))
}

pub(crate) fn png(svg: &str) -> Result<Vec<u8>, PlotError> {
    let mut options = usvg::Options::default();
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    options.fontdb = Arc::new(fonts);
    let tree = usvg::Tree::from_str(svg, &options).map_err(failed)?;
    let pixels = tiny_skia::Pixmap::new(SIZE.0 as u32, SIZE.1 as u32);
    let mut pixels = pixels.ok_or_else(|| PlotError::Drawing("no room for the pixels".to_owned()))?;
    resvg::render(&tree, tiny_skia::Transform::default(), &mut pixels.as_mut());
    pixels.encode_png().map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError::Drawing(error.to_string())
}

/// A small number of things, for arithmetic with pixels.
fn count(things: usize) -> i32 {
    i32::try_from(things).unwrap_or(i32::MAX)
}

/// Width of a text in pixels, near enough for a legend.
fn width(text: &str, size: i32) -> f64 {
    0.58 * f64::from(size) * text.chars().count() as f64
}

/// Length of a legend's line and the room after it; room between entries.
const SAMPLE: f64 = 54.0;
const BETWEEN: f64 = 22.0;

/// The entries of a panel's legend, in rows that fit its width.
fn legend_rows(panel: &Panel, room: i32) -> Vec<Vec<&Curve>> {
    let mut rows: Vec<Vec<&Curve>> = Vec::new();
    let mut used = f64::INFINITY;
    for curve in &panel.curves {
        let Some(name) = &curve.name else { continue };
        let needed = SAMPLE + width(name, LEGEND);
        if used + needed > f64::from(room) {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += needed + BETWEEN;
        rows.last_mut().into_iter().for_each(|row| row.push(curve));
    }
    rows
}

/// A panel's place on the canvas.
struct Frame {
    x: Ruler,
    y: Ruler,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn new(panel: &Panel, across: (i32, i32), down: (i32, i32)) -> Result<Self, PlotError> {
        Ok(Self {
            x: Ruler::new(&panel.x, &panel.curves, |point| point.0)?,
            y: Ruler::new(&panel.y, &panel.curves, |point| point.1)?,
            left: f64::from(across.0),
            right: f64::from(across.1),
            top: f64::from(down.0),
            bottom: f64::from(down.1),
        })
    }

    fn across(&self, fraction: f64) -> f64 {
        self.left + fraction * (self.right - self.left)
    }

    fn down(&self, fraction: f64) -> f64 {
        self.bottom - fraction * (self.bottom - self.top)
    }

    /// Where a point lies, within the frame or not.
    fn place(&self, point: &Point) -> Option<Point> {
        Some((self.across(self.x.fraction(point.0)?), self.down(self.y.fraction(point.1)?)))
    }

    fn holds(&self, point: Point) -> bool {
        let slack = 0.5;
        (self.left - slack..=self.right + slack).contains(&point.0)
            && (self.top - slack..=self.bottom + slack).contains(&point.1)
    }

    /// The stretches of a curve that lie within the frame, cut at its border.
    fn stretches(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut stretches: Vec<Vec<Point>> = Vec::new();
        let mut open = false;
        for pair in points.windows(2) {
            let Some((from, to)) = self.clip(pair[0], pair[1]) else {
                open = false;
                continue;
            };
            match stretches.last_mut() {
                Some(stretch) if open && stretch.last() == Some(&from) => stretch.push(to),
                _ => stretches.push(vec![from, to]),
            }
            open = to == pair[1];
        }
        stretches
    }

    /// The part of a straight line within the frame (Liang and Barsky).
    fn clip(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut start, mut end) = (0.0_f64, 1.0_f64);
        let borders = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        for (slope, distance) in borders {
            if slope == 0.0 {
                if distance < 0.0 {
                    return None;
                }
            } else if slope < 0.0 {
                start = start.max(distance / slope);
            } else {
                end = end.min(distance / slope);
            }
        }
        let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
        let begin = if start == 0.0 { from } else { at(start) };
        (start <= end).then(|| (begin, if end == 1.0 { to } else { at(end) }))
    }
}

fn fine(value: f64) -> i32 {
    (value * f64::from(FINE)).round() as i32
}

fn whole(point: Point) -> (i32, i32) {
    (fine(point.0), fine(point.1))
}

fn line(colour: RGBColor, width: f64) -> ShapeStyle {
    colour.stroke_width(fine(width) as u32)
}

impl Canvas<'_> {
    fn text(&self, text: &str, at: Point, (size, horizontal, vertical): (i32, HPos, VPos)) -> Result<(), PlotError> {
        let style: TextStyle = (FAMILY, size * FINE).into_font().color(&BLACK);
        self.0.draw(&Text::new(text.to_owned(), whole(at), style.pos(Pos::new(horizontal, vertical)))).map_err(failed)
    }

    fn path(&self, points: &[Point], style: ShapeStyle) -> Result<(), PlotError> {
        let points: Vec<(i32, i32)> = points.iter().copied().map(whole).collect();
        self.0.draw(&PathElement::new(points, style)).map_err(failed)
    }

    fn legend(&self, rows: &[Vec<&Curve>], left: f64) -> Result<(), PlotError> {
        for (row, y) in rows.iter().zip((TITLE_ROOM..).step_by(LEGEND_ROW as usize)) {
            let (mut x, y) = (left, f64::from(y) + 12.0);
            for curve in row {
                let name = curve.name.as_deref().unwrap_or_default();
                let sample = [(x, y), (x + SAMPLE - 10.0, y)];
                self.line(curve.pen, &sample)?;
                self.marks(curve.pen, &[(x + 0.5 * (SAMPLE - 10.0), y)])?;
                self.text(name, (x + SAMPLE, y), (LEGEND, HPos::Left, VPos::Center))?;
                x += SAMPLE + width(name, LEGEND) + BETWEEN;
            }
        }
        Ok(())
    }

    fn panel(&self, panel: &Panel, frame: &Frame) -> Result<(), PlotError> {
        let Frame { left, right, top, bottom, .. } = *frame;
        for (value, text) in frame.x.ticks() {
            let x = frame.across(frame.x.fraction(value).unwrap_or_default());
            self.path(&[(x, top), (x, bottom)], line(GRID, 1.0))?;
            self.text(&text, (x, bottom + 8.0), (TICKS, HPos::Center, VPos::Top))?;
        }
        for (value, text) in frame.y.ticks() {
            let y = frame.down(frame.y.fraction(value).unwrap_or_default());
            self.path(&[(left, y), (right, y)], line(GRID, 1.0))?;
            self.text(&text, (left - 9.0, y), (TICKS, HPos::Right, VPos::Center))?;
        }
        let corners = [whole((left, top)), whole((right, bottom))];
        self.0.draw(&Rectangle::new(corners, line(RGBColor(90, 90, 90), 1.2))).map_err(failed)?;
        self.text(&panel.x.label, (0.5 * (left + right), bottom + 38.0), (LABEL, HPos::Center, VPos::Top))?;
        let upright: TextStyle = (FAMILY, LABEL * FINE).into_font().transform(FontTransform::Rotate270).color(&BLACK);
        let style = upright.pos(Pos::new(HPos::Center, VPos::Center));
        let beside = (left - f64::from(LEFT) + 24.0, 0.5 * (top + bottom));
        self.0.draw(&Text::new(panel.y.label.clone(), whole(beside), style)).map_err(failed)?;
        for curve in &panel.curves {
            let points: Vec<Point> = curve.points.iter().filter_map(|point| frame.place(point)).collect();
            for stretch in frame.stretches(&points) {
                self.line(curve.pen, &stretch)?;
            }
            let inside: Vec<Point> = points.into_iter().filter(|point| frame.holds(*point)).collect();
            self.marks(curve.pen, &inside)?;
        }
        panel.notes.iter().try_for_each(|note| self.note(note, frame))
    }

    fn note(&self, note: &Note, frame: &Frame) -> Result<(), PlotError> {
        let Some((x, y)) = frame.place(&note.at) else { return Ok(()) };
        let away = 10.0;
        let (at, horizontal, vertical) = match note.side {
            Side::Right => ((x + away, y), HPos::Left, VPos::Center),
            Side::Left => ((x - away, y), HPos::Right, VPos::Center),
            Side::Above => ((x, y - away), HPos::Center, VPos::Bottom),
            Side::Below => ((x, y + away), HPos::Center, VPos::Top),
        };
        self.text(&note.text, at, (NOTE, horizontal, vertical))
    }

    /// The line of a pen, if it has one.
    fn line(&self, pen: Pen, points: &[Point]) -> Result<(), PlotError> {
        let colour = COLOURS[pen.colour % COLOURS.len()];
        let (style, dashes) = match pen.mark {
            Mark::Solid => (line(colour, 2.6), None),
            Mark::Dashed => (line(colour, 2.6), Some((13.0, 7.0))),
            Mark::Dotted => (line(colour, 3.0), Some((3.0, 5.0))),
            Mark::Broad => (line(BROAD, 9.0), None),
            Mark::Joined => (line(colour, 1.2), None),
            Mark::Circles | Mark::Crosses => return Ok(()),
        };
        match dashes {
            None => self.path(points, style),
            Some(lengths) => dashed(points, lengths).iter().try_for_each(|dash| self.path(dash, style)),
        }
    }

    /// The marks of a pen, if it has any.
    fn marks(&self, pen: Pen, points: &[Point]) -> Result<(), PlotError> {
        let colour = COLOURS[pen.colour % COLOURS.len()];
        for &point in points {
            match pen.mark {
                Mark::Circles | Mark::Joined => {
                    let circle = |style: ShapeStyle| Circle::new(whole(point), fine(5.0), style);
                    self.0.draw(&circle(WHITE.filled())).map_err(failed)?;
                    self.0.draw(&circle(line(colour, 2.0))).map_err(failed)?;
                }
                Mark::Crosses => {
                    self.0.draw(&Cross::new(whole(point), fine(5.0), line(colour, 2.2))).map_err(failed)?;
                }
                Mark::Solid | Mark::Dashed | Mark::Dotted | Mark::Broad => {}
            }
        }
        Ok(())
    }
}

/// A line cut into dashes of a length, with gaps between.
fn dashed(points: &[Point], (dash, gap): (f64, f64)) -> Vec<Vec<Point>> {
    let mut dashes: Vec<Vec<Point>> = Vec::new();
    let (mut drawing, mut left) = (true, dash);
    let mut current: Vec<Point> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > left {
            let share = left / length;
            from = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            length -= left;
            if drawing {
                current.push(from);
                dashes.push(std::mem::take(&mut current));
            } else {
                current = vec![from];
            }
            drawing = !drawing;
            left = if drawing { dash } else { gap };
        }
        left -= length;
        if drawing {
            current.push(to);
        }
    }
    if drawing && current.len() > 1 {
        dashes.push(current);
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

    fn figure() -> Figure {
        let line =
            Curve::new("a line", Pen { colour: 1, mark: Mark::Dashed }, [(0.0, 0.0), (1.0, 2.0), (2.0, f64::NAN)]);
        let dots = Curve::new("dots", Pen { colour: 2, mark: Mark::Circles }, [(0.5, 1.0)]);
        let note = Note { at: (1.0, 1.0), text: "here".to_owned(), side: Side::Left };
        let panel = Panel {
            x: Axis::linear("t (time)"),
            y: Axis::linear("q (length)"),
            curves: vec![line, dots],
            notes: vec![note],
        };
        Figure { title: "A figure".to_owned(), panels: vec![panel.clone(), panel] }
    }

    #[test]
    fn text_stays_text_and_names_a_fallback() {
        let svg = figure().svg().expect("drawn");
        assert!(svg.contains("width=\"1280\" height=\"800\""), "{}", &svg[..200]);
        for text in ["A figure", "t (time)", "q (length)", "a line", "here", "DejaVu Sans, sans-serif"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn pixels_are_those_of_the_drawing() {
        let png = figure().png().expect("drawn");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        let picture = tiny_skia::Pixmap::decode_png(&png).expect("a picture");
        assert_eq!((picture.width(), picture.height()), (1280, 800));
        let dark = picture.pixels().iter().filter(|pixel| pixel.red() < 100).count();
        assert!(dark > 2000, "{dark} dark pixels");
    }

    #[test]
    fn lines_are_cut_at_the_frame() {
        let curve = Curve::unnamed(Pen { colour: 0, mark: Mark::Solid }, [(-1.0, 0.5), (2.0, 0.5)]);
        let axis = |label| Axis::linear(label).within(0.0, 1.0);
        let panel = Panel { x: axis("x"), y: axis("y"), curves: vec![curve], notes: Vec::new() };
        let frame = Frame::new(&panel, (0, 100), (0, 100)).expect("a range");
        let points: Vec<Point> = panel.curves[0].points.iter().filter_map(|point| frame.place(point)).collect();
        assert_eq!(frame.stretches(&points), [vec![(0.0, 50.0), (100.0, 50.0)]]);
    }

    #[test]
    fn dashes_leave_gaps() {
        let dashes = dashed(&[(0.0, 0.0), (10.0, 0.0)], (3.0, 2.0));
        assert_eq!(dashes, [vec![(0.0, 0.0), (3.0, 0.0)], vec![(5.0, 0.0), (8.0, 0.0)]]);
    }
}
