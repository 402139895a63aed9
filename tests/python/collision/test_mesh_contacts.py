"""Contacts of convex meshes: distances are MuJoCo's. What stands on them is in test_mesh_rest.py."""

import numpy as np
import pytest

import stiction
from mesh_files import icosahedron, numbers

MARGIN = 10.0  # of each geom: every contact point of a pair is listed however far apart
# MuJoCo keeps vertices as floats and ends its search at 1e-6
RESOLVED = 2e-6


def box(x, y, z):
    return np.array([[i * x, j * y, k * z] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])


def stone(count, half, seed=1):
    p = np.random.default_rng(seed).normal(size=(count, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True) * half


MESHES = {"brick": box(0.3, 0.2, 0.1), "stone": stone(60, [0.3, 0.2, 0.25]), "rock": stone(900, [0.2, 0.35, 0.3]),
          "die": 0.3 * icosahedron()}  # fmt: skip
ASSETS = "<asset>" + "".join(f'<mesh name="{n}" vertex="{numbers(v)}"/>' for n, v in MESHES.items()) + "</asset>"
SIZES = {"sphere": ".2", "capsule": ".1 .3", "ellipsoid": ".1 .2 .3", "cylinder": ".2 .15", "box": ".1 .2 .3"}


def geom(kind, name):
    shape = f'type="mesh" mesh="{kind}"' if kind in MESHES else f'type="{kind}" size="{SIZES[kind]}"'
    return f'<body><freejoint/><geom name="{name}" {shape} margin="{MARGIN}"/></body>'


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("other", [*SIZES, "brick", "stone", "rock"])
def test_distances_are_mujocos(other, mesh):
    mujoco = pytest.importorskip("mujoco")
    xml = f"<mujoco>{ASSETS}<worldbody>{geom(other, 'first')}{geom(mesh, 'second')}</worldbody></mujoco>"
    theirs, ours = mujoco.MjModel.from_xml_string(xml), stiction.Reference(stiction.Model.from_xml(xml))
    theirs.opt.ccd_tolerance, theirs.opt.ccd_iterations = 1e-8, 100
    data, rng = mujoco.MjData(theirs), np.random.default_rng(7)
    overlaps = unlike = 0
    for _ in range(60):
        qpos = np.concatenate([np.r_[rng.uniform(-0.4, 0.4, 3), random_quaternion(rng)] for _ in range(2)])
        data.qpos[:] = qpos
        mujoco.mj_kinematics(theirs, data)
        mine = min(c.gap for c in ours.forward(qpos, np.zeros(12)).contacts) + 2 * MARGIN
        other_distance = mujoco.mj_geomDistance(theirs, data, 0, 1, 10.0, None)
        if other_distance > 0:
            assert abs(mine - other_distance) < RESOLVED
        else:  # now and then MuJoCo's depth is not the distance of the support planes along its normal
            overlaps += 1
            unlike += abs(mine - other_distance) > RESOLVED
    assert overlaps > 3 and unlike <= 1


def rotation_of(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_a_die_comes_to_rest_on_a_face(seed):
    xml = f"""<mujoco><option timestep="0.005"/><asset><mesh name="die" vertex="{numbers(0.05 * icosahedron())}"/></asset>
      <worldbody><geom type="plane" size="0 0 1"/>
      <body pos="0 0 .3"><freejoint/><geom type="mesh" mesh="die" condim="4"/></body></worldbody></mujoco>"""
    model, rng = stiction.Model.from_xml(xml), np.random.default_rng(seed)
    batch = stiction.Batch(model, 1)
    batch.qpos[0, 3:7] = random_quaternion(rng)
    batch.qvel[0] = rng.normal(size=6) * [1, 1, 0, 5, 5, 5]
    batch.step(1200)
    rotation = rotation_of(batch.qpos[0, 3:7])
    local = rotation_of(model.geom_quat[1])
    heights = np.sort(batch.qpos[0, 2] + (rotation @ local @ model.mesh_vert.T)[2])
    assert np.abs(batch.qvel[0]).max() < 1e-3
    assert np.ptp(heights[:3]) < 1e-5 and heights[3] > 0.02


def test_environments_do_not_depend_on_their_neighbours():
    xml = f"""<mujoco><option timestep="0.005"/>{ASSETS}<worldbody><geom type="plane" size="0 0 1"/>
      <body pos="0 0 .5"><freejoint/><geom type="mesh" mesh="rock"/></body>
      <body pos=".1 0 1.2"><freejoint/><geom type="mesh" mesh="stone"/></body>
      <body pos="-.1 .1 1.8"><freejoint/><geom type="cylinder" size=".2 .15"/></body></worldbody></mujoco>"""
    model = stiction.Model.from_xml(xml)
    many = stiction.Batch(model, 20)
    rng = np.random.default_rng(3)
    many.qvel[:] = rng.normal(size=many.qvel.shape)
    start = np.array(many.qvel)
    many.step(150)
    assert not (np.array(many.status) & ~np.uint32(int(stiction.Status.stalled))).any()
    for i in (0, 7, 19):
        one = stiction.Batch(model, 1)
        one.qvel[:] = start[i]
        one.step(150)
        np.testing.assert_array_equal(one.qpos[0], many.qpos[i])


def test_the_size_of_a_mesh_is_that_of_its_vertices():
    xml = f'<mujoco>{ASSETS}<worldbody>{geom("brick", "brick")}</worldbody></mujoco>'
    batch = stiction.Batch(stiction.Model.from_xml(xml), 2)
    batch.param("geom_size")[0, 0, 0] *= 0.5
    with pytest.raises(stiction.ArgumentError, match="a mesh is as large as its vertices say"):
        batch.step(1)


def test_the_report_names_what_is_left():
    xml = f"""<mujoco>{ASSETS}<asset><hfield name="h" file="h.png" size="1 1 .1 .1"/></asset><worldbody>
      <geom type="hfield" hfield="h"/><geom type="mesh" mesh="brick" pos="3 0 0"/>
      <body><freejoint/><geom type="mesh" mesh="rock"/></body></worldbody></mujoco>"""
    with pytest.warns(stiction.ModelWarning):
        model = stiction.Model.from_xml(xml)
    notes = {e.note for e in model.report.entries if e.element == "geom" and e.note}
    assert notes == {"its file is not there: nothing touches it"} and model.npair == 1
