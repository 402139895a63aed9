"""Speed of whole environment steps with random actions."""

import time

import numpy as np

from .._core import Env
from ..arrays import namespace, on_tensors
from ..tasks.names import open_task

WARM_UP = 100  # control steps in which robots fall and episodes spread


def measure(id, num_envs, threads, seconds, device="cpu", options={}) -> dict:
    """Rates over `seconds`, and the share of that time that the physics took.

    On a device, and of a task in Python: the share of as many steps of physics alone, from where the
    robots are.
    """
    env = on_tensors(open_task(id, num_envs, threads=threads, device=device, **options))
    batch, xp = env.batch, namespace(env.batch.device)
    rng = np.random.default_rng(0)
    low, high = np.maximum(env.action_low, -1), np.minimum(env.action_high, 1)
    shape = (num_envs, env.num_actions)
    actions = [xp.asarray(rng.uniform(low, high, shape).astype(np.float32)) for _ in range(16)]
    env.reset()
    for k in range(WARM_UP):
        env.step(actions[k % 16])
    physics = 0.0

    def timed():
        nonlocal physics
        begin = time.perf_counter()
        batch.step(env.frame_skip)
        physics += time.perf_counter() - begin

    here = batch.device == "cpu" and isinstance(env, Env)
    batch.synchronize()
    steps, begin = 0, time.perf_counter()
    while (whole := time.perf_counter() - begin) < seconds:
        env.step(actions[steps % 16], timed) if here else env.step(actions[steps % 16])
        steps += 1
        if not here and steps % 16 == 0:  # the clock of the host runs ahead
            batch.synchronize()
    if not here:
        batch.synchronize()
        whole, begin = time.perf_counter() - begin, time.perf_counter()
        for _ in range(steps):
            batch.step(env.frame_skip)
        batch.synchronize()
        physics = time.perf_counter() - begin
    steps *= num_envs
    return {
        "id": id,
        "num_envs": num_envs,
        "device": batch.device,
        "threads": batch.threads,
        "isa": batch.isa,
        "frame_skip": env.frame_skip,
        "env_steps_per_s": steps / whole,
        "physics_steps_per_s": steps * env.frame_skip / whole,
        "physics_share": physics / whole,
    }
