"""`stiction train` in one rank, watched: what it collected first, its first gradients, and a death.

train_rank.py SEEN ARGUMENTS...     the first rollout and gradients of rank r go to SEEN.r
DIES=1:3,1:5                        rank 1 kills itself after iteration 3, and after a restart after 5
"""

import os
import signal
import sys

import torch

from stiction.cli import main
from stiction.learning import rsl_ranks, rsl_session

ROLLOUT = ("actions", "rewards", "dones", "values", "actions_log_prob", "returns", "advantages")


def watch(path):
    update = rsl_ranks.Ppo.update

    def first_update(self):
        rsl_ranks.Ppo.update = update
        storage, step = self.storage, self.optimizer.step
        seen = {name: getattr(storage, name).clone() for name in ROLLOUT}
        seen["observations"] = storage.observations["policy"].clone()

        def first_step(*args, **more):
            self.optimizer.step = step
            for name, model in (("actor", self.actor), ("critic", self.critic)):
                seen.update({f"{name}.{k}": p.grad.clone() for k, p in model.named_parameters()})
            torch.save(seen, f"{path}.{self.gpu_global_rank}")
            return step(*args, **more)

        self.optimizer.step = first_step
        return update(self)

    rsl_ranks.Ppo.update = first_update


def die(rank, iteration):
    running = rsl_session._running

    def killed(runner, env):
        if (runner.ranks.rank, runner.current_learning_iteration) == (rank, iteration):
            os.kill(os.getpid(), signal.SIGKILL)
        return running(runner, env)

    rsl_session._running = killed


if __name__ == "__main__":
    watch(sys.argv[1])
    deaths = os.environ.get("DIES", "").split(",")
    restarts = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
    if restarts < len(deaths) and deaths[restarts]:
        die(*map(int, deaths[restarts].split(":")))
    sys.exit(main(sys.argv[2:]))
