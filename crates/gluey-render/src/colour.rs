//! Colours: mixing, lightness, the maps of fields and of glue.

/// Red, green and blue from 0 to 1, encoded as sRGB.
pub(crate) type Rgb = [f32; 3];

pub(crate) fn from_bytes(colour: [u8; 3]) -> Rgb {
    colour.map(|part| f32::from(part) / 255.0)
}

pub(crate) fn to_bytes(colour: Rgb) -> [u8; 3] {
    colour.map(|part| (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8)
}

/// (1 − share)·a + share·b.
pub(crate) fn mix(a: Rgb, b: Rgb, share: f32) -> Rgb {
    [0, 1, 2].map(|k| a[k] + share * (b[k] - a[k]))
}

pub(crate) fn times(colour: Rgb, factor: f32) -> Rgb {
    colour.map(|part| part * factor)
}

/// CIE lightness L*, 0 to 100.
pub(crate) fn lightness(colour: Rgb) -> f32 {
    let linear = colour.map(|part| if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) });
    let y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    if y > 0.008_856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
}

/// Coefficients of a polynomial in the share that fits the map "viridis" (N. Smith and S. van der Walt) to 1/100.
const VIRIDIS: [Rgb; 7] = [
    [0.2777, 0.0054, 0.3341],
    [0.1051, 1.4046, 1.3846],
    [-0.3309, 0.2148, 0.0951],
    [-4.6342, -5.7991, -19.3324],
    [6.2283, 14.1799, 56.6906],
    [4.7764, -13.7451, -65.3530],
    [-5.4355, 4.6459, 26.3124],
];

/// The colour of a value between the least (0) and the greatest (1): darker is less, also in grey and to the
/// colour-blind.
pub(crate) fn of_share(share: f32) -> Rgb {
    let share = share.clamp(0.0, 1.0);
    let value = |k: usize| VIRIDIS.iter().rev().fold(0.0, |sum, row| sum * share + row[k]);
    [0, 1, 2].map(|k| value(k).clamp(0.0, 1.0))
}

/// The colour of a contact with this share of the greatest glue: light grey where it is dry, black at 1 and beyond.
pub(crate) fn of_glue(share: f32) -> Rgb {
    [0.78 * (1.0 - share.clamp(0.0, 1.0)).powf(0.8); 3]
}

/// 256 colours each of the map of fields and of the map of glue, from 0 to 1, for who draws elsewhere.
#[must_use]
pub fn colour_table() -> [Vec<[u8; 3]>; 2] {
    [of_share, of_glue].map(|map| (0..=255_u8).map(|k| to_bytes(map(f32::from(k) / 255.0))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_lighter_in_fields_and_darker_in_glue() {
        for k in 0..200 {
            let (a, b) = (k as f32 / 200.0, (k + 1) as f32 / 200.0);
            assert!(lightness(of_share(b)) > lightness(of_share(a)) + 0.2, "at {a}");
            assert!(lightness(of_glue(b)) < lightness(of_glue(a)), "at {a}");
        }
        assert_eq!(to_bytes(of_glue(2.0)), [0; 3]);
    }

    #[test]
    fn the_map_is_viridis() {
        // Entries 0, 128 and 255 of the published table.
        let table = [(0.0, [68, 1, 84]), (128.0 / 255.0, [33, 145, 140]), (1.0, [253, 231, 37])];
        for (share, colour) in table {
            let found = to_bytes(of_share(share));
            assert!((0..3).all(|k| found[k].abs_diff(colour[k]) <= 4), "{found:?} for {colour:?}");
        }
    }

    #[test]
    fn groups_differ_in_lightness_where_the_scene_gives_no_colours() {
        let groups = ["a", "b", "c", "d", "e", "f"].map(|name| format!("{{ name = '{name}' }}")).join(", ");
        let text = format!("time = {{ dt = 1, until = 1 }}\ngroup = [{groups}]\n");
        let stage = gluey::scene::Stage::parse(&text, "scene.toml".as_ref()).unwrap();
        let mut lights: Vec<f32> = stage.groups.iter().map(|group| lightness(from_bytes(group.colour))).collect();
        lights.sort_by(f32::total_cmp);
        assert!(lights.windows(2).all(|pair| pair[1] - pair[0] > 9.0), "{lights:?}");
    }

    #[test]
    fn lightness_is_that_of_the_cie() {
        assert!((lightness([1.0; 3]) - 100.0).abs() < 0.01);
        assert!((lightness([119.0 / 255.0; 3]) - 50.0).abs() < 0.2);
        assert_eq!(lightness([0.0; 3]), 0.0);
    }
}
