"""Speed beside other work: HalfCheetah with random actions and the NumPy trainer, by threads and load.

`load` is the number of other processes that compute without end, at the same priority; `threads` 0 is
the default. Each row is the median of the rounds, in which all engines and numbers of threads take
turns, so that what else the machine does meets all of them. `share` is the speed beside that of one
thread of the first engine at the same load.

    .venv/bin/python bench/bench_busy.py
    .venv/bin/python bench/bench_busy.py --engine before=/elsewhere/.venv/bin/python

Writes bench/results/<processor>/busy.csv.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import time

from tables import processor, table, write

LOADS, SIZES, THREADS = (0, 2, 15), (64, 4096), (1, 2, 0)
TASK = "HalfCheetah-v5"


def worker():
    """Measures what it is told: a line in, a line out."""
    import numpy as np

    import stiction
    from stiction.learning.ppo import Ppo

    rng, actions, envs, trainers = np.random.default_rng(0), {}, {}, {}

    def env_steps(n, threads, seconds):
        if (n, threads) not in envs:
            envs[n, threads] = env = stiction.Env(TASK, n, threads=threads or None)
            actions[n] = rng.uniform(-1, 1, (8, n, env.num_actions)).astype(np.float32)
            env.reset()
        env, count, begin = envs[n, threads], 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            env.step(actions[n][count % 8])
            count += 1
        return count * n / (time.perf_counter() - begin)

    def trained_steps(threads, seconds):
        if threads not in trainers:
            trainers[threads] = Ppo(stiction.Env(TASK, 128, threads=threads or None))
        ppo, begin = trainers[threads], time.perf_counter()
        first = ppo.steps
        while time.perf_counter() - begin < seconds:
            ppo.iterate()
        return (ppo.steps - first) / (time.perf_counter() - begin)

    for line in sys.stdin:
        order = json.loads(line)
        if order["what"] == "train":
            rate = trained_steps(order["threads"], order["seconds"])
        else:
            rate = env_steps(order["envs"], order["threads"], order["seconds"])
        print(json.dumps(rate), flush=True)


@contextlib.contextmanager
def load(count):
    """`count` processes that compute, ended at the end."""
    loop = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(loop) for _ in range(count)]
    try:
        yield
    finally:
        for p in others:
            p.kill()
        for p in others:
            p.wait()


class Engine:
    def __init__(self, python):
        self.process = subprocess.Popen([python, __file__, "--worker"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)  # fmt: skip

    def measure(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return float(json.loads(self.process.stdout.readline()))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", action="append", default=[], metavar="NAME=PYTHON",
                        help="another build beside this one")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loads", type=int, nargs="+", default=LOADS)
    parser.add_argument("--machine", default=processor())
    args = parser.parse_args()

    engines = {"stiction": Engine(sys.executable)}
    for text in args.engine:
        name, _, python = text.partition("=")
        engines[name] = Engine(python)
    whats = [("step", n) for n in SIZES] + [("train", 128)]
    rows = []
    try:
        for engine in engines.values():  # everything is made, and as warm as it gets
            for what, n in whats:
                for threads in THREADS:
                    engine.measure(what=what, envs=n, threads=threads, seconds=0.2)
        for count in args.loads:
            with load(count):
                time.sleep(1)
                rates = {}
                for _ in range(args.rounds):
                    for what, n in whats:
                        for threads in THREADS:
                            for name, engine in engines.items():
                                rate = engine.measure(what=what, envs=n, threads=threads,
                                                      seconds=args.seconds)  # fmt: skip
                                rates.setdefault((name, what, n, threads), []).append(rate)
            median = {key: sorted(found)[len(found) // 2] for key, found in rates.items()}
            for (name, what, n, threads), rate in sorted(median.items()):
                share = rate / median[next(iter(engines)), what, n, 1]
                rows.append({"engine": name, "what": what, "envs": n, "threads": threads,
                             "load": count, "steps_per_s": round(rate), "share": f"{share:.2f}"})  # fmt: skip
                print(*rows[-1].values(), flush=True)
    finally:
        for engine in engines.values():
            engine.close()
    print(table(rows))
    write(rows, "busy", args.machine)


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["--worker"] else main()
