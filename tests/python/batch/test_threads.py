"""Rollouts: the bits of a loop over step, the same from any thread, without the GIL."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stiction
from stiction.control import random_controls

FIELDS = ("qpos", "qvel", "anchor", "iterations", "residual", "ncontact", "status", "energy")


def bits(trajectory):
    return [getattr(trajectory, name).tobytes() for name in FIELDS]


def controls(model, home, nstep, seed):
    return random_controls(model, nstep, model.timestep, np.random.default_rng(seed), home[2])


@pytest.mark.parametrize("stiction_kind", ["regularized", "anchored"])
def test_rollout_is_repeated_step_bitwise(quadruped, home, stiction_kind):
    reference = stiction.Reference(quadruped, stiction.Options(stiction=stiction_kind))
    ctrl = controls(quadruped, home, 60, seed=3)
    r = reference.rollout(home[0], home[1], ctrl, energy=True)
    assert r.nstep == 60 and r.qpos.shape == (61, 19) and r.qvel.shape == (61, 18)

    qpos, qvel, anchor, dragged = home[0], home[1], None, None
    for k in range(60):
        s = reference.step(qpos, qvel, ctrl[k], anchor=anchor, friction_anchor=dragged)
        qpos, qvel, anchor, dragged = s.qpos, s.qvel, s.anchor, s.friction_anchor
        assert r.qpos[k + 1].tobytes() == qpos.tobytes(), k
        assert r.qvel[k + 1].tobytes() == qvel.tobytes(), k
        assert (r.iterations[k], r.residual[k]) == (s.iterations, s.residual)
        assert (r.ncontact[k], r.status[k]) == (len(s.contacts), int(s.status))
        f = reference.forward(qpos, qvel)
        np.testing.assert_array_equal(r.energy[k + 1], [f.energy_kinetic, f.energy_potential])
    assert r.anchor.tobytes() == anchor.tobytes()
    assert r.friction_anchor.tobytes() == dragged.tobytes()
    assert (np.abs(r.friction_anchor).max() > 0) == (stiction_kind == "anchored")
    assert (np.abs(r.anchor).max() > 0) == (stiction_kind == "anchored")
    assert r.ncontact.max() >= 4


def test_held_control_and_no_control(reference, home):
    held = reference.rollout(*home, nstep=20)
    tiled = reference.rollout(home[0], home[1], np.tile(home[2], (20, 1)))
    assert bits(held) == bits(tiled)
    none = reference.rollout(home[0], home[1], nstep=20)
    zero = reference.rollout(home[0], home[1], np.zeros((20, 12)))
    assert bits(none) == bits(zero) != bits(held)
    assert held.energy.shape == (0, 2)


def test_number_of_steps(reference, home):
    assert reference.rollout(*home, nstep=0).qpos.shape == (1, 19)
    with pytest.raises(stiction.ArgumentError, match="nstep"):
        reference.rollout(home[0], home[1])
    with pytest.raises(stiction.ArgumentError, match="nstep = -1"):
        reference.rollout(*home, nstep=-1)
    with pytest.raises(stiction.ArgumentError, match=r"ctrl: .* expected shape \(5, 12\)"):
        reference.rollout(home[0], home[1], np.zeros((4, 12)), nstep=5)


def test_frozen_state_is_repeated(reference, home):
    broken = home[1].copy()
    broken[0] = 1e9
    r = reference.rollout(home[0], broken, home[2], nstep=5)
    assert (r.status & int(stiction.Status.velocity_limit)).all()
    for k in range(1, 6):
        np.testing.assert_array_equal(r.qpos[k], r.qpos[0])
        np.testing.assert_array_equal(r.qvel[k], r.qvel[0])
    assert not r.iterations.any() and not r.ncontact.any()


def test_threads_give_the_bits_of_a_serial_run(quadruped, home):
    reference = stiction.Reference(quadruped)

    def run(seed):
        return bits(reference.rollout(home[0], home[1], controls(quadruped, home, 80, seed)))

    serial = [run(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        parallel = list(pool.map(run, range(8)))
    assert parallel == serial
    assert len({tuple(r) for r in serial}) == 8, "different controls, different trajectories"


def test_models_load_in_parallel(sphere_file):
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: stiction.Model.from_file(sphere_file), range(16)))
    assert len({m.pair_stiffness.tobytes() for m in models}) == 1


def test_gil_is_released(reference, home):
    """A second thread must run while a rollout computes.

    With the GIL held it would get it only in the ten checks per second for Ctrl-C. A busy machine may
    keep the thread from running, too, but not for a minute.
    """
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    def ticks_a_second():
        begin = time.perf_counter()
        while time.perf_counter() - begin < 0.3:
            reference.rollout(*home, nstep=2000)
        end = time.perf_counter()
        return sum(begin < t < end for t in ticks) / (end - begin)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        # 1000 on an idle machine
        assert any(ticks_a_second() > 100 for _ in range(200))
    finally:
        done.set()
        thread.join()


def test_ctrl_c_ends_a_long_rollout(reference, home):
    # a background job starts with SIGINT ignored, and then Python installs no handler
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            reference.rollout(*home, nstep=200_000)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    # 200 000 steps take more than half a minute
    assert time.process_time() - begin < 10
