"""Observation, reward and end of the compiled tasks against Gymnasium's environments in the same
states, and the robots against Gymnasium's files read by our reader."""

import inspect
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium_tasks import OPTIONS, TASKS, ours, states, their_step, theirs

import stiction

CASES = [(id, options) for id in TASKS for options in ({}, OPTIONS[id])]
both = pytest.mark.parametrize("id, options", CASES, ids=[
    f"{id}-{'options' if options else 'defaults'}" for id, options in CASES])


@both
def test_observation(id, options):
    env, gym = ours(id, 30, **options), theirs(id, **options)
    assert gym.observation_space.shape == (env.num_obs,)
    qpos, qvel = states(env, 30, seed=1)
    env.batch.set_state(qpos=qpos, qvel=qvel)
    obs = env.observe()
    for i in range(30):
        gym.set_state(qpos[i], qvel[i])
        expected = gym._get_obs()
        if id == "InvertedDoublePendulum-v5":  # a soft limit's force is the engine's own
            assert (obs[i, 8] != 0) == (expected[8] != 0) and abs(obs[i, 8]) <= 10
            expected[8] = obs[i, 8]
        np.testing.assert_allclose(obs[i], expected, rtol=1e-6, atol=1e-6)


@both
def test_reward_end_and_metrics(id, options):
    n = 60
    env, gym = ours(id, n, **options), theirs(id, **options)
    rng = np.random.default_rng(2)
    ends = set()
    qpos, qvel = states(env, n, seed=3)
    qpos[: n // 2] = env.batch.model.qpos0 + rng.uniform(-0.02, 0.02, qpos[: n // 2].shape)
    qpos[:, 0] += rng.uniform(-50, 50, n) if id in TASKS[4:] else 0  # far along the track
    env.batch.set_state(qpos=qpos, qvel=qvel)
    action = rng.uniform(-1.5, 1.5, (n, env.num_actions)).astype(np.float32)
    obs, reward, terminated, truncated = env.step(action)
    for i in range(n):
        after = env.batch.qpos[i], env.batch.qvel[i]
        expected = their_step(gym, (qpos[i], qvel[i]), after, action[i])
        if id == "InvertedDoublePendulum-v5":
            expected[0][8] = obs[i, 8]
        np.testing.assert_allclose(obs[i], expected[0], rtol=1e-6, atol=1e-6)
        # our kinematics and theirs agree to some 1e-12; float32 is what is handed out
        np.testing.assert_allclose(reward[i], expected[1], rtol=2e-6, atol=2e-6)
        assert terminated[i] == expected[2] and not truncated[i]
        ends.add(bool(terminated[i]))
        info = expected[4]
        assert set(env.metric_names) == set(info)
        np.testing.assert_allclose(env.metrics[i], [info[k] for k in env.metric_names], rtol=2e-6,
                                   atol=2e-6)
    never = (id in ("Reacher-v5", "Pusher-v5", "HalfCheetah-v5", "Swimmer-v5")
             or not options.get("terminate_when_unhealthy", True))
    assert ends == ({False} if never else {False, True})


@pytest.mark.parametrize("id, options", [c for c in CASES if c[0] in ("Hopper-v5", "Walker2d-v5")])
def test_healthy_bounds(id, options):
    """On both sides of every bound, one coordinate at a time, with a step that moves nothing."""
    gym = theirs(id, **options)
    model = ours(id).batch.model
    rest = np.concatenate([model.qpos0, np.zeros(model.nv)])
    bounds = [(1, gym._healthy_z_range), (2, gym._healthy_angle_range)]
    bounds += [(k, getattr(gym, "_healthy_state_range", (-np.inf, np.inf)))
               for k in range(2, rest.size)]
    states = [rest]
    for k, limits in bounds:
        for x in filter(np.isfinite, limits):
            for side in (-1e-3, 1e-3):
                states.append(rest.copy())
                states[-1][k] = x + side
    n = len(states)
    env = ours(id, n, frame_skip=1, options=stiction.Options(timestep=1e-9), **options)
    env.batch.param("jnt_range")[:] = (-1e3, 1e3)  # nothing pushes back
    qpos, qvel = np.split(np.array(states), [model.nq], axis=1)
    env.batch.set_state(qpos=qpos, qvel=qvel)
    _, _, terminated, _ = env.step(np.zeros((n, env.num_actions)))
    healthy = []
    for i in range(n):
        gym.set_state(qpos[i], qvel[i])
        healthy.append(bool(gym.is_healthy))
    survive = env.metrics[:, env.metric_names.index("reward_survive")]
    np.testing.assert_array_equal(survive > 0, healthy)
    ends = options.get("terminate_when_unhealthy", True)
    np.testing.assert_array_equal(terminated, ends & ~np.array(healthy))
    assert healthy[0] and healthy.count(False) >= (n - 1) // 2 > 3


@pytest.mark.parametrize("id", TASKS)
def test_definition(id):
    env, gym = ours(id), theirs(id)
    assert env.dt == pytest.approx(gym.dt, rel=1e-12)
    assert env.frame_skip == gym.frame_skip
    assert env.max_episode_steps == gymnasium.spec(id).max_episode_steps
    np.testing.assert_array_equal(env.action_low, gym.action_space.low)
    np.testing.assert_array_equal(env.action_high, gym.action_space.high)
    parameters = inspect.signature(type(gym).__init__).parameters
    elsewhere = {"self", "xml_file", "default_camera_config", "kwargs"}
    defaults = {name: p.default for name, p in parameters.items() if name not in elsewhere}
    given = {name: tuple(value) if isinstance(value, list) else value
             for name, value in env.task_options.items()}
    assert given == defaults


# What the robots are made of; names of joints and actuators are Gymnasium's too.
ROBOT = ("body_parentid body_pos body_quat body_mass body_ipos body_inertia body_jntnum jnt_type "
         "jnt_pos jnt_axis jnt_limited jnt_range jnt_margin jnt_stiffness qpos0 qpos_spring "
         "dof_armature dof_damping dof_frictionloss actuator_trntype actuator_trnid actuator_gear "
         "actuator_gain actuator_bias actuator_ctrllimited actuator_ctrlrange gravity "
         "density viscosity wind timestep").split()
PAIR = "condim stiffness dissipation friction margin slotnum".split()


def pairs(model):
    """(geom, geom) -> the numbers of the pair."""
    return {frozenset((model.geom_names[a], model.geom_names[b])):
            np.array([getattr(model, f"pair_{x}")[k] for x in PAIR])
            for k, (a, b) in enumerate(zip(model.pair_geom1, model.pair_geom2))}


@pytest.mark.parametrize("id", TASKS)
def test_robot(id):
    model = ours(id).batch.model
    path = Path(gymnasium.__file__).parent / "envs/mujoco/assets" / Path(theirs(id).fullpath).name
    expected = stiction.Model.from_file(path)
    assert model.jnt_names == expected.jnt_names and model.body_names == expected.body_names
    for name in ROBOT:
        np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-9,
                                   atol=1e-12, err_msg=name)
    found, wanted = pairs(model), pairs(expected)
    assert set(found) == set(wanted)
    for names in wanted:
        np.testing.assert_allclose(found[names], wanted[names], rtol=1e-9, err_msg=str(names))
    assert model.report.complete


