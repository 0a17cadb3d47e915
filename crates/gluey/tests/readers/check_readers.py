"""Opens run folders with VTK, PyVista and OVITO and compares what they see with the text of the files.

    check_readers.py RUN...

Any run with frames in both formats will do. The truth is trajectory.xyz and series.csv read here, digit by digit:
17 significant digits stand for one float only, so VTK must agree exactly. OVITO parses text with an error of a bit and
keeps radii in single precision.
"""

import csv
import os
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # OVITO brings Qt, which would look for a display

import numpy as np
import pyvista
from ovito.io import import_file
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader


class Truth:
    """The run as its text files tell it."""

    def __init__(self, run):
        self.manifest = tomllib.loads((run / "manifest.toml").read_text())
        with open(run / "series.csv", newline="") as file:
            self.rows = {int(row["step"]): row for row in csv.DictReader(file)}
        self.frames = list(self.read_frames(run / "trajectory.xyz"))
        assert self.frames, "no frames to check"

    @staticmethod
    def read_frames(path):
        lines = iter(path.read_text().splitlines())
        for count in lines:
            keys = dict(word.split("=", 1) for word in next(lines).split() if "=" in word)
            table = [next(lines).split() for _ in range(int(count))]
            numbers = np.array([row[1:] for row in table], dtype=float).reshape(int(count), 11)
            yield {
                "time": float(keys["Time"]),
                "step": int(keys["Step"]),
                "species": [row[0] for row in table],
                "position": numbers[:, 0:3],
                "velocity": numbers[:, 3:6],
                "radius": numbers[:, 6],
                "mass": numbers[:, 7],
                "group": numbers[:, 8],
                "id": numbers[:, 9],
                "contacts": numbers[:, 10],
            }


def same(seen, expected, what):
    seen, expected = np.asarray(seen), np.asarray(expected)
    assert seen.shape == expected.shape, f"{what}: shape {seen.shape}, expected {expected.shape}"
    assert np.array_equal(seen, expected), f"{what}: {seen} differs from {expected}"


def close(seen, expected, what):
    """The same up to four bits of the type the reader has chosen."""
    seen, expected = np.asarray(seen), np.asarray(expected)
    assert seen.shape == expected.shape, f"{what}: shape {seen.shape}, expected {expected.shape}"
    precision = np.finfo(seen.dtype).eps if seen.dtype.kind == "f" else 0.0
    assert np.allclose(seen, expected, rtol=4 * precision, atol=0), f"{what}: {seen} differs from {expected}"


def check_text(truth):
    dt = truth.manifest["dt"]
    for frame in truth.frames:
        same(frame["time"], frame["step"] * dt, "time of a frame")
        if row := truth.rows.get(frame["step"]):
            same(float(row["time"]), frame["time"], "time in the series")
            kinetic = 0.5 * np.sum(frame["mass"] * np.sum(frame["velocity"] ** 2, axis=1))
            assert np.isclose(float(row["kinetic_energy"]), kinetic, rtol=1e-12, atol=0), "kinetic energy"


def series(run, kind, truth):
    """The datasets of a .pvd file as PyVista reads them, one per frame."""
    reader = pyvista.get_reader(run / f"{kind}.pvd")
    same(reader.time_values, [frame["time"] for frame in truth.frames], f"times of {kind}.pvd")
    for frame, time in zip(truth.frames, reader.time_values):
        reader.set_active_time_value(time)
        yield frame, reader.read()[0]


def check_particles(run, truth):
    for frame, mesh in series(run, "particles", truth):
        same(mesh.points, frame["position"], "position")
        assert mesh.points.dtype == np.float64, mesh.points.dtype
        for name in ("velocity", "radius", "mass", "group", "id", "contacts"):
            same(mesh.point_data[name], frame[name], name)
        same(mesh.n_verts, len(frame["radius"]), "vertices")


