//! What the report holds: for each part of the paper the commands, the figures and how ours differ.

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Small and short, in minutes.
    Quick,
    /// All of it.
    Complete,
}

impl Extent {
    /// Its name in messages and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Complete => "complete",
        }
    }
}

/// A part of the paper, made again.
#[derive(Debug)]
pub struct Section {
    /// Its name on the command line, and the folder of its figures.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What the paper shows, and where.
    pub paper: &'static str,
    /// As typed in the folder of the report; the runs among them can go on after a stop.
    pub commands: Vec<String>,
    /// Files, and what is seen in them.
    pub figures: Vec<(&'static str, &'static str)>,
    /// How ours differs from the paper.
    pub differences: &'static str,
}

/// The scenes that commands name.
pub const SCENES: &[(&str, &str)] = &[
    ("lotto-dry.toml", include_str!("../../../../scenes/lotto-dry.toml")),
    ("lotto-rough.toml", include_str!("../../../../scenes/lotto-rough.toml")),
    ("lotto-smooth.toml", include_str!("../../../../scenes/lotto-smooth.toml")),
    ("funnel.toml", include_str!("../../../../scenes/funnel.toml")),
    ("funnel-dry.toml", include_str!("../../../../scenes/funnel-dry.toml")),
    ("funnel-3d.toml", include_str!("../../../../scenes/funnel-3d.toml")),
];

/// All sections, in the order of the paper.
pub fn all(extent: Extent) -> Vec<Section> {
    vec![
        example(),
        layers(),
        convergence(),
        uniqueness(),
        fluid(extent),
        roughness(),
        lotto(),
        funnel(extent),
        funnel_3d(extent),
    ]
}

fn commands(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| format!("gluey {line}")).collect()
}

fn example() -> Section {
    Section {
        name: "example",
        title: "A solution of the gluey particle model",
        paper: "The first figure with results shows distance and adhesion potential of one particle that is pushed to a \
            plane by a force −2 until t = 2 and pulled by +2 afterwards. It sticks from t = 1 to t = 4.",
        commands: commands(&["plane example --out example"]),
        figures: vec![("example/example.svg", "Distance q and potential γ, with the events.")],
        differences: "None: hit at t = 1, take-off at t = 4, γ = −4 at t = 2, exactly. The paper does not print the start; \
            q(0) = 1 and q'(0) = 0 give its times.",
    }
}

fn layers() -> Section {
    Section {
        name: "layers",
        title: "The gluey model and layers of viscous fluid",
        paper: "The same experiment with a particle in a fluid of small viscosity μ: trajectories, and 6πμ ln q, tend to \
            those of the gluey model.",
        commands: commands(&["plane layers --out layers"]),
        figures: vec![
            ("layers/layers.svg", "Layers of several viscosities, κ = 6πμr²/m, over the limit."),
            ("layers/layers-rates.svg", "The distance from the limit is proportional to κ."),
        ],
        differences: "The paper shows that the curves come together; here the rate is measured too: first order in κ, for \
            q in the maximum norm and for γ in L¹.",
    }
}

fn convergence() -> Section {
    Section {
        name: "convergence",
        title: "Convergence of the algorithm",
        paper: "A theorem: the trajectories of the algorithm converge as h → 0, along a subsequence at least, u in L¹, q \
            uniformly, λ as measures. Lemmas bound speed, total variation and impulses whatever h is.",
        commands: commands(&["plane convergence --out convergence"]),
        figures: vec![("convergence/convergence.svg", "Errors in the norms of the theorem against h.")],
        differences: "The paper has no figure for it. In the experiment above all errors are of first order, and the bounds \
            of the lemmas hold for every h.",
    }
}

fn uniqueness() -> Section {
    Section {
        name: "uniqueness",
        title: "Contacts that cluster: one solution or two",
        paper: "A remark, with a reference: for forces that are not analytic the solution need not be unique.",
        commands: commands(&["plane uniqueness --out uniqueness"]),
        figures: vec![
            ("uniqueness/uniqueness.svg", "Two solutions of the dry model under one bounded force."),
            ("uniqueness/uniqueness-refinement.svg", "Which of them the algorithm finds depends on h."),
        ],
        differences: "A bounded force with two dry solutions is made here explicitly. For the gluey model as the equations \
            stand a monotonicity argument gives one solution (docs/plane.md); we could not compare it with the reference.",
    }
}

