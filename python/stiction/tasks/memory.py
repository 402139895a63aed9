"""What an object keeps between two steps: put back after an error, written as bytes, read again.

Memory is arrays, numbers, text, lists, dicts, sets and deques of them, random generators, and objects of
classes in Python, whose attributes are memory in turn. Models, options, classes, functions, modules and views
that can't be written are none: nobody changes them; nor are objects of a class with `_no_memory`, which says so.
"""

import enum
import io
import json
import os
import random
import types
import weakref
from collections import deque

import numpy as np

from .._core import Error
from .._util.text import visible
from ..arrays import host, is_tensor

_SCALARS = {bool, int, float, str, bytes, complex, type(None), np.float32, np.float64, np.int64}
_CODE = (
    type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType,
    *weakref.ProxyTypes, weakref.ref, enum.Enum, os.PathLike, np.dtype, np.ufunc, slice,
)  # fmt: skip

_OURS = ("stiction", "stiction._core", "stiction.arrays")  # models, options, batches, namespaces


def _is_constant(x) -> bool:
    """What neither changes nor has to be kept."""
    return isinstance(x, _CODE) or type(x).__module__ in _OURS or getattr(type(x), "_no_memory", False)


def _attributes(x) -> dict | None:
    return vars(x) if hasattr(x, "__dict__") and not _is_constant(x) else None


# ------------------------------------------------------------------------------- undo


class Undo:
    """All that `root` and what hangs on it are, to be put back in place: whoever holds a part of it sees
    the old numbers again."""

    def __init__(self, *roots):
        self._parts = []  # (put back, object, what it was)
        seen, waiting = set(), list(roots)
        while waiting:
            x = waiting.pop()
            if type(x) in _SCALARS or id(x) in seen:
                continue
            seen.add(id(x))
            waiting += self._take(x)

    def _take(self, x):
        """Keeps one object; returns what hangs on it."""
        if isinstance(x, np.ndarray):
            if x.flags.writeable:
                self._parts.append((_put_array, x, x.copy()))
            return x.ravel().tolist() if x.dtype.hasobject else ()
        if is_tensor(x):
            self._parts.append((_put_tensor, x, x.detach().clone()))
        elif isinstance(x, (list, deque)):
            self._parts.append((_put_list, x, list(x)))
            return list(x)
        elif isinstance(x, dict):
            self._parts.append((_put_dict, x, dict(x)))
            return list(x.values())
        elif isinstance(x, set):
            self._parts.append((_put_dict, x, set(x)))
        elif isinstance(x, tuple):
            return x
        elif isinstance(x, np.random.Generator):
            self._parts.append((_put_generator, x, x.bit_generator.state))
        elif isinstance(x, random.Random):
            self._parts.append((random.Random.setstate, x, x.getstate()))
        elif (inside := _attributes(x)) is not None:
            return (inside,)
        return ()

    def put_back(self):
        for put, x, was in self._parts:
            put(x, was)


def _put_array(x, was):
    x[...] = was


def _put_tensor(x, was):
    x.data.copy_(was)


def _put_list(x, was):
    x.clear()
    x.extend(was)


def _put_dict(x, was):
    x.clear()
    x.update(was)


def _put_generator(x, was):
    x.bit_generator.state = was


# ------------------------------------------------------------------------------- bytes


class CannotBeWritten(Error):
    """There is memory of a kind that bytes can't hold; the message names it."""


def write(memory: dict) -> bytes:
    """The memory as bytes: numbers and text, no code. Raises CannotBeWritten."""
    arrays: list[np.ndarray] = []
    tree = _encode(memory, "", arrays, [])
    file = io.BytesIO()
    text = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    np.savez(file, tree=text, **{f"a{k}": x for k, x in enumerate(arrays)})
    return file.getvalue()


