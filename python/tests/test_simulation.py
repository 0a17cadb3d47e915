import gc
import math
import os
import signal
import threading
import time
import weakref

import gluey
import numpy as np
import pytest

COLUMNS = ["positions", "velocities", "radii", "masses", "groups", "ids"]


def ball(**keys):
    """A ball on its way to a floor."""
    scene = gluey.Scene(dt=1e-2, until=5, name="ball", **keys)
    scene.contact(gluey.Gluey()).obstacle(gluey.HalfSpace([0, 0, 0], [0, 0, 1]), name="floor")
    return scene.particles([[0, 0, 1.5]], radii=0.5, masses=1)


@pytest.fixture
def lotto(scenes):
    return gluey.Simulation.from_scene(scenes / "lotto-small.toml")


def test_the_ball_of_the_paper_lets_go_when_the_pull_has_paid_back(scenes):
    sim = gluey.Simulation.from_scene(ball().force({"steps": {"times": [0, 2], "values": [[0, 0, -2], [0, 0, 2]]}}))
    deepest, left = 0.0, None
    while sim.time < 5:
        sim.step()
        glue = sim.contacts.gamma.min(initial=0.0)
        deepest = min(deepest, glue)
        if left is None and deepest < 0 and glue == 0:
            left = sim.time
    assert deepest == pytest.approx(-4, abs=0.03)
    assert left == pytest.approx(4, abs=0.02)


@pytest.mark.parametrize("name", COLUMNS)
def test_views_are_the_memory_of_the_simulation(lotto, name):
    first = getattr(lotto, name)
    assert first.ctypes.data == lotto._address(name)
    assert getattr(lotto, name).ctypes.data == first.ctypes.data
    assert first.shape[0] == len(lotto) == 60


@pytest.mark.parametrize("name", COLUMNS)
def test_views_are_read_only_for_good(lotto, name):
    view = getattr(lotto, name)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True


def test_a_view_shows_the_moment_it_was_taken_at(lotto):
    view, part = lotto.positions, lotto.positions[::7, 1]
    before, before_part = view.copy(), part.copy()
    lotto.step(50)
    assert np.array_equal(view, before)
    assert np.array_equal(part, before_part)
    assert not np.array_equal(lotto.positions, before)
    assert lotto.positions.ctypes.data == lotto._address("positions") != view.ctypes.data
    del lotto
    gc.collect()
    _ = [np.full(180, 7.0) for _ in range(1000)]  # whoever reads freed memory finds sevens
    assert np.array_equal(view, before)


def test_views_of_several_moments_live_side_by_side(lotto):
    taken = []
    for _ in range(20):
        taken.append((lotto.positions, lotto.positions.copy(), lotto.velocities, lotto.velocities.copy()))
        lotto.step(3)
    for x, x_then, v, v_then in taken:
        assert np.array_equal(x, x_then)
        assert np.array_equal(v, v_then)


def test_nothing_is_copied_where_nobody_looks(lotto):
    before = lotto._address("positions")
    assert lotto.positions.ctypes.data == before  # and dropped at once
    lotto.step(5)
    assert lotto._address("positions") == before


def test_setting_velocities_leaves_old_views_alone(lotto):
    old = lotto.velocities
    lotto.velocities = np.full((60, 2), 0.25)
    assert not old.any()
    assert np.array_equal(lotto.velocities, np.tile([0.25, 0.25, 0], (60, 1)))


def test_looking_does_not_change_the_trajectory(scenes, lotto):
    other = gluey.Simulation.from_scene(scenes / "lotto-small.toml")
    for _ in range(100):
        held = (lotto.positions, lotto.velocities, lotto.contacts, lotto.report)
        lotto.step()
    other.step(100)
    assert lotto.positions.tobytes() == other.positions.tobytes()
    assert held[0].shape == (60, 3)


def test_velocities_act():
    sim = gluey.Simulation.from_scene(ball())
    sim.velocities = [[0.5, 0, 0]]
    sim.step(10)
    assert sim.positions[0] == pytest.approx([0.05, 0, 1.5])


def test_forces_act_until_they_are_taken_away():
    sim = gluey.Simulation.from_scene(ball())
    sim.forces = [[0, 0, 3.0]]
    sim.step(10)
    assert sim.velocities[0, 2] == pytest.approx(0.3)
    assert np.array_equal(sim.forces, [[0, 0, 3]])
    sim.forces = None
    sim.step(10)
    assert sim.velocities[0, 2] == pytest.approx(0.3)
    assert sim.forces is None


