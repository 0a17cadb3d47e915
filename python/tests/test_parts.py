import doctest
import math

import gluey
import numpy as np
import pytest
import scipy.sparse
from gluey import _columns, _projection, _scene, stokes


@pytest.mark.parametrize("module", [_scene, _projection, stokes, _columns])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


def chain(n, dimension=3):
    """Bodies in a row that fall on a wall: G, with −x into the wall."""
    G = scipy.sparse.lil_array((n, dimension * n))
    G[0, 0] = 1.0  # the wall is at −x: −e with e = (−1, 0, 0)
    for c in range(1, n):
        G[c, dimension * (c - 1)], G[c, dimension * c] = -1.0, 1.0
    return G


@pytest.mark.parametrize("solver", gluey.SOLVERS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_chain_is_stopped_by_a_wall(solver, dimension):
    n = 5
    apriori = np.zeros((n, dimension))
    apriori[:, 0] = -1.0
    solved = gluey.project(chain(n, dimension), gap=0.0, apriori=apriori, solver=solver, tolerance=1e-10)
    assert solved.report["converged"]
    assert solved.velocity.shape == apriori.shape
    assert np.allclose(solved.velocity, 0, atol=1e-8)
    assert np.allclose(solved.impulses, [5, 4, 3, 2, 1], atol=1e-7)


def test_the_projection_is_the_minimum_that_scipy_finds():
    from scipy.optimize import minimize

    rng = np.random.default_rng(4)
    n, pairs = 6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4)]
    e = rng.normal(size=(len(pairs), 3))
    e /= np.linalg.norm(e, axis=1)[:, None]
    G = np.zeros((len(pairs), 3 * n))
    for c, (i, j) in enumerate(pairs):
        G[c, 3 * i : 3 * i + 3], G[c, 3 * j : 3 * j + 3] = -e[c], e[c]
    u, w = rng.normal(size=3 * n), rng.uniform(0.5, 2, n)
    gap, lower = rng.uniform(0, 0.5, len(pairs)), -rng.uniform(0, 0.3, len(pairs))
    A = (G * np.repeat(w, 3)) @ G.T
    b = gap / 0.5 + G @ u
    best = minimize(
        lambda x: 0.5 * x @ A @ x + b @ x,
        np.zeros(len(pairs)),
        jac=lambda x: A @ x + b,
        bounds=[(x, None) for x in lower],
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    solved = gluey.project(
        scipy.sparse.csr_matrix(G),
        gap=gap,
        apriori=u,
        dimension=3,
        inverse_mass=w,
        lower=lower,
        dt=0.5,
        tolerance=1e-12,
    )
    assert np.allclose(solved.velocity.ravel(), u + np.repeat(w, 3) * (G.T @ best.x), atol=1e-6)


def test_scaled_rows_are_the_same_problem():
    apriori = np.zeros((3, 3))
    apriori[:, 0] = -1.0
    scale = np.array([2.0, 0.5, 4.0])
    lower = np.array([-0.1, 0, 0])
    plain = gluey.project(chain(3), gap=0.1, apriori=apriori, lower=lower, tolerance=1e-12)
    scaled = gluey.project(
        scipy.sparse.diags_array(scale) @ chain(3).tocsr(),
        gap=0.1 * scale, apriori=apriori, lower=lower / scale, tolerance=1e-12, start=plain.impulses / scale,
    )  # fmt: skip
    assert np.allclose(scaled.velocity, plain.velocity)
    assert np.allclose(scaled.impulses * scale, plain.impulses)
    assert scaled.report["sweeps"] <= plain.report["sweeps"]


def test_a_problem_without_solution_names_the_rows():
    solved = gluey.project_contacts([0, 0], [-1, -1], [[1, 0, 0], [-1, 0, 0]], gap=-0.1, apriori=[[0, 0, 0]])
    assert solved.report["status"] == "infeasible"
    assert sorted(solved.report["conflict"]) == [0, 1]


@pytest.mark.parametrize(
    ("G", "message"),
    [
        ([[-1.0, 0, 0, 0.5, 0, 0]], "row 0 of G has .* expected one minus the other"),
        ([[-1.0, 0, 0, 1, 0, 0, 1, 0, 0]], "row 0 of G is about 3 bodies"),
        ([[0.0, 0, 0, 0, 0, 0]], "row 0 of G is about 0 bodies"),
        ([[np.inf, 0, 0, 0, 0, 0]], "expected finite"),
    ],
)
def test_matrices_that_are_no_contacts_are_refused(G, message):
    with pytest.raises(ValueError, match=message):
        gluey.project(scipy.sparse.csr_array(G), gap=0.0, apriori=np.zeros(len(G[0])), dimension=3)


def test_flat_velocities_are_in_the_dimension_that_is_said():
    n = 6  # twelve numbers in 2D, which four bodies in 3D would have as well
    apriori = np.zeros((n, 2))
    apriori[:, 0] = -1.0
    G = chain(n, 2)
    rows = gluey.project(G, gap=0.0, apriori=apriori)
    flat = gluey.project(G, gap=0.0, apriori=apriori.ravel(), dimension=2)
    assert np.array_equal(flat.velocity, rows.velocity)
    with pytest.raises(ValueError, match="`apriori` is flat: say by `dimension`"):
        gluey.project(G, gap=0.0, apriori=apriori.ravel())
    with pytest.raises(ValueError, match=r"`apriori` has the shape \(6, 2\): expected \(n, 3\)"):
        gluey.project(G, gap=0.0, apriori=apriori, dimension=3)
    with pytest.raises(ValueError, match=r"`apriori` has the shape \(2, 0\)"):
        gluey.project(G, gap=0.0, apriori=np.zeros((2, 0)))
    with pytest.raises(ValueError, match=r"G has the shape \(3,\)"):
        gluey.project(scipy.sparse.coo_array(np.ones(3)), gap=0.0, apriori=np.zeros((1, 3)))
    with pytest.raises(TypeError, match="G holds complex"):
        gluey.project(scipy.sparse.csr_array(np.ones((1, 3)) * 1j), gap=0.0, apriori=np.zeros((1, 3)))


@pytest.mark.parametrize("dimension", [2, 3])
def test_without_contacts_nothing_is_changed(dimension):
    apriori = np.arange(2.0 * dimension).reshape(2, dimension)
    none = np.empty(0)
    answers = [
        gluey.project_contacts([], [], [], gap=none, apriori=apriori),
        gluey.project_contacts([], [], np.empty((0, dimension)), gap=0.0, apriori=apriori),
        gluey.project(scipy.sparse.csr_array((0, 2 * dimension)), gap=none, apriori=apriori),
    ]
    for solved in answers:
        assert solved.report["converged"]
        assert solved.impulses.shape == (0,)
        assert np.array_equal(solved.velocity, apriori)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"i": [3]}, "row 0 is between 3 and 1: expected two of the 2 bodies"),
        ({"j": [0]}, "row 0 is between 0 and 0"),
        ({"normal": [[2.0, 0, 0]]}, r"a normal of length 1 \(found 2\)"),
        ({"gap": [np.nan]}, "a finite gap"),
        ({"lower": [1.0]}, "a bound ≤ 0"),
        ({"inverse_mass": [1.0, -1.0]}, r"`inverse_mass`\[1\] is -1"),
        ({"inverse_mass": [1.0]}, "`inverse_mass` has 1 entries: expected 2"),
        ({"dt": 0.0}, "`dt` is 0"),
        ({"solver": "magic"}, "`solver` is"),
        ({"apriori": [[0, 0, np.inf], [0, 0, 0]]}, r"`apriori`\[0\]"),
        ({"apriori": 3.0}, r"`apriori` has the shape \(\)"),
        ({"normal": [[1.0, 0, 0]] * 2}, r"`normal` has the shape \(2, 3\)"),
        ({"normal": [[[1.0, 0, 0]]]}, r"`normal` has the shape \(1, 1, 3\)"),
        ({"gap": [[0.0]]}, r"`gap` has the shape \(1, 1\): expected one number or \(1,\)"),
        ({"i": [[0]]}, r"`i` has the shape \(1, 1\)"),
        ({"i": [0.5]}, "`i` holds 0.5: expected whole numbers"),
        ({"i": [np.nan]}, "`i` holds nan"),
        ({"i": [10**30]}, "`i` holds 1e\\+30"),
        ({"i": np.array([2**64 - 1], np.uint64)}, "`i` holds 18446744073709551615"),
        ({"i": [True]}, "`i` holds bool"),
        ({"i": ["a"]}, "`i` holds <U1"),
        ({"gap": [1j]}, "`gap` holds complex128"),
        ({"max_sweeps": 0}, "`max_sweeps` is 0: expected a whole number ≥ 1"),
        ({"max_sweeps": -1}, "`max_sweeps` is -1"),
        ({"max_sweeps": 10**30}, "`max_sweeps` is 1000"),
        ({"max_sweeps": 1.5}, "`max_sweeps` is 1.5: expected a whole number"),
    ],
)
def test_bad_problems_are_refused(changed, message):
    good = {"i": [0], "j": [1], "normal": [[1.0, 0, 0]], "gap": [0.0], "apriori": np.zeros((2, 3))}
    gluey.project_contacts(**(good | {"i": [0.0], "max_sweeps": np.int32(5)}))
    with pytest.raises((ValueError, TypeError), match=message):
        gluey.project_contacts(**(good | changed))