fn fluid(extent: Extent) -> Section {
    let dt = if extent == Extent::Quick { " --dt 0.1" } else { "" };
    Section {
        name: "fluid",
        title: "Coupling with fluid/particle solvers",
        paper: "A particle without inertia in a viscous fluid is pushed to a plane until t = 2 and pulled off. Figures: the \
            lubrication force by finite elements, with a polynomial fit, and the reference trajectory; on a fixed mesh, no \
            contact treatment, inelastic and gluey contact against the reference; the influence of the distance η at \
            which contacts are treated: large for inelastic, small for gluey contact.",
        commands: vec![
            format!("gluey stokes figures --out fluid{dt}"),
            "gluey stokes flow --gap 0.2 --out fluid".to_owned(),
        ],
        figures: vec![
            ("fluid/drags.svg", "The force on the sphere: finite elements, the exact series, and fits."),
            ("fluid/contacts.svg", "Three treatments of the contact on a fixed mesh, and the exact reference."),
            ("fluid/thresholds.svg", "Inelastic and gluey contact at three distances η."),
            ("fluid/flow.svg", "The flow about the sphere: streamlines, and the pressure on the plane."),
        ],
        differences: "As printed (μ = 3, r = 1, f = ±2) the particle cannot come near the plane: from q = 1 it reaches 0.967 \
            at t = 2. Here the force is 2 in units of 6πμ r. The paper fits a polynomial of degree 3 to F(q), which misses \
            it by more than its size; fitted to q F(q) it is within a percent. The reference is exact here, from Brenner's \
            series; on the fixed mesh q(0) = 0.7. Contact impulses act in the metric of the fluid. The rest is as the \
            paper says: without treatment the particle stays on the mesh's last layer, with inelastic contact it leaves \
            at once, and gluey contact rejoins the reference whatever η is.",
    }
}

fn roughness() -> Section {
    Section {
        name: "roughness",
        title: "Rough solids",
        paper: "A threshold γ ≥ γ_min models rough surfaces: the rough particle takes off before the smooth one.",
        commands: commands(&["plane roughness --out roughness"]),
        figures: vec![("roughness/roughness.svg", "Trajectories, and the time of take-off against γ_min.")],
        differences: "The paper shows one trajectory; here the time of take-off, 2 + r²|γ_min|/(2m), is compared for \
            eleven thresholds, with the exact solution, the algorithm and a layer of fluid on a rough surface.",
    }
}

fn lotto() -> Section {
    let run = |kind: &str| format!("gluey run scenes/lotto-{kind}.toml --out runs/lotto-{kind}");
    let montage = "gluey render runs/lotto-dry runs/lotto-rough runs/lotto-smooth --times 0.4,0.8,1.2,1.6,2.1,2.7 \
                   --labels dry,rough,smooth";
    Section {
        name: "lotto",
        title: "Gluey lotto: the influence of roughness",
        paper: "160 particles, 80 black and 80 white, in a square box that turns; dry (γ_min = 0), rough (−1) and smooth \
            (−∞). Smooth heaps leave the wall when they are at the top: when gravity has balanced what it did to push \
            them on. Rough ones take off earlier.",
        commands: vec![
            run("dry"),
            run("rough"),
            run("smooth"),
            format!("{montage} --montage lotto/lotto.png"),
            format!("{montage} --contacts --gamma-scale 20 --montage lotto/glue.png"),
            "gluey measure runs/lotto-dry runs/lotto-rough runs/lotto-smooth --labels dry,rough,smooth --out lotto"
                .to_owned(),
        ],
        figures: vec![
            ("lotto/lotto.png", "Six times: dry, rough and smooth."),
            ("lotto/departures.svg", "Of the particles on a wall 30 degrees past the bottom: who is still on it."),
            ("lotto/measures.svg", "Particles at the top wall, height of the centre of mass, and mixing."),
            ("lotto/glue.png", "The same with contacts as tubes, the darker the more glued."),
        ],
        differences: "The paper gives neither the speed of rotation nor the times. We turn at ω = 2, where the centrifugal \
            force is a tenth of the weight: at 3 and more most smooth particles go around with the wall for ever. The wall \
            between the compartments is taken out at t = 0. Half of the particles on a wall have left it near 80 degrees \
            if dry, 90 if rough and 180, the top, if smooth, as the text says. About a third of the smooth ones do not \
            leave during the whole turn; probably they were pressed by others that have left them since.",
    }
}

