"""Speed of whole environment steps with random actions."""

import time

import numpy as np

from .._core import Env

WARM_UP = 100  # control steps in which robots fall and episodes spread


def measure(id, num_envs, threads, seconds) -> dict:
    """Rates over `seconds`, and the share of that time that Batch.step took."""
    env = Env(id, num_envs, threads=threads)
    rng = np.random.default_rng(0)
    low, high = np.maximum(env.action_low, -1), np.minimum(env.action_high, 1)
    shape = (num_envs, env.num_actions)
    actions = [rng.uniform(low, high, shape).astype(np.float32) for _ in range(16)]
    env.reset()
    for k in range(WARM_UP):
        env.step(actions[k % 16])
    physics = 0.0

    def timed():
        nonlocal physics
        begin = time.perf_counter()
        env.batch.step(env.frame_skip)
        physics += time.perf_counter() - begin

    steps, begin = 0, time.perf_counter()
    while (whole := time.perf_counter() - begin) < seconds:
        env.step(actions[steps % 16], physics=timed)
        steps += 1
    steps *= num_envs
    return {
        "id": id,
        "num_envs": num_envs,
        "threads": env.batch.threads,
        "isa": env.batch.isa,
        "frame_skip": env.frame_skip,
        "env_steps_per_s": steps / whole,
        "physics_steps_per_s": steps * env.frame_skip / whole,
        "physics_share": physics / whole,
    }
