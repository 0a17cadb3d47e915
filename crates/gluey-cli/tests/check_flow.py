"""Reads the flow that `gluey stokes flow` wrote with VTK's own code: python check_flow.py FLOW.vtu GAP."""

import sys

import numpy as np
import pyvista

flow = pyvista.read(sys.argv[1])
gap = float(sys.argv[2])
rho, z = flow.points[:, 0], flow.points[:, 2]
velocity, pressure = flow.point_data["velocity"], flow.point_data["pressure"]
assert flow.n_cells > 1000 and np.isfinite(velocity).all() and np.isfinite(pressure).all()
on_sphere = np.abs(np.hypot(rho, z - 1 - gap) - 1) < 1e-9
on_plane = np.abs(z) < 1e-12
assert on_sphere.sum() > 50 and on_plane.sum() > 50
assert np.allclose(velocity[on_plane], 0, atol=1e-12)
assert np.allclose(velocity[on_sphere], velocity[on_sphere][0], atol=1e-9)
assert np.isclose(np.abs(velocity[on_sphere][0]).max(), 1)
assert pressure.argmin() in np.flatnonzero(rho < 0.2), "suction is strongest in the gap"
print("VTK reads the flow")
