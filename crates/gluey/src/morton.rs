//! Bodies in the order of a space-filling curve: those near each other in space are near each other in memory.
//!
//! Space is cut in cubes, 2³⁰ of them (2³² squares where all lies in a plane), numbered by interleaving the bits of
//! their coordinates; bodies in the same cube keep the order of their indices. So the order is a function of the
//! positions alone.

use glam::DVec3;
use rayon::prelude::*;

use crate::buffer::resize;
use crate::shares::share_of;

/// Coordinates looked at to find where the crowd is.
const SAMPLES: usize = 256;
/// Share of the samples on either side that does not count: a few bodies far away must not make the cubes large.
const STRAGGLERS: usize = SAMPLES / 50;
/// The crowd's box is widened by this share of its side; what is still outside is taken to its edge.
const WIDENING: f64 = 0.125;

/// An order in which at most one of so many keys is out of place is mended; others are made anew.
const MOSTLY: usize = 8;

/// Sorts bodies along the curve, and keeps the buffers it needs for that.
#[derive(Default)]
pub struct Curve {
    keys: Vec<u64>,
    /// Keys out of place.
    aside: Vec<u64>,
}

impl Curve {
    /// Fills `order` with the indices of all bodies along the curve. What is in `order` already is where the sort
    /// starts from: it changes the time, not the result.
    pub fn sort(&mut self, position: &[DVec3], order: &mut Vec<u32>) {
        if order.len() != position.len() {
            order.clear();
            order.extend(0..position.len() as u32);
        }
        let cubes = Cubes::around(position);
        resize(&mut self.keys, order.len(), 0);
        let share = share_of(order.len());
        self.keys.par_chunks_mut(share).zip(order.par_chunks(share)).for_each(|(keys, order)| {
            let number = |i: u32| cubes.number(position[i as usize]) << 32 | u64::from(i);
            keys.iter_mut().zip(order).for_each(|(key, i)| *key = number(*i));
        });
        self.aside.clear();
        self.aside.reserve_exact(self.keys.len() / MOSTLY);
        mend(&mut self.keys, &mut self.aside);
        order.clear();
        order.extend(self.keys.iter().map(|key| *key as u32));
    }
}

/// Sorts different keys, most of which are in order: whoever is not, and the one before it, is put aside, sorted, and
/// merged with the others. As many as `aside` has room for; if there are more, all are sorted.
fn mend(keys: &mut [u64], aside: &mut Vec<u64>) {
    let mut kept = 0;
    for at in 0..keys.len() {
        let key = keys[at];
        if kept == 0 || keys[kept - 1] < key {
            keys[kept] = key;
            kept += 1;
            continue;
        }
        if aside.len() + 2 > aside.capacity() {
            keys[kept..at].copy_from_slice(aside); // they left just this gap
            return keys.sort_unstable();
        }
        kept -= 1;
        aside.extend([keys[kept], key]);
    }
    aside.sort_unstable();
    for to in (0..keys.len()).rev() {
        let Some(&last) = aside.last() else { return };
        if kept > 0 && keys[kept - 1] > last {
            kept -= 1;
            keys[to] = keys[kept];
        } else {
            keys[to] = last;
            aside.pop();
        }
    }
}

/// The indices of all bodies along the curve.
#[must_use]
pub fn order(position: &[DVec3]) -> Vec<u32> {
    let mut order = Vec::new();
    Curve::default().sort(position, &mut order);
    order
}

struct Cubes {
    least: DVec3,
    inverse_side: f64,
    flat: bool,
}

impl Cubes {
    fn around(position: &[DVec3]) -> Self {
        let crowd = |axis: usize| crowd(position, |x| x[axis]);
        let sides = [crowd(0), crowd(1), crowd(2)];
        let longest = sides.iter().map(|(from, to)| to - from).fold(f64::MIN_POSITIVE, f64::max);
        let flat = position.iter().all(|x| x.z == position[0].z);
        let count = if flat { 65_536.0 } else { 1_024.0 };
        Self { least: DVec3::from(sides.map(|side| side.0)), inverse_side: count / longest, flat }
    }

