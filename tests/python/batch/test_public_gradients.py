"""Public cases in which another engine's gradient is NaN, zero or missing: here it is that of differences.

Each has a loss of the state after some steps and its gradient by `PureStep.pull_rollout`.
"""

import numpy as np
import pytest

import stiction
from stiction.gradients import PureStep

EXACT = stiction.Options(solver_tolerance=1e-14, max_iterations=100, friction_iterations="fixed_point")

# google-deepmind/mujoco 1517: the Jacobian of a step in which a box leaves the ground
BOX = """<mujoco><option timestep="0.002" cone="pyramidal" impratio="100"/><worldbody>
  <geom name="floor" type="plane" size="40 40 40"/>
  <body name="box" pos="0 0 .3"><freejoint/><geom type="box" size=".3 .3 .3" mass="1"/><site name="s"/></body>
  </worldbody>
  <actuator><motor site="s" gear="0 0 1 0 0 0"/></actuator></mujoco>"""
# 2237: an impulse on one body that hits another; both slide on the ground
PUSH = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="-.3 0 .1"><freejoint/><geom type="sphere" size=".1" mass=".5"/></body>
  <body pos="0 .03 .1"><freejoint/><geom type="sphere" size=".1" mass=".5"/></body></worldbody></mujoco>"""
# 2841: a sphere that hits a box
HIT = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>
  <body pos="0 0 .15"><joint type="slide" axis="1 0 0"/><geom type="sphere" size=".1" mass="1"/></body>
  <body pos=".21 0 .1"><joint type="slide" axis="1 0 0"/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody></mujoco>"""
# Genesis-Embodied-AI/genesis-world 2069: none to the force of an actuator; 2150: none to an angle that moves a tip
CARTPOLE = """<mujoco><option timestep="0.01"/><worldbody>
  <body name="cart"><joint name="slider" type="slide" axis="1 0 0"/><geom type="box" size=".2 .1 .1" mass="1"/>
  <body name="pole"><joint name="hinge" axis="0 1 0" damping="1e-3"/><site name="tip" pos="0 0 1"/>
  <geom type="capsule" fromto="0 0 0 0 0 1" size=".045" mass=".1"/></body></body></worldbody>
  <actuator><motor joint="slider" gear="10" ctrlrange="-1 1"/></actuator>
  <sensor><framepos objtype="site" objname="tip"/></sensor></mujoco>"""


def batch_of(xml, num_envs=1, precision="float64"):
    return stiction.Batch(stiction.Model.from_xml(xml), num_envs, options=EXACT, precision=precision, threads=1)


def of_differences(loss, x, h):
    return (8 * (loss(x + h) - loss(x - h)) - (loss(x + 2 * h) - loss(x - 2 * h))) / (12 * h)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_box_leaves_the_ground(precision):
    """On its way up from rest, in each of 60 steps: pressed, at the force that lifts it, and off."""
    batch = batch_of(BOX, precision=precision)
    d = stiction.StepDerivative(batch)
    touching = []
    for t in range(60):
        batch.ctrl[:] = 0.4 * t
        jacobian = d.jacobian()
        assert np.all(np.isfinite(jacobian)) and not d.status[0]
        touching.append(int(batch.ncon[0]))
        lift = jacobian[0, d.of["qvel"], d.wrt["ctrl"]][2, 0]  # δt/m, but what the ground takes
        assert -1e-9 <= lift <= 0.002 * (1 + 1e-9)
        batch.step()
    assert touching[10] == 4 and touching[-1] == 0
    assert lift == pytest.approx(0.002, rel=1e-6)


def test_a_box_at_the_edge_of_contact():
    """Where its corners touch with no force at all, and moving with no speed: the side of a kink, never NaN."""
    batch = batch_of(BOX, 4)
    heights = np.array([0.3, np.nextafter(0.3, 1), np.nextafter(0.3, 0), 0.3 + 1e-12])
    for speed in (0.0, 1e-300, -1e-12):
        qpos = np.tile([0, 0, 0.3, 1, 0, 0, 0], (4, 1))
        qpos[:, 2] = heights
        batch.set_state(qpos=qpos, qvel=np.full((4, 6), speed))
        d = stiction.StepDerivative(batch)
        jacobian = d.jacobian()
        assert np.all(np.isfinite(jacobian)) and not d.status.any()
        weights = np.random.default_rng(0).standard_normal((4, d.rows))
        assert np.allclose(d.product(weights), np.einsum("er,erc->ec", weights, jacobian), rtol=1e-9, atol=1e-9)


