//! Numbers as people read them.

use std::time::Duration;

/// A number with up to six digits: enough to read, and none of rounding's noise.
pub fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if rounded == 0.0 {
        return "0".to_owned(); // and not -0
    }
    let plain = (1e-3..1e7).contains(&rounded.abs()) || !rounded.is_finite();
    if plain { rounded.to_string() } else { format!("{rounded:e}") }
}

/// A small figure, of which only the size matters.
pub fn size(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

/// A number of things.
pub fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// A wall time.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// What a time was spent on, the most first; what took less than a hundredth of it goes without saying.
pub fn shares(parts: &[(&str, f64)], total: f64) -> String {
    let mut shares: Vec<(&str, f64)> =
        parts.iter().map(|(name, part)| (*name, (100.0 * part / total).round())).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shares: Vec<String> =
        shares.iter().filter(|(_, share)| *share >= 1.0).map(|(name, share)| format!("{name} {share} %")).collect();
    if shares.is_empty() { "nothing yet".to_owned() } else { shares.join(", ") }
}

/// Several names in a row.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(1e-7 / 3.0), "3.33333e-8");
        assert_eq!(number(-2500.0), "-2500");
        assert_eq!(number(f64::INFINITY), "inf");
        assert_eq!(number(-0.0), "0");
        assert_eq!(size(0.000_123), "1.2e-4");
        assert_eq!(duration(Duration::from_secs(3725)), "1 h 2 min");
        assert_eq!(
            shares(&[("search", 1.0), ("move", 0.01), ("projection", 3.0)], 4.0),
            "projection 75 %, search 25 %"
        );
        assert_eq!(shares(&[("search", 0.0)], 0.0), "nothing yet");
    }
}
