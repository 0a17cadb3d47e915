"""What the checks of runs share."""

import csv
import os
import subprocess
import sys
from pathlib import Path

GLUEY = Path(__file__).resolve().parent.parent / "target/release/gluey"


def run(folder, *arguments):
    """The peak of resident memory of a run (bytes) and its user CPU time (seconds)."""
    process = subprocess.Popen([GLUEY, "run", "--quiet", "--out", folder, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"gluey run ended with status {status}")
    return 1024 * usage.ru_maxrss, usage.ru_utime


def worst_overlap(folder):
    """Over all rows of the series (length)."""
    with open(Path(folder) / "series.csv") as file:
        return max(0.0, -min(float(row["least_gap"]) for row in csv.DictReader(file)))


def conclude(holds):
    print("holds" if holds else "does not hold")
    sys.exit(0 if holds else 1)
