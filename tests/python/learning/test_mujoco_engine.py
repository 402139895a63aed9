"""MuJoCo in the place of the physics, and any other function there."""

import numpy as np
import pytest

import stiction
from mesh_files import cup, stl


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


class Swing(stiction.Task):
    """An arm of one's own, with gains of its own in each environment."""

    model = """<mujoco><option timestep="0.0005"/><worldbody><body><joint name="a" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0"/>
      </body></worldbody><actuator><position joint="a" kp="5" kv="0.2" ctrlrange="-1 1"/></actuator></mujoco>"""
    frame_skip, max_episode_steps = 40, 30

    def reset(self, ids):
        return self.draw(ids).uniform(-0.5, 0.5), self.xp.zeros((len(ids), 1))

    def observe(self):
        return self.xp.concatenate([self.batch.qpos, self.batch.qvel], axis=1)

    def reward(self):
        return -self.batch.qpos[:, 0] ** 2


URDF = """<robot name="arm"><link name="base"/><link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><mesh filename="package://arm/arm.stl"/></geometry></collision></link>
  <joint name="a" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" effort="50" velocity="5"/></joint></robot>"""


def models(folder):
    """The same kinds of models that a task may have."""
    (folder / "arm").mkdir()
    (folder / "arm/arm.stl").write_bytes(stl(*cup()))
    (folder / "arm.urdf").write_text(URDF)
    (folder / "swing.xml").write_text(Swing.model)
    urdf = stiction.Urdf(actuators="position", kp=5.0, search_path=[folder])
    return {
        "text": Swing.model, "path": folder / "swing.xml", "model": stiction.Model.from_xml(Swing.model),
        "text and assets": ('<mujoco><include file="swing.xml"/></mujoco>', {"swing.xml": Swing.model}),
        "urdf": stiction.Model.from_file(folder / "arm.urdf", urdf=urdf).with_timestep(0.0005),
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["text", "path", "model", "text and assets", "urdf"])
def test_tasks_of_ones_own(tmp_path, kind):
    pytest.importorskip("mujoco")
    from stiction.learning.mujoco_engine import MujocoEnv

    task = type("Own", (Swing,), {"model": models(tmp_path)[kind]})
    make = lambda: stiction.TaskEnv(task, 3, precision="float64", autoreset="disabled", seed=2)
    ours, theirs = make(), MujocoEnv(make())
    ours.reset(seed=4), theirs.reset(seed=4)
    start = np.array(ours.obs)
    for _ in range(10):
        a, b = (env.step(np.full((3, 1), 0.3, np.float32)) for env in (ours, theirs))
    # a servo without contacts: both integrate it to the first order of their timestep
    np.testing.assert_allclose(a[0], b[0], atol=0.1)
    assert np.abs(a[0] - start).max() > 0.2 and np.abs(a[0] - b[0]).max() > 0
    assert theirs.episode_length[0] == 10


def test_gains_of_each_environment():
    mujoco = pytest.importorskip("mujoco")
    from stiction.learning.mujoco_engine import MujocoEnv
    from stiction.randomization import Param, actuator_strength

    params = [actuator_strength(0.5, 2), Param("jnt_stiffness", 1, 2, "set"), Param("actuator_gear", 1, 1.5, "scale", columns=(0,))]
    inside = stiction.TaskEnv(Swing, 3, precision="float64", autoreset="disabled", seed=2)
    env = MujocoEnv(stiction.RandomizedEnv(inside, stiction.Randomization(params=params), seed=2, autoreset="disabled"))
    env.reset(seed=3)
    batch, action = env.batch, np.full((3, 1), 0.4, np.float32)
    assert len(np.unique(batch.param("actuator_gain")[:, 0, 0])) == 3
    m = mujoco.MjModel.from_xml_string(Swing.model)
    data = mujoco.MjData(m)
    m.actuator_gainprm[0, :3], m.actuator_biasprm[0, :3] = batch.param("actuator_gain")[2], batch.param("actuator_bias")[2]
    m.jnt_stiffness[:], m.actuator_gear[0] = np.ravel(batch.param("jnt_stiffness")[2]), batch.param("actuator_gear")[2, 0]
    mujoco.mj_setConst(m, data)
    data.qpos[:], data.qvel[:] = batch.qpos[2], batch.qvel[2]
    data.ctrl[:] = 0.4
    mujoco.mj_step(m, data, 40)
    env.step(action)
    np.testing.assert_allclose(batch.qpos[2], data.qpos, atol=1e-12)
    np.testing.assert_allclose(batch.qvel[2], data.qvel, atol=1e-12)


