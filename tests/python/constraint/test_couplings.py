"""Equality constraints of joints and of tendons: against MuJoCo, the reference and closed forms."""

import numpy as np
import pytest

import stiction
import tangents
from one_step import jacobian_is_the_difference, steps_as_the_reference

mujoco = pytest.importorskip("mujoco")

HAND = """<mujoco><option gravity="0.3 -1 -9"/>
<default><geom contype="0" conaffinity="0"/><equality solref="0.03 0.8"/></default>
<worldbody>
 <site name="hook" pos="0.1 0.2 1.4"/>
 <body pos="0 0 1" euler="20 30 40"><freejoint/><geom type="box" size=".1 .08 .05" mass="1"/>
  <site name="palm" pos=".02 .03 .04"/>
  <body pos=".1 0 0"><joint name="a" axis="0 1 .2" ref="10"/><geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass=".3"/>
   <body pos=".1 0 0"><joint name="b" axis="0 1 0" damping=".1"/>
    <geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass=".2"/><site name="tip" pos=".1 0 0"/></body></body>
  <body pos="-.1 0 0"><joint name="c" type="slide" axis="1 0 0"/><geom size=".03" mass=".1"/>
   <site name="thumb"/></body></body>
 <body pos="1 0 1"><joint name="d" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 .2 -.1" size=".02" mass=".5"/></body>
</worldbody>
<tendon>
 <fixed name="sum"><joint joint="a" coef=".7"/><joint joint="b" coef="-.5"/></fixed>
 <fixed name="more"><joint joint="b" coef="1"/><joint joint="d" coef=".4"/></fixed>
 <spatial name="string"><site site="hook"/><site site="palm"/></spatial>
 <spatial name="grip"><site site="tip"/><site site="thumb"/></spatial>
</tendon>
<equality>
 <joint name="gear" joint1="a" joint2="b" polycoef=".1 -.6 .3 .2 -.1"/>
 <joint joint1="c" joint2="a" polycoef="0 .1"/>
 <joint joint1="d" polycoef=".2"/>
 <tendon tendon1="sum" tendon2="more" polycoef=".05 .8 -.3 0 .2" solref=".1 1.2" solimp=".8 .9 .01"/>
 <tendon tendon1="string"/>
 <tendon tendon1="grip" tendon2="string" polycoef="-.02 .5 .4" solref="-400 -30"/>
 <tendon tendon1="grip" tendon2="sum" active="false"/>
</equality></mujoco>"""


def both():
    return mujoco.MjModel.from_xml_string(HAND), stiction.Model.from_xml(HAND, strict=True)


def random_state(rng, theirs):
    q = theirs.qpos0.copy()
    mujoco.mj_integratePos(theirs, q, 0.5 * rng.normal(size=theirs.nv), 1.0)
    return q, rng.normal(size=theirs.nv)


def test_arrays_are_mujocos():
    theirs, ours = both()
    for field in ("eq_type", "eq_obj1id", "eq_active0"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field), field)
    two = ours.eq_obj2id >= 0
    np.testing.assert_array_equal(ours.eq_obj2id[two], theirs.eq_obj2id[two])
    np.testing.assert_allclose(ours.eq_data, theirs.eq_data[:, :11], atol=0)
    np.testing.assert_allclose(ours.tendon_invweight0, theirs.tendon_invweight0, rtol=1e-10)


def test_residuals_and_jacobians():
    theirs, ours = both()
    engine, data = stiction.Reference(ours), mujoco.MjData(theirs)
    data.eq_active[:] = 1
    rng = np.random.default_rng(5)
    for _ in range(20):
        q, v = random_state(rng, theirs)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        state = engine.forward(q, v)
        J = data.efc_J.reshape(-1, theirs.nv)
        np.testing.assert_allclose(state.eq_gap[:, 3], data.efc_pos[: ours.neq], atol=1e-12)
        np.testing.assert_allclose(state.eq_J[3::6], J[: ours.neq], atol=1e-10)
        rest = np.delete(state.eq_gap, 3, axis=1)
        assert not rest.any()


