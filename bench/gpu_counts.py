"""What a step executes on a GPU, counted on the PTX of its kernels, which tests/cuda/ptx executes without a card.

    python bench/gpu_counts.py [--models ant go2 | --shapes] [--envs 64] [--settle 300] [--steps 4] [--lines [0.01]]

The environments move for `--settle` steps on the CPU under smooth controls and the laws of their tasks
(scenes.py), then their next steps are counted. The group of lanes is what the rule gives a step and refresh; each kernel
of a step is launched alone, and then all steps at once, which is what the step has. Written:
bench/results/ptx/counts.csv (counts_shapes.csv of `--shapes`: scenes with boxes, cylinders, meshes, a height field), a row
per kernel and one of the step without refresh, all per environment and step. The CPU uses its baseline instructions, so
that the states do not depend on the machine's.

Ceilings are those of an H100 SXM if nothing waited and only one thing took time: instructions (4 per
multiprocessor and cycle), the first cache (128 bytes, or a wave of shared memory, per cycle), the second
cache (5.5 TB/s, as measured by others) and memory (3.35 TB/s). Of the caches tests/cuda/ptx/counts.cpp
says how they are modelled. An instruction is one of PTX: ptxas removes some and adds others; a
branch has the lanes that take it. Nothing here is a measurement of time.

Microseconds are predicted for 8192 environments on an H100, by a replay of what the warps executed on one
multiprocessor (tests/cuda/ptx/multiprocessor.h; cuda/README.md says how far that is from what a card took). A kernel
lasts as long as its slowest warp, so `solve` is that of a step with an environment that needs as many iterations as
the most of 8192: of those after the first third, the step that has it is repeated. Of scenes.HOLD steps at once one is
such a step.

Environments that share a warp in `solve` need different numbers of Newton iterations. In which share of the slowest
one's an environment has ended, so that its lanes join the others (cuda/solve_warp.cuh), is counted from the iterations of
each, side by side as the kernel puts them, by the iterations of the step before, and as they are numbered.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["STICTION_ISA"] = "baseline"  # read when stiction is imported
import numpy as np  # noqa: E402
import scenes  # noqa: E402
from floor import GPUS, gpu_floor  # noqa: E402
from gpu_lines import table_of_lines  # noqa: E402

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/cuda"))
from check_kernels import kernel_of  # noqa: E402

PROGRAM = ROOT / "build/release/tests/ptx_counts"
PROGRAM_OF_LINES = ROOT / "build/lines/tests/ptx_counts"
RESULTS = ROOT / "bench/results/ptx"
SHAPES = ("panda_box", "leap_cube", "clutter10", "drums8", "g1_mesh_feet", "go2_rough")
STEP = ("dynamics", "collide", "solve", "move")  # and refresh after the last one
GROUPS = {1: "thread", 32: "warp", 128: "block"}  # by the threads of an environment; else a tile of so many
NEAR_PAIRS = 8  # that survive the cull, as floor.py assumes
L2 = 5.5e12  # bytes per second
OPTIONS = ("contact_model", "stiction", "stiction_tolerance", "regularization", "near_rigid", "friction_iterations")
COUNTED = ("warp_instructions", "lane_instructions", "divergent", "global_requests", "global_sectors", "local_requests",
           "local_sectors", "shared_requests", "shared_waves", "l2_sectors", "hbm_sectors")  # fmt: skip
ALL = 8192  # environments of the predicted times
# What warps do with their cycles (Spent in tests/cuda/ptx/multiprocessor.h), as tables have it.
SPENT = {"issued": "issue", "arithmetic": "arithmetic", "special": "roots, conversions", "shuffle": "shuffles",
         "shared": "shared memory", "first_cache": "first cache", "second_cache": "second cache", "memory": "memory",
         "unit": "a unit is taken", "slot": "another warp issues", "branch": "branches", "fetch": "first instructions",
         "barrier": "barriers"}  # fmt: skip


def moved(scene, model, options, envs, settle, save_at=None, file=None):
    """The batch after so many steps, and the iterations of each: (settle, envs); saves it before step `save_at`."""
    batch, iterations = scenes.started(model, envs, options=options), []
    for ctrl in scenes.controls(scene, model, envs, settle):
        batch.ctrl[:] = ctrl
        for _ in range(scenes.HOLD):
            if len(iterations) == save_at:
                batch.save(str(file))
            batch.step()
            iterations.append(np.array(batch.solver_niter).reshape(envs))
    return batch, np.array(iterations)


def heavy_step(iterations):
    """A step with an environment that needs as many iterations as the most of ALL; it is not the first with its controls."""
    begin = len(iterations) // 3
    steps = np.array([k for k in range(begin, len(iterations)) if k % scenes.HOLD])
    found = iterations[steps]
    rank = int(0.75 * found.size / ALL)
    return steps[np.argsort(-found, axis=None, kind="stable")[rank] // found.shape[1]]


def count(scene, envs, settle, steps, lines=0):
    """Of one scene: what ptx_counts prints, with the model; the slowest times of kernels in a heavy step.
    lines: prints source lines with that share of a kernel."""
    model, options = scene.load(), scenes.options(scene)
    batch, iterations = moved(scene, model, options, envs, settle)
    with tempfile.TemporaryDirectory() as folder:
        file, state, heavy = Path(folder) / "model.xml", Path(folder) / "state", Path(folder) / "heavy"
        file.write_text(scene.xml())
        batch.save(str(state))
        moved(scene, model, options, envs, settle, heavy_step(iterations), heavy)
        chosen = json.dumps({name: getattr(options, name) for name in OPTIONS})

        def run(program, state, steps, *more):
            arguments = [program, file, state, str(envs), chosen, str(steps), *more]
            done = subprocess.run(arguments, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(done.stderr)
            return json.loads(done.stdout)

        if lines:
            (kernels := Path(folder) / "kernels").mkdir()
            found = run(PROGRAM_OF_LINES, state, steps, kernels)
            table_of_lines(kernels, envs * steps, lines)
        else:
            found = run(PROGRAM, state, steps)
        found["heavy"] = run(PROGRAM_OF_LINES if lines else PROGRAM, heavy, 1)["times"]
    return found, model


def rows_of(scene, found, model):
    """A row per kernel and the step's, per environment and step."""
    per = found["envs"] * found["steps"]
    rows = {}
    for symbol, counts in found["kernels"].items():
        if (kernel := symbol if symbol in (*STEP, "step") else (kernel_of(symbol) or "").split(" ")[0]) == "":
            continue
        threads = found["threads"]["solve" if kernel == "step" else kernel]
        rows[kernel] = {"model": scene.name, "kernel": kernel, "group": GROUPS.get(threads, str(threads))} | {
            k: counts[k] / per for k in COUNTED}  # fmt: skip
        rows[kernel] |= time_of(kernel, found["times"][symbol], found["heavy"][symbol], found["steps"])
        # of a warp, one after the other
        rows[kernel]["chain"] = rows[kernel]["warp_instructions"] * 32 / threads
    if "step" not in rows:
        step = {k: sum(rows[name][k] for name in STEP if name in rows) for k in (*COUNTED, "us", "us_typical", "chain")}
        rows["step"] = {"model": scene.name, "kernel": "step", "group": rows["solve"]["group"]} | step
    for row in rows.values():
        row["lanes"] = row["lane_instructions"] / max(row["warp_instructions"], 1e-9)
        row["points"], row["iterations"] = found["points"], found["iterations"]
        row |= ceilings(row)
    return rows