fn funnel(extent: Extent) -> Section {
    // Enough to fill the outlet and the wheel.
    let small = match extent {
        Extent::Quick => " --until 4.6 --set particles.0.source.fill.count=400 --set output.frame_every=100",
        Extent::Complete => "",
    };
    let run = |name: &str| format!("gluey run scenes/{name}.toml --out runs/{name}{small}");
    let (times, near) = if extent == Extent::Quick { ("1,2,3,4", "1.2") } else { ("1.4,3,4.4,10", "3") };
    Section {
        name: "funnel",
        title: "Sedimentation of 3,000 gluey particles",
        paper: "3,000 particles fall through a funnel onto a wheel, which throws them on a leaning plane with round \
            obstacles; they slip into a container. Four snapshots; dry and gluey at the same time; the network of γ: \
            packed in the funnel, and unsticking smoothly behind the wheel.",
        commands: vec![
            run("funnel"),
            run("funnel-dry"),
            format!("gluey render runs/funnel --times {times} --montage funnel/snapshots.png"),
            format!(
                "gluey render runs/funnel-dry runs/funnel --times {near} --labels dry,gluey --montage funnel/dry-gluey.png"
            ),
            format!("gluey render runs/funnel --times {near} --contacts --montage funnel/network.png"),
            format!(
                "gluey render runs/funnel --times {near} --contacts --look-at 0.2,3.9 --zoom 2.6 --size 1200x900 \
                 --montage funnel/network-near.png"
            ),
            "gluey info runs/funnel".to_owned(),
            "gluey info runs/funnel-dry".to_owned(),
        ],
        figures: vec![
            ("funnel/snapshots.png", "Four times of the gluey run."),
            ("funnel/dry-gluey.png", "Dry and gluey at the same time."),
            ("funnel/network.png", "The network of γ: tubes are the darker the more two particles are glued."),
            ("funnel/network-near.png", "The same at the outlet and the wheel."),
        ],
        differences: "The paper prints radii, mass, gravity, γ_min, the speed of the wheel and the radius of the obstacles, \
            but no other length and no time step: those are ours, and so are the shield at the left and the walls above \
            the funnel. The paper takes 30,726 steps; here steps are longer and split where contacts slide. Dry particles \
            are thrown farther and the funnel is empty sooner; gluey ones fall in lumps, which come apart behind the \
            wheel, as the text says. Some gluey particles stay behind the obstacles on the plane.",
    }
}

fn funnel_3d(extent: Extent) -> Section {
    let (small, times) = match extent {
        Extent::Quick => {
            let few = "--until 1.6 --set particles.0.source.fill.count=300 --set particles.1.source.fill.count=300";
            (format!(" {few}"), "0.4,0.8,1.2,1.6")
        }
        Extent::Complete => (String::new(), "0.5,1.5,2.5,8"),
    };
    Section {
        name: "funnel-3d",
        title: "The funnel in space",
        paper: "The paper's code is three-dimensional, but it shows only motion in a plane.",
        commands: vec![
            format!("gluey run scenes/funnel-3d.toml --out runs/funnel-3d{small}"),
            format!("gluey render runs/funnel-3d --times {times} --montage funnel-3d/snapshots.png"),
            "gluey info runs/funnel-3d".to_owned(),
        ],
        figures: vec![(
            "funnel-3d/snapshots.png",
            "Spheres in a conical funnel, on a wheel, a chute and in a container.",
        )],
        differences: "Beyond the paper: 30,000 spheres with the radii, mass, gravity and roughness of the simulation above.",
    }
}
