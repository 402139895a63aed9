"""Films of a policy."""

import math

import numpy as np

from ..view.film import RATE, SIZE, write_mp4
from ..view.panel import task_arrows
from ..view.rendering import Renderer
from ..view.scenery import mocap_pose
from .evaluate import evaluate
from .tasks import make_env


def film(env, policy, path, seconds=None):
    """One deterministic episode of the first environment, at most `seconds`, in real time."""
    poses = []

    def keep(e, alive):
        batch = e.batch
        mocap = tuple(np.array(x[0]) for x in mocap_pose(batch, slice(1))) if batch.model.nmocap else None
        poses.append((np.array(batch.qpos[0]), mocap, task_arrows(e)))

    evaluate(env, policy, each_step=keep)
    if seconds:
        poses = poses[: max(1, round(seconds / env.dt))]
    every = math.ceil(1 / (RATE * env.dt) - 1e-9)
    camera = Renderer(env, *SIZE)
    try:
        write_mp4(path, (camera.draw(qpos, arrows, mocap) for qpos, mocap, arrows in poses[::every]), 1 / (env.dt * every))
    finally:
        camera.close()


def film_policy(policy, task, path, *, seconds=None, seed=0):
    film(make_env(task, 1, threads=1, seed=seed, autoreset="disabled"), policy, path, seconds)
