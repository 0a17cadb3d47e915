//! One Gauss–Seidel sweep over a list of rows, at the speed of memory.
//!
//! In variables of unit diagonal, z_c = √A_cc Λ_c and n̂_c = n_c/√A_cc, a row is relaxed (exactly where ω = 1) by
//!
//! ```text
//! y = x + β d,   w = D/(h√A_cc) + n̂·(V_j − V_i),   z = max(√A_cc lower, y − ω w),
//! V_i ← V_i − n̂ (z − y)/m_i,   V_j ← V_j + n̂ (z − y)/m_j,   (x, d) ← (z, z − x):
//! ```
//!
//! the momentum β d is added on the way, so that a sweep reads and writes each row once. Rows are taken four at a time.
//! Rows of a quad share no body that can move, so relaxing them together is relaxing them one after the other: it *is*
//! Gauss–Seidel, in the order of the list. Consecutive quads mostly share no body either, so that one need not wait for the
//! other; see [`Quads::add`].
//!
//! Where the processor has 256-bit lanes and fused multiplication they are used; the same operations in the same order give
//! the same bits without.

use super::worse;
use crate::buffer::resize;

/// A body: its velocity, and 1/m. What cannot move has 1/m = 0, and its velocity never changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Body {
    pub velocity: [f64; 3],
    pub inverse_mass: f64,
}

/// A body's velocity at an earlier point, or its move from there with the sign changed, and m; 0 for what cannot move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Earlier {
    pub velocity: [f64; 3],
    pub mass: f64,
}

/// Whom a row joins: n̂ from body i to body j.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Joint {
    pub normal: [f64; 3],
    pub i: u32,
    pub j: u32,
}

impl Joint {
    /// V_i ← V_i − n̂ z/m_i, V_j ← V_j + n̂ z/m_j.
    pub fn push(&self, z: f64, bodies: &mut [Body]) {
        let mut push = |body: u32, z: f64| {
            let body = &mut bodies[body as usize];
            let change = z * body.inverse_mass;
            (0..3).for_each(|axis| body.velocity[axis] += change * self.normal[axis]);
        };
        push(self.i, -z);
        push(self.j, z);
    }
}

/// What a sweep reads of four rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Quad {
    pub joints: [Joint; 4],
    /// D/(h√A_cc).
    pub rate: [f64; 4],
}

/// √A_cc lower of four rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Bounds {
    pub lower: [f64; 4],
}

/// What a sweep changes of four rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Unknowns {
    /// The last swept point.
    pub x: [f64; 4],
    /// Its distance from the one before.
    pub d: [f64; 4],
}

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
        let nobody = Joint { normal: [0.0; 3], i: body, j: body };
        resize(&mut self.quads, count, Quad { joints: [nobody; 4], rate: [0.0; 4] });
    }

    /// Puts a row in a lane of a quad.
    pub fn set(&mut self, (quad, lane): (usize, usize), joint: Joint, rate: f64) {
        let count = self.bodies;
        assert!((joint.i as usize) < count && (joint.j as usize) < count, "a row joins bodies that there are");
        (self.quads[quad].joints[lane], self.quads[quad].rate[lane]) = (joint, rate);
    }

    pub fn quads(&self) -> &[Quad] {
        &self.quads
    }
}

/// Rows in the order of a sweep.
pub(super) struct Rows<'a> {
    pub sheet: &'a Sheet,
    /// Those of the first quads; all others are 0. In a dry problem a sweep reads none.
    pub bounds: &'a [Bounds],
    pub unknowns: &'a mut [Unknowns],
}

/// How a sweep goes on from the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// β.
    pub momentum: f64,
    /// ω: how far a row goes, relative to the way to its minimum.
    pub relaxation: f64,
}

/// What a sweep tells about the momentum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Motion {
    /// Σ (y − z) d: positive where the sweep went against the momentum.
    pub against: f64,
    /// Σ d².
    pub squared: f64,
    /// max |z − y|, which is ω times the residual of the rows as the sweep met them.
    pub largest: f64,
}

