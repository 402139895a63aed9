"""Tendons against MuJoCo and closed forms."""

import numpy as np
import pytest

import stiction
from mujoco_oracle import actuator_moment, mujoco, tendon_jacobian

HUNG = """<mujoco><option timestep="0.002"/>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody>
 <site name="ceiling" pos=".1 0 1.4"/><site name="hook" pos="-.7 .1 1"/>
 <geom name="pole" type="cylinder" size=".12 .4" pos=".2 .05 .6" euler="80 10 0"/>
 <site name="over" pos=".2 .05 .85"/>
 <body pos="0 0 1"><joint name="a" axis="0 1 0"/><joint name="s" type="slide" axis=".6 0 .8"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".04" mass="1.2"/>
  <geom name="knee" type="sphere" size=".07" pos="0 0 -.4"/>
  <site name="hip" pos=".06 0 -.1"/><site name="front" pos=".15 0 -.4"/>
  <site name="in" pos=".01 0 -.4"/>
  <body pos="0 0 -.4"><joint name="b" axis="0 1 0"/><joint name="c" axis="1 0 0"/>
   <geom type="capsule" fromto="0 0 0 .05 0 -.35" size=".03" mass=".6"/>
   <site name="shin" pos=".05 .02 -.2"/></body></body>
 <body pos=".5 .2 .8"><freejoint/><geom type="box" size=".1 .12 .05" mass=".8"/>
  <site name="corner" pos=".1 .12 .05"/><site name="edge" pos="-.1 0 .05"/></body>
 <body pos="-.6 0 .9"><joint name="d" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass=".5"/>
  <site name="end" pos="0 0 -.3"/></body>
</worldbody>
<tendon>
 <fixed name="couple" limited="true" range="-.3 .4" margin=".02" armature=".05" stiffness="2"
   springlength="-.1 .1"><joint joint="a" coef=".7"/><joint joint="b" coef="-.5"/>
   <joint joint="d" coef=".3"/></fixed>
 <fixed name="drive" actuatorfrcrange="-2 1.5"><joint joint="b" coef="1"/>
  <joint joint="c" coef=".4"/></fixed>
 <spatial name="block" stiffness="3"><site site="ceiling"/><site site="corner"/>
  <pulley divisor="2"/><site site="hook"/><site site="end"/><site site="hip"/></spatial>
 <spatial name="around" range=".1 .5"><site site="hip"/><geom geom="knee" sidesite="front"/>
  <site site="shin"/></spatial>
 <spatial name="inside" stiffness="3" springlength=".2"><site site="hip"/>
  <geom geom="knee" sidesite="in"/><site site="shin"/></spatial>
 <spatial name="rope" range=".2 .9" damping=".5"><site site="shin"/>
  <geom geom="pole" sidesite="over"/><site site="edge"/><site site="hook"/></spatial>
 <spatial name="free" frictionloss=".4"><site site="hip"/><geom geom="pole"/>
  <site site="corner"/></spatial>
</tendon>
<actuator><position tendon="rope" kp="20" gear="2"/><motor tendon="drive" gear="3"/>
 <motor tendon="drive" gear="-1"/><motor tendon="around" gear="-.5"/></actuator>
<sensor><tendonpos tendon="rope"/><tendonvel tendon="rope"/><tendonlimitpos tendon="couple"/>
 <tendonlimitvel tendon="couple"/><tendonlimitpos tendon="rope"/><tendonlimitvel tendon="rope"/>
 <actuatorpos actuator="p"/></sensor></mujoco>""".replace("<position", '<position name="p"')

