"""Every key of scene files can be set from Python: the schema, which the library makes, is held against the classes."""

import inspect
import json
import tomllib
from dataclasses import fields

import gluey
import pytest
from gluey import Scene

SCHEMA = json.loads(gluey.schema())

#: What builds an entry of a table. Other tables are given whole, to `Scene.table` or `Scene.add`.
BUILDERS = {
    "time": [Scene.__init__],
    "contact": [Scene.contact],
    "environment": [Scene.environment],
    "force": [Scene.force],
    "group": [Scene.group],
    "obstacle": [Scene.obstacle],
    "assembly": [Scene.assembly],
    "solver": [Scene.solver],
    "output": [Scene.output],
}
#: What builds particles from each source. Columns have names in the plural.
SOURCES = {"list": Scene.particles, "csv": Scene.csv, "lattice": Scene.lattice, "fill": Scene.fill}
COLUMNS = {"positions": "position", "radii": "radius", "masses": "mass", "velocities": "velocity"}
CHOICES = {"LawFile": gluey.Law, "ShapeFile": gluey.Shape, "MotionFile": gluey.Motion}


def resolved(schema):
    """What a schema refers to; of several, the one that is not null; of a list, its entries."""
    for part in schema.get("anyOf", []):
        if part.get("type") != "null":
            schema = part
    if schema.get("type") == "array" or schema.get("type") == ["array", "null"]:
        schema = schema["items"]
    return resolved(SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]) if "$ref" in schema else schema


def keys(schema):
    return set(resolved(schema).get("properties", {}))


def choices(schema):
    """The kinds of a choice, and the keys of each; a kind without keys may stand alone as text."""
    found = {}
    for kind in resolved(schema)["oneOf"]:
        for name in [kind["const"]] if "const" in kind else kind.get("enum", []):
            found.setdefault(name, set())
        for name, content in kind.get("properties", {}).items():
            found[name] = keys(content)
    return found


def settable(builder):
    """The keys that a method takes; None where it takes any."""
    parameters = inspect.signature(builder).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {COLUMNS.get(parameter.name, parameter.name) for parameter in parameters}


@pytest.mark.parametrize("table", BUILDERS)
def test_methods_take_every_key_of_their_tables(table):
    wanted = keys(SCHEMA["properties"][table])
    assert wanted, "the table has keys"
    for builder in BUILDERS[table]:
        given = settable(builder)
        assert given is None or wanted <= given, f"{builder.__qualname__} lacks {sorted(wanted - given)}"


def test_every_source_of_particles_has_its_method():
    particles = resolved(SCHEMA["properties"]["particles"])
    sources = choices(particles["properties"]["source"])
    assert set(sources) == set(SOURCES)
    sources["list"] = keys(SCHEMA["$defs"]["ParticleFile"])
    for name, wanted in sources.items():
        wanted = wanted | set(particles["properties"]) - {"source"}
        lacking = wanted - settable(SOURCES[name])
        assert not lacking, f"{SOURCES[name].__qualname__} lacks {sorted(lacking)}"


@pytest.mark.parametrize("choice", CHOICES)
def test_every_kind_of_a_choice_is_a_class_with_its_keys(choice):
    wanted = choices(SCHEMA["$defs"][choice])
    classes = {one._key: {field.name.rstrip("_") for field in fields(one)} for one in CHOICES[choice].__subclasses__()}
    assert classes == wanted


def test_the_rest_is_set_by_tables_and_entries():
    scene = Scene(dt=0.1, until=1)
    whole = settable(Scene.__init__)
    rest = [name for name in SCHEMA["properties"] if name not in BUILDERS and name not in whole and name != "particles"]
    assert {"inlet", "outlet", "pair-force", "picture", "clump", "measure", "periodic"} <= set(rest)
    for name in rest:
        table = {key: 1.5 for key in keys(SCHEMA["properties"][name])}
        assert table, name
        several = SCHEMA["properties"][name].get("type") == "array"
        scene.add(name, table) if several else scene.table(name, table)
        written = tomllib.loads(scene.toml())[name]
        assert written == ([table] if several else table)


def test_rough_surfaces_and_speeds_of_groups_get_into_scenes():
    rough = gluey.Gluey(roughness={"viscosity": 0.1, "length_unit": 1.0})
    scene = Scene(dt=0.01, until=0.02).contact(rough).group("sand", roughness=1e-3)
    scene.lattice([0, 0, 0], [1, 1, 1], 0.5, 0.2, mass=1, group="sand", count=3)
    assert len(gluey.Simulation.from_scene(scene)) == 3
    law = tomllib.loads(scene.toml())["contact"]["law"]["gluey"]
    assert law == {"roughness": {"viscosity": 0.1, "length_unit": 1.0}}
    with pytest.raises(ValueError, match="roughness"):
        both = gluey.Gluey(gamma_min=-1, roughness=rough.roughness)
        gluey.Simulation.from_scene(Scene(dt=0.01, until=0.02).contact(both).particles([0, 0, 0], 1, masses=1))
    assert tomllib.loads(Scene(dt=1, until=1).group("run", speed=2).toml())["group"] == [{"name": "run", "speed": 2}]


def test_particles_come_from_tables(tmp_path):
    (tmp_path / "grains.csv").write_text("x,y,z,r\n0,0,1,0.1\n1,0,1,0.2\n")
    scene = Scene(dt=0.01, until=0.02, folder=tmp_path).csv("grains.csv", density=2, velocity=[0, 0, 1])
    sim = gluey.Simulation.from_scene(scene)
    assert list(sim.radii) == [0.1, 0.2]
    assert list(sim.velocities[:, 2]) == [1, 1]
