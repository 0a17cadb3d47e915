import filecmp
import subprocess

import gluey
import numpy as np
import pytest

UNEQUAL = {"host.toml", "timings.csv", ".lock"}


def same_bytes(one, other):
    """Compares two run folders file by file; only wall times and host facts may differ."""
    names = {path.relative_to(one) for path in one.rglob("*") if path.is_file() and path.name not in UNEQUAL}
    others = {path.relative_to(other) for path in other.rglob("*") if path.is_file() and path.name not in UNEQUAL}
    assert names == others
    assert len(names) > 5
    assert filecmp.cmpfiles(one, other, names, shallow=False)[0] == list(names)


def run_command(command, scene, out, until):
    subprocess.run([command, "run", scene, "--out", out, "--until", str(until), "--quiet"], check=True)


@pytest.mark.parametrize(
    ("name", "until"), [("lotto-small", 0.5), ("hopper", 0.05), ("silo-flow", 1.0), ("red-cells", 0.1)]
)
def test_a_run_has_the_bytes_of_the_command(scenes, command, tmp_path, name, until):
    path = scenes / f"{name}.toml"
    run_command(command, path, tmp_path / "command", until)
    gluey.Simulation.from_scene(path).run(until=until, out=tmp_path / "python")
    same_bytes(tmp_path / "command", tmp_path / "python")


def test_a_scene_built_in_python_has_the_bytes_of_its_file(command, tmp_path):
    rng = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(5)), axis=-1).reshape(-1, 2) * 0.25
    scene = gluey.Scene(dt=2e-3, until=0.4, dimension=2, name="built")
    scene.contact(gluey.Gluey(gamma_min=-0.5)).environment(gravity=[0, -10]).group("all", colour="blue")
    scene.particles(grid + rng.uniform(0, 0.04, grid.shape), rng.uniform(0.06, 0.1, 25), density=1, group="all")
    scene.obstacle(gluey.Box([-0.2, -0.2], [1.3, 1.3], open=["upper-y"]), name="tub")
    scene.obstacle(gluey.Wheel([0.5, -0.1], 0.02, 0.08, 3), motion=gluey.Rotation([0.5, -0.1], 5))
    scene.output(frame_every=50)
    run_command(command, scene.save(tmp_path / "built.toml"), tmp_path / "command", 0.4)
    sim = gluey.Simulation.from_scene(scene).run(out=tmp_path / "python")
    same_bytes(tmp_path / "command", tmp_path / "python")
    assert sim.step_count == 200
    assert len(sim.contacts.i) > 0


def test_series_and_reports_have_the_columns_of_the_table(scenes, tmp_path):
    sim = gluey.Simulation.from_scene(scenes / "silo-flow.toml").run(until=0.02, out=tmp_path / "run")
    series = gluey.Run(tmp_path / "run").series
    assert list(series)[: len(gluey.SERIES_COLUMNS)] == list(gluey.SERIES_COLUMNS)
    told = {name: value for name, value in sim.report.items() if name != "loads"}
    assert {"substeps", "contacts", "least_gap", "slip", "waiting"} <= set(told) <= set(gluey.SERIES_COLUMNS)
    for name, value in told.items():
        assert series[name][-1] == value
        assert np.issubdtype(series[name].dtype, np.integer) == isinstance(value, int), name


