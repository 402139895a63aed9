"""The same task with MuJoCo's physics: the honest check of a contact model."""

import numpy as np

from .._core import Error


class MujocoEnv:
    """An Env whose robots MuJoCo moves, by its own integrator, solver and contacts.

    Actions, observations, rewards, ends of episodes and resets are the task's own. Contact forces
    that a task reads are stiction's at MuJoCo's states. Make `env` with precision="float64": then
    the state loses nothing on its way. Everything else is asked of `env`.
    """

    def __init__(self, env):
        try:
            import mujoco
        except ImportError as e:
            raise Error("--engine mujoco: pip install mujoco") from e
        self._mujoco, self._env = mujoco, env
        self._model = mujoco.MjModel.from_xml_string(env.model_xml)
        self._model.opt.timestep = env.physics_dt
        batch = env.batch
        names = ("nq", "nv", "nu")
        ours, theirs = ([getattr(m, n) for n in names] for m in (batch.model, self._model))
        if ours != theirs:
            raise Error(f"MuJoCo reads the model with {names} = {theirs}, stiction with {ours}")
        self._data = [mujoco.MjData(self._model) for _ in range(env.num_envs)]

    def __getattr__(self, name):
        return getattr(self._env, name)

    def step(self, actions):
        return self._env.step(actions, physics=self._physics)

    def _physics(self):
        batch, mj = self._env.batch, self._mujoco
        for i, data in enumerate(self._data):
            data.qpos[:], data.qvel[:], data.ctrl[:] = batch.qpos[i], batch.qvel[i], batch.ctrl[i]
            data.qfrc_applied[:], data.xfrc_applied[:] = batch.qfrc_applied[i], batch.xfrc_applied[i]
            mj.mj_step(self._model, data, self._env.frame_skip)
        batch.qpos[:] = np.stack([d.qpos for d in self._data])
        batch.qvel[:] = np.stack([d.qvel for d in self._data])
        batch.refresh()
