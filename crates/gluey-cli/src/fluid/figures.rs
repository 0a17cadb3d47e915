//! The paper's figures on the coupling of a fluid with contacts, and the picture of a flow.

use std::sync::Arc;

use anyhow::Result;
use gluey::environment::{Signal, Table as Steps};
use gluey::plane;
use gluey_fluid::{Contact, Coupling, FixedMesh, NormalDrag, Reference, Remembered, Trajectory};
use gluey_plot::{Axis, Curve, Figure, Mark, Note, Panel, Pen, Side};
use rayon::prelude::*;
use stokes::fitted::{Flow, Grid, SpherePlane};
use stokes::penalised::{Penalised, Settings};

use crate::output::{Cell, Table};
use crate::words::number;

const TIME: &str = "time t (time units)";
const GAP: &str = "distance q (radii)";
/// The distances η of the paper, in radii.
const ETAS: [f64; 3] = [0.1, 0.15, 0.2];
/// The gap at the start of the runs with contacts.
const START: f64 = 0.7;
/// Beyond, the mesh would have to reach farther.
const UNTIL: f64 = 4.5;
/// Gaps at which the finite elements are asked.
const LEAST_GAP: f64 = 1e-3;
const DRAGS: u32 = 25;
/// The fit is to distances up to this, as far as lubrication matters.
const FIT: f64 = 1.0;

fn pen(colour: usize, mark: Mark) -> Pen {
    Pen { colour, mark }
}

fn panel(x: Axis, y: Axis, curves: Vec<Curve>) -> Panel {
    Panel { x, y, curves, notes: Vec::new() }
}

/// Pushed with −2 until t = 2, then pulled with 2, in units of 6πμ r.
fn force() -> Result<Signal> {
    Ok(Signal::Steps(Steps::new(vec![0.0, 2.0], vec![-2.0, 2.0])?))
}

/// A polynomial of degree 3.
#[derive(Clone, Copy)]
struct Cubic([f64; 4]);

impl Cubic {
    /// The one nearest to the points, by the normal equations: for arguments of 0 to 1 they lose five of sixteen
    /// digits.
    fn fitted(points: &[(f64, f64)]) -> Self {
        let mut rows = [[0.0; 5]; 4];
        for &(x, y) in points {
            let powers = [1.0, x, x * x, x * x * x];
            for (row, power) in rows.iter_mut().zip(powers) {
                row.iter_mut().zip(powers).for_each(|(entry, other)| *entry += power * other);
                row[4] += power * y;
            }
        }
        for k in 0..4 {
            for i in 0..4 {
                if i != k {
                    let factor = rows[i][k] / rows[k][k];
                    let pivot = rows[k];
                    rows[i].iter_mut().zip(pivot).for_each(|(entry, above)| *entry -= factor * above);
                }
            }
        }
        Self(std::array::from_fn(|k| rows[k][4] / rows[k][k]))
    }

    fn at(self, x: f64) -> f64 {
        self.0.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
    }
}

/// Drags of the finite elements, and the exact ones.
pub struct Drags {
    /// (q, λ by finite elements, λ exact).
    rows: Vec<(f64, f64, f64)>,
    /// Of q λ(q), and of λ(q).
    fits: [Cubic; 2],
}

impl Drags {
    pub fn compute() -> Result<Self> {
        let solver = SpherePlane::new(Grid::default())?;
        let gaps: Vec<f64> =
            (0..DRAGS).map(|k| LEAST_GAP * (2.0 / LEAST_GAP).powf(f64::from(k) / f64::from(DRAGS - 1))).collect();
        let rows = gaps.par_iter().map(|&q| Ok((q, solver.drag(q)?, stokes::exact::sphere_plane(q)?)));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let near = || rows.iter().filter(|row| row.0 <= FIT);
        let fits = [
            Cubic::fitted(&near().map(|row| (row.0, row.0 * row.1)).collect::<Vec<_>>()),
            Cubic::fitted(&near().map(|row| (row.0, row.1)).collect::<Vec<_>>()),
        ];
        Ok(Self { rows, fits })
    }

    pub fn table(&self) -> Table {
        let columns =
            vec!["q", "lambda_fe", "lambda_exact", "fe_error", "fit_of_q_lambda_error", "fit_of_lambda_error"];
        let rows = self.rows.iter().map(|&(q, fe, exact)| {
            let error = |value: f64| Cell::from(value / exact - 1.0);
            let fits = if q <= FIT {
                [error(self.fits[0].at(q) / q), error(self.fits[1].at(q))]
            } else {
                ["", ""].map(Cell::from)
            };
            let [one, other] = fits;
            vec![q.into(), fe.into(), exact.into(), error(fe), one, other]
        });
        Table { columns, rows: rows.collect() }
    }