impl Motion {
    pub fn with(self, other: Self) -> Self {
        Self {
            against: self.against + other.against,
            squared: self.squared + other.squared,
            largest: self.largest.max(other.largest),
        }
    }

    pub fn of_lanes(against: [f64; 4], squared: [f64; 4], largest: [f64; 4]) -> Self {
        Self {
            against: against.iter().sum(),
            squared: squared.iter().sum(),
            largest: largest.into_iter().fold(0.0, f64::max),
        }
    }
}

/// Sweeps once over the rows.
pub(super) fn sweep(bodies: &mut [Body], rows: Rows, pace: Pace) -> Motion {
    relax::<false>(bodies, rows, pace)
}

/// Sweeps once without momentum, and leaves the last moves d as they are.
pub(super) fn plain_sweep(bodies: &mut [Body], rows: Rows) {
    relax::<true>(bodies, rows, Pace { momentum: 0.0, relaxation: 1.0 });
}

/// A sweep, which keeps d or not.
fn relax<const KEEP: bool>(bodies: &mut [Body], rows: Rows, pace: Pace) -> Motion {
    assert!(rows.sheet.bodies <= bodies.len(), "the bodies that the rows were laid out for");
    #[cfg(target_arch = "x86_64")]
    if wide::is_possible() {
        #[allow(unsafe_code, reason = "the processor has what the function needs: it was asked")]
        return unsafe { wide::relax::<KEEP>(bodies, rows, pace) };
    }
    narrow_relax::<KEEP>(bodies, rows, pace)
}

/// max A_cc min(z − lower, w)² over the rows, NaN where one is.
pub(super) fn residual_squared(bodies: &[Body], sheet: &Sheet, bounds: &[Bounds], unknowns: &[Unknowns]) -> f64 {
    assert!(sheet.bodies <= bodies.len(), "the bodies that the rows were laid out for");
    #[cfg(target_arch = "x86_64")]
    if wide::is_possible() {
        #[allow(unsafe_code, reason = "the processor has what the function needs: it was asked")]
        return unsafe { wide::residual_squared(bodies, sheet, bounds, unknowns) };
    }
    narrow_residual_squared(bodies, sheet, bounds, unknowns)
}

fn narrow_residual_squared(bodies: &[Body], sheet: &Sheet, bounds: &[Bounds], unknowns: &[Unknowns]) -> f64 {
    let mut largest = [0.0; 4];
    for (k, (quad, unknown)) in sheet.quads.iter().zip(unknowns).enumerate() {
        let Bounds { lower } = bounds.get(k).copied().unwrap_or_default();
        for (lane, &Joint { normal: n, i, j }) in quad.joints.iter().enumerate() {
            let (from, to) = (&bodies[i as usize], &bodies[j as usize]);
            let [px, py, pz] = [0, 1, 2].map(|axis| (to.velocity[axis] - from.velocity[axis]) * n[axis]);
            let (w, room) = ((px + py) + pz + quad.rate[lane], unknown.x[lane] - lower[lane]);
            let rest = if room < w { room } else { w };
            largest[lane] = worse(largest[lane], (to.inverse_mass + from.inverse_mass) * (rest * rest));
        }
    }
    largest.into_iter().fold(0.0, worse)
}

/// A sum is taken in so many parts, so that none of its terms waits for the one before.
const CHAINS: usize = 4;

/// (before, V) ← (V, V + β d); tells Σ m |d|². The move d is V − before, or −before where it was held.
pub(super) fn extrapolate(bodies: &mut [Body], before: &mut [Earlier], (momentum, held): (f64, bool)) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if wide::is_possible() {
        #[allow(unsafe_code, reason = "the processor has what the function needs: it was asked")]
        return unsafe { wide::extrapolate(bodies, before, (momentum, held)) };
    }
    narrow_extrapolate(bodies, before, (momentum, held))
}