def test_forces_meet_drag_implicitly():
    sim = gluey.Simulation.from_scene(ball().environment(drag=2.0))
    sim.forces = [[1.0, 0, 0]]
    sim.step()
    assert sim.velocities[0, 0] == pytest.approx(1e-2 / (1 + 2e-2))  # (m + hζ) V = hF


def test_an_environment_in_python_gives_the_bits_of_the_scenes_own():
    def fall(now):
        return now.velocities + now.dt * np.array([0.0, 0.0, -10.0])

    ours = gluey.Simulation.from_scene(ball())
    ours.set_environment(fall)
    theirs = gluey.Simulation.from_scene(ball().environment(gravity=[0, 0, -10]))
    ours.step(120)
    theirs.step(120)
    assert len(theirs.contacts.i) == 1
    assert ours.positions.tobytes() == theirs.positions.tobytes()
    assert ours.contacts.gamma.tobytes() == theirs.contacts.gamma.tobytes()


def test_an_environment_may_give_inverse_masses_and_sees_all_columns():
    seen = []

    def environment(now):
        seen.append(now)
        return np.array([[0, 0, -1.0]]), np.array([4.0])

    sim = gluey.Simulation.from_scene(ball())
    sim.set_environment(environment)
    sim.step()
    sim.forces = [[1.0, 0, 0]]
    sim.step()
    assert sim.velocities[0] == pytest.approx([4e-2, 0, -1])
    assert (seen[1].time, seen[1].dt) == (0.01, 0.01)
    assert seen[1].velocities[0, 2] == -1
    assert (seen[1].radii[0], seen[1].masses[0], seen[1].groups[0], seen[1].ids[0]) == (0.5, 1, 0, 0)


def test_clumps_go_on_or_not_as_an_environment_says_that_masses_resist(tmp_path):
    path = tmp_path / "dumbbell.toml"
    path.write_text(
        'time = { dt = 0.01, until = 1 }\n[[clump]]\nname = "dumbbell"\ndensity = 1\n'
        "make.spheres = [{ position = [0, 0, 0], radius = 0.1 }, { position = [0.3, 0, 0], radius = 0.1 }]\n"
        "place.list = [{ position = [0, 0, 0], velocity = [0, 5, 0] }]\n"
    )

    def carried(now):
        return np.tile([1.0, 0.0, 0.0], (2, 1)), np.full(2, 1 / (3.0 * now.dt))

    sim = gluey.Simulation.from_scene(path)
    sim.set_environment(carried, inertia=False)
    sim.step()
    assert sim.velocities == pytest.approx(np.tile([1.0, 0.0, 0.0], (2, 1)), abs=1e-12)

    def free(now):
        return now.velocities

    sim = gluey.Simulation.from_scene(path)
    sim.set_environment(free)
    sim.step()
    assert sim.velocities == pytest.approx(np.tile([0.0, 5.0, 0.0], (2, 1)), abs=1e-12)


def test_an_exception_in_an_environment_comes_out_and_the_state_stays():
    class Mine(Exception):
        pass

    def fails(now):
        if now.time > 0.025:
            raise Mine("no fluid today")
        return now.velocities

    sim = gluey.Simulation.from_scene(ball())
    sim.set_environment(fails)
    with pytest.raises(Mine, match="no fluid today"):
        sim.step(10)
    assert sim.step_count == 3
    with pytest.raises(Mine):
        sim.step()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((2, 3)), r"`velocities` has the shape \(2, 3\): expected \(1, 3\)"),
        (np.zeros(3), r"`velocities` has the shape \(3,\)"),
        (np.full((1, 3), np.nan), r"`velocities`\[0\] is \[NaN"),
        ((np.zeros((1, 3)), np.array([-1.0])), r"`inverse_masses`\[0\] is -1"),
        ((np.zeros((1, 3)), np.ones(3)), "`inverse_masses` has 3 entries: expected 1"),
        ((np.zeros((1, 3)), np.ones((1, 1))), r"`inverse_masses` has the shape \(1, 1\)"),
        ((np.zeros((1, 3)),), "a tuple of 1: expected"),
        ((np.zeros((1, 3)), np.ones(1), 3), "a tuple of 3: expected"),
    ],
)
def test_bad_answers_of_an_environment_are_refused(answer, message):
    sim = gluey.Simulation.from_scene(ball())
    sim.set_environment(lambda now: answer)
    with pytest.raises(ValueError, match=message):
        sim.step()


