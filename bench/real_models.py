"""Models that people use, beside MuJoCo on one core: steps per second, contacts, memory.

    python bench/real_models.py FOLDER_OR_FILE ... [--list list.csv] [--alone]

Of a folder all MJCF files; with a list (columns `model` and `left_out`) those whose path ends in a `model` that is
not left out. The same file, timestep, start and controls in `mujoco.rollout`, with its Newton solver and an Euler step; controls
are held for ten steps. Both engines are warmed up to the same time and take turns; a speed is the median of the rounds, by the
processor's time, so that others on the machine count little. `contacts` as MuJoCo's collider finds them in the states of the two.
Each file runs in a process of its own, that one which crashes or hangs is a row that says so. `--alone`: without MuJoCo, to compare
two builds in turns. Writes the table as CSV (`--out`), sorted by the ratio on noise.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import stiction
from stiction.control import control_range, random_controls, start_key, start_state

from tables import table

HOLD = 10  # steps between two controls
MOTIONS = ("smooth", "noise")
TASK = dict(stiction="anchored", stiction_tolerance=1e-3, regularization=0.01, friction_iterations="auto")  # TaskInfo.engine
ROOT_ELEMENT = re.compile(r"<mujoco[\s>/]")


def sequence(model, motion: str, steps: int, num_envs: int) -> np.ndarray:
    """(steps / HOLD, num_envs, nu)"""
    low, high = control_range(model)
    count = -(-steps // HOLD)
    rng = np.random.default_rng(0)
    if motion == "noise":
        return rng.uniform(low, high, (count, num_envs, model.nu))
    centre = start_state(model)[2] if model.nkey else (low + high) / 2
    return np.stack([random_controls(model, count, model.timestep * HOLD, rng, centre, 0.1)
                     for _ in range(num_envs)], axis=1)  # fmt: skip


def start_velocities(model, num_envs: int) -> np.ndarray:
    """At rest; what nothing drives starts with a little of its own, each environment differently."""
    qvel = np.tile(start_state(model)[1], (num_envs, 1))
    if model.nu == 0:
        qvel += 0.05 * np.random.default_rng(3).normal(size=qvel.shape)
    return qvel


class Ours:
    def __init__(self, model, num_envs: int):
        self.batch = stiction.Batch(model, num_envs=num_envs, threads=1, options=stiction.Options(**TASK))
        self.batch.reset(qpos=np.tile(start_state(model)[0], (num_envs, 1)), qvel=start_velocities(model, num_envs))
        key = start_key(model)
        if key is not None and model.nmocap:
            self.batch.mocap_pos[:] = np.asarray(model.key_mpos[key]).reshape(-1, 3)
            self.batch.mocap_quat[:] = np.asarray(model.key_mquat[key]).reshape(-1, 4)
        if key is not None and model.na:
            self.batch.act[:] = model.key_act[key]

    def run(self, ctrl: np.ndarray) -> None:
        for c in ctrl:
            if c.size:
                self.batch.ctrl[:] = c
            self.batch.step(HOLD)


class MuJoCo:
    def __init__(self, path: Path, model, num_envs: int):
        import mujoco
        from mujoco import rollout

        self.mujoco, self.model = mujoco, mujoco.MjModel.from_xml_path(str(path))
        self.model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        if self.model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
            self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        elif self.model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICIT:
            self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.data, self.pool = mujoco.MjData(self.model), rollout.Rollout(nthread=0)
        key = start_key(model)
        if key is not None:
            mujoco.mj_resetDataKeyframe(self.model, self.data, key)
        self.data.qpos[:] = start_state(model)[0]
        spec, states = mujoco.mjtState.mjSTATE_FULLPHYSICS, []
        for qvel in start_velocities(model, num_envs):
            self.data.qvel[:] = qvel
            states.append(np.empty(mujoco.mj_stateSize(self.model, spec)))
            mujoco.mj_getState(self.model, self.data, states[-1], spec)
        self.state = np.array(states)

    def run(self, ctrl: np.ndarray) -> None:
        held = np.ascontiguousarray(np.repeat(ctrl, HOLD, axis=0).transpose(1, 0, 2))
        states, _ = self.pool.rollout([self.model] * len(self.state), [self.data], self.state, held)
        self.state = np.ascontiguousarray(states[:, -1])

    def contacts(self, qpos: np.ndarray) -> float:
        found = []
        for q in qpos[:: max(1, len(qpos) // 16)]:
            self.data.qpos[:] = q
            self.mujoco.mj_fwdPosition(self.model, self.data)
            found.append(self.data.ncon)
        return float(np.mean(found))

    @property
    def qpos(self) -> np.ndarray:
        return self.state[:, 1 : 1 + self.model.nq]


def measure(path: Path, num_envs: int, rounds: int, seconds: float, alone: bool) -> list[dict]:
    """Two rows, one a motion. `seconds` of MuJoCo for a motion, about: it decides how many steps a round has, and how many
    of the environments MuJoCo advances."""
    model = stiction.Model.from_file(path, strict=True)
    theirs = None if alone else MuJoCo(path, model, 1)
    rows = []
    for motion in MOTIONS:
        warm_up = int(np.clip(0.3 / model.timestep, 60, 240)) // HOLD * HOLD
        steps, few = 2 * HOLD, num_envs
        if not alone:
            theirs = MuJoCo(path, model, 1)
            begin = time.process_time()
            theirs.run(sequence(model, "noise", steps, 1))
            a_step = (time.process_time() - begin) / steps
            few = int(np.clip(seconds / a_step / (warm_up + rounds * steps), 4, num_envs))
            theirs = MuJoCo(path, model, few)
        ours = Ours(model, num_envs)
        ctrl = sequence(model, motion, warm_up + rounds * steps, num_envs)
        part = lambda a, b: ctrl[a // HOLD : b // HOLD]  # noqa: E731
        ours.run(part(0, warm_up))
        if theirs:
            theirs.run(part(0, warm_up)[:, :few])
        ours.batch.clear_counts()
        times, their_times = [], []
        for r in range(rounds):
            now = part(warm_up + r * steps, warm_up + (r + 1) * steps)
            begin = time.process_time()
            ours.run(now)
            middle = time.process_time()
            if theirs:
                theirs.run(now[:, :few])
            times.append((middle - begin) / (steps * num_envs))
            their_times.append((time.process_time() - middle) / (steps * few))
        counts = ours.batch.counts
        row = {"model": str(path), "motion": motion, "nv": model.nv, "pairs": model.npair, "isa": ours.batch.isa,
               "us": f"{1e6 * np.median(times):.3g}", "points": f"{counts.contacts / max(counts.env_steps, 1):.2f}",
               "iter": f"{counts.iterations / max(counts.env_steps, 1):.2f}", "frozen": int(ours.batch.status_count),
               "bytes": ours.batch.memory.per_env}  # fmt: skip
        if theirs:
            row |= {"mj_us": f"{1e6 * np.median(their_times):.3g}",
                    "ratio": f"{np.median(their_times) / np.median(times):.3g}",
                    "contacts": f"{theirs.contacts(np.asarray(ours.batch.qpos, float)):.1f}",
                    "mj_contacts": f"{theirs.contacts(theirs.qpos):.1f}"}  # fmt: skip
        rows.append(row)
    return rows


def corpus(places: list[Path], listed: Path | None) -> list[Path]:
    files = []
    for place in places:
        found = sorted(place.rglob("*.xml")) if place.is_dir() else [place]
        files += [f for f in found if place.is_file() or ROOT_ELEMENT.search(f.read_text(errors="replace"))]
    if listed is None:
        return files
    with listed.open() as file:
        wanted = tuple("/" + row["model"] for row in csv.DictReader(file) if not row["left_out"])
    return [f for f in files if str(f.resolve()).endswith(wanted)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="FOLDER_OR_FILE")
    parser.add_argument("--list", type=Path, metavar="CSV")
    parser.add_argument("--out", type=Path, metavar="CSV")
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of MuJoCo for a motion of a model")
    parser.add_argument("--limit", type=float, default=300, help="seconds for a model")
    parser.add_argument("--alone", action="store_true", help="without MuJoCo")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)  # of a child: JSON
    a = parser.parse_args()
    if a.one:
        print(json.dumps(measure(a.places[0], a.envs, a.rounds, a.seconds, a.alone)))
        return
    rows, failed = [], []
    for path in corpus(a.places, a.list):
        command = [sys.executable, __file__, str(path), "--one", "--envs", str(a.envs), "--rounds", str(a.rounds),
                   "--seconds", str(a.seconds), *(["--alone"] if a.alone else [])]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=a.limit)
        except subprocess.TimeoutExpired:
            failed.append((path, f"longer than {a.limit} s"))
            continue
        if done.returncode:
            failed.append((path, (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]))
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        print(table(found), flush=True)
        rows += found
    for path, why in failed:
        print(f"{path}: {why}", file=sys.stderr)
    if not rows:
        sys.exit("no model was measured")
    if not a.alone:
        for motion in MOTIONS:
            ratios = [float(row["ratio"]) for row in rows if row["motion"] == motion]
            shares = ", ".join(f"{np.percentile(ratios, p):.2g}" for p in (5, 25, 50, 75, 95))
            print(f"{motion}: {len(ratios)} models, ratio at the percentiles 5, 25, 50, 75, 95: {shares}; "
                  f"{sum(r < 1 for r in ratios)} below 1, {sum(r < 2 for r in ratios)} below 2")  # fmt: skip
    if a.out:
        with a.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
