"""What the package says of itself: stubs, exports, the notebook."""

import ast
import runpy
from pathlib import Path

import gluey
import nbformat
from gluey import _gluey

ROOT = Path(__file__).resolve().parents[2]


def test_the_stub_names_what_there_is():
    tree = ast.parse((ROOT / "python" / "gluey" / "_gluey.pyi").read_text(encoding="utf-8"))
    told = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assigned = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    names = ast.literal_eval(assigned["__all__"])
    assert set(told) == set(names) == set(_gluey.__all__)
    for name, node in told.items():
        if isinstance(node, ast.ClassDef):
            methods = {entry.name for entry in node.body if isinstance(entry, ast.FunctionDef)}
            there = {each for each in vars(getattr(_gluey, name)) if not each.startswith("__")}
            assert {each for each in methods if not each.startswith("__")} == there, name
            assert ("__new__" in methods) == ("__new__" in vars(getattr(_gluey, name))), name


def test_laws_shapes_and_motions_have_their_kind():
    assert issubclass(gluey.Gluey, gluey.Law)
    assert issubclass(gluey.Box, gluey.Shape)
    assert issubclass(gluey.Rotation, gluey.Motion)
    assert sorted(gluey.__all__) == gluey.__all__


def test_the_notebook_is_what_its_maker_writes():
    made = runpy.run_path(str(ROOT / "python" / "notebooks" / "make.py"))["written"]()
    there = nbformat.read(ROOT / "python" / "notebooks" / "first-steps.ipynb", as_version=4)
    assert [(cell.cell_type, cell.source) for cell in there.cells] == [(c.cell_type, c.source) for c in made.cells]
    assert all(cell.outputs is not None and cell.execution_count for cell in there.cells if cell.cell_type == "code")
