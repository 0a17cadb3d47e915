//! The mean stress of a region: what contacts carry, and what moving particles do.
//!
//! With tension positive, the contact stress is σ = −(1/|Ω|) Σ_c s_c F_c ⊗ b_c. F_c = (Λ/h) e is the force of the first
//! particle on its partner, a mean over the last step or sub-step. The branch b_c = ℓ e leads from centre to centre,
//! ℓ = r_i + r_j + D, or to the point of the obstacle, ℓ = r_i + D. s_c is the share of the branch that lies in Ω: so the stress on a plane
//! through Ω, averaged over its positions, is the force of the branches that cross it. Contacts push along their normals,
//! so σ is symmetric; a contact that pushes adds pressure, one that pulls takes it away. In a periodic cell s_c is summed
//! over all images of the branch: a box that is the cell has every contact once.

use glam::{DMat3, DVec3};

use super::Region;
use crate::contact::{ContactGeometry, Partner};
use crate::geometry::Particles;

/// a ⊗ a.
fn square(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}

/// The contact stress of a region (force/length², in 2D force/length); impulses are those of a step of length dt.
#[must_use]
pub fn contact_stress(particles: &Particles, contacts: &[ContactGeometry], region: &Region, dt: f64) -> DMat3 {
    let mut sum = DMat3::ZERO;
    let unrolled = region.unrolled(particles.cell);
    for ContactGeometry { contact, gap, normal } in contacts {
        let first = contact.pair.first() as usize;
        let partner = match contact.pair.partner() {
            Partner::Particle(j) => particles.radius[j as usize],
            Partner::Obstacle { .. } => 0.0,
        };
        let length = particles.radius[first] + partner + gap;
        let branch = *normal * length;
        let reach = (branch.min(DVec3::ZERO), branch.max(DVec3::ZERO));
        let images = unrolled.images(particles.cell, particles.position[first], reach);
        let share = images.map(|from| unrolled.share(from, branch)).sum::<f64>();
        sum += square(*normal) * (share * length * contact.impulse / dt);
    }
    sum * -region.volume().recip()
}

/// The kinetic stress, −(1/|Ω|) Σ m (V − V̄) ⊗ (V − V̄) over the particles and periodic images with their centres in the
/// region, V̄ the velocity of their centre of mass.
#[must_use]
pub fn kinetic_stress(particles: &Particles, region: &Region) -> DMat3 {
    let unrolled = region.unrolled(particles.cell);
    let images = |i: usize| unrolled.images(particles.cell, particles.position[i], (DVec3::ZERO, DVec3::ZERO));
    let inside = || (0..particles.len()).flat_map(|i| images(i).filter(|x| unrolled.holds(*x)).map(move |_| i));
    let mass: f64 = inside().map(|i| particles.mass[i]).sum();
    if mass == 0.0 {
        return DMat3::ZERO;
    }
    let mean = inside().map(|i| particles.mass[i] * particles.velocity[i]).sum::<DVec3>() / mass;
    let sum = inside().fold(DMat3::ZERO, |sum, i| sum + square(particles.velocity[i] - mean) * particles.mass[i]);
    sum * -region.volume().recip()
}

/// The pressure of a stress, p = −tr σ/d.
#[must_use]
pub fn pressure(stress: DMat3, dimension: usize) -> f64 {
    -(0..dimension).map(|k| stress.col(k)[k]).sum::<f64>() / dimension as f64
}

