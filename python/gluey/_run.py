"""Runs in folders, written by Python or by the command."""

from __future__ import annotations

import csv
import operator
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._columns import Columns
from ._gluey import Frames, manifest, series_columns
from ._simulation import Simulation, particle_frame

if TYPE_CHECKING:
    import pandas
    import xarray

#: What the columns of series tell, whatever obstacles and measures add.
SERIES_COLUMNS: dict[str, str] = {name: about for name, about, _ in series_columns()}

_WHOLE = {name for name, _, whole in series_columns() if whole}


class Frame:
    """One moment of a run. Arrays as those of :class:`Simulation`, with the same units; they are the frame's own."""

    step: int
    time: float
    positions: np.ndarray
    velocities: np.ndarray
    radii: np.ndarray
    masses: np.ndarray
    groups: np.ndarray
    ids: np.ndarray
    contacts: Columns
    obstacles: list[dict[str, Any]]

    def __init__(self, run: Run, columns: dict[str, Any]) -> None:
        self.run = run
        vars(self).update(columns)
        self.contacts = Columns(columns["contacts"])
        self.dimension, self.name = run.dimension, run.name
        self.group_names, self.group_colours = run.group_names, run.group_colours

    def to_pandas(self) -> pandas.DataFrame:
        """The particles as a DataFrame with their ids as index."""
        return particle_frame(self)

    def __len__(self) -> int:
        return len(self.radii)

    def __repr__(self) -> str:
        return f"<frame of {self.name}: {len(self)} particles at t = {self.time:g}, step {self.step}>"


class Run:
    """A run that was written to a folder. It may go on being written: make a new Run to see what has been added.

    >>> run = gluey.Run("runs/lotto-small")  # doctest: +SKIP
    >>> run.series["kinetic_energy"], run[-1].positions  # doctest: +SKIP
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.manifest: dict[str, Any] = manifest(self.path)
        self.name: str = self.manifest["name"]
        self.dimension: int = self.manifest["dimension"]
        self.dt: float = self.manifest["dt"]
        self.group_names = [name for name, _ in self.manifest["groups"]]
        self.group_colours = [tuple(part / 255 for part in colour) for _, colour in self.manifest["groups"]]

    @cached_property
    def _frames(self) -> Frames:
        return Frames(self.path)

    @cached_property
    def steps(self) -> np.ndarray:
        """The steps of the frames."""
        return np.array([step for step, _ in self._frames.stamps()], dtype=np.int64)

    @cached_property
    def times(self) -> np.ndarray:
        """The times of the frames (time)."""
        return np.array([time for _, time in self._frames.stamps()])

    @cached_property
    def series(self) -> Columns:
        """The time series, a column each: those of `gluey.SERIES_COLUMNS`, then loads and measures."""
        path = self.path / "series.csv"
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise RuntimeError(f"cannot read {path}: {error}") from error
        rows = list(csv.reader(text[: text.rfind("\n") + 1].splitlines()))  # a line that is being written is left out
        names, rows = (rows[0], rows[1:]) if rows else ([], [])
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        kinds = [np.int64 if name in _WHOLE else np.float64 for name in names]
        made = zip(names, columns, kinds, strict=True)
        return Columns({name: np.array(column, dtype=str).astype(kind) for name, column, kind in made})

    def frame(self, index: int) -> Frame:
        """The frame of this index; negative ones count from the end."""
        count = len(self)
        try:
            index = operator.index(index)
        except TypeError:
            raise TypeError(
                f"{index!r} is no index of a frame; Run.at(time) finds the frame nearest to a time"
            ) from None
        if not -count <= index < count:
            raise IndexError(f"there is no frame {index}: there are {count}")
        return Frame(self, self._frames.read(index % count))

    def at(self, time: float) -> Frame:
        """The frame nearest to a time (time)."""
        if len(self) == 0:
            raise IndexError("there are no frames yet")
        return self.frame(int(np.argmin(np.abs(self.times - time))))

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | list[Frame]:
        if isinstance(index, slice):
            return [self.frame(each) for each in range(len(self))[index]]
        return self.frame(index)

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Frame]:
        return (self.frame(index) for index in range(len(self)))

    @property
    def frames(self) -> Run:
        """The frames, as a sequence: itself."""
        return self

    def simulation(self) -> Simulation:
        """The simulation at its last checkpoint, to go on from there."""
        return Simulation.load(self.path)

    def to_pandas(self) -> pandas.DataFrame:
        """The time series as a DataFrame with the time as index."""
        return self.series.to_pandas().set_index("time")

    def to_xarray(self) -> xarray.Dataset:
        """All frames as a Dataset over (time, id, component); NaN where a particle was not there."""
        import xarray

        frames = list(self)
        ids = np.unique(np.concatenate([frame.ids for frame in frames])) if frames else np.empty(0, np.uint64)
        shape = (len(frames), len(ids))
        position, velocity = np.full((*shape, 3), np.nan), np.full((*shape, 3), np.nan)
        radius, mass = np.full(shape, np.nan), np.full(shape, np.nan)
        for k, frame in enumerate(frames):
            where = np.searchsorted(ids, frame.ids)
            position[k, where], velocity[k, where] = frame.positions, frame.velocities
            radius[k, where], mass[k, where] = frame.radii, frame.masses
        return xarray.Dataset(
            {
                "position": (("time", "id", "component"), position),
                "velocity": (("time", "id", "component"), velocity),
                "radius": (("time", "id"), radius),
                "mass": (("time", "id"), mass),
            },
            coords={"time": self.times, "id": ids, "component": list("xyz"), "step": ("time", self.steps)},
            attrs={"name": self.name, "dimension": self.dimension, "dt": self.dt},
        )

    def __repr__(self) -> str:
        return f"<run {self.name} in {self.path}>"
