//! Damage to bytes: flipped bits, cuts, splices, other numbers, words from elsewhere.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Mutations of one input: few, so that what is behind the first check is reached.
const MOST_AT_ONCE: u32 = 4;
/// Numbers as texts have them.
const NUMBERS: [&str; 18] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "1e-320",
    "1e-9",
    "0.1",
    "1e9",
    "1e99",
    "-1e99",
    "1e308",
    "inf",
    "nan",
    "4294967296",
    "-9223372036854775808",
    "18446744073709551616",
];
/// And as bytes have them.
const WIDE: [u64; 12] = [
    0,
    1,
    2,
    0x7f,
    0xffff_ffff,
    1 << 31,
    1 << 32,
    u64::MAX,
    1 << 63,
    f64::INFINITY.to_bits(),
    f64::NAN.to_bits(),
    0x7fe0_0000_0000_0000,
];
/// Words of no file that all readers should know to refuse.
const WORDS: [&str; 14] =
    ["\r\n\r\n", "[[", "]]", "'''", "\"\"\"", "\u{feff}", "\0", "é", "../../", "#", "{}", "((((((((((", "%00", "= {"];

/// Makes damaged inputs of whole ones.
pub struct Mutator {
    seed: u64,
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// Cases of this name.
    pub fn new(name: &str, seeds: Vec<Vec<u8>>) -> Self {
        let seed = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let is_word = |byte: &u8| byte.is_ascii_alphabetic() || b"-_".contains(byte);
        let of =
            |seed: &Vec<u8>| seed.split(|byte| !is_word(byte)).filter(|w| w.len() > 2).map(<[u8]>::to_vec).collect();
        let mut words: Vec<Vec<u8>> = seeds.iter().flat_map::<Vec<_>, _>(of).collect();
        words.sort();
        words.dedup();
        words.extend(WORDS.iter().map(|word| word.as_bytes().to_vec()));
        Self { seed, seeds, words }
    }

    /// The damaged input of this number.
    pub fn case(&self, number: u64) -> Vec<u8> {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let mut bytes = pick(&self.seeds, &mut random).clone();
        for _ in 0..random.random_range(1..=MOST_AT_ONCE) {
            self.damage(&mut bytes, &mut random);
        }
        bytes
    }

    fn damage(&self, bytes: &mut Vec<u8>, random: &mut Pcg64Mcg) {
        let length = bytes.len();
        if length == 0 {
            bytes.extend(pick(&self.words, random));
            return;
        }
        let at = random.random_range(0..length);
        let piece = at..length.min(at + random.random_range(1..=64));
        match random.random_range(0..11) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random_range(0..=255),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(piece)),
            4 => {
                let copy = bytes[piece].to_vec();
                insert(bytes, at, &copy);
            }
            5 => {
                let other = pick(&self.seeds, random);
                let from = random.random_range(0..=other.len());
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            6 => insert(bytes, at, pick::<Vec<u8>>(&self.words, random)),
            7 | 8 => swap_text_number(bytes, at, random),
            9 => swap_word(bytes, at, pick::<Vec<u8>>(&self.words, random)),
            _ => swap_wide_number(bytes, at, random),
        }
    }
}

fn pick<'a, T>(list: &'a [T], random: &mut Pcg64Mcg) -> &'a T {
    &list[random.random_range(0..list.len())]
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}

/// Another number instead of the first one from here on.
fn swap_text_number(bytes: &mut Vec<u8>, from: usize, random: &mut Pcg64Mcg) {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let number = pick(&NUMBERS, random).bytes();
    let Some(start) = bytes[from..].iter().position(is_digit).map(|skipped| from + skipped) else { return };
    let length = bytes[start..].iter().take_while(|byte| is_digit(byte)).count();
    bytes.splice(start..start + length, number);
}

/// Another word instead of the first one from here on.
fn swap_word(bytes: &mut Vec<u8>, from: usize, word: &[u8]) {
    let Some(start) = bytes[from..].iter().position(u8::is_ascii_alphabetic).map(|skipped| from + skipped) else {
        return;
    };
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_alphabetic() || b"-_".contains(byte)).count();
    bytes.splice(start..start + length, word.iter().copied());
}

/// Another number of 4 or 8 bytes, at a place where one may be.
fn swap_wide_number(bytes: &mut [u8], at: usize, random: &mut Pcg64Mcg) {
    let value = pick(&WIDE, random).to_le_bytes();
    let width = if random.random() { 4 } else { 8 };
    let start = at / 4 * 4;
    let there = width.min(bytes.len() - start);
    bytes[start..start + there].copy_from_slice(&value[..there]);
}
