"""Array functions for both homes of numbers: NumPy on "cpu", torch on any other device.

`namespace(device)` has the library's functions under NumPy's names; what it makes lies on the device. Both
know `flatnonzero`, `copyto(to, what, where=mask)`, `astype`, `copy`, `put` and `host`. `on_tensors(env)` is
an environment or batch whose arrays on a device are torch tensors over the same memory.
"""

import contextlib
import functools
import sys

import numpy as np

from ._core import ArgumentError, Batch, DeviceArray
from ._util.extras import remedy
from ._util.statistics import FROZEN


def is_tensor(x) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def host(x):
    """Numbers of anywhere as a NumPy array; what is on a device is waited for."""
    return x.detach().cpu().numpy() if is_tensor(x) else np.asarray(x)


def namespace(device: str = "cpu"):
    """The array functions for a device, named as by `Batch` or by torch; "cuda" and "torch" too give torch tensors. The same
    object is returned for the same device."""
    return _namespace(device)


@functools.cache
def _namespace(device):
    return Numpy() if device == "cpu" else Torch(device)


def namespace_of(x):
    """The functions for an array."""
    return namespace(f"torch:{x.device}") if is_tensor(x) else namespace()


class _Namespace:
    host = staticmethod(host)

    def __init__(self, library):
        self._library = library

    def __getattr__(self, name):
        value = getattr(self._library, name)
        setattr(self, name, value)
        return value


class Numpy(_Namespace):
    """NumPy; episodes are counted in uint32, seeds are uint64."""

    word, seed_word = np.uint32, np.uint64
    quiet = contextlib.nullcontext()

    def __init__(self):
        super().__init__(np)

    def may_be_any(self, mask) -> bool:
        """False: there is none."""
        return bool(mask.any())

    def are_all(self, mask) -> bool:
        """True: they are all, for certain."""
        return bool(mask.all())

    def copy(self, x):
        return x.copy()

    def astype(self, x, dtype):
        return np.asarray(x).astype(dtype, copy=False)

    def rows_of(self, x, mask):
        """A copy of the rows where mask, zeros elsewhere."""
        rows = np.zeros_like(x)
        rows[mask] = x[mask]
        return rows

    def put(self, to, rows, what):
        """to[rows] = what, converted."""
        to[rows] = what

    def seeds(self, x):
        """uint64 numbers of the host, as they are kept here."""
        return x

    def real(self, x, shape, name, symbols):
        """Real numbers of that shape as float32; 0 where they are not finite."""
        given = np.asarray(x)
        if given.shape != shape or given.dtype.kind not in "fiub":
            raise _refused(name, given, shape, symbols)
        x = np.ascontiguousarray(given, np.float32)
        good = np.isfinite(x)
        return x if good.all() else np.where(good, x, np.float32(0))

    def follow(self, batch):
        """Makes a batch work in the order of the library's own work."""


class Torch(_Namespace):
    """torch on one device. Words of 32 and 64 bits are int64: torch has no arithmetic on others.

    `flatnonzero` waits for the device, as every question does whose answer is a size; `may_be_any` and
    `are_all` do not ask.
    """

    def __init__(self, device: str):
        try:
            import torch
        except ModuleNotFoundError as e:
            if e.name != "torch":
                raise
            raise ArgumentError(
                f"device = {device!r}: its arrays are torch tensors, and torch is not installed: "
                f"{remedy('train')}"
            ) from None
        super().__init__(torch)
        place = device.removeprefix("torch:")
        if place.startswith("cuda") and not torch.cuda.is_available():
            raise ArgumentError(f"device = {device!r}: torch {torch.__version__} finds no card")
        self.device = torch.device(place if place.startswith("cuda") else "cpu")
        self.word = self.seed_word = torch.int64
        for name in ("zeros", "ones", "full", "empty", "arange", "linspace", "eye"):
            setattr(self, name, functools.partial(getattr(torch, name), device=self.device))

    @property
    def quiet(self):
        """Ordinary tensors without gradients, also where a trainer is in inference mode."""
        return _Quiet(self._library)

    def asarray(self, x, dtype=None):
        if isinstance(x, DeviceArray):
            x = self.tensor(x)
        elif not is_tensor(x):
            x = self._library.from_numpy(np.array(x))
        return x.to(self.device, dtype)

    def astype(self, x, dtype):
        return x.to(dtype)

    def may_be_any(self, mask) -> bool:
        return True

    def are_all(self, mask) -> bool:
        return False

    def copy(self, x):
        return x.clone(memory_format=self.contiguous_format)

    def copyto(self, to, what, where=True):
        to.copy_(what if where is True else self._library.where(where, what, to))

    def flatnonzero(self, x):
        return self._library.nonzero(x.reshape(-1)).reshape(-1)

    def rows_of(self, x, mask):
        return self._library.where(mask[:, None], x, 0)

    def put(self, to, rows, what):
        to[rows] = what.to(to.dtype) if is_tensor(what) else what

    def seeds(self, x):
        return self.asarray(x.view(np.int64))

    def real(self, x, shape, name, symbols):
        given = self.asarray(x).detach()
        if tuple(given.shape) != shape or given.is_complex():
            raise _refused(name, given, shape, symbols)
        x = given.to(self.float32).contiguous()
        return self._library.where(self._library.isfinite(x), x, 0)

    def follow(self, batch):
        if self.device.type == "cuda":
            stream = self._library.cuda.current_stream(self.device).cuda_stream
            if batch.stream != stream:
                batch.stream = stream

    def tensor(self, array: DeviceArray):
        """A tensor over the memory of a device; bits of uint32 as int32."""
        with _Quiet(self._library):
            x = self._library.from_dlpack(array)
            return x.view(self.int32) if x.dtype == self.uint32 else x