    pub fn figure(&self) -> Figure {
        let curve = |of: &dyn Fn(f64) -> f64| self.rows.iter().map(|row| (row.0, of(row.0))).collect::<Vec<_>>();
        let exact: Vec<(f64, f64)> = self.rows.iter().map(|row| (row.0, row.2)).collect();
        let fit = self.rows.iter().filter(|row| row.0 <= FIT).map(|row| (row.0, self.fits[0].at(row.0) / row.0));
        let errors = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
            self.rows
                .iter()
                .filter(|row| row.0 <= FIT)
                .map(|row| (row.0, (of(row) / row.2 - 1.0).abs()))
                .collect::<Vec<_>>()
        };
        let forces = vec![
            Curve::new("exact", pen(0, Mark::Solid), exact),
            Curve::new("leading term, r/q", pen(3, Mark::Dotted), curve(&|q| 1.0 / q)),
            Curve::new("cubic fit of q F", pen(2, Mark::Dashed), fit),
            Curve::new("finite elements", pen(1, Mark::Circles), self.rows.iter().map(|row| (row.0, row.1))),
        ];
        let errors = vec![
            Curve::new("finite elements", pen(1, Mark::Joined), errors(&|row| row.1)),
            Curve::new("cubic fit of q F", pen(2, Mark::Dashed), errors(&|row| self.fits[0].at(row.0) / row.0)),
            Curve::new("cubic fit of F", pen(4, Mark::Dotted), errors(&|row| self.fits[1].at(row.0))),
            Curve::new("leading term", pen(3, Mark::Solid), errors(&|row| 1.0 / row.0)),
        ];
        let panels = vec![
            panel(Axis::logarithmic(GAP), Axis::logarithmic("force F / (6πμ r u)"), forces),
            panel(Axis::logarithmic(GAP), Axis::logarithmic("relative error"), errors),
        ];
        Figure { title: "Force on a sphere that moves towards a plane".to_owned(), panels }
    }
}

/// A coupled run, and what it is called.
struct Run {
    solver: &'static str,
    contact: &'static str,
    eta: f64,
    trajectory: Trajectory,
}

/// The coupled runs, and the trajectory in a fluid that is resolved down to contact.
pub struct Runs {
    runs: Vec<Run>,
    reference: Vec<(f64, f64)>,
}

impl Runs {
    pub fn compute(dt: f64) -> Result<Self> {
        const GLUEY: Contact = Contact::Gluey { gamma_min: f64::NEG_INFINITY };
        let mut plan = vec![("penalised", "none", Contact::None, ETAS[0]), ("fe", "none", Contact::None, ETAS[0])];
        for solver in ["penalised", "fe"] {
            for eta in ETAS {
                plan.push((solver, "inelastic", Contact::Inelastic, eta));
                plan.push((solver, "gluey", GLUEY, eta));
            }
        }
        let grid = plane::Grid::new(dt, UNTIL)?;
        let runs = plan.into_par_iter().map(|(solver, name, contact, eta)| {
            let drag: Arc<dyn NormalDrag> = match solver {
                "fe" => Arc::new(Remembered::new(SpherePlane::new(Grid::default())?)),
                _ => Arc::new(FixedMesh::new(Penalised::new(Settings::default())?)),
            };
            let trajectory = Coupling { drag, contact, eta, start: START, force: force()?, grid }.run()?;
            Ok(Run { solver, contact: name, eta, trajectory })
        });
        let runs = runs.collect::<Result<Vec<_>>>()?;
        let times: Vec<f64> = (0..=450).map(|k| 0.01 * f64::from(k)).collect();
        let gaps = Reference { start: START, force: force()? }.gaps(&times)?;
        Ok(Self { runs, reference: times.into_iter().zip(gaps).collect() })
    }