def time_of(kernel, typical, heavy, steps):
    """Predicted microseconds of a step, and percents of the cycles of all warps and of the one that leaves last. One step
    of scenes.HOLD is heavy."""
    slow = heavy if kernel == "solve" and heavy["us_most"] > typical["us"] else typical
    us = typical["us"]
    if kernel == "step":
        us /= steps
        row = {"us": us + max(0, heavy["us_most"] - us) / scenes.HOLD, "us_typical": us}
    else:
        row = {"us": slow["us_most"] if slow is heavy else us, "us_typical": us}
    row |= {
           "issue_slots": 100 * typical["issue_share"], "code_kB": typical["code_bytes"] / 1024}  # fmt: skip
    for name, of, spent in (("warps", typical, "spent"), ("last", slow, "last")):
        cycles = sum(of[spent].values())
        row |= {f"{name}_{what}": 100 * n / cycles for what, n in of[spent].items()}
    return row


def ceilings(row, gpu=GPUS["h100"]):
    """Steps per second if each of these alone took time."""
    cycles = gpu.multiprocessors * gpu.ghz * 1e9
    first = (row["global_sectors"] + row["local_sectors"]) / 4 + row["shared_waves"]
    seconds = {"issue": row["warp_instructions"] / (4 * cycles), "first_cache": first / cycles,
               "second_cache": 32 * row["l2_sectors"] / L2, "memory": 32 * row["hbm_sectors"] / gpu.bandwidth}  # fmt: skip
    return {f"{name}_per_s": 1 / s if s > 0 else float("inf") for name, s in seconds.items()}


def waiting(iterations, tiles):
    """Of steps x environments: the share of a warp's iterations of `tiles` environments in which one has ended."""
    n = np.asarray(iterations)
    warps = np.split(n, range(tiles, n.shape[1], tiles), axis=1)
    return 1 - n.sum() / sum(w.shape[1] * w.max(axis=1).sum() for w in warps)


