"""A walk of a G1 without motion capture: six steps from a plan of the zero moment point, legs by inverse kinematics.

    python examples/walk_clip.py [g1_walk.npz]

The centre of mass follows the linear inverted pendulum, x'' = g/h (x − p) (Kajita et al. 2003), whose point of pressure p goes
from foot to foot; it is solved as a boundary value problem that begins and ends at rest. `G1Tracking` has the result as "g1_walk".
"""

import sys

import numpy as np

import stiction
from stiction import rotations

FPS, STEPS, SINGLE, DOUBLE, STAND = 50, 6, 0.62, 0.24, 0.8  # a step has one foot in the air, then both on the ground, s
LENGTH, LIFT, HEIGHT = 0.36, 0.06, 0.74  # how far a foot goes in a step, how high, and of the pelvis, m
FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
AHEAD = 0.03  # of the ankle: where the point of pressure is


def smooth(s):
    """From 0 to 1 with no speed and acceleration at both ends."""
    s = np.clip(s, 0, 1)
    return s**3 * (10 - 15 * s + 6 * s * s)


def plan(feet):
    """Places of the feet (T, 2, 3) from those of standing, and of the point of pressure (T, 2)."""
    time = np.arange(int(round((2 * STAND + STEPS * (SINGLE + DOUBLE)) * FPS)) + 1) / FPS
    places = np.tile(feet, (len(time), 1, 1))
    at = feet.copy()
    corners = [(0.0, feet[:, :2].mean(0)), (STAND - DOUBLE, feet[:, :2].mean(0))]  # of the point of pressure
    for step in range(STEPS):
        swing, start = step % 2, STAND + step * (SINGLE + DOUBLE)
        stays = at[1 - swing, :2].copy()
        corners += [(start, stays), (start + SINGLE, stays)]
        goal = at[swing].copy()
        goal[0] += LENGTH if 0 < step < STEPS - 1 else 0.5 * LENGTH
        share = smooth((time - start) / SINGLE)
        after = time >= start
        places[after, swing] = (at[swing] + share[:, None] * (goal - at[swing]))[after]
        phase = np.clip((time - start) / SINGLE, 0, 1)
        places[:, swing, 2] += LIFT * np.sin(np.pi * phase) ** 2
        at[swing] = goal
    corners += [(time[-1] - STAND + 0.5 * DOUBLE, at[:, :2].mean(0)), (time[-1], at[:, :2].mean(0))]
    when, where = zip(*corners)
    pressure = np.stack([np.interp(time, when, [w[k] for w in where]) for k in range(2)], 1)
    return places, pressure


def pendulum(pressure, height):
    """The centre of mass (T, 2) over a point of pressure: (x₋ − 2 x + x₊) FPS² = g/h (x − p), at rest over it at both ends."""
    n, w = len(pressure), 9.81 / height / FPS**2
    matrix = np.diag(np.full(n, 2 + w)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    right = w * pressure.copy()
    for end in (0, n - 1):
        matrix[end] = 0
        matrix[end, end] = 1
        right[end] = pressure[end]
    return np.linalg.solve(matrix, right)


def legs(model, qpos, places, iterations=12):
    """Joints of the legs so that flat feet are at their places in all frames at once, by Gauss's and Newton's method."""
    batch = stiction.Batch(model, len(qpos), precision="float64")
    feet = [model.body_names.index(name) for name in FEET]
    columns = [model.jnt_qposadr[j] for j, name in enumerate(model.jnt_names) if any(
        part in name for part in ("hip", "knee", "ankle"))]  # fmt: skip

    def error(q):
        batch.reset(qpos=q, qvel=np.zeros((len(q), model.nv)))
        off = [batch.xpos[:, f] - places[:, k] for k, f in enumerate(feet)]
        return np.concatenate(off + [rotations.log(batch.xquat[:, f].astype(float)) for f in feet], 1)

    for _ in range(iterations):
        now, slopes = error(qpos), []
        for c in columns:
            moved = qpos.copy()
            moved[:, c] += 1e-6
            slopes.append((error(moved) - now) / 1e-6)
        j = np.stack(slopes, 2)
        jt = j.transpose(0, 2, 1)
        step = np.linalg.solve(jt @ j + 1e-8 * np.eye(len(columns)), jt @ now[:, :, None])[:, :, 0]
        qpos[:, columns] -= np.clip(step, -0.3, 0.3)
    return np.abs(error(qpos)).max()


def walk():
    model = stiction.assets.load("g1")
    home = np.array(model.key_qpos[model.key("home")])
    batch = stiction.Batch(model, 1, precision="float64")
    batch.reset(qpos=home[None], qvel=np.zeros((1, model.nv)))
    feet = np.array([batch.xpos[0, model.body_names.index(name)] for name in FEET])
    sole = 0.035  # from the origin of the foot's link down to the ground: 25 mm to the capsules' axes, 10 mm radius
    feet[:, 2], feet[:, 0] = sole, 0
    masses = np.array(model.body_mass)
    centre = (masses[:, None] * batch.xipos[0]).sum(0) / masses.sum() - home[:3]  # from the pelvis
    places, pressure = plan(feet)
    pressure[:, 0] += AHEAD
    qpos = np.tile(home, (len(places), 1))
    qpos[:, :2] = pendulum(pressure, HEIGHT + centre[2]) - centre[:2]
    qpos[:, 2] = HEIGHT
    swing = 1.2 * (places[:, 0, 0] - places[:, 1, 0])  # arms opposite to the legs
    for side, sign in (("left", 1), ("right", -1)):
        qpos[:, model.jnt_qposadr[model.jnt_names.index(f"{side}_shoulder_pitch_joint")]] += sign * swing
    off = legs(model, qpos, places)
    return model, qpos, off


if __name__ == "__main__":
    model, qpos, off = walk()
    motion = stiction.Motion.from_poses(model, qpos, FPS, FPS)
    print(f"{len(motion)} frames, {motion.seconds:.2f} s, {motion.qpos[-1, 0] - motion.qpos[0, 0]:.2f} m; feet off by {off:.1e}")
    if len(sys.argv) > 1:
        np.savez_compressed(sys.argv[1], qpos=qpos.astype(np.float32), fps=np.array([FPS]))
