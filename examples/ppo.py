"""Trains a policy with NumPy alone, saves it, and measures it without exploration.

    python examples/ppo.py HalfCheetah-v5 60

The algorithm is stiction.learning.ppo: about 250 lines to read and to change.
"""

import sys
import time

import stiction
from stiction.learning.evaluate import evaluate
from stiction.learning.ppo import Ppo
from stiction.learning.tasks import SETTINGS, Settings


def main(task="HalfCheetah-v5", seconds=60.0):
    settings = SETTINGS.get(task, Settings())
    ppo = Ppo(stiction.Env(task, settings.num_envs), settings, seed=1, task={"id": task})
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        row = ppo.iterate()
        if row.number % 20 == 0:
            print(f"{row.steps:8d} steps: return {row.episode_return:7.1f}, KL {row.kl:.3f}")
    ppo.policy.save("policy.npz")
    print(evaluate(stiction.Env(task, 16, seed=1000), ppo.policy).text())
    print("stiction play policy.npz --video policy.mp4")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(float, sys.argv[2:3]))
