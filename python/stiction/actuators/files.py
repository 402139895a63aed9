"""Weights of small networks from ONNX and TorchScript.

An LSTM has many equivalent graphs: with transposed inputs, states as inputs or not, layers as nodes or stacked. So its weights are taken
from the nodes on the way from input to output, and what the whole file answers to a few inputs is compared with what was read
(`check_answers`).
"""

import numpy as np

from .._core import Error
from .._util.extras import remedy
from .._util.text import visible

_OF_ONNX = {"Relu": "relu", "Elu": "elu", "Tanh": "tanh", "Softsign": "softsign", "Sigmoid": "sigmoid"}
_OF_TORCH = {"ReLU": "relu", "ELU": "elu", "Tanh": "tanh", "Softsign": "softsign", "Sigmoid": "sigmoid"}
_SHAPES = ("Identity", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Gather")  # move numbers, change none
_STEPS = 4  # of the sequence that files of LSTMs are asked


class _Layers:
    """Weights, biases and activations of what nodes of ONNX compute one after the other."""

    def __init__(self):
        self.weights, self.biases, self.activations = [], [], []

    def take(self, node, given, data, others) -> bool:
        """Whether the node continues the layers. data: the name of its input that is no constant; others: its constants."""
        linear = bool(self.weights) and self.activations[-1] == "linear"
        if node.op_type == "Gemm" and node.input[0] == data and not given.get("transA"):
            w = others[0].T if given.get("transB") else others[0]
            b = given.get("beta", 1.0) * others[1].ravel() if len(others) > 1 else np.zeros(w.shape[1])
            self._append(given.get("alpha", 1.0) * w, b)
        elif node.op_type == "MatMul" and node.input[0] == data:
            self._append(others[0], np.zeros(others[0].shape[1]))
        elif node.op_type == "Add" and linear:
            self.biases[-1] = self.biases[-1] + others[0].ravel()
        elif node.op_type in _OF_ONNX and linear and given.get("alpha", 1.0) == 1.0:
            self.activations[-1] = _OF_ONNX[node.op_type]
        else:
            return False
        return True

    def _append(self, w, b):
        self.weights.append(w)
        self.biases.append(b)
        self.activations.append("linear")

    def tuples(self):
        return tuple(self.weights), tuple(self.biases), tuple(self.activations)


def _open_onnx(path):
    """The model, its nodes with softsigns as such, its constants by name, and an Error of a node."""
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as e:
        raise Error(f"{visible(path)}: onnx is not installed: {remedy('export')}") from e
    try:
        model = onnx.load(path)
    except Exception as e:  # protobuf's own classes
        raise Error(f"{visible(path)}: no ONNX: {visible(e):.80}") from None
    known = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    known |= {n.output[0]: numpy_helper.to_array(n.attribute[0].t) for n in model.graph.node if n.op_type == "Constant"}
    refuse = lambda node, why: Error(f"{visible(path)}: {node.op_type} {visible(node.name)}: {why}")
    return model, _with_softsigns(model.graph.node, known, onnx.helper), known, refuse


def _with_softsigns(nodes, known, helper):
    """The nodes with Softsign in the place of Abs, Add of 1 and Div: torch exports x/(1 + |x|)."""
    makers, found, gone = {name: node for node in nodes for name in node.output}, {}, []
    for node in nodes:
        add = makers.get(node.input[1]) if node.op_type == "Div" else None
        if add is None or add.op_type != "Add":
            continue
        ones = [name for name in add.input if name in known and known[name].size == 1 and known[name].item() == 1]
        size = next((makers.get(name) for name in add.input if name not in known), None)
        if ones and size is not None and size.op_type == "Abs" and size.input[0] == node.input[0]:
            found[node.output[0]] = helper.make_node("Softsign", [node.input[0]], list(node.output), name=node.name)
            gone += [*add.output, *size.output]
    return [found.get(node.output[0], node) for node in nodes if node.output[0] not in gone]


def _given(node):
    import onnx

    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def mlp_of_onnx(path):
    """Weights (in, out), biases and activations of a chain of layers."""
    model, nodes, known, refuse = _open_onnx(path)
    for node in nodes:
        if node.op_type == "LSTM":
            raise refuse(node, "is for Lstm.load, and for LstmNetwork in the place of Network")
    layers, now = _Layers(), model.graph.input[0].name
    for node in nodes:
        if node.op_type in ("Constant", "Identity", "Flatten"):
            now = node.output[0] if node.op_type != "Constant" and node.input[0] == now else now
            continue
        if now not in node.input:
            raise refuse(node, "is not of the one chain of layers that is read")
        others = [known.get(name) for name in node.input if name != now]
        if any(x is None for x in others):
            raise refuse(node, "its other input is no constant")
        if not layers.take(node, _given(node), now, others):
            raise refuse(node, "is not read: Gemm, MatMul, Add, " + ", ".join(_OF_ONNX) + " are")
        now = node.output[0]
    return layers.tuples()


def lstm_of_onnx(path):
    """(w, r, b) of each LSTM as of Lstm, the layers after them as of `mlp_of_onnx`, and `answers` for `check_answers`."""
    model, nodes, known, refuse = _open_onnx(path)
    graph = model.graph
    inputs = [i for i in graph.input if i.name not in known]
    chain = _way(path, graph, nodes, known, inputs[0].name if inputs else "")
    cells, layers = [], _Layers()
    for node in chain:
        data = _data(node, known)
        others = [known.get(name) for name in node.input if name != data]
        if node.op_type == "LSTM" and not layers.weights:
            cells.append(_cell(node, known, refuse))
        elif node.op_type in _SHAPES:
            continue
        elif not cells or any(x is None for x in others) or not layers.take(node, _given(node), data, others):
            raise refuse(node, "is not read: LSTM are, and after them Gemm, MatMul, Add, " + ", ".join(_OF_ONNX) + " with constants")
    if not cells:
        raise Error(f"{visible(path)}: has no LSTM between input and output")
    if not layers.weights:
        raise refuse(chain[-1], "is the last: expected a Gemm or MatMul after the LSTM")
    if len(inputs) not in (1, 3):
        raise Error(f"{visible(path)}: inputs {', '.join(visible(i.name) for i in inputs)}: expected x, or x, h and c")
    if len(inputs) == 3 and len(graph.output) < 3:
        raise Error(f"{visible(path)}: takes states, but gives none: expected outputs y, h and c")
    return tuple(cells), layers.tuples(), _answers_of_onnx(model, inputs, len(cells), cells[0][1].shape[0])


def _data(node, known):
    """The name of the input that a node transforms."""
    return next((name for name in node.input if name not in known), "") if node.op_type == "Add" else node.input[0]


def _way(path, graph, nodes, known, first):
    """The nodes between an input and the first output, in the order of computation."""
    makers = {name: node for node in nodes for name in node.output}
    way, now = [], graph.output[0].name
    while now != first:
        node = makers.pop(now, None)  # each once: a file may hold a circle
        if node is None or not node.input:
            raise Error(f"{visible(path)}: {visible(now)} is not computed from the first input")
        way.append(node)
        now = _data(node, known)
    return way[::-1]


def _cell(node, known, refuse):
    """Gates i, o, f, c of ONNX as i, f, g, o of torch; of two biases their sum."""
    given = _given(node)
    if given.get("direction", b"forward") != b"forward":
        raise refuse(node, f"direction {given['direction'].decode()} is not read: forward is")
    if [a.lower() for a in given.get("activations", [b"sigmoid", b"tanh", b"tanh"])] != [b"sigmoid", b"tanh", b"tanh"]:
        raise refuse(node, "activations other than Sigmoid, Tanh, Tanh are not read")
    for name in ("clip", "input_forget"):
        if given.get(name):
            raise refuse(node, f"{name} is not read")
    names = [*node.input, *[""] * 8]
    for k, what in ((4, "sequence_lens"), (7, "peepholes P")):
        if names[k]:
            raise refuse(node, f"{what} are not read")
    w, r = known.get(names[1]), known.get(names[2])
    b = known.get(names[3]) if names[3] or r is None else np.zeros((1, 2 * r.shape[1]), np.float32)
    if any(x is None for x in (w, r, b)):
        raise refuse(node, "W, R or B is no constant")
    h = r.shape[-1]
    if w.ndim != 3 or w.shape[:2] != (1, 4 * h) or r.shape != (1, 4 * h, h) or b.shape != (1, 8 * h):
        raise refuse(node, f"W {w.shape}, R {r.shape}, B {b.shape}: expected (1, 4 h, in), (1, 4 h, h), (1, 8 h)")
    order = np.concatenate([np.arange(k * h, (k + 1) * h) for k in (0, 2, 3, 1)])
    return w[0][order].T, r[0][order].T, (b[0, : 4 * h] + b[0, 4 * h :])[order]


def _answers_of_onnx(model, inputs, layers, size):
    from onnx.reference import ReferenceEvaluator

    dims = len(inputs[0].type.tensor_type.shape.dim)

    def answers(x):
        run, names = ReferenceEvaluator(model), [i.name for i in inputs]
        ask = lambda *values: run.run(None, dict(zip(names, values)))
        if len(inputs) == 1:
            for shape in [(len(x), x.shape[1])] if dims == 2 else [(len(x), 1, x.shape[1]), (1, len(x), x.shape[1])]:
                yield lambda shape=shape: ask(x.reshape(shape))[0]
            return

        def one_by_one():
            states, out = [np.zeros((layers, 1, size), np.float32)] * 2, []
            for row in x:
                y, *states = ask(row.reshape((1,) * (dims - 1) + row.shape), *states)[:3]
                out.append(y.ravel())
            return np.array(out)

        yield one_by_one

    return answers


def _open_torchscript(path):
    try:
        import torch
    except ImportError as e:
        raise Error(f"{visible(path)}: torch is not installed: {remedy('train')}") from e
    try:
        return torch, torch.jit.load(str(path), map_location="cpu").eval()
    except RuntimeError as e:
        raise Error(f"{visible(path)}: no TorchScript: {visible(e):.80}") from None


def _parts_of_torchscript(path, module, cells):
    """Layers as of `mlp_of_onnx` of Linear and activations in their order; cells: a list for those of LSTMs, or None where none are read."""
    weights, biases, activations = [], [], []
    for part in module.modules():
        kind = part.original_name
        if kind == "Linear":
            weights.append(part.weight.detach().numpy().T)
            biases.append(part.bias.detach().numpy() if getattr(part, "bias", None) is not None else np.zeros(weights[-1].shape[1]))
            activations.append("linear")
        elif kind == "LSTM" and cells is not None:
            cells += _cells_of_torch(path, {name: p.detach().numpy() for name, p in part.named_parameters(recurse=False)})
        elif kind in _OF_TORCH and weights and activations[-1] == "linear":
            activations[-1] = _OF_TORCH[kind]
        elif list(part.parameters(recurse=False)) or (not list(part.children()) and kind not in ("Identity", "Dropout")):
            also = "LSTM, " if cells is not None else ""
            raise Error(f"{visible(path)}: {visible(kind)} is not read: {also}Linear, {', '.join(_OF_TORCH)} are")
    return tuple(weights), tuple(biases), tuple(activations)


def _cells_of_torch(path, given):
    if other := next((name for name in given if name.endswith("_reverse") or name.startswith("weight_hr")), None):
        raise Error(f"{visible(path)}: LSTM with {visible(other)} is not read: one direction without projection is")
    for k in range(sum(name.startswith("weight_hh") for name in given)):
        w, r = given[f"weight_ih_l{k}"].T, given[f"weight_hh_l{k}"].T
        yield w, r, sum((given[name] for name in (f"bias_ih_l{k}", f"bias_hh_l{k}") if name in given), np.zeros(w.shape[1], np.float32))


def mlp_of_torchscript(path):
    """Layers as of `mlp_of_onnx`, and `answers` for `check_answers`."""
    torch, module = _open_torchscript(path)
    layers = _parts_of_torchscript(path, module, None)
    if not layers[0]:
        raise _differs(path)
    return layers, lambda x: [lambda: module(torch.from_numpy(x)).detach().numpy()]


def lstm_of_torchscript(path):
    """As `lstm_of_onnx`."""
    torch, module = _open_torchscript(path)
    cells = []
    layers = _parts_of_torchscript(path, module, cells)
    if not cells or not layers[0]:
        raise Error(f"{visible(path)}: expected an LSTM and a Linear after it")

    def one_by_one(x):
        states, out = (torch.zeros(len(cells), 1, cells[0][1].shape[0]),) * 2, []
        for row in torch.from_numpy(x):
            y, states = module(row[None, None], states)
            out.append(y.detach().numpy().ravel())
        return np.array(out)

    def answers(x):
        yield lambda: one_by_one(x)
        for shape in ((len(x), 1, -1), (1, len(x), -1)):
            yield lambda shape=shape: module(torch.from_numpy(x).reshape(shape)).detach().numpy()

    return tuple(cells), layers, answers


def check_answers(path, network, inputs, answers):
    """Refuses a file that computes something else than what was read of it. network: (T, outputs) of a sequence (T, inputs); answers: for such a
    sequence, functions of which one should return what the file answers to it, or the last row of that."""
    x = np.sin(np.arange(1, 1 + _STEPS * inputs, dtype=np.float32)).reshape(_STEPS, inputs)
    wanted = network(x)
    why = ""
    for answer in answers(x):
        try:
            given = np.asarray(answer())
        except Exception as e:  # of the evaluator: another form of inputs may do
            why = f" ({visible(e):.80})"
            continue
        if given.size in (wanted.size, wanted[-1].size) and np.allclose(given.ravel(), wanted.ravel()[-given.size :], rtol=1e-3, atol=1e-4):
            return
    raise _differs(path, why)


def _differs(path, why=""):
    return Error(f"{visible(path)}: does something else than its layers one after the other{why}")
