"""The same task with MuJoCo's physics: the honest check of a contact model."""

import numpy as np

from .._core import Error
from .._util.extras import remedy

# Parameters of a batch that are arrays of MjModel under the same name: columns there, None: all.
SHARED_NAMES = {
    "body_mass": None,
    "body_ipos": None,
    "body_iquat": None,
    "body_inertia": None,
    "body_gravcomp": None,
    "dof_armature": None,
    "dof_damping": None,
    "dof_frictionloss": None,
    "jnt_range": None,
    "jnt_margin": None,
    "jnt_solref": None,
    "geom_friction": 0,
}


class MujocoEnv:
    """An Env whose robots MuJoCo moves, by its own integrator, solver and contacts.

    Actions, observations, rewards, ends of episodes and resets are the task's own. Contact forces
    that a task reads are stiction's at MuJoCo's states. Parameters of SHARED_NAMES that the environments
    have of their own are MuJoCo's, too; others raise an Error. Make `env` with precision="float64":
    then the state loses nothing on its way. Everything else is asked of `env`.
    """

    def __init__(self, env):
        try:
            import mujoco
        except ImportError as e:
            raise Error(f"--engine mujoco: mujoco is not installed: {remedy('demo')}") from e
        self._mujoco, self._env = mujoco, env
        self._model = self._read()
        self._model.opt.timestep = env.physics_dt
        batch = env.batch
        names = ("nq", "nv", "nu", "nbody", "ngeom")
        ours, theirs = ([getattr(m, n) for n in names] for m in (batch.model, self._model))
        if ours != theirs:
            raise Error(f"MuJoCo reads the model with {names} = {theirs}, stiction with {ours}")
        self._steps = env.frame_skip
        self._models = [self._model] * env.num_envs
        self._data = [mujoco.MjData(self._model) for _ in range(env.num_envs)]
        self._own = {}  # parameters as the models of MuJoCo have them
        self._set_parameters()

    def __getattr__(self, name):
        return getattr(self._env, name)

    def _read(self):
        return self._mujoco.MjModel.from_xml_string(self._env.model_xml, getattr(self._env, "model_assets", {}))

    def step(self, actions):
        return self._env.step(actions, physics=self._physics)

    def _set_parameters(self):
        """Each environment's own parameters, into a model of its own."""
        batch, mj = self._env.batch, self._mujoco
        own = [f.name for f in batch.fields() if f.kind == "param" and batch.param_is_own(f.name)]
        if unknown := [name for name in own if name not in SHARED_NAMES]:
            raise Error(
                "MuJoCo would not have what differs between the environments: " + ", ".join(unknown)
            )
        values = {name: np.array(batch.param(name)) for name in own}
        if all(np.array_equal(x, self._own.get(name)) for name, x in values.items()):
            return
        self._own = values
        if self._models[0] is self._model:
            models = [self._read() for _ in self._models]
            for m in models:
                m.opt.timestep = self._model.opt.timestep
            self._models = models
        for i, (m, data) in enumerate(zip(self._models, self._data, strict=True)):
            for name, x in values.items():
                column = SHARED_NAMES[name]
                rows = getattr(m, name)
                if column is not None:
                    rows = rows[:, column]
                rows[...] = x[i].reshape(rows.shape)
            mj.mj_setConst(m, data)  # masses of subtrees, inverse weights

    def _physics(self):
        batch, mj = self._env.batch, self._mujoco
        self._set_parameters()
        for i, (m, data) in enumerate(zip(self._models, self._data, strict=True)):
            data.qpos[:], data.qvel[:], data.ctrl[:] = batch.qpos[i], batch.qvel[i], batch.ctrl[i]
            data.qfrc_applied[:], data.xfrc_applied[:] = batch.qfrc_applied[i], batch.xfrc_applied[i]
            mj.mj_step(m, data, self._steps)
        batch.qpos[:] = np.stack([d.qpos for d in self._data])
        batch.qvel[:] = np.stack([d.qvel for d in self._data])
        batch.refresh()