def test_stiffness_is_mujocos():
    """A weight on a coupling hangs as deep as in MuJoCo with a constant impedance."""
    xml = """<mujoco><option timestep="0.001" gravity="0 0 -10"/><worldbody>
      <body><joint name="a" type="slide" axis="0 0 1"/><geom size=".1" mass="2"/></body>
      <body pos="1 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" mass=".7" pos=".2 0 0"/></body></worldbody>
      <tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef=".3"/></fixed></tendon>
      <equality>{}</equality></mujoco>"""
    for equality in ('<joint joint1="a" joint2="b" polycoef="0 .4" solref="{}" solimp=".9 .9 .001"/><joint joint1="b"/>',
                     '<tendon tendon1="t" solref="{}" solimp=".9 .9 .001"/><joint joint1="b"/>'):
        for solref in ("0.02 1", "0.05 0.7", "-900 -80"):
            text = xml.format(equality.format(solref))
            theirs = mujoco.MjModel.from_xml_string(text)
            data = mujoco.MjData(theirs)
            for _ in range(3000):
                mujoco.mj_step(theirs, data)
            batch = stiction.Batch(stiction.Model.from_xml(text), 2, precision="float64")
            batch.step(3000)
            np.testing.assert_allclose(batch.qpos[0], data.qpos, rtol=1e-3, err_msg=text)


def random_batch(model, n, seed=2, **options):
    batch = stiction.Batch(model, n, **options)
    rng, theirs = np.random.default_rng(seed), both()[0]
    for k in range(n):
        batch.qpos[k], batch.qvel[k] = random_state(rng, theirs)
    batch.eq_active[:] = rng.integers(0, 2, size=batch.eq_active.shape)
    return batch


@pytest.mark.parametrize("extra", ["", '<custom><numeric name="stiction_equality" data="1e40 0"/></custom>'],
                         ids=["mapped", "rigid"])
def test_packs_against_the_reference(extra):
    model = stiction.Model.from_xml(HAND.replace("</mujoco>", extra + "</mujoco>"))
    batch = random_batch(model, 9, precision="float64", options=stiction.Options(solver_tolerance=1e-13))
    steps_as_the_reference(batch, "eq_active")


def test_derivative():
    model = both()[1]
    rng = np.random.default_rng(8)
    q = tangents.add(model, model.qpos0, 0.2 * rng.normal(size=model.nv))
    jacobian_is_the_difference(model, q, rng.normal(size=model.nv), 1e-7, eq_active=np.ones(model.neq))


def test_coupled_wheels():
    """Wheels with the ratio 3 under a torque on the first: α_1 = 3 α_2 = τ/(I_1 + I_2/9); the force on the first."""
    inertia = 0.5 * np.array([2.0, 1.0])  # of spheres: 2/5 m r²
    xml = f"""<mujoco><option timestep="0.001"/><worldbody>
      <body><joint name="a" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 {inertia[0]} 1"/></body>
      <body><joint name="b" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 {inertia[1]} 1"/></body>
      </worldbody><equality><joint joint1="a" joint2="b" polycoef="0 3"/></equality>
      <custom><numeric name="stiction_equality" data="1e40 0"/></custom>
      <actuator><motor joint="a"/></actuator></mujoco>"""
    model = stiction.Model.from_xml(xml)
    torque = 0.7
    expected = torque / (inertia[0] + inertia[1] / 9)
    batch = stiction.Batch(model, 1, precision="float64")
    batch.ctrl[:] = torque
    batch.step(100)
    np.testing.assert_allclose(batch.qvel[0], [0.1 * expected, 0.1 * expected / 3], rtol=1e-9)
    engine = stiction.Reference(model)
    step = engine.step(batch.qpos[0], batch.qvel[0], ctrl=[torque])
    assert step.eq_force[0, 0] == pytest.approx(inertia[0] * expected - torque, rel=1e-9)
    assert not step.eq_force[0, 1:].any()


