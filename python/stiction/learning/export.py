"""A policy as a file that needs no stiction to run: ONNX, or TorchScript where torch is installed.

The graph takes the environment's observations and gives its actions: normaliser, clipping of observations,
network, scaling and clipping of actions are inside. Input "obs" (n, num_obs), output "actions"
(n, num_actions), float32, any n.
"""

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._core import Error, __version__
from .._util.extras import remedy
from .._util.files import write_atomically
from .._util.text import say, visible
from .play import load_policy
from .policy import Policy

ACTIVATIONS = {"tanh": "Tanh", "elu": "Elu", "relu": "Relu", "sigmoid": "Sigmoid", "softplus": "Softplus"}


@dataclass(frozen=True)
class Graph:
    """actions = clip(middle + half_range · network(clip((obs − mean) · scale, ±limit)), low, high)"""

    mean: np.ndarray  # (num_obs,)
    scale: np.ndarray
    limit: float
    layers: list  # of (weight (in, out), bias (out,))
    activation: str  # between them, a key of ACTIVATIONS
    middle: np.ndarray  # (num_actions,)
    half_range: np.ndarray
    low: np.ndarray  # may be infinite
    high: np.ndarray
    task: dict

    def __call__(self, obs):
        """The same in NumPy, for tanh: what the tests compare a file with."""
        x = np.clip((obs - self.mean) * self.scale, -self.limit, self.limit)
        for k, (weight, bias) in enumerate(self.layers):
            x = x @ weight + bias
            x = np.tanh(x) if k < len(self.layers) - 1 else x
        return np.clip(self.middle + self.half_range * x, self.low, self.high)


def _from_numpy(policy: Policy) -> Graph:
    unit = policy.to_env(np.zeros((1, policy.num_actions), np.float32))[0]
    bounded = np.isfinite(policy.low) & np.isfinite(policy.high)
    half_range = np.where(bounded, (policy.high - policy.low) / 2, np.float32(1))
    scale = 1 / np.sqrt(policy.moments.var + 1e-8)
    layers = [(w.copy(), b.copy()) for w, b in policy.actor.layers]
    return Graph(policy.moments.mean, scale, 10.0, layers, "tanh", unit, half_range, policy.low, policy.high,
                 policy.task)  # fmt: skip


def _from_rsl(policy) -> Graph:
    """The graph of rsl_rl's MLPModel: empirical normaliser (x − mean)/(std + eps), layers, actions clipped to their range."""
    model = policy.model
    state = {k: v.double().numpy() for k, v in model.state_dict().items()}
    mean, scale = np.zeros(policy.num_obs), np.ones(policy.num_obs)
    if "obs_normalizer._mean" in state:
        mean = state["obs_normalizer._mean"].reshape(-1)
        scale = 1 / (state["obs_normalizer._std"].reshape(-1) + model.obs_normalizer.eps)
    names = [k.removesuffix(".weight") for k in state if k.startswith("mlp.") and k.endswith(".weight")]
    layers = [(state[f"{n}.weight"].T, state[f"{n}.bias"]) for n in names]
    kinds = {type(m).__name__.lower() for m in model.mlp} - {"linear", "identity"}
    if len(kinds) != 1 or not kinds <= set(ACTIVATIONS):
        raise Error(f"activation {', '.join(sorted(kinds))}: can be exported: {', '.join(ACTIVATIONS)}")
    n = policy.num_actions
    return Graph(mean, scale, np.inf, layers, kinds.pop(), np.zeros(n), np.ones(n), policy.low, policy.high, policy.task)


def graph_of(policy) -> Graph:
    """The graph of a policy of either trainer."""
    return _from_numpy(policy) if isinstance(policy, Policy) else _from_rsl(policy)


def _require(module, extra):
    if importlib.util.find_spec(module) is None:
        raise Error(f"{module} is not installed: {remedy(extra)}")


