//! Pictures of 3D runs: shaded spheres and tubes, solids, and containers that are seen through.
//!
//! First the nearest surface at every sample is found, then each is shaded once: a light from the upper left, sky from
//! above, a dark rim, darker where neighbours stand before it, paler with distance.

use glam::DVec3;
use gluey::scene::ObstacleStyle;

use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::colour::{Rgb, from_bytes, mix, times};
use crate::crease;
use crate::glass::Glass;
use crate::picture::{Subject, Tube};
use crate::samples::{FINE, Place, Samples};
use crate::shade;
use crate::style::Style;
use crate::wall::{Body, Wall};

/// Colour of solids, and of surfaces that are seen through, where they have none.
const SOLID: Rgb = [0.66, 0.68, 0.70];
const GLASS: Rgb = [0.50, 0.55, 0.61];
/// Colour of a floor that has none.
const FLOOR: Rgb = [0.84, 0.84, 0.83];
/// Opacity of glass seen from the front, and what is added where it is seen from the side.
const CLEAR: f32 = 0.07;
const EDGE_ON: f32 = 0.30;
/// Width of a tube, relative to the smaller of its two spheres.
const TUBE: f64 = 0.4;
/// How dark the rim of a sphere is, and how wide, relative to its radius and in pixels.
const RIM: f32 = 0.55;
const RIM_WIDTH: (f32, f32) = (0.12, 1.1);
/// Light from the upper left, from before: a unit vector to the right, down and towards the eye.
const LIGHT: [f32; 3] = [-0.44, -0.60, 0.667];
/// Between the light and the eye, (LIGHT + e_z)/|…|: normals near it are in Blinn's highlight.
const HALF: [f32; 3] = [-0.2410, -0.3287, 0.9131];
/// How much is taken from what is farthest.
const HAZE: f32 = 0.22;

/// What a sample may belong to; owners count through spheres, tubes and faces.
struct Things {
    spheres: Vec<Sphere>,
    tubes: Vec<Rod>,
    faces: Vec<Face>,
}

struct Sphere {
    centre: Place,
    radius: f32,
    colour: Rgb,
    /// Width of its rim, in distances between samples.
    rim: f32,
}

struct Rod {
    start: Place,
    along: [f32; 3],
    radius: f32,
    colour: Rgb,
}

struct Face {
    normal: [f32; 3],
    colour: Rgb,
}

pub(crate) fn paint(canvas: &mut Canvas, subject: &Subject, camera: &Camera, style: &Style) {
    let mut samples = Samples::new(canvas.width, canvas.height);
    let mut things = Things { spheres: Vec::new(), tubes: Vec::new(), faces: Vec::new() };
    // 1. What is opaque.
    things.add_spheres(&mut samples, subject, camera, style);
    things.add_tubes(&mut samples, &subject.tubes, camera);
    let walls = if style.obstacles == ObstacleStyle::Hidden { &[][..] } else { subject.walls };
    if style.obstacles == ObstacleStyle::Surfaces {
        for wall in walls.iter().filter(|wall| is_opaque(wall, camera)) {
            things.add_faces(&mut samples, wall, camera);
        }
    }
    // 2. Its colours.
    let shades = shade::of(&samples, things.typical_radius(), |owner| things.slope(owner));
    things.shade(canvas, &samples, &shades);
    // 3. What is seen through, and edges.
    if style.obstacles == ObstacleStyle::Surfaces {
        let mut glass = Glass::new(&samples);
        for wall in walls.iter().filter(|wall| !is_opaque(wall, camera)) {
            add_glass(&mut glass, &samples, wall, camera);
        }
        glass.cover(canvas);
    }
    for wall in walls {
        draw_edges(canvas, &samples, wall, (camera, style.line_width()));
    }
}

fn place(camera: &Camera, point: DVec3) -> Place {
    (camera.project(point) * FINE as f64).to_array().map(|part| part as f32)
}

/// Solids hide what is behind them, and a plane does where it is seen from the particles' side.
fn is_opaque(wall: &Wall, camera: &Camera) -> bool {
    match wall.body {
        Body::Solid => true,
        Body::HalfSpace { normal, .. } => camera.direction(normal).z > 0.02,
        Body::Sheet | Body::Container | Body::Outline => false,
    }
}

