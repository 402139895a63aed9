"""Limits of ball joints: those of a hinge, about any axis."""

import numpy as np
import pytest

import stiction
import tangents
from one_step import jacobian_is_the_difference, steps_as_alone, steps_as_the_reference

AXIS = np.array([0.36, -0.48, 0.8])


def model(joint, extra=""):
    return stiction.Model.from_xml(f"""<mujoco><option timestep="0.002" gravity="0 0 0"/><compiler angle="radian"/>
      <worldbody><body>{joint}<inertial pos="0 0 0" mass="1" diaginertia=".02 .02 .02"/></body>{extra}</worldbody></mujoco>""")


def quaternion(angle):
    return np.concatenate(([np.cos(angle / 2)], np.sin(angle / 2) * AXIS))


@pytest.mark.parametrize("options", [{}, {"limits": "near_rigid"}])
@pytest.mark.parametrize("start, rate", [(0.3, 4.0), (0.78, 2.0), (0.9, 0.0), (0.9, -3.0), (-0.5, -6.0)])
def test_ball_is_a_hinge_about_the_axis(start, rate, options):
    """It runs into the limit, starts beyond it, or swings through the middle to the other side."""
    limit = 'range="{} .8" limited="true" margin=".01" solreflimit=".03 1" damping=".01"'
    axis = " ".join(map(str, AXIS))
    hinge = model(f'<joint type="hinge" axis="{axis}" {limit.format(-0.8)}/>')
    ball = model(f'<joint type="ball" {limit.format(0)}/>')
    options = stiction.Options(gyroscopic="explicit_euler", **options)
    a = stiction.Batch(hinge, 1, precision="float64", options=options)
    b = stiction.Batch(ball, 1, precision="float64", options=options)
    engine = stiction.Reference(ball, options)
    a.set_state(qpos=[[start]], qvel=[[rate]])
    b.set_state(qpos=[quaternion(start)], qvel=[rate * AXIS])
    touched = False
    for _ in range(200):
        expected = engine.step(b.qpos[0], b.qvel[0])
        a.step(), b.step()
        np.testing.assert_allclose(b.qvel[0], expected.qvel, atol=1e-9)
        np.testing.assert_allclose(b.qvel[0], a.qvel[0, 0] * AXIS, atol=1e-8)
        touched |= bool(np.abs(b.qfrc_constraint[0]).max() > 0)
    # a fast return is let go
    assert touched or start * rate < 0
    assert abs(a.qpos[0, 0]) < 0.83


@pytest.mark.parametrize("engine", ["reference", "batch"])
@pytest.mark.parametrize("options", [{}, {"limits": "near_rigid"}], ids=["solref", "near_rigid"])
def test_energy_never_rises(options, engine):
    """A ball in its limit, with inertia alike in all axes, loses energy in every step that begins within the range; beyond it
    by g the limit gives it back no more than the speed g/T (g/(2 δt) near-rigid)."""
    limit, recovery, inertia = 0.8, 0.03, 0.02
    ball = model(f'<joint type="ball" range="0 {limit}" limited="true" solreflimit="{recovery} 1"/>')
    options = stiction.Options(solver_tolerance=1e-13, **options)
    reference, batch = stiction.Reference(ball, options), stiction.Batch(ball, 1, precision="float64", options=options)
    dt, rng = ball.timestep, np.random.default_rng(6)
    inside = returned = 0
    for _ in range(60):
        # in any direction, so along the limit, too; or at rest
        q = tangents.quat_exp(rng.uniform(0, 1.4) * random_axis(rng))
        v = rng.uniform(0, 6) * (rng.random() < 0.6) * random_axis(rng)
        for _ in range(200):
            if engine == "batch":
                batch.set_state(qpos=q[None], qvel=v[None])
                batch.step()
                q1, v1 = np.array(batch.qpos[0]), np.array(batch.qvel[0])
            else:
                step = reference.step(q, v)
                q1, v1 = step.qpos, step.qvel
            turn = tangents.quat_log(q)
            gap = limit - np.linalg.norm(turn)
            rise = 0.5 * inertia * (v1 @ v1 - v @ v)
            if gap >= 0:
                inside += rise < 0
                assert rise <= 1e-14 * (1 + v @ v), rise
            elif np.linalg.norm(v1 - v) > 1e-9:
                back = -v1 @ turn / np.linalg.norm(turn)
                returned += rise > 0
                assert back <= -gap / (2 * dt if options.limits == "near_rigid" else recovery) + 1e-12
            q, v = q1, v1
    assert inside > 20 and returned > 20


def random_axis(rng):
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


CHAIN = """<mujoco><option timestep="0.004"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
 <body pos="0 0 1"><joint type="ball" range="0 40" damping=".02"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
  <body pos=".3 0 0"><joint type="ball" range="0 25" frictionloss=".02"/>
   <geom type="capsule" fromto="0 0 0 .2 .1 0" size=".02" mass=".4"/>
   <body pos=".2 .1 0"><joint axis="0 1 0" range="-30 10"/><geom type="box" size=".1 .05 .02" mass=".3"/></body></body></body>
 <body pos="1 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
  <body pos=".1 0 0"><joint type="ball" range="0 60"/><geom size=".1" pos=".2 0 0" mass=".5"/></body></body>
</worldbody></mujoco>"""


def states(model, n, seed=4):
    rng = np.random.default_rng(seed)
    q = [tangents.add(model, model.qpos0, 0.8 * rng.normal(size=model.nv)) for _ in range(n)]
    return np.array(q), 2 * rng.normal(size=(n, model.nv))


def test_packs_against_the_reference():
    model = stiction.Model.from_xml(CHAIN, strict=True)
    batch = stiction.Batch(model, 20, precision="float64", options=stiction.Options(solver_tolerance=1e-13))
    batch.qpos[:], batch.qvel[:] = states(model, 20)
    expected = steps_as_the_reference(batch)
    assert sum(np.abs(step.gen_impulse[:3]).max() > 1e-6 for step in expected) > 5


def test_bits_do_not_depend_on_the_batch():
    model = stiction.Model.from_xml(CHAIN)
    batch = stiction.Batch(model, 11)
    batch.qpos[:], batch.qvel[:] = states(model, 11)
    steps_as_alone(batch, 50, (0, 7, 10))


def test_derivative():
    model = stiction.Model.from_xml(CHAIN)
    jacobian_is_the_difference(model, *(x[3] for x in states(model, 5)), 1e-6)
