//! What one frame shows.

use glam::DVec3;

use crate::contact::{ContactGeometry, Partner};
use crate::geometry::Particles;

/// Everything to be shown of one moment.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The number n of steps taken; frames are numbered by it.
    pub step: u64,
    /// Time tⁿ (time).
    pub time: f64,
    /// The particles.
    pub particles: &'a Particles,
    /// The contacts to draw, usually those of the state; they name particles of this frame.
    pub contacts: &'a [ContactGeometry],
    /// The obstacles in the scene's order, where they are at this time.
    pub obstacles: &'a [ObstacleSurface],
    /// The clump of each particle, [`NO_CLUMP`](crate::projection::NO_CLUMP) in none; empty where there are no clumps.
    pub clump: &'a [u32],
}

/// The surface of one obstacle at the time of a frame: triangles in 3D, lines in 2D.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObstacleSurface {
    /// Corners (length).
    pub points: Vec<DVec3>,
    /// Triangles, by index into `points`.
    pub triangles: Vec<[u32; 3]>,
    /// Lines, by index into `points`.
    pub lines: Vec<[u32; 2]>,
    /// Whether the scene moves this obstacle: the same in all frames of a run. While none moves, one file of obstacles
    /// serves all frames.
    pub moving: bool,
}

impl Frame<'_> {
    /// How many of the frame's contacts each particle has.
    pub(super) fn contacts_per_particle(&self) -> Vec<u32> {
        let mut counts = vec![0; self.particles.len()];
        for geometry in self.contacts {
            counts[geometry.contact.pair.first() as usize] += 1;
            if let Partner::Particle(j) = geometry.contact.pair.partner() {
                counts[j as usize] += 1;
            }
        }
        counts
    }

    /// Where the line that shows a contact starts and ends: at the centre of the particle, and at the centre of the
    /// other (in a periodic cell, of its nearest image) or at the nearest point of the wall, x + (r + D)e.
    pub(super) fn contact_line(&self, geometry: &ContactGeometry) -> [DVec3; 2] {
        let first = geometry.contact.pair.first() as usize;
        let start = self.particles.position[first];
        let end = match geometry.contact.pair.partner() {
            Partner::Particle(j) => self.particles.seen_from(first, j as usize),
            Partner::Obstacle { .. } => start + geometry.normal * (self.particles.radius[first] + geometry.gap),
        };
        [start, end]
    }

    /// Whether the surfaces differ from frame to frame.
    pub(super) fn obstacles_move(&self) -> bool {
        self.obstacles.iter().any(|surface| surface.moving)
    }
}