MUSCLE = """<mujoco><option timestep="0.002"/><asset><mesh name="box" vertex="-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1 -.1 -.1 .1 .1 -.1 .1 -.1 .1 .1 .1 .1 .1"/>
  <mesh name="tall" vertex="-.1 -.1 -.3 .1 -.1 -.3 -.1 .1 -.3 .1 .1 -.3 -.1 -.1 .3 .1 -.1 .3 -.1 .3 .3 .1 .3 .3"/></asset>
  <custom><tuple name="stiction_meshes/thing"><element objtype="mesh" objname="box"/><element objtype="mesh" objname="tall"/></tuple></custom>
  <worldbody><geom name="belt" type="plane" size="1 1 1" surfacevel="0.5 0 0 0 0 0"/>
    <body pos="0 0 2"><joint name="a" axis="0 1 0" range="-90 90" damping="1"/><geom size="0.05" pos="0.2 0 0"/></body>
    <body pos="2 0 1"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/><geom name="thing" type="mesh" mesh="box"/></body>
  </worldbody>
  <actuator><muscle joint="a" gear="0.1" lengthrange="-0.2 0.2" range="0.75 1.05" force="20"/>
    <general joint="a" dyntype="filter" dynprm="0.1" gainprm="2" actlimited="true" actrange="-0.01 0.01"/></actuator></mujoco>"""


def test_activations_muscles_surfaces_and_meshes_of_each_environment():
    mujoco = pytest.importorskip("mujoco")
    from stiction.learning.mujoco_engine import MujocoEnv

    model = stiction.Model.from_xml(MUSCLE)

    class Own(Swing):
        frame_skip = 3

        def reset(self, ids):
            qpos = np.tile(model.qpos0, (len(ids), 1))
            qpos[:, 3] = 0.09  # the lower end of the box is in the ground, that of the taller one deeper
            return qpos, self.xp.zeros((len(ids), model.nv))

    Own.model = model
    env = MujocoEnv(stiction.TaskEnv(Own, 3, precision="float64", autoreset="disabled", seed=2))
    batch, one = env.batch, np.array([[1.0], [1.5], [2.0]])
    for name in ("actuator_dynprm", "actuator_lengthrange", "actuator_actrange"):
        batch.param(name)[:] *= one[:, :, None]
    batch.param("actuator_muscle")[:, 0, 2] *= one[:, 0]  # the peak force
    batch.param("actuator_muscle")[:, 0, 11] *= one[:, 0]
    batch.param("actuator_gain")[:] *= one[:, :, None]
    batch.param("geom_surfacevel")[:] *= one[:, :, None]
    batch.choose_mesh("thing", ["box", "box", "tall"])
    m = mujoco.MjModel.from_xml_string(MUSCLE.replace('type="mesh" mesh="box"', 'type="mesh" mesh="tall"'))
    assert m.mesh(1).name == "tall"
    m.actuator_dynprm[:, :3], m.actuator_actrange[:], m.actuator_lengthrange[:] = m.actuator_dynprm[:, :3] * 2, m.actuator_actrange * 2, m.actuator_lengthrange * 2
    m.actuator_gainprm[0, 2] *= 2
    m.actuator_biasprm[0, 2] *= 2
    m.actuator_gainprm[1, 0] *= 2
    m.geom_surfacevel[:] *= 2
    data = mujoco.MjData(m)
    mujoco.mj_setConst(m, data)
    data.qpos[:], data.qvel[:] = batch.qpos[2], batch.qvel[2]
    data.ctrl[:] = 0.7
    mujoco.mj_step(m, data, 3)
    env.step(np.full((3, 2), 0.7, np.float32))
    for field in ("qpos", "qvel", "act"):
        np.testing.assert_allclose(getattr(batch, field)[2], getattr(data, field), atol=1e-7)
        for other in (0, 1):
            assert np.abs(getattr(batch, field)[other] - getattr(data, field)).max() > 1e-4
    own = env._models[2]
    np.testing.assert_allclose(own.geom_rbound, m.geom_rbound, rtol=1e-6)
    np.testing.assert_allclose(own.geom_aabb, m.geom_aabb, atol=1e-6)
    env = MujocoEnv(stiction.TaskEnv(Own, 2, precision="float64", autoreset="disabled"))
    env.batch.param("actuator_gain")[:] *= one[:2, :, None]
    env.step(np.zeros((2, 2), np.float32))
    nominal = mujoco.MjModel.from_xml_string(MUSCLE).actuator_gainprm
    assert env._models[1].actuator_gainprm[0].tolist() == nominal[0].tolist(), "those of a muscle lie in the same array"
    assert env._models[1].actuator_gainprm[1, 0] == 1.5 * nominal[1, 0]


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