def check_contacts(run, truth):
    for frame, mesh in series(run, "contacts", truth):
        count = mesh.n_cells
        row = truth.rows.get(frame["step"])
        if row:
            same(count, int(row["contacts"]), "contacts of the series")
        if count == 0:
            same(frame["contacts"], np.zeros(len(frame["radius"])), "contacts per particle")
            continue
        data = mesh.cell_data
        lines = mesh.lines.reshape(count, 3)
        same(lines[:, 0], np.full(count, 2), "ends of a line")
        i, j = data["i"].astype(int), data["j"]
        between = j >= 0
        same(data["obstacle"] >= 0, ~between, "a partner is a particle or an obstacle")
        same(data["feature"] >= 0, ~between, "features are those of obstacles")
        assert np.all(i[between] < j[between]), "pairs are ordered"
        start, end = mesh.points[lines[:, 1]], mesh.points[lines[:, 2]]
        same(start, frame["position"][i], "start of a contact")
        same(end[between], frame["position"][j[between]], "end of a contact")
        reach = data["gap"] + frame["radius"][i] + np.where(between, frame["radius"][j], 0.0)
        assert np.allclose(end - start, reach[:, None] * data["normal"], atol=1e-12), "gap and normal"
        assert np.allclose(np.linalg.norm(data["normal"], axis=1), 1.0), "normals are unit vectors"
        assert np.all(data["gamma"] <= 0), "gamma"
        assert data["impulse"].shape == (count,), "impulse"
        per_particle = np.bincount(np.concatenate([i, j[between]]), minlength=len(frame["radius"]))
        same(frame["contacts"], per_particle, "contacts per particle")


def check_obstacles(run, truth):
    names = truth.manifest["obstacles"]
    if not names:
        assert not (run / "obstacles.pvd").exists(), "obstacles of a run that has none"
        return
    for _, mesh in series(run, "obstacles", truth):
        owners = mesh.cell_data["obstacle"]
        same(np.unique(owners), np.arange(len(names)), "owners of the cells")
        kind = "lines" if truth.manifest["dimension"] == 2 else "triangles"
        same(mesh.n_lines if kind == "lines" else mesh.GetNumberOfPolys(), mesh.n_cells, kind)
        assert np.all(np.isfinite(mesh.points)), "corners"


def check_vtk(run):
    """Every file alone, with the reader that ParaView uses: no error, and the time inside is that of the list. Only a
    file of obstacles that do not move serves many times and has none inside."""
    for kind in ("particles", "contacts", "obstacles"):
        if not (run / f"{kind}.pvd").exists():
            continue
        for entry in ElementTree.parse(run / f"{kind}.pvd").iter("DataSet"):
            file, time = entry.get("file"), float(entry.get("timestep"))
            errors = []
            reader = vtkXMLPolyDataReader()
            reader.AddObserver("ErrorEvent", lambda *_: errors.append(file))
            reader.AddObserver("WarningEvent", lambda *_: errors.append(file))
            reader.SetFileName(str(run / file))
            reader.Update()
            assert not errors, f"VTK complains about {file}"
            inside = reader.GetOutput().GetFieldData().GetArray("TimeValue")
            assert inside or kind == "obstacles", f"no time in {file}"
            if inside:
                same(inside.GetValue(0), time, f"time in {file}")


def check_ovito(run, truth):
    pipeline = import_file(str(run / "trajectory.xyz"))
    same(pipeline.source.num_frames, len(truth.frames), "frames in OVITO")
    properties = {
        "Position": "position",
        "Velocity": "velocity",
        "Radius": "radius",
        "Mass": "mass",
        "Particle Identifier": "id",
        "group": "group",
        "contacts": "contacts",
    }
    for number, frame in enumerate(truth.frames):
        data = pipeline.compute(number)
        same(data.particles.count, len(frame["radius"]), "particles in OVITO")
        for name, expected in properties.items():
            close(data.particles[name][...], frame[expected], f"{name} in OVITO")
        types = data.particles.particle_types
        species = [types.type_by_id(number).name for number in types[...]]
        assert species == frame["species"], "species in OVITO"
        close(data.attributes["Time"], frame["time"], "time in OVITO")
        same(data.attributes["Step"], frame["step"], "step in OVITO")
        assert data.cell is None or not any(data.cell.pbc), "OVITO takes the box for periodic"


def main(runs):
    for run in map(Path, runs):
        truth = Truth(run)
        check_text(truth)
        check_particles(run, truth)
        check_contacts(run, truth)
        check_obstacles(run, truth)
        check_vtk(run)
        check_ovito(run, truth)
        print(f"{run}: {len(truth.frames)} frames read alike by VTK, PyVista and OVITO")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