def test_the_particle_and_the_plane():
    times = [0, 0.5, 1.5, 3, 5]
    exact, events = gluey.plane.exact(6, times)
    assert events == [(1.0, "hit"), (4.0, "take-off")]
    assert exact.gap == pytest.approx([1, 0.75, 0, 0, 1])
    run = gluey.plane.simulate(dt=1e-3, until=6)
    assert run.gamma.min() == pytest.approx(-4, abs=5e-3)
    assert np.interp(5, run.time, run.gap) == pytest.approx(1, abs=5e-3)
    layer = gluey.plane.lubrication(1e-2, dt=0.1, until=6)
    assert np.abs(layer.gap - gluey.plane.exact(6, np.minimum(layer.time, 6))[0].gap).max() < 0.2
    rough = gluey.plane.simulate(until=6, gamma_min=-1.0)
    assert rough.gamma.min() == -1
    pushed = gluey.plane.simulate(until=1, force="-2*t")
    assert pushed.velocity[-1] == pytest.approx(-1)
    assert set(run.to_pandas().columns) == {"time", "gap", "velocity", "gamma", "force"}
    with pytest.raises(ValueError, match="`q0` is -1"):
        gluey.plane.simulate(gap=-1)
    with pytest.raises(ValueError, match="piecewise-constant"):
        gluey.plane.exact(1, force="t")
    with pytest.raises(ValueError, match="`times` holds 7"):
        gluey.plane.exact(6, [7])
    with pytest.raises(ValueError, match=r"`times` has the shape \(1, 1\)"):
        gluey.plane.exact(6, [[1]])
    with pytest.raises(ValueError, match="kappa"):
        gluey.plane.lubrication(-1.0)


