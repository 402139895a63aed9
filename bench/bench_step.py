"""Speed of Batch: models x motions x environments x threads x precision.

`motion` smooth: slow random controls about those of the start. noise: white noise in the whole control
range, new at each control step, as a policy explores. `law`: stiction and limits of the robot's task, or those of
Options(). Prints a table and writes bench/results/<processor>/step.csv. `hash` is of the final state: a change
of speed that also changes the results shows.
"""

import argparse
import time

import numpy as np

from scenes import HOLD, LAWS, MOTIONS, controls, options, run, scenes, started
from tables import processor, table, write


def quantile(histogram, share: float) -> int:
    total = np.cumsum(histogram)
    return int(np.searchsorted(total, share * total[-1]))


def measure(scene, law, motion, num_envs, threads, precision, warm_up, steps, rounds) -> dict:
    model = scene.load()
    batch = started(model, num_envs, threads=threads, precision=precision, options=options(scene, law))
    sequence = controls(scene, model, num_envs, warm_up + steps * rounds, motion=motion)
    run(batch, sequence[: warm_up // HOLD])
    batch.clear_counts()
    seconds, touching, residual = [], [], 0.0
    for r in range(rounds):
        part = sequence[(warm_up + r * steps) // HOLD : (warm_up + (r + 1) * steps) // HOLD]
        begin = time.perf_counter()
        run(batch, part)
        seconds.append((time.perf_counter() - begin) / (len(part) * HOLD))
        touching.append(np.any(batch.xfrc_contact != 0, axis=2)[:, 1:].sum(axis=1).mean())
        residual = max(residual, float(batch.solver_residual.max()))
    c, n = batch.counts, max(batch.counts.env_steps, 1)
    histogram = np.asarray(c.iteration_histogram)
    return {
        "model": scene.name, "law": law, "motion": motion, "nv": model.nv, "envs": num_envs, "threads": batch.threads,
        "precision": precision, "isa": batch.isa, "lanes": batch.lanes,
        "steps_per_s": round(num_envs / np.median(seconds)),
        "points": f"{c.contacts / n:.2f}", "touching_bodies": f"{np.mean(touching):.2f}",
        "iter_mean": f"{c.iterations / n:.2f}", "iter_p95": quantile(histogram, 0.95),
        "iter_max": int(np.flatnonzero(histogram)[-1]),
        "pack_max_mean": f"{c.pack_max_iterations / max(c.pack_steps, 1):.2f}",
        "linesearch": f"{c.linesearch_evaluations / n:.2f}",
        "capped": f"{c.not_converged / n:.1e}", "stalled": f"{c.stalled / n:.1e}",
        "inaccurate": f"{c.inaccurate / n:.1e}",
        "late": f"{c.late_contact / n:.1e}", "frozen": int(batch.status_count),
        "residual": f"{residual:.1e}", "bytes_per_env": batch.memory.per_env,
        "hash": f"{batch.state_hash():016x}"[:8], "cpu": processor(),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--law", choices=LAWS, default="task")
    parser.add_argument("--motion", nargs="+", choices=MOTIONS, default=MOTIONS)
    parser.add_argument("--envs", nargs="+", type=int, default=[64, 1024, 4096])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--precision", nargs="+", default=["float32", "float64"])
    parser.add_argument("--warm-up", type=int, default=500, help="steps; the robots have landed")
    parser.add_argument("--steps", type=int, default=100, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="1024 environments, float32, 3 rounds")
    a = parser.parse_args()
    if a.short:
        a.envs, a.precision, a.steps, a.rounds = [1024], ["float32"], 40, 3
    rows = [measure(s, a.law, m, n, t, p, a.warm_up, a.steps, a.rounds)
            for s in scenes(a.models) for m in a.motion for n in a.envs for t in a.threads
            for p in a.precision]  # fmt: skip
    print(table(rows))
    write(rows, "step", processor())


if __name__ == "__main__":
    main()
