//! A picture of one moment: what is drawn, in which colours.

use glam::DVec3;
use gluey::contact::Partner;
use gluey::geometry::Particles;
use gluey::scene::ColourBy;
use gluey::trajectory::{Frame, Group};

use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::colour::{Rgb, from_bytes, of_glue, of_share};
use crate::image::Image;
use crate::style::{Furniture, Style};
use crate::wall::Wall;
use crate::{discs, legend, periodic, spheres};

/// Colour of a particle whose group the style does not know.
const UNKNOWN: Rgb = [0.5; 3];

/// What there is to draw.
pub(crate) struct Subject<'a> {
    pub(crate) particles: &'a Particles,
    /// The colour of each particle.
    pub(crate) colours: Vec<Rgb>,
    /// The contacts, the least glued first: where tubes cross in a plane, the darker one is seen.
    pub(crate) tubes: Vec<Tube>,
    pub(crate) walls: &'a [Wall],
}

/// A contact as it is drawn.
pub(crate) struct Tube {
    /// The two centres, or the centre and the point of the wall (length).
    pub(crate) ends: [DVec3; 2],
    /// The smaller of the two radii (length).
    pub(crate) radius: f64,
    pub(crate) colour: Rgb,
}

/// Draws a frame and the obstacles at its time.
#[must_use]
pub fn draw(frame: &Frame, walls: &[Wall], camera: &Camera, style: &Style) -> Image {
    let (particles, colours) = periodic::with_images(frame.particles, colours(frame, style));
    let subject = Subject {
        particles: &particles,
        colours,
        tubes: style.glue.map_or_else(Vec::new, |scale| tubes(frame, scale)),
        walls,
    };
    let mut canvas = Canvas::new(style.size, style.background);
    if style.dimension == 2 {
        discs::paint(&mut canvas, &subject, camera, style);
    } else {
        spheres::paint(&mut canvas, &subject, camera, style);
    }
    if style.furniture != Furniture::Bare {
        legend::write_time(&mut canvas, frame.time, style);
    }
    if style.furniture == Furniture::All {
        legend::paint(&mut canvas, style);
    }
    canvas.into_image()
}

fn colours(frame: &Frame, style: &Style) -> Vec<Rgb> {
    if style.colour == ColourBy::Group {
        let groups: Vec<Rgb> = style.groups.iter().map(|Group { colour, .. }| from_bytes(*colour)).collect();
        return frame.particles.group.iter().map(|k| groups.get(*k as usize).copied().unwrap_or(UNKNOWN)).collect();
    }
    let [least, greatest] = style.range;
    let share = |value: f64| ((value - least) / (greatest - least)) as f32;
    let values = style.colour.values(frame.particles, frame.contacts);
    values.into_iter().map(|value| of_share(share(value))).collect()
}

