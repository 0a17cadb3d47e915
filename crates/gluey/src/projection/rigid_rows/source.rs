//! What rows of bodies that turn are made of: all that they read of the problem and of the metric of clumps.

use glam::{DMat3, DVec3};

use super::sweep::{Earlier, RigidBody, RigidRow};
use crate::projection::quads::Joining;
use crate::projection::{AdmissibleSet, NO_CLUMP, Problem, Rigid, Row, WALL};

/// A pivot of a factorisation below this share of its diagonal is rounding.
const LEAST_PIVOT: f64 = 8.0 * f64::EPSILON;

/// C, a lower triangle with C Cᵀ = S⁻¹.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Root(DMat3);

impl Root {
    /// Of a matrix without negative directions; a direction in which it is 0 gets a column of 0.
    pub fn of(matrix: DMat3) -> Self {
        let mut rest = matrix;
        let mut root = DMat3::ZERO;
        for k in 0..3 {
            let pivot = rest.col(k)[k];
            if pivot <= LEAST_PIVOT * matrix.col(k)[k] {
                continue;
            }
            let below = DVec3::from_array(std::array::from_fn(|row| if row < k { 0.0 } else { rest.col(k)[row] }));
            let column = below / pivot.sqrt();
            *root.col_mut(k) = column;
            (k..3).for_each(|to| *rest.col_mut(to) -= column * column[to]);
        }
        Self(root)
    }

    /// Cᵀ t.
    fn transposed_times(&self, torque: DVec3) -> DVec3 {
        DVec3::new(self.0.x_axis.dot(torque), self.0.y_axis.dot(torque), self.0.z_axis.dot(torque))
    }
}

/// What is read while rows are laid out.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub problem: &'a Problem,
    pub rigid: &'a Rigid,
    /// Of each clump.
    pub roots: &'a [Root],
    /// Where the solver starts from.
    pub impulses: &'a [f64],
}

/// A row in variables of unit diagonal.
pub(super) struct Described {
    pub row: RigidRow,
    /// D/(h√A_cc) + n̂·(V_j − V_i)^{n+1/2}.
    pub rate: f64,
    /// √A_cc, 0 between two that cannot move.
    pub scale: f64,
    /// The impulses that it admits.
    pub set: AdmissibleSet,
    /// The impulse to start from.
    pub start: f64,
}

/// How one end of a row answers to a unit impulse.
#[derive(Clone, Copy, Default)]
struct End {
    inverse_mass: f64,
    /// Cᵀ t.
    torque: DVec3,
    /// V^{n+1/2}.
    apriori: DVec3,
}

impl Source<'_> {
    /// The bodies that a row of the problem joins are those of `joining`.
    pub fn describe(&self, joining: Joining) -> Described {
        let Joining { row, i, j } = joining;
        let start = self.impulses[row as usize];
        let row = &self.problem.rows[row as usize];
        let (from, to) = (self.end(row.i, row.normal), self.end(row.j, row.normal));
        let diagonal = from.inverse_mass + from.torque.length_squared() + to.inverse_mass + to.torque.length_squared();
        let nothing = RigidRow { i, j, ..RigidRow::default() };
        let Row { normal, gap, set, .. } = *row;
        if diagonal <= 0.0 {
            return Described { row: nothing, rate: 0.0, scale: 0.0, set, start };
        }
        let scale = diagonal.sqrt();
        let inverse = scale.recip();
        let rate = (gap / self.problem.dt + normal.dot(to.apriori - from.apriori)) * inverse;
        let four = |torque: DVec3| (torque * inverse).extend(0.0).to_array();
        let (from, to) = (four(from.torque), four(to.torque));
        let row = RigidRow { normal: (normal * inverse).to_array(), from, to, ..nothing };
        Described { row, rate, scale, set, start }
    }

    fn end(&self, sphere: u32, normal: DVec3) -> End {
        if sphere == WALL {
            return End::default();
        }
        let at = sphere as usize;
        let apriori = self.problem.prediction.velocity[at];
        match self.rigid.owner[at] {
            NO_CLUMP => End { inverse_mass: self.rigid.inverse_mass[at], torque: DVec3::ZERO, apriori },
            owner => {
                let torque = self.roots[owner as usize].transposed_times(self.rigid.arm[at].cross(normal));
                End { inverse_mass: self.rigid.responses[owner as usize].inverse_mass, torque, apriori }
            }
        }
    }

    /// The body of a sphere, at rest, and the same at an earlier point.
    pub fn body(&self, sphere: usize) -> (RigidBody, Earlier) {
        let inverse_mass = match self.rigid.owner[sphere] {
            NO_CLUMP => self.rigid.inverse_mass[sphere],
            owner => self.rigid.responses[owner as usize].inverse_mass,
        };
        let mass = if inverse_mass > 0.0 { inverse_mass.recip() } else { 0.0 };
        let with = |last: f64| [0.0, 0.0, 0.0, last];
        (
            RigidBody { velocity: with(inverse_mass), ..RigidBody::default() },
            Earlier { velocity: with(mass), ..Earlier::default() },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_response_gives_it_back_where_some_turns_are_impossible_too() {
        let turn = DMat3::from_rotation_x(0.7) * DMat3::from_rotation_z(1.9) * DMat3::from_rotation_y(-2.3);
        let about = |moments: DVec3, turn: DMat3| turn * DMat3::from_diagonal(moments) * turn.transpose();
        let moments = [[1.0, 2.0, 3.0], [4.0, 4.0, 1e9], [5.0, 5.0, 0.0], [0.0, 7.0, 0.0], [0.0, 0.0, 2.0], [0.0; 3]];
        for (moments, turn) in moments.iter().flat_map(|moments| [(moments, turn), (moments, DMat3::IDENTITY)]) {
            let matrix = about(DVec3::from(*moments), turn);
            let root = Root::of(matrix);
            let size = moments.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            let off = (root.0 * root.0.transpose() - matrix).to_cols_array().map(f64::abs);
            assert!(off.into_iter().fold(0.0, f64::max) <= 4.0 * f64::EPSILON * size, "{moments:?}: {root:?}");
            let torque = DVec3::new(0.3, -0.4, 0.5);
            let (found, expected) = (root.transposed_times(torque).length_squared(), torque.dot(matrix * torque));
            assert!((found - expected).abs() <= 8.0 * f64::EPSILON * size, "{moments:?}: {found} {expected}");
        }
    }
}
