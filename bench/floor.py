"""Arithmetic of one step on paper: operations per stage, and the time they need at least.

On a CPU an operation is one instruction on a pack (a multiply-add counts once). The floor assumes
`--per-cycle` of them per cycle, everything in registers or the first cache, and all lanes useful. Wide
operations (double) count twice: a pack of doubles is two vectors. A Zen 4 core does one 512-bit
multiply-add per cycle at 3.6 GHz (measured), a Zen 5 core two.

On a GPU (`--gpu h100`) a warp works on one environment and an operation is one instruction of the warp:
a loop over n items counts its body ceil(n / 32) times, a recursion along the tree once per level, a sum
5 shuffles and 5 additions more. `--group thread`, for models without pairs, has a thread per environment:
the serial operations, of 32 environments at a time. The floor is the largest of three times: issue slots
(4 per multiprocessor and cycle), double precision (half of them), and the bytes of memory. Beside it
stands what the resident warps do if each issues every `--latency` cycles: so many as the registers allow,
of threads not more than have room for their own memory in the first cache.

    python bench/floor.py MODEL.xml... [--points 4] [--iterations 4] [--ghz 3.6] [--per-cycle 1] [--gpu h100]
        [--group warp]
"""

import argparse
from dataclasses import dataclass

import numpy as np

import stiction


def ancestors(model):
    """Number of dofs above each dof on its path to the root."""
    count = np.zeros(model.nv, int)
    for i in range(model.nv):
        parent = model.dof_parentid[i]
        count[i] = 0 if parent < 0 else count[parent] + 1
    return count