/// The entries of a symmetric tensor that differ, by name: xx, yy and xy, in 3D zz, xz and yz too.
#[must_use]
pub fn components(stress: DMat3, dimension: usize) -> Vec<(&'static str, f64)> {
    let entry = |row: usize, column: usize| stress.col(column)[row];
    let mut components = vec![("xx", entry(0, 0)), ("yy", entry(1, 1)), ("xy", entry(0, 1))];
    if dimension == 3 {
        components.extend([("zz", entry(2, 2)), ("xz", entry(0, 2)), ("yz", entry(1, 2))]);
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Contact, Pair};
    use crate::geometry::Cell;

    fn region(lower: [f64; 3], upper: [f64; 3], dimension: usize) -> Region {
        Region::new(lower.into(), upper.into(), dimension).unwrap()
    }

    fn pressed(pair: Pair, normal: DVec3, impulse: f64) -> ContactGeometry {
        ContactGeometry { contact: Contact { pair, gamma: 0.0, impulse }, gap: 0.0, normal }
    }

    #[test]
    fn two_pressed_particles_have_the_stress_of_their_branch() {
        let mut particles = Particles::default();
        particles.push(DVec3::ZERO, 0.5, 1.0);
        particles.push(DVec3::X * 1.5, 1.0, 1.0);
        let contact = [pressed(Pair::particles(0, 1), DVec3::X, 0.3)];
        let whole = region([-1.0; 3], [3.0, 1.0, 1.0], 3);
        let stress = contact_stress(&particles, &contact, &whole, 0.1);
        assert!((stress.x_axis.x + 3.0 * 1.5 / 16.0).abs() < 1e-15, "force 3 over a branch of 1.5 in a volume of 16");
        assert_eq!((stress.y_axis, stress.z_axis, stress.x_axis.y), (DVec3::ZERO, DVec3::ZERO, 0.0));
        assert!((pressure(stress, 3) - 3.0 * 1.5 / 48.0).abs() < 1e-15);
        // A box that cuts the branch sees the force through its section, 3 on an area of 4, wherever it is cut.
        let part = contact_stress(&particles, &contact, &region([0.2, -1.0, -1.0], [0.9, 1.0, 1.0], 3), 0.1);
        assert!((part.x_axis.x + 3.0 / 4.0).abs() < 1e-15);
        let beside = contact_stress(&particles, &contact, &region([0.2, 0.1, -1.0], [0.9, 1.0, 1.0], 3), 0.1);
        assert_eq!(beside, DMat3::ZERO);
    }

    #[test]
    fn a_crystal_under_the_same_force_everywhere_has_its_pressure() {
        // Spheres of diameter a touch along the axes, each contact and each wall pushes with f: p = f/a² in space.
        let (n, a, f) = (4_u32, 0.5, 7.0);
        let mut particles = Particles::default();
        let mut contacts = Vec::new();
        let index = |x: [u32; 3]| (x[0] * n + x[1]) * n + x[2];
        for i in 0..n * n * n {
            let x = [i / (n * n), i / n % n, i % n];
            particles.push(DVec3::from(x.map(|k| a * (f64::from(k) + 0.5))), 0.5 * a, 1.0);
            for (axis, normal) in DVec3::AXES.into_iter().enumerate() {
                let mut next = x;
                next[axis] += 1;
                let ahead =
                    if next[axis] < n { Pair::particles(i, index(next)) } else { Pair::obstacle(i, axis as u32, 1) };
                contacts.push(pressed(ahead, normal, f));
                if x[axis] == 0 {
                    contacts.push(pressed(Pair::obstacle(i, axis as u32, 0), -normal, f));
                }
            }
        }
        for part in
            [region([0.0; 3], [2.0; 3], 3), region([0.5; 3], [1.5; 3], 3), region([0.0, 0.5, 0.1], [2.0, 1.5, 1.6], 3)]
        {
            let stress = contact_stress(&particles, &contacts, &part, 1.0);
            assert!((stress - DMat3::IDENTITY * (-f / (a * a))).abs_diff_eq(DMat3::ZERO, 1e-12), "{stress}");
        }
    }

    #[test]
    fn a_contact_through_a_face_of_the_cell_counts_once_wherever_the_cell_begins() {
        let cell = Cell::new([Some([0.0, 4.0]), None, None]).unwrap();
        let mut particles = Particles { cell: Some(cell), ..Particles::default() };
        particles.push(DVec3::new(3.5, 0.0, 0.0), 0.5, 1.0);
        particles.push(DVec3::new(0.5, 0.0, 0.0), 0.5, 1.0);
        particles.push(DVec3::new(0.5, 1.0, 0.0), 0.5, 1.0);
        particles.velocity[0] = DVec3::X;
        let contacts = [pressed(Pair::particles(0, 1), DVec3::X, 3.0), pressed(Pair::particles(1, 2), DVec3::Y, 2.0)];
        let whole = region([0.0, -1.0, 0.0], [4.0, 2.0, 0.0], 2);
        let elsewhere = region([3.7, -1.0, 0.0], [7.7, 2.0, 0.0], 2);
        let kinetic = kinetic_stress(&particles, &whole);
        for shift in [0.0, 0.3, 0.5, 3.4] {
            particles.position.iter_mut().for_each(|x| x.x += shift);
            particles.wrap();
            for region in [whole, elsewhere] {
                let stress = contact_stress(&particles, &contacts, &region, 1.0);
                let expected = DMat3::from_diagonal(DVec3::new(-3.0 / 12.0, -2.0 / 12.0, 0.0));
                assert!(stress.abs_diff_eq(expected, 1e-15), "{stress} after {shift}");
                assert!(kinetic_stress(&particles, &region).abs_diff_eq(kinetic, 1e-15));
            }
        }
        // A slab about the face of the cell that the branch crosses sees its whole force.
        let (from, to) = (3.45 + 0.3 + 0.5 + 3.4, 3.45 + 1.1 + 0.3 + 0.5 + 3.4);
        let about = region([from, -1.0, 0.0], [to, 0.5, 0.0], 2);
        let stress = contact_stress(&particles, &contacts, &about, 1.0);
        assert!((stress.x_axis.x + 3.0 / (1.1 * 1.5)).abs() < 1e-12, "{stress}");
    }

    #[test]
    fn pulling_is_tension() {
        let mut particles = Particles::default();
        particles.push(DVec3::new(0.5, 0.5, 0.0), 0.5, 1.0);
        let stress = contact_stress(
            &particles,
            &[pressed(Pair::obstacle(0, 0, 0), DVec3::Y, -2.0)],
            &region([0.0; 3], [1.0, 1.0, 0.0], 2),
            1.0,
        );
        assert_eq!((stress.y_axis.y, pressure(stress, 2)), (1.0, -0.5));
    }

    #[test]
    fn kinetic_stress_is_that_of_an_ideal_gas() {
        let mut particles = Particles::default();
        for (k, v) in [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z].into_iter().enumerate() {
            particles.push(DVec3::splat(0.1 * k as f64), 0.01, 2.0);
            *particles.velocity.last_mut().unwrap() = 3.0 * v + DVec3::splat(5.0); // drifts as a whole
        }
        particles.push(DVec3::splat(9.0), 0.01, 2.0); // outside
        let stress = kinetic_stress(&particles, &region([0.0; 3], [1.0, 1.0, 2.0], 3));
        // p = N m ⟨v²⟩/(3 |Ω|) = 6·2·9/(3·2).
        assert!((pressure(stress, 3) - 18.0).abs() < 1e-12);
        assert!(stress.abs_diff_eq(DMat3::IDENTITY * -18.0, 1e-12));
        assert_eq!(kinetic_stress(&particles, &region([20.0; 3], [21.0; 3], 3)), DMat3::ZERO);
    }
}
