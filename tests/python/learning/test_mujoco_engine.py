"""MuJoCo in the place of the physics, and any other function there."""

import numpy as np
import pytest

import stiction


def test_mujoco_moves_the_robots():
    mujoco = pytest.importorskip("mujoco")
    from stiction.learning.mujoco_engine import MujocoEnv

    make = lambda: stiction.Env("HalfCheetah-v5", 3, precision="float64", autoreset="disabled")
    ours, env = make(), MujocoEnv(make())
    ours.reset(seed=4)
    env.reset(seed=4)
    model = mujoco.MjModel.from_xml_string(env.model_xml)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(30):  # it lands
        action = rng.uniform(-1, 1, (3, 6)).astype(np.float32)
        data.qpos[:], data.qvel[:], data.ctrl[:] = env.batch.qpos[2], env.batch.qvel[2], action[2]
        x = data.qpos[0]
        mujoco.mj_step(model, data, 5)
        obs, reward, _, _ = env.step(action)
        np.testing.assert_allclose(env.batch.qpos[2], data.qpos, atol=1e-3)  # its solver starts warm
        np.testing.assert_allclose(env.batch.qvel[2], data.qvel, atol=0.02)
        np.testing.assert_array_equal(obs[2, :8], env.batch.qpos[2, 1:].astype(np.float32))
        cost = 0.1 * np.square(action[2]).sum()
        assert reward[2] == pytest.approx((env.batch.qpos[2, 0] - x) / 0.05 - cost, abs=1e-5)
        mine = ours.step(action)[0]
    assert env.episode_length[0] == 30 and env.id == "HalfCheetah-v5"
    assert np.abs(mine - obs).max() > 1e-3, "another engine, another motion"


def test_mujoco_has_the_parameters_of_each_environment():
    mujoco = pytest.importorskip("mujoco")
    from stiction.learning.mujoco_engine import MujocoEnv

    env = MujocoEnv(stiction.Env("Go2Flat", 3, precision="float64", preset="legged_gym", seed=5))
    env.reset()
    batch = env.batch
    model = mujoco.MjModel.from_xml_string(env.model_xml)
    usual = mujoco.MjModel.from_xml_string(env.model_xml)
    assert abs(batch.param("body_mass")[2, 1] - model.body_mass[1]) > 0.1
    model.body_mass[:] = batch.param("body_mass")[2]
    model.geom_friction[:, 0] = batch.param("geom_friction")[2]
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    pairs = [(model, data), (usual, mujoco.MjData(usual))]
    for _ in range(20):  # it stands, with the weight of its own
        state = batch.qpos[2].copy(), batch.qvel[2].copy()
        env.step(np.zeros((3, 12), np.float32))
        for m, d in pairs:
            d.qpos[:], d.qvel[:] = state
            d.ctrl[:] = batch.ctrl[2]
            mujoco.mj_step(m, d, env.frame_skip)
        # its solver starts warm
        np.testing.assert_allclose(batch.qvel[2], data.qvel, atol=1e-3)
    assert np.abs(batch.qvel[2] - pairs[1][1].qvel).max() > 1e-2


def test_mujoco_refuses_parameters_that_it_would_not_have():
    pytest.importorskip("mujoco")
    from stiction.learning.mujoco_engine import MujocoEnv

    env = stiction.Env("HalfCheetah-v5", 2, precision="float64")
    env.batch.param("pair_stiffness")[1] *= 2
    with pytest.raises(stiction.Error, match="pair_stiffness"):
        MujocoEnv(env)


def test_a_function_in_the_place_of_the_physics():
    usual, own = (stiction.Env("HalfCheetah-v5", 20, seed=3) for _ in range(2))
    action = np.random.default_rng(1).uniform(-1, 1, (20, 6)).astype(np.float32)
    for _ in range(5):
        a = usual.step(action)
        b = own.step(action, physics=lambda: own.batch.step(own.frame_skip))
        for x, y in zip(a, b):
            assert x.tobytes() == y.tobytes()

    def gives_up():
        own.batch.step(2)
        own.batch.qvel[3] = 7
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        own.step(action, physics=gives_up)
    # the step has not happened
    assert own.steps == usual.steps
    assert own.obs.tobytes() == usual.obs.tobytes()
    assert own.batch.state_hash() == usual.batch.state_hash()
    for x, y in zip(usual.step(-action), own.step(-action)):
        assert x.tobytes() == y.tobytes()
