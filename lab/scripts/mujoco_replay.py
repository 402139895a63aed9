"""One policy in many physics: timesteps, contact models, materials, and MuJoCo's own choices.

    python lab/scripts/mujoco_replay.py POLICY.npz... [--episodes N] [--only WORD...] [--csv FILE]

The control step is the policy's everywhere; the physics steps within it change.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from stiction.learning.evaluate import evaluate
from stiction.learning.mujoco_engine import MujocoEnv
from stiction.learning.play import load_policy
from stiction.learning.tasks import make_env

MS = 1e-3


class VariedMujoco(MujocoEnv):
    """MuJoCo with another timestep and with changes of its model."""

    def __init__(self, env, timestep=None, change=None):
        self._change, self._changed = change, None
        control = env.physics_dt * env.frame_skip
        self._wanted = round(control / (timestep or env.physics_dt))
        super().__init__(env)
        self._steps = self._wanted

    def _set_parameters(self):
        super()._set_parameters()
        if self._changed is self._models:
            return
        self._changed = self._models
        for m in self._models:
            m.opt.timestep = self._env.physics_dt * self._env.frame_skip / self._wanted
            if self._change:
                self._change(m, self._mujoco)


def _time_constant(value, joints=False):
    def change(m, mj):
        m.geom_solref[:, 0] = value
        if joints:
            m.jnt_solref[:, 0] = value

    return change


def _rk4(m, mj):
    m.opt.integrator = mj.mjtIntegrator.mjINT_RK4


def _implicitfast(m, mj):
    m.opt.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST


def _elliptic(m, mj):
    m.opt.cone = mj.mjtCone.mjCONE_ELLIPTIC


def _impratio(m, mj):
    _elliptic(m, mj)
    m.opt.impratio = 100




STICTION = {  # name: (timestep or None, options of the engine)
    "stiction": (None, {}),
    "stiction 5 ms": (5 * MS, {}),
    "stiction 2 ms": (2 * MS, {}),
    "stiction 1 ms": (1 * MS, {}),
    "stiction 0.5 ms": (0.5 * MS, {}),
    "3 solves": (None, {"friction_iterations": 3}),
    "similar": (None, {"contact_model": "similar"}),
    "similar 2 ms": (2 * MS, {"contact_model": "similar"}),
    "similar 0.5 ms": (0.5 * MS, {"contact_model": "similar"}),
    "sap": (None, {"contact_model": "sap"}),
    "sap 2 ms": (2 * MS, {"contact_model": "sap"}),
    "anchored": (None, {"stiction": "anchored"}),
}
MUJOCO = {  # name: (timestep, change)
    "mujoco": (None, None),
    "mujoco 5 ms": (5 * MS, None),
    "mujoco 2 ms": (2 * MS, None),
    "mujoco 1 ms": (1 * MS, None),
    "mujoco 0.5 ms": (0.5 * MS, None),
    "mujoco RK4": (None, _rk4),
    "mujoco implicitfast": (None, _implicitfast),
    "mujoco elliptic": (None, _elliptic),
    "mujoco 1 ms elliptic, impratio 100": (1 * MS, _impratio),
    "mujoco 1 ms, contacts of 5 ms": (1 * MS, _time_constant(0.005)),
    "mujoco 1 ms, contacts and limits of 5 ms": (1 * MS, _time_constant(0.005, joints=True)),
}


def varied(task, timestep, engine):
    """The task with another timestep within the same control step."""
    if timestep is None:
        return {**task, "engine": task.get("engine", {}) | engine}
    env = make_env(task, 1)
    skip = round(env.physics_dt * env.frame_skip / timestep)
    return {
        "id": task["id"],
        "options": task.get("options", {}) | {"frame_skip": skip},
        "engine": task.get("engine", {}) | engine | {"timestep": timestep},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    rows = []
    for file in args.files:
        policy = load_policy(file)
        more = {"autoreset": "disabled", "precision": "float64", "seed": 1_000_001, "threads": 1}
        for name, (timestep, what) in (STICTION | MUJOCO).items():
            if args.only and name not in args.only:
                continue
            if name in STICTION:
                env = make_env(varied(policy.task, timestep, what), args.episodes, **more)
            else:
                env = VariedMujoco(make_env(policy.task, args.episodes, **more), timestep, what)
            begin = time.perf_counter()
            e = evaluate(env, policy)
            print(f"{file.parent.name:<20} {name:<42} {e.text()}  [{time.perf_counter() - begin:.0f} s]", flush=True)
            rows.append((file.parent.name, policy.task["id"], name, args.episodes,
                         round(float(e.returns.mean()), 1), round(float(e.returns.std()), 1),
                         round(float(e.lengths.mean()), 1), round(e.speed, 3)))  # fmt: skip
    if args.csv:
        new = not args.csv.exists()
        with args.csv.open("a", newline="") as f:
            writer = csv.writer(f)
            if new:
                writer.writerow(("policy", "task", "physics", "episodes", "return", "std", "length", "speed"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
