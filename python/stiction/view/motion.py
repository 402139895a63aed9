"""Robots in motion, for a view or a film: of a model under simple controls, or of a task under a policy."""

import numpy as np

from .._core import Batch, JointType, Model
from ..control import HoldPose, SmoothControls, start_key, start_state
from .rewards import keep_step

FRAME = 0.02  # s between two pictures, at least


def falls_for_ever(model):
    """Whether a body is free and nothing that it could touch stands still."""
    free = np.any(model.jnt_type == JointType.free) and np.any(model.gravity != 0)
    partners = model.geom_bodyid[np.concatenate([model.pair_geom1, model.pair_geom2])]
    return bool(free and np.all(model.body_weldid[partners] != 0))


class ModelMotion:
    """Robots from their start state: motors and servos hold it, or nothing does, or they wander."""

    def __init__(self, model, keyframe, controls, seed, num_envs=1):
        """model: a Model or the path of its file."""
        self.model = model if isinstance(model, Model) else Model.from_file(model)
        self.batch = Batch(self.model, num_envs=num_envs, threads=1 if num_envs == 1 else None)
        self._start, self._key = start_state(self.model, keyframe), start_key(self.model, keyframe)
        self._kind, self._seed = controls, seed
        self.steps = max(1, round(FRAME / self.batch.options.timestep))
        self.dt = self.steps * self.batch.options.timestep
        self.reset()

    def reset(self):
        qpos, qvel, ctrl = self._start
        self.batch.reset(qpos=qpos, qvel=qvel)
        if self._key is not None:
            self.batch.mocap_pos[:] = self.model.key_mpos[self._key]
            self.batch.mocap_quat[:] = self.model.key_mquat[self._key]
        self.batch.ctrl[:] = 0 if self._kind == "zero" else ctrl
        self._smooth = self._hold = None
        if self._kind == "random":
            self._smooth = SmoothControls(self.model, self.batch.num_envs, self._seed, ctrl)
        elif self._kind == "hold":
            self._hold = HoldPose(self.batch, qpos, ctrl)
        self.time = 0.0

    def advance(self):
        if self._smooth:
            self.batch.ctrl[:] = self._smooth.at(self.time)
        if self._hold and self._hold.acts:
            for _ in range(self.steps):
                self._hold.act()
                self.batch.step()
        else:
            self.batch.step(self.steps)
        self.time += self.dt


class PolicyMotion:
    """Environments under a policy; each begins anew when its episode ends. reward, metrics: (num_envs,) and (num_envs, k) of the last step."""

    def __init__(self, env, policy):
        self.env, self.policy, self.batch, self.model = env, policy, env.batch, env.batch.model
        self.steps = max(1, round(FRAME / env.dt))
        self.dt = self.steps * env.dt
        self.reset()

    def reset(self):
        self.obs, self.time, self.reward, self.metrics = self.env.reset(), 0.0, None, None

    def advance(self):
        for _ in range(self.steps):
            self.obs, _, terminated, truncated = self.env.step(self.policy(self.obs))
            self.time += self.env.dt
            self.reward, self.metrics = keep_step(self.env)
            ended = terminated | truncated
            if ended.any():
                self.obs = self.env.reset(ended)


class Wandering:
    """A policy of no use: actions that drift through their ranges, ±1 where there are none."""

    def __init__(self, env, seed):
        bounded = np.isfinite(env.action_low) & np.isfinite(env.action_high)
        self.low = np.where(bounded, env.action_low, -1)
        self.high = np.where(bounded, env.action_high, 1)
        self.rng, self.keep = np.random.default_rng(seed), np.exp(-env.dt / 0.3)
        self.x = np.zeros((env.num_envs, env.num_actions))

    def __call__(self, obs):
        noise = self.rng.standard_normal(self.x.shape)
        self.x = self.keep * self.x + np.sqrt(1 - self.keep**2) * noise
        middle, half = (self.high + self.low) / 2, (self.high - self.low) / 2
        return np.float32(middle + half * np.tanh(self.x))
