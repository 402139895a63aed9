"""One rank of a torchrun: steps its share of the environments, gathers what all of them saw.

rank.py ENVS_IN_ALL STEPS OUTPUT
"""

import sys

import numpy as np
import torch
import torch.distributed

from stiction.adapters.rsl_rl import VecEnv


def main(total, steps, output):
    torch.distributed.init_process_group("gloo")
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    share = total // ranks
    # environment i draws with seed + i: these are the environments rank * share ... of one process
    env = VecEnv("HalfCheetah-v5", share, seed=100 + rank * share, threads=1, max_episode_steps=20)
    obs, seen = env.get_observations(), []
    for _ in range(steps):
        obs, reward, dones, _ = env.step((8 * obs["policy"][:, :6]).clamp(-1, 1))
        mine = torch.cat(
            [obs["policy"], reward[:, None], dones[:, None].float()], dim=1
        ).contiguous()
        everyone = [torch.empty_like(mine) for _ in range(ranks)]
        torch.distributed.all_gather(everyone, mine)
        seen.append(torch.cat(everyone).numpy())
    if rank == 0:
        np.save(output, np.stack(seen))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