def test_two_ends_of_a_string_keep_their_distance():
    """A tendon of two sites that keeps its length is a rod: the bob on it swings as a pendulum."""
    xml = """<mujoco><option timestep="0.0005"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
      <site name="hook" pos="0 0 1"/>
      <body name="bob" pos=".3 0 .6"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
       <geom size=".01" mass="1"/><site name="bob"/></body>
      <body name="rod" pos="0 0 1"><joint axis="0 1 0"/><inertial pos=".3 0 -.4" mass="1" diaginertia="1e-9 1e-9 1e-9"/>
       <site name="end" pos=".3 0 -.4"/></body></worldbody>
      <tendon><spatial name="rod"><site site="hook"/><site site="bob"/></spatial></tendon>
      <equality><tendon tendon1="rod" solref=".002 1"/></equality></mujoco>"""
    batch = stiction.Batch(stiction.Model.from_xml(xml), 1, precision="float64")
    batch.step(1000)
    batch.refresh()
    sites = batch.site_xpos[0]
    np.testing.assert_allclose(sites[1], sites[2], atol=3e-5)
    assert batch.ten_length[0, 0] == pytest.approx(0.5, abs=2e-4)


@pytest.mark.parametrize("friction", (0, 0.2, 1, 20))
@pytest.mark.parametrize("driven, polynomial", ((1, "0 1"), (2, "0 1"), (1, "0 0.5"), (2, "0 0.2")))
def test_friction_does_not_hold_a_coupling_open(driven, polynomial, friction):
    """A follower with dry friction follows to 1e-3 rad; MuJoCo, whose dry friction slides, to 2e-4."""
    model = stiction.Model.from_xml(f"""<mujoco><option timestep="0.002"/><worldbody>
      <body><joint name="a" axis="0 0 1" frictionloss="{friction}" damping="0.1"/>
        <geom size="0.02" pos="0.03 0 0" mass="0.05" contype="0" conaffinity="0"/></body>
      <body pos="0 0.2 0"><joint name="b" axis="0 0 1" frictionloss="{friction}" damping="0.1"/>
        <geom size="0.02" pos="0.03 0 0" mass="0.05" contype="0" conaffinity="0"/></body></worldbody>
      <equality><joint joint1="a" joint2="b" polycoef="{polynomial}" solref="0.01 1"/></equality>
      <actuator><position joint="{'ab'[driven - 1]}" kp="500" kv="1"/></actuator></mujoco>""")
    batch = stiction.Batch(model, 1, precision="float64")
    batch.ctrl[:] = 1.0
    batch.step(1500)
    assert batch.status[0] == 0
    slope = float(polynomial.split()[1])
    assert abs(batch.qpos[0, 0] - slope * batch.qpos[0, 1]) < 1.05e-3
    assert batch.qpos[0, driven - 1] > 0.8


def test_own_parameters():
    model = stiction.Model.from_xml("""<mujoco><option gravity="0 0 0"/><worldbody>
      <body><joint name="a" type="slide"/><geom size=".1" mass="1"/></body></worldbody>
      <equality><joint joint1="a" polycoef=".1"/></equality></mujoco>""")
    batch = stiction.Batch(model, 3)
    batch.param("eq_data")[1, 0, 0] = -0.2
    batch.eq_active[2] = 0
    batch.step(1000)
    np.testing.assert_allclose(batch.qpos[:, 0], [0.1, -0.2, 0], atol=1e-5)


@pytest.mark.parametrize("equality, message", [
    ('<joint joint1="a" joint2="a"/>', "twice"), ('<joint joint2="a"/>', "joint1"),
    ('<joint joint1="f"/>', "hinge or a slide"), ('<joint joint1="a" joint2="f"/>', "hinge or a slide"),
    ('<joint joint1="a" polycoef="nan"/>', "polycoef"), ('<joint joint1="a" polycoef="1e30"/>', "polycoef"),
    ('<tendon tendon1="a"/>', '"a"'), ('<tendon tendon1="t" tendon2="u"/>', '"u"'),
])  # fmt: skip
def test_bad_input(equality, message):
    xml = f"""<mujoco><worldbody><body><joint name="a" type="slide"/><geom size=".1"/></body>
    <body><freejoint name="f"/><geom size=".1"/></body></worldbody>
    <tendon><fixed name="t"><joint joint="a" coef="1"/></fixed></tendon><equality>{equality}</equality></mujoco>"""
    with pytest.raises(stiction.ModelError, match=message):
        stiction.Model.from_xml(xml)
