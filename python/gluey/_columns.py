"""Columns of equal length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas


class Columns(dict[str, np.ndarray]):
    """A dict of arrays of equal length; each is also an attribute: ``columns.gap`` is ``columns["gap"]``.

    It goes into ``pandas.DataFrame`` by :meth:`to_pandas`, and ``plt.plot("time", "gap", data=columns)`` works.
    """

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no column {name!r}; there are {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        rows = len(next(iter(self.values()), ()))
        return f"<{rows} rows of {', '.join(self)}>"

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame; a vector becomes three columns, ``normal_x``, ``normal_y`` and ``normal_z``."""
        import pandas

        flat: dict[str, np.ndarray] = {}
        for name, column in self.items():
            if column.ndim == 1:
                flat[name] = column
            else:
                flat.update({f"{name}_{axis}": column[:, k] for k, axis in enumerate("xyz")})
        return pandas.DataFrame(flat)
