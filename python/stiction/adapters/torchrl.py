"""TorchRL's `EnvBase` over a stiction environment.

env = stiction.adapters.torchrl.Env("Ant-v5", num_envs=1024, seed=1)
Collector(env, policy, frames_per_batch=1024 * 32, total_frames=-1)
"""

from ..arrays import host
from . import not_installed, open_env_for

try:
    import torch
    from tensordict import TensorDict
    from torchrl.data import Binary, Bounded, Composite, Unbounded
    from torchrl.envs import EnvBase
except ModuleNotFoundError as e:
    raise not_installed(e, "torchrl") from None


class Env(EnvBase):
    """Environments of a compiled or Python task for TorchRL, with batch_size (num_envs,).

    env: an open environment with autoreset "disabled", or what `open_env` takes (with its options). TorchRL begins the
    episodes that ended itself, by `reset` with a mask "_reset". Keys: "observation"; "critic", where an environment has
    a `critic_obs` of its own; "action"; "reward"; "terminated", "truncated", "done".

    device: where the simulation of an environment that is opened here is; the tensors are where the simulation is. What a
    step returns is the caller's.
    """

    def __init__(self, env, num_envs=1, *, device="cpu", **options):
        env = open_env_for("TorchRL", "disabled", env, num_envs, device=str(device), **options)
        here = env.batch.device
        super().__init__(device=torch.device(here), batch_size=[env.num_envs])
        self.env, self._seed = env, None
        n = env.num_envs
        self.observation_spec = Composite(
            {key: Unbounded((n, x.shape[1]), dtype=torch.float32, device=self.device) for key, x in self._seen().items()},
            shape=(n,),
        )
        low, high = (torch.as_tensor(x, dtype=torch.float32, device=self.device).expand(n, -1).clone()
                     for x in (env.action_low, env.action_high))  # fmt: skip
        self.action_spec = Bounded(low, high, (n, env.num_actions), device=self.device, dtype=torch.float32)
        self.reward_spec = Unbounded((n, 1), dtype=torch.float32, device=self.device)
        self.done_spec = Composite(
            {key: Binary(1, (n, 1), dtype=torch.bool, device=self.device) for key in ("done", "terminated", "truncated")},
            shape=(n,),
        )

    def _seen(self):
        """Observations by key; what the environment has now."""
        obs = self.env.obs
        critic = getattr(self.env, "critic_obs", obs)
        return {"observation": obs} if critic is obs else {"observation": obs, "critic": critic}

    def _of(self, column=False, **arrays):
        """Copies as tensors: the environment writes over its own in the step after next."""
        tensors = {key: torch.as_tensor(x, device=self.device).clone() for key, x in arrays.items()}
        return {key: x[:, None] for key, x in tensors.items()} if column else tensors

    def _given(self, tensor):
        """As the environment takes it."""
        return host(tensor) if self.env.batch.device == "cpu" else tensor

    def _step(self, tensordict):
        _, reward, terminated, truncated = self.env.step(self._given(tensordict["action"]))
        ends = self._of(column=True, reward=reward, terminated=terminated, truncated=truncated)
        ends["done"] = ends["terminated"] | ends["truncated"]
        return TensorDict(self._of(**self._seen()) | ends, self.batch_size, device=self.device)

    def _reset(self, tensordict, **kwargs):
        mask = None if tensordict is None else tensordict.get("_reset", None)
        if mask is not None:
            mask = self._given(mask.reshape(self.batch_size))
        self.env.reset(mask, self._seed)
        self._seed = None
        begun = torch.zeros((*self.batch_size, 1), dtype=torch.bool, device=self.device)
        ends = {key: begun.clone() for key in ("done", "terminated", "truncated")}
        return TensorDict(self._of(**self._seen()) | ends, self.batch_size, device=self.device)

    def _set_seed(self, seed):
        """Of the next episodes: environment i gets seed + i."""
        self._seed = seed
