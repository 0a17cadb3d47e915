"""What tests share: the repository's scenes and the command, built beside the package."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def scenes() -> Path:
    return ROOT / "scenes"


@pytest.fixture(scope="session")
def command() -> str:
    """The command `gluey`, to compare with."""
    found = os.environ.get("GLUEY_COMMAND") or shutil.which("gluey", path=ROOT / "target" / "release")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("the command is needed here: cargo build --release -p gluey-cli")
        pytest.skip("needs the command: cargo build --release -p gluey-cli")
    return found
