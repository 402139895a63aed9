"""Thousands of copies of one robot, each with its own random controls, in one batch."""

import time
from dataclasses import dataclass, field

import numpy as np

from .._core import Batch, Model, Reference, SolverCounts
from ..control import SmoothControls, start_state
from .progress import Progress

HOLD = 0.01  # s between two new controls
WATCHED = 16  # environments whose numbers are kept for plots
DRAWN = 256  # environments whose poses are kept for the film


@dataclass
class Run:
    """One watched environment: its contacts and iterations at the film's rate."""

    index: int
    ncontact: list = field(default_factory=list)
    iterations: list = field(default_factory=list)
    energy_start: float = 0.0  # J
    energy_end: float = 0.0


@dataclass
class Result:
    model: Model
    batch: Batch
    timestep: float  # s
    frame_time: float  # s between two frames
    wall: float  # s
    step_wall: float  # s inside Batch.step
    counts: SolverCounts
    ncontact_max: int  # of the steps that were looked at
    residual_max: float
    runs: list
    frames: list  # (drawn, nq) poses of the first environments at the film's rate
    interrupted: bool


def _energies(result, name):
    """Kinetic and potential energy of the watched environments."""
    reference = Reference(result.model, result.batch.options)
    for run in result.runs:
        if result.batch.status[run.index] == 0 or np.isfinite(result.batch.qvel[run.index]).all():
            f = reference.forward(result.batch.qpos[run.index], result.batch.qvel[run.index])
            setattr(run, name, f.energy_kinetic + f.energy_potential)


def _watch(result):
    batch = result.batch
    result.frames.append(batch.qpos[:DRAWN].copy())
    for run in result.runs:
        run.ncontact.append(float(batch.ncon.reshape(-1)[run.index]))
        run.iterations.append(float(batch.solver_niter.reshape(-1)[run.index]))
    result.ncontact_max = max(result.ncontact_max, int(batch.ncon.max()))
    result.residual_max = max(result.residual_max, float(batch.solver_residual.max()))


def simulate(model, options, ctrl_c, *, envs, seconds, seed, threads, fps) -> Result:
    """`envs` copies for `seconds` of simulated time on `threads` threads. Ctrl-C ends it early."""
    batch = Batch(model, num_envs=envs, options=options, threads=threads)
    timestep = batch.options.timestep
    hold = max(1, round(HOLD / timestep))
    frame_every = hold * max(1, round(1 / (fps * timestep * hold)))
    nstep = max(1, round(seconds / timestep))
    qpos, qvel, centre = start_state(model)
    batch.reset(qpos=qpos, qvel=qvel)
    controls = SmoothControls(model, envs, seed, centre)
    result = Result(
        model, batch, timestep, frame_every * timestep, 0.0, 0.0, batch.counts, 0, 0.0,
        [Run(k) for k in range(min(envs, WATCHED))], [], False,
    )
    _energies(result, "energy_start")
    _watch(result)
    batch.clear_counts()

    begin = time.perf_counter()
    with Progress(envs * nstep, "simulate", "step") as progress:
        for done in range(0, nstep, hold):
            if ctrl_c.pressed:
                break
            batch.ctrl[:] = controls.at(done * timestep)
            before = time.perf_counter()
            batch.step(min(hold, nstep - done))
            result.step_wall += time.perf_counter() - before
            if (done + hold) % frame_every == 0:
                _watch(result)
            progress.advance(envs * min(hold, nstep - done))
            progress.show()
    result.wall = time.perf_counter() - begin
    result.counts, result.interrupted = batch.counts, ctrl_c.pressed
    _energies(result, "energy_end")
    return result
