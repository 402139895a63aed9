"""LSTMs of actuators in files: ONNX as torch's exporter writes it, TorchScript, npz."""

import numpy as np
import pytest

import stiction
from stiction.actuators import Lstm, LstmNetwork, Mlp


def lstm_of(seed=1, sizes=(8, 8), activations=("linear",)):
    rng, layers, width = np.random.default_rng(seed), [], 2
    for h in sizes:
        w, r, b = (rng.normal(size=s) / 2 for s in ((width, 4 * h), (h, 4 * h), (4 * h,)))
        layers.append((w, r, np.round(64 * b) / 64))  # ONNX has the sum of two biases: exact parts
        width = h
    widths = [width, *[6] * (len(activations) - 1), 1]
    head = Mlp(tuple(rng.normal(size=s) for s in zip(widths, widths[1:])), tuple(rng.normal(size=w) for w in widths[1:]), activations)
    return Lstm(tuple(layers), head)


def inputs_of(rows, steps):
    return np.random.default_rng(2).normal(size=(steps, rows, 2)).astype(np.float32)


def run(lstm, x):
    """(T, n) outputs of (T, n, 2), from states of 0."""
    states, out = [(np.zeros((x.shape[1], h), np.float32),) * 2 for h in lstm.sizes], []
    for step in x:
        y, states = lstm(step, states)
        out.append(y[:, 0])
    return np.array(out)


class Graph:
    """An ONNX graph as torch.onnx.export makes it of torch.nn.LSTM and torch.nn.Linear.

    states: h and c (layers, n, h) are inputs and outputs, cut and put together by nodes. batch_first: x is (n, T, 2), else (T, n, 2).
    fused: Gemm on what is reshaped, else MatMul and Add. change: attributes of the LSTMs. softsign_parts: x/(that + |x|) in the place of Softsign,
    as torch exports it with 1."""

    def __init__(self, lstm, states=True, batch_first=True, fused=False, change=(), swapped=False, softsign_parts=0):
        self.onnx, self.softsign_parts = pytest.importorskip("onnx"), softsign_parts
        self.nodes, self.constants = [], []
        now = self.add("Transpose", "x", perm=[1, 0, 2]) if batch_first else "x"
        ends = []
        for k, (w, r, b) in enumerate(lstm.weights):
            h = r.shape[0]
            iofc = lambda x, h=h: np.concatenate([np.asarray(x)[..., g * h : (g + 1) * h] for g in (0, 3, 1, 2)], -1)
            b = iofc(b)
            weights = [self.constant(x[None]) for x in (iofc(w).T, iofc(r).T, np.concatenate([0.25 * b, 0.75 * b]))]
            span = [self.constant(np.array([x])) for x in (k, k + 1, 0)]
            start = [self.add("Slice", x, *span) for x in (("c0", "h0") if swapped else ("h0", "c0"))] if states else []
            last = [f"hn{k}", f"cn{k}"]
            now = self.add("LSTM", now, *weights, *([""] + start if states else []), more=last, hidden_size=h, name=f"/lstm/LSTM_{k}", **dict(change))
            now = self.add("Squeeze", now, self.constant(np.array([1])))
            ends.append(last)
        if batch_first:
            now = self.add("Transpose", now, perm=[1, 0, 2])
        if fused:
            now = self.add("Reshape", now, self.constant(np.array([-1, lstm.sizes[-1]])))
        for w, b, name in zip(lstm.head.weights, lstm.head.biases, lstm.head.activations):
            if fused:
                now = self.add("Gemm", now, self.constant(np.array(w).T), self.constant(b), transB=1)
            else:
                now = self.add("Add", self.constant(b), self.add("MatMul", now, self.constant(w)))
            if name == "softsign" and self.softsign_parts:
                now = self.add("Div", now, self.add("Add", self.add("Abs", now), self.constant(np.float32(self.softsign_parts))))
            elif name != "linear":
                now = self.add(name.capitalize(), now)
        self.names = [("x", 3), *([("h0", 3), ("c0", 3)] if states else [])]
        self.results = [(now, 2 if fused else 3)]
        if states:
            self.results += [(self.add("Concat", *names, axis=0), 3) for names in zip(*ends)]

    def constant(self, x):
        x = np.ascontiguousarray(x if np.asarray(x).dtype.kind == "i" else np.float32(x))
        self.constants.append(self.onnx.numpy_helper.from_array(x, f"k{len(self.constants)}"))
        return self.constants[-1].name

    def add(self, kind, *inputs, more=(), name="", **given):
        out = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [out, *more], name=name or f"/{kind}_{len(self.nodes)}", **given))
        return out

    def save(self, path):
        helper = self.onnx.helper
        value = lambda name, dims: helper.make_tensor_value_info(name, self.onnx.TensorProto.FLOAT, [f"{name}_{k}" for k in range(dims)])
        graph = helper.make_graph(self.nodes, "net", [value(*x) for x in self.names], [value(*x) for x in self.results], self.constants)
        self.onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        return path


