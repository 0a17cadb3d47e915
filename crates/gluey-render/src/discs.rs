//! Pictures of 2D runs: discs in a plane, painted over obstacles, under contacts.

use glam::DVec3;
use gluey::scene::ObstacleStyle;

use crate::camera::Camera;
use crate::canvas::{Canvas, Point};
use crate::colour::{Rgb, from_bytes, mix, times};
use crate::picture::{Subject, Tube};
use crate::style::Style;
use crate::wall::{Body, Wall};

/// Colour of obstacles that have none.
const WALL: Rgb = [0.70, 0.71, 0.72];
/// Width of the rim of a disc, relative to its radius.
const RIM: f32 = 0.09;
/// Width of a tube, relative to the smaller of its two discs.
const TUBE: f64 = 0.28;

pub(crate) fn paint(canvas: &mut Canvas, subject: &Subject, camera: &Camera, style: &Style) {
    let line = style.line_width();
    if style.obstacles != ObstacleStyle::Hidden {
        for wall in subject.walls {
            paint_wall(canvas, wall, camera, (style.obstacles, line));
        }
    }
    for (k, colour) in subject.colours.iter().enumerate() {
        let radius = (subject.particles.radius[k] * style.scale * camera.scale()) as f32;
        let centre = flat(camera, subject.particles.position[k]);
        paint_disc(canvas, centre, radius, (style.shown(*colour), line));
    }
    for Tube { ends, radius, colour } in &subject.tubes {
        let half = (0.5 * TUBE * radius * camera.scale()) as f32;
        canvas.line(ends.map(|end| flat(camera, end)), half.max(0.4), *colour, 1.0);
    }
}

fn flat(camera: &Camera, point: DVec3) -> Point {
    let seen = camera.project(point);
    [seen.x as f32, seen.y as f32]
}

/// A disc, a little lighter towards the upper left, with a rim that is darker than it (lighter, on a black one).
fn paint_disc(canvas: &mut Canvas, centre: Point, radius: f32, (colour, line): (Rgb, f32)) {
    let brightness = colour.iter().sum::<f32>() / 3.0;
    let rim = if brightness > 0.25 { times(colour, 0.55) } else { mix(colour, [1.0; 3], 0.35) };
    // A rim of at least a line, but never more than a quarter of the disc.
    let width = (RIM * radius).clamp(0.6 * line, 2.5 * line).min(0.25 * radius);
    let inner = radius - width;
    canvas.disc(centre, radius, |[x, y], distance| {
        let light = mix(colour, if x + y < 0.0 { [1.0; 3] } else { [0.0; 3] }, 0.09 * (x + y).abs());
        mix(rim, light, (0.5 + inner - distance).clamp(0.0, 1.0))
    });
}

fn paint_wall(canvas: &mut Canvas, wall: &Wall, camera: &Camera, (style, line): (ObstacleStyle, f32)) {
    let fill = wall.colour.map_or(WALL, from_bytes);
    let edge = times(fill, 0.6);
    let place = |index: u32| flat(camera, wall.surface.points[index as usize]);
    if let (Body::HalfSpace { point, normal }, ObstacleStyle::Surfaces) = (wall.body, style) {
        let (point, normal) = (camera.project(point), camera.direction(normal));
        // Far beyond every corner of the picture, seen from the foot of its middle on the line.
        let middle = DVec3::new(0.5 * canvas.width as f64, 0.5 * canvas.height as f64, 0.0);
        let foot = middle - (middle - point).dot(normal) * normal;
        let far = 2.0 * (canvas.width + canvas.height) as f64 + foot.distance(middle);
        let (along, back) = (far * DVec3::new(-normal.y, normal.x, 0.0), -far * normal);
        let corners = [foot - along, foot + along, foot + along + back, foot - along + back];
        canvas.polygon(&corners.map(|corner| [corner.x as f32, corner.y as f32]), fill, 1.0);
        canvas.line([foot - along, foot + along].map(|end| [end.x as f32, end.y as f32]), line, edge, 1.0);
        return;
    }
    let filled = matches!(wall.body, Body::Solid | Body::Sheet) && style == ObstacleStyle::Surfaces;
    // What the particles touch is the line: they cover its inner half.
    let half = match wall.body {
        Body::Outline => 0.5 * line,
        _ if filled => line,
        _ => 2.0 * line,
    };
    for ends in &wall.surface.lines {
        canvas.line(ends.map(place), half, edge, 1.0);
    }
    if filled {
        for outline in outlines(&wall.surface.lines) {
            let corners: Vec<Point> = outline.into_iter().map(place).collect();
            canvas.polygon(&corners, fill, 1.0);
        }
    }
}

/// The closed curves among lines, which follow each other in the order they are drawn in.
fn outlines(lines: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut closed = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for [from, to] in lines {
        if open.last() != Some(from) {
            open = vec![*from];
        }
        if open.first() == Some(to) {
            closed.push(std::mem::take(&mut open));
        } else {
            open.push(*to);
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_curves_are_found() {
        let lines = [[0, 1], [1, 2], [2, 0], [5, 6], [7, 8], [8, 9], [9, 7]];
        assert_eq!(outlines(&lines), [vec![0, 1, 2], vec![7, 8, 9]]);
        assert!(outlines(&[[0, 1], [1, 2]]).is_empty());
    }
}
