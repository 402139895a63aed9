"""Who may use a batch: one thread at a time, ended by Ctrl-C between two steps; what it takes and
gives back; and that damaged files are refused."""

import gc
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
import weakref
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import stiction

CHEETAH = "HalfCheetah-v5"
GO2 = stiction.assets.path("go2", floor=False)


# ------------------------------------------------------------------------------- threads


def calls_of_batch(b, path):
    b.param("body_mass")
    b.save(path)
    state = b.get_state()
    return {
        "step": b.step, "refresh": b.refresh, "refresh some": lambda: b.refresh([1]),
        "reset": b.reset, "reset some": lambda: b.reset([1]),
        "get_state": b.get_state, "set_state": lambda: b.set_state(**state),
        "copy": lambda: b.copy([0], [1]), "param": lambda: b.param("gravity"),
        "param_is_own": lambda: b.param_is_own("gravity"), "check_params": b.check_params,
        "contacts": b.contacts, "frozen": lambda: b.frozen, "geom_xpos": lambda: b.geom_xpos,
        "jac": lambda: b.jac(1, [0, 0, 0]), "jac_body": lambda: b.jac_body(1),
        "inverse": lambda: b.inverse(np.zeros((len(b), b.model.nv))), "counts": lambda: b.counts, "clear_counts": b.clear_counts,
        "status_count": lambda: b.status_count, "state_hash": b.state_hash,
        "memory": lambda: b.memory, "save": lambda: b.save(path), "load": lambda: b.load(path),
        "dump": lambda: b.dump(0, f"{path}.json"),
    }  # fmt: skip


def calls_of_env(e):
    actions, snapshot = np.zeros((e.num_envs, e.num_actions)), e.snapshot()
    return {
        "step": lambda: e.step(actions), "reset": e.reset, "reset some": lambda: e.reset([1]),
        "reset with seed": lambda: e.reset(seed=3), "observe": e.observe, "snapshot": e.snapshot,
        "restore": lambda: e.restore(snapshot), "memory": lambda: e.memory,
        "batch.step": lambda: e.batch.step(), "batch.reset": lambda: e.batch.reset([1]),
    }  # fmt: skip


def refusals(calls):
    """What each call raises in a thread of its own; None: nothing."""
    raised = {}

    def make(name, call):
        try:
            call()
            raised[name] = None
        except Exception as e:
            raised[name] = e

    for item in calls.items():
        thread = threading.Thread(target=make, args=item)
        thread.start()
        thread.join()
    return raised


def test_no_call_comes_between_those_of_another_thread(tmp_path):
    env = stiction.Env(CHEETAH, 4)
    of_batch = calls_of_batch(env.batch, tmp_path / "b")
    of_env = calls_of_env(env)

    def physics():
        before = env.batch.state_hash()
        for name, error in refusals(of_batch | of_env).items():
            assert type(error) is stiction.Error and "another thread" in str(error), name
        assert env.batch.qpos.shape == (4, 9) and env.obs.shape == (4, 17)  # memory may be seen
        for name, call in of_env.items():  # and in the callback's own thread
            if name == "memory" or name.startswith("batch."):
                continue
            with pytest.raises(stiction.Error, match="from within"):
                call()
        assert env.batch.state_hash() == before
        env.batch.step(env.frame_skip)

    env.step(np.zeros((4, 6)), physics=physics)
    assert env.steps == 1


