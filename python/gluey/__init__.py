"""Rigid particles that interact through contact and lubrication.

Three lines::

    import gluey
    sim = gluey.Simulation.from_scene("scenes/lotto-small.toml")
    sim.run(until=2)

then ``sim.positions``, ``sim.contacts``, ``gluey.plot(sim)``.

=====================  ============================================================================
``Scene``              a scene built from Python objects; the same as a scene file, and can be saved
``Simulation``         a scene that runs; its arrays are views, not copies
``Run``                a run that was written to a folder, by Python or by the command
``plot``               a picture by matplotlib
``project``            the projection alone, on a SciPy sparse matrix
``project_contacts``   the same from arrays of contacts
``SERIES_COLUMNS``     the columns of time series, and what each tells
``SOLVERS``            the methods for it by name, and what each is
``plane``              one particle and a plane: algorithm, exact solution, layer of fluid
``stokes``             exact drags of slow viscous flow
=====================  ============================================================================

Lengths, masses and times are in any one consistent system of units; docstrings name the kind of unit in parentheses,
such as (length / time). Vectors have three components, in two dimensions with z = 0.
"""

from . import plane, stokes
from ._columns import Columns
from ._gluey import Moment, schema, version
from ._plot import plot
from ._projection import SOLVERS, Projection, project, project_contacts
from ._run import SERIES_COLUMNS, Frame, Run
from ._scene import (
    Aggregating,
    Box,
    Cylinder,
    Funnel,
    Gluey,
    HalfSpace,
    Inelastic,
    Law,
    Mesh,
    Motion,
    MotionTable,
    Oscillation,
    Plate,
    Rotation,
    Scene,
    Segment,
    Shape,
    Sphere,
    Translation,
    Wheel,
)
from ._simulation import Simulation

__version__: str = version()

__all__ = [
    "Aggregating",
    "Box",
    "Columns",
    "Cylinder",
    "Frame",
    "Funnel",
    "Gluey",
    "HalfSpace",
    "Inelastic",
    "Law",
    "Mesh",
    "Moment",
    "Motion",
    "MotionTable",
    "Oscillation",
    "Plate",
    "Projection",
    "Rotation",
    "Run",
    "SERIES_COLUMNS",
    "SOLVERS",
    "Scene",
    "Segment",
    "Shape",
    "Simulation",
    "Sphere",
    "Translation",
    "Wheel",
    "plane",
    "plot",
    "project",
    "project_contacts",
    "schema",
    "stokes",
]