def onnx_model(graph: Graph):
    """onnx.ModelProto of a graph; metadata "task" is the description of the task as JSON."""
    _require("onnx", "export")
    from onnx import TensorProto, checker, helper, numpy_helper

    nodes, constants = [], []

    def constant(name, x):
        constants.append(numpy_helper.from_array(np.asarray(x, np.float32), name))
        return name

    def node(op, *inputs, to=None):
        name = to or f"x{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [name]))
        return name

    x = node("Mul", node("Sub", "obs", constant("mean", graph.mean)), constant("scale", graph.scale))
    if np.isfinite(graph.limit):
        x = node("Clip", x, constant("clip_low", -graph.limit), constant("clip_high", graph.limit))
    for k, (weight, bias) in enumerate(graph.layers):
        x = node("Gemm", x, constant(f"weight{k}", weight), constant(f"bias{k}", bias))
        if k < len(graph.layers) - 1:
            x = node(ACTIVATIONS[graph.activation], x)
    x = node("Add", node("Mul", x, constant("half_range", graph.half_range)), constant("middle", graph.middle))
    x = node("Max", x, constant("low", graph.low))
    node("Min", x, constant("high", graph.high), to="actions")

    def value(name, width):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width])

    sizes = len(graph.mean), len(graph.middle)
    body = helper.make_graph(nodes, "policy", [value("obs", sizes[0])], [value("actions", sizes[1])], constants)
    model = helper.make_model(
        body, producer_name="stiction", producer_version=__version__, ir_version=8,
        opset_imports=[helper.make_opsetid("", 17)],
    )  # fmt: skip
    helper.set_model_props(model, {"task": json.dumps(graph.task)})
    checker.check_model(model)
    return model


def torch_module(graph: Graph):
    """torch.jit.ScriptModule of a graph."""
    _require("torch", "train")
    import torch

    activations = {"tanh": torch.nn.Tanh, "elu": torch.nn.ELU, "relu": torch.nn.ReLU,
                   "sigmoid": torch.nn.Sigmoid, "softplus": torch.nn.Softplus}  # fmt: skip

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name in ("mean", "scale", "middle", "half_range", "low", "high"):
                x = torch.from_numpy(np.array(getattr(graph, name), np.float32))
                self.register_buffer(name, x)
            self.limit = float(graph.limit)
            layers = []
            for weight, bias in graph.layers:
                linear = torch.nn.Linear(*weight.shape)
                linear.weight.data = torch.from_numpy(np.ascontiguousarray(weight.T, np.float32))
                linear.bias.data = torch.from_numpy(np.array(bias, np.float32))
                layers += [linear, activations[graph.activation]()]
            self.network = torch.nn.Sequential(*layers[:-1])

        def forward(self, obs: torch.Tensor) -> torch.Tensor:
            x = torch.clamp((obs - self.mean) * self.scale, -self.limit, self.limit)
            x = self.middle + self.half_range * self.network(x)
            return torch.minimum(torch.maximum(x, self.low), self.high)

    with torch.inference_mode(False):
        return torch.jit.script(Module().eval())


def export(policy, path):
    """Writes *.onnx or *.ts (TorchScript); policy: of `load_policy`, or `Ppo.policy`.

    Raises Error on another ending or where the library is not installed.
    """
    path, graph = Path(path), graph_of(policy)
    if path.suffix == ".onnx":
        data = onnx_model(graph).SerializeToString()
        write_atomically(path, lambda file: file.write(data))
    elif path.suffix == ".ts":
        module = torch_module(graph)
        import torch

        write_atomically(path, lambda file: torch.jit.save(module, file))
    else:
        raise Error(f"{visible(path)}: must end in .onnx, or .ts for TorchScript")


def run(args) -> int:
    """`stiction export`"""
    policy = load_policy(args.file)
    export(policy, args.output)
    graph = graph_of(policy)
    say(f"written: {visible(args.output)}: obs (n, {len(graph.mean)}) -> actions (n, {len(graph.middle)})")
    return 0
