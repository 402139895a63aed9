"""`gymnasium.vector.VectorEnv` and `gymnasium.Env` over a stiction environment.

envs = stiction.make("Ant-v5", num_envs=4096)
envs = gymnasium.make_vec("stiction/Ant-v5", num_envs=4096)
"""

import numpy as np

from .._core import ArgumentError
from ..arrays import host, namespace
from ..rendering import Renderer
from . import is_open, not_installed, open_env

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError as e:
    raise not_installed(e, "gymnasium") from None

_MODES = {
    "same_step": AutoresetMode.SAME_STEP,
    "next_step": AutoresetMode.NEXT_STEP,
    "disabled": AutoresetMode.DISABLED,
}
RENDER_MODES = ["rgb_array"]


def _mode_name(autoreset) -> str:
    """'same_step' from that, from AutoresetMode.SAME_STEP or from its value."""
    for name, mode in _MODES.items():
        if autoreset in (name, mode, mode.value):
            return name
    raise ArgumentError(f"autoreset = {autoreset!r}: must be one of {', '.join(_MODES)}")


def _spaces(env):
    """(observation, action) space of one environment."""
    obs = gymnasium.spaces.Box(-np.inf, np.inf, (env.num_obs,), np.float32)
    return obs, gymnasium.spaces.Box(env.action_low, env.action_high, dtype=np.float32)


def _check_render_mode(render_mode):
    if render_mode not in (None, *RENDER_MODES):
        raise ArgumentError(f"render_mode = {render_mode!r}: must be None or 'rgb_array'")


def _metadata(env):
    return {"render_modes": RENDER_MODES, "render_fps": round(1 / env.dt)}


def _reset_mask(options, n):
    """options["reset_mask"] or None; whatever becomes a bool array, of NumPy or torch."""
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return None
    mask = host(mask)
    if mask.shape != (n,) or mask.dtype != np.bool_ or not mask.any():
        raise ArgumentError(
            f"options['reset_mask']: given dtype {mask.dtype} of shape {mask.shape}; expected bool of "
            f"shape ({n},) with at least one True"
        )
    return mask


class VectorEnv(gymnasium.vector.VectorEnv):
    """Environments of a compiled or Python task as Gymnasium's vector environment.

    env: an open stiction.Env or TaskEnv, or what `open_env` takes (with its options). Rewards and
    observations are float32. copy=False returns the environment's own arrays: what a step returned
    stays untouched during the next step only.

    On a device (`device="cuda:0"`) actions and results are torch tensors there, infos included, and
    nothing waits for the host: final_obs and final_info are always given, with their masks.

    infos holds the metrics of the step by name. In SAME_STEP a finished episode gives final_obs,
    final_info (its metrics and episode = {r, l}), with masks _final_obs, _final_info.
    `reset(options={"reset_mask": mask})` resets some; seed: environment i gets seed + i, or a list.
    render() draws the first `render_envs` environments (None: all, but at most 16).
    """

    def __init__(self, env, num_envs=1, *, render_mode=None, render_envs=None, width=480,
                 height=480, camera=None, copy=True, autoreset=None, **options):  # fmt: skip
        _check_render_mode(render_mode)
        if autoreset is not None or not is_open(env):
            options["autoreset"] = _mode_name(autoreset or "same_step")
        self.env = open_env(env, num_envs, **options)
        self.num_envs = self.env.num_envs
        self.single_observation_space, self.single_action_space = _spaces(self.env)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {**_metadata(self.env), "autoreset_mode": _MODES[self.env.autoreset]}
        self.render_mode = render_mode
        self.copy = copy
        self._xp = namespace(self.env.batch.device)
        self._metric_names = tuple(self.env.metric_names)
        self._metric_masks = tuple(f"_{name}" for name in self._metric_names)
        self._render_envs = min(self.num_envs, 16) if render_envs is None else render_envs
        self._renderer = Renderer(self.env, width, height, camera)

    def _out(self, array):
        return self._xp.copy(array) if self.copy else array

    def reset(self, *, seed=None, options=None):
        mask = _reset_mask(options, self.num_envs)
        if np.ndim(seed) == 0:
            super().reset(seed=seed)
            return self._out(self.env.reset(mask, seed)), {}
        if len(seed) != self.num_envs:
            raise ArgumentError(f"seed: {len(seed)} numbers for {self.num_envs} environments")
        chosen = np.ones(self.num_envs, bool) if mask is None else mask
        given = np.array([s is not None for s in seed])
        self.env.reset(chosen & ~given)
        return self._out(self.env.reset(chosen & given, [s or 0 for s in seed])), {}

    def step(self, actions):
        env, xp = self.env, self._xp
        obs, reward, terminated, truncated = env.step(actions)
        ended = terminated | truncated
        infos = {}
        metrics = xp.copy(env.metrics.T)
        if env.autoreset == "same_step" and xp.may_be_any(ended):
            episode = {
                "r": xp.where(ended, env.final_episode_return, 0),
                "l": xp.where(ended, env.final_episode_length, 0),
                "_r": ended,
                "_l": ended,
            }
            infos["final_obs"] = self._rows(env.final_obs, ended)
            infos["final_info"] = {**self._metrics(metrics, ended), "episode": episode, "_episode": ended}
            infos["_final_obs"] = infos["_final_info"] = ended
        # where the observation begins an episode there was no step that metrics could belong to
        infos.update(self._metrics(metrics, env.episode_length > 0))
        return self._out(obs), self._out(reward), self._out(terminated), self._out(truncated), infos

    def _rows(self, array, mask):
        """A copy of some rows, with zeros elsewhere: whole copies of wide observations are slow."""
        return self._xp.rows_of(array, mask) if self.copy else array

    def _metrics(self, metrics, mask):
        if not self._xp.may_be_any(mask):
            return {}
        if not self._xp.are_all(mask):
            metrics = self._xp.where(mask, metrics, 0)
        return dict(zip(self._metric_names, metrics)) | dict.fromkeys(self._metric_masks, mask)

    def render(self):
        if self.render_mode is None:
            return None
        poses = host(self.env.batch.qpos[: self._render_envs])
        return tuple(self._renderer.draw(qpos) for qpos in poses)

    def close_extras(self, **kwargs):
        self._renderer.close()


class SingleEnv(gymnasium.Env):
    """One environment as `gymnasium.Env`, for tools that know no vectors; slow by its nature.

    Its arrays are NumPy's, wherever the environment lives.
    """

    def __init__(self, env, *, render_mode=None, width=480, height=480, camera=None, **options):
        _check_render_mode(render_mode)
        self.env = open_env(env, 1, autoreset="disabled", **options)
        self.observation_space, self.action_space = _spaces(self.env)
        self.metadata = _metadata(self.env)
        self.render_mode = render_mode
        self._renderer = Renderer(self.env, width, height, camera)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return host(self.env.reset(None, seed))[0].copy(), {}

    def step(self, action):
        obs, reward, terminated, truncated = map(host, self.env.step(host(action)[None]))
        info = {name: float(x) for name, x in zip(self.env.metric_names, host(self.env.metrics)[0])}
        return obs[0].copy(), float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self):
        if self.render_mode is None:
            return None
        return self._renderer.draw(host(self.env.batch.qpos[:1])[0])

    def close(self):
        self._renderer.close()


def make_vector(task, num_envs=1, **options):
    """What `gymnasium.make_vec` calls."""
    return VectorEnv(task, num_envs, **options)


def make_single(task, **options):
    """What `gymnasium.make` calls; its TimeLimit counts the steps."""
    return SingleEnv(task, **{"max_episode_steps": 0, **options})
