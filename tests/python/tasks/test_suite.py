"""dm_control's suite: observations and rewards of our tasks are those that dm_control gives for the same state."""

from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.library.suite import TASKS, tolerance
from stiction.library.suite.base import MODELS

FILE = Path(__file__).parents[2] / "data" / "dm_control_suite.npz"
# what contact forces and accelerations of the other engine go into
OTHER_PHYSICS = {"touch", "imu", "force_torque"}
# of dm_control 1.0.50's own models in MuJoCo, six digits: the step, and the sums over the model of masses, inertias, dampings,
# armatures and stiffnesses of joints, and of what the motors give at full control
FIGURES = {
    "ball_in_cup": (0.002, 0.130603, 0.000434415, 6, 0, 40, 10),
    "cartpole": (0.01, 1.1, 0.0672826, 0.000502, 0, 0, 10),
    "cheetah": (0.01, 14, 1.9425, 22.5, 0.6, 900, 450),
    "finger": (0.01, 3.97905, 0.0403375, 5.5, 0, 0, 45),
    "hopper": (0.005, 12.4392, 0.259221, 0.2, 0.8, 0, 110),
    "humanoid": (0.005, 40.844, 0.877871, 47.4, 0.21, 144, 920),
    "quadruped": (0.005, 107.118, 6.73252, 480, 0.16, 0, 12000),
    "reacher": (0.02, 0.0816814, 0.000209272, 0.02, 0, 0, 0.1),
    "walker": (0.0025, 28.5403, 1.64915, 0.6, 0.06, 0, 340),
}


def after(task, steps, num_envs=5):
    """Environments after some steps of actions anywhere in their bounds, and what they say."""
    env = stiction.TaskEnv(task, num_envs, seed=3)
    random = np.random.default_rng(1)
    env.reset()
    for _ in range(steps):
        env.step(random.uniform(-1, 1, (num_envs, env.num_actions)))
    return env


@pytest.fixture(scope="module")
def recorded():
    """What dm_control 1.0.50 gave with MuJoCo 3.x, by "task:quantity": record_dm_control.py."""
    with np.load(FILE) as file:
        return dict(file)


@pytest.mark.parametrize("task_id", TASKS)
def test_observations_and_rewards_are_those_of_dm_control(recorded, task_id):
    theirs = {name.partition(":")[2]: x for name, x in recorded.items() if name.startswith(task_id + ":")}
    env = stiction.TaskEnv(TASKS[task_id], len(theirs["reward"]))
    env.reset()
    env.batch.set_state(qpos=theirs["qpos"], qvel=theirs["qvel"], act=theirs["act"])
    env.batch.ctrl[:] = theirs["ctrl"]
    if hasattr(env.task, "_target"):
        env.task._target[:] = theirs["target"]
    env.batch.refresh()
    np.testing.assert_allclose(env.task.reward(), theirs["reward"], atol=2e-5)
    seen = {f"seen.{name}": x.reshape(len(x), -1) for name, x in env.task.seen().items()}
    assert list(seen) == [name for name in theirs if name.startswith("seen.")]
    for name, x in seen.items():
        assert x.shape == theirs[name].shape, name
        if name.removeprefix("seen.") not in OTHER_PHYSICS:
            np.testing.assert_allclose(x, theirs[name], atol=2e-5 * (1 + np.abs(theirs[name]).max()), err_msg=name)
    np.testing.assert_array_equal(env.observe(), np.concatenate(list(seen.values()), 1).astype(np.float32))
    np.testing.assert_allclose((env.action_low, env.action_high), theirs["bounds"], rtol=1e-6)
    np.testing.assert_allclose((env.dt, env.max_episode_steps), theirs["times"], rtol=1e-9)


@pytest.mark.parametrize("name", FIGURES)
def test_bodies_have_the_masses_joints_and_motors_of_dm_control(name):
    m = stiction.Model.from_file(MODELS / f"{name}.xml")
    motors = m.actuator_gear[:, 0] * m.actuator_gain[:, 0]
    parts = (m.body_mass, m.body_inertia, m.dof_damping, m.dof_armature, m.jnt_stiffness, motors)
    np.testing.assert_allclose((m.timestep, *(np.sum(x) for x in parts)), FIGURES[name], rtol=1e-5)


@pytest.mark.parametrize("task, damping", [("spin", 0.03), ("turn_easy", 0.5), ("turn_hard", 0.5)])
def test_the_hinge_of_a_spun_finger_has_less_damping(task, damping):
    model = stiction.TaskEnv(TASKS[f"dm_control/finger-{task}"], 1).batch.model
    assert model.dof_damping[model.jnt_names.index("hinge")] == damping


def test_the_rewards_that_are_compared_are_not_all_alike(recorded):
    ends = [task_id for task_id in TASKS if np.ptp(recorded[f"{task_id}:reward"]) > 1e-3]
    assert len(ends) >= 14, ends


@pytest.mark.train("dm_control")
@pytest.mark.parametrize("sigmoid", ["gaussian", "linear", "quadratic", "long_tail"])
def test_tolerance_is_that_of_dm_control(sigmoid):
    from dm_control.utils import rewards

    x = np.linspace(-4, 4, 201)
    for bounds, margin, value in (((0, 0), 1, 0.1), ((-1, 2), 0.5, 0.3), ((1, np.inf), 2, 0.5), ((0, 1), 0, 0.1)):
        theirs = rewards.tolerance(x, bounds, margin, sigmoid, value)
        np.testing.assert_allclose(tolerance(x, *bounds, margin, sigmoid, value), theirs, atol=1e-12)


def test_an_unknown_shape_of_tolerance_is_refused():
    with pytest.raises(ValueError, match="sigmoid = 'cubic'"):
        tolerance(np.ones(3), margin=1, sigmoid="cubic")


@pytest.mark.parametrize("task_id", TASKS)
def test_starts_and_rewards_of_every_task(task_id):
    """Starts differ between the environments, do not depend on their number, and rewards are in [0, 1]."""
    env = after(TASKS[task_id], 0)
    few = after(TASKS[task_id], 0, num_envs=2)
    np.testing.assert_array_equal(env.obs[:2], few.obs)
    assert len(np.unique(env.obs, axis=0)) == 5
    for _ in range(20):
        _, reward, terminated, _ = env.step(np.ones((5, env.num_actions)))
        assert (reward >= 0).all() and (reward <= 1).all() and not terminated.any()


@pytest.mark.parametrize("task_id", [id for id in TASKS if any(x in id for x in ("humanoid", "finger", "ball", "quadruped"))])
def test_starts_touch_nothing(task_id):
    env = after(TASKS[task_id], 0, num_envs=64)
    contacts = env.batch.contacts()
    assert not (contacts.gap < 0).any()
