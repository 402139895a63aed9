"""Closed loop from states of the policy's own gait: how the speed goes on in each physics.

    python lab/scripts/from_gait.py POLICY.npz [--csv FILE]

No reset and no start-up: what changes is the physics alone. Printed after 0, 1, 2, 5, 10, 20, 40 control steps: mean forward
speed, and the share of robots that have not ended.
"""

import mujoco
import numpy as np
from common import arguments, mujoco_model, write_csv
from control_step import MS, gait

import stiction
from stiction.learning.play import load_policy
from stiction.learning.tasks import make_env

LOOKS = (1, 2, 5, 10, 20, 40)


def go_on(policy, states, move):
    """Speeds and survivors at LOOKS; move(env) replaces the physics."""
    n = len(states[0])
    env = make_env(policy.task, n, autoreset="disabled", precision="float64", seed=3, threads=1)
    env.reset()
    batch = env.batch
    batch.qpos[:], batch.qvel[:] = states[:2]
    batch.refresh()
    ctrl = states[2]
    obs, speeds, alive = None, [], np.ones(n, bool)
    for k in range(max(LOOKS)):
        action = ctrl if obs is None else policy(obs)
        x = np.array(batch.qpos[:, 0])
        obs, _, terminated, truncated = env.step(action, physics=lambda: move(env))
        speed = (batch.qpos[:, 0] - x) / (env.physics_dt * env.frame_skip)
        alive &= ~(terminated | truncated)
        if k + 1 in LOOKS:
            speeds.append((float(speed[alive].mean()), float(alive.mean())))
    return speeds


def ours(xml, dt, n, **options):
    model = stiction.Model.from_xml(xml)
    batch = stiction.Batch(model, n, precision="float64", threads=1, options=stiction.Options(timestep=dt, **options))

    def move(env):
        for name in ("qpos", "qvel", "ctrl"):
            getattr(batch, name)[:] = getattr(env.batch, name)
        batch.step(round(env.physics_dt * env.frame_skip / dt))
        env.batch.qpos[:], env.batch.qvel[:] = batch.qpos, batch.qvel
        env.batch.refresh()

    return move


def theirs(xml, dt, n, **options):
    m = mujoco_model(xml, dt, **options)
    data = [mujoco.MjData(m) for _ in range(n)]

    def move(env):
        b = env.batch
        for i, d in enumerate(data):
            d.qpos[:], d.qvel[:], d.ctrl[:] = b.qpos[i], b.qvel[i], b.ctrl[i]
            mujoco.mj_step(m, d, round(env.physics_dt * env.frame_skip / dt))
        b.qpos[:], b.qvel[:] = np.stack([d.qpos for d in data]), np.stack([d.qvel for d in data])
        b.refresh()

    return move


RUNS = {
    **{f"stiction {ms:g} ms": (ours, ms, {}) for ms in (10, 5, 2, 1, 0.5)},
    "stiction 10 ms, 3 solves": (ours, 10, {"friction_iterations": 3}),
    "similar 2 ms": (ours, 2, {"contact_model": "similar"}),
    "similar 0.5 ms": (ours, 0.5, {"contact_model": "similar"}),
    "sap 2 ms": (ours, 2, {"contact_model": "sap"}),
    "sap 0.5 ms": (ours, 0.5, {"contact_model": "sap"}),
    "mujoco 2 ms": (theirs, 2, {}),
    "mujoco 0.5 ms": (theirs, 0.5, {}),
    "mujoco 0.5 ms, elliptic": (theirs, 0.5, {"cone": 1}),
    "mujoco 0.5 ms, solref 5 ms": (theirs, 0.5, {"solref": 0.005, "limits": 0.005}),
    "mujoco 0.5 ms, solref 2 ms": (theirs, 0.5, {"solref": 0.002, "limits": 0.002}),
}


def main():
    args = arguments(states=64)
    rows = []
    for file in args.files:
        policy = load_policy(file)
        env, states = gait(policy)
        states = [s[: args.states] for s in states]
        print(f"{file.parent.name}: {states[1][:, 0].mean():.2f} m/s; after control steps {LOOKS}")
        for name, (make, ms, options) in RUNS.items():
            r = go_on(policy, states, make(env.model_xml, ms * MS, len(states[0]), **options))
            print(f"    {name:<32}" + "  ".join(f"{v:5.2f} ({100 * a:3.0f} %)" for v, a in r), flush=True)
            rows += [(file.parent.name, name, k, round(v, 4), round(a, 4)) for k, (v, a) in zip(LOOKS, r)]
    write_csv(args.csv, ("policy", "physics", "control_steps", "speed", "alive"), rows)


if __name__ == "__main__":
    main()