def test_forces_of_the_plane_are_numbers_expressions_or_steps():
    steps = ([0.0, 2.0], [-2.0, 2.0])
    for force in (steps, list(steps), tuple(np.array(part) for part in steps)):
        assert np.array_equal(gluey.plane.simulate(force=force).gap, gluey.plane.simulate().gap)
    assert gluey.plane.simulate(until=0.1, force=np.float32(-2)).velocity[-1] == pytest.approx(-0.2)
    for force in (([0.0],), np.zeros(2), {"steps": 3}, None):
        with pytest.raises((ValueError, TypeError), match="`force`"):
            gluey.plane.simulate(force=force)
    with pytest.raises(TypeError, match="`values` holds"):
        gluey.plane.simulate(force=([0.0], ["a"]))


def test_stokes_drags():
    gaps = np.array([[1e-8, 0.01], [1.0, 1e6]])
    drags = gluey.stokes.drag(gaps)
    assert drags.shape == (2, 2)
    assert drags[0, 1] == pytest.approx(101.896, abs=1e-3)
    assert drags[1, 1] == pytest.approx(1 + 9 / 8 * 1e-6, rel=1e-9)
    assert gluey.stokes.drag(2.0, radius=2.0) == pytest.approx(drags[1, 0])
    pair = gluey.stokes.two_spheres((1, 1), 0.01)
    assert pair.second == pytest.approx(27.034, abs=1e-3)
    assert pair.mutual < 0
    with pytest.raises(ValueError, match="gap"):
        gluey.stokes.drag(-1)
    with pytest.raises(ValueError, match="`radius` is -1"):
        gluey.stokes.drag(-1, radius=-1)
    with pytest.raises(ValueError, match="`radii` has 3 entries"):
        gluey.stokes.two_spheres((1, 2, 3), 1)


