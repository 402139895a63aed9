"""A policy that acts without its trainer: observations in, actions out, kept in one .npz file."""

import contextlib
import json
import math
import zipfile

import numpy as np

from .._core import Error
from .._util.files import write_atomically
from .._util.text import visible
from .networks import Mlp, RunningMoments

FORMAT = "stiction policy 1"


class Policy:
    """Gaussian policy: tanh network over normalised observations, one deviation per action.

    The network's unit is half the range of an action around its middle; 1 where it has no bounds.
    """

    def __init__(self, num_obs, low, high, *, hidden=(64, 64), init_std=0.5, seed=0, task=None):
        self.low, self.high = np.array(low, np.float32), np.array(high, np.float32)
        bounded = np.isfinite(self.low) & np.isfinite(self.high)
        low, high = np.where(bounded, self.low, -1), np.where(bounded, self.high, 1)
        self._middle, self._half = np.float32((high + low) / 2), np.float32((high - low) / 2)
        self.num_obs, self.num_actions = int(num_obs), self.low.size
        self.task = task or {}  # id and options of the environment
        self.moments = RunningMoments(num_obs)
        self.actor = Mlp((num_obs, *hidden, self.low.size), np.random.default_rng(seed), 0.01)
        self.log_std = np.full(self.low.size, np.log(init_std), np.float32)

    def normalize(self, obs):
        """Zero mean, unit variance, within ±10."""
        scale = (1 / np.sqrt(self.moments.var + 1e-8)).astype(np.float32)
        x = np.subtract(obs, self.moments.mean.astype(np.float32), dtype=np.float32)
        x *= scale
        return np.clip(x, -10, 10, out=x)

    def to_env(self, action):
        """Actions of the environment: clipped to their range."""
        return np.clip(self._middle + self._half * action, self.low, self.high)

    def __call__(self, obs):
        """Deterministic actions of the environment."""
        return self.to_env(self.actor(self.normalize(obs)))

    def arrays(self) -> dict:
        return {
            "format": np.array(FORMAT),
            "task": np.array(json.dumps(self.task)),
            "sizes": np.array(self.actor.sizes),
            "action_range": np.stack([self.low, self.high]),
            "actor": self.actor.parameters,
            "log_std": self.log_std,
            "obs_mean": self.moments.mean,
            "obs_var": self.moments.var,
            "obs_count": np.array(self.moments.count),
        }

    def set_arrays(self, data):
        self.actor.parameters[:], self.log_std[:] = data["actor"], data["log_std"]
        self.moments.mean, self.moments.var = np.array(data["obs_mean"]), np.array(data["obs_var"])
        self.moments.count = float(data["obs_count"])

    def save(self, path):
        write_atomically(path, lambda file: np.savez(file, **self.arrays()))

    @classmethod
    def load(cls, path):
        """Reads what `save` or a training run wrote. Raises Error on anything else."""
        data = read_arrays(path)
        with damage_is_an_error(path):
            sizes, (low, high) = data["sizes"], data["action_range"]
            task = json.loads(str(data["task"]))
            policy = cls(sizes[0], low, high, hidden=sizes[1:-1], task=task)
            policy.set_arrays(data)
        return policy


@contextlib.contextmanager
def damage_is_an_error(path):
    """Within it whatever a file that is not as it was written leads to is an Error that names it."""
    try:
        yield
    except Error as e:
        if visible(path) in str(e):
            raise
        raise Error(f"{visible(path)}: {e}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as e:
        first = (str(e) or type(e).__name__).splitlines()[0]
        raise Error(f"{visible(path)}: damaged: {visible(repr(first)):.200}") from None


# What is read, and never Python objects: numbers and text.
_KINDS = "biufU"


def fits_float32(x) -> bool:
    """Whether all are finite, as float32 too."""
    return bool((np.abs(x) <= np.finfo(np.float32).max).all())


def _read_array(archive, member):
    """One array, whose header may promise no more than the file holds."""
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
        raise ValueError(f"{member.filename}: compressed or encrypted")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ValueError(f"{member.filename}: version {version}")
        bytes_promised = math.prod(shape) * dtype.itemsize
        if dtype.kind not in _KINDS or bytes_promised != member.file_size - file.tell():
            raise ValueError(f"{member.filename}: {dtype} of shape {shape}")
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)


def _check(data):
    """Shapes that belong together and numbers that are some, before memory is made for them."""
    sizes = data["sizes"]
    if sizes.ndim != 1 or len(sizes) < 2 or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise ValueError(f"sizes {sizes}")
    sizes = [int(n) for n in sizes]
    inputs, outputs = sizes[0], sizes[-1]
    shapes = {
        "actor": (sum((i + 1) * o for i, o in zip(sizes, sizes[1:])),),
        "action_range": (2, outputs), "log_std": (outputs,),
        "obs_mean": (inputs,), "obs_var": (inputs,), "obs_count": (),
    }  # fmt: skip
    for name, shape in shapes.items():
        x = data[name]
        if x.shape != shape or x.dtype.kind not in "iuf":
            raise ValueError(f"{name}: {x.dtype} of shape {x.shape}, expected {shape}")
        infinite = name == "action_range"  # an action without bounds
        if np.isnan(x).any() or not (infinite or fits_float32(x)):
            raise ValueError(f"{name}: numbers that are none, or beyond float32")
    low, high = data["action_range"]
    if not (low < high).all():
        raise ValueError("action_range: a lower bound above the upper one")
    if (data["obs_var"] < 0).any():
        raise ValueError("obs_var: negative")
    if not isinstance(json.loads(str(data["task"])), dict):
        raise ValueError("task: not an object")


def read_arrays(path) -> dict:
    """The arrays of a policy or training checkpoint; Error on anything else."""
    data = {}
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                for member in archive.infolist():
                    data[member.filename.removesuffix(".npy")] = _read_array(archive, member)
        except Exception as e:  # zipfile raises what it happens to trip over
            if "format" in data:
                raise Error(f"{visible(path)}: damaged: {visible(repr(e)):.200}") from None
            data = {}
    if str(data.get("format")) != FORMAT:
        raise Error(f"{visible(path)}: not a policy of stiction ('{FORMAT}' in an .npz file)")
    with damage_is_an_error(path):
        _check(data)
    return data
