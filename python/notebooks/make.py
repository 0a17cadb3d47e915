"""Writes and runs first-steps.ipynb: `python make.py` (re)writes it with its results, `python make.py --check` runs the
notebook that is there and fails if a cell does."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
NOTEBOOK = HERE / "first-steps.ipynb"

CELLS = [
    """# First steps

Black and white balls in a turning box: from three lines to a picture of how they mix. Lengths, masses and times are in any
one system of units. All is explained in `docs/python.md`, and by `help(gluey)`.""",
    """>import gluey
sim = gluey.Simulation.from_scene("../../scenes/lotto-small.toml")
sim.run(until=0.5)""",
    """Arrays are views of the simulation's memory: looking copies nothing. A view shows the moment at which it was taken,
also after the next step.""",
    """>x = sim.positions
x.shape, x.flags.writeable, sim.time""",
    """>%matplotlib inline
gluey.plot(sim, contacts=True);""",
    """Red lines are contacts that are glued: each has been pressed together with γ, and must be pulled apart by as much. Contacts
are columns, and a DataFrame if you like.""",
    """>sim.contacts.to_pandas().sort_values("gamma").head()""",
    """## The whole lotto

A run that is written to a folder has the same bytes as `gluey run` gives. Here the same balls, once with glue and once
without, and as a scene that is built in Python.""",
    """>import tempfile, pathlib
import numpy as np

def lotto(law, name):
    scene = gluey.Scene(dt=1e-3, until=4, dimension=2, name=name, seed=6)
    scene.contact(law).environment(gravity=[0, -10])
    for group, left in [("black", -0.25), ("white", 0.0)]:
        scene.group(group, colour=group)
        half = {"box": {"lower": [left, -0.25], "upper": [left + 0.25, 0.25]}}
        scene.fill(half, 30, (0.007, 0.015), mass=1, group=group)
    scene.obstacle(gluey.Box([-0.25, -0.25], [0.25, 0.25]), name="box", motion=gluey.Rotation([0, 0], 3))
    return scene.output(frame_every=40)

folder = pathlib.Path(tempfile.mkdtemp())
runs = {}
for name, law in {"gluey": gluey.Gluey(gamma_min=-1), "dry": gluey.Inelastic()}.items():
    gluey.Simulation.from_scene(lotto(law, name)).run(out=folder / name)
    runs[name] = gluey.Run(folder / name)
{name: len(run) for name, run in runs.items()}  # frames""",
    """>import matplotlib.pyplot as plt
fig, axes = plt.subplots(2, 4, figsize=(12, 6.4), sharex=True, sharey=True)
for row, run in zip(axes, runs.values()):
    for ax, time in zip(row, [0, 0.6, 1.8, 4.0]):
        gluey.plot(run.at(time), ax=ax)
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
fig.tight_layout()""",
    """The series of a run is a table, too.""",
    """>fig, axes = plt.subplots(1, 2, figsize=(10, 3.2))
for name, run in runs.items():
    axes[0].plot("time", "glued", data=run.series, label=name)
    apart = [f.positions[f.groups == 0].mean(axis=0) - f.positions[f.groups == 1].mean(axis=0) for f in run]
    axes[1].plot(run.times, np.linalg.norm(apart, axis=1), label=name)
axes[0].set(xlabel="t", ylabel="glued contacts")
axes[1].set(xlabel="t", ylabel="distance of the colours' centres")
axes[0].legend();""",
    """## Any fluid that is written in Python

A callable may give the velocities that the particles would have without contacts. Here is a whirl that drags them
along.""",
    """>centre = np.array([0.0, 0.0, 0.0])

def whirl(now):
    r = now.positions - centre
    flow = 2.0 * np.stack([-r[:, 1], r[:, 0], 0 * r[:, 0]], axis=1)
    rate = 5.0  # drag over mass, treated implicitly
    velocity = (now.velocities + now.dt * rate * flow) / (1 + now.dt * rate)
    return velocity, 1 / (now.masses * (1 + now.dt * rate))

sim = gluey.Simulation.from_scene(lotto(gluey.Gluey(gamma_min=-0.01), "whirl"))
sim.set_environment(whirl)
sim.run(until=1)
ax = gluey.plot(sim, colours=np.linalg.norm(sim.velocities, axis=1), cmap="viridis")
plt.colorbar(ax.collections[-1], label="speed");""",
    """## One particle and a plane

The laboratory of the model: a ball falls on a plane, is pressed, is pulled, and lets go when the pull has paid back the
push. The layers of fluid tend to it as their viscosity does to 0.""",
    """>exact, events = gluey.plane.exact()
plt.plot("time", "gap", data=exact, color="k", label="limit")
for kappa in [0.3, 0.1, 0.03]:
    plt.plot("time", "gap", data=gluey.plane.lubrication(kappa), label=f"κ = {kappa}")
plt.xlabel("t"); plt.ylabel("gap"); plt.legend()
events""",
]


def written() -> nbformat.NotebookNode:
    make = nbformat.v4
    cells = [make.new_code_cell(c[1:]) if c.startswith(">") else make.new_markdown_cell(c) for c in CELLS]
    for index, cell in enumerate(cells):
        cell["id"] = f"cell-{index}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return make.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def main() -> None:
    check = "--check" in sys.argv
    notebook = nbformat.read(NOTEBOOK, as_version=4) if check else written()
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(HERE)}}).execute()
    if not check:
        nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