def test_an_environment_cannot_use_its_own_simulation():
    sim = gluey.Simulation.from_scene(ball())
    sim.set_environment(lambda now: sim.velocities)
    with pytest.raises(RuntimeError, match="taking a step"):
        sim.step()


def test_bad_values_are_refused(lotto):
    with pytest.raises(ValueError, match=r"`velocities` has the shape \(3, 3\): expected \(60, 3\)"):
        lotto.velocities = np.zeros((3, 3))
    forces = np.zeros((60, 3))
    forces[2, 0] = np.inf
    with pytest.raises(ValueError, match=r"`forces`\[2\] is \[inf, 0, 0\]: expected finite numbers"):
        lotto.forces = forces
    with pytest.raises(ValueError, match=r"`velocities`\[0\] has z = 1: this scene has two dimensions"):
        lotto.velocities = np.ones((60, 3))
    with pytest.raises(ValueError, match="`n` is -1"):
        lotto.step(-1)
    with pytest.raises(ValueError, match="`until` is NaN"):
        lotto.run(until=float("nan"))
    with pytest.raises(TypeError):
        lotto.set_environment(3)
    with pytest.raises(TypeError, match="from_scene"):
        gluey.Simulation("scene.toml")


def test_problems_of_a_scene_are_told_by_line_and_column(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("time = { dt = -1, until = 1 }\nparticels = 3\n")
    with pytest.raises(ValueError, match=r"bad\.toml:1:15") as caught:
        gluey.Simulation.from_scene(path)
    assert "particels" in str(caught.value)
    with pytest.raises(ValueError, match="cannot be read"):
        gluey.Simulation.from_scene(tmp_path / "none.toml")


def test_a_step_that_fails_is_a_runtime_error():
    scene = gluey.Scene(dt=0.1, until=1)
    scene.obstacle(gluey.HalfSpace([0, 0, 0], [0, 0, 1]))
    scene.obstacle(gluey.HalfSpace([0, 0, 1], [0, 0, -1]), motion=gluey.Translation([0, 0, -1]))
    sim = gluey.Simulation.from_scene(scene.particles([[0, 0, 0.5]], radii=0.45, masses=1))
    with pytest.raises(RuntimeError, match="pinched"):
        sim.step(10)


def test_a_checkpoint_goes_on_with_the_same_bits(tmp_path, lotto):
    lotto.step(300)
    other = gluey.Simulation.load(lotto.save(tmp_path / "here.gluey"))
    assert other.step_count == 300
    assert str(other.report) == str(lotto.report)
    lotto.step(200)
    other.step(200)
    assert other.positions.tobytes() == lotto.positions.tobytes()
    assert other.contacts.gamma.tobytes() == lotto.contacts.gamma.tobytes()
    with pytest.raises(RuntimeError, match="checkpoint"):
        gluey.Simulation.load(tmp_path / "nothing.gluey")


def test_contacts_are_columns_of_the_pairs(lotto):
    lotto.step(400)
    now = lotto.contacts
    assert len(now.i) > 10
    assert now.normal.shape == (len(now.i), 3)
    walls = now.j < 0
    assert walls.any()
    assert not walls.all()
    assert np.array_equal(walls, now.obstacle >= 0)
    pairs = ~walls
    offset = lotto.positions[now.j[pairs]] - lotto.positions[now.i[pairs]]
    distance = np.linalg.norm(offset, axis=1)
    assert np.allclose(distance - lotto.radii[now.i[pairs]] - lotto.radii[now.j[pairs]], now.gap[pairs], atol=1e-12)
    assert np.allclose(offset / distance[:, None], now.normal[pairs])
    assert (now.gamma < 0).sum() == lotto.report["glued"]
    assert list(now.to_pandas().columns[5:8]) == ["normal_x", "normal_y", "normal_z"]


def test_the_report_has_the_loads_of_obstacles():
    sim = gluey.Simulation.from_scene(ball().environment(gravity=[0, 0, -10]))
    sim.step(200)
    assert sim.report["contacts"] == 1
    assert sim.report["loads"]["floor"]["force"] == pytest.approx([0, 0, -10])


@pytest.fixture
def interruptible():
    """Who is started in the background may have been told to ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_heard_within_a_step(scenes):
    sim = gluey.Simulation.from_scene(scenes / "lotto-small.toml")
    sent = []

    def interrupt():
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        sim.step(10**9)
    assert time.monotonic() - sent[0] < 1.0
    taken = sim.step_count
    sim.step()
    assert sim.step_count == taken + 1 > 1


def test_other_threads_run_during_steps_and_get_an_error_for_the_same_simulation(lotto):
    counted, refused = [0], []

    def count():
        while not done.is_set():
            counted[0] += 1
            try:
                lotto.positions  # noqa: B018
            except RuntimeError as error:
                refused.append(str(error))
            time.sleep(1e-3)

    done = threading.Event()
    thread = threading.Thread(target=count)
    thread.start()
    lotto.step(2000)
    done.set()
    thread.join()
    assert counted[0] > 3
    assert any("taking a step" in message for message in refused)


def test_steps_from_python_cost_what_steps_cost(scenes):
    sim = gluey.Simulation.from_scene(scenes / "funnel.toml")
    sim.step(20)
    best = math.inf
    for _ in range(20):  # whoever else uses the machine may stop us between two clocks
        before, start = sum(sim.timings.values()), time.perf_counter()
        sim.step(20)
        best = min(best, (time.perf_counter() - start) / (sum(sim.timings.values()) - before))
    assert 1 <= best < 1.02


def test_help_tells_units():
    assert "(length / time)" in gluey.Simulation.velocities.__doc__
    assert "(momentum)" in gluey.Simulation.contacts.__doc__
    for name in gluey.__all__:
        assert getattr(gluey, name).__doc__, name


def test_a_checkpoint_may_have_a_bare_name(tmp_path, monkeypatch, lotto):
    monkeypatch.chdir(tmp_path)
    lotto.save("a.gluey")
    assert gluey.Simulation.load("a.gluey").step_count == 0


@pytest.fixture
def passage():
    """Balls that fly through: the first one leaves at once, and others come in."""
    scene = gluey.Scene(dt=1e-2, until=5, dimension=2, name="passage")
    scene.particles([[0.95, 0.5], [0.2, 0.2], [0.2, 0.8]], 0.05, masses=1, velocities=[[5, 0], [0, 0], [0, 0]])
    scene.add("outlet", {"name": "out", "box": {"lower": [1, 0], "upper": [2, 1]}})
    scene.add(
        "inlet",
        {
            "name": "in", "box": {"lower": [-1, 0.4], "upper": [-0.5, 0.6]},
            "rate": 20, "radius": 0.02, "mass": 1, "velocity": [1, 0],
        },
    )  # fmt: skip
    return gluey.Simulation.from_scene(scene)


def test_forces_follow_who_they_were_set_for(passage):
    passage.forces = [[0, 0], [0, -3], [0, 7]]
    passage.step(100)
    assert 0 not in passage.ids
    assert passage.ids.max() > 2
    of = dict(zip(passage.ids.tolist(), passage.velocities[:, 1].tolist(), strict=True))
    assert of[1] == pytest.approx(-3)
    assert of[2] == pytest.approx(7)
    assert all(velocity == 0 for who, velocity in of.items() if who > 2)
    forces = dict(zip(passage.ids.tolist(), passage.forces.tolist(), strict=True))
    assert (forces[1], forces[2], forces[passage.ids.max()]) == ([0, -3, 0], [0, 7, 0], [0, 0, 0])


def test_views_stay_as_they_were_where_particles_come_and_leave(passage):
    taken = []
    for _ in range(60):
        views = [getattr(passage, name) for name in COLUMNS]
        taken.append((views, [view.copy() for view in views]))
        passage.step()
    assert len({len(views[0]) for views, _ in taken}) > 2
    _ = [np.full(9, 7.0) for _ in range(1000)]
    for views, then in taken:
        assert all(np.array_equal(view, copy) for view, copy in zip(views, then, strict=True))


def test_an_exception_in_a_sub_step_leaves_everything_as_it_was(scenes):
    sim = gluey.Simulation.from_scene(scenes / "lotto-small.toml")
    asked = []

    def fast(now):
        asked.append(now.dt)
        if now.dt < sim_dt and now.time > whole[0]:
            raise ArithmeticError("in a sub-step")
        return now.velocities + now.dt * np.array([0, -4e4, 0])

    sim_dt, whole = sim.dt, [0.0]
    sim.set_environment(fast)
    with pytest.raises(ArithmeticError, match="in a sub-step"):
        for _ in range(1000):
            before = (sim.step_count, *(getattr(sim, name).tobytes() for name in COLUMNS), str(sim.contacts))
            whole[0] = sim.time
            sim.step()
    assert asked[-1] < sim.dt
    assert before == (sim.step_count, *(getattr(sim, name).tobytes() for name in COLUMNS), str(sim.contacts))


@pytest.mark.parametrize("itself", [False, True])
def test_a_simulation_with_an_environment_is_freed(itself):
    sim = gluey.Simulation.from_scene(ball())

    class Still:
        holds = sim if itself else None

        def __call__(self, now):
            return now.velocities

    still = Still()
    sim.set_environment(still)
    sim.step()
    gone = weakref.ref(sim), weakref.ref(still)
    del sim, still, Still
    gc.collect()
    assert [each() for each in gone] == [None, None]


@pytest.mark.parametrize(
    ("steps", "kind", "message"),
    [
        (2**64, ValueError, "`n` is 18446744073709551616"),
        (2.5, TypeError, "`n` is 2.5: expected a whole number"),
        (2**64 - 1, ValueError, "18446744073709551615 steps after step 1"),
    ],
)
def test_numbers_of_steps_that_cannot_be_are_refused(steps, kind, message):
    sim = gluey.Simulation.from_scene(ball())
    sim.step(np.int64(1))
    with pytest.raises(kind, match=message):
        sim.step(steps)
    assert sim.step_count == 1


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (np.ma.masked_array(np.zeros((60, 2)), mask=True), TypeError, "masked array"),
        (np.zeros((60, 2), complex), TypeError, "`forces` holds complex128: expected real numbers"),
        (np.zeros((60, 2), "datetime64[s]"), TypeError, "datetime64"),
        (np.zeros(60, [("x", float), ("y", float)]), TypeError, "expected real numbers"),
        ([["a", "b"]] * 60, TypeError, "expected real numbers"),
        ([[1, 2], [3]], ValueError, "`forces` is no array"),
        (np.zeros(60), ValueError, r"has the shape \(60,\): expected \(n, 2\) or \(n, 3\)"),
    ],
)
def test_what_is_no_array_of_vectors_is_refused(lotto, values, kind, message):
    with pytest.raises(kind, match=message):
        lotto.forces = values


def test_arrays_of_any_layout_are_understood(lotto):
    wanted = np.arange(120.0).reshape(60, 2)
    unaligned = np.frombuffer(b"x" + wanted.tobytes(), dtype=np.uint8)[1:].view(float).reshape(60, 2)
    assert not unaligned.flags.aligned
    strided = np.repeat(wanted, 2, axis=0)[::2]
    for given in (unaligned, strided, np.asfortranarray(wanted), wanted.astype(">f8"), wanted.astype(int).tolist()):
        lotto.forces = given
        assert np.array_equal(lotto.forces[:, :2], wanted)


def test_the_name_of_a_scene_is_no_path(tmp_path):
    for name in ("../up/and away", None):
        scene = gluey.Scene(dt=1, until=1, name=name, folder=tmp_path).particles([[0, 0, 0]], 1, masses=1)
        assert scene.name == name or name is None
        sim = gluey.Simulation.from_scene(scene)
        assert sim.name == scene.name
        sim.run(out=tmp_path / "run", overwrite=True)
        gluey.Simulation.load(tmp_path / "run")


def test_the_progress_ends_at_the_last_step(lotto, capsys):
    lotto.run(until=0.3, progress=True)
    assert capsys.readouterr().err.split("\r")[-1].startswith("lotto-small: step 300 of 300")


def test_a_checkpoint_whose_particles_have_changed_is_refused(tmp_path):
    (tmp_path / "balls.csv").write_text("x,y,z,r\n0,1,0,0.1\n0,2,0,0.2\n")
    scene = gluey.Scene(dt=1e-2, until=1, folder=tmp_path)
    sim = gluey.Simulation.from_scene(scene.add("particles", {"mass": 1, "source": {"csv": {"path": "balls.csv"}}}))
    sim.step(3)
    saved = sim.save(tmp_path / "here.gluey")
    assert gluey.Simulation.load(saved).step_count == 3
    (tmp_path / "balls.csv").write_text("x,y,z,r\n0,1,0,0.15\n0,2,0,0.2\n")
    with pytest.raises(ValueError, match="no longer gives the particles that were run"):
        gluey.Simulation.load(saved)
