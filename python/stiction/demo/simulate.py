"""Many copies of one robot, each with its own random controls, on all cores."""

import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np

from .. import Model, Reference
from ..control import random_controls, start_state
from ..statistics import FROZEN
from .progress import Progress

CHUNK = 50  # steps between two looks at progress and Ctrl-C


@dataclass
class Run:
    """One environment: what it did, and its poses at the film's rate."""

    index: int
    frames: list = field(default_factory=list)  # (nq,) each
    ncontact: list = field(default_factory=list)  # arrays, one per chunk; the same below
    iterations: list = field(default_factory=list)
    residual: list = field(default_factory=list)
    status: list = field(default_factory=list)
    energy_start: float = 0.0
    energy_end: float = 0.0

    @property
    def steps(self) -> int:
        return sum(len(s) for s in self.status)


@dataclass
class Result:
    model: Model
    timestep: float  # s
    frame_time: float  # s between two frames
    threads: int
    wall: float  # s
    runs: list
    interrupted: bool


def _energy(reference, qpos, qvel) -> float:
    f = reference.forward(qpos, qvel)
    return f.energy_kinetic + f.energy_potential


def _simulate_one(reference, run, seed, nstep, frame_every, stop, progress):
    """Fills `run`; ends early when `stop` is set or the state froze."""
    model = reference.model
    rng = np.random.default_rng((seed, run.index))
    qpos, qvel, centre = start_state(model)
    ctrl = random_controls(model, nstep, reference.options.timestep, rng, centre)
    anchor = None
    run.energy_start = run.energy_end = _energy(reference, qpos, qvel)
    run.frames.append(qpos.copy())

    for begin in range(0, nstep, CHUNK):
        if stop.is_set():
            break
        r = reference.rollout(qpos, qvel, ctrl[begin : begin + CHUNK], anchor=anchor)
        qpos, qvel, anchor = r.qpos[-1], r.qvel[-1], r.anchor
        first = -begin % frame_every or frame_every
        run.frames.extend(r.qpos[first::frame_every].copy())
        for name in ("ncontact", "iterations", "residual", "status"):
            getattr(run, name).append(getattr(r, name))
        progress.advance(r.nstep)
        if r.status[-1] & FROZEN:
            progress.advance(nstep - begin - r.nstep)
            break
    if not run.status or not run.status[-1][-1] & FROZEN:
        run.energy_end = _energy(reference, qpos, qvel)


def simulate(model, options, ctrl_c, *, envs, seconds, seed, threads, fps) -> Result:
    """`envs` copies for `seconds` of simulated time on `threads` threads. Ctrl-C ends it early."""
    reference = Reference(model, options)
    timestep = reference.options.timestep
    nstep = max(1, round(seconds / timestep))
    frame_every = max(1, round(1 / (fps * timestep)))
    runs = [Run(k) for k in range(envs)]
    stop = threading.Event()

    def work(run):
        _simulate_one(reference, run, seed, nstep, frame_every, stop, progress)

    begin = time.perf_counter()
    with Progress(envs * nstep, "simulate", "step") as progress, ThreadPoolExecutor(threads) as pool:
        jobs = {pool.submit(work, run) for run in runs}
        try:
            while jobs:
                done, jobs = wait(jobs, timeout=0.2, return_when=FIRST_COMPLETED)
                progress.show()
                for job in done:
                    job.result()
                if ctrl_c.pressed:
                    stop.set()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    wall = time.perf_counter() - begin
    return Result(model, timestep, frame_every * timestep, threads, wall, runs, ctrl_c.pressed)
