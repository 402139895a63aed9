"""Ant-v5, Humanoid-v5 and HumanoidStandup-v5 against Gymnasium's own environments at the same states.

Gymnasium's environment is put at our state after a step; our contact wrenches act in it as applied
ones, with its contacts off, so that MuJoCo expresses them in its convention.
"""

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.envs.mujoco.humanoid_v5 import mass_center

import stiction

STANDUP = "HumanoidStandup-v5"
RUNNERS = ["Ant-v5", "Humanoid-v5"]
HEIGHTS = {"Ant-v5": (0.1, 1.1), "Humanoid-v5": (0.9, 2.2), STANDUP: (0.1, 1.3)}
METRICS = dict.fromkeys(RUNNERS, [
    "reward_forward", "reward_ctrl", "reward_contact", "reward_survive", "x_position", "y_position",
    "distance_from_origin", "x_velocity", "y_velocity"]) | {STANDUP: [
    "reward_linup", "reward_quadctrl", "reward_impact", "x_position", "y_position",
    "z_distance_from_origin"]}
N = 48


def oracle(env_id, **options):
    env = gymnasium.make(env_id, **options).unwrapped
    env.reset(seed=0)
    env.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return env


def scattered(env, rng):
    """States around the reference pose, some of them fallen."""
    qpos = np.repeat(env.batch.qpos[:1], N, 0) + rng.uniform(-0.2, 0.2, (N, env.batch.qpos.shape[1]))
    qpos[:, :2] += rng.uniform(-50, 50, (N, 2))
    qpos[:, 2] = rng.uniform(*HEIGHTS[env.id], N)
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    return qpos, rng.normal(size=(N, env.batch.qvel.shape[1]))


def position(env):
    """What Gymnasium measures the speed of."""
    if env.spec.id == STANDUP:
        return env.data.qpos[:2].copy()
    if "Humanoid" in env.spec.id:
        return mass_center(env.model, env.data)
    return env.data.body(env._main_body).xpos[:2].copy()


def at_state(env, qpos, qvel):
    env.data.qpos[:], env.data.qvel[:] = qpos, qvel
    mujoco.mj_forward(env.model, env.data)
    return position(env)


def their_reward(env, velocity, action):
    """(reward, what info says, whether the episode ends) of Gymnasium's environment as it is."""
    qpos = env.data.qpos
    info = {"x_position": qpos[0], "y_position": qpos[1], "x_velocity": velocity[0],
            "y_velocity": velocity[1], "distance_from_origin": np.linalg.norm(qpos[:2]),
            "z_distance_from_origin": qpos[2] - env.init_qpos[2]}
    if env.spec.id == STANDUP:
        reward, terms = env._get_rew(qpos[2], action)
        return reward, info | terms, False
    reward, terms = env._get_rew(velocity[0], action)
    return reward, info | terms, not env.is_healthy and env._terminate_when_unhealthy


