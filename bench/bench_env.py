"""Whole environment steps: stiction.make beside its bare physics, EnvPool and Gymnasium.

Random actions, float observations, rewards, resets and the hand-over to NumPy, all of them. Each
engine is a process of its own on the same single core; they take turns, and a speed is the median of
the rounds: per second of wall time, and of CPU time, which other load on the machine moves less.
`evaluations` are physics evaluations per environment step: frame_skip, times four where the
integrator is RK4. `overhead` is what stiction.make costs beyond Batch.step within the same steps;
`ends` is the share of steps that end an episode, whose resets are part of the overhead.

EnvPool is measured where --envpool names a Python that has it:

    python3 -m venv /tmp/envpool && /tmp/envpool/bin/pip install envpool
    .venv/bin/python bench/bench_env.py --envpool /tmp/envpool/bin/python

Writes bench/results/<machine>/env.csv.
"""

import argparse
import json
import os
import subprocess
import sys
import time

TASKS = ("InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Reacher-v5", "Pusher-v5", "Hopper-v5",
         "Walker2d-v5", "HalfCheetah-v5", "Ant-v5", "Humanoid-v5")  # fmt: skip
SEVERAL = 16  # sets of random actions, in turn


class Vector:
    """A vector environment of Gymnasium's interface."""

    def __init__(self, envs, evaluations):
        import numpy as np

        self.envs, self.evaluations = envs, evaluations
        space = getattr(envs, "single_action_space", None) or envs.action_space
        shape = (envs.num_envs if hasattr(envs, "num_envs") else len(envs), *space.shape)
        rng = np.random.default_rng(0)
        low, high = np.maximum(space.low, -1), np.minimum(space.high, 1)
        self.actions = [rng.uniform(low, high, shape).astype(space.dtype) for _ in range(SEVERAL)]
        envs.reset()
        self.count = 0

    def run(self, seconds):
        size, ends, begun = len(self.actions[0]), 0, self.count
        wall, cpu = time.perf_counter(), time.process_time()
        while time.perf_counter() - wall < seconds:
            _, _, terminated, truncated, _ = self.envs.step(self.actions[self.count % SEVERAL])
            ends += int((terminated | truncated).sum())
            self.count += 1
        steps = (self.count - begun) * size
        return {
            "wall": steps / (time.perf_counter() - wall),
            "cpu": steps / (time.process_time() - cpu),
            "ends": ends / steps,
        }


class TimedPhysics:
    """An Env that counts the CPU time of Batch.step."""

    def __init__(self, env):
        self.env, self.seconds = env, 0.0

    def __getattr__(self, name):
        return getattr(self.env, name)

    def physics(self):
        begin = time.process_time()
        self.env.batch.step(self.env.frame_skip)
        self.seconds += time.process_time() - begin

    def step(self, actions):
        return self.env.step(actions, physics=self.physics)


class Stiction(Vector):
    def __init__(self, task, num_envs):
        import stiction

        envs = stiction.make(task, num_envs, threads=1)
        super().__init__(envs, envs.env.frame_skip)

    def run(self, seconds):
        """Half of the time as it is, half with a look at the share of physics."""
        result, env = super().run(seconds / 2), self.envs.env
        self.envs.env = timed = TimedPhysics(env)
        begin = time.process_time()
        super().run(seconds / 2)
        result["overhead"] = (time.process_time() - begin) / timed.seconds - 1
        self.envs.env = env
        return result


def gymnasium_vector(task, num_envs):
    import gymnasium
    import mujoco

    envs = gymnasium.make_vec(task, num_envs, vectorization_mode="sync")
    inside = envs.envs[0].unwrapped
    rk4 = inside.model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
    return Vector(envs, inside.frame_skip * (4 if rk4 else 1))


def envpool_vector(task, num_envs):
    from pathlib import Path

    import envpool

    envs = envpool.make(task, env_type="gymnasium", num_envs=num_envs, num_threads=1, seed=0)
    # a file of version 5 is made from this one and differs in a friction
    name = envs.config["xml_file"].replace("_v5", "")
    file = Path(envs.config["base_path"]) / "mujoco/assets_gym" / name
    rk4 = 'integrator="RK4"' in file.read_text()
    return Vector(envs, envs.config["frame_skip"] * (4 if rk4 else 1))


ENGINES = {"stiction": Stiction, "envpool": envpool_vector, "gymnasium": gymnasium_vector}


def work(engine, task, num_envs, core):
    """A worker: a line with seconds in, a line of results out."""
    os.sched_setaffinity(0, {core})
    vector = ENGINES[engine](task, num_envs)
    vector.run(0.3)
    print(json.dumps({"evaluations": vector.evaluations}), flush=True)
    for line in sys.stdin:
        print(json.dumps(vector.run(float(line))), flush=True)


class Worker:
    def __init__(self, python, engine, task, num_envs, core):
        self.engine, self.num_envs = engine, num_envs
        self.process = subprocess.Popen(
            [python, __file__, "--worker", engine, task, str(num_envs), str(core)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.evaluations = self._read()["evaluations"]
        self.rounds = []

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.engine}: ended with status {self.process.wait()}")
        return json.loads(line)

    def run(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        self.rounds.append(self._read())

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def median(self, key):
        import numpy as np

        return float(np.median([r[key] for r in self.rounds]))


def compare(task, pythons, sizes, rounds, seconds, core) -> list[dict]:
    from tables import processor

    workers = [Worker(python, engine, task, sizes[engine], core)
               for engine, python in pythons.items()]  # fmt: skip
    for _ in range(rounds):
        for w in workers:
            w.run(seconds)
    rows = []
    for w in workers:
        w.close()
        rate = w.median("cpu")
        rows.append({
            "task": task, "engine": w.engine, "envs": w.num_envs, "evaluations": w.evaluations,
            "steps_per_s": round(w.median("wall")), "steps_per_cpu_s": round(rate),
            "evaluations_per_cpu_s": round(rate * w.evaluations),
            "stiction_is_faster": f"{workers[0].median('cpu') / rate:.1f}",
            "overhead": f"{100 * w.median('overhead'):.0f} %" if w.engine == "stiction" else "",
            "ends": f"{100 * w.median('ends'):.2f} %", "cpu": processor(),
        })  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    parser.add_argument("--envpool", metavar="PYTHON", help="an interpreter that has EnvPool")
    parser.add_argument("--envs", type=int, default=1024, help="of stiction")
    parser.add_argument("--envpool-envs", type=int, default=256)
    parser.add_argument("--gymnasium-envs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a round")
    parser.add_argument("--short", action="store_true", help="3 rounds of 0.3 s")
    a = parser.parse_args()
    if a.worker:
        engine, task, num_envs, core = a.worker
        return work(engine, task, int(num_envs), int(core))
    if a.short:
        a.rounds, a.seconds = 3, 0.3

    from tables import processor, table, write

    pythons = {"stiction": sys.executable, "gymnasium": sys.executable}
    if a.envpool:
        pythons = {"stiction": sys.executable, "envpool": a.envpool, "gymnasium": sys.executable}
    sizes = {"stiction": a.envs, "envpool": a.envpool_envs, "gymnasium": a.gymnasium_envs}
    core = max(os.sched_getaffinity(0))
    rows = []
    for task in a.tasks:
        part = compare(task, pythons, sizes, a.rounds, a.seconds, core)
        print(table(part), flush=True)
        rows += part
    write(rows, "env", processor())


if __name__ == "__main__":
    main()
