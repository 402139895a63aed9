"""Friction iterations on every task with contacts: what they cost, how often a step is solved again, and
what is left of the error of friction.

    python bench/bench_friction.py [TASK...] [--seconds T] [--csv FILE]

Two motions: `noise`, actions uniform in their whole range, held for a control step, as a policy explores;
`gentle`, slow waves of a fifth of the range. `cost` is the CPU time of an environment step against one
solve, engines in turn in short blocks on one thread, median of the blocks; `again` is the share of
physics steps whose bounds of friction moved, or that were solved again. The error is that of the velocity after one
float32 step against the fixed point in float64, in the norm of the mass matrix, as a share of what the step changes,
‖v − v*‖_M/(‖v* − v0‖_M + √m g δt): its root mean square, its 99th percentile, and the share of states beyond 5 %.
Writes bench/results/friction.csv.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np

import stiction

SOLVES = (1, "auto", 3)
ENVS, BLOCK, STATES = 64, 4, 128
RESULTS = Path(__file__).parent / "results/friction.csv"


def contact_tasks():
    return [t.id for t in stiction.Env.tasks() if stiction.Env(t.id, 1).batch.model.npair > 0]


def action(env, motion, k, rng):
    low, high = np.maximum(env.action_low, -1), np.minimum(env.action_high, 1)
    shape = (env.num_envs, env.num_actions)
    if motion == "noise":
        return rng.uniform(low, high, shape).astype(np.float32)
    phase = np.arange(shape[0])[:, None] + 2.4 * np.arange(shape[1])
    return (0.5 * (low + high) + 0.1 * (high - low) * np.sin(phase + 4 * k * env.dt)).astype(np.float32)


def make(task, solves, n, **more):
    return stiction.Env(task, n, threads=1, seed=7, options=stiction.Options(friction_iterations=solves), **more)


def costs(task, motion, seconds):
    """{solves: (cost against one solve, share of steps solved again, iterations)}"""
    envs = {s: make(task, s, ENVS) for s in SOLVES}
    rngs = {s: np.random.default_rng(1) for s in SOLVES}
    count = dict.fromkeys(SOLVES, 0)

    def block(s):
        env, spent = envs[s], 0.0
        for _ in range(BLOCK):
            a = action(env, motion, count[s], rngs[s])
            begin = time.thread_time()
            env.step(a)
            spent += time.thread_time() - begin
            count[s] += 1
        return spent

    for s in SOLVES:  # out of the first fall
        for _ in range(5):
            block(s)
        envs[s].batch.clear_counts()
    spent, begin = {s: [] for s in SOLVES}, time.perf_counter()
    while time.perf_counter() - begin < seconds or len(spent[1]) < 10:
        for s in SOLVES:
            spent[s].append(block(s))
    out = {}
    for s in SOLVES:
        c = envs[s].batch.counts
        cost = np.median(np.array(spent[s]) / np.array(spent[1]))
        out[s] = cost, c.solved_again / c.env_steps, c.iterations / c.env_steps
    return out


def errors(task, motion):
    """{solves: (rms, p99, share above 5 %)}, from states between two control steps of the motion at the fixed point."""
    batches = {s: make(task, s, STATES).batch for s in SOLVES}
    exact = make(task, "fixed_point", STATES, precision="float64").batch
    env, rng = make(task, "fixed_point", STATES, precision="float64"), np.random.default_rng(2)
    found = {s: [] for s in SOLVES}
    fall = np.sqrt(exact.model.body_mass.sum()) * 9.81 * exact.options.timestep
    for k in range(40):
        env.step(action(env, motion, k, rng))
        if k < 20 or k % 2:
            continue
        state = env.batch.get_state()
        v0, mass = np.array(state["qvel"]), np.array(env.batch.M)
        after = {}
        for s, batch in (*batches.items(), ("exact", exact)):
            batch.set_state(**state)
            batch.ctrl[:] = env.batch.ctrl
            batch.step()
            after[s] = np.array(batch.qvel, float)
        size = norms(mass, after["exact"] - v0) + fall
        for s in SOLVES:
            found[s].append(norms(mass, after[s] - after["exact"]) / size)
    errors = {s: np.concatenate(x) for s, x in found.items()}
    return {s: (np.sqrt(np.mean(e**2)), np.quantile(e, 0.99), np.mean(e > 0.05)) for s, e in errors.items()}


def norms(mass, v):
    return np.sqrt(np.einsum("ni,nij,nj->n", v, mass, v))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each task and motion, at least")
    parser.add_argument("--csv", type=Path, default=RESULTS)
    args = parser.parse_args()
    rows = []
    for task in args.tasks or contact_tasks():
        for motion in ("noise", "gentle"):
            cost, error = costs(task, motion, args.seconds), errors(task, motion)
            for s in SOLVES:
                rows.append((task, motion, s, *(f"{x:.3f}" for x in cost[s]), *(f"{x:.4f}" for x in error[s])))
                print("{:<16} {:<7} {:<5} cost {} again {} iterations {} error {} p99 {} above 5 % {}".format(*rows[-1]), flush=True)
    with args.csv.open("w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(("task", "motion", "friction_iterations", "cost", "again", "iterations", "error", "error_p99", "above_5_percent"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
