//! The studies as tables.

use gluey::plane::Sample;
use gluey::plane::exact::{Happening, Solution};
use gluey::plane::norms::Distance;
use gluey::plane::studies::{Convergence, Layers, Orders, Roughness, Uniqueness};

use crate::output::{Cell, Table};

fn numbers(values: &[f64]) -> Vec<Cell> {
    values.iter().copied().map(Cell::from).collect()
}

/// One row a time.
pub fn trajectory(samples: &[Sample]) -> Table {
    let row = |s: &Sample| numbers(&[s.time, s.gap, s.velocity, s.gamma, s.lambda]);
    Table { columns: vec!["t", "q", "u", "gamma", "lambda"], rows: samples.iter().map(row).collect() }
}

/// Hits, saturations and take-offs.
pub fn events(solution: &Solution) -> Table {
    let rows = solution.events.iter().map(|event| {
        let (name, velocity) = match event.happening {
            Happening::Hit { velocity } => ("hit", velocity),
            Happening::Saturation => ("saturation", 0.0),
            Happening::TakeOff => ("take-off", 0.0),
        };
        let after = solution.at(event.time);
        vec![event.time.into(), name.into(), velocity.into(), after.gamma.into()]
    });
    Table { columns: vec!["t", "event", "u_before", "gamma_after"], rows: rows.collect() }
}

/// One row a layer; rates are those between a layer and the one before.
pub fn layers(study: &Layers) -> Table {
    let columns = vec!["kappa", "min_ln_q", "q_end", "sup_q_error", "q_rate", "l1_gamma_error", "gamma_rate"];
    let mut rows = Vec::new();
    for (k, layer) in study.layers.iter().enumerate() {
        let before = k.checked_sub(1).map(|k| &study.layers[k]);
        let rate = |old: f64, new: f64, kappa: f64| Cell::Number((old / new).ln() / (kappa / layer.kappa).ln());
        let (gap_rate, gamma_rate) = before.map_or((Cell::from("-"), Cell::from("-")), |before| {
            let rates = |of: fn(&gluey::plane::studies::Layer) -> f64| rate(of(before), of(layer), before.kappa);
            (rates(|layer| layer.gap_sup), rates(|layer| layer.gamma_l1))
        });
        let end = layer.samples.last().map_or(f64::NAN, |sample| sample.gap);
        rows.push(vec![
            layer.kappa.into(),
            layer.lowest.1.into(),
            end.into(),
            layer.gap_sup.into(),
            gap_rate,
            layer.gamma_l1.into(),
            gamma_rate,
        ]);
    }
    Table { columns, rows }
}

/// All trajectories below each other; κ = 0 is the limit.
pub fn layer_trajectories(study: &Layers, limit: &[Sample]) -> Table {
    let row = |kappa: f64, s: &Sample| numbers(&[kappa, s.time, s.gap, s.velocity, s.gamma, s.lambda]);
    let layers = study.layers.iter().flat_map(|layer| layer.samples.iter().map(|sample| row(layer.kappa, sample)));
    let rows = limit.iter().map(|sample| row(0.0, sample)).chain(layers).collect();
    Table { columns: vec!["kappa", "t", "q", "u", "gamma", "lambda"], rows }
}

/// A quantity whose convergence is measured.
pub struct Measure {
    /// Its column.
    pub column: &'static str,
    /// Its name in legends.
    pub name: &'static str,
    pub error: fn(&Distance) -> f64,
    pub order: fn(&Orders) -> Option<f64>,
}

/// All of them.
pub const MEASURES: [Measure; 6] = [
    Measure { column: "u_l1", name: "u in L¹", error: |d| d.velocity_l1, order: |o| o.velocity_l1 },
    Measure { column: "q_sup", name: "q in L∞", error: |d| d.gap_sup, order: |o| o.gap_sup },
    Measure { column: "gamma_l1", name: "γ in L¹", error: |d| d.gamma_l1, order: |o| o.gamma_l1 },
    Measure { column: "lambda_mass", name: "∫|λ|", error: |d| d.lambda_mass, order: |o| o.lambda_mass },
    Measure { column: "lambda_action", name: "⟨λ, φ⟩", error: |d| d.lambda_action, order: |o| o.lambda_action },
    Measure { column: "u_variation", name: "Var(u)", error: |d| d.velocity_variation, order: |o| o.velocity_variation },
];

/// One row a time step.
pub fn convergence(study: &Convergence) -> Table {
    let columns = std::iter::once("h").chain(MEASURES.map(|measure| measure.column)).collect();
    let row = |row: &gluey::plane::studies::Resolution| {
        let errors = MEASURES.map(|measure| Cell::from((measure.error)(&row.distance)));
        std::iter::once(Cell::from(row.dt)).chain(errors).collect()
    };
    Table { columns, rows: study.resolutions.iter().map(row).collect() }
}

/// One row a quantity, with its error at the smallest h and its observed order.
pub fn orders(study: &Convergence) -> Table {
    let last = study.resolutions.last().map(|row| row.distance).unwrap_or_default();
    let rows = MEASURES.map(|measure| {
        let order = (measure.order)(&study.orders).map_or(Cell::from("exact"), Cell::from);
        vec![measure.column.into(), (measure.error)(&last).into(), order]
    });
    Table { columns: vec!["quantity", "error_at_smallest_h", "order"], rows: rows.into() }
}

/// One row a time step: what the lemmas bound, and the bounds.
pub fn bounds(study: &Convergence) -> Table {
    let columns = vec!["h", "max_u", "u_bound", "var_u", "var_u_bound", "int_abs_lambda", "int_abs_lambda_bound"];
    let rows = study.resolutions.iter().map(|row| {
        let b = row.bounds;
        numbers(&[row.dt, b.speed, b.speed_bound, b.variation, b.variation_bound, b.impulse, b.impulse_bound])
    });
    Table { columns, rows: rows.collect() }
}

/// One row a threshold.
pub fn departures(study: &Roughness) -> Table {
    let rows = study.departures.iter();
    let row = |d: &gluey::plane::studies::Departure| {
        numbers(&[d.gamma_min, d.predicted, d.exact, d.algorithm, d.lubrication])
    };
    Table {
        columns: vec!["gamma_min", "predicted", "exact", "algorithm", "lubrication"],
        rows: rows.map(row).collect(),
    }
}

/// One row a threshold and time step.
pub fn refinements(study: &Uniqueness) -> Table {
    let columns = vec!["gamma_min", "solutions_apart", "h", "q_end", "from_even", "from_odd"];
    let rows = study.families.iter().flat_map(|family| {
        family
            .refinements
            .iter()
            .map(|r| numbers(&[family.gamma_min, family.apart, r.dt, r.final_gap, r.from_even, r.from_odd]))
    });
    Table { columns, rows: rows.collect() }
}

/// The exact solutions of each threshold, after t*.
pub fn clusters(study: &Uniqueness) -> Table {
    let rows = study.families.iter().flat_map(|family| {
        let pairs = family.solutions[0].iter().zip(&family.solutions[1]);
        pairs.map(|(even, odd)| numbers(&[family.gamma_min, even.time - family.start, even.gap, odd.gap]))
    });
    Table { columns: vec!["gamma_min", "t_after_cluster", "q_even", "q_odd"], rows: rows.collect() }
}