@pytest.mark.parametrize("id", TASKS)
def test_reset_distribution(id):
    """Mean, spread and bounds of 4000 first states are those of Gymnasium's reset."""
    n = 4000
    env, gym = ours(id, n), theirs(id)
    x = np.hstack([env.batch.qpos, env.batch.qvel])
    y = np.array([(gym.reset(seed=k), np.hstack([gym.data.qpos, gym.data.qvel]))[1]
                  for k in range(n)])
    # five standard errors of a difference of two means, and of two variances at kurtosis 3
    scale = y.std(0)
    assert np.all(np.abs(x.mean(0) - y.mean(0)) <= 5 * scale * np.sqrt(2 / n) + 1e-12)
    np.testing.assert_allclose(x.var(0), y.var(0), rtol=5 * np.sqrt(4 / n), atol=1e-15)
    ours_reach, reach = (np.abs(z - y.mean(0)).max(0) for z in (x, y))
    bounded = reach < 2 * scale  # uniform: at most √3 deviations
    assert np.all(ours_reach[bounded] <= 1.01 * reach[bounded])
    centred = (x - x.mean(0)) / np.where(scale > 0, scale, 1)
    correlation = np.abs(centred.T @ centred / n - np.diag((centred**2).mean(0)))
    limit = 6 / np.sqrt(n)
    assert np.all(correlation <= limit), "the draws of two coordinates depend on each other"