def table(title, names, lines):
    print(f"\n{title}\n\n| " + " | ".join(names) + " |\n|" + "---|" * len(names))
    for line in lines:
        print("| " + " | ".join(line) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--models", nargs="+")
    p.add_argument("--shapes", action="store_true", help=f"the models {' '.join(SHAPES)}")
    p.add_argument("--envs", type=int, default=64)
    p.add_argument("--settle", type=int, default=300, help="steps before those that are counted")
    p.add_argument("--steps", type=int, default=4)
    p.add_argument("--lines", nargs="?", type=float, const=0.01, default=0,
                   help="print which source lines of each kernel have at least this share, 0.01, of it")  # fmt: skip
    a = p.parse_args()
    everything, counts, chains, roofline, waits, times, spent = [], [], [], [], [], [], []
    for scene in scenes.scenes(SHAPES if a.shapes else a.models):
        found, model = count(scene, a.envs, a.settle, a.steps, a.lines)
        if found["frozen"]:
            sys.exit(f"{scene.name}: {found['frozen']} environments are frozen")
        rows = rows_of(scene, found, model)
        everything += rows.values()
        step = rows["step"]
        floor = gpu_floor(model, max(1, round(found["points"])), NEAR_PAIRS, found["iterations"],
                          "thread" if step["group"] == "thread" else "warp")
        counts.append([scene.name, step["group"], f"{found['points']:.1f}, {found['iterations']:.1f}",
                       *(f"{rows[k]['warp_instructions']:.0f} ({rows[k]['lanes']:.0f})" if k in rows else "–"
                         for k in (*STEP, "refresh")), f"{step['warp_instructions']:.0f}", f"{floor:.0f}"])  # fmt: skip
        chains.append([scene.name, step["group"], *(f"{rows[k]['chain']:.0f}" if k in rows else "–"
                                                    for k in (*STEP, "refresh", "step"))])  # fmt: skip
        roofline.append([scene.name, *(f"{1e-6 * step[k]:.0f}" for k in step if k.endswith("_per_s")),
                         *(f"{32e-3 * n:.1f}" for n in (step["global_sectors"], step["local_sectors"],
                                                       step["l2_sectors"], step["hbm_sectors"])),
                         f"{step['shared_waves']:.0f}", f"{step['divergent']:.0f}"])  # fmt: skip
        times.append([scene.name, step["group"], *(f"{rows[k]['us']:.0f}" if k in rows else "–" for k in (*STEP, "refresh")),
                      f"{step['us']:.0f}", f"{ALL / step['us']:.1f}", f"{rows['solve']['us_typical']:.0f}"])  # fmt: skip
        for kernel in (k for k in (*STEP, "refresh") if k in rows):
            parts = [f"{rows[kernel][f'warps_{what}']:.0f}, {rows[kernel][f'last_{what}']:.0f}" for what in SPENT]
            spent.append([scene.name, kernel, f"{rows[kernel]['issue_slots']:.0f}", f"{rows[kernel]['code_kB']:.0f}", *parts])
        if 1 < (lanes := found["threads"]["solve"]) < 32:
            share = waiting(found["iterations_of_steps"], 32 // lanes)
            waits.append([scene.name, str(32 // lanes), f"{100 * share:.1f} %"])
    table("Instructions of a warp per environment and step, in brackets the lanes that take part:",
          ["model", "group", "points, iterations", *STEP, "refresh", "step without", "on paper"], counts)
    table("Instructions that a warp executes one after the other, for all of its environments:",
          ["model", "group", *STEP, "refresh", "step without"], chains)
    table("Ceilings of an H100, million steps per second, and what a step moves:",
          ["model", "issue", "first cache", "second cache", "memory", "global, kB", "local, kB", "second cache, kB",
           "memory, kB", "waves of shared memory", "divergent branches"], roofline)  # fmt: skip
    table("Iterations in `solve` of the slowest environment of a warp for which others have ended:",
          ["model", "environments of a warp", "share"], waits)
    table(f"Predicted microseconds of {ALL} environments on an H100, and million steps per second without refresh:",
          ["model", "group", *STEP, "refresh", "step without", "steps/s", "`solve` without its slowest environment"], times)  # fmt: skip
    table("Percent of issue slots used, kB of code, and percent of the cycles of all warps, of the one that leaves last:",
          ["model", "kernel", "slots", "code", *SPENT.values()], spent)  # fmt: skip
    if not a.models:
        RESULTS.mkdir(parents=True, exist_ok=True)
        result = RESULTS / ("counts_shapes.csv" if a.shapes else "counts.csv")
        with result.open("w", newline="") as file:
            writer = csv.DictWriter(file, everything[0])
            writer.writeheader()
            writer.writerows({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
                             for row in everything)  # fmt: skip
        print(f"\n{result.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
