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
use crate::{discs, legend, spheres};

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
    let subject = Subject {
        particles: frame.particles,
        colours: colours(frame, style),
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
    values(frame, style.colour).into_iter().map(|value| of_share(share(value))).collect()
}

/// What the colour of each particle tells, as a number.
pub(crate) fn values(frame: &Frame, colour: ColourBy) -> Vec<f64> {
    let particles = frame.particles;
    let of_contacts = |start: f64, add: fn(f64, f64) -> f64, value: fn(&gluey::contact::Contact) -> f64| {
        let mut values = vec![start; particles.len()];
        for geometry in frame.contacts {
            let value = value(&geometry.contact);
            let pair = geometry.contact.pair;
            let first = &mut values[pair.first() as usize];
            *first = add(*first, value);
            if let Partner::Particle(j) = pair.partner() {
                let second = &mut values[j as usize];
                *second = add(*second, value);
            }
        }
        values
    };
    let component = |columns: &[DVec3], k: usize| columns.iter().map(|vector| vector[k]).collect();
    match colour {
        ColourBy::Group => particles.group.iter().map(|group| f64::from(*group)).collect(),
        ColourBy::Speed => particles.velocity.iter().map(|velocity| velocity.length()).collect(),
        ColourBy::Radius => particles.radius.clone(),
        ColourBy::Mass => particles.mass.clone(),
        ColourBy::Gamma => of_contacts(0.0, |sum, value| sum + value, |contact| -contact.gamma),
        ColourBy::Impulse => of_contacts(0.0, f64::max, |contact| contact.impulse),
        ColourBy::Contacts => of_contacts(0.0, |sum, value| sum + value, |_| 1.0),
        ColourBy::X => component(&particles.position, 0),
        ColourBy::Y => component(&particles.position, 1),
        ColourBy::Z => component(&particles.position, 2),
        ColourBy::Vx => component(&particles.velocity, 0),
        ColourBy::Vy => component(&particles.velocity, 1),
        ColourBy::Vz => component(&particles.velocity, 2),
    }
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
            Partner::Particle(j) => (particles.position[j as usize], particles.radius[j as usize]),
            Partner::Obstacle { .. } => (start + geometry.normal * (own + geometry.gap), own),
        };
        let colour = of_glue((-geometry.contact.gamma / scale) as f32);
        Tube { ends: [start, end], radius: own.min(other), colour }
    };
    order.into_iter().map(tube).collect()
}
