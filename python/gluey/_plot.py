"""Pictures by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._run import Frame
from ._simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(
    of: Simulation | Frame,
    *,
    ax: Axes | None = None,
    colours: ArrayLike | None = None,
    contacts: bool = False,
    **keys: Any,
) -> Axes:
    """Draws particles as circles, to scale, and obstacles as lines; of a 3D scene, seen along y (x to the right, z up).

    colours: a number for each particle, mapped by ``cmap``, or a colour for each or for all; by default those of their
    groups. contacts: whether to draw a line for each contact, glued ones in red. Further keys go to matplotlib's
    ``PatchCollection`` of circles. Returns the axes.
    """
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle

    if ax is None:
        _, ax = plt.subplots()
    axes = [0, 1] if of.dimension == 2 else [0, 2]
    for obstacle in of.obstacles:
        edges = obstacle["lines"] if of.dimension == 2 else _edges(obstacle["triangles"])
        if len(edges):
            width = 1.5 if of.dimension == 2 else 0.3
            ax.add_collection(LineCollection(obstacle["points"][:, axes][edges], colors="0.35", linewidths=width))
    places = of.positions[:, axes]
    order = np.arange(len(of)) if of.dimension == 2 else np.argsort(-of.positions[:, 1])
    circles = [Circle(places[k], of.radii[k]) for k in order]
    style: dict[str, Any] = {"linewidths": 0.4, "edgecolors": "0.2"} | keys
    if colours is None:
        style["facecolors"] = np.asarray(of.group_colours)[of.groups[order]] if len(of) else "none"
    elif np.ndim(colours) == 1 and np.asarray(colours).dtype.kind in "fiu":
        style["array"] = np.asarray(colours)[order]
    else:
        style["facecolors"] = colours
    ax.add_collection(PatchCollection(circles, **style))
    if contacts:
        _draw_contacts(ax, of, axes)
    ax.set_aspect("equal")
    ax.autoscale_view()
    ax.set_xlabel("x")
    ax.set_ylabel("xyz"[axes[1]])
    ax.set_title(f"{of.name}, t = {of.time:.4g}")
    return ax


def _edges(triangles: np.ndarray) -> np.ndarray:
    return triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2) if len(triangles) else triangles


def _draw_contacts(ax: Axes, of: Simulation | Frame, axes: list[int]) -> None:
    from matplotlib.collections import LineCollection

    now = of.contacts
    if not len(now.i):
        return
    start = of.positions[now.i]
    end = np.where(
        (now.j >= 0)[:, None],
        of.positions[np.maximum(now.j, 0)],
        start + now.normal * (of.radii[now.i] + now.gap)[:, None],
    )
    lines = np.stack([start[:, axes], end[:, axes]], axis=1)
    ax.add_collection(
        LineCollection(list(lines), colors=np.where(now.gamma < 0, "tab:red", "0.3"), linewidths=0.8, zorder=3)
    )
