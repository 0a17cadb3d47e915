//! One Gauss–Seidel sweep over rows whose bodies turn.
//!
//! In the variables of [`sweep`](crate::projection::sweep), with S⁻¹ = C Cᵀ, ω = C s and t̂ = Cᵀ t/√A_cc, a row is
//!
//! ```text
//! y = x + β d,   w = D/(h√A_cc) + n̂·(V_j − V_i) + t̂_j·s_j − t̂_i·s_i,   z = max(√A_cc lower, y − ω w),
//! V_i ← V_i − n̂ (z − y)/m_i,   s_i ← s_i − t̂_i (z − y),   V_j ← V_j + n̂ (z − y)/m_j,   s_j ← s_j + t̂_j (z − y):
//! ```
//!
//! what a spin adds to a row and what the row adds to the spin are along the same vector, so that a row keeps one for
//! each of its bodies, and ω·S ω is |s|². Four rows that share no body are taken at a time, with lanes of 256 bits
//! where the processor has them; the same operations in the same order give the same bits without.

use crate::buffer::resize;
use crate::projection::sweep::{Bounds, Motion, Pace, Unknowns};
use crate::projection::worse;

/// A body: V and 1/m, and s and 0. What cannot move has 1/m = 0, and neither ever changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(super) struct RigidBody {
    pub velocity: [f64; 4],
    pub spin: [f64; 4],
}

/// A body's V and s at an earlier point, or its move from there with the sign changed, followed by m (0 for what cannot
/// move) and 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Earlier {
    pub velocity: [f64; 4],
    pub spin: [f64; 4],
}

/// Whom a row joins: n̂ from body i to body j, t̂_i and 0, t̂_j and 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct RigidRow {
    pub normal: [f64; 3],
    pub i: u32,
    pub j: u32,
    pub from: [f64; 4],
    pub to: [f64; 4],
}

impl RigidRow {
    /// (V, s) ← (V, s) + M⁻¹ Gᵀ z.
    pub fn push(&self, z: f64, bodies: &mut [RigidBody]) {
        for (body, torque, z) in [(self.i, &self.from, -z), (self.j, &self.to, z)] {
            let RigidBody { velocity, spin } = &mut bodies[body as usize];
            let change = z * velocity[3];
            for axis in 0..3 {
                velocity[axis] += change * self.normal[axis];
                spin[axis] += z * torque[axis];
            }
        }
    }

    /// n̂·(V_j − V_i) + t̂_j·s_j − t̂_i·s_i.
    fn closing(&self, bodies: &[RigidBody]) -> f64 {
        let (from, to) = (&bodies[self.i as usize], &bodies[self.j as usize]);
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let along = (to.velocity[axis] - from.velocity[axis]) * self.normal[axis];
            let with_one = self.to[axis].mul_add(to.spin[axis], along);
            (-self.from[axis]).mul_add(from.spin[axis], with_one)
        });
        (x + y) + z
    }
}

/// What a sweep reads of four rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Quad {
    pub rows: [RigidRow; 4],
    /// D/(h√A_cc), with the a-priori velocities.
    pub rate: [f64; 4],
}

/// A value of each of four rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Lanes(pub [f64; 4]);

/// Quads whose bodies are among so many: sweeps need not check that again.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheet {
    quads: Vec<Quad>,
    bodies: usize,
}

impl Sheet {
    /// No quads yet, for so many bodies.
    pub fn clear(&mut self, bodies: usize) {
        self.quads.clear();
        self.bodies = bodies;
    }

    /// So many quads; the new ones join a body with itself, and do nothing.
    pub fn grow(&mut self, count: usize, body: u32) {
        assert!((body as usize) < self.bodies, "a quad joins bodies that there are");
        let nobody = RigidRow { i: body, j: body, ..RigidRow::default() };
        resize(&mut self.quads, count, Quad { rows: [nobody; 4], rate: [0.0; 4] });
    }

    /// Puts a row in a lane of a quad.
    pub fn set(&mut self, (quad, lane): (usize, usize), row: RigidRow, rate: f64) {
        let count = self.bodies;
        assert!((row.i as usize) < count && (row.j as usize) < count, "a row joins bodies that there are");
        assert!(row.from[3] == 0.0 && row.to[3] == 0.0, "a spin has three components");
        (self.quads[quad].rows[lane], self.quads[quad].rate[lane]) = (row, rate);
    }

    pub fn quads(&self) -> &[Quad] {
        &self.quads
    }
}

