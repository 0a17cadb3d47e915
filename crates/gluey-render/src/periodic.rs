//! Pictures of periodic runs: particles that stick out at one side stick in at the other, and lines show the cell.

use std::borrow::Cow;

use glam::DVec3;
use gluey::geometry::{Cell, Extent, Particles, Surface};

use crate::colour::Rgb;
use crate::picture::Tube;
use crate::wall::{Body, Wall};

/// The particles and, in a periodic cell, the images that reach into it, with the colours of both.
pub(crate) fn with_images(particles: &Particles, mut colours: Vec<Rgb>) -> (Cow<'_, Particles>, Vec<Rgb>) {
    let Some(cell) = particles.cell else { return (Cow::Borrowed(particles), colours) };
    let mut all = particles.clone();
    for (k, (&x, &radius)) in particles.position.iter().zip(&particles.radius).enumerate() {
        for shift in cell.shifts_near(x, radius, 1.0).filter(|shift| *shift != DVec3::ZERO) {
            all.push(x + shift, radius, particles.mass[k]);
            colours.push(colours[k]);
        }
    }
    (Cow::Owned(all), colours)
}

/// A tube that leaves the cell is cut at the face, and the rest of it comes in at the other side.
pub(crate) fn cut(tube: &Tube, cell: &Cell) -> impl Iterator<Item = Tube> + use<> {
    let [start, end] = tube.ends;
    let shift = cell.wrap(end) - end;
    let along = end - start;
    let crossing = |axis: usize| {
        let face = cell.lower()[axis] + if along[axis] > 0.0 { cell.period()[axis] } else { 0.0 };
        (face - start[axis]) / along[axis]
    };
    let share = cell.axes().filter(|axis| shift[*axis] != 0.0).map(crossing).fold(1.0, f64::min).max(0.0);
    let at = start + share * along;
    let rest = Tube { ends: [at + shift, end + shift], ..*tube };
    [Tube { ends: [start, at], ..*tube }].into_iter().chain((shift != DVec3::ZERO).then_some(rest))
}

/// The images of a bounded obstacle that reach into the cell. What has no end looks the same in all cells.
pub(crate) fn images_of_wall(wall: &Wall, cell: &Cell) -> Vec<Wall> {
    let points = &wall.surface.points;
    let lower = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let upper = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let bounded = cell.axes().all(|axis| upper[axis] - lower[axis] < cell.period()[axis]);
    if !bounded || !matches!(wall.body, Body::Solid | Body::Sheet) {
        return Vec::new();
    }
    // Where the lower corner may be for the box to reach into the cell.
    let shifts = cell.shifts(lower, cell.lower() - (upper - lower), cell.lower() + cell.period());
    let image = |shift: DVec3| {
        let mut image = wall.clone();
        image.surface.points.iter_mut().for_each(|point| *point += shift);
        image
    };
    shifts.filter(|shift| *shift != DVec3::ZERO).map(image).collect()
}

