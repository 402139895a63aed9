"""One step of a float32 batch against the reference, from states that robots get into.

Error: ||v - v_ref||_A / (||v_ref||_A + sqrt(mass) g dt), the reference solved to 1e-10 in double. What is
above 1e-4 is told apart: the solver stalled at round-off; the state is at an edge, where rounding it
changes the reference's answer as much; the stopping rule (1e-4 of the momentum) left it, and solving
on takes it away; or unexplained. Writes bench/results/accuracy.csv.

    python bench/bench_accuracy.py [--states 10000] [--seconds 25]
"""

import argparse
import importlib.util
import sys
import time
from pathlib import Path

import numpy as np

from tables import write

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
from one_step import compare, on_floor, visited_states  # noqa: E402

GATE = 1e-4
CHUNK = 250


def models():
    """(name, file) of the robots of stiction.assets and of the Gymnasium assets, if installed."""
    found = [(f"models/{p.stem}", p) for p in sorted((ROOT / "python/stiction/assets/robots").glob("*.xml"))]
    spec = importlib.util.find_spec("gymnasium")
    if spec is not None:
        assets = Path(spec.submodule_search_locations[0]) / "envs/mujoco/assets"
        found += [(f"gymnasium/{p.stem}", p) for p in sorted(assets.glob("*.xml"))]
    return found


def measure(model, states, seconds, law, noise):
    """Errors of as many states as fit into so many seconds, as one row."""
    start = time.monotonic()
    qpos, qvel, ctrl = visited_states(model, states, np.random.default_rng(5), num_envs=64,
                                      hold=5 if noise else 10, precision="float32", noise=noise)
    order = np.random.default_rng(6).permutation(states)  # a chunk is a sample of all of them
    parts = []
    for i in range(0, states, CHUNK):
        if parts and time.monotonic() - start > seconds:
            break
        k = order[i:i + CHUNK]
        parts.append(compare(model, qpos[k], qvel[k], ctrl[k], GATE, contact_model=law))

    def all_of(name):
        return np.concatenate([getattr(p, name) for p in parts])

    error, stalled, edge, stopped = map(all_of, ("error", "stalled", "edge", "stopped"))
    above = error > GATE
    kinds = {"stalled": above & stalled, "edge": above & edge & ~stalled,
             "stopped": above & stopped & ~edge & ~stalled}
    row = {"controls": "noise" if noise else "all ranges", "law": law, "states": len(error), "contacts": f"{all_of('contacts').mean():.2f}",
           "iterations": f"{all_of('iterations').mean():.2f}",
           "median": f"{np.median(error):.1e}", "p99.9": f"{np.quantile(error, 0.999):.1e}",
           "max": f"{error.max():.1e}", "above": f"{above.mean():.4f}"}
    row |= {name: f"{k.mean():.4f}" for name, k in kinds.items()}
    row["unexplained"] = int((above & ~stalled & ~edge & ~stopped).sum())
    row["wrong"] = f"{(error > 0.01).mean():.5f}"  # by more than 1 %
    row["inaccurate"] = f"{all_of('inaccurate').mean():.5f}"
    row["all_stalled"] = f"{stalled.mean():.4f}"  # most of them below the gate
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--states", type=int, default=10000)
    p.add_argument("--seconds", type=float, default=25, help="per model")
    p.add_argument("--law", default="lagged", choices=("lagged", "similar", "sap"))
    p.add_argument("--noise", action="store_true",
                   help="white noise over the full control range, five steps each, instead of all ranges")
    p.add_argument("--only", default="", help="models whose name contains this")
    a = p.parse_args()
    rows = []
    for name, path in models():
        if a.only not in name:
            continue
        rows.append({"model": name, **measure(on_floor(path), a.states, a.seconds, a.law, a.noise)})
        print(" ".join(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
    if a.only:
        return
    write(rows, "accuracy_noise" if a.noise else "accuracy")


if __name__ == "__main__":
    main()