/// Corners and normal (to the eye) of a triangle, as seen.
fn face(wall: &Wall, triangle: [u32; 3], camera: &Camera) -> ([Place; 3], [f32; 3]) {
    let corners = triangle.map(|index| wall.surface.points[index as usize]);
    let normal = camera.direction((corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero());
    let normal = if normal.z < 0.0 { -normal } else { normal };
    (corners.map(|corner| place(camera, corner)), normal.to_array().map(|part| part as f32))
}

impl Things {
    fn add_spheres(&mut self, samples: &mut Samples, subject: &Subject, camera: &Camera, style: &Style) {
        let scale = style.scale * camera.scale() * FINE as f64;
        let width = RIM_WIDTH.1 * style.line_width() * FINE as f32;
        // From the nearest to the farthest: most of what is hidden is known to be at once.
        let mut order: Vec<(usize, Place)> =
            subject.particles.position.iter().map(|centre| place(camera, *centre)).enumerate().collect();
        order.sort_unstable_by(|(i, a), (j, b)| b[2].total_cmp(&a[2]).then(i.cmp(j)));
        for (k, centre) in order {
            // What is smaller than the distance of samples would be seen at some places and not at others.
            let radius = ((subject.particles.radius[k] * scale) as f32).max(0.75);
            let rim = width.min(RIM_WIDTH.0 * radius);
            self.spheres.push(Sphere { centre, radius, colour: subject.colours[k], rim });
            samples.sphere(centre, radius, self.spheres.len() as u32);
        }
    }

    fn add_tubes(&mut self, samples: &mut Samples, tubes: &[Tube], camera: &Camera) {
        for Tube { ends, radius, colour } in tubes {
            let radius = ((0.5 * TUBE * radius * camera.scale() * FINE as f64) as f32).max(0.75);
            let along = camera.direction((ends[1] - ends[0]).normalize_or_zero()).to_array().map(|part| part as f32);
            let ends = ends.map(|end| place(camera, end));
            self.tubes.push(Rod { start: ends[0], along, radius, colour: *colour });
            samples.tube(ends, radius, (self.spheres.len() + self.tubes.len()) as u32);
        }
    }

    fn add_faces(&mut self, samples: &mut Samples, wall: &Wall, camera: &Camera) {
        let usual = if matches!(wall.body, Body::HalfSpace { .. }) { FLOOR } else { SOLID };
        let colour = wall.colour.map_or(usual, from_bytes);
        for triangle in &wall.surface.triangles {
            let (corners, normal) = face(wall, *triangle, camera);
            self.faces.push(Face { normal, colour });
            samples.triangle(corners, (self.spheres.len() + self.tubes.len() + self.faces.len()) as u32);
        }
    }

    /// The scale of shade: a radius that half of the spheres have at most.
    fn typical_radius(&self) -> f32 {
        let mut radii: Vec<f32> = self.spheres.iter().map(|sphere| sphere.radius).collect();
        if radii.is_empty() {
            return 10.0;
        }
        let middle = radii.len() / 2;
        *radii.select_nth_unstable_by(middle, f32::total_cmp).1
    }

    /// How the depth of a flat face changes to the right and down.
    fn slope(&self, owner: u32) -> Option<[f32; 2]> {
        let [nx, ny, nz] =
            self.faces.get((owner as usize).checked_sub(1 + self.spheres.len() + self.tubes.len())?)?.normal;
        Some([-nx / nz.max(0.02), -ny / nz.max(0.02)])
    }

    /// Colours the pixels: the mean of their samples.
    fn shade(&self, canvas: &mut Canvas, samples: &Samples, shades: &[f32]) {
        // −∞, where there is nothing, is no farthest.
        let farther = |least: f32, depth: f32| if depth > f32::NEG_INFINITY { least.min(depth) } else { least };
        let ends = samples.depth.iter().fold((f32::NEG_INFINITY, f32::INFINITY), |(nearest, farthest), depth| {
            (nearest.max(*depth), farther(farthest, *depth))
        });
        let (nearest, farthest) = ends;
        let haze = HAZE / (nearest - farthest).max(1.0);
        for y in 0..canvas.height {
            for x in 0..canvas.width {
                let pixel = y * canvas.width + x;
                let background = canvas.pixels[pixel];
                let places = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(sx, sy)| (FINE * x + sx, FINE * y + sy));
                let owners = places.map(|(sx, sy)| samples.owner[sy * samples.width + sx]);
                let depths = places.map(|(sx, sy)| samples.depth[sy * samples.width + sx]);
                let colour = |owner: u32, at: Place| {
                    if owner == 0 {
                        return background;
                    }
                    let lit = times(self.lit(owner as usize - 1, at), 1.0 - shades[pixel]);
                    mix(lit, background, haze * (nearest - at[2]))
                };
                canvas.pixels[pixel] = if owners == [owners[0]; 4] {
                    // The middle stands for the whole where nothing ends within the pixel.
                    let depth = 0.25 * depths.iter().sum::<f32>();
                    colour(owners[0], [(FINE * x) as f32 + 1.0, (FINE * y) as f32 + 1.0, depth])
                } else {
                    let mut sum = [0.0; 3];
                    for (k, (sx, sy)) in places.into_iter().enumerate() {
                        let part = colour(owners[k], [sx as f32 + 0.5, sy as f32 + 0.5, depths[k]]);
                        sum = [0, 1, 2].map(|k| sum[k] + 0.25 * part[k]);
                    }
                    sum
                };
            }
        }
    }

    /// The colour of a thing at a point of its surface.
    fn lit(&self, thing: usize, at: Place) -> Rgb {
        if let Some(sphere) = self.spheres.get(thing) {
            let [dx, dy, dz] = [0, 1, 2].map(|k| at[k] - sphere.centre[k]);
            let colour = illuminated(sphere.colour, [dx, dy, dz].map(|part| part / sphere.radius), 0.22);
            // The rim ends softly, over a pixel.
            let inside = (sphere.radius - (dx * dx + dy * dy).sqrt() - sphere.rim) / FINE as f32 + 0.5;
            return times(colour, RIM + (1.0 - RIM) * inside.clamp(0.0, 1.0));
        }
        if let Some(tube) = self.tubes.get(thing - self.spheres.len()) {
            let offset = [0, 1, 2].map(|k| at[k] - tube.start[k]);
            let along: f32 = (0..3).map(|k| offset[k] * tube.along[k]).sum();
            let normal = [0, 1, 2].map(|k| (offset[k] - along * tube.along[k]) / tube.radius);
            return illuminated(tube.colour, normal, 0.12);
        }
        let face = &self.faces[thing - self.spheres.len() - self.tubes.len()];
        illuminated(face.colour, face.normal, 0.0)
    }
}