INSIDE = 4


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-10), ("float32", 3e-6)])
def test_lengths_and_arms_are_mujocos(precision, tolerance):
    theirs, ours = mujoco.MjModel.from_xml_string(HUNG), stiction.Model.from_xml(HUNG)
    rng = np.random.default_rng(1)
    n = 200
    q = theirs.qpos0 + rng.uniform(-1.2, 1.2, (n, theirs.nq))
    v = rng.normal(size=(n, theirs.nv))
    batch = stiction.Batch(ours, num_envs=n, precision=precision)
    batch.set_state(qpos=q, qvel=v)
    q, v = np.array(batch.qpos), np.array(batch.qvel, dtype=float)
    bent = 0
    for i in range(n):
        d = mujoco.MjData(theirs)
        d.qpos[:], d.qvel[:] = q[i], v[i]
        mujoco.mj_forward(theirs, d)
        J, moment = tendon_jacobian(theirs, d), actuator_moment(theirs, d)
        np.testing.assert_allclose(batch.ten_length[i], d.ten_length, atol=tolerance)
        # along the inside MuJoCo stops its Newton method at 1e-6, so round-off of its path shows
        loose = np.where(np.arange(theirs.ntendon) == INSIDE, 1e-7, 0)[:, None]
        assert np.all(np.abs(batch.ten_J[i] - J) <= tolerance * (1 + np.abs(J)) + loose)
        rate = np.abs(batch.ten_velocity[i] - d.ten_velocity)
        assert np.all(rate <= 10 * tolerance + 10 * loose[:, 0])
        np.testing.assert_allclose(batch.actuator_length[i], d.actuator_length, atol=10 * tolerance)
        np.testing.assert_allclose(batch.actuator_moment[i], moment, atol=10 * tolerance)
        np.testing.assert_allclose(batch.sensordata[i], d.sensordata, atol=10 * tolerance)
        bent += abs(J[3] - J[4]).max() > 0.01
    assert 10 < bent < 190  # strings that wrap and strings that do not


def one(xml, steps, qpos=None, qvel=None, **options):
    model = stiction.Model.from_xml(xml)
    batch = stiction.Batch(model, num_envs=1, precision="float64", **options)
    state = {k: [x] for k, x in (("qpos", qpos), ("qvel", qvel)) if x is not None}
    if state:
        batch.set_state(**state)
    if steps:
        batch.step(steps)
    return batch


def test_a_limit_carries_two_blocks_as_a_pulley_does():
    """Block and tackle: m1 on the string itself, m2 on a block that two parts hold. The string is at its limit,
    x1 + 2 x2 is constant: a1 = 2 g (2 m1 − m2)/(4 m1 + m2) downwards."""
    m1, m2, g = 1.0, 1.5, 9.81
    xml = f"""<mujoco><option timestep="0.001"/>
    <worldbody><site name="wheel1" pos="0 0 2"/><site name="wheel2" pos=".5 0 2"/>
     <body pos="0 0 1"><joint type="slide" axis="0 0 1"/><geom size=".05" mass="{m1}"/>
      <site name="load"/></body>
     <body pos=".5 0 1"><joint type="slide" axis="0 0 1"/><geom size=".05" mass="{m2}"/>
      <site name="block"/></body></worldbody>
    <tendon><spatial range="0 3" limited="true"><site site="load"/><site site="wheel1"/>
     <pulley divisor=".5"/><site site="wheel2"/><site site="block"/></spatial></tendon></mujoco>"""
    batch = one(xml, 200)
    a1 = 2 * g * (2 * m1 - m2) / (4 * m1 + m2)
    v = np.asarray(batch.qvel[0])
    np.testing.assert_allclose(v, [-0.2 * a1, 0.1 * a1], rtol=0.02)
    assert batch.ten_length[0, 0] < 3 + 0.001


def test_a_string_around_a_cylinder_is_the_arc():
    r, h = 0.1, 0.3
    xml = f"""<mujoco><worldbody><geom name="c" type="cylinder" size="{r} .5" euler="90 0 0"/>
     <site name="a" pos="{-r} 0 {-h}"/><site name="up" pos="0 0 .3"/>
     <body pos="{r} 0 0"><joint type="slide" axis="0 0 -1"/><geom size=".02" mass="1"/>
      <site name="b" pos="0 0 {-h}"/></body></worldbody>
     <tendon><spatial><site site="a"/><geom geom="c" sidesite="up"/><site site="b"/></spatial>
     </tendon></mujoco>"""
    batch = one(xml, 0)
    batch.refresh()
    np.testing.assert_allclose(batch.ten_length, 2 * h + np.pi * r, atol=1e-12)
    np.testing.assert_allclose(batch.ten_J, [[[1.0]]], atol=1e-12)


