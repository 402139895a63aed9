"""`gymnasium.vector.VectorEnv` and `gymnasium.Env` over a stiction environment.

envs = stiction.make("Ant-v5", num_envs=4096)
envs = gymnasium.make_vec("stiction/Ant-v5", num_envs=4096)
"""

import secrets
import time

import numpy as np

from .._core import ArgumentError
from ..arrays import host, namespace
from ..view.rendering import Renderer
from . import is_open, not_installed, open_env

try:
    import gymnasium
    from gymnasium.utils import seeding
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError as e:
    raise not_installed(e, "gymnasium") from None

_MODES = {
    "same_step": AutoresetMode.SAME_STEP,
    "next_step": AutoresetMode.NEXT_STEP,
    "disabled": AutoresetMode.DISABLED,
}
RENDER_MODES = ["rgb_array", "human"]

# What a reset of Gymnasium's own tasks reports, from the positions q (n, nq) and those of qpos0.
_X = {"x_position": lambda xp, q, q0: q[:, 0]}
_XY = _X | {"y_position": lambda xp, q, q0: q[:, 1]}
_FAR = {"distance_from_origin": lambda xp, q, q0: xp.sqrt(q[:, 0] ** 2 + q[:, 1] ** 2)}


def _risen(z):
    return {"z_distance_from_origin": lambda xp, q, q0: q[:, z] - q0[z]}


_PLACES_OF = {
    "Ant-v5": _XY | _FAR,
    "HalfCheetah-v5": _X,
    "Hopper-v5": _X | _risen(1),
    "Humanoid-v5": _XY | _FAR,
    "HumanoidStandup-v5": _XY | _risen(2),
    "Swimmer-v5": _XY | _FAR,
    "Walker2d-v5": _X | _risen(1),
}


def _mode_name(autoreset) -> str:
    """'same_step' from that, from AutoresetMode.SAME_STEP or from its value."""
    for name, mode in _MODES.items():
        if autoreset in (name, mode, mode.value):
            return name
    raise ArgumentError(f"autoreset_mode = {autoreset!r}: must be one of {', '.join(_MODES)}")


def _spaces(env):
    """(observation, action) space of one environment."""
    obs = gymnasium.spaces.Box(-np.inf, np.inf, (env.num_obs,), np.float32)
    return obs, gymnasium.spaces.Box(env.action_low, env.action_high, dtype=np.float32)


def _check_render_mode(render_mode):
    if render_mode not in (None, *RENDER_MODES):
        raise ArgumentError(f"render_mode = {render_mode!r}: must be None, 'rgb_array' or 'human'")


def _seeded(options):
    """Gymnasium's generator and seed; the options get a seed of their own where none is given."""
    if options.get("seed") is None:
        options["seed"] = secrets.randbits(32)
    return seeding.np_random(options["seed"])


def _places(env) -> dict:
    """Where the robots of Gymnasium's own tasks are, by name: (num_envs,) float32."""
    q, q0, xp = env.batch.qpos, env.batch.model.qpos0, namespace(env.batch.device)
    places = _PLACES_OF.get(env.id, {})
    return {name: xp.astype(place(xp, q, q0), xp.float32) for name, place in places.items()}


class _Motion:
    """An environment as `stiction.view.show` shows it: the first robot of a batch."""

    def __init__(self, env):
        self.batch, self.model = env.batch, env.batch.model


