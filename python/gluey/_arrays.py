"""What callers hand in, as arrays the engine can take; what it cannot is refused by name."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def floats(name: str, values: ArrayLike) -> np.ndarray:
    """Numbers as an aligned array of floats in C order, of any shape."""
    return np.require(_plain(name, values), dtype=float, requirements="CA")


def vectors(name: str, values: ArrayLike, dimension: int) -> np.ndarray:
    """An array of vectors as the engine takes it, (n, 3): in 2D the third component may be left out."""
    array = floats(name, values)
    if array.ndim == 2 and array.shape[1] == 2 == dimension:
        array = np.pad(array, ((0, 0), (0, 1)))
    if array.ndim != 2 or array.shape[1] != 3:
        expected = "(n, 2) or (n, 3)" if dimension == 2 else "(n, 3)"
        raise ValueError(f"`{name}` has the shape {array.shape}: expected {expected}")
    return array


def column(name: str, values: ArrayLike, count: int) -> np.ndarray:
    """`count` numbers; one number stands for all."""
    array = floats(name, values)
    if array.ndim == 0:
        return np.full(count, float(array))
    if array.ndim > 1:
        raise ValueError(f"`{name}` has the shape {array.shape}: expected one number or ({count},)")
    return array


def indices(name: str, values: ArrayLike) -> np.ndarray:
    """Whole numbers, (n,)."""
    array = np.atleast_1d(_plain(name, values))
    if array.ndim != 1:
        raise ValueError(f"`{name}` has the shape {array.shape}: expected (n,)")
    if array.dtype.kind == "b":
        raise TypeError(f"`{name}` holds bool: expected whole numbers")
    limit = 2.0**62  # far beyond any index, and safe to cast
    bad = array[~((array == np.floor(array)) & (np.abs(array.astype(float)) < limit))]
    if len(bad):
        raise ValueError(f"`{name}` holds {bad[0]}: expected whole numbers that are indices")
    return np.require(array, dtype=np.int64, requirements="CA")


def count(name: str, value: Any, least: int = 0) -> int:
    """A whole number from `least` on."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"`{name}` is {value!r}: expected a whole number") from None
    if not least <= number < 2**64:
        raise ValueError(f"`{name}` is {number}: expected a whole number ≥ {least} and below 2⁶⁴")
    return number


def _plain(name: str, values: ArrayLike) -> np.ndarray:
    """An array of real numbers, with nothing left out."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"`{name}` is a masked array: expected a number in every place, as from its method filled()")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"`{name}` is no array: {error}") from None
    if array.dtype.kind == "O":  # fractions, decimals and the like know how to become floats
        try:
            return np.array([float(value) for value in array.ravel()]).reshape(array.shape)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"`{name}` holds something else than real numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"`{name}` holds {array.dtype}: expected real numbers")
    return array