SPRING = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>
 <body><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body></worldbody>
 <tendon><fixed {}><joint joint="x" coef="2"/></fixed></tendon></mujoco>"""


TANGENT = """<mujoco><worldbody>
 <body name="a" euler="0 0 {turn!r}"><joint axis="0 0 1"/><geom size="0.001"/>
  <geom name="c" type="{kind}" size="0.0025 0.01" contype="0" conaffinity="0"/><site name="side" pos="{x} -0.0025 0"/></body>
 <body euler="0 0 {turn!r}"><joint name="x" type="slide" axis="1 0 0"/><geom size="0.001" contype="0" conaffinity="0"/>
  <site name="p" pos="0.015 -0.0025 0"/></body></worldbody>
 <tendon><spatial name="t"><site site="p"/><geom geom="c"{side}/><site site="side"/></spatial></tendon>
 <sensor><tendonpos tendon="t"/></sensor></mujoco>"""


@pytest.mark.parametrize("kind", ("cylinder", "sphere"))
@pytest.mark.parametrize("side", ("", ' sidesite="side"'))
@pytest.mark.parametrize("x", (-0.002, 0.0, 0.001))
def test_a_tangential_string_is_straight(kind, side, x):
    """Round-off puts it into the circle, with its touching points in the wrong order: no way around, 2 pi r longer."""
    for turn in np.degrees(np.linspace(-1, 1, 21)):
        model = stiction.Model.from_xml(TANGENT.format(kind=kind, side=side, x=x, turn=float(turn)))
        ways = np.linspace(0, 0.01, 41)
        batch = stiction.Batch(model, len(ways), precision="float64")
        batch.reset(qpos=np.stack([0 * ways, ways], axis=1))
        np.testing.assert_allclose(batch.ten_length[:, 0], 0.015 - x + ways, rtol=0, atol=1e-8)
        reference = stiction.Reference(model)
        for way in ways[::8]:
            length = reference.step([0, way], [0, 0]).sensordata[0]
            assert length == pytest.approx(0.015 - x + way, abs=1e-8)


def test_a_string_from_the_surface_goes_around():
    """A site that round-off puts into the cylinder is on it: from one side to the other half around."""
    for turn in np.linspace(0, 90, 13):
        model = stiction.Model.from_xml(f"""<mujoco><worldbody><body euler="0 0 {turn}"><joint/>
          <geom size=".1 .1" type="cylinder" name="c"/><site name="on" pos="-.1 0 0"/><site name="off" pos=".1 -.3 0"/>
          </body></worldbody><tendon><spatial><site site="on"/><geom geom="c"/><site site="off"/></spatial></tendon></mujoco>""")
        batch = stiction.Batch(model, 1, precision="float64")
        batch.reset()
        assert batch.ten_length[0, 0] == pytest.approx(around_from(), abs=1e-6)


def around_from():
    """The shorter way: tangent from (.1, -.3) to the lower side, then the arc to (-.1, 0)."""
    distance = np.hypot(0.1, 0.3)
    touch = np.arctan2(-0.3, 0.1) - np.arccos(0.1 / distance)
    return np.sqrt(distance**2 - 0.01) + 0.1 * (touch + np.pi)


def test_armature_is_inertia():
    """m + a coef² = 2 + 0.5 · 4."""
    xml = SPRING.format('armature=".5"')
    batch = one(xml, 0)
    batch.qfrc_applied[:] = 1
    batch.step()
    np.testing.assert_allclose(batch.qvel, 0.001 / 4, rtol=1e-12)
    np.testing.assert_allclose(batch.M, [[[4.0]]])


def test_damper_and_spring_are_implicit():
    k, d, dt, m = 300.0, 5.0, 0.001, 2.0
    xml = SPRING.format(f'stiffness="{k}" damping="{d}" springlength="-.1 .2"')
    x, v = 0.3, 0.1
    batch = one(xml, 1, [x], [v])
    # m (v' − v) = δt coef (−k (coef (x + δt v') − 0.2) − d coef v'),  coef = 2
    expected = (m * v - dt * 2 * k * (2 * x - 0.2)) / (m + dt * dt * 4 * k + dt * 4 * d)
    np.testing.assert_allclose(batch.qvel, [[expected]], rtol=1e-12)
    inside = one(xml, 1, [0.05], [v])  # in the dead band only the damper acts
    np.testing.assert_allclose(inside.qvel, [[m * v / (m + dt * 4 * d)]], rtol=1e-12)


def test_dry_friction_holds_and_slows():
    xml = SPRING.format('frictionloss="3"')
    batch = one(xml, 0, [0.0], [1.0])
    batch.step(100)
    np.testing.assert_allclose(batch.qvel, [[1 - 0.1 * 2 * 3 / 2]], rtol=1e-9)
    np.testing.assert_allclose(batch.qfrc_constraint, [[-6.0]], rtol=1e-9)
    batch.step(1000)
    assert abs(batch.qvel[0, 0]) < 1e-9


def test_forces_of_actuators_share_their_bound():
    xml = """<mujoco><worldbody><body><joint name="x" type="slide"/><geom size=".1" mass="1"/></body>
    </worldbody><tendon><fixed name="t" actuatorfrcrange="-1 2"><joint joint="x" coef="1.5"/></fixed>
    </tendon><actuator><motor tendon="t" name="u" gear="2"/><motor tendon="t" gear="1"/></actuator>
    <sensor><tendonactuatorfrc tendon="t"/><actuatorfrc actuator="u"/></sensor></mujoco>"""
    batch = one(xml, 0)
    batch.ctrl[:] = [[3.0, 1.0]]
    batch.step()
    np.testing.assert_allclose(batch.sensordata, [[2.0, 1.5]], rtol=1e-12)
    np.testing.assert_allclose(batch.qfrc_actuator, [[1.5 * (2 * 1.5 + 0.5)]], rtol=1e-12)


@pytest.mark.parametrize("path, word", [
    ("<site site='a'/>", "two sites"), ("<site site='a'/><site site='a'/>", "repeats"),
    ("<site site='a'/><geom geom='g'/>", "before and after"),
    ("<site site='a'/><pulley divisor='0'/><site site='b'/>", "positive"),
    ("<site site='a'/><site site='b'/><pulley divisor='2'/>", "after it"),
    ("<site site='a'/><geom geom='box'/><site site='b'/>", "spheres and cylinders"),
])  # fmt: skip
def test_bad_paths_are_refused(path, word):
    xml = f"""<mujoco><worldbody><site name="a"/><site name="b" pos="0 0 1"/><geom name="g" size=".1"/>
    <geom name="box" type="box" size=".1 .1 .1"/></worldbody><tendon><spatial>{path}</spatial></tendon>
    </mujoco>"""
    with pytest.raises(stiction.ModelError, match=word):
        stiction.Model.from_xml(xml)


ARM = """<body><joint name="a" axis="0 1 0"/><geom size=".1" mass="1" pos=".3 0 0"/>
  <body pos=".5 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" mass=".5" pos=".2 0 0"/><site name="e" pos=".4 0 .05"/></body></body>
  <site name="w" pos="0 0 .5"/>"""


def test_inverse_weights_with_armature_are_mujocos():
    text = f"""<mujoco><worldbody>{ARM}</worldbody><tendon>
      <fixed armature=".3"><joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed>
      <spatial armature=".2"><site site="w"/><site site="e"/></spatial></tendon></mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(text), stiction.Model.from_xml(text)
    for name in ("dof_invweight0", "body_invweight0", "tendon_invweight0"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12, err_msg=name)


def test_inverse_weights_with_armature_between_trees():
    """J M^-1 J^T with all of M, where MuJoCo leaves out what couples two trees."""
    model = stiction.Model.from_xml(f"""<mujoco><worldbody>{ARM}
      <body pos="0 2 0"><joint axis="1 0 0"/><geom size=".1" mass=".7" pos="0 0 .2"/></body>
      <body pos="0 1 0"><joint name="c" axis="1 0 0"/><geom size=".1" mass=".7" pos="0 0 .2"/></body></worldbody>
      <tendon><fixed armature=".3"><joint joint="a" coef="1"/><joint joint="c" coef="-.5"/></fixed>
        <fixed><joint joint="b" coef="2"/></fixed></tendon></mujoco>""")
    at_rest = stiction.Reference(model).forward(model.qpos0, np.zeros(4))
    inverse, J = np.linalg.inv(at_rest.M), np.array([[1, 0, 0, -0.5], [0, 2, 0, 0]])
    assert at_rest.M[3, 0] != 0
    np.testing.assert_allclose(model.dof_invweight0, np.diag(inverse), rtol=1e-12)
    np.testing.assert_allclose(model.tendon_invweight0, np.diag(J @ inverse @ J.T), rtol=1e-12)
