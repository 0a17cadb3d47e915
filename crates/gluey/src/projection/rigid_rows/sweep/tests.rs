//! Lanes against plain arithmetic.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

#[derive(Clone)]
struct System {
    bodies: Vec<RigidBody>,
    before: Vec<Earlier>,
    sheet: Sheet,
    scales: Vec<Lanes>,
    bounds: Vec<Bounds>,
    unknowns: Vec<Unknowns>,
}

impl System {
    fn rows(&mut self) -> (&mut [RigidBody], Rows<'_>) {
        let Self { bodies, sheet, bounds, unknowns, .. } = self;
        (bodies, Rows { sheet, bounds, unknowns })
    }

    fn swept(&self) -> Swept<'_> {
        let Self { sheet, scales, bounds, unknowns, .. } = self;
        Swept { sheet, scales, bounds, unknowns }
    }
}

fn four(random: &mut Pcg64) -> [f64; 4] {
    [0.0; 4].map(|_: f64| random.random_range(-1.0..1.0))
}

fn three(random: &mut Pcg64, last: f64) -> [f64; 4] {
    let [x, y, z, _] = four(random);
    [x, y, z, last]
}

/// Bodies in a row, each quad joining eight of them, and some rows at the wall.
fn system(random: &mut Pcg64) -> System {
    let count = 65;
    let mut bodies: Vec<RigidBody> =
        (0..count).map(|_| RigidBody { velocity: three(random, 1.5), spin: three(random, 0.0) }).collect();
    bodies.push(RigidBody::default());
    let earlier = |body: &RigidBody| Earlier { velocity: three(random, body.velocity[3]), spin: three(random, 0.0) };
    let before = bodies.iter().map(earlier).collect();
    let (mut sheet, mut scales, mut bounds, mut unknowns) = (Sheet::default(), Vec::new(), Vec::new(), Vec::new());
    sheet.clear(bodies.len());
    sheet.grow(40, count);
    for k in 0..40 {
        for lane in 0..4 {
            let i = (8 * k + 2 * lane) % (count - 1);
            let j = if k % 5 == lane { count } else { i + 1 };
            let [x, y, z, _] = three(random, 0.0);
            let row = RigidRow { normal: [x, y, z], i, j, from: three(random, 0.0), to: three(random, 0.0) };
            sheet.set((k as usize, lane as usize), row, three(random, 0.0)[0]);
        }
        let lower = four(random).map(|x| if x > 0.5 { f64::NEG_INFINITY } else { x.min(0.0) });
        if k < 30 {
            bounds.push(Bounds { lower });
        }
        scales.push(Lanes(four(random).map(f64::abs)));
        unknowns.push(Unknowns { x: four(random), d: four(random) });
    }
    System { bodies, before, sheet, scales, bounds, unknowns }
}

#[test]
#[allow(unsafe_code, reason = "asked for before")]
fn lanes_change_the_speed_and_no_bit() {
    if !lanes::is_possible() {
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
            assert_eq!(energy, wide_extrapolate(&mut wide, moved));
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
            let mut w = [(); 2].map(|()| vec![Lanes::default(); 40]);
            narrow_closing(&narrow.bodies, &narrow.sheet, &mut w[0]);
            unsafe { wide::closing(&wide.bodies, &wide.sheet, &mut w[1]) };
            assert_eq!(w[0], w[1]);
            let expected = narrow_residual(&narrow.bodies, narrow.swept());
            assert_eq!(expected, unsafe { wide::residual(&wide.bodies, wide.swept()) });
            let kept = std::mem::replace(&mut wide.bodies[7].spin[2], f64::NAN);
            assert!(narrow_residual(&wide.bodies, wide.swept()).is_nan());
            assert!(unsafe { wide::residual(&wide.bodies, wide.swept()) }.is_nan());
            wide.bodies[7].spin[2] = kept;
        }
    }
}

#[allow(unsafe_code, reason = "asked for before")]
fn wide_extrapolate(of: &mut System, moved: (f64, bool)) -> f64 {
    unsafe { wide::extrapolate(&mut of.bodies, &mut of.before, moved) }
}

#[test]
fn a_row_is_relaxed_exactly() {
    // An impulse of 1 gives body 0 the velocity −1/2 and, along (0, 0.5, 0), the spin −0.5; body 1 gets 1/4.
    let mut bodies = vec![RigidBody { velocity: [1.0, 0.0, 0.0, 0.5], spin: [0.0; 4] }; 3];
    (bodies[1].velocity, bodies[2].velocity) = ([0.0, 0.0, 0.0, 0.25], [0.0; 4]);
    let diagonal: f64 = 0.5 + 0.25 + 0.25;
    let mut sheet = Sheet::default();
    sheet.clear(bodies.len());
    sheet.grow(1, 2);
    let scale = diagonal.sqrt();
    let from = [0.0, 0.5 / scale, 0.0, 0.0];
    let row = RigidRow { normal: [scale.recip(), 0.0, 0.0], i: 0, j: 1, from, to: [0.0; 4] };
    sheet.set((0, 0), row, 0.25 / scale);
    let mut unknowns = [Unknowns::default()];
    let rows = Rows { sheet: &sheet, bounds: &[], unknowns: &mut unknowns };
    let motion = sweep(&mut bodies, rows, Pace { momentum: 0.0, relaxation: 1.0 });
    // They may close at 0.25 where they close at 1.
    let impulse = 0.75 / diagonal;
    assert!((unknowns[0].x[0] / scale - impulse).abs() < 1e-15);
    assert!((bodies[0].velocity[0] - (1.0 - 0.5 * impulse)).abs() < 1e-15);
    assert!((bodies[0].spin[1] + 0.5 * impulse).abs() < 1e-15);
    assert!((bodies[1].velocity[0] - 0.25 * impulse).abs() < 1e-15 && bodies[1].spin == [0.0; 4]);
    assert!((motion.squared - impulse * impulse * diagonal).abs() < 1e-15 && motion.against < 0.0);
}
