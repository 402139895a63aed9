"""The same MJCF in stiction and in MuJoCo, one environment of each, and one measure of momentum and energy for both."""

from pathlib import Path

import numpy as np

import stiction

from . import mujoco_solver


class Ours:
    name = "stiction"

    def __init__(self, source, timestep, envs=1, material=None, **options):
        """material: of all geoms, by the names of Model.with_contact_material."""
        self.model = stiction.Model.from_file(str(source)) if isinstance(source, Path) else stiction.Model.from_xml(source)
        for geom in range(self.model.ngeom if material else 0):
            self.model = self.model.with_contact_material(geom, **material)
        self.batch = stiction.Batch(self.model, envs, precision="float64", threads=1, options=stiction.Options(
            timestep=timestep, **({"friction_iterations": "auto"} | options)))

    def set(self, qpos, qvel=None, ctrl=None):
        n, m = self.batch.num_envs, self.model
        self.batch.reset(qpos=np.tile(qpos, (n, 1)), qvel=np.tile(np.zeros(m.nv) if qvel is None else qvel, (n, 1)))
        if ctrl is not None:
            self.batch.ctrl[:] = ctrl

    def push(self, body, force):
        self.batch.xfrc_applied[:, body, :3] = force

    def step(self, n=1):
        self.batch.step(n)

    @property
    def qpos(self):
        return np.array(self.batch.qpos[0], float)

    @property
    def qvel(self):
        return np.array(self.batch.qvel[0], float)


class Theirs:
    name = "MuJoCo"

    def __init__(self, source, timestep, **options):
        """options: attributes of mjOption beside elliptic cones and Newton's method."""
        import mujoco

        self.api = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(source)) if isinstance(source, Path) else mujoco.MjModel.from_xml_string(source)
        self.model.opt.timestep = timestep
        for key, value in ({"cone": mujoco.mjtCone.mjCONE_ELLIPTIC} | options).items():
            setattr(self.model.opt, key, value)
        self.d = mujoco.MjData(self.model)

    def set(self, qpos, qvel=None, ctrl=None):
        self.api.mj_resetData(self.model, self.d)
        self.d.qpos[:] = qpos
        if qvel is not None:
            self.d.qvel[:] = qvel
        if ctrl is not None:
            self.d.ctrl[:] = ctrl

    def push(self, body, force):
        self.d.xfrc_applied[body, :3] = force

    def step(self, n=1):
        self.api.mj_step(self.model, self.d, n)

    @property
    def qpos(self):
        return self.d.qpos.copy()

    @property
    def qvel(self):
        return self.d.qvel.copy()


def engines():
    """Those that are installed."""
    return (Ours, Theirs) if mujoco_solver.available() else (Ours,)


class Measure:
    """Momentum and energy of a state, by the reference engine, whoever computed the state."""

    def __init__(self, source):
        self.reference = stiction.Reference(stiction.Model.from_file(str(source)) if isinstance(source, Path) else stiction.Model.from_xml(source))

    def __call__(self, run):
        f = self.reference.forward(run.qpos, run.qvel)
        return np.array(f.linear_momentum), np.array(f.angular_momentum), f.energy_kinetic + f.energy_potential