def test_scenes_refuse_arrays_that_do_not_fit():
    scene = gluey.Scene(dt=1, until=1)
    with pytest.raises(ValueError, match=r"`radii` has the shape \(3,\): expected \(2,\)"):
        scene.particles(np.zeros((2, 3)), radii=[1, 2, 3])
    with pytest.raises(ValueError, match="`positions` has the shape"):
        scene.particles(np.zeros((2, 4)), radii=1)
    with pytest.raises(TypeError, match="cannot hold"):
        scene.table("picture", {"size": object()}).toml()


def test_every_kind_of_shape_motion_and_law_is_understood():
    flat = gluey.Scene(dt=1e-3, until=1, dimension=2, name='quoted "name"', description="läuft", max_slip=math.inf)
    flat.contact(gluey.Aggregating(), scheme="one-projection").solver(method="apgd", tolerance=1e-5)
    flat.environment(gravity={"expression": ["0", "-t"]}, drag={"stokes": {"viscosity": 1e-3}}, flow=["y", "0"])
    flat.group("a", roughness=1e-4).force(acceleration=[1, 0], groups=["a"], name="wind")
    flat.obstacle(gluey.Segment([0, -5], [1, -5], 0.1), motion=gluey.Translation([0, -1], from_=1, until=2))
    flat.obstacle(gluey.Sphere([9, 0], 1), motion=gluey.Oscillation([1, 0], 2.0), law=gluey.Gluey(-1, "lubrication"))
    flat.obstacle(gluey.Funnel([0, 9], [0, 7], 3, 1), law=gluey.Inelastic())
    flat.assembly("group", gluey.MotionTable([0, 1], offsets=[[0, 0], [0, 1]])).obstacle(
        gluey.Cylinder([-9, 0], 1, "outside"), assembly="group"
    )
    flat.fill({"box": {"lower": [-1, -1], "upper": [1, 1]}}, 20, (0.05, 0.1), mass=1)
    flat.particles([[3, 3]], 0.1, masses=[2], velocities=[1, 0])
    sim = gluey.Simulation.from_scene(flat)
    assert sim.name == 'quoted "name"'
    assert len(sim) == 21
    assert len(sim.obstacles) == 4
    assert sim.velocities[-1].tolist() == [1, 0, 0]
    sim.step(3)
    deep = gluey.Scene(dt=1e-3, until=1)
    deep.obstacle(gluey.Plate([0, 0, 0], [[1, 0, 0], [0, 1, 0]], 0.1))
    deep.obstacle(gluey.Cylinder([0, 0, 1], 3, "inside", axis=[0, 0, 1], length=2, closed=True))
    sim = gluey.Simulation.from_scene(deep.particles([[0.5, 0.5, 1]], 0.1, density=2))
    assert sim.masses[0] == pytest.approx(2 * 4 / 3 * math.pi * 1e-3)
