"""Learned actuators: a small network that answers an error of position and a speed, and their past, with a torque."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._core import ArgumentError, Error
from .._util.nearest import hint
from .._util.text import visible
from ..arrays import namespace
from ..terms.history import History
from . import files
from .actuator import Actuator

_ROWS = 512  # at once, so that they stay in a cache

ACTIVATIONS = {
    "linear": lambda xp, x: x,
    "relu": lambda xp, x: xp.maximum(x, xp.zeros_like(x)),
    "elu": lambda xp, x: xp.where(x > 0, x, xp.exp(xp.minimum(x, xp.zeros_like(x))) - 1),
    "tanh": lambda xp, x: xp.tanh(x),
    "softsign": lambda xp, x: x / (1 + xp.abs(x)),
    "sigmoid": lambda xp, x: 1 / (1 + xp.exp(-x)),
}


@dataclass(frozen=True)
class Mlp:
    """Layers y = activation(x W + b): weights (in, out), biases (out,), names of ACTIVATIONS. Sums run over the inputs in their order,
    whatever the number of rows: an environment gets the same bits alone and among others."""

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    activations: tuple[str, ...]
    _no_memory = True

    def __post_init__(self):
        if not len(self.weights) == len(self.biases) == len(self.activations) > 0:
            raise ArgumentError("Mlp: weights, biases and activations: as many as there are layers, at least one")
        fixed = lambda x: _fixed(np.array(x, np.float32))
        object.__setattr__(self, "weights", tuple(fixed(w) for w in self.weights))
        object.__setattr__(self, "biases", tuple(fixed(b) for b in self.biases))
        width = None
        for k, (w, b, name) in enumerate(zip(self.weights, self.biases, self.activations)):
            if w.ndim != 2 or b.shape != w.shape[1:] or (width is not None and w.shape[0] != width):
                raise ArgumentError(f"Mlp: layer {k}: weights {w.shape} and biases {b.shape} do not fit what is before")
            if name not in ACTIVATIONS:
                raise ArgumentError(f"Mlp: layer {k}: no activation {name!r}{hint(name, ACTIVATIONS)}; there are {', '.join(ACTIVATIONS)}")
            if not (np.isfinite(w).all() and np.isfinite(b).all()):
                raise ArgumentError(f"Mlp: layer {k}: has numbers that are not finite")
            width = w.shape[1]

    inputs = property(lambda self: self.weights[0].shape[0])
    outputs = property(lambda self: self.weights[-1].shape[1])

    def __call__(self, x, xp=np):
        """(n, outputs) of (n, inputs)."""
        out = [self._rows(x[first : first + _ROWS], xp) for first in range(0, max(len(x), 1), _ROWS)]
        return out[0] if len(out) == 1 else xp.concatenate(out, 0)

    def _rows(self, x, xp):
        x = xp.astype(x.T, xp.float32) if xp is not np else np.ascontiguousarray(x.T, np.float32)  # (inputs, n): rows side by side
        for w, b, name in zip(self.weights, self.biases, self.activations):
            w, b = xp.asarray(w), xp.asarray(b)
            y = xp.zeros((w.shape[1], x.shape[1]), dtype=xp.float32) + b[:, None]
            if xp is np or xp is namespace():
                product = np.empty_like(y)
                for k in range(w.shape[0]):
                    np.multiply(w[k][:, None], x[k][None], out=product)
                    y += product
            else:
                for k in range(w.shape[0]):
                    y += w[k][:, None] * x[k][None]
            x = ACTIVATIONS[name](xp, y)
        return x.T

    @classmethod
    def load(cls, path) -> "Mlp":
        """A network from *.onnx (Gemm or MatMul and Add, one after the other, with activations; the extra export), TorchScript (*.pt, *.ts:
        torch.nn.Sequential of Linear and activations), or *.npz of `save`."""
        path = _existing(path)
        if path.suffix == ".onnx":
            return cls(*files.mlp_of_onnx(path))
        if path.suffix in (".pt", ".ts"):
            layers, answers = files.mlp_of_torchscript(path)
            mlp = cls(*layers)
            files.check_answers(path, mlp, mlp.inputs, answers)
            return mlp
        try:
            with np.load(path, allow_pickle=False) as data:
                names = [str(a) for a in data["activations"]]
                return cls(tuple(data[f"w{k}"] for k in range(len(names))), tuple(data[f"b{k}"] for k in range(len(names))), tuple(names))
        except (ValueError, OSError, KeyError, EOFError) as e:
            raise Error(f"{visible(path)}: no network: {visible(e)}; expected *.onnx, *.pt, *.ts or what Mlp.save writes") from None

    def save(self, path):
        """As *.npz."""
        layers = {f"w{k}": w for k, w in enumerate(self.weights)} | {f"b{k}": b for k, b in enumerate(self.biases)}
        np.savez(path, activations=np.array(self.activations), **layers)


@dataclass(frozen=True)
class Lstm:
    """Layers of long short-term memory and an Mlp on what the last one gives: as torch.nn.LSTM, gates i, f, g, o side by side,

        i, f, o = sigmoid(...), g = tanh(...) of x W + h R + b,    c ← f c + i g,    h ← o tanh(c)

    weights: (W (in, 4 h), R (h, 4 h), b (4 h,)) of each layer. Sums run in the order of the inputs, as in Mlp.
    """

    weights: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]
    head: Mlp
    _no_memory = True

    def __post_init__(self):
        layers, width = [], None
        for k, (w, r, b) in enumerate(self.weights):
            w, r, b = (_fixed(np.array(x, np.float32)) for x in (w, r, b))
            h = r.shape[0]
            if w.ndim != 2 or r.shape != (h, 4 * h) or w.shape[1] != 4 * h or b.shape != (4 * h,) or (width not in (None, w.shape[0])):
                raise ArgumentError(f"Lstm: layer {k}: {w.shape}, {r.shape}, {b.shape}: expected (in, 4 h), (h, 4 h), (4 h,)")
            if not all(np.isfinite(x).all() for x in (w, r, b)):
                raise ArgumentError(f"Lstm: layer {k}: has numbers that are not finite")
            # one layer that takes x and h side by side
            layers.append(Mlp((np.concatenate([w, r]),), (b,), ("linear",)))
            width = h
        if not layers or self.head.inputs != width:
            raise ArgumentError(f"Lstm: the head takes {self.head.inputs} numbers; the last layer gives {width}")
        object.__setattr__(self, "_layers", tuple(layers))

    inputs = property(lambda self: self.weights[0][0].shape[0])
    outputs = property(lambda self: self.head.outputs)
    sizes = property(lambda self: tuple(r.shape[0] for _, r, _ in self.weights))

    def __call__(self, x, state, xp=np):
        """(n, outputs) of (n, inputs), and the next state: [(h, c)] of each layer, (n, h) each."""
        sigmoid, after = ACTIVATIONS["sigmoid"], []
        for layer, (h, c) in zip(self._layers, state):
            y = layer(xp.concatenate([x, h], 1), xp)
            k = h.shape[1]
            c = sigmoid(xp, y[:, k : 2 * k]) * c + sigmoid(xp, y[:, :k]) * xp.tanh(y[:, 2 * k : 3 * k])
            x = sigmoid(xp, y[:, 3 * k :]) * xp.tanh(c)
            after.append((x, c))
        return self.head(x, xp), after

    @classmethod
    def load(cls, path) -> "Lstm":
        """A network from *.onnx (LSTM of one direction, one after the other, then what Mlp.load reads; the extra export), TorchScript (*.pt, *.ts: a
        torch.nn.LSTM, then Linear and activations), or *.npz of `save`. Inputs of a file are x, or x, h and c; its outputs y, or y and the next
        h and c, with h and c (layers, n, h) as of torch.nn.LSTM. What a file computes is compared with what was read of it."""
        path = _existing(path)
        if path.suffix in (".onnx", ".pt", ".ts"):
            cells, layers, answers = (files.lstm_of_onnx if path.suffix == ".onnx" else files.lstm_of_torchscript)(path)
            lstm = cls(cells, Mlp(*layers))
            files.check_answers(path, lstm._sequence, lstm.inputs, answers)
            return lstm
        try:
            with np.load(path, allow_pickle=False) as data:
                names = [str(a) for a in data["head_activations"]]
                layers = sum(name[0] == "r" for name in data.files)
                head = Mlp(*(tuple(data[f"head_{x}{k}"] for k in range(len(names))) for x in "wb"), tuple(names))
                return cls(tuple(tuple(data[f"{x}{k}"] for x in "wrb") for k in range(layers)), head)
        except (ValueError, OSError, KeyError, EOFError) as e:
            raise Error(f"{visible(path)}: no LSTM: {visible(e)}; expected *.onnx, *.pt, *.ts or what Lstm.save writes") from None

    def save(self, path):
        """As *.npz."""
        layers = {f"{x}{k}": y for k, layer in enumerate(self.weights) for x, y in zip("wrb", layer)}
        head = {f"head_{x}{k}": y for x, ys in (("w", self.head.weights), ("b", self.head.biases)) for k, y in enumerate(ys)}
        np.savez(path, head_activations=np.array(self.head.activations), **layers, **head)

    def _sequence(self, x):
        """(T, outputs) of (T, inputs), from states of 0."""
        state, out = [(np.zeros((1, size), np.float32),) * 2 for size in self.sizes], []
        for row in x:
            y, state = self(row[None], state)
            out.append(y[0])
        return np.array(out)


def _existing(path):
    path = Path(path)
    if not path.is_file():
        raise ArgumentError(f"no such file: {visible(path)}")
    return path


def _fixed(x):
    x.setflags(write=False)
    return x


@dataclass
class Network(Actuator):
    """The torque of a network, one for all actuators, asked anew before each physics step:

        τ = torque_scale · network(position_scale · (q* − q) of the steps `past`, velocity_scale · q̇ of the steps `past`)

    network: an Mlp or a file of one, as many inputs as 2 len(past) and one output. past: physics steps ago, like (0, 1, 2). velocity_first: the other
    order of the inputs. limit: N m. At the beginning of an episode the past is the first state.
    """

    network: Any = None
    past: tuple[int, ...] = (0, 1, 2)
    position_scale: float = 1.0
    velocity_scale: float = 1.0
    torque_scale: float = 1.0
    velocity_first: bool = False
    limit: Any = 1e6
    _seen: Any = field(default=None, init=False, repr=False)

    def check(self, name):
        super().check(name)
        if not self.past or any(not isinstance(k, int) or k < 0 for k in self.past):
            raise ArgumentError(f"{name}: past = {self.past}: must be whole numbers >= 0, physics steps ago")
        if not isinstance(self.network, Mlp):
            if self.network is None:
                raise ArgumentError(f"{name}: network: not set; an Mlp, or a file *.onnx, *.pt, *.npz")
            self.network = Mlp.load(self.network)
        if (self.network.inputs, self.network.outputs) != (2 * len(self.past), 1):
            raise ArgumentError(f"{name}: network: {self.network.inputs} inputs, {self.network.outputs} outputs; "
                                f"expected {2 * len(self.past)} and 1")  # fmt: skip

    def setup(self):
        self.limit = self.numbers("limit")
        self._seen = History(self.xp, self.task.num_envs, max(self.past) + 1, (2, len(self.indices)))

    def begin(self, ids, draw):
        self._seen.begin(ids)

    def torque(self, target, q, qd):
        xp, seen = self.xp, self._seen
        seen.write(xp.stack((self.position_scale * (target - q), self.velocity_scale * qd), 1))
        past = xp.stack([seen.back(k) for k in self.past], 2)  # (n, 2, past, k)
        if self.velocity_first:
            past = xp.stack((past[:, 1], past[:, 0]), 1)
        n, k = q.shape
        x = past.reshape(n, 2 * len(self.past), k)
        x = xp.stack([x[:, i] for i in range(x.shape[1])], 2).reshape(n * k, -1)
        seen.move_on()
        return xp.clip(self.torque_scale * self.network(x, xp).reshape(n, k), -self.limit, self.limit)


@dataclass
class LstmNetwork(Actuator):
    """The torque of an Lstm, one for all actuators, that sees position_scale · (q* − q) and velocity_scale · q̇ before each physics step; its
    states are 0 at the beginning of an episode. network: an Lstm or a file of one. limit: N m."""

    network: Any = None
    position_scale: float = 1.0
    velocity_scale: float = 1.0
    torque_scale: float = 1.0
    limit: Any = 1e6

    def check(self, name):
        super().check(name)
        if not isinstance(self.network, (Lstm, str, Path)):
            raise ArgumentError(f"{name}: network: given {type(self.network).__name__}; expected a stiction.actuators.Lstm, or a file *.onnx, *.pt, *.npz")
        if not isinstance(self.network, Lstm):
            self.network = Lstm.load(self.network)
        if (self.network.inputs, self.network.outputs) != (2, 1):
            raise ArgumentError(f"{name}: network: {self.network.inputs} inputs, {self.network.outputs} outputs; expected 2 and 1")

    def setup(self):
        self.limit = self.numbers("limit")
        rows = self.task.num_envs, len(self.indices)
        self.states = [self.xp.zeros((2, *rows, size), dtype=self.xp.float32) for size in self.network.sizes]

    def begin(self, ids, draw):
        for state in self.states:
            state[:, ids] = 0

    def torque(self, target, q, qd):
        xp, (n, k) = self.xp, q.shape
        x = xp.stack((self.position_scale * (target - q), self.velocity_scale * qd), 2).reshape(n * k, 2)
        flat = [(s[0].reshape(n * k, -1), s[1].reshape(n * k, -1)) for s in self.states]
        y, after = self.network(x, flat, xp)
        for state, (h, c) in zip(self.states, after):
            state[0], state[1] = h.reshape(n, k, -1), c.reshape(n, k, -1)
        return xp.clip(self.torque_scale * y.reshape(n, k), -self.limit, self.limit)