/// A surface in the light, with a highlight of this strength.
fn illuminated(colour: Rgb, normal: [f32; 3], gloss: f32) -> Rgb {
    let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let direct = dot(normal, LIGHT).max(0.0);
    let sky = 0.5 - 0.5 * normal[1];
    let mirror = dot(normal, HALF).max(0.0).powi(24);
    mix(times(colour, 0.47 + 0.16 * sky + 0.58 * direct), [1.0; 3], gloss * mirror)
}

fn add_glass(glass: &mut Glass, samples: &Samples, wall: &Wall, camera: &Camera) {
    let colour = wall.colour.map_or(GLASS, from_bytes);
    for triangle in &wall.surface.triangles {
        let (corners, normal) = face(wall, *triangle, camera);
        let opacity = CLEAR + EDGE_ON * (1.0 - normal[2].min(1.0)).powi(3);
        glass.triangle(samples, corners, colour, opacity);
    }
}

/// Borders and creases: thin lines, faint where something is before them.
fn draw_edges(canvas: &mut Canvas, samples: &Samples, wall: &Wall, (camera, line): (&Camera, f32)) {
    let colour = times(wall.colour.map_or(GLASS, from_bytes), 0.62);
    // What cannot be seen through has no far side.
    let faint = if is_opaque(wall, camera) { 0.0 } else { 0.16 };
    for ends in crease::lines(&wall.surface) {
        let [a, b] = ends.map(|end| place(camera, end));
        // In pieces, each of which is seen or hidden.
        let length = ((b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2)).sqrt();
        let pieces = (length / (4.0 * FINE as f32)).ceil().clamp(1.0, 2000.0) as usize;
        let at = |k: usize| [0, 1, 2].map(|axis| a[axis] + (b[axis] - a[axis]) * k as f32 / pieces as f32);
        let mut start = 0;
        let mut last = hidden(samples, at(0), at(1));
        for k in 1..=pieces {
            let next = if k < pieces { hidden(samples, at(k), at(k + 1)) } else { !last };
            if next != last {
                let (from, to) = (at(start), at(k));
                let ends = [from, to].map(|end| [end[0] / FINE as f32, end[1] / FINE as f32]);
                canvas.line(ends, 0.6 * line, colour, if last { faint } else { 0.9 });
                (start, last) = (k, next);
            }
        }
    }
}

/// Whether something is before the middle of a short line.
fn hidden(samples: &Samples, a: Place, b: Place) -> bool {
    let [x, y, depth] = [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]));
    let inside = x >= 0.0 && y >= 0.0 && (x as usize) < samples.width && (y as usize) < samples.height;
    // The edge of an opaque thing is as deep as the thing itself.
    inside && samples.depth[y as usize * samples.width + x as usize] > depth + 1.5 * FINE as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_to_the_light_is_lighter() {
        let sum = |normal: [f32; 3]| illuminated([0.5, 0.4, 0.3], normal, 0.2).iter().sum::<f32>();
        assert!(sum(LIGHT) > sum([0.0, 0.0, 1.0]) && sum([0.0, 0.0, 1.0]) > sum([0.6, 0.6, 0.53]));
    }
}
