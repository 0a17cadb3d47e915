"""How much more steps cost from Python than in a loop of Rust: CPU time on one thread, in turns, the best and the median of each.

    cargo build --release -p gluey --example steps
    python python/benchmarks/step.py [SCENE [ROUNDS]]
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOOP = ROOT / "target" / "release" / "examples" / "steps"
BEFORE, STEPS = 20, 100


def take_steps(scene: str) -> None:
    import gluey

    sim = gluey.Simulation.from_scene(scene)
    sim.step(BEFORE)
    start = time.process_time()
    sim.step(STEPS)
    print(time.process_time() - start)


def seconds(*command: object) -> float:
    alone = os.environ | {"RAYON_NUM_THREADS": "1"}
    return float(subprocess.run([str(word) for word in command], env=alone, check=True, capture_output=True).stdout)


def main() -> None:
    if sys.argv[1:2] == ["--steps"]:
        take_steps(sys.argv[2])
        return
    scene = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "scenes" / "funnel.toml"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    rust, python = [], []
    for _ in range(rounds):
        rust.append(seconds(LOOP, scene, BEFORE, STEPS))
        python.append(seconds(sys.executable, __file__, "--steps", scene))
        print(f"Rust {rust[-1]:.3f} s, Python {python[-1]:.3f} s", flush=True)
    for name, of in (("best", min), ("median", statistics.median)):
        print(f"{name} of {rounds}: Rust {of(rust):.3f} s, Python {of(python):.3f} s, ratio {of(python) / of(rust):.4f}")


if __name__ == "__main__":
    main()