def test_an_impulse_that_goes_through_two_contacts():
    """Of where the second ball is after 150 steps, to the force of the first step on the first ball."""
    batch = batch_of(PUSH)
    f = PureStep(batch)
    start = {"qpos": np.array(batch.qpos, float), "qvel": np.array(batch.qvel, float)}

    def end_of(force):
        first = f(start | {"qfrc_applied": np.array([[force, 0, 0, 0, 0, 0] + [0] * 6])})
        states = f.rollout(first, np.zeros((149, 1, 0)))
        return first, states

    def loss(force):
        return float(end_of(force)[1]["qpos"][-1, 0, 7] ** 2)

    force = 300.0  # N, for one step: 1.2 m/s
    first, states = end_of(force)
    assert states["qpos"][-1, 0, 7] > 0.03 and abs(states["qpos"][-1, 0, 8] - 0.03) > 1e-3  # it was hit, aslant
    weights = np.zeros(states["qpos"].shape)
    weights[-1, 0, 7] = 2 * states["qpos"][-1, 0, 7]
    back = f.pull_rollout(states, np.zeros((149, 1, 0)), {"qpos": weights}, ("qpos", "qvel"))
    found = f.pull(start | {"qfrc_applied": np.array([[force] + [0] * 11])}, back, ("qfrc_applied",))["qfrc_applied"]
    assert found[0, 0] == pytest.approx(of_differences(loss, force, 1e-4 * force), rel=1e-4)


def test_a_sphere_hits_a_box():
    """Of the speeds after the impact to the speed before: momentum is kept exactly, and so is its derivative."""
    batch = batch_of(HIT)
    f = PureStep(batch)
    steps = 60

    def rollout(speed):
        return f.rollout({"qpos": np.zeros((1, 2)), "qvel": np.array([[speed, 0.0]])}, np.zeros((steps, 1, 0)))

    speed = 1.03  # 1 would touch at the very end of a step
    states = rollout(speed)
    assert states["qvel"][-1, 0, 1] > 0.2  # the box moves
    slopes = []
    for k in range(2):
        weights = np.zeros(states["qvel"].shape)
        weights[-1, 0, k] = 1
        slopes.append(f.pull_rollout(states, np.zeros((steps, 1, 0)), {"qvel": weights}, ("qvel",))["qvel"][0, 0])
        expected = of_differences(lambda v, k=k: float(rollout(v)["qvel"][-1, 0, k]), speed, 1e-5)
        assert slopes[k] == pytest.approx(expected, rel=1e-5)
    assert 1 * slopes[0] + 2 * slopes[1] == pytest.approx(1.0, abs=1e-9)


def test_to_the_force_of_an_actuator():
    """Of the pole's tip after 40 steps to each control, none of which is 0."""
    batch = batch_of(CARTPOLE)
    f = PureStep(batch)
    ctrl = 0.3 * np.sin(0.2 * np.arange(40)).reshape(40, 1, 1)
    start = {"qpos": np.array([[0.0, 0.4]]), "qvel": np.zeros((1, 2))}

    def loss(u):
        states = f.rollout(start, u)
        return float(states["qpos"][-1, 0, 0] + np.sin(states["qpos"][-1, 0, 1]))

    states = f.rollout(start, ctrl)
    weights = np.zeros(states["qpos"].shape)
    weights[-1, 0] = 1, np.cos(states["qpos"][-1, 0, 1])
    found = f.pull_rollout(states, ctrl, {"qpos": weights}, ("ctrl",))["ctrl"]
    assert np.all(np.abs(found) > 1e-6)
    for t in (0, 17, 39):
        expected = of_differences(lambda x, t=t: loss(np.where(np.arange(40).reshape(40, 1, 1) == t, x, ctrl)),
                                  ctrl[t, 0, 0], 1e-4)  # fmt: skip
        assert found[t, 0, 0] == pytest.approx(expected, rel=1e-6)


def test_to_an_angle_by_which_a_tip_moves():
    """Forward kinematics, as sensordata of a step: the tip's Jacobian after the pole has moved for δt."""
    batch = batch_of(CARTPOLE)
    batch.set_state(qpos=np.array([[0.2, 0.4]]))
    d = stiction.StepDerivative(batch, of=("sensordata",), wrt=("qpos",))
    found = d.jacobian()[0]
    assert found[:, 0] == pytest.approx([1, 0, 0])
    assert found[:, 1] == pytest.approx([np.cos(0.4), 0, -np.sin(0.4)], abs=2e-3)
    assert np.allclose(d.product(np.ones((1, 3)))[0], found.sum(0), rtol=1e-9)
