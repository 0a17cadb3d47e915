//! The studies as figures.

use gluey::plane::exact::{Happening, Solution};
use gluey::plane::studies::{Convergence, Family, Layer, Layers, Roughness, Uniqueness};
use gluey::plane::{Experiment, Sample};
use gluey_plot::{Axis, Curve, Figure, Mark, Note, Panel, Pen, Side};

use super::tables::MEASURES;
use crate::words;

const TIME: &str = "time t (time units)";
const GAP: &str = "distance q (length)";
const GAMMA: &str = "adhesion potential γ (momentum / length²)";

/// A number with a true minus sign.
fn number(value: f64) -> String {
    words::number(value).replace('-', "−")
}

fn pen(colour: usize, mark: Mark) -> Pen {
    Pen { colour, mark }
}

fn over_time(samples: &[Sample], quantity: fn(&Sample) -> f64) -> Vec<(f64, f64)> {
    samples.iter().map(|sample| (sample.time, quantity(sample))).collect()
}

fn panel(x: Axis, y: Axis, curves: Vec<Curve>) -> Panel {
    Panel { x, y, curves, notes: Vec::new() }
}

/// q, u and γ of one run.
pub fn trajectory(samples: &[Sample]) -> Figure {
    let motion = vec![
        Curve::new("distance q (length)", pen(0, Mark::Solid), over_time(samples, |s| s.gap)),
        Curve::new("velocity u (length / time)", pen(2, Mark::Dashed), over_time(samples, |s| s.velocity)),
    ];
    let glue = vec![Curve::new("γ", pen(1, Mark::Solid), over_time(samples, |s| s.gamma))];
    let panels = vec![
        panel(Axis::linear(TIME), Axis::linear("q (length) and u (length / time)"), motion),
        panel(Axis::linear(TIME), Axis::linear(GAMMA), glue),
    ];
    Figure { title: "One particle and a plane".to_owned(), panels }
}

/// The example solution, with its annotations.
pub fn example(experiment: &Experiment, samples: &[Sample], solution: &Solution) -> Figure {
    let q = Curve::new("distance q(t)", pen(0, Mark::Solid), over_time(samples, |s| s.gap));
    let gamma = Curve::new("potential γ(t)", pen(2, Mark::Dashed), over_time(samples, |s| s.gamma));
    let highest = samples.iter().map(|s| s.gap).fold(0.0, f64::max);
    let lowest = samples.iter().map(|s| s.gamma).fold(0.0, f64::min);
    let span = (highest - lowest).max(f64::MIN_POSITIVE);
    let (bottom, top) = (lowest - 0.12 * span, highest + 0.10 * span);
    let end = samples.last().map_or(0.0, |sample| sample.time);
    let mut notes = Vec::new();
    let mut curves = Vec::new();
    for event in &solution.events {
        let line = [(event.time, bottom), (event.time, top)];
        curves.push(Curve::unnamed(pen(5, Mark::Dotted), line));
        let mut tell = |text: String, height: f64| {
            notes.push(Note { at: (event.time, height), text, side: Side::Right });
        };
        match event.happening {
            Happening::Hit { velocity } => {
                tell(format!("hit at t = {}, q' = {}", number(event.time), number(velocity)), highest);
                let gamma = solution.at(event.time).gamma;
                tell(format!("γ(t⁺) = {}", number(gamma)), 0.5 * gamma + 0.01 * span);
            }
            Happening::Saturation => tell("γ = γ_min".to_owned(), lowest - 0.05 * span),
            Happening::TakeOff => tell(format!("take-off at t = {}", number(event.time)), highest - 0.14 * span),
        }
    }
    for (k, &knot) in experiment.force.knots().iter().enumerate() {
        let until = experiment.force.knots().get(k + 1).map_or(end, |next| next.min(end));
        if knot < end {
            let text = format!("f = {}", number(experiment.force.at(knot)));
            notes.push(Note { at: (0.5 * (knot.max(0.0) + until), top + 0.01 * span), text, side: Side::Above });
            if knot > 0.0 {
                curves.push(Curve::unnamed(pen(3, Mark::Dashed), [(knot, bottom), (knot, top + 0.1 * span)]));
            }
        }
    }
    if let Some(hit) = solution.hits().next() {
        notes.push(Note { at: (0.5 * hit, 0.06 * span), text: "q'' = f".to_owned(), side: Side::Left });
        let held = solution.takeoffs().find(|time| *time > hit).unwrap_or(end);
        notes.push(Note {
            at: (0.5 * (hit + held), 0.0), text: "q = 0,  γ' = m f / r²".to_owned(), side: Side::Above
        });
    }
    curves.extend([q, gamma]);
    let y = Axis::linear("q (length) and γ (momentum / length²)").within(bottom, top + 0.1 * span);
    let x = Axis::linear(TIME).within(0.0, end);
    let panel = Panel { x, y, curves, notes };
    Figure { title: "A solution of the gluey particle model".to_owned(), panels: vec![panel] }
}