def compare(env_id, precision="float64", **options):
    rng = np.random.default_rng(0)
    # the largest numbers are contact forces, of 1000 N
    near = {"rtol": 1e-6, "atol": 1e-6} if precision == "float64" else {"rtol": 1e-4, "atol": 1e-3}
    ours = stiction.Env(env_id, N, autoreset="disabled", precision=precision, **options)
    theirs = oracle(env_id, **options)
    assert ours.num_obs == theirs.observation_space.shape[0]
    assert ours.dt == pytest.approx(theirs.dt)
    np.testing.assert_array_equal(ours.action_low, theirs.action_space.low)
    np.testing.assert_array_equal(ours.action_high, theirs.action_space.high)
    assert sorted(ours.metric_names) == sorted(METRICS[env_id])

    qpos, qvel = scattered(ours, rng)
    ours.batch.set_state(qpos=qpos, qvel=qvel)
    for _ in range(60 // ours.frame_skip):  # until some have met the ground
        ours.step(rng.uniform(ours.action_low, ours.action_high, (N, ours.num_actions)))
    qpos, qvel = np.array(ours.batch.qpos), np.array(ours.batch.qvel)
    action = rng.uniform(1.2 * ours.action_low, 1.2 * ours.action_high,
                         (N, ours.num_actions)).astype(np.float32)
    obs, reward, terminated, _ = ours.step(action)
    touching = 0
    for i in range(N):
        before = at_state(theirs, qpos[i], qvel[i])
        theirs.data.ctrl[:] = action[i]
        theirs.data.xfrc_applied[1:] = ours.batch.xfrc_contact[i, 1:]
        after = at_state(theirs, ours.batch.qpos[i], ours.batch.qvel[i])
        mujoco.mj_rnePostConstraint(theirs.model, theirs.data)
        expected, info, ends = their_reward(theirs, (after - before) / theirs.dt, action[i])
        np.testing.assert_allclose(obs[i], theirs._get_obs(), **near)
        np.testing.assert_allclose(reward[i], expected, **near)
        assert terminated[i] == ends
        for name, value in zip(ours.metric_names, ours.metrics[i]):
            np.testing.assert_allclose(value, info[name], err_msg=name, **near)
        touching += np.any(ours.batch.xfrc_contact[i, 1:] != 0)
    assert 5 < touching < N
    return terminated


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("env_id", [*RUNNERS, STANDUP])
def test_defaults(env_id, precision):
    terminated = compare(env_id, precision)
    if env_id != STANDUP:
        assert 5 < terminated.sum() < N - 5


@pytest.mark.parametrize("options", [
    {"include_cfrc_ext_in_observation": False},
    {"exclude_current_positions_from_observation": False},
    {"terminate_when_unhealthy": False, "healthy_z_range": (0.4, 0.7), "healthy_reward": 2.5},
    {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.3, "contact_cost_weight": 0.02},
    {"frame_skip": 2},
])
@pytest.mark.parametrize("env_id", RUNNERS)
def test_options_of_both(env_id, options):
    compare(env_id, **options)


@pytest.mark.parametrize("options", [
    {"contact_force_range": (-0.5, 20.0), "contact_cost_weight": 0.02},
    {"main_body": "aux_1"},
])
def test_options_of_ant(options):
    compare("Ant-v5", **options)


@pytest.mark.parametrize("options", [
    {"include_cinert_in_observation": False, "include_cvel_in_observation": False},
    {"include_qfrc_actuator_in_observation": False},
    {"contact_cost_weight": 1e-3, "contact_cost_range": (0.5, 20.0)},
])
def test_options_of_humanoid(options):
    compare("Humanoid-v5", **options)


@pytest.mark.parametrize("options", [
    {"include_cinert_in_observation": False, "include_cfrc_ext_in_observation": False},
    {"include_cvel_in_observation": False, "include_qfrc_actuator_in_observation": False},
    {"exclude_current_positions_from_observation": False, "ctrl_cost_weight": 0.3},
    {"impact_cost_weight": 1e-3, "impact_cost_range": (0.5, 20.0)},
    {"frame_skip": 2},
])
def test_options_of_standup(options):
    compare(STANDUP, **options)


def test_weight_of_the_height():
    """Gymnasium takes uph_cost_weight and does not use it."""
    envs = [stiction.Env(STANDUP, 2, autoreset="disabled", precision="float64", uph_cost_weight=w) for w in (1, 3)]
    action = np.full((2, 17), 0.1, np.float32)
    (reward, up), (scaled, scaled_up) = (
        (e.step(action)[1].copy(), e.metrics[:, e.metric_names.index("reward_linup")].copy()) for e in envs)
    height = envs[0].batch.qpos[:, 2] / envs[0].batch.options.timestep
    np.testing.assert_allclose(up, height, rtol=1e-6)
    np.testing.assert_allclose(scaled_up, 3 * height, rtol=1e-6)
    np.testing.assert_allclose(scaled - reward, 2 * height, rtol=1e-6)


@pytest.mark.parametrize("env_id, normal", [("Ant-v5", True), ("Humanoid-v5", False), (STANDUP, False)])
def test_reset_noise(env_id, normal):
    env = stiction.Env(env_id, 2000, reset_noise_scale=0.05, seed=3)
    obs = env.reset()
    model = env.batch.model
    noise = np.array(env.batch.qpos) - np.array(model.qpos0)
    flat = np.delete(noise, [3, 4, 5, 6], axis=1)
    assert np.abs(flat).max() <= 0.05 and np.abs(flat).max() > 0.049
    np.testing.assert_allclose(flat.mean(0), 0, atol=0.003)
    np.testing.assert_allclose(flat.std(0), 0.05 / np.sqrt(3), rtol=0.06)
    np.testing.assert_allclose(np.linalg.norm(env.batch.qpos[:, 3:7], axis=1), 1, rtol=1e-12)
    velocity = np.array(env.batch.qvel)
    np.testing.assert_allclose(velocity.std(0), 0.05 * (1 if normal else 1 / np.sqrt(3)), rtol=0.08)
    assert (np.abs(velocity).max() > 0.05) == normal
    # all draws differ: no two coordinates or environments share theirs
    assert len(np.unique(velocity)) > 0.99 * velocity.size
    nq = model.nq - 2
    np.testing.assert_array_equal(obs[:, :nq], env.batch.qpos[:, 2:].astype(np.float32))
    np.testing.assert_array_equal(obs[:, nq:nq + model.nv], velocity)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_ant_at_rest_weighs_m_g(precision):
    env = stiction.Env("Ant-v5", 8, autoreset="disabled", precision=precision,
                       contact_force_range=(-100, 100), terminate_when_unhealthy=False)
    for _ in range(400):
        obs, *_ = env.step(np.zeros((8, 8)))
    wrench = obs[:, 27:].reshape(8, 13, 6).sum(1)
    weight = 9.81 * np.sum(env.batch.model.body_mass)
    # no net force but against gravity, no net torque about the centre of mass
    np.testing.assert_allclose(wrench / weight, np.array([[0, 0, 0, 0, 0, 1]] * 8), atol=2e-3)


@pytest.mark.parametrize("env_id", [*RUNNERS, STANDUP])
def test_assets_are_gymnasiums_models(env_id):
    theirs = gymnasium.make(env_id).unwrapped.model
    env = stiction.Env(env_id)
    ours = mujoco.MjModel.from_xml_string(env.model_xml)
    assert (ours.opt.timestep, ours.opt.integrator, ours.opt.cone) == (
        theirs.opt.timestep, theirs.opt.integrator, theirs.opt.cone)
    for field in """qpos0 qpos_spring body_parentid body_pos body_quat body_ipos body_mass jnt_type
            jnt_axis jnt_pos jnt_range jnt_limited jnt_stiffness jnt_solref jnt_solimp dof_damping
            dof_armature dof_frictionloss geom_type geom_bodyid geom_pos geom_friction geom_margin
            geom_solref geom_solimp geom_condim geom_contype geom_conaffinity actuator_gear
            actuator_ctrlrange actuator_trnid actuator_gainprm actuator_biasprm""".split():
        np.testing.assert_allclose(getattr(ours, field), getattr(theirs, field), atol=1e-6,
                                   err_msg=field)
    # the size of the floor is how it is drawn
    np.testing.assert_allclose(ours.geom_size[1:], theirs.geom_size[1:], atol=1e-6)
    # a capsule may be turned about its axis and end for end
    for i in range(ours.ngeom):
        if ours.geom_type[i] == mujoco.mjtGeom.mjGEOM_CAPSULE:
            axes = np.zeros((2, 9))
            for axis, model in zip(axes, (ours, theirs)):
                mujoco.mju_quat2Mat(axis, model.geom_quat[i])
            assert abs(axes[0, 2::3] @ axes[1, 2::3]) == pytest.approx(1, abs=1e-9)
    inertia = []
    for model in (ours, theirs):
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        inertia.append(data.cinert.copy())
    np.testing.assert_allclose(*inertia, atol=1e-6)
