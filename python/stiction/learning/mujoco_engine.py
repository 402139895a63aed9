"""The same task with MuJoCo's physics: the honest check of a contact model."""

import numpy as np

from .._core import Error
from .._util.extras import remedy
from .._util.text import visible

# Parameters of a batch that MjModel has in arrays of the same name,
SHARED_NAMES = (
    "body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia", "body_gravcomp", "jnt_pos",
    "jnt_axis", "jnt_range", "jnt_margin", "jnt_solref", "jnt_stiffness", "jnt_actfrcrange", "qpos0", "qpos_spring",
    "dof_armature", "dof_damping", "dof_frictionloss", "geom_size", "geom_pos", "geom_quat", "site_pos", "site_quat",
    "geom_surfacevel", "geom_dataid", "site_size", "actuator_gear", "actuator_ctrlrange", "actuator_forcerange",
    "actuator_actrange", "actuator_lengthrange", "tendon_range", "tendon_margin",
    "tendon_stiffness", "tendon_lengthspring", "tendon_damping", "tendon_armature", "tendon_frictionloss",
    "tendon_actfrcrange",
)  # fmt: skip
# and in those of another name, or in some of its columns: array of MjModel by name, and its columns.
ELSEWHERE = {
    "geom_friction": ("geom_friction", np.s_[:, 0]),
    "tendon_solref": ("tendon_solref_lim", np.s_[:]),
    "actuator_gain": ("actuator_gainprm", np.s_[:, :3]),
    "actuator_bias": ("actuator_biasprm", np.s_[:, :3]),
    "actuator_dynprm": ("actuator_dynprm", np.s_[:, :3]),
    "eq_data": ("eq_data", np.s_[:, :11]),
    "wrap_coef": ("wrap_prm", np.s_[:]),
}
STATE = ("qpos", "qvel", "act")
INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "eq_active")


def _known(name) -> bool:
    return name in SHARED_NAMES or name in ELSEWHERE or name in ("gravity", "actuator_muscle")


def _of_mujoco(m, name):
    """The array of an MjModel that a parameter is, of those that are one."""
    if name == "gravity":
        return m.opt.gravity
    array, columns = ELSEWHERE.get(name, (name, np.s_[:]))
    return getattr(m, array)[columns]


def _write(mujoco, m, name, x):
    """Gives an MjModel the values of a parameter of one environment."""
    gain = m.actuator_gaintype == mujoco.mjtGain.mjGAIN_MUSCLE
    bias = m.actuator_biastype == mujoco.mjtBias.mjBIAS_MUSCLE
    if name == "actuator_muscle":
        m.actuator_gainprm[gain, :9], m.actuator_biasprm[bias, :9] = x[gain, :9], x[bias, 9:]
        return
    rows = _of_mujoco(m, name)
    x = x.reshape(rows.shape)
    if name in ("actuator_gain", "actuator_bias"):  # a muscle's lie in the same array
        x = np.where((gain if name == "actuator_gain" else bias)[:, None], rows, x)
    rows[...] = x
    if name == "geom_dataid":
        _bound_meshes(m, mujoco)


def _bound_meshes(m, mujoco):
    """Boxes and spheres around geoms, of the meshes that they have now."""
    for g in np.flatnonzero(m.geom_type == mujoco.mjtGeom.mjGEOM_MESH):
        first = m.mesh_vertadr[m.geom_dataid[g]]
        corners = m.mesh_vert[first : first + m.mesh_vertnum[m.geom_dataid[g]]]
        low, high = corners.min(axis=0), corners.max(axis=0)
        m.geom_aabb[g] = [*(high + low) / 2, *(high - low) / 2]
        m.geom_rbound[g] = np.linalg.norm(np.maximum(-low, high))


class MujocoEnv:
    """An Env whose robots MuJoCo moves, by its own integrator, solver and contacts.

    Actions, observations, rewards, ends of episodes and resets are the task's own. Contact forces
    that a task reads are stiction's at MuJoCo's states. Parameters that the environments have of their own
    are MuJoCo's, too, where it has such; others raise an Error. Make `env` with precision="float64":
    then the state loses nothing on its way. Everything else is asked of `env`, a `stiction.Env`, TaskEnv or
    RandomizedEnv on the CPU.
    """

    def __init__(self, env):
        try:
            import mujoco
        except ImportError as e:
            raise Error(f"--engine mujoco: mujoco is not installed: {remedy('demo')}") from e
        if env.batch.options.mocap_velocity == "given":
            raise Error("--engine mujoco: MuJoCo does not know mocap_vel (Options(mocap_velocity='given'))")
        self._mujoco, self._env = mujoco, env
        self._model = self._read()
        self._model.opt.timestep = env.physics_dt
        batch = env.batch
        names = ("nq", "nv", "nu", "nbody", "ngeom")
        ours, theirs = ([getattr(m, n) for n in names] for m in (batch.model, self._model))
        if ours != theirs:
            raise Error(f"MuJoCo reads the model with {names} = {theirs}, stiction with {ours}")
        self._steps = getattr(env, "physics_steps", env.frame_skip)
        self._names = [name for name in (*STATE, *INPUTS) if getattr(batch, name).size]
        self._models = [self._model] * env.num_envs
        self._data = [mujoco.MjData(self._model) for _ in range(env.num_envs)]
        self._own = {}  # parameters as the models of MuJoCo have them
        self._set_parameters()

    def __getattr__(self, name):
        return getattr(self._env, name)

    def _read(self):
        model = self._env.batch.model
        try:
            return self._mujoco.MjModel.from_xml_string(model.to_xml(), model.assets())
        except ValueError as e:
            raise Error(f"MuJoCo can't read the model: {visible(e)}") from None

    def step(self, actions):
        return self._env.step(actions, physics=self._physics)

    def _set_parameters(self):
        """Each environment's own parameters, into a model of its own."""
        batch, mj = self._env.batch, self._mujoco
        own = [f.name for f in batch.fields() if f.kind == "param" and batch.param_is_own(f.name)]
        if unknown := [name for name in own if not _known(name)]:
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
                _write(mj, m, name, x[i])
            mj.mj_setConst(m, data)  # masses of subtrees, inverse weights

    def _physics(self):
        batch, mj = self._env.batch, self._mujoco
        self._set_parameters()
        for i, (m, data) in enumerate(zip(self._models, self._data, strict=True)):
            for name in self._names:
                there = getattr(data, name)
                there[:] = getattr(batch, name)[i].reshape(there.shape)
            mj.mj_step(m, data, self._steps)
        for name in STATE:
            if name in self._names:
                getattr(batch, name)[:] = np.stack([getattr(d, name) for d in self._data])
        batch.refresh()