/// Line and colour of the k-th of several alike.
fn kth(k: usize) -> Pen {
    let marks = [Mark::Solid, Mark::Dashed, Mark::Dotted];
    pen(k % 6, marks[k % 3])
}

/// Layers that are drawn: more would lie on each other.
fn drawn(study: &Layers) -> Vec<&Layer> {
    let visible: Vec<&Layer> = study.layers.iter().filter(|layer| layer.kappa >= 0.02).collect();
    if visible.is_empty() { study.layers.iter().take(4).collect() } else { visible.into_iter().take(5).collect() }
}

/// q and κ ln q of layers, over the limit.
pub fn layers(study: &Layers, limit: &[Sample]) -> Figure {
    let curves = |quantity: fn(&Sample) -> f64| {
        let mut curves = vec![Curve::new("limit model", pen(0, Mark::Broad), over_time(limit, quantity))];
        for (k, layer) in drawn(study).into_iter().enumerate() {
            let name = format!("κ = {}", number(layer.kappa));
            curves.push(Curve::new(name, kth(k), over_time(&layer.samples, quantity)));
        }
        curves
    };
    let lowest = limit.iter().map(|sample| sample.gamma).fold(0.0, f64::min);
    let potential = Axis::linear("6πμ ln q, and γ (momentum / length²)").within(1.1 * lowest, 2.0);
    let panels = vec![
        panel(Axis::linear(TIME), Axis::linear(GAP), curves(|s| s.gap)),
        panel(Axis::linear(TIME), if lowest < 0.0 { potential } else { Axis::linear(GAMMA) }, curves(|s| s.gamma)),
    ];
    Figure { title: "A layer of viscous fluid, κ = 6πμr²/m, against the gluey limit".to_owned(), panels }
}

/// Distances from the limit against κ.
pub fn layer_rates(study: &Layers) -> Figure {
    let against = |quantity: fn(&Layer) -> f64| {
        study.layers.iter().map(|layer| (layer.kappa, quantity(layer))).collect::<Vec<_>>()
    };
    let guide = |points: &[(f64, f64)]| {
        let last = points.last().copied().unwrap_or((1.0, 1.0));
        let scale = 0.45 * last.1 / last.0;
        points.iter().map(|point| (point.0, scale * point.0)).collect::<Vec<_>>()
    };
    let (gap, gamma) = (against(|layer| layer.gap_sup), against(|layer| layer.gamma_l1));
    let curves = vec![
        Curve::new("order 1", pen(0, Mark::Dashed), guide(&gap)),
        Curve::new(format!("sup |q_κ − q|, order {:.2}", study.orders.0), pen(1, Mark::Joined), gap),
        Curve::new(format!("‖6πμ ln q_κ − γ‖ in L¹, order {:.2}", study.orders.1), pen(2, Mark::Joined), gamma),
    ];
    let panel = panel(
        Axis::logarithmic("κ = 6πμr²/m (length / time)"),
        Axis::logarithmic("distance from the limit model"),
        curves,
    );
    Figure { title: "Vanishing viscosity: how fast layers tend to the gluey limit".to_owned(), panels: vec![panel] }
}

/// Distances from the exact solution against h.
pub fn convergence(study: &Convergence) -> Figure {
    let mut curves = Vec::new();
    let marks = [Mark::Joined, Mark::Joined, Mark::Joined, Mark::Crosses, Mark::Joined, Mark::Crosses];
    let mut guide = 0.0_f64;
    for (k, measure) in MEASURES.iter().enumerate() {
        if let Some(order) = (measure.order)(&study.orders) {
            let points: Vec<(f64, f64)> =
                study.resolutions.iter().map(|row| (row.dt, (measure.error)(&row.distance))).collect();
            guide = guide.max(points.last().map_or(0.0, |point| point.1 / point.0));
            curves.push(Curve::new(format!("{}: order {order:.2}", measure.name), pen(k, marks[k]), points));
        }
    }
    let line = study.resolutions.iter().map(|row| (row.dt, 2.2 * guide * row.dt));
    curves.push(Curve::new("order 1", pen(0, Mark::Dashed), line));
    let panel = panel(Axis::logarithmic("time step h (time units)"), Axis::logarithmic("error"), curves);
    Figure {
        title: "The algorithm against the exact solution, in the norms of the theorem".to_owned(),
        panels: vec![panel],
    }
}

