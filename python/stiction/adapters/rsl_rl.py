"""`rsl_rl.env.VecEnv` over a stiction environment.

env = stiction.adapters.rsl_rl.VecEnv("Ant-v5", num_envs=4096)
OnPolicyRunner(env, train_cfg, log_dir).learn(500, init_at_random_ep_len=True)
"""

from .._core import ArgumentError
from ..arrays import namespace
from . import is_open, not_installed, open_env_for

try:
    import rsl_rl.env
    import torch
    from tensordict import TensorDict
except ModuleNotFoundError as e:
    raise not_installed(e, "train") from None


def _tensor(array):
    """A tensor over the same memory that may be written in and outside of inference mode."""
    if isinstance(array, torch.Tensor):
        return array
    with torch.inference_mode(False):
        return torch.from_numpy(array)


class VecEnv(rsl_rl.env.VecEnv):
    """Environments of a compiled or Python task for rsl_rl's runners.

    env: an open environment with autoreset "same_step", or what `open_env` takes (with its options).
    Observations are the groups "policy" (`obs`) and "critic" (`critic_obs`, where an environment has
    one: without noise and delay, or what a task gives its critic). Where simulation and trainer are on
    the same device nothing is copied: two buffers alternate, so what a step returned stays untouched
    during the next one. On a card the work of both is in the order of torch's current stream.

    device: where the tensors are that the trainer sees; None: where the simulation is. What is opened
    here is simulated there, too, unless sim_device says otherwise.
    """

    def __init__(self, env, num_envs=1, *, device=None, sim_device=None, cfg=None, **options):
        if not is_open(env):
            options["device"] = sim_device = str(sim_device or device or "cpu")
        elif sim_device is not None:
            raise ArgumentError(f"sim_device = {sim_device!r}: the environment is open already")
        self.env = open_env_for("rsl_rl", "same_step", env, num_envs, **options)
        self.num_envs = self.env.num_envs
        self.num_actions = self.env.num_actions
        here = self.env.batch.device
        self._xp = namespace(here)
        home = "cpu" if here == "cpu" else str(self._xp.device)
        self.device = home if device is None or str(device) in (here, sim_device) else str(device)
        self.cfg = dict(cfg or {}, task=self.env.id)
        self._length = _tensor(self.env.episode_length)

    @property
    def max_episode_length(self):
        return (
            self.env.max_episode_steps or 2**30
        )  # without limit; the runner draws numbers below it

    @property
    def episode_length_buf(self):
        """The environment's own counter: writing entries or assigning a tensor moves the time limit."""
        return self._length

    @episode_length_buf.setter
    def episode_length_buf(self, value):
        self._length.copy_(value)

    @property
    def step_dt(self):
        return self.env.dt

    @property
    def unwrapped(self):
        return self

    def _out(self, array):
        return _tensor(array).to(self.device)

    def get_observations(self):
        obs = self.env.obs
        seen = getattr(self.env, "critic_obs", obs)
        policy = self._out(obs)
        critic = policy if seen is obs else self._out(seen)
        return TensorDict({"policy": policy, "critic": critic}, batch_size=[self.num_envs])

    def reset(self):
        self.env.reset()
        return self.get_observations(), {}

    def step(self, actions):
        if self.env.batch.device == "cpu":
            actions = actions.detach().to("cpu", torch.float32).contiguous().numpy()
        _, reward, terminated, truncated = self.env.step(actions)
        extras = {"time_outs": self._out(truncated), "log": self._log()}
        return self.get_observations(), self._out(reward), self._out(terminated | truncated), extras

    def _log(self):
        """Means over the environments; a new dictionary, because the logger keeps and changes it."""
        xp = self._xp
        means = xp.mean(self.env.metrics, axis=0, dtype=xp.float64)
        if xp is namespace():
            means = means.tolist()
        return {f"metrics/{name}": x for name, x in zip(self.env.metric_names, means)}

    def close(self):
        pass
