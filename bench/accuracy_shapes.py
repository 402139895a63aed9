"""Distance, normal and witness points of every pair of shapes, beside coal and MuJoCo's mj_geomDistance.

    python bench/accuracy_shapes.py [--poses 10000] [--only capsule-box]

coal comes from PyPI (pip install coal); without it the script says so and leaves its rows out. What is true is
decided by no engine. With the support function h of a shape, max n·x, the distance of the support planes along a unit n

    s(n) = n·(c_b − c_a) − h_a(n) − h_b(−n)

is never more than the signed distance, and the signed distance is the largest of all s(n): apart, and in overlap, where
it is minus the shortest translation that separates. The truth of a pose is the largest s(n) over the normals of all engines, of
the faces of both shapes and the products of their edges where these are few, and over a search that begins at 200 directions.

Errors, each 0 at the truth d:
    distance  |what is reported − d|, m
    normal    d − s(n): how much farther the shapes are by the best normal than by this one, m; and its angle to the best, rad
    witness   the largest distance of a point from its shape's surface, and of their difference from d n, m
    swapped   change of the distance when the arguments are swapped, m
`wrong` is the share of distances that are off by more than 0.01 mm, `failed` that of searches which say so. Of touching shapes
the direction between two points is round-off, so only contacts and coal have a normal there.
Writes bench/results/shapes.csv.
"""

import argparse
import itertools
from importlib.util import find_spec

import numpy as np
import stiction
from accuracy_engines import engines, search
from accuracy_truth import DEEP, Placed, Truth
from tables import table, write

SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
PAIRS = [("plane", s) for s in SHAPES] + list(itertools.combinations_with_replacement(SHAPES, 2))
SCENES = 10  # sizes and hulls of a pair
HULLS = (8, 8, 12, 12, 20, 20, 60, 60, 200, 1000)  # points on an ellipsoid, all of them vertices
WRONG = 1e-5  # m
TOUCHING = 1e-6  # m: largest gap and overlap


def numbers(values):
    return " ".join(repr(float(v)) for v in np.ravel(values))


def scene(pair, k, rng):
    """Two shapes a and b of random sizes; the plane belongs to the world."""
    assets, bodies = "", ""
    for name, kind in zip("ab", pair):
        size = rng.uniform(0.05, 0.3, 3)
        shape = f'type="{kind}" size="{numbers(size)}"'
        if kind == "mesh":
            points = rng.normal(size=(HULLS[k], 3))
            points *= size / np.linalg.norm(points, axis=1, keepdims=True)
            assets += f'<mesh name="{name}" vertex="{numbers(points.astype(np.float32))}"/>'
            shape = f'type="mesh" mesh="{name}"'
        if kind == "plane":
            bodies += f'<geom name="{name}" type="plane" size="1 1 1" pos=".1 .2 .3" euler="10 20 30"/>'
        else:
            bodies += f'<body><freejoint/><geom name="{name}" {shape} margin="2" mass="1"/></body>'
    sensors = "".join(f'<{kind} geom1="{x}" geom2="{y}" cutoff="10"/>'
                      for x, y in ("ab", "ba") for kind in ("distance", "normal", "fromto"))  # fmt: skip
    return f"""<mujoco><option gravity="0 0 0" timestep="1e-4"/><asset>{assets}</asset>
      <worldbody>{bodies}</worldbody><sensor>{sensors}</sensor></mujoco>"""


def random_poses(rng, count, bodies, spread):
    q = rng.normal(size=(count, bodies, 7))
    q[:, :, :3] = rng.uniform(-spread, spread, size=(count, bodies, 3))
    q[:, :, 3:] /= np.linalg.norm(q[:, :, 3:], axis=2, keepdims=True)
    return q.reshape(count, 7 * bodies)


def nearest(model, qpos):
    """The distance of a and b, where it begins and where it ends."""
    answer = search("", model, qpos, None)
    return answer.distance, *answer.points


def poses(model, regime, count, rng):
    """So many of a regime: apart by 0.1 mm to 1 m, touching, or farther in each other than DEEP."""
    bodies = model.nq // 7
    if regime == "deep":
        found = np.empty((0, model.nq))
        spread = 0.3 if bodies == 1 else 0.12
        while len(found) < count:
            q = random_poses(rng, 4 * count, bodies, spread)
            found = np.concatenate([found, q[nearest(model, q)[0] < -DEEP]])
        return found[:count]
    q = random_poses(rng, count, bodies, 0.6)
    gap = 10 ** rng.uniform(-4, 0, count) if regime == "apart" else rng.uniform(-TOUCHING, TOUCHING, count)
    distance, start, end = nearest(model, q)
    q[:, -7:-4] += ((gap - distance) / distance)[:, None] * (end - start)  # along the normal the nearest points stay
    return q


def measure(pair, regime, per_scene, rng):
    """Rows of the table, one an engine."""
    parts = {}
    for k in range(SCENES):
        xml = scene(pair, k, rng)
        model = stiction.Model.from_xml(xml)
        qpos = poses(model, regime, per_scene, rng)
        placed = Placed(model, qpos)
        answers = {name: ask(xml, model, qpos, placed) for name, ask in engines().items()}
        truth = Truth(placed, [a.normal for a in answers.values()], rng)
        for name, answer in answers.items():
            parts.setdefault(name, []).append(truth.errors(answer))
    rows = []
    for name, errors in parts.items():
        row = {"pair": "-".join(pair), "poses": regime, "number": SCENES * per_scene, "engine": name}
        for what in errors[0]:
            e = np.concatenate([x[what] for x in errors])
            e = e[~np.isnan(e)]
            row[f"{what}_max"] = f"{e.max():.1e}" if e.size else ""
            row[f"{what}_median"] = f"{np.median(e):.1e}" if e.size else ""
            if what == "distance":
                row["wrong"] = f"{np.sum(e > WRONG) / (SCENES * per_scene):.4f}"
                row["failed"] = f"{1 - e.size / (SCENES * per_scene):.4f}"
        rows.append(row)
    return rows


def page(rows):
    """The table of docs/geometry.md: largest errors of the distance, and how many are wrong."""
    lines = ["| pair | contacts | MuJoCo | coal |", "|---|---|---|---|"]
    for pair in dict.fromkeys(r["pair"] for r in rows):
        cells = []
        for engine in ("contact", "mujoco", "coal"):
            texts = []
            for r in (r for r in rows if r["pair"] == pair and r["engine"] == engine):
                share = float(r["wrong"]) + float(r["failed"])
                worst = f"{float(r['distance_max']):.0e}".replace("e-0", "e-")
                texts.append(worst + (f" ({100 * share:.1f} %)" if share else ""))
            cells.append("; ".join(texts))
        lines.append(f"| {pair.replace('-', '–')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--poses", type=int, default=10000, help="of a pair: a third apart, a third touching, a third deep")
    p.add_argument("--only", default="", help="pairs whose name contains this; writes no result")
    a = p.parse_args()
    if find_spec("coal") is None:
        print("coal is not installed (pip install coal): MuJoCo alone")
    rows = []
    for pair in PAIRS:
        if a.only not in "-".join(pair):
            continue
        rng = np.random.default_rng(PAIRS.index(pair))
        for regime in ("apart", "touching", "deep"):
            new = measure(pair, regime, max(1, -(-a.poses // (3 * SCENES))), rng)
            print(table(new), flush=True)
            rows += new
    if not a.only:
        write(rows, "shapes")
        print(page(rows))


if __name__ == "__main__":
    main()