/// Rows in the order of a sweep.
pub(super) struct Rows<'a> {
    pub sheet: &'a Sheet,
    /// √A_cc lower; those of the first quads, all others are 0.
    pub bounds: &'a [Bounds],
    pub unknowns: &'a mut [Unknowns],
}

/// Rows as they are looked at after a sweep.
#[derive(Clone, Copy)]
pub(super) struct Swept<'a> {
    pub sheet: &'a Sheet,
    /// √A_cc.
    pub scales: &'a [Lanes],
    pub bounds: &'a [Bounds],
    pub unknowns: &'a [Unknowns],
}

/// Sweeps once over the rows.
pub(super) fn sweep(bodies: &mut [RigidBody], rows: Rows, pace: Pace) -> Motion {
    relax::<false>(bodies, rows, pace)
}

/// Sweeps once without momentum, and leaves the last moves d as they are.
pub(super) fn plain_sweep(bodies: &mut [RigidBody], rows: Rows) {
    relax::<true>(bodies, rows, Pace { momentum: 0.0, relaxation: 1.0 });
}

/// A sweep, which keeps d or not.
fn relax<const KEEP: bool>(bodies: &mut [RigidBody], rows: Rows, pace: Pace) -> Motion {
    assert!(rows.sheet.bodies <= bodies.len(), "the bodies that the rows were laid out for");
    #[cfg(target_arch = "x86_64")]
    if lanes::is_possible() {
        #[allow(unsafe_code, reason = "the processor has what the function needs: it was asked")]
        return unsafe { wide::relax::<KEEP>(bodies, rows, pace) };
    }
    narrow_relax::<KEEP>(bodies, rows, pace)
}

/// max √A_cc |min(z − lower, w)| over the rows, NaN where one is.
pub(super) fn residual(bodies: &[RigidBody], rows: Swept) -> f64 {
    assert!(rows.sheet.bodies <= bodies.len(), "the bodies that the rows were laid out for");
    #[cfg(target_arch = "x86_64")]
    if lanes::is_possible() {
        #[allow(unsafe_code, reason = "the processor has what the function needs: it was asked")]
        return unsafe { wide::residual(bodies, rows) };
    }
    narrow_residual(bodies, rows)
}

/// w of every row.
pub(super) fn closing(bodies: &[RigidBody], sheet: &Sheet, w: &mut [Lanes]) {
    assert!(sheet.bodies <= bodies.len(), "the bodies that the rows were laid out for");
    #[cfg(target_arch = "x86_64")]
    if lanes::is_possible() {
        #[allow(unsafe_code, reason = "the processor has what the function needs: it was asked")]
        return unsafe { wide::closing(bodies, sheet, w) };
    }
    narrow_closing(bodies, sheet, w);
}

/// (before, V, s) ← ((V, s), (V, s) + β d); tells Σ (m |d_V|² + |d_s|²). The move d is that since before, or −before
/// where it was held.
pub(super) fn extrapolate(bodies: &mut [RigidBody], before: &mut [Earlier], (momentum, held): (f64, bool)) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if lanes::is_possible() {
        #[allow(unsafe_code, reason = "the processor has what the function needs: it was asked")]
        return unsafe { wide::extrapolate(bodies, before, (momentum, held)) };
    }
    narrow_extrapolate(bodies, before, (momentum, held))
}

/// A sum is taken in so many parts for V and as many for s, so that no term waits for the one before.
const CHAINS: usize = 2;

fn narrow_extrapolate(bodies: &mut [RigidBody], before: &mut [Earlier], (momentum, held): (f64, bool)) -> f64 {
    let mut energy = [[[0.0; 4]; 2]; CHAINS];
    for (k, (body, before)) in bodies.iter_mut().zip(before).enumerate() {
        let [of_velocity, of_spin] = &mut energy[k % CHAINS];
        let mass = before.velocity[3];
        for axis in 0..3 {
            let step = |now: &mut f64, before: &mut f64| {
                let d = if held { 0.0 } else { *now } - *before;
                *before = *now;
                *now = momentum.mul_add(d, *now);
                d
            };
            let d = step(&mut body.velocity[axis], &mut before.velocity[axis]);
            of_velocity[axis] = (mass * d).mul_add(d, of_velocity[axis]);
            let d = step(&mut body.spin[axis], &mut before.spin[axis]);
            of_spin[axis] = d.mul_add(d, of_spin[axis]);
        }
    }
    energy.iter().flatten().flatten().sum()
}

fn narrow_closing(bodies: &[RigidBody], sheet: &Sheet, w: &mut [Lanes]) {
    for (quad, w) in sheet.quads.iter().zip(w) {
        w.0 = std::array::from_fn(|lane| quad.rows[lane].closing(bodies) + quad.rate[lane]);
    }
}