    fn find<'a>(&'a self, solver: &'a str, contact: &'a str) -> impl Iterator<Item = &'a Run> {
        self.runs.iter().filter(move |run| run.solver == solver && run.contact == contact)
    }

    pub fn table(&self) -> Table {
        let columns = vec!["solver", "contact", "eta", "t", "q", "u", "gamma", "lambda"];
        let rows = self.runs.iter().flat_map(|run| {
            run.trajectory.samples.iter().map(|s| {
                let names = [run.solver, run.contact].map(Cell::from);
                let figures = [run.eta, s.time, s.gap, s.velocity, s.gamma, s.lambda].map(Cell::from);
                names.into_iter().chain(figures).collect()
            })
        });
        let reference = self.reference.iter().map(|&(t, q)| {
            let words = ["exact", "none", ""].map(Cell::from);
            words.into_iter().chain([Cell::from(t), Cell::from(q)]).chain(["", "", ""].map(Cell::from)).collect()
        });
        Table { columns, rows: rows.chain(reference).collect() }
    }

    /// One row a run: take-off beside 4 − t_hit, when the pull has paid back the push, and the gap at t = 4.
    pub fn summary(&self) -> Table {
        let columns = vec!["solver", "contact", "eta", "hit", "takeoff", "4_minus_hit", "q_at_4"];
        let cell = |time: Option<f64>| time.map_or_else(|| Cell::from("never"), Cell::from);
        let rows = self.runs.iter().map(|run| {
            let Trajectory { hit, takeoff, .. } = run.trajectory;
            vec![
                run.solver.into(),
                run.contact.into(),
                run.eta.into(),
                cell(hit),
                cell(takeoff),
                cell(hit.map(|hit| 4.0 - hit)),
                run.trajectory.gap_at(4.0).into(),
            ]
        });
        let exact = self.reference[400].1;
        let reference = ["exact", "none", "", "", "", ""].map(Cell::from).into_iter().chain([exact.into()]).collect();
        Table { columns, rows: rows.chain([reference]).collect() }
    }

    fn points(run: &Run) -> Vec<(f64, f64)> {
        run.trajectory.samples.iter().map(|sample| (sample.time, sample.gap)).collect()
    }

    fn reference_curve(&self) -> Curve {
        Curve::new("reference", pen(0, Mark::Broad), self.reference.clone())
    }

    /// The three treatments of contacts at one η, on the fixed mesh.
    pub fn contacts(&self) -> Figure {
        let mut curves = vec![self.reference_curve()];
        let treatments = [
            ("none", "no contact treatment", Mark::Dotted),
            ("inelastic", "inelastic", Mark::Dashed),
            ("gluey", "gluey", Mark::Solid),
        ];
        for (k, (contact, name, mark)) in treatments.into_iter().enumerate() {
            curves.extend(
                self.find("penalised", contact)
                    .take(1)
                    .map(|run| Curve::new(name, pen([4, 2, 0][k], mark), Self::points(run))),
            );
        }
        let y = Axis::linear(GAP).within(0.0, 2.0);
        let title = format!("A particle in a fluid on a fixed mesh, contact at η = {}", number(ETAS[0]));
        Figure { title, panels: vec![panel(Axis::linear(TIME), y, curves)] }
    }

    /// The influence of η.
    pub fn thresholds(&self) -> Figure {
        let panels = ["inelastic", "gluey"].map(|contact| {
            let mut curves = vec![self.reference_curve()];
            let marks = [Mark::Solid, Mark::Dashed, Mark::Dotted];
            for (k, run) in self.find("penalised", contact).enumerate() {
                let name = format!("{contact}, η = {}", number(run.eta));
                curves.push(Curve::new(name, pen([0, 2, 4][k % 3], marks[k % 3]), Self::points(run)));
            }
            panel(Axis::linear(TIME), Axis::linear(GAP).within(0.0, 2.0), curves)
        });
        Figure { title: "Influence of the distance η at which contacts are treated".to_owned(), panels: panels.into() }
    }
}

/// Streamlines about a sphere that leaves a plane, and the pressure on the plane.
pub fn flow(flow: &Flow, gap: f64) -> Figure {
    const LEVELS: i32 = 12;
    let field = flow.field();
    let mirrored = |line: &[[f64; 2]], side: f64| line.iter().map(|p| (side * p[0], p[1])).collect::<Vec<_>>();
    let reach = 1.0 + gap;
    let mut curves = Vec::new();
    for k in 1..=LEVELS {
        // On the sphere ψ is ρ²/2, at most 1/2: levels are even in the distance from the axis.
        let level = 0.5 * (f64::from(k) / f64::from(LEVELS) * 1.6).powi(2);
        for line in field.streamlines(level).iter().chain(&field.streamlines(-level)) {
            for side in [-1.0, 1.0] {
                curves.push(Curve::unnamed(pen(1, Mark::Solid), mirrored(line, side)));
            }
        }
    }
    let turn = |k: u32| f64::from(k) * std::f64::consts::TAU / 180.0;
    let circle = (0..=180).map(|k| (turn(k).sin(), reach + turn(k).cos()));
    curves.push(Curve::unnamed(pen(0, Mark::Solid), circle));
    curves.push(Curve::unnamed(pen(0, Mark::Solid), [(-2.0, 0.0), (2.0, 0.0)]));
    let note = Note { at: (0.0, reach), text: "u = 1".to_owned(), side: Side::Above };
    let (x, y) = (Axis::linear("ρ (radii)").within(-2.0, 2.0), Axis::linear("z (radii)").within(-0.3, 4.2));
    let lines = Panel { x, y, curves, notes: vec![note] };
    // Lubrication: p = −3μ u r / (q + ρ²/2r)², largest on the axis.
    let rho = || (0..=200).map(|k| 0.01 * f64::from(k));
    let on_plane = rho().filter_map(|rho| Some((rho, flow.sample([rho, 0.0])?.pressure)));
    let thin = rho().map(|rho| (rho, -3.0 / (gap + 0.5 * rho * rho).powi(2)));
    let pressures = vec![
        Curve::new("finite elements", pen(0, Mark::Solid), on_plane),
        Curve::new("lubrication", pen(2, Mark::Dashed), thin),
    ];
    let pressure = panel(Axis::linear("ρ (radii)"), Axis::linear("pressure on the plane (μ u / r)"), pressures);
    let title = format!("Flow about a sphere that leaves a plane, gap {} radii", number(gap));
    Figure { title, panels: vec![lines, pressure] }
}
