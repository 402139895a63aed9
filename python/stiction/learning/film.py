"""Films of a policy."""

import math

import numpy as np

from ..view.film import RATE, SIZE, write_mp4
from ..view.panel import task_arrows
from ..view.rendering import Renderer
from ..view.rewards import FigurePainter, RewardTrace, keep_step
from ..view.scenery import mocap_pose
from .evaluate import evaluate
from .tasks import make_env


def film(env, policy, path, seconds=None, rewards=False):
    """One deterministic episode of the first environment, at most `seconds`, in real time. rewards: with a plot of them."""
    poses = []

    def keep(e, alive):
        batch = e.batch
        mocap = tuple(np.array(x[0]) for x in mocap_pose(batch, slice(1))) if batch.model.nmocap else None
        poses.append((np.array(batch.qpos[0]), mocap, task_arrows(e), [x[0] for x in keep_step(e)] if rewards else None))

    evaluate(env, policy, each_step=keep)
    if seconds:
        poses = poses[: max(1, round(seconds / env.dt))]
    every = math.ceil(1 / (RATE * env.dt) - 1e-9)
    camera, trace = Renderer(env, *SIZE), RewardTrace(env.metric_names)
    painter = FigurePainter(*SIZE) if rewards else None

    def pictures():
        for k, (qpos, mocap, arrows, step) in enumerate(poses):
            if step is not None:
                trace.add((k + 1) * env.dt, *step)
            if k % every == 0:
                picture = camera.draw(qpos, arrows, mocap)
                yield picture if painter is None else painter.draw(picture, trace)

    try:
        write_mp4(path, pictures(), 1 / (env.dt * every))
    finally:
        camera.close()
        if painter is not None:
            painter.close()


def film_policy(policy, task, path, *, seconds=None, seed=0):
    film(make_env(task, 1, threads=1, seed=seed, autoreset="disabled"), policy, path, seconds)
