"""The other way round: PPO with MuJoCo's physics, for policies that are then played in stiction.

    python lab/scripts/train_in_mujoco.py Ant-v5 OUT.npz [--iterations N] [--seed S] [--option NAME=VALUE]...
"""

import argparse

from stiction.learning.mujoco_engine import MujocoEnv
from stiction.learning.ppo import Ppo
from stiction.learning.tasks import SETTINGS, Settings, make_env, parse_options


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("id")
    parser.add_argument("out")
    parser.add_argument("--iterations", type=int, default=180)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append")
    args = parser.parse_args()
    task = {"id": args.id, "options": parse_options(args.option), "engine": {}}
    env = MujocoEnv(make_env(task, 128, precision="float64", threads=1, seed=args.seed))
    ppo = Ppo(env, SETTINGS.get(args.id, Settings()), seed=args.seed, task=task)
    for k in range(args.iterations):
        row = ppo.iterate()
        if k % 10 == 9:
            print(f"{row.steps} steps: return {row.episode_return:.0f}, {row.episode_length:.0f} steps long", flush=True)
            ppo.policy.save(args.out)
    ppo.policy.save(args.out)


if __name__ == "__main__":
    main()
