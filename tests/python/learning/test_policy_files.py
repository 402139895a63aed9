"""Policies and checkpoints with wrong contents: refused by name, without code of theirs, without
memory for what they promise."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

import stiction
from stiction.learning.policy import Policy, read_arrays
from stiction.learning.ppo import Ppo, Settings, trained_with

TASK = {"id": "InvertedPendulum-v5", "options": {}, "engine": {}}


ENV = stiction.Env(TASK["id"], 4, threads=1)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "good.npz"
    ppo = Ppo(ENV, Settings(num_envs=4, horizon=8, hidden=(8, 8)), task=TASK)
    ppo.iterate()
    ppo.save(path)
    return path


def load(path):
    """What both readers say; an Error in the place of what they return."""
    found = []
    for read in (Policy.load, lambda p: Ppo.load(p, ENV), trained_with):
        try:
            found.append(read(path))
        except stiction.Error as e:
            assert str(path) in str(e)
            found.append(e)
    policy, ppo, _ = found
    if isinstance(policy, Policy):
        assert np.isfinite(policy.actor(policy.normalize(np.zeros((2, policy.num_obs))))).all()
    if isinstance(ppo, Ppo):
        if not hasattr(ppo, "obs"):
            ppo.start()
        ppo.collect()
    return [isinstance(x, stiction.Error) for x in found]


def write(path, arrays, **how):
    with open(path, "wb") as file:
        (np.savez_compressed if how.get("compressed") else np.savez)(file, **arrays)


class Evil:
    def __reduce__(self):
        return (pytest.fail, ("code of a file ran",))


def test_the_file_itself(checkpoint):
    assert load(checkpoint) == [False, False, False]


def test_wrong_arrays(checkpoint, tmp_path):
    good, path, refused = read_arrays(checkpoint), tmp_path / "bad.npz", 0
    rng = np.random.default_rng(2)
    for name, x in good.items():
        others = [
            np.array([Evil(), Evil()], object), np.array("text"), np.array(b"bytes"), np.zeros(0),
            np.array(7), np.full((3, 3), 1e30), np.zeros(x.shape, complex),
            np.full(x.shape, np.nan) if x.dtype.kind == "f" else np.zeros(x.shape, "datetime64[s]"),
            -np.ones(x.shape), np.array([10**9] * 4), np.array([2**62, 2**62]),
        ]  # fmt: skip
        if x.dtype.kind == "f":
            others.append(np.float64(rng.normal(size=x.shape) * 1e200))
        for other in others:
            write(path, good | {name: other})
            refused += load(path)[1]
        write(path, {k: v for k, v in good.items() if k != name})
        refused += load(path)[1]
    assert refused > 9 * len(good)


def absurd(rng):
    values = [None, True, -1, 0, 1e308, 10**30, float("nan"), float("inf"), "", "x", [], {}, [[1]],
              [10**12], {"a": 1}]  # fmt: skip
    return values[rng.integers(len(values))]


def test_wrong_words(checkpoint, tmp_path):
    good, path, refused = read_arrays(checkpoint), tmp_path / "bad.npz", 0
    rng = np.random.default_rng(3)

    def change(node):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        if not len(keys):
            return
        key = keys[rng.integers(len(keys))]
        if isinstance(node[key], (dict, list)) and rng.random() < 0.5:
            return change(node[key])
        if rng.random() < 0.3 and isinstance(node, dict):
            del node[key]
        else:
            node[key] = absurd(rng)

    for k in range(150):
        name = ("trainer", "trainer", "task")[k % 3]
        words = json.loads(str(good[name]))
        change(words)
        write(path, good | {name: np.array(json.dumps(words))})
        refused += load(path)[1]
    for text in ("", "{", "[" * 100_000, "[]", "3", "null", "\x00"):
        for name in ("trainer", "task"):
            write(path, good | {name: np.array(text)})
            assert load(path)[1]
    assert refused > 50


def test_wrong_bytes(checkpoint, tmp_path):
    good, path = checkpoint.read_bytes(), tmp_path / "bad.npz"
    rng, refused = np.random.default_rng(4), 0
    for k in range(300):
        data = bytearray(good)
        if k % 4 == 0:
            data = data[: rng.integers(len(data))]
        for _ in range(rng.integers(1, 4)):
            # the index of the archive and the headers of its arrays decide most
            near = len(data) - 1 - int(rng.integers(min(len(data), 1500))) if k % 2 else None
            data[near if near is not None else rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(data)
        refused += any(load(path))
    assert refused > 180


def npy_header(shape, descr="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return file.getvalue()


def test_promises_take_no_memory(checkpoint, tmp_path):
    good, path = read_arrays(checkpoint), tmp_path / "bad.npz"

    def refused():
        tracemalloc.start()
        try:
            assert load(path) == [True] * 3
            return tracemalloc.get_traced_memory()[1] < 5_000_000  # the file has kilobytes
        finally:
            tracemalloc.stop()

    for shape, descr in [((10**7,), "<f8"), ((10**12,), "<f8"), ((2**31, 2**31), "<f8"),
                         ((5,), "<U900000000"), ((-1,), "<f8")]:  # fmt: skip
        with zipfile.ZipFile(path, "w") as archive:
            for name, x in good.items():
                file = io.BytesIO()
                np.save(file, x)
                data = npy_header(shape, descr) + bytes(64) if name == "actor" else file.getvalue()
                archive.writestr(f"{name}.npy", data)
        assert refused(), shape
    write(path, good | {"actor": np.zeros(10**7)}, compressed=True)
    assert path.stat().st_size < 200_000
    assert refused(), "a few kilobytes that unpack to much more"
    write(path, good | {"sizes": np.array([4, 10**6, 10**6, 1])})
    assert refused(), "sizes that no parameters back"


def test_no_archive(tmp_path):
    for data in (b"", b"PK", b"PK\x05\x06" + b"\0" * 18, b"\x93NUMPY\x01\x00", b"junk" * 1000):
        path = tmp_path / "bad.npz"
        path.write_bytes(data)
        assert load(path) == [True] * 3
    np.save(tmp_path / "x.npy", np.zeros(3))
    assert load(tmp_path / "x.npy") == [True] * 3