FORMS = {
    "as Isaac Lab's": {},
    "time first": {"batch_first": False},
    "softsign in parts": {"softsign_parts": 1},
    "without states": {"states": False},
    "without states, time first, Gemm": {"states": False, "batch_first": False, "fused": True},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sizes", [(8,), (8, 8)], ids=len)
def test_lstms_are_onnxruntimes(tmp_path, form, sizes):
    onnxruntime = pytest.importorskip("onnxruntime")
    lstm, given = lstm_of(sizes=sizes, activations=("softsign", "linear")), FORMS[form]
    ours = Lstm.load(Graph(lstm, **given).save(tmp_path / "net.onnx"))
    x = inputs_of(300, 12)
    turned = x.transpose(1, 0, 2) if given.get("batch_first", True) else x
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    if given.get("states", True):  # one step a call, as in a task
        states, theirs = [np.zeros((len(sizes), 300, 8), np.float32)] * 2, []
        for t in range(12):
            step = turned[:, t : t + 1] if given.get("batch_first", True) else turned[t : t + 1]
            y, *states = session.run(None, dict(zip(("x", "h0", "c0"), (step, *states))))
            theirs.append(y.ravel())
        theirs = np.array(theirs)
    else:
        theirs = session.run(None, {"x": turned})[0].reshape(turned.shape[:2])
        theirs = theirs.T if given.get("batch_first", True) else theirs
    np.testing.assert_allclose(run(ours, x), theirs, atol=1e-6)
    assert np.ptp(theirs) > 0.3 and ours.sizes == sizes


def test_a_row_of_an_lstm_gets_the_same_bits_alone_and_among_others(tmp_path):
    ours = Lstm.load(Graph(lstm_of()).save(tmp_path / "net.onnx"))
    x = inputs_of(4097, 5)
    whole = run(ours, x)
    for i in (0, 1, 511, 512, 2047, 4095, 4096):
        np.testing.assert_array_equal(run(ours, x[:, i : i + 1]), whole[:, i : i + 1])
    np.testing.assert_array_equal(run(ours, x[:, 77:1000]), whole[:, 77:1000])


def test_files_give_the_weights_that_went_in(tmp_path):
    lstm = lstm_of(sizes=(5, 3), activations=("tanh", "elu", "linear"))
    lstm.save(tmp_path / "net.npz")
    files = [tmp_path / "net.npz", Graph(lstm, states=False).save(tmp_path / "net.onnx")]
    for path in files:
        ours = Lstm.load(path)
        for a, b in zip([*ours.weights, ours.head.weights, ours.head.biases], [*lstm.weights, lstm.head.weights, lstm.head.biases]):
            for x, y in zip(a, b):
                np.testing.assert_array_equal(np.float32(x), np.float32(y))
        assert ours.head.activations == lstm.head.activations


def test_mlps_have_softsigns_in_parts(tmp_path):
    lstm = lstm_of(sizes=(8,), activations=("softsign", "tanh", "linear"))
    graph, mlp = Graph(lstm, softsign_parts=1, states=False), lstm.head
    first = next(k for k, n in enumerate(graph.nodes) if n.op_type == "MatMul")
    graph.nodes = graph.nodes[first:]  # the head alone
    graph.nodes[0].input[0] = "x"
    ours = Mlp.load(graph.save(tmp_path / "net.onnx"))
    assert ours.activations == mlp.activations
    for a, b in zip((*ours.weights, *ours.biases), (*mlp.weights, *mlp.biases)):
        np.testing.assert_array_equal(a, b)


def test_a_task_takes_the_file(tmp_path):
    class Task(stiction.TermTask):
        model = """<mujoco><worldbody><body><joint name="hinge"/><inertial pos="0 0 0" mass="1" diaginertia=".02 .02 .02"/></body></worldbody>
          <actuator><motor joint="hinge"/></actuator></mujoco>"""
        frame_skip = 1
        observations = {"joints": stiction.terms.Observation(stiction.terms.joint_positions)}

    lstm = lstm_of()
    path = Graph(lstm).save(tmp_path / "net.onnx")
    of_file, of_arrays = (
        stiction.TaskEnv(type("T", (Task,), {"actuators": {"wheel": LstmNetwork(network=x, torque_scale=0.5)}}), 3) for x in (str(path), lstm)
    )
    for step in range(8):
        action = np.sin(step + np.arange(3, dtype=np.float32))[:, None]
        np.testing.assert_array_equal(of_file.step(action)[0], of_arrays.step(action)[0])
    assert abs(of_file.obs).max() > 1e-4


# ------------------------------------------------------------------------------- what is refused


def broken(change):
    graph = Graph(lstm_of())
    change(graph)
    return graph


def node(graph, kind):
    return next(n for n in graph.nodes if n.op_type == kind)


def drop_states(graph):
    graph.results = graph.results[:1]


def reverse_weights(graph):
    """The biases are an input of the file."""
    node(graph, "LSTM").input[3] = "b"
    graph.names.append(("b", 2))


REFUSED = {
    "direction": (lambda: Graph(lstm_of(), change={"direction": "reverse"}), "LSTM /lstm/LSTM_0: direction reverse is not read"),
    "activations": (lambda: Graph(lstm_of(), change={"activations": ["Sigmoid", "Relu", "Tanh"]}), "LSTM /lstm/LSTM_0: activations"),
    "clip": (lambda: Graph(lstm_of(), change={"clip": 3.0}), "LSTM /lstm/LSTM_0: clip is not read"),
    "peepholes": (lambda: broken(lambda g: node(g, "LSTM").input.append(g.constant(np.ones((1, 24))))), "LSTM_0: peepholes P are not read"),
    "weights from outside": (lambda: broken(reverse_weights), "LSTM /lstm/LSTM_0: W, R or B is no constant"),
    "another cell": (lambda: broken(lambda g: setattr(node(g, "LSTM"), "op_type", "GRU")), "GRU /lstm/LSTM_0: is not read: LSTM"),
    "before it": (lambda: broken(lambda g: setattr(node(g, "Transpose"), "op_type", "Tanh")), "Tanh /Transpose_0: is not read"),
    "no head": (lambda: broken(lambda g: g.results.__setitem__(0, ("squeeze8", 3))), "Squeeze /Squeeze_8: is the last: expected a Gemm"),
    "no next states": (lambda: broken(drop_states), "takes states, but gives none"),
    "another softsign": (lambda: Graph(lstm_of(activations=("softsign", "linear")), softsign_parts=2), "Div /Div_.*: is not read"),
    "states in the other order": (lambda: Graph(lstm_of(), swapped=True), "does something else than its layers"),
    "another step": (lambda: broken(lambda g: node(g, "Concat").input.reverse()), "does something else than its layers"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_read_of_onnx_is_named(tmp_path, what):
    make, message = REFUSED[what]
    with pytest.raises(stiction.Error, match=message) as e:
        Lstm.load(make().save(tmp_path / "net.onnx"))
    assert "net.onnx" in str(e.value)


def test_each_network_says_that_the_file_is_of_the_other(tmp_path):
    graph = Graph(lstm_of(), batch_first=False).save(tmp_path / "net.onnx")
    with pytest.raises(stiction.Error, match="LSTM /lstm/LSTM_0: is for Lstm.load"):
        Mlp.load(graph)
    lstm_of().save(tmp_path / "lstm.npz"), lstm_of().head.save(tmp_path / "mlp.npz")
    with pytest.raises(stiction.Error, match="lstm.npz: no network"):
        Mlp.load(tmp_path / "lstm.npz")
    with pytest.raises(stiction.Error, match="mlp.npz: no LSTM"):
        Lstm.load(tmp_path / "mlp.npz")
    with pytest.raises(stiction.ArgumentError, match="no such file: none.onnx"):
        LstmNetwork(network="none.onnx").check("a")


def torch_net(torch, with_states, lstm, **more):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(2, 8, 2, batch_first=True, **more)
            self.act, self.out = torch.nn.Softsign(), torch.nn.Linear(8 * (2 if more else 1), 1)

    class WithStates(Net):
        def forward(self, x, states: tuple[torch.Tensor, torch.Tensor]):
            y, states = self.lstm(x, states)
            return self.out(y), states

    class Whole(Net):
        def forward(self, x):
            return self.out(self.lstm(x)[0])

    torch.manual_seed(0)
    return (WithStates if with_states else Whole)()


@pytest.mark.parametrize("with_states", [True, False])
def test_lstms_of_torchscript(tmp_path, with_states):
    torch = pytest.importorskip("torch")
    net = torch_net(torch, with_states, lstm_of())
    del net.act
    torch.jit.script(net).save(tmp_path / "net.pt")
    x = inputs_of(50, 12)
    with torch.no_grad():
        states = (torch.zeros(2, 50, 8),) * 2
        whole = torch.from_numpy(x.transpose(1, 0, 2))
        theirs = (net(whole, states)[0] if with_states else net(whole))[..., 0].numpy().T
    np.testing.assert_allclose(run(Lstm.load(tmp_path / "net.pt"), x), theirs, atol=1e-6)


def test_what_is_not_read_of_torchscript_is_named(tmp_path):
    torch = pytest.importorskip("torch")
    torch.jit.script(torch_net(torch, False, lstm_of(), bidirectional=True)).save(tmp_path / "net.pt")
    with pytest.raises(stiction.Error, match="LSTM with weight_ih_l0_reverse is not read"):
        Lstm.load(tmp_path / "net.pt")
    torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 1))).save(tmp_path / "net.pt")
    with pytest.raises(stiction.Error, match="expected an LSTM and a Linear after it"):
        Lstm.load(tmp_path / "net.pt")