/// Contacts as tubes; −γ = `scale` is black.
fn tubes(frame: &Frame, scale: f64) -> Vec<Tube> {
    let particles = frame.particles;
    let mut order: Vec<usize> = (0..frame.contacts.len()).collect();
    order.sort_by(|a, b| frame.contacts[*b].contact.gamma.total_cmp(&frame.contacts[*a].contact.gamma));
    let tube = |k: usize| {
        let geometry = &frame.contacts[k];
        let i = geometry.contact.pair.first() as usize;
        let (start, own) = (particles.position[i], particles.radius[i]);
        let (end, other) = match geometry.contact.pair.partner() {
            Partner::Particle(j) => (particles.seen_from(i, j as usize), particles.radius[j as usize]),
            Partner::Obstacle { .. } => (start + geometry.normal * (own + geometry.gap), own),
        };
        let colour = of_glue((-geometry.contact.gamma / scale) as f32);
        Tube { ends: [start, end], radius: own.min(other), colour }
    };
    let tubes = order.into_iter().map(tube);
    match &particles.cell {
        None => tubes.collect(),
        Some(cell) => tubes.flat_map(|tube| periodic::cut(&tube, cell)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use gluey::contact::{Contact, ContactGeometry, Pair};

    use super::*;
    use crate::camera::Viewpoint;
    use crate::colour::lightness;

    const RED: [u8; 3] = [220, 40, 40];
    const BLUE: [u8; 3] = [40, 60, 220];

    /// Particles of radius 1 at these places, in turn of the first and the second group.
    fn particles(places: &[DVec3]) -> Particles {
        let mut particles = Particles::default();
        for (k, place) in places.iter().enumerate() {
            particles.push(*place, 1.0, 1.0);
            particles.group[k] = k as u32 % 2;
        }
        particles
    }

    fn style(dimension: usize) -> Style {
        let group = |name: &str, colour| Group { name: name.to_owned(), colour };
        let groups = vec![group("red", RED), group("blue", BLUE)];
        Style { groups, furniture: Furniture::Bare, ..Style::new(dimension, [200, 200]) }
    }

    /// Seen from in front of the plane z = 0, from −5 to 5.
    fn camera(style: &Style) -> Camera {
        Camera::framing(Viewpoint::FRONT, (DVec3::splat(-5.0), DVec3::splat(5.0)), style)
    }

    fn colour_at(image: &Image, camera: &Camera, point: DVec3) -> [u8; 3] {
        let pixel = camera.project(point);
        image.pixel(pixel.x as u32, pixel.y as u32)
    }

    fn is_red([r, _, b]: [u8; 3]) -> bool {
        i32::from(r) > i32::from(b) + 50
    }

    fn is_blue([r, _, b]: [u8; 3]) -> bool {
        i32::from(b) > i32::from(r) + 50
    }

    #[test]
    fn groups_have_their_colours_and_the_nearer_sphere_is_seen() {
        for dimension in [2, 3] {
            let style = style(dimension);
            let camera = camera(&style);
            let places = [DVec3::new(-3.0, 0.0, 0.0), DVec3::new(3.0, 2.0, 0.0)];
            let particles = particles(&places);
            let frame = Frame { step: 0, time: 0.0, particles: &particles, contacts: &[], obstacles: &[], clump: &[] };
            let image = draw(&frame, &[], &camera, &style);
            assert!(is_red(colour_at(&image, &camera, places[0])) && is_blue(colour_at(&image, &camera, places[1])));
            assert_eq!(colour_at(&image, &camera, DVec3::ZERO), style.background);
        }
        let style = style(3);
        let camera = camera(&style);
        for (depth, seen) in [(2.0, is_blue as fn([u8; 3]) -> bool), (-2.0, is_red)] {
            let particles = particles(&[DVec3::ZERO, DVec3::new(0.3, 0.0, depth)]);
            let frame = Frame { step: 0, time: 0.0, particles: &particles, contacts: &[], obstacles: &[], clump: &[] };
            let image = draw(&frame, &[], &camera, &style);
            assert!(seen(colour_at(&image, &camera, DVec3::new(0.1, 0.0, 0.0))), "at depth {depth}");
        }
    }

    #[test]
    fn the_more_glued_the_darker() {
        for dimension in [2, 3] {
            let style = Style { glue: Some(1.0), scale: 0.4, ..style(dimension) };
            let camera = camera(&style);
            let heights = [-3.0, 0.0, 3.0];
            let ends: Vec<DVec3> = heights.iter().flat_map(|y| [-1.0, 1.0].map(|x| DVec3::new(x, *y, 0.0))).collect();
            let particles = particles(&ends);
            let contact = |k: u32, gamma: f64| ContactGeometry {
                contact: Contact { pair: Pair::particles(2 * k, 2 * k + 1), gamma, impulse: 0.0 },
                gap: 0.0,
                normal: DVec3::X,
            };
            let contacts = [contact(0, 0.0), contact(1, -0.5), contact(2, -7.0)];
            let frame =
                Frame { step: 0, time: 0.0, particles: &particles, contacts: &contacts, obstacles: &[], clump: &[] };
            let image = draw(&frame, &[], &camera, &style);
            let light = heights.map(|y| lightness(from_bytes(colour_at(&image, &camera, DVec3::new(0.0, y, 0.0)))));
            assert!(light[0] < 95.0 && light[1] < light[0] - 15.0 && light[2] < light[1] - 15.0, "{light:?}");
            assert!(light[2] < 15.0, "beyond the scale it is black: {light:?}");
        }
    }
}