def read(data: bytes, memory: dict):
    """Puts what `write` wrote into `memory`, in place. Raises Error where it is damaged or another's, and
    then changes nothing."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        tree = json.loads(arrays.pop("tree").tobytes())
    except Exception as e:  # zipfile raises what it happens to trip over
        raise Error(f"snapshot of environments: not one, or damaged: {visible(e):.200}") from None
    undo = Undo(memory)
    try:
        if (of := tree["dict"]["of"]) != memory["of"]:
            raise Error(f"snapshot of environments: of {visible(of):.200}, here are {memory['of']}")
        _decode(tree, memory, "", arrays)
    except Error:
        undo.put_back()
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as e:
        undo.put_back()
        raise Error(f"snapshot of environments: damaged, or of another task: {visible(e):.200}") from None


def _encode(x, name, arrays, above):
    """JSON of one value: scalars as they are, else {kind: content}."""
    if any(x is y for y in above):
        raise CannotBeWritten(f"{name[1:]}: an object that contains itself")
    above = [*above, x]
    inside = lambda items: {str(k): _encode(v, f"{name}.{k}", arrays, above) for k, v in items}
    if isinstance(x, np.generic):
        return {"number": _add(x, arrays), "of": "numpy"}
    if isinstance(x, (bool, int, float, str, type(None))) and not isinstance(x, enum.Enum):
        return x
    if _is_constant(x):
        return {"constant": None}
    if isinstance(x, np.ndarray) and not x.dtype.hasobject or is_tensor(x):
        return {"array": _add(host(x), arrays)}
    if isinstance(x, (list, tuple, deque)):
        return {"list": [_encode(v, f"{name}[{k}]", arrays, above) for k, v in enumerate(x)]}
    if isinstance(x, dict) and all(isinstance(k, (str, int)) for k in x):
        return {"dict": inside(x.items()), "integers": [str(k) for k in x if not isinstance(k, str)]}
    if isinstance(x, set) and all(isinstance(k, (str, int)) for k in x):
        return {"set": list(x)}
    if isinstance(x, np.random.Generator):
        return {"generator": _plain(x.bit_generator.state)}
    if not isinstance(x, (set, random.Random)) and (attributes := _attributes(x)) is not None:
        return {"object": inside(attributes.items())}
    raise CannotBeWritten(
        f"{name[1:]}: {type(x).__name__} can't be written; memory of a task is arrays, numbers, text, "
        "and lists and dicts of them"
    )


def _add(x, arrays) -> str:
    arrays.append(np.asarray(x))
    return f"a{len(arrays) - 1}"


def _plain(x):
    """State of a bit generator for JSON: arrays as lists."""
    if isinstance(x, dict):
        return {k: _plain(v) for k, v in x.items()}
    return {"words": x.tolist()} if isinstance(x, np.ndarray) else x


def _unplain(x):
    if isinstance(x, dict) and set(x) == {"words"}:
        return np.array(x["words"], np.uint64)
    return {k: _unplain(v) for k, v in x.items()} if isinstance(x, dict) else x


def _decode(saved, x, name, arrays):
    """The saved value: `x` itself with the saved content where it can change, else a new one."""
    if not isinstance(saved, dict):
        return saved
    (kind, content), *more = saved.items()
    if kind == "constant":
        return x
    if kind == "number":
        return arrays[content][()]
    if kind == "array":
        return _decode_array(arrays[content], x, name)
    if kind == "generator":
        if not isinstance(x, np.random.Generator):
            raise _another(name, "a random generator", x)
        x.bit_generator.state = _unplain(content)
        return x
    if kind == "list":
        old = list(x) if isinstance(x, (list, tuple, deque)) else []
        old += [None] * (len(content) - len(old))
        new = [_decode(v, old[k], f"{name}[{k}]", arrays) for k, v in enumerate(content)]
        if isinstance(x, tuple):
            return type(x)(*new) if hasattr(x, "_fields") else tuple(new)
        if not isinstance(x, (list, deque)):
            return new
        _put_list(x, new)
        return x
    if kind == "dict":
        integers = set(more[0][1])
        to = x if isinstance(x, dict) else {}
        keys = {k: int(k) if k in integers else k for k in content}
        new = {keys[k]: _decode(v, to.get(keys[k]), f"{name}.{k}", arrays) for k, v in content.items()}
        _put_dict(to, new)
        return to
    if kind == "set":
        to = x if isinstance(x, set) else set()
        _put_dict(to, set(content))
        return to
    if kind == "object":
        inside = _attributes(x)
        if inside is None:
            raise _another(name, "an object", x)
        new = {k: _decode(v, inside.get(k), f"{name}.{k}", arrays) for k, v in content.items()}
        inside.update(new)
        return x
    raise ValueError(f"{name}: {kind}")


def _decode_array(saved, x, name):
    if is_tensor(x):
        if tuple(x.shape) != saved.shape:
            raise _another(name, f"shape {saved.shape}", f"{tuple(x.shape)}")
        _put_tensor(x, x.new_tensor(saved))
        return x
    if isinstance(x, np.ndarray) and (x.shape, x.dtype) == (saved.shape, saved.dtype):
        if x.flags.writeable:
            x[...] = saved
        return x
    return saved.copy()


def _another(name, saved, here) -> Error:
    return Error(f"snapshot of environments: {visible(name[1:])} was {saved}, here it is {visible(here):.80}")