@pytest.mark.parametrize("make", [
    lambda: stiction.Batch(stiction.Env(CHEETAH, 1).batch.model, 512, threads=2),
    lambda: stiction.Env(CHEETAH, 512, threads=2),
])  # fmt: skip
def test_two_threads_hammer(make, tmp_path):
    it = make()
    calls = calls_of_batch(it, tmp_path / "b") if isinstance(it, stiction.Batch) else calls_of_env(it)
    end, done, wrong = time.monotonic() + 2, [0, 0, 0], []

    def use(k):
        rng = np.random.default_rng(k)
        while time.monotonic() < end:
            try:
                calls[rng.choice(["step", "step", "step", *calls])]()
                done[k] += 1
            except stiction.Error as e:
                if "another thread" not in str(e):
                    wrong.append(e)
            except Exception as e:
                wrong.append(e)

    threads = [threading.Thread(target=use, args=(k,), daemon=True) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive(), "hangs"
    assert not wrong and min(done) > 0
    it.reset()


class Stand(stiction.Task):
    model = """<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint/>
      <geom size='.1'/></body></worldbody></mujoco>"""

    def act(self, action):
        self.during()

    def observe(self):
        return self.batch.qpos

    def reward(self):
        return self.xp.zeros(self.num_envs)

    def during(self):
        pass


def test_tasks_in_python_are_for_one_thread_too():
    env = stiction.TaskEnv(Stand, 3)
    actions = np.zeros((3, 0))
    calls = {"step": lambda: env.step(actions), "reset": env.reset, "observe": env.observe}

    def during():
        env.task.during = lambda: None
        for name, error in refusals(calls).items():
            assert type(error) is stiction.Error and "another thread" in str(error), name
        with pytest.raises(stiction.Error, match="reset: .*hook"):
            env.reset()

    env.task.during = during
    env.step(actions)
    assert env.steps == 1


# ------------------------------------------------------------------------------- Ctrl-C

LONG = """
import sys, time, signal
import numpy as np
import stiction
signal.signal(signal.SIGINT, signal.default_int_handler)
{make}
print("begun", flush=True)
begin = time.monotonic()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
{after}
"""


@pytest.mark.parametrize("make, call, after", [
    ("b = stiction.Batch(stiction.Model.from_file(sys.argv[1]), 512)", "b.step(10**7)",
     "t = b.time.copy(); assert (t == t[0]).all() and t[0] > 0; b.step(); "
     "assert np.allclose(b.time, t + b.options.timestep)"),
    ("e = stiction.Env('Ant-v5', 256, frame_skip=1e6)", "e.step(np.zeros((256, 8)))",
     "t = e.batch.time.copy(); assert (t == t[0]).all() and t[0] > 0; e.batch.step(); e.reset()"),
    ("m = stiction.Model.from_file(sys.argv[1]); r = stiction.Reference(m)",
     "r.rollout(m.qpos0, np.zeros(m.nv), nstep=10**6)", "r.rollout(m.qpos0, np.zeros(m.nv), nstep=2)"),
    ("e = stiction.Env('Ant-v5', 64)",
     "e.step(np.zeros((64, 8)), physics=lambda: [e.batch.step() for _ in range(10**7)])",
     "e.batch.step(); e.reset()"),
    ("b = stiction.Batch(stiction.Model.from_file(sys.argv[1]), 64)",
     "b.raycast(np.zeros((10**6, 3)), np.ones(3))", "b.raycast([0, 0, 9], [0, 0, -1])"),
    ("b = stiction.Batch(stiction.Model.from_xml('<mujoco><worldbody><camera name=\"c\"/>' + 999 * '<geom size=\".1\" contype=\"0\"/>' "
     "+ '<body><joint/><geom size=\".1\"/></body></worldbody></mujoco>'), 1)", "b.depth('c', 4096, 4096)", "b.depth('c')"),
    ("m = stiction.Model.from_file(sys.argv[1]); r = stiction.Reference(m)",
     "r.raycast(m.qpos0, np.zeros((10**7, 3)), np.ones(3))", "r.raycast(m.qpos0, [0, 0, 9], [0, 0, -1])"),
], ids=["batch", "env", "rollout", "callback", "raycast", "depth", "reference_raycast"])  # fmt: skip
def test_ctrl_c_ends_a_long_call(make, call, after):
    code = LONG.format(make=make, call=call, after=after)
    process = subprocess.Popen([sys.executable, "-c", code, GO2], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        # 0.1 s on a machine of its own
        assert time.monotonic() - begin < 5
        assert process.wait(60) == 0, process.stderr.read()
    finally:
        process.kill()


def test_other_threads_hear_no_ctrl_c():
    """A signal is the main thread's; a long step elsewhere goes on, and a handler sees it at once."""
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(time.monotonic()))
    heard, batch = [], stiction.Env(CHEETAH, 64).batch
    stepping = threading.Thread(target=batch.step, args=(2000,))
    try:
        stepping.start()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert heard
    finally:
        stepping.join()
        signal.signal(signal.SIGINT, before)
    assert batch.time[0] == pytest.approx(2000 * 0.01)


# ------------------------------------------------------------------------------- lifetimes


def threads_of_this_process():
    return len(os.listdir("/proc/self/task"))


def threads_come_to(count):
    """Whether they do within a minute: the kernel lists a joined thread until it has buried it."""
    deadline = time.monotonic() + 60
    while threads_of_this_process() != count and time.monotonic() < deadline:
        time.sleep(1e-3)
    return threads_of_this_process() == count


@pytest.mark.parametrize("make", [
    lambda: stiction.Env(CHEETAH, 64, threads=2),
    lambda: stiction.TaskEnv(Stand, 64, threads=2),
    lambda: stiction.RandomizedEnv(
        stiction.TaskEnv(Stand, 64, threads=2, autoreset="disabled"), stiction.Randomization()),
], ids=["Env", "TaskEnv", "RandomizedEnv"])  # fmt: skip
def test_threads_and_memory_go_with_the_last_reference(make):
    gc.collect()
    gc.disable()
    try:
        before = threads_of_this_process()
        env = make()
        assert threads_come_to(before + 1)
        env.step(np.zeros((64, env.num_actions)))
        alive = weakref.ref(env)
        del env
        assert alive() is None
        assert threads_come_to(before)
    finally:
        gc.enable()


# ------------------------------------------------------------------------------- files


def fnv(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & (2**64 - 1)
    return h


def test_a_file_of_another_instruction_set_warns(tmp_path):
    env = stiction.Env("InvertedPendulum-v5", 1, threads=1)
    path, batch = tmp_path / "b", env.batch
    batch.save(path)
    name = batch.isa.encode().ljust(16, b"\0")
    data = bytearray(path.read_bytes())
    assert data[40:56] == name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch.load(path)
        env.restore(env.snapshot())
    data[40:56] = b"other".ljust(16, b"\0")
    data[-8:] = struct.pack("<Q", fnv(data[:-8]))
    path.write_bytes(data)
    with pytest.warns(RuntimeWarning, match="stepped with 'other'.* not to the same bits"):
        batch.load(path)
    snapshot = bytearray(env.snapshot())
    inner = snapshot.index(b"stiction")
    snapshot[inner : inner + len(data)] = data
    snapshot[-8:] = struct.pack("<Q", fnv(snapshot[:-8]))
    with pytest.warns(RuntimeWarning, match="not to the same bits"):
        env.restore(bytes(snapshot))


def damaged_texts(text, rng, count):
    """Valid JSON with another value somewhere, and text that is none."""
    absurd = [None, True, -1, 1e308, 10**30, "", "x" * 50, [], {}, [[1]], float("nan"), "/dev/zero"]

    def places(node, path=()):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            yield (*path, key)
            if isinstance(value, (dict, list)):
                yield from places(value, (*path, key))

    whole = json.loads(text)
    all_places = list(places(whole))
    for k in range(count):
        if k % 5 == 0:
            cut = int(rng.integers(len(text)))
            yield text[:cut] + ("" if k % 2 else "\x00[" * 9)
            continue
        changed = json.loads(text)
        # every one of the first level, others by chance
        firsts = [p for p in all_places if len(p) < 3]
        pool = firsts if k % 2 else all_places
        *path, key = pool[int(rng.integers(len(pool)))]
        node = changed
        for step in path:
            node = node[step]
        if k % 3 == 0:
            del node[key]
        else:
            node[key] = absurd[int(rng.integers(len(absurd)))]
        yield json.dumps(changed)
    yield "[" * 100_000


def test_damaged_dumps_are_refused(tmp_path, monkeypatch):
    from stiction.cli.replay import replay

    monkeypatch.chdir(tmp_path)
    batch = stiction.Batch(stiction.Model.from_file(GO2), 2)
    batch.step(3)
    batch.dump(1, "good.json")
    lines, refused, replayed = [], 0, 0
    assert replay("good.json", out=lines.append) == 0 and "step 0" in lines[1]
    text = (tmp_path / "good.json").read_text()
    for damaged in damaged_texts(text, np.random.default_rng(4), 400):
        (tmp_path / "bad.json").write_text(damaged)
        try:
            replay("bad.json", out=lines.append)
            replayed += 1
        except (stiction.Error, OSError) as e:  # OSError: the model's file is not there
            assert str(e)
            refused += 1
    assert refused > 150 and replayed > 20


# ------------------------------------------------------------------------------- arguments


def test_environments_that_there_are_not():
    env = stiction.Env(CHEETAH, 4)
    task = stiction.TaskEnv(Stand, 4)
    for reset in (env.reset, env.batch.reset, task.reset):
        for bad, match in [
            (np.array([2**63], np.uint64), "environment 9223372036854775808"),
            ([4], "environment 4"), ([0, -1], "environment -1"), ([2**40], "environment"),
            (np.ma.array([1, 2], mask=[True, False]), "masked array"),
            (np.broadcast_to(np.bool_(0), 2**33), "shape"),
            (np.broadcast_to(np.int8(0), 2**33), "shape|twice"),
            ([[1]], "shape"), ([None], "dtype"),
        ]:  # fmt: skip
            with pytest.raises(stiction.ArgumentError, match=match):
                reset(bad)
        reset(np.array([1, 3], np.uint64))
        reset([])


def refused_model(text):
    return stiction.Model.from_xml(text)


def test_errors_come_through_a_process_pool():
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        with pytest.raises(stiction.ModelError, match="nope") as caught:
            pool.submit(refused_model, "<mujoco><nope/></mujoco>").result(60)
    there = caught.value.report
    with pytest.raises(stiction.ModelError) as here:
        refused_model("<mujoco><nope/></mujoco>")
    assert there.table(all=True) == here.value.report.table(all=True) != ""
    for error in (stiction.Error("a"), stiction.ArgumentError("b"), stiction.ModelError("c")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.args == error.args


def test_reports_survive_pickle():
    report = stiction.Model.from_file(GO2).report
    again = pickle.loads(pickle.dumps(report))
    assert again.table(all=True) == report.table(all=True)
    assert repr(again) == repr(report) and len(again.entries) == len(report.entries)
    assert list(map(repr, again.pairs_without_collider)) == list(map(repr, report.pairs_without_collider))