    fn number(&self, x: DVec3) -> u64 {
        let at = (x - self.least) * self.inverse_side;
        if self.flat {
            let [x, y, _] = at.to_array().map(|c| u64::from(c as u16)); // saturates
            spread_two(x) | spread_two(y) << 1
        } else {
            let [x, y, z] = at.to_array().map(|c| (c as u64).min(1_023));
            spread_three(x) | spread_three(y) << 1 | spread_three(z) << 2
        }
    }
}

/// Between which coordinates almost all bodies are.
fn crowd(position: &[DVec3], coordinate: impl Fn(&DVec3) -> f64) -> (f64, f64) {
    let mut samples = [0.0; SAMPLES];
    let count = position.len().min(SAMPLES);
    for (k, sample) in samples[..count].iter_mut().enumerate() {
        *sample = coordinate(&position[k * position.len() / count]);
    }
    let samples = &mut samples[..count];
    samples.sort_unstable_by(f64::total_cmp);
    let aside = if count == SAMPLES { STRAGGLERS } else { 0 };
    let (Some(from), Some(to)) = (samples.get(aside), samples.get(count.wrapping_sub(1 + aside))) else {
        return (0.0, 0.0);
    };
    let wider = WIDENING * (to - from);
    (from - wider, to + wider)
}

/// Puts a zero after each of the low 16 bits.
fn spread_two(x: u64) -> u64 {
    let x = (x | x << 8) & 0x00FF_00FF;
    let x = (x | x << 4) & 0x0F0F_0F0F;
    let x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

/// Puts two zeros after each of the low 10 bits.
fn spread_three(x: u64) -> u64 {
    let x = (x | x << 16) & 0x0300_00FF;
    let x = (x | x << 8) & 0x0300_F00F;
    let x = (x | x << 4) & 0x030C_30C3;
    (x | x << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn four_squares_are_visited_in_the_shape_of_a_z() {
        let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
        assert_eq!(order(&[at(1.0, 1.0), at(0.0, 1.0), at(1.0, 0.0), at(0.0, 0.0)]), [3, 2, 1, 0]);
        assert!(order(&[]).is_empty());
    }

    #[test]
    fn bits_are_interleaved() {
        assert_eq!(spread_two(0xFFFF), 0x5555_5555);
        assert_eq!(spread_three(0x3FF), 0x0924_9249);
        assert_eq!(spread_three(0b101), 0b1_000_001);
    }

    #[test]
    fn a_runaway_body_does_not_spoil_the_order_of_the_others() {
        let mut position: Vec<DVec3> = (0..1000).rev().map(|i| DVec3::X * f64::from(i)).collect();
        position.push(DVec3::X * 1e300);
        let order = order(&position);
        assert!(order[..1000].is_sorted_by_key(|i| std::cmp::Reverse(*i)));
        assert_eq!(order[1000], 1000);
    }

    proptest! {
        #[test]
        fn what_is_out_of_place_finds_its_place(
            swaps in prop::collection::vec((0_usize..300, 0_usize..300), 0..40),
            room in 0_usize..100,
        ) {
            let mut keys: Vec<u64> = (0..300).map(|k| 3 * k).collect();
            let sorted = keys.clone();
            for (a, b) in swaps {
                keys.swap(a, b);
            }
            mend(&mut keys, &mut Vec::with_capacity(room));
            prop_assert_eq!(keys, sorted);
        }

        #[test]
        fn the_order_does_not_depend_on_where_the_sort_starts(
            cloud in prop::collection::vec(((-1.0..1.0, -1.0..1.0, -1.0..1.0), any::<u32>()), 0..600),
        ) {
            let position: Vec<DVec3> = cloud.iter().map(|p| DVec3::from(p.0)).collect();
            let expected = order(&position);
            let mut start: Vec<u32> = (0..position.len() as u32).collect();
            start.sort_by_key(|i| cloud[*i as usize].1);
            Curve::default().sort(&position, &mut start);
            prop_assert_eq!(&start, &expected);
            start.sort_unstable();
            prop_assert!(start.into_iter().eq(0..position.len() as u32));
        }
    }
}