class _Pictures:
    """What `render` gives: pictures, or in mode "human" a window at real time."""

    def __init__(self, env, mode, width, height, camera):
        self._env, self._human = env, mode == "human"
        self._renderer = Renderer(env, width, height, camera)
        self._window, self._shown = None, 0.0

    def draw(self, i):
        return self._renderer.draw_env(self._env.batch, i)

    def show(self):
        """In mode "human": the first robot as it is now, not before its time."""
        if not self._human:
            return
        from ..view.show import open_view

        self._window = self._window or open_view(_Motion(self._env))
        time.sleep(max(0.0, self._shown + self._env.dt - time.monotonic()))
        self._shown = time.monotonic()
        self._window.show()

    def close(self):
        self._renderer.close()
        if self._window is not None:
            self._window.close()
            self._window = None


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

    infos holds the metrics of the step by name, in every step, with masks; a reset's the positions
    that Gymnasium's own tasks report. In SAME_STEP a finished episode gives final_obs,
    final_info (its metrics and episode = {r, l}), with masks _final_obs, _final_info.
    autoreset_mode: NEXT_STEP, which Gymnasium's wrappers of observations need, SAME_STEP or DISABLED, or
    their names. seed: None draws one, as in every run another; np_random_seed has it.
    `reset(options={"reset_mask": mask})` resets some; seed: environment i gets seed + i, or a list.
    render() draws the first `render_envs` environments (None: all, but at most 16); in render_mode
    "human" a window shows the first one at real time.
    """

    def __init__(self, env, num_envs=1, *, render_mode=None, render_envs=None, width=480,
                 height=480, camera=None, copy=True, autoreset_mode=None, autoreset=None,
                 **options):  # fmt: skip
        _check_render_mode(render_mode)
        if autoreset_mode is not None and autoreset is not None:
            raise ArgumentError("autoreset_mode and autoreset: they are the same, give one of them")
        mode = autoreset if autoreset_mode is None else autoreset_mode
        if mode is not None or not is_open(env):
            options["autoreset"] = _mode_name(mode or "next_step")
        if not is_open(env):
            self._np_random, self._np_random_seed = _seeded(options)
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
        self._pictures = _Pictures(self.env, render_mode, width, height, camera)

    def _out(self, array):
        return self._xp.copy(array) if self.copy else array

    def reset(self, *, seed=None, options=None):
        mask = _reset_mask(options, self.num_envs)
        if np.ndim(seed) == 0:
            if seed is not None:
                super().reset(seed=seed)
            obs = self.env.reset(mask, seed)
        else:
            obs = self._reset_each(mask, seed)
        self._pictures.show()
        chosen = self._xp.ones(self.num_envs, dtype=bool) if mask is None else self._xp.asarray(mask)
        return self._out(obs), self._masked(_places(self.env), chosen)

    def _reset_each(self, mask, seeds):
        if len(seeds) != self.num_envs:
            raise ArgumentError(f"seed: {len(seeds)} numbers for {self.num_envs} environments")
        chosen = np.ones(self.num_envs, bool) if mask is None else mask
        given = np.array([s is not None for s in seeds])
        self.env.reset(chosen & ~given)
        return self.env.reset(chosen & given, [s or 0 for s in seeds])

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
        self._pictures.show()
        # where the observation begins an episode there was no step that metrics could belong to
        stepped = env.episode_length > 0
        infos.update(self._metrics(metrics, stepped))
        for name, begun in self._masked(_places(env), ~stepped).items():
            infos[name] = infos[name] | begun if name.startswith("_") else infos[name] + begun
        return self._out(obs), self._out(reward), self._out(terminated), self._out(truncated), infos

    def _rows(self, array, mask):
        """A copy of some rows, with zeros elsewhere: whole copies of wide observations are slow."""
        return self._xp.rows_of(array, mask) if self.copy else array

    def _metrics(self, metrics, mask):
        if not self._xp.are_all(mask):
            metrics = self._xp.where(mask, metrics, 0)
        return dict(zip(self._metric_names, metrics)) | dict.fromkeys(self._metric_masks, mask)

    def _masked(self, values, mask):
        """Values by name, 0 where not the mask, and the mask under each name with an underscore."""
        kept = {name: self._xp.where(mask, x, 0) for name, x in values.items()}
        return kept | {f"_{name}": mask for name in values}

    def render(self):
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._pictures.draw(i) for i in range(min(self._render_envs, self.num_envs)))

    def close_extras(self, **kwargs):
        self._pictures.close()


class SingleEnv(gymnasium.Env):
    """One environment as `gymnasium.Env`, for tools that know no vectors; slow by its nature.

    Its arrays are NumPy's, wherever the environment lives. seed: None draws one; np_random_seed has it.
    """

    def __init__(self, env, *, render_mode=None, width=480, height=480, camera=None, **options):
        _check_render_mode(render_mode)
        if not is_open(env):
            self._np_random, self._np_random_seed = _seeded(options)
        self.env = open_env(env, 1, autoreset="disabled", **options)
        self.observation_space, self.action_space = _spaces(self.env)
        self.metadata = _metadata(self.env)
        self.render_mode = render_mode
        self._pictures = _Pictures(self.env, render_mode, width, height, camera)

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            super().reset(seed=seed)
        obs = host(self.env.reset(None, seed))[0].copy()
        self._pictures.show()
        return obs, {name: float(x[0]) for name, x in _places(self.env).items()}

    def step(self, action):
        obs, reward, terminated, truncated = map(host, self.env.step(host(action)[None]))
        self._pictures.show()
        info = {name: float(x) for name, x in zip(self.env.metric_names, host(self.env.metrics)[0])}
        return obs[0].copy(), float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self):
        if self.render_mode != "rgb_array":
            return None
        return self._pictures.draw(0)

    def close(self):
        self._pictures.close()


def make_vector(task, num_envs=1, **options):
    """What `gymnasium.make_vec` calls."""
    return VectorEnv(task, num_envs, **options)


def make_single(task, **options):
    """What `gymnasium.make` calls; its TimeLimit counts the steps."""
    return SingleEnv(task, **{"max_episode_steps": 0, **options})
