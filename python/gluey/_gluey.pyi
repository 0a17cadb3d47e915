"""The compiled part of the package; use the names of `gluey` instead."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Engine",
    "Frames",
    "Moment",
    "manifest",
    "plane_exact",
    "plane_lubrication",
    "plane_simulate",
    "project",
    "schema",
    "series_columns",
    "solvers",
    "stokes_pair",
    "stokes_plane",
    "version",
]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Start = tuple[float, float, float, float, float]
_Force = float | str | tuple[Any, Any]

def version() -> str:
    """The version of the library."""

def schema() -> str:
    """The JSON schema of scenes."""

def manifest(folder: Path) -> dict[str, Any]: ...
def project(
    i: _Integers,
    j: _Integers,
    normal: _Floats,
    gap: _Floats,
    lower: _Floats,
    inverse_mass: _Floats,
    apriori: _Floats,
    scales: tuple[float, float],
    start: _Floats,
    solver: str,
    limits: tuple[float, int],
) -> tuple[_Floats, _Floats, dict[str, Any]]: ...
def series_columns() -> list[tuple[str, str, bool]]: ...
def solvers() -> list[tuple[str, str]]: ...
def plane_simulate(start: _Start, force: _Force, dt: float, until: float) -> dict[str, _Floats]: ...
def plane_lubrication(start: _Start, force: _Force, kappa: float, dt: float, until: float) -> dict[str, _Floats]: ...
def plane_exact(
    start: _Start, force: _Force, until: float, times: _Floats
) -> tuple[dict[str, _Floats], list[tuple[float, str]]]: ...
def stokes_plane(gaps: _Floats) -> _Floats: ...
def stokes_pair(radii: tuple[float, ...], gaps: _Floats) -> list[_Floats]: ...

@final
class Moment:
    """What a Python environment is told: copies, which it may keep."""

    @property
    def time(self) -> float:
        """tⁿ (time)."""

    @property
    def dt(self) -> float:
        """h (time)."""

    @property
    def positions(self) -> _Floats:
        """Centres (length), (n, 3)."""

    @property
    def velocities(self) -> _Floats:
        """Velocities (length / time), (n, 3)."""

    @property
    def radii(self) -> _Floats:
        """Radii (length), (n,)."""

    @property
    def masses(self) -> _Floats:
        """Masses (mass), (n,)."""

    @property
    def groups(self) -> NDArray[np.uint32]:
        """Indices of groups, (n,)."""

    @property
    def ids(self) -> NDArray[np.uint64]:
        """Who each is, (n,)."""

@final
class Engine:
    @staticmethod
    def parse(text: str, path: Path) -> Engine: ...
    @staticmethod
    def load(checkpoint: Path, path: Path) -> Engine: ...
    def save(self, path: Path) -> None: ...
    def step(self, count: int) -> None: ...
    def run(
        self,
        until: float | None,
        out: Path | None,
        overwrite: bool,
        facts: list[tuple[str, str]],
        tick: Callable[[int, int], None] | None,
    ) -> None: ...
    def column(self, name: str) -> NDArray[Any]: ...
    def address(self, name: str) -> int: ...
    def set_velocities(self, array: _Floats) -> None: ...
    def set_forces(self, array: _Floats | None) -> None: ...
    def forces(self) -> _Floats | None: ...
    def set_environment(self, function: Callable[[Moment], tuple[_Floats, _Floats]], *, inertia: bool = True) -> None: ...
    def contacts(self) -> dict[str, NDArray[Any]]: ...
    def report(self) -> dict[str, Any]: ...
    def obstacles(self) -> list[dict[str, Any]]: ...
    def facts(self) -> dict[str, Any]: ...
    def moment(self) -> tuple[int, float, int]: ...
    def timings(self) -> list[tuple[str, float]]: ...
    def energies(self) -> tuple[float, float]: ...

@final
class Frames:
    def __new__(cls, folder: Path) -> Frames: ...
    def stamps(self) -> list[tuple[int, float]]: ...
    def read(self, index: int) -> dict[str, Any]: ...
