//! Random numbers that a stopped run draws again: functions of the seed, a stream and a count, without a state.

use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// An odd number far from any pattern: neighbouring streams and counts get unrelated seeds.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Three numbers in [0, 1).
pub(super) fn unit(seed: u64, stream: u64, count: u64) -> DVec3 {
    let key = mixed(mixed(seed ^ mixed(stream.wrapping_add(SPREAD))).wrapping_add(count.wrapping_mul(SPREAD)));
    let mut random = Pcg64Mcg::seed_from_u64(key);
    DVec3::from_array([0; 3].map(|_| random.random::<f64>()))
}

/// Every bit of the result depends on every bit given.
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_even_and_streams_unrelated() {
        let count = 20_000_u32;
        let draws: Vec<DVec3> = (0..count).map(|k| unit(3, 1, k.into())).collect();
        let others: Vec<DVec3> = (0..count).map(|k| unit(3, 2, k.into())).collect();
        let mean = |values: &[DVec3]| values.iter().sum::<DVec3>() / f64::from(count);
        let spread = |a: &[DVec3], b: &[DVec3]| -> DVec3 {
            let (of_a, of_b) = (mean(a), mean(b));
            a.iter().zip(b).map(|(x, y)| (*x - of_a) * (*y - of_b)).sum::<DVec3>() / f64::from(count)
        };
        assert!((mean(&draws) - 0.5).abs().max_element() < 0.01, "{}", mean(&draws));
        assert!((spread(&draws, &draws) - 1.0 / 12.0).abs().max_element() < 0.003);
        assert!(spread(&draws, &others).abs().max_element() < 0.003);
        let next = [&draws[1..], &draws[..1]].concat();
        assert!(spread(&draws, &next).abs().max_element() < 0.003, "one draw tells nothing of the next");
        assert_eq!(unit(3, 1, 7), draws[7]);
    }
}
