"""Ours against mujoco_warp on one device: same model file, timestep, start and controls.

mujoco_warp runs Newton's method to its tolerance (100 iterations at most, whatever the file says), Euler's
integrator and the cone of the model; HOLD steps are one CUDA graph, as they are one of ours. Room for
contacts and constraints is twice what MuJoCo needs on the same controls, `overflow` names what did not
fit or converge all the same. Both engines are warmed up to the same time, then take turns; a speed is
the median of the rounds.

How far each is solved: `error` of one step from states on the way, in the norm of A relative to
||v|| + sqrt(m) g dt; ours against the reference solved to 1e-10, theirs a bound from what the balance
of forces lacks (`peers.py`). `contacts` and `mjw_contacts` are what MuJoCo's collider finds in the
states of either. `creep` is the fastest foot of a robot that stands by its keyframe's servos in gravity
tilted by 5 degrees.

    python bench/compare_mjwarp.py --device cuda [--models ant go2] [--envs 1 1024 8192 32768]
    python bench/compare_mjwarp.py --friction-iterations 1
    python bench/compare_mjwarp.py --compile     # only fills warp's cache of kernels

Every row is written as soon as it is measured: bench/results/<device>/mjwarp.csv and .json. `--device cpu`
checks this script; its numbers say nothing about either engine and are written only with --out.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import mujoco
import mujoco_warp as mjw
import numpy as np
import stiction
import warp as wp
from mujoco_warp import OverflowType
from stiction.control import SmoothControls, control_range, start_state

from peers import (
    contacts_found, creep_mujoco, creep_ours, errors_ours, fastest, mujoco_model,
    residuals_mujoco, tilted,
)  # fmt: skip
from scenes import GPU_TIMESTEPS, HOLD, MOTIONS, Scene, scenes, started
from tables import RESULTS, slug, table

# steps/s of the best number of environments; ms of a step of one
GOALS = {"ant": (40e6, 0.1), "humanoid": (10e6, 0.2), "humanoid_mujoco": (10e6, 0.2),
         "go2": (15e6, None), "g1_feetonly": (5e6, None), "cartpole": (500e6, None)}  # fmt: skip
GOAL_RATIO = 1.5
ROOM = 2  # times what MuJoCo needs
SAMPLES = 64  # states on the way whose step is solved again
STANDING = ("go2",)  # on servos; the others fall, in either engine
CREEPS = ("creep_um_s", "mjw_creep_um_s", "mj_creep_um_s")
SPEED = ("model", "motion", "envs", "steps_per_s", "mjw_steps_per_s", "ratio", "goal", "of_goal", "ms_per_step",
         "mjw_ms_per_step", "goal_ms", "contacts", "mjw_contacts", "overflow")  # fmt: skip
QUALITY = ("model", "motion", "envs", "points", "iter_mean", "iter_max", "mjw_iter_mean", "mjw_iter_max",
           "residual", "error_p50", "error_p99", "mjw_error_p50", "mjw_error_p99", "status", "frozen",
           *CREEPS)  # fmt: skip


def robots(names, folder) -> list[Scene]:
    """Those of scenes.py, and the humanoid that comes with mujoco_warp."""
    own = [n for n in names if n != "humanoid_mujoco"]
    found = {s.name: s for s in (scenes(own, folder) if own else [])}
    theirs = Path(mjw.__file__).parent / "test_data/humanoid/humanoid.xml"
    found["humanoid_mujoco"] = Scene("humanoid_mujoco", theirs, 0.4)
    return [found[n] for n in names]


class Room:
    """Contacts and constraints of a world, from MuJoCo in some worlds on the same controls of both motions.

    The same in every run: kernels are compiled for these sizes.
    """

    def __init__(self, scene, model, timestep, seconds=2.0, worlds=16):
        mj = mujoco_model(scene, timestep)
        data = mujoco.MjData(mj)
        steps = max(1, round(seconds / timestep / HOLD))
        contacts = constraints = 0
        for motion in MOTIONS:
            wave = waves(scene, model, worlds, motion)
            ctrl = np.array([wave.at(k * HOLD * timestep) for k in range(steps)])
            for world in range(worlds):
                mujoco.mj_resetData(mj, data)
                data.qpos[:], data.qvel[:], _ = start_state(model)
                for k in range(steps):
                    data.ctrl[:] = ctrl[k, world]
                    mujoco.mj_step(mj, data, HOLD)
                    contacts, constraints = max(contacts, data.ncon), max(constraints, data.nefc)
        self.nconmax = max(8, ROOM * contacts)
        self.njmax = max(16, ROOM * constraints)


class Noise:
    """White noise in the whole control range, new at each call."""

    def __init__(self, model, num_envs):
        self.range, self.size = control_range(model), (num_envs, model.nu)
        self.rng = np.random.default_rng(0)

    def at(self, _seconds):
        return self.rng.uniform(*self.range, self.size)


def waves(scene, model, num_envs, motion):
    if motion == "noise":
        return Noise(model, num_envs)
    low, high = control_range(model)
    centre = start_state(model)[2] if model.nkey else (low + high) / 2
    return SmoothControls(model, num_envs, 0, centre, scene.spread)


class Warp:
    """Worlds of mujoco_warp on a device."""

    def __init__(self, mj, room, num_envs, device, start):
        self.device, self.mj = device, mj
        with wp.ScopedDevice(device):
            self.model = mjw.put_model(mj)
            self.model.opt.warn_overflow = 0  # bits are set all the same; prints take time
            state = mujoco.MjData(mj)
            state.qpos[:], state.qvel[:], state.ctrl[:] = start
            make = lambda n: mjw.put_data(mj, state, nworld=n, nconmax=room.nconmax, njmax=room.njmax)
            mjw.step(self.model, make(1))  # compiles what is not compiled yet
            self.data = make(num_envs)
            self.graph = None
            if wp.get_device(device).is_cuda:
                with wp.ScopedCapture() as capture:
                    self.hold()
                self.graph = capture.graph

    def hold(self):
        for _ in range(HOLD):
            mjw.step(self.model, self.data)

    def set_ctrl(self, ctrl):
        self.data.ctrl.assign(np.ascontiguousarray(ctrl, np.float32))
        self.synchronize()

    def step(self):
        """HOLD steps."""
        with wp.ScopedDevice(self.device):
            if self.graph is not None:
                wp.capture_launch(self.graph)
            else:
                self.hold()

    def synchronize(self):
        wp.synchronize_device(self.device)

    def positions(self):
        return self.data.qpos.numpy(), self.data.qvel.numpy()

    def overflow(self) -> str:
        """Bits stay once they are set."""
        bits = int(np.bitwise_or.reduce(self.data.overflow.numpy()))
        return "|".join(f.name for f in OverflowType if f.value.bit_count() == 1 and f.value & bits)

    def errors(self):
        """Bounds of those of the next step in some worlds."""
        d, ids = self.data, sampled(self.data.nworld)
        with wp.ScopedDevice(self.device):
            mjw.forward(self.model, d)
        return residuals_mujoco(self.mj, *(np.asarray(a.numpy()[ids], float) for a in (
            d.qpos, d.qvel, d.qacc, d.qfrc_smooth, d.qfrc_constraint)))  # fmt: skip


def sampled(n):
    return np.unique(np.linspace(0, n - 1, SAMPLES).astype(int))


class Ours:
    def __init__(self, model, num_envs, device, timestep, friction_iterations):
        options = stiction.Options(timestep=timestep, friction_iterations=friction_iterations)
        self.batch = started(model, num_envs, device=device, options=options)

    def set_ctrl(self, ctrl):
        self.batch.ctrl[:] = np.ascontiguousarray(ctrl, np.float32)
        self.synchronize()

    def step(self):
        self.batch.step(HOLD)

    def synchronize(self):
        self.batch.synchronize()

    def positions(self):
        return np.array(self.batch.qpos), np.array(self.batch.qvel)

    def errors(self):
        b, ids = self.batch, sampled(self.batch.num_envs)
        qpos, qvel, ctrl = (np.array(a, float)[ids] for a in (b.qpos, b.qvel, b.ctrl))
        b.step()
        return errors_ours(b.model, b.options, qpos, qvel, ctrl, np.array(b.qvel, float)[ids])


def timed(engine, ctrl) -> float:
    """Seconds of HOLD steps; the controls are there before."""
    engine.set_ctrl(ctrl)
    begin = time.perf_counter()
    engine.step()
    engine.synchronize()
    return time.perf_counter() - begin


def creep_warp(scene, room, device, settle=2.0, seconds=1.0) -> float:
    ours = scene.load()
    mj = mujoco_model(scene, ours.timestep, tilted())
    converged(mj)
    theirs = Warp(mj, room, 1, device, start_state(ours))
    walk = lambda s: [theirs.step() for _ in range(round(s / ours.timestep / HOLD))]
    walk(settle)
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:] = (x[0] for x in theirs.positions())
    mujoco.mj_forward(mj, data)
    feet = sorted({int(mj.geom_bodyid[g]) for c in data.contact for g in c.geom} - {0})
    if not feet:
        return float("nan")
    before = theirs.data.xpos.numpy()[0, feet]
    walked = len(walk(seconds)) * HOLD * ours.timestep
    return fastest(before, theirs.data.xpos.numpy()[0, feet], walked)


def converged(mj) -> None:
    """Files ask for as few as 3 iterations."""
    mj.opt.iterations, mj.opt.ls_iterations = max(mj.opt.iterations, 100), max(mj.opt.ls_iterations, 50)


def creeps(scene, room, device) -> dict:
    """um/s of ours, mujoco_warp and MuJoCo."""
    if scene.name not in STANDING:
        return dict.fromkeys(CREEPS, "")
    speeds = (creep_ours(scene, device=device), creep_warp(scene, room, device),
              creep_mujoco(scene))  # fmt: skip
    return {name: f"{1e6 * x:.3g}" for name, x in zip(CREEPS, speeds)}


def compare(scene, motion, num_envs, room, a) -> dict:
    model = scene.load()
    dt = GPU_TIMESTEPS.get(scene.name, model.timestep)
    start, mj = start_state(model), mujoco_model(scene, dt)
    converged(mj)
    ours = Ours(model, num_envs, a.device, dt, a.friction_iterations)
    theirs = Warp(mj, room, num_envs, a.device, start)
    wave, seconds = waves(scene, model, num_envs, motion), 0.0
    while seconds < a.warm_up:
        ctrl = wave.at(seconds)
        timed(ours, ctrl), timed(theirs, ctrl)
        seconds += HOLD * dt
    ours.batch.clear_counts()
    took, iterations, contacts = ([], []), [], ([], [])
    data = mujoco.MjData(mj)
    for _ in range(a.rounds):
        ctrls = [wave.at(seconds + k * HOLD * dt) for k in range(a.calls)]
        seconds += a.calls * HOLD * dt
        for engine, list_ in zip((ours, theirs), took):
            list_.append(sum(timed(engine, ctrl) for ctrl in ctrls) / (a.calls * HOLD))
        iterations.append(theirs.data.solver_niter.numpy())
        for engine, list_ in zip((ours, theirs), contacts):
            list_.append(contacts_found(mj, data, *engine.positions()))
    ours_s, theirs_s = (float(np.median(t)) for t in took)
    counts, batch = ours.batch.counts, ours.batch
    status = np.asarray(batch.status)
    bits = {int(b): int((status >> b & 1).sum()) for b in range(32) if (status >> b & 1).any()}
    steps = max(counts.env_steps, 1)
    residual = float(np.max(np.array(batch.solver_residual)))
    histogram = np.array(counts.iteration_histogram)
    ours_error, theirs_error = ours.errors(), theirs.errors()
    niter = np.concatenate(iterations)
    goal, goal_ms = GOALS.get(scene.name, (None, None))
    if num_envs == 1 or motion == "noise":  # goals are for the motion of the peers' own benchmarks
        goal = None
    else:
        goal_ms = None
    return {
        "model": scene.name, "motion": motion, "nv": model.nv, "timestep": dt, "envs": num_envs,
        "friction_iterations": a.friction_iterations,
        "steps_per_s": round(num_envs / ours_s), "mjw_steps_per_s": round(num_envs / theirs_s),
        "ratio": f"{theirs_s / ours_s:.2f}", "goal_ratio": GOAL_RATIO,
        "goal": f"{goal:.0f}" if goal else "",
        "of_goal": f"{num_envs / ours_s / goal:.2f}" if goal
        else f"{goal_ms / (1e3 * ours_s):.2f}" if goal_ms else "",
        "ms_per_step": f"{1e3 * ours_s:.4f}", "mjw_ms_per_step": f"{1e3 * theirs_s:.4f}",
        "goal_ms": goal_ms or "", "spread": f"{max(took[0]) / min(took[0]) - 1:.2f}",
        "mjw_spread": f"{max(took[1]) / min(took[1]) - 1:.2f}",
        "contacts": f"{np.mean(contacts[0]):.2f}", "mjw_contacts": f"{np.mean(contacts[1]):.2f}",
        "points": f"{counts.contacts / steps:.2f}",
        "iter_mean": f"{counts.iterations / steps:.2f}",
        "iter_max": int(np.flatnonzero(histogram)[-1]) if histogram.any() else 0,
        "mjw_iter_mean": f"{niter.mean():.2f}", "mjw_iter_max": int(niter.max()),
        "residual": f"{residual:.1e}",
        "error_p50": f"{np.median(ours_error):.1e}", "error_p99": f"{np.quantile(ours_error, 0.99):.1e}",
        "mjw_error_p50": f"{np.median(theirs_error):.1e}",
        "mjw_error_p99": f"{np.quantile(theirs_error, 0.99):.1e}",
        "status": " ".join(f"{b}:{n}" for b, n in bits.items()) or "0",
        "frozen": int(batch.status_count), "capped": f"{counts.not_converged / steps:.1e}",
        "nconmax": room.nconmax, "njmax": room.njmax,
        "overflow": theirs.overflow() or "none",
    }  # fmt: skip


# ------------------------------------------------------------------------------- results


def save(rows, facts, folder) -> None:
    import csv

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "mjwarp.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    fresh = folder / "mjwarp.new"  # whoever is stopped meanwhile leaves a whole file
    fresh.write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n")
    fresh.replace(folder / "mjwarp.json")


def show(rows, columns) -> None:
    print(table([{c: row[c] for c in columns} for row in rows]), flush=True)


def compile_kernels(a) -> None:
    """One process per robot: compiling uses one core each."""
    command = [sys.executable, __file__, "--device", a.device, "--envs", "1", "--warm-up", "0.02",
               "--rounds", "1", "--calls", "1", "--out", os.devnull]  # fmt: skip
    folder = ["--folder", str(a.folder)] if a.folder else []
    begin = time.perf_counter()
    running = {m: subprocess.Popen([*command, *folder, "--models", m], stdout=subprocess.DEVNULL)
               for m in a.models}  # fmt: skip
    for name, process in running.items():
        print(f"{name}: {process.wait()}, {time.perf_counter() - begin:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=list(GOALS))
    parser.add_argument("--folder", type=Path, help="of models that scenes.py --write made")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--motion", nargs="+", choices=MOTIONS, default=MOTIONS)
    parser.add_argument("--envs", nargs="+", type=int, default=[8192, 1, 1024, 32768])
    parser.add_argument("--friction-iterations", default="auto", type=lambda x: x if x == "auto" else int(x),
                        help="of ours")  # fmt: skip
    parser.add_argument("--warm-up", type=float, default=2.0, help="s of motion")
    parser.add_argument("--calls", type=int, default=25, help="of HOLD steps, in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1e9, help="s; no row begins afterwards")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compile", action="store_true", help="only fill warp's cache of kernels")
    a = parser.parse_args()
    if a.compile:
        return compile_kernels(a)
    begin = time.perf_counter()
    wp.config.log_level = wp.LOG_WARNING  # no line per module
    wp.init()
    there = wp.get_device(a.device)
    name = there.name if there.is_cuda else "cpu"
    print(f"{name}; mujoco_warp {mjw.__version__}, warp {wp.__version__}, MuJoCo {mujoco.__version__}, "
          f"stiction {stiction.__version__}")  # fmt: skip
    if not there.is_cuda:
        print("A check of this script on a CPU: NOT A RESULT. mujoco_warp is made for GPUs.")
    facts = {"device": name, "result": there.is_cuda, "mujoco_warp": mjw.__version__,
             "warp": wp.__version__, "mujoco": mujoco.__version__, "stiction": stiction.__version__,
             "steps_per_call": HOLD, "calls": a.calls, "rounds": a.rounds,
             "failed": []}  # fmt: skip
    folder = a.out or (RESULTS / slug(name) if there.is_cuda else None)
    found, rows, creep, rooms = robots(a.models, a.folder), [], {}, {}
    # all robots at the first number of environments before any at the next
    for num_envs, motion in itertools.product(a.envs, a.motion):
        for scene in found:
            if time.perf_counter() - begin > a.limit:
                print(f"{a.limit:.0f} s are over before {scene.name}, {num_envs}")
                continue
            try:
                model = scene.load()
                if scene.name not in rooms:
                    dt = GPU_TIMESTEPS.get(scene.name, model.timestep)
                    rooms[scene.name] = Room(scene, model, dt)
                    creep[scene.name] = dict.fromkeys(CREEPS, "failed")
                    if a.out != Path(os.devnull):
                        creep[scene.name] = creeps(scene, rooms[scene.name], a.device)
                row = compare(scene, motion, num_envs, rooms[scene.name], a) | creep[scene.name]
            except Exception as e:  # the other robots are worth having
                traceback.print_exc()
                facts["failed"].append(f"{scene.name}, {num_envs}: {e}")
                continue
            rows.append(row)
            show([row], SPEED)
            if folder and a.out != Path(os.devnull):
                save(rows, facts, folder)
    if rows:
        print()
        show(rows, SPEED), print(), show(rows, QUALITY)
    if not there.is_cuda:
        print("A check of this script on a CPU: NOT A RESULT.")
    sys.exit(bool(facts["failed"]))


if __name__ == "__main__":
    main()
