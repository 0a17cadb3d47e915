"""One particle above a plane: the laboratory in which the model is proved and measured.

A sphere moves along the normal of a plane; its gap q ≥ 0, its velocity u away from the plane, an external acceleration f(t).
All functions take

gap: q⁰ > 0 (length). velocity: u⁰ (length / time). mass (mass), radius (length).
force: f (length / time²): a number, an expression of t such as ``"sin(3*t)"``, or ``(times, values)``, each value holding
from its time until the next. The default is the paper's: −2 until t = 2, then 2.
gamma_min: γ_min ≤ 0 (momentum / length²); −inf is smooth, 0 is dry.

and give columns time, gap, velocity, gamma and force, the force λ of the plane or the fluid on the particle (force).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from . import _gluey
from ._arrays import floats
from ._columns import Columns

Force = float | str | tuple[ArrayLike, ArrayLike]
_PAPERS: Force = ((0.0, 2.0), (-2.0, 2.0))

__all__ = ["exact", "lubrication", "simulate"]


def simulate(
    dt: float = 1e-2,
    until: float = 6.0,
    *,
    gap: float = 1.0,
    velocity: float = 0.0,
    mass: float = 1.0,
    radius: float = 1.0,
    force: Force = _PAPERS,
    gamma_min: float = -math.inf,
) -> Columns:
    """The paper's particle/plane algorithm with time step `dt` up to the time `until` (time)."""
    return Columns(_gluey.plane_simulate((gap, velocity, mass, radius, gamma_min), _force(force), dt, until))


def exact(
    until: float = 6.0,
    times: ArrayLike | None = None,
    *,
    gap: float = 1.0,
    velocity: float = 0.0,
    mass: float = 1.0,
    radius: float = 1.0,
    force: Force = _PAPERS,
    gamma_min: float = -math.inf,
) -> tuple[Columns, list[tuple[float, str]]]:
    """The exact solution of the limit model for piecewise-constant forces: its columns at `times` (1001 by default, time),
    and its events as (time, "hit", "saturation" or "take-off")."""
    at = np.linspace(0.0, until, 1001) if times is None else _flat("times", times)
    columns, events = _gluey.plane_exact((gap, velocity, mass, radius, gamma_min), _force(force), until, at)
    return Columns(columns), events


def lubrication(
    kappa: float,
    dt: float = 1e-2,
    until: float = 6.0,
    *,
    gap: float = 1.0,
    velocity: float = 0.0,
    mass: float = 1.0,
    radius: float = 1.0,
    force: Force = _PAPERS,
    gamma_min: float = -math.inf,
) -> Columns:
    """The layer of viscous fluid with κ = 6πμr²/m (length / time), sampled every `dt`; gamma is 6πμ ln(q + q_s)."""
    return Columns(_gluey.plane_lubrication((gap, velocity, mass, radius, gamma_min), _force(force), kappa, dt, until))


def _force(force: Force) -> float | str | tuple[list[float], list[float]]:
    """A force as the engine takes it."""
    if isinstance(force, str):
        return force
    if isinstance(force, (tuple, list)) and len(force) == 2:
        times, values = (_flat(name, part).tolist() for name, part in zip(("times", "values"), force, strict=True))
        return times, values
    if np.ndim(force) == 0 and not isinstance(force, (tuple, list)):
        return float(floats("force", force))
    raise ValueError(f"`force` is {force!r}: expected a number, an expression of t, or (times, values)")


def _flat(name: str, values: ArrayLike) -> np.ndarray:
    array = np.atleast_1d(floats(name, values))
    if array.ndim != 1:
        raise ValueError(f"`{name}` has the shape {array.shape}: expected (n,)")
    return array
