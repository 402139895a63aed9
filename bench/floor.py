"""Arithmetic of one step on paper: vector operations per stage, and the time they need at least.

An operation is one instruction on a pack (a multiply-add counts once). The floor assumes `--per-cycle` of
them per cycle, everything in registers or the first cache, and all lanes useful. Wide operations
(double) count twice: a pack of doubles is two vectors. A Zen 4 core does one 512-bit multiply-add per
cycle at 3.6 GHz (measured), a Zen 5 core two.

    python bench/floor.py MODEL.xml... [--points 4] [--iterations 4] [--ghz 3.6] [--per-cycle 1]
"""

import argparse

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


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("models", nargs="+")
    p.add_argument("--points", type=int, default=4, help="active contact points of a pack")
    p.add_argument("--near-pairs", type=int, default=8, help="pairs that survive the cull")
    p.add_argument("--iterations", type=float, default=4, help="Newton iterations of a pack")
    p.add_argument("--ghz", type=float, default=3.6)
    p.add_argument("--per-cycle", type=float, default=1)
    p.add_argument("--lanes", type=int, default=16)
    a = p.parse_args()
    for path in a.models:
        model = stiction.Model.from_file(path)
        once, newton = operations(model, a.points, a.near_pairs)
        print(f"\n{model.name or path}: nv {model.nv}, nbody {model.nbody}, npair {model.npair}, "
              f"{a.points} points, {a.iterations} iterations")
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