fn narrow_extrapolate(bodies: &mut [Body], before: &mut [Earlier], (momentum, held): (f64, bool)) -> f64 {
    let mut energy = [[0.0; 4]; CHAINS];
    for (k, (body, before)) in bodies.iter_mut().zip(before).enumerate() {
        for (axis, energy) in energy[k % CHAINS].iter_mut().take(3).enumerate() {
            let v = body.velocity[axis];
            let d = if held { 0.0 } else { v } - before.velocity[axis];
            *energy = (before.mass * d).mul_add(d, *energy);
            before.velocity[axis] = v;
            body.velocity[axis] = momentum.mul_add(d, v);
        }
    }
    energy.iter().flatten().sum()
}

/// The sweep in plain arithmetic.
fn narrow_relax<const KEEP: bool>(bodies: &mut [Body], Rows { sheet, bounds, unknowns }: Rows, pace: Pace) -> Motion {
    let (mut against, mut squared, mut largest) = ([0.0; 4], [0.0; 4], [0.0_f64; 4]);
    for (k, (quad, unknown)) in sheet.quads.iter().zip(unknowns).enumerate() {
        let Bounds { lower } = bounds.get(k).copied().unwrap_or_default();
        let mut change = [0.0; 4];
        for lane in 0..4 {
            let Joint { normal: n, i, j } = quad.joints[lane];
            let (from, to) = (bodies[i as usize].velocity, bodies[j as usize].velocity);
            let [px, py, pz] = [0, 1, 2].map(|axis| (to[axis] - from[axis]) * n[axis]);
            let w = (px + py) + pz + quad.rate[lane];
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
        for (joint, change) in quad.joints.iter().zip(change) {
            let push = joint.normal.map(|n| n * change);
            let from = &mut bodies[joint.i as usize];
            (0..3).for_each(|axis| from.velocity[axis] = (-push[axis]).mul_add(from.inverse_mass, from.velocity[axis]));
            let to = &mut bodies[joint.j as usize];
            (0..3).for_each(|axis| to.velocity[axis] = push[axis].mul_add(to.inverse_mass, to.velocity[axis]));
        }
    }
    Motion::of_lanes(against, squared, largest)
}

/// The same with four lanes: a body is one load and one store.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "loads and stores of whole registers; each goes through a reference of that size")]
pub(super) mod wide {
    use std::arch::x86_64::{
        __m256d, _CMP_UNORD_Q, _mm256_add_pd, _mm256_and_pd, _mm256_andnot_pd, _mm256_blend_pd, _mm256_castsi256_pd,
        _mm256_cmp_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_hadd_pd, _mm256_load_pd, _mm256_loadu_pd,
        _mm256_max_pd, _mm256_min_pd, _mm256_movemask_pd, _mm256_mul_pd, _mm256_or_pd, _mm256_permute2f128_pd,
        _mm256_permute4x64_pd, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setzero_pd, _mm256_store_pd,
        _mm256_storeu_pd, _mm256_sub_pd, _mm256_unpackhi_pd,
    };
    use std::ptr::{from_mut, from_ref};

    use crate::prefetch::prefetch_at;

    use super::{Body, Bounds, CHAINS, Earlier, Joint, Motion, Pace, Quad, Rows, Sheet, Unknowns};

    /// Bodies, joints and arrays in quads are 32 bytes at an address that is a multiple of 32.
    const _: () = assert!(size_of::<Body>() == 32 && align_of::<Body>() == 32);
    const _: () = assert!(size_of::<Earlier>() == 32 && align_of::<Earlier>() == 32);
    const _: () = assert!(size_of::<Joint>() == 32 && align_of::<Joint>() == 32);
    const _: () = assert!(size_of::<Quad>() == 160 && align_of::<Quad>() == 32);
    const _: () = assert!(size_of::<Bounds>() == 32 && align_of::<Bounds>() == 32);
    const _: () = assert!(size_of::<Unknowns>() == 64 && align_of::<Unknowns>() == 32);

    /// Quads that a sweep asks for memory in advance.
    const AHEAD: usize = 32;

    pub(in super::super) fn is_possible() -> bool {
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
    }

    /// The sheet was laid out for no more bodies than there are: the caller has made sure of that.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn relax<const KEEP: bool>(
        bodies: &mut [Body],
        Rows { sheet, bounds, unknowns }: Rows,
        pace: Pace,
    ) -> Motion {
        let (mut against, mut squared) = (_mm256_setzero_pd(), _mm256_setzero_pd());
        let mut largest = _mm256_setzero_pd();
        let (momentum, relaxation) = (_mm256_set1_pd(pace.momentum), _mm256_set1_pd(pace.relaxation));
        let sign = _mm256_set1_pd(-0.0);
        for (k, (quad, unknown)) in sheet.quads.iter().zip(unknowns).enumerate() {
            // The processor's own guess ends with each page of memory.
            prefetch_at(quad, AHEAD);
            prefetch_at(unknown, AHEAD);
            let [a, b, c, d] = &quad.joints;
            let (na, nb, nc, nd) = (normal(a), normal(b), normal(c), normal(d));
            let first = unsafe { _mm256_hadd_pd(closing(bodies, a, na), closing(bodies, b, nb)) };
            let last = unsafe { _mm256_hadd_pd(closing(bodies, c, nc), closing(bodies, d, nd)) };
            // x + y and z of a and b in the halves of the first, of c and d in those of the last.
            let (inner, outer) = (_mm256_permute2f128_pd::<0x21>(first, last), _mm256_blend_pd::<0b1100>(first, last));
            let w = _mm256_add_pd(_mm256_add_pd(inner, outer), load(&quad.rate));
            let x = load(&unknown.x);
            let y = _mm256_fmadd_pd(momentum, load(&unknown.d), x);
            let lower = bounds.get(k).map_or(_mm256_setzero_pd(), |bounds| load(&bounds.lower));
            let z = _mm256_max_pd(_mm256_fnmadd_pd(relaxation, w, y), lower);
            let (change, d_new) = (_mm256_sub_pd(z, y), _mm256_sub_pd(z, x));
            against = _mm256_fnmadd_pd(change, d_new, against);
            squared = _mm256_fmadd_pd(d_new, d_new, squared);
            largest = _mm256_max_pd(largest, _mm256_andnot_pd(sign, change));
            store(&mut unknown.x, z);
            if !KEEP {
                store(&mut unknown.d, d_new);
            }
            let push_a = _mm256_mul_pd(na, _mm256_permute4x64_pd::<0x00>(change));
            let push_b = _mm256_mul_pd(nb, _mm256_permute4x64_pd::<0x55>(change));
            let push_c = _mm256_mul_pd(nc, _mm256_permute4x64_pd::<0xAA>(change));
            let push_d = _mm256_mul_pd(nd, _mm256_permute4x64_pd::<0xFF>(change));
            unsafe {
                push(bodies, a, push_a);
                push(bodies, b, push_b);
                push(bodies, c, push_c);
                push(bodies, d, push_d);
            }
        }
        Motion::of_lanes(lanes(against), lanes(squared), lanes(largest))
    }

    /// The sheet was laid out for no more bodies than there are: the caller has made sure of that.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn residual_squared(
        bodies: &[Body],
        sheet: &Sheet,
        bounds: &[Bounds],
        unknowns: &[Unknowns],
    ) -> f64 {
        let (mut largest, mut not_numbers) = (_mm256_setzero_pd(), _mm256_setzero_pd());
        for (k, (quad, unknown)) in sheet.quads.iter().zip(unknowns).enumerate() {
            prefetch_at(quad, AHEAD);
            prefetch_at(unknown, AHEAD);
            let [(pa, ma), (pb, mb), (pc, mc), (pd, md)] = {
                let [a, b, c, d] = &quad.joints;
                unsafe { [ends(bodies, a), ends(bodies, b), ends(bodies, c), ends(bodies, d)] }
            };
            let (first, last) = (_mm256_hadd_pd(pa, pb), _mm256_hadd_pd(pc, pd));
            let (inner, outer) = (_mm256_permute2f128_pd::<0x21>(first, last), _mm256_blend_pd::<0b1100>(first, last));
            let w = _mm256_add_pd(_mm256_add_pd(inner, outer), load(&quad.rate));
            let lower = bounds.get(k).map_or(_mm256_setzero_pd(), |bounds| load(&bounds.lower));
            let rest = _mm256_min_pd(_mm256_sub_pd(load(&unknown.x), lower), w);
            // The last entries: 1/m_i + 1/m_j.
            let masses = _mm256_permute2f128_pd::<0x31>(_mm256_unpackhi_pd(ma, mb), _mm256_unpackhi_pd(mc, md));
            let squared = _mm256_mul_pd(masses, _mm256_mul_pd(rest, rest));
            largest = _mm256_max_pd(largest, squared);
            not_numbers = _mm256_or_pd(not_numbers, _mm256_cmp_pd::<_CMP_UNORD_Q>(squared, squared));
        }
        if _mm256_movemask_pd(not_numbers) != 0 { f64::NAN } else { lanes(largest).into_iter().fold(0.0, f64::max) }
    }

    /// (V_j − V_i) n̂ and V_i + V_j, with the masses at the end. The bodies are there, as for [`closing`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn ends(bodies: &[Body], joint: &Joint) -> (__m256d, __m256d) {
        let [from, to] = unsafe { [joint.i, joint.j].map(|at| body(bodies.get_unchecked(at as usize))) };
        (_mm256_mul_pd(_mm256_sub_pd(to, from), normal(joint)), _mm256_add_pd(to, from))
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn extrapolate(bodies: &mut [Body], before: &mut [Earlier], (momentum, held): (f64, bool)) -> f64 {
        let (mut energy, zero) = ([_mm256_setzero_pd(); CHAINS], _mm256_setzero_pd());
        let momentum = _mm256_set1_pd(momentum);
        let unless_held = _mm256_castsi256_pd(_mm256_set1_epi64x(if held { 0 } else { -1 }));
        let count = bodies.len().min(before.len());
        for (bodies, before) in bodies[..count].chunks_mut(CHAINS).zip(before[..count].chunks_mut(CHAINS)) {
            for ((at, earlier), energy) in bodies.iter_mut().zip(before).zip(&mut energy) {
                let (v, old) = (body(at), unsafe { _mm256_load_pd(from_ref(earlier).cast()) });
                let d = _mm256_blend_pd::<0b1000>(_mm256_sub_pd(_mm256_and_pd(v, unless_held), old), zero);
                *energy = _mm256_fmadd_pd(_mm256_mul_pd(_mm256_set1_pd(earlier.mass), d), d, *energy);
                let kept = _mm256_blend_pd::<0b1000>(v, old);
                unsafe { _mm256_store_pd(from_mut(earlier).cast(), kept) };
                set(at, _mm256_fmadd_pd(momentum, d, v));
            }
        }
        energy.map(|chain| lanes(chain)).iter().flatten().sum()
    }

    /// (V_j − V_i) n̂, component by component; the last is 0. The bodies of a row of a sheet for these bodies are there:
    /// [`Sheet::set`](super::Sheet::set) has checked that.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn closing(bodies: &[Body], joint: &Joint, normal: __m256d) -> __m256d {
        let [from, to] = unsafe { [joint.i, joint.j].map(|at| body(bodies.get_unchecked(at as usize))) };
        _mm256_mul_pd(_mm256_sub_pd(to, from), normal)
    }

    /// V_i −= impulse/m_i, V_j += impulse/m_j; the masses stay, because the impulse's last component is 0. The velocities are
    /// read again: kept since [`closing`] they would take more registers than there are. The bodies are there, as for that.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn push(bodies: &mut [Body], joint: &Joint, impulse: __m256d) {
        let at = unsafe { bodies.get_unchecked_mut(joint.i as usize) };
        set(at, _mm256_fnmadd_pd(impulse, _mm256_set1_pd(at.inverse_mass), body(at)));
        let at = unsafe { bodies.get_unchecked_mut(joint.j as usize) };
        set(at, _mm256_fmadd_pd(impulse, _mm256_set1_pd(at.inverse_mass), body(at)));
    }

    /// n̂ and 0: the ids behind it are masked out.
    #[target_feature(enable = "avx2,fma")]
    fn normal(joint: &Joint) -> __m256d {
        _mm256_blend_pd::<0b1000>(unsafe { _mm256_load_pd(from_ref(joint).cast()) }, _mm256_setzero_pd())
    }

    #[target_feature(enable = "avx2,fma")]
    fn body(body: &Body) -> __m256d {
        unsafe { _mm256_load_pd(from_ref(body).cast()) }
    }

    #[target_feature(enable = "avx2,fma")]
    fn set(body: &mut Body, to: __m256d) {
        unsafe { _mm256_store_pd(from_mut(body).cast(), to) }
    }

    /// Fast where the lanes start at a multiple of 32 bytes, as those of quads and unknowns do.
    #[target_feature(enable = "avx2,fma")]
    pub(in super::super) fn load(lanes: &[f64; 4]) -> __m256d {
        unsafe { _mm256_loadu_pd(lanes.as_ptr()) }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(in super::super) fn store(lanes: &mut [f64; 4], to: __m256d) {
        unsafe { _mm256_storeu_pd(lanes.as_mut_ptr(), to) }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(in super::super) fn lanes(value: __m256d) -> [f64; 4] {
        let mut lanes = Unknowns::default();
        store(&mut lanes.x, value);
        lanes.x
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[derive(Clone)]
    struct System {
        bodies: Vec<Body>,
        before: Vec<Earlier>,
        sheet: Sheet,
        bounds: Vec<Bounds>,
        unknowns: Vec<Unknowns>,
    }

    impl System {
        fn rows(&mut self) -> (&mut [Body], Rows<'_>) {
            let Self { bodies, sheet, bounds, unknowns, .. } = self;
            (bodies, Rows { sheet, bounds, unknowns })
        }
    }

    /// Bodies in a row, each quad joining eight of them, and some rows at the wall.
    fn system(random: &mut Pcg64) -> System {
        let count = 64;
        let mut number = || random.random_range(-1.0..1.0_f64);
        let mut vector = || [number(), number(), number()];
        let mut bodies: Vec<Body> =
            (0..count).map(|_| Body { velocity: vector(), inverse_mass: 1.0 + vector()[0] }).collect();
        bodies.push(Body::default());
        let before = bodies.iter().map(|b| Earlier { velocity: vector(), mass: b.inverse_mass }).collect();
        let (mut sheet, mut bounds, mut unknowns) = (Sheet::default(), Vec::new(), Vec::new());
        sheet.clear(bodies.len());
        sheet.grow(40, count);
        for k in 0..40 {
            let joint = |lane: u32| {
                let i = (8 * k + 2 * lane) % count;
                let j = if k % 5 == lane { count } else { i + 1 };
                Joint { normal: vector(), i, j }
            };
            let joints = [0, 1, 2, 3].map(joint);
            let rates = vector();
            let lower = vector().map(|x| if x > 0.5 { f64::NEG_INFINITY } else { x.min(0.0) });
            let four = |v: [f64; 3], w: f64| [v[0], v[1], v[2], w];
            for (lane, (joint, rate)) in joints.into_iter().zip(four(rates, 0.1)).enumerate() {
                sheet.set((k as usize, lane), joint, rate);
            }
            if k < 30 {
                bounds.push(Bounds { lower: four(lower, 0.0) });
            }
            unknowns.push(Unknowns { x: four(vector(), 0.2), d: four(vector(), -0.1) });
        }
        System { bodies, before, sheet, bounds, unknowns }
    }

    #[test]
    #[allow(unsafe_code, reason = "asked for before")]
    fn lanes_change_the_speed_and_no_bit() {
        if !wide::is_possible() {
            return;
        }
        let mut random = Pcg64::seed_from_u64(1);
        for _ in 0..20 {
            let mut narrow = system(&mut random);
            let mut wide = narrow.clone();
            for (momentum, relaxation, held) in [(0.0, 1.0, false), (0.7, 1.1, false), (0.3, 1.0, true)] {
                let pace = Pace { momentum, relaxation };
                let moved = (momentum, held);
                let energy = narrow_extrapolate(&mut narrow.bodies, &mut narrow.before, moved);
                assert_eq!(energy, unsafe { wide::extrapolate(&mut wide.bodies, &mut wide.before, moved) });
                let (bodies, rows) = narrow.rows();
                let motion = narrow_relax::<false>(bodies, rows, pace);
                let (bodies, rows) = wide.rows();
                assert_eq!(motion, unsafe { wide::relax::<false>(bodies, rows, pace) });
                let (bodies, rows) = narrow.rows();
                narrow_relax::<true>(bodies, rows, pace);
                let (bodies, rows) = wide.rows();
                unsafe { wide::relax::<true>(bodies, rows, pace) };
                assert_eq!((&narrow.bodies, &narrow.before), (&wide.bodies, &wide.before));
                assert_eq!(narrow.unknowns, wide.unknowns);
                let System { bodies, sheet, bounds, unknowns, .. } = &mut narrow;
                let expected = narrow_residual_squared(bodies, sheet, bounds, unknowns);
                assert_eq!(expected, unsafe { wide::residual_squared(bodies, sheet, bounds, unknowns) });
                let kept = std::mem::replace(&mut bodies[7].velocity[2], f64::NAN);
                assert!(narrow_residual_squared(bodies, sheet, bounds, unknowns).is_nan());
                assert!(unsafe { wide::residual_squared(bodies, sheet, bounds, unknowns) }.is_nan());
                bodies[7].velocity[2] = kept;
            }
        }
    }

    #[test]
    fn a_row_is_relaxed_exactly_and_momentum_kept() {
        let mut bodies = vec![Body { velocity: [1.0, 0.0, 0.0], inverse_mass: 0.5 }, Body::default(), Body::default()];
        bodies[1].inverse_mass = 0.25;
        let scale = 0.75_f64.sqrt();
        let mut sheet = Sheet::default();
        sheet.clear(bodies.len());
        sheet.grow(1, 2);
        sheet.set((0, 0), Joint { normal: [scale.recip(), 0.0, 0.0], i: 0, j: 1 }, 0.25 / scale);
        let mut unknowns = [Unknowns::default()];
        let rows = Rows { sheet: &sheet, bounds: &[], unknowns: &mut unknowns };
        let motion = sweep(&mut bodies, rows, Pace { momentum: 0.0, relaxation: 1.0 });
        // The bodies may close at 0.25: 1 − Λ (1/2 + 1/4) = 0.25, so Λ = 1.
        assert!((unknowns[0].x[0] / scale - 1.0).abs() < 1e-15);
        assert!((bodies[0].velocity[0] - 0.5).abs() < 1e-15 && (bodies[1].velocity[0] - 0.25).abs() < 1e-15);
        assert!((motion.squared - 0.75).abs() < 1e-15 && motion.against < 0.0);
    }
}
