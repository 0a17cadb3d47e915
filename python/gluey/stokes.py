"""Exact drags of slow viscous flow, by series."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _gluey

__all__ = ["Resistance", "drag", "two_spheres"]


class Resistance(NamedTuple):
    """Force per velocity of two spheres along the line of their centres, in units of 6πμ (length)."""

    first: np.ndarray
    second: np.ndarray
    mutual: np.ndarray


def drag(gap: ArrayLike, *, radius: float = 1.0) -> np.ndarray:
    """λ of a sphere that moves normal to a plane: its drag in units of that of the same sphere alone, 6πμru.

    gap: distance of the surfaces (length), a number or an array. The relative error is below 1e-13.

    >>> round(float(drag(0.01)), 3)
    101.896
    """
    gaps = np.asarray(gap, dtype=float) / radius
    return _gluey.stokes_plane(np.ascontiguousarray(gaps.ravel())).reshape(gaps.shape)


def two_spheres(radii: tuple[float, float], gap: ArrayLike) -> Resistance:
    """Resistances of two spheres with these radii at a gap (length), a number or an array."""
    gaps = np.asarray(gap, dtype=float)
    parts = _gluey.stokes_pair(tuple(float(r) for r in radii), np.ascontiguousarray(gaps.ravel()))
    return Resistance(*(part.reshape(gaps.shape) for part in parts))
