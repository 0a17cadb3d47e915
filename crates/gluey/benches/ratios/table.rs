//! Tables in Markdown, and what a figure is held against.

use std::time::Duration;

/// Figures beside their bars.
pub struct Table {
    lines: Vec<[String; 4]>,
}

impl Table {
    pub fn new() -> Self {
        Self { lines: Vec::new() }
    }

    /// A figure that is only reported.
    pub fn tell(&mut self, quantity: impl Into<String>, value: impl Into<String>) {
        self.lines.push([quantity.into(), value.into(), String::new(), String::new()]);
    }

    /// A figure that should be at most `bar`.
    pub fn hold(&mut self, quantity: impl Into<String>, value: f64, bar: f64) {
        let verdict = if value <= bar { "ok" } else { "above" };
        self.lines.push([quantity.into(), figure(value), format!("≤ {bar}"), verdict.to_owned()]);
    }

    /// A figure that should be at most `bar` and of which only a bound from above is known.
    pub fn hold_bound(&mut self, quantity: impl Into<String>, bound: f64, bar: f64) {
        let verdict = if bound <= bar { "ok" } else { "not known" };
        self.lines.push([quantity.into(), format!("< {}", figure(bound)), format!("≤ {bar}"), verdict.to_owned()]);
    }

    pub fn print(&self) {
        print(&["quantity", "value", "bar", ""], &self.lines);
    }
}

/// Prints lines below a head, columns aligned.
pub fn print<const N: usize>(head: &[&str; N], lines: &[[String; N]]) {
    let width = |k: usize| lines.iter().map(|line| line[k].chars().count()).fold(head[k].chars().count(), usize::max);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |cells: [&str; N]| {
        let padded: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        println!("| {} |", padded.join(" | "));
    };
    line(*head);
    println!("|{}|", widths.map(|width| "-".repeat(width + 2)).join("|"));
    for cells in lines {
        line(std::array::from_fn(|k| cells[k].as_str()));
    }
    println!();
}

/// Three digits that count.
pub fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e6).contains(&size) => format!("{value:.2e}"),
        size => format!("{value:.*}", (2 - size.log10().floor() as i32).max(0) as usize),
    }
}

pub fn milliseconds(time: Duration) -> String {
    format!("{} ms", figure(1e3 * time.as_secs_f64()))
}