class _Quiet:
    def __init__(self, torch):
        self._modes = torch.inference_mode(False), torch.no_grad()

    def __enter__(self):
        for mode in self._modes:
            mode.__enter__()

    def __exit__(self, *error):
        for mode in reversed(self._modes):
            mode.__exit__(*error)


def _refused(name, given, shape, symbols):
    return ArgumentError(
        f"{name}: given dtype {given.dtype} of shape {tuple(given.shape)}; expected real numbers of "
        f"shape {shape} = {symbols}"
    )


# ---- arrays of a device as tensors


class _OnTensors:
    """Attributes of `inner`, with tensors in the place of its arrays."""

    def __init__(self, inner, xp):
        vars(self).update(inner=inner, xp=xp)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.inner, name)
        return self.xp.tensor(value) if isinstance(value, DeviceArray) else value

    def __setattr__(self, name, value):
        setattr(self.inner, name, value)

    def __len__(self):
        return len(self.inner)

    def __repr__(self):
        return repr(self.inner)


class TensorBatch(_OnTensors):
    """A `Batch` on a device. Its work and that of torch are in the order of one stream."""

    def __getattr__(self, name):
        value = super().__getattr__(name)
        if is_tensor(value):
            vars(self)[name] = value  # the memory of a field stays where it is
        return value

    def param(self, name):
        return self.xp.tensor(self.inner.param(name))

    @property
    def frozen(self):
        return (self.status & FROZEN) != 0

    def reset(self, ids=None, **state):
        """As of `Batch`; the numbers of `state` stay on the device, and bad ones freeze."""
        rows = slice(None)
        if ids is not None:
            given, ids = ids, host(ids)
            if ids.dtype == bool:
                given = ids = np.flatnonzero(ids)
            rows = self.xp.asarray(given)
        self.inner.reset(ids)
        if not state:
            return
        for name, value in state.items():
            field = getattr(self, name)
            value, taken = self.xp.asarray(value, field.dtype), field[rows]
            if value.shape not in (taken.shape, taken.shape[1:]):
                raise ArgumentError(f"{name}: given shape {tuple(value.shape)}; expected "
                                    f"{tuple(taken.shape)}, or {tuple(taken.shape[1:])} for all")  # fmt: skip
            field[rows] = value.expand_as(taken)
        self.inner.refresh(ids)

    def set_state(self, ids=None, **state):
        state = {name: host(value) for name, value in state.items()}
        self.inner.set_state(None if ids is None else host(ids), **state)

    def get_state(self, ids=None):
        return self.inner.get_state(None if ids is None else host(ids))

    def copy(self, src, dst):
        self.inner.copy(host(src), host(dst))

    def teleport(self, ids=None):
        self.inner.teleport(None if ids is None else host(ids))


class TensorEnv(_OnTensors):
    """A compiled `Env` on a device, in the order of torch's current stream."""

    def __init__(self, inner, xp):
        super().__init__(inner, xp)
        vars(self)["batch"] = TensorBatch(inner.batch, xp)

    def step(self, actions, physics=None):
        xp = self.xp
        xp.follow(self.inner.batch)
        actions = xp.asarray(actions).detach().to(xp.float32).contiguous()
        return tuple(map(xp.tensor, self.inner.step(actions, physics)))

    def reset(self, ids=None, seed=None):
        self.xp.follow(self.inner.batch)
        return self.xp.tensor(self.inner.reset(None if ids is None else host(ids), seed))

    def observe(self):
        self.xp.follow(self.inner.batch)
        return self.xp.tensor(self.inner.observe())


def on_tensors(x):
    """An environment or batch on a device with torch tensors; anything else as it is."""
    batch = x if isinstance(x, Batch) else getattr(x, "batch", None)
    device = getattr(batch, "device", "cpu")
    if device == "cpu" or hasattr(x, "xp"):
        return x
    return (TensorBatch if x is batch else TensorEnv)(x, namespace(device))
