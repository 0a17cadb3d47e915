"""A scene that runs."""

from __future__ import annotations

import os
import platform
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import count, floats, vectors
from ._columns import Columns
from ._gluey import Engine, Moment, version
from ._scene import Scene

if TYPE_CHECKING:
    import pandas

Path_ = str | os.PathLike[str]
#: What a Python environment gives: velocities, or velocities and inverse masses.
Prediction = ArrayLike | tuple[ArrayLike, ArrayLike]


class Simulation:
    """A state (x, V, γ) and the rules by which it moves on.

    Made by :meth:`from_scene` or :meth:`load`. Arrays such as :attr:`positions` are read-only views of the simulation's
    own memory: looking costs nothing. A view always shows the moment at which it was taken. The next step leaves the
    memory to whoever still holds a view and goes on with a copy, so a view never changes and never dangles, not even when
    the simulation is gone; drop it before the step and nothing is copied at all.

    One thread at a time may use a simulation; others get a RuntimeError while it takes a step. Steps release the
    interpreter, so other threads run meanwhile, and Ctrl-C is heard after the step in which it was pressed.
    """

    def __init__(self, engine: Engine) -> None:
        if not isinstance(engine, Engine):
            raise TypeError("use Simulation.from_scene(…) or Simulation.load(…)")
        self._engine = engine
        self._facts = engine.facts()

    @classmethod
    def from_scene(cls, scene: Scene | Path_) -> Simulation:
        """A simulation at t = 0 from a :class:`Scene` or the path of a scene file.

        Raises ValueError with every problem of the scene, by line and column.
        """
        if isinstance(scene, Scene):
            return cls(Engine.parse(scene.toml(), scene.folder / "scene.toml"))
        path = Path(scene)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: cannot be read: {error}") from error
        return cls(Engine.parse(text, path))

    @classmethod
    def load(cls, path: Path_, *, scene: Path_ | None = None) -> Simulation:
        """A simulation from a checkpoint: a file written by :meth:`save`, or the folder of a run, whose last checkpoint is
        taken, or with a warning the one before where that is damaged.

        The checkpoint holds the text of its scene; files that this names are looked for beside `scene`, by default where
        the scene of the run was, or else the checkpoint. Forces and environments from Python must be set again.
        """
        path = Path(path)
        file = path / "checkpoint.gluey" if path.is_dir() else path
        return cls(Engine.load(path, Path(scene) if scene is not None else _scene_of(file)))

    def save(self, path: Path_) -> Path:
        """Writes a checkpoint, from which :meth:`load` goes on with the same bits."""
        self._engine.save(Path(path))
        return Path(path)

    def step(self, n: int = 1) -> None:
        """Takes `n` steps of length dt. After an exception the state is that of the last whole step."""
        self._engine.step(count("n", n))

    def run(
        self,
        until: float | None = None,
        *,
        out: Path_ | None = None,
        overwrite: bool = False,
        progress: bool = False,
    ) -> Simulation:
        """Steps until a time, by default the end that the scene names, and returns itself.

        out: folder to write the run to, as ``gluey run --out`` does and with the same bytes: series, frames, checkpoints
        (see :class:`Run`). A run is written from t = 0 on, or gone on with from the step at which it stopped.
        overwrite: whether a run that is there already may be replaced. progress: whether to show a line on stderr.

        Forces and environments from Python are no part of the files: only Python can go on with such a run.
        """
        facts = [("gluey", version()), ("python", platform.python_version()), ("processor", platform.machine())]
        facts.append(("scene", str(Path(self._facts["path"]).absolute())))
        tick = _Progress(self.name) if progress else None
        try:
            self._engine.run(until, None if out is None else Path(out), overwrite, facts, tick)
        finally:
            if tick is not None:
                tick.end()
        return self

    @property
    def positions(self) -> NDArray[np.float64]:
        """Centres x (length), (n, 3); a read-only view."""
        return self._engine.column("positions")

    @property
    def velocities(self) -> NDArray[np.float64]:
        """Velocities V (length / time), (n, 3); a read-only view. Assign an array (n, 3), or (n, 2) in 2D, to set them."""
        return self._engine.column("velocities")

    @velocities.setter
    def velocities(self, values: ArrayLike) -> None:
        self._engine.set_velocities(vectors("velocities", values, self.dimension))

    @property
    def radii(self) -> NDArray[np.float64]:
        """Radii r (length), (n,); a read-only view."""
        return self._engine.column("radii")

    @property
    def masses(self) -> NDArray[np.float64]:
        """Masses m (mass), (n,); a read-only view."""
        return self._engine.column("masses")

    @property
    def groups(self) -> NDArray[np.uint32]:
        """The group of each particle, an index into :attr:`group_names`; a read-only view."""
        return self._engine.column("groups")

    @property
    def ids(self) -> NDArray[np.uint64]:
        """Who each particle is; where particles come and leave, indices change and ids do not. A read-only view."""
        return self._engine.column("ids")

    @property
    def forces(self) -> NDArray[np.float64] | None:
        """Forces set from Python (force), (n, 3), or None. They act in all steps from now on, on top of the scene's.

        Each belongs to the particle that it was set for, by its id: who comes in later has none. Assign an array (n, 3), or
        (n, 2) in 2D, or None to end them. They are no part of checkpoints.
        """
        return self._engine.forces()

    @forces.setter
    def forces(self, values: ArrayLike | None) -> None:
        self._engine.set_forces(None if values is None else vectors("forces", values, self.dimension))

    def set_environment(self, function: Callable[[Moment], Prediction], *, inertia: bool = True) -> None:
        """Lets a callable give the a-priori velocities, in place of the scene's gravity, forces, drag and flow.

        In every step (and sub-step) it gets a :class:`Moment` with the arrays positions, velocities, radii, masses,
        groups, ids, and time and dt. It returns V^{n+1/2}, the velocities that the particles would have at the end of the
        step without contacts (length / time), (n, 3) or (n, 2) in 2D; or a tuple of these and the velocity that a unit
        impulse gives each particle (1 / mass), (n,), by default 1/m. Without `inertia` the velocities do not go on from those
        before, and the velocity per impulse is 1/(hζ), as in a fluid in which masses do not resist: clumps, which are held
        together by what their spheres would do alone, must know. An exception in it ends the step, and comes out as it
        is; the state is then that before the step.

        >>> def fall(now):  # doctest: +SKIP
        ...     return now.velocities + now.dt * np.array([0, 0, -9.81])
        """
        if not callable(function):
            raise TypeError(f"the environment must be callable, not {function!r}")
        self._engine.set_environment(partial(_ask, function, self.dimension), inertia=inertia)

    @property
    def contacts(self) -> Columns:
        """Contacts that push, pull or are glued, sorted by pair, as columns:

        i, and j (−1 at an obstacle) or obstacle and its feature (−1 between particles); gap (length); normal, from i to
        its partner, (c, 3); gamma ≤ 0 (glued while < 0); impulse of the last step (momentum), > 0 pushes apart.
        """
        return Columns(self._engine.contacts())

    @property
    def report(self) -> dict[str, Any]:
        """Figures of the last step: those of `gluey.SERIES_COLUMNS` that tell of steps, such as contacts, sweeps and
        least_gap, and `loads`, the mean force and torque (force, force × length) on each obstacle by name."""
        return self._engine.report()

    @property
    def obstacles(self) -> list[dict[str, Any]]:
        """Drawings of the obstacles where they are now: name, points (length), lines (2D) or triangles (3D) by index."""
        return self._engine.obstacles()

    @property
    def step_count(self) -> int:
        """Steps taken."""
        return self._engine.moment()[0]

    @property
    def time(self) -> float:
        """tⁿ = n·dt (time)."""
        return self._engine.moment()[1]

    @property
    def dt(self) -> float:
        """Time step (time)."""
        return self._facts["dt"]

    @property
    def until(self) -> float:
        """The end of the run that the scene names (time)."""
        return self._facts["until"]

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._facts["dimension"]

    @property
    def name(self) -> str:
        """What the scene is called."""
        return self._facts["name"]

    @property
    def scene_text(self) -> str:
        """The scene file it was made from."""
        return self._facts["text"]

    @property
    def group_names(self) -> list[str]:
        """What the groups are called."""
        return [name for name, _ in self._facts["groups"]]

    @property
    def group_colours(self) -> list[tuple[float, float, float]]:
        """Their colours, red, green and blue from 0 to 1."""
        return [tuple(part / 255 for part in colour) for _, colour in self._facts["groups"]]

    @property
    def kinetic_energy(self) -> float:
        """½ Σ m |V|² (energy)."""
        return self._engine.energies()[0]

    @property
    def potential_energy(self) -> float:
        """−Σ m g·x of uniform gravity (energy), 0 without and with an environment from Python."""
        return self._engine.energies()[1]

    @property
    def timings(self) -> dict[str, float]:
        """Seconds of wall time that the parts of steps have taken so far: predict, search, project, glue, move."""
        return dict(self._engine.timings())

    def to_pandas(self) -> pandas.DataFrame:
        """The particles as a DataFrame with their ids as index."""
        return particle_frame(self)

    def __len__(self) -> int:
        """How many particles there are."""
        return self._engine.moment()[2]

    def __repr__(self) -> str:
        return f"<simulation {self.name}: {len(self)} particles at t = {self.time:g}, step {self.step_count}>"

    def _address(self, name: str) -> int:
        """Where the memory of a column is, for tests that a view is no copy."""
        return self._engine.address(name)


