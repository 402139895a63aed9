"""Poses of mocap bodies in keyframes: the numbers of MuJoCo's key_mpos and key_mquat, and what a batch makes of them."""

import pickle

import numpy as np
import pytest

import stiction
from stiction.view.motion import ModelMotion

mujoco = pytest.importorskip("mujoco")

WORLD = """<mujoco><worldbody>
    <body name="a" mocap="true" pos="1 2 3" quat="0 2 0 0"><geom size=".1"/><site name="s" pos=".1 .2 .3"/></body>
    <body name="arm"><joint name="j"/><geom size=".1"/></body>
    <body name="b" mocap="true" pos="4 5 6" euler="0 0 90"><geom size=".1"/></body>
  </worldbody><keyframe><key name="none"/>{}</keyframe></mujoco>"""
KEYS = (
    'mpos="1 1 1 2 2 2"', 'mquat="2 0 0 0 0 3 4 0"', 'mpos="1 1 1"', 'mquat="0 0 1 0"',
    'mpos="-1 0 1 .5 .25 0" mquat="1 2 3 4 4 3 2 1" qpos="1" time="2"',
)  # fmt: skip


def same(ours, theirs):
    assert ours.key_mpos.shape == (theirs.nkey, theirs.nmocap, 3) and ours.key_mquat.shape == (theirs.nkey, theirs.nmocap, 4)
    np.testing.assert_array_equal(ours.key_mpos.ravel(), theirs.key_mpos.ravel())
    np.testing.assert_allclose(ours.key_mquat.ravel(), theirs.key_mquat.ravel(), atol=1e-15)


def both(keys):
    xml = WORLD.format("".join(f'<key name="k{i}" {key}/>' for i, key in enumerate(keys)))
    return stiction.Model.from_xml(xml, strict=True), mujoco.MjModel.from_xml_string(xml)


def test_arrays_are_mujocos():
    ours, theirs = both(KEYS)
    same(ours, theirs)
    told = [(e.attribute, e.use, e.note[:6]) for e in ours.report.entries if e.attribute in ("mpos", "mquat")]
    used, mapped = "used", "mapped"
    assert told == [("mpos", used, ""), ("mquat", used, ""), ("mpos", mapped, "3 of 6"), ("mquat", mapped, "4 of 8"), ("mpos", used, ""), ("mquat", used, "")]


def test_a_quaternion_of_length_zero_is_the_identity():
    """MuJoCo keeps the zeros, and takes them for the identity when it steps."""
    ours, theirs = both(('mquat="0 0 0 0 1 1 0 0"',))
    np.testing.assert_array_equal(ours.key_mquat[1, 0], [1, 0, 0, 0])
    d = mujoco.MjData(theirs)
    mujoco.mj_resetDataKeyframe(theirs, d, 1)
    mujoco.mj_kinematics(theirs, d)
    np.testing.assert_array_equal(d.xquat[1], ours.key_mquat[1, 0])
    assert "the quaternion of mocap body 0 has length zero" in ours.report.table()


def test_too_many_numbers_are_refused():
    with pytest.raises(stiction.ModelError, match=r"mpos=.*at most 6 numbers, found 7"):
        stiction.Model.from_xml(WORLD.format('<key mpos="1 2 3 4 5 6 7"/>'))
    with pytest.raises(stiction.ModelError, match="mpos"):
        stiction.Model.from_xml(WORLD.format('<key mpos="1e9 0 0"/>'))


def test_without_mocap_bodies_they_are_empty():
    m = stiction.assets.load("go2")
    assert m.key_mpos.shape == (m.nkey, 0, 3) and m.key_mquat.shape == (m.nkey, 0, 4)


SUB = """<mujoco><worldbody><body name="a" mocap="true" pos="1 2 3"><geom size=".1"/></body>
  <body name="c"><joint/><geom size=".1"/></body></worldbody>
  <keyframe><key name="k" mpos="7 8 9" mquat="0 1 0 0" qpos=".5"/></keyframe></mujoco>"""


@pytest.mark.parametrize("tree, more", (
    ('<attach model="s" prefix="p"/>', 3), ('<frame pos="0 0 10" euler="0 0 90"><attach model="s" prefix="p"/></frame>', 3),
    ('<attach model="s" prefix="p"/><frame pos="1 0 0"><attach model="s" prefix="q"/></frame>', 6)))  # fmt: skip
def test_of_attached_models(tree, more):
    xml = f"""<mujoco><asset><model name="s" file="s.xml"/></asset><worldbody>
      <body name="m" mocap="true" pos=".1 0 0"><geom size=".1"/></body>{tree}<body name="n" mocap="true" pos=".3 0 0"/>
      </worldbody><keyframe><key name="own" mpos="{" 5" * (6 + more)}"/></keyframe></mujoco>"""
    ours = stiction.Model.from_xml(xml, assets={"s.xml": SUB})
    theirs = mujoco.MjModel.from_xml_string(xml, {"s.xml": SUB.encode()})
    assert list(ours.key_names) == [theirs.key(i).name for i in range(theirs.nkey)]
    same(ours, theirs)


def test_a_batch_begins_at_a_keyframe(tmp_path):
    ours, theirs = both(KEYS)
    ours = pickle.loads(pickle.dumps(ours))
    k = ours.key("k4")
    batch = stiction.Batch(ours, 3, precision="float64")
    batch.reset(qpos=ours.key_qpos[k])
    batch.mocap_pos[:], batch.mocap_quat[:] = ours.key_mpos[k], ours.key_mquat[k]
    batch.refresh()
    d = mujoco.MjData(theirs)
    mujoco.mj_resetDataKeyframe(theirs, d, k)
    mujoco.mj_kinematics(theirs, d)
    np.testing.assert_allclose(batch.xpos, np.tile(d.xpos, (3, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(batch.site_xpos[1], d.site_xpos, atol=1e-14)
    batch.save(tmp_path / "b")
    other = stiction.Batch(ours, 3, precision="float64")
    other.load(tmp_path / "b")
    np.testing.assert_array_equal(other.mocap_pos, batch.mocap_pos)
    # a view of the model begins there, too
    (tmp_path / "m.xml").write_text(WORLD.format(f'<key name="home" {KEYS[4]}/>'))
    np.testing.assert_array_equal(ModelMotion(tmp_path / "m.xml", "home", "zero", 0).batch.mocap_pos[0], ours.key_mpos[k])
