"""What a list of terms costs beside the same task written with hooks: G1Flat both ways, the same bits, in turns.

    python bench/bench_terms.py [--num-envs 1024] [--rounds 5] [--csv bench/results/terms.csv]

The hooks draw the terms' numbers (the purposes are the CRC of their names), so the two are compared by their results first.
Rates are per second of the process's CPU time, of all its threads: other work on the machine counts less.
"""

import argparse
import csv
import math
import time
import zlib

import numpy as np

import stiction
from stiction import rotations as r
from stiction._util.machine import cpu_name
from stiction.library.velocity import _FEET, G1Flat
from stiction.tasks.philox import Draw


class G1Hooks(stiction.Task):
    """G1Flat by hand."""

    model, options, frame_skip, max_episode_steps = G1Flat.model, G1Flat.options, 4, 1000
    metric_names = ("track_linear_velocity", "track_yaw_rate", "posture", "joint_limits", "action_rate", "fell",
                    "error_linear", "error_yaw")  # fmt: skip

    def __init__(self):
        self.num_actions = 29

    def setup(self):
        m, n = self.batch.model, self.num_envs
        key = m.key("home")
        fixed = lambda x: (x.setflags(write=False), x)[1]
        self.start = fixed(np.array(m.key_qpos[key]))
        self.q0 = self.start[7:]
        scale = 0.25 * np.abs(m.actuator_forcerange).max(1) / m.actuator_gain[:, 0]
        ends = (m.actuator_ctrlrange - self.q0[:, None]) / scale[:, None]
        self.scale, self.low, self.high = (fixed(x.astype(np.float32)) for x in (scale, ends.min(1), ends.max(1)))
        self.offset = fixed(self.q0.astype(np.float32))
        self.middle, self.half = fixed(m.jnt_range[1:].mean(1)), fixed(0.9 * 0.5 * np.ptp(m.jnt_range[1:], axis=1))
        self.std = np.empty(29)
        import re

        for pattern, std in G1Flat.rewards["posture"].params["std"].items():
            for k, name in enumerate(m.jnt_names[1:]):
                if re.fullmatch(pattern, name):
                    self.std[k] = std
        fixed(self.std)
        self.feet = fixed(np.array([m.geom_names.index(name) for name in _FEET]))
        self.foot_bodies = fixed(np.array([k for k, name in enumerate(m.body_names) if name.endswith("ankle_roll_link")]))
        self.last, self.before = np.zeros((n, 29), np.float32), np.zeros((n, 29), np.float32)
        self.value, self.heading = np.zeros((n, 3)), np.zeros(n)
        self.holds, self.left, self.due = np.zeros(n, bool), np.zeros(n, int), np.zeros(n, int)
        self.touching = np.zeros((n, 2), bool)
        self.air = np.zeros((n, 2), np.float32)
        self.slide = self.batch.param("geom_friction")

    def numbers(self, name, ids=slice(None), step=None, episode=None):
        env = self._env
        step = self.episode_length[ids] if step is None else step
        episode = env._episode[ids] if episode is None else episode * env._episode[ids]
        return Draw(env._seed[ids], episode, 1 << 31 | zlib.crc32(name.encode()) & 0x7FFFFFFF, step)

    def reset(self, ids):
        n = len(ids)
        qpos, qvel = np.tile(self.start, (n, 1)), np.zeros((n, self.batch.model.nv))
        self.slide[ids[:, None], self.feet] = self.numbers("events.foot_friction lasting", ids, 0, 0).uniform(count=2)[:, :1] * 0.9 + 0.3
        u = self.numbers("events.start", ids, 0).uniform([-0.5, -0.5, 0, 0, 0, -3.14] + [0] * 6, [0.5, 0.5, 0, 0, 0, 3.14] + [0] * 6, 12)
        qpos[:, :3] += u[:, :3]
        qpos[:, 3:7] = r.multiply(r.from_euler(*u[:, 3:6].T), qpos[:, 3:7])
        self.last[ids] = self.before[ids] = 0
        self.touching[ids] = self.air[ids] = 0
        self.due[ids] = self.wait(self.numbers("events.push", ids, 0))
        return qpos, qvel

    def wait(self, draw):
        return np.clip(np.round(draw.uniform(1, 3)[:, 0] / self.dt), 1, None).astype(int)

    def begin(self, ids):
        self.ask(ids)

    def ask(self, ids):
        draw = self.numbers("commands.velocity", ids)
        self.left[ids] = np.clip(np.round((3 + 5 * draw.uniform()[:, 0]) / self.dt), 1, None)
        drawn = draw.uniform([-1, -0.5, -1, -math.pi], [1, 0.5, 1, math.pi], 4)
        stands = draw.uniform(count=3)[:, 2] < 0.1
        self.value[ids] = np.where(stands[:, None], 0, drawn[:, :3])
        self.heading[ids], self.holds[ids] = drawn[:, 3], ~stands
        self.follow()

    def follow(self):
        yaw = r.yaw(self.batch.xquat[:, 1])
        rate = np.clip(0.5 * r.wrap_angle(self.heading - yaw), -1, 1)
        self.value[:, 2] = np.where(self.holds, rate, self.value[:, 2])

    def act(self, action):
        b = self.batch
        self.due -= 1
        ids = np.flatnonzero(self.due == 0)
        if len(ids):
            draw = self.numbers("events.push", ids, self.episode_length[ids] + 1)
            u = draw.uniform([-0.5, -0.5, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0, 0], 6)
            b.qvel[ids, :3] = b.qvel[ids, :3] + u[:, :3]
            self.due[ids] = self.wait(draw)
        self.before[:], self.last[:] = self.last, action
        b.ctrl[:] = self.offset + self.scale * np.clip(action, self.low, self.high)

    def measure(self):
        b, q = self.batch, self.batch.xquat[:, 1]
        self.v, self.w = r.rotate_back(q, b.xvel[:, 1, 3:]), r.rotate_back(q, b.xvel[:, 1, :3])
        self.g = r.rotate_back(q, np.array([0.0, 0, -1]))
        f = b.xfrc_contact[:, self.foot_bodies, :3]
        self.touching[:] = np.sqrt((f * f).sum(-1)) > 1
        self.air[:] = np.where(self.touching, 0, self.air + self.dt)

    def terminated(self):
        return self.g[:, 2] > -math.cos(math.radians(70))

    def reward(self):
        q, v, w, c = self.batch.qpos[:, 7:], self.v, self.w, self.value
        error = v[:, :2] - c[:, :2]
        linear = np.exp(-((error * error).sum(-1) + v[:, 2] * v[:, 2]) / 0.25)
        yaw = np.exp(-((w[:, 2] - c[:, 2]) ** 2 + (w[:, :2] * w[:, :2]).sum(-1)) / 0.25)
        off = (q - self.q0) / self.std
        posture = np.exp(-(off * off).mean(-1))
        beyond = np.clip(np.abs(q - self.middle) - self.half, 0, None).sum(-1)
        rate = self.last - self.before
        weights = (1, 1, 1, -1, -0.1)
        self.terms = [(x * self.dt) * np.float32(t) for x, t in zip(weights, (linear, yaw, posture, beyond, (rate * rate).sum(-1)))]
        return sum(self.terms, np.zeros(self.num_envs, np.float32))

    def command(self):
        error = self.v[:, :2] - self.value[:, :2]
        self.errors = np.sqrt((error * error).sum(1)), np.abs(self.w[:, 2] - self.value[:, 2])
        self.left -= 1
        ids = np.flatnonzero(self.left <= 0)
        if len(ids):
            self.ask(ids)
        self.follow()

    def look(self, noisy):
        b, q = self.batch, self.batch.xquat[:, 1]
        parts = {
            "base_linear_velocity": (r.rotate_back(q, b.xvel[:, 1, 3:]), 0.1),
            "base_angular_velocity": (r.rotate_back(q, b.xvel[:, 1, :3]), 0.2),
            "projected_gravity": (r.rotate_back(q, np.array([0.0, 0, -1])), 0.05),
            "joint_positions": (b.qpos[:, 7:] - self.q0, 0.01),
            "joint_velocities": (b.qvel[:, 6:], 1.5),
            "last_action": (self.last, 0),
            "command": (self.value, 0),
        }
        if noisy:
            self.exact = [x for x, _ in parts.values()]
        return np.concatenate([
            np.float32(x + (2 * self.numbers(f"observations.{name}").uniform(count=x.shape[1]) - 1) * s if s and noisy else x)
            for name, (x, s) in parts.items()
        ], 1)  # fmt: skip

    def observe(self):
        return self.look(True)

    def observe_critic(self):
        return np.concatenate([np.float32(x) for x in self.exact], 1)

    def metrics(self):
        return dict(zip(self.metric_names, (*self.terms, self.terminated(), *self.errors)))


