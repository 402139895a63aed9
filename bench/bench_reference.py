"""Speed of the reference engine on one thread: steps per second under random controls.

Prints a table and writes bench/results/<processor>/reference.csv. `hash` is of the final state:
a change of speed that also changes the results shows.
"""

import argparse
import hashlib
import importlib.util
import time
from pathlib import Path

import numpy as np
import stiction

from tables import processor, table, write

ROOT = Path(__file__).parents[1]


def models() -> dict[str, Path]:
    """Our own models, and two of Gymnasium's where it is installed."""
    found = {"crate": ROOT / "examples/crate.xml",
             "quadruped": Path(stiction.__file__).parent / "assets/quadruped.xml"}
    if spec := importlib.util.find_spec("gymnasium"):
        assets = Path(spec.origin).parent / "envs/mujoco/assets"
        found |= {name: assets / f"{name}.xml" for name in ("ant", "humanoid")}
    return {name: path for name, path in found.items() if path.exists()}


def measure(path: Path, steps: int) -> dict:
    model = stiction.Model.from_file(str(path))
    engine = stiction.Reference(model)
    # Controls in a tenth of the range, held for 20 steps: a robot that moves and stays up a while.
    random = np.random.default_rng(0)
    limit = np.where(np.asarray(model.actuator_ctrllimited) > 0,
                     np.asarray(model.actuator_ctrlrange).reshape(-1, 2)[:, 1], 1.0)
    ctrl = 0.1 * limit * np.repeat(random.uniform(-1, 1, (steps // 20 + 1, model.nu)), 20, axis=0)
    start = time.perf_counter()
    run = engine.rollout(model.qpos0, np.zeros(model.nv), ctrl[:steps], nstep=steps)
    seconds = time.perf_counter() - start
    final = np.concatenate([run.qpos[-1], run.qvel[-1]])
    return {"nv": model.nv, "slots": model.nslot, "steps": steps,
            "steps_per_second": round(steps / seconds),
            "contacts_mean": round(float(np.mean(run.ncontact)), 2),
            "iterations_mean": round(float(np.mean(run.iterations)), 2),
            "iterations_max": int(np.max(run.iterations)),
            "hash": hashlib.sha256(final.tobytes()).hexdigest()[:8]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    arguments = parser.parse_args()

    rows = [{"model": name} | measure(path, arguments.steps) for name, path in models().items()]
    print(table(rows))
    write(rows, "reference", processor())


if __name__ == "__main__":
    main()
