"""The JSON schema of scenes accepts every scene named, and rejects scenes with mistakes.

    gluey schema > schema.json && python check_schema.py schema.json scenes/*.toml
"""

import json
import sys
import tomllib

import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    scene = tomllib.load(open(path, "rb"))
    problems = [f"{path}: {error.json_path}: {error.message}" for error in validator.iter_errors(scene)]
    assert not problems, "\n".join(problems)

good = {"time": {"dt": 0.1, "until": 1.0}}
assert validator.is_valid(good)
assert validator.is_valid({**good, "picture": {"size": [640, 480], "colour": "speed", "camera": [1, -1, 0.5]}})
mistakes = [
    {"tme": {}},
    {"dimension": 4},
    {"time": {"dt": -1, "until": 1}},
    {"time": {"dt": "small", "until": 1}},
    {"contact": {"law": "sticky"}},
    {"contact": {"law": {"gluey": {"gama_min": -1}}}},
    {"obstacle": [{"shape": {"sphere": {"centre": [0, 0, 0], "radius": 0, "side": "inside"}}}]},
    {"particles": [{"source": {"fill": {}}}]},
    {"picture": {"zom": 2}},
    {"picture": {"colour": "sped"}},
    {"picture": {"size": [1280]}},
]
for mistake in mistakes:
    assert not validator.is_valid({**good, **mistake}), f"accepted: {mistake}"
print(f"the schema accepts {len(sys.argv) - 2} scenes and rejects {len(mistakes)} mistakes")