/// Trajectories of some thresholds, and take-off times of all.
pub fn roughness(study: &Roughness, smooth: &[Sample], kappa: &str) -> Figure {
    let mut curves = vec![Curve::new("smooth", pen(0, Mark::Broad), over_time(smooth, |s| s.gap))];
    let all: Vec<_> = study.departures.iter().zip(&study.trajectories).filter(|(d, _)| d.predicted < 4.0).collect();
    let every = all.len().div_ceil(4).max(1);
    for (k, (departure, samples)) in all.into_iter().step_by(every).enumerate() {
        let thin: Vec<Sample> = samples.iter().copied().step_by((samples.len() / 1200).max(1)).collect();
        curves.push(Curve::new(
            format!("γ_min = {}", number(departure.gamma_min)),
            kth(k),
            over_time(&thin, |s| s.gap),
        ));
    }
    let times = |of: fn(&gluey::plane::studies::Departure) -> f64| {
        study.departures.iter().map(|d| (d.gamma_min, of(d))).collect::<Vec<_>>()
    };
    let takeoffs = vec![
        Curve::new("2 + r²|γ_min|/(2m), at most 4", pen(0, Mark::Broad), times(|d| d.predicted)),
        Curve::new("algorithm", pen(1, Mark::Circles), times(|d| d.algorithm)),
        Curve::new("exact", pen(0, Mark::Dotted), times(|d| d.exact)),
        Curve::new(format!("rough layer, κ = {kappa}"), pen(2, Mark::Crosses), times(|d| d.lubrication)),
    ];
    let threshold = "roughness threshold γ_min (momentum / length²)";
    let panels = vec![
        panel(Axis::linear(TIME), Axis::linear(GAP), curves),
        panel(Axis::linear(threshold), Axis::linear("take-off (time units)"), takeoffs),
    ];
    Figure { title: "Smooth against rough: the rougher, the earlier the take-off".to_owned(), panels }
}

/// What a threshold is called.
fn named(gamma_min: f64) -> String {
    match gamma_min {
        0.0 => "dry, γ_min = 0".to_owned(),
        value if value.is_finite() => format!("rough, γ_min = {}", number(value)),
        _ => "smooth".to_owned(),
    }
}

/// q/s² over log₂ s, s the time since t*, in which the force repeats itself.
fn octaves(samples: &[Sample], family: &Family) -> Vec<(f64, f64)> {
    let after = samples.iter().map(|sample| (sample.time - family.start, sample.gap)).filter(|(s, _)| *s > 0.0);
    after.map(|(s, q)| (s.log2(), q / (s * s))).collect()
}

/// Dry: two solutions. Smooth: one.
pub fn uniqueness(study: &Uniqueness) -> Figure {
    let panels = study.families.iter().filter(|family| family.gamma_min == 0.0 || family.gamma_min.is_infinite());
    let panels = panels.map(|family| {
        let [even, odd] = &family.solutions;
        let name = named(family.gamma_min);
        let curves = vec![
            Curve::new(format!("{name}: even k"), pen(1, Mark::Solid), octaves(even, family)),
            Curve::new("odd k", pen(2, Mark::Dashed), octaves(odd, family)),
        ];
        let x = Axis::linear("log₂ of the time s since t*");
        panel(x, Axis::linear("q / s² (length / time²)"), curves)
    });
    let title = "One force that clusters at t*: two solutions when dry, one when gluey";
    Figure { title: title.to_owned(), panels: panels.collect() }
}

/// Where the algorithm ends, and how far it is from each solution, against h.
pub fn refinement(study: &Uniqueness) -> Figure {
    let against = |family: &Family, of: fn(&gluey::plane::studies::Refinement) -> f64| {
        family.refinements.iter().map(|r| (r.dt, of(r))).collect::<Vec<_>>()
    };
    let mut dry = Vec::new();
    let mut glued = Vec::new();
    for (k, family) in study.families.iter().enumerate() {
        if family.gamma_min == 0.0 {
            dry.push(Curve::new("dry: from the even solution", pen(1, Mark::Joined), against(family, |r| r.from_even)));
            dry.push(Curve::new("from the odd solution", pen(2, Mark::Crosses), against(family, |r| r.from_odd)));
        } else {
            let mark = [Mark::Crosses, Mark::Joined, Mark::Circles][k % 3];
            glued.push(Curve::new(named(family.gamma_min), pen(k, mark), against(family, |r| r.from_even)));
        }
    }
    let h = || Axis::logarithmic("time step h (time units)");
    let distance = || Axis::logarithmic("largest |q_h − q| (length)").within(3e-5, 1.5);
    let panels = vec![panel(h(), distance(), dry), panel(h(), distance(), glued)];
    Figure { title: "Contact times that cluster: what refinement does".to_owned(), panels }
}