def test_a_run_goes_on_in_its_folder(scenes, tmp_path):
    path = scenes / "lotto-small.toml"
    gluey.Simulation.from_scene(path).run(until=0.3, out=tmp_path / "whole")
    sim = gluey.Simulation.from_scene(path).run(until=0.111, out=tmp_path / "parts")
    sim.run(until=0.2, out=tmp_path / "parts")
    gluey.Run(tmp_path / "parts").simulation().run(until=0.3, out=tmp_path / "parts")
    same_bytes(tmp_path / "whole", tmp_path / "parts")
    with pytest.raises(RuntimeError, match="already holds a run"):
        gluey.Simulation.from_scene(path).run(until=0.1, out=tmp_path / "parts")
    sim.step(10)
    with pytest.raises(ValueError, match="is of step 300 and not of the present state at step 210"):
        sim.run(until=0.4, out=tmp_path / "parts")
    gluey.Simulation.from_scene(path).run(until=0.01, out=tmp_path / "parts", overwrite=True)
    assert gluey.Run(tmp_path / "parts").series.step[-1] == 10


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    scene = gluey.Scene(dt=1e-2, until=1, dimension=2, name="shower", seed=3)
    scene.environment(gravity=[0, -10]).group("drops", colour="#3c6eb4")
    scene.particles([[0.0, 0.5]], radii=0.05, masses=1)
    scene.obstacle(gluey.HalfSpace([0, 0], [0, 1]), name="floor")
    scene.output(frame_every=10)
    folder = tmp_path_factory.mktemp("runs") / "shower"
    return gluey.Simulation.from_scene(scene).run(out=folder), gluey.Run(folder)


def test_frames_and_series_are_read(run):
    sim, stored = run
    assert len(stored) == 11
    assert stored.times[-1] == 1.0
    assert stored.steps[1] == 10
    last = stored[-1]
    assert last.positions.tobytes() == sim.positions.tobytes()
    assert last.ids[0] == 0
    assert last.contacts.obstacle.tolist() == [0]
    assert last.contacts.impulse == pytest.approx([0.1])
    assert [frame.step for frame in stored] == list(range(0, 101, 10))
    assert stored.at(0.33).step == 30
    assert stored.series.time.shape == (101,)
    assert stored.series.step.dtype == np.int64
    assert stored.series["floor_fy"][-1] == pytest.approx(-10)
    assert stored.group_names == ["drops"]
    assert [frame.step for frame in stored[1:3]] == [10, 20]
    with pytest.raises(TypeError, match="'last' is no index of a frame"):
        stored["last"]
    with pytest.raises(IndexError, match="there are 11"):
        stored[11]
    with pytest.raises(RuntimeError):
        gluey.Run("no/such/run")


def test_runs_become_pandas_and_xarray(run):
    _, stored = run
    frame = stored.to_pandas()
    assert frame.index.name == "time"
    assert frame["contacts"].iloc[-1] == 1
    assert list(stored[0].to_pandas().columns[:3]) == ["position_x", "position_y", "position_z"]
    data = stored.to_xarray()
    assert data.position.dims == ("time", "id", "component")
    assert data.position.sel(component="y").values[0, 0] == 0.5
    assert data.attrs["name"] == "shower"


def test_who_comes_late_or_has_left_is_nan(scenes, tmp_path):
    sim = gluey.Simulation.from_scene(scenes / "silo-flow.toml").run(until=1.6, out=tmp_path / "silo")
    stored = gluey.Run(tmp_path / "silo")
    data = stored.to_xarray()
    radius = data.radius.values
    there = np.isfinite(radius)
    assert there.any(axis=0).all()
    # Some come after the first frame, and some are gone before the last.
    assert not there[0].any()
    gone = ~there[-1]
    assert gone.any()
    assert not gone.all()
    # Nobody comes back, so no id is given twice; who is there has the same radius all the time.
    comings = np.diff(there.astype(int), axis=0, prepend=0) == 1
    assert (comings.sum(axis=0) == 1).all()
    assert (np.nanmax(radius, axis=0) == np.nanmin(radius, axis=0)).all()
    assert np.isnan(data.position.values[~there]).all()
    # Ids are given in the order in which particles come.
    assert (np.diff(comings.argmax(axis=0)) >= 0).all()
    last = data.id.values[there[-1]]
    assert sim.ids.tolist() == last.tolist() == stored[-1].ids.tolist()
    assert sim.radii.tolist() == radius[-1][there[-1]].tolist()


def test_a_run_is_drawn(run):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    sim, stored = run
    for of in (sim, stored[3]):
        axes = gluey.plot(of, contacts=True)
        assert len(axes.collections) >= 2
        lower, upper = axes.get_ylim()
        assert lower < 0.05 < upper
    gluey.plot(sim, colours=sim.positions[:, 1])
    matplotlib.pyplot.close("all")
