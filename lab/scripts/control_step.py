"""Which part of the physics parts the engines: one control step from the same states, parts switched off.

    python lab/scripts/control_step.py POLICY.npz... [--csv FILE]

States and actions are those of the policy's own gait. From each the model moves for one control step,
whole, without limits, without contacts, without both, in stiction and MuJoCo at several timesteps. The truth
of each engine is itself at 0.1 ms. Printed: mean and root mean square over the states of the difference of the
forward velocity of the root, and the root mean square of all joint velocities.
"""

import mujoco
import numpy as np
from common import arguments, mujoco_model, write_csv

import stiction
from stiction.learning.play import load_policy
from stiction.learning.tasks import make_env

STATES, MS = 256, 1e-3
FLAGS = {
    "whole": "",
    "no limits": '<option><flag limit="disable"/></option>',
    "no contacts": '<option><flag contact="disable"/></option>',
    "neither": '<option><flag limit="disable" contact="disable"/></option>',
}


def gait(policy):
    """qpos, qvel, ctrl of STATES moments of the policy's walk."""
    env = make_env(policy.task, 16, autoreset="next_step", precision="float64", seed=7, threads=1)
    obs, kept = env.reset(), []
    for step in range(300):
        action = policy(obs)
        qpos, qvel = np.array(env.batch.qpos), np.array(env.batch.qvel)
        obs, _, terminated, truncated = env.step(action)
        if step > 100 and step % 11 == 0:
            ends, ctrl = terminated | truncated, np.array(env.batch.ctrl)
            kept += [(q, v, c) for q, v, c, end in zip(qpos, qvel, ctrl, ends, strict=True) if not end]
    pick = np.random.default_rng(1).permutation(len(kept))[:STATES]
    return env, [np.array([kept[i][k] for i in pick]) for k in range(3)]


def ours(xml, dt, steps, states, **options):
    model = stiction.Model.from_xml(xml)
    batch = stiction.Batch(model, len(states[0]), precision="float64", threads=1,
                           options=stiction.Options(timestep=dt, **options))  # fmt: skip
    batch.qpos[:], batch.qvel[:], batch.ctrl[:] = states
    batch.step(steps)
    return np.array(batch.qvel)


def theirs(xml, dt, steps, states, **options):
    m = mujoco_model(xml, dt, **options)
    d, result = mujoco.MjData(m), []
    for qpos, qvel, ctrl in zip(*states, strict=True):
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:], d.ctrl[:] = qpos, qvel, ctrl
        mujoco.mj_step(m, d, steps)
        result.append(d.qvel.copy())
    return np.array(result)


RUNS = {
    **{f"stiction {ms:g} ms": (ours, ms, {}) for ms in (10, 5, 2, 1, 0.5)},
    **{f"stiction {ms:g} ms, {n} solves": (ours, ms, {"friction_iterations": n}) for n in (2, 3) for ms in (10, 5, 2)},
    **{f"similar {ms:g} ms": (ours, ms, {"contact_model": "similar"}) for ms in (10, 2, 0.1)},
    **{f"sap {ms:g} ms": (ours, ms, {"contact_model": "sap"}) for ms in (10, 2, 0.1)},
    **{f"mujoco {ms:g} ms": (theirs, ms, {}) for ms in (10, 5, 2, 1, 0.5, 0.1)},
    "mujoco 0.1 ms, solref 5 ms": (theirs, 0.1, {"solref": 0.005}),
    "mujoco 0.1 ms, solref 5 ms, limits 5 ms": (theirs, 0.1, {"solref": 0.005, "limits": 0.005}),
    "mujoco 0.1 ms, solref 1 ms, limits 1 ms": (theirs, 0.1, {"solref": 0.001, "limits": 0.001}),
}


def main():
    args = arguments()
    rows = []
    for file in args.files:
        policy = load_policy(file)
        env, states = gait(policy)
        control = env.physics_dt * env.frame_skip
        for part, flag in FLAGS.items():
            xml = env.model_xml.replace("<worldbody>", flag + "<worldbody>", 1)
            run = lambda move, ms, options: move(xml, ms * MS, round(control / (ms * MS)), states, **options)  # noqa: B023
            truth = run(ours, 0.1, {})
            speed = states[1][:, 0].mean()
            print(f"{file.parent.name}, {part}: difference from stiction at 0.1 ms, going {speed:.2f} m/s")
            for name, how in RUNS.items():
                d = run(*how) - truth
                root = 3 if "rooty" in env.model_xml else 6
                x, joints = d[:, 0], d[:, root:]
                print(f"    {name:<42} root {x.mean():+.3f} mean {np.sqrt((x**2).mean()):.3f} rms m/s, "
                      f"median {np.median(abs(x)):.3f}   joints {np.sqrt((joints**2).mean()):.2f} rad/s", flush=True)
                numbers = [x.mean(), np.sqrt((x**2).mean()), np.median(abs(x)), np.sqrt((joints**2).mean())]
                rows.append((file.parent.name, policy.task["id"], part, name, *np.round(numbers, 5)))
    write_csv(args.csv, ("policy", "task", "part", "physics", "root_mean", "root_rms", "root_median", "joints_rms"), rows)


if __name__ == "__main__":
    main()