def particle_frame(of: Any) -> pandas.DataFrame:
    columns = Columns(position=of.positions, velocity=of.velocities, radius=of.radii, mass=of.masses, group=of.groups)
    frame = columns.to_pandas()
    frame.index = of.ids.copy()
    frame.index.name = "id"
    return frame


def _ask(function: Callable[[Moment], Prediction], dimension: int, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
    """What an environment answers, as the engine takes it."""
    answer = function(moment)
    if not isinstance(answer, tuple):
        answer = (answer, 1.0 / moment.masses)
    if len(answer) != 2:
        raise ValueError(f"the environment gave a tuple of {len(answer)}: expected (velocities, inverse masses)")
    inverse = np.atleast_1d(floats("inverse_masses", answer[1]))
    if inverse.ndim != 1:
        raise ValueError(f"`inverse_masses` has the shape {inverse.shape}: expected ({len(moment.masses)},)")
    return vectors("velocities", answer[0], dimension), inverse


def _scene_of(checkpoint: Path) -> Path:
    """Where the scene of a run was when it was last started; else it is taken to be beside the checkpoint."""
    try:
        starts = tomllib.loads((checkpoint.parent / "host.toml").read_text(encoding="utf-8")).get("start", [])
        return Path(starts[-1]["scene"])
    except (OSError, tomllib.TOMLDecodeError, LookupError):
        return checkpoint.with_suffix(".toml")


class _Progress:
    """A line on stderr that tells how far a run is."""

    def __init__(self, name: str) -> None:
        self._name, self._start, self._shown, self._any = name, monotonic(), 0.0, False

    def __call__(self, step: int, last: int) -> None:
        now = monotonic()
        if now - self._shown < 0.2 and step < last:
            return
        self._shown, self._any = now, True
        pace = now - self._start
        print(f"\r{self._name}: step {step} of {last}, {pace:.0f} s ", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._any:
            print(file=sys.stderr)
