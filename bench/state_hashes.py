"""Hashes of the states that all scenes reach, for changes that must move no bit.

    python bench/state_hashes.py --write before.csv     before the change
    python bench/state_hashes.py --against before.csv   after it: lists what differs, and exits 1 then

Bits belong to an instruction set (docs/architecture.md): both runs must be of the same one, which is a column of the file.
"""

import argparse
import csv
import hashlib
import sys
from pathlib import Path

import numpy as np
import stiction

from scenes import LAWS, MORE, MOTIONS, SPREADS, controls, options, run, scenes, started

NUM_ENVS = 20  # more than a pack of 16, and no multiple of one
COLUMNS = ("scene", "engine", "motion", "law", "steps", "hash")
SLOW = {"clutter33": 8, "clutter40": 8, "rope66": 20}  # steps of a batch; others: STEPS
STEPS = 80


def batch_hash(scene, motion: str, law: str, precision: str) -> dict:
    model = scene.load()
    steps = SLOW.get(scene.name, STEPS)
    batch = started(model, NUM_ENVS, options=options(scene, law), precision=precision)
    run(batch, controls(scene, model, NUM_ENVS, steps, motion=motion))
    digest = hashlib.sha256(int(batch.state_hash()).to_bytes(8, "little"))
    for name in ("sensordata", "xpos", "solver_niter"):
        digest.update(np.ascontiguousarray(getattr(batch, name)).tobytes())
    return {"engine": f"{precision} {batch.isa}", "steps": steps, "hash": digest.hexdigest()[:16]}


def reference_hash(scene, motion: str, law: str) -> dict:
    model = scene.load()
    steps = 8 if model.nv > 40 else 20
    ctrl = np.repeat(controls(scene, model, 1, 4 * steps, motion=motion)[:, 0], 4, axis=0)[:steps]
    found = stiction.Reference(model, options(scene, law)).rollout(model.qpos0, np.zeros(model.nv), ctrl, nstep=steps)
    digest = hashlib.sha256(np.concatenate([found.qpos[-1], found.qvel[-1]]).tobytes())
    return {"engine": "reference", "steps": steps, "hash": digest.hexdigest()[:16]}


def rows(names):
    for scene in scenes(names):
        for motion in MOTIONS:
            for law in LAWS:
                head = {"scene": scene.name, "motion": motion, "law": law}
                for precision in ("float32", "float64"):
                    yield head | batch_hash(scene, motion, law, precision)
                if scene.name not in SLOW:
                    yield head | reference_hash(scene, motion, law)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="CSV")
    parser.add_argument("--against", type=Path, metavar="CSV")
    parser.add_argument("--models", help="names of scenes, with commas between them; default: all")
    arguments = parser.parse_args()
    names = arguments.models.split(",") if arguments.models else list(SPREADS | MORE)
    found = list(rows(names))
    if arguments.write:
        with arguments.write.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
    key = lambda row: tuple(str(row[c]) for c in COLUMNS[:-1])  # noqa: E731
    if arguments.against:
        known = {key(row): row["hash"] for row in csv.DictReader(arguments.against.open())}
        missing = [row for row in found if key(row) not in known]
        moved = [row for row in found if known.get(key(row), row["hash"]) != row["hash"]]
        for what, some in (("not in the file", missing), ("moved", moved)):
            for row in some:
                print(f"{what}: {' '.join(key(row))}")
        print(f"{len(found)} hashes, {len(moved)} moved, {len(missing)} not in {arguments.against}")
        sys.exit(bool(moved or missing))
    if not arguments.write:
        for row in found:
            print(" ".join(str(row[c]) for c in COLUMNS))


if __name__ == "__main__":
    main()
