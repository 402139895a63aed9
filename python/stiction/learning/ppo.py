"""Proximal policy optimisation (Schulman et al. 2017) in NumPy, for small networks on the CPU.

    ppo = Ppo(stiction.Env("Ant-v5", 128, include_cfrc_ext_in_observation=False), seed=1)
    while ppo.steps < 1_000_000:
        print(ppo.iterate())
    ppo.policy.save("ant.npz")

Of the environment it uses reset, step, final_obs, episode_length, final_episode_return and the sizes.
The actor learns on one core while the critic learns on another; the simulator then has all of them.
"""

import json
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields

import numpy as np

from .._core import ArgumentError, Error
from .._util.files import write_atomically
from .._util.text import visible
from ..tasks.memory import CannotBeWritten
from ..tasks.names import describe
from .blas import use_one_blas_thread
from .networks import Adam, Mlp, RunningMoments
from .policy import Policy, damage_is_an_error, fits_float32, read_arrays


@dataclass(frozen=True)
class Settings:
    num_envs: int = 128  # that the rest is made for; `env` has its own
    horizon: int = 32  # steps of every environment between two updates
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 1e-3  # at first; follows target_kl
    max_learning_rate: float = 3e-3
    target_kl: float = 0.02
    clip: float = 0.2
    gamma: float = 0.99
    lam: float = 0.95  # of generalised advantage estimation
    init_std: float = 0.5
    entropy: float = 0.0  # weight of the policy's entropy, whose slope by log_std is 1
    hidden: tuple = (64, 64)

    def check(self):
        """ValueError on what no training can have: a file may hold any numbers."""
        for name in ("num_envs", "horizon", "epochs", "minibatches"):
            value, most = getattr(self, name), 10**9 if name == "num_envs" else 10**5
            if not isinstance(value, int) or not 1 <= value <= most:
                raise ValueError(f"{name} = {value!r}: must be in [1, {most}]")
        for f in fields(self):
            value = getattr(self, f.name)
            if f.type is float and not (isinstance(value, (int, float)) and np.isfinite(value)):
                raise ValueError(f"{f.name} = {value!r}: must be finite")


@dataclass(frozen=True)
class Iteration:
    """What one iteration did; seconds of wall time."""

    number: int
    steps: int  # of all environments since the beginning
    episode_return: float  # mean of the last 100 whole episodes; nan before the first
    episode_length: float
    reward: float  # mean of a step
    kl: float
    learning_rate: float
    std: float
    step_seconds: float  # within env.step
    collect_seconds: float  # with it
    learn_seconds: float
    metrics: dict = field(default_factory=dict)  # means of a step, by the names of env.metric_names


def env_seed(seed: int) -> int:
    """The seed of the first environment of a run. Environment i draws with seed + i, so the seeds of runs
    lie 2³² apart and no two of them share a stream. The upper half of it is for evaluations."""
    return (seed << 32) % 2**64


def evaluation_seed(seed: int) -> int:
    """The seed of the first environment that evaluates a run's policy; no training environment has it."""
    return env_seed(seed) + 2**31


def log_prob(log_std, z):
    """Log-density of a diagonal normal distribution, summed over actions; z = (action - mean) / deviation."""
    return -0.5 * np.square(z).sum(axis=1) - (log_std + 0.5 * np.log(2 * np.pi)).sum()


def actor_loss(actor, log_std, x, action, old_log_prob, advantage, clip):
    """Clipped surrogate (equation 7): (loss, gradient of the network, of log_std, means)."""
    mean, inputs = actor.forward(x)
    inverse_std = np.exp(-log_std)
    z = (action - mean) * inverse_std
    ratio = np.exp(log_prob(log_std, z) - old_log_prob)
    loss = -np.minimum(ratio * advantage, np.clip(ratio, 1 - clip, 1 + clip) * advantage).mean()
    # the minimum is constant in the policy where the clipped term is the smaller one
    moves = np.where(advantage >= 0, ratio <= 1 + clip, ratio >= 1 - clip)
    slope = (-ratio * advantage * moves / len(x))[:, None]  # d loss / d log_prob
    gradient = actor.backward(inputs, slope * z * inverse_std)
    return loss, gradient, (slope * (np.square(z) - 1)).sum(axis=0), mean


def critic_loss(critic, x, target):
    """Half the mean square error: (loss, gradient)."""
    value, inputs = critic.forward(x)
    error = value - target[:, None]
    return 0.5 * np.square(error).mean(), critic.backward(inputs, error / len(x))