fn narrow_residual(bodies: &[RigidBody], Swept { sheet, scales, bounds, unknowns }: Swept) -> f64 {
    let mut largest = [0.0; 4];
    for (k, (quad, (scale, unknown))) in sheet.quads.iter().zip(scales.iter().zip(unknowns)).enumerate() {
        let Bounds { lower } = bounds.get(k).copied().unwrap_or_default();
        for (lane, row) in quad.rows.iter().enumerate() {
            let (w, room) = (row.closing(bodies) + quad.rate[lane], unknown.x[lane] - lower[lane]);
            let rest = if room < w { room } else { w };
            largest[lane] = worse(largest[lane], (scale.0[lane] * rest).abs());
        }
    }
    largest.into_iter().fold(0.0, worse)
}

/// The sweep in plain arithmetic.
fn narrow_relax<const KEEP: bool>(bodies: &mut [RigidBody], rows: Rows, pace: Pace) -> Motion {
    let Rows { sheet, bounds, unknowns } = rows;
    let (mut against, mut squared, mut largest) = ([0.0; 4], [0.0; 4], [0.0_f64; 4]);
    for (k, (quad, unknown)) in sheet.quads.iter().zip(unknowns).enumerate() {
        let Bounds { lower } = bounds.get(k).copied().unwrap_or_default();
        let mut change = [0.0; 4];
        for lane in 0..4 {
            let w = quad.rows[lane].closing(bodies) + quad.rate[lane];
            let (x, y) = (unknown.x[lane], pace.momentum.mul_add(unknown.d[lane], unknown.x[lane]));
            let free = (-pace.relaxation).mul_add(w, y);
            let z = if free > lower[lane] { free } else { lower[lane] };
            let d = z - x;
            change[lane] = z - y;
            against[lane] = (-change[lane]).mul_add(d, against[lane]);
            squared[lane] = d.mul_add(d, squared[lane]);
            largest[lane] = if largest[lane] > change[lane].abs() { largest[lane] } else { change[lane].abs() };
            unknown.x[lane] = z;
            if !KEEP {
                unknown.d[lane] = d;
            }
        }
        for (row, change) in quad.rows.iter().zip(change) {
            let push = row.normal.map(|n| n * change);
            let from = &mut bodies[row.i as usize];
            for (axis, push) in push.into_iter().enumerate() {
                from.velocity[axis] = (-push).mul_add(from.velocity[3], from.velocity[axis]);
                from.spin[axis] = (-row.from[axis]).mul_add(change, from.spin[axis]);
            }
            let to = &mut bodies[row.j as usize];
            for (axis, push) in push.into_iter().enumerate() {
                to.velocity[axis] = push.mul_add(to.velocity[3], to.velocity[axis]);
                to.spin[axis] = row.to[axis].mul_add(change, to.spin[axis]);
            }
        }
    }
    Motion::of_lanes(against, squared, largest)
}

#[cfg(target_arch = "x86_64")]
use crate::projection::sweep::wide as lanes;

/// The same with four lanes: a body is two loads and two stores.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "bodies are read without asking whether they are there: the sheet was checked")]
mod wide {
    use std::arch::x86_64::{
        __m256d, _CMP_UNORD_Q, _mm256_add_pd, _mm256_and_pd, _mm256_andnot_pd, _mm256_blend_pd, _mm256_castsi256_pd,
        _mm256_cmp_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_hadd_pd, _mm256_load_pd, _mm256_max_pd, _mm256_min_pd,
        _mm256_movemask_pd, _mm256_mul_pd, _mm256_or_pd, _mm256_permute2f128_pd, _mm256_permute4x64_pd,
        _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setzero_pd, _mm256_sub_pd,
    };
    use std::ptr::from_ref;

    use crate::prefetch::prefetch_at;

    use super::lanes::{lanes, load, store};
    use super::{Bounds, CHAINS, Earlier, Lanes, Motion, Pace, Quad, RigidBody, RigidRow, Rows, Sheet, Swept};

    /// Arrays of four numbers are at an address that is a multiple of 32.
    const _: () = assert!(size_of::<RigidBody>() == 64 && align_of::<RigidBody>() == 64);
    const _: () = assert!(size_of::<Earlier>() == 64 && align_of::<Earlier>() == 64);
    const _: () = assert!(size_of::<RigidRow>() == 96 && align_of::<RigidRow>() == 32);
    const _: () = assert!(size_of::<Quad>() == 416 && align_of::<Quad>() == 32);
    const _: () = assert!(size_of::<Lanes>() == 32 && align_of::<Lanes>() == 32);