def compare(num_envs=64, steps=120):
    """That the two tasks are one; returns how many episodes ended."""
    terms, hooks = stiction.TaskEnv(G1Flat, num_envs, seed=1), stiction.TaskEnv(G1Hooks, num_envs, seed=1)
    rng, ends = np.random.default_rng(0), 0
    for step in range(steps):
        action = rng.uniform(-1, 1, (num_envs, 29)).astype(np.float32)
        terms.step(action), hooks.step(action)
        for name in ("obs", "critic_obs", "reward", "terminated", "truncated"):
            np.testing.assert_array_equal(getattr(terms, name), getattr(hooks, name), err_msg=f"{name}, step {step}")
        ends += int(terms.terminated.sum())
    return ends


def rate(env, seconds):
    rng = np.random.default_rng(0)
    actions = [rng.uniform(-1, 1, (env.num_envs, 29)).astype(np.float32) for _ in range(16)]
    steps, begin, used = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < seconds:
        env.step(actions[steps % 16])
        steps += 1
    return steps * env.num_envs / (time.process_time() - used)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--num-envs", type=int, nargs="+", default=[256, 1024, 4096])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--csv")
    a = parser.parse_args()
    print(f"the same bits in 120 steps of 64 environments, {compare()} ends")
    rows = []
    for n in a.num_envs:
        envs = {name: stiction.TaskEnv(task, n, threads=a.threads) for name, task in (("terms", G1Flat), ("hooks", G1Hooks))}
        for env in envs.values():
            rate(env, 1.0)
        rates = {name: [] for name in envs}
        for _ in range(a.rounds):
            for name, env in envs.items():
                rates[name].append(rate(env, a.seconds))
        ratios = sorted(t / h for t, h in zip(rates["terms"], rates["hooks"]))
        row = {"cpu": cpu_name(), "isa": env.batch.isa, "threads": env.batch.threads, "num_envs": n,
               "terms_steps_per_cpu_s": round(float(np.median(rates["terms"]))),
               "hooks_steps_per_cpu_s": round(float(np.median(rates["hooks"]))),
               "ratio": round(float(np.median(ratios)), 3), "least": round(ratios[0], 3), "most": round(ratios[-1], 3)}  # fmt: skip
        rows.append(row)
        print(row)
    if a.csv:
        with open(a.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