/// The edges of a cell; where it has no end they go as far as the view.
pub(crate) fn outline(cell: &Cell, view: &Extent) -> Wall {
    let (mut lower, mut upper) = (view.lower, view.upper);
    for axis in cell.axes() {
        (lower[axis], upper[axis]) = (cell.lower()[axis], cell.lower()[axis] + cell.period()[axis]);
    }
    if view.dimension == 2 {
        (lower.z, upper.z) = (0.0, 0.0);
    }
    let corner = |k: u32| DVec3::from_array([0, 1, 2].map(|axis| [lower, upper][(k >> axis & 1) as usize][axis]));
    let mut lines = Vec::new();
    for along in 0..view.dimension {
        // An edge is where two faces meet, one of which at least is an end of the cell.
        let shown = (0..view.dimension).any(|axis| axis != along && cell.is_periodic(axis));
        let starts = (0..1 << view.dimension).filter(|k| k >> along & 1 == 0);
        lines.extend(starts.filter(|_| shown).map(|k: u32| [k, k | 1 << along]));
    }
    let surface = Surface { points: (0..8).map(corner).collect(), lines, triangles: Vec::new() };
    Wall { surface, body: Body::Outline, colour: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(size: [f64; 3]) -> Cell {
        Cell::with_periods(DVec3::ZERO, size.into()).expect("a cell")
    }

    #[test]
    fn who_sticks_out_is_seen_on_the_other_side() {
        let mut particles = Particles { cell: Some(cell([2.0, 2.0, 0.0])), ..Particles::default() };
        for x in [0.125, 1.0, 1.875] {
            particles.push(DVec3::new(x, 1.0, 0.0), 0.2, 1.0);
        }
        let (all, colours) = with_images(&particles, vec![[0.1; 3], [0.2; 3], [0.3; 3]]);
        assert_eq!(all.position[3..], [DVec3::new(2.125, 1.0, 0.0), DVec3::new(-0.125, 1.0, 0.0)]);
        assert_eq!(colours[3..], [[0.1; 3], [0.3; 3]]);
        particles.cell = None;
        assert_eq!(with_images(&particles, colours[..3].to_vec()).0.len(), 3);
    }

    #[test]
    fn a_tube_across_a_face_is_in_two_pieces() {
        let tube = |to: f64| Tube {
            ends: [DVec3::new(1.8, 1.0, 0.0), DVec3::new(to, 1.0, 0.0)],
            radius: 0.1,
            colour: [0.0; 3],
        };
        let ends = |to: f64| -> Vec<[f64; 2]> {
            cut(&tube(to), &cell([2.0, 2.0, 0.0])).map(|piece| piece.ends.map(|end| end.x)).collect()
        };
        assert_eq!(ends(1.5), [[1.8, 1.5]]);
        let [[a, b], [c, d]] = ends(2.4)[..] else { panic!("two pieces") };
        assert!((a - 1.8).abs() + (b - 2.0).abs() + c.abs() + (d - 0.4).abs() < 1e-12, "{a} {b} {c} {d}");
    }

    #[test]
    fn an_obstacle_across_a_face_is_seen_at_both() {
        let wall = |from: f64, to: f64| Wall {
            surface: Surface {
                points: vec![DVec3::new(from, 1.0, 0.0), DVec3::new(to, 1.2, 0.0)],
                lines: vec![[0, 1]],
                triangles: Vec::new(),
            },
            body: Body::Solid,
            colour: None,
        };
        let starts = |from: f64, to: f64| -> Vec<f64> {
            let images = images_of_wall(&wall(from, to), &cell([2.0, 0.0, 0.0]));
            images.iter().map(|image| image.surface.points[0].x).collect()
        };
        assert!(starts(0.5, 1.0).is_empty());
        assert_eq!(starts(-0.5, 0.5), [1.5]);
        assert_eq!(starts(6.5, 7.0), [0.5]);
        assert!(starts(-9.0, 9.0).is_empty(), "without end");
    }

    #[test]
    fn the_edges_are_those_of_the_cell() {
        let view = |dimension| Extent { lower: DVec3::splat(-9.0), upper: DVec3::splat(9.0), dimension };
        let count = |size, dimension| outline(&cell(size), &view(dimension)).surface.lines.len();
        assert_eq!(count([1.0, 0.0, 0.0], 2), 2);
        assert_eq!(count([1.0, 1.0, 0.0], 2), 4);
        assert_eq!(count([1.0, 1.0, 1.0], 3), 12);
        let wall = outline(&cell([1.0, 0.0, 0.0]), &view(2));
        let points = wall.surface.lines.iter().flatten().map(|k| wall.surface.points[*k as usize]);
        assert!(points.into_iter().all(|x| (x.x == 0.0 || x.x == 1.0) && x.y.abs() == 9.0 && x.z == 0.0));
    }
}