    /// Quads that a sweep asks for memory in advance.
    const AHEAD: usize = 12;

    /// The sheet was laid out for no more bodies than there are: the caller has made sure of that.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn relax<const KEEP: bool>(bodies: &mut [RigidBody], rows: Rows, pace: Pace) -> Motion {
        let Rows { sheet, bounds, unknowns } = rows;
        let (mut against, mut squared) = (_mm256_setzero_pd(), _mm256_setzero_pd());
        let mut largest = _mm256_setzero_pd();
        let (momentum, relaxation) = (_mm256_set1_pd(pace.momentum), _mm256_set1_pd(pace.relaxation));
        let sign = _mm256_set1_pd(-0.0);
        for (k, (quad, unknown)) in sheet.quads.iter().zip(unknowns).enumerate() {
            // The processor's own guess ends with each page of memory.
            prefetch_at(quad, AHEAD);
            prefetch_at(unknown, AHEAD);
            let w = unsafe { closing_of(bodies, quad) };
            let x = load(&unknown.x);
            let y = _mm256_fmadd_pd(momentum, load(&unknown.d), x);
            let lower = bounds.get(k).map_or(_mm256_setzero_pd(), |Bounds { lower }| load(lower));
            let z = _mm256_max_pd(_mm256_fnmadd_pd(relaxation, w, y), lower);
            let (change, d) = (_mm256_sub_pd(z, y), _mm256_sub_pd(z, x));
            against = _mm256_fnmadd_pd(change, d, against);
            squared = _mm256_fmadd_pd(d, d, squared);
            largest = _mm256_max_pd(largest, _mm256_andnot_pd(sign, change));
            store(&mut unknown.x, z);
            if !KEEP {
                store(&mut unknown.d, d);
            }
            let [a, b, c, d] = &quad.rows;
            unsafe {
                push(bodies, a, _mm256_permute4x64_pd::<0x00>(change));
                push(bodies, b, _mm256_permute4x64_pd::<0x55>(change));
                push(bodies, c, _mm256_permute4x64_pd::<0xAA>(change));
                push(bodies, d, _mm256_permute4x64_pd::<0xFF>(change));
            }
        }
        Motion::of_lanes(lanes(against), lanes(squared), lanes(largest))
    }

    /// The sheet was laid out for no more bodies than there are: the caller has made sure of that.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn residual(bodies: &[RigidBody], Swept { sheet, scales, bounds, unknowns }: Swept) -> f64 {
        let (mut largest, mut not_numbers) = (_mm256_setzero_pd(), _mm256_setzero_pd());
        let sign = _mm256_set1_pd(-0.0);
        for (k, (quad, (scale, unknown))) in sheet.quads.iter().zip(scales.iter().zip(unknowns)).enumerate() {
            prefetch_at(quad, AHEAD);
            prefetch_at(unknown, AHEAD);
            let w = unsafe { closing_of(bodies, quad) };
            let lower = bounds.get(k).map_or(_mm256_setzero_pd(), |Bounds { lower }| load(lower));
            let rest = _mm256_min_pd(_mm256_sub_pd(load(&unknown.x), lower), w);
            let size = _mm256_andnot_pd(sign, _mm256_mul_pd(load(&scale.0), rest));
            largest = _mm256_max_pd(largest, size);
            not_numbers = _mm256_or_pd(not_numbers, _mm256_cmp_pd::<_CMP_UNORD_Q>(size, size));
        }
        if _mm256_movemask_pd(not_numbers) != 0 { f64::NAN } else { lanes(largest).into_iter().fold(0.0, f64::max) }
    }

    /// The sheet was laid out for no more bodies than there are: the caller has made sure of that.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn closing(bodies: &[RigidBody], sheet: &Sheet, w: &mut [Lanes]) {
        for (quad, w) in sheet.quads.iter().zip(w) {
            store(&mut w.0, unsafe { closing_of(bodies, quad) });
        }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn extrapolate(bodies: &mut [RigidBody], before: &mut [Earlier], (momentum, held): (f64, bool)) -> f64 {
        let pace = (_mm256_set1_pd(momentum), _mm256_castsi256_pd(_mm256_set1_epi64x(if held { 0 } else { -1 })));
        let mut energy = [[_mm256_setzero_pd(); 2]; CHAINS];
        let count = bodies.len().min(before.len());
        let (bodies, last_body) = bodies[..count].as_chunks_mut::<CHAINS>();
        let (before, last_before) = before[..count].as_chunks_mut::<CHAINS>();
        for (bodies, before) in bodies.iter_mut().zip(before) {
            for k in 0..CHAINS {
                energy[k] = extrapolate_one(&mut bodies[k], &mut before[k], pace, energy[k]);
            }
        }
        for ((body, before), energy) in last_body.iter_mut().zip(last_before).zip(&mut energy) {
            *energy = extrapolate_one(body, before, pace, *energy);
        }
        energy.as_flattened().iter().flat_map(|chain| lanes(*chain)).sum()
    }

    /// The energies of V and of s with those of this body added. A move is that since the point before where the mask
    /// lets V and s through.
    #[target_feature(enable = "avx2,fma")]
    fn extrapolate_one(
        body: &mut RigidBody,
        before: &mut Earlier,
        (momentum, mask): (__m256d, __m256d),
        [of_velocity, of_spin]: [__m256d; 2],
    ) -> [__m256d; 2] {
        let (v, old) = (load(&body.velocity), load(&before.velocity));
        let d = _mm256_blend_pd::<0b1000>(_mm256_sub_pd(_mm256_and_pd(v, mask), old), _mm256_setzero_pd());
        let mass = _mm256_set1_pd(before.velocity[3]);
        store(&mut before.velocity, _mm256_blend_pd::<0b1000>(v, old));
        store(&mut body.velocity, _mm256_fmadd_pd(momentum, d, v));
        let (s, old) = (load(&body.spin), load(&before.spin));
        let turn = _mm256_sub_pd(_mm256_and_pd(s, mask), old);
        store(&mut before.spin, s);
        store(&mut body.spin, _mm256_fmadd_pd(momentum, turn, s));
        [_mm256_fmadd_pd(_mm256_mul_pd(mass, d), d, of_velocity), _mm256_fmadd_pd(turn, turn, of_spin)]
    }

    /// w of four rows. The bodies of a sheet for these bodies are there: [`Sheet::set`] has checked that.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn closing_of(bodies: &[RigidBody], quad: &Quad) -> __m256d {
        let [a, b, c, d] = &quad.rows;
        let first = unsafe { _mm256_hadd_pd(products(bodies, a), products(bodies, b)) };
        let last = unsafe { _mm256_hadd_pd(products(bodies, c), products(bodies, d)) };
        // x + y and z of a and b in the halves of the first, of c and d in those of the last.
        let (inner, outer) = (_mm256_permute2f128_pd::<0x21>(first, last), _mm256_blend_pd::<0b1100>(first, last));
        _mm256_add_pd(_mm256_add_pd(inner, outer), load(&quad.rate))
    }

    /// (V_j − V_i) n̂ + s_j t̂_j − s_i t̂_i, component by component; the last is 0. The bodies are there, as for
    /// [`closing_of`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn products(bodies: &[RigidBody], row: &RigidRow) -> __m256d {
        let [from, to] = unsafe { [row.i, row.j].map(|at| bodies.get_unchecked(at as usize)) };
        let along = _mm256_mul_pd(_mm256_sub_pd(load(&to.velocity), load(&from.velocity)), normal(row));
        let with_one = _mm256_fmadd_pd(load(&row.to), load(&to.spin), along);
        _mm256_fnmadd_pd(load(&row.from), load(&from.spin), with_one)
    }

    /// V_i −= n̂ change/m_i, s_i −= t̂_i change, and the same with the other sign of j; the last components stay,
    /// because those of n̂ and t̂ are 0. The bodies are there, as for [`closing_of`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn push(bodies: &mut [RigidBody], row: &RigidRow, change: __m256d) {
        let impulse = _mm256_mul_pd(normal(row), change);
        let RigidBody { velocity, spin } = unsafe { bodies.get_unchecked_mut(row.i as usize) };
        store(velocity, _mm256_fnmadd_pd(impulse, _mm256_set1_pd(velocity[3]), load(velocity)));
        store(spin, _mm256_fnmadd_pd(load(&row.from), change, load(spin)));
        let RigidBody { velocity, spin } = unsafe { bodies.get_unchecked_mut(row.j as usize) };
        store(velocity, _mm256_fmadd_pd(impulse, _mm256_set1_pd(velocity[3]), load(velocity)));
        store(spin, _mm256_fmadd_pd(load(&row.to), change, load(spin)));
    }

    /// n̂ and 0: the ids behind it are masked out.
    #[target_feature(enable = "avx2,fma")]
    fn normal(row: &RigidRow) -> __m256d {
        _mm256_blend_pd::<0b1000>(unsafe { _mm256_load_pd(from_ref(row).cast()) }, _mm256_setzero_pd())
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