def kl_divergence(mean, log_std, new_mean, new_log_std):
    """Mean KL(old || new) of diagonal normal distributions."""
    var = np.exp(2 * log_std) + np.square(mean - new_mean)
    return float((new_log_std - log_std + 0.5 * var * np.exp(-2 * new_log_std) - 0.5).sum(1).mean())


def advantages(reward, value, last_value, done, gamma, lam):
    """Generalised advantage estimation over (T, N); `reward` holds the bootstrap of time-outs."""
    result, running = np.empty_like(reward), np.zeros_like(last_value)
    for t in reversed(range(len(reward))):
        goes_on = ~done[t]
        delta = reward[t] + gamma * last_value * goes_on - value[t]
        running = result[t] = delta + gamma * lam * running * goes_on
        last_value = value[t]
    return result


def _description(env) -> dict:
    """The description of a stiction environment; empty for any other object with the methods above."""
    return describe(env) if hasattr(env, "batch") else {}


class Ppo:
    def __init__(self, env, settings=Settings(), *, seed=0, task=None):
        use_one_blas_thread()
        if env.num_envs * settings.horizon < settings.minibatches:
            raise ArgumentError(f"settings: {env.num_envs} environments x {settings.horizon} steps are fewer "
                                f"than {settings.minibatches} minibatches")  # fmt: skip
        self.env, self.settings, self.seed = env, settings, int(seed)
        self.rng = np.random.default_rng(seed)
        self.policy = Policy(
            env.num_obs, env.action_low, env.action_high, hidden=settings.hidden,
            init_std=settings.init_std, seed=seed, task=task or _description(env),
        )  # fmt: skip
        self.critic = Mlp((env.num_obs, *settings.hidden, 1), self.rng, 1.0)
        self.actor_adam = Adam(self.policy.actor.parameters.size + self.policy.low.size)
        self.critic_adam = Adam(self.critic.parameters.size)
        self.rate = settings.learning_rate
        self.returns = RunningMoments(1)  # of the discounted return, for the scale of rewards
        self.discounted = np.zeros(env.num_envs)
        self.whole = np.zeros(env.num_envs, bool)  # the episode has begun at a reset
        self.episodes = deque(maxlen=100)  # (return, length)
        self.steps = self.iterations = 0
        self.pool = ThreadPoolExecutor(1)
        self.begins = ""  # why new episodes begin after `load`; "": they go on

    def start(self):
        """Begins episodes at random times, so that they do not all end together."""
        again = 2**30 + int(self.rng.integers(2**29)) if self.iterations else 0  # other episodes than at first
        self.obs = self.env.reset(seed=env_seed(self.seed) + again)
        if self.env.max_episode_steps:
            self.env.episode_length[:] = self.rng.integers(
                self.env.max_episode_steps, size=self.env.num_envs
            )
        self.whole[:] = False
        if not self.policy.moments.count:
            self.policy.moments.update(self.collect()["obs"])

    def collect(self):
        """`horizon` steps with the stochastic policy."""
        env, policy, (t_max, n) = self.env, self.policy, (self.settings.horizon, self.env.num_envs)
        data = {
            "obs": np.empty((t_max, n, env.num_obs), np.float32),
            "mean": np.empty((t_max, n, env.num_actions), np.float32),
            "noise": self.rng.standard_normal((t_max, n, env.num_actions), np.float32),
            "reward": np.empty((t_max, n), np.float32),
            "done": np.empty((t_max, n), bool),
            "step_seconds": 0.0,
            "timeouts": [],  # (t, environments, their last observations)
            "metrics": np.zeros(len(env.metric_names)),
        }
        std = np.exp(policy.log_std)
        for t in range(t_max):
            data["obs"][t] = self.obs
            data["mean"][t] = policy.actor(policy.normalize(self.obs))
            action = policy.to_env(data["mean"][t] + std * data["noise"][t])
            before = time.perf_counter()
            self.obs, data["reward"][t], terminated, truncated = env.step(action)
            data["step_seconds"] += time.perf_counter() - before
            data["done"][t] = done = terminated | truncated
            data["metrics"] += env.metrics.mean(axis=0, dtype=float) / t_max
            if done.any():
                ended = np.flatnonzero(truncated & ~terminated)
                data["timeouts"].append((t, ended, env.final_obs[ended].copy()))
                for i in np.flatnonzero(done & self.whole):
                    self.episodes.append(
                        (float(env.final_episode_return[i]), int(env.final_episode_length[i]))
                    )
                self.whole |= done
        self.steps += t_max * n
        return data

    def scale_rewards(self, data):
        """Rewards divided by the deviation of the discounted return."""
        seen = np.empty(data["reward"].shape)
        for t, (reward, done) in enumerate(zip(data["reward"], data["done"])):
            seen[t] = self.discounted = self.settings.gamma * self.discounted + reward
            self.discounted[done] = 0
        self.returns.update(seen)
        return data["reward"] / np.float32(np.sqrt(self.returns.var[0]) + 1e-8)

    def targets(self, data, x):
        """(advantages, returns), each (T, N), in units of scaled rewards."""
        s = self.settings
        value = self.critic(x).reshape(data["done"].shape)
        last_value = self.critic(self.policy.normalize(self.obs))[:, 0]
        reward = self.scale_rewards(data)
        for t, ended, final_obs in data["timeouts"]:  # the episode was cut, the task was not
            reward[t, ended] += s.gamma * self.critic(self.policy.normalize(final_obs))[:, 0]
        advantage = advantages(reward, value, last_value, data["done"], s.gamma, s.lam)
        return advantage, advantage + value

    def minibatches(self, rng, count):
        size = count // self.settings.minibatches
        for _ in range(self.settings.epochs):
            order = rng.permutation(count)
            for k in range(self.settings.minibatches):
                yield order[k * size : (k + 1) * size]

    def learn_actor(self, rng, x, mean, noise, advantage):
        """One update of the policy; the last KL divergence."""
        s, policy, old_log_std = self.settings, self.policy, self.policy.log_std.copy()
        action, old = mean + np.exp(old_log_std) * noise, log_prob(old_log_std, noise)
        parameters = np.concatenate([policy.actor.parameters, policy.log_std])
        for rows in self.minibatches(rng, len(x)):
            loss, gradient, slope, new_mean = actor_loss(
                policy.actor, policy.log_std, x[rows], action[rows], old[rows], advantage[rows], s.clip
            )
            kl = kl_divergence(mean[rows], old_log_std, new_mean, policy.log_std)
            if kl > 2 * s.target_kl:
                self.rate = max(self.rate / 1.5, 1e-5)
            elif kl < s.target_kl / 2:
                self.rate = min(self.rate * 1.5, s.max_learning_rate)
            self.actor_adam.step(parameters, np.concatenate([gradient, slope - s.entropy]), self.rate)
            policy.actor.parameters[:] = parameters[: gradient.size]
            policy.log_std[:] = parameters[gradient.size :]
        return kl

    def learn_critic(self, rng, x, target, rate):
        for rows in self.minibatches(rng, len(x)):
            gradient = critic_loss(self.critic, x[rows], target[rows])[1]
            self.critic_adam.step(self.critic.parameters, gradient, rate)

    def iterate(self) -> Iteration:
        """Collects and learns once."""
        if not hasattr(self, "obs"):
            self.start()
        begin = time.perf_counter()
        data = self.collect()
        collected = time.perf_counter()
        flat = {k: data[k].reshape(-1, data[k].shape[2]) for k in ("obs", "mean", "noise")}
        x = self.policy.normalize(flat["obs"])
        advantage, target = self.targets(data, x)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        rng, critic_rng = map(np.random.default_rng, self.rng.integers(2**63, size=2))
        critic = self.pool.submit(self.learn_critic, critic_rng, x, target.reshape(-1), self.rate)
        kl = self.learn_actor(rng, x, flat["mean"], flat["noise"], advantage.reshape(-1))
        critic.result()
        self.policy.moments.update(flat["obs"])
        self.iterations += 1
        episode = np.mean(self.episodes, axis=0) if self.episodes else (np.nan, np.nan)
        return Iteration(
            self.iterations, self.steps, float(episode[0]), float(episode[1]),
            float(data["reward"].mean()), kl, self.rate, float(np.exp(self.policy.log_std).mean()),
            data["step_seconds"], collected - begin, time.perf_counter() - collected,
            dict(zip(self.env.metric_names, data["metrics"].tolist())),
        )  # fmt: skip

    def save(self, path):
        """Everything, environments with a `snapshot` included: also a file for Policy.load."""
        state = {
            "steps": self.steps, "iterations": self.iterations, "rate": self.rate,
            "episodes": list(self.episodes), "rng": self.rng.bit_generator.state,
            "adam_counts": [self.actor_adam.count, self.critic_adam.count],
            "num_envs": self.env.num_envs, "seed": self.seed,
            "settings": asdict(self.settings),
        }  # fmt: skip
        arrays = self.policy.arrays() | {
            "critic": self.critic.parameters,
            "actor_moments": self.actor_adam.moments,
            "critic_moments": self.critic_adam.moments,
            "return_moments": np.array([self.returns.mean[0], self.returns.var[0], self.returns.count]),
        }
        if hasattr(self.env, "snapshot"):
            try:
                arrays["environments"] = np.frombuffer(self.env.snapshot(), np.uint8)
                arrays |= {"discounted": self.discounted, "whole": self.whole}
            except CannotBeWritten as e:
                state["without_environments"] = str(e)
        arrays["trainer"] = np.array(json.dumps(state))
        write_atomically(path, lambda file: np.savez(file, **arrays))

    def begin_with(self, path):
        """Networks and normaliser of a policy or checkpoint, of whatever options and settings, but of the same sizes."""
        data = read_arrays(path)
        with damage_is_an_error(path):
            sizes = tuple(map(int, data["sizes"]))
            if sizes != tuple(self.policy.actor.sizes):
                raise Error(f"{visible(path)}: network {sizes}, needed here is {tuple(self.policy.actor.sizes)}")
            self.policy.set_arrays(data)
            if "critic" in data:
                if data["critic"].shape != self.critic.parameters.shape or not fits_float32(data["critic"]):
                    raise ValueError(f"critic: shape {data['critic'].shape}, or numbers beyond float32")
                self.critic.parameters[:] = data["critic"]

    @classmethod
    def load(cls, path, env):
        """Goes on from `save` to the same curve; where the environments have no snapshot, or are of
        another number, they begin new episodes."""
        data = read_arrays(path)
        if "trainer" not in data:
            raise Error(f"{visible(path)}: a policy without its trainer, nothing to go on with")
        with damage_is_an_error(path):
            return cls._from_arrays(data, env, path)

    @classmethod
    def _from_arrays(cls, data, env, path):
        state, task = json.loads(str(data["trainer"])), json.loads(str(data["task"]))
        # of the network that is there, before memory is made for it
        sizes, hidden = tuple(map(int, data["sizes"])), tuple(state["settings"]["hidden"])
        if sizes != (env.num_obs, *sizes[1:-1], env.num_actions) or hidden != sizes[1:-1]:
            needed = (env.num_obs, *hidden, env.num_actions)
            raise Error(f"{visible(path)}: network {sizes}, needed here is {needed}")
        settings = Settings(**state["settings"] | {"hidden": hidden})
        settings.check()
        ppo = cls(env, settings, task=task, seed=int(state.get("seed", 0)))
        ppo.policy.set_arrays(data)
        for name, to in (("critic", ppo.critic.parameters), ("actor_moments", ppo.actor_adam.moments),
                         ("critic_moments", ppo.critic_adam.moments)):  # fmt: skip
            if data[name].shape != to.shape or not fits_float32(data[name]):
                raise ValueError(f"{name}: shape {data[name].shape}, or numbers beyond float32")
            to[:] = data[name]
        if not fits_float32(data["return_moments"]):
            raise ValueError("return_moments: numbers beyond float32")
        ppo.actor_adam.count, ppo.critic_adam.count = map(int, state["adam_counts"])
        mean, ppo.returns.var[0], ppo.returns.count = data["return_moments"]
        ppo.returns.mean[0] = mean
        ppo.steps, ppo.iterations = int(state["steps"]), int(state["iterations"])
        ppo.rate = float(state["rate"])
        ppo.episodes.extend((float(total), int(length)) for total, length in state["episodes"])
        ppo.rng.bit_generator.state = state["rng"]
        if "environments" in data and state["num_envs"] == env.num_envs:
            env.restore(data["environments"].tobytes())
            ppo.obs = env.obs
            ppo.discounted[:], ppo.whole[:] = data["discounted"], data["whole"]
        elif state["num_envs"] != env.num_envs:
            ppo.begins = f"the checkpoint is of {int(state['num_envs'])} environments"
        else:
            ppo.begins = str(state.get("without_environments", "the checkpoint has none"))
        return ppo


def trained_with(path) -> tuple[int | None, int | None]:
    """(num_envs, seed) of a checkpoint; None where it is only a policy."""
    data = read_arrays(path)
    if "trainer" not in data:
        return None, None
    with damage_is_an_error(path):
        state = json.loads(str(data["trainer"]))
        n, seed = state.get("num_envs"), state.get("seed")
        return None if n is None else max(1, int(n)), None if seed is None else int(seed)
