"""The projection on its own: one convex problem for all contacts of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _gluey
from ._arrays import column, count, floats, indices

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

#: The methods by name, and what each is.
SOLVERS: dict[str, str] = dict(_gluey.solvers())


class Projection(NamedTuple):
    """What a projection gives."""

    #: Λ, one a row (momentum).
    impulses: np.ndarray
    #: V = V^{n+1/2} + M⁻¹ Gᵀ Λ, (n, 3), or (n, 2) where that was given (length / time).
    velocity: np.ndarray
    #: status, converged, sweeps, products, residual and violation (of `length`), conflict (rows, if infeasible).
    report: dict[str, Any]


def project_contacts(
    i: ArrayLike,
    j: ArrayLike,
    normal: ArrayLike,
    *,
    gap: ArrayLike,
    apriori: ArrayLike,
    inverse_mass: ArrayLike = 1.0,
    lower: ArrayLike = 0.0,
    dt: float = 1.0,
    length: float = 1.0,
    start: ArrayLike | None = None,
    solver: str = "apgs",
    tolerance: float = 1e-6,
    max_sweeps: int = 200_000,
) -> Projection:
    """Solves min ½ ΛᵀAΛ + bᵀΛ over Λ ≥ lower, with A = G M⁻¹ Gᵀ and b = D/h + G V^{n+1/2}, from columns of contacts.

    A row is D + h normal·(V_j − V_i) ≥ 0 with its impulse Λ.

    i, j: the bodies of each row; j = −1 is a wall.
    normal: unit vectors from i to j or into the wall, (m, 3) or (m, 2).
    gap: D (length). lower: least impulse, ≤ 0 (momentum): 0 is dry, −inf makes the row an equality.
    apriori: V^{n+1/2} (length / time), (n, 3) or (n, 2). inverse_mass: 1/m of each body (1 / mass); 0 does not move.
    dt: h (time). length: what residuals are relative to, such as the smallest radius (length).
    start: impulses to start from. solver: a name in `gluey.SOLVERS`.
    tolerance: residual to reach, relative to `length`. max_sweeps: limit on passes over all rows.
    """
    velocity = floats("apriori", apriori)
    first = indices("i", i)
    normals = floats("normal", normal)
    rows, bodies = len(first), len(velocity) if velocity.ndim else 0
    if rows <= 1 and normals.ndim == 1:
        normals = normals.reshape(rows, normals.size if rows else 3)
    for name, array in {"apriori": velocity, "normal": normals}.items():
        if array.ndim != 2 or array.shape[1] not in (2, 3):
            raise ValueError(f"`{name}` has the shape {array.shape}: expected (n, 2) or (n, 3)")
    impulses, projected, report = _gluey.project(
        first,
        indices("j", j),
        _three(normals),
        column("gap", gap, rows),
        column("lower", lower, rows),
        column("inverse_mass", inverse_mass, bodies),
        _three(velocity),
        (dt, length),
        np.zeros(rows) if start is None else column("start", start, rows),
        solver,
        (tolerance, count("max_sweeps", max_sweeps, least=1)),
    )
    return Projection(impulses, projected[:, : velocity.shape[1]], report)


def project(
    G: sparray | spmatrix,
    *,
    gap: ArrayLike,
    apriori: ArrayLike,
    inverse_mass: ArrayLike = 1.0,
    lower: ArrayLike = 0.0,
    start: ArrayLike | None = None,
    dimension: Literal[2, 3] | None = None,
    **options: Any,
) -> Projection:
    """Solves the projection min ½ |V − V^{n+1/2}|²_M over D + h G V ≥ 0, with a SciPy sparse matrix G.

    G has a row for each contact and three columns (two in 2D) for each body: −e in the columns of i and e in those of j,
    with e the normal from i to j; a contact with a wall has −e in the columns of i alone, with e into the wall. Rows may be
    scaled; gaps and impulses are then those of the scaled rows. Anything else is refused with a ValueError.

    gap, inverse_mass, lower, start and the further options are those of :func:`project_contacts`. apriori: (n, 3) or
    (n, 2), or the same flat if `dimension` says which of the two.

    >>> import scipy.sparse
    >>> G = scipy.sparse.csr_array([[-1.0, 0, 0, 1, 0, 0]])
    >>> project(G, gap=0.0, apriori=[[1, 0, 0], [-1, 0, 0]]).impulses
    array([1.])
    """
    import scipy.sparse

    if len(getattr(G, "shape", np.shape(G))) != 2:
        raise ValueError(f"G has the shape {np.shape(G)}: expected (contacts, {dimension or 3} × bodies)")
    if np.dtype(getattr(G, "dtype", float)).kind not in "biuf":
        raise TypeError(f"G holds {G.dtype}: expected real numbers")
    matrix = scipy.sparse.csr_array(G, dtype=float)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    columns = matrix.shape[1]
    velocity, width = _by_rows(floats("apriori", apriori), dimension)
    if velocity.size != columns:
        raise ValueError(f"`apriori` has {velocity.size} numbers: expected one for each of the {columns} columns of G")
    i, j, normal, scale = _contacts_of(matrix, width)
    solved = project_contacts(
        i,
        j,
        normal,
        gap=column("gap", gap, len(i)) / scale,
        apriori=velocity,
        inverse_mass=inverse_mass,
        lower=column("lower", lower, len(i)) * scale,
        start=None if start is None else column("start", start, len(i)) * scale,
        **options,
    )
    return solved._replace(impulses=solved.impulses / scale)


def _by_rows(velocity: np.ndarray, dimension: int | None) -> tuple[np.ndarray, int]:
    """Velocities with a row for each body, and how many components they have."""
    if dimension not in (None, 2, 3):
        raise ValueError(f"`dimension` is {dimension!r}: expected 2 or 3")
    if velocity.ndim == 1 and dimension is None:
        raise ValueError("`apriori` is flat: say by `dimension` whether each body has 2 numbers or 3")
    if velocity.ndim == 1 and velocity.size % dimension == 0:
        velocity = velocity.reshape(-1, dimension)
    widths = (2, 3) if dimension is None else (dimension,)
    if velocity.ndim != 2 or velocity.shape[1] not in widths:
        expected = " or ".join(f"(n, {width})" for width in widths)
        raise ValueError(f"`apriori` has the shape {velocity.shape}: expected {expected}")
    return velocity, velocity.shape[1]


def _contacts_of(matrix: Any, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Bodies, unit normals and scales of the rows of G."""
    rows = matrix.shape[0]
    i, j = np.zeros(rows, np.int64), np.full(rows, -1, np.int64)
    normal, scale = np.zeros((rows, width)), np.ones(rows)
    for row in range(rows):
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        bodies, axes = np.divmod(matrix.indices[entries], width)
        found = np.unique(bodies)
        if not 1 <= len(found) <= 2:
            raise ValueError(f"row {row} of G is about {len(found)} bodies: expected one (at a wall) or two")
        blocks = np.zeros((len(found), width))
        blocks[np.searchsorted(found, bodies), axes] = matrix.data[entries]
        if len(found) == 2:
            if not np.allclose(blocks[0], -blocks[1], rtol=1e-9, atol=0.0):
                raise ValueError(f"row {row} of G has {blocks[0]} and {blocks[1]}: expected one minus the other")
            j[row] = found[1]
        i[row], scale[row] = found[0], np.linalg.norm(blocks[0])
        if not np.isfinite(scale[row]):
            raise ValueError(f"row {row} of G has {blocks[0]}: expected finite numbers")
        normal[row] = -blocks[0] / scale[row]
    return i, j, normal, scale


def _three(vectors: np.ndarray) -> np.ndarray:
    return np.pad(vectors, ((0, 0), (0, 1))) if vectors.shape[1] == 2 else np.ascontiguousarray(vectors)