def operations(model, points, near_pairs):
    """Stage -> operations per pack; `newton` entries are per iteration."""
    nv, nb, above = model.nv, model.nbody, ancestors(model)
    below_diagonal = int(above.sum())
    entries = below_diagonal + nv
    once = {
        # quaternion product 16 + normalise 12 + matrix 18 + offsets 18, wide; sincos 30 per hinge
        "kinematics": 2 * (64 * nb + 30 * nv + 12 * model.ngeom) + 18 * nv,
        # cross products of the recursion, I a + V x* I V, gather, projection
        "bias": 6 * nv + 18 * nv + 60 * nb + 6 * nb + 6 * nv,
        # inertia about O 60, gather 10, I^c S 24 per dof, 6 per entry
        "inertia": 70 * nb + 24 * nv + 6 * entries,
        "actuation": 20 * model.nu + 10 * nv,
        # v_r: factor and solve once
        "rows": 20 * nv + int((above * (above + 1) // 2 + above).sum()) + 2 * below_diagonal + nv,
        # bounding spheres of all pairs; witness points of the near ones, wide
        "collide": 12 * model.npair + 2 * 60 * near_pairs + points * (80 + 15 * int(above.max())),
        "integrate": 4 * nv + 60,
    }
    newton = {
        "J v, J dv": 2 * (6 * nv + 15 * points),
        "laws": 50 * points,
        "J^T gamma": 15 * points + 6 * nb + 6 * nv,
        "hessian": 60 * points + 21 * nb + 36 * nv + 6 * entries,
        "factor": int((above * (above + 1) // 2 + above).sum()),
        "solve": 2 * below_diagonal + 2 * nv,
        "A dv": 2 * below_diagonal + nv,
        "line search": 4 * 30 * points,
    }
    return once, newton


@dataclass(frozen=True)
class Gpu:
    """Published figures of a card: multiprocessors, GHz at boost, bytes per second of its memory."""

    multiprocessors: int
    ghz: float
    bandwidth: float
    first_cache: float = 2**18  # bytes of a multiprocessor

    def issue_slots(self) -> float:
        return 4 * self.multiprocessors * self.ghz * 1e9


GPUS = {"h100": Gpu(132, 1.755, 3.35e12), "h200": Gpu(132, 1.755, 4.8e12)}


def rounds(n):
    """How often 32 lanes do a loop over n items."""
    return -(-int(n) // 32)


def levels(model):
    depth = np.zeros(model.nbody, int)
    for b in range(1, model.nbody):
        depth[b] = depth[model.body_parentid[b]] + 1
    return int(depth.max()), np.bincount(depth)[1:]


def warp_operations(model, points, near_pairs):
    """As operations(), in instructions of a warp: stage -> (single, double)."""
    nv, nu, above = model.nv, max(model.nu, 1), ancestors(model)
    deep, width = levels(model)
    level = sum(rounds(w) for w in width)  # rounds of a recursion along the tree
    joint = -(-nv // max(model.nbody - 1, 1))  # dofs of a body
    path, add = int(above.max()) + 1, 10  # the longest path; a sum over the lanes
    once = {
        "kinematics": (18 * level * joint, level * (64 + 30 * joint)),
        "inertia": ((70 + 20) * level + (24 + 6 * path) * rounds(nv), 0),
        "bias": (2 * level * (60 + 12 * joint), 0),
        "actuation": (20 * rounds(nu) + 10 * rounds(nv), 0),
        "rows": (20 * rounds(nv) + cholesky(nv), 0),
        "collide": (12 * rounds(model.npair) + rounds(points) * (80 + 15 * path),
                    2 * 60 * rounds(near_pairs)),
        "integrate": (4 * rounds(nv), 60 + 10 * rounds(model.njnt)),
        "refresh": (18 * level * joint, level * (64 + 30 * joint)),
    }
    newton = {
        "J v, J dv": (2 * (6 * level * joint + 15 * rounds(points)), 0),
        "laws": (50 * rounds(points), 0),
        "J^T gamma": (level * (15 * -(-points // 2) + 12) + 6 * joint * level, 0),
        "hessian": (60 * rounds(points) + 21 * level + (36 + 6 * path) * rounds(nv), 0),
        "factor and solve": (cholesky(nv), 0),
        "A dv": (nv * rounds(nv), 0),
        "sums": (6 * add, 0),
        "line search": (4 * (30 * rounds(points) + 2 * add), 0),
    }
    return once, newton


def cholesky(nv):
    """A row per lane in registers: per column a pivot, a broadcast and a multiply-add per column left."""
    return rounds(nv) * (nv * (nv + 1) + 12 * nv) + 4 * nv


def dense(nv):
    """Factor and solve by one lane."""
    return nv * (nv + 1) * (nv + 2) // 6 + nv * nv + 10 * nv


def thread_operations(model):
    """As warp_operations(), of one environment without pairs on one lane."""
    nv, nb, nu = model.nv, model.nbody - 1, model.nu
    entries = nv * (nv + 1) // 2
    once = {
        "kinematics": (18 * nv, 64 * nb + 30 * nv),
        "inertia": (70 * nb + 24 * nv + 6 * entries, 0),
        "bias": (66 * nb + 30 * nv, 0),
        "actuation": (20 * nu + 10 * nv, 0),
        "rows": (20 * nv + dense(nv), 0),
        "integrate": (4 * nv, 60 + 10 * model.njnt),
        "refresh": (18 * nv + 12 * nb, 64 * nb + 30 * nv),
    }
    newton = {
        "laws of the rows, gradient": (30 * nv + 12 * nv, 0),
        "hessian": (entries + 4 * nv, 0),
        "factor and solve": (dense(nv), 0),
        "A dv": (nv * nv, 0),
        "sums": (6 * nv, 0),
        "line search": (2 * 30 * nv, 0),
    }
    return once, newton


# Resident on a multiprocessor by the registers of step, and of dynamics and solve by a thread (tests/cuda/kernel_budget.json).
WARPS, THREADS = 16, 512


def thread_bytes(model):
    """Of a thread's own memory, in the larger kernel (dynamics)."""
    nv, nb, nu = model.nv, model.nbody, model.nu
    return 4 * (5 * nv + 3 * nu + nv * (nv + 1) // 2 + 2 * 10 * nb + 2 * 6 * nb + 6 * model.njnt)


def memory_bytes(model, points):
    """Of one environment and step that pass the caches: rows of state, inputs and outputs once; what the
    three kernels hand to each other written and read."""
    nv, nb, nq = model.nv, model.nbody, model.nq
    rows = 8 * nq + 4 * (3 * nv + nb + model.nu) + 8 * (nq + 1) + 4 * 2 * nv
    between = 4 * (6 * nv + nv * (nv + 1) // 2 + 8 * nv + 12 * nb + 44 * points)
    return rows + 2 * between


def gpu_stages(model, points, near_pairs, iterations, group):
    """Stage -> (single, double) instructions of a group, and the environments that share one."""
    if group == "thread":
        if model.npair > 0:
            raise SystemExit("--group thread: for models without pairs")
        once, newton = thread_operations(model)
    else:
        once, newton = warp_operations(model, points, near_pairs)
    return {**once, **{f"solve: {k}": (v[0] * iterations, v[1] * iterations)
                       for k, v in newton.items()}}, 32 if group == "thread" else 1  # fmt: skip


def gpu_floor(model, points, near_pairs, iterations, group):
    """Instructions of a warp per environment and step, without refresh."""
    stages, share = gpu_stages(model, points, near_pairs, iterations, group)
    return sum(a + b for name, (a, b) in stages.items() if name != "refresh") / share


def gpu_table(model, points, near_pairs, iterations, gpu, group, latency):
    stages, share = gpu_stages(model, points, near_pairs, iterations, group)
    print(f"| stage | instructions of a {group} | of them double |\n|---|---|---|")
    for name, (single, double) in stages.items():
        print(f"| {name} | {single + double:.0f} | {double:.0f} |")
    total = sum(a + b for a, b in stages.values())
    double = sum(b for _, b in stages.values())
    traffic = memory_bytes(model, points)
    seconds = {"issue": total / share / gpu.issue_slots(),
               "double": 2 * double / share / gpu.issue_slots(),
               "memory": traffic / gpu.bandwidth}  # fmt: skip
    bound = max(seconds, key=seconds.get)
    print(f"| **step** | **{total:.0f}** | {double:.0f} |")
    print(f"\n{traffic} bytes; " + ", ".join(f"{k} {1e9 * v:.2f} ns" for k, v in seconds.items())
          + f": at most {1e-6 / seconds[bound]:.0f} M steps/s, by {bound}")  # fmt: skip
    warps = WARPS
    if group == "thread":
        own = thread_bytes(model)
        threads = min(THREADS, int(gpu.first_cache / own) // 32 * 32)
        warps = threads / 32
        print(f"{own} bytes of a thread's own memory: {threads} threads in the first cache")
    rate = min(1.0, warps / 4 / latency)
    print(f"an instruction of a warp every {latency:.0f} cycles: "
          f"{1e-6 * rate / seconds['issue']:.0f} M steps/s")  # fmt: skip


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("models", nargs="+")
    p.add_argument("--points", type=int, default=4, help="active contact points of a pack")
    p.add_argument("--near-pairs", type=int, default=8, help="pairs that survive the cull")
    p.add_argument("--iterations", type=float, default=4, help="Newton iterations of a pack")
    p.add_argument("--ghz", type=float, default=3.6)
    p.add_argument("--per-cycle", type=float, default=1)
    p.add_argument("--lanes", type=int, default=16)
    p.add_argument("--gpu", choices=GPUS, help="on this card")
    p.add_argument("--group", choices=("warp", "thread"), default="warp", help="of an environment")
    p.add_argument("--latency", type=float, default=12, help="cycles")
    a = p.parse_args()
    for path in a.models:
        model = stiction.Model.from_file(path)
        once, newton = operations(model, a.points, a.near_pairs)
        print(f"\n{model.name or path}: nv {model.nv}, nbody {model.nbody}, npair {model.npair}, "
              f"{a.points} points, {a.iterations} iterations")
        if a.gpu:
            gpu_table(model, a.points, a.near_pairs, a.iterations, GPUS[a.gpu], a.group, a.latency)
            continue
        print("| stage | operations | ns per environment |\n|---|---|---|")
        total = 0.0
        for name, n in [*once.items(), *((f"solve: {k}", v * a.iterations)
                                         for k, v in newton.items())]:
            ns = n / a.per_cycle / a.ghz / a.lanes
            total += ns
            print(f"| {name} | {n:.0f} | {ns:.1f} |")
        print(f"| **step** | | **{total:.0f}** = {1e3 / total:.2f} M steps/s |")


if __name__ == "__main__":
    main()
