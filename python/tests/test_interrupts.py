"""Interrupts and forks, in processes of their own: what goes wrong there hangs or takes the process with it."""

import os
import subprocess
import sys
import textwrap

import pytest

INTERRUPTED = """
import os, signal, threading, time
import gluey
import numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt():
    time.sleep({after})
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
sent = []
threading.Thread(target=interrupt, daemon=True).start()
try:
    {work}
except KeyboardInterrupt:
    print("heard" if time.monotonic() - sent[0] < 2 else "late", flush=True)
os._exit(0)
"""


def python(code, **environment):
    """Runs a program; what it printed."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=60, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    "work",
    [
        "gluey.plane.simulate(dt=1e-6, until=90)",
        "gluey.plane.lubrication(1e-3, dt=1e-6, until=90)",
        # A long chain that is pressed together: the news of its ends take many sweeps to reach the middle.
        "k, e = np.arange(400_000), [[1.0, 0, 0]]; "
        + "gluey.project_contacts(k[:-1], k[1:], np.repeat(e, 399_999, 0), gap=0, apriori=np.outer(-k, e), tolerance=1e-15)",
        "box = {'box': {'lower': [0, 0, 0], 'upper': [1, 1, 1]}}; "
        + "gluey.Simulation.from_scene(gluey.Scene(dt=1, until=1).fill(box, 8_000_000, 1e-3, mass=1))",
    ],
)
def test_long_calls_are_interrupted(work):
    # Soon: a fast machine would be through with the plane in half a second. The others take minutes.
    assert python(INTERRUPTED.format(after=0.2, work=work)) == ["heard"]


@pytest.mark.parametrize("work", ["simulate(dt=1e-5, until=9)", "lubrication(1e-3, dt=1e-5, until=9)"])
def test_an_interrupt_before_the_first_array_is_no_panic(work):
    assert python(INTERRUPTED.format(after=0.1, work=f"gluey.plane.{work}; time.sleep(30)")) == ["heard"]


@pytest.mark.parametrize("out", ["None", "folder"])
def test_an_interrupted_run_is_at_a_whole_step(scenes, tmp_path, out):
    found = python(
        f"""
        import os, pathlib, signal, threading, time
        import gluey
        signal.signal(signal.SIGINT, signal.default_int_handler)
        folder = pathlib.Path({str(tmp_path / "run")!r})
        sim = gluey.Simulation.from_scene({str(scenes / "lotto-small.toml")!r})
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            sim.run(until=1e6, out={out})
        except KeyboardInterrupt:
            print(sim.step_count)
            if {out}:
                print(gluey.Run(folder).simulation().step_count)
        """
    )
    assert int(found[0]) > 0
    assert set(found) == {found[0]}
    assert len(found) == (1 if out == "None" else 2)


FORKED = """
import os, signal
import gluey
def work():
    sim = gluey.Simulation.from_scene(scene)
    sim.step(3)
    gluey.project_contacts([0], [1], [[1.0, 0, 0]], gap=0.0, apriori=[[1.0, 0, 0], [-1.0, 0, 0]])
    return hash(sim.positions.tobytes())
scene = {scene!r}
mine = work()
child = os.fork()
if child == 0:
    signal.alarm(50)  # who waits for threads that are not there waits for ever
    same = work() == mine
    grandchild = os.fork()
    if grandchild == 0:
        signal.alarm(50)
        os._exit(0 if same and work() == mine else 1)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_takes_the_same_steps(scenes):
    code = FORKED.format(scene=str(scenes / "funnel.toml"))
    assert python(code, RAYON_NUM_THREADS="2", PYTHONHASHSEED="0") == ["0"]
