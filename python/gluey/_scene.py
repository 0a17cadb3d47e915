"""Scenes from Python objects.

A scene is what a scene file says (docs/scenes.md), and nothing else: :meth:`Scene.toml` gives its text, and the command
run on that text gives the same bytes as Python does.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import floats

Vector = Sequence[float] | np.ndarray
Side = Literal["inside", "outside"]


class _Choice:
    """A value of a scene file that is one of several kinds: a table with the name of the kind as its only key."""

    _key: ClassVar[str]

    def _toml(self) -> dict[str, Any]:
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {self._key: {name.rstrip("_"): value for name, value in given.items() if value is not None}}


class Law(_Choice):
    """A contact law: :class:`Inelastic`, :class:`Gluey` or :class:`Aggregating`."""


@dataclass(frozen=True)
class Inelastic(Law):
    """Dry contact without rebound."""

    _key = "inelastic"

    def _toml(self) -> Any:
        return self._key


@dataclass(frozen=True)
class Gluey(Law):
    """Lubricated contact: pushing is remembered and must be paid back.

    gamma_min: roughness threshold γ_min ≤ 0 (momentum / length², momentum with unit scaling); −inf is smooth, 0 is dry.
    scaling: ``"unit"`` or ``"lubrication"``, how radii weigh on γ.
    roughness: γ_min from the roughness of groups and obstacles instead, ``{"viscosity": 1e-3, "length_unit": 1e-6}``
        (mass / (length · time), length).
    """

    gamma_min: float = -math.inf
    scaling: Literal["unit", "lubrication"] | None = None
    roughness: Mapping[str, float] | None = None
    _key = "gluey"

    def _toml(self) -> dict[str, Any]:
        table = super()._toml()
        if self.roughness is not None and self.gamma_min == -math.inf:
            del table[self._key]["gamma_min"]  # roughness takes the place of this default
        return table


@dataclass(frozen=True)
class Aggregating(Law):
    """A pair once in contact never lets go. strength: the force a bond bears (force)."""

    strength: float | None = None
    _key = "aggregating"


class Shape(_Choice):
    """The shape of an obstacle, where it is at t = 0."""


@dataclass(frozen=True)
class HalfSpace(Shape):
    """All that lies behind a plane: a point of it (length), and its normal towards the particles."""

    point: Vector
    normal: Vector
    _key = "half-space"


@dataclass(frozen=True)
class Box(Shape):
    """A box between two corners (length), as container (``side="inside"``) or solid (``"outside"``).

    open: sides of a container that are missing, such as ``["upper-y"]``; angle: turn about its middle (rad), about `axis`.
    """

    lower: Vector
    upper: Vector
    side: Side = "inside"
    open: Sequence[str] | None = None
    angle: float | None = None
    axis: Vector | None = None
    _key = "box"


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere (a disc in 2D) by its centre and radius (length), as container or solid."""

    centre: Vector
    radius: float
    side: Side = "outside"
    _key = "sphere"


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder (a disc in 2D) by its centre and radius (length); of infinite length unless `length` is given."""

    centre: Vector
    radius: float
    side: Side = "inside"
    axis: Vector | None = None
    length: float | None = None
    closed: bool | None = None
    _key = "cylinder"


@dataclass(frozen=True)
class Segment(Shape):
    """A segment with thickness (length): a wall in 2D, a rod in 3D."""

    from_: Vector
    to: Vector
    thickness: float | None = None
    _key = "segment"


@dataclass(frozen=True)
class Plate(Shape):
    """A parallelogram with thickness (length), by a corner and the two edges from it (3D)."""

    corner: Vector
    edges: Sequence[Vector]
    thickness: float | None = None
    _key = "plate"


@dataclass(frozen=True)
class Funnel(Shape):
    """A cone frustum, in 2D two plates, by the centres and radii of its openings (length)."""

    top: Vector
    bottom: Vector
    top_radius: float
    bottom_radius: float
    thickness: float | None = None
    _key = "funnel"


@dataclass(frozen=True)
class Wheel(Shape):
    """A hub with blades (lengths); angle: of the first blade (rad)."""

    centre: Vector
    hub_radius: float
    radius: float
    blades: int
    axis: Vector | None = None
    width: float | None = None
    thickness: float | None = None
    angle: float | None = None
    _key = "wheel"


@dataclass(frozen=True)
class Mesh(Shape):
    """A triangle mesh from an STL file (3D); scale: factor on its lengths, offset: shift after it (length)."""

    path: str | os.PathLike[str]
    scale: float | None = None
    offset: Vector | None = None
    _key = "mesh"


class Motion(_Choice):
    """How an obstacle moves."""


@dataclass(frozen=True)
class Translation(Motion):
    """Constant velocity (length / time) from a time until another."""

    velocity: Vector
    from_: float | None = None
    until: float | None = None
    _key = "translation"


@dataclass(frozen=True)
class Rotation(Motion):
    """Constant turn about an axis (z by default) through a centre (length), with a rate (rad / time)."""

    centre: Vector
    rate: float
    axis: Vector | None = None
    from_: float | None = None
    until: float | None = None
    _key = "rotation"


@dataclass(frozen=True)
class Oscillation(Motion):
    """amplitude·(sin(2πft + phase) − sin(phase)): amplitude (length), frequency (1 / time), phase (rad)."""

    amplitude: Vector
    frequency: float
    phase: float | None = None
    _key = "oscillation"


@dataclass(frozen=True)
class MotionTable(Motion):
    """Shifts (length) and angles (rad) at times, linear between."""

    times: Sequence[float]
    offsets: Sequence[Vector] | None = None
    angles: Sequence[float] | None = None
    centre: Vector | None = None
    axis: Vector | None = None
    _key = "table"


class Scene:
    """A scene, built piece by piece. All methods that add something return the scene.

    >>> scene = Scene(dt=1e-2, until=5, dimension=3, name="ball")
    >>> scene.contact(Gluey()).force([0, 0, -2]).obstacle(HalfSpace([0, 0, 0], [0, 0, 1]), name="floor")
    <scene ball: 0 particles from arrays, 1 obstacle>
    >>> scene.particles([[0, 0, 1.5]], radii=0.5, masses=1)
    <scene ball: 1 particle from arrays, 1 obstacle>

    dt: time step (time); until: end of the run (time); dimension: 3, or 2 for discs in the plane z = 0; seed: of every
    random choice; folder: what files that the scene names are relative to.

    Values are checked when the scene is made into a simulation, with the messages of scene files.
    """

    def __init__(
        self,
        *,
        dt: float,
        until: float,
        dimension: Literal[2, 3] = 3,
        name: str | None = "scene",
        description: str | None = None,
        seed: int = 0,
        max_slip: float | None = None,
        max_substeps: int | None = None,
        folder: str | os.PathLike[str] = ".",
    ) -> None:
        self.dimension = dimension
        self.folder = Path(folder)
        self._top = _given(name=name, description=description, dimension=dimension, seed=seed)
        self._tables: dict[str, dict[str, Any]] = {
            "time": _given(dt=dt, until=until, max_slip=max_slip, max_substeps=max_substeps)
        }
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._count = 0

    @property
    def name(self) -> str:
        """What the scene is called."""
        return self._top.get("name", "scene")

    def __repr__(self) -> str:
        obstacles = len(self._lists.get("obstacle", ()))
        return (
            f"<scene {self.name}: {self._count} particle{'s' * (self._count != 1)} from arrays, "
            f"{obstacles} obstacle{'s' * (obstacles != 1)}>"
        )

    def contact(self, law: Law | str = "inelastic", scheme: Literal["one-projection", "paper"] | None = None) -> Scene:
        """The law between particles, and with obstacles that have none of their own; how glued pairs are projected."""
        return self.table("contact", _given(law=law, scheme=scheme))

    def environment(
        self,
        *,
        gravity: Vector | Mapping[str, Any] | None = None,
        drag: float | Mapping[str, Any] | None = None,
        flow: Sequence[str] | None = None,
        inertia: bool | None = None,
        crowd: Mapping[str, Any] | None = None,
    ) -> Scene:
        """Gravity (length / time²), drag, flow of the fluid (expressions of x, y, z, t; length / time), inertia; a crowd.

        drag: a number ζ (mass / time), or a table as in scene files, such as ``{"stokes": {"viscosity": 1e-3}}``.
        crowd: people on their way to exits, a table as in scene files.
        """
        if isinstance(drag, (int, float, np.number)):
            drag = {"coefficient": float(drag)}
        return self.table("environment", _given(gravity=gravity, drag=drag, flow=flow, inertia=inertia, crowd=crowd))

    def force(
        self,
        force: Vector | Mapping[str, Any] | None = None,
        *,
        acceleration: Vector | Mapping[str, Any] | None = None,
        groups: Iterable[str] | None = None,
        name: str | None = None,
    ) -> Scene:
        """A force on each particle (force), or an acceleration (length / time²), on all or on some groups.

        Either is a vector or a table as in scene files: ``{"expression": ["-x", "0", "0"]}``, or
        ``{"steps": {"times": [0, 2], "values": [[0, 0, -2], [0, 0, 2]]}}``.
        """
        named = None if groups is None else list(groups)
        return self.add("force", _given(name=name, groups=named, force=force, acceleration=acceleration))

    def group(
        self, name: str, *, colour: str | None = None, roughness: float | None = None, speed: float | None = None
    ) -> Scene:
        """A kind of particles: its colour in pictures, the roughness of its surface (length), its speed in a crowd
        (length / time)."""
        return self.add("group", _given(name=name, colour=colour, roughness=roughness, speed=speed))

    def particles(
        self,
        positions: ArrayLike,
        radii: ArrayLike,
        *,
        masses: ArrayLike | None = None,
        density: float | None = None,
        velocities: ArrayLike | None = None,
        group: str | None = None,
    ) -> Scene:
        """Particles from arrays: positions (length), (n, 2) or (n, 3); radii (length) and masses (mass), one number or
        n; velocities (length / time), one vector or n. Masses may be left to a density (mass / length³)."""
        place = np.atleast_2d(floats("positions", positions))
        if place.ndim != 2 or place.shape[1] not in (2, 3):
            raise ValueError(f"`positions` has the shape {place.shape}: expected (n, 2) or (n, 3)")
        columns = {"position": place, "radius": _column("radii", radii, (len(place),))}
        if masses is not None:
            columns["mass"] = _column("masses", masses, (len(place),))
        if velocities is not None:
            width = floats("velocities", velocities).shape[-1:]
            columns["velocity"] = _column("velocities", velocities, (len(place), *width))
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        listed = [dict(zip(columns, row, strict=True)) for row in rows]
        self._count += len(listed)
        return self.add("particles", _given(group=group, density=density, source={"list": listed}))

    def fill(
        self,
        region: Mapping[str, Any],
        count: int,
        radius: float | tuple[float, float],
        *,
        mass: float | None = None,
        density: float | None = None,
        velocity: Vector | None = None,
        gap: float | None = None,
        group: str | None = None,
    ) -> Scene:
        """Particles at random in a region without overlap: ``{"box": {"lower": [0, 0], "upper": [1, 1]}}``, a ``sphere``
        or a ``cylinder``; radius (length): one number, or the least and the greatest."""
        source = {"fill": _given(region=region, count=count, radius=radius, gap=gap)}
        return self.add("particles", _given(group=group, mass=mass, density=density, velocity=velocity, source=source))

    def lattice(
        self,
        lower: Vector,
        upper: Vector,
        spacing: float,
        radius: float | tuple[float, float],
        *,
        jitter: float | None = None,
        arrangement: Literal["square", "hexagonal"] | None = None,
        count: int | None = None,
        mass: float | None = None,
        density: float | None = None,
        velocity: Vector | None = None,
        group: str | None = None,
    ) -> Scene:
        """Particles on a lattice in a box (lengths), shaken by a share `jitter` of the room between them; radius: one
        number, or the least and the greatest; count: at most so many, lowest first."""
        keys = _given(lower=lower, upper=upper, spacing=spacing, radius=radius)
        source = {"lattice": keys | _given(jitter=jitter, arrangement=arrangement, count=count)}
        return self.add("particles", _given(group=group, mass=mass, density=density, velocity=velocity, source=source))

    def csv(
        self,
        path: str | os.PathLike[str],
        *,
        mass: float | None = None,
        density: float | None = None,
        velocity: Vector | None = None,
        group: str | None = None,
    ) -> Scene:
        """Particles from a CSV file with the columns x,y,z,r[,m,vx,vy,vz,group]."""
        source = {"csv": {"path": path}}
        return self.add("particles", _given(group=group, mass=mass, density=density, velocity=velocity, source=source))

    def obstacle(
        self,
        shape: Shape,
        *,
        name: str | None = None,
        motion: Motion | None = None,
        assembly: str | None = None,
        law: Law | str | None = None,
        roughness: float | None = None,
        colour: str | None = None,
    ) -> Scene:
        """A fixed or moving obstacle, with the scene's contact law unless it has its own."""
        entry = _given(
            name=name, shape=shape, motion=motion, assembly=assembly, law=law, roughness=roughness, colour=colour
        )
        return self.add("obstacle", entry)

    def assembly(self, name: str, motion: Motion) -> Scene:
        """Obstacles that name it move as one."""
        return self.add("assembly", {"name": name, "motion": motion})

    def solver(self, **keys: Any) -> Scene:
        """How the projection is solved: method, tolerance (of the smallest radius), max_sweeps, at_limit…"""
        return self.table("solver", keys)

    def output(self, **keys: Any) -> Scene:
        """What a run folder gets: frame_every, series_every, checkpoint_every (steps), formats."""
        return self.table("output", keys)

    def table(self, name: str, keys: Mapping[str, Any]) -> Scene:
        """Keys of any table of scene files that there is one of, such as ``picture``."""
        self._tables.setdefault(name, {}).update(keys)
        return self

    def add(self, name: str, keys: Mapping[str, Any]) -> Scene:
        """An entry of any table of scene files that there may be several of, such as ``inlet`` or ``pair-force``."""
        self._lists.setdefault(name, []).append(dict(keys))
        return self

    def toml(self) -> str:
        """The text of the scene file that says the same."""
        lines = [f"{key} = {_toml(value)}" for key, value in self._top.items()]
        for name, table in self._tables.items():
            lines += ["", f"[{name}]", *(f"{_key(key)} = {_toml(value)}" for key, value in table.items())]
        for name, entries in self._lists.items():
            for entry in entries:
                lines += ["", f"[[{name}]]", *(f"{_key(key)} = {_toml(value)}" for key, value in entry.items())]
        return "\n".join(lines) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the scene file, for ``gluey run``."""
        path = Path(path)
        path.write_text(self.toml(), encoding="utf-8")
        return path


def _given(**keys: Any) -> dict[str, Any]:
    return {name: value for name, value in keys.items() if value is not None}


def _column(name: str, values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    given = floats(name, values)
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"`{name}` has the shape {given.shape}: expected {shape}") from None


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else json.dumps(name)


def _toml(value: Any) -> str:
    """A value in TOML; numbers in the shortest form that reads back to the same bits."""
    if isinstance(value, _Choice):
        return _toml(value._toml())
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, np.ndarray):
        return _toml(value.tolist())
    if isinstance(value, (list, tuple)):
        long = len(value) > 8 and isinstance(value[0], Mapping)
        entries = [_toml(entry) for entry in value]
        return "[\n  " + ",\n  ".join(entries) + ",\n]" if long else "[" + ", ".join(entries) + "]"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    raise TypeError(f"a scene file cannot hold {value!r}")
