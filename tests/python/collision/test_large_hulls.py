"""Hulls of a thousand vertices and more, whose farthest vertex is climbed to: all vertices are looked at here."""

import numpy as np
import pytest

import stiction
from mesh_files import numbers

MARGIN = 10.0  # of each geom: every point of a pair is listed


def on_sphere(count, seed):
    p = np.random.default_rng(seed).normal(size=(count, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True)


def prism(sides):
    """Two faces that many vertices share, and as many long ones around."""
    turn = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    return np.vstack([np.column_stack([0.2 * ring, np.full(sides, z)]) for z in (-0.1, 0.1)])


HULLS = {
    "stone": on_sphere(1000, 1) * [0.2, 0.35, 0.3],
    "needle": on_sphere(2000, 2) * [0.02, 0.5, 0.03],
    "plate": on_sphere(3000, 3) * [0.4, 0.3, 0.005],
    "prism": prism(600),
    "dome": np.vstack([v for v in on_sphere(2400, 4) * 0.3 if v[2] > 0] + [0.3 * np.r_[v[:2], 0] for v in prism(100)[:100] * 5]),
}
PAIRS = [(a, b) for i, a in enumerate(HULLS) for b in list(HULLS)[i:]]
SENSORS = "".join(f'<{kind} geom1="{one}" geom2="{other}" cutoff="50"/>'
                  for one, other in ("ab", ("ground", "a")) for kind in ("distance", "normal", "fromto"))  # fmt: skip


def model_of(first, second):
    assets = "".join(f'<mesh name="{name}" vertex="{numbers(HULLS[name])}"/>' for name in {first, second})
    bodies = "".join(f'<body><freejoint/><geom name="{geom}" type="mesh" mesh="{mesh}" margin="{MARGIN}"/></body>'
                     for geom, mesh in (("a", first), ("b", second)))  # fmt: skip
    return stiction.Model.from_xml(f"""<mujoco><option gravity="0 0 0"/><asset>{assets}</asset><worldbody>
      <geom name="ground" type="plane" size="1 1 1" pos="0 0 -1" euler="7 11 0" margin="{MARGIN}"/>{bodies}</worldbody>
      <sensor>{SENSORS}</sensor></mujoco>""")


def poses(rng, count):
    """Apart, near and in each other, turned at random; of every sixth the axes are the world's."""
    q = np.zeros((count, 14))
    for first in (0, 7):
        q[:, first : first + 3] = rng.uniform(-1, 1, (count, 3)) * np.linspace(0.1, 0.8, count)[:, None]
        turn = rng.normal(size=(count, 4))
        turn[::6] = [1, 0, 0, 0]
        q[:, first + 3 : first + 7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return q


def rotations(q):
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.moveaxis(np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                                 [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                                 [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]), (0, 1), (-2, -1))  # fmt: skip


class Placed:
    """Vertices (env, vertex, 3) and planes of the triangles of a geom's hull, in the world."""

    def __init__(self, model, geom, xpos, xquat):
        mesh = model.geom_dataid[geom]
        own = slice(model.mesh_vertadr[mesh], model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh])
        local = model.mesh_vert[own] @ rotations(model.geom_quat[geom]).T + model.geom_pos[geom]
        self.vertices = local @ rotations(xquat).swapaxes(1, 2) + xpos[:, None]
        self.faces = model.mesh_face[model.mesh_faceadr[mesh] : model.mesh_faceadr[mesh] + model.mesh_facenum[mesh]]

    def lowest(self, direction, env=slice(None)):
        """Over all vertices, along the direction (of each environment)."""
        return np.einsum("...vk,...k->...v", self.vertices[env], direction).min(axis=-1)

    def outside(self, points):
        """How far points are outside of the hull, at most."""
        a, b, c = np.moveaxis(self.vertices[:, self.faces], 2, 0)
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=2, keepdims=True)
        return np.einsum("efk,efk->ef", normal, points[:, None] - a).max(axis=1)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_distances_are_those_of_all_vertices(pair):
    """The support planes along the normal are as far apart, so the distance is no less; and where it is positive two
    points of the hulls are no farther from each other, so it is no more."""
    model, count = model_of(*pair), 60
    batch = stiction.Batch(model, count, precision="float64")
    batch.set_state(qpos=poses(np.random.default_rng(5), count))
    read = np.array(batch.sensordata)
    a, b = (Placed(model, model.geom(g), np.array(batch.xpos)[:, k], np.array(batch.xquat)[:, k]) for g, k in (("a", 1), ("b", 2)))
    distance, way, on_a, on_b = read[:, 0], read[:, 1:4], read[:, 4:7], read[:, 7:10]
    normal = way * np.sign(distance)[:, None]  # in overlap the sensor's is the way from point to point
    clear = np.abs(distance) > 1e-3
    assert clear.sum() > 0.9 * count and (distance > 0).sum() > 10 and (distance < 0).sum() > 5
    planes = b.lowest(normal) + a.lowest(-normal)
    np.testing.assert_allclose(distance[clear], planes[clear], atol=1e-12)
    apart = distance > 1e-3
    np.testing.assert_allclose(np.linalg.norm(on_b - on_a, axis=1)[apart], distance[apart], atol=1e-12)
    assert max(a.outside(on_a)[apart].max(), b.outside(on_b)[apart].max()) < 1e-9

    up = rotations(model.geom_quat[model.geom("ground")])[:, 2]
    height = a.lowest(np.tile(up, (count, 1))) - up @ [0, 0, -1]
    np.testing.assert_allclose(read[:, 10], height, atol=1e-14)


def least(contacts, first, second):
    """(gap, normal) of the deepest contact of two geoms."""
    deepest = min((c for c in contacts if (c.geom1, c.geom2) == (first, second)), key=lambda c: c.gap)
    return deepest.gap + 2 * MARGIN, np.asarray(deepest.normal, float)


@pytest.mark.parametrize("mesh", HULLS)
def test_contacts_are_those_of_all_vertices(mesh):
    """The least gap of the reference and of batches: the support planes along its normal are as far apart."""
    model, count = model_of("stone", mesh), 12
    qpos = poses(np.random.default_rng(6), count)
    reference = stiction.Reference(model)
    for precision, round_off in (("reference", 1e-12), ("float64", 1e-12), ("float32", 1e-6)):
        batch = stiction.Batch(model, count, precision="float64" if precision == "reference" else precision)
        batch.set_state(qpos=qpos)
        a, b = (Placed(model, 1 + k, np.array(batch.xpos, float)[:, 1 + k], np.array(batch.xquat, float)[:, 1 + k]) for k in range(2))
        for env in range(count):
            contacts = batch.contacts(env) if precision != "reference" else reference.forward(qpos[env], np.zeros(model.nv)).contacts
            gap, normal = least(contacts, 1, 2)
            planes = b.lowest(normal, env) + a.lowest(-normal, env)
            assert gap == pytest.approx(planes, abs=round_off)
            for k, hull in enumerate((a, b)):
                gap, normal = least(contacts, 0, 1 + k)
                assert gap == pytest.approx(hull.lowest(normal, env) - normal @ [0, 0, -1], abs=round_off)
